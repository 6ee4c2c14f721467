"""How far a judge lies from what it is held against."""

from dataclasses import dataclass
from typing import Annotated

from tdqs_mcp.results.contract import Internal, Key, Only, published
from tdqs_mcp.results.verdicts import JudgeStamp

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
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
    sections: Annotated[tuple[Section, ...], Key("tables")]
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
