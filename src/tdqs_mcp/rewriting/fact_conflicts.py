"""Facts of an author that cannot hold beside the definition or beside each other."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.facts.lexicon import lazy_pattern
from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.text.statements import (
    Bound,
    bound_keywords,
    closed_values,
    find_bounds,
    read_polarity,
    said_deleting,
    stated_hints,
)
from tdqs_mcp.facts.text.words import EFFECTS, LEMMAS, content_stems
from tdqs_mcp.facts.toolset.names import read_names
from tdqs_mcp.model import ANNOTATIONS, Fact

_ACTS = lazy_pattern(
    r"(?:it|this tool|the tool|a call|each call) (?:also |may |can |will )?(\w+)\b(?! (?:nothing|no)\b)"
    r"|(\w+s)(?= (?:the|an?|all|any|each|every|its|one)\b)",
    re.IGNORECASE,
)
"""A verb that says who does it; without a subject only before its object: "Orders are kept" has none."""
_OPTIONAL = lazy_pattern(r"\b(\w+)`? (?:is|are) optional\b", re.IGNORECASE)

_NAMED = lazy_pattern(r"`([\w.-]+)`|\b([\w-]+)(?::| (?:is|has|must|may|can|cannot|defaults)\b)", re.IGNORECASE)
"""A word that a text speaks of as of a parameter: in backticks, or before its verb."""

_Position = tuple[str, object]
"""What is spoken of, and what is said of it: two positions on one thing cannot both hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A statement of the author's and what it cannot stand beside."""

    source: str
    place: str
    """What the statement is about; empty where only its words say."""

    statement: str
    """The statement as a question names it."""

    other: str

    @property
    def question(self) -> str:
        """Return what only the author can answer; the same for either of two statements."""
        first, second = sorted((self.statement, self.other), key=lambda side: (not _GIVEN.match(side), side))
        return f"{first[:1].upper()}{first[1:]}, but {second}: which of them holds?"


_GIVEN = lazy_pattern(r"(?:fact|answer|parameters|annotations) ")
"""How the name of a statement of the material begins."""


def find_conflicts(subject: Subject, facts: Sequence[Fact]) -> tuple[Conflict, ...]:
    """Return a conflict for each fact that schema, hints, text or another fact contradict; linear in the facts."""
    sides: dict[str, dict[object, str]] = {}
    for side, position in _definition(subject):
        sides.setdefault(position[0], {}).setdefault(position[1], side)
    about = [fact for fact in facts if fact.tool is not None or not fact.place]
    stated = [(fact, _side(fact), tuple(_fact_positions(fact, subject))) for fact in about]
    for _, side, positions in stated:
        for thing, stance in positions:
            sides.setdefault(thing, {}).setdefault(stance, side)
    conflicts = []
    for fact, side, positions in stated:
        opponents = (
            speaker for thing, stance in positions for other, speaker in sides[thing].items() if other != stance
        )
        other = _beyond_schema(fact, subject) or next((speaker for speaker in opponents if speaker != side), None)
        if other:
            conflicts.append(Conflict(source=fact.source, place=fact.place, statement=side, other=other))
    return tuple(conflicts)


def is_ruled_out(hint: str, subject: Subject, *, value: bool) -> bool:
    """Return whether the definition contradicts a hint of this value."""
    fact = Fact(text=str(value).lower(), tool=subject.tool.name, place=f"{ANNOTATIONS}{hint}")
    return bool(find_conflicts(subject, [fact]))


def _side(fact: Fact) -> str:
    if fact.hint and fact.origin:
        return f"{fact.source} is {fact.text}"
    text = f"{fact.hint}: {fact.text}" if fact.hint else fact.text
    return f"{fact.source} says {text!r}"


def _text(fact: Fact) -> str:
    """Return what a fact says, with the parameter that it is about."""
    return f"`{fact.parameter}`: {fact.text}" if fact.parameter else fact.text


def _fact_positions(fact: Fact, subject: Subject) -> Iterator[_Position]:
    if fact.hint:
        yield from _hint(fact.hint, value=fact.text == "true")
    else:
        yield from _positions(_text(fact), subject)


def _hint(name: str, *, value: bool) -> Iterator[_Position]:
    """Yield what the value of a hint is, and what else it says."""
    yield name, value
    if (name, value) == ("destructiveHint", True):
        yield "readOnlyHint", False


