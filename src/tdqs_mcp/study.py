"""Variants of descriptions compared over the outcomes of tasks, by the tests of the paper."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean, median
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.contract import Own
from tdqs_mcp.results.studies import (
    LEVEL,
    Agreement,
    CaseSummary,
    CochransQ,
    Estimate,
    FrontPoint,
    Funnel,
    MetricTest,
    OutcomeStudy,
    Prediction,
    Reading,
    Scope,
    Summary,
    VariantPair,
)
from tdqs_mcp.rewriting.tool_selection import exact_p_value, wilson_interval
from tdqs_mcp.sources.input_files import TaskRun

DIGITS = 9
"""Decimals of a figure; further ones depend on the order of additions."""


def require_statistics() -> None:
    """Raises InputError, which names the extra, where scipy or statsmodels is missing."""
    try:
        import scipy.stats  # noqa: F401, PLC0415
        import statsmodels.api  # noqa: F401, PLC0415
    except ImportError as error:
        raise InputError("studies need more packages: pip install '.[study]' in a checkout of tdqs-mcp") from error


def estimate(
    values: Sequence[float], columns: Sequence[Sequence[float]], clusters: Sequence[Sequence[str]]
) -> Estimate | None:
    """The slope of the first column by least squares with the others held constant; without columns, the mean.

    Errors are clustered in each of the one or two given ways, with t quantiles for the fewest clusters less one (as
    Stata; Cameron and Miller 2015). None where there is nothing to estimate from.
    """
    import numpy as np  # noqa: PLC0415
    from statsmodels.api import OLS  # noqa: PLC0415

    design = np.column_stack([*columns, np.ones(len(values))])
    groups = np.column_stack([np.unique(cluster, return_inverse=True)[1] for cluster in clusters])
    fewest = int((groups.max(axis=0) + 1).min())
    if np.ptp(values) == 0 or fewest < 2 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    robust: Any = {"groups": groups if len(clusters) > 1 else groups[:, 0]}
    with np.errstate(all="ignore"):  # errors of zero, and variances below it, which two ways of clustering allow
        fit = OLS(np.asarray(values, dtype=float), design).fit(cov_type="cluster", cov_kwds=robust, use_t=True)
        (low, high), p_value = fit.conf_int(LEVEL)[0], fit.pvalues[0]
    if not (np.isfinite([low, high]).all() and round(high - low, DIGITS) > 0):
        return None
    return Estimate(
        value=float(fit.params[0]),
        low=float(low),
        high=float(high),
        p_value=float(p_value),
        clusters=fewest,
    )


MARGIN = 5.0
"""Percentage points: an effect that a maintainer would act on."""

MIN_SERVERS = 10
"""Servers on either side of a predictor's mean, by our choice: with few, cluster-robust errors are far too small
(MacKinnon and Webb 2018, on few treated clusters)."""

TWICE = Own("description twice as long")

ToolKey = tuple[str, str]
"""A server and one of its tools."""

ToolValues = Mapping[str, float]
"""By name what may predict how a tool fares: TWICE is the binary logarithm of its description's length, then TDQS, the
dimensions, and 1 or 0 for every rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A search or a call."""

    tool: ToolKey
    outcome: float
    """1 for a tool that is found or a call that fails, else 0; between them for a tie."""

    task: str | None = None
    """The task that a call belongs to, whose calls depend on each other beside those of one server."""

    variant_of: str | None = None
    """The server that the tool's catalog is a variant of: the tool is compared with itself in the other variants."""

    @property
    def server(self) -> str:
        """Return the server that the errors are clustered by."""
        return self.variant_of or self.tool[0]


def predict(tools: Mapping[ToolKey, ToolValues], observed: Sequence[Observation]) -> dict[Own, Prediction]:
    """The length alone, then everything else beside the length."""
    names = list(dict.fromkeys(name for tool in tools.values() for name in tool))
    readings = _readings([predict_by(name, tools, observed) for name in names])
    return {Own(name): reading for name, reading in zip(names, readings, strict=True)}


