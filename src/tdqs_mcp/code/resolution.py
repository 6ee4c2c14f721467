"""Resolving names, members and types of a project to values; nothing is run."""

import builtins
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from tdqs_mcp.code.knowledge import NAMES, Knowledge, read_knowledge
from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    CallSite,
    Class,
    Collection,
    FormalParameter,
    Function,
    Literal,
    Name,
    ObjectLiteral,
    Other,
    Subscript,
    SyntaxNode,
    Template,
    walk,
)
from tdqs_mcp.code.project import Binding, NameScope, Project, ProjectModule, dotted_name, last_name, scoped
from tdqs_mcp.code.trace import ALL, MAX_CALLS, CallTrace, Sighting
from tdqs_mcp.code.values import (
    HANDED_OVER,
    UNKNOWN,
    Argument,
    CallFrame,
    ClassValue,
    Closure,
    Constant,
    Dictionary,
    External,
    Instance,
    Listing,
    ModuleValue,
    PartialText,
    Value,
    alternatives,
    bounded,
    join,
    made_from,
    options,
    unknown,
)

MAX_DEPTH = 14
"""Calls between a handler and the deepest effect that is looked for; four reach 96% of them."""

MUTED_CALLS = 60
"""Calls that are followed to evaluate what does not happen in a call of the tool, such as the top of a module."""

ZOD_PARTS = {"shape": ".object()", "value": ".literal()"}
"""Members that give back what a call of zod was given: `z.object({ name: z.literal("find") }).shape.name.value`."""

MAX_ITEMS = 60
"""Items of a list or a map that are told apart."""

MAX_BINDINGS = 4
"""Assignments of a name that are looked at, the last ones: `client = None`, then `client = Client()` in a condition."""

_OTHERS = ("...", Dictionary(items=()))
"""An item of a map that may have others."""

PLAIN_LISTS = NAMES["plain_lists"]
MODELS = NAMES["models"]
DATA_CLASSES = MODELS | {"dataclass", "define"}
"""Bases and decorators of classes whose fields are data."""

_CONSTRUCTORS = ("__init__", "constructor")
_ABSTRACT = ("builtins.", "typing.", "typing_extensions.", "collections.abc.")


_FILLING = {"set": 1, "append": 0, "push": 0, "add": 0, "setdefault": 1}
"""Methods that put an item into a list or a map, with the number of arguments before it."""

COMPILED = NAMES["compiled"]

_CONTEXT_PART = re.compile(r"\.Context(\(\))?\.\w+(\(\))?$")
"""A member of the framework's context object, or what its method gives back: `ctx.session`, `ctx.get_state("key")`."""


