"""Whether a result, or the entries of a suite, meet their bars."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from tdqs_mcp.results.contract import Document, published


class Outcome(IntEnum):
    """The exit code of a gate."""

    PASSED = 0
    FAILED = 1
    UNKNOWN = 2
    """It could not run, or something ungraded could change the verdict."""


class GateResult(StrEnum):
    """Whether a gate's bar is met; ERROR where that cannot be known."""

    PASS = "PASS"  # noqa: S105  # a word, no password
    FAIL = "FAIL"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One target of a suite's entry, held against its bar."""

    target: str
    wanted: str
    actual: str | None
    """None where it cannot be known."""

    result: GateResult
    reason: str | None = None
    """Why it cannot be known; where the bar is missed, what to look at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One entry of a suite with its checks."""

    name: str
    server: str
    reason: str | None = None
    """Why the server could not be captured."""

    checks: tuple[Check, ...]
    """Empty where the server could not be captured."""

    @published(after="server")
    def result(self) -> GateResult:
        """PASS when every check passes; a check that fails decides, whatever else is unknown."""
        results = {check.result for check in self.checks}
        if GateResult.FAIL in results:
            return GateResult.FAIL
        return GateResult.PASS if results == {GateResult.PASS} else GateResult.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport(Document):
    """A suite with all its entries."""

    suite: str
    """The suite's file."""

    rows: tuple[GateRow, ...]
