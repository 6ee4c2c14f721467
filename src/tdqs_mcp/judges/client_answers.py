"""Answers from the MCP client: its model through sampling, or the calling agent itself as judge."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.judges.judge import AnswersNeeded, Cache, Failure, Request, report_answer
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.results.verdicts import HOST
from tdqs_mcp.rubrics.prompt import PromptForm

UNKNOWN = "the client's model"
"""A model's name as long as nobody has told it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A model's answer, with the model's name."""

    text: str
    model: str


Ask = Callable[[Request], Awaitable[Sample | Failure]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Answers that are there already; what is missing is asked for by raising AnswersNeeded, all of it at once."""

    answers: Mapping[str, Sample | Failure]
    """By the request's key."""

    @property
    def name(self) -> str:
        """Every model that has answered."""
        return _names(self.answers.values())

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """Return one answer for each request, in their order. Raises AnswersNeeded."""
        missing = [request for request in requests if request.key not in self.answers]
        if missing:
            raise AnswersNeeded(missing)
        return [_text(self.answers[request.key]) for request in requests]


class Asking:
    """A client's model that is asked while the call runs."""

    def __init__(self, ask: Ask, *, concurrency: int = 4, timeout: float = 300.0) -> None:
        """Asks so many at once; `timeout` in seconds bounds one answer, which a person may have to allow."""
        self._ask = ask
        self._concurrency = concurrency
        self._timeout = timeout
        self._said: list[Sample | Failure] = []

    @property
    def name(self) -> str:
        """Every model that has answered."""
        return _names(self._said)

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """Return one answer for each request, in their order; equal requests are asked once."""
        import anyio  # noqa: PLC0415  # the other judges go without an event loop

        late = Failure(reason=f"the client gave no answer within {self._timeout:g} s: allow its sampling requests")
        answers: dict[str, Sample | Failure] = {question.key: late for question in requests}
        places = anyio.CapacityLimiter(self._concurrency)

        async def answer(request: Request) -> None:
            async with places:
                with anyio.move_on_after(self._timeout):
                    answers[request.key] = await self._ask(request)
                    report_answer(request, _text(answers[request.key]))

        async with anyio.create_task_group() as tasks:
            for request in {question.key: question for question in requests}.values():
                tasks.start_soon(answer, request)
        self._said += answers.values()
        return [_text(answers[question.key]) for question in requests]


def _names(answers: Iterable[Sample | Failure]) -> str:
    return ", ".join(sorted({answer.model for answer in answers if isinstance(answer, Sample)})) or UNKNOWN


def _text(answer: Sample | Failure) -> str | Failure:
    return answer.text if isinstance(answer, Sample) else answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The agent's model, which answers no request of ours."""

    name: str

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """A failure for each request: an answer that is there was found before."""
        return [Failure(reason="no answer was handed in for this prompt") for _ in requests]


def make_host(cache: Cache, *, model: str = "") -> Prompted:
    """Grades by the answers that the cache keeps from callers who named the same model; "" is nobody's name."""
    return Prompted(id=HOST, model=Caller(name=model), form=PromptForm.EXACT, cache=cache)
