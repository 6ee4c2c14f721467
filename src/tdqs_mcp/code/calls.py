"""Following calls: into functions of the project, and to the effects of libraries."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tdqs_mcp.code.knowledge import (
    ADDS,
    CLIENT,
    DESTROYS,
    MAKING,
    NAMES,
    Spec,
    agreed_post,
    is_sql,
    purpose_of_post,
    statement_harm,
    verb_kind,
)
from tdqs_mcp.code.nodes import (
    Attribute,
    Block,
    CallSite,
    Class,
    Function,
    Literal,
    Name,
    Other,
    Raise,
    Spread,
    SyntaxNode,
    walk,
)
from tdqs_mcp.code.project import NameScope, ProjectModule, dotted_name, last_name
from tdqs_mcp.code.resolution import COMPILED, MAX_DEPTH, Resolution
from tdqs_mcp.code.trace import ALL, FORM, MAX_CALLS, CallTrace, Handover, PassedCall
from tdqs_mcp.code.values import (
    ANSWER,
    MAX_ALTERNATIVES,
    MAX_SIZE,
    TEXT,
    UNKNOWN,
    Alternatives,
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
    elements,
    entries_of,
    join,
    made_from,
    options,
    parameters_of,
    text_of,
    unknown,
)

MAX_CANDIDATES = 3
"""Methods of the project that a call on an object of unknown kind may mean; more say nothing."""

MAX_CONTEXTS = 12
"""Calls of one function with different arguments that are followed for one tool."""


_MESSAGE_PART = re.compile(r"(?:^|\.)(?:TextContent|ImageContent|AudioContent|EmbeddedResource|CallToolResult)$")
"""Classes of the protocol's SDK, whose objects are what they are made with."""


_UNDEFINED = Constant(value=None)
"""What a script's function gets for an argument that a call leaves out."""


_SHAPED = (Dictionary, Listing, Instance, Constant, PartialText)


_CALLED_BACK = frozenset("file-delete file-move process command runs-code".split())
"""Effects of functions of libraries that are told of when the function is handed over, and not called by its name."""


