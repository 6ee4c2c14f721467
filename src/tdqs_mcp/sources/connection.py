"""From a locator to a catalog: which transports and protocol eras are tried, and what counts as an answer."""

import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp import Client, MCPError
from mcp.types import METHOD_NOT_FOUND

from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.sources import transports
from tdqs_mcp.sources.failure import Evidence, clean, explain, leaves
from tdqs_mcp.sources.live import LiveOptions
from tdqs_mcp.sources.locator import InProcess, Stdio, Url, public
from tdqs_mcp.sources.recording import DISCOVER, INITIALIZE, TOOLS_LIST, Wire, build_catalog, tap
from tdqs_mcp.sources.stdio import LastWords, spawn

_NO_STREAMABLE_HTTP = (400, 404, 405)
"""What a server that only has the older SSE transport answers to a POST (MCP 2025-11-25, "Backwards Compatibility")."""

_DISCOVER_SHARE = 4
"""A server may leave `server/discover` unanswered for a quarter of the time limit (the SDK: for 10 s at most)."""

_HUSHED = ("mcp", "fastmcp", "httpx2", "httpcore2")
_CAPTURE: ContextVar[object] = ContextVar("tdqs_mcp_capture", default=None)


class Attempt:
    """One connection: what was heard on it, and how it ended."""

    def __init__(self, options: LiveOptions) -> None:
        """Nothing tried yet."""
        self.options = options
        self.wire = Wire(max_bytes=options.max_bytes)
        self.log = transports.Log()
        self.last_words = LastWords()
        self.protocol_version: str | None = None
        self.error: Exception | None = None

    @property
    def ended_in_negotiation(self) -> bool:
        """Whether the connection closed on the first questions, before one of them decided anything."""
        return bool(self.wire.pending) and self.wire.greeting is None and INITIALIZE not in self.wire.refusals

    @property
    def was_answered(self) -> bool:
        """Whether there was a server at all at the other end."""
        return bool(self.wire.results or self.wire.refusals)

    async def run(self, transport: Any, *, mode: str) -> None:  # noqa: ANN401  # the SDK's Transport, or what yields one
        """Connects, lists everything and disconnects; an error is kept, not raised."""
        tapped = tap(transport, self.wire, discover_seconds=self.options.timeout / _DISCOVER_SHARE)
        try:
            async with Client(tapped, mode=mode, cache=None) as client:
                self.protocol_version = client.protocol_version
                await list_everything(client, self.wire, self.options)
        except Exception as error:  # noqa: BLE001  # groups of whatever SDK, server and network raise; explained later
            self.error = error


async def connect(locator: Stdio | Url | InProcess, options: LiveOptions) -> Catalog:
    """The captured catalog; raises CaptureError when no list of tools was had."""
    attempts: list[Attempt] = []
    with _hushed(), anyio.move_on_after(options.timeout) as limit:
        match locator:
            case Stdio():
                await _over_pipes(locator, options, attempts)
            case Url():
                await _over_http(locator, options, attempts)
            case InProcess():
                await _in_process(locator, options, attempts)
    return _conclude(attempts, locator, options, timed_out=limit.cancelled_caught)


async def connect_object(server: object, options: LiveOptions) -> Catalog:
    """The captured catalog of a server object of this process; raises CaptureError, and InputError for any other."""
    kind = type(server)
    locator = InProcess(module=kind.__module__, attribute=kind.__qualname__)
    transport = transports.transport(server, "the object")
    attempts: list[Attempt] = []
    with _hushed(), anyio.move_on_after(options.timeout) as limit:
        await _begin(attempts, options).run(transport, mode="legacy")
    return replace(_conclude(attempts, locator, options, timed_out=limit.cancelled_caught), source=None)


async def _over_pipes(locator: Stdio, options: LiveOptions, attempts: list[Attempt]) -> None:
    """Both eras; some older servers die of the newer one's first question and get a second start without it."""
    for mode in ("auto", "legacy"):
        attempt = _begin(attempts, options)
        transport = spawn(
            locator, env=options.env, cwd=options.cwd, last_words=attempt.last_words, max_line=options.max_bytes
        )
        await attempt.run(transport, mode=mode)
        if not attempt.ended_in_negotiation:
            return


async def _over_http(locator: Url, options: LiveOptions, attempts: list[Attempt]) -> None:
    """Streamable HTTP, then SSE where the answers say that there is none; SSE has only the older era."""
    attempt = _begin(attempts, options)
    await attempt.run(transports.streamable(locator.url, options, attempt.log), mode="auto")
    replies = attempt.log.replies
    if attempt.wire.greeting is None and replies and replies[-1].status in _NO_STREAMABLE_HTTP:
        fallback = _begin(attempts, options)
        await fallback.run(transports.events(locator.url, options, fallback.log), mode="legacy")
        if not fallback.was_answered:
            attempts.remove(fallback)


async def _in_process(locator: InProcess, options: LiveOptions, attempts: list[Attempt]) -> None:
    """The import runs in a thread that is left behind when it hangs; only the older era has frames to listen to."""
    attempt = _begin(attempts, options)
    with transports.workplace(cwd=options.cwd, env=options.env):
        try:
            transport = await anyio.to_thread.run_sync(transports.load, locator, abandon_on_cancel=True)
        except InputError as error:
            raise InputError(clean(str(error), locator, options)) from error
        await attempt.run(transport, mode="legacy")


