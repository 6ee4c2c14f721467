"""Suite files: the `servers:` and `tool_quality:` blocks of mcptest's YAML, read, and held against evidence."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tdqs_mcp.errors import InputError, UnknownIdError
from tdqs_mcp.gate.targets import Bar, Evidence, Kind, Target, hold, parse_target
from tdqs_mcp.results.gate import GateRow
from tdqs_mcp.results.tiers import Tier

DEFAULTS = (
    (Kind.MIN_SCORE, Bar(minimum=Fraction(1, 2))),
    (Kind.MEAN_SCORE, Bar(minimum=Fraction(7, 10))),
    (Kind.CRITICAL_COUNT, Bar(maximum=Fraction(0))),
)
"""What an entry without `expect` is held to (mcptest, tool_quality)."""

MAX_FAULTS = 5
"""Faults of a file that are told at once."""

_PREFIX = "Value error, "
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the definitions come from, as the file says it."""

    name: str
    command: tuple[str, ...] = ()
    """The words of a command; empty where there is a locator."""

    locator: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    timeout: float | None = None
    """Seconds; None for the caller's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One target and the bar that it is held to."""

    target: Target
    bar: Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of `tool_quality`: a row of the result."""

    name: str
    server: str
    expect: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The servers that are asked, and the entries, in the file's order."""

    servers: tuple[Server, ...]
    entries: tuple[Entry, ...]


def parse(text: str, *, origin: str) -> Suite:
    """The suite in a YAML text. Other top-level blocks belong to other checks and are left alone.

    Raises InputError, which says line and key.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{origin} is no YAML: {' '.join(str(error).split())}") from error
    _refuse_twice(root, origin)
    try:
        model = _Suite.model_validate(document)
    except ValidationError as error:
        faults = [f"{_place(root, fault['loc'])}{fault['msg'].removeprefix(_PREFIX)}" for fault in error.errors()]
        raise InputError(f"{origin} is no suite: {'; '.join(faults[:MAX_FAULTS])}") from error
    used = {entry.server for entry in model.tool_quality}
    return Suite(
        servers=tuple(_server(name, server) for name, server in model.servers.items() if name in used),
        entries=tuple(_entry(entry) for entry in model.tool_quality),
    )


def locate(server: Server, environ: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, str]]:
    """A server's locator, headers and variables, with `${NAME}` replaced. Raises InputError for one that is not set."""

    def filled(text: str) -> str:
        for name in _VARIABLE.findall(text):
            if name not in environ:
                raise InputError(f"server {server.name!r} needs the environment variable {name}; set it")
        return _VARIABLE.sub(lambda found: environ[found[1]], text)

    locator = f"stdio:{shlex.join(map(filled, server.command))}" if server.command else filled(server.locator)
    return (
        locator,
        {name: filled(value) for name, value in server.headers.items()},
        {name: filled(value) for name, value in server.env.items()},
    )


def check(entry: Entry, evidence: Evidence | str) -> GateRow:
    """An entry's row: its checks, or the reason why its server has no evidence."""
    if isinstance(evidence, str):
        return GateRow(name=entry.name, server=entry.server, checks=(), reason=evidence)
    checks = tuple(hold(each.target, each.bar, evidence) for each in entry.expect)
    return GateRow(name=entry.name, server=entry.server, checks=checks)


