"""What of a recorded call may be shown to others: values that the schema knows, and plain ones that identify nobody."""

import re
from collections.abc import Mapping
from typing import Any

from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import name_parts

MAX_WORDS = 6
"""Words of a text that is shown."""

MAX_DIGITS = 9
"""Digits of a value: a card, an account and most telephones have more."""

MAX_NESTING = 8
"""Levels of a value that are looked into; a deeper one is not shown."""

_PRIVATE = frozenset(
    "token tokens key keys apikey secret secrets password passwd pass passphrase passcode pin otp credential "
    "credentials auth authorization bearer cookie cookies session signature jwt email mail phone ssn iban".split()
)
"""Parts of the names of parameters whose values belong to somebody."""

_PLAIN = re.compile(r"[^\W\d_]{1,20}|[+-]?\d+(?:[.,:]\d+)*%?|(?=[\w-]{1,8}$)[^\W_]+(?:[-_][^\W_]+)*")
"""A word, a number, a short code such as C-1042."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?")
_HIDDEN = re.compile(
    r"\S*@\S*|\b\w*(?:token|secret|passw|credential|authorization|api_?key)\w*[\"']?\s*[:=]\s*(?:bearer\s+)?[^\s,}]+"
    r"|\b(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[\w-]{9,}\b|\d{10,}",
    re.IGNORECASE,
)


def is_showable(call: Mapping[str, Any], subject: Subject) -> bool:
    """Whether a call's arguments may stand in a definition as an example: each is known to the schema, or plain."""
    known = arguments.properties(subject.tool)
    return all(
        _PRIVATE.isdisjoint(name_parts(name)) and (_is_known(value, known.get(name)) or is_plain(value))
        for name, value in call.items()
    )


def redacted(text: str) -> str:
    """A text without addresses, long codes and what stands beside a word for a secret."""
    return _HIDDEN.sub(" ", text)


def _is_known(value: object, schema: object) -> bool:
    """The schema itself names the value."""
    if not isinstance(schema, Mapping):
        return False
    single = (schema[each] for each in ("const", "default") if each in schema)
    several = (schema[each] for each in ("enum", "examples") if isinstance(schema.get(each), list))
    return value in [*single, *(each for values in several for each in values)]


def is_plain(value: object, nesting: int = 0) -> bool:
    """A value of few and plain words and numbers, at any depth, that stands beside no word for a secret."""
    if isinstance(value, Mapping):
        pairs = value.items()
        return nesting < MAX_NESTING and all(
            _PRIVATE.isdisjoint(name_parts(str(name))) and is_plain(each, nesting + 1) for name, each in pairs
        )
    if isinstance(value, list):
        return nesting < MAX_NESTING and all(is_plain(each, nesting + 1) for each in value)
    text = "" if value is None else str(value)
    words = text.split()
    is_short = len(words) <= MAX_WORDS and sum(map(str.isdecimal, text)) <= MAX_DIGITS
    return _DATE.fullmatch(text) is not None or (
        is_short and all(_PLAIN.fullmatch(each.rstrip(",.!?")) for each in words)
    )
