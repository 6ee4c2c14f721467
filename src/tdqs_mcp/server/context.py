"""State that the tools of a server share, and the server: tools, resources, prompts to start from, completions."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from cachetools import LRUCache
from mcp.server.apps import APP_MIME_TYPE
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import Completion, CompletionArgument, PromptReference, ResourceTemplateReference
from pydantic import Field, TypeAdapter, ValidationError

from tdqs_mcp.app import catalogs, improving, judging, linting
from tdqs_mcp.app.catalogs import capture_document
from tdqs_mcp.app.linting import DEFAULT_POLICY
from tdqs_mcp.errors import CaptureError, InputError, TdqsError, UnknownIdError, fault_message
from tdqs_mcp.facts.lexicon import MAX_NAME
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.judges.judge import Cache, Failure, Judge, Request
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.agent_answers import Scored, report_document
from tdqs_mcp.report.escape import fence, fence_exact, fence_name, unfence
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.results.improvements import OFFLINE, Question, Rewrite, unified
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import HOST
from tdqs_mcp.rubrics.prompt import PromptForm
from tdqs_mcp.rubrics.rubric import RUBRICS, system_prompt, user_template
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry
from tdqs_mcp.server import tool_schemas as schema
from tdqs_mcp.server.connected_client import (
    BATCH,
    SAMPLING,
    CallContext,
    Progress,
    ProgressJudge,
    ends_to_ask,
    make_client_model,
    resumed_catalog,
    run_call,
    while_connected,
)
from tdqs_mcp.server.http_transport import ADDRESS, CALLER
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.server.tool_schemas import CARD_META, TEXTS, Reach
from tdqs_mcp.sources.files import read_content
from tdqs_mcp.sources.locator import Config, File, LiveOptions, Url, parse_locator, public

MAX_TOOLS = 2_000
"""Tools of one call: ten times the largest catalog in use, a few seconds of the offline judge."""

MAX_BYTES = 16 * 2**20
"""Bytes of the definitions that a live server may list to a caller of ours."""

SCORE_CARD, REWRITE_CARD = "ui://tdqs/score.html", "ui://tdqs/rewrite.html"
"""The cards that a chat may show (MCP Apps, SEP-1865)."""

MAX_CATALOGS = 32
MAX_REPORTS = 16
MAX_CODES = 4
"""Readings of a folder's code, each as new as the catalog that was read there."""

MAX_CALLERS = 1_000

MAX_KEPT = 64 * 2**20
"""Characters of JSON in the catalogs of all callers; the caller with the most loses its oldest catalog first."""

_ID = re.compile("[0-9a-f]{12}")
"""A catalog's id, which no locator looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """How a catalog with rewrites came about."""

    origin: str
    """The id of the catalog that was read."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    """The author's material, as long as tools are left that the answer had no room for."""

    rewritten: frozenset[str] = frozenset()
    """The tools that have a new definition."""

    problems: frozenset[str] = frozenset()
    """Problems that an answer has named already."""

    put: frozenset[str] = frozenset()
    """Ids of the questions that were put."""

    answered: frozenset[str] = frozenset()
    """Ids of the questions that have an answer: they are not put again, whatever came of it."""

    def with_answers(self, material: Mapping[str, Any]) -> "Draft":
        """With the answers of one more call."""
        answers = material.get("answers")
        return replace(self, answered=self.answered.union(answers if isinstance(answers, Mapping) else ()))


MAX_PLANS = 2_000
"""Plans of one caller: ten times what a call takes."""


