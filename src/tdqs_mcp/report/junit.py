"""Findings as JUnit XML: a suite for each server, a case for each tool, one failure for all that fails it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET  # only written, never read

from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.sited import Sited, sentence
from tdqs_mcp.results.findings import Finding, LintReport, Severity


def junit_text(reports: Sequence[Sited], *, fail_on: Severity | None) -> str:
    """One document; findings milder than `fail_on` stand in a case's output, all of them where it is None."""
    suites = [_suite(sited.report, fail_on=fail_on) for sited in reports]
    root = ET.Element("testsuites", {"name": "tdqs-mcp lint", **_sums(suites)})
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(report: LintReport, *, fail_on: Severity | None) -> ET.Element:
    cases = [_case(report, name, findings, fail_on=fail_on) for name, findings in _parts(report)]
    failures = sum(case.find("failure") is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    suite = ET.Element("testsuite", {"name": printable(report.server), **counts})
    suite.extend(cases)
    return suite


def _parts(report: LintReport) -> Iterator[tuple[str, list[Finding]]]:
    """Every tool with its findings, clean or not, after the server and before other parts that have any."""
    grouped = groupby(report.findings, key=lambda finding: (finding.subject.kind, finding.subject.index))
    found = {part: list(findings) for part, findings in grouped}
    if ("server", None) in found:
        yield "server", found[("server", None)]
    for index, name in enumerate(report.tools):
        yield name or f"tool {index + 1}, without a name", found.get(("tool", index), [])
    for (kind, _), findings in found.items():
        if kind not in ("server", "tool"):
            yield findings[0].subject.label, findings


def _case(report: LintReport, name: str, findings: Sequence[Finding], *, fail_on: Severity | None) -> ET.Element:
    case = ET.Element("testcase", {"classname": printable(report.server), "name": printable(name), "time": "0"})
    limit = Severity.ERROR.rank + 1 if fail_on is None else fail_on.rank
    failing = [each for each in findings if each.severity.rank >= limit]
    rest = [each for each in findings if each.severity.rank < limit]
    if failing:
        worst = max(failing, key=lambda finding: finding.severity.rank)
        message = printable(worst.message) if len(failing) == 1 else f"{len(failing)} findings"
        failure = ET.SubElement(case, "failure", {"message": message, "type": f"{worst.rule} {worst.name}"})
        failure.text = _lines(failing)
    if rest:
        ET.SubElement(case, "system-out").text = _lines(rest)
    return case


def _lines(findings: Sequence[Finding]) -> str:
    return "\n".join(
        f"{each.severity} {each.rule} {printable(each.subject.path) or '-'}: {sentence(each)}" for each in findings
    )


def _sums(suites: Sequence[ET.Element]) -> dict[str, str]:
    return {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in ("tests", "failures", "errors")}
