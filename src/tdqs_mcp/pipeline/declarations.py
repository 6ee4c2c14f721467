"""Where Python source declares tools, found without running it."""

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from tdqs_mcp.pipeline.literals import text_of
from tdqs_mcp.sources.code import SourceFile

Function = ast.FunctionDef | ast.AsyncFunctionDef

_LINE_END = re.compile(r"\r\n|\r|\n")


class Module:
    """A parsed file; offsets are characters of its text."""

    def __init__(self, file: SourceFile) -> None:
        """Raises SyntaxError, ValueError, RecursionError and MemoryError for what does not parse."""
        encoding, _ = tokenize.detect_encoding(io.BytesIO(file.content).readline)
        self.name = file.name
        self.encoding = encoding
        whole = file.content.decode("utf-8" if encoding == "utf-8-sig" else encoding)
        self.mark = "\ufeff" * whole.startswith("\ufeff")
        self.text = whole.removeprefix("\ufeff")
        self.tree = parse(self.text)
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def newline(self) -> str:
        """How the first line ends."""
        found = _LINE_END.search(self.text)
        return found[0] if found else "\n"

    def line_start(self, line: int) -> int:
        """The offset of a line, counted from 1."""
        return self._starts[line - 1]

    def line_of(self, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return bisect_right(self._starts, offset)

    def line_end(self, line: int) -> int:
        """The offset of a line's end, before what ends it."""
        found = _LINE_END.search(self.text, self._starts[line - 1])
        return found.start() if found else len(self.text)

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Where a node begins."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Where a node ends."""
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def source(self, node: ast.expr) -> str:
        """A node's own text."""
        return self.text[self.start(node) : self.end(node)]

    def indent(self, line: int) -> str:
        """The white space that a line begins with."""
        text = self.text[self.line_start(line) : self.line_end(line)]
        return text[: len(text) - len(text.lstrip())]

    def _offset(self, line: int, column: int) -> int:
        """Python counts columns in bytes of UTF-8."""
        start = self._starts[line - 1]
        text = self.text[start : start + column]
        return start + (
            column if text.isascii() else len(self.text[start : self.line_end(line)].encode()[:column].decode())
        )

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the file."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def bound(self) -> Counter[str]:
        """Every name that the file gives to something, and how often."""
        return Counter(name for node in self.nodes for name in _names(node))

    @cached_property
    def loads(self) -> Counter[str]:
        """How often a name is used."""
        return Counter(node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))

    @cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """Names that imports bind at the top of the file: module, and name there, which is empty for the module."""
        found: dict[str, tuple[str, str]] = {}
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom):
                found |= {each.asname or each.name: (node.module or "", each.name) for each in node.names}
            elif isinstance(node, ast.Import):
                found |= {each.asname or each.name: (each.name, "") for each in node.names}
        return found


def parse(text: str) -> ast.Module:
    """The tree of a file, without the warnings that its author has seen already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Where one tool gets its definition from."""

    module: Module
    call: ast.Call | None
    """A decorator with arguments, or the call that makes or adds the tool."""

    function: Function | None
    """None where the call says everything."""

    home: Module
    """The function's file."""

    @property
    def place(self) -> str:
        """For a message."""
        node = self.call or self.function
        return f"{self.module.name}:{node.lineno if node else 1}"

    def keyword(self, *names: str) -> ast.expr | None:
        """What the call gives under one of some names; None where that is nothing."""
        found = (each.value for each in (self.call.keywords if self.call else ()) if each.arg in names)
        return next((each for each in found if not (isinstance(each, ast.Constant) and each.value is None)), None)


