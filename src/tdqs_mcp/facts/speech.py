"""What a text says to its reader, by the concepts of its words: which ploys, where, and in what words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from tdqs_mcp.facts.concepts import CONCEPTS
from tdqs_mcp.facts.disguise import plain
from tdqs_mcp.facts.ploys import CLUES, COMMON, HINTS, PHRASES, SAYINGS, Ploy

JOINT = "\x02"
"""Stands between the words of an expression, which count as one word."""

_SIGNS = '"#%&()+,-/:<=>@[\\]^_{|}$'
_BARE = bytes(
    code + 32 if ord("A") <= code <= ord("Z") else code if chr(code).isalnum() or code > 127 or code == 2 else 32
    for code in range(256)
)
_UNSTOPPED = str.maketrans(dict.fromkeys(_SIGNS.replace(",", ""), " ") | dict.fromkeys("!?;\n", "."))
_RUN = re.compile("[\u2b50\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_LETTER = rf"[\w\u0900-\u0963\u0966-\u0eff\u2b50{JOINT}]"
_LETTERED = re.compile(f"{_LETTER}+")
_STOPPED = re.compile(rf"{_LETTER}+|[.!?;\n\0\u0964\u3002\uff01\uff1f]")
_UNTYPED = re.compile(
    "[^\x00-\x7f\u2010-\u2027\u2190-\u22ff\u2500-\u25ff\u00a0\u00a7\u00b0\u00b7\u00d7\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]"
)


def typewritten(text: str) -> str:
    """The text in ASCII where nothing but dashes, quotation marks, bullets and arrows is lost."""
    if text.isascii() or _UNTYPED.search(text):
        return text
    return text.replace("\u2019", "").encode("ascii", "replace").decode()


# Concepts: a word is a set of bits.

_BIT = {concept: 1 << place for place, concept in enumerate((*CONCEPTS, *PHRASES))}
CONCEPT_BITS = (1 << len(_BIT)) - 1
"""The bits that stand for concepts."""

_HINT_BITS = {
    concept: [1 << (len(_BIT) + 8 * place + number) for number in range(len(HINTS[concept]))]
    for place, concept in enumerate(PHRASES)
}
_FIRST_HINTS = sum(bits[0] for bits in _HINT_BITS.values())
EXPRESSION = 1 << (len(_BIT) + 8 * len(PHRASES))
"""The bit of a word that may belong to an expression of several."""

BITS = EXPRESSION.bit_length()
"""How many bits a word's set may have."""


