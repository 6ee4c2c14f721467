"""The command line: words in, exit code out."""

import io
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from tdqs_mcp import app, sync
from tdqs_mcp.configuration import FAIL_ON, Choice, Policy, read_configuration, read_policy
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.gate import (
    Outcome,
    answered,
    baseline_document,
    compare,
    decide,
    earns,
    is_clean,
    is_good,
    labelled,
    reaches,
    read_baseline,
    renew,
    settle,
)
from tdqs_mcp.judges.budget import Budget, Ledger
from tdqs_mcp.judges.judge import Judge, used
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.results import (
    CalibrationReport,
    GateRow,
    KnownFinding,
    LabelScore,
    Letter,
    LintReport,
    Rewrite,
    ServerGrade,
    ServerScore,
    SkillScore,
    Tier,
)
from tdqs_mcp.pipeline.rewrite import apply
from tdqs_mcp.pipeline.rollup import SPECS
from tdqs_mcp.reporters.documents import capture_document, json_text
from tdqs_mcp.reporters.escape import printable, visible, well_formed
from tdqs_mcp.reporters.sited import Sited, unused_line
from tdqs_mcp.reporters.usage import DOLLAR, price, usage_line
from tdqs_mcp.rubrics.rubric import TOOL_RUBRICS
from tdqs_mcp.rules.profiles import DEFAULT as DEFAULT_PROFILE
from tdqs_mcp.rules.profiles import PROFILES
from tdqs_mcp.server.command import serve
from tdqs_mcp.settings import CHOICES, Settings, make_judge, make_preview, read_settings
from tdqs_mcp.sources.load import parse as parse_json
from tdqs_mcp.sources.locator import parse as parse_locator
from tdqs_mcp.sources.locator import public
from tdqs_mcp.sources.options import LiveOptions

WIDTH = 110
"""Columns where the output is no terminal."""

Command = Callable[..., Any]
Result = TypeVar("Result")


def _pairs(_: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    separator = ":" if option.name == "headers" else "="
    pairs = {}
    for value in values:
        name, found, rest = value.partition(separator)
        if not found or not name.strip():
            raise click.BadParameter(f"give NAME{separator}VALUE")
        pairs[name.strip()] = rest.strip() if separator == ":" else rest
    return pairs


def _nanodollars(text: str | None) -> int | None:
    """Exact decimals: a bound on money is no place for floats."""
    if text is None:
        return None
    from decimal import Decimal, InvalidOperation  # noqa: PLC0415  # only a bound on money needs it

    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise click.BadParameter("--max-cost is an amount of dollars, such as 0.50") from None
    if not amount.is_finite() or amount < 0:
        raise click.BadParameter("--max-cost is an amount of dollars, such as 0.50")
    return int(amount * DOLLAR)


def _live(command: Command) -> Command:
    """The options of live locators."""
    seconds = click.FloatRange(min=0.1)
    for option in (
        click.option("--timeout", type=seconds, default=60.0, show_default=True, help="Seconds for a live server."),
        click.option(
            "--cwd", type=click.Path(exists=True, file_okay=False), help="Where a stdio: or py: server starts."
        ),
        click.option(
            "--env", multiple=True, metavar="NAME=VALUE", callback=_pairs, help="Set for a stdio: or py: server."
        ),
        click.option(
            "--header", "headers", multiple=True, metavar="NAME:VALUE", callback=_pairs, help="Sent to a URL."
        ),
    ):
        command = option(command)
    return command


_output = click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
_form = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="What to print.",
)


