"""The lock of definitions: what is pinned of a server, whether it was edited, and how changes are accepted."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from tdqs_mcp.canonical import canonical_json, replace_surrogates, short_hash
from tdqs_mcp.errors import InputError, UnknownIdError, UnmeasurableError
from tdqs_mcp.facts.schema.compatibility import MISSING, list_edits, safer_hints
from tdqs_mcp.facts.spelling import common_ends, some_names
from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.threats import find_additions, find_hosts
from tdqs_mcp.model import Catalog, read_tool
from tdqs_mcp.results.comparisons import (
    DefinitionLock,
    Difference,
    Impact,
    LockedChange,
    LockedScore,
    LockedServer,
    LockedTool,
    LockReport,
    LockState,
)
from tdqs_mcp.results.contract import ABSENT, Absent
from tdqs_mcp.results.findings import Location, unmatched
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import JudgeStamp, tier_of
from tdqs_mcp.rewriting.catalog_diff import contract_differences, differences_of, listing_change, whole_difference

_SETS = frozenset({"required", "type"})
"""Keywords whose list has no order: servers that build them from sets list them differently at each start."""


def normalize(raw: Any) -> Any:  # noqa: ANN401  # any JSON
    """Return the same JSON with sorted keys, without what says nothing: nulls of the whole and the order of `required`.

    Raises UnmeasurableError beyond the limit of nesting.
    """
    value = _in_order(json.loads(canonical_json(raw)))
    if isinstance(value, dict):
        value = {key: child for key, child in value.items() if child is not None}
    return json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False)))


# ["b", "a"] under `required` is ["a", "b"]; an enum keeps its order, in which clients show it
def _in_order(value: Any, key: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _in_order(child, name) for name, child in value.items()}
    if isinstance(value, list):
        is_set = key in _SETS and all(isinstance(child, str) for child in value)
        return sorted(value) if is_set else [_in_order(child) for child in value]
    return value


def lock_server(measured: Measured, score: ServerScore, *, allow: Sequence[Impact] = ()) -> LockedServer:
    """Return what is pinned of a server."""
    catalog = measured.catalog
    hashes = {subject.tool.index: subject.signals.input_hash for subject in measured.subjects}
    scores = {item.index: _score(item.tdqs, score.spec_version, item.judge) for item in score.tools}
    tools = [
        LockedTool(
            name=tool.name,
            input_hash=hashes.get(tool.index),
            digest=digest(tool.raw),
            score=scores.get(tool.index),
            definition=normalized_or_none(tool.raw),
            effects=_effects(measured.code, tool.name),
        )
        for tool in catalog.tools
    ]
    parts = parts_of(catalog)
    overall = score.rollup.overall
    return LockedServer(
        name=catalog.server,
        version=catalog.version,
        source=catalog.source,
        allow=tuple(item for item in Impact if item in allow),
        score=None if overall is None else _score(overall, score.spec_version, score.judge),
        digest=digest(parts),
        **parts,
        tools=tuple(sorted(tools, key=lambda item: (item.name, item.digest))),
    )


def _effects(code: CodeReport | None, name: str) -> tuple[str, ...] | Absent:
    """Return what the code of a tool does, without lines, which move; nothing where the code is not at hand."""
    tool = code.find(name) if code else None
    return ABSENT if tool is None else tuple(sorted({effect.pinned for effect in tool.effects}))


def _score(tenths: int, spec: str, judge: JudgeStamp) -> LockedScore:
    return LockedScore(
        score=tenths,
        tier=tier_of(tenths),
        spec=spec,
        judge=judge.id,
        model=judge.model,
        calibration=judge.calibration,
    )


def parts_of(catalog: Catalog) -> dict[str, Any]:
    """Return what agents see beside tools; null for what was not listed."""
    info = catalog.server_info
    is_whole = info is not None
    listings = {
        "server_info": None if info is None else {key: info[key] for key in info if key != "version"},
        "instructions": catalog.instructions or ("" if is_whole else None),
        "prompts": _entries(catalog, "prompts", [prompt.raw for prompt in catalog.prompts or ()]),
        "resources": _entries(catalog, "resources", [resource.raw for resource in catalog.resources or ()]),
    }
    normalized = {name: normalized_or_none(value) for name, value in listings.items()}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in normalized.items()}


def _entries(catalog: Catalog, name: str, raws: Sequence[Any]) -> list[Any] | None:
    """The entries of a list in an order of their own; none for a server that denies having any."""
    if getattr(catalog, name) is not None:
        return sorted(map(normalized_or_none, raws), key=canonical_json)
    return [] if catalog.capabilities is not None and name not in catalog.capabilities else None


def normalized_or_none(raw: Any) -> Any:  # noqa: ANN401
    """The normalized JSON; None for what nests too deep."""
    try:
        return normalize(raw)
    except UnmeasurableError:
        return None


def digest(raw: Any) -> str:  # noqa: ANN401
    """A hash of the normalized JSON; of what nests too deep for that, of the JSON with sorted keys."""
    try:
        return short_hash(canonical_json(normalize(raw)))
    except UnmeasurableError:
        return short_hash(json.dumps(raw, sort_keys=True))


def check_lock(lock: DefinitionLock, origin: str) -> None:
    """Raises InputError for an entry that does not have its own digest: somebody or a merge has edited it."""
    for server in lock.servers:
        parts = {key: getattr(server, key) for key in ("server_info", "instructions", "prompts", "resources")}
        contents = [("the server", server.digest, parts)]
        contents += [
            (repr(tool.name), tool.digest, tool.definition) for tool in server.tools if tool.definition is not None
        ]
        for label, pinned, content in contents:
            if digest(content) != pinned:
                raise InputError(
                    f"{origin} was edited: {label} of {server.name!r} does not have its digest; restore the file, "
                    "then accept changes with tdqs-mcp lock --accept"
                )


def find_entry(lock: DefinitionLock, catalog: Catalog) -> LockedServer | None:
    """The entry of a server: by its name, and its source if others have its name, else by its source."""
    named = [server for server in lock.servers if server.name == catalog.server]
    sources = [entry for entry in named or lock.servers if entry.source and entry.source == catalog.source]
    return next(iter([*sources, *named]), None)


def find_renamed(lock: DefinitionLock, catalog: Catalog) -> LockedServer | None:
    """The only entry, for a listing under another name; None if both listings say what the server is, and differ."""
    if len(lock.servers) != 1:
        return None
    names = [(info or {}).get("name") for info in (lock.servers[0].server_info, catalog.server_info)]
    return None if all(names) and names[0] != names[1] else lock.servers[0]


def accept(
    locked: LockedServer, now: LockedServer, report: LockReport, parts: Collection[str] | None
) -> tuple[LockedServer, LockReport]:
    """The entry with the changes of these parts, or with all, and the report that says so. Raises UnknownIdError.

    What is not accepted stays as it was locked, and so does a score where the new judgment has none.
    """
    changed = {change.part: change.subject for change in report.changes}
    for part in parts or ():
        if part not in changed:
            raise UnknownIdError(f"there is no change of {part!r} to accept; changed: {some_names(changed) or 'none'}")
    accepted_parts = list(changed) if parts is None else [part for part in changed if part in parts]
    accepted = replace(
        report, state=LockState.ACCEPTED if accepted_parts else report.state, accepted=tuple(accepted_parts)
    )
    scores = {tool.digest: tool.score for tool in locked.tools}
    tools = (replace(tool, score=tool.score or scores.get(tool.digest)) for tool in now.tools)
    scored = replace(now, tools=tuple(tools))
    if parts is None:
        return scored, accepted
    names: dict[str, set[str]] = {}
    for part in accepted_parts:
        names.setdefault(changed[part].kind, set()).add(changed[part].name)
    merged = {
        "tools": _merge_entries(locked.tools, scored.tools, names.get("tool", ()), lambda tool: tool.name),
        "prompts": _merge_entries(locked.prompts, scored.prompts, names.get("prompt", ()), identity),
        "resources": _merge_entries(locked.resources, scored.resources, names.get("resource", ()), identity),
        "server_info": (scored if "server" in names else locked).server_info,
        "instructions": (scored if "instructions" in names else locked).instructions,
    }
    merged["tools"] = tuple(sorted(merged["tools"], key=lambda tool: (tool.name, tool.digest)))
    for name in ("prompts", "resources"):
        merged[name] = merged[name] and tuple(sorted(merged[name], key=canonical_json))
    parts = {name: value for name, value in merged.items() if name != "tools"}
    return replace(locked, **merged, digest=digest(parts)), accepted


def identity(entry: Any) -> str:  # noqa: ANN401
    """A resource's URI or URI template, a prompt's name."""
    candidates = [entry.get(key) for key in ("uri", "uriTemplate", "name")] if isinstance(entry, Mapping) else []
    return next((candidate for candidate in candidates if isinstance(candidate, str)), "")


def _merge_entries(old: Any, new: Any, names: Collection[str], name_of: Callable[[Any], str]) -> Any:  # noqa: ANN401
    """The entries of these names as they are now, the others as they were."""
    if not names:
        return old
    entries = [entry for entry in old or () if name_of(entry) not in names]
    return (*entries, *(entry for entry in new or () if name_of(entry) in names))


MAX_SHOWN = 60
"""Characters of old and of new words that a change shows."""

_TEXTS = frozenset({"description", "title", "$comment"})

_SHOWN = frozenset({"icons", "_meta"})
"""Fields that clients act on and that people who read definitions do not see."""


def verify(
    locked: LockedServer, catalog: Catalog, again: Catalog | None = None, *, code: CodeReport | None = None
) -> LockReport:
    """Return what has changed since the server was locked; `again` is a second listing, which must not differ.

    With the `code` of the tools, what they do is compared too, and a hint that it proves is no danger.
    """
    texts = [locked.server_info, locked.instructions, locked.prompts, locked.resources]
    hosts = find_hosts([*texts, *(tool.definition for tool in locked.tools)])
    vocabulary = _Vocabulary(hosts, frozenset(tool.name for tool in locked.tools))
    changes = [*_tool_changes(locked, catalog, vocabulary), *_part_changes(locked, catalog, vocabulary)]
    problems = list(catalog.remarks)
    if code is not None:
        changes = [(part, _with_proof(part, change, catalog, code)) for part, change in changes]
        changes += _code_changes(locked, catalog, code)
        if all(tool.effects is ABSENT for tool in locked.tools):
            problems.append("the lock holds nothing of the code: pin it with tdqs-mcp lock --source")
    if again is not None:
        changed_parts = {part.part for part, _ in changes}
        changes += [change for change in _unstable_parts(catalog, again) if change[0].part not in changed_parts]
        problems += filter(None, [listing_change(catalog, again)])
    ranks = list(Impact)
    lock_changes = [
        LockedChange(subject=part, difference=difference, is_allowed=difference.impact in locked.allow)
        for part, difference in sorted(changes, key=lambda change: ranks.index(change[1].impact))
    ]
    return LockReport(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        state=LockState.CHANGED if lock_changes else LockState.SAME,
        locked_version=locked.version,
        changes=tuple(lock_changes),
        accepted=(),
        tool_count=len(catalog.tools),
        unverified=tuple(_unverified_parts(locked, catalog)),
        problems=tuple(problems),
    )


_Changes = Iterator[tuple[Location, Difference]]


class _Vocabulary(NamedTuple):
    """Names that a new text may have without a warning: hosts; and tools, unless it orders to call them."""

    hosts: frozenset[str]
    tools: frozenset[str]


def _unverified_parts(locked: LockedServer, catalog: Catalog) -> Iterator[str]:
    present = parts_of(catalog)
    for name in ("instructions", "prompts", "resources"):
        if getattr(locked, name) and present[name] is None:
            yield f"{name} are locked, but this listing does not have them"
    if catalog.incomplete:
        yield catalog.incomplete


def _tool_changes(locked: LockedServer, catalog: Catalog, vocabulary: _Vocabulary) -> _Changes:
    old = [_Entry(tool.name, tool.digest, tool.definition) for tool in locked.tools]
    new = [_Entry(tool.name, digest(tool.raw), normalized_or_none(tool.raw)) for tool in catalog.tools]
    for part, change in _entry_changes("tool", old, new, vocabulary):
        if not (catalog.incomplete and change.change == "removed-tool"):
            yield part, change


def _with_proof(part: Location, difference: Difference, catalog: Catalog, code: CodeReport) -> Difference:
    """Return a difference; that of a hint, which may be more careful or less, is no danger if the code proves it."""
    proof = code.find(part.name) if difference.change in ("safer-hint", "dangerous-hint") else None
    hint = difference.path.rpartition("/")[2]
    values = [(tool.annotations or {}).get(hint) for tool in catalog.tools if tool.name == part.name]
    if proof is None or not all(isinstance(value, bool) and value is proof.verdicts[hint] for value in values):
        return difference
    message = f"{difference.message.partition(':')[0]}, which the code proves: {proof.handler}"
    return replace(difference, impact=Impact.COMPATIBLE, change="proven-hint", message=message)


def _code_changes(locked: LockedServer, catalog: Catalog, code: CodeReport) -> _Changes:
    """Yield effects that the code of a tool has newly, and those that are gone."""
    pinned = {tool.name: tool for tool in locked.tools}
    for tool in catalog.tools:
        old, now = pinned.get(tool.name), code.find(tool.name)
        if old is None or isinstance(old.effects, Absent) or now is None:
            continue
        part = Location(kind="tool", name=tool.name, index=tool.index, path="")
        is_same = old.digest == digest(tool.raw)
        silence = "; its definition did not change" if is_same else ""
        for effect in {effect.pinned: effect for effect in now.effects}.values():
            if effect.pinned not in old.effects:
                message = f"now {effect.words} ({effect.file}:{effect.line}){silence}"
                yield part, Difference(impact=Impact.DANGEROUS, change="new-effect", path="", message=message)
        for gone in sorted(set(old.effects) - {effect.pinned for effect in now.effects}):
            message = f"no longer: {gone}"
            yield part, Difference(impact=Impact.COMPATIBLE, change="gone-effect", path="", message=message)


class _Entry(NamedTuple):
    """A tool, prompt or resource on one of both sides."""

    name: str
    digest: str
    raw: Any
    """None for a tool that nests too deep."""


def _pair_entries(old: Sequence[_Entry], new: Sequence[_Entry]) -> Iterator[tuple[_Entry | None, _Entry | None]]:
    """Entries that are not on both sides, by name, the first with the first where a name is there twice."""
    same = Counter(entry.digest for entry in old) & Counter(entry.digest for entry in new)
    waiting: dict[str, list[_Entry]] = {}
    for entry in unmatched(old, same.copy(), attrgetter("digest")):
        waiting.setdefault(entry.name, []).append(entry)
    for entry in unmatched(new, same, attrgetter("digest")):
        yield (waiting[entry.name].pop(0) if waiting.get(entry.name) else None), entry
    yield from ((entry, None) for entries in waiting.values() for entry in entries)


def _additions(old: Any, new: Any, vocabulary: _Vocabulary) -> Iterator[Difference]:  # noqa: ANN401
    own = {new.get("name")} if isinstance(new, Mapping) else set()
    additions = find_additions(old, new, hosts=vocabulary.hosts, tools=vocabulary.tools - own)
    yield from differences_of(Impact.DANGEROUS, additions)


def _edits(old: Any, new: Any, *, reported: Collection[str] = ()) -> Iterator[Difference]:  # noqa: ANN401
    """Every edit that nothing has been said of, by what it touches."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        yield whole_difference(Impact.COMPATIBLE, "changed", "it is not an object")
        return
    for edit in list_edits(old, new):
        verb = "new" if edit.before is MISSING else "gone" if edit.after is MISSING else "changed"
        values = [value for value in (edit.before, edit.after) if value is not MISSING]
        field = edit.path.split("/")[1]
        if field in _SHOWN:
            message = "clients act on it, but people who read the description do not see it"
            change = f"{verb}-{field.strip('_')}"
            yield Difference(impact=Impact.DANGEROUS, change=change, path=edit.path, message=message)
        elif edit.path.rpartition("/")[2] in _TEXTS and all(isinstance(value, str) for value in values):
            message = _describe_rewording(*map(str, values)) if len(values) > 1 else verb
            yield Difference(impact=Impact.WORDING, change=f"{verb}-text", path=edit.path, message=message)
        elif not _is_reported(edit.path, reported):
            message = f"{verb}; callers can go on as before"
            yield Difference(impact=Impact.COMPATIBLE, change=verb, path=edit.path, message=message)


