"""The pass/fail policy: what a result means for an exit code."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, fields, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.checks import CalibrationReport, GateResult, GateRow, Selection
from tdqs_mcp.results.clients import Handling, PortabilityReport
from tdqs_mcp.results.comparisons import LockReport
from tdqs_mcp.results.findings import (
    Baseline,
    Finding,
    KnownFinding,
    LintReport,
    Outcome,
    Severity,
    Suppressed,
    Suppression,
    fingerprint,
    unmatched,
)
from tdqs_mcp.results.improvements import Rewrite
from tdqs_mcp.results.labels import Label, LabelScore, Letter, ServerGrade, SkillScore
from tdqs_mcp.results.plans import Plan
from tdqs_mcp.results.scores import UNMEASURED, ServerScore, unjudged
from tdqs_mcp.results.verdicts import EstimateCheck, Tier, Ungraded
from tdqs_mcp.scoring.rollup import coherence_of, roll_up

VERSION = 1
_FIELDS = tuple(field.name for field in fields(KnownFinding))


def read_baseline(document: object, *, origin: str) -> tuple[KnownFinding, ...]:
    """The findings in a baseline file's JSON. Raises InputError, which names the origin."""
    entries = document.get("findings") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(entries, list):
        raise InputError(f"{origin} is not a baseline; write one with --write-baseline")
    if document.get("version") != VERSION:
        raise InputError(f"{origin} is a baseline of version {document.get('version')!r}; write it anew")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping) or not all(isinstance(entry.get(name), str) for name in _FIELDS):
            fields = ", ".join(_FIELDS)
            raise InputError(f"finding {number} of {origin} needs the texts {fields}; write the baseline anew")
    return tuple(KnownFinding(**{name: entry[name] for name in _FIELDS}) for entry in entries)


def compare_to_baseline(
    reports: Sequence[LintReport], known: Sequence[KnownFinding], *, rules: AbstractSet[str]
) -> list[LintReport]:
    """The reports with their new findings only: of equal ones, as many are known as the baseline holds.

    Fixed is what none of the reports about its server has any more, if its rule ran.
    """
    left = Counter(entry.fingerprint for entry in known)
    compared = [
        replace(each, findings=tuple(unmatched(each.findings, left, partial(fingerprint, server=each.server))))
        for each in reports
    ]
    last = {report.server: index for index, report in enumerate(compared)}
    fixed: dict[int, list[KnownFinding]] = {}
    for entry in known:
        if entry.server in last and entry.rule in rules and left[entry.fingerprint]:
            left[entry.fingerprint] -= 1
            fixed.setdefault(last[entry.server], []).append(entry)
    counts = [len(report.findings) - len(new.findings) for report, new in zip(reports, compared, strict=True)]
    return [
        replace(report, baseline=Baseline(known=count, fixed=tuple(fixed.get(index, ()))))
        for index, (report, count) in enumerate(zip(compared, counts, strict=True))
    ]


def renew(
    known: Sequence[KnownFinding], reports: Sequence[LintReport], *, rules: AbstractSet[str]
) -> tuple[KnownFinding, ...]:
    """A baseline of all that the reports hold; entries about other servers and other rules stay."""
    seen = {report.server for report in reports}
    kept = [entry for entry in known if entry.server not in seen or entry.rule not in rules]
    new = [_known(finding, report.server) for report in reports for finding in report.findings]
    return tuple(sorted([*kept, *new], key=lambda entry: (entry.server, entry.part, entry.rule, entry.path)))


def baseline_document(known: Sequence[KnownFinding]) -> dict[str, Any]:
    """The JSON of a baseline file; only the fingerprint is compared, the rest is for people who read a diff."""
    return {"version": VERSION, "findings": [asdict(entry) for entry in known]}


def _known(finding: Finding, server: str) -> KnownFinding:
    return KnownFinding(
        fingerprint=fingerprint(finding, server=server),
        rule=finding.rule,
        server=server,
        part=finding.subject.label,
        path=finding.subject.path,
        message=finding.message,
    )


def suppress(report: LintReport, suppressions: Sequence[Suppression], *, rules: AbstractSet[str]) -> LintReport:
    """The report without what is suppressed; a suppression of a rule that ran here and matched nothing is unused."""
    here = [
        suppression
        for suppression in suppressions
        if suppression.rules & rules and _matches(report.server, suppression.server)
    ]
    reasons = [[each for each in here if _covers(each, finding)] for finding in report.findings]
    used = {id(each) for covering in reasons for each in covering}
    judged = list(zip(report.findings, reasons, strict=True))
    found = tuple(finding for finding, covering in judged if not covering)
    hidden = tuple(Suppressed(finding=finding, reason=each[0].reason) for finding, each in judged if each)
    unused = tuple(each for each in here if id(each) not in used)
    return replace(report, findings=found, suppressed=hidden, unused_suppressions=unused)


