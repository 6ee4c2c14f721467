"""The rows of a suite: for eyes, as Markdown and as JUnit XML."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.results.gate import Check, GateReport, GateResult, GateRow

_STYLES = {GateResult.PASS: "green", GateResult.FAIL: "red", GateResult.ERROR: "yellow"}


def gate_view(report: GateReport) -> RenderableType:
    """One line an entry, its checks below it, and how many passed."""
    parts: list[RenderableType] = []
    for row in report.rows:
        heading = Text.assemble((f"{row.result.value:<5} ", f"bold {_STYLES[row.result]}"), printable(row.name))
        parts.append(heading.append(f" ({printable(row.server)})", style="dim"))
        parts += [_below(_line(check), _style(check)) for check in row.checks]
        if row.reason:
            parts.append(_below(printable(row.reason), "yellow"))
    return Group(*parts, Text(_summary(report.rows)))


def gate_markdown(report: GateReport) -> str:
    """All checks as one table."""
    lines = [
        f"## {_summary(report.rows)}",
        "",
        "| entry | server | target | wanted | actual | result |",
        "|" + " --- |" * 6,
    ]
    for row in report.rows:
        entry, server = markdown(row.name), markdown(row.server)
        if row.reason:
            lines.append(f"| {entry} | {server} | | | {markdown(row.reason)} | ERROR |")
        for check in row.checks:
            cells = (check.target, check.wanted, _actual(check), check.result.value)
            lines.append(f"| {entry} | {server} | {' | '.join(map(markdown, cells))} |")
    return "\n".join(lines) + "\n"


def gate_junit(report: GateReport) -> str:
    """JUnit XML with one test case an entry, which CI systems show as tests."""
    results = [row.result for row in report.rows]
    root = ET.Element(
        "testsuite",
        name=printable(report.suite),
        tests=str(len(report.rows)),
        failures=str(results.count(GateResult.FAIL)),
        errors=str(results.count(GateResult.ERROR)),
    )
    for row in report.rows:
        case = ET.SubElement(root, "testcase", classname=printable(row.server), name=printable(row.name))
        if row.result is not GateResult.PASS:
            missed = [_line(check) for check in row.checks if check.result is not GateResult.PASS]
            text = "\n".join(missed or [printable(row.reason or "")])
            fault = ET.SubElement(case, "failure" if row.result is GateResult.FAIL else "error")
            fault.set("message", text.partition("\n")[0])
            fault.text = text
        ET.SubElement(case, "system-out").text = "\n".join(map(_line, row.checks))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _below(text: str, style: str) -> RenderableType:
    return Padding(Text(text, style=style), (0, 0, 0, 6))


def _line(check: Check) -> str:
    sign = {GateResult.PASS: "is", GateResult.FAIL: "is", GateResult.ERROR: "is not known:"}[check.result]
    return printable(f"{check.target} {sign} {_actual(check)}, wanted {check.wanted}")


def _actual(check: Check) -> str:
    return " ".join(
        filter(None, (check.actual, f"({check.reason})" if check.actual and check.reason else check.reason))
    )


def _style(check: Check) -> str:
    return "dim" if check.result is GateResult.PASS else _STYLES[check.result]


def _summary(rows: Sequence[GateRow]) -> str:
    results = [row.result for row in rows]
    counts = [(each, results.count(each)) for each in GateResult]
    words = {GateResult.PASS: "passed", GateResult.FAIL: "failed", GateResult.ERROR: "could not be decided"}
    return ", ".join(f"{count} {words[each]}" for each, count in counts if count)
