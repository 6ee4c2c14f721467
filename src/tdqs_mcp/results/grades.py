"""What MCP Playground's methodology gives: a grade of 0-100, its letter, and what was deducted."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from tdqs_mcp.results.contract import Document, Internal, Key, Only, Percentage, Pointer, Unit, published
from tdqs_mcp.results.findings import Location, OfServer, Severity
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
    """MCP Playground's id."""

    severity: Severity
    """MCP Playground's, whatever our rule thinks."""

    points: Annotated[int, Unit(low=1)]
    subject: Annotated[Location, Only("kind name")]
    """What it is about."""

    message: str
    suggestion: str | None

    @published(after="subject")
    def path(self) -> Pointer:
        """JSON pointer inside the definition."""
        return self.subject.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """How much was listed; null is what was never asked for, so that none of it was judged."""

    tools: int
    resources: int | None
    prompts: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGrade(OfServer, Document):
    """A server's grade by MCP Playground's methodology: 100 less all points, plus the bonus, kept within 0-100."""

    methodology: Literal["mcp-playground"] = "mcp-playground"
    score: Percentage | None
    """Null where nothing that could be judged is known."""

    letter: Letter | None
    bonus: int
    """Points for descriptions of every tool."""

    deductions: tuple[Deduction, ...]
    tool_count: Internal[int]
    resource_count: Internal[int | None]
    """Entries of `resources/list`; None when it was never asked, so that none was judged."""

    prompt_count: Internal[int | None]
    unmeasured: Annotated[tuple[UngradedTool, ...], Only("name reason"), Key("unread")]
    """Tools that could not be read; whatever they cost is missing from the score."""

    problems: tuple[str, ...]

    @published(after="deductions")
    def judged(self) -> Listed:
        """What was listed."""
        return Listed(tools=self.tool_count, resources=self.resource_count, prompts=self.prompt_count)
