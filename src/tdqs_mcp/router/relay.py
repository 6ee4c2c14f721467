"""The relay between a client and a server: what passes, what is rewritten, and how either end leaves."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import random
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import CLIENT_INFO_META_KEY, INTERNAL_ERROR, INVALID_REQUEST, PROTOCOL_VERSION_META_KEY

from tdqs_mcp.errors import CaptureError
from tdqs_mcp.router.connection_log import (
    CLOSED,
    ConnectionLog,
    Frame,
    Peer,
    connect,
    error_frame,
    explain_loss,
    make_frame,
    meta_of,
    params_of,
)
from tdqs_mcp.router.variants import VariantSource, reword
from tdqs_mcp.sources.failure import Attempt
from tdqs_mcp.sources.input_files import CALL
from tdqs_mcp.sources.recording import INITIALIZE, TOOLS_LIST, server_info

LOOK_SECONDS = 1.0
"""Seconds between two checks of the variants and of the server."""

LAST_SECONDS = 1.0
"""Seconds in which a server may still answer after its client's last message, and in which a client may read that its
server has gone."""

CANCELLED = "notifications/cancelled"
LIST_CHANGED = "notifications/tools/list_changed"
SUBSCRIBE = "subscriptions/listen"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """A request of a client that has no answer yet."""

    message: Mapping[str, Any]
    client: str | None
    """The name that the client gives of itself."""

    started: float = field(default_factory=time.monotonic)

    @property
    def method(self) -> str:
        """Return what it asks for."""
        return str(self.message["method"])


class Relay:
    """The state of one connection: requests without an answer, and what the server has listed."""

    def __init__(self, source: VariantSource, log: ConnectionLog) -> None:
        """`log` gets which variant was served, and the outcome of calls."""
        self.pending: dict[Any, OpenRequest] = {}
        """By id."""

        self.is_answered = False
        """Whether the server has said anything."""

        self._source, self._log = source, log
        self._seen = source.current
        self._schemas: dict[str, Any] = {}  # of the tools that were listed
        self._client: str | None = None
        self._version: str | None = None
        self._served: dict[tuple[str | None, str], str] = {}
        self._is_ready = False
        self._chance = random()  # noqa: S311  # an experiment, no secret

    def headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers that repeat a message over HTTP: the version, and in 2026-07-28 what it asks for."""
        method, params = str(message.get("method")), params_of(message)
        stated = meta_of(message).get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(stated, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: stated, MCP_METHOD_HEADER: method}
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            schema, arguments = self._schemas.get(name), params.get("arguments")
            if method == CALL and isinstance(schema, dict) and isinstance(arguments, dict):
                headers |= mcp_param_headers(x_mcp_header_map(schema), arguments)
        return headers

    def take_from_client(self, frame: Frame) -> None:
        """Notes what a client sends; it passes as it is."""
        for message in frame.messages:
            method = message.get("method")
            if method == CANCELLED:
                self._forget(params_of(message).get("requestId"))
            elif method == "notifications/initialized":
                self._is_ready = True
            elif isinstance(method, str) and type(message.get("id")) in (int, str):
                self._note_request(message)

    def take_from_server(self, frame: Frame) -> Frame:
        """Return what the client gets of a server's frame: another one for a list of tools."""
        self.is_answered = True
        new = [message if "method" in message else self._take_answer(message) for message in frame.messages]
        if all(new_message is other for new_message, other in zip(new, frame.messages, strict=True)):
            return frame
        try:
            return make_frame(new if isinstance(frame.value, list) else new[0])
        except RecursionError:  # nested as deeply as this interpreter can go
            return frame

    def related(self, message: Mapping[str, Any]) -> Any:  # noqa: ANN401  # an id
        """The pending request that a message of the server names by its token; of one without a token the last."""
        token = params_of(message).get("progressToken")
        if token is None:
            return next(reversed(self.pending), None)
        tokens = {key: meta_of(request.message).get("progressToken") for key, request in self.pending.items()}
        return next((key for key, value in tokens.items() if value == token), None)

    def lose_server(self, reason: str) -> list[Frame]:
        """The errors for every request that gets no answer any more."""
        lost = [error_frame(key, INTERNAL_ERROR, reason) for key in self.pending]
        for key in list(self.pending):
            self._end_call(self.pending.pop(key), "lost", {})
        return lost

    async def note_server(self, frame: Frame) -> None:
        """Reads the variants of a server that says its name for the first time."""
        for message in frame.messages if self._source.server is None else ():
            result = message.get("result")
            name = (server_info(result) or {}).get("name") if isinstance(result, dict) else None
            if isinstance(name, str):
                await self._source.refresh(name)
                self._seen = self._source.current

    async def switch(self) -> list[Frame]:
        """The notifications that are due when the variants have changed since the last look."""
        await self._source.refresh()
        if self._source.current is self._seen:
            return []
        self._seen = self._source.current
        notified: list[dict[str, Any]] = [{}] if self._is_ready else []
        notified += [{"params": {"_meta": {SUBSCRIPTION_ID_META_KEY: key}}} for key in self._listeners()]
        return [make_frame({"jsonrpc": "2.0", "method": LIST_CHANGED, **session}) for session in notified]

    def _listeners(self) -> Iterator[Any]:
        """The subscriptions of the newer era that want to know about tools."""
        for key, request in self.pending.items():
            notifications = params_of(request.message).get("notifications")
            if (
                request.method == SUBSCRIBE
                and isinstance(notifications, dict)
                and notifications.get("toolsListChanged") is True
            ):
                yield key

    def _note_request(self, message: Mapping[str, Any]) -> None:
        is_first = message["method"] == INITIALIZE
        info = params_of(message).get("clientInfo") if is_first else meta_of(message).get(CLIENT_INFO_META_KEY)
        name = info.get("name") if isinstance(info, dict) else None
        client = name if isinstance(name, str) else self._client
        self._client = client if is_first else self._client
        self.pending[message["id"]] = OpenRequest(message=message, client=client)

    def _forget(self, key: Any) -> None:  # noqa: ANN401  # an id
        if type(key) in (int, str) and (request := self.pending.pop(key, None)):
            self._end_call(request, "cancelled", {})

    def _take_answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Notes an answer; what the client gets of it is another one for a list of tools."""
        key = message.get("id")
        request = self.pending.pop(key, None) if type(key) in (int, str) else None
        result = message.get("result")
        if request is None:
            return message
        if request.method == CALL:
            self._end_call(request, None, message)
        elif isinstance(result, dict) and request.method == INITIALIZE:
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif isinstance(result, dict) and request.method == TOOLS_LIST and isinstance(result.get("tools"), list):
            return {**message, "result": {**result, "tools": self._reword(request, result)}}
        return message

    def _reword(self, request: OpenRequest, result: Mapping[str, Any]) -> list[Any]:
        """The tools of a page with the client's variants."""
        variants = self._source.current
        served: dict[str, list[str]] = {}
        tools = []
        for tool in result["tools"]:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                variant, wording = variants.choose(name, request.client, chance=self._chance)
                served.setdefault(variant, []).append(name)
                self._served[request.client, name] = variant
                self._schemas[name] = tool.get("inputSchema")
                tools.append(reword(tool, wording))
            else:
                tools.append(tool)
        if not result.get("nextCursor"):
            self._source.note_tools(frozenset(self._schemas))
        self._log.note_list(request.client, served)
        return tools

    def _end_call(self, request: OpenRequest, outcome: str | None, answer: Mapping[str, Any]) -> None:
        if request.method != CALL:
            return
        name = str(params_of(request.message).get("name"))
        self._log.note_call(
            tool=name,
            client=request.client,
            variant=self._served.get((request.client, name)),
            arguments=params_of(request.message).get("arguments"),
            schema=self._schemas.get(name),
            seconds=time.monotonic() - request.started,
            outcome=outcome,
            answer=answer,
        )


