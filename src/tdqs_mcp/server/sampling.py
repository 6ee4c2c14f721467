"""The connected client's model as judge: asked during the call, or between two calls where the protocol has it so."""

import warnings
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from mcp.types.version import is_version_at_least
from pydantic import BaseModel, ValidationError

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.client_answers import Answered, Asking, Sample
from tdqs_mcp.judges.judge import AnswersNeeded, Failure, Judge, Model, Request
from tdqs_mcp.judges.prompted import Prompted

SAMPLING = "sampling"
"""The judge's id when the client's model judged."""

MAX_TOKENS = 4_000
"""Tokens of one answer; a verdict takes about 700."""

MAX_TOOLS = 300
"""Tools of one call: their prompts travel to the client together, ten kilobytes each."""

_INPUT_REQUIRED = "2026-07-28"
"""From this version of the protocol on, a server asks its client only by ending the call (SEP-2322)."""

_Context = Context[Any, Any]
Result = TypeVar("Result")


class Paused(Exception):  # noqa: N818  # nothing has failed
    """The call goes on when the client calls again with the answers."""

    def __init__(self, result: InputRequiredResult) -> None:
        """What the client is asked."""
        super().__init__("the client has to answer first")
        self.result = result


class _Known(BaseModel):
    """An answer of an earlier round: text and model, or the reason why there is none."""

    text: str = ""
    model: str = ""
    reason: str | None = None


class _State(BaseModel):
    """What the client carries from one round to the next; the SDK seals it."""

    catalog: str | None = None
    asked: list[str] = []
    """Keys of the round that the client was asked last."""

    known: dict[str, _Known] = {}


def client_judge(context: _Context, *, tools: int) -> Judge:
    """The judge behind the connected client. Raises InputError for a client that lends no model, or too many tools."""
    return Prompted(id=SAMPLING, model=client_model(context, tools=tools))


def client_model(context: _Context, *, tools: int) -> Model:
    """The connected client's model. Raises InputError for a client that lends none, or too many tools."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise InputError(
            "this client lends no model: it does not offer sampling. Leave 'judge' out for the configured judge, "
            "'writer' for the offline one, or judge with your own model: prepare_judgement, then submit_judgement"
        )
    if tools > MAX_TOOLS:
        raise InputError(f"{tools} tools are more than {MAX_TOOLS}, which one call may ask your model about; send part")
    return Answered(answers=_answers(context)) if pauses(context) else Asking(partial(_ask, context))


async def through_client(
    context: _Context, work: Callable[[], Awaitable[Result]], *, catalog: str | None = None
) -> Result:
    """What the work gives. Raises Paused where the client has to be asked first; `catalog` is what it goes on with."""
    try:
        return await work()
    except AnswersNeeded as needed:
        raise Paused(_questions(context, needed.requests, catalog=catalog)) from None


def resumed_catalog(context: _Context) -> str | None:
    """The catalog that an interrupted call was about."""
    return _state(context).catalog


def pauses(context: _Context) -> bool:
    """Whether the call has to end whenever the client is asked."""
    version = context.protocol_version
    return version is not None and is_version_at_least(version, _INPUT_REQUIRED)


def _questions(context: _Context, requests: tuple[Request, ...], *, catalog: str | None) -> InputRequiredResult:
    known = {key: _kept(answer) for key, answer in _answers(context).items()}
    state = _State(catalog=catalog, asked=[each.key for each in requests], known=known)
    return InputRequiredResult(
        input_requests={each.key: CreateMessageRequest(params=_params(each)) for each in requests},
        request_state=state.model_dump_json(exclude_defaults=True),
    )


def _answers(context: _Context) -> Mapping[str, Sample | Failure]:
    """What the client has answered in all rounds; a question that it skipped is not put again."""
    state, said = _state(context), context.input_responses or {}
    skipped = Failure(reason="the client gave no answer: allow its sampling requests")
    earlier = {key: _given(known) for key, known in state.known.items()}
    return earlier | {key: _read(said[key]) if key in said else skipped for key in state.asked}


def _state(context: _Context) -> _State:
    try:
        return _State.model_validate_json(context.request_state or "{}")
    except ValidationError as error:
        raise InputError("the request's state is not ours; call the tool again without it") from error


async def _ask(context: _Context, request: Request) -> Sample | Failure:
    """One call of the client's model while ours is under way: what the protocol had until 2025-11-25."""
    params = _params(request)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)  # there is no other way to ask an older client
        answer = context.session.create_message(
            params.messages,
            max_tokens=params.max_tokens,
            system_prompt=params.system_prompt,
            related_request_id=context.request_id,
        )
    try:
        return _read(await answer)
    except (MCPError, ValidationError) as error:
        said = " ".join(str(error).split())[:200]
        return Failure(reason=f"the client did not answer ({said}): allow its sampling requests")


def _params(request: Request) -> CreateMessageRequestParams:
    messages = [
        SamplingMessage(
            role="assistant" if role == "assistant" else "user", content=TextContent(type="text", text=_whole(text))
        )
        for role, text in request.conversation
    ]
    return CreateMessageRequestParams(
        messages=messages, system_prompt=_whole(request.prompt.system) or None, max_tokens=MAX_TOKENS
    )


def _whole(text: str) -> str:
    """The text without what UTF-8 cannot carry: a definition may hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _read(answer: Any) -> Sample | Failure:  # noqa: ANN401  # one of the SDK's result types
    content = getattr(answer, "content", None)
    blocks = content if isinstance(content, list) else [content]
    text = "".join(block.text for block in blocks if isinstance(block, TextContent))
    model = str(getattr(answer, "model", ""))
    if getattr(answer, "stop_reason", None) == "maxTokens":
        return Failure(reason=f"the answer of {model!r} was cut off after {len(text)} characters; use another model")
    if not text.strip():
        return Failure(reason=f"{model or 'the client'!r} answered with no text; use another model")
    return Sample(text=text, model=model)


def _kept(answer: Sample | Failure) -> _Known:
    if isinstance(answer, Failure):
        return _Known(reason=answer.reason)
    return _Known(text=answer.text, model=answer.model)


def _given(known: _Known) -> Sample | Failure:
    return Sample(text=known.text, model=known.model) if known.reason is None else Failure(reason=known.reason)
