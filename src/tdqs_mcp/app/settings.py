"""The judge that is chosen and its settings: explicit values before the environment before the configuration file."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from tdqs_mcp.app.configuration import Shapes, check_table, is_table, is_text, read_user_configuration, user_file
from tdqs_mcp.errors import InputError, nearest
from tdqs_mcp.judges.budget import Budget, Price, cost
from tdqs_mcp.results.verdicts import HOST, Acceptance
from tdqs_mcp.rubrics.prompt import PromptForm

CHOICES = "offline[:CALIBRATION], anthropic[:MODEL], openai[:MODEL] or jury:NAME,NAME"
"""How messages list the judges."""

WRITERS = "offline, anthropic[:MODEL] or openai[:MODEL]"
"""How messages list the writers of rewrites."""

ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
KINDS = ("offline", "anthropic", "openai")
"""What a judge profile may be."""

ONLY_ON_CALL = ("sampling", HOST)
"""Judges that a single call of the MCP server names: the caller's own model, which nobody else can ask."""

MAX_SAMPLES = 9
_ACCEPTANCE: Shapes = dict.fromkeys(("part", "inputHash", "judge", "reason"), (is_text, "a string"))
_PARTS = "tool:NAME, coherence or skill"
"""How messages list what can be accepted."""


class JudgeKind(StrEnum):
    """Kinds of judges that `--judge` names."""

    OFFLINE = "offline"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    JURY = "jury"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A judge and its connection. The offline judge has no connection, whatever the environment holds."""

    judge: JudgeKind = JudgeKind.OFFLINE
    calibration: str | None = None
    """The offline judge's version; None for the newest."""

    base_url: str | None = field(default=None, repr=False)
    """Checked when the judge is made; until then it may hold a password."""

    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_name: str = "TDQS_API_KEY"
    """The variable that the key came from or belongs into."""

    request_overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """JSON members merged into every request."""

    form: PromptForm = PromptForm.HARDENED
    cache: Path | None = None
    """The folder that keeps judgments; None to keep none."""

    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The user's own, by model, in nanodollars a token."""

    concurrency: int | None = None
    """Requests to the model under way at once; None for an endpoint's usual number."""

    timeout: float | None = None
    """Seconds for one of its answers, likewise."""

    samples: int = 1
    accepted: tuple[Acceptance, ...] = ()
    """The held scores that somebody believes."""

    name: str = ""
    """A juror's, as its profile has it."""

    members: tuple["Settings", ...] = ()
    """A jury's judges."""

    has_host: bool = False
    """The calling agent sits on the jury too; only the MCP server has one."""

    @property
    def price(self) -> Price:
        """Return what the models of these settings charge."""
        return partial(cost, own=self.prices)


