"""What one connection said: every raw answer, error and stray line, and the catalog that they add up to."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from tdqs_mcp.model.catalog import Catalog, read_prompts, read_resources, read_tools

DISCOVER = "server/discover"
INITIALIZE = "initialize"
TOOLS_LIST = "tools/list"
LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The four listing methods and the array that each answers with."""

_IDENTITY = "io.modelcontextprotocol/serverInfo"
"""Where a 2026-07-28 server may stamp its name into the `_meta` of the discover answer."""

_NOISE_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A JSON-RPC error as the server sent it."""

    code: int
    message: str


class Wire:
    """The record of one connection. It outlives the connection: a capture that is cut short keeps what had arrived."""

    def __init__(self, *, max_bytes: int) -> None:
        """An empty record that keeps listings up to `max_bytes` of JSON in all."""
        self.results: dict[str, list[Mapping[str, Any]]] = {}
        self.refusals: dict[str, Refusal] = {}
        self.pending: dict[str, str] = {}
        """Request id to method, for what was asked and never answered, in the order of asking."""

        self.problems: list[str] = []
        self.incomplete: str | None = f"{TOOLS_LIST} was not read to its end."
        """Why tools may be missing; None once the last page of `tools/list` has been read."""

        self.noise_lines = 0
        self.first_noise = ""
        self.overflowed: str | None = None
        """The listing method whose answers went over the limit of bytes, or of nesting."""

        self._room = max_bytes

    def asked(self, request: str, method: str) -> None:
        """A request left for the server."""
        self.pending[request] = method

    def answered(self, request: str, result: Mapping[str, Any]) -> str | None:
        """Keeps the answer and gives back the method it answers; None for an answer to nothing that was asked."""
        method = self.pending.pop(request, None)
        if method is not None and self._fits(method, result):
            self.results.setdefault(method, []).append(result)
        return method

    def refused(self, request: str, refusal: Refusal) -> None:
        """The server answered with an error."""
        method = self.pending.pop(request, None)
        if method is not None:
            self.refusals[method] = refusal

    def babbled(self, text: str) -> None:
        """The server sent something that is no protocol message."""
        self.noise_lines += 1
        self.first_noise = self.first_noise or text.strip()[:_NOISE_SHOWN]

    @property
    def greeting(self) -> Mapping[str, Any] | None:
        """The answer that the connection was opened with: `initialize`, else `server/discover`."""
        for method in (INITIALIZE, DISCOVER):
            if self.results.get(method):
                return self.results[method][-1]
        return None

    @property
    def capabilities(self) -> Mapping[str, Any] | None:
        """What the server says it has; None when it does not say so with an object."""
        found = (self.greeting or {}).get("capabilities")
        return found if isinstance(found, Mapping) else None

    @property
    def expects_tools(self) -> bool:
        """Whether a server without tools would contradict itself, or has not said."""
        return self.capabilities is None or "tools" in self.capabilities

    def next_cursor(self, method: str) -> object:
        """The `nextCursor` of the last page, of any type; None when there is none."""
        pages = self.results.get(method)
        return pages[-1].get("nextCursor") if pages else None

    def noise(self) -> str | None:
        """A sentence about what was sent beside the protocol."""
        if not self.noise_lines:
            return None
        lines = "1 line that is" if self.noise_lines == 1 else f"{self.noise_lines} lines that are"
        return f"The server wrote {lines} no protocol message to its output; the first is {self.first_noise!r}."

    def _fits(self, method: str, result: Mapping[str, Any]) -> bool:
        if method not in LISTS:
            return True
        try:
            self._room -= len(json.dumps(result, default=str))
        except RecursionError:
            self._room = -1  # nested as deeply as this interpreter can go: nothing after us could read it either
        if self._room < 0:
            self.overflowed = method
        return self._room >= 0


def build_catalog(
    wire: Wire, *, fallback_name: str, source: str, protocol_version: str | None, max_tools: int
) -> Catalog:
    """The catalog that the connection's answers add up to, entries as they came; problems are one sentence each."""
    greeting = wire.greeting or {}
    info = _server_info(greeting)
    problems = [*_greeting_problems(wire), *wire.problems]
    entries = {method: _entries(wire, method, problems) for method in LISTS}
    tools = entries[TOOLS_LIST] or []
    incomplete = wire.incomplete or next((each for each in problems if each == _no_array(TOOLS_LIST)), None)
    if len(tools) > max_tools:
        problems.append(f"The server lists more than {max_tools} tools; the first {max_tools} were kept.")
        incomplete = incomplete or problems[-1]
    if tools and not wire.expects_tools:
        problems.append("The server lists tools but does not declare the tools capability.")
    if noise := wire.noise():
        problems.append(noise)
    resources, templates = entries["resources/list"], entries["resources/templates/list"]
    was_asked = resources is not None or templates is not None
    prompts = entries["prompts/list"]
    return Catalog(
        server=_text(info, "name") or fallback_name,
        tools=read_tools(tools[:max_tools]),
        resources=read_resources(resources or [], templates=templates or []) if was_asked else None,
        prompts=None if prompts is None else read_prompts(prompts),
        version=_text(info, "version"),
        instructions=_text(greeting, "instructions"),
        source=source,
        protocol_version=protocol_version,
        server_info=info,
        capabilities=wire.capabilities,
        problems=tuple(problems),
        incomplete=incomplete,
    )


