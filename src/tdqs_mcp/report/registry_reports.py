"""For people: what a sweep of a registry did, and what its store holds: statistics, one server, what a query finds."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.report.blocks import (
    Block,
    Code,
    Gap,
    Heading,
    Items,
    Line,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    judge_words,
    number,
    percentile_words,
    price,
    problem_items,
    score_words,
)
from tdqs_mcp.report.escape import readable
from tdqs_mcp.report.json_values import document
from tdqs_mcp.results.installed_servers import (
    ClientSet,
    InstalledOutcome,
    InstalledReport,
    InstalledScore,
    ServerList,
    SharedName,
)
from tdqs_mcp.results.statistics import (
    DimensionStatistics,
    Distribution,
    LabelStatistics,
    MaintainerTest,
    MethodComparison,
    MethodStamp,
    RunSummary,
    Share,
    Statistics,
    StoreChanges,
    StoredServer,
    SweepReport,
    ToolSearch,
    ToolStatistics,
    Trend,
    UngradedStatistics,
)
from tdqs_mcp.results.verdicts import Tier

MAX_SHOWN = 5
"""Servers, names and overlaps of a client that one line names."""

_STYLES = {
    InstalledOutcome.SCORED: "",
    InstalledOutcome.DISABLED: "dim",
    InstalledOutcome.NOT_STARTED: "yellow",
    InstalledOutcome.FAILED: "red",
}


def list_blocks(listing: ServerList) -> list[Block]:
    """A row for each server, and what cannot be read or filled in."""
    rows = []
    for server in listing.servers:
        remarks = ["disabled"] * server.is_disabled + ["from this folder"] * server.is_project
        rows.append((server.client, server.name, server.transport or "none", server.path, ", ".join(remarks)))
    clients = len({server.client for server in listing.servers})
    head = f"{count_words(len(listing.servers), 'server')} of {count_words(clients, 'client')}"
    notes = [f"{server.id}: {note}" for server in listing.servers for note in server.unresolved]
    blocks: list[Block] = [Title(head)]
    if rows:
        blocks.append(Table(columns("client", "server", "transport", "file", "", left=5), rows))
    blocks += [Items(notes, "yellow"), problem_items(listing.problems)]
    return [*blocks, Line(("Next: ", Code("tdqs-mcp score --installed")), "dim")] if rows else blocks


def installed_blocks(report: InstalledReport) -> list[Block]:
    """The servers, the lowest score first; what each client shows of them together; why servers have no score."""
    scored = [row for row in report.lowest_first if row.score]
    heads = columns("client", "server", "tools", "tokens", "overall", "lowest", left=2)
    blocks: list[Block] = [
        Title(f"{count_words(len(report.servers), 'installed server')}, {len(scored)} scored"),
        Table(heads, list(map(_cells, report.lowest_first))),
    ]
    for client in report.clients:
        blocks += _together(client)
    reasons = []
    for row in report.servers:
        if row.reason:
            # "config:cursor/db: it has no command": the reason of a capture begins with the name already
            reason = row.reason if row.reason.startswith("config:") else f"{row.server.id}: {row.reason}"
            reasons.append(Span(reason, _STYLES[row.standing]))
    reasons += [Span(f"{row.server.id}: {row.incomplete}", "yellow") for row in report.servers if row.incomplete]
    if reasons:
        blocks += [Heading("Without a score"), Items(reasons)]
    with_score = [row.server for row in report.servers if row.score]
    unresolved = [f"{server.id}: {note}" for server in with_score for note in server.unresolved]
    blocks.append(problem_items([*unresolved, *report.problems]))
    if scored:
        worst = shlex.quote(scored[0].server.locator_name)
        blocks.append(Line(("Next: ", Code(f"tdqs-mcp score {worst}")), "dim"))
    return blocks


def _cells(row: InstalledScore) -> tuple[Words, ...]:
    size = ("", "") if row.tokens is None else (str(row.tool_count), f"{row.tokens:,}")
    if row.score:
        rollup = row.score.rollup
        return (row.server.client, row.server.name, *size, number(rollup.overall), number(rollup.min_tdqs))
    status = f"as {row.same_as}" if row.same_as else row.standing.value
    return (row.server.client, row.server.name, *size, Span(status, _STYLES[row.standing]), "")


def _together(client: ClientSet) -> list[Block]:
    counts = f"{count_words(len(client.servers), 'server')}, {count_words(client.tool_count, 'tool')}"
    limit = client.tool_limit
    lines: list[Words] = []
    if limit and client.tool_count > limit:
        lines.append(Span(f"more tools than the {limit} that it takes", "red"))
    lines += [Span(f"one name for tools of {names}", "red") for names in _by_servers(client.collisions)]
    alike = "told apart by the server's name alone: tools of"
    lines += [Span(f"{alike} {names}", "yellow") for names in _by_servers(client.same_names)]
    pairs = [
        f"{first.server}/{first.tool} and {second.server}/{second.tool}"
        for first, second in ((overlap.first, overlap.second) for overlap in client.overlaps)
    ]
    if pairs:
        lines.append(Span(f"says the same: {first_of(pairs, MAX_SHOWN, separator='; ')}", "yellow"))
    return [Heading(f"{client.title}: {counts}, about {client.tokens:,} tokens together"), Items(lines)]


def _by_servers(shared: Sequence[SharedName]) -> list[str]:
    """The names that the same servers share, once for those servers."""
    names: dict[str, list[str]] = {}
    for overlap in shared:
        servers = first_of(list(dict.fromkeys(place.server for place in overlap.tools)), MAX_SHOWN)
        names.setdefault(servers, []).append(overlap.tools[0].tool)
    return [f"{servers}: {first_of(name, MAX_SHOWN)}" for servers, name in names.items()]


MAX_LINES = 10
"""Changed servers, and problems, that a terminal shows; JSON has more."""


def sweep_blocks(report: SweepReport, *, statistics: str) -> list[Block]:
    """Return what was read and scored, what it cost, and what to do next."""
    rate = f", {report.tools * 1000 // max(1, report.seconds):,} tools/s" if report.tools else ""
    cost = f" · {count_words(report.requests, 'request')}, {price(report.cost)}" if report.requests else ""
    tools = count_words(report.tools, "tool")
    judged = f" ({report.judged:,} judged now)" if report.tools else ""
    new = f" · {report.new:,} new, {len(report.changed):,} changed" if report.scored else ""
    new += f" · {report.gone:,} gone" if report.gone else ""
    named = "" if report.rubric == "tdqs" else f" --method {report.method}"
    standard = f"TDQS {report.spec_version}" if report.rubric == "tdqs" else f"rubric {report.rubric}"
    blocks: list[Block] = [
        Title((f"{report.store} · ", Span(count_words(report.servers, "server"), "bold"))),
        Line(f"judge {judge_words(report.judge)} · {standard}", "dim"),
        Line(f"{report.unchanged:,} unchanged · {report.scored:,} scored with {tools}{judged}{new}"),
        Line(f"{report.seconds / 1000:,.1f} s{rate}{cost}"),
    ]
    if report.changed:
        rows = [(change.server, number(change.before), number(change.after)) for change in report.changed]
        blocks += [Gap(), Table(columns("changed", "before", "after"), rows, limit=MAX_LINES, more="more servers")]
    if report.ungraded:
        suspicious = f"; of them {report.held:,} held as suspicious" if report.held else ""
        blocks.append(Line(f"{report.ungraded:,} without a verdict: the next sweep asks again{suspicious}", "yellow"))
    if report.problem_count:
        more = report.problem_count - MAX_LINES
        rest = [f"... and {count_words(more, 'more problem')}"] if more > 0 else []
        lines = Items([*report.problems[:MAX_LINES], *rest], indent=2)
        blocks += [Line(count_words(report.problem_count, "problem"), "yellow"), lines]
    return [*blocks, Gap(), Line(("Next: ", Code(f"{statistics}{named}")))] if report.servers else blocks


def statistics_blocks(statistics: Statistics | LabelStatistics, *, command: str) -> list[Block]:
    """The tables of TDQS's "in practice", or of the paper on smells, over a store that `command` asks."""
    if isinstance(statistics, LabelStatistics):
        return _label_blocks(statistics)
    methods = ", ".join(f"{method.key} ({method_words(method)})" for method in statistics.other_methods)
    other_methods = ("The store has other methods too, shown with ", Code("--method"), f": {methods}")
    return [
        Title(f"{statistics.servers:,} servers · {statistics.tools:,} tools · {method_words(statistics.method)}"),
        Line(scored_words(statistics)),
        *([Line(other_methods, "dim")] if methods else []),
        *statistics_tables(statistics),
        _next(statistics.current, command),
    ]


