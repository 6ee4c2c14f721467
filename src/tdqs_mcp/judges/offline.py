"""The judge that needs no key: trees over facts, in integers, with reasons from the sentences."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, chain, pairwise
from operator import getitem, mul, or_
from typing import Any, TypeAlias

from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.facts.toolset.relations import OverlapKind
from tdqs_mcp.judges import features
from tdqs_mcp.judges.reasons import FEW, explain_set, explain_tool
from tdqs_mcp.judges.sentence_model import SentenceModel, read_model, read_text
from tdqs_mcp.results.verdicts import Judgement, JudgeStamp, Outlook, Tier, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ShadowCase, ToolCase
from tdqs_mcp.rubrics.rubric import load

UNIT = 1000
"""Points are thousandths of a score point."""

MOST_TOOLS = 50
"""Tools from which a set is an extreme mismatch, whatever the trees say (coherence prompt, Tool Count)."""

FOLDER = files("tdqs_mcp.judges").joinpath("data", "calibrations")

Tree: TypeAlias = int | list[Any]
"""Points, or a feature's place, a threshold, the tree for values up to it, and the tree for values above."""


_FIRST_BIT = bytes((byte & -byte).bit_length() - 1 if byte else 0 for byte in range(256))
"""By byte, the place of its lowest bit."""


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Model of one dimension: a base, trees that add to it, and where the scores 1 to 5 are cut.

    All trees are walked at once (QuickScorer, SIGIR 2015): a byte stands for a tree, a bit for each of its leaves.
    Every feature takes away the leaves that its value cannot reach, and the first leaf that is left counts.
    """

    features: Sequence[str]
    base: int
    trees: Sequence[Tree]
    cuts: Sequence[int]
    """The lowest latent of the scores 2, 3, 4 and 5."""

    def latent(self, values: Mapping[str, int]) -> int:
        """The unrounded score, in thousandths, 1000-5000."""
        reachable = -1
        for name, thresholds, masks in self._splits:
            reachable &= masks[bisect_left(thresholds, values[name])]
        count = len(self.trees)
        places = (reachable & ((1 << 8 * count) - 1)).to_bytes(count, "little").translate(_FIRST_BIT)
        return max(UNIT, min(5 * UNIT, self.base + sum(map(getitem, self._leaves, places))))

    @cached_property
    def _leaves(self) -> Sequence[Sequence[int]]:
        """The points of each tree's leaves, from left to right."""
        return [list(_leaves_of(tree)) for tree in self.trees]

    @cached_property
    def _splits(self) -> Sequence[tuple[str, Sequence[int], Sequence[int]]]:
        """By feature, its thresholds, and the leaves that are left where a value lies above none, one, two of them."""
        lost: list[dict[int, int]] = [{} for _ in self.features]
        for number, tree in enumerate(self.trees):
            _collect_lost(tree, 8 * number, lost)
        splits = []
        for name, by_threshold in zip(self.features, lost, strict=True):
            thresholds = sorted(by_threshold)
            unreachable = accumulate((by_threshold[threshold] for threshold in thresholds), or_, initial=0)
            splits.append((name, thresholds, [~leaves for leaves in unreachable]))
        return splits

    def score(self, latent: int) -> int:
        """The integer score, 1-5."""
        return 1 + bisect_right(self.cuts, latent)


def _leaves_of(tree: Tree) -> Iterator[int]:
    if isinstance(tree, int):
        yield tree
    else:
        yield from chain(_leaves_of(tree[2]), _leaves_of(tree[3]))


