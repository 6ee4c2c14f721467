"""The session of agent_session.py with an mcp 1.x client: `python mcp1_client.py URL|COMMAND…`; run by test_server.py."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

import agent_session
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connect(words):
    transport = (
        streamablehttp_client(words[0])
        if words[0].startswith("http")
        else stdio_client(StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ)))
    )
    async with transport as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        yield session


async def main(words):
    async with connect(words) as session:

        async def list_tools():
            return [tool.name for tool in (await session.list_tools()).tools]

        async def call(name, **arguments):
            result = await session.call_tool(name, arguments)
            assert not result.isError, result
            return result.structuredContent

        result = await agent_session.judge(call, catalog=[agent_session.SIBLING])
        assert (result["judge"]["id"], result["overallTier"]) == ("host", "B"), result
        await agent_session.improve(list_tools, call)


asyncio.run(main(sys.argv[1:]))
