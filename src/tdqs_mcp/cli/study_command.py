"""`study`: what variants of descriptions achieve, what scores predict, and tasks to record traces with."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app import studying
from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.cli import command
from tdqs_mcp.cli.judge_options import Asked, judge_options, model_of, tell_usage
from tdqs_mcp.cli.runner import (
    FILE,
    TARGET,
    Page,
    end,
    for_each,
    live_options,
    page_options,
    views,
    waiting,
    warn,
)
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.judges.judge import Model
from tdqs_mcp.model import CallOutcome, Catalog
from tdqs_mcp.report.blocks import count_words
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.study_reports import benchmark_blocks, front_svg, outcome_blocks, task_blocks, task_lines
from tdqs_mcp.results.studies import TaskSet, ToolTask
from tdqs_mcp.sources.locator import LiveOptions

MAX_NAMED = 5
"""Tools in a warning."""

_OUTCOMES = {**views(outcome_blocks), "svg": front_svg}
_BENCHMARK = views(benchmark_blocks)
_TASKS = {**views(task_blocks), "jsonl": task_lines}


@command()
@click.argument("outcomes", required=False, metavar="[OUTCOMES]", type=FILE)
@click.option(
    "--benchmark",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="What scores and rules predict in LiveMCPBench: tools.json, steps.jsonl and trajectories.json of a folder.",
)
@click.option("--tasks", "locator", metavar="LOCATOR", help="Have the model of --judge write tasks for every tool.")
@click.option(
    "--run",
    "log",
    type=TARGET,
    help="Make the calls of these tasks, or of a file of tasks in place of OUTCOMES; add them to a log as route does.",
)
@judge_options
@live_options
@page_options("jsonl", "svg", help="What to print; svg: the Pareto front, jsonl: the tasks.")
def study(
    outcomes: Path | None,
    *,
    benchmark: Path | None,
    locator: str | None,
    log: Path | None,
    asked: Asked,
    live: LiveOptions,
    page: Page,
) -> None:
    """Compare variants of descriptions over the outcomes of tasks, by the tests of the paper.

    OUTCOMES is CSV, JSON Lines or Parquet with a row for each run: task, model, variant and success; where known also
    domain, evaluators_passed, evaluators_total, steps, tokens and experiment. The first variant is the one before.
    Needs the extra: pip install 'tdqs-mcp[study]'.
    """
    if log and not locator:
        raise click.UsageError("--run belongs to --tasks")
    tasks, outcomes = (outcomes, None) if log else (None, outcomes)
    if sum(each is not None for each in (outcomes, benchmark, locator)) != 1:
        raise click.UsageError("give a file of outcomes, --benchmark FOLDER or --tasks LOCATOR: one of them")
    if (locator is None or tasks) and asked.is_named:
        raise click.UsageError("--judge, --base-url, --model and --exact-prompt are for writing tasks; leave them out")
    possible = _TASKS if locator else _BENCHMARK if benchmark else _OUTCOMES
    if page.form not in (*possible, "json"):
        raise click.UsageError(f"--format {page.form} is not for this; choose {', '.join(('json', *possible))}")
    if locator:
        run = partial(_run_tasks, locator=locator, live=live, log=log) if log else None
        _show_tasks(locator, tasks or _writer(asked), live, page, run=run)
    elif benchmark:
        with waiting().on("measuring the benchmark", at_once=True):
            result = blocking(studying.study_benchmark)(benchmark)
        page.show([result], _BENCHMARK)
    elif outcomes:
        page.show([studying.study_outcomes(outcomes)], _OUTCOMES)


def _writer(asked: Asked) -> Model:
    """The model that writes tasks."""
    model = model_of(asked, by="writer", work="tasks")
    if model is None:
        raise InputError("a model writes the tasks, and none is named: add --judge openai:MODEL or anthropic:MODEL")
    return model


def _show_tasks(
    locator: str, source: Model | Path, live: LiveOptions, page: Page, *, run: Callable[[Catalog, TaskSet], bool] | None
) -> None:
    """The tasks of one server, by a model or from a file; exit 2 where a tool has got none, or a call no answer."""
    make = partial(blocking(studying.write_tasks), model=source)
    if isinstance(source, Path):
        make = partial(studying.read_tasks, path=source)
    [found] = for_each((locator,), live, lambda catalog: (catalog, make(catalog)), doing="writing tasks for")
    written = found[1] if found else None
    tell_usage(source, by="writer")
    page.show([written], _TASKS)
    if written and written.without:
        warn(
            f"no tasks for {first_of([each.tool for each in written.without], MAX_NAMED)}: {written.without[0].reason}"
        )
    is_answered = run(*found) if found and run else True
    end([written if written and is_answered and not written.without else None])


def _run_tasks(catalog: Catalog, written: TaskSet, *, locator: str, live: LiveOptions, log: Path) -> bool:
    """Says where the calls go, makes those that may be made, and tells whether all of them got an answer."""
    from tdqs_mcp.app import routing  # noqa: PLC0415  # the SDK

    tasks = _agreed(catalog, written.tasks, consent=live.consent)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    write = routing.line_writer(log, tell=warn)

    def note(line: Mapping[str, Any]) -> None:
        write(line)
        waiting().count(0, 1)

    with waiting().on(f"calling {catalog.server}"):
        waiting().count(len(tasks), 0)
        outcomes = blocking(routing.call_tasks)(locator, live, tasks, catalog=catalog, log_call=note, tell=warn)
    counts = Counter({"no outcome": len(tasks) - len(outcomes)}) + Counter(outcomes)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    click.echo(f"{count_words(len(tasks), 'call')}: {told}; logged in {printable(str(log))}", err=True)
    return set(counts) <= set(CallOutcome)


def _agreed(catalog: Catalog, tasks: Sequence[ToolTask], *, consent: Callable[[str], bool]) -> Sequence[ToolTask]:
    """The tasks whose calls may be made. Raises InputError if there are none."""
    acting = {each.name for each in catalog.tools if (each.annotations or {}).get("readOnlyHint") is not True}
    reading = [each for each in tasks if each.tool not in acting]
    names = first_of(list(dict.fromkeys(each.tool for each in tasks if each.tool in acting)), MAX_NAMED)
    others = f"{count_words(len(tasks) - len(reading), 'call')} of tools not declared readOnlyHint: true ({names})"
    told = f"{count_words(len(tasks), 'call')} to {catalog.source}"
    click.echo(printable(f"{told}, {others} among them" if names else told), err=True)
    if not names or consent(f"Make the {others}, too?"):
        return tasks
    left_out = f"left out: {others}; read the tasks, then give --yes"
    if not reading:
        raise InputError(left_out)
    warn(left_out)
    return reading
