"""What a tool does and gives back, where hints, schemas and text prove it of each other."""

from collections.abc import Iterator, Mapping

from tdqs_mcp.facts import statements, values
from tdqs_mcp.facts.catalog.parameter_meanings import infer_meanings as meanings_of
from tdqs_mcp.facts.schema import answers, arguments
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import Cue, Effect
from tdqs_mcp.rewriting.parts import Part, Scene, listed

MAX_FIELDS = 6
"""Fields of an answer that one sentence names; the others are counted."""

_OPAQUE = frozenset("run execute call invoke perform".split())
"""Verbs that do not tell whether anything changes."""


def read_only(subject: Subject) -> Part | None:
    """The only hint that text proves: the author's own plain statement, where no hint speaks.

    A verb proves nothing; `get_token` may well issue a new one.
    """
    annotations = subject.tool.raw.get("annotations")
    is_open = not subject.signals.has_hints and (annotations is None or isinstance(annotations, Mapping))
    if not is_open or not statements.is_read_only(subject):
        return None
    value = {**(annotations or {}), "readOnlyHint": True}
    return Part(path="/annotations", sources=("description: it says that the tool is read-only",), value=value)


def hinted(subject: Subject) -> Part | None:
    """What hints declare, the verb does not tell and the text is silent about; hints stay with the client."""
    said = subject.tool.description or ""
    found = [(text, f"/annotations/{hint}") for text, hint in _hinted(subject) if text not in said]
    if not found:
        return None
    return Part(
        path="/description",
        sources=tuple(source for _, source in found),
        sentence=" ".join(text for text, _ in found),
    )


def _hinted(subject: Subject) -> Iterator[tuple[str, str]]:
    """Never what a destructive tool destroys: the hint does not know, and "something" is no news after its verb."""
    signals, prose = subject.signals, subject.prose
    cues, effect = prose.cues.keys(), prose.effect
    if signals.read_only is True:
        if prose.verb in _OPAQUE and Cue.SAFETY not in cues:
            yield "Read-only: it changes nothing.", "readOnlyHint"
        return
    if {Cue.DESTRUCTION, Cue.SAFETY} & cues:
        return
    if signals.destructive is False and effect is Effect.CREATE and Cue.SIDE_EFFECT not in cues:
        yield "It only adds; nothing that is there is overwritten or deleted.", "destructiveHint"
    if signals.idempotent is True and signals.destructive is not None:
        yield "Repeating a call changes nothing more.", "idempotentHint"
    if signals.idempotent is False and effect in (Effect.CREATE, Effect.ACT, Effect.UPDATE):
        yield "Repeating a call takes effect again.", "idempotentHint"


def returned(subject: Subject) -> Part | None:
    """The fields of the answer, for a text that is silent about it; clients keep output schemas from the model."""
    name, fields = answers.result_fields(subject.tool)
    if not fields or Cue.RETURN in subject.prose.cues:
        return None
    more = len(fields) - MAX_FIELDS
    some = ", ".join(f"`{field}`" for field in fields[:MAX_FIELDS])
    said = f"{some} and {more} more field{'s' if more > 1 else ''}" if more > 0 else listed(fields)
    sentence = f"Returns {name} with {said}." if name else f"Returns {said}."
    return Part(path="/description", sources=("/outputSchema/properties",), sentence=sentence)


def explained(subject: Subject, scene: Scene) -> tuple[Part, ...]:
    """Descriptions of parameters that have none."""
    return tuple(
        Part(path=f"{arguments.property_pointer(each.parameter)}/description", sources=each.sources, value=each.text)
        for each in meanings_of(subject, scene.agreed)
    )


def enumerated(subject: Subject) -> tuple[Part, ...]:
    """The lists of values that the author's text closes and the schema leaves open."""
    return tuple(
        Part(path=f"{arguments.property_pointer(name)}/enum", sources=(source,), value=list(listed_values))
        for name, listed_values, source in values.closed(subject.tool)
    )
