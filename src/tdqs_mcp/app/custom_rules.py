"""Rules from a Python module that somebody names on the command line: it runs their code, so nothing else loads it."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.rules.registry import RULES
from tdqs_mcp.rules.rule import AnyRule, Hit, Rule

_ID = re.compile(r"(?!TDQ)[A-Z]{2,}\d{3}")


def load_rules(module: str) -> tuple[AnyRule, ...]:
    """All rules, ours and those of a module: the path of a `.py` file, or a name that Python can import from here.

    Raises InputError for a module that cannot be imported, has no rule, or has one whose words mean another.
    """
    found = tuple(each for each in _names_of(module).values() if isinstance(each, Rule))
    if not found:
        raise InputError(
            f'{module!r} has no rule; write @rule("ORG001", ...) above a function, as docs/custom-rules.md says'
        )
    known = {word: rule for rule in RULES for word in (rule.id.lower(), rule.name, *map(str.lower, rule.aliases))}
    for each in found:
        if not _ID.fullmatch(each.id):
            raise InputError(
                f"{module!r}: the id {each.id!r} must be capitals, not TDQ, and three digits, as in ORG001"
            )
        for word in (each.id.lower(), each.name, *map(str.lower, each.aliases)):
            if known.setdefault(word, each) is not each:
                raise InputError(
                    f"{module!r}: {word!r} of {each.id} means {known[word].id} already; give it another name"
                )
    return (*RULES, *(replace(each, check=_guarded(each, module)) for each in found))


def _names_of(module: str) -> Mapping[str, Any]:
    """What a module holds, once it has run."""
    try:
        if module.endswith(".py"):
            return run_path(module)
        sys.path.insert(0, str(Path.cwd()))
        try:
            return vars(import_module(module))
        finally:
            sys.path.pop(0)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"the rules of {module!r} cannot be imported ({what}); give a module or a .py file") from error


def _guarded(rule: AnyRule, module: str) -> Callable[..., Iterator[Hit]]:
    """The rule's check, whose failures are said to be the module's."""

    def check(seen: Any, **limit: int) -> Iterator[Hit]:  # noqa: ANN401  # whatever the rule reads
        try:
            yield from rule.check(seen, **limit)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise InputError(f"{rule.id} of {module!r} failed ({what}); correct it, or --ignore {rule.id}") from error

    return check