def _scalar(value: object) -> object:
    """Numbers and flags that YAML reads in `env` and `headers` are the text that stands there."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _words(command: object) -> object:
    """The words of a command that is written as one line."""
    return shlex.split(command) if isinstance(command, str) else command


def _known(text: str) -> str:
    try:
        parse_target(text)
    except UnknownIdError as error:
        raise ValueError(str(error)) from error
    return text


Text = Annotated[str, BeforeValidator(_scalar)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Schema(_Strict):
    """The bar: for a number its least and largest value, for a tier the lowest letter or all that will do."""

    minimum: Number | Literal["A", "B", "C", "D"] | None = None
    maximum: Number | None = None
    enum: list[Tier] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def says_something(self) -> "_Schema":
        if not self.model_fields_set:
            raise ValueError("give minimum, maximum or enum")
        return self


class _Matcher(_Strict):
    schema_: _Schema = Field(alias="schema")


class _Expectation(_Strict):
    target: Annotated[str, AfterValidator(_known)]
    matcher: _Matcher

    @model_validator(mode="after")
    def fits(self) -> "_Expectation":
        schema, is_tier = self.matcher.schema_, parse_target(self.target).kind is Kind.OVERALL_TIER
        if is_tier and (isinstance(schema.minimum, float) or schema.maximum is not None):
            raise ValueError(f"{self.target} is a letter: give minimum: B, or enum: [A, B]")
        if not is_tier and (isinstance(schema.minimum, str) or schema.enum is not None):
            raise ValueError(f"{self.target} is a number: give minimum or maximum as a number")
        return self


class _Entry(_Strict):
    name: str
    server: str
    expect: list[_Expectation] | None = Field(default=None, min_length=1)


class _Server(BaseModel):
    """A server's keys that concern the connection; others belong to other checks."""

    command: Annotated[list[Text], BeforeValidator(_words)] = Field(default_factory=list)
    args: list[Text] = Field(default_factory=list)
    url: str | None = None
    locator: str | None = None
    env: dict[str, Text] = Field(default_factory=dict)
    headers: dict[str, Text] = Field(default_factory=dict)
    cwd: str | None = None
    timeout: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def is_one(self) -> "_Server":
        given = [key for key in ("command", "url", "locator") if getattr(self, key)]
        if len(given) != 1:
            raise ValueError(f"give one of command, url and locator, not {' and '.join(given) or 'none'}")
        return self


class _Suite(BaseModel):
    servers: dict[str, _Server]
    tool_quality: list[_Entry] = Field(min_length=1)

    @model_validator(mode="after")
    def names_its_servers(self) -> "_Suite":
        for entry in self.tool_quality:
            if entry.server not in self.servers:
                known = ", ".join(map(repr, self.servers)) or "none"
                raise ValueError(f"tool_quality asks for the server {entry.server!r}; servers has {known}")
        return self


def _server(name: str, server: _Server) -> Server:
    return Server(
        name=name,
        command=(*server.command, *server.args) if server.command else (),
        locator=server.url or server.locator or "",
        headers=server.headers,
        env=server.env,
        cwd=server.cwd,
        timeout=server.timeout,
    )


def _entry(entry: _Entry) -> Entry:
    if entry.expect is None:
        expect = tuple(Expectation(target=Target(text=kind.value, kind=kind), bar=bar) for kind, bar in DEFAULTS)
    else:
        expect = tuple(
            Expectation(target=parse_target(each.target), bar=_bar(each.matcher.schema_)) for each in entry.expect
        )
    return Entry(name=entry.name, server=entry.server, expect=expect)


def _bar(schema: _Schema) -> Bar:
    """The shortest decimal that a number in the file is read as, exact: 0.7 is seven tenths."""
    minimum, maximum = (
        None if value is None or isinstance(value, str) else Fraction(repr(value))
        for value in (schema.minimum, schema.maximum)
    )
    return Bar(
        minimum=minimum,
        maximum=maximum,
        tier=Tier(schema.minimum) if isinstance(schema.minimum, str) else None,
        tiers=tuple(schema.enum or ()),
    )


def _place(root: yaml.Node | None, steps: Sequence[str | int]) -> str:
    """`line 7, tool_quality[0].expect: ` for the deepest place that the file has of a fault's path."""
    node, path = root, ""
    for step in steps:
        child = _child(node, step)
        if child is None:
            break
        node, path = child, f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}".lstrip(".")
    line = f"line {node.start_mark.line + 1}" if node is not None else "the file is empty"
    missing = steps[len(steps) - 1] if steps and isinstance(steps[-1], str) else ""
    return f"{line}, {path or missing or 'the whole'}: "


def _child(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    found: yaml.Node | None = None
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        found = node.value[step]
    elif isinstance(node, yaml.MappingNode):
        found = next((value for key, value in node.value if key.value == step), None)
    return found


def _refuse_twice(root: yaml.Node | None, origin: str) -> None:
    """A key that stands twice in one mapping would silently replace the first one."""
    for node in _nodes(root):
        seen: set[str] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise InputError(
                    f"{origin} is no suite: line {key.start_mark.line + 1}, {key.value} stands there twice"
                )
            seen.add(str(key.value))


def _nodes(root: yaml.Node | None) -> Iterable[yaml.Node]:
    """Every node once, however often an alias repeats it."""
    waiting, seen = [root] if root else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
