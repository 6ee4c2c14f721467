"""A model behind an HTTP endpoint: how it is reached, with limits and retries, and what may be told of its answers."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import Failure, Request, Usage

if TYPE_CHECKING:
    import httpx2
    from anyio import CapacityLimiter
    from tenacity import RetryCallState

    from tdqs_mcp.judges.budget import Ledger

MAX_EXCERPT = 200
"""Characters of an endpoint's own words in a reason."""

MAX_WAIT = 86_400.0
"""Seconds that an endpoint may ask to wait: limits are lifted daily; more is not an answer to a request of today."""

MAX_CONCURRENCY = 64

MIN_SECRET = 16
"""Characters of a text in the overrides that is too long for a word of an interface."""

MIN_KEY = 8
"""Characters from which a key is a secret, and no word that an endpoint without keys is called with."""

CONNECT_TIMEOUT = 10.0
"""Seconds for a connection; an endpoint may think for minutes, but it is there at once."""

MAX_ANSWER_BYTES = 4 * 2**20
"""Bytes of one answer; a verdict takes two thousand, reasoning around it a few hundred thousand."""

Count: TypeAlias = Annotated[int, Field(ge=0, le=10**9, strict=True)]
"""Tokens that one answer may be said to have taken; more is not a count."""

MAX_BACKOFF = 8.0
"""Seconds between two tries, unless the endpoint asks for more."""

MIN_WAIT = 1.0
"""Seconds from which a wait that was asked for is not a failed try: the unit of Retry-After (RFC 9110, 10.2.3)."""

FIRST_REQUESTS = 4
"""Requests under way at once before the first answer, however long it takes: a few show a wrong key."""

_FINAL = (401, 402, 403)
"""The statuses of an endpoint that answers nobody with this key."""

_BUSY = (429, 503, 529)
"""The statuses of an endpoint that takes no request for now."""

Post: TypeAlias = Callable[[], Awaitable["httpx2.Response"]]
Reader: TypeAlias = Callable[[object], Usage | None]
"""Reads the usage that a response reports; None if it reports none."""

Shape = TypeVar("Shape", bound=BaseModel)

