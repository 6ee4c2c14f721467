"""The JSON contracts: what `--format json` prints and agents get; their JSON Schema is published beside them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from importlib.metadata import version
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from tdqs_mcp.model import results
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.results import Label, Letter, Tier, Ungraded, Verdict, tier_of
from tdqs_mcp.pipeline.agreement import dispute, reliabilities
from tdqs_mcp.reporters.escape import well_formed
from tdqs_mcp.rubrics.rubric import load

Tenths = Annotated[float, Field(ge=1, le=5, description="A score with one decimal, 1.0-5.0")]
Point = Annotated[int, Field(ge=1, le=5)]
Percent = Annotated[float, Field(ge=0, le=100, description="With one decimal: 0 is all ones, 100 all fives")]


class _Document(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Judgement(_Document):
    """One dimension's score and why."""

    score: Point
    justification: str
    evidence: list[str] = Field(description="Text of the definition that the justification rests on")
    unverified: list[str] = Field(description="What the judge quotes although the definition does not hold it")


class Judge(_Document):
    """Who judged; compare only numbers with equal stamps."""

    id: str
    version: str
    model: str | None
    calibration: str | None
    prompt: str | None = Field(description="What a model got: hardened or exact (as published); null without a prompt")


class Ballot(_Document):
    """One juror's scores of one tool."""

    judge: Judge
    scores: dict[str, Point] = Field(description="Empty where this juror gave no verdict")
    reason: str | None = Field(description="Why there is no verdict")


class Jury(_Document):
    """How the jurors voted on one tool; `scores` beside it are their medians, halves upward."""

    ballots: list[Ballot]
    means: dict[str, float] = Field(description="Per dimension, with two decimals")
    spread: dict[str, int] = Field(description="Highest less lowest score, where they differ")
    smells_by_mean: list[str] = Field(description="Dimensions whose mean is below 3")
    smells_by_median: list[str] = Field(description="Dimensions whose median is below 3")
    grades: list[str] = Field(description="The tier or label by each juror's scores alone")
    too_close: bool = Field(description="The jurors' own tiers or labels differ: too close to call")


class Reliability(_Document):
    """Agreement of the jurors on one dimension."""

    icc: float | None = Field(description="ICC(2,1), absolute agreement of single raters; null where undefined")
    tools: int = Field(description="Tools that every juror scored")
    mean: float | None = Field(description="Mean of all their scores; null without such a tool")
    median: float | None = Field(description="Mean of the tools' medians")
    smells_by_mean: int = Field(description="Tools whose mean is below 3")
    smells_by_median: int = Field(description="Tools whose median is below 3")


class AnnotationValues(_Document):
    """The four hints as declared; null where undeclared or no boolean."""

    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None


class ContextSignals(_Document):
    """Stage 1 of TDQS; the last five came with 1.1 and 1.2 and are absent under 1.0."""

    param_count: int
    required_param_count: int
    params_with_descriptions: int
    params_with_enums: int
    schema_description_coverage: int = Field(ge=0, le=100)
    has_nested_objects: bool
    has_output_schema: bool
    has_annotations: bool
    annotation_values: AnnotationValues
    title_is_meaningful: bool
    input_hash: str = Field(pattern="^[0-9a-f]{16}$")
    required_field_count: int | None = None
    schema_depth: int | None = None
    union_choice_count: int | None = None
    invocation_cost: int | None = None
    definition_bytes: int | None = None


class Enforced(_Document):
    """The score if the specification's rules were enforced from facts; beside the published number, never in it."""

    scores: dict[str, Point]
    tdqs: Tenths
    tier: Tier
    why: str


class Outlook(_Document):
    """What the judge's own error leaves open."""

    low: Tenths
    high: Tenths = Field(description="low and high: the middle 80% of the likely scores")
    tiers: dict[Tier, float] = Field(description="Probability of every tier, 0-1")
    too_close_to_call: bool


class ToolScore(_Document):
    """The specification's per-tool result."""

    name: str
    input_hash: str
    rubric: Literal["tdqs"]
    scores: dict[str, Point]
    justifications: dict[str, Judgement]
    tdqs: Tenths
    tier: Tier
    smells: list[str]
    flags: list[str]
    server_flags: list[str]
    summary: str
    context_signals: ContextSignals
    judge: Judge
    confidence: float | None = Field(description="Probability of the tier, 0-1; null where the judge states no error")
    outlook: Outlook | None
    enforced: Enforced | None
    jury: Jury | None