def _judging(command: Command) -> Command:
    """The options that name a judge, without which the TDQS_ variables do, and what it may take."""

    @wraps(command)
    def run(
        *args: Any,  # noqa: ANN401  # what click hands on
        max_calls: int | None,
        max_tokens: int | None,
        max_cost: str | None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        budget = Budget(calls=max_calls, tokens=max_tokens, cost=_nanodollars(max_cost))
        return command(*args, budget=budget, **options)

    offered: Command = run
    for option in (
        click.option("--max-cost", metavar="DOLLARS", help="At most this much money, estimated; for known prices."),
        click.option("--max-tokens", type=click.IntRange(min=1), help="At most this many tokens, estimated."),
        click.option("--max-calls", type=click.IntRange(min=0), help="At most this many requests to a model."),
        click.option(
            "--exact-prompt",
            is_flag=True,
            help="Send the published bytes, without the fence that keeps a definition from speaking to the judge.",
        ),
        click.option("--model", help="The model that judges."),
        click.option("--base-url", metavar="URL", help="Where the model answers, such as http://127.0.0.1:11434/v1."),
        click.option(
            "--judge",
            metavar="JUDGE",
            help=f"{CHOICES}; the key is TDQS_API_KEY, or ANTHROPIC_API_KEY.  [default: offline]",
        ),
    ):
        offered = option(offered)
    return offered


_rubric = click.option(
    "--rubric", type=click.Choice(TOOL_RUBRICS), default=TOOL_RUBRICS[0], show_default=True, help="What is scored."
)
_bad = click.option("--fail-on-bad", is_flag=True, help="Exit 1 when anything is labelled Bad.")
_file = click.Path(exists=True, dir_okay=False, path_type=Path)
_spec = click.option("--spec", type=click.Choice(SPECS), default=SPECS[0], show_default=True, help="TDQS version.")


def _lint_text(report: LintReport) -> Any:  # noqa: ANN401
    from tdqs_mcp.reporters.text import lint_view  # noqa: PLC0415

    return lint_view(report)


def _lint_json(report: LintReport) -> dict[str, Any]:
    from tdqs_mcp.reporters.contract import lint_document  # noqa: PLC0415

    return lint_document(report)


def _lint_markdown(reports: Sequence[Sited], _: Policy) -> str:
    from tdqs_mcp.reporters.markdown import lint_markdown  # noqa: PLC0415

    return lint_markdown([each.report for each in reports])


def _lint_sarif(reports: Sequence[Sited], _: Policy) -> str:
    from tdqs_mcp.reporters.sarif import sarif_document  # noqa: PLC0415

    return json_text(sarif_document(reports))


def _lint_junit(reports: Sequence[Sited], policy: Policy) -> str:
    from tdqs_mcp.reporters.junit import junit_text  # noqa: PLC0415

    return junit_text(reports, fail_on=policy.fail_on)


def _lint_github(reports: Sequence[Sited], _: Policy) -> str:
    from tdqs_mcp.reporters.github import github_text  # noqa: PLC0415

    return github_text(reports)


_LINT_VIEWS = {"text": _lint_text, "json": _lint_json}
_LINT_DOCUMENTS = {"markdown": _lint_markdown, "sarif": _lint_sarif, "junit": _lint_junit, "github": _lint_github}
"""Formats that hold several servers in one document."""


def _listed(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
    """Options given again or with commas; None where there is none, which leaves the choice to lower levels."""
    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    return words or None


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH})
@click.version_option(package_name="tdqs-mcp")
def cli() -> None:
    """Score, lint, explain and rewrite the tool definitions of MCP servers.

    A LOCATOR is a JSON file, - for standard input, an http(s) URL, "stdio:COMMAND ARGS", config:NAME for a server of an
    installed client, or py:MODULE:OBJECT.
    """


