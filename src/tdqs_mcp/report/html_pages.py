"""HTML pages: every text is escaped here. A page is one file that loads nothing, or one of the dashboard's.

A browser refuses every other style, script and request: the policy of a file names the hashes of its own two, and the
dashboard serves its styles and scripts under their hashes. The page of a score shows the arithmetic, and each tool with
its reasons, its definition and what to fix.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tdqs_mcp.facts.schema.normal_form import types_of, values_of
from tdqs_mcp.facts.schema.signals import field_shares, output_schema_tokens
from tdqs_mcp.facts.schema.walk import TYPES, Node
from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.toolset.relations import OverlapKind
from tdqs_mcp.judges.offline import calibration
from tdqs_mcp.report.blocks import (
    Block,
    Items,
    Title,
    diff_runs,
    judge_words,
    named,
    percentile_words,
    plain_words,
    score_words,
    unjudged_words,
    word_parts,
)
from tdqs_mcp.report.escape import readable
from tdqs_mcp.report.improvement_reports import changed_words, value_text
from tdqs_mcp.report.score_report import uncertainty
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import Rewrite
from tdqs_mcp.results.scores import ServerScore, ToolScore
from tdqs_mcp.results.verdicts import Judgement, Tier, tier_of
from tdqs_mcp.rubrics.rubric import Dimension, load
from tdqs_mcp.scoring.score import common_findings, dimension_means, ordered_findings

_ASSETS = ("page.css", "page.js", "dashboard/dashboard.css", "dashboard/dashboard.js")
"""Styles and scripts that pages of the dashboard load."""


def as_html(blocks: Sequence[Block]) -> str:
    """The report as a page."""
    title = next((plain_words(block.words) for block in blocks if isinstance(block, Title)), "tdqs-mcp")
    return render_page("blocks.html.j2", title=title, blocks=blocks)


@cache
def card_page(name: str, *, title: str, version: str, meta: str) -> str:
    """A card in the chat, without data: the host of the chat hands it each result (MCP Apps, SEP-1865).

    `meta` is the key in a result's `_meta` of what only cards show.
    """
    inside = _inside(_source("page.css", "card.css"), _source("card.js", f"{name}_card.js"))
    return render_page("card.html.j2", title=title, version=version, meta=meta, tiers=list(Tier), **inside)


def render_page(template: str, **values: Any) -> str:  # noqa: ANN401  # what the template names
    """A template of this package with these values; `base` is what it extends, a file of its own unless given."""
    return _environment().get_template(template).render({"base": "page.html.j2", **values})


@cache
def assets() -> dict[str, str]:
    """Return what the dashboard serves beside its pages, by a name that changes with the content."""
    texts = {name.rpartition("/")[2]: _source(name) for name in _ASSETS}
    return {f"{sha256(text.encode()).hexdigest()[:16]}-{name}": text for name, text in texts.items()}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tdqs_mcp.report"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["block"] = lambda block, kind: kind in (base.__name__ for base in type(block).__mro__)
    environment.filters |= {"parts": word_parts, "runs": diff_runs}
    environment.globals |= _inside(_source("page.css"), _source("page.js"))
    environment.globals["assets"] = {name.partition("-")[2]: (name, _hash(text)) for name, text in assets().items()}
    environment.globals |= {"tier_of": tier_of, "dimensions": load("tdqs").dimensions}
    environment.globals["bars"] = lambda scores: _bars(tuple(scores))
    return environment


@cache
def _bars(scores: Sequence[int]) -> Markup:
    """Return six scores as bars, drawn once for the many tools that have the same."""
    titles = (dimension.title for dimension in load("tdqs").dimensions)
    label = ", ".join(f"{title} {score}" for title, score in zip(titles, scores, strict=True))
    drawn = "".join(
        f'<rect x="{10 * place}" y="{20 - 4 * score}" width="8" height="{4 * score}" rx="1.5" class="s{score}"/>'
        for place, score in enumerate(scores)
    )
    svg = f'<svg class="bars" viewBox="0 0 60 20" role="img" aria-label="{label}">\n{drawn}\n</svg>\n'
    return Markup(svg)  # noqa: S704  # ours


def _inside(style: str, script: str) -> dict[str, str]:
    """Return what a page has inside, and the hashes by which a browser knows it."""
    return {
        "style": Markup(style),  # noqa: S704  # ours
        "script": Markup(script),  # noqa: S704
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }


def _shown(value: object) -> object:
    """Output of a template: markup of ours as it is, text without invisible characters, and nothing for None."""
    if value is None:
        return ""
    return readable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _source(*names: str) -> str:
    folder = files("tdqs_mcp.report").joinpath("templates")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


_UNNAMED = re.compile(r"^/inputSchema/(properties/|\$defs/|definitions/)?|/(anyOf|oneOf|allOf)/\d+")
"""Steps of a pointer that the reader of a schema needs no name for."""

MAX_FIELDS = 100
"""Fields of one definition that are shown."""

MAX_VALUES = 12
"""Listed values of one field that are shown."""

MAX_PICTURED = 40
"""Overlapping pairs in the picture; all are listed."""

MAX_RULES = 6
"""Rules in the list of those that concern most tools."""

ROW = 26
"""Pixels between two tools in the picture of overlaps."""


class Reason(NamedTuple):
    """A dimension's score with what it rests on."""

    dimension: Dimension
    judgement: Judgement


