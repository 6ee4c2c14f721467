"""What a sweep of a registry gives: how much was read, scored and asked, and what it cost."""

from dataclasses import dataclass
from typing import Annotated

from tdqs_mcp.results.contract import Document, Key, Tenths, Unit
from tdqs_mcp.results.verdicts import JudgeStamp

MAX_PROBLEMS = 1_000
"""Problems that a report holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChange:
    """A server whose record or score is another than in the store; a score is null where too few tools have one."""

    server: str
    before: Annotated[Tenths | None, Key("overallBefore")]
    after: Annotated[Tenths | None, Key("overallAfter")]

    @property
    def size(self) -> int:
        """In tenths; no score counts as 0."""
        return abs((self.after or 0) - (self.before or 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport(Document):
    """One sweep. All numbers are about this sweep, whatever the store has besides."""

    store: str
    """The file or URL, without a password."""

    judge: JudgeStamp
    spec_version: str
    servers: int
    """Read."""

    unchanged: int
    """Of them, those whose record the store had, scored by this method."""

    scored: int
    """Of them, those that were scored."""

    new: int
    """Of the scored, those that the store had no scores of by this method."""

    changed: tuple[ServerChange, ...]
    """Of the scored, those whose record or score has changed; the biggest change of a score first."""

    tools: int
    """Of the scored servers."""

    asked: int
    """Of these tools, those that the judge was asked about: the others were known by their inputHash."""

    ungraded: int
    """Tools, tool sets and questions about shadow candidates without a verdict; the next sweep asks about them."""

    held: int
    """Of the ungraded, those whose score the guard holds as suspicious."""

    problem_count: int
    problems: tuple[str, ...]
    """What could not be read or scored, one sentence each; the first 1,000."""

    unread: int
    """Inputs that could not be read to their end; the command fails where there is one, or no server was read."""

    requests: int
    """Sent to models."""

    cost: Annotated[int | None, Unit(divisor=10**9, low=0, says="Dollars")]
    """What they cost; null where a price is not known."""

    seconds: Annotated[int, Unit(divisor=1000, low=0, says="Seconds, with milliseconds")]
