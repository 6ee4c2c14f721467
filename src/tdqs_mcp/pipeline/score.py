"""The four stages: facts, hard gates, a judge's verdict, overrides; then the server."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tdqs_mcp.facts.signals import published
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.model.results import (
    Enforced,
    Flag,
    Judgement,
    JudgeStamp,
    ServerScore,
    ShadowingRisk,
    ToolScore,
    Ungraded,
    UngradedTool,
    Verdict,
    tier_of,
)
from tdqs_mcp.pipeline.rollup import roll_up, tdqs
from tdqs_mcp.rubrics.prompt import SetCase, ToolCase
from tdqs_mcp.rubrics.rubric import Rubric, load

SMELL_BELOW = 3
"""A dimension below it is a smell (TDQS, "Flags and smells")."""

UNMEASURED = "none"
"""The judge of a tool that never reached one: it has no name, or it exceeds a measuring limit."""

TAUTOLOGY_CAP = 2
"""The highest purpose clarity of a description that restates the name (TDQS, hard gates)."""


def tool_cases(measured: Measured, *, rubric: str = "tdqs") -> tuple[ToolCase, ...]:
    """What a judge has to see: every tool that the first hard gate has not decided already."""
    names, is_gated = measured.names, load(rubric).is_gated
    return tuple(
        ToolCase(subject=subject, names=names, rubric=rubric, server=measured.catalog.server)
        for subject in measured.subjects
        if not (is_gated and subject.signals.is_missing_description)
    )


def set_case(measured: Measured) -> SetCase | None:
    """The coherence case; None without a tool that could be measured."""
    return SetCase(measured=measured) if measured.subjects else None


def finish(
    measured: Measured,
    *,
    verdicts: Sequence[Verdict | Ungraded],
    coherence: Verdict | Ungraded,
    judge: JudgeStamp,
    spec: str,
    risks: Sequence[ShadowingRisk] = (),
) -> ServerScore:
    """The server's score from one verdict for each of `tool_cases`, in their order, and one on coherence."""
    by_index = {case.subject.tool.index: verdict for case, verdict in zip(tool_cases(measured), verdicts, strict=True)}
    shadowed = {risk.candidate.index for risk in risks}
    scored: list[ToolScore] = []
    ungraded = unmeasured_tools(measured)
    undescribed = gated(load("tdqs"))
    for subject in measured.subjects:
        verdict = by_index.get(subject.tool.index, undescribed)
        if isinstance(verdict, Ungraded):
            ungraded.append(ungraded_tool(subject, verdict))
        else:
            score = _tool_score(subject, verdict, judge=judge, spec=spec)
            flags = (Flag.SHADOWING_RISK,) if subject.tool.index in shadowed else ()
            scored.append(replace(score, server_flags=flags))
    catalog = measured.catalog
    coherence_scores = _scores(coherence) if isinstance(coherence, Verdict) else None
    return ServerScore(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        spec_version=spec,
        judge=judge,
        tool_count=len(catalog.tools),
        tools=tuple(scored),
        ungraded=tuple(sorted(ungraded, key=lambda tool: tool.index)),
        coherence=coherence,
        rollup=roll_up(
            [score.tdqs for score in scored], tool_count=len(catalog.tools), coherence=coherence_scores, spec=spec
        ),
        shadow_candidates=() if spec == "1.0" else measured.shadow_candidates,
        shadowing_risks=tuple(risks),
        problems=catalog.problems + _disputed(measured, by_index),
    )


def _disputed(measured: Measured, verdicts: Mapping[int, Verdict | Ungraded]) -> tuple[str, ...]:
    """Where judge and facts disagree on a contradiction between description and annotations."""
    judged = ((subject, verdicts.get(subject.tool.index)) for subject in measured.subjects)
    found = [(subject, disputed(subject, verdict)) for subject, verdict in judged if isinstance(verdict, Verdict)]
    return tuple(f"{subject.tool.name!r}: {why}" for subject, why in found if why)


