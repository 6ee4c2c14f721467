"""What a text says to its reader, by the concepts of its words: which ploys, where, and in what words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from tdqs_mcp.facts.concepts import CONCEPTS
from tdqs_mcp.facts.disguise import plain
from tdqs_mcp.facts.ploys import COMMON, HINTS, PHRASES, SAYINGS, Ploy

JOINT = "\x02"
"""Stands between the words of an expression, which count as one word."""

_SIGNS = '"#%&()+,-/:<=>@[\\]^_{|}$'
_LOWER = {code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}
_BARE = str.maketrans(_LOWER | dict.fromkeys(map(ord, f"{_SIGNS}.;!?\n\r\t"), " ") | dict.fromkeys(map(ord, "'`*~")))
_UNSTOPPED = str.maketrans(dict.fromkeys(_SIGNS, " ") | dict.fromkeys("!?;\n", "."))
_RUN = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_LETTER = rf"[\w\u0900-\u0963\u0966-\u0dff{JOINT}]"
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
_PHRASE_BITS = sum(_BIT[concept] for concept in PHRASES)
_HINT_BITS = {
    concept: [1 << (len(_BIT) + 8 * place + number) for number in range(len(HINTS[concept]))]
    for place, concept in enumerate(PHRASES)
}
EXPRESSION = 1 << (len(_BIT) + 8 * len(PHRASES))
"""The bit of a word that may belong to an expression of several."""

BITS = EXPRESSION.bit_length()
"""How many bits a word's set may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lexicon:
    exact: dict[str, int]
    prefixes: dict[str, int]
    runs: re.Pattern[str]
    """What is looked for inside the runs of scripts that write without spaces."""

    expressions: re.Pattern[str]


@cache
def _lexicon() -> _Lexicon:
    exact: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    expressions: set[str] = set()
    for concept, entries in CONCEPTS.items():
        for entry in plain(entries.replace("*", "\0").replace("+", JOINT)).split():
            table = prefixes if entry.endswith("\0") else exact
            word = entry.rstrip("\0")
            table[word] = table.get(word, 0) | _BIT[concept]
            if JOINT in word:
                expressions.add(entry)
    for expression in expressions:
        hint = max(expression.rstrip("\0").split(JOINT), key=len)
        exact[hint] = exact.get(hint, 0) | EXPRESSION
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
        expressions=re.compile(
            rf"(?<!\w)(?:{'|'.join(_expression(entry) for entry in sorted(expressions, key=len, reverse=True))})"
        ),
    )


def _expression(entry: str) -> str:
    words = re.escape(entry.rstrip("\0")).replace(JOINT, "[ -]").replace(r"\-", "[ -]")
    return words if entry.endswith("\0") else rf"{words}(?!\w)"


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


def words(text: str) -> set[str]:
    """The words of a text in plain letters, with the expressions that its unspaced runs hold."""
    if text.isascii():
        return set(text.translate(_BARE).split())
    return set(_LETTERED.findall(_spaced(plain(text))))


def _spaced(read: str) -> str:
    return _lexicon().runs.sub(r" \g<0> ", read) if _RUN.search(read) else read


def expressions(text: str) -> set[str]:
    """The expressions of several words that occur in a text."""
    return {found.replace(" ", JOINT).replace("-", JOINT) for found in _lexicon().expressions.findall(plain(text))}


# Sayings: concepts near each other.


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """Concepts that say something when they stand together."""

    ploy: Ploy
    chain: tuple[int, ...]
    """Concepts in this order."""

    free: tuple[int, ...]
    """Concepts anywhere near them."""

    span: int
    """Words from the first to the last."""

    @property
    def elements(self) -> tuple[int, ...]:
        """All of them."""
        return self.chain + self.free

    @property
    def anchor(self) -> int:
        """The concept that ordinary texts hold most seldom."""
        return min(self.elements, key=_commonness)


def _commonness(element: int) -> int:
    ranks = [len(COMMON) - COMMON.index(concept) for concept in COMMON if _BIT[concept] & element]
    return max(ranks, default=0)


def _parse(ploy: Ploy, line: str) -> Saying:
    """`a > b + c|d @9`: a before b, and c or d near them, within nine words."""
    stated, _, span = line.partition("@")
    elements = [_either_of(_BIT[concept.strip()] for concept in each.split("|")) for each in re.split("[>+]", stated)]
    ordered = 1 + stated.partition("+")[0].count(">")
    chain = 0 if ordered == 1 else ordered
    return Saying(ploy=ploy, chain=tuple(elements[:chain]), free=tuple(elements[chain:]), span=int(span))


def _either_of(elements: Iterable[int]) -> int:
    bits = 0
    for element in elements:
        bits |= element
    return bits