class UngradedTool(_Document):
    """A tool without a score. Never a low grade."""

    name: str
    input_hash: str | None
    judge: str
    reason: str


class ShadowCandidate(_Document):
    """A tool and its dearest much cheaper sibling."""

    tool: str
    invocation_cost: int
    cheaper_sibling: str
    cheaper_sibling_invocation_cost: int


class ShadowingRisk(ShadowCandidate):
    """A candidate pair whose purposes overlap."""

    justification: str


class Subject(_Document):
    """What a finding is about."""

    kind: str
    name: str


class Finding(_Document):
    """One defect at one place."""

    rule: str
    name: str
    aliases: list[str]
    severity: results.Severity
    confidence: results.Confidence
    persona: results.Persona
    dimension: str | None
    subject: Subject
    path: str
    message: str
    suggestion: str | None
    source: str


class Server(_Document):
    """The server and where its definitions came from."""

    name: str
    version: str | None
    source: str | None


class ScoreDocument(_Document):
    """The specification's per-server result with everything it was made from."""

    server: Server
    tool_count: int
    scored_tool_count: int
    mean_tdqs: Tenths | None
    min_tdqs: Tenths | None
    description_quality_score: Tenths | None = Field(description="Null below 80% of the tools scored")
    description_quality_tier: Tier | None
    disambiguation: Point | None
    naming_consistency: Point | None
    tool_count_appropriateness: Point | None
    completeness: Point | None
    coherence_score: Tenths | None
    coherence_tier: Tier | None
    overall_score: Tenths | None
    overall_tier: Tier | None
    coherence_justifications: dict[str, Judgement]
    coherence_summary: str | None
    shadowing_risks: list[ShadowingRisk]
    shadow_candidates: list[ShadowCandidate]
    tools: list[ToolScore]
    findings: list[Finding]
    ungraded: list[UngradedTool]
    judge: Judge
    agreement: dict[str, Reliability] = Field(description="By dimension; empty without a jury")
    problems: list[str]
    spec_version: str
    generated_by: str


class LabelledTool(_Document):
    """One tool under a rubric that ends in a label."""

    name: str
    input_hash: str
    rubric: str
    scores: dict[str, Point]
    justifications: dict[str, Judgement]
    overall: Percent
    label: results.Label
    smells: list[str] = Field(description="Dimensions below 3")
    smell_names: list[str] = Field(description="The same by the names that the rubric's source gives them")
    improvement_needed: list[str] = Field(description="Dimensions of at most 3, the lowest first")
    flags: list[str]
    server_flags: list[str]
    summary: str
    context_signals: ContextSignals
    judge: Judge
    confidence: float | None
    jury: Jury | None


class Suggestion(_Document):
    """What to fix; the lowest priority number comes first."""

    priority: int = Field(ge=1, le=3, description="1 server smells, 2 bundle deficiencies, 3 tools, the worst first")
    tools: list[str]
    message: str


class SkillDocument(_Document):
    """A server's skill text under the skill rubric."""

    server: str
    tool_count: int
    rubric: Literal["skill"]
    scores: dict[str, Point]
    justifications: dict[str, Judgement]
    overall: Percent | None
    label: results.Label | None = Field(description="Null where nothing decides it")
    smells: list[str]
    asks_for_credentials: str | None = Field(description="The words that do; they make the skill Bad by themselves")
    summary: str | None
    ungraded: str | None = Field(description="Why there are no scores")
    judge: Judge
    problems: list[str]
    generated_by: str


class LabelDocument(_Document):
    """All tools of a server under a rubric that ends in labels."""

    server: Server
    rubric: str
    tool_count: int
    scored_tool_count: int
    good_tool_count: int
    bad_tool_count: int
    suggestions: list[Suggestion]
    skill: SkillDocument | None
    tools: list[LabelledTool]
    findings: list[Finding]
    ungraded: list[UngradedTool]
    judge: Judge
    agreement: dict[str, Reliability]
    problems: list[str]
    spec_version: str
    generated_by: str


class ToolCounts(_Document):
    """One tool's findings by severity."""

    name: str
    error: int
    warning: int
    info: int
    clean: bool = Field(description="No finding at all: mcptest's Pass line")


