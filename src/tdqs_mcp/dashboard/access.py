"""Who sees more than scores: whoever sends the token, as a header or by a cookie that signing in has set."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from starlette.responses import RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.requests import Request

COOKIE = "tdqs_dashboard"

MAX_FORM = 8_192
"""Bytes of the form that signs in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rule of one dashboard."""

    token: str | None
    is_open: bool
    """Without a token, everybody sees everything: only this machine can connect."""

    def sees_all(self, request: "Request") -> bool:
        """Whether the request may see more than scores."""
        if self.token is None:
            return self.is_open
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer" and _equal(sent.strip(), self.token)
        return is_bearer or _equal(request.cookies.get(COOKIE, ""), self.session)

    @property
    def session(self) -> str:
        """The cookie's value: it ends when the token changes, and does not give it away."""
        return hmac.new((self.token or "").encode(), COOKIE.encode(), "sha256").hexdigest()

    async def sign_in(self, request: "Request", refuse: Callable[["Request"], Response]) -> Response:
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

    async def sign_out(self, _: "Request") -> Response:
        """Takes the cookie away."""
        answer = RedirectResponse("/", status_code=303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


def _own_address(back: str) -> str:
    """The path and query of an address of this site; the first page for any other."""
    is_own = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isascii() and back.isprintable()
    return back if is_own and not urlsplit(back).netloc else "/"


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
