"""What a text says to its reader, by the concepts of its words: which ploys, where, and in what words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tdqs_mcp.facts.concepts import COMMON
from tdqs_mcp.facts.pleas import PLEAS
from tdqs_mcp.facts.ploys import Ploy
from tdqs_mcp.facts.poison import POISON
from tdqs_mcp.facts.vocabulary import BIT, EXPRESSION, SILENT, Spoken, either_of, sentence_at, spoken_words, tokens_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Saying:
    """Concepts that say something when they stand together."""

    ploy: Ploy
    chain: tuple[int, ...]
    """Concepts in this order."""

    free: tuple[int, ...]
    """Concepts anywhere near them."""

    span: int
    """Words from the first to the last."""

    elements: tuple[int, ...]
    """All of them."""

    anchor: int
    """The one that ordinary texts hold most seldom."""

    number: int
    """Its place in the data, where those that say most stand first."""

    is_spreadable: bool
    """It speaks of scores or of who gives them, which ordinary texts hardly ever do."""


def _commonness(element: int) -> int:
    ranks = [len(COMMON) - COMMON.index(concept) for concept in COMMON if BIT[concept] & element]
    return max(ranks, default=0)


_SPREADABLE = sum(BIT[concept] for concept in ("score", "grader", "topscore", "label", "rubric"))


def _parse(ploy: Ploy, line: str, number: int) -> Saying:
    """`a > b + c|d @9`: a before b, and c or d near them, within nine words."""
    stated, _, span = line.partition("@")
    elements = [either_of(BIT[concept.strip()] for concept in each.split("|")) for each in re.split("[>+]", stated)]
    ordered = 1 + stated.partition("+")[0].count(">")
    chain = 0 if ordered == 1 else ordered
    return Saying(
        ploy=ploy,
        chain=tuple(elements[:chain]),
        free=tuple(elements[chain:]),
        span=int(span),
        number=number,
        elements=tuple(elements),
        anchor=min(elements, key=_commonness),
        is_spreadable=any(element & _SPREADABLE for element in elements) and ploy is Ploy.JUDGE,
    )


@cache
def _anchored() -> dict[int, tuple[Saying, ...]]:
    """The sayings by every bit of their anchors: most texts hold few of those."""
    anchored: dict[int, list[Saying]] = {}
    lines = [(ploy, line) for ploy, text in (PLEAS | POISON).items() for line in text.split("\n") if line.strip()]
    for number, (ploy, line) in enumerate(lines):
        saying = _parse(ploy, line, number)
        for bit in _bits_of(saying.anchor):
            anchored.setdefault(bit, []).append(saying)
    return {bit: tuple(sayings) for bit, sayings in anchored.items()}


def _bits_of(bits: int) -> Iterator[int]:
    while bits:
        yield bits & -bits
        bits &= bits - 1


@cache
def _anchors() -> int:
    return either_of(_anchored())


def possible(bits: int) -> tuple[Saying, ...]:
    """The sayings all of whose concepts may occur in a text with these bits, in the order of the data."""
    anchored = _anchored()
    found = [
        saying
        for bit in _bits_of(bits & _anchors())
        for saying in anchored[bit]
        if all(map(bits.__and__, saying.elements))
    ]
    return tuple(sorted(set(found), key=_number)) if found else ()


def _number(saying: Saying) -> int:
    return saying.number


class Heard(NamedTuple):
    """A ploy of some texts."""

    ploy: Ploy
    number: int
    """The text in which it begins."""

    words: str
    sentence: tuple[str, ...]
    """The words of the sentences in which it stands, and the marks of their phrases."""


def heard(texts: Iterable[str], bits: int, sayings: Sequence[Saying]) -> Iterator[Heard]:
    """The ploys of texts with these bits that stand one after another, once for each of these sayings."""
    if not sayings:
        return
    wanted = bits & either_of(element for saying in sayings for element in saying.elements)
    tokens = tokens_of("\0".join(text.replace("\0", " ") for text in texts), wanted)
    spoken = list(spoken_words(tokens, wanted | EXPRESSION))
    neighbourhoods = _neighbourhoods(spoken)
    for saying in sayings:
        near = any(saying.anchor & bits and all(map(bits.__and__, saying.elements)) for bits in neighbourhoods)
        if near and (match := _first(spoken, saying)):
            first, last = min(word.place for word in match), max(word.place for word in match)
            end = last + (PHRASE_WORDS if tokens[last] in SILENT else 1)
            quoted = [word for word in tokens[first:end] if word not in SILENT]
            yield Heard(saying.ploy, tokens[:first].count("\0"), " ".join(quoted), sentence_at(tokens, first, last))


def _neighbourhoods(spoken: Iterable[Spoken]) -> set[int]:
    """What stands within any two neighbouring blocks of words: nothing that belongs together is further apart."""
    blocks: dict[int, int] = {}
    for place, bits in spoken:
        blocks[place // MAX_SPAN] = blocks.get(place // MAX_SPAN, 0) | bits
    return {bits | blocks.get(number + 1, 0) for number, bits in blocks.items()}


MAX_SPAN = 16
"""Words of the widest saying."""

PHRASE_WORDS = 4
"""Words of a phrase that are quoted when a saying ends with it."""


def _first(spoken: Sequence[Spoken], saying: Saying) -> list[Spoken] | None:
    """The first words that say it, sought around its anchor."""
    anchor, elements, span = saying.anchor, saying.elements, saying.span
    tries = MAX_TRIES
    for index, (place, bits) in enumerate(spoken):
        if not bits & anchor:
            continue
        begin, end = index, index + 1
        near = bits
        while begin and spoken[begin - 1][0] >= place - span:
            begin -= 1
            near |= spoken[begin][1]
        while end < len(spoken) and spoken[end][0] <= place + span:
            near |= spoken[end][1]
            end += 1
        if not all(map(near.__and__, elements)):
            continue
        for start in range(begin, index + 1):
            window = [word for word in spoken[start:end] if word[0] <= spoken[start][0] + span]
            if match := _assigned(window, saying):
                return match
        if not (tries := tries - 1):
            return None
    return None


MAX_TRIES = 500
"""Places where all concepts of a saying stand near each other in the wrong way; a real text has a few."""


def _assigned(window: Sequence[Spoken], saying: Saying) -> list[Spoken] | None:
    """A different word for each concept, those of the chain in order."""
    chained: list[Spoken] = []
    left = iter(window)
    for element in saying.chain:
        match = next((word for word in left if word.bits & element), None)
        if match is None:
            return None
        chained.append(match)
    rest = [word for word in window if word not in chained]
    taken: dict[int, int] = {}
    for number in range(len(saying.free)):
        if not _placed(number, rest, saying.free, taken, set()):
            return None
    return [*chained, *(rest[place] for place in taken)]


def _placed(number: int, rest: Sequence[Spoken], free: Sequence[int], taken: dict[int, int], tried: set[int]) -> bool:
    """A word is found for a free concept, if need be by giving another concept another word."""
    for place, word in enumerate(rest):
        if word.bits & free[number] and place not in tried:
            tried.add(place)
            if place not in taken or _placed(taken[place], rest, free, taken, tried):
                taken[place] = number
                return True
    return False
