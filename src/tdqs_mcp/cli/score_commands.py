"""`score`, `skill` and the other verdicts: `grade`, `gate`, `calibrate`; `explain`, `prompts` and `capture`."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app import judging
from tdqs_mcp.app.catalogs import blocking, capture_document
from tdqs_mcp.app.linting import RuleChoice
from tdqs_mcp.app.settings import read_accepted
from tdqs_mcp.cli import command, fail, group_options
from tdqs_mcp.cli.judge_options import (
    JudgeChoice,
    bad_option,
    judge_of,
    judge_options,
    preview_of,
    read_answers,
    rubric_option,
    spec_option,
    tell_usage,
)
from tdqs_mcp.cli.runner import (
    FILE,
    OPEN,
    TARGET,
    Page,
    View,
    command_run,
    end,
    for_each,
    live_options,
    locator_argument,
    locators_argument,
    output_option,
    page_options,
    policy_of,
    shown_locator,
    views,
    waiting,
    warn,
    write,
)
from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.gate.policy import answered, calibrated, decide, earns, is_good, labeled, reaches
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.blocks import ledger_document, ledger_line
from tdqs_mcp.report.charts import badge_line, badge_svg
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.lint_report import gate_blocks
from tdqs_mcp.report.registry_reports import installed_blocks
from tdqs_mcp.report.score_report import (
    calibration_blocks,
    grade_blocks,
    label_blocks,
    missed_words,
    prompts_text,
    ranking_blocks,
    score_blocks,
    skill_blocks,
    tool_blocks,
)
from tdqs_mcp.results.checks import GateReport
from tdqs_mcp.results.clients import InstalledOutcome, InstalledReport
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.labels import LabelScore, Letter, ServerGrade, SkillScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rubrics.rubric import TOOL_RUBRICS
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.locator import HIDDEN, LiveOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Options for installed servers."""

    is_asked: bool
    task: str | None

    def check(self, locators: Sequence[str]) -> None:
        """Refuses locators beside --installed, and its options without it."""
        if self.is_asked and locators:
            raise click.UsageError("--installed scores all servers; leave the locators out")
        if not self.is_asked and self.task is not None:
            raise click.UsageError("--task belongs to --installed")
        if not self.is_asked and not locators:
            raise click.UsageError("Missing argument 'LOCATOR...', or --installed.")

    def score(
        self,
        live: LiveOptions,
        page: Page,
        fail_under: str | None,
        **options: Any,  # noqa: ANN401  # score_installed's
    ) -> None:
        """Prints the report, and ends with 2 if a server failed, or was not looked at and could change the verdict."""
        from tdqs_mcp.app import installed_servers  # noqa: PLC0415  # scoring files goes without

        if live.headers or live.env or live.cwd:
            raise click.UsageError(
                "--header, --env and --cwd belong to one server; its client's configuration has its own"
            )
        agreed = {
            server.id for server in installed_servers.servers().servers if server.is_project and not server.is_disabled
        }
        question = f"Files of this folder, not yours, name these servers: {', '.join(sorted(agreed))}. Start them?"
        may_start = bool(agreed) and live.consent(question)
        with waiting().on("capturing and scoring the servers of all clients", at_once=True):
            report = blocking(installed_servers.score_installed)(
                consent=lambda foreign: may_start and {entry.id for entry in foreign} <= agreed,
                options=live,
                task=self.task,
                **options,
            )
        tell_usage(options["judge"])
        page.show([report], views(installed_blocks))
        _end(report, fail_under)


def _end(report: InstalledReport, fail_under: str | None) -> None:
    failed = [server.server.id for server in report.servers if server.standing is InstalledOutcome.FAILED]
    if failed:
        fail(InputError(f"without a score: {', '.join(failed)}"))
    for server in report.servers:
        if server.standing is InstalledOutcome.NOT_STARTED or server.incomplete:
            command_run().incomplete.append(f"{server.server.id!r}: {server.reason or server.incomplete}")
    for problem in report.problems:
        command_run().incomplete.append(problem)
    scores = [server.score for server in report.servers if server.score]
    if not scores:
        command_run().incomplete.append("any server: none was scored")
    results = [*scores, *([None] if failed else [])]
    if fail_under is None:
        end(results, answered, may_be_partial=True)
    else:
        tier = Tier(fail_under)
        end(results, partial(reaches, tier=tier), missed=lambda score: missed_words(score, tier))