def _is_reported(path: str, reported: Collection[str]) -> bool:
    """A difference at the path, or above it, has been told; `required` changes with the parameters that it names."""
    above = any(path == pointer or path.startswith(f"{pointer}/") for pointer in reported if pointer)
    return above or (path.endswith("/required") and any(pointer.startswith(path[:-9]) for pointer in reported))


def _describe_rewording(old: str, new: str) -> str:
    """The words that differ, from the first to the last."""
    before, after = old.split(), new.split()
    start, end = common_ends(before, after)
    parts = [_cut(" ".join(words[start : len(words) - end])) for words in (before, after)]
    if before == after:
        return "only white space differs"
    gone, new = parts
    return f"{gone!r} → {new!r}" if gone and new else f"added {new!r}" if new else f"removed {gone!r}"


def _cut(text: str) -> str:
    return f"{text[:MAX_SHOWN]}…" if len(text) > MAX_SHOWN else text


def _part_changes(locked: LockedServer, catalog: Catalog, vocabulary: _Vocabulary) -> _Changes:
    """Changes of everything but the tools, where both sides have it."""
    present = parts_of(catalog)
    server = Location(kind="server", name=catalog.server, index=None, path="")
    if locked.server_info is not None and present["server_info"] is not None:
        before, after = {"serverInfo": locked.server_info}, {"serverInfo": present["server_info"]}
        for change in (*_additions(before, after, vocabulary), *_edits(locked.server_info, present["server_info"])):
            yield server, change
    if locked.instructions is not None and present["instructions"] not in (None, locked.instructions):
        part, text = replace(server, kind="instructions"), present["instructions"]
        verb = "gone" if not text else "changed" if locked.instructions else "new"
        message = f"agents follow them: {_describe_rewording(locked.instructions, text)}"
        yield part, whole_difference(Impact.DANGEROUS, f"{verb}-instructions", message)
        for addition in _additions(locked.instructions, text, vocabulary):
            yield part, addition
    for kind in ("prompt", "resource"):
        entries, now = getattr(locked, f"{kind}s"), present[f"{kind}s"]
        if entries is not None and now is not None:
            old, new = (
                [_Entry(identity(change), canonical_json(change), change) for change in side] for side in (entries, now)
            )
            yield from _entry_changes(kind, old, new, vocabulary)


