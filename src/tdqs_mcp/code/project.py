"""The files of a project as modules that know each other: names at their top, imports followed, nothing run."""

import posixpath
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    Block,
    CallSite,
    Class,
    Collection,
    Export,
    FormalParameter,
    Function,
    If,
    Import,
    Literal,
    Loop,
    Module,
    Name,
    ObjectLiteral,
    Other,
    Return,
    Subscript,
    SyntaxNode,
    Try,
    children,
)
from tdqs_mcp.json_text import Position

_SUFFIXES = ("", *".ts .js .mjs .cjs .tsx .mts .cts /index.js /index.ts /index.mjs /index.cjs".split())

_ALIASES = ("#", "@/", "~/")
"""Beginnings of imports that no package can have: aliases of a project's own folders."""

Binding = Function | Class | SyntaxNode | tuple[str, str]
"""What a name is bound to: a definition, the value assigned to it, or (module, name) of an import."""


@dataclass(eq=False)
class ProjectModule:
    """A module with what its names are bound to."""

    tree: Module
    project: "Project"

    @property
    def path(self) -> str:
        """Return the file's path relative to the folder."""
        return self.tree.path

    def position(self, offset: int) -> Position:
        """Return line and column of a byte of the file, both from 1; columns are characters."""
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return Position(line=line, column=len(self.tree.text[start:offset].decode("utf-8", "replace")) + 1)

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", self.tree.text))]

    @property
    def is_python(self) -> bool:
        """Return whether the file is Python, not JavaScript or TypeScript."""
        return self.tree.language == "python"

    def package_at(self, line: int) -> str:
        """Return the package that a line of a bundle comes from; empty for the project's own code."""
        position = bisect_right(self.tree.bundled, line, key=itemgetter(0))
        return self.tree.bundled[position - 1][1] if position else ""

    @cached_property
    def bindings(self) -> Mapping[str, Sequence[Binding]]:
        """The names at the top of the module; of those that are empty there, what functions assign to them."""
        names = bound_names(self.tree.body)
        for name, value, _ in self._deferred:
            names[name].append(value)
        return names

    @cached_property
    def _deferred(self) -> Sequence[tuple[str, SyntaxNode, Function]]:
        """Values that functions assign to names that are empty at the top: `var client; init(() => { client = … })`."""
        names = bound_names(self.tree.body)
        empty = {name for name, values in names.items() if all(_is_empty(value) for value in values)}
        pending: list[tuple[SyntaxNode, Function]] = [
            (node.body, node) for node in self.tree.nodes if empty and isinstance(node, Function)
        ]
        deferred: list[tuple[str, SyntaxNode, Function]] = []
        own: dict[Function, set[str]] = {}
        while pending:
            node, function = pending.pop()
            match node:
                case Other(operator="global", parts=parts):
                    own.setdefault(function, set()).update(part.id for part in parts if isinstance(part, Name))
                case Assign(target=Name(id=name), value=value, is_declaration=False) if name in empty:
                    if not _is_empty(value):
                        deferred.append((name, value, function))
            pending += [(part, function) for part in children(node) if not isinstance(part, Function)]
        return [item for item in deferred if not self.is_python or item[0] in own.get(item[2], ())]

    @cached_property
    def deferred(self) -> Mapping[SyntaxNode, Function]:
        """Functions that assign values to names at the top of the module, by these values."""
        return {value: function for _, value, function in self._deferred}

    @cached_property
    def origins(self) -> Sequence[tuple[str, str]]:
        """Return the imports of the module, wherever they stand: module and name."""
        return [origin for node in self.tree.nodes if isinstance(node, Import) for origin in node.names.values()]

    @cached_property
    def named(self) -> Mapping[str, Class]:
        """Classes that stand somewhere inside the module: `var Log = class Log2 { child() { return new Log2() } }`."""
        return {node.name: node for node in self.tree.nodes if isinstance(node, Class) and node.name}

    @cached_property
    def exports(self) -> Mapping[str, Binding]:
        """Exports of a module by name; the name `*` holds modules that are passed on whole."""
        exports: dict[str, Binding] = {}
        for node in self.tree.body.statements:
            if isinstance(node, Export):
                for name, local in node.names.items():
                    exports[name] = local if isinstance(local, tuple) else Name(line=node.line, id=local)
        for node in _statements(self.tree.body):
            match node:
                case Assign(target=Attribute(value=Name(id="exports"), key=key), value=value):
                    if not isinstance(value, Assign) and not _is_empty(value):  # exports.find = exports.keep = void 0
                        exports[key] = value
                case Assign(target=Attribute(value=Name(id="module"), key="exports"), value=value):
                    exports["default"] = value
                    if isinstance(value, ObjectLiteral):
                        exports.update({key: inner for key, inner in value.items if key})
                case CallSite(function=function, arguments=[Name(id="exports"), Literal(value=str(key)), getter]):
                    body = getter.get("get") if isinstance(getter, ObjectLiteral) else None
                    if last_name(function) == "defineProperty" and isinstance(body, Function):
                        results = (part.value for part in body.body.statements if isinstance(part, Return))
                        exports |= {key: next(results, body)}
                case CallSite(function=function, arguments=[CallSite(arguments=[Literal(value=str(source))]), *_]):
                    if last_name(function) == "__exportStar":  # __exportStar(require("./boats"), exports)
                        exports[f"*{source}"] = (source, "")
        return exports


