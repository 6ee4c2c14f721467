"""Where the parts of definitions stand in source."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tdqs_mcp.code.constants import Expression, SourceText
from tdqs_mcp.results.tool_code import SourcePlace

_BLOCK_OPENING = re.compile(rb"""[rRuUbBfF]{0,2}(?:\"{3}|'{3}|`)[ \t]*\r?\n\s*(?=[^\s"'`])""")

MISSING = object()
"""The value of a part that a definition does not have."""


def origin_at(raw: Any, keys: Iterable[str]) -> tuple[Any, Expression | None]:  # noqa: ANN401  # JSON
    """Return the value at some keys of a definition as read, and where it stands; MISSING where there is none."""
    value, origin = raw, None
    for key in keys:
        if isinstance(value, dict) and key in value:
            spelled = next(name for name in value if name == key)
            value, origin = value[key], _origin(spelled)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value, origin = value[int(key)], None
        else:
            return MISSING, None
        origin = _origin(value) or origin
    return value, origin


def plain(value: Any) -> Any:  # noqa: ANN401  # JSON
    """Return a definition without the places of its parts."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, SourceText) else value


def places_of(raw: Mapping[str, Any]) -> dict[str, SourcePlace]:
    """Return the places of a definition's parts by JSON pointer."""
    return {pointer: place(origin) for pointer, origin in origins_of(raw)}


def place(origin: Expression) -> SourcePlace:
    """Return where an expression begins; of a text that begins below its quotes, where its first word does."""
    module, (start, end) = origin.scope.module, origin.node.span
    opening = _BLOCK_OPENING.match(module.tree.text, start, end)
    position = module.position(opening.end() if opening else start)
    return SourcePlace(file=module.path, line=position.line, column=position.column)


def origins_of(value: Any, pointer: str = "") -> Iterator[tuple[str, Expression]]:  # noqa: ANN401  # JSON
    """Yield the parts of a definition that stand somewhere, by JSON pointer."""
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        below = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        origin = _origin(item) or _origin(key)
        if origin is not None and origin.node.span[1]:
            yield below, origin
        yield from origins_of(item, below)


def _origin(value: object) -> Expression | None:
    return value.origin if isinstance(value, SourceText) else None
