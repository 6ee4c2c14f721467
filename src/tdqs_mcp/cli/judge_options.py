"""The options that name a judge, and the judge or model that they name."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app.judge_factory import make_judge, make_model, make_preview
from tdqs_mcp.app.settings import CHOICES, JudgeKind, Settings, read_prices, read_settings, read_writer
from tdqs_mcp.cli import group_options, runner
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Budget, Ledger, read_budget
from tdqs_mcp.judges.judge import Judge, Model, used
from tdqs_mcp.report.blocks import usage_line
from tdqs_mcp.scoring.rollup import SPECS


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """The judge that the command line names, and what it may take."""

    judge: str | None
    base_url: str | None
    budget: Budget
    exact_prompt: bool = False

    @property
    def beside_writer(self) -> "JudgeChoice":
        """The judge of what a model writes: unless the judge is a model too, the address is the writer's.

        The budget is left out, because their common ledger has it.
        """
        is_model = self.judge is not None and self.judge.partition(":")[0] != JudgeKind.OFFLINE
        own = self if is_model else replace(self, base_url=None)
        return replace(own, budget=Budget())

    @property
    def is_named(self) -> bool:
        """Return whether any option names the judge, as opposed to limiting it."""
        return bool(self.judge or self.base_url or self.exact_prompt)

    def settings(self, **accepted: Any) -> Settings:  # noqa: ANN401  # read_settings's
        """The settings in force, of the environment where no option names a judge. Raises InputError."""
        return read_settings(
            os.environ,
            judge=self.judge,
            base_url=self.base_url,
            exact_prompt=self.exact_prompt,
            budget=self.budget,
            **accepted,
        )


def _read_limits(_: click.Context, __: click.Parameter, entries: Sequence[str]) -> Budget:
    try:
        return read_budget(entries)
    except InputError as error:
        raise click.BadParameter(str(error)) from error


_MODEL_OPTIONS = (
    click.option(
        "--judge",
        metavar="JUDGE",
        help=f"{CHOICES}; the key is TDQS_API_KEY, or ANTHROPIC_API_KEY.  [default: offline]",
    ),
    click.option("--base-url", metavar="URL", help="Where the model answers, such as http://127.0.0.1:11434/v1."),
    click.option(
        "--budget",
        multiple=True,
        metavar="LIMIT",
        callback=_read_limits,
        help="What models may take: calls=20, tokens=50000 or cost=0.50 (dollars).",
    ),
)

model_options = group_options("choice", JudgeChoice, *_MODEL_OPTIONS)
"""The options that name a model (else the TDQS_ variables do) and its limits, as `choice: JudgeChoice`."""

judge_options = group_options(
    "choice",
    JudgeChoice,
    *_MODEL_OPTIONS,
    click.option(
        "--exact-prompt",
        is_flag=True,
        help="Send a judge the published bytes, without the fence that keeps a definition from speaking to it.",
    ),
)
"""Options that name a judge, for commands whose prompts are published."""

spec_option = click.option(
    "--spec", type=click.Choice(SPECS), default=SPECS[0], show_default=True, help="TDQS version."
)


def accept_option(help: str) -> runner.Option:  # noqa: A002  # click's word
    """`--accept`: parts of a server, such as tool:NAME, or `*`."""
    return click.option("--accept", multiple=True, metavar="PART", help=help)


def ledger_of(options: JudgeChoice) -> Ledger:
    """The ledger that all models of a command share."""
    return Ledger(options.budget, Settings(prices=read_prices(os.environ)).price)


def judge_of(options: JudgeChoice, ledger: Ledger | None = None, *, accept: Sequence[str] = ()) -> Judge | None:
    """The judge that is named, with a ledger where others share its budget; None for the offline judge.

    `accept` names the parts whose held scores are believed.
    """
    settings = options.settings(accept=accept)
    if settings == Settings():
        return None
    judge = make_judge(settings, warn=runner.warn, on_progress=runner.waiting().count, ledger=ledger)
    _report_on_interrupt(judge, by="judge", is_kept=settings.cache is not None)
    return judge


def writer_of(writer: str | None, options: JudgeChoice, ledger: Ledger) -> Model | None:
    """The model that writes; None for the offline writer. The address is the one given beside it."""
    if writer in (None, JudgeKind.OFFLINE):
        return None
    settings = read_writer(os.environ, writer, base_url=options.base_url)
    return _make_model(settings, by="writer", ledger=ledger)


def model_of(options: JudgeChoice, *, by: str, ledger: Ledger | None = None) -> Model | None:
    """The model that is named for other work than judging; None where none is."""
    return _make_model(options.settings(), by=by, ledger=ledger)


def _make_model(settings: Settings, *, by: str, ledger: Ledger | None = None) -> Model | None:
    model = make_model(settings, warn=runner.warn, on_progress=runner.waiting().count, ledger=ledger)
    _report_on_interrupt(model, by=by, is_kept=settings.cache is not None)
    return model


def preview_of(options: JudgeChoice) -> tuple[Judge, Ledger]:
    """A judge that sends nothing, and the ledger of what it would send."""
    return make_preview(options.settings(), warn=runner.warn)


def tell_usage() -> None:
    """Print what each model used and cost on standard error: the cache may make the next run cheaper."""
    for line in _usage_notes(runner.command_run().meters)[:-1]:
        click.echo(line, err=True)


def read_answers(file: Path, options: JudgeChoice) -> object:
    """Answers to prompts that came from elsewhere; naming a judge as well is an error."""
    if options.is_named:
        raise click.UsageError("--answers already are a judgment; leave --judge, --base-url and --exact-prompt out")
    return runner.read_json(file)


def _report_on_interrupt(meter: object, *, by: str, is_kept: bool) -> None:
    """Makes an interrupted command say what this model used."""
    run = runner.command_run()
    run.meters.append((meter, by, is_kept))
    run.interrupt_notes = partial(_usage_notes, run.meters)


def _usage_notes(meters: Sequence[tuple[object, str, bool]]) -> list[str]:
    """Return what each model used that was asked, and whether its answers are kept; nothing if none was asked."""
    meterings = [(used(meter), by, is_kept) for meter, by, is_kept in meters]
    used_models = [(usage, by, is_kept) for usage, by, is_kept in meterings if usage and usage.requests]
    if not used_models:
        return []
    is_kept = all(is_kept for *_, is_kept in used_models)
    rest = "a rerun asks only for the rest" if is_kept else "no answer is kept (TDQS_CACHE=off)"
    return [*(usage_line(usage, by=by) for usage, by, _ in used_models), rest]
