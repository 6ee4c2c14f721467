"""What a text amounts to where it names no type: signs that point to some types and away from others."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tdqs_mcp.facts.sayings import DIGITS, words_in
from tdqs_mcp.facts.text.patterns import lazy_pattern

_Search = Callable[[str], re.Match[str] | None]


class Role(StrEnum):
    """How much of the text a sign speaks for."""

    OPENING = "opening"
    """It opens the text with its type; the rest of it cannot mean another."""

    VALUE = "value"
    """It gives the value itself: true or false, a number."""

    UNIT = "unit"
    FORMAT = "format"
    """It names a format of text."""

    NOUN = "noun"
    ID = "id"


LOOSE = frozenset({Role.NOUN, Role.ID})
"""Roles in which a noun is the sign, and a verb before it may have other reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A phrase, sought in lower-case text."""

    role: Role
    search: _Search
    kinds: frozenset[str]
    """Types that it fits."""

    against: frozenset[str]
    """Types that it speaks against."""

    words: str
    """How to say it."""

    cues: frozenset[str]
    """It stands in no text that has none of these words."""


_LEAD = (
    r"^\W{0,3}(?:\((?:optional|required)[^)]{0,20}\)\W{0,3})?(?:optional|required)?[:,.]?\s*(?:an?\s+|the\s+"
    r"|your\s+)?(?:optional\s+)?"
)


def _searching(pattern: str) -> _Search:
    """Finds the pattern in lower-case text, since to ignore case takes twice as long.

    What opens with _LEAD does so in each alternative, so that it need not be looked for everywhere.
    """
    compiled = lazy_pattern(pattern, re.DOTALL)
    is_opening = pattern.startswith(_LEAD)

    def search(text: str) -> re.Match[str] | None:
        return compiled.match(text) if is_opening else compiled.search(text)

    return search


_FEW = r"(?:(?!(?:new|of|for|to|in|if|whether|only|also|per)\b)[\w-]+\s+){0,2}?"
_SIGNS = tuple(
    Sign(
        role=role,
        search=_searching(pattern),
        kinds=frozenset(kinds.split()),
        against=frozenset(against.split()),
        words=words,
        cues=frozenset(cues.split()),
    )
    for role, pattern, kinds, against, words, cues in (
        (
            Role.OPENING,
            _LEAD + r"(?:(?:boolean|bool)\b|whether\b|if\s+(?:set\s+to\s+)?[`'\"]?true\b|"
            r"true\s+(?:if|to|when|for|means)\b|when\s+(?:set\s+to\s+)?[`'\"]?true\b|"
            r"set\s+(?:this\s+|it\s+)?(?:to\s+)?[`'\"]?true\b|flag\s+(?:to|indicating|for)\b)",
            "boolean",
            "string integer number array object",
            "a boolean",
            "boolean bool whether true flag",
        ),
        (
            Role.OPENING,
            _LEAD + r"(?:(?:indicates|specifies|determines|controls)\s+(?:whether|if)\b)",
            "boolean",
            "integer number array object",
            "a boolean",
            "whether if",
        ),
        (
            Role.VALUE,
            (
                r"\btrue\s*(?:/|or|\|)\s*false\b|\bdefaults?(?:\s+(?:is|to|value|value\s+is))?\s*[:=]?\s*[`'\"]?(?:true"
                r"|false)\b"
                r"|\bset\s+to\s+[`'\"\u2018\u201c]?(?:true|false)\b|\b(?:if|when|for)\s+[`'\"\u2018\u201c]?"
                r"(?:true|false)\b"
                r"|\((?:true|false)\)"
                r"|\b(?:true|false)\s+for\b"
            ),
            "boolean",
            "string integer number array object",
            "a boolean",
            "true false",
        ),
        (
            Role.OPENING,
            _LEAD + r"(?:limit\s+(?:on|for)\s+the\s+)?"
            r"(?:(?:maximum|max\.?|minimum|min\.?|total|approximate|desired|exact)\s+){0,3}"
            r"(?:number|count|amount|quantity)\s+of\b"
            r"|" + _LEAD + r"(?:integer|int|numeric|float|number)\s+(?:value|between|from|of|in|representing|that|\()"
            r"|" + _LEAD + r"(?:maximum|max\.?|minimum|min\.?)\s+(?:\w+\s+){0,2}"
            r"(?:results?|items?|entries|records|rows|documents|files|pages|messages|events|words|lines|characters"
            r"|tokens|"
            r"depth|width|height|size|price|count|limit|retries|attempts|seconds|milliseconds|minutes|score)\b",
            "integer number",
            "string boolean array object",
            "a number",
            "number count amount quantity integer int numeric float maximum max minimum min",
        ),
        (
            Role.VALUE,
            (
                r"\bdefaults?(?:\s+(?:is|to|value\s+is|value))?\s*[:=]?\s*-?\d+(?:\.\d+)?(?![\w:/.\-][\w])"
                r"(?!\s*(?:days?|hours?|d|h|m|months?|weeks?|years?)\b)"
                r"|\(\s*-?\d+(?:\.\d+)?\s*(?:-|–|to|\.\.+)\s*-?\d+(?:\.\d+)?\s*[,;)]"
                r"|\b(?:between|from)\s+-?\d+(?:\.\d+)?\s+(?:and|to)\s+-?\d+(?:\.\d+)?\b(?!\s*(?:char|letter|word"
                r"|symbol|digit))"
                r"|\b(?:0|1|zero|one)-(?:based|indexed)\b|\b(?:page|line|row|column)\s+number\b|\b(?:integer|float)\b"
            ),
            "integer number",
            "string boolean array object",
            "a number",
            "based indexed number integer float 0 1 2 3 4 5 6 7 8 9",
        ),
        (
            Role.UNIT,
            (
                r"\b(?:in|of)\s+(?:seconds|milliseconds|ms|minutes|pixels|bytes|meters|metres|kilometers|points"
                r"|inches)\b(?!\s*\()"
                r"|\b(?:percentage|latitude|longitude)\b"
            ),
            "integer number",
            "boolean array object",
            "a number",
            (
                "seconds milliseconds ms minutes pixels bytes meters metres kilometers points inches percentage "
                "latitude longitude"
            ),
        ),
        (
            Role.OPENING,
            _LEAD + r"(?:json\s+|[a-z-]+\s+)?"
            r"(?:(?:array|list|collection)s?\s+(?:of|containing|with)\b|one\s+or\s+more\b|array\b)",
            "array",
            "string integer number boolean object",
            "an array",
            "array arrays list lists collection one",
        ),
        (
            Role.OPENING,
            _LEAD + r"(?:json\s+)?(?:object|dictionary|dict|map|mapping|hash)\s+"
            r"(?:of|containing|with|that|mapping|specifying|describing|for|to|from)\b"
            r"|^.*?\bkey[-/ ]value\s+pairs\b",
            "object",
            "string integer number boolean array",
            "an object",
            "object dictionary dict map mapping hash key",
        ),
        (
            Role.FORMAT,
            (
                r"(?<![a-z])(?:iso[- ]?8601|rfc[- ]?3339|yyyy-mm(?:-dd)?|uuid|guid|e-?mail\s+address"
                r"|comma[- ]separated|"
                r"comma[- ]delimited|hex(?:adecimal)?\s+colou?r|regular\s+expression|regex|iana|base64|markdown|slug"
                r"|url-encoded|"
                r"(?:file|folder|directory)\s+path|path\s+to|json\s+string|(?:query|search)\s+string"
                r"|as\s+an?\s+(?:\w+\s+)?string|"
                r"(?:absolute|relative)\s+(?:\w+\s+){0,2}path|string)\b"
            ),
            "string",
            "integer number boolean object",
            "text",
            (
                "iso rfc uuid guid email mail comma hex hexadecimal regular regex iana base markdown slug url file "
                "yyyy folder directory path json string strings"
            ),
        ),
        (
            Role.NOUN,
            _LEAD + _FEW + r"(?:url|uri|path|file\s*name|filename|name|title|description|query|string|text|"
            r"prompt|message|content|body|token|slug|email|keyword|e-?mail|language|timezone|time\s+zone|address|arn|"
            r"expression|pattern|comment|summary|username|password|key)"
            r"(?=\s+(?:of|to|for|in|string|from|where|that|on|with|or|used|pattern|which)\b|\s*$|\s*[.,;:(])",
            "string",
            "integer number boolean array object",
            "text",
            (
                "url uri path file filename name title description query string text prompt message content body token "
                "slug email "
                "keyword mail language timezone zone address arn expression pattern comment summary username password "
                "key"
            ),
        ),
        (
            Role.ID,
            _LEAD + _FEW + r"(?:id|identifier|guid|uuid)"
            r"(?=\s+(?:of|to|for|in|from|where|that|on)\b|\s*$|\s*[.,;:(])",
            "string integer number",
            "boolean array object",
            "one id",
            "id identifier guid uuid",
        ),
    )
)

GRANTING = tuple(sign for sign in _SIGNS if sign.role not in (Role.UNIT, Role.ID))
"""Signs strong enough to excuse another: an id or a unit may stand in any text."""


@lru_cache(maxsize=4096)
def pointing(text: str, held: frozenset[str]) -> tuple[Sign, ...]:
    """The signs of a text that point away from all of some types; generated tools repeat the same texts."""
    words, lowered = words_in(text), text.lower()
    if not DIGITS.isdisjoint(words) and not _MAY_NUMBER.search(lowered):
        words -= DIGITS
    return tuple(sign for sign in signs_against(held) if not words.isdisjoint(sign.cues) and sign.search(lowered))


_MAY_NUMBER = lazy_pattern(r"default|[(]\s*-?\d|between|from|[01]-(?:based|indexed)")
"""Without one of these a digit is no sign of a number: begins with letters, to be quickly seen as well."""


@lru_cache(maxsize=256)
def signs_against(held: frozenset[str]) -> tuple[Sign, ...]:
    """The signs that speak against all of some types."""
    return tuple(sign for sign in _SIGNS if held <= sign.against)
