"""Texts that are put together from parts, as far as the parts are known."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os.path import commonprefix

from tdqs_mcp.code.values import (
    TEXT,
    UNKNOWN,
    Alternatives,
    Constant,
    Instance,
    Listing,
    PartialText,
    Value,
    alternatives,
    join,
    made_from,
    options,
    parameters_of,
    text_of,
)

MAX_CHOICES = 4
"""Texts, of which one is chosen, that are told apart in what is made of them."""

MAX_ROWS = 4
"""Kinds of rows of one text; more are not kept."""


def join_texts(glue: Value, items: Value) -> Value | None:
    """Return the text of a list's items, of those that it has in any case; None where nothing of it is known."""
    lists = [part for part in alternatives(items) if isinstance(part, Listing)]
    if text_of(glue) is None or len(lists) < len(alternatives(items)):
        return None
    first, *rest = lists
    texts = [item for item in first.values if all(item in part.values for part in rest)]
    if all(text_of(item) is None for item in texts):
        return None
    loose = frozenset[Value]().union(*(part.optional | part.repeated for part in lists))
    rows = [_row(part, text_of(glue) or "") for part in lists]
    is_whole = not rest and not loose
    parts = [part for item in texts for part in ([UNKNOWN] if item in loose else [item, glue])]
    text = text_from(parts[:-1] if is_whole else [*parts, UNKNOWN])
    return made_from(_with_rows(text, rows), items.parameters)


def _row(items: Listing, glue: str) -> str:
    """Return the text of what a loop puts into a list for each item in any case."""
    repeated = [item for item in items.values if item in items.repeated and item not in items.optional]
    return glue.join("{}" if (text := text_of(item)) is None else text for item in repeated)


def text_from(values: Sequence[Value]) -> Value:
    """Return the text that values make, one after the other; of alternatives, the beginning that all of them have."""
    places = [place for place, value in enumerate(values) if _is_choice(value)]
    if len(places) != 1:
        return _whole_text(values)
    (place,) = places  # f"{'DROP' if is_old else 'CREATE'} TABLE boats"
    choice = list(options(values[place]))
    texts = [_whole_text([*values[:place], inner, *values[place + 1 :]]) for inner, _ in choice]
    return join(texts, [word for _, word in choice])


def _whole_text(values: Sequence[Value]) -> Value:
    parts: list[str | None] = []
    rows: dict[str, None] = {}
    for value in values:
        match value:
            case Constant(value=constant) if constant is not None:
                parts.append(str(constant))
            case PartialText(parts=inner):
                parts += inner
            case Instance(arguments=[(key, Constant() | PartialText() as text)]) if key == TEXT:
                parts.append(text_of(text))
            case Alternatives(values=inner_values) if all(text_of(inner) is not None for inner in inner_values):
                parts += _beginning(inner_values)
            case _:
                parts.append(None)
        rows |= {row: None for inner in alternatives(value) if isinstance(inner, PartialText) for row in inner.rows}
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
    return PartialText(parts=tuple(merged), rows=tuple(rows)[:MAX_ROWS], parameters=parameters)


def _is_choice(value: Value) -> bool:
    """Return whether a value is one of a few texts by the agent's choice, or an address with a default."""
    if not isinstance(value, Alternatives) or len(value.values) > MAX_CHOICES:
        return False
    return bool(value.conditions) or any("://" in (text_of(inner) or "") for inner in value.values)


def grown_text(before: Value, after: Value) -> Value:
    """Return a text after a loop: what stood there before, and what the loop adds for each item."""
    start = text_of(before)
    texts = [text_of(part) or "" for part in alternatives(after)]
    if start is None or not all(text.startswith(start) for text in texts):
        return after
    added = [text[len(start) :] for text in texts if len(text) > len(start)]
    row = commonprefix(added) if added else ""  # noqa: RUF071  # texts, no paths
    inner = [row for part in alternatives(after) if isinstance(part, PartialText) for row in part.rows]
    return made_from(_with_rows(before, [row, *inner]), after.parameters)


def repeated_text(before: Value, after: Value) -> Value | None:
    """Return a text to which a function adds for each item, as `rows.forEach((row) => { text += row; })`; else None."""
    start, text = text_of(before), text_of(after)
    if start is None or text is None or not text.startswith(start) or text == start:
        return None
    rows = [text.removeprefix(start), *(after.rows if isinstance(after, PartialText) else ())]
    return made_from(_with_rows(text_from([before, UNKNOWN]), rows), after.parameters)


def _with_rows(text: Value, rows: Iterable[str]) -> Value:
    if not isinstance(text, PartialText):
        return text
    return replace(text, rows=tuple(dict.fromkeys(filter(None, [*text.rows, *rows])))[:MAX_ROWS])


def repeating(before: Listing, after: Value) -> Value:
    """Return a list after a loop: what was put into it there stands for any number of items."""
    if not isinstance(after, Listing) or after.values[: len(before.values)] != before.values:
        return after
    return replace(after, repeated=after.repeated | set(after.values[len(before.values) :]))


def _beginning(texts: Sequence[Value]) -> list[str | None]:
    """Return the parts with which all of several texts begin."""
    lists = [text.parts if isinstance(text, PartialText) else (str(text_of(text)),) for text in texts]
    first = min(lists, key=len)
    alike = next(
        (place for place, part in enumerate(first) if any(parts[place] != part for parts in lists)), len(first)
    )
    following = [parts[alike] if len(parts) > alike else "" for parts in lists]
    start = commonprefix([part or "" for part in following])  # noqa: RUF071  # texts, no paths
    return [*first[:alike], start or None, None]
