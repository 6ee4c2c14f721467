"""What a text says of numbers and values as bounds and defaults: which one is the least, the most, or taken unasked."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple


class Bound(StrEnum):
    """What a value is to what it bounds."""

    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    ABOVE = "bound to stay above"
    BELOW = "bound to stay below"
    DEFAULT = "default"


class Bounded(NamedTuple):
    """A value that a text calls a bound or a default, in lower case, and where it stands."""

    bound: Bound
    value: str
    place: int


KEYWORDS: Mapping[str, Bound] = {
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

_TO = r"\s?(?:-|–|—|\.{2,3}|to|and)\s?"  # noqa: RUF001  # as people write ranges
_NUMBER = r"`?(-?\d+(?:[.,:]\d+)*)`?"
_FIRST = rf"(?<![\w.,:-]){_NUMBER}"
_RANGES = (
    re.compile(
        rf"\b(?:between|from|within|range(?:s|d)?(?: is| of| from| between)?):? {_FIRST}{_TO}{_NUMBER}(?![\w-])"
    ),
    re.compile(rf"{_FIRST}{_TO.replace('|and', '')}{_NUMBER}(?![\w-])"),
)
_NOT = r"(?:no|not|never|n't|n’t|cannot|cannot be|may not be|must not be)"
_LESS = r"(?:less|fewer|lower|smaller|shorter)"
_MORE = r"(?:more|greater|higher|larger|longer|bigger)"
_IS = r"(?:(?: \w+){0,2} (?:of|is|are|to|at|be)|\s?[:=])?"
_ALONE = r"(?!(?: (?:of|is|are))?[\s:=]*`?-?\d)"
_BOUNDS = (
    (Bound.MINIMUM, rf"(?:\b(?:at (?:the )?least|{_NOT} (?:{_LESS} than|below|under))|>=|≥)\s?{_FIRST}"),
    (Bound.MAXIMUM, rf"(?:\b(?:at (?:the )?most|up to|{_NOT} (?:{_MORE} than|above|over|exceed))|<=|≤)\s?{_FIRST}"),
    (Bound.MAXIMUM, rf"\b(?:exceeding|limit(?:ed)? (?:of|to)|capp?(?:ed)? (?:at|of|to)) {_FIRST}"),
    (Bound.MINIMUM, rf"\b(?:min(?:imum|imal(?:ly)?)?|lowest|smallest|starting (?:at|from)|from)\b\.?{_IS}\s?{_FIRST}"),
    (Bound.MAXIMUM, rf"\b(?:max(?:imum|imal(?:ly)?)?|highest|largest|greatest|biggest)\b\.?{_IS}\s?{_FIRST}"),
    (Bound.ABOVE, rf"(?:\b(?:{_MORE} than|above|over)|>)\s?{_FIRST}"),
    (Bound.BELOW, rf"(?:\b(?:{_LESS} than|below|under)|<)\s?{_FIRST}"),
    (Bound.MINIMUM, rf"{_FIRST}(?:\+|(?: \w+){{0,2}} (?:(?:or|and) (?:{_MORE}|above|over|up(?:wards)?)|at least)\b)"),
    (Bound.MAXIMUM, rf"{_FIRST}(?: \w+){{0,2}} (?:(?:or|and) (?:{_LESS}|below|under)|at most|limit)\b"),
    (Bound.MINIMUM, rf"{_FIRST}(?: \w+){{0,2}} min(?:imum)?\b{_ALONE}"),
    (Bound.MAXIMUM, rf"{_FIRST}(?: \w+){{0,2}} max(?:imum)?\b{_ALONE}"),
)
_FORMS = tuple((bound, re.compile(form)) for bound, form in _BOUNDS)

_DEFAULT = re.compile(r"\bdefaults?\b")
_UNASKED = re.compile(
    r"\b(?:(?:by|the|as|a) default"
    r"|(?:if|when) (?:\S+ ){0,3}?(?:omitted|unset|left out|not (?:given|set|specified|passed))"
    r"|unless (?:\S+ ){0,3}?(?:given|set|specified|passed))\b"
)
_END = re.compile(r"[,;()]|\.(?:\s|$)|\b(?:and|or|but|when|if|unless|with)\b")
_WORD = re.compile(r"-?\w[\w.+/:-]*(?<![.:])")

MAX_APART = 4
"""Words from the word "default" to the value that it speaks of."""

MAX_REACH = 100
"""Characters that hold them."""


def read(text: str) -> tuple[Bounded, ...]:
    """Every bound and default that the text states; linear in the text.

    A default may be any word, so each word beside "default" is given: who asks knows which of them are values.
    """
    said = text.lower()
    return (*_numbers(said), *_defaults(said))


def _numbers(text: str) -> Iterator[Bounded]:
    """A number is read once: by the first form that has it."""
    if not any(map(str.isdecimal, text)):
        return
    for form in _RANGES:
        for found in form.finditer(text):
            yield Bounded(Bound.MINIMUM, found[1], found.start())
            yield Bounded(Bound.MAXIMUM, found[2], found.start())
        text = form.sub(_blank, text)
    for bound, form in _FORMS:
        for found in form.finditer(text):
            yield Bounded(bound, found[1], found.start(1))
        text = form.sub(_blank, text)


def _defaults(text: str) -> Iterator[Bounded]:
    for found in _DEFAULT.finditer(text):
        last = min(len(text), found.end() + MAX_REACH)
        end = _END.search(text, found.end(), last)
        words = list(_WORD.finditer(text, found.end(), end.start() if end else last))
        yield from _first(words[:MAX_APART])
    for found in _UNASKED.finditer(text):
        first = max(0, found.start() - MAX_REACH)
        start = max((end.end() for end in _END.finditer(text, first, found.start())), default=first)
        words = list(_WORD.finditer(text, start, found.start()))
        yield from _first(words[: -MAX_APART - 1 : -1])


def _first(words: list[re.Match[str]]) -> Iterator[Bounded]:
    """The words up to the first number, and that number."""
    for word in words:
        yield Bounded(Bound.DEFAULT, word[0], word.start())
        if word[0][-1].isdecimal():
            return


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
