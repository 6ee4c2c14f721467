"""Texts that speak to their judge: a model's scores under their eyes count only where facts support them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.facts import hostile
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.judges.judge import Judge, Usage, used
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model.catalog import Tool
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, PromptForm, SetCase, ShadowCase, SkillCase, ToolCase
from tdqs_mcp.rubrics.rubric import load

Detector: TypeAlias = Callable[[Subject], str | None]
"""The words with which a definition speaks to its judge; None where it does not."""

MARGIN = 1
"""Points that a model may give one dimension above the offline judge: of the 1,401 labelled tools 3% got more in any.

The whole may not exceed the upper end of the offline judge's 80% interval, where it states one: a model that was talked
into a point more in every dimension stays within the margin of most, and only one in sixteen within the interval. A
tool set has no such interval, so it has no margin either.
"""

MAX_NAMED = 3
"""Names of one kind that a sentence holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Hands cases on, and withholds a verdict that what the judge was sent seems to have dictated."""

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
        return review(cases, verdicts, addresses=self.addresses, judge=self.stamp)


def review(
    cases: Sequence[Case], verdicts: Sequence[Verdict | Ungraded], *, addresses: Detector, judge: JudgeStamp
) -> list[Verdict | Ungraded]:
    """The verdicts without those on a case that speaks to its judge and got more than facts support."""
    is_hardened = judge.prompt == PromptForm.HARDENED
    return [
        _reviewed(case, verdict, _speech(case, addresses, is_hardened=is_hardened), judge.id)
        if isinstance(verdict, Verdict)
        else verdict
        for case, verdict in zip(cases, verdicts, strict=True)
    ]


def flagged(measured: Measured, addresses: Detector) -> tuple[str, ...]:
    """One sentence for each definition that speaks to its judge, and for names or texts that do beside them."""
    tools = [(subject.tool.name, addresses(subject)) for subject in measured.subjects]
    tools += [(each.tool.name, hostile.spoken(each.tool.raw)) for each in measured.unmeasured]
    found = {repr(name): words for name, words in tools if words}
    names = [name for name in map(repr, measured.steering) if name not in found]
    if names:
        found[f"what calls itself {first_of(names, MAX_NAMED)}"] = next(iter(measured.steering.values()))
    if not found and (words := _spoken(_texts(SetCase(measured=measured)))):
        found["the tool set as a whole"] = words
    return tuple(f"{_said(who, words)}; read it before you trust its score" for who, words in found.items())


def flagged_skill(text: str) -> tuple[str, ...]:
    """The sentence on a skill's text that speaks to its judge."""
    words = hostile.spoken(text)
    return (f"{_said('the skill', words)}; read it before you trust its score",) if words else ()


def _said(who: str, words: str) -> str:
    return f"{who} addresses its judge ({words!r})"


_WHO = {
    "coherence": "a definition of the tool set",
    "skill": "the skill or a definition beside it",
    "shadowing": "a definition of the pairs",
}
"""Who speaks to the judge of several definitions, by the rubric."""


def _speech(case: Case, addresses: Detector, *, is_hardened: bool) -> str | None:
    """What speaks to the judge in all that it is sent for a case; only an exact prompt holds names that steer."""
    if isinstance(case, ToolCase):
        names, who, words = case.steering, "the definition", addresses(case.subject)
        beside = next((name for name in names if name != case.subject.tool.name), None)
    else:
        names, who, words = case.measured.steering, _WHO[case.rubric], _spoken(_texts(case))
        beside = case.measured.catalog.server if case.measured.catalog.server in names else None
    if words:
        return _said(who, words)
    return None if is_hardened or beside is None else _said("a name beside the definition", names[beside])


def _texts(case: SetCase | SkillCase | ShadowCase) -> list[str]:
    """What the judge of several definitions reads of them: names after names, descriptions after descriptions."""
    tools: Sequence[Tool] = case.measured.catalog.tools
    if isinstance(case, ShadowCase):
        pairs = [(each.tool, each.cheaper_sibling) for each in case.measured.shadow_candidates]
        asked = {name for pair in pairs for name in pair}
        tools = [tool for tool in tools if tool.name in asked]
    skill = [case.text] if isinstance(case, SkillCase) else []
    return [*skill, *(tool.name for tool in tools), *(tool.description or "" for tool in tools)]


def _spoken(texts: Sequence[str]) -> str | None:
    """The words with which one of the texts, or what stands in several, speaks to the judge."""
    return next(filter(None, map(hostile.spoken, texts)), None) or hostile.spoken(texts)


def _reviewed(case: Case, verdict: Verdict, speech: str | None, judge: str) -> Verdict | Ungraded:
    if speech is None:
        return verdict
    (bound,) = Offline().verdicts([case])
    if isinstance(bound, Ungraded):
        return _withheld(
            judge,
            speech,
            f"and the offline judge, which cannot be talked to, has no {case.rubric} score to compare with",
        )
    margin = MARGIN if isinstance(case, ToolCase) else 0
    for key, judgement in verdict.judgements.items():
        most = min(5, bound.judgements[key].score + margin)
        if judgement.score > most:
            return _withheld(judge, speech, f"and {key} got {judgement.score}, where facts support at most {most}")
    if bound.outlook is not None and (total := _tenths(case, verdict)) > (high := bound.outlook.high):
        return _withheld(judge, speech, f"and all got {total / 10}, where facts support at most {high / 10}")
    return verdict


def _tenths(case: Case, verdict: Verdict) -> int:
    weights = {dimension.key: dimension.weight for dimension in load(case.rubric).dimensions}
    return round_half_up(sum(weights[key] * each.score for key, each in verdict.judgements.items()), 100)


def _withheld(judge: str, speech: str, why: str) -> Ungraded:
    return Ungraded(
        judge=judge,
        reason=f"withheld as suspicious: {speech} {why}; remove these words, or use the offline judge",
    )
