"""A selection test for eyes and for a pull request: how often tools are found, what is picked instead, what to do."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tdqs_mcp.model.mutation import Mutation
from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.results.selection import Choice, Paired, Selection

MAX_SHOWN = 10
"""Rows of each list; JSON has them all."""

Rows = list[list[str]]


def select_view(selection: Selection) -> RenderableType:
    """The figures, the shares of equivalent servers, the most frequent confusions, the queries that lost."""
    parts: list[RenderableType] = [Text(_title(selection), style="bold")]
    for title, rows in _tables(selection):
        table = Table.grid(padding=(0, 3, 0, 0))
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        parts += [Text(), Text(title, style="bold"), table]
    return Group(*parts, Text(), Text(f"Next: {_next(selection)}", style="dim"))


def select_markdown(selection: Selection) -> str:
    """The same as tables of Markdown."""
    lines = [f"## {markdown(_title(selection))}", ""]
    for title, rows in _tables(selection):
        head, *body = [f"| {' | '.join(map(markdown, row))} |" for row in rows]
        lines += [f"### {title}", "", head, f"|{' --- |' * len(rows[0])}", *body, ""]
    return "\n".join([*lines, f"Next: {markdown(_next(selection))}", ""])


def _title(selection: Selection) -> str:
    servers = selection.servers[0] if len(selection.servers) == 1 else f"{len(selection.servers)} servers"
    counts = f"{_count(selection.tool_count, 'tool')} · {_count(len(selection.choices), 'query', 'queries')}"
    return f"{printable(servers)} · {counts} · selected by {printable(selection.selector)}"


def _tables(selection: Selection) -> list[tuple[str, Rows]]:
    """Titles and rows, the first row the heading; tables without rows are left out."""
    tables = [
        ("How often the right tool is found", _figures(selection)),
        ("Which server's tool is picked", _shares(selection)),
        ("Picked instead", _confusions(selection)),
        ("Queries that lost", _lost(selection)),
    ]
    return [(title, rows) for title, rows in tables if len(rows) > 1]


def _figures(selection: Selection) -> Rows:
    before, against = selection.figures, selection.against
    measures = (
        ("first", _percent(before.top1)),
        (f"among the first {selection.k}", _percent(before.recall)),
        ("mean reciprocal rank", _thousandths(before.mrr)),
    )
    if against is None:
        return [["", "share"], *([name, value] for name, value in measures)]
    after = against.figures
    changes = (
        (_percent(after.top1), _change(against.top1)),
        (_percent(after.recall), _change(against.recall)),
        (_thousandths(after.mrr), ""),
    )
    rows = [[*measure, *change] for measure, change in zip(measures, changes, strict=True)]
    return [["", "before", against.label, "gained / lost, difference, 95 % interval, McNemar's p"], *rows]


def _change(paired: Paired | None) -> str:
    if paired is None:
        return ""
    p = "< 0.001" if paired.p_value < 0.001 else f"= {paired.p_value:.3f}"  # three decimals are shown
    points = f"{paired.difference:+.1f} points ({paired.low:+.1f} to {paired.high:+.1f}), p {p}"
    return f"+{paired.gained} / -{paired.lost}, {points}"


def _shares(selection: Selection) -> Rows:
    shares = sorted(selection.shares, key=lambda share: -(share.share or 0))[:MAX_SHOWN]
    rows = [[each.server, str(each.queries), _percent(each.share), _percent(each.others)] for each in shares]
    return [["server", "queries", "picked", "on queries made from others"], *rows]


def _confusions(selection: Selection) -> Rows:
    rows = [[each.tool, each.picked, str(each.count)] for each in selection.confusions[:MAX_SHOWN]]
    return [["wanted", "picked", "queries"], *rows]


def _lost(selection: Selection) -> Rows:
    if selection.against is None:
        return []
    pairs = zip(selection.choices, selection.against.choices, strict=True)
    lost = [pair for pair in pairs if pair[1].found < pair[0].found or pair[1].first < pair[0].first]
    rows = [[one.query.tool, one.query.text, _rank(one), _rank(other)] for one, other in lost[:MAX_SHOWN]]
    return [["tool", "query", "rank", "then"], *rows]


def _rank(choice: Choice) -> str:
    return "not found" if choice.rank is None else f"{float(choice.rank):g}"


def _next(selection: Selection) -> str:
    if not selection.figures.queries:
        return "nothing was answered; see the problems"
    against = selection.against
    if against and against.label not in tuple(Mutation):
        lost = against.top1 and against.top1.lost
        return (
            "read the definitions of the tools that lost" if lost else "keep the change: no query lost its first place"
        )
    wrong: Sequence[str] = [each.tool for each in selection.confusions]
    if not wrong:
        is_made = any(choice.query.withheld for choice in selection.choices)
        return "try the words of real users with --queries FILE" if is_made else "nothing, every query finds its tool"
    return f"say what sets {printable(wrong[0])} apart (tdqs-mcp rewrite), then prove it with --against"


def _percent(tenths: int | None) -> str:
    return "-" if tenths is None else f"{tenths // 10}.{tenths % 10} %"


def _thousandths(value: int | None) -> str:
    return "-" if value is None else f"{value / 1000:.3f}"


def _count(count: int, one: str, more: str | None = None) -> str:
    return f"1 {one}" if count == 1 else f"{count} {more or f'{one}s'}"
