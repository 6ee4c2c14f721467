"""Requests that a search would answer with another tool, were some definitions rewritten."""

from collections.abc import Mapping, Sequence

from tdqs_mcp.facts.toolset import search
from tdqs_mcp.model import Tool

SHOWN = (1, 5)
"""Tools that a search shows: the best one, or a handful to choose from."""


def find_overtaken(before: Sequence[Tool], after: Sequence[Tool]) -> dict[int, set[int]]:
    """By position of a tool that a search no longer shows, the positions of those that have come before it.

    BM25 among all tools of the server. The requests are each tool's own first sentence as it was, so a definition that
    quotes a sibling may take a request from it, and none is won.
    """
    old, new = _weights(before), _weights(after)
    found: dict[int, set[int]] = {}
    for place, tool in enumerate(before):
        ahead, now = (_ahead(weights, _request(tool), place) for weights in (old, new))
        if any(len(ahead) < shown <= len(now) for shown in SHOWN):
            found[place] = now - ahead
    return found


def _weights(tools: Sequence[Tool]) -> Mapping[str, Mapping[int, float]]:
    return search.bm25_weights([search.search_terms(search.indexed_text(tool)) for tool in tools])


def _request(tool: Tool) -> list[str]:
    """The terms of the first sentence, else of the name."""
    first = (tool.description or "").strip().split("\n", 1)[0].split(". ", 1)[0]
    return search.search_terms(first or tool.name)


def _ahead(weights: Mapping[str, Mapping[int, float]], request: Sequence[str], place: int) -> set[int]:
    """The tools that score at least as high as the one that is meant."""
    scores = search.bm25_scores(weights, request)
    least = scores.get(place, 0.0)
    return {other for other, score in scores.items() if other != place and score >= least}
