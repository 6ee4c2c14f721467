"""The offline judge's view of a subject: small integers by name, each with the words of the definition it rests on."""

from collections.abc import Callable, Mapping

from tdqs_mcp.facts.lexicon import Cue, Effect
from tdqs_mcp.facts.relations import ToolSet
from tdqs_mcp.facts.subject import Subject

LONG = 60
"""Words after which a description has to justify its length; the median of 1,649 real ones is 32."""


def of_tool(subject: Subject) -> dict[str, int]:
    """Every feature that the weights may name."""
    prose, signals, counts = subject.prose, subject.signals, subject.prose.cue_counts
    count = signals.param_count
    covered = len(
        {parameter.name for parameter in signals.parameters if parameter.description}.union(prose.mentioned_parameters)
    )
    is_mutating = prose.effect is not None and prose.effect.is_mutating
    features = {
        "opens_with_verb": int(prose.opens_with_verb),
        "vague_verb": int(prose.has_vague_verb),
        "lead_words": min(prose.lead_words, 12),
        "new_words": min(prose.new_words, 20),
        "more_new_words": max(0, min(prose.new_words, 80) - 20),
        "restates": int(prose.restates_loosely),
        "only_name": int(prose.is_only_name),
        "tiny": int(prose.word_count < 5),
        "long_words": max(0, min(prose.word_count, 200) - LONG),
        "copied": min(prose.copied_words, 40),
        "repeated": min(prose.repeated_sentences, 3),
        "sibling": int(bool(subject.mentions)),
        "redirect": int(subject.redirect is not None),
        "title": int(signals.title_is_meaningful),
        "hints": int(signals.has_hints),
        "read_verb": int(prose.effect is Effect.READ),
        "unhinted_mutation": int(is_mutating and not signals.has_hints),
        "output_schema": int(signals.has_output_schema),
        "returns_known": int(signals.has_output_schema or Cue.RETURN in prose.cues),
        "no_parameters": int(count == 0),
        "covered": 10 * covered // count if count else 10,
        "uncovered": min(count - covered, 6),
        "explained": 10 * prose.explained_parameters // count if count else 0,
        "nested": int(signals.has_nested_objects),
        "parameters": min(count, 10),
    }
    for cue in Cue:
        features[cue] = min(counts.get(cue, 0), 4)
    return features


def of_set(tools: ToolSet) -> dict[str, int]:
    """Every coherence feature that the weights may name; shares are percent of the tools."""
    count = max(1, tools.tool_count)

    def share(names: tuple[str, ...]) -> int:
        return 100 * len(names) // count

    return {
        "one": int(tools.tool_count == 1),
        "two": int(tools.tool_count == 2),
        "heavy": int(16 <= tools.tool_count <= 25),
        "too_many": int(26 <= tools.tool_count <= 49),
        "extreme": int(tools.tool_count >= 50),
        "off_style": share(tools.off_style),
        "has_off_style": int(bool(tools.off_style)),
        "off_pattern": share(tools.off_pattern),
        "has_off_pattern": int(bool(tools.off_pattern)),
        "synonyms": min(len(tools.synonyms), 3),
        "alike": share(tools.alike),
        "has_alike": int(bool(tools.alike)),
        "vague": share(tools.vague),
        "gaps": min(len(tools.gaps), 3),
        "lifecycles": min(len(tools.complete), 2),
        "effects": min(tools.effects, 4),
        "few": int(tools.tool_count < 3),
    }


def is_relevant(name: str, subject: Subject) -> bool:
    """Whether an absence is worth a word: a read-only tool destroys nothing, a lone tool has no sibling."""
    if name in ("destruction", "side effect"):
        return subject.signals.read_only is not True and subject.prose.effect is not Effect.READ
    return name not in ("sibling", "redirect", "alternative") or subject.sibling_count > 0


def quote(name: str, subject: Subject) -> str | None:
    """The words of the definition behind a tool feature; None where it is counted, not quoted."""
    if name in _CUES:
        return subject.prose.cues.get(_CUES[name])
    source = _QUOTES.get(name)
    return source(subject) if source else None


def names_behind(name: str, tools: ToolSet) -> tuple[str, ...]:
    """The tools or words behind a coherence feature."""
    source = _SET_QUOTES.get(name)
    return source(tools) if source else ()


def _lead(subject: Subject) -> str | None:
    return subject.prose.sentences[0] if subject.prose.sentences else None


_CUES: Mapping[str, Cue] = {cue.value: cue for cue in Cue}
_QUOTES: Mapping[str, Callable[[Subject], str | None]] = {
    "opens_with_verb": _lead,
    "vague_verb": _lead,
    "lead_words": _lead,
    "restates": _lead,
    "only_name": _lead,
    "tiny": _lead,
    "redirect": lambda subject: subject.redirect,
    "sibling": lambda subject: next(iter(subject.mentions), None),
    "returns_known": lambda subject: subject.prose.cues.get(Cue.RETURN),
}
_SET_QUOTES: Mapping[str, Callable[[ToolSet], tuple[str, ...]]] = {
    "off_style": lambda tools: tools.off_style,
    "has_off_style": lambda tools: tools.off_style,
    "off_pattern": lambda tools: tools.off_pattern,
    "has_off_pattern": lambda tools: tools.off_pattern,
    "synonyms": lambda tools: tools.synonyms,
    "alike": lambda tools: tools.alike,
    "has_alike": lambda tools: tools.alike,
    "vague": lambda tools: tools.vague,
    "gaps": lambda tools: tools.gaps,
    "lifecycles": lambda tools: tools.complete,
}
