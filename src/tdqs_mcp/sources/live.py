"""The definitions that a running MCP server offers, captured as they were on the wire."""

from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.sources.locator import InProcess, Stdio, Url
from tdqs_mcp.sources.options import LiveOptions

__all__ = ["LiveOptions", "capture", "capture_object"]


async def capture(locator: Stdio | Url | InProcess, options: LiveOptions) -> Catalog:
    """Everything the server lists, malformed entries included; no tool is ever called.

    Bounded by `options` in time, pages, tools and bytes; what was cut short is a sentence in `problems`. A process that
    was started has ended with its whole group. Raises CaptureError, one line that says what happened and what to
    change, when no list of tools was had, and InputError when a `py:` locator names nothing that can be captured.
    """
    from tdqs_mcp.sources.connection import connect  # noqa: PLC0415  # the SDK takes over a second to import

    return await connect(locator, options)


async def capture_object(server: object, options: LiveOptions) -> Catalog:
    """Everything that a server object of this process lists: an MCPServer, Server or FastMCP, or what makes one.

    Bounded and raising as `capture`.
    """
    from tdqs_mcp.sources.connection import connect_object  # noqa: PLC0415

    return await connect_object(server, options)