class Counts(_Document):
    """Findings by severity, of the server with all its tools and of each tool."""

    error: int
    warning: int
    info: int
    clean: bool
    tools: list[ToolCounts]


class SuppressedFinding(_Document):
    """A finding that the configuration lives with."""

    finding: Finding
    reason: str


class UnusedSuppression(_Document):
    """An entry of the configuration that matched nothing here."""

    rule: str
    tool: str | None
    server: str | None
    reason: str


class FixedFinding(_Document):
    """A finding of the baseline that is gone."""

    rule: str
    part: str
    path: str
    message: str


class Baseline(_Document):
    """How this run stands to the baseline; its known findings are not listed."""

    known: int
    fixed: list[FixedFinding]


class LintDocument(_Document):
    """The findings about one server that count."""

    server: Server
    findings: list[Finding]
    counts: Counts
    hidden: int = Field(description="Low-confidence findings, which --profile strict shows")
    suppressed: list[SuppressedFinding]
    unused_suppressions: list[UnusedSuppression]
    baseline: Baseline | None = Field(description="Null where no baseline was given")
    problems: list[str]


class Deduction(_Document):
    """One violation of MCP Playground's rules and what it costs."""

    rule: str = Field(description="Our rule's id")
    alias: str = Field(description="MCP Playground's id")
    severity: results.Severity = Field(description="MCP Playground's")
    points: int = Field(ge=1)
    subject: Subject
    path: str
    message: str
    suggestion: str | None


class Judged(_Document):
    """What was listed; null is what was never asked for, and is not judged."""

    tools: int
    resources: int | None
    prompts: int | None


class UnreadTool(_Document):
    """A tool that could not be read; the score lacks whatever it costs."""

    name: str
    reason: str


class GradeDocument(_Document):
    """A server's grade by MCP Playground's methodology: 100 less all points, plus the bonus, kept within 0-100."""

    server: Server
    methodology: Literal["mcp-playground"]
    score: int | None = Field(ge=0, le=100, description="Null where nothing that could be judged is known")
    letter: Letter | None
    bonus: int
    deductions: list[Deduction]
    judged: Judged
    unread: list[UnreadTool]
    problems: list[str]
    generated_by: str


class Numbers(_Document):
    """A definition's score before or after a rewrite; compare only numbers with equal stamps."""

    tdqs: Tenths
    tier: Tier
    scores: dict[str, Point]
    judge: Judge


class Change(_Document):
    """One rewritten field."""

    path: str = Field(description="JSON pointer inside the definition")
    before: Any
    after: Any
    sources: list[str] = Field(description="What the new words rest on")


class Claim(_Document):
    """One new statement; every one has a source, for a rewrite with another one is not proposed."""

    path: str = Field(description="JSON pointer inside the definition")
    text: str
    sources: list[str] = Field(
        description="description, a schema path, an annotation, tool NAME, fact N, trace N, docs"
    )


class Likeness(_Document):
    """The sibling that an agent is most likely to take for the tool."""

    sibling: str | None
    percent: int = Field(ge=0, le=100, description="Words that both say of themselves, of all that either says")


class ToolRewrite(_Document):
    """A proposed definition with its proof; name, types and requirements are what they were."""

    index: int = Field(description="Position in the catalog, from 0")
    name: str
    definition: dict[str, Any]
    changes: list[Change] = Field(description="Empty where nothing was found to change")
    questions: list[str] = Field(description="What only the author can know")
    before: Numbers | None
    after: Numbers | None
    tokens_before: int = Field(description="An estimate")
    tokens_after: int
    findings_removed: list[str] = Field(description="Rule ids")
    findings_added: list[str] = Field(description="Rule ids, each milder than one that was removed")
    diff: str = Field(description="Unified diff of the definition's JSON; empty where nothing changes")
    claims: list[Claim] = Field(description="Every new statement")
    components: dict[results.Component, str] = Field(
        description="The new definition's sentences by what they are about"
    )
    likeness_before: Likeness | None
    likeness_after: Likeness | None
    growth: int = Field(description="Tokens that the definition was allowed to grow by")
    writer: str = Field(description="offline, or the model whose words these are")
    setback: str | None = Field(description="Why the words of the writer that was asked do not stand")


