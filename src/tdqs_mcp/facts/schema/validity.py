"""Whether a schema is valid by the meta-schema of the draft that it declares; costs more than other facts."""

import json
from collections.abc import Callable
from functools import lru_cache

from tdqs_mcp.canonical import canonical_json, is_well_formed, replace_surrogates
from tdqs_mcp.facts.schema.walk import MAX_SCHEMAS, TYPES, Shape, number_of

_NAMES = ("draft-04/schema", "draft-06/schema", "draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema")
DRAFTS = frozenset(f"{scheme}://json-schema.org/{name}" for scheme in ("http", "https") for name in _NAMES)
"""Drafts that can be checked; MCP takes 2020-12 where `$schema` is absent (MCP 2025-11-25, JSON Schema usage)."""


def find_flaw(shape: Shape) -> tuple[str, str] | None:
    """Where the first flaw lies, as a JSON pointer inside the schema, and what it is; None for a valid schema."""
    return None if _is_ordinary(shape) else _validate(canonical_json(shape.root))


def _is_ordinary(shape: Shape) -> bool:
    """Plainly valid in every draft: a cheap answer, and the only one that most schemas need."""
    checks = ((keyword, _ORDINARY[keyword]) for keyword in shape.by_keyword.keys() & _ORDINARY.keys())
    return (
        shape.by_keyword.keys() <= _ORDINARY.keys() | _ANYTHING
        and len(shape.nodes) < MAX_SCHEMAS
        and all(is_fit(node.schema[keyword]) for keyword, is_fit in checks for node in shape.by_keyword[keyword])
    )


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _are_schemas(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _is_choice(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and 0 < len(set(value)) == len(value)


def _is_type(value: object) -> bool:
    return (isinstance(value, str) and value in TYPES) or (_are_names(value) and TYPES.issuperset(value))  # type: ignore[arg-type]  # names are strings


_ANYTHING = frozenset({"default", "const"})
_ORDINARY: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("description", "title", "format"), _is_text),
    **dict.fromkeys(("properties", "$defs"), _are_schemas),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _is_choice),
    **dict.fromkeys(("items", "additionalProperties"), _is_schema),
    **dict.fromkeys(("minimum", "maximum"), lambda value: number_of(value) is not None),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    "type": _is_type,
    "required": _are_names,
    "enum": lambda value: isinstance(value, list) and bool(value),
    "$schema": lambda value: isinstance(value, str) and value.rstrip("#") in DRAFTS and "draft-04" not in value,
}
"""Keywords with values that every draft since 6 allows: nine schemas in ten have no others and need no library."""


@lru_cache(maxsize=1024)
def _validate(text: str) -> tuple[str, str] | None:
    """The same for any schema as canonical JSON; kept, because generated tools repeat the same schema."""
    schema = json.loads(text)
    declared = schema.get("$schema")
    if declared is not None and (not isinstance(declared, str) or declared.rstrip("#") not in DRAFTS):
        return "/$schema", "it is no draft of JSON Schema that MCP names"
    from jsonschema_rs import ValidationError, meta  # noqa: PLC0415  # a library that only unusual schemas need

    plain = json.dumps(schema, ensure_ascii=False)  # the library refuses lone surrogates, which another rule reports
    try:
        meta.validate(schema if is_well_formed(plain) else json.loads(replace_surrogates(plain)))
    except ValidationError as error:
        pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.instance_path)
        return pointer, " ".join(error.message.split())[:200]
    return None
