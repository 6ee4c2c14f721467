"""Answers to an agent, in pages: findings, scores, prompts to be judged and the scores of its own judgement.

An answer is a projection of a result (`answer`), in which every foreign text is fenced, with words of ours beside it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.report.escape import MAX_FENCED, NOTICE, fence, fence_exact, fence_name, unseen
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.report.server_advice import common_gaps, server_advice, text_and_gaps
from tdqs_mcp.results.checks import Selection
from tdqs_mcp.results.findings import Finding, LintReport, Severity, by_tool, tally
from tdqs_mcp.results.labels import CodeReview, Label, LabeledTool, LabelScore
from tdqs_mcp.results.scores import ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rewriting.tool_selection import PromptBatch
from tdqs_mcp.scoring.score import dimension_means, fixes_by_tool

MAX_MESSAGE = 160
"""Characters of a message or suggestion in a summary; the whole of it is in the details."""

MAX_BELOW = 120
"""Tools behind a page whose names and scores are listed."""

MAX_ADVICE = 10
"""Entries of each list of advice."""

MAX_PROBLEMS, MAX_PROBLEM = 5, 400
"""Problems that an answer names, and characters of one, which may quote a sentence of a definition."""

MAX_NAMES = 20
"""Names in a list that only says which tools are meant."""

JUDGE = "id version model calibration"
SEVERITIES = "error warning info"

PAGE_BUDGET = 24_000
"""Characters of the entries in one answer, so that an agent's context can hold it."""

