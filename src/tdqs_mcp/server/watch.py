"""Judges and models that report their progress, and let go when the call is cancelled."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tdqs_mcp.judges.judge import AnswersNeeded, Failure, Judge, ModelWrapper, Request
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case

BATCH = 32
"""Cases between two reports: two rounds of a remote judge that has 16 under way, 20 ms of the offline one."""

Report: TypeAlias = Callable[[float, float, str], Awaitable[None]]
"""Told what is done, what is known of, and a sentence."""


async def nowhere(_: float, __: float, ___: str) -> None:
    """Reports that nobody gets."""


class Progress:
    """What one call has asked for and what has come back: one count for all whom it asks, which only grows."""

    def __init__(self, report: Report, *, word: str = "judged") -> None:
        """Reports to `report` that so much is judged, or whatever the word is."""
        self._report = report
        self._word = word
        self._done = self._total = 0

    def expect(self, count: int) -> None:
        """So much more is asked for."""
        self._total += count

    async def count(self, count: int) -> None:
        """So much more has come back."""
        self._done += count
        await self._report(self._done, self._total, f"{self._word} {self._done} of {self._total}")


class Watched:
    """Hands on the cases in batches, and counts those of all its gradings together."""

    def __init__(self, judge: Judge, progress: Progress, *, batch: int = BATCH) -> None:
        """Counts after every batch."""
        self._judge = judge
        self._progress = progress
        self._batch = batch

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is watched."""
        return self._judge.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order. Raises AnswersNeeded once for what all batches need."""
        self._progress.expect(len(cases))
        verdicts: list[Verdict | Ungraded] = []
        needed: list[Request] = []
        for start in range(0, len(cases), self._batch):
            batch = cases[start : start + self._batch]
            try:
                verdicts += await self._judge.grade(batch)
            except AnswersNeeded as missing:
                needed += missing.requests
            else:
                await self._progress.count(len(batch))
        if needed:
            raise AnswersNeeded(needed)
        return verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended(ModelWrapper):
    """Counts what a model is asked, and its answers when all of them are there."""

    progress: Progress

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """The model's answers, in the order of the requests."""
        self.progress.expect(len(requests))
        answers = await self.model.complete(requests)
        await self.progress.count(len(requests))
        return answers
