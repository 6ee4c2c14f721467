"""A server of the newer era for tests of the router: progress, questions to the client, errors, and what it was told."""

import json
import sys
from pathlib import Path
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("routed", title="Routed", version="1.2.3", instructions="Ask for nothing.")


class Sure(BaseModel):
    """An answer of the person."""

    sure: bool


async def ask() -> Elicit[Sure]:
    """The question."""
    return Elicit("Sure?", Sure)


@server.tool(meta={"vendor/key": [1, 2]})
async def count(steps: int, ctx: Context) -> str:
    """Count."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    return f"{steps} steps"


@server.tool()
async def wipe(answer: Annotated[Sure, Resolve(ask)]) -> str:
    """Wipe."""
    return f"sure: {answer.sure}"


@server.tool()
async def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


@server.tool()
async def wait(told: str) -> str:
    """Wait until somebody cancels."""
    await anyio.Path(told).write_text("waiting")
    try:
        await anyio.sleep(60)
    except anyio.get_cancelled_exc_class():
        Path(told).write_text("cancelled")  # noqa: ASYNC240  # nothing can be awaited here
        raise
    return "waited"


@server.resource("routed://note")
def note() -> str:
    """A note."""
    return json.dumps({"note": True})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
