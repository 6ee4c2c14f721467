"""Limits of clients and model APIs, as dated data with its sources, and the rules about them."""

import hashlib
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

from tdqs_mcp.canonical import replace_surrogates, utf16_length
from tdqs_mcp.errors import UnknownIdError, nearest
from tdqs_mcp.facts.schema.walk import Deviation, Shape, escape_step, keyword_members, required_names, split_pointer
from tdqs_mcp.facts.spelling import joined
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.results.portability import ClientView, Handling, Limit, LimitExcess, PortabilityReport, SeenTool, worst
from tdqs_mcp.rules.rule import Hit, read_family, read_table


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
        """The name that it makes of one that it does not take; Codex by its `qualify_tools`."""
        if self.id != "codex":
            return shortened(name)
        fit, digest = (
            plain_name(name),
            hashlib.sha1(replace_surrogates(name).encode(), usedforsecurity=False).hexdigest(),
        )
        return fit if len(fit) <= 64 else f"{fit[: 64 - len(digest)]}{digest}"


class Audience(NamedTuple):
    """A catalog and the clients that it is meant for: what the rules about clients read."""

    measured: Measured
    clients: Sequence[str]
    """The ids that somebody named; empty if nobody did."""

    def limits(self, *checks: str) -> list[tuple[Limit, list[Client]]]:
        """The limits of these checks that are findings here, each with the clients that it holds for."""
        limits = (limit for limit in all_limits() if limit.check in checks and self.severity(limit))
        counting = self.clients or [name for name, client in CLIENTS.items() if not client.is_strict]
        clients_by_limit = ((limit, [CLIENTS[name] for name in limit.clients if name in counting]) for limit in limits)
        return [(limit, clients) for limit, clients in clients_by_limit if clients]

    def severity(self, limit: Limit) -> Severity | None:
        """The severity of a finding about a limit, which is mild where nobody names the client; None for no finding."""
        return limit.severity if self.clients else limit.default


def check_clients(names: Sequence[str]) -> tuple[str, ...]:
    """The names themselves. Raises UnknownIdError for a client that there are no limits of."""
    for name in names:
        if name not in CLIENTS:
            raise UnknownIdError(f"there is no client {name!r}{nearest(name, CLIENTS)}; there are {', '.join(CLIENTS)}")
    return tuple(dict.fromkeys(names))


def tool_breaches(subject: Subject, limit: Limit, client: Client, *, server: str | None) -> tuple[Deviation, ...]:
    """Where a tool goes beyond a client's limit. If the server's name is unknown (None), it counts as one letter."""
    if limit.check == CLIENTS_OWN:
        if re.fullmatch(limit.takes, client.named(subject.tool.name, server="s" if server is None else server)):
            return ()
        name = subject.tool.name if server is None else client.named(subject.tool.name, server=server)
        size = f" of {len(name)} characters" if len(name) > LONG_NAME else ""
        return (Deviation("/name", f"the name {name[:140]!r}{size}"),)
    if limit.check == "description":
        length = utf16_length(subject.tool.description or "")
        breach = Deviation("/description", f"the description of {length:,} UTF-16 code units")
        return (breach,) if length > limit.takes else ()
    find = SCHEMA_CHECKS.get(limit.check)
    if find is None:  # a limit of the server as a whole
        return ()
    shapes = (subject.input_shape, subject.output_shape) if limit.check == _BOTH else (subject.input_shape,)
    sizes = () if limit.takes is None else (limit.takes,)
    return tuple(breach for shape in shapes for breach in find(shape, *sizes))


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
        problems=catalog.remarks,
    )


@cache
def all_limits() -> tuple[Limit, ...]:
    """Every limit, in the order of the data."""
    return tuple(map(_limit, read_table("client_limits.toml")["limits"]))


def _limit(entry: Mapping[str, Any]) -> Limit:
    severities = {key: Severity(entry[key]) for key in ("severity", "default") if key in entry}
    lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
    return Limit(**{**entry, **lists, "outcome": Handling(entry["outcome"]), **severities})


LONG_NAME = 50
"""Characters of a name from which a message says how many there are: below, only a character can be refused."""

CLIENTS = {name: Client(id=name, **entry) for name, entry in read_table("client_limits.toml")["clients"].items()}
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
        tools=tuple(
            _seen_tool(subject, limits, client, server=measured.catalog.server) for subject in measured.subjects
        ),
        changes=tuple(filter(None, changes)),
    )


