"""`tdqs-mcp serve`: its options, and the server over stdio or over HTTP behind Host, Origin and bearer token checks."""

import gc
import hmac
import ipaddress
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import click
from cachetools import LRUCache

from tdqs_mcp.app.judge_factory import make_judge, open_cache
from tdqs_mcp.app.settings import CHOICES, Settings, read_settings
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.judges.budget import Budget, read_dollars
from tdqs_mcp.judges.judge import Cache, CacheKey
from tdqs_mcp.server.permissions import Permissions, read_pattern

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tdqs_mcp.server.context import FullServer

MAX_ANSWERS = 10_000
"""Answers in memory: five of the largest catalogs that a call may bring."""

MIN_TOKEN = 16
"""Characters of a bearer token: shorter ones can be guessed."""

MAX_BODY = 8 * 2**20
"""Bytes of one request: a catalog of 2,000 tools has about half."""

WEBSITE = "https://github.com/tdqs-mcp/tdqs-mcp"

ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'>"
    "<path d='M1 5h1v2H1zm2-2h1v4H3zm2-2h1v6H5z'/></svg>"
)
"""Three bars; 8 by 8, because the protocol repeats it in answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """Where the server listens. The token is a credential: it is not in the repr and in no log."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    """Host headers that are answered beside the loopback's: `mcp.example.org` or `mcp.example.org:8443`."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Raises InputError for an address that others can reach without a token and a list of host names."""
        if self.token is not None and len(self.token) < MIN_TOKEN:
            raise InputError(f"the token has fewer than {MIN_TOKEN} characters; make one with: openssl rand -hex 32")
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


def read_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, `[::1]:PORT` or `PORT`. Raises InputError."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        raise InputError(f"{text!r} is not an address; give HOST:PORT, as in 127.0.0.1:8000")
    return host.strip("[]") or "127.0.0.1", int(port)


class AnswerCache:
    """The callers' judgements: in memory, and behind it on disk, where the operator keeps any."""

    def __init__(self, open_cache: Callable[[], Cache | None]) -> None:
        """Opens the disk's cache when the first answer is looked up."""
        self._open = open_cache
        self._latest: LRUCache[CacheKey, str] = LRUCache(MAX_ANSWERS)
        self._lock = Lock()

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""
        with self._lock:
            known = self._latest.get(key)
        return self._disk.get(key) if known is None and self._disk else known

    def put(self, key: CacheKey, answer: str) -> None:
        """Keeps an answer in place of an earlier one."""
        with self._lock:
            self._latest[key] = answer
        if self._disk:
            self._disk.put(key, answer)

    @cached_property
    def _disk(self) -> Cache | None:
        return self._open()


def make_server(
    *,
    permissions: Permissions,
    settings: Settings,
    timeout: float = 60.0,
    open_cache: Callable[[], Cache | None] = lambda: None,
) -> "MCPServer[Any]":
    """The server, ready for any transport; `open_cache` opens the place where callers' answers outlive it.

    Raises InputError for a judge that cannot be asked.
    """
    from importlib.metadata import version  # noqa: PLC0415

    from mcp.types import Icon  # noqa: PLC0415

    from tdqs_mcp.server.lazy_server import LazyServer  # noqa: PLC0415  # the SDK: half a second, which only a server pays

    answers = AnswerCache(open_cache)
    # A jury with the caller on it is asked again with every batch, so its answers are kept in any case.
    judge = make_judge(settings, cache=answers if settings.has_host else None)

    def build() -> "FullServer":
        # Imported after the client has its first answer.
        from tdqs_mcp.server.context import FullServer, ServerContext  # noqa: PLC0415
        from tdqs_mcp.server.judge_tools import JudgeTools  # noqa: PLC0415
        from tdqs_mcp.server.rewrite_tools import RewriteTools  # noqa: PLC0415
        from tdqs_mcp.server.score_tools import ScoreTools  # noqa: PLC0415

        context = ServerContext(
            permissions=permissions, answers=answers, judge=judge, has_host=settings.has_host, timeout=timeout
        )
        return FullServer(context, (ScoreTools, RewriteTools, JudgeTools))

    return LazyServer(
        build,
        name="tdqs-mcp",
        title="Tool definition quality",
        description="Scores, lints and rewrites MCP tool definitions",
        instructions=" ".join(files("tdqs_mcp.server").joinpath("instructions.txt").read_text("utf-8").split()),
        version=version("tdqs-mcp"),
        website_url=WEBSITE,
        icons=[Icon(src=ICON, mime_type="image/svg+xml", sizes=["any"])],
        log_level="WARNING",
        max_message=MAX_BODY,
    )


def run_server(server: "MCPServer[Any]", http: Http | None = None) -> None:
    """Serves until the client has gone, or for ever over HTTP."""
    if http is None:
        server.run("stdio")
        return
    import uvicorn  # noqa: PLC0415  # only HTTP needs it

    config = uvicorn.Config(
        http_app(server, http),
        host=http.host,
        port=http.port,
        log_level="warning",
        access_log=False,
        server_header=False,
    )
    uvicorn.Server(config).run()


