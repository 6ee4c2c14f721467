"""`score` by every rubric, `calibrate` and `capture`."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app import judging
from tdqs_mcp.app.catalogs import blocking, capture_document, match_tools
from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy, source_places
from tdqs_mcp.app.settings import read_accepted
from tdqs_mcp.cli import command, fail, group_options, runner
from tdqs_mcp.cli.judge_options import (
    JudgeChoice,
    accept_option,
    judge_of,
    judge_options,
    model_options,
    preview_of,
    read_answers,
    spec_option,
    tell_usage,
)
from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.gate.policy import answered, calibrated, earns, is_good, labeled, reaches, reviewed
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.model import Catalog
from tdqs_mcp.report import score_report
from tdqs_mcp.report.blocks import ledger_document, ledger_line
from tdqs_mcp.report.charts import badge_line, draw_badge
from tdqs_mcp.report.code_report import review_blocks
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.lint_report import CodePlaces
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.installed_servers import InstalledOutcome
from tdqs_mcp.results.labels import CodeReview, Label, Letter, ServerGrade
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rubrics.rubric import CODE, PLAYGROUND, SKILL, TOOL_RUBRICS
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.locator import LiveOptions

_LEDGER = {"text": ledger_line, "json": ledger_document, "markdown": ledger_line}
_NAME_MODEL = (
    f"{runner.OPEN}: name a model with --judge, or answer what tdqs-mcp score LOCATOR --prompts "
    "--rubric bundles|skill [--skill FILE] prints and give --answers"
)
_PROMPTS: Mapping[str, runner.View] = {
    "text": score_report.prompts_text,
    "json": dict,
    "markdown": score_report.prompts_text,
}
_OF_ONE = ("html", "badge")
_TDQS, _SMELLS, _BUNDLES = TOOL_RUBRICS
_LABEL_BARS = (Label.GOOD, Label.ACCEPTABLE)
_BARS: Mapping[str, Sequence[str]] = {
    _TDQS: tuple(Tier),
    PLAYGROUND: tuple(Letter),
    **dict.fromkeys((_SMELLS, _BUNDLES, SKILL), _LABEL_BARS),
}
"""Values that --fail-under takes under each rubric that gives a verdict."""
_NO_TOOLS = "no tools were discovered, so there is nothing to label"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """Options of `score` but for its judge: what is scored, by which rubric, and what fails."""

    is_example: bool
    config: Path | None
    is_installed: bool
    tools: tuple[str, ...] | None
    fail_under: str | None
    answers: Path | None
    accept: tuple[str, ...]
    is_dry_run: bool
    has_prompts: bool
    rubric: str
    skill: Path | None
    source: Path | None
    attestation: Path | None
    key: Path | None

    @property
    def is_tiered(self) -> bool:
        """Return whether the rubric is that of TDQS; the others end in labels, letters or findings."""
        return self.rubric == _TDQS

    def check(self, locators: Sequence[str], choice: JudgeChoice, form: str) -> None:
        """Raises UsageError for options that mean nothing together."""
        is_other: object
        is_whole = self.is_tiered and not self.tools
        is_about_one = len(locators) == 1 and not (self.is_dry_run or self.has_prompts)
        runner.refuse(self.is_installed and locators, "--installed scores all servers; leave the locators out")
        runner.refuse(self.is_example and locators, "--example is a catalog of its own; leave the locators out")
        runner.refuse(self.answers and len(locators) > 1, "--answers belongs to one locator; give one")
        is_other = self.attestation and not (is_whole and is_about_one)
        runner.refuse(
            is_other, "--attest is about the whole score of one server; leave the other rubrics and --tool out"
        )
        runner.refuse(self.key and not self.attestation, "--key belongs to --attest")
        runner.refuse(self.source and len(locators) != 1, "--source is the code of one server; give one locator")
        is_other = self.tools is not None and not self.has_prompts
        is_other = is_other and (self.fail_under or self.rubric not in (_TDQS, CODE))
        runner.refuse(is_other, "--tool shows one tool under the tdqs rubric; leave --rubric and --fail-under out")
        runner.refuse(
            self.fail_under and self.rubric == CODE,
            "the code rubric has findings that nothing proves; leave --fail-under out",
        )
        bars = _BARS.get(self.rubric, ())
        is_other = self.fail_under and self.fail_under not in bars
        runner.refuse(
            is_other,
            f"--fail-under {self.fail_under} is no bar of the {self.rubric} rubric; it takes {', '.join(bars)}",
        )
        is_other = self.skill and self.rubric not in (_BUNDLES, SKILL)
        runner.refuse(is_other, f"--skill belongs to --rubric {_BUNDLES} or {SKILL}")
        is_other = self.rubric == PLAYGROUND and (
            choice.is_named or self.answers or self.is_dry_run or self.has_prompts
        )
        runner.refuse(
            is_other, f"the {PLAYGROUND} rubric asks no judge; leave --judge, --answers, --dry-run and --prompts out"
        )
        is_other = self.has_prompts and (self.answers or self.is_dry_run or self.fail_under)
        runner.refuse(
            is_other, "--prompts asks no judge and gives no score; leave --answers, --dry-run and --fail-under out"
        )
        is_many = self.tools is not None and (len(self.tools) > 1 or not set("*?").isdisjoint(self.tools[0]))
        runner.refuse(
            is_many and (form == "html" or self.rubric == CODE), "give --tool one name for a page or for --rubric code"
        )
        is_other = form in _OF_ONE and not is_about_one
        runner.refuse(is_other, f"--format {form} shows the score of one server; give one locator")
        is_other = form in _OF_ONE and self.rubric in (PLAYGROUND, SKILL)
        runner.refuse(is_other, f"--format {form} is not for --rubric {self.rubric}; choose text, json or markdown")
        is_other = form == "badge" and not is_whole
        runner.refuse(is_other, "--format badge shows a server's score by TDQS; leave --tool and --rubric out")
        is_other = self.answers or self.skill or self.is_dry_run or self.has_prompts or not is_whole
        is_other = self.is_installed and is_other
        runner.refuse(is_other, "--installed gives one report by TDQS: leave --tool, --answers, --rubric and so on out")


def example_file() -> Path:
    """Return the catalog with typical defects: beside this module in the package, else in the checkout."""
    packaged = Path(__file__).with_name("example.json")
    file = packaged if packaged.is_file() else Path(__file__).parents[3] / "examples" / "defective.json"
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def _make_options(*, rubric: str | None, skill: Path | None, **options: Any) -> ScoreOptions:  # noqa: ANN401
    return ScoreOptions(rubric=rubric or (SKILL if skill else _TDQS), skill=skill, **options)


_options = group_options(
    "options",
    _make_options,
    click.option("--example", "is_example", is_flag=True, help="Score a small catalog with typical defects."),
    runner.config_option,
    click.option(
        "--installed", "is_installed", is_flag=True, help="Score the servers of all installed clients together."
    ),
    runner.tools_option("Only these tools: why they have their scores, and the two best fixes."),
    runner.fail_under_option(
        click.Choice(list(dict.fromkeys(bar for bars in _BARS.values() for bar in bars)), case_sensitive=False),
        "Exit 1 below this tier; under the playground rubric this letter, under rubrics with labels this label.",
    ),
    click.option("--answers", type=runner.TARGET, help="Finish a judgment from these answers."),
    accept_option(
        "Believe a suspicious, held score, of tool:NAME, coherence, skill or all (*): read the definition first."
    ),
    runner.dry_run_option("Send nothing; say what a judge would be asked and what that takes."),
    click.option(
        "--prompts",
        "has_prompts",
        is_flag=True,
        help="Print the exact prompts that a judge would get, as published and hardened, and ask nobody.",
    ),
    click.option(
        "--rubric",
        type=click.Choice([*_BARS, CODE]),
        help="What is scored; playground: MCP Playground's 0-100 and letter; skill: the server's instructions or "
        "--skill; code: what a model finds who holds the definitions against the --source.  "
        "[default: tdqs, with --skill skill]",
    ),
    click.option("--skill", type=runner.FILE, help="The skill text of the server, to be scored by MCPBundles' rubric."),
    runner.source_option("the rules that hold definitions against their code, and --rubric code"),
    runner.attest_option(),
    runner.key_option("sign it with this private key; without one, the statement is for a forge to sign"),
)


@command()
@runner.locators_argument(required=False)
@_options
@judge_options
@spec_option
@runner.placed_options
@runner.page_options("html", "badge", help="What to print; html: a page for a browser, badge: an SVG for a README.")
def score(
    locators: tuple[str, ...],
    *,
    options: ScoreOptions,
    choice: JudgeChoice,
    spec: str,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Score every tool and the server by TDQS, or by another rubric."""
    if options.is_example and not locators:
        locators, options = (str(example_file()),), replace(options, is_example=False)
    elif not options.is_installed:
        locators = runner.configured_locators(locators, live, options.config)
    options.check(locators, choice, page.form)
    run = _Run(
        locators=locators,
        options=options,
        choice=choice,
        spec=spec,
        live=live,
        page=page,
        skill=read_text(options.skill) if options.skill else None,
    )
    if options.is_installed:
        _score_installed(run)
    elif options.has_prompts:
        _show_prompts(run)
    elif options.rubric == PLAYGROUND:
        _grade(run)
    elif options.rubric == CODE:
        _review(run)
    elif options.is_dry_run:
        _dry_run(run)
    else:
        _score_definitions(run)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A call of `score`: what is scored, how and by whom, and where the result goes."""

    locators: Sequence[str]
    options: ScoreOptions
    choice: JudgeChoice
    spec: str
    live: LiveOptions
    page: runner.Page
    skill: str | None

    def judge(self) -> Judge | None:
        """Return the judge that is named, or that gives the answers of a file; None for the offline judge."""
        options = self.options
        if options.answers:
            answers = read_answers(options.answers, self.choice)
            return judging.answers_judge(answers, accepted=read_accepted(os.environ, options.accept))
        return judge_of(self.choice, accept=options.accept)

    def each(self, use: Callable[[Catalog], Any], **kwargs: Any) -> list[Any]:  # noqa: ANN401  # what `use` returns
        """Return the result for each locator, as `for_each`."""
        return runner.for_each(self.locators, self.live, use, **kwargs)

    def code(self) -> CodeReport | None:
        """Return the code that --source names, or that the locator is."""
        return runner.read_code_of(self.locators, self.options.source)

    def undiscovered(self, judge: Judge | None) -> Any:  # noqa: ANN401  # score_undiscovered's
        """Return what makes the result of a server whose tools cannot be read: JSON says so, text has the error."""
        if self.page.form != "json":
            return None
        stamp = judge.stamp if judge else None
        return partial(judging.score_undiscovered, judge=stamp, rubric=self.options.rubric, spec=self.spec)


def _scorer(run: _Run, judge: Judge | None, policy: Policy = DEFAULT_POLICY) -> Callable[[Catalog], Any]:
    """Return what scores a server's definitions by the rubric of TDQS or one with labels, or its skill text."""
    rubric = run.options.rubric
    if rubric == _TDQS:
        return partial(judging.score_blocking, judge=judge, spec=run.spec, policy=policy)
    if rubric == SKILL:
        return partial(blocking(judging.score_skill), text=run.skill, judge=judge)
    return partial(
        blocking(judging.score_labels), rubric=rubric, judge=judge, skill=run.skill, spec=run.spec, policy=policy
    )


