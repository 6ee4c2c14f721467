"""Whether a schema is one, by the meta-schema of the draft that it declares; costs more than other facts."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tdqs_mcp.canonical import canonical_json, is_well_formed, replace_surrogates
from tdqs_mcp.facts.schema.walk import MAX_SCHEMAS, TYPES, Shape

DRAFTS = frozenset(
    f"{scheme}://json-schema.org/{draft}"
    for scheme in ("http", "https")
    for draft in (
        "draft-04/schema",
        "draft-06/schema",
        "draft-07/schema",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    )
)
"""Drafts that can be checked; MCP takes 2020-12 where `$schema` is absent (MCP 2025-11-25, JSON Schema usage)."""


class Validity:
    """Answers about schemas, remembered for one catalog: generated tools repeat the same schema."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str] | None] = {}

    def flaw(self, shape: Shape) -> tuple[str, str] | None:
        """Where the first flaw lies, as a JSON pointer inside the schema, and what it is; None for a valid schema."""
        if _is_ordinary(shape):
            return None
        key = canonical_json(shape.root)
        if key not in self._known:
            self._known[key] = _flaw(shape.root)
        return self._known[key]


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _are_schemas(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _is_choice(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and 0 < len(set(value)) == len(value)


def _is_type(value: object) -> bool:
    return (isinstance(value, str) and value in TYPES) or (_are_names(value) and TYPES.issuperset(value))  # type: ignore[arg-type]  # names are strings


def _is_anything(_value: object) -> bool:
    return True


_ORDINARY: dict[str, Callable[[object], bool]] = (
    dict.fromkeys(("description", "title", "format"), _is_text)
    | dict.fromkeys(("properties", "$defs"), _are_schemas)
    | dict.fromkeys(("anyOf", "oneOf", "allOf"), _is_choice)
    | {"items": _is_schema}
    | dict.fromkeys(("minimum", "maximum"), _is_number)
    | dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count)
    | {"type": _is_type, "required": _are_names, "default": _is_anything, "const": _is_anything}
    | {"enum": lambda value: isinstance(value, list) and bool(value), "additionalProperties": _is_schema}
    | {"$schema": lambda value: isinstance(value, str) and value.rstrip("#") in DRAFTS and "draft-04" not in value}
)
"""Keywords with values that every draft since 6 allows: nine schemas in ten have no others and need no library."""


def _is_ordinary(shape: Shape) -> bool:
    """Plainly valid in every draft: a cheap answer, and the only one that most schemas need."""
    return (
        shape.by_keyword.keys() <= _ORDINARY.keys()
        and len(shape.nodes) < MAX_SCHEMAS
        and all(
            is_fit(node.schema[keyword]) for keyword, is_fit in _checks(shape) for node in shape.by_keyword[keyword]
        )
    )


def _checks(shape: Shape) -> Iterator[tuple[str, Callable[[object], bool]]]:
    """What has to be looked at; a default may be anything."""
    return ((keyword, _ORDINARY[keyword]) for keyword in shape.by_keyword if _ORDINARY[keyword] is not _is_anything)


def _encodable(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  # the schema as JSON
    """The schema as the library can read it: a string that UTF-8 cannot carry is a finding of another rule."""
    text = json.dumps(schema, ensure_ascii=False)
    return schema if is_well_formed(text) else json.loads(replace_surrogates(text))


def _flaw(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    declared = schema.get("$schema")
    if declared is not None and (not isinstance(declared, str) or declared.rstrip("#") not in DRAFTS):
        return "/$schema", "it is no draft of JSON Schema that MCP names"
    from jsonschema_rs import ValidationError, meta  # noqa: PLC0415  # a library that only unusual schemas need

    try:
        meta.validate(_encodable(schema))
    except ValidationError as error:
        pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.instance_path)
        return pointer, " ".join(error.message.split())[:200]
    return None
