"""The server over streamable HTTP: where it listens, who may connect, health, and what browsers may read."""

import errno
import hmac
import ipaddress
import json
import logging
import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from tdqs_mcp.errors import InputError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

DEFAULT_ADDRESS = "127.0.0.1:8000"

HEALTH = "/health"
"""Where a supervisor asks whether the server answers; without the token, because it tells nothing else."""

IDLE_SECONDS = 1_800.0
"""A session that nobody has used for so long ends; its client then starts another."""

_NAME = r"(\[[0-9a-f:]+\]|[^\s/?#@:\[\]]+)"
_HOST = re.compile(rf"{_NAME}(:[0-9]{{1,5}})?", re.IGNORECASE)
_ORIGIN = re.compile(rf"[a-z][a-z0-9+.-]*://{_NAME}(:([0-9]{{1,5}}|\*))?", re.IGNORECASE)

MAX_SESSIONS = 1_000
"""Sessions at the same time, 36 kB each; a new one ends the one that has been idle for longest."""

MAX_OF_PEER = 250
"""Sessions of one address, so that nobody ends those of everybody else."""

OPENING = 100
"""Sessions that may be opened at one moment, before there is room for them."""

HALF_OPEN_SECONDS = 10.0
"""How long a connection may take to send a request, as long as it sends none or half of one."""

MIN_RATE = 1_000
"""Bytes of a request's body for which it gets another second: a slow link is no attack."""

CALLER: ContextVar[str] = ContextVar("tdqs_mcp_caller", default="")
"""Who calls: the HTTP session, or for requests without one their address; empty for the one client of stdio."""

ADDRESS = "address:"
"""How a caller begins who has no session: several clients may share the address."""

SESSION_HEADER = "mcp-session-id"
"""Name of the header with a session's id; the SDK's own constant costs a second of imports, also for `--help`."""

_RECEIVED = "tdqs.received"
"""The member of a request's scope that counts the bytes of its body."""

MIN_TOKEN = 16
"""Characters of a bearer token: shorter ones can be guessed."""

MAX_BODY = 8 * 2**20
"""Bytes of one request: a catalog of 2,000 tools has about half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """Where the server listens. The token is a credential: it is not in the repr and in no log."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    """Host headers that are answered beside the loopback's: `mcp.example.org` or `mcp.example.org:8443`."""

    allowed_origins: tuple[str, ...] = ()
    """Origins whose pages may call, beside those of the hosts: `https://app.example.org`."""

    @property
    def name(self) -> str:
        """The host in its URL."""
        if not self.is_loopback:
            return re.sub(r":\d+$", "", (*self.allowed_hosts, self.host)[0])
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def hosts(self) -> list[str]:
        """Every Host header that is answered; `:*` stands for any port."""
        names = [*self.allowed_hosts, *((self.name, "127.0.0.1", "localhost", "[::1]") if self.is_loopback else ())]
        return [host for name in names for host in (name, f"{name}:*")]

    @property
    def origins(self) -> list[str]:
        """Every origin whose pages may call; `:*` stands for any port."""
        return [*self.allowed_origins, *(f"{scheme}://{host}" for scheme in ("http", "https") for host in self.hosts)]

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine can connect."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Raises InputError for an address that others can reach without a token and a list of host names."""
        self.check_token()
        if self.is_loopback:
            return
        if self.token is None:
            raise InputError(
                f"{self.host} can be reached by others: set TDQS_SERVE_TOKEN or --token-file, or listen on 127.0.0.1"
            )
        if not self.allowed_hosts:
            raise InputError(
                f"{self.host} can be reached by others: name the hosts it is called by with --allowed-host, as in "
                "--allowed-host mcp.example.org"
            )

    def check_token(self) -> None:
        """Raises InputError for a token that can be guessed."""
        if self.token is not None and len(self.token) < MIN_TOKEN:
            raise InputError(f"the token has fewer than {MIN_TOKEN} characters; make one with: openssl rand -hex 32")


def read_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, `[::1]:PORT` or `PORT`. Raises InputError."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        raise InputError(f"{text!r} is not an address; give HOST:PORT, as in 127.0.0.1:8000")
    return host.strip("[]") or "127.0.0.1", int(port)


