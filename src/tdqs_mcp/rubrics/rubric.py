"""A rubric as it lies in `data/<key>`: its dimensions, its published system prompt and its user template."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


class Grade(StrEnum):
    """Grade that a rubric's scores end in."""

    TIER = "tier"
    """A weighted score of 1.0 to 5.0 and its letter."""

    LABEL = "label"
    """Good or Bad, and an overall score of 0 to 100."""


class AnswerForm(StrEnum):
    """How an answer states the score of a dimension."""

    JUSTIFIED = "justified"
    """`{"score": 4, "justification": "…"}`."""

    PLAIN = "plain"
    """`4`, with one reason for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """Dimension that is scored 1-5."""

    key: str
    title: str
    question: str
    bad: str
    """Bad example: a description, or tool names."""

    good: str
    """Good example of the same kind."""

    anchors: tuple[str, ...]
    """Meanings of the scores 1 to 5, in that order."""

    short: str = ""
    """Its heading in a table, where the key is too long for one."""

    weight: int = 0
    """Percent of the rubric's total; 0 where a rubric weighs all its dimensions alike."""

    answer_key: str = ""
    """The dimension's name in the published answer format, where that is not the key."""

    alone: int | None = None
    """The score that a server with one tool gets whatever the judge says: there is nothing to compare with."""

    smell: str = ""
    """Name of a score below 3, where it has one."""

    @property
    def asked_as(self) -> str:
        """Its name in an answer."""
        return self.answer_key or self.key


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
    grade: Grade
    answer: AnswerForm
    dimensions: tuple[Dimension, ...]
    flags: tuple[Term, ...]
    tiers: tuple[Term, ...]
    question: str | None = None
    """The boolean member of an answer, beside the scores."""

    is_gated: bool = False
    """A tool without a description scores 1 everywhere and needs no judge."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The dimension keys."""
        return tuple(dimension.key for dimension in self.dimensions)


RUBRICS = ("tdqs", "coherence", "smells", "bundles", "skill")
"""The folders that hold dimensions; the others are prompts alone."""

TOOL_RUBRICS = ("tdqs", "smells", "bundles")
"""Those that score one tool, the default first."""

SKILL, PLAYGROUND = "skill", "playground"
"""The rubric of a server's skill text, and MCP Playground's, which needs no judge."""

CODE = "code"
"""The rubric that holds a definition against its tool's code: findings in place of scores."""


@cache
def load(key: str) -> Rubric:
    """The rubric of a folder below `data`."""
    table = tomllib.loads(_text(key, "rubric.toml"))
    dimensions = (Dimension(**entry | {"anchors": tuple(entry["anchors"])}) for entry in table["dimensions"])
    return Rubric(
        key=key,
        title=table["title"],
        source=table["source"],
        grade=Grade(table["grade"]),
        answer=AnswerForm(table["answer"]),
        question=table.get("question"),
        is_gated=table.get("gated", False),
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
