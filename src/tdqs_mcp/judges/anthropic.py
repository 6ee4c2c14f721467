"""Anthropic's models through the Messages API: one answer at a time, or in batches at half the price."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel

from tdqs_mcp.canonical import escape_surrogates
from tdqs_mcp.errors import EndpointError, InputError
from tdqs_mcp.judges.budget import Ledger, Preview, cost
from tdqs_mcp.judges.endpoint import (
    MAX_ANSWER_BYTES,
    Count,
    Endpoint,
    EndpointModel,
    connect,
    error_message,
    parse,
)
from tdqs_mcp.judges.judge import SILENT, Failure, Request, Usage

if TYPE_CHECKING:
    import anyio
    import httpx2
    from anthropic import AsyncAnthropic

DEFAULT_MODEL = "claude-haiku-5-5"
"""The model of a judge that is named without one: made for classification, and the cheapest there is."""

BASE_URL = "https://api.anthropic.com"
EFFORT = "low"
"""How long a model may think: the published calibration examples are those of a model that does not reason."""

MAX_TOKENS = 8_000
"""Tokens of one answer, thinking included; a verdict takes about 700."""

HEAD_START = 20.0
"""Seconds that a rubric's first request may be ahead of the others; an answer takes three to ten."""

MAX_BATCH = 100_000
"""Requests of one batch (Message Batches API, "Batch limitations"); it may have 256 MB, too."""

_PATH = "/v1/messages"
_BATCH_ID = re.compile(r"[A-Za-z0-9_-]+")
_UNTOLD = {
    "canceled": "the batch was canceled before this request's turn; submit it again",
    "expired": "the batch expired before this request's turn; submit it again",
}


class _Block(BaseModel):
    type: str = ""
    text: str = ""


class _StopDetails(BaseModel):
    category: str | None = None
    explanation: str | None = None


class _Message(BaseModel):
    type: Literal["message"]
    content: list[_Block]
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: Any = None
    """Read for itself: an odd count must not cost the answer."""


class _Result(BaseModel):
    type: str
    message: _Message | None = None
    error: Any = None


class _Row(BaseModel):
    custom_id: str
    result: _Result


class _Usage(BaseModel):
    input_tokens: Count = 0
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    output_tokens: Count = 0


