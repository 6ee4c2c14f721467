"""For people: what a sweep of a registry did."""

from tdqs_mcp.report.blocks import (
    Block,
    Code,
    Gap,
    Items,
    Line,
    Span,
    Table,
    Title,
    columns,
    count_words,
    judge_words,
    number,
)
from tdqs_mcp.report.documents import price
from tdqs_mcp.results.sweeps import SweepReport

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
