"""For people: MCP Playground's grade, the rows of a suite, and how wrong a judge is."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from tdqs_mcp.report.blocks import Block, Code, Column, Gap, Items, Line, Only, Section, Span, Table, Title, columns
from tdqs_mcp.report.lint_formats import actual_words, check_words
from tdqs_mcp.report.lint_report import SEVERITY_STYLES
from tdqs_mcp.report.words import TIER_STYLES, count_words, named, problem_items, unjudged_words
from tdqs_mcp.results.calibration import CalibrationReport, Cell
from tdqs_mcp.results.calibration import Section as CalibrationTable
from tdqs_mcp.results.gate import GateReport, GateResult
from tdqs_mcp.results.grades import Deduction, ServerGrade
from tdqs_mcp.results.tiers import Tier
from tdqs_mcp.results.verdicts import JudgeStamp

MAX_REASONS = 20
"""Reasons why something was not judged; JSON has them all."""

_GATE_STYLES = {GateResult.PASS: "green", GateResult.FAIL: "red", GateResult.ERROR: "yellow"}


def grade_blocks(grade: ServerGrade) -> list[Block]:
    """The letter, how it came about, every broken rule with its first place, and the dearest one to begin with."""
    result = (
        f"{grade.letter} ({grade.score} of 100)" if grade.letter else "no grade: nothing that could be judged is known"
    )
    style = f"bold {TIER_STYLES[Tier(grade.letter)]}" if grade.letter else "dim"
    lost = sum(deduction.points for deduction in grade.deductions)
    bonus = f" + {grade.bonus} (every tool is described)" if grade.bonus else ""
    blocks: list[Block] = [
        Title((f"{named(grade.server, grade.version)} · MCP Playground ", Span(result, style))),
        Line(f"{_counted(grade)} · 100 - {lost}{bonus}", "dim"),
    ]
    if grade.deductions:
        rows = [
            (
                each.subject.label,
                each.alias,
                f"-{each.points}",
                "; ".join(filter(None, (each.message, each.suggestion))),
            )
            for each in grade.deductions
        ]
        blocks += [
            Gap(),
            Only("text", [_by_rule_table(grade.deductions)]),
            Only("markdown", [Table(columns("where", "rule", "points", "finding", left=4), rows)]),
        ]
    unread = [(each.name or f"tool {each.index + 1}", each.ungraded.reason) for each in grade.unmeasured]
    blocks.append(Items([(f"not judged: {name}: {reason}", "yellow") for name, reason in unread]))
    blocks.append(problem_items(grade.problems))
    if grade.deductions:
        alias = _by_rule(grade.deductions)[0][0].alias
        blocks += [Gap(), Line(("Next: ", Code(f"tdqs-mcp explain {alias}")), "dim")]
    return blocks


def gate_blocks(report: GateReport) -> list[Block]:
    """One line an entry, its checks below it, and how many passed; for a pull request one table."""
    results = [row.result for row in report.rows]
    words = {GateResult.PASS: "passed", GateResult.FAIL: "failed", GateResult.ERROR: "could not be decided"}
    summary = ", ".join(f"{count} {words[each]}" for each in GateResult if (count := results.count(each)))
    rows = []
    for row in report.rows:
        rows += [(row.name, row.server, "", "", row.reason, "ERROR")] if row.reason else []
        cells = [(each.target, each.wanted, actual_words(each), each.result.value) for each in row.checks]
        rows += [(row.name, row.server, *each) for each in cells]
    table = Table(columns("entry", "server", "target", "wanted", "actual", "result", left=6), rows)
    return [Only("text", [*_gate_lines(report), Line(summary)]), Only("markdown", [Title(summary), table])]


def calibration_blocks(report: CalibrationReport) -> list[Block]:
    """Every table, what is out of tolerance, and what to do next."""
    blocks: list[Block] = [Title(f"{_judge(report.judge)} · how wrong it is")]
    for section in report.sections:
        blocks += [Section(section.title), Line(section.remark, "dim"), _calibration_table(section)]
    problems = [*unjudged_words(report.unjudged)[:MAX_REASONS], *report.problems]
    return [
        *blocks,
        Gap(),
        Items([(f"out of tolerance: {fault}", "red") for fault in report.faults]),
        Items([(problem, "yellow") for problem in problems]),
        Line(f"Next: {_next(report)}", "dim"),
    ]


def _counted(grade: ServerGrade) -> str:
    return ", ".join(
        (
            count_words(grade.tool_count, "tool"),
            "resources not listed" if grade.resource_count is None else count_words(grade.resource_count, "resource"),
            "prompts not listed" if grade.prompt_count is None else count_words(grade.prompt_count, "prompt"),
        )
    )


def _by_rule_table(deductions: Sequence[Deduction]) -> Table:
    """One line for each rule, the dearest first."""
    heads = (
        Column(head="points", is_right=True),
        Column(head="rule", is_whole=True),
        Column(head="times", is_right=True),
        Column(head="first"),
    )
    rows = [
        (
            f"-{sum(each.points for each in group)}",
            Span(group[0].alias, SEVERITY_STYLES[group[0].severity]),
            str(len(group)),
            f"{group[0].subject.label}: {group[0].message}",
        )
        for group in _by_rule(deductions)
    ]
    return Table(heads, rows)


def _by_rule(deductions: Sequence[Deduction]) -> list[list[Deduction]]:
    groups = [list(group) for _, group in groupby(deductions, key=lambda each: each.alias)]
    return sorted(groups, key=lambda group: -sum(each.points for each in group))


def _gate_lines(report: GateReport) -> Iterator[Block]:
    for row in report.rows:
        result = Span(f"{row.result.value:<5} ", f"bold {_GATE_STYLES[row.result]}")
        yield Line((result, row.name, Span(f" ({row.server})", "dim")))
        for check in row.checks:
            style = "dim" if check.result is GateResult.PASS else _GATE_STYLES[check.result]
            yield Line(check_words(check), style, indent=6)
        if row.reason:
            yield Line(row.reason, "yellow", indent=6)


def _judge(judge: JudgeStamp) -> str:
    name = f"{judge.id} {judge.model}" if judge.model else judge.id
    return f"{name}, calibration {judge.calibration}" if judge.calibration else name


def _next(report: CalibrationReport) -> str:
    if report.faults:
        return "use a stronger model, or the offline judge, whose error tdqs-mcp calibrate prints"
    if report.unjudged:
        return "see that the judge answers, then calibrate again; it was not held against what it has not judged"
    return "tdqs-mcp calibrate LOCATOR --judge JUDGE holds another judge against the labelled tools of a catalog"


def _calibration_table(section: CalibrationTable) -> Table:
    heads = [
        Column(head=column.replace("_", " "), is_right=place > 0, is_whole=place > 0)
        for place, column in enumerate(section.columns)
    ]
    return Table(heads, [tuple(map(_shown, row)) for row in section.rows])


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("_", " ")
