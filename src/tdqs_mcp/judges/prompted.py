"""The judge that prompts a model: the one place where model and rubric meet."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.judge import Cache, CacheKey, Correction, Failure, Model, Request, Usage, tell, used
from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.answer import answer_schema, read_answer
from tdqs_mcp.rubrics.evidence import verify
from tdqs_mcp.rubrics.prompt import Case, Prompt, PromptForm, ToolCase, render, render_hardened, texts
from tdqs_mcp.rubrics.rubric import load

MAX_CORRECTIONS = 2
"""How often an answer that breaks the output format goes back with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """Grades by the published prompts, with whatever model it is given."""

    id: str
    """The judge's id in stamps: which kind of model answers."""

    model: Model
    form: PromptForm = PromptForm.HARDENED
    cache: Cache | None = None
    """Where good answers are kept and looked up."""

    parameters: str = ""
    """Digest of what else shapes an answer; only answers made under equal parameters are taken from the cache."""

    sample: int = 1
    """Which of several answers of this model this judge asks for."""

    @property
    def stamp(self) -> JudgeStamp:
        """The kind of judge, the model behind it and the prompt that it gets."""
        return JudgeStamp(id=self.id, version="1", model=self.model.name or None, prompt=self.form)

    @property
    def usage(self) -> Usage | None:
        """What the model has used; None where it does not count."""
        return used(self.model)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The model's verdicts; a case whose answer fails, or stays out of form, is Ungraded with the reason."""
        outcomes: list[Verdict | Ungraded | Request] = [self.remembered(case) or self._request(case) for case in cases]
        for _ in range(1 + MAX_CORRECTIONS):
            asked = {position: each for position, each in enumerate(outcomes) if isinstance(each, Request)}
            answers = await self.model.complete(list(asked.values())) if asked else []
            for (position, request), answer in zip(asked.items(), answers, strict=True):
                outcomes[position] = self._outcome(cases[position], request=request, answer=answer)
        return [self._given_up(each) if isinstance(each, Request) else each for each in outcomes]

    def remembered(self, case: Case) -> Verdict | None:
        """The verdict in the answer that is kept for the case; None where there is none in form."""
        answer = self.cache.get(self._key(case)) if self.cache else None
        try:
            return None if answer is None else read(case, answer)
        except ContractError:
            return None

    def keep(self, case: Case, answer: str) -> None:
        """Keeps an answer to the case in place of an earlier one. Raises ContractError for one out of form."""
        if self.cache:
            read(case, answer)
            self.cache.put(self._key(case), answer)

    def _request(self, case: Case) -> Request:
        rubric = load(case.rubric)
        return Request(prompt=self._prompt(case), name=rubric.key, schema=answer_schema(rubric), heard=self._keep(case))

    def _prompt(self, case: Case) -> Prompt:
        return render_hardened(case) if self.form is PromptForm.HARDENED else render(case)

    def _keep(self, case: Case) -> Callable[[str], None]:
        """Keeps an answer that is in form: what is not would be asked for again anyway."""

        def keep(answer: str) -> None:
            with suppress(ContractError):
                self.keep(case, answer)

        return keep

    def _key(self, case: Case) -> CacheKey:
        return CacheKey(
            input_hash=case.subject.signals.input_hash if isinstance(case, ToolCase) else "",
            sibling_digest=short_hash("\0".join(case.names)) if isinstance(case, ToolCase) else "",
            prompt_hash=self._prompt(case).hash,
            rubric=case.rubric,
            judge=self.id,
            model=self.model.name,
            parameters=self.parameters,
            sample=self.sample,
        )

    def _outcome(self, case: Case, *, request: Request, answer: str | Failure) -> Verdict | Ungraded | Request:
        """What the answer is worth; the request to send next, where it breaks the contract."""
        if isinstance(answer, Failure):
            return Ungraded(judge=self.id, reason=answer.reason)
        tell(request, answer)
        try:
            return read(case, answer)
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


def read(case: Case, answer: object) -> Verdict:
    """The verdict in an answer, its quotations looked up in the definition. Raises ContractError."""
    return verify(case, read_answer(load(case.rubric), answer, seen=texts(case)))
