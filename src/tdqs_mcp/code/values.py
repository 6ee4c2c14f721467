"""Values as far as they are known without running the code, and the names that have them while a call is followed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, ClassVar, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from tdqs_mcp.code.nodes import Class, Function
    from tdqs_mcp.code.project import NameScope, ProjectModule

T = TypeVar("T")

MAX_ALTERNATIVES = 6
"""Alternatives of one value; beyond, nothing is known of it."""


MAX_FUNCTIONS = 40
"""Functions of a table, which one value may be."""

MAX_SIZE = 120
"""Values inside a value; of a bigger one nothing is kept but its parameters."""


MAX_KEYS = 80
"""Keys of a table that are kept, however big its values are."""

MAX_RESULTS = 16
"""Texts and tables of which one value is one: the ways in which a function may end."""


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=True)
def _value(cls: type[T]) -> type[T]:
    """Make a class of values: immutable, equal by content, with a hash that is computed once."""
    value_class = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    value_class.__hash__ = _hash  # type: ignore[method-assign, assignment]
    value_class.content = tuple(item.name for item in fields(value_class) if item.compare)  # type: ignore[attr-defined, arg-type]
    return value_class


def _hash(value: "Value") -> int:
    return value.digest


@_value
class Value:
    """A value of which nothing is known but the tool's parameters that it was made from."""

    content: ClassVar[tuple[str, ...]]
    """Names of the fields that make two values equal."""

    parameters: frozenset[str] = frozenset()
    is_handed_over: bool = False
    """An object that is put into the server while it runs: its methods may do anything, whatever their names."""

    digest: int = field(init=False, repr=False, compare=False, default=0)
    size: int = field(init=False, repr=False, compare=False, default=1)
    """Values inside it, with itself."""

    def __post_init__(self) -> None:
        """Compute what depends on the whole content."""
        content = tuple([getattr(self, name) for name in self.content])
        object.__setattr__(self, "digest", hash((type(self).__name__, content)))
        object.__setattr__(self, "size", 1 + _size(content))


def _size(content: tuple[object, ...]) -> int:
    size = 0
    for item in content:
        if isinstance(item, Value):
            size += 1 if isinstance(item, Instance) else item.size  # objects that share others are no bigger for it
        elif type(item) is tuple:
            size += _size(item)
    return size


@_value
class Constant(Value):
    """A string, number, boolean or null."""

    value: str | int | float | bool | None


@_value
class PartialText(Value):
    """A string of which parts are known; None stands for the others."""

    parts: tuple[str | None, ...]
    rows: tuple[str, ...] = ()
    """Texts that stand in it once for each item of something, `{}` for their unknown parts."""


@_value
class Argument(Value):
    """A value that the agent passes for a parameter, unchanged; the name is empty for all arguments together."""

    name: str = ""
    is_trimmed: bool = False
    """Case or outer space may be changed."""


@_value
class External(Value):
    """Something of a library or of the language: `requests.get`, `pathlib.Path().parent`."""

    name: str
    arguments: tuple[Value, ...] = ()
    """Arguments of the call that made it, such as the base URL of a client."""


@_value
class Closure(Value):
    """A function of the project, with the scope in which it was defined and the object that it is bound to."""

    function: "Function"
    scope: "CallFrame | NameScope"
    receiver: "Value | None" = None
    leading: tuple[Value, ...] = ()
    """Arguments that were bound already, as by `functools.partial`."""

    @property
    def module(self) -> "ProjectModule":
        """Return the module that the function stands in."""
        return self.scope.module


@_value
class ClassValue(Value):
    """A class of the project."""

    node: "Class"
    scope: "CallFrame | NameScope"

    @property
    def module(self) -> "ProjectModule":
        """Return the module that the class stands in."""
        return self.scope.module


@_value
class Instance(Value):
    """An object of a class of the project, with what its constructor was given."""

    of: ClassValue
    arguments: tuple[tuple[str, Value], ...] = ()
    is_lasting: bool = False
    """It was made before the call of the tool."""


@_value
class ModuleValue(Value):
    """A module of the project."""

    module: "ProjectModule"


