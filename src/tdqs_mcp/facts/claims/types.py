"""Claims about the type, outright or by what the words amount to."""

import re
from collections.abc import Sequence

from tdqs_mcp.facts.claims.claim import Claim, Clash
from tdqs_mcp.facts.claims.signs import GRANTING, LOOSE, Role, Sign, pointing
from tdqs_mcp.facts.claims.stated import TYPE_WORDS, stated
from tdqs_mcp.facts.claims.values import QUOTED
from tdqs_mcp.facts.sayings import Origin, Saying
from tdqs_mcp.facts.schema.walk import Accepted
from tdqs_mcp.facts.text.languages import LEMMAS
from tdqs_mcp.facts.text.patterns import lazy_pattern

_GRANTS = lazy_pattern(
    r"\b(strings?|integers?|int|floats?|numeric|boolean|bool|arrays?|objects?|dict|dictionary|map(?=\s+of\b))\b",
    re.IGNORECASE,
)
_OF_OBJECTS = lazy_pattern(r"\b(?:list|array)s?\s+of\s+(?:[\w-]+\s+){0,3}(?:objects|strings|integers)\b", re.IGNORECASE)
_STRINGY = lazy_pattern(
    r"\bjson\b|\bcomma|\bseparated\b|\bdelimited\b|\bstringified\b|\bserialized\b|\bencoded\b|\bstrings?\b"
    r"|\bexpression\b"
    r"|\bnewline|\bsyntax\b|\bcsv\b",
    re.IGNORECASE,
)

_STRUCTURED = frozenset(
    "object objects dict dictionary map mapping structure configuration config settings options properties "
    "fields keys each items data "
    "details information metadata body payload".split()
)
_LISTED = _STRUCTURED | frozenset(
    "array arrays list lists multiple several more collection set ids names values filters or one".split()
)
"""Words of a text that may mean more than one thing, or one of several parts."""


def types(claim: Claim) -> Clash | None:
    """A type that the text gives the parameter and the schema does not accept."""
    saying, accepted = claim.saying, claim.accepted
    if not accepted.types:
        return None
    plain = stated(saying.text, saying.origin)
    if plain:
        kinds = frozenset().union(*plain.values())
        word = next(iter(plain))
        if kinds & widened(accepted.types) or (accepted.types == {"string"} and _is_encoded(saying.text, word)):
            return None
        return _type_clash(saying, word, accepted, is_plain=True)
    if saying.origin is Origin.SENTENCE:
        return None
    return _soft(saying, accepted)


def _is_encoded(text: str, word: str) -> bool:
    """An array or object that is passed as text."""
    return word in _COMPOUND and _STRINGY.search(text) is not None


_COMPOUND = frozenset("array arrays list lists object objects dict dictionary map mapping".split())


def widened(kinds: frozenset[str]) -> frozenset[str]:
    """The types that a parameter of some types also takes: a number is whole or not."""
    return kinds | {"integer", "number"} if kinds & {"integer", "number"} else kinds


def _soft(saying: Saying, accepted: Accepted) -> Clash | None:
    """What the words amount to: every sign in the text points away from what the schema accepts."""
    text, kinds_held = saying.text, accepted.types
    signs = pointing(text, kinds_held)
    if not signs or _is_granted(text, widened(kinds_held), signs[0]):
        return None
    sign = signs[0]
    is_loose = sign.role in LOOSE
    if "string" in sign.kinds and is_loose and _opens_with_verb(text):
        return None
    if not kinds_held.isdisjoint({"array", "object"}):
        if sign.role is not Role.OPENING and not _is_single(sign, text) and _is_plural(saying, accepted):
            return None
        if is_loose and _NAMELY.search(text[:60]) is None:
            return None
    if kinds_held == {"string"} and _is_excused(saying, accepted, sign):
        return None
    return _type_clash(saying, sign.words, accepted, is_plain=False)


def _is_granted(text: str, held: frozenset[str], sign: Sign) -> bool:
    """Something in the text beside the sign fits what the schema accepts."""
    if any(TYPE_WORDS[word.lower()] & held for word in _GRANTS.findall(_OF_OBJECTS.sub("", text))):
        return True
    lowered = text.lower()
    return sign.role is not Role.OPENING and any(
        each.kinds & held and each.search(lowered) is not None for each in GRANTING
    )


_NAMELY = lazy_pattern(
    r"\b(?:url|uri|name|title|email|slug|language|timezone|password|username|id|path (?:to|of))\b", re.IGNORECASE
)
"""Nouns that are text; a query, a property or a content may well be an object."""


def _is_single(sign: Sign, text: str) -> bool:
    """The sign is one of a single value, and not of a part that a long text or a name in it speaks of."""
    return sign.role is Role.FORMAT or (sign.role is Role.VALUE and len(text) <= MAX_PLAIN and "`" not in text)


MAX_PLAIN = 240
"""Characters of a description that speaks of its own parameter throughout."""


def _opens_with_verb(text: str) -> bool:
    word = _FIRST_WORD.search(text)
    first = word[0].lower() if word else ""
    return first in _VERBS or (first in LEMMAS and first not in _NOUNS)


_FIRST_WORD = lazy_pattern(r"[A-Za-z]+")
_VERBS = frozenset("include includes specifies specify indicates define defines determines only also filter".split())
_NOUNS = frozenset("query search name title label comment file process log record report message text set".split())


def _is_plural(saying: Saying, accepted: Accepted) -> bool:
    """Several things may be meant: the text or the parameter's name speaks of more than one."""
    words = _LISTED if "array" in accepted.types else _STRUCTURED
    return (saying.node.name or "").endswith(("s", "list", "data")) or not saying.words.isdisjoint(words)


def _is_excused(saying: Saying, accepted: Accepted, sign: Sign) -> bool:
    """Text that may well carry a number, a truth value or a list: quoted, encoded, or one of known strings."""
    if sign.kinds & {"array", "object"}:
        return _STRINGY.search(saying.text) is not None
    if accepted.values is not None:
        is_truth = "boolean" in sign.kinds and re.search(r"\btrue\b", saying.text, re.IGNORECASE) is not None
        return not is_truth or _are_spelled(accepted, ("true", "false"))
    return sign.role is not Role.OPENING and QUOTED.search(saying.text) is not None


def _are_spelled(accepted: Accepted, words: Sequence[str]) -> bool:
    return accepted.values is not None and {str(value).lower() for value in accepted.values} >= set(words)


def _type_clash(saying: Saying, word: str, accepted: Accepted, *, is_plain: bool) -> Clash:
    return Clash(saying=saying, said=word, held=" or ".join(sorted(accepted.types)), is_plain=is_plain)
