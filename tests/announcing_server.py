"""An MCP server by the SDK that announces what revision 2026-07-28 knows: announcing_server.py HABIT [MARKER].

`well` and `badly` say how the tools are announced; `reversed` lists them in another order once the file MARKER exists, and
`fewer` lists one less.
"""

import sys
from pathlib import Path

import anyio
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.stdio import stdio_server
from mcp.types import Icon, ListToolsResult, Tool


def find_berths(header, icon, key, app, **dialect):
    """One tool with all that can be announced."""
    return Tool(
        name="find_berths",
        description="Finds free berths in a harbor.",
        input_schema={
            "type": "object",
            "properties": {"harbor": {"type": "string", "x-mcp-header": header, **dialect}},
        },
        icons=[Icon(src=icon)],
        _meta={key: 1, "ui": app},
    )


TOOLS = {
    "well": find_berths("Harbor", "https://harbor.example/berth.png", "example.harbor/tier", {"visibility": ["model"]}),
    "badly": find_berths(
        "Harbor Code",
        "javascript:alert(1)",
        "_harbor",
        {"resourceUri": "https://harbor.example/map"},
        **{"$schema": "http://json-schema.org/draft-07/schema#"},
    ),
}
OTHERS = [
    Tool(name=name, description=f"Says {name}.", input_schema={"type": "object", "additionalProperties": False})
    for name in ("wind", "tides")
]


def listed(habit, marker):
    """The tools of this run; a marker that exists says that an earlier one has listed them already."""
    tools = [TOOLS.get(habit, TOOLS["well"]), *OTHERS]
    if marker and Path(marker).exists():
        return tools[::-1] if habit == "reversed" else tools[:-1]
    if marker:
        Path(marker).touch()
    return tools


async def main(tools):
    async def list_tools(_context, _params):
        return ListToolsResult(tools=tools)

    hints = {"tools/list": CacheHint(ttl_ms=300_000, scope="public")}
    server = Server("announcing", version="1", on_list_tools=list_tools, cache_hints=hints)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main, listed(sys.argv[1], "".join(sys.argv[2:])))
