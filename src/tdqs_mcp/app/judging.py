"""Scores and reviews of code by a judge, from answers or in batches; and what needs no judge, such as prompts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tdqs_mcp.app.catalogs import blocking, match_tools
from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy, find
from tdqs_mcp.errors import CaptureError, ContractError, InputError, UnknownIdError, nearest
from tdqs_mcp.facts.schema import signals
from tdqs_mcp.facts.schema.signals import Cost
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.judges.judge import Failure, Judge, batching
from tdqs_mcp.judges.jury import Jury
from tdqs_mcp.judges.offline import Offline, versions
from tdqs_mcp.judges.verdict_guard import VerdictGuard, guard_problems, guard_section, unwrap_guard
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.lint_report import dimension_page, lane_page, rubric_page, rule_page, term_page
from tdqs_mcp.results.checks import CalibrationReport
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.labels import CodeReview, LabelScore, ModelFinding, ServerGrade, SkillScore
from tdqs_mcp.results.scores import DiscoveryStatus, ServerScore, UngradedTool
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import Acceptance, JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, ShadowCase, SkillCase, ToolCase, render, render_hardened
from tdqs_mcp.rubrics.rubric import CODE, RUBRICS, SKILL
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule import AnyRule
from tdqs_mcp.scoring import judge_error, label_rubrics
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC
from tdqs_mcp.scoring.score import (
    all_cases,
    finish_cases,
    judge_cases,
    set_case,
    shadow_cases,
    skill_cases,
    tool_cases,
    with_judge_problems,
)

if TYPE_CHECKING:
    from tdqs_mcp.judges.prompted import Prompted


def findings_of_score(measured: Measured, policy: Policy = DEFAULT_POLICY) -> tuple[Finding, ...]:
    """Return what the policy's rules find; a score asks every tool when to use it, and which sibling instead."""
    selection = policy.selection
    if "TDQ104" in selection.rules and "TDQ146" not in selection.variants:
        more = frozenset() if selection.is_named else frozenset({"TDQ105"}) - selection.ignored
        severity = selection.severities.get("TDQ104", registry.find("TDQ104").severity)  # as in lint, for each tool
        selection = selection._replace(
            rules=selection.rules | more,
            variants=selection.variants | {"TDQ146"},
            severities={**selection.severities, "TDQ146": severity},
        )
    return find(measured, replace(policy, selection=selection)).findings


def score_offline(catalog: Catalog, *, spec: str = DEFAULT_SPEC, policy: Policy = DEFAULT_POLICY) -> ServerScore:
    """A catalog's score by the offline judge, with its findings, without an event loop."""
    measured, judge = measure(catalog), Offline()
    cases, findings = all_cases(measured), findings_of_score(measured, policy)
    return finish_cases(measured, cases, judge.verdicts(cases), judge=judge.stamp, spec=spec, findings=findings)


async def score(
    catalog: Catalog, *, judge: Judge | None = None, spec: str = DEFAULT_SPEC, policy: Policy = DEFAULT_POLICY
) -> ServerScore:
    """A catalog's score, by the offline judge unless another is named, with the findings that the policy asks for.

    What a model scores far above the offline estimate is held: ungraded until somebody accepts it.
    """
    return await score_measured(measure(catalog), judge=judge or Offline(), spec=spec, policy=policy)


def score_blocking(catalog: Catalog, *, judge: Judge | None = None, **options: Any) -> ServerScore:  # noqa: ANN401
    """Return the same for a caller without an event loop."""
    return score_offline(catalog, **options) if judge is None else blocking(score)(catalog, judge=judge, **options)


async def score_measured(
    measured: Measured, *, judge: Judge, spec: str = DEFAULT_SPEC, policy: Policy = DEFAULT_POLICY
) -> ServerScore:
    """Return the same of a catalog that is measured already."""
    cases = judge_cases(measured, judge=judge.stamp, spec=spec)
    return finish_cases(
        measured,
        cases,
        await guarded(judge).grade(cases),
        judge=judge.stamp,
        spec=spec,
        findings=findings_of_score(measured, policy),
        problems=_unused_answers(judge, cases, measured),
    )


