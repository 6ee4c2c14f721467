"""The relay between a client and a server: what passes, what is rewritten, and how either end leaves."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import CLIENT_INFO_META_KEY, INTERNAL_ERROR, INVALID_REQUEST

from tdqs_mcp.errors import CaptureError
from tdqs_mcp.router.call_log import CallLog
from tdqs_mcp.router.frames import (
    CLOSED,
    Frame,
    Peer,
    Server,
    error_frame,
    make_frame,
    meta_of,
    request_headers,
)
from tdqs_mcp.router.variants import Wordings, reword
from tdqs_mcp.sources.recording import INITIALIZE, TOOLS_LIST, server_info

LOOK_SECONDS = 1.0
"""How often the variants and the server are looked at."""

LAST_SECONDS = 1.0
"""How long the answers of a server are still waited for when its client has sent its last message, and the other way
round how long a client may take to read that its server has gone."""

CANCELLED = "notifications/cancelled"
LIST_CHANGED = "notifications/tools/list_changed"
CALL = "tools/call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of a client that has no answer yet."""

    message: Mapping[str, Any]
    client: str | None
    """The name that the client gives of itself."""

    started: float = field(default_factory=time.monotonic)

    @property
    def method(self) -> str:
        """What it asks for."""
        return str(self.message["method"])

    @property
    def params(self) -> Mapping[str, Any]:
        """Its parameters."""
        found = self.message.get("params")
        return found if isinstance(found, dict) else {}


class Relay:
    """What one connection has to remember: requests without an answer, and what the server has listed."""

    def __init__(self, wordings: Wordings, *, log: Callable[[Mapping[str, Any]], None], calls: CallLog | None) -> None:
        """`log` gets which variant was served; `calls` the outcome of calls."""
        self.pending: dict[Any, Request] = {}
        """By id."""

        self.schemas: dict[str, Any] = {}
        """The input schemas of the tools that were listed."""

        self.asked, self.answered = anyio.Event(), anyio.Event()
        """Set by the first request and by the first message of the server."""

        self._wordings = wordings
        self._log, self._calls = log, calls
        self._seen = wordings.current
        self._client: str | None = None
        self._version: str | None = None
        self._served: dict[tuple[str | None, str], str] = {}
        self._is_ready = False

    def headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """The HTTP headers of a message to the server."""
        return request_headers(message, version=self._version, schemas=self.schemas)

    def take_from_client(self, frame: Frame) -> None:
        """Notes what a client sends; it passes as it is."""
        for message in frame.messages:
            method, params = message.get("method"), message.get("params")
            if method == CANCELLED and isinstance(params, dict):
                self._forget(params.get("requestId"))
            elif method == "notifications/initialized":
                self._is_ready = True
            elif isinstance(method, str) and type(message.get("id")) in (int, str):
                self._note_request(message)

    def take_from_server(self, frame: Frame) -> Frame:
        """What the client gets of a server's frame: another one for a list of tools."""
        self.answered.set()
        messages = frame.messages
        changed = {id(each): self._take_answer(each) for each in messages if "method" not in each and "id" in each}
        if not any(new is not None for new in changed.values()):
            return frame
        new = [changed.get(id(each)) or each for each in messages]
        try:
            return make_frame(new if isinstance(frame.value, list) else new[0])
        except RecursionError:  # nested as deeply as this interpreter can go
            return frame

    def related(self, message: Mapping[str, Any]) -> Any:  # noqa: ANN401  # an id
        """The pending request that a message of the server names by its token; of one without a token the last."""
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        if token is None:
            return next(reversed(self.pending), None)
        tokens = {key: meta_of(request.message).get("progressToken") for key, request in self.pending.items()}
        return next((key for key, known in tokens.items() if known == token), None)

    def lose_server(self, reason: str) -> list[Frame]:
        """The errors for every request that gets no answer any more."""
        lost = [error_frame(key, INTERNAL_ERROR, reason) for key in self.pending]
        for key in list(self.pending):
            self._end_call(self.pending.pop(key), "lost", {})
        return lost

    async def note_server(self, frame: Frame) -> None:
        """Reads the variants of a server that says its name for the first time."""
        for message in frame.messages if self._wordings.server is None else ():
            result = message.get("result")
            name = (server_info(result) or {}).get("name") if isinstance(result, dict) else None
            if isinstance(name, str):
                await self._wordings.refresh(name)
                self._seen = self._wordings.current

    async def switch(self) -> list[Frame]:
        """The notifications that are due when the variants have changed since the last look."""
        await self._wordings.refresh()
        if self._wordings.current is self._seen:
            return []
        self._seen = self._wordings.current
        notified: list[dict[str, Any]] = [{}] if self._is_ready else []
        notified += [{"params": {"_meta": {SUBSCRIPTION_ID_META_KEY: key}}} for key in self._listeners()]
        return [make_frame({"jsonrpc": "2.0", "method": LIST_CHANGED, **each}) for each in notified]

    def _listeners(self) -> Iterator[Any]:
        """The subscriptions of the newer era that want to know about tools."""
        for key, request in self.pending.items():
            wanted = request.params.get("notifications") if request.method == "subscriptions/listen" else None
            if isinstance(wanted, dict) and wanted.get("toolsListChanged") is True:
                yield key

    def _note_request(self, message: Mapping[str, Any]) -> None:
        request = Request(message=message, client=self._client)
        is_first = request.method == INITIALIZE
        info = request.params.get("clientInfo") if is_first else meta_of(message).get(CLIENT_INFO_META_KEY)
        name = info.get("name") if isinstance(info, dict) else None
        if isinstance(name, str):
            request = replace(request, client=name)
            self._client = name if is_first else self._client
        self.pending[message["id"]] = request
        self.asked.set()

    def _forget(self, key: Any) -> None:  # noqa: ANN401  # an id
        if type(key) in (int, str) and (request := self.pending.pop(key, None)):
            self._end_call(request, "cancelled", {})

    def _take_answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Notes an answer; a changed one for a list of tools."""
        key = message["id"]
        request = self.pending.pop(key, None) if type(key) in (int, str) else None
        result = message.get("result")
        if request is None:
            return None
        if request.method == CALL:
            self._end_call(request, None, message)
        elif isinstance(result, dict) and request.method == INITIALIZE:
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
        elif isinstance(result, dict) and request.method == TOOLS_LIST and isinstance(result.get("tools"), list):
            return {**message, "result": {**result, "tools": self._reword(request, result)}}
        return None

    def _reword(self, request: Request, result: Mapping[str, Any]) -> list[Any]:
        """The tools of a page with the client's variants."""
        variants = self._wordings.current
        served: dict[str, list[str]] = {}
        tools = []
        for tool in result["tools"]:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                variant, wording = variants.choose(name, request.client)
                served.setdefault(variant, []).append(name)
                self._served[request.client, name] = variant
                self.schemas[name] = tool.get("inputSchema")
                tools.append(reword(tool, wording))
            else:
                tools.append(tool)
        if not result.get("nextCursor"):
            self._wordings.note_tools(frozenset(self.schemas))
        self._log({"event": TOOLS_LIST, "client": request.client, "served": served})
        return tools

    def _end_call(self, request: Request, outcome: str | None, answer: Mapping[str, Any]) -> None:
        if self._calls is None or request.method != CALL:
            return
        name = str(request.params.get("name"))
        self._calls.note(
            tool=name,
            client=request.client,
            variant=self._served.get((request.client, name)),
            arguments=request.params.get("arguments"),
            schema=self.schemas.get(name),
            seconds=time.monotonic() - request.started,
            outcome=outcome,
            answer=answer,
        )


