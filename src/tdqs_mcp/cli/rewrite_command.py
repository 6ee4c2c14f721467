"""`rewrite`: better definitions, and `--write` saves them in a file or as a patch."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tdqs_mcp.app import improving
from tdqs_mcp.app.blocking import blocking
from tdqs_mcp.app.settings import WRITERS
from tdqs_mcp.cli import command
from tdqs_mcp.cli.judge_options import Asked, judge_of, judge_options, ledger_of, spec_option, tell_usage, writer_of
from tdqs_mcp.cli.output import FILE, TARGET, Page, leave, page_options, save, views, warn, write
from tdqs_mcp.cli.runner import end, for_each, live_options
from tdqs_mcp.errors import TdqsError
from tdqs_mcp.gate.policy import rewritten
from tdqs_mcp.model import NOTHING, Catalog, Material
from tdqs_mcp.report.documents import capture_document
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.results.improvements import Mode, Rewrite, RewriteReport
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rewriting.text_patches import LeftOut
from tdqs_mcp.sources.input_files import read_material
from tdqs_mcp.sources.locator import File, LiveOptions, parse_locator

SUFFIXES = (".patch", ".diff")
"""Names of a `--write` file that ask for a patch."""


@command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--tool", "tools", multiple=True, metavar="NAME", help="Only this tool; may be given again.")
@click.option(
    "--write",
    "target",
    type=TARGET,
    help="Save the whole improved catalog, in the form of LOCATOR's file; as FILE.patch, a patch of it or of --source.",
)
@click.option(
    "--source",
    type=click.Path(exists=True, path_type=Path),
    help="The Python file or folder that declares the tools, for --write FILE.patch; it is not run.",
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.COMPACT.value,
    show_default=True,
    help="compact: purpose and guidelines first; full: every component.",
)
@click.option(
    "--material", type=FILE, help="Facts, traces of real calls and docs from the author, in JSON or YAML; see below."
)
@click.option(
    "--writer",
    metavar="WRITER",
    help=f"Who words it: {WRITERS}; keys and addresses as for --judge.  [default: offline]",
)
@click.option(
    "--growth",
    type=click.IntRange(min=0),
    metavar="TOKENS",
    help=f"At most so many tokens more a tool.  [default: {Mode.COMPACT.growth}, full: {Mode.FULL.growth}]",
)
@judge_options
@spec_option
@live_options
@page_options()
def rewrite(
    locator: str,
    *,
    tools: tuple[str, ...],
    target: Path | None,
    source: Path | None,
    mode: str,
    material: Path | None,
    writer: str | None,
    growth: int | None,
    asked: Asked,
    spec: str,
    live: LiveOptions,
    page: Page,
) -> None:
    """Propose better definitions from what is known, each with its source, checked, and ask for the rest.

    A file of --material has the keys facts (a list of statements, or of {tool, fact}), traces (a list of {tool,
    arguments, result or error}) and docs (a text), each of them optional. Exit code 2 where the judge that was
    named judged no tool to the end, or the writer worded none.
    """
    place = _patched_place(locator, target, source)
    ledger = ledger_of(asked)
    author = writer_of(writer, asked, ledger)
    chosen = judge_of(asked if author is None else asked.beside_writer, ledger)
    given = _material(material)
    results = for_each(
        (locator,),
        live,
        lambda catalog: (
            catalog,
            blocking(improving.rewrite)(
                catalog,
                tools=tools or None,
                mode=Mode(mode),
                growth=growth,
                material=given,
                writer=author,
                judge=chosen,
                spec=spec,
            ),
        ),
        doing="rewriting" if author else "judging",
    )
    tell_usage(author, by="writer")
    tell_usage(chosen)
    reports = [None if result is None else _report(*result, spec=spec) for result in results]
    page.show(reports, views("improvement_reports:rewrite_blocks", is_saved=target is not None))
    for catalog, rewrites in (result for result in results if result is not None and target is not None):
        if place and target:
            _write_patch(place, rewrites, target, is_code=source is not None)
            continue
        if target:
            _write_catalog(catalog, rewrites, target)
    end(results, lambda result: rewritten(result[1]), asked=False)


def _report(catalog: Catalog, rewrites: Sequence[Rewrite], *, spec: str) -> RewriteReport:
    return RewriteReport(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        rewrites=tuple(rewrites),
        spec_version=spec,
    )


def _material(file: Path | None) -> Material:
    """What the author gives beside the definitions."""
    if file is None:
        return NOTHING
    try:
        return read_material(file)
    except TdqsError as error:
        leave(error)


def _patched_place(locator: str, target: Path | None, source: Path | None) -> Path | None:
    """The file or folder that is to be patched; None where no patch is asked for."""
    is_patch = target is not None and target.suffix in SUFFIXES
    if source is not None and not is_patch:
        raise click.UsageError("--source needs --write FILE.patch, the patch to write")
    if source is not None or not is_patch:
        return source
    try:
        parsed = parse_locator(locator)
    except TdqsError as error:
        leave(error)
    if not isinstance(parsed, File) or parsed.path == "-":
        raise click.UsageError("a patch is one of a JSON file as LOCATOR, or of the Python code that --source names")
    return Path(parsed.path)


def _write_patch(place: Path, rewrites: Sequence[Rewrite], target: Path, *, is_code: bool) -> None:
    """The patch to a file; what it leaves to the author, and how to apply it, to standard error."""
    try:
        patch, root = (improving.patch_sources if is_code else improving.patch_file)(place, rewrites)
    except TdqsError as error:
        leave(error)
    save(patch.diff, target)
    for problem in patch.problems:
        warn(problem)
    for line in _left(patch.left_out):
        click.echo(line, err=True)
    where = "" if root == Path.cwd().resolve() else f" in {root}"
    count = "1 change" if patch.made == 1 else f"{patch.made} changes"
    then = f". Next: git apply {target.resolve()}{where}" if patch.made else ""
    click.echo(printable(f"{count} in {target}{then}"), err=True)


def _write_catalog(catalog: Catalog, rewrites: Sequence[Rewrite], target: Path) -> None:
    """The whole catalog with the rewrites: what was read from a file in its own form, any other as a capture."""
    if catalog.content is None:
        improved = apply(catalog, {each.index: each.definition for each in rewrites})
        write(json_text(capture_document(improved)), target)
        left_out: tuple[LeftOut, ...] = ()
    else:
        try:
            content, left_out = improving.write_file(catalog.content, rewrites)
        except TdqsError as error:
            leave(error)
        save(content, target)
    for line in _left(left_out):
        click.echo(line, err=True)
    click.echo(f"{len(catalog.tools)} tools in {target}. Next: tdqs-mcp score {target}", err=True)


def _left(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """A line for each tool: what the patch does not change, and why."""
    by_tool: dict[str, list[str]] = {}
    for each in left_out:
        by_tool.setdefault(each.tool, []).append(f"{each.path} ({each.reason})")
    for tool, parts in by_tool.items():
        yield f"left to the author: {printable(tool)}: {printable('; '.join(parts))}"
