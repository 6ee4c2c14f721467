"""The changes of a server's rewrites as edits of its Python source, which is searched without running it."""

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import MetadataWrapper, PositionProvider

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.results.improvements import Change, Rewrite
from tdqs_mcp.rewriting.text_patches import LeftOut, Patch, unified
from tdqs_mcp.sources.files import SourceFile

MAX_DEPTH = 150
"""Levels of a syntax tree; libcst recurses, and a much deeper file would end the process."""

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)
"""What a file raises that is not Python of this interpreter or nests too deep; LookupError is an unknown encoding."""

_MAKERS = ("tool", "add_tool", "from_function")
"""Functions that make a tool of the function that they are given."""


class SourceModule:
    """A parsed file."""

    def __init__(self, file: SourceFile) -> None:
        """Raises one of UNPARSABLE."""
        self.name, path = file.name, PurePosixPath(file.name)
        self.module_name = path.parent.name if path.stem == "__init__" else path.stem
        self.content = file.content
        nodes = _plain_nodes(file.content)
        names = [node for node in nodes if isinstance(node, ast.Name)]
        self.uses = Counter(name.id for name in names if isinstance(name.ctx, ast.Load))
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self.can_declare = not {*_MAKERS, "Tool"}.isdisjoint(attributes | self.uses.keys())

    @cached_property
    def tree(self) -> cst.Module:
        """The tree with every space and comment; empty where libcst cannot read the file."""
        try:
            return cst.parse_module(self.content)
        except (cst.ParserSyntaxError, RecursionError):
            return cst.Module(body=())

    @cached_property
    def nodes(self) -> tuple[cst.CSTNode, ...]:
        """Every node but white space, in the order of the file."""
        return tuple(walk(self.tree))

    @cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """Names that imports bind at the top of the file: module, and name there, which is empty for the module."""
        imports: dict[str, tuple[str, str]] = {}
        for statement in small_statements(self.tree.body):
            if isinstance(statement, cst.Import | cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
                source = full_name(statement.module) if isinstance(statement, cst.ImportFrom) else None
                for alias in statement.names:
                    name = alias.evaluated_name
                    imports[alias.evaluated_alias or name] = (name, "") if source is None else (source, name)
        return imports

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node begins, from 1."""
        return MetadataWrapper(self.tree, unsafe_skip_copy=True).resolve(PositionProvider)[node].start.line


def check_syntax(content: bytes) -> ast.Module:
    """The plain tree of a file, without the warnings that its author has seen already. Raises one of UNPARSABLE."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(content)


def _plain_nodes(content: bytes) -> list[ast.AST]:
    """Every node of a file that is flat enough for libcst."""
    level: list[ast.AST] = [check_syntax(content)]
    nodes: list[ast.AST] = []
    for _ in range(MAX_DEPTH):
        nodes += level
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise RecursionError
    return nodes


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and all below it, in the order of the file, without white space."""
    pending = [node]
    while pending:
        current = pending.pop()
        if not isinstance(current, cst.BaseParenthesizableWhitespace):
            yield current
            pending += reversed(current.children)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Where one tool gets its definition from."""

    module: SourceModule
    call: cst.Call | None
    """A decorator with arguments, or the call that makes or adds the tool."""

    function: cst.FunctionDef | None
    """None where the call says everything."""

    home: SourceModule
    """The function's file."""

    @property
    def place(self) -> str:
        """File and line, for a message."""
        node = self.call or self.function
        return f"{self.module.name}:{self.module.line(node) if node else 1}"

    def keyword(self, *names: str) -> cst.BaseExpression | None:
        """Return what the call gives under one of some names; None where that is nothing."""
        values = (value for name, value in keywords(self.call).items() if name in names) if self.call else ()
        return next(
            (candidate for candidate in values if not (isinstance(candidate, cst.Name) and candidate.value == "None")),
            None,
        )


class ServerSource:
    """The files of a server, searched together."""

    def __init__(self, modules: Sequence[SourceModule]) -> None:
        self.modules = modules

    @cached_property
    def declarations(self) -> Mapping[str, Sequence[Declaration]]:
        """Every declaration by its tool's name; one whose name is computed has none."""
        declarations: dict[str, list[Declaration]] = {}
        for module in self.modules:
            for name, declaration in self._declared(module) if module.can_declare else ():
                declarations.setdefault(name, []).append(declaration)
        return declarations

    def is_shared(self, function: cst.FunctionDef) -> bool:
        """Return whether a function serves several tools."""
        served = (item.function for declared in self.declarations.values() for item in declared)
        return sum(item is function for item in served) > 1

    def resolve(self, module: SourceModule, node: cst.BaseExpression | None) -> tuple[SourceModule, cst.CSTNode] | None:
        """Return what a name of the module stands for: a function, a class or its only value, imports followed."""
        if isinstance(node, cst.Attribute):
            owner = self.resolve(module, node.value)
            if owner is None or not isinstance(owner[1], cst.ClassDef):
                return owner if node.attr.value == "value" else None  # GitTools.STATUS.value
            return _bound_once(owner[0], node.attr.value, owner[1].body.body)
        if not isinstance(node, cst.Name):
            return None if node is None or text_of(node) is None else (module, node)
        here = _bound_once(module, node.value, module.nodes)
        if here or node.value not in module.imports:
            return here
        source, name = module.imports[node.value]
        last = source.rpartition(".")[2]  # as far as the last part of a module's name tells
        homes = [home for home in self.modules if last and home.module_name == last]
        return _bound_once(homes[0], name, homes[0].tree.body) if len(homes) == 1 else None

    def _declared(self, module: SourceModule) -> Iterator[tuple[str, Declaration]]:
        functions = [candidate for candidate in module.nodes if isinstance(candidate, cst.FunctionDef)]
        decorators = {id(decorator.decorator) for function in functions for decorator in function.decorators}
        for function in functions:
            for decorator in function.decorators:
                call = decorator.decorator if isinstance(decorator.decorator, cst.Call) else None
                if last_name(decorator.decorator) == "tool":
                    declaration = Declaration(module=module, call=call, function=function, home=module)
                    yield from self._named(declaration, _first(call))
        for node in module.nodes:
            if isinstance(node, cst.Call) and id(node) not in decorators:
                yield from self._called(module, node)

    def _called(self, module: SourceModule, call: cst.Call) -> Iterator[tuple[str, Declaration]]:
        outer = call.func if isinstance(call.func, cst.Call) else call  # mcp.tool(...)(function)
        word, named = last_name(outer.func), keywords(call)
        if word == "Tool" and {"name"} < named.keys():
            yield from self._named(Declaration(module=module, call=call, function=None, home=module), None)
        if word not in _MAKERS:
            return
        handler = _first(call) or named.get("fn")
        resolved = self.resolve(module, handler)
        if resolved is None and isinstance(handler, cst.Attribute):  # self.list_orders, orders.list_orders
            functions = [node for node in module.nodes if isinstance(node, cst.FunctionDef)]
            resolved = _bound_once(module, handler.attr.value, functions)
        if resolved and isinstance(resolved[1], cst.FunctionDef):
            yield from self._named(Declaration(module=module, call=outer, function=resolved[1], home=resolved[0]), None)

    def _named(self, declaration: Declaration, first: cst.BaseExpression | None) -> Iterator[tuple[str, Declaration]]:
        name_node = declaration.keyword("name") or (first if text_of(first) is not None else None)
        if name_node is None and declaration.function:
            yield declaration.function.name.value, declaration
            return
        resolved = self.resolve(declaration.module, name_node)
        name = text_of(resolved[1]) if resolved else None
        if name is not None:
            yield name, declaration


def keywords(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """A call's arguments by keyword."""
    return {arg.keyword.value: arg.value for arg in call.args if arg.keyword}


def text_of(node: cst.CSTNode | None) -> str | None:
    """The string that an expression is, and not one that it would compute."""
    if not isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = node.evaluated_value
    return value if isinstance(value, str) else None


def full_name(node: cst.CSTNode | None) -> str:
    """`server.tool` of `server.tool` and of a call of it; empty where there is no name."""
    return (node and get_full_name_for_node(node)) or ""


def last_name(node: cst.CSTNode) -> str:
    """`tool` of `server.tool`, of `tool` and of a call of them."""
    return full_name(node).rpartition(".")[2]


def _first(call: cst.Call | None) -> cst.BaseExpression | None:
    """The first positional argument."""
    first = call.args[0] if call and call.args else None
    return first.value if first and not first.keyword and not first.star else None


def _bound_once(
    module: SourceModule, name: str, nodes: Sequence[cst.CSTNode]
) -> tuple[SourceModule, cst.CSTNode] | None:
    """Return what is bound to a name, where that is one thing."""
    bindings: list[cst.CSTNode] = []
    for node in (*nodes, *small_statements(nodes)):
        match node:
            case cst.FunctionDef(name=cst.Name(value=bound)) | cst.ClassDef(name=cst.Name(value=bound)):
                bindings += [node] * (bound == name)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=bound))], value=value):
                bindings += [value] * (bound == name)
            case cst.AnnAssign(target=cst.Name(value=bound), value=cst.BaseExpression() as value):
                bindings += [value] * (bound == name)
    once = {id(node): node for node in bindings}
    return (module, next(iter(once.values()))) if len(once) == 1 else None


