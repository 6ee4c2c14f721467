"""What a text affirms and what it denies: the words under its negations, and all others."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tdqs_mcp.facts.stems import content
from tdqs_mcp.facts.words import words_of

NEGATIONS = frozenset(
    "not no never cannot can't don't doesn't won't isn't aren't without nothing none nobody neither nor".split()
)
_OF_NOUNS = frozenset("no without nothing none nobody neither".split())
"""Negations whose reach ends where the text says what then happens: "no match gives an empty list"."""

_RESULTS = frozenset("gives yields returns means raises fails leads costs".split())
_HANDED = frozenset(
    "include included show contain contained give find get cover covered support supported count counted accept "
    "accepted allow allowed list available".split()
)
"""Verbs whose subject is denied with them: "closed orders are not included"; of "changes nothing" it is the verb."""

_CONDITION = re.compile(r"\s*(?:if|when|unless|where|because|since|while|for)\b", re.IGNORECASE)
_BREAK = re.compile(
    r"[;:()\[\]—|]|[.!?](?:\s|$)|\s-\s"
    r"|,\s(?=(?:it|they|this|the|an?|all|but|so|and|returns?|gives?|use|instead|then|otherwise|which|that|see|call)\b)"
    r"|\b(?=(?:but|if|when|unless|where|because|which|since|while|except|and (?:returns?|gives?))\b)",
    re.IGNORECASE,
)
"""Where the reach of a negation ends at the latest."""


class Polarity(NamedTuple):
    """The stems of the words that a text affirms and that it denies; it may do both with one of them."""

    affirmed: frozenset[str]
    denied: frozenset[str]


NOTHING = Polarity(frozenset(), frozenset())
"""Of a text without a word."""


def is_negation(word: str) -> bool:
    """A lower-case word that turns what follows it."""
    return word in NEGATIONS or word.endswith("n't")


def read(text: str) -> Polarity:
    """What a negation reaches, from where it stands to the end of its clause, is denied; linear in the text."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in _clauses(text.lower().replace("’", "'").replace(" or not ", " ")):
        words = words_of(clause)
        first = next((place for place, word in enumerate(words) if is_negation(word)), len(words))
        last = _reach(words, first)
        before, under, after = content(words[:first]), content(words[first:last]), content(words[last:])
        if first < len(words) and under <= _HANDED:
            is_object = words[first] in _OF_NOUNS
            under |= content(words[first - 1 : first]) if is_object else before
        denied |= under
        affirmed |= (before - under) | after
    return Polarity(frozenset(affirmed), frozenset(denied - NEGATIONS))


def _reach(words: Sequence[str], first: int) -> int:
    """Where the reach of a clause's first negation ends."""
    if first == len(words) or words[first] not in _OF_NOUNS:
        return len(words)
    return next((place for place in range(first + 1, len(words)) if words[place] in _RESULTS), len(words))


def _clauses(text: str) -> list[str]:
    """The clauses, a condition apart from what it is the condition of."""
    found: list[str] = []
    for clause in _BREAK.split(text):
        found += clause.split(",", 1) if _CONDITION.match(clause) else [clause]
    return found
