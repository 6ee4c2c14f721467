"""The tools that score, lint and explain."""

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from tdqs_mcp import app
from tdqs_mcp.app.configuration import Policy
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.verdict_cache import Subset, tool_at
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.agent.lint import Explanation, LintAnswer, Wanted, lint_answer
from tdqs_mcp.report.agent.parts import Window
from tdqs_mcp.report.agent.report import Scored
from tdqs_mcp.report.agent.scores import ScoreAnswer, score_answer
from tdqs_mcp.report.agent.tools import ToolAnswer, tool_answer
from tdqs_mcp.report.fence import fence
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.rules import registry
from tdqs_mcp.server import steps
from tdqs_mcp.server.arguments import (
    MAX_LISTED,
    Definition,
    Detail,
    Earlier,
    Limit,
    Offset,
    Profile,
    Rubric,
    Rules,
    ScoreJudge,
    Siblings,
    ToolName,
    Tools,
    Where,
)
from tdqs_mcp.server.desk import Desk, known, one, report_key, scored
from tdqs_mcp.server.offer import Offer, offer
from tdqs_mcp.server.presence import while_present
from tdqs_mcp.server.sampling import through_client

_Context = Context[Any, Any]


class Scoring:
    """What a definition or a server is worth, and why."""

    def __init__(self, desk: Desk) -> None:
        """Tools on what the desk shares."""
        self._desk = desk

    @offer(Offer(title="Score one tool definition", answer=ToolAnswer))
    async def score_tool_definition(
        self,
        context: _Context,
        *,
        definition: Definition,
        siblings: Siblings = [],  # noqa: B006  # never changed; a schema shows it as the default
        rubric: Rubric = "tdqs",
        judge: ScoreJudge = "configured",
        detail: Detail = "summary",
    ) -> ToolAnswer:
        """Score one MCP tool definition by TDQS and list what to fix in it.

        Use it while writing or repairing a single definition; for a whole server use score_server instead, for findings
        without a score lint_descriptions. The definition is only read, never called, and the offline judge gives the
        same input the same score. Returns TDQS 1.0-5.0, tier A-F, six dimension scores and the findings; a malformed
        definition comes back ungraded with the reason.
        """
        catalog = one(definition, siblings)
        watched = self._desk.watched(self._desk.scoring(judge, context, tools=1), context)
        asked = Subset(judge=watched, is_meant=tool_at(0))
        score = await through_client(
            context, lambda: while_present(context, lambda: scored(catalog, rubric=rubric, judge=asked))
        )
        return tool_answer(
            score, index=0, is_full=detail == "full", next_step=steps.after_tool(score, has_siblings=bool(siblings))
        )

    @offer(Offer(title="Score a whole server", answer=ScoreAnswer))
    async def score_server(
        self,
        context: _Context,
        *,
        tools: Tools = None,
        locator: Where = None,
        catalog: Earlier = None,
        rubric: Rubric = "tdqs",
        judge: ScoreJudge = "configured",
        detail: Detail = "summary",
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> ScoreAnswer:
        """Score all tools of one MCP server and how well they fit together, and rank what to fix first.

        Start here with a server; for a single definition use score_tool_definition instead, to judge with your own
        model prepare_judgement. Give one of tools, locator or catalog. The server's tools are listed, never called; a
        live one is stopped again. Returns overall score and tier, and the lowest tools each with its first fix, 10 per
        page; the whole report stays readable as a resource.
        """
        found, key = self._desk.resumed(context) or await self._desk.catalog(
            context, tools=tools, locator=locator, catalog=catalog
        )
        asked = self._desk.scoring(judge, context, tools=len(found.tools))
        report = report_key(key, rubric, asked.stamp.id)
        score = await through_client(
            context,
            lambda: self._score(context, found, report, asked, rubric=rubric, is_new_page=offset > 0),
            catalog=key,
        )
        window = Window(offset=offset, limit=limit, is_full=detail == "full")
        return score_answer(
            score,
            catalog=key,
            report=self._desk.keep_report(report, score),
            window=window,
            next_step=steps.after_server(score, key),
        )

    @offer(Offer(title="Lint tool descriptions", answer=LintAnswer))
    async def lint_descriptions(
        self,
        context: _Context,
        *,
        tools: Tools = None,
        locator: Where = None,
        catalog: Earlier = None,
        tool: ToolName = None,
        severity: Annotated[
            Literal["error", "warning", "info"], Field(description="The mildest severity that is listed")
        ] = "info",
        select: Rules = [],  # noqa: B006
        ignore: Annotated[
            list[str],
            Field(max_length=MAX_LISTED, description="Rules to leave out, spelled as for select; default: none"),
        ] = [],  # noqa: B006
        profile: Profile = "default",
        detail: Annotated[Literal["summary", "full"], Field(description="full leaves no message cut")] = "summary",
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> LintAnswer:
        """Check tool definitions against the linter's rules and list the findings, the worst first, without a score.

        Use it to see every defect of a server or of one tool, for example after score_server has named the lowest;
        explain_rule says why a finding matters, suggest_rewrite repairs it. Give one of tools, locator or catalog. It
        is read-only and deterministic and asks no model. Returns counts, and 20 findings per page, each with rule,
        severity, place and suggestion; a clean catalog gives an empty list.
        """
        found, key = await self._desk.catalog(context, tools=tools, locator=locator, catalog=catalog)
        selection = registry.select(names=select, ignored=ignore, profile=None if profile == "default" else profile)
        report = app.lint(found, Policy(selection=selection))
        wanted = Wanted(worst_from=Severity(severity), tool=known(found, tool))
        window = Window(offset=offset, limit=limit, is_full=detail == "full")
        step = steps.after_lint(report.findings, key)
        return lint_answer(report, wanted, catalog=key, window=window, next_step=step)

    @offer(Offer(title="Explain a rule", answer=Explanation, is_open_world=False))
    async def explain_rule(
        self,
        *,
        rule: Annotated[
            str,
            Field(
                min_length=1,
                max_length=100,
                description="Rule id, name or alias such as TDQ104 or missing-usage; or a dimension such as "
                "purpose_clarity, a flag, or a tier A-F",
            ),
        ],
    ) -> Explanation:
        """Explain one rule, dimension, flag or tier: why it matters, with a bad and a good definition.

        Use it when a finding of lint_descriptions or a score of score_server is unclear; to get the repaired text use
        suggest_rewrite instead. Returns one Markdown page from the built-in catalog, the same every time; an unknown id
        is an error that lists the known ones.
        """
        return Explanation(id=fence(rule.strip()), page=app.explain(rule.strip()))

    async def _score(
        self, context: _Context, catalog: Catalog, report: str, judge: Judge, *, rubric: str, is_new_page: bool
    ) -> Scored:
        """The score; the one in memory where pages of it are read, or nothing in it is missing."""
        known = self._desk.shelf.reports.get(report)
        if known is not None and (is_new_page or not known.ungraded):
            return known
        watched = self._desk.watched(judge, context)
        return await while_present(context, lambda: scored(catalog, rubric=rubric, judge=watched))