@cli.command()
@click.argument("locators", nargs=-1, required=True, metavar="LOCATOR...")
@click.option("--fail-under", type=click.Choice(list("ABCD")), help="Exit 1 below this tier.")
@click.option(
    "--answers", type=click.Path(dir_okay=False, path_type=Path), help="Finish a judgement from these answers."
)
@click.option("--dry-run", is_flag=True, help="Send nothing; say what a judge would be asked and what that takes.")
@_rubric
@click.option("--skill", type=_file, help="With --rubric bundles: the server's skill text, to be scored too.")
@_bad
@_judging
@_spec
@_live
@_form
@_output
def score(
    locators: tuple[str, ...],
    *,
    fail_under: str | None,
    answers: Path | None,
    dry_run: bool,
    rubric: str,
    skill: Path | None,
    fail_on_bad: bool,
    judge: str | None,
    base_url: str | None,
    model: str | None,
    exact_prompt: bool,
    budget: Budget,
    spec: str,
    form: str,
    output: Path | None,
    **live: Any,  # noqa: ANN401  # the options of _live
) -> None:
    """Score every tool and the server by TDQS, or by another rubric."""
    if answers and len(locators) > 1:
        raise click.UsageError("--answers belongs to one locator; give one")
    _refuse_mixture(rubric, fail_under=fail_under, fail_on_bad=fail_on_bad, skill=skill)
    given = None if answers is None else _answers(answers, judge or base_url or model or exact_prompt)
    text = _read_text(skill) if skill else None
    if dry_run:
        ahead = partial(_preview, judge, base_url=base_url, model=model, exact_prompt=exact_prompt, budget=budget)
        _dry_run(locators, live, *ahead(), rubric=rubric, skill=text, form=form, output=output)
        return
    chosen = (
        None if answers else _judge(judge, base_url=base_url, model=model, exact_prompt=exact_prompt, budget=budget)
    )
    policy = _policy(Choice())
    if rubric != TOOL_RUBRICS[0]:
        label: Callable[[Catalog], LabelScore] = (
            partial(app.score_label_answers, answers=given, rubric=rubric, spec=spec)
            if answers
            else partial(sync.score_labels, rubric=rubric, judge=chosen, skill=text, spec=spec)
        )
        labels = _each(locators, live, lambda catalog: app.under(policy, label(catalog), catalog))
        _tell_usage(chosen)
        _show(labels, _LABEL_VIEWS, form, output)
        _exit(labels, is_good if fail_on_bad else labelled)
        return
    use: Callable[[Catalog], ServerScore] = (
        partial(app.score_answers, answers=given, spec=spec)
        if answers
        else partial(sync.score, judge=chosen, spec=spec)
    )
    scores = _each(locators, live, lambda catalog: app.under(policy, use(catalog), catalog))
    _tell_usage(chosen)
    _show(scores, _SCORE_VIEWS, form, output)
    _exit(scores, (lambda result: reaches(result, Tier(fail_under))) if fail_under else answered)


@cli.command()
@click.argument("file", type=_file, metavar="FILE")
@click.option("--server", "locator", required=True, metavar="LOCATOR", help="The server that the skill is about.")
@click.option("--answers", type=_file, help='Finish a judgement from {"skill": answer}.')
@_bad
@_judging
@_live
@_form
@_output
def skill(
    file: Path,
    *,
    locator: str,
    answers: Path | None,
    fail_on_bad: bool,
    judge: str | None,
    base_url: str | None,
    model: str | None,
    exact_prompt: bool,
    budget: Budget,
    form: str,
    output: Path | None,
    **live: Any,  # noqa: ANN401
) -> None:
    """Score the skill text of a server beside its tools, by MCPBundles' rubric."""
    text = _read_text(file)
    use: Callable[[Catalog], SkillScore]
    if answers:
        given = _answers(answers, judge or base_url or model or exact_prompt)
        use, chosen = partial(app.score_skill_answer, text=text, answers=given), None
    else:
        chosen = _judge(judge, base_url=base_url, model=model, exact_prompt=exact_prompt, budget=budget)
        use = partial(sync.score_skill, text=text, judge=chosen)
    results = _each((locator,), live, use)
    _tell_usage(chosen)
    _show(results, _SKILL_VIEWS, form, output)
    _exit(results, is_good if fail_on_bad else labelled)


@cli.command()
@click.argument("locators", nargs=-1, required=True, metavar="LOCATOR...")
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    callback=_listed,
    help="Only these rules: ids, names, aliases or lanes, such as TDQ104, missing-usage, DESC-003, TDQ5 or DESC.",
)
@click.option("--ignore", multiple=True, metavar="RULE", callback=_listed, help="Not these; spelled as for --select.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help=f"Instead of {DEFAULT_PROFILE.summary}: "
    f"{'; '.join(f'{name}: {profile.summary}' for name, profile in PROFILES.items())}.",
)
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="Exit 1 on a finding this bad.  [default: error]")
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Report only findings that are not in this file.",
)
@click.option("--write-baseline", "renews", is_flag=True, help="Write the findings of this run to the --baseline file.")
@_live
@click.option(
    "--format",
    "form",
    type=click.Choice([*_LINT_VIEWS, *_LINT_DOCUMENTS]),
    default="text",
    show_default=True,
    help="What to print: sarif for code scanning, junit for test reports, github for annotations of a workflow, "
    "markdown for a pull request.",
)
@_output
def lint(
    locators: tuple[str, ...],
    *,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    profile: str | None,
    fail_on: str | None,
    baseline: Path | None,
    renews: bool,
    form: str,
    output: Path | None,
    **live: Any,  # noqa: ANN401
) -> None:
    """Report what the rules find.

    What flags leave open is read from TDQS_SELECT, TDQS_IGNORE, TDQS_PROFILE and TDQS_FAIL_ON, then from the nearest
    tdqs.toml or [tool.tdqs] of pyproject.toml, which also sets severities and suppresses findings.
    """
    if renews and baseline is None:
        raise click.UsageError("--write-baseline needs --baseline FILE, the file to write")
    policy = _policy(Choice(select=select, ignore=ignore, profile=profile, fail_on=fail_on))
    known = _known_findings(baseline, is_new=renews)
    found = _each(locators, live, partial(app.lint, policy=policy))
    reports = settle([report for report in found if report is not None])
    if baseline is not None and renews:
        known = _renew(baseline, known, reports, policy)
    if baseline is not None:
        reports = compare(reports, known, rules=policy.selection.rules)
    if form in _LINT_DOCUMENTS and reports:
        places = [locator for locator, report in zip(locators, found, strict=True) if report is not None]
        sited = [app.sited(report, place) for report, place in zip(reports, places, strict=True)]
        _write(_LINT_DOCUMENTS[form](sited, policy), output)
    elif reports:
        _show([*reports, *(None for report in found if report is None)], _LINT_VIEWS, form, output)
    if form != "text":
        _warn_unused(reports)
    limit = policy.fail_on
    _exit(
        [*reports, *(None for report in found if report is None)],
        None if limit is None else lambda report: is_clean(report.findings, limit),
    )


