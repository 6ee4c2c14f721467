"""What an agent gets of rewrites, plans and comparisons: short, and in pages."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeVar

from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.report.agent_page import (
    MAX_MESSAGE,
    AgentAnswer,
    AnswerPage,
    CatalogPage,
    Judge,
    Window,
    page_of,
    within_budget,
)
from tdqs_mcp.report.blocks import diff_runs, unjudged_lines
from tdqs_mcp.report.escape import MAX_FENCED, readable
from tdqs_mcp.report.improvement_reports import change_diff
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.results.comparisons import Comparison, Difference, Impact, ToolComparison
from tdqs_mcp.results.contract import ABSENT, Absent, Encoded, Inline, Max, Name, Only, Own, Tenths, Trait
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import Change, Claim, Gain, Question, Rewrite, Unused, is_worth_asking
from tdqs_mcp.results.plans import Advice, Plan, PlannedFix, Room
from tdqs_mcp.results.scores import Rollup, unjudged

MAX_FINDINGS = 10
"""New findings that are listed, the worst first."""

MAX_SAID = 8_000
"""Characters of old descriptions beside the questions of one answer."""

MAX_MARKED = 8_000
"""Characters of a text before and after in which a card marks words; of a longer one it shows the beginnings."""

Key = TypeVar("Key")

Overall = Annotated[Rollup, Only("overall=score overall_tier=tier")]
_FULL = "definition claims findings_removed findings_added likeness_before likeness_after writer"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """What only the author knows."""

    id: Annotated[str, Max(200)]
    text: Annotated[str, Trait.ADVICE]
    tools: tuple[Name, ...] | Absent = ABSENT
    """All that the answer is about, where the text does not name them."""

    same_tools_as: Annotated[str, Max(200)] | Absent = ABSENT
    """In place of them, the id of an earlier question about the same tools."""

    says: Annotated[str | Absent, Max(MAX_MESSAGE)] = ABSENT
    """The first sentence of the tool's description as it is; once for each tool, where there is room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteLine:
    """One tool's new words, and what they bring."""

    name: Name
    changes: Annotated[tuple[Change, ...], Only("path after=new")]
    tdqs: Tenths | None
    """As it is; null where the judge gave no score."""

    becomes: Tenths | None
    tokens_added: int
    setback: str | Absent = ABSENT
    """Why the writer's text was not used."""

    refused: Annotated[tuple[Claim, ...] | Absent, Only("path text refusal")] = ABSENT
    """Statements of a model that the definition disproves, and changes of the contract; they are left out."""

    conflicts: Annotated[tuple[Claim, ...] | Absent, Only("path text conflict")] = ABSENT
    """Statements that stand because their author wrote them, and what disproves them."""

    unproven: tuple[str, ...] | Absent = ABSENT
    """Statements that nothing but the writer's word bears out."""

    ungraded: str | Absent = ABSENT
    full: Encoded | Absent = ABSENT
    """With detail=full: the whole definition, and each claim with its sources."""


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

    rewrites: Annotated[tuple[RewriteLine, ...], Max(MAX_FENCED)]
    """name, changes (path, new), tdqs, becomes, tokensAdded."""

    questions: Annotated[tuple[QuestionLine, ...], Max(MAX_FENCED)]
    """Id and text, to be answered in material."""

    unused: Annotated[tuple[Unused, ...], Max(MAX_MESSAGE)]
    """What of your material no rewrite rests on, and why: 20 at most."""

    remaining: int
    """Tools with a rewrite that this answer has no room for."""

    next: Own
    """The next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool to improve."""

    name: Name
    drafted: bool
    """true: suggest_rewrite gives it; false: only the author can write it."""

    tdqs: Tenths
    becomes: Tenths
    """TDQS by the rewrite; of a step that is not drafted, what it has to reach."""

    needs: Tenths | Absent = ABSENT
    """What a drafted step has to reach, where its draft is not enough."""

    tokens_added: int | Absent = ABSENT
    """An estimate; only of a drafted step."""

    gain: Annotated[Gain | Absent, Only("expected low high")] = ABSENT
    """What a drafted step is expected to bring, with its range."""

    write: Annotated[str | Absent, Trait.ADVICE] = ABSENT
    """What to write, for the dimension with the most to win that no question is about."""

    questions: tuple[str, ...] | Absent = ABSENT
    """Ids of what only the author can answer."""

    says: Annotated[str | Absent, Max(MAX_MESSAGE)] = ABSENT
    """The first sentence of the description as it is, where the page has room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAnswer(CatalogPage):
    """The cheapest way to a target."""

    LISTED: ClassVar = "reached steps questions next_offset next"

    judge: Judge
    target: Tenths
    estimated: bool
    """The scores are the offline judge's estimates."""

    reached: bool
    """Whether the drafted steps are enough, as this judge sees it."""

    before: Overall
    """Overall score and tier."""

    after: Overall
    """Judged again with the drafted steps applied."""

    with_answers: Tenths | None
    """Overall score with all questions of all steps answered too: an estimate of what is possible at most."""

    tokens_added: int
    drafted: int
    """Drafted steps, which come first."""

    steps: Annotated[tuple[Step, ...], Max(MAX_MESSAGE)]
    """name, drafted, tdqs, becomes, tokensAdded, gain; or what to write, and ids of questions."""

    questions: Annotated[tuple[QuestionLine, ...], Max(MAX_FENCED)]
    """The questions of these steps."""

    next: Own
    """The next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDifference:
    """One difference."""

    tool: Name
    difference: Inline[Difference]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswer(AnswerPage):
    """Two versions compared."""

    LISTED: ClassVar = "new_catalog worse regressions changes next_offset next"

    old_catalog: str
    new_catalog: str
    """Names the new version."""

    comparison: Annotated[Inline[Comparison], Only("old new tokens_before tokens_after")]
    judge: Judge
    worse: bool
    """Whether anything is a regression."""

    regressions: Annotated[tuple[str, ...], Max(MAX_MESSAGE)]
    """What is worse: 10 sentences at most."""

    before: Overall
    """Overall score and tier."""

    after: Overall
    """The same of the new version."""

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
    """The next call."""


def rewrite_page(rewrites: Sequence[Rewrite], *, is_full: bool) -> tuple[list[Rewrite], tuple[RewriteLine, ...]]:
    """The rewrites that one answer has room for, the most gain per token first, and how they are shown."""
    ordered = in_order(rewrites)
    lines = within_budget(_rewrite_line(each, is_full=is_full) for each in ordered)
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

    def rank(each: Rewrite) -> tuple[bool, float]:
        gain = each.after.tdqs - each.before.tdqs if each.before and each.after else 0
        return not gain, -gain / max(each.tokens_added, 1)

    return sorted(rewrites, key=rank)


def _rewrite_line(rewrite: Rewrite, *, is_full: bool) -> RewriteLine:
    return RewriteLine(
        name=rewrite.name,
        changes=rewrite.changes,
        tdqs=rewrite.before.tdqs if rewrite.before else None,
        becomes=rewrite.after.tdqs if rewrite.after else None,
        tokens_added=rewrite.tokens_added,
        setback=rewrite.setback or ABSENT,
        refused=rewrite.refused or ABSENT,
        conflicts=tuple(claim for claim in rewrite.claims if claim.conflict) or ABSENT,
        unproven=tuple(claim.text for claim in rewrite.claims if not claim.sources and not claim.conflict) or ABSENT,
        ungraded=rewrite.unjudged or ABSENT,
        full=answer(rewrite, only=_FULL) if is_full else ABSENT,
    )


def question_lines(questions: Iterable[Question], descriptions: Mapping[str, str]) -> tuple[QuestionLine, ...]:
    """How questions are shown: with their tools where the text only counts them, and with what descriptions begin."""
    lines: list[QuestionLine] = []
    sentences = _first_sentences(descriptions)
    ids_by_tools: dict[tuple[str, ...], str] = {}
    for question in questions:
        line = QuestionLine(id=question.id, text=question.text)
        if len(question.tools) == 1:
            line = replace(line, says=sentences.pop(question.tools[0], ABSENT))
        if not question.is_naming_all:
            is_known = question.tools in ids_by_tools
            earlier = ids_by_tools.setdefault(question.tools, question.id)
            line = replace(line, **({"same_tools_as": earlier} if is_known else {"tools": question.tools}))
        lines.append(line)
    return tuple(lines)


def plan_questions(plan: Plan, window: Window) -> list[Question]:
    """Return what the steps of one page ask, each question once."""
    page = _steps(plan)[window.offset : window.offset + window.limit]
    return list({each.id: each for _, advice in page if advice for each in _asked(advice)}.values())


def plan_answer(plan: Plan, *, catalog: str, descriptions: Sequence[str], window: Window, next_step: str) -> PlanAnswer:
    """One page of steps, the drafted ones first, by gain per token; `descriptions` are those of all tools, in order."""
    steps = _steps(plan)
    page = steps[window.offset : window.offset + window.limit]
    asking = [advice for _, advice in page if advice and advice.questions]
    sentences = _first_sentences({each.tool.index: descriptions[each.tool.index] for each in asking})
    return PlanAnswer(
        server=plan.server,
        catalog=catalog,
        judge=plan.judge,
        target=plan.target,
        estimated=plan.is_estimated,
        reached=plan.is_reached,
        before=plan.before,
        after=plan.after,
        tokens_added=plan.tokens_added,
        drafted=len(plan.fixes),
        with_answers=plan.with_answers,
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
    changes = [
        ToolDifference(tool=tool.name, difference=difference)
        for tool in comparison.tools
        for difference in tool.differences
    ]
    changes.sort(key=lambda change: rank(change.difference.impact))
    worst = sorted(comparison.findings_added, key=lambda finding: -finding.severity.rank)
    return CompareAnswer(
        old_catalog=catalogs[0],
        new_catalog=catalogs[1],
        comparison=comparison,
        judge=comparison.new.judge,
        worse=bool(comparison.regressions),
        regressions=comparison.regressions[:MAX_FINDINGS],
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


def _steps(plan: Plan) -> list[tuple[PlannedFix | None, Advice | None]]:
    """Each tool once: with its draft, with what is left to write, or with both."""
    advised = {each.tool.index: each for each in plan.advice}
    drafted = [(fix, advised.pop(fix.rewrite.index, None)) for fix in plan.fixes]
    return [*drafted, *((None, each) for each in advised.values())]


def _step(fix: PlannedFix | None, advice: Advice | None, said: Mapping[int, str]) -> Step:
    left: dict[str, Any] = {}
    if advice:
        asked = _asked(advice)
        left = {
            "write": _unasked_advice(advice.rooms, {question.about.dimension for question in asked}),
            "questions": tuple(question.id for question in asked) or ABSENT,
            "says": said.get(advice.tool.index, ABSENT),
        }
    if fix:
        return Step(
            name=fix.rewrite.name,
            drafted=True,
            tdqs=fix.before.tdqs,
            becomes=fix.after.tdqs,
            needs=advice.wanted if advice else ABSENT,
            tokens_added=fix.tokens_added,
            gain=fix.gain or ABSENT,
            **left,
        )
    assert advice  # noqa: S101  # a step is one or the other
    return Step(name=advice.tool.name, drafted=False, tdqs=advice.tool.tdqs, becomes=advice.wanted, **left)


def _asked(advice: Advice) -> list[Question]:
    """The questions that can move the tool's score."""
    return [question for question in advice.questions if is_worth_asking(question)]


def _unasked_advice(rooms: Sequence[Room], asked: AbstractSet[str]) -> str | Absent:
    """The dimension with the most to win of those that are not asked about, and what its worst finding suggests."""
    left = [room for room in rooms if room.dimension not in asked]
    suggested = next((each for each in left if each.finding and each.finding.suggestion), None)
    if suggested and suggested.finding:
        return f"{suggested.dimension}: {suggested.finding.suggestion}"
    return left[0].dimension if left and not asked else ABSENT


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
