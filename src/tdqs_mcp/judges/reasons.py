"""Why the offline judge scores as it does: what is there, with its words, and what the next point takes."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain, product
from operator import itemgetter

from tdqs_mcp.facts.lexicon import lazy_pattern, words_from
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import cues_of, lead_in_length
from tdqs_mcp.facts.text.words import CJK, LEAD_IN, STOPWORDS, Cue, effect_of, stem
from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.facts.toolset.names import part_of_speech
from tdqs_mcp.judges import features
from tdqs_mcp.judges.sentence_model import CUE_TRAITS, Aspect, SentenceReading, generic_stems
from tdqs_mcp.results.verdicts import Judgement

MAX_QUOTE = 160
"""Characters of a quotation; longer sentences are cut at a word."""

CROWD = 15
"""Tools above which a set is heavy (TDQS, coherence prompt, Tool Count Appropriateness)."""

FEW = 3
"""Tools up to which a set is small: "1-2 tools feels thin", and 3 may be enough (the same)."""

MAX_NAMES = 3
"""Names that one reason lists."""

CLEAR = 120
"""Hundredths from which a sentence is quoted for what it tells."""

SLIGHT = 35
"""Hundredths below which a sentence is silent about an aspect."""

LIKELY = 60
"""Percent of probability from which a sentence is quoted for telling nothing."""

BRIEF, SHORT = 6, 30
"""Words below which a description is too short to say what is needed, and below which none can be spared."""

_MISSING = {"which rights it needs": (Cue.PERMISSION, Cue.PREREQUISITE), "how it fails": (Cue.ERROR,)}
"""Advice on a tool's behavior with the cues that show that the text follows it."""

_FAMILIAR = frozenset(map(stem, STOPWORDS | LEAD_IN))
"""Stems that add nothing to a name."""

_USAGE = (Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE)
_RELIED_ON = frozenset(CUE_TRAITS[cue] for cue in (*chain(*_MISSING.values()), *_USAGE, Cue.RETURN)) | {"reference"}
"""Traits of the sentences without which another dimension would ask for one: no advice to drop them."""

_BEHAVIOR = (Cue.DESTRUCTION, Cue.SIDE_EFFECT, Cue.SAFETY, Cue.PERMISSION, Cue.LIMIT, Cue.ERROR, Cue.TIMING)
_RESULT_HEADINGS = frozenset(f"under {stem(word)}" for word in ("return", "returns", "output", "response", "result"))
"""Terms of the lines below a heading such as "Returns:"."""

