"""The files of a project, and the tools that its code registers or makes of OpenAPI documents; nothing is run."""

import json
import os
import re
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.knowledge import DESTROYS, NAMES
from tdqs_mcp.code.nodes import CallSite, Import, Module, SyntaxNode
from tdqs_mcp.code.project import Project, last_name
from tdqs_mcp.code.python_nodes import read_python
from tdqs_mcp.code.registrations import Finder, Registration
from tdqs_mcp.code.trace import Sighting
from tdqs_mcp.errors import InputError

MAX_FILE_BYTES = 4 * 2**20
"""Larger files are data or bundles of everything; each becomes a problem line."""

MAX_FILES = 5_000
"""Files of a folder that are read."""

MAX_NESTING = 500
"""Brackets within brackets of a file; the interpreter's own stack bounds what can be followed."""

_PYTHON = (".py",)
_SCRIPTS = (".js", ".ts", ".mjs", ".cjs", ".tsx", ".mts", ".cts")
_IGNORED = (".d.ts", ".d.mts", ".d.cts", ".min.js", ".test.js", ".test.ts", ".spec.js", ".spec.ts")
_SKIPPED = NAMES["skipped_folders"]

NO_OVERLAY: Mapping[str, bytes] = {}
"""No file is read from elsewhere than the disk."""


_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_REGISTERS = re.compile(
    rf"\b(?:{'|'.join(sorted(NAMES['registering']))})\s*\(|@[\w.]*tool\b|\blist_?tools".encode(), re.IGNORECASE
)
"""What registers tools, in a file that cannot be parsed: `server.tool(…)`, `@tool`, `ListToolsRequestSchema`."""

_PLACEHOLDER = re.compile(rb"\{\{.*\}\}|\{%.*%\}|<%.*%>")


Unread: TypeAlias = tuple[str, bool]
"""A sentence on a file that could not be read, and whether tools may be missing: no test, no template to be filled."""


def folder_of(source: Path) -> Path:
    """Return the folder that a source's names start from: itself, or the one that a single file stands in."""
    return source if source.is_dir() else source.parent


def find_tools(
    folder: Path, overlay: Mapping[str, bytes] = NO_OVERLAY, parsed: MutableMapping[str, Module] | None = None
) -> tuple[Interpreter, list[Registration], list[Unread]]:
    """Return the registrations of a folder's tools, what resolves their names, and the files that were not read.

    A single file is read alone. `overlay` has contents by path in place of those on the disk; `parsed` keeps modules
    by path for the next time. Raises InputError as `read_code`.
    """
    if not folder.exists():
        raise InputError(f"there is no file or folder {str(folder)!r}; give a server's source, or an unpacked package")
    modules, unread = _parse(folder, overlay, {} if parsed is None else parsed)
    if not modules:
        reason = f" ({unread[0][0]})" if unread else ""
        raise InputError(f"{str(folder)!r} has no Python, JavaScript or TypeScript file that can be read{reason}")
    interpreter = Interpreter(Project(modules))
    return interpreter, Finder(interpreter).find(), unread


def registers_nothing(folder: Path) -> bool:
    """Return whether a folder's code is certain to register no tool, such as a script beside catalogs."""
    modules, unread = _parse(folder, NO_OVERLAY, {})
    may_register = any(is_open for _, is_open in unread)
    return not may_register and not (modules and Finder(Interpreter(Project(modules))).find())


def imports_beside(file: Path, project: Project) -> list[str]:
    """Return the modules that a file imports from its own folder or package, which are not read with it."""
    places = {file.parent, file.parent.parent if file.parent.joinpath("__init__.py").exists() else file.parent}
    origins = (origin for module in project.modules for origin in module.origins)
    names = {re.findall(r"[\w-]+", "/".join(origin))[0] for origin in origins} - {file.stem}
    return sorted(
        name for name in names if any((place / name).is_dir() or any(place.glob(f"{name}.*")) for place in places)
    )


def source_files(root: Path) -> Iterator[Path]:
    """Yield the source files below a folder, or the one file."""
    if root.is_file():
        yield from [root] if root.name.endswith(_PYTHON + _SCRIPTS) else []
    else:
        yield from list_files(root, _PYTHON + _SCRIPTS)


