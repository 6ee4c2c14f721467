"""Findings for programs (annotations of GitHub Actions, JUnit XML, SARIF 2.1.0), and the rows of a suite.

Each format has one function through which every text goes: `_command`, `_element` and `_plain`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET  # only written, never read

from tdqs_mcp.report.blocks import Block, Line, OnlyIn, Span, Table, Title, columns
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.json_values import clean
from tdqs_mcp.report.lint_report import LocatedReport, sentence, tally_words
from tdqs_mcp.results.checks import GateReport, GateResult, GateRow
from tdqs_mcp.results.contract import Absent
from tdqs_mcp.results.findings import Confidence, Finding, LintReport, Location, Severity, fingerprint, harm_of
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule import AnyRule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISIONS = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
_LINK = re.compile(r"\](?=\()")
_PLACEHOLDER = re.compile(r"\{(?=\d+\})")


def github_text(reports: Sequence[LocatedReport]) -> str:
    """Return one line for each tool, the worst first, then one for each server.

    GitHub shows the first ten annotations of a step and severity, so that a line for each finding would hide tools.
    """
    groups: dict[tuple[int, str, int | None, str], list[Finding]] = {}
    for place, located in enumerate(reports):
        for finding in located.report.findings:
            file = "" if isinstance(finding.code, Absent) else finding.code.file
            groups.setdefault((place, finding.subject.kind, finding.subject.index, file), []).append(finding)
    worst_first = [
        (reports[key[0]], sorted(findings, key=lambda finding: (-finding.severity.rank, harm_of(finding))))
        for key, findings in groups.items()
    ]
    worst_first.sort(key=lambda entry: (-entry[1][0].severity.rank, harm_of(entry[1][0])))
    counts = (f"tdqs-mcp: {printable(report.report.server)}: {tally_words(report.report)}" for report in reports)
    return "\n".join([*(_annotation(located, findings) for located, findings in worst_first), *counts])


def _annotation(located: LocatedReport, findings: Sequence[Finding]) -> str:
    worst = findings[0]
    place = located.name(worst.subject)
    more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    values = {"title": f"{worst.rule} {worst.name}{more}"}
    if not isinstance(worst.code, Absent):
        values = {"file": worst.code.file, "line": str(worst.code.line), **values}
    else:
        values = {"file": place.file, "line": str(place.line), "col": str(place.column), **values}
    where = f"{located.report.server}, {worst.subject.label}"
    rest = "".join(f"\n{finding.rule}: {sentence(finding)}" for finding in findings[1:])
    return _command(_COMMANDS[worst.severity], values, f"{where}: {sentence(worst)}", rest)


def _command(name: str, properties: dict[str, str], message: str, rest: str = "") -> str:
    """A workflow command; nothing in it can end it or begin another one."""
    data = {key: _percent_encoded(value) for key, value in properties.items()}
    parameters = ",".join(f"{key}={value.replace(':', '%3A').replace(',', '%2C')}" for key, value in data.items())
    lines = "\n".join(map(printable, f"{message}{rest}".split("\n")))
    return f"::{name} {parameters}::{_percent_encoded(lines)}"


def _percent_encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def junit_text(reports: Sequence[LocatedReport]) -> str:
    """A suite for each server, a case for each tool, one failure for all findings that fail it.

    Findings milder than `fail_on` go to a case's output; all of them if it is None.
    """
    suites = list(map(_suite, reports))
    sums = {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in ("tests", "failures", "errors")}
    root = _element("testsuites", {"name": "tdqs-mcp lint", **sums})
    root.extend(suites)
    return _xml_text(root)


def gate_junit(report: GateReport) -> str:
    """Return one test case for each entry of a suite."""
    counts = {
        "tests": len(report.rows),
        "failures": report.counts[GateResult.FAIL],
        "errors": report.counts[GateResult.ERROR],
    }
    totals = {key: str(count) for key, count in counts.items()}
    root = _element("testsuite", {"name": report.suite, **totals})
    root.extend(map(_gate_case, report.rows))
    return _xml_text(root)


def _gate_case(row: GateRow) -> ET.Element:
    case = _element("testcase", {"classname": row.server, "name": row.name})
    if row.result is not GateResult.PASS:
        lines = [check.sentence for check in row.missed] or [row.reason or ""]
        name = "failure" if row.result is GateResult.FAIL else "error"
        case.append(_element(name, {"message": lines[0]}, lines))
    case.append(_element("system-out", {}, [check.sentence for check in row.checks]))
    return case


def _suite(located: LocatedReport) -> ET.Element:
    report = located.report
    cases = [_case(located, name, findings) for name, findings in _cases(report)]
    failures = sum(case.find("failure") is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    suite = _element("testsuite", {"name": report.server, **counts})
    suite.extend(cases)
    return suite


def _cases(report: LintReport) -> Iterator[tuple[str, list[Finding]]]:
    """Every tool with its findings, clean or not, after the server and before other parts that have any."""
    by_part = {(place.kind, place.index): findings for place, findings in report.by_part}
    if ("server", None) in by_part:
        yield "server", by_part[("server", None)]
    for index, name in report.tools.items():
        yield name or f"tool {index + 1}, without a name", by_part.get(("tool", index), [])
    for (kind, _), findings in by_part.items():
        if kind not in ("server", "tool"):
            yield findings[0].subject.label, findings


def _case(located: LocatedReport, name: str, findings: Sequence[Finding]) -> ET.Element:
    place = located.find(findings[0].subject) if findings else None
    values = {"file": place.file, "line": str(place.line)} if place else {}
    case = _element("testcase", {"classname": located.report.server, "name": name, **values, "time": "0"})
    line = partial(_finding_line, located)
    limit = Severity.ERROR.rank + 1 if located.fail_on is None else located.fail_on.rank
    failing = [finding for finding in findings if finding.severity.rank >= limit]
    rest = [finding for finding in findings if finding.severity.rank < limit]
    if failing:
        worst = max(failing, key=lambda finding: finding.severity.rank)
        message = worst.message if len(failing) == 1 else f"{len(failing)} findings"
        attributes = {"message": message, "type": f"{worst.rule} {worst.name}"}
        case.append(_element("failure", attributes, map(line, failing)))
    if rest:
        case.append(_element("system-out", {}, map(line, rest)))
    return case


def _finding_line(located: LocatedReport, finding: Finding) -> str:
    place = located.find(finding.subject)
    start = f"{place}: " if place else ""
    return f"{start}{finding.severity} {finding.rule} {finding.subject.path or '-'}: {sentence(finding)}"


def _element(name: str, attributes: dict[str, str], lines: Iterator[str] | Sequence[str] = ()) -> ET.Element:
    """An element with attributes and lines of text that hold no control character."""
    element = ET.Element(name, {key: printable(value) for key, value in attributes.items()})
    element.text = "\n".join(map(printable, lines)) or None
    return element


def _xml_text(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def sarif_document(
    reports: Sequence[LocatedReport], *, table: Sequence[AnyRule] = registry.RULES, has_passes: bool = True
) -> dict[str, Any]:
    """Return one run over all servers, with all rules, so that a rule's index never changes.

    `has_passes` adds a result of the kind pass for each clean tool; GitHub would show it as an alert.
    """
    indices = {rule.id: index for index, rule in enumerate(table)}
    counts: Counter[str] = Counter()
    results = [
        _result(located, finding, index=indices[finding.rule], counts=counts)
        for located in reports
        for finding in located.report.findings
    ]
    if has_passes:
        results += [
            _pass(located, index, name) for located in reports for index, name in located.report.clean_tools.items()
        ]
    rules = [*map(_rule_entry, table), _PASS]
    driver = {"name": "tdqs-mcp", "version": version("tdqs-mcp"), "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": clean(results, _plain)}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


_PASS = {
    "id": "clean-tool",
    "name": "CleanTool",
    "shortDescription": {"text": "No rule that ran found anything about the tool."},
}
"""mcptest's Pass finding, so that a report names every tool."""


