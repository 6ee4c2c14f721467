"""Rewrites and comparisons for an agent: short, and in pages."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.text.words import content_stems, numbers_of
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.agent_answers import (
    JUDGE,
    MAX_BELOW,
    MAX_MESSAGE,
    MAX_NAMES,
    AgentAnswer,
    Window,
    cut_lists,
    first_problems,
    lowest_lines,
    shared_reasons,
    shared_values,
    within_budget,
)
from tdqs_mcp.report.blocks import diff_runs, unjudged_lines
from tdqs_mcp.report.escape import NOTICE, fence, fence_advice, fence_json, fence_name, readable
from tdqs_mcp.report.improvement_reports import change_diff
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.report.server_advice import contradictions
from tdqs_mcp.results.comparisons import Comparison, Difference, Impact
from tdqs_mcp.results.contract import Own
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.results.improvements import DRAFT, Change, Question, Rewrite, RewriteReport, Unused
from tdqs_mcp.results.scores import ToolScore, unjudged
from tdqs_mcp.results.verdicts import HOST

MAX_FINDINGS = 10
"""New errors and warnings that are listed, the worst first."""

MAX_LOWEST = 8
"""Tools that are still below a target, and are listed with what to write; the others by what they are weakest in."""

ESTIMATED = "your verdicts of the old definitions, and the change that the offline judge sees"
"""What the numbers are where the calling agent has judged."""

MAX_UNPROVEN, MAX_BEGINNING = 8, 60
"""Unproven sentences that an answer names, and characters of each."""

MAX_REASON = 300
"""Characters of the reasons why one tool falls."""

MAX_MARKED = 8_000
"""Characters of a text before and after in which a card marks words; of a longer one it shows the beginnings."""

ANNOTATIONS = "/annotations"

_OVERALL = "overall=score overall_tier=tier"
_REWRITE = "name before.tdqs=tdqs after.tdqs=becomes tokens_added setback? unjudged?=ungraded"
"""What a tool's new words bring."""

_DOUBTS = "refused?(path text refusal) conflicts?(path text conflict) dropped?"
"""Statements that were left out, that something disproves, or that the old text had."""

_FULL = "definition claims unproven findings_removed findings_added writer"
_STANDINGS = f"standing_before({_OVERALL}) standing_after({_OVERALL})"
_COMPARISON = f"old new tokens_before tokens_after judge({JUDGE}) {_STANDINGS}"

WORSE, BETTER, EQUAL = Own("worse"), Own("estimated better"), Own("not better")


def verdict_of(comparison: Comparison) -> Own:
    """Return whether the new version is better, as a judge of both estimates it.

    A tool that falls by a tenth while the server rises is a regression that is listed, and no verdict. A text that only
    loses sentences gains nothing, whatever it scores.
    """
    if faults_of(comparison):
        return WORSE
    losses = _losses(comparison)
    rises = sum(tool.tdqs_change for tool in comparison.tools if tool.name not in losses or tool.tdqs_change < 0)
    if rises > 0 or (_gain(comparison) > 0 and not losses):
        return BETTER
    is_waiting = unjudged(comparison.new) and not comparison.new.judge.is_offline
    return Own("not judged yet") if is_waiting else EQUAL


def _losses(comparison: Comparison) -> dict[str, str]:
    """Return the sentences that texts with nothing new lose, by their tools; none where an error goes with them."""
    mended = {finding.tool_index for finding in comparison.findings_fixed if finding.severity is Severity.ERROR}
    losses = {tool.name: _lost_words(tool.differences) for tool in comparison.tools if tool.index_before not in mended}
    return {name: lost for name, lost in losses.items() if lost}


def _lost_words(differences: Sequence[Difference]) -> str:
    """Return old sentences with a number or half their words gone, if every new sentence is a part of an old one."""
    before, after = (
        {line: content_stems(words_of(line)) | numbers_of(line) for text in texts for line in sentences_of(text or "")}
        for texts in ([change.before for change in differences], [change.after for change in differences])
    )
    rest = frozenset[str]().union(*after.values())
    is_new = any(not any(words <= earlier for earlier in before.values()) for words in after.values())
    if is_new or any(change.impact is not Impact.WORDING for change in differences):
        return ""
    gone = (line for line, words in before.items() if 2 * len(words & rest) < len(words) or numbers_of(line) - rest)
    return " ".join(gone)


