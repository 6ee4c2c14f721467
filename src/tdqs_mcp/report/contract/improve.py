"""The JSON contracts of plans and comparisons."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from tdqs_mcp.report.contract.document import Document, Point, Tenths
from tdqs_mcp.report.contract.parts import (
    Judge,
    UngradedTool,
    generated_by,
    judge_of,
    number_of,
    tier_or_none,
    ungraded_of,
)
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import plan as plans
from tdqs_mcp.results.comparison import Comparison, Impact, ToolComparison
from tdqs_mcp.results.findings import Finding, Severity
from tdqs_mcp.results.scores import Rollup, ToolScore
from tdqs_mcp.results.tiers import Tier, tier_of


class Standing(Document):
    """A server's numbers at one time."""

    overall_score: Tenths | None
    overall_tier: Tier | None
    description_quality_score: Tenths | None
    coherence_score: Tenths | None
    mean_tdqs: Tenths | None
    min_tdqs: Tenths | None


class Fix(Document):
    """A proven step: the tool's rewrite was made and judged."""

    index: int = Field(description="Position in the catalog, from 0")
    name: str
    tdqs_before: Tenths
    tdqs_after: Tenths
    tier_after: Tier
    likely: list[Tenths] | None = Field(
        description="Low and high: the middle 80% of what the judge's error leaves open"
    )
    dimensions: dict[str, list[Point]] = Field(description="Score before and after, where they differ")
    tokens_added: int = Field(description="An estimate; below 0 where the rewrite saves")


class Room(Document):
    """A dimension below 5."""

    dimension: str
    score: Point
    gain: float = Field(description="TDQS for each point of this dimension")
    reason: str = Field(description="Why the judge gave no more")
    rule: str | None
    write: str | None = Field(description="What the finding about it suggests")


class Advice(Document):
    """Not proven: a tool that only its author can bring to the wanted TDQS."""

    index: int
    name: str
    tdqs: Tenths = Field(description="With the plan's rewrites applied")
    wanted: Tenths
    likely: list[Tenths] | None
    rooms: list[Room] = Field(description="The greatest gain first")
    questions: list[str]


class PlanDocument(Document):
    """What `plan --format json` prints."""

    server: str
    judge: Judge
    target: Tenths
    reached: bool
    before: Standing
    after: Standing = Field(description="Judged again with the rewrites applied")
    tokens_added: int
    fixes: list[Fix]
    advice: list[Advice]
    problems: list[str]
    generated_by: str


class Outcome(Document):
    """The server with the tool at one height."""

    tdqs: Tenths
    tier: Tier
    is_rewrite: bool = Field(description="Its rewrite reaches it; otherwise it is only assumed")
    overall_score: Tenths
    overall_tier: Tier


class WhatIf(Document):
    """One tool's part in the server's score."""

    server: str
    judge: Judge
    index: int
    name: str
    tdqs: Tenths
    overall_score: Tenths
    tokens_added: int = Field(description="By its rewrite")
    outcomes: list[Outcome]


class WhatIfDocument(Document):
    """What `plan --tool NAME --format json` prints; several entries where several tools have the name."""

    tools: list[WhatIf]
    generated_by: str


class Difference(Document):
    """One difference at one place."""

    impact: Impact
    change: str
    path: str = Field(description="JSON pointer inside the definition; empty for the whole of it")
    message: str


class ToolChange(Document):
    """A tool that is not the same in both versions; null for a version that does not have it."""

    name: str
    index_before: int | None
    index_after: int | None
    tdqs_before: Tenths | None
    tdqs_after: Tenths | None
    tokens_before: int | None
    tokens_after: int | None
    differences: list[Difference]


class FindingLine(Document):
    """A finding that only one version has."""

    part: str
    rule: str
    severity: Severity
    path: str
    message: str


class CompareDocument(Document):
    """What `compare --format json` prints."""

    old: str
    new: str
    judge: Judge
    before: Standing
    after: Standing
    tokens_before: int
    tokens_after: int
    regressions: list[str] = Field(description="What --fail-on-regression fails for; empty where nothing is worse")
    tools: list[ToolChange] = Field(description="Those that differ")
    unchanged_tool_count: int
    findings_added: list[FindingLine]
    findings_fixed: list[FindingLine]
    ungraded_before: list[UngradedTool] = Field(description="Without a score in the old version; coherence has no name")
    ungraded_after: list[UngradedTool]
    problems: list[str]
    generated_by: str


def plan_document(plan: plans.Plan) -> dict[str, Any]:
    """A plan as JSON values, checked against the published schema."""
    return _dumped(
        PlanDocument(
            server=well_formed(plan.server),
            judge=judge_of(plan.judge),
            target=plan.target / 10,
            reached=plan.is_reached,
            before=_standing(plan.before),
            after=_standing(plan.after),
            tokens_added=plan.tokens_added,
            fixes=[_fix(fix) for fix in plan.fixes],
            advice=[_advice(advice) for advice in plan.advice],
            problems=[well_formed(problem) for problem in plan.problems],
            generated_by=generated_by(),
        )
    )


