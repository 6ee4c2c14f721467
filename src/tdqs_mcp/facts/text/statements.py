"""What a text states: what it affirms and denies, its bounds and defaults, its hints, its plain purpose."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, partial
from typing import NamedTuple

from tdqs_mcp.facts.catalog.names import Label
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import LEMMAS, Cue
from tdqs_mcp.facts.text.patterns import PatternTable, expand, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.text.prose import cues_of
from tdqs_mcp.facts.text.wording import is_in_other_language, lead_in_length
from tdqs_mcp.facts.text.words import content_stems, stem, words_of

_PATTERNS = PatternTable("statements")
_words = partial(words_from, "statements")

MAX_BORROWED = 12
"""Words of a first sentence that another description may carry; longer ones are no longer plain."""

MAX_APART = 4
"""Words from the word "default" to the value that it speaks of."""

MAX_REACH = 100
"""Characters that hold them."""

_JOINT = lazy_pattern(r"(?=,\s)|(?<=\s)(?=and\s)")
_DEFAULT = lazy_pattern(r"\bdefaults?\b")
_VALUE = lazy_pattern(r"-?\w[\w.+/:-]*(?<![.:])")
_PLAIN_WORD = lazy_pattern(r"[A-Za-z0-9'/&-]{1,40}")


class Polarity(NamedTuple):
    """The stems of the words that a text affirms and that it denies; it may do both with one of them."""

    affirmed: frozenset[str]
    denied: frozenset[str]


NO_POLARITY = Polarity(frozenset(), frozenset())
"""Of a text without a word."""


def is_negation(word: str) -> bool:
    """A lower-case word that turns what follows it."""
    return word in _words("negations") or word.endswith("n't")


def read_polarity(text: str) -> Polarity:
    """What a negation reaches, from where it stands to the end of its clause, is denied; linear in the text."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in _clauses(text.lower().replace("’", "'").replace(" or not ", " ")):
        words = words_of(clause)
        first = next((place for place, word in enumerate(words) if is_negation(word)), len(words))
        last = _reach(words, first)
        before, under, after = map(content_stems, (words[:first], words[first:last], words[last:]))
        if first < len(words) and _is_passive(words, first, under):
            is_object = words[first] in _words("of_nouns")
            under |= content_stems(words[first - 1 : first]) if is_object else before
        denied |= under
        affirmed |= (before - under) | after
    return Polarity(frozenset(affirmed), frozenset(denied - _words("negations")))


def _is_passive(words: Sequence[str], first: int, under: frozenset[str]) -> bool:
    """A negation at this place denies what stands before it: its verb says nothing without, or stands there itself.

    Of "returns closed ones, never others" it denies nothing that is named.
    """
    if under or words[first] in _words("of_nouns"):
        return under <= _words("passive")
    is_last = first == len(words) - 1
    stands_before = is_last and (
        words[first].endswith("n't") or (first > 0 and words[first - 1] in _words("auxiliaries"))
    )
    return stands_before or not _words("empty_verbs").isdisjoint(words[first + 1 :])


def _reach(words: Sequence[str], first: int) -> int:
    """Where the reach of a clause's first negation ends."""
    if first == len(words) or words[first] not in _words("of_nouns"):
        return len(words)
    return next(
        (place for place in range(first + 1, len(words)) if words[place] in _words("results")),
        len(words),
    )


def _clauses(text: str) -> list[str]:
    """The clauses, a condition apart from what it is the condition of."""
    found: list[str] = []
    for clause in _PATTERNS.negation_end.split(text):
        found += clause.split(",", 1) if _PATTERNS.condition.match(clause) else _parted(clause)
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
        has_verb = has_verb or _words("opening_verbs").issuperset(words[:1]) or _closes(words)
    yield said


def _closes(words: Sequence[str]) -> bool:
    """A verb stands there that belongs to no alternative and to no relative clause."""
    end = next((place for place, word in enumerate(words) if word in _words("open_ended")), len(words))
    return any(word in _words("auxiliaries") or word == "cannot" or word.endswith("n't") for word in words[:end])


class Bound(StrEnum):
    """What a value is to what it bounds."""

    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    ABOVE = "bound to stay above"
    BELOW = "bound to stay below"
    DEFAULT = "default"


class BoundedValue(NamedTuple):
    """A value that a text calls a bound or a default, in lower case, and where it stands."""

    bound: Bound
    value: str
    place: int


BOUND_KEYWORDS: Mapping[str, Bound] = {
    "minimum": Bound.MINIMUM,
    "minLength": Bound.MINIMUM,
    "minItems": Bound.MINIMUM,
    "exclusiveMinimum": Bound.ABOVE,
    "maximum": Bound.MAXIMUM,
    "maxLength": Bound.MAXIMUM,
    "maxItems": Bound.MAXIMUM,
    "exclusiveMaximum": Bound.BELOW,
    "default": Bound.DEFAULT,
}
"""What the value of a schema's keyword is."""


