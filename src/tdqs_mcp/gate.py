"""The pass/fail policy: what a result means for an exit code."""

from collections.abc import Iterable, Sequence
from enum import IntEnum

from tdqs_mcp.model.results import Finding, ServerScore, Severity, Tier, Verdict
from tdqs_mcp.pipeline.rollup import roll_up
from tdqs_mcp.pipeline.score import UNMEASURED


class Outcome(IntEnum):
    """The exit code of a gate."""

    PASSED = 0
    FAILED = 1
    UNKNOWN = 2
    """Something ungraded could change the verdict."""


def reaches(score: ServerScore, tier: Tier) -> Outcome:
    """Whether the overall tier, or the lowest tool's where there is no server score, is at least `tier`."""
    tools = [tool.tdqs for tool in score.tools]
    if not tools:
        return Outcome.UNKNOWN
    if score.rollup.overall is None:
        if min(tools) < tier.floor:
            return Outcome.FAILED
        return Outcome.UNKNOWN if score.ungraded else Outcome.PASSED
    worst, best = (_overall(score, tools + [bound] * len(score.ungraded)) for bound in (10, 50))
    if worst >= tier.floor:
        return Outcome.PASSED
    return Outcome.FAILED if best < tier.floor else Outcome.UNKNOWN


def answered(score: ServerScore) -> Outcome:
    """Unknown when the judge failed on a tool; what nobody can call or measure is a finding, not a failure."""
    has_failed = any(tool.ungraded.judge != UNMEASURED for tool in score.ungraded)
    return Outcome.UNKNOWN if has_failed else Outcome.PASSED


def is_clean(findings: Iterable[Finding], worst_allowed: Severity) -> Outcome:
    """Failed when a finding is at least as bad as `worst_allowed`."""
    is_bad = any(finding.severity.rank >= worst_allowed.rank for finding in findings)
    return Outcome.FAILED if is_bad else Outcome.PASSED


def _overall(score: ServerScore, tools: Sequence[int]) -> int:
    """The overall score in tenths if the tools had these TDQS; only asked where there is an overall score."""
    coherence = score.coherence.judgements if isinstance(score.coherence, Verdict) else {}
    scores = {key: judgement.score for key, judgement in coherence.items()}
    return roll_up(tools, tool_count=score.tool_count, coherence=scores, spec=score.spec_version).overall or 0
