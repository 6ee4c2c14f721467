"""What an agent gets from our MCP tools: short by default, in pages, every word of a definition fenced as data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from tdqs_mcp.model import results
from tdqs_mcp.model.results import Severity, Tier, Ungraded, Verdict, tier_of
from tdqs_mcp.pipeline.priority import first_fixes
from tdqs_mcp.reporters.contract import score_document
from tdqs_mcp.reporters.fence import NOTICE, fence, fence_exact, fence_json, fence_name, fenced, unseen

MAX_MESSAGE = 160
"""Characters of a message or suggestion in a summary; the whole of it is in the details."""

MAX_PROBLEMS = 5
MAX_NAMES = 20
"""Names in a list that only says which tools are meant."""

PROMPT_BUDGET = 24_000
"""Characters of prompts on one page: what an agent can hold beside its work."""

OURS = frozenset({"flags", "serverFlags", "smells", "severity", "specVersion", "generatedBy", "aliases"})
"""Keys of a score document whose texts are our own words, not the definition's or a judge's."""

Point = Annotated[int, Field(ge=1, le=5)]


class _Document(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Tally(_Document):
    """Findings by severity."""

    error: int
    warning: int
    info: int


class Judge(_Document):
    """Who judged; only numbers with equal stamps compare."""

    id: str
    version: str
    model: str | None
    calibration: str | None


class FindingLine(_Document):
    """One defect at one place."""

    tool: str | None = Field(default=None, description="Tool name; absent for the server itself")
    index: int | None = Field(default=None, description="The tool's position in the catalog")
    rule: str = Field(description="Rule id; explain_rule says why it matters")
    severity: Severity
    dimension: str | None
    path: str = Field(description="JSON pointer inside the definition")
    message: str
    suggestion: str | None


class Fix(_Document):
    """The finding to begin with."""

    rule: str
    message: str
    suggestion: str | None


class ToolLine(_Document):
    """One tool in a few words."""

    index: int = Field(description="Position in the catalog: the identity that duplicate names leave")
    name: str
    tdqs: float | None = Field(description="1.0-5.0; null when nobody graded it")
    tier: Tier | None
    weakest: str | None = Field(description="Dimension with the lowest score")
    findings: Tally
    fix: Fix | None = Field(description="What to fix first")
    ungraded: str | None = Field(default=None, description="Why there is no score")
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: all scores, reasons and findings")


class _Page(_Document):
    offset: int = Field(description="Where this page starts")
    total: int = Field(description="Entries on all pages")
    next_offset: int | None = Field(description="offset of the next page; null on the last one")


class ScoreAnswer(_Page):
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
    overall_score: float | None = Field(description="1.0-5.0; null while a part is missing, never guessed")
    overall_tier: Tier | None
    description_quality_score: float | None
    coherence_score: float | None
    coherence: dict[str, Point] | None = Field(description="The four scores of the tool set")
    tiers: dict[str, int] = Field(description="Tools by tier")
    findings: Tally
    tools: list[ToolLine]
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: reasons for the tool set's scores")
    problems: list[str]
    next: str = Field(description="What to do next")


class ToolAnswer(_Document):
    """One definition's score and what to fix in it."""

    notice: str
    name: str
    input_hash: str | None
    judge: Judge
    rubric: str
    spec_version: str
    tdqs: float | None = Field(description="1.0-5.0; null when it could not be graded")
    tier: Tier | None
    scores: dict[str, Point] = Field(description="Dimension scores")
    weakest: str | None = Field(description="Dimension with the lowest score")
    why: str | None = Field(description="The judge's reason for the lowest score")
    flags: list[str]
    findings: list[FindingLine]
    ungraded: str | None = Field(default=None, description="Why there is no score")
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: reasons, evidence and signals")
    next: str = Field(description="What to do next")


class LintAnswer(_Page):
    """Findings, the worst first."""

    notice: str
    server: str
    catalog: str = Field(description="Names this catalog in later calls instead of tools or locator")
    tool_count: int
    clean_tool_count: int
    counts: Tally = Field(description="All findings of the chosen rules, whatever tool and severity were asked for")
    rules: dict[str, int] = Field(description="Findings by rule id, after filtering")
    hidden_count: int = Field(description="Low-confidence findings, which profile strict shows")
    findings: list[FindingLine]
    problems: list[str]
    next: str = Field(description="What to do next")