def _definition(subject: Subject) -> Iterator[tuple[str, _Position]]:
    """Yield what hints, name and text say, each with the words that name it; the hints first."""
    hints = subject.tool.annotations or {}
    for name, value in hints.items():
        if isinstance(value, bool):
            yield f"`{name}` is {str(value).lower()}", (name, value)
    if hints.get("destructiveHint") is True:
        yield "`destructiveHint` is true", ("readOnlyHint", False)
    name = subject.tool.name
    label = read_names([name])[name]
    if label.verb and label.effect and label.effect.is_mutating and hints.get("readOnlyHint") is not True:
        yield f"the name says {name!r}", ("readOnlyHint", False)
    if (word := said_deleting(subject.tool, subject.prose)) and hints.get("destructiveHint") is not False:
        yield f"{name!r} says {word!r}", ("destructiveHint", True)
    for parameter in subject.signals.parameters:
        for thing, bound, number in _bounds(f"`{parameter.name}`: {parameter.description}", subject):
            yield f"the description of `{thing}` says {number}", (f"{bound} of `{thing}`", number)
    for sentence in subject.prose.sentences:
        for position in _positions(sentence, subject):
            yield f"the description says {sentence!r}", position


def _positions(text: str, subject: Subject) -> Iterator[_Position]:
    """The hints that a text states, what its sentences affirm or deny, and the bounds of parameters that it names."""
    for hint, value in stated_hints(text):
        yield from _hint(hint, value=value)
    for sentence in sentences_of(text):
        yield from _effect(sentence)
        stems = content_stems(words_of(sentence))
        for clause in sentence.split(";"):
            words = content_stems(words_of(clause))
            if len(words) > 1 or (words and words == stems):
                yield " ".join(sorted(words)), bool(read_polarity(clause).denied)
    for name, bound, number in _bounds(text, subject):
        yield f"{bound} of `{name}`", number


def _effect(sentence: str) -> Iterator[_Position]:
    """That the tool changes something: its verb in a form that says who does it."""
    match = _ACTS.match(sentence)
    word = (match[1] or match[2]).lower() if match else ""
    verb = LEMMAS.get(word)
    is_change = verb is not None and EFFECTS[verb].is_mutating and not word.endswith(("ed", "ing"))
    if is_change and verb in read_polarity(sentence).affirmed:
        yield "readOnlyHint", False


def _bounds(text: str, subject: Subject) -> Iterator[tuple[str, Bound, str]]:
    """The numbers that a text gives as bounds or defaults of the one parameter that it names."""
    spoken = {name.lower() for match in _NAMED.findall(text) for name in match if name}
    named = [name for word in spoken for name in subject.parameters_by_word.get(word, ())]
    for bound in find_bounds(text) if len(named) == 1 else ():
        if bound.value[-1].isdecimal():
            yield named[0], bound.bound, bound.value


def _beyond_schema(fact: Fact, subject: Subject) -> str | None:
    """Return what the schema has instead: a bound that the fact oversteps, another default, a requirement."""
    nodes = {node.name: node for node in subject.input_shape.nodes if node.is_top}
    for name, bound, value in _bounds(_text(fact), subject):
        schema = nodes[name].schema if name in nodes else {}
        for keyword, kind in bound_keywords().items():
            limit = schema.get(keyword)
            if isinstance(limit, int | float) and _oversteps(bound, value, kind, limit):
                return f"the schema gives `{name}` the {keyword} {limit}"
    node = nodes.get(fact.parameter or "")
    if node and (other := _beyond_values(fact.text, node.schema)):
        return f"the schema gives `{fact.parameter}` {other}"
    for match in _OPTIONAL.finditer(_text(fact)):
        if match[1] in nodes and nodes[match[1]].is_required:
            return f"the schema requires `{match[1]}`"
    return None


def _beyond_values(text: str, schema: Mapping[str, Any]) -> str | None:
    """The schema's values or its default, where a text closes another list or names another of them as the default."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    spelled, default = {str(value).lower() for value in values}, schema.get("default")
    listed = {value.lower() for value in closed_values(" ".join(text.split()), {})}
    if not listed <= spelled:
        return f"the values {', '.join(map(str, values))}"
    named = {bound.value for bound in find_bounds(text) if bound.bound is Bound.DEFAULT} & spelled
    return f"the default {default}" if named and default is not None and str(default).lower() not in named else None


_LOW = frozenset({Bound.MINIMUM, Bound.ABOVE})
_HIGH = frozenset({Bound.MAXIMUM, Bound.BELOW})


def _oversteps(bound: Bound, value: str, kind: Bound, limit: float) -> bool:
    """A default that is another one, or a bound outside the range that the schema allows."""
    try:
        number = float(value.replace(",", "_"))
    except ValueError:
        return False
    if Bound.DEFAULT in (bound, kind):
        return bound is kind and number != limit
    return number < limit if kind in _LOW else number > limit if kind in _HIGH else False
