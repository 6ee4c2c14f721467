"""Record of a connection: every raw answer, error and stray line, and the catalog that they add up to.

The SDK's typed client refuses a whole page for one malformed tool and drops fields that it does not know. So every
answer is recorded as it came, and in place of a listing the client gets an empty valid page.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from tdqs_mcp.canonical import replace_surrogates
from tdqs_mcp.json_text import read_json
from tdqs_mcp.model import (
    CACHING_HINTS,
    Catalog,
    needs_sanitizing,
    read_prompts,
    read_resources,
    read_tools,
    sanitize,
    sanitize_page,
)

DISCOVER = "server/discover"
INITIALIZE = "initialize"
TOOLS_LIST = "tools/list"
LISTS = {
    TOOLS_LIST: "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The four listing methods and the array that each answers with."""

Incoming = SessionMessage | Exception
"""A message from the server, or why something that it sent is not a message."""

_IDENTITY = "io.modelcontextprotocol/serverInfo"
"""Where a 2026-07-28 server may put its name into the `_meta` of the discover answer."""

_MAX_STRAY = 80
"""Characters of a stray line that are quoted."""


CARRIED = "tdqs-mcp/text"
"""The member that carries a message's own text."""


def carry(text: str) -> str:
    """The text of a message that the SDK's parser reads; where it could not, the given text is a member of it."""
    try:
        frame = read_json(text)
    except (ValueError, RecursionError):
        return text
    readable = carry_text(frame, text)
    return text if readable is frame else json.dumps(readable)


def carry_text(frame: object, text: str) -> object:
    """A message as parsed; where the SDK could not read it, one that has the message's own text as a member.

    It refuses half of a UTF-16 pair, which JavaScript servers can send, and what nests deep.
    """
    if not isinstance(frame, dict) or not (needs_sanitizing(frame) or "\\ud" in text.lower()):
        return frame
    carried: dict[str, Any] = {CARRIED: text}
    members = {key: frame[key] for key in ("jsonrpc", "id", "method") if key in frame}
    error, result = frame.get("error"), frame.get("result")
    if "method" in frame:
        members["params"] = carried
    elif isinstance(error, dict):
        words = replace_surrogates(str(error.get("message")))
        members["error"] = {"code": error.get("code"), "message": words, "data": carried}
    elif isinstance(result, dict):
        members["result"] = carried | {key: result[key] for key in ("protocolVersion",) if key in result}
    else:
        return frame
    return members


def carried_text(message: Any) -> str | None:  # noqa: ANN401  # any of the four kinds of JSON-RPC message
    """The text that a message carries; None for one that is as it came."""
    error = getattr(message, "error", None)
    for member in (getattr(message, "result", None), getattr(message, "params", None), getattr(error, "data", None)):
        text = member.get(CARRIED) if isinstance(member, dict) else None
        if isinstance(text, str):
            return text
    return None


