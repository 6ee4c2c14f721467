"""Rules about clients: limits as data, and the rules that hold tools against them."""

from collections.abc import Iterator, Sequence

from tdqs_mcp.facts.schema.walk import Deviation
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.results.clients import Handling, Limit
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.rules.client_limits import CLIENTS_OWN, Audience, Client, server_breaches, tool_breaches
from tdqs_mcp.rules.rule import Hit, rule

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
    """Yield one hit for each tool and kind of breach, with all clients that it concerns."""
    limits = audience.limits(*checks)
    server = audience.measured.catalog.server
    for subject in audience.measured.subjects:
        concerns: dict[tuple[Deviation, Handling, str], tuple[tuple[Deviation, ...], list[tuple[Limit, Client]]]] = {}
        breaches_by_key: dict[tuple[str, str, object], tuple[Deviation, ...]] = {}
        for limit, clients in limits:
            for client in clients if limit.check == CLIENTS_OWN else clients[:1]:
                check = (limit.check, client.name if limit.check == CLIENTS_OWN else "", limit.takes)
                breaches = breaches_by_key.get(check)
                if breaches is None:
                    breaches = breaches_by_key[check] = tool_breaches(subject, limit, client, server=server)
                if breaches:
                    key = (breaches[0], limit.outcome, limit.loses)
                    concerned = concerns.setdefault(key, (breaches, []))[1]
                    concerned += [
                        (limit, client_name) for client_name in ([client] if limit.check == CLIENTS_OWN else clients)
                    ]
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
        f"{breaches[0].message}{more}: {_who(concerned)}",
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
    everybody = [client_title for clients in titles.values() for client_title in clients]
    limit, is_one = concerned[0][0], len(everybody) == 1
    sentence = f"{_listed(everybody)} {_consequence(limit, s='s' * is_one)}"
    if limit.outcome is Handling.CUT:
        return f"{sentence} {limit.says}"
    if len(titles) == 1:
        return f"{sentence}; {'it takes' if is_one else 'they take'} {limit.says}"
    takes = (f"{_listed(title)} take{'s' * (len(title) == 1)} {says}" for says, title in titles.items())
    return "; ".join([sentence, *takes])


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


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
    is_certain = limit.check != CLIENTS_OWN or not subject or tool_breaches(subject, limit, client, server="s")
    return severity if is_certain or severity is not Severity.ERROR else Severity.WARNING
