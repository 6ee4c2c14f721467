"""Verdicts from answers that came from elsewhere; those about tools are matched by hash where given, else by name."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.results.tool_code import CodeSlice
from tdqs_mcp.results.verdicts import JudgeStamp, ShadowCandidate, Ungraded, Verdict
from tdqs_mcp.rubrics.answer import check_remarks, confirmed, read_verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ShadowCase, ToolCase

ANYBODY = JudgeStamp(id="answers", version="1")
"""The judge when the answers' author is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalAnswers:
    """Answers to the published prompts, as a judge. One bad answer leaves one case ungraded, with the reason."""

    answers: Mapping[str, Any]
    """An object like `{"tools": [{"name": …, "answer": …}], "coherence": …, "shadowing": […], "skill": …}`.

    `model` in it names who answered.
    """

    stamp: JudgeStamp = ANYBODY

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """Return one verdict for each case, in order."""
        entries, _ = self._assign(cases)
        return [self._verdict(case, entries.get(place)) for place, case in enumerate(cases)]

    def problems(self, cases: Sequence[Case], candidates: Sequence[ShadowCandidate]) -> tuple[str, ...]:
        """Return a sentence for each answer that no case, and no shadow candidate, can use."""
        entries, unused = self._assign(cases)
        for place, entry in entries.items():
            unused += self._refused_remarks(cases[place], entry.get("answer"))
        _, refused = confirmed(candidates, self.answers.get("shadowing") or [])
        return (*unused, *(f"a shadowing entry was not used: {reason}" for reason in refused))

    def _verdict(self, case: Case, entry: Mapping[str, Any] | None) -> Verdict | Ungraded:
        if isinstance(case, ToolCase):
            missing = Ungraded(judge=self.stamp.id, reason="no answer was given for this definition")
            if entry is not None and case.code is not None:
                return self._read_remarks(case, case.code, entry.get("answer"))
            return missing if entry is None else self._read(case, entry.get("answer"), label="the answer")
        if isinstance(case, ShadowCase):
            risks, _ = confirmed(case.measured.shadow_candidates, self.answers.get("shadowing") or [])
            return (
                Verdict(judgements={}, summary="", risks=tuple(risks))
                if risks
                else self._unasked("no shadow candidate was confirmed")
            )
        if isinstance(case, SetCase):
            answer = self.answers.get("coherence")
            return (
                self._unasked("no coherence answer was given")
                if answer is None
                else self._read(case, answer, label="the coherence answer")
            )
        if "skill" not in self.answers:
            return self._unasked("no answer was given for the skill")
        return self._read(case, self.answers["skill"], label="the answer")

    def _read(self, case: Case, answer: object, *, label: str) -> Verdict | Ungraded:
        try:
            return read_verdict(case, answer)
        except ContractError as error:
            return Ungraded(judge=self.stamp.id, reason=f"{label} breaks the output format: {error}")

    def _read_remarks(self, case: ToolCase, code: CodeSlice, answer: object) -> Verdict | Ungraded:
        """The findings that are accepted; `problems` has the others."""
        try:
            remarks, _ = check_remarks(case, code, answer)
        except ContractError as error:
            return Ungraded(judge=self.stamp.id, reason=f"the answer breaks the output format: {error}")
        return Verdict(judgements={}, summary="", remarks=tuple(remarks))

    def _refused_remarks(self, case: Case, answer: object) -> list[str]:
        if not isinstance(case, ToolCase) or case.code is None:
            return []
        with suppress(ContractError):  # then there is no verdict, with the reason
            _, refused = check_remarks(case, case.code, answer)
            return [f"{case.subject.tool.name!r}, {reason}" for reason in refused]
        return []

    def _unasked(self, reason: str) -> Ungraded:
        return Ungraded(judge=self.stamp.id, reason=reason, was_asked=False)

    def _assign(self, cases: Sequence[Case]) -> tuple[dict[int, Mapping[str, Any]], list[str]]:
        """Return the entries about tools by the case's position, and why others are not used; each is used once."""
        by_hash: dict[str, list[int]] = {}
        by_name: dict[str, list[int]] = {}
        for position, case in enumerate(cases):
            if isinstance(case, ToolCase):
                by_hash.setdefault(case.subject.signals.input_hash, []).append(position)
                by_name.setdefault(case.subject.tool.name, []).append(position)
        entries: dict[int, Mapping[str, Any]] = {}
        problems = []
        for number, entry in enumerate(self.answers.get("tools", []), start=1):
            if not isinstance(entry, Mapping):
                problems.append(f"answer {number} is not an object and was not used")
                continue
            name, input_hash = entry.get("name"), entry.get("inputHash")
            candidates = by_name.get(str(name), []) if input_hash is None else by_hash.get(str(input_hash), [])
            # Tools may share a name, or all of a definition: the first answer is about the first of them.
            free = next((position for position in candidates if position not in entries), None)
            if free is None:
                problems.append(f"answer {number} ({name!r}) matches no tool that needs one and was not used")
            else:
                entries[free] = entry
        return entries, problems


def read_external(answers: object) -> ExternalAnswers:
    """Return the answers in an object. Raises InputError for anything else."""
    if not isinstance(answers, Mapping) or not isinstance(answers.get("tools", []), list):
        raise InputError('answers must be an object like {"tools": [{"name": …, "answer": …}], "coherence": …}')
    model = answers.get("model")
    named = replace(ANYBODY, model=model) if isinstance(model, str) and model.strip() else ANYBODY
    return ExternalAnswers(answers=answers, stamp=named)
