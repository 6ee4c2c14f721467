"""Scores for an agent, also of its own judgement: the server's numbers and its tools in pages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Annotated, Any, ClassVar, TypeAlias

from tdqs_mcp.report.agent_page import (
    JUDGE,
    MAX_MESSAGE,
    MAX_NAMES,
    SEVERITIES,
    CatalogPage,
    Problems,
    SeverityCounts,
    Window,
    first_problems,
    page_of,
    within_budget,
)
from tdqs_mcp.report.escape import NOTICE, fence_name
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.results.contract import (
    ABSENT,
    Absent,
    Encoded,
    Inline,
    Key,
    Max,
    Name,
    Only,
    Own,
    PercentTenths,
    Point,
    Tenths,
)
from tdqs_mcp.results.findings import Finding, by_tool, tally
from tdqs_mcp.results.labels import Label, LabeledTool, LabelScore, QualityScore, Suggestion
from tdqs_mcp.results.scores import DiscoveryStatus, Flag, Percentiles, Rollup, ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.scoring.score import dimension_means, first_fixes

Scored: TypeAlias = ServerScore | LabelScore
GradedTool: TypeAlias = ToolScore | LabeledTool
AnyTool: TypeAlias = GradedTool | UngradedTool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolGrade:
    """The result of a tool's scores: a TDQS, or a label under rubrics smells and bundles."""

    tdqs: Tenths | Absent | None = ABSENT
    """1.0-5.0; null for an ungraded tool."""

    tier: Tier | Absent | None = ABSENT
    """A, the best, to F."""

    label: Label | Absent | None = ABSENT
    """Under rubrics smells and bundles, in place of the tier."""

    overall: PercentTenths | Absent | None = ABSENT
    """0-100, in place of tdqs."""

    weakest: str | None
    """Dimension with the lowest score."""

    ungraded: str | Absent = ABSENT
    """Why there is no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """A definition's score and what to fix in it."""

    LISTED: ClassVar = "tdqs tier findings next"

    grade: Inline[ToolGrade]
    notice: Own = NOTICE
    catalog: str
    """Names the definition and its siblings in later calls."""

    name: Name
    input_hash: str | None
    score: Annotated[Inline[Scored], Only(f"judge({JUDGE}) rubric spec_version")]
    scores: Mapping[str, Point]
    """Dimension scores."""

    why: str | None
    """The judge's reason for the lowest score."""

    flags: tuple[Flag, ...]
    findings: Annotated[tuple[Finding, ...], Only("rule severity dimension path message suggestion")]
    """By place: rule, severity, path, message, suggestion."""

    full: Encoded | Absent = ABSENT
    """With detail=full: reasons, evidence and signals."""

    next: Own
    """The next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAnswer(CatalogPage):
    """A server's score, its lowest tools first."""

    LISTED: ClassVar = "catalog overall overall_tier tools next_offset next"

    report: str
    """Resource URI of the whole report."""

    score: Annotated[Inline[Scored], Only(f"judge({JUDGE}) rubric spec_version tool_count scored_tool_count")]
    rollup: Annotated[
        Inline[Rollup | Absent], Only("overall overall_tier description_quality coherence=coherenceScore")
    ] = ABSENT
    """Only under rubric tdqs."""

    percentiles: Percentiles | Absent | None = ABSENT
    """Percent of the known servers that score lower by the same method; null where none is known."""

    coherence: Mapping[str, Point] | Absent | None = ABSENT
    """The four scores of the tool set."""

    tiers: Mapping[Tier, int] | Absent = ABSENT
    """Tools by tier."""

    labels: Mapping[Label, int] | Absent = ABSENT
    """Tools by label, under rubrics smells and bundles."""

    discovery_status: DiscoveryStatus | Absent = ABSENT
    """Where there is no tool to score."""

    quality_score: QualityScore | Absent = ABSENT
    """Under rubric bundles, what a public listing shows; all else is for the maintainers."""

    suggestions: Annotated[tuple[Suggestion, ...] | Absent, Key("actionableSuggestions"), Max(MAX_MESSAGE)] = ABSENT
    """Under rubrics smells and bundles, the most urgent first, 20 at most."""

    jury: Encoded | Absent = ABSENT
    """Where a jury judged: ICC(2,1) by dimension, and tools that got different tiers or labels, 20 at most."""

    findings: SeverityCounts
    tools: tuple[Encoded, ...]
    """The lowest first: name, tdqs, tier, weakest, fix."""

    full: Encoded | Absent = ABSENT
    """With detail=full: reasons for the tool set's scores."""

    problems: Problems
    next: Own
    """The next call."""