class Calls(Resolution):
    """Calls of a project; `Interpreter` follows the bodies."""

    def _invoke(
        self,
        closure: Closure,
        arguments: tuple[Value, ...],
        keywords: dict[str, Value],
        *,
        depth: int,
        line: int,
        is_new: bool = False,
        lasting: tuple[str, ...] = (),
    ) -> Value:
        if closure.receiver is not None and _is_abstract(closure.function):
            return self._overriding(closure, arguments, keywords, depth=depth, line=line)
        trace = self.trace
        arguments = tuple(bounded(value) for value in closure.leading + arguments)
        is_whole = any(
            isinstance(part, Argument) and part.name == ALL  # find(args), find({ token, parameters: args })
            for value in (*arguments, *keywords.values())
            for part in (value, *(value.values if isinstance(value, Dictionary) else ()))
        )
        left_out = () if closure.module.is_python else (_UNDEFINED,)
        values = [value for value in (*arguments, *keywords.values()) if value not in left_out]
        if is_whole or all(map(_is_passed, values)):
            is_alone = closure.receiver is None and all(isinstance(value, Argument) for value in values)
            names = frozenset(value.name for value in values if is_alone and isinstance(value, Argument))
            handover = Handover(closure, depth, line, is_whole=is_whole, is_empty=not values, names=names)
            trace.handed.append(handover)
        is_new = is_new or closure.function.name in ("__init__", "constructor")
        named = ((name, keywords[name]) for name in sorted(keywords))
        key = (closure, is_new, arguments, (self._absent, lasting, *named))
        if key in trace.finished and set(trace.finished[key][1]) <= set(self._conditions):
            return trace.finished[key][0]
        if key in trace.active:
            return UNKNOWN  # recursion: what it does has been seen
        rounds = [active for active in trace.active if active[0].function is closure.function]
        is_lost = depth + 1 > MAX_DEPTH or trace.calls >= MAX_CALLS
        if len(rounds) > 1:  # the same with other arguments; a function among them may do anything
            is_same_scope = any(active[0].scope is closure.scope for active in rounds)
            followed = {value for active in rounds for value in active[2]}
            is_new_function = any(isinstance(value, Closure) and value not in followed for value in arguments)
            is_lost = is_new_function or (isinstance(closure.scope, CallFrame) and not is_same_scope)
        here = CallFrame(parent=self.scope_of(closure.module), depth=depth)
        if is_lost or len(rounds) > 1:
            if is_lost:
                self._note(trace.unresolved, "depth", here, line, f"{closure.function.name}()")
            self._use(*arguments, *keywords.values())
            return UNKNOWN
        shared = self._is_shared(closure, arguments, keywords)
        if shared and key in self._shared:
            value, part = self._shared[key]
            self._merge(part, depth, hash(key))
            trace.finished[key] = (value, self._conditions)
            return value
        contexts = trace.contexts.setdefault(closure.function, [])
        if len(contexts) >= MAX_CONTEXTS:
            if not self._is_idle(closure, arguments, keywords, is_new=is_new):
                self._note(trace.unresolved, "depth", here, line, f"{closure.function.name}()")
            self._use(*arguments, *keywords.values())
            return join(contexts[:2])
        trace.calls += 1
        conditions = self._conditions
        if shared:
            self.trace, self._conditions = (
                CallTrace(calls=trace.calls, active=trace.active, outside=len(trace.active)),
                (),
            )
        self.trace.active[key] = None
        below = 0 if shared else depth + 1
        value = self._run(closure, arguments, keywords, depth=below, is_new=is_new, lasting=lasting)
        if shared:
            part, self.trace, self._conditions = self.trace, trace, conditions
            trace.calls = part.calls
            self._merge(part, depth, hash(key))
            if not any(sighting.kind == "depth" for sighting in part.unresolved):
                self._shared[key] = (value, part)
        trace.active.pop(key, None)
        trace.finished[key] = (value, conditions)
        contexts.append(value)
        return value

    def _is_idle(
        self, closure: Closure, arguments: tuple[Value, ...], keywords: Mapping[str, Value], *, is_new: bool
    ) -> bool:
        """Return whether a function does nothing whatever it is given, as a logger: all its branches are followed."""
        trace, conditions = self.trace, self._conditions
        if closure.function not in trace.idle:
            trace.idle[closure.function] = False  # while it is followed
            self.trace, self._conditions = CallTrace(calls=trace.calls, active=trace.active, idle=trace.idle), ()
            opened = {name: unknown(value) for name, value in keywords.items()}
            self._run(closure, tuple(map(unknown, arguments)), opened, depth=0, is_new=is_new)
            part, self.trace, self._conditions = self.trace, trace, conditions
            trace.calls = part.calls
            trace.idle[closure.function] = not (part.effects or part.unresolved)
        return trace.idle[closure.function]

    def _overriding(
        self, closure: Closure, arguments: tuple[Value, ...], keywords: dict[str, Value], *, depth: int, line: int
    ) -> Value:
        """Return what the methods give back that fill in an abstract one."""
        name = closure.function.name
        bodies = [
            (module, owner, method)
            for module, owner, method in self.project.methods.get(name, ())
            if module.is_python == closure.module.is_python and not _is_abstract(method)
        ]
        if not bodies or len(bodies) > MAX_CANDIDATES:
            self._use(*arguments, *keywords.values())
            here = CallFrame(parent=self.scope_of(closure.module), depth=depth)
            self._note(self.trace.unresolved, "call", here, closure.function.line, f"{name}()")
            return UNKNOWN
        return join(
            self._invoke(self._method_of(*body), arguments, keywords, depth=depth, line=line) for body in bodies
        )

    def _method_of(self, module: ProjectModule, owner: Class, method: Function) -> Closure:
        of = ClassValue(node=owner, scope=self.scope_of(module))
        return Closure(function=method, scope=of.scope, receiver=Instance(of=of))

    def _is_shared(self, closure: Closure, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> bool:
        """Return whether a call does the same for every tool: nothing in it comes from a tool's arguments."""
        values = (*arguments, *keywords.values(), *((closure.receiver,) if closure.receiver else ()))
        return (
            isinstance(closure.scope, NameScope)
            and not self._is_muted
            and not any(value.parameters or isinstance(value, Closure | Argument) for value in values)
        )

    def _merge(self, part: CallTrace, depth: int, origin: int) -> None:
        """Add what a shared call does to the trace of a tool that makes it at some depth."""
        trace = self.trace
        for sink, additions in (
            (trace.effects, part.effects),
            (trace.errors, part.errors),
            (trace.limits, part.limits),
            (trace.unresolved, part.unresolved),
            (trace.logs, [] if trace.logs else part.logs),
        ):
            sink.extend(
                replace(
                    sighting,
                    depth=sighting.depth + depth + 1,
                    conditions=(*self._conditions, *sighting.conditions),
                    origin=origin,
                )
                for sighting in additions
            )
        for place, inner in part.functions.items():
            trace.functions.setdefault(place, inner + depth + 1)
        for name in ("environment", "written", "caches", "peers", "changed", "failures"):
            getattr(trace, name).update(getattr(part, name))
        trace.is_read_only |= part.is_read_only

    def _run(
        self,
        closure: Closure,
        arguments: tuple[Value, ...],
        keywords: dict[str, Value],
        *,
        depth: int,
        is_new: bool,
        lasting: tuple[str, ...] = (),
    ) -> Value:
        parent = closure.scope
        frame = CallFrame(parent=parent, depth=depth, receiver=closure.receiver, is_new=is_new)
        if frame.receiver is None and not closure.module.is_python:
            home = parent
            while isinstance(home, CallFrame) and home.receiver is None:
                home = home.parent
            frame.receiver = home.receiver if isinstance(home, CallFrame) else self._self(home)
            frame.is_new = isinstance(home, CallFrame) and home.is_new
        place = (closure.module.path, closure.function.line, closure.function.end)
        self.trace.functions.setdefault(place, depth)
        self._bind(closure, frame, list(arguments), keywords)
        frame.state |= dict.fromkeys(lasting, 1)
        conditions = self._conditions
        self._execute(closure.function.body, frame)
        self._conditions = conditions
        results = [value for value in frame.results if value not in self.trace.failures]
        is_crowded = len(set(frame.results)) > MAX_ALTERNATIVES  # how it fails matters least
        value = join((is_crowded and results) or frame.results) if frame.results else Constant(value=None)
        # A type tells less than keys, items, a class or a text.
        is_shaped = any(isinstance(part, _SHAPED) and part != _UNDEFINED for part in alternatives(value))
        if closure.function.returns is not None and not is_shaped:
            typed = self.typed(closure.function.returns, parent)
            item = typed.values[0] if isinstance(typed, Listing) else typed
            is_data = isinstance(item, Instance) and self.data_fields(item.of) is not None
            if is_data or all(type(part) is Value or part == Constant(value=None) for part in alternatives(value)):
                value = made_from(typed, value.parameters) if is_data else typed
        return value

    def _bind(self, closure: Closure, frame: CallFrame, arguments: list[Value], keywords: dict[str, Value]) -> None:
        parameters = list(closure.function.parameters)
        if closure.receiver is not None and closure.module.is_python and not closure.function.is_static and parameters:
            if parameters[0].star:  # def wrapper(*args): return method(*args)
                arguments.insert(0, closure.receiver)
            else:
                frame.names[parameters.pop(0).name] = closure.receiver
        rest = keywords.get("**")
        if not closure.module.is_python and arguments:
            frame.names["arguments"] = Listing(values=tuple(arguments), parameters=parameters_of(arguments))
        for parameter in parameters:
            if parameter.star == "*":
                frame.names[parameter.name] = Listing(values=tuple(arguments), parameters=parameters_of(arguments))
                arguments = []
                continue
            if parameter.star == "**":
                items = tuple((name, value) for name, value in keywords.items() if name != "**")
                items += (("...", rest),) if rest is not None else ()
                whole = rest if rest is not None and len(items) == 1 else None
                frame.names[parameter.name] = whole or Dictionary(
                    items=items, parameters=parameters_of(keywords.values())
                )
                continue
            value = arguments.pop(0) if arguments else keywords.get(parameter.name)
            if value is None and rest is not None:
                value = self.member(rest, parameter.name)
            is_missing = value is None or (value == _UNDEFINED and not closure.module.is_python)
            if is_missing and parameter.default is not None:
                value = self.evaluate(parameter.default, CallFrame(parent=frame.parent))
            value = value if value is not None else UNKNOWN
            if type(value) is Value:
                typed_value = self.typed(parameter.annotation, frame.parent)
                value = replace(typed_value, parameters=value.parameters) if typed_value is not UNKNOWN else value
            text = closure.function.documentation
            if text and isinstance(value, Argument) and value.name == parameter.name:
                self._note(self.trace.texts, "text", frame, closure.function.line, text, frozenset({parameter.name}))
            if parameter.pattern is not None:
                self._assign(parameter.pattern, value, frame)
            else:
                frame.names[parameter.name] = value

    def call(self, function: Value, site: PassedCall, *, is_new: bool = False) -> Value:
        """Return the result of a call, with its effects noted; `is_new` where its object was made in this call."""
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        chosen = [(value, words) for value, words in options(function) if value != Constant(value=None)]
        if len(chosen) > 1 and any(words for _, words in chosen) and len(chosen) <= MAX_CONTEXTS:  # OPERATIONS[name]
            results = []
            for value, words in chosen:
                with self._under(words):
                    results.append(self.call(value, site, is_new=is_new))
            return join(results, [words for _, words in chosen])
        results = []
        targets = [value for value, _ in chosen]
        if len(targets) > MAX_ALTERNATIVES and not any(holds(value, self.trace.name) for value in arguments):
            targets = [unknown(function)]  # any function of a table; those that are told the tool's name choose by it
        if not targets and isinstance(node.function, Name) and self._is_parameter(node.function.id):
            return UNKNOWN  # `isWanted && !isWanted(boat)`: this call passes no such function
        for target in targets or [UNKNOWN]:  # an import that failed is None, and then it is not called
            match target:
                case Closure():
                    values = _padded(arguments, target.function, site)
                    lasting = self._lasting(target, site)
                    result = self._invoke(
                        target, values, keywords, depth=frame.depth, line=node.line, is_new=is_new, lasting=lasting
                    )
                    results.append(result)
                case ClassValue():
                    results.append(self._construct(target, site))
                case External():
                    results.append(self._external(target, site))
                case Instance() if isinstance(method := self.member(target, "__call__"), Closure):
                    results.append(self._invoke(method, arguments, keywords, depth=frame.depth, line=node.line))
                case _:
                    results.append(self._unknown_call(target, site))
        return join(results)

    def _lasting(self, target: Closure, site: PassedCall) -> tuple[str, ...]:
        """Return the parameters that get something that outlives the call: `set_title(self.boats[name], title)`."""
        is_bound = target.receiver is not None and target.module.is_python and not target.function.is_static
        names = [parameter.name for parameter in target.function.parameters][is_bound:]
        passed = (*zip(names, site.node.arguments, strict=False), *site.node.keywords.items())
        return tuple(name for name, node in passed if self._is_state(node, site.frame))

    def _construct(self, target: ClassValue, site: PassedCall) -> Value:
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        constructor, owner = self._method(target, "__init__" if target.module.is_python else "constructor")
        names = [TEXT] if self.is_text(target) else []
        if constructor is not None:
            skip = 1 if target.module.is_python else 0
            names = [parameter.name for parameter in constructor.parameters[skip:] if not parameter.star]
        fields = {name: bounded(value) for name, value in (*zip(names, arguments, strict=False), *keywords.items())}
        if constructor is not None:
            fields.pop("**", None)
        instance = Instance(
            of=target,
            arguments=tuple(fields.items()),
            parameters=parameters_of([*(arguments if constructor is None else ()), *fields.values()]),
            is_lasting=self._is_muted,
        )
        if constructor is None or owner is None:
            return instance
        closure = Closure(function=constructor, scope=owner.scope, receiver=instance)
        arguments = _padded(arguments, constructor, site)
        self._invoke(closure, arguments, keywords, depth=frame.depth, line=node.line)
        return instance

    def _external(self, target: External, site: PassedCall) -> Value:
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        name = target.name.removesuffix(".call").removesuffix(".apply")
        first = arguments[0] if arguments else UNKNOWN
        places: list[tuple[int | str, Value]] = [*enumerate(arguments), *keywords.items()]
        for place, argument in places:
            if form := self.knowledge(frame.module).form(name, place):
                self._note_limit(argument, form, node.line, frame, FORM)
        if name == "functools.partial" and isinstance(first, Closure):
            return replace(first, leading=first.leading + arguments[1:])
        if name in NAMES["running_first"] or name.endswith((".run_in_executor", ".submit", ".to_thread")):
            index = 1 if name.endswith(".run_in_executor") else 0
            if len(arguments) > index and isinstance(arguments[index], Closure | External):
                return self.call(arguments[index], replace(site, arguments=arguments[index + 1 :]))
        if name == "builtins.getattr" and len(arguments) > 1:
            key = arguments[1]
            if isinstance(key, Constant) and isinstance(key.value, str):
                return self.member(first, key.value)
        if name in ("require", "import") and isinstance(first, Constant) and isinstance(first.value, str):
            return self.imported(frame.module, first.value, "")
        if name in ("os.getenv", "os.environ.get", "os.environ.pop") and isinstance(first, Constant):
            self.trace.environment.add(str(first.value))
            return join([UNKNOWN, *arguments[1:]])
        if name == "builtins.super":
            return self._super(frame)
        if name in ("builtins.min", "builtins.max", "Math.min", "Math.max"):
            return self._limit(name, arguments, node, frame)
        if name == "builtins.next":  # next((tool for tool in tools if tool.name == name), None)
            return join([elements(first), *arguments[1:]])
        if name == "builtins.bool":
            return first
        if name in NAMES["numeric"] and isinstance(first, Argument):
            self._use(*arguments)
            return first
        if name in NAMES["declaring"]:
            return UNKNOWN
        if _MESSAGE_PART.search(name) and keywords and not arguments:
            self._use(*keywords.values())
            return bounded(Dictionary(items=tuple(keywords.items()), parameters=parameters_of(keywords.values())))
        helper = name.removeprefix("tslib.")
        if helper == "__awaiter":  # TypeScript's helper for older JavaScript: the last argument is the function's body
            bodies = [value for value in arguments if isinstance(value, Closure)]
            own = [value for value in arguments[1:2] if isinstance(value, Listing)]  # __awaiter(this, arguments, …)
            passed = replace(site, arguments=own[0].values if own else (), keywords={})
            return self.call(bodies[0], passed) if bodies else UNKNOWN
        if helper in COMPILED:
            return first
        if name == "builtins.locals":
            self._use(*frame.names.values())
        if name == "Promise" and isinstance(first, Closure):  # new Promise((resolve, reject) => …)
            settling = tuple(External(name=f"Promise.{word}") for word in ("resolve", "reject"))
            value = self.call(first, replace(site, arguments=settling, keywords={}))
            return unknown(value) if value == Constant(value=None) else value  # a callback settles it
        self.trace.is_read_only |= (
            _says_read_only(arguments, keywords) or last_name(node.function) in NAMES["authorizing"]
        )
        specs = self.knowledge(frame.module).lookup(name)
        handed = (External(name=f"{name}()"),) if any(spec.words == ("hands",) for spec in specs or ()) else ()
        self._call_back(site, handed)
        if name in NAMES["gathering"]:
            return Listing(values=arguments, parameters=parameters_of(arguments))
        if name == "Object.keys" and isinstance(first, Argument) and not first.name:
            return UNKNOWN  # names alone; `args[key]` with such a key is a use of all
        if (
            name in NAMES["extending"]
            and (isinstance(first, Dictionary) or _is_bare(first))
            and (keywords or arguments[1:])
        ):
            parts = arguments if isinstance(first, Dictionary) else arguments[1:]
            items = (*(("...", value) for value in parts), *keywords.items())
            return bounded(Dictionary(items=items, parameters=parameters_of([*arguments, *keywords.values()])))
        if (
            name == "Object.entries"
            and isinstance(first, Dictionary)
            and any(isinstance(value, Closure) for value in first.values)
        ):
            return entries_of(first)
        if name in ("importlib.import_module", "builtins.__import__") and first.parameters == frozenset():
            return self._imported_modules(frame.module, text_of(first) or "")
        if name in NAMES["passing"] and arguments:
            if isinstance(first, Argument) and not first.name and name not in NAMES["converting"]:
                self._use(first)  # Object.entries(args): whatever is in it
            return first
        self._use(*arguments, *keywords.values())
        if specs is None:
            specs = _statement_specs(name, arguments)
        if specs is None and not self._evaluates(name.rpartition(".")[2], arguments, node, frame):
            self._note(self.trace.unresolved, "call", frame, node.line, f"{name}()")
        for spec in specs or ():
            self._effect(spec, target, site)
        function = node.function
        if specs and places and isinstance(function, Attribute) and all(spec.words == ("none",) for spec in specs):
            is_change = verb_kind(function.key) in ("write", "delete") and not self._is_muted
            if is_change and self._is_state(function.value, frame):  # self.deck.slides.add_slide(layout)
                text, parameters = dotted_name(function), parameters_of(arguments)
                self._note(self.trace.effects, "state-unknown", frame, node.line, text, parameters, harm=ADDS)
        bases = [value for key, value in keywords.items() if key in ("base_url", "baseURL", "prefixUrl")]
        own_arguments = tuple(
            value
            for value in bases or arguments[:2]
            if not isinstance(value, Closure | Instance) and value.size <= MAX_SIZE // 4
        )
        parameters = parameters_of([target, *arguments, *keywords.values()])
        if self.knowledge(frame.module).is_content(name):
            content = target.arguments[0] if target.arguments else None
            if isinstance(content, Dictionary):
                return self._content(content, first, frame)
            return unknown(target, *arguments)
        if any(spec.gives_answer for spec in specs or ()):
            effects = [spec.effect(target, arguments, keywords) for spec in specs or () if spec.gives_answer]
            requests = [f"{effect.text.split()[0]} {effect.address}" for effect in effects if effect and effect.address]
            answered = tuple(Constant(value=request) for request in requests[:1])
            return External(name=ANSWER, arguments=answered, parameters=parameters)
        is_statement = any(
            spec.words == ("prepares",) for spec in specs or ()
        )  # it is run later, with values of its own
        origin = own_arguments if is_statement else target.arguments or own_arguments
        return External(name=f"{target.name}()", arguments=origin, parameters=parameters)

    def _note_default(self, value: Value, default: object, line: int, frame: CallFrame) -> None:
        """Note what the code takes for a parameter that is not given."""
        if default is not None and not self._unclear:
            self._note_limit(value, f"default {default!r}", line, frame)

    def _is_parameter(self, name: str) -> bool:
        """Return whether the function that is followed takes such a value; another variable may be set later."""
        closure, *_ = next(reversed(self.trace.active))
        return any(parameter.name == name for parameter in closure.function.parameters)

    def _imported_modules(self, origin: ProjectModule, name: str) -> Value:
        """Return the modules that a computed import may mean: `import_module(f".{name}", package=__name__)`.

        Those beside the file, or in the package that the text names.
        """
        package = name.rpartition(".")[0].strip("{}.")
        home = self.project.find(origin, f"{package}.__init__" if package else "") or origin
        modules = [module for module in self.project.beside(home) if module is not origin]
        return join(ModuleValue(module=module) for module in modules) if modules else UNKNOWN

    def _content(self, content: Dictionary, key: Value, frame: CallFrame) -> Value:
        """Return what a map has under a key; under one that is not known, any of its values."""
        own = content.get(key.value) if isinstance(key, Constant) and isinstance(key.value, str) else None
        return self._taken(own, str(text_of(key)), frame) if own else made_from(join(content.values), key.parameters)

    def _super(self, frame: CallFrame) -> Value:
        receiver: CallFrame | NameScope = frame
        while isinstance(receiver, CallFrame) and receiver.receiver is None:
            receiver = receiver.parent
        value = receiver.receiver if isinstance(receiver, CallFrame) else None
        owner = self._owner_of(value.of) if isinstance(value, Instance) else None
        if owner is None or not isinstance(value, Instance):
            return External(name="super()")
        bases = self.bases_of(owner)
        library = "" if bases else self._external_base(owner)
        return replace(value, of=bases[0]) if bases else External(name=f"{library}()" if library else "super()")

    def _owner_of(self, of: ClassValue) -> ClassValue:
        """Return the class, among an object's own and those it is made from, whose method is followed."""
        chain = [of]
        for current in chain:
            chain += [base for base in self.bases_of(current) if base not in chain]
        owners = {method: current for current in reversed(chain) for method in current.node.methods.values()}
        inner = (active[0].function for active in reversed(self.trace.active))
        return next((owners[function] for function in inner if function in owners), of)

    def _call_back(self, site: PassedCall, handed: tuple[Value, ...] = ()) -> None:
        """Follow functions that are handed over: whoever gets them calls them, also `map(os.remove, paths)`."""
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        for value in (*arguments, *keywords.values()):
            for inner in alternatives(value):
                if isinstance(inner, Closure):
                    if last_name(node.function) == "forEach":
                        self._repeated.add(inner.function)
                    self._invoke(inner, handed, {}, depth=frame.depth, line=node.line)
                elif isinstance(inner, External) and not inner.name.endswith((")", "]")):
                    for spec in self.knowledge(frame.module).lookup(inner.name) or ():
                        if spec.words[0] in _CALLED_BACK:
                            self._effect(spec, inner, replace(site, arguments=(unknown(*arguments),), keywords={}))

    def _unknown_call(self, target: Value, site: PassedCall) -> Value:
        """Return the result of a call of something unknown, by the method's name as far as that tells."""
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        self._call_back(site)
        self._use(target, *arguments, *keywords.values())
        function = node.function
        name = function.key if isinstance(function, Attribute) else function.id if isinstance(function, Name) else ""
        specs = self.knowledge(frame.module).method(name) if name else None
        if specs is None:
            specs = _statement_specs(name, arguments)
        if self._evaluates(name, arguments, node, frame):
            return unknown(target, *arguments)
        # `await boats.get(path)`: nothing of the language's own that is called `get` is waited for
        owner = function.value if isinstance(function, Attribute) else function
        is_short = name.islower()  # `get`; the framework's own `sendLoggingMessage` means one thing
        is_waited_for = node.is_awaited and name not in NAMES["waiting"]
        is_other = target.is_handed_over or (is_short and (is_waited_for or CLIENT.search(last_name(owner))))
        is_open = specs is not None and is_other and all(spec.words == ("none",) for spec in specs)
        if specs is not None and not is_open:
            receiver = External(name=name, parameters=target.parameters)
            for spec in specs:
                self._effect(spec, receiver, site)
            return unknown(target, *arguments)
        value = self._by_name(name, site) if not is_open else None
        if value is not None:
            return value
        words = dotted_name(function) or name or "a computed function"
        self._note(self.trace.unresolved, "call", frame, node.line, f"{words}()")
        return unknown(target, *arguments)

    def _evaluates(self, name: str, arguments: tuple[Value, ...], node: CallSite, frame: CallFrame) -> bool:
        """Note that an object of which nothing is known evaluates a text of the agent's: `page.evaluate(script)`."""
        is_text = any(isinstance(value, Argument | PartialText) and value.parameters for value in arguments[:1])
        if name != "evaluate" or not is_text:
            return False
        self._note(self.trace.effects, "runs-code", frame, node.line, name, arguments[0].parameters, harm=DESTROYS)
        return True

    def _by_name(self, name: str, site: PassedCall) -> Value | None:
        """Return what methods of the project with this name give back; None where none or too many have it."""
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        entries = self.project.methods.get(name, ()) if name else ()
        near = [entry for entry in entries if entry[0].is_python == frame.module.is_python]
        # `await conn.fetch(query)` in an adapter's own `fetch` means the library's
        is_caller = any(active[0].function is entry[2] for entry in near for active in self.trace.active)
        closures = [self._method_of(*entry) for entry in near] or self._members_named(name, frame)
        if not closures or is_caller or len(closures) > MAX_CANDIDATES:
            return None
        return join(
            self._invoke(closure, arguments, keywords, depth=frame.depth, line=node.line) for closure in closures
        )

    def _members_named(self, name: str, frame: CallFrame) -> list[Closure]:
        """Return the functions that objects of a script have under a name: `{ formatError: (error) => … }`."""
        members = self._methods_of_objects.get(name, ()) if self.calls and not frame.module.is_python else ()
        if not 0 < len(members) <= MAX_CANDIDATES or name in self._pending:  # it is made by a call of this name
            return []
        self._pending.add(name)
        try:
            values = [part for node, scope in members for part in alternatives(self.value_of(node, scope))]
        finally:
            self._pending.remove(name)
        closures = [value for value in values if isinstance(value, Closure)]
        is_caller = any(active[0].function is closure.function for closure in closures for active in self.trace.active)
        return [] if is_caller or len(closures) < len(values) else list(dict.fromkeys(closures))

    def _effect(self, spec: Spec, target: External, site: PassedCall) -> None:
        arguments, keywords, node, frame = site.arguments, site.keywords, site.node, site.frame
        for position, value in enumerate(arguments):
            if len(cases := _cases(value)) > 1:  # execute("DROP …" if is_old else "CREATE …")
                for inner, words in cases:
                    with self._under(words):
                        changed = (*arguments[:position], inner, *arguments[position + 1 :])
                        self._effect(spec, target, replace(site, arguments=changed))
                return
        effect = spec.effect(target, arguments, keywords)
        if effect is None:
            return
        if effect.text == "connect":
            self.trace.peers.add(effect.host)
        channels = ("http", "message", "verb", "client", "named")
        is_post = effect.text.partition(" ")[0] == "POST" and spec.words[0] in channels
        if is_post and effect.text not in ("POST query", "POST mutation", "POST token"):
            names = [active[0].function.name for active in self.trace.active][self.trace.outside :]
            effect = agreed_post(effect, purpose_of_post([self.trace.name, *names]))
        kind, text, harm = effect.kind, effect.text, effect.harm
        if kind == "runs-code" and isinstance(next(iter(arguments), None), Closure):
            return  # page.evaluate(() => document.title): the project's own code, which is followed
        parameters = parameters_of([target, *arguments, *keywords.values()])
        if kind == "file-write" and text in MAKING and not parameters:
            return  # the server makes its own folder
        if kind == "file-move" and len(arguments) > 1 and ")." in target.name:
            return  # path.name.replace("-", "_"): a path itself is replaced by one other
        if any(isinstance(value, External) and value.name.startswith("io.") for value in arguments[:1]):
            return  # image.save(buffer)
        if kind == "sql-unknown":
            guards = [word for name in parameters_of(arguments[:1]) for word in self.trace.guards.get(name, ())]
            is_read = bool(guards) and all(word.upper() in ("SELECT", "WITH", "MATCH", "SHOW") for word in guards)
            if is_read and not effect.is_script:
                kind = "db-read"
            elif guards and all(word.upper().startswith(_CHANGING) for word in guards):
                kind, text = "sql-write", ", ".join(guards)
                harm = DESTROYS if statement_harm(text) == DESTROYS else ""
            elif not guards and not text and any(map(_is_argument, arguments[:1])):
                kind, text, harm = ANY_STATEMENT, "any statement", DESTROYS
        owner = replace(target, name=target.name.rpartition(".")[0])
        is_copy = kind == "file-move" or text.lower().startswith(("copy", "cp", "link", "symlink"))
        is_path = ").write_" in target.name or ").open" in target.name  # the path is the object: `Path(name).open("w")`
        path = arguments[1:2] if is_copy else owner.arguments[:1] if is_path else arguments[:1]
        subjects = {
            *arguments[:1],
            *([owner] if "(" in owner.name else []),
        }  # `Path(part).unlink()`, but not `fs.rm(part)`
        absent = self._absent & {*path, *subjects}
        if kind == "file-write" and not parameters and absent:
            return  # the server makes its own file where it is missing
        if kind == "file-write" and any(map(_is_temporary, path)):
            self.trace.written |= {*path}
            return  # the tool's own folder, as of `with TemporaryDirectory() as folder`
        is_own = not self.trace.written.isdisjoint(subjects) or any(map(_is_temporary, subjects))
        if kind in ("file-write", "file-move"):
            self.trace.written |= {*path, *([] if is_copy else subjects)}
            if absent:  # `if path.exists(): raise FileExistsError`; of a path it may be known only who gives it
                harm = "" if all(type(value) is Value for value in absent) else ADDS
            elif not harm and text.startswith(_WRITERS) and any(map(_is_chosen, path)):
                harm = DESTROYS  # the agent chose exactly this path: what was there is gone
        is_writing = not effect.program.isdisjoint(("adds", "writes")) and "remote" not in effect.program
        if kind == "file-move" or is_writing:
            self._note(self.trace.effects, "file-write", frame, node.line, text, parameters, harm=harm)
        if kind == "file-move":
            kind, harm = "file-delete", DESTROYS
        if is_own and kind == "file-delete":
            return  # `os.replace(part, path)` takes nothing but what the tool has made itself
        sink = self.trace.unresolved if kind in ("unknown", "file-unknown") else self.trace.effects
        sparse = self._sparse_in((*arguments, *keywords.values())) if kind in _REQUESTS else frozenset[str]()
        self._note(sink, kind, frame, node.line, text, parameters, harm=harm)
        sink[-1] = replace(sink[-1], host=effect.host, address=effect.address, program=effect.program, sparse=sparse)
        if effect.is_code:
            self._note(self.trace.effects, "runs-code", frame, node.line, text, parameters, harm=DESTROYS)

    def _sparse_in(self, values: Iterable[Value]) -> frozenset[str]:
        """Return the parameters that a request has only where they are given."""
        tables = [part for value in values for part in alternatives(value) if isinstance(part, Dictionary)]
        tables += [part for table in tables for part in table.values if isinstance(part, Dictionary)]
        items = {(key, value) for table in tables for key, value in table.items if key in table.optional}
        return frozenset(value.name for _, value in items if isinstance(value, Argument)) & self.trace.sparse

    def _limit(self, name: str, arguments: tuple[Value, ...], node: CallSite, frame: CallFrame) -> Value:
        """Note the bound of a parameter, which it stays; return what a least or a greatest value is."""
        numbers = [
            value.value for value in arguments if isinstance(value, Constant) and isinstance(value.value, int | float)
        ]
        whole = [value for value in arguments if isinstance(value, Argument) and value.name]
        self._use(*arguments)
        # `min(limit, 50)` bounds the parameter, `min(limit * 8, 50)` something that is made of it
        if len(numbers) == len(whole) == 1 and len(arguments) == 2:  # the parameter and its bound
            word = "at most" if name.endswith("min") else "at least"
            self._note_limit(whole[0], f"{word} {numbers[0]}", node.line, frame)
            return whole[0]
        return unknown(*arguments)

    @abstractmethod
    def _is_state(self, node: SyntaxNode, frame: CallFrame) -> int:
        """Return how surely an expression stands for something that outlives the call."""

    @abstractmethod
    def _taken(self, value: Value, key: str, frame: CallFrame) -> Value:
        """Return what a table has under a key; a function under the tool's name is what answers its calls."""

    @abstractmethod
    def _execute(self, block: Block, frame: CallFrame) -> bool:
        """Follow the statements of a block."""

    @abstractmethod
    def _assign(self, target: SyntaxNode, value: Value, frame: CallFrame) -> None:
        """Bind a target, or the names of a pattern, to a value."""


def _padded(arguments: tuple[Value, ...], function: Function, site: PassedCall) -> tuple[Value, ...]:
    """Return the arguments of a script's function with null for those that the call leaves out."""
    if site.frame.module.is_python or any(isinstance(part, Spread) for part in site.node.arguments):
        return arguments
    return arguments + (_UNDEFINED,) * (len(function.parameters) - len(arguments))


def _cases(value: Value) -> list[tuple[Value, str]]:
    """Return what a value, or a part of a list or table, is by the agent's choice: `{method: isNew ? "PUT" : "GET"}`.

    Each comes with its condition.
    """
    match value:
        case Alternatives(conditions=conditions) if any(conditions):
            return list(options(value))
        case Listing(values=parts):
            keys: tuple[str, ...] = ()
        case Dictionary(items=items):
            keys, parts = tuple(key for key, _ in items), tuple(part for _, part in items)
        case _:
            return [(value, "")]
    for place, part in enumerate(parts):
        if isinstance(part, Alternatives) and any(part.conditions):
            rows = [((*parts[:place], inner, *parts[place + 1 :]), words) for inner, words in options(part)]
            if isinstance(value, Listing):
                return [(replace(value, values=row), words) for row, words in rows]
            return [(Dictionary(items=tuple(zip(keys, row, strict=True))), words) for row, words in rows]
    return [(value, "")]


_REQUESTS = ("http-write", "http-unknown", "sends-data-out")
"""Kinds of requests that may change something."""

_CHANGING = ("CREATE", "INSERT", "UPDATE", "DELETE", "ALTER", "DROP", "TRUNCATE", "REPLACE", "MERGE", "NOT SELECT")
"""Beginnings of statements that change a database, as guards name them."""

_WRITERS = ("open", "write", "save", "output", "to_", "copy", "rename", "replace", "move")
"""Beginnings of the names of calls that replace a file."""


ANY_STATEMENT = "sql-any"
"""Kind of a call that gives a database what the agent has written, until it is known whether it only reads."""


def _says_read_only(arguments: tuple[Value, ...], keywords: dict[str, Value]) -> bool:
    """Return whether a call asks for reading only: `connect(read_only=True)`, `BEGIN READ ONLY`, `?mode=ro`."""
    options = [
        *keywords.items(),
        *(item for value in arguments if isinstance(value, Dictionary) for item in value.items),
    ]
    if any(re.fullmatch("read_?only", key, re.IGNORECASE) and value == Constant(value=True) for key, value in options):
        return True
    texts = map(text_of, (*arguments, *(value for _, value in options)))
    return any(re.search(r"\bread[ _]only\b|mode=ro\b", text, re.IGNORECASE) for text in texts if text)


def _is_passed(value: Value) -> bool:
    """Return whether a value is what the agent passes, a record of such values, or has nothing of the agent's."""
    if isinstance(value, Dictionary):
        return all(map(_is_passed, value.values))
    return isinstance(value, Argument) or not value.parameters


def _is_abstract(function: Function) -> bool:
    """Return whether a method is left to others: a decorator says so, or its body is a docstring, `...` or an error.

    The error must say that the method is not implemented: one that refuses all calls is that object's own answer.
    """
    if any(dotted_name(part).rpartition(".")[2] == "abstractmethod" for part in function.decorators):
        return True  # whatever its body is, such as `pass`
    if not function.body.statements:
        return False
    *rest, last = function.body.statements
    if isinstance(last, Raise):  # raise NotImplementedError; throw new Error("Not implemented")
        texts = [str(node.value) for node in walk(last) if isinstance(node, Literal)]
        is_left = any("implement" in text.lower() for text in (dotted_name(last.value), *texts))
        return is_left and all(map(_says_nothing_more, rest))
    return all(map(_says_nothing_more, (*rest, last)))


def _says_nothing_more(statement: SyntaxNode) -> bool:
    """Return whether a statement is a docstring or `...`."""
    return isinstance(statement, Literal) or (isinstance(statement, Other) and statement.operator == "...")


def _is_bare(value: Value) -> bool:
    """Return whether a value is an object without methods of its own: `Object.assign(new Answer(), { content })`."""
    return isinstance(value, Instance) and all(method.is_static for method in value.of.node.methods.values())


def _is_temporary(value: Value) -> bool:
    """Return whether a value is a file that the tool makes for itself: `mkstemp()[1]`, `Path(…)` of it."""
    parts = [inner for inner in alternatives(value) if isinstance(inner, External)]
    is_own = any(
        (part.name.startswith("tempfile.") and part.name != "tempfile.gettempdir()") or "mkdtemp" in part.name
        for part in parts
    )
    return is_own or any(_is_temporary(inner) for part in parts for inner in part.arguments[:1])


def _is_chosen(value: Value) -> bool:
    """Return whether a path is a parameter's value, perhaps checked or made absolute, and not built from several."""
    # FOLDER / name, but not join(FOLDER, f"{name}.json") and path.parent / f"{path.stem}_{now}.pdf"
    parts = value.arguments if isinstance(value, External) else (value,)
    is_built = any(isinstance(part, PartialText) and part.parameters for part in parts)
    return len(value.parameters) == 1 and not is_built


def _is_argument(value: Value) -> bool:
    """Return whether a statement is a parameter's own value, perhaps marked as text: `text(query)` of SQLAlchemy."""
    inner = value.arguments[:1] if isinstance(value, External) else (value,)
    return any(isinstance(part, Argument) for part in inner)


def _statement_specs(name: str, arguments: tuple[Value, ...]) -> tuple[Spec, ...] | None:
    """Return what a call of an unknown library does that gives a statement to a database; None for other calls.

    A text shows that, or it is a method of a connection: `apsw.Connection(path).execute(query)`.
    """
    for position, value in enumerate(arguments):
        texts = map(text_of, alternatives(value))
        if any(text is not None and is_sql(text) for text in texts):
            return (Spec(("sql-script", str(position))),)
    *owners, last = name.replace("[]", "").split(".")
    is_connection = any(
        owner.lower().removesuffix("()").endswith(("connection", "connect", "cursor")) for owner in owners
    )
    is_asked = is_connection and bool(arguments) and last.startswith(("execute", "query"))
    return (Spec(("sql-script", "0")),) if is_asked else None


def holds(value: Value, text: str) -> bool:
    """Return whether a value is a text or a record that has it: `{params: {name}}`."""
    inside = value.values if isinstance(value, Dictionary | Listing) else ()
    return value == Constant(value=text) or any(holds(inner, text) for inner in inside)
