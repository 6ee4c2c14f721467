"""What a text claims of a parameter, against what the schema accepts: type, choices, default, range, requirement."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tdqs_mcp.facts.claims.claim import Claim, Clash, demands
from tdqs_mcp.facts.claims.effects import mutation, requirement
from tdqs_mcp.facts.claims.ranges import ranges
from tdqs_mcp.facts.claims.signs import signs_against
from tdqs_mcp.facts.claims.stated import CODED, TYPE_WORDS
from tdqs_mcp.facts.claims.types import types, widened
from tdqs_mcp.facts.claims.values import choices, defaults
from tdqs_mcp.facts.sayings import DIGITS, Origin, Saying, words_in
from tdqs_mcp.facts.schema.walk import ANYTHING, SIMPLE, Accepted, accepted_values, is_simple

__all__ = ["Clash", "Topic", "clashes", "mutation"]


class Topic(StrEnum):
    """What a text and a schema may contradict each other about."""

    TYPE = "type"
    CHOICES = "choices"
    DEFAULT = "default"
    RANGE = "range"
    REQUIREMENT = "requirement"


def clashes(said: Sequence[Saying], names: frozenset[str], root: Mapping[str, Any]) -> Mapping[Topic, Sequence[Clash]]:
    """The clashes in everything that the texts of a tool say of its parameters; `names` are no values."""
    found: dict[Topic, dict[tuple[str, str, str], Clash]] = {}
    for saying in said:
        schema = saying.node.schema
        takes = SIMPLE.get(schema["type"], ANYTHING) if is_simple(schema) else accepted_values(schema, root)
        for topic in _possible(saying, takes):
            clash = _FINDERS[topic](Claim(saying, takes, names))
            if clash is not None:
                found.setdefault(topic, {}).setdefault((saying.node.path, saying.path, clash.said), clash)
    return {topic: tuple(each.values()) for topic, each in found.items()}


def _possible(saying: Saying, takes: Accepted) -> list[Topic]:
    """What a text may claim of a parameter, by its words alone: for most there is nothing."""
    node, words = saying.node, words_in(saying.text)
    found = [Topic.TYPE] if takes.types and _may_speak_against(takes.types, words, saying) else []
    if takes.values is not None or takes.item_values is not None:
        found.append(Topic.CHOICES)
    if "default" in node.schema and not words.isdisjoint(_DEFAULTING):
        found.append(Topic.DEFAULT)
    if takes.bounds and not words.isdisjoint(DIGITS):
        found.append(Topic.RANGE)
    if node.is_top and not words.isdisjoint(_IN_OPTIONAL if node.is_required else _IN_REQUIRED):
        found.append(Topic.REQUIREMENT)
    return found


_DEFAULTING = frozenset({"default", "defaults", "defaulted", "defaulting"})
_IN_OPTIONAL = frozenset({"optional"})
_IN_REQUIRED = frozenset({"required", "mandatory"})


def _may_speak_against(held: frozenset[str], words: frozenset[str], saying: Saying) -> bool:
    signs, others = _words_against(held)
    is_pointing = saying.origin is not Origin.SENTENCE and not words.isdisjoint(signs)
    return is_pointing or (not words.isdisjoint(others) and demands(saying.text, saying.origin))


@lru_cache(maxsize=256)
def _words_against(held: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Words of the signs that speak against all of some types, and words for other types."""
    signs = frozenset().union(*(sign.cues for sign in signs_against(held)))
    others = frozenset(word for word, kinds in TYPE_WORDS.items() if not kinds & widened(held))
    return signs, others | (CODED if "string" not in held else frozenset())


_FINDERS: dict[Topic, Callable[[Claim], Clash | None]] = {
    Topic.TYPE: types,
    Topic.CHOICES: choices,
    Topic.DEFAULT: defaults,
    Topic.RANGE: ranges,
    Topic.REQUIREMENT: requirement,
}