_LABELS = views(label_blocks)
_SKILL = views(skill_blocks)
_NAME_MODEL = (
    f"{OPEN}: name a model with --judge, or answer what tdqs-mcp prompts LOCATOR "
    "--rubric bundles [--skill FILE] prints and give --answers"
)
_OF_ONE = ("html", "badge")
_NO_TOOLS = "no tools were discovered, so there is nothing to label"
_RANKING = views(ranking_blocks)["text"]
installed_options = group_options(
    "installed",
    Installed,
    click.option("--installed", "is_asked", is_flag=True, help="Score the servers of all installed clients together."),
    click.option("--task", metavar="TEXT", help="With --installed: name the servers that this task does not need."),
)
_LEDGER = {"text": ledger_line, "json": ledger_document, "markdown": ledger_line}


@command()
@locators_argument(required=False)
@installed_options
@click.option("--tool", metavar="NAME", help="Only this tool: why it has its scores, and the two best fixes.")
@click.option("--fail-under", type=click.Choice(list("ABCD"), case_sensitive=False), help="Exit 1 below this tier.")
@click.option("--answers", type=TARGET, help="Finish a judgment from these answers.")
@click.option(
    "--accept",
    multiple=True,
    metavar="PART",
    help="Believe a score that was held as suspicious, of tool:NAME, coherence or skill: read the definition first.",
)
@click.option("--accept-all", is_flag=True, help="Believe all held scores.")
@click.option("--dry-run", is_flag=True, help="Send nothing; say what a judge would be asked and what that takes.")
@rubric_option
@click.option("--skill", type=FILE, help="With --rubric bundles: the server's skill text, to be scored too.")
@bad_option
@judge_options
@spec_option
@live_options
@page_options("html", "badge", help="What to print; html: a page for a browser, badge: an SVG for a README.")
def score(
    locators: tuple[str, ...],
    *,
    installed: Installed,
    tool: str | None,
    fail_under: str | None,
    answers: Path | None,
    accept: tuple[str, ...],
    accept_all: bool,
    dry_run: bool,
    rubric: str,
    skill: Path | None,
    fail_on_bad: bool,
    choice: JudgeChoice,
    spec: str,
    live: LiveOptions,
    page: Page,
) -> None:
    """Score every tool and the server by TDQS, or by another rubric."""
    installed.check(locators)
    if answers and len(locators) > 1:
        raise click.UsageError("--answers belongs to one locator; give one")
    _refuse_mixture(rubric, fail_under=fail_under, fail_on_bad=fail_on_bad, skill=skill, tool=tool)
    _refuse_form(page.form, has_one=len(locators) == 1 and not dry_run, is_whole=not tool and rubric == TOOL_RUBRICS[0])
    if installed.is_asked:
        if tool or answers or skill or dry_run or rubric != TOOL_RUBRICS[0]:
            raise click.UsageError(
                "--installed gives one report by TDQS: leave --tool, --answers, --rubric and so on out"
            )
        judge = judge_of(choice, accept=accept, accept_all=accept_all)
        installed.score(live, page, fail_under, judge=judge, spec=spec, policy=policy_of(RuleChoice()))
        return
    answered_cases = read_answers(answers, choice) if answers else None
    skill_text = read_text(skill) if skill else None
    if dry_run:
        _dry_run(locators, live, choice, rubric=rubric, spec=spec, skill=skill_text, page=page)
        return
    judge = None if answers else judge_of(choice, accept=accept, accept_all=accept_all)
    common: dict[str, Any] = {"spec": spec, "policy": policy_of(RuleChoice())}
    if answers:
        accepted = read_accepted(os.environ, accept, accept_all=accept_all)
        common |= {"answers": answered_cases, "accepted": accepted}
    else:
        common |= {"judge": judge}
    if rubric == TOOL_RUBRICS[0]:
        use = partial(judging.score_answers if answers else judging.score_blocking, **common)
        _score_tiers(locators, live, page, use, judge=judge, spec=spec, tool=tool, fail_under=fail_under)
    else:
        score_labels: Any = judging.score_label_answers if answers else blocking(judging.score_labels)
        label = partial(score_labels, rubric=rubric, skill=skill_text, **common)
        lost = partial(judging.score_undiscovered, rubric=rubric, judge=judge.stamp if judge else None, spec=spec)
        labels = for_each(locators, live, label, undiscovered=lost if page.form == "json" else None)
        tell_usage(judge)
        page.show(labels, _LABELS)
        needs_model = rubric == "bundles" and not (judge or answers)
        _end_labels(labels, fail_on_bad=fail_on_bad, needs_model=needs_model)


