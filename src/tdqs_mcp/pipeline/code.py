"""Rewritten definitions as edits of the Python source that they come from: docstrings, keywords, Field descriptions."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from tdqs_mcp.facts.shape import pointed
from tdqs_mcp.model.rewrites import Change, Rewrite
from tdqs_mcp.pipeline.declarations import Code, Declaration, Function, Module, parse
from tdqs_mcp.pipeline.literals import Spelling, is_text, literal, string, text_of
from tdqs_mcp.pipeline.patch import Edit, LeftOut, Patch, edited, unified
from tdqs_mcp.sources.code import SourceFile

_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)
"""What a file raises that is no Python of this interpreter or too deep for it; LookupError is an unknown encoding."""

_HOMES = {"Annotated": ("typing", "typing_extensions"), "Field": ("pydantic",)}
"""Where the names of a described parameter come from; the first is imported where none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """Edits that make one change."""

    module: Module
    edits: tuple[Edit, ...]
    imports: tuple[str, ...] = ()
    """Names of `_HOMES` that the edits need."""


def patch_code(files: Sequence[SourceFile], rewrites: Sequence[Rewrite]) -> Patch:
    """The patch of a server's Python files. Whatever is not certain to be a definition's only source is left out."""
    modules, problems = _read(files)
    code = Code(modules)
    declarations = code.declarations()
    uses = Counter(id(each.function) for found in declarations.values() for each in found if each.function)
    placed: list[tuple[LeftOut, _Placed]] = []
    left_out: list[LeftOut] = []
    for rewrite in rewrites:
        for change in rewrite.changes:
            outcome = _place(code, declarations.get(rewrite.name, []), change, uses=uses)
            entry = LeftOut(tool=rewrite.name, path=change.path, reason=outcome if isinstance(outcome, str) else "")
            if isinstance(outcome, str):
                left_out.append(entry)
            else:
                placed.append((entry, outcome))
    agreed, disputed = _agreed(placed)
    diffs, broken = [], []
    for module in modules:
        mine = [(entry, each) for entry, each in agreed if each.module is module]
        diff = _diff(module, [each for _, each in mine])
        if diff is None:
            broken += [replace(entry, reason="the patched file would not parse") for entry, _ in mine]
        else:
            diffs.append(diff)
    return Patch(
        diff=b"".join(diffs),
        made=len(agreed) - len(broken),
        left_out=(*left_out, *disputed, *broken),
        problems=tuple(problems),
    )


def _read(files: Sequence[SourceFile]) -> tuple[list[Module], list[str]]:
    modules, problems = [], []
    for file in files:
        try:
            modules.append(Module(file))
        except _UNPARSABLE as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            problems.append(f"{file.name!r} does not parse with this version of Python{line}")
    return modules, problems


def _agreed(placed: Sequence[tuple[LeftOut, _Placed]]) -> tuple[list[tuple[LeftOut, _Placed]], list[LeftOut]]:
    """What can be done together, and the changes that want different words in one place."""
    wanted: dict[tuple[int, int], set[str]] = {}
    for _, each in placed:
        for edit in each.edits:
            if edit.start < edit.end:
                wanted.setdefault((id(each.module), edit.start), set()).add(edit.text)
    agreed, disputed = [], []
    for entry, each in placed:
        if any(len(wanted.get((id(each.module), edit.start), ())) > 1 for edit in each.edits):
            disputed.append(replace(entry, reason="another tool shares this text and needs other words"))
        else:
            agreed.append((entry, each))
    return agreed, disputed


def _diff(module: Module, placed: Sequence[_Placed]) -> bytes | None:
    """One file's part of the patch; None where the result would be no Python."""
    edits = list(dict.fromkeys(edit for each in placed for edit in each.edits))
    needed = {name for each in placed for name in each.imports}
    if needed:
        at = module.line_end(_last_import(module) or 1)
        lines = (f"{module.newline}from {_HOMES[name][0]} import {name}" for name in sorted(needed))
        edits.append(Edit(start=at, end=at, text="".join(lines)))
    edits = sorted(edits, key=attrgetter("start", "end"))
    try:
        parse(edited(module.text, edits))
    except _UNPARSABLE:
        return None
    mark = len(module.mark)
    shifted = [Edit(start=mark + each.start, end=mark + each.end, text=each.text) for each in edits]
    return unified(module.mark + module.text, shifted, name=module.name).encode(_codec(module))


