"""How far the jurors of a jury agree: on a dimension over all tools, and on each tool."""

from collections.abc import Callable, Mapping, Sequence

from tdqs_mcp.canonical import round_half_up, twice_median
from tdqs_mcp.results.verdicts import Ballot, Reliability, Votes, tier_of
from tdqs_mcp.rubrics.rubric import Grade, load
from tdqs_mcp.scoring.rollup import SMELL_BELOW, label, tdqs


def reliabilities(tools: Sequence[Sequence[Ballot]], *, rubric: str) -> dict[str, Reliability]:
    """Agreement on each dimension over the tools that all jurors scored; empty without a jury."""
    ballots = [each for each in tools if each]
    if not ballots:
        return {}
    whole = [each for each in ballots if all(ballot.scores for ballot in each)]
    tables = {key: [[ballot.scores[key] for ballot in each] for each in whole] for key in load(rubric).keys}
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
    columns = {key: [vote[key] for vote in votes] for key in load(rubric).keys}
    grade = _grader(rubric, spec)
    return Votes(
        ballots=tuple(ballots),
        means={key: _hundredths(scores) for key, scores in columns.items()},
        spread={key: max(scores) - min(scores) for key, scores in columns.items() if len(set(scores)) > 1},
        smells_by_mean=tuple(key for key, scores in columns.items() if _smells_by_mean(scores)),
        smells_by_median=tuple(key for key, scores in columns.items() if _smells_by_median(scores)),
        grades=tuple(grade(vote) for vote in votes),
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


def _grader(rubric: str, spec: str) -> Callable[[Mapping[str, int]], str]:
    rules = load(rubric)
    if rules.grade is Grade.LABEL:
        return label
    return lambda scores: tier_of(tdqs(rules, scores, spec=spec))


def _hundredths(scores: Sequence[int]) -> int:
    return round_half_up(10 * sum(scores), len(scores))
