"""What the rubrics that end in a label give: tools, a skill text, and what to fix first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Annotated, Literal

from tdqs_mcp.results.contract import Document, Internal, Key, Name, PercentTenths, Point, Probability, Unit, published
from tdqs_mcp.results.findings import Finding, OfServer
from tdqs_mcp.results.scores import ContextSignals, Flag, UngradedTool
from tdqs_mcp.results.verdicts import Ballot, Judged, Judgement, JudgeStamp, Reliability, Ungraded, Verdict, Votes


class Label(StrEnum):
    """What a rubric without tiers ends in: Bad where a dimension is below 3 (arXiv 2602.14878; MCPBundles)."""

    GOOD = "Good"
    BAD = "Bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTool(Judged):
    """One tool under a rubric that ends in a label."""

    index: Internal[int]
    name: Name
    input_hash: str
    rubric: str
    judgements: Annotated[Mapping[str, Judgement], Key("justifications")]
    overall: PercentTenths
    """0-100: where the sum of the scores lies between all 1 and all 5."""

    label: Label
    smells: tuple[str, ...]
    """Dimensions below 3."""

    smell_names: tuple[str, ...] = ()
    """The same by the names that the rubric's source gives them."""

    improvements: Annotated[tuple[str, ...], Key("improvementNeeded")]
    """Dimensions of at most 3, the lowest first (arXiv 2602.14878, Appendix A.1)."""

    flags: tuple[Flag, ...]
    server_flags: tuple[Flag, ...] = ()
    summary: str
    signals: Annotated[ContextSignals, Key("contextSignals")]
    judge: JudgeStamp
    confidence: Probability | None = None
    """Null: no judge states its error under these rubrics."""

    jury: Votes | None = None

    @property
    def ballots(self) -> tuple[Ballot, ...]:
        """What each juror gave; empty where one judge judged."""
        return self.jury.ballots if self.jury else ()


class Urgency(IntEnum):
    """How urgent a suggestion is; the lowest number comes first (MCPBundles, "How The Verdict Surfaces")."""

    SERVER_SMELL = 1
    BUNDLE_DEFICIENCY = 2
    TOOL_ISSUE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What to fix; the lowest priority number comes first."""

    band: Annotated[Urgency, Unit(low=1, high=3), Key("priority")]
    """1 server smells, 2 bundle deficiencies, 3 tools, the worst first."""

    tools: tuple[Name, ...]
    """The names of the tools concerned; empty for the skill."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillScore(Document):
    """A server's skill text under the skill rubric."""

    server: Name
    tool_count: int
    rubric: Literal["skill"] = "skill"
    verdict: Internal[Verdict | Ungraded]
    """With the one-tool rule applied."""

    overall: PercentTenths | None
    """0-100; null without a verdict."""

    label: Label | None
    """Bad already by the credentials rule, whoever judges; null where nothing decides it."""

    smells: tuple[str, ...]
    credentials: Annotated[str | None, Key("asksForCredentials")]
    """The words that have the reader handle credentials, or that the judge holds so; they make the skill Bad."""

    judge: JudgeStamp
    problems: tuple[str, ...] = ()

    @published(after="rubric")
    def scores(self) -> dict[str, Point]:
        """1-5 by dimension; empty without a verdict."""
        return self.verdict.scores if isinstance(self.verdict, Verdict) else {}

    @published(after="scores", key="justifications")
    def judgements(self) -> dict[str, Judgement]:
        """By dimension; empty without a verdict."""
        return dict(self.verdict.judgements) if isinstance(self.verdict, Verdict) else {}

    @published(after="credentials")
    def summary(self) -> str | None:
        """Null without a verdict."""
        return self.verdict.summary if isinstance(self.verdict, Verdict) else None

    @published(after="summary")
    def ungraded(self) -> str | None:
        """Why there are no scores."""
        return self.verdict.reason if isinstance(self.verdict, Ungraded) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScore(OfServer, Document):
    """All tools of a server under a rubric that ends in labels, none of which has a number for the server."""

    rubric: str
    tool_count: int
    suggestions: tuple[Suggestion, ...]
    skill: SkillScore | None = None
    tools: tuple[LabelledTool, ...]
    findings: tuple[Finding, ...] = ()
    ungraded: tuple[UngradedTool, ...]
    judge: JudgeStamp
    agreement: Mapping[str, Reliability] = field(default_factory=dict)
    """By dimension; empty without a jury."""

    problems: tuple[str, ...]
    spec_version: str
    """Of the context signals; no label depends on it."""

    @published(after="tool_count")
    def scored_tool_count(self) -> int:
        """Tools with a label."""
        return len(self.tools)

    @published(after="scored_tool_count")
    def good_tool_count(self) -> int:
        """Tools that are Good."""
        return sum(tool.label is Label.GOOD for tool in self.tools)

    @published(after="good_tool_count")
    def bad_tool_count(self) -> int:
        """Tools that are Bad."""
        return len(self.tools) - self.good_tool_count
