"""What a model's answers took, in one line for people."""

from tdqs_mcp.judges.judge import Usage

DOLLAR = 10**9
"""Nanodollars."""


def usage_line(usage: Usage) -> str:
    """Requests, tokens and, where the prices are known, the cost: rounded up to a hundredth of a cent."""
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
    return (
        f"judge: {usage.requests:,} requests, {usage.input_tokens:,} input tokens{cached}, "
        f"{usage.output_tokens:,} output tokens, {price(usage.cost)}"
    )


def price(cost: int | None) -> str:
    """Nanodollars in dollars, rounded up to a hundredth of a cent; None is a price that nobody knows."""
    if cost is None:
        return "at an unknown price"
    parts = -(-cost * 10_000 // DOLLAR)
    return f"${parts // 10_000}.{parts % 10_000:04d}"
