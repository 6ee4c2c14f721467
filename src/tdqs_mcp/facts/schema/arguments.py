"""Reads the arguments that schemas declare, and takes secrets out of recorded calls."""

from collections.abc import Mapping
from typing import Any

from tdqs_mcp.facts.lexicon import PatternTable
from tdqs_mcp.facts.schema.walk import escape_step, keyword_members
from tdqs_mcp.model import Tool


def property_pointer(name: str) -> str:
    """The JSON pointer of an argument inside its tool."""
    return f"/inputSchema/properties/{escape_step(name)}"


def properties(tool: Tool) -> Mapping[str, Any]:
    """The top-level properties of the input schema; empty where there are none."""
    return keyword_members(tool.input_schema or {})


def required(tool: Tool) -> list[Any]:
    """Return what the input schema lists as required, whatever its type."""
    names = tool.input_schema.get("required") if tool.input_schema else None
    return names if isinstance(names, list) else []


_SUPPORT_PATTERNS = PatternTable("support")


def redact(text: str) -> str:
    """A text without addresses, long codes and what stands beside a word for a secret."""
    return _SUPPORT_PATTERNS.secret.sub(" ", text)


def is_known(value: object, schema: object) -> bool:
    """The schema itself names the value."""
    if not isinstance(schema, Mapping):
        return False
    single = (schema[keyword] for keyword in ("const", "default") if keyword in schema)
    several = (schema[keyword] for keyword in ("enum", "examples") if isinstance(schema.get(keyword), list))
    return value in [*single, *(item for values in several for item in values)]
