"""Texts that are put together from parts, as far as the parts are known."""

from collections.abc import Sequence
from os.path import commonprefix

from tdqs_mcp.code.values import (
    UNKNOWN,
    Alternatives,
    Constant,
    Listing,
    PartialText,
    Value,
    alternatives,
    made_from,
    parameters_of,
    text_of,
)


def join_texts(glue: Value, items: Value) -> Value | None:
    """Return the text of a list's items, of those that it has in any case; None where nothing of it is known."""
    lists = [part for part in alternatives(items) if isinstance(part, Listing)]
    if text_of(glue) is None or len(lists) < len(alternatives(items)):
        return None
    first, *rest = [part.values for part in lists]
    texts = [item for item in first if all(item in values for values in rest)]
    if all(text_of(item) is None for item in texts):
        return None
    is_whole = not rest and all(isinstance(item, Constant) for item in texts)  # a loop adds what is computed
    parts = [part for item in texts for part in (item, glue)]
    return made_from(text_from(parts[:-1] if is_whole else [*parts, UNKNOWN]), items.parameters)


def text_from(values: Sequence[Value]) -> Value:
    """Return the text that values make, one after the other; of alternatives, the beginning that all of them have."""
    parts: list[str | None] = []
    for value in values:
        match value:
            case Constant(value=constant) if constant is not None:
                parts.append(str(constant))
            case PartialText(parts=inner):
                parts += inner
            case Alternatives(values=inner_values) if all(text_of(inner) for inner in inner_values):
                texts = [str(text_of(inner)) for inner in inner_values]
                parts += [commonprefix(texts).partition("{}")[0] or None, None]  # noqa: RUF071  # texts, no paths
            case _:
                parts.append(None)
    merged: list[str | None] = []
    for part in parts:
        if merged and part is not None and merged[-1] is not None:
            merged[-1] += part
        elif merged and part is None and merged[-1] is None:
            continue
        else:
            merged.append(part)
    parameters = parameters_of(values)
    if len(merged) == 1 and merged[0] is not None:
        return Constant(value=merged[0], parameters=parameters)
    return PartialText(parts=tuple(merged), parameters=parameters)
