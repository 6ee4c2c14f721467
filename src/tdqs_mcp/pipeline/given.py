"""Parts of a better definition that the author's own material makes: facts in their words, hints, a real call."""

import json
from collections.abc import Iterator, Mapping

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts import hostile, praise, samples, statements, stems, tokens
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.words import words_of
from tdqs_mcp.model.material import Fact, Material, Outcome
from tdqs_mcp.model.rewrites import Mode
from tdqs_mcp.pipeline import proof
from tdqs_mcp.pipeline.parts import Part

MAX_CALL = 120
"""Characters of a call that a description carries as its example."""


def of(subject: Subject, material: Material, mode: Mode, *, growth: int) -> tuple[Part, ...]:
    """The parts, the most certain first; a fact of every tool is said where a model weighs it, not on each of them.

    No more facts than the definition may grow by.
    """
    said = (part for fact in _within(subject, material, growth) if (part := _fact(fact, subject)))
    example = _example(subject, material) if mode is Mode.FULL else None
    return (*said, *_hints(subject, material), *([example] if example else []))


def told(subject: Subject, material: Material, *, growth: int) -> int:
    """Tokens of the growth that are spent already, on facts that an earlier run may have said."""
    return sum(_weight(fact) for fact in _within(subject, material, growth) if _is_told(fact, subject))


def _within(subject: Subject, material: Material, growth: int) -> Iterator[Fact]:
    """The tool's own facts in their order, as long as they fit, told already or not."""
    for fact in material.facts:
        if fact.tool == subject.tool.name and _weight(fact) <= growth:
            growth -= _weight(fact)
            yield fact


def _weight(fact: Fact) -> int:
    """Tokens of a fact in a definition, its quotes and full stop for what joins it to other words."""
    return tokens.estimate(canonical_json(f"{fact.text}."))


def _is_told(fact: Fact, subject: Subject) -> bool:
    known = stems.content(subject.prose.words)
    return all(stems.supports(known, word) for word in stems.content(words_of(fact.text)))


def _fact(fact: Fact, subject: Subject) -> Part | None:
    """A fact that the description does not tell yet, as a sentence of its own."""
    is_fit = not praise.praise(fact.text) and not hostile.threats({"description": fact.text})
    if _is_told(fact, subject) or not is_fit:
        return None
    sentence = fact.text[:1].upper() + fact.text[1:]
    whole = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
    return Part(path="/description", sources=(f"fact {fact.number}",), sentence=whole)


def _hints(subject: Subject, material: Material) -> tuple[Part, ...]:
    """The hints that facts prove and that nobody has set."""
    annotations = subject.tool.raw.get("annotations")
    present: Mapping[str, object] = annotations if isinstance(annotations, Mapping) else {}
    proven = proof.hints(subject, material)
    new = {name: value for name, (value, _) in proven.items() if name not in present}
    if not new or not (annotations is None or isinstance(annotations, Mapping)):
        return ()
    sources = tuple(dict.fromkeys(proven[name][1] for name in new))
    return (Part(path="/annotations", sources=sources, value={**present, **new}),)


def _example(subject: Subject, material: Material) -> Part | None:
    """The shortest real call that succeeded, where the description has no example and the call may be shown."""
    calls = [trace for trace in material.traces if trace.outcome is Outcome.SUCCESS and trace.arguments]
    showable = [trace for trace in calls if samples.is_showable(trace.arguments, subject)]
    shown = sorted((json.dumps(trace.arguments, ensure_ascii=False), trace.number) for trace in showable)
    call, number = min(
        (pair for pair in shown if len(pair[0]) <= MAX_CALL), key=lambda pair: len(pair[0]), default=("", 0)
    )
    if not call or "example" in subject.prose.words or not statements.is_english(subject):
        return None
    return Part(path="/description", sources=(f"trace {number}",), sentence=f"Example: `{call}`.")
