"""Which judge is meant and what it needs, from explicit values first and the environment second."""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Budget, Budgeted, Ledger, Previewed, Price, no_price
from tdqs_mcp.judges.judge import Cache, Judge, Model
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.rubrics.prompt import PromptForm

if TYPE_CHECKING:
    from tdqs_mcp.profiles import Profile

JUDGES = "offline, openai[:MODEL] or jury:NAME,NAME"


Wrap: TypeAlias = Callable[[Model], Model]


class JudgeKind(StrEnum):
    """What `--judge` may name."""

    OFFLINE = "offline"
    OPENAI = "openai"
    JURY = "jury"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A judge and its connection; the offline judge has none, whatever the environment holds."""

    judge: JudgeKind = JudgeKind.OFFLINE
    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    request_overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """JSON members merged into every request."""

    form: PromptForm = PromptForm.HARDENED
    cache: Path | None = None
    """The folder that keeps judgements; None to keep none."""

    budget: Budget = field(default_factory=Budget)
    samples: int = 1
    members: tuple["Settings", ...] = ()
    """A jury's judges."""


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
    cwd: Path | None = None,
) -> Settings:
    """The settings in force: explicit values, else the TDQS_ variables of the same names.

    Only a judge that is named takes any of the others: a stray key never costs money or sends a definition out. The
    members of a jury are profiles in the configuration file that is nearest to `cwd`. Raises InputError.
    """
    kind, named_model = _parse_judge(judge or environ.get("TDQS_JUDGE", "").strip() or JudgeKind.OFFLINE)
    if kind is JudgeKind.OFFLINE:
        given = {"base URL": base_url, "model": model, "API key": api_key, "overrides": request_overrides}
        _refuse_unused(given | {"prompt": exact_prompt, "budget": budget not in (None, Budget())})
        return Settings()
    form = PromptForm.EXACT if exact_prompt else PromptForm.HARDENED
    cache = _cache(environ)
    if kind is JudgeKind.JURY:
        if base_url or model or api_key or request_overrides:
            raise InputError("the members of a jury have addresses and models of their own: set them in tdqs.toml")
        members = _members(environ, named_model or "", cwd=cwd or Path.cwd())
        return Settings(
            judge=kind,
            form=form,
            cache=cache,
            budget=budget or Budget(),
            members=tuple(replace(each, form=form) for each in members),
        )

    def value(explicit: str | None, name: str) -> str | None:
        return (explicit or "").strip() or environ.get(name, "").strip() or None

    return Settings(
        judge=kind,
        base_url=value(base_url, "TDQS_BASE_URL"),
        model=value(model or named_model, "TDQS_MODEL"),
        api_key=value(api_key, "TDQS_API_KEY"),
        request_overrides=_overrides(environ) if request_overrides is None else request_overrides,
        form=form,
        cache=cache,
        budget=budget or Budget(),
    )


def warn_caller(message: str) -> None:
    """What a library does with what its user should know."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def make_judge(settings: Settings, *, warn: Callable[[str], None] = warn_caller, price: Price = no_price) -> Judge:
    """The judge that the settings name; `warn` hears of a cache that is of no use. Raises InputError."""
    ledger = Ledger(settings.budget, price)
    wrap = None if settings.budget == Budget() else lambda model: Budgeted(model=model, ledger=ledger)
    return _judge(settings, warn=warn, wrap=wrap)


def make_preview(
    settings: Settings, *, warn: Callable[[str], None] = warn_caller, price: Price = no_price
) -> tuple[Judge, Ledger]:
    """The same judge asking nobody, and the ledger of what it would have asked. Raises InputError."""
    ledger = Ledger(settings.budget, price)
    return _judge(settings, warn=warn, wrap=lambda model: Previewed(model=model, ledger=ledger)), ledger


def _judge(settings: Settings, *, warn: Callable[[str], None], wrap: Wrap | None) -> Judge:
    if settings.judge is JudgeKind.OFFLINE:
        return Offline()
    cache = None if settings.cache is None else _open_cache(settings.cache, warn)
    return _make(settings, cache=cache, wrap=wrap or (lambda model: model))


def _make(settings: Settings, *, cache: Cache | None, wrap: Wrap) -> Judge:
    if settings.judge is JudgeKind.OFFLINE:
        return Offline()
    from tdqs_mcp.judges.jury import Jury  # noqa: PLC0415

    if settings.judge is JudgeKind.JURY:
        return Jury(members=tuple(_make(member, cache=cache, wrap=wrap) for member in settings.members))
    samples = [_prompted(settings, cache=cache, wrap=wrap, sample=number + 1) for number in range(settings.samples)]
    return samples[0] if len(samples) == 1 else Jury(id=settings.judge, members=tuple(samples))


def _prompted(settings: Settings, *, cache: Cache | None, wrap: Wrap, sample: int) -> Judge:
    from tdqs_mcp.judges.prompted import Prompted  # noqa: PLC0415  # validation, which the offline judge goes without
    from tdqs_mcp.judges.remote import Endpoint, OpenAI  # noqa: PLC0415

    if settings.base_url is None:
        raise InputError(
            "the openai judge needs an endpoint: set TDQS_BASE_URL or --base-url, "
            "for example to https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
        )
    if settings.model is None:
        raise InputError("the openai judge needs a model: set TDQS_MODEL or --model, or say --judge openai:MODEL")
    endpoint = Endpoint(
        base_url=settings.base_url,
        model=settings.model,
        api_key=settings.api_key,
        overrides=settings.request_overrides,
    )
    return Prompted(
        id=JudgeKind.OPENAI,
        model=wrap(OpenAI(endpoint)),
        form=settings.form,
        cache=cache,
        parameters=endpoint.digest,
        sample=sample,
    )


def _open_cache(folder: Path, warn: Callable[[str], None]) -> Cache:
    from tdqs_mcp.store.judgements import Judgements  # noqa: PLC0415  # a database, which the offline judge goes without

    return Judgements(folder, warn=warn)


def _cache(environ: Mapping[str, str]) -> Path | None:
    """Where `TDQS_CACHE` says, or below the platform's folder for caches; nowhere for "off"."""
    named = environ.get("TDQS_CACHE", "").strip()
    if named == "off":
        return None
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("tdqs-mcp", appauthor=False)


