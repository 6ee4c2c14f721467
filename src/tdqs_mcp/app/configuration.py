"""Configuration files: a project's `tdqs.toml` or `[tool.tdqs]` in `pyproject.toml`, and the user's own.

A project's file decides what is reported of its definitions. Whom to trust is the user's: which scores are believed,
and where a key goes.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tdqs_mcp.errors import InputError, nearest
from tdqs_mcp.sources.files import read_bytes

FILE = "tdqs.toml"

Shapes: TypeAlias = Mapping[str, tuple[Callable[[Any], bool], str]]
"""The keys of a table, each with what its value must be: a predicate and the same in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The nearest configuration file: its keys are known and have the right type; what they mean is not checked."""

    table: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    """None if there is no file."""

    extended: tuple["Configuration", ...] = ()
    """The files that it extends; what stands in it, or in a later one, counts before what stands in them."""

    @property
    def origin(self) -> str:
        """How messages name the file."""
        return str(self.path or f"{FILE}, which is not there")

    @property
    def locators(self) -> list[str]:
        """Locators for a command that names none; paths are those from the file's folder."""
        named = next((file for file in reversed(self.files) if file.path and "locator" in file.table), None)
        if named is None or named.path is None:
            return []
        value, folder = named.table["locator"], named.path.parent
        locators = [value] if isinstance(value, str) else value
        return [entry if ":" in entry or entry == "-" else os.path.relpath(folder / entry) for entry in locators]

    @property
    def files(self) -> tuple["Configuration", ...]:
        """All files, the one that counts first at the end."""
        return (*(file for base in self.extended for file in base.files), self)

    def members(self, key: str) -> list[tuple[str, Any, str]]:
        """The members of a table in all files, each with its file."""
        return [(name, value, file.origin) for file in self.files for name, value in file.table.get(key, {}).items()]

    def entries(self, key: str, shapes: Shapes) -> Sequence[tuple[Mapping[str, Any], str]]:
        """The tables of a list, each with how messages name it. Raises InputError for another key or type of value."""
        entries = [
            (entry, f"{file.path}: {key} {number}")
            for file in self.files
            for number, entry in enumerate(file.table.get(key, []), 1)
        ]
        for entry, origin in entries:
            check_table(entry, shapes, origin)
        return entries


def is_text(value: object) -> bool:
    """Return whether a value is a string."""
    return isinstance(value, str)


def is_table(value: object) -> bool:
    """Return whether a value is a table."""
    return isinstance(value, Mapping)


def _is_list_of(is_entry: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(is_entry, value))


_SHAPES: Shapes = {
    "locator": (
        lambda value: is_text(value) or _is_list_of(is_text)(value),
        'a locator or a list of them; write locator = "tools.json"',
    ),
    "extend": (
        lambda value: is_text(value) or _is_list_of(is_text)(value),
        'a path or a list of paths; write extend = "../tdqs.toml"',
    ),
    "select": (_is_list_of(is_text), 'a list of strings; write select = ["TDQ105"]'),
    "ignore": (_is_list_of(is_text), 'a list of strings; write ignore = ["TDQ105"]'),
    "profile": (is_text, 'a string; write profile = "strict"'),
    "client": (_is_list_of(is_text), 'a list of strings; write client = ["claude-code"]'),
    "fail-on": (is_text, 'a string; write fail-on = "error"'),
    "severity": (is_table, "a table; write [severity]"),
    "limits": (is_table, "a table; write [limits]"),
    "suppress": (_is_list_of(is_table), "a list of tables; write each as [[suppress]]"),
}
"""What a project's file may decide."""

_USER_SHAPES: Shapes = {
    "judges": (lambda value: is_table(value) and all(map(is_table, value.values())), "tables; write [judges.NAME]"),
    "accept": (_is_list_of(is_table), "a list of tables; write each as [[accept]]"),
    "prices": (lambda value: is_table(value) and all(map(is_table, value.values())), 'tables; write [prices."MODEL"]'),
}
"""What only the user's own file may decide: who names a juror's address receives its key."""


