"""What a description tells that name and schema do not: new words, statements and details, each counted once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.sentences import FUNCTION_STEMS, NEW_WORDS, Mark, Sentence, Text, generic_stems, read_text
from tdqs_mcp.facts.text.vocabulary import Cue, PatternTable, lazy_pattern

_PATTERNS = PatternTable("wording")

TINY = 5
"""Words below which a text is hardly one."""

_NUMBER = lazy_pattern(r"\d+")
_NO_IDENTIFIERS = frozenset("the this each every optional required which input single".split())

_CONSTRAINTS = frozenset("format pattern minimum maximum minLength maxLength minItems default".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence of the text."""

    text: str
    words: int
    """The new content words that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a description adds."""

    counts: Mapping[str, int]
    """Counts of distinct words, sentences, marks or top-level parameters, by the judge's name for each."""

    passages: Mapping[str, Passage]
    """For counts that rest on one sentence more than on others: that sentence."""


def read_content(subject: Subject) -> Content:
    """What the text adds; linear in its length. What speaks for it is counted in the sentences that tell something."""
    text = read_text(subject)
    return Content(
        counts={
            **_gain(text),
            **_cues(text, subject.prose),
            **_details(text),
            **_style(text, subject),
            **_parameters(text, subject),
        },
        passages=_passages(text),
    )


def _gain(text: Text) -> dict[str, int]:
    """What the sentences that tell something add, in words that name and title do not have."""
    telling, outside = text.telling, text.outside
    words = sum(len(each.words) for each in telling)
    return {
        "told": sum(len(each.fresh) for each in telling),
        # Outside parameter lists, and in no parameter's name or description.
        "beyond": sum(len(each.added) for each in outside),
        "lead": len(telling[0].fresh) if telling else 0,
        "later": sum(len(each.fresh) for each in telling[1:]),
        "statements": sum(len(each.added) >= NEW_WORDS for each in outside),
        # Of sentences that say when to use the tool, when not, what instead or what first.
        "usage": sum(len(each.fresh) for each in outside if each.is_usage),
        # Other sentences after the first that set a condition or a limit, or say what happens by itself.
        "behaviour": sum(each.is_behavior and bool(each.fresh) for each in outside),
        # Of the sentence that says most about what comes back.
        "returned": max((len(each.fresh) for each in telling if each.is_return), default=0),
        "tiny": int(words < TINY),
        "sentence_words": words // max(1, len(telling)),
        "restates": int(bool(text.told) and not text.told - FUNCTION_STEMS - text.own),
    }


def _cues(text: Text, prose: Prose) -> dict[str, int]:
    """Sentences that tell something and give the cue."""
    every = text.everything
    told = {cue: [every[place] for place in prose.cue_places.get(cue, ()) if every[place].tells] for cue in Cue}
    return {cue: len({each.text for each in found}) for cue, found in told.items() if cue is not Cue.FILLER}


def _details(text: Text) -> dict[str, int]:
    """What the description is precise about: different words of each mark, numbers, quotations, parentheses."""
    marks = {mark: len({word for each in text.outside for word in each.marks.get(mark, ())}) for mark in Mark}
    return {
        "conditions": marks[Mark.CONDITION],
        "limits": marks[Mark.LIMIT],
        "mechanics": marks[Mark.MECHANICS],
        "means": marks[Mark.MEANS],
        "inclusions": marks[Mark.INCLUSION],
        "units": marks[Mark.UNIT],
        "numbers": len({number for each in text.outside for number in _NUMBER.findall(each.text)}),
        "quotations": len({word for each in text.telling for word in _PATTERNS.quoted.findall(each.text)}),
        "asides": sum("(" in each.text for each in text.outside),
    }


def _style(text: Text, subject: Subject) -> dict[str, int]:
    """How it is put, in all sentences: generic, repeated, shouted, generated."""
    every = [word for each in text.everything for word in each.words]
    first = text.telling[0].text if text.telling else ""
    sentences = subject.prose.sentences
    return {
        "lines": (subject.tool.description or "").strip().count("\n"),
        # Percent of the name's words that stand in the text; where few do, it may be about something else.
        "name_told": 100 * len(text.own & text.told) // max(1, len(text.own)),
        "generic": len((text.said - FUNCTION_STEMS) & generic_stems()),
        "said_again": len(every) - len(set(every)),
        "addressed": sum(word in ("you", "your") for word in every),
        "shouted": len(_PATTERNS.shout.findall(" ".join(sentences))),
        # Identifiers that are neither a property nor a tool of the server.
        "unknown": len(_identifiers(sentences) - text.properties - subject.names),
        "generated": int(_PATTERNS.generated.search(first) is not None),
        "as_tool": int(_PATTERNS.as_tool.match(first) is not None),
    }


def _parameters(text: Text, subject: Subject) -> dict[str, int]:
    """What text and schema say of the top-level parameters."""
    told, names, idle = text.told, text.names, generic_stems() | FUNCTION_STEMS | text.own
    listed = {each.entry for each in text.entries}
    schemas = _schemas(subject.tool.input_schema)
    bare = [each.name for each in subject.signals.parameters if not each.description.strip()]
    schema_words = [len(text.described[name] - idle - words) for name, words in names.items()]
    return {
        # Content words of parameter lists in the text that the schema does not have.
        "explained": len(frozenset().union(*(each.added for each in text.entries))),
        "listed": sum(name.lower() in listed for name in names),
        "named": sum(name.lower() in told or (bool(words) and words <= told) for name, words in names.items()),
        "partly_named": sum(not words.isdisjoint(told) for words in names.values()),
        # Without a description and without a word of their name in the text.
        "untold": sum(names[name].isdisjoint(told) for name in bare),
        # Content words of a parameter's description that its name does not have, on average.
        "described_words": sum(schema_words) // max(1, len(schema_words)),
        "structures": sum(map(_is_structure, schemas)),
        "constrained": sum(not _CONSTRAINTS.isdisjoint(schema) for schema in schemas),
    }


def _passages(text: Text) -> dict[str, Passage]:
    found = {
        "lead": text.telling[0] if text.telling else None,
        "later": _fullest(text.telling[1:]),
        "usage": _fullest(each for each in text.outside if each.is_usage),
        "behaviour": _fullest(each for each in text.outside if each.is_behavior),
        "returned": _fullest(each for each in text.telling if each.is_return),
        "explained": _fullest(text.entries),
    }
    return {key: Passage(text=each.text, words=len(each.fresh)) for key, each in found.items() if each is not None}


def _fullest(sentences: Iterable[Sentence]) -> Sentence | None:
    best = max(sentences, key=lambda each: len(each.fresh), default=None)
    return best if best and best.fresh else None


def _identifiers(sentences: Sequence[str]) -> set[str]:
    groups = (groups for sentence in sentences for groups in _PATTERNS.identifier.findall(sentence))
    return {word.lower() for words in groups for word in words if word} - _NO_IDENTIFIERS


def _schemas(schema: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The top-level properties that are schemas."""
    properties = (schema or {}).get("properties")
    children = properties.values() if isinstance(properties, Mapping) else ()
    return [child for child in children if isinstance(child, Mapping)]


def _is_structure(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in ("object", "array") or "anyOf" in schema or "$ref" in schema
