"""The definitions that a running MCP server offers, captured as they were on the wire."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.sources.locator import InProcess, Stdio, Url


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """Values of headers and variables are credentials: they are not in the repr and are cut out of every message."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every HTTP request."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Set for a server that is started, beside the few variables that MCP clients hand on (PATH, HOME, …)."""

    cwd: str | None = None
    """Where a command starts and a module is looked for; None is here."""

    timeout: float = 60.0
    """Seconds for the whole capture, start-up included; ending the processes takes up to 5 s more."""

    max_pages: int = 200
    """Pages of one list."""

    max_tools: int = 10_000
    """Fifty times the largest catalog in use; what is beyond is left out, which becomes a problem of the catalog."""

    max_bytes: int = 64 * 2**20
    """Bytes of all listed definitions, of one line on stdio and of one HTTP answer."""

    admit: Callable[[str], Awaitable[list[str]]] | None = field(default=None, repr=False)
    """Asked with the URL of every HTTP request, redirects included: the addresses that may be connected to, or an
    InputError. None leaves that to name resolution; with it no proxy is used, which would resolve the name again."""


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
