"""The sentences of a definition by what they are about."""

from collections.abc import Sequence

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import Cue
from tdqs_mcp.facts.text.words import identifiers_of
from tdqs_mcp.results.rewrites import Component

_GUIDING = frozenset({Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE})
_LIMITING = frozenset({Cue.DESTRUCTION, Cue.SAFETY, Cue.SIDE_EFFECT, Cue.PERMISSION, Cue.LIMIT, Cue.ERROR, Cue.TIMING})


def read(subject: Subject) -> dict[Component, str]:
    """The sentences of a definition by what they are about, in their order; a sentence belongs to one component."""
    said: dict[Component, list[str]] = {}
    explained = {each.name: each.description for each in subject.signals.parameters if each.description.strip()}
    siblings = set(map(str.lower, subject.mentions))
    for place, (text, words) in enumerate(zip(subject.prose.sentences, subject.prose.spoken, strict=True)):
        cues = frozenset(cue for cue, places in subject.prose.cue_places.items() if place in places)
        component = _component(text, words, cues, place=place, subject=subject, siblings=siblings)
        said.setdefault(component, []).append(text)
    listed = [f"{name}: {text}" for name, text in explained.items()]
    if listed:
        said.setdefault(Component.PARAMETERS, []).extend(listed)
    return {component: "\n".join(said[component]) for component in Component if component in said}


def _component(  # noqa: PLR0911  # one line a component
    text: str,
    words: Sequence[str],
    cues: frozenset[Cue],
    *,
    place: int,
    subject: Subject,
    siblings: set[str],
) -> Component:
    if words[:1] and words[0].startswith("example"):
        return Component.EXAMPLES
    if place == 0:
        return Component.PURPOSE
    if not siblings.isdisjoint(words) or cues & _GUIDING:
        return Component.GUIDELINES
    named = identifiers_of(text) & {each.name.lower() for each in subject.signals.parameters}
    if named or Cue.FORMAT in cues:
        return Component.PARAMETERS
    if Cue.EXAMPLE in cues:
        return Component.EXAMPLES
    if cues & _LIMITING:
        return Component.LIMITATIONS
    return Component.PURPOSE
