"""Where a project registers its tools, and which function answers a call of each."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tdqs_mcp.code.constants import CallScope, ConstantReader, Expression, UnreadError, call_scope
from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.knowledge import NAMES
from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    CallSite,
    Class,
    Collection,
    Compare,
    Element,
    FormalParameter,
    Function,
    Literal,
    Loop,
    Name,
    ObjectLiteral,
    Return,
    Spread,
    Subscript,
    SyntaxNode,
    children,
    walk,
)
from tdqs_mcp.code.project import NameScope, ProjectModule, dotted_name, last_name, targets
from tdqs_mcp.code.trace import ALL
from tdqs_mcp.code.values import (
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
    Value,
    alternatives,
    text_of,
)

MAX_HELPERS = 3
"""Functions of the project between a decorator and the call of the SDK that it comes down to."""

COMPUTED = "{}"
"""The name of a tool of whose name nothing is known."""

_REGISTERING = NAMES["registering"]
_HANDLERS = (
    "handler execute handle run call callback cb func fn function "
    "implementation toolCallback createTask invoke exec run_tool handle_call _run runTool handleRequest call_tool"
).split()
_SCHEMAS = (
    "inputSchema input_schema parameters schema paramsSchema inputShape argsShape paramsShape input args args_schema"
).split()
_HINTS = frozenset("readOnlyHint destructiveHint idempotentHint openWorldHint".split())
_ARGUMENTS = NAMES["arguments"]
_CONTEXTS = NAMES["contexts"]

_MOUNTING = frozenset({"mount", "import_server"})
_NAMESPACES = ("namespace", "prefix")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A tool that the code registers."""

    name: str
    module: ProjectModule
    node: SyntaxNode
    """The call, function, object or class that registers it."""

    handler: Closure | None = None
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    parts: Mapping[str, Expression] = field(default_factory=dict)
    """Where the parts of the definition stand, by their names in MCP."""

    function: Expression | None = None
    """Python function whose parameters are the tool's input, and whose docstring describes it."""

    is_direct: bool = True
    """The registration is a call of the SDK: parts that it leaves out are left out. An object may get more of them."""

    rivals: "Sequence[Registration]" = ()
    """All registrations of the name."""

    templates: Sequence[Mapping[str, Expression]] = ()
    """Parts of registrations whose name is computed: `for (const tool of TOOLS) server.tool(tool.name, …)`."""

    dispatched: bool = False
    """The handler answers for several tools, told apart by their names."""

    is_shared: bool = False
    """The handler is written once for several tools: in a loop."""

    server: Expression | None = None
    """The server that a decorator or a call belongs to: `harbour` of `@harbour.tool`."""

    is_overheard: bool = False
    """A decorator of the project reads the arguments on their way to the handler: `kwargs.get("prompt")`."""

    problem: str = ""

    @property
    def line(self) -> int:
        """Return the line of the registration."""
        return self.node.line

    @property
    def is_computed(self) -> bool:
        """Return whether the name is made when the server starts: `${kind}-boats`."""
        return COMPUTED in self.name


class Mounts:
    """Servers that stand in another one, by the call that makes them: `root.mount(harbour, namespace="harbour")`."""

    def __init__(self, reader: ConstantReader) -> None:
        self._reader = reader
        self._prefixes: dict[SyntaxNode, list[tuple[str, SyntaxNode]]] = {}

    def read(self, call: CallSite, scope: NameScope) -> None:
        """Remember the servers that a call mounts; any other call is none of them."""
        if last_name(call.function) not in _MOUNTING or not isinstance(call.function, Attribute) or not call.arguments:
            return
        outer = self._creation(Expression(node=call.function.value, scope=scope))
        parts = list(call.arguments[:2])
        named = [call.keywords[name] for name in _NAMESPACES if name in call.keywords]
        if isinstance(parts[0], Literal):  # mount("harbour", server), as it was before FastMCP 2.9
            parts.reverse()
        namespace = named[0] if named else next(iter(parts[1:]), None)
        if namespace is not None and not isinstance(parts[0], Literal):
            for server, prefix in self._pairs(parts[0], namespace, scope):
                if creation := self._creation(server):
                    self._prefixes.setdefault(creation, []).append((prefix, outer or call))

    def names(self, name: str, server: Expression | None) -> Sequence[str]:
        """Return the names that agents see for a tool of a server: itself, unless the server is mounted."""
        creation = self._creation(server) if server else None
        return self._qualified(name, creation, frozenset()) if creation else [name]

    def _qualified(self, name: str, server: SyntaxNode, inside: frozenset[SyntaxNode]) -> list[str]:
        mounts = [] if server in inside else self._prefixes.get(server, [])
        nested = [self._qualified(f"{prefix}_{name}", outer, inside | {server}) for prefix, outer in mounts]
        return list(dict.fromkeys(text for names in nested for text in names)) or [name]

    def _pairs(self, server: SyntaxNode, namespace: SyntaxNode, scope: NameScope) -> Iterator[tuple[Expression, str]]:
        """Yield servers with their prefixes, one for each entry of a table: `mount(SERVERS[name], namespace=name)`."""
        match server, namespace:
            case Subscript(value=table, key=Name(id=key)), Name(id=name) if key == name:
                try:
                    members = self._reader.members(Expression(node=table, scope=scope))
                except UnreadError:
                    return
                yield from ((entry, prefix) for prefix, entry in members.items())
            case _:
                try:
                    prefix = self._reader.json(Expression(node=namespace, scope=scope))
                except UnreadError:
                    return
                if isinstance(prefix, str) and prefix:
                    yield Expression(node=server, scope=scope), str(prefix)

    def _creation(self, server: Expression) -> SyntaxNode | None:
        node = self._reader.locate(server).node
        return node if isinstance(node, CallSite) else None


