"""Rewrites, plans and comparisons for an agent: short, and in pages."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.report.agent_answers import JUDGE, MAX_MESSAGE, MAX_NAMES, AgentAnswer, Window, within_budget
from tdqs_mcp.report.blocks import diff_runs, unjudged_lines
from tdqs_mcp.report.escape import NOTICE, fence, fence_advice, fence_name, readable
from tdqs_mcp.report.improvement_reports import change_diff
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.results.comparisons import Comparison, Impact
from tdqs_mcp.results.improvements import Advice, Change, Plan, PlannedFix, Question, Rewrite, Unused, is_worth_asking
from tdqs_mcp.results.scores import Rollup, unjudged

MAX_FINDINGS = 10
"""New findings that are listed, the worst first."""

MAX_EXCERPTS = 8_000
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
_PLAN = f"judge({JUDGE}) target is_estimated before({_OVERALL}) after({_OVERALL}) with_answers tokens_added"
_STANDINGS = f"standing_before({_OVERALL}) standing_after({_OVERALL})"
_COMPARISON = f"old new tokens_before tokens_after judge({JUDGE}) {_STANDINGS}"


def rewrite_page(rewrites: Sequence[Rewrite], *, is_full: bool) -> tuple[list[Rewrite], list[dict[str, Any]]]:
    """Return the rewrites that one answer has room for, the most gain per token first, and how they are shown.

    With details each has its whole definition, and every claim with its sources.
    """
    ordered = in_order(rewrites)
    lines = within_budget(
        {**answer(rewrite, only=_REWRITE), **({"full": answer(rewrite, only=_FULL)} if is_full else {})}
        for rewrite in ordered
    )
    return ordered[: len(lines)], lines


def rewrite_answer(
    lines: Sequence[Mapping[str, Any]],
    *,
    catalogs: tuple[str, str],
    rollup: Rollup | None,
    questions: Iterable[Question],
    descriptions: Mapping[str, str],
    unused: Sequence[Unused],
    remaining: int,
    next_step: str,
    card: Mapping[str, Any] | None,
) -> AgentAnswer:
    """Return better definitions, those that gain most per token first, and what only the author knows.

    `catalogs` are the old and the new one, whose rollup is an estimate by the offline judge: another would have to read
    all tools. For `remaining` tools with a rewrite there was no room.
    """
    content = {
        "notice": NOTICE,
        "catalog": catalogs[0],
        "newCatalog": catalogs[1],
        **(answer(rollup, only="overall overall_tier") if rollup else {}),
        "rewrites": list(lines),
        "questions": question_lines(questions, descriptions),
        "unused": [answer(source, limit=MAX_MESSAGE) for source in unused[:MAX_NAMES]],
        "remaining": remaining,
        "next": next_step,
    }
    return AgentAnswer(content=content, card=card)


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
        gain = rewrite.tdqs_change
        return not gain, -gain / max(rewrite.tokens_added, 1)

    return sorted(rewrites, key=rank)


def question_lines(questions: Iterable[Question], descriptions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return questions with their tools where the text only counts them, and with what descriptions begin.

    Of an earlier question about the same tools only the id is repeated, of a description only its first sentence, once.
    """
    lines: list[dict[str, Any]] = []
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
    return lines


def plan_questions(plan: Plan, window: Window) -> list[Question]:
    """Return what the steps of one page ask, each question once."""
    page = window.page(_steps(plan))
    return list({question.id: question for _, advice in page if advice for question in _open(advice)}.values())


def plan_answer(
    plan: Plan, *, catalog: str, descriptions: Sequence[str], window: Window, next_step: str
) -> AgentAnswer:
    """Return a page of steps, the drafted ones first, by gain per token; `descriptions` has those of all tools."""
    steps = _steps(plan)
    page = window.page(steps)
    asking = [advice for _, advice in page if advice and advice.questions]
    sentences = _first_sentences({advice.tool.index: descriptions[advice.tool.index] for advice in asking})
    content = {
        **window.head(len(steps)),
        "server": fence_name(plan.server),
        "catalog": catalog,
        **answer(plan, only=_PLAN),
        "reached": plan.is_reached,
        "drafted": len(plan.fixes),
        "steps": [_step(fix, advice, sentences) for fix, advice in page],
        "questions": question_lines(plan_questions(plan, window), {}),
        "next": next_step,
    }
    return AgentAnswer(content=content)


