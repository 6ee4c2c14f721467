"""What the rubrics that end in a label give: tools, a skill text, and what to fix first."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.scores import Flag, UngradedTool
from tdqs_mcp.results.verdicts import Ballot, Judged, Judgement, JudgeStamp, Ungraded, Verdict


class Label(StrEnum):
    """What a rubric without tiers ends in: Bad where a dimension is below 3 (arXiv 2602.14878; MCPBundles)."""

    GOOD = "Good"
    BAD = "Bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTool(Judged):
    """One tool under a rubric that ends in a label."""

    index: int
    name: str
    input_hash: str
    judgements: Mapping[str, Judgement]
    overall: int
    """In tenths of a percent, 0-1000: where the sum of the scores lies between all 1 and all 5."""

    label: Label
    smells: tuple[str, ...]
    """Dimensions below 3."""

    improvements: tuple[str, ...]
    """Dimensions of at most 3, the lowest first (arXiv 2602.14878, Appendix A.1)."""

    flags: tuple[Flag, ...]
    summary: str
    signals: Mapping[str, object]
    judge: JudgeStamp
    ballots: tuple[Ballot, ...] = ()


class Band(IntEnum):
    """How urgent a suggestion is; the lowest number comes first (MCPBundles, "How The Verdict Surfaces")."""

    SERVER_SMELL = 1
    BUNDLE_DEFICIENCY = 2
    TOOL_ISSUE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What to fix, in which order of urgency."""

    band: Band
    tools: tuple[str, ...]
    """The names of the tools concerned; empty for the skill."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillScore:
    """A server's skill text under the skill rubric."""

    server: str
    tool_count: int
    judge: JudgeStamp
    verdict: Verdict | Ungraded
    """With the one-tool rule applied."""

    overall: int | None
    """In tenths of a percent; None without a verdict."""

    label: Label | None
    """Bad already by the credentials rule, whoever judges; None where nothing decides it."""

    smells: tuple[str, ...]
    credentials: str | None
    """The words that have the reader handle credentials, or that the judge holds so."""

    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScore:
    """All tools of a server under a rubric that ends in labels, none of which has a number for the server."""

    rubric: str
    server: str
    version: str | None
    source: str | None
    spec_version: str
    """Of the context signals; no label depends on it."""

    judge: JudgeStamp
    tool_count: int
    tools: tuple[LabelledTool, ...]
    ungraded: tuple[UngradedTool, ...]
    suggestions: tuple[Suggestion, ...]
    problems: tuple[str, ...]
    skill: SkillScore | None = None
    findings: tuple[Finding, ...] = ()
