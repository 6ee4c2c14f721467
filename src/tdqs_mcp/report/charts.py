"""Bar charts and badges as small SVG documents that need nothing else: no script, no style sheet, no font."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tdqs_mcp.report.blocks import score_words
from tdqs_mcp.report.escape import markdown, markup, printable
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of

if TYPE_CHECKING:
    from tdqs_mcp.results.statistics import Statistics, Trend  # a badge goes without a store

WIDTH, BAR, GAP, LABEL = 640, 20, 8, 215
"""Pixels: of a chart, of a bar's height, between bars, and left of them."""

HEAD, HISTOGRAM, TICK, RIGHT = 34, 120, 5, 90
"""Pixels above the bars; height of the histogram; steps of 0.1 between its labels; room right of lines for names."""

MAX_LABEL = 28
"""Characters of a label."""

COLORS = dict(zip(Tier, ("#2e7d32", "#00838f", "#f9a825", "#c62828", "#6a1b9a"), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar: its length in any unit, and what is written beside it."""

    label: str
    length: int
    words: str
    tier: Tier


def statistics_svg(statistics: "Statistics") -> str:
    """The charts of a store as a document."""
    return document(*statistics_charts(statistics), title="TDQS statistics")


def statistics_charts(statistics: "Statistics") -> tuple[str, int]:
    """Tiers, the histogram of TDQS and the means of the dimensions, one below the other, and their height."""
    tools = statistics.current
    tiers = [
        Bar(label=tier.value, length=share.count, words=f"{share.count:,} ({(share.share or 0) / 100:.2f}%)", tier=tier)
        for tier, share in tools.tiers.items()
    ]
    means = [
        Bar(
            label=key.replace("_", " "),
            length=dimension.mean,
            words=f"{dimension.mean / 100:.2f}",
            tier=tier_of(dimension.mean // 10),
        )
        for key, dimension in tools.dimensions.items()
        if dimension.mean is not None
    ]
    height = 0
    placed = []
    histogram_of_tools = histogram("Tools by TDQS", tools.histogram)
    for chart, chart_height in (bars("Tools by tier", tiers), histogram_of_tools, bars("Mean scores", means, 500)):
        placed.append(f'<g transform="translate(0 {height})">{chart}</g>')
        height += chart_height
    return "".join(placed), height


def trend_svg(trend: "Trend") -> str:
    """The trend of a store as a document."""
    return document(*trend_chart(trend), title="TDQS by sweep")


def trend_chart(trend: "Trend") -> tuple[str, int]:
    """Mean TDQS and mean overall score of each sweep as two lines from 1 to 5, and their height."""
    runs, height = trend.runs, 200
    step = (WIDTH - 40 - RIGHT) / max(1, len(runs) - 1)
    parts = [_title("Mean scores by sweep")]
    for points in range(1, 6):
        top = HEAD + height * (5 - points) // 4
        parts.append(f'<text x="12" y="{top + 4}">{points}</text><path d="M30 {top}H{WIDTH - RIGHT}" stroke="#ccc"/>')
    lines = (
        ("TDQS", Tier.B, "none", [run.tdqs for run in runs]),
        ("overall", Tier.D, "6 3", [run.overall for run in runs]),
    )
    for number, (name, tier, dashes, means) in enumerate(lines):
        places = [
            (30 + round(place * step), HEAD + height * (500 - mean) // 400)
            for place, mean in enumerate(means)
            if mean is not None
        ]
        line, color = " ".join(f"{left},{top}" for left, top in places), f'"{COLORS[tier]}" stroke-dasharray="{dashes}"'
        key = HEAD + 24 * number
        parts.append(f'<polyline points="{line}" fill="none" stroke={color} stroke-width="2"/>')
        parts += [f'<circle cx="{left}" cy="{top}" r="3" fill={color}/>' for left, top in places]
        parts.append(f'<path d="M{WIDTH - RIGHT + 6} {key}h24" stroke={color} stroke-width="2"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 36}" y="{key + 4}">{name}</text>')
    bottom = HEAD + height + 22
    if runs:
        parts.append(f'<text x="30" y="{bottom}">{runs[0].finished_at[:10]}</text>')
        parts.append(f'<text x="{WIDTH - RIGHT}" y="{bottom}" text-anchor="end">{runs[-1].finished_at[:10]}</text>')
    return "".join(parts), bottom + GAP


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
    longest = full or max((entry.length for entry in entries), default=0) or 1
    parts = [_title(title)]
    for place, entry in enumerate(entries):
        top = HEAD + place * (BAR + GAP)
        width, middle = room * entry.length // longest, top + BAR - 5
        parts.append(
            f'<text x="{LABEL - 8}" y="{middle}" text-anchor="end">{_text(entry.label)}</text>'
            f'<rect x="{LABEL}" y="{top}" width="{width}" height="{BAR}" fill="{COLORS[entry.tier]}"/>'
            f'<text x="{LABEL + width + 6}" y="{middle}">{_text(entry.words)}</text>'
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


BADGE = "tool definitions"
"""Words of a badge before the score."""

HOME = "https://github.com/tdqs-mcp/tdqs-mcp"
"""Where a click on the badge leads."""

CHARACTER, MARGIN, THICKNESS = 6, 8, 20
"""Pixels of one character, on either side of a word, and of the whole."""

NO_SCORE = "#6e7781"
DARK, LIGHT = "#1b1f24", "#fff"
"""Text on a light and on a dark color."""


def shields_badge(overall: int | None, judge: JudgeStamp) -> dict[str, Any]:
    """Return what the endpoint badge of shields.io asks for."""
    words = _badge_words(overall, judge)
    return {"schemaVersion": 1, "label": BADGE, "message": words, "color": _badge_color(overall)}


def draw_badge(server: str, overall: int | None, judge: JudgeStamp) -> str:
    """Return the badge of an overall score, which says if it is an estimate; its title names the server."""
    words, tier = _badge_words(overall, judge), None if overall is None else tier_of(overall)
    left, right = (CHARACTER * len(text) + 2 * MARGIN for text in (BADGE, words))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{THICKNESS}" role="img">'
        f"<title>{markup(f'{server}: {BADGE} {words}')}</title>"
        f'<clipPath id="c"><rect width="{left + right}" height="{THICKNESS}" rx="4"/></clipPath>'
        f'<g clip-path="url(#c)" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">'
        f'<rect width="{left}" height="{THICKNESS}" fill="#3d444d"/>'
        f'<rect x="{left}" width="{right}" height="{THICKNESS}" fill="{_badge_color(overall)}"/>'
        f"{_word(BADGE, 0, LIGHT)}{_word(words, left, DARK if tier is Tier.C else LIGHT)}</g></svg>\n"
    )


def badge_line(score: ServerScore, file: PurePath) -> str:
    """Markdown that shows the badge's file."""
    words = _badge_words(score.rollup.overall, score.judge)
    return f"[![{BADGE}: {markdown(words)}]({quote(file.as_posix())})]({HOME})"


def _badge_words(overall: int | None, judge: JudgeStamp) -> str:
    return f"{score_words(overall)}{' estimate' if judge.is_offline and overall is not None else ''}"


def _badge_color(overall: int | None) -> str:
    return NO_SCORE if overall is None else COLORS[tier_of(overall)]


def _word(words: str, left: int, color: str) -> str:
    """The words, as wide as their characters count whatever the font."""
    width = CHARACTER * len(words)
    return f'<text x="{left + MARGIN}" y="14" textLength="{width}" fill="{color}">{words}</text>'
