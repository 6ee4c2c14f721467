"""What an agent gets from our MCP tools: short by default, in pages, every word of a definition fenced as data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pydantic import Field

from tdqs_mcp.model import rewrites
from tdqs_mcp.model.findings import Finding, LintReport, Severity
from tdqs_mcp.model.labels import Label, LabelledTool, LabelScore
from tdqs_mcp.model.rewrites import OFFLINE, Component, Rewrite
from tdqs_mcp.model.scores import ServerScore, ToolScore, UngradedTool
from tdqs_mcp.model.tiers import Tier, tier_of
from tdqs_mcp.model.verdicts import JudgeStamp, Verdict
from tdqs_mcp.pipeline.agreement import disputes, reliabilities
from tdqs_mcp.pipeline.priority import first_fixes
from tdqs_mcp.reporters.contract.document import Document, Point
from tdqs_mcp.reporters.contract.labels import label_document
from tdqs_mcp.reporters.contract.scores import score_document
from tdqs_mcp.reporters.fence import NOTICE, fence, fence_json, fence_name, fenced

MAX_MESSAGE = 160
"""Characters of a message or suggestion in a summary; the whole of it is in the details."""

MAX_PROBLEMS = 5
MAX_NAMES = 20
"""Names in a list that only says which tools are meant."""

OURS = frozenset({"flags", "serverFlags", "smells", "severity", "specVersion", "generatedBy", "aliases"})
"""Keys of a score document whose texts are our own words, not the definition's or a judge's."""

LABEL = "Under rubrics smells and bundles, in place of the tier"
OVERALL = "0-100, in place of tdqs"


class Tally(Document):
    """Findings by severity."""

    error: int
    warning: int
    info: int


class Judge(Document):
    """Who judged; only numbers with equal stamps compare."""

    id: str
    version: str
    model: str | None
    calibration: str | None


class FindingLine(Document):
    """One defect at one place."""

    tool: str | None = Field(default=None, description="Tool name; absent for the server itself")
    index: int | None = Field(default=None, description="The tool's position in the catalog")
    rule: str = Field(description="Rule id; explain_rule says why it matters")
    severity: Severity
    dimension: str | None
    path: str = Field(description="JSON pointer inside the definition")
    message: str
    suggestion: str | None


class Fix(Document):
    """The finding to begin with."""

    rule: str
    message: str
    suggestion: str | None


class ToolLine(Document):
    """One tool in a few words."""

    index: int = Field(description="Position in the catalog: the identity that duplicate names leave")
    name: str
    tdqs: float | None = Field(default=None, description="1.0-5.0; null when nobody graded it")
    tier: Tier | None = None
    label: Label | None = Field(default=None, description=LABEL)
    overall: float | None = Field(default=None, description=OVERALL)
    weakest: str | None = Field(description="Dimension with the lowest score")
    findings: Tally
    fix: Fix | None = Field(description="What to fix first")
    ungraded: str | None = Field(default=None, description="Why there is no score")
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: all scores, reasons and findings")


class Page(Document):
    """Where one page stands among all."""

    offset: int = Field(description="Where this page starts")
    total: int = Field(description="Entries on all pages")
    next_offset: int | None = Field(description="offset of the next page; null on the last one")


class Agreement(Document):
    """How far the jurors agree."""

    icc: dict[str, float | None] = Field(description="ICC(2,1) by dimension; null where it is undefined")
    too_close: list[str] = Field(description="Tools that got different tiers or labels, 20 at most")


class ScoreAnswer(Page):
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
    overall_score: float | None = Field(
        default=None, description="1.0-5.0; null while a part is missing, never guessed; only under rubric tdqs"
    )
    overall_tier: Tier | None = None
    description_quality_score: float | None = None
    coherence_score: float | None = None
    coherence: dict[str, Point] | None = Field(default=None, description="The four scores of the tool set")
    tiers: dict[str, int] | None = Field(default=None, description="Tools by tier")
    labels: dict[str, int] | None = Field(default=None, description="Tools by label, under rubrics smells and bundles")
    jury: Agreement | None = Field(default=None, description="Where a jury judged")
    findings: Tally
    tools: list[ToolLine]
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: reasons for the tool set's scores")
    problems: list[str]
    next: str = Field(description="What to do next")


class ToolAnswer(Document):
    """One definition's score and what to fix in it."""

    notice: str
    name: str
    input_hash: str | None
    judge: Judge
    rubric: str
    spec_version: str
    tdqs: float | None = Field(default=None, description="1.0-5.0; null when it could not be graded")
    tier: Tier | None = None
    label: Label | None = Field(default=None, description=LABEL)
    overall: float | None = Field(default=None, description=OVERALL)
    scores: dict[str, Point] = Field(description="Dimension scores")
    weakest: str | None = Field(description="Dimension with the lowest score")
    why: str | None = Field(description="The judge's reason for the lowest score")
    flags: list[str]
    findings: list[FindingLine]
    ungraded: str | None = Field(default=None, description="Why there is no score")
    full: dict[str, Any] | None = Field(default=None, description="With detail=full: reasons, evidence and signals")
    next: str = Field(description="What to do next")