def _codec(module: Module) -> str:
    return "utf-8" if module.encoding == "utf-8-sig" else module.encoding


def _place(  # noqa: PLR0911  # a reason for each
    code: Code, found: Sequence[Declaration], change: Change, *, uses: Mapping[int, int]
) -> _Placed | str:
    """The edits that make a change, or why there are none."""
    if not is_text(change.after):
        return "it holds half a character (a lone surrogate), which no text can hold"
    if not found:
        return "no function and no Tool(…) declares it where the source was searched"
    if len(found) > 1:
        return f"it is declared more than once: {', '.join(each.place for each in found[:3])}"
    (declaration,) = found
    match pointed(change.path):
        case ["description"]:
            return _description(code, declaration, change, uses=uses)
        case ["title"]:
            return _text(code, declaration, "title", change)
        case ["annotations", *keys]:
            return _annotations(declaration, keys, change)
        case ["inputSchema", *keys]:
            return _schema(code, declaration, keys, change, uses=uses)
    return "no keyword of a declaration says this"


def _text(code: Code, declaration: Declaration, keyword: str, change: Change) -> _Placed | str:
    """Another text for a keyword that is there."""
    node = declaration.keyword(keyword)
    if node is None:
        return f"its declaration has no {keyword}="
    return _replaced(code, declaration.module, node, change)


def _description(code: Code, declaration: Declaration, change: Change, *, uses: Mapping[int, int]) -> _Placed | str:
    if declaration.keyword("description") is not None:
        return _text(code, declaration, "description", change)
    function = declaration.function
    if function is None:
        return _with_keyword(declaration.module, declaration.call, "description", change.after)
    if uses[id(function)] > 1:
        return "its function serves several tools"
    first = function.body[0]
    if isinstance(first, ast.Expr) and text_of(first.value) is not None:
        return _docstring(declaration.home, first.value, change)
    return _new_docstring(declaration.home, function, change)


def _docstring(module: Module, node: ast.expr, change: Change) -> _Placed | str:
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
    return _Placed(module=module, edits=(_string_edit(module, node, f"{old[:outer]}{new}{tail}", spelling),))


def _new_docstring(module: Module, function: Function, change: Change) -> _Placed | str:
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
    return _Placed(module=module, edits=(Edit(start=at, end=at, text=f"{margin}{text}{module.newline}"),))


def _annotations(declaration: Declaration, keys: Sequence[str], change: Change) -> _Placed | str:
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
    return _with_members(declaration.module, node, after)


def _schema(  # noqa: PLR0911
    code: Code, declaration: Declaration, keys: Sequence[str], change: Change, *, uses: Mapping[int, int]
) -> _Placed | str:
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
        if uses[id(declaration.function)] > 1:
            return "its function serves several tools"
        return _described(code, declaration.home, _parameter(declaration.function, name), change)
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "model_json_schema":
        model = code.resolve(declaration.module, given.func.value)
        if model and isinstance(model[1], ast.ClassDef) and _is_only_use(model[0], model[1].name):
            return _described(code, model[0], _model_field(model[1], name), change)
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


def _in_literal(code: Code, module: Module, node: ast.Dict, keys: Sequence[str], change: Change) -> _Placed | str:
    for key in keys[:-1]:
        inner = _members(node).get(key)
        if not isinstance(inner, ast.Dict):
            return "its input schema is computed" if inner else "its input schema has no place for it"
        node = inner
    if isinstance(change.after, str) and keys[-1] in _members(node):
        return _replaced(code, module, _members(node)[keys[-1]], change)
    return _with_members(module, node, {keys[-1]: change.after})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """A parameter of a function or a field of a model."""

    annotation: ast.expr | None
    default: ast.expr | None


