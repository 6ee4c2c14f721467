"""A server's score as a badge: a small SVG that needs nothing else, and the line that shows it in a README."""

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from tdqs_mcp.report.blocks import score_words
from tdqs_mcp.report.charts import COLORS
from tdqs_mcp.report.escape import markdown, markup
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import Tier, tier_of

LABEL = "tool definitions"
HOME = "https://github.com/tdqs-mcp/tdqs-mcp"
"""Where a click on the badge leads."""

CHARACTER, MARGIN, HEIGHT = 6, 8, 20
"""Pixels of one character, on either side of a word, and of the whole."""

NO_SCORE = "#6e7781"
DARK, LIGHT = "#1b1f24", "#fff"
"""Text on a light and on a dark color."""


def badge_svg(score: ServerScore) -> str:
    """The badge of a score."""
    return draw_badge(score.server, score.rollup.overall)


def shields_badge(overall: int | None) -> dict[str, Any]:
    """What the endpoint badge of shields.io asks for."""
    return {"schemaVersion": 1, "label": LABEL, "message": score_words(overall), "color": _color(overall)}


def draw_badge(server: str, overall: int | None) -> str:
    """The badge of an overall score; a text reader says the server's name too."""
    words, tier = score_words(overall), None if overall is None else tier_of(overall)
    left, right = (CHARACTER * len(text) + 2 * MARGIN for text in (LABEL, words))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img">'
        f"<title>{markup(f'{server}: {LABEL} {words}')}</title>"
        f'<clipPath id="c"><rect width="{left + right}" height="{HEIGHT}" rx="4"/></clipPath>'
        f'<g clip-path="url(#c)" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">'
        f'<rect width="{left}" height="{HEIGHT}" fill="#3d444d"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{_color(overall)}"/>'
        f"{_text(LABEL, 0, LIGHT)}{_text(words, left, DARK if tier is Tier.C else LIGHT)}</g></svg>\n"
    )


def badge_line(score: ServerScore, file: PurePath) -> str:
    """Markdown that shows the badge's file."""
    return f"[![{LABEL}: {markdown(score_words(score.rollup.overall))}]({quote(file.as_posix())})]({HOME})"


def _color(overall: int | None) -> str:
    return NO_SCORE if overall is None else COLORS[tier_of(overall)]


def _text(words: str, left: int, color: str) -> str:
    """The words, as wide as their characters count whatever the font."""
    width = CHARACTER * len(words)
    return f'<text x="{left + MARGIN}" y="14" textLength="{width}" fill="{color}">{words}</text>'
