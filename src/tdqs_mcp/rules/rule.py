"""Definition of a rule: metadata in the decorator, summary in the docstring, page beside it; lanes and profiles."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from inspect import cleandoc, get_annotations
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from tdqs_mcp.facts.threats import Part
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.results.tool_code import CodePlace

Seen = TypeVar("Seen")
_REPOSITORY = "https://github.com/tdqs-mcp/tdqs-mcp"
MAX_NAMED = 5
"""Tools or parameters that one message names."""


class Hit(NamedTuple):
    """A place where a rule fires."""

    path: str
    """JSON pointer inside the subject; empty for the whole of it."""

    message: str
    suggestion: str | None = None
    severity: Severity | None = None
    """Milder than the rule's own if the evidence is weaker."""

    part: Part = None
    """The part that a catalog rule reports; None for the server itself, and in a rule that reads single parts."""

    source: str | None = None
    """Where the hit's own limit is stated, if that is not the rule's source."""

    code: CodePlace | None = None
    """The line of the tool's code that proves it, in a rule that reads code."""

    shared: str | None = None
    """What a report says once of all tools with such a hit, after "3 of 12 tools"; None where each is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[Seen]):
    """A check with everything that tables, pages and reports say about it."""

    id: str
    name: str
    """Reads after "allow": `allow restated-name`."""

    summary: str
    aliases: tuple[str, ...]
    severity: Severity
    """The worst severity at which the rule reports."""

    confidence: Confidence
    persona: Persona
    dimension: str | None
    source: str
    needs_language: bool = False
    """It looks for cues or verbs, so it skips texts in languages without a lexicon."""

    entails: tuple[str, ...] = ()
    """Ids of rules that would report the same defect of the same part again; their findings are dropped."""

    variants: tuple["Rule[Any]", ...] = ()
    """Other linters' forms of this rule: each runs only, and instead of this check, if one of its own words selects it.

    A variant's findings are reported under the id of this rule, with the aliases and the severity of the variant.
    """

    check: Callable[..., Iterator[Hit]]
    """Takes what it reads, and `limit` where its function has one."""

    reads: type[Seen]
    """Type that its check takes: each tool, alone or with its code, resource or prompt; or the catalog, once, alone or
    with the clients that it is meant for."""

    weighs: tuple[str, ...] = ()
    """JSON pointers of the parts beside the reported one whose words may take a hit back."""

    limit: int | None = None
    """The number above or below which it reports, which settings may change; None if it has none."""

    text: str = ""
    """The check's whole docstring."""

    @property
    def all_aliases(self) -> tuple[str, ...]:
        """Return the aliases of the rule, then the ids and aliases of its variants."""
        return (*self.aliases, *(word for variant in self.variants for word in (variant.id, *variant.aliases)))

    @property
    def page(self) -> str:
        """The rule's Markdown page: why, a bad and a good definition, the exact message.

        A rule from elsewhere has no page; its docstring stands in.
        """
        page = files("tdqs_mcp.rules").joinpath("specs", f"{self.id}.md")
        return page.read_text(encoding="utf-8") if page.is_file() else f"# {self.id} {self.name}\n\n{self.text}\n"

    @property
    def url(self) -> str:
        """Address of the rule's page in the documentation; that of the list of rules for a rule from elsewhere."""
        page = f"src/tdqs_mcp/rules/specs/{self.id}.md" if self.id.startswith("TDQ") else "docs/custom-rules.md"
        return f"{_REPOSITORY}/blob/main/{page}"

    @property
    def reading(self) -> tuple[int, int, int] | None:
        """Findings that blind readers judged, those that they called true and those that they called useful."""
        counts = _read_json("readings.json").get(self.id)
        return (counts[0], counts[1], counts[2]) if counts else None

    @property
    def prediction(self) -> str:
        """Return what it and its dimension predict on two benchmarks; nothing for a rule from elsewhere."""
        if not files("tdqs_mcp.rules").joinpath("specs", f"{self.id}.md").is_file():
            return ""
        subjects = {self.id: "this rule"}
        if self.dimension:
            subjects[self.dimension] = f"{self.dimension.replace('_', ' ')}, one point"
        lines = (f"- {words}: {_readings(name)}." for name, words in subjects.items())
        return "\n".join((_MEASURED, *lines))


_MEASURED = (
    "Measured with the length of descriptions held constant, on LiveMCPBench (is a tool found, do calls fail), on "
    "AgentGauge (is the right tool called, with right arguments) and in an experiment of our own (are the arguments of "
    "a plan right; its tools always were):"
)

_OUTCOMES = {
    "found": "found",
    "fails": "calls fail",
    "right": "right tool",
    "satisfied": "right arguments",
    "planned": "arguments of a plan",
}
"""Words for the outcomes of the benchmarks."""


def _readings(name: str) -> str:
    """Return what a rule or a dimension predicts of every outcome that it was measured for."""
    readings = _read_json("predictions.json").get(name, {})
    measured = [f"{words}, {readings[key]}" for key, words in _OUTCOMES.items() if key in readings]
    return "; ".join(measured) or "not measurable there"


