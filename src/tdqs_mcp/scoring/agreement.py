"""How far the jurors of a jury agree: on a dimension over all tools, and on each tool."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.judges.jury import twice_median
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tiers import tier_of
from tdqs_mcp.results.verdicts import Ballot
from tdqs_mcp.rubrics.rubric import Grade, load
from tdqs_mcp.scoring.label_rubrics import label
from tdqs_mcp.scoring.rollup import tdqs
from tdqs_mcp.scoring.score import SMELL_BELOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """What the jurors made of one dimension over all tools; it decides nothing."""

    icc: float | None
    """ICC(2,1), at most 1; None where fewer than two tools have every juror's score, or nobody ever differed."""

    tools: int
    """Tools that every juror scored, which the rest counts."""

    mean: int | None
    """Of all scores, in hundredths; None without a tool."""

    median: int | None
    """Of the tools' medians the mean, in hundredths; None without a tool."""

    smells_by_mean: int
    """Tools whose mean is below 3, the paper's stated rule (section 4.1.4)."""

    smells_by_median: int
    """Tools whose median is below 3, the rule that reproduces the prevalences that the paper reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """What the jurors made of one tool."""

    means: Mapping[str, int]
    """Per dimension, in hundredths."""

    spread: Mapping[str, int]
    """Per dimension, the highest score less the lowest; only where it is not 0."""

    smells_by_mean: tuple[str, ...]
    """Mean below 3: the rule that the paper states (section 4.1.4)."""

    smells_by_median: tuple[str, ...]
    """Median below 3: the rule that reproduces the prevalences that the paper reports."""

    grades: tuple[str, ...]
    """Each juror's own tier or label, in their order, where they gave a verdict."""

    @property
    def is_too_close(self) -> bool:
        """Another jury might have come to another tier or label: the jurors themselves did."""
        return len(set(self.grades)) > 1


def reliabilities(score: ServerScore | LabelScore) -> dict[str, Reliability]:
    """Agreement on each dimension over the tools that all jurors scored; empty without a jury."""
    ballots = [tool.ballots for tool in score.tools if tool.ballots]
    if not ballots:
        return {}
    whole = [each for each in ballots if all(ballot.scores for ballot in each)]
    keys = load(_rubric(score)).keys
    tables = {key: [[ballot.scores[key] for ballot in each] for each in whole] for key in keys}
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


def disputes(score: ServerScore | LabelScore) -> list[tuple[str, Dispute]]:
    """Each tool's name with how its ballots differ; empty without a jury."""
    rubric = _rubric(score)
    found = [(tool.name, dispute(tool.ballots, rubric=rubric, spec=score.spec_version)) for tool in score.tools]
    return [(name, each) for name, each in found if each]


def dispute(ballots: Sequence[Ballot], *, rubric: str, spec: str) -> Dispute | None:
    """How one tool's ballots differ; None where nobody voted."""
    votes = [ballot.scores for ballot in ballots if ballot.scores]
    if not votes:
        return None
    columns = {key: [vote[key] for vote in votes] for key in load(rubric).keys}
    grade = _grader(rubric, spec)
    return Dispute(
        means={key: _hundredths(scores) for key, scores in columns.items()},
        spread={key: max(scores) - min(scores) for key, scores in columns.items() if len(set(scores)) > 1},
        smells_by_mean=tuple(key for key, scores in columns.items() if _smells_by_mean(scores)),
        smells_by_median=tuple(key for key, scores in columns.items() if _smells_by_median(scores)),
        grades=tuple(grade(vote) for vote in votes),
    )


def jurors(score: ServerScore | LabelScore) -> tuple[str, ...]:
    """What those are called who sat on the jury; nobody where one judge judged."""
    ballots = next((tool.ballots for tool in score.tools if tool.ballots), ())
    return tuple(ballot.juror for ballot in ballots)


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


def _rubric(score: ServerScore | LabelScore) -> str:
    return score.rubric if isinstance(score, LabelScore) else "tdqs"


def _grader(rubric: str, spec: str) -> Callable[[Mapping[str, int]], str]:
    rules = load(rubric)
    if rules.grade is Grade.LABEL:
        return label
    return lambda scores: tier_of(tdqs(rules, scores, spec=spec))


def _hundredths(scores: Sequence[int]) -> int:
    return round_half_up(10 * sum(scores), len(scores))
