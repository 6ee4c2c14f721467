"""A judge that reports its progress, and lets go when the call is cancelled."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case

BATCH = 16
"""Cases between two reports: two rounds of a remote judge that has eight under way, 10 ms of the offline one."""


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
        """The judge's verdicts, in order."""
        verdicts: list[Verdict | Ungraded] = []
        for start in range(0, len(cases), BATCH):
            verdicts += await self.judge.grade(cases[start : start + BATCH])
            await self.report(len(verdicts), len(cases), f"judged {len(verdicts)} of {len(cases)}")
        return verdicts
