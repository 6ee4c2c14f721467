"""Writes what rules and scores predict, for `rules ID`: `rule_predictions.py LIVEMCPBENCH AGENTGAUGE`."""

import json
import sys
from pathlib import Path
from typing import Any

from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.app.studying import study_benchmark
from tdqs_mcp.results.studies import BenchmarkStudy, ChoiceStudy, Prediction
from tdqs_mcp.study import TWICE

TARGET = Path(__file__).parents[1] / "src" / "tdqs_mcp" / "rules" / "data" / "predictions.json"

FIGURES = Path(__file__).parent / "choices" / "figures.json"
"""What choice_experiment.py computes."""


def rule_predictions(*studies: BenchmarkStudy | ChoiceStudy) -> dict[str, dict[str, str]]:
    """By rule, dimension and outcome the reading with its interval, where there is one."""
    readings: dict[str, dict[str, str]] = {}
    for predictor in (predictor for study in studies for predictor in study.predictors):
        outcomes = {key: getattr(predictor, key, None) for key in ("found", "fails", "right", "satisfied")}
        shown = {key: _shown(prediction) for key, prediction in outcomes.items() if prediction and prediction.estimate}
        if shown and predictor.name != TWICE:
            readings.setdefault(str(predictor.name), {}).update(shown)
    for name, row in own_predictions().items():
        if row and name != TWICE:
            interval = f"{row['value']:+.0f} points, {row['low']:+.0f} to {row['high']:+.0f}"
            readings.setdefault(name, {})["planned"] = f"{row['reading']} ({interval})"
    return readings


def own_predictions() -> dict[str, dict[str, Any] | None]:
    """The slopes for the arguments of a plan in the choice experiment; nothing else that it measured ever varied."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    return dict(figures["claude, alone"]["demands"]["right arguments"]["predictions"])


def _shown(prediction: Prediction) -> str:
    estimate = prediction.estimate
    assert estimate
    return f"{prediction.reading} ({estimate.value:+.0f} points, {estimate.low:+.0f} to {estimate.high:+.0f})"


if __name__ == "__main__":
    measured = rule_predictions(*(blocking(study_benchmark)(Path(folder)) for folder in sys.argv[1:3]))
    TARGET.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
