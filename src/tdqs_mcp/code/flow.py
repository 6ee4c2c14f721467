"""Following a tool's handler through its project: statements, conditions and loops.

The code is read with what is known of its values; it is never run.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tdqs_mcp.code.calls import ANY_STATEMENT, holds
from tdqs_mcp.code.expressions import EXCLUDED, MIRRORED, Expressions
from tdqs_mcp.code.knowledge import ADDS, NAMES, PEER
from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    Block,
    CallSite,
    Class,
    Compare,
    Element,
    Function,
    If,
    Import,
    Literal,
    Logic,
    Loop,
    Name,
    Other,
    Raise,
    Return,
    SyntaxNode,
    Template,
    Try,
    walk,
)
from tdqs_mcp.code.project import dotted_name, last_name
from tdqs_mcp.code.texts import grown_text, repeating, text_from
from tdqs_mcp.code.trace import FORM, CallTrace, Sighting
from tdqs_mcp.code.values import (
    UNKNOWN,
    Argument,
    CallFrame,
    ClassValue,
    Closure,
    Constant,
    Dictionary,
    External,
    Listing,
    Value,
    alternatives,
    closures_in,
    join,
    rows_of,
    text_of,
    unknown,
)


class Interpreter(Expressions):
    """Follows handlers through a project."""

    def follow(
        self, name: str, handler: Closure, arguments: Sequence[Value], keywords: Mapping[str, Value]
    ) -> CallTrace:
        """Return what a call of a tool's handler with these arguments reaches."""
        self.trace = CallTrace(name=name)
        self._conditions, self._absent = (), frozenset()
        try:
            value = self._invoke(handler, tuple(arguments), dict(keywords), depth=-1, line=handler.function.line)
            for inner in closures_in(value):  # `return {action}`: whoever gets the result calls it
                self._invoke(inner, (), {}, depth=0, line=inner.function.line)
        except RecursionError:
            value = UNKNOWN
            frame = CallFrame(parent=self.scope_of(handler.module))
            self._note(self.trace.unresolved, "nesting", frame, handler.function.line, "code nests too deep")
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
            if not (effect.kind.startswith("state") and _entry(effect)[:2] in self.trace.caches)
        ]
        entries = [(_entry(effect), effect.harm) for effect in self.trace.effects if effect.entry is not None]
        last = dict(entries)
        passing = {entry for entry in last if (entry, ADDS) in entries and last[entry] != ADDS}
        self.trace.effects = [effect for effect in self.trace.effects if _entry(effect) not in passing]
        return self.trace

    def _execute(self, block: Block, frame: CallFrame, probe: SyntaxNode | None = None) -> bool:
        """Follow the statements of a block; return whether one of its conditions is known to end in a return."""
        conditions, absent = self._conditions, self._absent
        self._note_missing(probe, frame)  # `if not path.exists():` leads here
        for position, statement in enumerate(block.statements):
            match statement:
                case If():
                    leaving = self._leaving = self._branch(statement, frame)
                    if leaving is None:
                        self._conditions, self._absent = conditions, absent
                        return True
                    if leaving:
                        # What follows `if action == "list": return …` is done on other actions only.
                        self._conditions = (*self._conditions, leaving)
                case Loop(body=body):
                    self._repeat(body, frame)
                case Try(body=body, handlers=handlers):
                    before, limits = len(self.trace.errors), len(self.trace.limits)
                    exhausted = {name: dict(values) for name, values in self.trace.exhausted.items()}
                    self._execute(body, frame)
                    if handlers and not any(
                        isinstance(node, Raise | Return) for part in handlers for node in walk(part)
                    ):
                        del self.trace.errors[before:]  # what is caught here and goes on fails no call
                        self.trace.exhausted = exhausted
                        self.trace.limits[limits:] = [part for part in self.trace.limits[limits:] if part.kind != FORM]
                    for handler in handlers:  # try: stat(path); except: write(path)
                        was_catching, frame.is_catching = frame.is_catching, True
                        self._execute(handler, frame, body.statements[0] if len(body.statements) == 1 else body)
                        frame.is_catching = was_catching
                case Function(name=name):
                    frame.names[name] = self.closure(statement, frame)
                case Class(name=name):
                    frame.names[name] = ClassValue(node=statement, scope=frame)
                case Import(names=names):
                    for name, origin in names.items():
                        frame.names[name] = self.imported(frame.module, *origin)
                case Raise() if position == 0 or isinstance(block.statements[position - 1], If | Assign):
                    self._note_refusal(frame)
                    self.evaluate(statement, frame)
                case Other(operator="global", parts=parts):
                    frame.outer.update(part.id for part in parts if isinstance(part, Name))
                case _:
                    self.evaluate(statement, frame)
        self._conditions, self._absent = conditions, absent
        return False

    def _repeat(self, body: Block, frame: CallFrame) -> None:
        """Follow a loop: once for all items, but a table of functions or modules item by item.

        `for (const handler of handlers) { const answer = await handler(request); if (answer) return answer; }`; each
        `wrapped[name] = () => handler()` of `Object.entries(handlers)` has a handler of its own.
        """
        before: dict[str, Value] = {}
        for node in walk(body):
            if isinstance(node, Assign) and isinstance(node.target, Name) and node.target.id in frame.names:
                name = node.target.id
                value = frame.names[name]
                if text_of(value) is None or not _is_growing(node):
                    frame.names[name] = unknown(value)
                elif name not in before:
                    frame.names[name] = text_from([value, UNKNOWN])
                before[name] = frame.names[name]
        lists = {name: value for name, value in frame.names.items() if isinstance(value, Listing)}
        match body.statements:
            case [Assign(target=target, value=Element(iterable=iterable)), *rest]:
                items = self.evaluate(iterable, frame)
                for item in (rows := rows_of(items)):
                    place = frame if frame.module.is_python else replace(frame, parent=frame, names={}, state={})
                    self._assign(target, item, place)
                    if self._execute(Block(line=body.line, statements=rest), place):
                        break  # it has answered
                if rows:
                    return
        self._execute(body, frame)
        frame.names |= {name: grown_text(value, frame.names[name]) for name, value in before.items()}
        frame.names |= {name: repeating(value, frame.names[name]) for name, value in lists.items()}

    def _note_refusal(self, frame: CallFrame) -> None:
        """Note the values of a parameter that have a branch, where all others end in an error.

        `if how == "tow": … elif how == "sail": … else: raise`, and the same as conditions that return.
        """
        parts = [EXCLUDED.fullmatch(part) for words in self._conditions for part in words.split(" and ")]
        names = {part[1] if part else "" for part in parts}
        if len(names) == 1 and "" not in names and not (self._unclear or frame.is_catching):
            values = (value for part in parts if part for value in ast.literal_eval(f"[{part[2]}]"))
            self.trace.exhausted.setdefault(names.pop(), {}).update(dict.fromkeys(values))

    def _branch(self, statement: If, frame: CallFrame) -> str | None:
        """Follow a condition; return the condition of what comes after it, where one side returns; None for nothing."""
        statement = self._first_case(statement, frame)
        outcome, positive, negative = self._test(statement.test, frame)
        unclear, failures = self._unclear, len(self.trace.errors)
        before = dict(frame.names)
        self._note_replacement(statement, frame)
        if outcome is not False:
            self._narrow(statement.test, frame)
            if self._tells_tool(statement.test, frame, is_certain=outcome is True):
                self._note_arm(frame.module, statement.body, frame)
            self._unclear = unclear + (outcome is None and not positive)
            test = statement.test
            with self._under(positive):
                probe = test.values[0] if isinstance(test, Logic) and test.operator == "not" else None
                self._execute(statement.body, frame, probe)
            self._answer(positive)
        self._unclear = unclear
        last = statement.body.statements[-1] if statement.body.statements else None
        is_refused = isinstance(last, Return | Raise) and any(
            (error.path, error.line) == (frame.module.path, last.line) for error in self.trace.errors[failures:]
        )
        if is_refused:
            self._note_bounds(statement.test, frame)
        after = dict(frame.names)
        if outcome is not True:
            if outcome is None:
                frame.names.clear()
                frame.names.update(before)
            self._unclear = unclear + (outcome is None and not negative)
            with self._under(negative):
                self._execute(statement.otherwise, frame, statement.test)
            self._unclear = unclear
            if not all(isinstance(part, If) for part in statement.otherwise.statements):
                self._answer(negative)
        if outcome is None:
            for name, value in after.items():
                if name in frame.names and frame.names[name] != value:
                    frame.names[name] = _both(frame.names[name], value, negative, positive)
                else:
                    frame.names.setdefault(name, value)
        if isinstance(last, Raise):
            self._guard(statement.test, frame)
        if isinstance(last, Raise | Return):
            self._note_missing(statement.test, frame)  # `if path.exists(): raise`
        if outcome is True and isinstance(last, Return):
            return None
        is_left = outcome is None and isinstance(last, Return) and not is_refused
        if not statement.otherwise.statements:
            name = positive.partition(" == ")[0] if not isinstance(last, Return | Raise) else ""
            if any(part.startswith(f"{name} != ") for words in self._conditions for part in words.split(" and ")):
                self.trace.chained.add(name)  # the end of a chain without `else`
            self._answer(negative if is_left else "")
        elif is_left and isinstance(statement.otherwise.statements[0], If) and self._leaving:
            return f"{negative} and {self._leaving}" if negative else ""
        return negative if is_left and not statement.otherwise.statements else ""

    def _tells_tool(self, test: SyntaxNode, frame: CallFrame, *, is_certain: bool) -> bool:
        """Return whether a condition compares the tool's name; where it may not hold, with one of several texts."""
        tests = test.values if isinstance(test, Logic) and is_certain else [test]
        for part in tests:
            if isinstance(part, Compare) and (is_certain or part.operator == "=="):
                with self.muted():
                    sides = [self.evaluate(side, frame) for side in (part.left, part.right)]
                holding = [any(holds(part, self.trace.name) for part in alternatives(side)) for side in sides]
                if any(holding) if is_certain else all(holding):
                    return True
        return False

    def _note_missing(self, probe: SyntaxNode | None, frame: CallFrame) -> None:
        """Note that a file is missing that a call asks for: `existsSync(path)`, `path.exists()`."""
        if isinstance(probe, CallSite) and last_name(probe) in NAMES["probing"]:
            owner = probe.function.value if isinstance(probe.function, Attribute) else probe.function
            with self.muted():
                paths = [self.evaluate(part, frame) for part in (*probe.arguments[:1], owner)]
            self._absent |= {path for path in paths if type(path) is not Value or path.parameters}

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

    def _note_replacement(self, statement: If, frame: CallFrame) -> None:
        """Note a default: `if query is None: query = "all"`."""
        match statement:
            case If(
                test=Logic(operator="not", values=[Name(id=tested)])
                | Compare(left=Name(id=tested), operator="==", right=Literal(value=None)),
                body=Block(statements=[Assign(target=Name(id=name), value=Literal(value=default))]),
            ) if tested == name:
                self._note_default(frame.names.get(name, UNKNOWN), default, statement.line, frame)

    def _note_bounds(self, refused: SyntaxNode, frame: CallFrame, *, is_negated: bool = False) -> None:
        """Note the bounds of parameters beyond which the code fails: `if depth < 1 or depth > 100: raise …`."""
        match refused:
            case Logic(operator="not", values=[inner]):
                self._note_bounds(inner, frame, is_negated=not is_negated)
            case Logic(operator=operator, values=values) if operator == ("and" if is_negated else "or"):
                for inner in values:
                    self._note_bounds(inner, frame, is_negated=is_negated)
            case Logic(operator="and", values=[Name(id=name) | Compare(left=Name(id=name), operator="!="), inner]):
                if not is_negated and name in {node.id for node in walk(inner) if isinstance(node, Name)}:
                    self._note_bounds(inner, frame)  # `depth !== undefined && depth > 100`
            case Compare(left=left, operator=operator, right=right) if not self._unclear:
                for side, other, sign in ((left, right, operator), (right, left, MIRRORED.get(operator, ""))):
                    inner, measure = _measured(side)
                    with self.muted():
                        value, bound = self.evaluate(inner, frame), self.evaluate(other, frame)
                    word = _BOUNDED.get((sign, is_negated))
                    names = {part.name for part in alternatives(value) if isinstance(part, Argument)} - {""}
                    if word and isinstance(bound, Constant) and type(bound.value) in (int, float) and len(names) == 1:
                        text = f"{measure}{word} {bound.value}"
                        self._note(self.trace.limits, "limit", frame, refused.line, text, frozenset(names))

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


