"""The standard streams behind a bounded reader: as the SDK's transport, or line by line for a router."""

import os
import signal
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
"""How long the process may take to end when its work has ended."""

MAX_REASON = 200
"""Characters of a reason."""


async def read_lines(limit: int) -> AsyncIterator[bytes | None]:
    """Lines of the standard input, blank ones left out; None for one of more than `limit` bytes, which is lost.

    The standard input is for the protocol alone: what a call starts reads an end of file instead.
    """
    wire = os.fdopen(os.dup(0), "rb", CHUNK)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    is_cut = False
    while line := await anyio.to_thread.run_sync(wire.readline, limit + 1, abandon_on_cancel=True):
        was_cut, is_cut = is_cut, len(line) > limit and not line.endswith(b"\n")
        if is_cut:
            continue  # the rest of the line comes with the next readings
        if was_cut:
            yield None
        elif line.strip():
            yield line.removesuffix(b"\n")
    if is_cut:
        yield None


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

    async def receive(self) -> Frame:
        """The next frame."""
        async for line in self._lines:
            if line is not None:
                return read_frame(line.rstrip(b"\r"))
            await self.send(error_frame(None, INVALID_REQUEST, f"the message is longer than {self._limit} bytes"))
        raise anyio.EndOfStream

    async def send(self, frame: Frame) -> None:
        """Sends a frame."""
        async with self._writing:
            await anyio.to_thread.run_sync(_write, frame.raw + b"\n", abandon_on_cancel=True)


def leave(code: int) -> None:
    """Ends this process at once, whatever its threads wait for, and before it the servers that it has started."""
    kill_started()
    os._exit(code)


def _write(line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(1, rest) :]


async def run_until_signal(work: Callable[[], Awaitable[None]], *, seconds: float, code: int | None = None) -> int:
    """Await the work until it ends or a signal asks this process to end; return the exit code. Raises TdqsError.

    A signal cancels the work, which may clean up for so many seconds; `code` is the exit code then, 128 and the
    signal's number by default. A signal that is ignored, as SIGHUP under nohup, stays ignored. A handler that raises
    KeyboardInterrupt would do so in the middle of a task, whose group reports a traceback: 4 of 9 servers that were
    answering when the signal came ended with a wrong exit code.
    """
    exit_code = 0
    errors: list[TdqsError] = []
    names = () if sys.platform == "win32" else ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")  # asyncio has none there
    numbers = [getattr(signal, name) for name in names]
    signals = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    async with anyio.create_task_group() as tasks:

        async def end_on_signal() -> None:
            nonlocal exit_code
            with anyio.open_signal_receiver(*signals) as arriving:
                number = await anext(aiter(arriving))
                exit_code = 128 + number if code is None else code
                _leave_within(seconds, exit_code)
                tasks.cancel_scope.cancel()
                await anyio.sleep_forever()  # a second signal changes nothing

        if signals:
            tasks.start_soon(end_on_signal)
        try:
            await work()
        except TdqsError as error:
            errors.append(error)
        tasks.cancel_scope.cancel()
    _leave_within(GRACE_SECONDS, Outcome.UNKNOWN if errors else exit_code)
    if errors:
        raise errors[0]
    return exit_code


def _leave_within(seconds: float, code: int) -> None:
    """End this process by then: a thread may wait for ever for a client that neither reads nor writes any more."""
    ending = threading.Timer(seconds, leave, [code])
    ending.daemon = True
    ending.start()


def _refusal(error: Exception, limit: int) -> JSONRPCError:
    """Answer to a line that is no message of the protocol, which also goes to stderr."""
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
    reason_text = printable(reason)[:MAX_REASON]
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
