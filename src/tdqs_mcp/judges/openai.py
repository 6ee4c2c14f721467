"""Models behind an endpoint that is compatible with OpenAI's chat completions."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from tdqs_mcp.judges.endpoint import Count, Endpoint, EndpointModel, parse
from tdqs_mcp.judges.judge import SILENT, Failure, Request, Usage

if TYPE_CHECKING:
    import httpx2

    from tdqs_mcp.judges.budget import Ledger

_THOUGHT = re.compile(r"\s*<(think|thinking)>(?:.*?</\1>|.*)", re.DOTALL)
"""Reasoning in front of an answer, where a model has no field of its own for it; without an end, all of it."""

MAX_DOLLARS = 1_000
"""Highest reported cost of an answer that is believed; more, such as infinity, is no price."""


class _Part(BaseModel):
    text: str = ""


class _ChatMessage(BaseModel):
    content: str | list[_Part] | None = None
    """Some endpoints answer in parts, as a request may have them."""

    refusal: str | None = None

    @property
    def text(self) -> str:
        """Return what is said in so many words."""
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""


class _Choice(BaseModel):
    message: _ChatMessage
    finish_reason: str | None = None


class _Cached(BaseModel):
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class _ChatUsage(BaseModel):
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: _Cached | None = None
    cost: Any = None
    """Dollars where it is a number, as OpenRouter tells them; elsewhere whatever the endpoint means by it."""


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)


class OpenAI(EndpointModel):
    """A model behind an OpenAI-compatible endpoint; it remembers which answer format the endpoint understands."""

    cut_advice = "raise its token limit or turn its reasoning off with TDQS_REQUEST_OVERRIDES"
    form_advice = "check TDQS_BASE_URL, which usually ends in /v1"
    mute_advice = "turn its reasoning off with TDQS_REQUEST_OVERRIDES, or use another model"

    def __init__(self, endpoint: Endpoint, *, ledger: "Ledger | None" = None) -> None:
        """Nothing is opened before the first request. The ledger admits every try; None admits all."""
        super().__init__(endpoint, ledger=ledger)
        self._form = 0
        self.parameters = endpoint.digest(_members(SILENT, endpoint, response_format=_forms(SILENT, {})[0]))
        """Digest of what goes along with every prompt."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The key, where there is one."""
        key = self._endpoint.api_key
        return {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}

    async def ask(self, client: "httpx2.AsyncClient", request: Request) -> str | Failure:
        """Return one answer; formats are tried from the strictest that the endpoint is not known to refuse."""
        forms = _forms(request, self._endpoint.overrides)
        form = min(self._form, len(forms) - 1)
        response = await self._post(client, request, forms[form])
        while form + 1 < len(forms) and _may_refuse_form(response):
            form += 1
            response = await self._post(client, request, forms[form])
        completion = self.parsed(response, _Completion, called="chat completion")
        if isinstance(completion, Failure):
            return completion
        # Only a success proves that the format was at fault, and not this one request.
        self._form = max(self._form, form)
        return self._read(completion.choices[0])

    async def _post(
        self, client: "httpx2.AsyncClient", request: Request, form: Mapping[str, Any] | None
    ) -> "httpx2.Response | Failure":
        # In ASCII: a definition may hold lone surrogates, which UTF-8 cannot carry.
        body = json.dumps(_members(request, self._endpoint, response_format=form)).encode("ascii")
        return await self.send(
            request, lambda: client.post(self._endpoint.url, content=body), answer=_Completion, read=_tokens
        )

    def _read(self, choice: _Choice) -> str | Failure:
        """The answer's text; a Failure where the endpoint or the model withholds it."""
        content, refusal = choice.message.text, choice.message.refusal or None
        if choice.finish_reason == "content_filter":
            refusal = refusal or "content filter"
        thought = _THOUGHT.match(content)
        spoken = content[thought.end() :] if thought else content
        return self.read_text(content, spoken=spoken, refusal=refusal, is_cut=choice.finish_reason == "length")


def _forms(request: Request, overrides: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, ...]:
    """The response formats in use, from enforced to asked for in the prompt alone."""
    if "response_format" in overrides:
        return (None,)
    return (
        {"type": "json_schema", "json_schema": {"name": request.name, "strict": True, "schema": request.schema}},
        {"type": "json_object", "schema": request.schema},
        None,
    )


def _members(request: Request, endpoint: Endpoint, *, response_format: Mapping[str, Any] | None) -> dict[str, Any]:
    """The request's body."""
    system = [("system", request.prompt.system)] if request.prompt.system else []
    messages = [{"role": role, "content": text} for role, text in (*system, *request.conversation)]
    return endpoint.overridden(
        {"model": endpoint.model, "messages": messages, "temperature": 0, "response_format": response_format}
    )


def _may_refuse_form(response: "httpx2.Response | Failure") -> bool:
    """Endpoints that do not know a response format say 400 or 422, and llama-cpp-python 500."""
    return not isinstance(response, Failure) and response.status_code in (400, 422, 500)


def _tokens(usage: object) -> Usage | None:
    """Return what an answer says of its tokens and its cost; nothing is counted that it does not say."""
    read = parse(_ChatUsage, usage)
    if read is None:
        return None
    cached = read.prompt_tokens_details or _Cached()
    is_told = type(read.cost) in (int, float) and 0 <= read.cost < MAX_DOLLARS
    return Usage(
        input_tokens=read.prompt_tokens,
        cache_read_tokens=cached.cached_tokens or 0,
        cache_write_tokens=cached.cache_write_tokens or 0,
        output_tokens=read.completion_tokens,
        cost=int(read.cost * 10**9) if is_told else None,
    )