def _collect_lost(tree: Tree, first: int, lost: Sequence[dict[int, int]]) -> int:
    """Enter by feature and threshold the leaves that a higher value cannot reach; return the place behind the last."""
    if isinstance(tree, int):
        return first + 1
    feature, threshold, left, right = tree
    middle = _collect_lost(left, first, lost)
    lost[feature][threshold] = lost[feature].get(threshold, 0) | ((1 << middle) - (1 << first))
    return _collect_lost(right, middle, lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """Rounds latents to scores jointly, so that the weighted sum of the scores meets that of the latents."""

    weights: Sequence[int]
    means: Sequence[int]
    """Mean label of each dimension, in thousandths."""

    stretch: Sequence[int]
    """Percent by which each latent is moved away from the mean: predictions vary less than labels."""

    total_stretch: int
    """Percent by which the weighted sum is moved away from its mean."""

    def round(self, latents: Sequence[int]) -> list[int]:
        """The scores 1-5 nearest to the latents, each and in sum, among the 64 that are next to them."""
        off = [latent - mean for latent, mean in zip(latents, self.means, strict=True)]
        target = sum(weight * mean for weight, mean in zip(self.weights, self.means, strict=True))
        target += (
            (100 + self.total_stretch) * sum(w * distance for w, distance in zip(self.weights, off, strict=True)) // 100
        )
        near = [
            max(UNIT, min(5 * UNIT, latent + percent * distance // 100))
            for latent, distance, percent in zip(latents, off, self.stretch, strict=True)
        ]
        lows = [min(4, point // UNIT) for point in near]
        # The choices as the bits of a number; the first dimension is the highest bit.
        totals, costs = [UNIT * sum(map(mul, self.weights, lows)) - target], [0]
        for weight, point, low in reversed(list(zip(self.weights, near, lows, strict=True))):
            below, above = (weight * abs(score * UNIT - point) for score in (low, low + 1))
            totals += [total + weight * UNIT for total in totals]
            costs = [cost + below for cost in costs] + [cost + above for cost in costs]
        errors = [abs(total) + cost for total, cost in zip(totals, costs, strict=True)]
        best = errors.index(min(errors))
        return [low + (best >> place & 1) for place, low in zip(reversed(range(len(lows))), lows, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A version of the offline judge."""

    version: str
    sentences: SentenceModel
    rubrics: Mapping[str, Mapping[str, Forest]]
    rounding: Rounding
    bands: Sequence[tuple[int, Sequence[int]]]
    """How far predictions lay off the labels, in thousandths: the upper end of a range of latent TDQS, and label minus
    prediction of unseen servers at evenly spaced quantiles, ascending."""

    guard: Mapping[str, int]
    """Tenths that a model's verdict may lie above the estimate, by rubric; `brief` for a short description that
    seems weak, `tampered` for a definition that hides characters or forges a turn."""

    change_error: tuple[int, int, int]
    """How far predicted gains lay off what blind readers saw, in hundredths of TDQS: readers' gain less predicted gain,
    its mean and the ends of the middle 80%."""

    server_error: tuple[int, int, int]
    """How far overall scores lay off on labeled servers, in tenths: the number of servers, and the ends of the middle
    80% of label minus prediction."""

    gains: Mapping[str, Sequence[int]]
    """By dimension, for its scores 1 to 5, the hundredths of TDQS by which a sentence written for it raised the score.

    They count all dimensions: a sentence of usage also says what sets the tool apart.
    """

    def outlook(self, total: int) -> Outlook:
        """How sure the TDQS is; `total` is the weighted latent in thousandths."""
        errors = next(errors for below, errors in self.bands if total < below)
        likely = [max(10, min(50, (total + error + 50) // 100)) for error in errors]  # tenths, half up
        edge = len(likely) // 10
        tiers = [tier for tier in Tier if tier is not Tier.F]
        ends = [len(likely), *(bisect_left(likely, tier.floor) for tier in tiers)]
        shares = [100 * (end - start) // len(likely) for end, start in pairwise(ends)]
        return Outlook(
            low=likely[edge],
            high=likely[-1 - edge],
            tiers=dict(zip(tiers, shares, strict=True)),
        )


@cache
def calibration(version: str) -> Calibration:
    """A version of the offline judge, one of `versions()`."""
    table = json.loads(FOLDER.joinpath(f"{version}.json").read_text(encoding="utf-8"))
    return Calibration(
        version=table["calibration"],
        sentences=read_model(table["sentences"], table["logistic"]),
        rubrics={
            rubric: {key: Forest(**forest) for key, forest in forests.items()}
            for rubric, forests in table["rubrics"].items()
        },
        rounding=Rounding(weights=[dimension.weight for dimension in load("tdqs").dimensions], **table["rounding"]),
        bands=[(band["below"], band["errors"]) for band in table["bands"]],
        guard=table["guard"]["bound"],
        change_error=tuple(table["error"]["changes"]),
        server_error=tuple(table["error"]["servers"]),
        gains=table["gains"],
    )


@cache
def versions() -> tuple[str, ...]:
    """The versions that there are, the newest first."""
    names = (entry.name.removesuffix(".json") for entry in FOLDER.iterdir() if entry.name.endswith(".json"))
    return tuple(sorted(names, key=int, reverse=True))


class Offline:
    """Grades from facts alone: same input, same output, no network."""

    def __init__(self, version: str | None = None) -> None:
        self._calibration = calibration(version or versions()[0])

    @property
    def stamp(self) -> JudgeStamp:
        """The offline judge and its calibration version."""
        return JudgeStamp(id="offline", version="3", calibration=self._calibration.version)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The port's form of `verdicts`."""
        return self.verdicts(cases)

    def verdicts(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """A verdict for every case of a rubric that there are trees for; facts are always there."""
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
            reason="the offline judge is not calibrated for MCPBundles' rubrics, which need a model",
        )


def _grade_tool(numbers: Calibration, case: ToolCase) -> Verdict:
    subject = case.subject
    text = read_text(subject, case.measured)
    readings = numbers.sentences.read(text)
    values = features.of_tool(subject, text, readings)
    forests = numbers.rubrics[case.rubric]
    latents = {key: forest.latent(values) for key, forest in forests.items()}
    if case.rubric != "tdqs":
        scores = {key: forest.score(latents[key]) for key, forest in forests.items()}
        judgements = explain_tool(case.rubric, scores, subject, readings)
        return Verdict(judgements=judgements, summary=_summary(judgements))
    contradiction = subject.prose.contradiction
    if contradiction is not None:
        latents["behavioral_transparency"] = UNIT
    scores = dict(zip(latents, numbers.rounding.round(list(latents.values())), strict=True))
    judgements = explain_tool("tdqs", scores, subject, readings)
    if contradiction is not None:
        judgements["behavioral_transparency"] = Judgement(
            score=1,
            justification=f"readOnlyHint is true, yet the description says {contradiction!r}.",
            evidence=(contradiction,),
        )
    total = (
        sum(weight * latent for weight, latent in zip(numbers.rounding.weights, latents.values(), strict=True)) // 100
    )
    return Verdict(
        judgements=judgements,
        summary=_summary(judgements),
        contradiction=contradiction is not None,
        outlook=numbers.outlook(total),
    )


def _grade_set(forests: Mapping[str, Forest], case: SetCase) -> Verdict:
    tools = case.measured.tool_set()
    judgements = explain_set(score_set(forests, tools), tools)
    return Verdict(judgements=judgements, summary=_summary(judgements))


def score_set(forests: Mapping[str, Forest], tools: ToolSet) -> dict[str, int]:
    """The four coherence scores, within what the published anchors allow."""
    values = features.of_set(tools)
    scores = {key: forest.score(forest.latent(values)) for key, forest in forests.items()}
    if tools.tool_count == FEW and tools.is_one_job:
        scores["tool_count_appropriateness"] = 5  # "well-scoped, each tool earns its place (typically 3-15 tools)"
    most = _highest(tools, off_style=values["off_style"], off_pattern=values["off_pattern"])
    return {key: min(score, most.get(key, score)) for key, score in scores.items()}


def _highest(tools: ToolSet, *, off_style: int, off_pattern: int) -> dict[str, int]:
    """The highest scores of a server on which tools do the same, leave open what they do, or are named otherwise.

    Hardly any labeled server has such tools, so this is policy, from the anchors of the published coherence prompt:
    several tools that appear to do the same thing are a 1; each tool earns its place; no clear domain, no coverage.
    """
    is_third = 3 * tools.alike >= tools.tool_count
    is_open = 2 * len(tools.vague) > tools.tool_count
    is_shared = any(pair.kind is OverlapKind.NAME for pair in tools.same)
    several = 1 if is_third else 2
    is_crowd = tools.tool_count >= MOST_TOOLS
    distinct = several if tools.alike > 2 else 2 if is_shared or (tools.alike and is_third) else 4 if tools.alike else 5
    return {
        "disambiguation": distinct,
        "naming_consistency": min(
            5 if off_style == 0 else 4 if off_style < 25 else 2, 5 if off_pattern == 0 else 4 if off_pattern < 25 else 3
        ),
        "tool_count_appropriateness": 1 if is_crowd else 3 if is_open else 5,
        "completeness": 2 if is_open else 5,
    }


def _summary(judgements: Mapping[str, Judgement]) -> str:
    """The strongest and the weakest dimension."""
    ranked = sorted(judgements.items(), key=lambda entry: -entry[1].score)
    best, worst = (f"{key.replace('_', ' ')} ({judgement.score})" for key, judgement in (ranked[0], ranked[-1]))
    return f"Strongest in {best}, weakest in {worst}."
