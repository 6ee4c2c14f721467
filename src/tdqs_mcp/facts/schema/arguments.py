"""Reads the arguments and results that schemas declare, and what of recorded calls may be shown."""

from collections.abc import Mapping
from typing import Any

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.schema.walk import escape_step, keyword_members
from tdqs_mcp.facts.spelling import name_parts
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

MAX_WORDS = 6
"""Words of a text that is shown."""

MAX_DIGITS = 9
"""Digits of a value: a card, an account and most telephones have more."""

MAX_NESTING = 8
"""Levels of a value that are looked into; a deeper one is not shown."""


def is_showable(call: Mapping[str, Any], tool: Tool) -> bool:
    """Return whether a call's arguments may stand in a definition as an example: known to the schema, or plain."""
    schemas = properties(tool)
    return all(
        words_from("support", "private").isdisjoint(name_parts(name))
        and (is_known(value, schemas.get(name)) or is_plain_value(value))
        for name, value in call.items()
    )


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


def is_plain_value(value: object, nesting: int = 0) -> bool:
    """A value of few and plain words and numbers, at any depth, that stands beside no word for a secret."""
    if isinstance(value, Mapping):
        pairs = value.items()
        return nesting < MAX_NESTING and all(
            words_from("support", "private").isdisjoint(name_parts(str(name))) and is_plain_value(item, nesting + 1)
            for name, item in pairs
        )
    if isinstance(value, list):
        return nesting < MAX_NESTING and all(is_plain_value(item, nesting + 1) for item in value)
    text = "" if value is None else str(value)
    words = text.split()
    is_short = len(words) <= MAX_WORDS and sum(map(str.isdecimal, text)) <= MAX_DIGITS
    return _SUPPORT_PATTERNS.date.fullmatch(text) is not None or (
        is_short and all(_SUPPORT_PATTERNS.plain_value.fullmatch(word.rstrip(",.!?")) for word in words)
    )
