"""TDQS arithmetic: six scores to one, tools to a server, a jury's agreement.

Integers in 1.2, doubles where 1.0 is defined on them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import floor
from operator import add
from typing import Literal, cast

from tdqs_mcp.canonical import round_half_up, twice_median
from tdqs_mcp.facts.subject import Measured, overlaps_between
from tdqs_mcp.results.installed_servers import ClientSet, Place, SharedName, SharedPurpose
from tdqs_mcp.results.labels import Label
from tdqs_mcp.results.scores import Rollup
from tdqs_mcp.results.verdicts import Ballot, Reliability, Votes, tier_of
from tdqs_mcp.rubrics.rubric import Grade, Rubric, load
from tdqs_mcp.rules.client_rules import CLIENTS, Client, all_limits, plain_name


def view_set(name: str, title: str, servers: Mapping[str, Measured]) -> ClientSet:
    """Return what a client shows of its servers, which are given by the names that it calls them.

    Linear in the number of tools: equal names are looked up, and only tools that share rare words are compared.
    """
    client = CLIENTS.get(name, Client(id=name, title=title))
    places = [Place(server=server, tool=tool) for server, measured in servers.items() for tool in measured.names]
    as_seen = {} if client.separates else _grouped((_seen(client, place), place) for place in places)
    collisions = _shared(as_seen)
    collided = {place for collision in collisions for place in collision.tools}
    alike = _shared(_grouped((place.tool, place) for place in places))
    return ClientSet(
        client=name,
        title=title,
        servers=tuple(servers),
        tool_count=len(places),
        tool_limit=next(
            (limit.takes for limit in all_limits() if limit.check == "tools" and name in limit.clients), None
        ),
        tokens=sum(measured.tokens for measured in servers.values()),
        collisions=collisions,
        same_names=tuple(shared for shared in alike if collided.isdisjoint(shared.tools)),
        overlaps=tuple(_overlaps(servers)),
    )


def _seen(client: Client, place: Place) -> str:
    return plain_name(client.named(place.tool, server=place.server))


def _grouped(named: Iterator[tuple[str, Place]]) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for name, place in named:
        groups.setdefault(name, []).append(place)
    return groups


def _shared(groups: Mapping[str, Sequence[Place]]) -> tuple[SharedName, ...]:
    return tuple(SharedName(name=name, tools=tuple(places)) for name, places in groups.items() if len(places) > 1)


def _overlaps(servers: Mapping[str, Measured]) -> Iterator[SharedPurpose]:
    names = list(servers)
    for (place, rival), overlaps in overlaps_between(list(servers.values())).items():
        for overlap in overlaps if place < rival else ():
            yield SharedPurpose(
                first=Place(server=names[place], tool=overlap.first),
                second=Place(server=names[rival], tool=overlap.second),
                kind=cast('Literal["definition", "description", "purpose"]', overlap.kind.value),  # no variants here
            )


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


def coherence_of(scores: Mapping[str, int]) -> int:
    """Return the mean of the four coherence scores, in tenths."""
    return round_half_up(sum(scores.values()), len(scores))


def roll_up(tools: Sequence[int], *, tool_count: int, coherence: int | None, spec: str) -> Rollup:
    """A server's numbers from its tools' TDQS and its coherence, in tenths; None where a part is missing."""
    if not tools:
        return Rollup(mean_tdqs=None, min_tdqs=None, description_quality=None, coherence=coherence, overall=None)
    is_covered = 100 * len(tools) >= MIN_COVERAGE * tool_count
    mean, quality = (
        round_half_up(sum(tools), 10 * len(tools)),
        _quality(sum(tools), count=len(tools), lowest=min(tools)),
    )
    if spec == "1.0":
        exact = _sum_1_0(score / 10 for score in tools) / len(tools)
        mean, quality = _tenths_1_0(exact), _tenths_1_0(0.6 * exact + 0.4 * (min(tools) / 10))
    overall = _overall(quality, coherence, spec=spec) if is_covered and coherence is not None else None
    return Rollup(
        mean_tdqs=mean,
        min_tdqs=min(tools),
        description_quality=quality if is_covered else None,
        coherence=coherence,
        overall=overall,
    )


def overall_of(total: int, *, count: int, lowest: int, coherence: int) -> int:
    """TDQS 1.2's overall score from the sum, number and minimum of the tools' TDQS and the coherence, in tenths."""
    return _overall(_quality(total, count=count, lowest=lowest), coherence, spec="1.2")


def _quality(total: int, *, count: int, lowest: int) -> int:
    """0.6 mean + 0.4 minimum: one bad definition misleads an agent on the whole server."""
    return round_half_up(6 * total + 4 * count * lowest, 100 * count)


def _overall(quality: int, coherence: int, *, spec: str) -> int:
    if spec == "1.0":
        return _tenths_1_0(0.7 * (quality / 10) + 0.3 * (coherence / 10))
    return round_half_up(7 * quality + 3 * coherence, 100)


def _sum_1_0(terms: Iterable[float]) -> float:
    """Left to right and uncompensated, as JavaScript adds; the built-in sum compensates since Python 3.12."""
    return reduce(add, terms, 0.0)


def _tenths_1_0(total: float) -> int:
    """`Math.round(total * 10)`: 1.0 is defined on doubles, so ties fall where they fall."""
    return floor(total * 10 + 0.5)


def reliabilities(tools: Sequence[Sequence[Ballot]], *, rubric: str) -> dict[str, Reliability]:
    """Agreement on each dimension over the tools that all jurors scored; empty without a jury."""
    ballots = [tool for tool in tools if tool]
    if not ballots:
        return {}
    whole = [tool_ballots for tool_ballots in ballots if all(ballot.scores for ballot in tool_ballots)]
    tables = {
        key: [[ballot.scores[key] for ballot in tool_ballots] for tool_ballots in whole] for key in load(rubric).keys
    }
    return {key: reliability(table) for key, table in tables.items()}


def reliability(ratings: Sequence[Sequence[int]]) -> Reliability:
    """Agreement, means, medians and both smell rules side by side; rows are tools, columns jurors."""
    count = len(ratings)
    return Reliability(
        icc=icc(ratings),
        tools=count,
        mean=_hundredths([score for row in ratings for score in row]) if count else None,
        median=round_half_up(5 * sum(map(twice_median, ratings)), count) if count else None,
        smells_by_mean=sum(map(_smells_by_mean, ratings)),
        smells_by_median=sum(map(_smells_by_median, ratings)),
    )


def jury_of(ballots: Sequence[Ballot], *, rubric: str, spec: str) -> Votes | None:
    """How one tool's jurors voted; None where nobody did."""
    votes = [ballot.scores for ballot in ballots if ballot.scores]
    if not votes:
        return None
    rules = load(rubric)
    columns = {key: [vote[key] for vote in votes] for key in rules.keys}
    is_label = rules.grade is Grade.LABEL
    return Votes(
        ballots=tuple(ballots),
        means={key: _hundredths(scores) for key, scores in columns.items()},
        spread={key: max(scores) - min(scores) for key, scores in columns.items() if len(set(scores)) > 1},
        smells_by_mean=tuple(key for key, scores in columns.items() if _smells_by_mean(scores)),
        smells_by_median=tuple(key for key, scores in columns.items() if _smells_by_median(scores)),
        grades=tuple(label(vote) if is_label else tier_of(tdqs(rules, vote, spec=spec)) for vote in votes),
    )


