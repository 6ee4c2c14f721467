"""What clients take of a server's tools, for people."""

from collections import Counter

from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.report.blocks import Block, Heading, Items, Span, Table, Title, columns, count_words, named, problem_items
from tdqs_mcp.results.portability import Change, ClientView, Handling, Limit, PortabilityReport

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
    words = ", ".join(f"{counts[each]} {each}" for each in Handling if counts[each])
    return f"{words}: the whole list is refused" if view.loses_all else words


def _changes(view: ClientView) -> Table:
    """A row for each limit, the worst first, with the first of its tools."""
    by_limit: dict[Limit, list[tuple[str, Change]]] = {}
    for change in view.changes:
        by_limit.setdefault(change.limit, []).append(("the server", change))
    for tool in view.tools:
        for change in tool.changes:
            by_limit.setdefault(change.limit, []).append((tool.name, change))
    rows = [
        (
            Span(limit.outcome, STYLES[limit.outcome]),
            f"{first_of([name for name, _ in found], MAX_NAMED)}: {found[0][1].what}; it takes {limit.says}",
        )
        for limit, found in sorted(by_limit.items(), key=lambda each: -each[0].outcome.rank)
    ]
    return Table(columns("outcome", "what", left=2), rows, has_head=False)


def _sources(view: ClientView) -> Items:
    changes = [*view.changes, *(change for tool in view.tools for change in tool.changes)]
    return Items([(source, "dim") for source in dict.fromkeys(change.limit.source for change in changes)], indent=2)
