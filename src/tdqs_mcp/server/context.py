"""What the tools of one server share: the operator's permissions and judge, and what earlier calls have left."""

import hashlib
from collections.abc import Sequence
from typing import Any

from cachetools import LRUCache
from mcp.server.mcpserver.exceptions import ToolError

from tdqs_mcp.app import catalogs, judging
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.judges.judge import Cache, Judge
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.agent_scores import Scored
from tdqs_mcp.report.documents import capture_document
from tdqs_mcp.report.escape import fence, fence_name, unfence
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.results.improvements import OFFLINE
from tdqs_mcp.server.connected_client import (
    BATCH,
    SAMPLING,
    CallContext,
    Progress,
    ProgressJudge,
    ends_to_ask,
    make_client_judge,
    resumed_catalog,
    while_connected,
)
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.sources.files import parse_json
from tdqs_mcp.sources.locator import File, LiveOptions, Url, parse_locator

MAX_TOOLS = 2_000
"""Tools of one call: ten times the largest catalog in use, a few seconds of the offline judge."""

MAX_BYTES = 16 * 2**20
"""Bytes of the definitions that a live server may list to a caller of ours."""

MAX_CATALOGS = 16
MAX_REPORTS = 16


class ServerContext:
    """One for a server; whoever may call the server shares it."""

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
        self.catalogs: LRUCache[str, Catalog] = LRUCache(MAX_CATALOGS)
        self.reports: LRUCache[str, Scored] = LRUCache(MAX_REPORTS)
        self._permissions = permissions
        self._timeout = timeout

    def find_judge(self, name: str) -> Judge:
        """The operator's judge, or the built-in one. Raises InputError for a jury that waits for the caller."""
        if name == OFFLINE:
            return Offline()
        if self.has_host:
            raise InputError(
                "you sit on this server's jury: judge with prepare_judgement, then submit_judgement, which asks the "
                "other jurors; or say judge=offline"
            )
        return self.judge

    def score_judge(self, name: str, call: CallContext, *, tools: int) -> Judge:
        """The judge of one score, with progress; the client's model too. Raises InputError where the client lends none.

        A call that ends whenever the client is asked reports once: each report would come again in the next round.
        """
        if name != SAMPLING:
            return ProgressJudge(self.find_judge(name), Progress(call))
        batch = MAX_TOOLS + 1 if ends_to_ask(call) else BATCH
        return ProgressJudge(make_client_judge(call, tools=tools), Progress(call), batch=batch)

    def repeated_judge(self, name: str, progress: Progress) -> Judge:
        """The judge of a call that grades many times; the offline judge is done before a report would be read."""
        judge = self.find_judge(name)
        return judge if judge.stamp.id == OFFLINE else ProgressJudge(judge, progress)

    async def read_catalog(
        self, call: CallContext, *, tools: object, locator: str | None, catalog: str | None
    ) -> tuple[Catalog, str]:
        """The one catalog that a call is about, and its id. Raises InputError and ToolError."""
        if sum(each is not None for each in (tools, locator, catalog)) != 1:
            raise InputError("give exactly one of 'tools', 'locator' and 'catalog'")
        if catalog is not None:
            return self.find_catalog(catalog), catalog
        found = _read_definitions(tools) if locator is None else await self._load(call, locator)
        if len(found.tools) > MAX_TOOLS:
            raise InputError(f"{len(found.tools)} tools are more than {MAX_TOOLS}; send them in parts")
        return found, self.keep_catalog(found)

    def resumed(self, call: CallContext) -> tuple[Catalog, str] | None:
        """Catalog and id of a call that has waited for its client: the definitions are not read again."""
        key = resumed_catalog(call)
        found = None if key is None else self.catalogs.get(key)
        return None if key is None or found is None else (found, key)

    def keep_catalog(self, catalog: Catalog) -> str:
        """The catalog's id, which is the same for the same definitions. Raises InputError."""
        try:
            text = json_text(capture_document(catalog))
        except RecursionError as error:
            raise InputError("the definitions nest too deep to be read; simplify the schema") from error
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.catalogs[key] = catalog
        return key

    def find_catalog(self, key: str) -> Catalog:
        """An earlier call's catalog. Raises InputError when it is no longer known."""
        found = self.catalogs.get(key)
        if found is None:
            raise InputError(
                f"there is no catalog {key!r} here (any more); send 'tools' or 'locator' again; answers "
                "that were accepted are still there"
            )
        return found

    def keep_report(self, key: str, score: Scored) -> str:
        """Keeps a report and returns its URI."""
        self.reports.pop(key, None)  # so that the newest report is the last one
        self.reports[key] = score
        return f"tdqs://reports/{key}"

    async def _load(self, call: CallContext, text: str) -> Catalog:
        """What a locator names, if the operator allows it; a live server has ended when this returns."""
        locator = self._permissions.admit(parse_locator(text))
        check = self._permissions.check_and_resolve
        if isinstance(locator, Url):
            await check(locator.url)
        await call.report_progress(0, None, "reading the definitions")
        options = LiveOptions(timeout=self._timeout, max_tools=MAX_TOOLS, max_bytes=MAX_BYTES, admit=check)
        try:
            name = locator.path if isinstance(locator, File) else text
            return await while_connected(call, lambda: catalogs.load(name, options))
        except TdqsError as error:  # a foreign server's last words may be in it
            raise ToolError(f"could not read the definitions: {fence(str(error))}") from error


def one_tool(definition: dict[str, Any] | str, siblings: Sequence[dict[str, Any] | str]) -> Catalog:
    """A catalog of one tool first and its siblings after it. Raises InputError."""
    others = [_read_sibling(each) for each in siblings]
    if len(others) >= MAX_TOOLS:
        raise InputError(f"{len(others)} siblings are too many; give the names of the nearest ones")
    first = parse_definition(definition) if isinstance(definition, str) else definition
    catalog = _read_definitions([first, *others])
    if len(catalog.tools) != 1 + len(others):
        raise InputError("'definition' and each of 'siblings' must be one tool; give lists to score_server as 'tools'")
    return catalog


def _read_definitions(definitions: object) -> Catalog:
    """The catalog in a call's own definitions. Raises ToolError: words of the definitions may be in the reason."""
    try:
        return catalogs.read(definitions)
    except InputError as error:
        raise ToolError(f"the definitions cannot be read: {fence(str(error))}") from error


def parse_definition(text: str, *, origin: str = "definition") -> object:
    """The JSON of definitions that came as text, with or without our marks. Raises InputError."""
    return parse_json(unfence(text).encode(errors="replace"), origin=origin)


def _read_sibling(given: dict[str, Any] | str) -> object:
    """A sibling's definition; of one that is only named, its name."""
    if not isinstance(given, str):
        return given
    return parse_definition(given) if unfence(given).lstrip().startswith("{") else {"name": given}


def find_tool(catalog: Catalog, name: str | None) -> str | None:
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


async def score_catalog(catalog: Catalog, *, rubric: str, judge: Judge) -> Scored:
    """The catalog's score under this rubric."""
    if rubric == "tdqs":
        return await judging.score(catalog, judge=judge)
    return await judging.score_labels(catalog, rubric=rubric, judge=judge)


def incomplete_note(*catalogs: Catalog) -> str:
    """A sentence for lists of tools that were not read to their end; empty for complete ones."""
    reasons = [fence(catalog.incomplete) for catalog in catalogs if catalog.incomplete]
    if not reasons:
        return ""
    what = "The list of tools is incomplete, so no verdict on the server is final"
    return f"{what}: {'; '.join(reasons)} Get the whole list and ask again. "
