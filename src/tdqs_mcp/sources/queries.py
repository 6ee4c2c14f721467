"""Queries from files: JSON, JSON Lines or YAML, written by hand or taken from an earlier report."""

import json
from collections.abc import Mapping
from pathlib import Path

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.selection import Query
from tdqs_mcp.sources.written import parse_text, read_text

SHAPE = "a list of {query, tool}, as JSON, JSON Lines or YAML"


def read_queries(path: Path) -> list[Query]:
    """The queries in a file, in its order. Raises InputError, which says which entry cannot be used."""
    origin = repr(str(path))
    text = read_text(path)
    data: object = _lines(text)
    data = parse_text(text, origin=origin) if data is None else data
    entries = data.get("queries") if isinstance(data, Mapping) and "queries" in data else data
    entries = [entries] if isinstance(entries, Mapping) else entries
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{origin} holds no queries; give {SHAPE}")
    return [_query(entry, f"query {number} in {origin}") for number, entry in enumerate(entries, start=1)]


def _lines(text: str) -> list[object] | None:
    """The values of a text that has one on each of several lines; None for any other."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [json.loads(line) for line in lines] if len(lines) > 1 else None
    except (ValueError, RecursionError):
        return None


def _query(entry: object, origin: str) -> Query:
    if not isinstance(entry, Mapping):
        raise InputError(f"{origin} is no object with query and tool")
    for key in ("query", "tool"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(f"{origin} has no {key}: give it as a text that is not empty")
    server, withheld = entry.get("server"), entry.get("withheld") or []
    if server is not None and not isinstance(server, str):
        raise InputError(f"{origin} has a server that is no text")
    if not isinstance(withheld, list):
        raise InputError(f"{origin} has withheld words that are no list")
    return Query(text=entry["query"], tool=entry["tool"], server=server, withheld=tuple(map(str, withheld)))
