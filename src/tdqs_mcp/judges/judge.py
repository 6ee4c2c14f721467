"""The ports and what wraps them: a Model completes prompts and knows no rubric, a Judge gives verdicts."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, Prompt, ToolCase

if TYPE_CHECKING:  # a server that starts has nothing to measure yet
    from tdqs_mcp.facts.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """An earlier answer to the same prompt and why it could not be used."""

    answer: str
    reason: str
    fault: str
    """Mistake of the answer, as words behind "the answer"."""

    @property
    def objection(self) -> str:
        """Return what the model is told about it."""
        return f"That answer {self.fault}: {self.reason}. Answer again with JSON only, in the format above."


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey:
    """All that an answer depends on, and nothing secret.

    The prompt's hash stands for the specification's version too: 1.0, 1.1 and 1.2 share their prompts, so they share
    judgements.
    """

    input_hash: str
    """The definition's; empty for a tool set or a skill, which the prompt's hash tells apart."""

    sibling_digest: str
    prompt_hash: str
    rubric: str
    judge: str
    model: str
    parameters: str
    """A digest of the endpoint's address and of everything that a request carries besides the prompt: the form that the
    answer must have, the temperature or effort, the limits, the overrides."""

    sample: int
    """Which of several answers of one model to one prompt, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt, with all that a model needs to answer it in form."""

    prompt: Prompt
    name: str
    """Name of the schema: letters, digits, _ and -, at most 64."""

    schema: Mapping[str, Any]
    """JSON Schema of the answer; a model that can enforce it does."""

    corrections: tuple[Correction, ...] = ()
    """The conversation since the prompt, oldest first."""

    check: Callable[[str], object] = field(default=lambda _: None, compare=False, repr=False)
    """Raises ContractError for a judgement that breaks the format and must not be cached."""

    cache_key: CacheKey | None = field(default=None, compare=False)
    """Key of a judgement, also after corrections; None for any other answer, which has the request's own key."""

    @property
    def conversation(self) -> tuple[tuple[str, str], ...]:
        """Role and text of every message after the system prompt: `user` and `assistant` in turn."""
        later = [
            message
            for correction in self.corrections
            for message in (("assistant", correction.answer), ("user", correction.objection))
        ]
        return (("user", self.prompt.user), *later)

    @property
    def key(self) -> str:
        """16 hex digits over all that the model is told: equal requests may share one answer."""
        return short_hash("\0".join([self.name, self.prompt.system, *(text for _, text in self.conversation)]))


SILENT = Request(prompt=Prompt(system="-", user="-"), name="-", schema={})
"""A request without content, for the digest of what a model sends with every prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The model gave no usable answer; the reason says what to change."""

    reason: str
    fault: str = ""
    """Mistake of its last answer; empty if there was none."""


