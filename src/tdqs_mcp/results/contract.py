"""How the fields of a result become its contract: units, keys, what is left out, what is derived, and its JSON Schema.

Every text in a result is foreign unless its type says otherwise: a name, a description, a judge's reason. Whoever
writes a result down escapes or fences all of it; only `Own` words and members of an enum pass as they are.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    is_typeddict,
    overload,
)

T = TypeVar("T")

Own = NewType("Own", str)
"""Words of this program. The only text that an agent gets without the marks of foreign text."""


class Absent(Enum):
    """The value of a field that a document leaves out."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A number that JSON shows in another unit, with its limits there."""

    divisor: int = 1
    low: float | None = None
    high: float | None = None
    says: str = ""
    digits: int | None = None
    """Digits of a float after the point."""


@dataclass(frozen=True, slots=True)
class Max:
    """Characters of a text, and of every text within it, that an agent gets."""

    characters: int


@dataclass(frozen=True, slots=True)
class Only:
    """The members of a class that are shown here, in this order: its projection.

    `name=key` gives one another key, `name.part` shows one part in its place, `name(part part)` shows only these parts,
    and `name?` leaves it out where it is empty.
    """

    names: str


@dataclass(frozen=True, slots=True)
class Key:
    """The JSON key, where it is not the field's name in camel case."""

    name: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The regular expression that a text matches."""

    regex: str


class Trait(Enum):
    """A property of a field that its type does not say."""

    INTERNAL = "not part of the contract"
    INLINE = "its members become members of the class"
    AS_JSON = "for an agent: JSON text between the marks, which gives the exact value back"
    ADVICE = "our own words, which quote what is foreign; for an agent: without marks where that is plain words only"


Internal = Annotated[T, Trait.INTERNAL]
Inline = Annotated[T, Trait.INLINE]

Advice = Annotated[T, Trait.ADVICE]

Tenths = Annotated[int, Unit(divisor=10, low=1, high=5, says="A score with one decimal, 1.0-5.0")]
Point = Annotated[int, Unit(low=1, high=5)]
Hundredths = Annotated[int, Unit(divisor=100)]
Probability = Annotated[int, Unit(divisor=100, low=0, high=1)]
"""Whole percent here, 0-1 in JSON."""

Percentage = Annotated[int, Unit(low=0, high=100)]
PercentTenths = Annotated[int, Unit(divisor=10, low=0, high=100, says="Percent, with one decimal")]
Name = Annotated[str, Max(64)]
"""The name of a tool or server; an agent gets at most 64 characters of it."""

Pointer = Annotated[str, Max(1000)]
"""A JSON pointer inside a definition; empty for the whole of it."""

Hash = Annotated[str, Matches("^[0-9a-f]{16}$")]


class Published(Generic[T]):
    """A derived value that belongs to the contract, in the place after the named member; "" is the first place."""

    def __init__(self, get: Callable[[Any], T], *, after: str | None, key: str | None) -> None:
        """The value that `get` computes."""
        self.get, self.after, self.key = get, after, key
        self.__doc__ = get.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> "Published[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> "Published[T] | T":
        """The value; the descriptor itself on the class."""
        return self if instance is None else self.get(instance)


def published(*, after: str | None = None, key: str | None = None) -> Callable[[Callable[[Any], T]], Published[T]]:
    """Make a method a derived member of the contract, at the end unless `after` names another member."""
    return lambda get: Published(get, after=after, key=key)


def generated_by() -> Own:
    """This program and its version."""
    from importlib.metadata import version  # noqa: PLC0415  # it brings mail and sockets; text goes without

    return Own(f"tdqs-mcp {version('tdqs-mcp')}")


class Document:
    """A result that is handed out by itself, with the name of the program that made it."""

    __slots__ = ()

    @published()
    def generated_by(self) -> Own:
        """This program and its version."""
        return generated_by()


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A key of a class in JSON."""

    key: str
    path: tuple[str, ...]
    """The attributes that lead to the value."""

    kind: Any
    """The annotation of the value."""

    owner: Any
    """The class whose attribute the last one is."""

    is_optional: bool
    """The key is left out where the value is ABSENT."""

    is_sparse: bool = False
    """The key is left out where the value is empty."""


# For example "tdqs=tdqsBefore", "choice.rank", "judge(id model)" or "conflicts?(path text)".
_CHOICE = re.compile(r"(?P<path>[\w.]+)(?P<sparse>\??)(?:\((?P<parts>[^()]*)\))?(?:=(?P<key>\w+))?")


