"""The four stages: facts, hard gates, a judge's verdict, overrides; then the server."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from tdqs_mcp.facts.schema.signals import Signals
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.judges.jury import silences
from tdqs_mcp.judges.offline import calibration, versions
from tdqs_mcp.judges.verdict_guard import guard_problems
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.findings import Finding, Severity, by_tool
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import (
    UNMEASURED,
    UNREAD,
    ContextSignals,
    DiscoveryStatus,
    Enforced,
    Flag,
    Percentiles,
    Rollup,
    ServerScore,
    ToolScore,
    UngradedTool,
)
from tdqs_mcp.results.verdicts import Judged, Judgement, JudgeStamp, ShadowingRisk, Ungraded, Verdict, tier_of
from tdqs_mcp.rubrics.prompt import Case, SetCase, ShadowCase, SkillCase, ToolCase
from tdqs_mcp.rubrics.rubric import Dimension, load
from tdqs_mcp.scoring.judge_error import likely_overall
from tdqs_mcp.scoring.rollup import SMELL_BELOW, coherence_of, jury_of, reliabilities, roll_up, tdqs


def captured_percentiles(rollup: Rollup, *, judge: JudgeStamp, spec: str) -> Percentiles | None:
    """Among the captured servers; None where they were scored by another method, or without an overall score."""
    if judge.calibration is None:
        return None
    captured = _captured()
    if (judge.id, judge.calibration, spec) != (captured["judge"], captured["calibration"], captured["spec"]):
        return None
    return percentiles(
        rollup.overall,
        rollup.description_quality,
        overalls={int(score): count for score, count in captured["overall"].items()},
        qualities={int(score): count for score, count in captured["descriptionQuality"].items()},
    )


def percentiles(
    overall: int | None, quality: int | None, *, overalls: Mapping[int, int], qualities: Mapping[int, int]
) -> Percentiles | None:
    """Of two scores in tenths among servers counted by theirs; None without an overall score or another server."""
    count = sum(overalls.values())
    if overall is None or not count:
        return None
    return Percentiles(
        servers=count,
        overall=_percent_below(overall, overalls),
        description_quality=None if quality is None else _percent_below(quality, qualities),
    )


def _percent_below(score: int, counts: Mapping[int, int]) -> int:
    """Rounded down, so that 100 means all of them."""
    return 100 * sum(count for other, count in counts.items() if other < score) // sum(counts.values())


@cache
def _captured() -> dict[str, Any]:
    text = files("tdqs_mcp.scoring").joinpath("data/known_servers.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]  # our own file


Score = TypeVar("Score", ServerScore, LabelScore)

TAUTOLOGY_CAP = 2
"""The highest purpose clarity of a description that restates the name (TDQS, hard gates)."""


def tool_cases(measured: Measured, *, rubric: str = "tdqs") -> tuple[ToolCase, ...]:
    """Return what a judge has to see: every tool that the first hard gate has not decided already."""
    names, is_gated = measured.names, load(rubric).is_gated
    return tuple(
        ToolCase(subject=subject, names=names, rubric=rubric, measured=measured)
        for subject in measured.subjects
        if not (is_gated and subject.signals.is_missing_description) and subject.tool.is_whole
    )


def set_case(measured: Measured) -> SetCase | None:
    """The coherence case; None without a tool that could be measured."""
    return SetCase(measured=measured) if measured.subjects else None


def skill_cases(measured: Measured, *, rubric: str, text: str | None = None) -> tuple[SkillCase, ...]:
    """The skill of a server with tools, the text or else its instructions, where the rubric scores one."""
    skill_text = measured.catalog.instructions if text is None else text
    is_scored = rubric == "bundles" and measured.catalog.tools
    return (SkillCase(text=skill_text, measured=measured),) if is_scored and skill_text and skill_text.strip() else ()


def all_cases(measured: Measured) -> list[Case]:
    """Every tool case, then the coherence case if there is one."""
    coherence = set_case(measured)
    return [*tool_cases(measured), *([coherence] if coherence else [])]


def shadow_cases(measured: Measured, *, spec: str) -> list[Case]:
    """The question about shadow candidates, which only a model is asked; empty without any, and before TDQS 1.1."""
    return [ShadowCase(measured=measured)] if measured.shadow_candidates and spec != "1.0" else []


def judge_cases(measured: Measured, *, judge: JudgeStamp, spec: str) -> list[Case]:
    """All that this judge is asked."""
    return [*all_cases(measured), *([] if judge.is_offline else shadow_cases(measured, spec=spec))]


def finish_cases(
    measured: Measured,
    cases: Sequence[Case],
    verdicts: Sequence[Verdict | Ungraded],
    *,
    judge: JudgeStamp,
    spec: str,
    findings: Sequence[Finding],
    problems: Sequence[str] = (),
) -> ServerScore:
    """The server's score from one verdict for each case: every tool, then coherence and shadow candidates if asked.

    `problems` are those of the verdicts' source.
    """
    graded = list(zip(cases, verdicts, strict=True))
    nothing = Ungraded(judge=judge.id, reason="the catalog has no tool that could be measured", was_asked=False)
    confirmed = next((verdict for case, verdict in graded if isinstance(case, ShadowCase)), None)
    score = finish(
        measured,
        verdicts=[verdict for case, verdict in graded if isinstance(case, ToolCase)],
        coherence=next((verdict for case, verdict in graded if isinstance(case, SetCase)), nothing),
        judge=judge,
        spec=spec,
        risks=confirmed.risks if isinstance(confirmed, Verdict) else (),
    )
    lines = list(score.problems)
    if isinstance(confirmed, Ungraded) and confirmed.was_asked:
        lines.append(f"shadow candidates were not judged, so none is flagged: {confirmed.reason}")
    percentiles = captured_percentiles(score.rollup, judge=judge, spec=spec)
    score = replace(score, percentiles=percentiles, problems=(*lines, *problems), findings=tuple(findings))
    return with_judge_problems(score, cases, verdicts)


def with_judge_problems(score: Score, cases: Sequence[Case], graded: Sequence[Verdict | Ungraded]) -> Score:
    """The score with the problems of a model: jurors who gave no verdict, and what the guard found."""
    if score.judge.is_offline:
        return score
    silent = silences(tool.ballots for tool in score.tools)
    return replace(score, problems=score.problems + silent + guard_problems(cases, graded))


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
    judged, ungraded = sort_out(measured, verdicts, rubric="tdqs")
    shadowed = {risk.candidate.index: (Flag.SHADOWING_RISK,) for risk in risks}
    tools = [_tool_score(subject, verdict, judge=judge, spec=spec) for subject, verdict in judged]
    scored = [replace(tool, server_flags=shadowed.get(tool.index, ())) for tool in tools]
    described = [(subject, verdict) for subject, verdict in judged if not subject.signals.is_missing_description]
    disputes = [(subject, disputed(subject, verdict)) for subject, verdict in described]
    catalog = measured.catalog
    # What is held counts with its estimate: nobody gains by dictating a score that is not believed.
    estimates = [tool.ungraded.estimate for tool in ungraded if tool.ungraded.estimate is not None]
    rollup = roll_up(
        [*(score.tdqs for score in scored), *estimates],
        tool_count=len(catalog.tools),
        coherence=coherence_of(coherence.scores) if isinstance(coherence, Verdict) else coherence.estimate,
        spec=spec,
    )
    rollup = rollup if catalog.incomplete is None else replace(rollup, overall=None)
    return ServerScore(
        **catalog.origin,
        spec_version=spec,
        judge=judge,
        tool_count=len(catalog.tools),
        discovery_status=None if catalog.tools else DiscoveryStatus.NO_TOOLS_DISCOVERED,
        tools=tuple(scored),
        ungraded=ungraded,
        coherence=coherence,
        rollup=rollup,
        likely=likely_overall(rollup.overall, judge),
        agreement=reliabilities([score.ballots for score in scored], rubric="tdqs"),
        shadow_candidates=() if spec == "1.0" else measured.shadow_candidates,
        shadowing_risks=tuple(risks),
        problems=(*catalog.remarks, *(f"{subject.tool.name!r}: {why}" for subject, why in disputes if why)),
    )


def sort_out(
    measured: Measured, verdicts: Sequence[Verdict | Ungraded], *, rubric: str
) -> tuple[list[tuple[Subject, Verdict]], tuple[UngradedTool, ...]]:
    """The tools with a verdict, which the first hard gate may have given, and those without, in catalog order.

    There is one verdict for each of the rubric's `tool_cases`, in their order.
    """
    cases = tool_cases(measured, rubric=rubric)
    by_index = {case.subject.tool.index: verdict for case, verdict in zip(cases, verdicts, strict=True)}
    reason = "There is no description, and name and schema cannot make up for it."
    undescribed = Verdict(
        judgements={key: Judgement(score=1, justification=reason) for key in load(rubric).keys},
        summary="The tool has no description; every dimension scores 1 without a judge.",
    )
    judged: list[tuple[Subject, Verdict]] = []
    ungraded = unmeasured_tools(measured)
    for subject in measured.subjects:
        verdict = by_index.get(subject.tool.index, undescribed)
        if not subject.tool.is_whole:
            reason = f"{UNREAD}: {', '.join(subject.tool.unread)}"
            verdict = Ungraded(judge=UNMEASURED, reason=reason)
        if isinstance(verdict, Ungraded):
            tool, input_hash = subject.tool, subject.signals.input_hash
            ungraded.append(UngradedTool(index=tool.index, name=tool.name, input_hash=input_hash, ungraded=verdict))
        else:
            judged.append((subject, verdict))
    return judged, tuple(sorted(ungraded, key=lambda tool: tool.index))


def unmeasured_tools(measured: Measured) -> list[UngradedTool]:
    """The tools that no judge could be asked about; they have no hash."""
    ungraded = [
        (unmeasured.tool, Ungraded(judge=UNMEASURED, reason=unmeasured.reason)) for unmeasured in measured.unmeasured
    ]
    return [UngradedTool(index=tool.index, name=tool.name, input_hash=None, ungraded=why) for tool, why in ungraded]


def disputed(subject: Subject, verdict: Verdict) -> str | None:
    """How the facts contradict a verdict about description and annotations; None if they agree."""
    quotation = subject.prose.contradiction
    if verdict.contradiction == (quotation is not None):
        return None
    if quotation is not None:
        return f"the facts show that {quotation!r} contradicts readOnlyHint; the judge did not flag it"
    if subject.signals.has_hints:
        return "the judge flags a contradiction with the annotations that the facts do not show"
    return "the judge flags a contradiction with annotations, but no hint is annotated"


def _tool_score(subject: Subject, verdict: Verdict, *, judge: JudgeStamp, spec: str) -> ToolScore:
    """Stage 4: the tautology cap, the flags, the arithmetic and what rule enforcement would have made of it."""
    rubric = load("tdqs")
    judgements = dict(verdict.judgements)
    flags = []
    if subject.signals.is_missing_description:
        flags.append(Flag.NO_DESCRIPTION)
    if subject.signals.restates_name:
        flags.append(Flag.TAUTOLOGICAL_DESCRIPTION)
        if judgements["purpose_clarity"].score > TAUTOLOGY_CAP:
            reason = "Capped: the description only restates the name or title."
            judgements["purpose_clarity"] = Judgement(score=TAUTOLOGY_CAP, justification=reason)
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
        signals=context_signals(subject.signals, spec=spec),
        judge=judge,
        enforced=_enforced(subject, scores, flags=flags, spec=spec),
        outlook=verdict.outlook,
        jury=jury_of(verdict.ballots, rubric="tdqs", spec=spec),
    )


def _enforced(subject: Subject, scores: Mapping[str, int], *, flags: Sequence[Flag], spec: str) -> Enforced | None:
    """The scores under the specification's own rules where facts show a violation; None if that changes nothing."""
    limits: dict[str, tuple[int, str]] = {}
    if subject.prose.contradiction or Flag.ANNOTATION_CONTRADICTION in flags:
        quotation = f" ({subject.prose.contradiction!r})" if subject.prose.contradiction else ""
        limits["behavioral_transparency"] = (1, f"the description contradicts the annotations{quotation}")
    if subject.prose.is_only_name:
        limits["purpose_clarity"] = (TAUTOLOGY_CAP, "the description is the name in other letters")
    applied = {key: limit for key, (limit, _) in limits.items() if scores[key] > limit}
    if not applied:
        return None
    strict = dict(scores) | applied
    total = tdqs(load("tdqs"), strict, spec=spec)
    return Enforced(scores=strict, tdqs=total, tier=tier_of(total), why="; ".join(limits[key][1] for key in applied))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A tool and the finding to begin with."""

    tool: ToolScore
    finding: Finding


def dimension_means(rubric: str, tools: Sequence[Judged]) -> list[tuple[Dimension, float]]:
    """Return the dimensions of a rubric, each with its mean score, 1-5; none without tools."""
    dimensions = load(rubric).dimensions if tools else ()
    return [
        (dimension, sum(tool.judgements[dimension.key].score for tool in tools) / len(tools))
        for dimension in dimensions
    ]


def ordered_findings(score: ServerScore) -> list[tuple[ToolScore, list[Finding]]]:
    """Return the tools in the order of what helps most, each with its findings, the best to fix first.

    Those without anything to fix come last, the lowest first.
    """
    fixes = {group[0].tool.index: [fix.finding for fix in group] for group in fixes_by_tool(score)}
    findings = by_tool(score.findings)
    tools = sorted(score.tools, key=lambda tool: (tool.index not in fixes, tool.tdqs, tool.index))
    firsts = [(tool, fixes.get(tool.index, [])) for tool in tools]
    return [
        (tool, [*first, *(finding for finding in findings.get(tool.index, []) if finding not in first)])
        for tool, first in firsts
    ]


def common_findings(score: ServerScore) -> list[tuple[Finding, int]]:
    """Return a finding of each rule and the number of its tools, the most severe of most tools first."""
    first: dict[str, Finding] = {}
    counts: Counter[str] = Counter()
    for _, findings in ordered_findings(score):
        by_rule = {finding.rule: finding for finding in reversed(findings)}
        first = by_rule | first
        counts.update(by_rule.keys())
    rules = sorted(counts, key=lambda rule: (first[rule].severity.rank, counts[rule]), reverse=True)
    return [(first[rule], counts[rule]) for rule in rules]


def fixes_by_rule(score: ServerScore) -> list[list[Fix]]:
    """The first fix of each tool by rule: what the code disproves, then what the server's score gains most by.

    The mean is 60% of the description quality, the minimum 40% (TDQS 1.2), so what the lowest tool gains counts more.
    """
    groups: dict[str, list[Fix]] = {}
    for fix, *_ in fixes_by_tool(score):
        groups.setdefault(fix.finding.rule, []).append(fix)
    lowest, count = min((tool.tdqs for tool in score.tools), default=0), len(score.tools)

    def gain(fixes: Sequence[Fix]) -> int:
        return sum(_gain(fix) * (60 + 40 * count * (fix.tool.tdqs == lowest)) for fix in fixes)

    def rank(fixes: Sequence[Fix]) -> tuple[int, int]:
        return max(fix.finding.severity.rank * _is_disproved(fix) for fix in fixes), gain(fixes)

    return sorted(groups.values(), key=rank, reverse=True)


def fixes_by_tool(score: ServerScore) -> list[list[Fix]]:
    """The fixes of each tool that has any, the lowest TDQS first: the minimum is 40% of a server's description quality.

    Those of a tool begin with errors and what the code disproves, and among equals with what raises the score most.
    """
    by_index: dict[int, list[Fix]] = {tool.index: [] for tool in score.tools}
    tools = {tool.index: tool for tool in score.tools}
    for finding in score.findings:
        tool = tools.get(finding.tool_index) if finding.tool_index is not None else None
        if tool and not _is_settled(finding, tool):
            by_index[tool.index].append(Fix(tool=tool, finding=finding))

    def rank(fix: Fix) -> tuple[bool, bool, int, int]:
        severity = fix.finding.severity
        return severity is Severity.ERROR, _is_disproved(fix), _gain(fix), severity.rank

    lowest = sorted(score.tools, key=lambda tool: (tool.tdqs, tool.index))
    return [sorted(by_index[tool.index], key=rank, reverse=True) for tool in lowest if by_index[tool.index]]


def _is_disproved(fix: Fix) -> bool:
    """Return whether the tool's code proves the definition wrong, whatever that does to the score."""
    finding = fix.finding
    return finding.code is not ABSENT and finding.severity is not Severity.INFO


