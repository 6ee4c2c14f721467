"""The tools that improve a catalog: drafts of the caller and of ours, and whether the new version is better."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mcp.server.apps import client_supports_apps
from mcp.server.mcpserver.exceptions import ToolError

from tdqs_mcp.app import improving, judging
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.facts.schema.walk import escape_step, keyword_members, put_at, value_at
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.agent_answers import AgentAnswer, Window
from tdqs_mcp.report.agent_improvements import (
    BETTER,
    WORSE,
    SuggestedRewrites,
    compare_answer,
    in_order,
    rewrite_answer,
    rewrite_page,
    verdict_of,
)
from tdqs_mcp.report.escape import fence, fence_exact, fence_name
from tdqs_mcp.results.comparisons import Comparison
from tdqs_mcp.results.improvements import (
    OFFLINE,
    QUESTIONS_AT_ONCE,
    Question,
    Rewrite,
    RewriteReport,
    is_worth_asking,
    questions_of,
    unused_by_all,
)
from tdqs_mcp.results.scores import UNREAD, ServerScore, unjudged
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import HOST, Tier
from tdqs_mcp.rewriting.targets import estimate_changes, read_target
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC
from tdqs_mcp.server import tool_schemas as schema
from tdqs_mcp.server.connected_client import (
    SAMPLING,
    CallContext,
    Progress,
    ProgressModel,
    ask_user,
    ends_to_ask,
    make_client_model,
    run_call,
)
from tdqs_mcp.server.context import REWRITE_CARD, Draft, ToolGroup, find_tool, incomplete_note, merged
from tdqs_mcp.server.tool_schemas import mcp_tool
from tdqs_mcp.sources.input_files import parse_material

MAX_WRITTEN = 25
"""Tools that one call has judged or worded by a model: each is a request of ten kilobytes."""

MAX_LOWEST = 5
"""Tools that the next step names; the lowest tool counts most in an overall score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A call of suggest_rewrite, read."""

    catalog: Catalog
    key: str
    state: Draft
    drafts: Mapping[str, Mapping[str, Any]]
    names: tuple[str, ...]
    material: Mapping[str, Any]
    target: str | None
    goal: int
    code: CodeReport | None
    writer: str
    judge: str

    def with_answers(self, answers: Mapping[str, str]) -> "_Request":
        """Return the request with the answers of a person who was asked."""
        material = {"answers": dict(answers)}
        return replace(self, state=self.state.with_answers(material), material=merged(self.material, material))


class RewriteTools(ToolGroup):
    """Better definitions, each compared with what was there."""

    @mcp_tool("Suggest better definitions", card=REWRITE_CARD)
    async def suggest_rewrite(
        self,
        call: CallContext,
        *,
        catalog: schema.Catalog,
        draft: schema.Drafts | str = {},  # noqa: B006  # never changed; a schema shows it as the default
        instructions: str = "",
        target: str | float | None = None,
        tool: str | list[str] = [],  # noqa: B006
        material: schema.AuthorMaterial = {},  # noqa: B006
        source: str = "",
        writer: schema.Writer = "offline",
        judge: schema.JudgeName = "configured",
        detail: schema.Detail = "summary",
    ) -> AgentAnswer:
        """Draft better definitions from what is proven, or check and score drafts of yours.

        Use it after score_server, for example with draft {"get_order": {"description": "Gets one order by ID."}}; for
        two versions use compare_definitions, for defects lint_descriptions. Your words are never cut; doubts stand
        beside them. Without draft it writes what schema, siblings and code prove, and asks up to 8 questions, for
        material. No file changes. Returns scores, conflicts and newCatalog, an id for this session.
        """
        definitions, key = self._context.resumed(call) or await self._context.read_catalog(call, catalog)
        if instructions:
            definitions = replace(definitions, instructions=instructions, content=None)
        state = self._context.draft_of(key).with_answers(merged({}, material))
        drafts, strange = _whole_drafts(definitions, self._context.read_drafts(draft))
        tools = [tool] if isinstance(tool, str) else tool
        goal, unreachable = _read_goal(target, definitions)
        code, unread = await self._context.code_or_note(call, source, catalog=state.origin)
        request = _Request(
            catalog=definitions,
            key=key,
            state=state,
            drafts=drafts,
            names=tuple(drafts) or tuple(find_tool(definitions, name) or name for name in tools),
            material=merged(state.answers, material),
            target=None if target is None or unreachable else str(target),
            goal=goal,
            code=code,
            writer=writer,
            judge=judge,
        )
        # One count for the whole call, as the protocol wants it to grow; where the client is asked between two calls, a
        # report would come again with each of them.
        progress = Progress(call, verb="answered", is_silent=writer == SAMPLING and ends_to_ask(call))
        suggestion, draft_state = await self._suggest(call, request, progress, is_full=detail == "full")
        asked_catalogs = self._context.memory.asked_catalogs
        is_new = key not in asked_catalogs or self._context.resumed(call) is not None
        questions: tuple[Question, ...] = ()
        if is_new and not (material or drafts or writer == SAMPLING):
            questions = suggestion.questions
            asked_catalogs[key] = True
        if answers := await progress.during(ask_user(call, questions, catalog=key)):
            request = request.with_answers(answers)
            suggestion, draft_state = await self._suggest(call, request, progress, is_full=detail == "full")
        page, comparison = suggestion.page, suggestion.comparison
        is_offline = request.judge == HOST and comparison is not None and comparison.new.judge.id != HOST
        note = "Your verdicts are not complete, so the numbers are the offline judge's. " if is_offline else ""
        new = self._context.keep_draft(suggestion.improved, draft_state, questions=suggestion.questions)
        patch = self._context.patch(state.origin, page.rewrites) if detail == "full" else ""
        return rewrite_answer(
            suggestion,
            catalogs=(key, new),
            base=self._base_of(request),
            goal=request.goal,
            problems=[item for item in (comparison.problems if comparison else ()) if item not in state.problems],
            for_instructions="" if state.rewritten else suggestion.report.for_instructions,
            unused=unused_by_all(suggestion.report.rewrites) if request.material else (),
            patch=fence_exact(patch) if patch else "",
            next_step=unreachable + unread + strange + note + _after_rewrite(suggestion, request, new=new),
            has_card=client_supports_apps(call),
        )

    async def _suggest(
        self, call: CallContext, request: "_Request", progress: Progress, *, is_full: bool
    ) -> tuple[SuggestedRewrites, Draft]:
        """Return the rewrites that one answer has room for with what is left to ask, and how they came about."""
        names, state = request.names, request.state
        try:
            report = await self._rewrite(call, request, progress)
        except UnmeasurableError as error:
            raise ToolError(f"this definition cannot be rewritten: {fence(str(error))}") from error
        rewrites = report.rewrites
        if twin := next((item for item in names if sum(item == other.name for other in rewrites) > 1), None):
            raise InputError(f"several tools are called {fence_name(twin)}; give the definition itself as catalog")
        pending = rewrites if names else _pending(rewrites, state)
        page = rewrite_page(pending, is_full=is_full, goal=request.goal)
        left = len(pending) - len(page.rewrites)
        improved = improving.with_rewrites(request.catalog, page.rewrites)
        comparison = None
        if request.judge in (OFFLINE, HOST) or self._context.judge.stamp.is_offline:
            comparison = await run_call(call, partial(self._compare, request, improved))
            visible = _scored(page.rewrites, comparison)
            page = rewrite_page(visible, is_full=is_full, goal=request.goal)
            rewrites = tuple({item.index: item for item in (*rewrites, *visible)}.values())
        suggestion = SuggestedRewrites(
            report=report, page=page, left=left, improved=improved, comparison=comparison, questions=()
        )
        # An answer about several tools holds for those that were asked about, not for those of a later question.
        draft = replace(
            state,
            answers=request.material if left else {},
            rewritten=state.rewritten | {item.name for item in page.rewrites if item.changes},
            problems=state.problems.union(comparison.problems if comparison else ()),
        )
        is_done = suggestion.overall >= request.goal and not names
        # Who names tools is asked about them; else the author is asked about what is below the target.
        below = [item for item in rewrites if names or item.after is None or item.after.tdqs < request.goal]
        candidates = report.goal.questions if report.goal else questions_of(below)
        questions = [
            question
            for question in candidates
            if question.id not in state.answered and ((names and not request.drafts) or is_worth_asking(question))
        ]
        first = () if is_done else questions[:QUESTIONS_AT_ONCE]
        # Who drafts has seen the questions of the call before.
        put = tuple(question for question in first if not (request.drafts and question.id in state.put))
        return replace(suggestion, questions=put), draft

    async def _compare(self, request: "_Request", improved: Catalog) -> Comparison:
        """Return what the rewrites make of the catalog before all drafts, as the offline judge estimates it.

        Where the caller has judged a catalog that it names as judge of, the estimate is the change of these verdicts.
        """
        base = self._context.memory.catalogs[self._base_of(request)]
        comparison = await improving.compare(base, improved, is_draft=True, code=request.code, judge=Offline())
        if request.judge != HOST:
            return comparison
        judged = await judging.score(request.catalog, judge=self._context.find_judge(HOST))
        return comparison if judged.rollup.overall is None else estimate_changes(comparison, judged)

    def _base_of(self, request: "_Request") -> str:
        """Return the id of the catalog that all numbers are compared with: the one before all drafts, if it is there.

        The caller's verdicts are about the very catalog of the call.
        """
        origin = request.state.origin
        is_first = request.judge != HOST and origin in self._context.memory.catalogs
        return origin if is_first else request.key

    async def _rewrite(self, call: CallContext, request: "_Request", progress: Progress) -> RewriteReport:
        """Return the rewrites of all chosen tools; with a target, those that it needs."""
        is_lent = request.writer == SAMPLING
        judge = Offline() if request.judge == HOST else self._context.repeated_judge(request.judge, progress)
        if is_lent and judge.stamp.is_offline:
            judge = Offline()  # the reports count what the client is asked
        only_tool = request.names[0] if len(request.names) == 1 else None
        material = parse_material(request.material, origin="'material'", tool=only_tool)
        rewrite = partial(
            improving.rewrite, request.catalog, material=material, drafts=request.drafts, code=request.code
        )

        async def work() -> RewriteReport:
            chosen, model = list(request.names), None
            if request.judge == HOST and not chosen:
                score = await judging.score(request.catalog, judge=self._context.find_judge(HOST))
                chosen = [tool.name for tool in score.lowest_tools if tool.tdqs < request.goal]
            if not chosen and (is_lent or not judge.stamp.is_offline):
                chosen = [item.name for item in in_order(_pending(await rewrite(), request.state))[:MAX_WRITTEN]]
            if is_lent:
                model = ProgressModel(model=make_client_model(call, tools=len(chosen)), progress=progress)
            rewrites = await rewrite(tools=chosen or None, judge=judge, writer=model)
            if request.target is not None:
                return await improving.reach_target(
                    request.catalog,
                    rewrites,
                    target=request.target,
                    origin=self._context.origin(request.key),
                    judge=judge,
                )
            return RewriteReport(**request.catalog.origin, rewrites=tuple(rewrites), spec_version=DEFAULT_SPEC)

        return await run_call(call, work, catalog=request.key)

    @mcp_tool("Compare definitions")
    async def compare_definitions(
        self,
        call: CallContext,
        *,
        old: schema.Catalog,
        new: schema.Catalog,
        source: str = "",
        judge: schema.JudgeName = "configured",
        limit: schema.Limit = 10,
        offset: schema.Offset = 0,
    ) -> AgentAnswer:
        """Compare two versions of tool definitions: scores, findings, tokens, and changes that break callers.

        Use it to prove what suggest_rewrite returned, for example new = newCatalog, or to see what an update changed;
        for one version use score_server instead. Tools are matched by name, renamed ones by schema. Returns a verdict
        (worse if callers break, the score falls or errors come, never for more tokens), both scores, and the
        differences, 10 per page, the breaking ones first.
        """
        before, old_key = await self._context.read_catalog(call, old)
        after, new_key = await self._context.read_catalog(call, new)
        active_judge = self._context.repeated_judge(judge, Progress(call))
        origin = self._context.draft_of(new_key).origin
        is_draft = old_key != new_key and origin == old_key
        code, unread = await self._context.code_or_note(call, source, catalog=origin)
        comparison = await run_call(
            call, partial(improving.compare, before, after, is_draft=is_draft, code=code, judge=active_judge)
        )
        note = incomplete_note(before, after) + unread
        return compare_answer(
            comparison,
            catalogs=(old_key, new_key),
            is_drafted=is_draft,
            window=Window(offset=offset, limit=limit),
            next_step=note + _after_comparison(comparison, new_key),
        )


def _read_goal(target: str | float | None, catalog: Catalog) -> tuple[int, str]:
    """The overall score to reach, in tenths, and why it cannot be: an incomplete list has none. Raises InputError."""
    goal = read_target(fence(str(target or Tier.A)))  # a tier or a number stays as it is; a refusal quotes the rest
    note = incomplete_note(catalog) if target is not None else ""
    return goal, f"No target can be reached. {note}" if note else ""


def _whole_drafts(catalog: Catalog, drafts: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, dict[str, Any]], str]:
    """Drafts by the tool's name, with hints and texts of parameters in their places, and what was not taken.

    Raises InputError where nothing is left.
    """
    tools = {tool.name: tool for tool in catalog.tools}
    whole: dict[str, dict[str, Any]] = {}
    strange: list[str] = []
    for name, item in drafts.items():
        try:
            tool_name = find_tool(catalog, name) or name
        except InputError as error:
            strange.append(str(error))
            continue
        raw, fields = tools[tool_name].raw, dict(item)
        if isinstance(hints := fields.get("annotations"), Mapping):
            fields["annotations"] = {**(raw.get("annotations") or {}), **hints}
        for parameter, text in fields.pop("parameters", {}).items():
            schema_ = fields.get("inputSchema", raw.get("inputSchema") or {})
            paths = list(_property_paths(schema_, parameter))
            for path in paths:
                schema_ = put_at(schema_, f"{path}/description", text)
            if paths:
                fields["inputSchema"] = schema_
            else:
                strange.append(f"the tool {fence_name(tool_name)} has no parameter {fence_name(parameter)}")
        if fields or not item:
            whole[tool_name] = fields
    if strange and not whole:
        raise InputError("; ".join(strange))
    return whole, f"Not taken: {'; '.join(strange)}. " if strange else ""


def _property_paths(schema_: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the JSON pointers of a parameter in an input schema; of `a.b` in an object, its variants, its entries."""
    properties = keyword_members(schema_)
    if name in properties:
        yield f"/properties/{escape_step(name)}"
    first, _, rest = name.partition(".")
    inner = properties.get(first) if rest else None
    choices = [(word, inner.get(word)) for word in ("anyOf", "oneOf")] if isinstance(inner, Mapping) else []
    variants = [f"/{word}/{place}" for word, parts in choices if isinstance(parts, list) for place in range(len(parts))]
    for step in ("", "/items", *variants):
        below = value_at(inner, step) if rest else None
        if isinstance(below, Mapping):
            yield from (f"/properties/{escape_step(first)}{step}{path}" for path in _property_paths(below, rest))


