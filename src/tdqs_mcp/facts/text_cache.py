"""A cache for what is read out of texts, which long ones cannot fill."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

Others = TypeVarTuple("Others")
Result = TypeVar("Result")

MAX_SHORT = 2_000
"""Characters. A server that lives long is sent many texts, some of them a megabyte long."""

LONG_TEXTS = 32
"""How many results for longer texts are kept."""


def cached_by_text(size: int) -> Callable[[Callable[[str, *Others], Result]], Callable[[str, *Others], Result]]:
    """Caches a function whose first parameter is a text: `size` results for short texts, a few for long ones."""

    def decorate(function: Callable[[str, *Others], Result]) -> Callable[[str, *Others], Result]:
        short, long = lru_cache(size)(function), lru_cache(LONG_TEXTS)(function)

        @wraps(function)
        def cached(text: str, *others: *Others) -> Result:
            return (short if len(text) <= MAX_SHORT else long)(text, *others)

        return cached

    return decorate
