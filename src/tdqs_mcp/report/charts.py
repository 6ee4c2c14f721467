"""The trend and badges as small SVG documents that need nothing else: no script, no style sheet, no font."""

from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

from tdqs_mcp.report.blocks import score_words
from tdqs_mcp.report.escape import markdown, markup
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of

if TYPE_CHECKING:
    from tdqs_mcp.results.statistics import Trend  # a badge goes without a store

WIDTH, HEAD, GAP, RIGHT = 640, 34, 8, 90
"""Pixels of a chart: its width, the room above and below the lines, and right of them for names."""

COLORS = dict(zip(Tier, ("#2e7d32", "#00838f", "#f9a825", "#c62828", "#6a1b9a"), strict=True))


def trend_svg(trend: "Trend") -> str:
    """The trend of a store as a document."""
    return document(*trend_chart(trend), title="TDQS by sweep")


def trend_chart(trend: "Trend") -> tuple[str, int]:
    """Mean TDQS and mean overall score of each sweep as two lines from 1 to 5, and their height."""
    runs, height = trend.runs, 200
    step = (WIDTH - 40 - RIGHT) / max(1, len(runs) - 1)
    parts = ['<text x="8" y="22" font-weight="bold">Mean scores by sweep</text>']
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
        f'role="img" font-family="sans-serif" font-size="13"><title>{markup(title)}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>{content}</svg>\n'
    )


BADGE = "tool definitions"
"""Words of a badge before the score."""

HOME = "https://github.com/tdqs-mcp/tdqs-mcp"
"""Where a click on the badge leads."""

CHARACTER, MARGIN, THICKNESS = 6, 8, 20
"""Pixels of one character, on either side of a word, and of the whole."""

NO_SCORE = "#6e7781"
DARK, LIGHT = "#1b1f24", "#fff"
"""Text on a light and on a dark color."""


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
        f'<rect x="{left}" width="{right}" height="{THICKNESS}" fill="{NO_SCORE if tier is None else COLORS[tier]}"/>'
        f"{_word(BADGE, 0, LIGHT)}{_word(words, left, DARK if tier is Tier.C else LIGHT)}</g></svg>\n"
    )


def badge_line(score: ServerScore, file: PurePath) -> str:
    """Markdown that shows the badge's file."""
    words = _badge_words(score.rollup.overall, score.judge)
    return f"[![{BADGE}: {markdown(words)}]({quote(file.as_posix())})]({HOME})"


def _badge_words(overall: int | None, judge: JudgeStamp) -> str:
    return f"{score_words(overall)}{' estimate' if judge.is_offline and overall is not None else ''}"


def _word(words: str, left: int, color: str) -> str:
    """The words, as wide as their characters count whatever the font."""
    width = CHARACTER * len(words)
    return f'<text x="{left + MARGIN}" y="14" textLength="{width}" fill="{color}">{words}</text>'
