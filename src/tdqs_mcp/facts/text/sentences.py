"""The sentences of a description, each with what it adds to those before it, to the name and to the schema."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Any

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.vocabulary import MAX_EXPLANATION, STOPWORDS, Cue, read_table, words_from
from tdqs_mcp.facts.text.words import PhraseIndex, index_phrases, name_parts, phrases_in, stem, words_of

NEW_WORDS = 2
"""Words that nobody has said before, from which a sentence is a statement of its own."""

BRIEF = 8
"""Words of a sentence that is so short that one new word makes it a statement."""

MAX_PROPERTIES = 200
"""Properties, nested ones included, whose names are known; the largest real schema has fewer."""

MAX_DEPTH = 4
"""Levels of nested objects whose properties are read."""

MOST_GENERIC = 75
"""Percent of words that fit any tool from which a sentence is padding."""


class Mark(StrEnum):
    """What a phrase tells."""

    CONDITION = "condition"
    LIMIT = "limit"
    MECHANICS = "mechanics"
    MEANS = "means"
    INCLUSION = "inclusion"
    UNIT = "unit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence; words are stems where they are compared."""

    text: str
    words: Sequence[str]
    fresh: frozenset[str]
    """Content words that no sentence before it has."""

    added: frozenset[str]
    """Those that the schema does not have either."""

    entry: str | None
    """The parameter whose entry it is, in lower case."""

    is_usage: bool
    is_behavior: bool
    is_return: bool
    tells: bool
    """It adds something: no repetition, no padding, not the name or the schema over again."""

    marks: Mapping[Mark, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A definition's sentences, and the words that it has besides."""

    everything: Sequence[Sentence]
    telling: Sequence[Sentence]
    """Those that tell something: what speaks for the text is counted in them."""

    outside: Sequence[Sentence]
    """Those of them outside parameter lists."""

    entries: Sequence[Sentence]
    """The others: each explains a parameter."""

    said: frozenset[str]
    """Words of all sentences."""

    told: frozenset[str]
    """Words of those that tell something."""

    own: frozenset[str]
    """Words of the name and the title."""

    names: Mapping[str, frozenset[str]]
    """Words of the name of each top-level parameter."""

    described: Mapping[str, frozenset[str]]
    """Words of its description in the schema."""

    properties: frozenset[str]
    """Names of the properties at every level, in lower case."""


FUNCTION_STEMS = frozenset(map(stem, STOPWORDS))
"""Stems of the words of every sentence."""


@cache
def generic_stems() -> frozenset[str]:
    """Stems of words that fit any tool and so tell nothing about this one."""
    return frozenset(map(stem, words_from("wording", "generic")))


def read_text(subject: Subject) -> Text:
    """The text of a definition; linear in its length."""
    tool, parameters = subject.tool, subject.signals.parameters
    own = _stems(part for label in (tool.name, tool.title or "") for part in name_parts(label)) | {tool.name.lower()}
    names = {each.name: _stems(name_parts(each.name)) for each in parameters}
    described = {each.name: _stems(words_of(each.description[:MAX_EXPLANATION])) for each in parameters}
    properties = frozenset(name.lower() for name in _property_names(tool.input_schema))
    everything = _sentences(
        subject.prose,
        properties=properties,
        known=generic_stems() | FUNCTION_STEMS | own,
        schema=frozenset(map(str.lower, names)).union(*names.values(), *described.values()),
    )
    telling = [each for each in everything if each.tells]
    return Text(
        everything=everything,
        telling=telling,
        outside=[each for each in telling if each.entry is None],
        entries=[each for each in telling if each.entry is not None],
        said=_stems(word for each in everything for word in each.words),
        told=_stems(word for each in telling for word in each.words),
        own=own,
        names=names,
        described=described,
        properties=properties,
    )


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(stem, words))


