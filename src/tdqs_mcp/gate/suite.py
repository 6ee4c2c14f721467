"""Suite files: the `servers:` and `tool_quality:` blocks of mcptest's YAML, read, and held against evidence."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tdqs_mcp.errors import InputError, UnknownIdError, fault_message
from tdqs_mcp.gate.targets import Evidence, Target, TargetKind, Threshold, hold, parse_target
from tdqs_mcp.results.checks import GateRow
from tdqs_mcp.results.verdicts import Tier

DEFAULTS = (
    (parse_target("min_score"), Threshold(minimum=Fraction(1, 2))),
    (parse_target("mean_score"), Threshold(minimum=Fraction(7, 10))),
    (parse_target("critical_count"), Threshold(maximum=Fraction(0))),
)
"""What an entry without `expect` is held to (mcptest, tool_quality)."""

MAX_FAULTS = 5
"""Faults of a file that are told at once."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _scalar(value: object) -> object:
    """Numbers and flags that YAML reads in `env` and `headers` are kept as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


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
    def has_bound(self) -> "_Schema":
        """Refuses a bar without a bound."""
        if not self.model_fields_set:
            raise ValueError("give minimum, maximum or enum")
        return self

    @property
    def bar(self) -> Threshold:
        """The shortest decimal that a number in the file is read as, exact: 0.7 is seven tenths."""
        minimum, maximum = (
            None if value is None or isinstance(value, str) else Fraction(repr(value))
            for value in (self.minimum, self.maximum)
        )
        tier = Tier(self.minimum) if isinstance(self.minimum, str) else None
        return Threshold(minimum=minimum, maximum=maximum, tier=tier, tiers=tuple(self.enum or ()))


class _Matcher(_Strict):
    schema_: _Schema = Field(alias="schema")


class Expectation(_Strict):
    """A target and the bar that it is held to."""

    target: Annotated[str, AfterValidator(_known)]
    matcher: _Matcher

    @model_validator(mode="after")
    def fits(self) -> "Expectation":
        """Refuses a letter for a number and a number for a letter."""
        schema, is_tier = self.matcher.schema_, parse_target(self.target).kind is TargetKind.OVERALL_TIER
        if is_tier and (isinstance(schema.minimum, float) or schema.maximum is not None):
            raise ValueError(f"{self.target} is a letter: give minimum: B, or enum: [A, B]")
        if not is_tier and (isinstance(schema.minimum, str) or schema.enum is not None):
            raise ValueError(f"{self.target} is a number: give minimum or maximum as a number")
        return self


class SuiteEntry(_Strict):
    """Entry of `tool_quality`: a row of the result."""

    name: str
    server: str
    expect: list[Expectation] | None = Field(default=None, min_length=1)

    @property
    def expectations(self) -> Sequence[tuple[Target, Threshold]]:
        """Return what the entry is held to; the published defaults where it does not say."""
        if self.expect is None:
            return DEFAULTS
        return [(parse_target(expectation.target), expectation.matcher.schema_.bar) for expectation in self.expect]


class Server(BaseModel):
    """A server's keys that concern the connection; others belong to other checks."""

    command: Annotated[
        list[Text], BeforeValidator(lambda line: shlex.split(line) if isinstance(line, str) else line)
    ] = Field(default_factory=list)
    args: list[Text] = Field(default_factory=list)
    url: str | None = None
    locator: str | None = None
    env: dict[str, Text] = Field(default_factory=dict, repr=False)
    headers: dict[str, Text] = Field(default_factory=dict, repr=False)
    cwd: str | None = None
    timeout: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def is_one(self) -> "Server":
        """Refuses a server with no locator or with several."""
        keys = [key for key in ("command", "url", "locator") if getattr(self, key)]
        if len(keys) != 1:
            raise ValueError(f"give one of command, url and locator, not {' and '.join(keys) or 'none'}")
        return self

    def locate(self, name: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, str]]:
        """Locator, headers and variables, with `${NAME}` replaced. Raises InputError for a variable that is not set."""

        def filled(text: str) -> str:
            for variable in _VARIABLE.findall(text):
                if variable not in environ:
                    raise InputError(f"server {name!r} needs the environment variable {variable}; set it")
            return _VARIABLE.sub(lambda match: environ[match[1]], text)

        words = [*self.command, *self.args] if self.command else []
        return (
            f"stdio:{shlex.join(map(filled, words))}" if words else filled(self.url or self.locator or ""),
            {key: filled(value) for key, value in self.headers.items()},
            {key: filled(value) for key, value in self.env.items()},
        )


class Suite(BaseModel):
    """The servers and the entries. Other top-level blocks belong to other checks and are left alone."""

    servers: dict[str, Server]
    tool_quality: list[SuiteEntry] = Field(min_length=1)

    @model_validator(mode="after")
    def names_its_servers(self) -> "Suite":
        """Refuses an entry whose server is not in the file."""
        for entry in self.tool_quality:
            if entry.server not in self.servers:
                names = ", ".join(map(repr, self.servers)) or "none"
                raise ValueError(f"tool_quality asks for the server {entry.server!r}; servers has {names}")
        return self

    @property
    def used_servers(self) -> dict[str, Server]:
        """The servers that an entry asks for, by name."""
        used = {entry.server for entry in self.tool_quality}
        return {name: server for name, server in self.servers.items() if name in used}


def parse(text: str, *, origin: str) -> Suite:
    """The suite in a YAML text. Raises InputError, which says line and key."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{origin} is not YAML: {' '.join(str(error).split())}") from error
    _refuse_twice(root, origin)
    try:
        return Suite.model_validate(document)
    except ValidationError as error:
        faults = [f"{_place(root, fault['loc'])}{fault_message(fault['msg'])}" for fault in error.errors()]
        raise InputError(f"{origin} is not a suite: {'; '.join(faults[:MAX_FAULTS])}") from error


def check(entry: SuiteEntry, evidence: Evidence | str) -> GateRow:
    """An entry's row: its checks, or the reason why its server has no evidence."""
    if isinstance(evidence, str):
        return GateRow(name=entry.name, server=entry.server, checks=(), reason=evidence)
    checks = tuple(hold(target, bar, evidence) for target, bar in entry.expectations)
    return GateRow(name=entry.name, server=entry.server, checks=checks)


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
    child: yaml.Node | None = None
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        child = node.value[step]
    elif isinstance(node, yaml.MappingNode):
        child = next((value for key, value in node.value if key.value == step), None)
    return child


def _refuse_twice(root: yaml.Node | None, origin: str) -> None:
    """A key that appears twice in one mapping would silently replace the first one."""
    for node in _nodes(root):
        anchors: set[str] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in anchors:
                raise InputError(f"{origin} is not a suite: line {key.start_mark.line + 1}, {key.value} appears twice")
            anchors.add(str(key.value))


def _nodes(root: yaml.Node | None) -> Iterable[yaml.Node]:
    """Every node once, however often an alias repeats it."""
    waiting, visited = [root] if root else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
