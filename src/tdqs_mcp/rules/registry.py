"""The table of rules, and the only place that runs and filters them."""

from collections.abc import Iterable

from tdqs_mcp.errors import UnknownIdError
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.model.catalog import Prompt, Resource, Tool
from tdqs_mcp.model.results import Finding, Location
from tdqs_mcp.rules import quality, security, structure
from tdqs_mcp.rules.rule import Hit, Rule

TOOL_RULES: tuple[Rule[Subject], ...] = (*quality.TOOL_RULES, *structure.TOOL_RULES)

SERVER_RULES: tuple[Rule[Measured], ...] = (*structure.SERVER_RULES, *security.SERVER_RULES)
"""Rules about the catalog as a whole, its resources and prompts, and tools that could not be measured."""

RULES: tuple[Rule[Subject] | Rule[Measured], ...] = tuple(
    sorted((*TOOL_RULES, *SERVER_RULES), key=lambda rule: rule.id)
)
"""Every rule, by id."""


def check(measured: Measured) -> list[Finding]:
    """All findings about a catalog: the server's own first, then tools, resources and prompts, the worst first."""
    found = [_finding(rule, hit, hit.part) for rule in SERVER_RULES for hit in rule.check(measured)]
    for subject in measured.subjects:
        found += [_finding(rule, hit, subject.tool) for rule in TOOL_RULES for hit in rule.check(subject)]
    return sorted(found, key=_order)


def find(name: str) -> Rule[Subject] | Rule[Measured]:
    """The rule with this id, name or alias, whatever its case. Raises UnknownIdError."""
    wanted = name.lower()
    for rule in RULES:
        if wanted in {rule.id.lower(), rule.name, *(alias.lower() for alias in rule.aliases)}:
            return rule
    raise UnknownIdError(f"there is no rule {name!r}")


def locate(part: Tool | Resource | Prompt | None, *, path: str) -> Location:
    """A place in a tool, a resource or a prompt, or in the server where there is none."""
    match part:
        case None:
            return Location(kind="server", name="", index=None, path=path)
        case Resource():
            return Location(kind="resource", name=part.name or part.uri, index=part.index, path=path)
        case Prompt():
            return Location(kind="prompt", name=part.name, index=part.index, path=path)
        case Tool():
            return Location(kind="tool", name=part.name, index=part.index, path=path)


def _finding(rule: Rule[Subject] | Rule[Measured], hit: Hit, part: Tool | Resource | Prompt | None) -> Finding:
    return Finding(
        rule=rule.id,
        name=rule.name,
        aliases=rule.aliases,
        severity=hit.severity or rule.severity,
        confidence=rule.confidence,
        persona=rule.persona,
        dimension=rule.dimension,
        subject=locate(part, path=hit.path),
        message=hit.message,
        suggestion=hit.suggestion,
        source=rule.source,
    )


def _order(finding: Finding) -> tuple[int, int, int, str]:
    index = -1 if finding.subject.index is None else finding.subject.index
    return (_KINDS.index(finding.subject.kind), index, -finding.severity.rank, finding.rule)


_KINDS = ("server", "tool", "resource", "prompt")


def count(findings: Iterable[Finding]) -> dict[str, int]:
    """Findings by severity, every severity present."""
    counts = {"error": 0, "warning": 0, "info": 0}
    for finding in findings:
        counts[finding.severity] += 1
    return counts
