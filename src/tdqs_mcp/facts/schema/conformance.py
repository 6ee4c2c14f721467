"""Where a definition breaks MCP or JSON Schema by itself, and where a value breaks a schema."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeGuard

from tdqs_mcp.canonical import canonical_json, is_well_formed, replace_surrogates
from tdqs_mcp.facts.lexicon import cached_by_text, lazy_pattern
from tdqs_mcp.facts.schema.walk import (
    MAX_BRANCHES,
    MAX_HOPS,
    TYPES,
    Accepted,
    Deviation,
    Shape,
    accepted_values,
    alternatives,
    escape_step,
    number_of,
    referenced_schema,
    required_names,
    resolve_reference,
    takes_type,
    type_of,
)

MAX_TOOL_NAME = 128
"""Characters of a tool name (MCP 2025-11-25, Tool Names)."""

MAX_VALUES = 200
"""Examples or members that are looked at."""

_ALLOWED = lazy_pattern(r"[A-Za-z0-9_.\-]*")
_COMPOSED = frozenset("$ref $dynamicRef allOf anyOf oneOf if patternProperties dependentSchemas".split())
_LIMITS = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)


def unknown_required(shape: Shape) -> Iterator[Deviation]:
    """Required names that the same object has no property for; objects composed of several schemas are left out."""
    for node in shape.by_keyword.get("required", ()):
        schema = node.schema
        required, properties = schema["required"], schema.get("properties", {})
        is_object = node.path == shape.nodes[0].path or schema.get("type") == "object" or "properties" in schema
        if not is_object or not isinstance(required, list) or not isinstance(properties, dict):
            continue
        for name in required if _COMPOSED.isdisjoint(schema) else ():
            if isinstance(name, str) and name not in properties:
                yield Deviation(f"{node.path}/required", name)


def dangling_references(shape: Shape) -> Iterator[Deviation]:
    """Local references without a target, or in a circle."""
    for node in shape.by_keyword.get("$ref", ()):
        reference = node.schema["$ref"]
        problem = _follow(shape.root, reference) if _is_pointer(reference) else None
        if problem:
            yield Deviation(f"{node.path}/$ref", f"{reference!r} {problem}")


def _is_pointer(reference: object) -> TypeGuard[str]:
    return isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))


def _follow(root: Mapping[str, Any], reference: str) -> str | None:
    """Why a reference leads to no schema; None if it leads to one."""
    visited: set[str] = set()
    while reference not in visited:
        visited.add(reference)
        try:
            target = resolve_reference(root, reference)
        except LookupError:
            return "leads nowhere"
        inner = target.get("$ref") if isinstance(target, dict) else None
        if not _is_pointer(inner):
            return None if isinstance(target, dict | bool) else "leads to no schema"
        reference = inner
    return "leads back to itself"


def remote_references(shape: Shape) -> Iterator[Deviation]:
    """References out of the definition; nothing fetches them."""
    inside = {
        resource.schema["$id"]
        for resource in shape.by_keyword.get("$id", ())
        if isinstance(resource.schema["$id"], str)
    }
    for keyword in ("$ref", "$dynamicRef") if "$id" not in shape.root else ():
        for node in shape.by_keyword.get(keyword, ()):
            reference = node.schema[keyword]
            if isinstance(reference, str) and reference[:1] != "#" and reference.partition("#")[0] not in inside:
                yield Deviation(f"{node.path}/{keyword}", repr(reference[:200]))


def impossible_bounds(shape: Shape) -> Iterator[Deviation]:
    """Limits that no value can meet."""
    for low, high in _LIMITS:
        for node in shape.by_keyword.get(low, ()) if high in shape.by_keyword else ():
            least, most = number_of(node.schema[low]), number_of(node.schema.get(high))
            is_strict = low.startswith("exclusive") or high.startswith("exclusive")
            if least is not None and most is not None and (least > most or (is_strict and least == most)):
                yield Deviation(f"{node.path}/{low}", f"{low} {least:g} and {high} {most:g}")
    for node in shape.by_keyword.get("enum", ()):
        if node.schema["enum"] == []:
            yield Deviation(f"{node.path}/enum", "an empty enum")


def unfit_defaults(shape: Shape) -> Iterator[tuple[Deviation, bool]]:
    """Defaults that their own schema refuses; and whether it is the null that generators write for "none"."""
    for node in shape.by_keyword.get("default", ()):
        value = node.schema["default"]
        if reason := _why_unfit(value, node.schema, shape.root):
            yield Deviation(f"{node.path}/default", f"{_literal(value)} {reason}"), value is None


def unfit_values(shape: Shape) -> Iterator[Deviation]:
    """Examples, members of enumerations and constants that the same schema refuses."""
    for keyword in ("enum", "const"):
        for node in shape.by_keyword.get(keyword, ()):
            types, value = _types(node.schema), node.schema[keyword]
            members = value[:MAX_VALUES] if isinstance(value, list) else ()
            listed = [(f"enum/{place}", member) for place, member in enumerate(members)]
            for step, candidate in [(keyword, value)] if keyword == "const" else listed:
                if types and not takes_type(types, type_of(candidate)):
                    yield Deviation(f"{node.path}/{step}", f"{_literal(candidate)} is not of type {_either(types)}")
    for node in shape.by_keyword.get("examples", ()):
        examples = node.schema["examples"]
        for place, value in enumerate(examples[:MAX_VALUES] if isinstance(examples, list) else ()):
            reason = _why_unfit(value, node.schema, shape.root)
            if reason := reason or refusal(value, node.schema, shape.root, is_open=True):
                yield Deviation(f"{node.path}/examples/{place}", f"{_literal(value)} {reason}")


def repeated_members(shape: Shape) -> Iterator[Deviation]:
    """The first member of each enumeration that stands there twice (JSON Schema: elements should be unique)."""
    for node in shape.by_keyword.get("enum", ()):
        members = node.schema["enum"]
        if not isinstance(members, list):
            continue
        spelled = [canonical_json(member) for member in members]
        if len(set(spelled)) < len(spelled):
            place = next(place for place, text in enumerate(spelled) if text in spelled[:place])
            yield Deviation(f"{node.path}/enum/{place}", _literal(members[place]))


def invalid_patterns(shape: Shape) -> Iterator[Deviation]:
    """Patterns that ECMA-262 does not allow, and with it no validator."""
    for node in shape.by_keyword.get("pattern", ()):
        pattern = node.schema["pattern"]
        if isinstance(pattern, str) and (reason := _why_invalid(pattern)):
            yield Deviation(f"{node.path}/pattern", f"{_literal(pattern)} {reason}")


@cached_by_text(1024)
def _why_invalid(pattern: str) -> str | None:
    # `(?P<year>...)` is Python's, `\A` and `\Z` are Perl's
    match = _FOREIGN_SYNTAX.search(pattern)
    if match:
        return f"has {match[0]!r}, which ECMA-262 does not have"
    if _NATIVE.search(pattern) or not is_well_formed(pattern):
        return None
    return None if is_expression(pattern) else "is not a regular expression"


_FOREIGN_SYNTAX = lazy_pattern(
    r"\(\?P[<=>]|\(\?[a-zA-Z]{1,8}\)|(?<!\\)\\[AZzGh](?![a-z])|\[\[:[a-z]+:\]|(?<=[\w)\]}])[+*?]\+(?![^\[]*\])"
)
"""Syntax of Python, Perl and POSIX, with possessive quantifiers such as `a++`; inside a class a sign is itself."""

_NATIVE = lazy_pattern(r"\[\^?\]|\\k<")
"""Valid syntax that the library refuses."""


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    kind = schema.get("type")
    types = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    return frozenset(name for name in types if isinstance(name, str))


def _either(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))


def _why_unfit(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> str | None:
    """Why a value breaks its schema: type, members, limits, items; None where nothing proves that it does."""
    if value is None:
        return None if _takes_null(schema, root) else "is not allowed by its type"
    takes = accepted_values(schema, root)
    if takes.types and not takes_type(takes.types, type_of(value)):
        return f"is not of type {_either(takes.types)}"
    if takes.values is not None and not _is_among(value, takes.values):
        return "is not a member of the enum"
    if isinstance(value, list):
        return _why_items_unfit(value, takes)
    if isinstance(value, str):
        return _outside(len(value), takes.bounds, "minLength", "maxLength")
    number = number_of(value)
    return None if number is None else _outside(number, takes.bounds, "minimum", "maximum")


def refusal(
    value: object, schema: object, root: Mapping[str, Any], hops: int = 0, *, is_open: bool = False
) -> str | None:
    """Return why a schema refuses a value, inside it too; None where nothing proves that it does.

    An unknown member counts as refused where the schema does not speak of any, unless `is_open`: a server of typed
    code knows its own members alone, and JSON Schema takes any.
    """
    if not isinstance(schema, dict) or hops > MAX_HOPS or "not" in schema or "if" in schema:
        return None
    branches = alternatives(schema, root)
    if len(branches) >= MAX_BRANCHES:
        return None  # a branch that is not read may take it
    # null takes nothing but null, which is no example: `str | None` refuses what a string does
    branches = [branch for branch in branches if branch.get("type") != "null"] or branches
    reasons = [_branch_refusal(value, branch, root, hops, is_open=is_open) for branch in branches]
    if value is None or None in reasons:
        return None
    fitting = [
        reason
        for branch, reason in zip(branches, reasons, strict=True)
        if takes_type(_types(branch) or TYPES, type_of(value))
    ]
    types = frozenset().union(*map(_types, branches))
    return next(iter(fitting), f"is not of type {_either(types - {'null'})}" if types else None)


def _branch_refusal(
    value: object, schema: Mapping[str, Any], root: Mapping[str, Any], hops: int, *, is_open: bool
) -> str | None:
    if {"allOf", "not", "if", "$ref"} & schema.keys():
        return None
    if reason := _why_unfit(value, schema, root):
        return reason
    if isinstance(value, dict):
        return _why_members_unfit(value, schema, root, hops, is_open=is_open)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        reasons = (refusal(item, items, root, hops + 1, is_open=is_open) for item in value[:MAX_VALUES])
        return next((f"has an item that {reason}" for reason in reasons if reason), None)
    return _why_text_unfit(value, schema) if isinstance(value, str) else None


def _why_members_unfit(
    value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], hops: int, *, is_open: bool
) -> str | None:
    properties, is_closed = schema.get("properties"), schema.get("additionalProperties") is False
    if not isinstance(properties, dict) or not (properties or is_closed):
        return None
    takes_more = schema.get("additionalProperties", is_open) is not False or "patternProperties" in schema
    for name, member in value.items():
        if name not in properties and not takes_more:
            return f"has {name!r}, which is not one of its properties"
        if reason := refusal(member, properties.get(name), root, hops + 1, is_open=is_open):
            return f"has {name!r}, which {reason}"
    missing = next((name for name in required_names(schema) if name not in value), None)
    return f"lacks {missing!r}, which is required" if missing else None


def _why_text_unfit(value: str, schema: Mapping[str, Any]) -> str | None:
    pattern, form = schema.get("pattern"), schema.get("format")
    if isinstance(pattern, str) and len(value) < MAX_MATCHED and not _matches(pattern, value):
        return f"does not match the pattern {_literal(pattern)}"
    shape = _FORMATS.get(form) if isinstance(form, str) else None
    return None if shape is None or re.fullmatch(shape, value) else f"is not of format {form}"


MAX_MATCHED = 200
"""Characters of a text that is held against a pattern."""


@cached_by_text(1024)
def _matches(pattern: str, value: str) -> bool:
    try:
        return find_fault({"pattern": pattern}, value) is None
    except ValueError:
        return True


_FORMATS = {
    "date": r"\d{4}-\d\d-\d\d",
    "date-time": r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*",
    "time": r"\d\d:\d\d.*",
    "email": r"[^@\s]+@[^@\s]+",
    "uuid": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "uri": r"[A-Za-z][\w+.-]*:\S*",
    "ipv4": r"\d{1,3}(?:\.\d{1,3}){3}",
}
"""The least that a value of each format looks like."""


def _why_items_unfit(value: Sequence[object], takes: Accepted) -> str | None:
    items = value[:MAX_VALUES]
    if takes.item_types and not all(takes_type(takes.item_types, type_of(item)) for item in items if item is not None):
        return f"has an item that is not of type {_either(takes.item_types)}"
    if takes.item_values is not None and not all(_is_among(item, takes.item_values) for item in items):
        return "has an item that is not a member of the enum"
    return _outside(len(value), takes.bounds, "minItems", "maxItems")


def _outside(amount: float, bounds: Mapping[str, float], low: str, high: str) -> str | None:
    """Which limit an amount misses; only numbers have exclusive ones."""
    if low == "minimum" and "exclusiveMinimum" in bounds and amount <= bounds["exclusiveMinimum"]:
        return f"is not above exclusiveMinimum {bounds['exclusiveMinimum']:g}"
    if high == "maximum" and "exclusiveMaximum" in bounds and amount >= bounds["exclusiveMaximum"]:
        return f"is not below exclusiveMaximum {bounds['exclusiveMaximum']:g}"
    if low in bounds and amount < bounds[low]:
        return f"is below {low} {bounds[low]:g}"
    if high in bounds and amount > bounds[high]:
        return f"is above {high} {bounds[high]:g}"
    return None


def _is_among(value: object, members: Sequence[object]) -> bool:
    """JSON's equality, in which 1 is not true."""
    return any(value == member and isinstance(value, bool) is isinstance(member, bool) for member in members)


