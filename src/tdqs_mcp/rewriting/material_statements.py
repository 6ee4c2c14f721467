"""What the author's material adds to a definition: facts, hints, and what recorded calls show."""

import json
from collections.abc import Container, Iterator, Mapping
from itertools import islice

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.statements import stated_hints
from tdqs_mcp.facts.text.support import is_plain_value, is_showable, redact
from tdqs_mcp.facts.text.wording import can_continue_in_english, find_praise
from tdqs_mcp.facts.text.words import content_stems, has_word, words_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.model import CallOutcome, Fact, Material, Trace
from tdqs_mcp.results.improvements import Component, Mode, Route
from tdqs_mcp.rewriting.statements import Statement, add_sentence, set_value

MAX_CALL = 120
"""Characters of a call that a description carries as its example."""

MAX_LIMITATIONS = 3
"""Sentences that recorded calls add to a description."""


def material_parts(subject: Subject, material: Material, mode: Mode, *, growth: int) -> tuple[Statement, ...]:
    """The parts, the most certain first; a fact of every tool is said where a model weighs it, not on each of them.

    No more facts than the definition may grow by.
    """
    said = (fact_part(fact) for fact in _within(subject, material, growth) if not find_objection(fact, subject))
    example = _example(subject, material) if mode is Mode.FULL else None
    return (*said, *_hints(subject, material), *_limitations(subject, material), *([example] if example else []))


def count_tokens(subject: Subject, material: Material, *, growth: int) -> int:
    """Tokens of the growth that the facts take, whether they are told already or not."""
    return sum(map(_weight, _within(subject, material, growth)))


def _within(subject: Subject, material: Material, growth: int) -> Iterator[Fact]:
    """The tool's own facts in their order, as long as they fit, told already or not."""
    for fact in material.facts:
        if fact.tool == subject.tool.name and _weight(fact) <= growth:
            growth -= _weight(fact)
            yield fact


def _weight(fact: Fact) -> int:
    """Tokens of a fact in a definition, its quotes and full stop for what joins it to other words."""
    return tokens.estimate_tokens(canonical_json(f"{fact.text}."))


def find_objection(fact: Fact, subject: Subject) -> str | None:
    """Why a fact is not said of a tool, whatever it may support."""
    if fact.tool != subject.tool.name:
        return "a fact of every tool is said of none; it only supports other words"
    if praised := find_praise(fact.text):
        return f"{praised!r} praises and tells nothing"
    if threats := find_threats({"description": fact.text}):
        return f"its text {threats[0].kind}"
    return "the description says it already" if is_told(fact.text, subject) else None


def fact_part(fact: Fact) -> Statement:
    """A fact as a sentence of its own."""
    sentence = fact.text[:1].upper() + fact.text[1:]
    whole = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
    return add_sentence(whole, Route.FACT, [f"fact {fact.number}"], component=Component.LIMITATIONS)


def is_told(text: str, subject: Subject) -> bool:
    """The description has every word that the text claims something with."""
    known = content_stems(subject.prose.words)
    return all(has_word(known, word) for word in content_stems(words_of(text)))


def trace_part(trace: Trace) -> Statement | None:
    """What a recorded call shows: that a call can fail so, or give nothing; None where it shows no such thing."""
    sentence = _failure(trace) if trace.outcome is CallOutcome.ERROR else None
    if trace.outcome is CallOutcome.EMPTY:
        sentence = f"May return an empty {'list' if trace.answer.strip() == '[]' else 'result'}."
    return add_sentence(sentence, Route.FAILURE, [f"trace {trace.number}"]) if sentence else None


def _limitations(subject: Subject, material: Material) -> tuple[Statement, ...]:
    """No more than a few, and each of them once."""
    if not can_continue_in_english(subject):
        return ()
    found = {part.sentence: part for trace in reversed(material.traces) if (part := trace_part(trace))}
    new = (part for sentence, part in reversed(found.items()) if not is_told(sentence, subject))
    return tuple(islice(new, MAX_LIMITATIONS))


def _failure(trace: Trace) -> str | None:
    """The error in its own words, where they are few, plain, and none of them is a value of this very call."""
    message = " ".join(trace.answer.split()).rstrip(".")
    told = set(words_of(message))
    is_private = any(told.intersection(words_of(str(value))) for value in trace.arguments.values())
    is_shown = is_plain_value(message) and redact(message) == message
    return f"Can fail with `{message}`." if message and is_shown and not is_private else None


def _hints(subject: Subject, material: Material) -> tuple[Statement, ...]:
    """The hints that facts state and that nobody has set."""
    annotations = subject.tool.raw.get("annotations")
    present: Mapping[str, object] = annotations if isinstance(annotations, Mapping) else {}
    stated = hints_of_facts(subject, material)
    new = {name: value for name, (value, _) in stated.items() if name not in present}
    if not new or not (annotations is None or isinstance(annotations, Mapping)):
        return ()
    sources = tuple(dict.fromkeys(stated[name][1] for name in new))
    return (set_value("/annotations", {**present, **new}, Route.HINT, sources),)


def _example(subject: Subject, material: Material) -> Statement | None:
    """The shortest real call that succeeded, where the description has no example and the call may be shown."""
    if "example" in subject.prose.words or not can_continue_in_english(subject):
        return None
    calls = [trace for trace in material.traces if trace.outcome is CallOutcome.SUCCESS and trace.arguments]
    showable = [trace for trace in calls if is_showable(trace.arguments, subject)]
    shown = [(json.dumps(trace.arguments, ensure_ascii=False), trace.number) for trace in showable]
    _, call, number = min(((len(call), call, number) for call, number in shown), default=(0, "", 0))
    if not 0 < len(call) <= MAX_CALL:
        return None
    return add_sentence(f"Example: `{call}`.", Route.EXAMPLE, [f"trace {number}"])


def hints_of_facts(subject: Subject, material: Material) -> dict[str, tuple[bool, str]]:
    """The hints that facts about this tool state, with value and fact; none that its name contradicts."""
    own = [fact for fact in material.facts if fact.tool == subject.tool.name]
    stated = {hint: f"fact {fact.number}" for fact in reversed(own) for hint in stated_hints(fact.text)}
    found = ((name, value, source) for (name, value), source in stated.items())
    return {name: (value, source) for name, value, source in found if not is_contradicted_hint(name, subject, stated)}


def is_contradicted_hint(hint: str, subject: Subject, stated: Container[tuple[str, bool]]) -> bool:
    """Whether a verb that changes things, or a stated destruction, rules out readOnlyHint."""
    effect = subject.prose.name_effect
    is_changing = ("destructiveHint", True) in stated or (effect is not None and effect.is_mutating)
    return hint == "readOnlyHint" and is_changing
