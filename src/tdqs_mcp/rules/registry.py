"""The table of rules, and the only place that selects, runs and filters them."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from tdqs_mcp.errors import InputError, UnknownIdError, nearest
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.vocabulary import lazy_pattern
from tdqs_mcp.model import Prompt, Resource, Tool
from tdqs_mcp.results.findings import Confidence, Finding, Location, Persona, Severity
from tdqs_mcp.rules import (
    catalog_rules,
    client_rules,
    mcptest_rules,
    playground_rules,
    quality_rules,
    schema_rules,
    security_rules,
    token_rules,
)
from tdqs_mcp.rules.clients import Audience, check_clients
from tdqs_mcp.rules.rule import AnyRule, Hit, Rule
from tdqs_mcp.rules.rule_profiles import DEFAULT as DEFAULT_PROFILE
from tdqs_mcp.rules.rule_profiles import PROFILES, Profile

LANES = (
    quality_rules,
    mcptest_rules,
    playground_rules,
    schema_rules,
    catalog_rules,
    token_rules,
    security_rules,
    client_rules,
)

RULES: tuple[AnyRule, ...] = tuple(
    sorted((each for lane in LANES for each in vars(lane).values() if isinstance(each, Rule)), key=lambda rule: rule.id)
)
"""Every rule, by id."""

TOOL_RULES: tuple[Rule[Subject], ...] = tuple(each for each in RULES if not (each.reads_catalog or each.reads_audience))
CATALOG_RULES: tuple[Rule[Measured], ...] = tuple(each for each in RULES if each.reads_catalog)
CLIENT_RULES: tuple[Rule[Audience], ...] = tuple(each for each in RULES if each.reads_audience)

_CODE = lazy_pattern(r"(?P<lane>[a-z]+)(?:-?(?P<number>\d+)|:.+)")
_LANE = lazy_pattern(r"(?P<lane>[a-z]+)-?(?P<number>\d*)")


class Selection(NamedTuple):
    """The rules that run, by id."""

    rules: frozenset[str]
    hidden: frozenset[str]
    """Uncertain rules, whose findings only `strict` shows."""

    severities: Mapping[str, Severity]
    """The worst severity at which a rule reports, if it differs from the rule's own."""

    entailed: Mapping[str, frozenset[str]]
    """By rule, the rules that it entails; empty if no finding is dropped."""

    clients: tuple[str, ...] = ()
    """The clients that the definitions are meant for; empty for any."""


def select(
    *,
    names: Sequence[str] = (),
    ignored: Sequence[str] = (),
    profile: str | None = None,
    severities: Mapping[str, Severity] | None = None,
    clients: Sequence[str] = (),
    table: Sequence[AnyRule] = RULES,
) -> Selection:
    """Select rules of a table by a profile and by words.

    A word is an id, name or alias, or a lane such as TDQ5 or DESC. A rule named in full is selected whatever the
    profile says, and no ignored lane takes it away; a lane selects what the profile allows. Rules about clients look at
    those that are named, or at all. Raises UnknownIdError, and InputError where no rule is left.
    """
    chosen = _profile(profile)
    asked = _asked(table, chosen)
    allowed = {rule.id for rule in table if rule.id in asked and (chosen.rules is not None or _is_shown(rule, chosen))}
    named, lanes = _split(table, names)
    unnamed, unlaned = _split(table, ignored)
    covered = named | lanes if names else {rule.id for rule in table if rule.id in asked}
    rules = ((covered & allowed) | named) - unnamed - (unlaned - named)
    if not rules:
        raise InputError(f"no rule is left to run: {_said(names, ignored, profile)}")
    return Selection(
        rules=frozenset(rules),
        hidden=frozenset((covered & asked.keys() & _uncertain(table)) - rules - unnamed - unlaned),
        severities={
            **{rule: severity for rule, severity in asked.items() if severity is not None and rule in rules},
            **{find(name).id: severity for name, severity in (severities or {}).items()},
        },
        entailed={} if chosen.is_foreign else entailments(table),
        clients=check_clients(clients),
    )


def find(name: str) -> AnyRule:
    """The rule with this id, name or alias, whatever its case. Raises UnknownIdError, which names the nearest."""
    wanted = name.lower()
    for rule in RULES:
        if wanted in _words(rule):
            return rule
    raise UnknownIdError(f"there is no rule {name!r}{nearest(name, _spelled(RULES))}")


def entailments(table: Sequence[AnyRule]) -> dict[str, frozenset[str]]:
    """By id, what a rule entails, directly or through others."""
    direct = {rule.id: rule.entails for rule in table}
    return {each: _reachable(each, direct) for each, targets in direct.items() if targets}


def _profile(name: str | None) -> Profile:
    if name is None:
        return DEFAULT_PROFILE
    if name not in PROFILES:
        raise UnknownIdError(f"there is no profile {name!r}; there are {', '.join(PROFILES)}")
    return PROFILES[name]


def _asked(table: Sequence[AnyRule], profile: Profile) -> dict[str, Severity | None]:
    """The rules of a profile by id, with the severity that it states; a later entry wins."""
    if profile.rules is None:
        return {rule.id: None for rule in table}
    asked: dict[str, Severity | None] = {}
    for word, severity in profile.rules.items():
        asked |= dict.fromkeys(_named(table, word) or _laned(table, word), severity)
    return asked


