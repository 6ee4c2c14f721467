"""Facts about clients: their configured servers, and what each keeps of a catalog."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from tdqs_mcp.results.contract import Document, Inline, Internal, Key, Name, Only, Pointer, published
from tdqs_mcp.results.findings import OfServer, Severity
from tdqs_mcp.results.scores import DiscoveryStatus, ServerScore


class Handling(StrEnum):
    """A client's treatment of a definition; the later ones are worse."""

    KEPT = "kept"
    RENAMED = "renamed"
    CUT = "cut"
    REFUSED = "refused"

    @property
    def rank(self) -> int:
        """0 for kept to 3 for refused."""
        return list(Handling).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of some clients, what happens beyond it, and how that is known."""

    clients: tuple[str, ...]
    check: str
    """What is looked at."""

    takes: Any = None
    """The longest text or list, the words that are refused, or a regular expression, as the check needs it."""

    says: str
    """What is taken, in words."""

    outcome: Handling
    loses: Literal["tool", "server", "request"]
    """What is lost by a refusal: the tool, the server's whole list, or every request that has it."""

    severity: Severity | None = None
    """The severity of a finding for somebody who names the client; None if only portability shows it."""

    default: Severity | None = None
    """The same where nobody names a client."""

    kind: Literal["documented", "quoted", "source"]
    """The vendor's documentation, an error message quoted in a public thread, or published source code."""

    url: str
    date: str
    """The day of the message, or the day on which the documentation said so."""

    quote: str

    @property
    def source(self) -> str:
        """How a finding names the source."""
        return f"{self.url} ({self.kind}, {self.date})"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitExcess:
    """A limit that a definition goes beyond."""

    handling: Handling
    path: Pointer
    """The first place."""

    places: int
    what: str
    """What stands there."""

    limit: Annotated[Limit, Only("says loses kind url date quote")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTool:
    """A tool as a client shows it to a model."""

    name: Name
    seen_as: Name | None
    """The name that the model gets; null if the client refuses the tool."""

    handling: Handling
    """The worst of its changes."""

    changes: tuple[LimitExcess, ...]

    @property
    def is_only_stripped(self) -> bool:
        """All that becomes of it is that keywords are taken out of its schema, such as `additionalProperties`."""
        changes = [change.handling is Handling.CUT and change.limit.check == "keywords" for change in self.changes]
        return bool(changes) and all(changes)


SERVER = "the server"
"""Name under which excesses of the server as a whole are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientView:
    """A server as one client takes it."""

    client: str
    title: Internal[str]
    tools: tuple[SeenTool, ...]
    changes: tuple[LimitExcess, ...]
    """Limits that the server as a whole goes beyond."""

    @published(after="client")
    def handling(self) -> Handling:
        """The worst of all."""
        return worst([*(tool.handling for tool in self.tools), *(change.handling for change in self.changes)])

    @published(after="handling")
    def loses_all(self) -> bool:
        """A refusal loses every tool of the server."""
        return any(self.is_whole(limit, excesses) for limit, excesses in self.excesses)

    @staticmethod
    def is_whole(limit: Limit, excesses: Sequence[tuple[str, LimitExcess]]) -> bool:
        """Going beyond the limit loses every tool."""
        return limit.loses != "tool" and any(change.handling is Handling.REFUSED for _, change in excesses)

    @property
    def excesses(self) -> list[tuple[Limit, list[tuple[str, LimitExcess]]]]:
        """Excesses of each limit with the name of their tool; limits with the worst outcome first."""
        by_limit: dict[Limit, list[tuple[str, LimitExcess]]] = {}
        names = [(SERVER, change) for change in self.changes]
        names += [(tool.name, change) for tool in self.tools for change in tool.changes]
        for name, change in names:
            by_limit.setdefault(change.limit, []).append((name, change))
        return sorted(by_limit.items(), key=lambda entry: -entry[0].outcome.rank)

    @property
    def sources(self) -> list[str]:
        """Sources of these limits, in the order of the definitions."""
        changes = [*self.changes, *(change for tool in self.tools for change in tool.changes)]
        return list(dict.fromkeys(change.limit.source for change in changes))

    @property
    def counts(self) -> dict[Handling, int]:
        """Tools by what becomes of them, the worst last."""
        counts = Counter(tool.handling for tool in self.tools)
        return {handling: counts[handling] for handling in Handling if counts[handling]}


@dataclass(frozen=True, slots=True, kw_only=True)
class PortabilityReport(OfServer, Document):
    """A server's tools as each client and model API would show them to a model."""

    clients: tuple[ClientView, ...]
    unmeasured: tuple[Name, ...]
    """Tools that cannot be read, which no client was asked about."""

    problems: tuple[str, ...]


def worst(handlings: Sequence[Handling]) -> Handling:
    """The worst of several; kept if there are none."""
    return max(handlings, key=lambda handling: handling.rank, default=Handling.KEPT)


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
class NotNeeded:
    """Servers that no tool is found in for a task."""

    task: str
    servers: tuple[Name, ...]
    """To be switched off; empty also if nothing was found at all."""

    saved_tokens: int


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
    not_needed: NotNeeded | None
    """Null without a task."""


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
