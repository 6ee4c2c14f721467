"""Scores by other rubrics than TDQS: labels of tools and of a skill, what to fix first, MCP Playground's grade."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.prose import asks_for_credentials, count_code_units
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.findings import Finding, Severity
from tdqs_mcp.results.labels import (
    Deduction,
    Label,
    LabeledTool,
    LabelScore,
    Listed,
    ServerGrade,
    SkillScore,
    Suggestion,
    Urgency,
    letter_of,
)
from tdqs_mcp.results.scores import DiscoveryStatus, Flag
from tdqs_mcp.results.verdicts import Judgement, JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SkillCase, ToolCase
from tdqs_mcp.rubrics.rubric import Rubric, load
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule import PLAYGROUND
from tdqs_mcp.scoring.rollup import SMELL_BELOW, jury_of, percent, reliabilities
from tdqs_mcp.scoring.score import context_signals, sort_out, unmeasured_tools

MAX_LABEL = 40
"""Characters of a judge's own label that a problem repeats."""

IMPROVABLE = 3
"""A dimension of at most this score is worth improving (arXiv 2602.14878, Appendix A.1)."""


def finish_cases(
    measured: Measured,
    cases: Sequence[Case],
    verdicts: Sequence[Verdict | Ungraded],
    *,
    rubric: str,
    judge: JudgeStamp,
    spec: str,
    scored_at: str = "",
) -> LabelScore:
    """Every tool's label, and the skill's where there is one, from one verdict for each case."""
    graded = list(zip(cases, verdicts, strict=True))
    skills = [
        finish_skill(measured, case.text, verdict, judge=judge, scored_at=scored_at)
        for case, verdict in graded
        if isinstance(case, SkillCase)
    ]
    of_tools = [verdict for case, verdict in graded if isinstance(case, ToolCase)]
    judged, ungraded = sort_out(measured, of_tools, rubric=rubric)
    rules, decided = load(rubric), _decided(load(rubric), measured)
    tools = [_labeled(subject, _alone(verdict, decided), rules, judge=judge, spec=spec) for subject, verdict in judged]
    scores = {key: judgement.score for key, judgement in decided.items()} or ABSENT
    catalog = measured.catalog
    score = LabelScore(
        rubric=rubric,
        scored_at=scored_at,
        **catalog.origin,
        spec_version=spec,
        judge=judge,
        tool_count=len(catalog.tools),
        discovery_status=None if catalog.tools else DiscoveryStatus.NO_TOOLS_DISCOVERED,
        tools=tuple(tools),
        ungraded=tuple(replace(tool, decided=scores) for tool in ungraded),
        suggestions=(),
        agreement=reliabilities([tool.ballots for tool in tools], rubric=rubric),
        problems=(*catalog.problems, *_contradictions(tools, judged)),
        skill=skills[0] if skills else None,
    )
    return replace(score, suggestions=tuple(_suggestions(measured, score)))


def _contradictions(tools: Sequence[LabeledTool], judged: Sequence[tuple[Subject, Verdict]]) -> Iterator[str]:
    """A sentence for each tool that the judge itself labels otherwise than its scores do; the scores count."""
    for tool, (_, verdict) in zip(tools, judged, strict=True):
        if verdict.label is not None and verdict.label.strip().casefold() != tool.label.casefold():
            label = verdict.label[:MAX_LABEL]
            yield f"{tool.name!r}: the judge calls it {label!r}, by its own scores it is {tool.label}"


