"""`rewrite`, `compare` and `select`: better definitions, and what a change achieves or has achieved."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app import improving, linting, proving, selecting
from tdqs_mcp.app.catalogs import blocking, capture_document, match_tools
from tdqs_mcp.app.settings import WRITERS
from tdqs_mcp.cli import LOCATOR, command, given_options, group_options, runner
from tdqs_mcp.cli.judge_options import (
    JudgeChoice,
    judge_of,
    judge_options,
    ledger_of,
    model_of,
    model_options,
    spec_option,
    tell_usage,
    writer_of,
)
from tdqs_mcp.errors import InputError, UnansweredError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.facts.toolset.search import ListDetail
from tdqs_mcp.gate.policy import answered, arrives, finds, rewritten
from tdqs_mcp.judges.budget import Budget
from tdqs_mcp.judges.judge import Model
from tdqs_mcp.model import NOTHING, Catalog
from tdqs_mcp.report.blocks import count_words
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.improvement_reports import compare_blocks, left_words, rewrite_blocks
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.study_reports import selection_blocks
from tdqs_mcp.results.comparisons import Comparison
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.improvements import (
    GROWTH,
    HINT_ASPECTS,
    QUESTIONS_AT_ONCE,
    LeftOut,
    Question,
    QuestionTopic,
    Rewrite,
    RewriteReport,
    most_useful,
)
from tdqs_mcp.rewriting.text_patches import write_json
from tdqs_mcp.rewriting.tool_selection import AnswerSelector, ModelSelector, PromptBatch, Selector
from tdqs_mcp.sources.files import read_file, read_text, write_bytes
from tdqs_mcp.sources.input_files import (
    add_answers,
    parse_material,
    parse_text,
    read_material,
    read_plan_answers,
    read_queries,
    read_runs,
)
from tdqs_mcp.sources.locator import File, LiveOptions, parse_locator

SUFFIXES = (".patch", ".diff")
"""Names of a `--write` file that ask for a patch."""

MATERIAL_FILE = Path("material.yml")
"""Where the answers go if no file is named."""

_BARE = re.compile(r"\s*(?:y|n|yes|no|true|false)\s*[.!]?\s*", re.IGNORECASE)
_YES_NO = re.compile(r"\s*(?:y|n|yes|no|true|false)\b", re.IGNORECASE)
_SHORT = {"y": "yes", "n": "no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Requests that rewrites have to prove themselves by."""

    requests: Path | None
    is_shorter: bool
    prompts: Path | None
    answers: Path | None

    def __post_init__(self) -> None:
        needs_requests = self.is_shorter or self.prompts or self.answers
        reason = "--shorten needs the requests, --proven-by REQUESTS; so do --prompts and --answers"
        runner.refuse(needs_requests and not self.requests, reason)


_EXPERIMENT = (
    click.option(
        "--proven-by",
        "requests",
        type=runner.FILE,
        metavar="REQUESTS",
        help="Keep, and search, what finds the tools of these requests; half of them lead, half decide at the end.",
    ),
    click.option(
        "--shorten",
        "is_shorter",
        is_flag=True,
        help="Take out sentences that no request of --proven-by needs, rewrite nothing; needs --judge or --prompts.",
    ),
    click.option(
        "--prompts",
        type=runner.TARGET,
        metavar="FILE",
        help="Ask an agent elsewhere: write what it has not answered yet, and end.",
    ),
    click.option("--answers", type=runner.FILE, metavar="FILE", help="Its plans so far: JSON Lines of {id, calls}."),
)


