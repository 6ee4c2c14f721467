"""What a description tells of the parameters, beside what their schemas do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.facts.content.generic import IDLE
from tdqs_mcp.facts.content.sentences import Text
from tdqs_mcp.facts.subject import Subject

_CONSTRAINTS = frozenset("format pattern minimum maximum minLength maxLength minItems default".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Counts of words, and of top-level parameters."""

    explained: int
    """Content words of parameter lists in the text that the schema does not have."""

    listed: int
    """Top-level parameters with an entry of their own in the text."""

    named: int
    """Top-level parameters that a sentence which tells something names."""

    partly_named: int
    """Top-level parameters of which at least one word of the name stands in the text."""

    untold: int
    """Top-level parameters that have no description and no word of their name in the text."""

    schema_words: int
    """Content words of the parameters' descriptions that their names do not have, a parameter at the average."""

    structures: int
    """Top-level parameters that are objects, arrays, unions or references."""

    constrained: int
    """Top-level parameters with a format, a pattern, a bound or a default."""


def parameters(text: Text, subject: Subject) -> Parameters:
    """What text and schema say of each."""
    told, names = text.told, text.names
    listed = {each.entry for each in text.entries}
    idle = IDLE | text.own
    schemas = _schemas(subject.tool.input_schema)
    bare = [each.name for each in subject.signals.parameters if not each.description.strip()]
    return Parameters(
        explained=len(frozenset().union(*(each.added for each in text.entries))),
        listed=sum(name.lower() in listed for name in names),
        named=sum(name.lower() in told or (bool(words) and words <= told) for name, words in names.items()),
        partly_named=sum(not words.isdisjoint(told) for words in names.values()),
        untold=sum(names[name].isdisjoint(told) for name in bare),
        schema_words=_average(len(text.described[name] - idle - words) for name, words in names.items()),
        structures=sum(map(_is_structure, schemas)),
        constrained=sum(not _CONSTRAINTS.isdisjoint(schema) for schema in schemas),
    )


def _average(values: Iterable[int]) -> int:
    listed = list(values)
    return sum(listed) // max(1, len(listed))


def _schemas(schema: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The top-level properties that are schemas."""
    properties = (schema or {}).get("properties")
    children = properties.values() if isinstance(properties, Mapping) else ()
    return [child for child in children if isinstance(child, Mapping)]


def _is_structure(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in ("object", "array") or "anyOf" in schema or "$ref" in schema
