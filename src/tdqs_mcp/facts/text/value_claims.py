"""Claims of a text about a parameter's allowed values and its default."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import PatternTable, cached_by_text, lazy_pattern, words_from
from tdqs_mcp.facts.schema.walk import Accepted
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.text.parameter_mentions import Clash, MentionKind, ParameterMention, words_in

_PATTERNS = PatternTable("claims")
_words = partial(words_from, "claims")

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
    """Each with whether it is quoted."""

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
    known = frozenset(spelled)
    strange = [item for each in _lists(mention.text, mention.kind) for item in _strange(each, known, mention.text)]
    found = [item for item in dict.fromkeys(strange) if item not in names]
    return Clash(mention=mention, said=listing(found), held=listing(spelled), is_plain=True) if found else None


def named_values(mention: ParameterMention) -> frozenset[str]:
    """The values that a text quotes or says that it lists, in lower case."""
    quoted = (match[match.lastindex or 0] for match in _PATTERNS.quoted.finditer(mention.text))
    listed = (item for each in _lists(mention.text, mention.kind) if each.is_stated for item, _ in each.items)
    return frozenset(value.lower() for value in (*quoted, *listed))


def _strange(listed: _List, known: frozenset[str], text: str) -> list[str]:
    """The items that are not members; none where the row does not show that it is about this parameter's values."""
    items = listed.items
    folded = {value.lower() for value in known}
    members = [item for item, _ in items if item in known]
    alike = [item for item, _ in items if item.lower() in folded]
    is_quoted = any(is_quoted for _, is_quoted in items)
    is_about = 2 * len(alike) >= len(items) and len(alike) > (not is_quoted)
    if is_about and not is_quoted:
        is_about = known.isdisjoint(match[0][1:-1] for match in _PATTERNS.quoted.finditer(text))
    # "Ascending or Descending" are words; ASC and DESC, where the schema has asc and desc, are values.
    is_recased = not members and len(alike) == len(items) and not any(item.istitle() for item in alike)
    if not (listed.is_stated or is_about):
        return []
    is_exact = is_quoted or is_recased
    strange = [item for item, _ in items if (item not in known if is_exact else item.lower() not in folded)]
    return [item for item in strange if item.lower() not in _NOTHING and _SEPARATORS.isdisjoint(item)]


@cached_by_text(1024)
def _lists(text: str, kind: MentionKind) -> Sequence[_List]:
    """The rows of values in a text; in a sentence that only names the parameter, those that it calls its values."""
    found: list[_List] = []
    if not words_in(text).isdisjoint(_words("announcing")):
        found += [_List(_items(match["list"]), is_stated=True) for match in _PATTERNS.announced_list.finditer(text)]
    if kind is not MentionKind.SENTENCE and ("," in text or "|" in text or "/" in text or " or " in text):
        found += [_List(_items(match["list"]), is_stated=False) for match in _PATTERNS.row.finditer(text)]
    if kind is MentionKind.OWN:
        explained = [_unquoted(one or other) for one, other in _PATTERNS.explained.findall(text)[:MAX_LISTED]]
        found += [_List(explained, is_stated=False)] if len(explained) > 1 else []
    return found


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


def stated_default(text: str) -> str | None:
    """The number or truth value that a text gives as the default; None for any other."""
    found = _PATTERNS.default.finditer(text) if "efault" in text else ()
    values = (literal for match in found if (literal := _literal(match, text, 0, frozenset())) is not None)
    return next(values, None)


def _literal(match: re.Match[str], text: str, held: object, values: frozenset[str]) -> str | None:
    """The value, where it is one: quoted, a number, a truth value, or a word that ends its clause."""
    value = match["value"]
    if _OF_ANOTHER.search(text, 0, match.start()):
        return None
    if value[0] in "`'\"":
        return value[1:-1] if isinstance(held, str) or value[1:-1].lower() in _LITERALS or value[1].isdigit() else None
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
    is_constant = "_" in bare and bare.isupper()
    return bare if bare in values or not (is_joined or is_constant) else None


def _equal(said: str, held: object) -> bool:
    spelled = spell(held)
    if said.strip().lower() == spelled.lower():
        return True
    try:
        return float(said.replace(",", "").replace("_", "")) == float(spelled)
    except ValueError:
        return isinstance(held, bool) and said.lower() in _TRUTH[held]


_OF_ANOTHER = lazy_pattern(r"[A-Za-z]\w*_\w+`{0,2}\s*\($")
"""`LIMIT_MAX (default 100)` speaks of another name."""

_LITERALS = frozenset({"true", "false"})
_TRUTH = {True: ("yes", "on", "enabled", "1"), False: ("no", "off", "disabled", "0")}


def spell(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """A JSON value as a text spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def listing(values: Sequence[str]) -> str:
    """The first six of some values, shortened."""
    return first_of([value if len(value) <= 40 else f"{value[:39]}…" for value in values], 6)
