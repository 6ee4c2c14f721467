"""A judge whose verdicts are kept for a run, and a judge that is asked about some of the cases only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, ToolCase

_Key: TypeAlias = tuple[int, str]
"""The very definition, who may shadow it, and the rubric: all that two versions of a tool can differ in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCache:
    """Keeps verdicts on tools while one command scores versions of one catalog, which share most tools.

    A held verdict is kept too: asking again would cost as much and change nothing.
    """

    judge: Judge
    _kept: dict[_Key, tuple[Subject, Verdict | Ungraded]] = field(default_factory=dict)
    """With the subject, which keeps the definition alive whose identity is in the key."""

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is asked."""
        return self.judge.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order; it is asked again about what it could not grade. Raises AnswersNeeded."""
        open_cases = [case for case in cases if self._known(case) is None]
        asked = iter(await self.judge.grade(open_cases) if open_cases else ())
        verdicts = [self._known(case) or next(asked) for case in cases]
        for case, verdict in zip(cases, verdicts, strict=True):
            if isinstance(case, ToolCase) and (isinstance(verdict, Verdict) or verdict.held is not ABSENT):
                self._kept[_key(case)] = case.subject, verdict
        return verdicts

    def _known(self, case: Case) -> Verdict | Ungraded | None:
        kept = self._kept.get(_key(case)) if isinstance(case, ToolCase) else None
        return kept[1] if kept else None


def _key(case: ToolCase) -> _Key:
    return id(case.subject.tool.raw), case.rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
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