def _label_blocks(statistics: LabelStatistics) -> list[Block]:
    """How widespread smells are, which tools have none (Table 2), and official against community servers (Table 3)."""
    free = [(", ".join(row.dimensions), _share(row.tools)) for row in statistics.smell_free]
    blocks: list[Block] = [
        Title(f"{statistics.servers:,} servers · {statistics.tools:,} tools · {method_words(statistics.method)}"),
        Line(f"scored: {statistics.scored_tools.count:,} tools ({_percent(statistics.scored_tools)})"),
        _dimensions(statistics.dimensions),
        Heading("Without a smell"),
        Table(columns("dimensions", "tools"), free),
    ]
    if statistics.maintainers:
        rows: list[tuple[Words, ...]] = [
            (key, number(test.official), number(test.community), *_figures(test))
            for key, test in statistics.maintainers.items()
        ]
        counts = f"{statistics.official_servers:,} official and {statistics.community_servers:,} community servers"
        heads = columns("dimension", "official", "community", "U", "p", "p, Bonferroni")
        blocks += [Heading(f"{counts}, by the medians of their tools (Mann-Whitney)"), Table(heads, rows)]
        if any(test.p_value is None for test in statistics.maintainers.values()):
            blocks.append(Line(("The test needs ", Code("pip install '.[study]'")), "dim"))
    return [*blocks, *_ungraded(statistics.ungraded)]