def merge_unused_suppressions(reports: Sequence[LintReport]) -> list[LintReport]:
    """The reports of one run: a suppression that is used for one server is not reported as unused for another."""
    used = {
        suppression
        for report in reports
        for suppression in report.unused_suppressions
        if any(
            _matches(other.server, suppression.server) and suppression not in other.unused_suppressions
            for other in reports
        )
    }
    return [
        replace(
            report,
            unused_suppressions=tuple(
                suppression for suppression in report.unused_suppressions if suppression not in used
            ),
        )
        for report in reports
    ]


def _covers(suppression: Suppression, finding: Finding) -> bool:
    if finding.rule not in suppression.rules or not _matches(finding.subject.path, suppression.path):
        return False
    is_tool = finding.subject.kind == "tool"
    return suppression.tool is None or (is_tool and fnmatchcase(finding.subject.name, suppression.tool))


def _matches(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern)


def is_clean(findings: Iterable[Finding], worst_allowed: Severity) -> Outcome:
    """Failed when a finding is at least as bad as `worst_allowed`."""
    is_bad = any(finding.severity.rank >= worst_allowed.rank for finding in findings)
    return Outcome.FAILED if is_bad else Outcome.PASSED


def is_portable(report: PortabilityReport) -> Outcome:
    """Failed when a client refuses anything."""
    is_refused = any(view.handling is Handling.REFUSED for view in report.clients)
    return Outcome.FAILED if is_refused else Outcome.PASSED


def reaches(score: ServerScore, tier: Tier) -> Outcome:
    """Whether the overall tier, or the lowest tool's where there is no server score, is at least `tier`."""
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


def is_locked(report: LockReport) -> Outcome:
    """Failed for a change that the lock does not allow, unknown for a part that could not be compared."""
    return _outcome(report.refused, report.unverified)


def arrives(plan: Plan) -> Outcome:
    """Whether rewrites reach the target; unknown where the judge left some of them without an overall score."""
    if plan.is_reached:
        return Outcome.PASSED
    return Outcome.UNKNOWN if plan.is_open else Outcome.FAILED


def calibrated(report: CalibrationReport) -> Outcome:
    """Failed when the judge is out of tolerance, unknown when what was not judged could show that it is."""
    return _outcome(report.faults, report.problems or report.unjudged)


def rewritten(rewrites: Sequence[Rewrite]) -> Outcome:
    """Unknown if the judge scored none of them, or the writer worded none; offline drafts count as worded."""
    is_graded = any(rewrite.before and rewrite.unjudged is None for rewrite in rewrites)
    is_silent = not is_graded or not any(rewrite.was_written for rewrite in rewrites)
    return Outcome.UNKNOWN if rewrites and is_silent else Outcome.PASSED


def is_good(score: LabelScore | SkillScore) -> Outcome:
    """Failed when anything is labeled Bad, unknown when something without a label could still be."""
    if isinstance(score, SkillScore):
        return _LABELED[score.label]
    labels = {_LABELED[tool.label] for tool in score.tools} | ({is_good(score.skill)} if score.skill else set())
    return _outcome(Outcome.FAILED in labels, Outcome.UNKNOWN in labels or score.ungraded or not score.tools)


def finds(selection: Selection, *, percent: int) -> Outcome:
    """Whether that share of the queries find their tool, after the change where there is one.

    Queries without an answer are counted as found, and as missed: where that decides, the verdict is open.
    """
    choices = selection.against.choices if selection.against else selection.choices
    found = sum((choice.found for choice in choices), start=Fraction(0))
    wanted = Fraction(percent * len(choices), 100)
    if not choices:
        return Outcome.UNKNOWN
    if found >= wanted:
        return Outcome.PASSED
    open_ones = sum(choice.failure is not None for choice in choices)
    return Outcome.UNKNOWN if found + open_ones >= wanted else Outcome.FAILED


def labeled(score: LabelScore | SkillScore) -> Outcome:
    """Unknown when the judge failed on something, or there are no tools."""
    if isinstance(score, SkillScore):
        is_open = score.label is None and isinstance(score.verdict, Ungraded) and score.verdict.was_asked
        return Outcome.UNKNOWN if is_open or score.discovery_status else Outcome.PASSED
    has_failed = any(tool.ungraded.judge != UNMEASURED for tool in score.ungraded)
    if has_failed or score.discovery_status:
        return Outcome.UNKNOWN
    return labeled(score.skill) if score.skill else Outcome.PASSED


_LABELED = {
    Label.GOOD: Outcome.PASSED,
    Label.ACCEPTABLE: Outcome.PASSED,
    Label.BAD: Outcome.FAILED,
    None: Outcome.UNKNOWN,
}


def decide(rows: Sequence[GateRow]) -> Outcome:
    """Unknown when a server could not be captured, failed when an entry fails, unknown when one stays open."""
    outcomes = {row.result for row in rows}
    if any(row.reason for row in rows):
        return Outcome.UNKNOWN
    return _outcome(GateResult.FAIL in outcomes, GateResult.ERROR in outcomes)


def earns(grade: ServerGrade, letter: Letter) -> Outcome:
    """Whether the score has at least this letter, F being any score; tools that could not be read can only lower it."""
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