class LintAnswer(Page):
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


class Numbers(Document):
    """A definition's score before or after a rewrite."""

    tdqs: float
    tier: Tier


class ChangeLine(Document):
    """One rewritten field."""

    path: str = Field(description="JSON pointer inside the definition")
    before: str = Field(description="JSON between the marks")
    after: str = Field(description="JSON between the marks")
    sources: list[str] = Field(description="What the new words rest on")


class ClaimLine(Document):
    """One new statement."""

    text: str
    sources: list[str] = Field(description="Where it comes from")


class Likeness(Document):
    """How much of what tool and nearest sibling say of themselves both say, in percent."""

    sibling: str | None
    before: int
    after: int


class RewriteAnswer(Document):
    """A better definition with its proof."""

    notice: str
    name: str
    definition: str = Field(description="The proposed definition: parse the JSON between the marks; name, schema kept")
    changes: list[ChangeLine]
    claims: list[ClaimLine] = Field(description="Every new statement; none is without a source")
    components: list[Component] = Field(description="What the new definition tells of")
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


class Explanation(Document):
    """A page of ours: why, a bad and a good example."""

    id: str
    page: str = Field(description="Markdown")


Scored: TypeAlias = ServerScore | LabelScore
GradedTool: TypeAlias = ToolScore | LabelledTool
AnyTool: TypeAlias = GradedTool | UngradedTool


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

    def has(self, finding: Finding) -> bool:
        """Whether the finding is listed."""
        return finding.severity.rank >= self.worst_from.rank and self.tool in (None, finding.subject.name)


def score_answer(score: Scored, *, catalog: str, report: str, window: Window, next_step: str) -> ScoreAnswer:
    """The server's numbers and one page of tools: ungraded ones first, then by score, the lowest first."""
    return ScoreAnswer(**score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step))


def tool_answer(score: Scored, *, index: int, is_full: bool, next_step: str) -> ToolAnswer:
    """One tool of a scored catalog."""
    tool = next((each for each in score.tools if each.index == index), None)
    ungraded = next((each for each in score.ungraded if each.index == index), None)
    fields: dict[str, Any] = {
        "notice": NOTICE,
        "name": fence_name(tool.name if tool else ungraded.name if ungraded else ""),
        "input_hash": tool.input_hash if tool else None,
        "judge": _judge(score.judge),
        "rubric": rubric_of(score),
        "spec_version": score.spec_version,
        **_numbers_of(score, tool),
        "scores": {key: judgement.score for key, judgement in tool.judgements.items()} if tool else {},
        "weakest": _weakest(tool) if tool else None,
        "why": fence(tool.judgements[_weakest(tool)].justification) if tool else None,
        "flags": list(tool.flags) if tool else [],
        "findings": [_finding(each, with_tool=False) for each in score.findings if each.tool_index == index],
        "next": next_step,
    }
    if ungraded:
        fields["ungraded"] = fence(ungraded.ungraded.reason)
    if tool and is_full:
        fields["full"] = _full(score, tool)
    return ToolAnswer(**fields)


def lint_answer(
    report: LintReport,
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
        **page_of(window, len(worst)),
    )


def rewrite_answer(rewrite: Rewrite, *, next_step: str) -> RewriteAnswer:
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
        writer=rewrite.writer if rewrite.writer == OFFLINE else fence(rewrite.writer, limit=100),
        setback=None if rewrite.setback is None else fence(rewrite.setback),
        next=next_step,
    )


