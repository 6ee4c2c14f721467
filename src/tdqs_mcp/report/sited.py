"""A report with the file that it is about, for formats that show a finding where it was made."""

from dataclasses import dataclass

from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.findings import Finding, LintReport, Severity, Suppression
from tdqs_mcp.sources.positions import Position, Positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Sited:
    """A server's findings and where its definitions stand."""

    report: LintReport
    file: str | None = None
    """The path of the file, with forward slashes; None for a live server or standard input."""

    positions: Positions | None = None

    def find(self, finding: Finding) -> Position | None:
        """Where the finding is in the file; its start for the server's own, None where there is no file."""
        if self.file is None:
            return None
        found = self.positions.find(finding.subject) if self.positions else None
        return found or Position(line=1, column=1)


def sentence(finding: Finding) -> str:
    """Message and suggestion on one line, without anything that cannot be seen."""
    said = printable(finding.message)
    return f"{said}; {printable(finding.suggestion)}" if finding.suggestion else said


def tally(report: LintReport) -> str:
    """The counts in words, the worst first: `2 errors, 1 warning`; Pass where there is nothing."""
    counts = [(severity, sum(each.severity is severity for each in report.findings)) for severity in Severity]
    said = [
        f"{count} {severity}{'s' if count > 1 and severity is not Severity.INFO else ''}"
        for severity, count in counts
        if count
    ]
    return ", ".join(said) or f"Pass: no {'new ' if report.baseline else ''}finding"


def uncounted(report: LintReport) -> list[str]:
    """What was found and does not count, each with what to do about it."""
    lines = []
    if report.hidden:
        lines.append(f"{report.hidden} low-confidence finding{'s' * (report.hidden > 1)} hidden: --profile strict")
    if report.suppressed:
        lines.append(f"{_findings(len(report.suppressed))} suppressed by the configuration")
    lines += [unused_line(unused) for unused in report.unused_suppressions]
    if report.baseline and report.baseline.known:
        lines.append(f"{_findings(report.baseline.known)} known from the baseline")
    if report.baseline and report.baseline.fixed:
        lines.append(f"{_findings(len(report.baseline.fixed))} of the baseline fixed: --write-baseline prunes the file")
    return lines


def unused_line(suppression: Suppression) -> str:
    """What to do about an entry of the configuration that matches nothing."""
    where = f" for {printable(suppression.tool)}" if suppression.tool else ""
    return f"the suppression of {suppression.rule}{where} matches nothing: remove it"


def _findings(count: int) -> str:
    return "1 finding" if count == 1 else f"{count} findings"
