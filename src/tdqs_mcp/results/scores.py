"""Scores by the specification: tools, then the server made of them, in exact integers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, NotRequired, TypedDict

from tdqs_mcp.results.contract import (
    ABSENT,
    Absent,
    Document,
    Hash,
    Inline,
    Internal,
    Key,
    Name,
    Percentage,
    Point,
    Probability,
    Tenths,
    published,
)
from tdqs_mcp.results.findings import Finding, OfServer
from tdqs_mcp.results.verdicts import (
    Ballot,
    Judged,
    Judgement,
    JudgeStamp,
    Outlook,
    Reliability,
    ShadowCandidate,
    ShadowingRisk,
    Tier,
    Ungraded,
    Verdict,
    Votes,
    tier_of,
)

UNMEASURED = "none"
"""The judge of a tool that never reached one: it has no name, or it exceeds a measuring limit."""

UNREAD = "could not be read from the code"
"""How the reason of a tool begins whose definition the code computes."""


class Flag(StrEnum):
    """A categorical defect (TDQS, "Flags and smells"); `Shadowing Risk` is a flag of the pair, kept in serverFlags."""

    NO_DESCRIPTION = "No Description"
    TAUTOLOGICAL_DESCRIPTION = "Tautological Description"
    ANNOTATION_CONTRADICTION = "Annotation Contradiction"
    SHADOWING_RISK = "Shadowing Risk"


class DiscoveryStatus(StrEnum):
    """Why no tool of a server is known, so that nothing was scored (MCPBundles, "No scoring on …")."""

    NO_CREDENTIAL = "no_credential"
    """It answers 401 or 403, or ends with the name of a credential's variable that is not set."""

    NO_TOOLS_DISCOVERED = "no_tools_discovered"
    """It lists no tools."""

    UNREACHABLE = "unreachable"
    """It could not be started, reached or listed for any other reason."""


class AnnotationValues(TypedDict):
    """The four hints as declared; null where undeclared or no boolean."""

    readOnly: bool | None
    destructive: bool | None
    idempotent: bool | None
    openWorld: bool | None


