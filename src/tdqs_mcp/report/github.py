"""Findings as workflow commands of GitHub Actions: an annotation for each, the worst first."""

from collections.abc import Sequence

from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.sited import Sited, sentence, tally
from tdqs_mcp.results.findings import Finding, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_text(reports: Sequence[Sited]) -> str:
    """One line for each finding, then one for each server; GitHub shows the first ten of a step and severity."""
    found = [(sited, finding) for sited in reports for finding in sited.report.findings]
    worst = sorted(found, key=lambda each: -each[1].severity.rank)
    lines = [_annotation(sited, finding) for sited, finding in worst]
    return "\n".join(
        [*lines, *(f"tdqs-mcp: {printable(each.report.server)}: {tally(each.report)}" for each in reports)]
    )


def _annotation(sited: Sited, finding: Finding) -> str:
    position = sited.find(finding)
    values = {"title": f"{finding.rule} {finding.name}"}
    if sited.file is not None and position is not None:
        values = {"file": sited.file, "line": str(position.line), "col": str(position.column), **values}
    properties = ",".join(f"{key}={_property(value)}" for key, value in values.items())
    where = f"{printable(sited.report.server)}, {printable(finding.subject.label)}"
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(f'{where}: {sentence(finding)}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
