"""The server as it answers initialize; what it offers is made when it is first asked for.

Making the tools costs as much as a fifth of importing the SDK, and the client waits for the greeting.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.types import (
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptReference,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    Tool,
)
from pydantic import AnyUrl

STATE_SECONDS = 3_600.0
"""How long a client may take to answer what a call waits for: a person may have to allow 200 sampling requests."""

_Context = Context[Any, Any]


class Front(MCPServer[Any]):
    """Hands every question about tools, resources and prompts on to the server behind it."""

    def __init__(self, make: Callable[[], MCPServer[Any]], **said: Any) -> None:  # noqa: ANN401  # MCPServer's own
        """What `initialize` answers, and how to make the server behind it."""
        super().__init__(request_state_security=RequestStateSecurity.ephemeral(ttl=STATE_SECONDS), **said)
        self._make = make
        self.completion()(_complete)  # type: ignore[no-untyped-call]  # the SDK's decorator has no types

    @cached_property
    def _behind(self) -> MCPServer[Any]:
        return self._make()

    async def list_tools(self) -> list[Tool]:
        """Every tool."""
        return await self._behind.list_tools()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: _Context | None = None
    ) -> CallToolResult | InputRequiredResult:
        """What the tool gives back."""
        return await self._behind.call_tool(name, arguments, context)

    async def list_resources(self) -> list[Resource]:
        """The resources with an address of their own."""
        return await self._behind.list_resources()

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """The families of resources."""
        return await self._behind.list_resource_templates()

    async def read_resource(
        self,
        uri: AnyUrl | str,
        context: _Context | None = None,
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The content of a resource."""
        return await self._behind.read_resource(uri, context)

    async def list_prompts(self) -> list[Prompt]:
        """Every prompt."""
        return await self._behind.list_prompts()

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: _Context | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A prompt with its arguments filled in."""
        return await self._behind.get_prompt(name, arguments, context)


async def _complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, _: CompletionContext | None
) -> Completion | None:
    from tdqs_mcp.server.resources import complete  # noqa: PLC0415  # see above

    return complete(ref, argument)
