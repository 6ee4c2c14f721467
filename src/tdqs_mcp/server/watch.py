"""A judge that reports its progress, and lets go when the call is cancelled."""

from collections.abc import Awaitable, Callable, Sequence

from tdqs_mcp.judges.judge import AnswersNeeded, Judge, Request
from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case

BATCH = 32
"""Cases between two reports: two rounds of a remote judge that has 16 under way, 20 ms of the offline one."""


class Watched:
    """Hands on the cases in batches, and counts those of all its gradings together."""

    def __init__(
        self, judge: Judge, report: Callable[[float, float, str], Awaitable[None]], *, batch: int = BATCH
    ) -> None:
        """Reports to `report` after every batch: cases done, cases known of, a sentence."""
        self._judge = judge
        self._report = report
        self._batch = batch
        self._done = 0

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is watched."""
        return self._judge.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order. Raises AnswersNeeded once for what all batches need."""
        total = self._done + len(cases)
        verdicts: list[Verdict | Ungraded] = []
        needed: list[Request] = []
        for start in range(0, len(cases), self._batch):
            try:
                verdicts += await self._judge.grade(cases[start : start + self._batch])
            except AnswersNeeded as batch:
                needed += batch.requests
            else:
                self._done = total - len(cases) + len(verdicts)
                await self._report(self._done, total, f"judged {self._done} of {total}")
        if needed:
            raise AnswersNeeded(needed)
        return verdicts
