"""Models behind an HTTP endpoint: whatever speaks OpenAI's chat completions."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import Failure, Request

if TYPE_CHECKING:
    import httpx2
    from tenacity import RetryCallState

MAX_EXCERPT = 200
"""Characters of an endpoint's own words in a reason."""

MAX_BACKOFF = 8.0
"""Seconds between two tries, unless the endpoint asks for more."""

CONNECT_TIMEOUT = 10.0
"""Seconds for a connection; an endpoint may think for minutes, but it is there at once."""

_BASE_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
_OURS = ("messages", "model", "stream")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")
_ADVICE = {
    401: "check TDQS_API_KEY",
    402: "the account behind TDQS_API_KEY needs credit",
    403: "check TDQS_API_KEY and what it may use",
    404: "check TDQS_BASE_URL, which usually ends in /v1, and TDQS_MODEL",
    413: "the definition is too large for this endpoint; use another model",
    429: "wait, or use an endpoint with a higher limit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model answers and how it is asked. Raises InputError, which says what to set."""

    base_url: str
    """What `/chat/completions` is appended to; usually ends in `/v1`."""

    model: str
    api_key: str | None = field(default=None, repr=False)
    """Travels in the Authorization header and nowhere else."""

    overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Members of every request body, over ours; null leaves a member out."""

    timeout: float = 300.0
    """Seconds for one answer, all tries and waits included; a small machine takes half a minute for each of eight."""

    concurrency: int = 8
    """Requests under way at once."""

    attempts: int = 3
    """Tries where the connection, a rate limit or the server fails."""

    backoff: float = 1.0
    """Seconds that the first wait takes at most; doubles with every try."""

    def __post_init__(self) -> None:
        """Refuses what no request could be made of; no message quotes what may hold a secret."""
        if not _BASE_URL.fullmatch(self.base_url):
            raise InputError(
                "the base URL must look like https://host/v1, without a user, a query or a fragment; set TDQS_BASE_URL "
                "or --base-url, and put a key into TDQS_API_KEY"
            )
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise InputError("the API key holds a character that no HTTP header carries; set TDQS_API_KEY again")
        for name in _OURS:
            if name in self.overrides:
                raise InputError(f"the request overrides cannot set {name!r}; take it out of TDQS_REQUEST_OVERRIDES")
        try:
            json.dumps(self.overrides, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise InputError("the request overrides are no JSON object; correct TDQS_REQUEST_OVERRIDES") from None

    @property
    def digest(self) -> str:
        """16 hex digits over the address and all that a request carries besides the prompt, the key left out."""
        return short_hash(json.dumps([self.url, dict(self.overrides)], sort_keys=True))

    @property
    def url(self) -> str:
        """Where requests go."""
        return f"{self.base_url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)


class OpenAI:
    """A model behind an OpenAI-compatible endpoint; it remembers which answer format the endpoint understands."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Nothing is opened before the first request."""
        self._endpoint = endpoint
        self._form = 0

    def __repr__(self) -> str:
        return f"OpenAI({self._endpoint!r})"

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self._endpoint.model

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """One answer for each request, in their order; within one batch, one HTTP client."""
        import anyio  # noqa: PLC0415  # the offline judge goes without a network stack
        import httpx2  # noqa: PLC0415

        endpoint = self._endpoint
        answers: dict[int, str | Failure] = {}
        places = anyio.CapacityLimiter(endpoint.concurrency)

        async def ask(position: int, request: Request) -> None:
            async with places:
                with anyio.move_on_after(endpoint.timeout):
                    answers[position] = answer = await self._answer(client, request)
                    if isinstance(answer, str):
                        request.heard(answer)

        headers = {"content-type": "application/json"}
        if endpoint.api_key:
            headers["authorization"] = f"Bearer {endpoint.api_key}"
        timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT)
        async with httpx2.AsyncClient(headers=headers, timeout=timeout) as client, anyio.create_task_group() as tasks:
            for position, request in enumerate(requests):
                tasks.start_soon(ask, position, request)
        late = Failure(reason=f"{endpoint.url} gave no answer within {endpoint.timeout:g} s: use a faster one")
        return [answers.get(position, late) for position in range(len(requests))]

    async def _answer(self, client: "httpx2.AsyncClient", request: Request) -> str | Failure:
        """One answer; formats are tried from the strictest that the endpoint is not known to refuse."""
        import httpx2  # noqa: PLC0415

        forms = _forms(request, self._endpoint.overrides)
        form = min(self._form, len(forms) - 1)
        try:
            response = await self._post(client, _body(request, self._endpoint, response_format=forms[form]))
            while form + 1 < len(forms) and _may_refuse_form(response):
                form += 1
                response = await self._post(client, _body(request, self._endpoint, response_format=forms[form]))
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            said = self._public(f"{type(error).__name__}: {error}".rstrip(": "))
            return Failure(
                reason=f"{self._endpoint.url} cannot be reached ({said}): check that it is running and TDQS_BASE_URL"
            )
        if not response.is_success:
            return self._refused(response)
        # Only a success proves that the format was at fault, and not this one request.
        self._form = max(self._form, form)
        return self._read(response)

    async def _post(self, client: "httpx2.AsyncClient", body: bytes) -> "httpx2.Response":
        """The response; the last one, where every try failed. Raises httpx2.RequestError."""
        import anyio  # noqa: PLC0415
        import httpx2  # noqa: PLC0415
        import tenacity  # noqa: PLC0415

        endpoint = self._endpoint
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(httpx2.RequestError) | tenacity.retry_if_result(_is_passing),
            stop=tenacity.stop_after_attempt(endpoint.attempts) | tenacity.stop_before_delay(endpoint.timeout),
            wait=_wait(tenacity.wait_random_exponential(multiplier=endpoint.backoff, max=MAX_BACKOFF)),
            sleep=anyio.sleep,
            retry_error_callback=_last_outcome,
        )
        response: httpx2.Response = await retrying(client.post, endpoint.url, content=body)
        return response

    def _refused(self, response: "httpx2.Response") -> Failure:
        status = response.status_code
        if status >= 500:
            advice = "the endpoint is at fault; try again later"
        elif status < 400:
            advice = "set TDQS_BASE_URL to where it redirects"
        else:
            advice = _ADVICE.get(status, "check TDQS_MODEL and TDQS_REQUEST_OVERRIDES")
        seconds = _retry_after(response)
        asked = "" if seconds is None else f", and asked to wait {seconds:g} s"
        return Failure(reason=f"{self._endpoint.url} answered HTTP {status}{asked} ({self._said(response)}): {advice}")

    def _read(self, response: "httpx2.Response") -> str | Failure:
        """The answer's text; a Failure where the endpoint or the model withholds it."""
        try:
            choice = _Completion.model_validate_json(response.content).choices[0]
        except ValidationError:
            return Failure(
                reason=f"{self._endpoint.url} answered with no chat completion ({self._said(response)}): "
                "check TDQS_BASE_URL, which usually ends in /v1"
            )
        content = choice.message.content or ""
        if choice.message.refusal or choice.finish_reason == "content_filter":
            said = self._public(choice.message.refusal or "content filter")
            return Failure(reason=f"{self.name!r} refused to answer ({said}): use another model for this definition")
        if choice.finish_reason == "length":
            return Failure(
                reason=f"the answer of {self.name!r} was cut off after {len(content)} characters: raise its token "
                "limit or turn its reasoning off with TDQS_REQUEST_OVERRIDES, or use a model with a larger context"
            )
        if not content.strip():
            return Failure(
                reason=f"{self.name!r} answered with no text: turn its reasoning off with TDQS_REQUEST_OVERRIDES, "
                "or use another model"
            )
        return content

    def _said(self, response: "httpx2.Response") -> str:
        """The endpoint's own words, short."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if "html" in kind:
            return "an HTML page"
        return self._public(_error_message(response.content) or response.text) or "nothing more"

    def _public(self, text: str) -> str:
        """A foreign text on one line without the key, cut after the key is out so that no part of it stays."""
        if self._endpoint.api_key:
            text = text.replace(self._endpoint.api_key, "[key]")
        text = " ".join(text.split())
        return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}…"


def _forms(request: Request, overrides: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, ...]:
    """The response formats in use, from enforced to asked for in the prompt alone."""
    if "response_format" in overrides:
        return (None,)
    return (
        {"type": "json_schema", "json_schema": {"name": request.name, "strict": True, "schema": request.schema}},
        {"type": "json_object", "schema": request.schema},
        None,
    )


def _body(request: Request, endpoint: Endpoint, *, response_format: Mapping[str, Any] | None) -> bytes:
    """The request's bytes, in ASCII: a definition may hold lone surrogates, which UTF-8 cannot carry."""
    system, user = request.prompt.system, request.prompt.user
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": user})
    for correction in request.corrections:
        messages.append({"role": "assistant", "content": correction.answer})
        messages.append({"role": "user", "content": correction.objection})
    ours = {"model": endpoint.model, "messages": messages, "temperature": 0, "response_format": response_format}
    members = ours | dict(endpoint.overrides)
    return json.dumps({name: value for name, value in members.items() if value is not None}).encode("ascii")