def find_bounds(text: str) -> tuple[BoundedValue, ...]:
    """Every bound and default that the text states; linear in the text.

    A default may be any word, so each word beside "default" is given: who asks knows which of them are values.
    """
    said = text.lower()
    return (*_numbers(said), *_defaults(said))


def _numbers(text: str) -> Iterator[BoundedValue]:
    """A number is read once: by the first pattern that has it."""
    if not any(map(str.isdecimal, text)):
        return
    for pattern in (_PATTERNS.range, _PATTERNS.bare_range):
        for found in pattern.finditer(text):
            yield BoundedValue(Bound.MINIMUM, found[1], found.start())
            yield BoundedValue(Bound.MAXIMUM, found[2], found.start())
        text = pattern.sub(_blank, text)
    for bound, pattern in _bound_patterns():
        for found in pattern.finditer(text):
            yield BoundedValue(bound, found[1], found.start(1))
        text = pattern.sub(_blank, text)


@cache
def _bound_patterns() -> tuple[tuple[Bound, re.Pattern[str]], ...]:
    entries = read_table("statements")["bounds"]
    return tuple((Bound[bound.upper()], re.compile(expand("statements", source))) for bound, source in entries)


def _defaults(text: str) -> Iterator[BoundedValue]:
    for found in _DEFAULT.finditer(text):
        last = min(len(text), found.end() + MAX_REACH)
        end = _PATTERNS.default_end.search(text, found.end(), last)
        words = list(_VALUE.finditer(text, found.end(), end.start() if end else last))
        yield from _up_to_number(words[:MAX_APART])
    for found in _PATTERNS.omitted.finditer(text):
        first = max(0, found.start() - MAX_REACH)
        start = max((end.end() for end in _PATTERNS.default_end.finditer(text, first, found.start())), default=first)
        words = list(_VALUE.finditer(text, start, found.start()))
        yield from _up_to_number(words[: -MAX_APART - 1 : -1])


def _up_to_number(words: list[re.Match[str]]) -> Iterator[BoundedValue]:
    """The words up to the first number, and that number."""
    for word in words:
        yield BoundedValue(Bound.DEFAULT, word[0], word.start())
        if word[0][-1].isdecimal():
            return


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def purpose(subject: Subject, label: Label) -> str:
    """The first sentence's plain opening, in the imperative: "Lists open issues, newest first." -> list open issues.

    Empty unless it opens with the name's kind of verb, has the name's resource, tells no limit or extent and says
    nothing to an agent: another tool's text is hostile input, and nothing beyond its purpose may get into other
    descriptions.
    """
    first = " ".join(subject.prose.sentences[0].split()) if subject.prose.sentences else ""
    clause, *rest = _PATTERNS.purpose_end.split(first[lead_in_length(first) :], maxsplit=1)
    words = clause.split()
    while any(rest) and words and words[-1].lower() in _words("joints"):
        words.pop()
    spoken = [word.lower() for word in words]
    verb = LEMMAS.get(spoken[0]) if words else None
    is_short = len(words) <= MAX_BORROWED and all(map(_PLAIN_WORD.fullmatch, words))
    is_scoped = Cue.LIMIT in cues_of(spoken) or ("all" in spoken and verb not in _words("listing_verbs"))
    is_harmless = is_short and not is_scoped and _words("orders").isdisjoint(spoken)
    is_plain = subject.prose.opens_with_verb and not is_in_other_language(subject)
    is_purpose = is_plain and subject.prose.verb == verb and subject.prose.effect == label.effect
    is_about = bool(label.resource) and label.resource[-1] in set(map(stem, spoken))
    return " ".join((verb, *words[1:])) if verb and is_harmless and is_purpose and is_about else ""


def stated_hints(sentence: str) -> tuple[tuple[str, bool], ...]:
    """The hints that a sentence states of the whole tool, without reservation and in a form that leaves no doubt.

    "It is read-only." states one; "nothing is read-only here", "it no longer deletes anything" and "read-only unless
    `force` is set" state none.
    """
    opened = ((hint, pattern.match(sentence)) for hint, pattern in _hint_patterns().items())
    return tuple(hint for hint, found in opened if found and not _PATTERNS.reserved.search(sentence, found.end()))


def says_read_only(subject: Subject) -> bool:
    """The description says of the whole tool, in a sentence of its own, that it is read-only; no verb gainsays it."""
    effects = (subject.prose.effect, subject.prose.name_effect)
    is_gainsaid = any(effect is not None and effect.is_mutating for effect in effects)
    return not is_gainsaid and any(
        ("readOnlyHint", True) in stated_hints(sentence) for sentence in subject.prose.sentences
    )


@cache
def _hint_patterns() -> Mapping[tuple[str, bool], re.Pattern[str]]:
    entries = read_table("statements")["hints"]
    return {(hint, value): re.compile(expand("statements", form), re.IGNORECASE) for hint, value, form in entries}
