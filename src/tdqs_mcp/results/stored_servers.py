"""What a dashboard says of a store's servers and tools: the scores to everybody, all behind them to maintainers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from tdqs_mcp.results.contract import Document, Hash, Inline, Key, Name, Point, Tenths, Trait, published
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.scores import Percentiles, ServerScore, ToolScore
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.results.verdicts import Tier, tier_of


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
    """One capture of a server beside the one before."""

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
    """One server of a store with its tools and its captures."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVersion:
    """The scores of a tool since one capture of its server."""

    capture: str
    captured_at: str
    """When a sweep first read it, in UTC."""

    standing: Inline[ToolStanding]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToolHistory(Document):
    """One tool of a server with its scores over time."""

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
