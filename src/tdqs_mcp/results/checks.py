"""Outcomes of tests: gates and suites, the calibration of a judge, the selection of tools by query."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from operator import attrgetter
from typing import Annotated, Any

from tdqs_mcp.results.contract import (
    Document,
    Inline,
    Internal,
    Key,
    Name,
    Only,
    Own,
    PercentTenths,
    Unit,
    published,
)
from tdqs_mcp.results.statistics import Dollars
from tdqs_mcp.results.verdicts import JudgeStamp


class GateResult(StrEnum):
    """Verdict on a gate's bar; ERROR where that cannot be known."""

    PASS = "PASS"  # noqa: S105  # a word, no password
    FAIL = "FAIL"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A target of a suite's entry compared with its bar."""

    target: str
    wanted: str
    actual: str | None
    """None where it cannot be known."""

    result: GateResult
    reason: str | None = None
    """Why it cannot be known; where the bar is missed, what to look at first."""

    @property
    def outcome(self) -> str:
        """Value of the target, and the reason."""
        reason = f"({self.reason})" if self.actual and self.reason else self.reason
        return " ".join(filter(None, (self.actual, reason)))

    @property
    def sentence(self) -> str:
        """The target, what it is and what was wanted."""
        verb = "is not known:" if self.result is GateResult.ERROR else "is"
        return f"{self.target} {verb} {self.outcome}, wanted {self.wanted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """An entry of a suite with its checks."""

    name: str
    server: str
    reason: str | None = None
    """Why the server could not be captured."""

    checks: tuple[Check, ...]
    """Empty where the server could not be captured."""

    @published(after="server")
    def result(self) -> GateResult:
        """PASS if every check passes, FAIL if one fails, ERROR otherwise."""
        results = {check.result for check in self.checks}
        if GateResult.FAIL in results:
            return GateResult.FAIL
        return GateResult.PASS if results == {GateResult.PASS} else GateResult.ERROR

    @property
    def missed(self) -> list[Check]:
        """Checks that do not pass."""
        return [check for check in self.checks if check.result is not GateResult.PASS]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport(Document):
    """A suite with all its entries."""

    suite: str
    """The suite's file."""

    rows: tuple[GateRow, ...]

    @property
    def counts(self) -> Counter[GateResult]:
        """Entries by result."""
        return Counter(row.result for row in self.rows)


Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTable:
    """A table of a calibration report."""

    title: str
    remark: str
    """What the numbers are and on what they rest."""

    columns: Internal[tuple[str, ...]]
    rows: Internal[tuple[tuple[Cell, ...], ...]]

    @published(after="remark", key="rows")
    def entries(self) -> tuple[dict[str, Cell], ...]:
        """The rows by the columns' names."""
        names = [column or "name" for column in self.columns]
        plain = ([round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in self.rows)
        return tuple(dict(zip(names, row, strict=True)) for row in plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """Something that the judge failed on."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """How far a judge's scores are from the reference scores."""

    judge: Annotated[JudgeStamp, Only("id version model calibration")]
    sections: Annotated[tuple[CalibrationTable, ...], Key("tables")]
    faults: Annotated[tuple[str, ...], Key("outOfTolerance")]
    """Where it is out of tolerance, one sentence each."""

    unjudged: tuple[Unjudged, ...] = ()
    """Everything that the judge failed on."""

    problems: tuple[str, ...] = ()
    """What keeps the report from saying more."""


Rank = Annotated[Fraction, Unit(low=1, says="Expected place: of n tied tools, each has the mean of their places")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call of a plan."""

    tool: Name
    arguments: Mapping[str, Any]
    """Those that the request determines; a text such as "$1.id" refers to the result of the first call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A user's request and the tool that answers it."""

    text: Annotated[str, Key("query")]
    tool: Name
    """The end of the expected plan; empty where no tool is right."""

    calls: tuple[PlannedCall, ...] = ()
    """The expected plan in order; empty where only its end is known, or where no tool is right."""

    also: tuple[Name, ...] = ()
    """Tools that are as right an end."""

    optional: tuple[Name, ...] = ()
    """Tools whose calls are neither needed nor needless."""

    kind: str | None = None
    """Such as plain, indirect, sibling, two, argument, caution or none."""

    server: Name | None = None
    """Null where a tool of this name is right on any server."""

    withheld: tuple[str, ...] = ()
    """Words of the tool that the query leaves out on purpose; empty for a query from a file."""

    def label(self, servers: Sequence[str]) -> str:
        """Return the tool's name, after its server's where there are several."""
        return f"{self.server}/{self.tool}" if self.server and self.tool and len(servers) > 1 else self.tool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCheck:
    """An agent's plan held against the expected one; None where nothing is expected, or nothing was called."""

    right_end: bool
    lookups: bool | None
    """Every call is there that has to come before the end, in order."""

    nothing_needless: bool
    valid_arguments: bool | None
    """They fit the schemas of the tools; a reference to an earlier call fits."""

    right_arguments: bool | None
    """Those that the request determines have the expected values."""

    @property
    def unmet(self) -> tuple[Own, ...]:
        """The demands that the plan misses."""
        return tuple(Own(demand) for demand, read in DEMANDS.items() if read(self) is False)


DEMANDS = {
    "right end": attrgetter("right_end"),
    "needed lookups": attrgetter("lookups"),
    "nothing needless": attrgetter("nothing_needless"),
    "arguments fit the schema": attrgetter("valid_arguments"),
    "right arguments": attrgetter("right_arguments"),
}
"""What a plan is held against, each with the part of its check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanShare:
    """How many of an agent's plans meet a demand."""

    demand: Own
    met: int
    plans: int
    """Plans of which it can be told."""

    low: PercentTenths
    """Lower end of Wilson's 95% interval."""

    high: PercentTenths


UNUSABLE = "which are answers too: a rerun asks again only with TDQS_CACHE=off"
"""What is said of answers of an agent that are no plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryChoice:
    """A query and what the selector made of it; ties count as if they were broken by lot."""

    query: Query
    rank: Rank | None
    """The expected place of the right tool, from 1; null where it is not found at all."""

    first: Fraction
    """Probability that the right tool comes first."""

    found: Fraction
    """Probability that it is among the first k."""

    instead: Annotated[tuple[Name, ...], Key("pickedInstead")] = ()
    """Wrong tools at the first place, alone or tied; after their server's name where there are several servers."""

    failure: str | None = None
    """Why the selector gave no answer, which is not a statement about the tool."""

    is_unusable: Internal[bool] = False
    """It answered, but with no plan of these tools."""

    plan: Internal[PlanCheck | None] = None
    """None of a selector that only ranks, and without an answer."""

    planned: tuple[PlannedCall, ...] = ()
    """The calls of a plan that misses something."""

    @published(after="planned")
    def unmet(self) -> tuple[Own, ...]:
        """The demands that it misses."""
        return self.plan.unmet if self.plan else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How well tools are found, over the queries that were answered; null without any."""

    queries: int
    top1: PercentTenths | None
    """Percent of the queries whose tool comes first."""

    recall: PercentTenths | None
    """Percent of the queries whose tool is among the first k."""

    mrr: Annotated[int, Unit(divisor=1000, low=0, high=1)] | None
    """Mean of one over the expected rank; 0 for what is not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindShare:
    """Choices for the requests of a kind."""

    kind: str
    figures: Figures
    plans: tuple[PlanShare, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A wrong tool at the first place, or tied for it, and for how many queries."""

    tool: Name
    picked: Name
    count: int
    clashing: tuple[str, ...]
    """Words of these queries that only the picked tool has, the most frequent first."""

    parting: tuple[str, ...]
    """Words of the right tool's description that the picked one lacks."""

    sentence: str | None
    """The sentence of that description that names the picked tool, else has most of these words; null without any."""

    differences: tuple[str, ...]
    """Without such a sentence: what only one of their schemas has, and hints that differ."""


Points = Annotated[float, Unit(digits=2)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A pair of figures before and after, over equal queries."""

    gained: int
    """Queries that do better after."""

    lost: int
    """Queries that do worse after."""

    difference: Points
    """Gained less lost, in percentage points of the queries that both answered."""

    low: Points
    """Lower end of its 95 % interval."""

    high: Points
    p_value: Annotated[float, Unit(low=0, high=1)]
    """McNemar's exact test, two-sided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChange:
    """How many plans meet a demand before and after, over equal requests."""

    demand: Own
    gained: int
    lost: int
    p_value: Annotated[float, Unit(low=0, high=1)]
    """McNemar's exact test, two-sided, corrected for the number of demands (Holm)."""

    verdict: Own


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Results of equal queries put to other definitions."""

    label: str
    figures: Figures
    choices: Internal[tuple[QueryChoice, ...]]
    top1: Paired | None
    """Null without queries that both answered."""

    recall: Paired | None
    plans: tuple[PlanChange, ...]
    """Empty without plans."""

    confusions: tuple[Confusion, ...]
    """Of the queries that the change lost, the most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """A query and what became of it, before and after."""

    query: Annotated[Inline[Query], Only("text tool calls also optional kind server withheld")]
    choice: Annotated[Inline[QueryChoice], Only("rank instead unmet? planned?")]
    after: Internal[QueryChoice | None]

    @published(after="rank")
    def rank_after(self) -> Rank | None:
        """Null also where the queries were put to nothing else."""
        return self.after.rank if self.after else None

    @published(after="instead")
    def failure(self) -> str | None:
        """Why the selector gave no answer."""
        return self.choice.failure or (self.after.failure if self.after else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Document):
    """A selection test of one catalog, or of several in one index."""

    selector: str
    k: int
    servers: tuple[Name, ...]
    tool_count: int
    choices: Internal[tuple[QueryChoice, ...]]
    figures: Figures
    against: Against | None
    confusions: tuple[Confusion, ...]
    """The most frequent first."""

    plans: tuple[PlanShare, ...]
    """Empty for a selector that only ranks."""

    kinds: tuple[KindShare, ...]
    """Empty where no request has a kind."""

    problems: tuple[str, ...]

    @property
    def lost(self) -> list[tuple[QueryChoice, QueryChoice]]:
        """Queries that do worse with the other definitions, before and after."""
        # Without other definitions there are no pairs: "before" alone loses nothing.
        after = self.against.choices if self.against else ()
        pairs = zip(self.choices, after, strict=bool(after))
        return [(choice, other) for choice, other in pairs if other.found < choice.found or other.first < choice.first]

    @published(after="kinds")
    def queries(self) -> tuple[QueryResult, ...]:
        """Every query."""
        after = self.against.choices if self.against else (None,) * len(self.choices)
        pairs = zip(self.choices, after, strict=True)
        return tuple(QueryResult(query=before.query, choice=before, after=other) for before, other in pairs)


class TrialKind(StrEnum):
    """How a change that requests have tried was made."""

    REWRITE = "rewrite"
    """The definition that was to be proven."""

    REWORD = "reword"
    """A description by a model that has read the requests that fail."""

    ADD = "add"
    """A sentence that catalog or code prove."""

    CUT = "cut"
    """A sentence that was taken out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofTrial:
    """A change that requests have tried."""

    index: Internal[int]
    words: Internal[str]
    """Words that it brings or takes away, by which a lost request is put down to it."""

    tool: Name
    kind: TrialKind
    sentence: str | None = None
    """The sentence that was added or taken out; null for a whole definition."""

    tokens: int
    """Tokens that it adds to every list of the tools, an estimate; below zero where it saves them."""

    is_kept: Annotated[bool, Key("kept")] = False
    lost: str | None = None
    """A request that does worse with it, for which it was taken back; null also where it helped nothing."""

    on_held: bool = False
    """That request is one of the held half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """An experiment that decided which changes are kept."""

    selector: str
    requests: int
    """Those that led the search."""

    held: int
    """Those that were asked once, about the version that does best for the others."""

    choices: int
    """Questions to the selector."""

    unusable: int
    """Answers to them that are no plan of these tools; their requests count as missed."""

    tokens_read: int | None
    """Tokens that its model read for them, without those that a cache answered; null where nobody counts."""

    tokens_written: int | None
    cost: Dollars | None
    """Null too where a price is not known."""

    leading_gained: int
    """Requests that led the search and do better with the best version; none of them does worse."""

    gained: int
    """Held requests that do better."""

    lost: int
    high: PercentTenths
    """Upper end of Wilson's 95% interval of the share that does worse."""

    trials: tuple[ProofTrial, ...]

    @published(after="lost")
    def tokens(self) -> int:
        """Tokens that the kept changes add to every list of the tools."""
        return sum(trial.tokens for trial in self.trials if trial.is_kept)
