"""Pages, badges and JSON of the dashboard by address, each a function of its request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.exceptions import HTTPException

from tdqs_mcp.app.judging import explain
from tdqs_mcp.app.linting import list_rules
from tdqs_mcp.app.stored_scores import StoredScores
from tdqs_mcp.report.blocks import percentile_words
from tdqs_mcp.report.charts import draw_badge, shields_badge, statistics_charts
from tdqs_mcp.report.html_pages import render_page
from tdqs_mcp.report.improvement_reports import compare_blocks
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.registry_reports import method_words, scored_words, statistics_tables
from tdqs_mcp.report.score_page import score_page, tool_card
from tdqs_mcp.results.statistics import Statistics
from tdqs_mcp.results.stored_servers import StoredToolHistory
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.store.server_queries import NO_TIER, ORDERS, ServerFilter

SITE = "dashboard/site.html.j2"
HTML, JSON, SVG = "text/html", "application/json", "image/svg+xml"

MAX_TEXT = 200
"""Characters of a name that is searched for."""

MAINTAINERS = {"": None, "official": True, "community": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A visitor's request."""

    scores: StoredScores
    params: Mapping[str, str]
    """Of the path and the query."""

    address: str
    """Path and query."""

    sees_all: bool
    """All that stands behind the scores."""

    may_sign_in: bool

    @property
    def name(self) -> str:
        """The server, tool or rule that is asked about."""
        return self.params.get("name", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Content of an answer."""

    text: str
    media_type: str = HTML


View: TypeAlias = Callable[[Visit], Content]


def servers(visit: Visit) -> Content:
    """The leaderboard."""
    server_filter = _filter(visit.params)
    chosen = {"text": server_filter.text, "tier": server_filter.tier, "maintainer": visit.params.get("maintainer", "")}
    chosen = {name: value for name, value in {**chosen, "order": server_filter.order}.items() if value}
    servers = visit.scores.list_servers(server_filter)
    return _page(
        visit,
        "servers",
        title="Servers",
        board=servers,
        method=method_words(servers.method),
        chosen=chosen,
        is_first=not server_filter.after,
        first="/?" + urlencode(chosen),
        following=servers.next and "/?" + urlencode({**chosen, "after": servers.next}),
        tiers=list(Tier)[:-1],
        orders=ORDERS,
    )


def server(visit: Visit) -> Content:
    """Return one server with its tools and captures."""
    server = visit.scores.find_server(visit.name)
    place = server.percentiles and percentile_words(server.percentiles, "other servers")
    parts = [(part, server.coherence_scores[part.key]) for part in load("coherence").dimensions]
    title, method = server.standing.server, method_words(server.method)
    tools = sorted(server.tools, key=lambda each: (each.tdqs is None, each.tdqs or 0, each.index))
    return _page(visit, "server", title=title, found=server, tools=tools, place=place, parts=parts, method=method)


def report(visit: Visit) -> Content:
    """The report of a server with all its definitions, reasons and findings."""
    _check(visit)
    score, measured = visit.scores.score_in_full(visit.name)
    return Content(text=score_page(score, measured, base=SITE, visit=visit, of=visit.name, rules="/rules/"))


def tool(visit: Visit) -> Content:
    """Return one tool with its scores over time; for maintainers with its definition, the reasons and what to fix."""
    tool = _tool(visit)
    card = None
    if tool.score is not None:
        card = tool_card(*visit.scores.score_in_full(tool.server), tool.standing.index)
    definition = json_text(tool.definition) if visit.sees_all else None
    title = f"{tool.standing.tool} of {tool.server}"
    return _page(
        visit, "tool", title=title, found=tool, card=card, definition=definition, method=method_words(tool.method)
    )


def changes(visit: Visit) -> Content:
    """Return what one capture of a server changed."""
    _check(visit)
    compared = visit.scores.compare_captures(visit.name, visit.params.get("capture", ""))
    values = {"title": f"Changes of {visit.name}", "of": visit.name, "blocks": compare_blocks(compared)}
    return Content(text=render_page("blocks.html.j2", base=SITE, visit=visit, **values))


def statistics(visit: Visit) -> Content:
    """The numbers of the whole store."""
    statistics = _statistics(visit)
    charts, height = statistics_charts(statistics)
    return _page(
        visit,
        "statistics",
        title="Statistics",
        found=statistics,
        scored=scored_words(statistics),
        method=method_words(statistics.method),
        charts=Markup(charts),  # noqa: S704  # ours, escaped there
        height=height,
        blocks=statistics_tables(statistics),
    )


def rules(visit: Visit) -> Content:
    """All rules by lane."""
    listed = [(lane, list(group)) for lane, group in groupby(list_rules().rules, key=lambda rule: rule.lane)]
    return _page(visit, "rules", title="Rules", lanes=listed)


def rule(visit: Visit) -> Content:
    """The page of one rule, dimension, flag or tier."""
    words = visit.params["rule"]
    text = explain(words)
    return _page(visit, "text", title=text.partition("\n")[0].lstrip("# "), content=_markdown(text))


def sign_in(visit: Visit) -> Content:
    """The form for the token; `wrong` is set after another token."""
    back = visit.params.get("back", "/")
    return _page(visit, "sign_in", title="Sign in", back=back, is_wrong="wrong" in visit.params)


def badge(visit: Visit) -> Content:
    """A server's overall score for a README."""
    standing = visit.scores.find_standing(visit.name)
    return Content(text=draw_badge(standing.server, standing.overall), media_type=SVG)


def shields(visit: Visit) -> Content:
    """Return the badge for shields.io."""
    return _json(shields_badge(visit.scores.find_standing(visit.name).overall))


def servers_json(visit: Visit) -> Content:
    """The leaderboard as JSON."""
    return _json(document(visit.scores.list_servers(_filter(visit.params))))


def server_json(visit: Visit) -> Content:
    """A server as JSON."""
    return _json(document(visit.scores.find_server(visit.name, in_full=visit.sees_all)))


def tool_json(visit: Visit) -> Content:
    """A tool as JSON."""
    return _json(document(_tool(visit)))


def statistics_json(visit: Visit) -> Content:
    """The statistics as JSON."""
    return _json(document(_statistics(visit)))


def problem(visit: Visit, message: str, *, needs_token: bool = False) -> Content:
    """Why there is nothing to be seen."""
    if visit.address.startswith(("/api/", "/badge/")):
        return _json({"error": message})
    return _page(
        visit, "problem", title="Sign in" if needs_token else "Not here", message=message, needs_token=needs_token
    )


PAGES: Mapping[str, View] = {
    "/": servers,
    "/server": server,
    "/report": report,
    "/tool": tool,
    "/changes": changes,
    "/statistics": statistics,
    "/rules": rules,
    "/rules/{rule}": rule,
    "/sign-in": sign_in,
    "/badge/{name:path}.svg": badge,
    "/badge/{name:path}.json": shields,
    "/api/servers": servers_json,
    "/api/server": server_json,
    "/api/tool": tool_json,
    "/api/statistics": statistics_json,
}
"""By path. Servers and tools are named in the query, because their names may hold anything."""


def _page(visit: Visit, template: str, **values: Any) -> Content:  # noqa: ANN401  # what the template names
    return Content(text=render_page(f"dashboard/{template}.html.j2", base=SITE, visit=visit, **values))


def _json(value: object) -> Content:
    return Content(text=json_text(value), media_type=JSON)


def _check(visit: Visit) -> None:
    """Raises HTTPException for who may not see more than scores."""
    if not visit.sees_all:
        raise HTTPException(401)


def _filter(params: Mapping[str, str]) -> ServerFilter:
    """Return what the form asks for; what it does not offer counts as not said."""
    order, tier = params.get("order", ""), params.get("tier", "")
    return ServerFilter(
        text=params.get("text", "").strip()[:MAX_TEXT],
        tier=tier if tier in (*Tier, NO_TIER) else "",
        is_official=MAINTAINERS.get(params.get("maintainer", "")),
        order=order if order in ORDERS else ORDERS[0],
        after=params.get("after", ""),
    )


def _tool(visit: Visit) -> StoredToolHistory:
    index = visit.params.get("index", "")
    place = int(index) if index.isdecimal() and len(index) < 9 else None
    return visit.scores.find_tool(visit.params.get("server", ""), visit.name, place, in_full=visit.sees_all)


def _statistics(visit: Visit) -> Statistics:
    """The public sees how much has no score, but not what, and why."""
    statistics = visit.scores.statistics()
    if visit.sees_all:
        return statistics
    return replace(statistics, ungraded=replace(statistics.ungraded, reasons=(), held_scores=()))


@cache
def _markdown(text: str) -> Markup:
    """A page of ours as HTML, in which it has none."""
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))  # noqa: S704
