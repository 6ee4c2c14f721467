"""What a result means for an exit code: the pass/fail policy, suppressions and baselines; suites are in `suite`."""

from tdqs_mcp.gate.known_findings import baseline_document, compare_to_baseline, read_baseline, renew, settle, suppress
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

__all__ = [
    "Outcome",
    "answered",
    "arrives",
    "baseline_document",
    "calibrated",
    "compare_to_baseline",
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
