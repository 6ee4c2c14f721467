"""HTML pages: every text is escaped here. A page is one file that loads nothing, or one of the dashboard's.

A browser refuses every other style, script and request: the policy of a file names the hashes of its own two, and the
dashboard serves its styles and scripts under their hashes.
"""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tdqs_mcp.report.blocks import Block, Title, diff_runs, plain_words, word_parts
from tdqs_mcp.report.escape import readable
from tdqs_mcp.results.verdicts import Tier, tier_of
from tdqs_mcp.rubrics.rubric import load

_ASSETS = ("page.css", "page.js", "dashboard/dashboard.css", "dashboard/dashboard.js")
"""What pages of the dashboard load."""


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
    return environment


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