_ENTRY = re.compile(
    r"\W{0,8}(\w[\w.\-]{0,60})[`\"'*]{0,4}\s{0,4}(?:\([^)\n]{0,80}\)|\[[^\]\n]{0,80}\])?\s{0,4}(?:[:：=–]|- )"  # noqa: RUF001
)
_RETURN = re.compile(
    r"\b(?:returns?|returning|outputs?|response|result|gives back|yields)\b|返回|返却|반환", re.IGNORECASE
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

_BEHAVIOR = (Mark.CONDITION, Mark.LIMIT, Mark.MECHANICS)
_WEIGHTY = (Cue.DESTRUCTION, Cue.SAFETY, Cue.PERMISSION, Cue.ERROR)
_USAGE = (Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE)


def _sentences(
    prose: Prose, *, properties: AbstractSet[str], known: AbstractSet[str], schema: AbstractSet[str]
) -> list[Sentence]:
    usage = {place for cue in _USAGE for place in prose.cue_places.get(cue, ())}
    weighty = {place for cue in _WEIGHTY for place in prose.cue_places.get(cue, ())}
    said: set[str] = set()
    texts: set[str] = set()
    found: list[Sentence] = []
    is_first = True
    for position, (text, spoken) in enumerate(zip(prose.sentences, prose.spoken, strict=True)):
        words = spoken if text.isascii() else [part for word in spoken for part in _parts(word)]
        stems = {word for word in map(stem, words) if len(word) > 1}
        fresh = frozenset(stems - known - said)
        added = fresh - schema
        match = _ENTRY.match(text)
        name = match[1].lower() if match else ""
        marks = _marks_in(spoken)
        is_list = sum(word in properties for word in spoken) >= NEW_WORDS
        generic = 100 * len(stems & generic_stems()) // max(1, len(stems - FUNCTION_STEMS))
        adds = len(fresh) >= NEW_WORDS and (bool(added) or not is_list)
        adds_briefly = bool(added) and len(words) <= BRIEF
        counts = is_first or adds or adds_briefly or position in weighty
        tells = counts and text not in texts and generic < MOST_GENERIC
        found.append(
            Sentence(
                text=text,
                words=words,
                fresh=fresh,
                added=added,
                entry=name if name in properties else None,
                is_usage=position in usage,
                is_behavior=position > 0 and position not in usage and not marks.keys().isdisjoint(_BEHAVIOR),
                is_return=_RETURN.search(text) is not None,
                tells=tells,
                marks=marks,
            )
        )
        said |= fresh
        texts.add(text)
        is_first = is_first and not tells
    return found


def _parts(word: str) -> Sequence[str]:
    """A run of Chinese or Japanese, which has no spaces, counts as a word for every two characters."""
    return [word[start : start + 2] for start in range(0, len(word), 2)] if _UNSPACED.search(word) else (word,)


def _marks_in(words: Sequence[str]) -> dict[Mark, list[str]]:
    """The first words of a sentence's phrases, by what they tell."""
    found: dict[Mark, list[str]] = {}
    for word, mark in phrases_in(words, _marks()):
        found.setdefault(mark, []).append(word)
    if "by" in words and any(word == "by" and following.endswith("ing") for word, following in pairwise(words)):
        found.setdefault(Mark.MEANS, []).append("by")
    return found


@cache
def _marks() -> PhraseIndex[Mark]:
    return index_phrases((Mark(mark), text.split(";")) for mark, text in read_table("wording")["marks"].items())


def _property_names(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Names of properties at every level, breadth first, MAX_PROPERTIES at most."""
    level: list[Any] = [schema]
    left = MAX_PROPERTIES
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if not isinstance(node, Mapping):
                continue
            properties = node.get("properties")
            for name, child in (properties if isinstance(properties, Mapping) else {}).items():
                if left == 0:
                    return
                left -= 1
                yield name
                below.append(child)
            below.append(node.get("items"))
            for keyword in ("anyOf", "oneOf", "allOf"):
                branches = node.get(keyword)
                below += branches[:MAX_PROPERTIES] if isinstance(branches, list) else []
        level = [node for node in below[:MAX_PROPERTIES] if node is not None]
