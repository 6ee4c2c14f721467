"""MCP Playground's grade of a server for eyes: the sum, what each rule takes away, and what to fix first."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.results.grades import Deduction, Letter, ServerGrade

MAX_LISTED = 200
"""Deductions that Markdown lists one by one; JSON has them all."""

_LETTER_STYLES = {Letter.A: "green", Letter.B: "cyan", Letter.C: "yellow", Letter.D: "red", Letter.F: "red"}
_SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def grade_view(grade: ServerGrade) -> RenderableType:
    """The letter, how it came about, every broken rule with its first place, and the dearest one to begin with."""
    name = printable(f"{grade.server} {grade.version}" if grade.version else grade.server)
    style = f"bold {_LETTER_STYLES[grade.letter]}" if grade.letter else "dim"
    parts: list[RenderableType] = [
        Text.assemble((f"{name} · MCP Playground ", "bold"), (_result(grade), style)),
        Text(f"{_counted(grade)} · {_sum(grade)}", style="dim"),
    ]
    if grade.deductions:
        parts += [Text(), _table(grade.deductions)]
    parts += [Text(line, style="yellow") for line in _remarks(grade)]
    return Group(*parts, *([Text(), Text(_next(grade), style="dim")] if grade.deductions else []))


def grade_markdown(grade: ServerGrade) -> str:
    """The same for a pull request, with every deduction."""
    lines = [f"## {markdown(grade.server)}: {_result(grade)}", "", f"{_counted(grade)}. {_sum(grade)}.", ""]
    if grade.deductions:
        lines += ["| where | rule | points | finding |", "| --- | --- | --- | --- |"]
        lines += [_row(deduction) for deduction in grade.deductions[:MAX_LISTED]]
        lines += [""]
    if len(grade.deductions) > MAX_LISTED:
        lines += [f"… and {len(grade.deductions) - MAX_LISTED} more; `--format json` lists all.", ""]
    lines += [f"- {markdown(line)}" for line in _remarks(grade)]
    return "\n".join(lines).strip() + "\n"


def _result(grade: ServerGrade) -> str:
    return "no grade: nothing that could be judged is known" if grade.letter is None else _earned(grade)


def _earned(grade: ServerGrade) -> str:
    return f"{grade.letter} ({grade.score} of 100)"


def _counted(grade: ServerGrade) -> str:
    return ", ".join(
        (
            _many(grade.tool_count, "tool"),
            "resources not listed" if grade.resource_count is None else _many(grade.resource_count, "resource"),
            "prompts not listed" if grade.prompt_count is None else _many(grade.prompt_count, "prompt"),
        )
    )


def _sum(grade: ServerGrade) -> str:
    lost = sum(deduction.points for deduction in grade.deductions)
    return f"100 - {lost}{f' + {grade.bonus} (every tool is described)' if grade.bonus else ''}"


def _table(deductions: Sequence[Deduction]) -> Table:
    """One line for each rule, the dearest first."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("points", justify="right")
    table.add_column("rule", no_wrap=True)
    table.add_column("times", justify="right")
    table.add_column("first", overflow="fold")
    for group in _by_rule(deductions):
        first = group[0]
        table.add_row(
            Text(f"-{sum(each.points for each in group)}"),
            Text(first.alias, style=_SEVERITY_STYLES[first.severity]),
            Text(str(len(group))),
            Text(f"{printable(first.subject.label)}: {printable(first.message)}"),
        )
    return table


def _by_rule(deductions: Sequence[Deduction]) -> list[list[Deduction]]:
    groups = [list(group) for _, group in groupby(deductions, key=lambda each: each.alias)]
    return sorted(groups, key=lambda group: -sum(each.points for each in group))


def _row(deduction: Deduction) -> str:
    cells = (
        markdown(deduction.subject.label),
        deduction.alias,
        f"-{deduction.points}",
        markdown("; ".join(filter(None, (deduction.message, deduction.suggestion)))),
    )
    return f"| {' | '.join(cells)} |"


def _remarks(grade: ServerGrade) -> list[str]:
    """What could not be judged, and what went wrong on the way."""
    unread = [f"not judged: {printable(tool.name) or f'tool {tool.index + 1}'}" for tool in grade.unmeasured]
    reasons = [printable(tool.ungraded.reason) for tool in grade.unmeasured]
    told = [f"{what}: {why}" for what, why in zip(unread, reasons, strict=True)]
    return told + [f"! {printable(problem)}" for problem in grade.problems]


def _next(grade: ServerGrade) -> str:
    return f"Next: tdqs-mcp explain {_by_rule(grade.deductions)[0][0].alias}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