def answers_judge(answers: object, *, accepted: Sequence[Acceptance] = ()) -> Judge:
    """A judge that gives answers to the published prompts that came from elsewhere. Raises InputError."""
    from tdqs_mcp.judges.external_answers import read_external  # noqa: PLC0415  # validation, which lint never needs

    return VerdictGuard(judge=read_external(answers), accepted=tuple(accepted))


def _unused_answers(judge: Judge, cases: Sequence[Case], measured: Measured) -> tuple[str, ...]:
    """A sentence for each answer from elsewhere that none of the cases can use."""
    if judge.stamp.is_offline:
        return ()
    from tdqs_mcp.judges.external_answers import ExternalAnswers  # noqa: PLC0415  # as above

    source = unwrap_guard(judge)
    return source.problems(cases, measured.shadow_candidates) if isinstance(source, ExternalAnswers) else ()


async def score_labels(
    catalog: Catalog,
    *,
    rubric: str,
    judge: Judge | None = None,
    skill: str | None = None,
    spec: str = DEFAULT_SPEC,
    policy: Policy = DEFAULT_POLICY,
) -> LabelScore:
    """A catalog under a rubric that ends in labels, "smells" or "bundles".

    "bundles" scores the server's skill too: the given text, else the server's own instructions.
    """
    judge, measured = judge or Offline(), measure(catalog)
    cases: list[Case] = [*tool_cases(measured, rubric=rubric), *skill_cases(measured, rubric=rubric, text=skill)]
    verdicts = await guarded(judge).grade(cases)
    score = label_rubrics.finish_cases(
        measured, cases, verdicts, rubric=rubric, judge=judge.stamp, spec=spec, scored_at=_now()
    )
    problems = (*score.problems, *_unused_answers(judge, cases, measured))
    score = replace(score, problems=problems, findings=findings_of_score(measured, policy))
    return with_judge_problems(score, cases, verdicts)


async def score_skill(catalog: Catalog, text: str | None = None, *, judge: Judge | None = None) -> SkillScore:
    """A server's skill text, or without one its instructions, beside its tools. Raises InputError for neither."""
    judge = judge or Offline()
    if not catalog.tools:
        return label_rubrics.unscored_skill(measure(catalog), judge=judge.stamp, scored_at=_now())
    case = _skill_case(catalog, text)
    (verdict,) = await guarded(judge).grade([case])
    if isinstance(verdict, Ungraded):
        verdict = replace(verdict, was_asked=True)  # answers for tools may leave a skill out, but not its own
    score = label_rubrics.finish_skill(case.measured, case.text, verdict, judge=judge.stamp, scored_at=_now())
    return replace(score, problems=score.problems + guard_problems([case], [verdict]))


def _skill_case(catalog: Catalog, text: str | None) -> SkillCase:
    skill_text = catalog.instructions if text is None else text
    if not skill_text or not skill_text.strip():
        problem = "the skill text is empty" if text is not None else f"{catalog.server!r} has no instructions"
        raise InputError(f"{problem}; give a SKILL.md of the server")
    return SkillCase(text=skill_text, measured=measure(catalog))


def score_undiscovered(
    locator: str, error: CaptureError, *, rubric: str, judge: JudgeStamp | None = None, spec: str = DEFAULT_SPEC
) -> ServerScore | LabelScore | SkillScore:
    """Return what a result has of a server whose tools could not be read: the reason, and no score."""
    judge = judge or Offline().stamp
    measured = measure(Catalog(server=locator, source=locator, tools=(), problems=(str(error),)))
    score: ServerScore | LabelScore | SkillScore
    if rubric == "tdqs":
        score = finish_cases(measured, [], [], judge=judge, spec=spec, findings=())
    elif rubric == SKILL:
        score = label_rubrics.unscored_skill(measured, judge=judge, scored_at=_now())
    else:
        score = label_rubrics.finish_cases(measured, [], [], rubric=rubric, judge=judge, spec=spec, scored_at=_now())
    return replace(score, discovery_status=discovery_status(error))