class Numbers(_Document):
    """A definition's score before or after a rewrite."""

    tdqs: float
    tier: Tier


class ChangeLine(_Document):
    """One rewritten field."""

    path: str = Field(description="JSON pointer inside the definition")
    before: str = Field(description="JSON between the marks")
    after: str = Field(description="JSON between the marks")
    sources: list[str] = Field(description="What the new words rest on")


class ClaimLine(_Document):
    """One new statement."""

    text: str
    sources: list[str] = Field(description="Where it comes from")


class Likeness(_Document):
    """How much of what tool and nearest sibling say of themselves both say, in percent."""

    sibling: str | None
    before: int
    after: int


class RewriteAnswer(_Document):
    """A better definition with its proof."""

    notice: str
    name: str
    definition: str = Field(description="The proposed definition: parse the JSON between the marks; name, schema kept")
    changes: list[ChangeLine]
    claims: list[ClaimLine] = Field(description="Every new statement; none is without a source")
    components: list[results.Component] = Field(description="What the new definition tells of")
    questions: list[str] = Field(description="What only the author can know")
    before: Numbers | None
    after: Numbers | None
    tokens_before: int
    tokens_after: int
    findings_removed: list[str] = Field(description="Rule ids")
    findings_added: list[str]
    likeness: Likeness | None = Field(description="Null for a tool without siblings")
    writer: str = Field(description="offline, or the model whose words these are")
    setback: str | None = Field(description="Why the writer's words do not stand")
    next: str = Field(description="What to do next")


class Explanation(_Document):
    """A page of ours: why, a bad and a good example."""

    id: str
    page: str = Field(description="Markdown")


class PromptLine(_Document):
    """One exact prompt."""

    name: str | None = Field(default=None, description="Tool name")
    input_hash: str | None = Field(default=None, description="Goes back with the answer")
    prompt_hash: str
    user: str = Field(description="The exact user message, between two lines that carry its hash")
    unseen: list[str] = Field(description="Invisible characters in it")


class PromptsAnswer(_Page):
    """Prompts to be judged by the agent that called."""

    notice: str
    server: str
    catalog: str = Field(description="Names this catalog in submit_judgement")
    part: Literal["tools", "coherence", "shadowing"]
    system: str = Field(description="The exact system prompt of every prompt here")
    prompts: list[PromptLine]
    answer_schema: dict[str, Any] = Field(description="JSON Schema of one answer")
    next: str = Field(description="What to do next")


class Refusal(_Document):
    """An answer that was not used."""

    name: str
    reason: str


class JudgementAnswer(ScoreAnswer):
    """How far the judgement is, and the score so far."""

    judgement: str = Field(description="Goes with the next batch of answers")
    accepted: int = Field(description="Answers taken in this call")
    refused: list[Refusal]
    missing_count: int
    missing: list[str] = Field(description="Tools without an answer, 20 at most")
    coherence_missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of a long answer is wanted."""

    offset: int = 0
    limit: int = 10
    is_full: bool = False
    """With details for the entries of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which findings are listed."""

    worst_from: Severity = Severity.INFO
    """The mildest severity."""

    tool: str | None = None

    def has(self, finding: results.Finding) -> bool:
        """Whether the finding is listed."""
        return finding.severity.rank >= self.worst_from.rank and self.tool in (None, finding.subject.name)


def score_answer(
    score: results.ServerScore, *, catalog: str, report: str, window: Window, next_step: str
) -> ScoreAnswer:
    """The server's numbers and one page of tools: ungraded ones first, then by score, the lowest first."""
    return ScoreAnswer(**_score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step))