class Finder:
    """Finds the tools of a project."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._reader = ConstantReader(interpreter)
        self._direct: list[Registration] = []
        self._listed: list[Registration] = []
        self._dispatchers: list[Closure] = []
        self._answering: list[Closure] = []  # functions that ask whether a request is `tools/call`: JSON-RPC by hand
        self._templates: list[Mapping[str, Expression]] = []
        self._computed: list[Registration] = []  # records of tools of whose names nothing is known
        self._mounts = Mounts(self._reader)
        self._registrars: dict[Function, Sequence[tuple[CallSite, tuple[Function, ...]]]] = {}
        self._loops: dict[SyntaxNode, tuple[SyntaxNode, SyntaxNode]] = {}

    def find(self) -> list[Registration]:
        """Return the tools by name, in the order of their files; each has a handler, or says why it has none."""
        for module in self._interpreter.project.modules:
            for node, scope in self._interpreter.nodes_of(module):
                self._visit(node, scope)
        imports = (call.arguments for call, _ in self._interpreter.calls.get("import", ()))
        if any(parts and not isinstance(parts[0], Literal) for parts in imports):
            for module in self._interpreter.project.modules:
                self._loaded(module)
        tools: dict[str, Registration] = {}
        rivals: dict[str, list[Registration]] = {}
        direct = [
            replace(registration, name=name)
            for registration in self._direct
            for name in self._mounts.names(registration.name, registration.server)
        ]
        for registration in (*direct, *self._listed):
            rivals.setdefault(registration.name, []).append(registration)
        for name, registrations in rivals.items():
            written = _written(registrations)
            for registration in written:
                present = tools.get(name)
                if present is None or present.handler is None:
                    complete = self._dispatched(registration) if registration.dispatched else registration
                    if present is None or complete.handler is not None or complete.dispatched:
                        tools[name] = complete
            tools[name] = replace(tools[name], rivals=written, templates=self._templates)
        uses = Counter(tool.handler.function for tool in tools.values() if tool.handler and not tool.dispatched)
        return [
            replace(tool, is_shared=tool.handler is not None and uses[tool.handler.function] > 1)
            for tool in tools.values()
        ] or self._computed[:1]

    def _loaded(self, module: ProjectModule) -> None:
        """Read a file of a folder that is loaded by name, if it is a tool: it exports a description and a handler.

        Its name is exported as such, or is the file's own: `export const method = "find_boats"` in `find_boats.js`.
        """
        scope = self._interpreter.scope_of(module)
        items = [(key, node) for key, node in module.exports.items() if isinstance(node, SyntaxNode)]
        stem = module.path.rpartition("/")[2].partition(".")[0]
        names = [node for key, node in items if key != "name" and text_of(self._value(node, scope)) == stem]
        record = ObjectLiteral(line=1, items=[*items, *(("name", name) for name in names)])
        if record.get("description") is not None and record.get(*_SCHEMAS) is not None:
            self._record(record, scope)

    def _visit(self, node: SyntaxNode, scope: NameScope) -> None:
        match node:
            case Function(decorators=decorators) if decorators:
                self._decorated(node, scope)
            case Loop(body=body):
                match body.statements:
                    case [
                        Assign(
                            target=Collection() | ObjectLiteral() | Name() as target, value=Element(iterable=iterable)
                        ),
                        *_,
                    ]:
                        self._loops |= dict.fromkeys(walk(body), (target, iterable))
            case CallSite():
                self._mounts.read(node, scope)
                match node:
                    case CallSite(
                        function=Attribute(value=iterable, key="forEach"),
                        arguments=[Function(parameters=[FormalParameter(pattern=SyntaxNode() as target)], body=body)],
                    ):
                        self._loops |= dict.fromkeys(walk(body), (target, iterable))
                self._template(node, scope)
                for place in self._rows(node, scope):
                    self._called(node, place)
            case ObjectLiteral():
                self._record(node, scope)
            case Compare(right=Literal(value="tools/call")) if scope.function is not None:
                place = replace(scope.parent or scope, owner=scope.owner)
                self._answering.append(self._closure(scope.function, place))
            case Class():
                self._class(node, scope)

    def _template(self, call: CallSite, scope: NameScope) -> None:
        """Remember what a loop's `tool(tool.name, tool.description, …)` hands on."""
        arguments = [Expression(node=node, scope=scope) for node in call.arguments]
        is_script = not scope.module.is_python and last_name(call.function) in _REGISTERING
        if is_script and len(arguments) > 1 and self._is_computed(arguments[0].node, scope):
            self._templates.append(self._arguments_parts(arguments[1:-1]))

    def _rows(self, call: CallSite, scope: NameScope) -> Iterator[NameScope]:
        """Yield the scope of a call, with the names of each row where a loop goes through a table of functions.

        `for name, function in [("find", find), …]`, `for (const [name, { run }] of Object.entries(TOOLS))`, and
        `for (const tool of [find, drop]) server.tool(tool.name, …, (args) => tool.run(args))`.
        """
        target, iterable = self._loops.get(call, (None, None))
        rows = self._table(iterable, scope) if iterable is not None else []
        if not isinstance(target, Name):  # the parts of a row are taken from where it is written
            rows = [self._reader.locate(Expression(node=row, scope=scope)).node for row in rows]
        cells = (part for row in rows for part in walk(row) if isinstance(part, Name | Attribute | Function))
        if target is None or not any(self._closures(cell, scope) for cell in cells):
            yield scope
            return
        for row in rows:
            place = replace(scope, cache={})
            place.names = {**scope.names, **{name: [value] for name, value in targets(target, row)}}
            yield place

    def _table(self, iterable: SyntaxNode, scope: NameScope) -> list[SyntaxNode]:
        """Return the rows of a list that stands in the same module, and of the items of a map."""
        owner: SyntaxNode | None = None
        match iterable:
            case CallSite(function=Attribute(value=Name(id="Object"), key="entries"), arguments=[owner]):
                pass
            case CallSite(function=Attribute(value=owner, key="items")):
                pass
        table = self._reader.locate(Expression(node=owner or iterable, scope=scope))
        if table.scope.module is not scope.module:
            return []
        match table.node:
            case ObjectLiteral(items=items) if owner and all(key not in ("", "...") for key, _ in items):
                names = [Literal(line=value.line, value=key) for key, value in items]
                return [
                    Collection(line=name.line, values=[name, value])
                    for name, (_, value) in zip(names, items, strict=True)
                ]
            case Collection(values=values) if not owner:
                return list(values)
            case _:
                return []

    def _value(self, node: SyntaxNode | None, scope: NameScope) -> Value:
        return self._interpreter.value_of(node, scope) if node is not None else UNKNOWN

    # Python's decorators

    def _decorated(self, function: Function, scope: NameScope) -> None:
        for decorator in function.decorators:
            word = last_name(decorator)
            if word == "call_tool":
                self._dispatchers.append(self._closure(function, scope))
            elif word.lower().endswith("tool") or (
                word not in ("property", "staticmethod") and self._is_registrar(decorator, scope)
            ):
                before = len(self._direct)
                self._add(decorator, function.name, self._closure(function, scope), scope, function)
                wrappers = (part for part in function.decorators if part is not decorator)
                if any(self._overhears(part, scope) for part in wrappers):
                    self._direct[before:] = [
                        replace(registration, is_overheard=True) for registration in self._direct[before:]
                    ]
                return

    def _overhears(self, decorator: SyntaxNode, scope: NameScope) -> bool:
        """Return whether a function inside a decorator does more with `*args` and `**kwargs` than to pass them on."""
        outer = self._value(decorator.function if isinstance(decorator, CallSite) else decorator, scope)
        inside = walk(outer.function.body) if isinstance(outer, Closure) else ()
        for wrapper in (node for node in inside if isinstance(node, Function)):
            caught = {parameter.name for parameter in wrapper.parameters if parameter.star}
            nodes = list(walk(wrapper.body))
            passed = {id(node.value) for node in nodes if isinstance(node, Spread)}
            if any(isinstance(node, Name) and node.id in caught and id(node) not in passed for node in nodes):
                return True
        return False

    def _closure(self, function: Function, scope: NameScope) -> Closure:
        receiver = None
        if scope.function is None and scope.owner is not None:
            receiver = Instance(of=ClassValue(node=scope.owner, scope=replace(scope, owner=None)))
        with self._interpreter.muted():
            value = self._interpreter.closure(function, scope, receiver)
        plain = Closure(function=function, scope=scope, receiver=receiver)
        return value if isinstance(value, Closure) and value.function is function else plain

    def _is_registrar(self, node: SyntaxNode, scope: NameScope) -> bool:
        """Return whether a function of the project registers tools: its body calls `….tool(…)` or `….add_tool(…)`."""
        value = self._value(node.function if isinstance(node, CallSite) else node, scope)
        return isinstance(value, Closure) and bool(self._inner_calls(value))

    def _inner_calls(self, closure: Closure) -> Sequence[tuple[CallSite, tuple[Function, ...]]]:
        """Return the calls in a function that register tools, each with the functions around it."""
        function = closure.function
        if function not in self._registrars:
            self._registrars[function] = ()
            own = [(call, path) for call, path in _calls_within(function) if _is_registering(call)]
            receiver = closure.receiver
            if not own and isinstance(receiver, Instance):  # def reader(self, title): return self._register(title, …)
                owner, parent = receiver.of.node, self._place(closure)
                scope = NameScope(module=closure.module, function=function, parent=parent, owner=owner)
                own = [
                    (call, path)
                    for call, path in _calls_within(function)
                    if last_name(call.function) in owner.methods and self._is_registrar(call, scope)
                ]
            self._registrars[function] = own
        return self._registrars[function]

    def _sdk_calls(self, call: CallSite, scope: NameScope, depth: int = 0) -> list[tuple[CallSite, NameScope]]:
        """Return the SDK's calls that a call comes down to: itself, or those in the helper that it calls."""
        value = self._value(call.function, scope) if not _is_registering(call) and depth < MAX_HELPERS else UNKNOWN
        calls: list[tuple[CallSite, NameScope]] = []
        if not isinstance(value, Closure):
            return [(call, scope)]
        for inner, path in self._inner_calls(value):
            target = Expression(node=value.function, scope=self._place(value))
            owner = value.receiver.of.node if isinstance(value.receiver, Instance) else None
            place: NameScope = replace(call_scope(target, call, scope), owner=owner)
            for function in path:
                place = NameScope(module=value.module, function=function, parent=place)
            calls += self._sdk_calls(inner, place, depth + 1)
        return calls or [(call, scope)]

    def _call_parts(
        self, call: CallSite, scope: NameScope, outer: Mapping[str, Expression], own: Function
    ) -> tuple[dict[str, Expression], bool]:
        """Return the parts that a call names, with what may be a name as `first`, and whether it is one of the SDK.

        `outer` has the keywords of the helper's call, which the SDK's call may get as `**options`.
        """
        parts = {key: Expression(node=value, scope=scope) for key, value in call.keywords.items()}
        marker = self._value(call.function, scope) if not _is_registering(call) else UNKNOWN
        if isinstance(marker, Closure):  # a decorator that only marks: @mcp_tool("Find boats")
            target = Expression(node=marker.function, scope=self._place(marker))
            parts = dict(call_scope(target, call, scope).arguments)
        if "**" in parts:
            parts |= outer
        if call.arguments and "name" not in parts and call.function is not own:
            parts["first"] = Expression(node=call.arguments[0], scope=scope)
        return parts, not isinstance(marker, Closure)

    def _place(self, closure: Closure) -> NameScope:
        scope = closure.scope
        return scope if isinstance(scope, NameScope) else self._interpreter.scope_of(closure.module)

    def _add(
        self,
        registering: SyntaxNode,
        fallback: str,
        handler: Closure,
        scope: NameScope,
        registered: SyntaxNode,
    ) -> None:
        own = handler.function
        place = self._place(handler)
        call = registering if isinstance(registering, CallSite) else None
        method = call.function if call else registering
        server = Expression(node=method.value, scope=scope) if isinstance(method, Attribute) else None
        home = place if registered is own else scope
        outer = {key: Expression(node=value, scope=scope) for key, value in call.keywords.items()} if call else {}
        calls = self._sdk_calls(call, scope) if call else ()
        for parts, is_direct in [self._call_parts(*inner, outer, own) for inner in calls] or [({}, True)]:
            for name in self._names(parts, fallback):
                registration = self._registration(name, handler, home, registered, parts, is_direct=is_direct)
                function = Expression(node=own, scope=place)
                self._direct.append(replace(registration, function=function, server=server))

    def _add_each(self, call: CallSite, handlers: Sequence[Closure], scope: NameScope) -> None:
        """Add the tool of each function; none answers where the names come from somewhere else."""
        before = len(self._direct)
        for handler in handlers:
            self._add(call, self._own_name(handler), handler, scope, handler.function)
        names = Counter(registration.name for registration in self._direct[before:])
        self._direct[before:] = [
            registration
            if names[registration.name] == 1
            else replace(registration, handler=None, problem="which of several functions answers it was not found")
            for registration in self._direct[before:]
        ]

    def _own_name(self, handler: Closure) -> str:
        """Return a function's name, or what it is given: `run.__name__ = name`; a wrapper has that of another one."""
        function, place = handler.function, self._place(handler)
        for node in walk(place.function.body) if place.function else place.module.tree.nodes:
            if isinstance(node, Assign) and dotted_name(node.target) == f"{function.name}.__name__":
                return text_of(self._value(node.value, place)) or COMPUTED
        return "" if any(last_name(decorator) == "wraps" for decorator in function.decorators) else function.name

    def _names(self, parts: Mapping[str, Expression], fallback: str) -> list[str]:
        """Return the names that a call gives; those of a loop are several."""
        for key in ("name", "first"):
            if key in parts:
                texts = self._texts(parts[key])
                names = [
                    text for text in texts if isinstance(text, str) and text and (key == "name" or " " not in text)
                ]
                if names:
                    return names
                if key == "name" and texts != [None]:
                    return [COMPUTED]
        return [fallback] if fallback else []

    def _texts(self, expression: Expression) -> list[str | None]:
        try:
            return [self._reader.json(expression)]
        except UnreadError:
            return [text_of(value) for value in alternatives(self._value(expression.node, expression.scope))]

    # Calls

    def _called(self, call: CallSite, scope: NameScope) -> None:
        word = last_name(call.function)
        if scope.module.is_python:
            self._called_python(call, word, scope)
            return
        if word == "setRequestHandler" and len(call.arguments) > 1:
            value = self._value(call.arguments[0], scope)  # `import { CallToolRequestSchema as w }` in what is minified
            request = value.name if isinstance(value, External) else text_of(value) or dotted_name(call.arguments[0])
            schema = self._reader.locate(Expression(node=call.arguments[0], scope=scope)).node
            # a bundle's short name for CallToolRequestSchema is `Request.extend({method: literal("tools/call")})`
            if "CallTool" in request or request == "tools/call" or _answers_requests(schema):
                self._dispatchers += self._closures(call.arguments[1], scope)
            return
        if word not in _REGISTERING and not (isinstance(call.function, Name | Attribute) and len(call.arguments) >= 3):
            return
        if word in _REGISTERING or self._is_registrar(call.function, scope):
            self._registered(call, scope)

    def _registered(self, call: CallSite, scope: NameScope) -> None:
        """Read `registerTool("name", {…}, handler)`, `tool("name", "text", {…}, handler)`, and `tool(...parts)`."""
        match call.arguments:
            case [Spread(value=spread)]:
                for item in self._reader.iterated(Expression(node=spread, scope=scope)):
                    self._register(call, self._reader.items(item), scope)
            case _:
                self._register(call, [Expression(node=node, scope=scope) for node in call.arguments], scope)

    def _register(self, call: CallSite, arguments: Sequence[Expression], scope: NameScope) -> None:
        if len(arguments) < 2:
            return
        first, second, *_ = arguments
        names = [text for text in map(text_of, alternatives(self._value(first.node, first.scope))) if text]
        position = 0
        is_sdk = last_name(call.function) in _REGISTERING
        record = self._value(first.node, first.scope)
        if not names and isinstance(record, Dictionary):  # tool({ name, description, schema }, run)
            position = -1
            names = [text for text in map(text_of, alternatives(record.get("name") or UNKNOWN)) if text]
        elif not names:  # own helper: register(server, "name", …)
            position = 1
            names = [text for text in map(text_of, alternatives(self._value(second.node, second.scope))) if text]
        if not names or " " in names[0]:
            return
        handlers = self._closures(arguments[-1].node, arguments[-1].scope)
        arguments = arguments[position + 1 : -1]
        parts = self._arguments_parts(arguments)
        handler = handlers[0] if handlers and (len(handlers) == 1 or len(names) == 1) else None
        for name in names:
            registration = self._registration(name, handler, scope, call, parts, is_direct=is_sdk)
            self._direct.append(registration)

    def _is_computed(self, name: SyntaxNode, scope: NameScope) -> bool:
        return isinstance(self._reader.locate(Expression(node=name, scope=scope)).node, Name | Attribute)

    def _arguments_parts(self, arguments: Sequence[Expression]) -> dict[str, Expression]:
        parts: dict[str, Expression] = {}
        for argument in arguments:
            parts = self._argument_parts(argument) | parts
        return parts

    def _argument_parts(self, argument: Expression) -> dict[str, Expression]:
        """Return what an argument of `tool("name", "text", {…}, {…}, handler)` says of the definition."""
        value = self._value(argument.node, argument.scope)
        if text_of(value):
            return {"description": argument}
        try:
            members = self._reader.members(argument)
        except UnreadError:
            word = last_name(argument.node)
            return {word if word in ("title", "description", "annotations") else "inputSchema": argument}
        if _HINTS & members.keys():
            return {"annotations": argument}
        is_whole = not members.keys().isdisjoint(("description", "inputSchema", "title", "annotations", "parameters"))
        return _renamed(members) if is_whole else {"inputSchema": argument}

    def _registration(
        self,
        name: str,
        handler: Closure | None,
        scope: NameScope,
        node: SyntaxNode,
        parts: Mapping[str, Expression],
        *,
        is_direct: bool = True,
    ) -> Registration:
        arguments: tuple[Value, ...] = ()
        named_arguments: dict[str, Value] = {}
        if handler is not None and scope.module.is_python:
            arguments, named_arguments = python_arguments(handler)
        elif handler is not None:
            arguments = script_arguments(handler)
        return Registration(
            name=name,
            module=scope.module,
            node=node,
            handler=handler,
            arguments=arguments,
            keywords=named_arguments,
            parts=_renamed(parts),
            is_direct=is_direct,
            problem="" if handler else "its handler is made where it cannot be read",
        )

    def _closures(self, node: SyntaxNode, scope: NameScope) -> list[Closure]:
        """Return the functions that a handler's expression may be; of a call that is not known, those it is given."""
        bindings = scope.names.get(node.id, ()) if isinstance(node, Name) else ()
        looped = bindings[0].iterable if len(bindings) == 1 and isinstance(bindings[0], Element) else None
        listed = self._value(looped, scope) if looped is not None else UNKNOWN  # for tool in TOOLS: server.tool()(tool)
        values = listed.values if isinstance(listed, Listing) else alternatives(self._value(node, scope))
        closures = [value for value in values if isinstance(value, Closure)]
        for value in values:  # a class, or an object, with a method that answers: `{name, handler: ListBoatsHandler}`
            owner = Instance(of=value) if isinstance(value, ClassValue) else value
            if isinstance(owner, Instance | Dictionary):
                members = (self._interpreter.member(owner, word) for word in _HANDLERS)
                closures += [member for member in members if isinstance(member, Closure)][:1]
        if not closures and isinstance(node, CallSite):
            for argument in (*node.arguments, *node.keywords.values()):
                closures += self._closures(argument, scope)
        return closures

    def _called_python(self, call: CallSite, word: str, scope: NameScope) -> None:
        if "on_call_tool" in call.keywords:
            self._dispatchers += self._closures(call.keywords["on_call_tool"], scope)
        if word == "Tool" and "name" in call.keywords and isinstance(call.function, Name | Attribute):
            self._list(call.keywords["name"], dict(call.keywords), call, scope)
            return
        if word == "from_function" and not dotted_name(call.function).startswith(("Tool", "FunctionTool")):
            return  # Prompt.from_function
        inner = call.function if isinstance(call.function, CallSite) else None
        if inner is not None and last_name(inner.function) == "tool" and call.arguments:
            self._add_each(inner, self._closures(call.arguments[0], scope), scope)
        elif word in ("add_tool", "from_function", "tool", "register_tool") and (
            call.arguments or "fn" in call.keywords
        ):
            for node in [*call.arguments[:2], *([call.keywords["fn"]] if "fn" in call.keywords else [])]:
                if isinstance(node, CallSite) and last_name(node.function) == "from_function":
                    continue  # add_tool(Tool.from_function(…)) is read where that call stands
                self._add_each(call, self._closures(node, scope), scope)
        elif call.arguments and isinstance(call.function, Name | Attribute) and word not in _REGISTERING:
            self._called_helper(call, scope)

    def _called_helper(self, call: CallSite, scope: NameScope) -> None:
        """Read a call of a helper that registers the function that it is given: `register("find_boats", find)`."""
        target = self._reader.locate(Expression(node=call.function, scope=scope)).node
        if not isinstance(target, Function):
            return
        names = [parameter.name for parameter in target.parameters if parameter.name not in ("self", "cls")]
        for name, node in (*zip(names, call.arguments, strict=False), *call.keywords.items()):
            located = self._reader.locate(Expression(node=node, scope=scope)).node
            if isinstance(located, Function) and _registers(target, name):
                for handler in self._closures(node, scope):
                    self._add(call, self._own_name(handler), handler, scope, call)

    # Objects that are tools, and lists of them

    def _record(self, record: ObjectLiteral, scope: NameScope) -> None:
        for key, value in record.items:  # { list_tables: tool({ description, parameters, execute }) }
            inner = value.arguments[0] if isinstance(value, CallSite) and len(value.arguments) == 1 else value
            if not isinstance(inner, ObjectLiteral) or inner is record or key in ("", "...") or inner.get("name"):
                continue
            handler = inner.get(*_HANDLERS)
            members = self._members(inner, scope) if handler is not None else {}
            if handler is not None and "description" in members and not members.keys().isdisjoint(_SCHEMAS):
                self._direct.append(self._recorded(key, inner, scope, self._closures(handler, scope)))
        handler, place = record.get(*_HANDLERS), scope
        if handler is not None and record.get("name") is None:
            record, scope = self._described(record, scope)
        name = record.get("name")
        if name is None or (record.get("description") is None and record.get(*_SCHEMAS) is None):
            return
        if self._is_computed(name, scope) and record.get(*_SCHEMAS) is not None:
            self._templates.append(_renamed(self._members(record, scope)))
        if handler is None:
            if record.get("inputSchema", "input_schema", "parameters") is not None and record.get("description"):
                self._list(name, {key: value for key, value in record.items if key not in ("", "...")}, record, scope)
            return
        texts = self._texts(Expression(node=name, scope=scope))
        for text in [text for text in texts if isinstance(text, str) and text and " " not in text]:
            registration = self._recorded(text, record, scope, self._closures(handler, place))
            if registration.handler is not None and not scope.module.is_python:
                registration = replace(registration, arguments=self._context(record, registration.arguments))
            self._direct.append(registration)

    def _recorded(
        self, name: str, record: ObjectLiteral, scope: NameScope, handlers: Sequence[Closure]
    ) -> Registration:
        handler = handlers[0] if handlers else None
        return self._registration(name, handler, scope, record, self._members(record, scope), is_direct=False)

    def _context(self, record: ObjectLiteral, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return what the one call gets that runs the handlers of all records: `tool.handler(args, context)`."""
        words = [word for word in _HANDLERS if record.get(word) is not None]
        calls = [
            (call, place)
            for call, place in self._interpreter.calls.get(words[0] if words else "", ())
            if isinstance(call.function, Attribute) and len(call.arguments) > 1 and not place.module.is_python
        ]
        if len(calls) != 1:
            return arguments
        ((call, place),) = calls
        values = [self._value(node, place) for node in call.arguments]
        return tuple(arguments[index] if index < len(arguments) else value for index, value in enumerate(values))

    def _described(self, record: ObjectLiteral, scope: NameScope) -> tuple[ObjectLiteral, NameScope]:
        """Return the definition inside a record that has a handler: `{ schema: { name, inputSchema }, handle }`."""
        for _, value in record.items:
            here = self._reader.locate(Expression(node=value, scope=scope))
            inner = here.node if isinstance(here.node, ObjectLiteral) else record
            if inner.get("name") and inner.get("inputSchema", "input_schema", "parameters"):
                return inner, here.scope
        return record, scope

    def _members(self, record: ObjectLiteral, scope: NameScope) -> Mapping[str, Expression]:
        try:
            return self._reader.members(Expression(node=record, scope=scope))
        except UnreadError:
            return {key: Expression(node=node, scope=scope) for key, node in record.items if key}

    def _list(self, name: SyntaxNode, fields: Mapping[str, SyntaxNode], node: SyntaxNode, scope: NameScope) -> None:
        value = self._value(name, scope)
        if COMPUTED in (text_of(value) or COMPUTED):
            self._list_calls(name, fields, scope)
            self._computed.append(self._registration(COMPUTED, None, scope, node, {}))
        for text in [text for text in map(text_of, alternatives(value)) if text and " " not in text]:
            runner = self._own_runner(scope)
            runner = None if runner is not None and _answers_requests(runner.function.body) else runner
            parts = {key: Expression(node=value, scope=scope) for key, value in fields.items()}
            listed = self._registration(text, runner, scope, node, parts)
            arguments = (*[UNKNOWN] * (len(runner.function.parameters) - 2), everything()) if runner else ()
            self._listed.append(replace(listed, arguments=arguments, keywords={}, dispatched=runner is None))

    def _list_calls(self, name: SyntaxNode, fields: Mapping[str, SyntaxNode], scope: NameScope) -> None:
        """List the tool of each call of the function around a record: `make_tool("find_boats", "Find boats", Find)`.

        A method's record is that of each class that inherits it: `Tool(name=f"boat_{cls.__name__}")`.
        """
        function = scope.function
        if function is None or isinstance(scope, CallScope):
            return
        if scope.owner is not None:
            for module, heir in self._interpreter.project.classes:
                if any(last_name(base) == scope.owner.name for base in heir.bases):
                    kind = ClassValue(node=heir, scope=self._interpreter.scope_of(module))
                    frame = CallFrame(parent=scope, names={function.parameters[0].name: kind})
                    with self._interpreter.muted():
                        text = text_of(self._interpreter.evaluate(name, frame))
                    if text and COMPUTED not in text:
                        self._list(Literal(line=heir.line, value=text), {}, heir, self._interpreter.scope_of(module))
            return
        target = Expression(node=function, scope=scope.parent or scope)
        for call, place in self._interpreter.calls.get(function.name, ()):
            inner = call_scope(target, call, place)
            try:
                text = self._reader.json(Expression(node=name, scope=inner))
            except UnreadError:
                continue
            if isinstance(text, str) and " " not in text:
                self._list(Literal(line=call.line, value=text), fields, call, inner)

    def _own_runner(self, scope: NameScope) -> Closure | None:
        """Return the method that answers, of a class that describes its own tool: `Tool(name=self.name, …)`."""
        if scope.owner is None or scope.parent is None:
            return None
        runner = next((scope.owner.methods[word] for word in _HANDLERS if word in scope.owner.methods), None)
        of = ClassValue(node=scope.owner, scope=scope.parent)
        if runner is None:
            return None
        return Closure(function=runner, scope=scope.parent, receiver=Instance(of=of))

    def _class(self, node: Class, scope: NameScope) -> None:
        """Read a class that is a tool: a name, a description, and a method that runs it."""
        fields = dict(node.fields)
        for method in node.methods.values():  # this.name = "find" in a constructor, `get name() { return "find" }`
            if method.name in ("__init__", "constructor"):
                for part in walk(method.body):
                    if (
                        isinstance(part, Assign)
                        and isinstance(part.target, Attribute)
                        and part.target.key in ("name", "description")
                    ):
                        fields.setdefault(part.target.key, part.value)
        for word in ("name", "description", "inputSchema"):  # getName() { return "find_boats"; }
            accessor = next((node.methods[key] for key in _accessors(word) if key in node.methods), None)
            last = accessor.body.statements[-1:] if accessor is not None else ()
            if last and isinstance(last[0], Return):
                fields.setdefault(word, last[0].value)
        name = text_of(self._value(fields.get("name") or fields.get("toolName"), scope))
        members = {*fields, *node.methods, *node.annotations}
        runner = next((node.methods[word] for word in _HANDLERS if word in node.methods), None)
        if (
            not name
            or " " in name
            or runner is None
            or "description" not in members
            or not (
                members & set(_SCHEMAS)
                or node.name.endswith("Tool")
                or any(last_name(base).endswith("Tool") for base in node.bases)
            )
        ):
            return
        of = ClassValue(node=node, scope=scope)
        handler = Closure(function=runner, scope=scope, receiver=Instance(of=of))
        parts = {key: Expression(node=value, scope=scope) for key, value in fields.items()}
        self._direct.append(self._registration(name, handler, scope, node, parts, is_direct=False))

    def _dispatched(self, listed: Registration) -> Registration:
        """Return a listed tool with the function that answers for all of them."""
        dispatchers = self._dispatchers or self._answering
        if not dispatchers:
            return replace(listed, problem="nothing was found that answers its calls")
        handler = dispatchers[0]
        return replace(listed, handler=handler, arguments=_dispatch_arguments(handler, listed.name))


def _answers_requests(node: SyntaxNode) -> bool:
    """Return whether the method by which tools are called stands in a node."""
    return any(isinstance(part, Literal) and part.value == "tools/call" for part in walk(node))


def _written(rivals: Sequence[Registration]) -> Sequence[Registration]:
    """Return the registrations without those in JavaScript that was compiled from the others: `dist` beside `src`."""
    suffixes = [rival.module.path.rpartition(".")[2] for rival in rivals]
    has_source = not {"ts", "tsx", "mts", "cts"}.isdisjoint(suffixes)
    return [rival for rival, suffix in zip(rivals, suffixes, strict=True) if not (has_source and suffix.endswith("js"))]


def _renamed(parts: Mapping[str, Expression]) -> dict[str, Expression]:
    """Return the parts of a definition by their names in MCP."""
    schema = next((parts[word] for word in _SCHEMAS if word in parts), None)
    named = {word: parts[word] for word in ("name", "title", "description", "annotations") if word in parts}
    output = parts.get("outputSchema") or parts.get("output_schema")
    return named | ({"inputSchema": schema} if schema else {}) | ({"outputSchema": output} if output else {})


def _dispatch_arguments(handler: Closure, name: str) -> tuple[Value, ...]:
    """Return the arguments of a function that is told the tool's name: `call_tool(name, arguments)`."""
    tool = Constant(value=name)
    all_arguments = everything()
    params = Dictionary(items=(("name", tool), ("arguments", all_arguments)), parameters=all_arguments.parameters)
    parameters = [parameter for parameter in handler.function.parameters if parameter.name not in ("self", "cls")]
    method = Constant(value="tools/call")
    request = Dictionary(items=(("params", params), ("method", method)), parameters=params.parameters)
    names = [parameter.name.strip("_") for parameter in parameters]
    if "method" in names:
        parts = {"method": method, "params": params}
        return tuple(parts.get(name, UNKNOWN) for name in names)
    if not handler.module.is_python:
        return (request,)
    if any(word in _ARGUMENTS for word in names) and any("name" in word for word in names):
        values = [tool if "name" in word else all_arguments if word in _ARGUMENTS else UNKNOWN for word in names]
        return tuple(values)
    if len(names) >= 2 and names[0] in _CONTEXTS:
        return (UNKNOWN, params)
    if len(names) == 1:
        return (request,)
    return (tool, all_arguments)


def python_arguments(handler: Closure) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """Return what a Python handler gets for its parameters: each named after it; context objects are nothing known."""
    parameters = list(handler.function.parameters)
    if handler.receiver is not None and parameters:
        parameters = parameters[1:]
    elif parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
        return (UNKNOWN,), _by_name(parameters)
    return (), _by_name(parameters)


def _by_name(parameters: Sequence[FormalParameter]) -> dict[str, Value]:
    return {
        parameter.name: Argument(name=parameter.name, parameters=frozenset({parameter.name}))
        for parameter in parameters
        if not parameter.star and not is_context(parameter)
    }


GIVEN = NAMES["given"]


def is_context(parameter: FormalParameter) -> bool:
    """Return whether a parameter is given by the server, not by the agent."""
    if parameter.name in ("self", "cls"):
        return True
    if parameter.annotation is None:
        return parameter.name in ("ctx", "context")
    return any(isinstance(part, Name | Attribute) and last_name(part) in GIVEN for part in walk(parameter.annotation))


def script_arguments(handler: Closure) -> tuple[Value, ...]:
    """Return what a JavaScript handler gets: the object of all arguments in the place where its parameters have it."""
    parameters = handler.function.parameters
    position = 0
    if len(parameters) > 1:
        named = [index for index, parameter in enumerate(parameters) if parameter.name in _ARGUMENTS]
        patterns = [index for index, parameter in enumerate(parameters) if parameter.pattern is not None]
        if named:
            position = named[0]
        elif patterns and parameters[0].name in _CONTEXTS:
            position = patterns[0]
    return (UNKNOWN,) * position + (everything(),)


def everything() -> Argument:
    """Return the object of all arguments."""
    return Argument(name=ALL, parameters=frozenset({ALL}))


def _accessors(word: str) -> tuple[str, str]:
    """Return the usual names of a method that tells a part of a definition: `getName`, `get_name`."""
    words = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", word)
    return f"get{word[0].upper()}{word[1:]}", f"get_{words}"


def _registers(helper: Function, parameter: str) -> bool:
    """Return whether a helper makes a tool of a parameter: `server.tool(name)(parameter)`, `add_tool(parameter)`."""
    for part in walk(helper.body):
        if isinstance(part, CallSite) and (
            _is_registering(part) or (isinstance(part.function, CallSite) and _is_registering(part.function))
        ):
            values = [node for argument in (*part.arguments, *part.keywords.values()) for node in walk(argument)]
            if any(isinstance(node, Name) and node.id == parameter for node in values):
                return True
    return False


def _is_registering(call: CallSite) -> bool:
    """Return whether a call registers a tool, or makes one for a list: `Tool(name=name, inputSchema=schema)`."""
    is_made = last_name(call.function) == "Tool" and not call.keywords.keys().isdisjoint(_SCHEMAS)
    return is_made or (isinstance(call.function, Attribute) and call.function.key in _REGISTERING)


def _calls_within(function: Function) -> Iterator[tuple[CallSite, tuple[Function, ...]]]:
    """Yield the calls in a function, each with the functions around it that stand in the first."""
    pending: list[tuple[SyntaxNode, tuple[Function, ...]]] = [(function.body, ())]
    while pending:
        node, path = pending.pop()
        if isinstance(node, CallSite):
            yield node, path
        inner = (*path, node) if isinstance(node, Function) else path
        pending += [(part, inner) for part in reversed(children(node))]
