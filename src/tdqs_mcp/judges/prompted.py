"""The judge that prompts a model: the one place where model and rubric meet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.judge import Correction, Failure, Metered, Model, Request, Usage
from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.answer import read_set_answer, read_tool_answer, set_answer_schema, tool_answer_schema
from tdqs_mcp.rubrics.prompt import SetCase, ToolCase, render_set, render_tool
from tdqs_mcp.rubrics.rubric import load

MAX_CORRECTIONS = 2
"""How often an answer that breaks the output format goes back with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """Grades by the published prompts, with whatever model it is given."""

    id: str
    """The judge's id in stamps: which kind of model answers."""

    model: Model

    @property
    def stamp(self) -> JudgeStamp:
        """The kind of judge and the model behind it."""
        return JudgeStamp(id=self.id, version="1", model=self.model.name)

    @property
    def usage(self) -> Usage | None:
        """What the model has used; None where it does not count."""
        return self.model.usage if isinstance(self.model, Metered) else None

    async def grade(self, cases: Sequence[ToolCase | SetCase]) -> list[Verdict | Ungraded]:
        """The model's verdicts; a case whose answer fails, or stays out of form, is Ungraded with the reason."""
        outcomes: list[Verdict | Ungraded | Request] = [_request(case) for case in cases]
        for _ in range(1 + MAX_CORRECTIONS):
            asked = {position: each for position, each in enumerate(outcomes) if isinstance(each, Request)}
            answers = await self.model.complete(list(asked.values())) if asked else []
            for (position, request), answer in zip(asked.items(), answers, strict=True):
                outcomes[position] = self._outcome(cases[position], request=request, answer=answer)
        return [self._given_up(each) if isinstance(each, Request) else each for each in outcomes]

    def _outcome(
        self, case: ToolCase | SetCase, *, request: Request, answer: str | Failure
    ) -> Verdict | Ungraded | Request:
        """What the answer is worth; the request to send next, where it breaks the contract."""
        if isinstance(answer, Failure):
            return Ungraded(judge=self.id, reason=answer.reason)
        try:
            return _read(case, answer)
        except ContractError as error:
            correction = Correction(answer=answer, reason=str(error))
            return replace(request, corrections=(*request.corrections, correction))

    def _given_up(self, request: Request) -> Ungraded:
        count, last = len(request.corrections), request.corrections[-1]
        return Ungraded(
            judge=self.id,
            reason=f"{count} answers of {self.model.name!r} broke the output format, the last one because "
            f"{last.reason}; try a stronger model",
        )


def _request(case: ToolCase | SetCase) -> Request:
    if isinstance(case, ToolCase):
        return Request(prompt=render_tool(case), name="tdqs", schema=tool_answer_schema(load("tdqs")))
    return Request(prompt=render_set(case), name="coherence", schema=set_answer_schema(load("coherence")))


def _read(case: ToolCase | SetCase, answer: str) -> Verdict:
    if isinstance(case, ToolCase):
        return read_tool_answer(load("tdqs"), answer)
    return read_set_answer(load("coherence"), answer)
