"""Judge profiles, as they stand under `[judges.NAME]` in a project's `tdqs.toml`; keys never do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.endpoint import MAX_CONCURRENCY, MAX_WAIT
from tdqs_mcp.results.verdicts import HOST

KINDS = ("offline", "anthropic", "openai")
ONLY_ON_CALL = ("sampling", HOST)
"""Judges that a single call of the MCP server names: the caller's own model, which nobody else can ask."""

MAX_SAMPLES = 9
MAX_LENIENCY = 3
"""Tenths; a judge that gives more above the estimate than that is guarded by nothing."""

_MEMBERS = ("kind", "base-url", "model", "samples", "leniency", "concurrency", "timeout", "request-overrides")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One named judge."""

    name: str
    kind: str
    base_url: str | None = None
    model: str | None = None
    samples: int = 1
    """How often the model is asked for each case; the median counts."""

    leniency: int = 0
    """Tenths by which its scores may lie further above the offline estimate before they are held."""

    concurrency: int | None = None
    """Requests under way at once, for each sample."""

    timeout: float | None = None
    """Seconds for one answer."""

    request_overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def key_variable(self) -> str:
        """The environment variable of its key: no file can send another judge's key to an address that it names."""
        return f"TDQS_API_KEY_{''.join(char if char.isalnum() else '_' for char in self.name).upper()}"


def read_profiles(judges: Mapping[str, Mapping[str, Any]], *, origin: str) -> Mapping[str, Profile]:
    """The judge profiles of a configuration by name. Raises InputError, which says what to change in it."""
    return {name: _profile(name, entry, where=f"[judges.{name}] in {origin!r}") for name, entry in judges.items()}


def _profile(name: str, entry: Mapping[str, Any], *, where: str) -> Profile:
    if name in ONLY_ON_CALL:
        raise InputError(f"{where} takes the name of the caller's own model; give the profile another one")
    if "api-key" in entry:
        raise InputError(f"{where} holds a key; take it out and set {Profile(name=name, kind='').key_variable}")
    unknown = [key for key in entry if key not in _MEMBERS]
    if unknown:
        raise InputError(f"{where} has no {unknown[0]!r}; it may have {', '.join(_MEMBERS)}")
    kind = _typed(entry, "kind", str, "openai", where)
    if kind in ONLY_ON_CALL:
        raise InputError(
            f"kind of {where} cannot be {kind!r}: the caller's own model judges alone, in one call of the MCP server, "
            f"or as jury:NAME,host there, without a profile; give one of {', '.join(KINDS)}"
        )
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
        leniency=_leniency(entry, where),
        concurrency=_bounded(entry, "concurrency", int, MAX_CONCURRENCY, where),
        timeout=_bounded(entry, "timeout", int | float, MAX_WAIT, where),
        request_overrides=_typed(entry, "request-overrides", Mapping, {}, where),
    )


def _leniency(entry: Mapping[str, Any], where: str) -> int:
    value = entry.get("leniency", 0)
    tenths = round(10 * value) if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not 0 <= tenths <= MAX_LENIENCY or tenths / 10 != value:
        raise InputError(f"leniency of {where} must be 0, 0.1, 0.2 or 0.3")
    return tenths


def _bounded(entry: Mapping[str, Any], key: str, kind: Any, most: float, where: str) -> Any:  # noqa: ANN401
    value = entry.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not 0 < value <= most):
        raise InputError(f"{key} of {where} must be {'1' if kind is int else 'more than 0'} to {most:g}")
    return value


def _typed(entry: Mapping[str, Any], key: str, kind: type, default: Any, where: str) -> Any:  # noqa: ANN401
    value = entry.get(key, default)
    if value is not default and not isinstance(value, kind):
        words = {str: "a string", int: "a whole number", Mapping: "a table"}
        raise InputError(f"{key} of {where} must be {words[kind]}")
    return value
