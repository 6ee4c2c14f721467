"""Makes the judge or model that the settings name, with its cache and budget."""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tdqs_mcp.app.settings import JudgeKind, Settings, cache_folder
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Ledger, Preview, unpriced
from tdqs_mcp.judges.judge import AnswerCache, Cache, Judge, Model, ProgressReporter, Report

if TYPE_CHECKING:
    from tdqs_mcp.judges.anthropic import Anthropic
    from tdqs_mcp.judges.endpoint import Endpoint
    from tdqs_mcp.judges.openai import OpenAI


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """State that all judges of a run share."""

    ledger: Ledger
    cache: Cache | None = None
    on_progress: Report | None = None
    seats: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """How many jurors share a judge, model and parameters so far; the number keeps their cached answers apart."""


def warn_caller(message: str) -> None:
    """Passes a warning to the user of the library."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def make_judge(
    settings: Settings,
    *,
    warn: Callable[[str], None] = warn_caller,
    on_progress: Report | None = None,
    cache: Cache | None = None,
    ledger: Ledger | None = None,
) -> Judge:
    """The judge that the settings name; `warn` is told of an unusable cache, `on_progress` of every answer.

    `cache` keeps judgments in place of the settings' folder; a `ledger` that others write to as well bounds what all
    of them ask, in place of the settings' budget. Raises InputError.
    """
    run = RunContext(
        ledger=ledger or Ledger(settings.budget, settings.price),
        cache=cache or _open_cache(settings.cache, warn),
        on_progress=on_progress,
    )
    return _guarded(settings, run)


def open_cache(environ: Mapping[str, str]) -> Cache | None:
    """The cache of judgments that TDQS_CACHE names; None if it is off."""
    return _open_cache(cache_folder(environ), warn_caller)


def make_preview(settings: Settings, *, warn: Callable[[str], None] = warn_caller) -> tuple[Judge, Ledger]:
    """Return the same judge without sending anything, and the ledger of what it would send. Raises InputError."""
    ledger = Preview(settings.budget, settings.price)
    return _guarded(settings, RunContext(ledger=ledger, cache=_open_cache(settings.cache, warn))), ledger


def make_model(
    settings: Settings,
    *,
    warn: Callable[[str], None] = warn_caller,
    on_progress: Report | None = None,
    ledger: Ledger | None = None,
) -> Model | None:
    """The model that the settings name, without a rubric, with what it has answered before and within its budget.

    `on_progress` and `ledger` are those of a judge. None for the offline judge. Raises InputError for a jury, which has
    several.
    """
    if settings.judge is JudgeKind.OFFLINE:
        return None
    if settings.judge is JudgeKind.JURY:
        raise InputError("a jury is several models: name the one to ask with --judge openai:MODEL or anthropic:MODEL")
    run = RunContext(ledger=ledger or Ledger(settings.budget, settings.price), on_progress=on_progress)
    model, parameters = _model(settings, run)
    cache = _open_cache(settings.cache, warn)
    return model if cache is None else AnswerCache(model=model, cache=cache, parameters=parameters)


def _guarded(settings: Settings, run: RunContext) -> Judge:
    judge = _judge(settings, run)
    if settings.judge is JudgeKind.OFFLINE:
        return judge
    from tdqs_mcp.judges.verdict_guard import VerdictGuard  # noqa: PLC0415  # only a model's verdicts are guarded

    return VerdictGuard(judge=judge, accepted=settings.accepted)


def _judge(settings: Settings, run: RunContext) -> Judge:
    if settings.judge is JudgeKind.OFFLINE:
        from tdqs_mcp.judges.offline import Offline  # noqa: PLC0415  # the server answers before it measures

        return Offline(settings.calibration)
    from tdqs_mcp.judges.jury import Jury  # noqa: PLC0415

    if settings.judge is JudgeKind.JURY:
        members = tuple(_judge(member, run) for member in settings.members)
        return Jury(members=members, names=tuple(member.name for member in settings.members))
    samples = [_prompted(settings, run) for _ in range(settings.samples)]
    return samples[0] if len(samples) == 1 else Jury(id=settings.judge, members=tuple(samples))


def _prompted(settings: Settings, run: RunContext) -> Judge:
    """The judge that asks the model; every judge of the same model draws a sample of its own."""
    from tdqs_mcp.judges.prompted import Prompted  # noqa: PLC0415  # validation, which the offline judge goes without

    model, parameters = _model(settings, run)
    seat = (settings.judge, model.name, parameters)
    run.seats[seat] += 1
    return Prompted(
        id=settings.judge,
        model=model,
        form=settings.form,
        cache=run.cache,
        parameters=parameters,
        sample=run.seats[seat],
    )


def _model(settings: Settings, run: RunContext) -> tuple[Model, str]:
    """The model, and a digest of what it sends along.

    Raises InputError if money is limited and nobody will say a price: an OpenAI-compatible endpoint may, in an answer.
    """
    model = _endpoint_model(settings.judge, _endpoint(settings), run.ledger)
    is_silent = settings.judge is JudgeKind.ANTHROPIC or isinstance(run.ledger, Preview)
    if is_silent and run.ledger.misses_price(model.name):
        raise InputError(unpriced(model.name))
    watched = model if run.on_progress is None else ProgressReporter(model=model, report=run.on_progress)
    return watched, model.parameters


def _endpoint(settings: Settings) -> "Endpoint":
    from tdqs_mcp.judges.endpoint import Endpoint  # noqa: PLC0415

    base_url, model = settings.base_url, settings.model
    if settings.judge is JudgeKind.ANTHROPIC:
        from tdqs_mcp.judges.anthropic import BASE_URL, DEFAULT_MODEL  # noqa: PLC0415

        base_url, model = base_url or BASE_URL, model or DEFAULT_MODEL
    if base_url is None:
        raise InputError(
            "the openai judge needs an endpoint: set TDQS_BASE_URL or --base-url, "
            "for example to https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
        )
    if model is None:
        raise InputError("the openai judge needs a model: say --judge openai:MODEL, or set TDQS_MODEL")
    limits: dict[str, Any] = {"concurrency": settings.concurrency, "timeout": settings.timeout}
    return Endpoint(
        base_url=base_url,
        model=model,
        api_key=settings.api_key,
        key_name=settings.key_name,
        overrides=settings.request_overrides,
        **{name: limit for name, limit in limits.items() if limit is not None},
    )


def _endpoint_model(kind: JudgeKind, endpoint: "Endpoint", ledger: Ledger) -> "Anthropic | OpenAI":
    if kind is JudgeKind.ANTHROPIC:
        from tdqs_mcp.judges.anthropic import Anthropic  # noqa: PLC0415

        return Anthropic(endpoint, ledger=ledger)
    from tdqs_mcp.judges.openai import OpenAI  # noqa: PLC0415

    return OpenAI(endpoint, ledger=ledger)


def _open_cache(folder: Path | None, warn: Callable[[str], None]) -> Cache | None:
    if folder is None:
        return None
    from tdqs_mcp.store.judgements import Judgements  # noqa: PLC0415  # a database, which the offline judge goes without

    return Judgements(folder, warn=warn)
