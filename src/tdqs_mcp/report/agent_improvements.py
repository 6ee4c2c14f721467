"""What an agent gets of rewrites, plans and comparisons: short, and in pages."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from tdqs_mcp.report.agent_page import MAX_MESSAGE, AgentAnswer, AnswerPage, CatalogPage, Judge, Window, page_of
from tdqs_mcp.report.blocks import unjudged_lines
from tdqs_mcp.results.contract import Inline, Max, Name, Only, Own, Tenths, published
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import (
    Advice,
    Claim,
    Comparison,
    Component,
    Difference,
    Impact,
    Plan,
    PlannedFix,
    Question,
    Rewrite,
    ToolComparison,
)
from tdqs_mcp.results.scores import Rollup, ToolScore, unjudged

MAX_FINDINGS = 10
"""New findings that are listed, the worst first."""

MAX_ROOMS = 2
"""Dimensions named for one tool."""

MAX_QUESTIONS = 2
Overall = Annotated[Rollup, Only("overall=score overall_tier=tier")]
_REWRITE = "name definition changes questions unused tokens_before tokens_after findings_removed findings_added writer"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestSibling:
    """How much of what tool and nearest sibling say of themselves both say, in percent."""

    sibling: Name | None
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteAnswer(AgentAnswer):
    """A better definition and how it was checked."""

    rewrite: Annotated[Inline[Rewrite], Only(f"{_REWRITE} setback unjudged")]
    next: Own
    """What to do next."""

    @published(after="changes")
    def claims(self) -> Annotated[tuple[Claim, ...], Only("text sources")]:
        """Every new statement; none is without a source."""
        return self.rewrite.claims

    @published(after="claims")
    def components(self) -> tuple[Component, ...]:
        """What the new definition tells of."""
        return tuple(self.rewrite.components)

    @published(after="unused")
    def before(self) -> Annotated[ToolScore | None, Only("tdqs tier")]:
        """Null where there was no score to compare with."""
        return self.rewrite.before

    @published(after="before")
    def after(self) -> Annotated[ToolScore | None, Only("tdqs tier")]:
        """With the new definition."""
        return self.rewrite.after

    @published(after="findings_added")
    def likeness(self) -> NearestSibling | None:
        """Null for a tool without siblings."""
        before, after = self.rewrite.likeness_before, self.rewrite.likeness_after
        if before is None or after is None or after.sibling is None:
            return None
        return NearestSibling(sibling=after.sibling, before=before.percent, after=after.percent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool to improve."""

    index: int
    """Position in the catalog."""

    name: Name
    proven: bool
    """true: suggest_rewrite gives this result; false: only the author can write it."""

    tdqs: Tenths
    becomes: Tenths
    """TDQS by the rewrite; of a step that is not proven, what it has to reach."""

    tokens_added: int | None = None
    """An estimate; null for a step that is not proven."""

    write: tuple[str, ...] = ()
    """What to write, for the dimensions with the most to win."""

    questions: Annotated[tuple[Question, ...], Only("id text")] = ()
    """What only the author can answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAnswer(CatalogPage):
    """The cheapest way to a target."""

    judge: Judge
    target: Tenths
    reached: bool
    """Whether the proven steps are enough."""

    before: Overall
    after: Overall
    """Judged again with the proven steps applied."""

    tokens_added: int
    proven: int
    """Proven steps, which come first."""

    steps: Annotated[tuple[Step, ...], Max(MAX_MESSAGE)]
    next: Own
    """What to do next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDifference:
    """One difference."""

    tool: Name
    difference: Inline[Difference]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswer(AnswerPage):
    """Two versions compared."""

    comparison: Annotated[Inline[Comparison], Only("old new tokens_before tokens_after")]
    judge: Judge
    worse: bool
    """Whether anything is a regression."""

    before: Overall
    after: Overall
    impacts: Mapping[Impact, int]
    """Differences by what they mean for a caller."""

    changes: Annotated[tuple[ToolDifference, ...], Max(MAX_MESSAGE)]
    """What breaks callers first, wording last."""

    scores: Annotated[tuple[ToolComparison, ...], Only("name tdqsBefore=before tdqsAfter=after")]
    """Tools whose TDQS moved, 10 at most, the greatest fall first."""

    new_findings: Annotated[tuple[Finding, ...], Only("part rule severity message"), Max(MAX_MESSAGE)]
    """10 at most, the worst first."""

    new_finding_count: int
    fixed_finding_count: int
    ungraded: tuple[str, ...]
    """What the judge failed on, and why: 10 reasons at most."""

    next: Own
    """What to do next."""


