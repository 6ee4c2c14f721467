"""What judges make of a catalog, and how wrong they are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from tdqs_mcp.facts import hostile
from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.judges import verdict_guard
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.jury import silences
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.judges.scorecard import versions
from tdqs_mcp.judges.verdict_guard import Detector, Guarded
from tdqs_mcp.model.catalog import Catalog, Tool
from tdqs_mcp.results.calibration import CalibrationReport
from tdqs_mcp.results.labels import LabelScore, SkillScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SkillCase
from tdqs_mcp.rules import registry
from tdqs_mcp.scoring.rollup import SPECS
from tdqs_mcp.scoring.score import finish, set_case, shadow_case, tool_cases

DEFAULT_SPEC = SPECS[0]


Score = TypeVar("Score", ServerScore, LabelScore)


def addresses_judge(subject: Subject) -> str | None:
    """The words with which a definition speaks to its judge, or could make one obey; None where it does not."""
    return hostile.first_spoken(subject.threats)


def addresses_model(tool: Tool) -> str | None:
    """The same of a definition that nobody has measured and any model is to read."""
    return hostile.spoken(tool.raw)


def score_offline(catalog: Catalog, *, spec: str = DEFAULT_SPEC) -> ServerScore:
    """A catalog's score by the offline judge, with its findings; nothing is awaited."""
    measured, judge = measure(catalog), Offline()
    return scored(measured, judge.verdicts(all_cases(measured)), stamp=judge.stamp, spec=spec)


