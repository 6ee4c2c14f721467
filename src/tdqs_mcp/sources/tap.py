"""The tap on a transport: the SDK speaks the protocol, the wire record keeps what was said, nothing malformed is lost.

The SDK's typed client refuses a whole page for one malformed tool and drops fields that it does not know. So every
listing is recorded as it came, and the client gets an empty valid page in its place.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from tdqs_mcp.sources.wire import DISCOVER, INITIALIZE, LISTS, Refusal, Wire

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
