"""The words of a text that claim something: their stems, its numbers and names, and what may stand for each other."""

import re
from collections.abc import Iterable, Sequence

from tdqs_mcp.facts.lexicon import STOPWORDS
from tdqs_mcp.facts.prose import stem
from tdqs_mcp.facts.words import words_of

SILENT = frozenset(
    stem(word)
    for word in STOPWORDS
    | frozenset(
        "use want need when where whether if then than instead otherwise rather first before after so but not no also "
        "both either each every other another same one most more least exactly accept take give return get pass set "
        "provide supply specify name identify describe mean say know known unknown result value field parameter "
        "argument input output response answer call tool definition do does has have had e.g eg i.e example such like "
        "per about between within only while because therefore who what how there here some none nothing them they "
        "their whose whom unlike prefer see must should may might cannot can't don't doesn't never without come "
        "came".split()
    )
)
"""Words that claim nothing of their own; what limits (only, must, not) is weighed apart."""

SAME = tuple(
    frozenset(group.split())
    for group in (
        "get fetch retrieve read return show view look lookup access obtain load",
        "find search query look lookup",
        "list enumerate",
        "delete remove",
        "create add new make",
        "update edit modify change",
        "run execute",
        "compute calculate",
        "generate produce",
        "id identifier",
        "folder directory",
        "text string",
        "number integer count",
        "overwrite replace",
    )
)
"""Words that may stand for each other."""

_INSTEAD = {word: frozenset().union(*(group for group in SAME if word in group)) for group in SAME for word in group}

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = re.compile(r"`([\w.\-/]{1,128})`")
_PART = re.compile(r"[-/'’.]")


def content(words: Iterable[str]) -> frozenset[str]:
    """The stems of the words that claim something."""
    stems = {stem(part) for word in words for part in parts_of(word)}
    return frozenset(each for each in stems if each and each not in SILENT)


def numbers_of(text: str) -> frozenset[str]:
    """Every number as it is written."""
    return frozenset(_NUMBER.findall(text))


def identifiers_of(text: str) -> frozenset[str]:
    """What is written as a name: one word in backticks, or with an underscore inside; in lower case."""
    quoted = {found.lower() for found in _IDENTIFIER.findall(text)}
    return frozenset(quoted | {word for word in words_of(text) if "_" in word.strip("_")})


def supports(words: frozenset[str], word: str) -> bool:
    """A statement with these stems has the word, or one that may stand for it."""
    return word in words or (word in _INSTEAD and not _INSTEAD[word].isdisjoint(words))


def parts_of(word: str) -> Sequence[str]:
    """A word, or those that a hyphen, a slash or the like has joined."""
    return [part for part in _PART.split(word) if part] if _PART.search(word) else (word,)
