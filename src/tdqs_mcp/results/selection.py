"""What a selection test asks and what it finds: queries, ranks, figures and a paired comparison."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a user asks for and the tool that answers it."""

    text: str
    tool: str
    server: str | None = None
    """None where a tool of this name is right on any server."""

    withheld: tuple[str, ...] = ()
    """Words of the tool that the text leaves out on purpose; empty for a query that somebody wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One query and what the selector made of it; ties count as if they were broken by lot."""

    query: Query
    rank: Fraction | None
    """The expected place of the right tool, from 1; None where it is not found at all."""

    first: Fraction
    """Probability that the right tool comes first."""

    found: Fraction
    """Probability that it is among the first k."""

    instead: tuple[str, ...] = ()
    """Wrong tools at the first place, alone or tied; after their server's name where there are several servers."""

    highest: tuple[str, ...] = ()
    """Where several servers have a tool of this name: those whose tool stands highest, none where none is found."""

    failure: str | None = None
    """Why the selector gave no answer, which is no statement about the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How well a catalog's tools are found, over the queries that were answered."""

    queries: int
    top1: int | None
    """Tenths of a percent of the queries whose tool comes first; None without queries."""

    recall: int | None
    """Tenths of a percent of the queries whose tool is among the first k."""

    mrr: int | None
    """Mean of one over the expected rank, in thousandths; 0 for what is not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A wrong tool at the first place, or tied for it, and for how many queries."""

    tool: str
    picked: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Among servers with a tool of the same name: how often one server's stands highest."""

    server: str
    queries: int
    """Queries about a tool that this server and another one have."""

    share: int | None
    """Tenths of a percent of them for which this server's tool is highest; ties are shared."""

    others: int | None
    """The same without the queries that were made from this server's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The same queries before and after."""

    gained: int
    """Queries that do better after."""

    lost: int
    """Queries that do worse after."""

    difference: float
    """Gained less lost, in percentage points of all queries."""

    low: float
    """Lower end of its 95 % interval."""

    high: float
    p_value: float
    """McNemar's exact test, two-sided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The same queries put to other definitions."""

    label: str
    figures: Figures
    choices: tuple[Choice, ...]
    top1: Paired | None
    """None without queries that both answered."""

    recall: Paired | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A selection test of one catalog, or of several in one index."""

    selector: str
    k: int
    servers: tuple[str, ...]
    tool_count: int
    choices: tuple[Choice, ...]
    figures: Figures
    confusions: tuple[Confusion, ...]
    """The most frequent first."""

    shares: tuple[Share, ...]
    """Empty unless servers have tools of the same name."""

    against: Against | None
    problems: tuple[str, ...]
