"""A rubric as it lies in `data/<key>`: its dimensions, its published system prompt and its user template."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One thing that is scored 1-5."""

    key: str
    title: str
    weight: int
    """Percent of the rubric's total."""

    question: str
    bad: str
    good: str
    """One bad and one good example: a description, or tool names."""

    anchors: tuple[str, ...]
    """What the scores 1 to 5 mean, in that order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A flag or a tier, explained."""

    title: str
    meaning: str
    bad: str
    good: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Dimensions in the specification's order, and where they come from."""

    key: str
    title: str
    source: str
    dimensions: tuple[Dimension, ...]
    flags: tuple[Term, ...]
    tiers: tuple[Term, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The dimension keys."""
        return tuple(dimension.key for dimension in self.dimensions)


@cache
def load(key: str) -> Rubric:
    """The rubric of a folder below `data`."""
    table = tomllib.loads(_text(key, "rubric.toml"))
    dimensions = (Dimension(**entry | {"anchors": tuple(entry["anchors"])}) for entry in table["dimensions"])
    return Rubric(
        key=key,
        title=table["title"],
        source=table["source"],
        dimensions=tuple(dimensions),
        flags=tuple(Term(**entry) for entry in table.get("flags", ())),
        tiers=tuple(Term(**entry) for entry in table.get("tiers", ())),
    )


@cache
def system_prompt(key: str) -> str:
    """The bytes that a judge gets as its system message."""
    return _text(key, "system.md")


@cache
def user_template(key: str) -> str:
    """The user message, with `{placeholders}`."""
    return _text(key, "user.md")


def _text(key: str, name: str) -> str:
    return files("tdqs_mcp.rubrics").joinpath("data", key, name).read_text(encoding="utf-8")
