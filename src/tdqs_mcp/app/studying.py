"""Studies: outcomes of experiments, and what scores predict of a benchmark."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path
from statistics import fmean

from tdqs_mcp.app.improving import rewrite, with_rewrites
from tdqs_mcp.app.judging import score_measured
from tdqs_mcp.app.selecting import select
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.checks import Query
from tdqs_mcp.results.contract import Own
from tdqs_mcp.results.studies import (
    BenchmarkStudy,
    ChoiceEstimates,
    ChoicePredictor,
    ChoiceStudy,
    OutcomeStudy,
    Predictor,
    VariantShare,
)
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.input_files import (
    Benchmark,
    Call,
    ChoiceBenchmark,
    RecordedChoice,
    read_benchmark,
    read_outcomes,
)
from tdqs_mcp.study import (
    TWICE,
    Observation,
    ToolKey,
    ToolValues,
    compare_variants,
    estimate,
    predict,
    predict_by,
    require_statistics,
)

TDQS = "tdqs"
"""The overall score as a predictor."""


def study_outcomes(path: Path) -> OutcomeStudy:
    """The variants in a file of outcomes compared. Raises InputError."""
    require_statistics()
    return compare_variants(read_outcomes(path))


async def study_benchmark(folder: Path) -> BenchmarkStudy | ChoiceStudy:
    """Return what scores and rules predict of a benchmark's searches and calls, or choices. Raises InputError."""
    require_statistics()
    benchmark = read_benchmark(folder)
    tools: dict[ToolKey, ToolValues] = {}
    for catalog in benchmark.catalogs:
        tools |= await tool_values(catalog)
    if isinstance(benchmark, ChoiceBenchmark):
        return _study_choices(benchmark, tools)
    queries, calls, problems = _usable_observations(benchmark, tools)
    rewritten = [with_rewrites(catalog, await rewrite(catalog)) for catalog in benchmark.catalogs]
    selection = await select(benchmark.catalogs, queries=queries, against=rewritten)
    missing = [
        Observation(tool=(choice.query.server or "", choice.query.tool), outcome=float(choice.found))
        for choice in selection.choices
    ]
    fails = [
        Observation(tool=(call.server, call.tool), outcome=float(call.is_failed), task=call.task) for call in calls
    ]
    by_search, by_call = predict(tools, missing), predict(tools, fails)
    return BenchmarkStudy(
        servers=len(benchmark.catalogs),
        tools=len(tools),
        queries=len(missing),
        queried_tools=len({name.tool for name in missing}),
        found=100 * sum(name.outcome for name in missing) / len(missing),
        calls=len(fails),
        called_tools=len({fail.tool for fail in fails}),
        failed=100 * sum(fail.outcome for fail in fails) / len(fails),
        predictors=tuple(Predictor(name=name, found=by_search[name], fails=by_call[name]) for name in by_search),
        rewritten=selection.against.recall if selection.against else None,
        problems=(*problems, *selection.problems),
    )


def _study_choices(benchmark: ChoiceBenchmark, tools: Mapping[ToolKey, ToolValues]) -> ChoiceStudy:
    """The shares of every variant, and what predicts a choice if the variants of one tool are compared."""
    right, satisfied = (
        [
            Observation(tool=(choice.variant, choice.tool), outcome=outcome(choice), variant_of=choice.server)
            for choice in benchmark.choices
        ]
        for outcome in _CHOICE_OUTCOMES
    )
    by_right, by_satisfied = predict(tools, right), predict(tools, satisfied)
    return ChoiceStudy(
        totals=tuple(_variant_shares([choice._replace(server="") for choice in benchmark.paired])),
        change=_paired_change(benchmark.paired),
        shares=tuple(_variant_shares([*benchmark.paired, *benchmark.choices])),
        servers=len({choice.server for choice in benchmark.choices}),
        calls=len(benchmark.choices),
        predictors=tuple(
            ChoicePredictor(name=name, right=by_right[name], satisfied=by_satisfied[name]) for name in by_right
        ),
        checks=tuple(_checks(tools, (right, satisfied))),
    )


_CHOICE_OUTCOMES: tuple[Callable[[RecordedChoice], float], ...] = (
    lambda choice: float(choice.is_right),
    lambda choice: choice.satisfied,
)
"""Right tool, and constraints met."""