def run_http(app: "ASGIApp", http: Http, *, log_level: str, tell: Callable[[str], None]) -> None:
    """Serves until somebody ends it; `tell` gets the URL as soon as clients can connect. Raises InputError."""
    import uvicorn  # noqa: PLC0415  # only HTTP needs it

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it would report each open event stream
            super().handle_exit(sig, frame)

        async def on_tick(self, counter: int) -> bool:
            if counter % TICKS == 0:
                half_open.close(self.server_state.connections)
            return await super().on_tick(counter)

    half_open = _HalfOpen()
    listening = _listen(http)
    is_verbose = log_level in ("debug", "info")
    config = uvicorn.Config(
        app,
        log_level=log_level,
        access_log=is_verbose,
        server_header=False,
        timeout_graceful_shutdown=0,
        ws="none",
    )
    # Its own handler writes to standard output.
    logging.getLogger("uvicorn.access").handlers = logging.getLogger("uvicorn").handlers
    tell(f"http://{http.name}:{listening.getsockname()[1]}")
    Server(config).run(sockets=[listening])


TICKS = 10
"""A tick of uvicorn is a tenth of a second."""


class _HalfOpen:
    """Connections that have not sent a whole request, which no setting of uvicorn ends.

    Measured with uvicorn 0.54, timeout_keep_alive=5, h11_max_incomplete_event_size=16384, limit_concurrency=3: three
    connections that send nothing, half a line and half a head stay open (25 s and more), and everybody else gets 503.
    """

    def __init__(self) -> None:
        self._since: dict[Any, tuple[object, float]] = {}
        """By connection, the last request that it has sent, and when it was first seen without a new one."""

    def close(self, connections: Iterable[Any]) -> None:
        """Closes those that take too long."""
        now, before = time.monotonic(), self._since
        self._since = {}
        for connection in connections:
            request = connection.cycle
            if request is None or request.response_complete or request.more_body:
                last, since = before.get(connection, (None, now))
                self._since[connection] = (request, since if last is request else now)
                received = request.scope.get(_RECEIVED, 0) if request is not None and request.more_body else 0
                if now - self._since[connection][1] > HALF_OPEN_SECONDS + received / MIN_RATE:
                    connection.transport.abort()


def _listen(http: Http) -> socket.socket:
    """A socket that clients can connect to. Raises InputError."""
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    try:
        listening = socket.create_server((http.host, http.port), family=family)
    except OSError as error:
        details = {
            errno.EADDRINUSE: f"another program listens on port {http.port}; end it, or give another port, as in "
            f"--http {http.host}:{http.port + 1}",
            errno.EACCES: f"port {http.port} needs special rights here; give one from 1024 on",
            errno.EADDRNOTAVAIL: f"{http.host} is not an address of this machine; give 127.0.0.1 or 0.0.0.0",
        }
        unknown = f"{http.host} cannot be listened on ({error.strerror}); give HOST:PORT, as in {DEFAULT_ADDRESS}"
        raise InputError(details.get(error.errno or 0, unknown)) from error
    # Connections inherit it. Without it the body of an answer waits 40 ms for the client to acknowledge the headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def http_app(server: "MCPServer[Any]", http: Http) -> "ASGIApp":
    """The ASGI application of a server: what is common to all, then Host and Origin, then the protocol."""
    server.custom_route(HEALTH, methods=["GET"])(answer_health)
    app: ASGIApp = server.streamable_http_app(
        host=http.host,
        transport_security=read_security(http),
        max_request_body_size=MAX_BODY,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MAX_SESSIONS + OPENING,
    )
    return protect(_Sessions(app), http)


async def answer_health(_: "Request") -> "Response":
    """That the server answers."""
    from importlib.metadata import version  # noqa: PLC0415

    from starlette.responses import JSONResponse  # noqa: PLC0415

    return JSONResponse({"status": "ok", "version": version("tdqs-mcp")})


def read_security(http: Http) -> "TransportSecuritySettings":
    """The check of Host and Origin."""
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=http.hosts, allowed_origins=http.origins
    )


