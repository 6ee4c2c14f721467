"""What asking models may take, counted before it is spent."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.tokens import estimate
from tdqs_mcp.judges.judge import Around, Failure, Request, Usage, batching
from tdqs_mcp.judges.prices import batch_percent

ANSWER_TOKENS = 700
"""Tokens set aside for one answer: six reasons of two sentences and a summary; afterwards what it took counts."""

Price: TypeAlias = Callable[[str, Usage], int | None]
"""What a model takes for so many tokens, in nanodollars; None for a model without a known price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Upper bounds for one run; None where there is none."""

    calls: int | None = None
    """Requests, corrections included; tries after a transport failure are not counted."""

    tokens: int | None = None
    """Input and output tokens, estimated."""

    cost: int | None = None
    """Nanodollars, estimated."""


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

    def reserve(self, model: str, request: Request, *, percent: int = 100) -> str | None:
        """Books a request; the reason where it would break the budget, and then nothing is booked."""
        prompt = sum(map(estimate, _texts(request)))
        full = self._price(model, Usage(input_tokens=prompt, output_tokens=ANSWER_TOKENS))
        price = None if full is None else -(-full * percent // 100)
        if reason := self._refusal(model, prompt + ANSWER_TOKENS, price):
            return reason
        self.calls += 1
        self.input_tokens += prompt
        self.output_tokens += ANSWER_TOKENS
        self.cost = None if self.cost is None or price is None else self.cost + price
        return None

    def reserve_batch(self, model: str, requests: Sequence[Request]) -> str | None:
        """Books all of them at a batch's price; the reason where one would break the budget, then none is booked."""
        trial, percent = copy(self), batch_percent()
        for request in requests:
            if reason := trial.reserve(model, request, percent=percent):
                return reason
        vars(self).update(vars(trial))
        return None

    def misses_price(self, model: str) -> bool:
        """Whether money is bounded and this model's price is not known."""
        return self._budget.cost is not None and self._price(model, Usage()) is None

    def settle(self, model: str, answer: str | Failure) -> None:
        """Puts what an answer took in the place of what was set aside for it."""
        took = 0 if isinstance(answer, Failure) else estimate(answer)
        reserved, due = (self._price(model, Usage(output_tokens=count)) for count in (ANSWER_TOKENS, took))
        self.output_tokens += took - ANSWER_TOKENS
        if self.cost is not None and reserved is not None and due is not None:
            self.cost += due - reserved

    def _refusal(self, model: str, tokens: int, price: int | None) -> str | None:
        budget = self._budget
        if budget.calls is not None and self.calls + 1 > budget.calls:
            return f"the budget of {budget.calls} calls is used up; raise --max-calls"
        if budget.tokens is not None and self.input_tokens + self.output_tokens + tokens > budget.tokens:
            return f"it would exceed the budget of {budget.tokens} tokens; raise --max-tokens"
        if budget.cost is None:
            return None
        if price is None or self.cost is None:
            return unpriced(model)
        is_over = self.cost + price > budget.cost
        return "it would exceed the budget in money; raise --max-cost" if is_over else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted(Around):
    """Hands on the requests that the budget has room for; the others fail with the reason."""

    ledger: Ledger

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """The model's answers, in the order of the requests."""
        refusals = [self.ledger.reserve(self.name, request) for request in requests]
        admitted = [request for request, refusal in zip(requests, refusals, strict=True) if refusal is None]
        answers = iter(await self.model.complete(admitted) if admitted else ())
        outcomes: list[str | Failure] = []
        for refusal in refusals:
            outcomes.append(next(answers) if refusal is None else Failure(reason=refusal))
            if refusal is None:
                self.ledger.settle(self.name, outcomes[-1])
        return outcomes

    async def submit(self, requests: Sequence[Request]) -> str:
        """The id of a batch that the budget has room for. Raises InputError for another, and EndpointError."""
        if refusal := self.ledger.reserve_batch(self.name, requests):
            raise InputError(f"a batch of {len(requests)} requests was not submitted: {refusal}")
        return await batching(self.model).submit(requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewed(Around):
    """Books every request and sends none."""

    ledger: Ledger

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """A failure for each request."""
        refusals = [self.ledger.reserve(self.name, request) for request in requests]
        return [Failure(reason=refusal or _UNSENT) for refusal in refusals]

    async def submit(self, requests: Sequence[Request]) -> str:
        """Raises InputError."""
        raise InputError(self.ledger.reserve_batch(self.name, requests) or _UNSENT)


_UNSENT = "a dry run sends nothing"


def unpriced(model: str) -> str:
    """Why a bound on money cannot be kept."""
    return f"no price is known for {model!r}, so --max-cost cannot be kept; use --max-tokens"


def _texts(request: Request) -> list[str]:
    return [request.prompt.system, *(text for _, text in request.conversation)]
