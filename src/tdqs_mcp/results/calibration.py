"""How far a judge lies from what it is held against."""

from dataclasses import dataclass

from tdqs_mcp.results.verdicts import JudgeStamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table of a calibration report."""

    title: str
    remark: str
    """What the numbers are and on what they rest."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """How far a judge's scores lie from those that it is held against."""

    judge: JudgeStamp
    sections: tuple[Section, ...]
    faults: tuple[str, ...]
    """Where it is out of tolerance, one sentence each."""

    problems: tuple[str, ...] = ()
    """What keeps the report from saying more."""

    unjudged: tuple[tuple[str, str], ...] = ()
    """Name and reason of all that the judge failed on."""
