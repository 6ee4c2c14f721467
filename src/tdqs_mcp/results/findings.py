"""What linting says: one defect at one place, and what a project has decided about it."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum


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
    """Who wants to see a finding by default: every author, or only somebody who audits."""

    AUTHOR = "author"
    AUDITOR = "auditor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """What a finding is about: a tool, resource, prompt or the server, and the JSON pointer inside it."""

    kind: str
    name: str
    index: int | None
    path: str

    @property
    def label(self) -> str:
        """A tool's name, or what stands for it: parts without a name are counted from 1, other kinds are named."""
        if self.index is None:
            return self.kind
        if not self.name:
            return f"{self.kind} {self.index + 1}, without a name"
        return self.name if self.kind == "tool" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One defect at one place, with what to do about it."""

    rule: str
    name: str
    aliases: tuple[str, ...]
    severity: Severity
    confidence: Confidence
    persona: Persona
    dimension: str | None
    subject: Location
    message: str
    suggestion: str | None
    source: str

    @property
    def tool_index(self) -> int | None:
        """The catalog position of the tool it is about; None for the server, a resource or a prompt."""
        return self.subject.index if self.subject.kind == "tool" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Findings that a project has decided to live with, and why."""

    rule: str
    """The rule's id."""

    reason: str
    tool: str | None = None
    """A pattern with * and ? that the tool's name matches; None for every part of the server."""

    server: str | None = None
    """The same for the server's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that somebody has decided to live with."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """A finding of an earlier run, as a baseline keeps it."""

    fingerprint: str
    """16 hexadecimal digits of rule and place; of a security finding also of what it says."""

    rule: str
    server: str
    part: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """How a run stands to an earlier one."""

    known: int
    """Findings that were there before."""

    fixed: tuple[KnownFinding, ...]
    """What was there before and is gone: nothing that this run could not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """The findings about one server that count, and how many do not."""

    server: str
    version: str | None
    source: str | None
    tools: tuple[str, ...]
    """Every tool's name in catalog order, empty where it has none."""

    findings: tuple[Finding, ...]
    problems: tuple[str, ...]
    hidden: int = 0
    """Uncertain findings, which the profile `strict` shows."""

    suppressed: tuple[Suppressed, ...] = ()
    unused_suppressions: tuple[Suppression, ...] = ()
    """Those about this server and a rule that ran which matched nothing."""

    baseline: Baseline | None = None
    """None where the run was compared with no earlier one."""


_SECURITY = "TDQ5"
"""The lane in which other words at the same place are another attack, which nobody has accepted yet."""


def fingerprint(finding: Finding, *, server: str) -> str:
    """16 hexadecimal digits of rule and place: they survive another order, count, wording and severity.

    Only a security finding is the same as long as its message is.
    """
    part = finding.subject
    said = [finding.message] if finding.rule.startswith(_SECURITY) else []
    identity = [finding.rule, server, part.kind, part.name, part.path, *said]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
