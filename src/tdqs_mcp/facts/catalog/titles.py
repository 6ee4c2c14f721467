"""Facts of what a client shows in place of a tool's name."""

from collections.abc import Mapping, Sequence

from tdqs_mcp.model.catalog import Tool


def display_name(tool: Tool) -> str | None:
    """The tool's title, else the one in its annotations, without white space around it; None where both are empty."""
    annotated = (tool.annotations or {}).get("title")
    for title in (tool.title, annotated):
        if isinstance(title, str) and title.strip():
            return title.strip()
    return None


def repeated_titles(tools: Sequence[Tool]) -> Mapping[str, tuple[str, ...]]:
    """Every display name that several tools share, however it is capitalised, with the names of these tools."""
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        title = display_name(tool)
        if title:
            groups.setdefault(title.casefold(), []).append(tool)
    return {
        display_name(group[0]) or "": tuple(tool.name for tool in group) for group in groups.values() if len(group) > 1
    }
