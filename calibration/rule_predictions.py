"""Writes what the rules predict on LiveMCPBench, for `explain`: `rule_predictions.py FOLDER`, when a rule changes."""

import json
import sys
from pathlib import Path

from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.app.studying import study_benchmark
from tdqs_mcp.results.studies import BenchmarkStudy, Prediction

TARGET = Path(__file__).parents[1] / "src" / "tdqs_mcp" / "rules" / "data" / "predictions.json"


def rule_predictions(study: BenchmarkStudy) -> dict[str, dict[str, str]]:
    """By rule and outcome the reading with its interval, where there is one."""
    rules = {each.name: {"found": each.found, "fails": each.fails} for each in study.predictors if each.name.isupper()}
    told = {rule: {key: _said(one) for key, one in by.items() if one.estimate} for rule, by in rules.items()}
    return {str(rule): by for rule, by in told.items() if by}


def _said(found: Prediction) -> str:
    one = found.estimate
    assert one
    return f"{found.reading} ({one.value:+.0f} points, {one.low:+.0f} to {one.high:+.0f})"


if __name__ == "__main__":
    measured = rule_predictions(blocking(study_benchmark)(Path(sys.argv[1])))
    TARGET.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
