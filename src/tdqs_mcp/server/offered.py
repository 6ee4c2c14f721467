"""Everything that the server offers, in one SDK server behind the front."""

from typing import Any

from mcp.server.mcpserver import MCPServer

from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.server.desk import Desk
from tdqs_mcp.server.memory import Answers
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.server.resources import add_prompts, add_resources
from tdqs_mcp.server.tools import make_tools


def everything(
    *, permissions: Permissions, answers: Answers, judge: Judge, has_host: bool, timeout: float
) -> MCPServer[Any]:
    """The tools, resources and prompts, which share one memory."""
    desk = Desk(permissions=permissions, answers=answers, judge=judge, has_host=has_host, timeout=timeout)
    server: MCPServer[Any] = MCPServer("tdqs-mcp", tools=make_tools(desk), log_level="WARNING")
    add_resources(server, desk.shelf)
    add_prompts(server)
    return server
