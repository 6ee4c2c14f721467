"""What the store of a registry can be asked: statistics, one server's place, tools by query, all tools."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Connection

from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.statistics import Standing, Statistics, StoredTool, ToolSearch
from tdqs_mcp.store import tool_search
from tdqs_mcp.store.database import open_filled_store, read
from tdqs_mcp.store.score_queries import find_method, known_percentiles, methods, standing, statistics

Result = TypeVar("Result")


def store_statistics(store: str, *, method: str | None = None) -> Statistics:
    """The numbers of the newest run's method, or of the one whose key or judge is given. Raises InputError."""
    return _read(store, lambda connection: statistics(connection, find_method(connection, method).key))


def server_standing(store: str, server: str, *, method: str | None = None) -> Standing:
    """Where a server stands among the others of the store. Raises InputError and UnknownIdError."""
    return _read(store, lambda connection: standing(connection, find_method(connection, method), server))


def with_store_percentiles(score: ServerScore, store: str) -> ServerScore:
    """The score with its percentiles among a store's other servers, where the store has such of the same method."""

    def among(connection: Connection) -> ServerScore:
        stamp, rollup = (score.judge, score.spec_version), score.rollup
        key = next((each.key for each in methods(connection) if (each.judge, each.spec_version) == stamp), None)
        if key is None:
            return score
        found = known_percentiles(
            connection, key, server=score.server, overall=rollup.overall, quality=rollup.description_quality
        )
        return replace(score, percentiles=found or score.percentiles)

    return _read(store, among)


def search_tools(store: str, query: str, *, method: str | None = None, limit: int = 10) -> ToolSearch:
    """The tools of the store that a query finds; among comparable matches those with better definitions first."""

    def search(connection: Connection) -> ToolSearch:
        found = find_method(connection, method)
        matches = tool_search.search(connection, found, query, limit=limit)
        return ToolSearch(query=query, method=found, matches=matches)

    return _read(store, search)


def stored_tools(store: str, *, method: str | None = None) -> Iterator[StoredTool]:
    """Every tool of the store with its score, as of one moment. Raises InputError."""
    engine = open_filled_store(store)
    try:
        found = read(engine, lambda connection: find_method(connection, method))
        yield from tool_search.export_tools(engine, found)
    finally:
        engine.dispose()


def _read(store: str, use: Callable[[Connection], Result]) -> Result:
    engine = open_filled_store(store)
    try:
        return read(engine, use)
    finally:
        engine.dispose()
