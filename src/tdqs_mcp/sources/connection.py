"""From a locator to a catalog: which transports and protocol eras are tried, what is asked, what is an answer."""

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
from tdqs_mcp.json_text import hide
from tdqs_mcp.model import Catalog
from tdqs_mcp.sources import transports
from tdqs_mcp.sources.failure import Attempt, clean, explain, lacks_credential
from tdqs_mcp.sources.locator import HIDDEN, InProcess, LiveOptions, Stdio, Url, public, repeatable_secrets
from tdqs_mcp.sources.recording import DISCOVER, TOOLS_LIST, Recording, build_catalog, record
from tdqs_mcp.sources.transports import spawn

_NO_STREAMABLE_HTTP = (400, 404, 405)
"""What a server that only has the older SSE transport answers to a POST (MCP 2025-11-25, "Backwards Compatibility")."""

_DISCOVER_SHARE = 4
"""A server may leave `server/discover` unanswered for a quarter of the time limit (the SDK: for 10 s at most)."""

_SILENCED = ("mcp", "fastmcp", "httpx2", "httpcore2")
_Fetch = Callable[..., Awaitable[Any]]
_CURRENT: ContextVar[object] = ContextVar("tdqs_mcp_capture", default=None)


class _Connection:
    """All attempts to connect to one server within one time limit."""

    def __init__(self, locator: Stdio | Url | InProcess, options: LiveOptions, called: str) -> None:
        self._locator = locator
        self._called = called
        self._options = options
        self.attempts: list[Attempt] = []

    def start(self) -> Attempt:
        """Return one more attempt."""
        recording = Recording(max_bytes=self._options.max_bytes)
        self.attempts.append(Attempt(locator=self._locator, options=self._options, recording=recording))
        return self.attempts[-1]

    async def run(self, attempt: Attempt, transport: Any, *, mode: str) -> None:  # noqa: ANN401  # the SDK's Transport
        """Connects, lists everything and disconnects; an error is kept, not raised."""
        recorded = record(transport, attempt.recording, discover_seconds=self._options.timeout / _DISCOVER_SHARE)
        try:
            async with Client(recorded, mode=mode, cache=None) as client:
                attempt.protocol_version = client.protocol_version
                await _list_everything(client, attempt.recording, self._options)
        except Exception as error:  # noqa: BLE001  # groups of whatever SDK, server and network raise; explained later
            attempt.error = error

    @contextmanager
    def limit(self) -> Generator[None]:
        """Bounds the time of all attempts, and silences the SDK's loggers for this capture only.

        A filter of its own per capture drops nothing that another task logs: two captures, or a server that this
        process serves meanwhile, do not disturb each other.
        """
        token = _CURRENT.set(self)

        def is_others(_record: logging.LogRecord) -> bool:
            return _CURRENT.get() is not self

        names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _SILENCED]
        loggers = [logging.getLogger(name) for name in names]
        for logger in loggers:
            logger.addFilter(is_others)
        try:
            with anyio.move_on_after(self._options.timeout) as scope:
                yield
            self.attempts[-1].timed_out = scope.cancelled_caught
        finally:
            for logger in loggers:
                logger.removeFilter(is_others)
            _CURRENT.reset(token)

    def finish(self) -> Catalog:
        """The catalog, when tools were listed or the server has said that it has none; else raises CaptureError."""
        locator, options, last = self._locator, self._options, self.attempts[-1]
        recording = last.recording
        has_none = recording.handshake is not None and not recording.expects_tools and last.error is None
        if TOOLS_LIST not in recording.results and not has_none:
            raise CaptureError(f"{self._called} {explain(last)}", lacks_credential=lacks_credential(last))
        if last.timed_out or last.error:
            when = f"within {options.timeout:g} s" if last.timed_out else "before the connection broke"
            unanswered = [method for method in recording.pending.values() if method != DISCOVER]
            recording.problems += [f"{method} was not answered {when}." for method in unanswered]
            if TOOLS_LIST in unanswered:
                recording.incomplete = f"{TOOLS_LIST} was not answered {when}."
        if has_none:
            recording.incomplete = None
        self._hide_secrets(recording)
        catalog = build_catalog(
            recording,
            fallback_name=_name(locator),
            source=self._called,
            protocol_version=last.protocol_version,
            max_tools=options.max_tools,
        )
        return replace(
            catalog,
            problems=tuple(clean(problem, locator, options) for problem in catalog.problems),
            incomplete=None if catalog.incomplete is None else clean(catalog.incomplete, locator, options),
        )

    def _hide_secrets(self, recording: Recording) -> None:
        """Cleans the answers of credentials that the server repeats."""
        hidden = repeatable_secrets(self._locator, self._options)
        if not hidden:
            return
        answers = recording.results
        covered = {method: [hide(page, hidden, HIDDEN) for page in pages] for method, pages in answers.items()}
        if covered != answers:
            recording.results = covered
            recording.problems.append(
                "The server's answers repeat a value that it was given as a variable, header or argument; it is hidden."
            )


