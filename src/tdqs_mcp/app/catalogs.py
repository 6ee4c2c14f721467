"""Catalogs from files, live servers, and server objects of this process; with or without an event loop."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tdqs_mcp.errors import InputError, TdqsError, UnknownIdError, nearest
from tdqs_mcp.facts.spelling import some_names
from tdqs_mcp.model import Catalog
from tdqs_mcp.sources.files import read_bytes, read_catalog, read_content, read_file
from tdqs_mcp.sources.locator import CODE_SUFFIXES, Config, File, LiveOptions, parse_locator, public

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
        server = find_configured(parsed, options)  # what the caller gives goes before what stands there
        catalog = await load_configured(server, options, called=locator)
        disabled = ("the client has this server disabled",) if server.is_disabled else ()
        return replace(catalog, problems=(*disabled, *catalog.problems))
    from tdqs_mcp.sources.connection import capture  # noqa: PLC0415  # the SDK takes half a second to import

    return await capture(parsed, options)


async def list_again(locator: str, options: LiveOptions | None = None) -> Catalog | None:
    """A second listing of a live server, by a start and a connection of its own; None for a file. Raises as `load`."""
    return None if isinstance(parse_locator(locator), File) else await load(locator, options)


def load_blocking(locator: str, options: LiveOptions | None = None) -> Catalog:
    """Read a locator for a caller without an event loop; files need none at all. Raises InputError and CaptureError."""
    parsed = parse_locator(locator)
    return _read_still(parsed) if isinstance(parsed, File) else blocking(load)(locator, options)


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


async def load_configured(server: "ConfiguredServer", options: LiveOptions, *, called: str) -> Catalog:
    """The catalog of a configured server under a name that hides what it is started with. Raises as `load`."""
    from tdqs_mcp.sources.connection import capture  # noqa: PLC0415

    catalog = await capture(server.locator, server.fill(options), called=called)
    return replace(catalog, problems=(*server.unresolved, *catalog.problems))


CAPTURES_AT_ONCE = 8
"""Live servers that are captured at one time."""


async def load_all(captures: Sequence[Callable[[], Awaitable[Catalog]]]) -> list[Catalog | TdqsError]:
    """The catalog of each server, or why there is none; some servers are captured at one time."""
    import anyio  # noqa: PLC0415  # a single file needs no event loop

    limit, outcomes = anyio.CapacityLimiter(CAPTURES_AT_ONCE), dict[int, Catalog | TdqsError]()

    async def capture(place: int, load_one: Callable[[], Awaitable[Catalog]]) -> None:
        async with limit:
            try:
                outcomes[place] = await load_one()
            except TdqsError as error:
                outcomes[place] = error

    async with anyio.create_task_group() as tasks:
        for place, load_one in enumerate(captures):
            tasks.start_soon(capture, place, load_one)
    return [outcomes[place] for place in range(len(captures))]


def match_tools(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the names that patterns mean: names, or names with the wildcards * and ?. Raises UnknownIdError."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        matches = [name for name in names if name == pattern] or [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            meant = nearest(pattern, names)
            raise UnknownIdError(f"there is no tool {pattern!r}{meant}; the catalog has {some_names(names)}")
        chosen |= dict.fromkeys(matches)
    return list(chosen)


def has_code(source: Path) -> bool:
    """Return whether a folder or a file is Python, JavaScript or TypeScript, so that its tools are read from there."""
    from tdqs_mcp.code.tool_search import source_files  # noqa: PLC0415  # most runs read no code

    return any(source_files(source))


MANIFESTS = frozenset((".mcp.json", "package.json", "package-lock.json", "pyproject.toml", "tsconfig.json"))
"""Files beside code, none of which is a catalog."""


def json_files(folder: Path) -> list[str]:
    """Return the paths of a folder's JSON files that may be catalogs."""
    return [str(file) for file in sorted(folder.glob("*.json")) if file.name not in MANIFESTS and file.is_file()]


def resolve_folder(locator: str) -> tuple[list[str], list[str]]:
    """Return the locators that a folder stands for, and the catalogs in it that its code goes before.

    A folder whose code registers tools is that code, whatever JSON lies there: a capture of an earlier day is not the
    server. Without such code it is its JSON files, or itself if it only declares a server that can be started.
    """
    folder = Path(locator)
    files = json_files(folder)
    named = [file for file in files if b'"tools"' in read_bytes(Path(file))]
    if has_code(folder):
        from tdqs_mcp.code.tool_search import registers_nothing  # noqa: PLC0415  # most runs read no code

        if not (named and registers_nothing(folder)):
            return [locator], named
    declares_server = any((folder / name).is_file() for name in MANIFESTS)
    return ([locator] if declares_server and not named else files), []


def _read_still(file: File) -> Catalog:
    if file.path == "-":
        return read_content(sys.stdin.buffer.read(), origin="standard input", name="stdin")
    path = Path(file.path)
    if path.is_dir() or (path.is_file() and path.suffix in CODE_SUFFIXES):
        from tdqs_mcp.code.definitions import read_definitions  # noqa: PLC0415  # most runs read no code

        return read_definitions(path)
    return read_file(path)


async def load_object(server: object, options: LiveOptions | None = None) -> Catalog:
    """The catalog of a server object of this process. Raises InputError for any other object, and CaptureError."""
    from tdqs_mcp.sources.connection import capture_object  # noqa: PLC0415

    return await capture_object(server, options or LiveOptions())


def read(definitions: object, *, server: str = "inline") -> Catalog:
    """The catalog in parsed JSON of any shape that a file may have. Raises InputError."""
    return read_catalog(definitions, name=server)


def capture_document(catalog: Catalog) -> dict[str, Any]:
    """A catalog as a file that `load` reads back: everything raw, nothing but what the server said and where it was."""
    resources = catalog.resources
    document: dict[str, Any] = {
        "server": catalog.server,
        "version": catalog.version,
        "source": catalog.source,
        "protocolVersion": catalog.protocol_version,
        "serverInfo": catalog.server_info,
        "capabilities": catalog.capabilities,
        "instructions": catalog.instructions,
        "tools": [tool.raw for tool in catalog.tools],
    }
    if resources is not None:
        document["resources"] = [resource.raw for resource in resources if not resource.is_template]
        document["resourceTemplates"] = [resource.raw for resource in resources if resource.is_template]
    if catalog.prompts is not None:
        document["prompts"] = [prompt.raw for prompt in catalog.prompts]
    if catalog.caching is not None:
        document["caching"] = catalog.caching
    lost = [
        f"{tool.name}{odd.path}: {odd.message}." for tool in catalog.tools for odd in tool.defects if odd.is_of_text
    ]
    if silent := sum(tool.is_open("/outputSchema") for tool in catalog.tools):
        tools = f"{silent} of {len(catalog.tools)} tools"
        lost.append(f"The output schemas of {tools} are not here: the code does not tell them.")
    if catalog.remarks or lost:
        document["problems"] = [*catalog.remarks, *lost]
    if catalog.incomplete:
        document["incomplete"] = catalog.incomplete
    return document
