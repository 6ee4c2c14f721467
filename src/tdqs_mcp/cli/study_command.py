"""`study`: what variants of descriptions achieve, what scores predict, and tasks to record traces with."""

import os
from functools import partial
from pathlib import Path

import click

from tdqs_mcp.app import studying
from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.app.judge_factory import make_model
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.cli import command
from tdqs_mcp.cli.judge_options import Asked, judge_options, report_on_interrupt, tell_usage
from tdqs_mcp.cli.runner import FILE, Page, end, for_each, live_options, page_options, views, waiting, warn
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.sources.locator import LiveOptions

MAX_NAMED = 5
"""Tools in a warning."""

_OUTCOMES = {**views("study_reports:outcome_blocks"), "svg": "study_reports:front_svg"}
_BENCHMARK = views("study_reports:benchmark_blocks")
_TASKS = {**views("study_reports:task_blocks"), "jsonl": "study_reports:task_lines"}


@command()
@click.argument("outcomes", required=False, metavar="[OUTCOMES]", type=FILE)
@click.option(
    "--benchmark",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="What scores and rules predict in LiveMCPBench: tools.json, steps.jsonl and trajectories.json of a folder.",
)
@click.option("--tasks", "locator", metavar="LOCATOR", help="Have the model of --judge write tasks for every tool.")
@judge_options
@live_options
@page_options("jsonl", "svg", help="What to print; svg: the Pareto front, jsonl: the tasks.")
def study(
    outcomes: Path | None,
    *,
    benchmark: Path | None,
    locator: str | None,
    asked: Asked,
    live: LiveOptions,
    page: Page,
) -> None:
    """Compare variants of descriptions over the outcomes of tasks, by the tests of the paper.

    OUTCOMES is CSV, JSON Lines or Parquet with a row for each run: task, model, variant and success; where known also
    domain, evaluators_passed, evaluators_total, steps, tokens and experiment. The first variant is the one before.
    Needs the extra: pip install 'tdqs-mcp[study]'.
    """
    if sum(each is not None for each in (outcomes, benchmark, locator)) != 1:
        raise click.UsageError("give a file of outcomes, --benchmark FOLDER or --tasks LOCATOR: one of them")
    if locator is None and asked.is_named:
        raise click.UsageError("--judge, --base-url, --model and --exact-prompt are for --tasks; leave them out")
    possible = _TASKS if locator else _BENCHMARK if benchmark else _OUTCOMES
    if page.form not in (*possible, "json"):
        raise click.UsageError(f"--format {page.form} is not for this; choose {', '.join(('json', *possible))}")
    if locator:
        _write_tasks(locator, asked, live, page)
    elif benchmark:
        with waiting().on("measuring the benchmark", at_once=True):
            result = blocking(studying.study_benchmark)(benchmark)
        page.show([result], _BENCHMARK)
    elif outcomes:
        page.show([studying.study_outcomes(outcomes)], _OUTCOMES)


def _write_tasks(locator: str, asked: Asked, live: LiveOptions, page: Page) -> None:
    """The tasks of one server; exit 2 where a tool has got none."""
    if asked.exact_prompt:
        raise click.UsageError("no prompt for tasks is published; leave --exact-prompt out")
    settings = read_settings(os.environ, **asked.options())
    model = make_model(settings, warn=warn, on_progress=waiting().count)
    if model is None:
        raise InputError("a model writes the tasks, and none is named: add --judge openai:MODEL or anthropic:MODEL")
    report_on_interrupt(model, by="writer", is_kept=settings.cache is not None)
    write = partial(blocking(studying.write_tasks), model=model)
    [written] = for_each((locator,), live, write, doing="writing tasks for")
    tell_usage(model, by="writer")
    page.show([written], _TASKS)
    if written and written.without:
        warn(
            f"no tasks for {first_of([each.tool for each in written.without], MAX_NAMED)}: {written.without[0].reason}"
        )
    end([written if written and not written.without else None])
