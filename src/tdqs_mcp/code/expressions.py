"""Values of expressions, with the effects of their calls and the uses of parameters noted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tdqs_mcp.code.assignments import MUTATING, Assignments
from tdqs_mcp.code.calls import holds
from tdqs_mcp.code.knowledge import NAMES
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
    Function,
    Literal,
    Logic,
    Name,
    ObjectLiteral,
    Other,
    Raise,
    Return,
    Spread,
    Subscript,
    SyntaxNode,
    Template,
)
from tdqs_mcp.code.project import NameScope, ProjectModule, dotted_name, last_name, targets
from tdqs_mcp.code.resolution import MAX_ITEMS
from tdqs_mcp.code.texts import join_texts, repeating, text_from
from tdqs_mcp.code.trace import ALL, FORM, Arm, PassedCall
from tdqs_mcp.code.values import (
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
    parameters_of,
    rows_of,
    text_of,
    unknown,
)

_NO_ITEMS = Dictionary(items=())

_LOGGING = NAMES["logging"]
_TRIMMING = NAMES["trimming"]


_FIELD = re.compile(r"\{[^{}]*\}")
"""What `format` fills in."""

EXCLUDED = re.compile(r"(\w+) (?:!=|not in) (.+)")
"""The condition that a parameter has none of some values."""

_NO_VALUES = Listing(values=())


class Expressions(Assignments):
    """Expressions of a project; `Interpreter` follows the statements around them."""

    def _test(self, test: SyntaxNode, frame: CallFrame) -> tuple[bool | None, str, str]:
        """Return whether a condition holds, as far as known; and it and its contrary in words, if parameters decide."""
        match test:
            case Logic(operator="not", values=[inner]):
                outcome, positive, negative = self._test(inner, frame)
                return None if outcome is None else not outcome, negative, positive
            case Logic(operator="and", values=values):
                tests = [self._test(inner, frame) for inner in values]
                outcomes = [outcome for outcome, _, _ in tests]
                result = False if False in outcomes else True if all(outcomes) else None
                contraries = sorted({contrary for *_, contrary in tests})
                is_range = len({contrary.partition(" ")[0] for contrary in contraries}) == 1  # `1 <= depth <= 9`
                together = " and ".join(positive for _, positive, _ in tests if positive)
                return result, together, " or ".join(contraries) if is_range else ""
            case Logic(operator="or", values=values):
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
        value = self._evaluate_open(test, frame)
        self.trace.used |= value.parameters
        match value:
            case Constant(value=constant):
                return bool(constant), "", ""
            case Argument(name=name) if name:
                return None, name, f"not {name}"
            case Closure() | ClassValue() | Instance():
                is_field = isinstance(test, Attribute) and isinstance(value, Instance)  # `author: User | None`
                return True if frame.module.is_python and not is_field else None, "", ""
            case _:
                self._use(value)
                return None, "", ""

    def _comparison(self, test: Compare, frame: CallFrame) -> tuple[bool | None, str, str]:
        limits = len(self.trace.limits)
        left, right = self.evaluate(test.left, frame), self.evaluate(test.right, frame)
        functions = [side.function if isinstance(side, CallSite) else side for side in (test.left, test.right)]
        owners = [part.value if isinstance(part, Attribute) else part for part in functions]
        if any(isinstance(owner, Subscript) and owner.is_slice for owner in owners):
            del self.trace.limits[limits:]  # `path[:3].lower() == "c:/"` cuts nothing
        if isinstance(left, Constant) and isinstance(right, Argument):
            left, right = right, left
        outcome = _compared(left, test.operator, right)
        if outcome is not None:
            return outcome, "", ""
        values = right.values if isinstance(right, Listing) else (right,)
        constants = [value.value for value in values if isinstance(value, Constant)]
        if not isinstance(left, Argument) or not left.name or len(constants) != len(values):
            self._use(left, right)
            return None, "", ""
        self.trace.used.add(left.name)
        self.trace.compared.setdefault(left.name, {}).update(dict.fromkeys(constants))
        if test.operator in ("<", "<=", ">", ">=") or left.is_trimmed:
            self.trace.passed.add(left.name)
        text_of_values = repr(constants[0]) if len(constants) == 1 else ", ".join(map(repr, constants))
        words = f"{left.name} {test.operator} {text_of_values}"
        return None, words, contrary_of(words)

    def evaluate(self, node: SyntaxNode, frame: CallFrame) -> Value:
        """Return what is known of an expression's value, with the effects of its calls noted."""
        match node:
            case Literal(value=constant):
                return Constant(value=constant)
            case Name(id=name):
                if name == "this":
                    return self._this(frame)
                if name == "super" and not frame.module.is_python:  # super.request(query), super(options)
                    return self._super(frame)
                return self.lookup(name, frame)
            case Attribute(value=owner, key=key):
                value = self._evaluate_open(owner, frame)
                if isinstance(value, Argument) and value.name:
                    self._use(value)
                return self.member(value, key)
            case CallSite():
                return self._evaluate_call(node, frame)
            case Template(parts=parts):
                texts = [self.evaluate(part, frame) for part in parts]
                self._use(*texts)
                return text_from(texts)
            case ObjectLiteral(items=items, keys=keys):
                values = {position: self.evaluate(value, frame) for position, (_, value) in enumerate(items)}
                computed = {position: self.evaluate(key, frame) for position, key in keys.items()}
                constants = {place: key.value for place, key in computed.items() if isinstance(key, Constant)}
                names = {place: name for place, name in constants.items() if isinstance(name, str)}
                pairs = tuple((names.get(place, key), values[place]) for place, (key, _) in enumerate(items))
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
                outcome, positive, negative = self._comparison(node, frame)
                if outcome is not None:
                    return Constant(value=outcome)
                self._answer(f"{positive} and {negative}")
                return Value(parameters=parameters_of([self.evaluate(part, frame) for part in (node.left, node.right)]))
            case Logic():
                return self._logic(node, frame)
            case Choice(test=test, body=body, otherwise=otherwise):
                return self._choice(test, body, otherwise, frame)
            case Function():
                return self.closure(node, frame)
            case Class():
                return ClassValue(node=node, scope=frame)
            case Assign(target=target, value=assigned, annotation=annotation):
                result = self._evaluate_open(assigned, frame)
                if annotation is not None and (type(result) is Value or result == Constant(value=None)):
                    typed = self.typed(annotation, frame)
                    result = typed if typed is not UNKNOWN else result
                self._assign(target, result, frame)
                if isinstance(target, Name) and not node.is_declaration and not frame.module.is_python:
                    self._assign_outside(target.id, result, frame)
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
                passed, unclear = set(self.trace.passed), self._unclear
                self._unclear += 1  # what an error's text has for a parameter is no default
                value = self.evaluate(inner, frame)
                self._use(value)
                self._raised(inner, node.line, frame)
                self._unclear = unclear
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
                result = evaluated[-1] if evaluated else UNKNOWN
                return listed or (repeating(_NO_VALUES, result) if isinstance(result, Listing) else result)
            case Other(parts=parts, operator=operator):
                values_ = tuple(self.evaluate(part, frame) for part in parts)
                if operator == "+" and any(isinstance(value, PartialText) or text_of(value) for value in values_):
                    self._use(*values_)
                    return text_from(values_)
                if operator == "+" and any(isinstance(value, Listing) for value in values_):
                    parts_ = [value.values if isinstance(value, Listing) else (elements(value),) for value in values_]
                    whole = tuple(item for part in parts_ for item in part)
                    return bounded(Listing(values=whole, parameters=parameters_of(values_)))
                paths = [value for value in values_ if operator == "/" and isinstance(value, External)]
                if paths and (paths[0] is values_[0] or paths[0].name.startswith("pathlib.")):
                    self._use(*values_[1:])
                    built = tuple(value for value in values_[1:] if isinstance(value, PartialText))
                    arguments = (*paths[0].arguments, *built)
                    return bounded(replace(paths[0], arguments=arguments, parameters=parameters_of(values_)))
                if operator == "regex":
                    return External(name="RegExp()")
                if operator == "," and values_:
                    return values_[-1]
                self._use(*values_)
                for part in parts if operator == "del" else ():
                    if isinstance(part, Subscript | Attribute):
                        self._mutate(part.value, " del", values_, node.line, frame)
                        self._store("__delitem__", self.evaluate(part.value, frame), unknown(*values_), part, frame)
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
        is_content = self.knowledge(frame.module).is_content(f"{name}.get")
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
        unclear = self._unclear  # what a log has for a parameter is no default: `log(f"Plan for {berth or 'all'}")`
        self._unclear += last_name(function) in _LOGGING
        for argument in node.arguments:
            value = self.evaluate(argument, frame)
            if isinstance(argument, Spread) and isinstance(value, Listing):
                arguments += value.values
            else:
                arguments.append(value)
        keywords = {key: self.evaluate(value, frame) for key, value in node.keywords.items()}
        self._unclear = unclear
        site = PassedCall(node, frame, tuple(arguments), keywords)
        if isinstance(function, Attribute):
            if function.key in MUTATING and isinstance(owner, Listing | Dictionary):
                self._mutate(function.value, f".{function.key}()", [*arguments, *keywords.values()], node.line, frame)
            if function.key == "assign" and owner == External(name="Object") and node.arguments:
                self._mutate(node.arguments[0], ".update()", arguments[1:], node.line, frame)
            special = self._known_method(owner, function.key, tuple(arguments), node, frame)
            if special is not None:
                self._use(*keywords.values())
                return made_from(special, parameters_of(keywords.values()))
            if isinstance(owner, Argument) and owner.name:
                self._use(owner)
                if function.key == "split" and arguments[:1] == [Constant(value=",")]:
                    self._note_limit(owner, "comma-separated", node.line, frame, FORM)
            is_logger = function.key in _LOGGING and "log" in dotted_name(function.value).lower()
            if self.log_file and is_logger and not self.trace.logs:
                self._note(self.trace.logs, "log", frame, node.line, self.log_file)
            target = self.member(owner, function.key)
            is_known = isinstance(target, Closure | External) and not self._is_container(owner, frame)
            if function.key in MUTATING and not is_known:
                self._mutate(function.value, f".{function.key}()", [*arguments, *keywords.values()], node.line, frame)
            is_new = isinstance(target, Closure) and not self._is_state(function.value, frame)
            if isinstance(owner, Argument) and target.parameters and not isinstance(target, Closure):
                target = unknown(target)
            result = self.call(target, site, is_new=is_new)
            return self._mapped(owner, arguments, node, frame) or result if function.key == "map" else result
        target = self.evaluate(function, frame)
        if isinstance(function, Name) and function.id == "super" and not frame.module.is_python:
            target = self.member(target, "constructor")
            return self.call(target, site) if isinstance(target, Closure) else UNKNOWN
        return self.call(target, site)

    def _mapped(self, owner: Value, arguments: Sequence[Value], node: CallSite, frame: CallFrame) -> Value | None:
        """Return the list that a function makes of the items of an unknown one, where it gives texts or objects."""
        function = arguments[0] if arguments else UNKNOWN
        is_open = isinstance(owner, External) or type(owner) is Value
        if self._is_muted or not is_open or not isinstance(function, Closure):
            return None
        with self.muted():
            items = (self.member(owner, "[]"),)
            item = self._invoke(function, items, {}, depth=frame.depth, line=node.line)
        if not isinstance(item, Dictionary | PartialText | Instance):
            return None
        parameters = owner.parameters | item.parameters
        return bounded(Listing(values=(item,), repeated=frozenset([item]), parameters=parameters))

    def _known_method(
        self, owner: Value, key: str, arguments: tuple[Value, ...], node: CallSite, frame: CallFrame
    ) -> Value | None:
        """Return the result of a method of the language's own kinds; None where the object is none of them."""
        first = arguments[0] if arguments else UNKNOWN
        if isinstance(owner, Instance) and (text := dict(owner.arguments).get(TEXT)) is not None:
            if isinstance(self.member(owner, key), Closure):
                return None
            owner = text
        glue, items = (owner, first) if frame.module.is_python else (first, owner)
        if key == "join" and (text := join_texts(glue, items)) is not None:
            self._use(owner, *arguments)
            return text
        if isinstance(owner, Alternatives) and all(isinstance(part, Listing) for part in owner.values):
            whole = dict.fromkeys(item for part in owner.values if isinstance(part, Listing) for item in part.values)
            owner = bounded(Listing(values=tuple(whole), parameters=owner.parameters))
        match owner:
            case Argument(name=name) if name == ALL:
                if key in ("get", "pop") and isinstance(first, Constant) and isinstance(first.value, str):
                    argument = Argument(name=first.value, parameters=frozenset({first.value}))
                    if len(arguments) > 1 and isinstance(arguments[1], Constant):
                        self._note_default(argument, arguments[1].value, node.line, frame)
                    return argument
                if key in ("items", "keys", "values", "model_dump", "dict", "copy", "update"):
                    self._use(owner)
                    return owner
                return None
            case Argument() if key in _TRIMMING:
                self._use(owner)
                return replace(owner, is_trimmed=True)
            case Dictionary() if key == "get" and isinstance(first, Constant) and isinstance(first.value, str):
                default = arguments[1] if len(arguments) > 1 else unknown(owner)
                return self._taken(owner.get(first.value) or default, first.value, frame)
            case Dictionary() if key == "get" and owner.items:
                name = first.name if isinstance(first, Argument) and owner.is_whole else ""
                return made_from(_by_key(owner, name), first.parameters)
            case Dictionary() if key in ("items", "values") and rows_of(entries_of(owner)):
                return entries_of(owner) if key == "items" else Listing(values=owner.values)
            case Listing(values=values) if key in ("find", "filter") and isinstance(first, Closure):
                chosen = self._chosen(values, first, node, frame)
                return Listing(values=chosen, parameters=owner.parameters) if key == "filter" else join(chosen)
            case Listing() if key in ("map", "forEach", "flatMap", "some", "every") and isinstance(first, Closure):
                self._use(owner)
                if key == "forEach":
                    self._repeated.add(first.function)
                if rows := rows_of(owner):
                    results = [self._invoke(first, (row,), {}, depth=frame.depth, line=node.line) for row in rows]
                    return Listing(values=tuple(results), parameters=owner.parameters)
                result = self._invoke(first, (elements(owner),), {}, depth=frame.depth, line=node.line)
                is_many = frozenset([result]) if owner.repeated or len(owner.values) > 1 else frozenset[Value]()
                return (
                    Listing(values=(result,), repeated=is_many, parameters=owner.parameters)
                    if key == "map"
                    else unknown(result, owner)
                )
            case Value() if key == "find" and isinstance(first, Closure) and self._asks_tool(first, frame):
                record, scope = self.records[self.trace.name]
                self.trace.has_record = True
                return self.value_of(record, scope)
            case External() if (
                key in NAMES["parsing"] and ALL in first.parameters and isinstance(first, Argument | Dictionary)
            ):
                return first  # schema.parse(args), Model.model_validate(arguments)
            case ClassValue() if key in NAMES["making_models"] and self.data_fields(owner):
                self._use(*arguments)
                return Instance(of=owner, parameters=parameters_of(arguments))
            case Instance(of=model) if key in NAMES["dumping"] and (fields := self.data_fields(model)):
                return self._dumped(owner, fields, node, frame)
            case Constant(value=str()) | PartialText() | Listing() | Dictionary():
                if isinstance(owner, Listing | Dictionary) and owner != UNKNOWN and key not in NAMES["builtin_methods"]:
                    return None
                self._call_back(PassedCall(node, frame, arguments, {}))
                self._use(owner, *arguments)
                if key == "format" and (pattern := text_of(owner)) is not None:
                    opening, *pieces = _FIELD.split(pattern)
                    filled = [part for piece in pieces for part in (UNKNOWN, Constant(value=piece))]
                    return made_from(text_from([Constant(value=opening), *filled]), parameters_of([owner, *arguments]))
                return (
                    owner
                    if key in _TRIMMING | {"rstrip", "lstrip", "replace"}
                    and not isinstance(owner, Listing | Dictionary)
                    else unknown(owner, *arguments)
                )
            case _:
                return None

    def _asks_tool(self, test: Closure, frame: CallFrame) -> bool:
        """Return whether a function finds the tool's own record by its name: `(tool) => tool.name === name`."""
        body = test.function.body.statements
        parent = test.scope if isinstance(test.scope, CallFrame) else frame
        match body[0].value if len(body) == 1 and isinstance(body[0], Return) else None:
            case Compare(left=left, operator="==", right=right) if self.trace.name in self.records:
                sides = [side for side in (left, right) if not (isinstance(side, Attribute) and side.key == "name")]
                with self.muted():
                    values = [self.evaluate(side, CallFrame(parent=parent)) for side in sides]
                return len(values) == 1 and any(holds(part, self.trace.name) for part in alternatives(values[0]))
        return False

    def _dumped(self, model: Instance, fields: Mapping[str, bool], node: CallSite, frame: CallFrame) -> Value:
        """Return a model as a map: `berth.model_dump(include={"depth"}, exclude_none=True)`."""
        chosen, left_out = (
            {text_of(name) for name in value.values} if isinstance(value, Listing) else None
            for value in (
                self.evaluate(node.keywords[word], frame) if word in node.keywords else None
                for word in ("include", "exclude")
            )
        )
        names = [name for name in fields if (chosen is None or name in chosen) and name not in (left_out or ())]
        is_sparse = not {"exclude_none", "exclude_unset", "exclude_defaults"}.isdisjoint(node.keywords)
        return Dictionary(
            items=tuple((name, UNKNOWN) for name in names),
            optional=frozenset(name for name in names if is_sparse and fields[name]),
            parameters=model.parameters,
        )

    def _chosen(self, values: Sequence[Value], test: Closure, node: CallSite, frame: CallFrame) -> tuple[Value, ...]:
        """Return the items of a list that a function may choose: `tools.find(tool => tool.name === name)`."""
        body = test.function.body.statements
        if len(body) != 1 or not isinstance(body[0], Return) or not test.function.parameters or len(values) > MAX_ITEMS:
            self._invoke(test, (join(values),), {}, depth=frame.depth, line=node.line)
            return tuple(values)
        inner = CallFrame(parent=test.scope, depth=frame.depth)
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
        is_plain = isinstance(key, Argument) and bool(key.name) and not key.is_trimmed
        if is_plain and isinstance(value, Dictionary) and value.is_whole and value.items:
            return self._choose(value, key, frame)
        self._use(key)
        if node.is_slice:
            if isinstance(value, Constant) and isinstance(value.value, str) and isinstance(node.key, Collection):
                bounds = [part.value for part in node.key.values if isinstance(part, Literal)]
                start, stop = bounds if len(bounds) == 2 else ("", "")  # name[7:]
                if isinstance(start, int | None) and isinstance(stop, int | None):
                    return replace(value, value=value.value[start:stop])
            self._slice(node, value, frame)
            return unknown(value, key)
        names = [part.value for part in alternatives(key) if isinstance(part, Constant) and isinstance(part.value, str)]
        is_whole = len(names) == len(alternatives(key))
        if names and (is_whole or isinstance(value, Instance)):  # this[name], where a prefix may be taken off the name
            members = [self._taken(self.member(value, name), name, frame) for name in names]
            if self.trace.name in names and isinstance(own := members[names.index(self.trace.name)], Closure):
                return own  # the tool's name may have a prefix, but this is what it names
            return join([*members, *([] if is_whole else [unknown(key)])])
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
                self._note_arm(module, node, frame)
            case ModuleValue(module=module):  # registry[name].run(**arguments)
                self._note_arm(module, replace(module.tree.body, line=1), frame)
        return value

    def _note_arm(self, module: ProjectModule, node: SyntaxNode, frame: CallFrame) -> None:
        self.trace.arms.append(Arm(module.path, node, frame.depth, len(self.trace.handed)))

    def _choose(self, table: Dictionary, key: Value, frame: CallFrame) -> Value:
        """Return what a table has under a parameter's value, `RATES[unit]`; Python fails for values that it lacks."""
        (name,) = key.parameters
        compared = self.trace.exhausted if frame.module.is_python else self.trace.compared
        compared.setdefault(name, {}).update(dict.fromkeys(word for word, _ in table.items))
        self.trace.used.add(name)
        self.trace.chained.add(name)
        return _by_key(table, name)

    def _evaluate_open(self, node: SyntaxNode, frame: CallFrame) -> Value:
        """Return the value of what may be null and is held against that: `RATES[unit] ?? 1`, `RATES[unit]?.rate`."""
        before = set(self.trace.chained) if isinstance(node, Subscript) else None
        value = self.evaluate(node, frame)
        self.trace.answered |= self.trace.chained - before if before is not None else set()
        return value

    def _answer(self, condition: str) -> None:
        """Note the parameters for all of whose other values something is done: `kind != "sloop"`."""
        parts = map(EXCLUDED.fullmatch, condition.split(" and "))
        self.trace.answered |= {part[1] for part in parts if part}

    def _slice(self, node: Subscript, value: Value, frame: CallFrame) -> None:
        bounds = node.key.values if isinstance(node.key, Collection) else ()
        last = bounds[1] if len(bounds) > 1 else None
        if isinstance(last, Literal) and isinstance(last.value, int) and last.value > 0 and len(value.parameters) == 1:
            self._note(self.trace.limits, "limit", frame, node.line, f"the first {last.value}", value.parameters)

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
                self._answer(positive)
                continue
            is_last = inner is node.values[-1]
            value = self.evaluate(inner, frame) if is_last else self._evaluate_open(inner, frame)
            if node.operator == "or":
                if isinstance(value, Constant) and not value.value:
                    continue
                if isinstance(node.values[-1], Literal):
                    self._note_default(value, node.values[-1].value, node.line, frame)
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
        sides = [(body, True, positive), (otherwise, False, negative)]
        sides = [side for side in sides if outcome is None or outcome is side[1]]
        values: list[Value] = []
        for side, _, words in sides:
            with self._under(words):
                values.append(self.evaluate(side, frame))
            if not isinstance(side, Choice):
                self._answer(words)
        return join(values, [words for *_, words in sides])

    def _raised(self, value: SyntaxNode, line: int, frame: CallFrame) -> None:
        if not isinstance(value, CallSite):
            return
        values = [self.evaluate(argument, frame) for argument in (*value.arguments, *value.keywords.values())]
        message = next((value for value in values if len(text_of(value) or "") > 3), None)
        if message is not None:
            text, kind = text_of(message) or "", last_name(value.function)
            self._note(self.trace.errors, kind, frame, line, text, message.parameters)

    def _error_result(self, value: Value, line: int, frame: CallFrame) -> None:
        """Note an error that is returned as a normal result: `{"error": …}`, `"Error: …"`, `isError: true`."""
        content = value.get("content") if isinstance(value, Dictionary) else None
        parts = content.values if isinstance(content, Listing) else ()
        texts = [text for part in parts if isinstance(part, Dictionary) and (text := part.get("text"))]
        for record in (value, *texts):  # the result, and what it has as its text
            if isinstance(record, Dictionary):
                error = record.get("error") or record.get("isError")
                error = texts[0] if texts and error == Constant(value=True) else error
            else:
                error = record if (text_of(record) or "").lower().startswith("error") else None
            if error is not None and (message := text_of(error)):
                self._note(self.trace.errors, "result", frame, line, message, error.parameters)


def _by_key(table: Dictionary, name: str) -> Value:
    """Return what a table has under a key that is not known: on each value of the parameter that it is, if any."""
    return join(table.values, [f"{name} == {word!r}" for word, _ in table.items] if name else ())


def _tells_failure(value: Value) -> bool:
    """Return whether a value that is returned where an error is caught says so: neither empty nor unknown."""
    return (isinstance(value, Dictionary) and bool(value.items)) or bool(re.search(r"\w{3}", text_of(value) or ""))


def contrary_of(test: str) -> str:
    """Return the contrary of a single condition: `mode != 'a'` of `mode == 'a'`, `not force` of `force`."""
    opposite = {"==": "!=", "!=": "==", "in": "not in", "not in": "in", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
    if match := re.fullmatch(r"(\w+) (==|!=|in|not in|<|>=|>|<=) (.*)", test, re.DOTALL):
        return f"{match[1]} {opposite[match[2]]} {match[3]}"
    return test.removeprefix("not ") if test.startswith("not ") else f"not {test}"


MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


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
