"""Every tool of the server, in the order in which an agent should read them."""

from mcp.server.mcpserver.tools import Tool

from tdqs_mcp.server.desk import Desk
from tdqs_mcp.server.improving import Improving
from tdqs_mcp.server.judging import Judging
from tdqs_mcp.server.offer import Offered
from tdqs_mcp.server.scoring import Scoring


def make_tools(desk: Desk) -> list[Tool]:
    """The tools on one desk; a method that `offer` has marked is one."""
    rooms = (Scoring(desk), Improving(desk), Judging(desk))
    return [
        Offered.of(getattr(room, name))
        for room in rooms
        for name, value in vars(type(room)).items()
        if hasattr(value, "offer")
    ]
