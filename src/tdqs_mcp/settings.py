"""Which judge is meant and what it needs, from explicit values first and the environment second."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import Judge, Model
from tdqs_mcp.judges.offline import Offline


class JudgeKind(StrEnum):
    """What `--judge` may name."""

    OFFLINE = "offline"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


CHOICES = "offline, openai[:MODEL] or anthropic[:MODEL]"
"""The judges as messages name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A judge and its connection; the offline judge has none, whatever the environment holds."""

    judge: JudgeKind = JudgeKind.OFFLINE
    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_name: str = "TDQS_API_KEY"
    """The variable that the key came from or belongs into."""

    request_overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """JSON members merged into every request."""


def read_settings(
    environ: Mapping[str, str],
    *,
    judge: str | None = None,
    base_url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    request_overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings in force: explicit values, else the TDQS_ variables of the same names.

    Only a judge that is named takes any of the others: a stray key never costs money or sends a definition out.
    ANTHROPIC_API_KEY is the anthropic judge's where TDQS_API_KEY is not set. Raises InputError.
    """
    kind, named_model = _parse_judge(judge or environ.get("TDQS_JUDGE", "").strip() or JudgeKind.OFFLINE)
    if kind is JudgeKind.OFFLINE:
        _refuse_unused({"base URL": base_url, "model": model, "API key": api_key, "overrides": request_overrides})
        return Settings()

    def value(explicit: str | None, name: str) -> str | None:
        return (explicit or "").strip() or environ.get(name, "").strip() or None

    ours = value(api_key, "TDQS_API_KEY")
    vendors = value(None, "ANTHROPIC_API_KEY") if kind is JudgeKind.ANTHROPIC and ours is None else None
    return Settings(
        judge=kind,
        base_url=value(base_url, "TDQS_BASE_URL"),
        model=value(model or named_model, "TDQS_MODEL"),
        api_key=ours or vendors,
        key_name="ANTHROPIC_API_KEY" if vendors else "TDQS_API_KEY",
        request_overrides=_overrides(environ) if request_overrides is None else request_overrides,
    )


def make_judge(settings: Settings) -> Judge:
    """The judge that the settings name. Raises InputError, which says what to set."""
    if settings.judge is JudgeKind.OFFLINE:
        return Offline()
    from tdqs_mcp.judges.prompted import Prompted  # noqa: PLC0415  # validation, which the offline judge goes without

    return Prompted(id=settings.judge, model=_make_model(settings))


def _make_model(settings: Settings) -> Model:
    from tdqs_mcp.judges.endpoint import Endpoint  # noqa: PLC0415
    from tdqs_mcp.judges.remote import OpenAI  # noqa: PLC0415

    rest: dict[str, Any] = {
        "api_key": settings.api_key,
        "key_name": settings.key_name,
        "overrides": settings.request_overrides,
    }
    if settings.judge is JudgeKind.ANTHROPIC:
        from tdqs_mcp.judges.anthropic import BASE_URL, DEFAULT_MODEL, Anthropic  # noqa: PLC0415

        model, base_url = settings.model or DEFAULT_MODEL, settings.base_url or BASE_URL
        return Anthropic(Endpoint(base_url=base_url, model=model, **rest))
    if settings.base_url is None:
        raise InputError(
            "the openai judge needs an endpoint: set TDQS_BASE_URL or --base-url, "
            "for example to https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
        )
    if settings.model is None:
        raise InputError("the openai judge needs a model: set TDQS_MODEL or --model, or say --judge openai:MODEL")
    return OpenAI(Endpoint(base_url=settings.base_url, model=settings.model, **rest))


def _parse_judge(spec: str) -> tuple[JudgeKind, str | None]:
    """A judge's name and perhaps its model's, which may hold colons."""
    name, separator, model = spec.strip().partition(":")
    if name not in tuple(JudgeKind):
        raise InputError(f"there is no judge {name!r}: set --judge or TDQS_JUDGE to {CHOICES}")
    kind = JudgeKind(name)
    if separator and kind is JudgeKind.OFFLINE:
        raise InputError(f"the offline judge takes no model: set --judge or TDQS_JUDGE to {CHOICES}")
    if separator and not model:
        raise InputError(f"{name}: names no model: set --judge or TDQS_JUDGE to {name}:MODEL, or leave the colon out")
    return kind, model or None


def _refuse_unused(explicit: Mapping[str, object]) -> None:
    """Who says how to reach a model means to ask it, and must not take the offline judge's numbers for its own."""
    given = [name for name, value in explicit.items() if value]
    if given:
        raise InputError(
            f"the offline judge takes no {' and no '.join(given)}: add --judge openai or anthropic, or leave it out"
        )


def _overrides(environ: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        parsed = json.loads(environ.get("TDQS_REQUEST_OVERRIDES", "").strip() or "{}")
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise InputError('TDQS_REQUEST_OVERRIDES must be a JSON object, for example {"max_tokens": 2000}')
    return parsed