@cache
def _anchored() -> tuple[tuple[int, tuple[tuple[Saying, tuple[int, ...]], ...]], ...]:
    """The sayings by their anchors: most texts hold few of those."""
    anchored: dict[int, list[tuple[Saying, tuple[int, ...]]]] = {}
    for ploy, text in SAYINGS.items():
        for line in text.split("\n"):
            if line.strip():
                saying = _parse(ploy, line)
                anchored.setdefault(saying.anchor, []).append((saying, saying.elements))
    return tuple((anchor, tuple(sayings)) for anchor, sayings in anchored.items())


@cache
def _anchors() -> int:
    return _either_of(anchor for anchor, _ in _anchored())


@cache
def _patterns() -> tuple[tuple[str, int, tuple[int, ...], re.Pattern[str]], ...]:
    return tuple(
        (concept, _BIT[concept], tuple(_HINT_BITS[concept]), re.compile(pattern))
        for concept, pattern in PHRASES.items()
    )


def possible(text: str, bits: int) -> tuple[Saying, ...]:
    """The sayings all of whose concepts may occur in a text whose words have these bits."""
    hinted = [phrase for phrase in _patterns() if all(map(bits.__and__, phrase[2]))]
    assumed = bits | _either_of(bit for _, bit, _, _ in hinted)
    if not assumed & _anchors():
        return ()
    sayings = _sayable(assumed)
    wanted = _either_of(element for saying in sayings for element in saying.elements) & _PHRASE_BITS
    if not wanted & assumed:
        return sayings
    read = plain(text)
    missing = _either_of(bit for _, bit, _, pattern in hinted if bit & wanted and not pattern.search(read))
    return _sayable(assumed & ~missing) if missing else sayings


def _sayable(bits: int) -> tuple[Saying, ...]:
    return tuple(
        saying
        for anchor, sayings in _anchored()
        if anchor & bits
        for saying, elements in sayings
        if all(map(bits.__and__, elements))
    )


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


def heard(texts: Iterable[str], sayings: Sequence[Saying]) -> Iterator[Heard]:
    """The ploys of texts that stand one after another, once for each of these sayings."""
    wanted = _either_of(element for saying in sayings for element in saying.elements)
    tokens = _tokens("\0".join(text.replace("\0", " ") for text in texts), wanted)
    spoken = [_Spoken(place, bits) for place, bits in enumerate(map(_bits, tokens)) if bits & wanted]
    for saying in sayings:
        if match := _first(spoken, saying):
            first, last = min(word.place for word in match), max(word.place for word in match)
            end = last + (PHRASE_WORDS if tokens[last] in _SILENT else 1)
            quoted = [word for word in tokens[first:end] if word not in _SILENT]
            yield Heard(saying.ploy, tokens[:first].count("\0"), " ".join(quoted).replace(JOINT, " "))


PHRASE_WORDS = 4
"""Words of a phrase that are quoted when a saying ends with it."""

_SILENT = frozenset({*".!?;\n\u0964\u3002\uff01\uff1f", "\0", *map(_token, PHRASES)})


def _tokens(text: str, wanted: int) -> list[str]:
    """The words of a text, a stop for every sentence's end, and a mark before each phrase."""
    read = plain(typewritten(text))
    for concept, bit, _, pattern in _patterns():
        if wanted & bit:
            read = pattern.sub(rf" {_token(concept)} \g<0> ", read)
    read = _lexicon().expressions.sub(lambda found: found[0].replace(" ", JOINT).replace("-", JOINT), read)
    if not read.isascii():
        return _STOPPED.findall(_spaced(read).replace("\0", "\0. . "))
    return read.translate(_UNSTOPPED).replace(".", " . . . ").replace("\0", " \0 . . ").split()


def _first(spoken: Sequence[_Spoken], saying: Saying) -> list[_Spoken] | None:
    """The first words that say it, sought around its anchor."""
    anchor, elements, span = saying.anchor, saying.elements, saying.span
    relevant = _either_of(elements)
    words = [word for word in spoken if word[1] & relevant]
    begin = 0
    for index, word in enumerate(words):
        if not word.bits & anchor:
            continue
        while words[begin].place < word.place - span:
            begin += 1
        end = index + 1
        while end < len(words) and words[end].place <= word.place + span:
            end += 1
        near = _either_of(each.bits for each in words[begin:end])
        if all(map(near.__and__, elements)):
            for start in range(begin, index + 1):
                window = [each for each in words[start:end] if each.place <= words[start].place + span]
                if match := _assigned(window, saying):
                    return match
    return None


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


def _placed(
    number: int, rest: Sequence[_Spoken], free: Sequence[int], taken: dict[int, int], tried: set[int]
) -> bool:
    """A word is found for a free concept, if need be by giving another concept another word."""
    for place, word in enumerate(rest):
        if word.bits & free[number] and place not in tried:
            tried.add(place)
            if place not in taken or _placed(taken[place], rest, free, taken, tried):
                taken[place] = number
                return True
    return False
