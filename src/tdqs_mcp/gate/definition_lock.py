"""The lock of definitions: what is pinned of a server, whether it was edited, and how changes are accepted."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tdqs_mcp.canonical import canonical_json, replace_surrogates, short_hash
from tdqs_mcp.errors import InputError, UnknownIdError, UnmeasurableError
from tdqs_mcp.facts.spelling import some_names
from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.comparisons import Impact
from tdqs_mcp.results.locks import (
    DefinitionLock,
    LockedScore,
    LockedServer,
    LockedTool,
    LockReport,
    LockState,
)
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import JudgeStamp, tier_of

_SETS = frozenset({"required", "type"})
"""Keywords whose list has no order: servers that build them from sets list them differently at each start."""


def normalize(raw: Any) -> Any:  # noqa: ANN401  # any JSON
    """The same JSON with sorted keys, without what says nothing: nulls of the whole and the order of `required`.

    Raises UnmeasurableError beyond the limit of nesting.
    """
    value = _in_order(json.loads(canonical_json(raw)))
    if isinstance(value, dict):
        value = {key: child for key, child in value.items() if child is not None}
    return json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False)))


def _in_order(value: Any, key: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _in_order(child, name) for name, child in value.items()}
    if isinstance(value, list):
        is_set = key in _SETS and all(isinstance(child, str) for child in value)
        return sorted(value) if is_set else [_in_order(child) for child in value]
    return value


def lock_server(measured: Measured, score: ServerScore, *, allow: Sequence[Impact] = ()) -> LockedServer:
    """What is pinned of a server."""
    catalog = measured.catalog
    hashes = {each.tool.index: each.signals.input_hash for each in measured.subjects}
    scores = {each.index: _score(each.tdqs, score.spec_version, each.judge) for each in score.tools}
    tools = [
        LockedTool(
            name=tool.name,
            input_hash=hashes.get(tool.index),
            digest=digest(tool.raw),
            score=scores.get(tool.index),
            definition=normalized_or_none(tool.raw),
        )
        for tool in catalog.tools
    ]
    parts = parts_of(catalog)
    overall = score.rollup.overall
    return LockedServer(
        name=catalog.server,
        version=catalog.version,
        source=catalog.source,
        allow=tuple(each for each in Impact if each in allow),
        score=None if overall is None else _score(overall, score.spec_version, score.judge),
        digest=digest(parts),
        **parts,
        tools=tuple(sorted(tools, key=lambda each: (each.name, each.digest))),
    )


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
    """What agents see beside tools; null for what was not listed."""
    info = catalog.server_info
    is_whole = info is not None
    given = {
        "server_info": None if info is None else {key: info[key] for key in info if key != "version"},
        "instructions": catalog.instructions or ("" if is_whole else None),
        "prompts": _entries(catalog, "prompts", [each.raw for each in catalog.prompts or ()]),
        "resources": _entries(catalog, "resources", [each.raw for each in catalog.resources or ()]),
    }
    normalized = {name: normalized_or_none(value) for name, value in given.items()}
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
        found = [("the server", server.digest, parts)]
        found += [
            (repr(each.name), each.digest, each.definition) for each in server.tools if each.definition is not None
        ]
        for what, pinned, content in found:
            if digest(content) != pinned:
                raise InputError(
                    f"{origin} was edited: {what} of {server.name!r} does not have its digest; restore the file, "
                    "then accept changes with tdqs-mcp lock --accept"
                )


def find_entry(lock: DefinitionLock, catalog: Catalog) -> LockedServer | None:
    """The entry of a server: by its name, and its source if others have its name, else by its source."""
    named = [each for each in lock.servers if each.name == catalog.server]
    sources = [each for each in named or lock.servers if each.source and each.source == catalog.source]
    return next(iter([*sources, *named]), None)


def find_renamed(lock: DefinitionLock, catalog: Catalog) -> LockedServer | None:
    """The only entry, for a listing under another name; None if both listings say what the server is, and differ."""
    if len(lock.servers) != 1:
        return None
    names = [(info or {}).get("name") for info in (lock.servers[0].server_info, catalog.server_info)]
    return None if all(names) and names[0] != names[1] else lock.servers[0]


def accept(
    known: LockedServer, now: LockedServer, report: LockReport, parts: Collection[str] | None
) -> tuple[LockedServer, LockReport]:
    """The entry with the changes of these parts, or with all, and the report that says so. Raises UnknownIdError.

    What is not accepted stays as it was locked, and so does a score where the new judgment has none.
    """
    changed = {each.part: each.subject for each in report.changes}
    for part in parts or ():
        if part not in changed:
            raise UnknownIdError(f"there is no change of {part!r} to accept; changed: {some_names(changed) or 'none'}")
    taken = list(changed) if parts is None else [part for part in changed if part in parts]
    accepted = replace(report, state=LockState.ACCEPTED if taken else report.state, accepted=tuple(taken))
    kept = _with_scores(now, known)
    if parts is None:
        return kept, accepted
    names: dict[str, set[str]] = {}
    for part in taken:
        names.setdefault(changed[part].kind, set()).add(changed[part].name)
    merged = {
        "tools": _merged(known.tools, kept.tools, names.get("tool", ()), lambda each: each.name),
        "prompts": _merged(known.prompts, kept.prompts, names.get("prompt", ()), identity),
        "resources": _merged(known.resources, kept.resources, names.get("resource", ()), identity),
        "server_info": (kept if "server" in names else known).server_info,
        "instructions": (kept if "instructions" in names else known).instructions,
    }
    merged["tools"] = tuple(sorted(merged["tools"], key=lambda each: (each.name, each.digest)))
    for name in ("prompts", "resources"):
        merged[name] = merged[name] and tuple(sorted(merged[name], key=canonical_json))
    parts = {name: value for name, value in merged.items() if name != "tools"}
    return replace(known, **merged, digest=digest(parts)), accepted


def identity(entry: Any) -> str:  # noqa: ANN401
    """A resource's URI or URI template, a prompt's name."""
    found = [entry.get(key) for key in ("uri", "uriTemplate", "name")] if isinstance(entry, Mapping) else []
    return next((each for each in found if isinstance(each, str)), "")


def _merged(old: Any, new: Any, names: Collection[str], name_of: Callable[[Any], str]) -> Any:  # noqa: ANN401
    """The entries of these names as they are now, the others as they were."""
    if not names:
        return old
    kept = [each for each in old or () if name_of(each) not in names]
    return (*kept, *(each for each in new or () if name_of(each) in names))


def _with_scores(now: LockedServer, known: LockedServer) -> LockedServer:
    scores = {each.digest: each.score for each in known.tools}
    return replace(now, tools=tuple(replace(each, score=each.score or scores.get(each.digest)) for each in now.tools))