_BOUNDED = {(">", False): "at most", ("<", False): "at least", ("<=", True): "at most", (">=", True): "at least"}
"""The bound by the operator of a comparison that the code refuses, or that it demands."""


def _measured(side: SyntaxNode) -> tuple[SyntaxNode, str]:
    """Return what a side of a comparison is the length of, or the side itself."""
    match side:
        case CallSite(function=Name(id="len"), arguments=[inner]) | Attribute(value=inner, key="length"):
            return inner, "length "
        case _:
            return side, ""


def _entry(effect: Sighting) -> tuple[str, str, Value | None]:
    """Return what is put into a map or taken out of it: `queue.set(name, call)` and `queue.delete(name)` leave none."""
    return effect.path, re.sub(r"(\[\]|\.\w+\(\)| del)$", "", effect.text), effect.entry


def _is_growing(node: Assign) -> bool:
    """Return whether a variable is set to itself with something behind it: `text += line`."""
    parts = node.value.parts if isinstance(node.value, Template | Other) else ()
    first = parts[0] if len(parts) > 1 else None
    return isinstance(first, Name) and isinstance(node.target, Name) and first.id == node.target.id


def _both(before: Value, after: Value, without: str, condition: str) -> Value:
    """Return what a variable holds after a condition: of a table or list, also what is put into it on the condition."""
    match before, after:
        case Dictionary(), Dictionary():
            shorter, longer = sorted((before, after), key=lambda table: len(table.items))
            if longer.items[: len(shorter.items)] == shorter.items:
                present = {key for key, _ in shorter.items}
                added = {key for key, _ in longer.items[len(shorter.items) :]} - present
                return replace(longer, optional=(shorter.optional & longer.optional) | added)
        case Listing(), Listing():
            few, many = sorted((before, after), key=lambda listing: len(listing.values))
            if many.values[: len(few.values)] == few.values:
                return replace(many, optional=many.optional | set(many.values[len(few.values) :]))
    return join([after, before], [condition, without])