def report_document(score: Scored) -> dict[str, Any]:
    """Return the whole report for an agent."""
    return {"notice": NOTICE, **answer(score)}


def score_answer(
    score: Scored, *, catalog: str, report: str, window: Window, next_step: str, has_card: bool = False
) -> ScoreAnswer:
    """The server's numbers and one page of tools: ungraded ones first, then by score, the lowest first."""
    fields = _score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step)
    means = dimension_means(score.rubric, score.tools) if has_card else ()
    card = {"means": [{"title": dimension.title, "mean": mean} for dimension, mean in means]}
    return ScoreAnswer(**fields, card=card if has_card else None)


def _score_fields(score: Scored, *, catalog: str, report: str, window: Window, next_step: str) -> dict[str, Any]:
    """The fields of a ScoreAnswer."""
    graded: Iterable[GradedTool] = score.tools
    numbers = [(tool.tdqs if isinstance(tool, ToolScore) else tool.overall, tool.index, tool) for tool in graded]
    lines: list[AnyTool] = [*score.ungraded, *(tool for *_, tool in sorted(numbers, key=itemgetter(0, 1)))]
    page = lines[window.offset : window.offset + window.limit]
    shown = within_budget(_lines(score, page, is_full=window.is_full))
    fields: dict[str, Any] = {
        "server": score.server,
        "catalog": catalog,
        "report": report,
        "score": score,
        "discovery_status": score.discovery_status or ABSENT,
        **_results(score),
        "findings": tally(score.findings),
        "tools": shown,
        "problems": first_problems(score.problems),
        "next": next_step,
        **page_of(replace(window, limit=len(shown) or window.limit), len(lines)),
    }
    if score.agreement:
        icc = {
            dimension: None if reliability.icc is None else float(f"{reliability.icc:.3f}")
            for dimension, reliability in score.agreement.items()
        }
        close = [tool.name for tool in graded if tool.jury and tool.jury.too_close]
        fields["jury"] = {"icc": icc, "tooClose": list(map(fence_name, close[:MAX_NAMES]))}
    if window.is_full and isinstance(score, ServerScore):
        parts = "coherence_justifications coherence_summary shadowing_risks shadow_candidates"
        fields["full"] = answer(score, only=parts)
    return fields


def tool_answer(score: Scored, *, catalog: str, index: int, is_full: bool, next_step: str) -> ToolAnswer:
    """Return one tool of a scored catalog."""
    tools: list[AnyTool] = [*score.tools, *score.ungraded]
    tool = next(tool for tool in tools if tool.index == index)
    graded = None if isinstance(tool, UngradedTool) else tool
    grade = _grade(score, tool)
    return ToolAnswer(
        grade=grade,
        catalog=catalog,
        name=tool.name,
        input_hash=graded.input_hash if graded else None,
        score=score,
        scores=graded.scores if graded else {},
        why=graded.judgements[grade.weakest].justification if graded and grade.weakest else None,
        flags=graded.flags if graded else (),
        findings=tuple(finding for finding in score.findings if finding.tool_index == index),
        full=_details(score, graded) if graded and is_full else ABSENT,
        next=Own(next_step),
    )


def _results(score: Scored) -> dict[str, Any]:
    """Return the numbers of the server, and how many tools have each tier or label."""
    if isinstance(score, LabelScore):
        labels = Counter(tool.label for tool in score.tools)
        return {
            "labels": {label: labels[label] for label in Label if labels[label]},
            "quality_score": score.quality_score or ABSENT,
            "suggestions": score.suggestions[:MAX_NAMES],
        }
    tiers = Counter(tool.tier for tool in score.tools)
    return {
        "rollup": score.rollup,
        "percentiles": score.percentiles,
        "coherence": {key: justification.score for key, justification in score.coherence_justifications.items()}
        or None,
        "tiers": {tier: tiers[tier] for tier in Tier if tiers[tier]},
    }