def _pass(located: LocatedReport, index: int, name: str) -> dict[str, Any]:
    place = Location(kind="tool", name=name, index=index, path="")
    return {
        "ruleId": _PASS["id"],
        "kind": "pass",
        "level": "none",
        "message": {"text": f"{place.label}: no finding"},
        "locations": [_location(located, place)],
        "properties": {"server": located.report.server},
    }


def _rule_entry(rule: AnyRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "helpUri": rule.url,
        "help": {"text": f"{rule.summary} tdqs-mcp rules {rule.id} says more.", "markdown": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "precision": _PRECISIONS[rule.confidence],
            "tags": [tag for tag in (rule.dimension, *rule.aliases) if tag],
            "source": rule.source,
        },
    }


def _result(located: LocatedReport, finding: Finding, *, index: int, counts: Counter[str]) -> dict[str, Any]:
    """Equal findings, of tools with one name, are numbered so that each keeps a fingerprint of its own."""
    digest = fingerprint(finding, server=located.report.server)
    counts[digest] += 1
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": sentence(finding)},
        **_locations(located, finding),
        "partialFingerprints": {"tdqsFinding/v1": f"{digest}:{counts[digest]}"},
        "properties": {"server": located.report.server, "pointer": finding.subject.path},
    }


def _locations(located: LocatedReport, finding: Finding) -> dict[str, Any]:
    """Return where a finding is: in the code that proves it, with the definition beside it, else in the definition."""
    definition = _location(located, finding.subject)
    if isinstance(finding.code, Absent):
        return {"locations": [definition]}
    place = _physical(finding.code.file, {"startLine": finding.code.line})
    return {"locations": [definition | {"physicalLocation": place}], "relatedLocations": [definition]}