def _is_shown(rule: AnyRule, profile: Profile) -> bool:
    return profile.is_strict or (rule.confidence is not Confidence.LOW and rule.persona is not Persona.AUDITOR)


def _uncertain(table: Sequence[AnyRule]) -> set[str]:
    return {rule.id for rule in table if rule.confidence is Confidence.LOW and rule.persona is not Persona.AUDITOR}


def _split(table: Sequence[AnyRule], words: Iterable[str]) -> tuple[set[str], set[str]]:
    """The rules that words name in full, and those that they select as a lane. Raises UnknownIdError."""
    named: set[str] = set()
    lanes: set[str] = set()
    for word in words:
        found = _named(table, word)
        covered = () if found else _laned(table, word)
        if not found and not covered:
            raise UnknownIdError(f"there is no rule and no lane {word!r}{nearest(word, _spelled(table))}")
        named.update(found)
        lanes.update(covered)
    return named, lanes


def _named(table: Sequence[AnyRule], word: str) -> tuple[str, ...]:
    return tuple(rule.id for rule in table if word.lower() in _words(rule))


def _laned(table: Sequence[AnyRule], word: str) -> tuple[str, ...]:
    """Rules with an id or alias in this lane: TDQ5 for TDQ501, DESC for DESC-003."""
    wanted = _LANE.fullmatch(word.lower())
    if wanted is None:
        return ()
    codes = [(rule.id, found) for rule in table for each in _words(rule) if (found := _CODE.fullmatch(each))]
    return tuple(
        rule
        for rule, code in codes
        if code["lane"] == wanted["lane"] and (code["number"] or "").startswith(wanted["number"])
    )


def _words(rule: AnyRule) -> set[str]:
    return {rule.id.lower(), rule.name, *(alias.lower() for alias in rule.aliases)}


def _spelled(table: Sequence[AnyRule]) -> list[str]:
    return [word for rule in table for word in (rule.id, rule.name, *rule.aliases)]


def _reachable(start: str, direct: Mapping[str, Sequence[str]]) -> frozenset[str]:
    reached: AbstractSet[str] = frozenset()
    edge = {start}
    while edge:
        edge = {target for each in edge for target in direct.get(each, ())} - reached
        reached = reached | edge
    return frozenset(reached - {start})


def _said(names: Sequence[str], ignored: Sequence[str], profile: str | None) -> str:
    said = [
        *([f"profile {profile}"] if profile else []),
        *([f"select {', '.join(names)}"] if names else []),
        *([f"ignore {', '.join(ignored)}"] if ignored else []),
    ]
    return f"{'; '.join(said)}; take one of them back{'' if profile else ', or add profile strict'}"


DEFAULT = select()
"""The default selection: every rule except the uncertain ones and those for auditors."""


def check(measured: Measured, chosen: Selection = DEFAULT) -> list[Finding]:
    """The findings about a catalog: the server's own first, then tools, resources and prompts, the worst first.

    A finding that another finding about the same part entails is dropped.
    """
    found = _found(measured, chosen, chosen.rules)
    return sorted(_charged(found, chosen.entailed), key=_order)


def count_hidden(measured: Measured, chosen: Selection, shown: Sequence[Finding]) -> int:
    """The number of uncertain findings that are not shown."""
    hidden = _found(measured, chosen, chosen.hidden)
    return sum(finding.rule in chosen.hidden for finding in _charged([*shown, *hidden], chosen.entailed))


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


def _found(measured: Measured, chosen: Selection, ids: AbstractSet[str]) -> list[Finding]:
    """All findings of some rules, entailed ones included."""
    severities = chosen.severities
    audience = Audience(measured, chosen.clients)
    catalog_rules_ = [(rule, severities.get(rule.id)) for rule in CATALOG_RULES if rule.id in ids]
    tool_rules = [(rule, severities.get(rule.id)) for rule in TOOL_RULES if rule.id in ids]
    language_free = [(rule, worst) for rule, worst in tool_rules if not rule.needs_language]
    found: list[Finding] = []
    for catalog_rule, worst in catalog_rules_:
        for hit in catalog_rule.check(measured):
            found.append(_finding(catalog_rule, hit, hit.part, worst))  # noqa: PERF401  # a comprehension is one frame more
    for client_rule in CLIENT_RULES:
        for hit in client_rule.check(audience) if client_rule.id in ids else ():
            found.append(_finding(client_rule, hit, hit.part, severities.get(client_rule.id)))  # noqa: PERF401
    for subject in measured.subjects:
        for rule, worst in tool_rules if subject.prose.is_readable else language_free:
            for hit in rule.check(subject):
                found.append(_finding(rule, hit, subject.tool, worst))  # noqa: PERF401
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
        source=hit.source or rule.source,
    )


def _order(finding: Finding) -> tuple[int, int, int, str]:
    index = -1 if finding.subject.index is None else finding.subject.index
    return (_KINDS.index(finding.subject.kind), index, -finding.severity.rank, finding.rule)


_KINDS = ("server", "tool", "resource", "prompt")