@cli.command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--fail-under", type=click.Choice(list(Letter)), help="Exit 1 below this letter.")
@_live
@_form
@_output
def grade(locator: str, *, fail_under: str | None, form: str, output: Path | None, **live: Any) -> None:  # noqa: ANN401
    """Grade a server as MCP Playground does: a score of 100 and a letter."""
    grades = _each((locator,), live, app.grade)
    _show(grades, _GRADE_VIEWS, form, output)
    _exit(grades, lambda result: earns(result, Letter(fail_under or Letter.F)))


@cli.command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="Only this tool; may be given again.")
@click.option(
    "--write", "target", type=click.Path(dir_okay=False, path_type=Path), help="Save the whole improved catalog."
)
@_judging
@_spec
@_live
@_form
@_output
def rewrite(
    locator: str,
    *,
    tools: tuple[str, ...],
    target: Path | None,
    judge: str | None,
    base_url: str | None,
    model: str | None,
    exact_prompt: bool,
    budget: Budget,
    spec: str,
    form: str,
    output: Path | None,
    **live: Any,  # noqa: ANN401
) -> None:
    """Propose better definitions from what is known, each with its proof, and ask for the rest."""
    chosen = _judge(judge, base_url=base_url, model=model, exact_prompt=exact_prompt, budget=budget)
    results = _each(
        (locator,),
        live,
        lambda catalog: (catalog, sync.rewrite(catalog, tools=tools or None, judge=chosen, spec=spec)),
    )
    _tell_usage(chosen)
    _show(results, _REWRITE_VIEWS | {"json": partial(_rewrite_json, spec=spec)}, form, output)
    for catalog, rewrites in (result for result in results if result is not None and target is not None):
        improved = apply(catalog, {each.index: each.definition for each in rewrites})
        _write(json_text(capture_document(improved)), target)
        click.echo(f"{len(improved.tools)} tools in {target}. Next: tdqs-mcp score {target}", err=True)
    _exit(results, None)


@cli.command()
@click.argument("suite", type=click.Path(dir_okay=False, path_type=Path), metavar="SUITE.yml")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="Seconds for each live server that names none.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "junit"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@_output
def gate(suite: Path, *, timeout: float, form: str, output: Path | None) -> None:
    """Hold servers to the tool_quality entries of a suite, one row each."""
    try:
        rows = sync.run_suite(suite, LiveOptions(timeout=timeout))
    except TdqsError as error:
        _fail(error)
        sys.exit(Outcome.UNKNOWN)
    _show([rows], _gate_views(suite), form, output)
    sys.exit(decide(rows))


