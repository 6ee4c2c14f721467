"""A jury: several judges of the same cases, whose median is the verdict and whose ballots are all reported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tdqs_mcp.canonical import twice_median
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.judges.judge import AnswersNeeded, Judge, Usage, used
from tdqs_mcp.results.verdicts import Ballot, Judgement, JudgeStamp, ShadowCandidate, ShadowingRisk, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case

MAX_REASONS = 3
"""Reasons of jurors that one sentence holds."""

NO_JUROR = "the client's own model cannot sit on a jury; use a profile of kind anthropic or openai in its place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """Grades by the median of its members, of whom more than half must have a verdict.

    A dimension's score is the median, halves upward, because TDQS needs integers. Labels go by the mean (arXiv
    2602.14878: "mean below 3"), although only the median reproduces the prevalences that the
    paper published; both are reported.
    """

    members: tuple[Judge, ...]
    id: str = "jury"
    names: tuple[str, ...] = ()
    """Names of the members, in their order; empty if they have none."""

    @property
    def called(self) -> tuple[str, ...]:
        """The members' names, else their models'."""
        return self.names or tuple(member.stamp.model or member.stamp.id for member in self.members)

    @property
    def stamp(self) -> JudgeStamp:
        """All members in their order."""
        stamps = [member.stamp for member in self.members]
        forms = {stamp.prompt for stamp in stamps} - {None}
        return JudgeStamp(
            id=self.id,
            version="1",
            model=", ".join(stamp.model or stamp.id for stamp in stamps),
            calibration=next((stamp.calibration for stamp in stamps if stamp.calibration), None),
            prompt=forms.pop() if len(forms) == 1 else None,
        )

    @property
    def usage(self) -> Usage | None:
        """Return what the members that count have used together."""
        counts = [count for count in map(used, self.members) if count is not None]
        return sum(counts, Usage()) if counts else None

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """Return one verdict for each case, from the members' own, which are asked all at once."""
        import anyio  # noqa: PLC0415  # the offline judge goes without an event loop

        outcomes_of: dict[int, list[Verdict | Ungraded]] = {}

        async def ask(position: int, member: Judge) -> None:
            try:
                outcomes_of[position] = await member.grade(cases)
            except AnswersNeeded:
                outcomes_of[position] = [Ungraded(judge=member.stamp.id, reason=NO_JUROR)] * len(cases)

        async with anyio.create_task_group() as tasks:
            for position, member in enumerate(self.members):
                tasks.start_soon(ask, position, member)
        rows = zip(*(outcomes_of[position] for position in range(len(self.members))), strict=True)
        return [self._agreed(outcomes) for outcomes in rows]

    def _agreed(self, outcomes: Sequence[Verdict | Ungraded]) -> Verdict | Ungraded:
        ballots = tuple(map(_ballot, [member.stamp for member in self.members], self.called, outcomes))
        verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
        if 2 * len(verdicts) <= len(outcomes):
            reasons = [*dict.fromkeys(f"{ballot.juror}: {ballot.reason}" for ballot in ballots if ballot.reason)]
            faults = [outcome.fault for outcome in outcomes if isinstance(outcome, Ungraded)]
            return Ungraded(
                judge=self.id,
                fault=faults[0] if all(faults) else "",
                reason=f"{len(verdicts)} of {len(outcomes)} jurors gave a verdict, which is not a majority "
                f"({first_of(reasons, MAX_REASONS, separator='; ')})",
            )
        keys = verdicts[0].judgements
        judgements = {key: _middle([verdict.judgements[key] for verdict in verdicts]) for key in keys}
        closest = max(
            verdicts, key=lambda verdict: sum(verdict.judgements[key].score == judgements[key].score for key in keys)
        )
        return replace(
            closest,
            judgements=judgements,
            contradiction=2 * sum(verdict.contradiction for verdict in verdicts) > len(verdicts),
            risks=_confirmed(verdicts),
            label=None,
            asks_for_credentials=2 * sum(verdict.asks_for_credentials for verdict in verdicts) > len(verdicts),
            ballots=ballots,
        )


def silences(tools: Iterable[Sequence[Ballot]]) -> tuple[str, ...]:
    """Return a sentence, with the first reason, for each juror who gave no verdict on tools that the others scored."""
    voted = [ballots for ballots in tools if ballots]
    seats = [[ballot for ballot in seat if ballot.reason] for seat in zip(*voted, strict=True)]
    return tuple(
        f"juror {silent[0].juror!r} gave no verdict on {len(silent)} of {len(voted)} tools that the others scored: "
        f"{silent[0].reason}"
        for silent in seats
        if silent
    )


def median(scores: Sequence[int]) -> int:
    """The median of integers, halves upward. Raises IndexError for none."""
    return (twice_median(scores) + 1) // 2


def _middle(judgements: Sequence[Judgement]) -> Judgement:
    """The median score with the reason of the juror who is nearest to it, the first of equals."""
    score = median([judgement.score for judgement in judgements])
    return replace(min(judgements, key=lambda judgement: abs(judgement.score - score)), score=score)


def _confirmed(verdicts: Sequence[Verdict]) -> tuple[ShadowingRisk, ...]:
    """The shadow candidates that more than half confirm, each with the first juror's reason."""
    by_candidate: dict[ShadowCandidate, list[ShadowingRisk]] = {}
    for verdict in verdicts:
        for risk in verdict.risks:
            by_candidate.setdefault(risk.candidate, []).append(risk)
    return tuple(risks[0] for risks in by_candidate.values() if 2 * len(risks) > len(verdicts))


def _ballot(stamp: JudgeStamp, juror: str, outcome: Verdict | Ungraded) -> Ballot:
    if isinstance(outcome, Ungraded):
        return Ballot(judge=stamp, juror=juror, scores={}, reason=outcome.reason)
    scores = {key: judgement.score for key, judgement in outcome.judgements.items()}
    return Ballot(judge=stamp, juror=juror, scores=scores, contradiction=outcome.contradiction)