class RewriteDocument(_Document):
    """Every tool that can be measured, changed or not."""

    server: Server
    rewrites: list[ToolRewrite]
    spec_version: str
    generated_by: str


class GateCheck(_Document):
    """One target held against its bar; actual is null where it cannot be known."""

    target: str
    wanted: str
    actual: str | None
    result: results.GateResult
    reason: str | None


class GateEntry(_Document):
    """One entry of a suite; without checks where its server could not be captured."""

    name: str
    server: str
    result: results.GateResult
    reason: str | None
    checks: list[GateCheck]


class GateDocument(_Document):
    """What `gate --format json` prints."""

    suite: str
    rows: list[GateEntry]
    generated_by: str


def gate_document(rows: Sequence[results.GateRow], *, suite: str) -> dict[str, Any]:
    """A suite's rows as JSON values, checked against the published schema."""
    document = GateDocument(
        suite=well_formed(suite),
        rows=[
            GateEntry(
                name=well_formed(row.name),
                server=well_formed(row.server),
                result=row.result,
                reason=_text(row.reason),
                checks=[
                    GateCheck(
                        target=well_formed(check.target),
                        wanted=check.wanted,
                        actual=check.actual,
                        result=check.result,
                        reason=_text(check.reason),
                    )
                    for check in row.checks
                ],
            )
            for row in rows
        ],
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)


