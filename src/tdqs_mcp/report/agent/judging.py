"""What an agent gets that judges for itself: the exact prompts, and how far its judgement is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import Field

from tdqs_mcp.report.agent.parts import MAX_NAMES, Page, Window
from tdqs_mcp.report.agent.report import Scored
from tdqs_mcp.report.agent.scores import ScoreAnswer, score_fields
from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.fence import NOTICE, fence, fence_exact, fence_name, unseen

Part: TypeAlias = Literal["tools", "coherence", "shadowing"]

PROMPT_BUDGET = 24_000
"""Characters of prompts on one page: what an agent can hold beside its work."""


class PromptLine(Document):
    """One exact prompt."""

    name: str | None = Field(default=None, description="Tool name")
    input_hash: str | None = Field(default=None, description="Goes back with the answer")
    prompt_hash: str
    user: str = Field(description="The exact user message, between two lines that carry its hash")
    unseen: list[str] = Field(description="Invisible characters in it")


class PromptsAnswer(Page):
    """Prompts to be judged by the agent that called."""

    notice: str
    server: str
    catalog: str = Field(description="Names this catalog in submit_judgement")
    part: Part
    rubric: str
    answered_count: int = Field(description="Prompts of this part that have an answer already")
    system: str = Field(description="The exact system prompt of every prompt here")
    prompts: list[PromptLine]
    answer_schema: dict[str, Any] = Field(description="JSON Schema of one answer")
    next: str = Field(description="What to do next")


class Refusal(Document):
    """An answer that was not used."""

    name: str
    reason: str


class Doubt(Document):
    """An answer that was accepted, and what its definition does not bear out."""

    name: str
    doubts: list[str] = Field(description="Quotations that the definition does not hold; contradictions of the facts")


class JudgementAnswer(ScoreAnswer):
    """How far the judgement is, and the score so far."""

    accepted: int = Field(description="Answers taken in this call")
    refused: list[Refusal]
    unverified: list[Doubt] = Field(description="Answers taken in this call that you should check")
    missing_count: int
    missing: list[str] = Field(description="Tools without an answer of yours, 20 at most")
    coherence_missing: bool | None = Field(default=None, description="Only under rubric tdqs")


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
        notice=NOTICE,
        server=fence_name(server),
        catalog=catalog,
        part=part,
        rubric=rubric,
        answered_count=len(entries) - len(open_places),
        system=entries[page[0]]["system"] if page else "",
        prompts=[_prompt(entries[place]) for place in page],
        answer_schema=dict(schema),
        next=next_step,
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
    fields = score_fields(score, catalog=catalog, report=report, window=window, next_step=next_step)
    if is_coherence_missing is not None:
        fields["coherence_missing"] = is_coherence_missing
    return JudgementAnswer(
        **fields,
        accepted=accepted,
        refused=[Refusal(name=fence_name(name), reason=fence(reason)) for name, reason in refused],
        unverified=[Doubt(name=fence_name(name), doubts=[fence(why) for why in whys]) for name, whys in doubts],
        missing_count=len(missing),
        missing=[fence_name(name) for name in missing[:MAX_NAMES]],
    )


def _prompt(entry: Mapping[str, str]) -> PromptLine:
    known = {"name": fence_name(entry["name"]), "input_hash": entry["inputHash"]} if "name" in entry else {}
    return PromptLine(
        prompt_hash=entry["promptHash"], user=fence_exact(entry["user"]), unseen=unseen(entry["user"]), **known
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
