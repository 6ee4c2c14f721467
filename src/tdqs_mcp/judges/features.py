"""The offline judge's view of a subject: small integers by name, from the sentences and the schema."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.lexicon import PatternTable
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import Effect
from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.facts.toolset.relations import Overlap
from tdqs_mcp.judges.sentence_model import (
    FUNCTION_STEMS,
    MOST,
    Aspect,
    SentenceReading,
    Text,
    generic_stems,
)

TOLD = 70
"""Hundredths from which a sentence counts as telling something of an aspect."""

TINY = 5
"""Words below which a text is hardly one."""

EMPTY = 40
"""Hundredths of its strongest aspect below which a sentence tells nothing."""

WELL_COVERED = 80
"""Percent of described parameters above which the schema does the work (TDQS, Parameter Semantics)."""

BARELY_COVERED = 50
"""Percent below which the description has to make up for it (TDQS, Parameter Semantics)."""

_PATTERNS = PatternTable("wording")

_CONSTRAINTS = frozenset("format pattern minimum maximum minLength maxLength minItems default".split())


def of_tool(subject: Subject, text: Text, readings: Sequence[SentenceReading]) -> dict[str, int]:
    """Every feature of a tool that a tree may ask for; linear in the text."""
    stems = _stems(reading for reading in readings if reading.share)
    return {
        **_information(readings),
        **_emptiness(readings),
        **_coverage(subject, readings),
        **_wording(subject, text, readings),
        **_parameters(subject, text, stems),
        **_effects(subject),
        "lone": int(subject.sibling_count == 0),
        "title": int(subject.signals.title_is_meaningful),
        "output_schema": int(subject.has_telling_output),
    }


def _information(readings: Sequence[SentenceReading]) -> dict[str, int]:
    """Return what the sentences tell, by aspect: the most, the second most and all, in hundredths."""
    sums: dict[str, int] = {}
    for aspect in Aspect:
        weights = sorted([reading.tells[aspect] for reading in readings], reverse=True)
        sums |= {
            f"{aspect}_most": weights[0] if weights else 0,
            f"{aspect}_next": weights[1] if len(weights) > 1 else 0,
        }
        sums |= {f"{aspect}_sum": sum(weights), f"{aspect}_count": sum([weight >= TOLD for weight in weights])}
    behavior = (reading.tells[Aspect.BEHAVIOR] + reading.tells[Aspect.RESULT] for reading in readings)
    references = [reading for reading in readings if reading.sentence.traits.get("reference")]
    alone = [_usage_alone(reading) for reading in readings]
    total = sum(sum(reading.tells.values()) for reading in readings)
    return {
        **sums,
        "usage_alone": max(alone, default=0),
        "usage_alone_sum": sum(alone),
        "behavior_hints": sum(min(100, reading.tells[Aspect.BEHAVIOR]) for reading in readings),
        "purpose_first": readings[0].tells[Aspect.PURPOSE] if readings else 0,
        "behavior_or_result": sum(min(weight, 200) for weight in behavior),
        "usage_by_reference": max((reference.tells[Aspect.USAGE] for reference in references), default=0),
        "information": total,
        "density": 20 * total // max(8, _words(readings)),
    }


def _usage_alone(reading: SentenceReading) -> int:
    """Return what a sentence tells of usage, as far as it does not tell of behavior or results instead."""
    other = max(reading.tells[Aspect.BEHAVIOR], reading.tells[Aspect.RESULT])
    return reading.tells[Aspect.USAGE] * (MOST - other) // MOST


def _emptiness(readings: Sequence[SentenceReading]) -> dict[str, int]:
    """Sentences that tell nothing, or of something else."""
    empty = [reading for reading in readings if reading.most < EMPTY]
    prose = [reading for reading in empty if reading.sentence.is_prose]
    later = [reading for reading in readings[1:] if reading.sentence.is_prose]
    return {
        "empty": len(empty),
        "empty_words": _words(empty),
        "empty_share": 100 * _words(empty) // max(1, _words(readings)),
        "empty_prose": len(prose),
        "empty_prose_words": _words(prose),
        "nothing_most": max((reading.nothing for reading in later), default=0),
        "nothing_sum": sum(reading.nothing for reading in later),
        "nothing_words": sum(reading.nothing * reading.sentence.word_count for reading in later) // 100,
        "nothing_share": sum(reading.nothing * reading.sentence.word_count for reading in readings)
        // max(1, _words(readings)),
        "least": min((min(100, reading.most) for reading in later), default=100),
        "last": min(100, readings[-1].most) if len(readings) > 1 else 100,
        "wasted": sum(reading.sentence.word_count * (100 - min(100, reading.most)) for reading in readings) // 100,
        "unrelated": sum(reading.unrelated for reading in readings),
        "most_unrelated": max((reading.unrelated for reading in readings), default=0),
        "empty_references": sum(bool(reading.sentence.traits.get("reference")) for reading in empty),
        "words": _words(readings),
        "first_words": _first_words(readings[0]) if readings else 0,
    }


def _first_words(first: SentenceReading) -> int:
    """Different words of the first sentence, as far as it tells what the tool does."""
    return min(20, first.sentence.distinct) * min(200, first.tells[Aspect.PURPOSE]) // 20


def _coverage(subject: Subject, readings: Sequence[SentenceReading]) -> dict[str, int]:
    """How far schema and text explain the parameters."""
    count = subject.signals.param_count
    entries = sum(
        reading.sentence.entry is not None and reading.tells[Aspect.ARGUMENTS] >= TOLD for reading in readings
    )
    covered = min(count, subject.signals.params_with_descriptions + entries)
    weight = sum(reading.tells[Aspect.ARGUMENTS] for reading in readings)
    return {
        "explained_share": 100 * covered // count if count else 100,
        "arguments_each": min(400, weight // count) if count else 0,
    }


def _words(readings: Iterable[SentenceReading]) -> int:
    return sum(reading.sentence.word_count for reading in readings)


def _stems(readings: Iterable[SentenceReading]) -> frozenset[str]:
    return frozenset[str]().union(*(reading.sentence.stems for reading in readings))


def _wording(subject: Subject, text: Text, readings: Sequence[SentenceReading]) -> dict[str, int]:
    prose, name = subject.prose, name_parts(subject.tool.name)
    heard = [reading for reading in readings if reading.share]
    stems = _stems(heard)
    purpose = _stems(reading for reading in heard if reading is heard[0] or reading.tells[Aspect.PURPOSE] >= TOLD)
    return {
        "sentence_words": _words(heard) // max(1, len(heard)),
        "lines": (subject.tool.description or "").strip().count("\n"),
        "new_first": len(readings[0].sentence.fresh) if readings else 0,
        "restates": int(bool(stems) and not purpose - FUNCTION_STEMS - text.own),
        "only_name": int(prose.is_only_name or (len(heard) == 1 and name_parts(heard[0].sentence.text) == name)),
        "tiny": int(len(stems) < TINY),
        "opens_with_verb": int(prose.opens_with_verb),
        "vague_verb": int(prose.has_vague_verb),
        "said_again": text.repeated,
        "repeated": prose.repeated_sentences,
        "copied": subject.copied_words,
        "shouted": len(_PATTERNS.shout.findall(" ".join(prose.sentences))),
    }


def _parameters(subject: Subject, text: Text, stems: AbstractSet[str]) -> dict[str, int]:
    """Return what text and schema say of the top-level parameters."""
    signals, count, names = subject.signals, subject.signals.param_count, text.names
    listed = {sentence.entry for sentence in text.sentences}
    properties = (subject.tool.input_schema or {}).get("properties")
    children = properties.values() if isinstance(properties, Mapping) else ()
    schemas = [child for child in children if isinstance(child, Mapping)]
    bare = [parameter.name for parameter in signals.parameters if not parameter.description.strip()]
    schema_words = [
        len(text.described[name] - generic_stems() - FUNCTION_STEMS - text.own - words) for name, words in names.items()
    ]
    named = sum(name.lower() in stems or (bool(words) and words <= stems) for name, words in names.items())
    return {
        "parameters": count,
        "no_parameters": int(count == 0),
        "required": signals.required_param_count,
        "call_cost": signals.subtree.invocation_cost,
        "is_covered": int(signals.coverage > WELL_COVERED),
        "is_bare": int(signals.coverage < BARELY_COVERED),
        "undescribed": count - signals.params_with_descriptions,
        "enums": signals.params_with_enums,
        "listed": _tenths(sum(name.lower() in listed for name in names), count, none=0),
        "named": _tenths(named, count, none=10),
        # Without a description and without a word of their name in the text.
        "untold": sum(names[name].isdisjoint(stems) for name in bare),
        # Content words of a parameter's description that its name does not have, on average.
        "described_words": sum(schema_words) // max(1, len(schema_words)),
        "structures": sum(
            schema.get("type") in ("object", "array") or "anyOf" in schema or "$ref" in schema for schema in schemas
        ),
        "constrained": sum(not _CONSTRAINTS.isdisjoint(schema) for schema in schemas),
    }


def _tenths(part: int, count: int, *, none: int) -> int:
    return 10 * part // count if count else none


def _effects(subject: Subject) -> dict[str, int]:
    """Return what the tool does to the world, by name, text and hints."""
    prose, signals = subject.prose, subject.signals
    effect = prose.name_effect or prose.effect
    is_mutating = effect is not None and effect.is_mutating
    return {
        "hints": int(signals.has_hints),
        "hint_count": signals.hint_count,
        "read_only": int(signals.read_only is True),
        "contradiction": int(prose.contradiction is not None),
        "unhinted_mutation": int(is_mutating and not signals.has_hints),
        "odd_hint": int(has_odd_hint(subject)),
        "mutates": int(is_mutating),
        "deletes": int(effect is Effect.DELETE),
        "reads": int(effect is Effect.READ),
        "produces": int(effect is Effect.PRODUCE),
        "acts": int(effect is Effect.ACT),
    }


def has_odd_hint(subject: Subject) -> bool:
    """The name says that it reads, and a hint that it changes something."""
    hints_change = subject.signals.destructive is True or subject.signals.read_only is False
    return hints_change and subject.prose.name_effect is Effect.READ


def of_set(tools: ToolSet) -> dict[str, int]:
    """Every coherence feature that a tree may ask for; shares are percent of the tools."""
    count = max(1, tools.tool_count)

    def share(names: tuple[str, ...]) -> int:
        return 100 * len(names) // count

    return {
        "tools": tools.tool_count,
        "off_style": share(tools.off_style),
        "off_pattern": share(tools.off_pattern),
        "one_word": share(tools.one_word),
        "uneven": tools.uneven,
        "alike": 100 * tools.alike // count,
        "variants": share(tuple({name for pair in tools.variants for name in (pair.first, pair.second)})),
        "vague": share(tools.vague),
        "with_verb": share(tools.with_verb),
        "gaps": len(tools.unread) + len(tools.unchanged),
        "lifecycles": len(tools.complete),
        "actions": tools.actions,
    }


def names_behind(tools: ToolSet) -> dict[str, tuple[str, ...]]:
    """The tools or things behind each coherence feature that has some."""
    return {
        "off_style": tools.off_style,
        "off_pattern": tools.off_pattern,
        "one_word": tools.one_word,
        "same": tuple(map(_pair, tools.same)),
        "variants": tuple(_pair(pair) for pair in tools.variants if not pair.is_told_apart),
        "vague": tools.vague,
        "verbless": tuple(name for name in tools.noun_first if name not in tools.with_verb),
        "unread": tools.unread,
        "unchanged": tools.unchanged,
        "lifecycle": tools.whole,
    }


def _pair(pair: Overlap) -> str:
    names = f"{pair.first} / {pair.second}"
    return f"{names} ({pair.words})" if pair.words else names
