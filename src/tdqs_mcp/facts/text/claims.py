"""Where texts contradict schema or hints: type, choices, default, range, requirement, effect."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, NamedTuple

from tdqs_mcp.facts.schema.walk import ANYTHING, SIMPLE, Accepted, accepted_values, is_simple
from tdqs_mcp.facts.text.parameter_mentions import DIGITS, Clash, MentionKind, ParameterMention
from tdqs_mcp.facts.text.type_claims import find_type_clash
from tdqs_mcp.facts.text.value_claims import find_choice_clash, find_default_clash
from tdqs_mcp.facts.text.vocabulary import LEMMAS, MAX_TEXT, PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.text.words import name_parts
from tdqs_mcp.model import Tool

_PATTERNS = PatternTable("claims")
_words = partial(words_from, "claims")

_SENTENCES = lazy_pattern(r"(?<=[.!?])\s+|\n")
_IF = lazy_pattern(r"\s*(?:if|when)\b", re.IGNORECASE)


_OPTIONAL = frozenset({"optional"})
_REQUIRED = frozenset({"required", "mandatory"})


class Topic(StrEnum):
    """What a text and a schema may contradict each other about."""

    TYPE = "type"
    CHOICES = "choices"
    DEFAULT = "default"
    RANGE = "range"
    REQUIREMENT = "requirement"


def find_clashes(
    mentions: Sequence[ParameterMention], names: frozenset[str], root: Mapping[str, Any]
) -> Mapping[Topic, Sequence[Clash]]:
    """The clashes in everything that the texts of a tool say of its parameters; `names` are no values."""
    found: dict[Topic, dict[tuple[str, str, str], Clash]] = {}
    for mention in mentions:
        schema = mention.node.schema
        takes = SIMPLE.get(schema["type"], ANYTHING) if is_simple(schema) else accepted_values(schema, root)
        clashes = (
            (Topic.TYPE, find_type_clash(mention, takes)),
            (Topic.CHOICES, find_choice_clash(mention, takes, names)),
            (Topic.DEFAULT, find_default_clash(mention, takes)),
            (Topic.RANGE, find_range_clash(mention, takes)),
            (Topic.REQUIREMENT, find_requirement_clash(mention)),
        )
        for topic, clash in clashes:
            if clash is not None:
                found.setdefault(topic, {}).setdefault((mention.node.path, mention.path, clash.said), clash)
    return {topic: tuple(each.values()) for topic, each in found.items()}


class _Limit(NamedTuple):
    is_upper: bool
    value: float
    unit: str
    text: str


def find_range_clash(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """A limit that the text names and the schema's own limit of the same kind contradicts."""
    if not accepted.bounds or mention.words.isdisjoint(DIGITS):
        return None
    limits = _all_limits(mention.text)
    for is_upper in (False, True):
        said = [limit for limit in limits if limit.is_upper is is_upper]
        bound = _bound(accepted, is_upper=is_upper, units={limit.unit for limit in said})
        if bound is None or not said or any(limit.value == each for limit in said for each in bound):
            continue
        held = f"{'maximum' if is_upper else 'minimum'} {bound[0]:g}"
        return Clash(mention=mention, said=said[0].text, held=held, is_plain=True)
    return None


@lru_cache(maxsize=4096)
def _all_limits(text: str) -> Sequence[_Limit]:
    """The limits that a text names without a condition."""
    return [limit for sentence in _SENTENCES.split(text) if not _IF.match(sentence) for limit in _limits(sentence)]


def _limits(text: str) -> Iterator[_Limit]:
    for match in _PATTERNS.between.finditer(text):
        low, high = [value for key in "abcdefgh" if (value := match[key])]
        unit = (match["unit"] or "").strip().lower()
        if _float(low) < _float(high):
            said = match[0].strip(" ([)],;")
            yield from (_Limit(is_upper, _float(end), unit, said) for is_upper, end in ((False, low), (True, high)))
    for pattern, is_upper in ((_PATTERNS.upper, True), (_PATTERNS.lower, False)):
        for match in pattern.finditer(text):
            unit = (match["unit"] or "").strip().lower()
            yield _Limit(is_upper, _float(match["value"]), unit, match[0].strip())


def _float(text: str) -> float:
    return float(text.replace(",", "") or 0)


def _bound(accepted: Accepted, *, is_upper: bool, units: set[str]) -> tuple[float, ...] | None:
    """The schema's limit as the texts may put it: an exclusive limit is also the next whole number."""
    bounds, side = accepted.bounds, "max" if is_upper else "min"
    if accepted.types <= {"integer", "number"}:
        exclusive = bounds.get(f"exclusive{side.title()}imum")
        if exclusive is not None:
            return (exclusive, exclusive - 1 if is_upper else exclusive + 1)
        limit = None if units & _words("length_units") else bounds.get(f"{side}imum")
    elif accepted.types == {"string"}:
        limit = bounds.get(f"{side}Length") if units <= _words("length_units") | {""} else None
    elif accepted.types == {"array"}:
        limit = None if units & _words("length_units") else bounds.get(f"{side}Items")
    else:
        return None
    return None if limit is None or abs(limit) >= 2**31 - 1 else (limit,)


def find_requirement_clash(mention: ParameterMention) -> Clash | None:
    """The text calls the parameter optional and the schema requires it, or the reverse."""
    node = mention.node
    if not node.is_top or mention.words.isdisjoint(_OPTIONAL if node.is_required else _REQUIRED):
        return None
    prefix = "is_" if mention.kind is MentionKind.SENTENCE else ""
    is_optional = getattr(_PATTERNS, f"{prefix}optional").search(mention.text) is not None
    if node.is_required and "default" not in node.schema and is_optional:
        return Clash(mention=mention, said="optional", held="required", is_plain=True)
    if not node.is_required and not is_optional and getattr(_PATTERNS, f"{prefix}required").search(mention.text):
        return Clash(mention=mention, said="required", held="optional", is_plain=True)
    return None


def find_mutation(tool: Tool, words: Collection[str]) -> str | None:
    """How the name or a sentence says outright that the tool writes; `words` are those of its description."""
    parts = name_parts(tool.name)
    verb = next((LEMMAS[part] for part in parts[:2] if part in LEMMAS), None)
    if verb in _words("mutations") and LEMMAS.get(parts[0]) == verb:
        return f"the name says {verb!r}"
    may_say = not _words("mutating").isdisjoint(words)
    found = _PATTERNS.mutation.search((tool.description or "")[:MAX_TEXT]) if may_say else None
    return f"the description says {' '.join(found[0].split())!r}" if found else None