def _members(environ: Mapping[str, str], names: str, *, cwd: Path) -> list[Settings]:
    """The settings of a jury's members. Raises InputError for a name without a profile."""
    from tdqs_mcp.profiles import find_config, read_profiles  # noqa: PLC0415  # TOML, which only a jury needs

    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if len(wanted) < 2:
        raise InputError("a jury has at least two members: set --judge or TDQS_JUDGE to jury:NAME,NAME")
    config = find_config(cwd)
    profiles = read_profiles(config)
    for name in wanted:
        if name not in profiles:
            known = ", ".join(sorted(profiles)) or "none"
            where = str(config) if config else "tdqs.toml, which is not there"
            raise InputError(f"there is no judge profile {name!r} in {where} (profiles: {known}); add [judges.{name}]")
    return [_member(environ, profiles[name]) for name in wanted]


def _member(environ: Mapping[str, str], profile: "Profile") -> Settings:
    """A profile with what the environment adds: its own key, or the common endpoint with the common key."""
    own_key = environ.get(profile.key_variable, "").strip() or None
    common = environ.get("TDQS_API_KEY", "").strip() or None
    return Settings(
        judge=JudgeKind(profile.kind),
        base_url=profile.base_url or environ.get("TDQS_BASE_URL", "").strip() or None,
        model=profile.model,
        api_key=own_key or (None if profile.base_url else common),
        request_overrides=profile.request_overrides,
        samples=profile.samples,
    )


def _parse_judge(spec: str) -> tuple[JudgeKind, str | None]:
    """`offline`, `openai[:MODEL]` or `jury:NAME,NAME`; a model's own name may hold colons."""
    name, separator, model = spec.strip().partition(":")
    if name not in tuple(JudgeKind):
        raise InputError(f"there is no judge {name!r}: set --judge or TDQS_JUDGE to {JUDGES}")
    kind = JudgeKind(name)
    if separator and kind is JudgeKind.OFFLINE:
        raise InputError(f"the offline judge takes no model: set --judge or TDQS_JUDGE to {JUDGES}")
    if separator and not model and kind is JudgeKind.OPENAI:
        raise InputError("openai: names no model: set --judge or TDQS_JUDGE to openai:MODEL, or leave the colon out")
    return kind, model or None


def _refuse_unused(explicit: Mapping[str, object]) -> None:
    """Who says how to reach a model means to ask it, and must not take the offline judge's numbers for its own."""
    given = [name for name, value in explicit.items() if value]
    if given:
        raise InputError(f"the offline judge takes no {' and no '.join(given)}: add --judge openai or leave it out")


def _overrides(environ: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        parsed = json.loads(environ.get("TDQS_REQUEST_OVERRIDES", "").strip() or "{}")
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise InputError('TDQS_REQUEST_OVERRIDES must be a JSON object, for example {"max_tokens": 2000}')
    return parsed
