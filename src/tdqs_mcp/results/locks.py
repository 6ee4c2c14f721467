"""What `tdqs.lock` pins of each server, and what has changed since."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from tdqs_mcp.results.comparisons import Difference, Impact
from tdqs_mcp.results.contract import Document, Hash, Inline, Internal, Name, Tenths, Trait, Unit, published
from tdqs_mcp.results.findings import Location, OfServer
from tdqs_mcp.results.verdicts import Tier

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
    """One tool as the lock's owner has seen it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedServer:
    """Everything that agents see of one server. A null part was not listed, such as instructions of a bare file."""

    name: Name
    version: str | None
    source: str | None
    """Where it was listed, without credentials."""

    allow: tuple[Impact, ...]
    """Changes that `verify` reports and lets pass."""

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
    """One change since the lock was written."""

    subject: Internal[Location]
    part: str
    """What it is about, as `lock --accept` takes it: `tool:NAME`, `instructions`, `prompt:NAME`,
    `resource:URI`, `server`."""

    difference: Inline[Difference]
    is_allowed: bool
    """The lock allows changes of this impact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockReport(OfServer, Document):
    """What has changed of a server since it was locked."""

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
        return sum(not each.is_allowed for each in self.changes)
