"""A project's configuration file: `tdqs.toml`, or `[tool.tdqs]` in `pyproject.toml`."""

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

    @property
    def origin(self) -> str:
        """How messages name the file."""
        return str(self.path or f"{FILE}, which is not there")

    def entries(self, key: str, shapes: Shapes) -> Sequence[tuple[Mapping[str, Any], str]]:
        """The tables of a list, each with how messages name it. Raises InputError for another key or type of value."""
        found = [(entry, f"{self.path}: {key} {number}") for number, entry in enumerate(self.table.get(key, []), 1)]
        for entry, origin in found:
            check_table(entry, shapes, origin)
        return found


def is_text(value: object) -> bool:
    """Whether a value is a string."""
    return isinstance(value, str)


def is_table(value: object) -> bool:
    """Whether a value is a table."""
    return isinstance(value, Mapping)


def _is_list_of(is_entry: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(is_entry, value))


_SHAPES: Shapes = {
    "select": (_is_list_of(is_text), 'a list of strings; write select = ["TDQ105"]'),
    "ignore": (_is_list_of(is_text), 'a list of strings; write ignore = ["TDQ105"]'),
    "profile": (is_text, "a string"),
    "client": (_is_list_of(is_text), 'a list of strings; write client = ["claude-code"]'),
    "fail-on": (is_text, "a string"),
    "severity": (is_table, "a table; write [severity]"),
    "suppress": (_is_list_of(is_table), "a list of tables; write each as [[suppress]]"),
    "judges": (lambda value: is_table(value) and all(map(is_table, value.values())), "tables; write [judges.NAME]"),
    "accept": (_is_list_of(is_table), "a list of tables; write each as [[accept]]"),
}


def read_configuration(directory: Path) -> Configuration:
    """The nearest configuration in a directory or above it, `tdqs.toml` before `pyproject.toml`.

    Raises InputError, which names file and key.
    """
    for folder in (directory, *directory.parents):
        own, shared = folder / FILE, folder / "pyproject.toml"
        if own.is_file():
            return _configuration(_parse(read_bytes(own), own), own)
        content = read_bytes(shared) if shared.is_file() else b""
        if b"tdqs" in content:
            tools = _parse(content, shared).get("tool", {})
            if "tdqs" in tools:
                return _configuration(tools["tdqs"], shared)
    return Configuration()


def check_table(table: Mapping[str, Any], shapes: Shapes, origin: str) -> None:
    """Raises InputError for a key that is not there, which names the nearest, and for a value that it cannot have."""
    for key, value in table.items():
        if key not in shapes:
            known = nearest(key, shapes) or f"; the keys are {', '.join(shapes)}"
            raise InputError(f"{origin}: there is no key {key!r}{known}")
        is_valid, words = shapes[key]
        if not is_valid(value):
            raise InputError(f"{origin}: `{key}` must be {words}")


def _configuration(table: object, path: Path) -> Configuration:
    if not isinstance(table, Mapping):
        raise InputError(f"{path}: `tdqs` must be a table; write [tool.tdqs]")
    check_table(table, _SHAPES, str(path))
    return Configuration(table=table, path=path)


def _parse(content: bytes, path: Path) -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415  # a project without a configuration does not wait for it

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:  # not TOML, or not UTF-8
        raise InputError(f"{path} is not valid TOML: {error}") from error
