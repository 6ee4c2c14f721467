"""Our MCP server for tests: in this process, where the process is not what is tested, or over stdio as clients start it."""

import json
import os
import sys
from contextlib import asynccontextmanager, chdir, nullcontext

from mcp import Client, StdioServerParameters

from tdqs_mcp.server.serve import configure_server, serve

OF_HTTP = ("address", "token_file", "allowed_hosts", "allowed_origins")
"""Options that say where the server listens."""

SERVE = (sys.executable, "-m", "tdqs_mcp", "serve")


def environment(**more):
    """Our own variables, as a client would hand them on."""
    return {name: value for name, value in os.environ.items() if name.startswith(("TDQS_", "XDG_", "HOME"))} | more


@asynccontextmanager
async def in_process(*options, mode="auto", cwd=None, env=None, **client):
    """A client of our server with these options of `serve`, in this process."""
    with chdir(cwd) if cwd else nullcontext():
        given = serve.make_context("serve", [str(option) for option in options]).params
        described = {name: value for name, value in given.items() if name not in OF_HTTP}
        server = configure_server(environment(**(env or {})), **described)
        async with Client(server, mode=mode, **client) as connected:
            yield connected


@asynccontextmanager
async def over_stdio(*options, mode="auto", **client):
    """A client of our server with these options of `serve`, in a process of its own."""
    parameters = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *map(str, options)], env=environment())
    async with Client(parameters, mode=mode, **client) as connected:
        yield connected


def caller(client):
    """What calls a tool and gives back the JSON of its answer."""

    async def call(name, **arguments):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    return call


async def refusal(client, name, **arguments):
    """The text of a call that must be refused."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.structured_content
    return result.content[0].text
