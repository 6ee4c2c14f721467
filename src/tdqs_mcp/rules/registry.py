"""The table of rules, and the only place that selects, runs and filters them."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache, partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from tdqs_mcp.errors import InputError, UnknownIdError, nearest
from tdqs_mcp.facts.lexicon import lazy_pattern
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.threats import Part
from tdqs_mcp.facts.toolset.relations import listed_resources
from tdqs_mcp.model import ListedPrompt, Resource, Tool
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.findings import Confidence, Finding, Location, Persona, Severity
from tdqs_mcp.results.tool_code import CodePlace
from tdqs_mcp.rules import (
    catalog_rules,
    client_rules,
    code_rules,
    linter_rules,
    protocol_rules,
    quality_rules,
    schema_rules,
)
from tdqs_mcp.rules.client_rules import Audience, check_clients
from tdqs_mcp.rules.code_rules import CodedTool, coded
from tdqs_mcp.rules.rule import DEFAULT_PROFILE, PROFILES, AnyRule, Hit, Profile, Rule

LANES = (
    quality_rules,
    linter_rules,
    schema_rules,
    protocol_rules,
    catalog_rules,
    client_rules,
    code_rules,
)

_DEFINED: Mapping[str, AnyRule] = {
    entry.id: entry
    for lane in LANES
    for value in vars(lane).values()
    for entry in (value if isinstance(value, tuple) else (value,))
    if isinstance(entry, Rule)
}

_VARIANTS = frozenset(variant.id for rule in _DEFINED.values() for variant in rule.variants)

RULES: tuple[AnyRule, ...] = tuple(rule for _, rule in sorted(_DEFINED.items()) if rule.id not in _VARIANTS)
"""Every rule, by id; other linters' variants of a rule stand inside it."""

_CODE = lazy_pattern(r"(?P<lane>[a-z]+)(?:-?(?P<number>\d+)|:.+)")
_LANE = lazy_pattern(r"(?P<lane>[a-z]+)-?(?P<number>\d*)")
ALL = "ALL"
"""The word for every rule."""

Value = TypeVar("Value")


class RuleSelection(NamedTuple):
    """The rules that run, by id."""

    rules: frozenset[str]
    hidden: frozenset[str]
    """Uncertain rules, whose findings only `strict` shows."""

    ignored: frozenset[str]
    """Rules that words or severities take away."""

    severities: Mapping[str, Severity]
    """The worst severity at which a rule or variant reports, if it differs from its own."""

    entailed: Mapping[str, frozenset[str]]
    """By rule, the rules that it entails; empty if no finding is dropped."""

    clients: tuple[str, ...] = ()
    """The clients that the definitions are meant for; empty for any."""

    limits: Mapping[str, int] = MappingProxyType({})
    """The limit of a rule, if it differs from the rule's own."""

    table: tuple[AnyRule, ...] = RULES
    """Every rule that could run."""

    is_named: bool = False
    """Words or a profile name the rules: each of their findings is wanted, also what most tools share."""

    variants: frozenset[str] = frozenset()
    """The variants that run, each instead of the check of its rule."""


def select(
    *,
    names: Sequence[str] = (),
    ignored: Sequence[str] = (),
    profile: str | None = None,
    severities: Mapping[str, Severity | None] | None = None,
    limits: Mapping[str, int] | None = None,
    clients: Sequence[str] = (),
    table: Sequence[AnyRule] = RULES,
) -> RuleSelection:
    """Select rules of a table by a profile and by words.

    A word is an id, name or alias, a lane such as TDQ5 or DESC, or ALL. A word of a variant means the variant alone; it
    runs unless its rule runs or is off. A rule named in full is selected whatever the
    profile says, and no ignored lane and no severity of None takes it away; a lane selects all its rules, of a profile
    that is named those that it has. Rules about clients look at those that are named, or at all. Raises UnknownIdError,
    and InputError where no rule is left or a rule has no limit.
    """
    chosen = _profile(profile)
    checks = _all_checks(table)
    rule_of = {check.id: rule.id for rule in table for check in (rule, *rule.variants)}
    questions = _profile_severities(checks, chosen)
    named, lanes = _split(checks, names)
    unnamed, unlaned = _split(checks, ignored)
    own = _by_rule(checks, severities or {})
    off = {check for check, severity in own.items() if severity is None}
    ids = {rule.id for rule in table if _is_shown(rule, chosen)} if chosen.rules is None else questions.keys()
    selected = (named | (lanes & questions.keys()) if names else ids) - unnamed - ((unlaned | off) - named)
    if not selected:
        raise InputError(f"no rule is left to run: {_describe_selection(names, ignored, profile)}")
    # with its rule selected or off, a variant has nothing of its own to report
    variants = {check for check in selected if rule_of[check] not in {check} | selected | unnamed | off}
    rules = {rule_of[check] for check in selected if rule_of[check] == check or check in variants}
    uncertain = {rule.id for rule in table if (rule.confidence, rule.persona) == (Confidence.LOW, Persona.AUTHOR)}
    hidden = set() if names else questions.keys() & uncertain
    own |= {check: own[rule_of[check]] for check in variants if rule_of[check] in own}
    as_variants = {rule_of[check] for check in variants}
    return RuleSelection(
        rules=frozenset(rules),
        hidden=frozenset(hidden - rules - unnamed - unlaned - off),
        ignored=frozenset(unnamed | unlaned | off),
        severities={
            check: severity
            for check, severity in (questions | own).items()
            if severity is not None and (check == rule_of[check] or check in variants)
        },
        entailed={}
        if chosen.is_foreign
        else {rule: targets - as_variants for rule, targets in entailments(table).items() if rule not in as_variants},
        clients=check_clients(clients),
        limits={_limited(name, table).id: limit for name, limit in (limits or {}).items()},
        table=tuple(table),
        variants=frozenset(variants),
        is_named=bool(names) or chosen.rules is not None,
    )