async def score(
    catalog: Catalog,
    *,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> ServerScore:
    """A catalog's score, by the offline judge unless another is named, with its findings.

    `addresses` finds definitions that speak to their judge: they are named in the problems, as are names and other
    texts that do, and a verdict that facts do not support is withheld wherever such words reach the judge.
    """
    if judge is None:
        return score_offline(catalog, spec=spec)
    return await score_measured(measure(catalog), judge=judge, spec=spec, addresses=addresses)


async def score_measured(
    measured: Measured, *, judge: Judge, spec: str = DEFAULT_SPEC, addresses: Detector = addresses_judge
) -> ServerScore:
    """The same of a catalog whose facts are there."""
    cases = all_cases(measured)
    shadow = None if _is_offline(judge) else shadow_case(measured, spec=spec)
    graded = await guarded(judge, addresses).grade([*cases, *([shadow] if shadow else [])])
    confirmed = graded[-1] if shadow else None
    whole = scored(measured, graded[: len(cases)], stamp=judge.stamp, spec=spec, confirmed=confirmed)
    return whole if _is_offline(judge) else _flagged(whole, measured, addresses)


def score_answers(
    catalog: Catalog,
    answers: object,
    *,
    judge: JudgeStamp | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> ServerScore:
    """A catalog's score from answers to the published prompts that came from elsewhere. Raises InputError."""
    from tdqs_mcp.scoring.external_answers import ANYBODY, match  # noqa: PLC0415  # validation: an import that lint never needs

    measured, stamp = measure(catalog), judge or ANYBODY
    answered = match(measured, answers, judge=stamp.id)
    cases = all_cases(measured)
    given: list[Verdict | Ungraded] = [*answered.verdicts, answered.coherence][: len(cases)]
    shadow = shadow_case(measured, spec=spec) if answered.risks else None
    if shadow:
        given.append(Verdict(judgements={}, summary="", risks=answered.risks))
    graded = verdict_guard.review([*cases, *([shadow] if shadow else [])], given, addresses=addresses, judge=stamp)
    confirmed = graded[-1] if shadow else None
    whole = scored(measured, graded[: len(cases)], stamp=stamp, spec=spec, confirmed=confirmed)
    return _flagged(replace(whole, problems=whole.problems + answered.problems), measured, addresses)


async def score_labels(
    catalog: Catalog,
    *,
    rubric: str,
    judge: Judge | None = None,
    skill: str | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> LabelScore:
    """A catalog under a rubric that ends in labels, "smells" or "bundles", with its skill where the text is given."""
    from tdqs_mcp.scoring import label_rubrics  # noqa: PLC0415  # what scoring by TDQS goes without

    judge, measured = judge or Offline(), measure(catalog)
    cases = tool_cases(measured, rubric=rubric)
    verdicts = await guarded(judge, addresses).grade(cases)
    text = None if skill is None else await _skill(measured, skill, judge=judge, addresses=addresses)
    finished = label_rubrics.finish(
        measured, rubric=rubric, verdicts=verdicts, judge=judge.stamp, spec=spec, skill=text
    )
    whole = replace(finished, findings=tuple(registry.check(measured)))
    return whole if _is_offline(judge) else _flagged(whole, measured, addresses)


def score_label_answers(
    catalog: Catalog,
    answers: object,
    *,
    rubric: str,
    judge: JudgeStamp | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> LabelScore:
    """The same from answers that came from elsewhere. Raises InputError."""
    from tdqs_mcp.scoring import label_rubrics  # noqa: PLC0415
    from tdqs_mcp.scoring.external_answers import ANYBODY, match  # noqa: PLC0415

    measured, stamp = measure(catalog), judge or ANYBODY
    answered = match(measured, answers, judge=stamp.id, rubric=rubric)
    cases = tool_cases(measured, rubric=rubric)
    verdicts = verdict_guard.review(cases, answered.verdicts, addresses=addresses, judge=stamp)
    finished = label_rubrics.finish(measured, rubric=rubric, verdicts=verdicts, judge=stamp, spec=spec)
    whole = replace(finished, problems=finished.problems + answered.problems, findings=tuple(registry.check(measured)))
    return _flagged(whole, measured, addresses)


async def score_skill(catalog: Catalog, text: str, *, judge: Judge | None = None) -> SkillScore:
    """A server's skill text beside its tools."""
    return await _skill(measure(catalog), text, judge=judge or Offline(), addresses=addresses_judge)


def score_skill_answer(catalog: Catalog, text: str, answers: object, *, judge: JudgeStamp | None = None) -> SkillScore:
    """The same from an answer that came from elsewhere. Raises InputError."""
    from tdqs_mcp.scoring import label_rubrics  # noqa: PLC0415
    from tdqs_mcp.scoring.external_answers import ANYBODY, match_skill  # noqa: PLC0415

    measured, stamp = measure(catalog), judge or ANYBODY
    case = SkillCase(text=text, measured=measured)
    given = [match_skill(case, answers, judge=stamp.id)]
    (verdict,) = verdict_guard.review([case], given, addresses=addresses_judge, judge=stamp)
    return _flagged_skill(label_rubrics.finish_skill(measured, text, verdict, judge=stamp), text)


def to_be_judged(catalog: Catalog, *, rubric: str = "tdqs") -> list[Case]:
    """What a judge has to see: the tools that need one, and under "tdqs" the tool set and its shadow candidates."""
    measured = measure(catalog)
    if rubric != "tdqs":
        return [*tool_cases(measured, rubric=rubric)]
    shadow = shadow_case(measured, spec=DEFAULT_SPEC)
    return [*all_cases(measured), *([shadow] if shadow else [])]


async def calibrate(catalogs: Sequence[Catalog] = (), *, judge: Judge | None = None) -> CalibrationReport:
    """How far a judge lies off the prompt's own examples and the labelled tools.

    The offline judge is held against its labels as it predicted servers that it had not seen. Any judge is held against
    the labelled tools that the catalogs hold, found by inputHash.
    """
    from tdqs_mcp.scoring import examples, judge_error  # noqa: PLC0415  # half a megabyte of labels

    judge = judge or Offline()
    parts = [examples.compare(await judge.grade(examples.cases()))]
    if isinstance(judge, Offline) and not catalogs:
        parts.append(judge_error.Comparison(sections=judge_error.sections(judge.stamp.calibration or ""), faults=()))
    if catalogs:
        labels = judge_error.labels(versions()[0])
        cases = [case for catalog in catalogs for case in tool_cases(measure(catalog))]
        labelled = [case for case in cases if case.subject.signals.input_hash in labels]
        parts.append(judge_error.held_against(labelled, await judge.grade(labelled), labels))
    return CalibrationReport(
        judge=judge.stamp,
        sections=tuple(section for part in parts for section in part.sections),
        faults=tuple(fault for part in parts for fault in part.faults),
        problems=tuple(problem for part in parts for problem in part.problems),
        unjudged=tuple(failure for part in parts for failure in part.unjudged),
    )


async def _skill(measured: Measured, text: str, *, judge: Judge, addresses: Detector) -> SkillScore:
    from tdqs_mcp.scoring import label_rubrics  # noqa: PLC0415

    (verdict,) = await guarded(judge, addresses).grade([SkillCase(text=text, measured=measured)])
    score = label_rubrics.finish_skill(measured, text, verdict, judge=judge.stamp)
    return score if _is_offline(judge) else _flagged_skill(score, text)


def guarded(judge: Judge, addresses: Detector) -> Judge:
    """The judge behind the canary; nobody talks the offline judge into anything."""
    return judge if _is_offline(judge) else Guarded(judge=judge, addresses=addresses)


def _is_offline(judge: Judge) -> bool:
    """Whether no model reads the definitions, whoever else watches the judge."""
    return judge.stamp.id == "offline"


def _flagged(score: Score, measured: Measured, addresses: Detector) -> Score:
    """The score with what is to be known of it: jurors who were silent, and texts that speak to a judge."""
    silent = silences(tool.ballots for tool in score.tools)
    return replace(score, problems=score.problems + silent + verdict_guard.flagged(measured, addresses))


def _flagged_skill(score: SkillScore, text: str) -> SkillScore:
    return replace(score, problems=score.problems + verdict_guard.flagged_skill(text))


def all_cases(measured: Measured) -> list[Case]:
    """Every tool case, then the coherence case where there is one."""
    coherence = set_case(measured)
    return [*tool_cases(measured), *([coherence] if coherence else [])]


def scored(
    measured: Measured,
    graded: Sequence[Verdict | Ungraded],
    *,
    stamp: JudgeStamp,
    spec: str,
    confirmed: Verdict | Ungraded | None = None,
) -> ServerScore:
    """The score from one outcome for each of `cases`, and one on the shadow candidates where a judge was asked."""
    nothing = Ungraded(judge=stamp.id, reason="the catalog has no tool that could be measured", was_asked=False)
    verdicts, coherence = (graded[:-1], graded[-1]) if graded else ((), nothing)
    risks = confirmed.risks if isinstance(confirmed, Verdict) else ()
    whole = finish(measured, verdicts=verdicts, coherence=coherence, judge=stamp, spec=spec, risks=risks)
    if isinstance(confirmed, Ungraded) and confirmed.was_asked:
        problem = f"shadow candidates were not judged, so none is flagged: {confirmed.reason}"
        whole = replace(whole, problems=(*whole.problems, problem))
    return _with_findings(whole, measured)


def _with_findings(score: ServerScore, measured: Measured) -> ServerScore:
    return replace(score, findings=tuple(registry.check(measured)))
