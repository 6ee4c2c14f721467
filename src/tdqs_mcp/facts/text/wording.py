"""How a description is worded: length, language, the name again, praise, lead-ins, repetition, copies of the schema."""

import re
from functools import cache, partial

from tdqs_mcp.canonical import trim, utf16_length
from tdqs_mcp.facts.lexicon import MAX_TEXT, PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import LEMMAS
from tdqs_mcp.model import Tool

_PATTERNS = PatternTable("wording")
_words = partial(words_from, "wording")


MAX_BEYOND_LATIN = 10
"""Percent of letters beyond Latin from which English word lists say nothing about a text."""

_LETTERS_BEYOND_LATIN = lazy_pattern(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")

_LETTERS = lazy_pattern(r"[a-z]+")

MAX_PLACES = 6
"""Sentences of a description up to which `above` and `below` cannot mean a part of itself."""

_FIRST_WORD = lazy_pattern(r"[A-Za-z]+")


def count_characters(tool: Tool) -> int:
    """Characters of the trimmed description."""
    return len(trim(tool.description or ""))


def count_code_units(tool: Tool) -> int:
    """UTF-16 code units of the trimmed description, as JavaScript counts; 0 without one."""
    return utf16_length(trim(tool.description or ""))


def is_name(tool: Tool) -> bool:
    """The trimmed description is the tool's name, letter for letter."""
    return tool.description is not None and trim(tool.description) == tool.name


def is_spelled_name(tool: Tool) -> bool:
    """Description and name are equal in lower case with spaces for `_` and `-`; camelCase and a full stop differ."""
    text = trim(tool.description or "")
    spaced, name = (label.lower().replace("_", " ").replace("-", " ") for label in (text, tool.name))
    return bool(text) and len(text) == len(tool.name) and spaced == name


def has_verb(tool: Tool, prose: Prose) -> bool:
    """A word of the description, or a part of a joined one, is a common verb in some form."""
    text = (tool.description or "")[:MAX_TEXT]
    return any(word in LEMMAS for word in prose.words) or any(
        word in LEMMAS or word in _more_verb_forms() for word in _LETTERS.findall(text.lower())
    )


@cache
def _more_verb_forms() -> frozenset[str]:
    """The inflections of verbs whose effect is not known."""
    return frozenset(
        form
        for verb in _words("verbs")
        for base in (verb, verb.removesuffix("e"), verb.removesuffix("y") + "i", verb + verb[-1])
        for form in (verb, f"{verb}s", f"{base}es", f"{base}ed", f"{base}ing")
    )


def find_position(prose: Prose) -> str | None:
    """The first phrase that points to another place; a long text may point to a place of its own."""
    if (_words("ordinals") | _words("times")).isdisjoint(prose.words):
        return None
    words = [word for word in prose.words if word != "the"]
    is_short = len(prose.sentences) <= MAX_PLACES
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word in _words("ordinals") and after in _words("tool_nouns"):
            return f"{word} {after}"
        is_side = word in _words("sides") and (
            before in _words("tool_nouns") or (is_short and before in _words("seeing"))
        )
        if is_side or (is_short and word in _words("times") and before in _words("telling")):
            return f"{before} {word}"
    return None


def mentions_result(tool: Tool) -> bool:
    """The description has a word for what comes back."""
    text = (tool.description or "")[:MAX_TEXT].lower()
    return any(word in text for word in ("give back", "gives back", *_words("results")))


def is_latin(tool: Tool) -> bool:
    """Nearly all letters of the description are Latin, so that English word lists may be asked at all."""
    text = (tool.description or "")[:MAX_TEXT]
    return text.isascii() or 100 * len(_LETTERS_BEYOND_LATIN.findall(text)) < MAX_BEYOND_LATIN * len(text)


def is_english(tool: Tool, prose: Prose) -> bool:
    """The description is plain ASCII, or Latin with a word of English grammar; others have verbs of their own."""
    is_ascii = (tool.description or "").isascii()
    return is_ascii or (is_latin(tool) and not _words("grammar").isdisjoint(prose.words))


def find_praise(text: str) -> str | None:
    """The first words that praise."""
    match = _PATTERNS.praise.search(text) or _PATTERNS.judgment.search(text.strip())
    return match[0] if match else None


def lead_in_length(text: str) -> int:
    """Characters of a sentence before its verb that only say that it is a tool: "This tool allows you to "."""
    match = _PATTERNS.lead_in.match(text)
    word = match and _FIRST_WORD.match(text, match.end())
    return match.end() if match and word and word[0].lower() in LEMMAS else 0


_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]*)*[.!?]?")
_VERB = (
    r"(?:past(?:e|ing)|enter(?:ing)?|obtain(?:ing)?|get|generat(?:e|ing)|creat(?:e|ing)|set(?:ting)?(?: up)?"
    r"|configur(?:e|ing)"
    r"|provid(?:e|ing)|suppl(?:y|ying)|export(?:ing)?|add(?:ing)?|put(?:ting)?|cop(?:y|ying)|insert(?:ing)?|sign up for"
    r"|request|register for|save|store|fill in|include|pass|replace)"
)
_VARIABLE = r"[A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)"
_THING = (
    r"(?:(?:an?|the|your|their|its)\s+(?:[\w-]+\s+){0,2}?)?"
    r"(?:api[ _-]?keys?|access[ _-]tokens?|bearer[ _-]tokens?|personal access tokens?|client[ _-]secrets?"
    rf"|authori[sz]ation headers?|x-api-key|(?-i:{_VARIABLE}))"
    r"|(?:your|their)\s+(?:[\w-]+\s+){0,2}?(?:credentials?|tokens?|passwords?|secrets?|login)"
)
_ASKS = re.compile(rf"\b{_VERB}\b(?:\s+[\w'’-]+){{0,4}}?\s+(?:{_THING})\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:not|never|don['’]t|doesn['’]t|no need|without|needn['’]t|cannot|nobody|instead of|avoid)\b", re.IGNORECASE
)


def asks_for_credentials(text: str) -> str | None:
    """The first sentence that tells the reader to; None where there is none, or where the sentence denies it."""
    for sentence in _SENTENCE.findall(text.replace("`", "").replace("*", "")):
        match = _ASKS.search(sentence)
        if match and not _DENIES.search(sentence[: match.end()]):
            return " ".join(sentence.split())
    return None


def credential_variables(text: str) -> list[str]:
    """The names of environment variables in the text that hold a credential by their last word."""
    return re.findall(rf"\b{_VARIABLE}\b", text)
