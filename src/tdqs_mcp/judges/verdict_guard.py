"""Holds what a model scores far above the offline judge's estimate of the same definition, whatever made it do so."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tdqs_mcp.canonical import round_half_up, short_hash
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.threats import is_tampered
from tdqs_mcp.judges.judge import Judge, JudgeWrapper
from tdqs_mcp.judges.offline import Offline, calibration, versions
from tdqs_mcp.results.checks import CalibrationTable
from tdqs_mcp.results.verdicts import Acceptance, EstimateCheck, JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ToolCase
from tdqs_mcp.rubrics.rubric import load

MAX_NAMED = 3
"""Tools that one sentence names."""

BRIEF = 20
"""Words below which a description leaves an estimate little to be wrong about (docs/judges.md, Held scores)."""

LOW = 32
"""Tenths below which the estimate of a brief description has a tighter bound; a good one may well be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGuard(JudgeWrapper):
    """Hands cases on, and holds each verdict above the bound until somebody accepts it.

    A verdict that another guard has checked passes: guards may stand around each other.
    """

    accepted: tuple[Acceptance, ...] = ()

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts; Ungraded where one is held. Raises AnswersNeeded."""
        verdicts = await self.judge.grade(cases)
        return check_verdicts(cases, verdicts, judge=self.stamp, accepted=self.accepted)


def check_verdicts(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict | Ungraded],
    *,
    judge: JudgeStamp,
    accepted: Sequence[Acceptance] = (),
) -> list[Verdict | Ungraded]:
    """The verdicts of a model with the estimates beside them; Ungraded in place of those that are held."""

    def check(case: Case, verdict: Verdict | Ungraded) -> Verdict | Ungraded:
        if isinstance(verdict, Ungraded) or verdict.check or (estimate := _estimate(case)) is None:
            return verdict
        score, bound = score_in_tenths(case.rubric, verdict), _bound(case, estimate)
        numbers = EstimateCheck(score=score, estimate=estimate, bound=bound)
        if not numbers.is_too_high or any(
            acceptance.covers(_part(case), _hash(case), judge) for acceptance in accepted
        ):
            return replace(verdict, check=numbers)
        return Ungraded(judge=judge.id, reason=_held(case, numbers, judge), held=numbers)

    return [check(case, verdict) for case, verdict in zip(cases, verdicts, strict=True)]


def unwrap_guard(judge: Judge) -> Judge:
    """The judge inside a guard."""
    return judge.judge if isinstance(judge, VerdictGuard) else judge


def score_in_tenths(rubric: str, verdict: Verdict) -> int:
    """The weighted mean of a verdict's scores; of a rubric without weights, the plain mean."""
    weights = {dimension.key: dimension.weight for dimension in load(rubric).dimensions}
    even = not any(weights.values())
    total = sum(judgement.score * (1 if even else weights[key]) for key, judgement in verdict.judgements.items())
    return round_half_up(total, len(weights) if even else sum(weights.values()))


def guard_problems(cases: Sequence[Case], outcomes: Sequence[Verdict | Ungraded]) -> tuple[str, ...]:
    """Return what to know of verdicts that were not held: accepted ones, far lower ones, those without an estimate."""
    checked = [
        (_name(case), outcome.check)
        for case, outcome in zip(cases, outcomes, strict=True)
        if isinstance(outcome, Verdict) and outcome.check
    ]
    accepted = [f"{name!r} ({_numbers(check)})" for name, check in checked if check.is_too_high]
    low = [f"{name!r} ({_numbers(check)})" for name, check in checked if check.is_too_low]
    unchecked = dict.fromkeys(
        case.rubric
        for case, outcome in zip(cases, outcomes, strict=True)
        if isinstance(outcome, Verdict) and outcome.judgements and outcome.check is None
    )
    rubrics = f"the {' and '.join(unchecked)} rubric{'s' if len(unchecked) > 1 else ''}"
    sentences = [f"scores under {rubrics} are unguarded: there is no offline estimate"] if unchecked else []
    if accepted:
        sentences.append(f"accepted although far above the offline estimate: {first_of(accepted, MAX_NAMED)}")
    if low:
        sentences.append(f"scored far below the offline estimate: {first_of(low, MAX_NAMED)}")
    return tuple(sentences)


def guard_section() -> CalibrationTable:
    """The bounds, as `calibrate` prints them."""
    return CalibrationTable(
        title="Guard",
        remark="a score further above the offline estimate is held",
        columns=("", "bound"),
        rows=tuple((name, bound / 10) for name, bound in calibration(versions()[0]).guard.items()),
    )


def _estimate(case: Case) -> int | None:
    """The offline judge's score in tenths; None for a rubric that it does not know."""
    (verdict,) = Offline().verdicts([case])
    return score_in_tenths(case.rubric, verdict) if isinstance(verdict, Verdict) else None


def _bound(case: Case, estimate: int) -> int:
    """Tenths that a verdict may lie above the estimate: fewer where a definition is brief, hides or forges something.

    A brief description that seems weak is: with one bound for all, twice as many weak ones could be raised by a point.
    """
    bounds = calibration(versions()[0]).guard
    kinds = [case.rubric]
    if isinstance(case, ToolCase):
        is_brief = case.rubric == "tdqs" and estimate < LOW and case.subject.prose.word_count < BRIEF
        kinds += ["brief"] * is_brief + ["tampered"] * is_tampered(case.subject.threats)
    return min(bounds[kind] for kind in kinds)


def _part(case: Case) -> str:
    """Return what `--accept` calls a case."""
    return f"tool:{case.subject.tool.name}" if isinstance(case, ToolCase) else case.rubric


def _name(case: Case) -> str:
    return case.subject.tool.name if isinstance(case, ToolCase) else case.rubric


def _hash(case: Case) -> str:
    """The definition's inputHash; of a tool set, a digest of all of them."""
    if isinstance(case, ToolCase):
        return case.subject.signals.input_hash
    subjects = case.measured.subjects if isinstance(case, SetCase) else ()
    return short_hash("\0".join(subject.signals.input_hash for subject in subjects))


def _held(case: Case, check: EstimateCheck, stamp: JudgeStamp) -> str:
    part = _part(case)
    return (
        f"held as suspicious: {_numbers(check)}, more than {check.bound / 10} apart, so the estimate counts; read the "
        f"definition, then use another judge, or accept the score with --accept {part!r} or in your own configuration "
        f"with [[accept]] part = {part!r}, inputHash = {_hash(case)!r}, judge = {stamp.label!r} and a reason"
    )


def _numbers(check: EstimateCheck) -> str:
    return f"the model gave {check.score / 10}, the offline estimate is {check.estimate / 10}"
