"""The judge that prompts a model: the one place where model and rubric meet."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.correction import ask
from tdqs_mcp.judges.judge import Cache, CacheKey, Failure, Model, Request, Usage, used
from tdqs_mcp.judges.memory import keeper
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.form import read, schema
from tdqs_mcp.rubrics.prompt import Case, Prompt, PromptForm, ToolCase, render, render_hardened


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
    """Digest of what the model sends along; only answers made under equal parameters are taken from the cache."""

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
        known = [self._remembered_or_asked(case) for case in cases]
        pairs = zip(known, cases, strict=True)
        answers = iter(
            await ask(self.model, [(each, partial(read, case)) for each, case in pairs if isinstance(each, Request)])
        )
        return [self._judged(next(answers)) if isinstance(each, Request) else each for each in known]

    def open(self, cases: Sequence[Case]) -> list[Request]:
        """What the model would be asked about the cases: nothing whose answer is kept."""
        return [each for each in map(self._remembered_or_asked, cases) if isinstance(each, Request)]

    def remembered(self, case: Case) -> Verdict | None:
        """The verdict in the answer that is kept for the case; None where there is none in form."""
        return self._known(case, self._key(case, self._prompt(case)))

    def keep(self, case: Case, answer: str) -> None:
        """Keeps an answer to the case in place of an earlier one. Raises ContractError for one out of form."""
        if self.cache:
            read(case, answer)
            self.cache.put(self._key(case, self._prompt(case)), answer)

    def _remembered_or_asked(self, case: Case) -> Verdict | Request:
        """The verdict that the cache has, or what to ask the model; a prompt is rendered once."""
        prompt = self._prompt(case)
        key = self._key(case, prompt)
        request = Request(prompt=prompt, name=case.rubric, schema=schema(case), check=partial(read, case))
        if self.cache is None:
            return request
        return self._known(case, key) or replace(request, heard=keeper(self.cache, key, request))

    def _known(self, case: Case, key: CacheKey) -> Verdict | None:
        answer = self.cache.get(key) if self.cache else None
        try:
            return None if answer is None else read(case, answer)
        except ContractError:
            return None

    def _prompt(self, case: Case) -> Prompt:
        return render_hardened(case) if self.form is PromptForm.HARDENED else render(case)

    def _key(self, case: Case, prompt: Prompt) -> CacheKey:
        return CacheKey(
            input_hash=case.subject.signals.input_hash if isinstance(case, ToolCase) else "",
            sibling_digest=short_hash("\0".join(case.names)) if isinstance(case, ToolCase) else "",
            prompt_hash=prompt.hash,
            rubric=case.rubric,
            judge=self.id,
            model=self.model.name,
            parameters=short_hash(json.dumps([self.parameters, schema(case)])),
            sample=self.sample,
        )

    def _judged(self, answer: Verdict | Failure) -> Verdict | Ungraded:
        return Ungraded(judge=self.id, reason=answer.reason) if isinstance(answer, Failure) else answer