def _score_definitions(run: _Run) -> None:
    """Score servers in tiers or in labels."""
    options, code, policy = run.options, None, DEFAULT_POLICY
    if options.rubric != SKILL:
        code = run.code()
        policy = replace(runner.policy_of(locators=run.locators, config=options.config), code=code)
    judge = run.judge()
    use, lost = _scorer(run, judge, policy), run.undiscovered(judge)
    if options.is_tiered:
        _score_tiers(run, use, code, lost=lost)
        return
    results = run.each(use, undiscovered=lost)
    tell_usage()
    blocks = score_report.skill_blocks if options.rubric == SKILL else score_report.label_blocks
    run.page.show(results, runner.views(blocks))
    has_no_tools, needs_model = any(result and result.discovery_status for result in results), judge is None
    left_open = _NO_TOOLS if has_no_tools else _NAME_MODEL if needs_model and options.rubric != _SMELLS else runner.OPEN
    gate: Callable[[Any], Outcome] = partial(is_good, bar=Label(options.fail_under)) if options.fail_under else labeled
    runner.end(results, gate, left_open=left_open)


def _review(run: _Run) -> None:
    """Hold definitions against their code by a model or its answers; 2 where a tool has no answer that can be used."""
    options, code = run.options, run.code()
    if code is None:
        raise click.UsageError("the code rubric needs the code: name its folder with --source")
    tool = options.tools[0] if options.tools else None
    judge, ledger = preview_of(run.choice) if options.is_dry_run else (run.judge(), None)
    use = partial(blocking(judging.review_code), code=code, judge=judge, tool=tool)

    def review(catalog: Catalog) -> CodeReview:
        match_tools([entry.name for entry in catalog.tools], options.tools or ())
        return use(catalog)

    reviews = run.each(review)
    if ledger is not None:
        run.page.show([ledger], _LEDGER)
        runner.end(reviews)
        return
    tell_usage()
    run.page.show(reviews, runner.views(review_blocks))
    runner.end(reviews, reviewed, left_open=runner.OPEN, needs_tools=True)


