"""Judge profiles, as they stand under `[judges.NAME]` in a project's `tdqs.toml`; keys never do."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tdqs_mcp.errors import InputError

KINDS = ("offline", "openai")
MAX_SAMPLES = 9
_MEMBERS = ("kind", "base-url", "model", "samples", "request-overrides")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One named judge."""

    name: str
    kind: str
    base_url: str | None = None
    model: str | None = None
    samples: int = 1
    """How often the model is asked for each case; the median counts."""

    request_overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def key_variable(self) -> str:
        """The environment variable of its key: no file can send another judge's key to an address that it names."""
        return f"TDQS_API_KEY_{''.join(char if char.isalnum() else '_' for char in self.name).upper()}"


def find_config(cwd: Path) -> Path | None:
    """The nearest `tdqs.toml`, or `pyproject.toml` with a table `tool.tdqs`, from a folder upwards."""
    for folder in (cwd, *cwd.parents):
        for name in ("tdqs.toml", "pyproject.toml"):
            path = folder / name
            if path.is_file() and (name == "tdqs.toml" or _table(path) is not None):
                return path
    return None


def read_profiles(path: Path | None) -> Mapping[str, Profile]:
    """The judge profiles of a configuration file by name. Raises InputError, which says what to change in it."""
    table = (_table(path) if path else None) or {}
    judges = table.get("judges", {})
    if not isinstance(judges, Mapping):
        raise InputError(f"judges in {str(path)!r} is no table: write [judges.NAME]")
    return {name: _profile(name, entry, where=f"[judges.{name}] in {str(path)!r}") for name, entry in judges.items()}


def _table(path: Path) -> Mapping[str, Any] | None:
    """Our own part of the file; None where a pyproject.toml has none."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{str(path)!r} is no TOML: {error}") from error
    if path.name == "tdqs.toml":
        return document
    tool = document.get("tool", {})
    table = tool.get("tdqs") if isinstance(tool, Mapping) else None
    return table if isinstance(table, Mapping) else None


def _profile(name: str, entry: object, *, where: str) -> Profile:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} is no table")
    if "api-key" in entry:
        raise InputError(f"{where} holds a key; take it out and set {Profile(name=name, kind='').key_variable}")
    unknown = [key for key in entry if key not in _MEMBERS]
    if unknown:
        raise InputError(f"{where} has no {unknown[0]!r}; it may have {', '.join(_MEMBERS)}")
    kind = _typed(entry, "kind", str, "openai", where)
    if kind not in KINDS:
        raise InputError(f"kind of {where} must be one of {', '.join(KINDS)}, not {kind!r}")
    samples = _typed(entry, "samples", int, 1, where)
    if isinstance(samples, bool) or not 1 <= samples <= MAX_SAMPLES:
        raise InputError(f"samples of {where} must be 1 to {MAX_SAMPLES}")
    return Profile(
        name=name,
        kind=kind,
        base_url=_typed(entry, "base-url", str, None, where),
        model=_typed(entry, "model", str, None, where),
        samples=samples,
        request_overrides=_typed(entry, "request-overrides", Mapping, {}, where),
    )


def _typed(entry: Mapping[str, Any], key: str, kind: type, default: Any, where: str) -> Any:  # noqa: ANN401
    value = entry.get(key, default)
    if value is not default and not isinstance(value, kind):
        words = {str: "a string", int: "a whole number", Mapping: "a table"}
        raise InputError(f"{key} of {where} must be {words[kind]}")
    return value
