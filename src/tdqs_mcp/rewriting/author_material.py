"""Parts of a better definition that the author's own material makes: facts in their words, hints, real calls."""

import json
from collections.abc import Iterator, Mapping
from itertools import count, islice

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.support import is_plain_value, is_showable, redact
from tdqs_mcp.facts.text.wording import can_continue_in_english, find_praise
from tdqs_mcp.facts.text.words import content_stems, has_word, words_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.model import CallOutcome, Fact, Material, Trace
from tdqs_mcp.results.improvements import OFFLINE, Mode, Rewrite, Unused
from tdqs_mcp.rewriting import provenance
from tdqs_mcp.rewriting.definition_parts import Part
from tdqs_mcp.rewriting.proposals import apply_parts
from tdqs_mcp.rewriting.provenance import KnownSources

MAX_CALL = 120
"""Characters of a call that a description carries as its example."""

MAX_LIMITATIONS = 3
"""Sentences that recorded calls add to a description."""


def material_parts(subject: Subject, material: Material, mode: Mode, *, growth: int) -> tuple[Part, ...]:
    """The parts, the most certain first; a fact of every tool is said where a model weighs it, not on each of them.

    No more facts than the definition may grow by.
    """
    said = (spoken(fact) for fact in _within(subject, material, growth) if not objection(fact, subject))
    example = _example(subject, material) if mode is Mode.FULL else None
    return (*said, *_hints(subject, material), *_limitations(subject, material), *([example] if example else []))


def told(subject: Subject, material: Material, *, growth: int) -> int:
    """Tokens of the growth that are spent already, on facts that an earlier run may have said."""
    return sum(_weight(fact) for fact in _within(subject, material, growth) if is_told(fact.text, subject))


def _within(subject: Subject, material: Material, growth: int) -> Iterator[Fact]:
    """The tool's own facts in their order, as long as they fit, told already or not."""
    for fact in material.facts:
        if fact.tool == subject.tool.name and _weight(fact) <= growth:
            growth -= _weight(fact)
            yield fact


def _weight(fact: Fact) -> int:
    """Tokens of a fact in a definition, its quotes and full stop for what joins it to other words."""
    return tokens.estimate_tokens(canonical_json(f"{fact.text}."))


def objection(fact: Fact, subject: Subject) -> str | None:
    """Why a fact is not said of a tool, whatever it may support."""
    if fact.tool != subject.tool.name:
        return "a fact of every tool is said of none; it only supports other words"
    if praised := find_praise(fact.text):
        return f"{praised!r} praises and tells nothing"
    if threats := find_threats({"description": fact.text}):
        return f"its text {threats[0].kind}"
    return "the description says it already" if is_told(fact.text, subject) else None


def spoken(fact: Fact) -> Part:
    """A fact as a sentence of its own."""
    sentence = fact.text[:1].upper() + fact.text[1:]
    whole = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
    return Part(path="/description", sources=(f"fact {fact.number}",), sentence=whole)


def is_told(text: str, subject: Subject) -> bool:
    """The description has every word that the text claims something with."""
    known = content_stems(subject.prose.words)
    return all(has_word(known, word) for word in content_stems(words_of(text)))


def limitation(trace: Trace) -> Part | None:
    """What a recorded call shows: that a call can fail so, or give nothing; None where it shows no such thing."""
    said = {CallOutcome.ERROR: _failure, CallOutcome.EMPTY: _emptiness}
    sentence = said[trace.outcome](trace) if trace.outcome in said else None
    return Part(path="/description", sources=(f"trace {trace.number}",), sentence=sentence) if sentence else None


def _limitations(subject: Subject, material: Material) -> tuple[Part, ...]:
    """No more than a few, and each of them once."""
    if not can_continue_in_english(subject):
        return ()
    found = {part.sentence: part for trace in reversed(material.traces) if (part := limitation(trace))}
    new = (part for sentence, part in reversed(found.items()) if not is_told(sentence, subject))
    return tuple(islice(new, MAX_LIMITATIONS))