def _may_refuse_form(response: "httpx2.Response") -> bool:
    """Endpoints that do not know a response format say 400 or 422, and llama-cpp-python 500."""
    return response.status_code in (400, 422, 500)


def _is_passing(response: "httpx2.Response") -> bool:
    """Whether the same request may succeed in a moment; a 500 that speaks of the format will not."""
    status = response.status_code
    return status in (408, 429) or (status >= 500 and not (status == 500 and b"response_format" in response.content))


def _wait(backoff: "Callable[[RetryCallState], float]") -> "Callable[[RetryCallState], float]":
    """What the endpoint asks for in Retry-After, else the back-off."""

    def seconds(state: "RetryCallState") -> float:
        outcome = state.outcome
        asked = None if outcome is None or outcome.failed else _retry_after(outcome.result())
        return backoff(state) if asked is None else asked

    return seconds


def _last_outcome(state: "RetryCallState") -> Any:  # noqa: ANN401  # as tenacity has it
    return state.outcome.result() if state.outcome else None


def _retry_after(response: "httpx2.Response") -> float | None:
    """Seconds, given as such or as a date, which counts from the response's own (RFC 9110, 10.2.3)."""
    value = response.headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        asked = parsedate_to_datetime(value) - parsedate_to_datetime(response.headers.get("date", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, asked.total_seconds())


def _error_message(content: bytes) -> str | None:
    """The message in the usual `{"error": {"message": …}}` or `{"error": …}`."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    error = body.get("error") if isinstance(body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else None
