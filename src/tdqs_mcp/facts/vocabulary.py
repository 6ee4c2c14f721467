"""The words of a text and the concepts that they carry: a word is a set of bits."""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from tdqs_mcp.facts.concepts import CONCEPTS
from tdqs_mcp.facts.disguise import plain
from tdqs_mcp.facts.idioms import CLUES, HINTS, PHRASES
from tdqs_mcp.facts.scales import unsaid
from tdqs_mcp.facts.text.patterns import lazy_pattern

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


BIT = {concept: 1 << place for place, concept in enumerate((*CONCEPTS, *PHRASES))}
CONCEPT_BITS = (1 << len(BIT)) - 1
"""The bits that stand for concepts."""

_HINT_BITS = {
    concept: [1 << (len(BIT) + 8 * place + number) for number in range(len(HINTS[concept]))]
    for place, concept in enumerate(PHRASES)
}
_FIRST_HINTS = sum(bits[0] for bits in _HINT_BITS.values())
EXPRESSION = 1 << (len(BIT) + 8 * len(PHRASES))
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
            word, is_open, bit = entry.rstrip("\0"), entry.endswith("\0"), BIT[concept]
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
    exact.update({_token(concept): BIT[concept] for concept in PHRASES})
    unspaced = {word for word in {*exact, *prefixes} if _RUN.fullmatch(word)}
    return _Lexicon(
        exact=exact,
        prefixes=prefixes,
        runs=lazy_pattern("|".join(sorted(unspaced, key=len, reverse=True))),
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
        if bits & CONCEPT_BITS:
            return bits
        if word[:1] in _ELIDED and len(word) > 6:
            return bits | word_bits(word[1:])
        if not word.isascii() and word[:2] in _ARTICLES:
            return bits | word_bits(word[2:])
        if not word.isascii() and word[:1] in _CLITICS and len(word) > 3:
            return bits | word_bits(word[1:])
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
    return either_of(
        expression.bits for hint in table.keys() & words for expression in table[hint] if expression.is_in(read, words)
    )


@cache
def _patterns() -> tuple[tuple[str, int, tuple[int, ...], re.Pattern[str]], ...]:
    return tuple(
        (concept, BIT[concept], tuple(_HINT_BITS[concept]), lazy_pattern(pattern))
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


class Spoken(NamedTuple):
    """A word that carries a concept; a tuple, for a long text makes thousands of them."""

    place: int
    """In words; the end of a sentence or a string counts as three."""

    bits: int


def spoken_words(tokens: Sequence[str], wanted: int) -> Iterator[Spoken]:
    """The words that carry wanted concepts, and the expressions where they end."""
    for place, bits in enumerate(map(_bits, tokens)):
        if bits & wanted:
            if bits & EXPRESSION:
                bits |= either_of(  # noqa: PLW2901  # what it means among its neighbours
                    expression.bits
                    for expression in _lexicon().expressions[tokens[place]]
                    if expression.is_at(tokens, place - expression.hint)
                )
            yield Spoken(place, bits)


_STOPS = frozenset(".!?;\n\0\u0964\u3002\uff01\uff1f")
SILENT = frozenset({*_STOPS, ",", *map(_token, PHRASES)})


def tokens_of(text: str, wanted: int) -> list[str]:
    """The words of a text, a stop for every sentence's end, and a mark before each phrase."""
    read = unsaid(plain(typewritten(text)))
    for concept, bit, _, pattern in _patterns():
        if wanted & bit:
            read = pattern.sub(rf" {_token(concept)} \g<0> ", read)
    if not read.isascii():
        return _STOPPED.findall(_spaced(read).replace("\0", "\0. . "))
    read = read.replace(" please ", f"{' ,' * 6} please ")
    return read.translate(_UNSTOPPED).replace(".", " . . . ").replace(",", " , ").replace("\0", " \0 . . ").split()


MAX_SENTENCE = 1_000
"""Words before and after a place that can belong to its sentence."""


def sentence_at(tokens: Sequence[str], first: int, last: int) -> tuple[str, ...]:
    """The words of the sentences between two places, and the marks of their phrases."""
    before = range(first - 1, max(-1, first - 1 - MAX_SENTENCE), -1)
    after = range(last, min(len(tokens), last + MAX_SENTENCE))
    begin = next((place + 1 for place in before if tokens[place] in _STOPS), max(0, first - MAX_SENTENCE))
    end = next((place for place in after if tokens[place] in _STOPS), after.stop)
    return tuple(word for word in tokens[begin:end] if word not in _STOPS and word != ",")


def opening(text: str) -> tuple[str, ...]:
    """The words of a text's first sentence, and the marks of its phrases."""
    return sentence_at(tokens_of(text[:MAX_OPENING], CONCEPT_BITS), 0, 0)


MAX_OPENING = 1_000
"""Characters in which a first sentence ends; a longer one says too much to say what a tool does."""


def concepts(words: Sequence[str]) -> int:
    """The concepts of words that stand together."""
    return either_of(bits for _, bits in spoken_words(words, CONCEPT_BITS | EXPRESSION))


def named(*names: str) -> int:
    """The bits of these concepts."""
    return either_of(map(BIT.__getitem__, names))


def either_of(elements: Iterable[int]) -> int:
    """All bits of several sets."""
    bits = 0
    for element in elements:
        bits |= element
    return bits
