"""Lanes, and profiles: the rules of a project, a directory or another linter, with the severities that it states."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from tdqs_mcp.results.findings import Severity


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
def _read_table(name: str) -> Mapping[str, Any]:
    return tomllib.loads(files("tdqs_mcp.rules").joinpath("data", name).read_text(encoding="utf-8"))


def _read_profiles() -> dict[str, Profile]:
    return {
        name: Profile(**entry | ({"rules": _read_rules(entry["rules"])} if "rules" in entry else {}))
        for name, entry in _read_table("profiles.toml").items()
    }


def lane_of(rule_id: str) -> str:
    """Return what the lane of a rule is about."""
    return str(_read_table("lanes.toml").get(rule_id[:4], "Custom rules"))


DEFAULT_PROFILE = Profile(summary="every rule but the uncertain ones and those for auditors")


PROFILES: Mapping[str, Profile] = _read_profiles()


def source_severities(profile: str) -> Mapping[str, Severity]:
    """The severities that a profile's source states, by rule in the source's order."""
    return {word: severity for word, severity in (PROFILES[profile].rules or {}).items() if severity}


MCPTEST = source_severities("mcptest")


PLAYGROUND = source_severities("playground")