def _seen_tool(subject: Subject, limits: Sequence[Limit], client: Client, *, server: str) -> SeenTool:
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


def unfit_keys(shape: Shape, pattern: str) -> Iterator[Deviation]:
    """Parameters whose name does not match."""
    fits = re.compile(pattern).fullmatch
    for name in keyword_members(shape.root):
        if not fits(name):
            yield Deviation(
                f"{shape.nodes[0].path}/properties/{escape_step(name)}", f"the parameter name {name[:80]!r}"
            )


def root_keywords(shape: Shape, words: Container[str]) -> Iterator[Deviation]:
    """Keywords of the schema itself, not of its parameters."""
    for word in shape.root:
        if word in words:
            yield Deviation(f"{shape.nodes[0].path}/{word}", f"{word} at the root")


def used_keywords(shape: Shape, words: Container[str]) -> Iterator[Deviation]:
    """Keywords at any depth."""
    for word, nodes in shape.by_keyword.items():
        if word in words:
            yield from (Deviation(f"{node.path}/{word}", f"{word} {_owner(node.path)}") for node in nodes)


def arrays_without_items(shape: Shape, *, is_listed: bool = False) -> Iterator[Deviation]:
    """Arrays that do not say what is in them, by a type or by a list of types."""
    for node in shape.by_keyword.get("type", ()):
        kind = node.schema["type"]
        is_array = kind == "array" if not is_listed else isinstance(kind, list) and "array" in kind
        if is_array and "items" not in node.schema:
            yield Deviation(node.path, f"the array {_name(node.path)} without items")


def type_lists(shape: Shape) -> Iterator[Deviation]:
    """Types that are a list."""
    for node in shape.by_keyword.get("type", ()):
        if isinstance(node.schema["type"], list):
            yield Deviation(f"{node.path}/type", f"the list of types {_owner(node.path)}")


def enums_beyond_text(shape: Shape) -> Iterator[Deviation]:
    """Enums with a number or a Boolean."""
    for node in shape.by_keyword.get("enum", ()):
        members = node.schema["enum"]
        other = (
            next((member for member in members if isinstance(member, int | float)), None)
            if isinstance(members, list)
            else None
        )
        if other is not None:
            yield Deviation(f"{node.path}/enum", f"the member {other!r} in the enum {_owner(node.path)}")


def empty_choices(shape: Shape) -> Iterator[Deviation]:
    """Enums with an empty string."""
    for node in shape.by_keyword.get("enum", ()):
        if isinstance(node.schema["enum"], list) and "" in node.schema["enum"]:
            yield Deviation(f"{node.path}/enum", f"the empty string in the enum {_owner(node.path)}")


def boolean_schemas(shape: Shape) -> Iterator[Deviation]:
    """Properties whose schema is true or false."""
    for node in shape.by_keyword.get("properties", ()):
        for name, schema in keyword_members(node.schema).items():
            if isinstance(schema, bool):
                path = f"{node.path}/properties/{escape_step(name)}"
                yield Deviation(path, f"the schema {str(schema).lower()} {_owner(path)}")


def open_objects(shape: Shape) -> Iterator[Deviation]:
    """Objects that allow further properties."""
    for node in shape.nodes:
        is_object = node.schema.get("type") == "object" or "properties" in node.schema
        if is_object and node.schema.get("additionalProperties") is not False:
            yield Deviation(node.path, f"the open object {_name(node.path)}")


def optional_properties(shape: Shape) -> Iterator[Deviation]:
    """Properties that `required` does not name."""
    for node in shape.by_keyword.get("properties", ()):
        needed = frozenset(required_names(node.schema))
        for name in keyword_members(node.schema):
            if name not in needed:
                path = f"{node.path}/properties/{escape_step(name)}"
                yield Deviation(path, f"the optional property {_name(path)}")


def deep_properties(shape: Shape, levels: int) -> Iterator[Deviation]:
    """Objects below so many others."""
    for node in shape.by_keyword.get("properties", ()):
        depth = 1 + node.path.count("/properties/")
        if depth > levels:
            yield Deviation(node.path, f"the {depth} levels {_owner(node.path)}")


def _owner(path: str) -> str:
    name = _name(path)
    return name if name == _ROOT else f"of {name}"


def _name(path: str) -> str:
    """The parameter that a pointer leads into, with the properties below it."""
    steps = iter(split_pointer(path))
    names = ".".join(next(steps, "") for step in steps if step in ("properties", "$defs", "definitions"))
    return repr(names[:80]) if names else _ROOT


