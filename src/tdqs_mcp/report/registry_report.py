"""For people: what a sweep of a registry did."""

from tdqs_mcp.report.blocks import Block, Code, Gap, Items, Line, Span, Title, judge_words
from tdqs_mcp.report.documents import price
from tdqs_mcp.results.registry import SweepReport

MAX_LINES = 10
"""Problems that a terminal shows; JSON has more."""


def sweep_blocks(report: SweepReport, *, statistics: str) -> list[Block]:
    """What was read and scored, what it cost, and what to do next."""
    rate = f", {report.tools * 1000 // max(1, report.seconds):,} tools/s" if report.tools else ""
    cost = f" · {report.requests:,} requests, {price(report.cost)}" if report.requests else ""
    asked = f" ({report.asked:,} judged, {report.tools - report.asked:,} known)" if report.tools else ""
    blocks: list[Block] = [
        Title((f"{report.store} · ", Span(f"{report.servers:,} servers", "bold"))),
        Line(f"judge {judge_words(report.judge)} · TDQS {report.spec_version}", "dim"),
        Line(f"{report.unchanged:,} unchanged · {report.scored:,} scored with {report.tools:,} tools{asked}"),
        Line(f"{report.seconds / 1000:,.1f} s{rate}{cost}"),
    ]
    if report.ungraded:
        held = f"; of them {report.held:,} held as suspicious" if report.held else ""
        blocks.append(Line(f"{report.ungraded:,} without a verdict: the next sweep asks again{held}", "yellow"))
    if report.problem_count:
        more = report.problem_count - MAX_LINES
        lines = [(f"! {problem}", "yellow") for problem in report.problems[:MAX_LINES]]
        blocks.append(Items(lines + ([(f"... and {more:,} more problems", "yellow")] if more > 0 else [])))
    return [*blocks, Gap(), Line(("Next: ", Code(statistics)))]