def _score_tiers(
    locators: Sequence[str],
    live: LiveOptions,
    page: Page,
    use: Callable[[Catalog], ServerScore],
    *,
    judge: Judge | None,
    spec: str,
    tool: str | None,
    fail_under: str | None,
) -> None:
    """Score servers by the tdqs rubric, and end with 1 below the tier of `fail_under`."""

    def score_catalog(catalog: Catalog) -> tuple[Catalog | None, ServerScore]:
        catalog = catalog if tool is None else judging.with_tool(catalog, tool)
        return catalog, use(catalog)

    def lost(server: str, error: CaptureError) -> tuple[Catalog | None, ServerScore]:
        stamp = judge.stamp if judge else None
        score: Any = judging.score_undiscovered(server, error, rubric=TOOL_RUBRICS[0], judge=stamp, spec=spec)
        return None, score

    results = for_each(locators, live, score_catalog, undiscovered=lost if page.form == "json" else None)
    tell_usage(judge)
    scores = [result and result[1] for result in results]
    if store := os.environ.get("TDQS_STORE", "").strip():
        scores = [score and _among_stored(score, store) for score in scores]
    locator = _copyable_locator(locators)
    score_views = _score_views(locator, tool)
    if page.form == "html" and results[0] and results[0][0]:  # a page shows one server
        score_views |= {"html": _page_view(results[0][0], locator, tool)}
    page.show(scores, score_views, ending=None if tool else _RANKING)
    _tell_badge(page, scores)
    if fail_under is None:
        end(scores, answered, needs_tools=True)
    else:
        tier = Tier(fail_under)
        end(scores, partial(reaches, tier=tier), missed=lambda score: missed_words(score, tier), needs_tools=True)


def _refuse_form(form: str, *, has_one: bool, is_whole: bool) -> None:
    """Refuses forms that show one server for several, and a badge for less than the server."""
    if form in _OF_ONE and not has_one:
        raise click.UsageError(f"--format {form} shows the score of one server; give one locator")
    if form == "badge" and not is_whole:
        raise click.UsageError("--format badge shows a server's score by TDQS; leave --tool and --rubric out")


def _tell_badge(page: Page, scores: Sequence[ServerScore | None]) -> None:
    """The line that shows a badge's file in a README, on standard error."""
    if page.form == "badge" and page.output and scores[0] and scores[0].tool_count:
        line = badge_line(scores[0], page.output)
        click.echo(f"{page.output} is written. In a README: {line}", err=True)


def _end_labels(results: Sequence[LabelScore | SkillScore | None], *, fail_on_bad: bool, needs_model: bool) -> None:
    """Ends as `end`, and says what leaves the verdict open: no tools, no model, or a model that failed."""
    has_no_tools = any(result and result.discovery_status for result in results)
    left_open = _NO_TOOLS if has_no_tools else _NAME_MODEL if needs_model else OPEN
    gate: Callable[[Any], Outcome] = is_good if fail_on_bad else labeled
    end(results, gate, left_open=left_open)


