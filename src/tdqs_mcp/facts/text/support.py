"""What of a recorded call may be shown: plain values, and texts without what looks like a secret."""

from collections.abc import Mapping
from typing import Any

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.model import Tool

_PATTERNS = PatternTable("support")

MAX_WORDS = 6
"""Words of a text that is shown."""

MAX_DIGITS = 9
"""Digits of a value: a card, an account and most telephones have more."""

MAX_NESTING = 8
"""Levels of a value that are looked into; a deeper one is not shown."""


def is_showable(call: Mapping[str, Any], tool: Tool) -> bool:
    """Whether a call's arguments may stand in a definition as an example: each is known to the schema, or plain."""
    known = arguments.properties(tool)
    return all(
        words_from("support", "private").isdisjoint(name_parts(name))
        and (is_known(value, known.get(name)) or is_plain_value(value))
        for name, value in call.items()
    )


def redact(text: str) -> str:
    """A text without addresses, long codes and what stands beside a word for a secret."""
    return _PATTERNS.secret.sub(" ", text)


def is_known(value: object, schema: object) -> bool:
    """The schema itself names the value."""
    if not isinstance(schema, Mapping):
        return False
    single = (schema[each] for each in ("const", "default") if each in schema)
    several = (schema[each] for each in ("enum", "examples") if isinstance(schema.get(each), list))
    return value in [*single, *(each for values in several for each in values)]


def is_plain_value(value: object, nesting: int = 0) -> bool:
    """A value of few and plain words and numbers, at any depth, that stands beside no word for a secret."""
    if isinstance(value, Mapping):
        pairs = value.items()
        return nesting < MAX_NESTING and all(
            words_from("support", "private").isdisjoint(name_parts(str(name))) and is_plain_value(each, nesting + 1)
            for name, each in pairs
        )
    if isinstance(value, list):
        return nesting < MAX_NESTING and all(is_plain_value(each, nesting + 1) for each in value)
    text = "" if value is None else str(value)
    words = text.split()
    is_short = len(words) <= MAX_WORDS and sum(map(str.isdecimal, text)) <= MAX_DIGITS
    return _PATTERNS.date.fullmatch(text) is not None or (
        is_short and all(_PATTERNS.plain_value.fullmatch(word.rstrip(",.!?")) for word in words)
    )
