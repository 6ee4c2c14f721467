"""What clients take of a tool: limits as data, and the rules that hold tools against them."""

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
from tdqs_mcp.facts.schema import restrictions
from tdqs_mcp.facts.schema.conformance import Breach
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.clients import Change, ClientView, Handling, Limit, PortabilityReport, SeenTool, worst
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.rules.rule import Hit, rule


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
        found = ((limit, [CLIENTS[name] for name in limit.clients if self._counts(CLIENTS[name])]) for limit in limits)
        return [(limit, clients) for limit, clients in found if clients]

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


def tool_breaches(subject: Subject, limit: Limit, client: Client, *, server: str) -> tuple[Breach, ...]:
    """Where a tool goes beyond a client's limit."""
    if limit.check == CLIENTS_OWN:
        return _name_breaches(subject, limit, client, server=server)
    if limit.check == "description":
        length = utf16_length(subject.tool.description or "")
        breach = Breach("/description", f"the description of {length:,} UTF-16 code units")
        return (breach,) if length > limit.takes else ()
    find = SCHEMA_CHECKS.get(limit.check)
    if find is None:  # a limit of the server as a whole
        return ()
    shapes = (subject.input_shape, subject.output_shape) if limit.check == _BOTH else (subject.input_shape,)
    return tuple(breach for shape in shapes for breach in find(shape, limit.takes))


def server_breaches(measured: Measured, limit: Limit) -> tuple[Breach, ...]:
    """Where a server as a whole goes beyond a limit."""
    count = len(measured.catalog.tools)
    if limit.check == "tools" and count > limit.takes:
        return (Breach("", f"the {count} tools of the server"),)
    length = utf16_length(measured.catalog.instructions or "")
    if limit.check == "instructions" and length > limit.takes:
        return (Breach("", f"the instructions of {length:,} UTF-16 code units"),)
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
    asked = [CLIENTS[name] for name in check_clients(clients)]
    shown = asked or [each for each in CLIENTS.values() if not each.is_strict]
    catalog = measured.catalog
    return PortabilityReport(
        **catalog.origin,
        clients=tuple(_view(measured, client) for client in shown),
        unmeasured=tuple(each.tool.name for each in measured.unmeasured),
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
        tools=tuple(_seen(each, limits, client, server=measured.catalog.server) for each in measured.subjects),
        changes=tuple(filter(None, changes)),
    )


def _seen(subject: Subject, limits: Sequence[Limit], client: Client, *, server: str) -> SeenTool:
    changes = [_change(limit, tool_breaches(subject, limit, client, server=server)) for limit in limits]
    found = tuple(filter(None, changes))
    handling = worst([each.handling for each in found])
    name = client.named(subject.tool.name, server=server)
    is_renamed = any(each.handling is Handling.RENAMED for each in found)
    return SeenTool(
        name=subject.tool.name,
        seen_as=None if handling is Handling.REFUSED else client.shortened(name) if is_renamed else name,
        handling=handling,
        changes=found,
    )


def _change(limit: Limit, breaches: Sequence[Breach]) -> Change | None:
    if not breaches:
        return None
    first = breaches[0]
    return Change(handling=limit.outcome, path=first.path, places=len(breaches), what=first.what, limit=limit)


def _name_breaches(subject: Subject, limit: Limit, client: Client, *, server: str) -> tuple[Breach, ...]:
    name = client.named(subject.tool.name, server=server)
    if re.fullmatch(limit.takes, name):
        return ()
    length = f" of {len(name)} characters" if len(name) > LONG_NAME else ""
    return (Breach("/name", f"the name {name[:140]!r}{length}"),)


