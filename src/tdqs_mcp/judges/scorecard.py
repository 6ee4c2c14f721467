"""The offline judge's numbers: for each dimension a scorecard in integers, and how far its predictions lie off."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tdqs_mcp.judges.features import CONTEXT
from tdqs_mcp.results.verdicts import Outlook, Tier

UNIT = 1000
"""Points are thousandths of a score point."""

FOLDER = files("tdqs_mcp.judges").joinpath("data", "calibrations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What one fact earns: points for every threshold that it exceeds."""

    fact: str
    context: str
    """A fact that has to be there as well; empty where none has to."""

    thresholds: Sequence[int]
    """Ascending."""

    points: Sequence[int]
    """The sum up to each threshold, from 0 for none."""

    def earned(self, values: Mapping[str, int]) -> int:
        """The points for these facts, in thousandths of a score point."""
        if self.context and not values[self.context]:
            return 0
        return self.points[bisect_left(self.thresholds, values[self.fact])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """One dimension: a base, what facts add to it, and where the scores 1 to 5 are cut."""

    base: int
    steps: Mapping[str, tuple[Steps, ...]]
    """By fact: on its own, and in the contexts in which it counts more or less."""

    rows: Sequence[tuple[str, str, Sequence[int], Sequence[int]]]
    """The same steps, flat: what is read six times for every tool."""

    cuts: Sequence[int]
    """The lowest latent of the scores 2, 3, 4 and 5."""

    usual: Mapping[str, int]
    """What each fact earns on average, against which a reason is one."""

    typical: Mapping[str, int]
    """The median of each fact among the labelled: above it is much, below it little."""

    def earned(self, values: Mapping[str, int]) -> dict[str, int]:
        """Points by fact, its contexts included."""
        points = dict.fromkeys(self.steps, 0)
        for fact, context, thresholds, sums in self.rows:
            if not context or values[context]:
                points[fact] += sums[bisect_left(thresholds, values[fact])]
        return points

    def is_much(self, fact: str, value: int, move: int) -> bool:
        """Whether there is much of a fact: where it only ever helps, or only ever harms, its move says so."""
        signs = {point > 0 for each in self.steps[fact] for point in each.points if point}
        if len(signs) == 1:
            return (move > 0) is (True in signs)
        return value > self.typical[fact]

    def score(self, latent: int) -> int:
        """The integer score, 1-5."""
        return 1 + bisect_right(self.cuts, latent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """How far predictions in one range of latent TDQS lay off the labels."""

    below: int
    """The range's upper end, in thousandths."""

    errors: Sequence[int]
    """Label minus prediction of unseen servers, in thousandths, at evenly spaced quantiles, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One version of the offline judge."""

    version: str
    rubrics: Mapping[str, Mapping[str, Scorecard]]
    bands: Sequence[Band]
    guard: Mapping[str, int]
    """Tenths that a model's verdict may lie above the estimate, by rubric; `tampered` for a definition that hides
    characters or forges a turn."""

    def outlook(self, latents: Mapping[str, int], weights: Mapping[str, int]) -> Outlook:
        """How sure the TDQS is; `latents` in thousandths, `weights` in percent."""
        total = sum(weights[key] * max(UNIT, min(5 * UNIT, latent)) for key, latent in latents.items()) // 100
        band = next(band for band in self.bands if total < band.below)
        likely = [_tenths(total + error) for error in band.errors]
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
        bands=[Band(below=band["below"], errors=band["errors"]) for band in table["bands"]],
        guard=table["guard"]["bound"],
    )


@cache
def versions() -> tuple[str, ...]:
    """The versions that there are, the newest first."""
    names = (entry.name.removesuffix(".json") for entry in FOLDER.iterdir() if entry.name.endswith(".json"))
    return tuple(sorted(names, key=int, reverse=True))


def _scorecard(card: Mapping[str, Any]) -> Scorecard:
    steps = [_steps(name, each) for name, each in card["steps"].items()]
    return Scorecard(
        base=card["base"],
        steps=_by_fact(steps),
        rows=[(each.fact, each.context, each.thresholds, each.points) for each in steps],
        cuts=card["cuts"],
        usual=card["usual"],
        typical=card["typical"],
    )


def _by_fact(steps: Sequence[Steps]) -> dict[str, tuple[Steps, ...]]:
    found: dict[str, tuple[Steps, ...]] = {}
    for each in steps:
        found[each.fact] = (*found.get(each.fact, ()), each)
    return found


def _steps(name: str, steps: Sequence[Sequence[int]]) -> Steps:
    fact, _, context = name.partition(CONTEXT)
    points = [0]
    for _, more in steps:
        points.append(points[-1] + more)
    return Steps(fact=fact, context=context, thresholds=[threshold for threshold, _ in steps], points=points)


def _tenths(thousandths: int) -> int:
    """Tenths within 1.0-5.0, half up."""
    return max(10, min(50, (thousandths + 50) // 100))


def _percent(likely: Sequence[int], tier: Tier) -> int:
    """The share of the likely scores within a tier, in percent, down."""
    better = next((other.floor for other in reversed(Tier) if other.floor > tier.floor), 51)
    return 100 * sum(tier.floor <= score < better for score in likely) // len(likely)