def read_settings(
    environ: Mapping[str, str],
    *,
    judge: str | None = None,
    base_url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    request_overrides: Mapping[str, Any] | None = None,
    exact_prompt: bool = False,
    budget: Budget | None = None,
    accept: Sequence[str] = (),
    in_server: bool = False,
) -> Settings:
    """The settings in force: explicit values, else the TDQS_ variables of the same names.

    Only a judge that is named takes any of the others: a stray key never costs money or sends a definition out.
    TDQS_BASE_URL, TDQS_MODEL and the TDQS_API_KEY beside them are those of an endpoint that speaks OpenAI's language,
    never the anthropic judge's, whose key is ANTHROPIC_API_KEY where there is no other. The members of a jury are
    profiles in the user's own configuration, which may also accept held scores, as `accept` does by parts
    (`tool:NAME`, `coherence`, `skill`) or all by `*`. Raises InputError.
    """
    kind, named = _parse_judge(judge or environ.get("TDQS_JUDGE", "").strip() or JudgeKind.OFFLINE)
    if kind is JudgeKind.OFFLINE:
        options = {
            "base URL": base_url,
            "model": model,
            "API key": api_key,
            "overrides": request_overrides,
            "exact prompt": exact_prompt,
            "budget": budget not in (None, Budget()),
            "--accept": accept,
        }
        if unsupported := [name for name, value in options.items() if value]:
            # Numbers of the offline judge could be taken for the model's.
            unused = " and no ".join(unsupported)
            raise InputError(f"the offline judge takes no {unused}: leave it out, or name another --judge: {CHOICES}")
        return Settings(calibration=named)
    form = PromptForm.EXACT if exact_prompt else PromptForm.HARDENED
    common = replace(
        _read_limits(environ),
        judge=kind,
        form=form,
        cache=cache_folder(environ),
        budget=budget or Budget(),
        prices=read_prices(environ),
        accepted=read_accepted(environ, accept),
    )
    if kind is JudgeKind.JURY:
        if base_url or model or api_key or request_overrides:
            raise InputError(
                f"the members of a jury have addresses and models of their own: set them in {user_file(environ)}"
            )
        names, has_host = _read_seats(named or "", in_server=in_server)
        members = _members(environ, names)
        return replace(common, members=tuple(replace(member, form=form) for member in members), has_host=has_host)

    chosen = replace(
        common,
        base_url=_stripped(base_url),
        model=_stripped(model or named),
        api_key=_stripped(api_key),
        request_overrides=_read_overrides(environ) if request_overrides is None else request_overrides,
    )
    if kind is JudgeKind.ANTHROPIC:
        return _anthropic(chosen, environ)
    return replace(
        chosen,
        base_url=chosen.base_url or _variable(environ, "TDQS_BASE_URL"),
        model=chosen.model or _variable(environ, "TDQS_MODEL"),
        api_key=chosen.api_key or _variable(environ, "TDQS_API_KEY"),
    )


