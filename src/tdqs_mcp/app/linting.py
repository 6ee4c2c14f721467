"""Findings without a score: the rules that a policy asks for, and the places in a file that they are about."""

from dataclasses import replace
from pathlib import Path

from tdqs_mcp.app.configuration import Policy
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.gate.known_findings import suppress
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.lint_report import LocatedReport
from tdqs_mcp.results.findings import LintReport
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.locator import File, parse_locator
from tdqs_mcp.sources.positions import locate

DEFAULT_POLICY = Policy()


def lint(catalog: Catalog, policy: Policy = DEFAULT_POLICY) -> LintReport:
    """The findings about a catalog that a policy asks for, and how many it hides and suppresses."""
    measured = measure(catalog)
    report = find(measured, policy)
    found = (*report.findings, *(each.finding for each in report.suppressed))
    return replace(report, hidden=registry.count_hidden(measured, policy.selection, found))


def find(measured: Measured, policy: Policy) -> LintReport:
    """The same for a catalog that is measured already; what the policy hides is not counted."""
    catalog = measured.catalog
    report = LintReport(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        tools=tuple(tool.name for tool in catalog.tools),
        findings=tuple(registry.check(measured, policy.selection)),
        problems=catalog.problems,
    )
    return suppress(report, policy.suppressions, rules=policy.selection.rules)


def sited(report: LintReport, locator: str) -> LocatedReport:
    """The report with the file that its locator names, for formats that show a finding where it was made."""
    parsed = parse_locator(locator)
    if not isinstance(parsed, File) or parsed.path == "-":
        return LocatedReport(report=report)
    path = Path(parsed.path)
    try:
        positions = locate(path.read_bytes())
    except OSError:  # it was there a moment ago; the findings hold all the same
        positions = None
    return LocatedReport(report=report, file=_below_cwd(path).as_posix(), positions=positions)


def _below_cwd(path: Path) -> Path:
    """The path relative to the working directory where it is below it, else absolute."""
    if not path.is_absolute() and ".." not in path.parts:
        return path
    whole, here = path.resolve(), Path.cwd().resolve()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole
