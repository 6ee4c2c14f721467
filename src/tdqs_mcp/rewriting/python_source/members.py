"""Keywords of a call and members of a literal, with other values or new ones."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tdqs_mcp.rewriting.python_source.literals import Spelling, literal, string, text_of
from tdqs_mcp.rewriting.python_source.module import Module, Placed
from tdqs_mcp.rewriting.text_patches import Edit


def members(node: ast.Call | ast.Dict) -> dict[str, ast.expr]:
    """What they are, by name."""
    if isinstance(node, ast.Call):
        return {each.arg: each.value for each in node.keywords if each.arg}
    return {text_of(key) or "": value for key, value in zip(node.keys, node.values, strict=True)}


def with_members(module: Module, node: ast.Call | ast.Dict, after: Mapping[str, object]) -> Placed | str:
    """The members of a call or a literal with other values, new ones behind the last."""
    if isinstance(node, ast.Call) and any(each.arg is None for each in node.keywords):
        return "its call takes keywords from elsewhere"
    known = members(node)
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
    return Placed(module=module, edits=(*edits, *_appended(module, node, added)))


def with_keyword(module: Module, call: ast.Call | None, keyword: str, value: object) -> Placed | str:
    """The same for one keyword."""
    if call is None:
        return f"its declaration has no {keyword}="
    return with_members(module, call, {keyword: value})


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
