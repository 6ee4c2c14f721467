"""The cheapest set of rewrites that reaches an overall score, under the exact roll-up of TDQS 1.2."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.errors import InputError
from tdqs_mcp.results.findings import Finding, by_tool
from tdqs_mcp.results.improvements import Advice, Plan, PlannedFix, Rewrite, Room, WhatIf, WhatIfOutcome
from tdqs_mcp.results.scores import ServerScore, ToolScore
from tdqs_mcp.results.verdicts import Tier, tier_of
from tdqs_mcp.rewriting.targets import HIGHEST, LOWEST
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import overall_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A tool as it is and as its rewrite would make it."""

    before: int
    """TDQS in tenths."""

    after: int
    """The same as before where there is no rewrite; never lower."""

    tokens: int
    """What the rewrite adds; one that saves tokens costs nothing."""


Attempt = tuple[tuple[Rewrite, ...], ServerScore]
"""Rewrites that were applied, and the server's score with them."""


def choose(score: ServerScore, rewrites: Iterable[Rewrite], *, target: int, coherence: int) -> tuple[Rewrite, ...]:
    """The cheapest rewrites that reach the overall score; all that help where none do, so that only writing is left."""
    by_index = {rewrite.index: rewrite for rewrite in rewrites}
    tools = [_candidate(tool, by_index.get(tool.index)) for tool in score.tools]
    positions = cheapest(tools, target=target, coherence=coherence)
    if positions is None:
        positions = tuple(place for place, tool in enumerate(tools) if tool.after > tool.before)
    return tuple(by_index[score.tools[position].index] for position in positions)


def cheapest(tools: Sequence[Candidate], *, target: int, coherence: int) -> tuple[int, ...] | None:
    """The positions whose rewrites reach the overall score at the lowest cost; None where all of them do not.

    The cost is the tokens that are added, then the number of tools, then their order. For every height that the lowest
    tool may have, all tools below it are rewritten and the others fill up the sum: one dynamic programme over the gain
    in tenths serves all heights, for it takes the tools in from the highest.
    """
    count, start = len(tools), sum(tool.before for tool in tools)
    most = sum(tool.after - tool.before for tool in tools)
    prices = [_price(tool, position, count) for position, tool in enumerate(tools)]
    order = sorted(range(count), key=lambda position: -tools[position].before)
    costs: list[int | None] = [0]  # the lowest price of each gain in tenths, None where no set has it
    best: int | None = None
    steps = 0
    for height in sorted({score for tool in tools for score in (tool.before, tool.after)}, reverse=True):
        while steps < count and tools[order[steps]].before >= height:
            costs = _with(costs, tools[order[steps]], prices[order[steps]])
            steps += 1
        low = order[steps:]
        if any(tools[position].after < height for position in low):
            continue
        gained = sum(tools[position].after - tools[position].before for position in low)
        overall = partial(overall_of, count=count, lowest=height, coherence=coherence)
        needed = bisect_left(range(start, start + HIGHEST * count + 1), target, key=overall)
        if needed > most:
            continue
        rest = min((cost for cost in costs[max(0, needed - gained) :] if cost is not None), default=None)
        if rest is not None:
            price = rest + sum(prices[position] for position in low)
            best = price if best is None else min(best, price)
    return None if best is None else _positions(best, count)


def plan(attempts: Sequence[Attempt], *, target: int, rewrites: Iterable[Rewrite]) -> Plan:
    """The cheapest attempt that reaches the target, else the one that leaves the least to write, and what that is.

    Its rewrites are ranked by expected gain per token. The first attempt has no rewrites. One that got no overall score
    is none, and the plan says so.
    """
    scored = [attempt for attempt in attempts if attempt[1].rollup.overall is not None]
    is_open = len(scored) < len(attempts)

    def rank(attempt: Attempt) -> tuple[int, tuple[int, int]]:
        applied, score = attempt
        short = max(0, target - (score.rollup.overall or 0))
        cost = sum(map(_tokens, applied)), len(applied)
        return short, (-sum(tool.tdqs for tool in score.tools), 0) if short else cost

    (_, before), (applied, after) = attempts[0], min(scored, key=rank)
    overall, coherence = after.rollup.overall, after.rollup.coherence
    advice: tuple[Advice, ...] = ()
    with_answers = None
    if overall is not None and coherence is not None and overall < target:
        level = _level(after.counted, target=target, coherence=coherence)
        advice = () if level is None else _advice(after, level, rewrites)
        with_answers = _with_answers(after, advice, coherence)
    return Plan(
        server=before.server,
        judge=before.judge,
        target=target,
        before=before.rollup,
        after=after.rollup,
        fixes=_fixes(applied),
        advice=advice,
        problems=(*before.problems, *([_OPEN] if is_open else [])),
        with_answers=with_answers,
        is_open=is_open,
    )


def _fixes(rewrites: Iterable[Rewrite]) -> tuple[PlannedFix, ...]:
    """The rewrites with what they are expected to bring, the most per token first; those that save tokens lead."""
    steps = [
        PlannedFix(rewrite=rewrite, before=rewrite.before, after=rewrite.after, gain=rewrite.gain)
        for rewrite in rewrites
        if rewrite.before and rewrite.after
    ]

    def rank(fix: PlannedFix) -> tuple[bool, Fraction]:
        gain = fix.gain.expected if fix.gain else 10 * (fix.after.tdqs - fix.before.tdqs)
        return fix.tokens_added > 0, -Fraction(gain, max(1, fix.tokens_added))

    return tuple(sorted(steps, key=rank))


