"""The table of rules, and the only place that runs and filters them."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.model.catalog import Prompt, Resource, Tool
from tdqs_mcp.results.findings import Finding, Location, Severity
from tdqs_mcp.rules import (
    catalog_rules,
    mcptest_rules,
    playground_rules,
    quality_rules,
    rule_selection,
    schema_rules,
    security_rules,
    smell_rules,
    token_rules,
)
from tdqs_mcp.rules.rule import AnyRule, Hit, Rule
from tdqs_mcp.rules.rule_selection import Selection

LANES = (
    quality_rules,
    smell_rules,
    mcptest_rules,
    playground_rules,
    schema_rules,
    catalog_rules,
    token_rules,
    security_rules,
)

RULES: tuple[AnyRule, ...] = tuple(
    sorted((each for lane in LANES for each in vars(lane).values() if isinstance(each, Rule)), key=lambda rule: rule.id)
)
"""Every rule, by id."""

TOOL_RULES: tuple[Rule[Subject], ...] = tuple(each for each in RULES if not each.reads_catalog)
CATALOG_RULES: tuple[Rule[Measured], ...] = tuple(each for each in RULES if each.reads_catalog)

DEFAULT = rule_selection.select(RULES)
"""The default selection: every rule except the uncertain ones and those for auditors."""


def select(
    *,
    names: Sequence[str] = (),
    ignored: Sequence[str] = (),
    profile: str | None = None,
    severities: Mapping[str, Severity] | None = None,
) -> Selection:
    """Select rules by profile, id, name, alias or lane. Raises UnknownIdError, InputError."""
    return rule_selection.select(RULES, names=names, ignored=ignored, profile=profile, severities=severities)


def check(measured: Measured, chosen: Selection = DEFAULT) -> list[Finding]:
    """The findings about a catalog: the server's own first, then tools, resources and prompts, the worst first.

    A finding that another finding about the same part entails is dropped.
    """
    found = _found(measured, chosen.rules, chosen.severities)
    return sorted(_charged(found, chosen.entailed), key=_order)


def count_hidden(measured: Measured, chosen: Selection, shown: Sequence[Finding]) -> int:
    """The number of uncertain findings that are not shown."""
    hidden = _found(measured, chosen.hidden, {})
    return sum(finding.rule in chosen.hidden for finding in _charged([*shown, *hidden], chosen.entailed))


def find(name: str) -> AnyRule:
    """The rule with this id, name or alias, whatever its case. Raises UnknownIdError, which names the nearest."""
    return rule_selection.find(RULES, name)


def locate(part: Tool | Resource | Prompt | None, *, path: str) -> Location:
    """A place in a tool, a resource or a prompt; in the server if there is no part."""
    match part:
        case None:
            return Location(kind="server", name="", index=None, path=path)
        case Resource():
            return Location(kind="resource", name=part.name or part.uri, index=part.index, path=path)
        case Prompt():
            return Location(kind="prompt", name=part.name, index=part.index, path=path)
        case Tool():
            return Location(kind="tool", name=part.name, index=part.index, path=path)


def _found(measured: Measured, ids: AbstractSet[str], severities: Mapping[str, Severity]) -> list[Finding]:
    """All findings of some rules, entailed ones included."""
    catalog_rules_ = [(rule, severities.get(rule.id)) for rule in CATALOG_RULES if rule.id in ids]
    tool_rules = [(rule, severities.get(rule.id)) for rule in TOOL_RULES if rule.id in ids]
    language_free = [(rule, worst) for rule, worst in tool_rules if not rule.needs_language]
    found = [_finding(rule, hit, hit.part, worst) for rule, worst in catalog_rules_ for hit in rule.check(measured)]
    for subject in measured.subjects:
        rules = tool_rules if subject.prose.is_readable else language_free
        found += [_finding(rule, hit, subject.tool, worst) for rule, worst in rules for hit in rule.check(subject)]
    return found


def _charged(findings: Sequence[Finding], entailed: Mapping[str, AbstractSet[str]]) -> Sequence[Finding]:
    """The findings without those that another finding about the same part entails: each defect counts once."""
    covered: dict[tuple[str, int | None], set[str]] = {}
    for finding in findings:
        if finding.rule in entailed:
            covered.setdefault(_part(finding), set()).update(entailed[finding.rule])
    if not covered:
        return findings
    return [finding for finding in findings if finding.rule not in covered.get(_part(finding), ())]


def _part(finding: Finding) -> tuple[str, int | None]:
    return finding.subject.kind, finding.subject.index


def _finding(rule: AnyRule, hit: Hit, part: Tool | Resource | Prompt | None, worst: Severity | None) -> Finding:
    """A hit as a finding, at most as severe as `worst`."""
    severity = hit.severity or worst or rule.severity
    return Finding(
        rule=rule.id,
        name=rule.name,
        aliases=rule.aliases,
        severity=worst if worst and severity.rank > worst.rank else severity,
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
