"""The ports: a Model completes prompts and knows no rubric, a Judge gives verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """An earlier answer to the same prompt and why it could not be used."""

    answer: str
    reason: str

    @property
    def objection(self) -> str:
        """What the model is told about it."""
        return f"That answer breaks the output format: {self.reason}. Answer again with JSON only, in the format above."


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt, with all that a model needs to answer it in form."""

    prompt: Prompt
    name: str
    """What the schema is called: letters, digits, _ and -, at most 64."""

    schema: Mapping[str, Any]
    """JSON Schema of the answer; a model that can enforce it does."""

    corrections: tuple[Correction, ...] = ()
    """The conversation since the prompt, oldest first."""

    heard: Callable[[str], None] = field(default=lambda _: None, compare=False, repr=False)
    """Told every answer as soon as it is there; a model that cannot tell early need not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The model gave no answer; the reason says what to change."""

    reason: str


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
    """A digest of the endpoint's address and of everything that a request carries besides the prompt."""

    sample: int
    """Which of several answers of one model to one prompt, from 1."""


class Cache(Protocol):
    """Keeps answers that were good; one that is broken or away keeps nothing and stops nobody."""

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""
        ...

    def put(self, key: CacheKey, answer: str) -> None:
        """Keep an answer, for good before this returns."""
        ...


class Model(Protocol):
    """Answers prompts with text."""

    @property
    def name(self) -> str:
        """The model's name at its vendor."""
        ...

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """One answer for each request, in their order; a request that fails disturbs no other."""
        ...


class Judge(Protocol):
    """Gives each case a verdict, in order; a case it cannot grade becomes Ungraded and disturbs no other."""

    @property
    def stamp(self) -> JudgeStamp:
        """Who judges."""
        ...

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """One outcome for each case, in the order of the cases."""
        ...
