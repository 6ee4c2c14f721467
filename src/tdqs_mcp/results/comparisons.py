"""Two versions of a catalog, and what their differences mean for callers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from tdqs_mcp.results.contract import (
    Document,
    Inline,
    Internal,
    Name,
    Only,
    Pointer,
    published,
)
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.scores import STANDING, Rollup, ServerScore, ToolScore, UngradedTool


class Impact(StrEnum):
    """What a difference means for callers of the tool, the worst first."""

    BREAKING = "breaking"
    DANGEROUS = "dangerous"
    """A call may now do what its annotations ruled out."""

    COMPATIBLE = "compatible"
    WORDING = "wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference at one place."""

    impact: Impact
    change: str
    """The kind of change, such as `removed-parameter`."""

    path: Pointer
    """JSON pointer inside the definition; empty for the whole of it."""

    message: str
    before: Internal[str | None] = None
    """The whole text, where texts differ."""

    after: Internal[str | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolComparison:
    """One tool in both versions; null for a version without the tool or without its score."""

    name: Name
    """The new name; the old one of a tool that is gone."""

    index_before: int | None
    index_after: int | None
    before: Annotated[Inline[ToolScore | None], Only("tdqs=tdqsBefore")]
    after: Annotated[Inline[ToolScore | None], Only("tdqs=tdqsAfter")]
    tokens_before: int | None
    """An estimate; null also for a definition that cannot be measured."""

    tokens_after: int | None
    differences: tuple[Difference, ...]
    """Empty where the definitions are the same."""


_LINE = Only("part rule severity path message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Document):
    """Two versions of a catalog."""

    old: Annotated[Inline[ServerScore], Only("server=old")]
    new: Annotated[Inline[ServerScore], Only("server=new judge")]
    regressions: tuple[str, ...]
    """What --fail-on-regression fails for, one sentence each; empty where nothing is worse."""

    tools: Internal[tuple[ToolComparison, ...]]
    """The new catalog's in its order, then those that are gone."""

    findings_added: Annotated[tuple[Finding, ...], _LINE]
    findings_fixed: Annotated[tuple[Finding, ...], _LINE]

    @published(after="judge", key="before")
    def standing_before(self) -> Annotated[Rollup, Only(STANDING)]:
        """The old version's numbers."""
        return self.old.rollup

    @published(after="standing_before", key="after")
    def standing_after(self) -> Annotated[Rollup, Only(STANDING)]:
        """The new version's numbers."""
        return self.new.rollup

    @published(after="standing_after")
    def tokens_before(self) -> int:
        """An estimate for all definitions of the old version that can be measured."""
        return sum(tool.tokens_before or 0 for tool in self.tools)

    @published(after="tokens_before")
    def tokens_after(self) -> int:
        """The same for the new version."""
        return sum(tool.tokens_after or 0 for tool in self.tools)

    @published(after="regressions", key="tools")
    def changed(self) -> tuple[ToolComparison, ...]:
        """Tools that are not the same in both versions."""
        return tuple(tool for tool in self.tools if tool.differences)

    @published(after="changed")
    def unchanged_tool_count(self) -> int:
        """Tools that are the same in both versions."""
        return len(self.tools) - len(self.changed)

    @published(after="findings_fixed")
    def ungraded_before(self) -> tuple[UngradedTool, ...]:
        """Without a score in the old version; coherence has no name."""
        return self.old.unscored

    @published(after="ungraded_before")
    def ungraded_after(self) -> tuple[UngradedTool, ...]:
        """The same for the new version."""
        return self.new.unscored

    @published(after="ungraded_after")
    def problems(self) -> tuple[str, ...]:
        """What went wrong with either version and changed no score."""
        return self.old.problems + self.new.problems
