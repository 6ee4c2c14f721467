"""A judge that is asked about one tool of a catalog: its siblings are context, not work."""

from collections.abc import Sequence
from dataclasses import dataclass

from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, ToolCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Only:
    """Passes one tool's case on and leaves all others ungraded, at no cost."""

    judge: Judge
    index: int
    """The tool's position in its catalog."""

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is asked."""
        return self.judge.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdict at the tool's place, Ungraded elsewhere."""
        asked = [position for position, case in enumerate(cases) if self._is_meant(case)]
        verdicts = await self.judge.grade([cases[position] for position in asked])
        skipped = Ungraded(judge=self.stamp.id, reason="it was not asked for", was_asked=False)
        outcomes: list[Verdict | Ungraded] = [skipped] * len(cases)
        for position, verdict in zip(asked, verdicts, strict=True):
            outcomes[position] = verdict
        return outcomes

    def _is_meant(self, case: Case) -> bool:
        return isinstance(case, ToolCase) and case.subject.tool.index == self.index
