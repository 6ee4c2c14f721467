"""Differences between two versions of a catalog: a comparison, and the verdict of a lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from tdqs_mcp.results.contract import (
    ABSENT,
    Absent,
    Document,
    Hash,
    Inline,
    Internal,
    Name,
    Only,
    Pointer,
    Tenths,
    Trait,
    Unit,
    published,
)
from tdqs_mcp.results.findings import Finding, Location, OfServer
from tdqs_mcp.results.scores import STANDING, Rollup, ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.verdicts import Tier


class Impact(StrEnum):
    """Meaning of a difference for callers of the tool, the worst first."""

    BREAKING = "breaking"
    DANGEROUS = "dangerous"
    """A call may now do what its annotations ruled out."""

    COMPATIBLE = "compatible"
    WORDING = "wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference at one place."""

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
    """A tool in both versions; null for a version without the tool or without its score."""

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

    @property
    def tdqs_change(self) -> int:
        """New less old TDQS, in tenths; 0 without one of them."""
        return self.after.tdqs - self.before.tdqs if self.before and self.after else 0


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
        """An estimate for all definitions of the new version that can be measured."""
        return sum(tool.tokens_after or 0 for tool in self.tools)

    @published(after="regressions", key="tools")
    def changed(self) -> tuple[ToolComparison, ...]:
        """Tools that are not the same in both versions."""
        return tuple(tool for tool in self.tools if tool.differences)

    @property
    def moved_tools(self) -> list[ToolComparison]:
        """Tools whose TDQS moved, the greatest fall first."""
        return sorted((tool for tool in self.tools if tool.tdqs_change), key=lambda tool: (tool.tdqs_change, tool.name))

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
        """Without a score in the new version; coherence has no name."""
        return self.new.unscored

    @published(after="ungraded_after")
    def problems(self) -> tuple[str, ...]:
        """Problems with either version, and what counts once as several tools say it."""
        return self.old.problems + self.new.problems


LOCK_VERSION = 1

Raw = Annotated[Any, Trait.AS_JSON]
"""Foreign JSON with sorted keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedScore:
    """A score with all that it depends on; for information, never compared."""

    score: Tenths
    tier: Tier
    spec: str
    judge: str
    model: str | None
    calibration: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTool:
    """A tool as the lock's owner has seen it."""

    name: Name
    """Empty for a tool without a usable name."""

    input_hash: Hash | None
    """The specification's hash of the six scored fields; null where the tool cannot be measured."""

    digest: Hash
    """Of the whole definition: icons, `_meta` and unknown fields too."""

    score: LockedScore | None
    """Null where no judge scored it."""

    definition: Raw
    """Null if it nests too deep to be compared; then the digest alone says whether it changed."""

    effects: tuple[str, ...] | Absent = ABSENT
    """Kinds of effects of the tool's code, with the host where it is known: `sends-data-out api.example.com`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedServer:
    """Everything that agents see of one server. A null part was not listed, such as instructions of a bare file."""

    name: Name
    version: str | None
    source: str | None
    """Where it was listed, without credentials."""

    allow: tuple[Impact, ...]
    """Changes that `lock --check` reports and lets pass."""

    score: LockedScore | None
    """The overall score."""

    digest: Hash
    """Of server information, instructions, prompts and resources."""

    server_info: Mapping[str, Raw] | None
    """Without the version, which is no part of what agents see."""

    instructions: str | None
    prompts: tuple[Raw, ...] | None
    resources: tuple[Raw, ...] | None
    """Resources and resource templates, sorted."""

    tools: tuple[LockedTool, ...]
    """Sorted by name: the order of a listing is not locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionLock:
    """The file `tdqs.lock`."""

    version: Annotated[int, Unit(low=LOCK_VERSION, high=LOCK_VERSION)] = LOCK_VERSION
    servers: tuple[LockedServer, ...]


class LockState(StrEnum):
    """How a server stands to the lock."""

    NEW = "new"
    """It was not in the lock and is now."""

    SAME = "same"
    CHANGED = "changed"
    ACCEPTED = "accepted"
    """It had changed, and the changes that were accepted are in the lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedChange:
    """A change since the lock was written."""

    subject: Internal[Location]
    difference: Inline[Difference]
    is_allowed: bool
    """The lock allows changes of this impact."""

    @published(after="")
    def part(self) -> str:
        """Part that changed, as `lock --accept` takes it.

        `tool:NAME`, `instructions`, `prompt:NAME`, `resource:URI`, `server`.
        """
        return self.subject.part


@dataclass(frozen=True, slots=True, kw_only=True)
class LockReport(OfServer, Document):
    """Changes of a server since it was locked."""

    state: LockState
    locked_version: str | None
    """The server's version in the lock."""

    changes: tuple[LockedChange, ...]
    """Breaking ones first, then dangerous, compatible and wording."""

    accepted: tuple[str, ...]
    """Parts whose changes were written to the lock."""

    tool_count: int
    unverified: tuple[str, ...]
    """What the lock holds and this listing cannot show, one sentence each."""

    problems: tuple[str, ...]
    """What went wrong, and what moved without being a change, one sentence each."""

    @published(after="changes")
    def refused(self) -> int:
        """Changes that the lock does not allow."""
        return sum(not change.is_allowed for change in self.changes)

    @property
    def has_open_changes(self) -> bool:
        """Return whether changes are left that neither the lock allows nor anybody accepted."""
        return any(not change.is_allowed and change.part not in self.accepted for change in self.changes)
