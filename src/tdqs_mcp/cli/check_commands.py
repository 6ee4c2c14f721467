"""`grade`, `gate`, `calibrate`, `explain`, `prompts` and `capture`."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app import judging, suites
from tdqs_mcp.app.blocking import blocking
from tdqs_mcp.cli import command
from tdqs_mcp.cli.judge_options import Asked, judge_of, judge_options, rubric_option, spec_option, tell_usage
from tdqs_mcp.cli.runner import (
    FILE,
    TARGET,
    Page,
    View,
    end,
    for_each,
    live_options,
    output_option,
    page_options,
    views,
    waiting,
    warn,
    write,
)
from tdqs_mcp.gate.policy import calibrated, decide, earns
from tdqs_mcp.report.documents import capture_document
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.results.checks import GateReport
from tdqs_mcp.results.labels import Letter
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.locator import LiveOptions

_GRADE = views("check_reports:grade_blocks")
_GATE = views("check_reports:gate_blocks") | {"junit": "lint_formats:gate_junit"}
_CALIBRATION = views("check_reports:calibration_blocks")


@command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--fail-under", type=click.Choice(list(Letter)), help="Exit 1 below this letter.")
@live_options
@page_options()
def grade(locator: str, *, fail_under: str | None, live: LiveOptions, page: Page) -> None:
    """Grade a server as MCP Playground does: a score of 100 and a letter."""
    grades = for_each((locator,), live, judging.grade)
    page.show(grades, _GRADE)
    end(grades, lambda result: earns(result, Letter(fail_under or Letter.F)), asked=fail_under is not None)


@command()
@click.argument("suite", type=TARGET, metavar="SUITE.yml")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Seconds for each live server that names none.",
)
@page_options("junit")
def gate(suite: Path, *, timeout: float, page: Page) -> None:
    """Check servers against the tool_quality entries of a suite, one row each."""
    rows = blocking(suites.run_suite)(suite, LiveOptions(timeout=timeout))
    page.show([GateReport(suite=str(suite), rows=tuple(rows))], _GATE)
    sys.exit(decide(rows))


@command()
@click.argument("locators", nargs=-1, metavar="[LOCATOR]...")
@judge_options
@live_options
@page_options()
def calibrate(locators: tuple[str, ...], *, asked: Asked, live: LiveOptions, page: Page) -> None:
    """Show how wrong a judge is: against the published examples and the labeled tools.

    Without a LOCATOR, the offline judge shows its error on servers that it was not fitted to. With some, any judge is
    compared with the labels of those of their tools that have one. Exit code 1 if it is out of tolerance, 2 if it did
    not judge everything that could show it.
    """
    chosen = judge_of(asked)
    catalogs = for_each(locators, live, lambda catalog: catalog)
    known = [catalog for catalog in catalogs if catalog is not None]
    with waiting().on("calibrating"):
        report = blocking(judging.calibrate)(known, judge=chosen)
    tell_usage(chosen)
    page.show([report], _CALIBRATION)
    end([report if len(known) == len(catalogs) else None], calibrated, asked=False)


_TEXT = "documents:prompts_text"
_PROMPTS: Mapping[str, View] = {"text": _TEXT, "json": dict, "markdown": _TEXT}


@command()
@click.argument("name", metavar="ID")
@page_options()
def explain(name: str, *, page: Page) -> None:
    """Explain a rule, a dimension, a flag or a tier."""
    text = judging.explain(name)
    views: dict[str, View] = {"text": _markdown_view, "json": lambda text: {"id": name, "page": text}, "markdown": str}
    page.show([text], views)


@command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--tool", metavar="NAME", help="Only this tool's prompt.")
@rubric_option
@click.option("--skill", type=FILE, help="A skill text of the server, whose prompt is wanted too.")
@spec_option
@live_options
@page_options()
def prompts(
    locator: str, *, tool: str | None, rubric: str, skill: Path | None, spec: str, live: LiveOptions, page: Page
) -> None:
    """Print the exact prompts that a judge would get, as published and hardened."""
    text = read_text(skill) if skill else None
    documents = for_each((locator,), live, partial(judging.prompts, tool=tool, spec=spec, rubric=rubric, skill=text))
    page.show(documents, _PROMPTS)
    end(documents)


@command()
@click.argument("locator", metavar="LOCATOR")
@live_options
@output_option
def capture(locator: str, *, live: LiveOptions, output: Path | None) -> None:
    """Save the raw catalog of a server, for later."""
    catalogs = for_each((locator,), live, lambda catalog: catalog)
    for catalog in catalogs:
        if catalog is not None:
            write(json_text(capture_document(catalog)), output)
            if catalog.incomplete:
                warn(f"the list of tools is incomplete, and the file says so: {catalog.incomplete}")
            if output:
                click.echo(f"{len(catalog.tools)} tools in {output}. Next: tdqs-mcp score {output}")
    end(catalogs)


def _markdown_view(page: str) -> Any:  # noqa: ANN401  # rich is imported where it is used
    from rich.markdown import Markdown  # noqa: PLC0415

    return Markdown(page) if sys.stdout.isatty() else page