def judgement_answer(
    score: results.ServerScore,
    *,
    catalog: str,
    report: str,
    judgement: str,
    window: Window,
    next_step: str,
    accepted: int,
    refused: Sequence[tuple[str, str]],
) -> JudgementAnswer:
    """The score so far, and what is still missing from it."""
    missing = [tool.name for tool in score.ungraded if tool.input_hash]
    return JudgementAnswer(
        **_score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step),
        judgement=judgement,
        accepted=accepted,
        refused=[Refusal(name=fence_name(name), reason=fence(reason)) for name, reason in refused],
        missing_count=len(missing),
        missing=[fence_name(name) for name in missing[:MAX_NAMES]],
        coherence_missing=isinstance(score.coherence, Ungraded),
    )


def tool_answer(score: results.ServerScore, *, index: int, is_full: bool, next_step: str) -> ToolAnswer:
    """One tool of a scored catalog."""
    tool = next((each for each in score.tools if each.index == index), None)
    findings = [finding for finding in score.findings if finding.tool_index == index]
    answer = ToolAnswer(
        notice=NOTICE,
        name=fence_name(tool.name if tool else ""),
        input_hash=tool.input_hash if tool else None,
        judge=_judge(score.judge),
        rubric="tdqs",
        spec_version=score.spec_version,
        tdqs=tool.tdqs / 10 if tool else None,
        tier=tool.tier if tool else None,
        scores={key: judgement.score for key, judgement in tool.judgements.items()} if tool else {},
        weakest=_weakest(tool) if tool else None,
        why=fence(tool.judgements[_weakest(tool)].justification) if tool else None,
        flags=list(tool.flags) if tool else [],
        findings=[_finding(finding, with_tool=False) for finding in findings],
        next=next_step,
    )
    if tool is None:
        ungraded = next(each for each in score.ungraded if each.index == index)
        return answer.model_copy(
            update={"name": fence_name(ungraded.name), "ungraded": fence(ungraded.ungraded.reason)}
        )
    return answer.model_copy(update={"full": _full(score, tool)}) if is_full else answer


def lint_answer(
    report: results.LintReport,
    wanted: Wanted,
    *,
    catalog: str,
    window: Window,
    next_step: str,
) -> LintAnswer:
    """One page of the findings that were asked for, the worst first; counts are of all."""
    worst = sorted(filter(wanted.has, report.findings), key=lambda finding: -finding.severity.rank)
    touched = {finding.tool_index for finding in report.findings}
    page = worst[window.offset : window.offset + window.limit]
    return LintAnswer(
        notice=NOTICE,
        server=fence_name(report.server),
        catalog=catalog,
        tool_count=len(report.tools),
        clean_tool_count=sum(index not in touched for index in range(len(report.tools))),
        counts=_tally(report.findings),
        rules=dict(sorted(Counter(finding.rule for finding in worst).items())),
        hidden_count=report.hidden,
        findings=[_finding(finding, limit=None if window.is_full else MAX_MESSAGE) for finding in page],
        problems=_problems(report.problems),
        next=next_step,
        **_page(window, len(worst)),
    )


def rewrite_answer(rewrite: results.Rewrite, *, next_step: str) -> RewriteAnswer:
    """A proposed definition; its JSON stands between the marks."""
    return RewriteAnswer(
        notice=NOTICE,
        name=fence_name(rewrite.name),
        definition=fence_json(rewrite.definition),
        changes=[
            ChangeLine(
                path=fence(change.path),
                before=fence_json(change.before),
                after=fence_json(change.after),
                sources=[fence(source) for source in change.sources],
            )
            for change in rewrite.changes
        ],
        claims=[
            ClaimLine(text=fence(claim.text), sources=[fence(source) for source in claim.sources])
            for claim in rewrite.claims
        ],
        components=list(rewrite.components),
        questions=[fence(question) for question in rewrite.questions],
        before=_numbers(rewrite.before),
        after=_numbers(rewrite.after),
        tokens_before=rewrite.tokens_before,
        tokens_after=rewrite.tokens_after,
        findings_removed=list(rewrite.findings_removed),
        findings_added=list(rewrite.findings_added),
        likeness=_likeness(rewrite.likeness_before, rewrite.likeness_after),
        writer=rewrite.writer if rewrite.writer == results.OFFLINE else fence(rewrite.writer, limit=100),
        setback=None if rewrite.setback is None else fence(rewrite.setback),
        next=next_step,
    )


