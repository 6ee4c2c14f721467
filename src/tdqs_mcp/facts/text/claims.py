"""Where texts contradict schema or hints: type, values, default, range, requirement, effect."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import PatternTable, cached_by_text, expand, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema.walk import Accepted, Node, Shape, accepted_values
from tdqs_mcp.facts.spelling import first_of, name_parts
from tdqs_mcp.facts.text.parameter_texts import (
    DIGITS,
    Clash,
    MentionKind,
    ParameterMention,
    type_beside_null,
    words_in,
)
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import Effect

MAX_LISTED = 60
"""Values of one list that are compared."""

_ENDS = lazy_pattern(r"\s*(?:$|[.,;)\]\n])")
_NOTHING = frozenset(("null", "none", "undefined", ""))
_DEFAULTING = frozenset({"default", "defaults", "defaulted", "defaulting"})
_SEPARATORS = frozenset(",;|/ ")
"""A member with one of these cannot be told from a list of members."""


class _List(NamedTuple):
    """Values that stand in a row, with nothing but separators and remarks in parentheses between them."""

    items: Sequence[tuple[str, bool]]
    """Values, each with True if it is quoted."""

    is_stated: bool
    """The text calls it the list of values."""


def find_choice_clash(mention: ParameterMention, accepted: Accepted, names: frozenset[str]) -> Clash | None:
    """Values that the text lists and the schema does not allow; `names` are names of other things."""
    values = accepted.values if accepted.values is not None else accepted.item_values
    if not values or len(values) < 2 or accepted.types == {"boolean"}:
        return None
    spelled = tuple(dict.fromkeys(map(spell, values)))
    if not all(_SEPARATORS.isdisjoint(value.strip()) for value in spelled):
        return None
    allowed = frozenset(spelled)
    strange = [item for row in _lists(mention.text, mention.kind) for item in _strange(row, allowed, mention.text)]
    refused = [item for item in dict.fromkeys(strange) if item not in names]
    return (
        Clash(mention=mention, claim=listing(refused), constraint=listing(spelled), is_plain=True) if refused else None
    )


def _strange(listed: _List, allowed: frozenset[str], text: str) -> list[str]:
    """The items that are not members; none where the row does not show that it is about this parameter's values."""
    items = listed.items
    folded = {value.lower() for value in allowed}
    members = [item for item, _ in items if item in allowed]
    alike = [item for item, _ in items if item.lower() in folded]
    is_quoted = any(is_quoted for _, is_quoted in items)
    is_about = 2 * len(alike) >= len(items) and len(alike) > (not is_quoted)
    if is_about and not is_quoted:
        is_about = allowed.isdisjoint(match[0][1:-1] for match in _PATTERNS.quoted.finditer(text))
    # "Ascending or Descending" are words; ASC and DESC, where the schema has asc and desc, are values.
    is_recased = not members and len(alike) == len(items) and not any(item.istitle() for item in alike)
    if not (listed.is_stated or is_about):
        return []
    is_exact = is_quoted or is_recased
    strange = [item for item, _ in items if (item not in allowed if is_exact else item.lower() not in folded)]
    return [item for item in strange if item.lower() not in _NOTHING and _SEPARATORS.isdisjoint(item)]


@cached_by_text(1024)
def _lists(text: str, kind: MentionKind) -> Sequence[_List]:
    """The rows of values in a text; in a sentence that only names the parameter, those that it calls its values."""
    lists: list[_List] = []
    if not words_in(text).isdisjoint(_words("announcing")):
        lists += [_List(_items(match["list"]), is_stated=True) for match in _PATTERNS.announced_list.finditer(text)]
    if kind is not MentionKind.SENTENCE and ("," in text or "|" in text or "/" in text or " or " in text):
        lists += [_List(_items(match["list"]), is_stated=False) for match in _PATTERNS.row.finditer(text)]
    if kind is MentionKind.OWN:
        explained = [_unquoted(quoted or other) for quoted, other in _PATTERNS.explained.findall(text)[:MAX_LISTED]]
        lists += [_List(explained, is_stated=False)] if len(explained) > 1 else []
    return lists