def small_statements(nodes: Sequence[cst.CSTNode]) -> Iterator[cst.BaseSmallStatement]:
    """The simple statements directly among some nodes."""
    return (statement for line in nodes if isinstance(line, cst.SimpleStatementLine) for statement in line.body)


def string_pieces(node: cst.BaseExpression) -> list[cst.CSTNode]:
    """The strings that stand side by side and make one text."""
    if isinstance(node, cst.ConcatenatedString):
        return [*string_pieces(node.left), *string_pieces(node.right)]
    return [node]


def spell_value(value: object, module: SourceModule, like: cst.BaseExpression | None = None) -> str:
    """A JSON value as Python writes it."""
    match value:
        case str():
            return spell_text(value, module, like)
        case list():
            return f"[{', '.join(spell_value(item, module) for item in value)}]"
        case dict():
            members = (f"{spell_text(key, module)}: {spell_value(item, module)}" for key, item in value.items())
            return f"{{{', '.join(members)}}}"
        case _:
            return repr(value)


def spell_text(
    value: str, module: SourceModule, like: cst.BaseExpression | None = None, *, may_grow: bool = False
) -> str:
    """A literal of exactly this value in the spelling of the old one; raw where both can be.

    `may_grow` makes a short literal a long one for a text that has lines.
    """
    old = string_pieces(like)[0] if like else None
    prefix: str = old.prefix if isinstance(old, cst.SimpleString) else ""
    quote: str = old.quote if isinstance(old, cst.SimpleString) else '"'
    if may_grow and "\n" in value and len(quote) == 1:
        quote *= 3
    characters = [_escaped(character, module.tree.encoding, is_long=len(quote) == 3) for character in value]
    if "r" in prefix:
        is_plain = all(character in ("\\\\", old) for character, old in zip(characters, value, strict=True))
        if is_plain and quote not in value and not value.endswith(("\\", quote[0])):
            return f"{prefix}{quote}{value}{quote}".replace("\n", module.tree.default_newline)
    body = "".join(characters).replace(quote, "".join(f"\\{character}" for character in quote))
    if len(quote) == 3 and body.endswith(quote[0]) and not body.endswith(f"\\{quote[0]}"):
        body = f"{body[:-1]}\\{quote[0]}"
    return f"{prefix.replace('r', '')}{quote}{body}{quote}".replace("\n", module.tree.default_newline)


