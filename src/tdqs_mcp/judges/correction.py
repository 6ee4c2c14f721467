"""Answers that can be used: one that cannot goes back to its model with the reason."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.judge import Correction, Failure, Model, Request, tell

MAX_CORRECTIONS = 2
"""How often an answer goes back."""

Outcome = TypeVar("Outcome")

Question: TypeAlias = tuple[Request, Callable[[str], Outcome]]
"""What is asked, and what reads the answer; it raises ContractError for one that cannot be used."""


async def ask(model: Model, questions: Sequence[Question[Outcome]]) -> list[Outcome | Failure]:
    """What is read from the answer to each question, in their order; each round asks for all that is open at once.

    An answer that cannot be used goes back with the reason, MAX_CORRECTIONS times at most; then it is a Failure.
    """
    outcomes: list[Outcome | Failure | Request] = [request for request, _ in questions]
    for _ in range(1 + MAX_CORRECTIONS):
        asked = {place: each for place, each in enumerate(outcomes) if isinstance(each, Request)}
        answers = await model.complete(list(asked.values())) if asked else []
        for (place, request), answer in zip(asked.items(), answers, strict=True):
            outcomes[place] = _outcome(request, answer, questions[place][1])
    return [_given_up(each, model.name) if isinstance(each, Request) else each for each in outcomes]


def _outcome(request: Request, answer: str | Failure, read: Callable[[str], Outcome]) -> Outcome | Failure | Request:
    """What the answer is worth; the request to send next, where it cannot be used."""
    if isinstance(answer, Failure):
        return answer
    tell(request, answer)
    try:
        return read(answer)
    except ContractError as error:
        correction = Correction(answer=answer, reason=str(error), fault=error.fault)
        return replace(request, corrections=(*request.corrections, correction))


def _given_up(request: Request, name: str) -> Failure:
    count, last = len(request.corrections), request.corrections[-1]
    reason = f"{count} answers of {name!r} {last.fault}, the last one because {last.reason}; try a stronger model"
    return Failure(reason=reason, fault=last.fault)
