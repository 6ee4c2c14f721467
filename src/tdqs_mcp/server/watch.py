"""A judge that reports its progress, and lets go when the call is cancelled."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tdqs_mcp.judges.judge import AnswersNeeded, Judge, Request
from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case

BATCH = 32
"""Cases between two reports: two rounds of a remote judge that has 16 under way, 20 ms of the offline one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Hands on the cases in batches."""

    judge: Judge
    report: Callable[[float, float, str], Awaitable[None]]

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is watched."""
        return self.judge.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order. Raises AnswersNeeded once for what all batches need."""
        verdicts: list[Verdict | Ungraded] = []
        needed: list[Request] = []
        for start in range(0, len(cases), BATCH):
            try:
                verdicts += await self.judge.grade(cases[start : start + BATCH])
            except AnswersNeeded as batch:
                needed += batch.requests
            else:
                await self.report(len(verdicts), len(cases), f"judged {len(verdicts)} of {len(cases)}")
        if needed:
            raise AnswersNeeded(needed)
        return verdicts
