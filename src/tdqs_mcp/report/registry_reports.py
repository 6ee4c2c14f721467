"""For people: what a sweep of a registry did, and what its store holds: statistics, one server, what a query finds."""

import shlex
from collections.abc import Mapping, Sequence

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
    score_words,
)
from tdqs_mcp.report.documents import price
from tdqs_mcp.results.statistics import (
    Distribution,
    GroupStatistics,
    HeldScore,
    MethodStamp,
    Share,
    SizeRange,
    Standing,
    Statistics,
    ToolSearch,
    ToolStatistics,
    UngradedStatistics,
)
from tdqs_mcp.results.sweeps import SweepReport
from tdqs_mcp.results.verdicts import Tier

MAX_LINES = 10
"""Changed servers, and problems, that a terminal shows; JSON has more."""


def sweep_blocks(report: SweepReport, *, statistics: str) -> list[Block]:
    """What was read and scored, what it cost, and what to do next."""
    rate = f", {report.tools * 1000 // max(1, report.seconds):,} tools/s" if report.tools else ""
    cost = f" · {count_words(report.requests, 'request')}, {price(report.cost)}" if report.requests else ""
    tools = count_words(report.tools, "tool")
    asked = f" ({report.asked:,} judged, {report.tools - report.asked:,} known)" if report.tools else ""
    new = f" · {report.new:,} new, {len(report.changed):,} changed" if report.scored else ""
    blocks: list[Block] = [
        Title((f"{report.store} · ", Span(count_words(report.servers, "server"), "bold"))),
        Line(f"judge {judge_words(report.judge)} · TDQS {report.spec_version}", "dim"),
        Line(f"{report.unchanged:,} unchanged · {report.scored:,} scored with {tools}{asked}{new}"),
        Line(f"{report.seconds / 1000:,.1f} s{rate}{cost}"),
    ]
    if report.changed:
        rows = [(each.server, number(each.before), number(each.after)) for each in report.changed]
        blocks += [Gap(), Table(columns("changed", "before", "after"), rows, shown=MAX_LINES, more="more servers")]
    if report.ungraded:
        held = f"; of them {report.held:,} held as suspicious" if report.held else ""
        blocks.append(Line(f"{report.ungraded:,} without a verdict: the next sweep asks again{held}", "yellow"))
    if report.problem_count:
        more = report.problem_count - MAX_LINES
        lines = [(problem, "") for problem in report.problems[:MAX_LINES]]
        more_lines = [(f"... and {count_words(more, 'more problem')}", "")] if more > 0 else []
        blocks += [Line(count_words(report.problem_count, "problem"), "yellow"), Items(lines + more_lines, indent=2)]
    return [*blocks, Gap(), Line(("Next: ", Code(statistics)))] if report.servers else blocks


def statistics_blocks(statistics: Statistics, *, command: str) -> list[Block]:
    """The tables of TDQS's "in practice" and the paper's Table 2, over a store that `command` asks."""
    return [
        Title(f"{statistics.servers:,} servers · {statistics.tools:,} tools · {method_words(statistics.method)}"),
        Line(scored_words(statistics)),
        *_others(statistics),
        *statistics_tables(statistics),
        *_next(statistics.current, command),
    ]


def scored_words(statistics: Statistics) -> str:
    """How much of the store has scores."""
    tools, servers = statistics.scored_tools, statistics.scored_servers
    return f"scored: {tools.count:,} tools ({_percent(tools)}), {servers.count:,} servers ({_percent(servers)})"


def statistics_tables(statistics: Statistics) -> list[Block]:
    """The numbers alone."""
    tools, servers = statistics.current, statistics.server_scores
    if not tools.tdqs.count:
        return _ungraded(statistics.ungraded)
    return [
        Heading("Tools"),
        Line(_tools(tools)),
        *_versions(statistics),
        _tiers(tools.tiers, servers.tiers if servers.overall.count else None),
        _dimensions(tools),
        Items([(f"{flag.value}: {_share(share)}", "") for flag, share in tools.flags.items() if share.count]),
        *_servers(statistics),
        *_sizes(statistics.sizes),
        *_groups(statistics.groups),
        *_ungraded(statistics.ungraded),
    ]


def standing_blocks(standing: Standing, *, command: str) -> list[Block]:
    """One server's numbers, and how many others score lower; `command` asks the store."""
    parts = ("   descriptions ", number(standing.description_quality), "   coherence ", number(standing.coherence))
    known = standing.percentiles
    place = percentile_words(known, "other servers") if known else "no comparison: it has no overall score, or no peer"
    score = (Code("tdqs-mcp score"), f" {shlex.quote(standing.source or '')} says what to fix first")
    more = score if standing.source else (Code(command), " shows the whole store")
    return [
        Title(f"{standing.server} · {count_words(standing.tool_count, 'tool')} · {method_words(standing.method)}"),
        Line(("overall ", number(standing.overall), *parts)),
        Line(place),
        Line(("Next: ", *more), "dim"),
    ]


def search_blocks(found: ToolSearch, *, command: str) -> list[Block]:
    """The matches with their scores; `command` asks the store."""
    tools = [each.tool for each in found.matches]
    if not tools:
        return [Line(f"no tool of the store has a word of {found.query!r}; try others")]
    heads, reasons = ("tool", "server", "TDQS"), any(each.ungraded for each in tools)
    rows: list[tuple[Words, ...]] = [
        (each.tool, each.server, number(each.tdqs), *((each.ungraded or "",) if reasons else ())) for each in tools
    ]
    server = (Code(f"{command} --server"), f" {shlex.quote(tools[0].server)}")
    return [
        Title(f"{found.query!r} · {method_words(found.method)}"),
        Table(columns(*heads, *(("ungraded",) if reasons else ()), left=2), rows),
        Line(("Next: ", *server, " shows where this server stands"), "dim"),
    ]