class Memory:
    """The latest catalogs, reports and drafts of one caller; no other caller sees them, or pushes them out."""

    def __init__(self) -> None:
        self.catalogs: LRUCache[str, Catalog] = LRUCache(MAX_CATALOGS)
        self.reports: LRUCache[str, Scored] = LRUCache(MAX_REPORTS)
        self.drafts: LRUCache[str, Draft] = LRUCache(MAX_CATALOGS)
        self.folders: LRUCache[str, Path] = LRUCache(MAX_CATALOGS)
        self.codes: LRUCache[str, CodeReport] = LRUCache(MAX_CODES)
        self.plans: LRUCache[tuple[str, str], Mapping[str, Any] | str] = LRUCache(MAX_PLANS)
        """Answers of part plans, by model and id."""

        self.model = ""
        """The name under which the caller has judged last."""

        self.asked_catalogs: LRUCache[str, bool] = LRUCache(MAX_CATALOGS)
        """Catalogs about which the person behind the client was asked."""

        self.sizes: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Characters of the catalogs' JSON."""
        return sum(self.sizes[key] for key in self.catalogs)

    def keep(self, key: str, catalog: Catalog, size: int) -> None:
        """Keeps a catalog in place of the least recently used one."""
        self.catalogs[key] = catalog
        self.sizes = {catalog_key: self.sizes.get(catalog_key, size) for catalog_key in self.catalogs}

    def forget_oldest(self) -> None:
        """Drops a catalog, and what came of it."""
        key, _ = self.catalogs.popitem()
        for memory in (self.reports, self.drafts):
            for entry in [entry for entry in memory if entry.startswith(key)]:
                memory.pop(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The agent's model, which answers no request of ours."""

    name: str

    async def complete(self, request: Request) -> Failure:  # noqa: ARG002  # the port's parameter
        """A failure: an answer that is there was found before."""
        return Failure(reason="you have not judged it: judge_definitions has the prompt")


class ServerContext:
    """The state of one server: shared by all callers, except for what it keeps of each."""

    def __init__(
        self,
        *,
        permissions: Permissions,
        answers: Cache,
        judge: Judge | None = None,
        has_host: bool = False,
        timeout: float = 60.0,
    ) -> None:
        """`answers` keeps the callers' own judgements; `timeout` in seconds bounds the capture of a live server.

        With `has_host`, the judge is a jury that waits for the calling agent's answers.
        """
        self.answers = answers
        self.judge = judge or Offline()
        self.has_host = has_host
        self._callers: LRUCache[str, Memory] = LRUCache(MAX_CALLERS)
        self._permissions = permissions
        self._timeout = timeout

    @property
    def memory(self) -> Memory:
        """Return what is kept of the current caller."""
        caller = CALLER.get()
        if caller not in self._callers:
            self._callers[caller] = Memory()
        return self._callers[caller]

    @property
    def reports(self) -> list[str]:
        """The ids of the caller's reports, the newest first; none where others may share its address."""
        return [] if CALLER.get().startswith(ADDRESS) else [*reversed(list(self.memory.reports))]

    @property
    def reach(self) -> Reach:
        """How far calls may go."""
        allowed = self._permissions
        is_remote = not self.judge.stamp.is_offline
        places, example = allowed.places, allowed.example
        return Reach(
            starts=bool(allowed.commands) or allowed.may_start or allowed.may_import,
            opens=bool(allowed.configs or allowed.urls) or is_remote,
            places=f"; also {', '.join(places)}" if places else "",
            **({"example": example} if example else {}),
        )

    def find_judge(self, name: str) -> Judge:
        """The operator's judge, the built-in one or the caller. Raises InputError where a jury waits for the caller."""
        if name == OFFLINE:
            return Offline()
        if name == HOST:
            return self.host_judge(self.memory.model)
        if self.has_host:
            raise InputError(
                "you sit on this server's jury: judge with judge_definitions, which asks the other jurors about what "
                "you have answered; or say judge=offline"
            )
        return self.judge

    def host_judge(self, model: str) -> Prompted:
        """The caller as judge, by what it has answered under a model's name; an empty name is nobody's."""
        return Prompted(id=HOST, model=Caller(name=model), form=PromptForm.EXACT, cache=self.answers)

    def score_judge(self, name: str, call: CallContext, *, tools: int) -> Judge:
        """The judge of one score, with progress; the client's model too. Raises InputError where the client lends none.

        A call that ends whenever the client is asked reports once: each report would come again in the next round.
        """
        if name != SAMPLING:
            return ProgressJudge(judge=self.find_judge(name), progress=Progress(call))
        batch = MAX_TOOLS + 1 if ends_to_ask(call) else BATCH
        judge = Prompted(id=SAMPLING, model=make_client_model(call, tools=tools), corrections=1)
        return ProgressJudge(judge=judge, progress=Progress(call), batch=batch)

    def repeated_judge(self, name: str, progress: Progress) -> Judge:
        """The judge of a call that grades many times."""
        return ProgressJudge(judge=self.find_judge(name), progress=progress)

    async def read_catalog(self, call: CallContext, definition_input: schema.Catalog) -> tuple[Catalog, str]:
        """The catalog that a call is about, and its id. Raises InputError and ToolError."""
        if isinstance(definition_input, str) and (remembered := self.memory.catalogs.get(definition_input)) is not None:
            return remembered, definition_input
        is_place = isinstance(definition_input, str) and not unfence(definition_input).lstrip().startswith(("{", "["))
        loaded, folder = await self._load(call, str(definition_input)) if is_place else (None, None)

        async def read() -> tuple[Catalog, str, int]:
            loaded_catalog = read_definitions(definition_input) if loaded is None else loaded
            if len(loaded_catalog.tools) > MAX_TOOLS:
                raise InputError(f"{len(loaded_catalog.tools)} tools are more than {MAX_TOOLS}; send them in parts")
            return loaded_catalog, *_id_of(loaded_catalog)

        definitions, key, size = await run_call(call, read)
        self._keep(key, definitions, size)  # here, because these caches are not made for threads
        if folder is not None:
            self.memory.folders[key] = folder
        return definitions, key

    def patch(self, origin: str, rewrites: Sequence[Rewrite]) -> str:
        """Return the rewrites as a unified diff of the code that a catalog was read from; empty where there is none."""
        folder = self.memory.folders.get(origin)
        return improving.patch_sources(folder, rewrites)[0].diff.decode(errors="replace") if folder else ""

    def difference(self, key: str) -> str:
        """Return what rewrites have changed in tools and instructions, as a unified diff. Raises LookupError."""
        old, new = (self.memory.catalogs[catalog] for catalog in (self.draft_of(key).origin, key))
        tools = (json.dumps([tool.raw for tool in part.tools], indent=2, ensure_ascii=False) for part in (old, new))
        before, after = (f"{text}\n" for text in tools)
        instructions = (f"{part.instructions}\n" if part.instructions else "" for part in (old, new))
        return unified(before, after, name="tools.json") + unified(*instructions, name="instructions.txt")

    def read_drafts(self, drafts: schema.Drafts | str) -> schema.Drafts:
        """Return drafts, which may be the path of a JSON file or its text. Raises InputError."""
        if not isinstance(drafts, str):
            return drafts
        text: str | bytes = drafts
        if not drafts.lstrip().startswith("{"):
            locator = self._permissions.admit(parse_locator(drafts))
            if not isinstance(locator, File):
                raise InputError("'draft' must be drafts by tool name, or the path of a JSON file with them")
            text = self._permissions.read(locator)
        try:
            return TypeAdapter(schema.Drafts).validate_json(text)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = f" {fence('.'.join(map(str, fault['loc'])))}" if fault["loc"] else ""
            raise InputError(f"'draft'{place}: {fault_message(fault)}") from error

    async def read_code(self, call: CallContext, source: str, *, catalog: str = "") -> CodeReport | None:
        """Return what the code in a folder does: `source`, else that of an earlier call, or of the catalog itself.

        None without one; what a `source` does is kept for the catalog. Raises InputError, as for what is not allowed.
        """
        folder = self._permissions.admit_folder(source) if source else self.memory.folders.get(catalog)
        codes = self.memory.codes if catalog else {}
        if folder is None or (catalog in codes and not source):
            return codes.get(catalog)

        async def read() -> CodeReport:
            return linting.read_source(folder)

        codes[catalog] = await Progress(call).during(run_call(call, read))
        return codes[catalog]

    async def code_or_note(self, call: CallContext, source: str, *, catalog: str = "") -> tuple[CodeReport | None, str]:
        """Return the same for a call that can do without, with a sentence on why there is none; else it is empty."""
        try:
            return await self.read_code(call, source, catalog=catalog), ""
        except InputError as error:
            return None, f"The code was not read, so nothing here is held against it: {fence(str(error))}. "

    def resumed(self, call: CallContext) -> tuple[Catalog, str] | None:
        """Catalog and id of a call that has waited for its client: the definitions are not read again."""
        key = resumed_catalog(call)
        definitions = None if key is None else self.memory.catalogs.get(key)
        return None if key is None or definitions is None else (definitions, key)

    def keep_catalog(self, catalog: Catalog) -> str:
        """Keeps a catalog and returns its id. Raises InputError."""
        key, size = _id_of(catalog)
        self._keep(key, catalog, size)
        return key

    def _keep(self, key: str, catalog: Catalog, size: int) -> None:
        self.memory.keep(key, catalog, size)
        while sum(caller.size for caller in self._callers.values()) > MAX_KEPT:
            heaviest = max(self._callers.values(), key=lambda caller: caller.size)
            if len(heaviest.catalogs) == 1:
                break
            heaviest.forget_oldest()

    def draft_of(self, key: str) -> Draft:
        """Return what has been drafted on the way to a catalog; nothing for one that was read."""
        return self.memory.drafts.get(key) or Draft(origin=key)

    def origin(self, key: str) -> Catalog:
        """Return the catalog before all drafts of a kept one; itself where the first is forgotten."""
        catalogs_ = self.memory.catalogs
        return catalogs_.get(self.draft_of(key).origin) or catalogs_[key]

    def keep_draft(self, catalog: Catalog, draft: Draft, *, questions: Iterable[Question]) -> str:
        """The id of a catalog with rewrites, and how it came about."""
        key = self.keep_catalog(catalog)
        self.memory.drafts[key] = replace(draft, put=draft.put.union(question.id for question in questions))
        return key

    def keep_report(self, key: str, score: Scored) -> str:
        """Keeps a report and returns its URI."""
        reports = self.memory.reports
        reports.pop(key, None)  # so that the newest report is the last one
        reports[key] = score
        return f"tdqs://reports/{key}"

    async def _load(self, call: CallContext, text: str) -> tuple[Catalog, Path | None]:
        """Return what a locator names, if the operator allows it, and its folder where that is code.

        A live server has ended when this returns.
        """
        if _ID.fullmatch(text):
            raise InputError(
                f"there is no catalog {text!r} here (any more): give the definitions or the locator again; answers "
                "that were accepted are still there"
            )
        locator = self._permissions.admit(parse_locator(text))
        if isinstance(locator, Config):  # an entry of one client, of which the caller may have given the bare name
            text = public(locator)
        check = self._permissions.check_and_resolve
        if isinstance(locator, Url):
            await check(locator.url)
        await call.report_progress(0, None, "reading the definitions")
        options = LiveOptions(timeout=self._timeout, max_tools=MAX_TOOLS, max_bytes=MAX_BYTES, admit=check)
        try:
            if isinstance(locator, File):
                path = Path(locator.path)
                if self._permissions.holds_code(locator):

                    async def read_code() -> Catalog:
                        return catalogs.load_blocking(str(path))

                    return await Progress(call).during(run_call(call, read_code)), path
                content = self._permissions.read(locator)
                return read_content(content, origin=repr(str(path)), name=path.stem, source=path.name), None
            return await while_connected(call, lambda: catalogs.load(text, options)), None
        except TdqsError as error:  # a foreign server's last words may be in it
            status = f" ({judging.discovery_status(error)})" if isinstance(error, CaptureError) else ""
            raise ToolError(f"could not read the definitions{status}: {fence(str(error))}") from error


def _id_of(catalog: Catalog) -> tuple[str, int]:
    """Return what is the same for the same definitions, and the characters of their JSON. Raises InputError."""
    try:
        text = json.dumps(capture_document(catalog))
    except RecursionError as error:
        raise InputError("the definitions nest too deep to be read; simplify the schema") from error
    return hashlib.sha256(text.encode()).hexdigest()[:12], len(text)


def one_tool(definition: dict[str, Any] | str, siblings: Sequence[dict[str, Any] | str]) -> Catalog:
    """A catalog of one tool first and its siblings after it. Raises InputError."""
    sibling_tools = [_read_sibling(sibling) for sibling in siblings]
    if len(sibling_tools) >= MAX_TOOLS:
        raise InputError(f"{len(sibling_tools)} siblings are too many; give the names of the nearest ones")
    first = parse_definition(definition) if isinstance(definition, str) else definition
    catalog = read_definitions([first, *sibling_tools])
    if len(catalog.tools) != 1 + len(sibling_tools):
        raise InputError("'definition' and each of 'siblings' must be one tool; give a list to score_server")
    return catalog


def read_definitions(definitions: object) -> Catalog:
    """The catalog in a call's own definitions. Raises ToolError: words of the definitions may be in the reason."""
    try:
        return catalogs.read(parse_definition(definitions) if isinstance(definitions, str) else definitions)
    except InputError as error:
        raise ToolError(f"the definitions cannot be read: {fence(str(error))}") from error


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Material of two calls: of what has a name, the later word counts; lists are one after the other.

    Names may have the marks with which our answers show them.
    """
    merged_entries = dict(old)
    for key, value in ((unfence(name), item) for name, item in new.items()):
        earlier = merged_entries.get(key)
        if isinstance(earlier, Mapping) and isinstance(value, Mapping):
            merged_entries[key] = merged(earlier, value)
        elif isinstance(value, Mapping):
            merged_entries[key] = merged({}, value)
        elif isinstance(earlier, list) and isinstance(value, list):
            merged_entries[key] = [*earlier, *(item for item in value if item not in earlier)]
        else:
            merged_entries[key] = value
    return merged_entries


def parse_definition(text: str) -> object:
    """The JSON of definitions that came as text, with or without our marks. Raises InputError."""
    return parse_json(unfence(text).encode(errors="replace"), origin="definition")


def _read_sibling(definition: dict[str, Any] | str) -> object:
    """A sibling's definition; of one that is only named, its name."""
    if not isinstance(definition, str):
        return definition
    return parse_definition(definition) if unfence(definition).lstrip().startswith("{") else {"name": definition}


def find_tool(catalog: Catalog, name: str | None) -> str | None:
    """The name of one of the catalog's tools, also when it is given as our answers fence it. Raises InputError."""
    if name is None:
        return None
    names = [tool.name for tool in catalog.tools]
    matching = [candidate for candidate in names if candidate == name] or [
        candidate for candidate in names if fence_name(candidate) == name
    ]
    if not matching:
        near = get_close_matches(name[:MAX_NAME], dict.fromkeys(names), n=1)
        advice = f"did you mean {fence_name(near[0])}?" if near else "give a name exactly as it is listed"
        raise InputError(f"the catalog has no tool {fence_name(name)}; {advice}")
    if len(set(matching)) > 1:
        raise InputError(f"several tools are listed as {fence_name(name)}; send the definition itself")
    return matching[0]


async def score_catalog(
    catalog: Catalog, *, origin: Catalog, rubric: str, judge: Judge, code: CodeReport | None = None
) -> Scored:
    """The catalog's score under this rubric; by TDQS, what drafts since `origin` repeat counts once."""
    if rubric == "tdqs":
        return await improving.score_drafted(origin, catalog, judge=judge, policy=replace(DEFAULT_POLICY, code=code))
    return await judging.score_labels(catalog, rubric=rubric, judge=judge)


def incomplete_note(*catalogs: Catalog) -> str:
    """A sentence for lists of tools that were not read to their end; empty for complete ones."""
    reasons = [fence(catalog.incomplete) for catalog in catalogs if catalog.incomplete]
    if not reasons:
        return ""
    notice = "The list of tools is incomplete, so no verdict on the server is final"
    return f"{notice}: {'; '.join(reasons)} Get the whole list and ask again. "


MAX_COMPLETIONS = 100
"""The protocol's own limit."""


class ToolGroup:
    """Tools of one subject, as methods, over what the server shares."""

    def __init__(self, context: ServerContext) -> None:
        """Nothing is computed before a call."""
        self._context = context


def complete_argument(
    context: ServerContext, ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument
) -> Completion | None:
    """Rules by id or name, rubric keys and report ids that begin with what is there."""
    values_by_argument: dict[str, Iterable[str]] = {
        "rule_id": [word for rule in registry.RULES for word in (rule.id, rule.name)],
        "key": RUBRICS,
        "report_id": context.reports,
    }
    if not isinstance(ref, ResourceTemplateReference) or argument.name not in values_by_argument:
        return None
    values, start = values_by_argument[argument.name], argument.value.lower()
    matches = [value for value in values if value.lower().startswith(start)]
    return Completion(values=matches[:MAX_COMPLETIONS], total=len(matches), has_more=len(matches) > MAX_COMPLETIONS)


def add_parts(server: MCPServer[Any], context: ServerContext) -> None:
    """Add resources, cards and prompts to a server."""
    _add_references(server)
    _add_memory(server, context)
    _add_cards(server)
    _add_prompts(server)


_JSON = "application/json"


def _add_references(server: MCPServer[Any]) -> None:
    """Add rules and rubrics."""

    @server.resource("tdqs://rules", title="Rules", mime_type=_JSON)
    def rules() -> str:
        """Every rule with id, name, severity and summary."""
        return _json(
            [{key: getattr(entry, key) for key in ("id", "name", "severity", "summary")} for entry in registry.RULES]
        )

    @server.resource("tdqs://rules/{rule_id}", title="One rule", mime_type="text/markdown")
    def rule(rule_id: str) -> str:
        """Why a rule matters, with examples."""
        try:
            return judging.explain(registry.find(rule_id).id)
        except UnknownIdError as error:
            raise ResourceNotFoundError(str(error)) from error

    described = f"Dimensions, weights and prompts: {', '.join(RUBRICS)}."

    @server.resource("tdqs://rubrics/{key}", title="One rubric", description=described, mime_type=_JSON)
    def read_rubric(key: str) -> str:
        if key not in RUBRICS:
            raise ResourceNotFoundError(f"there is no rubric {key!r}; there are {', '.join(RUBRICS)}")
        rubric, fields = load_rubric(key), ("key", "title", "weight", "question", "anchors")
        return _json(
            {entry: getattr(rubric, entry) for entry in ("key", "title", "source")}
            | {"dimensions": [{name: getattr(dimension, name) for name in fields} for dimension in rubric.dimensions]}
            | {"grade": rubric.grade, "systemPrompt": system_prompt(key), "userTemplate": user_template(key)}
        )


def _add_memory(server: MCPServer[Any], context: ServerContext) -> None:
    """Add what earlier calls have left: catalogs and reports."""

    @server.resource("tdqs://catalogs/{catalog_id}", title="One catalog", mime_type=_JSON)
    def catalog(catalog_id: str) -> str:
        """The definitions of a catalog, also with rewrites, as a file of tools."""
        definitions = context.memory.catalogs.get(catalog_id)
        if definitions is None:
            raise ResourceNotFoundError(f"there is no catalog {catalog_id!r} (any more); call score_server again")
        return json_text(capture_document(definitions))

    @server.resource("tdqs://catalogs/{catalog_id}/difference", title="Difference of a catalog", mime_type="text/plain")
    def difference(catalog_id: str) -> str:
        """The rewrites of suggest_rewrite as a unified diff against the first catalog."""
        try:
            return fence_exact(context.difference(catalog_id))
        except LookupError as error:
            raise ResourceNotFoundError(f"there is no catalog {catalog_id!r} (any more)") from error

    @server.resource("tdqs://reports", title="Last reports", mime_type=_JSON)
    def reports() -> str:
        """URIs of the reports in memory."""
        return _json([f"tdqs://reports/{key}" for key in context.reports])

    @server.resource("tdqs://reports/{report_id}", title="One report", mime_type=_JSON)
    def report(report_id: str) -> str:
        """The whole result of score_server or judge_definitions."""
        score = context.memory.reports.get(report_id)
        if score is None:
            raise ResourceNotFoundError(f"there is no report {report_id!r} (any more); call score_server again")
        return _json(report_document(score))


def _add_cards(server: MCPServer[Any]) -> None:
    look: dict[str, Any] = {"mime_type": APP_MIME_TYPE, "meta": {"ui": {"prefersBorder": True}}}

    def page(name: str, title: str) -> str:
        from tdqs_mcp.report.html_pages import card_page  # noqa: PLC0415  # Jinja: most servers show no card

        return card_page(name, title=title, version=version("tdqs-mcp"), meta=CARD_META)

    @server.resource(SCORE_CARD, title="Score", **look)
    def score_card() -> str:
        """A score_server result as a card."""
        return page("score", "Score of a server")

    @server.resource(REWRITE_CARD, title="Rewrites", **look)
    def rewrite_card() -> str:
        """A suggest_rewrite result as a card."""
        return page("rewrite", "Better definitions")


def _add_prompts(server: MCPServer[Any]) -> None:

    @server.prompt(title="Review my server")
    def review_my_server(
        locator: Annotated[str, Field(description="A file, URL, config:NAME or stdio: command of the server")],
    ) -> str:
        """Score a whole MCP server and say what to fix first."""
        return str(TEXTS["prompts"]["review_my_server"].format(locator=fence(locator)))

    @server.prompt(title="Fix this tool")
    def fix_this_tool(
        tool: Annotated[str, Field(description="The tool's name")],
        locator: Annotated[str, Field(description="Where its definitions are; empty if they are at hand")] = "",
    ) -> str:
        """Rewrite one tool's definition until it scores A."""
        where = f" of the server at {fence(locator)}" if locator else ""
        return str(TEXTS["prompts"]["fix_this_tool"].format(tool=fence(tool), where=where))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
