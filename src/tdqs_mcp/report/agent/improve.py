"""What an agent gets of plans and comparisons: short, in pages, every word of a definition fenced as data."""

from collections import Counter

from pydantic import Field

from tdqs_mcp.report.agent.parts import MAX_MESSAGE, Judge, Window, judge_of, page_of
from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.contract.parts import number_of, tier_or_none
from tdqs_mcp.report.fence import NOTICE, fence, fence_name
from tdqs_mcp.report.words import unjudged_lines
from tdqs_mcp.results import comparison as comparisons
from tdqs_mcp.results import plan as plans
from tdqs_mcp.results.comparison import Comparison, Impact
from tdqs_mcp.results.findings import Finding, Severity
from tdqs_mcp.results.scores import Rollup
from tdqs_mcp.results.tiers import Tier

MAX_FINDINGS = 10
"""New findings that are listed, the worst first."""

MAX_ROOMS = 2
"""Dimensions named for one tool."""

MAX_QUESTIONS = 2


class Overall(Document):
    """A server's number."""

    score: float | None = Field(description="1.0-5.0; null while a part is missing")
    tier: Tier | None


class Step(Document):
    """One tool to improve."""

    index: int = Field(description="Position in the catalog")
    name: str
    proven: bool = Field(description="true: suggest_rewrite gives this result; false: only the author can write it")
    tdqs: float
    becomes: float = Field(description="TDQS by the rewrite; of a step that is not proven, what it has to reach")
    tokens_added: int | None = Field(description="An estimate; null for a step that is not proven")
    write: list[str] = Field(description="What to write, for the dimensions with the most to win")
    questions: list[str] = Field(description="What only the author can answer")


class PlanAnswer(Document):
    """The cheapest way to a target."""

    notice: str
    server: str
    catalog: str = Field(description="Names this catalog in later calls instead of tools or locator")
    judge: Judge
    target: float
    reached: bool = Field(description="Whether the proven steps are enough")
    before: Overall
    after: Overall = Field(description="Judged again with the proven steps applied")
    tokens_added: int
    proven: int = Field(description="Proven steps, which come first")
    steps: list[Step]
    offset: int = Field(description="Where this page starts")
    total: int = Field(description="Steps on all pages")
    next_offset: int | None = Field(description="offset of the next page; null on the last one")
    next: str = Field(description="What to do next")


class Change(Document):
    """One difference."""

    tool: str
    impact: Impact
    change: str
    path: str = Field(description="JSON pointer inside the definition")
    message: str


class NewFinding(Document):
    """A defect that the old version did not have."""

    part: str
    rule: str
    severity: Severity
    message: str


class Height(Document):
    """A tool whose score moved."""

    name: str
    before: float
    after: float


class CompareAnswer(Document):
    """Two versions held against each other."""

    notice: str
    old: str
    new: str
    judge: Judge
    worse: bool = Field(description="Whether anything is a regression")
    before: Overall
    after: Overall
    tokens_before: int
    tokens_after: int
    impacts: dict[str, int] = Field(description="Differences by what they mean for a caller")
    changes: list[Change] = Field(description="What breaks callers first, wording last")
    scores: list[Height] = Field(description="Tools whose TDQS moved, 10 at most, the greatest fall first")
    new_findings: list[NewFinding] = Field(description="10 at most, the worst first")
    new_finding_count: int
    fixed_finding_count: int
    ungraded: list[str] = Field(description="What the judge failed on, and why: 10 reasons at most")
    offset: int = Field(description="Where this page of changes starts")
    total: int = Field(description="Changes on all pages")
    next_offset: int | None = Field(description="offset of the next page; null on the last one")
    next: str = Field(description="What to do next")


