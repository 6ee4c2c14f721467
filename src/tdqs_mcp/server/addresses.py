"""Where a URL may be connected to: resolved once, checked, and the checked addresses handed to the transport."""

import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import anyio

from tdqs_mcp.errors import InputError
from tdqs_mcp.server.permissions import Permissions

Resolve = Callable[[str, int], Awaitable[list[str]]]

RESOLVE_SECONDS = 10


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine resolves it. Raises InputError."""
    try:
        with anyio.fail_after(RESOLVE_SECONDS):
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError) as error:
        raise InputError(f"the host {host!r} cannot be resolved; check the URL") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def doorkeeper(permissions: Permissions, *, lookup: Resolve = resolve) -> Callable[[str], Awaitable[list[str]]]:
    """Asked with every URL before it is connected to: gives the addresses that may be, or raises InputError."""

    async def admit(url: str) -> list[str]:
        permissions.check_url(url)
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return permissions.check_addresses(url, await lookup(parts.hostname or "", port))

    return admit
