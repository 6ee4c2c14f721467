"""Budgets for what models are asked, and the prices of tokens."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeAlias

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.signals import estimate_tokens
from tdqs_mcp.judges.judge import Request, Usage

_UNSENT = "a dry run sends nothing"
_SNAPSHOT = re.compile(r"-20[0-9]{6}$")


def cost(
    model: str, usage: Usage, *, is_batch: bool = False, own: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> int | None:
    """Return one answer's price in nanodollars, rounded up; None for a model that is not listed.

    A dated snapshot costs what its model costs. Live requests write five-minute cache entries, batches hourly ones.
    `own` are the user's prices, of the table's form, which count before it.
    """
    prices = own.get(model) or _table()["models"].get(_SNAPSHOT.sub("", model))
    if prices is None:
        return None
    if "long" in prices and usage.input_tokens > prices["long"]["above"]:
        prices = prices["long"]
    fresh = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
    full: int = (
        fresh * prices["input"]
        + usage.cache_read_tokens * prices["cache_read"]
        + usage.cache_write_tokens * prices["cache_write_1h" if is_batch else "cache_write_5m"]
        + usage.output_tokens * prices["output"]
    )
    return -(-full * (_table()["batch_percent"] if is_batch else 100) // 100)


@cache
def _table() -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415  # only what asks a model has a price

    return tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "prices.toml").read_text(encoding="utf-8"))


ANSWER_TOKENS = 700
"""Tokens set aside for one answer: six reasons of two sentences and a summary; what is reported takes their place."""

MAX_FAILURES = 5
"""Questions in a row without an answer after which a model is asked no more."""

Price: TypeAlias = Callable[[str, Usage], int | None]
"""Price of some tokens of a model, in nanodollars; None for a model without a known price."""


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
    """Requests and costs so far, of all models of a run."""

    def __init__(self, budget: Budget, price: Price, *, may_resume: bool = True) -> None:
        self._budget = budget
        self._price = price
        self._may_resume = may_resume
        self.usage = Usage()
        """Usage so far; a request counts as booked until its answer reports what it used."""

        self.stopped: dict[str, str] = {}
        """Models that are asked no more, each with the reason."""

        self._failures: Counter[str] = Counter()
        self._reported: dict[str, int] = {}
        """The most that an answer of a model was said to cost."""

    def reached(self, model: str) -> None:
        """Note that a model has answered."""
        self._failures.pop(model, None)

    def resume(self, model: str) -> None:
        """Let a model be asked again: what stopped it was a burst of requests ago, and may have passed.

        A sweep is one burst, although none of its requests may be under way for a moment.
        """
        if self._may_resume:
            self.stopped.pop(model, None)
            self._failures.pop(model, None)

    def failed(self, model: str, reason: str, *, is_final: bool = False) -> None:
        """Note that a model gave no answer: after MAX_FAILURES in a row, or a final one, nothing more is asked."""
        self._failures[model] += 1
        if is_final or self._failures[model] >= MAX_FAILURES:
            self.stopped.setdefault(model, reason)

    @property
    def is_bounded(self) -> bool:
        """Return whether anything is bounded at all."""
        return self._budget != Budget()

    def expected(self, model: str, request: Request) -> Usage:
        """Return what sending the request will take, estimated."""
        texts = [request.prompt.system, *(text for _, text in request.conversation)]
        prompt = sum(map(estimate_tokens, texts))
        expected = Usage(requests=1, input_tokens=prompt, output_tokens=ANSWER_TOKENS)
        price = self._price(model, expected)
        if price is None and self._budget.cost is not None:  # the endpoint may say what its answers cost
            price = self._reported.get(model, 0)
        return replace(expected, cost=price)

    def book(self, model: str, expected: Usage) -> str | None:
        """Books a request; the reason where it would break the budget, and then nothing is booked."""
        if reason := self._refusal(model, self.usage + expected):
            return reason
        self.usage += expected
        return None

    def book_batch(self, model: str, requests: Sequence[Request]) -> str | None:
        """Books all of them at a batch's price; the reason where one would break the budget, then none is booked."""
        total, percent = self.usage, _table()["batch_percent"]
        for request in requests:
            expected = self.expected(model, request)
            total += replace(expected, cost=None if expected.cost is None else -(-expected.cost * percent // 100))
            if reason := self._refusal(model, total):
                return reason
        self.usage = total
        return None

    def misses_price(self, model: str) -> bool:
        """Return whether money is bounded and this model's price is not known."""
        return self._budget.cost is not None and self._price(model, Usage()) is None

    def settle(self, model: str, expected: Usage, usage: Usage | None) -> None:
        """Replace what was booked for a request by what it used; a model without any price is asked no more."""
        due = None if usage is None else self._price(model, usage) if usage.cost is None else usage.cost
        if due is None and self.misses_price(model):
            self.stopped.setdefault(model, unpriced(model))
        if usage is None:
            return
        if usage.cost is not None:
            self._reported[model] = max(usage.cost, self._reported.get(model, 0))
        more = None if due is None or expected.cost is None else due - expected.cost
        self.usage += Usage(
            input_tokens=usage.input_tokens - expected.input_tokens,
            output_tokens=usage.output_tokens - expected.output_tokens,
            cost=more,
        )

    def _refusal(self, model: str, total: Usage) -> str | None:
        budget = self._budget
        if budget.calls is not None and total.requests > budget.calls:
            return f"the budget of {budget.calls} calls is used up; raise --budget calls"
        if budget.tokens is not None and total.input_tokens + total.output_tokens > budget.tokens:
            return f"it would exceed the budget of {budget.tokens} tokens; raise --budget tokens"
        if budget.cost is None:
            return None
        if total.cost is None:
            return unpriced(model)
        return "it would exceed the budget in money; raise --budget cost" if total.cost > budget.cost else None


class Preview(Ledger):
    """Counts every request and admits none."""

    is_bounded = True

    def book(self, model: str, expected: Usage) -> str:
        """Books a request; the reason why it is not sent."""
        return super().book(model, expected) or _UNSENT

    def book_batch(self, model: str, requests: Sequence[Request]) -> str:
        """Books a batch; the reason why it is not sent."""
        return super().book_batch(model, requests) or _UNSENT


def read_budget(entries: Sequence[str]) -> Budget:
    """The limits that `calls=20`, `tokens=50000` and `cost=0.50` state. Raises InputError."""
    limits: dict[str, int] = {}
    for entry in (part.strip() for text in entries for part in text.split(",")):
        name, _, number = entry.partition("=")
        if name == "cost":
            limits[name] = _read_dollars(number)
        elif name in ("calls", "tokens") and number.isdecimal():
            limits[name] = int(number)
        else:
            raise InputError(f"{entry!r} is no limit; write calls=20, tokens=50000 or cost=0.50 (dollars)")
    return Budget(**limits)


def _read_dollars(text: str) -> int:
    """An amount of dollars in nanodollars, exactly: a bound on money is not a place for floats. Raises InputError."""
    from decimal import Decimal, InvalidOperation  # noqa: PLC0415  # only a bound on money needs it

    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise InputError("cost is an amount of dollars, such as cost=0.50")
    return int(amount * 10**9)


def unpriced(model: str) -> str:
    """Why a bound on money cannot be kept."""
    return (
        f"no price is known for {model!r}, so --budget cost cannot be kept; give [prices.{model!r}] or --budget tokens"
    )