def plan_answer(plan: plans.Plan, *, catalog: str, window: Window, next_step: str) -> PlanAnswer:
    """One page of steps, the proven ones first."""
    steps: list[plans.Fix | plans.Advice] = [*plan.fixes, *plan.advice]
    page = steps[window.offset : window.offset + window.limit]
    return PlanAnswer(
        notice=NOTICE,
        server=fence_name(plan.server),
        catalog=catalog,
        judge=judge_of(plan.judge),
        target=plan.target / 10,
        reached=plan.is_reached,
        before=_overall(plan.before),
        after=_overall(plan.after),
        tokens_added=plan.tokens_added,
        proven=len(plan.fixes),
        steps=[_fix(step) if isinstance(step, plans.Fix) else _advice(step) for step in page],
        next=next_step,
        **page_of(window, len(steps)),
    )


def compare_answer(comparison: Comparison, *, window: Window, next_step: str) -> CompareAnswer:
    """The numbers of both versions and one page of their differences."""
    rank = list(Impact).index
    changes = [(tool.name, each) for tool in comparison.tools for each in tool.differences]
    changes.sort(key=lambda change: rank(change[1].impact))
    worst = sorted(comparison.findings_added, key=lambda finding: -finding.severity.rank)
    return CompareAnswer(
        notice=NOTICE,
        old=fence_name(comparison.old.server),
        new=fence_name(comparison.new.server),
        judge=judge_of(comparison.new.judge),
        worse=bool(comparison.regressions),
        before=_overall(comparison.old.rollup),
        after=_overall(comparison.new.rollup),
        tokens_before=comparison.tokens_before,
        tokens_after=comparison.tokens_after,
        impacts=dict(Counter(each.impact.value for _, each in changes)),
        changes=[_change(*change) for change in changes[window.offset : window.offset + window.limit]],
        scores=_heights(comparison),
        new_findings=[_finding(finding) for finding in worst[:MAX_FINDINGS]],
        new_finding_count=len(worst),
        fixed_finding_count=len(comparison.findings_fixed),
        ungraded=[fence(line) for line in unjudged_lines(comparison)[:MAX_FINDINGS]],
        next=next_step,
        **page_of(window, len(changes)),
    )


def _fix(fix: plans.Fix) -> Step:
    return Step(
        index=fix.rewrite.index,
        name=fence_name(fix.rewrite.name),
        proven=True,
        tdqs=fix.before.tdqs / 10,
        becomes=fix.after.tdqs / 10,
        tokens_added=fix.tokens_added,
        write=[],
        questions=[],
    )


def _advice(advice: plans.Advice) -> Step:
    return Step(
        index=advice.tool.index,
        name=fence_name(advice.tool.name),
        proven=False,
        tdqs=advice.tool.tdqs / 10,
        becomes=advice.wanted / 10,
        tokens_added=None,
        write=[fence(f"{room.dimension}: {room.advice}", limit=MAX_MESSAGE) for room in advice.rooms[:MAX_ROOMS]],
        questions=[fence(question, limit=MAX_MESSAGE) for question in advice.questions[:MAX_QUESTIONS]],
    )


def _change(tool: str, difference: comparisons.Difference) -> Change:
    return Change(
        tool=fence_name(tool),
        impact=difference.impact,
        change=difference.change,
        path=fence(difference.path, limit=MAX_MESSAGE),
        message=fence(difference.message, limit=MAX_MESSAGE),
    )


def _heights(comparison: Comparison) -> list[Height]:
    moved = [
        (tool.after.tdqs - tool.before.tdqs, tool.name, tool.before.tdqs, tool.after.tdqs)
        for tool in comparison.tools
        if tool.before and tool.after and tool.before.tdqs != tool.after.tdqs
    ]
    return [
        Height(name=fence_name(name), before=before / 10, after=after / 10)
        for _, name, before, after in sorted(moved)[:MAX_FINDINGS]
    ]


def _finding(finding: Finding) -> NewFinding:
    return NewFinding(
        part=fence_name(finding.subject.label),
        rule=finding.rule,
        severity=finding.severity,
        message=fence(finding.message, limit=MAX_MESSAGE),
    )


def _overall(rollup: Rollup) -> Overall:
    return Overall(score=number_of(rollup.overall), tier=tier_or_none(rollup.overall))
