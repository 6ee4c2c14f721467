"""The judge that prompts a model: the one place where model and rubric meet."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from pydantic import BaseModel, ConfigDict, ValidationError

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import EndpointError, InputError
from tdqs_mcp.judges.asking import MAX_CORRECTIONS, ask
from tdqs_mcp.judges.judge import (
    AnswerCache,
    Cache,
    CacheKey,
    Failure,
    JudgeWrapper,
    Model,
    Request,
    Usage,
    batching,
    grade_missing,
    used,
)
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.answer import read_verdict, schema_of
from tdqs_mcp.rubrics.prompt import Case, PromptForm, ToolCase, render, render_hardened


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

    corrections: int = MAX_CORRECTIONS
    """How often an invalid answer is sent back."""

    sample: int = 1
    """Which of several answers of this model this judge asks for."""

    @property
    def stamp(self) -> JudgeStamp:
        """The kind of judge, the model behind it and the prompt that it gets."""
        return JudgeStamp(id=self.id, version="1", model=self.model.name or None, prompt=self.form)

    @property
    def usage(self) -> Usage | None:
        """Return what the model has used; None where it does not count."""
        return used(self.model)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The model's verdicts; a case whose answer fails, or stays out of form, is Ungraded with the reason."""
        reads = [lru_cache(1)(partial(read_verdict, case)) for case in cases]  # for the cache, and then for the outcome
        questions = [(replace(self.request(case), check=read), read) for case, read in zip(cases, reads, strict=True)]
        outcomes = await ask(self._answers or self.model, questions, corrections=self.corrections)
        return [
            Ungraded(judge=self.id, reason=outcome.reason, fault=outcome.fault)
            if isinstance(outcome, Failure)
            else outcome
            for outcome in outcomes
        ]

    def is_cached(self, case: Case) -> bool:
        """Return whether a valid answer to the case is cached."""
        return self._answers is not None and self._answers.find(self.request(case)) is not None

    def keep(self, case: Case, answer: object) -> Verdict:
        """The verdict in an answer, which is cached from now on in place of an earlier one.

        Raises ContractError for one that is out of form, or quoted from the definition.
        """
        verdict = read_verdict(case, answer)
        if self._answers:
            self._answers.keep(self.request(case), answer if isinstance(answer, str) else json.dumps(answer))
        return verdict

    @property
    def _answers(self) -> AnswerCache | None:
        return AnswerCache(model=self.model, cache=self.cache) if self.cache else None

    def request(self, case: Case) -> Request:
        """Return what the model is asked about a case."""
        prompt = render_hardened(case) if self.form is PromptForm.HARDENED else render(case)
        schema = schema_of(case)
        key = CacheKey(
            input_hash=case.subject.signals.input_hash if isinstance(case, ToolCase) else "",
            sibling_digest=short_hash("\0".join(case.names)) if isinstance(case, ToolCase) else "",
            prompt_hash=prompt.hash,
            rubric=case.rubric,
            judge=self.id,
            model=self.model.name,
            parameters=short_hash(json.dumps([self.parameters, schema])),
            sample=self.sample,
        )
        return Request(prompt=prompt, name=case.rubric, schema=schema, check=partial(read_verdict, case), cache_key=key)


WAITING = "its batch is under way; the next sweep collects the answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batched(JudgeWrapper):
    """Grades what has a cached answer, and submits the rest as a batch, whose answers come later."""

    judge: Prompted
    keep: Callable[[str], None] | None
    """Called with what it takes to collect the batch; None where nothing may be submitted."""

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The verdicts that are there; what is submitted now or waits for its answer is Ungraded."""
        cached = [self.judge.is_cached(case) for case in cases]
        reason = await self._submit([case for case, is_cached in zip(cases, cached, strict=True) if not is_cached])
        waiting = Ungraded(judge=self.judge.id, reason=reason)
        return await grade_missing(self.judge, cases, [None if is_cached else waiting for is_cached in cached])

    async def _submit(self, cases: Sequence[Case]) -> str:
        """Why the cases have no verdict."""
        if cases and self.keep is not None:
            try:
                self.keep(await submit(self.judge, cases, rubric="tdqs"))
            except (InputError, EndpointError) as error:
                return str(error)
        return WAITING


async def submit(judge: Prompted, cases: Sequence[Case], *, rubric: str) -> str:
    """Submit a batch about these cases; return JSON to write down. Raises InputError and EndpointError."""
    requests = {request.key: request for request in map(judge.request, cases)}
    batch = await batching(judge.model).submit(list(requests.values()))
    return Batch.of(judge, batch=batch, rubric=rubric).model_dump_json()


class Batch(BaseModel):
    """A batch of one judge's requests."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    rubric: str
    model: str
    prompt: PromptForm
    parameters: str

    @classmethod
    def of(cls, judge: Prompted, *, batch: str, rubric: str) -> "Batch":
        """Return what this judge has submitted under an id."""
        return cls(id=batch, rubric=rubric, model=judge.model.name, prompt=judge.form, parameters=judge.parameters)


def read_batch(text: str, *, judge: Prompted) -> Batch:
    """The batch that was written down. Raises InputError for none, and for another judge's."""
    try:
        batch = Batch.model_validate_json(text)
    except ValidationError as error:
        raise InputError("this is not a batch: give the JSON that submit_batch gave") from error
    if batch != Batch.of(judge, batch=batch.id, rubric=batch.rubric):
        raise InputError(
            f"this batch asks {batch.model!r} with its {batch.prompt} prompt and parameters of its own: collect it "
            "with the judge that submitted it"
        )
    return batch