def protect(app: "ASGIApp", http: Http) -> "ASGIApp":
    """The application behind what browsers may read, and the token."""
    from starlette.middleware.cors import CORSMiddleware  # noqa: PLC0415

    app = _normalizing(_answering_once(app))
    return CORSMiddleware(
        app if http.token is None else _guarded(app, http.token),
        allow_origin_regex="|".join(re.escape(origin).replace(r":\*", r":\d+") for origin in http.origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=[SESSION_HEADER, "mcp-protocol-version", "www-authenticate"],
    )


@dataclass(slots=True, kw_only=True)
class _Session:
    peer: str
    requests: int = 0
    """Requests under way, an open event stream among them."""


class _Sessions:
    """Ends the sessions that have been idle for longest where there are too many; their clients start others."""

    def __init__(self, app: "ASGIApp") -> None:
        """The application that opens a session where an answer names one."""
        self._app = app
        self._open: dict[str, _Session] = {}
        """By id, the one that has been idle for longest first."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, and note the session that it uses or opens."""
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        name = headers.get(SESSION_HEADER.encode(), b"").decode("latin-1")
        session = self._open.get(name)
        before = len(self._open)

        async def note(message: Any) -> None:  # noqa: ANN401  # an ASGI message
            if message["type"] == "http.response.start":
                opened = dict(message["headers"]).get(SESSION_HEADER.encode(), b"").decode("latin-1")
                if not name and opened:
                    self._open[opened] = _Session(peer=scope["client"][0] if scope.get("client") else "")
                elif message["status"] == NOT_FOUND or scope["method"] == "DELETE":
                    self._open.pop(name, None)
            await send(message)

        if session:
            session.requests += 1
        try:
            await self._app(scope, receive, note if scope["type"] == "http" else send)
        finally:
            if session:
                session.requests -= 1
                if name in self._open:  # it is now the one that was used last
                    self._open[name] = self._open.pop(name)
        if len(self._open) > before:
            for surplus in self._surplus(scope):
                await self._end(surplus, scope)

    def _surplus(self, scope: "Scope") -> list[str]:
        """The sessions that have to end: first of this request's own address, then of all."""
        peer = scope["client"][0] if scope.get("client") else ""
        own = [name for name, session in self._open.items() if session.peer == peer]
        idle = {name: None for name, session in self._open.items() if not session.requests}
        ending = [name for name in own if name in idle][: max(0, len(own) - MAX_OF_PEER)]
        waiting_names = [name for name in idle if name not in ending]
        return ending + waiting_names[: max(0, len(self._open) - len(ending) - MAX_SESSIONS)]

    async def _end(self, name: str, scope: "Scope") -> None:
        self._open.pop(name, None)
        kept_headers = [pair for pair in scope["headers"] if pair[0] in (b"host", b"origin", b"authorization")]

        async def nothing(*_: object) -> Any:  # noqa: ANN401  # an ASGI message
            return {"type": "http.request"}

        headers = [*kept_headers, (SESSION_HEADER.encode(), name.encode("latin-1"))]
        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, nothing)


NOT_FOUND = 404


def _normalizing(app: "ASGIApp") -> "ASGIApp":
    """Compare hosts without case, and count what arrives of a request's body."""

    async def pass_on(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        scope["headers"] = [(name, value.lower() if name == b"host" else value) for name, value in scope["headers"]]

        async def count() -> Any:  # noqa: ANN401  # an ASGI message
            message = await receive()
            scope[_RECEIVED] = scope.get(_RECEIVED, 0) + len(message.get("body", b""))
            return message

        await app(scope, count, send)

    return pass_on


def _answering_once(app: "ASGIApp") -> "ASGIApp":
    """Ends where the SDK would log a traceback and answer again: a session may end before its notification is in."""
    from anyio import ClosedResourceError  # noqa: PLC0415

    def is_news(record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], ClosedResourceError))

    async def answer(scope: "Scope", receive: "Receive", send: "Send") -> None:
        try:
            await app(scope, receive, send)
        except RuntimeError as error:
            if not isinstance(error.__context__, ClosedResourceError):
                raise

    logging.getLogger("mcp.server.streamable_http").addFilter(is_news)
    return answer