def _figures(test: MaintainerTest) -> tuple[str, ...]:
    return tuple(
        "-" if figure is None else f"{figure:,.4g}" for figure in (test.statistic, test.p_value, test.adjusted)
    )


def scored_words(statistics: Statistics) -> str:
    """How much of the store has scores."""
    tools, servers = statistics.scored_tools, statistics.scored_servers
    return f"scored: {tools.count:,} tools ({_percent(tools)}), {servers.count:,} servers ({_percent(servers)})"


def statistics_tables(statistics: Statistics) -> list[Block]:
    """The numbers alone."""
    tools, versions, servers = statistics.current, statistics.versions, statistics.server_scores
    if not tools.tdqs.count:
        return _ungraded(statistics.ungraded)
    superseded = f"with superseded versions, {versions.tdqs.count:,} definitions: {_tools(versions)}"
    return [
        Heading("Tools"),
        Line(_tools(tools)),
        *([] if versions.tdqs.count == tools.tdqs.count else [Line(superseded)]),
        _tiers(tools.tiers, servers.tiers if servers.overall.count else None),
        _dimensions(tools.dimensions),
        Items([f"{flag.value}: {_share(share)}" for flag, share in tools.flags.items() if share.count]),
        *_servers(statistics),
        *_ungraded(statistics.ungraded),
    ]


def comparison_blocks(comparison: MethodComparison) -> list[Block]:
    """How far two methods agree, and on which tools least."""
    if not comparison.tools:
        return [Line("no tool has scores by both methods")]
    sign = "+" if (comparison.difference or 0) > 0 else ""
    dimensions = [(key.replace("_", " "), _share(share)) for key, share in comparison.dimensions.items()]
    blocks: list[Block] = [
        Title(f"{count_words(comparison.tools, 'tool')} by two methods"),
        Items([f"first: {method_words(comparison.first)}", f"second: {method_words(comparison.second)}"]),
        Line(f"same TDQS: {_share(comparison.same_score)}; same tier: {_share(comparison.same_tier)}"),
        Line(
            f"second less first: {sign}{_mean(comparison.difference)}; apart on average: {_mean(comparison.distance)}"
        ),
        Table(columns("dimension", "same score"), dimensions),
    ]
    if comparison.tier_changes:
        changes = [(f"{change.before} to {change.after}", f"{change.count:,}") for change in comparison.tier_changes]
        blocks += [Heading("Tiers that change"), Table(columns("tier", "tools"), changes)]
    if comparison.biggest:
        pairs = [(pair.tool, pair.server, number(pair.before), number(pair.after)) for pair in comparison.biggest]
        blocks += [Heading("Biggest differences"), Table(columns("tool", "server", "first", "second", left=2), pairs)]
    return blocks


def trend_blocks(trend: Trend) -> list[Block]:
    """A row for each finished sweep."""
    heads = columns("sweep", "servers", "tools", "mean TDQS", "mean overall", "tier B and above", "changed", "cost")
    rows = [
        (
            run.finished_at.replace("T", " ").removesuffix("Z"),
            f"{run.servers:,}",
            f"{run.tools:,}",
            _mean(run.tdqs),
            _mean(run.overall),
            _percent(run.passing),
            f"{run.changed or 0:,}",
            price(run.cost) if run.requests else "",
        )
        for run in trend.runs
    ]
    return [Title(f"{count_words(len(rows), 'sweep')} · {method_words(trend.method)}"), Table(heads, rows)]


