"""Walks a definition's schemas once, reads their keywords, and says what a property accepts with all its branches."""

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
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


class Deviation(NamedTuple):
    """A place where a definition departs from its format or from an older version of itself."""

    path: str
    """JSON pointer inside the definition, or relative to the schemas that were compared."""

    message: str
    """Problem at the place, in few words."""

    change: str = ""
    """Kind of change between two versions, such as `removed-parameter`; empty for a departure from the format."""


class Node(NamedTuple):
    """A schema inside a definition; a named tuple, because every tool has a dozen of them."""

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

    tops: tuple[Node, ...]
    """The properties of the root: the parameters of a tool, the fields of its result."""


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
    tops = tuple(node for node in nodes if node.is_top)
    return Shape(root=root, nodes=tuple(nodes), names=names, by_keyword=by_keyword, tops=tops)


def _children(node: Node, *, is_root: bool) -> Iterator[Node]:
    for key, value in node.schema.items():
        if key not in _NESTING:
            continue
        if key in NAMED_SCHEMAS and isinstance(value, dict):
            is_list = key == "properties"
            needed = frozenset(required_names(node.schema)) if is_list else frozenset()
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


def escape_step(name: str) -> str:
    """A key as a JSON pointer's step (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


def split_pointer(path: str) -> list[str]:
    """The steps of a JSON pointer (RFC 6901)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def value_at(value: Any, path: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return what stands at a JSON pointer; None where there is nothing."""
    try:
        return _follow(value, path)
    except LookupError:
        return None


def _follow(value: Any, path: str) -> Any:  # noqa: ANN401  # any JSON value
    for key in split_pointer(path):
        if isinstance(value, dict):
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and len(key) < 8:
            value = value[int(key)]
        else:
            raise LookupError(path)
    return value


def put_at(value: Any, path: str, new: object) -> Any:  # noqa: ANN401  # any JSON value
    """A copy with something else at a JSON pointer, in objects that need not be there yet."""
    return _put(value, split_pointer(path), new)


def _put(value: Any, steps: Sequence[str], new: object) -> Any:  # noqa: ANN401  # any JSON value
    if not steps:
        return new
    first, *rest = steps
    if isinstance(value, list):
        return [_put(item, rest, new) if str(place) == first else item for place, item in enumerate(value)]
    return {**(value or {}), first: _put((value or {}).get(first), rest, new)}


def all_texts(raw: object) -> list[str]:
    """The strings and keys inside a JSON value, without their places."""
    pending, texts = [raw], list[str]()
    for value in pending:  # grows while it is walked
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            texts += value
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return texts


def resolve_reference(root: Mapping[str, Any], reference: str) -> Any:  # noqa: ANN401  # whatever stands there
    """Return what a local reference points at: by JSON pointer, `#` itself, or `$anchor`. Raises LookupError."""
    pointer = unquote(reference[1:])
    if not reference.startswith("#") or (pointer and not pointer.startswith("/")):
        raise LookupError(reference)
    return _follow(root, pointer)


def referenced_schema(root: Mapping[str, Any], reference: str) -> Mapping[str, Any] | None:
    """The schema that a local reference points at; None if there is no such object."""
    try:
        target = resolve_reference(root, reference)
    except LookupError:
        return None
    return target if isinstance(target, dict) else None


def unused_definitions(shape: Shape) -> tuple[str, ...]:
    """Return the names below `$defs` that no reference of the schema leads to, directly or through others."""
    definitions = keyword_members(shape.root, "$defs")
    if not definitions:
        return ()
    start = shape.nodes[0].path
    inside: dict[str | None, set[str]] = {}
    for node in shape.by_keyword.get("$ref", ()):
        steps = split_pointer(node.path.removeprefix(start))
        owner = steps[1] if steps[:1] == ["$defs"] and len(steps) > 1 else None
        inside.setdefault(owner, set()).add(str(node.schema["$ref"]).removeprefix("#/$defs/").partition("/")[0])
    used, edge = set[str](), set(inside.get(None, ()))
    while edge:
        used |= edge
        edge = {name for owner in edge for name in inside.get(owner, ())} - used
    return tuple(name for name in definitions if name not in used)


def free_objects(shape: Shape) -> tuple[str, ...]:
    """Return the parameters that are objects of which the schema names no member."""
    objects = (node for node in shape.tops if node.schema.get("type") == "object")
    return tuple(node.name or "" for node in objects if not keyword_members(node.schema))


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


def takes_type(types: AbstractSet[str], kind: str) -> bool:
    """Return whether some accepted types take a value of this one: a whole number is a number."""
    return kind in types or (kind == "integer" and "number" in types)


def number_of(value: object) -> int | float | None:
    """A JSON number, which a Boolean is not; None for anything else.

    An integer beyond the range of floating point is infinite, as it is to JavaScript.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        float(value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1)
    return value


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
    members = schema.get(keyword)
    return members if isinstance(members, dict) else {}


MAX_HOPS = 8
"""References and unions that are followed to see what a property accepts."""

MAX_BRANCHES = 32
"""Alternatives of one property that are read."""


class Accepted(NamedTuple):
    """Values that a property accepts, without null, which only means that the property is optional."""

    types: frozenset[str] = frozenset()
    """Empty if any type is accepted."""

    values: tuple[Any, ...] | None = None
    """All allowed values; None if they are not listed."""

    item_types: frozenset[str] = frozenset()
    """Types of an array's items; empty if any type is accepted."""

    item_values: tuple[Any, ...] | None = None
    bounds: Mapping[str, float] = MappingProxyType({})
    """Lower and upper limits by keyword (`minimum`, `maxLength`, …), where no two branches differ."""


def accepted_values(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Accepted:
    """Return what the branches of a property accept together."""
    kind = schema.get("type")
    if isinstance(kind, str) and _BRANCHING.isdisjoint(schema):
        return _simple(kind, schema)
    sole = _sole(schema) if kind is None else None
    if sole is not None:
        return _simple(sole["type"], sole)
    branches = _branches(schema, root)
    types = [_types(branch) for branch in branches]
    values = [_values(branch) for branch in branches]
    items = [inner for branch in branches for inner in _items(branch, root)]
    arrays = [branch for branch in branches if "array" in _types(branch)]
    return Accepted(
        types=frozenset().union(*types) if types and all(types) else frozenset(),
        values=_all(values),
        item_types=frozenset().union(*map(_types, items)) if items and all(map(_types, items)) else frozenset(),
        item_values=_all([_values(inner) for inner in items]) if len(arrays) == 1 == len(branches) else None,
        bounds=_bounds(branches),
    )


def _sole(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The other branch of `anyOf: [X, null]`, as generators write an optional property."""
    union = schema.get("anyOf")
    if not isinstance(union, list) or len(union) != 2 or union[1] != {"type": "null"} or not _OWN.isdisjoint(schema):
        return None
    sole = union[0]
    is_simple = isinstance(sole, dict) and isinstance(sole.get("type"), str) and _BRANCHING.isdisjoint(sole)
    return sole if is_simple else None


_OWN = frozenset("$ref type enum const".split())


def _simple(kind: str, schema: Mapping[str, Any]) -> Accepted:
    """The fast path for one type without branches or items, as most properties have."""
    simple = SIMPLE.get(kind, ANYTHING)
    if kind == "null" or _TELLING.isdisjoint(schema):
        return simple
    return Accepted(types=simple.types, values=_values(schema), bounds=_bounds([schema]))


_BRANCHING = frozenset("$ref anyOf oneOf allOf items".split())
_LIMITS = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems".split())
_TELLING = _LIMITS | {"enum", "const"}
SIMPLE = {kind: Accepted(types=frozenset({kind})) for kind in TYPES - {"null"}}
ANYTHING = Accepted()


def _branches(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a property without null."""
    return [branch for branch in alternatives(schema, root) if branch.get("type") not in ("null", ["null"])]


def alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a property, references followed, single `allOf` unwrapped."""
    leaves: list[Mapping[str, Any]] = []
    waiting = [(schema, 0)]
    while waiting and len(leaves) < MAX_BRANCHES:
        branch, hops = waiting.pop(0)
        inner = _inner(branch, root) if hops < MAX_HOPS else None
        if inner is not None:
            waiting += [(part, hops + 1) for part in inner[:MAX_BRANCHES]]
        else:
            leaves.append(branch)
    return leaves


def _inner(branch: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    reference = branch.get("$ref")
    if isinstance(reference, str):
        target = referenced_schema(root, reference)
        return None if target is None else [target]
    if "type" in branch or "enum" in branch or "const" in branch:
        return None
    for keyword in ("anyOf", "oneOf", "allOf"):
        inner = branch.get(keyword)
        if isinstance(inner, list) and inner and all(isinstance(part, dict) for part in inner):
            return inner if keyword != "allOf" or len(inner) == 1 else None
    return None


_SINGLE = {kind: frozenset({kind}) for kind in TYPES}


def _types(branch: Mapping[str, Any]) -> frozenset[str]:
    kind = branch.get("type")
    if isinstance(kind, str):
        return _SINGLE.get(kind, frozenset())
    if isinstance(kind, list):
        return frozenset(name for name in kind if isinstance(name, str) and name in TYPES and name != "null")
    values = _values(branch)
    return frozenset(type_of(value) for value in values if value is not None) if values else frozenset()


def _values(branch: Mapping[str, Any]) -> tuple[Any, ...] | None:
    if "const" in branch:
        return (branch["const"],)
    members = branch.get("enum")
    return tuple(member for member in members if member is not None) if isinstance(members, list) and members else None


def _items(branch: Mapping[str, Any], root: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    items = branch.get("items")
    return _branches(items, root) if isinstance(items, dict) and items else ()


def _all(values: Sequence[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """The union; None if one of them is not listed."""
    listed = [members for members in values if members is not None]
    return tuple(value for members in listed for value in members) if values and len(listed) == len(values) else None


def _bounds(branches: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    limits: dict[str, float] = {}
    torn: set[str] = set()
    for branch in branches:
        for keyword in () if _LIMITS.isdisjoint(branch) else _LIMITS & branch.keys():
            limit = number_of(branch[keyword])
            if limit is not None:
                torn |= {keyword} if limits.setdefault(keyword, limit) != limit else set()
    return {keyword: limit for keyword, limit in limits.items() if keyword not in torn}
