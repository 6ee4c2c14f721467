"""The dashboard as an ASGI application: who is answered, what is sent again only when it has changed, and errors."""

import hmac
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from cachetools import LRUCache
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tdqs_mcp.app.stored_scores import StoredScores
from tdqs_mcp.dashboard.pages import PAGES, Content, View, Visit, problem, sign_in
from tdqs_mcp.errors import TdqsError, UnknownIdError
from tdqs_mcp.report.html_pages import assets
from tdqs_mcp.results.contract import generated_by
from tdqs_mcp.server.http_transport import HEALTH, Http, answer_health

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

COOKIE = "tdqs_dashboard"

MAX_FORM = 8_192
"""Bytes of the form that signs in."""

_LOG = logging.getLogger("uvicorn.error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who sees more than scores: whoever sends the token, as a header or by a cookie that signing in has set."""

    token: str | None
    is_open: bool
    """Without a token, everybody sees everything: only this machine can connect."""

    def sees_all(self, request: Request) -> bool:
        """Return whether the request may see more than scores."""
        if self.token is None:
            return self.is_open and _FORWARDED.isdisjoint(request.headers.keys())
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer" and _equal(sent.strip(), self.token)
        return is_bearer or _equal(request.cookies.get(COOKIE, ""), self.session)

    @property
    def session(self) -> str:
        """The cookie's value: it ends when the token changes, and does not give it away."""
        return hmac.new((self.token or "").encode(), COOKIE.encode(), "sha256").hexdigest()

    async def sign_in(self, request: Request, refuse: Callable[[Request], Response]) -> Response:
        """Sets the cookie and leads back to where the visitor came from; `refuse` answers another token."""
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > MAX_FORM:
                return Response(status_code=413)
        form = {name: values[0] for name, values in parse_qs(content.decode(errors="replace")).items()}
        if self.token is None or not _equal(form.get("token", "").strip(), self.token):
            return refuse(request)
        answer = RedirectResponse(_own_address(form.get("back", "")), status_code=303)
        is_secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, self.session, httponly=True, samesite="strict", secure=is_secure)
        return answer

    async def sign_out(self, _: Request) -> Response:
        """Takes the cookie away."""
        answer = RedirectResponse("/", status_code=303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


_FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"})
"""Headers of proxies: who is behind one is somewhere else, although the proxy connects from this machine."""


class _Site:
    """Answers visits, each rendered once as long as the store is the same."""

    def __init__(self, scores: StoredScores, access: Access) -> None:
        self._scores, self.access = scores, access
        self._build = "\0".join([generated_by(), *assets()])
        self._kept: LRUCache[str, Content] = LRUCache(MAX_KEPT, getsizeof=lambda content: len(content.text))
        self._lock = Lock()

    def endpoint(self, view: View) -> Callable[[Request], Response]:
        """Return a handler that answers requests for a view, in a thread."""

        def answer(request: Request) -> Response:
            visit = self._visit(request)
            state = [self._build, self._scores.revision(), visit.address, str(visit.sees_all)]
            etag = f'"{sha256(chr(0).join(state).encode()).hexdigest()[:32]}"'
            caching = "private, no-cache" if visit.sees_all else "no-cache"
            headers = {"etag": etag, "cache-control": caching, "vary": "Authorization, Cookie"}
            if etag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
            with self._lock:
                content = self._kept.get(etag)
            if content is None:
                content = view(visit)
                if len(content.text) <= MAX_KEPT:
                    with self._lock:
                        self._kept[etag] = content
            return Response(content.text, media_type=content.media_type, headers=headers)

        return answer

    def explain(self, request: Request, error: Exception) -> Response:
        """The answer for what cannot be shown; what the store's database says is only logged."""
        status, message = 503, "The store of scores cannot be read now."
        if isinstance(error, UnknownIdError):
            status, message = 404, str(error)
        elif isinstance(error, HTTPException):
            status = error.status_code
            message = "This needs the maintainers' token." if status == 401 else "There is no such page."
        else:
            _LOG.error("%s", error)
        content = problem(self._visit(request), message, needs_token=status == 401)
        return Response(content.text, status, {"cache-control": "no-store"}, content.media_type)

    async def sign_in(self, request: Request) -> Response:
        """Takes the token of the form."""
        return await self.access.sign_in(request, self._refuse)

    def _refuse(self, request: Request) -> Response:
        content = sign_in(self._visit(request, wrong="yes"))
        return Response(content.text, 401, {"cache-control": "no-store"}, content.media_type)

    def _visit(self, request: Request, **more: str) -> Visit:
        return Visit(
            scores=self._scores,
            params={**request.query_params, **request.path_params, **more},
            address=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            sees_all=self.access.sees_all(request),
            may_sign_in=self.access.token is not None,
        )


def make_site(scores: StoredScores, http: Http) -> "ASGIApp":
    """The application."""
    site = _Site(scores, Access(token=http.token, is_open=is_open(http)))
    routes = [Route(path, site.endpoint(view)) for path, view in PAGES.items()]
    routes += [
        Route("/sign-in", site.sign_in, methods=["POST"]),
        Route("/sign-out", site.access.sign_out, methods=["POST"]),
        Route("/static/{name}", _answer_asset),
        Route(HEALTH, answer_health),
    ]
    explained = dict.fromkeys((TdqsError, HTTPException), site.explain)
    app = Starlette(routes=routes, exception_handlers=explained)
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


def _own_address(back: str) -> str:
    """The path and query of an address of this site; the first page for any other."""
    is_own = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isascii() and back.isprintable()
    return back if is_own and not urlsplit(back).netloc else "/"


def _equal(token: str, expected: str) -> bool:
    return hmac.compare_digest(token.encode(), expected.encode())