def _guarded(app: "ASGIApp", token: str) -> "ASGIApp":
    """Answers 401 to every HTTP request without the token, compared in constant time; health is for everybody."""
    from starlette.datastructures import Headers  # noqa: PLC0415
    from starlette.responses import PlainTextResponse  # noqa: PLC0415

    expected = token.encode()

    async def guard(scope: "Scope", receive: "Receive", send: "Send") -> None:
        headers = Headers(scope=scope).getlist("authorization") if scope["type"] == "http" else []
        scheme, _, sent = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
        is_known = scheme.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), expected)
        if scope["type"] == "lifespan" or is_known or scope.get("path") == HEALTH:
            await app(scope, receive, send)
            return
        fault, error = ("is not the one", ' error="invalid_token"') if headers else ("is missing", "")
        message = (
            f"The bearer token {fault} that the operator of this server has set; send Authorization: Bearer TOKEN.\n"
        )
        answer = PlainTextResponse(message, status_code=401, headers={"www-authenticate": f"Bearer{error}"})
        await answer(scope, receive, send)

    return guard


def tell_url(url: str, *, name: str, has_token: bool) -> None:
    """Says where clients can connect, and how they name the server at this URL."""
    url = f"{url}/mcp"
    entry: dict[str, Any] = {"type": "http", "url": url}
    if has_token:
        entry["headers"] = {"Authorization": "Bearer TOKEN"}
    entry_text = client_configuration(name, entry)
    click.echo(f"serving {url} (Ctrl-C ends it); for a client:\n{entry_text}", err=True)


def client_configuration(name: str, entry: Mapping[str, Any]) -> str:
    """Return what stands in a client's configuration."""
    return json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False)


def http_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say where to listen and who may connect, as `http: Http | None`."""

    @wraps(callback)
    def call(**options: Any) -> Any:  # noqa: ANN401  # those of the callback, and what it returns
        where = {name: options.pop(name) for name in ("address", "token_file", "allowed_hosts", "allowed_origins")}
        return callback(http=read_http(**where), **options)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


_OPTIONS = (
    click.option(
        "--http",
        "address",
        is_flag=False,
        flag_value=DEFAULT_ADDRESS,
        metavar="[HOST:PORT]",
        help=f"Serve streamable HTTP at /mcp instead of stdio, on {DEFAULT_ADDRESS} unless another address is given.",
    ),
    click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Bearer token that HTTP clients must send; or set TDQS_SERVE_TOKEN.",
    ),
    click.option(
        "--allowed-host", "allowed_hosts", multiple=True, metavar="HOST", help="Host name that HTTP answers to."
    ),
    click.option(
        "--allowed-origin",
        "allowed_origins",
        multiple=True,
        metavar="ORIGIN",
        help="Origin whose pages may call the server over HTTP, such as https://app.example.org.",
    ),
)


def read_http(
    address: str | None, *, token_file: Path | None, allowed_hosts: tuple[str, ...], allowed_origins: tuple[str, ...]
) -> Http | None:
    """Where to listen and who may connect; None for stdio. Raises InputError."""
    if address is None:
        if token_file or allowed_hosts or allowed_origins:
            raise InputError("--token-file, --allowed-host and --allowed-origin belong to --http HOST:PORT")
        return None
    check_hosts(allowed_hosts)
    host, port = read_address(address)
    origins = tuple(map(_read_origin, allowed_origins))
    http = Http(
        host=host,
        port=port,
        token=read_token("TDQS_SERVE_TOKEN", token_file),
        allowed_hosts=tuple(map(str.lower, allowed_hosts)),
        allowed_origins=origins,
    )
    http.check()
    return http


def check_hosts(names: Sequence[str]) -> None:
    """Raises InputError for what no Host header can be."""
    for wrong in (name for name in names if not _HOST.fullmatch(name)):
        raise InputError(f"{wrong!r} is not a host; give it as in mcp.example.org, without a scheme or a path")


def _read_origin(text: str) -> str:
    """An origin as browsers send it. Raises InputError."""
    if not _ORIGIN.fullmatch(text):
        raise InputError(
            f"{text!r} is not an origin; give SCHEME://HOST, as in https://app.example.org, without a path"
        )
    return text.lower()


def read_token(variable: str, file: Path | None = None) -> str | None:
    """The token that was meant; an empty one is refused, because somebody wanted protection."""
    if file is None and variable not in os.environ:
        return None
    source = variable if file is None else f"the token file {str(file)!r}"
    try:
        token = (os.environ[variable] if file is None else file.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeError) as error:
        raise InputError(f"{source} cannot be read as text; make one with: openssl rand -hex 32") from error
    if not token:
        raise InputError(f"{source} is empty; put a token there or take the option away")
    return token
