"""`rewrite`."""

from functools import partial
from pathlib import Path

import click

from tdqs_mcp import sync
from tdqs_mcp.app.settings import WRITERS
from tdqs_mcp.cli.options import (
    FILE,
    TARGET,
    Asked,
    form_option,
    judge_options,
    live_options,
    output_option,
    spec_option,
)
from tdqs_mcp.cli.page import View, reporter, show
from tdqs_mcp.cli.patch import patched_place, write_catalog, write_patch
from tdqs_mcp.cli.work import end, for_each, judge_of, ledger_of, material_of, tell_usage, writer_of
from tdqs_mcp.gate import rewritten
from tdqs_mcp.results.rewrites import Mode
from tdqs_mcp.sources.live import LiveOptions


@click.command()
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
@form_option()
@output_option
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
    form: str,
    output: Path | None,
) -> None:
    """Propose better definitions from what is known, each with its proof, and ask for the rest.

    A file of --material has the keys facts (a list of statements, or of {tool, fact}), traces (a list of {tool,
    arguments, result or error}) and docs (a text), each of them optional. Exit code 2 where the judge that was
    named judged no tool to the end, or the writer worded none.
    """
    place = patched_place(locator, target, source)
    ledger = ledger_of(asked)
    author = writer_of(writer, asked, ledger)
    chosen = judge_of(asked if author is None else asked.beside_writer, ledger)
    given = material_of(material)
    results = for_each(
        (locator,),
        live,
        lambda catalog: (
            catalog,
            sync.rewrite(
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
    show(results, _views(spec, is_saved=target is not None), form, output)
    for catalog, rewrites in (result for result in results if result is not None and target is not None):
        if place and target:
            write_patch(place, rewrites, target, is_code=source is not None)
            continue
        if target:
            write_catalog(catalog, rewrites, target)
    end(results, lambda result: rewritten(result[1]))


def _views(spec: str, *, is_saved: bool) -> dict[str, View]:
    """A result is a catalog with its rewrites."""
    document = partial(reporter("contract.rewrite:rewrite_document"), spec=spec)
    return {
        "text": lambda result: reporter("rewrite:rewrite_view")(*result, is_saved=is_saved),
        "json": lambda result: document(*result),
        "markdown": lambda result: reporter("rewrite:rewrite_markdown")(*result, is_saved=is_saved),
    }