@_value
class Dictionary(Value):
    """A dictionary or object; the key `...` holds what was spread into it, an empty one what has an unknown key."""

    items: tuple[tuple[str, Value], ...]
    optional: frozenset[str] = frozenset()
    """Keys that are put into it on a condition."""

    @property
    def later(self) -> frozenset[str]:
        """Parameters of what was put into it after it was made."""
        return self.parameters - parameters_of(value for _, value in self.items)

    @property
    def values(self) -> tuple[Value, ...]:
        """Return the values of all keys, also of those that were spread into it."""
        return tuple(
            inner
            for key, value in self.items
            for inner in (value.values if key == "..." and isinstance(value, Dictionary) else (value,))
        )

    @property
    def is_whole(self) -> bool:
        """Return whether all keys are known."""
        return all(key not in ("", "...") for key, _ in self.items)

    def get(self, key: str) -> Value | None:
        """Return the value of a key, as far as known."""
        for name, value in reversed(self.items):
            if name == key:
                return value
            if name == "..." and isinstance(value, Dictionary):
                inner = value.get(key)
                if inner is not None:
                    return inner
            elif name == "..." and isinstance(value, Argument):
                return replace(value, name=key, parameters=frozenset({key}))
        return None


@_value
class Listing(Value):
    """A list of known values."""

    values: tuple[Value, ...]
    optional: frozenset[Value] = frozenset()
    """Those of them that are put into it on a condition."""

    repeated: frozenset[Value] = frozenset()
    """Those of them that stand for any number, as what a loop puts into it."""


@_value
class Alternatives(Value):
    """Several values of which one is the value."""

    values: tuple[Value, ...]
    conditions: tuple[str, ...] = ()
    """Condition on the tool's parameters for each value; empty for one of which it is not known."""


TEXT = ""
"""The argument of an object that is a text itself: `class Endpoint(str)`."""

ANSWER = "Response()"
"""The answer to a request and all that is taken out of it: data, whatever client has asked."""

UNKNOWN = Value()
HANDED_OVER = Value(is_handed_over=True)


def parameters_of(values: Iterable[Value]) -> frozenset[str]:
    """Return the parameters that any of the values was made from."""
    return frozenset[str]().union(*(value.parameters for value in values))


def unknown(*values: Value) -> Value:
    """Return a value of which nothing is known but what it was made from."""
    parameters = parameters_of(values)
    return Value(parameters=parameters) if parameters else UNKNOWN


