"""A claim of a text about a parameter, and its clash with the schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tdqs_mcp.facts.sayings import Origin, Saying, words_in
from tdqs_mcp.facts.schema.walk import Accepted
from tdqs_mcp.facts.text.words import first_of


class Claim(NamedTuple):
    """What a text says of a parameter, beside what the schema accepts."""

    saying: Saying
    accepted: Accepted
    names: frozenset[str]
    """Words that are names of other things: parameters, the tool itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A statement that the schema contradicts."""

    saying: Saying
    said: str
    """What the text says, in few words."""

    held: str
    """What the schema says."""

    is_plain: bool
    """The text states it outright; else it is only what its words amount to."""


def demands(text: str, origin: Origin) -> bool:
    """A word or a parenthesis without which no type is stated outright."""
    if origin is Origin.OWN:
        return not words_in(text).isdisjoint(_DEMANDS)
    return origin is Origin.ENTRY or "(" in text or not words_in(text).isdisjoint(_SPOKEN_DEMANDS)


_DEMANDS = frozenset(
    "must should shall has have needs accepts accept expects expect takes requires require pass passed provide "
    "provided give given specify "
    "specified supply supplied sent send enter entered encoded formatted type".split()
)
_SPOKEN_DEMANDS = _DEMANDS | {"is", "set", "setting"}


NEGATIONS = ("not ", "n't ", "never ")


def spell(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """A JSON value as a text spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def listing(values: Sequence[str]) -> str:
    """The first six of some values, shortened."""
    return first_of([value if len(value) <= 40 else f"{value[:39]}…" for value in values], 6)