def _score_installed(run: _Run) -> None:
    """Score the servers of all clients; end with 2 for a server that failed, or could change the verdict unseen."""
    from tdqs_mcp.app import installed_clients  # noqa: PLC0415  # scoring files goes without
    from tdqs_mcp.report.registry_reports import installed_blocks  # noqa: PLC0415

    options, live = run.options, run.live
    judge, policy = judge_of(run.choice, accept=options.accept), runner.policy_of()
    if live.headers or live.env or live.cwd:
        raise click.UsageError("--header, --env and --cwd belong to one server; its client's configuration has its own")
    servers = installed_clients.servers().servers
    agreed = {server.id for server in servers if server.is_project and not server.is_disabled}
    question = f"Files of this folder, not yours, name these servers: {', '.join(sorted(agreed))}. Start them?"
    may_start = bool(agreed) and live.consent(question)
    with runner.waiting().on("capturing and scoring the servers of all clients", at_once=True):
        report = blocking(installed_clients.score_installed)(
            consent=lambda foreign: may_start and {entry.id for entry in foreign} <= agreed,
            options=live,
            judge=judge,
            spec=run.spec,
            policy=policy,
        )
    tell_usage()
    run.page.show([report], runner.views(installed_blocks))
    failed = [server.server.id for server in report.servers if server.standing is InstalledOutcome.FAILED]
    if failed:
        fail(InputError(f"without a score: {', '.join(failed)}"))
    runner.command_run().incomplete += [
        *(
            f"{server.server.id!r}: {server.reason or server.incomplete}"
            for server in report.servers
            if server.standing is InstalledOutcome.NOT_STARTED or server.incomplete
        ),
        *report.problems,
    ]
    scores = [server.score for server in report.servers if server.score]
    if not scores:
        runner.command_run().incomplete.append("any server: none was scored")
    _end_tiers([*scores, *([None] if failed else [])], options.fail_under, may_be_partial=options.fail_under is None)


