"""Findings about the code of tools: handlers, effects, limits and errors, with file and line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from tdqs_mcp.results.contract import Document, Internal, Name

Proof: TypeAlias = bool | Literal["unknown"]
"""A verdict: true or false where the code proves it, else unknown."""

_LOCAL = re.compile(r"localhost|127\.|\[?::1|0\.0\.0\.0")


class EffectKind(StrEnum):
    """Kind of what a line of code does outside its function."""

    FILE_WRITE = "file-write"
    FILE_DELETE = "file-delete"
    PROCESS = "process"
    SQL_WRITE = "sql-write"
    DB_READ = "db-read"
    HTTP_READ = "http-read"
    HTTP_WRITE = "http-write"
    HTTP_UNKNOWN = "http-unknown"
    SENDS_DATA_OUT = "sends-data-out"
    RUNS_CODE = "runs-code"
    STATE_IN_MEMORY = "state-in-memory"
    STATE_UNKNOWN = "state-unknown"
    LOCAL_READ = "local-read"
    SQL_UNKNOWN = "sql-unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePlace:
    """A line of a source file."""

    file: str
    """Path relative to the folder, with `/`."""

    line: int
    """From 1."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePlace(CodePlace):
    """A character of a source file."""

    column: int
    """From 1."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler(CodePlace):
    """The function that answers a tool's calls; for a dispatching function, the branch of the tool."""

    end: int
    """Last line of the function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEffect(CodePlace):
    """A line that a call of the tool reaches, and its effect."""

    kind: EffectKind
    depth: int
    """Calls between the handler and the line; 0 inside the handler."""

    text: str
    """Method of a request, words of a command, beginning of a statement, or name of the function that is called."""

    host: str
    """Host of a request; empty where it is not known."""

    condition: str
    """Condition on the tool's parameters for the line; empty where there is none or it is not known."""

    method: str
    """Method of a request; empty for other effects, and where it is not known."""

    is_given: Internal[bool]
    """The arguments of the line come from the tool's parameters."""

    is_change: Internal[bool]
    """The line changes something outside the call; of a program only where it is known."""

    is_destroying: Internal[bool]
    """The line takes or overwrites something."""

    sparse: Internal[tuple[str, ...]] = ()
    """Parameters that the request has only where they are given."""

    is_housekeeping: bool = False
    """Nearly all tools of the server do it, whatever they are asked, or it creates a missing schema: proves no hint."""

    @property
    def pinned(self) -> str:
        """Kind and host, which stay where lines move."""
        return f"{self.kind} {self.host}".strip()

    @property
    def words(self) -> str:
        """The effect as a verb: `deletes files`."""
        return f"{_VERBS[self.kind]}{f' ({self.host})' if self.host else ''}"


_VERBS = {
    EffectKind.FILE_WRITE: "writes files",
    EffectKind.FILE_DELETE: "deletes files",
    EffectKind.PROCESS: "starts a program",
    EffectKind.SQL_WRITE: "changes a database",
    EffectKind.DB_READ: "reads a database",
    EffectKind.HTTP_READ: "reads from another machine",
    EffectKind.HTTP_WRITE: "changes something on another machine",
    EffectKind.HTTP_UNKNOWN: "asks another machine",
    EffectKind.SENDS_DATA_OUT: "sends data to another machine",
    EffectKind.RUNS_CODE: "runs code",
    EffectKind.STATE_IN_MEMORY: "changes state in memory",
    EffectKind.STATE_UNKNOWN: "may change state in memory",
    EffectKind.LOCAL_READ: "reads files",
    EffectKind.SQL_UNKNOWN: "asks a database",
}


def is_local(host: str) -> bool:
    """Return whether a host is this machine."""
    return bool(_LOCAL.match(host))