@command()
@runner.locator_argument
@runner.tools_option("Only these tools.")
@click.option(
    "--target", metavar="TIER|SCORE", help="A tier A-D, or an overall score such as 3.5, to reach; see above."
)
@click.option(
    "--write",
    "destination",
    type=runner.TARGET,
    help="Save the whole improved catalog, in the form of LOCATOR's file; as FILE.patch, a patch of it or of --source.",
)
@runner.source_option("statements about what it does, and for --write FILE.patch")
@click.option(
    "--material", type=runner.TARGET, metavar="FILE", help="What the author knows, in JSON or YAML; see above."
)
@click.option(
    "--interview",
    "is_interview",
    is_flag=True,
    help=f"Ask the open questions on the terminal, and add the answers to the material.  [default: {MATERIAL_FILE}]",
)
@click.option(
    "--writer",
    metavar="WRITER",
    help=f"Who words it: {WRITERS}; keys and addresses as for --judge.  [default: offline]",
)
@click.option(
    "--draft",
    type=runner.FILE,
    help="Check, score and compare definitions that somebody has written: tools as in LOCATOR, or a .md or .txt file "
    "with the description of --tool.",
)
@group_options("experiment", Experiment, *_EXPERIMENT)
@click.option(
    "--growth",
    type=click.IntRange(min=0),
    metavar="TOKENS",
    default=GROWTH,
    show_default=True,
    help="At most so many tokens more a tool.",
)
@click.option("--verbose", "is_verbose", is_flag=True, help="Show whole new texts and what they rest on.")
@judge_options
@spec_option
@runner.placed_options
@runner.page_options("html")
def rewrite(
    locator: str,
    *,
    tools: tuple[str, ...] | None,
    target: str | None,
    destination: Path | None,
    source: Path | None,
    material: Path | None,
    is_interview: bool,
    writer: str | None,
    draft: Path | None,
    experiment: Experiment,
    growth: int,
    is_verbose: bool,
    choice: JudgeChoice,
    spec: str,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Propose better definitions from what is known, each with its source, checked, and ask for the rest.

    --target keeps the rewrites that a tier or an overall score needs, and the questions whose answers it needs; exit
    code 1 where the rewrites do not reach it. With --proven-by, --judge names the agent that chooses tools instead.

    A file of --material has the keys answers ({question id: text}), annotations ({tool: {hint: true or false}}),
    parameters ({tool: {parameter: text}}), facts (a list of statements, or of {tool, fact}), traces (a list of {tool,
    arguments, result or error}) and docs (a text), each of them optional. Exit code 2 where the judge that was
    named judged no tool to the end, or the writer worded none.
    """
    runner.refuse(
        is_interview and not _is_terminal(),
        "--interview asks on a terminal, and this is none; without it the questions are listed with their ids, and "
        "--material FILE takes the answers: {answers: {ID: text}}",
    )
    writes = writer or draft or material or is_interview
    runner.refuse(experiment.is_shorter and writes, "--shorten only takes out: leave writers, drafts and material out")
    runner.refuse(
        experiment.requests and target, "--proven-by and --target keep different rewrites; leave one of them out"
    )
    code = runner.read_code_of((locator,), source, live.cwd)
    source = source or linting.source_of(locator, live.cwd)
    place = _patched_place(locator, destination, source)
    ledger = ledger_of(choice)
    author = writer_of(writer, choice, ledger)
    judging = choice if author is None else choice.beside_writer
    chosen = None if experiment.requests else judge_of(judging, ledger)
    rewrite_tools = partial(
        blocking(improving.rewrite),
        growth=growth,
        drafts=_read_drafts(draft, tools or ()) if draft else {},
        code=code,
        judge=chosen,
        spec=spec,
    )

    def improve(catalog: Catalog, **options: Any) -> list[Rewrite]:  # noqa: ANN401  # rewrite's own
        names = match_tools([tool.name for tool in catalog.tools], tools) if tools else None
        return [] if experiment.is_shorter else rewrite_tools(catalog, tools=names, **options)

    # Models share the ledger, which has the budget.
    unlimited = replace(judging, budget=Budget())
    agent = model_of(unlimited, by="selector", ledger=ledger) if experiment.requests else None
    search = partial(proving.prove_rewrites, budget=choice.budget, writer=author, code=code)
    finish = partial(_prove, experiment=experiment, selector=_selector_of(experiment, agent), search=search)
    if target is not None:
        finish = partial(blocking(improving.reach_target), target=target, judge=chosen)

    def report(catalog: Catalog, **options: Any) -> tuple[Catalog, RewriteReport]:  # noqa: ANN401  # rewrite's own
        return catalog, finish(catalog, improve(catalog, **options), spec=spec)

    path = material or MATERIAL_FILE
    statements = read_material(path) if (path.exists() if is_interview else material) else NOTHING
    drafts = runner.for_each((locator,), live, partial(report, material=statements)) if is_interview else []
    for draft_catalog, first in filter(None, drafts):
        _interview(first.questions, path, replace(measure(draft_catalog), code=code))
        statements = read_material(path) if path.exists() else statements
    results: list[tuple[Catalog, RewriteReport] | None] = [None]
    if None not in drafts:  # else the server could not be read
        work = partial(report, material=statements, writer=author)
        results = runner.for_each((locator,), live, work, doing="rewriting" if author else "judging")
    tell_usage()
    reports = [result and result[1] for result in results]
    answers = ["--material", shlex.quote(str(MATERIAL_FILE))] if is_interview and material is None else []
    page.show(
        reports,
        runner.views(
            partial(
                rewrite_blocks,
                locator=" ".join([runner.copyable_locator(locator), *given_options(), *answers]),
                is_saved=destination is not None,
                is_verbose=is_verbose,
                is_terminal=_is_terminal(),
            )
        ),
    )
    for catalog, finished in (result for result in results if result is not None):
        if place and destination:
            _write_patch(place, finished.rewrites, destination, is_code=source is not None)
        elif destination:
            _write_catalog(catalog, finished.rewrites, destination)
    runner.end(reports, arrives if target else rewritten, needs_tools=True)


def _is_terminal() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _interview(questions: Sequence[Question], path: Path, measured: Measured) -> None:
    """Asks each question, again where the answer cannot be used; what can is in the file as soon as it is given."""
    candidates = most_useful([question for question in questions if question.about is not QuestionTopic.CONFLICT])
    open_questions = candidates[:QUESTIONS_AT_ONCE]
    if not open_questions:
        click.echo("There is nothing to ask.", err=True)
        return
    count = count_words(len(open_questions), "question")
    click.echo(
        printable(f"{left_words(candidates)}. Now {count}: Enter skips one, quit ends; the answers go into {path}."),
        err=True,
    )
    answer_count = 0
    try:
        for number, question in enumerate(open_questions, start=1):
            click.secho(printable(f"{number} of {len(open_questions)}   {question.id}"), err=True, dim=True)
            click.echo(printable(question.text), err=True)
            while (answer := _ask_question(question)) not in ("", "quit"):
                old = read_text(path) if path.exists() else ""
                text = add_answers(old, {question.id: answer}, origin=repr(str(path)))
                material = parse_material(parse_text(text, origin=repr(str(path))))
                objection = improving.find_objections(measured, material).get(f"answer {question.id}")
                if objection is None:
                    write_bytes(path, text.encode())
                    answer_count += 1
                    break
                click.echo(printable(f"Not used: {objection}."), err=True)
            if answer == "quit":
                break
    finally:  # also when it is interrupted
        click.echo(
            printable(f"{answer_count} of {count} answered, in {path}; later runs read it with --material {path}."),
            err=True,
        )


def _ask_question(question: Question) -> str:
    """An answer that can be used, nothing, or `quit`."""
    is_hint = question.about in HINT_ASPECTS
    while True:
        text = str(click.prompt("", default="", show_default=False, prompt_suffix="> ", err=True)).strip()
        if text in ("", "q", "quit"):
            return "quit" if text else ""
        if is_hint and not _YES_NO.match(text):
            click.echo("Answer yes or no, and what there is to add; Enter skips.", err=True)
        elif not is_hint and _BARE.fullmatch(text):
            click.echo("Answer in a sentence; Enter skips.", err=True)
        else:
            return _SHORT.get(text.lower(), text)


def _report(catalog: Catalog, rewrites: Sequence[Rewrite], *, spec: str) -> RewriteReport:
    return RewriteReport(**catalog.origin, rewrites=tuple(rewrites), spec_version=spec)


def _selector_of(experiment: Experiment, model: Model | None) -> Selector | None:
    """Return who chooses the tools: the named model, an agent elsewhere, or None for BM25."""
    if not (experiment.prompts or experiment.answers):
        return ModelSelector(model=model) if model else None
    runner.refuse(model, "--judge and --prompts or --answers name two agents; leave one of them out")
    return AnswerSelector(answers=read_plan_answers(experiment.answers) if experiment.answers else {})


def _prove(
    catalog: Catalog,
    rewrites: Sequence[Rewrite],
    *,
    experiment: Experiment,
    selector: Selector | None,
    search: Callable[..., Any],
    spec: str,
) -> RewriteReport:
    """Report the rewrites, by an experiment those that prove themselves; end with prompts where answers are missing."""
    if experiment.requests is None:
        return _report(catalog, rewrites, spec=spec)
    queries = read_queries(experiment.requests)
    prove = proving.shorten if experiment.is_shorter else partial(search, rewrites=rewrites)
    try:
        proven, proof = blocking(prove)(catalog, queries=queries, selector=selector)
    except UnansweredError as error:
        if not experiment.prompts:
            raise
        runner.write(_prompt_lines(error.batches), experiment.prompts)
        count = count_words(sum(len(batch.queries) for batch in error.batches), "request")
        click.echo(
            f"{count} in {printable(str(experiment.prompts))}. Next: add the plans to --answers, and run again",
            err=True,
        )
        click.get_current_context().exit()
    return replace(_report(catalog, proven, spec=spec), proof=proof)


def _read_drafts(path: Path, tools: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The definitions in a file by tool; the description of the only named tool in a file of text."""
    if path.suffix not in (".md", ".txt"):
        return {tool.name: tool.raw for tool in read_file(path).tools}
    if len(tools) != 1:
        raise click.UsageError("a text as --draft needs --tool, the one tool that it describes")
    return {tools[0]: {"description": read_text(path).strip()}}


def _patched_place(locator: str, target: Path | None, source: Path | None) -> Path | None:
    """The file or folder that is to be patched; None where no patch is asked for."""
    is_patch = target is not None and target.suffix in SUFFIXES
    if source is not None or not is_patch:
        return source if is_patch else None
    parsed = parse_locator(locator)
    if not isinstance(parsed, File) or parsed.path == "-":
        raise click.UsageError("a patch is one of a JSON file or code as LOCATOR, or of the code that --source names")
    return Path(parsed.path)


def _write_patch(place: Path, rewrites: Sequence[Rewrite], target: Path, *, is_code: bool) -> None:
    """The patch to a file; what it leaves to the author, and how to apply it, to standard error."""
    patch, root = (improving.patch_sources if is_code else improving.patch_file)(place, rewrites)
    if patch.count or target.exists():  # an earlier patch does not hold any more
        write_bytes(target, patch.diff)
    for problem in patch.problems:
        runner.warn(problem)
    runner.tell_left(patch.left_out)
    where = "" if root == Path.cwd().resolve() else f" in {root}"
    then = f". Next: git apply {shlex.quote(str(target.resolve()))}{where}" if patch.count else ""
    result = f"{count_words(patch.count, 'change')} in {target}{then}"
    if not patch.count:
        result = f"no change, so {target} is empty" if target.exists() else f"no change, so no {target}"
    click.echo(printable(result), err=True)


def _write_catalog(catalog: Catalog, rewrites: Sequence[Rewrite], target: Path) -> None:
    """Write the whole catalog with the rewrites: a file in its own form, any other as a capture."""
    if not catalog.tools:
        return  # the command ends with an error that says so
    if catalog.content is None:
        runner.write(json_text(capture_document(improving.with_rewrites(catalog, rewrites))), target)
        left_out: tuple[LeftOut, ...] = ()
    else:
        content, left_out = write_json(catalog.content, rewrites)
        write_bytes(target, content)
    runner.tell_left(left_out)
    click.echo(f"{len(catalog.tools)} tools in {target}. Next: tdqs-mcp score {shlex.quote(str(target))}", err=True)


@command()
@click.argument("old", metavar="OLD", type=LOCATOR)
@click.argument("new", metavar="NEW", type=LOCATOR)
@click.option("--fail-on-regression", is_flag=True, help="Exit 1 when NEW is worse, as said above.")
@runner.source_option("rules that hold both versions against their code")
@model_options
@runner.live_options
@runner.page_options("html", help="What to print: markdown for a pull request, html for a browser.")
def compare(
    old: str,
    new: str,
    *,
    fail_on_regression: bool,
    source: Path | None,
    choice: JudgeChoice,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Compare two versions of a catalog, or two definitions of one tool.

    OLD and NEW are locators. A regression is: a lower overall tier; a changed tool with a lower TDQS; a change that
    breaks callers (a tool or parameter removed or renamed, a type, value or range narrowed, a new required
    parameter, a combination such as not or oneOf that is not known to take all that it took, a result that loses a
    field); an annotation that no longer rules something out; a new finding that is an error or a warning, unless a
    worse one of the same tool is gone. Changed wording, added tools with their findings, and what was there before are
    not regressions. Exit code 2 if there is no regression in what was judged, but the judge failed on something.
    """
    chosen = judge_of(choice)
    code = runner.read_code_of((new,), source)
    catalogs: list[Catalog | None] = runner.for_each((old, new), live, lambda catalog: catalog)
    before, after = catalogs
    results: list[Comparison | None] = [None]
    if before and after:
        with runner.waiting().on(f"judging {after.server}"):
            results = [blocking(improving.compare)(before, after, code=code, judge=chosen)]
    tell_usage()
    page.show(results, runner.views(compare_blocks))
    runner.end(results, partial(_compare_outcome, fails=fail_on_regression))


def _compare_outcome(comparison: Comparison, *, fails: bool) -> Outcome:
    if fails and comparison.regressions:
        return Outcome.FAILED
    return max(answered(comparison.old), answered(comparison.new))


@command()
@runner.locators_argument()
@click.option(
    "--queries",
    "file",
    type=runner.FILE,
    help="A list of {query, tool} or {query, calls}: JSON, JSON Lines, YAML, or an earlier JSON report.",
)
@click.option(
    "--against", multiple=True, metavar="LOCATOR", help="The changed catalog; for several LOCATORs once for each."
)
@click.option(
    "--lazy",
    "listing",
    type=click.Choice([*map(str, ListDetail)]),
    help="Select from what clients list that load definitions on demand: names, also texts, also instructions.",
)
@click.option(
    "--write-requests", "written", type=runner.TARGET, metavar="FILE", help="Have --judge write requests, and end."
)
@click.option(
    "--calls", type=runner.FILE, metavar="LOG", help="Write them for the calls of each session of route's log."
)
@click.option(
    "--prompts", type=runner.TARGET, metavar="FILE", help="Write the requests for an agent elsewhere, and end."
)
@click.option("--answers", type=runner.FILE, metavar="FILE", help="Its plans: JSON Lines of {id, calls}.")
@runner.fail_under_option(
    click.IntRange(0, 100),
    "Exit 1 where fewer queries find their tool; with --against, after the change.",
    metavar="PERCENT",
)
@runner.source_option("what its code says of a confused pair")
@model_options
@runner.live_options
@runner.page_options("html")
def select(
    locators: tuple[str, ...],
    *,
    file: Path | None,
    against: tuple[str, ...],
    listing: str | None,
    written: Path | None,
    calls: Path | None,
    prompts: Path | None,
    answers: Path | None,
    fail_under: int | None,
    source: Path | None,
    choice: JudgeChoice,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Test whether the right tool is found for a query, before and after a change.

    Without --queries there is one for each tool, made from its definition without the words of its name. The selector
    is BM25, as in the tool search of real clients; --judge names a model instead, which then gets the definitions and
    plans its calls. Any other agent gets the same by --prompts and answers by --answers; both together write what is
    not answered yet.
    Several LOCATORs are searched together. With --lazy the agent sees no schemas, so arguments do not count.
    --write-requests has the model write requests of several kinds for each tool of one LOCATOR, without its words.
    """
    model, code = model_of(choice, by="selector"), runner.read_code_of(locators, source, live.cwd)
    catalogs, rivals = _read_catalogs(locators, live), _read_catalogs(against, live)
    if written:
        _write_requests(catalogs, model, written, read_runs(calls) if calls else ())
        return
    queries = read_queries(file) if file else None
    agent = AnswerSelector(answers=read_plan_answers(answers) if answers else {})
    detail = ListDetail(listing) if listing else None
    if prompts:
        if queries is None:
            raise InputError("--prompts needs the requests, --queries FILE")
        batches = selecting.selection_batches(catalogs, queries, rivals or None, selector=agent, listing=detail)
        runner.write(_prompt_lines(batches), prompts)
        return
    with runner.waiting().on("selecting"):
        result = blocking(selecting.select)(
            catalogs,
            queries=queries,
            against=rivals or None,
            selector=agent if answers else ModelSelector(model=model) if model else None,
            listing=detail,
            code=code,
        )
    for problem in result.problems:
        runner.warn(problem)
    tell_usage()
    page.show([result], runner.views(selection_blocks))
    percent = fail_under or 0
    figures = (result.against or result).figures
    missed = (
        f"{', '.join(result.servers)}: {(figures.recall or 0) / 10} % of the queries find their tool, below {percent} %"
    )
    runner.end([result], partial(finds, percent=percent), missed=lambda _: missed)


def _write_requests(
    catalogs: Sequence[Catalog], model: Model | None, target: Path, runs: Sequence[Sequence[str]]
) -> None:
    """A line for each request that a model writes."""
    if model is None or len(catalogs) != 1:
        raise InputError("--write-requests needs the model that writes, --judge, and one LOCATOR")
    with runner.waiting().on("writing requests"):
        queries, problems = blocking(selecting.write_requests)(catalogs[0], model=model, runs=runs)
    for problem in problems:
        runner.warn(problem)
    tell_usage()
    runner.write("\n".join(json.dumps(document(query), ensure_ascii=False) for query in queries), target)


def _prompt_lines(batches: Sequence[PromptBatch]) -> str:
    """A line for each batch of requests."""
    rows = [
        {
            "prompt": batch.system,
            "requests": [{"id": key, "request": text} for key, text in batch.queries],
            "answer": ANSWER_SHAPE,
        }
        for batch in batches
    ]
    return "\n".join(json.dumps(row) for row in rows)


ANSWER_SHAPE = 'a line for each request: {"id": ..., "calls": [{"tool": ..., "arguments": {...}}]}'


def _read_catalogs(locators: Sequence[str], live: LiveOptions) -> list[Catalog]:
    """Every catalog; if one cannot be read, there is nothing to compare, and the command ends."""
    catalogs = runner.for_each(locators, live, lambda catalog: catalog)
    runner.end(catalogs)
    return [catalog for catalog in catalogs if catalog is not None]
