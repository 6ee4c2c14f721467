"""The tools that lead to a better catalog: what to improve at the least cost, how, and whether it was improved."""

from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from tdqs_mcp import app
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.agent.improve import CompareAnswer, PlanAnswer, compare_answer, plan_answer
from tdqs_mcp.report.agent.parts import Window
from tdqs_mcp.report.agent.rewrite import RewriteAnswer, rewrite_answer
from tdqs_mcp.report.fence import fence, fence_name, unfence
from tdqs_mcp.results.rewrites import Mode, Rewrite
from tdqs_mcp.server import steps
from tdqs_mcp.server.arguments import (
    Docs,
    Earlier,
    Facts,
    JudgeName,
    Limit,
    ModeName,
    Offset,
    Siblings,
    Tools,
    Traces,
    Where,
    Writer,
)
from tdqs_mcp.server.desk import Desk, known, one
from tdqs_mcp.server.offer import Offer, offer
from tdqs_mcp.server.presence import while_present
from tdqs_mcp.server.sampling import SAMPLING, client_model, pauses, through_client
from tdqs_mcp.server.watch import Attended, Progress, nowhere
from tdqs_mcp.sources.files import parse_json
from tdqs_mcp.sources.input_files import parse_material

_Context = Context[Any, Any]


_Version = dict[str, Any] | list[Any] | str


