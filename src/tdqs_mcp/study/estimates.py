"""Estimates with cluster-robust errors, by scipy and statsmodels, which the extra `study` brings."""

from collections.abc import Sequence
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.studies import LEVEL, Estimate

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
