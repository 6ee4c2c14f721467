"""The standard streams behind a bounded reader: as the SDK's transport, or line by line for a router."""

import os
import select
import signal
import stat
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from tdqs_mcp.canonical import is_well_formed
from tdqs_mcp.errors import TdqsError
from tdqs_mcp.json_text import read_json
from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.router.connection_log import Frame, error_frame, read_frame
from tdqs_mcp.sources.transports import kill_started

TOO_LONG = "\0"
"""Stands for a line that was not kept; it is no JSON, so it is refused as every other one."""

CHUNK = 2**16
"""Bytes that are read at once."""

GRACE_SECONDS = 1.0
"""How long a router may take to end when its client and its server have."""

SHOWN = 200
"""Characters of a reason."""


async def _read_chunks() -> AsyncIterator[bytes]:
    """The standard input, which is for the protocol alone: what a call starts reads an end of file instead."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    is_waited_for = _can_wait(wire)
    while True:
        if is_waited_for:
            await anyio.wait_readable(wire)
            chunk = os.read(wire, CHUNK)
        else:  # in a thread, which nothing waits for when the server ends
            chunk = await anyio.to_thread.run_sync(os.read, wire, CHUNK, abandon_on_cancel=True)
        if not chunk:
            return
        yield chunk


def _can_wait(file: int) -> bool:
    """Return whether the event loop can wait for a file: a thread is slower, and would keep the process from ending."""
    mode = os.fstat(file).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(file))


async def read_lines(limit: int) -> AsyncIterator[bytes | None]:
    """The lines of the standard input, blank ones left out; None for one of more than `limit` bytes, which is lost."""
    line, is_whole = bytearray(), True
    async for chunk in _read_chunks():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line += end
            if not is_whole or len(line) > limit:
                yield None
            elif line.strip():
                yield bytes(line)
            line, is_whole = bytearray(), True
        line += rest
        if len(line) > limit:
            line, is_whole = bytearray(), False
    if not is_whole or line.strip():
        yield bytes(line) if is_whole else None


async def _texts(lines: AsyncIterator[bytes | None]) -> AsyncIterator[str]:
    async for line in lines:
        yield TOO_LONG if line is None else line.decode(errors="replace")


@asynccontextmanager
async def bounded_stdio(
    limit: int,
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[SessionMessage | Exception], Any]]:
    """The streams of the standard input and output; messages longer than `limit` bytes are refused."""
    sender: MemoryObjectSendStream[SessionMessage | Exception]
    sender, receiver = anyio.create_memory_object_stream()
    lines: Any = _texts(read_lines(limit))
    async with stdio_server(stdin=lines) as (read, write), anyio.create_task_group() as tasks:

        async def forward() -> None:
            async with sender:
                async for item in read:
                    if isinstance(item, SessionMessage):
                        await sender.send(item)
                    else:
                        await write.send(SessionMessage(message=_refusal(item, limit)))

        tasks.start_soon(forward)
        async with receiver:
            yield receiver, write
        tasks.cancel_scope.cancel()


class StandardStreams:
    """The client at the standard streams, whose frames pass as they are; lines that are too long are refused."""

    def __init__(self, limit: int) -> None:
        """`limit` bounds a line of the client, in bytes."""
        self._lines = read_lines(limit)
        self._limit = limit
        self._writing = anyio.Lock()
        self._is_waited_for = _can_wait(1)

    async def receive(self) -> Frame:
        """The next frame."""
        async for line in self._lines:
            if line is not None:
                return read_frame(line.rstrip(b"\r"))
            await self.send(error_frame(None, INVALID_REQUEST, f"the message is longer than {self._limit} bytes"))
        raise anyio.EndOfStream

    async def send(self, frame: Frame) -> None:
        """Sends a frame."""
        line = frame.raw + b"\n"
        async with self._writing:
            if self._is_waited_for and len(line) <= select.PIPE_BUF and select.select([], [1], [], 0)[1]:
                os.write(1, line)  # so few bytes fit in at once
            else:
                await anyio.to_thread.run_sync(_write, line, abandon_on_cancel=True)


def leave(code: int) -> None:
    """Ends this process at once, whatever its threads wait for, and before it the servers that it has started."""
    kill_started()
    os._exit(code)


def _write(line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(1, left) :]


async def run_stdio(serve: Callable[[StandardStreams], Awaitable[None]], limit: int) -> int:
    """Serves the client at the standard streams until it leaves or a signal comes; returns the exit code.

    Raises what `serve` raises.
    """
    code = 0
    errors: list[TdqsError] = []
    async with anyio.create_task_group() as tasks:

        async def end_on_signal() -> None:
            nonlocal code
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                code = 128 + await anext(aiter(signals))
            tasks.cancel_scope.cancel()

        if sys.platform != "win32":  # asyncio has no signal handlers there
            tasks.start_soon(end_on_signal)
        try:
            await serve(StandardStreams(limit))
        except TdqsError as error:
            errors.append(error)
        tasks.cancel_scope.cancel()
    # A thread may wait for ever for a client that reads nothing any more, and the process for that thread.
    ending = threading.Timer(GRACE_SECONDS, leave, [Outcome.UNKNOWN if errors else code])
    ending.daemon = True
    ending.start()
    for failure in errors:
        raise failure
    return code


def _refusal(error: Exception, limit: int) -> JSONRPCError:
    """The answer to a line that is no message of the protocol, which also goes to stderr."""
    errors = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    inputs = [problem["input"] for problem in errors]
    params = next((problem for problem in inputs if isinstance(problem, dict)), inputs[0] if inputs else None)
    is_json = not any(problem["type"] == "json_invalid" for problem in errors)
    own = None if is_json else _read(params)
    if params == TOO_LONG:
        reason = f"the message is longer than {limit} bytes"
    elif own is not None:
        params, is_json = own, True
        reason = "the message nests too deeply or has half of a UTF-16 pair; give definitions as JSON text, in a string"
    elif is_json:
        reason = "the message is JSON, but no JSON-RPC 2.0 request, notification or response"
    else:
        reason = f"the message is no JSON: {errors[0]['msg'].removeprefix('Invalid JSON: ')}"
    code = INVALID_REQUEST if is_json else PARSE_ERROR
    reason_text = printable(reason)[:SHOWN]
    sys.stderr.write(f"tdqs-mcp: refused a line of the standard input with {code}: {reason_text}\n")
    return JSONRPCError(jsonrpc="2.0", id=_id_in(params), error=ErrorData(code=code, message=reason_text))


def _read(line: object) -> object:
    """The value of a line that the SDK's parser refuses; None for no JSON."""
    try:
        return read_json(line) if isinstance(line, str) else None
    except (ValueError, RecursionError):
        return None


def _id_in(message: object) -> str | int | None:
    """The id of a request that is wrong elsewhere, so that its sender does not wait; None where there is none."""
    key = message.get("id") if isinstance(message, dict) else None
    if isinstance(key, str):
        return key if is_well_formed(key) else None  # half a pair cannot be sent back
    return key if isinstance(key, int) and not isinstance(key, bool) else None
