"""How many known servers score lower: a store's, or those captured for this program, whose scores are a data file."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tdqs_mcp.results.scores import Percentiles, Rollup
from tdqs_mcp.results.verdicts import JudgeStamp


def captured_percentiles(rollup: Rollup, *, judge: JudgeStamp, spec: str) -> Percentiles | None:
    """Among the captured servers; None where they were scored by another method, or without an overall score."""
    if judge.calibration is None:
        return None
    known = _captured()
    if (judge.id, judge.calibration, spec) != (known["judge"], known["calibration"], known["spec"]):
        return None
    return percentiles(
        rollup.overall,
        rollup.description_quality,
        overalls={int(score): count for score, count in known["overall"].items()},
        qualities={int(score): count for score, count in known["descriptionQuality"].items()},
    )


def percentiles(
    overall: int | None, quality: int | None, *, overalls: Mapping[int, int], qualities: Mapping[int, int]
) -> Percentiles | None:
    """Of two scores in tenths among servers counted by theirs; None without an overall score or another server."""
    count = sum(overalls.values())
    if overall is None or not count:
        return None
    return Percentiles(
        servers=count,
        overall=_percent_below(overall, overalls),
        description_quality=None if quality is None else _percent_below(quality, qualities),
    )


def _percent_below(score: int, counts: Mapping[int, int]) -> int:
    """Rounded down, so that 100 means all of them."""
    return 100 * sum(count for other, count in counts.items() if other < score) // sum(counts.values())


@cache
def _captured() -> dict[str, Any]:
    text = files("tdqs_mcp.scoring").joinpath("data/known_servers.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]  # our own file
