"""A call that lasts no longer than its client is there: over HTTP with sessions the SDK would let it run on."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import Context

from tdqs_mcp.errors import CaptureError

LOOK_SECONDS = 0.5
"""How often a connection is looked at."""

Result = TypeVar("Result")


async def while_present(context: Context[Any, Any], work: Callable[[], Awaitable[Result]]) -> Result:
    """What the work gives; cancelled when the HTTP client has gone. On stdio the end of the server ends it."""
    is_gone = getattr(context.request_context.request, "is_disconnected", None)
    if is_gone is None:
        return await work()
    outcome: list[Result] = []
    failure: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_when, is_gone, tasks.cancel_scope)
        try:
            outcome.append(await work())
        except Exception as error:  # noqa: BLE001  # raised below: a task group would wrap it
            failure.append(error)
        tasks.cancel_scope.cancel()
    if failure:
        raise failure[0]
    if not outcome:
        raise CaptureError("the client has gone")
    return outcome[0]


async def _cancel_when(is_gone: Callable[[], Awaitable[bool]], scope: anyio.CancelScope) -> None:
    while not await is_gone():  # noqa: ASYNC110  # ASGI tells nobody who does not ask
        await anyio.sleep(LOOK_SECONDS)
    scope.cancel()