@cache
def _read_json(name: str) -> Mapping[str, Any]:
    """Return what was measured by rule: predictions (calibration/rule_predictions.py), or readers' labels."""
    text = files("tdqs_mcp.rules").joinpath("data", name).read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]  # our own file


AnyRule: TypeAlias = Rule[Any]


def rule(
    rule_id: str,
    *,
    severity: Severity,
    source: str,
    confidence: Confidence = Confidence.HIGH,
    aliases: tuple[str, ...] = (),
    persona: Persona = Persona.AUTHOR,
    dimension: str | None = None,
    needs_language: bool = False,
    entails: tuple[str, ...] = (),
    variants: tuple[AnyRule, ...] = (),
    weighs: tuple[str, ...] = (),
) -> Callable[[Callable[..., Iterator[Hit]]], AnyRule]:
    """Make a check a rule: its name is the function's, with hyphens, its summary the docstring's first paragraph.

    The type of the check's first parameter says what it reads: a Subject (each tool), CodedTool, Resource or
    ListedPrompt, Measured (the catalog, once) or an Audience (the same with clients). A keyword `limit` with a default
    is a threshold that settings may change.
    """

    def make(check: Callable[..., Iterator[Hit]]) -> AnyRule:
        text = cleandoc(check.__doc__ or "")
        return Rule(
            id=rule_id,
            name=check.__name__.replace("_", "-"),
            summary=" ".join(text.partition("\n\n")[0].split()),
            text=text,
            limit=(getattr(check, "__kwdefaults__", None) or {}).get("limit"),
            aliases=aliases,
            severity=severity,
            confidence=confidence,
            persona=persona,
            dimension=dimension,
            source=source,
            needs_language=needs_language,
            entails=entails,
            variants=variants,
            weighs=weighs,
            check=check,
            reads=_type_read(check),
        )

    return make


def _type_read(check: Callable[..., Iterator[Hit]]) -> Any:  # noqa: ANN401  # a type
    return next(iter(get_annotations(check, eval_str=True).values()))


def read_family(family: str, check: Callable[..., Iterator[Hit]]) -> tuple[AnyRule, ...]:
    """The rules of families.toml that are one check, each with `words` of its own: its table in the file."""
    return tuple(
        Rule(
            id=rule_id,
            name=words["name"],
            summary=words["summary"],
            text=words["summary"],
            aliases=tuple(words.get("aliases", ())),
            severity=Severity(words["severity"]),
            confidence=Confidence(words.get("confidence", Confidence.HIGH)),
            persona=Persona(words.get("persona", Persona.AUTHOR)),
            dimension=words.get("dimension"),
            source=words["source"],
            check=partial(check, words=words),
            reads=_type_read(check),
        )
        for rule_id, words in read_table("families.toml")[family].items()
    )


def foreign_rule(
    linter: str,
    severities: Mapping[str, Severity],
    rule_id: str,
    alias: str,
    *,
    severity: Severity | None = None,
    **metadata: Any,  # noqa: ANN401  # what `rule` takes
) -> Callable[[Callable[..., Iterator[Hit]]], AnyRule]:
    """Make a check a rule that another linter has under a word of its own, with that linter's severity."""
    own = severity or severities[alias]
    return rule(rule_id, aliases=(alias,), severity=own, source=f"{linter}, {alias}", **metadata)


class Profile(NamedTuple):
    """A named selection of rules."""

    summary: str
    rules: Mapping[str, Severity | None] | None = None
    """Ids, names, aliases and lanes with the source's severity, None where it states none; None for every rule."""

    is_strict: bool = False
    """Also uncertain rules and rules for auditors."""

    is_foreign: bool = False
    """Findings count as in the source: rules that entail each other are all reported."""


def _read_rules(text: str) -> dict[str, Severity | None]:
    entries = (entry.partition("=") for entry in text.split())
    return {word: Severity(severity) if severity else None for word, _, severity in entries}


@cache
def read_table(name: str) -> Mapping[str, Any]:
    """A data file of this package."""
    return tomllib.loads(files("tdqs_mcp.rules").joinpath("data", name).read_text(encoding="utf-8"))


def lane_of(rule_id: str) -> str:
    """Return what the lane of a rule is about."""
    return str(read_table("lanes.toml").get(rule_id[:4], "Custom rules"))


DEFAULT_PROFILE = Profile(summary="every rule but the uncertain ones and those for auditors")
PROFILES: Mapping[str, Profile] = {
    name: Profile(**entry | ({"rules": _read_rules(entry["rules"])} if "rules" in entry else {}))
    for name, entry in read_table("profiles.toml").items()
}


def source_severities(profile: str) -> Mapping[str, Severity]:
    """The severities that a profile's source states, by rule in the source's order."""
    return {word: severity for word, severity in (PROFILES[profile].rules or {}).items() if severity}


MCPTEST = source_severities("mcptest")
PLAYGROUND = source_severities("playground")
