"""Bar charts as small SVG documents that need nothing else: no script, no style sheet, no font."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.statistics import Statistics
from tdqs_mcp.results.verdicts import Tier, tier_of

WIDTH, BAR, GAP, LABEL = 640, 20, 8, 215
"""Pixels: of a chart, of a bar's height, between bars, and left of them."""

HEAD, HISTOGRAM, TICK = 34, 120, 5
"""Pixels above the bars; height of the histogram; steps of 0.1 between its labels."""

MAX_LABEL = 28
"""Characters of a label."""

COLORS: Mapping[Tier, str] = {
    Tier.A: "#2e7d32",
    Tier.B: "#00838f",
    Tier.C: "#f9a825",
    Tier.D: "#c62828",
    Tier.F: "#6a1b9a",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: its length in any unit, and what is written beside it."""

    label: str
    length: int
    words: str
    tier: Tier


def statistics_svg(statistics: Statistics) -> str:
    """The charts of a store as a document."""
    return document(*statistics_charts(statistics), title="TDQS statistics")


def statistics_charts(statistics: Statistics) -> tuple[str, int]:
    """Tiers, the histogram of TDQS and the means of the dimensions, one below the other, and their height."""
    tools = statistics.current
    tiers = [
        Bar(label=tier.value, length=share.count, words=f"{share.count:,} ({(share.share or 0) / 100:.2f}%)", tier=tier)
        for tier, share in tools.tiers.items()
    ]
    means = [
        Bar(
            label=key.replace("_", " "), length=each.mean, words=f"{each.mean / 100:.2f}", tier=tier_of(each.mean // 10)
        )
        for key, each in tools.dimensions.items()
        if each.mean is not None
    ]
    charts = (
        bars("Tools by tier", tiers),
        histogram("Tools by TDQS", tools.histogram),
        bars("Mean scores", means, 500),
    )
    height = 0
    placed = []
    for chart, chart_height in charts:
        placed.append(f'<g transform="translate(0 {height})">{chart}</g>')
        height += chart_height
    return "".join(placed), height


def document(content: str, height: int, *, title: str) -> str:
    """A whole SVG document; the title is what a screen reader says."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" font-family="sans-serif" font-size="13"><title>{_text(title)}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{content}</svg>\n'
    )


def bars(title: str, entries: Sequence[Bar], full: int | None = None) -> tuple[str, int]:
    """Horizontal bars, `full` or the longest as wide as there is room, and the height of all."""
    room = WIDTH - LABEL - 150
    longest = full or max((each.length for each in entries), default=0) or 1
    parts = [_title(title)]
    for place, each in enumerate(entries):
        top = HEAD + place * (BAR + GAP)
        width, middle = room * each.length // longest, top + BAR - 5
        parts.append(
            f'<text x="{LABEL - 8}" y="{middle}" text-anchor="end">{_text(each.label)}</text>'
            f'<rect x="{LABEL}" y="{top}" width="{width}" height="{BAR}" fill="{COLORS[each.tier]}"/>'
            f'<text x="{LABEL + width + 6}" y="{middle}">{_text(each.words)}</text>'
        )
    return "".join(parts), HEAD + len(entries) * (BAR + GAP) + GAP


def histogram(title: str, counts: Sequence[int], lowest: int = 10) -> tuple[str, int]:
    """Upright bars of scores from `lowest` tenths on in steps of one, colored by tier, and their height."""
    step, most, floor = (WIDTH - 40) // max(1, len(counts)), max(counts, default=0) or 1, HEAD + HISTOGRAM
    parts = [_title(title)]
    for place, count in enumerate(counts):
        height, left, tenths = -(-HISTOGRAM * count // most), 20 + place * step, lowest + place
        if count:
            parts.append(
                f'<rect x="{left}" y="{floor - height}" width="{step - 2}" height="{height}" '
                f'fill="{COLORS[tier_of(tenths)]}"><title>{tenths / 10}: {count:,}</title></rect>'
            )
        if place % TICK == 0:
            parts.append(f'<text x="{left}" y="{floor + 16}" font-size="11">{tenths / 10}</text>')
    return "".join(parts), floor + 30


def _title(title: str) -> str:
    return f'<text x="8" y="22" font-weight="bold">{_text(title)}</text>'


def _text(text: str) -> str:
    """Text that is no markup and shows no control characters, cut where a label has no room."""
    line = printable(text)
    return escape(line if len(line) <= MAX_LABEL else f"{line[: MAX_LABEL - 1]}…")