def find(name: str, table: Sequence[AnyRule] = RULES) -> AnyRule:
    """The rule with this id, name or alias, whatever its case. Raises UnknownIdError, which names the nearest."""
    lowered = name.lower()
    for rule in table:
        if lowered in words_of(rule):
            return rule
    raise UnknownIdError(f"there is no rule {name!r}{nearest(name, _spelled(table))}")


def find_all(word: str, table: Sequence[AnyRule] = RULES) -> tuple[str, ...]:
    """The ids of the rules that a word means: a rule's name, a lane or ALL. Raises UnknownIdError."""
    matches = _named(table, word) or _laned(table, word)
    if not matches:
        raise UnknownIdError(
            f"there is no rule and no lane {word!r}{nearest(word, _spelled(table))}; tdqs-mcp rules lists them"
        )
    return matches


def is_default(rule: AnyRule) -> bool:
    """Return whether a rule runs if nobody selects anything."""
    return _is_shown(rule, DEFAULT_PROFILE)


def entailments(table: Sequence[AnyRule]) -> dict[str, frozenset[str]]:
    """By id, what a rule entails, directly or through others; ALL means advice, neither errors nor attacks."""
    advice = tuple(rule.id for rule in table if rule.severity is not Severity.ERROR and not rule.id.startswith("TDQ5"))
    direct = {rule.id: advice if rule.entails == (ALL,) else rule.entails for rule in table}
    return {origin: _reachable(origin, direct) for origin, targets in direct.items() if targets}


def _profile(name: str | None) -> Profile:
    if name is None:
        return DEFAULT_PROFILE
    if name not in PROFILES:
        raise UnknownIdError(f"there is no profile {name!r}{nearest(name, PROFILES)}; there are {', '.join(PROFILES)}")
    return PROFILES[name]


def _profile_severities(table: Sequence[AnyRule], profile: Profile) -> dict[str, Severity | None]:
    """The rules of a profile by id, with the severity that it states; a later entry wins."""
    if profile.rules is None:
        return {rule.id: None for rule in table}
    severities: dict[str, Severity | None] = {}
    for word, severity in profile.rules.items():
        severities |= dict.fromkeys(_named(table, word) or _laned(table, word), severity)
    return severities


def _by_rule(table: Sequence[AnyRule], values: Mapping[str, Value]) -> dict[str, Value]:
    """The values by id: a rule's own before its lane's, a narrow lane's before a wide one's. Raises UnknownIdError."""
    rule_values = sorted(
        ((find_all(word, table), value) for word, value in values.items()), key=lambda pair: -len(pair[0])
    )
    return {rule: value for rules, value in rule_values for rule in rules}


def _limited(name: str, table: Sequence[AnyRule]) -> AnyRule:
    rule = find(name, table)
    if name.lower() not in _own_words(rule):
        raise InputError(f"{name!r} keeps the limit of its source; set the limit of {rule.id} {rule.name}")
    if rule.limit is None:
        limited = ", ".join(entry.id for entry in table if entry.limit is not None)
        raise InputError(f"{rule.id} {rule.name} has no limit; these have one: {limited}")
    return rule


def _is_shown(rule: AnyRule, profile: Profile) -> bool:
    """Return whether a profile without rules has the rule; what only another linter asks for has that one's profile."""
    is_for_authors = rule.confidence is not Confidence.LOW and rule.persona is Persona.AUTHOR
    is_foreign = rule.persona is Persona.AUDITOR and rule.id in _foreign_rules()
    return is_for_authors or (profile.is_strict and rule.persona is not Persona.REVIEWER and not is_foreign)


