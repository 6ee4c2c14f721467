"""The tools that improve a catalog: what to rewrite, how, and whether the new version is better; and the next steps."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mcp.server.apps import client_supports_apps
from mcp.server.mcpserver.exceptions import ToolError

from tdqs_mcp.app import improving, judging
from tdqs_mcp.app.catalogs import capture_document
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.agent_answers import AgentAnswer, Window
from tdqs_mcp.report.agent_improvements import (
    compare_answer,
    in_order,
    plan_answer,
    plan_questions,
    rewrite_answer,
    rewrite_card,
    rewrite_page,
)
from tdqs_mcp.report.escape import fence, fence_name
from tdqs_mcp.results.comparisons import Comparison
from tdqs_mcp.results.improvements import (
    QUESTIONS_AT_ONCE,
    Plan,
    Question,
    Rewrite,
    is_worth_asking,
    questions_of,
    unused_by_all,
)
from tdqs_mcp.results.scores import Rollup, unjudged
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.server import tool_schemas as schema
from tdqs_mcp.server.connected_client import (
    SAMPLING,
    CallContext,
    Progress,
    ProgressModel,
    ends_to_ask,
    make_client_model,
    run_call,
)
from tdqs_mcp.server.context import REWRITE_CARD, Draft, ToolGroup, find_tool, incomplete_note, merged, read_definitions
from tdqs_mcp.server.tool_schemas import mcp_tool
from tdqs_mcp.sources.input_files import parse_material

MAX_WRITTEN = 25
"""Tools that one call has judged or worded by a model: each is a request of ten kilobytes."""


MAX_LOWEST = 3
"""Tools that the next step names; the lowest tool counts most in an overall score."""


class RewriteTools(ToolGroup):
    """Better definitions, each compared with what was there."""

    @mcp_tool("Suggest better definitions", card=REWRITE_CARD)
    async def suggest_rewrite(
        self,
        call: CallContext,
        *,
        catalog: schema.WhereAgain,
        tool: schema.Names = [],  # noqa: B006
        material: schema.MaterialOf = {},  # noqa: B006
        draft: schema.Drafts = {},  # noqa: B006
        source: schema.SourceFolder = "",
        writer: schema.Writer = "offline",
        judge: schema.JudgeName = "configured",
        detail: schema.Detail = "summary",
    ) -> AgentAnswer:
        """Draft better definitions for tools of a catalog, or check drafts of your own.

        Use it on tools that score_server or lint_descriptions found wanting; to learn which to repair first use
        plan_improvements instead, for a rule explain_rule. Nothing is written: you apply the changes. What only the
        author knows comes back as questions, for example cancel_order.behavior; answer them in material and call again.
        Returns changes as path and value, and newCatalog with its score, for compare_definitions.
        """
        definitions, key = self._context.resumed(call) or await self._context.read_catalog(call, catalog)
        state = self._context.draft_of(key).with_answers(merged({}, material))
        drafts = {find_tool(definitions, name) or name: item for name, item in draft.items()}
        names = list(drafts) or [
            find_tool(definitions, item) or item for item in ([tool] if isinstance(tool, str) else tool)
        ]
        all_material = merged(state.answers, material)
        parsed_material = parse_material(all_material, origin="'material'", tool=names[0] if len(names) == 1 else None)
        progress = Progress(call, verb="answered", is_silent=writer == SAMPLING and ends_to_ask(call))
        active_judge = self._context.repeated_judge(judge, progress)
        if writer == SAMPLING and active_judge.stamp.is_offline:
            active_judge = Offline()  # the reports count what the client is asked
        code = await self._context.read_code(call, source)
        rewrite = partial(improving.rewrite, definitions, material=parsed_material, drafts=drafts, code=code)

        async def work() -> list[Rewrite]:
            chosen, model = names, None
            if not names and (writer == SAMPLING or not active_judge.stamp.is_offline):
                pending = _pending(await rewrite(), state)
                chosen = [item.name for item in in_order(pending)[:MAX_WRITTEN]]
            if writer == SAMPLING:
                model = ProgressModel(model=make_client_model(call, tools=len(chosen)), progress=progress)
            return await rewrite(tools=chosen or None, judge=active_judge, writer=model)

        try:
            rewrites = await run_call(call, work, catalog=key)
        except UnmeasurableError as error:
            raise ToolError(f"this definition cannot be rewritten: {fence(str(error))}") from error
        if twin := next((item for item in names if sum(item == other.name for other in rewrites) > 1), None):
            raise InputError(f"several tools are called {fence_name(twin)}; give the definition itself as catalog")
        candidates = rewrites if names else _pending(rewrites, state)
        listed_rewrites, lines = rewrite_page(candidates, is_full=detail == "full")
        left = len(candidates) - len(listed_rewrites)
        asked_of = listed_rewrites if left else rewrites if names else _below_target(rewrites)
        open_ones = [question for question in questions_of(asked_of) if not state.has_answer(question)]
        rewritten_names = state.rewritten | {item.name for item in listed_rewrites if item.changes}
        # An answer about several tools holds for those that were asked about, not for those of a later question.
        after = replace(state, answers=all_material if left else {}, rewritten=rewritten_names)
        improved = improving.with_rewrites(definitions, listed_rewrites)
        rollup = await run_call(call, partial(_rollup, improved)) if active_judge.stamp.is_offline else None
        is_reached = rollup is not None and (rollup.overall or 0) >= Tier.A.floor
        questions = [question for question in open_ones if names or (is_worth_asking(question) and not is_reached)][
            :QUESTIONS_AT_ONCE
        ]
        new = self._context.keep_draft(improved, after, questions=questions)
        has_questions = any(map(is_worth_asking, questions))
        following = _after_rewrite(
            listed_rewrites,
            old=state.origin,
            new=new,
            left=left,
            is_reached=is_reached,
            has_questions=has_questions,
        )
        if code is not None:
            again = f"suggest_rewrite with catalog {new}"
            following = following.replace(again, f"{again}, the same source")
        return rewrite_answer(
            lines,
            catalogs=(key, new),
            rollup=rollup,
            questions=questions,
            descriptions=_unseen(definitions, listed_rewrites, questions, state),
            unused=unused_by_all(rewrites) if material else (),
            remaining=left,
            next_step=following if rewrites else _unreadable(key),
            card=rewrite_card(listed_rewrites) if client_supports_apps(call) else None,
        )

    @mcp_tool("Plan improvements")
    async def plan_improvements(
        self,
        call: CallContext,
        *,
        catalog: schema.WhereAgain,
        target: schema.Target = "A",
        judge: schema.JudgeName = "configured",
        limit: schema.Limit = 10,
        offset: schema.Offset = 0,
    ) -> AgentAnswer:
        """Find the cheapest set of tool rewrites that brings a server's overall score to a tier, by the judge's scores.

        Use it after score_server to learn which few tools to repair, for example to reach tier B; for known tools use
        suggest_rewrite instead. Nothing is applied; an incomplete list of tools is refused. Returns the overall score
        before and after, tokens added, and the steps, 10 per page: drafted ones first, by expected gain per token, then
        tools that only the author can improve, with questions.
        """
        definitions, key = await self._context.read_catalog(call, catalog)
        if note := incomplete_note(definitions):
            raise InputError(note.strip())
        active_judge = self._context.repeated_judge(judge, Progress(call))
        fenced_target = fence(str(target))  # a tier or a number stays as it is; anything else is quoted in the refusal
        plan = await run_call(call, partial(improving.plan, definitions, target=fenced_target, judge=active_judge))
        window = Window(offset=offset, limit=limit)
        self._context.keep_draft(definitions, self._context.draft_of(key), questions=plan_questions(plan, window))
        return plan_answer(
            plan,
            catalog=key,
            descriptions=[tool.description or "" for tool in definitions.tools],
            window=window,
            next_step=_after_plan(plan, key),
        )

    @mcp_tool("Compare definitions")
    async def compare_definitions(
        self,
        call: CallContext,
        *,
        old: schema.OldVersion,
        new: schema.NewVersion,
        judge: schema.JudgeName = "configured",
        limit: schema.Limit = 10,
        offset: schema.Offset = 0,
    ) -> AgentAnswer:
        """Compare two versions of tool definitions: scores, findings, tokens, and changes that break callers.

        Use it to prove what suggest_rewrite drafted, or to see what an update changed, for example old "v1.json", new
        "v2.json"; to score one version use score_server instead. Tools are matched by name, renamed ones by schema.
        Returns worse (true if a tier or TDQS falls, callers break, or errors or warnings come),
        both overall scores, and the differences, 10 per page, the breaking ones first.
        """
        before, old_key = await self._context.read_catalog(call, old)
        changed = new.get("changed") if isinstance(new, dict) and new.keys() == {"changed"} else None
        after, new_key = await self._context.read_catalog(
            call, new if changed is None else _with_changed(before, changed)
        )
        active_judge = self._context.repeated_judge(judge, Progress(call))
        comparison = await run_call(call, partial(improving.compare, before, after, judge=active_judge))
        note = incomplete_note(before, after)
        return compare_answer(
            comparison,
            catalogs=(old_key, new_key),
            window=Window(offset=offset, limit=limit),
            next_step=note + _after_comparison(comparison, new_key, self._context.draft_of(new_key)),
        )


def _below_target(rewrites: Sequence[Rewrite]) -> list[Rewrite]:
    """The tools that tier A is still ahead of, whose authors are asked unless they name others."""
    return [rewrite for rewrite in rewrites if rewrite.after is None or rewrite.after.tdqs < Tier.A.floor]


def _pending(rewrites: Sequence[Rewrite], draft: Draft) -> list[Rewrite]:
    """The rewrites that change something; of tools drafted before, those that rest on what the author has told."""
    return [
        rewrite for rewrite in rewrites if rewrite.changes and (rewrite.name not in draft.rewritten or rewrite.is_told)
    ]


def _with_changed(before: Catalog, changed: object) -> dict[str, Any]:
    """The catalog with other definitions in place of those of the same name, and new ones after them."""
    changed_tools = {tool.name: tool.raw for tool in read_definitions(changed).tools}
    names = {tool.name for tool in before.tools}
    definitions = [changed_tools.get(tool.name, tool.raw) for tool in before.tools]
    return {
        **capture_document(before),
        "tools": [*definitions, *(raw for name, raw in changed_tools.items() if name not in names)],
    }


async def _rollup(catalog: Catalog) -> Rollup:
    """The numbers of a catalog by the offline judge."""
    return (await judging.score(catalog)).rollup


def _unseen(
    catalog: Catalog, visible: Sequence[Rewrite], questions: Sequence[Question], draft: Draft
) -> dict[str, str]:
    """The descriptions of tools that are asked about for the first time and that this answer does not show anew."""
    new_tools = {question.tools[0] for question in questions if question.id not in draft.open_questions}
    reworded = {rewrite.name for rewrite in visible if any(change.path == "/description" for change in rewrite.changes)}
    return {tool.name: tool.description or "" for tool in catalog.tools if tool.name in new_tools - reworded}


def _unreadable(catalog: str) -> str:
    return f"No tool here can be read as a definition: score_server with catalog {catalog} says why."


def _after_rewrite(
    rewrites: Sequence[Rewrite], *, old: str, new: str, left: int, is_reached: bool, has_questions: bool
) -> str:
    """The next step after definitions were drafted; the answer had no room for `left` tools with a draft."""
    compare = f"compare_definitions with old={old} and new={new}, then apply the changes of all answers"
    if rewrites and all(rewrite.unjudged for rewrite in rewrites):
        return f"The judge gave no answer, so nothing is proven: suggest_rewrite with catalog {new} and judge=offline."
    more = f"suggest_rewrite with catalog {new} gives the next of the {left} tools left."
    if is_reached:
        if new == old:
            return f"A is reached: there is nothing to do.{f' {more}' if left else ''}"
        return f"A is reached: {compare}.{f' If you want more, {more}' if left else ''}"
    if left:
        return more
    ask = (
        f"Answer the questions that you can: suggest_rewrite with catalog {new} and material={{answers: {{ID: text}}}}."
    )
    if new == old:
        nothing = f"There is nothing to change: score_server with catalog {new} says what it is worth."
        return ask if has_questions else nothing
    return f"{ask} When done, {compare}." if has_questions else f"No answer is missing that gains: {compare}."


def _after_plan(plan: Plan, catalog: str) -> str:
    """The next step after a plan was made."""
    answer = f"suggest_rewrite with catalog {catalog} and material={{answers: {{ID: text}}}}"
    if plan.fixes:
        names = "no tool for all of them, or the names of those you want"
        rest = f" Questions are answered in the same call: {answer}.{_bound(plan)}" if plan.advice else ""
        return f"suggest_rewrite with catalog {catalog} drafts these steps: give {names}.{rest}"
    if plan.is_reached:
        return "The target is reached already: there is nothing to do."
    if any(advice.questions for advice in plan.advice):
        return f"No rewrite helps without the author: answer the questions, {answer}.{_bound(plan)}"
    if plan.advice:
        return "No rewrite helps here: write what the steps say into the definitions, then score_server with them."
    return "No rewrite helps here: make the tool set more coherent, tool definitions alone cannot reach the target."


def _bound(plan: Plan) -> str:
    """Return what the answers can bring, where that is less than the target."""
    if plan.with_answers is None or plan.with_answers >= plan.target:
        return ""
    most, target = plan.with_answers / 10, plan.target / 10
    return f" All answers bring {most} at most, an estimate: for {target} the tool set has to become more coherent."


def _after_comparison(comparison: Comparison, new: str, draft: Draft) -> str:
    """The next step after two versions were compared."""
    if comparison.regressions:
        return "The new version is worse where regressions says so: leave those changes out, or tell the tools' users."
    if unjudged(comparison.old) or unjudged(comparison.new):
        return "Nothing is worse in what was judged, which is not all: compare again, or with judge=offline."
    overall = comparison.new.rollup.overall
    if overall is not None and overall >= Tier.A.floor:
        return "Nothing is worse, and A is reached: apply the changes."
    if overall is None or (draft.rewritten and not draft.is_open):
        return "Nothing is worse, and no answer is missing that gains: apply the changes."
    lowest = sorted(comparison.new.tools, key=lambda tool: (tool.tdqs, tool.index))[:MAX_LOWEST]
    names = ", ".join(fence_name(tool.name) for tool in lowest)
    more = (
        f"suggest_rewrite with catalog {new} and tool=[{names}], the lowest, asks what they need"
        if draft.rewritten
        else f"plan_improvements with catalog {new} says what to repair; the lowest are {names}"
    )
    return f"Nothing is worse, but {overall / 10} is below tier A ({Tier.A.floor / 10}): {more}."