def prompts_answer(
    prompts: Mapping[str, Any],
    part: Literal["tools", "coherence", "shadowing"],
    *,
    server: str,
    catalog: str,
    schema: Mapping[str, Any],
    window: Window,
    next_step: str,
) -> PromptsAnswer:
    """One page of the prompts of `prompts --format json`, cut early where they grow beyond the budget."""
    entries = prompts["tools"] if part == "tools" else [prompts[part]]
    page = _within(entries[window.offset : window.offset + window.limit])
    return PromptsAnswer(
        notice=NOTICE,
        server=fence_name(server),
        catalog=catalog,
        part=part,
        system=page[0]["system"] if page else "",
        prompts=[_prompt(entry) for entry in page],
        answer_schema=dict(schema),
        next=next_step,
        **_page(replace(window, limit=max(1, len(page))), len(entries)),
    )


def report_document(score: results.ServerScore) -> dict[str, Any]:
    """The whole of a report: the document of `score --format json`, fenced."""
    return {"notice": NOTICE, **_fenced(score_document(score))}


def _score_fields(
    score: results.ServerScore, *, catalog: str, report: str, window: Window, next_step: str
) -> dict[str, Any]:
    rollup = score.rollup
    verdict = score.coherence if isinstance(score.coherence, Verdict) else None
    lines: list[results.ToolScore | results.UngradedTool] = [
        *score.ungraded,
        *sorted(score.tools, key=lambda tool: (tool.tdqs, tool.index)),
    ]
    page = lines[window.offset : window.offset + window.limit]
    fields: dict[str, Any] = {
        "notice": NOTICE,
        "server": fence_name(score.server),
        "catalog": catalog,
        "report": report,
        "judge": _judge(score.judge),
        "rubric": "tdqs",
        "spec_version": score.spec_version,
        "tool_count": score.tool_count,
        "scored_tool_count": len(score.tools),
        "overall_score": _number(rollup.overall),
        "overall_tier": None if rollup.overall is None else tier_of(rollup.overall),
        "description_quality_score": _number(rollup.description_quality),
        "coherence_score": _number(rollup.coherence),
        "coherence": {key: each.score for key, each in verdict.judgements.items()} if verdict else None,
        "tiers": {tier: count for tier in Tier if (count := sum(each.tier is tier for each in score.tools))},
        "findings": _tally(score.findings),
        "tools": _lines(score, page, is_full=window.is_full),
        "problems": _problems(score.problems),
        "next": next_step,
        **_page(window, len(lines)),
    }
    return fields | ({"full": _set_details(score)} if window.is_full else {})


def _lines(
    score: results.ServerScore, page: Sequence[results.ToolScore | results.UngradedTool], *, is_full: bool
) -> list[ToolLine]:
    by_tool: dict[int | None, list[results.Finding]] = {}
    for finding in score.findings:
        by_tool.setdefault(finding.tool_index, []).append(finding)
    shown = [tool for tool in page if isinstance(tool, results.ToolScore)]
    fixes = {fix.tool.index: fix.finding for fix in first_fixes(replace(score, tools=tuple(shown)), len(shown))}
    return [
        _line(score, tool, by_tool.get(tool.index, []), fix=fixes.get(tool.index), is_full=is_full) for tool in page
    ]


def _line(
    score: results.ServerScore,
    tool: results.ToolScore | results.UngradedTool,
    findings: Sequence[results.Finding],
    *,
    fix: results.Finding | None,
    is_full: bool,
) -> ToolLine:
    fields: dict[str, Any] = {"index": tool.index, "name": fence_name(tool.name), "findings": _tally(findings)}
    if isinstance(tool, results.UngradedTool):
        why = fence(tool.ungraded.reason, limit=MAX_MESSAGE)
        return ToolLine(tdqs=None, tier=None, weakest=None, fix=None, ungraded=why, **fields)
    if is_full:
        fields["full"] = _full(score, tool)
    return ToolLine(
        tdqs=tool.tdqs / 10,
        tier=tool.tier,
        weakest=_weakest(tool),
        fix=None if fix is None else _fix(fix),
        **fields,
    )


