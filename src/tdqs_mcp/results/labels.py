"""Results of other rubrics than TDQS: labels of tools and of a skill text, MCP Playground's grade, a review of code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from itertools import groupby
from typing import Annotated, Literal

from tdqs_mcp.results.contract import (
    Document,
    Inline,
    Internal,
    Key,
    Name,
    Only,
    Percentage,
    PercentTenths,
    Point,
    Pointer,
    Probability,
    Unit,
    published,
)
from tdqs_mcp.results.findings import Finding, Location, OfServer, Severity
from tdqs_mcp.results.scores import ContextSignals, DiscoveryStatus, Flag, UngradedTool
from tdqs_mcp.results.tool_code import CodeRemark, RemarkKind
from tdqs_mcp.results.verdicts import Ballot, Judged, Judgement, JudgeStamp, Reliability, Ungraded, Verdict, Votes


class Label(StrEnum):
    """Verdict of a rubric without tiers: Bad where a dimension is below 3 (arXiv 2602.14878; MCPBundles).

    Any other tool is Good. A skill is Good where no dimension needs improvement, which one of 3 does.
    """

    GOOD = "Good"
    ACCEPTABLE = "Acceptable"
    BAD = "Bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledTool(Judged):
    """A tool under a rubric that ends in a label."""

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
        """Return what each juror gave; empty where one judge judged."""
        return self.jury.ballots if self.jury else ()


class Urgency(IntEnum):
    """How urgent a suggestion is; the lowest number comes first (MCPBundles, "How The Verdict Surfaces")."""

    SERVER_SMELL = 1
    BUNDLE_DEFICIENCY = 2
    TOOL_ISSUE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A defect to fix; the lowest priority number comes first."""

    band: Annotated[Urgency, Unit(low=1, high=3), Key("priority")]
    """1 server smells, 2 bundle deficiencies, 3 tools, the worst first."""

    tools: tuple[Name, ...]
    """The names of the tools concerned; empty for the skill."""

    message: str


