"""What an agent in one client sees of several servers together: names, overlaps, tokens, and what a task needs."""

from collections.abc import Iterator, Mapping, Sequence

from tdqs_mcp.facts.subject import Measured, overlaps_between
from tdqs_mcp.facts.toolset.search import bm25_scores, bm25_weights, indexed_text, search_terms
from tdqs_mcp.results.client_servers import ClientSet, NotNeeded, Place, SharedName, SharedPurpose
from tdqs_mcp.rules.client_limits import CLIENTS, Client, all_limits, plain_name

NEEDED = 30
"""Percent of the best tool's BM25 score from which a tool may be needed for a task.

On LiveMCPBench (70 servers, 527 tools, 95 tasks) this keeps the servers of 82% of the tools that people used and saves
61% of the tokens; for its 90 single steps it keeps 88% and saves 77%. Chosen among five values on the same data.
"""


def view_set(name: str, title: str, servers: Mapping[str, Measured], *, task: str | None = None) -> ClientSet:
    """What a client shows of its servers, which are given by the names that it calls them.

    Linear in the number of tools: equal names are looked up, and only tools that share rare words are compared.
    """
    client = CLIENTS.get(name, Client(id=name, title=title))
    places = [Place(server=server, tool=tool) for server, each in servers.items() for tool in each.names]
    as_seen = {} if client.separates else _grouped((_seen(client, place), place) for place in places)
    collisions = _shared(as_seen)
    collided = {place for each in collisions for place in each.tools}
    alike = _shared(_grouped((place.tool, place) for place in places))
    return ClientSet(
        client=name,
        title=title,
        servers=tuple(servers),
        tool_count=len(places),
        tool_limit=next((each.takes for each in all_limits() if each.check == "tools" and name in each.clients), None),
        tokens=sum(each.tokens for each in servers.values()),
        collisions=collisions,
        same_names=tuple(each for each in alike if collided.isdisjoint(each.tools)),
        overlaps=tuple(_overlaps(servers)),
        not_needed=None if task is None else _not_needed(servers, task),
    )


def _seen(client: Client, place: Place) -> str:
    return plain_name(client.named(place.tool, server=place.server))


def _grouped(named: Iterator[tuple[str, Place]]) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for name, place in named:
        groups.setdefault(name, []).append(place)
    return groups


def _shared(groups: Mapping[str, Sequence[Place]]) -> tuple[SharedName, ...]:
    return tuple(SharedName(name=name, tools=tuple(places)) for name, places in groups.items() if len(places) > 1)


def _overlaps(servers: Mapping[str, Measured]) -> Iterator[SharedPurpose]:
    names = list(servers)
    for (place, rival), overlaps in overlaps_between(list(servers.values())).items():
        for each in overlaps if place < rival else ():
            yield SharedPurpose(
                first=Place(server=names[place], tool=each.first),
                second=Place(server=names[rival], tool=each.second),
                kind=each.kind.value,
            )


def _not_needed(servers: Mapping[str, Measured], task: str) -> NotNeeded:
    """The servers without a tool that comes near the best one; none if no tool has a word of the task."""
    tools = [(server, subject.tool) for server, each in servers.items() for subject in each.subjects]
    weights = bm25_weights([search_terms(indexed_text(tool)) for _, tool in tools])
    scores = bm25_scores(weights, search_terms(task))
    best = max(scores.values(), default=0.0)
    needed = {tools[place][0] for place, score in scores.items() if 100 * score >= NEEDED * best}
    idle = tuple(server for server in servers if needed and server not in needed)
    return NotNeeded(task=task, servers=idle, saved_tokens=sum(servers[each].tokens for each in idle))