SCHEMA_CHECKS: Mapping[str, Callable[..., Iterator[Breach]]] = {
    "property-keys": restrictions.unfit_keys,
    "root-keywords": restrictions.root_keywords,
    "keywords": restrictions.used_keywords,
    "nesting": restrictions.deep_properties,
    **{
        check: lambda shape, _, find=find: find(shape)
        for check, find in {
            "array-items": restrictions.arrays_without_items,
            "listed-array-items": restrictions.listed_arrays_without_items,
            "single-types": restrictions.type_lists,
            "text-enums": restrictions.enums_beyond_text,
            "filled-enums": restrictions.empty_choices,
            "schema-objects": restrictions.boolean_schemas,
            "closed-objects": restrictions.open_objects,
            "required-properties": restrictions.optional_properties,
        }.items()
    },
}


_SOURCE = "limits of clients and model APIs, each with its own source"


@rule("TDQ701", severity=Severity.ERROR, dimension="parameter_semantics", source=_SOURCE)
def refused_parameter_name(audience: Audience) -> Iterator[Hit]:
    """A parameter's name has characters or a length for which model APIs refuse the whole request."""
    yield from _tool_hits(audience, "property-keys", fix="rename the parameter; the server can map it back")


@rule("TDQ702", severity=Severity.ERROR, source=_SOURCE)
def composed_root(audience: Audience) -> Iterator[Hit]:
    """The input schema has alternatives at its root, for which model APIs refuse the whole request."""
    yield from _tool_hits(audience, "root-keywords", fix="list all parameters in properties, and say the rest in words")


@rule("TDQ703", severity=Severity.ERROR, source=_SOURCE)
def refused_name(audience: Audience) -> Iterator[Hit]:
    """The tool's name, with the prefix that a client adds, is refused or changed."""
    yield from _tool_hits(audience, "tool-name", fix="use a short name of letters, digits and underscores")


@rule("TDQ704", severity=Severity.WARNING, source=_SOURCE)
def cut_text(audience: Audience) -> Iterator[Hit]:
    """A description, or the server's instructions, is longer than a client shows to the model."""
    yield from _tool_hits(audience, "description", fix="begin with what decides the choice of the tool")
    yield from _server_hits(audience, "instructions", fix="begin with what the server is for, and cut the rest")


@rule("TDQ705", severity=Severity.ERROR, source=_SOURCE)
def many_tools(audience: Audience) -> Iterator[Hit]:
    """The server alone has more tools than a client or model API takes."""
    yield from _server_hits(audience, "tools", fix="offer groups of tools that can be turned off, or fewer tools")


@rule("TDQ706", severity=Severity.ERROR, dimension="parameter_semantics", source=_SOURCE)
def array_without_items(audience: Audience) -> Iterator[Hit]:
    """An array does not say what it contains, so model APIs refuse the whole request."""
    yield from _tool_hits(
        audience, "array-items", "listed-array-items", fix='say what it contains, such as {"items": {"type": "string"}}'
    )


@rule("TDQ707", severity=Severity.ERROR, dimension="parameter_semantics", source=_SOURCE)
def refused_enum(audience: Audience) -> Iterator[Hit]:
    """An enum has a number, a boolean or an empty string, for which a model API refuses the whole request."""
    yield from _tool_hits(audience, "text-enums", "filled-enums", fix="list strings only, none of them empty")


@rule("TDQ708", severity=Severity.ERROR, dimension="parameter_semantics", source=_SOURCE)
def boolean_schema(audience: Audience) -> Iterator[Hit]:
    """A property's schema is true or false, for which clients silently drop the whole list of tools."""
    yield from _tool_hits(audience, "schema-objects", fix="write {} for true, and leave out what is false")


@rule("TDQ709", severity=Severity.WARNING, dimension="parameter_semantics", source=_SOURCE)
def refused_keyword(audience: Audience) -> Iterator[Hit]:
    """The schema has a keyword or a list of types that a model API refuses; reported only with `--client`."""
    yield from _tool_hits(audience, "single-types", "keywords", fix="say the same with one type, minimum and maximum")


@rule("TDQ710", severity=Severity.ERROR, dimension="parameter_semantics", source=_SOURCE)
def loose_schema(audience: Audience) -> Iterator[Hit]:
    """A strict mode refuses a schema that leaves something open or nests too deeply; reported only with `--client`."""
    checks = ("closed-objects", "required-properties", "nesting")
    yield from _tool_hits(
        audience, *checks, fix="close each object, require every property, and allow null where one is optional"
    )


