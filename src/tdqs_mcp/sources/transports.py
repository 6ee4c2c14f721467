"""Transports to live servers: processes over pipes, HTTP, and server objects of this process."""

import asyncio
import atexit
import importlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._memory import InMemoryTransport  # the transport of Client(server, mode="legacy"), public only there
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from tdqs_mcp.errors import InputError
from tdqs_mcp.http_client import BoundedBody, make_client
from tdqs_mcp.json_text import read_json
from tdqs_mcp.sources.locator import InProcess, LiveOptions, Stdio
from tdqs_mcp.sources.recording import Incoming, carry, carry_text

LEAVE_SECONDS = 1.0
"""How long a server may take to leave on its own after its input has closed."""

TERMINATE_SECONDS = 1.5
"""How long the group may take to heed SIGTERM before SIGKILL. With LEAVE_SECONDS and the reaping, about 4 s in all."""

REAP_SECONDS = 1.0
STDERR_SECONDS = 0.5
"""How long to read the stderr of a server that has ended; a stray child may hold it open."""

MAX_STDERR = 8192
_POLL_SECONDS = 0.01
_QUOTED = 200


class Ending:
    """How a process ended: the end of what it wrote to stderr, and its exit code."""

    def __init__(self) -> None:
        """Nothing written yet."""
        self._tail = bytearray()
        self.exit_code: int | None = None
        """Set only when the process left before it was asked to."""

    def add_stderr(self, chunk: bytes) -> None:
        """Keeps the last MAX_STDERR bytes; a server may write for ever."""
        self._tail += chunk
        del self._tail[:-MAX_STDERR]

    @property
    def stderr(self) -> str:
        """The bytes kept, as text."""
        return self._tail.decode(errors="replace")


async def start_process(server: Stdio, options: LiveOptions, *, stderr: int | None = subprocess.PIPE) -> Process:
    """The server's process, in a session of its own, for `end_process` to end.

    Only the environment variables that MCP clients hand on are inherited, plus `options.env`. Raises OSError when the
    command cannot be started.
    """
    mark = f"{os.getpid()}-{os.urandom(8).hex()}"
    command, env = server.command, get_default_environment() | dict(options.env) | {MARK: mark}
    if sys.platform == "win32":  # npx and its like are scripts there, which only a search finds
        command = shutil.which(command, path=env.get("PATH")) or command
    _started[mark] = None  # at once: who gives the start up leaves a process behind
    starting = asyncio.ensure_future(
        anyio.open_process([command, *server.args], env=env, cwd=options.cwd, stderr=stderr, start_new_session=True)
    )
    try:
        process = await asyncio.shield(starting)
    except OSError:
        del _started[mark]
        raise
    except asyncio.CancelledError:  # given up itself, it would wait for all that holds the server's pipes
        with anyio.CancelScope(shield=True):
            await asyncio.wait([starting])
            if isinstance(starting.exception(), OSError):
                del _started[mark]
            elif not starting.exception():  # else a signal may have come between fork and exec: `kill_started` ends it
                _started[mark] = starting.result().pid
                await end_process(starting.result())
        raise
    _started[mark] = process.pid
    return process