@cli.command()
@click.argument("locators", nargs=-1, metavar="[LOCATOR]...")
@_judging
@_live
@_form
@_output
def calibrate(
    locators: tuple[str, ...],
    *,
    judge: str | None,
    base_url: str | None,
    model: str | None,
    exact_prompt: bool,
    budget: Budget,
    form: str,
    output: Path | None,
    **live: Any,  # noqa: ANN401
) -> None:
    """Show how wrong a judge is: against the published examples and the labelled tools.

    Without a LOCATOR, the offline judge shows its error on servers that it was not fitted to. With some, any judge is
    held against those of their tools that there are labels for.
    """
    chosen = _judge(judge, base_url=base_url, model=model, exact_prompt=exact_prompt, budget=budget)
    catalogs = _each(locators, live, lambda catalog: catalog)
    known = [catalog for catalog in catalogs if catalog is not None]
    report = sync.calibrate(known, judge=chosen)
    _tell_usage(chosen)
    _show([report], _CALIBRATION_VIEWS, form, output)
    if len(known) < len(catalogs) or (locators and len(report.sections) == 1):
        sys.exit(Outcome.UNKNOWN)
    sys.exit(Outcome.FAILED if report.faults else Outcome.PASSED)


@cli.command()
@click.argument("name", metavar="ID")
@_form
@_output
def explain(name: str, *, form: str, output: Path | None) -> None:
    """Explain a rule, a dimension, a flag or a tier."""
    try:
        page = app.explain(name)
    except TdqsError as error:
        _fail(error)
        sys.exit(Outcome.UNKNOWN)
    _show(
        [page], {"json": lambda text: {"id": name, "page": text}, "markdown": str, "text": _markdown_view}, form, output
    )


@cli.command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--tool", metavar="NAME", help="Only this tool's prompt.")
@_rubric
@click.option("--skill", type=_file, help="A skill text of the server, whose prompt is wanted too.")
@_spec
@_live
@_form
@_output
def prompts(
    locator: str,
    *,
    tool: str | None,
    rubric: str,
    skill: Path | None,
    spec: str,
    form: str,
    output: Path | None,
    **live: Any,  # noqa: ANN401
) -> None:
    """Print the exact prompts that a judge would get, as published and hardened."""
    text = _read_text(skill) if skill else None
    documents = _each((locator,), live, partial(app.prompts, tool=tool, spec=spec, rubric=rubric, skill=text))
    _show(documents, {"json": dict, "markdown": _prompts_text, "text": _prompts_text}, form, output)
    _exit(documents, None)


@cli.command()
@click.argument("locator", metavar="LOCATOR")
@_live
@_output
def capture(locator: str, *, output: Path | None, **live: Any) -> None:  # noqa: ANN401
    """Save the raw catalog of a server, for later."""
    catalogs = _each((locator,), live, lambda catalog: catalog)
    for catalog in catalogs:
        if catalog is not None:
            _write(json_text(capture_document(catalog)), output)
            if output:
                click.echo(f"{len(catalog.tools)} tools in {output}. Next: tdqs-mcp score {output}")
    _exit(catalogs, None)


cli.add_command(serve)


def main() -> None:
    """The console script; what is redirected is UTF-8 on every platform."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    cli()


def _each(locators: Sequence[str], live: Mapping[str, Any], use: Callable[[Catalog], Result]) -> list[Result | None]:
    """The use case's result for each locator; None, with the reason on standard error, where it could not run."""
    results: list[Result | None] = []
    for locator in locators:
        try:
            with _waiting(locator):
                catalog = sync.load(locator, LiveOptions(**live))
            results.append(use(catalog))
        except TdqsError as error:
            _fail(error)
            results.append(None)
    return results


@contextmanager
def _waiting(locator: str) -> Generator[None]:
    """A spinner on a terminal while a server is captured; files need none."""
    if not sys.stderr.isatty() or ":" not in locator:
        yield
        return
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status(f"capturing {printable(public(parse_locator(locator)))}"):
        yield


def _policy(flags: Choice) -> Policy:
    """What flags, the environment and the nearest configuration say about findings."""
    try:
        return read_policy(flags, environ=os.environ, configuration=read_configuration(Path.cwd()))
    except TdqsError as error:
        _fail(error)
        sys.exit(Outcome.UNKNOWN)


def _known_findings(baseline: Path | None, *, is_new: bool) -> tuple[KnownFinding, ...]:
    """What the baseline file holds; a missing one is empty only where it is about to be written."""
    if baseline is None or (is_new and not baseline.exists()):
        return ()
    if not baseline.exists():
        _fail(InputError(f"there is no baseline {str(baseline)!r}; add --write-baseline to write it"))
        sys.exit(Outcome.UNKNOWN)
    try:
        return read_baseline(_read_json(baseline), origin=repr(str(baseline)))
    except InputError as error:
        _fail(error)
        sys.exit(Outcome.UNKNOWN)


