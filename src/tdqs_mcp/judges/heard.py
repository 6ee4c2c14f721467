"""A model whose answers are counted as they come."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tdqs_mcp.judges.judge import Around, Failure, Request

Report: TypeAlias = Callable[[int, int], None]
"""Told how many requests are new and how many have come back since it was told last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(Around):
    """Reports every answer at once: a batch of a slow model takes minutes, in which a person wants to see it move."""

    report: Report

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """The model's answers; those that it does not tell early, and failures, count when the batch is over."""
        self.report(len(requests), 0)
        early: set[int] = set()
        asked = [replace(request, heard=self._hearing(request, early)) for request in requests]
        answers = await self.model.complete(asked)
        self.report(0, len(requests) - len(early))
        return answers

    def _hearing(self, request: Request, early: set[int]) -> Callable[[str], None]:
        def hear(answer: str) -> None:
            request.heard(answer)
            if id(request) not in early:
                early.add(id(request))
                self.report(0, 1)

        return hear
