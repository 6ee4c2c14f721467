"""`tdqs-mcp serve`: its options, the server that they describe, and how it begins and ends on a terminal."""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import cached_property, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any

import anyio
import click
from cachetools import LRUCache
from mcp.server.apps import Apps, client_supports_apps
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    CompletionContext,
    Icon,
    PromptReference,
    ResourceTemplateReference,
)

from tdqs_mcp.app.judge_factory import make_judge, open_cache
from tdqs_mcp.app.settings import CHOICES, Settings, read_settings
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Budget, read_budget
from tdqs_mcp.judges.judge import Cache, CacheKey
from tdqs_mcp.results.verdicts import HOST
from tdqs_mcp.server import http_transport
from tdqs_mcp.server.permissions import Permissions, read_command, read_pattern
from tdqs_mcp.server.stdio_transport import bounded_stdio, leave, run_until_signal
from tdqs_mcp.sources.locator import PROJECT

STATE_SECONDS = 3_600.0
"""How long a client may take to answer what a call waits for: a person may have to allow 200 sampling requests."""


LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

LIST_MILLISECONDS = 3_600_000
"""How long a client need not ask for a list again: it is the same as long as the server runs."""


async def _note_caller(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Keep what a caller has apart from what others have."""
    request = ctx.request
    if request is not None:
        address = http_transport.ADDRESS + (request.client.host if request.client else "")
        http_transport.CALLER.set(request.headers.get(http_transport.SESSION_HEADER) or address)
    return await call_next(ctx)


async def _refuse_cursors(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Every list has one page, so that no cursor can be one of ours. A notification is answered by nothing."""
    if ctx.request_id is not None and ctx.method in LISTS and (ctx.params or {}).get("cursor") is not None:
        raise MCPError(INVALID_PARAMS, f"{ctx.method} has one page: the cursor is none of ours")
    return await call_next(ctx)


async def _hide_cards(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Lists cards, and which tools have one, only for clients that show them (MCP Apps, SEP-1865)."""
    result = await call_next(ctx)
    if ctx.method not in LISTS or client_supports_apps(ctx) or not isinstance(result, dict):
        return result
    for entry in result.get("tools", ()):
        entry.pop("_meta", None)
    if "resources" in result:
        result["resources"] = [entry for entry in result["resources"] if not entry["uri"].startswith("ui://")]
    return result


PLAIN = str.maketrans("", "", "{}'")
"""Removes the braces and quotes of a printed Python set."""


Complete = Callable[[PromptReference | ResourceTemplateReference, CompletionArgument], Completion | None]

GREETINGS = frozenset({"initialize", "ping", "server/discover"})
"""Requests that need no tool, resource or prompt."""


class LazyServer(MCPServer[Any]):
    """A server that gets its tools, resources and prompts at the first request for them: they take a second."""

    def __init__(self, fill: Callable[["LazyServer"], None], *, max_message: int, **identity: Any) -> None:  # noqa: ANN401  # MCPServer's own
        """`identity` is what `initialize` answers, `fill` adds the rest; a message has `max_message` bytes."""
        super().__init__(
            request_state_security=RequestStateSecurity.ephemeral(ttl=STATE_SECONDS),
            cache_hints=dict.fromkeys(LISTS, CacheHint(ttl_ms=LIST_MILLISECONDS)),
            subscriptions=False,  # what we list never changes
            middleware=[self._fill_first, _note_caller, _refuse_cursors, _hide_cards],
            extensions=[Apps()],
            **identity,
        )
        self._fill: Callable[[LazyServer], None] | None = fill
        self._max_message = max_message
        self.complete: Complete = lambda *_: None

        async def complete(
            ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, _: CompletionContext | None
        ) -> Completion | None:
            return self.complete(ref, argument)

        self.completion()(complete)  # type: ignore[no-untyped-call]  # the SDK's decorator has no types

    async def _fill_first(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if self._fill is not None and ctx.request_id is not None and ctx.method not in GREETINGS:
            self._fill(self)
            self._fill = None
        return await call_next(ctx)

    def set_tools(self, tools: list[Tool]) -> None:
        """Offer these tools, in their order."""
        self._tool_manager = ToolManager(tools=tools)

    async def run_stdio_async(self) -> None:
        """Serves the standard input and output until the input ends."""
        server = self._lowlevel_server
        try:
            async with bounded_stdio(self._max_message) as (read, write):
                await server.run(read, write, server.create_initialization_options())
        except* BrokenPipeError:  # the client has gone, but the thread that reads its input may wait for ever
            leave(0)

    async def call_tool(self, name: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # the SDK's own
        """The result of a tool. Raises MCPError for one that is not there, as the specification asks."""
        names = [tool.name for tool in self._tool_manager.list_tools()]
        if name not in names:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name!r}; there are {', '.join(names)}")
        return await super().call_tool(name, *args, **kwargs)

    async def get_prompt(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # the SDK's own
        """A prompt's messages. Raises MCPError for an unknown prompt or a missing argument."""
        try:
            return await super().get_prompt(*args, **kwargs)
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error).translate(PLAIN)) from error


