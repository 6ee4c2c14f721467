"""Contents of a registry's store: its statistics, its servers and tools as it has them, and the outcome of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.results.contract import (
    Document,
    Hash,
    Hundredths,
    Inline,
    Key,
    Name,
    Only,
    Percentage,
    Point,
    Tenths,
    Trait,
    Unit,
    published,
)
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.labels import Label
from tdqs_mcp.results.scores import Flag, Percentiles, Rollup, ServerScore, ToolScore
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of

MAX_PROBLEMS = 1_000
"""Problems that the report of a sweep holds."""

PercentHundredths = Annotated[int, Unit(divisor=100, low=0, high=100, says="Percent, with two decimals")]
Dollars = Annotated[int, Unit(divisor=10**9, low=0, says="Dollars")]
MeanScore = Annotated[int, Unit(divisor=100, low=1, high=5, says="A mean score with two decimals")]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodStamp:
    """How scores were made. Only scores of one method compare."""

    rubric: str = "tdqs"
    spec_version: str
    judge: JudgeStamp
    parameters: str = ""
    """A digest of what a model's requests carry besides the prompt; empty for the offline judge."""

    @published(after="")
    def key(self) -> str:
        """Name of the method, as `--method` takes it."""
        return short_hash("\0".join(self.columns.values()))

    @property
    def is_tdqs(self) -> bool:
        """Return whether scores are TDQS; the other rubrics end in labels."""
        return self.rubric == "tdqs"

    @property
    def standard(self) -> str:
        """Return by which specification or rubric."""
        return f"TDQS {self.spec_version}" if self.is_tdqs else f"rubric {self.rubric}"

    @property
    def columns(self) -> dict[str, str]:
        """Parts of the stamp that its key is a digest of."""
        stamp = {name: getattr(self.judge, name) or "" for name in ("version", "model", "calibration", "prompt")}
        columns = {"rubric": self.rubric, "spec": self.spec_version, "judge": self.judge.id, **stamp}
        return {**columns, "parameters": self.parameters}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many, and of all how much."""

    count: int
    share: PercentHundredths | None
    """Null of nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A score over all that have it. A quantile is the lowest score that so many percent do not exceed."""

    count: int
    mean: MeanScore | None
    p25: Tenths | None
    median: Tenths | None
    p75: Tenths | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionStatistics:
    """A dimension over all tools."""

    mean: MeanScore | None
    smells: Share
    """Tools below 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """Scored tools; what has no score is not in any number."""

    tdqs: Distribution
    tiers: Mapping[Tier, Share]
    passing: Share
    """Tier B and above."""

    dimensions: Mapping[str, DimensionStatistics]
    any_smell: Share
    flags: Mapping[Flag, Share]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatistics:
    """Servers by what they score now; each distribution counts the servers that have the score."""

    overall: Annotated[Distribution, Key("overallScore")]
    tiers: Mapping[Tier, Share]
    """Of the overall score."""

    description_quality: Annotated[Distribution, Key("descriptionQualityScore")]
    coherence: Annotated[Distribution, Key("coherenceScore")]
    coherence_dimensions: Mapping[str, MeanScore | None]
    worst_tool_gap: Hundredths | None
    """How far the lowest tool of a server lies below its mean TDQS, on average; of servers with description quality."""

    with_worst_tool: Share
    """Of these servers, those with a tool a point or more below their mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UngradedReason:
    """Why tools, or the coherence of tool sets, have no score."""

    reason: str
    count: int
    server: Name
    """Of the first of them."""

    name: Name
    """Its name; empty for the coherence of its tool set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldScore:
    """A score that is held as suspicious: it counts nowhere until somebody accepts it."""

    server: Name
    name: Name
    score: Tenths
    estimate: Tenths
    """The offline judge's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UngradedStatistics:
    """Tools without a score; each is counted here alone."""

    tools: int
    coherence: int
    """Tool sets whose coherence has no score."""

    held: int
    """Of all these, scores that are held."""

    reasons: tuple[UngradedReason, ...]
    """The most frequent first, 20 at most, without the held ones."""

    held_scores: tuple[HeldScore, ...]
    """Those furthest above their estimate first, 20 at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics(Document):
    """All scores of one method in a store, over the newest capture of every server."""

    method: MethodStamp
    other_methods: tuple[MethodStamp, ...]
    servers: int
    """In the store."""

    scored_servers: Share
    """With an overall score."""

    tools: int
    scored_tools: Share
    current: ToolStatistics
    versions: ToolStatistics
    """The same with the superseded versions of every server's tools, each once."""

    server_scores: ServerStatistics
    ungraded: UngradedStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellFree:
    """Tools without a smell in any of some dimensions."""

    dimensions: tuple[str, ...]
    tools: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainerTest:
    """Official against community servers by one dimension, each server by the median of its tools.

    Mann-Whitney's U test, two-sided, as in arXiv 2602.14878, Table 3; a tool is no unit, because tools of one server
    are alike.
    """

    official: Tenths
    """The median of the servers' medians."""

    community: Tenths
    statistic: float | None
    """U of the official servers; null where scipy is not installed, as the two that follow."""

    p_value: Annotated[float | None, Unit(low=0, high=1)]
    adjusted: Annotated[float | None, Unit(low=0, high=1), Key("bonferroni")]
    """Corrected for all dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStatistics(Document):
    """All scores of one method whose rubric ends in labels, over the newest capture of every server."""

    method: MethodStamp
    servers: int
    """In the store."""

    tools: int
    scored_tools: Share
    dimensions: Mapping[str, DimensionStatistics]
    smell_free: tuple[SmellFree, ...]
    """The first dimension, the first two, and so on (arXiv 2602.14878, Table 2)."""

    official_servers: int
    """With a scored tool, as the community's."""

    community_servers: int
    maintainers: Mapping[str, MaintainerTest]
    """By dimension; empty unless there are servers of both."""

    ungraded: UngradedStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTool:
    """A tool of a server's newest capture with its score, for a registry."""

    server: Name
    is_official: Annotated[bool | None, Key("official")]
    """True if the product's vendor maintains the server; null where the registry says nothing."""

    tool: Name
    input_hash: Hash | None
    scores: Mapping[str, Point] | None
    tdqs: Tenths | None
    """Null where there is no score; `ungraded` says why."""

    tier: Tier | None
    smells: tuple[str, ...]
    flags: tuple[Flag, ...]
    ungraded: str | None
    overall: Annotated[Tenths | None, Key("overallScore")]
    """Of its server."""

    judge: JudgeStamp
    spec_version: str
    definition_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A tool that a query finds."""

    relevance: Percentage
    """Of the best match's relevance."""

    tool: Inline[StoredTool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearch(Document):
    """Tools by a query, the most relevant first."""

    query: str
    method: MethodStamp
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A server whose record or score is another than in the store; a score is null where too few tools have one."""

    server: Name
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

    rubric: str
    method: str
    """Its key, as `--method` takes it."""

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

    gone: int
    """Servers that their registry lists no longer; statistics count them no more."""

    changed: tuple[ServerChange, ...]
    """Of the scored, those whose record or score has changed; the biggest change of a score first."""

    tools: int
    """Of the scored servers."""

    judged: int
    """Of these tools, those that the judge gave a verdict on: the others were known, or have no score."""

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

    cost: Dollars | None
    """What they cost; null where a price is not known."""

    seconds: Annotated[int, Unit(divisor=1000, low=0, says="Seconds, with milliseconds")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStanding:
    """The scores of a server's newest capture."""

    server: Name
    is_official: Annotated[bool | None, Key("official")]
    """True if the product's vendor maintains the server; null where the registry says nothing."""

    tool_count: int
    scored_tool_count: int
    rollup: Annotated[Inline[Rollup], Only("overall overall_tier mean_tdqs min_tdqs description_quality coherence")]


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
class ServerLabels:
    """A server's newest capture under a rubric that ends in labels, by its newest method that has scored it."""

    method: MethodStamp
    good: int
    """Tools without a dimension below 3."""

    bad: int
    label: Label | None
    """The skill's; null where it has none, or the rubric does not score it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredServer(Document):
    """A server of a store with its tools and its captures."""

    method: MethodStamp
    source: str | None
    """The locator where it was captured, without credentials; null for who is not a maintainer."""

    standing: Inline[ServerStanding]
    coherence_scores: Mapping[str, Point | None]
    percentiles: Percentiles | None
    """Among the store's other servers; null without an overall score."""

    tools: tuple[ToolStanding, ...]
    left_at: str | None
    """When its registry was first read without it; null for a listed server."""

    listing: Mapping[str, str] | None
    """Title, version and links as its registry has them; null without a registry."""

    labels: tuple[ServerLabels, ...]
    """By other rubrics, where `sweep --rubric` has scored it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A finished sweep, with the store's statistics at its end."""

    finished_at: str
    servers: int
    tools: int
    """With a score."""

    tdqs: MeanScore | None
    overall: Annotated[MeanScore | None, Key("overallScore")]
    passing: Share
    changed: int | None
    """Servers that were scored anew."""

    requests: int | None
    cost: Dollars | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend(Document):
    """The finished sweeps of one method, the oldest first; the last 200."""

    method: MethodStamp
    runs: tuple[RunSummary, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent(ServerChange):
    """A server that is new, has changed or is gone."""

    kind: Literal["new", "changed", "gone"]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreChanges(Document):
    """Changes of servers since a moment, the latest first."""

    method: MethodStamp
    since: str
    change_count: int
    """All of them, of which the last 1,000 are listed."""

    changes: tuple[ServerEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierChange:
    """Tools whose tier is another by the second method."""

    before: Tier
    after: Tier
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """A tool by two methods."""

    server: Name
    tool: Name
    before: Tenths
    after: Tenths


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodComparison(Document):
    """Two methods on the tools that both have scored."""

    first: MethodStamp
    second: MethodStamp
    tools: int
    same_score: Share
    same_tier: Share
    difference: Hundredths | None
    """Mean of the second TDQS less the first."""

    distance: Hundredths | None
    """Mean of how far they lie apart."""

    dimensions: Mapping[str, Share]
    """Tools with the same score."""

    tier_changes: tuple[TierChange, ...]
    """The most frequent first."""

    biggest: tuple[ScoreDifference, ...]
    """The 20 tools that lie furthest apart."""
