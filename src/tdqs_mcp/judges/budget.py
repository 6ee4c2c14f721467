"""What asking models may take, counted before it is spent."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.tokens import estimate
from tdqs_mcp.judges.judge import Around, Failure, Request, Usage, batching
from tdqs_mcp.judges.prices import batch_percent

ANSWER_TOKENS = 700
"""Tokens set aside for one answer: six reasons of two sentences and a summary; what is reported takes their place."""

Price: TypeAlias = Callable[[str, Usage], int | None]
"""What a model takes for so many tokens, in nanodollars; None for a model without a known price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Upper bounds for one run; None where there is none.

    Tokens and money are estimated before a request and settled by what its answer reports, so requests that are under
    way already may take more than was left.
    """

    calls: int | None = None
    """Requests sent: corrections and every try included."""

    tokens: int | None = None
    """Input and output tokens."""

    cost: int | None = None
    """Nanodollars."""


class Ledger:
    """What has been asked so far, by all models of a run."""

    def __init__(self, budget: Budget, price: Price) -> None:
        self._budget = budget
        self._price = price
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.cost: int | None = 0
        """Nanodollars; None as soon as one model's price is not known."""

    @property
    def is_bounded(self) -> bool:
        """Whether anything is bounded at all."""
        return self._budget != Budget()

    def expected(self, model: str, request: Request) -> Usage:
        """What sending the request will take, estimated."""
        prompt = sum(map(estimate, _texts(request)))
        expected = Usage(requests=1, input_tokens=prompt, output_tokens=ANSWER_TOKENS)
        return replace(expected, cost=self._price(model, expected))

    def book(self, model: str, expected: Usage) -> str | None:
        """Books a request; the reason where it would break the budget, and then nothing is booked."""
        if reason := self._refusal(model, expected):
            return reason
        self.calls += 1
        self._add(expected.input_tokens, expected.output_tokens, expected.cost)
        return None

    def book_batch(self, model: str, requests: Sequence[Request]) -> str | None:
        """Books all of them at a batch's price; the reason where one would break the budget, then none is booked."""
        trial, percent = copy(self), batch_percent()
        for request in requests:
            expected = self.expected(model, request)
            cost = None if expected.cost is None else -(-expected.cost * percent // 100)
            if reason := trial.book(model, replace(expected, cost=cost)):
                return reason
        vars(self).update(vars(trial))
        return None

    def misses_price(self, model: str) -> bool:
        """Whether money is bounded and this model's price is not known."""
        return self._budget.cost is not None and self._price(model, Usage()) is None

    def settle(self, model: str, expected: Usage, took: Usage) -> None:
        """Puts what a request took in the place of what was booked for it."""
        due = self._price(model, took) if took.cost is None else took.cost
        more = None if due is None or expected.cost is None else due - expected.cost
        self._add(took.input_tokens - expected.input_tokens, took.output_tokens - expected.output_tokens, more)

    def _add(self, input_tokens: int, output_tokens: int, cost: int | None) -> None:
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    def _refusal(self, model: str, expected: Usage) -> str | None:
        budget = self._budget
        if budget.calls is not None and self.calls + 1 > budget.calls:
            return f"the budget of {budget.calls} calls is used up; raise --max-calls"
        tokens = self.input_tokens + self.output_tokens + expected.input_tokens + expected.output_tokens
        if budget.tokens is not None and tokens > budget.tokens:
            return f"it would exceed the budget of {budget.tokens} tokens; raise --max-tokens"
        if budget.cost is None:
            return None
        if expected.cost is None or self.cost is None:
            return unpriced(model)
        is_over = self.cost + expected.cost > budget.cost
        return "it would exceed the budget in money; raise --max-cost" if is_over else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted(Around):
    """Lets the model send a request only while the budget has room for it; otherwise it fails with the reason."""

    ledger: Ledger

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """The model's answers, in the order of the requests."""
        return await self.model.complete([self._bounded(request) for request in requests])

    def _bounded(self, request: Request) -> Request:
        expected = self.ledger.expected(self.name, request)
        return replace(
            request,
            admit=lambda: self.ledger.book(self.name, expected),
            took=lambda took: self.ledger.settle(self.name, expected, took),
        )

    async def submit(self, requests: Sequence[Request]) -> str:
        """The id of a batch that the budget has room for. Raises InputError for another, and EndpointError."""
        if refusal := self.ledger.book_batch(self.name, requests):
            raise InputError(f"a batch of {len(requests)} requests was not submitted: {refusal}")
        return await batching(self.model).submit(requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewed(Around):
    """Books every request and sends none."""

    ledger: Ledger

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """A failure for each request."""
        refusals = [self.ledger.book(self.name, self.ledger.expected(self.name, each)) for each in requests]
        return [Failure(reason=refusal or _UNSENT) for refusal in refusals]

    async def submit(self, requests: Sequence[Request]) -> str:
        """Raises InputError."""
        raise InputError(self.ledger.book_batch(self.name, requests) or _UNSENT)


_UNSENT = "a dry run sends nothing"


def read_dollars(text: str) -> int:
    """An amount of dollars in nanodollars, exactly: a bound on money is no place for floats. Raises InputError."""
    from decimal import Decimal, InvalidOperation  # noqa: PLC0415  # only a bound on money needs it

    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise InputError("--max-cost is an amount of dollars, such as 0.50")
    return int(amount * 10**9)


def unpriced(model: str) -> str:
    """Why a bound on money cannot be kept."""
    return f"no price is known for {model!r}, so --max-cost cannot be kept; use --max-tokens"


def _texts(request: Request) -> list[str]:
    return [request.prompt.system, *(text for _, text in request.conversation)]
