"""What the tools share: the operator's permissions and judge, the memory of earlier calls, and the words of a call."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from tdqs_mcp import app
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.agent.report import Scored
from tdqs_mcp.report.fence import fence, fence_name, unfence
from tdqs_mcp.results.rewrites import OFFLINE
from tdqs_mcp.server.addresses import doorkeeper
from tdqs_mcp.server.memory import Answers
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.server.presence import while_present
from tdqs_mcp.server.sampling import (
    SAMPLING,
    client_judge,
    pauses,
    resumed_catalog,
)
from tdqs_mcp.server.shelf import Shelf
from tdqs_mcp.server.watch import BATCH, Progress, Watched
from tdqs_mcp.sources.files import parse_json
from tdqs_mcp.sources.live import LiveOptions
from tdqs_mcp.sources.locator import File, Url, parse_locator

MAX_TOOLS = 2_000
"""Tools of one call: ten times the largest catalog in use, a few seconds of the offline judge."""

MAX_BYTES = 16 * 2**20
"""Bytes of the definitions that a live server may list to a caller of ours."""

_Context = Context[Any, Any]


class Desk:
    """One for a server."""

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
        self.judge = judge or Offline()
        self.has_host = has_host
        self._timeout = timeout

    def named(self, judge: str) -> Judge:
        """The operator's judge, or the built-in one. Raises InputError for a jury that waits for the caller."""
        if judge == "offline":
            return Offline()
        if self.has_host:
            raise InputError(
                "you sit on this server's jury: judge with prepare_judgement, then submit_judgement, which asks the "
                "other jurors; or say judge=offline"
            )
        return self.judge

    def scoring(self, judge: str, context: _Context, *, tools: int) -> Judge:
        """The judge of a score: the client's model too. Raises InputError where the client lends none."""
        return client_judge(context, tools=tools) if judge == SAMPLING else self.named(judge)

    def watched(self, judge: Judge, context: _Context) -> Judge:
        """The judge with reports of its progress; only one where every report would come again in the next round."""
        is_one = judge.stamp.id == SAMPLING and pauses(context)
        return Watched(judge, Progress(context.report_progress), batch=MAX_TOOLS + 1 if is_one else BATCH)

    def patient(self, judge: str, progress: Progress) -> Judge:
        """The named judge of a call that grades many times, with reports unless it is done before anybody looks."""
        asked = self.named(judge)
        return asked if asked.stamp.id == OFFLINE else Watched(asked, progress)

    def resumed(self, context: _Context) -> tuple[Catalog, str] | None:
        """The catalog of a call that waited for its client, which is not read again."""
        key = resumed_catalog(context)
        found = None if key is None else self.shelf.catalogs.get(key)
        return None if key is None or found is None else (found, key)

    async def catalog(
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

    def keep_report(self, key: str, score: Scored) -> str:
        """Keeps a report, and gives the address that it can be read at."""
        self.shelf.reports.put(key, score)
        return f"tdqs://reports/{key}"


def one(definition: dict[str, Any] | str, siblings: Sequence[dict[str, Any] | str]) -> Catalog:
    """A catalog of one tool first and its siblings after it. Raises InputError."""
    read = parsed(definition) if isinstance(definition, str) else definition
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


def parsed(text: str) -> object:
    """The JSON of one definition. Raises InputError."""
    return parse_json(unfence(text).encode(errors="replace"), origin="definition")


def _sibling(given: dict[str, Any] | str) -> object:
    """A sibling's definition; of one that is only named, what is known."""
    if not isinstance(given, str):
        return given
    return parsed(given) if unfence(given).lstrip().startswith("{") else {"name": given}


def known(catalog: Catalog, name: str | None) -> str | None:
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


def report_key(catalog: str, rubric: str, judge: str) -> str:
    """What the report of a catalog by rubric and judge is kept under."""
    return f"{catalog}-{rubric}-{judge}"


async def scored(catalog: Catalog, *, rubric: str, judge: Judge) -> Scored:
    """The catalog's score by this rubric."""
    if rubric == "tdqs":
        return await app.score(catalog, judge=judge)
    return await app.score_labels(catalog, rubric=rubric, judge=judge)