@cache
def members(cls: Any, only: str | None = None) -> tuple[Member, ...]:  # noqa: ANN401  # a class
    """Return the keys of a class in JSON, in order; `only` is a projection, which may name any attribute."""
    by_name: dict[str, Member] = {}
    for field in fields(cls):
        kind, marks = unwrap(field.type)
        if Trait.INLINE in marks:
            by_name |= _inlined(field.name, kind, next((mark.names for mark in marks if isinstance(mark, Only)), None))
        elif only is not None or Trait.INTERNAL not in marks:
            by_name.setdefault(field.name, _member(cls, field.name, field.type, marks))
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Published):
                kind = value.get.__annotations__["return"]
                derived = Member(key=value.key or camel(name), path=(name,), kind=kind, owner=cls, is_optional=False)
                by_name = _placed(by_name, derived, after=value.after)
            elif only is not None and isinstance(value, property) and value.fget:
                by_name[name] = _member(cls, name, value.fget.__annotations__["return"], ())
    if only is None:
        return tuple(by_name.values())
    return tuple(_chosen(by_name, choice) for choice in _CHOICE.finditer(only))


def _chosen(by_name: dict[str, Member], choice: re.Match[str]) -> Member:
    """Return the member that one word of a projection names, as the word shows it."""
    name, _, rest = choice["path"].partition(".")
    member = by_name[name]
    if rest:
        (part,) = members(strip_none(unwrap(member.kind)[0]), rest)
        member = replace(part, path=(*member.path, *part.path), kind=part.kind | None)
    return replace(
        member,
        key=choice["key"] or member.key,
        kind=Annotated[member.kind, Only(choice["parts"])] if choice["parts"] else member.kind,
        is_optional=member.is_optional or bool(choice["sparse"]),
        is_sparse=bool(choice["sparse"]),
    )


def _inlined(field: str, kind: Any, only: str | None) -> dict[str, Member]:  # noqa: ANN401  # any type
    """The members of a field's class by attribute, or by key where they have got another one."""
    is_nullable = NoneType in options(kind)
    parts = members(strip_none(kind), only)
    # A comparison inlines two scores, as "tdqs=tdqsBefore" and "tdqs=tdqsAfter": both attributes are called tdqs.
    names = [choice["key"] or choice["path"] for choice in _CHOICE.finditer(only or "")]
    keys = names or [part.path[-1] for part in parts]
    return {
        key: replace(
            part,
            path=(field, *part.path),
            kind=part.kind | None if is_nullable else part.kind,
        )
        for key, part in zip(keys, parts, strict=True)
    }


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401  # any type
    """A type without its metadata, and the metadata."""
    if get_origin(annotation) is not Annotated:
        return annotation, ()
    kind, *marks = get_args(annotation)
    return kind, tuple(marks)


def options(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401  # any type
    """The members of a union; a single one of any other type."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def strip_none(annotation: Any) -> Any:  # noqa: ANN401  # any type
    """The first type of a union that is a class of values."""
    return next(option for option in options(annotation) if option is not type(None))


def camel(name: str) -> str:
    """The key of a field."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _member(cls: type, name: str, annotation: Any, marks: tuple[Any, ...]) -> Member:  # noqa: ANN401  # any type
    key = next((mark.name for mark in marks if isinstance(mark, Key)), camel(name))
    is_optional = Absent in options(unwrap(annotation)[0])
    return Member(key=key, path=(name,), kind=annotation, owner=cls, is_optional=is_optional)


def _placed(placed: dict[str, Member], member: Member, *, after: str | None) -> dict[str, Member]:
    """The members with one more, at its place."""
    names = list(placed)
    at = len(names) if after is None else names.index(after) + 1 if after else 0
    items = list(placed.items())
    return dict([*items[:at], (member.path[-1], member), *items[at:]])


_TYPES: dict[Any, str] = {str: "string", Own: "string", int: "integer", float: "number", bool: "boolean"}


def schema(cls: type) -> dict[str, Any]:
    """Return the JSON Schema of a result's document.

    Descriptions are docstrings, which are read from the source; the classes that it is made of stand in `$defs`.
    """
    builder = _SchemaBuilder()
    root = builder.object(cls, None)
    definitions = dict(sorted(builder.definitions.items()))
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **root, **({"$defs": definitions} if definitions else {})}