GRACE_SECONDS = 0.3
"""How long an interrupted server may end the processes that it has started."""

MAX_ANSWERS = 10_000
"""Answers in memory: five of the largest catalogs that a call may bring."""

WEBSITE = "https://github.com/tdqs-mcp/tdqs-mcp"

ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'>"
    "<path d='M1 5h1v2H1zm2-2h1v4H3zm2-2h1v6H5z'/></svg>"
)
"""Three bars; 8 by 8, because the protocol repeats it in answers."""


class CallerAnswers:
    """Judgements in memory, and behind it on disk, where the operator keeps any.

    What a caller over HTTP has judged is that caller's alone and is not kept on disk: nobody judges for another. The
    only caller over stdio is the user whose disk it is.
    """

    def __init__(self, open_cache: Callable[[], Cache | None]) -> None:
        """Opens the disk's cache when the first answer is looked up."""
        self._open = open_cache
        self._latest: LRUCache[tuple[str, CacheKey], str] = LRUCache(MAX_ANSWERS)
        """By caller, for the callers' own judgements, and key."""

        self._lock = Lock()

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""
        owner = _owner(key)
        with self._lock:
            answer = self._latest.get((owner, key))
        return self._disk.get(key) if answer is None and not owner and self._disk else answer

    def put(self, key: CacheKey, answer: str) -> None:
        """Keeps an answer in place of an earlier one."""
        owner = _owner(key)
        with self._lock:
            self._latest[owner, key] = answer
        if not owner and self._disk:
            self._disk.put(key, answer)

    def claim(self, key: CacheKey) -> AbstractAsyncContextManager[None]:
        """A context in which nobody else asks for the answer, where answers outlive the server."""
        return self._disk.claim(key) if self._disk and not _owner(key) else nullcontext()

    @cached_property
    def _disk(self) -> Cache | None:
        return self._open()


def _owner(key: CacheKey) -> str:
    """The caller whose judgement it is; empty over stdio, and for what the operator's model has judged."""
    return http_transport.CALLER.get() if key.judge == HOST else ""


def make_server(
    *,
    permissions: Permissions,
    settings: Settings,
    timeout: float = 60.0,
    log_level: str = "warning",
    open_cache: Callable[[], Cache | None] = lambda: None,
) -> MCPServer[Any]:
    """The server, ready for any transport; `open_cache` opens the place where callers' answers outlive it.

    Raises InputError for a judge that cannot be asked.
    """
    answers = CallerAnswers(open_cache)
    # A jury with the caller on it is asked again with every batch, so its answers are kept in any case.
    judge = make_judge(settings, cache=answers if settings.has_host else None)

    def fill(server: LazyServer) -> None:
        # Imported after the client has its first answer.
        from tdqs_mcp.server.context import ServerContext, add_parts, complete_argument  # noqa: PLC0415
        from tdqs_mcp.server.judging_tools import JudgeTools  # noqa: PLC0415
        from tdqs_mcp.server.rewrite_tools import RewriteTools  # noqa: PLC0415
        from tdqs_mcp.server.scoring_tools import ScoreTools  # noqa: PLC0415
        from tdqs_mcp.server.tool_schemas import tools_of  # noqa: PLC0415

        context = ServerContext(
            permissions=permissions, answers=answers, judge=judge, has_host=settings.has_host, timeout=timeout
        )
        groups = [group(context) for group in (ScoreTools, RewriteTools, JudgeTools)]
        server.set_tools([tool for group in groups for tool in tools_of(group, context.reach)])
        server.complete = partial(complete_argument, context)
        add_parts(server, context)

    return LazyServer(
        fill,
        name="tdqs-mcp",
        title="Tool definition quality",
        description="Scores, lints and rewrites MCP tool definitions",
        instructions=" ".join(files("tdqs_mcp.server").joinpath("instructions.txt").read_text("utf-8").split()),
        version=version("tdqs-mcp"),
        website_url=WEBSITE,
        icons=[Icon(src=ICON, mime_type="image/svg+xml", sizes=["any"])],
        log_level=log_level.upper(),
        max_message=http_transport.MAX_BODY,
    )


