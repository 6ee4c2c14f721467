"""The document of a score by TDQS."""

from typing import Any, Literal

from pydantic import Field

from tdqs_mcp.report.contract.document import Document, Point, Tenths
from tdqs_mcp.report.contract.parts import (
    Finding,
    Judge,
    Judgement,
    Jury,
    Reliability,
    Server,
    UngradedTool,
    agreement_of,
    finding_of,
    generated_by,
    judge_of,
    judgements_of,
    jury_of,
    number_of,
    server_of,
    tier_or_none,
    ungraded_of,
)
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import scores, verdicts
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tiers import Tier
from tdqs_mcp.results.verdicts import Verdict


class AnnotationValues(Document):
    """The four hints as declared; null where undeclared or no boolean."""

    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None


class ContextSignals(Document):
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


class Enforced(Document):
    """The score if the specification's rules were enforced from facts; beside the published number, never in it."""

    scores: dict[str, Point]
    tdqs: Tenths
    tier: Tier
    why: str


class Outlook(Document):
    """What the judge's own error leaves open."""

    low: Tenths
    high: Tenths = Field(description="low and high: the middle 80% of the likely scores")
    tiers: dict[Tier, float] = Field(description="Probability of every tier, 0-1")
    too_close_to_call: bool


class ToolScore(Document):
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


class ShadowCandidate(Document):
    """A tool and its dearest much cheaper sibling."""

    tool: str
    invocation_cost: int
    cheaper_sibling: str
    cheaper_sibling_invocation_cost: int


class ShadowingRisk(ShadowCandidate):
    """A candidate pair whose purposes overlap."""

    justification: str


class ScoreDocument(Document):
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


def score_document(score: ServerScore) -> dict[str, Any]:
    """A server's score as JSON values, checked against the published schema."""
    rollup = score.rollup
    verdict = score.coherence if isinstance(score.coherence, Verdict) else None
    coherence = verdict.scores if verdict else {}
    document = ScoreDocument(
        server=server_of(score),
        tool_count=score.tool_count,
        scored_tool_count=len(score.tools),
        mean_tdqs=number_of(rollup.mean_tdqs),
        min_tdqs=number_of(rollup.min_tdqs),
        description_quality_score=number_of(rollup.description_quality),
        description_quality_tier=tier_or_none(rollup.description_quality),
        disambiguation=coherence.get("disambiguation"),
        naming_consistency=coherence.get("naming_consistency"),
        tool_count_appropriateness=coherence.get("tool_count_appropriateness"),
        completeness=coherence.get("completeness"),
        coherence_score=number_of(rollup.coherence),
        coherence_tier=tier_or_none(rollup.coherence),
        overall_score=number_of(rollup.overall),
        overall_tier=tier_or_none(rollup.overall),
        coherence_justifications=judgements_of(verdict.judgements) if verdict else {},
        coherence_summary=well_formed(verdict.summary) if verdict else None,
        shadowing_risks=[
            ShadowingRisk(**_candidate(risk.candidate), justification=well_formed(risk.justification))
            for risk in score.shadowing_risks
        ],
        shadow_candidates=[ShadowCandidate(**_candidate(candidate)) for candidate in score.shadow_candidates],
        tools=[_tool(tool, spec=score.spec_version) for tool in score.tools],
        findings=[finding_of(finding) for finding in score.findings],
        ungraded=ungraded_of(score),
        judge=judge_of(score.judge),
        agreement=agreement_of(score),
        problems=[well_formed(problem) for problem in score.problems],
        spec_version=score.spec_version,
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _outlook(outlook: verdicts.Outlook | None) -> Outlook | None:
    if outlook is None:
        return None
    return Outlook(
        low=outlook.low / 10,
        high=outlook.high / 10,
        tiers={tier: percent / 100 for tier, percent in outlook.tiers.items()},
        too_close_to_call=outlook.is_close,
    )


def _tool(tool: scores.ToolScore, *, spec: str) -> ToolScore:
    return ToolScore(
        name=well_formed(tool.name),
        input_hash=tool.input_hash,
        rubric="tdqs",
        scores=tool.scores,
        justifications=judgements_of(tool.judgements),
        tdqs=tool.tdqs / 10,
        tier=tool.tier,
        smells=list(tool.smells),
        flags=list(tool.flags),
        server_flags=list(tool.server_flags),
        summary=well_formed(tool.summary),
        context_signals=ContextSignals.model_validate(tool.signals),
        judge=judge_of(tool.judge),
        confidence=None if tool.outlook is None else tool.outlook.tiers[tool.tier] / 100,
        outlook=_outlook(tool.outlook),
        enforced=None if tool.enforced is None else _enforced(tool.enforced),
        jury=jury_of(tool.ballots, rubric="tdqs", spec=spec),
    )


def _enforced(enforced: scores.Enforced) -> Enforced:
    return Enforced(scores=dict(enforced.scores), tdqs=enforced.tdqs / 10, tier=enforced.tier, why=enforced.why)


def _candidate(candidate: verdicts.ShadowCandidate) -> dict[str, Any]:
    return {
        "tool": well_formed(candidate.tool),
        "invocation_cost": candidate.invocation_cost,
        "cheaper_sibling": well_formed(candidate.cheaper_sibling),
        "cheaper_sibling_invocation_cost": candidate.cheaper_sibling_invocation_cost,
    }
