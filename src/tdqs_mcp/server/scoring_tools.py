"""The tools that score and lint definitions, and the steps that they name next."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mcp.server.apps import client_supports_apps

from tdqs_mcp.app import judging, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.judges.judge import Subset, tool_at
from tdqs_mcp.report.agent_answers import (
    AgentAnswer,
    Scored,
    Window,
    lint_answer,
    score_answer,
    tool_answer,
)
from tdqs_mcp.report.escape import fence_name
from tdqs_mcp.report.server_advice import contradictions
from tdqs_mcp.results.findings import Finding, LintReport, Severity
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import UNMEASURED, ServerScore
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rules import registry
from tdqs_mcp.server import tool_schemas as schema
from tdqs_mcp.server.connected_client import CallContext, run_call
from tdqs_mcp.server.context import SCORE_CARD, ToolGroup, find_tool, incomplete_note, one_tool, score_catalog
from tdqs_mcp.server.tool_schemas import mcp_tool

CLEAN = "Nothing to fix by the rules."


class ScoreTools(ToolGroup):
    """Tools that score a definition or a server, with reasons."""

    @mcp_tool("Score a whole server", card=SCORE_CARD)
    async def score_server(
        self,
        call: CallContext,
        *,
        catalog: schema.Catalog,
        rubric: schema.Rubric = "tdqs",
        judge: schema.ScoreJudge = "configured",
        source: str = "",
        detail: schema.Detail = "summary",
        limit: schema.Limit = 8,
        offset: schema.Offset = 0,
    ) -> AgentAnswer:
        """Score all tools of one MCP server and how well they fit together, and list what to fix first.

        Start here, for example with catalog EXAMPLE, then call suggest_rewrite with its id. Instead use
        score_tool_definition for one tool, lint_descriptions for findings, compare_definitions for versions,
        judge_definitions to judge yourself. No tool is called; a malformed tool stays ungraded. Up to 2,000 tools.
        Returns scores, merges, and the lowest tools.
        """
        definitions, key = self._context.resumed(call) or await self._context.read_catalog(call, catalog)
        active_judge = self._context.score_judge(judge, call, tools=len(definitions.tools))
        origin = self._context.draft_of(key).origin
        code, unread = await self._context.code_or_note(call, "" if offset else source, catalog=origin)
        report = f"{key}-{rubric}-{active_judge.stamp.id}{'-code' if code else ''}"
        score, note = self._context.memory.reports.get(report), incomplete_note(definitions)
        if score is None or (
            not offset and (score.ungraded or source)
        ):  # later pages are those of the score that the first showed
            note += unread
            score = await run_call(
                call,
                lambda: score_catalog(
                    definitions, origin=self._context.origin(key), rubric=rubric, judge=active_judge, code=code
                ),
                catalog=key,
            )

        async def measured() -> Measured:
            return replace(measure(definitions), code=code)

        return score_answer(
            score,
            await run_call(call, measured),
            catalog=key,
            report=self._context.keep_report(report, score),
            window=Window(offset=offset, limit=limit, is_full=detail == "full"),
            next_step=note + _after_server(score, key, is_drafted=bool(self._context.draft_of(key).rewritten)),
            has_card=client_supports_apps(call),
        )

    @mcp_tool("Score one tool definition")
    async def score_tool_definition(
        self,
        call: CallContext,
        *,
        definition: dict[str, Any] | str,
        catalog: str | None = None,
        siblings: list[dict[str, Any] | str] = [],  # noqa: B006  # never changed; a schema shows it as the default
        rubric: schema.Rubric = "tdqs",
        judge: schema.ScoreJudge = "configured",
        detail: schema.Detail = "summary",
    ) -> AgentAnswer:
        """Score one MCP tool definition by TDQS and list what to fix in it.

        Use it while writing a single definition, for example {"name": "get_order", …}, or for one tool of a scored
        catalog by its name; for a whole server use score_server instead. Siblings, at most 1,999, show what the tool
        must be told apart from. The offline judge gives equal scores each time. Returns TDQS
        1.0-5.0, tier A-F, six dimension scores and findings; a malformed definition is ungraded, with the reason.
        """
        if catalog is None:
            tools, index = one_tool(definition, siblings), 0
            key = self._context.keep_catalog(tools)
        else:
            tools, key = await self._context.read_catalog(call, catalog)
            if siblings or not isinstance(definition, str):
                raise InputError("with 'catalog', give the tool's name as 'definition', and no siblings")
            name = find_tool(tools, definition)
            index = next(tool.index for tool in tools.tools if tool.name == name)
        only_it = Subset(judge=self._context.score_judge(judge, call, tools=1), is_meant=tool_at(index))
        score = await run_call(
            call, lambda: score_catalog(tools, origin=self._context.origin(key), rubric=rubric, judge=only_it)
        )
        next_step = _after_tool(score, key, index=index, has_siblings=len(tools.tools) > 1)
        return tool_answer(score, catalog=key, index=index, is_full=detail == "full", next_step=next_step)

    @mcp_tool("Lint tool descriptions")
    async def lint_descriptions(
        self,
        call: CallContext,
        *,
        catalog: schema.Catalog,
        tool: str | None = None,
        severity: schema.Mildest = "info",
        select: schema.Rules = [],  # noqa: B006
        ignore: schema.Rules = [],  # noqa: B006
        profile: schema.Profile = "default",
        explain: schema.ShortText = "",
        source: str = "",
        detail: schema.Detail = "summary",
        limit: schema.Limit = 20,
        offset: schema.Offset = 0,
    ) -> AgentAnswer:
        """Check tool definitions against the linter's rules and list the findings, the worst first, without a score.

        Use it to see the defects, for example all errors with severity "error", or why a rule
        matters with explain; for scores use score_server, for repairs suggest_rewrite. It asks no model; with
        source it holds definitions against their code. Returns counts, and 20 findings a page, each with rule,
        severity, place and suggestion; a clean catalog gives an empty list.
        """
        definitions, key = await self._context.read_catalog(call, catalog)
        selection = registry.select(names=select, ignored=ignore, profile=None if profile == "default" else profile)
        page = judging.explain(explain) if explain.strip() else ""
        code, unread = await self._context.code_or_note(call, source)

        async def lint() -> LintReport:
            return linting.lint(definitions, Policy(selection=selection, code=code))

        report = await run_call(call, lint)
        return lint_answer(
            report,
            mildest=Severity(severity),
            tool=find_tool(definitions, tool),
            catalog=key,
            window=Window(offset=offset, limit=limit, is_full=detail == "full"),
            page=page,
            next_step=incomplete_note(definitions) + unread + _after_lint(report.findings, key),
        )


def _after_tool(score: Scored, catalog: str, *, index: int, has_siblings: bool) -> str:
    """The next step after a tool was scored."""
    ungraded = [tool.ungraded for tool in score.ungraded if tool.index == index]
    if any(reason.judge not in (UNMEASURED, "offline") for reason in ungraded):
        return "The judge gave no answer: ask again, or with judge=offline. The findings hold all the same."
    if _needs_model(score):
        return _judge_yourself(catalog)
    if ungraded:
        return "Correct what makes the definition ungraded, then score_tool_definition with it again."
    if not any(finding.tool_index == index for finding in score.findings):
        return CLEAN
    alone = "" if has_siblings else " Give siblings too, so that the tool is compared with its neighbors."
    named = next(fence_name(tool.name) for tool in score.tools if tool.index == index)
    return (
        f"suggest_rewrite with catalog {catalog} and draft={{{named}: your words}}, or tool={named} for a draft of "
        f"ours.{alone}"
    )


def _after_server(score: Scored, catalog: str, *, is_drafted: bool) -> str:
    """The next step after a server was scored; `is_drafted` says that its definitions are drafts of ours."""
    if not score.tool_count:
        return "There is no tool here to score; check where the definitions come from."
    if _needs_model(score):
        return _judge_yourself(catalog)
    if not score.tools:
        is_theirs = all(tool.ungraded.judge in (UNMEASURED, "offline") for tool in score.ungraded)
        return (
            "No tool could be graded: correct what `ungraded` says, then score_server with the new definitions."
            if is_theirs
            else f"The judge graded no tool: score_server with catalog {catalog} again, or with judge=offline."
        )
    if not score.findings:
        return CLEAN
    overall = score.rollup.overall if isinstance(score, ServerScore) else None
    higher = [] if overall is None else [tier for tier in Tier if tier.floor > overall]
    drafted = "Apply the drafts where the definitions are written. " if is_drafted else ""
    if not higher:
        count = sum(tool.tier is not Tier.A for tool in score.lowest_tools) if isinstance(score, ServerScore) else 0
        left = [f"{count} tools below A"] if count else []
        left += ["the contradictions"] if contradictions(score.findings) else []
        rest = f" Left are {' and '.join(left)}: draft them with suggest_rewrite and catalog {catalog}." if left else ""
        return f"{drafted}A is reached.{rest} lint_descriptions with catalog {catalog} lists all findings."
    return (
        f"{drafted}With the code at hand, write what these tools do, and call suggest_rewrite with catalog {catalog}, "
        f"target {higher[0]} and draft={{TOOL: {{description, parameters}}}} of all of them; without, the same call "
        "drafts what is proven and asks the rest."
    )


def _needs_model(score: Scored) -> bool:
    """Return whether the offline judge was asked for labels that only a model can give."""
    return isinstance(score, LabelScore) and score.rubric == "bundles" and score.judge.is_offline


def _judge_yourself(catalog: str) -> str:
    """The next step where a model is needed."""
    return (
        f"These labels need a model: judge_definitions with catalog {catalog} and rubric bundles, and judge yourself; "
        "or ask again with judge=sampling."
    )


def _after_lint(findings: Sequence[Finding], catalog: str) -> str:
    """The next step after a catalog was linted."""
    if not findings:
        return CLEAN
    return f"explain=RULE says why a rule matters; suggest_rewrite with catalog {catalog} and tool=names repairs."
