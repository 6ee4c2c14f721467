"""Sightings on the way through a tool's code."""

from dataclasses import dataclass, field

from tdqs_mcp.code.nodes import CallSite, Function, SyntaxNode
from tdqs_mcp.code.values import CallFrame, Closure, Value

MAX_CALLS = 1000
"""Calls that are followed for one tool."""

FORM = "form"
"""Kind of a limit that says what a parameter must be, such as JSON."""

ALL = ""
"""The name of all arguments together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """An effect, an error, a limit: whatever a line of code does."""

    kind: str
    path: str
    line: int
    depth: int
    text: str = ""
    """The method of a request, the command, the SQL, the text of an error: as far as it is known."""

    host: str = ""
    conditions: tuple[str, ...] = ()
    parameters: frozenset[str] = frozenset()
    """Parameters of the tool that the call's arguments are made from."""

    harm: str = ""
    """DESTROYS for what takes or overwrites something, ADDS for what takes nothing; empty where it is not known."""

    address: str = ""
    """Host and path of a request, as far as a part of the path is known."""

    program: frozenset[str] = frozenset()
    """What a program does that is started, in the words of `commands.toml`."""

    is_alone: bool = False
    """No other tool of the server does it."""

    is_housekeeping: bool = False
    """Nearly all tools of the server do it, whatever they are asked: caches, tokens, counts of calls.

    With the agent's words it leaves a verdict open.
    """

    sparse: frozenset[str] = frozenset()
    """Parameters that a request has only where they are given."""

    entry: Value | None = None
    """Key of the entry of a map that is set or taken, as in a cache."""

    origin: int = 0
    """Digest of the call of a function, with nothing of the agent's in it, that leads there; 0 for other ways."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Where a dispatch by the tool's name leads: the body of a condition, a function of a table, a module."""

    path: str
    node: SyntaxNode
    depth: int
    before: int
    """Functions that were handed arguments before."""


@dataclass(frozen=True, slots=True)
class Handover:
    """A call of a function that gets nothing of the agent's but what the agent passes, unchanged."""

    closure: Closure
    depth: int
    """Depth of the caller."""

    line: int
    is_whole: bool
    """It gets all arguments as one object."""

    is_empty: bool
    """It gets nothing."""

    names: frozenset[str]
    """Parameters that it gets, where it gets nothing else: no context, no client, no state of the server."""


@dataclass(slots=True)
class CallTrace:
    """Sightings on the way of one handler."""

    name: str = ""
    """The tool's name."""

    effects: list[Sighting] = field(default_factory=list)
    errors: list[Sighting] = field(default_factory=list)
    limits: list[Sighting] = field(default_factory=list)
    unresolved: list[Sighting] = field(default_factory=list)
    texts: list[Sighting] = field(default_factory=list)
    """Documentation of functions that a parameter is handed to under its own name."""

    caches: set[tuple[str, str]] = field(default_factory=set)
    """Maps, by file and words, that an answer of another machine is put into."""

    logs: list[Sighting] = field(default_factory=list)
    """The first line that tells a logger something."""

    environment: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    """Parameters that anything depends on."""

    passed: set[str] = field(default_factory=set)
    """Those of them that are used for more than comparisons with constants."""

    exhausted: dict[str, dict[object, None]] = field(default_factory=dict)
    """Values of a parameter that have a branch, where all others end in an error."""

    compared: dict[str, dict[object, None]] = field(default_factory=dict)
    """Values that a parameter is compared with, or that a table has under it."""

    chained: set[str] = field(default_factory=set)
    """Parameters with a branch for each of several values and none for the others."""

    answered: set[str] = field(default_factory=set)
    """Parameters with a branch for all other values than some."""

    results: list[Value] = field(default_factory=list)
    arms: list[Arm] = field(default_factory=list)
    handed: list[Handover] = field(default_factory=list)
    """Functions that get parameters as the agent passes them, and functions that get nothing."""

    functions: dict[tuple[str, int, int], int] = field(default_factory=dict)
    """Functions that were followed, by file, first and last line, with the calls between the handler and each."""

    is_read_only: bool = False
    """A database is opened, or a transaction begun, for reading only."""

    has_record: bool = False
    """The tool's own definition is looked up in a list: what is done for it is written there."""

    calls: int = 0
    contexts: dict[Function, list[Value]] = field(default_factory=dict)
    """Results of the calls of a function so far, each with other arguments."""

    sparse: set[str] = field(default_factory=set)
    """Parameters that are put into a table only where they are given."""

    idle: dict[Function, bool] = field(default_factory=dict)
    """Functions that were followed with anything for their arguments, and whether they do nothing then."""

    finished: dict[object, tuple[Value, tuple[str, ...]]] = field(default_factory=dict)
    active: dict[tuple[Closure, bool, tuple[Value, ...], object], None] = field(default_factory=dict)
    """Calls that are being followed, the handler's first."""

    outside: int = 0
    """Of these, how many make the call that this is the trace of, where several tools make it."""

    guards: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """How a parameter's text must begin, because the code refuses others."""

    changed: set[tuple[tuple[str, Value], ...]] = field(default_factory=set)
    """Items of dictionaries as they were before something was put into them, under whatever name."""

    failures: set[Value] = field(default_factory=set)
    """Texts and objects that are returned where an error is caught."""

    peers: set[str] = field(default_factory=set)
    """Hosts that connections are opened to; empty for one that is not known."""

    written: set[Value] = field(default_factory=set)
    """Paths of files that were written: to delete or rename them afterwards takes nothing of the user's."""


@dataclass(frozen=True, slots=True)
class PassedCall:
    """A call with the values that it passes, in the function that makes it."""

    node: CallSite
    frame: CallFrame
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]
