"""What has changed of a server since it was locked, and what each change means."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import attrgetter
from typing import Any, NamedTuple

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.schema.compatibility import MISSING, list_edits, safer_hints
from tdqs_mcp.facts.threats import find_additions, find_hosts
from tdqs_mcp.gate.definition_lock import digest, identity, normalized_or_none, parts_of
from tdqs_mcp.model import Catalog, read_tool
from tdqs_mcp.results.comparisons import Difference, Impact
from tdqs_mcp.results.findings import Location, unmatched
from tdqs_mcp.results.locks import LockedChange, LockedServer, LockReport, LockState
from tdqs_mcp.rewriting import catalog_diff

MAX_SHOWN = 60
"""Characters of old and of new words that a change shows."""

_TEXTS = frozenset({"description", "title", "$comment"})

_SHOWN = frozenset({"icons", "_meta"})
"""Fields that clients act on and that people who read definitions do not see."""


def verify(locked: LockedServer, catalog: Catalog, again: Catalog | None = None) -> LockReport:
    """What has changed since the server was locked; `again` is a second listing, which must not differ."""
    known = _Known(_hosts(locked), frozenset(each.name for each in locked.tools))
    changes = [*_tool_changes(locked, catalog, known), *_part_changes(locked, catalog, known)]
    problems = list(catalog.problems)
    if again is not None:
        told = {part.part for part, _ in changes}
        changes += [each for each in _unstable(catalog, again) if each[0].part not in told]
        problems += filter(None, [catalog_diff.listing_change(catalog, again)])
    ranks = list(Impact)
    found = [
        LockedChange(subject=part, part=part.part, difference=each, is_allowed=each.impact in locked.allow)
        for part, each in sorted(changes, key=lambda change: ranks.index(change[1].impact))
    ]
    return LockReport(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        state=LockState.CHANGED if found else LockState.SAME,
        locked_version=locked.version,
        changes=tuple(found),
        accepted=(),
        tool_count=len(catalog.tools),
        unverified=tuple(_unverified(locked, catalog)),
        problems=tuple(problems),
    )


_Changes = Iterator[tuple[Location, Difference]]


class _Known(NamedTuple):
    """What a new text may name without a warning: hosts; and tools, unless it orders to call them."""

    hosts: frozenset[str]
    tools: frozenset[str]


def _hosts(locked: LockedServer) -> frozenset[str]:
    parts = [locked.server_info, locked.instructions, locked.prompts, locked.resources]
    return find_hosts([*parts, *(each.definition for each in locked.tools)])


def _unverified(locked: LockedServer, catalog: Catalog) -> Iterator[str]:
    present = parts_of(catalog)
    for name in ("instructions", "prompts", "resources"):
        if getattr(locked, name) and present[name] is None:
            yield f"{name} are locked, but this listing does not have them"
    if catalog.incomplete:
        yield catalog.incomplete


def _tool_changes(locked: LockedServer, catalog: Catalog, known: _Known) -> _Changes:
    old = [_Entry(each.name, each.digest, each.definition) for each in locked.tools]
    new = [_Entry(each.name, digest(each.raw), normalized_or_none(each.raw)) for each in catalog.tools]
    for part, each in _entry_changes("tool", old, new, known):
        if not (catalog.incomplete and each.change == "removed-tool"):
            yield part, each


class _Entry(NamedTuple):
    """A tool, prompt or resource on one of both sides."""

    name: str
    digest: str
    raw: Any
    """None for a tool that nests too deep."""


def _paired(old: Sequence[_Entry], new: Sequence[_Entry]) -> Iterator[tuple[_Entry | None, _Entry | None]]:
    """Entries that are not on both sides, by name, the first with the first where a name is there twice."""
    same = Counter(each.digest for each in old) & Counter(each.digest for each in new)
    waiting: dict[str, list[_Entry]] = {}
    for each in unmatched(old, same.copy(), attrgetter("digest")):
        waiting.setdefault(each.name, []).append(each)
    for each in unmatched(new, same, attrgetter("digest")):
        yield (waiting[each.name].pop(0) if waiting.get(each.name) else None), each
    yield from ((each, None) for entries in waiting.values() for each in entries)


def _additions(old: Any, new: Any, known: _Known) -> Iterator[Difference]:  # noqa: ANN401
    own = {new.get("name")} if isinstance(new, Mapping) else set()
    for each in find_additions(old, new, hosts=known.hosts, tools=known.tools - own):
        yield Difference(impact=Impact.DANGEROUS, **each._asdict())


def _edits(old: Any, new: Any, *, said: Collection[str] = ()) -> Iterator[Difference]:  # noqa: ANN401
    """Every edit that nothing has been said of, by what it touches."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        yield Difference(impact=Impact.COMPATIBLE, change="changed", path="", message="it is not an object")
        return
    for edit in list_edits(old, new):
        what = "new" if edit.before is MISSING else "gone" if edit.after is MISSING else "changed"
        values = [each for each in (edit.before, edit.after) if each is not MISSING]
        field = edit.path.split("/")[1]
        if field in _SHOWN:
            message = "clients act on it, but people who read the description do not see it"
            yield _dangerous(f"{what}-{field.strip('_')}", message, edit.path)
        elif edit.path.rpartition("/")[2] in _TEXTS and all(isinstance(each, str) for each in values):
            message = _reworded(*map(str, values)) if len(values) > 1 else what
            yield Difference(impact=Impact.WORDING, change=f"{what}-text", path=edit.path, message=message)
        elif not _is_said(edit.path, said):
            message = f"{what}; callers can go on as before"
            yield Difference(impact=Impact.COMPATIBLE, change=what, path=edit.path, message=message)