_BASE_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
_OURS = ("messages", "model", "stream")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")
_ADVICE = {
    401: "check {key_name}",
    402: "the account behind {key_name} needs credit",
    403: "check {key_name} and what it may use",
    404: "check the base URL and the model",
    413: "the definition is too large for this endpoint; use another model",
    429: "wait, or use an endpoint with a higher limit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model answers and how it is asked. Raises InputError, which says what to set."""

    base_url: str
    """Address before `path`; usually ends in `/v1`."""

    model: str
    api_key: str | None = field(default=None, repr=False)
    """Travels in the Authorization header and nowhere else."""

    overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Members of every request body, over ours; objects are merged, and null leaves a member out."""

    timeout: float = 300.0
    """Seconds for one answer, all tries and waits included; up to a day."""

    concurrency: int = 16
    """Requests under way at once, 1 to 64."""

    attempts: int = 3
    """Tries where the connection or the server fails; a wait that the endpoint asked for is none."""

    backoff: float = 1.0
    """Seconds that the first wait takes at most; doubles with every try."""

    path: str = "/chat/completions"
    key_name: str = "TDQS_API_KEY"
    """The variable that the key came from or belongs into, for advice."""

    def __post_init__(self) -> None:
        """Refuses what no request could be made of; no message quotes what may hold a secret."""
        if not _BASE_URL.fullmatch(self.base_url):
            raise InputError(
                "the base URL must look like https://host/v1, without a user, a query or a fragment; set TDQS_BASE_URL "
                "or --base-url, and put a key into TDQS_API_KEY"
            )
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise InputError(f"the API key holds a character that no HTTP header carries; set {self.key_name} again")
        if not (0 < self.timeout <= MAX_WAIT and 1 <= self.concurrency <= MAX_CONCURRENCY):
            raise InputError(
                f"a judge has 1 to {MAX_CONCURRENCY} requests under way and up to {MAX_WAIT:g} s for each: set "
                "TDQS_CONCURRENCY and TDQS_TIMEOUT, or concurrency and timeout of its profile"
            )
        for name in _OURS:
            if name in self.overrides:
                raise InputError(f"the request overrides cannot set {name!r}; take it out of TDQS_REQUEST_OVERRIDES")
        try:
            json.dumps(self.overrides, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise InputError("the request overrides are not a JSON object; correct TDQS_REQUEST_OVERRIDES") from None

    def digest(self, body: Mapping[str, Any]) -> str:
        """16 hex digits over the address and the members of a request; the key, which is a header, is none of them."""
        return short_hash(json.dumps([self.url, body], sort_keys=True))

    @property
    def url(self) -> str:
        """Where requests go."""
        return f"{self.base_url.rstrip('/').removesuffix(self.path)}{self.path}"

    def overridden(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """A request's members with the overrides over them; objects are merged, and null leaves a member out."""
        merged = {**members, **self.overrides}
        for name, value in self.overrides.items():
            if isinstance(value, Mapping) and isinstance(members.get(name), Mapping):
                merged[name] = _without_null({**members[name], **value})
        return _without_null(merged)

    def public(self, text: str) -> str:
        """A foreign text on one line without any secret, cut after it is out so that no part of it stays."""
        for secret in filter(None, (self.api_key, *_long_texts(self.overrides))):
            for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1]):
                text = re.sub(re.escape(form), "[key]", text, flags=re.IGNORECASE)
        text = " ".join(text.split())
        return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}…"

    def without_key(self, answer: str) -> str:
        """A model's answer without the key, however JSON may spell it: whoever gets the key can also repeat it."""
        key = self.api_key or ""
        if len(key) < MIN_KEY:
            return answer
        spelled = "".join(rf"(?:\\?{re.escape(char)}|\\u00{ord(char):02x})" for char in key)
        return re.sub(spelled, "***", answer, flags=re.IGNORECASE)

    def said(self, response: "httpx2.Response") -> str:
        """The endpoint's own words, short."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if "html" in kind:
            return "an HTML page"
        return self.public(error_message(_object(response.content)) or response.text) or "nothing more"


class EndpointModel(ABC):
    """A model behind an endpoint, asked within limits of number and time; all requests wait if it asks for that."""

    cut_advice: str
    """Advice about an answer that was cut off."""

    mute_advice: str
    """Advice about an answer without text."""

    form_advice: str
    """Advice about an answer of another form."""

    def __init__(self, endpoint: Endpoint, *, ledger: "Ledger | None" = None) -> None:
        """Nothing is opened before the first request. The ledger admits every try; None admits all."""
        self.usage = Usage()
        """Usage so far; it has a cost if every answer's price is known."""

        self._endpoint = endpoint
        self._ledger = ledger
        self._client: httpx2.AsyncClient | None = None
        self._waiting = 0
        """Requests that wait for an answer."""

        self._places: CapacityLimiter | None = None
        """Of requests that are under way or being tried again: few until the first answer."""

        self._has_answered = False
        self._opens = 0.0
        """When the endpoint may be asked again, by the event loop's clock."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._endpoint!r})"

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self._endpoint.model

    @property
    def headers(self) -> Mapping[str, str]:
        """Return what every request carries."""
        return {}

    @abstractmethod
    async def ask(self, client: "httpx2.AsyncClient", request: Request) -> str | Failure:
        """Return the answer, by as many tries as it takes."""

    async def complete(self, request: Request) -> str | Failure:
        """Return the answer; whatever goes wrong with one is its Failure alone."""
        import anyio  # noqa: PLC0415
        from anyio.lowlevel import checkpoint  # noqa: PLC0415

        few = min(FIRST_REQUESTS, self._endpoint.concurrency)
        places = self._places = self._places or anyio.CapacityLimiter(few)
        async with self._connection() as client:
            async with places:
                answer = await self._ask_if_open(client, request)
                if self._has_answered:
                    places.total_tokens = self._endpoint.concurrency
            await checkpoint()  # the next request goes out before this answer is read and kept
        return answer

    async def _ask_if_open(self, client: "httpx2.AsyncClient", request: Request) -> str | Failure:
        """Return the answer, unless the endpoint is asked no more."""
        import anyio  # noqa: PLC0415

        if self._ledger and (reason := self._ledger.stopped.get(self.name)):
            return Failure(reason=reason)
        await self._wait_until_open()
        with anyio.move_on_after(self._endpoint.timeout):
            try:
                return await self.ask(client, request)
            except Exception as error:  # noqa: BLE001  # whatever an answer does to what reads it
                return self._note_failure(unusable(self._endpoint, error))
        return self._note_failure(late(self._endpoint))

    def _note_failure(self, failure: Failure, *, is_final: bool = False) -> Failure:
        if self._ledger:
            self._ledger.failed(self.name, failure.reason, is_final=is_final)
        return failure

    @asynccontextmanager
    async def _connection(self) -> "AsyncGenerator[httpx2.AsyncClient]":
        """The HTTP client, which all requests share and the last one closes."""
        client = self._client = self._client or connect(self._endpoint, self.headers)
        if not self._waiting and self._ledger:
            self._ledger.resume(self.name)
        self._waiting += 1
        try:
            yield client
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._client = None
                await client.aclose()

    async def send(
        self, request: Request, post: Post, *, answer: type[BaseModel], read: Reader
    ) -> "httpx2.Response | Failure":
        """The first response for which no other try is worth it, else the last one. Raises httpx2.RequestError.

        A success must have the form of `answer`; `read` understands the usage in a response. A Failure is why the
        request must not be sent. Waits that the endpoint asks for are repeated for as long as there is time; only
        other faults count as tries.
        """
        import anyio  # noqa: PLC0415
        import httpx2  # noqa: PLC0415
        import tenacity  # noqa: PLC0415

        faults = 0
        backoff = tenacity.wait_random_exponential(multiplier=self._endpoint.backoff, max=MAX_BACKOFF)
        ledger = self._ledger if self._ledger and self._ledger.is_bounded else None
        expected = ledger.expected(self.name, request) if ledger else Usage()

        async def attempt() -> httpx2.Response | Failure:
            await self._wait_until_open()
            if self._ledger and (reason := self._ledger.stopped.get(self.name)):
                return Failure(reason=reason)  # while this one waited for another try
            if ledger and (reason := ledger.book(self.name, expected)):
                return Failure(reason=reason)
            self.usage += Usage(requests=1)
            response = await post()
            usage = _usage(response, read)
            self.usage += usage or Usage(cost=None)
            if ledger:
                ledger.settle(self.name, expected, usage)
            self._heed(response)
            return response

        def is_final(outcome: "httpx2.Response | Failure") -> bool:
            if isinstance(outcome, Failure):
                return True
            return parse(answer, outcome.content) is not None if outcome.is_success else not may_pass(outcome)

        def wait(state: "RetryCallState") -> float:
            response = _response(state)
            seconds = None if response is None else retry_after(response)
            return backoff(state) if seconds is None else seconds

        def is_over(state: "RetryCallState") -> bool:
            nonlocal faults
            response = _response(state)
            faults += response is None or _asked_wait(response) is None
            is_late = anyio.current_time() + state.upcoming_sleep >= anyio.current_effective_deadline()
            return is_late or faults >= self._endpoint.attempts

        return await tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(httpx2.RequestError)
            | tenacity.retry_if_result(lambda outcome: not is_final(outcome)),
            stop=is_over,
            wait=wait,
            sleep=anyio.sleep,
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )(attempt)

    def parsed(self, response: "httpx2.Response | Failure", shape: type[Shape], *, called: str) -> Shape | Failure:
        """The answer in a response; a Failure if there is none."""
        if isinstance(response, Failure):
            return response
        if not response.is_success:
            failure = refused(self._endpoint, response)
            if response.status_code in _BUSY and self._has_answered:
                return failure  # a limit of requests passes
            return self._note_failure(failure, is_final=response.status_code in _FINAL)
        self._has_answered = True
        if self._ledger:
            self._ledger.reached(self.name)
        if (answer := parse(shape, response.content)) is not None:
            return answer
        reason = self._endpoint.said(response)
        return Failure(reason=f"{self._endpoint.url} answered with no {called} ({reason}): {self.form_advice}")

    def read_text(self, text: str, *, spoken: str, refusal: str | None, is_cut: bool) -> str | Failure:
        """The spoken part of an answer's text; a Failure where the endpoint or the model withholds it."""
        if refusal is not None:
            reason = self._endpoint.public(refusal)
            refusal = f"{self.name!r} refused to answer ({reason}): use another model for this definition"
            return Failure(reason=refusal, fault="was a refusal")
        if is_cut:
            return Failure(
                reason=f"the answer of {self.name!r} was cut off after {len(text)} characters: {self.cut_advice}, "
                "or use a model with a larger context",
                fault="was cut off",
            )
        if not spoken.strip():
            return Failure(reason=f"{self.name!r} answered with no text: {self.mute_advice}", fault="had no text")
        return self._endpoint.without_key(spoken)

    async def _wait_until_open(self) -> None:
        """Returns when the endpoint may be asked."""
        import anyio  # noqa: PLC0415

        while (left := self._opens - anyio.current_time()) > 0:  # noqa: ASYNC110  # others may move the time meanwhile
            await anyio.sleep(left)

    def _heed(self, response: "httpx2.Response") -> None:
        """Makes all requests wait as asked, unless that is longer than one request may take."""
        import anyio  # noqa: PLC0415

        wait = _asked_wait(response)
        if wait is not None and wait <= self._endpoint.timeout:
            self._opens = max(self._opens, anyio.current_time() + wait)


