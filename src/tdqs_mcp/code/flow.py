"""Following a tool's handler through its project: effects of its calls with their conditions, uses of its parameters.

The code is read with what is known of its values; it is never run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os.path import commonprefix

from tdqs_mcp.code.calls import ANY_STATEMENT, Calls, holds
from tdqs_mcp.code.knowledge import ADDS, PEER
from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    Block,
    CallSite,
    Choice,
    Class,
    Collection,
    Compare,
    Element,
    FormalParameter,
    Function,
    If,
    Import,
    Literal,
    Logic,
    Loop,
    Name,
    ObjectLiteral,
    Other,
    Raise,
    Return,
    Spread,
    Subscript,
    SyntaxNode,
    Template,
    Try,
    walk,
)
from tdqs_mcp.code.project import NameScope, ProjectModule, dotted_name, last_name, targets
from tdqs_mcp.code.resolution import MAX_ITEMS
from tdqs_mcp.code.trace import ALL, SURE, CallFrame, CallTrace
from tdqs_mcp.code.values import (
    MAX_FUNCTIONS,
    UNKNOWN,
    Alternatives,
    Argument,
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
    closures_in,
    elements,
    entries_of,
    join,
    made_from,
    parameters_of,
    text_of,
    unknown,
)
from tdqs_mcp.results.tool_code import COUNTED

_PARSING = frozenset("parse safeParse parseAsync safeParseAsync model_validate data arguments params copy".split())
"""Members of all arguments, and calls that they go through, whose result is all arguments again."""

_MUTATING = frozenset(
    "append appendleft extend insert add update pop popleft popitem remove discard clear setdefault push unshift "
    "shift splice set delete".split()
)
"""Methods that change a list, a set or a map."""

_TAKING = frozenset(
    [" del", *(f".{word}()" for word in "pop popleft popitem remove discard clear delete splice".split())]
)
"""Changes in memory that take something away."""

_PROBING = frozenset("exists existsSync access accessSync stat statSync pathExists is_file isfile".split())
"""Calls that tell whether a file is there."""

_NO_ITEMS = Dictionary(items=())

_ADDING_ITEMS = frozenset([".append()", ".push()", ".add()", ".extend()", ".unshift()"])

_COPYING = frozenset(
    "list dict set tuple sorted str len int float bool repr sum min max copy deepcopy keys values items "
    "map filter join split model_dump toString slice concat dumps stringify format isinstance any all "
    "round abs enumerate zip".split()
)
"""Functions and methods whose result is new."""

_BUILTIN_METHODS = frozenset(
    "append extend add update items keys values pop get setdefault insert remove discard sort index count map filter "
    "forEach push join slice concat find some every includes reduce flat flatMap sort reverse unshift splice has set "
    "entries length copy clear shift at indexOf union difference intersection".split()
)


class Interpreter(Calls):
    """Follows handlers through a project."""

    def follow(
        self, name: str, handler: Closure, arguments: Sequence[Value], keywords: Mapping[str, Value]
    ) -> CallTrace:
        """Return what a call of a tool's handler with these arguments reaches."""
        self.trace = CallTrace(name=name)
        self._conditions = ()
        try:
            value = self._invoke(handler, tuple(arguments), dict(keywords), depth=-1, line=handler.function.line)
            for inner in closures_in(value):  # `return {action}`: whoever gets the result calls it
                self._invoke(inner, (), {}, depth=0, line=inner.function.line)
        except RecursionError:
            value = UNKNOWN
            self._note(
                self.trace.unresolved, "nesting", handler.module, handler.function.line, 0, "code nests too deep"
            )
        self.trace.results.append(value)
        kind = "sql-unknown" if self.trace.is_read_only else "sql-write"
        peer = self.trace.peers.pop() if len(self.trace.peers) == 1 else ""
        self.trace.effects = [
            replace(
                effect,
                kind=kind if effect.kind == ANY_STATEMENT else effect.kind,
                host=peer if effect.host == PEER else effect.host,
            )
            for effect in self.trace.effects
        ]
        return self.trace

    def _execute(self, block: Block, frame: CallFrame) -> bool:
        """Follow the statements of a block; return whether one of its conditions is known to end in a return."""
        conditions = self._conditions
        self._exhaust(block, frame)
        for statement in block.statements:
            match statement:
                case If():
                    leaving = self._branch(statement, frame)
                    if leaving is None:
                        self._conditions = conditions
                        return True
                    if leaving:
                        # What follows `if action == "list": return …` is done on other actions only.
                        self._conditions = (*self._conditions, leaving)
                case Loop(body=body):
                    self._repeat(body, frame)
                case Try(body=body, handlers=handlers):
                    before = len(self.trace.errors)
                    self._execute(body, frame)
                    if handlers and not any(
                        isinstance(node, Raise | Return) for part in handlers for node in walk(part)
                    ):
                        del self.trace.errors[before:]  # what is caught here and goes on fails no call
                    for handler in handlers:  # try: stat(path); except: write(path)
                        was_catching, frame.is_catching = frame.is_catching, True
                        with self._missing(body.statements[0] if len(body.statements) == 1 else body, frame):
                            self._execute(handler, frame)
                        frame.is_catching = was_catching
                case Function(name=name):
                    frame.names[name] = self.closure(statement, frame.module, frame)
                case Class(name=name):
                    frame.names[name] = ClassValue(node=statement, module=frame.module, scope=frame)
                case Import(names=names):
                    for name, origin in names.items():
                        frame.names[name] = self.imported(frame.module, *origin)
                case _:
                    self.evaluate(statement, frame)
        self._conditions = conditions
        return False

    def _repeat(self, body: Block, frame: CallFrame) -> None:
        """Follow a loop: once for all items, but a table of functions or modules item by item.

        `for (const handler of handlers) { const answer = await handler(request); if (answer) return answer; }`; each
        `wrapped[name] = () => handler()` of `Object.entries(handlers)` has a handler of its own.
        """
        for node in walk(body):
            if isinstance(node, Assign) and isinstance(node.target, Name) and node.target.id in frame.names:
                frame.names[node.target.id] = unknown(frame.names[node.target.id])
        match body.statements:
            case [Assign(target=target, value=Element(iterable=iterable)), *rest]:
                items = self.evaluate(iterable, frame)
                for item in (rows := _rows(items)):
                    place = frame if frame.module.is_python else replace(frame, parent=frame, names={}, state={})
                    self._assign(target, item, place)
                    if self._execute(Block(line=body.line, statements=rest), place):
                        break  # it has answered
                if rows:
                    return
        self._execute(body, frame)

    def _exhaust(self, block: Block, frame: CallFrame) -> None:
        """Note `if action == "list": … elif action == "add": … else: raise`, and the same as conditions that return."""
        values: dict[str, set[object]] = {}
        pending = list(block.statements)
        while pending:
            statement = pending.pop(0)
            if isinstance(statement, Raise):
                for name, compared in values.items():
                    self.trace.exhausted.setdefault(name, set()).update(compared)
                return
            if not isinstance(statement, If):
                values = {} if values and not isinstance(statement, Assign) else values
                continue
            name, compared = self._tested(statement.test, frame)
            leaves = statement.body.statements and isinstance(statement.body.statements[-1], Return | Raise)
            if not name or (values and name not in values):
                values = {}
                continue
            values.setdefault(name, set()).update(compared)
            if statement.otherwise.statements:
                pending = [*statement.otherwise.statements, *(pending if leaves else ())]
            elif not leaves:
                values = {}

    def _tested(self, test: SyntaxNode, frame: CallFrame) -> tuple[str, set[object]]:
        """Return the parameter that a condition compares with constants, and these."""
        tests = test.values if isinstance(test, Logic) and test.operator == "or" else [test]
        name, values = "", set[object]()
        for part in tests:
            if (
                not isinstance(part, Compare)
                or part.operator not in ("==", "in")
                or not isinstance(part.left, Name | Attribute)
            ):
                return "", set()
            with self.muted():
                left, right = self.evaluate(part.left, frame), self.evaluate(part.right, frame)
            constants = [
                value.value
                for value in (right.values if isinstance(right, Listing) else (right,))
                if isinstance(value, Constant)
            ]
            if not isinstance(left, Argument) or not left.name or not constants or name not in ("", left.name):
                return "", set()
            name = left.name
            values.update(constants)
        return name, values

    def _branch(self, statement: If, frame: CallFrame) -> str | None:
        """Follow a condition; return the condition of what comes after it, where one side returns; None for nothing."""
        statement = self._first_case(statement, frame)
        outcome, positive, negative = self._test(statement.test, frame)
        conditions = self._conditions
        before = dict(frame.names)
        if outcome is not False:
            self._narrow(statement.test, frame)
            if outcome is True and self._tells_tool(statement.test, frame):
                self._note_arm(frame.module, statement.body.line, frame)
            self._conditions = (*conditions, positive) if positive else conditions
            negated = statement.test.values[0] if isinstance(statement.test, Logic) else statement.test
            is_missing = isinstance(statement.test, Logic) and statement.test.operator == "not"
            with self._missing(negated if is_missing else statement, frame):
                self._execute(statement.body, frame)
        after = dict(frame.names)
        if outcome is not True:
            if outcome is None:
                frame.names.clear()
                frame.names.update(before)
            self._conditions = (*conditions, negative) if negative else conditions
            self._execute(statement.otherwise, frame)
        if outcome is None:
            for name, value in after.items():
                if name in frame.names and frame.names[name] != value:
                    frame.names[name] = _both(frame.names[name], value)
                else:
                    frame.names.setdefault(name, value)
        self._conditions = conditions
        if statement.body.statements and isinstance(statement.body.statements[-1], Raise):
            self._guard(statement.test, frame)
        returns = statement.body.statements and isinstance(statement.body.statements[-1], Return)
        if outcome is True and returns:
            return None
        return negative if outcome is None and returns and not statement.otherwise.statements else ""

    def _tells_tool(self, test: SyntaxNode, frame: CallFrame) -> bool:
        """Return whether a condition compares the tool's name."""
        tests = test.values if isinstance(test, Logic) else [test]
        for part in tests:
            if isinstance(part, Compare):
                with self.muted():
                    sides = [self.evaluate(side, frame) for side in (part.left, part.right)]
                if any(holds(side, self.trace.name) for side in sides):
                    return True
        return False

    @contextmanager
    def _missing(self, probe: SyntaxNode, frame: CallFrame) -> Iterator[None]:
        """Follow what is done where a file is missing that a call asks for: `existsSync(path)`, `path.exists()`."""
        before = self._absent
        if isinstance(probe, CallSite) and last_name(probe) in _PROBING:
            owner = probe.function.value if isinstance(probe.function, Attribute) else probe.function
            with self.muted():
                paths = [self.evaluate(part, frame) for part in (*probe.arguments[:1], owner)]
            self._absent |= {path for path in paths if type(path) is not Value}
        yield
        self._absent = before

    def _narrow(self, test: SyntaxNode, frame: CallFrame) -> None:
        """Take a variable that nothing is known of for an object of the class that a condition names."""
        match test:
            case CallSite(function=Name(id="isinstance"), arguments=[Name(id=name), kind]):
                pass
            case Compare(left=Name(id=name), operator="instanceof", right=kind):
                pass
            case _:
                return
        value = self.lookup(name, frame)
        with self.muted():
            owner = self.evaluate(kind, frame)
            narrowed = self.instance(owner)
        is_plain = isinstance(owner, External) and owner.name.startswith("builtins.")
        if is_plain and any(isinstance(inner, External) for inner in alternatives(value)):
            frame.names[name] = unknown(value)  # a dictionary is no client
        elif type(value) is Value and narrowed is not UNKNOWN:
            frame.names[name] = replace(narrowed, parameters=value.parameters)

    def _first_case(self, statement: If, frame: CallFrame) -> If:
        """Return the first condition of a chain that may hold: a `switch` over names is as deep as it has tools."""
        subject, values = "", set[object]()
        while True:
            tests = statement.test.values if isinstance(statement.test, Logic) else [statement.test]
            following = statement.otherwise.statements
            if len(following) != 1 or not isinstance(following[0], If):
                return statement
            for test in tests:
                if not (isinstance(test, Compare) and test.operator == "==" and isinstance(test.right, Literal)):
                    return statement
                name = dotted_name(test.left)
                if not name or (isinstance(statement.test, Logic) and statement.test.operator != "or"):
                    return statement
                if name != subject:
                    subject, parts = name, alternatives(self.evaluate(test.left, frame))
                    values = {part.value for part in parts if isinstance(part, Constant)}
                    if len(values) == 0 or not all(isinstance(part, Constant) for part in parts):
                        return statement
                if test.right.value in values:
                    return statement
            statement = following[0]

    def _guard(self, test: SyntaxNode, frame: CallFrame) -> None:
        """Note `if not query.strip().upper().startswith("SELECT"): raise …`, and its contrary."""
        is_negative = isinstance(test, Logic) and test.operator == "not"
        call = test.values[0] if isinstance(test, Logic) and is_negative else test
        if (
            isinstance(call, CallSite)
            and isinstance(call.function, Attribute)
            and call.function.key in ("startswith", "startsWith")
        ):
            with self.muted():
                subject = self.evaluate(call.function.value, frame)
                words = [text_of(self.evaluate(argument, frame)) for argument in call.arguments]
            for name in subject.parameters:
                self.trace.guards[name] = tuple(f"{'' if is_negative else 'not '}{word}" for word in words if word)

    def _test(self, test: SyntaxNode, frame: CallFrame) -> tuple[bool | None, str, str]:
        """Return whether a condition holds, as far as known; and it and its contrary in words, if parameters decide."""
        match test:
            case Logic(operator="not", values=[inner]):
                outcome, positive, negative = self._test(inner, frame)
                return None if outcome is None else not outcome, negative, positive
            case Logic(operator="and", values=values):
                self._note_index(values, frame)
                tests = [self._test(inner, frame) for inner in values]
                outcomes = [outcome for outcome, _, _ in tests]
                result = False if False in outcomes else True if all(outcomes) else None
                return result, " and ".join(positive for _, positive, _ in tests if positive), ""
            case Logic(operator="or", values=values):
                self._note_index(values, frame)
                tests = [self._test(inner, frame) for inner in values]
                outcomes = [outcome for outcome, _, _ in tests]
                result = True if True in outcomes else False if all(outcome is False for outcome in outcomes) else None
                words = [positive for _, positive, _ in tests]
                negatives = [negative for _, _, negative in tests]
                return (
                    result,
                    " or ".join(words) if all(words) else "",
                    " and ".join(negatives) if all(negatives) else "",
                )
            case Compare():
                return self._comparison(test, frame)
        value = self.evaluate(test, frame)
        self.trace.used |= value.parameters
        match value:
            case Constant(value=constant):
                return bool(constant), "", ""
            case Argument(name=name) if name:
                return None, name, f"not {name}"
            case Closure() | ClassValue() | Instance():
                return True if frame.module.is_python else None, "", ""
            case _:
                self._use(value)
                return None, "", ""

    def _note_index(self, tests: Sequence[SyntaxNode], frame: CallFrame) -> None:
        """Note a parameter that is held against 0 and a length: `index < 0 or index >= len(slides)`."""
        compared = [test for test in tests if isinstance(test, Compare)]
        starts = {name.id for test in compared for name, other in _sides(test) if _is_zero(other)}
        for test in compared:
            for name, other in _sides(test):
                value = frame.names.get(name.id)
                if name.id in starts and _is_length(other) and isinstance(value, Argument) and value.name:
                    place = (frame.module, test.line, frame.depth)
                    self._note(self.trace.limits, "limit", *place, COUNTED, parameters=frozenset({value.name}))

    def _comparison(self, test: Compare, frame: CallFrame) -> tuple[bool | None, str, str]:
        left, right = self.evaluate(test.left, frame), self.evaluate(test.right, frame)
        if isinstance(left, Constant) and isinstance(right, Argument):
            left, right = right, left
        outcome = _compared(left, test.operator, right)
        if outcome is not None:
            return outcome, "", ""
        opposite = {"==": "!=", "!=": "==", "in": "not in", "not in": "in", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
        values = right.values if isinstance(right, Listing) else (right,)
        constants = [value.value for value in values if isinstance(value, Constant)]
        if not isinstance(left, Argument) or not left.name or len(constants) != len(values):
            self._use(left, right)
            return None, "", ""
        self.trace.used.add(left.name)
        if test.operator in ("<", "<=", ">", ">="):
            self.trace.passed.add(left.name)
        text_of_values = repr(constants[0]) if len(constants) == 1 else ", ".join(map(repr, constants))
        return (
            None,
            f"{left.name} {test.operator} {text_of_values}",
            f"{left.name} {opposite[test.operator]} {text_of_values}",
        )

    def evaluate(self, node: SyntaxNode, frame: CallFrame) -> Value:
        """Return what is known of an expression's value, with the effects of its calls noted."""
        match node:
            case Literal(value=constant):
                return Constant(value=constant)
            case Name(id=name):
                if name == "this" and frame.receiver is not None:
                    return frame.receiver
                if name == "this":
                    return self._this(frame)
                if name == "super" and not frame.module.is_python:  # super.request(query), super(options)
                    return self._super(frame)
                return self.lookup(name, frame)
            case Attribute(value=owner, key=key):
                value = self.evaluate(owner, frame)
                if isinstance(value, Argument) and value.name:
                    self._use(value)
                return self.member(value, key)
            case CallSite():
                return self._evaluate_call(node, frame)
            case Template(parts=parts):
                texts = [self.evaluate(part, frame) for part in parts]
                self._use(*texts)
                return _text(texts)
            case ObjectLiteral(items=items):
                values = {position: self.evaluate(value, frame) for position, (_, value) in enumerate(items)}
                pairs = tuple((key, values[position]) for position, (key, _) in enumerate(items))
                self._use(*(value for key, value in pairs if key != "..."))
                return bounded(Dictionary(items=pairs, parameters=parameters_of(values.values())))
            case Collection(values=parts):
                members: list[Value] = []
                for part in parts:
                    item = self.evaluate(part, frame)
                    members += item.values if isinstance(part, Spread) and isinstance(item, Listing) else [item]
                return bounded(Listing(values=tuple(members), parameters=parameters_of(members)))
            case Subscript():
                return self._index(node, frame)
            case Compare():
                outcome, _, _ = self._comparison(node, frame)
                names = (
                    frozenset[str]()
                    if outcome is not None
                    else parameters_of([self.evaluate(node.left, frame), self.evaluate(node.right, frame)])
                )
                return Constant(value=outcome) if outcome is not None else Value(parameters=names)
            case Logic():
                return self._logic(node, frame)
            case Choice(test=test, body=body, otherwise=otherwise):
                return self._choice(test, body, otherwise, frame)
            case Function():
                return self.closure(node, frame.module, frame)
            case Class():
                return ClassValue(node=node, module=frame.module, scope=frame)
            case Assign(target=target, value=assigned, annotation=annotation):
                result = self.evaluate(assigned, frame)
                if annotation is not None and (type(result) is Value or result == Constant(value=None)):
                    typed = self.typed(annotation, frame)
                    result = typed if typed is not UNKNOWN else result
                self._assign(target, result, frame)
                if isinstance(target, Name) and not node.is_declaration and not frame.module.is_python:
                    outer = frame.parent  # let release; new Promise((resolve) => { release = resolve; })
                    while isinstance(outer, CallFrame) and target.id not in outer.names:
                        outer = outer.parent
                    if isinstance(outer, CallFrame):
                        outer.names[target.id] = join([outer.names[target.id], result])
                certainty = self._is_state(assigned, frame)
                frame.state |= {name: certainty for name, _ in targets(target, assigned)}
                return result
            case Element(iterable=iterable):
                value = self.evaluate(iterable, frame)
                self._use(value)
                return join(self._elements(inner, frame) for inner in alternatives(value))
            case Return(value=inner):
                value = self.evaluate(inner, frame)
                if frame.depth <= 0:
                    self._use(value)
                frame.results.append(value)
                if frame.is_catching:
                    self.trace.failures |= {part for part in alternatives(value) if _tells_failure(part)}
                if frame.depth <= 1:
                    self._error_result(value, node.line, frame)
                return value
            case Raise(value=inner):
                passed = set(self.trace.passed)
                value = self.evaluate(inner, frame)
                self._use(value)
                self._raised(inner, node.line, frame)
                self.trace.passed = passed  # `unknown action {action}` does nothing with an action
                return UNKNOWN
            case Spread(value=inner):
                return self.evaluate(inner, frame)
            case Other(parts=parts, operator="comprehension"):
                before = dict(frame.names)
                listed = self._comprehended(parts, frame)
                evaluated = [self.evaluate(part, frame) for part in parts] if listed is None else []
                frame.names.clear()
                frame.names.update(before)  # its variables are its own: `[boat.name for boat in boats]`
                return listed if listed is not None else evaluated[-1] if evaluated else UNKNOWN
            case Other(parts=parts, operator=operator):
                values_ = tuple(self.evaluate(part, frame) for part in parts)
                if operator == "+" and any(isinstance(value, PartialText) or text_of(value) for value in values_):
                    self._use(*values_)
                    return _text(values_)
                if operator == "+" and any(isinstance(value, Listing) for value in values_):
                    parts_ = [value.values if isinstance(value, Listing) else (elements(value),) for value in values_]
                    whole = tuple(item for part in parts_ for item in part)
                    return bounded(Listing(values=whole, parameters=parameters_of(values_)))
                if operator == "/" and isinstance(values_[0], External):
                    self._use(*values_[1:])
                    return replace(values_[0], parameters=parameters_of(values_))
                if operator == "," and values_:
                    return values_[-1]
                self._use(*values_)
                for part in parts if operator == "del" else ():
                    if isinstance(part, Subscript | Attribute):
                        self._mutate(part.value, " del", values_, node.line, frame)
                return unknown(*values_)
            case Block():
                self._execute(node, frame)
                return UNKNOWN
            case _:
                return UNKNOWN

    def _elements(self, value: Value, frame: CallFrame) -> Value:
        """Return what a loop over a value binds; of a map of the language, what was put into it."""
        if not isinstance(value, External):
            return elements(value)
        name = value.name.removesuffix(".values()").removesuffix(".entries()")
        is_content = self.knowledge.is_content(f"{name}.get", is_python=frame.module.is_python)
        content = [part for part in value.arguments if is_content and isinstance(part, Dictionary)]
        return join(item for part in content for item in part.values) if content else self.member(value, "[]")

    def _this(self, frame: CallFrame) -> Value:
        place: CallFrame | NameScope = frame
        while isinstance(place, CallFrame):
            if place.receiver is not None:
                return place.receiver
            place = place.parent
        return self._self(place) or UNKNOWN

    def _evaluate_call(self, node: CallSite, frame: CallFrame) -> Value:
        function = node.function
        owner = self.evaluate(function.value, frame) if isinstance(function, Attribute) else UNKNOWN
        arguments: list[Value] = []
        for argument in node.arguments:
            value = self.evaluate(argument, frame)
            if isinstance(argument, Spread) and isinstance(value, Listing):
                arguments += value.values
            else:
                arguments.append(value)
        keywords = {key: self.evaluate(value, frame) for key, value in node.keywords.items()}
        if isinstance(function, Attribute):
            if function.key in _MUTATING and isinstance(owner, Listing | Dictionary):
                self._mutate(function.value, f".{function.key}()", [*arguments, *keywords.values()], node.line, frame)
            if function.key == "assign" and owner == External(name="Object") and node.arguments:
                self._mutate(node.arguments[0], ".update()", arguments[1:], node.line, frame)
            special = self._known_method(owner, function.key, tuple(arguments), node, frame)
            if special is not None:
                return special
            if isinstance(owner, Argument) and owner.name:
                self._use(owner)
            target = self.member(owner, function.key)
            is_known = isinstance(target, Closure | External) and not self._is_container(owner, frame)
            if function.key in _MUTATING and not is_known:
                self._mutate(function.value, f".{function.key}()", [*arguments, *keywords.values()], node.line, frame)
            is_new = isinstance(target, Closure) and not self._is_state(function.value, frame)
            if isinstance(owner, Argument) and target.parameters and not isinstance(target, Closure):
                target = unknown(target)
            result = self.call(target, tuple(arguments), keywords, node, frame, is_new=is_new)
            return self._mapped(owner, arguments, node, frame) or result if function.key == "map" else result
        target = self.evaluate(function, frame)
        if isinstance(function, Name) and function.id == "super" and not frame.module.is_python:
            target = self.member(target, "constructor")
            return (
                self.call(target, tuple(arguments), keywords, node, frame) if isinstance(target, Closure) else UNKNOWN
            )
        return self.call(target, tuple(arguments), keywords, node, frame)

    def _mapped(self, owner: Value, arguments: Sequence[Value], node: CallSite, frame: CallFrame) -> Value | None:
        """Return the list that a function makes of the items of an unknown one, where it gives texts or objects."""
        function = arguments[0] if arguments else UNKNOWN
        is_open = isinstance(owner, External) or type(owner) is Value
        if self._is_muted or not is_open or not isinstance(function, Closure):
            return None
        with self.muted():
            items = (self.member(owner, "[]"),)
            item = self._invoke(function, items, {}, depth=frame.depth, line=node.line)
        is_known = isinstance(item, Dictionary | PartialText)
        return bounded(Listing(values=(item,), parameters=owner.parameters | item.parameters)) if is_known else None

    def _known_method(
        self, owner: Value, key: str, arguments: tuple[Value, ...], node: CallSite, frame: CallFrame
    ) -> Value | None:
        """Return the result of a method of the language's own kinds; None where the object is none of them."""
        first = arguments[0] if arguments else UNKNOWN
        glue, items = (owner, first) if frame.module.is_python else (first, owner)
        if key == "join" and (text := _joined(glue, items)) is not None:
            self._use(owner, *arguments)
            return text
        if isinstance(owner, Alternatives) and all(isinstance(part, Listing) for part in owner.values):
            whole = dict.fromkeys(item for part in owner.values if isinstance(part, Listing) for item in part.values)
            owner = bounded(Listing(values=tuple(whole), parameters=owner.parameters))
        match owner:
            case Argument(name=name) if name == ALL:
                if key in ("get", "pop") and isinstance(first, Constant) and isinstance(first.value, str):
                    if len(arguments) > 1 and isinstance(arguments[1], Constant):
                        self.trace.defaults.setdefault(first.value, arguments[1].value)
                    return Argument(name=first.value, parameters=frozenset({first.value}))
                if key in ("items", "keys", "values", "model_dump", "dict", "copy", "update"):
                    self._use(owner)
                    return owner
                return None
            case Dictionary() if key == "get" and isinstance(first, Constant) and isinstance(first.value, str):
                default = arguments[1] if len(arguments) > 1 else unknown(owner)
                return self._taken(owner.get(first.value) or default, first.value, frame)
            case Dictionary() if key == "get" and owner.items:
                return made_from(join(owner.values), first.parameters)
            case Dictionary() if key in ("items", "values") and _rows(entries_of(owner)):
                return entries_of(owner) if key == "items" else Listing(values=owner.values)
            case Listing(values=values) if key in ("find", "filter") and isinstance(first, Closure):
                chosen = self._chosen(values, first, node, frame)
                return Listing(values=chosen, parameters=owner.parameters) if key == "filter" else join(chosen)
            case Listing() if key in ("map", "forEach", "flatMap", "some", "every") and isinstance(first, Closure):
                self._use(owner)
                if rows := _rows(owner):
                    results = [self._invoke(first, (row,), {}, depth=frame.depth, line=node.line) for row in rows]
                    return Listing(values=tuple(results), parameters=owner.parameters)
                result = self._invoke(first, (elements(owner),), {}, depth=frame.depth, line=node.line)
                return (
                    Listing(values=(result,), parameters=owner.parameters) if key == "map" else unknown(result, owner)
                )
            case External() if key in _PARSING and _is_request(first):
                return first  # schema.parse(args), Model.model_validate(arguments)
            case Constant(value=str()) | PartialText() | Listing() | Dictionary():
                if isinstance(owner, Listing | Dictionary) and owner != UNKNOWN and key not in _BUILTIN_METHODS:
                    return None
                self._call_back(arguments, {}, node, frame)
                self._use(owner, *arguments)
                if key == "format":
                    return _text([owner, *arguments])
                return (
                    owner
                    if key in ("strip", "lower", "upper", "rstrip", "lstrip", "trim", "toLowerCase", "replace")
                    and not isinstance(owner, Listing | Dictionary)
                    else unknown(owner, *arguments)
                )
            case _:
                return None

    def _chosen(self, values: Sequence[Value], test: Closure, node: CallSite, frame: CallFrame) -> tuple[Value, ...]:
        """Return the items of a list that a function may choose: `tools.find(tool => tool.name === name)`."""
        body = test.function.body.statements
        if len(body) != 1 or not isinstance(body[0], Return) or not test.function.parameters or len(values) > MAX_ITEMS:
            self._invoke(test, (join(values),), {}, depth=frame.depth, line=node.line)
            return tuple(values)
        parent = test.scope if isinstance(test.scope, CallFrame | NameScope) else self.scope_of(test.module)
        inner = CallFrame(module=test.module, parent=parent, depth=frame.depth)
        chosen: list[Value] = []
        for value in values:
            self._bind(test, inner, [value], {})
            if self._test(body[0].value, inner)[0] is not False:
                chosen.append(value)
        return tuple(chosen)

    def _comprehended(self, parts: Sequence[SyntaxNode], frame: CallFrame) -> Value | None:
        """Return the list of `[tool.run for tool in tools if tool.name == name]`; None for items that are not known."""
        match parts:
            case [Assign(target=target, value=Element(iterable=iterable)), *tests, Collection(values=[result])] if (
                not any(isinstance(test, Assign) for test in tests)
            ):
                value = self.evaluate(iterable, frame)
                if not isinstance(value, Listing) or not 1 < len(value.values) <= MAX_ITEMS:
                    return None
                items: list[Value] = []
                for item in value.values:
                    self._assign(target, item, frame)
                    if all(self._test(test, frame)[0] is not False for test in tests):
                        items.append(self.evaluate(result, frame))
                return bounded(Listing(values=tuple(items), parameters=parameters_of([value, *items])))
            case _:
                return None

    def _index(self, node: Subscript, frame: CallFrame) -> Value:
        value, key = self.evaluate(node.value, frame), self.evaluate(node.key, frame)
        self._use(key)
        if node.is_slice:
            if isinstance(value, Constant) and isinstance(value.value, str) and isinstance(node.key, Collection):
                bounds = [part.value for part in node.key.values if isinstance(part, Literal)]
                start, stop = bounds if len(bounds) == 2 else ("", "")  # name[7:]
                if isinstance(start, int | None) and isinstance(stop, int | None):
                    return replace(value, value=value.value[start:stop])
            self._slice(node, value, frame)
            return unknown(value, key)
        if isinstance(key, Constant) and isinstance(key.value, str):
            return self._taken(self.member(value, key.value), key.value, frame)
        rows = alternatives(value)
        if isinstance(key, Constant) and isinstance(key.value, int) and all(isinstance(row, Listing) for row in rows):
            lists = [row.values for row in rows if isinstance(row, Listing)]
            return join(row[key.value] if -len(row) <= key.value < len(row) else UNKNOWN for row in lists)
        if isinstance(value, Dictionary):
            return made_from(join(value.values), key.parameters) if value.values else unknown(value, key)
        if isinstance(value, External):
            return External(
                name=f"{value.name}[]", arguments=value.arguments, parameters=value.parameters | key.parameters
            )
        return unknown(value, key)

    def _taken(self, value: Value, key: str, frame: CallFrame) -> Value:
        """Return what a table has under a key; a function under the tool's name is what answers its calls."""
        match value if key == self.trace.name else None:
            case Closure(module=module, function=node):
                self._note_arm(module, node.line, frame)
            case ModuleValue(module=module):  # registry[name].run(**arguments)
                self._note_arm(module, 1, frame)
        return value

    def _note_arm(self, module: ProjectModule, line: int, frame: CallFrame) -> None:
        self.trace.arms.append((module.path, line, frame.depth, len(self.trace.handed)))

    def _slice(self, node: Subscript, value: Value, frame: CallFrame) -> None:
        bounds = node.key.values if isinstance(node.key, Collection) else ()
        last = bounds[1] if len(bounds) > 1 else None
        if isinstance(last, Literal) and isinstance(last.value, int) and last.value > 0 and len(value.parameters) == 1:
            self._note(
                self.trace.limits,
                "limit",
                frame.module,
                node.line,
                frame.depth,
                f"the first {last.value}",
                parameters=value.parameters,
            )

    def _logic(self, node: Logic, frame: CallFrame) -> Value:
        if node.operator == "not":
            outcome, _, _ = self._test(node, frame)
            return Constant(value=outcome) if outcome is not None else unknown(self.evaluate(node.values[0], frame))
        conditions = self._conditions
        values: list[Value] = []
        for inner in node.values:
            if node.operator == "and" and inner is not node.values[-1]:
                outcome, positive, _ = self._test(inner, frame)
                if outcome is False:
                    self._conditions = conditions
                    return Constant(value=False)
                self._conditions = (*self._conditions, positive) if positive else self._conditions
                continue
            value = self.evaluate(inner, frame)
            if node.operator == "or":
                if isinstance(value, Constant) and not value.value:
                    continue
                if isinstance(value, Argument) and isinstance(node.values[-1], Literal):
                    self.trace.defaults.setdefault(value.name, node.values[-1].value)
            values.append(value)
            if node.operator == "or" and isinstance(value, Constant | Closure | ClassValue | Instance):
                break
        self._conditions = conditions
        # `limit or 10`, `args or {}` are still what the agent passed.
        open_values = [value for value in values if not isinstance(value, Constant) and value != _NO_ITEMS]
        arguments = [value for value in open_values if isinstance(value, Argument)]
        if arguments and len(open_values) == 1:
            return arguments[0]
        return join(values) if values else Constant(value=None)

    def _choice(self, test: SyntaxNode, body: SyntaxNode, otherwise: SyntaxNode, frame: CallFrame) -> Value:
        outcome, positive, negative = self._test(test, frame)
        conditions = self._conditions
        values: list[Value] = []
        for side, side_outcome, words in ((body, True, positive), (otherwise, False, negative)):
            if outcome is None or outcome is side_outcome:
                self._conditions = (*conditions, words) if words else conditions
                values.append(self.evaluate(side, frame))
        self._conditions = conditions
        return join(values)

    def _assign(self, target: SyntaxNode, value: Value, frame: CallFrame) -> None:
        match target:
            case Name(id=name):
                frame.names[name] = value
            case FormalParameter(name=name, default=default):
                if default is not None and isinstance(value, Argument) and isinstance(default, Literal):
                    self.trace.defaults.setdefault(value.name, default.value)
                if default is not None and value in (UNKNOWN, Constant(value=None)):
                    value = self.evaluate(default, frame)
                frame.names[name] = value
            case ObjectLiteral(items=targets):
                is_copied = value.parameters == {ALL} and not all(
                    isinstance(part, Dictionary) for part in alternatives(value)
                )
                if is_copied and {"name", "arguments"} <= {key for key, _ in targets}:
                    # const { name, arguments: args } = validated(request.params)
                    tool = Constant(value=self.trace.name)
                    whole = Argument(name=ALL, parameters=value.parameters)
                    value = Dictionary(items=(("name", tool), ("arguments", whole)), parameters=value.parameters)
                for key, inner in targets:
                    self._assign(inner, value if key == "..." else self.member(value, key), frame)
            case Collection(values=values):
                for position, inner in enumerate(values):
                    is_known = isinstance(value, Listing) and position < len(value.values)
                    part = value.values[position] if is_known and isinstance(value, Listing) else unknown(value)
                    if isinstance(value, External):
                        part = External(name=f"{value.name}[]", arguments=value.arguments, parameters=value.parameters)
                    self._assign(inner, part, frame)
            case Attribute(value=owner, key=key):
                self._use(value)
                self._mutate(owner, f".{key}", [value], target.line, frame)
                _add_item(owner, key, value, frame)
            case Subscript(value=owner, key=key):
                index = self.evaluate(key, frame)
                self._use(value, index, self.evaluate(owner, frame))
                self._mutate(owner, "[]", [value, index], target.line, frame)
                _add_item(owner, text_of(index) if isinstance(index, Constant) else None, value, frame)
            case _:
                self._use(value)

    def _mutate(self, owner: SyntaxNode, change: str, values: Sequence[Value], line: int, frame: CallFrame) -> None:
        """Note a change of something that outlives the call; a local variable is made of what is put into it."""
        root = owner
        while isinstance(root, Attribute | Subscript):
            root = root.value
        local = frame.names.get(root.id) if isinstance(root, Name) else None
        for value in alternatives(local) if local is not None else ():
            inner = value.values if isinstance(value, Listing) and root is not owner else (value,)
            self.trace.changed |= {item.items for item in inner if isinstance(item, Dictionary)}
        parameters = parameters_of(values)
        if root is owner and isinstance(root, Name) and isinstance(local, Listing) and change in _ADDING_ITEMS:
            items = [item for value in values for item in _items(value, change)]
            local = frame.names[root.id] = bounded(replace(local, values=(*local.values, *items)))
        if isinstance(root, Name) and local is not None and parameters - local.parameters:
            frame.names[root.id] = replace(local, parameters=local.parameters | parameters)
        if change in (".update()", ".setdefault()"):
            for value in values if change == ".update()" else [unknown(*values)]:
                _add_item(owner, "..." if isinstance(value, Dictionary) else None, value, frame)
        certainty = 0 if self._is_muted else self._is_state(owner, frame)
        if certainty:
            text = f"{dotted_name(owner)}{change}"
            kind = "state-in-memory" if certainty == SURE else "state-unknown"
            is_entry = change in ("[]", ".set()")  # as a cache does
            self._note(
                self.trace.effects,
                kind,
                frame.module,
                line,
                frame.depth,
                text,
                parameters=parameters,
                harm="" if change in _TAKING else ADDS,
                is_entry=is_entry,
            )

    def _is_container(self, value: Value, frame: CallFrame) -> bool:
        """Return whether a value is a map, set or list that a library or the language made: `new Map()`."""
        return isinstance(value, External) and self.knowledge.is_container(value.name, is_python=frame.module.is_python)

    def _is_state(self, node: SyntaxNode, frame: CallFrame) -> int:
        """Return how surely an expression stands for something that outlives the call: SURE, 1 for maybe, 0 for no.

        SURE is what hangs on the receiver, unless it is new, or on a variable outside the function; maybe what a
        function gives back that was given some of it.
        """
        match node:
            case Name(id=name):
                if frame.receiver is not None and (name == "this" or frame.names.get(name) is frame.receiver):
                    return 0 if frame.is_new else SURE
                place: CallFrame | NameScope = frame
                while isinstance(place, CallFrame):  # a variable of the function around this one lives in the call too
                    if name in place.names:
                        value = place.names[name]
                        is_lasting = isinstance(value, Instance) and value.is_lasting
                        return place.state.get(name, 0) or int(is_lasting)
                    place = place.parent
                value = self.lookup(name, frame)
                is_other = isinstance(value, Closure | ClassValue | ModuleValue | External | Constant | Argument)
                return SURE if not is_other or self._is_container(value, frame) else 0
            case Attribute(value=owner) | Subscript(value=owner) | Element(iterable=owner) | Spread(value=owner):
                return self._is_state(owner, frame)
            case CallSite(function=Attribute(value=owner, key=key)):
                if key in _MUTATING | {"get"}:  # what `self.boats.pop(name)` gives back has been in there
                    return self._is_state(owner, frame)
                return 0 if key in _COPYING else min(1, self._is_state(owner, frame))
            case CallSite(function=Name(id=name), arguments=arguments, is_new=False) if name not in _COPYING:
                is_ours = isinstance(self.lookup(name, frame), Closure)
                return min(1, max((self._is_state(part, frame) for part in arguments if is_ours), default=0))
            case Logic(values=parts) | Other(operator=",", parts=parts):
                return max((self._is_state(part, frame) for part in parts), default=0)
            case Choice(body=body, otherwise=otherwise):
                return max(self._is_state(body, frame), self._is_state(otherwise, frame))
            case _:
                return 0

    def _raised(self, value: SyntaxNode, line: int, frame: CallFrame) -> None:
        if not isinstance(value, CallSite):
            return
        values = [self.evaluate(argument, frame) for argument in (*value.arguments, *value.keywords.values())]
        message = next((value for value in values if len(text_of(value) or "") > 3), None)
        if message is not None:
            place = (frame.module, line, frame.depth)
            text, names = text_of(message) or "", message.parameters
            self._note(self.trace.errors, last_name(value.function), *place, text, parameters=names)

    def _error_result(self, value: Value, line: int, frame: CallFrame) -> None:
        """Note an error that is returned as a normal result: `{"error": …}`, `"Error: …"`, `isError: true`."""
        place = (frame.module, line, frame.depth)
        text = text_of(value)
        if text and text.lower().startswith("error"):
            self._note(self.trace.errors, "result", *place, text, parameters=value.parameters)
        if isinstance(value, Dictionary):
            error = value.get("error") or value.get("isError")
            text = text_of(error) if error is not None else None
            if error is not None and text:
                self._note(self.trace.errors, "result", *place, text, parameters=error.parameters)


def _tells_failure(value: Value) -> bool:
    """Return whether a value that is returned where an error is caught says so: neither empty nor unknown."""
    return (isinstance(value, Dictionary) and bool(value.items)) or bool(re.search(r"\w{3}", text_of(value) or ""))


def _is_request(value: Value) -> bool:
    """Return whether a value is all arguments, or a request that holds them: `{name, arguments}`."""
    return ALL in value.parameters and isinstance(value, Argument | Dictionary)


def _rows(table: Value) -> Sequence[Value]:
    """Return the rows of a list of functions, or of modules, alone or each with its name; nothing of other lists."""
    rows = table.values if isinstance(table, Listing) and 1 < len(table.values) <= MAX_FUNCTIONS else ()
    cells = [row.values if isinstance(row, Listing) else (row,) for row in rows]
    return rows if all(any(isinstance(cell, Closure | ModuleValue) for cell in row) for row in cells) else ()


def _items(value: Value, change: str) -> Sequence[Value]:
    """Return the items that a method puts into a list: all of another list, or the one that it is given."""
    if change != ".extend()":
        return (value,)
    return value.values if isinstance(value, Listing) else (elements(value),)


def _add_item(owner: SyntaxNode, key: str | None, value: Value, frame: CallFrame) -> None:
    """Add an item to the dictionary that a variable holds; None is a computed key: `boat["berth"] = 4`."""
    while isinstance(owner, Name) and owner.id not in frame.names and isinstance(frame.parent, CallFrame):
        frame = frame.parent
    holder = frame.names.get(owner.id) if isinstance(owner, Name) else None
    holders = alternatives(holder) if holder is not None else ()
    if isinstance(owner, Name) and any(isinstance(part, Dictionary) for part in holders):
        frame.names[owner.id] = join(
            bounded(Dictionary(items=(*part.items, (key or "", value)), parameters=part.parameters | value.parameters))
            if isinstance(part, Dictionary)
            else part
            for part in holders
        )


def _both(before: Value, after: Value) -> Value:
    """Return what a variable holds after a condition: of a table, also what was put into it under the condition."""
    if isinstance(before, Dictionary) and isinstance(after, Dictionary):
        shorter, longer = sorted((before, after), key=lambda table: len(table.items))
        if longer.items[: len(shorter.items)] == shorter.items:
            return longer
    return join([after, before])


def _sides(test: Compare) -> Iterator[tuple[Name, SyntaxNode]]:
    """Yield the names of a comparison, each with the other side."""
    for side, other in ((test.left, test.right), (test.right, test.left)):
        if isinstance(side, Name):
            yield side, other


def _is_zero(node: SyntaxNode) -> bool:
    return isinstance(node, Literal) and node.value == 0 and not isinstance(node.value, bool)


def _is_length(node: SyntaxNode) -> bool:
    """Return whether an expression is a length: `len(slides)`, `slides.length`."""
    if isinstance(node, CallSite):
        return isinstance(node.function, Name) and node.function.id == "len"
    return isinstance(node, Attribute) and node.key == "length"


def _compared(left: Value, operator: str, right: Value) -> bool | None:
    """Return the outcome of a comparison, the same for all that the left side may be; None where it is not known."""
    outcomes = {_compared_single(inner, operator, right) for inner in alternatives(left)}
    return outcomes.pop() if len(outcomes) == 1 else None


def _compared_single(left: Value, operator: str, right: Value) -> bool | None:
    if isinstance(left, Closure | Instance | ClassValue | Dictionary | Listing) and right == Constant(value=None):
        return {"==": False, "!=": True}.get(operator)
    if not isinstance(left, Constant):
        return None
    if operator in ("in", "not in"):
        values = right.values if isinstance(right, Listing) else None
        if isinstance(right, Dictionary):
            values = tuple(Constant(value=key) for key, _ in right.items)
            if any(key in ("", "...") for key, _ in right.items):
                return None
        if values is None or not all(isinstance(value, Constant) for value in values):
            return None
        return (left in {Constant(value=value.value) for value in values if isinstance(value, Constant)}) == (
            operator == "in"
        )
    if not isinstance(right, Constant):
        return None
    if operator in ("==", "!="):
        return (left.value == right.value) == (operator == "==")
    return None


def _joined(glue: Value, items: Value) -> Value | None:
    """Return the text of a list's items, of those that it has in any case; None where nothing of it is known."""
    lists = [part for part in alternatives(items) if isinstance(part, Listing)]
    if text_of(glue) is None or len(lists) < len(alternatives(items)):
        return None
    first, *rest = [part.values for part in lists]
    texts = [item for item in first if all(item in values for values in rest)]
    if all(text_of(item) is None for item in texts):
        return None
    is_whole = not rest and all(isinstance(item, Constant) for item in texts)  # a loop adds what is computed
    parts = [part for item in texts for part in (item, glue)]
    return made_from(_text(parts[:-1] if is_whole else [*parts, UNKNOWN]), items.parameters)


def _text(values: Sequence[Value]) -> Value:
    """Return the text that values make, one after the other; of alternatives, the beginning that all of them have."""
    parts: list[str | None] = []
    for value in values:
        match value:
            case Constant(value=constant) if constant is not None:
                parts.append(str(constant))
            case PartialText(parts=inner):
                parts += inner
            case Alternatives(values=inner_values) if all(text_of(inner) for inner in inner_values):
                texts = [str(text_of(inner)) for inner in inner_values]
                parts += [commonprefix(texts).partition("{}")[0] or None, None]  # noqa: RUF071  # texts, no paths
            case _:
                parts.append(None)
    merged: list[str | None] = []
    for part in parts:
        if merged and part is not None and merged[-1] is not None:
            merged[-1] += part
        elif merged and part is None and merged[-1] is None:
            continue
        else:
            merged.append(part)
    parameters = parameters_of(values)
    if len(merged) == 1 and merged[0] is not None:
        return Constant(value=merged[0], parameters=parameters)
    return PartialText(parts=tuple(merged), parameters=parameters)
