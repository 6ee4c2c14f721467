"""A text of the source for another, at its place, its margin and between its own quotes."""

import ast
import io
import tokenize
from dataclasses import replace

from tdqs_mcp.results.rewrites import Change
from tdqs_mcp.rewriting.python_source.declarations import Code
from tdqs_mcp.rewriting.python_source.literals import Spelling, string, text_of
from tdqs_mcp.rewriting.python_source.module import Function, Module, Placed
from tdqs_mcp.rewriting.text_patches import Edit


def replaced(code: Code, module: Module, node: ast.expr, change: Change) -> Placed | str:
    """A text for another, in the place where the first one stands."""
    if isinstance(node, ast.Name | ast.Attribute):
        found = code.resolve(module, node)
        name = node.id if isinstance(node, ast.Name) else ""
        if found is None or not isinstance(found[1], ast.expr) or code.uses(name) != 1:
            return "its text has a name that may be used elsewhere"
        module, node = found[0], found[1]
    if reason := _refused(module, node, change):
        return reason
    spelling = Spelling.of(module.source(node), encoding=module.encoding)
    return Placed(module=module, edits=(_string_edit(module, node, str(change.after), spelling),))


def docstring(module: Module, node: ast.expr, change: Change) -> Placed | str:
    """The docstring's words for new ones, at its margin and between its own quotes."""
    old = text_of(node) or ""
    if reason := _refused(module, node, change):
        return reason
    margin = _margin(old) or module.indent(node.lineno)
    new = _indented(str(change.after), margin, without=_margin(str(change.before or "")))
    outer = len(old) - len(old.lstrip())
    tail = old[len(old.rstrip()) :] if old.strip() else ""
    spelling = Spelling.of(module.source(node), encoding=module.encoding)
    if "\n" in new and not spelling.is_long:
        spelling = replace(spelling, quote=spelling.quote * 3)
    return Placed(module=module, edits=(_string_edit(module, node, f"{old[:outer]}{new}{tail}", spelling),))


def new_docstring(module: Module, function: Function, change: Change) -> Placed | str:
    """A docstring for a function that has none."""
    if change.before:
        return "its function has no docstring, so its words come from elsewhere"
    first = function.body[0]
    line = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))])
    at, margin = module.line_start(line), module.indent(line)
    if module.text[at : module.start(first)].strip(" \t") not in ("", "@"):
        return "its function stands on one line"
    text = string(
        _indented(str(change.after), margin, without=""), Spelling(quote='"""', encoding=module.encoding)
    ).replace("\n", module.newline)
    return Placed(module=module, edits=(Edit(start=at, end=at, text=f"{margin}{text}{module.newline}"),))


def _refused(module: Module, node: ast.expr, change: Change) -> str | None:
    """Why a text must stay: it is computed, not what the server says, or holds a comment."""
    if isinstance(node, ast.JoinedStr):
        return "its text is an f-string"
    old = text_of(node)
    if old is None:
        return "its text is computed"
    if not same(old, change.before):
        return "the source says something else than the server; is it the same version?"
    tokens = tokenize.generate_tokens(io.StringIO(f"({module.source(node)})").readline)
    return "a comment stands between its pieces" if any(each.type == tokenize.COMMENT for each in tokens) else None


def _string_edit(module: Module, node: ast.expr, value: str, spelling: Spelling) -> Edit:
    text = string(value, spelling)
    return Edit(start=module.start(node), end=module.end(node), text=text.replace("\n", module.newline))


def same(old: str | None, before: object) -> bool:
    """Equal up to the white space around lines: some frameworks take a docstring's indentation away."""
    return isinstance(before, str | None) and _lines(old or "") == _lines(before or "")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def _margin(text: str) -> str:
    """What all lines but the first begin with, as `inspect.cleandoc` counts it."""
    later = [line for line in text.split("\n")[1:] if line.strip()]
    if not later:
        return ""
    shortest = min(later, key=lambda line: len(line) - len(line.lstrip()))
    return shortest[: len(shortest) - len(shortest.lstrip())]


def _indented(text: str, margin: str, *, without: str) -> str:
    """The text with all lines but the first at a margin, in place of the one that they may have."""
    first, *later = text.strip().split("\n")
    shown = (line.removeprefix(without) for line in later)
    return "\n".join([first, *(f"{margin}{line}" if line.strip() else "" for line in shown)])
