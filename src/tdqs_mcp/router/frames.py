"""JSON-RPC messages as they stand on the wire, and the connections that they come from and go to."""

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import httpx2
from anyio.abc import Process
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp.types import jsonrpc_message_adapter

from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.sources import transports
from tdqs_mcp.sources.failure import Attempt, explain
from tdqs_mcp.sources.locator import Stdio, Url
from tdqs_mcp.sources.recording import carried_text

CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, ConnectionError)
"""How a connection says that the other end has gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of the wire: a message, or a batch of them."""

    raw: bytes
    value: Any
    """What it parses to; None for no JSON."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in it."""
        each = self.value if isinstance(self.value, list) else [self.value]
        return [message for message in each if isinstance(message, dict)]


def read_frame(raw: bytes) -> Frame:
    """The frame on a line."""
    try:
        return Frame(raw=raw, value=json.loads(raw))
    except (ValueError, RecursionError):
        return Frame(raw=raw, value=None)


def make_frame(value: object) -> Frame:
    """A message of our own, or one with changes."""
    return Frame(raw=json.dumps(value, separators=(",", ":")).encode(), value=value)


def error_frame(request: object, code: int, message: str, data: object = None) -> Frame:
    """The error that answers a request."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return make_frame({"jsonrpc": "2.0", "id": request, "error": error})


class Peer(Protocol):
    """One end of the wire: a client or a server."""

    async def receive(self) -> Frame:
        """The next frame. Raises one of CLOSED at the end, and OverflowError for one that is too long."""
        ...

    async def send(self, frame: Frame) -> None:
        """Sends a frame. Raises one of CLOSED when the other end has gone, and ValueError for what it cannot carry."""
        ...


class Pipes:
    """A server's process."""

    def __init__(self, process: Process, ending: transports.Ending, *, max_bytes: int) -> None:
        """`max_bytes` bounds a line of the server; `ending` gets its exit code."""
        self._stdin = process.stdin
        self._lines = transports.read_output(process, ending, max_bytes=max_bytes)

    async def receive(self) -> Frame:
        """The next frame; lines that are none are left out, as clients do."""
        async for line in self._lines:
            if (frame := read_frame(line.rstrip(b"\r"))).messages:
                return frame
        raise anyio.EndOfStream

    async def send(self, frame: Frame) -> None:
        """Sends a frame."""
        if self._stdin is None:
            raise anyio.ClosedResourceError
        await self._stdin.send(frame.raw + b"\n")


class Messages:
    """Either end of a transport of the SDK; what is no message of the protocol gets no further."""

    def __init__(self, read: Any, write: Any, *, note: Callable[[Mapping[str, Any]], Any]) -> None:  # noqa: ANN401  # the SDK's
        """`note` gives what the transport has to know about a message that is sent."""
        self._read, self._write, self._note = read, write, note

    async def receive(self) -> Frame:
        """The next frame."""
        while True:
            item = await self._read.receive()
            if isinstance(item, SessionMessage):
                own = carried_text(item.message)
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True) if own is None else own
                return read_frame(text.encode())

    async def send(self, frame: Frame) -> None:
        """Sends a frame. Raises ValueError for what is not one message of JSON-RPC."""
        value = frame.value
        if b"\\ud" in frame.raw.lower():  # half a character, which the SDK cannot send, or a whole one
            value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        await self._write.send(SessionMessage(message, self._note(frame.value)))


def params_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of a message."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `_meta` of a message's parameters."""
    meta = params_of(message).get("_meta")
    return meta if isinstance(meta, dict) else {}


@asynccontextmanager
async def connect(attempt: Attempt, headers: Callable[[Mapping[str, Any]], dict[str, str]]) -> AsyncGenerator[Peer]:
    """A connection to a server; on leaving, a process that was started has ended with its whole group.

    What a process writes to stderr goes to ours. `headers` gives those of a message. Raises whatever the system, the
    SDK and the network raise.
    """
    locator, options, replies = attempt.locator, attempt.options, attempt.replies
    if isinstance(locator, Stdio):
        process = await transports.start_process(locator, options, stderr=None)
        try:
            yield Pipes(process, attempt.ending, max_bytes=options.max_bytes)
        finally:
            with anyio.CancelScope(shield=True):
                await transports.end_process(process)
    elif isinstance(locator, Url):

        def note(message: Mapping[str, Any]) -> ClientMessageMetadata:
            del replies[:-1]
            return ClientMessageMetadata(headers=headers(message))

        connection = transports.streamable_http(locator.url, options, replies, is_lasting=True)
        async with connection as (read, write):
            yield Messages(read, write, note=note)


def explain_loss(attempt: Attempt, pending: Iterable[str]) -> str:
    """Why there is no connection any more, with the method of the last request that has no answer."""
    attempt.recording.pending = {str(number): method for number, method in enumerate(pending)}
    attempt.replies = [each for each in attempt.replies[-1:] if each.status >= httpx2.codes.BAD_REQUEST]
    return explain(attempt)
