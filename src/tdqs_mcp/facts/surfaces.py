"""Every string of a definition that an agent, a judge or a client may read, with its JSON pointer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

MAX_STRINGS = 50_000
"""Strings of one definition that are read; the longest real one has fewer than 2,000."""

MAX_CHARACTERS = 2_000_000
"""Characters of one definition that are read; the longest real one has 60,000."""

_UNSPOKEN = frozenset({"type", "format", "$ref", "$schema", "required", "propertyNames"})
"""Schema keywords whose values are words of JSON Schema, or names that stand among the properties already."""

_KEYWORDS = _UNSPOKEN | frozenset(
    "name title description inputSchema outputSchema annotations properties items enum default anyOf oneOf allOf not "
    "additionalProperties const examples pattern minimum maximum minLength maxLength minItems maxItems uniqueItems "
    "exclusiveMinimum exclusiveMaximum multipleOf $defs definitions execution taskSupport _meta icons "
    "readOnlyHint destructiveHint idempotentHint openWorldHint arguments uri uriTemplate mimeType size".split()
)
"""Keys that MCP and JSON Schema give themselves: nobody can say anything with them."""


class Surface(NamedTuple):
    """One string of a definition; a tuple, for a catalog has a hundred thousand of them."""

    place: "_Place"
    text: str
    is_key: bool = False
    """The string is a name that a schema gives, not a value."""

    is_prose: bool = True
    """People or agents read it as a text; False for names, and for values such as a type or a pattern."""

    @property
    def name(self) -> str:
        """The key of the value where the author chose it; empty where MCP or JSON Schema did, and in lists."""
        key = self.place[1] if self.place else ""
        return key if isinstance(key, str) and key not in _KEYWORDS else ""

    @property
    def path(self) -> str:
        """JSON pointer; a property's name is at the pointer of its value."""
        keys: list[str] = []
        place: _Place | None = self.place
        while place:
            place, key = place
            keys.append(str(key).replace("~", "~0").replace("/", "~1"))
        return "".join(f"/{key}" for key in reversed(keys))


_Place = tuple["_Place", str | int] | tuple[()]
"""Where a value stands: in what, and under which key there. A pointer is spelled out when somebody asks for it."""


def strings(raw: object) -> list[str]:
    """The strings of a part, as `surfaces` gives them, without their places: what is looked through first."""
    found: list[str] = []
    pending = [raw]
    names: set[int] = set()
    for value in pending:
        kind = type(value)
        if kind is str:
            found.append(value)  # type: ignore[arg-type]  # the exact type was just compared
        elif kind is dict:
            pending += value.values()  # type: ignore[attr-defined]
            names |= _list_of_names(value)  # type: ignore[arg-type]
            found += value.keys() - _KEYWORDS  # type: ignore[attr-defined]
        elif kind is list:
            if len(pending) > MAX_STRINGS:
                break
            pending += value  # type: ignore[arg-type]
            found += _sentence(value) if id(value) not in names else []  # type: ignore[arg-type]
    if len(pending) > MAX_STRINGS or sum(map(len, found)) > MAX_CHARACTERS:
        return [surface.text for surface in surfaces(raw)]
    return found


def _list_of_names(schema: Mapping[str, object]) -> set[int]:
    """The identity of a schema's list of required properties that it has: these are names already."""
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, Mapping):
        return set()
    return {id(required)} if all(isinstance(each, str) and each in properties for each in required) else set()


def _sentence(values: Sequence[object]) -> list[str]:
    """A list of single words or codes read on, as the sentence that they may be; a list of values says nothing so."""
    if MIN_WORDS <= len(values) <= MAX_WORDS and all(map(_is_word, values)):
        return [" ".join(values)]  # type: ignore[arg-type]  # just looked at
    if MIN_CODES <= len(values) <= MAX_CODES and all(map(_is_code, values)):
        return [" ".join(map(str, values))]
    return []


def _is_word(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_WORD and value.isalpha()


def _is_code(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and _CODE.fullmatch(value) is not None)


MIN_WORDS, MAX_WORDS, MAX_WORD = 5, 60, 20
"""Words of such a list, and characters of one."""

MIN_CODES, MAX_CODES = 10, 2_000
"""Numbers of characters, or letters of two signs, in such a list."""

_CODE = re.compile(r"(?:0x|[Uu]\+|\\u|&#x?)?[0-9A-Fa-f]{2,8};?|[^\w\s]{1,8}")


def surfaces(raw: object) -> Iterator[Surface]:
    """The strings of a part, up to MAX_STRINGS of them and MAX_CHARACTERS in all.

    They come level by level, and on a level in the author's order: nothing can be buried under a long list that stands
    before it but further down.
    """
    pending: list[tuple[_Place, str, object]] = [((), "", raw)]
    strings_left, characters_left = MAX_STRINGS, MAX_CHARACTERS
    names: set[int] = set()
    for place, key, value in pending:
        if isinstance(value, str):
            yield Surface(place, value[:characters_left], is_prose=key not in _UNSPOKEN)
            strings_left -= 1
            characters_left -= len(value)
        elif isinstance(value, Mapping):
            names |= _list_of_names(value)
            for name, child in value.items():
                below = (place, name)
                pending.append((below, name, child))
                if name not in _KEYWORDS:
                    yield Surface(below, name[:characters_left], is_key=True, is_prose=False)
                    strings_left -= 1
                    characters_left -= len(name)
        elif isinstance(value, list | tuple):
            room = max(0, 2 * MAX_STRINGS - len(pending))
            pending += [((place, index), key, child) for index, child in enumerate(value[:room])]
            for sentence in _sentence(value) if id(value) not in names else ():
                yield Surface(place, sentence, is_prose=key not in _UNSPOKEN)
                strings_left -= 1
                characters_left -= len(sentence)
        if strings_left <= 0 or characters_left <= 0:
            return
