"""Injects faults into copies of servers' code and counts which the rules of lane 8 find.

    .venv/bin/python calibration/injected_faults.py FOLDER... [--missed] [--keep FOLDER]

A FOLDER is an unpacked package, which is never run. The faults: a write 1 to 4 calls below the handler of a tool whose
hint says that it only reads; a parameter that nothing uses; an author's own hint turned round. Where a tool's handler
is not found, nothing can be injected; the figures are about the others.
"""

import ast
import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.code.reading import read_code
from tdqs_mcp.results.tool_code import CodeReport, ToolCode
from tdqs_mcp.rules import registry

DEPTHS = (1, 2, 3, 4)
UNUSED = "obsolete_filter"
PER_KIND = 2
"""Faults of a kind in one package: more of one package say less than other packages."""

MAX_LINE = 2_000
CONSTANT = '"entries.txt"'
"""Value that is written where a tool takes nothing."""

FLIPS = {("readOnlyHint", False): "TDQ801", ("destructiveHint", True): "TDQ802", ("openWorldHint", True): "TDQ803"}
"""Hints that are turned round, with the value that the author gave, and the rule that should say so."""

PYTHON_WRITES = (
    'with open({value}, "w") as stream:\n{indent}    stream.write("x")',
    'import pathlib\n{indent}pathlib.Path({value}).write_text("x")',
    "import os\n{indent}os.remove({value})",
    'import sqlite3\n{indent}sqlite3.connect("e.db").execute("DELETE FROM entries WHERE name = ?", ({value},))',
    'import subprocess\n{indent}subprocess.run(["rm", "-rf", {value}])',
    "import shutil\n{indent}shutil.rmtree({value})",
)
SCRIPT_WRITES = (
    'injectedFs.writeFileSync({value}, "x");',
    "injectedFs.unlinkSync({value});",
    'injectedFs.promises.appendFile({value}, "x");',
    'injectedProcess.execSync("rm -rf " + {value});',
    "injectedFs.rmSync({value}, {{ recursive: true }});",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault that a rule should find."""

    kind: str
    tool: str
    rule: str
    path: str
    """JSON pointer of the finding."""

    mark: str = ""
    """Function that has the injected write."""


@dataclass(slots=True)
class Edits:
    """Insertions into the files of a copy, applied from the last line to the first."""

    root: Path
    insertions: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    appended: dict[str, list[str]] = field(default_factory=dict)

    calls: dict[str, str] = field(default_factory=dict)
    """Statements that call injected writes, by the function that writes."""

    def lines(self, file: str) -> list[str]:
        """Return a file's lines as they are before the edits."""
        return (self.root / file).read_text(encoding="utf-8", errors="replace").split("\n")

    def insert(self, file: str, before: int, text: str) -> None:
        """Insert a text before a line, counted from 1."""
        self.insertions.setdefault(file, []).append((before, text))

    def append(self, file: str, text: str) -> None:
        """Append a text to a file, which need not exist."""
        self.appended.setdefault(file, []).append(text)

    def apply(self) -> None:
        """Write all of them."""
        for file in self.insertions.keys() | self.appended.keys():
            lines = self.lines(file) if (self.root / file).exists() else []
            for before, text in sorted(self.insertions.get(file, []), reverse=True):
                lines.insert(before - 1, text)
            (self.root / file).write_text("\n".join([*lines, *self.appended.get(file, []), ""]), encoding="utf-8")


def inject(folder: Path, copy: Path) -> tuple[dict[str, Any], list[Fault]]:
    """Return the definitions of a copy with faults, and the faults."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("node_modules", ".git"))
    report, edits = read_code(folder), Edits(copy)
    chance = random.Random(folder.name)  # noqa: S311  # the same faults in each run
    tools = [tool for tool in report.tools if tool.handler]
    chance.shuffle(tools)
    definitions: dict[str, dict[str, Any]] = {
        tool.name: {
            "name": tool.name,
            "description": tool.description or "",
            "inputSchema": {"type": "object", "properties": {}},
            "annotations": _author_hints(edits, tool),
        }
        for tool in tools
    }
    faults = [*_flips(edits, tools, definitions)]
    for number, (kind, tool) in enumerate(_plan(tools)):
        definition = definitions[tool.name]
        if kind == 0:
            if _add_parameter(edits, tool, report):
                definition["inputSchema"]["properties"][UNUSED] = {"type": "string"}
                path = f"/inputSchema/properties/{UNUSED}"
                faults.append(Fault(kind="unused parameter", tool=tool.name, rule="TDQ805", path=path))
        elif sum(other.handler == tool.handler for other in tools) == 1 and (
            mark := _add_write(edits, tool, depth=kind, number=number)
        ):
            definition["annotations"] = {"readOnlyHint": True}
            faults = [fault for fault in faults if fault.tool != tool.name]
            path = "/annotations/readOnlyHint"
            is_constant = CONSTANT in edits.calls[mark]
            name = "write of a constant" if is_constant else "write of an argument"
            faults.append(Fault(kind=f"{name}, depth {kind}", tool=tool.name, rule="TDQ801", path=path, mark=mark))
            _say_read_only(edits, tool)
    edits.apply()
    return {"tools": list(definitions.values())}, faults


def _plan(tools: Sequence[ToolCode]) -> Iterator[tuple[int, ToolCode]]:
    """Yield tools with the depth of a write, or 0 for a parameter; no write where the tool changes something anyway."""
    left = Counter(dict.fromkeys((*DEPTHS, 0), PER_KIND))
    for tool in tools:
        kinds = [kind for kind in (*DEPTHS, 0) if left[kind] and (kind == 0 or tool.read_only is not False)]
        if kinds:
            kind = max(kinds, key=lambda kind: (left[kind], kind))
            left[kind] -= 1
            yield kind, tool


def _author_hints(edits: Edits, tool: ToolCode) -> dict[str, bool]:
    """Return the hints at a registration: `annotations=ToolAnnotations(readOnlyHint=True)`."""
    place = _python_function(edits, tool) if tool.handler and tool.handler.file.endswith(".py") else None
    hints = dict(tool.hints)
    for decorator in place[0].decorator_list if place and place[1] else ():
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "annotations":
                text = ast.unparse(keyword.value)
                for words, value in re.findall(r"\b(\w+?_?[hH]int)\b'?\s*[:=]\s*(True|False)", text):
                    hints[re.sub(r"_(\w)", lambda match: match[1].upper(), words)] = value == "True"
    return hints


def _turn_round(edits: Edits, tool: ToolCode, hint: str) -> None:
    """Turn a hint round at the registration too: other programs have no definitions beside the code."""
    lines = edits.lines(tool.registration.file)
    snake = re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", hint)
    for place in range(tool.registration.line - 1, min(len(lines), tool.registration.line + 60)):
        match = re.search(rf"\b(?:{hint}|{snake})\b[\"']?\s*[:=]\s*(true|false|True|False)", lines[place])
        if match:
            other = {"true": "false", "false": "true", "True": "False", "False": "True"}[match[1]]
            lines[place] = lines[place][: match.start(1)] + other + lines[place][match.end(1) :]
            (edits.root / tool.registration.file).write_text("\n".join(lines), encoding="utf-8")
            return


def _flips(edits: Edits, tools: Sequence[ToolCode], definitions: dict[str, dict[str, Any]]) -> Iterator[Fault]:
    for (hint, value), rule in FLIPS.items():
        for tool in [tool for tool in tools if definitions[tool.name]["annotations"].get(hint) is value][
            : 2 * PER_KIND
        ]:
            definitions[tool.name]["annotations"][hint] = not value
            _turn_round(edits, tool, hint)
            yield Fault(kind=f"{hint} turned round", tool=tool.name, rule=rule, path=f"/annotations/{hint}")


# Python


def _python_function(edits: Edits, tool: ToolCode) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool] | None:
    """Return the function around the handler's first line, and whether the line is its head."""
    if tool.handler is None:
        return None
    try:
        module = ast.parse("\n".join(edits.lines(tool.handler.file)))
    except SyntaxError:
        return None
    line, best = tool.handler.line, None
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            is_nearer = best is None or node.lineno > best.lineno
            if first <= line <= (node.end_lineno or 0) and is_nearer:
                best = node
    return (best, line <= best.lineno) if best else None


def _python_value(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    names = [part.arg for part in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    names = [name for name in names if name not in ("self", "cls", "ctx", "context", "name", "tool_name")]
    return f"str({names[0]})" if names else CONSTANT


def _python_write(edits: Edits, tool: ToolCode, *, depth: int, number: int) -> str:
    place = _python_function(edits, tool)
    if place is None or tool.handler is None:
        return ""
    function, is_head = place
    file, lines = tool.handler.file, edits.lines(tool.handler.file)
    body = function.body
    has_doc = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    before = (body[1] if has_doc else body[0]).lineno if is_head else tool.handler.line
    if not is_head and lines[before - 1].rstrip().endswith(":"):  # `if name == "close":` is the branch's first line
        before += 1
    text = lines[before - 1]
    if is_head and before == function.lineno:  # def f(): return 1
        return ""
    indent = text[: len(text) - len(text.lstrip())]
    stem, style = f"keep_entry_{number}", number % 3
    write = PYTHON_WRITES[number % len(PYTHON_WRITES)]
    steps = [f"{stem}_{step}" for step in range(1, depth + 1)]
    if style == 1:
        methods = [
            f"    def {name}(self, text):\n        return self.{following}(text)" for name, following in pairwise(steps)
        ]
        last = write.format(value="text", indent=" " * 8)
        methods.append(f"    def {steps[-1]}(self, text):\n        {last}")
        edits.append(file, f"\n\nclass Entries{number}:\n" + "\n\n".join(methods))
        call = f"Entries{number}().{steps[0]}"
    else:
        functions = [f"def {name}(text):\n    return {following}(text)" for name, following in pairwise(steps)]
        last = write.format(value="text", indent=" " * 4)
        functions.append(f"def {steps[-1]}(text):\n    {last}")
        source = "\n\n\n".join(functions)
        if style == 2:
            is_package = (edits.root / file).parent.joinpath("__init__.py").exists()
            edits.append(str(Path(file).parent / f"{stem}.py"), source)
            edits.append(file, f"\n\nfrom {'.' if is_package else ''}{stem} import {steps[0]}")
        else:
            edits.append(file, f"\n\n{source}")
        call = steps[0]
    edits.calls[steps[-1]] = f"{indent}{call}({_python_value(function)})"
    edits.insert(file, before, edits.calls[steps[-1]])
    return steps[-1]


def _python_parameter(edits: Edits, tool: ToolCode) -> bool:
    place = _python_function(edits, tool)
    if place is None or tool.handler is None:
        return False
    function, is_head = place
    file, lines = tool.handler.file, edits.lines(tool.handler.file)
    if not is_head:
        return _schema_property(edits, tool, '"type": "string"')
    arguments = function.args
    if arguments.kwarg or not (arguments.args or arguments.kwonlyargs):
        return False
    last = arguments.kwonlyargs[-1] if arguments.kwonlyargs else arguments.args[-1]
    default = arguments.kw_defaults[-1] if arguments.kwonlyargs else (arguments.defaults or [None])[-1]
    end = default or last.annotation or last
    row, column = end.end_lineno or 0, end.end_col_offset or 0
    line = lines[row - 1].encode()
    marked = (line[:column] + f', {UNUSED}: str = ""'.encode() + line[column:]).decode()
    lines[row - 1] = marked
    (edits.root / file).write_text("\n".join(lines), encoding="utf-8")
    return True


def _say_read_only(edits: Edits, tool: ToolCode) -> None:
    """Say at the registration, too, that a tool only reads: other programs have no definitions beside the code."""
    place = _python_function(edits, tool) if tool.handler and tool.handler.file.endswith(".py") else None
    if place is None or tool.handler is None or not place[1]:
        return
    lines = edits.lines(tool.handler.file)
    for decorator in place[0].decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        target = call.func if call else decorator
        if not (isinstance(target, ast.Attribute) and target.attr == "tool") or decorator.end_lineno is None:
            continue
        hint = "annotations=ToolAnnotations(readOnlyHint=True)"
        given = next((keyword for keyword in call.keywords if keyword.arg == "annotations"), None) if call else None
        if given and given.lineno == given.end_lineno:
            line = lines[given.lineno - 1]
            lines[given.lineno - 1] = line[: given.col_offset] + hint + line[given.end_col_offset :]
        elif given is None and call and (call.args or call.keywords):
            last = max(
                (*call.args, *(part.value for part in call.keywords)),
                key=lambda part: (part.end_lineno, part.end_col_offset),
            )
            row, column = (last.end_lineno or 1) - 1, last.end_col_offset or 0
            line = lines[row].encode()
            lines[row] = (line[:column] + f", {hint}".encode() + line[column:]).decode()
        elif given is None:
            row, column = decorator.end_lineno - 1, (decorator.end_col_offset or 0) - bool(call)
            rest = lines[row][column:] if call else f"){lines[row][column:]}"
            lines[row] = f"{lines[row][:column]}{'' if call else '('}{hint}{rest}"
        (edits.root / tool.handler.file).write_text("\n".join(lines), encoding="utf-8")


# JavaScript and TypeScript


def _script_value(head: str, branch: Sequence[str]) -> str:
    """Return what the agent passes, by a function's head or a dispatcher's branch; a constant where it is nothing."""
    words = re.search(r"\b(?:request\.params\.arguments|args|input|params)\b", " ".join(branch))
    if words:
        return f"String({words[0]})"
    names = re.search(
        r"\(\s*\{\s*(\w+)[^()]*\)?[^()]*(?:=>|\{)\s*$|\(\s*(\w+)[^()]*\)\s*(?::[^=]*)?(?:=>)?\s*\{\s*$", head
    )
    name = next(filter(None, names.groups()), "") if names else ""
    return f"String({name})" if name and name not in ("extra", "_", "_args") else CONSTANT


def _script_write(edits: Edits, tool: ToolCode, *, depth: int, number: int) -> str:
    if tool.handler is None:
        return ""
    file, lines = tool.handler.file, edits.lines(tool.handler.file)
    line = tool.handler.line
    head = lines[line - 1 : line + 12]
    if any(len(text) > MAX_LINE for text in head) or (tool.handler.end == line and "=>" in head[0]):
        return ""
    if tool.handler.end == line:  # the branch of a dispatcher
        before, words = line + bool(re.search(r"[{:]\s*$", head[0])), head[0]
    else:
        opening = next(
            (place for place, text in enumerate(head) if re.search(r"(=>|\)\s*(:[^={]*)?)\s*\{\s*$", text)), None
        )
        if opening is None:
            return ""
        before, words = line + opening + 1, " ".join(head[: opening + 1])
    value = _script_value(words, lines[before - 1 : before + 11] if tool.handler.end == line else [])
    is_module = any(re.match(r"\s*(import|export)\b", text) for text in lines)
    stem = f"keepEntry{number}x"
    steps = [f"{stem}{step}" for step in range(1, depth + 1)]
    write = SCRIPT_WRITES[number % len(SCRIPT_WRITES)].format(value="text")
    imports = (
        'import * as injectedFs from "fs";\nimport * as injectedProcess from "child_process";'
        if is_module
        else 'const injectedFs = require("fs");\nconst injectedProcess = require("child_process");'
    )
    links = list(pairwise(steps))
    style = number % 3
    if style == 1:
        methods = [f"  {name}(text) {{ return this.{following}(text); }}" for name, following in links]
        methods.append(f"  {steps[-1]}(text) {{\n    {write}\n  }}")
        source, call = f"class Entries{number} {{\n" + "\n".join(methods) + "\n}", f"new Entries{number}().{steps[0]}"
    else:
        functions = [f"function {name}(text) {{\n  return {following}(text);\n}}" for name, following in links]
        source, call = "\n".join([*functions, f"function {steps[-1]}(text) {{\n  {write}\n}}"]), steps[0]
    if style == 2:
        suffix = Path(file).suffix
        export = f"export {{ {steps[0]} }};" if is_module else f"module.exports = {{ {steps[0]} }};"
        edits.append(str(Path(file).parent / f"{stem}{suffix}"), f"{imports}\n{source}\n{export}")
        other = f"./{stem}{'.js' if suffix == '.ts' else suffix}"
        taking = (
            f'import {{ {steps[0]} }} from "{other}";' if is_module else f'const {{ {steps[0]} }} = require("{other}");'
        )
        edits.append(file, taking)
    else:
        if imports not in edits.appended.get(file, []):
            edits.append(file, imports)
        edits.append(file, source)
    edits.calls[steps[-1]] = f"{call}({value});"
    edits.insert(file, before, edits.calls[steps[-1]])
    return steps[-1]


def _schema_property(edits: Edits, tool: ToolCode, value: str) -> bool:
    """Insert a property into the schema at a registration, above the handler or up to 60 lines below the name."""
    file, first = tool.registration.file, tool.registration.line
    lines = edits.lines(file)
    last = min(len(lines), first + 60)
    if tool.handler and tool.handler.file == file and first < tool.handler.line:
        last = min(last, tool.handler.line)
    for place in range(first - 1, last):
        text = lines[place]
        if place > first + 1 and re.search(r"(registerTool|addTool|\.tool)\(|^\s*[\"']?name[\"']?\s*:", text):
            return False  # the next tool
        above = " ".join(lines[max(0, place - 3) : place + 1])
        if re.search(r"""["']?properties["']?\s*:\s*\{\s*$""", text) and re.search(
            r"(?i)input_?schema|\bparameters\b", above
        ):
            edits.insert(file, place + 2, f'"{UNUSED}": {{{value}}},')
            return True
        is_zod = any(
            ".string()" in line or ".number()" in line or ".boolean()" in line for line in lines[place : place + 3]
        )
        if is_zod and re.search(r"(inputSchema\s*:\s*(z\.object\()?|[\"'`],)\s*\{\s*$", text):
            zod = re.search(r"([\w.]+)\.(string|number|boolean)\(\)", " ".join(lines[place : place + 3]))
            edits.insert(file, place + 2, f"{UNUSED}: {zod[1] if zod else 'z'}.string().optional(),")
            return True
    return False


def _add_write(edits: Edits, tool: ToolCode, *, depth: int, number: int) -> str:
    """Add a chain of calls to a tool; return the function that writes, or nothing where there is no place for it."""
    is_python = tool.handler is not None and tool.handler.file.endswith(".py")
    return (_python_write if is_python else _script_write)(edits, tool, depth=depth, number=number)


def _add_parameter(edits: Edits, tool: ToolCode, report: CodeReport) -> bool:
    if tool.handler is None or sum(other.handler == tool.handler for other in report.tools) > 1:
        return False
    if tool.handler.file.endswith(".py"):
        return _python_parameter(edits, tool)
    return _schema_property(edits, tool, 'type: "string"')


# Counting


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A fault, and whether it was found and at its line."""

    package: str
    fault: Fault
    is_python: bool
    is_found: bool
    is_placed: bool


def measure(folder: Path, copy: Path) -> list[Outcome]:
    """Return what becomes of the faults in a copy of a package."""
    document, faults = inject(folder, copy)
    faults_json = [asdict(fault) for fault in faults]
    (copy / "injected.json").write_text(json.dumps({**document, "faults": faults_json}), encoding="utf-8")
    report = read_code(copy)
    policy = Policy(selection=registry.select(names=["TDQ8"]), code=report)
    findings = linting.lint(catalogs.read(document), policy).findings
    places = {(finding.rule, finding.subject.name, finding.subject.path) for finding in findings}
    outcomes = []
    for fault in faults:
        code = report.find(fault.tool)
        is_found = (fault.rule, fault.tool, fault.path) in places
        lines = [_text(copy, effect.file, effect.line) for effect in code.effects] if code and fault.mark else []
        is_placed = any(fault.mark in text for text in lines) if fault.mark else is_found
        is_python = bool(code and code.handler and code.handler.file.endswith(".py"))
        outcomes.append(
            Outcome(package=folder.name, fault=fault, is_python=is_python, is_found=is_found, is_placed=is_placed)
        )
    return outcomes


def _text(root: Path, file: str, line: int) -> str:
    """Return the lines around an effect, in which an injected function's name stands."""
    lines = (root / file).read_text(encoding="utf-8", errors="replace").split("\n")
    return "\n".join(lines[max(0, line - 4) : line + 1])


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each kind of fault, and the total."""
    yield "| fault | Python | JavaScript, TypeScript | found |\n| --- | ---: | ---: | ---: |"
    for kind in (*sorted({outcome.fault.kind for outcome in outcomes}), ""):
        rows = [outcome for outcome in outcomes if kind in ("", outcome.fault.kind)]
        sides = [[row for row in rows if row.is_python is side] for side in (True, False)]
        cells = [f"{sum(row.is_found for row in side)} of {len(side)}" for side in sides]
        share = sum(row.is_found for row in rows) * 100 // max(1, len(rows))
        yield f"| {kind or 'all'} | {cells[0]} | {cells[1]} | {share}% |"


def main(arguments: Sequence[str]) -> None:
    """Measure the packages and print the table."""
    keep = Path(arguments[arguments.index("--keep") + 1]) if "--keep" in arguments else None
    folders = [Path(word) for word in arguments if not word.startswith("--") and (keep is None or word != str(keep))]
    outcomes: list[Outcome] = []
    for folder in folders:
        root = keep or Path(tempfile.mkdtemp())
        outcomes += measure(folder, root / folder.name)
        print(f"{folder.name}: {sum(row.package == folder.name for row in outcomes)} faults", file=sys.stderr)
    if "--missed" in arguments:
        for row in outcomes:
            if not (row.is_found and row.is_placed):
                print(f"{row.package}: {row.fault} found {row.is_found}")
    print("\n".join(table(outcomes)))


if __name__ == "__main__":
    main(sys.argv[1:])
