"""Claims of a text about a parameter's type, outright or by what its words amount to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, partial

from tdqs_mcp.facts.schema.walk import Accepted
from tdqs_mcp.facts.text.parameter_mentions import DIGITS, Clash, MentionKind, ParameterMention, words_in
from tdqs_mcp.facts.text.vocabulary import LEMMAS, PatternTable, expand, lazy_pattern, read_table, words_from

_PATTERNS = PatternTable("claims")
_words = partial(words_from, "claims")

MAX_PLAIN = 240
"""Characters of a description that speaks of its own parameter throughout."""

_NEGATIONS = ("not ", "n't ", "never ")
_TRUE = lazy_pattern(r"\btrue\b", re.IGNORECASE)
_FIRST_WORD = lazy_pattern(r"[A-Za-z]+")
_MAY_NUMBER = lazy_pattern(r"default|[(]\s*-?\d|between|from|[01]-(?:based|indexed)")
"""Without one of these a digit is no cue of a number: begins with letters, to be quickly seen as well."""


class CueRole(StrEnum):
    """How much of the text a type cue speaks for."""

    OPENING = "opening"
    """It opens the text with its type; the rest of it cannot mean another."""

    VALUE = "value"
    """It gives the value itself: true or false, a number."""

    UNIT = "unit"
    FORMAT = "format"
    """It names a format of text."""

    NOUN = "noun"
    ID = "id"


_LOOSE = frozenset({CueRole.NOUN, CueRole.ID})
"""Roles in which a noun is the cue, and a verb before it may have other reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCue:
    """A phrase that amounts to a type, sought in lower-case text."""

    role: CueRole
    pattern: re.Pattern[str]
    kinds: frozenset[str]
    """Types that it fits."""

    against: frozenset[str]
    """Types that it speaks against."""

    said: str
    """The type in words."""

    words: frozenset[str]
    """It stands in no text that has none of these words."""

    is_opening: bool
    """It begins where the text does."""

    def is_in(self, text: str) -> bool:
        """Whether the lower-case text has it."""
        return (self.pattern.match(text) if self.is_opening else self.pattern.search(text)) is not None


@cache
def _type_words() -> Mapping[str, frozenset[str]]:
    """The types that each word names."""
    table = read_table("claims")["types"]
    return {word: frozenset(types.split()) for types, words in table.items() for word in words.split()}


@cache
def _cues() -> tuple[TypeCue, ...]:
    return tuple(
        TypeCue(
            role=CueRole(entry["role"]),
            pattern=lazy_pattern(expand("claims", entry["pattern"]), re.DOTALL),
            kinds=frozenset(entry["kinds"].split()),
            against=frozenset(entry["against"].split()),
            said=entry["said"],
            words=frozenset(entry["words"].split()),
            is_opening=entry["pattern"].lstrip().startswith("{lead}"),
        )
        for entry in read_table("claims")["cues"]
    )


@lru_cache(maxsize=4096)
def _cues_in(text: str, held: frozenset[str]) -> tuple[TypeCue, ...]:
    """The cues of a text that speak against all of some types; generated tools repeat the same texts."""
    words, lowered = words_in(text), text.lower()
    if not DIGITS.isdisjoint(words) and not _MAY_NUMBER.search(lowered):
        words -= DIGITS
    return tuple(
        cue for cue in _cues() if held <= cue.against and not words.isdisjoint(cue.words) and cue.is_in(lowered)
    )


def _demands_type(text: str, kind: MentionKind) -> bool:
    """A word or a parenthesis without which no type is stated outright."""
    words = _words("demands")
    if kind is MentionKind.OWN:
        return not words_in(text).isdisjoint(words)
    return kind is MentionKind.ENTRY or "(" in text or not words_in(text).isdisjoint(words | {"is", "set", "setting"})


@lru_cache(maxsize=4096)
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
    is_aside = match["paren"] is not None and (kind is MentionKind.OWN or text.startswith(" values", match.end()))
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
    return None if mention.kind is MentionKind.SENTENCE else _soft(mention, accepted)


def widened(kinds: frozenset[str]) -> frozenset[str]:
    """The types that a parameter of some types also takes: a number is whole or not."""
    return kinds | {"integer", "number"} if kinds & {"integer", "number"} else kinds


def _soft(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """What the words amount to: every cue in the text points away from what the schema accepts."""
    text, kinds_held = mention.text, accepted.types
    cues = _cues_in(text, kinds_held)
    if not cues or _is_granted(text, widened(kinds_held), cues[0]):
        return None
    cue = cues[0]
    is_loose = cue.role in _LOOSE
    if "string" in cue.kinds and is_loose and _opens_with_verb(text):
        return None
    if not kinds_held.isdisjoint({"array", "object"}):
        is_short = len(text) <= MAX_PLAIN and "`" not in text
        is_single = cue.role in (CueRole.OPENING, CueRole.FORMAT) or (cue.role is CueRole.VALUE and is_short)
        if not is_single and _is_plural(mention, accepted):
            return None
        if is_loose and _PATTERNS.text_noun.search(text[:60]) is None:
            return None
    if kinds_held == {"string"} and _is_excused(mention, accepted, cue):
        return None
    return _type_clash(mention, cue.said, accepted, is_plain=False)


def _is_granted(text: str, held: frozenset[str], cue: TypeCue) -> bool:
    """Something in the text beside the cue fits the schema; an id or a unit may stand in any text."""
    if any(
        _type_words()[word.lower()] & held for word in _PATTERNS.granted.findall(_PATTERNS.of_objects.sub("", text))
    ):
        return True
    lowered = text.lower()
    return cue.role is not CueRole.OPENING and any(
        each.kinds & held and each.is_in(lowered) for each in _cues() if each.role not in (CueRole.UNIT, CueRole.ID)
    )


def _opens_with_verb(text: str) -> bool:
    word = _FIRST_WORD.search(text)
    first = word[0].lower() if word else ""
    return first in _words("verbs") or (first in LEMMAS and first not in _words("nouns"))


def _is_plural(mention: ParameterMention, accepted: Accepted) -> bool:
    """Several things may be meant: the text or the parameter's name speaks of more than one."""
    words = _words("structured")
    words |= _words("listed") if "array" in accepted.types else frozenset()
    return (mention.node.name or "").endswith(("s", "list", "data")) or not mention.words.isdisjoint(words)


def _is_excused(mention: ParameterMention, accepted: Accepted, cue: TypeCue) -> bool:
    """Text that may well carry a number, a truth value or a list: quoted, encoded, or one of known strings."""
    if cue.kinds & {"array", "object"}:
        return _PATTERNS.text_form.search(mention.text) is not None
    if accepted.values is not None:
        is_truth = "boolean" in cue.kinds and _TRUE.search(mention.text) is not None
        return not is_truth or {str(value).lower() for value in accepted.values} >= {"true", "false"}
    return cue.role is not CueRole.OPENING and _PATTERNS.quoted.search(mention.text) is not None


def _type_clash(mention: ParameterMention, word: str, accepted: Accepted, *, is_plain: bool) -> Clash:
    return Clash(mention=mention, said=word, held=" or ".join(sorted(accepted.types)), is_plain=is_plain)
