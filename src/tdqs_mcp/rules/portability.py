"""What each client would show a model of a catalog's tools."""

from collections.abc import Sequence

from tdqs_mcp.facts.schema.conformance import Breach
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.portability import Change, ClientView, Handling, Limit, PortabilityReport, SeenTool, worst
from tdqs_mcp.rules.clients import CLIENTS, Client, all_limits, check_clients, server_breaches, shortened, tool_breaches


def view_catalog(measured: Measured, clients: Sequence[str] = ()) -> PortabilityReport:
    """The view of each client that is named, or of all; a strict mode only if it is named. Raises UnknownIdError."""
    shown = [CLIENTS[name] for name in check_clients(clients)] or [
        each for each in CLIENTS.values() if not each.is_strict
    ]
    catalog = measured.catalog
    return PortabilityReport(
        **catalog.origin,
        clients=tuple(_view(measured, client) for client in shown),
        unmeasured=tuple(each.tool.name for each in measured.unmeasured),
        problems=catalog.problems,
    )


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
        seen_as=None if handling is Handling.REFUSED else shortened(name) if is_renamed else name,
        handling=handling,
        changes=found,
    )


def _change(limit: Limit, breaches: Sequence[Breach]) -> Change | None:
    if not breaches:
        return None
    first = breaches[0]
    return Change(handling=limit.outcome, path=first.path, places=len(breaches), what=first.what, limit=limit)
