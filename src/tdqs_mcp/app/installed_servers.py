"""Several servers at once: those of all installed clients, and those that a suite names."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tdqs_mcp.app.catalogs import load, load_configured
from tdqs_mcp.app.judging import discovery_status, score_measured
from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy
from tdqs_mcp.errors import CaptureError, InputError, TdqsError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.gate.targets import Evidence
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.checks import GateRow
from tdqs_mcp.results.clients import InstalledOutcome, InstalledReport, InstalledScore, InstalledServer, ServerList
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC, view_set
from tdqs_mcp.sources.clients import ConfiguredServer, client_titles, read_servers
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.locator import LiveOptions

if TYPE_CHECKING:
    from tdqs_mcp.gate.suite import Server as SuiteServer

MAX_STARTS = 8
"""Servers that are captured at one time."""

Consent = Callable[[Sequence[InstalledServer]], bool]
"""Whether servers that a project's files name may be started and reached."""

_NO_CONSENT = "a file of this folder names it, not one of yours: read that file, then give --yes"


def servers(**around: Any) -> ServerList:  # noqa: ANN401  # read_servers's
    """The servers of all installed clients, never what they are started with."""
    configured, problems = read_servers(**around)
    return ServerList(servers=configured, problems=problems)


async def score_installed(
    *,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
    policy: Policy = DEFAULT_POLICY,
    task: str | None = None,
    consent: Consent = lambda _: False,
    options: LiveOptions | None = None,
    **around: Any,  # noqa: ANN401  # read_servers's
) -> InstalledReport:
    """The servers of all installed clients scored, and what an agent sees of them together, client by client.

    A server that fails is a row, and what two clients start alike is captured once. What is disabled or lacks a value
    is not started, nor is what a project's file names unless `consent`, asked once, agrees. With a task, the servers
    that it does not need are named. Raises InputError if no client has a server.
    """
    entries, problems = read_servers(**around)
    if not entries:
        raise InputError("; ".join(["no client here has any server", *problems]))
    blocked = {entry.id: never for entry in entries if (never := _blocked(entry))}
    foreign = [entry for entry in entries if entry.is_project and entry.id not in blocked]
    if foreign and not consent(foreign):
        blocked |= {server.id: _row(server, InstalledOutcome.NOT_STARTED, _NO_CONSENT) for server in foreign}
    firsts = {entry.connection: entry for entry in reversed(entries) if entry.id not in blocked}
    captured = await _capture(list(firsts.values())[::-1], options or LiveOptions())
    measured = {name: measure(item) for name, item in captured.items() if isinstance(item, Catalog)}
    judge = judge or Offline()
    scores = {
        name: await score_measured(item, judge=judge, spec=spec, policy=policy) for name, item in measured.items()
    }

    def row(server: ConfiguredServer) -> InstalledScore:
        first = firsts[server.connection].id
        error = captured[first]
        if not isinstance(error, TdqsError):
            return _scored(server, measured[first], scores[first], first=first)
        status = discovery_status(error) if isinstance(error, CaptureError) else None
        return replace(_row(server, InstalledOutcome.FAILED, str(error)), discovery_status=status)

    rows = [blocked.get(entry.id) or row(entry) for entry in entries]
    servers_by_client: dict[str, dict[str, Measured]] = {}
    for item in entries:
        if item.id not in blocked and (measured_server := measured.get(firsts[item.connection].id)):
            servers_by_client.setdefault(item.client, {})[item.name] = _shown(item, measured_server)
    titles = client_titles()
    sets = [view_set(name, titles[name], together, task=task) for name, together in servers_by_client.items()]
    return InstalledReport(servers=tuple(rows), clients=tuple(sets), problems=problems)


def _blocked(server: InstalledServer) -> InstalledScore | None:
    """The row of a server that is never started; None for any other."""
    if server.is_disabled:
        return _row(server, InstalledOutcome.DISABLED, "the client has it disabled")
    if server.transport is None:
        return _row(server, InstalledOutcome.NOT_STARTED, "the entry has neither a command nor a URL; complete it")
    return None if server.is_startable else _row(server, InstalledOutcome.NOT_STARTED, server.unresolved[0])


def _row(server: InstalledServer, standing: InstalledOutcome, reason: str) -> InstalledScore:
    return InstalledScore(server=server, standing=standing, reason=reason)


def _scored(server: InstalledServer, measured: Measured, score: ServerScore, *, first: str) -> InstalledScore:
    is_first = server.id == first
    return InstalledScore(
        server=server,
        standing=InstalledOutcome.SCORED,
        same_as=None if is_first else first,
        incomplete=measured.catalog.incomplete,
        discovery_status=score.discovery_status,
        tool_count=score.tool_count,
        tokens=measured.tokens,
        score=score if is_first else None,
    )


def _shown(server: ConfiguredServer, measured: Measured) -> Measured:
    """Return what the client hands on to a model."""
    tools = tuple(tool for tool in measured.catalog.tools if server.shows(tool.name))
    return measured if tools == measured.catalog.tools else measure(replace(measured.catalog, tools=tools))


async def _capture(configured: Sequence[ConfiguredServer], options: LiveOptions) -> dict[str, Catalog | TdqsError]:
    """The catalog of each server, or why there is none."""
    import anyio  # noqa: PLC0415  # a list of servers needs no event loop

    captured: dict[str, Catalog | TdqsError] = {}
    limit = anyio.CapacityLimiter(MAX_STARTS)

    async def capture(server: ConfiguredServer) -> None:
        async with limit:
            try:
                captured[server.id] = await load_configured(server, options, called=server.locator_name)
            except TdqsError as error:
                captured[server.id] = error

    async with anyio.create_task_group() as tasks:
        for server in configured:
            tasks.start_soon(capture, server)
    return captured


async def run_suite(path: Path, options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite in a YAML file.

    Every server is captured once; if that fails, its rows say why and the others are checked all the same. Raises
    InputError, which says line and key, for a file that is not a suite.
    """
    from tdqs_mcp.gate import suite  # noqa: PLC0415  # YAML and validation, which other servers go without

    read = suite.parse(read_text(path), origin=repr(str(path)))
    servers = read.used_servers.items()
    evidence = {name: await _evidence(name, server, options or LiveOptions()) for name, server in servers}
    return [suite.check(entry, evidence[entry.server]) for entry in read.tool_quality]


async def _evidence(name: str, server: "SuiteServer", options: LiveOptions) -> Evidence | str:
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
    return Evidence(measured=measured, score=await score_measured(measured, judge=Offline()))
