"""Suite files: the `servers:` and `tool_quality:` blocks of mcptest's YAML, read, and held against evidence.

A target is read from the facts as bounds: a number that something ungraded could change has a lowest and a highest
value. Where both meet the bar it is met, where no number between them does it is missed, and otherwise nobody knows.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tdqs_mcp.canonical import trim
from tdqs_mcp.errors import InputError, UnknownIdError, fault_message, nearest
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.words import Cue
from tdqs_mcp.gate.policy import reaches
from tdqs_mcp.results.checks import Check, GateResult, GateRow
from tdqs_mcp.results.findings import Outcome, Severity
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import Tier, Ungraded, tier_of
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.linter_rules import MCPTEST_LONGEST, MCPTEST_SHORTEST
from tdqs_mcp.rules.registry import RuleSelection

_OF_ONE = re.compile(r"""(?P<list>tool|findings)\[(?P<quote>["'])(?P<name>.+?)(?P=quote)\](?:\.(?P<field>[a-z]+))?""")


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Threshold(_Strict):
    """Bar that a target is held to: a number's least and largest value; a tier's lowest letter, or all that will do."""

    minimum: Number | Literal["A", "B", "C", "D"] | None = None
    maximum: Number | None = None
    enum: list[Tier] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def has_bound(self) -> "Threshold":
        """Refuses a bar without a bound."""
        if not self.model_fields_set:
            raise ValueError("give minimum, maximum or enum")
        return self

    @property
    def tier(self) -> Tier | None:
        """The lowest tier that will do."""
        return Tier(self.minimum) if isinstance(self.minimum, str) else None

    @property
    def limits(self) -> tuple[Fraction | None, Fraction | None]:
        """The least and the largest number as the file spells them, exact: 0.7 is seven tenths."""
        least = None if self.minimum is None or isinstance(self.minimum, str) else Fraction(repr(self.minimum))
        return least, None if self.maximum is None else Fraction(repr(self.maximum))

    @property
    def wanted(self) -> str:
        """The bar as text."""
        numbers = zip((">=", "<="), self.limits, strict=True)
        letters = [f">= {self.tier}"] if self.tier else []
        among = [f"one of {', '.join(self.enum)}"] if self.enum else []
        return " and ".join(
            [f"{sign} {_decimal(value)}" for sign, value in numbers if value is not None] + letters + among
        )

    def judge(self, low: Fraction, high: Fraction | None) -> GateResult:
        """Return whether every number of a range meets it, or none does; None as the end of the range is no end."""
        least, most = self.limits
        if (most is not None and low > most) or (least is not None and high is not None and high < least):
            return GateResult.FAIL
        is_met = (least is None or low >= least) and (most is None or (high is not None and high <= most))
        return GateResult.PASS if is_met else GateResult.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A number, or the bounds within which it must be."""

    low: Fraction | None
    """None where nothing is known."""

    high: Fraction | None
    """None where nothing bounds it above."""

    reason: str | None = None
    """Why it is not one number."""

    witness: str | None = None
    """The tool or finding to look at first, where the bar is missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that targets are read from, for one server."""

    measured: Measured
    score: ServerScore

    @property
    def mcptest_scores(self) -> list[Fraction]:
        """The score of each tool that can be measured."""
        return [mcptest_score(subject) for subject in self.measured.subjects]

    @property
    def gap(self) -> str | None:
        """Why a number about all tools is not known, where some cannot be measured."""
        missing = self.measured.unmeasured
        if missing:
            named = missing[0].tool.name or f"tool {missing[0].tool.index + 1}"
            return f"{len(missing)} of {len(self.measured.catalog.tools)} tools cannot be measured, such as {named!r}"
        return None if self.measured.subjects else "the server lists no tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target as it is written, and how it is read."""

    text: str
    read: Callable[[Evidence], Bounds] | None
    """Returns what it comes to for one server; None for the overall tier, which is a letter."""


def parse_target(text: str) -> Target:
    """The target that the text names. Raises ValueError, which lists what there is."""
    if text.strip() in _READERS:
        return Target(text=text, read=_READERS[text.strip()])
    match = _OF_ONE.fullmatch(text.strip())
    if match and match["list"] == "tool" and match["field"] in _TOOL_READERS:
        return Target(text=text, read=partial(_of_tool, match["name"], _TOOL_READERS[match["field"]]))
    if match and match["list"] == "findings" and match["field"] is None:
        return Target(text=text, read=partial(_findings, registry.select(names=[registry.find(match["name"]).id])))
    fields = ", ".join(f'tool["NAME"].{field}' for field in _TOOL_READERS)
    raise ValueError(f'there is no target {text!r}; there are {", ".join(_READERS)}, {fields} and findings["RULE"]')


def hold(target: Target, bar: Threshold, evidence: Evidence) -> Check:
    """A target held against its bar."""
    if target.read is None:
        return _hold_tier(target, bar, evidence.score)
    reading = target.read(evidence)
    if reading.low is None:
        return Check(target=target.text, wanted=bar.wanted, actual=None, result=GateResult.ERROR, reason=reading.reason)
    result = bar.judge(reading.low, reading.high)
    return Check(
        target=target.text,
        wanted=bar.wanted,
        actual=_bounds_text(reading),
        result=result,
        reason={GateResult.ERROR: reading.reason, GateResult.FAIL: reading.witness}.get(result),
    )


def _exact(value: int | Fraction) -> Bounds:
    return Bounds(low=Fraction(value), high=Fraction(value))


def _unknown(reason: str | None) -> Bounds:
    return Bounds(low=None, high=None, reason=reason)


def _min_score(evidence: Evidence) -> Bounds:
    scores = evidence.mcptest_scores
    if not scores:
        return _unknown(evidence.gap)
    lowest, gap = min(scores), evidence.gap
    witness = f"lowest: {evidence.measured.subjects[scores.index(lowest)].tool.name!r}"
    return Bounds(low=Fraction(0) if gap else lowest, high=lowest, reason=gap, witness=witness)


def _mean_score(evidence: Evidence) -> Bounds:
    scores, missing = evidence.mcptest_scores, len(evidence.measured.unmeasured)
    if not scores:
        return _unknown(evidence.gap)
    count = len(scores) + missing
    total = sum(scores, Fraction(0))
    return Bounds(low=total / count, high=(total + missing) / count, reason=evidence.gap)


def _findings(selection: RuleSelection, evidence: Evidence, *, severity: Severity | None = None) -> Bounds:
    """The number of findings; a lower bound if some tools cannot be measured, unknown for code rules without code."""
    if evidence.measured.code is None and all(rule.startswith("TDQ8") for rule in selection.rules):
        return _unknown("not measured, as the rule reads code: give its folder or py:MODULE:OBJECT as the locator")
    findings = [
        finding for finding in registry.check(evidence.measured, selection) if severity in (None, finding.severity)
    ]
    count = Fraction(len(findings))
    first = f"first: {findings[0].subject.label!r}, {findings[0].message}" if findings else None
    is_open = bool(evidence.measured.unmeasured)
    return Bounds(low=count, high=None if is_open else count, reason=evidence.gap, witness=first)


def _min_tdqs(evidence: Evidence) -> Bounds:
    tools, ungraded = evidence.score.tools, evidence.score.ungraded
    if not tools:
        return _unknown(_ungraded_reason(evidence))
    worst = min(tools, key=lambda tool: tool.tdqs)
    low, high = _tenths(10 if ungraded else worst.tdqs), _tenths(worst.tdqs)
    return Bounds(low=low, high=high, reason=_ungraded_reason(evidence), witness=f"lowest: {worst.name!r}")


def _mean_tdqs(evidence: Evidence) -> Bounds:
    """The published mean where every tool has a score, else what the others could make of it."""
    score = evidence.score
    if score.rollup.mean_tdqs is None:
        return _unknown(_ungraded_reason(evidence))
    if not score.ungraded:
        return _exact(_tenths(score.rollup.mean_tdqs))
    total, open_count = sum(tool.tdqs for tool in score.tools), len(score.ungraded)
    count = len(score.tools) + open_count
    low, high = (Fraction(total + bound * open_count, 10 * count) for bound in (10, 50))
    return Bounds(low=low, high=high, reason=_ungraded_reason(evidence))


def _coherence(evidence: Evidence) -> Bounds:
    coherence, tenths = evidence.score.coherence, evidence.score.rollup.coherence
    if tenths is None:
        return _unknown(coherence.reason if isinstance(coherence, Ungraded) else "coherence has no score")
    return _exact(_tenths(tenths))


def _tokens(evidence: Evidence) -> Bounds:
    subjects, is_open = evidence.measured.subjects, bool(evidence.measured.unmeasured)
    total = Fraction(sum(subject.tokens for subject in subjects))
    dearest = max(subjects, key=lambda subject: subject.tokens, default=None)
    witness = f"most expensive: {dearest.tool.name!r}, {dearest.tokens}" if dearest else None
    return Bounds(low=total, high=None if is_open else total, reason=evidence.gap, witness=witness)


def _of_tool(name: str, read: Callable[[Subject, Evidence], Bounds], evidence: Evidence) -> Bounds:
    subjects = [candidate for candidate in evidence.measured.subjects if candidate.tool.name == name]
    if len(subjects) != 1:
        is_listed = any(candidate.tool.name == name for candidate in evidence.measured.unmeasured)
        close = nearest(name, [tool.name for tool in evidence.measured.catalog.tools])
        count = f"is listed {len(subjects)} times" if subjects else f"is not listed{close}"
        problem = "cannot be measured" if is_listed else count
        return _unknown(f"the tool {name!r} {problem}")
    return read(subjects[0], evidence)


def _tool_tdqs(subject: Subject, evidence: Evidence) -> Bounds:
    graded = [tool.tdqs for tool in evidence.score.tools if tool.index == subject.tool.index]
    return _exact(_tenths(graded[0])) if graded else _unknown(f"the tool {subject.tool.name!r} is ungraded")


def _hold_tier(target: Target, bar: Threshold, score: ServerScore) -> Check:
    """The overall tier, or the lowest tool's where there is no server score, as `score --fail-under` takes it."""
    tenths = score.rollup.overall if score.rollup.overall is not None else score.rollup.min_tdqs
    tier = None if tenths is None else tier_of(tenths)
    outcomes = []
    if bar.tier:
        outcomes.append(reaches(score, bar.tier))
    if bar.enum:
        is_known = tier is not None and (score.rollup.overall is not None or not score.ungraded)
        outcomes.append((Outcome.PASSED if tier in bar.enum else Outcome.FAILED) if is_known else Outcome.UNKNOWN)
    worst = Outcome.FAILED if Outcome.FAILED in outcomes else max(outcomes)
    is_unknown = worst is Outcome.UNKNOWN
    return Check(
        target=target.text,
        wanted=bar.wanted,
        actual=None if tier is None or is_unknown else tier.value,
        result=_RESULTS[worst],
        reason="what is ungraded leaves the tier open" if is_unknown else None,
    )


_RESULTS = {Outcome.PASSED: GateResult.PASS, Outcome.FAILED: GateResult.FAIL, Outcome.UNKNOWN: GateResult.ERROR}


def _ungraded_reason(evidence: Evidence) -> str | None:
    ungraded = evidence.score.ungraded
    if not ungraded:
        return evidence.gap
    return f"{len(ungraded)} of {evidence.score.tool_count} tools are ungraded: {ungraded[0].ungraded.reason}"


def _tenths(tenths: int) -> Fraction:
    return Fraction(tenths, 10)


def _bounds_text(reading: Bounds) -> str:
    low, high = _decimal(reading.low or Fraction(0)), None if reading.high is None else _decimal(reading.high)
    if high is None:
        return f"at least {low}"
    return low if reading.low == reading.high else f"{low} to {high}"


def _decimal(value: Fraction) -> str:
    """A whole number as it is, any other cut to three decimals: a value below a bar must not look equal to it."""
    if value.denominator == 1:
        return str(value.numerator)
    thousandths = value.numerator * 1000 // value.denominator
    return f"{thousandths // 1000}.{thousandths % 1000:03d}".rstrip("0").rstrip(".")


AMPLE = 100
"""Characters from which a description is long enough: one full sentence."""


FULL = 1000
"""Each heuristic gives thousandths, 0-1000."""


def mcptest_score(subject: Subject) -> Fraction:
    """A tool's score after mcptest's `tool_quality` block, 0-1: the mean of six heuristics.

    mcptest names the six (presence, length, parameters, conciseness, return format, annotations) and says that they are
    averaged; its formulas and weights are not published. Those here are ours: equal weights, and the bounds of its own
    rules where it has stated any. Numbers near a threshold may differ from its.
    """
    signals, length = subject.signals, len(trim(subject.tool.description or ""))
    described, count = signals.params_with_descriptions, signals.param_count
    says_result = signals.has_output_schema or Cue.RETURN in subject.prose.cues
    thousandths = (
        FULL if length else 0,
        0 if length < MCPTEST_SHORTEST else FULL * min(length, AMPLE) // AMPLE,
        FULL * described // count if count else FULL,
        FULL * MCPTEST_LONGEST // max(length, MCPTEST_LONGEST) if length else 0,
        FULL if says_result else 0,
        FULL if signals.has_hints else 0,
    )
    return Fraction(sum(thousandths), FULL * len(thousandths))


_MCPTEST = registry.select(profile="mcptest")

_READERS: Mapping[str, Callable[[Evidence], Bounds] | None] = {
    "min_score": _min_score,
    "mean_score": _mean_score,
    "critical_count": partial(_findings, _MCPTEST, severity=Severity.ERROR),
    "warning_count": partial(_findings, _MCPTEST, severity=Severity.WARNING),
    "min_tdqs": _min_tdqs,
    "mean_tdqs": _mean_tdqs,
    "overall_tier": None,
    "coherence": _coherence,
    "tokens": _tokens,
}
"""The targets without a name of a tool or rule in them; the first four are mcptest's."""

_TOOL_READERS: Mapping[str, Callable[[Subject, Evidence], Bounds]] = {
    "score": lambda subject, _: _exact(mcptest_score(subject)),
    "tdqs": _tool_tdqs,
    "tokens": lambda subject, _: _exact(subject.tokens),
}
"""What `tool["NAME"].…` may ask of a tool; the first is mcptest's."""

DEFAULTS = (
    (parse_target("min_score"), Threshold(minimum=0.5)),
    (parse_target("mean_score"), Threshold(minimum=0.7)),
    (parse_target("critical_count"), Threshold(maximum=0.0)),
)
"""What an entry without `expect` is held to (mcptest, tool_quality)."""

MAX_FAULTS = 5
"""Faults of a file that are told at once."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")


def _scalar(value: object) -> object:  # `env: {PORT: 8080, DEBUG: true}`: "8080" and "true"
    """Numbers and flags that YAML reads in `env` and `headers` are kept as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _check_target(text: str) -> str:
    try:
        parse_target(text)
    except UnknownIdError as error:
        raise ValueError(str(error)) from error
    return text


Text = Annotated[str, BeforeValidator(_scalar)]


class _Matcher(_Strict):
    schema_: Threshold = Field(alias="schema")


class Expectation(_Strict):
    """A target and the bar that it is held to."""

    target: Annotated[str, AfterValidator(_check_target)]
    matcher: _Matcher

    @model_validator(mode="after")
    def fits(self) -> "Expectation":
        """Refuses a letter for a number and a number for a letter."""
        schema, is_tier = self.matcher.schema_, parse_target(self.target).read is None
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
        return [(parse_target(expectation.target), expectation.matcher.schema_) for expectation in self.expect]


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
        mark = getattr(error, "problem_mark", None)
        reason = f"line {mark.line + 1}: {getattr(error, 'problem', None)}" if mark else " ".join(str(error).split())
        raise InputError(f"{origin} is not YAML: {reason}") from error
    if root is None:
        raise InputError(f"{origin} is empty: a suite has the keys servers and tool_quality (docs/ci.md)")
    _refuse_repeated_keys(root, origin)
    try:
        suite = Suite.model_validate(document)
    except ValidationError as error:
        raise InputError(f"{origin} is not a suite: {'; '.join(_faults(root, error)[:MAX_FAULTS])}") from error
    for place, entry in enumerate(suite.tool_quality):
        if entry.server not in suite.servers:
            where = _describe_place(root, ("tool_quality", place, "server"))
            names = ", ".join(map(repr, suite.servers)) or "none"
            raise InputError(f"{origin} is not a suite: {where}: servers has no {entry.server!r}, it has {names}")
    return suite


_KEYS = {
    field.alias or name
    for model in (Suite, Server, SuiteEntry, Expectation, _Matcher, Threshold)
    for name, field in model.model_fields.items()
}


def _faults(root: yaml.Node, error: ValidationError) -> list[str]:
    """Return what to change at each line and key; a bar that may be a number or a letter has one fault."""
    demands: dict[str, list[str]] = {}
    for fault in error.errors():
        place = _describe_place(root, fault["loc"], is_missing=fault["type"] == "missing")
        is_key = fault["type"] == "extra_forbidden"
        meant = nearest(str(fault["loc"][-1]), _KEYS) if is_key else ""
        demands.setdefault(place, []).append(f"is no key{meant}" if meant else fault_message(fault))
    return [f"{place}: {' or '.join(words).replace(' or must be', ' or')}" for place, words in demands.items()]


def check(entry: SuiteEntry, evidence: Evidence | str) -> GateRow:
    """An entry's row: its checks, or the reason why its server has no evidence."""
    if isinstance(evidence, str):
        return GateRow(name=entry.name, server=entry.server, checks=(), reason=evidence)
    checks = tuple(hold(target, bar, evidence) for target, bar in entry.expectations)
    return GateRow(name=entry.name, server=entry.server, checks=checks)


def _describe_place(root: yaml.Node, steps: Sequence[str | int], *, is_missing: bool = False) -> str:
    """`line 7, tool_quality[0].expect`: the deepest place that the file has of a path, and the key that it lacks."""
    node, path = root, ""
    for step in steps:
        child = _child(node, step)
        if child is None:
            break
        node, path = child, f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}".lstrip(".")
    missing = f"{'.' if path else ''}{steps[-1]}" if is_missing else ""
    return f"line {node.start_mark.line + 1}, {f'{path}{missing}' or 'the whole file'}"


def _child(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    child: yaml.Node | None = None
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        child = node.value[step]
    elif isinstance(node, yaml.MappingNode):
        child = next((value for key, value in node.value if key.value == step), None)
    return child


def _refuse_repeated_keys(root: yaml.Node, origin: str) -> None:
    """A key that appears twice in one mapping would silently replace the first one."""
    for node in _nodes(root):
        anchors: set[str] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in anchors:
                raise InputError(f"{origin} is not a suite: line {key.start_mark.line + 1}, {key.value} appears twice")
            anchors.add(str(key.value))


def _nodes(root: yaml.Node) -> Iterable[yaml.Node]:
    """Every node once, however often an alias repeats it."""
    waiting, visited = [root], set()
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
