"""A catalog as each client takes it: the client's limits, and the tools as it shows them to a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from tdqs_mcp.results.contract import Document, Internal, Name, Only, Pointer, published
from tdqs_mcp.results.findings import OfServer, Severity


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
