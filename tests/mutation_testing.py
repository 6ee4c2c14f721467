"""Changes one operator, number, word or statement of a module at a time, and counts the changes that its tests notice.

    python tests/mutation_testing.py [MODULE...] [--sample N]

Without modules, all of TESTS. Tests are collected once; each change is made in a forked process, in the functions that are
there already. Declarations in classes, default arguments, docstrings and the words of messages are left alone. Prints the
survivors; exits 1 where fewer than nine tenths of the changes of a module are noticed.
"""

import argparse
import ast
import copy
import gc
import importlib
import json
import os
import random
import resource
import subprocess
import sys
import time
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MAX_SECONDS = 60
"""Of a processor: a change that takes longer does not end."""

MAX_TESTS = 60
"""For each change, the first of those that call the function, as `_calls` orders them: what only others notice
counts as a survivor."""

TESTS = {
    "canonical": "canonical lone_surrogates",
    "facts.schema.signals": "oracle broken_input gate lock",
    "scoring.rollup": "oracle rollup jury",
    "gate.policy": "gate score baseline configuration portability",
    "gate.suite": "gate",
    "gate.definition_lock": "lock",
    "server.permissions": "permissions operator",
}
"""The modules, and the test modules that are about them."""

_PAIRS = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv), (ast.BitAnd, ast.BitOr)),
)
SWAPS = {ast.Div: ast.Mult} | {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list"}


@dataclass(frozen=True)
class Mutant:
    """A top-level statement with one change."""

    line: int
    function: str | None
    """What is changed; None for an assignment, which anything may use."""

    statement: ast.stmt
    shown: str


def changes_of(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901  # one case for each kind of node
    """What may stand in place of a node."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield ast.Compare(left=node.left, ops=[SWAPS[type(op)]()], comparators=node.comparators)
        case ast.BoolOp(op=op, values=values) if type(op) in SWAPS:
            yield ast.BoolOp(op=SWAPS[type(op)](), values=values)
        case ast.BinOp(op=op, left=left, right=right) if type(op) in SWAPS:
            yield ast.BinOp(left=left, op=SWAPS[type(op)](), right=right)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test=test, body=orelse, orelse=body)
        case ast.If(test=test, body=body, orelse=orelse):
            yield ast.If(test=ast.UnaryOp(op=ast.Not(), operand=test), body=body, orelse=orelse)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(value=not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value=value + 1)
        case ast.Constant(value=str() as value):
            yield ast.Constant(value=f"{value}XX")
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield ast.Name(id=NAMES[name], ctx=ast.Load())
        case ast.Return(value=ast.AST() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(value=ast.Constant(value=None))
        case ast.Raise() | ast.Continue() | ast.AugAssign():
            yield ast.Pass()


def mutants(tree: ast.Module) -> Iterator[Mutant]:
    """Every change of a module."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            places = [each for each in statement.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        else:
            places = [] if isinstance(statement, ast.Import | ast.ImportFrom | ast.Expr) else [statement]
        for place in places:
            for parent, field, index, child in children(place):
                for changed in changes_of(child):
                    put(parent, field, index, changed)
                    whole = ast.fix_missing_locations(copy.deepcopy(statement))
                    put(parent, field, index, child)
                    shown = ast.unparse(changed).partition("\n")[0]
                    yield Mutant(line=child.lineno, function=name_of(statement, place), statement=whole, shown=shown)


def name_of(statement: ast.stmt, place: ast.stmt) -> str | None:
    """A function's or method's qualified name."""
    if not isinstance(place, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return place.name if place is statement else f"{statement.name}.{place.name}"


def children(parent: ast.AST) -> Iterator[tuple[ast.AST, str, int, ast.AST]]:
    """What stands below a node and may change, with its place."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "args") and not isinstance(parent, ast.Call):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            is_words = isinstance(child, ast.JoinedStr | ast.Raise) or (
                isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            )
            if isinstance(child, ast.AST) and (not is_words or isinstance(child, ast.Raise)):
                yield parent, field, index, child
            if isinstance(child, ast.AST) and not is_words:
                yield from children(child)


def put(parent: ast.AST, field: str, index: int, child: ast.AST) -> None:
    """Sets a child."""
    value = getattr(parent, field)
    if isinstance(value, list):
        value[index] = child
    else:
        setattr(parent, field, child)


def apply(mutant: Mutant, module: types.ModuleType) -> None:
    """Gives the functions of an imported module their changed code; an assignment is made again, wherever it was imported."""
    code = compile(ast.Module(body=[mutant.statement], type_ignores=[]), str(module.__file__), "exec")
    if isinstance(mutant.statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        changed = {each.co_qualname: each for each in functions_in(code)}
        for found in gc.get_objects():
            if isinstance(found, types.FunctionType) and found.__globals__ is vars(module):
                found.__code__ = changed.get(found.__code__.co_qualname, found.__code__)
        return
    before = dict(vars(module))
    exec(code, vars(module))  # noqa: S102  # our own module
    for name, value in vars(module).items():
        for other in list(sys.modules.values()):
            if name in before and value is not before[name] and getattr(other, name, None) is before[name]:
                setattr(other, name, value)


def functions_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The functions and methods of a statement, without what they make themselves."""
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            if "(" not in each.co_qualname and each.co_flags & 2 == 0:  # a class body
                yield from functions_in(each)


class Run:
    """Runs, once for each change, the collected tests that call the changed function."""

    def __init__(self, name: str, sample: int | None) -> None:
        self.name, self.sample = name, sample
        self.path = ROOT / "src" / "tdqs_mcp" / f"{name.replace('.', '/')}.py"
        self.is_enough = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        text, module = self.path.read_text(encoding="utf-8"), importlib.import_module(f"tdqs_mcp.{self.name}")
        calls = self._calls(session)
        found = list(mutants(ast.parse(text)))
        if self.sample is not None and self.sample < len(found):
            found = sorted(random.Random(1).sample(found, self.sample), key=lambda each: each.line)
        left = [each for each in found if not self._is_noticed(session, each, module, calls)]
        lines = text.splitlines()
        for each in left:
            sys.__stdout__.write(f"{self.name}:{each.line}: {lines[each.line - 1].strip()}\n    {each.shown}\n")
        share = 100 * (len(found) - len(left)) / len(found)
        sys.__stdout__.write(f"{self.name}: {len(found) - len(left)} of {len(found)} changes noticed, {share:.0f}%\n")
        self.is_enough = share >= 90
        return True

    def _calls(self, session: pytest.Session) -> list[tuple[pytest.Item, set[str]]]:
        """The tests with the functions of the module that they call, the quickest first, of each one case at a time."""
        reading, writing = os.pipe()
        if not os.fork():
            self._record_calls(session, writing)
        with os.fdopen(reading, encoding="utf-8") as stream:
            os.close(writing)
            seen = [json.loads(line) for line in stream]
        os.wait()
        if len(seen) != len(session.items):
            raise pytest.UsageError("a test fails without a change")
        order, done = [], Counter[str]()
        for (seconds, names), item in sorted(zip(seen, session.items, strict=True), key=lambda each: each[0][0]):
            test = item.nodeid.partition("[")[0]
            order.append((done[test], seconds, item, set(names)))
            done[test] += 1
        return [(item, names) for _, _, item, names in sorted(order, key=lambda each: each[:2]) if names]

    def _record_calls(self, session: pytest.Session, writing: int) -> None:
        """In a process of its own: runs every test, and writes its seconds and what it has called."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        names: set[str] = set()

        def note(frame: types.FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename == str(self.path):
                names.add(frame.f_code.co_qualname.partition(".<locals>")[0])

        for item in session.items:
            names.clear()
            begun = time.process_time()
            sys.setprofile(note)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            sys.setprofile(None)
            if session.testsfailed:
                break
            os.write(writing, json.dumps([time.process_time() - begun, sorted(names)]).encode() + b"\n")
        os._exit(0)

    def _is_noticed(
        self,
        session: pytest.Session,
        mutant: Mutant,
        module: types.ModuleType,
        calls: list[tuple[pytest.Item, set[str]]],
    ) -> bool:
        """Whether a test fails with the change, or does not end."""
        if child := os.fork():
            return os.waitpid(child, 0)[1] != 0
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
        try:
            apply(mutant, module)
            chosen = [item for item, names in calls if mutant.function is None or mutant.function in names]
            for item in chosen[:MAX_TESTS]:
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    os._exit(1)
        except BaseException:  # noqa: BLE001  # whatever a change leads to is noticed
            os._exit(1)
        os._exit(0)


def main() -> int:
    """One process for each module, so that none finds what another has left."""
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--sample", type=int)
    given = parser.parse_args()
    if len(given.modules) != 1:
        more = ["--sample", str(given.sample)] if given.sample else []
        runs = [subprocess.run([sys.executable, __file__, each, *more], check=False) for each in given.modules or TESTS]
        return max(run.returncode for run in runs)
    run = Run(given.modules[0], given.sample)
    files = [str(ROOT / "tests" / f"test_{each}.py") for each in TESTS[run.name].split()]
    options = ["-q", "-n0", "-p", "no:cacheprovider", "--no-header", "-m", "not process and not corpus and not bench"]
    pytest.main([*options, "--rootdir", str(ROOT), *files], plugins=[run])
    return 0 if run.is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
