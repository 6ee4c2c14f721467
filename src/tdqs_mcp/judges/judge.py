"""The port that every judge implements."""

from collections.abc import Sequence
from typing import Protocol

from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import SetCase, ToolCase


class Judge(Protocol):
    """Gives each case a verdict, in order; a case it cannot grade becomes Ungraded and disturbs no other."""

    @property
    def stamp(self) -> JudgeStamp:
        """Who judges."""
        ...

    async def grade(self, cases: Sequence[ToolCase | SetCase]) -> list[Verdict | Ungraded]:
        """One outcome for each case, in the order of the cases."""
        ...