def discovery_status(error: CaptureError) -> DiscoveryStatus:
    """Why no tool is known of a server that could not be captured."""
    return DiscoveryStatus.NO_CREDENTIAL if error.lacks_credential else DiscoveryStatus.UNREACHABLE


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def to_be_judged(catalog: Catalog, *, rubric: str = "tdqs", code: CodeReport | None = None) -> list[Case]:
    """The cases that a judge is asked: tools that need one, and the tool set and its shadow candidates, or a skill.

    Under the code rubric, the tools with their code.
    """
    measured = measure(catalog)
    if code is not None:
        return [*code_cases(measured, code)]
    if rubric != "tdqs":
        return [*tool_cases(measured, rubric=rubric), *skill_cases(measured, rubric=rubric)]
    return [*all_cases(measured), *shadow_cases(measured, spec=DEFAULT_SPEC)]


async def calibrate(catalogs: Sequence[Catalog] = (), *, judge: Judge | None = None) -> CalibrationReport:
    """How far a judge lies off the prompt's own examples and the labeled tools.

    The offline judge is compared with its labels as it predicted servers that it had not seen. Any judge is compared
    with the labels of those tools in the catalogs that have one, matched by inputHash.
    """
    judge = unwrap_guard(judge or Offline())
    parts = [judge_error.compare_to_examples(await judge.grade(judge_error.example_cases()))]
    if isinstance(judge, Offline) and not catalogs:
        parts.append(judge_error.JudgeComparison(sections=judge_error.published_tables(judge.stamp.calibration or "")))
    if catalogs:
        labels = judge_error.labels(versions()[0])
        cases = [case for catalog in catalogs for case in tool_cases(measure(catalog))]
        labeled = [case for case in cases if case.subject.signals.input_hash in labels]
        parts.append(judge_error.compare_to_labels(labeled, await judge.grade(labeled), labels))
    guard = () if judge.stamp.is_offline else (guard_section(),)
    return CalibrationReport(
        judge=judge.stamp,
        sections=(*(section for part in parts for section in part.sections), *guard),
        faults=tuple(fault for part in parts for fault in part.faults),
        problems=tuple(problem for part in parts for problem in part.problems),
        unjudged=tuple(failure for part in parts for failure in part.unjudged),
    )


def guarded(judge: Judge) -> Judge:
    """The judge behind the guard, unless it is the offline judge, whose estimates the guard goes by."""
    return judge if judge.stamp.is_offline else VerdictGuard(judge=judge)


async def submit_batch(catalogs: Catalog | Sequence[Catalog], *, judge: Judge, rubric: str = "tdqs") -> str:
    """Submits what the judge has to be asked about these catalogs; gives back JSON to write down, for `collect_batch`.

    Asks for nothing whose answer is kept. The budget books the batch's own price, and where it has no room for all,
    nothing is submitted. Raises InputError, also where nothing is left to ask, and EndpointError.
    """
    from tdqs_mcp.judges.prompted import submit  # noqa: PLC0415  # validation, which the offline judge goes without

    batched = batch_judge(judge)
    cases = _open(batched, catalogs, rubric=rubric)
    if not cases:
        raise InputError("there is nothing to submit: every answer is kept, and scoring finds it")
    return await submit(batched, cases, rubric=rubric)


async def collect_batch(batch: str, catalogs: Catalog | Sequence[Catalog], *, judge: Judge) -> list[str] | None:
    """Keeps the answers of a batch, so that scoring its catalogs by this judge asks only for what has none.

    Gives back a reason for each request without an answer that can be used; None while the batch is under way. Needs
    nothing but what was written down and the same definitions. Raises InputError and EndpointError.
    """
    from tdqs_mcp.judges.prompted import read_batch  # noqa: PLC0415

    batched = batch_judge(judge)
    stored = read_batch(batch, judge=batched)
    cases = _open(batched, catalogs, rubric=stored.rubric)
    requests = [batched.request(case) for case in cases]
    answers = await batching(batched.model).collect(stored.id, requests) if requests else []
    if answers is None:
        return None
    faults = (_keep(batched, case, answer) for case, answer in zip(cases, answers, strict=True))
    return [fault for fault in faults if fault is not None]