def list_files(root: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files with some endings; no links, so that no file outside is read, and no pipes, which never end."""
    for place, folders, names in os.walk(root):
        skipped = _SKIPPED if NAMES["project_files"].isdisjoint(names) else _SKIPPED | NAMES["beside_code"]
        if "cjs" in folders and not {"esm", "mjs"}.isdisjoint(folders):
            skipped |= {"cjs"}  # the same code twice
        folders[:] = sorted(name for name in folders if name not in skipped and not name.endswith("-info"))
        stems = {name.removesuffix(".cjs") for name in names if name.endswith(".cjs")}
        has_twins = any(f"{stem}{suffix}" in names for stem in stems for suffix in (".js", ".mjs"))  # a bundle twice
        for name in sorted(names):
            path = Path(place, name)
            is_left_out = name.endswith(_IGNORED) or (has_twins and name.endswith(".cjs"))
            if name.endswith(suffixes) and not is_left_out and S_ISREG(path.lstat().st_mode):
                yield path


def _parse(
    root: Path, overlay: Mapping[str, bytes], parsed: MutableMapping[str, Module]
) -> tuple[list[Module], list[Unread]]:
    modules: list[Module] = []
    unread: list[Unread] = []
    for count, path in enumerate(source_files(root)):
        name = path.relative_to(folder_of(root)).as_posix()
        if count == MAX_FILES:
            unread.append((f"{name}: not read, as the folder has more than {MAX_FILES:,} source files", True))
            break
        line, content = 0, overlay.get(name, b"")
        try:
            if name not in overlay:
                with path.open("rb") as stream:
                    content = stream.read(MAX_FILE_BYTES + 1)
            parsed[name] = _module(name, content, parsed.get(name))
            modules.append(parsed[name])
        except (SyntaxError, ValueError, OSError, MemoryError, RecursionError, LookupError, ImportError) as error:
            reason = "it nests too deep" if isinstance(error, RecursionError | MemoryError) else str(error)
            if isinstance(error, SyntaxError):
                line, reason = error.lineno or 0, error.msg
            is_template = line and any(map(_PLACEHOLDER.search, content.splitlines()[line - 1 : line]))
            may_register = _REGISTERS.search(content) and not _TEST.search(name) and not is_template
            sentence = f"{name}{f', line {line}' if line else ''}: not read: {reason}"
            unread.append((sentence, isinstance(error, OSError) or bool(may_register)))
    return modules, unread


def _module(name: str, content: bytes, earlier: Module | None) -> Module:
    if len(content) > MAX_FILE_BYTES:
        raise ValueError(f"it is larger than {MAX_FILE_BYTES // 2**20} MiB")
    if earlier is not None and earlier.text == content:
        return earlier
    if name.endswith(_PYTHON):
        return read_python(name, content)
    from tdqs_mcp.code.script_nodes import read_script  # noqa: PLC0415  # tree-sitter: for JavaScript alone

    return read_script(name, content)


_METHODS = {
    "get": "http-read",
    "put": "http-write",
    "post": "sends-data-out",
    "delete": "http-write",
    "patch": "http-write",
}
_WORDS = ("openapi", "swagger")


def read_operations(folder: Path, project: Project) -> Iterator[tuple[str, Sighting]]:
    """Yield the operations of a folder's OpenAPI documents, each with its request.

    A server that makes a tool of each has no other code for it: it imports or calls something named after OpenAPI. A
    document that is no JSON is left out.
    """
    names = (name.lower() for module in project.modules for node in module.tree.nodes for name in _named(node))
    if not any(word in name for name in names for word in _WORDS):
        return
    for path in list_files(folder, (".json",)):
        try:
            text = path.read_text(encoding="utf-8") if path.stat().st_size <= MAX_FILE_BYTES else ""
            document = json.loads(text) if "paths" in text else None
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(document, dict) and any(word in document for word in _WORDS):
            yield from _operations(document, text.split("\n"), path.relative_to(folder).as_posix())


def _named(node: SyntaxNode) -> Iterator[str]:
    match node:
        case Import(names=names):
            yield from (part for origin in names.values() for part in origin)
        case CallSite(function=function):
            yield last_name(function)


def _operations(document: dict[str, Any], lines: list[str], file: str) -> Iterator[tuple[str, Sighting]]:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], dict) else {}
    host = urlsplit(str(first.get("url", ""))).hostname or str(document.get("host", ""))
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, dict) else ():
        for method, kind in _METHODS.items():
            operation = item.get(method) if isinstance(item, dict) else None
            name = operation.get("operationId") if isinstance(operation, dict) else None
            if isinstance(name, str) and name:
                quoted = json.dumps(name, ensure_ascii=False)
                line = next(
                    (number for number, text in enumerate(lines, 1) if quoted in text and "operationId" in text), 1
                )
                yield (
                    name,
                    Sighting(
                        kind=kind,
                        path=file,
                        line=line,
                        depth=0,
                        text=f"{method.upper()} {path}",
                        host=host,
                        harm=DESTROYS if method in ("delete", "put") else "",
                    ),
                )