def _escaped(character: str, encoding: str, *, is_long: bool) -> str:
    """A character as a literal of the file can hold it."""
    if is_long and character in "\n\t":
        return character
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return character.encode("unicode_escape").decode()
    is_plain = character.isprintable() and character != "\\"
    return character if is_plain else character.encode("unicode_escape").decode()


HOMES = {"Annotated": ("typing", "typing_extensions"), "Field": ("pydantic",)}
"""Where the names of a described parameter come from; the first is imported where none is."""

_SPACE = cst.SimpleWhitespace(" ")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEdit:
    """A change of a node: equal edits are made once, different ones of one slot exclude each other."""

    module: SourceModule
    node: cst.CSTNode
    slot: str = ""
    """What of the node changes, such as a keyword; empty for the whole."""

    code: str
    make: Callable[[Any], Any] = field(compare=False)
    """The new node, from the old one in which edits further down are made already."""

    imports: tuple[str, ...] = ()
    """Names of HOMES that the code needs."""


Outcome = list[NodeEdit] | str
"""The edits that make a change, or why there are none."""


_Placed = tuple[LeftOut, list[NodeEdit]]
"""A change's entry should it be left out yet, and its edits."""


def patch_python(files: Sequence[SourceFile], rewrites: Sequence[Rewrite]) -> Patch:
    """The patch of a server's Python files. Whatever is not certain to be a definition's only source is left out."""
    modules: list[SourceModule] = []
    problems: list[str] = []
    for file in files:
        try:
            modules.append(SourceModule(file))
        except UNPARSABLE as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            problems.append(f"{file.name!r} does not parse with this version of Python{line}")
    source = ServerSource(modules)
    placed: list[_Placed] = []
    left_out: list[LeftOut] = []
    for tool, change in ((rewrite.name, change) for rewrite in rewrites for change in rewrite.changes):
        outcome = _placed(source, tool, change)
        if isinstance(outcome, str):
            left_out.append(LeftOut(tool=tool, path=change.path, reason=outcome))
        else:
            placed.append((LeftOut(tool=tool, path=change.path, reason=""), outcome))
    agreed, disputed = _agreed(placed)
    diffs, broken, changed = [], [], []
    for module in modules:
        own_edits = [(entry, edits) for entry, edits in agreed if any(edit.module is module for edit in edits)]
        content = _edited(module, [edit for _, edits in own_edits for edit in edits]) if own_edits else module.content
        if isinstance(content, str):
            broken += [replace(entry, reason=content) for entry, _ in own_edits]
        elif own_edits:
            diffs.append(_diff(module, content))
            changed.append(SourceFile(name=module.name, content=content))
    return Patch(
        diff=b"".join(diffs),
        count=len(agreed) - len(broken),
        left_out=(*left_out, *disputed, *broken),
        files=tuple(changed),
        problems=tuple(problems),
    )


