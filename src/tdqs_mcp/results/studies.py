"""What studies find: variants compared over tasks, what scores predict of a benchmark, and tasks for traces."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from tdqs_mcp.results.checks import Paired
from tdqs_mcp.results.contract import Document, Encoded, Key, Name, Own, Unit

LEVEL = 0.05
"""The probability of an error that intervals and tests allow."""

Figure = Annotated[float, Unit(digits=4)]
Chance = Annotated[float, Unit(low=0, high=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A difference or slope with its 95 % interval; its errors are robust to clusters."""

    value: Figure
    low: Figure
    high: Figure
    p_value: Chance
    units: int
    """Observations."""

    clusters: int
    """Groups of observations that may depend on each other; the fewest, where they are grouped in two ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one variant achieves in one scope; null where no row says."""

    experiment: str
    model: str | None
    """Null for all models."""

    domain: str | None
    """Null for all domains."""

    variant: str
    tasks: int
    success: Figure
    """Percent of the runs that succeed."""

    low: Figure
    """Lower end of its 95 % interval (Wilson)."""

    high: Figure
    score: Figure | None
    """Mean share of a run's evaluators that pass."""

    steps: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTest:
    """One metric of two variants: the means, their difference and a test."""

    metric: Own
    test: Own
    units: int
    """Pairs, or runs of both variants where they are not paired."""

    before: Figure
    after: Figure
    difference: Estimate | None
    """Clustered by task; null where every difference is the same. Success counts in percentage points."""

    p_value: Chance | None
    """Null where a task occurs more than once, which the test does not allow, or nothing differs."""

    adjusted: Annotated[Chance | None, Key("bonferroni")] = None
    """For variants that are not paired: corrected for all such tests of the study."""

    size: Annotated[Figure | None, Key("rankBiserial")] = None
    """-1 where every difference is a loss, 1 where every one is a gain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Whether two variants succeed on the same tasks."""

    both: int
    only_before: int
    only_after: int
    neither: int
    phi: Figure | None
    """Signed; null where a variant always or never succeeds."""

    chi_square: Figure | None
    """Pearson's, without continuity correction."""

    p_value: Chance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantPair:
    """Two variants in one scope."""

    experiment: str
    model: str | None
    domain: str | None
    before: str
    after: str
    is_paired: Annotated[bool, Key("paired")]
    """Whether the same tasks were run with both."""

    tasks: int
    alone: Annotated[int, Key("withoutPartner")]
    """Runs of either variant whose task was not run with the other; no test has them."""

    agreement: Agreement | None
    tests: tuple[MetricTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedTest:
    """Cochran's Q: whether any of three or more variants succeeds more often, over the tasks run with all."""

    experiment: str
    model: str | None
    domain: str | None
    variants: tuple[str, ...]
    tasks: int
    q: Figure
    p_value: Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A model with a variant: mean evaluator score against mean steps, over the tasks that all points share."""

    experiment: str
    domain: str | None
    model: str
    variant: str
    tasks: int
    score: Figure
    steps: Figure
    is_on_front: Annotated[bool, Key("onFront")]
    """No other point has at least its score for at most its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The limit that keeps 95 % of the successful runs, and what it saves (the paper, section 6.3)."""

    experiment: str
    model: str
    domain: str | None
    variant: str
    resource: Own
    """`steps` or `tokens`."""

    successes: int
    cap: Figure
    kept: int
    """Successful runs within the cap."""

    saved: Figure
    """Percent of all that is spent, in successful runs and others, which lies above the cap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeStudy(Document):
    """Variants compared over the outcomes of an experiment."""

    runs: int
    summaries: tuple[Summary, ...]
    pairs: tuple[VariantPair, ...]
    matched: tuple[MatchedTest, ...]
    front: tuple[FrontPoint, ...]
    caps: tuple[Cap, ...]


class Reading(StrEnum):
    """What an interval says of a predictor."""

    NOTHING = "predicts nothing"
    """The interval excludes an effect of 5 percentage points either way."""

    SOMETHING = "predicts"
    """The interval excludes zero, also after Holm's correction for all predictors."""

    OPEN = "not measurable here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What one predictor says of an outcome, in percentage points, with the description's length held constant."""

    estimate: Estimate | None
    """Null where it differs between too few servers."""

    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """A rule that fires, a point of a score, or a description twice as long."""

    name: Own
    found: Prediction
    """That the tool is among the first five for a human's words."""

    fails: Prediction
    """That a call to it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkStudy(Document):
    """What scores and rules predict of a benchmark's searches and calls."""

    servers: int
    tools: int
    queries: int
    queried_tools: int
    found: Figure
    """Percent."""

    calls: int
    called_tools: int
    failed: Figure
    """Percent."""

    predictors: tuple[Predictor, ...]
    rewritten: Paired | None
    """The same searches after our offline rewrites; found among the first five."""

    problems: tuple[str, ...]


class TaskKind(StrEnum):
    """What a task is expected to do with its tool."""

    WORKS = "works"
    FAILS = "fails"
    EDGE = "edge"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTask:
    """A request that makes an agent call a tool, with a call that answers it."""

    tool: Name
    kind: TaskKind
    task: str
    arguments: Encoded
    expects: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TasklessTool:
    """A tool without tasks, and why."""

    tool: Name
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet(Document):
    """Tasks for the tools of a server, to record traces with."""

    server: Name
    model: str
    tasks: tuple[ToolTask, ...]
    without: tuple[TasklessTool, ...]
