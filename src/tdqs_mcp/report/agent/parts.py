"""What several answers hold: findings in a few words, who judged, pages."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.fence import fence, fence_name
from tdqs_mcp.results.findings import Finding, Severity
from tdqs_mcp.results.verdicts import JudgeStamp

MAX_MESSAGE = 160
"""Characters of a message or suggestion in a summary; the whole of it is in the details."""

MAX_PROBLEMS = 5
MAX_NAMES = 20
"""Names in a list that only says which tools are meant."""


class Tally(Document):
    """Findings by severity."""

    error: int
    warning: int
    info: int


class Judge(Document):
    """Who judged; only numbers with equal stamps compare."""

    id: str
    version: str
    model: str | None
    calibration: str | None


class FindingLine(Document):
    """One defect at one place."""

    tool: str | None = Field(default=None, description="Tool name; absent for the server itself")
    index: int | None = Field(default=None, description="The tool's position in the catalog")
    rule: str = Field(description="Rule id; explain_rule says why it matters")
    severity: Severity
    dimension: str | None
    path: str = Field(description="JSON pointer inside the definition")
    message: str
    suggestion: str | None


class Page(Document):
    """Where one page stands among all."""

    offset: int = Field(description="Where this page starts")
    total: int = Field(description="Entries on all pages")
    next_offset: int | None = Field(description="offset of the next page; null on the last one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of a long answer is wanted."""

    offset: int = 0
    limit: int = 10
    is_full: bool = False
    """With details for the entries of the page."""


def page_of(window: Window, total: int) -> dict[str, Any]:
    """The fields of a page."""
    end = window.offset + window.limit
    return {"offset": window.offset, "total": total, "next_offset": end if end < total else None}


def tally_of(findings: Iterable[Finding]) -> Tally:
    """Findings by severity."""
    counts = Counter(finding.severity for finding in findings)
    return Tally(**{severity.value: counts[severity] for severity in Severity})


def finding_line(finding: Finding, *, limit: int | None = None, with_tool: bool = True) -> FindingLine:
    """One finding; `limit` is in characters of message and suggestion each."""
    where: dict[str, Any] = {}
    if with_tool and finding.tool_index is not None:
        where = {"tool": fence_name(finding.subject.name), "index": finding.tool_index}
    return FindingLine(
        rule=finding.rule,
        severity=finding.severity,
        dimension=finding.dimension,
        path=fence(finding.subject.path),
        message=_message(finding.message, limit),
        suggestion=None if finding.suggestion is None else _message(finding.suggestion, limit),
        **where,
    )


def _message(text: str, limit: int | None) -> str:
    return fence(text) if limit is None else fence(text, limit=limit)


def problems_of(problems: Sequence[str]) -> list[str]:
    """The first problems, and how many more there are."""
    shown = [fence(problem, limit=MAX_MESSAGE) for problem in problems[:MAX_PROBLEMS]]
    return [*shown, f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else shown


def judge_of(stamp: JudgeStamp) -> Judge:
    """Who judged."""
    model = None if stamp.model is None else fence(stamp.model, limit=100)
    return Judge(id=stamp.id, version=stamp.version, model=model, calibration=stamp.calibration)