_OPEN = "the judge gave the server with some of the rewrites no overall score: this is the best of what it did score"


def what_if(score: ServerScore, rewrite: Rewrite) -> WhatIf:
    """The overall score with one tool at its rewrite's height, at each tier's floor above it now, and at 5.0.

    Raises InputError for a tool that has no score.
    """
    tool = next((scored_tool for scored_tool in score.tools if scored_tool.index == rewrite.index), None)
    if tool is None:
        raise InputError(f"the judge gave {rewrite.name!r} no score to start from; ask again, or name another judge")
    coherence = score.rollup.coherence or LOWEST
    reached = rewrite.after.tdqs if rewrite.changes and rewrite.after else None
    heights = {tier.floor for tier in Tier} | {HIGHEST} | ({reached} if reached else set())
    counted = score.counted
    counted.remove(tool.tdqs)
    overall = {height: _overall([*counted, height], coherence) for height in sorted(heights | {tool.tdqs})}
    return WhatIf(
        server=score.server,
        judge=score.judge,
        tool=tool,
        overall=overall[tool.tdqs],
        tokens_added=rewrite.tokens_added,
        outcomes=tuple(
            WhatIfOutcome(tdqs=height, tier=tier_of(height), is_rewrite=height == reached, overall=reaches)
            for height, reaches in overall.items()
            if height > tool.tdqs
        ),
    )


def _level(scores: Sequence[int], *, target: int, coherence: int) -> int | None:
    """The lowest TDQS that is enough if every tool below it is raised to it; None where 5.0 is not."""

    def overall(height: int) -> int:
        return _overall([max(score, height) for score in scores], coherence)

    level = bisect_left(range(HIGHEST + 1), target, key=overall)
    return level if level <= HIGHEST else None


def _overall(scores: Sequence[int], coherence: int) -> int:
    return overall_of(sum(scores), count=len(scores), lowest=min(scores), coherence=coherence)


def _advice(score: ServerScore, level: int, rewrites: Iterable[Rewrite]) -> tuple[Advice, ...]:
    """Every tool below the wanted TDQS, the lowest first."""
    questions = {rewrite.index: rewrite.questions for rewrite in rewrites}
    findings = by_tool(score.findings)
    low = sorted((tool for tool in score.tools if tool.tdqs < level), key=lambda tool: (tool.tdqs, tool.index))
    advised = ((tool, _rooms(tool, findings.get(tool.index, []))) for tool in low)
    return tuple(
        Advice(tool=tool, wanted=level, rooms=rooms, questions=questions.get(tool.index, ())) for tool, rooms in advised
    )


def _with_answers(score: ServerScore, advice: Iterable[Advice], coherence: int) -> int:
    """The overall score if every question brought its tools an equal part of what it can bring at most."""
    gains = {
        item.tool.index: sum(question.gain // len(question.tools) for question in item.questions) for item in advice
    }
    raised = [min(HIGHEST, tool.tdqs + round_half_up(gains.get(tool.index, 0), 100)) for tool in score.tools]
    return _overall([*raised, *score.counted[len(raised) :]], coherence)


def _candidate(tool: ToolScore, rewrite: Rewrite | None) -> Candidate:
    after = rewrite.after.tdqs if rewrite and rewrite.changes and rewrite.before and rewrite.after else tool.tdqs
    return Candidate(before=tool.tdqs, after=max(tool.tdqs, after), tokens=_tokens(rewrite) if rewrite else 0)


def _tokens(rewrite: Rewrite) -> int:
    """Return what it adds; one that saves costs nothing."""
    return max(0, rewrite.tokens_added)


def _price(tool: Candidate, position: int, count: int) -> int:
    """Tokens, then one tool, then the position, in one number that adds up.

    The lowest `count` bits are taken off, one for each tool, the first tool's the highest: of two sets that cost the
    same, the one with the earlier tools is the smaller number, and the bits say which tools are in it.
    """
    return ((tool.tokens * (count + 1) + 1) << count) - (1 << (count - 1 - position))


def _positions(price: int, count: int) -> tuple[int, ...]:
    bits = -price & ((1 << count) - 1)
    return tuple(position for position in range(count) if bits >> (count - 1 - position) & 1)


def _with(costs: Sequence[int | None], tool: Candidate, price: int) -> list[int | None]:
    """The lowest price of each gain when one more tool may be rewritten."""
    gain = tool.after - tool.before
    if not gain:
        return list(costs)
    longer = [*costs, *[None] * gain]
    for place, cost in enumerate(costs):
        if cost is not None:
            lowest, new = longer[place + gain], cost + price
            longer[place + gain] = new if lowest is None else min(lowest, new)
    return longer


def _rooms(tool: ToolScore, findings: Sequence[Finding]) -> tuple[Room, ...]:
    worst: dict[str | None, Finding] = {}
    for finding in sorted(findings, key=lambda defect: -defect.severity.rank):
        worst.setdefault(finding.dimension, finding)
    judged = ((dimension, tool.judgements[dimension.key]) for dimension in load("tdqs").dimensions)
    aspects = [
        Room(
            dimension=dimension.key,
            score=judgement.score,
            gain=dimension.weight,
            reason=judgement.justification,
            finding=worst.get(dimension.key),
        )
        for dimension, judgement in judged
        if judgement.score < 5  # the highest score of the rubric
    ]
    return tuple(sorted(aspects, key=lambda room: (room.gain * (room.score - 5), room.dimension)))