class Improving:
    """Better definitions, with proof."""

    def __init__(self, desk: Desk) -> None:
        """Tools on what the desk shares."""
        self._desk = desk

    @offer(Offer(title="Suggest a better definition", answer=RewriteAnswer))
    async def suggest_rewrite(
        self,
        context: _Context,
        *,
        definition: Annotated[
            dict[str, Any] | str | None, Field(description="The tool to rewrite; or name it with catalog and tool")
        ] = None,
        siblings: Siblings = [],  # noqa: B006
        locator: Where = None,
        catalog: Earlier = None,
        tool: Annotated[
            str | None, Field(description="Which tool of locator or catalog to rewrite, by its exact name")
        ] = None,
        facts: Facts = [],  # noqa: B006
        traces: Traces = [],  # noqa: B006
        docs: Docs = "",
        mode: ModeName = "compact",
        writer: Writer = "offline",
        judge: JudgeName = "configured",
    ) -> RewriteAnswer:
        """Draft a better definition for one tool from its schema, annotations, old text, siblings and your material.

        Use it after score_tool_definition or lint_descriptions has found something; only when the findings are unclear,
        read explain_rule first. Nothing is written anywhere: you apply the draft. Name, types and requirements stay; a
        claim without a source is refused, and what only the author can know comes as a question. Returns the new
        definition as JSON, each claim with its source, and score and tokens before and after.
        """
        resumed = self._desk.resumed(context)
        found, name = await self._rewritable(
            context,
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
        is_silent = writer == SAMPLING and pauses(context)
        progress = Progress(nowhere if is_silent else context.report_progress, word="answered")
        model = Attended(model=client_model(context, tools=1), progress=progress) if writer == SAMPLING else None
        asked = self._desk.patient(judge, progress)

        async def work() -> list[Rewrite]:
            return await while_present(
                context,
                lambda: app.rewrite(found, tools=[name], mode=Mode(mode), material=material, writer=model, judge=asked),
            )

        try:
            rewrites = await through_client(
                context, work, catalog=None if locator is None else self._desk.shelf.keep(found)
            )
        except UnmeasurableError as error:
            raise ToolError(f"this definition cannot be rewritten: {fence(str(error))}") from error
        if definition is None and len(rewrites) > 1:
            raise InputError(f"{len(rewrites)} tools are called {fence_name(name)}; send the definition itself")
        return rewrite_answer(rewrites[0], next_step=steps.after_rewrite(rewrites[0]))

    @offer(Offer(title="Plan improvements", answer=PlanAnswer))
    async def plan_improvements(
        self,
        context: _Context,
        *,
        tools: Tools = None,
        locator: Where = None,
        catalog: Earlier = None,
        target: Annotated[
            str | float,
            Field(description="Overall tier A, B, C or D, or an overall score from 1.0 to 5.0 such as 3.7"),
        ] = "A",
        judge: JudgeName = "configured",
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> PlanAnswer:
        """Find the cheapest set of tool rewrites that brings a server's overall score to a tier, and prove it.

        Use it after score_server, to learn which few tools to repair; for one known tool use suggest_rewrite instead.
        Give one of tools, locator or catalog. It is read-only: nothing is applied. Returns the overall score before and
        after, tokens added, and the steps, 10 per page: proven ones first, each a rewrite that suggest_rewrite hands
        out; then, where those are not enough, tools that only the author can improve, with what to write.
        """
        found, key = await self._desk.catalog(context, tools=tools, locator=locator, catalog=catalog)
        asked = self._desk.patient(judge, Progress(context.report_progress))
        wanted = fence(str(target))  # a tier or a number stays as it is; anything else is quoted in the refusal
        plan = await while_present(context, lambda: app.plan(found, target=wanted, judge=asked))
        window = Window(offset=offset, limit=limit)
        return plan_answer(plan, catalog=key, window=window, next_step=steps.after_plan(plan, key))

    @offer(Offer(title="Compare definitions", answer=CompareAnswer))
    async def compare_definitions(
        self,
        context: _Context,
        *,
        old: Annotated[
            _Version,
            Field(
                description="Version before: one tool, an array of tools, a tools/list result, a catalog id or locator"
            ),
        ],
        new: Annotated[_Version, Field(description="Version after, given in any of the same ways")],
        judge: JudgeName = "configured",
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> CompareAnswer:
        """Compare two versions of tool definitions: scores, findings, tokens, and changes that break callers.

        Use it to prove a rewrite before it is released, or to see what an update of a server changed; to score one
        version use score_server or score_tool_definition instead. It is read-only and calls no tool. Returns worse true
        or false, both overall scores and token counts, and the differences, 10 per page: breaking ones first, then
        annotations that became more dangerous, compatible changes and wording.
        """
        before, after = await self._version(context, old), await self._version(context, new)
        asked = self._desk.patient(judge, Progress(context.report_progress))
        comparison = await while_present(context, lambda: app.compare(before, after, judge=asked))
        window = Window(offset=offset, limit=limit)
        return compare_answer(comparison, window=window, next_step=steps.after_comparison(comparison))

    async def _rewritable(
        self,
        context: _Context,
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
            found = one(definition, siblings)
            if not found.tools[0].name:
                raise InputError("the definition has no usable name; give it one, then ask again")
            return found, found.tools[0].name
        if tool is None:
            raise InputError("give 'tool', the exact name of the tool to rewrite")
        found, _ = await self._desk.catalog(context, tools=None, locator=locator, catalog=catalog)
        return found, known(found, tool) or tool

    async def _version(self, context: _Context, given: _Version) -> Catalog:
        """The catalog that is given in one of the ways. Raises InputError and ToolError."""
        known = self._desk.shelf.catalogs.get(given) if isinstance(given, str) else None
        if known is not None:
            return known
        if not isinstance(given, str) or unfence(given).lstrip().startswith(("{", "[")):
            found, _ = await self._desk.catalog(context, tools=_read(given), locator=None, catalog=None)
        else:
            found, _ = await self._desk.catalog(context, tools=None, locator=given, catalog=None)
        return found


def _read(given: _Version) -> object:
    """Definitions, also from their JSON text. Raises ToolError: words of the definitions may be in the reason."""
    if not isinstance(given, str):
        return given
    try:
        return parse_json(unfence(given).encode(errors="replace"), origin="the definition")
    except InputError as error:
        raise ToolError(f"the definitions cannot be read: {fence(str(error))}") from error