def _renew(
    baseline: Path, known: Sequence[KnownFinding], reports: Sequence[LintReport], policy: Policy
) -> tuple[KnownFinding, ...]:
    """Write what this run has found as the baseline of the next."""
    renewed = renew(known, reports, rules=policy.selection.rules)
    _write(json_text(baseline_document(renewed)), baseline)
    click.echo(f"{len(renewed)} findings in {baseline}; with --baseline, only others are reported.", err=True)
    return renewed


def _warn_unused(reports: Sequence[LintReport]) -> None:
    """Say on standard error what the configuration suppresses in vain."""
    for unused in dict.fromkeys(each for report in reports for each in report.unused_suppressions):
        click.echo(f"warning: {unused_line(unused)}", err=True)


def _dry_run(
    locators: Sequence[str],
    live: Mapping[str, Any],
    judge: Judge,
    ledger: Ledger,
    *,
    rubric: str,
    skill: str | None,
    form: str,
    output: Path | None,
) -> None:
    """What scoring would ask for, over all locators."""
    use: Callable[[Catalog], Any] = (
        partial(sync.score, judge=judge)
        if rubric == TOOL_RUBRICS[0]
        else partial(sync.score_labels, rubric=rubric, judge=judge, skill=skill)
    )
    done = _each(locators, live, use)
    _show([ledger], {"json": _ledger_document, "markdown": _ledger_text, "text": _ledger_text}, form, output)
    _exit(done, None)


def _refuse_mixture(rubric: str, *, fail_under: str | None, fail_on_bad: bool, skill: Path | None) -> None:
    """Options of one rubric mean nothing to another."""
    if rubric == TOOL_RUBRICS[0] and fail_on_bad:
        raise click.UsageError("the tdqs rubric has tiers, no labels; use --fail-under")
    if rubric != TOOL_RUBRICS[0] and fail_under:
        raise click.UsageError(f"the {rubric} rubric has labels, no tiers; use --fail-on-bad")
    if rubric != "bundles" and skill:
        raise click.UsageError("--skill belongs to --rubric bundles; or use tdqs-mcp skill")


def _answers(file: Path, judge: object) -> object:
    if judge:
        raise click.UsageError(
            "--answers are somebody's judgement already; leave --judge, --base-url, --model and --exact-prompt out"
        )
    return _read_json(file)


def _judge(name: str | None, **options: Any) -> Judge | None:  # noqa: ANN401  # those of read_settings
    """The judge that is named; None for the offline judge, which needs no event loop."""
    try:
        settings = read_settings(os.environ, judge=name, **options)
        return None if settings == Settings() else make_judge(settings, warn=_warn)
    except InputError as error:
        _fail(error)
        sys.exit(Outcome.UNKNOWN)


def _tell_usage(judge: Judge | None) -> None:
    """What a model was asked and what it cost, on standard error: the same judgement may cost less the next time."""
    usage = used(judge)
    if usage and usage.requests:
        click.echo(usage_line(usage), err=True)


def _preview(name: str | None, **options: Any) -> tuple[Judge, Ledger]:  # noqa: ANN401
    try:
        return make_preview(read_settings(os.environ, judge=name, **options), warn=_warn)
    except InputError as error:
        _fail(error)
        sys.exit(Outcome.UNKNOWN)


def _ledger_document(ledger: Ledger) -> dict[str, Any]:
    """What a run would ask for; the cost is null where a price is not known."""
    cost = None if ledger.cost is None else ledger.cost / DOLLAR
    counts = {"calls": ledger.calls, "inputTokens": ledger.input_tokens, "outputTokens": ledger.output_tokens}
    return {**counts, "cost": cost}


def _ledger_text(ledger: Ledger) -> str:
    return (
        f"{ledger.calls} requests would be sent, with about {ledger.input_tokens} input and {ledger.output_tokens} "
        f"output tokens, {price(ledger.cost)}; what is cached already costs nothing\n"
    )


