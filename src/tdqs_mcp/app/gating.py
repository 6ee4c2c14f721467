"""Gates: a server held to its entry in `tdqs.lock`, and several held to the expectations of a suite."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tdqs_mcp.app.catalogs import load
from tdqs_mcp.app.judging import score_measured
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.facts.schema.conformance import find_fault
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.gate import definition_lock, suite
from tdqs_mcp.gate.definition_lock import lock_server
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.json_values import read_document
from tdqs_mcp.results.checks import GateRow
from tdqs_mcp.results.comparisons import LOCK_VERSION, DefinitionLock, Impact, LockedServer, LockReport, LockState
from tdqs_mcp.results.contract import schema
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.sources.files import read_bytes, read_text
from tdqs_mcp.sources.locator import LiveOptions

EMPTY_LOCK = DefinitionLock(servers=())


def read_lock(path: Path) -> DefinitionLock:
    """The lock in a file. Raises InputError for one that is broken, edited, or of a newer version."""
    origin = repr(str(path))
    if not path.exists():
        raise InputError(f"there is no lock {origin}; write one with tdqs-mcp lock LOCATOR")
    document = parse_json(read_bytes(path), origin=origin)
    content = document if isinstance(document, Mapping) else {}
    version = content.get("version")
    if isinstance(version, int) and version > LOCK_VERSION:
        raise InputError(
            f"{origin} is a lock of version {version}, this tdqs-mcp reads {LOCK_VERSION}; install a newer tdqs-mcp"
        )
    fault = find_fault(schema(DefinitionLock), document)
    if fault is not None:
        place = "".join(f"/{step}" for step in fault.path)
        raise InputError(
            f"{origin} is not a lock, at {place or 'its root'}: {fault.message[:200]}; restore it, or delete it "
            "and run tdqs-mcp lock"
        )
    lock = read_document(DefinitionLock, content)
    definition_lock.check_lock(lock, origin)
    return lock


def verify(
    catalog: Catalog, lock: DefinitionLock, *, again: Catalog | None = None, code: CodeReport | None = None
) -> LockReport:
    """Return what has changed since the lock was written, by what it means; `again` is a second listing of the server.

    Nothing is scored: a new calibration is no change. Raises InputError for a server that the lock does not have; a
    listing under another name, such as a renamed file, is its only one unless the server itself says otherwise.
    """
    entry = definition_lock.find_entry(lock, catalog) or definition_lock.find_renamed(lock, catalog)
    if entry is None:
        names = ", ".join(repr(server.name) for server in lock.servers) or "no server"
        raise InputError(f"the lock does not have {catalog.server!r}, it has {names}; add it with tdqs-mcp lock")
    return definition_lock.verify(entry, catalog, again, code=code)


async def lock(
    catalog: Catalog,
    present: DefinitionLock = EMPTY_LOCK,
    *,
    again: Catalog | None = None,
    accept: Sequence[str] | None = (),
    allow: Sequence[Impact] | None = None,
    code: CodeReport | None = None,
) -> tuple[DefinitionLock, LockReport]:
    """The lock with this server, and what has changed of it if it was there already.

    Then only the changes of the parts in `accept` are taken, all for None; `allow` replaces the impacts that the entry
    lets pass. Other servers stay. Raises InputError for an incomplete listing, and UnknownIdError.
    """
    if catalog.incomplete:
        raise InputError(f"an incomplete list of tools cannot be locked: {catalog.incomplete}")
    measured = replace(measure(catalog), code=code)
    scored = await score_measured(measured, judge=Offline())
    now = lock_server(measured, scored, allow=allow or ())
    entry = definition_lock.find_entry(present, catalog)
    if entry is None:
        if accept:
            raise InputError(f"the lock does not have {catalog.server!r}: nothing to accept; add it without --accept")
        report = replace(definition_lock.verify(now, catalog, again), state=LockState.NEW)
        return DefinitionLock(servers=_sorted([*present.servers, now])), report
    entry = entry if allow is None else replace(entry, allow=now.allow)
    report = definition_lock.verify(entry, catalog, again, code=code)
    updated, report = definition_lock.accept(entry, replace(now, allow=entry.allow), report, accept)
    kept_servers = [server for server in present.servers if server.name != entry.name or server.source != entry.source]
    return DefinitionLock(servers=_sorted([*kept_servers, updated])), report


def _sorted(servers: Sequence[LockedServer]) -> tuple[LockedServer, ...]:
    return tuple(sorted(servers, key=lambda server: (server.name, server.source or "")))


async def run_suite(path: Path, options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite in a YAML file.

    Every server is captured once; if that fails, its rows say why and the others are checked all the same. Raises
    InputError, which says line and key, for a file that is not a suite.
    """
    parsed = suite.parse(read_text(path), origin=repr(str(path)))
    servers = parsed.used_servers.items()
    evidence = {name: await _evidence(name, server, options or LiveOptions()) for name, server in servers}
    return [suite.check(entry, evidence[entry.server]) for entry in parsed.tool_quality]


async def _evidence(name: str, server: suite.Server, options: LiveOptions) -> suite.Evidence | str:
    """The facts and score of a suite's server, or why it could not be captured."""
    try:
        locator, headers, env = server.locate(name, os.environ)
        chosen = replace(
            options, headers=headers, env=env, cwd=server.cwd or options.cwd, timeout=server.timeout or options.timeout
        )
        catalog = await load(locator, chosen)
    except TdqsError as error:
        return str(error)
    if catalog.incomplete:
        return f"the list of tools is incomplete: {catalog.incomplete}"
    measured = measure(catalog)
    return suite.Evidence(measured=measured, score=await score_measured(measured, judge=Offline()))