def finish_skill(
    measured: Measured, text: str, verdict: Verdict | Ungraded, *, judge: JudgeStamp, scored_at: str
) -> SkillScore:
    """The skill's scores and label; the credentials rule alone makes it Bad, whatever else is known."""
    decided = _decided(load("skill"), measured)
    graded = verdict if isinstance(verdict, Ungraded) else _alone(verdict, decided)
    scores = {} if isinstance(graded, Ungraded) else graded.scores
    sentence = asks_for_credentials(text)
    says_so = isinstance(graded, Verdict) and graded.asks_for_credentials
    is_bad = sentence is not None or says_so
    problem = "the judge says that the skill has its reader handle credentials; the facts do not show it"
    if sentence is not None:
        remark = f"({sentence!r}); the judge does not say so"
        problem = f"the facts show that the skill has its reader handle credentials {remark}"
    is_disputed = isinstance(graded, Verdict) and says_so != (sentence is not None)
    catalog = measured.catalog
    return SkillScore(
        server=catalog.server,
        tool_count=len(catalog.tools),
        discovery_status=None if catalog.tools else DiscoveryStatus.NO_TOOLS_DISCOVERED,
        scored_at=scored_at,
        judge=judge,
        verdict=graded,
        judgements=decided if isinstance(graded, Ungraded) else graded.judgements,
        # the mean of 1-5 on MCPBundles' scale 0-2, in hundredths
        average=round_half_up(10 * (sum(scores.values()) - len(scores)), 2 * len(scores)) if scores else None,
        label=Label.BAD if is_bad else _skill_label(scores) if scores else None,
        smells=tuple(key for key, score in scores.items() if score < SMELL_BELOW),
        credentials=sentence or ("the judge holds so" if says_so else None),
        problems=((problem,) if is_disputed else ()) if catalog.tools else catalog.problems,
    )


def unscored_skill(measured: Measured, *, judge: JudgeStamp, scored_at: str) -> SkillScore:
    """Return what a result has of the skill of a server without known tools: the reason, and no score."""
    unasked = Ungraded(judge=judge.id, reason="no tool of the server is known", was_asked=False)
    return finish_skill(measured, "", unasked, judge=judge, scored_at=scored_at)


def _skill_label(scores: Mapping[str, int]) -> Label:
    """Good only where nothing needs improvement: MCPBundles has three labels for skills, and publishes no bounds."""
    worst = min(scores.values())
    return Label.BAD if worst < SMELL_BELOW else Label.ACCEPTABLE if worst <= IMPROVABLE else Label.GOOD


def _labeled(subject: Subject, verdict: Verdict, rubric: Rubric, *, judge: JudgeStamp, spec: str) -> LabeledTool:
    scores, jury = verdict.scores, jury_of(verdict.ballots, rubric=rubric.key, spec=spec)
    # 3, 2 and 3 have the median 3 and a mean below it: the paper's rule is the mean.
    smells = jury.smells_by_mean if jury else tuple(key for key, score in scores.items() if score < SMELL_BELOW)
    names = {dimension.key: dimension.smell for dimension in rubric.dimensions}
    return LabeledTool(
        index=subject.tool.index,
        name=subject.tool.name,
        input_hash=subject.signals.input_hash,
        rubric=rubric.key,
        judgements=verdict.judgements,
        overall=percent(scores),
        label=Label.BAD if smells else Label.GOOD,
        smells=smells,
        smell_names=tuple(name for key in smells if (name := names[key])),
        improvements=tuple(sorted((key for key in scores if scores[key] <= IMPROVABLE), key=lambda key: scores[key])),
        flags=(Flag.NO_DESCRIPTION,) if subject.signals.is_missing_description else (),
        summary=verdict.summary,
        signals=context_signals(subject.signals, spec=spec),
        judge=judge,
        jury=jury,
    )


def _decided(rubric: Rubric, measured: Measured) -> dict[str, Judgement]:
    """Return what a server of one tool gets in any case (MCPBundles, the N/A rules)."""
    if len(measured.catalog.tools) != 1:
        return {}
    reason = "The server has one tool, so there is nothing to compare or to chain."
    alone = {dimension.key: dimension.alone for dimension in rubric.dimensions if dimension.alone is not None}
    return {key: Judgement(score=score, justification=reason) for key, score in alone.items()}


def _alone(verdict: Verdict, decided: Mapping[str, Judgement]) -> Verdict:
    """The verdict with what is decided without a judge."""
    return replace(verdict, judgements={**verdict.judgements, **decided})