def _show(results: Sequence[Any], views: Mapping[str, Callable[[Any], Any]], form: str, output: Path | None) -> None:
    """Print what there is: JSON as one object for one locator and a list for several."""
    shown = [views[form](result) for result in results if result is not None]
    if not shown:
        return
    if form == "json":
        _write(json_text(shown[0] if len(results) == 1 else shown), output)
    elif form == "markdown" or isinstance(shown[0], str):
        _write("\n".join(shown), output)
    else:
        _write_rich(shown, output)


def _write(text: str, output: Path | None) -> None:
    try:
        if output is None:
            click.echo(well_formed(text))
        else:
            output.write_text(f"{well_formed(text).rstrip()}\n", encoding="utf-8")
    except BrokenPipeError:
        raise  # the reader has seen enough; click ends quietly
    except OSError as error:
        _fail(InputError(f"{str(output or 'standard output')!r} cannot be written: {error.strerror}"))
        os._exit(Outcome.UNKNOWN)  # a full standard output would fail again, and louder, while the interpreter ends


def _write_rich(renderables: Sequence[Any], output: Path | None) -> None:
    from rich.console import Console  # noqa: PLC0415  # JSON and Markdown go without

    is_terminal = output is None and sys.stdout.isatty()
    page = io.StringIO()
    width = None if is_terminal else WIDTH
    console = Console(file=page, force_terminal=is_terminal, width=width, highlight=False, emoji=False, markup=False)
    for position, renderable in enumerate(renderables):
        console.print(*([""] if position else []), renderable, sep="\n")
    _write("\n".join(line.rstrip() for line in page.getvalue().rstrip("\n").split("\n")), output)


def _exit(results: Sequence[Result | None], gate: Callable[[Result], Outcome] | None) -> None:
    """0 done, 1 the gate was not met, 2 something could not run or the verdict is open."""
    if any(result is None for result in results):
        sys.exit(Outcome.UNKNOWN)
    outcomes = [gate(result) for result in results if result is not None] if gate else []
    if Outcome.FAILED in outcomes:
        sys.exit(Outcome.FAILED)
    if Outcome.UNKNOWN in outcomes:
        click.echo("error: what is ungraded leaves the verdict open", err=True)
        sys.exit(Outcome.UNKNOWN)


def _warn(message: str) -> None:
    click.echo(f"warning: {printable(message)}", err=True)


def _fail(error: TdqsError) -> None:
    click.echo(f"error: {printable(str(error))}", err=True)


def _read_json(path: Path) -> object:
    try:
        return parse_json(path.read_bytes(), origin=repr(str(path)))
    except OSError as error:
        _fail(InputError(f"{str(path)!r} cannot be read: {error.strerror}"))
    except InputError as error:
        _fail(error)
    sys.exit(Outcome.UNKNOWN)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        _fail(InputError(f"{str(path)!r} cannot be read: {error.strerror}"))
    except UnicodeDecodeError:
        _fail(InputError(f"{str(path)!r} is no UTF-8 text"))
    sys.exit(Outcome.UNKNOWN)


def _score_text(score: ServerScore) -> Any:  # noqa: ANN401  # rich is imported where it is used
    from tdqs_mcp.reporters.text import score_view  # noqa: PLC0415

    return score_view(score)


def _score_json(score: ServerScore) -> dict[str, Any]:
    from tdqs_mcp.reporters.contract import score_document  # noqa: PLC0415  # pydantic

    return score_document(score)


def _score_markdown(score: ServerScore) -> str:
    from tdqs_mcp.reporters.markdown import score_markdown  # noqa: PLC0415  # jinja2

    return score_markdown(score)


def _grade_text(grade: ServerGrade) -> Any:  # noqa: ANN401
    from tdqs_mcp.reporters.grade import grade_view  # noqa: PLC0415

    return grade_view(grade)


def _grade_json(grade: ServerGrade) -> dict[str, Any]:
    from tdqs_mcp.reporters.contract import grade_document  # noqa: PLC0415

    return grade_document(grade)


def _grade_markdown(grade: ServerGrade) -> str:
    from tdqs_mcp.reporters.grade import grade_markdown  # noqa: PLC0415

    return grade_markdown(grade)


def _calibration_text(report: CalibrationReport) -> Any:  # noqa: ANN401
    from tdqs_mcp.reporters.calibration import calibration_view  # noqa: PLC0415

    return calibration_view(report)


def _calibration_json(report: CalibrationReport) -> dict[str, Any]:
    from tdqs_mcp.reporters.calibration import calibration_document  # noqa: PLC0415

    return calibration_document(report)


