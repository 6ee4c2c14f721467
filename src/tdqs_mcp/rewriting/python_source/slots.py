"""Descriptions of a function's parameters and of a model's fields: `Annotated`, `Field`, a text beside the type."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from tdqs_mcp.results.rewrites import Change
from tdqs_mcp.rewriting.python_source.declarations import Code
from tdqs_mcp.rewriting.python_source.literals import Spelling, string, text_of
from tdqs_mcp.rewriting.python_source.members import with_keyword
from tdqs_mcp.rewriting.python_source.module import Function, Module, Placed
from tdqs_mcp.rewriting.python_source.texts import replaced, same
from tdqs_mcp.rewriting.text_patches import Edit

HOMES = {"Annotated": ("typing", "typing_extensions"), "Field": ("pydantic",)}
"""Where the names of a described parameter come from; the first is imported where none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A parameter of a function or a field of a model."""

    annotation: ast.expr | None
    default: ast.expr | None


def parameter(function: Function, name: str) -> Slot | None:
    """The parameter that the schema calls by this name."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    defaults = [*([None] * (len(listed) - len(given.defaults))), *given.defaults]
    pairs = [*zip(listed, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    slots = {argument.arg: Slot(annotation=argument.annotation, default=default) for argument, default in pairs}
    return _aliased(slots, name)


def model_field(model: ast.ClassDef, name: str) -> Slot | None:
    """The same of a model's fields."""
    fields = {
        each.target.id: Slot(annotation=each.annotation, default=each.value)
        for each in model.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    return _aliased(fields, name)


def _aliased(slots: Mapping[str, Slot], name: str) -> Slot | None:
    """The slot that a schema calls by this name."""
    for slot in slots.values():
        aliases = [each.value for field in _fields(slot) for each in field.keywords if each.arg == "alias"]
        if name in map(text_of, aliases):
            return slot
    return slots.get(name)


def described(code: Code, module: Module, slot: Slot | None, change: Change) -> Placed | str:
    """The slot's description: another text for one that is there, else a keyword of its Field, else a Field."""
    if slot is None or slot.annotation is None:
        return "its parameter has no type annotation to stand beside" if slot else "no parameter has this name"
    fields = _fields(slot)
    for field in fields:
        for keyword in field.keywords:
            if keyword.arg == "description":
                return replaced(code, module, keyword.value, change)
    notes = [each for each in _metadata(slot.annotation) if text_of(each) is not None]
    if change.before is not None:
        said = [each for each in notes if same(text_of(each), change.before)]
        return replaced(code, module, said[0], change) if said else "its words come from elsewhere"
    if fields:
        return with_keyword(module, fields[0], "description", change.after)
    if isinstance(slot.annotation, ast.Constant):
        return "its type annotation is a text"
    return _with_field(module, slot.annotation, str(change.after))


def _with_field(module: Module, annotation: ast.expr, text: str) -> Placed | str:
    """The type with a Field beside it."""
    names = _spelled(module)
    if isinstance(names, str):
        return names
    field = f"{names['Field']}(description={string(text, Spelling(encoding=module.encoding))})"
    imports = tuple(name for name in HOMES if names[name] == name and name not in module.imports)
    if metadata := _metadata(annotation):
        end = module.end(metadata[-1])
        return Placed(module=module, edits=(Edit(start=end, end=end, text=f", {field}"),), imports=imports)
    start, end = module.start(annotation), module.end(annotation)
    edits = (
        Edit(start=start, end=start, text=f"{names['Annotated']}["),
        Edit(start=end, end=end, text=f", {field}]"),
    )
    return Placed(module=module, edits=edits, imports=imports)


def _spelled(module: Module) -> dict[str, str] | str:
    """How the file calls Annotated and Field, or would; the reason where it cannot be known."""
    names = {}
    for name, homes in HOMES.items():
        direct = [ours for ours, (home, theirs) in module.imports.items() if home in homes and theirs == name]
        whole = [f"{ours}.{name}" for ours, (home, theirs) in module.imports.items() if home in homes and not theirs]
        if direct or whole:
            names[name] = [*direct, *whole][0]
            continue
        if module.bound[name] or module.last_import is None:
            return f"{name} cannot be imported there without a risk"
        names[name] = name
    return names


def _metadata(annotation: ast.expr | None) -> list[ast.expr]:
    """What stands behind the type in `Annotated[…]`."""
    match annotation:
        case ast.Subscript(value=ast.Name(id="Annotated") | ast.Attribute(attr="Annotated"), slice=ast.Tuple(elts=all)):
            return all[1:]
    return []


def _fields(slot: Slot) -> list[ast.Call]:
    given = [*_metadata(slot.annotation), slot.default]
    return [
        each
        for each in given
        if isinstance(each, ast.Call)
        and (each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")) == "Field"
    ]