async def relay_frames(relay: Relay, client: Peer, server: Server) -> None:
    """Passes frames in both directions until the client leaves.

    Raises CaptureError when the server has gone, hangs or floods, after every request that waits for it got an error.
    """
    failure: Exception | None = None
    try:
        async with server.connect(relay.headers) as upstream:
            failure = await _Exchange(relay, client, upstream, server).run()
    except Exception as error:  # noqa: BLE001  # groups of whatever system, SDK and network raise; explained here
        failure = failure or server.explain(pending=_methods(relay), error=error)
        await _tell_lost(relay, client, str(failure))
    if failure is not None:
        raise failure


class _Exchange:
    """One connection under way."""

    def __init__(self, relay: Relay, client: Peer, upstream: Peer, server: Server) -> None:
        self._relay, self._client, self._upstream, self._server = relay, client, upstream, server
        self._failure: CaptureError | None = None
        self._tasks: TaskGroup = anyio.create_task_group()
        self._sends_since = math.inf

    async def run(self) -> CaptureError | None:
        """Why the server could not be used any longer; None when the client has left."""
        async with self._tasks:
            for task in (self._pass_up, self._pass_down, self._await_first_answer, self._await_blocking, self._switch):
                self._tasks.start_soon(task)
        return self._failure

    async def _pass_up(self) -> None:
        """From the client to the server, as fast as the server takes it."""
        while (frame := await _receive(self._client)) is not None:
            self._relay.take_from_client(frame)
            self._sends_since = anyio.current_time()
            try:
                await self._upstream.send(frame)
            except CLOSED:
                return  # the other direction sees why
            except ValueError:
                await self._refuse(frame, is_answer=False)
            self._sends_since = math.inf
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
                await self._fail(str(error))
                return
            try:
                await self._relay.note_server(frame)
                await self._client.send(self._relay.take_from_server(frame))
            except CLOSED:
                self._tasks.cancel_scope.cancel()
                return
            except ValueError:
                await self._refuse(frame, is_answer=True)

    async def _await_first_answer(self) -> None:
        """A server that does not start hangs; later it may take as long as the client waits."""
        await self._relay.asked.wait()
        with anyio.move_on_after(self._server.options.timeout) as limit:
            await self._relay.answered.wait()
        if limit.cancelled_caught:
            await self._fail(timed_out=True)

    async def _await_blocking(self) -> None:
        """A server that takes nothing of what is sent hangs."""
        seconds = self._server.options.timeout
        while anyio.current_time() - self._sends_since <= seconds:  # noqa: ASYNC110  # no event says that time passes
            await anyio.sleep(LOOK_SECONDS)
        await self._fail(f"took no message for {seconds:g} s")

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
                told = error_frame(key, INVALID_REQUEST, "the message is no single JSON-RPC 2.0 message")
                with suppress(*CLOSED):
                    await self._client.send(told)

    async def _fail(self, why: str | None = None, *, timed_out: bool = False) -> None:
        """Ends the connection for a reason; without one the server says or shows it."""
        said = self._server.explain(pending=_methods(self._relay), timed_out=timed_out)
        self._failure = said if why is None else CaptureError(f"{self._server.name} {why}")
        await _tell_lost(self._relay, self._client, str(self._failure))
        self._tasks.cancel_scope.cancel()


async def _receive(client: Peer) -> Frame | None:
    try:
        return await client.receive()
    except CLOSED:
        return None


async def _tell_lost(relay: Relay, client: Peer, reason: str) -> None:
    with anyio.move_on_after(LAST_SECONDS, shield=True):
        for frame in relay.lose_server(reason):
            try:
                await client.send(frame)
            except CLOSED:
                return


def _methods(relay: Relay) -> list[str]:
    return [request.method for request in relay.pending.values()]