class ContextSignals(TypedDict):
    """Stage 1 of TDQS; the last five came with 1.1 and 1.2 and are absent under 1.0."""

    paramCount: int
    requiredParamCount: int
    paramsWithDescriptions: int
    paramsWithEnums: int
    schemaDescriptionCoverage: Percentage
    hasNestedObjects: bool
    hasOutputSchema: bool
    hasAnnotations: bool
    annotationValues: AnnotationValues
    titleIsMeaningful: bool
    inputHash: Hash
    requiredFieldCount: NotRequired[int]
    schemaDepth: NotRequired[int]
    unionChoiceCount: NotRequired[int]
    invocationCost: NotRequired[int]
    definitionBytes: NotRequired[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforced:
    """The score if the specification's rules were enforced from facts; it never changes the published number."""

    scores: Mapping[str, Point]
    tdqs: Tenths
    tier: Tier
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScore(Judged):
    """The specification's per-tool result."""

    index: Internal[int]
    """Position in the catalog, from 0."""

    name: Name
    input_hash: str
    rubric: Literal["tdqs"] = "tdqs"
    judgements: Annotated[Mapping[str, Judgement], Key("justifications")]
    tdqs: Tenths
    tier: Tier
    smells: tuple[str, ...]
    """Dimensions below 3."""

    flags: tuple[Flag, ...]
    server_flags: tuple[Flag, ...]
    summary: str
    signals: Annotated[ContextSignals, Key("contextSignals")]
    judge: JudgeStamp
    outlook: Outlook | None = None
    """Null where the judge does not know its error, or nothing was judged."""

    enforced: Enforced | None = None
    jury: Votes | None = None
    """Null where one judge judged."""

    @property
    def ballots(self) -> tuple[Ballot, ...]:
        """Return what each juror gave; empty where one judge judged."""
        return self.jury.ballots if self.jury else ()

    @published(after="judge")
    def confidence(self) -> Probability | None:
        """Probability of the tier, 0-1; null where the judge states no error."""
        return None if self.outlook is None else self.outlook.tiers[self.tier]

    @property
    def likely(self) -> tuple[Tenths, ...] | None:
        """Low and high: the middle 80% of what the judge's error leaves open."""
        return None if self.outlook is None else (self.outlook.low, self.outlook.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class UngradedTool:
    """A tool without a score, and why. Never a low grade."""

    index: Internal[int]
    name: Name
    """Empty for the coherence of the tool set."""

    input_hash: str | None
    ungraded: Inline[Ungraded]
    decided: Mapping[str, Point] | Absent = ABSENT
    """Dimension scores that hold without a judge: there is one tool."""

    @property
    def label(self) -> str:
        """Its name, or its number for a tool without a name."""
        return self.name or f"tool {self.index + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollup:
    """A server's arithmetic; null where a part is missing, never guessed."""

    mean_tdqs: Tenths | None
    min_tdqs: Tenths | None
    description_quality: Annotated[Tenths | None, Key("descriptionQualityScore")]
    """Null below 80% of the tools scored."""

    coherence: Annotated[Tenths | None, Key("coherenceScore")]
    overall: Annotated[Tenths | None, Key("overallScore")]
    """Of tools and tool set together, 1.0-5.0; null where a part has no score."""

    @published(after="description_quality")
    def description_quality_tier(self) -> Tier | None:
        """The tier of the descriptions."""
        return None if self.description_quality is None else tier_of(self.description_quality)

    @published(after="coherence")
    def coherence_tier(self) -> Tier | None:
        """The tier of the tool set."""
        return None if self.coherence is None else tier_of(self.coherence)

    @published(after="overall")
    def overall_tier(self) -> Tier | None:
        """The server's tier."""
        return None if self.overall is None else tier_of(self.overall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Percent of the known servers that score lower by the same method, rounded down."""

    servers: int
    """The known servers: those that have an overall score."""

    overall: Annotated[Percentage, Key("overallScore")]
    description_quality: Annotated[Percentage | None, Key("descriptionQualityScore")]


STANDING = "overall overall_tier description_quality coherence mean_tdqs min_tdqs"
"""The members of a roll-up that plans and comparisons show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerScore(OfServer, Document):
    """The specification's per-server result with everything it was made from."""

    tool_count: int
    discovery_status: DiscoveryStatus | None = None
    """Why there is nothing to score; null where tools were listed."""

    rollup: Inline[Rollup]
    likely: tuple[Tenths, ...] | None = None
    """Low and high of the overall score: the middle 80% of what the judge's error leaves open; null where it is not
    known."""

    percentiles: Percentiles | None = None
    """Null without known servers that were scored by the same method."""

    coherence: Internal[Verdict | Ungraded]
    shadowing_risks: tuple[ShadowingRisk, ...]
    shadow_candidates: tuple[ShadowCandidate, ...]
    tools: tuple[ToolScore, ...]
    findings: tuple[Finding, ...] = ()
    ungraded: Internal[tuple[UngradedTool, ...]]
    judge: JudgeStamp
    agreement: Mapping[str, Reliability] = field(default_factory=dict)
    """By dimension; empty without a jury."""

    problems: tuple[str, ...]
    """What the numbers do not show, one sentence each: what went wrong on the way, or counts once as it repeats."""

    spec_version: str

    @property
    def rubric(self) -> str:
        """The rubric that the tools are scored by."""
        return "tdqs"

    @property
    def counted(self) -> list[int]:
        """TDQS in tenths as the roll-up counts them: those of the scored tools, then the estimates of held ones."""
        estimates = (tool.ungraded.estimate for tool in self.ungraded)
        return [*(tool.tdqs for tool in self.tools), *(estimate for estimate in estimates if estimate is not None)]

    @property
    def close_tools(self) -> list[ToolScore]:
        """Tools of which no tier is likely enough."""
        return [tool for tool in self.tools if tool.outlook and tool.outlook.is_close]

    @property
    def lowest_tools(self) -> list[ToolScore]:
        """Tools by TDQS, the lowest first."""
        return sorted(self.tools, key=lambda tool: (tool.tdqs, tool.index))

    @published(after="tool_count")
    def scored_tool_count(self) -> int:
        """Tools with a score."""
        return len(self.tools)

    @published(after="description_quality_tier")
    def disambiguation(self) -> Point | None:
        """Distinctness of the tools for an agent; null without a verdict on the tool set."""
        return self._coherence("disambiguation")

    @published(after="disambiguation")
    def naming_consistency(self) -> Point | None:
        """Agreement of the names with one pattern."""
        return self._coherence("naming_consistency")

    @published(after="naming_consistency")
    def tool_count_appropriateness(self) -> Point | None:
        """Fit of the number of tools to the purpose."""
        return self._coherence("tool_count_appropriateness")

    @published(after="tool_count_appropriateness")
    def completeness(self) -> Point | None:
        """Coverage of the server's domain by the tools."""
        return self._coherence("completeness")

    @published(after="overall_tier")
    def coherence_justifications(self) -> dict[str, Judgement]:
        """Empty without a verdict on the tool set."""
        return dict(self.coherence.judgements) if isinstance(self.coherence, Verdict) else {}

    @published(after="coherence_justifications")
    def coherence_summary(self) -> str | None:
        """Null without a verdict on the tool set."""
        return self.coherence.summary if isinstance(self.coherence, Verdict) else None

    @published(after="findings", key="ungraded")
    def unscored(self) -> tuple[UngradedTool, ...]:
        """Tools without a score, then the tool set under an empty name where it has none."""
        if isinstance(self.coherence, Verdict):
            return self.ungraded
        return (*self.ungraded, UngradedTool(index=-1, name="", input_hash=None, ungraded=self.coherence))

    def _coherence(self, dimension: str) -> int | None:
        return self.coherence.scores.get(dimension) if isinstance(self.coherence, Verdict) else None


def lowest_servers(scores: Iterable[ServerScore]) -> list[ServerScore]:
    """Return servers by overall score, the lowest first, then those without one."""
    return sorted(scores, key=lambda score: (score.rollup.overall is None, score.rollup.overall or 0))


def unjudged(score: ServerScore) -> list[tuple[str, str]]:
    """Name and reason of all that the judge failed on, the tool set as `coherence`.

    What nobody can call or measure is a finding, not a failure.
    """
    failed = [(tool.name, tool.ungraded.reason) for tool in score.ungraded if tool.ungraded.judge != UNMEASURED]
    coherence = score.coherence
    if isinstance(coherence, Ungraded) and coherence.was_asked:
        failed.append(("coherence", coherence.reason))
    return failed
