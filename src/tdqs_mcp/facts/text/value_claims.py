"""Claims of a text about a parameter's allowed values and its default."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from tdqs_mcp.facts.schema.walk import Accepted
from tdqs_mcp.facts.text.parameter_mentions import Clash, MentionKind, ParameterMention, words_in
from tdqs_mcp.facts.text.vocabulary import PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.text.words import first_of

_PATTERNS = PatternTable("claims")
_words = partial(words_from, "claims")

MAX_LISTED = 60
"""Values of one list that are compared."""

MAX_SHORT = 160
"""Characters of a description that does little else than to list the values."""

_VALUE = lazy_pattern(r"[\w$][\w.$+/\-]{0,60}")
_ENDS = lazy_pattern(r"\s*(?:$|[.,;)\]\n])")
_MARKED_LISTS = (
    ("([{", "parenthesized_list"),
    ("|", "piped_list"),
    ("", "example_list"),
    (":", "glossed_list"),
    ("、", "chinese_list"),
)
"""Patterns of lists, each with the characters of which a text has one."""

_DEFAULTING = frozenset({"default", "defaults", "defaulted", "defaulting"})
_SAME = {"ascending": "asc", "descending": "desc"}


def find_choice_clash(mention: ParameterMention, accepted: Accepted, names: frozenset[str]) -> Clash | None:
    """Values that the text lists and the schema does not allow; `names` are names of other things."""
    values = accepted.values if accepted.values is not None else accepted.item_values
    if not values or accepted.types == {"boolean"}:
        return None
    spelled = tuple(spell(value) for value in values)
    known = frozenset(spelled)
    strange = _strange(mention, known, names)
    if not strange:
        return None
    return Clash(mention=mention, said=listing(strange), held=listing(list(dict.fromkeys(spelled))), is_plain=True)


def _strange(mention: ParameterMention, known: frozenset[str], names: frozenset[str]) -> list[str]:
    found: dict[str, None] = {}
    folded = {value.lower() for value in known}
    for listed, is_stated in _lists(mention.text, mention.kind, known):
        is_recased = not any(item in known for item, _ in listed) and all(
            item.lower() in folded and not item.istitle() for item, _ in listed
        )
        strange = [item for item, is_quoted in listed if not _is_member(item, known, is_quoted=is_quoted or is_recased)]
        is_overlapping = len(strange) < len(listed) or (is_recased and len(listed) > 1)
        # Words in one spelling in a row mean values, even where no member is among them.
        is_row = len(strange) > 2 and all(item.islower() or item.isdigit() for item in strange)
        is_shouted = len(strange) > 1 and all(item.isupper() for item in strange)
        if is_stated or is_overlapping or is_row or is_shouted:
            found |= dict.fromkeys(item for item in strange if item not in names)
    if mention.kind is not MentionKind.SENTENCE:
        found |= dict.fromkeys(item for item in _quoted(mention.text, known) if item not in names)
    held = [value for value in known if value in mention.text]
    return [
        item for item in found if not any(item in value for value in held) or _stands_apart(item, held, mention.text)
    ]


def _stands_apart(item: str, held: Sequence[str], text: str) -> bool:
    """It is part of a member, and stands there without it as well."""
    rest = text
    for value in sorted(held, key=len, reverse=True):
        rest = rest.replace(value, "\n")
    return _stands_in(item, rest)


def _quoted(text: str, known: frozenset[str]) -> list[str]:
    """Quoted words that look like values: in the quotes that members stand in, or in any where no member is named."""
    quoted = [(match[0][0], match[0][1:-1]) for match in _PATTERNS.quoted.finditer(text)]
    marks = {mark for mark, item in quoted if item in known}
    if not quoted or (not marks and any(_stands_in(value, text) for value in known if value)):
        return []
    return [
        item
        for mark, item in quoted
        if (mark in marks or not marks) and _VALUE.fullmatch(item) and not _is_member(item, known, is_quoted=True)
    ]


def _stands_in(value: str, text: str) -> bool:
    """As a word of its own."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not (_is_wordy(text[max(0, start - 1) : start]) or _is_wordy(text[end : end + 1])):
            return True
        start = text.find(value, end)
    return False


def _is_wordy(char: str) -> bool:
    return char.isalnum() or char == "_"


@lru_cache(maxsize=4096)
def _lists(text: str, kind: MentionKind, known: frozenset[str]) -> Sequence[tuple[list[tuple[str, bool]], bool]]:
    """The lists of a text, each item with whether it is quoted; and whether the text calls it a list of values."""
    stated = () if words_in(text).isdisjoint(_words("announcing")) else _PATTERNS.announced_list.finditer(text)
    found = [(_items(match["list"]), True) for match in stated]
    if kind is not MentionKind.SENTENCE:
        found += [([_unquoted(item)], True) for item in (_PATTERNS.set_to.findall(text) if " to " in text else ())]
        keys = [key for signs, key in _MARKED_LISTS if not signs or any(sign in text for sign in signs)]
        found += [(_items(match["list"]), False) for key in keys for match in getattr(_PATTERNS, key).finditer(text)]
        found += [(items, False) for items in _loose_lists(text, known)]
    return found


