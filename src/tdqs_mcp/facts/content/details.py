"""What a description is precise about: conditions, limits, numbers, examples."""

import re
from dataclasses import dataclass

from tdqs_mcp.facts.content.marks import Mark
from tdqs_mcp.facts.content.sentences import Text

_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r"[\"'`]([^\"'`\s][^\"'`\n]{0,60})[\"'`]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Counts of different marks."""

    conditions: int
    """Different words that set a condition: if, when, after, by default."""

    limits: int
    """Words that exclude something: not, only, without, except."""

    mechanics: int
    """Phrases that say what happens by itself: automatically, is overwritten, will be sent."""

    means: int
    """Phrases that say how it is done: using, via, based on."""

    inclusions: int
    """Phrases that open a list of parts: including, containing."""

    numbers: int
    units: int
    quotations: int
    """Different words in quotes or backticks."""

    asides: int
    """Sentences with a parenthesis, outside parameter lists."""


def details(text: Text) -> Details:
    """What the sentences that tell something mark."""
    marks = {mark: len({word for each in text.outside for word in each.marks.get(mark, ())}) for mark in Mark}
    return Details(
        conditions=marks[Mark.CONDITION],
        limits=marks[Mark.LIMIT],
        mechanics=marks[Mark.MECHANICS],
        means=marks[Mark.MEANS],
        inclusions=marks[Mark.INCLUSION],
        numbers=len({number for each in text.outside for number in _NUMBER.findall(each.text)}),
        units=marks[Mark.UNIT],
        quotations=len({word for each in text.telling for word in _QUOTED.findall(each.text)}),
        asides=sum("(" in each.text for each in text.outside),
    )