class _Expression(NamedTuple):
    """Several words that count as one."""

    words: tuple[str, ...]
    hint: int
    """Which of the words is looked for first: the longest."""

    is_open: bool
    """The last word may go on."""

    bits: int

    def is_in(self, read: str, words: AbstractSet[str]) -> bool:
        """It stands in a bare text of these words."""
        return all(word in words for word in self.words[:-1]) and " ".join(self.words) in read

    def is_at(self, tokens: Sequence[str], place: int) -> bool:
        """It begins at this place."""
        found = tuple(tokens[max(0, place) : place + len(self.words)])
        return found == self.words or (
            self.is_open and found[:-1] == self.words[:-1] and found[-1:] != () and found[-1].startswith(self.words[-1])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lexicon:
    exact: dict[str, int]
    prefixes: dict[str, int]
    runs: re.Pattern[str]
    """What is looked for inside the runs of scripts that write without spaces."""

    expressions: dict[str, tuple[_Expression, ...]]
    """By the words that give them away."""


@cache
def _lexicon() -> _Lexicon:
    exact: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    expressions: dict[str, list[_Expression]] = {}
    for concept, entries in CONCEPTS.items():
        for entry in plain(entries.replace("*", "\0").replace("+", JOINT)).split():
            word, is_open, bit = entry.rstrip("\0"), entry.endswith("\0"), _BIT[concept]
            several = tuple(word.replace("-", JOINT).split(JOINT))
            if len(several) > 1:
                hint = max(range(len(several) - is_open), key=lambda place: len(several[place]))
                expressions.setdefault(several[hint], []).append(_Expression(several, hint, is_open, bit))
            else:
                table = prefixes if is_open else exact
                table[word] = table.get(word, 0) | bit
    for hint_word in expressions:
        exact[hint_word] = exact.get(hint_word, 0) | EXPRESSION
    for concept, lines in HINTS.items():
        for bit, line in zip(_HINT_BITS[concept], lines, strict=True):
            for word in plain(line).split():
                exact[word] = exact.get(word, 0) | bit
    exact.update({_token(concept): _BIT[concept] for concept in PHRASES})
    unspaced = {word for word in {*exact, *prefixes} if _RUN.fullmatch(word)}
    return _Lexicon(
        exact=exact,
        prefixes=prefixes,
        runs=re.compile("|".join(sorted(unspaced, key=len, reverse=True))),
        expressions={word: tuple(found) for word, found in expressions.items()},
    )


def _token(concept: str) -> str:
    """How a phrase is marked among the words."""
    return f"{JOINT}{concept}"


def word_bits(word: str) -> int:
    """The concepts of a plain word, whatever prefix or article it carries."""
    lexicon = _lexicon()
    bits = lexicon.exact.get(word, 0)
    if len(word) > 2 or not word.isascii():
        for size in range(2, min(len(word), 24) + 1):
            bits |= lexicon.prefixes.get(word[:size], 0)
        if not bits and word[:1] in _ELIDED and len(word) > 6:
            return word_bits(word[1:])
        if not bits and not word.isascii() and word[:2] in _ARTICLES:
            return word_bits(word[2:])
        if not bits and not word.isascii() and word[:1] in _CLITICS and len(word) > 3:
            return word_bits(word[1:])
    return bits


_ELIDED = frozenset("ld")
"""What is left of an article before a vowel in French and Italian."""

_ARTICLES = frozenset({"ال", "لل", "وا", "با", "كا", "فا"})
_CLITICS = frozenset("وفبلكהבלוש")

_bits = lru_cache(maxsize=50_000)(word_bits)


def bare(text: str) -> str:
    """The words of a text in plain letters between spaces, and the expressions that its unspaced runs hold."""
    if text.isascii():
        return text.encode().translate(_BARE, b"'`*~").decode()
    return " ".join(_LETTERED.findall(_spaced(plain(text))))


def _spaced(read: str) -> str:
    return _lexicon().runs.sub(r" \g<0> ", read) if _RUN.search(read) else read


def expression_bits(read: str, words: AbstractSet[str]) -> int:
    """The concepts of the expressions in a bare text of these words."""
    table = _lexicon().expressions
    return _either_of(
        expression.bits for hint in table.keys() & words for expression in table[hint] if expression.is_in(read, words)
    )


# Sayings: concepts near each other.


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
    ranks = [len(COMMON) - COMMON.index(concept) for concept in COMMON if _BIT[concept] & element]
    return max(ranks, default=0)


_SPREADABLE = sum(_BIT[concept] for concept in ("score", "grader", "topscore", "label", "rubric"))


def _parse(ploy: Ploy, line: str, number: int) -> Saying:
    """`a > b + c|d @9`: a before b, and c or d near them, within nine words."""
    stated, _, span = line.partition("@")
    elements = [_either_of(_BIT[concept.strip()] for concept in each.split("|")) for each in re.split("[>+]", stated)]
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


def _either_of(elements: Iterable[int]) -> int:
    bits = 0
    for element in elements:
        bits |= element
    return bits


@cache
def _anchored() -> dict[int, tuple[Saying, ...]]:
    """The sayings by every bit of their anchors: most texts hold few of those."""
    anchored: dict[int, list[Saying]] = {}
    lines = [(ploy, line) for ploy, text in SAYINGS.items() for line in text.split("\n") if line.strip()]
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
    return _either_of(_anchored())


@cache
def _patterns() -> tuple[tuple[str, int, tuple[int, ...], re.Pattern[str]], ...]:
    return tuple(
        (concept, _BIT[concept], tuple(_HINT_BITS[concept]), re.compile(pattern))
        for concept, pattern in PHRASES.items()
    )


def with_phrases(text: str, bits: int) -> int:
    """The bits of a text's words, and those of the phrases that may stand in it."""
    if not bits & _FIRST_HINTS:
        return bits
    hinted = [phrase for phrase in _patterns() if all(map(bits.__and__, phrase[2]))]
    if hinted:
        read = text.lower().replace("_", " ")
        for concept, bit, _, _ in hinted:
            if any(map(read.__contains__, CLUES.get(concept, "").split("|"))):
                bits |= bit
    return bits


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


class _Spoken(NamedTuple):
    """A word that carries a concept; a tuple, for a long text makes thousands of them."""

    place: int
    """In words; the end of a sentence or a string counts as three."""

    bits: int


class Heard(NamedTuple):
    """A ploy of some texts."""

    ploy: Ploy
    number: int
    """The text in which it begins."""

    words: str


def heard(texts: Iterable[str], bits: int, sayings: Sequence[Saying]) -> Iterator[Heard]:
    """The ploys of texts with these bits that stand one after another, once for each of these sayings."""
    if not sayings:
        return
    wanted = bits & _either_of(element for saying in sayings for element in saying.elements)
    tokens = _tokens("\0".join(text.replace("\0", " ") for text in texts), wanted)
    spoken = list(_spoken(tokens, wanted | EXPRESSION))
    neighbourhoods = _neighbourhoods(spoken)
    for saying in sayings:
        near = any(saying.anchor & bits and all(map(bits.__and__, saying.elements)) for bits in neighbourhoods)
        if near and (match := _first(spoken, saying)):
            first, last = min(word.place for word in match), max(word.place for word in match)
            end = last + (PHRASE_WORDS if tokens[last] in _SILENT else 1)
            quoted = [word for word in tokens[first:end] if word not in _SILENT]
            yield Heard(saying.ploy, tokens[:first].count("\0"), " ".join(quoted))


def _neighbourhoods(spoken: Iterable[_Spoken]) -> set[int]:
    """What stands within any two neighbouring blocks of words: nothing that belongs together is further apart."""
    blocks: dict[int, int] = {}
    for place, bits in spoken:
        blocks[place // MAX_SPAN] = blocks.get(place // MAX_SPAN, 0) | bits
    return {bits | blocks.get(number + 1, 0) for number, bits in blocks.items()}


MAX_SPAN = 16
"""Words of the widest saying."""


def _spoken(tokens: Sequence[str], wanted: int) -> Iterator[_Spoken]:
    """The words that carry wanted concepts, and the expressions where they end."""
    for place, bits in enumerate(map(_bits, tokens)):
        if bits & wanted:
            if bits & EXPRESSION:
                bits |= _either_of(  # noqa: PLW2901  # what it means among its neighbours
                    expression.bits
                    for expression in _lexicon().expressions[tokens[place]]
                    if expression.is_at(tokens, place - expression.hint)
                )
            yield _Spoken(place, bits)


PHRASE_WORDS = 4
"""Words of a phrase that are quoted when a saying ends with it."""

_SILENT = frozenset({*".!?;\n\u0964\u3002\uff01\uff1f", "\0", *map(_token, PHRASES)})


def _tokens(text: str, wanted: int) -> list[str]:
    """The words of a text, a stop for every sentence's end, and a mark before each phrase."""
    read = plain(typewritten(text))
    for concept, bit, _, pattern in _patterns():
        if wanted & bit:
            read = pattern.sub(rf" {_token(concept)} \g<0> ", read)
    if not read.isascii():
        return _STOPPED.findall(_spaced(read).replace("\0", "\0. . "))
    read = read.replace(" please ", " . . please ")
    return read.translate(_UNSTOPPED).replace(".", " . . . ").replace(",", " . ").replace("\0", " \0 . . ").split()


def _first(spoken: Sequence[_Spoken], saying: Saying) -> list[_Spoken] | None:
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


def _assigned(window: Sequence[_Spoken], saying: Saying) -> list[_Spoken] | None:
    """A different word for each concept, those of the chain in order."""
    chained: list[_Spoken] = []
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


def _placed(number: int, rest: Sequence[_Spoken], free: Sequence[int], taken: dict[int, int], tried: set[int]) -> bool:
    """A word is found for a free concept, if need be by giving another concept another word."""
    for place, word in enumerate(rest):
        if word.bits & free[number] and place not in tried:
            tried.add(place)
            if place not in taken or _placed(taken[place], rest, free, taken, tried):
                taken[place] = number
                return True
    return False