def names_host(text: str, host: str) -> bool:
    """Return whether a text in small letters names a host or its product: `github` of `api.github.com`."""
    labels = [label for label in host.split(".")[:-1] if len(label) > 3]
    return host in text or any(label in text for label in labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadValue:
    """A value that the schema allows and for which the code has no branch."""

    parameter: str
    value: str
    is_refused: Internal[bool] = True
    """It ends in an error; otherwise nothing is done for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimit(CodePlace):
    """A bound or a default of a parameter in the code."""

    parameter: str
    text: str
    """`at most 100`, `length at most 80`, `the first 50`, `default 10`, `one of add, remove`."""

    is_form: Internal[bool] = False
    """It says what the value must be: JSON, a regular expression."""

    depth: Internal[int] = 0
    """Calls between the handler and the line."""

    condition: Internal[str] = ""
    """Condition on other parameters, as of an effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeError(CodePlace):
    """An error that the code raises or returns."""

    text: str
    """Its message, `{}` for computed parts."""

    is_result: bool
    """It is returned as a normal result."""

    depth: Internal[int] = 0
    """Calls between the handler and the line."""

    condition: Internal[str] = ""
    """Condition on the tool's parameters, as of an effect."""

    parameter: Internal[str] = ""
    """The only parameter that the computed parts of the text come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved(CodePlace):
    """A call that could not be followed; a verdict that depends on it is unknown."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeText(CodePlace):
    """The documentation of a function that a parameter is handed to under its own name."""

    parameter: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSpan(CodePlace):
    """A function on the way of a tool's calls."""

    end: int
    """Last line of the function."""

    depth: int
    """Calls between the handler and the function; 0 for the handler."""


class ResultKind(StrEnum):
    """Kind of what comes back."""

    OBJECT = "object"
    OBJECTS = "list of objects"
    LIST = "list"
    TEXT = "text"
    IMAGE = "image"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResult:
    """A form that the result of a tool may have."""

    kind: ResultKind
    keys: tuple[str, ...] = ()
    """Keys that an object always has, labels in a text, or the way to a part of an answer."""

    rare: tuple[str, ...] = ()
    """Keys that an object may have."""

    is_open: bool = False
    """It may have further keys."""

    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Keys of an object that hold a list of objects, each with the keys of these."""

    is_empty: bool = False
    """A list that has nothing in it."""

    row: tuple[str, ...] = ()
    """Labels in the part of a text that is there once for each item."""

    is_line: bool = False
    """That part is one line."""

    text: str = ""
    """A text with `{}` for what is computed; method and address of the request whose answer comes back."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of a text, those of its rows too."""
        return (*self.keys, *self.row)

    @property
    def is_telling(self) -> bool:
        """More is known of it than its kind; of a request's answer only its address is."""
        is_known = bool(self.text or self.labels or self.rare) and self.kind is not ResultKind.ANSWER
        return is_known or self.kind is ResultKind.IMAGE

    @property
    def is_bare(self) -> bool:
        """It is some text, of which nothing is known."""
        return self.kind is ResultKind.TEXT and not (self.text or self.labels)

    def __str__(self) -> str:
        if self.kind is ResultKind.ANSWER:
            return f"{f'`{self.keys[0]}` of ' if self.keys else ''}the answer of {self.text}"
        keys = f" with keys {', '.join(self.keys)}" if self.keys and self.kind is not ResultKind.TEXT else ""
        rare = f"{' and' if keys else ' with'} at times {', '.join(self.rare)}" if self.rare else ""
        return f"{self.kind}{keys}{rare}{' and others' if self.is_open else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCode:
    """The code of a tool, followed from its handler."""

    name: Name
    handler: Handler | None
    """Null where no function was found that answers the tool's calls."""

    registration: CodePlace
    effects: tuple[CodeEffect, ...]
    """All that a call may do, the worst case over its arguments; reads too."""

    read_only: Proof
    destructive: Proof
    idempotent: Proof
    open_world: Proof
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The lines that decide a verdict, or leave it unknown; none where nothing speaks against a clean one."""

    unused_parameters: tuple[str, ...] = ()
    """Parameters on which nothing depends."""

    dead_enum_values: tuple[DeadValue, ...] = ()
    limits: tuple[CodeLimit, ...] = ()
    errors: tuple[CodeError, ...] = ()
    returns: str | None = None
    """Form of the result, such as `object with keys id, name`; null where it is not known."""

    results: Internal[tuple[CodeResult, ...]] = ()
    """Each form that the result may have, as far as known."""

    is_result_whole: Internal[bool] = False
    """The result has no further forms."""

    credentials: tuple[str, ...] = ()
    """Environment variables that the code reads."""

    unresolved: tuple[Unresolved, ...] = ()
    logs: Internal[tuple[str, ...]] = ()
    """That it logs to a file, and where."""

    description: Internal[str | None] = None
    """Description at the registration."""

    hints: Internal[tuple[tuple[str, bool], ...]] = ()
    """Hints at the registration."""

    texts: Internal[tuple[CodeText, ...]] = ()
    """Documentation in the code that may speak of the parameters."""

    places: Internal[Mapping[str, SourcePlace]] = field(default_factory=dict)
    """Where the parts of the definition stand in the source, by JSON pointer; the empty one is its registration."""

    functions: Internal[tuple[CodeSpan, ...]] = ()
    """Handler and functions that it calls, as far as they were followed, in the order of the calls."""

    @property
    def own_effects(self) -> tuple[CodeEffect, ...]:
        """Return the effects without the server's housekeeping."""
        return tuple(effect for effect in self.effects if not effect.is_housekeeping)

    @property
    def verdicts(self) -> Mapping[str, Proof]:
        """Return what the code proves of each hint."""
        return {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReport(Document):
    """The code of a folder's tools."""

    folder: str
    tools: tuple[ToolCode, ...]
    problems: tuple[str, ...]
    """Files that were not read, and tools without a handler, each with the reason."""

    def find(self, name: str) -> ToolCode | None:
        """Return a tool's code by its name."""
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSlice:
    """Lines of a tool's code for a model: the handler and what it calls, without secrets."""

    lines: Mapping[str, Mapping[int, str]]
    """Text by file and number."""

    left_out: int = 0
    """Functions that were followed and for which there was no room."""

    @property
    def text(self) -> str:
        """Return the lines with their numbers, by file; `...` stands for lines between them."""
        parts = []
        for file, lines in self.lines.items():
            parts.append(f"=== {file}")
            last = min(lines) - 1
            for number, line in sorted(lines.items()):
                parts += ["..."] if number > last + 1 else []
                parts.append(f"{number:>5} | {line}")
                last = number
        rest = f"({self.left_out} more functions that are called are not shown)"
        return "\n".join([*parts, *([rest] if self.left_out else [])])


class RemarkKind(StrEnum):
    """Kind of what a model remarks on a definition that it held against the code."""

    CONTRADICTION = "contradiction"
    MISSING_FACT = "missing-fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRemark(CodePlace):
    """A model's statement about a tool's code. Its quotations stand where it says; the statement itself is unproven."""

    kind: RemarkKind
    statement: str
    code: str
    """Quotation that stands at the line."""

    definition: str | None
    """Words of the definition that the code contradicts; null for a missing fact."""
