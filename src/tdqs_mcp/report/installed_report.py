"""The servers of installed clients, for people: where they stand, their scores, and what an agent sees together."""

import shlex
from collections.abc import Sequence

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.report.blocks import (
    Block,
    Code,
    Heading,
    Items,
    Line,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    number,
    problem_items,
)
from tdqs_mcp.results.client_servers import (
    ClientSet,
    InstalledReport,
    InstalledScore,
    InstalledServer,
    NotNeeded,
    Place,
    ServerList,
    SharedName,
    Standing,
)

MAX_SHOWN = 5
"""Servers, names and overlaps of a client that one line names."""

_STYLES = {Standing.SCORED: "", Standing.DISABLED: "dim", Standing.NOT_STARTED: "yellow", Standing.FAILED: "red"}


def list_blocks(found: ServerList) -> list[Block]:
    """A row for each server, and what cannot be read or filled in."""
    clients = len({each.client for each in found.servers})
    rows = [(each.client, each.name, each.transport or "none", each.path, _remark(each)) for each in found.servers]
    head = f"{count_words(len(found.servers), 'server')} of {count_words(clients, 'client')}"
    notes = [(f"{each.id}: {note}", "yellow") for each in found.servers for note in each.unresolved]
    blocks: list[Block] = [Title(head)]
    if rows:
        blocks.append(Table(columns("client", "server", "transport", "file", "", left=5), rows))
    blocks += [Items(notes), problem_items(found.problems)]
    return [*blocks, Line(("Next: ", Code("tdqs-mcp score --installed")), "dim")] if rows else blocks


def _remark(server: InstalledServer) -> Words:
    remarks = [("disabled", server.is_disabled), ("from this folder", server.is_project)]
    return ", ".join(word for word, holds in remarks if holds)


def installed_blocks(report: InstalledReport) -> list[Block]:
    """The servers, the lowest score first; what each client shows of them together; why servers have no score."""
    scored = [each for each in report.servers if each.score]
    head = f"{count_words(len(report.servers), 'installed server')}, {len(scored)} scored"
    blocks: list[Block] = [Title(head), _table(report.servers)]
    for client in report.clients:
        blocks += _together(client)
    reasons = [(_reason(each), _STYLES[each.standing]) for each in report.servers if each.reason]
    gaps = [(f"{each.server.id}: {each.incomplete}", "yellow") for each in report.servers if each.incomplete]
    if reasons or gaps:
        blocks += [Heading("Without a score"), Items([*reasons, *gaps])]
    unresolved = [(f"! {each.server.id}: {note}", "yellow") for each in scored for note in each.server.unresolved]
    blocks += [Items(unresolved), problem_items(report.problems)]
    if scored:
        worst = shlex.quote(_by_score(scored)[0].server.locator_name)
        blocks.append(Line(("Next: ", Code(f"tdqs-mcp score {worst}")), "dim"))
    return blocks


def _reason(row: InstalledScore) -> str:
    """Why a server has no score; what a capture says begins with its name already."""
    reason = row.reason or ""
    return reason if reason.startswith("config:") else f"{row.server.id}: {reason}"


def _by_score(rows: Sequence[InstalledScore]) -> list[InstalledScore]:
    return sorted(rows, key=lambda row: (row.score is None, (row.score and row.score.rollup.overall) or 0))


def _table(rows: Sequence[InstalledScore]) -> Table:
    heads = columns("client", "server", "tools", "tokens", "overall", "lowest", left=2)
    return Table(heads, list(map(_cells, _by_score(rows))))


def _cells(row: InstalledScore) -> tuple[Words, ...]:
    size = ("", "") if row.tokens is None else (str(row.tool_count), f"{row.tokens:,}")
    if row.score:
        rollup = row.score.rollup
        return (row.server.client, row.server.name, *size, number(rollup.overall), number(rollup.min_tdqs))
    told = f"as {row.same_as}" if row.same_as else row.standing.value
    return (row.server.client, row.server.name, *size, Span(told, _STYLES[row.standing]), "")


def _together(client: ClientSet) -> list[Block]:
    counts = f"{count_words(len(client.servers), 'server')}, {count_words(client.tool_count, 'tool')}"
    limit = client.tool_limit
    lines: list[tuple[Words, str]] = [
        *([(f"more tools than the {limit} that it takes", "red")] if limit and client.tool_count > limit else []),
        *((f"one name for tools of {each}", "red") for each in _by_servers(client.collisions)),
        *(
            (f"told apart by the server's name alone: tools of {each}", "yellow")
            for each in _by_servers(client.same_names)
        ),
    ]
    if pairs := [f"{_place(each.first)} and {_place(each.second)}" for each in client.overlaps]:
        lines.append((f"says the same: {first_of(pairs, MAX_SHOWN, separator='; ')}", "yellow"))
    if client.not_needed:
        lines.append((_idle(client.not_needed, client.tokens), "bold"))
    return [Heading(f"{client.title}: {counts}, about {client.tokens:,} tokens together"), Items(lines)]


def _by_servers(shared: Sequence[SharedName]) -> list[str]:
    """The names that the same servers share, once for those servers."""
    names: dict[str, list[str]] = {}
    for each in shared:
        servers = first_of(list(dict.fromkeys(place.server for place in each.tools)), MAX_SHOWN)
        names.setdefault(servers, []).append(each.tools[0].tool)
    return [f"{servers}: {first_of(each, MAX_SHOWN)}" for servers, each in names.items()]


def _place(place: Place) -> str:
    return f"{place.server}/{place.tool}"


def _idle(found: NotNeeded, tokens: int) -> str:
    if not found.servers:
        return f"for {found.task!r}: no server can be switched off by what the tools say"
    share = f"{found.saved_tokens:,} of {tokens:,} tokens"
    return f"for {found.task!r} switch off {', '.join(found.servers)}: saves about {share}"
