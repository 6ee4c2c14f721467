"""Definitions that visitors of the dashboard send: forms within limits, and the queue in which they are checked."""

import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio
from cachetools import LRUCache
from starlette.exceptions import HTTPException
from starlette.requests import Request

from tdqs_mcp.app import catalogs
from tdqs_mcp.errors import InputError
from tdqs_mcp.model import Catalog
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.sources.files import read_content
from tdqs_mcp.sources.locator import LiveOptions, read_url

MAX_FORM = 8_192
"""Bytes of a form besides the definitions in it."""

CHECKS_PER_MINUTE, CHECKS_AT_ONCE, CHECKS_WAITING = 20, 2, 16
"""Checks of one address, of all addresses at a time, and that wait for their turn."""

MAX_CHECK, MAX_CHECKED = 2**20, 200
"""Bytes and tools of one check."""

CHECK_SECONDS = 30
"""Of the capture of a live server."""


class CheckQueue:
    """Has the definitions that visitors send checked, a few at a time; keeps nothing of them."""

    def __init__(self, permissions: Permissions) -> None:
        self._permissions = permissions
        self._recent: LRUCache[tuple[str, int], int] = LRUCache(10_000)
        self._places = anyio.CapacityLimiter(CHECKS_AT_ONCE)

    async def check(self, request: Request, render: Callable[[Catalog], str]) -> str:
        """Return what `render` makes, in a thread, of the definitions in a form.

        Raises HTTPException beyond the limits, and TdqsErrors for definitions that cannot be read.
        """
        minute = (_address_of(request), int(time.monotonic() // 60))
        self._recent[minute] = self._recent.get(minute, 0) + 1
        if self._recent[minute] > CHECKS_PER_MINUTE:
            raise HTTPException(429)
        form = await _read_form(request)
        if self._places.statistics().tasks_waiting >= CHECKS_WAITING:
            raise HTTPException(503)
        async with self._places:
            catalog = await self._read(form)
            return await anyio.to_thread.run_sync(render, catalog)

    async def _read(self, form: Mapping[str, bytes]) -> Catalog:
        """The definitions of the file, else those that were pasted, else of the URL. Raises TdqsErrors."""
        content = form.get("file", b"").strip() or form.get("definitions", b"").strip()
        if content:
            catalog = read_content(content, origin="what you sent", name="your server")
        elif self._permissions.urls and (url := form.get("url", b"").decode(errors="replace").strip()):
            self._permissions.admit(read_url(url))
            admit = self._permissions.check_and_resolve
            await admit(url)
            limits: dict[str, Any] = {"max_tools": MAX_CHECKED + 1, "max_bytes": MAX_CHECK}
            catalog = await catalogs.load(url, LiveOptions(timeout=CHECK_SECONDS, admit=admit, **limits))
        else:
            raise InputError("there is nothing to check: paste definitions or choose a file")
        if len(catalog.tools) > MAX_CHECKED:
            raise InputError(f"a check takes {MAX_CHECKED} tools at most, and these are {len(catalog.tools)}")
        return catalog


async def _read_form(request: Request) -> dict[str, bytes]:
    """The members of a form, with or without files. Raises HTTPException for another site's, and a large one."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if site not in (None, "same-origin", "none") or (site is None and is_foreign):
        raise HTTPException(403)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_CHECK + MAX_FORM:
            raise HTTPException(413)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body}

    form: dict[str, bytes] = {}
    async with Request(request.scope, receive).form(max_files=1, max_fields=4, max_part_size=MAX_CHECK) as parts:
        for name, value in parts.items():
            form[name] = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else await value.read()
    return form


def _address_of(request: Request) -> str:
    """The visitor's address: behind a proxy on this machine, the one that the proxy has seen."""
    address = request.client.host if request.client else ""
    forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return forwarded if forwarded and address in ("127.0.0.1", "::1") else address
