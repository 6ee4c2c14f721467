"""A calibration report for eyes, for a pull request and as JSON: every table the same three ways."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.report.words import unjudged_words
from tdqs_mcp.results.calibration import CalibrationReport, Section
from tdqs_mcp.results.verdicts import JudgeStamp

Cell = str | int | float | None

MAX_REASONS = 20
"""Reasons why something was not judged; JSON has them all."""


def calibration_view(report: CalibrationReport) -> RenderableType:
    """Every table, what is out of tolerance, and what to do next."""
    parts: list[RenderableType] = [Text(f"{_title(report.judge)} · how wrong it is", style="bold")]
    for section in report.sections:
        parts += [Text(), Text(section.title, style="bold"), Text(section.remark, style="dim"), _table(section)]
    parts.append(Text())
    parts += [Text(f"out of tolerance: {printable(fault)}", style="red") for fault in report.faults]
    parts += [Text(printable(problem), style="yellow") for problem in _problems(report)]
    return Group(*parts, Text(f"Next: {_next(report)}", style="dim"))


def calibration_markdown(report: CalibrationReport) -> str:
    """The same as Markdown."""
    lines = [f"## {markdown(_title(report.judge))}: how wrong it is", ""]
    for section in report.sections:
        lines += [
            f"### {section.title}",
            "",
            f"{section.remark[:1].upper()}{section.remark[1:]}.",
            "",
            *_rows(section),
            "",
        ]
    lines += [f"- out of tolerance: {markdown(fault)}" for fault in report.faults]
    lines += [f"- {markdown(problem)}" for problem in _problems(report)]
    return "\n".join(lines).strip() + "\n"


def calibration_document(report: CalibrationReport) -> dict[str, Any]:
    """The same as JSON: a list of rows for each table, each an object with the columns' names."""
    return {
        "judge": {
            "id": report.judge.id,
            "version": report.judge.version,
            "model": report.judge.model,
            "calibration": report.judge.calibration,
        },
        "tables": [
            {
                "title": section.title,
                "remark": section.remark,
                "rows": [
                    dict(zip((column or "name" for column in section.columns), map(_plain, row), strict=True))
                    for row in section.rows
                ],
            }
            for section in report.sections
        ],
        "outOfTolerance": list(report.faults),
        "unjudged": [{"name": name, "reason": reason} for name, reason in report.unjudged],
        "problems": list(report.problems),
    }


def _problems(report: CalibrationReport) -> list[str]:
    return [*unjudged_words(report.unjudged)[:MAX_REASONS], *report.problems]


def _plain(cell: Cell) -> Cell:
    return round(cell, 4) if isinstance(cell, float) else cell


def _title(judge: JudgeStamp) -> str:
    named = f"{judge.id} {judge.model}" if judge.model else judge.id
    return f"{named}, calibration {judge.calibration}" if judge.calibration else named


def _next(report: CalibrationReport) -> str:
    if report.faults:
        return "use a stronger model, or the offline judge, whose error tdqs-mcp calibrate prints"
    if report.unjudged:
        return "see that the judge answers, then calibrate again; it was not held against what it has not judged"
    return "tdqs-mcp calibrate LOCATOR --judge JUDGE holds another judge against the labelled tools of a catalog"


def _table(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for position, column in enumerate(section.columns):
        table.add_column(column.replace("_", " "), justify="right" if position else "left", no_wrap=position > 0)
    for row in section.rows:
        table.add_row(*(Text(printable(_shown(cell))) for cell in row))
    return table


def _rows(section: Section) -> Sequence[str]:
    head = " | ".join(column.replace("_", " ") for column in section.columns)
    rule = " | ".join(["---", *["---:"] * (len(section.columns) - 1)])
    body = [" | ".join(markdown(_shown(cell)) for cell in row) for row in section.rows]
    return [f"| {line} |" for line in (head, rule, *body)]


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("_", " ")