def _anthropic(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the vendor's settings where nothing is given explicitly; TDQS_API_KEY may belong to TDQS_BASE_URL."""
    is_elsewhere = settings.base_url is None and _variable(environ, "TDQS_BASE_URL") is not None
    if own_key := settings.api_key or (None if is_elsewhere else _variable(environ, "TDQS_API_KEY")):
        return replace(settings, api_key=own_key)
    vendors = _variable(environ, ANTHROPIC_KEY)
    missing = ANTHROPIC_KEY if is_elsewhere else f"{ANTHROPIC_KEY} or TDQS_API_KEY"
    return replace(settings, api_key=vendors, key_name=ANTHROPIC_KEY if vendors else missing)


def read_writer(environ: Mapping[str, str], writer: str, *, base_url: str | None = None) -> Settings:
    """The settings of a model that writes rewrites, from the same variables as a judge's. Raises InputError."""
    if writer.strip().partition(":")[0] not in (JudgeKind.OPENAI, JudgeKind.ANTHROPIC):
        raise InputError(f"there is no writer {writer!r}: set --writer to {WRITERS}")
    return read_settings(environ, judge=writer, base_url=base_url)


def cache_folder(environ: Mapping[str, str]) -> Path | None:
    """The folder that TDQS_CACHE names, else one below the platform's cache folder; None for "off"."""
    named = _variable(environ, "TDQS_CACHE")
    if named and named.lower() == "off":
        return None
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("tdqs-mcp", appauthor=False)


def _read_seats(names: str, *, in_server: bool) -> tuple[list[str], bool]:
    """The profiles on a jury, and whether the calling agent is on it too. Raises InputError."""
    seats = [name.strip() for name in names.split(",") if name.strip()]
    profiles = [name for name in seats if name != HOST]
    has_host = HOST in seats
    if has_host and not in_server:
        raise InputError(
            f"{HOST} is the calling agent, who sits only on a jury of the MCP server: leave it out here, or start "
            f"tdqs-mcp serve --judge jury:NAME,{HOST}"
        )
    if len(profiles) + has_host < 2 or not profiles:
        raise InputError("a jury has at least two members: set --judge or TDQS_JUDGE to jury:NAME,NAME")
    return profiles, has_host


def _members(environ: Mapping[str, str], members: Sequence[str]) -> list[Settings]:
    """The settings of a jury's members. Raises InputError for a name without a profile."""
    configuration = read_user_configuration(environ)
    where = configuration.origin
    profiles = {
        name: _profile(name, entry, f"{file}: [judges.{name}]") for name, entry, file in configuration.members("judges")
    }
    for name in members:
        if name not in profiles:
            names = ", ".join(sorted(profiles)) or "none"
            raise InputError(f"there is no judge profile {name!r} in {where} (profiles: {names}); add [judges.{name}]")
    return [_member(environ, profiles[name]) for name in members]


def _profile(name: str, entry: Mapping[str, Any], origin: str) -> Settings:
    """A judge as its profile has it, which never holds a key. Raises InputError, which says what to change."""
    from tdqs_mcp.judges.endpoint import MAX_CONCURRENCY, MAX_WAIT  # noqa: PLC0415  # only a jury has profiles

    if name in ONLY_ON_CALL:
        raise InputError(f"{origin} takes the name of the caller's own model; give the profile another one")
    if "api-key" in entry:
        raise InputError(f"{origin} holds a key; take it out and set {_key_variable(name)}")
    if entry.get("kind") in ONLY_ON_CALL:
        raise InputError(
            f"{origin}: `kind` cannot be {entry['kind']!r}: the caller's own model judges alone, in one call of the "
            f"MCP server, or as jury:NAME,host there, without a profile; give one of {', '.join(KINDS)}"
        )
    shapes: Shapes = {
        "kind": (KINDS.__contains__, f"one of {', '.join(KINDS)}"),
        "base-url": (is_text, "a string"),
        "model": (is_text, "a string"),
        "samples": (_is_within(MAX_SAMPLES, int), f"1 to {MAX_SAMPLES}"),
        "concurrency": (_is_within(MAX_CONCURRENCY, int), f"1 to {MAX_CONCURRENCY}"),
        "timeout": (_is_within(MAX_WAIT, int, float), f"more than 0 to {MAX_WAIT:g}"),
        "request-overrides": (is_table, "a table"),
    }
    check_table(entry, shapes, origin)
    return Settings(
        name=name,
        judge=JudgeKind(entry.get("kind", JudgeKind.OPENAI)),
        base_url=entry.get("base-url"),
        model=entry.get("model"),
        samples=entry.get("samples", 1),
        concurrency=entry.get("concurrency"),
        timeout=entry.get("timeout"),
        request_overrides=entry.get("request-overrides", {}),
    )


def _is_within(most: float, *kinds: type) -> Callable[[Any], bool]:
    # `true` is an int of Python, and TOML has nan, which no comparison lets pass
    return lambda value: type(value) in kinds and 0 < value <= most


def _key_variable(name: str) -> str:
    """The environment variable of a profile's key: no file can send another judge's key to an address that it names."""
    return f"TDQS_API_KEY_{''.join(char if char.isalnum() else '_' for char in name).upper()}"


def _member(environ: Mapping[str, str], profile: Settings) -> Settings:
    """A profile with what the environment adds: its own key, or the common endpoint with the common key.

    The common endpoint speaks OpenAI's language, so an anthropic member takes neither its address nor its key.
    """
    is_anthropic = profile.judge is JudgeKind.ANTHROPIC
    shared_name, own_name = ANTHROPIC_KEY if is_anthropic else "TDQS_API_KEY", _key_variable(profile.name)
    own, usual = _variable(environ, own_name), _read_limits(environ)
    is_elsewhere = bool(own or profile.base_url)
    common_url = _variable(environ, "TDQS_BASE_URL") if profile.judge is JudgeKind.OPENAI else None
    return replace(
        profile,
        concurrency=profile.concurrency or usual.concurrency,
        timeout=profile.timeout or usual.timeout,
        base_url=profile.base_url or common_url,
        api_key=own if is_elsewhere else _variable(environ, shared_name),
        key_name=own_name if is_elsewhere else shared_name,
    )


ALL_PARTS = "*"
"""Every part; a tool of this name is `tool:*`."""


def read_accepted(environ: Mapping[str, str], parts: Sequence[str]) -> tuple[Acceptance, ...]:
    """Return the held scores that are accepted, by part, all, or by the user's configuration. Raises InputError."""
    entries = read_user_configuration(environ).entries("accept", _ACCEPTANCE)
    named = (Acceptance() if part == ALL_PARTS else Acceptance(part=_read_part(part, "--accept")) for part in parts)
    return (*named, *(_read_acceptance(*entry) for entry in entries))


def _read_part(part: str, origin: str) -> str:
    """The part as it stands. Raises InputError for a name without its kind, which could mean two parts."""
    if part in ("coherence", "skill") or (part.startswith("tool:") and part != "tool:"):
        return part
    raise InputError(
        f"{origin}: {part!r} is no part; write {_PARTS}, as in tool:{part.removeprefix('tool:') or 'NAME'}"
    )


def _read_acceptance(entry: Mapping[str, str], origin: str) -> Acceptance:
    if not all(entry.get(key, "").strip() for key in _ACCEPTANCE):
        raise InputError(f"{origin} needs {', '.join(_ACCEPTANCE)}: they stand in the reason why the score is held")
    return Acceptance(
        part=_read_part(entry["part"], origin),
        input_hash=entry["inputHash"],
        judge=entry["judge"],
        reason=entry["reason"],
    )


_PRICES: Shapes = dict.fromkeys(
    ("input", "output", "cache-read"),
    (lambda value: type(value) in (int, float) and 0 <= value < MAX_PRICE, "dollars per million tokens, such as 0.25"),
)
MAX_PRICE = 10**6


def read_prices(environ: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The user's prices as the table of prices has them. Raises InputError."""
    prices = {}
    for model, entry, origin in read_user_configuration(environ).members("prices"):
        check_table(entry, _PRICES, f"{origin}: [prices.{model!r}]")
        rate, output, cached = (entry.get(name, 0) for name in ("input", "output", "cache-read"))
        rates = {"input": rate, "output": output, "cache_read": cached if "cache-read" in entry else rate}
        rates |= dict.fromkeys(("cache_write_5m", "cache_write_1h"), rate)
        prices[model] = {name: int(dollars * 1000 + 0.5) for name, dollars in rates.items()}
    return prices


def _read_limits(environ: Mapping[str, str]) -> Settings:
    """How many requests at once, and how long one may take, as the environment says. Raises InputError."""
    concurrency, timeout = _variable(environ, "TDQS_CONCURRENCY"), _variable(environ, "TDQS_TIMEOUT")
    try:
        return Settings(
            concurrency=None if concurrency is None else int(concurrency),
            timeout=None if timeout is None else float(timeout),
        )
    except ValueError:
        raise InputError("TDQS_CONCURRENCY must be a whole number, TDQS_TIMEOUT a number of seconds") from None


def _stripped(text: str | None) -> str | None:
    return (text or "").strip() or None


def _variable(environ: Mapping[str, str], name: str) -> str | None:
    return _stripped(environ.get(name))


def _parse_judge(spec: str) -> tuple[JudgeKind, str | None]:
    """A judge's name, and its model (which may contain colons) or a jury's members if given."""
    name, separator, rest = spec.strip().partition(":")
    if name not in tuple(JudgeKind):
        raise InputError(
            f"there is no judge {name!r}{nearest(name, JudgeKind)}; set --judge or TDQS_JUDGE to {CHOICES}"
        )
    kind = JudgeKind(name)
    if separator and kind is JudgeKind.OFFLINE:
        from tdqs_mcp.judges.offline import versions  # noqa: PLC0415

        if rest not in versions():
            raise InputError(f"there is no calibration {rest!r} of the offline judge: it has {', '.join(versions())}")
    if separator and not rest and kind is not JudgeKind.JURY:
        raise InputError(f"{name}: names no model: set --judge or TDQS_JUDGE to {name}:MODEL, or leave the colon out")
    return kind, rest or None


def _read_overrides(environ: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        parsed = json.loads(environ.get("TDQS_REQUEST_OVERRIDES", "").strip() or "{}")
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise InputError('TDQS_REQUEST_OVERRIDES must be a JSON object, for example {"max_tokens": 2000}')
    return parsed
