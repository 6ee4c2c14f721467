"""The tools that score, lint and explain, and what their answers tell the agent to do next."""

from collections.abc import Sequence

from mcp.server.apps import client_supports_apps

from tdqs_mcp.app import judging, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.judges.judge import Subset, tool_at
from tdqs_mcp.report.agent_page import Explanation, LintAnswer, Wanted, Window, lint_answer
from tdqs_mcp.report.agent_scores import ScoreAnswer, Scored, ToolAnswer, score_answer, tool_answer
from tdqs_mcp.report.escape import fence_name
from tdqs_mcp.results.contract import Own
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
    """What a definition or a server is worth, and why."""

    @mcp_tool("Score one tool definition", ToolAnswer)
    async def score_tool_definition(
        self,
        call: CallContext,
        *,
        definition: schema.Definition,
        siblings: schema.Siblings = [],  # noqa: B006  # never changed; a schema shows it as the default
        rubric: schema.Rubric = "tdqs",
        judge: schema.ScoreJudge = "configured",
        detail: schema.Detail = "summary",
    ) -> ToolAnswer:
        """Score one MCP tool definition by TDQS and list what to fix in it.

        Use it while writing or repairing a single definition, for example {"name": "get_order", …}; for a whole server
        use score_server instead. The definition is only read, never called; the offline judge gives the same input the
        same score. Returns TDQS 1.0-5.0, tier A-F, six dimension scores and the findings. It fails on no definition: a
        malformed one is ungraded, with the reason. At most 1,999 siblings.
        """
        catalog = one_tool(definition, siblings)
        only_first = Subset(judge=self._context.score_judge(judge, call, tools=1), is_meant=tool_at(0))
        score = await run_call(call, lambda: score_catalog(catalog, rubric=rubric, judge=only_first))
        key = self._context.keep_catalog(catalog)
        next_step = _after_tool(score, key, has_siblings=bool(siblings))
        return tool_answer(score, catalog=key, index=0, is_full=detail == "full", next_step=next_step)

    @mcp_tool("Score a whole server", ScoreAnswer, card=SCORE_CARD)
    async def score_server(
        self,
        call: CallContext,
        *,
        catalog: schema.Where,
        rubric: schema.Rubric = "tdqs",
        judge: schema.ScoreJudge = "configured",
        detail: schema.Detail = "summary",
        limit: schema.Limit = 10,
        offset: schema.Offset = 0,
    ) -> ScoreAnswer:
        """Score all tools of one MCP server and how well they fit together, and rank what to fix first.

        Start here, for example with "tools.json", then plan_improvements or suggest_rewrite. Instead use
        score_tool_definition for one definition, lint_descriptions for findings, compare_definitions for versions,
        prepare_judgement, submit_judgement to judge yourself. No tool is ever called; what cannot be read is an
        error. Returns overall score, tier, and the lowest of up to 2,000 tools, 10 per page.
        """
        found, key = self._context.resumed(call) or await self._context.read_catalog(call, catalog)
        asked = self._context.score_judge(judge, call, tools=len(found.tools))
        report = f"{key}-{rubric}-{asked.stamp.id}"
        score = self._context.find_report(report)
        if score is None or (score.ungraded and not offset):  # later pages are those of the score that the first showed
            score = await run_call(call, lambda: score_catalog(found, rubric=rubric, judge=asked), catalog=key)
        return score_answer(
            score,
            catalog=key,
            report=self._context.keep_report(report, score),
            window=Window(offset=offset, limit=limit, is_full=detail == "full"),
            next_step=incomplete_note(found)
            + _after_server(score, key, is_drafted=bool(self._context.draft_of(key).done)),
            has_card=client_supports_apps(call),
        )

    @mcp_tool("Lint tool descriptions", LintAnswer)
    async def lint_descriptions(
        self,
        call: CallContext,
        *,
        catalog: schema.WhereAgain,
        tool: schema.ToolName = None,
        severity: schema.Mildest = "info",
        select: schema.Rules = [],  # noqa: B006
        ignore: schema.IgnoredRules = [],  # noqa: B006
        profile: schema.Profile = "default",
        detail: schema.MessageDetail = "summary",
        limit: schema.Limit = 20,
        offset: schema.Offset = 0,
    ) -> LintAnswer:
        """Check tool definitions against the linter's rules and list the findings, the worst first, without a score.

        Use it to see every defect of a server or of one tool, for example all errors with severity "error"; for scores
        use score_server instead. explain_rule says why a finding matters, suggest_rewrite repairs it. It is
        deterministic and asks no model. Returns counts, and 20 findings per page, each with rule, severity, place and
        suggestion; a clean catalog gives an empty list.
        """
        found, key = await self._context.read_catalog(call, catalog)
        selection = registry.select(names=select, ignored=ignore, profile=None if profile == "default" else profile)

        async def lint() -> LintReport:
            return linting.lint(found, Policy(selection=selection))

        report = await run_call(call, lint)
        wanted = Wanted(worst_from=Severity(severity), tool=find_tool(found, tool))
        window = Window(offset=offset, limit=limit, is_full=detail == "full")
        next_step = incomplete_note(found) + _after_lint(report.findings, key)
        return lint_answer(report, wanted, catalog=key, window=window, next_step=next_step)

    @mcp_tool("Explain a rule", Explanation, opens=False)
    async def explain_rule(self, *, rule: schema.RuleName) -> Explanation:
        """Explain one rule, dimension, flag or tier: why it matters, with a bad and a good definition.

        Use it when a finding of lint_descriptions is unclear, for example TDQ104; to get the repaired text use
        suggest_rewrite instead. Returns one Markdown page from the built-in catalog, the same every time. An unknown id
        is an error that lists the known ones; findings of your own definitions are not in it.
        """
        return Explanation(id=rule.strip(), page=Own(judging.explain(rule.strip())))


