"""Queries from files: JSON, JSON Lines or YAML, written by hand or taken from an earlier report."""

import json
from collections.abc import Mapping
from pathlib import Path

from tdqs_mcp.errors import InputError
from tdqs_mcp.model.selection import Query

SHAPE = "a list of {query, tool}, as JSON, JSON Lines or YAML"


def read_queries(path: Path) -> list[Query]:
    """The queries in a file, in its order. Raises InputError, which says which entry cannot be used."""
    origin = repr(str(path))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{origin} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{origin} is no UTF-8 text") from error
    data = _json(text)
    data = _yaml(text, origin) if data is None else data
    entries = data.get("queries") if isinstance(data, Mapping) and "queries" in data else data
    entries = [entries] if isinstance(entries, Mapping) else entries
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{origin} holds no queries; give {SHAPE}")
    return [_query(entry, f"query {number} in {origin}") for number, entry in enumerate(entries, start=1)]


def _json(text: str) -> object:
    """The JSON value, or the list of a value a line; None where it is neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _yaml(text: str, origin: str) -> object:
    import yaml  # noqa: PLC0415  # most query files are JSON

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{origin} is neither JSON nor YAML; give {SHAPE}") from error


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
