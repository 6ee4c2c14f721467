"""What a live server is given, and how much of it is read."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


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
