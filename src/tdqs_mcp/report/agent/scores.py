"""What an agent gets of a scored server: its numbers, and its tools in pages."""

from typing import Any

from pydantic import Field

from tdqs_mcp.report.agent.parts import MAX_NAMES, Judge, Page, Tally, Window, judge_of, page_of, problems_of, tally_of
from tdqs_mcp.report.agent.report import GradedTool, Scored, rubric_of, set_details
from tdqs_mcp.report.agent.tools import AnyTool, ToolLine, lines_of
from tdqs_mcp.report.contract.document import Document, Point
from tdqs_mcp.report.contract.parts import number_of, tier_or_none
from tdqs_mcp.report.fence import NOTICE, fence_name
from tdqs_mcp.results.labels import Label, LabelScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tiers import Tier
from tdqs_mcp.results.verdicts import Verdict
from tdqs_mcp.scoring.agreement import disputes, reliabilities


class Agreement(Document):
    """How far the jurors agree."""

    icc: dict[str, float | None] = Field(description="ICC(2,1) by dimension; null where it is undefined")
    too_close: list[str] = Field(description="Tools that got different tiers or labels, 20 at most")


class ScoreAnswer(Page):
    """A server's score, its lowest tools first."""

    notice: str
    server: str
    catalog: str = Field(description="Names this catalog in later calls instead of tools or locator")
    report: str = Field(description="Resource URI of the whole report")
    judge: Judge
    rubric: str
    spec_version: str
    tool_count: int
    scored_tool_count: int
    overall_score: float | None = Field(
        default=None, description="1.0-5.0; null while a part is missing, never guessed; only under rubric tdqs"
    )
    overall_tier: Tier | None = None
    description_quality_score: float | None = None
    coherence_score: float | None = None
    coherence: dict[str, Point] | None = Field(default=None, description="The four scores of the tool set")
    tiers: dict[str, int] | None = Field(default=None, description="Tools by tier")
    labels: dict[str, int] | None = Field(default=None, description="Tools by label, under rubrics smells and bundles")
    jury: Agreement | None = Field(default=None, description="Where a jury judged")
    findings: Tally
    tools: list[ToolLine]
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: reasons for the tool set's scores")
    problems: list[str]
    next: str = Field(description="What to do next")


def score_answer(score: Scored, *, catalog: str, report: str, window: Window, next_step: str) -> ScoreAnswer:
    """The server's numbers and one page of tools: ungraded ones first, then by score, the lowest first."""
    return ScoreAnswer(**score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step))


def score_fields(score: Scored, *, catalog: str, report: str, window: Window, next_step: str) -> dict[str, Any]:
    """The fields of a ScoreAnswer."""
    graded = sorted(_numbered(score), key=lambda pair: (pair[0], pair[1].index))
    lines: list[AnyTool] = [*score.ungraded, *(tool for _, tool in graded)]
    page = lines[window.offset : window.offset + window.limit]
    fields: dict[str, Any] = {
        "notice": NOTICE,
        "server": fence_name(score.server),
        "catalog": catalog,
        "report": report,
        "judge": judge_of(score.judge),
        "rubric": rubric_of(score),
        "spec_version": score.spec_version,
        "tool_count": score.tool_count,
        "scored_tool_count": len(score.tools),
        **(_tier_fields(score) if isinstance(score, ServerScore) else _label_fields(score)),
        "findings": tally_of(score.findings),
        "tools": lines_of(score, page, is_full=window.is_full),
        "problems": problems_of(score.problems),
        "next": next_step,
        **page_of(window, len(lines)),
    }
    if agreement := _agreement(score):
        fields["jury"] = agreement
    if window.is_full and isinstance(score, ServerScore):
        fields["full"] = set_details(score)
    return fields


def _numbered(score: Scored) -> list[tuple[int, GradedTool]]:
    """Every graded tool with the number that ranks it."""
    if isinstance(score, ServerScore):
        return [(tool.tdqs, tool) for tool in score.tools]
    return [(tool.overall, tool) for tool in score.tools]


def _tier_fields(score: ServerScore) -> dict[str, Any]:
    rollup = score.rollup
    verdict = score.coherence if isinstance(score.coherence, Verdict) else None
    return {
        "overall_score": number_of(rollup.overall),
        "overall_tier": tier_or_none(rollup.overall),
        "description_quality_score": number_of(rollup.description_quality),
        "coherence_score": number_of(rollup.coherence),
        "coherence": {key: each.score for key, each in verdict.judgements.items()} if verdict else None,
        "tiers": {tier: count for tier in Tier if (count := sum(each.tier is tier for each in score.tools))},
    }


def _label_fields(score: LabelScore) -> dict[str, Any]:
    return {"labels": {label: count for label in Label if (count := sum(each.label is label for each in score.tools))}}


def _agreement(score: Scored) -> Agreement | None:
    """What the jurors agree on; None without a jury."""
    found = reliabilities(score)
    if not found:
        return None
    icc = {key: None if each.icc is None else float(f"{each.icc:.3f}") for key, each in found.items()}
    close = [fence_name(name) for name, each in disputes(score) if each.is_too_close]
    return Agreement(icc=icc, too_close=close[:MAX_NAMES])