def score_document(score: results.ServerScore) -> dict[str, Any]:
    """A server's score as JSON values, checked against the published schema."""
    rollup = score.rollup
    verdict = score.coherence if isinstance(score.coherence, Verdict) else None
    coherence = verdict.scores if verdict else {}
    document = ScoreDocument(
        server=_server(score),
        tool_count=score.tool_count,
        scored_tool_count=len(score.tools),
        mean_tdqs=_number(rollup.mean_tdqs),
        min_tdqs=_number(rollup.min_tdqs),
        description_quality_score=_number(rollup.description_quality),
        description_quality_tier=_tier(rollup.description_quality),
        disambiguation=coherence.get("disambiguation"),
        naming_consistency=coherence.get("naming_consistency"),
        tool_count_appropriateness=coherence.get("tool_count_appropriateness"),
        completeness=coherence.get("completeness"),
        coherence_score=_number(rollup.coherence),
        coherence_tier=_tier(rollup.coherence),
        overall_score=_number(rollup.overall),
        overall_tier=_tier(rollup.overall),
        coherence_justifications=_judgements(verdict.judgements) if verdict else {},
        coherence_summary=well_formed(verdict.summary) if verdict else None,
        shadowing_risks=[
            ShadowingRisk(**_candidate(risk.candidate), justification=well_formed(risk.justification))
            for risk in score.shadowing_risks
        ],
        shadow_candidates=[ShadowCandidate(**_candidate(candidate)) for candidate in score.shadow_candidates],
        tools=[_tool(tool, spec=score.spec_version) for tool in score.tools],
        findings=[_finding(finding) for finding in score.findings],
        ungraded=_ungraded(score),
        judge=_judge(score.judge),
        agreement=_agreement(score),
        problems=[well_formed(problem) for problem in score.problems],
        spec_version=score.spec_version,
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _outlook(outlook: results.Outlook | None) -> Outlook | None:
    if outlook is None:
        return None
    return Outlook(
        low=outlook.low / 10,
        high=outlook.high / 10,
        tiers={tier: percent / 100 for tier, percent in outlook.tiers.items()},
        too_close_to_call=outlook.is_close,
    )


def label_document(score: results.LabelScore) -> dict[str, Any]:
    """A server's labels as JSON values, checked against the published schema."""
    document = LabelDocument(
        server=_server(score),
        rubric=score.rubric,
        tool_count=score.tool_count,
        scored_tool_count=len(score.tools),
        good_tool_count=sum(tool.label is Label.GOOD for tool in score.tools),
        bad_tool_count=sum(tool.label is Label.BAD for tool in score.tools),
        suggestions=[
            Suggestion(
                priority=suggestion.band,
                tools=[well_formed(name) for name in suggestion.tools],
                message=well_formed(suggestion.message),
            )
            for suggestion in score.suggestions
        ],
        skill=None if score.skill is None else _skill(score.skill),
        tools=[_labelled(tool, rubric=score.rubric, spec=score.spec_version) for tool in score.tools],
        findings=[_finding(finding) for finding in score.findings],
        ungraded=[_ungraded_tool(tool.name, tool.input_hash, tool.ungraded) for tool in score.ungraded],
        judge=_judge(score.judge),
        agreement=_agreement(score),
        problems=[well_formed(problem) for problem in score.problems],
        spec_version=score.spec_version,
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True, exclude_unset=True)


def skill_document(score: results.SkillScore) -> dict[str, Any]:
    """A skill's score as JSON values, checked against the published schema."""
    return _skill(score).model_dump(mode="json", by_alias=True)


def lint_document(report: results.LintReport) -> dict[str, Any]:
    """A server's findings as JSON values, checked against the published schema."""
    document = LintDocument(
        server=_server(report),
        findings=[_finding(finding) for finding in report.findings],
        counts=_counts(report),
        hidden=report.hidden,
        suppressed=[
            SuppressedFinding(finding=_finding(each.finding), reason=each.reason) for each in report.suppressed
        ],
        unused_suppressions=[
            UnusedSuppression(rule=each.rule, tool=each.tool, server=each.server, reason=each.reason)
            for each in report.unused_suppressions
        ],
        baseline=None if report.baseline is None else _baseline(report.baseline),
        problems=[well_formed(problem) for problem in report.problems],
    )
    return document.model_dump(mode="json", by_alias=True)


def _baseline(baseline: results.Baseline) -> Baseline:
    fixed = [
        FixedFinding(
            rule=each.rule, part=well_formed(each.part), path=well_formed(each.path), message=well_formed(each.message)
        )
        for each in baseline.fixed
    ]
    return Baseline(known=baseline.known, fixed=fixed)


def _counts(report: results.LintReport) -> Counts:
    by_tool: dict[int | None, list[results.Severity]] = {}
    for finding in report.findings:
        by_tool.setdefault(finding.tool_index, []).append(finding.severity)
    return Counts(
        **_tally([finding.severity for finding in report.findings]),
        tools=[
            ToolCounts(name=well_formed(name), **_tally(by_tool.get(index, [])))
            for index, name in enumerate(report.tools)
        ],
    )


def _tally(severities: Sequence[results.Severity]) -> dict[str, Any]:
    counts = Counter(severities)
    return {severity.value: counts[severity] for severity in results.Severity} | {"clean": not severities}


def rewrite_document(catalog: Catalog, rewrites: Sequence[results.Rewrite], *, spec: str) -> dict[str, Any]:
    """Rewritten definitions as JSON values, checked against the published schema."""
    document = RewriteDocument(
        server=_server(catalog),
        rewrites=[_rewrite(rewrite, catalog.tools[rewrite.index].raw) for rewrite in rewrites],
        spec_version=spec,
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)


def grade_document(grade: results.ServerGrade) -> dict[str, Any]:
    """A server's grade as JSON values, checked against the published schema."""
    document = GradeDocument(
        server=_server(grade),
        methodology="mcp-playground",
        score=grade.score,
        letter=grade.letter,
        bonus=grade.bonus,
        deductions=[_deduction(deduction) for deduction in grade.deductions],
        judged=Judged(tools=grade.tool_count, resources=grade.resource_count, prompts=grade.prompt_count),
        unread=[
            UnreadTool(name=well_formed(tool.name), reason=well_formed(tool.ungraded.reason))
            for tool in grade.unmeasured
        ],
        problems=[well_formed(problem) for problem in grade.problems],
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)


def generated_by() -> str:
    """This program and its version."""
    return f"tdqs-mcp {version('tdqs-mcp')}"


def _deduction(deduction: results.Deduction) -> Deduction:
    return Deduction(
        rule=deduction.rule,
        alias=deduction.alias,
        severity=deduction.severity,
        points=deduction.points,
        subject=Subject(kind=deduction.subject.kind, name=well_formed(deduction.subject.name)),
        path=well_formed(deduction.subject.path),
        message=well_formed(deduction.message),
        suggestion=_text(deduction.suggestion),
    )


def _rewrite(rewrite: results.Rewrite, old: Mapping[str, Any]) -> ToolRewrite:
    return ToolRewrite(
        index=rewrite.index,
        name=well_formed(rewrite.name),
        definition=_clean(rewrite.definition),
        changes=[
            Change(
                path=change.path,
                before=_clean(change.before),
                after=_clean(change.after),
                sources=[well_formed(source) for source in change.sources],
            )
            for change in rewrite.changes
        ],
        questions=[well_formed(question) for question in rewrite.questions],
        before=_numbers(rewrite.before),
        after=_numbers(rewrite.after),
        tokens_before=rewrite.tokens_before,
        tokens_after=rewrite.tokens_after,
        findings_removed=list(rewrite.findings_removed),
        findings_added=list(rewrite.findings_added),
        diff="\n".join(_diff(_clean(old), _clean(rewrite.definition))),
        claims=[
            Claim(
                path=well_formed(claim.path),
                text=well_formed(claim.text),
                sources=[well_formed(source) for source in claim.sources],
            )
            for claim in rewrite.claims
        ],
        components={component: well_formed(text) for component, text in rewrite.components.items()},
        likeness_before=_likeness(rewrite.likeness_before),
        likeness_after=_likeness(rewrite.likeness_after),
        growth=rewrite.growth,
        writer=well_formed(rewrite.writer),
        setback=_text(rewrite.setback),
    )


def _likeness(likeness: results.Likeness | None) -> Likeness | None:
    return None if likeness is None else Likeness(sibling=_text(likeness.sibling), percent=likeness.percent)


def _diff(old: object, new: object) -> Iterator[str]:
    """A unified diff of two JSON values, pretty-printed, without the lines that would name files."""
    before, after = (json.dumps(value, indent=2, ensure_ascii=False).split("\n") for value in (old, new))
    lines = unified_diff(before, after, lineterm="")
    return (line for line in lines if line not in ("--- ", "+++ "))


def _numbers(score: results.ToolScore | None) -> Numbers | None:
    if score is None:
        return None
    scores = score.scores
    return Numbers(tdqs=score.tdqs / 10, tier=score.tier, scores=scores, judge=_judge(score.judge))


def _clean(value: Any) -> Any:  # noqa: ANN401  # foreign JSON, any shape
    """The same JSON with every text fit for UTF-8."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed(key): _clean(child) for key, child in value.items()}
    return [_clean(child) for child in value] if isinstance(value, list) else value


def _server(
    result: results.ServerScore | results.LabelScore | results.LintReport | results.ServerGrade | Catalog,
) -> Server:
    return Server(
        name=well_formed(result.server),
        version=_text(result.version),
        source=_text(result.source),
    )


def _tool(tool: results.ToolScore, *, spec: str) -> ToolScore:
    return ToolScore(
        name=well_formed(tool.name),
        input_hash=tool.input_hash,
        rubric="tdqs",
        scores=tool.scores,
        justifications=_judgements(tool.judgements),
        tdqs=tool.tdqs / 10,
        tier=tool.tier,
        smells=list(tool.smells),
        flags=list(tool.flags),
        server_flags=list(tool.server_flags),
        summary=well_formed(tool.summary),
        context_signals=ContextSignals.model_validate(tool.signals),
        judge=_judge(tool.judge),
        confidence=None if tool.outlook is None else tool.outlook.tiers[tool.tier] / 100,
        outlook=_outlook(tool.outlook),
        enforced=None if tool.enforced is None else _enforced(tool.enforced),
        jury=_jury(tool.ballots, rubric="tdqs", spec=spec),
    )


def _labelled(tool: results.LabelledTool, *, rubric: str, spec: str) -> LabelledTool:
    names = {dimension.key: dimension.smell for dimension in load(rubric).dimensions}
    return LabelledTool(
        name=well_formed(tool.name),
        input_hash=tool.input_hash,
        rubric=rubric,
        scores=tool.scores,
        justifications=_judgements(tool.judgements),
        overall=tool.overall / 10,
        label=tool.label,
        smells=list(tool.smells),
        smell_names=[names[key] for key in tool.smells if names[key]],
        improvement_needed=list(tool.improvements),
        flags=list(tool.flags),
        server_flags=[],
        summary=well_formed(tool.summary),
        context_signals=ContextSignals.model_validate(tool.signals),
        judge=_judge(tool.judge),
        confidence=None,
        jury=_jury(tool.ballots, rubric=rubric, spec=spec),
    )


def _skill(score: results.SkillScore) -> SkillDocument:
    verdict = score.verdict if isinstance(score.verdict, Verdict) else None
    return SkillDocument(
        server=well_formed(score.server),
        tool_count=score.tool_count,
        rubric="skill",
        scores=verdict.scores if verdict else {},
        justifications=_judgements(verdict.judgements) if verdict else {},
        overall=None if score.overall is None else score.overall / 10,
        label=score.label,
        smells=list(score.smells),
        asks_for_credentials=_text(score.credentials),
        summary=well_formed(verdict.summary) if verdict else None,
        ungraded=well_formed(score.verdict.reason) if isinstance(score.verdict, Ungraded) else None,
        judge=_judge(score.judge),
        problems=[well_formed(problem) for problem in score.problems],
        generated_by=generated_by(),
    )


def _jury(ballots: Sequence[results.Ballot], *, rubric: str, spec: str) -> Jury | None:
    found = dispute(ballots, rubric=rubric, spec=spec)
    if found is None:
        return None
    return Jury(
        ballots=[
            Ballot(judge=_judge(ballot.judge), scores=dict(ballot.scores), reason=_text(ballot.reason))
            for ballot in ballots
        ],
        means={key: mean / 100 for key, mean in found.means.items()},
        spread=dict(found.spread),
        smells_by_mean=list(found.smells_by_mean),
        smells_by_median=list(found.smells_by_median),
        grades=list(found.grades),
        too_close=found.is_too_close,
    )


def _agreement(score: results.ServerScore | results.LabelScore) -> dict[str, Reliability]:
    return {
        key: Reliability(
            icc=each.icc,
            tools=each.tools,
            mean=None if each.mean is None else each.mean / 100,
            median=None if each.median is None else each.median / 100,
            smells_by_mean=each.smells_by_mean,
            smells_by_median=each.smells_by_median,
        )
        for key, each in reliabilities(score).items()
    }


def _enforced(enforced: results.Enforced) -> Enforced:
    return Enforced(scores=dict(enforced.scores), tdqs=enforced.tdqs / 10, tier=enforced.tier, why=enforced.why)


def _judgements(judgements: Mapping[str, results.Judgement]) -> dict[str, Judgement]:
    return {
        key: Judgement(
            score=judgement.score,
            justification=well_formed(judgement.justification),
            evidence=[well_formed(quote) for quote in judgement.evidence],
            unverified=[well_formed(quote) for quote in judgement.unverified],
        )
        for key, judgement in judgements.items()
    }


def _ungraded(score: results.ServerScore) -> list[UngradedTool]:
    """Tools without a verdict, then the coherence case under an empty name where it has none."""
    listed = [(tool.name, tool.input_hash, tool.ungraded) for tool in score.ungraded]
    if isinstance(score.coherence, Ungraded):
        listed.append(("", None, score.coherence))
    return [_ungraded_tool(*entry) for entry in listed]


def _ungraded_tool(name: str, digest: str | None, why: Ungraded) -> UngradedTool:
    return UngradedTool(name=well_formed(name), input_hash=digest, judge=why.judge, reason=well_formed(why.reason))


def _finding(finding: results.Finding) -> Finding:
    return Finding(
        rule=finding.rule,
        name=finding.name,
        aliases=list(finding.aliases),
        severity=finding.severity,
        confidence=finding.confidence,
        persona=finding.persona,
        dimension=finding.dimension,
        subject=Subject(kind=finding.subject.kind, name=well_formed(finding.subject.name)),
        path=well_formed(finding.subject.path),
        message=well_formed(finding.message),
        suggestion=_text(finding.suggestion),
        source=finding.source,
    )


def _candidate(candidate: results.ShadowCandidate) -> dict[str, Any]:
    return {
        "tool": well_formed(candidate.tool),
        "invocation_cost": candidate.invocation_cost,
        "cheaper_sibling": well_formed(candidate.cheaper_sibling),
        "cheaper_sibling_invocation_cost": candidate.cheaper_sibling_invocation_cost,
    }


def _judge(stamp: results.JudgeStamp) -> Judge:
    return Judge(
        id=stamp.id, version=stamp.version, model=stamp.model, calibration=stamp.calibration, prompt=stamp.prompt
    )


def _number(tenths: int | None) -> float | None:
    return None if tenths is None else tenths / 10


def _tier(tenths: int | None) -> Tier | None:
    return None if tenths is None else tier_of(tenths)


def _text(text: str | None) -> str | None:
    return None if text is None else well_formed(text)