def what_if_document(tools: Sequence[plans.WhatIf]) -> dict[str, Any]:
    """What becomes of the server, as JSON values, checked against the published schema."""
    return _dumped(WhatIfDocument(tools=[_what_if(each) for each in tools], generated_by=generated_by()))


def compare_document(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON values, checked against the published schema."""
    changed = [tool for tool in comparison.tools if tool.differences]
    return _dumped(
        CompareDocument(
            old=well_formed(comparison.old.server),
            new=well_formed(comparison.new.server),
            judge=judge_of(comparison.new.judge),
            before=_standing(comparison.old.rollup),
            after=_standing(comparison.new.rollup),
            tokens_before=comparison.tokens_before,
            tokens_after=comparison.tokens_after,
            regressions=[well_formed(reason) for reason in comparison.regressions],
            tools=[_changed(tool) for tool in changed],
            unchanged_tool_count=len(comparison.tools) - len(changed),
            findings_added=[_finding(finding) for finding in comparison.findings_added],
            findings_fixed=[_finding(finding) for finding in comparison.findings_fixed],
            ungraded_before=ungraded_of(comparison.old),
            ungraded_after=ungraded_of(comparison.new),
            problems=[well_formed(problem) for problem in comparison.old.problems + comparison.new.problems],
            generated_by=generated_by(),
        )
    )


def _dumped(document: Document) -> dict[str, Any]:
    return document.model_dump(mode="json", by_alias=True)


def _fix(fix: plans.Fix) -> Fix:
    scores = {key: [fix.before.judgements[key].score, each.score] for key, each in fix.after.judgements.items()}
    return Fix(
        index=fix.rewrite.index,
        name=well_formed(fix.rewrite.name),
        tdqs_before=fix.before.tdqs / 10,
        tdqs_after=fix.after.tdqs / 10,
        tier_after=fix.after.tier,
        likely=_likely(fix.after),
        dimensions={key: pair for key, pair in scores.items() if pair[0] != pair[1]},
        tokens_added=fix.tokens_added,
    )


def _advice(advice: plans.Advice) -> Advice:
    return Advice(
        index=advice.tool.index,
        name=well_formed(advice.tool.name),
        tdqs=advice.tool.tdqs / 10,
        wanted=advice.wanted / 10,
        likely=_likely(advice.tool),
        rooms=[_room(room) for room in advice.rooms],
        questions=[well_formed(question) for question in advice.questions],
    )


def _room(room: plans.Room) -> Room:
    finding = room.finding
    return Room(
        dimension=room.dimension,
        score=room.score,
        gain=room.gain / 100,
        reason=well_formed(room.reason),
        rule=finding.rule if finding else None,
        write=well_formed(finding.suggestion or finding.message) if finding else None,
    )


def _likely(tool: ToolScore) -> list[float] | None:
    return [tool.outlook.low / 10, tool.outlook.high / 10] if tool.outlook else None


def _what_if(each: plans.WhatIf) -> WhatIf:
    return WhatIf(
        server=well_formed(each.server),
        judge=judge_of(each.judge),
        index=each.tool.index,
        name=well_formed(each.tool.name),
        tdqs=each.tool.tdqs / 10,
        overall_score=each.overall / 10,
        tokens_added=each.tokens_added,
        outcomes=[
            Outcome(
                tdqs=outcome.tdqs / 10,
                tier=outcome.tier,
                is_rewrite=outcome.is_rewrite,
                overall_score=outcome.overall / 10,
                overall_tier=tier_of(outcome.overall),
            )
            for outcome in each.outcomes
        ],
    )


def _changed(tool: ToolComparison) -> ToolChange:
    return ToolChange(
        name=well_formed(tool.name),
        index_before=tool.index_before,
        index_after=tool.index_after,
        tdqs_before=tool.before.tdqs / 10 if tool.before else None,
        tdqs_after=tool.after.tdqs / 10 if tool.after else None,
        tokens_before=tool.tokens_before,
        tokens_after=tool.tokens_after,
        differences=[
            Difference(
                impact=each.impact,
                change=each.change,
                path=well_formed(each.path),
                message=well_formed(each.message),
            )
            for each in tool.differences
        ],
    )


def _finding(finding: Finding) -> FindingLine:
    return FindingLine(
        part=well_formed(finding.subject.label),
        rule=finding.rule,
        severity=finding.severity,
        path=well_formed(finding.subject.path),
        message=well_formed(finding.message),
    )


def _standing(rollup: Rollup) -> Standing:
    return Standing(
        overall_score=number_of(rollup.overall),
        overall_tier=tier_or_none(rollup.overall),
        description_quality_score=number_of(rollup.description_quality),
        coherence_score=number_of(rollup.coherence),
        mean_tdqs=number_of(rollup.mean_tdqs),
        min_tdqs=number_of(rollup.min_tdqs),
    )