def _parameter(function: Function, name: str) -> _Slot | None:
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    defaults = [*([None] * (len(listed) - len(given.defaults))), *given.defaults]
    pairs = [*zip(listed, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    slots = {argument.arg: _Slot(annotation=argument.annotation, default=default) for argument, default in pairs}
    return _aliased(slots, name)


def _model_field(model: ast.ClassDef, name: str) -> _Slot | None:
    fields = {
        each.target.id: _Slot(annotation=each.annotation, default=each.value)
        for each in model.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    return _aliased(fields, name)


def _aliased(slots: Mapping[str, _Slot], name: str) -> _Slot | None:
    """The slot that a schema calls by this name."""
    for slot in slots.values():
        aliases = [each.value for field in _fields(slot) for each in field.keywords if each.arg == "alias"]
        if name in map(text_of, aliases):
            return slot
    return slots.get(name)


def _described(  # noqa: PLR0911
    code: Code, module: Module, slot: _Slot | None, change: Change
) -> _Placed | str:
    """The slot's description: another text for one that is there, else a keyword of its Field, else a Field."""
    if slot is None or slot.annotation is None:
        return "its parameter has no type annotation to stand beside" if slot else "no parameter has this name"
    fields = _fields(slot)
    for field in fields:
        for keyword in field.keywords:
            if keyword.arg == "description":
                return _replaced(code, module, keyword.value, change)
    notes = [each for each in _metadata(slot.annotation) if text_of(each) is not None]
    if change.before is not None:
        said = [each for each in notes if _same(text_of(each), change.before)]
        return _replaced(code, module, said[0], change) if said else "its words come from elsewhere"
    if fields:
        return _with_keyword(module, fields[0], "description", change.after)
    if isinstance(slot.annotation, ast.Constant):
        return "its type annotation is a text"
    names = _spelled(module)
    if isinstance(names, str):
        return names
    text = string(str(change.after), Spelling(encoding=module.encoding))
    field_text = f"{names['Field']}(description={text})"
    imports = tuple(name for name in _HOMES if names[name] == name and name not in module.imports)
    if _metadata(slot.annotation):
        end = module.end(_metadata(slot.annotation)[-1])
        return _Placed(module=module, edits=(Edit(start=end, end=end, text=f", {field_text}"),), imports=imports)
    start, end = module.start(slot.annotation), module.end(slot.annotation)
    edits = (
        Edit(start=start, end=start, text=f"{names['Annotated']}["),
        Edit(start=end, end=end, text=f", {field_text}]"),
    )
    return _Placed(module=module, edits=edits, imports=imports)


def _spelled(module: Module) -> dict[str, str] | str:
    """How the file calls Annotated and Field, or would; the reason where it cannot be known."""
    names = {}
    for name, homes in _HOMES.items():
        direct = [ours for ours, (home, theirs) in module.imports.items() if home in homes and theirs == name]
        whole = [f"{ours}.{name}" for ours, (home, theirs) in module.imports.items() if home in homes and not theirs]
        if direct or whole:
            names[name] = [*direct, *whole][0]
            continue
        if module.bound[name] or _last_import(module) is None:
            return f"{name} cannot be imported there without a risk"
        names[name] = name
    return names


def _last_import(module: Module) -> int | None:
    """The last line of the imports that stand before the first function and class."""
    last = None
    for node in module.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            last = node.end_lineno
        elif isinstance(node, Function | ast.ClassDef):
            break
    return last


def _metadata(annotation: ast.expr | None) -> list[ast.expr]:
    """What stands behind the type in `Annotated[…]`."""
    match annotation:
        case ast.Subscript(value=ast.Name(id="Annotated") | ast.Attribute(attr="Annotated"), slice=ast.Tuple(elts=all)):
            return all[1:]
    return []


def _fields(slot: _Slot) -> list[ast.Call]:
    given = [*_metadata(slot.annotation), slot.default]
    return [
        each
        for each in given
        if isinstance(each, ast.Call)
        and (each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")) == "Field"
    ]


def _members(node: ast.Call | ast.Dict) -> dict[str, ast.expr]:
    if isinstance(node, ast.Call):
        return {each.arg: each.value for each in node.keywords if each.arg}
    return {text_of(key) or "": value for key, value in zip(node.keys, node.values, strict=True)}


def _with_members(module: Module, node: ast.Call | ast.Dict, after: Mapping[str, object]) -> _Placed | str:
    """The members of a call or a literal with other values, new ones behind the last."""
    if isinstance(node, ast.Call) and any(each.arg is None for each in node.keywords):
        return "its call takes keywords from elsewhere"
    known = _members(node)
    is_snake = isinstance(node, ast.Call) and any("_" in each for each in known)
    edits: list[Edit] = []
    added: list[str] = []
    for key, value in after.items():
        name = re.sub("(?=[A-Z])", "_", key).lower() if is_snake else key
        if name in known:
            if not isinstance(known[name], ast.Constant):
                return "its value is computed"
            spelling = Spelling.of(module.source(known[name]), encoding=module.encoding)
            edits.append(
                Edit(start=module.start(known[name]), end=module.end(known[name]), text=literal(value, spelling))
            )
        else:
            spelling = Spelling(encoding=module.encoding)
            sign = f"{name}=" if isinstance(node, ast.Call) else f"{string(name, spelling)}: "
            added.append(sign + literal(value, spelling))
    return _Placed(module=module, edits=(*edits, *_appended(module, node, added)))


def _with_keyword(module: Module, call: ast.Call | None, keyword: str, value: object) -> _Placed | str:
    if call is None:
        return f"its declaration has no {keyword}="
    return _with_members(module, call, {keyword: value})


def _appended(module: Module, node: ast.Call | ast.Dict, items: Sequence[str]) -> Iterator[Edit]:
    """Items behind the last one, on lines of their own where the closing bracket has one."""
    if not items:
        return
    close = module.end(node) - 1
    ends = [module.end(each) for each in _entries(node)]
    if not ends:
        yield Edit(start=close, end=close, text=", ".join(items))
        return
    gap = module.text[max(ends) : close]
    code = re.sub(r"#[^\n]*", lambda found: " " * len(found[0]), gap)
    at = max(ends) + len(code.rstrip().rstrip("\\").rstrip())
    has_comma = code.rstrip().endswith(",")
    if "\n" not in gap:
        yield Edit(start=at, end=at, text=f"{'' if has_comma else ','} {', '.join(items)}")
        return
    if not has_comma:
        yield Edit(start=at, end=at, text=",")
    line = module.line_of(at)
    lead = f"{module.newline}{module.indent(_line_of(node))}"
    end = module.line_end(line)
    yield Edit(start=end, end=end, text="".join(f"{lead}{item}," for item in items))


def _entries(node: ast.Call | ast.Dict) -> list[ast.expr]:
    return [*node.args, *(each.value for each in node.keywords)] if isinstance(node, ast.Call) else list(node.values)


def _line_of(node: ast.Call | ast.Dict) -> int:
    """The line on which the last entry begins."""
    starts: Iterable[ast.expr | ast.keyword | None]
    starts = [*node.args, *node.keywords] if isinstance(node, ast.Call) else node.keys
    lines = [each.lineno for each in starts if each is not None]
    return max(lines, default=node.lineno)


def _replaced(code: Code, module: Module, node: ast.expr, change: Change) -> _Placed | str:
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
    return _Placed(module=module, edits=(_string_edit(module, node, str(change.after), spelling),))


def _refused(module: Module, node: ast.expr, change: Change) -> str | None:
    """Why a text must stay: it is computed, not what the server says, or holds a comment."""
    if isinstance(node, ast.JoinedStr):
        return "its text is an f-string"
    old = text_of(node)
    if old is None:
        return "its text is computed"
    if not _same(old, change.before):
        return "the source says something else than the server; is it the same version?"
    tokens = tokenize.generate_tokens(io.StringIO(f"({module.source(node)})").readline)
    return "a comment stands between its pieces" if any(each.type == tokenize.COMMENT for each in tokens) else None


def _string_edit(module: Module, node: ast.expr, value: str, spelling: Spelling) -> Edit:
    text = string(value, spelling)
    return Edit(start=module.start(node), end=module.end(node), text=text.replace("\n", module.newline))


def _same(old: str | None, before: object) -> bool:
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