class Resolution(ABC):
    """Names of a project; `Interpreter` evaluates what they are bound to."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.trace = CallTrace()
        self._conditions: tuple[str, ...] = ()
        self._unclear = 0  # conditions around what is followed that no parameter decides
        self._nodes: dict[ProjectModule, Sequence[tuple[SyntaxNode, NameScope]]] = {}
        self._scopes: dict[ProjectModule, NameScope] = {}
        self._attributes: dict[tuple[Instance, str], Value] = {}
        self._class_members: dict[tuple[ClassValue, str], Value] = {}
        self._pending: set[object] = set()
        self._is_muted = False
        self._shared: dict[object, tuple[Value, CallTrace]] = {}
        self._assigned: dict[Function, dict[str, list[Assign]]] = {}
        self._items: dict[str, list[tuple[SyntaxNode, SyntaxNode, NameScope]]] = {}
        self._set_outside: set[str] = set()
        self._methods_of_objects: dict[str, list[tuple[SyntaxNode, NameScope]]] = {}
        self._lifespan: Value | None = None
        self._filling: set[object] = set()
        self._repeated: set[Function] = set()
        self._absent: frozenset[Value] = frozenset()
        self._leaving: str | None = None  # condition of what comes after the last `if`
        self.log_file = ""  # line that makes a logger write to a file
        self.records: dict[str, tuple[SyntaxNode, NameScope]] = {}
        """The definitions of tools, by name, where they are written out as records."""

    def knowledge(self, module: ProjectModule) -> Knowledge:
        """Return what is known of the libraries of a module's language."""
        return read_knowledge(module.tree.language)

    def scope_of(self, module: ProjectModule) -> NameScope:
        """Return the scope at the top of a module."""
        return self._scopes.setdefault(module, NameScope(module=module))

    def nodes_of(self, module: ProjectModule) -> Sequence[tuple[SyntaxNode, NameScope]]:
        """Return every node of a module with its scope, whose names are evaluated once for all who ask."""
        if module not in self._nodes:
            self._nodes[module] = list(scoped(self.scope_of(module)))
        return self._nodes[module]

    def lookup(self, name: str, place: CallFrame | NameScope) -> Value:
        """Return what a name stands for."""
        while isinstance(place, CallFrame):
            if name in place.names:
                return place.names[name]
            place = place.parent
        scope: NameScope | None = place if name not in COMPILED else None
        while scope is not None:
            if name in scope.names or self._parameter(scope, name):
                return self._scoped(scope, name)
            scope = scope.parent
        module = place.module
        starred = self._starred(module, name) if module.is_python else None
        if starred is not None:
            return starred
        inner = None if module.is_python else module.named.get(name)
        if inner is not None:
            return self._bound(inner, self.scope_of(module))
        if module.is_python:
            if hasattr(builtins, name):
                return External(name=f"builtins.{name}")
            return self._only_function(name) or UNKNOWN
        if name == "exports" and module.exports:
            return ModuleValue(module=module)
        return External(name=name)

    def _only_function(self, name: str) -> Value | None:
        """Return the one function at the top of any module that has a name: files that are run in another's names."""
        homes = self.project.homes.get(name, ())
        bindings = homes[0].bindings[name] if len(homes) == 1 else ()
        is_function = len(bindings) == 1 and isinstance(bindings[0], Function)
        return self._scoped(self.scope_of(homes[0]), name) if is_function else None

    def _parameter(self, scope: NameScope, name: str) -> FormalParameter | None:
        parameters = scope.function.parameters if scope.function else ()
        return next((parameter for parameter in parameters if _binds(parameter, name)), None)

    def _scoped(self, scope: NameScope, name: str) -> Value:
        if name in scope.cache:
            value = scope.cache[name]
            return value if isinstance(value, Value) else UNKNOWN
        scope.cache[name] = UNKNOWN  # a name that is made from itself
        with self.muted():
            bindings = scope.names.get(name, ())
            library = self._library(scope, bindings)
            if library:
                # esbuild's `axios_default` is the module, `import_pg` what it was required as
                value = External(name=library if name.endswith("_default") else f"{library}.{name}")
            elif bindings:
                value = join(self._bound(binding, scope) for binding in bindings[-MAX_BINDINGS:])
            else:
                value = self._given(scope, name)
            value = self._filled(value, name, scope.module) if scope.function is None else value
        scope.cache[name] = value
        return value

    def _library(self, scope: NameScope, bindings: Sequence[Binding]) -> str:
        """Return the known package that a name at the top of a bundle belongs to; empty for the project's own names."""
        first = bindings[0] if bindings else None
        if scope.function is not None or not isinstance(first, SyntaxNode) or not scope.module.tree.bundled:
            return ""
        package = scope.module.package_at(first.line)
        return package if package and read_knowledge("script").is_library(package) else ""

    def _bound(self, binding: Binding, scope: NameScope) -> Value:
        match binding:
            case Function():
                return self.closure(binding, scope)
            case Class():
                return ClassValue(node=binding, scope=scope)
            case (str(), str()):
                return self.imported(scope.module, *binding)
            case _:
                function = scope.module.deferred.get(binding) if scope.function is None else None
                if function is not None:
                    scope = NameScope(module=scope.module, function=function, parent=scope)
                return self.evaluate(binding, CallFrame(parent=scope, receiver=self._self(scope)))

    def _self(self, scope: NameScope) -> Value | None:
        if scope.owner is None or scope.parent is None:
            return self._self(scope.parent) if scope.parent else None
        return Instance(of=ClassValue(node=scope.owner, scope=scope.parent))

    @cached_property
    def calls(self) -> Mapping[str, Sequence[tuple[CallSite, NameScope]]]:
        """Calls by the last name of what is called, with their scopes, to find what an enclosing function was given."""
        index: dict[str, list[tuple[CallSite, NameScope]]] = {}
        for module in self.project.modules:
            for node, scope in self.nodes_of(module):
                name = last_name(node.function) if isinstance(node, CallSite) else ""
                if name and isinstance(node, CallSite):
                    index.setdefault(name, []).append((node, scope))
                match node:  # boats[name] = boat
                    case ObjectLiteral(items=items) if not module.is_python:
                        for word, part in items:  # { formatError, find: this.find.bind(this), save: (boat) => … }
                            if isinstance(part, Function | Name | CallSite):
                                self._methods_of_objects.setdefault(word, []).append((part, scope))
                    case Assign(target=Subscript(value=owner, key=key) | Attribute(value=owner, key=key), value=value):
                        if name := last_name(owner):
                            if not isinstance(key, SyntaxNode) and name not in ("self", "this"):
                                self._set_outside.add(key)
                            key = key if isinstance(key, SyntaxNode) else Literal(line=node.line, value=key)
                            self._items.setdefault(name, []).append((key, value, scope))
                    case CallSite(function=Attribute(value=owner, key=method), arguments=[*first, value]):
                        if method in _FILLING and len(first) == _FILLING[method]:  # boats.set(name, boat)
                            key = first[0] if first else Literal(line=node.line, value=None)
                            self._items.setdefault(last_name(owner), []).append((key, value, scope))
        return index

    def _filled(self, value: Value, name: str, holder: ProjectModule | Class) -> Value:
        """Return a list or a map with what is put into it anywhere in its module or class under the name it has there.

        `tools.set(tool.name, tool)` in `function register(tool)` puts in what each call of that function gives.
        """
        if not self._is_empty_container(value) or (name, holder) in self._filling:
            return value
        self._filling.add((name, holder))
        items: list[tuple[str, Value]] = []
        for key, item, scope in self._items.get(name, ()) if self.calls else ():
            is_here = holder in (scope.module, scope.owner, scope.parent.owner if scope.parent else None)
            for place in self._callings(item, scope) if is_here else ():
                local = scope.names.get(key.id, ()) if isinstance(key, Name) else ()
                inner = local[0] if len(local) == 1 else key  # const name = tool.name
                content = self.evaluate(item, CallFrame(parent=place))
                entries: list[tuple[str, Value]] = []
                for part in alternatives(content) if isinstance(item, Name) else [content]:
                    # boats[module.NAME] = module: each of the modules under its own name, and none that has no name
                    names = {item.id: part} if isinstance(item, Name) else {}
                    frame = CallFrame(parent=place, names=names)
                    text = self.evaluate(inner if isinstance(inner, SyntaxNode) else key, frame)
                    is_known = isinstance(text, Constant) and isinstance(text.value, str)
                    entries.append((str(text.value) if isinstance(text, Constant) and is_known else "", part))
                items += [entry for entry in entries if entry[0]] or entries
        self._filling.discard((name, holder))
        if not items or len(items) > MAX_ITEMS:
            return value
        match value:
            case Listing():
                return bounded(
                    Listing(values=tuple(dict.fromkeys(item for _, item in items)), parameters=value.parameters)
                )
            case Dictionary():
                return bounded(Dictionary(items=(_OTHERS, *items), parameters=value.parameters))
            case External():
                return replace(value, arguments=(bounded(Dictionary(items=(_OTHERS, *items))),))
            case _:
                return value

    def _is_empty_container(self, value: Value) -> bool:
        match value:
            case Listing(values=content) | Dictionary(items=content) | External(arguments=content) if content:
                return False
            case External(name=name):
                return name.endswith("()") and read_knowledge("python" if "." in name else "script").is_content(
                    f"{name}.get"
                )
            case _:
                return isinstance(value, Listing | Dictionary)

    def _callings(self, node: SyntaxNode, scope: NameScope) -> Iterator[CallFrame | NameScope]:
        """Yield the scope of a node once for each call of the function around it, where the call gives the node."""
        function = scope.function
        if (
            function is None
            or not isinstance(node, Name)
            or not any(_binds(part, node.id) for part in function.parameters)
        ):
            yield scope
            return
        names = [part.name for part in function.parameters]
        for call, place in self.calls.get(function.name, ())[:MAX_ITEMS]:
            here = CallFrame(parent=place, receiver=self._self(place))
            skipped = scope.owner is not None and place.module.is_python
            values = dict(zip(names[skipped:], (self.evaluate(part, here) for part in call.arguments), strict=False))
            yield CallFrame(parent=scope, names=values)

    def _given(self, scope: NameScope, name: str) -> Value:
        """Return what an enclosing function is given for a parameter: by its type, or by its only call."""
        parameter = self._parameter(scope, name)
        function = scope.function
        if parameter is None or function is None:
            return UNKNOWN
        if scope.owner is not None and function.parameters and parameter is function.parameters[0]:
            return self._self(scope) or UNKNOWN
        value = self.typed(parameter.annotation, scope)
        if value is not UNKNOWN or not function.name:
            return value
        calls = self.calls.get(function.name, ())
        if len(calls) != 1:
            return UNKNOWN
        call, place = calls[0]
        position = function.parameters.index(parameter) - (scope.owner is not None and place.module.is_python)
        node = call.keywords.get(name) or (call.arguments[position] if 0 <= position < len(call.arguments) else None)
        if node is None:
            return UNKNOWN
        value = self.evaluate(node, CallFrame(parent=place, receiver=self._self(place)))
        if parameter.pattern is not None:
            path = (
                [key for key, target in parameter.pattern.items if _binds(target, name)]
                if isinstance(parameter.pattern, ObjectLiteral)
                else []
            )
            return self.member(value, path[0]) if path else UNKNOWN
        return value

    def typed(self, annotation: SyntaxNode | None, scope: NameScope | CallFrame) -> Value:
        """Return an object of an annotated type, where that is a class of the project or of a library."""
        match annotation:
            case Name() | Attribute():
                return self.instance(self.evaluate(annotation, CallFrame(parent=scope)))
            case Subscript(value=outer, key=key) if dotted_name(outer).rpartition(".")[2] in ("Optional", "Annotated"):
                return self.typed(key.values[0] if isinstance(key, Collection) and key.values else key, scope)
            case Subscript(value=outer, key=key) if last_name(outer) in PLAIN_LISTS and not isinstance(key, Collection):
                item = self.typed(key, scope)
                return UNKNOWN if item is UNKNOWN else Listing(values=(item,), repeated=frozenset([item]))
            case Other(operator="|", parts=parts):
                values = [self.typed(part, scope) for part in parts if not isinstance(part, Literal)]
                return join(values) if values else UNKNOWN
            case _:
                return UNKNOWN

    def instance(self, value: Value) -> Value:
        """Return an object of a class; nothing is known of one of the language itself, such as `str`."""
        match value:
            case ClassValue():
                return Instance(of=value)
            case External(name=name) if "." in name and not name.startswith(_ABSTRACT) and "[]" not in name:
                return External(name=f"{name}()")
            case _:
                return UNKNOWN

    def imported(self, module: ProjectModule, source: str, name: str) -> Value:
        """Return what an import binds."""
        home = self.project.find(module, source)
        if home is not None:
            if not name:
                return ModuleValue(module=home)
            value = self.exported(home, name)
            if value is not None and value is not UNKNOWN:  # `from app import part` may stand in app/__init__.py itself
                return value
        if module.is_python:
            inner = self.project.find(module, f"{source}.{name}") if name else None
            if inner is not None:
                return ModuleValue(module=inner)
        if home is not None:
            return UNKNOWN
        if module.is_python:
            return External(name=f"{source}.{name}" if name else source)
        source = source.removeprefix("node:")
        return External(name=source if name in ("", "default") else f"{source}.{name}")

    def exported(self, module: ProjectModule, name: str) -> Value | None:
        """Return what a module of the project gives away under a name; None where there is nothing."""
        scope = self.scope_of(module)
        if module.is_python:
            return self._scoped(scope, name) if name in scope.names else self._starred(module, name)
        key = ("export", module, name)
        if key in self._pending:
            return None
        self._pending.add(key)
        try:
            return self._exported(module, name, scope)
        finally:
            self._pending.discard(key)

    def _starred(self, module: ProjectModule, name: str) -> Value | None:
        """Return what `from part import *` brings under a name."""
        for origin in self.scope_of(module).names.get("*", ()):
            home = self.project.find(module, origin[0]) if isinstance(origin, tuple) else None
            key = ("star", module, name)
            if home is not None and home is not module and key not in self._pending:
                self._pending.add(key)
                value = self.exported(home, name)
                self._pending.discard(key)
                if value is not None:
                    return value
        return None

    def _exported(self, module: ProjectModule, name: str, scope: NameScope) -> Value | None:
        export = module.exports.get(name)
        match export:
            case None:
                for key, origin in module.exports.items():
                    if key.startswith("*") and isinstance(origin, tuple):
                        home = self.project.find(module, origin[0])
                        value = self.exported(home, name) if home else None
                        if value is not None:
                            return value
                return None
            case (str() as source, str() as inner):
                return self.imported(module, source, inner)
            case Name(id=local):
                return self.lookup(local, scope)
            case _:
                with self.muted():
                    return self._bound(export, scope)

    def closure(self, function: Function, scope: CallFrame | NameScope, receiver: Value | None = None) -> Value:
        """Return a function as it is after its decorators, which in Python get a method before it is bound."""
        bound = None if scope.module.is_python else receiver
        value: Value = Closure(function=function, scope=scope, receiver=bound)
        for decorator in reversed(function.decorators):
            outer = self.evaluate(decorator, CallFrame(parent=scope)) if not self._is_plain(decorator) else UNKNOWN
            if (
                isinstance(outer, Closure)
                and outer.function is not function
                and ("wrap", function) not in self._pending
            ):
                self._pending.add(("wrap", function))
                with self.muted():
                    wrapped = self._invoke(outer, (value,), {}, depth=MAX_DEPTH - 2, line=function.line)
                self._pending.discard(("wrap", function))
                if isinstance(wrapped, Closure):
                    value = wrapped
        return replace(value, receiver=receiver) if isinstance(value, Closure) and value.receiver is None else value

    def _is_plain(self, decorator: SyntaxNode) -> bool:
        """Return whether a decorator surely leaves the function as it is: one of the registering kind."""
        return dotted_name(decorator).rpartition(".")[2] in NAMES["plain_decorators"]

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Evaluate what does not happen in a call of the tool, such as the top of a module."""
        trace, conditions, was_muted = self.trace, self._conditions, self._is_muted
        self.trace, self._conditions, self._is_muted = CallTrace(calls=MAX_CALLS - MUTED_CALLS), (), True
        try:
            yield
        finally:
            trace.environment |= self.trace.environment
            trace.is_read_only |= self.trace.is_read_only
            self.trace, self._conditions, self._is_muted = trace, conditions, was_muted

    def value_of(self, node: SyntaxNode, scope: NameScope) -> Value:
        """Return what is known of an expression's value outside any call of a tool."""
        with self.muted():
            return self.evaluate(node, CallFrame(parent=scope))

    def member(self, value: Value, key: str) -> Value:
        """Return `value.key`, which null does not have."""
        owners = [(inner, words) for inner, words in options(value) if inner != Constant(value=None)] or [(value, "")]
        return join([self._member(inner, key) for inner, _ in owners], [words for _, words in owners])

    def _lifespan_context(self) -> Value:
        """Return what the server's lifespan function yields: what `ctx.request_context.lifespan_context` is."""
        if self._lifespan is not None:
            return self._lifespan
        self._lifespan = UNKNOWN  # while it is read: a lifespan may ask for its own context
        values: list[Value] = []
        for node, scope in (call for calls in self.calls.values() for call in calls):
            if scope.module.is_python and "lifespan" in node.keywords:
                with self.muted():
                    frame = CallFrame(parent=scope, receiver=self._self(scope))
                    function = self.evaluate(node.keywords["lifespan"], frame)
                    if isinstance(function, Closure):
                        values.append(self._invoke(function, (), {}, depth=0, line=node.line))
        self._lifespan = join(values) if values else UNKNOWN
        return self._lifespan

    def server_instructions(self) -> str | None:
        """Return the text that the code gives a server as its instructions; None for computed ones, and for several."""
        values: list[Value] = []
        for node, scope in (call for calls in self.calls.values() for call in calls):
            if last_name(node.function).lower().endswith(("mcp", "server")):  # `FastMCP`, `new McpServer`
                records = [record for record in node.arguments if isinstance(record, ObjectLiteral)]
                written = [node.keywords.get("instructions"), *(record.get("instructions") for record in records)]
                with self.muted():
                    frame = CallFrame(parent=scope, receiver=self._self(scope))
                    values += [self.evaluate(text, frame) for text in written if text is not None]
        texts = {str(value.value) if isinstance(value, Constant) else None for value in values}
        return texts.pop() if len(texts) == 1 else None

    def _member(self, value: Value, key: str) -> Value:
        if key == "lifespan_context" and type(value) in (Value, External):
            return self._lifespan_context()
        match value:
            case Argument(name=name) if name == ALL:
                return value if key == "data" else Argument(name=key, parameters=frozenset({key}))
            case Constant(value=str()) | PartialText() if key == "value":
                return value
            case Dictionary():
                item = value.get(key)
                if item is None and value.is_whole:
                    return Constant(value=None)
                return made_from(item, value.later) if item is not None else unknown(value)
            case Instance():
                return self._attribute(value, key)
            case ClassValue():
                return self._class_member(value, key)
            case ModuleValue(module=module):
                return self._module_member(module, key)
            case External(name="process.env" | "os.environ") if key.isupper():
                self.trace.environment.add(key)
                return UNKNOWN
            case External(name=name) if _CONTEXT_PART.search(name):
                return HANDED_OVER  # `ctx.session.jenkins`: whatever the server keeps there
            case External(name=name, arguments=[part, *_]) if name.endswith(ZOD_PARTS.get(key, ",")):
                return part
            case External() if key == "default":
                return value  # what an import of the whole package gives too
            case External(name=name, parameters=parameters, arguments=arguments):
                return External(name=f"{name}.{key}", parameters=parameters, arguments=arguments)
            case Closure() if key == "bind":
                return value
            case _:
                return value if type(value) is Value else unknown(value)

    def _module_member(self, module: ProjectModule, key: str) -> Value:
        value = self.exported(module, key)
        if value is None and key == "default":
            return ModuleValue(module=module)
        if value is None and module.is_python:
            inner = self.project.find(module, f"{module.path.removesuffix('/__init__.py').replace('/', '.')}.{key}")
            value = ModuleValue(module=inner) if inner else None
        return value if value is not None else UNKNOWN

    def _class_member(self, value: ClassValue, key: str) -> Value:
        if key == "__name__":
            return Constant(value=value.node.name)
        function, owner = self._method(value, key)
        if function is not None and owner is not None:
            is_class = any(dotted_name(part) == "classmethod" for part in function.decorators)
            return self.closure(function, owner.scope, value if is_class else None)
        own = value.node.fields.get(key)
        assigned = [
            (node.value, method)
            for method in value.node.methods.values()
            for node in self._own_assignments(method, value.node).get(key, ())
        ]
        cached = (value, key)
        if cached in self._class_members:
            return self._class_members[cached]
        if own is not None or assigned:
            self._class_members[cached] = UNKNOWN
            with self.muted():
                parts = [self.evaluate(own, CallFrame(parent=value.scope))] if own else []
                for node, method in assigned[:MAX_BINDINGS]:  # if (!Client.shared) Client.shared = new Client()
                    frame = CallFrame(parent=value.scope, receiver=value)
                    self._bind_known(method, frame, value, {})
                    parts.append(self.evaluate(node, frame))
            parts = [part for part in parts if part != Constant(value=None)] or parts
            self._class_members[cached] = join(parts)
            return self._class_members[cached]
        return join(self._class_member(base, key) for base in self.bases_of(value)) if value.node.bases else UNKNOWN

    def _attribute(self, value: Instance, key: str) -> Value:
        function, owner = self._method(value.of, key)
        if function is not None and owner is not None:
            closure = self.closure(function, owner.scope, value)
            if isinstance(closure, Closure) and any(
                dotted_name(part).endswith("property") for part in function.decorators
            ):
                return self._invoke(replace(closure, receiver=value), (), {}, depth=MAX_DEPTH - 4, line=function.line)
            return closure
        cached = (value, key)
        if cached not in self._attributes:
            self._attributes[cached] = UNKNOWN
            with self.muted():
                self._attributes[cached] = self._filled(self._field(value, key), key, value.of.node)
        return self._attributes[cached]

    def is_text(self, owner: ClassValue) -> bool:
        """Return whether objects of a class are texts: `class Endpoint(str)`."""
        names = {last_name(part) for part in owner.node.bases}
        return "str" in names or any(self.is_text(base) for base in self.bases_of(owner) if base != owner)

    def data_fields(self, owner: ClassValue) -> Mapping[str, bool] | None:
        """Return the fields of a dataclass, a pydantic model or a typed dictionary, and which of them may be null.

        None for other classes, and where fields are written under other names.
        """
        fields: dict[str, bool] = {}
        pending, is_data = [owner], False
        while pending:
            node = pending[0].node
            is_data |= bool({last_name(part) for part in (*node.bases, *node.decorators)} & DATA_CLASSES)
            calls = [value for value in node.fields.values() if isinstance(value, CallSite)]
            if any(key in ("alias", "serialization_alias", "exclude") for call in calls for key in call.keywords):
                return None
            empty = {name for name, value in node.fields.items() if isinstance(value, Literal) and value.value is None}
            own = {name: name in empty for name in node.annotations if not name.startswith(("_", "model_config"))}
            fields = own | fields
            pending = [*pending[1:], *self.bases_of(pending[0])]
        return fields if is_data else None

    def _field(self, value: Instance, key: str) -> Value:
        """Return what the class's methods assign to a field, else its declared value or type."""
        pending, visited = [(value.of, dict(value.arguments))], set[Class]()
        values: list[Value] = []
        is_open = bool(self.calls) and key in self._set_outside  # state.status = "ready" in the code that starts
        while pending and not values:
            current, constructor_arguments = pending.pop(0)
            if current.node in visited:
                continue
            visited.add(current.node)
            place = current.scope
            for method in current.node.methods.values():
                for node in self._own_assignments(method, current.node).get(key, ()):
                    frame = CallFrame(parent=place, receiver=value)
                    is_first = method.name in _CONSTRUCTORS
                    self._bind_known(method, frame, value, constructor_arguments if is_first else {})
                    values.append(self.evaluate(node.value, frame))
            is_open |= UNKNOWN in values
            values = [inner for inner in values if inner not in (UNKNOWN, Constant(value=None))]
            if not values and key in current.node.fields:
                values.append(self.evaluate(current.node.fields[key], CallFrame(parent=place)))
            values = [inner for inner in values if inner not in (UNKNOWN, Constant(value=None))]
            if not values and key in current.node.annotations:
                typed = self.typed(current.node.annotations[key], place)
                values += [typed] if typed is not UNKNOWN else []
            pending += [
                (base, self._handed_up(current, base, value, constructor_arguments)) for base in self.bases_of(current)
            ]
        own = dict(value.arguments)
        if key in own and (not values or self._method(value.of, "__init__")[0] is None):
            return join([own[key], *values])  # PostParams(text=text): what is given, beside what the class declares
        if not values and "**" in own:
            return self.member(own["**"], key)
        if not values:
            external = [base for base in (self._external_base(value.of),) if base]
            return External(name=f"{external[0]}().{key}") if external else unknown(value)
        return join([*values, UNKNOWN] if is_open and all(isinstance(part, Constant) for part in values) else values)

    def _handed_up(
        self, target: ClassValue, base: ClassValue, receiver: Value, constructor_arguments: Mapping[str, Value]
    ) -> dict[str, Value]:
        """Return what a class's constructor gives that of its base: `super().__init__("find_boats")`."""
        own = next((target.node.methods[name] for name in _CONSTRUCTORS if name in target.node.methods), None)
        constructor, _ = self._method(base, "__init__" if base.module.is_python else "constructor")
        if own is None or constructor is None:
            return dict(constructor_arguments) if own is None else {}
        frame = CallFrame(parent=target.scope, receiver=receiver)
        self._bind_known(own, frame, receiver, constructor_arguments)
        names = [parameter.name for parameter in constructor.parameters[base.module.is_python :]]
        for node in walk(own.body):
            match node:
                case CallSite(
                    function=Name(id="super") | Attribute(key="__init__"), arguments=arguments, keywords=keywords
                ):
                    values = [*zip(names, arguments, strict=False), *keywords.items()]
                    return {name: self.evaluate(part, frame) for name, part in values}
        return {}

    def _external_base(self, target: ClassValue) -> str:
        for base in target.node.bases:
            value = self.evaluate(base, CallFrame(parent=target.scope))
            if isinstance(value, External) and not value.name.startswith("builtins."):
                return value.name
            if isinstance(value, ClassValue):
                return self._external_base(value)
        return ""

    def _own_assignments(self, method: Function, owner: Class) -> Mapping[str, Sequence[Assign]]:
        """Return the assignments to fields of a method's own object, or of its class by name, by field."""
        if method not in self._assigned:
            fields = self._assigned[method] = {}
            own = {"this", owner.name} | ({method.parameters[0].name} if method.parameters else set())
            for node in walk(method.body):
                match node:
                    case Assign(target=Attribute(value=Name(id=root), key=key)) if root in own:
                        fields.setdefault(key, []).append(node)
        return self._assigned[method]

    def _bind_known(
        self, method: Function, frame: CallFrame, receiver: Value, constructor_arguments: Mapping[str, Value]
    ) -> None:
        for position, parameter in enumerate(method.parameters):
            if position == 0 and frame.module.is_python:
                frame.names[parameter.name] = receiver
                continue
            value = constructor_arguments.get(parameter.name, UNKNOWN)
            if value is UNKNOWN:
                value = self.typed(parameter.annotation, frame.parent)
            if value is UNKNOWN and parameter.default is not None:
                value = self.evaluate(parameter.default, CallFrame(parent=frame.parent))
            frame.names[parameter.name] = value
        # Locals of the method that the field is made from: `client = Client(url); self.client = client`.
        scope = NameScope(module=frame.module, function=method, parent=None)
        for name, bindings in scope.names.items():
            if (
                name not in frame.names
                and len(bindings) == 1
                and isinstance(bindings[0], CallSite | Literal | Template | ObjectLiteral | Attribute)
            ):
                frame.names[name] = self.evaluate(bindings[0], frame)
            elif name not in frame.names and len(bindings) == 1 and isinstance(bindings[0], tuple):
                frame.names[name] = self.imported(frame.module, *bindings[0])  # `import asyncpg` in a constructor
            else:
                frame.names.setdefault(name, UNKNOWN)  # a name of the method's own, not the module's or the language's

    def _method(self, target: ClassValue, name: str) -> tuple[Function | None, ClassValue | None]:
        pending, visited = [target], set[Class]()
        while pending:
            current = pending.pop(0)
            if current.node in visited:
                continue
            visited.add(current.node)
            if name in current.node.methods:
                return current.node.methods[name], current
            pending += self.bases_of(current)
        return None, None

    def bases_of(self, target: ClassValue) -> list[ClassValue]:
        """Return the classes of the project that a class is made from."""
        with self.muted():
            values = [self.evaluate(base, CallFrame(parent=target.scope)) for base in target.node.bases]
        return [value for value in values if isinstance(value, ClassValue)]

    def _note(
        self,
        sink: list[Sighting],
        kind: str,
        frame: CallFrame,
        line: int,
        text: str = "",
        parameters: frozenset[str] = frozenset(),
        *,
        harm: str = "",
    ) -> None:
        """Add what a line does, under the conditions around it."""
        sighting = Sighting(
            kind=kind,
            path=frame.module.path,
            line=line,
            depth=max(frame.depth, 0),
            text=text,
            conditions=_needed(self._conditions),
            parameters=parameters,
            harm=harm,
        )
        sink.append(sighting)

    @contextmanager
    def _under(self, condition: str) -> Iterator[None]:
        """Follow what is done on a condition on the tool's parameters; an empty one is none."""
        before = self._conditions
        self._conditions = (*before, condition) if condition else before
        yield
        self._conditions = before

    def _note_limit(self, value: Value, text: str, line: int, frame: CallFrame, kind: str = "limit") -> None:
        """Note what a parameter is bounded by, replaced by or must be."""
        if isinstance(value, Argument) and value.name:
            self._note(self.trace.limits, kind, frame, line, text, frozenset({value.name}))

    def _use(self, *values: Value) -> None:
        for value in values:
            names = value.parameters
            self.trace.used |= names
            self.trace.passed |= names

    @abstractmethod
    def evaluate(self, node: SyntaxNode, frame: CallFrame) -> Value:
        """Return what is known of an expression's value."""

    @abstractmethod
    def _invoke(
        self, closure: Closure, arguments: tuple[Value, ...], keywords: dict[str, Value], *, depth: int, line: int
    ) -> Value:
        """Return what a function gives back, with its effects noted."""


def _needed(conditions: Sequence[str]) -> tuple[str, ...]:
    """Return conditions without those that another says: `how != 'tow'` beside `how == 'sail'`."""
    parts = dict.fromkeys(part for condition in conditions for part in condition.split(" and "))
    equal = {name for name, sign, _ in (part.partition(" == ") for part in parts) if sign and " " not in name}
    return tuple(part for part in parts if part.partition(" != ")[0] not in equal or " != " not in part)


def _binds(target: SyntaxNode, name: str) -> bool:
    match target:
        case FormalParameter(name=bound, pattern=pattern):
            return bound == name or (pattern is not None and _binds(pattern, name))
        case Name(id=bound):
            return bound == name
        case ObjectLiteral(items=items):
            return any(_binds(inner, name) for _, inner in items)
        case Collection(values=values):
            return any(_binds(inner, name) for inner in values)
        case _:
            return False