class AnswersNeeded(Exception):  # noqa: N818  # the design's word: nothing has failed
    """Somebody else must ask the model and then start again with the answers."""

    def __init__(self, requests: Sequence[Request]) -> None:
        """Keep the requests to ask, each once."""
        super().__init__(f"{len(requests)} requests wait for an answer")
        self.requests = tuple({request.key: request for request in requests}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Requests, tokens and cost of a model so far."""

    requests: int = 0
    """Requests sent, those that failed included."""

    input_tokens: int = 0
    """Tokens that the model read, from a prompt cache or not."""

    cache_read_tokens: int = 0
    """Of them, those that were read from a prompt cache."""

    cache_write_tokens: int = 0
    """Of them, those that were written to a prompt cache."""

    output_tokens: int = 0
    cost: int | None = 0
    """Nanodollars; None as soon as one part's price is not known."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


def used(meter: object) -> Usage | None:
    """Return what a model or a judge has used since it was made; None if it does not count."""
    usage: Usage | None = getattr(meter, "usage", None)
    return usage


class Cache(Protocol):
    """Keeps valid answers. A cache that fails keeps nothing and never stops a run."""

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""
        ...

    def put(self, key: CacheKey, answer: str) -> None:
        """Keep an answer; it is stored when this returns."""
        ...

    def claim(self, key: CacheKey) -> AbstractAsyncContextManager[None]:
        """A context in which nobody else asks for this answer; entering it waits for whoever does."""
        ...


class Model(Protocol):
    """Answers prompts with text."""

    @property
    def name(self) -> str:
        """The model's name at its vendor."""
        ...

    async def complete(self, request: Request) -> str | Failure:
        """Return the answer, or why there is none. Many requests may be under way at once."""
        ...


@runtime_checkable
class Batching(Protocol):
    """A model that also takes batches, whose answers come later."""

    async def submit(self, requests: Sequence[Request]) -> str:
        """The id of a new batch, which another process may collect. Raises InputError and EndpointError."""
        ...

    async def collect(self, batch: str, requests: Sequence[Request]) -> list[str | Failure] | None:
        """The answers to these requests, in their order; None while the batch is under way. Raises likewise."""
        ...


def batching(model: Model) -> Batching:
    """The model, where it takes batches. Raises InputError."""
    if not isinstance(model, Batching):
        raise InputError(f"{model.name!r} takes no batches here: name the anthropic judge")
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWrapper:
    """Middleware around a model, with the model's name."""

    model: Model

    @property
    def name(self) -> str:
        """The model that is asked."""
        return self.model.name

    @property
    def usage(self) -> Usage | None:
        """Return what the model has used; None if it does not count."""
        return used(self.model)

    async def submit(self, requests: Sequence[Request]) -> str:
        """The id of the model's new batch. Raises InputError and EndpointError."""
        return await batching(self.model).submit(requests)

    async def collect(self, batch: str, requests: Sequence[Request]) -> list[str | Failure] | None:
        """Return what the model's batch has brought. Raises InputError and EndpointError."""
        return await batching(self.model).collect(batch, requests)


Report: TypeAlias = Callable[[int, int], None]
"""Called with the numbers of new requests and of new answers since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReporter(ModelWrapper):
    """Reports every request and every answer: a slow model needs minutes for all of them."""

    report: Report

    async def complete(self, request: Request) -> str | Failure:
        """The model's answer."""
        self.report(1, 0)
        answer = await self.model.complete(request)
        self.report(0, 1)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCache(ModelWrapper):
    """Asks the model only for answers that are not cached. Without an answer nothing is cached.

    Of judgements only valid ones are. An agent's or a writer's answer is one whatever it is worth: an experiment that
    asked again until the answers can be used would measure another agent.
    """

    cache: Cache
    parameters: str = ""
    """Digest of what else shapes an answer to a request without a cache key."""

    async def complete(self, request: Request) -> str | Failure:
        """The cached answer, else the model's, which is cached as it arrives. Runs at once ask for it once."""
        if (answer := self.find(request)) is not None:  # it also makes the folder that a claim needs
            return answer
        async with self.cache.claim(self._key(request)):
            if (answer := self.find(request)) is not None:  # another run has asked for it meanwhile
                return answer
            outcome = await self.model.complete(request)
            self.keep(request, outcome)
            return outcome

    def find(self, request: Request) -> str | Failure | None:
        """The cached answer, which may be a cut or refused one."""
        answer = self.cache.get(self._key(request))
        if answer is not None and answer.startswith(_UNUSABLE) and request.cache_key is None:
            return Failure(**json.loads(answer.removeprefix(_UNUSABLE)))
        return answer if answer is not None and is_valid(request, answer) else None

    def keep(self, request: Request, answer: str | Failure) -> None:
        """Cache an answer in place of an earlier one."""
        if isinstance(answer, str):
            if is_valid(request, answer):
                self.cache.put(self._key(request), answer)
        elif answer.fault and request.cache_key is None:
            self.cache.put(self._key(request), f"{_UNUSABLE}{json.dumps(asdict(answer))}")

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


_UNUSABLE = "unusable "
"""Before what is cached of an answer that was cut off, refused or empty."""


def is_valid(request: Request, answer: str) -> bool:
    """Return whether an answer has the format that the request asks for."""
    try:
        request.check(answer)
    except ContractError:
        return False
    return True


class Judge(Protocol):
    """Gives each case a verdict, in order; a case it cannot grade becomes Ungraded and disturbs no other."""

    @property
    def stamp(self) -> JudgeStamp:
        """Who judges."""
        ...

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """Return one outcome for each case, in the order of the cases."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeWrapper:
    """Middleware around a judge, with the judge's stamp."""

    judge: Judge

    @property
    def stamp(self) -> JudgeStamp:
        """The judge that is asked."""
        return self.judge.stamp

    @property
    def usage(self) -> Usage | None:
        """Return what the judge has used; None if it does not count."""
        return used(self.judge)


async def grade_missing(
    judge: Judge, cases: Sequence[Case], outcomes: Sequence[Verdict | Ungraded | None]
) -> list[Verdict | Ungraded]:
    """Return one outcome for each case: the given one, and the judge's where that is None. Raises AnswersNeeded."""
    missing = [case for case, outcome in zip(cases, outcomes, strict=True) if outcome is None]
    verdicts = iter(await judge.grade(missing) if missing else ())
    return [next(verdicts) if outcome is None else outcome for outcome in outcomes]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCache(JudgeWrapper):
    """Keeps verdicts on tools while one command scores versions of one catalog, which share most tools.

    A held verdict is kept too: asking again would cost as much and change nothing.
    """

    _kept: dict[tuple[int, str], tuple["Subject", Verdict | Ungraded]] = field(default_factory=dict)
    """By the definition's identity and the rubric; the subject keeps the definition alive."""

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order; it is asked again about what it could not grade. Raises AnswersNeeded."""
        verdicts = await grade_missing(self.judge, cases, [self._find(case) for case in cases])
        for case, verdict in zip(cases, verdicts, strict=True):
            if isinstance(case, ToolCase) and (isinstance(verdict, Verdict) or verdict.held is not ABSENT):
                self._kept[id(case.subject.tool.raw), case.rubric] = case.subject, verdict
        return verdicts

    def _find(self, case: Case) -> Verdict | Ungraded | None:
        entry = self._kept.get((id(case.subject.tool.raw), case.rubric)) if isinstance(case, ToolCase) else None
        return entry[1] if entry else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset(JudgeWrapper):
    """Passes the cases that are meant on and leaves all others ungraded, at no cost."""

    is_meant: Callable[[Case], bool]
    reason: str = "it was not asked for"
    """Why the others are ungraded."""

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts on what is meant, Ungraded elsewhere."""
        skipped = Ungraded(judge=self.stamp.id, reason=self.reason, was_asked=False)
        return await grade_missing(self.judge, cases, [None if self.is_meant(case) else skipped for case in cases])


def tool_at(index: int) -> Callable[[Case], bool]:
    """Means the tool at this position of its catalog."""
    return lambda case: isinstance(case, ToolCase) and case.subject.tool.index == index
