"""What foreign conventions look for in a description's words: its length, the name again, verbs, positions, results."""

import re
from functools import cache

from tdqs_mcp.canonical import trim, utf16_length
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import LEMMAS
from tdqs_mcp.facts.text.patterns import words_from
from tdqs_mcp.facts.text.prose import MAX_TEXT
from tdqs_mcp.model.catalog import Tool

_FOREIGN = 10
"""Percent of letters beyond Latin from which English word lists say nothing about a text."""

_LETTERS_BEYOND_LATIN = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")

_LETTERS = re.compile(r"[a-z]+")

_ENGLISH = frozenset("the an of to for with by from and this that is are".split())

_NOUNS = frozenset("tool tools function functions endpoint endpoints".split())
_ORDINALS = frozenset("previous preceding next following first last above below".split())
"""Before one of _NOUNS they point to a place in a list; a catalog is flat, and clients show it in any order."""

_SIDES = frozenset("above below".split())
_TIMES = frozenset("earlier previously".split())
_POINTERS = _ORDINALS | _TIMES
_TELLING = frozenset("described mentioned listed shown defined noted explained".split())
_SEEING = _TELLING | {"see", "as"}

MAX_PLACES = 6
"""Sentences of a description up to which `above` and `below` cannot mean a part of itself."""

RESULTS = ("return", "output", "result", "respons", "respond", "yield", "give back", "gives back")
"""The keywords that mcptest names (return, output, result), in any form, and their plainest synonyms."""


def characters(tool: Tool) -> int:
    """Characters of the trimmed description."""
    return len(trim(tool.description or ""))


def code_units(tool: Tool) -> int:
    """UTF-16 code units of the trimmed description, as JavaScript counts; 0 without one."""
    return utf16_length(trim(tool.description or ""))


def is_name(tool: Tool) -> bool:
    """The trimmed description is the tool's name, letter for letter."""
    return tool.description is not None and trim(tool.description) == tool.name


def is_spelled_name(tool: Tool) -> bool:
    """Description and name are equal in lower case with spaces for `_` and `-`; camelCase and a full stop differ."""
    text = trim(tool.description or "")
    return bool(text) and len(text) == len(tool.name) and _spaced(text) == _spaced(tool.name)


def has_verb(subject: Subject) -> bool:
    """A word of the description, or a part of a joined one, is a common verb in some form."""
    text = (subject.tool.description or "")[:MAX_TEXT]
    return any(word in LEMMAS for word in subject.prose.words) or any(
        word in LEMMAS or word in _forms() for word in _LETTERS.findall(text.lower())
    )


@cache
def _forms() -> frozenset[str]:
    """The inflections of verbs whose effect is not known."""
    return frozenset(
        form
        for verb in words_from("wording", "verbs")
        for base in (verb, verb.removesuffix("e"), verb.removesuffix("y") + "i", verb + verb[-1])
        for form in (verb, f"{verb}s", f"{base}es", f"{base}ed", f"{base}ing")
    )


def position(subject: Subject) -> str | None:
    """The first phrase that points to another place; a long text may point to a place of its own."""
    if _POINTERS.isdisjoint(subject.prose.words):
        return None
    words = [word for word in subject.prose.words if word != "the"]
    is_short = len(subject.prose.sentences) <= MAX_PLACES
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word in _ORDINALS and after in _NOUNS:
            return f"{word} {after}"
        is_side = word in _SIDES and (before in _NOUNS or (is_short and before in _SEEING))
        if is_side or (is_short and word in _TIMES and before in _TELLING):
            return f"{before} {word}"
    return None


def mentions_result(tool: Tool) -> bool:
    """The description has a word for what comes back."""
    text = (tool.description or "")[:MAX_TEXT].lower()
    return any(word in text for word in RESULTS)


def is_latin(tool: Tool) -> bool:
    """Nearly all letters of the description are Latin, so that English word lists may be asked at all."""
    text = (tool.description or "")[:MAX_TEXT]
    return text.isascii() or 100 * len(_LETTERS_BEYOND_LATIN.findall(text)) < _FOREIGN * len(text)


def is_english(subject: Subject) -> bool:
    """The description is plain ASCII, or Latin with a word of English grammar; others have verbs of their own."""
    is_ascii = (subject.tool.description or "").isascii()
    return is_ascii or (is_latin(subject.tool) and not _ENGLISH.isdisjoint(subject.prose.words))


def _spaced(text: str) -> str:
    return text.lower().replace("_", " ").replace("-", " ")
