"""The sets of attacks in `attacks`, one file each, and the honest near misses beside them.

A file says who wrote the set (`about`), how much of it was found when it was first run (`known_at_first_sight`,
`found_at_first_sight`; absent where detection was developed with the set) and what is expected now, name by name: `unknown`
(a judge would read it unwarned), `only_suspected` (no finding, but no high score is believed unseen), `unfound` (poison).
An attack is a text that follows the description of OPENING_HOURS, or the fields that differ from it.
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
    known_at_first_sight: int | None = None
    found_at_first_sight: int | None = None
    attacks: dict[str, Any] = field(default_factory=dict)
    """Definitions that address a judge, by name."""

    unknown: list[str] = field(default_factory=list)
    only_suspected: list[str] = field(default_factory=list)
    poison: dict[str, list[str]] = field(default_factory=dict)
    """Sentences that poison a definition, by what they try."""

    unfound: list[str] = field(default_factory=list)

    @property
    def sentences(self):
        return [sentence for group in self.poison.values() for sentence in group]


def _read(path):
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    attacks = {name: _definition(attack) for name, attack in content.pop("attacks", {}).items()}
    return AttackSet(attacks=attacks, **content)


def _definition(attack):
    told = {"description": f"{OPENING_HOURS['description']} {attack}"} if isinstance(attack, str) else attack
    return OPENING_HOURS | told


_FILES = {path.stem: path for path in sorted((Path(__file__).parent / "attacks").glob("*.toml"))}
NEAR_MISSES = tomllib.loads(_FILES.pop("near_misses").read_text(encoding="utf-8"))
"""Honest tools that sound like attacks: `tools` by name, the rules by which some are `reported`, and `only_suspected`."""

SETS = {name: _read(path) for name, path in _FILES.items()}