def _is_said(path: str, said: Collection[str]) -> bool:
    """A difference at the path, or above it, has been told; `required` changes with the parameters that it names."""
    above = any(path == each or path.startswith(f"{each}/") for each in said if each)
    return above or (path.endswith("/required") and any(each.startswith(path[:-9]) for each in said))


def _reworded(old: str, new: str) -> str:
    """The words that differ, from the first to the last."""
    before, after = old.split(), new.split()
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    parts = [_cut(" ".join(words[start : len(words) - end])) for words in (before, after)]
    if before == after:
        return "only white space differs"
    gone, new = parts
    return f"{gone!r} → {new!r}" if gone and new else f"added {new!r}" if new else f"removed {gone!r}"


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Words at the beginning that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _cut(text: str) -> str:
    return f"{text[:MAX_SHOWN]}…" if len(text) > MAX_SHOWN else text


def _breaking(change: str, message: str) -> Difference:
    return Difference(impact=Impact.BREAKING, change=change, path="", message=message)


def _dangerous(change: str, message: str, path: str = "") -> Difference:
    return Difference(impact=Impact.DANGEROUS, change=change, path=path, message=message)


def _part_changes(locked: LockedServer, catalog: Catalog, known: _Known) -> _Changes:
    """Changes of everything but the tools, where both sides have it."""
    present = parts_of(catalog)
    server = Location(kind="server", name=catalog.server, index=None, path="")
    if locked.server_info is not None and present["server_info"] is not None:
        before, after = {"serverInfo": locked.server_info}, {"serverInfo": present["server_info"]}
        for each in (*_additions(before, after, known), *_edits(locked.server_info, present["server_info"])):
            yield server, each
    if locked.instructions is not None and present["instructions"] not in (None, locked.instructions):
        part, text = replace(server, kind="instructions"), present["instructions"]
        what = "gone" if not text else "changed" if locked.instructions else "new"
        message = "agents follow them"
        yield part, _dangerous(f"{what}-instructions", f"{message}: {_reworded(locked.instructions, text)}")
        for each in _additions(locked.instructions, text, known):
            yield part, each
    for kind in ("prompt", "resource"):
        entries, now = getattr(locked, f"{kind}s"), present[f"{kind}s"]
        if entries is not None and now is not None:
            old, new = (
                [_Entry(identity(each), canonical_json(each), each) for each in side] for side in (entries, now)
            )
            yield from _entry_changes(kind, old, new, known)


def _entry_changes(kind: str, old: Sequence[_Entry], new: Sequence[_Entry], known: _Known) -> _Changes:
    for index, (before, after) in enumerate(_paired(old, new)):
        name = next(each.name for each in (after, before) if each is not None)
        for difference in _entry_differences(kind, before, after, known):
            yield Location(kind=kind, name=name, index=index, path=""), difference


def _entry_differences(kind: str, old: _Entry | None, new: _Entry | None, known: _Known) -> Iterator[Difference]:
    """Everything that differs, so that what is allowed lets nothing else pass."""
    if new is None:
        yield _breaking(f"removed-{kind}", f"the {kind} is gone")
    elif old is None:
        impact, more = (Impact.DANGEROUS, ": nobody has reviewed it") if kind == "tool" else (Impact.COMPATIBLE, "")
        yield Difference(impact=impact, change=f"added-{kind}", path="", message=f"the {kind} is new{more}")
        yield from _additions({}, new.raw, known)
    elif kind == "tool" and (old.raw is None or new.raw is None):
        yield _breaking("unreadable", "it has changed, and nests too deeply to be compared")
    else:
        found = (_contract_changes if kind == "tool" else _lost_arguments)(old.raw, new.raw)
        yield from found
        yield from _additions(old.raw, new.raw, known)
        yield from _edits(old.raw, new.raw, said={each.path for each in found})


def _contract_changes(old: Any, new: Any) -> list[Difference]:  # noqa: ANN401
    """What breaks callers of a tool, and every hint that changed."""
    before, after = (read_tool(each, 0) for each in (old, new))
    hints = safer_hints(before.annotations, after.annotations)
    safer = (Difference(impact=Impact.DANGEROUS, **each._asdict()) for each in hints)
    return [*catalog_diff.contract_differences(before, after), *safer]


def _lost_arguments(old: Any, new: Any) -> list[Difference]:  # noqa: ANN401
    """Arguments of a prompt that are gone, or that are required now."""
    before, after = ({each["name"]: each.get("required") is True for each in _arguments(entry)} for entry in (old, new))
    lost = [f"{name!r} is gone" for name in before if name not in after]
    lost += [f"{name!r} is required now" for name, is_needed in after.items() if is_needed and not before.get(name)]
    return [replace(_breaking("narrowed-arguments", ", ".join(lost)), path="/arguments")] if lost else []


def _arguments(entry: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    found = entry.get("arguments") if isinstance(entry, Mapping) else None
    entries = found if isinstance(found, list) else []
    return [each for each in entries if isinstance(each, Mapping) and isinstance(each.get("name"), str)]


def _unstable(first: Catalog, second: Catalog) -> list[tuple[Location, Difference]]:
    """What differs between two listings of the same server; the order does not count."""
    listed, again = ({(tool.name, digest(tool.raw)) for tool in each.tools} for each in (first, second))
    names = dict.fromkeys(name for name, _ in sorted(listed ^ again))
    parts = [Location(kind="tool", name=name, index=0, path="") for name in names]
    if parts_of(first) != parts_of(second):
        parts.append(Location(kind="server", name=first.server, index=None, path=""))
    return [(part, _dangerous("unstable", "it was another one when it was listed again")) for part in parts]
