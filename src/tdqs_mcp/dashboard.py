"""The scores of a store in a browser: pages, badges and JSON for everybody, with all behind them for maintainers.

Each page is a function of its request, by address. The ASGI application decides who is answered, and what is sent again
only when it has changed. Definitions that visitors send are checked in a queue.
"""

import gzip
import hmac
import logging
import re
import time
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from hashlib import sha256
from itertools import groupby
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode, urlsplit

import anyio
from cachetools import LRUCache
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tdqs_mcp.app import catalogs
from tdqs_mcp.app.improving import rewrite
from tdqs_mcp.app.judging import explain, score_offline
from tdqs_mcp.app.linting import list_rules
from tdqs_mcp.app.stored_scores import StoredScores
from tdqs_mcp.errors import InputError, TdqsError, UnknownIdError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.model import Catalog
from tdqs_mcp.report import registry_reports
from tdqs_mcp.report.blocks import percentile_words
from tdqs_mcp.report.charts import draw_badge, trend_chart
from tdqs_mcp.report.html_pages import ToolCard, assets, render_page, score_page, tool_card
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.results.contract import generated_by
from tdqs_mcp.results.statistics import Statistics, StoredServer, StoredToolHistory, ToolSearch
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.label_rubrics import grade
from tdqs_mcp.server.http_transport import HEALTH, Http, answer_health
from tdqs_mcp.server.permissions import Permissions, UrlPattern
from tdqs_mcp.sources.files import read_content
from tdqs_mcp.sources.locator import LiveOptions, read_url
from tdqs_mcp.store.server_queries import NO_TIER, ORDERS, ServerFilter

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SITE = "dashboard/site.html.j2"
HTML, JSON, SVG, TEXT, ATOM = "text/html", "application/json", "image/svg+xml", "text/plain", "application/atom+xml"

MAX_TEXT = 200
"""Characters of a name or a query that is searched for."""

MAX_MATCHES = 30
"""Tools that a query lists."""

MAX_REWRITTEN = 20
"""Tools of one check that get better words, the lowest: those of 200 took 7.5 seconds."""

MAX_CHECK, MAX_CHECKED = 2**20, 200
"""Bytes and tools of one check."""

