"""The tools that improve a catalog: what to rewrite, how, and whether the new version is better; and the next steps."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from tdqs_mcp.app import improving
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.agent_improvements import (
    CompareAnswer,
    PlanAnswer,
    RewriteAnswer,
    compare_answer,
    plan_answer,
    rewrite_answer,
)
from tdqs_mcp.report.agent_page import Window
from tdqs_mcp.report.escape import fence, fence_name, unfence
from tdqs_mcp.results.improvements import Comparison, Mode, Plan, Rewrite
from tdqs_mcp.results.scores import unjudged
from tdqs_mcp.server import tool_schemas as schema
from tdqs_mcp.server.connected_client import (
    SAMPLING,
    CallContext,
    Progress,
    ProgressModel,
    ends_to_ask,
    make_client_model,
    run_call,
    while_connected,
)
from tdqs_mcp.server.context import ToolGroup, find_tool, incomplete_note, one_tool, parse_definition
from tdqs_mcp.server.tool_schemas import mcp_tool
from tdqs_mcp.sources.input_files import parse_material


class RewriteTools(ToolGroup):
    """Better definitions, each compared with what was there."""

    @mcp_tool("Suggest a better definition", RewriteAnswer)
    async def suggest_rewrite(
        self,
        call: CallContext,
        *,
        definition: schema.Rewritable = None,
        siblings: schema.Siblings = [],  # noqa: B006
        locator: schema.Where = None,
        catalog: schema.Earlier = None,
        tool: schema.RewritableTool = None,
        facts: schema.Facts = [],  # noqa: B006
        traces: schema.Traces = [],  # noqa: B006
        docs: schema.Docs = "",
        mode: schema.ModeName = "compact",
        writer: schema.Writer = "offline",
        judge: schema.JudgeName = "configured",
    ) -> RewriteAnswer:
        """Draft a better definition for one tool from its schema, annotations, old text, siblings and your material.

        Use it after score_tool_definition or lint_descriptions has found something; only when the findings are unclear,
        read explain_rule first. Nothing is written anywhere: you apply the draft. Name, types and requirements stay; a
        claim without a source is refused, and what only the author can know comes as a question. Returns the new
        definition as JSON, each claim with its source, and score and tokens before and after.
        """
        resumed = self._context.resumed(call)
        found, name = await self._find_tool(
            call,
            definition=definition,
            siblings=siblings,
            locator=None if resumed else locator,
            catalog=resumed[1] if resumed and definition is None else catalog,
            tool=tool,
        )
        material = parse_material(
            {"facts": facts, "traces": traces, "docs": docs}, origin="'facts', 'traces' or 'docs'", tool=name
        )
        # Where the call ends whenever the client is asked, every report would come again in the next round.
        progress = Progress(call, verb="answered", is_silent=writer == SAMPLING and ends_to_ask(call))
        model = None
        if writer == SAMPLING:
            model = ProgressModel(model=make_client_model(call, tools=1), progress=progress)
        asked = self._context.repeated_judge(judge, progress)
        try:
            rewrites = await run_call(
                call,
                lambda: improving.rewrite(
                    found, tools=[name], mode=Mode(mode), material=material, writer=model, judge=asked
                ),
                catalog=None if locator is None else self._context.keep_catalog(found),
            )
        except UnmeasurableError as error:
            raise ToolError(f"this definition cannot be rewritten: {fence(str(error))}") from error
        if definition is None and len(rewrites) > 1:
            raise InputError(f"{len(rewrites)} tools are called {fence_name(name)}; send the definition itself")
        return rewrite_answer(rewrites[0], next_step=_after_rewrite(rewrites[0]))

    @mcp_tool("Plan improvements", PlanAnswer)
    async def plan_improvements(
        self,
        call: CallContext,
        *,
        tools: schema.Tools = None,
        locator: schema.Where = None,
        catalog: schema.Earlier = None,
        target: schema.Target = "A",
        judge: schema.JudgeName = "configured",
        limit: schema.Limit = 10,
        offset: schema.Offset = 0,
    ) -> PlanAnswer:
        """Find the cheapest set of tool rewrites that brings a server's overall score to a tier, and prove it.

        Use it after score_server, to learn which few tools to repair; for one known tool use suggest_rewrite instead.
        Give one of tools, locator or catalog. It is read-only: nothing is applied. Returns the overall score before and
        after, tokens added, and the steps, 10 per page: proven ones first, each a rewrite that suggest_rewrite hands
        out; then, where those are not enough, tools that only the author can improve, with what to write.
        """
        found, key = await self._context.read_catalog(call, tools=tools, locator=locator, catalog=catalog)
        if note := incomplete_note(found):
            raise InputError(note.strip())
        asked = self._context.repeated_judge(judge, Progress(call))
        wanted = fence(str(target))  # a tier or a number stays as it is; anything else is quoted in the refusal
        plan = await while_connected(call, lambda: improving.plan(found, target=wanted, judge=asked))
        window = Window(offset=offset, limit=limit)
        return plan_answer(plan, catalog=key, window=window, next_step=_after_plan(plan, key))

    @mcp_tool("Compare definitions", CompareAnswer)
    async def compare_definitions(
        self,
        call: CallContext,
        *,
        old: schema.OldVersion,
        new: schema.NewVersion,
        judge: schema.JudgeName = "configured",
        limit: schema.Limit = 10,
        offset: schema.Offset = 0,
    ) -> CompareAnswer:
        """Compare two versions of tool definitions: scores, findings, tokens, and changes that break callers.

        Use it to prove a rewrite before it is released, or to see what an update of a server changed; to score one
        version use score_server or score_tool_definition instead. It is read-only and calls no tool. Returns worse true
        or false, both overall scores and token counts, and the differences, 10 per page: breaking ones first, then
        annotations that became more dangerous, compatible changes and wording.
        """
        before, after = await self._read_version(call, old), await self._read_version(call, new)
        asked = self._context.repeated_judge(judge, Progress(call))
        comparison = await while_connected(call, lambda: improving.compare(before, after, judge=asked))
        window = Window(offset=offset, limit=limit)
        return compare_answer(
            comparison, window=window, next_step=incomplete_note(before, after) + _after_comparison(comparison)
        )

    async def _find_tool(
        self,
        call: CallContext,
        *,
        definition: dict[str, Any] | str | None,
        siblings: Sequence[dict[str, Any] | str],
        locator: str | None,
        catalog: str | None,
        tool: str | None,
    ) -> tuple[Catalog, str]:
        """The catalog around the tool to rewrite, and the tool's name."""
        if (definition is None) == (locator is None and catalog is None):
            raise InputError("give either 'definition', or 'tool' together with 'catalog' or 'locator'")
        if definition is not None:
            found = one_tool(definition, siblings)
            if not found.tools[0].name:
                raise InputError("the definition has no usable name; give it one, then ask again")
            return found, found.tools[0].name
        if tool is None:
            raise InputError("give 'tool', the exact name of the tool to rewrite")
        found, _ = await self._context.read_catalog(call, tools=None, locator=locator, catalog=catalog)
        return found, find_tool(found, tool) or tool

    async def _read_version(self, call: CallContext, given: schema.Version) -> Catalog:
        """The catalog that is given in one of the ways. Raises InputError and ToolError."""
        kept = self._context.catalogs.get(given) if isinstance(given, str) else None
        if kept is not None:
            return kept
        if isinstance(given, str) and not unfence(given).lstrip().startswith(("{", "[")):
            found, _ = await self._context.read_catalog(call, tools=None, locator=given, catalog=None)
            return found
        try:
            tools = parse_definition(given, origin="the definition") if isinstance(given, str) else given
        except InputError as error:
            raise ToolError(f"the definitions cannot be read: {fence(str(error))}") from error
        found, _ = await self._context.read_catalog(call, tools=tools, locator=None, catalog=None)
        return found