def _loose_lists(text: str, known: frozenset[str]) -> Iterator[list[tuple[str, bool]]]:
    """Lists that only their members show: a word at the start of sentences, a row of words, bullets."""
    openers = [(one or other, False) for one, other in _PATTERNS.openers.findall(text)]
    if any(word in known for word, _ in openers):
        is_lower = all(value == value.lower() for value in known)
        yield [each for each in openers if each[0].islower() is is_lower]
    for match in _PATTERNS.enumeration.finditer(text) if "," in text else ():
        items = _items(match[0])
        if 2 * sum(item in known for item, _ in items) >= max(4, len(items)):
            yield items
    for match in _PATTERNS.either.finditer(text) if len(text) < MAX_SHORT else ():
        if (match[1] in known) is not (match[2] in known):
            yield _items(f"{match[1]}, {match[2]}")
    named = _PATTERNS.option.findall(text) if "the" in text.lower() else ()
    ordinals = _words("ordinals")
    options = [(" ".join(item.split()), False) for item in named if item.lower() not in ordinals]
    if len(options) > 1 and any(item in known for item, _ in options):
        yield options
    pairs = [_unquoted(item) for item in _PATTERNS.paired.findall(text)] if "=" in text else []
    if len(pairs) > 1 and any(item in known for item, _ in pairs):
        yield pairs
    tail = text.partition(":")[2].partition(".")[0]
    heads = [(head, False) for head in _PATTERNS.heads.findall(tail)] if tail else []
    if 2 * sum(item in known for item, _ in heads) >= max(4, len(heads)):
        yield heads
    bullets = [_unquoted(item) for item in _PATTERNS.bullet.findall(text)]
    if len(bullets) > 1:
        yield bullets


def _items(text: str) -> list[tuple[str, bool]]:
    items = [_unquoted(item) for item in _PATTERNS.items.findall(text)[:MAX_LISTED]]
    if any(is_quoted for _, is_quoted in items):
        return [(item, is_quoted) for item, is_quoted in items if is_quoted]
    no_values = _words("no_values")
    return [(item, is_quoted) for item, is_quoted in items if item.lower().rstrip(".") not in no_values]


def _unquoted(item: str) -> tuple[str, bool]:
    is_quoted = item[0] in "`'\"“"
    return (item[1:-1] if is_quoted else item.rstrip(".")), is_quoted


def _is_member(item: str, known: frozenset[str], *, is_quoted: bool) -> bool:
    if item in known:
        return True
    if is_quoted:
        return item in ("null", "")
    if item.lower() in ("null", "none", "undefined"):
        return True
    lowered = item.lower()
    return _SAME.get(lowered, lowered) in {value.lower() for value in known}


def find_default_clash(mention: ParameterMention, accepted: Accepted) -> Clash | None:
    """A default that the text names and the schema's own `default` contradicts; null and "" say that none is set."""
    if "default" not in mention.node.schema or mention.words.isdisjoint(_DEFAULTING):
        return None
    held = mention.node.schema["default"]
    if held is None or held in ("", [], {}) or isinstance(held, list | dict):
        return None
    said = [match for pattern in (_PATTERNS.default, _PATTERNS.by_default) for match in pattern.finditer(mention.text)]
    values = frozenset(map(spell, accepted.values or ()))
    literals = [each for match in said if (each := _literal(match, mention.text, held, values)) is not None]
    if not literals or any(_equal(literal, held) for literal in literals):
        return None
    return Clash(mention=mention, said=literals[0], held=spell(held), is_plain=True)


def _literal(match: re.Match[str], text: str, held: object, values: frozenset[str]) -> str | None:
    """The value, where it is one: quoted, a number, a truth value, or a word that ends its clause."""
    value = match["value"]
    if value[0] in "`'\"":
        return value[1:-1]
    bare = value.rstrip(".,")
    rest = text[match.start("value") + len(bare) :]
    if re.fullmatch(r"-?\d[\d,_]*(?:\.\d+)?", bare):
        return None if rest[:1].isalpha() or rest[:1] in ("/", ":", "-") else bare
    if bare.lower() in ("true", "false"):
        return bare
    if not isinstance(held, str) or bare.lower() in _words("no_defaults") or not _ENDS.match(rest):
        return None
    # `instance-dependent` and `API_KEY` are remarks beside `all` and `U0`.
    is_joined = "-" in bare and "-" not in held
    is_constant = "_" in bare and bare.isupper() and not held.isupper()
    return bare if bare in values or not (is_joined or is_constant) else None


def _equal(said: str, held: object) -> bool:
    spelled = spell(held)
    if said.strip().lower() == spelled.lower():
        return True
    try:
        return float(said.replace(",", "").replace("_", "")) == float(spelled)
    except ValueError:
        return isinstance(held, bool) and said.lower() in _TRUTH[held]


_TRUTH = {True: ("yes", "on", "enabled", "1"), False: ("no", "off", "disabled", "0")}


def spell(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """A JSON value as a text spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def listing(values: Sequence[str]) -> str:
    """The first six of some values, shortened."""
    return first_of([value if len(value) <= 40 else f"{value[:39]}…" for value in values], 6)