def compare_answer(comparison: Comparison, *, catalogs: tuple[str, str], window: Window, next_step: str) -> AgentAnswer:
    """The numbers of both versions and one page of their differences: what breaks callers first, wording last."""
    rank = list(Impact).index
    changes = [(tool.name, difference) for tool in comparison.tools for difference in tool.differences]
    changes.sort(key=lambda change: rank(change[1].impact))
    worst = sorted(comparison.findings_added, key=lambda finding: -finding.severity.rank)[:MAX_FINDINGS]
    failures = unjudged_lines(unjudged(comparison.old), unjudged(comparison.new))
    content = {
        **window.head(len(changes)),
        "oldCatalog": catalogs[0],
        "newCatalog": catalogs[1],
        **answer(comparison, only=_COMPARISON),
        "worse": bool(comparison.regressions),
        "regressions": [fence(regression, MAX_MESSAGE) for regression in comparison.regressions[:MAX_FINDINGS]],
        "impacts": {impact.value: count for impact, count in Counter(change.impact for _, change in changes).items()},
        "changes": [
            {"tool": fence_name(name), **answer(difference, limit=MAX_MESSAGE)}
            for name, difference in window.page(changes)
        ],
        "scores": [
            answer(tool, only="name tdqsBefore=before tdqsAfter=after")
            for tool in comparison.moved_tools[:MAX_FINDINGS]
        ],
        "newFindings": [answer(finding, only="part rule severity message", limit=MAX_MESSAGE) for finding in worst],
        "newFindingCount": len(comparison.findings_added),
        "fixedFindingCount": len(comparison.findings_fixed),
        "ungraded": list(map(fence, failures[:MAX_FINDINGS])),
        "next": next_step,
    }
    return AgentAnswer(content=content)


def _steps(plan: Plan) -> list[tuple[PlannedFix | None, Advice | None]]:
    """Each tool once: with its draft, with what is left to write, or with both."""
    advised = {advice.tool.index: advice for advice in plan.advice}
    drafted = [(fix, advised.pop(fix.rewrite.index, None)) for fix in plan.fixes]
    return [*drafted, *((None, advice) for advice in advised.values())]


def _step(fix: PlannedFix | None, advice: Advice | None, sentences: Mapping[int, str]) -> dict[str, Any]:
    """Return one tool to improve: its draft, what only the author can write, or both.

    `becomes` is the score by the draft, or without one what the tool has to reach; `needs` is that beside a draft which
    is not enough.
    """
    step: dict[str, Any] = {"drafted": fix is not None}
    if fix:
        step |= answer(fix, only="name tdqsBefore=tdqs tdqsAfter=becomes tokens_added gain?")
    if advice:
        step |= answer(advice, only="wanted=needs" if fix else "name tdqs wanted=becomes")
        questions = _open(advice)
        if write := _unasked_advice(advice, questions):
            step["write"] = fence_advice(write, MAX_MESSAGE)
        if questions:
            step["questions"] = [fence(question.id, MAX_MESSAGE) for question in questions]
        if sentence := sentences.get(advice.tool.index):
            step["says"] = fence(sentence, MAX_MESSAGE)
    return step


def _open(advice: Advice) -> list[Question]:
    """Return the questions that can move the tool's score."""
    return [question for question in advice.questions if is_worth_asking(question)]


def _unasked_advice(advice: Advice, questions: Sequence[Question]) -> str:
    """Return the dimension with the most to win that no question is about, and what its worst finding suggests.

    Empty where nothing is left to write.
    """
    dimensions = {question.about.dimension for question in questions}
    left = [room for room in advice.rooms if room.dimension not in dimensions]
    suggested = next((room for room in left if room.finding and room.finding.suggestion), None)
    if suggested and suggested.finding:
        return f"{suggested.dimension}: {suggested.finding.suggestion}"
    return left[0].dimension if left and not dimensions else ""


def _first_sentences(descriptions: Mapping[Key, str]) -> dict[Key, str]:
    """The first sentence of each description, as long as the answer has room."""
    sentences: dict[Key, str] = {}
    room = MAX_EXCERPTS
    for key, text in descriptions.items():
        sentence = next(iter(sentences_of(text)), "")
        room -= min(len(sentence), MAX_MESSAGE)
        if room < 0:
            break
        if sentence:
            sentences[key] = sentence
    return sentences