async def capture(locator: Stdio | Url | InProcess, options: LiveOptions, *, called: str | None = None) -> Catalog:
    """Everything the server lists, malformed entries included; no tool is ever called.

    `called` names the server in messages where the locator, as `public` shows it, is not to be repeated.

    Bounded by `options` in time, pages, tools and bytes; what was cut short is a sentence in `problems`. A process that
    was started has ended with its whole group. Raises CaptureError, one line that says what happened and what to
    change, if no list of tools came, and InputError when a `py:` locator names nothing that can be captured.
    """
    connection = _Connection(locator, options, called or public(locator))
    with connection.limit():
        match locator:
            case Stdio():
                await _over_pipes(connection, locator, options)
            case Url():
                await _over_http(connection, locator, options)
            case InProcess():
                await _in_process(connection, locator, options)
    return connection.finish()


async def capture_object(server: object, options: LiveOptions) -> Catalog:
    """Everything that a server object of this process lists: an MCPServer, Server or FastMCP, or what makes one.

    Bounded and raising as `capture`.
    """
    kind = type(server)
    transport = transports.object_transport(server, "the object")
    locator = InProcess(module=kind.__module__, attribute=kind.__qualname__)
    connection = _Connection(locator, options, public(locator))
    with connection.limit():
        await connection.run(connection.start(), transport, mode="legacy")
    return replace(connection.finish(), source=None)


async def _over_pipes(connection: _Connection, locator: Stdio, options: LiveOptions) -> None:
    """Both eras; some older servers die of the newer one's first question and get a second start without it."""
    for mode in ("auto", "legacy"):
        attempt = connection.start()
        await connection.run(attempt, spawn(locator, options, attempt.ending), mode=mode)
        if not attempt.ended_in_negotiation:
            return


async def _over_http(connection: _Connection, locator: Url, options: LiveOptions) -> None:
    """Streamable HTTP, then SSE where the answers say that there is none; SSE has only the older era."""
    attempt = connection.start()
    await connection.run(attempt, transports.streamable_http(locator.url, options, attempt.replies), mode="auto")
    replies = attempt.replies
    if attempt.recording.handshake is None and replies and replies[-1].status in _NO_STREAMABLE_HTTP:
        fallback = connection.start()
        await connection.run(fallback, transports.sse(locator.url, options, fallback.replies), mode="legacy")
        if not fallback.was_answered:
            connection.attempts.remove(fallback)


async def _in_process(connection: _Connection, locator: InProcess, options: LiveOptions) -> None:
    """The import runs in a thread that is left behind when it hangs; only the older era has messages to record."""
    attempt = connection.start()
    with transports.import_environment(cwd=options.cwd, env=options.env):
        try:
            transport = await anyio.to_thread.run_sync(transports.import_server, locator, abandon_on_cancel=True)
        except InputError as error:
            raise InputError(clean(str(error), locator, options)) from error
        await connection.run(attempt, transport, mode="legacy")


def _name(locator: Stdio | Url | InProcess) -> str:
    """Return a name for a server that gives none: its host, module, or the package that a launcher runs."""
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


async def _list_everything(client: Client, recording: Recording, options: LiveOptions) -> None:
    """Asks for tools first, then for what the capabilities name; the answers are on the recording's record.

    Tools are asked for even where the server does not declare them. Raises MCPError when the first page of tools is
    refused by a server that has, or does not deny, tools.
    """
    await _list(client.list_tools, TOOLS_LIST, recording, options.max_pages)
    declared = recording.capabilities or {}
    if "resources" in declared:
        await _list(client.list_resources, "resources/list", recording, options.max_pages)
        await _list(client.list_resource_templates, "resources/templates/list", recording, options.max_pages)
    if "prompts" in declared:
        await _list(client.list_prompts, "prompts/list", recording, options.max_pages)


async def _list(fetch: _Fetch, method: str, recording: Recording, max_pages: int) -> None:
    try:
        problem = await _turn_pages(fetch, method, recording, max_pages)
    except MCPError as error:
        pages = len(recording.results.get(method, ()))
        was_refused = method in recording.errors
        if method == TOOLS_LIST and not pages:
            if recording.expects_tools or not was_refused:
                raise
            return
        if method == "resources/templates/list" and was_refused and error.code == METHOD_NOT_FOUND:
            return  # declaring resources does not promise templates
        after = f" after {pages} page{'s' * (pages != 1)}" if pages else ""
        problem = f"{method} failed{after} with error {error.code}: {str(error)[:200]}."
    if problem:
        recording.problems.append(problem)
    if method == TOOLS_LIST:
        recording.incomplete = problem


async def _turn_pages(fetch: _Fetch, method: str, recording: Recording, max_pages: int) -> str | None:
    """Reads every page; returns why the list was not read to its end, or None when it was."""
    cursor: str | None = None
    cursors: set[str] = set()
    for _ in range(max_pages):
        await fetch(cursor=cursor, cache_mode="bypass")
        if recording.overflowed:
            return f"{method} was cut short: the definitions are larger than the limit."
        following = recording.next_cursor(method)
        if following is None or following == "":
            return None
        if not isinstance(following, str):
            return f"{method} gives a nextCursor that is not a string; the pages after it are unknown."
        if following in cursors:
            return f"{method} gives the cursor {following[:80]!r} again and would never end."
        cursors.add(following)
        cursor = following
    return f"{method} has more than {max_pages} pages; the first {max_pages} were kept."