def _with_losses(comparison: Comparison | None, next_step: str) -> str:
    """Return the next step after what is only dropped, by tool."""
    losses = _losses(comparison) if comparison and not faults_of(comparison) else {}
    parts = [f"{fence_name(name)} {fence(lost, MAX_REASON)}" for name, lost in losses.items()][:MAX_FINDINGS]
    note = f"Nothing is gained by what is only dropped; put it back or tell more: {', '.join(parts)}."
    return f"{note} {next_step}" if parts else next_step


def faults_of(comparison: Comparison) -> list[str]:
    """Return why the new version is worse: what breaks callers or may harm them, new errors, a lower overall score."""
    changes = [(tool.name, difference) for tool in comparison.tools for difference in tool.differences]
    harmful = (Impact.BREAKING, Impact.DANGEROUS)
    faults = [f"{name}: {change.message}" for name, change in changes if change.impact in harmful]
    # A first description may have an error that an empty one could not have.
    added, fixed = (
        [finding for finding in findings if finding.severity is Severity.ERROR]
        for findings in (comparison.findings_added, comparison.findings_fixed)
    )
    if len(added) > len(fixed):
        faults += [f"{finding.subject.label}: {finding.rule}: {finding.message}" for finding in added]
    if _gain(comparison) < 0:
        before, after = (score.rollup.overall or 0 for score in (comparison.old, comparison.new))
        faults.append(f"the overall score falls from {before / 10} to {after / 10}")
    return faults


def _gain(comparison: Comparison) -> int:
    """New less old overall score, in tenths; 0 without one of them."""
    old, new = comparison.old.rollup.overall, comparison.new.rollup.overall
    return new - old if old and new else 0


