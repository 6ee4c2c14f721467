"""Constant expressions as JSON with the places where they stand: names are followed, nothing is evaluated."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.nodes import (
    Attribute,
    CallSite,
    Class,
    Collection,
    Element,
    Function,
    If,
    Literal,
    Loop,
    Name,
    ObjectLiteral,
    Return,
    Spread,
    SyntaxNode,
    Template,
    Try,
)
from tdqs_mcp.code.project import Binding, NameScope, ProjectModule, last_name
from tdqs_mcp.code.resolution import ZOD_PARTS
from tdqs_mcp.code.values import Constant, Dictionary, Listing, Value
from tdqs_mcp.results.tool_code import SourcePlace

MAX_STEPS = 60
"""Expressions inside each other, names followed among them, that are read."""

MAX_STATEMENTS = 6
"""Statements of a function that may only give back a constant."""

_TEXT_METHODS: Mapping[str, Callable[[str], str]] = {
    "strip": str.strip,
    "trim": str.strip,
    "lstrip": str.lstrip,
    "trimStart": str.lstrip,
    "rstrip": str.rstrip,
    "trimEnd": str.rstrip,
    "lower": str.lower,
    "upper": str.upper,
}
_TEXT_FUNCTIONS: Mapping[str, Callable[[str], str]] = {
    "dedent": textwrap.dedent,
    "cleandoc": inspect.cleandoc,
    "str": str,
    "String": str,
}
_SAME = frozenset("freeze seal deepcopy".split())
"""Functions that give back what they are given."""


_BLOCK_OPENING = re.compile(rb"""[rRuUbBfF]{0,2}(?:\"{3}|'{3}|`)[ \t]*\r?\n\s*(?=[^\s"'`])""")

MISSING = object()
"""The value of a part that a definition does not have."""


@dataclass(eq=False)
class CallScope(NameScope):
    """Names inside a function during one call of it."""

    arguments: Mapping[str, "Expression"] = field(default_factory=dict)
    """Values that the call gives for the parameters."""


class SourceText(str):
    """A text or a key of a definition that knows the expression it was read from."""

    __slots__ = ("origin",)
    origin: "Expression"

    def __new__(cls, text: str, origin: "Expression") -> Self:
        """Return the text with its origin."""
        self = super().__new__(cls, text)
        self.origin = origin
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy is plain text: what it was read from stays behind."""
        return str, (str(self),)


class UnreadError(Exception):
    """An expression whose value only running the code can tell; its text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A node with the scope that its names belong to."""

    node: SyntaxNode
    scope: NameScope

    def part(self, node: SyntaxNode) -> "Expression":
        """Return another node of the same scope."""
        return Expression(node=node, scope=self.scope)

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.scope.module.path}:{self.node.line}"


class ConstantReader:
    """Reads expressions of a project."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._steps = 0
        self._pending: set[tuple[str, str]] = set()

    def json(self, expression: Expression) -> Any:  # noqa: ANN401  # JSON
        """Return the value of an expression. Raises UnreadError where it is computed."""
        with self._step(expression):
            here = self.locate(expression)
            value = self._json(here)
        return SourceText(value, here) if isinstance(value, str) and not isinstance(value, SourceText) else value

    def _json(self, here: Expression) -> Any:  # noqa: ANN401  # JSON
        match here.node:
            case Literal(value=value):
                return value
            case Template(parts=parts):
                return self._text(here, parts)
            case ObjectLiteral():
                return self._object(here)
            case Collection(values=values):
                return [item for value in values for item in self._items(here.part(value))]
            case CallSite() as call:
                return self._call(here, call)
            case _:
                return self._evaluated(here)

    def members(self, expression: Expression) -> dict[str, Expression]:
        """Return the members of an object, spreads and calls such as `dict(a=1)` included. Raises UnreadError."""
        with self._step(expression):
            here = self.locate(expression)
            match here.node:
                case ObjectLiteral(items=items):
                    members: dict[str, Expression] = {}
                    for key, value in items:
                        if not key:
                            raise UnreadError(f"a key is computed at {here.place}")
                        members |= self.members(here.part(value)) if key == "..." else {key: here.part(value)}
                    return members
                case CallSite(function=function, arguments=[inner]) if last_name(function) in _SAME:
                    return self.members(here.part(inner))
                case CallSite() if (result := self._result(here)) is not None:
                    return self.members(result)
                case CallSite(function=function, arguments=arguments, keywords=keywords):
                    if last_name(function) == "assign":  # Object.assign({}, a, b)
                        return {
                            key: value for part in arguments for key, value in self.members(here.part(part)).items()
                        }
                    if (
                        not arguments and "**" not in keywords and _is_constructor(last_name(function))
                    ):  # dict(…), ToolAnnotations(…)
                        return {key: here.part(value) for key, value in keywords.items()}
            raise UnreadError(f"it is computed at {here.place}")

    def items(self, expression: Expression) -> list[Expression]:
        """Return the items of a list, or of one that a function of the project gives back, with what is spread in."""
        here = self.locate(expression)
        with self._step(here):
            result = self._result(here)
            if result is not None:
                return self.items(result)
            parts = here.node.values if isinstance(here.node, Collection) else ()
            return [
                item
                for part in map(here.part, parts)
                for item in (
                    self.items(part.part(part.node.value)) if isinstance(part.node, Spread) else [self.locate(part)]
                )
            ]

    def iterated(self, expression: Expression) -> list[Expression]:
        """Return what a variable stands for in turn: `for (const tool of tools)`, `tools.forEach((tool) => …)`."""
        name = expression.node.id if isinstance(expression.node, Name) else ""
        scope = expression.scope
        match scope.names.get(name):
            case [Element(iterable=iterable)]:
                return self.items(expression.part(iterable))
        for call, place in self._interpreter.calls.get("forEach", ()):
            match call:
                case CallSite(function=Attribute(value=iterable), arguments=[Function() as function]):
                    if function is scope.function and [part.name for part in function.parameters][:1] == [name]:
                        return self.items(Expression(node=iterable, scope=place))
        return []

    def locate(self, expression: Expression) -> Expression:
        """Return the expression that names, members and imports lead to; the last one that can be followed."""
        visited = set[int]()
        while id(expression.node) not in visited and self._steps <= MAX_STEPS:
            visited.add(id(expression.node))
            with self._step(expression):
                target = self._target(expression)
            if target is None:
                break
            expression = target
        return expression

    def _target(self, expression: Expression) -> Expression | None:
        match expression.node:
            case Name(id=name):
                return self._bound(name, expression.scope)
            case Attribute(value=owner, key=key):
                return self._member(expression.part(owner), key)
            case CallSite(function=function, arguments=[inner]) if last_name(function) in _SAME:
                return expression.part(inner)
            case _:
                return None

    def _member(self, owner: Expression, key: str) -> Expression | None:
        module = self._module(owner)
        if module is not None:
            return self._exported(module, key)
        here = self.locate(owner)
        match here.node:
            case ObjectLiteral():
                try:
                    return self.members(here).get(key)
                except UnreadError:
                    return None
            case Class(fields=fields) if key in fields:
                return here.part(fields[key])
            case Literal() if key == "value":  # GitTools.STATUS.value
                return here
            case CallSite(function=Attribute(key=maker), arguments=[inner]) if ZOD_PARTS.get(key) == f".{maker}()":
                return here.part(inner)
            case CallSite(function=Name() as maker, is_new=is_new) if is_new or maker.id[:1].isupper():
                owned = self.locate(here.part(maker))
                return (
                    owned.part(owned.node.fields[key])
                    if isinstance(owned.node, Class) and key in owned.node.fields
                    else None
                )
            case _:
                return None

    def _bound(self, name: str, scope: NameScope) -> Expression | None:
        place: NameScope | None = scope
        while place is not None:
            argument = place.arguments.get(name) if isinstance(place, CallScope) else None
            if argument is not None:
                return argument
            bindings = place.names.get(name)
            if bindings:
                distinct = {
                    id(binding): binding
                    for binding in bindings
                    if not (isinstance(binding, Literal) and binding.value is None)
                }
                return self._binding(next(iter(distinct.values())), place) if len(distinct) == 1 else None
            if place.function and any(parameter.name == name for parameter in place.function.parameters):
                return None
            place = place.parent
        return None

    def _binding(self, binding: Binding, scope: NameScope) -> Expression | None:
        if isinstance(binding, tuple):
            source, name = binding
            home = self._interpreter.project.find(scope.module, source)
            return self._exported(home, name) if home is not None and name else None
        return Expression(node=binding, scope=scope)

    def _exported(self, module: ProjectModule, name: str) -> Expression | None:
        if (module.path, name) in self._pending:  # modules that import from each other
            return None
        self._pending.add((module.path, name))
        try:
            return self._given_away(module, name)
        finally:
            self._pending.discard((module.path, name))

    def _given_away(self, module: ProjectModule, name: str) -> Expression | None:
        top = self._interpreter.scope_of(module)
        if module.is_python:
            here = self._bound(name, top)
            homes = [binding[0] for binding in top.names.get("*", ()) if isinstance(binding, tuple)] if not here else []
        else:
            export = module.exports.get(name)
            if isinstance(export, tuple):
                return self._binding(export, top)
            if export is not None:
                return (
                    Expression(node=export, scope=top) if not isinstance(export, Name) else self._bound(export.id, top)
                )
            here = None
            homes = [key[1:] for key in module.exports if key.startswith("*")]
        for source in homes:
            home = self._interpreter.project.find(module, source)
            if here is None and home is not None and home is not module:
                here = self._exported(home, name)
        return here

    def _module(self, owner: Expression) -> ProjectModule | None:
        """Return the module that a name stands for: `import * as schemas from "./schemas.js"`."""
        if not isinstance(owner.node, Name):
            return None
        place: NameScope | None = owner.scope
        while place is not None:
            for binding in place.names.get(owner.node.id, ()):
                if isinstance(binding, tuple):
                    source, name = binding
                    project = self._interpreter.project
                    if not name:
                        return project.find(place.module, source)
                    return project.find(place.module, f"{source}.{name}") if place.module.is_python else None
                return None
            place = place.parent
        return None

    def _text(self, here: Expression, parts: Sequence[SyntaxNode]) -> str:
        if isinstance(here.node, Template) and here.node.is_filled:
            raise UnreadError(f"its text is filled in at {here.place}")
        texts = [self.json(here.part(part)) for part in parts]
        if not all(isinstance(text, str | int | float) and not isinstance(text, bool) for text in texts):
            raise UnreadError(f"its text is computed at {here.place}")
        return "".join(map(str, texts))

    def _object(self, here: Expression) -> dict[str, Any]:
        return {
            SourceText(key, value): self.json(value)
            for key, value in self.members(here).items()
            if not (isinstance(value.node, Name) and value.node.id == "undefined")
        }

    def _items(self, expression: Expression) -> Iterator[Any]:
        if isinstance(expression.node, Spread):
            values = self.json(expression.part(expression.node.value))
            if not isinstance(values, list):
                raise UnreadError(f"a list is computed at {expression.place}")
            yield from values
        else:
            yield self.json(expression)

    def _call(self, here: Expression, call: CallSite) -> Any:  # noqa: ANN401
        word = last_name(call.function)
        owner = call.function.value if isinstance(call.function, Attribute) else None
        if word in _TEXT_METHODS and owner is not None and not call.arguments:
            return _TEXT_METHODS[word](self._string(here.part(owner)))
        if word in _TEXT_FUNCTIONS and len(call.arguments) == 1:
            return _TEXT_FUNCTIONS[word](self._string(here.part(call.arguments[0])))
        if word == "join" and owner is not None and len(call.arguments) <= 1:
            joined = [owner, call.arguments[0]] if call.arguments else [Literal(line=call.line, value=","), owner]
            glue, items = (joined[0], joined[1]) if here.scope.module.is_python else (joined[1], joined[0])
            texts = self.json(here.part(items))
            if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
                return self._string(here.part(glue)).join(texts)
        elif _is_constructor(word) or word == "assign":
            return self._object(here)
        result = self._result(here)
        if result is not None:
            return self.json(result)
        return self._evaluated(here)

    def _result(self, here: Expression) -> Expression | None:
        """Return what a function of the project gives back that does nothing else: `_page_properties()`."""
        if not isinstance(here.node, CallSite):
            return None
        target = self.locate(here.part(here.node.function))
        if not isinstance(target.node, Function) or len(target.node.body.statements) > MAX_STATEMENTS:
            return None
        results = [part for part in target.node.body.statements if isinstance(part, Return)]
        if len(results) != 1 or any(isinstance(part, If | Loop | Try) for part in target.node.body.statements):
            return None
        return Expression(node=results[0].value, scope=call_scope(target, here.node, here.scope))

    def _string(self, expression: Expression) -> str:
        text = self.json(expression)
        if not isinstance(text, str):
            raise UnreadError(f"its text is computed at {expression.place}")
        return text

    def _evaluated(self, here: Expression) -> Any:  # noqa: ANN401
        """Return what the interpreter makes of an expression, such as a parameter that one call gives."""
        if isinstance(here.node, Function | Class):
            raise UnreadError(f"it is made at {here.place}")
        return _plain(self._interpreter.value_of(here.node, here.scope), here)

    @contextmanager
    def _step(self, expression: Expression) -> Iterator[None]:
        if self._steps > MAX_STEPS:
            raise UnreadError(f"it nests too deep at {expression.place}")
        self._steps += 1
        try:
            yield
        finally:
            self._steps -= 1


def call_scope(function: Expression, call: CallSite, scope: NameScope) -> CallScope:
    """Return the names inside a function that a call in a scope gives its arguments."""
    own = function.node if isinstance(function.node, Function) else None
    parameters = [part for part in own.parameters if part.name not in ("self", "cls")] if own else []
    arguments = {part.name: function.part(part.default) for part in parameters if part.name and part.default}
    pairs = (*zip((part.name for part in parameters), call.arguments, strict=False), *call.keywords.items())
    arguments |= {name: Expression(node=value, scope=scope) for name, value in pairs}
    return CallScope(module=function.scope.module, function=own, parent=function.scope, arguments=arguments)


def kinds_of(values: Iterable[object]) -> set[type]:
    """Return the types of some JSON values."""
    return {str if isinstance(value, str) else type(value) for value in values}


def _is_constructor(word: str) -> bool:
    return word[:1].isupper() or word == "dict"


def _plain(value: Value, here: Expression) -> Any:  # noqa: ANN401  # JSON
    match value:
        case Constant(value=constant):
            return constant
        case Listing(values=values):
            return [_plain(item, here) for item in values]
        case Dictionary(items=items) if value.is_whole:
            return {key: _plain(item, here) for key, item in items}
        case _:
            raise UnreadError(f"it is computed at {here.place}")


def origin_at(raw: Any, keys: Iterable[str]) -> tuple[Any, Expression | None]:  # noqa: ANN401  # JSON
    """Return the value at some keys of a definition as read, and where it stands; MISSING where there is none."""
    value, origin = raw, None
    for key in keys:
        if isinstance(value, dict) and key in value:
            spelled = next(name for name in value if name == key)
            value, origin = value[key], _origin(spelled)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value, origin = value[int(key)], None
        else:
            return MISSING, None
        origin = _origin(value) or origin
    return value, origin


def plain(value: Any) -> Any:  # noqa: ANN401  # JSON
    """Return a definition without the places of its parts."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, SourceText) else value


def places_of(raw: Mapping[str, Any]) -> dict[str, SourcePlace]:
    """Return the places of a definition's parts by JSON pointer."""
    return {pointer: place(origin) for pointer, origin in origins_of(raw)}


def place(origin: Expression) -> SourcePlace:
    """Return where an expression begins; of a text that begins below its quotes, where its first word does."""
    module, (start, end) = origin.scope.module, origin.node.span
    opening = _BLOCK_OPENING.match(module.tree.text, start, end)
    position = module.position(opening.end() if opening else start)
    return SourcePlace(file=module.path, line=position.line, column=position.column)


def origins_of(value: Any, pointer: str = "") -> Iterator[tuple[str, Expression]]:  # noqa: ANN401  # JSON
    """Yield the parts of a definition that stand somewhere, by JSON pointer."""
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        below = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        origin = _origin(item) or _origin(key)
        if origin is not None and origin.node.span[1]:
            yield below, origin
        yield from origins_of(item, below)


def _origin(value: object) -> Expression | None:
    return value.origin if isinstance(value, SourceText) else None