Average = Annotated[
    int, Unit(divisor=100, low=0, high=2, says="The six scores of the skill as one, 0-2: 1 is 0, 5 is 2")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillScore(Document):
    """A server's skill text under the skill rubric."""

    server: Name
    tool_count: int
    discovery_status: DiscoveryStatus | None = None
    """Why nothing was scored; null where tools were listed."""

    scored_at: str
    """UTC, ISO 8601."""

    rubric: Literal["skill"] = "skill"
    verdict: Internal[Verdict | Ungraded]
    judgements: Annotated[Mapping[str, Judgement], Key("justifications")]
    """By dimension; without a verdict only what the one-tool rule decides."""

    average: Average | None
    """Null without a verdict."""

    label: Label | None
    """Bad if the credentials rule applies; null if neither rule nor judge decides it."""

    smells: tuple[str, ...]
    credentials: Annotated[str | None, Key("asksForCredentials")]
    """The words that have the reader handle credentials, or that the judge holds so; they make the skill Bad."""

    judge: JudgeStamp
    problems: tuple[str, ...] = ()

    @published(after="rubric")
    def scores(self) -> dict[str, Point]:
        """1-5 by dimension; without a verdict only what the one-tool rule decides."""
        return {key: judgement.score for key, judgement in self.judgements.items()}

    @published(after="credentials")
    def summary(self) -> str | None:
        """Null without a verdict."""
        return self.verdict.summary if isinstance(self.verdict, Verdict) else None

    @published(after="summary")
    def ungraded(self) -> str | None:
        """Why there are no scores."""
        return self.verdict.reason if isinstance(self.verdict, Ungraded) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """Tools by label."""

    good: int
    acceptable: int
    """0: the rubric calls every tool Good that is not Bad."""

    bad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityScore:
    """Public part of a listing; all else is detail for the server's maintainers (MCPBundles, "Design Decisions")."""

    label: Label | None
    """The skill's; null where it has none."""

    average: Average | None
    """The skill's; null where it was not judged."""

    tools: LabelCounts
    scored_at: str
    """UTC, ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScore(OfServer, Document):
    """All tools of a server under a rubric that ends in labels, none of which has a number for the server."""

    rubric: str
    scored_at: Internal[str]
    """UTC, ISO 8601."""

    tool_count: int
    discovery_status: DiscoveryStatus | None = None
    """Why there is nothing to score; null where tools were listed."""

    suggestions: Annotated[tuple[Suggestion, ...], Key("actionableSuggestions")]
    """For the maintainers, the most urgent first."""

    skill: SkillScore | None = None
    tools: tuple[LabeledTool, ...]
    findings: tuple[Finding, ...] = ()
    ungraded: tuple[UngradedTool, ...]
    judge: JudgeStamp
    agreement: Mapping[str, Reliability] = field(default_factory=dict)
    """By dimension; empty without a jury."""

    problems: tuple[str, ...]
    spec_version: str
    """Of the context signals; no label depends on it."""

    @published(after="rubric")
    def quality_score(self) -> QualityScore | None:
        """The public part; null under rubric smells, which knows no skill."""
        if self.rubric != "bundles":
            return None
        return QualityScore(
            label=self.skill.label if self.skill else None,
            average=self.skill.average if self.skill else None,
            tools=LabelCounts(good=self.good_tool_count, acceptable=0, bad=self.bad_tool_count),
            scored_at=self.scored_at,
        )

    @property
    def lowest_tools(self) -> list[LabeledTool]:
        """Tools by overall score, the lowest first."""
        return sorted(self.tools, key=lambda tool: (tool.overall, tool.index))

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


class Letter(StrEnum):
    """MCP Playground's grade: A from 90 of 100, B from 75, C from 60, D from 40 (grading methodology)."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def floor(self) -> int:
        """The lowest score with this letter, 0-100."""
        return {"A": 90, "B": 75, "C": 60, "D": 40, "F": 0}[self]


def letter_of(score: int) -> Letter:
    """The letter of a score, 0-100."""
    return next(letter for letter in Letter if score >= letter.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduction:
    """A violation of MCP Playground's rules and what it costs."""

    rule: str
    """Our rule's id."""

    alias: str
    """MCP Playground's id."""

    severity: Severity
    """MCP Playground's severity, which may differ from our rule's."""

    points: Annotated[int, Unit(low=1)]
    subject: Annotated[Location, Only("kind name")]
    """What it is about."""

    message: str
    suggestion: str | None

    @published(after="subject")
    def path(self) -> Pointer:
        """JSON pointer inside the definition."""
        return self.subject.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """How much was listed; null is what was never asked for, so that none of it was judged."""

    tools: int
    resources: int | None
    """Entries of `resources/list`."""

    prompts: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGrade(OfServer, Document):
    """A server's grade by MCP Playground's methodology: 100 less all points, plus the bonus, kept within 0-100."""

    methodology: Literal["mcp-playground"] = "mcp-playground"
    score: Percentage | None
    """Null where nothing that could be judged is known."""

    letter: Letter | None
    bonus: int
    """Points for descriptions of every tool."""

    deductions: tuple[Deduction, ...]
    judged: Listed
    unmeasured: Annotated[tuple[UngradedTool, ...], Only("name reason"), Key("unread")]
    """Tools that could not be read; the score lacks their deductions."""

    problems: tuple[str, ...]

    @property
    def lost(self) -> int:
        """Points of all deductions."""
        return sum(deduction.points for deduction in self.deductions)

    @property
    def by_rule(self) -> list[list[Deduction]]:
        """Deductions of each rule, the costliest rule first."""
        groups = [list(group) for _, group in groupby(self.deductions, key=lambda deduction: deduction.alias)]
        return sorted(groups, key=lambda group: -sum(deduction.points for deduction in group))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinding:
    """A statement of a model about a tool's definition and code. Its quotations are checked, the statement is not."""

    index: Internal[int]
    tool: Name
    remark: Inline[CodeRemark]
    read_by: str
    """Model that has read the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReview(OfServer):
    """Definitions held against their code by a model; its findings are never among those that rules prove."""

    judge: JudgeStamp
    tool_count: int
    reviewed_tool_count: int
    """Tools with an answer that could be used."""

    findings: tuple[ModelFinding, ...]
    ungraded: tuple[UngradedTool, ...]
    """Tools without one."""

    problems: tuple[str, ...] = ()

    def count(self, kind: RemarkKind) -> int:
        """Return the number of findings of a kind."""
        return sum(finding.remark.kind is kind for finding in self.findings)
