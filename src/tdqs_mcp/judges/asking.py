"""Asks a model many requests at once, and again about invalid answers; and a client's model, which is asked so."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.judge import AnswersNeeded, Correction, Failure, Model, Request

MAX_CORRECTIONS = 2
"""How often an invalid answer is sent back with the reason."""

UNKNOWN = "the client's model"
"""A model's name as long as nobody has told it."""

Outcome = TypeVar("Outcome")

CheckedRequest: TypeAlias = tuple[Request, Callable[[str], Outcome]]
"""A request, and what reads the answer; it raises ContractError for one that cannot be used."""


async def ask(
    model: Model, questions: Sequence[CheckedRequest[Outcome]], *, corrections: int = MAX_CORRECTIONS
) -> list[Outcome | Failure]:
    """Return what is read from the answer to each question, in their order. A round asks for all that is open.

    An answer that cannot be used goes back with the reason, so many times at most; then it is a Failure.
    """
    outcomes: list[Outcome | Failure | Request] = [request for request, _ in questions]
    for _ in range(1 + corrections):
        pending = {place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, Request)}
        answers = await complete_all(model, list(pending.values())) if pending else []
        for (place, request), answer in zip(pending.items(), answers, strict=True):
            outcomes[place] = _outcome(request, answer, questions[place][1])
    return [_given_up(outcome, model.name) if isinstance(outcome, Request) else outcome for outcome in outcomes]


def _outcome(request: Request, answer: str | Failure, read: Callable[[str], Outcome]) -> Outcome | Failure | Request:
    """Return what the answer is worth; the request to send next, where it cannot be used."""
    if isinstance(answer, Failure):
        return answer
    try:
        return read(answer)
    except ContractError as error:
        correction = Correction(answer=answer, reason=str(error), fault=error.fault)
        return replace(request, corrections=(*request.corrections, correction))


def _given_up(request: Request, name: str) -> Failure:
    count, last = len(request.corrections), request.corrections[-1]
    reason = f"{count} answers of {name!r} {last.fault}, the last one because {last.reason}; try a stronger model"
    return Failure(reason=reason, fault=last.fault)


async def complete_all(model: Model, requests: Sequence[Request]) -> list[str | Failure]:
    """Return one answer for each request, in their order. All are asked at once, and equal ones once.

    Raises AnswersNeeded for all of them that need somebody else's answer.
    """
    import anyio  # noqa: PLC0415  # the offline judge goes without an event loop

    if not _has_event_loop():  # a call of our server computes in a thread; only its event loop can wait
        answers_from_loop: list[str | Failure] = anyio.from_thread.run(complete_all, model, requests)
        return answers_from_loop
    if len(requests) == 1:
        return [await model.complete(requests[0])]
    answers: dict[str, str | Failure] = {}
    needed: list[Request] = []

    async def complete(request: Request) -> None:
        try:
            answers[request.key] = await model.complete(request)
        except AnswersNeeded as error:
            needed.extend(error.requests)

    keys = [request.key for request in requests]
    async with anyio.create_task_group() as tasks:
        for request in dict(zip(keys, requests, strict=True)).values():
            tasks.start_soon(complete, request)
    if needed:
        raise AnswersNeeded(needed)
    return [answers[key] for key in keys]


def _has_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A model's answer, with the model's name."""

    text: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Answers that are there already; what is missing is asked for by raising AnswersNeeded."""

    answers: Mapping[str, Sample | Failure]
    """By the request's key."""

    @property
    def name(self) -> str:
        """Every model that has answered."""
        return _names({answer.model for answer in self.answers.values() if isinstance(answer, Sample)})

    async def complete(self, request: Request) -> str | Failure:
        """Return the answer. Raises AnswersNeeded."""
        if request.key not in self.answers:
            raise AnswersNeeded([request])
        answer = self.answers[request.key]
        return answer.text if isinstance(answer, Sample) else answer


class Asking:
    """A client's model that is asked while the call runs."""

    def __init__(
        self,
        ask: Callable[[Request], Awaitable[Sample | Failure]],
        *,
        concurrency: int = 4,
        timeout: float = 300.0,
    ) -> None:
        """Asks so many at once; `timeout` in seconds bounds one answer, which a person may have to allow."""
        import anyio  # noqa: PLC0415

        self._ask = ask
        self._timeout = timeout
        self._places = anyio.CapacityLimiter(concurrency)
        self._models: set[str] = set()

    @property
    def name(self) -> str:
        """Every model that has answered."""
        return _names(self._models)

    async def complete(self, request: Request) -> str | Failure:
        """Return the client's answer."""
        import anyio  # noqa: PLC0415

        async with self._places:
            with anyio.move_on_after(self._timeout):
                answer = await self._ask(request)
                if isinstance(answer, Failure):
                    return answer
                self._models.add(answer.model)
                return answer.text
        return Failure(reason=f"the client gave no answer within {self._timeout:g} s: allow its sampling requests")


def _names(models: set[str]) -> str:
    return ", ".join(sorted(models)) or UNKNOWN