@asynccontextmanager
async def spawn(
    server: Stdio, options: LiveOptions, ending: Ending
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Starts the server and gives its pipes as a transport; on leaving, its whole process group has ended.

    A line over `max_bytes` bytes ends the connection. Raises OSError when the command cannot be started.
    """
    process = await start_process(server, options)
    deliver, answers = anyio.create_memory_object_stream[Incoming](0)
    questions, accept = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        is_read = anyio.Event()
        tasks.start_soon(_read_stdout, process, deliver, options.max_bytes, ending)
        tasks.start_soon(_write_stdin, process.stdin, accept)
        tasks.start_soon(_read_stderr, process.stderr, ending, is_read)
        try:
            yield answers, questions
        finally:
            with anyio.CancelScope(shield=True):
                await end_process(process)
                with anyio.move_on_after(STDERR_SECONDS):
                    await is_read.wait()
            tasks.cancel_scope.cancel()
            for stream in (deliver, answers, questions, accept):
                stream.close()


async def read_output(process: Process, ending: Ending, *, max_bytes: int) -> AsyncIterator[bytes]:
    """Every line of a process's output until it ends, as does that of a process that has gone and left a child with it.

    Raises OverflowError for a line of more than `max_bytes`.
    """
    lines = BufferedByteReceiveStream(process.stdout) if process.stdout else None
    while lines:
        line = None
        try:
            with anyio.move_on_after(LEAVE_SECONDS / 2):
                line = await lines.receive_until(b"\n", max_bytes)
        except anyio.DelimiterNotFound as error:
            raise OverflowError(f"a line of more than {max_bytes} bytes") from error
        except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            break
        if line is not None:
            yield line
        elif process.returncode is not None:
            break
    # The output has ended, mostly because the process has: its exit code is worth a moment's wait.
    if await has_exited(process, seconds=LEAVE_SECONDS / 2):
        ending.exit_code = process.returncode


async def _read_stdout(
    process: Process, deliver: MemoryObjectSendStream[Incoming], max_bytes: int, ending: Ending
) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with deliver:
            try:
                async for line in read_output(process, ending, max_bytes=max_bytes):
                    if line.strip():
                        await deliver.send(_parse(line.strip()))
            except OverflowError as error:
                await deliver.send(ValueError(str(error)))


async def _write_stdin(pipe: ByteSendStream | None, accept: MemoryObjectReceiveStream[SessionMessage]) -> None:
    if pipe is None:
        return
    try:
        async for item in accept:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await pipe.send(line.encode() + b"\n")
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        return  # the reader sees the end of the output and ends the connection


async def _read_stderr(pipe: ByteReceiveStream | None, ending: Ending, is_read: anyio.Event) -> None:
    if pipe is None:
        return
    try:
        async for chunk in pipe:
            ending.add_stderr(chunk)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        return
    finally:
        is_read.set()


def _parse(line: bytes) -> Incoming:
    """The message on a line, or what is wrong with it."""
    text = line.decode(errors="replace")
    try:
        frame = carry_text(read_json(text), text)
    except (ValueError, RecursionError):
        return ValueError(text[:_QUOTED])
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(frame, by_name=False))
    except ValidationError:
        return _broken_answer(frame, text[:_QUOTED])


def _broken_answer(frame: Any, text: str) -> Incoming:  # noqa: ANN401  # foreign JSON
    """An answer that breaks JSON-RPC fails its request at once; the client would wait for it until the limit."""
    if isinstance(frame, dict) and type(frame.get("id")) in (int, str) and ("result" in frame or "error" in frame):
        error = ErrorData(code=INVALID_REQUEST, message=f"the answer is not a JSON-RPC response: {text}")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=frame["id"], error=error))
    return ValueError(text)


async def end_process(process: Process) -> None:
    """The order that the MCP specification gives (close the input, wait, terminate, kill), for all that it started.

    That is its group, and on Linux whatever has inherited its environment, such as a daemon in a session of its own.
    """
    mark = next(mark for mark, group in _started.items() if group == process.pid)
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    await has_exited(process, seconds=LEAVE_SECONDS)
    if sys.platform == "win32":  # no process groups that can be ended; taskkill walks the tree
        with anyio.move_on_after(TERMINATE_SECONDS):
            await anyio.run_process(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False)
    else:  # also where the server itself has gone and left its children behind
        _signal_marked(mark, signal.SIGTERM)
        await terminate_posix_process_tree(process, TERMINATE_SECONDS)
        with anyio.move_on_after(REAP_SECONDS):
            while _signal_marked(mark, signal.SIGKILL):  # noqa: ASYNC110  # the system tells nobody
                await anyio.sleep(_POLL_SECONDS)
    await has_exited(process, seconds=REAP_SECONDS)
    _release(process)
    del _started[mark]


MARK = "TDQS_STARTED"
"""The variable in a server's environment that tells everything it starts from other processes."""

_started: dict[str, int | None] = {}
"""The marks of the servers that this process has started and not ended, with the process group once it is known."""

if sys.platform != "win32":
    os.register_at_fork(after_in_child=_started.clear)  # a child that exits must not end its parent's servers


@atexit.register
def kill_started() -> None:
    """Kills every server that has not ended, and what it started: this process is about to leave."""
    for mark, group in list(_started.items()):
        if sys.platform != "win32":
            if group is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)
            deadline = time.monotonic() + REAP_SECONDS
            while _signal_marked(mark, signal.SIGKILL) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)