def _among_stored(score: ServerScore, store: str) -> ServerScore:
    """The score with its place in the store, which a score does without where the store cannot be used."""
    from tdqs_mcp.app.stored_scores import with_store_percentiles  # noqa: PLC0415  # databases are slow to import

    try:
        return with_store_percentiles(score, store)
    except InputError as error:
        warn(str(error))
        return score


def _copyable_locator(locators: Sequence[str]) -> str:
    """Return the locator for commands to be copied, or a placeholder for several, standard input or a secret."""
    locator = shown_locator(locators[0]) if len(locators) == 1 else "-"
    return "LOCATOR" if locator == "-" or HIDDEN in locator else shlex.quote(locator)


def _page_view(catalog: Catalog, locator: str, tool: str | None) -> View:
    """Return the view of a score as a page, with the rewrites of its tools."""
    from tdqs_mcp.app import improving  # noqa: PLC0415  # the other forms rewrite nothing
    from tdqs_mcp.report.html_pages import score_page  # noqa: PLC0415  # nor do they need templates

    measured = measure(catalog)
    names = [tool] if tool in {subject.tool.name for subject in measured.subjects} else None
    with waiting().on("rewriting"):
        rewrites = blocking(improving.rewrite)(measured, tools=names)
    return lambda score: score_page(score, measured, rewrites, locator=locator, tool=tool)


def _score_views(locator: str, tool: str | None) -> dict[str, View]:
    """Return the views of a score, or of the tools of one name in it."""
    if tool is None:
        return views(partial(score_blocks, locator=locator)) | {"badge": badge_svg}

    def only(score: ServerScore) -> dict[str, Any]:
        everything = document(score)
        tools = [scored for scored in everything["tools"] if scored["name"] == tool]
        subject = {"kind": "tool", "name": tool}
        findings = [finding for finding in everything["findings"] if finding["subject"] == subject]
        return everything | {"tools": tools, "findings": findings}

    return views(partial(tool_blocks, tool=tool, locator=locator)) | {"json": only}


@command()
@click.argument("file", type=FILE, metavar="[SKILL.md]", required=False)
@click.option("--server", "locator", required=True, metavar="LOCATOR", help="The server that the skill is about.")
@click.option("--answers", type=FILE, help='Finish a judgment from {"skill": answer}.')
@bad_option
@judge_options
@live_options
@page_options()
def skill(
    file: Path | None,
    *,
    locator: str,
    answers: Path | None,
    fail_on_bad: bool,
    choice: JudgeChoice,
    live: LiveOptions,
    page: Page,
) -> None:
    """Score the skill text of a server beside its tools, by MCPBundles' rubric.

    Without a file, the server's own instructions are its skill.
    """
    text = read_text(file) if file else None
    use: Callable[[Catalog], SkillScore]
    if answers:
        use, chosen = partial(judging.score_skill_answer, text=text, answers=read_answers(answers, choice)), None
    else:
        chosen = judge_of(choice)
        use = partial(blocking(judging.score_skill), text=text, judge=chosen)
    lost = partial(judging.score_undiscovered, rubric="skill", judge=chosen.stamp if chosen else None)
    undiscovered: Any = lost if page.form == "json" else None
    results = for_each((locator,), live, use, undiscovered=undiscovered)
    tell_usage(chosen)
    page.show(results, _SKILL)
    _end_labels(results, fail_on_bad=fail_on_bad, needs_model=not (chosen or answers))


def _dry_run(
    locators: Sequence[str],
    live: LiveOptions,
    choice: JudgeChoice,
    *,
    rubric: str,
    spec: str,
    skill: str | None,
    page: Page,
) -> None:
    """Print the requests that scoring would send, over all locators."""
    judge, ledger = preview_of(choice)
    use: Callable[[Catalog], Any] = (
        partial(judging.score_blocking, judge=judge, spec=spec)
        if rubric == TOOL_RUBRICS[0]
        else partial(blocking(judging.score_labels), rubric=rubric, judge=judge, skill=skill)
    )
    results = for_each(locators, live, use)
    page.show([ledger], _LEDGER)
    end(results)