def _suggestions(measured: Measured, score: LabelScore) -> Iterator[Suggestion]:
    """Server smells, then what the skill lacks, then Bad tools with the worst first (MCPBundles, three bands)."""
    for name, tools in relations.shared_display_names(measured.catalog.tools, alike=str.casefold).items():
        message = f"{len(tools)} tools share the display name {name!r}; give each a title of its own"
        yield Suggestion(band=Urgency.SERVER_SMELL, tools=tuple(tool.name for tool in tools), message=message)
    if deficiency := _skill_deficiency(score):
        yield Suggestion(band=Urgency.BUNDLE_DEFICIENCY, tools=(), message=deficiency)
    bad = [tool for tool in score.tools if tool.label is Label.BAD]
    for tool in sorted(bad, key=lambda tool: (tool.overall, tool.index)):
        worst = tool.improvements[0]
        reason = tool.judgements[worst].justification
        message = f"{tool.name!r} is Bad, lowest in {worst} ({tool.judgements[worst].score}): {reason}"
        yield Suggestion(band=Urgency.TOOL_ISSUE, tools=(tool.name,), message=message)


def _skill_deficiency(score: LabelScore) -> str | None:
    """Why the skill is missing or Bad; None where it is neither, or not asked for."""
    if score.skill is not None:
        return f"the skill is Bad: {skill_reason(score.skill)}" if score.skill.label is Label.BAD else None
    if score.rubric != "bundles" or score.discovery_status:
        return None
    return (
        "there is no skill, neither a SKILL.md nor instructions of the server; write what the tools' own "
        "descriptions cannot say: domain, workflows, which tool when, limits and how to read results"
    )


def skill_reason(skill: SkillScore) -> str:
    """Why a skill is Bad, in a sentence."""
    if skill.credentials is not None:
        return f"it has its reader handle credentials ({skill.credentials!r})"
    if isinstance(skill.verdict, Ungraded):
        return skill.verdict.reason
    scores = skill.verdict.scores
    worst = min(skill.smells, key=lambda key: scores[key])
    judgement = skill.verdict.judgements[worst]
    return f"lowest in {worst} ({judgement.score}): {judgement.justification}"


START = 100
PRICES = {Severity.ERROR: 15, Severity.WARNING: 5, Severity.INFO: 1}
"""Points that one violation costs (scoring formula)."""

BONUS = 5
DESCRIBED = 20
"""UTF-16 code units of a trimmed description from which a tool counts for the bonus (scoring formula)."""


def grade(measured: Measured) -> ServerGrade:
    """A server's score, letter, and every point that it lost, in the order of the source's rules.

    What was never listed is not judged.
    """
    catalog = measured.catalog
    findings = registry.check(measured, _playground())
    deductions = tuple(sorted(map(_deduction, findings), key=lambda deduction: _ORDER[deduction.alias]))
    lengths = [count_code_units(subject.tool) for subject in measured.subjects]
    bonus = BONUS if lengths and min(lengths) >= DESCRIBED else 0
    score = _score(measured, lost=sum(deduction.points for deduction in deductions), bonus=bonus)
    return ServerGrade(
        **catalog.origin,
        score=score,
        letter=None if score is None else letter_of(score),
        bonus=bonus,
        deductions=deductions,
        judged=Listed(
            tools=len(catalog.tools),
            resources=None if catalog.resources is None else len(relations.listed_resources(catalog)),
            prompts=None if catalog.prompts is None else len(catalog.prompts),
        ),
        unmeasured=tuple(unmeasured_tools(measured)),
        problems=catalog.problems,
    )


def _score(measured: Measured, *, lost: int, bonus: int) -> int | None:
    """0 for a server that offers nothing; None where nothing is known that could be graded."""
    catalog = measured.catalog
    if relations.is_empty(catalog):
        return 0
    if not (measured.subjects or relations.listed_resources(catalog) or catalog.prompts):
        return None
    return max(0, min(START, START - lost + bonus))


@cache
def _playground() -> registry.RuleSelection:
    return registry.select(profile="playground")


_ORDER = {alias: place for place, alias in enumerate(PLAYGROUND)}


def _deduction(finding: Finding) -> Deduction:
    alias = next(alias for alias in finding.aliases if alias in PLAYGROUND)
    return Deduction(
        rule=finding.rule,
        alias=alias,
        severity=PLAYGROUND[alias],
        points=PRICES[PLAYGROUND[alias]],
        subject=finding.subject,
        message=finding.message,
        suggestion=finding.suggestion,
    )
