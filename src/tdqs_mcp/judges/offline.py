"""The judge that needs no key: scorecards over facts, in integers, that can say what moved each score."""

import json
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any, TypeAlias

from tdqs_mcp.judges import features
from tdqs_mcp.judges.features import read_content
from tdqs_mcp.results.verdicts import Judgement, JudgeStamp, Outlook, Tier, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ShadowCase, ToolCase
from tdqs_mcp.rubrics.rubric import load

UNIT = 1000
"""Points are thousandths of a score point."""

FOLDER = files("tdqs_mcp.judges").joinpath("data", "calibrations")


Steps: TypeAlias = tuple[str, tuple[int, ...], tuple[int, ...]]
"""What one fact earns: a fact that has to be there as well, or nothing; ascending thresholds; and the sum of points up
to each of them, from 0 for none, in thousandths of a score point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """One dimension: a base, what facts add to it, and where the scores 1 to 5 are cut."""

    base: int
    steps: Mapping[str, tuple[Steps, ...]]
    """By fact: on its own, and in the contexts in which it counts more or less."""

    cuts: Sequence[int]
    """The lowest latent of the scores 2, 3, 4 and 5."""

    usual: Mapping[str, int]
    """What each fact earns on average, against which a reason is one."""

    typical: Mapping[str, int]
    """The median of each fact among the labeled: above it is much, below it little."""

    def earned(self, values: Mapping[str, int], facts: Iterable[str] | None = None) -> dict[str, int]:
        """Points by fact, contexts included, for all facts or some; read six times for every tool."""
        points = {}
        for fact in self.steps if facts is None else facts:
            value, total = values[fact], 0
            for context, thresholds, sums in self.steps[fact]:
                if not context or values[context]:
                    total += sums[bisect_left(thresholds, value)]
            points[fact] = total
        return points

    def is_much(self, fact: str, value: int, move: int) -> bool:
        """Whether there is much of a fact: where it only ever helps, or only ever harms, its move says so."""
        points = [point for _, _, sums in self.steps[fact] for point in sums if point]
        if points and (min(points) > 0 or max(points) < 0):
            return (move > 0) is (points[0] > 0)
        return value > self.typical[fact]

    def score(self, latent: int) -> int:
        """The integer score, 1-5."""
        return 1 + bisect_right(self.cuts, latent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One version of the offline judge."""

    version: str
    rubrics: Mapping[str, Mapping[str, Scorecard]]
    bands: Sequence[tuple[int, Sequence[int]]]
    """How far predictions lay off the labels, in thousandths: the upper end of a range of latent TDQS, and label minus
    prediction of unseen servers at evenly spaced quantiles, ascending."""

    guard: Mapping[str, int]
    """Tenths that a model's verdict may lie above the estimate, by rubric; `tampered` for a definition that hides
    characters or forges a turn."""

    def outlook(self, latents: Mapping[str, int], weights: Mapping[str, int]) -> Outlook:
        """How sure the TDQS is; `latents` in thousandths, `weights` in percent."""
        total = sum(weights[key] * max(UNIT, min(5 * UNIT, latent)) for key, latent in latents.items()) // 100
        errors = next(errors for below, errors in self.bands if total < below)
        likely = [max(10, min(50, (total + error + 50) // 100)) for error in errors]  # tenths, half up
        edge = len(likely) // 10
        return Outlook(
            low=likely[edge],
            high=likely[-1 - edge],
            tiers={tier: _percent(likely, tier) for tier in Tier if tier is not Tier.F},
        )


@cache
def calibration(version: str) -> Calibration:
    """A version of the offline judge. Raises KeyError where there is none."""
    entry = FOLDER.joinpath(f"{version}.json")
    if version not in versions():
        raise KeyError(version)
    table = json.loads(entry.read_text(encoding="utf-8"))
    return Calibration(
        version=table["calibration"],
        rubrics={
            rubric: {key: _scorecard(card) for key, card in cards.items()} for rubric, cards in table["rubrics"].items()
        },
        bands=[(band["below"], band["errors"]) for band in table["bands"]],
        guard=table["guard"]["bound"],
    )


@cache
def versions() -> tuple[str, ...]:
    """The versions that there are, the newest first."""
    names = (entry.name.removesuffix(".json") for entry in FOLDER.iterdir() if entry.name.endswith(".json"))
    return tuple(sorted(names, key=int, reverse=True))


def _scorecard(card: Mapping[str, Any]) -> Scorecard:
    steps: dict[str, tuple[Steps, ...]] = {}
    for name, entries in card["steps"].items():
        fact, _, context = name.partition(features.CONTEXT)
        points = (0, *accumulate(more for _, more in entries))
        thresholds = tuple(threshold for threshold, _ in entries)
        steps[fact] = (*steps.get(fact, ()), (context, thresholds, points))
    return Scorecard(base=card["base"], steps=steps, cuts=card["cuts"], usual=card["usual"], typical=card["typical"])


def _percent(likely: Sequence[int], tier: Tier) -> int:
    """The share of the likely scores within a tier, in percent, down."""
    better = next((other.floor for other in reversed(Tier) if other.floor > tier.floor), 51)
    return 100 * sum(tier.floor <= score < better for score in likely) // len(likely)


MAX_QUOTE = 160
"""Characters of a quotation; longer sentences are cut at a word."""

REASONS = 3
"""Reasons for one score."""

SLIGHT = 30
"""Thousandths of a score point below which a fact is not a reason."""


class Offline:
    """Grades from facts alone: same input, same output, no network."""

    def __init__(self, version: str | None = None) -> None:
        self._calibration = calibration(version or versions()[0])

    @property
    def stamp(self) -> JudgeStamp:
        """The offline judge and its calibration version."""
        return JudgeStamp(id="offline", version="1", calibration=self._calibration.version)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The port's form of `verdicts`."""
        return self.verdicts(cases)

    def verdicts(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """A verdict for every case of a rubric that there are scorecards for; facts are always there."""
        return [self._verdict(case) for case in cases]

    def _verdict(self, case: Case) -> Verdict | Ungraded:
        numbers = self._calibration
        if isinstance(case, SetCase):
            return _grade_set(numbers.rubrics["coherence"], case)
        if isinstance(case, ShadowCase):
            return Ungraded(judge="offline", reason="the offline judge confirms no shadow candidate", was_asked=False)
        if isinstance(case, ToolCase) and case.rubric in numbers.rubrics:
            return _grade_tool(numbers, case)
        return Ungraded(
            judge="offline",
            reason=f"the offline judge is not calibrated for the {case.rubric} rubric; name another with --judge",
        )


def _grade_tool(numbers: Calibration, case: ToolCase) -> Verdict:
    subject = case.subject
    told = read_content(subject)
    values = features.of_tool(subject, told)
    judgements, latents = {}, {}
    for key, card in numbers.rubrics[case.rubric].items():
        latents[key], judgements[key] = _judge(
            card,
            values,
            words=_words()["tool"],
            quotes=lambda name: features.quotes(name, subject, told),
            is_relevant=lambda name: features.is_relevant(name, subject),
            rests_on_one=True,
        )
    if case.rubric != "tdqs":
        return Verdict(judgements=judgements, summary=_summary(judgements))
    contradiction = subject.prose.contradiction
    if contradiction is not None:
        latents["behavioral_transparency"] = UNIT
        judgements["behavioral_transparency"] = Judgement(
            score=1,
            justification=f"readOnlyHint is true, yet the description says {contradiction!r}.",
            evidence=(contradiction,),
        )
    weights = {dimension.key: dimension.weight for dimension in load("tdqs").dimensions}
    return Verdict(
        judgements=judgements,
        summary=_summary(judgements),
        contradiction=contradiction is not None,
        outlook=numbers.outlook(latents, weights),
    )


def _grade_set(cards: Mapping[str, Scorecard], case: SetCase) -> Verdict:
    tools = case.measured.tool_set()
    values = features.of_set(tools)
    judgements = {
        key: _judge(
            card,
            values,
            words=_words()["set"],
            quotes=lambda name: features.names_behind(name, tools)[:3],
            is_relevant=lambda _: True,
            rests_on_one=False,
        )[1]
        for key, card in cards.items()
    }
    return Verdict(judgements=judgements, summary=_summary(judgements))


def _judge(
    card: Scorecard,
    values: Mapping[str, int],
    *,
    words: Mapping[str, Mapping[str, str]],
    quotes: Callable[[str], Sequence[str]],
    is_relevant: Callable[[str], bool],
    rests_on_one: bool,
) -> tuple[int, Judgement]:
    """The latent of one dimension, in thousandths, and the score with the facts that moved it most."""
    earned = card.earned(values)
    latent = card.base + sum(earned.values())
    moves = {name: move for name, points in earned.items() if abs(move := points - card.usual[name]) >= SLIGHT}
    good: list[str] = []
    bad: list[str] = []
    evidence: list[str] = []
    for name in sorted(moves, key=lambda name: (-abs(moves[name]), name)):
        if len(good) + len(bad) == REASONS:
            break
        is_much = card.is_much(name, values[name], moves[name])
        template = words.get(name, {}).get("much" if is_much else "little")
        if template is None or not (is_much or is_relevant(name)):
            continue
        is_quoted = "{quote}" in template and (not rests_on_one or _rests_on(card, name, values, earned[name]))
        quoted = [_cut(text) for text in quotes(name)] if is_quoted else []
        sentence = _say(template, count=values[name], quoted=quoted)
        if sentence not in (*good, *bad):
            (good if moves[name] > 0 else bad).append(sentence)
            evidence += quoted
    justification = _justify(good, bad)
    return latent, Judgement(
        score=card.score(latent), justification=justification, evidence=tuple(dict.fromkeys(evidence))
    )


def _rests_on(card: Scorecard, name: str, values: Mapping[str, int], earned: int) -> bool:
    """Without the passage that gives most of it, the fact would earn something else."""
    if values[name] <= 0:
        return False
    less = {**values, name: values[name] - values.get(f"{name}{features.SHARE}", 1)}
    return card.earned(less, [name])[name] != earned


@cache
def _words() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "reasons.toml").read_text(encoding="utf-8"))


def _say(template: str, *, count: int, quoted: Sequence[str]) -> str:
    text = template.replace("{count}", str(count))
    marked = ", ".join(f'"{each}"' for each in quoted)
    return text.replace("{quote}", marked) if quoted else text.replace(" ({quote})", "")


def _justify(good: Sequence[str], bad: Sequence[str]) -> str:
    """What speaks for a higher score, then what for a lower one."""
    parts = [f"For it: {'; '.join(good)}." if good else "", f"Against it: {'; '.join(bad)}." if bad else ""]
    return " ".join(part for part in parts if part) or "Nothing stands out: it is a usual definition in this respect."


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE].rsplit(" ", 1)[0]


def _summary(judgements: Mapping[str, Judgement]) -> str:
    """The strongest and the weakest dimension."""
    ranked = sorted(judgements.items(), key=lambda entry: -entry[1].score)
    best, worst = (f"{key.replace('_', ' ')} ({each.score})" for key, each in (ranked[0], ranked[-1]))
    return f"Strongest in {best}, weakest in {worst}."
