"""Why the offline judge scores as it does: facts of the definition with their words, and what would raise the score."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import Cue
from tdqs_mcp.facts.toolset.relations import ToolSet
from tdqs_mcp.judges import features
from tdqs_mcp.judges.sentence_model import Aspect, SentenceReading
from tdqs_mcp.results.verdicts import Judgement

MAX_REASONS = 3
"""Reasons for one score."""

MAX_QUOTE = 160
"""Characters of a quotation; longer sentences are cut at a word."""

MAX_NAMES = 3
"""Names that one reason lists."""

CLEAR = 120
"""Hundredths from which a sentence is quoted for what it tells."""

SLIGHT = 50
"""Hundredths below which nothing is said of an aspect."""

SURE = 80
"""Percent of probability from which a sentence is said to tell nothing, or to be about something else."""

BRIEF = 6
"""Words below which a description is too short to say what is needed."""

_USES = frozenset({Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE})

HIGH = 4
"""Scores from which what speaks for a definition stands first."""

Facts = Mapping[str, Sequence[str]]
"""The facts that hold, each with its quotations or names."""


def explain_tool(
    rubric: str, scores: Mapping[str, int], subject: Subject, readings: Sequence[SentenceReading]
) -> dict[str, Judgement]:
    """A judgement for each dimension, with the facts of the definition behind it."""
    facts = {
        **_purpose(subject, readings),
        **_usage(subject, readings),
        **_behavior(subject, readings),
        **_arguments(subject, readings),
        **_form(subject, readings),
    }
    return {key: _judgement(rubric, key, score, facts) for key, score in scores.items()}


def explain_set(scores: Mapping[str, int], tools: ToolSet) -> dict[str, Judgement]:
    """A judgement for each coherence dimension, with the names behind it."""
    named = features.names_behind(tools)
    facts: dict[str, Sequence[str]] = {name: names for name, names in named.items() if names and name != "lifecycles"}
    if named["lifecycles"] and not named["gaps"]:
        facts["lifecycle"] = named["lifecycles"]
    if not (named["same_kind"] or named["overlapping"]) and tools.tool_count > 1:
        facts["distinct"] = ()
    if not any(named[name] for name in ("off_style", "off_pattern", "one_word")):
        facts["one_style"] = ()
    facts["many"] = (str(tools.tool_count),)
    return {key: _judgement("coherence", key, score, facts) for key, score in scores.items()}


def _judgement(rubric: str, key: str, score: int, facts: Facts) -> Judgement:
    table = _words()
    names = [name for name in table[rubric][key].split() if name in facts]
    faults = [name for name in names if name in table["faults"]]
    strengths = [name for name in names if name in table["strengths"]]
    ordered = [*strengths, *faults] if score >= HIGH else [*faults, *strengths]
    chosen = [name for name in ordered if (score < 5 or name in strengths) and (name != "all_tell" or score >= HIGH)]
    chosen = chosen[:MAX_REASONS]
    sentences = [_say(_template(name), facts[name]) for name in chosen]
    is_unexplained = not sentences or (score < HIGH and not faults)
    if score < 5 and is_unexplained:
        sentences.append(table["advice"][key])
    quoted = [part for name in chosen for part in facts[name] if "{quote}" in _template(name) or rubric == "coherence"]
    return Judgement(
        score=score,
        justification=" ".join(sentences) or "Nothing is missing in this respect.",
        evidence=tuple(dict.fromkeys(quoted)),
    )


def _template(name: str) -> str:
    table = _words()
    return table["strengths"].get(name) or table["faults"][name]


def _say(template: str, parts: Sequence[str]) -> str:
    quoted = " and ".join(f'"{part}"' for part in parts)
    names = parts if len(parts) <= MAX_NAMES else (*parts[:MAX_NAMES], f"{len(parts) - MAX_NAMES} more")
    return template.replace("{quote}", quoted).replace("{names}", ", ".join(names))


def _purpose(subject: Subject, readings: Sequence[SentenceReading]) -> dict[str, Sequence[str]]:
    reasons: dict[str, Sequence[str]] = {}
    if not readings:
        return reasons
    lead, weight = readings[0], readings[0].tells[Aspect.PURPOSE]
    if subject.prose.is_only_name or subject.prose.restates_loosely:
        reasons["restates"] = _quotes([lead])
    elif subject.prose.has_vague_verb and weight < CLEAR:
        reasons["vague_verb"] = _quotes([lead])
    elif weight >= CLEAR:
        reasons["clear_purpose"] = _quotes([lead])
    elif weight < SLIGHT:
        reasons["thin_purpose"] = _quotes([lead])
    if subject.sibling_count and not subject.mentions:
        reasons["no_reference"] = ()
    return reasons


def _usage(subject: Subject, readings: Sequence[SentenceReading]) -> dict[str, Sequence[str]]:
    pointing = [reading for reading in readings if reading.sentence.traits.get("reference")]
    best, apart = _best(readings, Aspect.USAGE), _best(pointing, Aspect.USAGE)
    reasons: dict[str, Sequence[str]] = {}
    if apart:
        reasons["told_apart"] = _quotes([apart])
    if best and best is not apart:
        reasons["usage"] = _quotes([best])
    cues = subject.prose.cues.keys()
    if cues.isdisjoint(_USES) and all(reading.tells[Aspect.USAGE] < SLIGHT for reading in readings):
        reasons["no_alternative" if subject.sibling_count else "no_usage"] = ()
    return reasons


def _behavior(subject: Subject, readings: Sequence[SentenceReading]) -> dict[str, Sequence[str]]:
    behavior, result = _best(readings, Aspect.BEHAVIOR), _best(readings, Aspect.RESULT)
    reasons: dict[str, Sequence[str]] = {}
    if features.has_odd_hint(subject):
        reasons["odd_hint"] = ()
    if behavior:
        reasons["behavior"] = _quotes([behavior])
    elif sum(reading.tells[Aspect.BEHAVIOR] for reading in readings) < SLIGHT:
        reasons["no_behavior"] = ()
    if result:
        reasons["result"] = _quotes([result])
    if subject.signals.has_output_schema:
        reasons["output_schema"] = ()
    elif Cue.RETURN not in subject.prose.cues and all(
        reading.tells[Aspect.RESULT] < SLIGHT // 2 for reading in readings
    ):
        reasons["no_result"] = ()
    return reasons


def _arguments(subject: Subject, readings: Sequence[SentenceReading]) -> dict[str, Sequence[str]]:
    signals = subject.signals
    if signals.param_count == 0:
        return {"no_parameters": ()}
    listed = {reading.sentence.entry for reading in readings}
    text = (subject.tool.description or "").lower()
    bare = [parameter.name for parameter in signals.parameters if not parameter.description.strip()]
    silent = [name for name in bare if name.lower() not in listed and name.lower() not in text]
    best = _best(readings, Aspect.ARGUMENTS)
    reasons: dict[str, Sequence[str]] = {}
    if silent:
        reasons["undescribed"] = silent
    if best:
        reasons["arguments"] = _quotes([best])
    elif not silent and all(reading.tells[Aspect.ARGUMENTS] < SLIGHT for reading in readings):
        reasons["no_arguments"] = ()
    if not bare:
        reasons["described"] = ()
    return reasons


def _form(subject: Subject, readings: Sequence[SentenceReading]) -> dict[str, Sequence[str]]:
    prose = [reading for reading in readings[1:] if reading.sentence.is_prose]
    empty = sorted(
        (reading for reading in prose if reading.nothing >= SURE and reading.most < SLIGHT),
        key=lambda reading: reading.most,
    )
    strange = [reading for reading in prose if reading.unrelated >= SURE]
    first = {reading.sentence.text: reading for reading in reversed(prose)}
    twice = [reading for reading in prose if first[reading.sentence.text] is not reading]
    reasons: dict[str, Sequence[str]] = {}
    if strange:
        reasons["unrelated"] = _quotes(strange[:1])
    elif twice:
        reasons["repeated"] = _quotes(twice[:1])
    elif empty:
        reasons["empty"] = _quotes(empty[:1])
    if subject.prose.word_count < BRIEF:
        reasons["brief"] = ()
    elif not reasons:
        reasons["all_tell"] = ()
    if Cue.EXAMPLE not in subject.prose.cues:
        reasons["no_example"] = ()
    return reasons


def _best(readings: Sequence[SentenceReading], aspect: Aspect) -> SentenceReading | None:
    best = max(readings, key=lambda reading: reading.tells[aspect], default=None)
    return best if best and best.tells[aspect] >= CLEAR else None


def _quotes(readings: Sequence[SentenceReading]) -> list[str]:
    return [_cut(reading.sentence.text) for reading in readings]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE].rsplit(" ", 1)[0]


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "reasons.toml").read_text(encoding="utf-8"))
