"""Answers that came from elsewhere, matched to their tools: by hash where given, else by name and order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.results.verdicts import JudgeStamp, ShadowingRisk, Ungraded, Verdict
from tdqs_mcp.rubrics.answer import confirmed, read_verdict
from tdqs_mcp.rubrics.prompt import Case, SkillCase, ToolCase
from tdqs_mcp.scoring.score import set_case, tool_cases

ANYBODY = JudgeStamp(id="answers", version="1")
"""The judge when the answers' author is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAnswers:
    """Everything `finish` needs, and what could not be used."""

    verdicts: tuple[Verdict | Ungraded, ...]
    coherence: Verdict | Ungraded
    risks: tuple[ShadowingRisk, ...]
    problems: tuple[str, ...]


def match(measured: Measured, answers: object, *, judge: str, rubric: str = "tdqs") -> ExternalAnswers:
    """The answers as verdicts in the order of the rubric's `tool_cases`. Raises InputError for no answers object.

    One bad answer leaves one tool ungraded, with the reason; the others are finished.
    """
    if not isinstance(answers, Mapping) or not isinstance(answers.get("tools", []), list):
        raise InputError('answers must be an object like {"tools": [{"name": …, "answer": …}], "coherence": …}')
    cases = tool_cases(measured, rubric=rubric)
    entries, problems = _assign(cases, answers.get("tools", []))
    missing = Ungraded(judge=judge, reason="no answer was given for this definition")
    risks, refused = confirmed(measured.shadow_candidates, answers.get("shadowing") or [])
    return ExternalAnswers(
        verdicts=tuple(
            _verdict(case, entries[place].get("answer"), judge=judge, label="the answer")
            if place in entries
            else missing
            for place, case in enumerate(cases)
        ),
        coherence=_coherence(measured, answers.get("coherence"), judge),
        risks=tuple(risks),
        problems=(*problems, *(f"a shadowing entry was not used: {why}" for why in refused)),
    )


def match_skill(case: SkillCase, answers: object, *, judge: str) -> Verdict | Ungraded:
    """The verdict in `{"skill": answer}`."""
    if not isinstance(answers, Mapping) or "skill" not in answers:
        return Ungraded(judge=judge, reason="no answer was given for the skill", was_asked=False)
    return _verdict(case, answers["skill"], judge=judge, label="the answer")


def _assign(cases: Sequence[ToolCase], entries: Sequence[Any]) -> tuple[dict[int, Mapping[str, Any]], list[str]]:
    """Case positions to answer entries; every entry is used once or reported."""
    by_hash: dict[str, list[int]] = {}
    by_name: dict[str, list[int]] = {}
    for position, case in enumerate(cases):
        by_hash.setdefault(case.subject.signals.input_hash, []).append(position)
        by_name.setdefault(case.subject.tool.name, []).append(position)
    by_index: dict[int, Mapping[str, Any]] = {}
    problems = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping):
            problems.append(f"answer {number} is not an object and was not used")
            continue
        input_hash = entry.get("inputHash")
        candidates = by_name.get(str(entry.get("name")), []) if input_hash is None else by_hash.get(str(input_hash), [])
        free = next((position for position in candidates if position not in by_index), None)
        if free is None:
            problems.append(f"answer {number} ({entry.get('name')!r}) matches no tool that needs one and was not used")
        else:
            by_index[free] = entry
    return by_index, problems


def _coherence(measured: Measured, answer: object, judge: str) -> Verdict | Ungraded:
    case = set_case(measured)
    if answer is None or case is None:
        return Ungraded(judge=judge, reason="no coherence answer was given", was_asked=False)
    return _verdict(case, answer, judge=judge, label="the coherence answer")


def _verdict(case: Case, answer: object, *, judge: str, label: str) -> Verdict | Ungraded:
    try:
        return read_verdict(case, answer)
    except ContractError as error:
        return Ungraded(judge=judge, reason=f"{label} breaks the output format: {error}")
