"""Selects the rules that run, from a profile and from ids, names, aliases and lanes."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from tdqs_mcp.errors import InputError, UnknownIdError
from tdqs_mcp.facts.text.vocabulary import lazy_pattern
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import AnyRule
from tdqs_mcp.rules.rule_profiles import DEFAULT, PROFILES, Profile

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


def select(
    table: Sequence[AnyRule],
    *,
    names: Sequence[str] = (),
    ignored: Sequence[str] = (),
    profile: str | None = None,
    severities: Mapping[str, Severity] | None = None,
) -> Selection:
    """Select rules of a table by a profile and by words.

    A word is an id, name or alias, or a lane such as TDQ5 or DESC. A rule named in full is selected whatever the
    profile says, and no ignored lane takes it away; a lane selects what the profile allows. Raises UnknownIdError, and
    InputError where no rule is left.
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
            **{find(table, name).id: severity for name, severity in (severities or {}).items()},
        },
        entailed={} if chosen.is_foreign else entailments(table),
    )


def find(table: Sequence[AnyRule], name: str) -> AnyRule:
    """The rule with this id, name or alias, whatever its case. Raises UnknownIdError, which names the nearest."""
    wanted = name.lower()
    for rule in table:
        if wanted in _words(rule):
            return rule
    raise UnknownIdError(f"there is no rule {name!r}{nearest(name, _spelled(table))}")


def entailments(table: Sequence[AnyRule]) -> dict[str, frozenset[str]]:
    """By id, what a rule entails, directly or through others."""
    direct = {rule.id: rule.entails for rule in table}
    return {each: _reachable(each, direct) for each, targets in direct.items() if targets}


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with at most three known words, or nothing where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415  # only a mistake costs its import

    spelled = {each.lower(): each for each in known}
    close = get_close_matches(word.lower(), spelled, n=3)
    return f"; did you mean {', '.join(spelled[each] for each in close)}?" if close else ""


def _profile(name: str | None) -> Profile:
    if name is None:
        return DEFAULT
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