def _full(score: results.ServerScore, tool: results.ToolScore) -> dict[str, Any]:
    """The tool's entry in `score --format json` and its findings, fenced."""
    alone = replace(
        score,
        tools=(tool,),
        findings=tuple(finding for finding in score.findings if finding.tool_index == tool.index),
    )
    document = score_document(alone)
    return {**_fenced(document["tools"][0]), "findings": _fenced(document["findings"])}


def _set_details(score: results.ServerScore) -> dict[str, Any]:
    document = score_document(replace(score, tools=(), ungraded=(), findings=()))
    keys = ("coherenceJustifications", "coherenceSummary", "shadowingRisks", "shadowCandidates")
    details: dict[str, Any] = _fenced({key: document[key] for key in keys})
    return details


def _fenced(document: Any) -> Any:  # noqa: ANN401  # any JSON value
    return fenced(document, ours=OURS)


def _finding(finding: results.Finding, *, limit: int | None = None, with_tool: bool = True) -> FindingLine:
    where: dict[str, Any] = {}
    if with_tool and finding.tool_index is not None:
        where = {"tool": fence_name(finding.subject.name), "index": finding.tool_index}
    return FindingLine(
        rule=finding.rule,
        severity=finding.severity,
        dimension=finding.dimension,
        path=fence(finding.subject.path),
        message=_message(finding.message, limit),
        suggestion=None if finding.suggestion is None else _message(finding.suggestion, limit),
        **where,
    )


def _fix(finding: results.Finding) -> Fix:
    return Fix(
        rule=finding.rule,
        message=_message(finding.message, MAX_MESSAGE),
        suggestion=None if finding.suggestion is None else _message(finding.suggestion, MAX_MESSAGE),
    )


def _message(text: str, limit: int | None) -> str:
    return fence(text) if limit is None else fence(text, limit=limit)


def _prompt(entry: Mapping[str, str]) -> PromptLine:
    known = {"name": fence_name(entry["name"]), "input_hash": entry["inputHash"]} if "name" in entry else {}
    return PromptLine(
        prompt_hash=entry["promptHash"], user=fence_exact(entry["user"]), unseen=unseen(entry["user"]), **known
    )


def _within(entries: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The first entries up to the budget, and at least one."""
    room = PROMPT_BUDGET
    page: list[Mapping[str, str]] = []
    for entry in entries:
        room -= len(entry["user"])
        if page and room < 0:
            break
        page.append(entry)
    return page


def _page(window: Window, total: int) -> dict[str, Any]:
    end = window.offset + window.limit
    return {"offset": window.offset, "total": total, "next_offset": end if end < total else None}


def _tally(findings: Iterable[results.Finding]) -> Tally:
    counts = Counter(finding.severity for finding in findings)
    return Tally(**{severity.value: counts[severity] for severity in Severity})


def _problems(problems: Sequence[str]) -> list[str]:
    shown = [fence(problem, limit=MAX_MESSAGE) for problem in problems[:MAX_PROBLEMS]]
    return [*shown, f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else shown


def _judge(stamp: results.JudgeStamp) -> Judge:
    model = None if stamp.model is None else fence(stamp.model, limit=100)
    return Judge(id=stamp.id, version=stamp.version, model=model, calibration=stamp.calibration)


def _numbers(tool: results.ToolScore | None) -> Numbers | None:
    return None if tool is None else Numbers(tdqs=tool.tdqs / 10, tier=tool.tier)


def _likeness(before: results.Likeness | None, after: results.Likeness | None) -> Likeness | None:
    if before is None or after is None or after.sibling is None:
        return None
    return Likeness(sibling=fence_name(after.sibling), before=before.percent, after=after.percent)


def _weakest(tool: results.ToolScore) -> str:
    return min(tool.judgements, key=lambda key: tool.judgements[key].score)


def _number(tenths: int | None) -> float | None:
    return None if tenths is None else tenths / 10