def report_document(score: Scored) -> dict[str, Any]:
    """The whole of a report: the document of `score --format json`, fenced."""
    return {"notice": NOTICE, **_fenced(_document(score))}


def rubric_of(score: Scored) -> str:
    """The rubric that a score is by."""
    return "tdqs" if isinstance(score, ServerScore) else score.rubric


def score_fields(score: Scored, *, catalog: str, report: str, window: Window, next_step: str) -> dict[str, Any]:
    """The fields of a ScoreAnswer."""
    graded = sorted(_numbered(score), key=lambda pair: (pair[0], pair[1].index))
    lines: list[AnyTool] = [*score.ungraded, *(tool for _, tool in graded)]
    page = lines[window.offset : window.offset + window.limit]
    fields: dict[str, Any] = {
        "notice": NOTICE,
        "server": fence_name(score.server),
        "catalog": catalog,
        "report": report,
        "judge": _judge(score.judge),
        "rubric": rubric_of(score),
        "spec_version": score.spec_version,
        "tool_count": score.tool_count,
        "scored_tool_count": len(score.tools),
        **(_tier_fields(score) if isinstance(score, ServerScore) else _label_fields(score)),
        "findings": _tally(score.findings),
        "tools": _lines(score, page, is_full=window.is_full),
        "problems": _problems(score.problems),
        "next": next_step,
        **page_of(window, len(lines)),
    }
    agreement = _agreement(score)
    return fields | ({} if agreement is None else {"jury": agreement}) | _set_details(score, is_full=window.is_full)


def _numbered(score: Scored) -> list[tuple[int, GradedTool]]:
    """Every graded tool with the number that ranks it."""
    if isinstance(score, ServerScore):
        return [(tool.tdqs, tool) for tool in score.tools]
    return [(tool.overall, tool) for tool in score.tools]


def _tier_fields(score: ServerScore) -> dict[str, Any]:
    rollup = score.rollup
    verdict = score.coherence if isinstance(score.coherence, Verdict) else None
    return {
        "overall_score": _number(rollup.overall),
        "overall_tier": None if rollup.overall is None else tier_of(rollup.overall),
        "description_quality_score": _number(rollup.description_quality),
        "coherence_score": _number(rollup.coherence),
        "coherence": {key: each.score for key, each in verdict.judgements.items()} if verdict else None,
        "tiers": {tier: count for tier in Tier if (count := sum(each.tier is tier for each in score.tools))},
    }


def _label_fields(score: LabelScore) -> dict[str, Any]:
    return {"labels": {label: count for label in Label if (count := sum(each.label is label for each in score.tools))}}


def _numbers_of(score: Scored, tool: GradedTool | None) -> dict[str, Any]:
    """What a tool's scores end in under this rubric."""
    if isinstance(tool, LabelledTool):
        return {"label": tool.label, "overall": tool.overall / 10}
    if tool is not None:
        return {"tdqs": tool.tdqs / 10, "tier": tool.tier}
    return {"tdqs": None, "tier": None} if isinstance(score, ServerScore) else {"label": None, "overall": None}


def _agreement(score: Scored) -> Agreement | None:
    """What the jurors agree on; None without a jury."""
    found = reliabilities(score)
    if not found:
        return None
    icc = {key: None if each.icc is None else float(f"{each.icc:.3f}") for key, each in found.items()}
    close = [fence_name(name) for name, each in disputes(score) if each.is_too_close]
    return Agreement(icc=icc, too_close=close[:MAX_NAMES])


def _lines(score: Scored, page: Sequence[AnyTool], *, is_full: bool) -> list[ToolLine]:
    by_tool: dict[int | None, list[Finding]] = {}
    for finding in score.findings:
        by_tool.setdefault(finding.tool_index, []).append(finding)
    fixes = _fixes(score, page, by_tool)
    return [
        _line(score, tool, by_tool.get(tool.index, []), fix=fixes.get(tool.index), is_full=is_full) for tool in page
    ]