def _scored(rewrites: Sequence[Rewrite], comparison: Comparison) -> list[Rewrite]:
    """Return rewrites with the numbers that a comparison has of their tools."""
    tools = {tool.index_after: tool for tool in comparison.tools}
    return [
        replace(
            rewrite,
            before=tools[rewrite.index].before,
            after=tools[rewrite.index].after,
            tokens_before=tools[rewrite.index].tokens_before or rewrite.tokens_before,
        )
        for rewrite in rewrites
    ]


def _pending(rewrites: Sequence[Rewrite], draft: Draft) -> list[Rewrite]:
    """The rewrites that change something; of tools drafted before, those that rest on what the author has told."""
    return [
        rewrite for rewrite in rewrites if rewrite.changes and (rewrite.name not in draft.rewritten or rewrite.is_told)
    ]


def _after_rewrite(suggestion: SuggestedRewrites, request: _Request, *, new: str) -> str:
    """The next step after drafts were checked or made."""
    rewrites, left, old = suggestion.page.rewrites, suggestion.left, request.state.origin
    if not suggestion.report.rewrites:
        return f"No tool here can be read as a definition: score_server with catalog {request.key} says why."
    reasons = [rewrite.unjudged or "" for rewrite in rewrites]
    if reasons and all(reasons):
        is_computed = all(reason.startswith(UNREAD) for reason in reasons)
        computed = "What the code computes has no rewrite: take the running server, or its capture, as catalog."
        unproven = "The judge gave no answer, so nothing is proven: suggest_rewrite with catalog"
        return computed if is_computed else f"{unproven} {new} and judge=offline."
    is_same, goal = new == old, request.goal / 10
    is_reached = suggestion.overall >= request.goal
    if suggestion.comparison and verdict_of(suggestion.comparison) == WORSE:
        reached = f" though {goal} is reached" if is_reached else ""
        return (
            f"This is worse{reached}, as worseBecause says: leave that out, or draft those tools again, with catalog "
            f"{request.key}."
        )
    compare = f"compare_definitions with old={old} and new={new}, then apply the new texts."
    more = f"suggest_rewrite with catalog {new} gives the next of the {left} tools left." if left else ""
    if is_reached and suggestion.comparison:
        step = "there is nothing to do." if is_same else compare
        low = [tool for tool in suggestion.comparison.new.lowest_tools if tool.tdqs < request.goal]
        rest = f" {_lowest(suggestion.comparison.new)} Draft them for more." if low and not left else ""
        return f"{goal} is reached: {step}{f' If you want more, {more}' if left else rest}"
    if left:
        return more
    again = "draft the tools under `lowest` and `alsoBelow` again, all in one call"
    short = f"{suggestion.overall / 10} is below {goal}: {again}. " if suggestion.overall else ""
    rest = f"{short}No answer is missing that gains{'.' if is_same else f': {compare}'}"
    if any(map(is_worth_asking, suggestion.questions)):
        ask = f"nswer what you can: suggest_rewrite with catalog {new} and material={{answers: {{ID: text}}}}."
        rest = f"{short}{'For the rest a' if short else 'A'}{ask}{'' if is_same else f' When done, {compare}'}"
    return rest