MAINTAINERS = {"": None, "official": True, "community": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A visitor's request."""

    scores: StoredScores
    params: Mapping[str, str]
    """Of the path and the query."""

    address: str
    """Path and query."""

    site: str
    """Scheme and host of the request."""

    sees_all: bool
    """All that stands behind the scores."""

    has_token: bool
    may_open_urls: bool

    @property
    def name(self) -> str:
        """The server, tool or rule that is asked about."""
        return self.params.get("name", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Content of an answer."""

    text: str
    media_type: str = HTML

    def compress(self) -> bytes:
        """The text as the site sends it to who takes gzip."""
        return gzip.compress(self.text.encode(), COMPRESSION, mtime=0)


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
        method=registry_reports.method_words(servers.method),
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
    labels = [(row, registry_reports.method_words(row.method)) for row in server.labels]
    values = {
        "title": server.standing.server,
        "labels": labels,
        "tools": server.lowest_tools,
        "method": registry_reports.method_words(server.method),
    }
    return _page(visit, "server", found=server, place=place, parts=parts, **values)


def report(visit: Visit) -> Content:
    """The report of a server with all its definitions, reasons and findings."""
    _check(visit)
    score, measured = visit.scores.score_in_full(visit.name)
    values: dict[str, Any] = {"of": visit.name, "rules": "/rules/", "grade": grade(measured)}
    return Content(text=score_page(score, measured, base=SITE, visit=visit, **values))


def tools(visit: Visit) -> Content:
    """Tools by a query."""
    search = _search(visit) if visit.params.get("text", "").strip() else None
    values = {"method": registry_reports.method_words(search.method)} if search else {}
    return _page(visit, "tools", title="Tools", search=search, text=visit.params.get("text", "")[:MAX_TEXT], **values)


def check(visit: Visit, problem: str | None = None) -> Content:
    """The form for definitions; `problem` says why those that were sent have no score."""
    values = {
        "problem": problem,
        "max_tools": MAX_CHECKED,
        "max_rewritten": MAX_REWRITTEN,
        "max_bytes": MAX_CHECK,
    }
    return _page(visit, "check", title="Check definitions", **values)


def tool(visit: Visit) -> Content:
    """Return one tool with its scores over time; for maintainers with its definition, the reasons and what to fix."""
    tool, card = _find_tool(visit)
    definition = json_text(tool.definition) if visit.sees_all else None
    title, method = f"{tool.standing.tool} of {tool.server}", registry_reports.method_words(tool.method)
    return _page(visit, "tool", title=title, found=tool, card=card, definition=definition, method=method)


def statistics(visit: Visit) -> Content:
    """The numbers of the whole store."""
    statistics = _statistics(visit)
    return _page(
        visit,
        "statistics",
        title="Statistics",
        found=statistics,
        scored=registry_reports.scored_words(statistics),
        method=registry_reports.method_words(statistics.method),
        blocks=registry_reports.statistics_tables(statistics),
    )


def trend(visit: Visit) -> Content:
    """Scores by sweep, and what changed in the last 30 days."""
    runs, changes = visit.scores.trend(), visit.scores.changes_since(_since(visit))
    chart, height = trend_chart(runs)
    blocks = [*registry_reports.trend_blocks(runs), *registry_reports.change_blocks(changes)]
    markup = Markup(chart)  # noqa: S704  # ours, escaped there
    method = registry_reports.method_words(runs.method)
    return _page(visit, "chart", title="Trend", charts=markup, height=height, blocks=blocks, method=method)


def metrics(visit: Visit) -> Content:
    """The numbers of the newest sweep for Prometheus."""
    numbers, runs = visit.scores.statistics(), visit.scores.trend().runs
    if not runs:
        raise UnknownIdError("no sweep has come to its end")
    last = runs[-1]
    finished = datetime.fromisoformat(last.finished_at).timestamp()
    return Content(text=registry_reports.metrics_text(numbers, last, finished=finished), media_type=TEXT)


def comparison(visit: Visit) -> Content:
    """The shown method beside another one."""
    blocks = registry_reports.comparison_blocks(visit.scores.compare_methods(visit.params.get("method", "")))
    values = {"title": "Methods compared", "of": None, "blocks": blocks}
    return Content(text=render_page("blocks.html.j2", base=SITE, visit=visit, **values))


def rules(visit: Visit) -> Content:
    """All rules by lane."""
    listed = [(lane, list(group)) for lane, group in groupby(list_rules().rules, key=lambda rule: rule.lane)]
    return _page(visit, "rules", title="Rules", lanes=listed)


def rule(visit: Visit) -> Content:
    """The page of one rule, dimension, flag or tier."""
    text = explain(visit.params["rule"])
    return _page(visit, "text", title=text.partition("\n")[0].lstrip("# "), content=_markdown(text))


def badge(visit: Visit) -> Content:
    """A server's overall score for a README."""
    standing, judge = visit.scores.find_standing(visit.name)
    return Content(text=draw_badge(standing.server, standing.rollup.overall, judge), media_type=SVG)


def problem(visit: Visit, message: str) -> Content:
    """Why there is nothing to be seen."""
    if visit.address.startswith(("/api/", "/badge/")):
        return _json({"error": message})
    return _page(visit, "problem", title="Not here", message=message)


PAGES: Mapping[str, View] = {
    "/": servers,
    "/server": server,
    "/report": report,
    "/tool": tool,
    "/tools": tools,
    "/check": check,
    "/statistics": statistics,
    "/trend": trend,
    "/compare": comparison,
    "/metrics": metrics,
    "/changes.atom": lambda visit: Content(
        text=registry_reports.change_feed(visit.scores.changes_since(_since(visit)), address=visit.site),
        media_type=ATOM,
    ),
    "/api/changes": lambda visit: _json(document(visit.scores.changes_since(_since(visit)))),
    "/api/trend": lambda visit: _json(document(visit.scores.trend())),
    "/rules": rules,
    "/rules/{rule}": rule,
    "/badge/{name:path}.svg": badge,
    "/api/servers": lambda visit: _json(document(visit.scores.list_servers(_filter(visit.params)))),
    "/api/server": lambda visit: _json(document(_find_server(visit))),
    "/api/tools": lambda visit: _json(document(_search(visit))),
    "/api/tool": lambda visit: _json(document(_find_tool(visit)[0])),
    "/api/statistics": lambda visit: _json(document(_statistics(visit))),
}
"""By path. Servers and tools are named in the query, because their names may hold anything."""


def _page(visit: Visit, template: str, **values: Any) -> Content:  # noqa: ANN401  # what the template names
    as_of = visit.scores.as_of() if "method" in values else None
    return Content(text=render_page(f"dashboard/{template}.html.j2", base=SITE, visit=visit, as_of=as_of, **values))


def _json(value: object) -> Content:
    return Content(text=json_text(value), media_type=JSON)


def _since(visit: Visit) -> datetime:
    """The day that is asked for, else the one 30 days ago."""
    try:
        return datetime.fromisoformat(visit.params.get("since", "")).replace(tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=30)


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


def _find_server(visit: Visit) -> StoredServer:
    """The public does not see where a server was captured."""
    server = visit.scores.find_server(visit.name, in_full=visit.sees_all)
    return server if visit.sees_all else replace(server, source=None)


def _find_tool(visit: Visit) -> tuple[StoredToolHistory, ToolCard | None]:
    """The tool that is named, and for maintainers its card if it has a score."""
    index = visit.params.get("index", "")
    place = int(index) if index.isdecimal() and len(index) < 9 else None
    named = visit.params.get("server", ""), visit.name, place
    if not visit.sees_all:
        return visit.scores.find_tool(*named), None
    tool, score, measured = visit.scores.explain_tool(*named)
    return tool, tool_card(score, measured, tool.standing.index)


def _search(visit: Visit) -> ToolSearch:
    """The public sees that a match has no score, but not why."""
    search = visit.scores.search_tools(visit.params.get("text", "")[:MAX_TEXT], limit=MAX_MATCHES)
    if visit.sees_all:
        return search
    matches = (replace(match, tool=replace(match.tool, ungraded=None)) for match in search.matches)
    return replace(search, matches=tuple(matches))


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


POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}

MAX_KEPT = 32 * 2**20
"""Characters of answers that are kept until the store changes."""

COMPRESSION = 6
"""Of gzip, 1-9. A page is compressed once: to do so for each visitor took nine tenths of the time of a long one."""

RENDERING, AT_ONCE = 256, 4
"""Locks of answers that are being rendered, and how many are: more would wait for the one processor of this process."""

SIGN_IN = "sign-in"
"""A parameter of any page, for which a browser asks for the token."""

CHALLENGE = {"www-authenticate": 'Basic realm="maintainers", charset="UTF-8"'}

_LOG = logging.getLogger("uvicorn.error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who sees more than scores: whoever sends the token, as a bearer or as the password that a browser asks for."""

    token: str | None
    is_open: bool
    """Without a token, everybody sees everything: only this machine can connect."""

    def sees_all(self, request: Request) -> bool:
        """Return whether the request may see more than scores."""
        if self.token is None:
            return self.is_open and _FORWARDED.isdisjoint(request.headers.keys())
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            sent = _password(sent)
        return hmac.compare_digest(sent.strip().encode(), self.token.encode())


def _password(credentials: str) -> str:
    """The password of HTTP's basic authentication, whatever the name before it; empty for what is none."""
    try:
        return b64decode(credentials, validate=True).partition(b":")[2].decode()
    except ValueError:
        return ""


_REFUSALS = {
    401: "This needs the maintainers' token.",
    403: "Another site has sent this form: send it from this page.",
    413: "This is too large.",
    429: "Too many checks from this address: wait a minute.",
    503: "Others are being checked: try again in a moment.",
}

_FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"})
"""Headers of proxies: who is behind one is somewhere else, although the proxy connects from this machine."""


MAX_FORM = 8_192
"""Bytes of a form besides the definitions in it."""

CHECKS_PER_MINUTE, CHECKS_AT_ONCE, CHECKS_WAITING = 20, 2, 16
"""Checks of one address, of all addresses at a time, and that wait for their turn."""

CHECK_SECONDS = 30
"""Of the capture of a live server."""


class CheckQueue:
    """Has the definitions that visitors send checked, a few at a time; keeps nothing of them."""

    def __init__(self, permissions: Permissions) -> None:
        self._permissions = permissions
        self._recent: LRUCache[tuple[str, int], int] = LRUCache(10_000)
        self._places = anyio.CapacityLimiter(CHECKS_AT_ONCE)

    async def check(self, request: Request, render: Callable[[Catalog], str]) -> str:
        """Return what `render` makes, in a thread, of the definitions in a form.

        Raises HTTPException beyond the limits, and TdqsErrors for definitions that cannot be read.
        """
        minute = (_address_of(request), int(time.monotonic() // 60))
        self._recent[minute] = self._recent.get(minute, 0) + 1
        if self._recent[minute] > CHECKS_PER_MINUTE:
            raise HTTPException(429)
        form = await _read_form(request)
        if self._places.statistics().tasks_waiting >= CHECKS_WAITING:
            raise HTTPException(503)
        async with self._places:
            catalog = await self._read(form)
            return await anyio.to_thread.run_sync(render, catalog)

    async def _read(self, form: Mapping[str, bytes]) -> Catalog:
        """The definitions of the file, else those that were pasted, else of the URL. Raises TdqsErrors."""
        content = form.get("file", b"").strip() or form.get("definitions", b"").strip()
        if content:
            catalog = read_content(content, origin="what you sent", name="your server")
        elif self._permissions.urls and (url := form.get("url", b"").decode(errors="replace").strip()):
            self._permissions.admit(read_url(url))
            admit = self._permissions.check_and_resolve
            await admit(url)
            limits: dict[str, Any] = {"max_tools": MAX_CHECKED + 1, "max_bytes": MAX_CHECK}
            catalog = await catalogs.load(url, LiveOptions(timeout=CHECK_SECONDS, admit=admit, **limits))
        else:
            raise InputError("there is nothing to check: paste definitions or choose a file")
        if len(catalog.tools) > MAX_CHECKED:
            raise InputError(f"a check takes {MAX_CHECKED} tools at most, and these are {len(catalog.tools)}")
        return catalog


async def _read_form(request: Request) -> dict[str, bytes]:
    """The members of a form, with or without files. Raises HTTPException for another site's, and a large one."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if site not in (None, "same-origin", "none") or (site is None and is_foreign):
        raise HTTPException(403)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_CHECK + MAX_FORM:
            raise HTTPException(413)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body}

    form: dict[str, bytes] = {}
    async with Request(request.scope, receive).form(max_files=1, max_fields=4, max_part_size=MAX_CHECK) as parts:
        for name, value in parts.items():
            form[name] = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else await value.read()
    return form


def _address_of(request: Request) -> str:
    """The visitor's address: behind a proxy on this machine, the one that the proxy has seen."""
    address = request.client.host if request.client else ""
    forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return forwarded if forwarded and address in ("127.0.0.1", "::1") else address


class _Site:
    """Answers visits, each rendered once as long as the store is the same."""

    def __init__(self, scores: StoredScores, access: Access, *, may_open_urls: bool) -> None:
        self._scores, self._access, self._may_open_urls = scores, access, may_open_urls
        self._build = "\0".join([generated_by(), *assets()])
        self._kept: LRUCache[str, tuple[Content, bytes]] = LRUCache(MAX_KEPT, getsizeof=lambda page: len(page[0].text))
        self._lock, self._rendering = Lock(), [Lock() for _ in range(RENDERING)]
        self._places = BoundedSemaphore(AT_ONCE)

    def endpoint(self, view: View) -> Callable[[Request], Response]:
        """Return a handler that answers requests for a view, in a thread."""

        def answer(request: Request) -> Response:
            visit = self.visit(request)
            if SIGN_IN in visit.params and visit.has_token:
                _check(visit)
            state = [self._build, self._scores.revision(), visit.site, visit.address, str(visit.sees_all)]
            etag = f'"{sha256(chr(0).join(state).encode()).hexdigest()[:32]}"'
            caching = "private, no-cache" if visit.sees_all else "no-cache"
            headers = {"etag": etag, "cache-control": caching, "vary": "Authorization, Accept-Encoding"}
            if etag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
            with self._rendering[int(etag[1:9], 16) % len(self._rendering)]:  # of many visitors, the first renders
                with self._lock:
                    page = self._kept.get(etag)
                if page is None:
                    with self._places:
                        content = view(visit)
                        page = content, content.compress()
                    if len(content.text) <= MAX_KEPT:
                        with self._lock:
                            self._kept[etag] = page
            content, compressed = page
            if "gzip" in request.headers.get("accept-encoding", ""):
                return Response(
                    compressed, media_type=content.media_type, headers=headers | {"content-encoding": "gzip"}
                )
            return Response(content.text, media_type=content.media_type, headers=headers)

        return answer

    def explain(self, request: Request, error: Exception) -> Response:
        """The answer for what cannot be shown; what the store's database says is only logged."""
        status, message = 503, "The store of scores cannot be read now."
        if isinstance(error, UnknownIdError):
            status, message = 404, str(error)
        elif isinstance(error, HTTPException):
            status = error.status_code
            message = _REFUSALS.get(status, "There is no such page.")
        else:
            _LOG.error("%s", error)
        content = problem(self.visit(request), message)
        headers = {"cache-control": "no-store", **(CHALLENGE if status == 401 and self._access.token else {})}
        return Response(content.text, status, headers, content.media_type)

    async def check(self, request: Request, queue: CheckQueue) -> Response:
        """The report of the definitions in a form; the form again where they cannot be read."""
        visit, headers = self.visit(request), {"cache-control": "no-store"}
        try:
            text = await queue.check(request, partial(_checked_page, visit=visit))
        except TdqsError as error:
            content = check(visit, str(error))
            return Response(content.text, 422, headers, content.media_type)
        return Response(text, media_type=HTML, headers=headers)

    def visit(self, request: Request, **more: str) -> Visit:
        """Return a request as the views take it."""
        return Visit(
            scores=self._scores,
            params={**request.query_params, **request.path_params, **more},
            address=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            site=f"{request.url.scheme}://{request.url.netloc}",
            sees_all=self._access.sees_all(request),
            has_token=self._access.token is not None,
            may_open_urls=self._may_open_urls,
        )


def _checked_page(catalog: Catalog, visit: Visit) -> str:
    """The report of a catalog, with better words for its lowest tools."""
    score = score_offline(catalog)
    lowest = sorted(tool.index for tool in sorted(score.tools, key=lambda tool: tool.tdqs)[:MAX_REWRITTEN])
    # A catalog of them alone: a rewrite reads every tool of its catalog, however few are named.
    part = tuple(replace(catalog.tools[index], index=place) for place, index in enumerate(lowest))
    rewrites = [replace(item, index=lowest[item.index]) for item in anyio.run(rewrite, replace(catalog, tools=part))]
    measured = measure(catalog)
    values: dict[str, Any] = {"of": None, "rules": "/rules/", "grade": grade(measured)}
    return score_page(score, measured, rewrites, base=SITE, visit=visit, **values)


def make_site(scores: StoredScores, http: Http, urls: Sequence[UrlPattern] = ()) -> "ASGIApp":
    """The application; `urls` are those of live servers that visitors may have checked."""
    access = Access(token=http.token, is_open=is_open(http))
    site = _Site(scores, access, may_open_urls=bool(urls))
    routes = [Route(path, site.endpoint(view)) for path, view in PAGES.items()]
    routes += [
        Route("/check", partial(site.check, queue=CheckQueue(Permissions(urls=tuple(urls)))), methods=["POST"]),
        Route("/static/{name}", _answer_asset),
        Route(HEALTH, answer_health),
    ]
    explained = dict.fromkeys((TdqsError, HTTPException), site.explain)
    app = Starlette(routes=routes, exception_handlers=explained, middleware=[Middleware(GZipMiddleware)])
    return _guarded(app, http)


def is_open(http: Http) -> bool:
    """Return whether everybody sees more than scores: without a token, if only this machine can connect."""
    return http.token is None and http.is_loopback and not http.allowed_hosts


def _answer_asset(request: Request) -> Response:
    text = assets().get(request.path_params["name"])
    if text is None:
        return PlainTextResponse("There is no such file.\n", 404)
    media_type = "text/css" if request.path_params["name"].endswith(".css") else "text/javascript"
    return Response(text, media_type=media_type, headers={"cache-control": "public, max-age=31536000, immutable"})


def _guarded(app: "ASGIApp", http: Http) -> "ASGIApp":
    """Answers to the names of this site only, so that no other page's name can be led here, and sets the policy."""
    hosts = "|".join(re.escape(host).replace(r":\*", r":\d+") for host in http.hosts)
    is_known = re.compile(hosts or ".*", re.IGNORECASE).fullmatch

    async def guard(scope: "Scope", receive: "Receive", send: "Send") -> None:
        async def send_with_policy(message: "Message") -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http" and not is_known(Headers(scope=scope).get("host", "")):
            refusal = "This host name is not the dashboard's; its operator can name it with --allowed-host.\n"
            await PlainTextResponse(refusal, 421)(scope, receive, send)
            return
        await app(scope, receive, send_with_policy)

    return guard