def bounded(value: Value, room: int = MAX_SIZE) -> Value:
    """Return a value without its biggest parts where it is too big: of a list of tools, the handlers stay."""
    if value.size <= room:
        return value
    if isinstance(value, Listing) and len(value.values) < room:
        share = max(1, (room - 1) // len(value.values))
        smaller = {item: bounded(item, share) for item in value.values}
        return replace(
            value,
            values=tuple(smaller[item] for item in value.values),
            optional=frozenset(smaller[item] for item in value.optional if item in smaller),
            repeated=frozenset(smaller[item] for item in value.repeated if item in smaller),
        )
    if isinstance(value, Alternatives):
        parts = tuple(bounded(item, room // len(value.values)) for item in value.values)
        return replace(value, values=parts) if len(set(parts)) == len(parts) else join(parts)
    if isinstance(value, Dictionary) and 0 < len(value.items) <= MAX_KEYS:
        if value.size == 1 + len(value.items):
            return value  # nothing is known but the keys
        share = (room - 1) // len(value.items)
        return replace(
            value,
            items=tuple((key, bounded(item, share) if share else unknown(item)) for key, item in value.items),
        )
    return unknown(value)


def alternatives(value: Value) -> tuple[Value, ...]:
    """Return the values that a value may be, each made also from what was put into it afterwards."""
    if not isinstance(value, Alternatives):
        return (value,)
    later = value.parameters - parameters_of(value.values)
    return tuple(made_from(inner, later) for inner in value.values)


def options(value: Value) -> Iterator[tuple[Value, str]]:
    """Yield the values that a value may be, each with the condition on the tool's parameters, as far as known."""
    words = value.conditions if isinstance(value, Alternatives) else ()
    for position, inner in enumerate(alternatives(value)):
        yield inner, words[position] if words else ""


def made_from(value: Value, parameters: frozenset[str]) -> Value:
    """Return a value that was made from further parameters."""
    return value if parameters <= value.parameters else replace(value, parameters=value.parameters | parameters)


def join(values: Iterable[Value], conditions: Sequence[str] = ()) -> Value:
    """Return the value that is one of several, each on its condition."""
    values = list(values)
    if len(values) == 1:
        return values[0]
    words: dict[Value, str] = {}
    for position, value in enumerate(values):
        around = conditions[position] if conditions else ""
        for inner, word in options(value):
            both = " and ".join(filter(None, (around, word)))
            words[inner] = both if words.get(inner, both) == both else ""
    distinct = tuple(words)
    if len(distinct) == 1:
        return distinct[0]
    if len(distinct) > MAX_ALTERNATIVES:  # many patterns are still patterns, answers of many requests still answers
        bare = (replace(value, arguments=()) if isinstance(value, External) else value for value in distinct)
        distinct = tuple(dict.fromkeys(bare))
    if len(distinct) == 1:
        return distinct[0]
    if len(distinct) > (MAX_FUNCTIONS if all(map(_is_cell, distinct)) else MAX_ALTERNATIVES):
        results = [value for value in distinct if isinstance(value, Constant | Dictionary | Listing | PartialText)]
        results = results[:MAX_RESULTS]
        rest = tuple(value for value in distinct if value not in results)
        distinct = (*results, unknown(*rest)) if results and rest else tuple(results)
    if not distinct:
        return unknown(*values)
    own_words = tuple(words.get(value, "") for value in distinct)
    return bounded(
        Alternatives(
            values=distinct, parameters=parameters_of(distinct), conditions=own_words if any(own_words) else ()
        )
    )


def _is_cell(value: Value) -> bool:
    """Return whether a value may stand in a table of tools: a function, a module, an object, a name, a row of them."""
    is_row = isinstance(value, Listing) and any(isinstance(item, Closure | ModuleValue) for item in value.values)
    return is_row or isinstance(value, Closure | ModuleValue | Instance | Constant)


def elements(value: Value) -> Value:
    """Return what the elements of a list may be; of something else, what is made from it."""
    lists = [inner for inner in alternatives(value) if not isinstance(inner, Listing) or inner.values]
    return join(
        made_from(item, value.parameters) if isinstance(inner, Listing) else unknown(inner)
        for inner in lists or [value]
        for item in (inner.values if isinstance(inner, Listing) and inner.values else (inner,))
    )


def entries_of(table: "Dictionary") -> Listing:
    """Return the items of a map as pairs of key and value, where its keys are known."""
    whole = [
        pair
        for key, value in table.items
        for pair in (value.items if key == "..." and isinstance(value, Dictionary) else [(key, value)])
    ]
    pairs = [Listing(values=(Constant(value=key) if key else UNKNOWN, value)) for key, value in whole if key != "..."]
    return Listing(values=tuple(pairs), parameters=table.parameters)


def rows_of(table: Value) -> Sequence[Value]:
    """Return the rows of a list of functions, or of modules, alone or each with its name; nothing of other lists."""
    rows = table.values if isinstance(table, Listing) and 1 < len(table.values) <= MAX_FUNCTIONS else ()
    cells = [row.values if isinstance(row, Listing) else (row,) for row in rows]
    return rows if all(any(isinstance(cell, Closure | ModuleValue) for cell in row) for row in cells) else ()


def closures_in(value: Value) -> Iterator[Closure]:
    """Yield the functions of the project that a value is, or has as members."""
    for inner in alternatives(value):
        if isinstance(inner, Closure):
            yield inner
        elif isinstance(inner, Dictionary):
            for _, member in inner.items:
                yield from closures_in(member)


def text_of(value: Value) -> str | None:
    """Return a string as far as it is known, with `{}` for its unknown parts; None for what is no string."""
    match value:
        case Constant(value=str(text)):
            return text
        case PartialText(parts=parts):
            return "".join("{}" if part is None else part for part in parts)
        case _:
            return None


SURE = 2
"""Certainty of a value that stands for something that outlives the call; 1 is maybe."""


@dataclass(slots=True, eq=False)
class CallFrame:
    """The names of a function while its body is followed."""

    parent: "CallFrame | NameScope"
    module: "ProjectModule" = field(init=False)
    names: dict[str, Value] = field(default_factory=dict)
    receiver: Value | None = None
    depth: int = 0
    results: list[Value] = field(default_factory=list)
    is_catching: bool = False
    """What is followed is done where an error was caught."""

    state: dict[str, int] = field(default_factory=dict)
    """How surely names stand for something that outlives the call: SURE for `boat = self.boats[name]`."""

    outer: set[str] = field(default_factory=set)
    """Names that the function declares to be the module's."""

    is_new: bool = False
    """The receiver was made during the call of the tool."""

    def __post_init__(self) -> None:
        """Take the module of what is around the function."""
        self.module = self.parent.module
