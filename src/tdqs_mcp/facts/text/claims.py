"""Where texts contradict schema or hints: type, choices, default, range, requirement, effect."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import PatternTable, cached_by_text, expand, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema.walk import Accepted, accepted_values
from tdqs_mcp.facts.text.parameter_mentions import DIGITS, Clash, MentionKind, ParameterMention, words_in
from tdqs_mcp.facts.text.value_claims import find_choice_clash, find_default_clash, named_values

_PATTERNS = PatternTable("claims")
_words = partial(words_from, "claims")

_NEGATIONS = ("not ", "n't ", "never ")
_TRUE = lazy_pattern(r"\btrue\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCue:
    """An opening of a description that gives a type, matched with lower-case text."""

    pattern: re.Pattern[str]
    kinds: frozenset[str]
    """Types that it fits."""

    against: frozenset[str]
    """Types that it speaks against."""

    said: str
    """The type in words."""

    words: frozenset[str]
    """It stands in no text that has none of these words."""


@cache
def _type_words() -> Mapping[str, frozenset[str]]:
    """The types that each word names."""
    table = read_table("claims")["types"]
    return {word: frozenset(types.split()) for types, words in table.items() for word in words.split()}


@cache
def _cues() -> tuple[TypeCue, ...]:
    return tuple(
        TypeCue(
            pattern=lazy_pattern(expand("claims", entry["pattern"]), re.DOTALL),
            kinds=frozenset(entry["kinds"].split()),
            against=frozenset(entry["against"].split()),
            said=entry["said"],
            words=frozenset(entry["words"].split()),
        )
        for entry in read_table("claims")["cues"]
    )


@cached_by_text(1024)
def _opening(text: str, held: frozenset[str]) -> TypeCue | None:
    """The opening of a text that speaks against all of some types; generated tools repeat the same texts."""
    words = words_in(text)
    cues = (cue for cue in _cues() if held <= cue.against and not words.isdisjoint(cue.words))
    return next((cue for cue in cues if cue.pattern.match(text.lower())), None)


def _demands_type(text: str, kind: MentionKind) -> bool:
    """A word or a parenthesis without which no type is stated outright."""
    words = _words("demands")
    if kind is MentionKind.OWN:
        return not words_in(text).isdisjoint(words)
    return kind is MentionKind.ENTRY or "(" in text or not words_in(text).isdisjoint(words | {"is", "set", "setting"})


@cached_by_text(1024)
def _stated(text: str, kind: MentionKind) -> Mapping[str, frozenset[str]]:
    """Types that a text gives outright, by the word it uses; alternatives count together."""
    if words_in(text).isdisjoint(_type_words()) or not _demands_type(text, kind):
        return {}
    lowered = text.lower()
    return _stated_types(lowered, kind) if _PATTERNS.typed.search(lowered) else {}


def _stated_types(text: str, kind: MentionKind) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for match in _PATTERNS.normative.finditer(text):
        if not _demands_one(match, text, kind):
            continue
        word = match[match.lastindex or 0]
        found[word] = _type_words()[word]
        if not _words("coded").isdisjoint(match["adjective"].replace("-", " ").split()):
            found[word] = frozenset({"string"})
        other = _PATTERNS.or_type.match(text, match.end())
        while other is not None:
            found[other[1]] = _type_words()[other[1]]
            other = _PATTERNS.or_type.match(text, other.end())
    return found


def _demands_one(match: re.Match[str], text: str, kind: MentionKind) -> bool:
    """Whether the phrase demands a type here: not denied, not said of something else, and nothing else will do."""
    is_denied = match["not2"] is not None or text[max(0, match.start() - 6) : match.start()].endswith(_NEGATIONS)
    is_aside = match["paren"] is not None and (
        kind is MentionKind.OWN or match.start() > 2 or text.startswith((" values", " of "), match.end())
    )
    is_elsewhere = (match["is"] is not None and kind is not MentionKind.SENTENCE) or (
        match["lead"] is not None and kind is not MentionKind.ENTRY
    )
    return not (is_denied or is_aside or is_elsewhere or _PATTERNS.other_value.match(text, match.end()))


def find_type_clash(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """A type that the text gives the parameter and the schema does not accept."""
    if not accepted.types:
        return None
    plain = _stated(mention.text, mention.kind)
    if plain:
        kinds = frozenset().union(*plain.values())
        word = next(iter(plain))
        is_text = accepted.types == {"string"} and word in _words("compound")
        is_encoded = is_text and _PATTERNS.text_form.search(mention.text) is not None
        if kinds & widened(accepted.types) or is_encoded:
            return None
        return _type_clash(mention, word, accepted, is_plain=True)
    return _soft(mention, accepted) if mention.kind is MentionKind.OWN else None


def widened(kinds: frozenset[str]) -> frozenset[str]:
    """The types that a parameter of some types also takes: a number is whole or not."""
    return kinds | {"integer", "number"} if kinds & {"integer", "number"} else kinds


def _soft(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """What the description opens with, where nothing in it excuses another type."""
    cue = _opening(mention.text, accepted.types)
    if cue is None or _is_granted(mention.text, widened(accepted.types)):
        return None
    if accepted.types == {"string"} and _is_excused(mention, accepted, cue):
        return None
    return _type_clash(mention, cue.said, accepted, is_plain=False)


def _is_granted(text: str, held: frozenset[str]) -> bool:
    """A word of the text names a type that the schema accepts."""
    return any(_type_words()[word.lower()] & held for word in _PATTERNS.granted.findall(text))


def _is_excused(mention: ParameterMention, accepted: Accepted, cue: TypeCue) -> bool:
    """Text that may well carry a number or a truth value: one of known strings, or of those that the text names."""
    if accepted.values is not None:
        is_truth = "boolean" in cue.kinds and _TRUE.search(mention.text) is not None
        return not is_truth or {str(value).lower() for value in accepted.values} >= {"true", "false"}
    if "boolean" in cue.kinds:
        return bool(named_values(mention) - {"true", "false"})
    return _PATTERNS.quoted.search(mention.text) is not None


def _type_clash(mention: ParameterMention, word: str, accepted: Accepted, *, is_plain: bool) -> Clash:
    return Clash(mention=mention, said=word, held=" or ".join(sorted(accepted.types)), is_plain=is_plain)


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
    """The clashes in everything that the texts of a tool say of its parameters; `names` are not values."""
    found: dict[Topic, dict[tuple[str, str, str], Clash]] = {}
    for mention in mentions:
        if mention.words.isdisjoint(_claim_words()) and _VALUED.isdisjoint(mention.node.schema):
            continue
        takes = accepted_values(mention.node.schema, root)
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


_VALUED = frozenset("enum items anyOf oneOf allOf $ref".split())
"""Keywords that may give a parameter a list of values, which a text can contradict in any words."""


@cache
def _claim_words() -> frozenset[str]:
    """Words without one of which a text claims no type, default, range or requirement."""
    return _words("claiming").union(DIGITS, _type_words(), *(cue.words for cue in _cues()))


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


@cached_by_text(1024)
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
        limit = bounds.get(f"{side}Length") if units <= _words("length_units") else None
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
    first_line = mention.text.partition("\n")[0]  # the lines below may be about parts of the value
    is_optional = getattr(_PATTERNS, f"{prefix}optional").search(first_line) is not None
    if node.is_required and "default" not in node.schema and is_optional:
        return Clash(mention=mention, said="optional", held="required", is_plain=True)
    if not node.is_required and not is_optional and getattr(_PATTERNS, f"{prefix}required").search(first_line):
        return Clash(mention=mention, said="required", held="optional", is_plain=True)
    return None


def stated_limits(text: str) -> str | None:
    """The words in which a text gives the range of a number; None where it gives none or only a condition."""
    limits = _all_limits(text) if any(map(str.isdigit, text)) else ()
    return next((limit.text for limit in limits if not limit.unit), None)
