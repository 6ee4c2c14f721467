"""What tokens cost, from the one dated table in `data/prices.toml`."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tdqs_mcp.judges.judge import Usage

_SNAPSHOT = re.compile(r"-20[0-9]{6}$")


def cost(model: str, usage: Usage, *, is_batch: bool = False) -> int | None:
    """One answer's price in nanodollars, rounded up; None for a model that the table does not list.

    A dated snapshot costs what its model costs. Live requests write five-minute cache entries, batches hourly ones.
    """
    prices = _table()["models"].get(_SNAPSHOT.sub("", model))
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
    return -(-full * (batch_percent() if is_batch else 100) // 100)


def batch_percent() -> int:
    """What an answer that comes in a batch costs, of its price alone."""
    percent: int = _table()["batch_percent"]
    return percent


@cache
def _table() -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415  # only what asks a model has a price

    return tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "prices.toml").read_text(encoding="utf-8"))
