"""`sweep`: a registry's servers into a store; `stats`: what the store knows; `dashboard`: the same in a browser."""

import csv
import logging
import os
import shlex
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app import stored_scores, studying, sweeping
from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.cli import command, fail, runner
from tdqs_mcp.cli.judge_options import JudgeChoice, model_options
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.model import CallOutcome, Catalog
from tdqs_mcp.report import registry_reports
from tdqs_mcp.report.blocks import count_words, price
from tdqs_mcp.report.charts import trend_svg
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.study_reports import (
    answer_lines,
    benchmark_blocks,
    choice_blocks,
    outcome_blocks,
)
from tdqs_mcp.results.checks import PlannedCall, Query
from tdqs_mcp.results.studies import ChoiceStudy
from tdqs_mcp.rewriting.tool_selection import refers
from tdqs_mcp.rubrics.rubric import TOOL_RUBRICS, load
from tdqs_mcp.server import http_transport
from tdqs_mcp.sources.input_files import read_calls, read_queries
from tdqs_mcp.sources.locator import LiveOptions
from tdqs_mcp.sources.registry_feed import PREFIX
from tdqs_mcp.store.database import default_url, public_url
from tdqs_mcp.sweep.records import NO_PARQUET, SweepTally

MAX_NAMED = 5
"""Tools in a warning."""


