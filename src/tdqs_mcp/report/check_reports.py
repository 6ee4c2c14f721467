"""For people: a grade, the rows of a suite, how wrong a judge is, how well tools are found, what clients take."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.report.blocks import (
    TIER_STYLES,
    Block,
    Code,
    Column,
    Gap,
    Heading,
    Items,
    Line,
    OnlyIn,
    Span,
    Table,
    Title,
    columns,
    count_words,
    named,
    problem_items,
    unjudged_words,
)
from tdqs_mcp.report.lint_report import SEVERITY_STYLES
from tdqs_mcp.results.checks import (
    CalibrationReport,
    Cell,
    Check,
    Figures,
    GateReport,
    GateResult,
    Mutation,
    Paired,
    QueryChoice,
    Selection,
)
from tdqs_mcp.results.clients import ClientView, Handling, Limit, LimitExcess, PortabilityReport
from tdqs_mcp.results.labels import Deduction, ServerGrade
from tdqs_mcp.results.verdicts import Tier

STYLES = {Handling.KEPT: "green", Handling.RENAMED: "cyan", Handling.CUT: "yellow", Handling.REFUSED: "red"}

MAX_NAMED = 3
"""Tools named for a limit; JSON has all."""


def portability_blocks(report: PortabilityReport) -> list[Block]:
    """A line for each client, then what it changes or refuses, and the sources of the limits."""
    count = len(report.clients[0].tools) if report.clients else 0
    head = f"{named(report.server, report.version)} · {count_words(count, 'tool')}"
    rows = [(view.client, Span(view.handling, STYLES[view.handling]), _tally(view)) for view in report.clients]
    blocks: list[Block] = [Title(head), Table(columns("client", "worst", "tools", left=3), rows)]
    for view in report.clients:
        if view.handling is not Handling.KEPT:
            blocks += [Heading(f"{view.client}: {_tally(view)}"), _changes(view), _sources(view)]
    notes = [
        (f"not looked at: {name or 'a tool without a name'} cannot be read", "yellow") for name in report.unmeasured
    ]
    return [*blocks, Items(notes), problem_items(report.problems)]


def _tally(view: ClientView) -> str:
    counts = Counter(tool.handling for tool in view.tools)
    words = ", ".join(f"{counts[handling]} {handling}" for handling in Handling if counts[handling])
    return f"{words}: the whole list is refused" if view.loses_all else words


def _changes(view: ClientView) -> Table:
    """A row for each limit, the worst first, with the first of its tools."""
    by_limit: dict[Limit, list[tuple[str, LimitExcess]]] = {}
    for change in view.changes:
        by_limit.setdefault(change.limit, []).append(("the server", change))
    for tool in view.tools:
        for change in tool.changes:
            by_limit.setdefault(change.limit, []).append((tool.name, change))
    rows = [
        (
            Span(limit.outcome, STYLES[limit.outcome]),
            f"{first_of([name for name, _ in breaches], MAX_NAMED)}: {breaches[0][1].what}; it takes {limit.says}",
        )
        for limit, breaches in sorted(by_limit.items(), key=lambda each: -each[0].outcome.rank)
    ]
    return Table(columns("outcome", "what", left=2), rows, has_head=False)


def _sources(view: ClientView) -> Items:
    changes = [*view.changes, *(change for tool in view.tools for change in tool.changes)]
    return Items([(source, "dim") for source in dict.fromkeys(change.limit.source for change in changes)], indent=2)


MAX_REASONS = 20
"""Reasons why something was not judged; JSON has them all."""

_GATE_STYLES = {GateResult.PASS: "green", GateResult.FAIL: "red", GateResult.ERROR: "yellow"}


def grade_blocks(grade: ServerGrade) -> list[Block]:
    """The letter, how it came about, every broken rule with its first place, and the costliest one to fix first."""
    result = (
        f"{grade.letter} ({grade.score} of 100)" if grade.letter else "no grade: nothing that could be judged is known"
    )
    style = f"bold {TIER_STYLES[Tier(grade.letter)]}" if grade.letter else "dim"
    lost = sum(deduction.points for deduction in grade.deductions)
    bonus = f" + {grade.bonus} (every tool is described)" if grade.bonus else ""
    listed = {"tool": grade.tool_count, "resource": grade.resource_count, "prompt": grade.prompt_count}
    counts = (f"{noun}s not listed" if count is None else count_words(count, noun) for noun, count in listed.items())
    blocks: list[Block] = [
        Title((f"{named(grade.server, grade.version)} · MCP Playground ", Span(result, style))),
        Line(f"{', '.join(counts)} · 100 - {lost}{bonus}", "dim"),
    ]
    if grade.deductions:
        rows = [
            (
                deduction.subject.label,
                deduction.alias,
                f"-{deduction.points}",
                "; ".join(filter(None, (deduction.message, deduction.suggestion))),
            )
            for deduction in grade.deductions
        ]
        blocks += [
            Gap(),
            OnlyIn("text", [_by_rule_table(grade.deductions)]),
            OnlyIn("markdown", [Table(columns("where", "rule", "points", "finding", left=4), rows)]),
        ]
    unread = [(tool.name or f"tool {tool.index + 1}", tool.ungraded.reason) for tool in grade.unmeasured]
    blocks.append(Items([(f"not judged: {name}: {reason}", "yellow") for name, reason in unread]))
    blocks.append(problem_items(grade.problems))
    if grade.deductions:
        alias = _by_rule(grade.deductions)[0][0].alias
        blocks += [Gap(), Line(("Next: ", Code(f"tdqs-mcp explain {alias}")), "dim")]
    return blocks


def gate_blocks(report: GateReport) -> list[Block]:
    """Return one line an entry, its checks below it, and how many passed; for a pull request one table."""
    results = [row.result for row in report.rows]
    words = {GateResult.PASS: "passed", GateResult.FAIL: "failed", GateResult.ERROR: "could not be decided"}
    summary = ", ".join(f"{count} {words[result]}" for result in GateResult if (count := results.count(result)))
    rows = []
    for row in report.rows:
        rows += [(row.name, row.server, "", "", row.reason, "ERROR")] if row.reason else []
        cells = [(check.target, check.wanted, actual_words(check), check.result.value) for check in row.checks]
        rows += [(row.name, row.server, *cell) for cell in cells]
    table = Table(columns("entry", "server", "target", "wanted", "actual", "result", left=6), rows)
    return [OnlyIn("text", [*_gate_lines(report), Line(summary)]), OnlyIn("markdown", [Title(summary), table])]


def calibration_blocks(report: CalibrationReport) -> list[Block]:
    """Every table, what is out of tolerance, and what to do next."""
    judge = f"{report.judge.id} {report.judge.model}" if report.judge.model else report.judge.id
    calibration = f", calibration {report.judge.calibration}" if report.judge.calibration else ""
    blocks: list[Block] = [Title(f"{judge}{calibration} · how wrong it is")]
    for section in report.sections:
        heads = columns(*(column.replace("_", " ") for column in section.columns), is_whole=True)
        table = Table(heads, [tuple(map(_cell_words, row)) for row in section.rows])
        blocks += [Heading(section.title), Line(section.remark, "dim"), table]
    problems = [*unjudged_words(report.unjudged)[:MAX_REASONS], *report.problems]
    return [
        *blocks,
        Gap(),
        Items([(f"out of tolerance: {fault}", "red") for fault in report.faults]),
        Items([(problem, "yellow") for problem in problems]),
        Line(f"Next: {_next(report)}", "dim"),
    ]


def _by_rule_table(deductions: Sequence[Deduction]) -> Table:
    """Return one line for each rule, the costliest first."""
    points, times = Column(head="points", is_right=True), Column(head="times", is_right=True)
    heads = (points, Column(head="rule", is_whole=True), times, Column(head="first"))
    rows = [
        (
            f"-{sum(finding.points for finding in group)}",
            Span(group[0].alias, SEVERITY_STYLES[group[0].severity]),
            str(len(group)),
            f"{group[0].subject.label}: {group[0].message}",
        )
        for group in _by_rule(deductions)
    ]
    return Table(heads, rows)


def _by_rule(deductions: Sequence[Deduction]) -> list[list[Deduction]]:
    groups = [list(group) for _, group in groupby(deductions, key=lambda deduction: deduction.alias)]
    return sorted(groups, key=lambda group: -sum(finding.points for finding in group))


def _gate_lines(report: GateReport) -> Iterator[Block]:
    for row in report.rows:
        result = Span(f"{row.result.value:<5} ", f"bold {_GATE_STYLES[row.result]}")
        yield Line((result, row.name, Span(f" ({row.server})", "dim")))
        missed = [check for check in row.checks if check.result is not GateResult.PASS]
        for check in missed or row.checks:
            style = "dim" if check.result is GateResult.PASS else _GATE_STYLES[check.result]
            yield Line(check_words(check), style, indent=6)
        if row.reason:
            yield Line(row.reason, "yellow", indent=6)


def _next(report: CalibrationReport) -> str:
    if report.faults:
        return "use a stronger model, or the offline judge, whose error tdqs-mcp calibrate prints"
    if report.unjudged:
        return "see that the judge answers, then calibrate again; it was not compared with what it has not judged"
    return "tdqs-mcp calibrate LOCATOR --judge JUDGE compares another judge with the labeled tools of a catalog"


def _cell_words(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("_", " ")


MAX_SHOWN = 10
"""Rows of each list; JSON has them all."""


def selection_blocks(selection: Selection) -> list[Block]:
    """The figures, the shares of equivalent servers, the most frequent confusions, the queries that lost."""
    servers = selection.servers[0] if len(selection.servers) == 1 else f"{len(selection.servers)} servers"
    queries = count_words(len(selection.choices), "query", "queries")
    counts = f"{count_words(selection.tool_count, 'tool')} · {queries}"
    confusions = [
        (confusion.tool, confusion.picked, str(confusion.count)) for confusion in selection.confusions[:MAX_SHOWN]
    ]
    sections = (
        ("How often the right tool is found", _figures(selection)),
        ("Which server's tool is picked", _shares(selection)),
        ("Picked instead", Table(columns("wanted", "picked", "queries", left=3), confusions)),
        ("Words of users that the definition lacks", _lacking(selection)),
        ("Queries that lost", _lost(selection)),
    )
    blocks: list[Block] = [block for title, table in sections if table.rows for block in (Heading(title), table)]
    title = Title(f"{servers} · {counts} · selected by {selection.selector}")
    return [title, *blocks, Gap(), Line(f"Next: {_next_selection_report(selection)}", "dim")]


def _figures(selection: Selection) -> Table:
    names, against = ("first", f"among the first {selection.k}", "mean reciprocal rank"), selection.against
    before = _shares_found(selection.figures)
    if against is None:
        return Table(columns("", "share", left=2), list(zip(names, before, strict=True)))
    after, changes = _shares_found(against.figures), (_change(against.top1), _change(against.recall), "")
    heads = columns("", "before", against.label, "gained / lost, difference, 95 % interval, McNemar's p", left=4)
    return Table(heads, list(zip(names, before, after, changes, strict=True)))


def _shares_found(figures: Figures) -> tuple[str, str, str]:
    rank = "-" if figures.mrr is None else f"{figures.mrr / 1000:.3f}"
    return _percent(figures.top1), _percent(figures.recall), rank


def _change(paired: Paired | None) -> str:
    if paired is None:
        return ""
    p = "< 0.001" if paired.p_value < 0.001 else f"= {paired.p_value:.3f}"  # three decimals are shown
    points = f"{paired.difference:+.1f} points ({paired.low:+.1f} to {paired.high:+.1f}), p {p}"
    return f"+{paired.gained} / -{paired.lost}, {points}"


def _shares(selection: Selection) -> Table:
    shares = sorted(selection.shares, key=lambda share: -(share.share or 0))[:MAX_SHOWN]
    rows = [(share.server, str(share.queries), _percent(share.share), _percent(share.others)) for share in shares]
    return Table(columns("server", "queries", "picked", "on queries made from others", left=4), rows)


def _lacking(selection: Selection) -> Table:
    rows = [
        (lacking_tool.tool, ", ".join(lacking_tool.words), str(lacking_tool.queries))
        for lacking_tool in selection.lacking[:MAX_SHOWN]
    ]
    return Table(columns("tool", "words", "queries", left=2), rows)


def _lost(selection: Selection) -> Table:
    after = selection.against.choices if selection.against else ()
    pairs = zip(selection.choices, after, strict=bool(after))
    lost = [pair for pair in pairs if pair[1].found < pair[0].found or pair[1].first < pair[0].first]
    rows = [(choice.query.tool, choice.query.text, _rank(choice), _rank(other)) for choice, other in lost[:MAX_SHOWN]]
    return Table(columns("tool", "query", "rank", "then", left=4), rows)


def _rank(choice: QueryChoice) -> str:
    return "not found" if choice.rank is None else f"{float(choice.rank):g}"


def _next_selection_report(selection: Selection) -> str:
    if not selection.figures.queries:
        return "nothing was answered; see the problems"
    against = selection.against
    if against and against.label not in tuple(Mutation):
        if against.top1 and against.top1.lost:
            return "read the definitions of the tools that lost"
        return "keep the change: no query lost its first place"
    wrong = [confusion.tool for confusion in selection.confusions]
    if not wrong:
        is_made = any(choice.query.withheld for choice in selection.choices)
        return "try the words of real users with --queries FILE" if is_made else "nothing, every query finds its tool"
    if selection.lacking:
        return f"say in {selection.lacking[0].tool} what users call it, where it is true; then check it with --against"
    return f"say what sets {wrong[0]} apart (tdqs-mcp rewrite), then check it with --against"


def _percent(tenths: int | None) -> str:
    return "-" if tenths is None else f"{tenths // 10}.{tenths % 10} %"


def check_words(check: Check) -> str:
    """A target, what it is and what was wanted."""
    verb = "is not known:" if check.result is GateResult.ERROR else "is"
    return f"{check.target} {verb} {actual_words(check)}, wanted {check.wanted}"


def actual_words(check: Check) -> str:
    """Return what a target is, and why."""
    reason = f"({check.reason})" if check.actual and check.reason else check.reason
    return " ".join(filter(None, (check.actual, reason)))
