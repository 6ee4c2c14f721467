"""Which parts a better definition of one tool is made of, in the order of their certainty."""

from collections.abc import Sequence

from tdqs_mcp.facts import statements
from tdqs_mcp.facts.catalog.names import Label
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.results.rewrites import Mode
from tdqs_mcp.rewriting import effects, guidance
from tdqs_mcp.rewriting.parts import Part, Scene
from tdqs_mcp.rewriting.purpose import cut, purpose, title


def of(subject: Subject, *, label: Label, near: Sequence[str], scene: Scene, mode: Mode) -> tuple[Part, ...]:
    """Every part that facts support, the least certain last: cuts take words away that a judge may have liked.

    Parts with words of their own are English, so a definition in another language gets none of them.
    """
    is_foreign = statements.is_foreign(subject) or (subject.signals.is_missing_description and scene.is_foreign)
    first = None if is_foreign else purpose(subject, label, is_third_person=scene.is_third_person)
    has_text = first is not None or not subject.signals.is_missing_description
    is_fit = has_text and statements.is_english(subject)
    said = guidance.of(subject, label, near, scene) if is_fit else ()
    more = _more(subject, scene) if mode is Mode.FULL and is_fit else ()
    found = [part for part in (first, *said, effects.read_only(subject), *effects.enumerated(subject), *more) if part]
    less = cut(subject)
    named = title(subject, label) if (found or less) and not is_foreign else None
    return (*found, *(part for part in (named, less) if part))


def _more(subject: Subject, scene: Scene) -> tuple[Part | None, ...]:
    return (effects.hinted(subject), effects.returned(subject), *effects.explained(subject, scene))


def unsaid(subject: Subject, *, label: Label, near: Sequence[str], scene: Scene) -> tuple[str, ...]:
    """The English sentences that facts support and that a description in another language cannot take as they are."""
    if not statements.is_foreign(subject):
        return ()
    return tuple(part.sentence for part in guidance.of(subject, label, near, scene))