def _lines(score: Scored, page: Sequence[AnyTool], *, is_full: bool) -> Iterator[Encoded]:
    """Yield a page of tools, each with the finding to begin with; with all scores and reasons if it is full."""
    findings = by_tool(score.findings)
    fixes = _fixes(score, page, findings)
    for tool in page:
        fix = fixes.get(tool.index)
        has_details = is_full and not isinstance(tool, UngradedTool)
        yield {
            **answer(_grade(score, tool), limit=MAX_MESSAGE),
            "index": tool.index,
            "name": fence_name(tool.name),
            "findings": answer(tally(findings.get(tool.index, [])), only=SEVERITIES),
            "fix": answer(fix, only="rule message suggestion", limit=MAX_MESSAGE) if fix else None,
            **({"full": _details(score, tool)} if has_details else {}),
        }


def _fixes(
    score: Scored, page: Sequence[AnyTool], by_tool: Mapping[int | None, Sequence[Finding]]
) -> dict[int, Finding]:
    """The finding to begin with, by the tool's index: the costliest, or the worst where no dimension has a weight."""
    if isinstance(score, ServerScore):
        scored = tuple(tool for tool in page if isinstance(tool, ToolScore))
        return {fix.tool.index: fix.finding for fix in first_fixes(replace(score, tools=scored), len(scored))}
    labeled = [tool.index for tool in page if isinstance(tool, LabeledTool) and tool.index in by_tool]
    return {index: max(by_tool[index], key=lambda finding: finding.severity.rank) for index in labeled}


def _details(score: Scored, tool: AnyTool) -> Encoded:
    """Return one tool's entry in the whole report, and its findings."""
    findings = [answer(finding) for finding in score.findings if finding.tool_index == tool.index]
    return {**answer(tool), "findings": findings}


def _grade(score: Scored, tool: AnyTool) -> ToolGrade:
    """Return the result of a tool's scores under this rubric; an ungraded tool has the rubric's keys too."""
    if isinstance(tool, ToolScore):
        return ToolGrade(tdqs=tool.tdqs, tier=tool.tier, weakest=_weakest(tool))
    if isinstance(tool, LabeledTool):
        return ToolGrade(label=tool.label, overall=tool.overall, weakest=_weakest(tool))
    reason = tool.ungraded.reason
    if isinstance(score, ServerScore):
        return ToolGrade(tdqs=None, tier=None, weakest=None, ungraded=reason)
    return ToolGrade(label=None, overall=None, weakest=None, ungraded=reason)


def _weakest(tool: GradedTool) -> str:
    return min(tool.judgements, key=lambda key: tool.judgements[key].score)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatus:
    """The result of handing in one answer."""

    name: Name
    refused: str | None = None
    """Why it was not accepted."""

    doubts: tuple[str, ...] = ()
    """Statements in it that its definition does not support: quotations, contradictions of the facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementAnswer(ScoreAnswer):
    """How far the judgement is, and the score so far."""

    LISTED: ClassVar = "overall refused missing coherence_missing next"

    accepted: int
    """Answers taken in this call."""

    refused: Annotated[tuple[AnswerStatus, ...], Only("name refused=reason")]
    """Name and reason: correct these and send them again."""

    unverified: Annotated[tuple[AnswerStatus, ...], Only("name doubts")]
    """Answers taken in this call that you should check."""

    missing_count: int
    missing: tuple[Name, ...]
    """Tools without an answer of yours, 20 at most."""

    coherence_missing: bool | Absent = ABSENT
    """Only under rubric tdqs."""

    skill_missing: bool | Absent = ABSENT
    """Only under rubric bundles, where the server has instructions."""


def judgement_answer(
    score: Scored,
    *,
    catalog: str,
    report: str,
    next_step: str,
    replies: Sequence[AnswerStatus],
    missing: Sequence[str],
    is_coherence_missing: bool | None,
    is_skill_missing: bool | None,
) -> JudgementAnswer:
    """The score so far, and what is still missing from it; None where no set or no skill is judged."""
    return JudgementAnswer(
        **_score_fields(score, catalog=catalog, report=report, window=Window(), next_step=next_step),
        accepted=sum(reply.refused is None for reply in replies),
        refused=tuple(reply for reply in replies if reply.refused is not None),
        unverified=tuple(reply for reply in replies if reply.doubts),
        missing_count=len(missing),
        missing=tuple(missing[:MAX_NAMES]),
        coherence_missing=ABSENT if is_coherence_missing is None else is_coherence_missing,
        skill_missing=ABSENT if is_skill_missing is None else is_skill_missing,
    )
