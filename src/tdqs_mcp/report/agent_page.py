"""What an agent gets of the linter, and what every answer has: a notice, pages, who judged, findings in a few words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from tdqs_mcp.report.escape import MAX_FENCED, NOTICE
from tdqs_mcp.results.contract import Internal, Max, Name, Only, Own
from tdqs_mcp.results.findings import Finding, LintReport, Severity, Tally, tally
from tdqs_mcp.results.verdicts import JudgeStamp

MAX_MESSAGE = 160
"""Characters of a message or suggestion in a summary; the whole of it is in the details."""

MAX_PROBLEMS = 5
MAX_NAMES = 20
"""Names in a list that only says which tools are meant."""

Judge = Annotated[JudgeStamp, Only("id version model calibration")]
SeverityCounts = Annotated[Tally, Only("error warning info")]
Problems = Annotated[tuple[str, ...], Max(MAX_MESSAGE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of a long answer is wanted."""

    offset: int = 0
    limit: int = 10
    is_full: bool = False
    """With details for the entries of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """What every answer begins with."""

    notice: Own = NOTICE


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage(AgentAnswer):
    """The position of a page among all pages."""

    offset: int
    """Where this page starts."""

    total: int
    """Entries on all pages."""

    next_offset: int | None
    """offset of the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogPage(AnswerPage):
    """A page about a catalog that later calls can name."""

    server: Name
    catalog: str
    """Names this catalog in later calls instead of tools or locator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintAnswer(CatalogPage):
    """Findings, the worst first."""

    tool_count: int
    clean_tool_count: int
    counts: SeverityCounts
    """Findings of the chosen rules for all tools and severities."""

    rules: Mapping[str, int]
    """Findings by rule id, after filtering."""

    hidden_count: int
    """Low-confidence findings, which profile strict shows."""

    findings: Annotated[tuple[Finding, ...], Only("tool index rule severity dimension path message suggestion")]
    problems: Problems
    limit: Internal[int]
    """Characters of each message."""

    next: Own
    """What to do next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A page of ours: why, a bad and a good example."""

    id: str
    page: Own
    """Markdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which findings are listed."""

    worst_from: Severity = Severity.INFO
    """The mildest severity."""

    tool: str | None = None

    def has(self, finding: Finding) -> bool:
        """Whether the finding is listed."""
        return finding.severity.rank >= self.worst_from.rank and self.tool in (None, finding.subject.name)


def lint_answer(report: LintReport, wanted: Wanted, *, catalog: str, window: Window, next_step: str) -> LintAnswer:
    """One page of the findings that were asked for, the worst first; counts are of all."""
    worst = sorted(filter(wanted.has, report.findings), key=lambda finding: -finding.severity.rank)
    touched = {finding.tool_index for finding in report.findings}
    return LintAnswer(
        server=report.server,
        catalog=catalog,
        tool_count=len(report.tools),
        clean_tool_count=sum(index not in touched for index in range(len(report.tools))),
        counts=tally(report.findings),
        rules=dict(sorted(Counter(finding.rule for finding in worst).items())),
        hidden_count=report.hidden,
        findings=tuple(worst[window.offset : window.offset + window.limit]),
        problems=first_problems(report.problems),
        limit=MAX_FENCED if window.is_full else MAX_MESSAGE,
        next=Own(next_step),
        **page_of(window, len(worst)),
    )


def page_of(window: Window, total: int) -> dict[str, Any]:
    """The fields of a page."""
    end = window.offset + window.limit
    return {"offset": window.offset, "total": total, "next_offset": end if end < total else None}


def first_problems(problems: Sequence[str]) -> tuple[str, ...]:
    """The first problems, and how many more there are."""
    more = len(problems) - MAX_PROBLEMS
    return (*problems[:MAX_PROBLEMS], *((f"and {more} more",) if more > 0 else ()))