def _takes_null(schema: Mapping[str, Any], root: Mapping[str, Any], hops: int = 0) -> bool:
    """Null is allowed, or nothing certain forbids it."""
    if hops > 8 or "not" in schema or "if" in schema:
        return True
    if isinstance(schema.get("$ref"), str):
        return _takes_null(referenced_schema(root, schema["$ref"]) or {}, root, hops + 1)
    types, members = _types(schema), schema.get("enum")
    if types or isinstance(members, list):
        return "null" in types if types else None in (members or ())
    branches = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(branches, list):
        return True
    return any(not isinstance(branch, dict) or _takes_null(branch, root, hops + 1) for branch in branches[:32])


def _literal(value: object) -> str:
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def unfit_name(name: str) -> str | None:
    """Return what MCP forbids in a tool's name; None for a name that it allows."""
    if len(name) > MAX_TOOL_NAME:
        return f"has {len(name)} characters, but MCP allows {MAX_TOOL_NAME}"
    if not _ALLOWED.fullmatch(name):
        strange = next(char for char in name if not _ALLOWED.fullmatch(char))
        return f"contains {strange!r}, but MCP allows only letters, digits, _, - and ."
    return None


_NAMES = ("draft-04/schema", "draft-06/schema", "draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema")
DRAFTS = frozenset(f"{scheme}://json-schema.org/{name}" for scheme in ("http", "https") for name in _NAMES)
"""Drafts that can be checked; MCP takes 2020-12 where `$schema` is absent (MCP 2025-11-25, JSON Schema usage)."""