def _after_tool(score: Scored, catalog: str, *, has_siblings: bool) -> str:
    """The next step after the first tool of a catalog was scored."""
    if any(tool.index == 0 and tool.ungraded.judge not in (UNMEASURED, "offline") for tool in score.ungraded):
        return "The judge gave no answer: ask again, or with judge=offline. The findings hold all the same."
    if _needs_model(score):
        return _judge_yourself(catalog)
    if any(tool.index == 0 for tool in score.ungraded):
        return "Correct what makes the definition ungraded, then score_tool_definition with it again."
    if not any(finding.tool_index == 0 for finding in score.findings):
        return CLEAN
    alone = "" if has_siblings else " Give siblings too, so that the tool is compared with its neighbors."
    named = next(fence_name(tool.name) for tool in score.tools if tool.index == 0)
    return (
        f"suggest_rewrite with catalog {catalog} and tool {named} drafts a better one; apply what is true, then "
        f"score_tool_definition again.{alone}"
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
    plan = f"plan_improvements with catalog {catalog} and target {higher[-1]} says what to repair. " if higher else ""
    if is_drafted:
        return f"Apply the drafts where the definitions are written. {plan}".strip()
    found = "" if higher else f" lint_descriptions with catalog {catalog} lists all findings."
    return f"{plan}suggest_rewrite with catalog {catalog} drafts those that gain most.{found}"


def _needs_model(score: Scored) -> bool:
    """Whether the offline judge was asked for labels that only a model can give."""
    return isinstance(score, LabelScore) and score.rubric == "bundles" and score.judge.is_offline


def _judge_yourself(catalog: str) -> str:
    """The next step where a model is needed."""
    return (
        f"These labels need a model: prepare_judgement with catalog {catalog} and rubric bundles, and judge yourself; "
        "or ask again with judge=sampling."
    )


def _after_lint(findings: Sequence[Finding], catalog: str) -> str:
    """The next step after a catalog was linted."""
    if not findings:
        return CLEAN
    return f"explain_rule says why a rule matters; suggest_rewrite with catalog {catalog} and tool=names repairs."