def http_app(server: "MCPServer[Any]", http: Http) -> "ASGIApp":
    """The ASGI application: the token first, then Host and Origin, then the protocol."""
    app = server.streamable_http_app(host=http.host, transport_security=_security(http), max_request_body_size=MAX_BODY)
    return app if http.token is None else _guarded(app, http.token)


def _security(http: Http) -> "TransportSecuritySettings":
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

    names = [*http.allowed_hosts, *(("127.0.0.1", "localhost", "[::1]") if http.is_loopback else ())]
    hosts = [host for name in names for host in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
    )


def _guarded(app: "ASGIApp", token: str) -> "ASGIApp":
    """Answers 401 to every HTTP request without the token, compared in constant time."""
    from starlette.datastructures import Headers  # noqa: PLC0415
    from starlette.responses import Response  # noqa: PLC0415

    expected = token.encode()

    async def guard(scope: "Scope", receive: "Receive", send: "Send") -> None:
        given = Headers(scope=scope).getlist("authorization") if scope["type"] == "http" else []
        scheme, _, sent = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        is_known = scheme.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), expected)
        if scope["type"] == "lifespan" or is_known:
            await app(scope, receive, send)
        else:
            await Response(status_code=401, headers={"www-authenticate": "Bearer"})(scope, receive, send)

    return guard


def _read_with(read: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A click callback that reads an option's value; None stays None."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:  # noqa: ANN401  # what click hands over
        try:
            return None if value is None else read(value)
        except InputError as error:
            raise click.BadParameter(str(error)) from error

    return callback


_read_patterns = _read_with(lambda values: tuple(map(read_pattern, values)))
_read_cost = _read_with(read_dollars)


@click.command()
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp instead of stdio.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Bearer token that HTTP clients must send; or set TDQS_SERVE_TOKEN.",
)
@click.option("--allowed-host", "allowed_hosts", multiple=True, metavar="HOST", help="Host name that HTTP answers to.")
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder whose files may be read.",
)
@click.option("--allow-config", "configs", multiple=True, metavar="NAME", help="config:NAME may be started or opened.")
@click.option(
    "--allow-url", "urls", multiple=True, metavar="PATTERN", callback=_read_patterns, help="These URLs may be opened."
)
@click.option("--allow-stdio", "may_start", is_flag=True, help="Any stdio: command may be started.")
@click.option("--allow-py", "may_import", is_flag=True, help="Any py: module may be imported.")
@click.option("--judge", help=f"The configured judge: {CHOICES}; jury:NAME,host has a seat for the caller.")
@click.option("--base-url", help="Where the judging model answers.")
@click.option("--model", help="The model that judges.")
@click.option("--max-calls", type=click.IntRange(min=0), help="At most this many requests to models, for all callers.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="At most this many tokens, for all callers.")
@click.option("--max-cost", metavar="DOLLARS", callback=_read_cost, help="At most this much money, for all callers.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds for a live server."
)
def serve(*, address: str | None, token_file: Path | None, allowed_hosts: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401  # those of `configure_server`
    """Run the MCP server, on stdio unless --http is given.

    Definitions that come with a call are always scored. What else a caller may have read, started or opened is what the
    options allow. What the configured judge may take, it may take once, until the server ends.
    """
    try:
        http = _read_http(address, token_file, allowed_hosts)
        # What the SDK allocates on import stays for good: collecting it again and again costs an eighth of the start.
        gc.disable()
        server = configure_server(os.environ, **options)
        gc.freeze()
        gc.enable()
        run_server(server, http)
    except TdqsError as error:
        raise click.UsageError(str(error)) from error


def configure_server(
    environ: Mapping[str, str],
    *,
    judge: str | None,
    base_url: str | None,
    model: str | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_cost: int | None,
    timeout: float,
    **allowed: Any,  # noqa: ANN401  # the fields of Permissions
) -> "MCPServer[Any]":
    """The server that options and environment describe. Raises InputError."""
    budget = Budget(calls=max_calls, tokens=max_tokens, cost=max_cost)
    settings = read_settings(environ, judge=judge, base_url=base_url, model=model, budget=budget, in_server=True)
    return make_server(
        permissions=Permissions(**allowed), settings=settings, timeout=timeout, open_cache=lambda: open_cache(environ)
    )


def _read_http(address: str | None, token_file: Path | None, allowed_hosts: tuple[str, ...]) -> Http | None:
    if address is None:
        if token_file or allowed_hosts:
            raise InputError("--token-file and --allowed-host belong to --http HOST:PORT")
        return None
    host, port = read_address(address)
    http = Http(host=host, port=port, token=_read_token(token_file), allowed_hosts=allowed_hosts)
    http.check()
    return http


def _read_token(file: Path | None) -> str | None:
    """The token that was meant; an empty one is refused, because somebody wanted protection."""
    if file is None and "TDQS_SERVE_TOKEN" not in os.environ:
        return None
    source = "TDQS_SERVE_TOKEN" if file is None else f"the token file {str(file)!r}"
    try:
        token = (os.environ["TDQS_SERVE_TOKEN"] if file is None else file.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeError) as error:
        raise InputError(f"{source} cannot be read as text; make one with: openssl rand -hex 32") from error
    if not token:
        raise InputError(f"{source} is empty; put a token there or take the option away")
    return token
