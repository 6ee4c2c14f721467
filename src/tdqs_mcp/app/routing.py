"""Serving the tools of a live server with other descriptions, and making planned calls."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.shared.memory import MessageStream, create_client_server_memory_streams
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tdqs_mcp.app.catalogs import find_configured
from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.json_text import hide
from tdqs_mcp.model import CallOutcome, Catalog
from tdqs_mcp.results.checks import PlannedCall
from tdqs_mcp.router.connection_log import ConnectionLog, Messages, Peer, Write
from tdqs_mcp.router.relay import Relay, relay_frames
from tdqs_mcp.router.variants import VariantSource, read_components
from tdqs_mcp.sources.failure import Attempt
from tdqs_mcp.sources.locator import HIDDEN, Config, LiveOptions, Stdio, Url, parse_locator, public, repeatable_secrets
from tdqs_mcp.sources.recording import Recording

LOG_SECONDS = 0.2
"""How long a cancellation may take to the log of calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """Serves any number of clients, each through a connection to the server of its own."""

    locator: Stdio | Url
    name: str
    """The server's in messages."""

    options: LiveOptions
    source: VariantSource
    log: Write
    """Gets which variants were served."""

    log_call: Write | None = None

    def open(self) -> Relay:
        """Return what a new connection has to remember."""
        return Relay(self.source, ConnectionLog(self.log, self.log_call))

    async def serve(self, client: Peer, relay: Relay | None = None) -> None:
        """Serves one client until it leaves. Raises CaptureError when the server fails it."""
        attempt = Attempt(locator=self.locator, options=self.options, recording=Recording(max_bytes=0))
        await relay_frames(relay or self.open(), client, attempt, name=self.name)


def make_router(
    locator: str,
    options: LiveOptions,
    *,
    variants: str | None = None,
    components: str | None = None,
    log: Write,
    log_call: Write | None = None,
    tell: Callable[[str], None],
) -> Router:
    """A router to the live server that a locator names, with the variants in a file or a store.

    `tell` gets what the server's configuration lacks, and what is wrong with variants that change. Raises InputError.
    """
    source = VariantSource(variants, read_components(components) if components else (), tell=tell)
    parsed = parse_locator(locator)
    name = public(parsed)  # of a configured server not the command, whose words may be secret
    if isinstance(parsed, Config):
        server = find_configured(parsed, options)
        for problem in server.unresolved:
            tell(problem)
        parsed, options = server.locator, server.fill(options)
    if not isinstance(parsed, Stdio | Url):
        raise InputError("this needs a server that runs: give a URL, stdio:COMMAND, config:NAME, or last -- COMMAND")
    hidden = repeatable_secrets(parsed, options)
    return Router(
        locator=parsed,
        name=name,
        options=options,
        source=source,
        log=_hiding(log, hidden),
        log_call=_hiding(log_call, hidden) if log_call else None,
    )


def _hiding(write: Write, hidden: Sequence[str]) -> Write:
    """Writes lines without what the server was given."""
    return lambda line: write(hide(line, hidden, HIDDEN))


def line_writer(path: Path, *, tell: Callable[[str], None]) -> Write:
    """Return a function that appends lines of JSON to a file and warns where it cannot. Raises InputError."""
    try:
        path.open("a").close()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error

    def write(line: Mapping[str, Any]) -> None:
        try:
            with path.open("a", encoding="utf-8") as stream:
                print(json.dumps(line), file=stream)
        except OSError as error:
            tell(f"a line of {str(path)!r} is lost: {error.strerror}")

    return write


async def make_calls(
    locator: str,
    options: LiveOptions,
    calls: Sequence[PlannedCall],
    *,
    catalog: Catalog,
    log_call: Write,
    tell: Callable[[str], None],
) -> list[str]:
    """Makes the calls through a router, in order, and gives their outcomes as its log has them.

    What gets no answer within the time limit is cancelled, and the server is connected anew. A call has no outcome if
    the server asks its client something first, or cannot be reached again; `tell` gets why. Raises InputError.
    """
    outcomes: list[str] = []

    def note(line: Mapping[str, Any]) -> None:
        outcomes.append(line["outcome"])
        log_call(line)

    router = make_router(locator, options, log=lambda _: None, log_call=note, tell=tell)
    mode = "legacy" if catalog.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS else "auto"
    left, is_reached = list(calls), True
    while left and is_reached:
        before, is_reached = len(outcomes), False
        async with create_client_server_memory_streams() as (near_end, far_end), anyio.create_task_group() as serving:
            serving.start_soon(_serve, router, far_end, tell)
            client = Client(nullcontext(near_end), mode=mode, cache=None, read_timeout_seconds=options.timeout)
            with suppress(Exception):  # groups of whatever the SDK raises when the server has gone; `_serve` tells why
                async with client:
                    await _list_tools(client, options.max_pages)
                    is_reached = True
                    for number, call in enumerate(left, start=before + 1):
                        parameters = CallToolRequestParams(name=call.tool, arguments=dict(call.arguments))
                        with suppress(MCPError, ValueError):
                            await client.session.send_request(CallToolRequest(params=parameters), CallToolResult)
                        if len(outcomes) < number or outcomes[-1] not in set(CallOutcome):
                            await anyio.sleep(LOG_SECONDS)
                            break
            await near_end[1].aclose()
        del left[: max(len(outcomes) - before, 1)]
    return outcomes


async def _serve(router: Router, streams: MessageStream, tell: Callable[[str], None]) -> None:
    """Serves a client of this process; when the server has gone, the client sees the end."""
    read, write = streams
    async with read, write:
        try:
            await router.serve(Messages(read, write, note=lambda _: None))
        except CaptureError as error:
            tell(str(error))


async def _list_tools(client: Client, max_pages: int) -> None:
    """Has the router see the definitions; one that the SDK refuses ends the listing."""
    cursor: str | None = None
    with suppress(ValueError):
        for _ in range(max_pages):
            cursor = (await client.list_tools(cursor=cursor)).next_cursor
            if not cursor:
                return
