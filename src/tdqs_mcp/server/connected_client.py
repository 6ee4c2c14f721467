"""The connected client during a call: its model as judge or writer, reports of progress, whether it is still there.

Its model is asked during the call, or between two calls where the protocol has it so.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from mcp.types.version import is_version_at_least
from pydantic import BaseModel, ValidationError

from tdqs_mcp.canonical import escape_surrogates
from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.judges.asking import Answered, Asking, Sample
from tdqs_mcp.judges.judge import AnswersNeeded, Failure, JudgeWrapper, Model, ModelWrapper, Request
from tdqs_mcp.results.improvements import Question
from tdqs_mcp.results.verdicts import Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case
from tdqs_mcp.server.worker import compute, on_loop

SAMPLING = "sampling"
"""The judge's id when the client's model judged."""

MAX_TOKENS = 4_000
"""Tokens of one answer; a verdict takes about 700."""

MAX_SAMPLED_TOOLS = 300
"""Tools of one call that samples: their prompts travel to the client together, ten kilobytes each."""

BATCH = 32
"""Cases between two reports: two rounds of a remote judge that has 16 under way, 20 ms of the offline one."""

BEAT_SECONDS = 9.0
"""How often a call that waits for a model says that it goes on; clients give up after 10 to 60 s without a word."""

POLL_SECONDS = 0.2
"""How often a connection is checked."""

_INPUT_REQUIRED = "2026-07-28"
"""From this version of the protocol on, a server asks its client only by ending the call (SEP-2322)."""

CallContext: TypeAlias = Context[Any, Any]
Result = TypeVar("Result")


class Paused(Exception):  # noqa: N818  # nothing has failed
    """The call goes on when the client calls again with the answers."""

    def __init__(self, result: InputRequiredResult) -> None:
        """Keep the questions to the client."""
        super().__init__("the client has to answer first")
        self.result = result


async def run_call(
    call: CallContext, work: Callable[[], Coroutine[Any, Any, Result]], *, catalog: str | None = None
) -> Result:
    """The result of work that computes, in a thread of its own; cancelled when the client has gone.

    Raises Paused where the client has to be asked first; `catalog` is the catalog that the next round goes on with.
    """
    try:
        return await while_connected(call, lambda: compute(work))
    except AnswersNeeded as needed:
        raise Paused(_ask_between_calls(call, needed.requests, catalog=catalog)) from None


async def while_connected(call: CallContext, work: Callable[[], Awaitable[Result]]) -> Result:
    """The result of the work; cancelled when the HTTP client has gone. On stdio the end of the server ends it.

    Over HTTP with sessions, the SDK would let the call run on.
    """
    is_gone = getattr(call.request_context.request, "is_disconnected", None)
    if is_gone is None:
        return await work()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_when, is_gone, tasks.cancel_scope)
            result = await work()
            tasks.cancel_scope.cancel()
            return result
    except ExceptionGroup as group:  # the work's own error, which the task group has wrapped
        error = group.exceptions[0]
        raise error from error.__cause__
    raise CaptureError("the client has gone")


async def _cancel_when(is_gone: Callable[[], Awaitable[bool]], scope: anyio.CancelScope) -> None:
    while not await is_gone():  # noqa: ASYNC110  # ASGI tells nobody who does not ask
        await anyio.sleep(POLL_SECONDS)
    scope.cancel()


class Progress:
    """How many requests one call has made and how many are answered; both numbers only grow."""

    def __init__(self, call: CallContext, *, verb: str = "judged", is_silent: bool = False) -> None:
        """Reports to the client of the call, unless it is silent."""
        self._call = call
        self._verb = verb
        self._is_silent = is_silent
        self._done = self._total = self._beats = 0

    def expect(self, count: int) -> None:
        """Adds requests that are about to be made."""
        self._total += count

    async def report(self, count: int) -> None:
        """Adds requests that have been answered, and reports."""
        self._done += count
        if not self._is_silent:
            message = f"{self._verb} {self._done} of {self._total}"
            await self._call.report_progress(self._done + self._beats / 1_000, self._total, message)

    async def during(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await what waits for a model or a person, and report meanwhile, as progress has to grow, by a thousandth."""
        beat = asyncio.get_running_loop().create_task(self._beat())
        try:
            return await work
        finally:
            beat.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._beats += 1
            await self.report(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressJudge(JudgeWrapper):
    """Passes the cases on in batches and reports progress after each of them, over all gradings together."""

    progress: Progress
    batch: int = BATCH

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order. Raises AnswersNeeded once for what all batches need."""
        self.progress.expect(len(cases))
        verdicts: list[Verdict | Ungraded] = []
        needed: list[Request] = []
        for start in range(0, len(cases), self.batch):
            batch = cases[start : start + self.batch]
            try:
                verdicts += await self._grade(batch)
            except AnswersNeeded as missing:
                needed += missing.requests
            else:
                on_loop(self.progress.report, len(batch))
        if needed:
            raise AnswersNeeded(needed)
        return verdicts

    async def _grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The offline judge computes here; every other one waits for somebody, which the event loop does."""
        if self.stamp.is_offline:
            return await self.judge.grade(cases)
        return on_loop(lambda: self.progress.during(self.judge.grade(cases)))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressModel(ModelWrapper):
    """Reports progress with every answer."""

    progress: Progress

    async def complete(self, request: Request) -> str | Failure:
        """The model's answer."""
        self.progress.expect(1)
        answer = await self.progress.during(self.model.complete(request))
        await self.progress.report(1)
        return answer


MAX_ASKED = 5
"""Questions of one form; a person answers a few, or none."""

FORM = "questions"
"""The key of a form among what a client is asked between two calls."""


async def ask_user(call: CallContext, questions: Sequence[Question], *, catalog: str) -> dict[str, str] | None:
    """Return the answers of the person behind the client by question; None where the client shows no forms.

    Raises Paused where the call has to end to ask; `catalog` is the catalog that the next round goes on with.
    """
    capabilities = call.client_capabilities
    has_forms = capabilities is not None and capabilities.elicitation is not None
    if not has_forms or not questions:
        return None
    texts = {question.id: question.text for question in questions[:MAX_ASKED]}
    schema = {"type": "object", "properties": {key: {"type": "string", "description": texts[key]} for key in texts}}
    message = "What the tool definitions do not say. Leave empty what you do not know."
    if ends_to_ask(call):
        answer: object = (call.input_responses or {}).get(FORM)
        if answer is None:
            params = ElicitRequestFormParams(message=message, requested_schema=schema)
            state = _State(catalog=catalog).model_dump_json(exclude_defaults=True)
            pause = InputRequiredResult(input_requests={FORM: ElicitRequest(params=params)}, request_state=state)
            raise Paused(pause)
    else:
        try:
            answer = await call.session.elicit_form(message, schema, related_request_id=call.request_id)
        except (MCPError, ValidationError):
            return None
    content = getattr(answer, "content", None) or {}
    answers = {key: str(value).strip() for key, value in content.items() if key in texts and value is not None}
    return {key: text for key, text in answers.items() if text}


class _State(BaseModel):
    """State that the client carries from one round to the next; the SDK seals it."""

    catalog: str | None = None
    keys: list[str] = []
    """Keys of the last round's requests."""

    answers: dict[str, Sample | Failure] = {}
    """The answers of all rounds before that, by key."""


def make_client_model(call: CallContext, *, tools: int) -> Model:
    """The connected client's model. Raises InputError for a client that lends none, or too many tools."""
    capabilities = call.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise InputError(
            "this client lends no model: it does not offer sampling. Leave 'judge' out for the configured judge, "
            "'writer' for the offline one, or judge with your own model: judge_definitions"
        )
    if tools > MAX_SAMPLED_TOOLS:
        limit = MAX_SAMPLED_TOOLS
        raise InputError(f"{tools} tools are more than {limit}, which one call may ask your model about; send part")
    return Answered(answers=_answers(call)) if ends_to_ask(call) else Asking(_Sampling(call).ask)


def resumed_catalog(call: CallContext) -> str | None:
    """The id of the catalog that an interrupted call was about."""
    return _state(call).catalog


def ends_to_ask(call: CallContext) -> bool:
    """Return whether the call has to end whenever the client is asked."""
    version = call.protocol_version
    return version is not None and is_version_at_least(version, _INPUT_REQUIRED)


def _ask_between_calls(call: CallContext, requests: tuple[Request, ...], *, catalog: str | None) -> InputRequiredResult:
    state = _State(catalog=catalog, keys=[request.key for request in requests], answers=dict(_answers(call)))
    return InputRequiredResult(
        input_requests={request.key: CreateMessageRequest(params=_params(request)) for request in requests},
        request_state=state.model_dump_json(exclude_defaults=True),
    )


def _answers(call: CallContext) -> Mapping[str, Sample | Failure]:
    """Return what the client has answered in all rounds; a question that it skipped is not put again."""
    state, responses = _state(call), call.input_responses or {}
    skipped = Failure(reason="the client gave no answer: allow its sampling requests")
    return state.answers | {key: _read_sample(responses[key]) if key in responses else skipped for key in state.keys}


def _state(call: CallContext) -> _State:
    try:
        return _State.model_validate_json(call.request_state or "{}")
    except ValidationError as error:
        raise InputError("the request's state is not ours; call the tool again without it") from error


class _Sampling:
    """Asks the client's model during the call, as the protocol had it until 2025-11-25.

    The first request goes alone: a client that refuses it is not asked again for every other tool.
    """

    def __init__(self, call: CallContext) -> None:
        self._call = call
        self._first = anyio.Lock()
        self._is_open = False
        self._refusal: Failure | None = None

    async def ask(self, request: Request) -> Sample | Failure:
        """The client's answer; its refusal of an earlier request too."""
        if self._is_open or self._refusal:
            return self._refusal or await self._send(request)
        async with self._first:
            return self._refusal or await self._send(request)

    async def _send(self, request: Request) -> Sample | Failure:
        params = _params(request)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)  # there is no other way to ask an older client
            answer = self._call.session.create_message(
                params.messages,
                max_tokens=params.max_tokens,
                system_prompt=params.system_prompt,
                related_request_id=self._call.request_id,
            )
        try:
            sample = _read_sample(await answer)
        except (MCPError, ValidationError) as error:
            reason = " ".join(str(error).split())[:200]
            self._refusal = Failure(reason=f"the client did not answer ({reason}): allow its sampling requests")
            return self._refusal
        self._is_open = True
        return sample


def _params(request: Request) -> CreateMessageRequestParams:
    messages = [
        SamplingMessage(
            role="assistant" if role == "assistant" else "user",
            content=TextContent(type="text", text=escape_surrogates(text)),
        )
        for role, text in request.conversation
    ]
    return CreateMessageRequestParams(
        messages=messages, system_prompt=escape_surrogates(request.prompt.system) or None, max_tokens=MAX_TOKENS
    )


def _read_sample(answer: Any) -> Sample | Failure:  # noqa: ANN401  # one of the SDK's result types
    """Return the text of a client's answer to a sampling request; a Failure for one that is cut off or has no text."""
    content = getattr(answer, "content", None)
    blocks = content if isinstance(content, list) else [content]
    text = "".join(block.text for block in blocks if isinstance(block, TextContent))
    model = str(getattr(answer, "model", ""))
    if getattr(answer, "stop_reason", None) == "maxTokens":
        return Failure(reason=f"the answer of {model!r} was cut off after {len(text)} characters; use another model")
    if not text.strip():
        return Failure(reason=f"{model or 'the client'!r} answered with no text; use another model")
    return Sample(text=text, model=model)