class Project:
    """The modules of a folder."""

    def __init__(self, trees: Iterable[Module]) -> None:
        self.modules = [ProjectModule(tree, self) for tree in trees]
        self._by_path = {module.path: module for module in self.modules}

    @cached_property
    def _by_dotted(self) -> Mapping[str, Sequence[ProjectModule]]:
        """Python modules by every dotted name that could mean them: `src/a/b.py` is `src.a.b`, `a.b` and `b`."""
        index: dict[str, list[ProjectModule]] = {}
        for module in self.modules:
            if module.is_python:
                parts = module.path.removesuffix(".py").removesuffix("/__init__").split("/")
                for start in range(len(parts)):
                    index.setdefault(".".join(parts[start:]), []).append(module)
        return index

    def find(self, origin: ProjectModule, name: str) -> ProjectModule | None:
        """Return the module that an import in a file means; None where it is none of the project."""
        if origin.is_python:
            homes = () if name in sys.stdlib_module_names else self._by_dotted.get(name, ())
            exact = [home for home in homes if _dotted(home.path) == name]
            candidates = exact or [home for home in homes if self._is_top(home, name, origin)]
            return candidates[0] if len(candidates) == 1 else None
        if name.startswith(_ALIASES):
            return self._aliased(origin, name)
        if not name.startswith("."):
            return None
        base = posixpath.normpath(posixpath.join(posixpath.dirname(origin.path), name))
        stems = [base, base.removesuffix(".js"), base.removesuffix(".mjs"), base.removesuffix(".cjs")]
        paths = (stem + suffix for stem in stems for suffix in _SUFFIXES)
        return next((self._by_path[path] for path in paths if path in self._by_path), None)

    def beside(self, origin: ProjectModule) -> Sequence[ProjectModule]:
        """Return the other Python modules in the folder of a module."""
        folder = posixpath.dirname(origin.path)
        return [
            home
            for home in self.modules
            if home is not origin and home.is_python and posixpath.dirname(home.path) == folder
        ]

    def _aliased(self, origin: ProjectModule, name: str) -> ProjectModule | None:
        """Return the one file in the same top folder whose path ends as an alias does: `#store/boats`, `@/boats`."""
        stem = name.lstrip("#@~").lstrip("/")
        top = origin.path.partition("/")[0]
        stems = (stem, stem.removesuffix(".js"))
        endings = {f"/{stem}{suffix}" for stem in stems for suffix in _SUFFIXES if suffix}
        homes = [
            home
            for path, home in self._by_path.items()
            if path.partition("/")[0] == top and any(f"/{path}".endswith(ending) for ending in endings)
        ]
        shortest = min(homes, key=lambda home: home.path.count("/"), default=None)
        rivals = [home for home in homes if shortest and home.path.count("/") == shortest.path.count("/")]
        return shortest if len(rivals) == 1 else None

    def _is_top(self, home: ProjectModule, name: str, origin: ProjectModule) -> bool:
        """Return whether a module can be imported by a name: its first part stands in no package, or beside the file.

        `import logging` does not mean `app/utils/logging.py`, where `app/utils` is a package.
        """
        folder = posixpath.dirname(home.path.removesuffix("/__init__.py"))
        for _ in range(name.count(".")):
            folder = posixpath.dirname(folder)
        return f"{folder}/__init__.py" not in self._by_path or folder == posixpath.dirname(origin.path) != ""

    @cached_property
    def homes(self) -> Mapping[str, Sequence[ProjectModule]]:
        """Python modules by the names at their top."""
        index: dict[str, list[ProjectModule]] = {}
        for module in self.modules:
            for name in module.bindings if module.is_python else ():
                index.setdefault(name, []).append(module)
        return index

    @cached_property
    def methods(self) -> Mapping[str, Sequence[tuple[ProjectModule, Class, Function]]]:
        """Methods of all classes by their name: what a call on an object of unknown kind may mean."""
        index: dict[str, list[tuple[ProjectModule, Class, Function]]] = {}
        for module, owner in self.classes:
            for name, method in owner.methods.items():
                index.setdefault(name, []).append((module, owner, method))
        return index

    @cached_property
    def classes(self) -> Sequence[tuple[ProjectModule, Class]]:
        """Every class with its module."""
        return [(module, node) for module in self.modules for node in module.tree.nodes if isinstance(node, Class)]


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_empty(value: Binding) -> bool:
    return isinstance(value, Literal) and value.value is None