def _entry_changes(kind: str, old: Sequence[_Entry], new: Sequence[_Entry], vocabulary: _Vocabulary) -> _Changes:
    for index, (before, after) in enumerate(_pair_entries(old, new)):
        name = next(version.name for version in (after, before) if version is not None)
        for difference in _entry_differences(kind, before, after, vocabulary):
            yield Location(kind=kind, name=name, index=index, path=""), difference


def _entry_differences(
    kind: str, old: _Entry | None, new: _Entry | None, vocabulary: _Vocabulary
) -> Iterator[Difference]:
    """Everything that differs, so that what is allowed lets nothing else pass."""
    if new is None:
        yield whole_difference(Impact.BREAKING, f"removed-{kind}", f"the {kind} is gone")
    elif old is None:
        impact, more = (Impact.DANGEROUS, ": nobody has reviewed it") if kind == "tool" else (Impact.COMPATIBLE, "")
        yield whole_difference(impact, f"added-{kind}", f"the {kind} is new{more}")
        yield from _additions({}, new.raw, vocabulary)
    elif kind == "tool" and (old.raw is None or new.raw is None):
        yield whole_difference(Impact.BREAKING, "unreadable", "it has changed, and nests too deeply to be compared")
    else:
        differences = (_contract_changes if kind == "tool" else _lost_arguments)(old.raw, new.raw)
        yield from differences
        yield from _additions(old.raw, new.raw, vocabulary)
        yield from _edits(old.raw, new.raw, reported={difference.path for difference in differences})


