"""Findings of the linter, and which of them a project suppresses or knows already."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, TypeVar

from tdqs_mcp.results.contract import ABSENT, Absent, Advice, Document, Internal, Name, Only, Pointer, published
from tdqs_mcp.results.tool_code import CodePlace

Item = TypeVar("Item")


class Severity(StrEnum):
    """How bad a finding is; `error > warning > info`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for an error, 1 for a warning, 0 for an info."""
        return {"error": 2, "warning": 1, "info": 0}[self]


class Confidence(StrEnum):
    """How sure a rule is of its findings."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Persona(StrEnum):
    """Who sees a finding: every author, an auditor (`--profile strict`), the reviewer of a directory (its profile)."""

    AUTHOR = "author"
    AUDITOR = "auditor"
    REVIEWER = "reviewer"


class Outcome(IntEnum):
    """The exit code of a gate."""

    PASSED = 0
    FAILED = 1
    UNKNOWN = 2
    """It could not run, or something ungraded could change the verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOrigin:
    """The server and where its definitions came from."""

    name: Name
    version: str | None
    source: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfServer:
    """A result about one server."""

    server: Internal[Name]
    """The server's name."""

    version: Internal[str | None]
    source: Internal[str | None]

    @published(after="", key="server")
    def origin(self) -> ServerOrigin:
        """The server and where its definitions came from."""
        return ServerOrigin(name=self.server, version=self.version, source=self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Subject of a finding: a tool, resource, prompt or the server, and the JSON pointer inside it."""

    kind: str
    name: Name
    index: int | None
    path: Pointer

    @property
    def part(self) -> str:
        """Kind and name as `--accept` takes them, so that no name means another part: `tool:NAME`, `instructions`."""
        # A tool that is called coherence is "tool:coherence"; the third resource, if it has no name, "resource:3".
        return self.kind if self.index is None else f"{self.kind}:{self.name or self.index + 1}"

    @property
    def label(self) -> Name:
        """The tool's name. Parts without a name are counted from 1; other kinds are named with their kind."""
        if self.index is None:
            return self.kind
        if not self.name:
            return f"{self.kind} {self.index + 1}, without a name"
        return self.name if self.kind == "tool" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A defect at one place, with what to do about it."""

    rule: str
    """Rule id."""

    name: str
    aliases: tuple[str, ...]
    severity: Severity
    confidence: Confidence
    persona: Persona
    dimension: str | None
    subject: Annotated[Location, Only("kind name")]
    """What it is about."""

    message: str
    suggestion: Advice[str | None]
    source: str
    code: CodePlace | Absent = ABSENT
    """Line of the tool's code that proves it; only where a rule reads code."""

    shared: Internal[str | None] = None
    """What a report says once of all tools with such a finding, after "3 of 12 tools"."""

    brief: Internal[str | None] = None
    """The message for a line of a screen, with fewer names; None where it names no tools."""

    @published(after="subject")
    def path(self) -> Pointer:
        """JSON pointer inside the definition."""
        return self.subject.path

    @property
    def wording(self) -> tuple[str | None, ...]:
        """All but the part that it is about."""
        return self.rule, self.severity, self.subject.path, self.message, self.suggestion

    @property
    def part(self) -> Name:
        """The tool's name, or the kind and number of another part."""
        return self.subject.label

    @property
    def tool(self) -> Name | Absent:
        """Tool name; absent for the server itself."""
        return ABSENT if self.tool_index is None else self.subject.name

    @property
    def index(self) -> int | Absent:
        """The tool's position in the catalog."""
        return ABSENT if self.tool_index is None else self.tool_index

    @property
    def tool_index(self) -> int | None:
        """The catalog position of the tool it is about; None for the server, a resource or a prompt."""
        return self.subject.index if self.subject.kind == "tool" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Findings that a project suppresses, and why."""

    rule: str
    """The rule's id, a lane or ALL."""

    rules: Internal[frozenset[str]]
    """The ids that it means."""

    tool: str | None = None
    """A pattern with * and ? that the tool's name matches; null for every part of the server."""

    path: str | None = None
    """The same for the finding's JSON pointer, such as `/inputSchema/properties/*`."""

    server: str | None = None
    """The same for the server's name."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that the configuration suppresses."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """A finding of an earlier run, as a baseline keeps it."""

    fingerprint: Internal[str]
    """16 hexadecimal digits of rule and place; of a security finding also of what it says."""

    rule: str
    server: Internal[str]
    part: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """This run compared with an earlier one, whose findings are not listed again."""

    known: int
    """Findings that were there before."""

    fixed: tuple[KnownFinding, ...]
    """Findings that are gone, among those that this run could find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Findings by severity."""

    error: int
    warning: int
    info: int

    @published(after="info")
    def clean(self) -> bool:
        """No finding at all: mcptest's Pass line."""
        return not self.error + self.warning + self.info


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTally(Tally):
    """A tool's findings by severity."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts(Tally):
    """Findings by severity, of the server with all its tools and of each tool."""

    tools: Annotated[tuple[ToolTally, ...], Only("name error warning info clean")]


def tally(findings: Iterable[Finding]) -> Tally:
    """Findings by severity."""
    return Tally(**_by_severity(findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport(OfServer):
    """The findings about one server that count, and how many do not."""

    tools: Internal[Mapping[int, str]]
    """The linted tools' names by place in the catalog; empty where one has none."""

    findings: tuple[Finding, ...]
    hidden: int = 0
    """Low-confidence findings, which --profile strict shows."""

    suppressed: tuple[Suppressed, ...] = ()
    unused_suppressions: tuple[Suppression, ...] = ()
    """Those about this server and a rule that ran which matched nothing."""

    baseline: Baseline | None = None
    """Null where the run was compared with no earlier one."""

    not_found_by_name: tuple[str, ...] | None = None
    """Tools that no search by name finds; null without --show statistics."""

    problems: tuple[str, ...]

    @property
    def worst_first(self) -> list[Finding]:
        """Findings by severity, the worst first, and what misleads an agent before what is left out."""
        return sorted(self.findings, key=lambda finding: (-finding.severity.rank, harm_of(finding)))

    @property
    def by_rule(self) -> list[list[Finding]]:
        """Findings of each rule and severity, the worst and most frequent first."""
        groups: dict[tuple[str, Severity], list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault((finding.rule, finding.severity), []).append(finding)
        return sorted(groups.values(), key=lambda group: (-group[0].severity.rank, -len(group), group[0].rule))

    @property
    def by_harm(self) -> list[list[Finding]]:
        """Groups of `by_rule`; of a rank, what misleads an agent first, and what most servers lack at last."""
        return sorted(self.by_rule, key=lambda group: (-rank_of(group[0]), harm_of(group[0])))

    @property
    def by_part(self) -> list[tuple[Location, list[Finding]]]:
        """Findings of each tool and other part, with the place of the first one."""
        groups: dict[tuple[str, int | None], list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault((finding.subject.kind, finding.subject.index), []).append(finding)
        return [(group[0].subject, group) for group in groups.values()]

    @property
    def common(self) -> dict[tuple[str | None, ...], Finding]:
        """Findings that several tools, and all of them, have in the same words, each once."""
        about_tools = [finding for finding in self.findings if finding.tool_index is not None]
        counts = Counter(finding.wording for finding in about_tools)
        by_wording = {finding.wording: finding for finding in about_tools}
        all_tools = len(self.tools)
        return {key: finding for key, finding in by_wording.items() if counts[key] == all_tools > 1}

    @property
    def clean_tools(self) -> dict[int, str]:
        """Names of the tools without a finding, by place in the catalog."""
        indices = {finding.tool_index for finding in self.findings}
        return {index: name for index, name in self.tools.items() if index not in indices}

    @published(after="findings")
    def counts(self) -> Counts:
        """Findings by severity."""
        by_index = by_tool(self.findings)
        tools = [ToolTally(name=name, **_by_severity(by_index.get(at, []))) for at, name in self.tools.items()]
        return Counts(tools=tuple(tools), **_by_severity(self.findings))


def by_tool(findings: Iterable[Finding]) -> dict[int | None, list[Finding]]:
    """The findings by the index of their tool; None for those that are about no tool."""
    findings_by_tool: dict[int | None, list[Finding]] = {}
    for finding in findings:
        findings_by_tool.setdefault(finding.tool_index, []).append(finding)
    return findings_by_tool


def _by_severity(findings: Iterable[Finding]) -> dict[str, int]:
    counts = Counter(finding.severity for finding in findings)
    return {severity.value: counts[severity] for severity in Severity}


_LANES = ("TDQ5", "TDQ2", "TDQ3", "TDQ8", "TDQ1", "TDQ6", "TDQ7", "TDQ4")
"""Lanes by harm: attacks and contradictions mislead, omissions leave an agent guessing, tokens cost."""


def harm_of(finding: Finding) -> int:
    """Return a sort key, the most harmful rules first, and what several tools share at last."""
    lane = finding.rule[:4]
    if finding.shared and finding.tool_index is None:
        return len(_LANES) + 1
    return _LANES.index(lane) if lane in _LANES else len(_LANES)


_UNTOLD_EFFECT = "TDQ107"
"""A tool may delete, and neither its text nor a hint says so."""


def rank_of(finding: Finding) -> int:
    """Return the rank of the severity by which a screen is filled; an untold effect has that of a warning."""
    is_untold = finding.rule == _UNTOLD_EFFECT and not finding.shared
    return max(finding.severity.rank, Severity.WARNING.rank if is_untold else 0)


_SECURITY = "TDQ5"
"""The security lane: a new message at the same place is a new finding."""


def fingerprint(finding: Finding, *, server: str) -> str:
    """16 hexadecimal digits of rule and place: they survive another order, count, wording and severity.

    Only a security finding is the same as long as its message is.
    """
    part = finding.subject
    parts = [finding.message] if finding.rule.startswith(_SECURITY) else []
    identity = [finding.rule, server, part.kind, part.name, part.path, *parts]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]


def unmatched(items: Iterable[Item], counts: Counter[str], digest: Callable[[Item], str]) -> Iterator[Item]:
    """Of equal items, as many as are not known; `counts` holds the known ones and loses those that are met."""
    for item in items:
        key = digest(item)
        if counts[key]:
            counts[key] -= 1
        else:
            yield item


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEntry:
    """Description of a rule."""

    id: str
    name: str
    lane: str
    """What its lane is about."""

    summary: str
    severity: Severity
    """The worst at which it reports."""

    confidence: Confidence
    persona: Persona
    """Readers of its findings: every author, an auditor, or the reviewer of a directory."""

    default: bool
    """It runs without being selected: it is for authors, and not of low confidence."""

    dimension: str | None
    aliases: tuple[str, ...]
    limit: int | None
    """The number that `[limits]` can change; null if it has none."""

    source: str
    url: str
    """Address of its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleList(Document):
    """Rules by id."""

    rules: tuple[RuleEntry, ...]
