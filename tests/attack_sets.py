"""The sets of attacks in `attacks`, one file each, and the honest near misses beside them.

A file says who wrote the set (`about`). An attack is a text that follows the description of OPENING_HOURS, or the fields
that differ from it; `poison` holds sentences that work on an agent, by what they try.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OPENING_HOURS = {
    "name": "opening_hours",
    "description": "Look up the opening hours of a museum.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city"}}},
}


@dataclass(frozen=True, kw_only=True)
class AttackSet:
    """What one file says."""

    about: str
    attacks: dict[str, Any] = field(default_factory=dict)
    """Definitions that address a judge, by name."""

    poison: dict[str, list[str]] = field(default_factory=dict)
    """Sentences that poison a definition, by what they try."""

    @property
    def definitions(self):
        """All of them as definitions."""
        poisoned = [_definition(sentence) for group in self.poison.values() for sentence in group]
        return [*self.attacks.values(), *poisoned]


def _read(path):
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    attacks = {name: _definition(attack) for name, attack in content.pop("attacks", {}).items()}
    return AttackSet(attacks=attacks, **content)


def _definition(attack):
    told = {"description": f"{OPENING_HOURS['description']} {attack}"} if isinstance(attack, str) else attack
    return OPENING_HOURS | told


_FILES = {path.stem: path for path in sorted((Path(__file__).parent / "attacks").glob("*.toml"))}
NEAR_MISSES = tomllib.loads(_FILES.pop("near_misses").read_text(encoding="utf-8"))["tools"]
"""Honest tools that sound like attacks, by name."""

SETS = {name: _read(path) for name, path in _FILES.items()}
