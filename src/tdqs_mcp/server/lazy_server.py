"""A server that answers `initialize` at once and builds its tools, resources and prompts when they are first asked for.

Building them takes as long as a fifth of importing the SDK, and the client waits for the first answer.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from mcp.server.apps import Apps, client_supports_apps
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from tdqs_mcp.server.http_transport import ADDRESS, CALLER
from tdqs_mcp.server.stdio_transport import bounded_stdio, leave

STATE_SECONDS = 3_600.0
"""How long a client may take to answer what a call waits for: a person may have to allow 200 sampling requests."""


LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

LIST_MILLISECONDS = 3_600_000
"""How long a client need not ask for a list again: it is the same as long as the server runs."""


async def _note_caller(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """What a caller has is kept apart from what others have."""
    request = ctx.request
    if request is not None:
        address = ADDRESS + (request.client.host if request.client else "")
        CALLER.set(request.headers.get(MCP_SESSION_ID_HEADER) or address)
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
    for each in result.get("tools", ()):
        each.pop("_meta", None)
    if "resources" in result:
        result["resources"] = [each for each in result["resources"] if not each["uri"].startswith("ui://")]
    return result


PLAIN = str.maketrans("", "", "{}'")
"""Removes the braces and quotes of a printed Python set."""


def _delegate(name: str) -> Any:  # noqa: ANN401  # a method of MCPServer, with its signature
    async def call(self: "LazyServer", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # the SDK's own
        return await getattr(self.full_server, name)(*args, **kwargs)

    return call


class LazyServer(MCPServer[Any]):
    """Passes every request for tools, resources and prompts to the full server, which it builds for the first one."""

    def __init__(self, build: Callable[[], Any], *, max_message: int, **identity: Any) -> None:  # noqa: ANN401  # MCPServer's own
        """`identity` is what `initialize` answers, `build` makes the full server; a message has `max_message` bytes."""
        super().__init__(
            request_state_security=RequestStateSecurity.ephemeral(ttl=STATE_SECONDS),
            cache_hints=dict.fromkeys(LISTS, CacheHint(ttl_ms=LIST_MILLISECONDS)),
            subscriptions=False,  # what we list never changes
            middleware=[_note_caller, _refuse_cursors, _hide_cards],
            extensions=[Apps()],
            **identity,
        )
        self._build = build
        self._max_message = max_message

        async def complete(
            ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, _: CompletionContext | None
        ) -> Completion | None:
            found: Completion | None = self.full_server.complete(ref, argument)
            return found

        self.completion()(complete)  # type: ignore[no-untyped-call]  # the SDK's decorator has no types

    @cached_property
    def full_server(self) -> Any:  # noqa: ANN401  # a FullServer, whose module takes as long to import
        """The server with everything that we offer."""
        return self._build()

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
        tools = [each.name for each in await self.list_tools()]
        if name not in tools:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name!r}; there are {', '.join(tools)}")
        return await self.full_server.call_tool(name, *args, **kwargs)

    async def get_prompt(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # the SDK's own
        """A prompt's messages. Raises MCPError for an unknown prompt or a missing argument."""
        try:
            return await self.full_server.get_prompt(*args, **kwargs)
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, str(error).translate(PLAIN)) from error

    list_tools = _delegate("list_tools")
    list_resources = _delegate("list_resources")
    list_resource_templates = _delegate("list_resource_templates")
    read_resource = _delegate("read_resource")
    list_prompts = _delegate("list_prompts")
