"""Limits of clients and model APIs, as dated data with its sources, and where a definition goes beyond it."""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from tdqs_mcp.canonical import replace_surrogates, utf16_length
from tdqs_mcp.errors import UnknownIdError, nearest
from tdqs_mcp.facts.schema import protocol
from tdqs_mcp.facts.schema.walk import Deviation
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.clients import ClientView, Handling, Limit, LimitExcess, PortabilityReport, SeenTool, worst
from tdqs_mcp.results.findings import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program or a model API that takes tool definitions."""

    id: str
    title: str
    name: str = "{tool}"
    """How it calls a tool of a server."""

    separates: bool = False
    """It gives another name to a tool whose name is taken."""

    is_strict: bool = False
    """A mode that hardly any definition is written for."""

    def named(self, tool: str, *, server: str) -> str:
        """The tool's name as a model gets it."""
        return self.name.format(tool=tool, server=server)

    def shortened(self, name: str) -> str:
        """The name that it makes of one that it does not take."""
        return _hashed(name) if self.id == "codex" else shortened(name)


class Audience(NamedTuple):
    """A catalog and the clients that it is meant for: what the rules about clients read."""

    measured: Measured
    clients: Sequence[str]
    """The ids that somebody named; empty if nobody did."""

    def limits(self, *checks: str) -> list[tuple[Limit, list[Client]]]:
        """The limits of these checks that are findings here, each with the clients that it holds for."""
        limits = (limit for limit in all_limits() if limit.check in checks and self.severity(limit))
        clients_by_limit = (
            (limit, [CLIENTS[name] for name in limit.clients if self._counts(CLIENTS[name])]) for limit in limits
        )
        return [(limit, clients) for limit, clients in clients_by_limit if clients]

    def severity(self, limit: Limit) -> Severity | None:
        """The severity of a finding about a limit, which is mild where nobody names the client; None for no finding."""
        return limit.severity if self.clients else limit.default

    def _counts(self, client: Client) -> bool:
        return client.id in self.clients if self.clients else not client.is_strict


def check_clients(names: Sequence[str]) -> tuple[str, ...]:
    """The names themselves. Raises UnknownIdError for a client that there are no limits of."""
    for name in names:
        if name not in CLIENTS:
            raise UnknownIdError(f"there is no client {name!r}{nearest(name, CLIENTS)}; there are {', '.join(CLIENTS)}")
    return tuple(dict.fromkeys(names))


def tool_breaches(subject: Subject, limit: Limit, client: Client, *, server: str) -> tuple[Deviation, ...]:
    """Where a tool goes beyond a client's limit."""
    if limit.check == CLIENTS_OWN:
        return _name_breaches(subject, limit, client, server=server)
    if limit.check == "description":
        length = utf16_length(subject.tool.description or "")
        breach = Deviation("/description", f"the description of {length:,} UTF-16 code units")
        return (breach,) if length > limit.takes else ()
    find = SCHEMA_CHECKS.get(limit.check)
    if find is None:  # a limit of the server as a whole
        return ()
    shapes = (subject.input_shape, subject.output_shape) if limit.check == _BOTH else (subject.input_shape,)
    return tuple(breach for shape in shapes for breach in find(shape, limit.takes))


def server_breaches(measured: Measured, limit: Limit) -> tuple[Deviation, ...]:
    """Where a server as a whole goes beyond a limit."""
    count = len(measured.catalog.tools)
    if limit.check == "tools" and count > limit.takes:
        return (Deviation("", f"the {count} tools of the server"),)
    length = utf16_length(measured.catalog.instructions or "")
    if limit.check == "instructions" and length > limit.takes:
        return (Deviation("", f"the instructions of {length:,} UTF-16 code units"),)
    return ()


def shortened(name: str) -> str:
    """The name that Gemini CLI makes of another: its `generateValidName`."""
    fit = re.sub(r"[^a-zA-Z0-9_.-]", "_", name)
    return fit if len(fit) <= 63 else f"{fit[:28]}___{fit[-32:]}"


def _hashed(name: str) -> str:
    """The name that Codex makes of another: its `qualify_tools`."""
    fit, digest = plain_name(name), hashlib.sha1(replace_surrogates(name).encode(), usedforsecurity=False).hexdigest()
    return fit if len(fit) <= 64 else f"{fit[: 64 - len(digest)]}{digest}"


