"""The tools that score, lint and judge: arguments in, one use case of `app`, an answer that an agent can act on out."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from tdqs_mcp import app
from tdqs_mcp.canonical import short_hash
from tdqs_mcp.configuration import Policy
from tdqs_mcp.errors import InputError, TdqsError, UnmeasurableError
from tdqs_mcp.judges.host import Host
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.judges.only import Only, tool_at
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.results import Mode, Rewrite, Severity
from tdqs_mcp.reporters import agent, judging
from tdqs_mcp.reporters.agent import Scored, Wanted, Window
from tdqs_mcp.reporters.fence import fence, fence_name, unfence
from tdqs_mcp.rules import registry
from tdqs_mcp.server import steps
from tdqs_mcp.server.addresses import doorkeeper
from tdqs_mcp.server.arguments import (
    Answer,
    Definition,
    Detail,
    Docs,
    Earlier,
    Facts,
    JudgeName,
    Limit,
    ModelName,
    ModeName,
    Offset,
    Profile,
    Rubric,
    Rules,
    ScoreJudge,
    Siblings,
    ToolName,
    Tools,
    Traces,
    Where,
    Writer,
)
from tdqs_mcp.server.judgement import Judgement, answer_schema
from tdqs_mcp.server.memory import Answers
from tdqs_mcp.server.offer import Offer, Offered, offer
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.server.presence import while_present
from tdqs_mcp.server.sampling import (
    SAMPLING,
    client_judge,
    client_model,
    pauses,
    resumed_catalog,
    through_client,
)
from tdqs_mcp.server.shelf import Shelf
from tdqs_mcp.server.watch import BATCH, Watched
from tdqs_mcp.sources.load import parse as parse_json
from tdqs_mcp.sources.locator import File, Url
from tdqs_mcp.sources.locator import parse as parse_locator
from tdqs_mcp.sources.material import parse_material
from tdqs_mcp.sources.options import LiveOptions

MAX_TOOLS = 2_000
"""Tools of one call: ten times the largest catalog in use, a few seconds of the offline judge."""

MAX_BYTES = 16 * 2**20
"""Bytes of the definitions that a live server may list to a caller of ours."""

_Context = Context[Any, Any]


class Desk:
    """The tools with what they share: the operator's permissions and judge, and the memory of earlier calls."""

    def __init__(
        self,
        *,
        permissions: Permissions,
        answers: Answers,
        judge: Judge | None = None,
        has_host: bool = False,
        timeout: float = 60.0,
    ) -> None:
        """Tools that may do what the operator permits; `timeout` in seconds bounds the capture of a live server.

        With `has_host`, the judge is a jury that waits for the calling agent's answers.
        """
        self.shelf = Shelf(answers)
        self._permissions = permissions
        self._judge = judge or Offline()
        self._has_host = has_host
        self._timeout = timeout

    @offer(Offer(title="Score one tool definition", answer=agent.ToolAnswer))
    async def score_tool_definition(
        self,
        context: _Context,
        *,
        definition: Definition,
        siblings: Siblings = [],  # noqa: B006  # never changed; a schema shows it as the default
        rubric: Rubric = "tdqs",
        judge: ScoreJudge = "configured",
        detail: Detail = "summary",
    ) -> agent.ToolAnswer:
        """Score one MCP tool definition by TDQS and list what to fix in it.

        Use it while writing or repairing a single definition; for a whole server use score_server instead, for findings
        without a score lint_descriptions. The definition is only read, never called, and the offline judge gives the
        same input the same score. Returns TDQS 1.0-5.0, tier A-F, six dimension scores and the findings; a malformed
        definition comes back ungraded with the reason.
        """
        catalog = _one(definition, siblings)
        watched = self._watched(self._scoring(judge, context, tools=1), context)
        asked = Only(judge=watched, is_meant=tool_at(0))
        score = await through_client(
            context, lambda: while_present(context, lambda: _scored(catalog, rubric=rubric, judge=asked))
        )
        return agent.tool_answer(
            score, index=0, is_full=detail == "full", next_step=steps.after_tool(score, has_siblings=bool(siblings))
        )

    @offer(Offer(title="Score a whole server", answer=agent.ScoreAnswer))
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
    ) -> agent.ScoreAnswer:
        """Score all tools of one MCP server and how well they fit together, and rank what to fix first.

        Start here with a server; for a single definition use score_tool_definition instead, to judge with your own
        model prepare_judgement. Give one of tools, locator or catalog. The server's tools are listed, never called; a
        live one is stopped again. Returns overall score and tier, and the lowest tools each with its first fix, 10 per
        page; the whole report stays readable as a resource.
        """
        found, key = self._resumed(context) or await self._catalog(
            context, tools=tools, locator=locator, catalog=catalog
        )
        asked = self._scoring(judge, context, tools=len(found.tools))
        report = _report_key(key, rubric, asked.stamp.id)
        score = await through_client(
            context,
            lambda: self._score(context, found, report, asked, rubric=rubric, is_new_page=offset > 0),
            catalog=key,
        )
        window = Window(offset=offset, limit=limit, is_full=detail == "full")
        return agent.score_answer(
            score,
            catalog=key,
            report=self._report(report, score),
            window=window,
            next_step=steps.after_server(score, key),
        )

    @offer(Offer(title="Lint tool descriptions", answer=agent.LintAnswer))
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
            list[str], Field(description="Rules to leave out, spelled as for select; default: none")
        ] = [],  # noqa: B006
        profile: Profile = "default",
        detail: Annotated[Literal["summary", "full"], Field(description="full leaves no message cut")] = "summary",
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> agent.LintAnswer:
        """Check tool definitions against the linter's rules and list the findings, the worst first, without a score.

        Use it to see every defect of a server or of one tool, for example after score_server has named the lowest;
        explain_rule says why a finding matters, suggest_rewrite repairs it. Give one of tools, locator or catalog. It
        is read-only and deterministic and asks no model. Returns counts, and 20 findings per page, each with rule,
        severity, place and suggestion; a clean catalog gives an empty list.
        """
        found, key = await self._catalog(context, tools=tools, locator=locator, catalog=catalog)
        selection = registry.select(names=select, ignored=ignore, profile=None if profile == "default" else profile)
        report = app.lint(found, Policy(selection=selection))
        wanted = Wanted(worst_from=Severity(severity), tool=_known(found, tool))
        window = Window(offset=offset, limit=limit, is_full=detail == "full")
        step = steps.after_lint(report.findings, key)
        return agent.lint_answer(report, wanted, catalog=key, window=window, next_step=step)

    @offer(Offer(title="Suggest a better definition", answer=agent.RewriteAnswer))
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
    ) -> agent.RewriteAnswer:
        """Draft a better definition for one tool from its schema, annotations, old text, siblings and your material.

        Use it after score_tool_definition or lint_descriptions has found something; only when the findings are unclear,
        read explain_rule first. Nothing is written anywhere: you apply the draft. Name, types and requirements stay; a
        claim without a source is refused, and what only the author can know comes as a question. Returns the new
        definition as JSON, each claim with its source, and score and tokens before and after.
        """
        resumed = self._resumed(context)
        found, name = await self._rewritable(
            context,
            definition=definition,
            siblings=siblings,
            locator=None if resumed else locator,
            catalog=resumed[1] if resumed and definition is None else catalog,
            tool=tool,
        )
        material = parse_material(
            {"facts": [{"tool": name, "fact": fact} for fact in facts], "docs": docs}
            | {"traces": [{**trace, "tool": name} for trace in traces]},
            origin="'facts', 'traces' or 'docs'",
        )
        model = client_model(context, tools=1) if writer == SAMPLING else None
        asked = self._watched(self._named(judge), context)

        async def work() -> list[Rewrite]:
            return await while_present(
                context,
                lambda: app.rewrite(found, tools=[name], mode=Mode(mode), material=material, writer=model, judge=asked),
            )

        try:
            rewrites = await through_client(context, work, catalog=None if locator is None else self.shelf.keep(found))
        except UnmeasurableError as error:
            raise ToolError(f"this definition cannot be rewritten: {fence(str(error))}") from error
        if definition is None and len(rewrites) > 1:
            raise InputError(f"{len(rewrites)} tools are called {fence_name(name)}; send the definition itself")
        return agent.rewrite_answer(rewrites[0], next_step=steps.after_rewrite(len(rewrites[0].changes)))

    @offer(Offer(title="Explain a rule", answer=agent.Explanation, is_open_world=False))
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
    ) -> agent.Explanation:
        """Explain one rule, dimension, flag or tier: why it matters, with a bad and a good definition.

        Use it when a finding of lint_descriptions or a score of score_server is unclear; to get the repaired text use
        suggest_rewrite instead. Returns one Markdown page from the built-in catalog, the same every time; an unknown id
        is an error that lists the known ones.
        """
        return agent.Explanation(id=fence(rule.strip()), page=app.explain(rule.strip()))

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
        found, key = await self._catalog(context, tools=tools, locator=locator, catalog=catalog)
        prompts = app.prompts(found, tool=_known(found, tool), rubric=rubric)
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
        answers: Annotated[list[Answer], Field(description="Answers to prompts of part tools, all or a batch")] = [],  # noqa: B006
        coherence: Annotated[
            dict[str, Any] | str | None, Field(description="Answer to the prompt of part coherence")
        ] = None,
        shadowing: Annotated[
            list[dict[str, Any]] | None,
            Field(description="Confirmed pairs, the array in the answer to part shadowing; replaces earlier ones"),
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
        found, key = await self._catalog(context, tools=tools, locator=locator, catalog=catalog)
        judgement = self._judgement(found, rubric, model)
        replies = judgement.take_tools(answers)
        replies += [] if coherence is None else [judgement.take_coherence(coherence)]
        replies += [] if shadowing is None else judgement.take_shadowing(shadowing)
        asked = self._seated(judgement, context)
        score = await while_present(context, lambda: _scored(found, rubric=rubric, judge=asked))
        missing, is_coherence_missing = judgement.missing, judgement.is_coherence_missing
        return judging.judgement_answer(
            score,
            catalog=key,
            report=self._report(_report_key(key, rubric, f"{asked.stamp.id}-{short_hash(model)[:8]}"), score),
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

    def _named(self, judge: str) -> Judge:
        """The operator's judge, or the built-in one. Raises InputError for a jury that waits for the caller."""
        if judge == "offline":
            return Offline()
        if self._has_host:
            raise InputError(
                "you sit on this server's jury: judge with prepare_judgement, then submit_judgement, which asks the "
                "other jurors; or say judge=offline"
            )
        return self._judge

    def _scoring(self, judge: str, context: _Context, *, tools: int) -> Judge:
        return client_judge(context, tools=tools) if judge == SAMPLING else self._named(judge)

    def _watched(self, judge: Judge, context: _Context) -> Judge:
        """The judge with reports of its progress; only one where every report would come again in the next round."""
        is_one = judge.stamp.id == SAMPLING and pauses(context)
        return Watched(judge, context.report_progress, batch=MAX_TOOLS + 1 if is_one else BATCH)

    def _judgement(self, catalog: Catalog, rubric: str, model: str) -> Judgement:
        host = Host(cache=self.shelf.answers, addresses=app.addresses_judge, model=model)
        return Judgement(app.to_be_judged(catalog, rubric=rubric), host=host)

    def _seated(self, judgement: Judgement, context: _Context) -> Judge:
        """The caller as judge, or the operator's jury with the caller on it, which judges what the caller has."""
        known = judgement.host.knows
        if not self._has_host:
            return Only(judge=judgement.host, is_meant=known, reason="no answer was handed in for this prompt")
        jury = self._watched(judgement.beside(self._judge), context)
        return Only(judge=jury, is_meant=known, reason="the jury judges it when your answer is there")

    def _resumed(self, context: _Context) -> tuple[Catalog, str] | None:
        """The catalog of a call that waited for its client, which is not read again."""
        key = resumed_catalog(context)
        found = None if key is None else self.shelf.catalogs.get(key)
        return None if key is None or found is None else (found, key)

    async def _catalog(
        self, context: _Context, *, tools: object, locator: str | None, catalog: str | None
    ) -> tuple[Catalog, str]:
        """The one catalog that a call speaks of, and its id. Raises InputError and ToolError."""
        if sum(each is not None for each in (tools, locator, catalog)) != 1:
            raise InputError("give exactly one of 'tools', 'locator' and 'catalog'")
        if catalog is not None:
            return self.shelf.find(catalog), catalog
        found = _read(tools) if locator is None else await self._load(context, locator)
        if len(found.tools) > MAX_TOOLS:
            raise InputError(f"{len(found.tools)} tools are more than {MAX_TOOLS}; send them in parts")
        return found, self.shelf.keep(found)

    async def _load(self, context: _Context, text: str) -> Catalog:
        """What a locator names, if the operator allows it; a live server has ended when this has."""
        given = parse_locator(text)
        admitted = self._permissions.admit(given)
        admit = doorkeeper(self._permissions) if isinstance(given, Url) else None
        if admit is not None and isinstance(given, Url):
            await admit(given.url)
        await context.report_progress(0, None, "reading the definitions")
        options = LiveOptions(timeout=self._timeout, max_tools=MAX_TOOLS, max_bytes=MAX_BYTES, admit=admit)
        try:
            name = admitted.path if isinstance(admitted, File) else text
            return await while_present(context, lambda: app.load(name, options))
        except TdqsError as error:  # a foreign server's last words may be in it
            raise ToolError(f"the definitions could not be had: {fence(str(error))}") from error

    async def _score(
        self, context: _Context, catalog: Catalog, report: str, judge: Judge, *, rubric: str, is_new_page: bool
    ) -> Scored:
        """The score; the one in memory where pages of it are read, or nothing in it is missing."""
        known = self.shelf.reports.get(report)
        if known is not None and (is_new_page or not known.ungraded):
            return known
        watched = self._watched(judge, context)
        return await while_present(context, lambda: _scored(catalog, rubric=rubric, judge=watched))

    def _report(self, key: str, score: Scored) -> str:
        self.shelf.reports.put(key, score)
        return f"tdqs://reports/{key}"

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
            found = _one(definition, siblings)
            if not found.tools[0].name:
                raise InputError("the definition has no usable name; give it one, then ask again")
            return found, found.tools[0].name
        if tool is None:
            raise InputError("give 'tool', the exact name of the tool to rewrite")
        found, _ = await self._catalog(context, tools=None, locator=locator, catalog=catalog)
        return found, _known(found, tool) or tool


def make_tools(desk: Desk) -> list[Tool]:
    """Every tool, in the order in which an agent should read them."""
    offered = [
        name for room in reversed(type(desk).__mro__) for name, value in vars(room).items() if hasattr(value, "offer")
    ]
    return [Offered.of(getattr(desk, name)) for name in offered]


def _one(definition: dict[str, Any] | str, siblings: Sequence[dict[str, Any] | str]) -> Catalog:
    """A catalog of one tool first and its siblings after it. Raises InputError."""
    read = _parsed(definition) if isinstance(definition, str) else definition
    others = [_sibling(each) for each in siblings]
    if len(others) >= MAX_TOOLS:
        raise InputError(f"{len(others)} siblings are too many; give the names of the nearest ones")
    catalog = _read([read, *others])
    if len(catalog.tools) != 1 + len(others):
        raise InputError("'definition' and each of 'siblings' must be one tool; give lists to score_server as 'tools'")
    return catalog


def _read(definitions: object) -> Catalog:
    """The catalog in a call's own definitions. Raises ToolError: words of the definitions may be in the reason."""
    try:
        return app.read(definitions)
    except InputError as error:
        raise ToolError(f"the definitions cannot be read: {fence(str(error))}") from error


def _parsed(text: str) -> object:
    return parse_json(unfence(text).encode(errors="replace"), origin="definition")


def _sibling(given: dict[str, Any] | str) -> object:
    """A sibling's definition; of one that is only named, what is known."""
    if not isinstance(given, str):
        return given
    return _parsed(given) if unfence(given).lstrip().startswith("{") else {"name": given}


def _known(catalog: Catalog, name: str | None) -> str | None:
    """The name of one of the catalog's tools, also when it is given as our answers fence it. Raises InputError."""
    if name is None:
        return None
    names = [tool.name for tool in catalog.tools]
    matching = [each for each in names if each == name] or [each for each in names if fence_name(each) == name]
    if not matching:
        raise InputError(f"the catalog has no tool {fence_name(name)}; give a name exactly as it is listed")
    if len(set(matching)) > 1:
        raise InputError(f"several tools are listed as {fence_name(name)}; send the definition itself")
    return matching[0]


def _report_key(catalog: str, rubric: str, judge: str) -> str:
    return f"{catalog}-{rubric}-{judge}"


async def _scored(catalog: Catalog, *, rubric: str, judge: Judge) -> Scored:
    """The catalog's score by this rubric."""
    if rubric == "tdqs":
        return await app.score(catalog, judge=judge)
    return await app.score_labels(catalog, rubric=rubric, judge=judge)