class Code:
    """The files of a server, searched together."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = modules

    def declarations(self) -> dict[str, list[Declaration]]:
        """Every declaration by its tool's name; one whose name is computed has none."""
        found: dict[str, list[Declaration]] = {}
        for module in self.modules:
            for name, declaration in self._in(module):
                found.setdefault(name, []).append(declaration)
        return found

    def uses(self, name: str) -> int:
        """How often all files together use a name."""
        return sum(module.loads[name] for module in self.modules)

    def resolve(self, module: Module, node: ast.expr | None) -> tuple[Module, ast.AST] | None:
        """What a name of the module stands for: a function, a class or the value given to it once, imports followed."""
        if isinstance(node, ast.Attribute):
            owner = self.resolve(module, node.value)
            if owner is None or not isinstance(owner[1], ast.ClassDef):
                return owner if node.attr == "value" else None  # GitTools.STATUS.value
            return _single(owner[0], node.attr, owner[1].body)
        if not isinstance(node, ast.Name):
            return None if node is None or text_of(node) is None else (module, node)
        here = _single(module, node.id, _statements(module))
        if here or node.id not in module.imports:
            return here
        source, name = module.imports[node.id]
        homes = [each for each in self.modules if _is_module(each.name, source)]
        return _single(homes[0], name, homes[0].tree.body) if len(homes) == 1 else None

    def _in(self, module: Module) -> Iterator[tuple[str, Declaration]]:
        decorators: set[int] = set()
        for node in module.nodes:
            if isinstance(node, Function):
                decorators |= {id(each) for each in node.decorator_list}
                yield from self._decorated(module, node)
        for node in module.nodes:
            if isinstance(node, ast.Call) and id(node) not in decorators:
                yield from self._called(module, node)

    def _decorated(self, module: Module, function: Function) -> Iterator[tuple[str, Declaration]]:
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if _last_name(call.func if call else decorator) == "tool":
                declaration = Declaration(module=module, call=call, function=function, home=module)
                yield from self._named(declaration, call.args[0] if call and call.args else None)

    def _called(self, module: Module, call: ast.Call) -> Iterator[tuple[str, Declaration]]:
        if isinstance(call.func, ast.Call) and _last_name(call.func.func) == "tool":
            outer, word = call.func, "tool"  # mcp.tool(...)(function)
        else:
            outer, word = call, _last_name(call.func)
        if word == "Tool" and {"name"} < {each.arg for each in call.keywords}:
            yield from self._named(Declaration(module=module, call=call, function=None, home=module), None)
        if word not in ("tool", "add_tool", "from_function"):
            return
        given = call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == "fn"), None)
        found = self.resolve(module, given) or self._method(module, given)
        if found and isinstance(found[1], Function):
            yield from self._named(Declaration(module=module, call=outer, function=found[1], home=found[0]), None)

    def _method(self, module: Module, node: ast.expr | None) -> tuple[Module, ast.AST] | None:
        """`self.list_orders` or `orders.list_orders`, where one function of the file has this name."""
        if not isinstance(node, ast.Attribute):
            return None
        found = [each for each in module.nodes if isinstance(each, Function) and each.name == node.attr]
        return (module, found[0]) if len(found) == 1 else None

    def _named(self, declaration: Declaration, first: ast.expr | None) -> Iterator[tuple[str, Declaration]]:
        given = declaration.keyword("name") or (first if text_of(first) is not None else None)
        if given is None and declaration.function:
            yield declaration.function.name, declaration
            return
        found = self.resolve(declaration.module, given)
        name = text_of(found[1]) if found and isinstance(found[1], ast.expr) else None
        if name is not None:
            yield name, declaration


def _statements(module: Module) -> Iterator[ast.stmt]:
    """All that can bind a name which code of the file sees; functions inside functions too."""
    return (each for each in module.nodes if isinstance(each, ast.stmt))


def _single(module: Module, name: str, body: Iterable[ast.stmt]) -> tuple[Module, ast.AST] | None:
    """What is bound to a name, where that is one thing."""
    found: list[ast.AST] = []
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if statement.name == name:
                found.append(statement)
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found.append(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                found.append(value)
    return (module, found[0]) if len(found) == 1 else None


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_module(file: str, imported: str) -> bool:
    """Whether a file is what an import means, as far as the last part of the module's name tells."""
    path = PurePosixPath(file)
    stem = path.parent.name if path.stem == "__init__" else path.stem
    return bool(imported) and stem == imported.rpartition(".")[2]