class Recording:
    """The record of one connection. It outlives the connection: a capture that is cut short keeps what had arrived."""

    def __init__(self, *, max_bytes: int) -> None:
        """An empty record that keeps listings up to `max_bytes` of JSON in all."""
        self.results: dict[str, list[Mapping[str, Any]]] = {}
        """Every answer by its method, in order."""

        self.errors: dict[str, ErrorData] = {}
        """The last error answer by its method."""

        self.pending: dict[str, str] = {}
        """Request id to method, for what was asked and never answered, in the order of asking."""

        self.problems: list[str] = []
        self.incomplete: str | None = f"{TOOLS_LIST} was not read to its end."
        """Why tools may be missing; None once the last page of `tools/list` has been read."""

        self.overflowed: str | None = None
        """The listing method whose answers went over the limit of bytes."""

        self._stray_lines = 0
        self._first_stray = ""
        self._bytes_left = max_bytes

    def note_result(self, request: str, result: Mapping[str, Any]) -> str | None:
        """Keeps an answer and returns the method that it answers; None for an answer to nothing that was asked."""
        method = self.pending.pop(request, None)
        page = None if method is None else self._kept(method, result)
        if method is not None and page is not None:
            self.results.setdefault(method, []).append(page)
        return method

    def note_error(self, request: str, error: ErrorData) -> None:
        """Keeps an error answer."""
        method = self.pending.pop(request, None)
        if method is not None:
            self.errors[method] = error

    def note_stray(self, text: str) -> None:
        """Counts something that is not a protocol message."""
        self._stray_lines += 1
        self._first_stray = self._first_stray or text.strip()[:_MAX_STRAY]

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """The answer that opened the connection: to `initialize`, else to `server/discover`."""
        answers = self.results.get(INITIALIZE) or self.results.get(DISCOVER)
        return answers[-1] if answers else None

    @property
    def capabilities(self) -> Mapping[str, Any] | None:
        """Return what the server says it has; None when it does not say so with an object."""
        capabilities = (self.handshake or {}).get("capabilities")
        return capabilities if isinstance(capabilities, Mapping) else None

    @property
    def expects_tools(self) -> bool:
        """Return whether a server without tools would contradict itself, or has not said."""
        return self.capabilities is None or "tools" in self.capabilities

    def next_cursor(self, method: str) -> object:
        """The `nextCursor` of the last page, of any type; None when there is none."""
        pages = self.results.get(method)
        return pages[-1].get("nextCursor") if pages else None

    @property
    def stray_output(self) -> str | None:
        """A sentence about what was sent besides protocol messages."""
        if not self._stray_lines:
            return None
        count = self._stray_lines
        singular, plural = "1 line that is not a protocol message", f"{count} lines that are not protocol messages"
        lines = singular if count == 1 else plural
        return f"The server wrote {lines} to its output; the first is {self._first_stray!r}. Logs belong on stderr."

    def _kept(self, method: str, result: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The result with the tools as the server sent them; None for a listing beyond the limit."""
        if method in LISTS:
            self._bytes_left -= len(json.dumps(sanitize(result)[0], default=str))
            if self._bytes_left < 0:
                self.overflowed = method
                return None
        sanitized, sentences = sanitize_page(result)
        self.problems += sentences
        return sanitized


@asynccontextmanager
async def record(
    transport: Transport, recording: Recording, *, discover_seconds: float
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """The transport's two streams, with everything that passes kept in `recording`.

    The SDK waits 10 s for an answer to `server/discover` before it falls back to the older handshake; where that is too
    long, an error in the server's place answers after `discover_seconds`.
    """
    async with transport as (answers, questions), anyio.create_task_group() as tasks:
        deliver, incoming = anyio.create_memory_object_stream[Incoming](0)
        outgoing, accept = anyio.create_memory_object_stream[SessionMessage](0)

        async def refuse_discover(request: JSONRPCRequest) -> None:
            await anyio.sleep(discover_seconds)
            error = ErrorData(code=METHOD_NOT_FOUND, message=f"no answer within {discover_seconds:g} s")
            await _deliver(JSONRPCError(jsonrpc="2.0", id=request.id, error=error), deliver, recording)

        async def send() -> None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async with accept, questions:
                    async for item in accept:
                        if isinstance(item.message, JSONRPCRequest):
                            recording.pending[str(item.message.id)] = item.message.method
                            if item.message.method == DISCOVER:
                                tasks.start_soon(refuse_discover, item.message)
                        await questions.send(item)

        async def receive() -> None:
            async with deliver:
                async for item in answers:
                    if isinstance(item, SessionMessage):
                        await _deliver(item.message, deliver, recording)
                    else:
                        recording.note_stray(str(item))

        with deliver, incoming, outgoing, accept:
            tasks.start_soon(send)
            tasks.start_soon(receive)
            try:
                yield incoming, outgoing
            finally:
                tasks.cancel_scope.cancel()


async def _deliver(message: Any, deliver: MemoryObjectSendStream[Incoming], recording: Recording) -> None:  # noqa: ANN401
    try:
        await deliver.send(SessionMessage(_note(message, recording)))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the client has gone; what arrived is recorded


def _note(message: Any, recording: Recording) -> Any:  # noqa: ANN401  # any of the four kinds of JSON-RPC message
    """Records the message and returns what the typed client may see of it."""
    if isinstance(message, JSONRPCResponse):
        result = _own_result(message)
        method = recording.note_result(str(message.id), result)
        return message.model_copy(update={"result": _harmless(method, result)})
    if isinstance(message, JSONRPCError):
        request = message.id
        if request is None and len(recording.pending) == 1:  # the one request that it can be about
            (only,) = recording.pending
            request = int(only) if only.isdecimal() else only
        recording.note_error(str(request), message.error)
        return message.model_copy(update={"id": request})
    return message


def _own_result(message: JSONRPCResponse) -> dict[str, Any]:
    """The result as the server sent it."""
    text = carried_text(message)
    with suppress(ValueError, RecursionError):  # a server may send such a member itself
        frame = None if text is None else read_json(text)
        if isinstance(frame, dict) and isinstance(frame.get("result"), dict):
            own: dict[str, Any] = frame["result"]
            return own
    return message.result


def _harmless(method: str | None, result: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the same meaning that the typed client cannot refuse."""
    if method in LISTS:
        return {LISTS[method]: [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == INITIALIZE and isinstance(result.get("protocolVersion"), str):
        info = {"name": "server", "version": "0"}
        return {"protocolVersion": result["protocolVersion"], "capabilities": {}, "serverInfo": info}
    if method == DISCOVER:
        return {**result, "capabilities": {}}
    return dict(result)


def build_catalog(
    recording: Recording, *, fallback_name: str, source: str, protocol_version: str | None, max_tools: int
) -> Catalog:
    """The catalog that the connection's answers add up to, entries as they came; problems are one sentence each."""
    handshake = recording.handshake or {}
    info = server_info(handshake)
    problems: list[str] = []
    if recording.capabilities is None:
        problems.append("The initialize answer has no capabilities object; only tools were asked for.")
    if recording.results.get(INITIALIZE) and info is None:
        problems.append("The initialize answer has no serverInfo object.")
    problems += recording.problems
    entries = {method: _entries(recording, method, problems) for method in LISTS}
    tools = entries[TOOLS_LIST] or []
    incomplete = recording.incomplete or next(
        (problem for problem in problems if problem == _no_array(TOOLS_LIST)), None
    )
    if len(tools) > max_tools:
        problems.append(f"The server lists more than {max_tools} tools; the first {max_tools} were kept.")
        incomplete = incomplete or problems[-1]
    if tools and not recording.expects_tools:
        problems.append("The server lists tools but does not declare the tools capability.")
    if stray := recording.stray_output:
        problems.append(stray)
    return Catalog(
        server=_text(info, "name") or fallback_name,
        tools=read_tools(tools[:max_tools]),
        resources=read_resources(entries["resources/list"], entries["resources/templates/list"]),
        prompts=read_prompts(entries["prompts/list"]),
        version=_text(info, "version"),
        instructions=_text(handshake, "instructions"),
        source=source,
        protocol_version=protocol_version,
        server_info=info,
        capabilities=recording.capabilities,
        caching=_caching(recording),
        problems=tuple(problems),
        incomplete=incomplete,
    )


def _caching(recording: Recording) -> dict[str, dict[str, Any]] | None:
    """The hints of each first answer; None from a server of an older revision that gives none."""
    hints = {
        method: {key: answers[0][key] for key in CACHING_HINTS if key in answers[0]}
        for method, answers in recording.results.items()
        if method == DISCOVER or method in LISTS
    }
    return hints if DISCOVER in hints or any(hints.values()) else None


def server_info(handshake: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a server calls itself in the first answer of either era."""
    meta = handshake.get("_meta")
    for info in (handshake.get("serverInfo"), meta.get(_IDENTITY) if isinstance(meta, Mapping) else None):
        if isinstance(info, Mapping):
            return info
    return None


def _entries(recording: Recording, method: str, problems: list[str]) -> list[Any] | None:
    """The entries of all pages; None when no page came."""
    pages = recording.results.get(method)
    if pages is None:
        return None
    lists = [page.get(LISTS[method]) for page in pages]
    problems += [_no_array(method) for page in lists if not isinstance(page, list)]
    return [entry for page in lists if isinstance(page, list) for entry in page]


def _no_array(method: str) -> str:
    return f"A {method} answer has no array {LISTS[method]!r}."


def _text(raw: Mapping[str, Any] | None, key: str) -> str | None:
    value = (raw or {}).get(key)
    return value if isinstance(value, str) and value else None
