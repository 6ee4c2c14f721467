"""A server as a process group of our own: its pipes as a transport, its stderr, and its certain end."""

import json
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from tdqs_mcp.sources.locator import LiveOptions, Stdio
from tdqs_mcp.sources.recording import Incoming

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


@asynccontextmanager
async def spawn(
    server: Stdio, options: LiveOptions, ending: Ending
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Starts the server and gives its pipes as a transport; on leaving, its whole process group has ended.

    Only the environment variables that MCP clients hand on are inherited, plus `options.env`. A line over `max_bytes`
    bytes ends the connection. Raises OSError when the command cannot be started.
    """
    command, env = server.command, get_default_environment() | dict(options.env)
    if sys.platform == "win32":  # npx and its like are scripts there, which only a search finds
        command = shutil.which(command, path=env.get("PATH")) or command
    process = await anyio.open_process([command, *server.args], env=env, cwd=options.cwd, start_new_session=True)
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
                await _end(process)
                with anyio.move_on_after(STDERR_SECONDS):
                    await is_read.wait()
            tasks.cancel_scope.cancel()
            for stream in (deliver, answers, questions, accept):
                stream.close()


async def _read_stdout(
    process: Process, deliver: MemoryObjectSendStream[Incoming], max_line: int, ending: Ending
) -> None:
    """Every line of the server's output, until it ends or the client has gone."""
    if process.stdout is None:
        return
    lines = BufferedByteReceiveStream(process.stdout)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with deliver:
            try:
                while True:
                    if line := (await lines.receive_until(b"\n", max_line)).strip():
                        await deliver.send(_parse(line))
            except anyio.DelimiterNotFound:
                await deliver.send(ValueError(f"a line of more than {max_line} bytes"))
                return
            except anyio.IncompleteRead:
                # The output has ended, mostly because the process has: its exit code is worth a moment's wait.
                if await _exits(process, seconds=LEAVE_SECONDS / 2):
                    ending.exit_code = process.returncode


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
    """The message on a line, or what is wrong with it.

    Python's own parser, because the SDK's refuses lone surrogates, which JavaScript servers can send.
    """
    text = line.decode(errors="replace")
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return ValueError(text[:_QUOTED])
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(frame, by_name=False))
    except ValidationError:
        return _broken_answer(frame, text[:_QUOTED])


def _broken_answer(frame: Any, text: str) -> Incoming:  # noqa: ANN401  # foreign JSON
    """An answer that breaks JSON-RPC fails its request at once; the client would wait for it until the limit."""
    if isinstance(frame, dict) and type(frame.get("id")) in (int, str) and ("result" in frame or "error" in frame):
        error = ErrorData(code=INVALID_REQUEST, message=f"the answer is no JSON-RPC response: {text}")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=frame["id"], error=error))
    return ValueError(text)


async def _end(process: Process) -> None:
    """The order that the MCP specification gives (close the input, wait, terminate, kill), for the whole group."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    await _exits(process, seconds=LEAVE_SECONDS)
    if sys.platform == "win32":  # no process groups that can be ended; taskkill walks the tree
        with anyio.move_on_after(TERMINATE_SECONDS):
            await anyio.run_process(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False)
    else:  # also where the server itself has gone and left its children behind
        await terminate_posix_process_tree(process, TERMINATE_SECONDS)
    await _exits(process, seconds=REAP_SECONDS)
    _release(process)


async def _exits(process: Process, *, seconds: float) -> bool:
    """Polls: waiting for a process also waits for its pipes, which a child may hold open for ever."""
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
