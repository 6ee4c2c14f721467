"""What every command does around its use case: read, ask a judge, end."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from tdqs_mcp import sync
from tdqs_mcp.app.configuration import Choice, Policy, read_configuration, read_policy
from tdqs_mcp.app.judge_factory import make_judge, make_model, make_preview
from tdqs_mcp.app.settings import Settings, read_settings, read_writer
from tdqs_mcp.cli.interruption import spends
from tdqs_mcp.cli.options import Asked
from tdqs_mcp.cli.page import fail, leave, warn
from tdqs_mcp.cli.progress import waiting
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.gate import Outcome
from tdqs_mcp.judges.budget import Ledger, cost
from tdqs_mcp.judges.judge import Judge, Model, used
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.material import NOTHING, Material
from tdqs_mcp.report.usage import usage_line
from tdqs_mcp.results.rewrites import OFFLINE
from tdqs_mcp.sources.files import parse_json, read_bytes
from tdqs_mcp.sources.live import LiveOptions
from tdqs_mcp.sources.locator import parse_locator, public

Result = TypeVar("Result")


def for_each(
    locators: Sequence[str], live: LiveOptions, use: Callable[[Catalog], Result], *, doing: str = "judging"
) -> list[Result | None]:
    """The use case's result for each locator; None, with the reason on standard error, where it could not run."""
    results: list[Result | None] = []
    for number, locator in enumerate(locators, start=1):
        place = f" (server {number} of {len(locators)})" if len(locators) > 1 else ""
        try:
            # Files take no time worth a line.
            with waiting().on(f"capturing {_shown(locator)}{place}", at_once=":" in locator):
                catalog = sync.load(locator, live)
            with waiting().on(f"{doing} {catalog.server}{place}"):
                results.append(use(catalog))
        except TdqsError as error:
            fail(error)
            results.append(None)
    return results


def _shown(locator: str) -> str:
    """A locator without its secrets."""
    try:
        return public(parse_locator(locator))
    except InputError:
        return "nothing"


def policy_of(flags: Choice) -> Policy:
    """What flags, the environment and the nearest configuration say about findings."""
    try:
        return read_policy(flags, environ=os.environ, configuration=read_configuration(Path.cwd()))
    except TdqsError as error:
        leave(error)


def ledger_of(asked: Asked) -> Ledger:
    """What all models of a command may take together."""
    return Ledger(asked.budget, cost)


def judge_of(asked: Asked, ledger: Ledger | None = None) -> Judge | None:
    """The judge that is named, with a ledger where others share its budget; None for the offline judge."""
    try:
        settings = read_settings(os.environ, **asked.options())
        if settings == Settings():
            return None
        judge = make_judge(settings, warn=warn, on_progress=waiting().count, ledger=ledger)
    except InputError as error:
        leave(error)
    spends(judge, by="judge", is_kept=settings.cache is not None)
    return judge


def writer_of(writer: str | None, asked: Asked, ledger: Ledger) -> Model | None:
    """The model that writes; None for the offline writer. Address and model are those given beside it."""
    if writer in (None, OFFLINE):
        return None
    try:
        settings = read_writer(os.environ, writer, base_url=asked.base_url, model=asked.model)
        model = make_model(settings, warn=warn, on_progress=waiting().count, ledger=ledger)
    except InputError as error:
        leave(error)
    spends(model, by="writer", is_kept=settings.cache is not None)
    return model


def material_of(file: Path | None) -> Material:
    """What the author gives beside the definitions."""
    if file is None:
        return NOTHING
    from tdqs_mcp.sources.input_files import read_material  # noqa: PLC0415  # only `rewrite --material` needs it

    try:
        return read_material(file)
    except TdqsError as error:
        leave(error)


def preview_of(asked: Asked) -> tuple[Judge, Ledger]:
    """A judge that sends nothing, and the ledger of what it would have sent."""
    try:
        return make_preview(read_settings(os.environ, **asked.options()), warn=warn)
    except InputError as error:
        leave(error)


def tell_usage(meter: object, *, by: str = "judge") -> None:
    """What models were asked and what it cost, on standard error: the same judgement may cost less the next time."""
    usage = used(meter)
    if usage and usage.requests:
        click.echo(usage_line(usage, by=by), err=True)


def read_answers(file: Path, asked: Asked) -> object:
    """Answers to prompts that came from elsewhere, which no judge is named beside."""
    if asked.is_named:
        raise click.UsageError(
            "--answers are somebody's judgement already; leave --judge, --base-url, --model and --exact-prompt out"
        )
    return read_json(file)


def read_json(path: Path) -> object:
    """The parsed JSON of a file."""
    try:
        return parse_json(read_bytes(path), origin=repr(str(path)))
    except InputError as error:
        leave(error)


def read_text(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        leave(InputError(f"{str(path)!r} cannot be read: {error.strerror}"))
    except UnicodeDecodeError:
        leave(InputError(f"{str(path)!r} is no UTF-8 text"))


def end(results: Sequence[Result | None], gate: Callable[[Result], Outcome] | None = None) -> None:
    """0 done, 1 the gate was not met, 2 something could not run or the verdict is open."""
    if any(result is None for result in results):
        sys.exit(Outcome.UNKNOWN)
    outcomes = [gate(result) for result in results if result is not None] if gate else []
    if Outcome.FAILED in outcomes:
        sys.exit(Outcome.FAILED)
    if Outcome.UNKNOWN in outcomes:
        click.echo("error: what is ungraded leaves the verdict open", err=True)
        sys.exit(Outcome.UNKNOWN)