def _refuse_mixture(
    rubric: str, *, fail_under: str | None, fail_on_bad: bool, skill: Path | None, tool: str | None
) -> None:
    """Refuses options that mean nothing to the chosen rubric or to one tool."""
    if tool is not None and (rubric != TOOL_RUBRICS[0] or fail_under):
        raise click.UsageError("--tool shows one tool under the tdqs rubric; leave --rubric and --fail-under out")
    if rubric == TOOL_RUBRICS[0] and fail_on_bad:
        raise click.UsageError("the tdqs rubric has tiers, no labels; use --fail-under")
    if rubric != TOOL_RUBRICS[0] and fail_under:
        raise click.UsageError(f"the {rubric} rubric has labels, no tiers; use --fail-on-bad")
    if rubric != "bundles" and skill:
        raise click.UsageError("--skill belongs to --rubric bundles; or use tdqs-mcp skill")


def _gate_junit(report: GateReport) -> str:
    from tdqs_mcp.report.lint_formats import gate_junit  # noqa: PLC0415  # the other forms go without XML

    return gate_junit(report)


_GRADE = views(grade_blocks)
_GATE = views(gate_blocks) | {"junit": _gate_junit}
_CALIBRATION = views(calibration_blocks)


@command()
@locator_argument
@click.option("--fail-under", type=click.Choice(list(Letter), case_sensitive=False), help="Exit 1 below this letter.")
@live_options
@page_options()
def grade(locator: str, *, fail_under: str | None, live: LiveOptions, page: Page) -> None:
    """Grade a server as MCP Playground does: a score of 100 and a letter."""
    grades = for_each((locator,), live, judging.grade)
    page.show(grades, _GRADE)
    bar = Letter(fail_under or Letter.F)

    def missed(grade: ServerGrade) -> str:
        return f"{grade.server}: {grade.score} {grade.letter}, below {bar}"

    end(grades, partial(earns, letter=bar), missed=missed)


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
    from tdqs_mcp.app.installed_servers import run_suite  # noqa: PLC0415  # YAML and validation, which scoring goes without

    rows = blocking(run_suite)(suite, LiveOptions(timeout=timeout))
    page.show([GateReport(suite=str(suite), rows=tuple(rows))], _GATE)
    sys.exit(decide(rows))


@command()
@locators_argument(required=False)
@judge_options
@live_options
@page_options()
def calibrate(locators: tuple[str, ...], *, choice: JudgeChoice, live: LiveOptions, page: Page) -> None:
    """Show how wrong a judge is: against the published examples and the labeled tools.

    Without a LOCATOR, the offline judge shows its error on servers that it was not fitted to. With some, any judge is
    compared with the labels of those of their tools that have one. Exit code 1 if it is out of tolerance, 2 if it did
    not judge everything that could show it.
    """
    chosen = judge_of(choice)
    catalogs = for_each(locators, live, lambda catalog: catalog)
    complete = [catalog for catalog in catalogs if catalog is not None]
    with waiting().on("calibrating"):
        report = blocking(judging.calibrate)(complete, judge=chosen)
    tell_usage(chosen)
    page.show([report], _CALIBRATION)
    end([report if len(complete) == len(catalogs) else None], calibrated)


_PROMPTS: Mapping[str, View] = {"text": prompts_text, "json": dict, "markdown": prompts_text}


@command()
@click.argument("name", metavar="ID")
@page_options()
def explain(name: str, *, page: Page) -> None:
    """Explain a rule, a lane of rules, a rubric, a dimension, a flag or a tier."""
    text = judging.explain(name)
    views: dict[str, View] = {"text": _markdown_view, "json": lambda text: {"id": name, "page": text}, "markdown": str}
    page.show([text], views)


@command()
@locator_argument
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
    end(documents, needs_tools=True)


@command()
@locator_argument
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
    end(catalogs, may_be_partial=True)


def _markdown_view(page: str) -> Any:  # noqa: ANN401  # rich is imported where it is used
    from rich.markdown import Markdown  # noqa: PLC0415

    return Markdown(page) if sys.stdout.isatty() else page
