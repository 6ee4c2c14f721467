"""Servers as a store has them, and the outcome of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from tdqs_mcp.results.contract import Document, Hash, Inline, Key, Name, Point, Tenths, Trait, Unit, published
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.scores import Percentiles, ServerScore, ToolScore
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of

MAX_PROBLEMS = 1_000
"""Problems that a report holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A server whose record or score is another than in the store; a score is null where too few tools have one."""

    server: str
    before: Annotated[Tenths | None, Key("overallBefore")]
    after: Annotated[Tenths | None, Key("overallAfter")]

    @property
    def size(self) -> int:
        """In tenths; no score counts as 0."""
        return abs((self.after or 0) - (self.before or 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport(Document):
    """A sweep. All numbers are about this sweep, whatever the store has besides."""

    store: str
    """The file or URL, without a password."""

    judge: JudgeStamp
    spec_version: str
    servers: int
    """Read."""

    unchanged: int
    """Of them, those whose record the store had, scored by this method."""

    scored: int
    """Of them, those that were scored."""

    new: int
    """Of the scored, those that the store had no scores of by this method."""

    changed: tuple[ServerChange, ...]
    """Of the scored, those whose record or score has changed; the biggest change of a score first."""

    tools: int
    """Of the scored servers."""

    asked: int
    """Of these tools, those that the judge was asked about: the others were known by their inputHash."""

    ungraded: int
    """Tools, tool sets and questions about shadow candidates without a verdict; the next sweep asks about them."""

    held: int
    """Of the ungraded, those whose score the guard holds as suspicious."""

    problem_count: int
    problems: tuple[str, ...]
    """What could not be read or scored, one sentence each; the first 1,000."""

    unread: int
    """Inputs that could not be read to their end; the command fails where there is one, or no server was read."""

    requests: int
    """Sent to models."""

    cost: Annotated[int | None, Unit(divisor=10**9, low=0, says="Dollars")]
    """What they cost; null where a price is not known."""

    seconds: Annotated[int, Unit(divisor=1000, low=0, says="Seconds, with milliseconds")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStanding:
    """The scores of a server's newest capture."""

    server: Name
    is_official: Annotated[bool | None, Key("official")]
    """Whether the product's vendor maintains the server; null where the registry says nothing."""

    tool_count: int
    scored_tool_count: int
    overall: Annotated[Tenths | None, Key("overallScore")]
    mean_tdqs: Tenths | None
    min_tdqs: Tenths | None
    description_quality: Annotated[Tenths | None, Key("descriptionQualityScore")]
    coherence: Annotated[Tenths | None, Key("coherenceScore")]

    @published(after="overall", key="overallTier")
    def tier(self) -> Tier | None:
        """The letter of the overall score."""
        return None if self.overall is None else tier_of(self.overall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard(Document):
    """Some servers of a store, in the order that was asked for."""

    method: MethodStamp
    servers: tuple[ServerStanding, ...]
    next: str | None
    """What `after` takes to list those that follow; null at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStanding:
    """The scores of one tool; null where it has none."""

    tool: Name
    index: int
    """Position in the catalog, from 0."""

    input_hash: Hash | None
    scores: Mapping[str, Point] | None
    tdqs: Tenths | None

    @published(after="tdqs")
    def tier(self) -> Tier | None:
        """The letter of the score."""
        return None if self.tdqs is None else tier_of(self.tdqs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerVersion:
    """A capture of a server beside the one before."""

    capture: str
    captured_at: str
    """When a sweep first read it, in UTC."""

    tool_count: int
    overall: Annotated[Tenths | None, Key("overallScore")]
    added: int
    removed: int
    changed: int
    """Tools of the same name with another definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredServer(Document):
    """A server of a store with its tools and its captures."""

    method: MethodStamp
    standing: Inline[ServerStanding]
    coherence_scores: Mapping[str, Point | None]
    percentiles: Percentiles | None
    """Among the store's other servers; null without an overall score."""

    tools: tuple[ToolStanding, ...]
    captures: tuple[ServerVersion, ...]
    """The newest first, 20 at most."""

    score: ServerScore | None = None
    """The whole score with its reasons and findings; null for who is not a maintainer."""

    @property
    def lowest_tools(self) -> list[ToolStanding]:
        """Tools by TDQS, the lowest first, then those without one."""
        return sorted(self.tools, key=lambda tool: (tool.tdqs is None, tool.tdqs or 0, tool.index))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVersion:
    """The scores of a tool since one capture of its server."""

    capture: str
    captured_at: str
    """When a sweep first read it, in UTC."""

    standing: Inline[ToolStanding]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToolHistory(Document):
    """A tool of a server with its scores over time."""

    method: MethodStamp
    server: Name
    standing: Inline[ToolStanding]
    history: tuple[ToolVersion, ...]
    """The newest first; captures that changed neither definition nor scores are left out."""

    score: ToolScore | None = None
    """With reasons and quotations; null for who is not a maintainer, and without a score."""

    ungraded: str | None = None
    """Why there is no score; null for who is not a maintainer."""

    findings: tuple[Finding, ...] | None = None
    """Null for who is not a maintainer."""

    definition: Annotated[Any, Trait.AS_JSON] = None
    """As the server sent it; null for who is not a maintainer."""
