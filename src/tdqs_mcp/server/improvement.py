"""The tools that lead to a better catalog: what to improve at the least cost, and whether it was improved."""

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from tdqs_mcp import app
from tdqs_mcp.errors import InputError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.reporters import proposal
from tdqs_mcp.reporters.agent import Window
from tdqs_mcp.reporters.fence import fence, unfence
from tdqs_mcp.server import steps
from tdqs_mcp.server.arguments import Earlier, JudgeName, Limit, Offset, Tools, Where
from tdqs_mcp.server.offer import Offer, offer
from tdqs_mcp.server.presence import while_present
from tdqs_mcp.server.tools import Desk
from tdqs_mcp.sources.load import parse as parse_json

_Context = Context[Any, Any]

_Version = dict[str, Any] | list[Any] | str


class ImprovementDesk(Desk):
    """All tools: those that score first, then those that improve."""

    @offer(Offer(title="Plan improvements", answer=proposal.PlanAnswer))
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
    ) -> proposal.PlanAnswer:
        """Find the cheapest set of tool rewrites that brings a server's overall score to a tier, and prove it.

        Use it after score_server, to learn which few tools to repair; for one known tool use suggest_rewrite instead.
        Give one of tools, locator or catalog. It is read-only: nothing is applied. Returns the overall score before and
        after, tokens added, and the steps, 10 per page: proven ones first, each a rewrite that suggest_rewrite hands
        out; then, where those are not enough, tools that only the author can improve, with what to write.
        """
        found, key = await self._catalog(context, tools=tools, locator=locator, catalog=catalog)
        asked = self._named(judge)
        wanted = fence(str(target))  # a tier or a number stays as it is; anything else is quoted in the refusal
        plan = await while_present(context, lambda: app.plan(found, target=wanted, judge=asked))
        window = Window(offset=offset, limit=limit)
        return proposal.plan_answer(plan, catalog=key, window=window, next_step=steps.after_plan(plan, key))

    @offer(Offer(title="Compare definitions", answer=proposal.CompareAnswer))
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
    ) -> proposal.CompareAnswer:
        """Compare two versions of tool definitions: scores, findings, tokens, and changes that break callers.

        Use it to prove a rewrite before it is released, or to see what an update of a server changed; to score one
        version use score_server or score_tool_definition instead. It is read-only and calls no tool. Returns worse true
        or false, both overall scores and token counts, and the differences, 10 per page: breaking ones first, then
        annotations that became more dangerous, compatible changes and wording.
        """
        before, after = await self._version(context, old), await self._version(context, new)
        asked = self._named(judge)
        comparison = await while_present(context, lambda: app.compare(before, after, judge=asked))
        window = Window(offset=offset, limit=limit)
        return proposal.compare_answer(comparison, window=window, next_step=steps.after_comparison(comparison))

    async def _version(self, context: _Context, given: _Version) -> Catalog:
        """The catalog that is given in one of the ways. Raises InputError and ToolError."""
        known = self.shelf.catalogs.get(given) if isinstance(given, str) else None
        if known is not None:
            return known
        if not isinstance(given, str) or unfence(given).lstrip().startswith(("{", "[")):
            found, _ = await self._catalog(context, tools=_read(given), locator=None, catalog=None)
        else:
            found, _ = await self._catalog(context, tools=None, locator=given, catalog=None)
        return found


def _read(given: _Version) -> object:
    """Definitions, also from their JSON text. Raises ToolError: words of the definitions may be in the reason."""
    if not isinstance(given, str):
        return given
    try:
        return parse_json(unfence(given).encode(errors="replace"), origin="the definition")
    except InputError as error:
        raise ToolError(f"the definitions cannot be read: {fence(str(error))}") from error
