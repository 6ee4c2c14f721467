"""The pass/fail policy: what a result means for an exit code."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tdqs_mcp.results.checks import CalibrationReport, GateResult, GateRow, Selection
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.labels import CodeReview, Label, LabelScore, Letter, ServerGrade, SkillScore
from tdqs_mcp.results.scores import UNMEASURED, ServerScore, unjudged
from tdqs_mcp.results.verdicts import EstimateCheck, Tier, Ungraded
from tdqs_mcp.scoring.rollup import coherence_of, roll_up

if TYPE_CHECKING:  # a score goes without the results of other commands
    from tdqs_mcp.results.comparisons import LockReport
    from tdqs_mcp.results.improvements import RewriteReport


def reaches(score: ServerScore, tier: Tier) -> Outcome:
    """Return whether the overall tier, or the lowest tool's where there is no server score, is at least `tier`."""
    tools = [tool.tdqs for tool in score.tools]
    if not tools and all(tool.ungraded.estimate is None for tool in score.ungraded):
        return Outcome.UNKNOWN
    has_failed = isinstance(score.coherence, Ungraded) and score.coherence.was_asked
    if score.rollup.overall is None and not has_failed:
        if tools and min(tools) < tier.floor:
            return Outcome.FAILED
        return Outcome.UNKNOWN if score.ungraded else Outcome.PASSED
    worst, best = (_overall(score, tools, bound) for bound in (1, 5))
    if worst >= tier.floor:
        return Outcome.PASSED
    return Outcome.FAILED if best < tier.floor else Outcome.UNKNOWN


def answered(score: ServerScore) -> Outcome:
    """Unknown if the judge failed on something; a tool that cannot be called or measured is only a finding."""
    return Outcome.UNKNOWN if unjudged(score) else Outcome.PASSED


def is_locked(report: "LockReport") -> Outcome:
    """Failed for a change that the lock does not allow, unknown for a part that could not be compared."""
    return _outcome(report.refused, report.unverified)


def arrives(report: "RewriteReport") -> Outcome:
    """Return whether rewrites reach the target; unknown where the judge left the server without an overall score."""
    if report.goal is None or report.goal.is_reached:
        return Outcome.PASSED
    return Outcome.UNKNOWN if report.goal.after.overall is None else Outcome.FAILED


def calibrated(report: CalibrationReport) -> Outcome:
    """Failed when the judge is out of tolerance, unknown when what was not judged could show that it is."""
    return _outcome(report.faults, report.problems or report.unjudged)


def rewritten(report: "RewriteReport") -> Outcome:
    """Unknown if the judge scored no rewrite, or the writer worded none; offline drafts count as worded."""
    rewrites = report.rewrites
    is_graded = any(rewrite.before and rewrite.unjudged is None for rewrite in rewrites)
    is_silent = not is_graded or not any(rewrite.was_written for rewrite in rewrites)
    return Outcome.UNKNOWN if rewrites and is_silent else Outcome.PASSED


def is_good(score: LabelScore | SkillScore, bar: Label = Label.ACCEPTABLE) -> Outcome:
    """Failed when anything is labeled below the bar, unknown when something without a label could still be."""
    if isinstance(score, SkillScore):
        return _reach_label(score.label, bar)
    labels = {_reach_label(tool.label, bar) for tool in score.tools}
    labels |= {is_good(score.skill, bar)} if score.skill else set()
    return _outcome(Outcome.FAILED in labels, Outcome.UNKNOWN in labels or score.ungraded or not score.tools)


def finds(selection: Selection, *, percent: int) -> Outcome:
    """Return whether that share of the queries find their tool, after the change where there is one.

    Queries without an answer are counted as found, and as missed: where that decides, the verdict is open.
    """
    choices = selection.against.choices if selection.against else selection.choices
    hits = sum((choice.found for choice in choices), start=Fraction(0))
    minimum = Fraction(percent * len(choices), 100)
    if not choices:
        return Outcome.UNKNOWN
    if hits >= minimum:
        return Outcome.PASSED
    open_ones = sum(choice.failure is not None for choice in choices)
    return Outcome.UNKNOWN if hits + open_ones >= minimum else Outcome.FAILED


def labeled(score: LabelScore | SkillScore) -> Outcome:
    """Unknown when the judge failed on something, or there are no tools."""
    if isinstance(score, SkillScore):
        is_open = score.label is None and isinstance(score.verdict, Ungraded) and score.verdict.was_asked
        return Outcome.UNKNOWN if is_open or score.discovery_status else Outcome.PASSED
    has_failed = any(tool.ungraded.judge != UNMEASURED for tool in score.ungraded)
    if has_failed or score.discovery_status:
        return Outcome.UNKNOWN
    return labeled(score.skill) if score.skill else Outcome.PASSED


def reviewed(review: CodeReview) -> Outcome:
    """Unknown when the model gave no usable answer about a tool; its findings fail nothing, as they are not proven."""
    return Outcome.UNKNOWN if review.ungraded else Outcome.PASSED


def _reach_label(label: Label | None, bar: Label) -> Outcome:
    if label is None:
        return Outcome.UNKNOWN
    return Outcome.PASSED if label in (Label.GOOD, bar) else Outcome.FAILED


def decide(rows: Sequence[GateRow]) -> Outcome:
    """Unknown when a server could not be captured, failed when an entry fails, unknown when one stays open."""
    outcomes = {row.result for row in rows}
    if any(row.reason for row in rows):
        return Outcome.UNKNOWN
    return _outcome(GateResult.FAIL in outcomes, GateResult.ERROR in outcomes)


def earns(grade: ServerGrade, letter: Letter) -> Outcome:
    """Return whether the score has at least this letter, F being any score; unread tools can only lower it."""
    if grade.score is None:
        return Outcome.UNKNOWN
    return _outcome(grade.score < letter.floor, grade.unmeasured and letter.floor)


def _outcome(faults: object, doubts: object) -> Outcome:
    """Failed for any fault, else unknown for any doubt."""
    return Outcome.FAILED if faults else Outcome.UNKNOWN if doubts else Outcome.PASSED


def _overall(score: ServerScore, tools: Sequence[int], bound: int) -> int:
    """The overall score in tenths if everything ungraded had the dimension score `bound`."""
    if isinstance(score.coherence, Ungraded):
        coherence = _assume(score.coherence, bound)
    else:
        coherence = coherence_of(score.coherence.scores)
    assumed = [*tools, *(_assume(tool.ungraded, bound) for tool in score.ungraded)]
    return roll_up(assumed, tool_count=score.tool_count, coherence=coherence, spec=score.spec_version).overall or 0


def _assume(ungraded: Ungraded, bound: int) -> int:
    """Tenths between the estimate and the score of what is held, at a dimension score `bound` of what has none."""
    if not isinstance(ungraded.held, EstimateCheck):
        return 10 * bound
    return max(ungraded.held.estimate, min(ungraded.held.score, 10 * bound))