def change_blocks(changes: StoreChanges) -> list[Block]:
    """A row for each server that is new, changed or gone."""
    rows = [
        (event.at, event.kind, event.server, number(event.before), number(event.after)) for event in changes.changes
    ]
    last = f", the last {len(rows):,} listed" if len(rows) < changes.change_count else ""
    head = f"{count_words(changes.change_count, 'change')} since {changes.since}{last} · {method_words(changes.method)}"
    return [Title(head), Table(columns("at", "change", "server", "before", "after", left=3), rows)]


def change_feed(changes: StoreChanges, *, address: str = "") -> str:
    """Return the changes as an Atom feed; `address` is where the dashboard is."""
    feed = ET.Element("feed", xmlns="http://www.w3.org/2005/Atom")

    def add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> None:
        ET.SubElement(parent, name, attributes).text = readable(text) or None

    add(feed, "id", f"urn:tdqs:{changes.method.key}")
    add(feed, "title", f"Tool definitions: {method_words(changes.method)}")
    add(feed, "updated", changes.changes[0].at if changes.changes else changes.since)
    for event in changes.changes:
        entry = ET.SubElement(feed, "entry")
        scores = ", ".join(
            f"{name} {score_words(score)}" for name, score in (("before", event.before), ("now", event.after))
        )
        add(entry, "id", f"urn:tdqs:{changes.method.key}:{event.at}:{quote(event.server, safe='')}")
        add(entry, "title", f"{event.server} {'is ' if event.kind != 'changed' else 'has '}{event.kind}")
        add(entry, "updated", event.at)
        add(entry, "summary", scores)
        add(entry, "link", href=f"{address}/server?name={quote(event.server, safe='')}")
    return ET.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"


def metrics_text(statistics: Statistics, last: RunSummary, *, finished: float) -> str:
    """The numbers of the newest sweep, which ended at a Unix time, as Prometheus reads them; none that is unknown."""
    hundredths = {"tdqs_mean": statistics.current.tdqs.mean, "overall_mean": statistics.server_scores.overall.mean}
    values: dict[str, Mapping[str, float | None]] = {
        "servers": {"": statistics.servers},
        "tools": {"": statistics.tools},
        "tools_ungraded": {"": statistics.ungraded.tools},
        **{name: {"": None if mean is None else mean / 100} for name, mean in hundredths.items()},
        "tools_by_tier": {f'{{tier="{tier}"}}': share.count for tier, share in statistics.current.tiers.items()},
        "sweep_finished_seconds": {"": finished},
        "sweep_requests": {"": last.requests},
        "sweep_cost_dollars": {"": None if last.cost is None else last.cost / 10**9},
    }
    lines = []
    for name, samples in values.items():
        lines.append(f"# TYPE tdqs_{name} gauge")
        lines += [f"tdqs_{name}{labels} {value:.15g}" for labels, value in samples.items() if value is not None]
    return "\n".join([*lines, ""])


def flat_rows(results: Iterable[Any]) -> Iterator[dict[str, object]]:
    """Results as rows of a table: `scores.purpose_clarity` is a column, and lists are one text."""
    for result in results:
        row: dict[str, object] = {}
        for key, value in document(result).items():
            if isinstance(value, Mapping):
                row |= {f"{key}.{name}": member for name, member in value.items()}
            else:
                row[key] = "; ".join(map(str, value)) if isinstance(value, list) else value
        yield row


def standing_blocks(server: StoredServer, *, command: str) -> list[Block]:
    """Return one server's numbers, and how many others score lower; `command` asks the store."""
    standing, percentiles = server.standing, server.percentiles
    rollup = standing.rollup
    parts = ("   descriptions ", number(rollup.description_quality), "   coherence ", number(rollup.coherence))
    no_place = "no comparison: it has no overall score, or no peer"
    score = (Code("tdqs-mcp score"), f" {shlex.quote(server.source or '')} says what to fix first")
    return [
        Title(f"{standing.server} · {count_words(standing.tool_count, 'tool')} · {method_words(server.method)}"),
        Line(("overall ", number(rollup.overall), *parts)),
        Line(percentile_words(percentiles, "other servers") if percentiles else no_place),
        Line(("Next: ", *(score if server.source else (Code(command), " shows the whole store"))), "dim"),
    ]


