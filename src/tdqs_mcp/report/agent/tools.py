"""What an agent gets of a scored tool: a line among others, or all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic import Field

from tdqs_mcp.report.agent.parts import MAX_MESSAGE, FindingLine, Judge, Tally, finding_line, judge_of, tally_of
from tdqs_mcp.report.agent.report import GradedTool, Scored, rubric_of, tool_details
from tdqs_mcp.report.contract.document import Document, Point
from tdqs_mcp.report.fence import NOTICE, fence, fence_name
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.labels import Label, LabelledTool
from tdqs_mcp.results.scores import ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.tiers import Tier
from tdqs_mcp.scoring.score import first_fixes

AnyTool: TypeAlias = GradedTool | UngradedTool

LABEL = "Under rubrics smells and bundles, in place of the tier"
OVERALL = "0-100, in place of tdqs"


class Fix(Document):
    """The finding to begin with."""

    rule: str
    message: str
    suggestion: str | None


class ToolLine(Document):
    """One tool in a few words."""

    index: int = Field(description="Position in the catalog: the identity that duplicate names leave")
    name: str
    tdqs: float | None = Field(default=None, description="1.0-5.0; null when nobody graded it")
    tier: Tier | None = None
    label: Label | None = Field(default=None, description=LABEL)
    overall: float | None = Field(default=None, description=OVERALL)
    weakest: str | None = Field(description="Dimension with the lowest score")
    findings: Tally
    fix: Fix | None = Field(description="What to fix first")
    ungraded: str | None = Field(default=None, description="Why there is no score")
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: all scores, reasons and findings")


class ToolAnswer(Document):
    """One definition's score and what to fix in it."""

    notice: str
    name: str
    input_hash: str | None
    judge: Judge
    rubric: str
    spec_version: str
    tdqs: float | None = Field(default=None, description="1.0-5.0; null when it could not be graded")
    tier: Tier | None = None
    label: Label | None = Field(default=None, description=LABEL)
    overall: float | None = Field(default=None, description=OVERALL)
    scores: dict[str, Point] = Field(description="Dimension scores")
    weakest: str | None = Field(description="Dimension with the lowest score")
    why: str | None = Field(description="The judge's reason for the lowest score")
    flags: list[str]
    findings: list[FindingLine]
    ungraded: str | None = Field(default=None, description="Why there is no score")
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: reasons, evidence and signals")
    next: str = Field(description="What to do next")


def tool_answer(score: Scored, *, index: int, is_full: bool, next_step: str) -> ToolAnswer:
    """One tool of a scored catalog."""
    tool = next((each for each in score.tools if each.index == index), None)
    ungraded = next((each for each in score.ungraded if each.index == index), None)
    fields: dict[str, Any] = {
        "notice": NOTICE,
        "name": fence_name(tool.name if tool else ungraded.name if ungraded else ""),
        "input_hash": tool.input_hash if tool else None,
        "judge": judge_of(score.judge),
        "rubric": rubric_of(score),
        "spec_version": score.spec_version,
        **_numbers_of(score, tool),
        "scores": {key: judgement.score for key, judgement in tool.judgements.items()} if tool else {},
        "weakest": _weakest(tool) if tool else None,
        "why": fence(tool.judgements[_weakest(tool)].justification) if tool else None,
        "flags": list(tool.flags) if tool else [],
        "findings": [finding_line(each, with_tool=False) for each in score.findings if each.tool_index == index],
        "next": next_step,
    }
    if ungraded:
        fields["ungraded"] = fence(ungraded.ungraded.reason)
    if tool and is_full:
        fields["full"] = tool_details(score, tool)
    return ToolAnswer(**fields)


def lines_of(score: Scored, page: Sequence[AnyTool], *, is_full: bool) -> list[ToolLine]:
    """A page of tools, each with the finding to begin with."""
    by_tool: dict[int | None, list[Finding]] = {}
    for finding in score.findings:
        by_tool.setdefault(finding.tool_index, []).append(finding)
    fixes = _fixes(score, page, by_tool)
    return [
        _line(score, tool, by_tool.get(tool.index, []), fix=fixes.get(tool.index), is_full=is_full) for tool in page
    ]


def _fixes(
    score: Scored, page: Sequence[AnyTool], by_tool: Mapping[int | None, Sequence[Finding]]
) -> dict[int, Finding]:
    """The finding to begin with, by the tool's index: the costliest, or the worst where no dimension has a weight."""
    if isinstance(score, ServerScore):
        shown = tuple(tool for tool in page if isinstance(tool, ToolScore))
        return {fix.tool.index: fix.finding for fix in first_fixes(replace(score, tools=shown), len(shown))}
    labelled = [tool.index for tool in page if isinstance(tool, LabelledTool) and tool.index in by_tool]
    return {index: max(by_tool[index], key=lambda finding: finding.severity.rank) for index in labelled}


def _line(
    score: Scored,
    tool: AnyTool,
    findings: Sequence[Finding],
    *,
    fix: Finding | None,
    is_full: bool,
) -> ToolLine:
    fields: dict[str, Any] = {"index": tool.index, "name": fence_name(tool.name), "findings": tally_of(findings)}
    if isinstance(tool, UngradedTool):
        why = fence(tool.ungraded.reason, limit=MAX_MESSAGE)
        return ToolLine(**_numbers_of(score, None), weakest=None, fix=None, ungraded=why, **fields)
    if is_full:
        fields["full"] = tool_details(score, tool)
    return ToolLine(
        **_numbers_of(score, tool), weakest=_weakest(tool), fix=None if fix is None else _fix(fix), **fields
    )


def _fix(finding: Finding) -> Fix:
    return Fix(
        rule=finding.rule,
        message=fence(finding.message, limit=MAX_MESSAGE),
        suggestion=None if finding.suggestion is None else fence(finding.suggestion, limit=MAX_MESSAGE),
    )


def _numbers_of(score: Scored, tool: GradedTool | None) -> dict[str, Any]:
    """What a tool's scores end in under this rubric."""
    if isinstance(tool, LabelledTool):
        return {"label": tool.label, "overall": tool.overall / 10}
    if tool is not None:
        return {"tdqs": tool.tdqs / 10, "tier": tool.tier}
    return {"tdqs": None, "tier": None} if isinstance(score, ServerScore) else {"label": None, "overall": None}


def _weakest(tool: GradedTool) -> str:
    return min(tool.judgements, key=lambda key: tool.judgements[key].score)
