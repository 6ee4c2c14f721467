"""What scores and rules predict of searches and calls, with the length of the description held constant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.results.contract import Own
from tdqs_mcp.results.studies import LEVEL, Estimate, Prediction, Predictor, Reading
from tdqs_mcp.study.estimates import estimate

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
