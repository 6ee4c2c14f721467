"""Plans of which rewrites reach a target, and what one better tool would bring."""

from dataclasses import dataclass
from typing import Annotated

from tdqs_mcp.results.contract import (
    Document,
    Hundredths,
    Inline,
    Internal,
    Key,
    Name,
    Only,
    Point,
    Tenths,
    published,
)
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import Gain, Question, Rewrite
from tdqs_mcp.results.scores import STANDING, Rollup, ToolScore
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFix:
    """A rewrite that was made and judged."""

    rewrite: Annotated[Inline[Rewrite], Only("index name")]
    before: Annotated[Inline[ToolScore], Only("tdqs=tdqsBefore")]
    after: Annotated[Inline[ToolScore], Only("tdqs=tdqsAfter tier=tierAfter likely")]
    gain: Gain | None = None
    """Null for a judge whose error in changes is not known."""

    @published(after="gain")
    def dimensions(self) -> dict[str, tuple[Point, ...]]:
        """Score before and after, where they differ."""
        before, after = self.before.scores, self.after.scores
        return {key: (before[key], score) for key, score in after.items() if before[key] != score}

    @published(after="dimensions")
    def tokens_added(self) -> int:
        """An estimate; below 0 where the rewrite saves."""
        return self.rewrite.tokens_added


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A dimension below 5."""

    dimension: str
    score: Point
    gain: Hundredths
    """TDQS for each point of this dimension: its weight (TDQS, "Computing the score")."""

    reason: str
    """Why the judge gave no more."""

    finding: Internal[Finding | None]
    """The worst finding about it, with what to write."""

    @published(after="reason")
    def rule(self) -> str | None:
        """The rule of the worst finding about it."""
        return self.finding.rule if self.finding else None

    @published(after="rule")
    def write(self) -> str | None:
        """Return what that finding suggests."""
        return self.finding.suggestion or self.finding.message if self.finding else None

    @property
    def advice(self) -> str:
        """Return what to write as far as a rule knows it, else what the judge misses."""
        return self.write or self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A tool that no rewrite brings as high as the target needs; its author has to write."""

    tool: Annotated[Inline[ToolScore], Only("index name tdqs")]
    """With the plan's rewrites applied."""

    wanted: Tenths
    """The TDQS that it needs."""

    rooms: tuple[Room, ...]
    """The greatest gain first."""

    questions: tuple[Question, ...]
    """What the author would answer there."""

    @published(after="wanted")
    def likely(self) -> tuple[Tenths, ...] | None:
        """Low and high: the middle 80% of what the judge's error leaves open."""
        return self.tool.likely


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Document):
    """The cheapest rewrites that reach a target, or all that help where none do."""

    server: Name
    version: Internal[str | None]
    source: Internal[str | None]
    judge: JudgeStamp
    target: Tenths
    """An overall score."""

    before: Annotated[Rollup, Only(STANDING)]
    after: Annotated[Rollup, Only(STANDING)]
    """Judged again with the rewrites applied."""

    fixes: tuple[PlannedFix, ...]
    """The most expected gain per token first."""

    advice: tuple[Advice, ...]
    """What only the author can write; empty where the rewrites reach the target. The lowest tool first."""

    problems: tuple[str, ...]
    with_answers: Internal[Tenths | None] = None
    """Overall score in tenths if the questions were answered too, at most; null where nothing is to be written."""

    is_open: Internal[bool] = False
    """The judge left rewrites without an overall score; what is not reached here may still be within reach."""

    @published(after="judge", key="estimated")
    def is_estimated(self) -> bool:
        """Return whether all scores are the offline judge's estimates, which prove nothing."""
        return self.judge.is_offline

    @published(after="target", key="reached")
    def is_reached(self) -> bool:
        """Return whether the catalog is at its target with the rewrites applied, by this judge."""
        return (self.after.overall or 0) >= self.target

    @published(after="after")
    def tokens_added(self) -> int:
        """An estimate over all fixes; below 0 where they save."""
        return sum(fix.tokens_added for fix in self.fixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOutcome:
    """Score of the server with one tool at one height."""

    tdqs: Tenths
    """The tool's."""

    tier: Tier
    is_rewrite: bool
    """Its rewrite reaches it; otherwise it is only assumed."""

    overall: Annotated[Tenths, Key("overallScore")]
    """The server's."""

    @published(after="overall")
    def overall_tier(self) -> Tier:
        """The server's."""
        return tier_of(self.overall)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """A tool's part in the server's score."""

    server: Name
    judge: JudgeStamp
    tool: Annotated[Inline[ToolScore], Only("index name tdqs")]
    overall: Annotated[Tenths, Key("overallScore")]
    """As it is."""

    tokens_added: int
    """By its rewrite."""

    outcomes: tuple[WhatIfOutcome, ...]
    """The lowest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfReport(Document):
    """The server's score for better versions of one tool; several entries if several tools have the name."""

    tools: tuple[WhatIf, ...]
