"""Where Python source declares tools, found without running it."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from tdqs_mcp.rewriting.python_source.literals import text_of
from tdqs_mcp.rewriting.python_source.module import Function, Module


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

    @cached_property
    def declarations(self) -> Mapping[str, Sequence[Declaration]]:
        """Every declaration by its tool's name; one whose name is computed has none."""
        found: dict[str, list[Declaration]] = {}
        for module in self.modules:
            for name, declaration in self._in(module):
                found.setdefault(name, []).append(declaration)
        return found

    def is_shared(self, function: Function) -> bool:
        """Whether a function serves several tools."""
        served = (each.function for declared in self.declarations.values() for each in declared)
        return sum(each is function for each in served) > 1

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


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_module(file: str, imported: str) -> bool:
    """Whether a file is what an import means, as far as the last part of the module's name tells."""
    path = PurePosixPath(file)
    stem = path.parent.name if path.stem == "__init__" else path.stem
    return bool(imported) and stem == imported.rpartition(".")[2]
