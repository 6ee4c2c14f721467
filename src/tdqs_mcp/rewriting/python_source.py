"""Python source as syntax trees: where it declares tools, found without running it, and how it spells a value."""

import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import MetadataWrapper, PositionProvider

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