Facts = Mapping[str, Sequence[str]]
"""The facts that hold, each with its quotations or names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreReason:
    """A sentence for a score of a dimension, and the facts without which it is not given."""

    facts: frozenset[str]
    absent: frozenset[str]
    text: str
    slots: Sequence[tuple[str, str, str]]
    """The facts that it quotes or names, each between its marks."""

    def fits(self, facts: Facts) -> bool:
        """Return whether it may be given."""
        return self.facts <= facts.keys() and self.absent.isdisjoint(facts)

    def quotes(self, facts: Facts, texts: Sequence[str]) -> bool:
        """Return whether it quotes one of the texts."""
        return any(mark and not set(facts[name]).isdisjoint(texts) for mark, name, _ in self.slots)


_SLOT = lazy_pattern(r'("?)\{(\w+)\}("?)')


def explain_tool(
    rubric: str, scores: Mapping[str, int], subject: Subject, readings: Sequence[SentenceReading]
) -> dict[str, Judgement]:
    """A judgement for each dimension, with the facts of the definition behind it."""
    parts = (_purpose, _usage, _behavior, _result, _arguments, _form)
    facts = {name: words for part in parts for name, words in part(subject, readings)}
    return {key: _judgement(rubric, key, score, facts) for key, score in scores.items()}


def explain_set(scores: Mapping[str, int], tools: ToolSet) -> dict[str, Judgement]:
    """A judgement for each coherence dimension, with the names behind it."""
    many = (str(tools.tool_count),)
    named = features.names_behind(tools) | {"verbs": tools.verbs, "many": many}
    named["crowd"] = many if tools.tool_count > CROWD else ()
    named["lifecycle"] = () if named["unread"] or named["unchanged"] else named["lifecycle"]
    holds = {
        "distinct": tools.tool_count > 1 and not any(named[name] for name in ("same", "variants", "vague")),
        "one_style": not named["off_style"],
        "off_pattern_noun": any(name in tools.noun_first for name in tools.off_pattern[:1]),
        "few": tools.tool_count <= FEW,
        "alone": tools.tool_count == 1,
    }
    facts = {name: names for name, names in named.items() if names} | {name: () for name in holds if holds[name]}
    return {key: _judgement("coherence", key, score, facts) for key, score in scores.items()}


def _judgement(rubric: str, key: str, score: int, facts: Facts) -> Judgement:
    sentences, evidence = [], list[str]()
    for reasons in _bank()[rubric, key, score]:
        fitting = (reason for reason in reasons if reason.fits(facts))
        reason = next((reason for reason in fitting if not reason.quotes(facts, evidence)), None)
        if reason is None:
            continue
        sentence = _SLOT.sub(lambda slot: _fill(slot, facts), reason.text)
        sentences.append(sentence.removesuffix(".") if sentence.endswith(('.".', '?".', '!".')) else sentence)
        evidence += [part for mark, name, _ in reason.slots if mark or rubric == "coherence" for part in facts[name]]
    return Judgement(
        score=score,
        justification=" ".join(sentences),
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
        yield "named", subject.mentions
    texts = [reading.sentence.text for reading in readings] or [""]
    lead = texts[0]
    yield "lead", [_cut(lead)]
    yield "purpose", [_cut(next((text for text in texts if not text.endswith(":")), lead))]
    familiar = _FAMILIAR | set(map(stem, name_parts(subject.tool.name)))
    beyond = [word for word in dict.fromkeys(words_of(lead)) if stem(word) not in familiar]
    if subject.prose.is_only_name or subject.prose.restates_loosely:
        yield "restates", [_cut(lead)]
    elif 0 < len(beyond) <= MAX_NAMES and lead.isascii():
        yield "beyond", beyond
    # words that neither the names of the server's tools nor texts about any tool have
    common = subject.sibling_words | generic_stems()
    alone = (word for word in beyond if common.isdisjoint((word, stem(word))))
    particular = [word for word in alone if word.isalpha() and not effect_of(word)]
    if len(particular) > 1:
        yield "particular", particular
    first = next(iter(words_of(lead[lead_in_length(lead) :])), "")
    if not subject.prose.opens_with_verb and (first in STOPWORDS or part_of_speech(first) == "noun"):
        yield "noun_first", ()
    if subject.prose.has_vague_verb and subject.prose.opens_with_verb and subject.prose.verb:
        yield "vague_verb", [subject.prose.verb]


def _usage(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    own = [reading for reading in readings if not reading.sentence.traits.get("reference")]
    names = set(map(str.lower, subject.mentions))
    yield from _quoted("when", own, Aspect.USAGE, (Cue.WHEN,), without=(Cue.WHEN_NOT,))
    yield from _quoted("when_not", readings, Aspect.USAGE, (Cue.WHEN_NOT,))
    pointing = [reading for reading in readings if names and not names.isdisjoint(words_of(reading.sentence.text))]
    yield from _quoted("apart", pointing, Aspect.USAGE)
    yield from _quoted("situation", own, Aspect.USAGE)
    yield from _quoted("slight_usage", readings, Aspect.USAGE, at_least=SLIGHT)
    if subject.sibling_count and len(own) == len(readings) and not names:
        yield "unnamed", ()
    if Cue.WHEN_NOT in subject.prose.cues:
        yield "excludes", ()
    is_silent = Cue.WHEN not in subject.prose.cues and words_from("wording", "using").isdisjoint(subject.prose.words)
    if subject.prose.is_readable and is_silent:
        yield "no_usage", ()


def _behavior(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    annotations = subject.tool.annotations or {}
    if features.has_odd_hint(subject):
        yield "odd_hint", ()
    if hints := [name for name in HINTS if isinstance(annotations.get(name), bool)]:
        yield "hints", hints
    yield from _quoted("behavior", readings[1:] or readings, Aspect.BEHAVIOR, _BEHAVIOR)
    yield from _quoted("further", readings[1:], Aspect.BEHAVIOR)
    yield from _quoted("slight_behavior", readings[1:], Aspect.BEHAVIOR, at_least=SLIGHT)
    if subject.prose.is_readable and all(reading.tells[Aspect.BEHAVIOR] < SLIGHT for reading in readings[1:]):
        text = " ".join(parameter.description for parameter in subject.signals.parameters)
        stated = (cues_of(words_of(text)) - {Cue.PREREQUISITE}).union(subject.prose.cues)
        if missing := [advice for advice, cues in _MISSING.items() if stated.isdisjoint(cues)]:
            yield "missing", [" or ".join(missing)]


def _result(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    under_heading = [reading for reading in readings if not _RESULT_HEADINGS.isdisjoint(reading.sentence.terms)]
    yield from _quoted("result", readings, Aspect.RESULT, (Cue.RETURN,))
    yield from _quoted("result", under_heading, Aspect.RESULT)
    if subject.has_telling_output:
        names = dict.fromkeys(node.name for node in subject.output_shape.nodes if node.name)
        if fields := [name for name in names if name != "result"]:
            yield "fields", fields
    is_told = Cue.RETURN in subject.prose.cues or any(reading.tells[Aspect.RESULT] >= SLIGHT for reading in readings)
    if subject.prose.is_readable and not (is_told or under_heading or subject.tool.output_schema):
        yield "no_result", ()


def _arguments(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    signals = subject.signals
    yield "count", [f"{signals.param_count or 'no'} parameter{'s' * (signals.param_count != 1)}"]
    if signals.param_count == 0:
        yield "no_parameters", ()
        return
    listed = {reading.sentence.entry for reading in readings}
    text = (subject.tool.description or "").lower()
    stems = frozenset[str]().union(*(reading.sentence.stems for reading in readings))
    bare = [parameter.name for parameter in signals.parameters if not parameter.description.strip()]
    unlisted = [name for name in bare if name.lower() not in listed and name.lower() not in text]
    silent = [name for name in unlisted if stems.isdisjoint(map(stem, name_parts(name)))]
    if entries := [parameter.name for parameter in signals.parameters if parameter.name.lower() in listed]:
        yield "listed", entries
    if silent and text.isascii():  # a text in Chinese may explain `train_code` without its words
        yield "undescribed", silent
    names = [parameter.name for parameter in signals.parameters]
    unnamed = [name for name in names if name.lower() not in text and stems.isdisjoint(map(stem, name_parts(name)))]
    if unnamed and text.isascii():
        yield "unnamed_inputs", unnamed
    yield ("partly", [f"{signals.param_count - len(bare)} of {signals.param_count}"]) if bare else ("described", ())
    words = {stem(part) for parameter in signals.parameters for part in name_parts(parameter.name)}
    about = [reading for reading in readings if reading.sentence.entry or not words.isdisjoint(reading.sentence.stems)]
    yield from _quoted("arguments", about, Aspect.ARGUMENTS)
    yield from _quoted("slight_arguments", about, Aspect.ARGUMENTS, at_least=SLIGHT)


def _form(subject: Subject, readings: Sequence[SentenceReading]) -> Iterator[tuple[str, Sequence[str]]]:
    first: dict[str, SentenceReading] = {}
    prose = [reading for reading in readings if reading.sentence.is_prose]
    if twice := [reading for reading in prose if first.setdefault(reading.sentence.text, reading) is not reading]:
        yield "repeated", [_cut(twice[0].sentence.text)]
    words = (subject.tool.description or "").split()
    count, unit = len(words), "word"
    if CJK.search("".join(words)):
        count, unit = sum(map(len, words)), "character"
    yield "length", [f"{count} {unit}{'s' * (count > 1)}"]
    spare = [reading for reading in prose if _RELIED_ON.isdisjoint(reading.sentence.traits)]
    if weak := [reading for reading in spare if reading is not readings[0] and reading.most < features.TOLD]:
        weakest = min(weak, key=lambda reading: (reading.most, -reading.nothing))
        is_hollow = weakest.most < SLIGHT and weakest.nothing >= LIKELY
        yield "hollow" if is_hollow else "weakest", [_cut(weakest.sentence.text)]
    if subject.copied_words >= BRIEF:
        yield "copied_words", [f"{subject.copied_words} words"]
        yield "copied", [_cut(max(subject.copied, key=itemgetter(1))[0])]
    if subject.prose.word_count < BRIEF:
        yield "brief", ()
    if count < SHORT and all(reading.most < features.TOLD for reading in readings[1:]):
        yield "short", ()
    if len(readings) == 1:
        yield "single", ()
    if Cue.EXAMPLE not in subject.prose.cues:
        yield "no_example", ()


def _quoted(
    name: str,
    readings: Sequence[SentenceReading],
    aspect: Aspect,
    cues: Sequence[Cue] = (),
    *,
    without: Sequence[Cue] = (),
    at_least: int = CLEAR,
) -> Iterator[tuple[str, Sequence[str]]]:
    """The sentence that tells most of an aspect among those whose words prove that they are about it."""
    required, excluded = ({CUE_TRAITS[cue] for cue in kinds} for kinds in (cues, without))
    proven = [
        reading
        for reading in readings
        if reading.tells[aspect] >= at_least
        and not (required and required.isdisjoint(reading.sentence.traits))
        and excluded.isdisjoint(reading.sentence.traits)
    ]
    if best := max(proven, key=lambda reading: reading.tells[aspect], default=None):
        yield name, [_cut(best.sentence.text)]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE].rsplit(None, 1)[0]


@cache
def _bank() -> Mapping[tuple[str, str, int], tuple[Sequence[ScoreReason], Sequence[ScoreReason]]]:
    """By rubric, key and score: what is there, and what the next point takes, in the order in which they are tried."""
    table = tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "reasons.toml").read_text(encoding="utf-8"))
    bank: dict[tuple[str, str, int], tuple[list[ScoreReason], list[ScoreReason]]] = {}
    for rubric, dimensions in table.items():
        for key, score in product(dimensions, range(1, 6)):
            bank[rubric, key, score] = ([], [])
        for key, lines in dimensions.items():
            for line in lines:  # `4- siblings !named | For a 5, say …`
                terms, text = line.split(" | ", 1)
                head, *facts = terms.split()
                absent = frozenset(name[1:] for name in facts if name[0] == "!")
                present = frozenset(name for name in facts if name[0] != "!")
                for score in map(int, head[:-1]):
                    words = text.replace("{next}", str(score + 1))
                    reason = ScoreReason(facts=present, absent=absent, text=words, slots=_SLOT.findall(words))
                    bank[rubric, key, score][head[-1] == "-"].append(reason)
    return bank