def _verdict_lines(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict, and where it is worse, why."""
    faults = [fence(fault, MAX_MESSAGE) for fault in faults_of(comparison)]
    return {"verdict": verdict_of(comparison), **({"worseBecause": faults[:MAX_FINDINGS]} if faults else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePage:
    """Rewrites that one answer has room for, and how they are shown."""

    rewrites: list[Rewrite]
    listed: list[Rewrite]
    """Those that have a line."""

    unlisted: int
    """Rewrites that are taken, and for whose lines there is no room."""

    content: Mapping[str, Any]
    """Their part of the answer."""


def rewrite_page(rewrites: Sequence[Rewrite], *, is_full: bool, goal: int) -> RewritePage:
    """Return the rewrites that one answer has room for, the most gain per token first.

    Drafts of the caller, who knows their words, are all taken; those with conflicts are listed first, then the lowest,
    and those that reach the goal, in tenths, without a doubt are counted. With details each has its whole definition,
    and every claim with its sources.
    """
    is_own, ordered = all(rewrite.writer == DRAFT for rewrite in rewrites), in_order(rewrites)
    if is_own:  # the doubted first, then the lowest
        ordered.sort(key=lambda item: item.after.tdqs if item.after else 0)
        ordered.sort(key=lambda item: not (item.conflicts or item.refused))
    is_short = is_own and not is_full and len(ordered) > MAX_LOWEST
    visible = [rewrite for rewrite in ordered if not (is_short and _is_done(rewrite, goal))]
    lines = within_budget(_rewrite_line(rewrite, is_full=is_full) for rewrite in visible)
    groups: dict[str, list[str]] = {}
    for rewrite in visible if is_own else visible[: len(lines)]:
        if not is_full and (hints := _only_hints(rewrite)):
            groups.setdefault(hints, []).append(fence_name(rewrite.name))
    pairs = [pair for pair in zip(visible, lines, strict=False) if is_full or not _only_hints(pair[0])]
    visible_lines, page = [line for _, line in pairs], ordered if is_own else visible[: len(lines)]
    parts = {
        "alsoDone": len(ordered) - len(visible),  # drafts that reach the goal, and need no line
        "unproven": _unproven(page),
        "sharedDropped": [] if is_full else _shared_drops(visible_lines),
        "hintsOnly": [{"hints": hints, "tools": names} for hints, names in groups.items()],
    }
    return RewritePage(
        rewrites=page,
        listed=[rewrite for rewrite, _ in pairs],
        unlisted=sum(is_full or not _only_hints(rewrite) for rewrite in visible[len(lines) :]) if is_own else 0,
        content={"rewrites": visible_lines, **{key: part for key, part in parts.items() if part}},
    )


def _is_done(rewrite: Rewrite, goal: int) -> bool:
    """Return whether a draft reaches the goal, in tenths, is no lower than before, and has nothing against it."""
    doubts = (*rewrite.conflicts, *rewrite.refused, *rewrite.dropped)
    return rewrite.after is not None and rewrite.after.tdqs >= goal and rewrite.tdqs_change >= 0 and not doubts


def _shared_drops(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Take the sentences that several drafts leave out from their lines, and return each once."""
    single = [{"name": line["name"], "dropped": text} for line in lines for text in line.pop("dropped", ())]
    shared = shared_values(single, "dropped")
    for line in lines:
        if rest := [item["dropped"] for item in single if item["name"] == line["name"] and "dropped" in item]:
            line["dropped"] = rest
    return shared


def _rewrite_line(rewrite: Rewrite, *, is_full: bool) -> dict[str, Any]:
    line = answer(rewrite, only=_REWRITE)
    if rewrite.writer != DRAFT or is_full:
        line["changes"] = [_change_line(change) for change in rewrite.changes]
    if rewrite.before and rewrite.after and rewrite.tdqs_change < 0:
        line["why"] = _reason_of_fall(rewrite.before, rewrite.after)
    doubts = answer(rewrite, only=_DOUBTS)
    if "conflicts" in doubts:  # several sentences may meet the same conflict
        doubts["conflicts"] = [*{item["conflict"]: item for item in reversed(doubts["conflicts"])}.values()][::-1]
    return {**line, **doubts, **({"full": answer(rewrite, only=_FULL)} if is_full else {})}


def _reason_of_fall(before: ToolScore, after: ToolScore) -> str:
    """Return the dimensions that fall, each with the first sentence of the judge's reason.

    What several drafts repeat, and what a tool's old score rested on, is among the problems instead.
    """
    fallen = [key for key, score in after.scores.items() if score < before.scores[key]]
    reasons = [
        f"{key} {before.scores[key]} → {after.scores[key]}: {sentences_of(after.judgements[key].justification)[0]}"
        for key in fallen
    ]
    return fence(" ".join(reasons) or "as problems say", MAX_REASON)


def _unproven(rewrites: Iterable[Rewrite]) -> list[str]:
    """Return the beginnings of the sentences of drafts that only their writer answers for."""
    own = (rewrite for rewrite in rewrites if rewrite.writer == DRAFT)
    return [f"{fence_name(item.name)}: {fence(text, MAX_BEGINNING)}" for item in own for text in item.unproven]


def _change_line(change: Change) -> dict[str, Any]:
    """Return the new value at a path; of hints only those that change."""
    if change.path == ANNOTATIONS and isinstance(change.after, Mapping):
        return {"path": change.path, "new": fence_json(_changed_hints(change))}
    return answer(change, only="path after=new")


def _changed_hints(change: Change) -> dict[str, Any]:
    before = change.before if isinstance(change.before, Mapping) else {}
    return {name: value for name, value in change.after.items() if before.get(name) != value}


def _only_hints(rewrite: Rewrite) -> str:
    """Return the hints that a rewrite changes, in a line; empty where it changes anything else."""
    hints: dict[str, Any] = {}
    for change in rewrite.changes:
        if change.path == ANNOTATIONS and isinstance(change.after, Mapping):
            hints |= _changed_hints(change)
        elif change.path.startswith(f"{ANNOTATIONS}/"):
            hints[change.path.removeprefix(f"{ANNOTATIONS}/")] = change.after
        else:
            return ""
    is_plain = all(name in HINTS and isinstance(value, bool) for name, value in hints.items())
    return ", ".join(f"{name} {str(value).lower()}" for name, value in hints.items()) if is_plain else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedRewrites:
    """Rewrites, and what they make of the catalog."""

    report: RewriteReport
    page: RewritePage
    left: int
    """Tools with a rewrite that the page has no room for."""

    improved: Catalog
    comparison: Comparison | None
    """With the catalog before all rewrites, by the offline judge; None where another one is asked."""

    questions: tuple[Question, ...]

    @property
    def overall(self) -> int:
        """The overall score with the rewrites, in tenths; 0 without one."""
        return (self.comparison.new.rollup.overall or 0) if self.comparison else 0


def rewrite_answer(
    suggestion: SuggestedRewrites,
    *,
    catalogs: tuple[str, str],
    base: str,
    goal: int,
    problems: Sequence[str],
    for_instructions: str,
    unused: Sequence[Unused],
    patch: str,
    next_step: str,
    has_card: bool,
) -> AgentAnswer:
    """Return drafts with their doubts, those that gain most per token first, and what only the author knows.

    `catalogs` are the old and the new one. All numbers are those of the comparison with the catalog `base`, an estimate
    by the offline judge: another would have to read all tools.
    """
    page, comparison, questions = suggestion.page, suggestion.comparison, suggestion.questions
    with_answers = suggestion.report.goal
    numbers: dict[str, Any] = {}
    lowest: list[dict[str, Any]] = []
    by_weakest: dict[str, list[str]] = {}
    fixes: dict[str, Any] = {}
    if comparison:
        is_reached = (comparison.new.rollup.overall or 0) >= goal
        lowest = [] if is_reached else lowest_lines(comparison.new, below=goal)
        for line in lowest[MAX_LOWEST : MAX_LOWEST + MAX_BELOW]:
            by_weakest.setdefault(line["weakest"], []).append(line["name"])
        lowest = lowest[:MAX_LOWEST]
        fixes = shared_reasons(lowest)
        numbers = {
            **_verdict_lines(comparison),
            "judge": comparison.new.judge.id,
            **({"estimated": ESTIMATED} if comparison.new.judge.id == HOST else {}),
            **({"comparedWith": base} if base != catalogs[0] else {}),
            "overallBefore": answer(comparison.old.rollup, only="overall")["overallScore"],
            **answer(comparison.new.rollup, only="overall overall_tier"),
            **answer(comparison, only="tokens_before tokens_after"),
            **({"newFindings": added} if (added := _new_findings(comparison)) else {}),
            **_budget_notice(comparison),
            **({"problems": first_problems(problems)} if problems else {}),
            "contradictions": contradictions(comparison.findings_added),
            "contradictionsLeft": len(contradictions(comparison.new.findings)),
        }
    content = {
        "notice": NOTICE,
        "catalog": catalogs[0],
        "newCatalog": catalogs[1],
        **numbers,
        **page.content,
        **fixes,
        **({"lowest": lowest} if lowest else {}),
        **({"alsoBelow": by_weakest} if by_weakest else {}),
        **({"forInstructions": fence_advice(for_instructions, MAX_MESSAGE)} if for_instructions else {}),
        "questions": question_lines(questions),
        "unused": [answer(source, limit=MAX_MESSAGE) for source in unused],
        "remaining": suggestion.left,
        **(answer(with_answers, only="with_answers answers_needed") if with_answers and questions else {}),
        "difference": f"tdqs://catalogs/{catalogs[1]}/difference",
        **({"patch": patch} if patch else {}),
        "next": _with_losses(comparison, next_step),
    }
    content = cut_lists(
        content,
        unused=MAX_NAMES,
        newFindings=MAX_FINDINGS,
        tokenBudgets=MAX_FINDINGS,
        contradictions=MAX_FINDINGS,
        unproven=MAX_UNPROVEN,
    )
    if page.unlisted:
        content["more"] = {**content.get("more", {}), "rewrites": page.unlisted}
    return AgentAnswer(content=content, card=rewrite_card(page.listed) if has_card else None)


def rewrite_card(rewrites: Iterable[Rewrite]) -> dict[str, Any]:
    """Return what a card in the chat shows of each rewrite: the words that go and come, and what they rest on."""
    return {"rewrites": [[_marked(change) for change in rewrite.changes] for rewrite in rewrites]}


def _marked(change: Change) -> dict[str, Any]:
    diff = change_diff(change)
    is_long = len(diff.before) + len(diff.after) > MAX_MARKED
    runs = (("-", diff.before[:MAX_MARKED]), ("+", diff.after[:MAX_MARKED])) if is_long else diff_runs(diff)
    return {
        "path": readable(change.path),
        "runs": [(kind, readable(text)) for kind, text in runs],
        "sources": list(map(readable, change.sources)),
    }


def in_order(rewrites: Sequence[Rewrite]) -> list[Rewrite]:
    """The most gain per token first; what has no score comes last."""

    def rank(rewrite: Rewrite) -> tuple[bool, float]:
        gain = rewrite.tdqs_change
        return not gain, -gain / max(rewrite.tokens_added, 1)

    return sorted(rewrites, key=rank)


def question_lines(questions: Iterable[Question]) -> list[dict[str, Any]]:
    """Return questions with their tools where the text only counts them."""
    return [answer(question, only="id text" if question.is_naming_all else "id text tools") for question in questions]


def compare_answer(
    comparison: Comparison, *, catalogs: tuple[str, str], is_drafted: bool, window: Window, next_step: str
) -> AgentAnswer:
    """The numbers of both versions and one page of their differences: what breaks callers first, wording last.

    New words are only counted where the new version `is_drafted` from the old: the caller has them.
    """
    rank = list(Impact).index
    changes = [(tool.name, difference) for tool in comparison.tools for difference in tool.differences]
    changes.sort(key=lambda change: rank(change[1].impact))
    listed = [change for change in changes if not (is_drafted and change[1].impact is Impact.WORDING)]
    failures = unjudged_lines(unjudged(comparison.old), unjudged(comparison.new))
    lines = _difference_lines(listed)
    content = {
        **window.head(len(lines)),
        "oldCatalog": catalogs[0],
        "newCatalog": catalogs[1],
        **answer(comparison, only=_COMPARISON),
        **_verdict_lines(comparison),
        "regressions": [fence(regression, MAX_MESSAGE) for regression in comparison.regressions],
        "impacts": {impact.value: count for impact, count in Counter(change.impact for _, change in changes).items()},
        "breaking": [line for line in lines if line["impact"] == Impact.BREAKING],
        "changes": list(window.page(lines)),
        "scores": [answer(tool, only="name tdqsBefore=before tdqsAfter=after") for tool in comparison.moved_tools],
        "newFindings": _new_findings(comparison),
        **_budget_notice(comparison),
        "fixedFindings": len(comparison.findings_fixed),
        "problems": first_problems(comparison.problems),
        "ungraded": list(map(fence, failures)),
        "next": _with_losses(comparison, next_step),
    }
    lists = "regressions breaking scores newFindings tokenBudgets ungraded".split()
    return AgentAnswer(content=cut_lists(content, **dict.fromkeys(lists, window.limit)))


def _new_findings(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the new errors and warnings, the worst first."""
    worst = [finding for finding in comparison.findings_added if finding.severity is not Severity.INFO]
    worst.sort(key=lambda finding: -finding.severity.rank)
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for finding in worst:
        line = answer(finding, only="part rule severity message", limit=MAX_MESSAGE)
        first = lines.setdefault((finding.rule, finding.message), line)
        if first is not line:
            first["alsoIn"] = [*first.get("alsoIn", []), line["part"]]
    return list(lines.values())


_BUDGETS = frozenset({"TDQ401", "TDQ402"})
"""Rules about tokens of a tool and of all."""


def _budget_notice(comparison: Comparison) -> dict[str, list[str]]:
    """Return that a token budget is newly exceeded, which makes no version worse."""
    exceeded = [finding for finding in comparison.findings_added if finding.rule in _BUDGETS]
    return {"tokenBudgets": [fence(finding.message, MAX_MESSAGE) for finding in exceeded]} if exceeded else {}


def _difference_lines(changes: Iterable[tuple[str, Difference]]) -> list[dict[str, Any]]:
    """Return the differences in their order; the same change of hints in several tools is one line."""
    lines: dict[object, dict[str, Any]] = {}
    for place, (name, difference) in enumerate(changes):
        key = (difference.impact, difference.message) if difference.path == ANNOTATIONS else place
        line = lines.setdefault(key, {"tool": fence_name(name), **answer(difference, limit=MAX_MESSAGE)})
        if line["tool"] != fence_name(name):
            line["alsoIn"] = [*line.get("alsoIn", []), fence_name(name)]
    return list(lines.values())
