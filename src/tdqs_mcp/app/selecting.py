"""Experiments on how tools are chosen: `select`, and prompts for agents elsewhere."""

from collections.abc import Sequence

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.threats import find_threats, first_aimed_at_model
from tdqs_mcp.facts.toolset.search import ListDetail, defer
from tdqs_mcp.judges.judge import Failure, Model
from tdqs_mcp.model import Catalog, Tool
from tdqs_mcp.results.checks import Query, Selection
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.rewriting import model_writer, tool_selection
from tdqs_mcp.rewriting.tool_selection import AnswerSelector, Lexical, ModelSelector, PromptBatch, Selector


async def select(
    catalogs: Sequence[Catalog],
    *,
    queries: Sequence[Query] | None = None,
    against: Sequence[Catalog] | None = None,
    selector: Selector | None = None,
    listing: ListDetail | None = None,
    code: CodeReport | None = None,
) -> Selection:
    """How often the right tool is found for a query, by BM25 unless another selector is named.

    With a listing the selector gets what a client lists that loads definitions on demand. `code` shows what parts a
    confused pair beside its definitions.

    Without queries they are made from the catalogs, never from `against`: other versions of the same catalogs in their
    order, to which the same queries are put. Definitions that address the model that selects are named in the problems.
    Raises InputError.
    """
    selector, index = selector or Lexical(), tool_selection.Index.of(catalogs)
    other = None if against is None else index.like(against)
    test_queries, problems = (
        tool_selection.make_queries(index) if queries is None else tool_selection.check_queries(queries, index)
    )
    texts = [query.text for query in test_queries]
    versions = [_deferred(version, listing) for version in (catalogs, *([against] if against is not None else ()))]
    listed = [index.like(version) for version in versions]
    before, *after = [
        tool_selection.choose(test_queries, await selector.rank(version.tools, texts), version) for version in listed
    ]
    codes = {tool.name: tool for tool in code.tools} if code else {}
    warnings = [problem for catalog in (*catalogs, *(against or ())) for problem in catalog.remarks]
    if isinstance(selector, ModelSelector | AnswerSelector):
        warnings += _warnings((*index.tools, *(other.tools if other else ())))
    if isinstance(selector, AnswerSelector):
        unused = selector.count_unused([version.tools for version in listed], texts)
        strays = f"{unused} of {len(selector.answers)} answers belong to other requests or definitions"
        warnings += [strays] if unused else []
    report = tool_selection.report(
        index,
        before,
        selector=f"{selector.name} from a list of {listing}" if listing else selector.name,
        problems=tuple(dict.fromkeys(warnings)) + problems,
        codes=codes,
    )
    if other is None:
        return report
    return tool_selection.compare(report, after[0], other, label="after", codes=codes)


def _deferred(catalogs: Sequence[Catalog], listing: ListDetail | None) -> Sequence[Catalog]:
    return [defer(catalog, listing) for catalog in catalogs] if listing else catalogs


def selection_batches(
    catalogs: Sequence[Catalog],
    queries: Sequence[Query],
    against: Sequence[Catalog] | None = None,
    *,
    selector: AnswerSelector,
    listing: ListDetail | None = None,
) -> list[PromptBatch]:
    """The prompts with which an agent elsewhere is asked what it has not answered yet. Raises InputError."""
    index = tool_selection.Index.of(catalogs)
    checked, _ = tool_selection.check_queries(queries, index)
    versions = [index.like(_deferred(version, listing)) for version in (catalogs, *([against] if against else ()))]
    texts = [query.text for query in checked]
    return [batch for version in versions for batch in selector.open_batches(version.tools, texts)]


async def write_requests(
    catalog: Catalog, *, model: Model, runs: Sequence[Sequence[str]] = ()
) -> tuple[list[Query], list[str]]:
    """Requests with plans that a model writes for each tool, or for each recorded run, and what it failed on.

    A tool that addresses the model that reads it is not shown to one. Raises InputError where nothing can be asked.
    """
    problems = _warnings(catalog.tools)
    tools = [tool for tool in catalog.tools if tool.name and not first_aimed_at_model(find_threats(tool.raw))]
    names = {tool.name for tool in tools}
    usable = list(dict.fromkeys(tuple(run) for run in runs if run and names.issuperset(run)))
    if not tools or (runs and not usable):
        raise InputError(f"there is no tool of {catalog.server!r} to write requests for")
    written = await model_writer.write_requests(tools, runs=usable, model=model)
    problems += [outcome.reason for outcome in written if isinstance(outcome, Failure)]
    return [query for outcome in written if not isinstance(outcome, Failure) for query in outcome], problems


def _warnings(tools: Sequence[Tool]) -> list[str]:
    """A sentence for each tool whose definition addresses the model that selects."""
    return [
        f"{tool.name!r} addresses the model that selects ({words!r}); read it before you trust a choice"
        for tool in tools
        if (words := first_aimed_at_model(find_threats(tool.raw)))
    ]