def _signal_marked(mark: str, number: int) -> bool:
    """Sends a signal to the processes that have the mark; whether there was one. Only Linux shows the mark."""
    marker = f"{MARK}={mark}".encode()
    is_found = False
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or gone
            if marker in entry.read_bytes():
                is_found = True
                os.kill(int(entry.parent.name), number)
    return is_found


async def has_exited(process: Process, *, seconds: float) -> bool:
    """Return whether the process ends within some seconds.

    Polls: waiting for a process also waits for its pipes, which a child may hold open for ever.
    """
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110  # see the docstring
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None


def _release(process: Process) -> None:
    """Closes asyncio's own transport, which otherwise stays open while a stray descendant holds a pipe.

    Nothing public reaches it; on other event loops there is none.
    """
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The status line of one HTTP response."""

    status: int
    content_type: str
    retry_after: str | None


@asynccontextmanager
async def streamable_http(
    url: str, options: LiveOptions, replies: list[Reply], *, is_lasting: bool = False
) -> AsyncGenerator[Any]:
    """The streamable HTTP transport; it reads at most `max_bytes` of any one response.

    On a lasting connection the server may be silent for ever, and one line of an event stream has `max_bytes`.
    """
    timeout = httpx2.Timeout(options.timeout, read=None if is_lasting else options.timeout)
    async with (
        _client(options, replies, is_lasting=is_lasting, headers=options.headers, timeout=timeout) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=options.max_bytes) as streams,
    ):
        yield streams


def sse(url: str, options: LiveOptions, replies: list[Reply]) -> AbstractAsyncContextManager[Any]:
    """The older HTTP+SSE transport; the SDK bounds one event of it at 1 MiB."""

    def make(
        headers: dict[str, Any] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return _client(options, replies, headers=headers, timeout=timeout, auth=auth)

    return sse_client(
        url,
        headers=dict(options.headers),
        timeout=options.timeout,
        sse_read_timeout=options.timeout,
        httpx_client_factory=make,
    )


def _client(
    options: LiveOptions,
    replies: list[Reply],
    *,
    is_lasting: bool = False,
    **settings: Any,  # noqa: ANN401  # httpx2's own
) -> httpx2.AsyncClient:
    def note(response: httpx2.Response) -> None:
        reply = Reply(
            status=response.status_code,
            content_type=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
            retry_after=response.headers.get("retry-after"),
        )
        replies.append(reply)
        if isinstance(response.stream, BoundedBody):
            is_stream = reply.content_type == "text/event-stream"
            response.stream = _Body(response.stream, is_stream=is_stream, is_endless=is_lasting)

    return make_client(
        max_bytes=options.max_bytes,
        on_response=note,
        transport=_Admitted(options.admit) if options.admit else None,
        trust_env=options.admit is None,
        **settings,
    )


class _Admitted(httpx2.AsyncHTTPTransport):
    """Connects to admitted addresses only: the name is not resolved again between the check and the connection."""

    def __init__(self, admit: Callable[[str], Awaitable[list[str]]]) -> None:
        super().__init__(trust_env=False)
        self._admit = admit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            addresses = await self._admit(str(request.url))
        except InputError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        for address in addresses[:-1]:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await super().handle_async_request(_pinned(request, address))
        return await super().handle_async_request(_pinned(request, addresses[-1]))


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The request to one address; the Host header and the certificate's name stay those of the URL."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


class _Body(httpx2.AsyncByteStream):
    """A response body with messages that the SDK can parse; the limit of an endless stream is that of a line."""

    def __init__(self, body: BoundedBody, *, is_stream: bool, is_endless: bool) -> None:
        self._body = body
        self._is_stream = is_stream
        self._is_endless = is_endless

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest: list[bytes] = []
        async for chunk in self._body:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1 if self._is_stream else 0
            if end:
                yield _readable(b"".join([*rest, chunk[:end]]))
                rest = []
                if self._is_endless:
                    self._body.restart()
            rest.append(chunk[end:])
        last = b"".join(rest)
        yield _readable(last) if self._is_stream else carry(last.decode(errors="replace")).encode()

    async def aclose(self) -> None:
        await self._body.aclose()


def _readable(lines: bytes) -> bytes:
    """Lines of an event stream whose messages, one on a line, the SDK can parse."""
    return _DATA.sub(lambda match: match[1] + carry(match[2]), lines.decode(errors="replace")).encode()


_DATA = re.compile(r"^(data: ?)([^\r\n]+)", re.MULTILINE)


@contextmanager
def import_environment(*, cwd: str | None, env: Mapping[str, str]) -> Generator[None]:
    """The import path and environment that the module expects; both as before on leaving."""
    folder = str(Path(cwd or ".").resolve())
    before = {name: os.environ.get(name) for name in env}
    sys.path.insert(0, folder)
    os.environ.update(env)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def import_server(locator: InProcess) -> InMemoryTransport:
    """Imports the module and gives a transport to its server; what the module prints goes to stderr.

    The attribute is an MCPServer, a low-level Server, a FastMCP or a function without parameters that makes one. Raises
    InputError when the import fails or the attribute is none of them.
    """
    spelled = f"py:{locator.module}:{locator.attribute}"
    with redirect_stdout(sys.stderr), _kept_logging():
        return object_transport(_import(locator, spelled), spelled)


def object_transport(value: object, spelled: str) -> InMemoryTransport:
    """A transport to a server object, or to the one that a function without parameters makes. Raises InputError."""
    server = _server(value)
    if server is None and callable(value):
        server = _server(_call(value, spelled))
    if server is None:
        kind = type(value).__name__
        raise InputError(f"{spelled} is {kind!r}; name an MCPServer, Server or FastMCP, or a function that makes one")
    return InMemoryTransport(server)


@contextmanager
def _kept_logging() -> Generator[None]:
    """An MCPServer configures the root logger when it is made; ours stays as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _import(locator: InProcess, spelled: str) -> Any:  # noqa: ANN401  # whatever the module holds
    try:
        module = importlib.import_module(locator.module)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{spelled} cannot be imported ({reason}); check the name, --cwd and what it needs") from error
    try:
        return attrgetter(locator.attribute)(module)
    except AttributeError as error:
        names = [name for name, value in vars(module).items() if _server(value) is not None]
        hint = f"; it has {', '.join(map(repr, names))}" if names else ""
        raise InputError(f"module {locator.module!r} has no attribute {locator.attribute!r}{hint}") from error


def _call(factory: Any, spelled: str) -> Any:  # noqa: ANN401
    try:
        return factory()
    except (Exception, SystemExit) as error:  # a foreign function may raise anything
        raise InputError(
            f"{spelled}() failed ({type(error).__name__}: {error}); it must work without arguments"
        ) from error


def _server(value: object) -> Server[Any] | MCPServer | None:
    """The server itself, or the SDK's server inside a FastMCP 4."""
    if isinstance(value, MCPServer | Server):
        return value
    inner = getattr(value, "_mcp_server", None)
    return inner if isinstance(inner, Server) else None
