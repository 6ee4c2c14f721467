"""The JSON Schema of what `report.json_values` writes, made from the same classes; descriptions are their docstrings."""

import ast
import inspect
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from types import NoneType
from typing import Any, Literal, NotRequired, get_args, get_origin, is_typeddict

from tdqs_mcp.results.contract import (
    Absent,
    Matches,
    Member,
    Only,
    Own,
    Published,
    Trait,
    Unit,
    members,
    options,
    strip_none,
    unwrap,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Own: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
}


def schema(cls: type) -> dict[str, Any]:
    """The schema of a result's document; what it is made of stands in `$defs`."""
    made = _Schema()
    root = made.object(cls, None)
    return {"$schema": DIALECT, **root, **({"$defs": dict(sorted(made.definitions.items()))} if made.names else {})}


def schema_text(value: Mapping[str, Any]) -> str:
    """The schema with a line for every property."""
    lines = []
    for key, child in value.items():
        if key in ("properties", "$defs"):
            inner = [f"    {json.dumps(name)}: {_inline(each)}" for name, each in child.items()]
            lines.append(f"  {json.dumps(key)}: {{\n" + ",\n".join(inner) + "\n  }")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(child, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _inline(value: Mapping[str, Any]) -> str:
    """A property on one line; a definition with a line for each of its own."""
    if "properties" not in value:
        return json.dumps(value, ensure_ascii=False)
    head = json.dumps({key: child for key, child in value.items() if key != "properties"}, ensure_ascii=False)[1:-1]
    lines = [
        f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in value["properties"].items()
    ]
    return f'{{{head}, "properties": {{\n' + ",\n".join(f"      {line}" for line in lines) + "}}"


class _Schema:
    """One schema in the making."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.names: dict[tuple[type, str | None], str] = {}

    def object(self, cls: type, only: str | None) -> dict[str, Any]:
        """A class, or only some of its members."""
        shown = members(cls, only)
        return {
            **_described(inspect.getdoc(cls)),
            "type": "object",
            "properties": {each.key: self.described(each) for each in shown},
            "required": [each.key for each in shown if not each.is_optional],
            "additionalProperties": False,
        }

    def described(self, member: Member) -> dict[str, Any]:
        """A member's schema with its docstring."""
        return {**self.of(member.kind), **_described(_docstrings(member.owner).get(member.path[-1]))}

    def of(self, annotation: Any) -> dict[str, Any]:  # any type
        """Any type that a member may have."""
        kind, marks = unwrap(annotation)
        if Trait.ENCODED in marks:
            return {"type": "object"}
        only = next((mark.names for mark in reversed(marks) if isinstance(mark, Only)), None)
        found = [self._plain(each, only, marks) for each in options(kind) if each is not Absent]
        return found[0] if len(found) == 1 else {"anyOf": found}

    def _plain(self, kind: Any, only: str | None, marks: tuple[Any, ...]) -> dict[str, Any]:  # noqa: PLR0911  # one return for each type
        if kind is NoneType:
            return dict(_SIMPLE[NoneType])
        if unwrap(kind)[1]:
            return self.of(kind)
        for mark in marks:
            if isinstance(mark, Unit):
                return _number(kind, mark)
        if kind in _SIMPLE:
            regex = next((mark.regex for mark in marks if isinstance(mark, Matches)), None)
            return {**_SIMPLE[kind], **({"pattern": regex} if regex else {})}
        if get_origin(kind) is Literal:
            words = get_args(kind)
            return {"type": "string", **({"enum": list(words)} if len(words) > 1 else {"const": words[0]})}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [each.value for each in kind], "type": "string"}
        if is_dataclass(kind) or is_typeddict(kind):
            return {"$ref": f"#/$defs/{self._name(kind, only)}"}
        return self._container(kind, only)

    def _container(self, kind: Any, only: str | None) -> dict[str, Any]:  # any type
        origin, args = get_origin(kind), get_args(kind)
        if origin is tuple:
            return {"type": "array", "items": self._plain(args[0], only, ())}
        if origin in (dict, Mapping):
            values = self.of(args[1])
            names = self._plain(args[0], None, ())
            keys = {"propertyNames": {"enum": names["enum"]}} if "enum" in names else {}
            return {"type": "object", **keys, "additionalProperties": values or True}
        return {}

    def _name(self, kind: Any, only: str | None) -> str:  # a class
        """Where a class is defined; a part of one has a name of its own."""
        known = self.names.get((kind, only))
        if known:
            return known
        taken = set(self.names.values())
        names = [f"{kind.__name__}{suffix}" for suffix in ("", "Part", *(f"Part{count}" for count in range(2, 9)))]
        name = next(each for each in names if each not in taken)
        self.names[(kind, only)] = name
        self.definitions[name] = self._typed_dict(kind) if is_typeddict(kind) else self.object(kind, only)
        return name

    def _typed_dict(self, kind: Any) -> dict[str, Any]:  # a typed dictionary
        required = [name for name, each in kind.__annotations__.items() if get_origin(each) is not NotRequired]
        types = {
            name: get_args(each)[0] if get_origin(each) is NotRequired else each
            for name, each in kind.__annotations__.items()
        }
        return {
            **_described(inspect.getdoc(kind)),
            "type": "object",
            "properties": {name: self.of(each) for name, each in types.items()},
            "required": required,
            "additionalProperties": False,
        }


def _number(kind: Any, unit: Unit) -> dict[str, Any]:  # int or Fraction
    is_whole = unit.divisor == 1 and isinstance(strip_none(kind), type) and issubclass(strip_none(kind), int)
    limits = {"minimum": unit.low, "maximum": unit.high}
    number = {
        "type": "integer" if is_whole else "number",
        **{key: each for key, each in limits.items() if each is not None},
    }
    return {**number, **_described(unit.says or None)}


def _described(text: str | None) -> dict[str, str]:
    return {"description": " ".join(text.split())} if text else {}


@cache
def _docstrings(cls: Any) -> dict[str, str]:  # a class
    """What stands under each attribute of a class, and what its derived members say."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            found |= _under_attributes(base)
        for name, value in vars(base).items():
            if isinstance(value, Published | property) and value.__doc__:
                found[name] = inspect.cleandoc(value.__doc__)
    return found


def _under_attributes(cls: Any) -> dict[str, str]:  # a class
    tree = ast.parse(inspect.getsource(cls))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found = {}
    for before, after in pairwise(body):
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and is_text:
            found[before.target.id] = inspect.cleandoc(str(after.value.value))  # type: ignore[attr-defined]  # a constant
    return found