def _tool_hits(audience: Audience, *checks: str, fix: str) -> Iterator[Hit]:
    """One hit for each tool and kind of breach, with all clients that it concerns."""
    limits = audience.limits(*checks)
    server = audience.measured.catalog.server
    for subject in audience.measured.subjects:
        found: dict[tuple[Breach, Handling, str], tuple[tuple[Breach, ...], list[tuple[Limit, Client]]]] = {}
        known: dict[tuple[str, str, object], tuple[Breach, ...]] = {}
        for limit, clients in limits:
            for client in clients if limit.check == CLIENTS_OWN else clients[:1]:
                check = (limit.check, client.name if limit.check == CLIENTS_OWN else "", limit.takes)
                breaches = known.get(check)
                if breaches is None:
                    breaches = known[check] = tool_breaches(subject, limit, client, server=server)
                if breaches:
                    key = (breaches[0], limit.outcome, limit.loses)
                    concerned = found.setdefault(key, (breaches, []))[1]
                    concerned += [(limit, each) for each in ([client] if limit.check == CLIENTS_OWN else clients)]
        for breaches, concerned in found.values():
            yield _hit(audience, breaches, concerned, fix=fix, subject=subject)


def _server_hits(audience: Audience, *checks: str, fix: str) -> Iterator[Hit]:
    for limit, clients in audience.limits(*checks):
        breaches = server_breaches(audience.measured, limit)
        for client in clients if breaches else ():
            yield _hit(audience, breaches, [(limit, client)], fix=fix)


def _hit(
    audience: Audience,
    breaches: Sequence[Breach],
    concerned: Sequence[tuple[Limit, Client]],
    *,
    fix: str,
    subject: Subject | None = None,
) -> Hit:
    limit, severity = max(
        ((limit, _severity(audience, limit, client, subject)) for limit, client in concerned),
        key=lambda each: each[1].rank,
    )
    more = f" and {len(breaches) - 1} more" if len(breaches) > 1 else ""
    return Hit(
        breaches[0].path,
        f"{breaches[0].what}{more}: {_who(concerned)}",
        fix,
        severity,
        subject.tool if subject else None,
        limit.source,
    )


def _who(concerned: Sequence[tuple[Limit, Client]]) -> str:
    """The clients, what they do, and what they take."""
    titles: dict[str, list[str]] = {}
    for limit, client in concerned:
        titles.setdefault(limit.says, []).append(client.title)
    everybody = [each for clients in titles.values() for each in clients]
    limit, is_one = concerned[0][0], len(everybody) == 1
    done = f"{_listed(everybody)} {_consequence(limit, s='s' * is_one)}"
    if limit.outcome is Handling.CUT:
        return f"{done} {limit.says}"
    if len(titles) == 1:
        return f"{done}; {'it takes' if is_one else 'they take'} {limit.says}"
    takes = (f"{_listed(each)} take{'s' * (len(each) == 1)} {says}" for says, each in titles.items())
    return "; ".join([done, *takes])


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _consequence(limit: Limit, *, s: str) -> str:
    """What happens, after the names of the clients."""
    match limit.outcome, limit.loses:
        case Handling.REFUSED, "tool":
            return f"leave{s} the tool out"
        case Handling.REFUSED, "server":
            return f"drop{s} all tools of the server"
        case Handling.REFUSED, _:
            return f"refuse{s} the whole request"
        case Handling.RENAMED, _:
            return f"rename{s} the tool"
        case _:
            return f"keep{s} only"


def _severity(audience: Audience, limit: Limit, client: Client, subject: Subject | None) -> Severity:
    """Never an error for a name that only the server's makes too long: whoever installs the server names it."""
    severity = audience.severity(limit) or Severity.INFO
    is_certain = limit.check != CLIENTS_OWN or not subject or tool_breaches(subject, limit, client, server="s")
    return severity if is_certain or severity is not Severity.ERROR else Severity.WARNING