async def relay_frames(relay: Relay, client: Peer, attempt: Attempt, *, name: str) -> None:
    """Passes frames in both directions until the client leaves; its first frame starts the server, which has a name.

    Raises CaptureError when the server has gone, hangs or floods, after every request that waits for it got an error.
    """
    first = await _take(relay, client)
    if first is not None:
        await _Exchange(relay, client, attempt, name).run(first)


class _Exchange:
    """A connection under way."""

    _upstream: Peer
    _tasks: TaskGroup

    def __init__(self, relay: Relay, client: Peer, attempt: Attempt, name: str) -> None:
        self._relay, self._client, self._attempt, self._name = relay, client, attempt, name
        self._failure: CaptureError | None = None
        self._sends_since = math.inf

    async def run(self, first: Frame) -> None:
        """Returns when the client has left. Raises CaptureError when the server cannot be used any longer."""
        try:
            connection = connect(self._attempt, self._relay.headers)
            async with connection as self._upstream, anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._pass_up, first)
                for task in (self._pass_down, self._await_hanging, self._switch):
                    self._tasks.start_soon(task)
        except Exception as error:  # noqa: BLE001  # groups of whatever system, SDK and network raise; explained here
            self._attempt.error = error
            if self._failure is None:
                await self._tell_lost()
        if self._failure is not None:
            raise self._failure

    async def _pass_up(self, first: Frame) -> None:
        """From the client to the server, as fast as the server takes it."""
        frame: Frame | None = first
        while frame is not None:
            self._sends_since = time.monotonic()
            try:
                await self._upstream.send(frame)
            except CLOSED:
                return  # the other direction sees why
            except ValueError:
                await self._refuse(frame, is_answer=False)
            self._sends_since = math.inf
            frame = await _take(self._relay, self._client)
        with anyio.move_on_after(LAST_SECONDS):
            while self._relay.pending:  # noqa: ASYNC110  # a server that was sent a script may still be answering
                await anyio.sleep(LAST_SECONDS / 100)
        self._tasks.cancel_scope.cancel()

    async def _pass_down(self) -> None:
        """From the server to the client, as fast as the client takes it."""
        while True:
            try:
                frame = await self._upstream.receive()
            except CLOSED:
                await self._fail()
                return
            except OverflowError as error:
                await self._fail(f"sent {error}")
                return
            try:
                await self._relay.note_server(frame)
                await self._client.send(self._relay.take_from_server(frame))
            except CLOSED:
                self._tasks.cancel_scope.cancel()
                return
            except ValueError:
                await self._refuse(frame, is_answer=True)

    async def _await_hanging(self) -> None:
        """Ends with a server that does not answer its first request, or takes nothing of what is sent.

        A later answer may take as long as the client waits.
        """
        seconds = self._attempt.options.timeout
        while True:
            await anyio.sleep(LOOK_SECONDS)
            latest = time.monotonic() - seconds
            if self._sends_since < latest:
                await self._fail(f"took no message for {seconds:g} s")
            if not self._relay.is_answered and any(
                request.started < latest for request in self._relay.pending.values()
            ):
                self._attempt.timed_out = True
                await self._fail()

    async def _switch(self) -> None:
        """Tells the client when the variants have changed."""
        while True:
            await anyio.sleep(LOOK_SECONDS)
            for frame in await self._relay.switch():
                with suppress(*CLOSED):
                    await self._client.send(frame)

    async def _refuse(self, frame: Frame, *, is_answer: bool) -> None:
        """Answers the requests in a frame, or those that it answers, where a transport over HTTP cannot carry it."""
        for message in frame.messages:
            key = message.get("id")
            if type(key) in (int, str) and is_answer == ("method" not in message):
                self._relay.pending.pop(key, None)
                error = error_frame(key, INVALID_REQUEST, "the message is no single JSON-RPC 2.0 message")
                with suppress(*CLOSED):
                    await self._client.send(error)

    async def _fail(self, why: str | None = None) -> None:
        """Ends the connection for a reason; without one the server says or shows it."""
        await self._tell_lost(why)
        self._tasks.cancel_scope.cancel()

    async def _tell_lost(self, why: str | None = None) -> None:
        why = why or explain_loss(self._attempt, [request.method for request in self._relay.pending.values()])
        self._failure = CaptureError(f"{self._name} {why}")
        with anyio.move_on_after(LAST_SECONDS, shield=True), suppress(*CLOSED):
            for frame in self._relay.lose_server(str(self._failure)):
                await self._client.send(frame)


async def _take(relay: Relay, client: Peer) -> Frame | None:
    """The client's next frame; None when it has left."""
    try:
        frame = await client.receive()
    except CLOSED:
        return None
    relay.take_from_client(frame)
    return frame