def find_flaw(shape: Shape) -> tuple[str, str] | None:
    """Where the first flaw lies, as a JSON pointer inside the schema, and what it is; None for a valid schema."""
    schema, declared = shape.root, shape.root.get("$schema")
    if declared is not None and (not isinstance(declared, str) or declared.rstrip("#") not in DRAFTS):
        return "/$schema", "it is not a draft of JSON Schema that MCP names"
    try:
        fault = check_schema(schema)
    except UnicodeEncodeError:  # the library refuses half of a UTF-16 pair, which another rule reports
        fault = check_schema(json.loads(replace_surrogates(json.dumps(schema, ensure_ascii=False))))
    if fault is None:
        return None
    return "".join(f"/{escape_step(str(step))}" for step in fault.path), " ".join(fault.message.split())[:200]


class Fault(NamedTuple):
    """Where a value breaks a schema."""

    path: tuple[str | int, ...]
    """Keys and indices that lead to the value."""

    message: str


def check_schema(schema: Mapping[str, Any]) -> Fault | None:
    """Return where a schema breaks the meta-schema of its `$schema`, by default that of 2020-12."""
    try:
        from jsonschema_rs import ValidationError, meta  # noqa: PLC0415
    except ImportError:
        from jsonschema.validators import validator_for  # noqa: PLC0415

        validator = _default(validator_for, schema)
        return _first(validator(validator.META_SCHEMA).iter_errors(schema))
    try:
        meta.validate(dict(schema))
    except ValidationError as error:
        return Fault(tuple(error.instance_path), error.message)
    return None


