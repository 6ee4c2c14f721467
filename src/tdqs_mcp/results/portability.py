"""What clients and model APIs take of a server's tools: limits with their sources, and what goes beyond them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from tdqs_mcp.results.contract import Document, Internal, Name, Only, Pointer, published
from tdqs_mcp.results.findings import OfServer, Severity


class Handling(StrEnum):
    """What a client does with a definition; the later ones are worse."""

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
    """What some clients take, what happens otherwise, and how that is known."""

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
class Change:
    """One limit that a definition goes beyond."""

    handling: Handling
    path: Pointer
    """The first place."""

    places: int
    what: str
    """What stands there."""

    limit: Annotated[Limit, Only("says loses kind url date quote")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTool:
    """One tool as a client shows it to a model."""

    name: Name
    seen_as: Name | None
    """The name that the model gets; null if the client refuses the tool."""

    handling: Handling
    """The worst of its changes."""

    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientView:
    """What one client takes of a server."""

    client: str
    title: Internal[str]
    tools: tuple[SeenTool, ...]
    changes: tuple[Change, ...]
    """Limits that the server as a whole goes beyond."""

    @published(after="client")
    def handling(self) -> Handling:
        """The worst of all."""
        return worst([*(tool.handling for tool in self.tools), *(change.handling for change in self.changes)])

    @published(after="handling")
    def loses_all(self) -> bool:
        """One refusal loses every tool of the server."""
        changes = [*self.changes, *(change for tool in self.tools for change in tool.changes)]
        return any(each.handling is Handling.REFUSED and each.limit.loses != "tool" for each in changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortabilityReport(OfServer, Document):
    """What each client and model API would show a model of a server's tools."""

    clients: tuple[ClientView, ...]
    unmeasured: tuple[Name, ...]
    """Tools that cannot be read, which no client was asked about."""

    problems: tuple[str, ...]


def worst(handlings: Sequence[Handling]) -> Handling:
    """The worst of several; kept if there are none."""
    return max(handlings, key=lambda each: each.rank, default=Handling.KEPT)