def _agreed(placed: Sequence[_Placed]) -> tuple[list[_Placed], list[LeftOut]]:
    """Return what can be done together, and the changes that want different words in one place."""
    texts_by_place: dict[tuple[int, str], set[str]] = {}
    for edit in (edit for _, edits in placed for edit in edits):
        texts_by_place.setdefault((id(edit.node), edit.slot), set()).add(edit.code)
    agreed, disputed = [], []
    for entry, edits in placed:
        if any(len(texts_by_place[id(edit.node), edit.slot]) > 1 for edit in edits):
            disputed.append(replace(entry, reason="another tool shares this text and needs other words"))
        else:
            agreed.append((entry, edits))
    return agreed, disputed


class _Editor(cst.CSTTransformer):
    """Makes edits from the innermost node outward."""

    def __init__(self, edits: Sequence[NodeEdit]) -> None:
        super().__init__()
        self._edits: dict[cst.CSTNode, list[NodeEdit]] = {}
        for edit in edits:
            self._edits.setdefault(edit.node, []).append(edit)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:  # noqa: ANN401  # libcst's own signature
        """The node with its edits."""
        for edit in self._edits.get(original_node, ()):
            updated_node = edit.make(updated_node)
        return updated_node


def _edited(module: SourceModule, edits: Sequence[NodeEdit]) -> bytes | str:
    """The file with the edits, or why they cannot be made."""
    tree = module.tree.visit(_Editor(list(dict.fromkeys(edits))))
    names = sorted({name for edit in edits for name in edit.imports})
    lines = [cst.parse_statement(f"from {HOMES[name][0]} import {name}") for name in names]
    place = (_last_import(module) or 0) + 1 if names else 0
    tree = tree.with_changes(body=[*tree.body[:place], *lines, *tree.body[place:]])
    try:
        check_syntax(tree.bytes)
    except UNPARSABLE:
        return "the patched file would not parse"
    if module.tree.bytes != module.content:
        return "its file would change in other places too"
    return tree.bytes


def _diff(module: SourceModule, content: bytes) -> bytes:
    """Return one file's part of the patch."""
    encoding = module.tree.encoding.removesuffix("-sig")  # a byte order mark is a character of the text
    old, new = (text.decode(encoding) for text in (module.content, content))
    return unified(old, new, name=module.name).encode(encoding)