def predict_by(
    name: str,
    tools: Mapping[ToolKey, ToolValues],
    observed: Sequence[Observation],
    *,
    controls: Sequence[str] = (TWICE,),
) -> Estimate | None:
    """Points for one unit of the predictor; errors clustered by server, and by task where there are tasks."""
    samples = [sample for sample in observed if name in tools[sample.tool]]
    columns = [[tools[sample.tool][key] for sample in samples] for key in dict.fromkeys((name, *controls))]
    outcomes, *columns = (
        _centered(column, samples) for column in ([100 * sample.outcome for sample in samples], *columns)
    )
    mean = sum(columns[0]) / len(samples) if samples else 0.0
    deviations = zip(samples, (round(value - mean, DIGITS) for value in columns[0]), strict=True)
    signs = {(sample.server, deviation > 0) for sample, deviation in deviations if deviation}
    sides = [{server for server, is_above in signs if is_above is side} for side in (True, False)]
    if min(map(len, sides)) < MIN_SERVERS:
        return None
    clusters = [[sample.server for sample in samples]]
    if all(sample.task is not None for sample in samples):
        clusters.append([sample.task or "" for sample in samples])
    return estimate(outcomes, columns, clusters)


def _centered(values: Sequence[float], samples: Sequence[Observation]) -> list[float]:
    """The values, less the mean of a tool's variants where there are variants (a fixed effect of each tool)."""
    groups: dict[tuple[str, str], list[float]] = {}
    keys = [(sample.server, sample.tool[1]) if sample.variant_of else None for sample in samples]
    for key, value in zip(keys, values, strict=True):
        if key:
            groups.setdefault(key, []).append(value)
    means = {key: fmean(group) for key, group in groups.items()}
    return [value - means[key] if key else value for key, value in zip(keys, values, strict=True)]


def _readings(estimates: Sequence[Estimate | None]) -> Iterator[Prediction]:
    """Yield what each interval says; one that excludes zero must do so after Holm's correction."""
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415

    raw = [estimate.p_value for estimate in estimates if estimate]
    corrected = iter(multipletests(raw, method="holm")[1].tolist() if raw else ())
    for item in estimates:
        if item is None:
            yield Prediction(estimate=None, reading=Reading.OPEN)
            continue
        is_certain = next(corrected) < LEVEL
        reading = Reading.SOMETHING if is_certain else Reading.UNSEEN
        if item.low > -MARGIN and item.high < MARGIN:
            reading = Reading.NOTHING
        yield Prediction(estimate=item, reading=reading)


Key = tuple[str, str, str]
"""Model, domain and task: what is the same in both runs of a pair."""

