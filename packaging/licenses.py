"""Lists what requirements-dev.lock pins, for whom and under which license; writes packaging/dependencies.md.

Run it where the lock file is installed: python packaging/licenses.py > packaging/dependencies.md
"""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
HEAD = """# Dependencies

<!-- Written by packaging/licenses.py from requirements-dev.lock and the installed packages. -->

What `requirements-dev.lock` pins, with the license that each package states: what everybody gets with `tdqs-mcp`,
what an extra adds, and what only development needs.

| package | license | for |
| --- | --- | --- |
"""


def needed_by(wanted: Iterable[str]) -> set[str]:
    """The names of requirements and of all that they need in turn on this platform."""
    waiting, seen = [Requirement(each) for each in wanted], set()
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), extra)
            if key not in seen:
                seen.add(key)
                waiting += needs_of(*key)
    return {name for name, _ in seen}


def needs_of(name: str, extra: str) -> list[Requirement]:
    """What an installed package needs here, with one of its extras."""
    try:
        stated = [Requirement(each) for each in requires(name) or []]
    except PackageNotFoundError:
        return []
    return [each for each in stated if not each.marker or each.marker.evaluate({"extra": extra})]


def license_of(name: str) -> str:
    """The SPDX expression, else what the package calls its license in a few words, else the classifiers."""
    stated = metadata(name)
    classified = [
        each.rpartition(" :: ")[2] for each in stated.get_all("Classifier", []) if each.startswith("License ::")
    ]
    named = (stated.get("License") or "").strip()
    is_short = named and "\n" not in named and len(named) < 60
    return stated.get("License-Expression") or (named if is_short else ", ".join(classified)) or "not stated"


def page() -> str:
    """The table, in the order of the lock file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    by_default = needed_by(project["dependencies"])
    by_extras = needed_by(each for name, needs in extras.items() if name != "dev" for each in needs)
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements-dev.lock").read_text(encoding="utf-8"), re.MULTILINE)
    return HEAD + "".join(row(name, by_default, by_extras) for name in locked)


def row(name: str, by_default: set[str], by_extras: set[str]) -> str:
    """A line of the table."""
    try:
        license_name = license_of(name)
    except PackageNotFoundError:
        return f"| {name} | not read | another platform |\n"
    place = "everybody" if name in by_default else "an extra" if name in by_extras else "development"
    return f"| {name} | {license_name} | {place} |\n"


if __name__ == "__main__":
    print(page(), end="")
