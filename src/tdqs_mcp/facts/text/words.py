"""Splits texts and names into words, and compares words by their stems."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from tdqs_mcp.facts.text.languages import EFFECTS, LEMMAS, STOPWORDS, Effect
from tdqs_mcp.facts.text.patterns import lazy_pattern, read_table, words_from

K = TypeVar("K")

MAX_NAME = 200
"""Characters of a name or title that are read; the longest real name has 64."""

_WORD = re.compile(r"\w+(?:['’.\-/]\w+)*")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_NUMBER = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = lazy_pattern(r"`([\w.\-/]{1,128})`")
_JOINT = lazy_pattern(r"[-/'’.]")


def words_of(text: str) -> list[str]:
    """The lower-case words of a text; `read-only`, `don't`, `e.g` and `list_files` are one word each."""
    return _WORD.findall(text.lower())


def name_parts(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier or title: `listOpenIssues`, `list-open_issues` -> list, open, issues."""
    return _name_parts(name[:MAX_NAME])


@lru_cache(maxsize=20_000)
def _name_parts(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _NAME_PART.findall(name))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The lemma of a known verb, else the word without a plural s: enough to see that two words are one."""
    return LEMMAS.get(word) or (word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word)


def effect_of(verb: str) -> Effect | None:
    """What a verb, in any inflection, does."""
    lemma = LEMMAS.get(verb.lower())
    return EFFECTS[lemma] if lemma else None


PhraseIndex = Mapping[str, Sequence[tuple[tuple[str, ...], K]]]
"""Phrases as tuples of words, each with its kind, by their first word."""


def index_phrases(phrases: Iterable[tuple[K, Iterable[str]]]) -> PhraseIndex[K]:
    """Phrases by kind, made ready to be found; words stand between single spaces."""
    index: dict[str, list[tuple[tuple[str, ...], K]]] = {}
    for kind, texts in phrases:
        for words in map(str.split, texts):
            index.setdefault(words[0], []).append((tuple(words), kind))
    return index


def phrases_in(words: Sequence[str], index: PhraseIndex[K]) -> list[tuple[str, K]]:
    """The first word and the kind of each phrase that a sentence has, in order."""
    return [
        (word, kind)
        for position, word in enumerate(words)
        if word in index
        for phrase, kind in index[word]
        if len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase
    ]


@cache
def empty_stems() -> frozenset[str]:
    """Stems that claim nothing of their own; what limits (only, must, not) is weighed apart."""
    return frozenset(map(stem, STOPWORDS | words_from("wording", "empty")))


def content_stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of the words that claim something."""
    stems = {stem(part) for word in words for part in parts_of(word)}
    return frozenset(each for each in stems if each and each not in empty_stems())


def parts_of(word: str) -> Sequence[str]:
    """A word, or those that a hyphen, a slash or the like has joined."""
    return [part for part in _JOINT.split(word) if part] if _JOINT.search(word) else (word,)


def numbers_of(text: str) -> frozenset[str]:
    """Every number as it is written."""
    return frozenset(_NUMBER.findall(text))


def identifiers_of(text: str) -> frozenset[str]:
    """What is written as a name: one word in backticks, or with an underscore inside; in lower case."""
    quoted = {found.lower() for found in _IDENTIFIER.findall(text)}
    return frozenset(quoted | {word for word in words_of(text) if "_" in word.strip("_")})


def has_word(stems: frozenset[str], word: str) -> bool:
    """Whether the stems contain the word, or one that may stand for it: fetch for get, folder for directory."""
    return word in stems or not _synonyms().get(word, frozenset()).isdisjoint(stems)


@cache
def _synonyms() -> Mapping[str, frozenset[str]]:
    groups = [frozenset(line.split()) for line in read_table("wording")["synonyms"].splitlines()]
    return {word: frozenset().union(*(each for each in groups if word in each)) for group in groups for word in group}


def first_of(items: Sequence[str], most: int, *, separator: str = ", ") -> str:
    """The first of some items, and how many more there are."""
    shown = separator.join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
