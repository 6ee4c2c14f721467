"""What was probably meant by a locator that cannot be read."""

import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which

from tdqs_mcp.cli import as_command
from tdqs_mcp.errors import InputError, nearest
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.sources.locator import PROJECT, File, parse_locator

_ADDRESS = re.compile(r"(?P<host>localhost|[\w-]+(\.[\w-]+)+|\[[\da-f:]+\]):\d{1,5}(/\S*)?", re.IGNORECASE)
"""Host and port of a URL without its scheme."""

MAX_FILES = 3
"""Files of a folder that a hint names."""

_INTERPRETERS = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node"}


def hint_for(locators: Sequence[str]) -> str | None:
    """What was probably meant by the first of these locators, which cannot be read; None if nobody can tell."""
    try:
        parsed = parse_locator(locators[0])
    except InputError:
        return None
    if not isinstance(parsed, File) or parsed.path == "-":
        return None
    path = Path(parsed.path)
    return _of_file(path) if path.exists() else _of_words(locators)


def _of_words(locators: Sequence[str]) -> str | None:
    first = locators[0]
    if found := _ADDRESS.fullmatch(first):
        scheme = "http" if found["host"] == "localhost" or found["host"][0] in "1[" else "https"
        return f"did you mean {scheme}://{first} ?"
    if first.endswith(".json"):
        return nearest(first, map(str, Path(first).parent.glob("*.json"))).removeprefix("; ") or None
    if len(first.split()) > 1:
        return f"to start it as a server: {as_command(_split(first))}"
    if which(first):
        return f"to start it as a server: {as_command(locators)}"
    return f"to score a live server, give its URL, or its command last: {as_command(['COMMAND', 'ARG'])}..."


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _of_file(path: Path) -> str | None:
    if path.is_dir():
        files = sorted(map(str, path.glob("*.json")))
        return f"this command takes one file: {first_of(files, MAX_FILES)}" if files else None
    if server := _configured(path):
        return f"it configures servers; score one of them by name: {server}"
    if path.suffix in _INTERPRETERS:
        return f"to start it as a server: {as_command([_INTERPRETERS[path.suffix], str(path)])}"
    if os.access(path, os.X_OK) and path.suffix != ".json":
        return f"to start it as a server: {as_command([str(path.absolute())])}"
    return None


def _configured(path: Path) -> str | None:
    """How the first server in a client's configuration is named; None for any other file."""
    from tdqs_mcp.sources.clients import configured_names, find_server  # noqa: PLC0415  # after a mistake alone

    try:
        name = next(iter(configured_names(path)), None)
    except (OSError, ValueError):
        return None
    for is_project in (False, True) if name else ():
        with suppress(InputError):
            server = find_server(name or "", is_project=is_project)
            if server.file.resolve() == path.resolve():
                return f"config:{PROJECT if is_project else ''}{name}"
    return "config:project/NAME, in the folder of its project" if name else None