_METRICS: Mapping[Own, Callable[[TaskRun], float | None]] = {
    Own("success"): lambda run: 100.0 * run.success,
    Own("score"): lambda run: run.score,
    Own("steps"): lambda run: run.steps,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScopeRuns(Scope):
    """The runs of a scope, by variant."""

    runs: Mapping[str, Mapping[Key, TaskRun]]

    @property
    def place(self) -> dict[str, Any]:
        return {"experiment": self.experiment, "model": self.model, "domain": self.domain}


def compare_variants(runs: Sequence[TaskRun]) -> OutcomeStudy:
    """Every pair of variants in every scope of every experiment, all domains together before each of them."""
    all_scopes = list(_scopes(runs))
    scopes = sorted(_distinct(all_scopes), key=lambda scope: scope.domain is not None)
    pairs = [_pair(scope, *names) for scope in scopes for names in combinations(scope.runs, 2)]
    return OutcomeStudy(
        runs=len(runs),
        summaries=tuple(_summary(scope, variant) for scope in scopes for variant in scope.runs),
        pairs=tuple(_corrected(pairs)),
        cases=tuple(_case_summaries(pairs)),
        confounded=tuple(dict.fromkeys(Own(words) for scope in scopes for words in _confounding(scope))),
        cochrans_q=tuple(test for scope in scopes for test in _cochrans_q(scope)),
        front=tuple(
            point
            for scope in _distinct([candidate for candidate in all_scopes if candidate.model is None])
            for point in _front(scope)
        ),
    )


def _scopes(runs: Sequence[TaskRun]) -> Iterator[_ScopeRuns]:
    """All models and domains together, each model, each domain, and each model in each domain."""
    for experiment in dict.fromkeys(run.experiment for run in runs):
        own = [run for run in runs if run.experiment == experiment]
        models, domains = (dict.fromkeys(getattr(run, name) or None for run in own) for name in ("model", "domain"))
        for model in dict.fromkeys((None, *models)):
            for domain in dict.fromkeys((None, *domains)):
                by_variant: dict[str, dict[Key, TaskRun]] = {}
                for run in own:
                    if model in (None, run.model) and domain in (None, run.domain):
                        by_variant.setdefault(run.variant, {})[run.model, run.domain, run.task] = run
                if by_variant:
                    yield _ScopeRuns(experiment=experiment, model=model, domain=domain, runs=by_variant)


def _distinct(scopes: Sequence[_ScopeRuns]) -> list[_ScopeRuns]:
    """Of the scopes with the same runs only the narrowest, which comes last."""
    by_runs = {frozenset(id(run) for runs in scope.runs.values() for run in runs.values()): scope for scope in scopes}
    return list(by_runs.values())


def _summary(scope: _ScopeRuns, variant: str) -> Summary:
    runs = list(scope.runs[variant].values())
    successes = sum(run.success for run in runs)
    low, high = wilson_interval(successes, len(runs))
    is_single = _is_single(runs)
    return Summary(
        **scope.place,
        variant=variant,
        runs=len(runs),
        success=100 * successes / len(runs),
        low=100 * low if is_single else None,
        high=100 * high if is_single else None,
        score=_mean(run.score for run in runs),
        near_misses=_count_near_misses(runs),
        steps=_mean(run.steps for run in runs),
    )


NEAR = 0.8
"""Share of evaluators from which a failed run is a near miss (the paper's Table 6)."""


def _count_near_misses(runs: Sequence[TaskRun]) -> int | None:
    scores = [(run.score, run.success) for run in runs if run.score is not None]
    return sum(score >= NEAR and not success for score, success in scores) if scores else None


def _case_summaries(pairs: Sequence[VariantPair]) -> Iterator[CaseSummary]:
    """Variants over the pairs of one model and one domain."""
    cases: dict[tuple[str, str, str], list[float]] = {}
    for pair in pairs:
        success = next((test for test in pair.tests if test.metric == "success"), None)
        if pair.model and pair.domain and success:
            change = round(success.after - success.before, DIGITS)
            cases.setdefault((pair.experiment, pair.before, pair.after), []).append(change)
    for (experiment, before, after), changes in cases.items():
        if len(changes) > 1:
            yield CaseSummary(
                experiment=experiment,
                before=before,
                after=after,
                cases=len(changes),
                median=median(changes),
                improved=100 * sum(change > 0 for change in changes) / len(changes),
                regressed=100 * sum(change < 0 for change in changes) / len(changes),
            )


def _confounding(scope: _ScopeRuns) -> Iterator[str]:
    """Yield what else than the variant differs between two variants that were not run with the same tasks."""
    for before, after in combinations(scope.runs, 2):
        old, new = scope.runs[before], scope.runs[after]
        if old.keys() & new.keys():
            continue
        for place, name in enumerate(("model", "domain")):
            mixes = [Counter(key[place] for key in runs) for runs in (old, new)]
            shares = [{value: count / mix.total() for value, count in mix.items()} for mix in mixes]
            if any(abs(shares[0].get(value, 0) - shares[1].get(value, 0)) > MIX for value in set().union(*mixes)):
                words = f"{before!r} and {after!r} were run with other shares of each {name}"
                yield f"{words}, so a difference may be one of {name}s: run the same tasks with both"


MIX = 0.1
"""Difference of shares from which two groups of runs count as mixed in another way, by our choice."""


def _funnel(pairs: Sequence[tuple[TaskRun, TaskRun]]) -> Funnel | None:
    rows = [
        (new_steps > old_steps, new_score > old_score, new.success)
        for old, new in pairs
        if (old_steps := old.steps) is not None
        and (new_steps := new.steps) is not None
        and (old_score := old.score) is not None
        and (new_score := new.score) is not None
    ]
    if not rows:
        return None
    better = [success for more, improved, success in rows if more and improved]
    return Funnel(
        pairs=len(rows), more_steps=sum(more for more, _, _ in rows), better_score=len(better), success=sum(better)
    )


def _averages(before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """Means, medians and the relative change of two variants."""
    old, new = fmean(before), fmean(after)
    medians = {"median_before": median(before), "median_after": median(after)}
    return {"before": old, "after": new, **medians, "relative": 100 * (new - old) / old if old else None}


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None


def _pair(scope: _ScopeRuns, before: str, after: str) -> VariantPair:
    old, new = scope.runs[before], scope.runs[after]
    shared = [key for key in old if key in new]
    pairs = [(old[key], new[key]) for key in shared]
    sides = [[pair[place] for pair in pairs] for place in (0, 1)] if pairs else [list(old.values()), list(new.values())]
    return VariantPair(
        **scope.place,
        before=before,
        after=after,
        units=len(pairs) or len(old) + len(new),
        without_partner=len(old) + len(new) - 2 * len(pairs) if pairs else 0,
        agreement=_agreement(pairs) if pairs else None,
        funnel=_funnel(pairs),
        tests=tuple(_tests(*sides, is_paired=bool(pairs))),
    )


def _agreement(pairs: Sequence[tuple[TaskRun, TaskRun]]) -> Agreement:
    from scipy.stats import chi2_contingency, pearsonr  # noqa: PLC0415

    old, new = [run.success for run, _ in pairs], [other.success for _, other in pairs]
    counts = Counter(zip(old, new, strict=True))
    both, lost, gained, neither = (counts[old, new] for old in (True, False) for new in (True, False))
    varies = len(set(old)) == len(set(new)) == 2
    test = chi2_contingency([[both, lost], [gained, neither]], correction=False) if varies else None
    return Agreement(
        both=both,
        only_before=lost,
        only_after=gained,
        neither=neither,
        union=100 * (len(pairs) - neither) / len(pairs),
        phi=float(pearsonr(old, new).statistic) if varies else None,
        chi_square=float(test.statistic) if test else None,
        p_value=float(test.pvalue) if test and _is_single([run for run, _ in pairs]) else None,
    )


def _is_single(runs: Sequence[TaskRun]) -> bool:
    """Return whether no task occurs twice, as tests of independent tasks demand."""
    return len(set(map(_task, runs))) == len(runs)


def _task(run: TaskRun) -> str:
    return f"{run.domain}\n{run.task}"


def _tests(old: Sequence[TaskRun], new: Sequence[TaskRun], *, is_paired: bool) -> Iterator[MetricTest]:
    """McNemar's exact test for success, Wilcoxon's signed-rank test for the rest; without pairs Mann-Whitney's U."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415

    for metric, value in _METRICS.items():
        sides = [old, new]
        if is_paired:
            complete = [pair for pair in zip(old, new, strict=True) if None not in map(value, pair)]
            sides = [[pair[place] for pair in complete] for place in (0, 1)]
        before, after = ([number for run in runs if (number := value(run)) is not None] for runs in sides)
        if not (before and after):
            continue
        if is_paired:
            runs = sides[0]
            changes = [round(later - earlier, DIGITS) for earlier, later in zip(before, after, strict=True)]
            difference = estimate(changes, [], [list(map(_task, runs))])
            test, p_value, size = "Wilcoxon signed-rank", *_wilcoxon(changes)
            if metric == "success":
                gained, lost = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
                test, p_value, size = "McNemar, exact", exact_p_value(gained, lost), None
        else:
            runs = [run for side in sides for run in side if value(run) is not None]
            is_after = [0.0] * len(before) + [1.0] * len(after)
            difference = estimate([*before, *after], [is_after], [list(map(_task, runs))])
            result = mannwhitneyu(after, before)
            size = 2 * float(result.statistic) / (len(before) * len(after)) - 1
            test, p_value = "Mann-Whitney U", float(result.pvalue)
        yield MetricTest(
            metric=metric,
            test=Own(test),
            units=len(runs),
            **_averages(before, after),
            difference=difference,
            p_value=p_value if _is_single(runs) else None,
            size=size,
        )


def _wilcoxon(changes: Sequence[float]) -> tuple[float | None, float | None]:
    """The p value, and the matched-pairs rank-biserial correlation (Kerby 2014); nothing where nothing differs."""
    from scipy.stats import wilcoxon  # noqa: PLC0415

    moved = sum(change != 0 for change in changes)
    if not moved:
        return None, None
    gains = float(wilcoxon(changes, alternative="greater").statistic)
    return float(wilcoxon(changes).pvalue), 4 * gains / (moved * (moved + 1)) - 1


def _corrected(pairs: Sequence[VariantPair]) -> Iterator[VariantPair]:
    """Bonferroni's correction of all Mann-Whitney tests, as the paper compares independent groups."""
    count = sum(test.p_value is not None for pair in pairs if not pair.agreement for test in pair.tests)
    for pair in pairs:
        corrected = (
            test if test.p_value is None else replace(test, adjusted=min(1.0, count * test.p_value))
            for test in pair.tests
        )
        yield pair if pair.agreement else replace(pair, tests=tuple(corrected))


def _cochrans_q(scope: _ScopeRuns) -> Iterator[CochransQ]:
    """The test over the tasks that were run with all variants, where there are three or more."""
    from statsmodels.stats.contingency_tables import cochrans_q  # noqa: PLC0415

    keys = [key for key in next(iter(scope.runs.values())) if all(key in runs for runs in scope.runs.values())]
    rows = [tuple(runs[key] for runs in scope.runs.values()) for key in keys]
    results = [[int(run.success) for run in row] for row in rows]
    if len(scope.runs) < 3 or not _is_single([row[0] for row in rows]) or all(len(set(row)) == 1 for row in results):
        return
    test = cochrans_q(results)
    yield CochransQ(
        **scope.place,
        variants=tuple(scope.runs),
        tasks=len(rows),
        q=float(test.statistic),
        p_value=float(test.pvalue),
    )


def _front(scope: _ScopeRuns) -> Iterator[FrontPoint]:
    """Score against steps, of each model with each variant, over the tasks that all of them have."""
    points: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for variant, runs in scope.runs.items():
        for run in runs.values():
            if run.score is not None and run.steps is not None:
                points.setdefault((run.model, variant), {})[_task(run)] = (run.score, run.steps)
    shared = set.intersection(*(set(variants) for variants in points.values())) if points else set()
    if not shared:
        return
    means = {
        name: (fmean(variants[task][0] for task in shared), fmean(variants[task][1] for task in shared))
        for name, variants in points.items()
    }
    for (model, variant), (score, steps) in means.items():
        other_means = (mean for mean in means.values() if mean != (score, steps))
        yield FrontPoint(
            **{**scope.place, "model": model},
            variant=variant,
            tasks=len(shared),
            score=score,
            steps=steps,
            is_on_front=not any(mean[0] >= score and mean[1] <= steps for mean in other_means),
        )
