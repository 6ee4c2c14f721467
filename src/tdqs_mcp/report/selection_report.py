"""A selection test for people: how often tools are found, what is picked instead, what to do."""

from tdqs_mcp.report.blocks import Block, Gap, Line, Section, Table, Title, columns
from tdqs_mcp.report.words import count_words
from tdqs_mcp.results.selection import Choice, Mutation, Paired, Selection

MAX_SHOWN = 10
"""Rows of each list; JSON has them all."""


def selection_blocks(selection: Selection) -> list[Block]:
    """The figures, the shares of equivalent servers, the most frequent confusions, the queries that lost."""
    servers = selection.servers[0] if len(selection.servers) == 1 else f"{len(selection.servers)} servers"
    queries = count_words(len(selection.choices), "query", "queries")
    counts = f"{count_words(selection.tool_count, 'tool')} · {queries}"
    sections = (
        ("How often the right tool is found", _figures(selection)),
        ("Which server's tool is picked", _shares(selection)),
        ("Picked instead", _confusions(selection)),
        ("Queries that lost", _lost(selection)),
    )
    shown: list[Block] = [block for title, table in sections if table.rows for block in (Section(title), table)]
    title = Title(f"{servers} · {counts} · selected by {selection.selector}")
    return [title, *shown, Gap(), Line(f"Next: {_next(selection)}", "dim")]


def _figures(selection: Selection) -> Table:
    before, against = selection.figures, selection.against
    rows = [
        ("first", _percent(before.top1)),
        (f"among the first {selection.k}", _percent(before.recall)),
        ("mean reciprocal rank", _thousandths(before.mrr)),
    ]
    if against is None:
        return Table(columns("", "share", left=2), rows)
    after = against.figures
    changes = (
        (_percent(after.top1), _change(against.top1)),
        (_percent(after.recall), _change(against.recall)),
        (_thousandths(after.mrr), ""),
    )
    heads = columns("", "before", against.label, "gained / lost, difference, 95 % interval, McNemar's p", left=4)
    return Table(heads, [(*row, *change) for row, change in zip(rows, changes, strict=True)])


def _change(paired: Paired | None) -> str:
    if paired is None:
        return ""
    p = "< 0.001" if paired.p_value < 0.001 else f"= {paired.p_value:.3f}"  # three decimals are shown
    points = f"{paired.difference:+.1f} points ({paired.low:+.1f} to {paired.high:+.1f}), p {p}"
    return f"+{paired.gained} / -{paired.lost}, {points}"


def _shares(selection: Selection) -> Table:
    shares = sorted(selection.shares, key=lambda share: -(share.share or 0))[:MAX_SHOWN]
    rows = [(each.server, str(each.queries), _percent(each.share), _percent(each.others)) for each in shares]
    return Table(columns("server", "queries", "picked", "on queries made from others", left=4), rows)


def _confusions(selection: Selection) -> Table:
    rows = [(each.tool, each.picked, str(each.count)) for each in selection.confusions[:MAX_SHOWN]]
    return Table(columns("wanted", "picked", "queries", left=3), rows)


def _lost(selection: Selection) -> Table:
    after = selection.against.choices if selection.against else ()
    pairs = zip(selection.choices, after, strict=bool(after))
    lost = [pair for pair in pairs if pair[1].found < pair[0].found or pair[1].first < pair[0].first]
    rows = [(one.query.tool, one.query.text, _rank(one), _rank(other)) for one, other in lost[:MAX_SHOWN]]
    return Table(columns("tool", "query", "rank", "then", left=4), rows)


def _rank(choice: Choice) -> str:
    return "not found" if choice.rank is None else f"{float(choice.rank):g}"


def _next(selection: Selection) -> str:
    if not selection.figures.queries:
        return "nothing was answered; see the problems"
    against = selection.against
    if against and against.label not in tuple(Mutation):
        if against.top1 and against.top1.lost:
            return "read the definitions of the tools that lost"
        return "keep the change: no query lost its first place"
    wrong = [each.tool for each in selection.confusions]
    if not wrong:
        is_made = any(choice.query.withheld for choice in selection.choices)
        return "try the words of real users with --queries FILE" if is_made else "nothing, every query finds its tool"
    return f"say what sets {wrong[0]} apart (tdqs-mcp rewrite), then prove it with --against"


def _percent(tenths: int | None) -> str:
    return "-" if tenths is None else f"{tenths // 10}.{tenths % 10} %"


def _thousandths(value: int | None) -> str:
    return "-" if value is None else f"{value / 1000:.3f}"