def _server_info(greeting: Mapping[str, Any]) -> Mapping[str, Any] | None:
    meta = greeting.get("_meta")
    for info in (greeting.get("serverInfo"), meta.get(_IDENTITY) if isinstance(meta, Mapping) else None):
        if isinstance(info, Mapping):
            return info
    return None


def _greeting_problems(wire: Wire) -> list[str]:
    problems = []
    if wire.capabilities is None:
        problems.append("The initialize answer has no capabilities object; only tools were asked for.")
    if wire.results.get(INITIALIZE) and _server_info(wire.greeting or {}) is None:
        problems.append("The initialize answer has no serverInfo object.")
    return problems


def _entries(wire: Wire, method: str, problems: list[str]) -> list[Any] | None:
    """The entries of all pages; None when no page came."""
    pages = wire.results.get(method)
    if pages is None:
        return None
    key = LISTS[method]
    entries: list[Any] = []
    for page in pages:
        found = page.get(key)
        if isinstance(found, list):
            entries += found
        else:
            problems.append(_no_array(method))
    return entries


def _no_array(method: str) -> str:
    return f"A {method} answer has no array {LISTS[method]!r}."


def _text(raw: Mapping[str, Any] | None, key: str) -> str | None:
    value = (raw or {}).get(key)
    return value if isinstance(value, str) and value else None


Incoming = SessionMessage | Exception
"""A message from the server, or why something that it sent is none."""


@asynccontextmanager
async def tap(
    transport: Transport, wire: Wire, *, discover_seconds: float
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Incoming], "Outgoing"]]:
    """The transport's two streams with `wire` listening in.

    The SDK waits 10 s for an answer to `server/discover` before it falls back to the older handshake; where that is too
    long, the tap refuses in the server's place after `discover_seconds`.
    """
    async with transport as (answers, questions), anyio.create_task_group() as tasks:
        deliver, incoming = anyio.create_memory_object_stream[Incoming](0)

        async def refuse_discover(request: JSONRPCRequest) -> None:
            await anyio.sleep(discover_seconds)
            error = ErrorData(code=METHOD_NOT_FOUND, message=f"no answer within {discover_seconds:g} s")
            await _deliver(JSONRPCError(jsonrpc="2.0", id=request.id, error=error), deliver, wire)

        def note(request: JSONRPCRequest) -> None:
            wire.asked(str(request.id), request.method)
            if request.method == DISCOVER:
                tasks.start_soon(refuse_discover, request)

        with deliver, incoming:
            tasks.start_soon(_listen, answers, deliver, wire)
            try:
                yield incoming, Outgoing(questions, note)
            finally:
                tasks.cancel_scope.cancel()


class Outgoing:
    """The stream towards the server; every request is noted before it leaves."""

    def __init__(self, inner: Any, note: Callable[[JSONRPCRequest], None]) -> None:  # noqa: ANN401  # the SDK's protocol is private
        """The transport's own stream `inner`, and whom to tell."""
        self._inner = inner
        self._note = note

    async def send(self, item: SessionMessage, /) -> None:
        """Notes and forwards one message."""
        if isinstance(item.message, JSONRPCRequest):
            self._note(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Closes the transport's stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the transport's stream."""
        await self.aclose()


async def _listen(answers: Any, deliver: MemoryObjectSendStream[Incoming], wire: Wire) -> None:  # noqa: ANN401
    async with deliver:
        async for item in answers:
            if isinstance(item, SessionMessage):
                await _deliver(item.message, deliver, wire)
            else:
                wire.babbled(str(item))


async def _deliver(message: Any, deliver: MemoryObjectSendStream[Incoming], wire: Wire) -> None:  # noqa: ANN401
    try:
        await deliver.send(SessionMessage(_record(message, wire)))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the client has gone; what arrived is on record


def _record(message: Any, wire: Wire) -> Any:  # noqa: ANN401  # any of the four kinds of JSON-RPC message
    """Notes the message and gives back what the typed client may see of it."""
    if isinstance(message, JSONRPCResponse):
        method = wire.answered(str(message.id), message.result)
        return message.model_copy(update={"result": _harmless(method, message.result)})
    if isinstance(message, JSONRPCError):
        request = message.id if message.id is not None else _only(wire.pending)
        wire.refused(str(request), Refusal(code=message.error.code, message=message.error.message))
        return message.model_copy(update={"id": request})
    return message


def _only(pending: Mapping[str, str]) -> int | str | None:
    """The one request that an error without an id can be about."""
    if len(pending) != 1:
        return None
    request = next(iter(pending))
    return int(request) if request.isdecimal() else request


def _harmless(method: str | None, result: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the same meaning that the typed client cannot refuse."""
    if method in LISTS:
        return {LISTS[method]: [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == INITIALIZE and isinstance(result.get("protocolVersion"), str):
        return {
            "protocolVersion": result["protocolVersion"],
            "capabilities": {},
            "serverInfo": {"name": "server", "version": "0"},
        }
    if method == DISCOVER:
        return {**result, "capabilities": {}}
    return dict(result)
