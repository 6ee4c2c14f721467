"""The ports: a Model completes prompts and knows no rubric, a Judge gives verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tdqs_mcp.model.results import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Prompt, SetCase, ToolCase


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The model gave no answer; the reason says what to change."""

    reason: str


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

    async def grade(self, cases: Sequence[ToolCase | SetCase]) -> list[Verdict | Ungraded]:
        """One outcome for each case, in the order of the cases."""
        ...
