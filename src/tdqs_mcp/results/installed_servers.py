"""Servers that clients on this machine have configured, each with its score, and what they share."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from tdqs_mcp.results.contract import Document, Inline, Internal, Key, Name, published
from tdqs_mcp.results.scores import DiscoveryStatus, ServerScore


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledServer:
    """A server in the configuration of one client; never what it is started with."""

    client: str
    name: Name
    transport: Literal["stdio", "http", "sse"] | None = None
    """Null for an entry with neither a command nor a URL."""

    file: Internal[Path]
    is_project: Annotated[bool, Key("fromProject")] = False
    """The file belongs to the folder, whose author may be somebody else, and not to the user."""

    is_disabled: Annotated[bool, Key("disabled")] = False
    is_startable: Internal[bool] = True
    """Nothing in its command or URL is left for the client to fill in."""

    unresolved: tuple[str, ...] = ()
    """What only the client could fill in, one sentence each; such variables and headers are left out."""

    @published(after="transport", key="file")
    def path(self) -> str:
        """The file that configures it."""
        return str(self.file)

    @property
    def id(self) -> str:
        """Client and name."""
        return f"{self.client}/{self.name}"

    @property
    def locator_name(self) -> str:
        """The locator that means this server: `config:CLIENT/NAME`, or `config:project/CLIENT/NAME`."""
        return f"config:{'project/' if self.is_project else ''}{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerList(Document):
    """The servers of all installed clients."""

    servers: tuple[InstalledServer, ...]
    problems: tuple[str, ...]
    """Files and entries that cannot be read, one sentence each."""


class InstalledOutcome(StrEnum):
    """Outcome of scoring an installed server."""

    SCORED = "scored"
    DISABLED = "disabled"
    NOT_STARTED = "not started"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledScore:
    """A server of one client with its score."""

    server: Inline[InstalledServer]
    standing: InstalledOutcome
    reason: str | None = None
    """Why it has no score."""

    discovery_status: DiscoveryStatus | None = None
    """Why a server that was asked gave no tools; null for any other."""

    same_as: str | None = None
    """CLIENT/NAME of the entry that means the same server and has its score."""

    incomplete: str | None = None
    """Why the list of its tools may lack some; null if all are listed."""

    tool_count: int | None = None
    tokens: int | None = None
    """Estimated tokens of all its tools."""

    score: ServerScore | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A tool of a server."""

    server: Name
    tool: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedName:
    """A name that several tools have."""

    name: str
    tools: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPurpose:
    """Two tools of different servers that say the same."""

    first: Place
    second: Place
    kind: Literal["definition", "description", "purpose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSet:
    """All servers of a client, as an agent in it sees them."""

    client: str
    title: str
    servers: tuple[Name, ...]
    """Those whose tools could be read."""

    tool_count: int
    tool_limit: int | None
    """How many tools the client takes of all servers together; null where that is not known."""

    tokens: int
    """Estimated tokens of all tools."""

    collisions: tuple[SharedName, ...]
    """Names, as the client makes them, that several tools get."""

    same_names: tuple[SharedName, ...]
    """Names that tools of several servers have, and that the client tells apart."""

    overlaps: tuple[SharedPurpose, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledReport(Document):
    """The servers of all installed clients, scored, and what an agent sees of them together."""

    servers: tuple[InstalledScore, ...]
    clients: tuple[ClientSet, ...]
    problems: tuple[str, ...]

    @property
    def lowest_first(self) -> list[InstalledScore]:
        """Servers by overall score, the lowest first, then those without a score."""
        return sorted(self.servers, key=lambda row: (row.score is None, (row.score and row.score.rollup.overall) or 0))