def _placed(source: ServerSource, tool: str, change: Change) -> Outcome:
    """The edits that make a change of a tool's definition, or why there are none."""
    declarations = source.declarations.get(tool, ())
    try:
        json.dumps(change.after, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "it holds half a character (a lone surrogate), which no text can hold"
    if not declarations:
        return "no function and no Tool(…) declares it where the source was searched"
    if len(declarations) > 1:
        return f"it is declared more than once: {', '.join(declaration.place for declaration in declarations[:3])}"
    return _Placement(source=source, declaration=declarations[0], change=change).edits()


_SHARED = "its function serves several tools"

_Slot = tuple[str, cst.Annotation | None, cst.BaseExpression | None]
"""A parameter of a function or a field of a model: name, annotation, default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placement:
    """A change of a tool that is declared in one place."""

    source: ServerSource
    declaration: Declaration
    change: Change

    def edits(self) -> Outcome:
        """The edits that make the change, or why there are none."""
        match split_pointer(self.change.path):
            case ["description"]:
                return self._description()
            case ["title"]:
                node = self.declaration.keyword("title")
                return self._other_text(self.declaration.module, node) if node else "its declaration has no title="
            case ["annotations", *keys]:
                return self._annotations(keys)
            case ["inputSchema", *keys]:
                return self._schema(keys)
        return "no keyword of a declaration says this"

    def _description(self) -> Outcome:
        if (node := self.declaration.keyword("description")) is not None:
            return self._other_text(self.declaration.module, node)
        function, call = self.declaration.function, self.declaration.call
        if function is not None:
            return _SHARED if self.source.is_shared(function) else self._docstring(function)
        if call is None:
            return "it has no call"
        return _with_members(self.declaration.module, call, {"description": self.change.after})

    def _annotations(self, keys: Sequence[str]) -> Outcome:
        """Hints in `annotations=`, where that names them on the spot."""
        node = self.declaration.keyword("annotations")
        if not isinstance(node, cst.Call | cst.Dict):
            return "its annotations= is computed" if node else "its declaration has no annotations="
        before = self.change.before if isinstance(self.change.before, dict) else {}
        hints = self.change.after if isinstance(self.change.after, dict) else {}
        changed = {key: value for key, value in hints.items() if key not in before or before[key] != value}
        return _with_members(self.declaration.module, node, {keys[0]: self.change.after} if keys else changed)

    def _schema(self, keys: Sequence[str]) -> Outcome:
        """A member of the input schema: in a literal, or the description of a parameter or a model's field."""
        function, home = self.declaration.function, self.declaration.home
        schema = None if function else self.declaration.keyword("inputSchema", "input_schema")
        if isinstance(schema, cst.Dict):
            return self._in_literal(schema, keys)
        if [*keys[:1], *keys[2:]] != ["properties", "description"]:
            return "only the type of its parameter can say this"
        name = keys[1]
        if function is not None:
            if self.source.is_shared(function):
                return _SHARED
            listed = (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params)
            return self._described(
                home, [(parameter.name.value, parameter.annotation, parameter.default) for parameter in listed], name
            )
        return self._in_model(schema, name)

    def _in_model(self, schema: cst.BaseExpression | None, name: str) -> Outcome:
        """The description of a field of the model that makes the schema."""
        func = schema.func if isinstance(schema, cst.Call) else None
        if not isinstance(func, cst.Attribute) or last_name(func) != _FROM_MODEL:
            return "its input schema is computed"
        model = self.source.resolve(self.declaration.module, func.value)
        if model and isinstance(model[1], cst.ClassDef):
            attributes = (node for node in model[0].nodes if isinstance(node, cst.Attribute))
            origins = [last_name(attribute.value) for attribute in attributes if last_name(attribute) == _FROM_MODEL]
            if origins.count(model[1].name.value) <= 1:  # other uses read what they get
                return self._described(model[0], _fields_of(model[1]), name)
        return "its model serves several tools or stands elsewhere"

    def _in_literal(self, node: cst.Dict, keys: Sequence[str]) -> Outcome:
        module = self.declaration.module
        for key in keys[:-1]:
            inner = _members(node).get(key)
            if not isinstance(inner, cst.Dict):
                return "its input schema is computed" if inner else "its input schema has no place for it"
            node = inner
        if isinstance(self.change.after, str) and keys[-1] in _members(node):
            return self._other_text(module, _members(node)[keys[-1]])
        return _with_members(module, node, {keys[-1]: self.change.after})

    def _described(  # noqa: PLR0911  # a reason for each
        self, module: SourceModule, slots: Sequence[_Slot], name: str
    ) -> Outcome:
        """A parameter's description: another text for one that is there, else a keyword of its Field, else a Field."""
        named = [entry for entry in slots if entry[0] == name]
        aliases = ((slot, text_of(keywords(call).get("alias"))) for slot in slots for call in _field_calls(slot))
        slot = next((slot for slot, alias in aliases if alias == name), named[0] if named else None)
        if slot is None:
            return "no parameter has this name"
        if slot[1] is None:
            return "its parameter has no type annotation to stand beside"
        fields, annotation = _field_calls(slot), slot[1].annotation
        for entry in fields:
            if "description" in keywords(entry):
                return self._other_text(module, keywords(entry)["description"])
        if self.change.before is not None:
            notes = [entry for entry in _metadata(annotation) if _is_same(text_of(entry), self.change.before)]
            return self._other_text(module, notes[0]) if notes else "its words come from elsewhere"
        if fields:
            return _with_members(module, fields[0], {"description": self.change.after})
        if text_of(annotation) is not None:  # order: "Order"
            return "its type annotation is a text"
        return _with_field(module, annotation, str(self.change.after))

    def _other_text(self, module: SourceModule, node: cst.BaseExpression) -> Outcome:
        """A text for another, in the place where the first one stands."""
        if isinstance(node, cst.Name | cst.Attribute):
            resolved = self.source.resolve(module, node)
            uses = (
                sum(source_module.uses[node.value] for source_module in self.source.modules)
                if isinstance(node, cst.Name)
                else 0
            )
            if resolved is None or not isinstance(resolved[1], cst.BaseExpression) or uses != 1:
                return "its text has a name that may be used elsewhere"
            module, node = resolved[0], resolved[1]
        reason = _refused(node, self.change)
        return reason or [_replaced(module, node, spell_text(str(self.change.after), module, node))]

    def _docstring(self, function: cst.FunctionDef) -> Outcome:
        """New words for the function's docstring, at its margin and between its own quotes; or a new one."""
        home = self.declaration.home
        first = function.body.body[0] if function.body.body else None
        lines = first.body if isinstance(first, cst.SimpleStatementLine) else [first]
        docstring = lines[0].value if isinstance(lines[0], cst.Expr) else None
        if docstring is None or text_of(docstring) is None:
            return self._new_docstring(function)
        if reason := _refused(docstring, self.change):
            return reason
        old = text_of(docstring) or ""
        margin, before = _margin(old) or _indent(home, function), _margin(str(self.change.before or ""))
        new = _indented(str(self.change.after), margin, without=before)
        outer = len(old) - len(old.lstrip())
        tail = old[len(old.rstrip()) :] if old.strip() else ""
        return [_replaced(home, docstring, spell_text(f"{old[:outer]}{new}{tail}", home, docstring, may_grow=True))]

    def _new_docstring(self, function: cst.FunctionDef) -> Outcome:
        if self.change.before:
            return "its function has no docstring, so its words come from elsewhere"
        if not isinstance(function.body, cst.IndentedBlock):
            return "its function stands on one line"
        home = self.declaration.home
        text = _indented(str(self.change.after), _indent(home, function), without="")
        code = spell_text(text, home, cst.SimpleString('""""""'))

        def make(block: Any) -> Any:  # noqa: ANN401
            return block.with_changes(body=[cst.SimpleStatementLine([cst.Expr(cst.SimpleString(code))]), *block.body])

        return [NodeEdit(module=home, node=function.body, code=code, make=make)]


_FROM_MODEL = "model_json_schema"


def _fields_of(model: cst.ClassDef) -> list[_Slot]:
    fields = (statement for statement in small_statements(model.body.body) if isinstance(statement, cst.AnnAssign))
    return [
        (field_node.target.value, field_node.annotation, field_node.value)
        for field_node in fields
        if isinstance(field_node.target, cst.Name)
    ]


def _field_calls(slot: _Slot) -> list[cst.Call]:
    candidates = [*(_metadata(slot[1].annotation) if slot[1] else ()), slot[2]]
    return [
        candidate
        for candidate in candidates
        if isinstance(candidate, cst.Call) and last_name(candidate.func) == "Field"
    ]


def _metadata(annotation: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what stands behind the type in `Annotated[…]`."""
    if not isinstance(annotation, cst.Subscript) or last_name(annotation.value) != "Annotated":
        return []
    return [element.slice.value for element in annotation.slice[1:] if isinstance(element.slice, cst.Index)]


def _with_field(module: SourceModule, annotation: cst.BaseExpression, text: str) -> Outcome:
    """The type with a Field beside it."""
    names = {name: _spelled_name(module, name) for name in HOMES}
    for name, spelled in names.items():
        if spelled is None:
            return f"{name} cannot be imported there without a risk"
    code = f"{names['Field']}(description={spell_text(text, module)})"
    imports = tuple(name for name in HOMES if names[name] == name and name not in module.imports)
    element = cst.SubscriptElement(slice=cst.Index(value=cst.parse_expression(code)))

    def make(node: Any) -> Any:  # noqa: ANN401
        if _metadata(node):
            *rest, last = node.slice
            spaced = last.with_changes(comma=cst.Comma(whitespace_after=_SPACE))
            return node.with_changes(slice=[*rest, spaced, element.with_changes(comma=last.comma)])
        first = cst.SubscriptElement(slice=cst.Index(value=node), comma=cst.Comma(whitespace_after=_SPACE))
        return cst.Subscript(value=cst.parse_expression(str(names["Annotated"])), slice=[first, element])

    return [NodeEdit(module=module, node=annotation, slot="Field", code=code, make=make, imports=imports)]


def _spelled_name(module: SourceModule, name: str) -> str | None:
    """How the file calls Annotated or Field, or would; None where it cannot be known."""
    imports = module.imports.items()
    direct = [local_name for local_name, (home, origin_name) in imports if home in HOMES[name] and origin_name == name]
    whole = [
        f"{local_name}.{name}" for local_name, (home, origin_name) in imports if home in HOMES[name] and not origin_name
    ]
    if direct or whole:
        return [*direct, *whole][0]
    is_taken = any(isinstance(node, cst.Name) and node.value == name for node in module.nodes)
    return None if is_taken or _last_import(module) is None else name


def _last_import(module: SourceModule) -> int | None:
    """The place of the last import among the statements before the first function and class."""
    last = None
    for place, statement in enumerate(module.tree.body):
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            break
        first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        last = place if isinstance(first, cst.Import | cst.ImportFrom) else last
    return last


def _members(node: cst.Call | cst.Dict) -> dict[str, cst.BaseExpression]:
    """Keywords of a call, members of a literal."""
    if isinstance(node, cst.Call):
        return keywords(node)
    return {
        text_of(element.key) or "": element.value for element in node.elements if isinstance(element, cst.DictElement)
    }


def _with_members(module: SourceModule, node: cst.Call | cst.Dict, after: Mapping[str, object]) -> Outcome:
    """The members of a call or a literal with other values, new ones behind the last."""
    if isinstance(node, cst.Call) and any(arg.star == "**" for arg in node.args):
        return "its call takes keywords from elsewhere"
    members = _members(node)
    is_snake = isinstance(node, cst.Call) and any("_" in member for member in members)
    edits = []
    for key, value in after.items():
        name = re.sub("(?=[A-Z])", "_", key).lower() if is_snake else key
        old = members.get(name)
        if old is None:
            code = spell_value(value, module)
            edits.append(NodeEdit(module=module, node=node, slot=name, code=code, make=partial(_appended, name, code)))
        elif isinstance(old, cst.BaseString | cst.BaseNumber) or last_name(old) in ("True", "False", "None"):
            edits.append(_replaced(module, old, spell_value(value, module, old)))
        else:
            return "its value is computed"
    return edits


def _appended(name: str, code: str, node: Any) -> Any:  # noqa: ANN401  # a call or a literal
    """Return one more member behind the last one, on a line of its own where the closing bracket has one."""
    new: cst.Arg | cst.DictElement
    closing: cst.BaseParenthesizableWhitespace
    if isinstance(node, cst.Call):
        nothing = cst.SimpleWhitespace("")
        equal = cst.AssignEqual(whitespace_before=nothing, whitespace_after=nothing)
        new = cst.Arg(keyword=cst.Name(name), value=cst.parse_expression(code), equal=equal)
        items, opening, closing = node.args, node.whitespace_before_args, nothing
        if items:
            after = items[-1].comma
            closing = after.whitespace_after if isinstance(after, cst.Comma) else items[-1].whitespace_after_arg
        changes: dict[str, Any] = {"whitespace_after_arg": nothing}
    else:
        new = cst.DictElement(key=cst.parse_expression(json.dumps(name)), value=cst.parse_expression(code))
        items, opening, closing = node.elements, node.lbrace.whitespace_after, node.rbrace.whitespace_before
        node, changes = node.with_changes(rbrace=cst.RightCurlyBrace()), {}
    comma = items[-2].comma if len(items) > 1 else None
    usual = comma.whitespace_after if isinstance(comma, cst.Comma) else opening
    between: cst.BaseParenthesizableWhitespace = _SPACE
    if isinstance(closing, cst.ParenthesizedWhitespace):
        between = closing  # a comment behind the last member stays there
        if isinstance(usual, cst.ParenthesizedWhitespace):
            between = closing.with_changes(indent=usual.indent, last_line=usual.last_line)
            behind = cst.ParenthesizedWhitespace(indent=closing.indent, last_line=closing.last_line)
            new = new.with_changes(comma=cst.Comma(whitespace_after=behind))
    last = [item.with_changes(comma=cst.Comma(whitespace_after=between), **changes) for item in items[-1:]]
    return node.with_changes(**{"args" if isinstance(node, cst.Call) else "elements": [*items[:-1], *last, new]})


def _replaced(module: SourceModule, node: cst.BaseExpression, code: str) -> NodeEdit:
    def make(old: Any) -> Any:  # noqa: ANN401
        return cst.parse_expression(code).with_changes(lpar=old.lpar, rpar=old.rpar)

    return NodeEdit(module=module, node=node, code=code, make=make)


def _refused(node: cst.BaseExpression, change: Change) -> str | None:
    """Why a text must stay: it is computed, not what the server says, or holds a comment."""
    if any(isinstance(piece, cst.FormattedString) for piece in string_pieces(node)):
        return "its text is an f-string"
    old = text_of(node)
    if old is None:
        return "its text is computed"
    if not _is_same(old, change.before):
        return "the source says something else than the server; is it the same version?"
    gaps = [string.whitespace_between for string in walk(node) if isinstance(string, cst.ConcatenatedString)]
    is_commented = any("#" in cst.Module(body=()).code_for_node(gap) for gap in gaps)
    return "a comment stands between its pieces" if is_commented else None


def _indent(module: SourceModule, function: cst.FunctionDef) -> str:
    """The white space before the statements of a function."""
    blocks = [node for node in module.nodes if isinstance(node, cst.IndentedBlock) and function.body in walk(node)]
    return "".join(module.tree.default_indent if block.indent is None else block.indent for block in blocks)


def _is_same(old: str | None, before: object) -> bool:
    """Equal up to the white space around lines: some frameworks take a docstring's indentation away."""
    if not isinstance(before, str | None):
        return False
    new_lines, other = ([line.strip() for line in (text or "").strip().splitlines()] for text in (old, before))
    return new_lines == other


def _margin(text: str) -> str:
    """Return what all lines but the first begin with, as `inspect.cleandoc` counts it."""
    later = [line for line in text.split("\n")[1:] if line.strip()]
    if not later:
        return ""
    shortest = min(later, key=lambda line: len(line) - len(line.lstrip()))
    return shortest[: len(shortest) - len(shortest.lstrip())]


def _indented(text: str, margin: str, *, without: str) -> str:
    """The text with all lines but the first at a margin, in place of the one that they may have."""
    first, *later = text.strip().split("\n")
    return "\n".join([first, *(f"{margin}{line.removeprefix(without)}" if line.strip() else "" for line in later)])
