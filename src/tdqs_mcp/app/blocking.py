"""Runs an asynchronous use case for a caller without an event loop."""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


def blocking(use: Callable[P, Awaitable[Result]]) -> Callable[P, Result]:
    """The use case in an event loop of its own."""

    @wraps(use)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        import anyio  # noqa: PLC0415  # importing the library, or reading a file, costs no event loop

        return anyio.run(partial(use, *args, **options))

    return run
