"""A server that answers `initialize` at once and builds its tools, resources and prompts when they are first asked for.

Building them takes as long as a fifth of importing the SDK, and the client waits for the first answer.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from mcp.server.mcpserver import MCPServer, RequestStateSecurity
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

STATE_SECONDS = 3_600.0
"""How long a client may take to answer what a call waits for: a person may have to allow 200 sampling requests."""


def _delegate(name: str) -> Any:  # noqa: ANN401  # a method of MCPServer, with its signature
    async def call(self: "LazyServer", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # the SDK's own
        return await getattr(self.full_server, name)(*args, **kwargs)

    return call


class LazyServer(MCPServer[Any]):
    """Passes every request for tools, resources and prompts to the full server, which it builds for the first one."""

    def __init__(self, build: Callable[[], Any], **identity: Any) -> None:  # noqa: ANN401  # MCPServer's own
        """`identity` is what `initialize` answers, `build` makes the full server."""
        super().__init__(request_state_security=RequestStateSecurity.ephemeral(ttl=STATE_SECONDS), **identity)
        self._build = build

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

    list_tools = _delegate("list_tools")
    call_tool = _delegate("call_tool")
    list_resources = _delegate("list_resources")
    list_resource_templates = _delegate("list_resource_templates")
    read_resource = _delegate("read_resource")
    list_prompts = _delegate("list_prompts")
    get_prompt = _delegate("get_prompt")
