"""Where a definition breaks MCP or JSON Schema by itself: references, bounds, values, required names, tool names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.canonical import is_well_formed
from tdqs_mcp.facts.schema.walk import Accepted, Node, Shape, accepted_values, escape_step, resolve_reference, type_of
from tdqs_mcp.facts.text.patterns import lazy_pattern

MAX_TOOL_NAME = 128
"""Characters of a tool name (MCP 2025-11-25, Tool Names)."""

MAX_CLIENT_NAME = 64
"""Characters of a tool name that every client takes: OpenAI's and older Anthropic APIs, VS Code, Cursor."""

_ALLOWED = lazy_pattern(r"[A-Za-z0-9_.\-]*")
_EVERYWHERE = lazy_pattern(r"[A-Za-z0-9_\-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One place that breaks a rule of the format."""

    path: str
    """JSON pointer inside the definition."""

    what: str
    """What stands there and what it breaks, in few words."""


def unknown_required(shape: Shape) -> Iterator[Breach]:
    """Required names that the same object has no property for; objects composed of several schemas are left out."""
    for node in shape.by_keyword.get("required", ()):
        required, properties = node.schema.get("required"), node.schema.get("properties", {})
        if not isinstance(required, list) or not isinstance(properties, dict) or not required:
            continue
        is_object = (
            node.path == shape.nodes[0].path or node.schema.get("type") == "object" or "properties" in node.schema
        )
        if not is_object or not _COMPOSED.isdisjoint(node.schema):
            continue
        for name in required:
            if isinstance(name, str) and name not in properties:
                yield Breach(path=f"{node.path}/required", what=name)


_COMPOSED = frozenset("$ref $dynamicRef allOf anyOf oneOf if patternProperties dependentSchemas".split())


def dangling_references(shape: Shape) -> Iterator[Breach]:
    """Local references that lead nowhere, or only to each other."""
    for node in shape.by_keyword.get("$ref", ()):
        reference = node.schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#") and not _is_anchor(reference):
            fate = _follow(shape.root, reference)
            if fate:
                yield Breach(path=f"{node.path}/$ref", what=f"{reference!r} {fate}")


def _is_anchor(reference: str) -> bool:
    return len(reference) > 1 and not reference.startswith("#/")


def _follow(root: Mapping[str, Any], reference: str) -> str | None:
    seen: set[str] = set()
    while reference not in seen:
        seen.add(reference)
        try:
            target = resolve_reference(root, reference)
        except LookupError:
            return "leads nowhere"
        inner = target.get("$ref") if isinstance(target, dict) else None
        if not isinstance(inner, str) or not inner.startswith("#") or _is_anchor(inner):
            return None if isinstance(target, dict | bool) else "leads to no schema"
        reference = inner
    return "leads back to itself"


def remote_references(shape: Shape) -> Iterator[Breach]:
    """References out of the definition; nothing fetches them."""
    for keyword in ("$ref", "$dynamicRef"):
        for node in shape.by_keyword.get(keyword, ()):
            reference = node.schema[keyword]
            if isinstance(reference, str) and not reference.startswith("#") and not _is_inside(reference, shape):
                yield Breach(path=f"{node.path}/{keyword}", what=repr(reference[:200]))


def _is_inside(reference: str, shape: Shape) -> bool:
    """Another part of the same document, by its `$id`."""
    base = reference.partition("#")[0]
    return "$id" in shape.root or any(node.schema["$id"] == base for node in shape.by_keyword.get("$id", ()))


_PAIRS = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
_LOWER = frozenset(low for low, _ in _PAIRS)


def impossible_bounds(shape: Shape) -> Iterator[Breach]:
    """Limits that no value can meet."""
    for low, high in () if _LOWER.isdisjoint(shape.by_keyword) else _PAIRS:
        for node in shape.by_keyword.get(low, ()) if high in shape.by_keyword else ():
            least, most = _number(node.schema[low]), _number(node.schema.get(high))
            if least is not None and most is not None:
                is_strict = low.startswith("exclusive") or high.startswith("exclusive")
                if least > most or (is_strict and least == most):
                    yield Breach(path=f"{node.path}/{low}", what=f"{low} {least:g} and {high} {most:g}")
    for node in shape.by_keyword.get("enum", ()):
        if node.schema["enum"] == []:
            yield Breach(path=f"{node.path}/enum", what="an empty enum")


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def unfit_defaults(shape: Shape) -> Iterator[tuple[Breach, bool]]:
    """Defaults that their own schema refuses; and whether it is the null that generators write for "none"."""
    for node in shape.by_keyword.get("default", ()):
        value = node.schema["default"]
        reason = _misfit(value, node, shape)
        if reason:
            yield Breach(path=f"{node.path}/default", what=f"{_shown(value)} {reason}"), value is None


def unfit_values(shape: Shape) -> Iterator[Breach]:
    """Examples, members of enumerations and constants that the same schema refuses."""
    for keyword in ("enum", "const"):
        for node in shape.by_keyword.get(keyword, ()):
            kinds = _kinds(node.schema)
            for step, value in _members(node.schema, keyword) if kinds else ():
                if not _is_of(value, kinds):
                    yield Breach(path=f"{node.path}/{step}", what=f"{_shown(value)} is no {' or '.join(sorted(kinds))}")
    for node in shape.by_keyword.get("examples", ()):
        examples = node.schema["examples"]
        for place, value in enumerate(examples[:MAX_VALUES] if isinstance(examples, list) else ()):
            reason = _misfit(value, node, shape)
            if reason:
                yield Breach(path=f"{node.path}/examples/{place}", what=f"{_shown(value)} {reason}")


def _members(schema: Mapping[str, Any], keyword: str) -> Iterator[tuple[str, object]]:
    """The values that a schema names, each with its place."""
    value = schema[keyword]
    if keyword == "const":
        yield keyword, value
    elif isinstance(value, list):
        yield from ((f"enum/{place}", member) for place, member in enumerate(value[:MAX_VALUES]))


MAX_VALUES = 200
"""Examples or members that are looked at."""


def _kinds(schema: Mapping[str, Any]) -> frozenset[str]:
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    return frozenset(each for each in kinds if isinstance(each, str))


def _is_of(value: object, kinds: frozenset[str]) -> bool:
    kind = type_of(value)
    return kind in kinds or (kind == "integer" and "number" in kinds)


def _misfit(value: object, node: Node, shape: Shape) -> str | None:
    """Why a value breaks its schema: type, members, bounds, items; None where nothing proves that it does."""
    if value is None:
        return None if _takes_null(node.schema, shape.root) else "is not allowed by its type"
    takes = accepted_values(node.schema, shape.root)
    if takes.types and not _is_of(value, takes.types):
        return f"is no {' or '.join(sorted(takes.types))}"
    if takes.values is not None and not any(_same(value, member) for member in takes.values):
        return "is no member of the enum"
    if isinstance(value, list):
        return _items_misfit(value, takes)
    return _bounds_misfit(value, takes.bounds)


def _items_misfit(value: Sequence[object], takes: Accepted) -> str | None:
    if takes.item_types and not all(_is_of(item, takes.item_types) for item in value[:MAX_VALUES] if item is not None):
        return f"has an item that is no {' or '.join(sorted(takes.item_types))}"
    if takes.item_values is not None:
        for item in value[:MAX_VALUES]:
            if not any(_same(item, member) for member in takes.item_values):
                return "has an item that is no member of the enum"
    return _outside(len(value), takes.bounds, "minItems", "maxItems")


def _bounds_misfit(value: object, bounds: Mapping[str, float]) -> str | None:
    if isinstance(value, str):
        return _outside(len(value), bounds, "minLength", "maxLength")
    number = _number(value)
    if number is None:
        return None
    return _excluded(number, bounds) or _outside(number, bounds, "minimum", "maximum")


def _excluded(number: float, bounds: Mapping[str, float]) -> str | None:
    if "exclusiveMinimum" in bounds and number <= bounds["exclusiveMinimum"]:
        return f"is not above exclusiveMinimum {bounds['exclusiveMinimum']:g}"
    if "exclusiveMaximum" in bounds and number >= bounds["exclusiveMaximum"]:
        return f"is not below exclusiveMaximum {bounds['exclusiveMaximum']:g}"
    return None


def _outside(amount: float, bounds: Mapping[str, float], low: str, high: str) -> str | None:
    if low in bounds and amount < bounds[low]:
        return f"is below {low} {bounds[low]:g}"
    if high in bounds and amount > bounds[high]:
        return f"is above {high} {bounds[high]:g}"
    return None


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _takes_null(schema: Mapping[str, Any], root: Mapping[str, Any], hops: int = 0) -> bool:
    """Null is allowed, or nothing certain forbids it."""
    if hops > 8 or "not" in schema or "if" in schema:
        return True
    target = _target(schema, root)
    if target is not None:
        return _takes_null(target, root, hops + 1)
    kinds, members = _kinds(schema), schema.get("enum")
    if kinds or isinstance(members, list):
        return "null" in kinds if kinds else None in (members or ())
    branches = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(branches, list):
        return True
    return any(not isinstance(branch, dict) or _takes_null(branch, root, hops + 1) for branch in branches[:32])


def _target(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a reference stands for; an empty schema, which takes anything, where nobody knows."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return None
    try:
        target = resolve_reference(root, reference)
    except LookupError:
        return {}
    return target if isinstance(target, dict) else {}


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    text = "null" if value is None else text
    return text if len(text) <= 60 else f"{text[:59]}…"


def lone_surrogates(raw: object) -> Iterator[Breach]:
    """Strings and keys of a definition that hold half a UTF-16 pair, which JSON can spell and UTF-8 cannot carry."""
    pending: list[tuple[str, object]] = [("", raw)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if not is_well_formed(value):
                yield Breach(path=path, what=f"half a UTF-16 pair stands in {_shown(value)}")
        elif isinstance(value, dict):
            for key in value:
                if not is_well_formed(key):
                    yield Breach(path=path, what=f"half a UTF-16 pair stands in the key {_shown(key)}")
            pending += ((f"{path}/{escape_step(key)}", value[key]) for key in reversed(value))
        elif isinstance(value, list):
            pending += reversed([(f"{path}/{place}", each) for place, each in enumerate(value)])


def unfit_name(name: str) -> tuple[str, bool] | None:
    """What is wrong with a tool's name, and whether MCP itself forbids it; None for one that every client takes."""
    if len(name) > MAX_TOOL_NAME:
        return f"it has {len(name)} characters, MCP allows {MAX_TOOL_NAME}", True
    if not _ALLOWED.fullmatch(name):
        strange = next(char for char in name if not _ALLOWED.fullmatch(char))
        return f"{strange!r} is not among the characters that MCP allows: letters, digits, _ - .", True
    if len(name) > MAX_CLIENT_NAME:
        return f"it has {len(name)} characters, several clients allow {MAX_CLIENT_NAME}", False
    if not _EVERYWHERE.fullmatch(name):
        return "several clients and model APIs refuse the dot", False
    return None
