"""A Python file as text and tree, and what one change edits in it."""

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tdqs_mcp.rewriting.text_patches import Edit
from tdqs_mcp.sources.files import SourceFile

Function = ast.FunctionDef | ast.AsyncFunctionDef

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)
"""What a file raises that is no Python of this interpreter or too deep for it; LookupError is an unknown encoding."""

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

    @cached_property
    def last_import(self) -> int | None:
        """The last line of the imports that stand before the first function and class."""
        last = None
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                last = node.end_lineno
            elif isinstance(node, Function | ast.ClassDef):
                break
        return last


def parse(text: str) -> ast.Module:
    """The tree of a file, without the warnings that its author has seen already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Edits that make one change."""

    module: Module
    edits: tuple[Edit, ...]
    imports: tuple[str, ...] = ()
    """Names of `slots.HOMES` that the edits need."""


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