def rewrite_answer(rewrite: Rewrite, *, next_step: str) -> RewriteAnswer:
    """A better definition and how it was checked."""
    return RewriteAnswer(rewrite=rewrite, next=Own(next_step))


def plan_answer(plan: Plan, *, catalog: str, window: Window, next_step: str) -> PlanAnswer:
    """One page of steps, the proven ones first."""
    steps: list[PlannedFix | Advice] = [*plan.fixes, *plan.advice]
    page = steps[window.offset : window.offset + window.limit]
    return PlanAnswer(
        server=plan.server,
        catalog=catalog,
        judge=plan.judge,
        target=plan.target,
        reached=plan.is_reached,
        before=plan.before,
        after=plan.after,
        tokens_added=plan.tokens_added,
        proven=len(plan.fixes),
        steps=tuple(map(_step, page)),
        next=Own(next_step),
        **page_of(window, len(steps)),
    )


def compare_answer(comparison: Comparison, *, window: Window, next_step: str) -> CompareAnswer:
    """The numbers of both versions and one page of their differences."""
    rank = list(Impact).index
    changes = [
        ToolDifference(tool=tool.name, difference=each) for tool in comparison.tools for each in tool.differences
    ]
    changes.sort(key=lambda change: rank(change.difference.impact))
    worst = sorted(comparison.findings_added, key=lambda finding: -finding.severity.rank)
    return CompareAnswer(
        comparison=comparison,
        judge=comparison.new.judge,
        worse=bool(comparison.regressions),
        before=comparison.old.rollup,
        after=comparison.new.rollup,
        impacts=dict(Counter(change.difference.impact for change in changes)),
        changes=tuple(changes[window.offset : window.offset + window.limit]),
        scores=_moved(comparison),
        new_findings=tuple(worst[:MAX_FINDINGS]),
        new_finding_count=len(worst),
        fixed_finding_count=len(comparison.findings_fixed),
        ungraded=tuple(unjudged_lines(unjudged(comparison.old), unjudged(comparison.new))[:MAX_FINDINGS]),
        next=Own(next_step),
        **page_of(window, len(changes)),
    )


def _step(each: PlannedFix | Advice) -> Step:
    if isinstance(each, PlannedFix):
        tool, tdqs, becomes = each.rewrite, each.before.tdqs, each.after.tdqs
        return Step(
            index=tool.index, name=tool.name, proven=True, tdqs=tdqs, becomes=becomes, tokens_added=each.tokens_added
        )
    return Step(
        index=each.tool.index,
        name=each.tool.name,
        proven=False,
        tdqs=each.tool.tdqs,
        becomes=each.wanted,
        write=tuple(f"{room.dimension}: {room.advice}" for room in each.rooms[:MAX_ROOMS]),
        questions=each.questions[:MAX_QUESTIONS],
    )


def _moved(comparison: Comparison) -> tuple[ToolComparison, ...]:
    """The tools whose score moved, the greatest fall first."""
    moved = [
        (tool.after.tdqs - tool.before.tdqs, tool.name, place, tool)
        for place, tool in enumerate(comparison.tools)
        if tool.before and tool.after and tool.before.tdqs != tool.after.tdqs
    ]
    return tuple(tool for *_, tool in sorted(moved)[:MAX_FINDINGS])
