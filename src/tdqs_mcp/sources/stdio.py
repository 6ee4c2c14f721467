"""A server as a process group of our own: its pipes as a transport, its last words, and its certain end."""

import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from tdqs_mcp.sources.locator import Stdio

Incoming = SessionMessage | Exception

LEAVE_SECONDS = 1.0
"""How long a server may take to leave on its own after its input has closed."""

TERMINATE_SECONDS = 1.5
"""How long the group may take to heed SIGTERM before SIGKILL. With LEAVE_SECONDS and the reaping, about 4 s in all."""

REAP_SECONDS = 1.0
QUIET_SECONDS = 0.5
"""How long to read on for the last words of a server that has ended; a stray child may hold its stderr open."""

LAST_WORDS_BYTES = 8192
_POLL_SECONDS = 0.01
_QUOTED = 200


class LastWords:
    """How a process ended: the end of what it wrote to stderr, and its exit code."""

    def __init__(self) -> None:
        """Nothing said yet."""
        self._tail = bytearray()
        self.exit_code: int | None = None
        """Set only when the process left before it was asked to."""

    def add(self, chunk: bytes) -> None:
        """Keeps the last LAST_WORDS_BYTES; a server may write for ever."""
        self._tail += chunk
        del self._tail[:-LAST_WORDS_BYTES]

    @property
    def text(self) -> str:
        """What is kept, as text."""
        return self._tail.decode(errors="replace")


@asynccontextmanager
async def spawn(
    server: Stdio, *, env: Mapping[str, str], cwd: str | None, last_words: LastWords, max_line: int
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Starts the server and gives its pipes as a transport; on leaving, its whole process group has ended.

    Only the environment variables that MCP clients hand on are inherited, plus `env`. A line over `max_line` bytes ends
    the connection. Raises OSError when the command cannot be started.
    """
    environment = get_default_environment() | dict(env)
    process = await anyio.open_process(
        [_executable(server.command, environment), *server.args], env=environment, cwd=cwd, start_new_session=True
    )
    deliver, answers = anyio.create_memory_object_stream[Incoming](0)
    questions, accept = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        quiet = anyio.Event()
        tasks.start_soon(_read, process, deliver, max_line, last_words)
        tasks.start_soon(_write, process.stdin, accept)
        tasks.start_soon(_overhear, process.stderr, last_words, quiet)
        try:
            yield answers, questions
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
                with anyio.move_on_after(QUIET_SECONDS):
                    await quiet.wait()
            tasks.cancel_scope.cancel()
            for stream in (deliver, answers, questions, accept):
                stream.close()


def _executable(command: str, environment: Mapping[str, str]) -> str:
    """On Windows npx and its like are scripts, which only a search finds; elsewhere the system searches itself."""
    if sys.platform == "win32":
        return shutil.which(command, path=environment.get("PATH")) or command
    return command


async def _read(
    process: Process, deliver: MemoryObjectSendStream[Incoming], max_line: int, last_words: LastWords
) -> None:
    """Every line of the server's output, until it ends or the client has gone."""
    if process.stdout is None:
        return
    buffer = bytearray()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with deliver:
            async for chunk in process.stdout:
                first, *others = chunk.split(b"\n")
                buffer += first
                for piece in others:
                    if buffer.strip():
                        await deliver.send(_parse(bytes(buffer)))
                    buffer = bytearray(piece)
                if len(buffer) > max_line:
                    await deliver.send(ValueError(f"a line of more than {max_line} bytes"))
                    return
            await _note_exit(process, last_words)


async def _note_exit(process: Process, last_words: LastWords) -> None:
    """The output has ended, mostly because the process has: its exit code is worth a moment's wait."""
    if await _exits(process, seconds=LEAVE_SECONDS / 2):
        last_words.exit_code = process.returncode


async def _write(pipe: ByteSendStream | None, accept: MemoryObjectReceiveStream[SessionMessage]) -> None:
    if pipe is None:
        return
    try:
        async for item in accept:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await pipe.send(line.encode() + b"\n")
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        return  # the reader sees the end of the output and ends the connection


async def _overhear(pipe: ByteReceiveStream | None, last_words: LastWords, quiet: anyio.Event) -> None:
    if pipe is None:
        return
    try:
        async for chunk in pipe:
            last_words.add(chunk)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        return
    finally:
        quiet.set()


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
    if sys.platform == "win32":
        await _end_tree(process)
    else:
        await _end_group(process)
    await _exits(process, seconds=REAP_SECONDS)
    _release(process)


async def _end_group(process: Process) -> None:
    """Ends what is left of the group, also when the server itself has left its children behind."""
    if not _signal_group(process.pid, signal.SIGTERM):
        return
    with anyio.move_on_after(TERMINATE_SECONDS):
        while _signal_group(process.pid, 0):  # noqa: ASYNC110  # the system tells nobody when a group ends
            await anyio.sleep(_POLL_SECONDS)
        return
    _signal_group(process.pid, signal.SIGKILL)


async def _end_tree(process: Process) -> None:
    """Windows has no process groups that can be ended; taskkill walks the tree."""
    with anyio.move_on_after(TERMINATE_SECONDS):
        await anyio.run_process(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False)


def _signal_group(group: int, number: int) -> bool:
    """Signals the group (0: only asks) and says whether any of it is still there."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # members of another user, or zombies on macOS: no proof that it is gone
    return True


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
