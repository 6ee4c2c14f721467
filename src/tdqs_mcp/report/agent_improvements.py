"""Rewrites, plans and comparisons for an agent: short, and in pages."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.report.agent_page import (
    JUDGE,
    MAX_MESSAGE,
    AgentAnswer,
    AnswerPage,
    CatalogPage,
    Window,
    page_of,
    within_budget,
)
from tdqs_mcp.report.blocks import diff_runs, unjudged_lines
from tdqs_mcp.report.escape import fence, fence_advice, fence_name, readable
from tdqs_mcp.report.improvement_reports import change_diff
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.results.comparisons import Comparison, Impact, ToolComparison
from tdqs_mcp.results.contract import ABSENT, Absent, Encoded, Inline, Max, Only, Own
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import Change, Question, Rewrite, Unused, is_worth_asking
from tdqs_mcp.results.plans import Advice, Plan, PlannedFix, Room
from tdqs_mcp.results.scores import Rollup, unjudged

MAX_FINDINGS = 10
"""New findings that are listed, the worst first."""

MAX_SAID = 8_000
"""Characters of old descriptions beside the questions of one answer."""

MAX_MARKED = 8_000
"""Characters of a text before and after in which a card marks words; of a longer one it shows the beginnings."""

Key = TypeVar("Key")

_OVERALL = "overall=score overall_tier=tier"
_REWRITE = (
    "name changes(path after=new) before.tdqs=tdqs after.tdqs=becomes tokens_added setback? "
    "refused?(path text refusal) conflicts?(path text conflict) unproven? unjudged?=ungraded"
)
"""One tool's new words and what they bring; claims that were left out or that something disproves, if any."""

_FULL = "definition claims findings_removed findings_added likeness_before likeness_after writer"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteAnswer(AgentAnswer):
    """Better definitions, those that gain most per token first."""

    LISTED: ClassVar = "new_catalog rewrites questions remaining next"

    catalog: str
    """The catalog as it was."""

    new_catalog: str
    """Names the catalog with these rewrites."""

    rollup: Annotated[Inline[Rollup | Absent], Only("overall overall_tier")] = ABSENT
    """Of newCatalog, an estimate; only by the offline judge, as another would have to read all tools."""

    rewrites: tuple[Encoded, ...]
    """name, changes (path, new), tdqs, becomes, tokensAdded."""

    questions: tuple[Encoded, ...]
    """Id and text, to be answered in material."""

    unused: Annotated[tuple[Unused, ...], Max(MAX_MESSAGE)]
    """What of your material no rewrite rests on, and why: 20 at most."""

    remaining: int
    """Tools with a rewrite that this answer has no room for."""

    next: Own
    """The next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAnswer(CatalogPage):
    """The cheapest way to a target."""

    LISTED: ClassVar = "reached steps questions next_offset next"

    plan: Annotated[
        Inline[Plan],
        Only(f"judge({JUDGE}) target is_estimated before({_OVERALL}) after({_OVERALL}) with_answers tokens_added"),
    ]
    reached: bool
    """Whether the drafted steps are enough, as this judge sees it."""

    drafted: int
    """Drafted steps, which come first."""

    steps: tuple[Encoded, ...]
    """name, drafted, tdqs, becomes, tokensAdded, gain; or what to write, and ids of questions."""

    questions: tuple[Encoded, ...]
    """The questions of these steps."""

    next: Own
    """The next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswer(AnswerPage):
    """Two versions compared."""

    LISTED: ClassVar = "new_catalog worse regressions changes next_offset next"

    old_catalog: str
    new_catalog: str
    """Names the new version."""

    comparison: Annotated[
        Inline[Comparison],
        Only(
            f"old new tokens_before tokens_after judge({JUDGE}) standing_before({_OVERALL}) standing_after({_OVERALL})"
        ),
    ]
    worse: bool
    """Whether anything is a regression."""

    regressions: Annotated[tuple[str, ...], Max(MAX_MESSAGE)]
    """What is worse: 10 sentences at most."""

    impacts: Mapping[Impact, int]
    """Differences by what they mean for a caller."""

    changes: tuple[Encoded, ...]
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
    """The next call."""


