"""Answers of a judge about a definition, a server or a pair of tools: a verdict, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated

from tdqs_mcp.results.contract import (
    ABSENT,
    Absent,
    Hundredths,
    Inline,
    Internal,
    Max,
    Name,
    Point,
    Probability,
    Tenths,
    Unit,
    published,
)
from tdqs_mcp.results.tool_code import CodeRemark


class Tier(StrEnum):
    """The letter of a score: A from 3.5, B from 3.0 (passing), C from 2.0, D from 1.0 (TDQS, "Tiers")."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def better(self) -> "Tier | None":
        """The next better tier."""
        return None if self is Tier.A else list(Tier)[list(Tier).index(self) - 1]

    @property
    def floor(self) -> int:
        """The lowest score of the tier, in tenths."""
        return _FLOORS[self]


_FLOORS = {Tier.A: 35, Tier.B: 30, Tier.C: 20, Tier.D: 10, Tier.F: 0}


@cache
def tier_of(tenths: int) -> Tier:
    """The tier of a score in tenths; a long page asks for hundreds."""
    return next(tier for tier in Tier if tenths >= tier.floor)


HOST = "host"
"""The judge that is the calling agent itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStamp:
    """Who judged. Compare only numbers with equal stamps."""

    id: str
    version: str
    model: Annotated[str | None, Max(100)] = None
    calibration: str | None = None
    prompt: str | None = None
    """What a model got: hardened or exact (as published); null without a prompt or for another program's prompt."""

    @property
    def label(self) -> str:
        """The judge and its model, as `--judge` takes them."""
        return f"{self.id}:{self.model}" if self.model else self.id

    @property
    def is_offline(self) -> bool:
        """Return whether the offline judge judged, which asks no model."""
        return self.id == "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Somebody has read a definition and believes a held score; None stands for any part, definition or judge."""

    part: str | None = None
    """`tool:NAME`, `coherence` or `skill`: a tool of the name coherence is no tool set."""

    input_hash: str | None = None
    judge: str | None = None
    """The judge's label."""

    reason: str = ""

    def covers(self, part: str, input_hash: str, judge: JudgeStamp) -> bool:
        """Return whether it speaks of this definition by this judge: a changed definition is no longer accepted."""
        pairs = ((self.part, part), (self.input_hash, input_hash), (self.judge, judge.label))
        return all(expected in (None, actual) for expected, actual in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateCheck:
    """A model's score beside the offline judge's estimate of the same definition."""

    score: Tenths
    estimate: Tenths
    bound: Annotated[int, Unit(divisor=10)]
    """What the score may lie above the estimate."""

    @property
    def is_too_high(self) -> bool:
        """Above what is believed unseen."""
        return self.score > self.estimate + self.bound

    @property
    def is_too_low(self) -> bool:
        """As far below: it is published, and reported."""
        return self.score < self.estimate - self.bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A dimension's integer score, 1-5, and why."""

    score: Point
    justification: str
    evidence: tuple[str, ...] = ()
    """Substrings of the definition that the justification rests on."""

    unverified: tuple[str, ...] = ()
    """What the judge quotes although the definition does not hold it."""


class Judged:
    """A verdict with a judgement of every dimension of its rubric."""

    __slots__ = ()
    judgements: Mapping[str, Judgement]

    @published(after="rubric")
    def scores(self) -> dict[str, Point]:
        """1-5 by dimension, in the rubric's order."""
        return {key: judgement.score for key, judgement in self.judgements.items()}

    @property
    def weakest(self) -> str:
        """Dimension with the lowest score."""
        return min(self.scores, key=self.scores.__getitem__)


CLOSE = 60
"""Percent below which the likeliest tier is too close to call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Range that a judge's own error leaves open: where the score would lie if the labels' judge had given it."""

    low: Tenths
    high: Tenths
    """low and high: the middle 80% of the likely scores."""

    tiers: Mapping[Tier, Probability]
    """Probability of every tier, 0-1."""

    @published(after="tiers", key="tooCloseToCall")
    def is_close(self) -> bool:
        """No tier is likely enough."""
        return max(self.tiers.values()) < CLOSE

    @property
    def likeliest(self) -> tuple[Tier, Tier]:
        """The two likeliest tiers, the likelier first."""
        first, second, *_ = sorted(self.tiers, key=lambda tier: (-self.tiers[tier], tier))
        return first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCandidate:
    """A tool and its most expensive sibling that is still much cheaper to call (TDQS 1.1, shadow prefilter)."""

    index: Internal[int]
    """The more expensive tool's position in the catalog."""

    tool: Name
    invocation_cost: int
    cheaper_sibling: Name
    cheaper_sibling_invocation_cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowingRisk:
    """A candidate pair whose purposes a judge found to overlap."""

    candidate: Inline[ShadowCandidate]
    justification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """A juror's scores of one case, or why there are none."""

    juror: str
    """What the juror is called: by its profile, else by its model."""

    judge: JudgeStamp
    scores: Mapping[str, Point]
    """Empty where this juror gave no verdict."""

    contradiction: Internal[bool] = False
    reason: str | None = None
    """Why there is no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """How the jurors voted on one tool; the tool's `scores` are their medians, halves upward."""

    ballots: tuple[Ballot, ...]
    means: Mapping[str, Hundredths]
    """Per dimension, with two decimals."""

    spread: Mapping[str, int]
    """Per dimension, the highest score less the lowest; only where it is not 0."""

    smells_by_mean: tuple[str, ...]
    """Dimensions whose mean is below 3: the rule that the paper states (section 4.1.4)."""

    smells_by_median: tuple[str, ...]
    """Dimensions whose median is below 3: the rule that reproduces the prevalences that the paper reports."""

    grades: tuple[str, ...]
    """The tier or label by each juror's scores alone."""

    @published(after="grades")
    def too_close(self) -> bool:
        """The jurors' own tiers or labels differ: too close to call."""
        return len(set(self.grades)) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Agreement of the jurors on one dimension over all tools; it decides nothing."""

    icc: float | None
    """ICC(2,1), absolute agreement of single raters; null where fewer than two tools have every juror's score."""

    tools: int
    """Tools that every juror scored."""

    mean: Hundredths | None
    """Mean of all their scores; null without such a tool."""

    median: Hundredths | None
    """Mean of the tools' medians."""

    smells_by_mean: int
    """Tools whose mean is below 3."""

    smells_by_median: int
    """Tools whose median is below 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Judged):
    """A judge's answer that satisfied its rubric's contract."""

    judgements: Mapping[str, Judgement]
    summary: str
    contradiction: bool = False
    """The judge holds that the description contradicts the annotations; only tools can."""

    outlook: Outlook | None = None
    """None where the judge does not know its error."""

    asks_for_credentials: bool = False
    """The judge holds that the text has its reader handle credentials; only skills are asked about."""

    risks: tuple[ShadowingRisk, ...] = ()
    """The confirmed pairs, where the question was about shadow candidates: there are no scores then."""

    remarks: tuple[CodeRemark, ...] = ()
    """Findings under the code rubric: there are no scores then."""

    ballots: tuple[Ballot, ...] = ()
    """What each juror gave, where a jury judged."""

    label: str | None = None
    """What the judge itself calls the tool, where a rubric asks; it is only held against the scores."""

    check: EstimateCheck | None = None
    """The offline estimate beside it; None where a verdict has not been checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungraded:
    """The judge gave no verdict. Never a low grade: a broken judge says nothing about the tool."""

    judge: str
    reason: str
    was_asked: Internal[bool] = True
    """False where no answer was ever wanted or handed in: nothing has failed."""

    fault: Internal[str] = ""
    """What was wrong with the model's answer, which was paid for; empty where there was none."""

    held: EstimateCheck | Absent = ABSENT
    """Both numbers of a score that is held as suspicious: until somebody accepts it, the estimate counts."""

    @property
    def estimate(self) -> int | None:
        """Return what counts in place of a held score, in tenths; None where the judge gave none."""
        return self.held.estimate if isinstance(self.held, EstimateCheck) else None
