"""Experiments on how tools are chosen: `select`, prompts for agents elsewhere, and changes that have to be proven."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from tdqs_mcp.app.improving import rewrite, with_rewrites
from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError, UnansweredError
from tdqs_mcp.facts.schema.signals import estimate_tokens
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.threats import find_threats, first_aimed_at_model
from tdqs_mcp.facts.toolset.search import ListDetail, defer, search_terms
from tdqs_mcp.judges.judge import Failure, Model, Usage, used
from tdqs_mcp.model import Catalog, Tool
from tdqs_mcp.results.checks import Mutation, Proof, ProofTrial, Query, QueryChoice, Selection
from tdqs_mcp.results.improvements import Rewrite
from tdqs_mcp.rewriting import catalog_diff, model_writer, tool_selection
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rewriting.targets import undone
from tdqs_mcp.rewriting.tool_selection import AnswerSelector, Lexical, ModelSelector, PromptBatch, Selector

K = 5
"""Places in which a tool counts as found."""


async def select(
    catalogs: Sequence[Catalog],
    *,
    queries: Sequence[Query] | None = None,
    against: Sequence[Catalog] | None = None,
    mutation: Mutation | None = None,
    selector: Selector | None = None,
    listing: ListDetail | None = None,
    k: int = K,
) -> Selection:
    """How often the right tool is found for a query, by BM25 unless another selector is named.

    With a listing the selector gets what a client lists that loads definitions on demand.

    Without queries they are made from the catalogs, never from `against`: other versions of the same catalogs in their
    order, or what a mutation makes of them, to which the same queries are put. Definitions that address the model that
    selects are named in the problems. Raises InputError.
    """
    if against is not None and mutation is not None:
        raise InputError("a test compares with other catalogs or with a mutation, not with both")
    if mutation is not None:
        against = [catalog_diff.mutate(catalog, mutation) for catalog in catalogs]
    selector, index = selector or Lexical(), tool_selection.Index.of(catalogs)
    other = None if against is None else index.like(against)
    test_queries, problems = (
        tool_selection.make_queries(index) if queries is None else tool_selection.check_queries(queries, index)
    )
    texts = [query.text for query in test_queries]
    versions = [_deferred(version, listing) for version in (catalogs, *([against] if against is not None else ()))]
    listed = [index.like(version) for version in versions]
    before, *after = [
        tool_selection.choose(test_queries, await selector.rank(version.tools, texts, k=k), version, k=k)
        for version in listed
    ]
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
        k=k,
        problems=tuple(dict.fromkeys(warnings)) + problems,
    )
    if other is None:
        return report
    return tool_selection.compare(report, after[0], other, label=mutation or "after")


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


async def prove_rewrites(
    catalog: Catalog, rewrites: Sequence[Rewrite], *, queries: Sequence[Query], selector: Selector | None = None
) -> tuple[list[Rewrite], Proof]:
    """Keep the rewrites with which no tool is found worse, and undo the others; say what was tried. Raises InputError.

    Half of the requests choose what is kept; the other half is asked once, about all of it. An agent elsewhere is asked
    in rounds: UnansweredError has the prompts of the next one.
    """
    changed = {item.index: item for item in rewrites if item.changes}
    trials = [
        ProofTrial(
            index=index,
            tool=item.name,
            words=str(item.definition.get("description")),
            tokens=item.tokens_after - item.tokens_before,
        )
        for index, item in changed.items()
    ]

    def change(trials: Sequence[ProofTrial]) -> Catalog:
        return with_rewrites(catalog, [changed[trial.index] for trial in trials])

    proof = await _prove(catalog, trials, change, queries=queries, selector=selector or Lexical())
    why = {trial.index: trial.lost for trial in proof.trials if trial.lost is not None}
    return [
        replace(undone(item), setback=f"a request finds its tool less often with it: {why[item.index]!r}")
        if item.index in why
        else item
        for item in rewrites
    ], proof


async def shorten(
    catalog: Catalog, *, queries: Sequence[Query], selector: Selector | None = None
) -> tuple[list[Rewrite], Proof]:
    """Take out the sentences without which every tool is found as well, proven like rewrites.

    The first sentence of a description stays, and so does a tool whose name another one has. Raises InputError for a
    selector that only ranks: it reads no warning and sets no argument.
    """
    if not isinstance(selector, ModelSelector | AnswerSelector):
        raise InputError(
            "a search heeds no warning and sets no argument: name a model that plans (--judge or --prompts)"
        )
    names = Counter(tool.name for tool in catalog.tools)
    trials = [
        ProofTrial(index=tool.index, tool=tool.name, words=words, sentence=words, tokens=-estimate_tokens(words))
        for tool in catalog.tools
        if names[tool.name] == 1
        for words in dict.fromkeys(sentences_of(tool.description or "")[1:])
        if words in (tool.description or "")
    ]

    def change(trials: Sequence[ProofTrial]) -> Catalog:
        texts = {trial.index: catalog.tools[trial.index].description or "" for trial in trials}
        for trial in trials:
            texts[trial.index] = _without(texts[trial.index], trial.words)
        return apply(
            catalog, {index: {**catalog.tools[index].raw, "description": text} for index, text in texts.items()}
        )

    proof = await _prove(catalog, trials, change, queries=queries, selector=selector)
    shorter = change([trial for trial in proof.trials if trial.lost is None])
    drafts = {tool.name: tool.raw for tool in shorter.tools if tool is not catalog.tools[tool.index]}
    return await rewrite(catalog, drafts=drafts) if drafts else [], proof


def _without(text: str, sentence: str) -> str:
    """The text without a sentence and without the space or the empty line that it leaves behind."""
    before, _, after = text.partition(sentence)
    if before.endswith("\n"):
        return f"{before}{after.lstrip()}".strip()
    gap = "" if after.startswith("\n") else " "
    return f"{before.rstrip(' ')}{gap}{after.lstrip(' ')}".strip()


async def _prove(
    catalog: Catalog,
    trials: Sequence[ProofTrial],
    change: Callable[[Sequence[ProofTrial]], Catalog],
    *,
    queries: Sequence[Query],
    selector: Selector,
) -> Proof:
    """Take back, one for each request that is lost, what loses a request of the first half; then ask the other half."""
    index = tool_selection.Index.of([catalog])
    checked, _ = tool_selection.check_queries(queries, index)
    ordered = sorted(checked, key=lambda query: (query.tool, short_hash(query.text)))
    halves, count = (ordered[::2], ordered[1::2]), 0
    if not halves[1]:
        raise InputError("one request proves nothing: give at least two, better fifty")

    async def choices(half: Sequence[Query], *catalogs: Catalog) -> list[tuple[QueryChoice, ...]]:
        nonlocal count
        count += len(catalogs) * len(half)
        texts, versions = [query.text for query in half], [index.like([version]) for version in catalogs]
        if isinstance(selector, AnswerSelector):
            missing = [batch for version in versions for batch in selector.open_batches(version.tools, texts)]
            if missing:
                raise UnansweredError(missing)
        chosen = [
            tool_selection.choose(half, await selector.rank(version.tools, texts, k=K), version, k=K)
            for version in versions
        ]
        if failures := [choice.failure for chosen_half in chosen for choice in chosen_half if choice.failure]:
            raise InputError(f"{len(failures)} requests have no answer, so nothing is proven: {failures[0]}")
        return chosen

    lost: dict[ProofTrial, str] = {}
    accepted = list(trials)
    before, after = await choices(halves[0], catalog, change(accepted)) if accepted else ((), ())
    while blamed := dict(_blame(accepted, _worse(before, after))):
        lost |= blamed
        accepted = [trial for trial in accepted if trial not in blamed]
        [after] = await choices(halves[0], change(accepted)) if accepted else [before]
    before, after = await choices(halves[1], catalog, change(accepted)) if accepted else ((), ())
    usage = _usage(selector)
    worse, better = _worse(before, after), _worse(after, before)
    balance = Counter(trial for trial, _ in _blame(accepted, worse))
    balance.subtract(trial for trial, _ in _blame(accepted, better))
    late = {trial: text for trial, text in _blame(accepted, worse) if balance[trial] > 0}
    return Proof(
        selector=selector.name,
        requests=len(halves[0]),
        held=len(halves[1]),
        choices=count,
        tokens_read=usage.input_tokens if usage else None,
        tokens_written=usage.output_tokens if usage else None,
        cost=usage.cost if usage else None,
        gained=len(better),
        lost=len(worse),
        high=int(1000 * tool_selection.wilson_interval(len(worse), len(halves[1]))[1] + 0.5),
        trials=tuple(replace(trial, lost=(lost | late).get(trial), on_held=trial in late) for trial in trials),
    )


def _usage(selector: Selector) -> Usage | None:
    """Return what the selector's model has used; nothing of one that has no model, None of an agent elsewhere."""
    if isinstance(selector, ModelSelector):
        return used(selector.model)
    return None if isinstance(selector, AnswerSelector) else Usage()


def _worse(before: Sequence[QueryChoice], after: Sequence[QueryChoice]) -> list[QueryChoice]:
    """The later choices of the requests that do worse."""
    return [choice for former, choice in zip(before, after, strict=True) if _merit(choice) < _merit(former)]


def _merit(choice: QueryChoice) -> tuple[Fraction, Fraction, int]:
    demands = [read(choice.plan) for read in tool_selection.DEMANDS.values()] if choice.plan else []
    return choice.first, choice.found, -demands.count(False)


def _blame(trials: Sequence[ProofTrial], choices: Sequence[QueryChoice]) -> Iterator[tuple[ProofTrial, str]]:
    """For each choice the change to a tool that it is about, or else to any, that has most words of the request."""
    for choice in choices:
        query = choice.query
        names, terms = {query.tool, *query.also, *choice.instead}, set(search_terms(query.text))
        involved = [trial for trial in trials if trial.tool in names] or trials
        shared = [(len(terms.intersection(search_terms(trial.words))), trial.tool == query.tool) for trial in involved]
        yield involved[shared.index(max(shared))], query.text
