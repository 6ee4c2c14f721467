"""Findings for people, and the file that they are about, for formats that show a finding where it was made."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tdqs_mcp.report.blocks import (
    Block,
    Code,
    Column,
    Fold,
    Gap,
    Heading,
    Line,
    Marker,
    Span,
    Table,
    Title,
    columns,
    count_words,
    named,
)
from tdqs_mcp.results.findings import Finding, LintReport, Severity, Suppression
from tdqs_mcp.sources.positions import Position, Positions

LINT_MARKER = "<!-- tdqs-mcp lint -->"

MAX_FINDINGS = 30
"""Findings printed one by one."""

SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedReport:
    """A server's findings and the file with its definitions."""

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


def lint_blocks(report: LintReport) -> list[Block]:
    """The findings of a server by tool; of very many the worst, and how often each rule fires."""
    worst = sorted(report.findings, key=lambda finding: -finding.severity.rank)[:MAX_FINDINGS]
    head = f"{named(report.server, report.version)} · {count_words(len(report.tools), 'tool')}"
    blocks: list[Block] = [Title(head)]
    for name, findings in _by_subject(worst):
        blocks += [Heading(name), _findings(findings)]
    if len(report.findings) > MAX_FINDINGS:
        blocks += [Heading("all findings by rule (--format json lists each)"), _by_rule(report.findings)]
    blocks += [
        Gap(),
        Line(_counts(report.findings, shows_zero=True) if report.findings else tally_words(report)),
        *(Line(line, "dim") for line in notes(report)),
    ]
    if worst:
        blocks.append(Line(("Next: ", Code(f"tdqs-mcp explain {worst[0].rule}")), "dim"))
    return blocks


def comment_blocks(reports: Sequence[LintReport]) -> list[Block]:
    """One pull-request comment on all servers: the rules that fire, and every finding that fits below a fold."""
    return [*(block for report in reports for block in _comment(report)), Marker(LINT_MARKER)]


def sentence(finding: Finding) -> str:
    """Message and suggestion on one line."""
    return f"{finding.message}; {finding.suggestion}" if finding.suggestion else finding.message


def tally_words(report: LintReport) -> str:
    """The counts in words, the worst first: `2 errors, 1 warning`; Pass where there is nothing."""
    return _counts(report.findings, shows_zero=False) or f"Pass: no {'new ' if report.baseline else ''}finding"


def notes(report: LintReport) -> list[str]:
    """What was found and does not count, each with what to do about it."""
    lines = []
    if report.hidden:
        lines.append(f"{count_words(report.hidden, 'low-confidence finding')} hidden: --profile strict")
    if report.suppressed:
        lines.append(f"{count_words(len(report.suppressed), 'finding')} suppressed by the configuration")
    lines += [unused_line(unused) for unused in report.unused_suppressions]
    if report.baseline and report.baseline.known:
        lines.append(f"{count_words(report.baseline.known, 'finding')} known from the baseline")
    if report.baseline and report.baseline.fixed:
        fixed = count_words(len(report.baseline.fixed), "finding")
        lines.append(f"{fixed} of the baseline fixed: --write-baseline prunes the file")
    return lines


def unused_line(suppression: Suppression) -> str:
    """What to do about an entry of the configuration that matches nothing."""
    where = f" for {suppression.tool}" if suppression.tool else ""
    return f"the suppression of {suppression.rule}{where} matches nothing: remove it"


def _comment(report: LintReport) -> list[Block]:
    blocks: list[Block] = [Title(f"{report.server}: {tally_words(report)}")]
    if report.findings:
        worst = sorted(report.findings, key=lambda finding: -finding.severity.rank)
        rows = [(each.subject.label, each.severity, each.rule, sentence(each)) for each in worst]
        whole = Table(columns("tool", "severity", "rule", "finding", left=4), rows)
        blocks += [_rules(worst), Fold("Findings, the worst first", [whole])]
    return [*blocks, *(Line(note) for note in notes(report))]


def _rules(worst: Sequence[Finding]) -> Table:
    """The worst severity of each rule and how many findings it has, the worst and most frequent first."""
    counts = Counter(finding.rule for finding in worst)
    first = {finding.rule: finding for finding in reversed(worst)}
    ordered = sorted(first.values(), key=lambda each: (-each.severity.rank, -counts[each.rule], each.rule))
    rows = [(f"{each.rule} {each.name}", each.severity, str(counts[each.rule])) for each in ordered]
    return Table(columns("rule", "severity", "findings", left=2), rows)


def _by_subject(findings: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    groups: dict[tuple[str, int | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.subject.kind, finding.subject.index), []).append(finding)
    return [(group[0].subject.label, group) for group in groups.values()]


def _findings(findings: Sequence[Finding]) -> Table:
    heads = (Column(head="severity", is_whole=True), Column(head="rule", is_whole=True), Column(head="finding"))
    rows = [
        (Span(f"  {each.severity}", SEVERITY_STYLES[each.severity]), Span(each.rule, "dim"), each.message)
        for each in findings
    ]
    return Table(heads, rows, has_head=False)


def _by_rule(findings: Sequence[Finding]) -> Table:
    counts = Counter((finding.rule, finding.name) for finding in findings).most_common()
    rows = [(f"  {count}", Span(rule, "dim"), name) for (rule, name), count in counts]
    return Table(columns("findings", "rule", "name", left=3), rows, has_head=False)


def _counts(findings: Sequence[Finding], *, shows_zero: bool) -> str:
    counts = [(severity, sum(finding.severity is severity for finding in findings)) for severity in Severity]
    return ", ".join(
        f"{count} {severity}{'s' if count != 1 and severity is not Severity.INFO else ''}"
        for severity, count in counts
        if count or shows_zero
    )
