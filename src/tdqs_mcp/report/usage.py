"""What a model's answers took, or would take."""

from typing import Any

from tdqs_mcp.judges.budget import Ledger
from tdqs_mcp.judges.judge import Usage

DOLLAR = 10**9
"""Nanodollars."""


def usage_line(usage: Usage, *, by: str = "judge") -> str:
    """Who asked: requests, tokens and, where the prices are known, the cost, rounded up to a hundredth of a cent."""
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
    return (
        f"{by}: {usage.requests:,} requests, {usage.input_tokens:,} input tokens{cached}, "
        f"{usage.output_tokens:,} output tokens, {price(usage.cost)}"
    )


def price(cost: int | None) -> str:
    """Nanodollars in dollars, rounded up to a hundredth of a cent; None is a price that nobody knows."""
    if cost is None:
        return "at an unknown price"
    parts = -(-cost * 10_000 // DOLLAR)
    return f"${parts // 10_000}.{parts % 10_000:04d}"


def ledger_line(ledger: Ledger) -> str:
    """What a run would ask for, in one line for people."""
    return (
        f"{ledger.calls} requests would be sent, with about {ledger.input_tokens} input and {ledger.output_tokens} "
        f"output tokens, {price(ledger.cost)}; what is cached already costs nothing\n"
    )


def ledger_document(ledger: Ledger) -> dict[str, Any]:
    """The same as JSON; the cost in dollars is null where a price is not known."""
    cost = None if ledger.cost is None else ledger.cost / DOLLAR
    counts = {"calls": ledger.calls, "inputTokens": ledger.input_tokens, "outputTokens": ledger.output_tokens}
    return {**counts, "cost": cost}