def _score_tiers(
    run: _Run,
    use: Callable[[Catalog], ServerScore],
    code: CodeReport | None,
    *,
    lost: Callable[[str, CaptureError], ServerScore] | None,
) -> None:
    """Score servers by the tdqs rubric, and end with 1 below the tier of `fail_under`."""
    options, page = run.options, run.page
    catalogs = list[Catalog]()
    tools: list[str] = []

    def score_catalog(catalog: Catalog) -> ServerScore:
        tools.extend(match_tools([tool.name for tool in catalog.tools], options.tools or ()))
        score = use(catalog)
        catalogs.append(catalog)
        if options.attestation:
            from tdqs_mcp.app.gating import write_attestation  # noqa: PLC0415  # most scores are not signed

            write_attestation(options.attestation, catalog, score, key=options.key, code=code)
        return score

    scores = run.each(score_catalog, undiscovered=lost)
    tell_usage()
    arguments = {
        id(score): runner.copyable_locator(locator)
        for score, locator in zip(scores, run.locators, strict=True)
        if score is not None
    }
    score_views = _score_views(arguments, tools, source_places(code))
    if page.form == "html" and catalogs:
        score_views |= {
            "html": _page_view(catalogs[0], runner.copyable_locator(run.locators[0]), tools[0] if tools else None)
        }
    page.show(scores, score_views, ending=None if tools else runner.views(score_report.ranking_blocks)["text"])
    if page.form == "badge" and page.output and scores[0] and scores[0].tool_count:
        line = badge_line(scores[0], page.output)
        click.echo(f"{page.output} is written. In a README: {line}", err=True)
    _end_tiers(scores, options.fail_under, needs_tools=True)


def _end_tiers(scores: Sequence[ServerScore | None], fail_under: str | None, **ending: Any) -> None:  # noqa: ANN401  # end's
    """Ends as `end`: below the tier with 1, where one is named, else with what the judge left open."""
    if fail_under is None:
        runner.end(scores, answered, **ending)
    else:
        tier = Tier(fail_under)
        runner.end(
            scores, partial(reaches, tier=tier), missed=lambda score: score_report.missed_words(score, tier), **ending
        )


