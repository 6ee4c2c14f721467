"""TDQS arithmetic: six scores to one, tools to a server; integers in 1.2, doubles where 1.0 is defined on them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import floor
from operator import add

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.results.labels import Label
from tdqs_mcp.results.scores import Rollup
from tdqs_mcp.rubrics.rubric import Rubric

SPECS = ("1.2", "1.0")
"""The specification versions that can be computed, the default first."""

DEFAULT_SPEC = SPECS[0]

SMELL_BELOW = 3
"""A dimension below it is a smell (TDQS, "Flags and smells")."""

MIN_COVERAGE = 80
"""Percent of a server's tools that must be scored before the server is (TDQS, "Description quality")."""


def tdqs(rubric: Rubric, scores: Mapping[str, int], *, spec: str) -> int:
    """The weighted sum of the dimension scores, in tenths (10-50)."""
    weighted = [(scores[dimension.key], dimension.weight) for dimension in rubric.dimensions]
    if spec == "1.0":
        return _tenths_1_0(_sum_1_0(score * (weight / 100) for score, weight in weighted))
    return round_half_up(sum(score * weight for score, weight in weighted), 100)


def percent(scores: Mapping[str, int]) -> int:
    """(sum - n) / 4n of n scores, in tenths of a percent: (sum - 6) / 24 for the paper's six components."""
    count = len(scores)
    return round_half_up(100 * (sum(scores.values()) - count), 4 * count)


def label(scores: Mapping[str, int]) -> Label:
    """Bad where a dimension is below 3 (arXiv 2602.14878, Appendix A.1; MCPBundles, "Per-tool scoring")."""
    return Label.BAD if any(score < SMELL_BELOW for score in scores.values()) else Label.GOOD


def roll_up(tools: Sequence[int], *, tool_count: int, coherence: Mapping[str, int] | None, spec: str) -> Rollup:
    """A server's numbers from its tools' TDQS in tenths and its four coherence scores; None where a part is missing."""
    coherent = None if coherence is None else round_half_up(sum(coherence.values()), len(coherence))
    if not tools:
        return Rollup(mean_tdqs=None, min_tdqs=None, description_quality=None, coherence=coherent, overall=None)
    is_covered = 100 * len(tools) >= MIN_COVERAGE * tool_count
    quality = _description_quality(tools, spec=spec) if is_covered else None
    overall = None if quality is None or coherent is None else _overall(quality, coherent, spec=spec)
    mean = _tenths_1_0(_mean_1_0(tools)) if spec == "1.0" else round_half_up(sum(tools), 10 * len(tools))
    return Rollup(
        mean_tdqs=mean,
        min_tdqs=min(tools),
        description_quality=quality,
        coherence=coherent,
        overall=overall,
    )


def overall_of(total: int, *, count: int, lowest: int, coherence: int) -> int:
    """TDQS 1.2's overall score from the sum, number and minimum of the tools' TDQS and the coherence, in tenths."""
    return _overall(_quality(total, count=count, lowest=lowest), coherence, spec="1.2")


def _description_quality(tools: Sequence[int], *, spec: str) -> int:
    """0.6 mean + 0.4 minimum: one bad definition misleads an agent on the whole server."""
    if spec == "1.0":
        return _tenths_1_0(0.6 * _mean_1_0(tools) + 0.4 * (min(tools) / 10))
    return _quality(sum(tools), count=len(tools), lowest=min(tools))


def _quality(total: int, *, count: int, lowest: int) -> int:
    return round_half_up(6 * total + 4 * count * lowest, 100 * count)


def _overall(quality: int, coherence: int, *, spec: str) -> int:
    if spec == "1.0":
        return _tenths_1_0(0.7 * (quality / 10) + 0.3 * (coherence / 10))
    return round_half_up(7 * quality + 3 * coherence, 100)


def _mean_1_0(tools: Sequence[int]) -> float:
    return _sum_1_0(score / 10 for score in tools) / len(tools)


def _sum_1_0(terms: Iterable[float]) -> float:
    """Left to right and uncompensated, as JavaScript adds; the built-in sum compensates since Python 3.12."""
    return reduce(add, terms, 0.0)


def _tenths_1_0(total: float) -> int:
    """`Math.round(total * 10)`: 1.0 is defined on doubles, so ties fall where they fall."""
    return floor(total * 10 + 0.5)
