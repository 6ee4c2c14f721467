"""Sends requests to an endpoint: with limits on number and time, retries, usage counts and progress reports."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tdqs_mcp.judges.endpoint import Endpoint, late, reported, retry_after, unusable
from tdqs_mcp.judges.judge import Failure, Request, Usage, report_answer

if TYPE_CHECKING:
    import httpx2
    from anyio import CapacityLimiter
    from tenacity import RetryCallState
from dataclasses import dataclass, replace

from tdqs_mcp.judges.judge import ModelWrapper

MAX_BACKOFF = 8.0
"""Seconds between two tries, unless the endpoint asks for more."""

MIN_WAIT = 1.0
"""Seconds from which a wait that was asked for is no failed try: the unit of Retry-After (RFC 9110, 10.2.3)."""

_BUSY = (429, 503, 529)
"""The statuses of an endpoint that takes no request for now."""

Post: TypeAlias = Callable[[], Awaitable["httpx2.Response"]]
Reader: TypeAlias = Callable[[object], Usage | None]
"""What a response says of its usage, as counts; None where it does not say."""


class Transport:
    """The requests to one endpoint. They have limits on number and time, and all wait when the endpoint asks for it."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Nothing is sent yet."""
        self.usage = Usage()
        self._endpoint = endpoint
        self._places: CapacityLimiter | None = None
        self._opens = 0.0
        """When the endpoint may be asked again, by the event loop's clock."""

    async def ask_each(
        self, requests: Sequence[Request], ask: Callable[[Request], Awaitable[str | Failure]]
    ) -> list[str | Failure]:
        """One answer for each request, in their order; whatever goes wrong with one is its Failure alone."""
        import anyio  # noqa: PLC0415
        from anyio.lowlevel import checkpoint  # noqa: PLC0415

        nothing = late(self._endpoint)
        answers: list[str | Failure] = [nothing] * len(requests)
        places = self._places = self._places or anyio.CapacityLimiter(self._endpoint.concurrency)

        async def answer(position: int, request: Request) -> None:
            async with places:
                await self._opened()
                with anyio.move_on_after(self._endpoint.timeout):
                    answers[position] = await self._answered(ask, request)
            if answers[position] is not nothing:
                # The next request goes out before this answer is read and kept.
                await checkpoint()
                report_answer(request, answers[position])

        async with anyio.create_task_group() as tasks:
            for position, request in enumerate(requests):
                tasks.start_soon(answer, position, request)
        return answers

    async def send(
        self, request: Request, post: Post, *, is_final: Callable[["httpx2.Response"], bool], read: Reader
    ) -> "httpx2.Response | Failure":
        """The first final response; the last one, where every try failed. Raises httpx2.RequestError.

        A Failure is why the request must not be sent. Waits that the endpoint asks for are repeated for as long as
        there is time; only other faults count as tries. `read` understands the usage in a response.
        """
        import anyio  # noqa: PLC0415
        import httpx2  # noqa: PLC0415
        import tenacity  # noqa: PLC0415

        faults = 0
        backoff = tenacity.wait_random_exponential(multiplier=self._endpoint.backoff, max=MAX_BACKOFF)

        async def attempt() -> httpx2.Response | Failure:
            await self._opened()
            if reason := request.admit():
                return Failure(reason=reason)
            self.usage += Usage(requests=1)
            response = await post()
            self.usage += _counted(request, response, read)
            self._heed(response)
            return response

        def wait(state: "RetryCallState") -> float:
            response = _response(state)
            asked = None if response is None else retry_after(response)
            return backoff(state) if asked is None else asked

        def is_over(state: "RetryCallState") -> bool:
            nonlocal faults
            response = _response(state)
            faults += response is None or _asked_wait(response) is None
            is_late = anyio.current_time() + state.upcoming_sleep >= anyio.current_effective_deadline()
            return is_late or faults >= self._endpoint.attempts

        return await tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(httpx2.RequestError)
            | tenacity.retry_if_result(lambda outcome: not (isinstance(outcome, Failure) or is_final(outcome))),
            stop=is_over,
            wait=wait,
            sleep=anyio.sleep,
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )(attempt)

    async def _answered(self, ask: Callable[[Request], Awaitable[str | Failure]], request: Request) -> str | Failure:
        try:
            return await ask(request)
        except Exception as error:  # noqa: BLE001  # whatever an answer does to what reads it, the others are still read
            return unusable(self._endpoint, error)

    async def _opened(self) -> None:
        """Returns when the endpoint may be asked."""
        import anyio  # noqa: PLC0415

        while (left := self._opens - anyio.current_time()) > 0:  # noqa: ASYNC110  # others may move the time meanwhile
            await anyio.sleep(left)

    def _heed(self, response: "httpx2.Response") -> None:
        """Makes all requests wait as asked, unless that is longer than one request may take."""
        import anyio  # noqa: PLC0415

        asked = _asked_wait(response)
        if asked is not None and asked <= self._endpoint.timeout:
            self._opens = max(self._opens, anyio.current_time() + asked)


def _counted(request: Request, response: "httpx2.Response", read: Reader) -> Usage:
    """The usage of one attempt, whether its answer is usable or not.

    An error that says nothing took nothing; an answer that says nothing has no known price.
    """
    took = read(reported(response)) or (None if response.is_success else Usage())
    if took is None:
        return Usage(cost=None)
    request.on_usage(took)
    return took


def _response(state: "RetryCallState") -> "httpx2.Response | None":
    """What the last try got; None if it failed."""
    return None if state.outcome is None or state.outcome.failed else state.outcome.result()


def _asked_wait(response: "httpx2.Response") -> float | None:
    """Seconds for which the endpoint takes no request at all; None where it does not say so."""
    if response.status_code not in _BUSY:
        return None
    asked = retry_after(response)
    return None if asked is None or asked < MIN_WAIT else asked


Report: TypeAlias = Callable[[int, int], None]
"""Called with the numbers of new requests and of new answers since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReporter(ModelWrapper):
    """Reports every answer as it arrives: a slow model needs minutes for all of them."""

    report: Report

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """The model's answers; failures, and answers that it does not report early, count at the end."""
        self.report(len(requests), 0)
        early: set[int] = set()
        asked = [replace(request, on_answer=self._counting(request, early)) for request in requests]
        answers = await self.model.complete(asked)
        self.report(0, len(requests) - len(early))
        return answers

    def _counting(self, request: Request, early: set[int]) -> Callable[[str], None]:
        def count(answer: str) -> None:
            request.on_answer(answer)
            if id(request) not in early:
                early.add(id(request))
                self.report(0, 1)

        return count