def _page_view(catalog: Catalog, locator: str, tool: str | None) -> runner.View:
    """Return the view of a score as a page, with the rewrites of its tools."""
    from tdqs_mcp.app import improving  # noqa: PLC0415  # the other forms rewrite nothing
    from tdqs_mcp.report.html_pages import score_page  # noqa: PLC0415  # nor do they need templates

    measured = measure(catalog)
    names = [tool] if tool in {subject.tool.name for subject in measured.subjects} else None
    with runner.waiting().on("rewriting"):
        rewrites = blocking(improving.rewrite)(measured, tools=names)
    return lambda score: score_page(score, measured, rewrites, locator=locator, tool=tool)


def _score_views(arguments: Mapping[int, str], tools: Sequence[str], places: CodePlaces) -> dict[str, runner.View]:
    """Return the views of a score, or of the tools of some names in it."""
    if not tools:
        return runner.views(lambda score: score_report.score_blocks(score, arguments[id(score)], places)) | {
            "badge": lambda score: draw_badge(score.server, score.rollup.overall, score.judge)
        }

    def only(score: ServerScore) -> dict[str, Any]:
        everything = document(score)
        scored = [tool for tool in everything["tools"] if tool["name"] in tools]
        subjects = [{"kind": "tool", "name": tool} for tool in tools]
        findings = [finding for finding in everything["findings"] if finding["subject"] in subjects]
        return everything | {"tools": scored, "findings": findings}

    return runner.views(lambda score: score_report.tool_blocks(score, tools, arguments[id(score)], places)) | {
        "json": only
    }


def _dry_run(run: _Run) -> None:
    """Print the requests that scoring would send, over all locators."""
    judge, ledger = preview_of(run.choice)
    results = run.each(_scorer(run, judge))
    run.page.show([ledger], _LEDGER)
    runner.end(results)


def _grade(run: _Run) -> None:
    """Grade servers as MCP Playground does: a score of 100 and a letter."""
    grades = run.each(judging.grade)
    run.page.show(grades, runner.views(score_report.grade_blocks))
    bar = Letter(run.options.fail_under or Letter.F)

    def missed(grade: ServerGrade) -> str:
        return f"{grade.server}: {grade.score} {grade.letter}, below {bar}"

    runner.end(grades, partial(earns, letter=bar), missed=missed)


def _show_prompts(run: _Run) -> None:
    """Print the prompts that a judge would get about servers."""
    options = run.options
    runner.refuse(options.source and options.rubric != CODE, "with --prompts, --source belongs to --rubric code")
    code = run.code() if options.rubric == CODE else None
    use = partial(judging.prompts, spec=run.spec, rubric=options.rubric, skill=run.skill, code=code)

    def prompts_of(catalog: Catalog) -> dict[str, Any]:
        if not options.tools:
            return use(catalog)
        names = match_tools([tool.name for tool in catalog.tools], options.tools)
        return {"tools": [entry for name in names for entry in use(catalog, tool=name)["tools"]]}

    documents = run.each(prompts_of)
    run.page.show(documents, _PROMPTS)
    runner.end(documents, needs_tools=True)


@command()
@runner.locators_argument(required=False)
@model_options
@runner.page_options()
def calibrate(locators: tuple[str, ...], *, choice: JudgeChoice, page: runner.Page) -> None:
    """Show how wrong a judge is: against the published examples and the labeled tools.

    Without a LOCATOR, the offline judge shows its error on servers that it was not fitted to. With some, any judge is
    compared with the labels of those of their tools that have one. Exit code 1 if it is out of tolerance, 2 if it did
    not judge everything that could show it.
    """
    chosen = judge_of(choice)
    catalogs = runner.for_each(locators, LiveOptions(), lambda catalog: catalog)
    complete = [catalog for catalog in catalogs if catalog is not None]
    with runner.waiting().on("calibrating"):
        report = blocking(judging.calibrate)(complete, judge=chosen)
    tell_usage()
    page.show([report], runner.views(score_report.calibration_blocks))
    runner.end([report if len(complete) == len(catalogs) else None], calibrated)


@command()
@runner.locator_argument
@runner.placed_options
@runner.output_option
def capture(locator: str, *, live: LiveOptions, output: Path | None) -> None:
    """Save the raw catalog of a server, for later."""
    catalogs = runner.for_each((locator,), live, lambda catalog: catalog)
    for catalog in catalogs:
        if catalog is not None:
            runner.write(json_text(capture_document(catalog)), output)
            if catalog.incomplete:
                runner.warn(f"the list of tools is incomplete, and the file says so: {catalog.incomplete}")
            if output:
                click.echo(f"{len(catalog.tools)} tools in {output}. Next: tdqs-mcp score {shlex.quote(str(output))}")
    runner.end(catalogs, may_be_partial=True)
