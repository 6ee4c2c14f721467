"""Findings that a project has decided to live with."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from fnmatch import fnmatchcase

from tdqs_mcp.results.findings import Finding, LintReport, Suppressed, Suppression


def suppress(report: LintReport, suppressions: Sequence[Suppression], *, rules: AbstractSet[str]) -> LintReport:
    """The report without what is suppressed; a suppression of a rule that ran here and matched nothing is unused."""
    here = [each for each in suppressions if each.rule in rules and _matches(report.server, each.server)]
    reasons = [[each for each in here if _covers(each, finding)] for finding in report.findings]
    used = {id(each) for covering in reasons for each in covering}
    judged = list(zip(report.findings, reasons, strict=True))
    return replace(
        report,
        findings=tuple(finding for finding, covering in judged if not covering),
        suppressed=tuple(
            Suppressed(finding=finding, reason=covering[0].reason) for finding, covering in judged if covering
        ),
        unused_suppressions=tuple(each for each in here if id(each) not in used),
    )


def settle(reports: Sequence[LintReport]) -> list[LintReport]:
    """The reports of one run: a suppression that is used for one server is unused for none."""
    used = {each for report in reports for each in _used(report, reports)}
    return [
        replace(report, unused_suppressions=tuple(each for each in report.unused_suppressions if each not in used))
        for report in reports
    ]


def _used(report: LintReport, reports: Sequence[LintReport]) -> set[Suppression]:
    """What is unused in a report and not in another one that it speaks of as well."""
    return {
        each
        for each in report.unused_suppressions
        if any(_matches(other.server, each.server) and each not in other.unused_suppressions for other in reports)
    }


def _covers(suppression: Suppression, finding: Finding) -> bool:
    if suppression.rule != finding.rule:
        return False
    is_tool = finding.subject.kind == "tool"
    return suppression.tool is None or (is_tool and fnmatchcase(finding.subject.name, suppression.tool))


def _matches(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern)
