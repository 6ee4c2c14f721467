"""Why the offline judge scores as it does: what is there, with its words, and what the next point takes."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tdqs_mcp.facts.lexicon import lazy_pattern
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import Cue, stem
from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.judges import features
from tdqs_mcp.judges.sentence_model import Aspect, SentenceReading
from tdqs_mcp.results.verdicts import Judgement

MAX_QUOTE = 160
"""Characters of a quotation; longer sentences are cut at a word."""

CROWD = 15
"""Tools above which a set is heavy (TDQS, coherence prompt, Tool Count Appropriateness)."""

MAX_NAMES = 3
"""Names that one reason lists."""

CLEAR = 120
"""Hundredths from which a sentence is quoted for what it tells."""

SLIGHT = 35
"""Hundredths below which nothing is said of an aspect."""

SURE = 80
"""Percent of probability from which a sentence is said to tell nothing, or to be about something else."""

BRIEF = 6
"""Words below which a description is too short to say what is needed."""

_MISSING = {
    Cue.SIDE_EFFECT: "what happens to what is there",
    Cue.PERMISSION: "what it needs",
    Cue.LIMIT: "its limits",
    Cue.ERROR: "how it fails",
}
"""Advice on a tool's behavior by the cue that would give it; the first is for tools that change something."""

MAX_MISSING = 2
"""Missing things that one reason lists."""

