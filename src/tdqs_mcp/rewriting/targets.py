"""Which rewrites an overall score needs, and which answers of the author bring a server there."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.comparisons import Comparison
from tdqs_mcp.results.improvements import OFFLINE, Goal, Rewrite, questions_of
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import Tier, tier_of
from tdqs_mcp.scoring.rollup import overall_of

LOWEST, HIGHEST = 10, 50
"""Bounds of a TDQS, in tenths."""


def read_target(text: str) -> int:
    """Return an overall score in tenths: a tier's floor, or a number from 1.0 to 5.0. Raises InputError."""
    tier = text.strip().upper()
    if tier in ("A", "B", "C", "D"):
        return Tier(tier).floor
    try:
        tenths = Decimal(tier) * 10
    except InvalidOperation:
        tenths = Decimal("NaN")
    if not (tenths.is_finite() and LOWEST <= tenths <= HIGHEST and tenths % 1 == 0):
        raise InputError(f"{text!r} is not a target; give a tier A-D or an overall score such as 3.5")
    return int(tenths)


def drop_unneeded(score: ServerScore, rewrites: Sequence[Rewrite], *, target: int) -> list[Rewrite]:
    """Return the rewrites without those that a reached target can do without, the most tokens per gain first.

    `score` is the server's with all of them. The author's words stay, and so does what saves tokens.
    """
    heights = {tool.index: tool.tdqs for tool in score.tools}
    own = [rewrite for rewrite in rewrites if rewrite.writer == OFFLINE and not rewrite.is_told and rewrite.before]
    optional = [rewrite for rewrite in own if rewrite.index in heights and rewrite.tokens_added >= 0]
    dropped: set[int] = set()
    prices = {rewrite.index: Fraction(rewrite.tokens_added, max(1, rewrite.tdqs_change)) for rewrite in optional}
    for rewrite in sorted(optional, key=lambda rewrite: prices[rewrite.index], reverse=True):
        trial = heights | {rewrite.index: rewrite.before.tdqs if rewrite.before else LOWEST}
        if _overall(score, list(trial.values())) >= target:
            heights = trial
            dropped.add(rewrite.index)
    return [undone(rewrite) if rewrite.index in dropped else rewrite for rewrite in rewrites]


def find_goal(before: ServerScore, after: ServerScore, rewrites: Sequence[Rewrite], *, target: int) -> Goal:
    """Return how far the rewrites bring a server, and the questions whose answers are enough for the target.

    An answer is counted with the most that it can bring, so that fewer questions than these are never enough.
    """
    heights = {tool.index: 10 * tool.tdqs for tool in after.tools}
    questions = questions_of(
        rewrites, heights=heights, is_enough=lambda: _overall(after, [*_tenths(heights)]) >= target
    )
    return Goal(
        target=target,
        before=before.rollup,
        after=after.rollup,
        with_answers=None if after.rollup.overall is None else _overall(after, [*_tenths(heights)]),
        questions=questions,
    )


def _tenths(heights: dict[int, int]) -> list[int]:
    return [height // 10 for height in heights.values()]


def _overall(score: ServerScore, tools: Sequence[int]) -> int:
    """Return the overall score with the scored tools at other heights, in tenths."""
    counted = [*tools, *score.counted[len(score.tools) :]]
    coherence = score.rollup.coherence or LOWEST
    return overall_of(sum(counted), count=len(counted), lowest=min(counted), coherence=coherence)


def estimate_changes(comparison: Comparison, judged: ServerScore) -> Comparison:
    """Return a comparison by another judge, of whom the old version's verdicts are known: their change is estimated.

    Each tool rises or falls by what the comparison's own judge sees, and so does the overall score.
    """
    changes = {tool.index_before: tool.tdqs_change for tool in comparison.tools}
    moved = {tool.index: _within(tool.tdqs + changes.get(tool.index, 0)) for tool in judged.tools}
    tools = tuple(replace(tool, tdqs=moved[tool.index], tier=tier_of(moved[tool.index])) for tool in judged.tools)
    gain = (comparison.new.rollup.overall or 0) - (comparison.old.rollup.overall or 0)
    rollup = replace(judged.rollup, overall=_within((judged.rollup.overall or 0) + gain))
    before, after = ({tool.index: tool for tool in version} for version in (judged.tools, tools))
    pairs = (
        replace(tool, before=before.get(tool.index_after or 0), after=after.get(tool.index_after or 0))
        for tool in comparison.tools
    )
    return replace(
        comparison,
        old=replace(judged, findings=comparison.old.findings),
        new=replace(judged, tools=tools, rollup=rollup, findings=comparison.new.findings, problems=()),
        tools=tuple(pairs),
    )


def _within(score: int) -> int:
    return min(HIGHEST, max(LOWEST, score))


def undone(rewrite: Rewrite) -> Rewrite:
    """Return a rewrite that leaves the definition as it was."""
    return replace(
        rewrite,
        definition=rewrite.original,
        changes=(),
        claims=(),
        after=rewrite.before,
        tokens_after=rewrite.tokens_before,
        gain=None,
        findings_removed=(),
        findings_added=(),
    )
