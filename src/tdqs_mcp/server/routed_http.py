"""The clients of a router over streamable HTTP: a session each, or one request after the other in the newer era."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import INVALID_REQUEST
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tdqs_mcp.app.routing import Router
from tdqs_mcp.errors import CaptureError
from tdqs_mcp.router.connection_log import (
    CLOSED,
    Frame,
    Messages,
    error_frame,
    make_frame,
    meta_of,
    params_of,
    read_frame,
)
from tdqs_mcp.router.relay import CANCELLED, SUBSCRIBE, Relay
from tdqs_mcp.server.http_transport import (
    HEALTH,
    IDLE_SECONDS,
    MAX_BODY,
    SESSION_HEADER,
    Http,
    answer_health,
    protect,
    read_security,
)

MAX_ROUTED_SESSIONS = 100
"""Sessions at the same time; each may have a process of the server."""

MAX_WAITING = 1_000
"""Frames that wait for one client to read them; one that reads none any longer is left."""

PING_SECONDS = 15.0


def router_app(router: Router, http: Http, *, tell: Callable[[str], None]) -> ASGIApp:
    """The ASGI application of a router; `tell` gets why a server could not be used any longer."""
    endpoint = _Endpoint(router, read_security(http), tell)
    routes = [
        Route(HEALTH, answer_health, methods=["GET"]),
        Route("/mcp", RequestBodyLimitMiddleware(endpoint, MAX_BODY)),
    ]
    return protect(Starlette(routes=routes, lifespan=endpoint.run), http)


class _Endpoint:
    """Application at /mcp, with its connected clients."""

    _tasks: TaskGroup
    """All connections; there from the start of the application on."""

    def __init__(self, router: Router, security: TransportSecuritySettings, tell: Callable[[str], None]) -> None:
        self._router, self._security, self._tell = router, security, tell
        self._sessions: dict[str, StreamableHTTPServerTransport] = {}
        self._shared: _SharedClient | None = None

    @asynccontextmanager
    async def run(self, _: Starlette) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refused = await TransportSecurityMiddleware(self._security).validate_request(
            request, is_post=request.method == "POST"
        )
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if refused is not None:
            await refused(scope, receive, send)
        elif version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._pass_to_session(request, scope, receive, send)
        else:
            await self._pass_alone(request, scope, receive, send)

    async def _pass_to_session(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """A request of the older era: to its session, or the one that it opens."""
        key = request.headers.get(SESSION_HEADER)
        if key is not None and key in self._sessions:
            await self._sessions[key].handle_request(scope, receive, send)
        elif key is not None:
            await _answer(error_frame(None, INVALID_REQUEST, "Session not found"), 404)(scope, receive, send)
        elif request.method != "POST":  # starts no server
            await _answer(error_frame(None, INVALID_REQUEST, "Missing session ID"), 400)(scope, receive, send)
        elif len(self._sessions) >= MAX_ROUTED_SESSIONS:
            await _answer(error_frame(None, INVALID_REQUEST, "Too many open sessions"), 503)(scope, receive, send)
        else:
            await self._open_session(scope, receive, send)

    async def _open_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a session; a request that the transport refuses starts no server."""
        transport = StreamableHTTPServerTransport(uuid4().hex, security_settings=None, idle_timeout=IDLE_SECONDS)
        relay = self._router.open()
        try:
            await self._tasks.start(self._run_session, transport, relay)
            await transport.handle_request(scope, receive, send)
        finally:
            if not relay.is_answered:
                with anyio.CancelScope(shield=True):
                    await transport.terminate()

    async def _run_session(
        self,
        transport: StreamableHTTPServerTransport,
        relay: Relay,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve a client of the older era until it leaves, is idle for too long, or has no server any longer."""
        key = str(transport.mcp_session_id)

        def note(message: Any) -> ServerMessageMetadata | None:  # noqa: ANN401  # foreign JSON
            return ServerMessageMetadata(related_request_id=relay.related(message)) if "method" in message else None

        async with transport.connect() as (read, write):
            self._sessions[key] = transport
            task_status.started()
            try:
                with transport.idle_scope or anyio.CancelScope():
                    await self._router.serve(Messages(read, write, note=note), relay)
            except CaptureError as error:
                self._tell(str(error))
            finally:
                del self._sessions[key]
                with anyio.CancelScope(shield=True):
                    await transport.terminate()

    async def _pass_alone(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """A request of the newer era, which has no sessions."""
        if request.method != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        frame = read_frame(await request.body())
        message = frame.value
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            await _answer(error_frame(None, INVALID_REQUEST, "the body is no request"), 400)(scope, receive, send)
            return
        if type(message.get("id")) not in (int, str):  # nothing that a client could announce so has a meaning
            await Response(status_code=202)(scope, receive, send)
            return
        verdict = classify_inbound_request(message, headers=dict(request.headers))
        if isinstance(verdict, InboundLadderRejection):
            refusal = error_frame(message["id"], verdict.code, verdict.message, verdict.data)
            await _answer(refusal)(scope, receive, send)
            return
        if self._shared is None:
            self._shared = _SharedClient()
            self._tasks.start_soon(self._run_shared, self._shared)
        async with self._shared.ask(message) as frames, anyio.create_task_group() as tasks:
            tasks.start_soon(_await_leaving, receive, tasks.cancel_scope)
            await _stream(frames, scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _run_shared(self, shared: "_SharedClient") -> None:
        try:
            await self._router.serve(shared, self._router.open())
        except CaptureError as error:
            self._tell(str(error))
        finally:
            shared.close()
            self._shared = None


class _SharedClient:
    """The clients of the newer era as one client of the server: their requests get ids that are not used twice."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._send, self._receive = anyio.create_memory_object_stream[Frame](MAX_WAITING)
        self._waiting: dict[int, tuple[dict[str, Any], MemoryObjectSendStream[Frame]]] = {}

    async def receive(self) -> Frame:
        """The next frame of any client."""
        return await self._receive.receive()

    async def send(self, frame: Frame) -> None:
        """Sends each message to the client whom it is for."""
        for message in frame.messages:
            self._deliver(message)

    def _deliver(self, message: dict[str, Any]) -> None:
        params, meta = params_of(message), meta_of(message)
        is_answer = "method" not in message
        key = message.get("id") if is_answer else params.get("progressToken", meta.get(SUBSCRIPTION_ID_META_KEY))
        key = self._only_call() if key is None and not is_answer else key
        if type(key) is not int or key not in self._waiting:
            return
        request, stream = self._waiting[key]
        if "progressToken" in params and "progressToken" not in meta_of(request):
            return  # a token that no client gave
        if is_answer:
            del self._waiting[key]
            message = {**message, "id": request["id"]}
        elif "progressToken" in params:
            message = {**message, "params": {**params, "progressToken": meta_of(request)["progressToken"]}}
        elif SUBSCRIPTION_ID_META_KEY in meta:
            message = {**message, "params": {**params, "_meta": {**meta, SUBSCRIPTION_ID_META_KEY: request["id"]}}}
        try:
            stream.send_nowait(make_frame(message))
        except (anyio.WouldBlock, *CLOSED):
            stream.close()

    def _only_call(self) -> int | None:
        """The request that a message without a token is about; among several, of clients apart, it is not known."""
        keys = [key for key, (request, _) in self._waiting.items() if request["method"] != SUBSCRIBE]
        return keys[0] if len(keys) == 1 else None

    @asynccontextmanager
    async def ask(self, message: dict[str, Any]) -> AsyncGenerator[MemoryObjectReceiveStream[Frame]]:
        """The frames that belong to a request, its answer last; to leave before that cancels it."""
        key = next(self._ids)
        stream, frames = anyio.create_memory_object_stream[Frame](MAX_WAITING)
        self._waiting[key] = (message, stream)
        sent, meta = {**message, "id": key}, meta_of(message)
        if "progressToken" in meta:
            sent["params"] = {**params_of(message), "_meta": {**meta, "progressToken": key}}
        await self._send.send(make_frame(sent))
        try:
            with frames:
                yield frames
        finally:
            stream.close()
            if self._waiting.pop(key, None) is not None:
                with suppress(anyio.WouldBlock, *CLOSED):
                    params = {"requestId": key, "_meta": dict(meta)}
                    self._send.send_nowait(make_frame({"jsonrpc": "2.0", "method": CANCELLED, "params": params}))

    def close(self) -> None:
        """Ends what still waits."""
        self._receive.close()
        for _, stream in self._waiting.values():
            stream.close()


async def _stream(frames: MemoryObjectReceiveStream[Frame], scope: Scope, receive: Receive, send: Send) -> None:
    """The answer as JSON where it comes first, else all frames as events."""
    frame = await _next(frames)
    if frame is not None and "method" not in frame.value:
        await _answer(frame)(scope, receive, send)
        return
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    with suppress(*CLOSED):
        while True:
            event = b": ping\r\n\r\n" if frame is None else b"event: message\r\ndata: " + frame.raw + b"\r\n\r\n"
            await send({"type": "http.response.body", "body": event, "more_body": True})
            if frame is not None and "method" not in frame.value:
                break
            frame = await _next(frames)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _next(frames: MemoryObjectReceiveStream[Frame]) -> Frame | None:
    """The next frame; None where there is none for so long that a connection without traffic might be closed."""
    with anyio.move_on_after(PING_SECONDS):
        return await frames.receive()
    return None


async def _await_leaving(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _answer(frame: Frame, status: int | None = None) -> Response:
    """A message as a whole answer."""
    code = frame.value.get("error", {}).get("code")
    return Response(frame.raw, status or ERROR_CODE_HTTP_STATUS.get(code, 200), media_type="application/json")
