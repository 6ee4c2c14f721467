"""Assignments to variables and changes of what they hold, and whether a change outlives the call."""

from collections.abc import Sequence
from dataclasses import replace

from tdqs_mcp.code.calls import Calls
from tdqs_mcp.code.knowledge import ADDS, NAMES
from tdqs_mcp.code.nodes import (
    Attribute,
    CallSite,
    Choice,
    Collection,
    Element,
    FormalParameter,
    Literal,
    Logic,
    Name,
    ObjectLiteral,
    Other,
    Spread,
    Subscript,
    SyntaxNode,
)
from tdqs_mcp.code.project import NameScope, dotted_name
from tdqs_mcp.code.texts import repeated_text
from tdqs_mcp.code.trace import ALL, PassedCall
from tdqs_mcp.code.values import (
    ANSWER,
    SURE,
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
    Value,
    alternatives,
    bounded,
    elements,
    join,
    parameters_of,
    text_of,
    unknown,
)

MUTATING = NAMES["mutating"]

_TAKING = frozenset(
    [" del", *(f".{word}()" for word in "pop popleft popitem remove discard clear delete splice".split())]
)
"""Changes in memory that take something away."""

_ADDING_ITEMS = frozenset([".append()", ".push()", ".add()", ".extend()", ".unshift()"])

_COPYING = NAMES["copying"]


class Assignments(Calls):
    """Assignments of a project; `Expressions` gives the values."""

    def _assign(self, target: SyntaxNode, value: Value, frame: CallFrame) -> None:
        match target:
            case Name(id=name):
                frame.names[name] = value
                if name in frame.outer and value.parameters:  # without the agent's words it is the server's set-up
                    parameters = value.parameters
                    self._note(self.trace.effects, "state-in-memory", frame, target.line, name, parameters, harm=ADDS)
            case FormalParameter(name=name, default=default):
                if isinstance(default, Literal):
                    self._note_default(value, default.value, target.line, frame)
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
                self._store("__setitem__", self.evaluate(owner, frame), value, target, frame)
                self._mutate(owner, f".{key}", [value], target.line, frame)
                self._note_sparse(value)
                _add_item(owner, key, value, frame)
            case Subscript(value=owner, key=key):
                index, holder = self.evaluate(key, frame), self.evaluate(owner, frame)
                self._use(value, index, holder)
                self._store("__setitem__", holder, index, target, frame)
                self._mutate(owner, "[]", [value, index], target.line, frame)
                self._note_sparse(value)
                _add_item(owner, text_of(index) if isinstance(index, Constant) else None, value, frame)
            case _:
                self._use(value)

    def _store(self, method: str, holder: Value, key: Value, node: SyntaxNode, frame: CallFrame) -> None:
        """Note what setting or deleting an item of a library's object does: a shelf is a file."""
        target = replace(holder, name=f"{holder.name}.{method}") if isinstance(holder, External) else External(name="")
        specs = self.knowledge(frame.module).lookup(target.name) or ()
        for spec in (spec for spec in specs if spec.words[0] in ("file-write", "file-delete")):
            self._effect(spec, target, PassedCall(CallSite(line=node.line, function=node), frame, (key,), {}))

    def _assign_outside(self, name: str, value: Value, frame: CallFrame) -> None:
        """Set a variable of a function around this one: `new Promise((resolve) => { release = resolve; })`."""
        place = frame.parent
        while isinstance(place, CallFrame) and name not in place.names:
            place = place.parent
        if isinstance(place, CallFrame):
            caller, *_ = next(reversed(self.trace.active), (None,))
            is_repeated = caller is not None and caller.function in self._repeated
            longer = repeated_text(place.names[name], value) if is_repeated else None
            place.names[name] = longer or join([place.names[name], value])

    def _note_sparse(self, value: Value) -> None:
        """Note a parameter that is put into a table only where it is given: `if depth: boat["depth"] = depth`."""
        if isinstance(value, Argument) and self._conditions[-1:] in ((value.name,), (f"{value.name} != None",)):
            self.trace.sparse.add(value.name)

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
            entry = {"[]": values[-1:], ".set()": values[:1], ".delete()": values[:1], ".pop()": values[:1]}.get(change)
            if change in ("[]", ".set()") and any(map(_has_answer, values)):
                self.trace.caches.add((frame.module.path, dotted_name(owner)))
            harm = "" if change in _TAKING else ADDS
            self._note(self.trace.effects, kind, frame, line, text, parameters, harm=harm)
            self.trace.effects[-1] = replace(self.trace.effects[-1], entry=entry[0] if entry else None)

    def _is_container(self, value: Value, frame: CallFrame) -> bool:
        """Return whether a value is a map, set or list that a library or the language made: `new Map()`."""
        return isinstance(value, External) and self.knowledge(frame.module).is_container(value.name)

    def _is_state(self, node: SyntaxNode, frame: CallFrame) -> int:
        """Return how surely an expression stands for something that outlives the call: SURE, 1 for maybe, 0 for no.

        SURE is what hangs on the receiver, unless it is new, or on a variable outside the function; maybe what a
        function gives back that was given some of it.
        """
        if dotted_name(node) in NAMES["environments"]:
            return SURE
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
            case Element(iterable=CallSite(function=Name(id=name), arguments=arguments)) if name in NAMES["iterating"]:
                return min(1, max((self._is_state(part, frame) for part in arguments), default=0))
            case Attribute(value=owner) | Subscript(value=owner) | Element(iterable=owner) | Spread(value=owner):
                return self._is_state(owner, frame)
            case CallSite(function=Attribute(value=owner, key=key)):
                if key in MUTATING | {"get"}:  # what `self.boats.pop(name)` gives back has been in there
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


def _has_answer(value: Value) -> bool:
    """Return whether a value is another machine's answer or holds one: `(time.monotonic(), answer.text)`."""
    inside = value.values if isinstance(value, Listing | Dictionary) else alternatives(value)
    is_answer = isinstance(value, External) and value.name.startswith(ANSWER)
    return is_answer or any(_has_answer(part) for part in inside if part is not value)


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
            bounded(
                replace(part, items=(*part.items, (key or "", value)), parameters=part.parameters | value.parameters)
            )
            if isinstance(part, Dictionary)
            else part
            for part in holders
        )