def last_name(node: SyntaxNode) -> str:
    """Return `tool` of `server.tool`, of `tool` and of a call of them; empty where there is no name."""
    match node:
        case Name(id=name) | Attribute(key=name):
            return name
        case CallSite(function=function):
            return last_name(function)
        case Other(operator=",", parts=[*_, last]):  # (0, boats_1.find)(name)
            return last_name(last)
        case _:
            return ""


def dotted_name(node: SyntaxNode) -> str:
    """Return `server.tool` of that expression and of a call of it; empty where it is more than names."""
    match node:
        case Name(id=name):
            return name
        case Attribute(value=value, key=key):
            owner = dotted_name(value)
            return f"{owner}.{key}" if owner else ""
        case CallSite(function=function):
            return dotted_name(function)
        case _:
            return ""


def bound_names(body: Block) -> dict[str, list[Binding]]:
    """Return what the names of a module or a function are bound to, in conditions and loops, not in inner functions."""
    names: dict[str, list[Binding]] = {}
    for node in _statements(body):
        match node:
            case Function(name=name) | Class(name=name) if name:
                names.setdefault(name, []).append(node)
            case Assign(target=target, value=value):
                for name, bound in targets(target, value):
                    names.setdefault(name, []).append(bound)
            case Import(names=imports):
                for name, origin in imports.items():
                    names.setdefault(name, []).append(origin)
    return names


def targets(target: SyntaxNode, value: SyntaxNode) -> Iterator[tuple[str, SyntaxNode]]:
    """Yield the names that an assignment binds, each with its value as far as it can be told."""
    match target:
        case Name(id=name) | FormalParameter(name=name):
            yield name, value
        case ObjectLiteral(items=items):
            for key, inner in items:
                yield from targets(inner, value if key == "..." else Attribute(line=target.line, value=value, key=key))
        case Collection(values=values):
            listed = value.values if isinstance(value, Collection) and len(value.values) == len(values) else None
            for position, inner in enumerate(values):
                index = Literal(line=target.line, value=position)
                part = listed[position] if listed else Subscript(line=target.line, value=value, key=index)
                yield from targets(inner, part)


def _statements(body: Block) -> Iterator[SyntaxNode]:
    for node in body.statements:
        yield node
        match node:
            case If(body=inner, otherwise=otherwise):
                yield from _statements(inner)
                yield from _statements(otherwise)
            case Loop(body=inner):
                yield from _statements(inner)
            case Try(body=inner, handlers=handlers):
                for block in (inner, *handlers):
                    yield from _statements(block)


@dataclass(eq=False)
class NameScope:
    """Names around a function that was found by searching: of the functions around it, then of the module."""

    module: ProjectModule
    function: Function | None = None
    parent: "NameScope | None" = None
    owner: Class | None = None
    """The class whose method `function` is."""

    cache: dict[str, object] = field(default_factory=dict)

    @cached_property
    def names(self) -> Mapping[str, Sequence[Binding]]:
        """Bindings of the scope's own names."""
        return bound_names(self.function.body) if self.function else self.module.bindings


def scoped(top: NameScope) -> Iterator[tuple[SyntaxNode, NameScope]]:
    """Yield every node of a module with the scope in which it is evaluated."""
    pending: list[tuple[SyntaxNode, NameScope]] = [(top.module.tree.body, top)]
    while pending:
        node, scope = pending.pop()
        yield node, scope
        match node:
            case Function():
                inner = NameScope(module=scope.module, function=node, parent=scope)
                pending.append((node.body, inner))
                pending += [(part, scope) for part in (*node.decorators, *node.parameters)]
            case Class():
                for method in node.methods.values():
                    owner = NameScope(module=scope.module, function=method, parent=scope, owner=node)
                    yield method, NameScope(module=scope.module, parent=scope, owner=node)
                    pending.append((method.body, owner))
                pending += [(part, scope) for part in node.fields.values()]
            case _:
                pending += [(part, scope) for part in reversed(children(node))]
