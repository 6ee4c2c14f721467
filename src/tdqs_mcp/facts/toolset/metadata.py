"""Facts about resources, prompts, display names and the initialize answer."""

from collections.abc import Callable, Iterable

from tdqs_mcp.canonical import trim
from tdqs_mcp.model import Catalog, Prompt, Resource, Tool

NO_NAMES = ("", "Unknown Server")
"""Server names that count as missing (MCP Playground, server-no-name)."""

NO_VERSIONS = ("", "unknown")
"""Versions that count as missing (MCP Playground, server-no-version)."""


def is_blank(text: str | None) -> bool:
    """Nothing but white space."""
    return not trim(text or "")


def listed_resources(catalog: Catalog) -> list[Resource]:
    """The entries of `resources/list`; templates are another listing."""
    return [resource for resource in catalog.resources or () if not resource.is_template]


def undescribed_arguments(prompt: Prompt) -> list[tuple[int, str]]:
    """Position and name of each argument without a description."""
    arguments = prompt.raw.get("arguments") if isinstance(prompt.raw, dict) else None
    return [
        (place, argument["name"] if isinstance(argument.get("name"), str) else "")
        for place, argument in enumerate(arguments if isinstance(arguments, list) else ())
        if isinstance(argument, dict) and _is_undescribed(argument.get("description"))
    ]


def is_empty(catalog: Catalog) -> bool:
    """There is no tool, resource or prompt; false where a listing that the server declares has failed."""
    declared = catalog.capabilities or {}
    has_failed = ("resources" in declared and catalog.resources is None) or (
        "prompts" in declared and catalog.prompts is None
    )
    return not (has_failed or catalog.tools or listed_resources(catalog) or catalog.prompts)


def is_greeted(catalog: Catalog) -> bool:
    """The catalog has the initialize answer; a bare file does not."""
    seen = (catalog.server_info, catalog.capabilities, catalog.protocol_version)
    return any(part is not None for part in seen)


def lacks_name(catalog: Catalog) -> bool:
    """The initialize answer was seen, and it names no server."""
    return is_greeted(catalog) and ((catalog.server_info or {}).get("name") or "") in NO_NAMES


def lacks_version(catalog: Catalog) -> bool:
    """The initialize answer was seen, and it gives no version."""
    return is_greeted(catalog) and ((catalog.server_info or {}).get("version") or "") in NO_VERSIONS


def display_name(tool: Tool) -> str | None:
    """What a client shows for a tool: its title, else the one in its annotations; None where both are blank."""
    titles = (tool.title, (tool.annotations or {}).get("title"))
    return next((trim(title) for title in titles if isinstance(title, str) and trim(title)), None)


def shared_display_names(tools: Iterable[Tool], *, alike: Callable[[str], str] = str) -> dict[str, list[Tool]]:
    """Tools with different names that are shown under one title, by the title of the first.

    Titles are one if `alike` gives the same for them: rubrics ignore case, foreign linters do not.
    """
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        if shown := display_name(tool):
            groups.setdefault(alike(shown), []).append(tool)
    return {display_name(group[0]) or "": group for group in groups.values() if len({each.name for each in group}) > 1}


def _is_undescribed(text: object) -> bool:
    return is_blank(text) if isinstance(text, str) else not text
