"""Plans and comparisons: which rewrites reach a target, and what changed between two versions."""

from dataclasses import dataclass
from enum import StrEnum
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
    Pointer,
    Tenths,
    published,
)
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.rewrites import Rewrite
from tdqs_mcp.results.scores import STANDING, Rollup, ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFix:
    """A step that is checked: the tool's rewrite was made and judged."""

    rewrite: Annotated[Inline[Rewrite], Only("index name")]
    before: Annotated[Inline[ToolScore], Only("tdqs=tdqsBefore")]
    after: Annotated[Inline[ToolScore], Only("tdqs=tdqsAfter tier=tierAfter likely")]

    @published(after="likely")
    def dimensions(self) -> dict[str, tuple[Point, ...]]:
        """Score before and after, where they differ."""
        before, after = self.before.scores, self.after.scores
        return {key: (before[key], score) for key, score in after.items() if before[key] != score}

    @published(after="dimensions")
    def tokens_added(self) -> int:
        """An estimate; below 0 where the rewrite saves."""
        return self.rewrite.tokens_after - self.rewrite.tokens_before


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
        """What that finding suggests."""
        return self.finding.suggestion or self.finding.message if self.finding else None

    @property
    def advice(self) -> str:
        """What to write as far as a rule knows it, else what the judge misses."""
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

    questions: tuple[str, ...]
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
    """Judged again with the rewrites applied, not only predicted."""

    fixes: tuple[PlannedFix, ...]
    """Checked, in catalog order."""

    advice: tuple[Advice, ...]
    """Not checked; empty where the rewrites reach the target. The lowest tool first."""

    problems: tuple[str, ...]
    is_open: Internal[bool] = False
    """The judge left rewrites without an overall score; what is not reached here may still be within reach."""

    @published(after="target", key="reached")
    def is_reached(self) -> bool:
        """Whether the catalog is at its target with the rewrites applied."""
        return (self.after.overall or 0) >= self.target

    @published(after="after")
    def tokens_added(self) -> int:
        """An estimate over all fixes; below 0 where they save."""
        return sum(fix.tokens_added for fix in self.fixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfOutcome:
    """What the server would score with one tool at one height."""

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
    """One tool's part in the server's score."""

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


class Impact(StrEnum):
    """What a difference means for callers of the tool, the worst first."""

    BREAKING = "breaking"
    DANGEROUS = "dangerous"
    """A call may now do what its annotations ruled out."""

    COMPATIBLE = "compatible"
    WORDING = "wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference at one place."""

    impact: Impact
    change: str
    """The kind of change, such as `removed-parameter`."""

    path: Pointer
    """JSON pointer inside the definition; empty for the whole of it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolComparison:
    """One tool in both versions; null for a version without the tool or without its score."""

    name: Name
    """The new name; the old one of a tool that is gone."""

    index_before: int | None
    index_after: int | None
    before: Annotated[Inline[ToolScore | None], Only("tdqs=tdqsBefore")]
    after: Annotated[Inline[ToolScore | None], Only("tdqs=tdqsAfter")]
    tokens_before: int | None
    """An estimate; null also for a definition that cannot be measured."""

    tokens_after: int | None
    differences: tuple[Difference, ...]
    """Empty where the definitions are the same."""


_LINE = Only("part rule severity path message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Document):
    """Two versions of a catalog."""

    old: Annotated[Inline[ServerScore], Only("server=old")]
    new: Annotated[Inline[ServerScore], Only("server=new judge")]
    regressions: tuple[str, ...]
    """What --fail-on-regression fails for, one sentence each; empty where nothing is worse."""

    tools: Internal[tuple[ToolComparison, ...]]
    """The new catalog's in its order, then those that are gone."""

    findings_added: Annotated[tuple[Finding, ...], _LINE]
    findings_fixed: Annotated[tuple[Finding, ...], _LINE]

    @published(after="judge", key="before")
    def standing_before(self) -> Annotated[Rollup, Only(STANDING)]:
        """The old version's numbers."""
        return self.old.rollup

    @published(after="standing_before", key="after")
    def standing_after(self) -> Annotated[Rollup, Only(STANDING)]:
        """The new version's numbers."""
        return self.new.rollup

    @published(after="standing_after")
    def tokens_before(self) -> int:
        """An estimate for all definitions of the old version that can be measured."""
        return sum(tool.tokens_before or 0 for tool in self.tools)

    @published(after="tokens_before")
    def tokens_after(self) -> int:
        """The same for the new version."""
        return sum(tool.tokens_after or 0 for tool in self.tools)

    @published(after="regressions", key="tools")
    def changed(self) -> tuple[ToolComparison, ...]:
        """Tools that are not the same in both versions."""
        return tuple(tool for tool in self.tools if tool.differences)

    @published(after="changed")
    def unchanged_tool_count(self) -> int:
        """Tools that are the same in both versions."""
        return len(self.tools) - len(self.changed)

    @published(after="findings_fixed")
    def ungraded_before(self) -> tuple[UngradedTool, ...]:
        """Without a score in the old version; coherence has no name."""
        return self.old.unscored

    @published(after="ungraded_before")
    def ungraded_after(self) -> tuple[UngradedTool, ...]:
        """The same for the new version."""
        return self.new.unscored

    @published(after="ungraded_after")
    def problems(self) -> tuple[str, ...]:
        """What went wrong with either version and changed no score."""
        return self.old.problems + self.new.problems