class Piece(NamedTuple):
    """Part of a definition's text, and the dimensions whose reasons quote it."""

    text: str
    quoted_for: tuple[str, ...]


class Arc(NamedTuple):
    """An overlap in the picture: from the row of one tool to the row of the other, in pixels."""

    top: int
    bottom: int
    kind: OverlapKind
    reach: int
    """How far its control points are to the right of the rows."""


class Field(NamedTuple):
    """A property of the input schema, at any depth."""

    name: str
    kinds: str
    values: tuple[str, ...]
    is_required: bool
    description: Sequence[Piece]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCard:
    """All that the page shows of one tool."""

    score: ToolScore
    place: int
    """In the order of what helps most."""

    reasons: Sequence[Reason]
    findings: Sequence[Finding]
    title: str | None
    description: Sequence[Piece]
    parameters: Sequence[Field]
    nested: Sequence[Field]
    hidden_fields: int
    shares: Mapping[str, int]
    """Tokens by field that a client sends."""

    output_tokens: int
    rewrite: Sequence[Block]
    """Better words, and what they rest on; empty where nothing is found to change."""

    @property
    def tokens(self) -> int:
        """All that a client sends."""
        return sum(self.shares.values())


def score_page(
    score: ServerScore,
    measured: Measured,
    rewrites: Sequence[Rewrite] = (),
    *,
    locator: str = "LOCATOR",
    tool: str | None = None,
    **surroundings: Any,  # noqa: ANN401  # what another `base` shows
) -> str:
    """The page of a server, or of its tools of one name; `locator` is what commands that help name."""
    places = {subject.tool.index for subject in measured.subjects}
    cards = list(_cards(score, measured, {rewrite.index: rewrite for rewrite in rewrites if rewrite.changes}, places))
    overlaps = (pair for pair in measured.overlaps if not pair.kind.is_near)
    pairs = list(dict.fromkeys((overlap.first, overlap.second, overlap.kind) for overlap in overlaps))
    rows = list(dict.fromkeys(name for first, second, _ in pairs[:MAX_PICTURED] for name in (first, second)))
    height = {name: ROW * place + ROW // 2 for place, name in enumerate(rows)}
    heights = [(height[first], height[second], kind) for first, second, kind in pairs[:MAX_PICTURED]]
    overall = score.rollup.overall
    return render_page(
        "score.html.j2",
        title=f"{named(score.server, score.version)}: {score_words(overall)}",
        score=score,
        judge=judge_words(score.judge),
        place=percentile_words(score.percentiles) if score.percentiles else None,
        coherence=_reasons(score.coherence_justifications, "coherence"),
        cards=[card for card in cards if tool is None or card.score.name == tool],
        above=None if overall is None else tier_of(overall).better,
        labeled=calibration(score.judge.calibration).server_error[0] if score.likely and score.judge.calibration else 0,
        histogram=Counter(tool.tdqs for tool in score.tools),
        common=common_findings(score)[:MAX_RULES],
        server_findings=[finding for finding in score.findings if finding.tool_index is None],
        doubts=[block for block in uncertainty(score) if not isinstance(block, Items) or block.entries],
        unjudged=unjudged_words((tool.name or "coherence", tool.ungraded.reason) for tool in score.unscored),
        overlaps=pairs,
        rows=height,
        arcs=[Arc(top, bottom, kind, min(180, 60 + abs(bottom - top))) for top, bottom, kind in heights],
        tokens=measured.tokens,
        means=dimension_means("tdqs", score.tools),
        most_tokens=max((card.tokens for card in cards), default=1),
        locator=locator,
        tiers=list(Tier)[:-1],
        **surroundings,
    )


def tool_card(score: ServerScore, measured: Measured, index: int) -> ToolCard | None:
    """Return what a page shows of the tool at this place of the catalog; None without a score."""
    return next(_cards(score, measured, {}, {index}), None)


def _cards(
    score: ServerScore, measured: Measured, rewrites: Mapping[int, Rewrite], only: AbstractSet[int]
) -> Iterator[ToolCard]:
    """The tools at `only` some places of the catalog, in the order of what helps most."""
    subjects = {subject.tool.index: subject for subject in measured.subjects if subject.tool.index in only}
    for place, (tool, findings) in enumerate(ordered_findings(score)):
        subject, rewrite = subjects.get(tool.index), rewrites.get(tool.index)
        if subject is None:
            continue
        nodes = [node for node in subject.input_shape.nodes if node.name is not None]
        quotes = [
            (quote, dimension.short)
            for dimension in load("tdqs").dimensions
            for quote in tool.judgements[dimension.key].evidence
            if quote
        ]
        yield ToolCard(
            score=tool,
            place=place,
            reasons=_reasons(tool.judgements, "tdqs"),
            findings=findings,
            title=subject.tool.title,
            description=_pieces(subject.tool.description or "", quotes),
            parameters=[_field(node, quotes) for node in nodes[:MAX_FIELDS] if node.is_top],
            nested=[_field(node, quotes) for node in nodes[:MAX_FIELDS] if not node.is_top],
            hidden_fields=max(0, len(nodes) - MAX_FIELDS),
            shares=field_shares(subject.tool, subject.tokens),
            output_tokens=output_schema_tokens(subject.tool),
            rewrite=changed_words(rewrite) if rewrite else (),
        )


def _reasons(judgements: Mapping[str, Judgement], rubric: str) -> list[Reason]:
    dimensions = {dimension.key: dimension for dimension in load(rubric).dimensions}
    return [Reason(dimensions[key], judgement) for key, judgement in judgements.items()]


def _field(node: Node, quotes: Sequence[tuple[str, str]]) -> Field:
    kinds, values, text = types_of(node.schema), values_of(node.schema) or (), node.schema.get("description")
    # /inputSchema/properties/orders/items/properties/id: the reader looks for orders[].id
    path = _UNNAMED.sub("", node.path).replace("/properties/", ".").replace("/items", "[]")
    return Field(
        name=path.replace("~1", "/").replace("~0", "~"),
        kinds="any" if kinds == TYPES else " or ".join(sorted(kinds)),
        values=tuple(map(value_text, values[:MAX_VALUES])),
        is_required=node.is_required,
        description=_pieces(text, quotes) if isinstance(text, str) else (),
    )


def _pieces(text: str, quotes: Sequence[tuple[str, str]]) -> tuple[Piece, ...]:
    """The text cut where quotations begin and end."""
    spans = [(start, start + len(quote), why) for quote, why in quotes if (start := text.find(quote)) >= 0]
    cuts = sorted({0, len(text), *(place for start, end, _ in spans for place in (start, end))})
    return tuple(
        Piece(
            text[start:end], tuple(dict.fromkeys(why for first, last, why in spans if first <= start and end <= last))
        )
        for start, end in pairwise(cuts)
    )
