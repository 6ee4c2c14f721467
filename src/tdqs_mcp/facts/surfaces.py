"""Every string of a definition that an agent, a judge or a client may read, with its JSON pointer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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

    path: str
    """JSON pointer; a property's name is at the pointer of its value."""

    text: str
    is_key: bool = False
    """The string is a name that a schema gives, not a value."""

    is_prose: bool = True
    """People or agents read it as a text; False for names, and for values such as a type or a pattern."""


def strings(raw: object) -> list[str]:
    """The strings of a part, as `surfaces` gives them, without their places: what is looked through first."""
    found: list[str] = []
    pending = [raw]
    for value in pending:
        kind = type(value)
        if kind is str:
            found.append(value)  # type: ignore[arg-type]  # the exact type was just compared
        elif isinstance(value, Mapping):
            pending += value.values()
            found += value.keys() - _KEYWORDS
        elif isinstance(value, list | tuple):
            pending += value
        if len(pending) > 2 * MAX_STRINGS:
            return [surface.text for surface in surfaces(raw)]
    if len(found) > MAX_STRINGS or sum(map(len, found)) > MAX_CHARACTERS:
        return [surface.text for surface in surfaces(raw)]
    return found


def surfaces(raw: object) -> Iterator[Surface]:
    """The strings of a part, up to MAX_STRINGS of them and MAX_CHARACTERS in all.

    They come in the author's order, but those of an object before what its lists and objects hold: nothing can be
    buried under a long list that stands before it.
    """
    pending: list[tuple[str, str, object]] = [("", "", raw)]
    strings_left, characters_left, visits_left = MAX_STRINGS, MAX_CHARACTERS, 2 * MAX_STRINGS
    while pending and strings_left > 0 and characters_left > 0 and visits_left > 0:
        visits_left -= 1
        path, key, value = pending.pop()
        surface: Surface | None = None
        if isinstance(value, str):
            surface = Surface(path=path, text=value[:characters_left], is_prose=key not in _UNSPOKEN)
        elif isinstance(value, _Key):
            surface = Surface(path=path, text=value.text[:characters_left], is_key=True, is_prose=False)
        elif isinstance(value, Mapping):
            pending += _members(path, value)
        elif isinstance(value, list | tuple):
            pending += [(f"{path}/{index}", key, child) for index, child in reversed(list(enumerate(value)))]
        if surface is not None:
            strings_left -= 1
            characters_left -= len(surface.text)
            yield surface


@dataclass(frozen=True, slots=True)
class _Key:
    text: str


def _members(path: str, value: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    """The members in the order in which a stack gives back strings first, each key before its value."""
    last_first = list(value)[::-1]
    for key in sorted(last_first, key=lambda key: isinstance(value[key], str)):
        below = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        yield below, key, value[key]
        if key not in _KEYWORDS:
            yield below, key, _Key(key)