def _calibration_markdown(report: CalibrationReport) -> str:
    from tdqs_mcp.reporters.calibration import calibration_markdown  # noqa: PLC0415

    return calibration_markdown(report)


def _label_text(score: LabelScore) -> Any:  # noqa: ANN401
    from tdqs_mcp.reporters.labels import label_view  # noqa: PLC0415  # rich

    return label_view(score)


def _label_json(score: LabelScore) -> dict[str, Any]:
    from tdqs_mcp.reporters.contract import label_document  # noqa: PLC0415

    return label_document(score)


def _label_markdown(score: LabelScore) -> str:
    from tdqs_mcp.reporters.labels import label_markdown  # noqa: PLC0415

    return label_markdown(score)


def _skill_text(score: SkillScore) -> Any:  # noqa: ANN401
    from tdqs_mcp.reporters.labels import skill_view  # noqa: PLC0415

    return skill_view(score)


def _skill_json(score: SkillScore) -> dict[str, Any]:
    from tdqs_mcp.reporters.contract import skill_document  # noqa: PLC0415

    return skill_document(score)


def _skill_markdown(score: SkillScore) -> str:
    from tdqs_mcp.reporters.labels import skill_markdown  # noqa: PLC0415

    return skill_markdown(score)


def _rewrite_text(result: tuple[Catalog, Sequence[Rewrite]]) -> Any:  # noqa: ANN401
    from tdqs_mcp.reporters.rewrite import rewrite_view  # noqa: PLC0415

    return rewrite_view(*result)


def _rewrite_json(result: tuple[Catalog, Sequence[Rewrite]], *, spec: str) -> dict[str, Any]:
    from tdqs_mcp.reporters.contract import rewrite_document  # noqa: PLC0415

    return rewrite_document(*result, spec=spec)


def _rewrite_markdown(result: tuple[Catalog, Sequence[Rewrite]]) -> str:
    from tdqs_mcp.reporters.rewrite import rewrite_markdown  # noqa: PLC0415

    return rewrite_markdown(*result)


def _gate_views(suite: Path) -> dict[str, Callable[[Sequence[GateRow]], Any]]:
    from tdqs_mcp.reporters.contract import gate_document  # noqa: PLC0415
    from tdqs_mcp.reporters.gate import gate_junit, gate_markdown, gate_view  # noqa: PLC0415

    return {
        "text": gate_view,
        "json": partial(gate_document, suite=str(suite)),
        "markdown": gate_markdown,
        "junit": partial(gate_junit, suite=str(suite)),
    }


def _markdown_view(page: str) -> Any:  # noqa: ANN401
    from rich.markdown import Markdown  # noqa: PLC0415

    return Markdown(page) if sys.stdout.isatty() else page


def _prompts_text(document: Mapping[str, Any]) -> str:
    """The prompts for eyes: the system prompts once, control characters visible; JSON has the exact bytes."""
    entries = [(f"tool {entry['name']}", entry) for entry in document["tools"]]
    entries += [(key, document[key]) for key in ("coherence", "shadowing", "skill") if key in document]
    entries = [
        pair
        for title, entry in entries
        for pair in ((title, entry), (f"{title}, hardened", entry.get("hardened")))
        if pair[1] is not None
    ]
    seen: set[str] = set()
    lines = []
    for title, entry in entries:
        if entry["system"] and entry["system"] not in seen:
            lines += ["===== system", *entry["system"].split("\n"), ""]
            seen.add(entry["system"])
        lines += [f"===== user: {title} ({entry['promptHash']})", *entry["user"].split("\n"), ""]
    return "\n".join(visible(line) for line in lines)


_SCORE_VIEWS = {"text": _score_text, "json": _score_json, "markdown": _score_markdown}
_GRADE_VIEWS = {"text": _grade_text, "json": _grade_json, "markdown": _grade_markdown}
_CALIBRATION_VIEWS = {
    "text": _calibration_text,
    "json": _calibration_json,
    "markdown": _calibration_markdown,
}
_LABEL_VIEWS = {"text": _label_text, "json": _label_json, "markdown": _label_markdown}
_SKILL_VIEWS = {"text": _skill_text, "json": _skill_json, "markdown": _skill_markdown}
_REWRITE_VIEWS = {"text": _rewrite_text, "markdown": _rewrite_markdown}
