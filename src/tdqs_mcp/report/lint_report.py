"""What all forms of findings share: the file that they are about, the verdict, the words; lists of rules, comments."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.blocks import (
    Block,
    Code,
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
)
from tdqs_mcp.results.findings import Finding, LintReport, Location, RuleList, Severity, Suppression
from tdqs_mcp.sources.json_text import DefinitionText, Position

LINT_MARKER = "<!-- tdqs-mcp lint -->"

SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedReport:
    """A server's findings and the file with its definitions."""

    report: LintReport
    catalog: Catalog
    file: str | None = None
    """The path of the file, with forward slashes; None for a live server or standard input."""

    positions: DefinitionText | None = None

    def find(self, place: Location) -> Position | None:
        """Where a place is in the file; its start for the server's own, None where there is no file."""
        if self.file is None:
            return None
        found = self.positions.find(place) if self.positions else None
        return found or Position(line=1, column=1)

    def source(self, finding: Finding) -> Any:  # noqa: ANN401  # any JSON value
        """The value in the definition at the finding's place; None where there is none."""
        catalog = self.catalog
        parts: dict[str, Sequence[Any]]
        parts = {"tool": catalog.tools, "resource": catalog.resources or (), "prompt": catalog.prompts or ()}
        if finding.subject.index is None:
            return None
        value: Any = parts[finding.subject.kind][finding.subject.index].raw
        for step in split_pointer(finding.subject.path):
            try:
                value = value[int(step) if isinstance(value, list) else step]
            except (LookupError, TypeError, ValueError):
                return None
        return value


_FAILING = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("error or warning", "errors and warnings"),
    Severity.INFO: ("finding", "findings"),
}
"""What fails from a severity on: one of them, and several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What decides whether a server passes, for the line that says so."""

    fail_on: Severity | None
    """None if no finding fails."""

    rule_count: int
    """Rules that ran."""

    def words(self, located: LocatedReport) -> Span:
        """PASS or FAIL and why; neither for a list of tools that was read only in part."""
        report, limit = located.report, self.fail_on
        if limit is None:
            return Span("PASS: with --fail-on never, no finding fails", "bold green")
        if located.catalog.incomplete:
            return Span(f"no verdict: the list of tools is incomplete: {located.catalog.incomplete}", "bold yellow")
        one, several = _FAILING[limit]
        count = sum(finding.severity.rank >= limit.rank for finding in report.findings)
        if count:
            return Span(f"FAIL: {count_words(count, one, several)} (--fail-on {limit})", "bold red")
        if report.findings:
            return Span(f"PASS: no {one} (--fail-on {limit})", "bold green")
        if not report.tools and located.catalog.tools:
            return Span("PASS: --tool names no tool of this server", "bold green")
        new = "nothing new" if report.baseline else "nothing"
        tools = count_words(len(report.tools), "tool")
        return Span(f"PASS: {count_words(self.rule_count, 'rule')} found {new} in {tools}", "bold green")


def rules_blocks(rules: RuleList) -> list[Block]:
    """The rules of each lane."""
    blocks: list[Block] = [Title(count_words(len(rules.rules), "rule"))]
    for lane, entries in groupby(rules.rules, key=lambda entry: entry.lane):
        rows = [
            (
                each.id,
                Span(each.severity, SEVERITY_STYLES[each.severity]),
                each.confidence,
                "on" if each.default else "off",
                f"{each.name}: {each.summary}{f' [{each.limit}]' if each.limit is not None else ''}",
            )
            for each in entries
        ]
        blocks += [Heading(lane), Table(columns("rule", "severity", "confidence", "default", "name", left=5), rows)]
    following = ("Next: ", Code("tdqs-mcp explain RULE"), " shows the reason and examples")
    legend = "off: runs only if selected; [number]: a limit that tdqs.toml can change"
    return [*blocks, Gap(), Line(legend, "dim"), Line(following, "dim")]


def comment_blocks(reports: Sequence[LocatedReport], *, verdict: Verdict) -> list[Block]:
    """One pull-request comment on all servers: the rules that fire, and every finding that fits below a fold."""
    return [*(block for each in reports for block in _comment(each, verdict)), Marker(LINT_MARKER)]


def sentence(finding: Finding) -> str:
    """Message and suggestion on one line."""
    return f"{finding.message}; {finding.suggestion}" if finding.suggestion else finding.message


def tally_words(report: LintReport) -> str:
    """The counts in words, the worst first: `3 findings: 2 errors, 1 warning`."""
    counts = Counter(finding.severity for finding in report.findings)
    said = [f"{n} {each}{'s' * (n != 1 and each is not Severity.INFO)}" for each in Severity if (n := counts[each])]
    new = "new finding" if report.baseline else "finding"
    return f"{count_words(len(report.findings), new)}: {', '.join(said)}" if said else f"no {new}"


def notes(report: LintReport) -> list[str]:
    """What was found and does not count, each with what to do about it."""
    lines = []
    if report.hidden:
        hidden = count_words(report.hidden, "low-confidence finding")
        lines.append(f"not counted: {hidden}, and rules for auditors, which did not run; --profile strict shows all")
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
    place = " ".join(each for each in (suppression.tool, suppression.path) if each)
    return f"the suppression of {suppression.rule}{f' for {place}' if place else ''} matches nothing: remove it"


def _comment(located: LocatedReport, verdict: Verdict) -> list[Block]:
    report = located.report
    blocks: list[Block] = [Title(f"{report.server}: {tally_words(report)}"), Line(verdict.words(located))]
    if report.findings:
        groups = by_rule(report.findings)
        table = Table(
            columns("rule", "severity", "findings", left=2),
            [(f"{each[0].rule} {each[0].name}", each[0].severity, str(len(each))) for each in groups],
        )
        worst = sorted(report.findings, key=lambda finding: -finding.severity.rank)
        rows = [(each.subject.label, each.severity, each.rule, sentence(each)) for each in worst]
        whole = Table(columns("tool", "severity", "rule", "finding", left=4), rows)
        blocks += [table, Fold("Findings, the worst first", [whole])]
    return [*blocks, *(Line(note) for note in notes(report))]


def by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings of each rule and severity, the worst and most frequent first."""
    groups: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.rule, finding.severity), []).append(finding)
    return sorted(groups.values(), key=lambda group: (-group[0].severity.rank, -len(group), group[0].rule))