def _begin(attempts: list[Attempt], options: LiveOptions) -> Attempt:
    attempts.append(Attempt(options))
    return attempts[-1]


def _conclude(
    attempts: list[Attempt], locator: Stdio | Url | InProcess, options: LiveOptions, *, timed_out: bool
) -> Catalog:
    """The catalog, when tools were listed or the server has said that it has none."""
    last = attempts[-1]
    wire = last.wire
    has_none = wire.greeting is not None and not wire.expects_tools and last.error is None
    if TOOLS_LIST not in wire.results and not has_none:
        raise CaptureError(explain(_evidence(last, locator, timed_out=timed_out)))
    if timed_out or last.error:
        when = f"within {options.timeout:g} s" if timed_out else "before the connection broke"
        unanswered = [method for method in wire.pending.values() if method != DISCOVER]
        wire.problems += [f"{method} was not answered {when}." for method in unanswered]
        if TOOLS_LIST in unanswered:
            wire.incomplete = f"{TOOLS_LIST} was not answered {when}."
    if has_none:
        wire.incomplete = None
    catalog = build_catalog(
        wire,
        fallback_name=_name(locator),
        source=public(locator),
        protocol_version=last.protocol_version,
        max_tools=options.max_tools,
    )
    return replace(
        catalog,
        problems=tuple(clean(problem, locator, options) for problem in catalog.problems),
        incomplete=None if catalog.incomplete is None else clean(catalog.incomplete, locator, options),
    )


def _evidence(attempt: Attempt, locator: Stdio | Url | InProcess, *, timed_out: bool) -> Evidence:
    return Evidence(
        locator=locator,
        options=attempt.options,
        wire=attempt.wire,
        timed_out=timed_out,
        errors=tuple(leaves(attempt.error)) if attempt.error else (),
        replies=tuple(attempt.log.replies),
        stderr=attempt.last_words.text,
        exit_code=attempt.last_words.exit_code,
    )


def _name(locator: Stdio | Url | InProcess) -> str:
    """What to call a server that does not say its name: its host, module, or the package that a launcher runs."""
    match locator:
        case Url(url=url):
            return urlsplit(url).hostname or url
        case InProcess(module=module):
            return module
        case Stdio(command=command, args=args):
            named = [arg for arg in args if not arg.startswith("-") and "=" not in arg]
            stem = PurePath(command).stem
            return PurePath(named[0]).stem if named and stem.rstrip("0123456789.") in _LAUNCHERS else stem


_LAUNCHERS = frozenset({"npx", "uvx", "uv", "bunx", "bun", "pnpx", "node", "deno", "python", "pipx", "docker"})


@contextmanager
def _hushed() -> Generator[None]:
    """Silences the SDK's loggers for this capture only.

    A filter of its own per capture, which drops nothing that another task logs: two captures, or a server that this
    process serves meanwhile, do not disturb each other.
    """
    mark = object()
    token = _CAPTURE.set(mark)

    def is_others(_record: logging.LogRecord) -> bool:
        return _CAPTURE.get() is not mark

    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _HUSHED]
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(is_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_others)
        _CAPTURE.reset(token)


async def list_everything(client: Client, wire: Wire, options: LiveOptions) -> None:
    """Asks for tools first, then for what the capabilities name; the answers are on the wire's record.

    Tools are asked for even where the server does not declare them. Raises MCPError when the first page of tools is
    refused by a server that has, or does not deny, tools.
    """
    await _list(client.list_tools, TOOLS_LIST, wire, options.max_pages)
    declared = wire.capabilities or {}
    if "resources" in declared:
        await _list(client.list_resources, "resources/list", wire, options.max_pages)
        await _list(client.list_resource_templates, "resources/templates/list", wire, options.max_pages)
    if "prompts" in declared:
        await _list(client.list_prompts, "prompts/list", wire, options.max_pages)


async def _list(fetch: Callable[..., Awaitable[Any]], method: str, wire: Wire, max_pages: int) -> None:
    try:
        problem = await _turn_pages(fetch, method, wire, max_pages)
    except MCPError as error:
        pages = len(wire.results.get(method, ()))
        was_refused = method in wire.refusals
        if method == TOOLS_LIST and not pages:
            if wire.expects_tools or not was_refused:
                raise
            return
        if method == "resources/templates/list" and was_refused and error.code == METHOD_NOT_FOUND:
            return  # declaring resources does not promise templates
        after = f" after {pages} page{'s' * (pages != 1)}" if pages else ""
        problem = f"{method} failed{after} with error {error.code}: {str(error)[:200]}."
    if problem:
        wire.problems.append(problem)
    if method == TOOLS_LIST:
        wire.incomplete = problem


async def _turn_pages(fetch: Callable[..., Awaitable[Any]], method: str, wire: Wire, max_pages: int) -> str | None:
    """Reads every page; returns why the list was not read to its end, or None when it was."""
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(max_pages):
        await fetch(cursor=cursor, cache_mode="bypass")
        if wire.overflowed:
            return f"{method} was cut short: the definitions are larger than the limit."
        following = wire.next_cursor(method)
        if following is None or following == "":
            return None
        if not isinstance(following, str):
            return f"{method} gives a nextCursor that is no string; the pages after it are unknown."
        if following in seen:
            return f"{method} gives the cursor {following[:80]!r} again and would never end."
        seen.add(following)
        cursor = following
    return f"{method} has more than {max_pages} pages; the first {max_pages} were kept."