@cache
def _foreign_rules() -> AbstractSet[str]:
    checks, foreign = _all_checks(RULES), (profile for profile in PROFILES.values() if profile.is_foreign)
    return {rule for profile in foreign for rule in _profile_severities(checks, profile)}


def _split(table: Sequence[AnyRule], words: Iterable[str]) -> tuple[set[str], set[str]]:
    """The rules that words name in full, and those that they select as a lane. Raises UnknownIdError."""
    named: set[str] = set()
    lanes: set[str] = set()
    for word in words:
        (named if _named(table, word) else lanes).update(find_all(word, table))
    return named, lanes


def _named(table: Sequence[AnyRule], word: str) -> tuple[str, ...]:
    return tuple(rule.id for rule in table if word.lower() in words_of(rule))


def _laned(table: Sequence[AnyRule], word: str) -> tuple[str, ...]:
    """Rules with an id or alias in this lane: TDQ5 for TDQ501, DESC for DESC-003; all of them for ALL."""
    if word.upper() == ALL:
        return tuple(rule.id for rule in table)
    lane_match = _LANE.fullmatch(word.lower())
    if lane_match is None:
        return ()
    codes = [(rule.id, code) for rule in table for word in words_of(rule) if (code := _CODE.fullmatch(word))]
    return tuple(
        dict.fromkeys(
            rule
            for rule, code in codes
            if code["lane"] == lane_match["lane"] and (code["number"] or "").startswith(lane_match["number"])
        )
    )


def _all_checks(table: Sequence[AnyRule]) -> list[AnyRule]:
    """Return each rule alone, followed by its variants: a word that means a variant does not mean the rule."""
    return [
        check for rule in table for check in (replace(rule, variants=()) if rule.variants else rule, *rule.variants)
    ]


def words_of(rule: AnyRule) -> set[str]:
    """Return the words that mean a rule, in lower case: its own and those of its variants."""
    return _own_words(rule).union(*map(_own_words, rule.variants))


def _own_words(rule: AnyRule) -> set[str]:
    return {rule.id.lower(), rule.name, *(alias.lower() for alias in rule.aliases)}


def _spelled(table: Sequence[AnyRule]) -> list[str]:
    return [word for rule in table for word in (rule.id, rule.name, *rule.all_aliases)]


def _reachable(start: str, direct: Mapping[str, Sequence[str]]) -> frozenset[str]:
    reached: AbstractSet[str] = frozenset()
    edge = {start}
    while edge:
        edge = {target for node in edge for target in direct.get(node, ())} - reached
        reached = reached | edge
    return frozenset(reached - {start})


def _describe_selection(names: Sequence[str], ignored: Sequence[str], profile: str | None) -> str:
    notes = [
        *([f"profile {profile}"] if profile else []),
        *([f"select {', '.join(names)}"] if names else []),
        *([f"ignore {', '.join(ignored)}"] if ignored else []),
    ]
    return f"{'; '.join(notes) or 'every severity is off'}; take one of them back"


DEFAULT = select()
"""The default selection: every rule except the uncertain ones and those for auditors."""


def check(measured: Measured, chosen: RuleSelection = DEFAULT, *, tools: Container[int] | None = None) -> list[Finding]:
    """The findings about a catalog: the server's own first, then tools, resources and prompts, the worst first.

    A finding that another finding about the same part entails is dropped. Rules that read one tool read `tools` alone.
    """
    findings = _all_findings(measured, chosen, chosen.rules, tools)
    return sorted(_without_entailed(findings, chosen.entailed), key=_order)


def fold(findings: Sequence[Finding], chosen: RuleSelection, *, tool_count: int) -> list[Finding]:
    """Return the findings with one about the server for what several of its tools share; named rules keep all."""
    groups: dict[tuple[str, str | None, Severity], list[Finding]] = {}
    alone: list[Finding] = []
    for finding in findings:
        is_foldable = finding.shared or finding.persona is Persona.AUDITOR
        if is_foldable and finding.tool_index is not None and not chosen.is_named:
            groups.setdefault((finding.rule, finding.shared, finding.severity), []).append(finding)
        else:
            alone.append(finding)
    for (_, shared, _), group in groups.items():
        names = list({finding.tool_index: finding.subject.name for finding in group}.values())
        if len(names) == 1:
            alone += group
            continue
        several = f"{len(names)} of {tool_count} tools"
        if shared:
            brief, message = (f"{several} {shared}: {first_of(names, limit)}" for limit in (MAX_NAMED, MAX_LISTED))
        else:
            brief = message = f"{several}, such as {names[0]!r}: {group[0].message}"
        alone.append(replace(group[0], subject=locate(None, path=""), message=message, brief=brief))
    return sorted(alone, key=_order)