def batch_judge(judge: Judge) -> "Prompted":
    """The judge inside its guard, if it takes batches and keeps their answers. Raises InputError otherwise."""
    from tdqs_mcp.judges.prompted import Prompted  # noqa: PLC0415

    judge = unwrap_guard(judge)
    if not isinstance(judge, Prompted):
        raise InputError("a batch is one model's: give the anthropic judge, alone and with one sample")
    if judge.cache is None:
        raise InputError("the answers of a batch are collected into the cache: set TDQS_CACHE to a folder")
    batching(judge.model)
    return judge


def _open(judge: "Prompted", catalogs: Catalog | Sequence[Catalog], *, rubric: str) -> list[Case]:
    """The cases of these catalogs without a cached answer."""
    listed = [catalogs] if isinstance(catalogs, Catalog) else catalogs
    cases = [case for catalog in listed for case in to_be_judged(catalog, rubric=rubric)]
    return [case for case in cases if not judge.is_cached(case)]


def _keep(judge: "Prompted", case: Case, answer: str | Failure) -> str | None:
    """Cache an answer; return why it cannot be used, None if it can."""
    if isinstance(answer, Failure):
        return answer.reason
    try:
        judge.keep(case, answer)
    except ContractError as error:
        return f"the answer {error.fault}: {error}"
    return None


MAX_NAMED = 5
"""Tools without code that a report names."""

UNNAMED = "a model that is not named"


def code_cases(measured: Measured, code: CodeReport, *, tool: str | None = None) -> list[ToolCase]:
    """Each tool whose handler was found, with the slice of its code; only one of them, if it is named."""
    from tdqs_mcp.code.slices import slice_code  # noqa: PLC0415  # most runs read no code

    subjects = [subject for subject in measured.subjects if tool in (None, subject.tool.name)]
    slices = slice_code(code, [subject.tool.name for subject in subjects])
    return [
        ToolCase(
            subject=subject,
            names=measured.names,
            rubric=CODE,
            measured=measured,
            code=slices[subject.tool.name],
        )
        for subject in subjects
        if subject.tool.name in slices
    ]


async def review_code(
    catalog: Catalog, code: CodeReport, *, judge: Judge | None, tool: str | None = None
) -> CodeReview:
    """A model's findings about definitions and their code. Raises InputError without a model, and for a jury."""
    model = None if judge is None else unwrap_guard(judge)  # there is no score to hold
    if model is None or model.stamp.is_offline or isinstance(model, Jury):
        raise InputError(
            "the code rubric needs one model: name it with --judge, or answer what tdqs-mcp score LOCATOR "
            "--prompts --rubric code --source FOLDER prints and give --answers"
        )
    from tdqs_mcp.judges.external_answers import ExternalAnswers  # noqa: PLC0415  # as above

    measured = measure(catalog)
    cases = code_cases(measured, code, tool=tool)
    problems = model.problems(cases, ()) if isinstance(model, ExternalAnswers) else ()
    graded = [(case.subject, verdict) for case, verdict in zip(cases, await model.grade(cases), strict=True)]
    coded = {case.subject.tool.index for case in cases}
    names = [subject.tool.name for subject in measured.subjects if subject.tool.index not in coded]
    lost = [name for name in names if tool in (None, name)]
    unread = f"no code was found, so nothing was read, of {first_of([repr(name) for name in lost], MAX_NAMED)}"
    return CodeReview(
        **measured.catalog.origin,
        judge=model.stamp,
        tool_count=len(measured.catalog.tools),
        reviewed_tool_count=sum(isinstance(verdict, Verdict) for _, verdict in graded),
        findings=tuple(
            ModelFinding(
                index=subject.tool.index, tool=subject.tool.name, remark=remark, read_by=model.stamp.model or UNNAMED
            )
            for subject, verdict in graded
            if isinstance(verdict, Verdict)
            for remark in verdict.remarks
        ),
        ungraded=tuple(
            UngradedTool(
                index=subject.tool.index,
                name=subject.tool.name,
                input_hash=subject.signals.input_hash,
                ungraded=verdict,
            )
            for subject, verdict in graded
            if isinstance(verdict, Ungraded)
        ),
        problems=(*measured.catalog.remarks, *([unread] if lost else []), *problems),
    )


def costs(catalog: Catalog) -> list[tuple[str, Cost]]:
    """Each tool's name with its tokens and bytes by field; tools nested too deeply to be measured are left out."""
    return [(subject.tool.name, signals.field_costs(subject.tool)) for subject in measure(catalog).subjects]


