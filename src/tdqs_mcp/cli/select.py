"""`select`."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdqs_mcp import sync
from tdqs_mcp.app.judge_factory import make_model
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.cli.interruption import spends
from tdqs_mcp.cli.options import FILE, Asked, form_option, judge_options, live_options, output_option
from tdqs_mcp.cli.page import leave, reporter, show, warn
from tdqs_mcp.cli.progress import waiting
from tdqs_mcp.cli.work import end, for_each, tell_usage
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.gate import finds
from tdqs_mcp.judges.judge import Model
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.mutation import Mutation
from tdqs_mcp.sources.live import LiveOptions

if TYPE_CHECKING:
    from tdqs_mcp.results.selection import Query
    from tdqs_mcp.rewriting.selectors import Selector

_VIEWS = {
    "text": reporter("select:select_view"),
    "json": reporter("contract.select:select_document"),
    "markdown": reporter("select:select_markdown"),
}


@click.command()
@click.argument("locators", nargs=-1, required=True, metavar="LOCATOR...")
@click.option(
    "--queries", "file", type=FILE, help="A list of {query, tool}: JSON, JSON Lines, YAML, or an earlier JSON report."
)
@click.option(
    "--against", multiple=True, metavar="LOCATOR", help="The changed catalog; for several LOCATORs once for each."
)
@click.option("--mutate", type=click.Choice([*map(str, Mutation)]), help="Compare with definitions made worse.")
@click.option(
    "--embeddings",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Select by the vectors of a model2vec model instead of BM25.",
)
@click.option(
    "--top",
    "k",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Places in which a tool counts as found.",
)
@click.option(
    "--fail-under",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Exit 1 where fewer queries find their tool; with --against, after the change.",
)
@judge_options
@live_options
@form_option()
@output_option
def select(
    locators: tuple[str, ...],
    *,
    file: Path | None,
    against: tuple[str, ...],
    mutate: str | None,
    embeddings: Path | None,
    k: int,
    fail_under: int | None,
    asked: Asked,
    live: LiveOptions,
    form: str,
    output: Path | None,
) -> None:
    """Test whether the right tool is found for a query, before and after a change.

    Without --queries there is one for each tool, made from its definition without the words of its name. The selector
    is BM25, as in the tool search of real clients; --judge names a model instead, which then gets the definitions.
    Several LOCATORs are searched together.
    """
    if asked.exact_prompt:
        raise click.UsageError("no prompt for selecting is published; leave --exact-prompt out")
    try:
        settings = read_settings(os.environ, **asked.options())
        model = make_model(settings, warn=warn, on_progress=waiting().count)
        spends(model, by="selector", is_kept=settings.cache is not None)
        catalogs, others = _all(locators, live), _all(against, live)
        with waiting().on("selecting"):
            result = sync.select(
                catalogs,
                queries=_queries(file),
                against=others or None,
                mutation=Mutation(mutate) if mutate else None,
                selector=_selector(model, embeddings),
                k=k,
            )
    except TdqsError as error:
        leave(error)
    for problem in result.problems:
        warn(problem)
    tell_usage(model, by="selector")
    show([result], _VIEWS, form, output)
    end([result], partial(finds, percent=fail_under or 0))


def _all(locators: Sequence[str], live: LiveOptions) -> list[Catalog]:
    """Every catalog; one that cannot be had leaves nothing to compare."""
    catalogs = for_each(locators, live, lambda catalog: catalog)
    end(catalogs)
    return [catalog for catalog in catalogs if catalog is not None]


def _queries(file: Path | None) -> "list[Query] | None":
    if file is None:
        return None
    from tdqs_mcp.sources.input_files import read_queries  # noqa: PLC0415  # most commands read none

    return read_queries(file)


def _selector(model: Model | None, embeddings: Path | None) -> "Selector | None":
    """None for BM25. Raises InputError for two selectors, and for embeddings that cannot be read."""
    if model and embeddings:
        raise InputError("--embeddings and --judge name two selectors; leave one of them out")
    from tdqs_mcp.rewriting.selectors import Embedded, Prompted  # noqa: PLC0415  # other commands select nothing

    if embeddings:
        from tdqs_mcp.sources.input_files import read_embeddings  # noqa: PLC0415

        return Embedded(name=embeddings.resolve().name, encode=read_embeddings(embeddings))
    return Prompted(model=model) if model else None
