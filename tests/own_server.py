"""Our MCP server for tests: in this process, where the process is not what is tested, over stdio as clients start it, or over HTTP."""

import json
import os
import sys
from contextlib import asynccontextmanager, chdir, contextmanager, nullcontext

from mcp import Client, StdioServerParameters
from processes import free_port, listening

from tdqs_mcp.server.serve import configure_server, serve

OF_HTTP = ("address", "token_file", "allowed_hosts", "allowed_origins")
"""Options that say where the server listens."""

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
"""What a client of the handshake era begins with."""

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


@contextmanager
def serving(*options, host="127.0.0.1", **env):
    """Our server over HTTP on a free port, in a process of its own."""
    port = free_port()
    with listening([*SERVE, "--http", f"{host}:{port}", *options], port, **env) as found:
        yield found


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
