"""The tools through which the calling agent judges."""

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from tdqs_mcp import app
from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.client_answers import Host
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.verdict_cache import Subset
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.agent import judging
from tdqs_mcp.report.agent.parts import Window
from tdqs_mcp.server import steps
from tdqs_mcp.server.arguments import (
    MAX_LISTED,
    Answer,
    Earlier,
    Limit,
    ModelName,
    Offset,
    Rubric,
    ToolName,
    Tools,
    Where,
)
from tdqs_mcp.server.desk import Desk, known, report_key, scored
from tdqs_mcp.server.judgement import Judgement, answer_schema
from tdqs_mcp.server.offer import Offer, offer
from tdqs_mcp.server.presence import while_present

_Context = Context[Any, Any]


class Judging:
    """Prompts out, answers in."""

    def __init__(self, desk: Desk) -> None:
        """Tools on what the desk shares."""
        self._desk = desk

    @offer(Offer(title="Prepare a judgement", answer=judging.PromptsAnswer))
    async def prepare_judgement(
        self,
        context: _Context,
        *,
        tools: Tools = None,
        locator: Where = None,
        catalog: Earlier = None,
        tool: ToolName = None,
        part: Annotated[
            judging.Part,
            Field(description="tools: one prompt a tool; coherence: one for the set; shadowing: one for open pairs"),
        ] = "tools",
        rubric: Rubric = "tdqs",
        model: ModelName = "",
        again: Annotated[
            bool, Field(description="true: also the prompts that you have answered, to judge them anew")
        ] = False,
        limit: Annotated[int, Field(ge=1, le=50, description="Prompts on this page, at most 50")] = 5,
        offset: Offset = 0,
    ) -> judging.PromptsAnswer:
        """Get the exact prompts of a rubric, so that you judge the definitions yourself as an LLM judge.

        Use it when a language model's judgement is wanted and no remote judge is configured; then answer every prompt
        and call submit_judgement. Without that need use score_server instead, which needs no model. Give one of tools,
        locator or catalog. It is read-only and keeps the bytes of the specification. Returns the system prompt once,
        one user prompt per tool with its inputHash, 5 per page, and the answer's schema; what you have answered under
        the same model name, also before a restart, is left out.
        """
        found, key = await self._desk.catalog(context, tools=tools, locator=locator, catalog=catalog)
        prompts = app.prompts(found, tool=known(found, tool), rubric=rubric)
        if not prompts.get(part):
            raise InputError(
                f"there is nothing to judge in part {part!r} of this catalog by rubric {rubric}; leave part out"
            )
        judgement = self._judgement(found, rubric, model)
        return judging.prompts_answer(
            prompts,
            part,
            server=found.server,
            catalog=key,
            rubric=rubric,
            is_answered=lambda entry: not again and judgement.is_answered(part, entry),
            schema=answer_schema(part, rubric=rubric),
            window=Window(offset=offset, limit=limit),
            next_step=steps.after_prepare(key, part, rubric=rubric, model=model, judgement=judgement),
        )

    @offer(Offer(title="Submit a judgement", answer=judging.JudgementAnswer, is_read_only=False))
    async def submit_judgement(
        self,
        context: _Context,
        *,
        answers: Annotated[
            list[Answer], Field(max_length=MAX_LISTED, description="Answers to prompts of part tools, all or a batch")
        ] = [],  # noqa: B006
        coherence: Annotated[
            dict[str, Any] | str | None, Field(description="Answer to the prompt of part coherence")
        ] = None,
        shadowing: Annotated[
            list[dict[str, Any]] | None,
            Field(
                max_length=MAX_LISTED,
                description="Confirmed pairs, the array in the answer to part shadowing; replaces earlier ones",
            ),
        ] = None,
        rubric: Rubric = "tdqs",
        model: ModelName = "",
        tools: Tools = None,
        locator: Where = None,
        catalog: Earlier = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> judging.JudgementAnswer:
        """Finish a score from your own answers to the prompts of prepare_judgement.

        Use it after prepare_judgement only, with all answers or batch by batch; for a score without your judgement use
        score_server instead. Each answer is checked against the output format, its inputHash and the definition; a
        refused one is returned with the reason and changes nothing, so correct and send it again. Accepted answers
        outlive the server unless its operator keeps nothing; a second answer overwrites the first. Returns the score so
        far and the tools still missing; the judge is host, or the operator's jury if it has a seat for you.
        """
        found, key = await self._desk.catalog(context, tools=tools, locator=locator, catalog=catalog)
        judgement = self._judgement(found, rubric, model)
        replies = judgement.take_tools(answers)
        replies += [] if coherence is None else [judgement.take_coherence(coherence)]
        replies += [] if shadowing is None else judgement.take_shadowing(shadowing)
        asked = self._seated(judgement, context)
        score = await while_present(context, lambda: scored(found, rubric=rubric, judge=asked))
        missing, is_coherence_missing = judgement.missing, judgement.is_coherence_missing
        return judging.judgement_answer(
            score,
            catalog=key,
            report=self._desk.keep_report(report_key(key, rubric, f"{asked.stamp.id}-{short_hash(model)[:8]}"), score),
            window=Window(offset=offset, limit=limit),
            next_step=steps.after_submit(
                score, key, rubric=rubric, model=model, is_complete=not missing and not is_coherence_missing
            ),
            accepted=sum(reply.refused is None for reply in replies),
            refused=[(reply.name, reply.refused) for reply in replies if reply.refused is not None],
            doubts=[(reply.name, reply.doubts) for reply in replies if reply.doubts],
            missing=missing,
            is_coherence_missing=is_coherence_missing,
        )

    def _judgement(self, catalog: Catalog, rubric: str, model: str) -> Judgement:
        host = Host(cache=self._desk.shelf.answers, addresses=app.addresses_judge, model=model)
        return Judgement(app.to_be_judged(catalog, rubric=rubric), host=host)

    def _seated(self, judgement: Judgement, context: _Context) -> Judge:
        """The caller as judge, or the operator's jury with the caller on it, which judges what the caller has."""
        known = judgement.host.knows
        if not self._desk.has_host:
            return Subset(judge=judgement.host, is_meant=known, reason="no answer was handed in for this prompt")
        jury = self._desk.watched(judgement.beside(self._desk.judge), context)
        return Subset(judge=jury, is_meant=known, reason="the jury judges it when your answer is there")