def method_words(method: MethodStamp) -> str:
    """By which specification and judge scores are made."""
    return f"TDQS {method.spec_version} by {judge_words(method.judge)}"


def _share(share: Share) -> str:
    return f"{share.count:,} ({_percent(share)})"


def _percent(share: Share) -> str:
    return "-" if share.share is None else f"{share.share / 100:.2f}%"


def _mean(hundredths: int | None) -> str:
    return "-" if hundredths is None else f"{hundredths / 100:.2f}"


def _distribution(scores: Distribution) -> str:
    quartiles = (scores.p25, scores.median, scores.p75)
    return f"mean {_mean(scores.mean)}, quartiles {' / '.join('-' if q is None else str(q / 10) for q in quartiles)}"


def _others(statistics: Statistics) -> list[Block]:
    listed = [f"{each.key} ({method_words(each)})" for each in statistics.other_methods]
    if not listed:
        return []
    return [Line(("The store has other methods too, shown with ", Code("--method"), f": {', '.join(listed)}"), "dim")]


def _tools(tools: ToolStatistics) -> str:
    return (
        f"{_distribution(tools.tdqs)}; {_percent(tools.passing)} pass (tier B and above), "
        f"{_percent(tools.any_smell)} have a smell"
    )


def _versions(statistics: Statistics) -> list[Block]:
    versions = statistics.versions
    if versions.tdqs.count == statistics.current.tdqs.count:
        return []
    return [Line(f"with superseded versions, {versions.tdqs.count:,} definitions: {_tools(versions)}")]


def _tiers(tools: Mapping[Tier, Share], servers: Mapping[Tier, Share] | None) -> Table:
    rows = [
        (tier, f"{share.count:,}", _percent(share), *((_share(servers[tier]),) if servers else ()))
        for tier, share in tools.items()
    ]
    return Table(columns("tier", "tools", "share", *(["servers"] if servers else [])), rows)


def _dimensions(tools: ToolStatistics) -> Table:
    """With Table 2's chain of combinations: each row adds its dimension to those above it."""
    keys = list(tools.dimensions)
    free = {each.dimensions: each.tools for each in tools.smell_free}
    rows = [
        (
            key.replace("_", " "),
            _mean(each.mean),
            _share(each.smells),
            _share(free[(key,)]),
            _share(free[tuple(keys[: place + 1])]),
        )
        for place, (key, each) in enumerate(tools.dimensions.items())
    ]
    return Table(columns("dimension", "mean", "smells (below 3)", "smell-free", "with all above"), rows)


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
    return [Heading("Servers"), Items([(line, "") for line in lines])]


def _sizes(sizes: Sequence[SizeRange]) -> list[Block]:
    rows = [(_range(each), f"{each.tools:,}", _mean(each.mean)) for each in sizes]
    return [Heading("Score against definitionBytes"), Table(columns("bytes", "tools", "mean TDQS"), rows)]


def _range(size: SizeRange) -> str:
    return f"{size.min_bytes:,} and more" if size.max_bytes is None else f"{size.min_bytes:,} - {size.max_bytes:,}"


def _groups(groups: Mapping[str, GroupStatistics]) -> list[Block]:
    if set(groups) <= {"unknown"}:
        return []
    rows = [
        (name, f"{each.servers:,}", _mean(each.overall), f"{each.tools:,}", _mean(each.tdqs), _percent(each.any_smell))
        for name, each in groups.items()
    ]
    heads = columns("maintainer", "servers", "mean overall", "tools", "mean TDQS", "with a smell")
    return [Heading("Official and community"), Table(heads, rows)]


def _ungraded(ungraded: UngradedStatistics) -> list[Block]:
    """What has no score, which no number above counts."""
    if not ungraded.tools and not ungraded.coherence:
        return []
    head = f"Ungraded, counted nowhere else: {ungraded.tools:,} tools, {ungraded.coherence:,} tool sets"
    reasons = [
        (f"{each.count:,}, such as {each.name or 'the tool set'} of {each.server}: {each.reason}", "yellow")
        for each in ungraded.reasons
    ]
    held = [
        (f"held: {each.name or 'the tool set'} of {each.server}, {_held(each)}", "yellow")
        for each in ungraded.held_scores
    ]
    more = [(f"{ungraded.held:,} held in all", "yellow")] if ungraded.held > len(held) else []
    accept = (
        "Read a held definition. ",
        Code("[[accept]]"),
        " in your own configuration makes the next sweep count its score",
    )
    return [Heading(head), Items([*reasons, *held, *more]), *([Line(accept, "dim")] if held else [])]


def _held(held: HeldScore) -> str:
    return f"{score_words(held.score)}, estimate {score_words(held.estimate)}"


def _next(tools: ToolStatistics, command: str) -> list[Block]:
    if not tools.tdqs.count:
        return [Line("Next: sweep again; what has no score is asked about again", "dim")]
    weakest = max(tools.dimensions, key=lambda key: tools.dimensions[key].smells.count)
    explain = (Code(f"tdqs-mcp explain {weakest}"), " is about the dimension with most smells; ")
    return [Line(("Next: ", *explain, Code(f"{command} --format jsonl"), " lists every tool"), "dim")]