def icc(ratings: Sequence[Sequence[int]]) -> float | None:
    """ICC(2,1), two-way random effects, absolute agreement, single rater (Shrout and Fleiss 1979), rows being targets.

    None for fewer than two targets or raters, and where it is undefined, as for ratings that are all the same.
    """
    rows, raters = len(ratings), len(ratings[0]) if ratings else 0
    if rows < 2 or raters < 2:
        return None
    mean = sum(map(sum, ratings)) / (rows * raters)
    total = sum((value - mean) ** 2 for row in ratings for value in row)
    between_rows = raters * sum((sum(row) / raters - mean) ** 2 for row in ratings)
    between_raters = rows * sum((sum(column) / rows - mean) ** 2 for column in zip(*ratings, strict=True))
    error = (total - between_rows - between_raters) / ((rows - 1) * (raters - 1))
    row_square, rater_square = between_rows / (rows - 1), between_raters / (raters - 1)
    denominator = row_square + (raters - 1) * error + raters * (rater_square - error) / rows
    return (row_square - error) / denominator if denominator else None


def _smells_by_mean(scores: Sequence[int]) -> bool:
    return sum(scores) < SMELL_BELOW * len(scores)


def _smells_by_median(scores: Sequence[int]) -> bool:
    return twice_median(scores) < 2 * SMELL_BELOW


def _hundredths(scores: Sequence[int]) -> int:
    return round_half_up(10 * sum(scores), len(scores))