def connect(
    endpoint: Endpoint, headers: Mapping[str, str], *, max_bytes: int = MAX_ANSWER_BYTES
) -> "httpx2.AsyncClient":
    """A client that reads at most `max_bytes` of any response and never follows a redirect with the key."""
    import httpx2  # noqa: PLC0415  # the offline judge goes without a network stack

    from tdqs_mcp.http_client import make_client  # noqa: PLC0415

    def read_as_utf8(response: httpx2.Response) -> None:
        response.encoding = "utf-8"  # a charset that the endpoint names may be a codec for anything

    return make_client(
        max_bytes=max_bytes,
        on_response=read_as_utf8,
        headers=headers,
        timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT),
        # A plain connection, to a model on this machine, has no certificate; reading the authorities costs 50 ms.
        verify=not endpoint.base_url.startswith("http://"),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.concurrency),
    )


def may_pass(response: "httpx2.Response") -> bool:
    """Return whether the same request may succeed in a moment, by its status; a 500 that speaks of the format stays."""
    if response.status_code == 500 and b"response_format" in response.content:
        return False
    return response.status_code in (408, 409, 429) or response.status_code >= 500


def retry_after(response: "httpx2.Response") -> float | None:
    """Seconds up to a day, given as such or as a date, which counts from the response's own (RFC 9110, 10.2.3)."""
    value = response.headers.get("retry-after", "").strip()
    try:
        if _SECONDS.fullmatch(value):
            seconds = float(value)
        else:
            until, now = map(parsedate_to_datetime, (value, response.headers.get("date", "")))
            seconds = (until - now).total_seconds()
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return max(0.0, seconds) if seconds <= MAX_WAIT else None


