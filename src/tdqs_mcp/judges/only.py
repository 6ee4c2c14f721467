"""A judge that is asked about some of the cases: the others are context, not work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, ToolCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Only:
    """Passes the cases that are meant on and leaves all others ungraded, at no cost."""

    judge: Judge
    is_meant: Callable[[Case], bool]
    reason: str = "it was not asked for"
    """Why the others are ungraded."""

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is asked."""
        return self.judge.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts on what is meant, Ungraded elsewhere."""
        asked = [position for position, case in enumerate(cases) if self.is_meant(case)]
        verdicts = await self.judge.grade([cases[position] for position in asked])
        skipped = Ungraded(judge=self.stamp.id, reason=self.reason, was_asked=False)
        outcomes: list[Verdict | Ungraded] = [skipped] * len(cases)
        for position, verdict in zip(asked, verdicts, strict=True):
            outcomes[position] = verdict
        return outcomes


def tool_at(index: int) -> Callable[[Case], bool]:
    """Means the tool at this position of its catalog."""
    return lambda case: isinstance(case, ToolCase) and case.subject.tool.index == index