def find_fault(schema: Mapping[str, Any], value: object) -> Fault | None:
    """Return where a value breaks a schema. Raises ValueError for a broken schema, and for one that lies elsewhere."""
    try:
        from jsonschema_rs import validator_for  # noqa: PLC0415
    except ImportError:
        return _find_in_python(schema, value)
    error = next(validator_for(dict(schema), retriever=_refuse).iter_errors(value), None)
    return None if error is None else Fault(tuple(error.instance_path), error.message)


def is_expression(pattern: str) -> bool:
    """Return true for a regular expression as ECMA-262 has them, as far as the library knows them."""
    try:
        from jsonschema_rs import validator_for  # noqa: PLC0415
    except ImportError:
        return _is_python_expression(pattern)
    try:
        validator_for({"pattern": pattern})
    except ValueError:
        return False
    return True


def _find_in_python(schema: Mapping[str, Any], value: object) -> Fault | None:
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    validator = _default(validator_for, schema)
    try:
        validator.check_schema(schema)
        return _first(validator(schema, registry=Registry()).iter_errors(value))
    except (SchemaError, Unresolvable) as error:
        raise ValueError(str(error)) from error


def _default(validator_for: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  # jsonschema types its classes so
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    return validator_for(schema, default=Draft202012Validator)


def _first(errors: Any) -> Fault | None:  # noqa: ANN401  # jsonschema's iterator
    error = next(errors, None)
    return None if error is None else Fault(tuple(error.absolute_path), error.message)


def _refuse(uri: str) -> NoReturn:
    """A definition must not make this program read files or addresses."""
    raise ValueError(uri)


_ECMA_ALONE = re.compile(r"\\[pP]\{\w+(?:=\w+)?\}|\\u\{[0-9a-fA-F]{1,6}\}|\\c[A-Za-z]")
"""Escapes that Python's expressions do not have, such as `\\p{Letter}`; each stands for one character."""

_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


def _is_python_expression(pattern: str) -> bool:
    try:
        re.compile(_NAMED_GROUP.sub("(?P<", _ECMA_ALONE.sub("x", pattern)))
    except re.error:
        return False
    return True
