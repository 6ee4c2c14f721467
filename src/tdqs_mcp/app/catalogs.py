"""Catalogs from files, live servers, and server objects of this process; with or without an event loop."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tdqs_mcp.app.judging import discovery_status, score_measured
from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy
from tdqs_mcp.errors import CaptureError, InputError, TdqsError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.clients import InstalledOutcome, InstalledReport, InstalledScore, InstalledServer, ServerList
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC, view_set
from tdqs_mcp.sources.clients import ConfiguredServer, client_titles, read_servers
from tdqs_mcp.sources.files import read_catalog, read_content, read_file
from tdqs_mcp.sources.locator import Config, File, LiveOptions, parse_locator, public

if TYPE_CHECKING:
    from tdqs_mcp.sources.clients import ConfiguredServer

P = ParamSpec("P")
Result = TypeVar("Result")


def blocking(use: Callable[P, Awaitable[Result]]) -> Callable[P, Result]:
    """The use case in an event loop of its own."""

    @wraps(use)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        import anyio  # noqa: PLC0415  # importing the library, or reading a file, costs no event loop

        return anyio.run(partial(use, *args, **options))

    return run


async def load(locator: str, options: LiveOptions | None = None) -> Catalog:
    """The catalog that a locator names: a file, standard input, a live server or an object in this process.

    Raises InputError for what cannot be read and CaptureError for a server that does not list its tools in time.
    """
    parsed, options = parse_locator(locator), options or LiveOptions()
    if isinstance(parsed, File):
        return _read_still(parsed)
    if isinstance(parsed, Config):
        return await _load_named(parsed, locator, options)
    from tdqs_mcp.sources.connection import capture  # noqa: PLC0415  # the SDK takes half a second to import

    return await capture(parsed, options)


async def list_again(locator: str, options: LiveOptions | None = None) -> Catalog | None:
    """A second listing of a live server, by a start and a connection of its own; None for a file. Raises as `load`."""
    return None if isinstance(parse_locator(locator), File) else await load(locator, options)


def load_blocking(locator: str, options: LiveOptions | None = None) -> Catalog:
    """The same for a caller without an event loop; files need none at all. Raises InputError and CaptureError."""
    return load_still(locator) or blocking(load)(locator, options)


async def _load_named(parsed: Config, locator: str, options: LiveOptions) -> Catalog:
    """The catalog of a server in the configuration of a client; what the caller gives goes before what stands there."""
    server = find_configured(parsed, options)
    catalog = await load_configured(server, options, called=locator)
    disabled = ("the client has this server disabled",) if server.is_disabled else ()
    return replace(catalog, problems=(*disabled, *catalog.problems))


def find_configured(parsed: Config, options: LiveOptions) -> "ConfiguredServer":
    """Return the configured server that a locator names.

    Raises InputError if there is none, and for a server that a file of this folder names unless `options.consent`
    agrees: who only cloned a repository has not chosen what its files start.
    """
    from tdqs_mcp.sources import clients  # noqa: PLC0415

    server = clients.find_server(parsed.name, is_project=parsed.is_project)
    if server.is_project:
        target = public(server.locator)
        if not options.consent(f"{server.file}, a file of this folder, names {server.name!r}: {target}. Start it?"):
            raise InputError(
                f"{server.file}, a file of this folder and not one of yours, names {server.name!r}: {target}; "
                "read that file, then give --yes on the command line"
            )
    return server


async def load_configured(found: "ConfiguredServer", options: LiveOptions, *, called: str) -> Catalog:
    """The catalog of a configured server under a name that hides what it is started with. Raises as `load`."""
    from tdqs_mcp.sources.connection import capture  # noqa: PLC0415

    catalog = await capture(found.locator, found.fill(options), called=called)
    return replace(catalog, problems=(*found.unresolved, *catalog.problems))


def load_still(locator: str) -> Catalog | None:
    """The catalog of a file or of standard input, without an event loop; None for a live locator.

    Raises InputError.
    """
    parsed = parse_locator(locator)
    return _read_still(parsed) if isinstance(parsed, File) else None


def _read_still(file: File) -> Catalog:
    if file.path == "-":
        return read_content(sys.stdin.buffer.read(), origin="standard input", name="stdin")
    return read_file(Path(file.path))


async def load_object(server: object, options: LiveOptions | None = None) -> Catalog:
    """The catalog of a server object of this process. Raises InputError for any other object, and CaptureError."""
    from tdqs_mcp.sources.connection import capture_object  # noqa: PLC0415

    return await capture_object(server, options or LiveOptions())


def read(definitions: object, *, server: str = "inline") -> Catalog:
    """The catalog in parsed JSON of any shape that a file may have. Raises InputError."""
    return read_catalog(definitions, name=server)


MAX_STARTS = 8
"""Servers that are captured at one time."""

Consent = Callable[[Sequence[InstalledServer]], bool]
"""Whether servers that a project's files name may be started and reached."""

_NO_CONSENT = "a file of this folder names it, not one of yours: read that file, then give --yes"


def servers(**around: Any) -> ServerList:  # noqa: ANN401  # read_servers's
    """The servers of all installed clients, never what they are started with."""
    found, problems = read_servers(**around)
    return ServerList(servers=found, problems=problems)


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
    found, problems = read_servers(**around)
    if not found:
        raise InputError("; ".join(["no client here has any server", *problems]))
    blocked = {each.id: never for each in found if (never := _blocked(each))}
    foreign = [each for each in found if each.is_project and each.id not in blocked]
    if foreign and not consent(foreign):
        blocked |= {each.id: _row(each, InstalledOutcome.NOT_STARTED, _NO_CONSENT) for each in foreign}
    firsts = {each.connection: each for each in reversed(found) if each.id not in blocked}
    captured = await _capture(list(firsts.values())[::-1], options or LiveOptions())
    measured = {name: measure(each) for name, each in captured.items() if isinstance(each, Catalog)}
    judge = judge or Offline()
    scores = {
        name: await score_measured(each, judge=judge, spec=spec, policy=policy) for name, each in measured.items()
    }

    def row(server: ConfiguredServer) -> InstalledScore:
        first = firsts[server.connection].id
        error = captured[first]
        if not isinstance(error, TdqsError):
            return _scored(server, measured[first], scores[first], first=first)
        status = discovery_status(error) if isinstance(error, CaptureError) else None
        return replace(_row(server, InstalledOutcome.FAILED, str(error)), discovery_status=status)

    rows = [blocked.get(each.id) or row(each) for each in found]
    seen: dict[str, dict[str, Measured]] = {}
    for each in found:
        if each.id not in blocked and (known := measured.get(firsts[each.connection].id)):
            seen.setdefault(each.client, {})[each.name] = _shown(each, known)
    titles = client_titles()
    sets = [view_set(name, titles[name], together, task=task) for name, together in seen.items()]
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
    """What the client hands on to a model."""
    tools = tuple(tool for tool in measured.catalog.tools if server.shows(tool.name))
    return measured if tools == measured.catalog.tools else measure(replace(measured.catalog, tools=tools))


async def _capture(found: Sequence[ConfiguredServer], options: LiveOptions) -> dict[str, Catalog | TdqsError]:
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
        for each in found:
            tasks.start_soon(capture, each)
    return captured
