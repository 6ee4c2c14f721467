"""Hints for locators that cannot be read, and servers that a file or a folder starts."""

import os
import re
import shlex
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which

import click

from tdqs_mcp.app import catalogs
from tdqs_mcp.cli import as_command
from tdqs_mcp.errors import InputError, nearest
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.escape import printable
from tdqs_mcp.sources import files
from tdqs_mcp.sources.locator import CODE_SUFFIXES, PROJECT, File, LiveOptions, parse_locator

_ADDRESS = re.compile(r"(?P<host>localhost|[\w-]+(\.[\w-]+)+|\[[\da-f:]+\]):\d{1,5}(/\S*)?", re.IGNORECASE)
"""Host and port of a URL without its scheme."""

MAX_FILES = 3
"""Files of a folder that a hint names."""

_INTERPRETERS = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "npx tsx"}


def hint_for(locators: Sequence[str]) -> str | None:
    """Return what was probably meant by the first of these locators, which cannot be read; None if nobody can tell."""
    try:
        parsed = parse_locator(locators[0])
    except InputError:
        return None
    if not isinstance(parsed, File) or parsed.path == "-":
        return None
    path = Path(parsed.path)
    return _hint_for_file(path) if path.exists() else _hint_for_words(locators)


def _hint_for_words(locators: Sequence[str]) -> str | None:
    first = locators[0]
    # localhost:8000/mcp and 127.0.0.1:8000 are http, example.org:443/mcp is https
    if address := _ADDRESS.fullmatch(first):
        scheme = "http" if address["host"] == "localhost" or address["host"][0] in "1[" else "https"
        return f"did you mean {scheme}://{first} ?"
    if Path(first).suffix and " " not in first:  # "tools.jsn", "src/servr.py"
        candidates = (file for file in Path(first).parent.glob("*.*") if file.suffix in {".json", *CODE_SUFFIXES})
        return nearest(first, [str(file) for file in candidates if file != Path(first)]).removeprefix("; ") or None
    if len(first.split()) > 1:
        return f"to start it as a server: {as_command(split_words(first))}"
    if which(first):
        return f"to start it as a server: {as_command(locators)}"
    return f"to score a live server, give its URL, or its command last: {as_command(['COMMAND', 'ARG'])}..."


def split_words(text: str) -> list[str]:
    """Return the words of a shell command, as far as its quotes close."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _hint_for_file(path: Path) -> str | None:
    if path.is_dir():
        names = catalogs.json_files(path)
        configuration = path / ".mcp.json"
        own = _hint_for_file(configuration) if configuration.is_file() else None
        return f"this command takes one file: {first_of(names, MAX_FILES)}" if names else own
    if names := _configured_names(path):
        is_here = "NAME" not in _configured_locator(path, names[0])
        return None if is_here else "it configures servers: config:project/NAME, in the folder of its project"
    words = _start_words(path)
    return f"to start it as a server: {as_command(words)}" if words else None


def _start_words(path: Path) -> list[str] | None:
    """Return the command that starts what lies at a path: a program, or the entry point of a project."""
    if path.is_file():
        if path.suffix in _INTERPRETERS:
            return [*_INTERPRETERS[path.suffix].split(), str(path)]
        return [str(path.absolute())] if os.access(path, os.X_OK) and path.suffix != ".json" else None
    manifest, project = path / "package.json", path / "pyproject.toml"
    if manifest.is_file():
        entry = parse_json(files.read_bytes(manifest), origin=repr(str(manifest)))
        programs = entry.get("bin") if isinstance(entry, dict) else None
        program = next(iter(programs.values()), None) if isinstance(programs, dict) else programs
        if isinstance(program, str) and (path / program).is_file():
            return ["node", str(path / program)]
    if project.is_file():
        with suppress(ValueError):
            scripts = tomllib.loads(project.read_text("utf-8")).get("project", {}).get("scripts", {})
            places = (path / ".venv" / "bin" / name for name in scripts)
            if script := next((str(place) for place in places if place.is_file()), None):
                return [script]
    return None


def load_target(locator: str, live: LiveOptions) -> Catalog:
    """Read a locator, or what a file or a folder starts: said before, and asked once. Raises as `load`."""
    path = Path(locator)
    is_path = bool(locator) and ":" not in locator and locator != "-" and path.exists()  # Path("") is the folder
    try:
        catalog = catalogs.load_blocking(locator, live)
    except InputError:
        target = _started_target(path, live) if is_path else None
        if target is None:
            raise
    else:
        is_empty = is_path and not catalog.tools and catalog.content is None
        target = _started_target(path, live) if is_empty else None
        words = _start_words(path) if is_empty and target is None else None
        if words:
            start = "" if path.is_file() else f"; to start it as a server: {as_command(words)}"  # a file has a hint
            raise InputError(f"{locator!r}: {(catalog.incomplete or '').rstrip('.')}{start}")
        if target is None:
            return catalog
    return catalogs.load_blocking(target, live)


def _started_target(path: Path, live: LiveOptions) -> str | None:
    """Return the locator of the one server that a file or a folder starts, None where nobody agrees to start it."""
    file = path / ".mcp.json" if path.is_dir() else path
    names = _configured_names(file)
    if len(names) == 1 and (locator := _configured_locator(file, names[0])) and "NAME" not in locator:
        click.echo(printable(f"{file} configures one server: {locator}"), err=True)
        return locator
    if len(names) > 1:
        locators = first_of([_configured_locator(file, name) for name in names], MAX_FILES)
        raise InputError(f"{str(file)!r} configures {len(names)} servers; name one of them: {locators}")
    words = _start_words(path)
    if words is None:
        return None
    command = shlex.join(words)
    question = f"{path} has no tools that could be read without starting it. Start it as a server: {command}?"
    return f"stdio:{command}" if live.consent(question) else None


def _configured_names(path: Path) -> list[str]:
    """The servers that a client's configuration names; none of any other file."""
    from tdqs_mcp.sources.clients import configured_names  # noqa: PLC0415  # after a mistake alone

    try:
        return configured_names(path)
    except (OSError, ValueError):
        return []


def _configured_locator(path: Path, name: str) -> str:
    """How a server in a client's configuration is named."""
    from tdqs_mcp.sources.clients import find_server  # noqa: PLC0415

    for is_project in (False, True):
        with suppress(InputError):
            server = find_server(name, is_project=is_project)
            if server.file.resolve() == path.resolve():
                return f"config:{PROJECT if is_project else ''}{name}"
    return "config:project/NAME, in the folder of its project"