def rewrite_page(rewrites: Sequence[Rewrite], *, is_full: bool) -> tuple[list[Rewrite], tuple[Encoded, ...]]:
    """Return the rewrites that one answer has room for, the most gain per token first, and how they are shown.

    With details each has its whole definition, and every claim with its sources.
    """
    ordered = in_order(rewrites)
    lines = within_budget(
        {**answer(rewrite, only=_REWRITE), **({"full": answer(rewrite, only=_FULL)} if is_full else {})}
        for rewrite in ordered
    )
    return ordered[: len(lines)], lines


def rewrite_card(rewrites: Iterable[Rewrite]) -> dict[str, Any]:
    """Return what a card in the chat shows of each rewrite: the words that go and come, and what they rest on."""
    return {"rewrites": [[_marked(change) for change in rewrite.changes] for rewrite in rewrites]}


def _marked(change: Change) -> dict[str, Any]:
    diff = change_diff(change)
    is_long = len(diff.before) + len(diff.after) > MAX_MARKED
    runs = (("-", diff.before[:MAX_MARKED]), ("+", diff.after[:MAX_MARKED])) if is_long else diff_runs(diff)
    return {"runs": [(kind, readable(text)) for kind, text in runs], "sources": list(map(readable, change.sources))}


def in_order(rewrites: Sequence[Rewrite]) -> list[Rewrite]:
    """The most gain per token first; what has no score comes last."""

    def rank(rewrite: Rewrite) -> tuple[bool, float]:
        gain = rewrite.after.tdqs - rewrite.before.tdqs if rewrite.before and rewrite.after else 0
        return not gain, -gain / max(rewrite.tokens_added, 1)

    return sorted(rewrites, key=rank)


def question_lines(questions: Iterable[Question], descriptions: Mapping[str, str]) -> tuple[Encoded, ...]:
    """Return questions with their tools where the text only counts them, and with what descriptions begin.

    Of an earlier question about the same tools only the id is repeated, of a description only its first sentence, once.
    """
    lines: list[Encoded] = []
    sentences = _first_sentences(descriptions)
    ids_by_tools: dict[tuple[str, ...], str] = {}
    for question in questions:
        line = answer(question, only="id text")
        if len(question.tools) == 1 and (sentence := sentences.pop(question.tools[0], "")):
            line["says"] = fence(sentence, MAX_MESSAGE)
        if not question.is_naming_all:
            if question.tools in ids_by_tools:
                line["sameToolsAs"] = ids_by_tools[question.tools]
            else:
                ids_by_tools[question.tools] = line["id"]
                line |= answer(question, only="tools")
        lines.append(line)
    return tuple(lines)


def plan_questions(plan: Plan, window: Window) -> list[Question]:
    """Return what the steps of one page ask, each question once."""
    page = _steps(plan)[window.offset : window.offset + window.limit]
    return list({question.id: question for _, advice in page if advice for question in _asked(advice)}.values())


def plan_answer(plan: Plan, *, catalog: str, descriptions: Sequence[str], window: Window, next_step: str) -> PlanAnswer:
    """Return a page of steps, the drafted ones first, by gain per token; `descriptions` has those of all tools."""
    steps = _steps(plan)
    page = steps[window.offset : window.offset + window.limit]
    asking = [advice for _, advice in page if advice and advice.questions]
    sentences = _first_sentences({advice.tool.index: descriptions[advice.tool.index] for advice in asking})
    return PlanAnswer(
        server=plan.server,
        catalog=catalog,
        plan=plan,
        reached=plan.is_reached,
        drafted=len(plan.fixes),
        steps=tuple(_step(fix, advice, sentences) for fix, advice in page),
        questions=question_lines(plan_questions(plan, window), {}),
        next=Own(next_step),
        **page_of(window, len(steps)),
    )


