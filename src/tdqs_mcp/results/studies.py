"""Findings of studies: variants compared over tasks, and what scores predict of a benchmark."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from tdqs_mcp.results.checks import Paired
from tdqs_mcp.results.contract import Document, Internal, Key, Own, Unit

LEVEL = 0.05
"""Significance of the tests, one less the coverage of the intervals."""

Figure = Annotated[float, Unit(digits=4)]
Probability = Annotated[float, Unit(low=0, high=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A difference or slope with its 95 % interval; its errors are robust to clusters."""

    value: Figure
    low: Figure
    high: Figure
    p_value: Internal[Probability]
    """For Holm's correction; where a test compares two variants, its p value counts."""

    clusters: int
    """Groups of observations that may depend on each other; the fewest, where they are grouped in two ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The runs that a figure is about."""

    experiment: str
    model: str | None
    """Null for all models."""

    domain: str | None
    """Null for all domains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Scope):
    """Success of a variant; null where no row says."""

    variant: str
    runs: int
    success: Figure
    """Percent of the runs that succeed."""

    low: Figure | None
    """Lower end of its 95 % interval (Wilson); null where a task occurs more than once, which it does not allow."""

    high: Figure | None
    score: Figure | None
    """Mean share of a run's evaluators that pass."""

    near_misses: int | None
    """Runs that fail although at least 0.8 of their evaluators pass (the paper's Table 6); null without evaluators."""

    steps: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTest:
    """A metric of two variants: the means, their difference and a test."""

    metric: Own
    test: Own
    units: int
    """Pairs, or runs of both variants where they are not paired."""

    before: Figure
    after: Figure
    median_before: Figure
    median_after: Figure
    relative: Figure | None
    """Change of the mean in percent; null from zero."""

    difference: Estimate | None
    """Clustered by task; null where every difference is the same. Success counts in percentage points."""

    p_value: Probability | None
    """Null where a task occurs more than once, which the test does not allow, or nothing differs."""

    adjusted: Annotated[Probability | None, Key("bonferroni")] = None
    """For variants that are not paired: corrected for all such tests of the study."""

    size: Annotated[Figure | None, Key("rankBiserial")] = None
    """-1 where every difference is a loss, 1 where every one is a gain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of two variants on the same tasks."""

    both: int
    only_before: int
    only_after: int
    neither: int
    union: Figure
    """Percent of the pairs in which either variant succeeds: what choosing the better one for each task would reach."""

    phi: Figure | None
    """Signed; null where a variant always or never succeeds."""

    chi_square: Figure | None
    """Pearson's, without continuity correction."""

    p_value: Probability | None
    """Null where a task occurs more than once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Pairs by what more steps bring (the paper's Figure 10)."""

    pairs: int
    """With steps and evaluators of both variants."""

    more_steps: int
    better_score: int
    """Of those with more steps, the ones of which more evaluators pass."""

    success: int
    """Of these, the ones that succeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSummary:
    """Two variants over all cases, each a model with a domain (the paper's Table 5)."""

    experiment: str
    before: str
    after: str
    cases: int
    median: Figure
    """Difference of success in percentage points."""

    improved: Figure
    """Percent of the cases."""

    regressed: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantPair(Scope):
    """Two variants compared."""

    before: str
    after: str
    units: int
    """Pairs, or runs of both variants where they are not paired."""

    without_partner: int
    """Runs of either variant whose task was not run with the other; no test has them."""

    agreement: Agreement | None
    """Null where no task was run with both, so that they are compared as independent groups."""

    funnel: Funnel | None
    tests: tuple[MetricTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CochransQ(Scope):
    """Test of whether any of three or more variants succeeds more often, over the tasks run with all."""

    variants: tuple[str, ...]
    tasks: int
    q: Figure
    p_value: Probability


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint(Scope):
    """A model with a variant: mean evaluator score against mean steps, over the tasks that all points share."""

    model: str
    variant: str
    tasks: int
    score: Figure
    steps: Figure
    is_on_front: Annotated[bool, Key("onFront")]
    """No other point has at least its score for at most its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeStudy(Document):
    """Variants compared over the outcomes of an experiment."""

    runs: int
    summaries: tuple[Summary, ...]
    pairs: tuple[VariantPair, ...]
    cases: tuple[CaseSummary, ...]
    """Where there are at least two."""

    confounded: tuple[Own, ...]
    """Why a difference may be no effect of the descriptions, one sentence each."""

    cochrans_q: tuple[CochransQ, ...]
    front: tuple[FrontPoint, ...]


class Reading(StrEnum):
    """Reading of a predictor's interval."""

    NOTHING = "predicts nothing"
    """The interval excludes an effect of 5 percentage points either way."""

    SOMETHING = "predicts"
    """The interval excludes zero, also after Holm's correction for all predictors."""

    UNSEEN = "no effect seen"
    """The interval holds zero, or excludes it only without Holm's correction; it says how large an effect may be."""

    OPEN = "not measurable here"
    """No interval: the predictor differs between, or within, too few servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Effect of a predictor on an outcome, in percentage points, with the description's length held constant."""

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
    """Predictions of scores and rules for a benchmark's searches and calls."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantShare:
    """Choices of agents that were shown one variant of a server's definitions."""

    server: str | None
    """Null for all servers of an experiment."""

    variant: str
    calls: int
    right: Figure
    """Percent of the calls that are of the right tool."""

    satisfied: Figure
    """Percent of a call's constraints on its arguments that are met, on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceEstimates:
    """Estimates for both outcomes of a choice."""

    name: Own
    right: Estimate | None
    satisfied: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoicePredictor:
    """A rule that fires, a point of a score, or a description twice as long, of the tool that is right."""

    name: Own
    right: Prediction
    """That the right tool is called."""

    satisfied: Prediction
    """Constraints on arguments that are met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceStudy(Document):
    """Choices of agents between variants of servers' definitions, and what scores and rules predict of them."""

    totals: tuple[VariantShare, ...]
    """The variants of the paired experiment over all its servers."""

    change: ChoiceEstimates
    """From the first of these variants to the last, in percentage points, clustered by server."""

    shares: tuple[VariantShare, ...]
    """Every variant of every server: of the paired experiment, then of the one with definitions."""

    servers: int
    """Servers of the experiment with definitions, which the predictors are about."""

    calls: int
    predictors: tuple[ChoicePredictor, ...]
    """A tool compared with itself in the other variants of its server, with the length held constant."""

    checks: tuple[ChoiceEstimates, ...]
    """The effect of a point of TDQS with less data, to see what it rests on."""
