"""The judge that prompts a model: the one place where model and rubric meet."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import ContractError, EndpointError, InputError
from tdqs_mcp.judges.judge import (
    Cache,
    CacheKey,
    Correction,
    Failure,
    JudgeWrapper,
    Model,
    ModelWrapper,
    Request,
    Usage,
    batching,
    report_answer,
    used,
)
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.answer import read_verdict, schema_of
from tdqs_mcp.rubrics.prompt import Case, PromptForm, ToolCase, render, render_hardened


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCache(ModelWrapper):
    """Asks the model only for answers that are not cached; failures and invalid answers are not cached."""

    cache: Cache
    parameters: str = ""
    """Digest of what else shapes an answer to a request without a cache key."""

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """Return an answer for each request, in order. Each is cached as it arrives; equal requests are asked once."""
        cached = {request.key: self.find(request) for request in requests}
        missing = {question.key: self.keeping(question) for question in requests if cached[question.key] is None}
        answers: dict[str, str | Failure] = {key: answer for key, answer in cached.items() if answer is not None}
        while missing:
            claims = await self.cache.claim({self._key(question) for question in missing.values()})
            try:
                claimed = {key: question for key, question in missing.items() if self._key(question) in claims}
                answers |= await self._answers(claimed)
            finally:
                self.cache.release(claims)
            missing = {key: question for key, question in missing.items() if key not in claimed}
        return [answers[request.key] for request in requests]

    async def _answers(self, requests: Mapping[str, Request]) -> dict[str, str | Failure]:
        """The answers that somebody else has got meanwhile, and the model's to all other requests."""
        cached = {key: answer for key, request in requests.items() if (answer := self.find(request)) is not None}
        missing = {key: request for key, request in requests.items() if key not in cached}
        answers = dict(zip(missing, await self.model.complete(list(missing.values())), strict=True)) if missing else {}
        for key, question in missing.items():
            report_answer(question, answers[key])
        return {**cached, **answers}

    def find(self, request: Request) -> str | None:
        """The cached answer, if it is valid."""
        answer = self.cache.get(self._key(request))
        with suppress(ContractError):
            if answer is not None:
                request.check(answer)
            return answer
        return None

    def keeping(self, request: Request) -> Request:
        """The request, whose valid answers are cached as they arrive, each once."""
        stored: set[str] = set()

        def keep(answer: str) -> None:
            request.on_answer(answer)
            if answer in stored:
                return
            stored.add(answer)
            with suppress(ContractError):
                request.check(answer)
                self.cache.put(self._key(request), answer)

        return replace(request, on_answer=keep)

    def _key(self, request: Request) -> CacheKey:
        return request.cache_key or CacheKey(
            input_hash="",
            sibling_digest="",
            prompt_hash=request.key,
            rubric=request.name,
            judge="writer",
            model=self.name,
            parameters=self.parameters,
            sample=1,
        )


MAX_CORRECTIONS = 2
"""How often an invalid answer is sent back with the reason."""

MAX_ANSWER = 20_000
"""Characters of one answer that is kept: four times what a verdict with long reasons takes."""

Outcome = TypeVar("Outcome")

CheckedRequest: TypeAlias = tuple[Request, Callable[[str], Outcome]]
"""What is asked, and what reads the answer; it raises ContractError for one that cannot be used."""


async def ask(model: Model, questions: Sequence[CheckedRequest[Outcome]]) -> list[Outcome | Failure]:
    """Return what is read from the answer to each question, in their order. A round asks for all that is open.

    An answer that cannot be used goes back with the reason, MAX_CORRECTIONS times at most; then it is a Failure.
    """
    outcomes: list[Outcome | Failure | Request] = [request for request, _ in questions]
    for _ in range(1 + MAX_CORRECTIONS):
        pending = {place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, Request)}
        answers = await model.complete(list(pending.values())) if pending else []
        for (place, request), answer in zip(pending.items(), answers, strict=True):
            outcomes[place] = _outcome(request, answer, questions[place][1])
    return [_given_up(outcome, model.name) if isinstance(outcome, Request) else outcome for outcome in outcomes]


def _outcome(request: Request, answer: str | Failure, read: Callable[[str], Outcome]) -> Outcome | Failure | Request:
    """Return what the answer is worth; the request to send next, where it cannot be used."""
    if isinstance(answer, Failure):
        return answer
    report_answer(request, answer)
    try:
        return read(answer)
    except ContractError as error:
        correction = Correction(answer=answer, reason=str(error), fault=error.fault)
        return replace(request, corrections=(*request.corrections, correction))


def _given_up(request: Request, name: str) -> Failure:
    count, last = len(request.corrections), request.corrections[-1]
    reason = f"{count} answers of {name!r} {last.fault}, the last one because {last.reason}; try a stronger model"
    return Failure(reason=reason, fault=last.fault)


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
        """Return what the model has used; None where it does not count."""
        return used(self.model)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The model's verdicts; a case whose answer fails, or stays out of form, is Ungraded with the reason."""
        answers = await ask(
            self._answers or self.model, [(self._request(case), partial(read_verdict, case)) for case in cases]
        )
        return [
            Ungraded(judge=self.id, reason=answer.reason) if isinstance(answer, Failure) else answer
            for answer in answers
        ]

    def open(self, cases: Sequence[Case]) -> list[Request]:
        """Return the requests about the cases. Skip cached ones; cache valid answers."""
        requests, answers = map(self._request, cases), self._answers
        return (
            [answers.keeping(request) for request in requests if answers.find(request) is None]
            if answers
            else [*requests]
        )

    def is_cached(self, case: Case) -> bool:
        """Return whether a valid answer to the case is cached."""
        return self._answers is not None and self._answers.find(self._request(case)) is not None

    def keep(self, case: Case, answer: object) -> Verdict:
        """The verdict in an answer, which is cached from now on in place of an earlier one.

        Raises ContractError for one that is out of form, too long, or quoted from the definition.
        """
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if len(text) > MAX_ANSWER:
            raise ContractError(f"the answer has {len(text)} characters, more than {MAX_ANSWER}; give shorter reasons")
        verdict = read_verdict(case, answer)
        if answers := self._answers:
            answers.keeping(self._request(case)).on_answer(text)
        return verdict

    @property
    def _answers(self) -> AnswerCache | None:
        return AnswerCache(model=self.model, cache=self.cache) if self.cache else None

    def _request(self, case: Case) -> Request:
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
        graded = iter(
            await self.judge.grade([case for case, is_cached in zip(cases, cached, strict=True) if is_cached])
        )
        reason = await self._submit([case for case, is_cached in zip(cases, cached, strict=True) if not is_cached])
        open_case = Ungraded(judge=self.judge.id, reason=reason)
        return [next(graded) if is_cached else open_case for is_cached in cached]

    async def _submit(self, cases: Sequence[Case]) -> str:
        """Why the cases have no verdict."""
        requests = {request.key: request for request in self.judge.open(cases)}
        if requests and self.keep is not None:
            try:
                batch = await batching(self.judge.model).submit(list(requests.values()))
            except (InputError, EndpointError) as error:
                return str(error)
            self.keep(Batch.of(self.judge, batch=batch, rubric="tdqs").model_dump_json())
        return WAITING


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