Scored: TypeAlias = ServerScore | LabelScore
AnyTool: TypeAlias = ToolScore | LabeledTool | UngradedTool
Part: TypeAlias = Literal["tools", "coherence", "shadowing", "skill", "code", "plans"]
Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """JSON for an agent, in which every foreign text is fenced."""

    content: Mapping[str, Any]
    card: Mapping[str, Any] | None = None
    """Data for a card in the chat alone; None where the client shows no cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A page of a long answer."""

    offset: int = 0
    limit: int = 10
    is_full: bool = False
    """With details for the entries of the page."""

    def page(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return the entries of the page."""
        return entries[self.offset : self.offset + self.limit]

    def head(self, total: int) -> dict[str, Any]:
        """Return the notice that every answer begins with, and the page's position; no next offset on the last one."""
        end = self.offset + self.limit
        return {"notice": NOTICE, "offset": self.offset, "total": total, "nextOffset": end if end < total else None}


def lint_answer(
    report: LintReport,
    *,
    mildest: Severity = Severity.INFO,
    tool: str | None = None,
    catalog: str,
    window: Window,
    page: str,
    next_step: str,
) -> AgentAnswer:
    """Return one page of the findings from the mildest severity on, or of one tool, the worst first; counts are of all.

    `page` explains a rule; empty where none is asked about.
    """
    worst = [finding for finding in report.worst_first if finding.severity.rank >= mildest.rank]
    worst = [finding for finding in worst if tool in (None, finding.subject.name)]
    limit = MAX_FENCED if window.is_full else MAX_MESSAGE
    members = "tool index rule severity dimension path message suggestion"
    content = {
        **window.head(len(worst)),
        "server": fence_name(report.server),
        "catalog": catalog,
        "toolCount": len(report.tools),
        "cleanToolCount": len(report.clean_tools),
        "counts": answer(tally(report.findings), only=SEVERITIES),
        "rules": {fence(rule): count for rule, count in sorted(Counter(finding.rule for finding in worst).items())},
        "hiddenCount": report.hidden,
        "findings": [answer(finding, only=members, limit=limit) for finding in window.page(worst)],
        "problems": first_problems(report.problems),
        **({"page": page} if page else {}),
        "next": next_step,
    }
    return AgentAnswer(content=content)


def first_problems(problems: Sequence[str]) -> list[str]:
    """Return the first problems, and how many more there are."""
    more = len(problems) - MAX_PROBLEMS
    lines = [*problems[:MAX_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
    return [fence(line, MAX_PROBLEM) for line in lines]


def prompts_answer(
    prompts: Mapping[str, Any],
    part: Part,
    *,
    names: Sequence[str],
    server: str,
    catalog: str,
    rubric: str,
    is_answered: Callable[[Mapping[str, Any]], bool],
    values: Callable[[Mapping[str, Any]], str],
    template: str,
    schema: Mapping[str, Any],
    window: Window,
    next_step: str,
) -> AgentAnswer:
    """Return a page of the prompts that have no answer, cut where it grows too long.

    The system prompt and the schema come with the first page. Of a catalog whose `names` are more than a few, so do the
    template and the list of siblings, which all prompts share; each is then its values for the template.
    """
    entries = prompts["tools"] if part in ("tools", "code") else [prompts[part]]
    open_places = [place for place, entry in enumerate(entries) if not is_answered(entry)]
    ahead = [place for place in open_places if place >= window.offset]
    is_short = "name" in entries[0] and len(" ".join(names)) > MAX_SIBLINGS
    users = {place: values(entries[place]) if is_short else entries[place]["user"] for place in ahead[: window.limit]}
    page = within_budget(users, lambda place: len(users[place]))
    is_first = bool(page) and not window.offset
    siblings = fence(" ".join(names), PAGE_BUDGET)
    content = {
        **window.head(len(entries)),
        "nextOffset": ahead[len(page)] if len(page) < len(ahead) else None,
        "server": fence_name(server),
        "catalog": catalog,
        "part": part,
        "rubric": rubric,
        "answeredCount": len(entries) - len(open_places),
        **({"system": entries[page[0]]["system"]} if is_first else {}),
        **({"template": template} if is_first and is_short else {}),
        **({"siblings": siblings} if is_first and is_short and "{siblings}" in template else {}),
        "prompts": [_prompt_line(entries[place], users[place]) for place in page],
        **({"answerSchema": dict(schema)} if is_first else {}),
        "next": next_step,
    }
    return AgentAnswer(content=content)


MAX_SIBLINGS = 200
"""Characters of the tools' names up to which each prompt is whole."""


def _prompt_line(entry: Mapping[str, str], user: str) -> dict[str, Any]:
    """Return a prompt between two lines that carry its hash, and the invisible characters in it."""
    return {
        **({"name": fence_name(entry["name"])} if "name" in entry else {}),
        **({"inputHash": entry["inputHash"]} if "inputHash" in entry else {}),
        "user": fence_exact(user),
        **({"unseen": characters} if (characters := unseen(user)) else {}),
    }


def within_budget(
    entries: Iterable[Entry], size: Callable[[Entry], int] = lambda entry: len(json.dumps(entry, ensure_ascii=False))
) -> list[Entry]:
    """Return the first of the entries up to the budget, and at least one; by default they are JSON."""
    room = PAGE_BUDGET
    page: list[Entry] = []
    for entry in entries:
        room -= size(entry)
        if page and room < 0:
            break
        page.append(entry)
    return page


def cut_lists(content: Mapping[str, Any], **limits: int) -> dict[str, Any]:
    """Return an answer whose lists have at most so many entries, with how many `more` there are."""
    lists = {name: content[name] for name in limits if name in content}
    more = {name: len(entries) - limits[name] for name, entries in lists.items() if len(entries) > limits[name]}
    cut = {name: entries[: limits[name]] for name, entries in lists.items()}
    return {**content, **cut, **({"more": more} if more else {})}


def report_document(score: Scored) -> dict[str, Any]:
    """Return the whole report for an agent."""
    return {"notice": NOTICE, **answer(score)}


def score_answer(
    score: Scored,
    measured: Measured | None = None,
    *,
    catalog: str,
    report: str,
    window: Window,
    next_step: str,
    has_card: bool = False,
) -> AgentAnswer:
    """The server's numbers and one page of tools: ungraded ones first, then by score, the lowest first.

    With the measured catalog it has the tools' texts, and begins with what is certain and what is true of many tools.
    `report` is the resource URI of the whole report.
    """
    tools: list[AnyTool] = [*score.ungraded, *score.lowest_tools]
    subjects = {subject.tool.index: subject for subject in measured.subjects} if measured else {}
    page = window.page(tools)
    common = common_gaps(measured) if measured else []
    lines = within_budget(
        {**line, **(text_and_gaps(subjects[tool.index], common=common) if tool.index in subjects else {})}
        for tool, line in zip(page, _tool_lines(score, page, is_full=window.is_full), strict=True)
    )
    coherence = score.coherence_justifications if isinstance(score, ServerScore) else {}
    content = {
        **replace(window, limit=len(lines) or window.limit).head(len(tools)),
        "server": fence_name(score.server),
        "catalog": catalog,
        "report": report,
        **answer(score, only=f"judge({JUDGE}) rubric spec_version tool_count scored_tool_count"),
        **_results(score),
        **(server_advice(score.findings, measured, coherence) if measured else {}),
        "findings": answer(tally(score.findings), only=SEVERITIES),
        **shared_reasons(lines),
        "tools": lines,
    }
    if measured and isinstance(score, ServerScore):
        rest = score.lowest_tools[max(0, window.offset + len(lines) - len(score.ungraded)) :][:MAX_BELOW]
        below = {fence_name(tool.name): tool.tdqs / 10 for tool in rest if tool.tier is not Tier.A}
        content |= {"alsoBelowA": below} if below else {}
    if window.is_full and isinstance(score, ServerScore):
        parts = "coherence_justifications coherence_summary shadowing_risks shadow_candidates"
        content["full"] = answer(score, only=parts)
    content = {**content, "problems": first_problems(score.problems), "next": next_step}
    content = cut_lists(content, **dict.fromkeys(("contradictions", "shared", "toolSet"), MAX_ADVICE))
    means = dimension_means(score.rubric, score.tools) if has_card else ()
    card = {"means": [{"title": dimension.title, "mean": mean} for dimension, mean in means]}
    return AgentAnswer(content=content, card=card if has_card else None)


def _results(score: Scored) -> dict[str, Any]:
    """Return the numbers of the server, and how many tools have each tier or label; beside them a jury's agreement."""
    content: dict[str, Any] = {}
    if isinstance(score, LabelScore):
        labels = Counter(tool.label for tool in score.tools)
        content["labels"] = {label.value: labels[label] for label in Label if labels[label]}
        content |= answer(score, only="discovery_status? quality_score?")
        urgent = score.suggestions[:MAX_NAMES]
        content["actionableSuggestions"] = [answer(suggestion, limit=MAX_MESSAGE) for suggestion in urgent]
    else:
        tiers = Counter(tool.tier for tool in score.tools)
        points = {key: judgement.score for key, judgement in score.coherence_justifications.items()}
        content |= answer(score.rollup, only="overall overall_tier description_quality coherence")
        content |= answer(score, only="percentiles")
        content["coherence"] = points or None
        content["tiers"] = {tier.value: tiers[tier] for tier in Tier if tiers[tier]}
        content |= answer(score, only="discovery_status?")
    if score.agreement:
        icc = {
            dimension: None if reliability.icc is None else float(f"{reliability.icc:.3f}")
            for dimension, reliability in score.agreement.items()
        }
        close = [fence_name(tool.name) for tool in score.tools if tool.jury and tool.jury.too_close]
        content["jury"] = {"icc": icc, "tooClose": close[:MAX_NAMES]}
    return content


def tool_answer(score: Scored, *, catalog: str, index: int, is_full: bool, next_step: str) -> AgentAnswer:
    """Return one tool of a scored catalog; `why` is the judge's reason for the lowest score."""
    tools: list[AnyTool] = [*score.tools, *score.ungraded]
    tool = next(tool for tool in tools if tool.index == index)
    graded = None if isinstance(tool, UngradedTool) else tool
    members = "rule severity dimension path message suggestion"
    findings = [finding for finding in score.findings if finding.tool_index == index]
    content = {
        **_grade(score, tool),
        "notice": NOTICE,
        "catalog": catalog,
        "name": fence_name(tool.name),
        "inputHash": graded.input_hash if graded else None,
        **answer(score, only=f"judge({JUDGE}) rubric spec_version"),
        "scores": dict(graded.scores) if graded else {},
        "why": fence(graded.judgements[graded.weakest].justification) if graded else None,
        "flags": [flag.value for flag in graded.flags] if graded else [],
        "findings": [answer(finding, only=members) for finding in findings],
        **({"full": _details(score, graded)} if graded and is_full else {}),
        **({"problems": first_problems(score.problems)} if score.problems else {}),
        "next": next_step,
    }
    return AgentAnswer(content=content)


def _tool_lines(score: Scored, page: Sequence[AnyTool], *, is_full: bool) -> Iterator[dict[str, Any]]:
    """Yield a page of tools, each with the finding to begin with; with all scores and reasons if it is full."""
    findings = by_tool(score.findings)
    fixes = _fixes(score, page, findings)
    for tool in page:
        fix = fixes.get(tool.index)
        has_details = is_full and not isinstance(tool, UngradedTool)
        yield {
            **_grade(score, tool, limit=MAX_MESSAGE),
            **_why(tool),
            "index": tool.index,
            "name": fence_name(tool.name),
            "findings": answer(tally(findings.get(tool.index, [])), only=SEVERITIES),
            **({"fix": answer(fix, only="rule message suggestion", limit=MAX_MESSAGE)} if fix else {}),
            **({"full": _details(score, tool)} if has_details else {}),
        }


def _why(tool: AnyTool) -> dict[str, Any]:
    """Return the first sentence of the judge's reason for the lowest score of a tool that is not in tier A."""
    if not isinstance(tool, ToolScore) or tool.tier is Tier.A:
        return {}
    return {"why": fence(sentences_of(tool.judgements[tool.weakest].justification)[0], MAX_MESSAGE)}


def lowest_lines(score: ServerScore, *, below: int) -> list[dict[str, Any]]:
    """Return the lowest tools below a score, each with the judge's reason and the finding to begin with."""
    page = [tool for tool in score.lowest_tools if tool.tdqs < below]
    fixes = _fixes(score, page, by_tool(score.findings))
    return [
        {
            **answer(tool, only="name tdqs weakest"),
            **_why(tool),
            **(
                {"fix": answer(fixes[tool.index], only="rule suggestion", limit=MAX_MESSAGE)}
                if tool.index in fixes
                else {}
            ),
        }
        for tool in page
    ]


def shared_values(lines: Sequence[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Take what several tools have under a key out of their lines; return each once, with the names of its tools."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if key in line:
            groups.setdefault(json.dumps(line[key]), []).append(line)
    shared = [group for group in groups.values() if len(group) > 1]
    values = [(group[0][key], [line["name"] for line in group]) for group in shared]
    for line in (line for group in shared for line in group):
        del line[key]
    return [{**(value if isinstance(value, dict) else {key: value}), "tools": names} for value, names in values]


def shared_reasons(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the fixes and the reasons for low scores that several tools have in common, out of their lines."""
    shared = {"sharedFixes": shared_values(lines, "fix"), "sharedWhy": shared_values(lines, "why")}
    return {key: values for key, values in shared.items() if values}


def _fixes(
    score: Scored, page: Sequence[AnyTool], by_tool: Mapping[int | None, Sequence[Finding]]
) -> dict[int, Finding]:
    """The finding to begin with, by the tool's index: the costliest, or the worst where no dimension has a weight."""
    if isinstance(score, ServerScore):
        scored = tuple(tool for tool in page if isinstance(tool, ToolScore))
        return {fix.tool.index: fix.finding for fix, *_ in fixes_by_tool(replace(score, tools=scored))}
    labeled = [tool.index for tool in page if isinstance(tool, LabeledTool) and tool.index in by_tool]
    return {index: max(by_tool[index], key=lambda finding: finding.severity.rank) for index in labeled}


def _details(score: Scored, tool: AnyTool) -> dict[str, Any]:
    """Return one tool's entry in the whole report, and its findings."""
    findings = [answer(finding) for finding in score.findings if finding.tool_index == tool.index]
    return {**answer(tool), "findings": findings}


def _grade(score: Scored, tool: AnyTool, *, limit: int = MAX_FENCED) -> dict[str, Any]:
    """Return the result of a tool's scores under this rubric; an ungraded tool has the rubric's keys too."""
    keys = "tdqs tier" if isinstance(score, ServerScore) else "label overall"
    if isinstance(tool, UngradedTool):
        return {**dict.fromkeys(keys.split()), "weakest": None, "ungraded": fence(tool.ungraded.reason, limit)}
    return answer(tool, only=f"{keys} weakest")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatus:
    """The result of handing in one answer."""

    name: str
    refused: str | None = None
    """Why it was not accepted."""

    doubts: tuple[str, ...] = ()
    """Statements in it that its definition does not support: quotations, contradictions of the facts."""


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
) -> AgentAnswer:
    """The score so far, and what is still missing from it; None where no set or no skill is judged."""
    doubtful = [reply for reply in replies if reply.doubts]
    absent = {"coherenceMissing": is_coherence_missing, "skillMissing": is_skill_missing}
    content = {
        **score_answer(score, catalog=catalog, report=report, window=Window(), next_step=next_step).content,
        **_replies(replies),
        "unverified": [
            {"name": fence_name(reply.name), "doubts": list(map(fence, reply.doubts))} for reply in doubtful
        ],
        **_missing(missing),
        **{key: is_missing for key, is_missing in absent.items() if is_missing is not None},
    }
    return AgentAnswer(content=content)


def review_answer(
    review: CodeReview, *, catalog: str, next_step: str, replies: Sequence[AnswerStatus], missing: Sequence[str]
) -> AgentAnswer:
    """Return the findings of the caller, who has read the code, as far as its answers were accepted."""
    findings = within_budget(answer(finding) for finding in review.findings)
    content = {
        "notice": NOTICE,
        "server": fence_name(review.server),
        "catalog": catalog,
        **answer(review, only=f"judge({JUDGE}) tool_count reviewed_tool_count"),
        "findingCount": len(review.findings),
        "findings": findings,
        **_replies(replies),
        **_missing(missing),
        "problems": first_problems(review.problems),
        "next": next_step,
    }
    return AgentAnswer(content=content)


def requests_answer(batch: PromptBatch, *, catalog: str, schema: Mapping[str, Any], left: int) -> AgentAnswer:
    """Return the requests that share an order of the tools; each is answered by itself."""
    content = {
        "notice": NOTICE,
        "catalog": catalog,
        "part": "plans",
        "system": fence_exact(batch.system),
        "prompts": [
            {"name": PLAN, "inputHash": key, "user": fence_exact(f"Request: {text}")} for key, text in batch.queries
        ],
        "leftCount": left,
        "answerSchema": dict(schema),
        "next": f"Plan each request as the system prompt says, then the same call with answers, each named {PLAN}.",
    }
    return AgentAnswer(content=content)


PLAN = "plan"
"""The name of an answer that is a plan."""


def plans_answer(
    selection: Selection, *, catalog: str, replies: Sequence[AnswerStatus], left: int, next_step: str
) -> AgentAnswer:
    """Return how the caller's plans do, what is confused, and what would part it."""
    content = {
        "notice": NOTICE,
        "catalog": catalog,
        "part": "plans",
        **answer(selection, only="figures plans kinds"),
        "confusions": within_budget(answer(confusion) for confusion in selection.confusions),
        **_replies(replies),
        "leftCount": left,
        "problems": first_problems(selection.problems),
        "next": next_step,
    }
    return AgentAnswer(content=content)


def _replies(replies: Sequence[AnswerStatus]) -> dict[str, Any]:
    """Return how many answers were accepted, and why others were refused."""
    refused = [(reply.name, reply.refused) for reply in replies if reply.refused is not None]
    return {
        "accepted": len(replies) - len(refused),
        "refused": [{"name": fence_name(name), "reason": fence(reason)} for name, reason in refused],
    }


def _missing(names: Sequence[str]) -> dict[str, Any]:
    """Return the tools without an answer."""
    return {"missingCount": len(names), "missing": list(map(fence_name, names[:MAX_NAMES]))}
