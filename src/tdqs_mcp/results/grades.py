"""What MCP Playground's methodology gives: a grade of 0-100, its letter, and what was deducted."""

from dataclasses import dataclass
from enum import StrEnum

from tdqs_mcp.results.findings import Location, Severity
from tdqs_mcp.results.scores import UngradedTool


class Letter(StrEnum):
    """MCP Playground's grade: A from 90 of 100, B from 75, C from 60, D from 40 (grading methodology)."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def floor(self) -> int:
        """The lowest score with this letter, 0-100."""
        return {"A": 90, "B": 75, "C": 60, "D": 40, "F": 0}[self]


def letter_of(score: int) -> Letter:
    """The letter of a score, 0-100."""
    return next(letter for letter in Letter if score >= letter.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduction:
    """One violation of MCP Playground's rules and what it costs."""

    rule: str
    """Our rule's id."""

    alias: str
    """The source's id."""

    severity: Severity
    """The source's, whatever our rule thinks."""

    points: int
    subject: Location
    message: str
    suggestion: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGrade:
    """A server's grade by MCP Playground's methodology."""

    server: str
    version: str | None
    source: str | None
    score: int | None
    """0-100; None where nothing that could be graded is known."""

    letter: Letter | None
    bonus: int
    """Points for descriptions of every tool; given before the score is limited to 0-100."""

    deductions: tuple[Deduction, ...]
    tool_count: int
    resource_count: int | None
    """Entries of `resources/list`; None when it was never asked, so that none was judged."""

    prompt_count: int | None
    unmeasured: tuple[UngradedTool, ...]
    """Tools that could not be read; whatever they cost is missing from the score."""

    problems: tuple[str, ...]
