"""Definitions that speak to their judge: a model's scores for them count only where facts support them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.judges.judge import Judge, Usage, used
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, ToolCase
from tdqs_mcp.rubrics.rubric import load

Detector: TypeAlias = Callable[[Subject], str | None]
"""The words with which a definition speaks to its judge; None where it does not."""

MARGIN = 1
"""Points that a model may give one dimension above the offline judge: of the 1,401 labelled tools 3% got more in any.

The whole may not exceed the upper end of the offline judge's 80% interval, where it states one: a model that was talked
into a point more in every dimension stays within the margin of most, and only one in sixteen within the interval.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Hands cases on, and withholds a verdict that a definition seems to have dictated."""

    judge: Judge
    addresses: Detector

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is guarded."""
        return self.judge.stamp

    @property
    def usage(self) -> Usage | None:
        """What the guarded judge has used."""
        return used(self.judge)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts; Ungraded where one is suspicious."""
        verdicts = await self.judge.grade(cases)
        return review(cases, verdicts, addresses=self.addresses, judge=self.stamp.id)


def review(
    cases: Sequence[Case], verdicts: Sequence[Verdict | Ungraded], *, addresses: Detector, judge: str
) -> list[Verdict | Ungraded]:
    """The verdicts without those on a definition that speaks to its judge and got more than facts support."""
    return [
        _reviewed(case, verdict, words, judge) if words and isinstance(verdict, Verdict) else verdict
        for case, verdict in zip(cases, verdicts, strict=True)
        for words in [addresses(case.subject) if isinstance(case, ToolCase) else None]
    ]


def flagged(cases: Sequence[Case], addresses: Detector) -> tuple[str, ...]:
    """One sentence for each definition that speaks to its judge."""
    tools = [case.subject for case in cases if isinstance(case, ToolCase)]
    found = [(subject.tool.name, addresses(subject)) for subject in tools]
    return tuple(
        f"{name!r} addresses its judge ({words!r}); read it before you trust its score"
        for name, words in found
        if words
    )


def _reviewed(case: Case, verdict: Verdict, words: str, judge: str) -> Verdict | Ungraded:
    (bound,) = Offline().verdicts([case])
    if isinstance(bound, Ungraded):
        return _withheld(
            judge,
            words,
            f"and the offline judge, which cannot be talked to, has no {case.rubric} score to compare with",
        )
    for key, judgement in verdict.judgements.items():
        most = min(5, bound.judgements[key].score + MARGIN)
        if judgement.score > most:
            return _withheld(judge, words, f"and {key} got {judgement.score}, where facts support at most {most}")
    if bound.outlook is not None and (total := _tenths(case, verdict)) > (high := bound.outlook.high):
        return _withheld(judge, words, f"and all got {total / 10}, where facts support at most {high / 10}")
    return verdict


def _tenths(case: Case, verdict: Verdict) -> int:
    weights = {dimension.key: dimension.weight for dimension in load(case.rubric).dimensions}
    return round_half_up(sum(weights[key] * each.score for key, each in verdict.judgements.items()), 100)


def _withheld(judge: str, words: str, why: str) -> Ungraded:
    return Ungraded(
        judge=judge,
        reason=f"withheld as suspicious: the definition addresses its judge ({words!r}) {why}; "
        "remove these words, or use the offline judge",
    )
