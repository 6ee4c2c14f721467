"""What a property accepts, as far as its keywords say: types, values, items and limits of all its branches."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from tdqs_mcp.facts.schema.walk import TYPES, number_of, referenced_schema, type_of

MAX_HOPS = 8
"""References and unions that are followed to see what a property accepts."""

MAX_BRANCHES = 32
"""Alternatives of one property that are read."""


class Accepted(NamedTuple):
    """What a property accepts. Null is left out, because it only means that the property is optional."""

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
    """What the branches of a property accept together."""
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


def is_simple(schema: Mapping[str, Any]) -> bool:
    """The schema has one type and no other keyword that restricts it."""
    return isinstance(schema.get("type"), str) and _DECIDING.isdisjoint(schema)


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
_DECIDING = _BRANCHING | _TELLING
SIMPLE = {kind: Accepted(types=frozenset({kind})) for kind in TYPES - {"null"}}
ANYTHING = Accepted()


def _branches(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a property without null."""
    return [branch for branch in alternatives(schema, root) if branch.get("type") not in ("null", ["null"])]


def alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a property, references followed, single `allOf` unwrapped."""
    found: list[Mapping[str, Any]] = []
    waiting = [(schema, 0)]
    while waiting and len(found) < MAX_BRANCHES:
        branch, hops = waiting.pop(0)
        inner = _inner(branch, root) if hops < MAX_HOPS else None
        if inner is not None:
            waiting += [(each, hops + 1) for each in inner[:MAX_BRANCHES]]
        else:
            found.append(branch)
    return found


def _inner(branch: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    reference = branch.get("$ref")
    if isinstance(reference, str):
        target = referenced_schema(root, reference)
        return None if target is None else [target]
    if "type" in branch or "enum" in branch or "const" in branch:
        return None
    for keyword in ("anyOf", "oneOf", "allOf"):
        inner = branch.get(keyword)
        if isinstance(inner, list) and inner and all(isinstance(each, dict) for each in inner):
            return inner if keyword != "allOf" or len(inner) == 1 else None
    return None


_SINGLE = {kind: frozenset({kind}) for kind in TYPES}


def _types(branch: Mapping[str, Any]) -> frozenset[str]:
    kind = branch.get("type")
    if isinstance(kind, str):
        return _SINGLE.get(kind, frozenset())
    if isinstance(kind, list):
        return frozenset(each for each in kind if isinstance(each, str) and each in TYPES and each != "null")
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
    known = [each for each in values if each is not None]
    return tuple(value for each in known for value in each) if values and len(known) == len(values) else None


def _bounds(branches: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    found: dict[str, float] = {}
    torn: set[str] = set()
    for branch in branches:
        for keyword in () if _LIMITS.isdisjoint(branch) else _LIMITS & branch.keys():
            limit = number_of(branch[keyword])
            if limit is not None:
                torn |= {keyword} if found.setdefault(keyword, limit) != limit else set()
    return {keyword: limit for keyword, limit in found.items() if keyword not in torn}
