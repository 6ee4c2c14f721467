"""What a project has decided about its findings: flags before environment before file before default."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.results.findings import Severity, Suppression
from tdqs_mcp.results.verdicts import Acceptance
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule_selection import Selection, nearest
from tdqs_mcp.sources.files import read_bytes

FILE = "tdqs.toml"
NEVER = "never"
"""The value of fail-on that lets every finding pass."""

FAIL_ON = (*(severity.value for severity in Severity), NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What one level says about the rules that run; None where it says nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    profile: str | None = None
    fail_on: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A `tdqs.toml`, or the `[tool.tdqs]` of a `pyproject.toml`."""

    path: Path | None = None
    """None where no file was found."""

    choice: Choice = field(default_factory=Choice)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()
    judges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Profiles of judges by name, as they stand there."""

    accepted: tuple[Acceptance, ...] = ()
    """Held scores of models that somebody has read and believes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which rules run, which findings are lived with, and from which severity one fails."""

    selection: Selection = registry.DEFAULT
    suppressions: tuple[Suppression, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    """None where no finding fails."""


def read_policy(flags: Choice, *, environ: Mapping[str, str], configuration: Configuration) -> Policy:
    """The policy in force, each setting from the highest level that says it.

    What a flag selects in full, no lower level ignores. Raises InputError and UnknownIdError.
    """
    levels = (flags, _environment(environ), configuration.choice)
    names = next((each.select for each in levels if each.select is not None), ())
    ignored = next((each.ignore for each in levels if each.ignore is not None), ())
    if flags.ignore is None and flags.select is not None:
        wanted = {name.lower() for name in flags.select}
        ignored = tuple(name for name in ignored if name.lower() not in wanted)
    return Policy(
        selection=registry.select(
            names=names,
            ignored=ignored,
            profile=next((each.profile for each in levels if each.profile is not None), None),
            severities=configuration.severities,
        ),
        suppressions=configuration.suppressions,
        fail_on=_fail_on(next((each.fail_on for each in levels if each.fail_on is not None), Severity.ERROR)),
    )


def read_configuration(directory: Path) -> Configuration:
    """The nearest configuration in a directory or above it. Raises InputError, which names file and key."""
    found = find_configuration(directory)
    return Configuration() if found is None else _configuration(*found)


def find_configuration(directory: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """The nearest file upward that configures us, and its table: `tdqs.toml` before `pyproject.toml`."""
    for folder in (directory, *directory.parents):
        own, shared = folder / FILE, folder / "pyproject.toml"
        if own.is_file():
            return own, _parsed(read_bytes(own), own)
        content = read_bytes(shared) if shared.is_file() else b""
        if b"tdqs" in content:
            tools = _table(_parsed(content, shared), "tool", shared)
            if "tdqs" in tools:
                return shared, _table(tools, "tdqs", shared)
    return None


def _configuration(path: Path, table: Mapping[str, Any]) -> Configuration:
    _refuse_unknown(table, _KEYS, str(path))
    choice = Choice(
        select=_words(table, "select", path),
        ignore=_words(table, "ignore", path),
        profile=_text(table, "profile", str(path)),
        fail_on=_text(table, "fail-on", str(path)),
    )
    _check(choice, str(path))
    judges = _judges(table.get("judges", {}), path)
    return Configuration(
        path=path,
        choice=choice,
        severities=dict(_severity(*entry, f"{path}: severity") for entry in _table(table, "severity", path).items()),
        suppressions=_suppressions(table.get("suppress", []), path),
        judges=judges,
        accepted=_accepted(table.get("accept", []), path),
    )


def _environment(environ: Mapping[str, str]) -> Choice:
    """TDQS_SELECT and TDQS_IGNORE with commas, TDQS_PROFILE, TDQS_FAIL_ON; an empty variable says nothing."""

    def words(name: str) -> tuple[str, ...] | None:
        return tuple(word.strip() for word in environ.get(name, "").split(",") if word.strip()) or None

    choice = Choice(
        select=words("TDQS_SELECT"),
        ignore=words("TDQS_IGNORE"),
        profile=environ.get("TDQS_PROFILE", "").strip() or None,
        fail_on=environ.get("TDQS_FAIL_ON", "").strip() or None,
    )
    _check(choice, "the environment")
    return choice


def _check(choice: Choice, origin: str) -> None:
    """Raises InputError that says where an unknown word stands."""
    try:
        for names in (choice.select or (), choice.ignore or ()):
            registry.select(names=names, profile="strict")
        registry.select(profile=choice.profile)
        _fail_on(choice.fail_on or NEVER)
    except TdqsError as error:
        raise InputError(f"{origin}: {error}") from error


def _fail_on(word: str) -> Severity | None:
    if word not in FAIL_ON:
        raise InputError(f"fail-on cannot be {word!r}; give one of {', '.join(FAIL_ON)}")
    return None if word == NEVER else Severity(word)


def _severity(rule: str, word: object, origin: str) -> tuple[str, Severity]:
    if not isinstance(word, str) or word not in tuple(Severity):
        raise InputError(f"{origin} of {rule!r} cannot be {word!r}; give one of {', '.join(Severity)}")
    return _rule(rule, origin), Severity(word)


def _rule(name: str, origin: str) -> str:
    try:
        return registry.find(name).id
    except TdqsError as error:
        raise InputError(f"{origin}: {error}") from error


def _suppressions(entries: object, path: Path) -> tuple[Suppression, ...]:
    if not isinstance(entries, list):
        raise InputError(f"{path}: suppress is no list of tables; write each as [[suppress]]")
    return tuple(_suppression(entry, f"{path}: suppress {number}") for number, entry in enumerate(entries, start=1))


def _suppression(entry: object, origin: str) -> Suppression:
    table = entry if isinstance(entry, Mapping) else {}
    _refuse_unknown(table, ("rule", "tool", "server", "reason"), origin)
    rule, reason = _text(table, "rule", origin), _text(table, "reason", origin)
    if rule is None or reason is None or not reason.strip():
        raise InputError(f"{origin} needs a rule and a reason; say why the finding may stay")
    return Suppression(
        rule=_rule(rule, origin),
        reason=reason,
        tool=_text(table, "tool", origin),
        server=_text(table, "server", origin),
    )


def _accepted(entries: object, path: Path) -> tuple[Acceptance, ...]:
    if not isinstance(entries, list):
        raise InputError(f"{path}: `accept` must be a list of tables; write each as [[accept]]")
    return tuple(_acceptance(entry, f"{path}: accept {number}") for number, entry in enumerate(entries, start=1))


def _acceptance(entry: object, origin: str) -> Acceptance:
    table = entry if isinstance(entry, Mapping) else {}
    _refuse_unknown(table, _ACCEPTANCE, origin)
    given = {key: _text(table, key, origin) for key in _ACCEPTANCE}
    if not all(text and text.strip() for text in given.values()):
        raise InputError(f"{origin} needs {', '.join(_ACCEPTANCE)}: they stand in the reason why the score is held")
    return Acceptance(
        tool=given["tool"], input_hash=given["inputHash"], judge=given["judge"], reason=given["reason"] or ""
    )


def _judges(entries: object, path: Path) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(entries, Mapping):
        raise InputError(f"{path}: judges is no table; write [judges.NAME]")
    return {name: _table(entries, name, path) for name in entries}


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], origin: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{origin}: there is no key {key!r}{nearest(key, known)}")


def _words(table: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...] | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise InputError(f'{path}: {key} is no list of texts; write {key} = ["TDQ105"]')
    return tuple(value)


def _text(table: Mapping[str, Any], key: str, origin: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{origin}: {key} is no text")
    return value


def _table(table: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise InputError(f"{path}: {key} is no table")
    return value


def _parsed(content: bytes, path: Path) -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415  # a project without a configuration does not wait for it

    try:
        return tomllib.loads(content.decode())
    except ValueError as error:  # no TOML, or no UTF-8
        raise InputError(f"{path} is no valid TOML: {error}") from error


_KEYS = ("select", "ignore", "profile", "fail-on", "severity", "suppress", "judges", "accept")
_ACCEPTANCE = ("tool", "inputHash", "judge", "reason")