def search_blocks(search: ToolSearch, *, command: str) -> list[Block]:
    """The matches with their scores; `command` asks the store."""
    tools = [match.tool for match in search.matches]
    if not tools:
        return [Line(f"no tool of the store has a word of {search.query!r}; try others")]
    heads, reasons = ("tool", "server", "TDQS"), any(tool.ungraded for tool in tools)
    rows: list[tuple[Words, ...]] = [
        (tool.tool, tool.server, number(tool.tdqs), *((tool.ungraded or "",) if reasons else ())) for tool in tools
    ]
    server = (Code(f"{command} --server"), f" {shlex.quote(tools[0].server)}")
    return [
        Title(f"{search.query!r} · {method_words(search.method)}"),
        Table(columns(*heads, *(("ungraded",) if reasons else ()), left=2), rows),
        Line(("Next: ", *server, " shows where this server stands"), "dim"),
    ]


def method_words(method: MethodStamp) -> str:
    """By which specification and judge scores are made."""
    return f"{method.standard} by {judge_words(method.judge)}"


def _share(share: Share) -> str:
    return f"{share.count:,} ({_percent(share)})"


def _percent(share: Share) -> str:
    return "-" if share.share is None else f"{share.share / 100:.2f}%"


def _mean(hundredths: int | None) -> str:
    return "-" if hundredths is None else f"{hundredths / 100:.2f}"


def _distribution(scores: Distribution) -> str:
    quartiles = (scores.p25, scores.median, scores.p75)
    return f"mean {_mean(scores.mean)}, quartiles {' / '.join('-' if q is None else str(q / 10) for q in quartiles)}"


def _tools(tools: ToolStatistics) -> str:
    return (
        f"{_distribution(tools.tdqs)}; {_percent(tools.passing)} pass (tier B and above), "
        f"{_percent(tools.any_smell)} have a smell"
    )


def _tiers(tools: Mapping[Tier, Share], servers: Mapping[Tier, Share] | None) -> Table:
    rows = [
        (tier, f"{share.count:,}", _percent(share), *((_share(servers[tier]),) if servers else ()))
        for tier, share in tools.items()
    ]
    return Table(columns("tier", "tools", "share", *(["servers"] if servers else [])), rows)


def _dimensions(dimensions: Mapping[str, DimensionStatistics]) -> Table:
    rows = [
        (key.replace("_", " "), _mean(dimension.mean), _share(dimension.smells))
        for key, dimension in dimensions.items()
    ]
    return Table(columns("dimension", "mean", "smells (below 3)"), rows)


def _servers(statistics: Statistics) -> list[Block]:
    servers = statistics.server_scores
    parts = ", ".join(f"{key.replace('_', ' ')} {_mean(mean)}" for key, mean in servers.coherence_dimensions.items())
    lines = [
        f"overall: {_distribution(servers.overall)}",
        f"descriptions: {_distribution(servers.description_quality)}",
        f"coherence: {_distribution(servers.coherence)} ({parts})",
    ]
    if servers.worst_tool_gap is not None:
        lines.append(
            f"lowest tool: {_mean(servers.worst_tool_gap)} below its server's mean on average, "
            f"a point or more in {_share(servers.with_worst_tool)} servers"
        )
    return [Heading("Servers"), Items(lines)]


def _ungraded(ungraded: UngradedStatistics) -> list[Block]:
    """Return what has no score, which no number above counts."""
    if not ungraded.tools and not ungraded.coherence:
        return []
    head = f"Ungraded, counted nowhere else: {ungraded.tools:,} tools, {ungraded.coherence:,} tool sets"
    reasons = [
        f"{reason.count:,}, such as {reason.name or 'the tool set'} of {reason.server}: {reason.reason}"
        for reason in ungraded.reasons
    ]
    rows = []
    for score in ungraded.held_scores:
        scores = f"{score_words(score.score)}, estimate {score_words(score.estimate)}"
        rows.append(f"held: {score.name or 'the tool set'} of {score.server}, {scores}")
    more = [f"{ungraded.held:,} held in all"] if ungraded.held > len(rows) else []
    rest = " in your own configuration makes the next sweep count its score"
    accept = ("Read a held definition. ", Code("[[accept]]"), rest)
    return [Heading(head), Items([*reasons, *rows, *more], "yellow"), *([Line(accept, "dim")] if rows else [])]


def _next(tools: ToolStatistics, command: str) -> Line:
    if not tools.tdqs.count:
        return Line("Next: sweep again; what has no score is asked about again", "dim")
    weakest = max(tools.dimensions, key=lambda key: tools.dimensions[key].smells.count)
    explain = (Code(f"tdqs-mcp rules {weakest}"), " is about the dimension with most smells; ")
    return Line(("Next: ", *explain, Code(f"{command} --format jsonl"), " lists every tool"), "dim")
