"""What holding two versions of a catalog together says: what breaks callers, what is dangerous, what is wording."""

from dataclasses import dataclass
from enum import StrEnum

from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.scores import ServerScore, ToolScore


class Impact(StrEnum):
    """What a difference means for somebody who calls the tool, the worst first."""

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
    """What happened, in a word or two: `removed-parameter`."""

    path: str
    """JSON pointer inside the definition; empty for the whole of it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolComparison:
    """One tool in both versions; None stands for a version that does not have it, or where it has no score."""

    name: str
    """The new name; the old one of a tool that is gone."""

    index_before: int | None
    index_after: int | None
    before: ToolScore | None
    after: ToolScore | None
    tokens_before: int | None
    """An estimate; None also for a definition that cannot be measured."""

    tokens_after: int | None
    differences: tuple[Difference, ...]
    """Empty where the definitions are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two versions of a catalog."""

    old: ServerScore
    new: ServerScore
    tools: tuple[ToolComparison, ...]
    """The new catalog's in its order, then those that are gone."""

    findings_added: tuple[Finding, ...]
    findings_fixed: tuple[Finding, ...]
    regressions: tuple[str, ...]
    """Why the new version is worse, one sentence each."""

    @property
    def tokens_before(self) -> int:
        """An estimate for all definitions of the old version that can be measured."""
        return sum(tool.tokens_before or 0 for tool in self.tools)

    @property
    def tokens_after(self) -> int:
        """The same for the new version."""
        return sum(tool.tokens_after or 0 for tool in self.tools)
