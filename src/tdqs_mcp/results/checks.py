"""Whether a result, or the entries of a suite, meet their bars."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, Literal

from tdqs_mcp.results.contract import Document, Internal, Key, Only, Percentage, Pointer, Unit, published
from tdqs_mcp.results.findings import Location, OfServer, Severity
from tdqs_mcp.results.scores import UngradedTool
from tdqs_mcp.results.verdicts import JudgeStamp


class Outcome(IntEnum):
    """The exit code of a gate."""

    PASSED = 0
    FAILED = 1
    UNKNOWN = 2
    """It could not run, or something ungraded could change the verdict."""


class GateResult(StrEnum):
    """Whether a gate's bar is met; ERROR where that cannot be known."""

    PASS = "PASS"  # noqa: S105  # a word, no password
    FAIL = "FAIL"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One target of a suite's entry, held against its bar."""

    target: str
    wanted: str
    actual: str | None
    """None where it cannot be known."""

    result: GateResult
    reason: str | None = None
    """Why it cannot be known; where the bar is missed, what to look at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One entry of a suite with its checks."""

    name: str
    server: str
    reason: str | None = None
    """Why the server could not be captured."""

    checks: tuple[Check, ...]
    """Empty where the server could not be captured."""

    @published(after="server")
    def result(self) -> GateResult:
        """PASS when every check passes; a check that fails decides, whatever else is unknown."""
        results = {check.result for check in self.checks}
        if GateResult.FAIL in results:
            return GateResult.FAIL
        return GateResult.PASS if results == {GateResult.PASS} else GateResult.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport(Document):
    """A suite with all its entries."""

    suite: str
    """The suite's file."""

    rows: tuple[GateRow, ...]


Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTable:
    """One table of a calibration report."""

    title: str
    remark: str
    """What the numbers are and on what they rest."""

    columns: Internal[tuple[str, ...]]
    rows: Internal[tuple[tuple[Cell, ...], ...]]

    @published(after="remark", key="rows")
    def entries(self) -> tuple[dict[str, Cell], ...]:
        """The rows by the columns' names."""
        names = [column or "name" for column in self.columns]
        return tuple(dict(zip(names, map(_plain, row), strict=True)) for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """Something that the judge failed on."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """How far a judge's scores lie from those that it is held against."""

    judge: Annotated[JudgeStamp, Only("id version model calibration")]
    sections: Annotated[tuple[CalibrationTable, ...], Key("tables")]
    faults: Annotated[tuple[str, ...], Key("outOfTolerance")]
    """Where it is out of tolerance, one sentence each."""

    unjudged: Internal[tuple[tuple[str, str], ...]] = ()
    """Name and reason of all that the judge failed on."""

    problems: tuple[str, ...] = ()
    """What keeps the report from saying more."""

    @published(after="faults", key="unjudged")
    def failures(self) -> tuple[Unjudged, ...]:
        """What the judge failed on."""
        return tuple(Unjudged(name=name, reason=reason) for name, reason in self.unjudged)


def _plain(cell: Cell) -> Cell:
    return round(cell, 4) if isinstance(cell, float) else cell


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
