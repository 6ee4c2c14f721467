"""Where in the source one change goes, or why it goes nowhere."""

import ast
from collections.abc import Mapping, Sequence

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.results.rewrites import Change
from tdqs_mcp.rewriting.python_source.declarations import Code, Declaration
from tdqs_mcp.rewriting.python_source.literals import is_text, text_of
from tdqs_mcp.rewriting.python_source.members import members, with_keyword, with_members
from tdqs_mcp.rewriting.python_source.module import Module, Placed
from tdqs_mcp.rewriting.python_source.slots import described, model_field, parameter
from tdqs_mcp.rewriting.python_source.texts import docstring, new_docstring, replaced


def place(code: Code, tool: str, change: Change) -> Placed | str:  # noqa: PLR0911  # a reason for each
    """The edits that make a change of a tool's definition, or why there are none."""
    found = code.declarations.get(tool, ())
    if not is_text(change.after):
        return "it holds half a character (a lone surrogate), which no text can hold"
    if not found:
        return "no function and no Tool(…) declares it where the source was searched"
    if len(found) > 1:
        return f"it is declared more than once: {', '.join(each.place for each in found[:3])}"
    (declaration,) = found
    match split_pointer(change.path):
        case ["description"]:
            return _description(code, declaration, change)
        case ["title"]:
            return _text(code, declaration, "title", change)
        case ["annotations", *keys]:
            return _annotations(declaration, keys, change)
        case ["inputSchema", *keys]:
            return _schema(code, declaration, keys, change)
    return "no keyword of a declaration says this"


def _text(code: Code, declaration: Declaration, keyword: str, change: Change) -> Placed | str:
    """Another text for a keyword that is there."""
    node = declaration.keyword(keyword)
    if node is None:
        return f"its declaration has no {keyword}="
    return replaced(code, declaration.module, node, change)


def _description(code: Code, declaration: Declaration, change: Change) -> Placed | str:
    if declaration.keyword("description") is not None:
        return _text(code, declaration, "description", change)
    function = declaration.function
    if function is None:
        return with_keyword(declaration.module, declaration.call, "description", change.after)
    if code.is_shared(function):
        return "its function serves several tools"
    first = function.body[0]
    if isinstance(first, ast.Expr) and text_of(first.value) is not None:
        return docstring(declaration.home, first.value, change)
    return new_docstring(declaration.home, function, change)


def _annotations(declaration: Declaration, keys: Sequence[str], change: Change) -> Placed | str:
    """Hints in `annotations=`, where that names them on the spot."""
    node = declaration.keyword("annotations")
    if node is None:
        return "its declaration has no annotations="
    if not isinstance(node, ast.Call | ast.Dict):
        return "its annotations= is computed"
    if keys:
        after: Mapping[str, object] = {keys[0]: change.after}
    else:
        before = change.before if isinstance(change.before, dict) else {}
        given = change.after if isinstance(change.after, dict) else {}
        after = {key: value for key, value in given.items() if key not in before or before[key] != value}
    return with_members(declaration.module, node, after)


def _schema(  # noqa: PLR0911
    code: Code, declaration: Declaration, keys: Sequence[str], change: Change
) -> Placed | str:
    """A member of the input schema: in a literal, or the description of a parameter or a model's field."""
    given = declaration.keyword("inputSchema", "input_schema") if declaration.function is None else None
    if isinstance(given, ast.Dict):
        return _in_literal(code, declaration.module, given, keys, change)
    match keys:
        case ["properties", name, "description"]:
            pass
        case _:
            return "only the type of its parameter can say this"
    if declaration.function is not None:
        if code.is_shared(declaration.function):
            return "its function serves several tools"
        return described(code, declaration.home, parameter(declaration.function, name), change)
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "model_json_schema":
        model = code.resolve(declaration.module, given.func.value)
        if model and isinstance(model[1], ast.ClassDef) and _is_only_use(model[0], model[1].name):
            return described(code, model[0], model_field(model[1], name), change)
        return "its model serves several tools or stands elsewhere"
    return "its input schema is computed"


def _is_only_use(module: Module, name: str) -> bool:
    """Whether one schema is made of a model; other uses of it read what they get."""
    made = (
        node
        for node in module.nodes
        if isinstance(node, ast.Attribute)
        and node.attr == "model_json_schema"
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )
    return len(list(made)) <= 1


def _in_literal(code: Code, module: Module, node: ast.Dict, keys: Sequence[str], change: Change) -> Placed | str:
    for key in keys[:-1]:
        inner = members(node).get(key)
        if not isinstance(inner, ast.Dict):
            return "its input schema is computed" if inner else "its input schema has no place for it"
        node = inner
    if isinstance(change.after, str) and keys[-1] in members(node):
        return replaced(code, module, members(node)[keys[-1]], change)
    return with_members(module, node, {keys[-1]: change.after})
