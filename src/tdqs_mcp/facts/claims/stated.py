"""Types that a text gives outright."""

import re
from collections.abc import Mapping
from functools import lru_cache

from tdqs_mcp.facts.claims.claim import NEGATIONS, demands
from tdqs_mcp.facts.sayings import Origin, words_in
from tdqs_mcp.facts.text.patterns import lazy_pattern

TYPE_WORDS: dict[str, frozenset[str]] = {
    word: frozenset(kinds.split())
    for words, kinds in (
        ("string strings str", "string"),
        ("integer integers int ints", "integer"),
        ("number numbers float floats numeric decimal double", "number integer"),
        ("boolean booleans bool bools", "boolean"),
        ("array arrays list lists", "array"),
        ("object objects dict dictionary map mapping", "object"),
    )
    for word in words.split()
}
_TYPE = r"(?:whole\s+|floating[- ]point\s+)?(" + "|".join(sorted(TYPE_WORDS, key=len, reverse=True)) + r")"
_AFTER_TYPE = (
    r"(?=\s*(?:$|[.,;:)|(\n/\]]|-\s|–|—)"
    r"|\s+(?:of|containing|with|that|which|who|in|for|to|from|representing|values?|like|such|and|or|not|only|between|"
    r"greater|less|where|when|if|by|is|as|e\.g|per|at|must|should)\b)"
)
_ADJECTIVE = (
    r"(?:(?:valid|single|positive|negative|non-negative|nonnegative|non-empty|plain|simple|json|utf-8|unique|optional|"
    r"required|numeric|text|literal|real|comma-separated|comma-delimited|space-separated|flat|nested|short|"
    r"one-dimensional|two-dimensional|2d|iso|formatted|encoded|base64|stringified|serialized|native|date|datetime|"
    r"unsigned|signed|64-bit|32-bit|proper|actual)\s+){0,3}"
)
_NORMATIVE = lazy_pattern(
    r"(?:\b(?:must|should|shall|has\s+to|needs\s+to|have\s+to)\s+(?P<not2>not\s+)?(?:always\s+)?be\s+"
    r"(?:(?:provided|given|passed|specified|supplied|sent|formatted|encoded|set|entered|written)\s+)?(?:as\s+|to\s+"
    r"|in\s+)?"
    r"|\b(?:accepts?|expects?|takes|requires)\s+(?:only\s+)?"
    r"|\b(?:pass(?:ed)?|provided?|given?|specif(?:y|ied)|suppl(?:y|ied)|sent|send|enter(?:ed)?|encoded|formatted)\s+"
    r"(?:(?:it|this|them|these|in|the\s+values?|values?|[`'\"]?[\w.$-]{1,60}[`'\"]?)\s+)?(?:as\s+)?(?=an?\s)"
    r"|\b(?:set|setting)\s+(?:the\s+)?[`'\"]?[\w.$-]{1,60}[`'\"]?\s+to\s+(?=an?\s)"
    r"|\b(?:data\s*)?type\s*(?::|=|is|of)\s*"
    r"|\bis\s+(?=an?\s)(?P<is>)"
    r"|(?:^|(?<=[\w`'\"*])\s)\((?P<paren>)|^(?P<lead>)(?!list\b)(?=\w+(?:\s+values?|\s*[,.;:]|\s*$|\s+\()))"
    r"(?:an?\s+|the\s+)?(?P<adjective>" + _ADJECTIVE + r")" + _TYPE + _AFTER_TYPE
)
"""For lower-case text: to ignore case takes twice as long."""

_TYPED = lazy_pattern(_TYPE.partition(")?")[2] + _AFTER_TYPE)
"""A type and what may follow it: begins with its letters, so that it is quickly seen that there is none."""

_OR_TYPE = lazy_pattern(r"\s*(?:\||/|,?\s*or)\s*(?:an?\s+|the\s+)?" + _ADJECTIVE + _TYPE + r"\b", re.IGNORECASE)
_ELSE = lazy_pattern(
    r"[^.;\n]{0,40}?(?:,\s*|\bor\s+)(?:(?:the\s+)?(?:literal|string|special)\s+\w*\s*)?[`'\"]|\s+\w+\s+or\s",
    re.IGNORECASE,
)
"""What follows a type where something else will do as well: a quoted word, another noun."""

CODED = frozenset("separated delimited stringified serialized encoded".split())
"""Adjectives of a list or object that is passed as text."""


@lru_cache(maxsize=4096)
def stated(text: str, origin: Origin) -> Mapping[str, frozenset[str]]:
    """Types that a text gives outright, by the word it uses; alternatives count together."""
    if words_in(text).isdisjoint(TYPE_WORDS) or not demands(text, origin):
        return {}
    lowered = text.lower()
    return _stated_types(lowered, origin) if _TYPED.search(lowered) else {}


def _stated_types(text: str, origin: Origin) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for match in _NORMATIVE.finditer(text):
        if not _demands_one(match, text, origin):
            continue
        word = match[match.lastindex or 0]
        found[word] = TYPE_WORDS[word]
        if not CODED.isdisjoint(match["adjective"].replace("-", " ").split()):
            found[word] = frozenset({"string"})
        other = _OR_TYPE.match(text, match.end())
        while other is not None:
            found[other[1]] = TYPE_WORDS[other[1]]
            other = _OR_TYPE.match(text, other.end())
    return found


def _demands_one(match: re.Match[str], text: str, origin: Origin) -> bool:
    """Whether the phrase demands a type here: not denied, not said of something else, and nothing else will do."""
    is_denied = match["not2"] is not None or text[max(0, match.start() - 6) : match.start()].endswith(NEGATIONS)
    is_aside = match["paren"] is not None and (origin is Origin.OWN or text.startswith(" values", match.end()))
    is_elsewhere = (match["is"] is not None and origin is not Origin.SENTENCE) or (
        match["lead"] is not None and origin is not Origin.ENTRY
    )
    return not (is_denied or is_aside or is_elsewhere or _ELSE.match(text, match.end()))
