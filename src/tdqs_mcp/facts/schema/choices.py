"""What an input schema demands beyond its list of required parameters: one of several, or one with another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tdqs_mcp.facts.catalog.names import is_plain

MAX_BRANCHES = 4
"""Alternatives that one sentence can carry."""


class Demand(StrEnum):
    """How the groups of a choice stand to each other."""

    EXACTLY_ONE = "exactly one"
    AT_LEAST_ONE = "at least one"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A demand on top-level parameters."""

    demand: Demand
    groups: tuple[tuple[str, ...], ...]
    """Parameters that go together; of TOGETHER the first group calls for the second."""

    path: str
    """JSON pointer inside the definition."""

    @property
    def names(self) -> frozenset[str]:
        """Every parameter that takes part."""
        return frozenset(name for group in self.groups for name in group)


def required_choices(schema: Mapping[str, Any]) -> tuple[Choice, ...]:
    """The choices at the root of an input schema that are certain: disjoint branches of known required parameters."""
    properties = schema.get("properties")
    known = frozenset(properties if isinstance(properties, Mapping) else ())
    return (*_alternatives(schema, known), *_companions(schema, known))


def _alternatives(schema: Mapping[str, Any], known: frozenset[str]) -> Iterator[Choice]:
    for keyword, demand in (("oneOf", Demand.EXACTLY_ONE), ("anyOf", Demand.AT_LEAST_ONE)):
        branches = schema.get(keyword)
        if not isinstance(branches, list) or not 1 < len(branches) <= MAX_BRANCHES:
            continue
        groups = tuple(_required(branch) for branch in branches)
        names = [name for group in groups for name in group]
        if all(groups) and len(names) == len(set(names)) and _are_known(names, known):
            yield Choice(demand=demand, groups=groups, path=f"/inputSchema/{keyword}")


def _required(branch: object) -> tuple[str, ...]:
    """The parameters that a branch requires; none where it demands anything else as well."""
    if not isinstance(branch, Mapping) or not branch.keys() <= {"required", "type", "title", "description"}:
        return ()
    names = branch.get("required")
    return tuple(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else ()


def _companions(schema: Mapping[str, Any], known: frozenset[str]) -> Iterator[Choice]:
    table = schema.get("dependentRequired")
    for name, needed in list(table.items())[:MAX_BRANCHES] if isinstance(table, Mapping) else ():
        if isinstance(needed, list) and needed and _are_known([name, *needed], known):
            yield Choice(demand=Demand.TOGETHER, groups=((name,), tuple(needed)), path="/inputSchema/dependentRequired")


def _are_known(names: list[Any], known: frozenset[str]) -> bool:
    return all(isinstance(name, str) and name in known and is_plain(name) for name in names)