def read_configuration(directory: Path) -> Configuration:
    """The nearest configuration in a directory or above it, `tdqs.toml` before `pyproject.toml`.

    Raises InputError, which names file and key.
    """
    for folder in (directory, *directory.parents):
        own, shared = folder / FILE, folder / "pyproject.toml"
        if own.is_file():
            return read_configuration_file(own)
        if shared.is_file() and _table(shared) is not None:
            return read_configuration_file(shared)
    return Configuration()


def user_file(environ: Mapping[str, str]) -> Path:
    """Return the user's own configuration: the file that TDQS_CONFIG names, else one in the platform's folder."""
    if named := environ.get("TDQS_CONFIG", "").strip():
        return Path(named).expanduser()
    from platformdirs import user_config_path  # noqa: PLC0415  # the offline judge goes without

    return user_config_path("tdqs-mcp", appauthor=False) / "config.toml"


def read_user_configuration(environ: Mapping[str, str]) -> Configuration:
    """Return the user's own configuration, empty if there is none. Raises InputError."""
    path = user_file(environ)
    if not path.is_file():
        if environ.get("TDQS_CONFIG", "").strip():
            raise InputError(f"TDQS_CONFIG names {str(path)!r}, and there is no such file")
        return Configuration(path=path)
    table = _parse(read_bytes(path), path)
    check_table(table, _USER_SHAPES, str(path))
    return Configuration(table=table, path=path)


def check_table(table: Mapping[str, Any], shapes: Shapes, origin: str) -> None:
    """Raises InputError for a key that is not there, which names the nearest, and for a value that it cannot have."""
    for key, value in table.items():
        if key not in shapes:
            suggestion = nearest(key, shapes) or f"; the keys are {', '.join(shapes)}"
            # `[tool.tdqs]`, as pyproject.toml has it
            suggestion = (
                "; take the heading [tool.tdqs] out, which is for pyproject.toml" if key == "tool" else suggestion
            )
            raise InputError(f"{origin}: there is no key {key!r}{suggestion}")
        is_valid, words = shapes[key]
        if not is_valid(value):
            raise InputError(f"{origin}: `{key}` must be {words}")


def read_configuration_file(path: Path, extending: tuple[Path, ...] = ()) -> Configuration:
    """The configuration in a file, with those that it extends. Raises InputError."""
    table = _table(path)
    if not isinstance(table, Mapping):
        raise InputError(f"{path}: `tdqs` must be a table; write [tool.tdqs]")
    for key in _USER_SHAPES:
        if key in table:
            raise InputError(
                f"{path}: `{key}` is not for a project's file, which must not decide which scores are believed or "
                f"where a key goes; move it to your own configuration: {user_file(os.environ)}"
            )
    check_table(table, _SHAPES, str(path))
    bases = table.get("extend", [])
    extended = []
    for name in [bases] if isinstance(bases, str) else bases:
        base = path.parent / Path(name).expanduser()
        if base.resolve() in {ancestor.resolve() for ancestor in (*extending, path)}:
            raise InputError(f"{path}: `extend` leads back to {str(base)!r}; take one of them out")
        if not base.is_file():
            raise InputError(
                f"{path}: `extend` names {name!r}, and there is no such file; give the path of a TOML file"
            )
        extended.append(read_configuration_file(base, (*extending, path)))
    return Configuration(table=table, path=path, extended=tuple(extended))


def _table(path: Path) -> object:
    """Return what a file holds for us: all of it, or `[tool.tdqs]` of a `pyproject.toml`; None where that has none."""
    content = read_bytes(path)
    if path.name != "pyproject.toml":
        return _parse(content, path)
    return _parse(content, path).get("tool", {}).get("tdqs") if b"tdqs" in content else None


def _parse(content: bytes, path: Path) -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415  # a project without a configuration does not wait for it

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:  # not TOML, or not UTF-8
        raise InputError(f"{path} is not valid TOML: {error}") from error
