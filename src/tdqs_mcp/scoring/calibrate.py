"""How far a judge's scores lie from labels: errors, rank correlation, agreement; for eyes, so in floats."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import correlation, mean

from tdqs_mcp.results.tiers import Tier, tier_of

SCORES = range(1, 6)

FEWEST = 3
"""Cases below which a correlation says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One dimension's labels beside a judge's scores."""

    count: int
    error: float
    """Mean absolute difference, in score points."""

    bias: float
    """Mean of score minus label, in score points."""

    correlation: float | None
    """Spearman's; None for fewer than three cases, or where all are equal."""

    kappa: float | None
    """Cohen's, with quadratic weights; None where there is nothing to disagree about."""

    exact: float
    within_one: float
    """Shares of the cases, 0-1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalAgreement:
    """TDQS labels beside a judge's, in tenths."""

    count: int
    error: float
    bias: float
    """In TDQS points."""

    correlation: float | None
    same_tier: float
    """Share of the cases, 0-1."""


def agree(labels: Sequence[int], scores: Sequence[int]) -> Agreement:
    """Labels and scores of the same cases, 1-5. Raises ValueError without any."""
    pairs = list(zip(labels, scores, strict=True))
    return Agreement(
        count=len(pairs),
        error=mean(abs(label - score) for label, score in pairs),
        bias=mean(score - label for label, score in pairs),
        correlation=rank_correlation(labels, scores),
        kappa=weighted_kappa(labels, scores),
        exact=mean(label == score for label, score in pairs),
        within_one=mean(abs(label - score) <= 1 for label, score in pairs),
    )


def agree_in_total(labels: Sequence[int], scores: Sequence[int]) -> TotalAgreement:
    """The same for TDQS in tenths."""
    pairs = list(zip(labels, scores, strict=True))
    return TotalAgreement(
        count=len(pairs),
        error=mean(abs(label - score) for label, score in pairs) / 10,
        bias=mean(score - label for label, score in pairs) / 10,
        correlation=rank_correlation(labels, scores),
        same_tier=mean(tier_of(label) is tier_of(score) for label, score in pairs),
    )


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's, ties at their mean rank; None where it is not defined."""
    if len(one) < FEWEST or len(set(one)) == 1 or len(set(other)) == 1:
        return None
    return correlation(_ranks(one), _ranks(other))


def weighted_kappa(labels: Sequence[int], scores: Sequence[int]) -> float | None:
    """Cohen's kappa with quadratic weights; None where chance alone leaves no disagreement."""
    count = len(labels)
    seen = sum((label - score) ** 2 for label, score in zip(labels, scores, strict=True)) / count
    of_labels, of_scores = Counter(labels), Counter(scores)
    by_chance = sum(
        of_labels[label] * of_scores[score] * (label - score) ** 2 for label in SCORES for score in SCORES
    ) / (count * count)
    return None if by_chance == 0 else 1 - seen / by_chance


def best_constant(values: Sequence[float], error: Callable[[float, float], float]) -> float:
    """The lowest mean error of one answer for all cases."""
    return min(mean(error(value, answer) for value in values) for answer in set(values))


def f1(smells: Sequence[bool], predicted: Sequence[bool]) -> float:
    """The harmonic mean of precision and recall; 0 where nothing is found."""
    hits = sum(smell and guess for smell, guess in zip(smells, predicted, strict=True))
    return 2 * hits / max(1, sum(smells) + sum(predicted))


def reliability(
    odds: Sequence[Mapping[Tier, int]], tiers: Sequence[Tier], edges: Sequence[int]
) -> list[tuple[int, int, int, float]]:
    """For ranges of stated percent: from, to, how often something was said in it, and how often it was so."""
    said = [(share, tier is truth) for each, truth in zip(odds, tiers, strict=True) for tier, share in each.items()]
    found = []
    for lower, upper in pairwise(edges):
        inside = [truth for share, truth in said if lower <= share < upper]
        if inside:
            found.append((lower, min(upper, 100), len(inside), mean(inside)))
    return found


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [mean(places[value]) for value in values]