Facts = Mapping[str, Sequence[str]]
"""The facts that hold, each with its quotations or names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreReason:
    """A sentence for some scores of a dimension, and the facts without which it is not given."""

    scores: frozenset[int]
    is_advice: bool
    """It says what the next point takes, not what is there."""

    facts: tuple[str, ...]
    absent: tuple[str, ...]
    text: str

    def fits(self, score: int, facts: Facts) -> bool:
        """Return whether it may be given for a score."""
        return (
            score in self.scores and all(map(facts.__contains__, self.facts)) and facts.keys().isdisjoint(self.absent)
        )


_SLOT = lazy_pattern(r'("?)\{(\w+)\}("?)')


def explain_tool(
    rubric: str, scores: Mapping[str, int], subject: Subject, readings: Sequence[SentenceReading]
) -> dict[str, Judgement]:
    """A judgement for each dimension, with the facts of the definition behind it."""
    parts = (_purpose, _usage, _behavior, _arguments, _form)
    facts = {name: words for part in parts for name, words in part(subject, readings)}
    return {key: _judgement(rubric, key, score, facts) for key, score in scores.items()}


def explain_set(scores: Mapping[str, int], tools: ToolSet) -> dict[str, Judgement]:
    """A judgement for each coherence dimension, with the names behind it."""
    named = features.names_behind(tools)
    facts: dict[str, Sequence[str]] = {name: names for name, names in named.items() if names and name != "lifecycles"}
    if named["lifecycles"] and not named["unread"] and not named["unchanged"]:
        facts["lifecycle"] = named["lifecycles"]
    if not any(named[name] for name in ("same", "variants", "vague")) and tools.tool_count > 1:
        facts["distinct"] = ()
    if not any(named[name] for name in ("off_style", "off_pattern", "one_word")):
        facts["one_style"] = ()
    facts["many"] = (str(tools.tool_count),)
    if tools.tool_count > CROWD:
        facts["crowd"] = facts["many"]
    if 2 * len(tools.vague) > tools.tool_count:
        facts["no_domain"] = ()
    return {key: _judgement("coherence", key, score, facts) for key, score in scores.items()}


def _judgement(rubric: str, key: str, score: int, facts: Facts) -> Judgement:
    fitting = [reason for reason in _bank()[rubric, key] if reason.fits(score, facts)]
    chosen = [
        next((reason for reason in fitting if reason.is_advice is is_advice), None) for is_advice in (False, True)
    ]
    sentences, evidence = [], list[str]()
    for reason in filter(None, chosen):
        sentences.append(_SLOT.sub(lambda slot: _fill(slot, facts), reason.text))
        slots = _SLOT.findall(reason.text)
        evidence += [part for mark, name, _ in slots if mark or rubric == "coherence" for part in facts[name]]
    return Judgement(
        score=score,
        justification=" ".join(sentences) or "Nothing is missing in this respect.",
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _fill(slot: re.Match[str], facts: Facts) -> str:
    parts = facts[slot[2]]
    names = parts if len(parts) <= MAX_NAMES else (*parts[:MAX_NAMES], f"{len(parts) - MAX_NAMES} more")
    return f"{slot[1]}{', '.join(names)}{slot[3]}"


def _purpose(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    if subject.sibling_count:
        yield "siblings", ()
    if subject.mentions:
        yield "named", ()
    if readings:
        lead, weight = readings[0], readings[0].tells[Aspect.PURPOSE]
        yield "lead", _quotes([lead])
        if subject.prose.is_only_name or subject.prose.restates_loosely:
            yield "restates", _quotes([lead])
        elif subject.prose.has_vague_verb and weight < CLEAR:
            yield "vague", _quotes([lead])
        elif weight >= CLEAR:
            yield "purpose", _quotes([lead])


def _usage(_: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    pointing = [reading for reading in readings if reading.sentence.traits.get("reference")]
    own = [reading for reading in readings if not reading.sentence.traits.get("reference")]
    apart = _best(pointing, Aspect.USAGE)
    yield from _told("usage", own if apart else readings, Aspect.USAGE)
    if apart:
        yield "apart", _quotes([apart])


def _behavior(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    cues, effect = subject.prose.cues, subject.prose.effect
    is_mutating = effect is not None and effect.is_mutating and Cue.DESTRUCTION not in cues
    missing = [
        text for cue, text in _MISSING.items() if cue not in cues and (is_mutating or cue is not Cue.SIDE_EFFECT)
    ]
    if features.has_odd_hint(subject):
        yield "odd_hint", ()
    if subject.signals.has_hints:
        yield "hints", ()
    if missing:
        yield "missing", [" and ".join(missing[:MAX_MISSING])]
    beyond_purpose = [
        reading
        for reading in readings
        if reading.tells[Aspect.BEHAVIOR] >= min(CLEAR, reading.tells[Aspect.PURPOSE] + 1)
    ]
    yield from _told("behavior", beyond_purpose, Aspect.BEHAVIOR)
    results = dict(_told("result", readings, Aspect.RESULT))
    if subject.has_telling_output:
        results["output_schema"] = ()
    if Cue.RETURN in cues or "output_schema" in results:
        results.pop("no_result", None)
    yield from results.items()


def _arguments(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    signals = subject.signals
    if signals.param_count == 0:
        yield "no_parameters", ()
        return
    listed = {reading.sentence.entry for reading in readings}
    text = (subject.tool.description or "").lower()
    stems = frozenset[str]().union(*(reading.sentence.stems for reading in readings))
    bare = [parameter.name for parameter in signals.parameters if not parameter.description.strip()]
    unlisted = [name for name in bare if name.lower() not in listed and name.lower() not in text]
    if silent := [name for name in unlisted if not stems.issuperset(map(stem, name_parts(name)))]:
        yield "undescribed", silent
    if not bare:
        yield "described", ()
    yield from _told("arguments", readings, Aspect.ARGUMENTS)


def _form(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    prose = [reading for reading in readings[1:] if reading.sentence.is_prose]
    empty = sorted(
        (reading for reading in prose if reading.nothing >= SURE and reading.most < SLIGHT),
        key=lambda reading: reading.most,
    )
    strange = [reading for reading in prose if reading.unrelated >= SURE]
    first = {reading.sentence.text: reading for reading in reversed(prose)}
    twice = [reading for reading in prose if first[reading.sentence.text] is not reading]
    for name, chosen in (("unrelated", strange), ("repeated", twice), ("empty", empty)):
        if chosen:
            yield name, _quotes(chosen[:1])
    if subject.prose.word_count < BRIEF:
        yield "brief", ()
    if len(readings) == 1:
        yield "single", ()
    if Cue.EXAMPLE not in subject.prose.cues:
        yield "no_example", ()


def _told(name: str, readings: Sequence[SentenceReading], aspect: Aspect) -> Iterator[tuple[str, Sequence[str]]]:
    """The sentence that tells most of an aspect, as `name`, `some_name` or, without one, `no_name`."""
    best = max(readings, key=lambda reading: reading.tells[aspect], default=None)
    most = best.tells[aspect] if best else 0
    if best and most >= SLIGHT:
        yield (name if most >= CLEAR else f"some_{name}"), _quotes([best])
    else:
        yield f"no_{name}", ()


def _best(readings: Sequence[SentenceReading], aspect: Aspect) -> SentenceReading | None:
    best = max(readings, key=lambda reading: reading.tells[aspect], default=None)
    return best if best and best.tells[aspect] >= CLEAR else None


def _quotes(readings: Sequence[SentenceReading]) -> list[str]:
    return [_cut(reading.sentence.text) for reading in readings]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE].rsplit(" ", 1)[0]


@cache
def _bank() -> Mapping[tuple[str, str], Sequence[ScoreReason]]:
    """The reasons of each dimension by rubric and key, in the order in which they are tried."""
    table = tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "reasons.toml").read_text(encoding="utf-8"))
    return {
        (rubric, key): [_reason(line) for line in lines]
        for rubric, dimensions in table.items()
        for key, lines in dimensions.items()
    }


def _reason(line: str) -> ScoreReason:
    """The reason that a line gives: `4- siblings !named | For a 5, say …`."""
    terms, text = line.split(" | ", 1)
    head, *facts = terms.split()
    return ScoreReason(
        scores=frozenset(map(int, head[:-1])),
        is_advice=head[-1] == "-",
        facts=tuple(name for name in facts if name[0] != "!"),
        absent=tuple(name[1:] for name in facts if name[0] == "!"),
        text=text,
    )