def _physical(file: str, region: dict[str, int]) -> dict[str, Any]:
    path = PurePath(file)  # relative where it is, so that a viewer finds the file in its own checkout
    uri = path.as_uri() if path.is_absolute() else quote(file, errors="replace")
    return {"artifactLocation": {"uri": uri}, "region": region}


def _location(located: LocatedReport, place: Location) -> dict[str, Any]:
    name = f"{located.report.server}/{place.label}{place.path}"
    location: dict[str, Any] = {
        "logicalLocations": [{"name": place.label, "fullyQualifiedName": name, "kind": "object"}]
    }
    position = located.name(place)
    region = {"startLine": position.line, "startColumn": position.column}
    return location | {"physicalLocation": _physical(position.file, region)}


def _plain(text: str) -> str:
    """Text without control characters, in which nothing is a link or a placeholder (SARIF 3.11.5 and 3.11.6)."""
    return _PLACEHOLDER.sub("{ ", _LINK.sub("] ", printable(text)))


_GATE_STYLES = {GateResult.PASS: "green", GateResult.FAIL: "red", GateResult.ERROR: "yellow"}


def gate_blocks(report: GateReport) -> list[Block]:
    """Return one line an entry, its checks below it, and how many passed; for a pull request one table."""
    words = {GateResult.PASS: "passed", GateResult.FAIL: "failed", GateResult.ERROR: "could not be decided"}
    summary = ", ".join(f"{count} {words[result]}" for result in GateResult if (count := report.counts[result]))
    rows = []
    for row in report.rows:
        rows += [(row.name, row.server, "", "", row.reason, "ERROR")] if row.reason else []
        cells = [(check.target, check.wanted, check.outcome, check.result.value) for check in row.checks]
        rows += [(row.name, row.server, *cell) for cell in cells]
    table = Table(columns("entry", "server", "target", "wanted", "actual", "result", left=6), rows)
    return [OnlyIn("text", [*_gate_lines(report), Line(summary)]), OnlyIn("markdown", [Title(summary), table])]


def _gate_lines(report: GateReport) -> Iterator[Block]:
    for row in report.rows:
        result = Span(f"{row.result.value:<5} ", f"bold {_GATE_STYLES[row.result]}")
        yield Line((result, row.name, Span(f" ({row.server})", "dim")))
        for check in row.missed or row.checks:
            style = "dim" if check.result is GateResult.PASS else _GATE_STYLES[check.result]
            yield Line(check.sentence, style, indent=6)
        if row.reason:
            yield Line(row.reason, "yellow", indent=6)