def plain_name(name: str) -> str:
    """The name in the characters that every API takes: names that differ in others alone are told apart by none."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def view_catalog(measured: Measured, clients: Sequence[str] = ()) -> PortabilityReport:
    """The view of each client that is named, or of all; a strict mode only if it is named. Raises UnknownIdError."""
    chosen = [CLIENTS[name] for name in check_clients(clients)]
    audience = chosen or [item for item in CLIENTS.values() if not item.is_strict]
    catalog = measured.catalog
    return PortabilityReport(
        **catalog.origin,
        clients=tuple(_view(measured, client) for client in audience),
        unmeasured=tuple(item.tool.name for item in measured.unmeasured),
        problems=catalog.problems,
    )


@cache
def all_limits() -> tuple[Limit, ...]:
    """Every limit, in the order of the data."""
    return tuple(map(_limit, _data()["limits"]))


def _limit(entry: Mapping[str, Any]) -> Limit:
    severities = {key: Severity(entry[key]) for key in ("severity", "default") if key in entry}
    lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
    return Limit(**{**entry, **lists, "outcome": Handling(entry["outcome"]), **severities})


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(files("tdqs_mcp.rules").joinpath("data", "client_limits.toml").read_text(encoding="utf-8"))


def _clients() -> dict[str, Client]:
    return {name: Client(id=name, **entry) for name, entry in _data()["clients"].items()}


LONG_NAME = 50
"""Characters of a name from which a message says how many there are: below, only a character can be refused."""


CLIENTS: Mapping[str, Client] = _clients()


CLIENTS_OWN = "tool-name"
"""The check that each client has of its own: it reads the name that the client makes of the tool's."""


_BOTH = "schema-objects"
"""The check that also reads the output schema: clients read it when they list the tools."""


def _view(measured: Measured, client: Client) -> ClientView:
    limits = [limit for limit in all_limits() if client.id in limit.clients]
    changes = [_change(limit, server_breaches(measured, limit)) for limit in limits]
    return ClientView(
        client=client.id,
        title=client.title,
        tools=tuple(_seen(subject, limits, client, server=measured.catalog.server) for subject in measured.subjects),
        changes=tuple(filter(None, changes)),
    )


def _seen(subject: Subject, limits: Sequence[Limit], client: Client, *, server: str) -> SeenTool:
    changes = [_change(limit, tool_breaches(subject, limit, client, server=server)) for limit in limits]
    view_changes = tuple(filter(None, changes))
    handling = worst([change.handling for change in view_changes])
    name = client.named(subject.tool.name, server=server)
    is_renamed = any(change.handling is Handling.RENAMED for change in view_changes)
    return SeenTool(
        name=subject.tool.name,
        seen_as=None if handling is Handling.REFUSED else client.shortened(name) if is_renamed else name,
        handling=handling,
        changes=view_changes,
    )


def _change(limit: Limit, breaches: Sequence[Deviation]) -> LimitExcess | None:
    if not breaches:
        return None
    first = breaches[0]
    return LimitExcess(handling=limit.outcome, path=first.path, places=len(breaches), what=first.message, limit=limit)


def _name_breaches(subject: Subject, limit: Limit, client: Client, *, server: str) -> tuple[Deviation, ...]:
    name = client.named(subject.tool.name, server=server)
    if re.fullmatch(limit.takes, name):
        return ()
    length = f" of {len(name)} characters" if len(name) > LONG_NAME else ""
    return (Deviation("/name", f"the name {name[:140]!r}{length}"),)


SCHEMA_CHECKS: Mapping[str, Callable[..., Iterator[Deviation]]] = {
    "property-keys": protocol.unfit_keys,
    "root-keywords": protocol.root_keywords,
    "keywords": protocol.used_keywords,
    "nesting": protocol.deep_properties,
    **{
        check: lambda shape, _, find=find: find(shape)
        for check, find in {
            "array-items": protocol.arrays_without_items,
            "listed-array-items": protocol.listed_arrays_without_items,
            "single-types": protocol.type_lists,
            "text-enums": protocol.enums_beyond_text,
            "filled-enums": protocol.empty_choices,
            "schema-objects": protocol.boolean_schemas,
            "closed-objects": protocol.open_objects,
            "required-properties": protocol.optional_properties,
        }.items()
    },
}
