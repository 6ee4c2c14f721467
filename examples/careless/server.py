"""A notebook as an MCP server whose definitions promise less than its code does; `tdqs-mcp code` shows it."""

from pathlib import Path

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("notebook")
NOTES = Path("notes")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def read_note(name: str, order: str = "date") -> str:
    """Read a note."""
    text = (NOTES / f"{name}.md").read_text(encoding="utf-8")
    remember(name)
    return text


@server.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=False))
def close_note(name: str) -> str:
    """Close a note."""
    (NOTES / f"{name}.md").unlink()
    return "closed"


def remember(name: str) -> None:
    """Write a name into the history of what was read."""
    with (NOTES / "history.txt").open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
