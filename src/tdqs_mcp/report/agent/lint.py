"""What an agent gets of the linter: findings in pages, and the page of a rule."""

from collections import Counter
from dataclasses import dataclass

from pydantic import Field

from tdqs_mcp.report.agent.parts import (
    MAX_MESSAGE,
    FindingLine,
    Page,
    Tally,
    Window,
    finding_line,
    page_of,
    problems_of,
    tally_of,
)
from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.fence import NOTICE, fence_name
from tdqs_mcp.results.findings import Finding, LintReport, Severity


class LintAnswer(Page):
    """Findings, the worst first."""

    notice: str
    server: str
    catalog: str = Field(description="Names this catalog in later calls instead of tools or locator")
    tool_count: int
    clean_tool_count: int
    counts: Tally = Field(description="All findings of the chosen rules, whatever tool and severity were asked for")
    rules: dict[str, int] = Field(description="Findings by rule id, after filtering")
    hidden_count: int = Field(description="Low-confidence findings, which profile strict shows")
    findings: list[FindingLine]
    problems: list[str]
    next: str = Field(description="What to do next")


class Explanation(Document):
    """A page of ours: why, a bad and a good example."""

    id: str
    page: str = Field(description="Markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which findings are listed."""

    worst_from: Severity = Severity.INFO
    """The mildest severity."""

    tool: str | None = None

    def has(self, finding: Finding) -> bool:
        """Whether the finding is listed."""
        return finding.severity.rank >= self.worst_from.rank and self.tool in (None, finding.subject.name)


def lint_answer(
    report: LintReport,
    wanted: Wanted,
    *,
    catalog: str,
    window: Window,
    next_step: str,
) -> LintAnswer:
    """One page of the findings that were asked for, the worst first; counts are of all."""
    worst = sorted(filter(wanted.has, report.findings), key=lambda finding: -finding.severity.rank)
    touched = {finding.tool_index for finding in report.findings}
    page = worst[window.offset : window.offset + window.limit]
    return LintAnswer(
        notice=NOTICE,
        server=fence_name(report.server),
        catalog=catalog,
        tool_count=len(report.tools),
        clean_tool_count=sum(index not in touched for index in range(len(report.tools))),
        counts=tally_of(report.findings),
        rules=dict(sorted(Counter(finding.rule for finding in worst).items())),
        hidden_count=report.hidden,
        findings=[finding_line(finding, limit=None if window.is_full else MAX_MESSAGE) for finding in page],
        problems=problems_of(report.problems),
        next=next_step,
        **page_of(window, len(worst)),
    )