def _lowest(score: ServerScore) -> str:
    """The lowest tools and what they score, in a sentence."""
    tools = [f"{fence_name(tool.name)} ({tool.tdqs / 10})" for tool in score.lowest_tools[:MAX_LOWEST]]
    coherence = f"; coherence is {score.rollup.coherence / 10}" if score.rollup.coherence else ""
    return f"The lowest tools are {', '.join(tools)}{coherence}."


def _after_comparison(comparison: Comparison, new: str) -> str:
    """The next step after two versions were compared."""
    verdict = verdict_of(comparison)
    if verdict == WORSE:
        return "The new version is worse, as worseBecause says: leave those changes out, or tell the tools' users."
    if unjudged(comparison.old) or unjudged(comparison.new):
        rest = "judge the rest and compare again, or compare with judge=offline."
        return f"The verdict is {verdict}, by what was judged, which is not all: {rest}"
    overall = comparison.new.rollup.overall
    if overall is None or overall >= Tier.A.floor:
        reached = "" if overall is None else ", and A is reached"
        return f"It is {verdict}{reached}: apply the changes." if verdict == BETTER else f"It is {verdict}{reached}."
    return (
        f"It is {verdict}, and {overall / 10} is below tier A ({Tier.A.floor / 10}). {_lowest(comparison.new)} "
        f"Draft them again with suggest_rewrite and catalog {new}, or apply the changes."
    )
