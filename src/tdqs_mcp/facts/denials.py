"""What a text affirms and what it denies: the words under its negations, and all others."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tdqs_mcp.facts.text.words import content_stems, words_of

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

_SILENT = frozenset("return returns returned get gets got give gives given take takes taken use uses used".split())
"""Such verbs, which claim nothing of their own: "deleted ones are never returned"."""

_VERBS = frozenset(
    "is are was were be been do does did has have had can could will would may might must should".split()
)
_OPENERS = frozenset(
    "return returns give gives show shows find finds get gets include includes keep keeps delete deletes remove "
    "removes".split()
)
_OPEN_ENDED = frozenset("or nor that which who".split())
"""Words behind which a verb closes no clause of its own: "doesn't pay or pack orders that are paid"."""

_JOINT = re.compile(r"(?=,\s)|(?<=\s)(?=and\s)")
_CONDITION = re.compile(r"\s*(?:if|when|unless|where|because|since|while|for)\b", re.IGNORECASE)
_BREAK = re.compile(
    r"[;:()\[\]—|]|[.!?](?:\s|$)|\s-\s|(?<=\bnot),|(?<=\bnever),"
    r"|,\s(?=(?:it|they|this|the|an?|all|but|so|and|returns?|gives?|use|instead|then|otherwise|which|that|see|call)\b)"
    r"|\b(?=(?:but|if|when|unless|where|because|which|since|while|except|and (?:returns?|gives?))\b)"
    r"|\b(?=(?:besides|apart from|(?:others?|else|anything) than)\b)",
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
        before, under, after = map(content_stems, (words[:first], words[first:last], words[last:]))
        if first < len(words) and _is_handed(words, first, under):
            is_object = words[first] in _OF_NOUNS
            under |= content_stems(words[first - 1 : first]) if is_object else before
        denied |= under
        affirmed |= (before - under) | after
    return Polarity(frozenset(affirmed), frozenset(denied - NEGATIONS))


def _is_handed(words: Sequence[str], first: int, under: frozenset[str]) -> bool:
    """A negation at this place denies what stands before it: its verb says nothing without, or stands there itself.

    Of "returns closed ones, never others" it denies nothing that is named.
    """
    if under or words[first] in _OF_NOUNS:
        return under <= _HANDED
    is_last = first == len(words) - 1
    stands_before = is_last and (words[first].endswith("n't") or (first > 0 and words[first - 1] in _VERBS))
    return stands_before or not _SILENT.isdisjoint(words[first + 1 :])


def _reach(words: Sequence[str], first: int) -> int:
    """Where the reach of a clause's first negation ends."""
    if first == len(words) or words[first] not in _OF_NOUNS:
        return len(words)
    return next((place for place in range(first + 1, len(words)) if words[place] in _RESULTS), len(words))


def _clauses(text: str) -> list[str]:
    """The clauses, a condition apart from what it is the condition of."""
    found: list[str] = []
    for clause in _BREAK.split(text):
        found += clause.split(",", 1) if _CONDITION.match(clause) else _parted(clause)
    return found


def _parted(clause: str) -> Iterator[str]:
    """A clause, parted where a comma or "and" begins another: with a negation, or with a verb on both sides."""
    said, has_verb = "", False
    for part in _JOINT.split(clause):
        words = words_of(part.removeprefix("and "))
        is_new = bool(words) and (is_negation(words[0]) or (has_verb and _closes(words)))
        if said and is_new:
            yield said
            said, has_verb = "", False
        said += part
        has_verb = has_verb or _OPENERS.issuperset(words[:1]) or _closes(words)
    yield said


def _closes(words: Sequence[str]) -> bool:
    """A verb stands there that belongs to no alternative and to no relative clause."""
    end = next((place for place, word in enumerate(words) if word in _OPEN_ENDED), len(words))
    return any(word in _VERBS or word == "cannot" or word.endswith("n't") for word in words[:end])
