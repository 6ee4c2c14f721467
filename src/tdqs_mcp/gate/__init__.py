"""What a result means for an exit code: the pass/fail policy, suppressions and baselines; suites are in `suite`."""

from tdqs_mcp.gate.baseline import baseline_document, compare, read_baseline, renew
from tdqs_mcp.gate.policy import (
    Outcome,
    answered,
    arrives,
    calibrated,
    decide,
    earns,
    finds,
    is_clean,
    is_good,
    labelled,
    reaches,
    rewritten,
)
from tdqs_mcp.gate.suppression import settle, suppress

__all__ = [
    "Outcome",
    "answered",
    "arrives",
    "baseline_document",
    "calibrated",
    "compare",
    "decide",
    "earns",
    "finds",
    "is_clean",
    "is_good",
    "labelled",
    "reaches",
    "read_baseline",
    "renew",
    "rewritten",
    "settle",
    "suppress",
]