def unusable(endpoint: Endpoint, error: Exception) -> Failure:
    """No response came, or none that could be read."""
    import httpx2  # noqa: PLC0415

    reason = endpoint.public(f"{type(error).__name__}: {error}".rstrip(": "))
    if isinstance(error, httpx2.RequestError | httpx2.InvalidURL):
        problem = f"cannot be reached ({reason}): check that it is running and the base URL"
    else:
        problem = f"gave an answer that cannot be read ({reason}): check the base URL"
    return Failure(reason=f"{endpoint.url} {problem}")


def late(endpoint: Endpoint) -> Failure:
    """No answer came in time."""
    return Failure(
        reason=f"{endpoint.url} gave no answer within {endpoint.timeout:g} s: set TDQS_CONCURRENCY to how many "
        "requests it answers at once, raise TDQS_TIMEOUT, or use a faster one"
    )


def refused(endpoint: Endpoint, response: "httpx2.Response") -> Failure:
    """The response was no success."""
    status = response.status_code
    if status >= 500:
        advice = "the endpoint is at fault; try again later"
    elif status < 400:
        advice = "set the base URL to where it redirects"
    else:
        advice = _ADVICE.get(status, "check the model and TDQS_REQUEST_OVERRIDES").format(key_name=endpoint.key_name)
    seconds = retry_after(response)
    wait = "" if seconds is None else f", and asked to wait {seconds:g} s"
    return Failure(reason=f"{endpoint.url} answered HTTP {status}{wait} ({endpoint.said(response)}): {advice}")


def parse(shape: type[Shape], content: object) -> Shape | None:
    """JSON in bytes, or a value that was JSON, as this shape; None if it does not fit."""
    try:
        return shape.model_validate_json(content) if isinstance(content, bytes) else shape.model_validate(content)
    except ValidationError:
        return None


def _long_texts(value: object) -> list[str]:
    """The texts in overrides that may be keys: gateways take them in the body."""
    if isinstance(value, Mapping):
        return [text for child in value.values() for text in _long_texts(child)]
    if isinstance(value, list | tuple):
        return [text for child in value for text in _long_texts(child)]
    return [value] if isinstance(value, str) and len(value) >= MIN_SECRET else []


def _without_null(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def error_message(body: object) -> str | None:
    """The message in the usual `{"error": {"message": …}}` or `{"error": …}`."""
    error = body.get("error") if isinstance(body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else None


def _object(content: bytes) -> Mapping[str, Any]:
    """The JSON object in a response; an empty one where there is none."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, Mapping) else {}


def _usage(response: "httpx2.Response", read: Reader) -> Usage | None:
    """The usage of one attempt, whether its answer is usable or not; None for an answer that says nothing of it.

    An error that says nothing took nothing.
    """
    return read(_object(response.content).get("usage")) or (None if response.is_success else Usage())


def _response(state: "RetryCallState") -> "httpx2.Response | None":
    """Return what the last try got; None if it failed."""
    return None if state.outcome is None or state.outcome.failed else state.outcome.result()


def _asked_wait(response: "httpx2.Response") -> float | None:
    """Seconds for which the endpoint takes no request at all; None where it does not say so."""
    if response.status_code not in _BUSY:
        return None
    seconds = retry_after(response)
    return None if seconds is None or seconds < MIN_WAIT else seconds
