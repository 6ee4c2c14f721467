"""What scoring by the specification gives: tools, then the server made of them, in exact integers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.tiers import Tier
from tdqs_mcp.results.verdicts import (
    Ballot,
    Judged,
    Judgement,
    JudgeStamp,
    Outlook,
    ShadowCandidate,
    ShadowingRisk,
    Ungraded,
    Verdict,
)


class Flag(StrEnum):
    """A categorical defect (TDQS, "Flags and smells"); `Shadowing Risk` is a flag of the pair, kept in serverFlags."""

    NO_DESCRIPTION = "No Description"
    TAUTOLOGICAL_DESCRIPTION = "Tautological Description"
    ANNOTATION_CONTRADICTION = "Annotation Contradiction"
    SHADOWING_RISK = "Shadowing Risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforced:
    """The score with the specification's own rules enforced from facts, published beside it, never in it."""

    scores: Mapping[str, int]
    tdqs: int
    """In tenths."""

    tier: Tier
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScore(Judged):
    """The specification's per-tool result."""

    index: int
    name: str
    input_hash: str
    judgements: Mapping[str, Judgement]
    tdqs: int
    """In tenths, 10-50."""

    tier: Tier
    smells: tuple[str, ...]
    flags: tuple[Flag, ...]
    server_flags: tuple[Flag, ...]
    summary: str
    signals: Mapping[str, object]
    """The context signals under their published names."""

    judge: JudgeStamp
    enforced: Enforced | None = None
    outlook: Outlook | None = None
    """None where the judge does not know its error, or nothing was judged."""

    ballots: tuple[Ballot, ...] = ()
    """What each juror gave, where a jury judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UngradedTool:
    """A tool without a score, and why."""

    index: int
    name: str
    input_hash: str | None
    ungraded: Ungraded


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollup:
    """A server's arithmetic, all in tenths; None where a part is missing, never guessed."""

    mean_tdqs: int | None
    min_tdqs: int | None
    description_quality: int | None
    """None below 80% of the tools scored."""

    coherence: int | None
    overall: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerScore:
    """The specification's per-server result with everything it was made from."""

    server: str
    version: str | None
    source: str | None
    spec_version: str
    judge: JudgeStamp
    tool_count: int
    tools: tuple[ToolScore, ...]
    ungraded: tuple[UngradedTool, ...]
    coherence: Verdict | Ungraded
    rollup: Rollup
    shadow_candidates: tuple[ShadowCandidate, ...]
    shadowing_risks: tuple[ShadowingRisk, ...]
    problems: tuple[str, ...]
    """What went wrong on the way and changed no score, one sentence each."""

    findings: tuple[Finding, ...] = ()