def grade(catalog: Catalog) -> ServerGrade:
    """A catalog's score of 100 and letter by MCP Playground's methodology."""
    return label_rubrics.grade(measure(catalog))


def explain(name: str, table: Sequence[AnyRule] = registry.RULES) -> str:
    """The Markdown page of a rule, a lane, a rubric, a dimension, a flag or a tier. Raises UnknownIdError."""
    spelling = name.strip().lower().replace("-", " ").replace("_", " ")
    for key in RUBRICS:
        rubric = load_rubric(key)
        if spelling == key:
            return rubric_page(rubric)
        for dimension in rubric.dimensions:
            names = (dimension.key.replace("_", " "), dimension.title.lower(), dimension.short)
            if spelling in (*names, names[0].partition(" ")[0], f"{key} {names[0]}"):
                return dimension_page(
                    rubric, dimension, [rule for rule in registry.RULES if rule.dimension == dimension.key]
                )
        for term in rubric.flags + rubric.tiers:
            if name.strip().lower() == term.title.lower():
                return term_page(term)
    try:
        rules = registry.find_all(name.strip(), table)
    except UnknownIdError as error:
        dimensions = dict.fromkeys(key for rubric_key in RUBRICS for key in load_rubric(rubric_key).keys)
        terms = (term.title for key in RUBRICS for term in (*load_rubric(key).flags, *load_rubric(key).tiers))
        words = [*(word for rule in table for word in (rule.id, rule.name)), *dimensions, *RUBRICS, *terms]
        raise UnknownIdError(
            f"there is nothing to explain under {name!r}{nearest(name, words)}; tdqs-mcp rules lists the rules; "
            f"the dimensions of TDQS are {', '.join((*load_rubric('tdqs').keys, *load_rubric('coherence').keys))}"
        ) from error
    matching = [rule for rule in table if rule.id in rules]
    return rule_page(matching[0]) if len(matching) == 1 else lane_page(name.strip(), matching)


def prompts(
    catalog: Catalog,
    *,
    tool: str | None = None,
    spec: str = DEFAULT_SPEC,
    rubric: str = "tdqs",
    skill: str | None = None,
    code: CodeReport | None = None,
) -> dict[str, Any]:
    """Every prompt that a judge would get; with a tool's name, that tool's alone. Raises UnknownIdError.

    The code rubric needs the code of the tools, and leaves out those whose handler was not found.
    Each entry has the published bytes, which any judge may be given, and below `hardened` those that our own LLM judges
    get unless `--exact-prompt` says otherwise.
    """
    if tool is not None:
        match_tools([entry.name for entry in catalog.tools], [tool])
    if rubric == SKILL:
        return {"tools": [], SKILL: _published_and_hardened(_skill_case(catalog, skill))}
    measured = measure(catalog)
    if code is None and rubric == CODE:
        raise InputError("the code rubric needs the code: name its folder with --source")
    if code is not None:
        cases = code_cases(measured, code, tool=tool)
    else:
        cases = [case for case in tool_cases(measured, rubric=rubric) if tool in (None, case.subject.tool.name)]
    document: dict[str, Any] = {
        "tools": [
            {
                "name": case.subject.tool.name,
                "inputHash": case.subject.signals.input_hash,
                **_published_and_hardened(case),
            }
            for case in cases
        ]
    }
    if rubric == CODE:
        return document
    skills = [SkillCase(text=skill, measured=measured)] if skill else skill_cases(measured, rubric=rubric)
    if skills and (skill or tool is None):
        document["skill"] = _published_and_hardened(skills[0])
    if rubric != "tdqs":
        return document
    coherence = set_case(measured)
    if tool is None and coherence is not None:
        document["coherence"] = _published_and_hardened(coherence)
    if tool is None and measured.shadow_candidates and spec != "1.0":
        document["shadowing"] = _published_and_hardened(ShadowCase(measured=measured))
    return document


def _published_and_hardened(case: Case) -> dict[str, Any]:
    published, hardened = (
        {"system": prompt.system, "user": prompt.user, "promptHash": prompt.hash}
        for prompt in (render(case), render_hardened(case))
    )
    return {**published, "hardened": hardened}
