"""Whether a result, or the entries of a suite, meet their bars."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated

from tdqs_mcp.results.contract import Document, Internal, Key, Only, published
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
    """One target of a suite's entry compared with its bar."""

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
        """PASS if every check passes, FAIL if one fails, ERROR otherwise."""
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
    """How far a judge's scores are from the reference scores."""

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
