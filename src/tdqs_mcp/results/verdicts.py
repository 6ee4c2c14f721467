"""What a judge says of a definition, a server or a pair of tools: a verdict, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass

from tdqs_mcp.results.tiers import Tier

HOST = "host"
"""The judge that is the calling agent itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStamp:
    """Who judged, so that two numbers are compared only when they are comparable."""

    id: str
    version: str
    model: str | None = None
    calibration: str | None = None
    prompt: str | None = None
    """Which bytes a model got, "hardened" or "exact"; None for a judge that reads no prompt, or somebody else's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One dimension's integer score, 1-5, and why."""

    score: int
    justification: str
    evidence: tuple[str, ...] = ()
    """Substrings of the definition that the justification rests on."""

    unverified: tuple[str, ...] = ()
    """What the judge quotes although the definition does not hold it."""


class Judged:
    """What has a judgement of every dimension of its rubric."""

    __slots__ = ()
    judgements: Mapping[str, Judgement]

    @property
    def scores(self) -> dict[str, int]:
        """1-5 by dimension, in the rubric's order."""
        return {key: judgement.score for key, judgement in self.judgements.items()}


CLOSE = 60
"""Percent below which the likeliest tier is too close to call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a judge's own error leaves open: where the score would lie if the labels' judge had given it."""

    low: int
    high: int
    """The middle 80% of the likely scores, in tenths."""

    tiers: Mapping[Tier, int]
    """Percent for each tier that a score can have."""

    @property
    def is_close(self) -> bool:
        """Too close to call: no tier is likely enough."""
        return max(self.tiers.values()) < CLOSE

    @property
    def likeliest(self) -> tuple[Tier, Tier]:
        """The two likeliest tiers, the likelier first."""
        first, second, *_ = sorted(self.tiers, key=lambda tier: (-self.tiers[tier], tier))
        return first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCandidate:
    """A tool and the dearest sibling that is much cheaper to call (TDQS 1.1, shadow prefilter)."""

    index: int
    """The dearer tool's position in the catalog."""

    tool: str
    invocation_cost: int
    cheaper_sibling: str
    cheaper_sibling_invocation_cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowingRisk:
    """A candidate pair whose purposes a judge found to overlap."""

    candidate: ShadowCandidate
    justification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """One juror's scores for one case, or why there are none."""

    judge: JudgeStamp
    juror: str
    """What the juror is called: by its profile, else by its model."""

    scores: Mapping[str, int]
    """Empty where the juror gave no verdict."""

    contradiction: bool = False
    reason: str | None = None
    """Why there is no verdict."""


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

    ballots: tuple[Ballot, ...] = ()
    """What each juror gave, where a jury judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungraded:
    """The judge gave no verdict. Never a low grade: a broken judge says nothing about the tool."""

    judge: str
    reason: str
    was_asked: bool = True
    """False where no answer was ever wanted or handed in: nothing has failed."""