def _read_with(read: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A click callback that reads an option's value; None stays None."""

    def callback(_: click.Context, __: click.Parameter, value: Any) -> Any:  # noqa: ANN401  # what click hands over
        try:
            return None if value is None else read(value)
        except InputError as error:
            raise click.BadParameter(str(error)) from error

    return callback


_read_patterns = _read_with(lambda values: tuple(map(read_pattern, values)))
_read_limits = _read_with(read_budget)
_read_commands = _read_with(lambda values: tuple(map(read_command, values)))


def _refuse_foreign(_: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            f"serve has no {', '.join(option.opts)}: it speaks stdio, and streamable HTTP with --http [HOST:PORT], as "
            f"in --http {http_transport.DEFAULT_ADDRESS}"
        )


def _refuse_project(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name.startswith(PROJECT):
            raise click.BadParameter(f"{name!r} is a server that a project's file names; allow servers of your own")
    return names


@click.command()
@http_transport.http_options
@click.option("--transport", "--host", "--port", "foreign", hidden=True, expose_value=False, callback=_refuse_foreign)
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder whose files may be read.",
)
@click.option(
    "--allow-config",
    "configs",
    multiple=True,
    metavar="NAME",
    callback=_refuse_project,
    help="config:NAME may be started or opened.",
)
@click.option(
    "--allow-url", "urls", multiple=True, metavar="PATTERN", callback=_read_patterns, help="These URLs may be opened."
)
@click.option(
    "--allow-command",
    "commands",
    multiple=True,
    metavar='"COMMAND ARG..."',
    callback=_read_commands,
    help="This stdio: command may be started, exactly as it stands here.",
)
@click.option("--allow-stdio", "may_start", is_flag=True, help="Any stdio: command may be started.")
@click.option("--allow-py", "may_import", is_flag=True, help="Any py: module may be imported.")
@click.option("--judge", help=f"The configured judge: {CHOICES}; jury:NAME,host has a seat for the caller.")
@click.option("--base-url", help="Where the judging model answers.")
@click.option(
    "--budget",
    multiple=True,
    metavar="LIMIT",
    callback=_read_limits,
    help="What that model may take for all callers: calls=20, tokens=50000 or cost=0.50 (dollars).",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds for a live server."
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"], case_sensitive=False),
    default="warning",
    show_default=True,
    help="What is logged to standard error.",
)
def serve(
    *,
    http: http_transport.Http | None,
    log_level: str,
    **options: Any,  # noqa: ANN401  # those of `configure_server`
) -> None:
    """Run the MCP server, on stdio unless --http is given.

    Definitions that come with a call are always scored. What else a caller may have read, started or opened is what the
    options allow. What the configured judge may take, it may take once, until the server ends.
    """
    logging.getLogger("anthropic").setLevel(logging.INFO)  # at debug it logs whole requests, secret overrides too
    # What the SDK allocates on import stays for good: collecting it again and again costs an eighth of the start.
    gc.disable()
    server = configure_server(os.environ, log_level=log_level, **options)
    gc.freeze()
    gc.enable()
    if http is not None:
        from tdqs_mcp.app.installed_clients import SERVER_NAME  # noqa: PLC0415

        http_transport.run_http(
            http_transport.http_app(server, http),
            http,
            log_level=log_level,
            tell=partial(http_transport.tell_url, name=SERVER_NAME, has_token=bool(http.token)),
        )
        return
    if sys.__stdin__ is None or sys.__stdout__ is None:
        raise InputError("standard input or output is closed, and the client is there; or give --http")
    if sys.stdin.isatty():
        _tell_what_is_missing()
    work = partial(run_until_signal, server.run_stdio_async, seconds=GRACE_SECONDS, code=128 + signal.SIGINT)
    sys.exit(anyio.run(work))


def _tell_what_is_missing() -> None:
    """Says to a person at a terminal that a client should have started the server."""
    from tdqs_mcp.app.installed_clients import SERVER_NAME, client_names, own_entry  # noqa: PLC0415  # a client waits for no such thing

    arguments = sys.argv[sys.argv.index("serve") + 1 :] if "serve" in sys.argv else []
    clients = ", ".join(client_names())
    click.echo(
        "waiting for an MCP client on standard input (Ctrl-C ends it). Clients start this command themselves:\n"
        f"{http_transport.client_configuration(SERVER_NAME, own_entry(arguments))}\n"
        f"To add it to a client: tdqs-mcp install CLIENT ({clients}). To serve over HTTP: tdqs-mcp serve --http",
        err=True,
    )


def configure_server(
    environ: Mapping[str, str],
    *,
    judge: str | None,
    base_url: str | None,
    budget: Budget,
    timeout: float,
    log_level: str = "warning",
    **allowed: Any,  # noqa: ANN401  # the fields of Permissions
) -> MCPServer[Any]:
    """The server that options and environment describe. Raises InputError."""
    settings = read_settings(environ, judge=judge, base_url=base_url, budget=budget, in_server=True)
    return make_server(
        permissions=Permissions(**allowed),
        settings=settings,
        timeout=timeout,
        log_level=log_level,
        open_cache=lambda: open_cache(environ),
    )
