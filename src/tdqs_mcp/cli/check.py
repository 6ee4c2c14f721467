"""`grade`, `gate` and `calibrate`."""

import sys
from functools import partial
from pathlib import Path

import click

from tdqs_mcp import app, sync
from tdqs_mcp.cli.options import TARGET, Asked, form_option, judge_options, live_options, output_option
from tdqs_mcp.cli.page import leave, reporter, show
from tdqs_mcp.cli.progress import waiting
from tdqs_mcp.cli.work import end, for_each, judge_of, tell_usage
from tdqs_mcp.errors import TdqsError
from tdqs_mcp.gate import calibrated, decide, earns
from tdqs_mcp.results.grades import Letter
from tdqs_mcp.sources.live import LiveOptions

_GRADE = {
    "text": reporter("grade:grade_view"),
    "json": reporter("contract.grade:grade_document"),
    "markdown": reporter("grade:grade_markdown"),
}
_GATE = {
    "text": reporter("gate:gate_view"),
    "json": reporter("contract.gate:gate_document"),
    "markdown": reporter("gate:gate_markdown"),
    "junit": reporter("gate:gate_junit"),
}
_CALIBRATION = {
    "text": reporter("calibration:calibration_view"),
    "json": reporter("calibration:calibration_document"),
    "markdown": reporter("calibration:calibration_markdown"),
}


@click.command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--fail-under", type=click.Choice(list(Letter)), help="Exit 1 below this letter.")
@live_options
@form_option()
@output_option
def grade(locator: str, *, fail_under: str | None, live: LiveOptions, form: str, output: Path | None) -> None:
    """Grade a server as MCP Playground does: a score of 100 and a letter."""
    grades = for_each((locator,), live, app.grade)
    show(grades, _GRADE, form, output)
    end(grades, lambda result: earns(result, Letter(fail_under or Letter.F)))


@click.command()
@click.argument("suite", type=TARGET, metavar="SUITE.yml")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Seconds for each live server that names none.",
)
@form_option("junit")
@output_option
def gate(suite: Path, *, timeout: float, form: str, output: Path | None) -> None:
    """Hold servers to the tool_quality entries of a suite, one row each."""
    try:
        rows = sync.run_suite(suite, LiveOptions(timeout=timeout))
    except TdqsError as error:
        leave(error)
    named = {each: partial(_GATE[each], suite=str(suite)) for each in ("json", "junit")}
    show([rows], _GATE | named, form, output)
    sys.exit(decide(rows))


@click.command()
@click.argument("locators", nargs=-1, metavar="[LOCATOR]...")
@judge_options
@live_options
@form_option()
@output_option
def calibrate(locators: tuple[str, ...], *, asked: Asked, live: LiveOptions, form: str, output: Path | None) -> None:
    """Show how wrong a judge is: against the published examples and the labelled tools.

    Without a LOCATOR, the offline judge shows its error on servers that it was not fitted to. With some, any judge is
    held against those of their tools that there are labels for. Exit code 1 where it is out of tolerance, 2 where it
    did not judge all that could show it.
    """
    chosen = judge_of(asked)
    catalogs = for_each(locators, live, lambda catalog: catalog)
    known = [catalog for catalog in catalogs if catalog is not None]
    with waiting().on("calibrating"):
        report = sync.calibrate(known, judge=chosen)
    tell_usage(chosen)
    show([report], _CALIBRATION, form, output)
    end([report if len(known) == len(catalogs) else None], calibrated)