MAX_NAMED, MAX_LISTED = 2, 40
"""Tools that a line of a screen names, and those that a result does."""


def find_hidden(measured: Measured, chosen: RuleSelection, visible: Sequence[Finding]) -> list[Finding]:
    """The uncertain findings that are not shown."""
    hidden = _all_findings(measured, chosen, chosen.hidden)
    return [
        finding for finding in _without_entailed([*visible, *hidden], chosen.entailed) if finding.rule in chosen.hidden
    ]


def locate(part: Part, *, path: str) -> Location:
    """A place in a tool, a resource or a prompt; in the server if there is no part."""
    match part:
        case None:
            return Location(kind="server", name="", index=None, path=path)
        case Resource():
            return Location(kind="resource", name=part.name or part.uri, index=part.index, path=path)
        case ListedPrompt():
            return Location(kind="prompt", name=part.name, index=part.index, path=path)
        case Tool():
            return Location(kind="tool", name=part.name, index=part.index, path=path)


def _all_findings(
    measured: Measured, chosen: RuleSelection, ids: AbstractSet[str], tools: Container[int] | None = None
) -> list[Finding]:
    """All findings of some rules, entailed ones included."""
    running = [check for rule in chosen.table if rule.id in ids for check in _checks(rule, chosen)]
    inputs = _inputs(measured, chosen.clients, tools)
    findings: list[Finding] = []
    for rule, check, worst in running:
        for own_part, entry in inputs[rule.reads]:
            if rule.needs_language and isinstance(entry, Subject) and not entry.prose.is_readable:
                continue
            for hit in check(entry):
                part = own_part or hit.part
                if not _is_open(rule, hit, part, measured.catalog.tools):
                    findings.append(_finding(rule, hit, part, worst, measured))  # a comprehension is one frame more
    return findings


def _inputs(
    measured: Measured, clients: Sequence[str], tools: Container[int] | None
) -> Mapping[type, Sequence[tuple[Part, object]]]:
    """The inputs of rules by their type, each behind the part that a hit is about; None where the hit says which."""
    subjects = [subject for subject in measured.subjects if tools is None or subject.tool.index in tools]
    return {
        Subject: [(subject.tool, subject) for subject in subjects],
        CodedTool: [(tool.subject.tool, tool) for tool in coded(measured)],
        Resource: [(resource, resource) for resource in listed_resources(measured.catalog)],
        ListedPrompt: [(prompt, prompt) for prompt in measured.catalog.prompts or ()],
        Measured: [(None, measured)],
        Audience: [(None, Audience(measured, clients))],
    }


def _is_open(rule: AnyRule, hit: Hit, part: Part, tools: Sequence[Tool]) -> bool:
    """Return whether a part that could not be read may take a hit back; for the server's own, of any tool."""
    if isinstance(part, Tool):
        return bool(part.unread) and any(part.is_open(path) for path in (hit.path, *rule.weighs))
    return part is None and any(tool.is_open(path) for tool in tools if tool.unread for path in rule.weighs)


def _checks(
    rule: AnyRule, chosen: RuleSelection
) -> list[tuple[AnyRule, Callable[..., Iterator[Hit]], Severity | None]]:
    """Return the rule with its check and the worst severity of a finding; or its selected variants, under its id."""
    variants = [variant for variant in rule.variants if variant.id in chosen.variants]
    if variants:
        return [
            (
                replace(variant, id=rule.id, name=rule.name, weighs=rule.weighs),
                variant.check,
                chosen.severities.get(variant.id),
            )
            for variant in variants
        ]
    check = partial(rule.check, limit=chosen.limits[rule.id]) if rule.id in chosen.limits else rule.check
    return [(rule, check, chosen.severities.get(rule.id))]


def _without_entailed(findings: Sequence[Finding], entailed: Mapping[str, AbstractSet[str]]) -> Sequence[Finding]:
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


def _finding(rule: AnyRule, hit: Hit, part: Part, worst: Severity | None, measured: Measured) -> Finding:
    """A hit as a finding, at most as severe as `worst`, with its code's path from where the folder was named."""
    severity, code = hit.severity or worst or rule.severity, None
    if hit.code and measured.code:
        file = (PurePosixPath(measured.code.folder) / hit.code.file).as_posix()
        code = CodePlace(file=file, line=hit.code.line)
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
        code=code or ABSENT,
        shared=hit.shared,
    )


def _order(finding: Finding) -> tuple[int, int, int, str]:
    index = -1 if finding.subject.index is None else finding.subject.index
    return (_KINDS.index(finding.subject.kind), index, -finding.severity.rank, finding.rule)


_KINDS = ("server", "tool", "resource", "prompt")
