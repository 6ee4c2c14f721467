"""What comes back from a tool: the fields that its output schema names."""

from collections.abc import Mapping
from typing import Any

from tdqs_mcp.facts.catalog.names import is_plain
from tdqs_mcp.model.catalog import Tool


def result_fields(tool: Tool) -> tuple[str, tuple[str, ...]]:
    """What an answer is called, "" or "entries", and its fields in order; those of the entries of a list.

    A single field that wraps an object or a list, such as the `result` of FastMCP, is not what comes back.
    """
    schema: Mapping[str, Any] = tool.output_schema or {}
    names = _names(schema)
    if len(names) == 1:
        inner = schema["properties"][names[0]]
        if isinstance(inner, dict) and inner.get("type") == "array":
            return "entries", _names(inner.get("items"))
        if isinstance(inner, dict) and _names(inner):
            return "", _names(inner)
        return "", ()
    return "", names


def _names(schema: object) -> tuple[str, ...]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return tuple(filter(is_plain, properties)) if isinstance(properties, dict) else ()