def _checks(
    tools: Mapping[ToolKey, ToolValues], outcomes: Sequence[Sequence[Observation]]
) -> Iterator[ChoiceEstimates]:
    """Yield the effect of TDQS beside whether there is a description, and the smallest without one of the servers."""
    described = {key: {**values, "described": float(values[TWICE] > 0)} for key, values in tools.items()}
    right, satisfied = (predict_by(TDQS, described, own, controls=(TWICE, "described")) for own in outcomes)
    name = Own("if it is held constant whether there is a description")
    yield ChoiceEstimates(name=name, right=right, satisfied=satisfied)
    servers = sorted({sample.server for sample in outcomes[0]})
    right, satisfied = (
        min(filter(None, estimates), key=lambda effect: effect.value, default=None)
        for estimates in (
            [predict_by(TDQS, tools, [sample for sample in own if sample.server != server]) for server in servers]
            for own in outcomes
        )
    )
    yield ChoiceEstimates(name=Own("without the server that adds most"), right=right, satisfied=satisfied)


def _variant_shares(choices: Sequence[RecordedChoice]) -> Iterator[VariantShare]:
    for server, variant in dict.fromkeys((choice.server, choice.variant) for choice in choices):
        own = [choice for choice in choices if (choice.server, choice.variant) == (server, variant)]
        right, satisfied = (100 * fmean(map(outcome, own)) for outcome in _CHOICE_OUTCOMES)
        yield VariantShare(server=server or None, variant=variant, calls=len(own), right=right, satisfied=satisfied)


def _paired_change(choices: Sequence[RecordedChoice]) -> ChoiceEstimates:
    """Differences between the first variant and the others, clustered by server."""
    is_after = [float(choice.variant != choices[0].variant) for choice in choices]
    clusters = [[choice.server for choice in choices]]
    right, satisfied = (
        estimate([100 * outcome(choice) for choice in choices], [is_after], clusters) for outcome in _CHOICE_OUTCOMES
    )
    return ChoiceEstimates(name=Own("last variant less first"), right=right, satisfied=satisfied)


async def tool_values(catalog: Catalog) -> dict[ToolKey, ToolValues]:
    """The offline scores of a catalog's tools and every rule that fires on them, whatever other rule entails it."""
    measured = measure(catalog)
    scored = await score_measured(measured, judge=Offline())
    scores = {
        tool.index: {
            TDQS: tool.tdqs / 10,
            **{key: float(judgement.score) for key, judgement in tool.judgements.items()},
        }
        for tool in scored.tools
    }
    rules = [rule.id for rule in registry.RULES]
    selection = registry.select(names=[registry.ALL])._replace(entailed={})
    fired: dict[int | None, set[str]] = {}
    for finding in registry.check(measured, selection):
        if finding.subject.kind == "tool":
            fired.setdefault(finding.subject.index, set()).add(finding.rule)
    return {
        (catalog.server, tool.name): {
            TWICE: log2(1 + len(tool.description or "")),
            **scores.get(tool.index, {}),
            **{rule: float(rule in fired.get(tool.index, ())) for rule in rules},
        }
        for tool in catalog.tools
    }


def _usable_observations(benchmark: Benchmark, tools: Collection[ToolKey]) -> tuple[list[Query], list[Call], list[str]]:
    """The queries and calls whose tool is there once, and how many others there are. Raises InputError without any."""
    homes: dict[str, list[str]] = {}
    for server, name in tools:
        homes.setdefault(name, []).append(server)
    queries = [
        replace(query, server=homes[query.tool][0])
        for query in benchmark.queries
        if len(homes.get(query.tool, ())) == 1
    ]
    calls = [call for call in benchmark.calls if (call.server, call.tool) in tools]
    if not (queries and calls):
        raise InputError("no query or no call of the benchmark is about a tool in its tools.json")
    counts = (("queries", len(benchmark.queries), len(queries)), ("calls", len(benchmark.calls), len(calls)))
    left_out = "{} of {} {} left out: no tool of that name, or several"
    problems = [left_out.format(whole - used, whole, noun) for noun, whole, used in counts if whole > used]
    return queries, calls, problems
