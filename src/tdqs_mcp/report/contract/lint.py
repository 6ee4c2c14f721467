"""The document of a lint."""

from typing import Any

from pydantic import Field

from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.contract.parts import Finding, Server, finding_of, server_of, tally_of
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import findings
from tdqs_mcp.results.findings import LintReport, Severity


class ToolCounts(Document):
    """One tool's findings by severity."""

    name: str
    error: int
    warning: int
    info: int
    clean: bool = Field(description="No finding at all: mcptest's Pass line")


class Counts(Document):
    """Findings by severity, of the server with all its tools and of each tool."""

    error: int
    warning: int
    info: int
    clean: bool
    tools: list[ToolCounts]


class SuppressedFinding(Document):
    """A finding that the configuration lives with."""

    finding: Finding
    reason: str


class UnusedSuppression(Document):
    """An entry of the configuration that matched nothing here."""

    rule: str
    tool: str | None
    server: str | None
    reason: str


class FixedFinding(Document):
    """A finding of the baseline that is gone."""

    rule: str
    part: str
    path: str
    message: str


class Baseline(Document):
    """How this run stands to the baseline; its known findings are not listed."""

    known: int
    fixed: list[FixedFinding]


class LintDocument(Document):
    """The findings about one server that count."""

    server: Server
    findings: list[Finding]
    counts: Counts
    hidden: int = Field(description="Low-confidence findings, which --profile strict shows")
    suppressed: list[SuppressedFinding]
    unused_suppressions: list[UnusedSuppression]
    baseline: Baseline | None = Field(description="Null where no baseline was given")
    problems: list[str]


def lint_document(report: LintReport) -> dict[str, Any]:
    """A server's findings as JSON values, checked against the published schema."""
    document = LintDocument(
        server=server_of(report),
        findings=[finding_of(finding) for finding in report.findings],
        counts=_counts(report),
        hidden=report.hidden,
        suppressed=[
            SuppressedFinding(finding=finding_of(each.finding), reason=each.reason) for each in report.suppressed
        ],
        unused_suppressions=[
            UnusedSuppression(rule=each.rule, tool=each.tool, server=each.server, reason=each.reason)
            for each in report.unused_suppressions
        ],
        baseline=None if report.baseline is None else _baseline(report.baseline),
        problems=[well_formed(problem) for problem in report.problems],
    )
    return document.model_dump(mode="json", by_alias=True)


def _baseline(baseline: findings.Baseline) -> Baseline:
    fixed = [
        FixedFinding(
            rule=each.rule, part=well_formed(each.part), path=well_formed(each.path), message=well_formed(each.message)
        )
        for each in baseline.fixed
    ]
    return Baseline(known=baseline.known, fixed=fixed)


def _counts(report: LintReport) -> Counts:
    by_tool: dict[int | None, list[Severity]] = {}
    for finding in report.findings:
        by_tool.setdefault(finding.tool_index, []).append(finding.severity)
    return Counts(
        **tally_of([finding.severity for finding in report.findings]),
        tools=[
            ToolCounts(name=well_formed(name), **tally_of(by_tool.get(index, [])))
            for index, name in enumerate(report.tools)
        ],
    )