def _fixes(
    score: Scored, page: Sequence[AnyTool], by_tool: Mapping[int | None, Sequence[Finding]]
) -> dict[int, Finding]:
    """The finding to begin with, by the tool's index: the costliest, or the worst where no dimension has a weight."""
    if isinstance(score, ServerScore):
        shown = tuple(tool for tool in page if isinstance(tool, ToolScore))
        return {fix.tool.index: fix.finding for fix in first_fixes(replace(score, tools=shown), len(shown))}
    labelled = [tool.index for tool in page if isinstance(tool, LabelledTool) and tool.index in by_tool]
    return {index: max(by_tool[index], key=lambda finding: finding.severity.rank) for index in labelled}


def _line(
    score: Scored,
    tool: AnyTool,
    findings: Sequence[Finding],
    *,
    fix: Finding | None,
    is_full: bool,
) -> ToolLine:
    fields: dict[str, Any] = {"index": tool.index, "name": fence_name(tool.name), "findings": _tally(findings)}
    if isinstance(tool, UngradedTool):
        why = fence(tool.ungraded.reason, limit=MAX_MESSAGE)
        return ToolLine(**_numbers_of(score, None), weakest=None, fix=None, ungraded=why, **fields)
    if is_full:
        fields["full"] = _full(score, tool)
    return ToolLine(
        **_numbers_of(score, tool), weakest=_weakest(tool), fix=None if fix is None else _fix(fix), **fields
    )


def _full(score: Scored, tool: GradedTool) -> dict[str, Any]:
    """The tool's entry in `score --format json` and its findings, fenced."""
    findings = tuple(finding for finding in score.findings if finding.tool_index == tool.index)
    alone: Scored = replace(score, tools=(tool,), findings=findings)  # type: ignore[arg-type]  # a tool of this score
    document = _document(alone)
    return {**_fenced(document["tools"][0]), "findings": _fenced(document["findings"])}


def _set_details(score: Scored, *, is_full: bool) -> dict[str, Any]:
    """What stands behind the tool set's scores, where details are wanted."""
    if not is_full or not isinstance(score, ServerScore):
        return {}
    document = score_document(replace(score, tools=(), ungraded=(), findings=()))
    keys = ("coherenceJustifications", "coherenceSummary", "shadowingRisks", "shadowCandidates")
    return {"full": _fenced({key: document[key] for key in keys})}


def _document(score: Scored) -> dict[str, Any]:
    return score_document(score) if isinstance(score, ServerScore) else label_document(score)


def _fenced(document: Any) -> Any:  # noqa: ANN401  # any JSON value
    return fenced(document, ours=OURS)


def _finding(finding: Finding, *, limit: int | None = None, with_tool: bool = True) -> FindingLine:
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


def _fix(finding: Finding) -> Fix:
    return Fix(
        rule=finding.rule,
        message=_message(finding.message, MAX_MESSAGE),
        suggestion=None if finding.suggestion is None else _message(finding.suggestion, MAX_MESSAGE),
    )


def _message(text: str, limit: int | None) -> str:
    return fence(text) if limit is None else fence(text, limit=limit)


def page_of(window: Window, total: int) -> dict[str, Any]:
    """The fields of a page."""
    end = window.offset + window.limit
    return {"offset": window.offset, "total": total, "next_offset": end if end < total else None}


def _tally(findings: Iterable[Finding]) -> Tally:
    counts = Counter(finding.severity for finding in findings)
    return Tally(**{severity.value: counts[severity] for severity in Severity})


def _problems(problems: Sequence[str]) -> list[str]:
    shown = [fence(problem, limit=MAX_MESSAGE) for problem in problems[:MAX_PROBLEMS]]
    return [*shown, f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else shown


def _judge(stamp: JudgeStamp) -> Judge:
    model = None if stamp.model is None else fence(stamp.model, limit=100)
    return Judge(id=stamp.id, version=stamp.version, model=model, calibration=stamp.calibration)


def _numbers(tool: ToolScore | None) -> Numbers | None:
    return None if tool is None else Numbers(tdqs=tool.tdqs / 10, tier=tool.tier)


def _likeness(before: rewrites.Likeness | None, after: rewrites.Likeness | None) -> Likeness | None:
    if before is None or after is None or after.sibling is None:
        return None
    return Likeness(sibling=fence_name(after.sibling), before=before.percent, after=after.percent)


def _weakest(tool: GradedTool) -> str:
    return min(tool.judgements, key=lambda key: tool.judgements[key].score)


def _number(tenths: int | None) -> float | None:
    return None if tenths is None else tenths / 10
