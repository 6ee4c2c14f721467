"""The offline judge's view of a subject: small integers by name, each with the words of the definition it rests on."""

from collections.abc import Callable, Mapping

from tdqs_mcp.facts.schema.signals import Signals
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.content import Content
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.vocabulary import Cue, Effect
from tdqs_mcp.facts.toolset.relations import ToolSet

SHARE = "/"
"""Ends the name of what one passage gives of a feature."""

CONTEXT = "|"
"""Joins a feature and the feature that has to be there for it to count: `explained|is_covered`."""


WELL_COVERED = 80
"""Percent of described parameters above which the schema does the work (TDQS, Parameter Semantics)."""

BARELY_COVERED = 50
"""Percent below which the description has to make up for it (TDQS, Parameter Semantics)."""


def of_tool(subject: Subject, content: Content) -> dict[str, int]:
    """Every feature of a tool that a scorecard may name."""
    return {
        **content.counts,
        **_shares(content),
        **_wording(subject.prose),
        **_parameters(subject, content.counts),
        **_effects(subject),
        **_hints(subject.signals),
        "mentions": len(subject.mentions),
        "redirect": int(subject.redirect is not None),
        "siblings": subject.sibling_count,
    }


def _shares(content: Content) -> dict[str, int]:
    """The words that one passage gives of a count."""
    passages = ((name, content.passages.get(_PASSAGES[name])) for name in _SHARED)
    return {f"{name}{SHARE}": passage.words if passage else 0 for name, passage in passages}


def _wording(prose: Prose) -> dict[str, int]:
    return {
        "opens_with_verb": int(prose.opens_with_verb),
        "vague_verb": int(prose.has_vague_verb),
        "only_name": int(prose.is_only_name),
        "copied": prose.copied_words,
        "repeated": prose.repeated_sentences,
        "words": prose.word_count,
        "sentences": len(prose.sentences),
        "filler": len(prose.cue_places.get(Cue.FILLER, ())),
    }


def _parameters(subject: Subject, counts: Mapping[str, int]) -> dict[str, int]:
    signals, count = subject.signals, subject.signals.param_count
    return {
        "listed": _tenths(counts["listed"], count, none=0),
        "partly_named": _tenths(counts["partly_named"], count, none=10),
        "named": _tenths(counts["named"], count, none=10),
        "explained_parameters": _tenths(subject.prose.explained_parameters, count, none=10),
        "no_parameters": int(count == 0),
        "parameters": count,
        "required": signals.required_param_count,
        "call_cost": signals.subtree.invocation_cost,
        "is_covered": int(signals.coverage > WELL_COVERED),
        "is_bare": int(signals.coverage < BARELY_COVERED),
        "undescribed": count - signals.params_with_descriptions,
        "enums": signals.params_with_enums,
    }


def _tenths(part: int, count: int, *, none: int) -> int:
    return 10 * part // count if count else none


def _effects(subject: Subject) -> dict[str, int]:
    prose, signals = subject.prose, subject.signals
    effect = prose.name_effect or prose.effect
    is_mutating = effect is not None and effect.is_mutating
    return {
        "contradiction": int(prose.contradiction is not None),
        "mutates": int(is_mutating),
        "unhinted_mutation": int(is_mutating and not signals.has_hints),
        "odd_hint": int(_is_odd(subject)),
        "deletes": int(effect is Effect.DELETE),
        "reads": int(effect is Effect.READ),
        "produces": int(effect is Effect.PRODUCE),
        "acts": int(effect is Effect.ACT),
    }


def _is_odd(subject: Subject) -> bool:
    """The name reads, and a hint says that the tool writes or destroys."""
    signals = subject.signals
    return subject.prose.name_effect is Effect.READ and (signals.destructive is True or signals.read_only is False)


def _hints(signals: Signals) -> dict[str, int]:
    return {
        "title": int(signals.title_is_meaningful),
        "hints": int(signals.has_hints),
        "hint_count": signals.hint_count,
        "read_only": int(signals.read_only is True),
        "output_schema": int(signals.has_output_schema),
    }


def of_set(tools: ToolSet) -> dict[str, int]:
    """Every coherence feature that the scorecards may name; shares are percent of the tools."""
    count = max(1, tools.tool_count)

    def share(names: tuple[str, ...]) -> int:
        return 100 * len(names) // count

    return {
        "one": int(tools.tool_count == 1),
        "two": int(tools.tool_count == 2),
        "tools": tools.tool_count,
        "off_style": share(tools.off_style),
        "has_off_style": int(bool(tools.off_style)),
        "off_pattern": share(tools.off_pattern),
        "has_off_pattern": int(bool(tools.off_pattern)),
        "synonyms": len(tools.synonyms),
        "alike": share(tools.alike),
        "has_alike": int(bool(tools.alike)),
        "vague": share(tools.vague),
        "gaps": len(tools.gaps),
        "lifecycles": len(tools.complete),
        "effects": tools.effects,
    }


def is_relevant(name: str, subject: Subject) -> bool:
    """Whether an absence is worth a word: a read-only tool destroys nothing, a lone tool has no sibling."""
    if name in ("destruction", "side effect"):
        return subject.signals.read_only is not True and subject.prose.effect is not Effect.READ
    return name not in ("mentions", "redirect", "alternative") or subject.sibling_count > 0


def quotes(name: str, subject: Subject, content: Content) -> tuple[str, ...]:
    """The words of the definition behind a tool feature; none where it is counted, not quoted."""
    if name in _CUES:
        found = subject.prose.cues.get(_CUES[name])
    elif name in _PASSAGES:
        passage = content.passages.get(_PASSAGES[name])
        found = passage.text if passage else None
    else:
        source = _QUOTES.get(name)
        found = source(subject) if source else None
    return (found,) if found else ()


def names_behind(name: str, tools: ToolSet) -> tuple[str, ...]:
    """The tools or words behind a coherence feature."""
    source = _SET_QUOTES.get(name)
    return source(tools) if source else ()


_CUES: Mapping[str, Cue] = {cue.value: cue for cue in Cue}
_SHARED = ("told", "later", "beyond", "usage", "returned", "explained")
"""Features of which one passage may give the most."""

_PASSAGES: Mapping[str, str] = {
    "lead": "lead",
    "opens_with_verb": "lead",
    "vague_verb": "lead",
    "restates": "lead",
    "only_name": "lead",
    "tiny": "lead",
    "generated": "lead",
    "as_tool": "lead",
    "told": "later",
    "later": "later",
    "beyond": "later",
    "statements": "later",
    "usage": "usage",
    "behaviour": "behaviour",
    "returned": "returned",
    "explained": "explained",
    "listed": "explained",
}
_QUOTES: Mapping[str, Callable[[Subject], str | None]] = {
    "redirect": lambda subject: subject.redirect,
    "mentions": lambda subject: next(iter(subject.mentions), None),
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
