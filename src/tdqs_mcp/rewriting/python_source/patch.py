"""All changes of a server's rewrites as one patch of its Python files."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from tdqs_mcp.results.rewrites import Rewrite
from tdqs_mcp.rewriting.python_source.declarations import Code
from tdqs_mcp.rewriting.python_source.module import UNPARSABLE, Module, Placed, parse
from tdqs_mcp.rewriting.python_source.placement import place
from tdqs_mcp.rewriting.python_source.slots import HOMES
from tdqs_mcp.rewriting.text_patches import Edit, LeftOut, Patch, edited, unified
from tdqs_mcp.sources.files import SourceFile


def patch_code(files: Sequence[SourceFile], rewrites: Sequence[Rewrite]) -> Patch:
    """The patch of a server's Python files. Whatever is not certain to be a definition's only source is left out."""
    modules, problems = _read(files)
    placed, left_out = _placed(Code(modules), rewrites)
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
        except UNPARSABLE as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            problems.append(f"{file.name!r} does not parse with this version of Python{line}")
    return modules, problems


def _placed(code: Code, rewrites: Sequence[Rewrite]) -> tuple[list[tuple[LeftOut, Placed]], list[LeftOut]]:
    """The changes with their edits, each with its entry should it be left out yet; and those that have no place."""
    placed, left_out = [], []
    for rewrite in rewrites:
        for change in rewrite.changes:
            outcome = place(code, rewrite.name, change)
            entry = LeftOut(tool=rewrite.name, path=change.path, reason=outcome if isinstance(outcome, str) else "")
            if isinstance(outcome, str):
                left_out.append(entry)
            else:
                placed.append((entry, outcome))
    return placed, left_out


def _agreed(placed: Sequence[tuple[LeftOut, Placed]]) -> tuple[list[tuple[LeftOut, Placed]], list[LeftOut]]:
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


def _diff(module: Module, placed: Sequence[Placed]) -> bytes | None:
    """One file's part of the patch; None where the result would be no Python."""
    edits = list(dict.fromkeys(edit for each in placed for edit in each.edits))
    needed = {name for each in placed for name in each.imports}
    if needed:
        at = module.line_end(module.last_import or 1)
        lines = (f"{module.newline}from {HOMES[name][0]} import {name}" for name in sorted(needed))
        edits.append(Edit(start=at, end=at, text="".join(lines)))
    edits = sorted(edits, key=attrgetter("start", "end"))
    try:
        parse(edited(module.text, edits))
    except UNPARSABLE:
        return None
    mark = len(module.mark)
    shifted = [Edit(start=mark + each.start, end=mark + each.end, text=each.text) for each in edits]
    return unified(module.mark + module.text, shifted, name=module.name).encode(_codec(module))


def _codec(module: Module) -> str:
    return "utf-8" if module.encoding == "utf-8-sig" else module.encoding