def _contract_changes(old: Any, new: Any) -> list[Difference]:  # noqa: ANN401
    """Return what breaks callers of a tool, and every hint that changed."""
    before, after = (read_tool(version, 0) for version in (old, new))
    hints = safer_hints(before.annotations, after.annotations)
    return [*contract_differences(before, after), *differences_of(Impact.DANGEROUS, hints)]


def _lost_arguments(old: Any, new: Any) -> list[Difference]:  # noqa: ANN401
    """Arguments of a prompt that are gone, or that are required now."""
    before, after = (
        {argument["name"]: argument.get("required") is True for argument in _arguments(entry)} for entry in (old, new)
    )
    lost = [f"{name!r} is gone" for name in before if name not in after]
    lost += [f"{name!r} is required now" for name, is_needed in after.items() if is_needed and not before.get(name)]
    if not lost:
        return []
    message = ", ".join(lost)
    return [Difference(impact=Impact.BREAKING, change="narrowed-arguments", path="/arguments", message=message)]


def _arguments(entry: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    arguments = entry.get("arguments") if isinstance(entry, Mapping) else None
    entries = arguments if isinstance(arguments, list) else []
    return [argument for argument in entries if isinstance(argument, Mapping) and isinstance(argument.get("name"), str)]


def _unstable_parts(first: Catalog, second: Catalog) -> list[tuple[Location, Difference]]:
    """Return what differs between two listings of the same server; the order does not count."""
    listed, again = ({(tool.name, digest(tool.raw)) for tool in version.tools} for version in (first, second))
    names = dict.fromkeys(name for name, _ in sorted(listed ^ again))
    parts = [Location(kind="tool", name=name, index=0, path="") for name in names]
    if parts_of(first) != parts_of(second):
        parts.append(Location(kind="server", name=first.server, index=None, path=""))
    difference = whole_difference(Impact.DANGEROUS, "unstable", "it was another one when it was listed again")
    return [(part, difference) for part in parts]
