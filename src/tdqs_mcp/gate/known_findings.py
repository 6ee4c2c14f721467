"""Which findings and refusals fail, and which a project has decided to live with: suppressions and baselines."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, fields, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from tdqs_mcp.errors import InputError
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
from tdqs_mcp.results.portability import Handling, PortabilityReport

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
    reports: Sequence[LintReport], baseline: Sequence[KnownFinding], *, rules: AbstractSet[str]
) -> list[LintReport]:
    """The reports with their new findings only: of equal ones, as many are known as the baseline holds.

    Fixed is what none of the reports about its server has any more, if its rule ran.
    """
    left = Counter(entry.fingerprint for entry in baseline)
    compared = [
        replace(report, findings=tuple(unmatched(report.findings, left, partial(fingerprint, server=report.server))))
        for report in reports
    ]
    last = {report.server: index for index, report in enumerate(compared)}
    fixed: dict[int, list[KnownFinding]] = {}
    for entry in baseline:
        if entry.server in last and entry.rule in rules and left[entry.fingerprint]:
            left[entry.fingerprint] -= 1
            fixed.setdefault(last[entry.server], []).append(entry)
    counts = [len(report.findings) - len(new.findings) for report, new in zip(reports, compared, strict=True)]
    return [
        replace(report, baseline=Baseline(known=count, fixed=tuple(fixed.get(index, ()))))
        for index, (report, count) in enumerate(zip(compared, counts, strict=True))
    ]


def renew(
    baseline: Sequence[KnownFinding], reports: Sequence[LintReport], *, rules: AbstractSet[str]
) -> tuple[KnownFinding, ...]:
    """A baseline of all that the reports hold; entries about other servers and other rules stay."""
    servers = {report.server for report in reports}
    entries = [entry for entry in baseline if entry.server not in servers or entry.rule not in rules]
    new = [_known_finding(finding, report.server) for report in reports for finding in report.findings]
    return tuple(sorted([*entries, *new], key=lambda entry: (entry.server, entry.part, entry.rule, entry.path)))


def baseline_document(baseline: Sequence[KnownFinding]) -> dict[str, Any]:
    """The JSON of a baseline file; only the fingerprint is compared, the rest is for people who read a diff."""
    return {"version": VERSION, "findings": [asdict(entry) for entry in baseline]}


def _known_finding(finding: Finding, server: str) -> KnownFinding:
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
    reasons = [[suppression for suppression in here if _covers(suppression, finding)] for finding in report.findings]
    used = {id(suppression) for covering in reasons for suppression in covering}
    judged = list(zip(report.findings, reasons, strict=True))
    findings = tuple(finding for finding, covering in judged if not covering)
    hidden = tuple(Suppressed(finding=finding, reason=covering[0].reason) for finding, covering in judged if covering)
    unused = tuple(suppression for suppression in here if id(suppression) not in used)
    return replace(report, findings=findings, suppressed=hidden, unused_suppressions=unused)


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
