"""Python files below a path, read and never run."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tdqs_mcp.errors import InputError

MAX_FILES = 2_000
"""Python files of one server; the largest published ones have some hundred."""

MAX_FILE_BYTES = 2**20
"""Bytes of one file; a larger one is data that somebody has written as code."""

_FOREIGN = frozenset(("node_modules", "site-packages", "__pycache__", "build", "dist"))
"""Folders of installed, cached or copied code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file as it is."""

    name: str
    """Its path below the root, with forward slashes."""

    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The files of a server and what of it was not read."""

    root: Path
    """The folder that the names start from: the working directory where all files are below it."""

    files: tuple[SourceFile, ...]
    problems: tuple[str, ...] = ()


def read_sources(path: Path) -> Sources:
    """A Python file, or those of a folder without its hidden, installed and linked ones. Raises InputError."""
    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}; give --source the server's Python code")
    whole, here = path.resolve(), Path.cwd().resolve()
    root = here if whole.is_relative_to(here) else whole if whole.is_dir() else whole.parent
    found: list[SourceFile] = []
    problems: list[str] = []
    for file in _python_files(whole):
        name = file.relative_to(root).as_posix()
        if len(found) == MAX_FILES:
            problems.append(f"only the first {MAX_FILES} Python files were read; give a smaller folder")
            break
        try:
            with file.open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            problems.append(f"{name!r} cannot be read: {error.strerror}")
            continue
        if len(content) > MAX_FILE_BYTES:
            problems.append(f"{name!r} was left out: it has more than {MAX_FILE_BYTES} bytes")
        else:
            found.append(SourceFile(name=name, content=content))
    if not found and not problems:
        raise InputError(f"{str(path)!r} holds no Python file; give --source the server's Python code")
    return Sources(root=root, files=tuple(found), problems=tuple(problems))


def _python_files(path: Path) -> Iterator[Path]:
    """In the order of their names; links are followed nowhere below the path."""
    if path.is_file():
        yield path
        return
    for folder, folders, files in os.walk(path):
        here = Path(folder)
        folders[:] = sorted(each for each in folders if not _is_foreign(here / each))
        for name in sorted(files):
            file = here / name
            if name.endswith(".py") and not name.startswith(".") and file.is_file() and not file.is_symlink():
                yield file


def _is_foreign(folder: Path) -> bool:
    return folder.name in _FOREIGN or folder.name.startswith(".") or (folder / "pyvenv.cfg").exists()