def _failure(trace: Trace) -> str | None:
    """The error in its own words, where they are few, plain, and none of them is a value of this very call."""
    message = " ".join(trace.answer.split()).rstrip(".")
    told = set(words_of(message))
    is_private = any(told.intersection(words_of(str(value))) for value in trace.arguments.values())
    is_shown = is_plain_value(message) and redact(message) == message
    return f"Can fail with `{message}`." if message and is_shown and not is_private else None


def _emptiness(trace: Trace) -> str:
    return f"May return an empty {'list' if trace.answer.strip() == '[]' else 'result'}."


def _hints(subject: Subject, material: Material) -> tuple[Part, ...]:
    """The hints that facts state and that nobody has set."""
    annotations = subject.tool.raw.get("annotations")
    present: Mapping[str, object] = annotations if isinstance(annotations, Mapping) else {}
    stated = provenance.hints(subject, material)
    new = {name: value for name, (value, _) in stated.items() if name not in present}
    if not new or not (annotations is None or isinstance(annotations, Mapping)):
        return ()
    sources = tuple(dict.fromkeys(stated[name][1] for name in new))
    return (Part(path="/annotations", sources=sources, value={**present, **new}),)


def _example(subject: Subject, material: Material) -> Part | None:
    """The shortest real call that succeeded, where the description has no example and the call may be shown."""
    calls = [trace for trace in material.traces if trace.outcome is CallOutcome.SUCCESS and trace.arguments]
    showable = [trace for trace in calls if is_showable(trace.arguments, subject)]
    shown = sorted((json.dumps(trace.arguments, ensure_ascii=False), trace.number) for trace in showable)
    call, number = min(
        (pair for pair in shown if len(pair[0]) <= MAX_CALL), key=lambda pair: len(pair[0]), default=("", 0)
    )
    if not call or "example" in subject.prose.words or not can_continue_in_english(subject):
        return None
    return Part(path="/description", sources=(f"trace {number}",), sentence=f"Example: `{call}`.")


def unused_material(subject: Subject, rewrite: Rewrite, sources: KnownSources) -> tuple[Unused, ...]:
    """Every fact, trace and text about the tool that no change and no claim of its rewrite names."""
    return tuple(each for each in _reasons(subject, rewrite, sources) if each.source not in rewrite.sources)


def _reasons(subject: Subject, rewrite: Rewrite, sources: KnownSources) -> Iterator[Unused]:
    """A reason for everything that is not named; no more is checked than could have been said."""
    material, tried = sources.material(subject), count()
    for conflict in sources.conflicts(subject):
        yield Unused(source=f"fact {conflict.fact}", reason=f"it cannot stand beside this: {conflict.other}")
    told: list[tuple[str, Part | None, str | None]]
    told = [(f"fact {each.number}", spoken(each), objection(each, subject)) for each in material.facts]
    told += [(f"trace {each.number}", limitation(each), _objection(each, subject, rewrite)) for each in material.traces]
    for source, part, reason in told:
        if reason is None and source not in rewrite.sources and part and next(tried) < rewrite.growth:
            reason = _refusal(part, subject, sources)  # noqa: PLW2901  # the first reason that there is
        yield Unused(source=source, reason=reason or _left_out(rewrite))
    if material.docs.strip():
        is_shown = rewrite.writer != OFFLINE
        yield Unused(source="docs", reason=_left_out(rewrite) if is_shown else "only a model's writer draws on them")


def _objection(trace: Trace, subject: Subject, rewrite: Rewrite) -> str | None:
    """Why a recorded call is not told."""
    if trace.outcome is CallOutcome.SUCCESS:
        return "of the calls that succeed only the shortest one without private values is shown, in full mode"
    part = limitation(trace)
    if part is None:
        return "its message is not plain and short, or holds a value of the call"
    if part.sentence in str(rewrite.definition.get("description")) or is_told(part.sentence, subject):
        return "the description says it already"
    return None


def _refusal(part: Part, subject: Subject, sources: KnownSources) -> str | None:
    refused = provenance.refused(provenance.claims(subject, apply_parts(subject.tool, (part,)), sources))
    return refused[0].refusal if refused else None


def _left_out(rewrite: Rewrite) -> str:
    if rewrite.writer != OFFLINE:
        return "the writer's words do not rest on it"
    return (
        f"it does not fit into the {rewrite.growth} tokens to grow by, or the judge finds the definition worse with it"
    )