def _items(text: str) -> list[tuple[str, bool]]:
    items = [_unquoted(item) for item in _PATTERNS.items.findall(text)[:MAX_LISTED]]
    if any(is_quoted for _, is_quoted in items):
        return [(item, is_quoted) for item, is_quoted in items if is_quoted]
    no_values = _words("no_values")
    return [(item, is_quoted) for item, is_quoted in items if item.lower().rstrip(".") not in no_values]


def _unquoted(item: str) -> tuple[str, bool]:
    is_quoted = item[0] in "`'\"“"
    return (item[1:-1] if is_quoted else item.rstrip(".")), is_quoted


def find_default_clash(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """A default that the text names and the schema's own `default` contradicts; null and "" say that none is set."""
    if mention.words.isdisjoint(_DEFAULTING):
        return None
    default = mention.node.schema.get("default")
    if isinstance(default, list | dict):
        return None
    if default is None or default == "":
        return _beyond_bounds(mention)
    matches = [*_PATTERNS.default.finditer(mention.text), *_PATTERNS.by_default.finditer(mention.text)]
    values = frozenset(map(spell, accepted.values or ()))
    literals = [literal for match in matches if (literal := _literal(match, mention.text, default, values)) is not None]
    literals = [literal for literal in literals if literal != mention.node.name]
    if not literals or any(_equal(literal, default) for literal in literals):
        return None
    return Clash(mention=mention, claim=literals[0], constraint=spell(default), is_plain=True)


def _beyond_bounds(mention: ParameterMention) -> Clash | None:
    """A default that only the text names and that the schema's range leaves out: "Default 999", maximum 100."""
    schema = mention.node.schema
    limits = [(key, schema[key]) for key in ("minimum", "maximum") if type(schema.get(key)) in (int, float)]
    text = stated_default(mention.text) if limits and mention.kind is MentionKind.OWN else None
    if text is None or text.lower() in _LITERALS:
        return None
    value = float(text.replace(",", "").replace("_", ""))
    for key, limit in limits:
        if value < limit if key == "minimum" else value > limit:
            return Clash(mention=mention, claim=text, constraint=f"{key} {spell(limit)}", is_plain=True)
    return None


def stated_default(text: str) -> str | None:
    """The number or truth value that a text gives as the default; None for any other."""
    matches = _PATTERNS.default.finditer(text) if "efault" in text else ()
    values = (literal for match in matches if (literal := _literal(match, text, 0, frozenset())) is not None)
    return next(values, None)


def open_choices(prose: Prose, shape: Shape) -> Iterator[str]:
    """Yield the optional parameters of which neither schema nor text tells the choice that holds if they are left out.

    What is created has one of the values, and a list has an order. Other choices of a reading tool may be filters,
    which let everything pass, unless that is itself a choice: `"state": {"enum": ["open", "closed", "all"]}`.
    """
    is_read, is_created = prose.effect is Effect.READ, prose.effect is prose.name_effect is Effect.CREATE
    is_told = not _DEFAULTING.isdisjoint(prose.vocabulary)
    if not (is_read or is_created) or prose.language not in ("en", None) or is_told:
        return
    for node in shape.by_keyword.get("enum", ()):
        text, values, name = node.schema.get("description"), node.schema["enum"], node.name or ""
        is_optional = node.is_top and not node.is_required and "default" not in node.schema
        if not is_optional or not isinstance(values, list) or len(values) < 2 or None in values:
            continue
        words = words_in(text) if isinstance(text, str) else frozenset()
        is_certain = is_created or "all" in values or not _words("ordering").isdisjoint(name_parts(name))
        if is_certain and words.isdisjoint(_words("leaving")) and name.lower() not in prose.vocabulary:
            yield name


def open_switches(remarks: Iterable[ParameterMention]) -> Iterator[str]:
    """Yield the optional truth values that let a call overwrite or force something, and have no stated default."""
    for remark in remarks:
        kind, schema = type_beside_null(remark.node.schema)
        is_open = (
            remark.node.is_top and not remark.node.is_required and not {"default"} & {*schema, *remark.node.schema}
        )
        is_forcing = kind == "boolean" and not _words("forcing").isdisjoint(name_parts(remark.node.name or "")[:1])
        if is_open and is_forcing and remark.words.isdisjoint(_words("leaving")):
            yield remark.node.name or ""


def _literal(match: re.Match[str], text: str, default: object, values: frozenset[str]) -> str | None:
    """The value, where it is one: quoted, a number, a truth value, or a word that ends its clause."""
    value = match["value"]
    if _OF_ANOTHER.search(text, 0, match.start()):
        return None
    if value[0] in "`'\"":
        return (
            value[1:-1] if isinstance(default, str) or value[1:-1].lower() in _LITERALS or value[1].isdigit() else None
        )
    bare = value.rstrip(".,")
    rest = text[match.start("value") + len(bare) :]
    if re.fullmatch(r"-?\d[\d,_]*(?:\.\d+)?", bare):
        # "the year (default 2024)" beside a parameter that is true or false is about another
        return None if isinstance(default, bool) or rest[:1].isalpha() or rest[:1] in ("/", ":", "-") else bare
    if bare.lower() in ("true", "false"):
        return bare
    if not isinstance(default, str) or bare.lower() in _words("no_defaults") or not _ENDS.match(rest):
        return None
    # `instance-dependent` and `API_KEY` are remarks beside `all` and `U0`.
    is_joined = "-" in bare and "-" not in default
    is_constant = "_" in bare and bare.isupper()
    # "DIRECT - the current directory, default method" beside RECURSIVE: a noun, not a value in capitals
    is_noun = default.isupper() and bare.islower()
    return bare if bare in values or not (is_joined or is_constant or is_noun) else None


def _equal(literal: str, default: object) -> bool:
    spelled = spell(default)
    if literal.strip().lower() == spelled.lower():
        return True
    try:
        return float(literal.replace(",", "").replace("_", "")) == float(spelled)
    except ValueError:
        return isinstance(default, bool) and literal.lower() in _TRUTH[default]


_OF_ANOTHER = lazy_pattern(r"(?:[A-Za-z]\w*_\w+`{0,2}\s*\(|\b(?:its|their) own )$")
"""`LIMIT_MAX (default 100)` speaks of another name, "its own default is 100" of another system."""

_LITERALS = frozenset({"true", "false"})
_TRUTH = {True: ("yes", "on", "enabled", "1"), False: ("no", "off", "disabled", "0")}


def spell(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """A JSON value as a text spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def listing(values: Sequence[str]) -> str:
    """The first six of some values, shortened."""
    return first_of([value if len(value) <= 40 else f"{value[:39]}…" for value in values], 6)


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

    type_name: str
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
            type_name=entry["said"],
            words=frozenset(entry["words"].split()),
        )
        for entry in read_table("claims")["cues"]
    )


def _demands_type(mention: ParameterMention) -> bool:
    """A word or a parenthesis without which no type is stated outright."""
    if mention.kind is MentionKind.OWN:
        return not mention.words.isdisjoint(_words("demands"))
    is_demanding = mention.kind is MentionKind.ENTRY or "(" in mention.text
    return is_demanding or not mention.words.isdisjoint(_words("demands") | {"is", "set", "setting"})


@cached_by_text(1024)
def _stated(text: str, kind: MentionKind) -> Mapping[str, frozenset[str]]:
    """Types that a text gives outright, by the word it uses; alternatives count together."""
    text, types = text.lower(), dict[str, frozenset[str]]()
    for match in _PATTERNS.normative.finditer(text) if _PATTERNS.typed.search(text) else ():
        # "must not be a string" demands nothing
        if not _demands_one(match, text, kind):
            continue
        word = match[match.lastindex or 0]
        types[word] = _type_words()[word]
        if not _words("coded").isdisjoint(match["adjective"].replace("-", " ").split()):
            types[word] = frozenset({"string"})
        other = _PATTERNS.or_type.match(text, match.end())
        while other is not None:
            types[other[1]] = _type_words()[other[1]]
            other = _PATTERNS.or_type.match(text, other.end())
    return types


def _demands_one(match: re.Match[str], text: str, kind: MentionKind) -> bool:
    """Return whether the phrase demands a type here: not denied, not said of something else, and no other will do."""
    is_denied = match["not2"] is not None or text[max(0, match.start() - 6) : match.start()].endswith(_NEGATIONS)
    is_aside = match["paren"] is not None and (
        kind is MentionKind.OWN or match.start() > 2 or text.startswith((" values", " of "), match.end())
    )
    is_elsewhere = (match["is"] is not None and kind is not MentionKind.SENTENCE) or (
        match["lead"] is not None and kind is not MentionKind.ENTRY
    )
    # "Set threshold to a float" in the text of another parameter
    is_of_part = kind is MentionKind.OWN and match["set"] not in (None, "it", "this", "value", "parameter")
    return not (is_denied or is_aside or is_elsewhere or is_of_part or _PATTERNS.other_value.match(text, match.end()))


def find_type_clash(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """A type that the text gives the parameter and the schema does not accept."""
    form = mention.node.schema.get("format")
    other_form = getattr(_PATTERNS, f"not_{form}").search(mention.text) if form in _FORMS else None
    if other_form:
        return Clash(mention=mention, claim=other_form[0], constraint=f"format {form}", is_plain=True)
    if not accepted.types or mention.words.isdisjoint(_typing_words()):
        return None
    plain = _stated(mention.text, mention.kind) if _demands_type(mention) else {}
    if plain:
        kinds = frozenset().union(*plain.values())
        word = next(iter(plain))
        # "an object, as JSON" fits a string that carries it
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
    """Return what the description opens with, where nothing in it excuses another type."""
    cues = [cue for cue in _cues() if accepted.types <= cue.against and not mention.words.isdisjoint(cue.words)]
    lowered = mention.text.lower() if cues else ""
    cue = next((cue for cue in cues if cue.pattern.match(lowered)), None)
    # a word of the text names a type that the schema accepts
    granted = (_type_words()[word.lower()] for word in _PATTERNS.granted.findall(mention.text))
    if cue is None or any(types & widened(accepted.types) for types in granted):
        return None
    # "Whether to notify: `all` or `none`" is a string of named values
    if accepted.types == {"string"} and _is_excused(mention, accepted, cue):
        return None
    return _type_clash(mention, cue.type_name, accepted, is_plain=False)


def _is_excused(mention: ParameterMention, accepted: Accepted, cue: TypeCue) -> bool:
    """Text that may well carry a number or a truth value: one of known strings, or of those that the text names."""
    if accepted.values is not None:
        is_truth = "boolean" in cue.kinds and _TRUE.search(mention.text) is not None
        return not is_truth or {str(value).lower() for value in accepted.values} >= {"true", "false"}
    if "boolean" in cue.kinds:
        quoted = (match[match.lastindex or 0] for match in _PATTERNS.quoted.finditer(mention.text))
        listed = (item for row in _lists(mention.text, mention.kind) if row.is_stated for item, _ in row.items)
        return any(value.lower() not in _LITERALS for value in (*quoted, *listed))
    return _PATTERNS.quoted.search(mention.text) is not None


def _type_clash(mention: ParameterMention, word: str, accepted: Accepted, *, is_plain: bool) -> Clash:
    return Clash(mention=mention, claim=word, constraint=" or ".join(sorted(accepted.types)), is_plain=is_plain)


_ALTERNATIVE = lazy_pattern(r"\bor\s\w+\s$")
_SENTENCES = lazy_pattern(r"(?<=[.!?])\s+|\n")
_IF = lazy_pattern(r"\s*(?:if|when)\b", re.IGNORECASE)
_OPTIONAL = frozenset({"optional"})
_REQUIRED = frozenset({"required", "mandatory"})


class Topic(StrEnum):
    """Subject on which a text and a schema may contradict each other."""

    TYPE = "type"
    CHOICES = "choices"
    DEFAULT = "default"
    RANGE = "range"
    REQUIREMENT = "requirement"


def find_clashes(
    mentions: Sequence[ParameterMention], names: frozenset[str], root: Mapping[str, Any]
) -> Mapping[Topic, Sequence[Clash]]:
    """The clashes in everything that the texts of a tool say of its parameters; `names` are not values."""
    by_topic: dict[Topic, dict[tuple[str, str, str], Clash]] = {}
    accepted: dict[str, Accepted] = {}
    for mention in mentions:
        if mention.words.isdisjoint(_claim_words()) and _VALUED.isdisjoint(mention.node.schema):
            continue
        path = mention.node.path
        takes = accepted.get(path) or accepted.setdefault(path, accepted_values(mention.node.schema, root))
        clashes = (
            (Topic.TYPE, find_type_clash(mention, takes)),
            (Topic.CHOICES, find_choice_clash(mention, takes, names)),
            (Topic.DEFAULT, find_default_clash(mention, takes)),
            (Topic.RANGE, find_range_clash(mention, takes)),
            (Topic.REQUIREMENT, find_requirement_clash(mention)),
        )
        for topic, clash in clashes:
            if clash is not None:
                by_topic.setdefault(topic, {}).setdefault((mention.node.path, mention.path, clash.claim), clash)
    return {topic: tuple(topic_clashes.values()) for topic, topic_clashes in by_topic.items()}


_VALUED = frozenset("enum items anyOf oneOf allOf $ref format".split())
"""Keywords that may give a parameter a list of values or a form, which a text can contradict in any words."""

_FORMS = ("date", "uri")
"""Formats that a text contradicts by the name of another form."""


@cache
def _claim_words() -> frozenset[str]:
    """Words without one of which a text claims no type, default, range or requirement."""
    return _DEFAULTING.union(_OPTIONAL, _REQUIRED, DIGITS, _typing_words())


@cache
def _typing_words() -> frozenset[str]:
    """Words without one of which a text gives no type."""
    return frozenset(_type_words()).union(*(cue.words for cue in _cues()))


class StatedLimit(NamedTuple):
    """A limit that a text names: an upper or a lower one, with its unit and its words."""

    is_upper: bool
    value: float
    unit: str
    text: str


def find_range_clash(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """A limit that the text names and the schema's own limit of the same kind contradicts."""
    if not accepted.bounds or mention.words.isdisjoint(DIGITS):
        return None
    limits = find_limits(mention.text)
    for is_upper in (False, True):
        stated = [limit for limit in limits if limit.is_upper is is_upper]
        bound = _bound(accepted, is_upper=is_upper, units={limit.unit for limit in stated})
        if bound is None or not stated or any(limit.value == end for limit in stated for end in bound):
            continue
        schema_limit = f"{'maximum' if is_upper else 'minimum'} {bound[0]:g}"
        return Clash(mention=mention, claim=stated[0].text, constraint=schema_limit, is_plain=True)
    return None


@cached_by_text(1024)
def find_limits(text: str) -> Sequence[StatedLimit]:
    """The limits that a text names without a condition."""
    return [limit for sentence in _SENTENCES.split(text) if not _IF.match(sentence) for limit in _limits(sentence)]


def _limits(text: str) -> Iterator[StatedLimit]:
    for match in _PATTERNS.between.finditer(text):
        if _ALTERNATIVE.search(text, 0, match.start()):
            continue  # "items, or percent (1-100)" bounds the percent alone
        low, high = [value for key in "abcdefghij" if (value := match[key])]
        unit = (match["unit"] or "").strip().lower()
        # "from 10 to 1" is no range, nor is the date 12-01
        if _float(low) < _float(high):
            phrase = match[0].strip(" ([)],;").rpartition("[")[2]
            yield from (
                StatedLimit(is_upper, _float(end), unit, phrase) for is_upper, end in ((False, low), (True, high))
            )
    for pattern, is_upper in ((_PATTERNS.upper, True), (_PATTERNS.lower, False)):
        for match in pattern.finditer(text):
            unit = (match["unit"] or "").strip().lower()
            yield StatedLimit(is_upper, _float(match["value"]), unit, match[0].strip())


def _float(text: str) -> float:
    return float(text.replace(",", "") or 0)


def _bound(accepted: Accepted, *, is_upper: bool, units: set[str]) -> tuple[float, ...] | None:
    """The schema's limit as the texts may put it: an exclusive limit is also the next whole number."""
    bounds, side = accepted.bounds, "max" if is_upper else "min"
    if accepted.types <= {"integer", "number"}:
        # exclusiveMaximum 10 and "at most 9" agree
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
    match = getattr(_PATTERNS, f"{prefix}optional").search(first_line)
    # "List with keys: rating (1-5), verified (bool, optional)": a member is optional
    is_optional = match is not None and not (match[0][:1] == "(" and ":" in first_line[: match.start()])
    if node.is_required and "default" not in node.schema and is_optional:
        return Clash(mention=mention, claim="optional", constraint="required", is_plain=True)
    if not node.is_required and not is_optional and getattr(_PATTERNS, f"{prefix}required").search(first_line):
        return Clash(mention=mention, claim="required", constraint="optional", is_plain=True)
    return None


def conditional_needs(mentions: Sequence[ParameterMention], shape: Shape) -> Iterator[tuple[ParameterMention, str]]:
    """Yield optional parameters that a text requires for a value or with another parameter, with the text's words.

    "Required for 'open'", of an enum; a schema that branches may well enforce it.
    """
    names = {node.name for node in shape.tops} if _BRANCHING.isdisjoint(shape.root) else set()
    values = {value for node in shape.tops for value in node.schema.get("enum", ()) if isinstance(value, str)}
    for mention in mentions if names else ():
        node = mention.node
        may_need = node.is_top and not node.is_required and not mention.words.isdisjoint(_words("needing"))
        match = _PATTERNS.needed.search(mention.text) if may_need else None
        if match and not (names | values - {node.name}).isdisjoint(_NAMES.findall(match[0])):
            yield mention, match[0]


def open_identifiers(prose: Prose, shape: Shape, mentions: Sequence[ParameterMention]) -> Sequence[str]:
    """Return the optional parameters that identify one thing, `issueId` and `issueKey`; none if a text chooses.

    An `alias` beside a `series_id` may be one of that. What narrows a list, or is new, identifies nothing.
    """
    by_thing: dict[Sequence[str], list[Node]] = {}
    is_read = prose.language in ("en", None) and _BRANCHING.isdisjoint(shape.root)
    for node in shape.tops if is_read else ():
        *thing, last = name_parts(node.name or "") or ("",)
        kind, default = type_beside_null(node.schema)[0], node.schema.get("default")
        is_open = not node.is_required and kind in ("string", "integer", "number") and default in (None, "")
        if is_open and last in words_from("names", "identifiers") | _words("other_names"):
            by_thing.setdefault(tuple(thing), []).append(node)
    aliases = [node for node in by_thing.pop((), ()) if node.name in _words("other_names")]
    for nodes in by_thing.values():
        group = [*nodes, *aliases]
        is_id = any((node.name or "").lower().endswith("id") for node in nodes)
        words = frozenset(word for mention in mentions if mention.node in group for word in mention.words)
        kinds = {name_parts(node.name or "")[-1] for node in group}
        chosen = any(not (kinds.isdisjoint(line) or _words("choosing").isdisjoint(line)) for line in prose.spoken)
        if is_id and len(group) > 1 and not chosen and (_words("choosing") | _words("narrowing")).isdisjoint(words):
            return [node.name or "" for node in group]
    return []


def open_alternatives(texts: Iterable[tuple[str, str]], shape: Shape) -> Iterator[tuple[str, Sequence[str], str]]:
    """Yield optional parameters of which a text says that a call needs one: path of the text, names, words."""
    names = [node.name for node in shape.tops if node.name and not node.is_required]
    for path, text in texts if len(names) > 1 and _BRANCHING.isdisjoint(shape.root) else ():
        for match in _PATTERNS.alternatives.finditer(text) if "ither" in text or "ne of" in text.lower() else ():
            words = set(_NAMES.findall(match[0]))
            if len(named := [name for name in names if name in words]) > 1:
                yield path, named, " ".join(match["quote"].split())


_BRANCHING = frozenset("oneOf anyOf allOf if dependentRequired dependencies dependentSchemas".split())
_NAMES = lazy_pattern(r"[\w-]*\w")