@command()
@click.argument("outcomes", required=False, metavar="[OUTCOMES]", type=runner.FILE)
@click.option(
    "--benchmark",
    type=runner.FOLDER,
    metavar="FOLDER",
    help="What scores and rules predict in the files of LiveMCPBench or AgentGauge in a folder.",
)
@click.option(
    "--run",
    "locator",
    metavar="LOCATOR",
    help="Make the calls of a file of requests, in place of OUTCOMES, at this server.",
)
@click.option("--log", type=runner.TARGET, help="Add these calls to a log as route does.")
@runner.live_options
@runner.page_options()
def study(
    outcomes: Path | None,
    *,
    benchmark: Path | None,
    locator: str | None,
    log: Path | None,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Compare variants of descriptions over the outcomes of tasks, by the tests of the paper.

    OUTCOMES is CSV, JSON Lines or Parquet with a row for each run: task, model, variant and success; where known also
    domain, evaluators_passed, evaluators_total, steps, tokens and experiment. The first variant is the one before.
    Needs the extra: pip install '.[study]' in a checkout of tdqs-mcp.
    """
    runner.refuse(log and not locator, "--log belongs to --run")
    runner.refuse((outcomes is None) != bool(benchmark), "give a file of outcomes or requests, or --benchmark FOLDER")
    runner.refuse(locator and benchmark, "--run makes the calls of a file of requests; leave --benchmark out")
    if locator and outcomes:
        queries = read_queries(outcomes)
        run = partial(_run_requests, queries=queries, locator=locator, live=live, log=log)
        runner.end(runner.for_each((locator,), live, run, doing="calling"))
    elif benchmark:
        with runner.waiting().on("measuring the benchmark", at_once=True):
            result = blocking(studying.study_benchmark)(benchmark)
        page.show(
            [result], runner.views(choice_blocks) if isinstance(result, ChoiceStudy) else runner.views(benchmark_blocks)
        )
    elif outcomes:
        page.show([studying.study_outcomes(outcomes)], runner.views(outcome_blocks))
        for line in answer_lines(read_calls(outcomes) if outcomes.suffix == ".jsonl" else ()):
            click.echo(printable(line), err=True)


def _run_requests(
    catalog: Catalog, *, queries: Sequence[Query], locator: str, live: LiveOptions, log: Path | None
) -> bool | None:
    """Says where the calls go and makes those that may be made; None unless all of them got an answer."""
    from tdqs_mcp.app import routing  # noqa: PLC0415  # the SDK

    names = {tool.name for tool in catalog.tools}
    if strangers := [call.tool for query in queries for call in query.calls if call.tool not in names]:
        raise InputError(f"{catalog.server!r} has no tool {first_of(list(dict.fromkeys(strangers)), MAX_NAMED)}")
    planned = [call for query in queries for call in query.calls]
    whole = [call for call in planned if not refers(call.arguments)]
    if len(whole) < len(planned):
        runner.warn(
            f"left out: {count_words(len(planned) - len(whole), 'call')} with values that an earlier call would give"
        )
    agreed = _agreed_calls(catalog, whole, consent=live.consent)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    write = routing.line_writer(log, tell=runner.warn) if log else None
    calls: list[Mapping[str, Any]] = []

    def note(line: Mapping[str, Any]) -> None:
        calls.append(line)
        if write:
            write(line)

    outcomes = blocking(routing.make_calls)(locator, live, agreed, catalog=catalog, log_call=note, tell=runner.warn)
    counts = Counter({"no outcome": len(agreed) - len(outcomes)}) + Counter(outcomes)
    tally = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    click.echo(f"{count_words(len(agreed), 'call')}: {tally}", err=True)
    for line in answer_lines(calls):
        click.echo(printable(line), err=True)
    return True if set(counts) <= set(CallOutcome) else None


def _agreed_calls(
    catalog: Catalog, calls: Sequence[PlannedCall], *, consent: Callable[[str], bool]
) -> Sequence[PlannedCall]:
    """The calls that may be made. Raises InputError if there are none."""
    acting = {tool.name for tool in catalog.tools if (tool.annotations or {}).get("readOnlyHint") is not True}
    reading = [call for call in calls if call.tool not in acting]
    names = first_of(list(dict.fromkeys(call.tool for call in calls if call.tool in acting)), MAX_NAMED)
    count = count_words(len(calls) - len(reading), "call")
    acting_calls = f"{count} of tools not declared readOnlyHint: true ({names})"
    announcement = f"{count_words(len(calls), 'call')} to {catalog.source}"
    click.echo(printable(f"{announcement}, {acting_calls} among them" if names else announcement), err=True)
    if calls and (not names or consent(f"Make the {acting_calls}, too?")):
        return calls
    left_out = f"left out: {acting_calls}; read the requests, then give --yes"
    if not reading:
        raise InputError(left_out if names else "no request has a plan that can be called as it is")
    runner.warn(left_out)
    return reading


def _pairs(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    pairs = dict(value.partition("=")[::2] for value in values)
    if any("{package}" not in command for command in pairs.values()):
        raise click.BadParameter("write TYPE=COMMAND with {package} in the command, as in pypi='uvx {package}'")
    return pairs


store_option = click.option(
    "--store",
    metavar="URL",
    help="postgresql://USER@HOST/DATABASE, or a SQLite file.  [default: TDQS_STORE, else a file in the data folder]",
)


method_option = click.option(
    "--method", metavar="METHOD", help="A judge or a method's key.  [default: the newest finished sweep's]"
)


@command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@store_option
@click.option(
    "--cluster", metavar="URL", help="A Dask scheduler, such as tcp://host:8786, or its file, not own processes."
)
@click.option("--watch", type=click.FloatRange(min=1), metavar="MINUTES", help="Sweep again every so many minutes.")
@click.option(
    "--start",
    "starters",
    multiple=True,
    metavar="TYPE=COMMAND",
    callback=_pairs,
    help="Start a registry's packages so, as in npm='docker run -i --rm node npx -y {package}'.  [default: none]",
)
@click.option(
    "--allow-url", "urls", multiple=True, metavar="PATTERN", help="Remotes of a registry that may be private."
)
@click.option("--prune", type=click.DateTime(), help="First delete captures from before then that no server has now.")
@click.option("--webhook", metavar="URL", help="Send the report there, signed with TDQS_WEBHOOK_SECRET.")
@click.option("--batch", is_flag=True, help="Ask by the vendor's batches: half the price; a later sweep collects.")
@click.option(
    "--rubric", type=click.Choice(TOOL_RUBRICS), default=TOOL_RUBRICS[0], show_default=True, help="Scored by."
)
@model_options
@runner.live_options
@runner.page_options()
def sweep(
    inputs: Sequence[str],
    *,
    store: str | None,
    cluster: str | None,
    watch: float | None,
    starters: Mapping[str, str],
    urls: tuple[str, ...],
    prune: datetime | None,
    webhook: str | None,
    batch: bool,
    rubric: str,
    choice: JudgeChoice,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Score a registry's servers into a store: only what is new or has changed since the last sweep.

    An INPUT is a file with a record for each server (.jsonl, .jsonl.gz, .parquet), a folder of captures, one capture,
    the locator of a live server, or registry+URL or registry+FILE: a list of servers as the official registry gives it.
    """
    named, secret = store or default_url(os.environ), os.environ.get("TDQS_WEBHOOK_SECRET", "")
    runner.refuse(
        webhook and len(secret) < http_transport.MIN_TOKEN,
        f"--webhook needs TDQS_WEBHOOK_SECRET, at least {http_transport.MIN_TOKEN} characters",
    )
    if prune:
        count = stored_scores.prune_store(named, prune.replace(tzinfo=UTC))
        click.echo(f"{count_words(count, 'earlier capture')} deleted", err=True)
    request = sweeping.SweepRequest(
        inputs=tuple(inputs),
        store=named,
        settings=choice.settings(),
        rubric=rubric,
        cluster=cluster,
        is_batch=batch,
        live=live,
        admit=_admit_remotes(urls) if any(name.startswith(PREFIX) for name in inputs) else None,
        starters=starters,
    )
    while True:
        started = time.monotonic()
        if watch is not None:
            click.echo(f"{datetime.now(UTC).astimezone():%Y-%m-%d %H:%M:%S} sweep", err=True)
        try:
            with _progress() as progress:
                report = sweeping.sweep_registry(request, on_progress=progress, warn=runner.warn)
            page.show([report], runner.views(partial(registry_reports.sweep_blocks, statistics=_stats_command(store))))
            if webhook:
                sweeping.send_report(report, webhook, secret)
            if report.unread or not report.servers:
                unread = f"{count_words(report.unread, 'input')} could not be read to the end"
                raise InputError(unread if report.servers else "no server could be read")  # --watch goes on
        except TdqsError as error:
            if watch is None:
                raise
            fail(error)
        if watch is None:
            return
        time.sleep(max(0, started + 60 * watch - time.monotonic()))


def _admit_remotes(urls: Sequence[str]) -> Callable[[str], Awaitable[list[str]]]:
    """A check of foreign URLs: public addresses, and what the operator has named."""
    from tdqs_mcp.server.permissions import Permissions, read_pattern  # noqa: PLC0415

    patterns = tuple(map(read_pattern, ("https://*:*", "http://*:*", *urls)))
    return Permissions(urls=patterns).check_and_resolve


_JSONL, _SVG, _ATOM = "jsonl", "svg", "atom"
_TABLES = (_JSONL, "csv", "parquet")
ROWS = 10_000
"""Rows of Parquet that are in memory at once."""


def _write_table(results: Iterable[Any], page: runner.Page) -> None:
    """Write rows as CSV, or to a file as Parquet. Raises InputError."""
    if page.form == "parquet" and page.output is None:
        raise InputError("Parquet is no text: name a file with --output")
    rows = registry_reports.flat_rows(results)
    first = next(rows, None)
    if first is None:
        raise InputError("there is nothing to write: the method has no scores")
    if page.form == "csv":
        with click.open_file(page.output or "-", "w", encoding="utf-8", atomic=page.output is not None) as file:
            writer = csv.DictWriter(file, _column_names(first), restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(chain([first], rows))
        return
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InputError(NO_PARQUET) from error
    names, remaining = _column_names(first), chain([first], rows)
    texts = ("server", "tool", "inputHash", "tier", "ungraded", "specVersion", "smells", "flags", "overallTier")
    kinds = {name: pa.string() if name in texts or name.startswith("judge.") else pa.float64() for name in names}
    schema = pa.schema({**kinds, **({"official": pa.bool_()} if "official" in names else {})})
    with parquet.ParquetWriter(page.output, schema) as writer:
        while batch := list(islice(remaining, ROWS)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))


def _column_names(row: Mapping[str, object]) -> list[str]:
    """The columns of a row; a tool without scores has them in one."""
    scores = [f"scores.{dimension.key}" for dimension in load("tdqs").dimensions]
    return [name for key in row for name in (scores if key == "scores" else [key])]


@command()
@store_option
@method_option
@click.option("--server", metavar="NAME", help="Only this server: how many others score lower.")
@click.option("--query", metavar="TEXT", help="Only tools that the text finds, the most relevant first.")
@click.option("--compare", nargs=2, metavar="METHOD METHOD", help="How far two judges or methods agree.")
@click.option("--trend", is_flag=True, help="The scores at the end of each sweep.")
@click.option("--since", type=click.DateTime(), help="Servers that are new, changed or gone since then, in UTC.")
@click.option("--servers", is_flag=True, help="With jsonl, csv and parquet: a line for each server, not for each tool.")
@runner.page_options(*_TABLES, _SVG, _ATOM, help="What to print; jsonl, csv and parquet have a line for each tool.")
def stats(
    *,
    store: str | None,
    method: str | None,
    server: str | None,
    query: str | None,
    compare: tuple[str, str] | None,
    trend: bool,
    since: datetime | None,
    servers: bool,
    page: runner.Page,
) -> None:
    """Show what a store knows: scores, smells and weakest dimensions, a server's place, tools by query."""
    questions = {"--server": server, "--query": query, "--compare": compare, "--trend": trend or None, "--since": since}
    chosen = [option for option, value in questions.items() if value is not None]
    runner.refuse(len(chosen) > 1, f"{' and '.join(chosen)} are {len(chosen)} questions: ask one")
    runner.refuse(servers and page.form not in _TABLES, "--servers is of --format jsonl, csv and parquet")
    own = {"--query": (_JSONL,), "--trend": (_SVG,), "--since": (_ATOM,)}.get(chosen[0], ()) if chosen else _TABLES
    is_foreign = page.form in (*_TABLES, _SVG, _ATOM) and page.form not in own
    runner.refuse(is_foreign, f"--format {page.form} is not for this")
    named, again = store or default_url(os.environ), _stats_command(store)
    if compare or trend or since:
        with stored_scores.open_scores(named, method=compare[0] if compare else method) as scores:
            if compare:
                page.show([scores.compare_methods(compare[1])], runner.views(registry_reports.comparison_blocks))
            elif since:
                changes = scores.changes_since(since.replace(tzinfo=UTC))
                page.show(
                    [changes], {**runner.views(registry_reports.change_blocks), _ATOM: registry_reports.change_feed}
                )
            else:
                page.show([scores.trend()], {**runner.views(registry_reports.trend_blocks), _SVG: trend_svg})
    elif server is not None:
        standing = stored_scores.server_standing(named, server, method=method)
        page.show([standing], runner.views(partial(registry_reports.standing_blocks, command=again)))
    elif query is not None:
        search = stored_scores.search_tools(named, query, method=method)
        search_views = runner.views(partial(registry_reports.search_blocks, command=again))
        page.show([search], search_views) if page.form != _JSONL else page.stream(search.matches)
    elif page.form in _TABLES:
        rows = (stored_scores.stored_servers if servers else stored_scores.stored_tools)(named, method=method)
        page.stream(rows) if page.form == _JSONL else _write_table(rows, page)
    else:
        statistics_views = runner.views(partial(registry_reports.statistics_blocks, command=again))
        page.show([stored_scores.store_statistics(named, method=method)], statistics_views)


@command()
@store_option
@click.option(
    "--http",
    "address",
    default=http_transport.DEFAULT_ADDRESS,
    show_default=True,
    metavar="HOST:PORT",
    help="Where to listen.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="HOST",
    help="Host name that is answered to, such as that of a proxy in front: scores.example.org.",
)
@click.option(
    "--allow-url", "urls", multiple=True, metavar="PATTERN", help="Live servers at these URLs may be checked at /check."
)
@method_option
def dashboard(
    *, store: str | None, address: str, allowed_hosts: tuple[str, ...], urls: tuple[str, ...], method: str | None
) -> None:
    """Show a store's scores in a browser: servers, tools, their history, statistics, rules and badges.

    Everybody who can connect sees scores. Reasons, findings and definitions need the token of TDQS_DASHBOARD_TOKEN; on
    the loopback address they need none unless it is set.
    """
    from tdqs_mcp.dashboard import is_open, make_site  # noqa: PLC0415  # Starlette
    from tdqs_mcp.server.permissions import read_pattern  # noqa: PLC0415

    http_transport.check_hosts(allowed_hosts)
    host, port = http_transport.read_address(address)
    http = http_transport.Http(
        host=host, port=port, token=http_transport.read_token("TDQS_DASHBOARD_TOKEN"), allowed_hosts=allowed_hosts
    )
    http.check_token()
    patterns = [read_pattern(url) for url in urls]
    site = make_site(stored_scores.StoredScores(store or default_url(os.environ), method=method), http, patterns)

    def tell(url: str) -> None:
        click.echo(f"serving {url}/ (Ctrl-C ends it)", err=True)
        if http.token is None and not is_open(http):
            click.echo("it shows scores alone: TDQS_DASHBOARD_TOKEN is not set, so no maintainer can sign in", err=True)

    http_transport.run_http(site, http, log_level="warning", tell=tell)


def _stats_command(store: str | None) -> str:
    """`stats` on the store that was named, to be copied."""
    return shlex.join(["tdqs-mcp", "stats", *(["--store", public_url(store)] if store else [])])


@contextmanager
def _progress() -> Generator[sweeping.Progress]:
    """Shows how far a sweep is, on a terminal, and says it where the sweep does not come to its end."""
    from rich.progress import TaskProgressColumn  # noqa: PLC0415  # only a person who waits needs it

    line = runner.progress_line(*runner.until_end(TaskProgressColumn()))
    task, started = line.add_task("starting", total=1.0), time.monotonic()
    reached = ""

    def update(tally: SweepTally, share: float) -> None:
        nonlocal reached
        rate = tally.tools / max(0.001, time.monotonic() - started)
        cost = f", {price(tally.usage.cost)}" if tally.usage.requests else ""
        words = f"{count_words(tally.tools, 'tool')} of {count_words(tally.servers, 'server')}"
        reached = f"at least {words}"  # workers may have stored more
        line.update(task, description=f"{words}, {rate:,.0f} tools/s{cost}", completed=share)

    run = runner.command_run()
    run.interrupt_notes = lambda: [f"{reached or 'nothing'} scored and stored; the next sweep does the rest"]
    with line:
        yield update
    run.interrupt_notes = list
