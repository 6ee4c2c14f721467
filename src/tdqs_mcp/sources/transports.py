"""Transports to live servers over HTTP and to server objects of this process."""

import importlib
import logging
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, redirect_stdout, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import httpx2
from mcp.client._memory import InMemoryTransport  # the transport of Client(server, mode="legacy"), public only there
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer

from tdqs_mcp.errors import InputError
from tdqs_mcp.sources.failure import Reply
from tdqs_mcp.sources.locator import InProcess, LiveOptions
from tdqs_mcp.sources.recording import shield_surrogates


@asynccontextmanager
async def streamable_http(url: str, options: LiveOptions, replies: list[Reply]) -> AsyncGenerator[Any]:
    """The streamable HTTP transport; it reads at most `max_bytes` of any one response."""
    async with (
        _client(options, replies, headers=options.headers, timeout=httpx2.Timeout(options.timeout)) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=options.max_bytes) as streams,
    ):
        yield streams


def sse(url: str, options: LiveOptions, replies: list[Reply]) -> AbstractAsyncContextManager[Any]:
    """The older HTTP+SSE transport; the SDK bounds one event of it at 1 MiB."""

    def make(
        headers: dict[str, Any] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return _client(options, replies, headers=headers, timeout=timeout, auth=auth)

    return sse_client(
        url,
        headers=dict(options.headers),
        timeout=options.timeout,
        sse_read_timeout=options.timeout,
        httpx_client_factory=make,
    )


def _client(options: LiveOptions, replies: list[Reply], **settings: Any) -> httpx2.AsyncClient:  # noqa: ANN401  # httpx2's own
    async def note(response: httpx2.Response) -> None:
        replies.append(
            Reply(
                status=response.status_code,
                content_type=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                retry_after=response.headers.get("retry-after"),
            )
        )
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the answer is compressed although that was declined", request=response.request)
        response.stream = _Body(response.stream, options.max_bytes)

    return httpx2.AsyncClient(
        transport=_Admitted(options.admit) if options.admit else None,
        trust_env=options.admit is None,
        # Compression is declined: a few kilobytes of it can unpack to gigabytes.
        headers={"accept-encoding": "identity", **(settings.pop("headers", None) or {})},
        event_hooks={"response": [note]},
        **settings,
    )


class _Admitted(httpx2.AsyncHTTPTransport):
    """Connects to admitted addresses only: the name is not resolved again between the check and the connection."""

    def __init__(self, admit: Callable[[str], Awaitable[list[str]]]) -> None:
        super().__init__(trust_env=False)
        self._admit = admit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            addresses = await self._admit(str(request.url))
        except InputError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        for address in addresses[:-1]:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await super().handle_async_request(_pinned(request, address))
        return await super().handle_async_request(_pinned(request, addresses[-1]))


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The request to one address; the Host header and the certificate's name stay those of the URL."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


class _Body(httpx2.AsyncByteStream):
    """A response body that fails when it grows beyond the limit, handed on in whole lines that the SDK can parse."""

    def __init__(self, inner: Any, limit: int) -> None:  # noqa: ANN401  # sync or async, as the transport made it
        self._inner = inner
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        line: list[bytes] = []
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("the answer is larger than the byte limit")
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                yield shield_surrogates(b"".join([*line, chunk[:end]]))
                line = []
            line.append(chunk[end:])
        yield shield_surrogates(b"".join(line))

    async def aclose(self) -> None:
        await self._inner.aclose()


@contextmanager
def import_environment(*, cwd: str | None, env: Mapping[str, str]) -> Generator[None]:
    """The import path and environment that the module expects; both as before on leaving."""
    folder = str(Path(cwd or ".").resolve())
    before = {name: os.environ.get(name) for name in env}
    sys.path.insert(0, folder)
    os.environ.update(env)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def import_server(locator: InProcess) -> InMemoryTransport:
    """Imports the module and gives a transport to its server; what the module prints goes to stderr.

    The attribute is an MCPServer, a low-level Server, a FastMCP or a function without parameters that makes one. Raises
    InputError when the import fails or the attribute is none of them.
    """
    spelled = f"py:{locator.module}:{locator.attribute}"
    with redirect_stdout(sys.stderr), _kept_logging():
        return object_transport(_import(locator, spelled), spelled)


def object_transport(found: object, spelled: str) -> InMemoryTransport:
    """A transport to a server object, or to the one that a function without parameters makes. Raises InputError."""
    server = _server(found)
    if server is None and callable(found):
        server = _server(_call(found, spelled))
    if server is None:
        kind = type(found).__name__
        raise InputError(f"{spelled} is {kind!r}; name an MCPServer, Server or FastMCP, or a function that makes one")
    return InMemoryTransport(server)


@contextmanager
def _kept_logging() -> Generator[None]:
    """An MCPServer configures the root logger when it is made; ours stays as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _import(locator: InProcess, spelled: str) -> Any:  # noqa: ANN401  # whatever the module holds
    try:
        module = importlib.import_module(locator.module)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{spelled} cannot be imported ({what}); check the name, --cwd and what it needs") from error
    try:
        return attrgetter(locator.attribute)(module)
    except AttributeError as error:
        names = [name for name, value in vars(module).items() if _server(value) is not None]
        hint = f"; it has {', '.join(map(repr, names))}" if names else ""
        raise InputError(f"module {locator.module!r} has no attribute {locator.attribute!r}{hint}") from error


def _call(factory: Any, spelled: str) -> Any:  # noqa: ANN401
    try:
        return factory()
    except (Exception, SystemExit) as error:  # a foreign function may raise anything
        raise InputError(
            f"{spelled}() failed ({type(error).__name__}: {error}); it must work without arguments"
        ) from error


def _server(found: object) -> Server[Any] | MCPServer | None:
    """The server itself, or the SDK's server inside a FastMCP 4."""
    if isinstance(found, MCPServer | Server):
        return found
    inner = getattr(found, "_mcp_server", None)
    return inner if isinstance(inner, Server) else None
