"""Log of served definitions and ended calls as lines of JSON, arguments and results redacted to shapes."""

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

import anyio
import httpx2
from anyio.abc import Process
from cachetools import LRUCache
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp.types import jsonrpc_message_adapter

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.facts.schema.arguments import is_known
from tdqs_mcp.facts.schema.signals import estimate_tokens
from tdqs_mcp.model import CallOutcome
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.sources import transports
from tdqs_mcp.sources.failure import Attempt, explain
from tdqs_mcp.sources.input_files import CALL, has_content
from tdqs_mcp.sources.locator import Stdio, Url
from tdqs_mcp.sources.recording import TOOLS_LIST, carried_text

CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, ConnectionError)
"""How a connection says that the other end has gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A line of the wire: a message, or a batch of them."""

    raw: bytes
    value: Any
    """What it parses to; None for no JSON."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in it."""
        entries = self.value if isinstance(self.value, list) else [self.value]
        return [message for message in entries if isinstance(message, dict)]


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
    """An end of the wire: a client or a server."""

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
    attempt.replies = [reply for reply in attempt.replies[-1:] if reply.status >= httpx2.codes.BAD_REQUEST]
    return explain(attempt)


MAX_MESSAGES = 1_000
"""Messages of errors that are remembered."""

MAX_MESSAGE = 200
"""Characters of an error that may be kept."""


Write = Callable[[Mapping[str, Any]], None]
"""What gets one line."""


class ConnectionLog:
    """The lists of tools and the calls of one connection; the line of a call can be a trace of a rewrite's material."""

    def __init__(self, write_list: Write, write_call: Write | None) -> None:
        """No call is written without `write_call`."""
        self._write_list, self._write_call = write_list, write_call
        self._session = uuid4().hex[:8]
        self._given: LRUCache[str, str] = LRUCache(MAX_MESSAGES)

    def note_list(self, client: str | None, served: Mapping[str, Sequence[str]]) -> None:
        """Writes which tools a client got by which variant."""
        self._write_list({**self._stamp(TOOLS_LIST), "client": client, "served": served})

    def _stamp(self, event: str) -> dict[str, str]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {"time": now, "session": self._session, "event": event}

    def note_call(
        self,
        *,
        tool: str,
        client: str | None,
        variant: str | None,
        arguments: object,
        schema: object,
        seconds: float,
        outcome: str | None,
        answer: Mapping[str, Any],
    ) -> None:
        """Writes how a call ended; `outcome` is given where it got no answer.

        `variant` is what the client was given of the tool; None for a tool that it has not listed.
        """
        result = answer.get("result")
        result = result if isinstance(result, Mapping) else {}
        if self._write_call is None or result.get("resultType", "complete") != "complete":
            return  # the server asks its client first; the call comes again
        is_error = "error" in answer or result.get("isError") is True
        value = _value(result)
        ended: dict[str, Any] = {}
        if is_error:
            ended = {"error": self._message(answer, arguments)}
        elif answer:
            empty: object = [] if _holds_list(value) else ""
            ended = {"result": _result_shape(result) if has_content(value) else empty}
        answered = CallOutcome.SUCCESS if has_content(value) else CallOutcome.EMPTY
        self._write_call(
            {
                **self._stamp(CALL),
                "client": client,
                "variant": variant,
                "tool": tool,
                "success": "result" in ended,
                "outcome": outcome or (CallOutcome.ERROR if is_error else answered),
                "seconds": round(seconds, 4),
                "tokens": estimate_tokens(_texts(result) or _as_text(result.get("structuredContent"))),
                "arguments": _arguments_shape(arguments, schema),
                **ended,
            }
        )

    def _message(self, answer: Mapping[str, Any], arguments: object) -> str:
        """The text of an error that other arguments had too, so that it holds none of them; else its shape."""
        error = answer.get("error")
        text = _texts(answer.get("result"))
        if isinstance(error, Mapping):
            text = str(error.get("message") or "")
        digest = short_hash(json.dumps(arguments, sort_keys=True))
        earlier = self._given.setdefault(short_hash(text), digest)
        return text if earlier != digest and len(text) <= MAX_MESSAGE else _shape(text)


def _arguments_shape(arguments: object, schema: object) -> dict[str, Any]:
    """Each argument that the schema knows: its value where the schema has it too, else its shape."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    properties = properties if isinstance(properties, Mapping) else {}
    parameters = arguments if isinstance(arguments, Mapping) else {}
    values = {name: parameters[name] for name in properties if name in parameters}
    return {
        name: value if isinstance(value, bool | None) or is_known(value, properties[name]) else _shape(value)
        for name, value in values.items()
    }


def _shape(value: object) -> str:
    if isinstance(value, str):
        return f"<text of {len(value)}>"
    if isinstance(value, list | Mapping):
        return f"<{'list' if isinstance(value, list) else 'object'} of {len(value)}>"
    return "<boolean>" if isinstance(value, bool) else "<number>"


def _result_shape(result: Mapping[str, Any]) -> list[str]:
    """The shapes of the parts of a result."""
    content = result.get("content")
    blocks = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    shapes = [_shape(block["text"]) if isinstance(block.get("text"), str) else "<content>" for block in blocks]
    structured = result.get("structuredContent")
    return [*shapes, *([_shape(structured)] if structured is not None else [])]


def _as_text(structured: object) -> str:
    """Return the JSON of a structured result, which a client that finds no text gives its model."""
    return "" if structured is None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))


def _texts(result: object) -> str:
    content = result.get("content") if isinstance(result, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, Mapping) and "text" in block)


def _value(result: Mapping[str, Any]) -> object:
    """Return what a result says: its structured content, the JSON in its text, or its blocks."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    blocks = result.get("content")
    if not isinstance(blocks, list) or any(isinstance(block, Mapping) and "text" not in block for block in blocks):
        return blocks
    text = _texts(result)
    return [] if text.strip() in ("[]", "{}") else text.strip().removeprefix("null")


def _holds_list(value: object) -> bool:
    return isinstance(value, list) or (isinstance(value, Mapping) and any(map(_holds_list, value.values())))
