"""Counts names and docstrings that say nothing, and fails where there are any or a class name is taken.

A pronoun or a participle that could be anything (`each`, `found`) names nothing; a docstring begins with a verb or the
noun that comes back. Fields of results are names of published JSON, and free. A class name stands in one module.
"""

import ast
import sys
from collections import Counter
from pathlib import Path

PRONOUNS = frozenset(
    "each every found said known told given some one ones mine theirs ours it that this them they what who such those "
    "these another others got had made seen done asked wanted taken kept shown held".split()
)
OPENINGS = ("What ", "One ", "Whether ", "The same ")


def main() -> int:
    """Print the figures of each package and return the exit code."""
    source = Path(__file__).parents[1] / "src" / "tdqs_mcp"
    pronouns: Counter[str] = Counter()
    openings: Counter[str] = Counter()
    comments: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for path in sorted(source.rglob("*.py")):
        package = path.relative_to(source).parts[0]
        text = path.read_text(encoding="utf-8")
        module = ast.parse(text)
        nodes = list(ast.walk(module))
        classes.update(node.name for node in module.body if isinstance(node, ast.ClassDef))
        pronouns[package] += 0 if package == "results" else sum(_binding(node) in PRONOUNS for node in nodes)
        openings[package] += sum(_docstring(node).startswith(OPENINGS) for node in nodes)
        comments[package] += sum(line.lstrip().startswith("# ") for line in text.splitlines())
        lines[package] += text.count("\n")
    for package, count in sorted(lines.items()):
        figures = f"{pronouns[package]:4} pronouns {openings[package]:4} openings {comments[package]:4} comments"
        sys.stdout.write(f"{package:16} {count:6} lines {figures}\n")
    repeated = sorted(name for name, count in classes.items() if count > 1)
    is_met = not (pronouns.total() or openings.total() or repeated)
    totals = f"{pronouns.total()} pronouns, {openings.total()} openings"
    sys.stdout.write(f"{totals}; class names in several modules: {', '.join(repeated) or 'none'}\n")
    return 0 if is_met else 1


def _binding(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.arg if isinstance(node, ast.arg) else None


def _docstring(node: ast.AST) -> str:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    return ast.get_docstring(node) or ""


if __name__ == "__main__":
    sys.exit(main())