class Anthropic(EndpointModel):
    """A model of Anthropic's; rubrics travel as cached system prompts, and answers are held to their schema."""

    cut_advice = "raise max_tokens with TDQS_REQUEST_OVERRIDES"
    form_advice = "check the base URL"
    mute_advice = "raise max_tokens or use another model"

    def __init__(self, endpoint: Endpoint, *, effort: str | None = EFFORT, ledger: Ledger | None = None) -> None:
        """Nothing is opened before the first request, which the ledger admits. Raises InputError without a key.

        A model that takes no `effort` is asked without, once it has said so; batches need None for it.
        """
        if not endpoint.api_key:
            raise InputError(f"the anthropic judge needs a key: set {endpoint.key_name}")
        base_url = endpoint.base_url.rstrip("/").removesuffix(_PATH).removesuffix("/v1")
        super().__init__(replace(endpoint, base_url=base_url, path=_PATH), ledger=ledger)
        self._effort = effort
        self._rubrics: dict[str, anyio.Event] = {}
        """Events of the first answer by system prompt."""

        self.parameters = self._endpoint.digest(self._members(SILENT, ttl="5m"))
        """Digest of what goes along with every prompt, an effort included that the model may turn out not to take."""

    async def complete(self, request: Request) -> str | Failure:
        """Return the answer; whatever goes wrong with one is its Failure alone."""
        if not isinstance(self._ledger, Preview):
            import anthropic  # noqa: F401, PLC0415  # it takes two seconds, which are not the endpoint's
        return await super().complete(request)

    async def ask(self, client: "httpx2.AsyncClient", request: Request) -> str | Failure:
        """Return the answer. The first request of a rubric gets a head start, so that others find it in the cache."""
        import anyio  # noqa: PLC0415

        system = request.prompt.system
        if system in self._rubrics:
            with anyio.move_on_after(min(HEAD_START, self._endpoint.timeout / 4)):
                await self._rubrics[system].wait()
            return await self._answer(client, request)
        is_cached = anyio.Event()
        if system:
            self._rubrics[system] = is_cached
        try:
            return await self._answer(client, request)
        finally:
            is_cached.set()

    async def submit(self, requests: Sequence[Request]) -> str:
        """The id of a new batch: keep it, and collect within 29 days. Answers cost half and come within a day.

        Tried once: a second try could be a second batch. Raises InputError and EndpointError.
        """
        import anthropic  # noqa: PLC0415

        if not 1 <= len(requests) <= MAX_BATCH:
            raise InputError(f"a batch has 1 to {MAX_BATCH} requests, not {len(requests)}")
        entries = [
            {"custom_id": key, "params": self._members(request, ttl="1h")}
            for key, request in {request.key: request for request in requests}.items()
        ]
        if self._ledger and (refusal := self._ledger.book_batch(self.name, requests)):
            raise InputError(f"a batch of {len(requests)} requests was not submitted: {refusal}")
        try:
            async with connect(self._endpoint, self.headers) as client:
                batch = await self._sdk(client).messages.batches.create(requests=cast("Any", entries))
        except (anthropic.AnthropicError, ValueError) as error:
            raise self._untaken(error, doing="takes no batch") from None  # the SDK's own error may quote the key
        self.usage += Usage(requests=len(entries))
        return batch.id

    async def collect(self, batch: str, requests: Sequence[Request]) -> list[str | Failure] | None:
        """The batch's answers to these requests, in their order; None while it is under way.

        Needs nothing but the id and equal requests, so another process may collect than submitted. Raises InputError,
        and EndpointError for a batch that is not there.
        """
        import anthropic  # noqa: PLC0415
        import httpx2  # noqa: PLC0415

        if not _BATCH_ID.fullmatch(batch):
            raise InputError(f"{batch!r} is not a batch id; give the one that came when the batch was submitted")
        try:
            async with connect(
                self._endpoint, self.headers, max_bytes=max(1, len(requests)) * MAX_ANSWER_BYTES
            ) as http:
                client = self._sdk(http, max_retries=self._endpoint.attempts - 1)
                if (await client.messages.batches.retrieve(batch)).processing_status != "ended":
                    return None
                # Not from results_url: whatever stands there, the key goes where the endpoint is.
                response = await client.get(f"{_PATH}/batches/{batch}/results", cast_to=httpx2.Response)
        except (anthropic.AnthropicError, ValueError) as error:
            raise self._untaken(error, doing=f"does not hand out batch {batch!r}") from None
        rows = {
            row.custom_id: row.result for row in (parse(_Row, line) for line in response.content.splitlines()) if row
        }
        answers = {key: self._read_row(result) for key, result in rows.items()}
        lost = Failure(reason=f"batch {batch!r} holds no answer to this request; submit it again")
        return [answers.get(request.key, lost) for request in requests]

    def _sdk(self, client: "httpx2.AsyncClient", *, max_retries: int = 0) -> "AsyncAnthropic":
        """The SDK over our HTTP client; only collecting leaves trying again to it."""
        import anthropic  # noqa: PLC0415  # importing it takes two seconds

        sdk = anthropic.AsyncAnthropic(
            api_key=self._endpoint.api_key,
            base_url=self._endpoint.base_url,
            max_retries=max_retries,
            timeout=self._endpoint.timeout,
            http_client=client,
        )
        # The SDK takes headers, a key among them, from ANTHROPIC_CUSTOM_HEADERS too, and has no option against it.
        sdk._custom_headers = {}  # noqa: SLF001
        return sdk

    async def _answer(self, client: "httpx2.AsyncClient", request: Request) -> str | Failure:
        response = await self._post(client, request, members := self._members(request, ttl="5m"))
        if _refuses_effort(response) and "effort" in members.get("output_config", {}):
            self._effort = None  # a model that takes none says so to every request
            response = await self._post(client, request, self._members(request, ttl="5m"))
        message = self.parsed(response, _Message, called="message")
        return message if isinstance(message, Failure) else self._read(message)

    async def _post(
        self, client: "httpx2.AsyncClient", request: Request, members: Mapping[str, Any]
    ) -> "httpx2.Response | Failure":
        async def post() -> "httpx2.Response":
            import anthropic  # noqa: PLC0415
            import httpx2  # noqa: PLC0415

            try:
                raw = await self._sdk(client).messages.with_raw_response.create(
                    model=members["model"],
                    max_tokens=members["max_tokens"],
                    messages=members["messages"],
                    extra_body=members,
                )
            except anthropic.APIStatusError as error:
                return error.response
            except anthropic.APIConnectionError as error:
                raise httpx2.RequestError(_said(error)) from error
            return raw.http_response

        return await self.send(request, post, answer=_Message, read=self._tokens)

    def _members(self, request: Request, *, ttl: Literal["5m", "1h"]) -> dict[str, Any]:
        """The request's body, escaped where UTF-8 could not carry it: a definition may hold lone surrogates."""
        rubric = {
            "type": "text",
            "text": escape_surrogates(request.prompt.system),
            "cache_control": {"type": "ephemeral", "ttl": ttl},
        }
        form = {"format": {"type": "json_schema", "schema": request.schema}}
        return {
            "max_tokens": MAX_TOKENS,
            **self._endpoint.overridden(
                {
                    "model": self.name,
                    "max_tokens": MAX_TOKENS,
                    "system": [rubric] if request.prompt.system else None,
                    "messages": [
                        {"role": role, "content": escape_surrogates(text)} for role, text in request.conversation
                    ],
                    "output_config": form | ({"effort": self._effort} if self._effort else {}),
                }
            ),
        }

    def _read_row(self, result: _Result) -> str | Failure:
        """Return one request's outcome in a batch."""
        if result.message is not None:
            self.usage += self._tokens(result.message.usage, is_batch=True) or Usage(cost=None)
            return self._read(result.message)
        if result.type in _UNTOLD:
            return Failure(reason=_UNTOLD[result.type])
        reason = self._endpoint.public(error_message(result.error) or result.type)
        return Failure(reason=f"the batch could not ask {self.name!r} ({reason}): check TDQS_REQUEST_OVERRIDES")

    def _read(self, message: _Message) -> str | Failure:
        """The answer's text; a Failure where the model withholds it."""
        text = "".join(block.text for block in message.content if block.type == "text")
        details = message.stop_details or _StopDetails()
        refusal = details.explanation or details.category or "no reason given"
        return self.read_text(
            text,
            spoken=text,
            refusal=refusal if message.stop_reason == "refusal" else None,
            is_cut=message.stop_reason in ("max_tokens", "model_context_window_exceeded"),
        )

    def _tokens(self, usage: object, *, is_batch: bool = False) -> Usage | None:
        """Return what an answer used; None for one that does not say so."""
        read = parse(_Usage, usage)
        if read is None:
            return None
        cache_read, cache_written = read.cache_read_input_tokens or 0, read.cache_creation_input_tokens or 0
        used = Usage(
            input_tokens=read.input_tokens + cache_read + cache_written,
            cache_read_tokens=cache_read,
            cache_write_tokens=cache_written,
            output_tokens=read.output_tokens,
        )
        return replace(used, cost=cost(self.name, used, is_batch=is_batch))

    def _untaken(self, error: Exception, *, doing: str) -> EndpointError:
        reason = self._endpoint.public(_said(error))
        return EndpointError(
            f"{self._endpoint.base_url} {doing} ({reason}): check {self._endpoint.key_name} and the model"
        )


def _refuses_effort(response: "httpx2.Response | Failure") -> bool:
    return not isinstance(response, Failure) and response.status_code == 400 and b"effort" in response.content


def _said(error: BaseException) -> str:
    """The SDK's words for what happened below it are the same for everything: what lies below says more."""
    return str(error_message(getattr(error, "body", None)) or error.__cause__ or error)