PART_GAINS = {"inputSchema": (35, 30, 5, 0, 0), "outputSchema": (6, 3, 3, 0, 0), "annotations": (3, 3, 3, 2, 0)}
"""Hundredths of TDQS by which the offline judge's score rose, by the score of the dimension, where all parameters were
described in the schema (57 tools of the captured servers), an output schema or annotations added (84): less than by a
sentence of the text.
"""


def _gain(fix: Fix) -> int:
    """Return the hundredths of TDQS that such a change won on average; parameters win their share of what all do."""
    dimension, gains = fix.finding.dimension or "", calibration(versions()[0]).gains
    if dimension not in gains:
        return 0
    signals, path = fix.tool.signals, fix.finding.path
    gain = PART_GAINS.get(path[1:].partition("/")[0], gains[dimension])[fix.tool.judgements[dimension].score - 1]
    if "/properties/" in path:
        return gain // max(1, signals["paramCount"])
    if path.endswith("/properties"):
        return gain * (signals["paramCount"] - signals["paramsWithDescriptions"]) // max(1, signals["paramCount"])
    return gain


def _is_settled(finding: Finding, tool: ToolScore) -> bool:
    """Return whether the judge gave full marks in the finding's dimension, so that nothing can be gained."""
    judgement = tool.judgements.get(finding.dimension) if finding.dimension else None
    return judgement is not None and judgement.score == 5 and finding.severity is not Severity.ERROR


def context_signals(signals: Signals, *, spec: str) -> ContextSignals:
    """The context signals under their published names; spec 1.0 has none of the later ones."""
    earlier: ContextSignals = {
        "paramCount": signals.param_count,
        "requiredParamCount": signals.required_param_count,
        "paramsWithDescriptions": signals.params_with_descriptions,
        "paramsWithEnums": signals.params_with_enums,
        "schemaDescriptionCoverage": signals.coverage,
        "hasNestedObjects": signals.has_nested_objects,
        "hasOutputSchema": signals.has_output_schema,
        "hasAnnotations": signals.has_annotations,
        "annotationValues": {
            "readOnly": signals.read_only,
            "destructive": signals.destructive,
            "idempotent": signals.idempotent,
            "openWorld": signals.open_world,
        },
        "titleIsMeaningful": signals.title_is_meaningful,
        "inputHash": signals.input_hash,
    }
    if spec == "1.0":
        return earlier
    return earlier | {
        "requiredFieldCount": signals.subtree.field_count,
        "schemaDepth": signals.subtree.depth,
        "unionChoiceCount": signals.subtree.union_choice_count,
        "invocationCost": signals.subtree.invocation_cost,
        "definitionBytes": signals.definition_bytes,
    }
