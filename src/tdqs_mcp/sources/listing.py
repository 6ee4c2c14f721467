"""The questions that a capture asks: every list that the server says it has, page by page."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client, MCPError

from tdqs_mcp.sources.options import LiveOptions
from tdqs_mcp.sources.wire import METHOD_NOT_FOUND, TOOLS_LIST, Wire


async def list_everything(client: Client, wire: Wire, options: LiveOptions) -> None:
    """Asks for tools first, then for what the capabilities name; the answers are on the wire's record.

    Tools are asked for even where the server does not declare them. Raises MCPError when the first page of tools is
    refused by a server that has, or does not deny, tools.
    """
    await _list(client.list_tools, TOOLS_LIST, wire, options.max_pages)
    declared = wire.capabilities or {}
    if "resources" in declared:
        await _list(client.list_resources, "resources/list", wire, options.max_pages)
        await _list(client.list_resource_templates, "resources/templates/list", wire, options.max_pages)
    if "prompts" in declared:
        await _list(client.list_prompts, "prompts/list", wire, options.max_pages)


async def _list(fetch: Callable[..., Awaitable[Any]], method: str, wire: Wire, max_pages: int) -> None:
    try:
        problem = await _turn_pages(fetch, method, wire, max_pages)
    except MCPError as error:
        pages = len(wire.results.get(method, ()))
        was_refused = method in wire.refusals
        if method == TOOLS_LIST and not pages:
            if wire.expects_tools or not was_refused:
                raise
            return
        if method == "resources/templates/list" and was_refused and error.code == METHOD_NOT_FOUND:
            return  # declaring resources does not promise templates
        after = f" after {pages} page{'s' * (pages != 1)}" if pages else ""
        problem = f"{method} failed{after} with error {error.code}: {str(error)[:200]}."
    if problem:
        wire.problems.append(problem)
    if method == TOOLS_LIST:
        wire.incomplete = problem


async def _turn_pages(fetch: Callable[..., Awaitable[Any]], method: str, wire: Wire, max_pages: int) -> str | None:
    """Reads every page; returns why the list was not read to its end, or None when it was."""
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(max_pages):
        await fetch(cursor=cursor, cache_mode="bypass")
        if wire.overflowed:
            return f"{method} was cut short: the definitions are larger than the limit."
        following = wire.next_cursor(method)
        if following is None or following == "":
            return None
        if not isinstance(following, str):
            return f"{method} gives a nextCursor that is no string; the pages after it are unknown."
        if following in seen:
            return f"{method} gives the cursor {following[:80]!r} again and would never end."
        seen.add(following)
        cursor = following
    return f"{method} has more than {max_pages} pages; the first {max_pages} were kept."