_ROOT = "at the root"


SCHEMA_CHECKS: Mapping[str, Callable[..., Iterator[Deviation]]] = {
    "property-keys": unfit_keys,
    "root-keywords": root_keywords,
    "keywords": used_keywords,
    "nesting": deep_properties,
    "array-items": arrays_without_items,
    "listed-array-items": partial(arrays_without_items, is_listed=True),
    "single-types": type_lists,
    "text-enums": enums_beyond_text,
    "filled-enums": empty_choices,
    "schema-objects": boolean_schemas,
    "closed-objects": open_objects,
    "required-properties": optional_properties,
}
"""Each takes a walked schema, and what its limit takes where that has a size."""


def _limit_hits(audience: Audience, *, words: Mapping[str, Any]) -> Iterator[Hit]:
    for group in words["hits"]:
        find = _server_hits if group["checks"][0] in _OF_SERVER else _tool_hits
        yield from find(audience, *group["checks"], fix=group["fix"])


_OF_SERVER = frozenset({"tools", "instructions"})

LIMITS = read_family("limits", _limit_hits)


def _tool_hits(audience: Audience, *checks: str, fix: str) -> Iterator[Hit]:
    """Yield one hit for each tool and kind of breach, with all clients that it concerns.

    Where nobody names a client, nobody knows the server's name there either: that of a capture is often the package's.
    """
    server = audience.measured.catalog.server if audience.clients else None
    # limits of one kind and size are looked at once
    alike: dict[tuple[str, str, object], list[tuple[Limit, Client]]] = {}
    for limit, clients in audience.limits(*checks):
        for client in clients:
            name = client.name if limit.check == CLIENTS_OWN else ""
            alike.setdefault((limit.check, name, limit.takes), []).append((limit, client))
    for subject in audience.measured.subjects:
        concerns: dict[tuple[Deviation, Handling, str], tuple[tuple[Deviation, ...], list[tuple[Limit, Client]]]] = {}
        for concerned in alike.values():
            breaches = tool_breaches(subject, *concerned[0], server=server)
            for limit, client in concerned if breaches else ():
                key = (breaches[0], limit.outcome, limit.loses)
                concerns.setdefault(key, (breaches, []))[1].append((limit, client))
        for breaches, concerned in concerns.values():
            yield _hit(audience, breaches, concerned, fix=fix, subject=subject)


def _server_hits(audience: Audience, *checks: str, fix: str) -> Iterator[Hit]:
    for limit, clients in audience.limits(*checks):
        breaches = server_breaches(audience.measured, limit)
        for client in clients if breaches else ():
            yield _hit(audience, breaches, [(limit, client)], fix=fix)


def _hit(
    audience: Audience,
    breaches: Sequence[Deviation],
    concerned: Sequence[tuple[Limit, Client]],
    *,
    fix: str,
    subject: Subject | None = None,
) -> Hit:
    limit, severity = max(
        ((limit, _severity(audience, limit, client, subject)) for limit, client in concerned),
        key=lambda pair: pair[1].rank,
    )
    more = f" and {len(breaches) - 1} more" if len(breaches) > 1 else ""
    return Hit(
        breaches[0].path,
        f"{breaches[0].message}{more}: {_concerned_clients(concerned)}",
        fix,
        severity,
        subject.tool if subject else None,
        limit.source,
    )


def _concerned_clients(concerned: Sequence[tuple[Limit, Client]]) -> str:
    """The clients, what they do, and what they take."""
    titles: dict[str, list[str]] = {}
    for limit, client in concerned:
        titles.setdefault(limit.says, []).append(client.title)
    everybody = [client_title for clients in titles.values() for client_title in clients]
    limit, is_one = concerned[0][0], len(everybody) == 1
    sentence = f"{joined(everybody)} {_consequence(limit, s='s' * is_one)}"
    if limit.outcome is Handling.CUT:
        return f"{sentence} {limit.says}"
    if len(titles) == 1:
        return f"{sentence}; {'it takes' if is_one else 'they take'} {limit.says}"
    takes = (f"{joined(title)} take{'s' * (len(title) == 1)} {says}" for says, title in titles.items())
    return "; ".join([sentence, *takes])


def _consequence(limit: Limit, *, s: str) -> str:
    """Return what happens, after the names of the clients."""
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
    is_certain = limit.check != CLIENTS_OWN or not subject or tool_breaches(subject, limit, client, server=None)
    return severity if is_certain or severity is not Severity.ERROR else Severity.WARNING