def compare_answer(
    comparison: Comparison, *, catalogs: tuple[str, str], window: Window, next_step: str
) -> CompareAnswer:
    """The numbers of both versions and one page of their differences."""
    rank = list(Impact).index
    changes = [(tool.name, difference) for tool in comparison.tools for difference in tool.differences]
    changes.sort(key=lambda change: rank(change[1].impact))
    worst = sorted(comparison.findings_added, key=lambda finding: -finding.severity.rank)
    return CompareAnswer(
        old_catalog=catalogs[0],
        new_catalog=catalogs[1],
        comparison=comparison,
        worse=bool(comparison.regressions),
        regressions=comparison.regressions[:MAX_FINDINGS],
        impacts=dict(Counter(difference.impact for _, difference in changes)),
        changes=tuple(
            {"tool": fence_name(name), **answer(difference, limit=MAX_MESSAGE)}
            for name, difference in changes[window.offset : window.offset + window.limit]
        ),
        scores=_moved(comparison),
        new_findings=tuple(worst[:MAX_FINDINGS]),
        new_finding_count=len(worst),
        fixed_finding_count=len(comparison.findings_fixed),
        ungraded=tuple(unjudged_lines(unjudged(comparison.old), unjudged(comparison.new))[:MAX_FINDINGS]),
        next=Own(next_step),
        **page_of(window, len(changes)),
    )


def _steps(plan: Plan) -> list[tuple[PlannedFix | None, Advice | None]]:
    """Each tool once: with its draft, with what is left to write, or with both."""
    advised = {advice.tool.index: advice for advice in plan.advice}
    drafted = [(fix, advised.pop(fix.rewrite.index, None)) for fix in plan.fixes]
    return [*drafted, *((None, advice) for advice in advised.values())]


def _step(fix: PlannedFix | None, advice: Advice | None, sentences: Mapping[int, str]) -> Encoded:
    """Return one tool to improve: its draft, what only the author can write, or both.

    `becomes` is the score by the draft, or without one what the tool has to reach; `needs` is that beside a draft which
    is not enough.
    """
    step: Encoded = {"drafted": fix is not None}
    if fix:
        step |= answer(fix, only="name tdqsBefore=tdqs tdqsAfter=becomes tokens_added gain?")
    if advice:
        step |= answer(advice, only="wanted=needs" if fix else "name tdqs wanted=becomes")
        asked = _asked(advice)
        if write := _unasked_advice(advice.rooms, {question.about.dimension for question in asked}):
            step["write"] = fence_advice(write, MAX_MESSAGE)
        if asked:
            step["questions"] = [fence(question.id, MAX_MESSAGE) for question in asked]
        if sentence := sentences.get(advice.tool.index):
            step["says"] = fence(sentence, MAX_MESSAGE)
    return step


def _asked(advice: Advice) -> list[Question]:
    """The questions that can move the tool's score."""
    return [question for question in advice.questions if is_worth_asking(question)]


def _unasked_advice(rooms: Sequence[Room], asked: AbstractSet[str]) -> str:
    """Return the dimension with the most to win that no question is about, and what its worst finding suggests.

    Empty where nothing is left to write.
    """
    left = [room for room in rooms if room.dimension not in asked]
    suggested = next((room for room in left if room.finding and room.finding.suggestion), None)
    if suggested and suggested.finding:
        return f"{suggested.dimension}: {suggested.finding.suggestion}"
    return left[0].dimension if left and not asked else ""


def _first_sentences(descriptions: Mapping[Key, str]) -> dict[Key, str]:
    """The first sentence of each description, as long as the answer has room."""
    groups: dict[Key, str] = {}
    room = MAX_SAID
    for key, text in descriptions.items():
        sentence = next(iter(sentences_of(text)), "")
        room -= min(len(sentence), MAX_MESSAGE)
        if room < 0:
            break
        if sentence:
            groups[key] = sentence
    return groups


def _moved(comparison: Comparison) -> tuple[ToolComparison, ...]:
    """The tools whose score moved, the greatest fall first."""
    moved = [
        (tool.after.tdqs - tool.before.tdqs, tool.name, place, tool)
        for place, tool in enumerate(comparison.tools)
        if tool.before and tool.after and tool.before.tdqs != tool.after.tdqs
    ]
    return tuple(tool for *_, tool in sorted(moved)[:MAX_FINDINGS])