class _SchemaBuilder:
    """Schemas of types, and the definitions that they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.names: dict[tuple[type, str | None], str] = {}

    def object(self, cls: type, only: str | None) -> dict[str, Any]:
        """Return the schema of a class, or of some of its members."""
        chosen = members(cls, only)
        properties = {
            member.key: {**self.of(member.kind), **_described(_docstrings(member.owner).get(member.path[-1]))}
            for member in chosen
        }
        return _object(cls, properties, [member.key for member in chosen if not member.is_optional])

    def of(self, annotation: Any) -> dict[str, Any]:  # noqa: ANN401  # any type
        """Return the schema of any type that a member may have."""
        kind, marks = unwrap(annotation)
        only = next((mark.names for mark in reversed(marks) if isinstance(mark, Only)), None)
        schemas = [self._option(option, only, marks) for option in options(kind) if option is not Absent]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _option(self, kind: Any, only: str | None, marks: tuple[Any, ...]) -> dict[str, Any]:  # noqa: ANN401, PLR0911  # any type; one return for each
        if kind is NoneType:
            return {"type": "null"}
        if unwrap(kind)[1]:
            return self.of(kind)
        if unit := next((mark for mark in marks if isinstance(mark, Unit)), None):
            return _number(kind, unit)
        if kind in _TYPES:
            regex = next((mark.regex for mark in marks if isinstance(mark, Matches)), None)
            return {"type": _TYPES[kind], **({"pattern": regex} if regex else {})}
        if get_origin(kind) is Literal:
            words = get_args(kind)
            return {"type": "string", **({"enum": list(words)} if len(words) > 1 else {"const": words[0]})}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [member.value for member in kind], "type": "string"}
        if is_dataclass(kind) or is_typeddict(kind):
            return {"$ref": f"#/$defs/{self._define(kind, only)}"}
        return self._container(kind, only)

    def _container(self, kind: Any, only: str | None) -> dict[str, Any]:  # noqa: ANN401  # any type
        origin, args = get_origin(kind), get_args(kind)
        if origin is tuple:
            return {"type": "array", "items": self._option(args[0], only, ())}
        if origin in (dict, Mapping):
            names = self._option(args[0], None, ())
            # Mapping[Tier, Share]: only tiers are keys.
            keys = {"propertyNames": {"enum": names["enum"]}} if "enum" in names else {}
            return {"type": "object", **keys, "additionalProperties": self.of(args[1]) or True}
        return {}

    def _define(self, kind: Any, only: str | None) -> str:  # noqa: ANN401  # a class
        """Return the name in `$defs`; projections have names of their own, as `Tool`, `ToolPart`, `ToolPart2`."""
        if (kind, only) not in self.names:
            suffixes = ("", "Part", *(f"Part{count}" for count in range(2, 9)))
            names = (f"{kind.__name__}{suffix}" for suffix in suffixes)
            name = self.names[kind, only] = next(name for name in names if name not in self.names.values())
            self.definitions[name] = self._typed_dict(kind) if is_typeddict(kind) else self.object(kind, only)
        return self.names[kind, only]

    def _typed_dict(self, kind: Any) -> dict[str, Any]:  # noqa: ANN401  # a typed dictionary
        optional = [name for name, child in kind.__annotations__.items() if get_origin(child) is NotRequired]
        types = {
            name: get_args(child)[0] if name in optional else child for name, child in kind.__annotations__.items()
        }
        properties = {name: self.of(child) for name, child in types.items()}
        return _object(kind, properties, [name for name in types if name not in optional])


def _object(cls: type, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        **_described(inspect.getdoc(cls)),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _number(kind: Any, unit: Unit) -> dict[str, Any]:  # noqa: ANN401  # int, float or Fraction
    first = strip_none(kind)
    is_whole = unit.divisor == 1 and isinstance(first, type) and issubclass(first, int)
    limits = {"minimum": unit.low, "maximum": unit.high}
    return {
        "type": "integer" if is_whole else "number",
        **{key: limit for key, limit in limits.items() if limit is not None},
        **_described(unit.says),
    }


def _described(text: str | None) -> dict[str, str]:
    return {"description": " ".join(text.split())} if text else {}


@cache
def _docstrings(cls: Any) -> dict[str, str]:  # noqa: ANN401  # a class
    """Docstrings of a class's attributes and derived members by name."""
    by_name: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base) and isinstance(base, type):
            by_name |= _attribute_docstrings(base.__module__)[base.__name__]
        derived = {name: value for name, value in vars(base).items() if isinstance(value, Published | property)}
        by_name |= {name: value.__doc__ for name, value in derived.items() if value.__doc__}
    return by_name


@cache
def _attribute_docstrings(module: str) -> dict[str, dict[str, str]]:
    """Texts that stand under the attributes of a module's classes: Python itself keeps none of them."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        node.name: {
            before.target.id: str(after.value.value)
            for before, after in pairwise(node.body)
            if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        }
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
