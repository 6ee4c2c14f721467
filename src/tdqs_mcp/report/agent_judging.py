"""What an agent gets that judges for itself: the exact prompts, and how far its judgement is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from tdqs_mcp.report.agent_page import MAX_NAMES, CatalogPage, Window
from tdqs_mcp.report.agent_scores import ScoreAnswer, Scored, score_fields
from tdqs_mcp.report.escape import unseen
from tdqs_mcp.results.contract import ABSENT, Absent, Encoded, Name, Own, Trait

Part: TypeAlias = Literal["tools", "coherence", "shadowing"]

PROMPT_BUDGET = 24_000
"""Characters of prompts on one page, so that an agent's context can hold them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLine:
    """One exact prompt."""

    name: Name | Absent = ABSENT
    """Tool name."""

    input_hash: str | Absent = ABSENT
    """Goes back with the answer."""

    prompt_hash: str
    user: Annotated[str, Trait.EXACT]
    """The exact user message, between two lines that carry its hash."""

    unseen: tuple[Own, ...]
    """Invisible characters in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsAnswer(CatalogPage):
    """Prompts to be judged by the agent that called."""

    part: Part
    rubric: str
    answered_count: int
    """Prompts of this part that have an answer already."""

    system: Own
    """The exact system prompt of every prompt here."""

    prompts: tuple[PromptLine, ...]
    answer_schema: Encoded
    """JSON Schema of one answer."""

    next: Own
    """What to do next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAnswer:
    """An answer that was not used."""

    name: Name
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """An answer that was accepted, and what its definition does not bear out."""

    name: Name
    doubts: tuple[str, ...]
    """Quotations that the definition does not hold; contradictions of the facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementAnswer(ScoreAnswer):
    """How far the judgement is, and the score so far."""

    accepted: int
    """Answers taken in this call."""

    refused: tuple[RefusedAnswer, ...]
    unverified: tuple[Doubt, ...]
    """Answers taken in this call that you should check."""

    missing_count: int
    missing: tuple[Name, ...]
    """Tools without an answer of yours, 20 at most."""

    coherence_missing: bool | Absent = ABSENT
    """Only under rubric tdqs."""


def prompts_answer(
    prompts: Mapping[str, Any],
    part: Part,
    *,
    server: str,
    catalog: str,
    rubric: str,
    is_answered: Callable[[Mapping[str, Any]], bool],
    schema: Mapping[str, Any],
    window: Window,
    next_step: str,
) -> PromptsAnswer:
    """One page of the prompts of `prompts --format json`, without what is answered, cut where it grows too long."""
    entries = prompts["tools"] if part == "tools" else [prompts[part]]
    open_places = [place for place, entry in enumerate(entries) if not is_answered(entry)]
    ahead = [place for place in open_places if place >= window.offset]
    page = _within(entries, ahead[: window.limit])
    return PromptsAnswer(
        server=server,
        catalog=catalog,
        part=part,
        rubric=rubric,
        answered_count=len(entries) - len(open_places),
        system=Own(entries[page[0]]["system"] if page else ""),
        prompts=tuple(_prompt(entries[place]) for place in page),
        answer_schema=dict(schema),
        next=Own(next_step),
        offset=window.offset,
        total=len(entries),
        next_offset=ahead[len(page)] if len(page) < len(ahead) else None,
    )


def judgement_answer(
    score: Scored,
    *,
    catalog: str,
    report: str,
    window: Window,
    next_step: str,
    accepted: int,
    refused: Sequence[tuple[str, str]],
    doubts: Sequence[tuple[str, Sequence[str]]],
    missing: Sequence[str],
    is_coherence_missing: bool | None,
) -> JudgementAnswer:
    """The score so far, and what is still missing from it; `is_coherence_missing` is None where no set is judged."""
    return JudgementAnswer(
        **score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step),
        accepted=accepted,
        refused=tuple(RefusedAnswer(name=name, reason=reason) for name, reason in refused),
        unverified=tuple(Doubt(name=name, doubts=tuple(whys)) for name, whys in doubts),
        missing_count=len(missing),
        missing=tuple(missing[:MAX_NAMES]),
        coherence_missing=ABSENT if is_coherence_missing is None else is_coherence_missing,
    )


def _prompt(entry: Mapping[str, str]) -> PromptLine:
    return PromptLine(
        name=entry.get("name", ABSENT),
        input_hash=entry.get("inputHash", ABSENT),
        prompt_hash=entry["promptHash"],
        user=entry["user"],
        unseen=tuple(map(Own, unseen(entry["user"]))),
    )


def _within(entries: Sequence[Mapping[str, str]], places: Sequence[int]) -> list[int]:
    """The first of the places up to the budget, and at least one."""
    room = PROMPT_BUDGET
    page: list[int] = []
    for place in places:
        room -= len(entries[place]["user"])
        if page and room < 0:
            break
        page.append(place)
    return page
