"""Walks a definition's schemas once, and reads single keywords of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

MAX_SCHEMAS = 20_000
"""Schemas of one definition that are read; real definitions have fewer than 1,000."""

TYPES = frozenset("string number integer boolean array object null".split())

ANY_VALUE: Mapping[str, Any] = {}
NO_VALUE: Mapping[str, Any] = {"type": []}
"""The schemas that accept every value and no value."""

SINGLE_SCHEMAS = frozenset(
    "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties "
    "additionalItems".split()
)
SCHEMA_LISTS = frozenset("allOf anyOf oneOf prefixItems items".split())
NAMED_SCHEMAS = frozenset("properties patternProperties $defs definitions dependentSchemas".split())
_NESTING = SINGLE_SCHEMAS | SCHEMA_LISTS | NAMED_SCHEMAS


class Node(NamedTuple):
    """One schema inside a definition. A named tuple, because every tool has a dozen of them."""

    path: str
    """JSON pointer inside the definition."""

    schema: Mapping[str, Any]
    name: str | None
    """The property's name; None for items, branches and definitions."""

    is_required: bool
    """The object that has the property requires it."""

    is_top: bool
    """A parameter of the tool itself."""


class Shape(NamedTuple):
    """All schemas inside an input or output schema."""

    root: Mapping[str, Any]
    nodes: tuple[Node, ...]
    """Every schema, the root first."""

    names: frozenset[str]
    """The names of all properties, at any depth."""

    by_keyword: Mapping[str, Sequence[Node]]
    """Schemas by keyword, in order, so that rules skip absent keywords."""


def walk_schema(schema: Mapping[str, Any] | None, path: str) -> Shape:
    """The walked schema that stands at `path`; linear in its size, references are not followed."""
    root: Mapping[str, Any] = schema if schema is not None else {}
    nodes = [_plain(path, root)]
    by_keyword: dict[str, list[Node]] = {}
    for node in nodes:  # grows while it is walked
        for key in node.schema:
            by_keyword.setdefault(key, []).append(node)
        if not _NESTING.isdisjoint(node.schema) and len(nodes) < MAX_SCHEMAS:
            nodes.extend(_children(node, is_root=node.schema is root))
    names = frozenset(node.name for node in nodes if node.name is not None)
    return Shape(root=root, nodes=tuple(nodes), names=names, by_keyword=by_keyword)


def _children(node: Node, *, is_root: bool) -> Iterator[Node]:
    for key, value in node.schema.items():
        if key not in _NESTING:
            continue
        if key in NAMED_SCHEMAS and isinstance(value, dict):
            is_list = key == "properties"
            needed = _required(node.schema) if is_list else ()
            for name, child in value.items():
                if isinstance(child, dict):
                    yield Node(
                        f"{node.path}/{key}/{escape_step(name)}",
                        child,
                        name if is_list else None,
                        is_list and name in needed,
                        is_root and is_list,
                    )
        elif key in SINGLE_SCHEMAS and isinstance(value, dict):
            yield _plain(f"{node.path}/{key}", value)
        elif key in SCHEMA_LISTS and isinstance(value, list):
            for place, child in enumerate(value):
                if isinstance(child, dict):
                    yield _plain(f"{node.path}/{key}/{place}", child)


def _plain(path: str, schema: Mapping[str, Any]) -> Node:
    return Node(path, schema, None, False, False)  # noqa: FBT003  # a tuple in its own order


def _required(schema: Mapping[str, Any]) -> frozenset[str]:
    names = schema.get("required")
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def escape_step(name: str) -> str:
    """A key as a JSON pointer's step (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


def split_pointer(path: str) -> list[str]:
    """The steps of a JSON pointer (RFC 6901)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def resolve_reference(root: Mapping[str, Any], reference: str) -> Any:  # noqa: ANN401  # whatever stands there
    """What a local reference points at: by JSON pointer, `#` itself, or `$anchor`. Raises LookupError."""
    pointer = unquote(reference[1:])
    if not reference.startswith("#") or (pointer and not pointer.startswith("/")):
        raise LookupError(reference)
    value: Any = root
    for key in split_pointer(pointer):
        if isinstance(value, dict):
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and len(key) < 8:
            value = value[int(key)]
        else:
            raise LookupError(reference)
    return value


def referenced_schema(root: Mapping[str, Any], reference: str) -> Mapping[str, Any] | None:
    """The schema that a local reference points at; None if there is no such object."""
    try:
        target = resolve_reference(root, reference)
    except LookupError:
        return None
    return target if isinstance(target, dict) else None


def type_of(value: object) -> str:
    """The JSON Schema type of a parsed JSON value; a whole float is an integer."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "array" if isinstance(value, list | tuple) else "object"


def number_of(value: object) -> int | float | None:
    """A JSON number, which a Boolean is not; None for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def schema_of(value: object) -> Mapping[str, Any]:
    """The value as a schema: false accepts nothing; true, an absent or an invalid schema accepts anything."""
    if isinstance(value, Mapping):
        return value
    return NO_VALUE if value is False else ANY_VALUE


def required_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that an object must have."""
    names = schema.get("required")
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str))) if isinstance(names, list) else ()


def keyword_members(schema: Mapping[str, Any], keyword: str = "properties") -> Mapping[str, Any]:
    """The object below a keyword; empty if there is none."""
    found = schema.get(keyword)
    return found if isinstance(found, Mapping) else {}
