"""What scores and rules predict of searches and calls, by cluster-robust estimates that hold the length constant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.contract import Own
from tdqs_mcp.results.studies import LEVEL, Estimate, Prediction, Predictor, Reading

DIGITS = 9
"""Decimals of a figure; further ones depend on the order of additions."""


def require_statistics() -> None:
    """Raises InputError, which names the extra, where scipy or statsmodels is missing."""
    try:
        import scipy.stats  # noqa: F401, PLC0415
        import statsmodels.api  # noqa: F401, PLC0415
    except ImportError as error:
        raise InputError("studies need more packages: pip install 'tdqs-mcp[study]'") from error


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
    groups = np.column_stack([np.unique(each, return_inverse=True)[1] for each in clusters])
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
    """One search or one call."""

    tool: ToolKey
    outcome: float
    """1 for a tool that is found or a call that fails, else 0; between them for a tie."""

    task: str | None = None
    """The task that a call belongs to, whose calls depend on each other beside those of one server."""


def predict(
    tools: Mapping[ToolKey, ToolValues], *, found: Sequence[Observation], fails: Sequence[Observation]
) -> tuple[Predictor, ...]:
    """The length alone, then everything else beside the length."""
    names = list(dict.fromkeys(name for each in tools.values() for name in each))
    by_outcome = [_readings([_estimate(tools, observed, name) for name in names]) for observed in (found, fails)]
    return tuple(
        Predictor(name=Own(name), found=one, fails=other) for name, one, other in zip(names, *by_outcome, strict=True)
    )


def _estimate(tools: Mapping[ToolKey, ToolValues], observed: Sequence[Observation], name: str) -> Estimate | None:
    """Points for one unit of the predictor; errors clustered by server, and by task where there are tasks."""
    known = [(each, tools[each.tool][name]) for each in observed if name in tools[each.tool]]
    values = [value for _, value in known]
    mean = sum(values) / len(values) if values else 0.0
    sides = [{each.tool[0] for each, value in known if (value > mean) is above} for above in (True, False)]
    if min(map(len, sides)) < MIN_SERVERS:
        return None
    clusters = [[each.tool[0] for each, _ in known]]
    if all(each.task is not None for each, _ in known):
        clusters.append([each.task or "" for each, _ in known])
    held = [] if name == TWICE else [[tools[each.tool][TWICE] for each, _ in known]]
    return estimate([100 * each.outcome for each, _ in known], [values, *held], clusters)


def _readings(estimates: Sequence[Estimate | None]) -> Iterator[Prediction]:
    """What each interval says; one that excludes zero must do so after Holm's correction."""
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415

    raw = [each.p_value for each in estimates if each]
    corrected = iter(multipletests(raw, method="holm")[1].tolist() if raw else ())
    for each in estimates:
        if each is None:
            yield Prediction(estimate=None, reading=Reading.OPEN)
            continue
        is_certain = next(corrected) < LEVEL
        reading = Reading.SOMETHING if is_certain else Reading.OPEN
        if each.low > -MARGIN and each.high < MARGIN:
            reading = Reading.NOTHING
        yield Prediction(estimate=each, reading=reading)
