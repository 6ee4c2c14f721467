"""The documents of rubrics that end in labels."""

from typing import Any, Literal

from pydantic import Field

from tdqs_mcp.report.contract.document import Document, Percent, Point
from tdqs_mcp.report.contract.parts import (
    Finding,
    Judge,
    Judgement,
    Jury,
    Reliability,
    Server,
    UngradedTool,
    agreement_of,
    finding_of,
    generated_by,
    judge_of,
    judgements_of,
    jury_of,
    number_of,
    server_of,
    text_of,
    ungraded_tool,
)
from tdqs_mcp.report.contract.scores import ContextSignals
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import labels
from tdqs_mcp.results.labels import Label, LabelScore, SkillScore
from tdqs_mcp.results.verdicts import Ungraded, Verdict
from tdqs_mcp.rubrics.rubric import load


class LabelledTool(Document):
    """One tool under a rubric that ends in a label."""

    name: str
    input_hash: str
    rubric: str
    scores: dict[str, Point]
    justifications: dict[str, Judgement]
    overall: Percent
    label: Label
    smells: list[str] = Field(description="Dimensions below 3")
    smell_names: list[str] = Field(description="The same by the names that the rubric's source gives them")
    improvement_needed: list[str] = Field(description="Dimensions of at most 3, the lowest first")
    flags: list[str]
    server_flags: list[str]
    summary: str
    context_signals: ContextSignals
    judge: Judge
    confidence: float | None
    jury: Jury | None


class Suggestion(Document):
    """What to fix; the lowest priority number comes first."""

    priority: int = Field(ge=1, le=3, description="1 server smells, 2 bundle deficiencies, 3 tools, the worst first")
    tools: list[str]
    message: str


class SkillDocument(Document):
    """A server's skill text under the skill rubric."""

    server: str
    tool_count: int
    rubric: Literal["skill"]
    scores: dict[str, Point]
    justifications: dict[str, Judgement]
    overall: Percent | None
    label: Label | None = Field(description="Null where nothing decides it")
    smells: list[str]
    asks_for_credentials: str | None = Field(description="The words that do; they make the skill Bad by themselves")
    summary: str | None
    ungraded: str | None = Field(description="Why there are no scores")
    judge: Judge
    problems: list[str]
    generated_by: str


class LabelDocument(Document):
    """All tools of a server under a rubric that ends in labels."""

    server: Server
    rubric: str
    tool_count: int
    scored_tool_count: int
    good_tool_count: int
    bad_tool_count: int
    suggestions: list[Suggestion]
    skill: SkillDocument | None
    tools: list[LabelledTool]
    findings: list[Finding]
    ungraded: list[UngradedTool]
    judge: Judge
    agreement: dict[str, Reliability]
    problems: list[str]
    spec_version: str
    generated_by: str


def label_document(score: LabelScore) -> dict[str, Any]:
    """A server's labels as JSON values, checked against the published schema."""
    document = LabelDocument(
        server=server_of(score),
        rubric=score.rubric,
        tool_count=score.tool_count,
        scored_tool_count=len(score.tools),
        good_tool_count=sum(tool.label is Label.GOOD for tool in score.tools),
        bad_tool_count=sum(tool.label is Label.BAD for tool in score.tools),
        suggestions=[
            Suggestion(
                priority=suggestion.band,
                tools=[well_formed(name) for name in suggestion.tools],
                message=well_formed(suggestion.message),
            )
            for suggestion in score.suggestions
        ],
        skill=None if score.skill is None else _skill(score.skill),
        tools=[_labelled(tool, rubric=score.rubric, spec=score.spec_version) for tool in score.tools],
        findings=[finding_of(finding) for finding in score.findings],
        ungraded=[ungraded_tool(tool.name, tool.input_hash, tool.ungraded) for tool in score.ungraded],
        judge=judge_of(score.judge),
        agreement=agreement_of(score),
        problems=[well_formed(problem) for problem in score.problems],
        spec_version=score.spec_version,
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True, exclude_unset=True)


def skill_document(score: SkillScore) -> dict[str, Any]:
    """A skill's score as JSON values, checked against the published schema."""
    return _skill(score).model_dump(mode="json", by_alias=True)


def _labelled(tool: labels.LabelledTool, *, rubric: str, spec: str) -> LabelledTool:
    names = {dimension.key: dimension.smell for dimension in load(rubric).dimensions}
    return LabelledTool(
        name=well_formed(tool.name),
        input_hash=tool.input_hash,
        rubric=rubric,
        scores=tool.scores,
        justifications=judgements_of(tool.judgements),
        overall=tool.overall / 10,
        label=tool.label,
        smells=list(tool.smells),
        smell_names=[names[key] for key in tool.smells if names[key]],
        improvement_needed=list(tool.improvements),
        flags=list(tool.flags),
        server_flags=[],
        summary=well_formed(tool.summary),
        context_signals=ContextSignals.model_validate(tool.signals),
        judge=judge_of(tool.judge),
        confidence=None,
        jury=jury_of(tool.ballots, rubric=rubric, spec=spec),
    )


def _skill(score: SkillScore) -> SkillDocument:
    verdict = score.verdict if isinstance(score.verdict, Verdict) else None
    return SkillDocument(
        server=well_formed(score.server),
        tool_count=score.tool_count,
        rubric="skill",
        scores=verdict.scores if verdict else {},
        justifications=judgements_of(verdict.judgements) if verdict else {},
        overall=number_of(score.overall),
        label=score.label,
        smells=list(score.smells),
        asks_for_credentials=text_of(score.credentials),
        summary=well_formed(verdict.summary) if verdict else None,
        ungraded=well_formed(score.verdict.reason) if isinstance(score.verdict, Ungraded) else None,
        judge=judge_of(score.judge),
        problems=[well_formed(problem) for problem in score.problems],
        generated_by=generated_by(),
    )
