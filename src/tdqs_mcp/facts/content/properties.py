"""The names that an input schema gives to properties, as far as a text may speak of them."""

from collections.abc import Iterator, Mapping
from typing import Any

MAX_PROPERTIES = 200
"""Properties, nested ones included, whose names are known; the largest real schema has fewer."""

MAX_DEPTH = 4
"""Levels of nested objects whose properties are read."""


def property_names(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Names of properties at every level, breadth first, MAX_PROPERTIES at most."""
    level: list[Any] = [schema]
    left = MAX_PROPERTIES
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if not isinstance(node, Mapping):
                continue
            properties = node.get("properties")
            for name, child in (properties if isinstance(properties, Mapping) else {}).items():
                if left == 0:
                    return
                left -= 1
                yield name
                below.append(child)
            below.append(node.get("items"))
            for keyword in ("anyOf", "oneOf", "allOf"):
                branches = node.get(keyword)
                below += branches[:MAX_PROPERTIES] if isinstance(branches, list) else []
        level = [node for node in below[:MAX_PROPERTIES] if node is not None]