def _after_rewrite(rewrite: Rewrite) -> str:
    """The next step after a definition was drafted."""
    if rewrite.unjudged:
        return "The judge gave no answer, so nothing is proven: ask again, or with judge=offline."
    if not rewrite.changes:
        return "There was nothing to change. Answer the questions, if any, in your own words."
    return "Answer the questions, apply the definition where it is written, then call score_tool_definition with it."


def _after_plan(plan: Plan, catalog: str) -> str:
    """The next step after a plan was made."""
    if plan.fixes:
        rest = " Then answer the questions of the steps that are not proven." if plan.advice else ""
        return (
            f"Call suggest_rewrite with catalog {catalog} and the name of each proven step, apply what it gives, then "
            f"call compare_definitions with old={catalog} and the new definitions.{rest}"
        )
    if plan.is_reached:
        return "The target is reached already: there is nothing to do."
    if plan.advice:
        return "No rewrite helps here: answer the questions in the definitions, then plan again."
    return "No rewrite helps here: make the tool set more coherent, tool definitions alone cannot reach the target."


def _after_comparison(comparison: Comparison) -> str:
    """The next step after two versions were compared."""
    if comparison.regressions:
        return "The new version is worse in places: take those changes back, or tell the people who call these tools."
    if unjudged(comparison.old) or unjudged(comparison.new):
        return "Nothing is worse in what was judged, which is not all: ask again, or with judge=offline."
    return "Nothing is worse: the new version can be used."
