"""Worse definitions, made on purpose: what a selection test must notice."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tdqs_mcp.facts.text.words import name_parts
from tdqs_mcp.model.catalog import Catalog, read_tools
from tdqs_mcp.model.mutation import Mutation

KEPT = 40
"""Characters that truncation leaves of each text: a line of a menu."""

Wording = Callable[[str, str], str]
"""The new text for a name and an old text."""


def mutate(catalog: Catalog, mutation: Mutation) -> Catalog:
    """The catalog with every definition made worse; names, types and everything but texts stay as they are.

    `distractors` leaves them and adds, behind the others, a truncated near-duplicate of each under a name of its own.
    """
    raws = [tool.raw for tool in catalog.tools]
    if mutation is not Mutation.DISTRACTORS:
        return replace(catalog, tools=read_tools([_reworded(raw, _WORDINGS[mutation]) for raw in raws]))
    named = [tool.raw | {"name": f"{tool.name}_v2"} for tool in catalog.tools if tool.name]
    return replace(catalog, tools=read_tools([*raws, *(_reworded(raw, _truncated) for raw in named)]))


def _reworded(raw: Any, wording: Wording) -> Any:  # noqa: ANN401  # foreign JSON
    if not isinstance(raw, Mapping):
        return raw
    reworded = {**raw, "description": wording(str(raw.get("name")), _string(raw.get("description")))}
    schema = raw.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(schema, Mapping) and isinstance(properties, Mapping):
        parameters = {name: _parameter(name, entry, wording) for name, entry in properties.items()}
        reworded["inputSchema"] = {**schema, "properties": parameters}
    return reworded


def _parameter(name: str, entry: Any, wording: Wording) -> Any:  # noqa: ANN401
    if not isinstance(entry, Mapping) or not isinstance(entry.get("description"), str):
        return entry
    return {**entry, "description": wording(name, entry["description"])}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _truncated(_: str, text: str) -> str:
    return text[:KEPT]


def _generic(name: str, _: str) -> str:
    """The name again: what a description says whose author had nothing to say."""
    return f"The {' '.join(name_parts(name))}."


def _blank(_: str, __: str) -> str:
    return ""


_WORDINGS: Mapping[Mutation, Wording] = {
    Mutation.TRUNCATE: _truncated,
    Mutation.GENERIC: _generic,
    Mutation.BLANK: _blank,
}