def disputed(subject: Subject, verdict: Verdict) -> str | None:
    """How the facts gainsay a verdict on a contradiction between description and annotations; None where they agree."""
    proof = subject.prose.contradiction
    if verdict.contradiction == (proof is not None):
        return None
    if proof is not None:
        return f"the facts show that {proof!r} contradicts readOnlyHint; the judge did not flag it"
    if subject.signals.has_hints:
        return "the judge flags a contradiction with the annotations that the facts do not show"
    return "the judge flags a contradiction with annotations, but no hint is annotated"


def gated(rubric: Rubric) -> Verdict:
    """The verdict of the first hard gate, which needs no judge."""
    reason = "There is no description, so nothing tells an agent anything."
    return Verdict(
        judgements={key: Judgement(score=1, justification=reason) for key in rubric.keys},
        summary="The tool has no description; every dimension scores 1 without a judge.",
    )


def _tool_score(subject: Subject, verdict: Verdict, *, judge: JudgeStamp, spec: str) -> ToolScore:
    """Stage 4: the tautology cap, the flags, the arithmetic and what rule enforcement would have made of it."""
    rubric = load("tdqs")
    judgements = dict(verdict.judgements)
    flags = []
    if subject.signals.is_missing_description:
        flags.append(Flag.NO_DESCRIPTION)
    if subject.signals.restates_name:
        flags.append(Flag.TAUTOLOGICAL_DESCRIPTION)
        judgements["purpose_clarity"] = _capped(judgements["purpose_clarity"])
    if verdict.contradiction:
        flags.append(Flag.ANNOTATION_CONTRADICTION)
    scores = {key: judgement.score for key, judgement in judgements.items()}
    total = tdqs(rubric, scores, spec=spec)
    return ToolScore(
        index=subject.tool.index,
        name=subject.tool.name,
        input_hash=subject.signals.input_hash,
        judgements=judgements,
        tdqs=total,
        tier=tier_of(total),
        smells=tuple(key for key in rubric.keys if scores[key] < SMELL_BELOW),
        flags=tuple(flags),
        server_flags=(),
        summary=verdict.summary,
        signals=published(subject.signals, spec=spec),
        judge=judge,
        enforced=_enforced(subject, scores, flags=flags, spec=spec),
        outlook=verdict.outlook,
        ballots=verdict.ballots,
    )


def _capped(judgement: Judgement) -> Judgement:
    if judgement.score <= TAUTOLOGY_CAP:
        return judgement
    return Judgement(score=TAUTOLOGY_CAP, justification="Capped: the description only restates the name or title.")


def _enforced(subject: Subject, scores: Mapping[str, int], *, flags: Sequence[Flag], spec: str) -> Enforced | None:
    """What the specification's own rules make of the scores when facts prove them; None when they change nothing."""
    limits: dict[str, tuple[int, str]] = {}
    if subject.prose.contradiction or Flag.ANNOTATION_CONTRADICTION in flags:
        said = f" ({subject.prose.contradiction!r})" if subject.prose.contradiction else ""
        limits["behavioral_transparency"] = (1, f"the description contradicts the annotations{said}")
    if subject.prose.is_only_name:
        limits["purpose_clarity"] = (TAUTOLOGY_CAP, "the description is the name in other letters")
    applied = {key: limit for key, (limit, _) in limits.items() if scores[key] > limit}
    if not applied:
        return None
    strict = dict(scores) | applied
    total = tdqs(load("tdqs"), strict, spec=spec)
    return Enforced(scores=strict, tdqs=total, tier=tier_of(total), why="; ".join(limits[key][1] for key in applied))


def _scores(verdict: Verdict) -> dict[str, int]:
    return {key: judgement.score for key, judgement in verdict.judgements.items()}


def ungraded_tool(subject: Subject, verdict: Ungraded) -> UngradedTool:
    """A tool whose judge gave no verdict."""
    return UngradedTool(
        index=subject.tool.index, name=subject.tool.name, input_hash=subject.signals.input_hash, ungraded=verdict
    )


def unmeasured_tools(measured: Measured) -> list[UngradedTool]:
    """The tools that no judge could be asked about."""
    return [_unmeasured(each.tool.index, each.tool.name, each.reason) for each in measured.unmeasured]


def _unmeasured(index: int, name: str, reason: str) -> UngradedTool:
    return UngradedTool(index=index, name=name, input_hash=None, ungraded=Ungraded(judge=UNMEASURED, reason=reason))
