"""What a plan says: the rewrites that are enough, and what only the author can write where they are not."""

from dataclasses import dataclass

from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.rewrites import Rewrite
from tdqs_mcp.results.scores import Rollup, ToolScore
from tdqs_mcp.results.tiers import Tier
from tdqs_mcp.results.verdicts import JudgeStamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A rewrite that was made and judged."""

    rewrite: Rewrite
    before: ToolScore
    after: ToolScore

    @property
    def tokens_added(self) -> int:
        """An estimate; below 0 where the rewrite saves."""
        return self.rewrite.tokens_after - self.rewrite.tokens_before


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What one dimension of one tool has left to win."""

    dimension: str
    score: int
    """1-4."""

    gain: int
    """Of the tool's TDQS, in hundredths, for each point of the dimension: its weight (TDQS, "Computing the score")."""

    reason: str
    """Why the judge gave no more."""

    finding: Finding | None
    """The worst finding about it, with what to write."""

    @property
    def advice(self) -> str:
        """What to write as far as a rule knows it, else what the judge misses."""
        return self.finding.suggestion or self.finding.message if self.finding else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A tool that no rewrite brings as high as the target needs; its author has to write."""

    tool: ToolScore
    """With the plan's rewrites applied."""

    wanted: int
    """The TDQS that it needs, in tenths."""

    rooms: tuple[Room, ...]
    """The dimensions below 5, the greatest gain first."""

    questions: tuple[str, ...]
    """What the author would answer there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The cheapest rewrites that reach a target, or all that help where none do."""

    server: str
    version: str | None
    source: str | None
    judge: JudgeStamp
    target: int
    """An overall score in tenths."""

    before: Rollup
    after: Rollup
    """Judged again with the rewrites applied, not only predicted."""

    fixes: tuple[Fix, ...]
    """Proven, in catalog order."""

    advice: tuple[Advice, ...]
    """Not proven; empty where the rewrites reach the target. The lowest tool first."""

    problems: tuple[str, ...]
    is_open: bool = False
    """The judge left rewrites without an overall score; what is not reached here may still be within reach."""

    @property
    def is_reached(self) -> bool:
        """Whether the catalog is at its target with the rewrites applied."""
        return (self.after.overall or 0) >= self.target

    @property
    def tokens_added(self) -> int:
        """An estimate over all fixes; below 0 where they save."""
        return sum(fix.tokens_added for fix in self.fixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the server would score with one tool at one height."""

    tdqs: int
    """The tool's, in tenths."""

    tier: Tier
    is_rewrite: bool
    """Its rewrite reaches it; otherwise it is only assumed."""

    overall: int
    """The server's, in tenths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """One tool's part in the server's score."""

    server: str
    judge: JudgeStamp
    tool: ToolScore
    overall: int
    """As it is, in tenths."""

    tokens_added: int
    """By its rewrite."""

    outcomes: tuple[Outcome, ...]
    """The lowest first."""
