"""Every difference between two versions of a definition, by the part that it touches."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.schema.walk import NAMED_SCHEMAS, SCHEMA_LISTS, SINGLE_SCHEMAS, escape_step

MISSING = object()
"""The value of a key that one version lacks; null is a value."""


class EditKind(StrEnum):
    """Part of a definition that a change touches."""

    DESCRIPTION = "description"
    TITLE = "title"
    EXPLANATION = "explanation"
    """The description of a parameter or of another part of the input schema."""

    ENUM = "enum"
    """Allowed values where there were none."""

    HINT = "hint"
    OTHER = "other"
    """The contract itself: the name, a type, a requirement, or a field that no rewrite touches."""


class Edit(NamedTuple):
    """A difference between two versions: where it is, and both values."""

    path: str
    before: object
    after: object
    kind: EditKind


def list_edits(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[Edit, ...]:
    """Every difference, as deep as both versions have objects or lists of equal length; linear in their size."""
    return tuple(
        Edit("".join(f"/{escape_step(step)}" for step in steps), before, after, _kind(steps, before))
        for steps, before, after in _differences(old, new)
    )


def _differences(old: object, new: object) -> Iterator[tuple[tuple[str, ...], object, object]]:
    pending: list[tuple[tuple[str, ...], object, object]] = [((), old, new)]
    while pending:
        steps, before, after = pending.pop()
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            keys = [*before, *(key for key in after if key not in before)]
            below = [((*steps, str(key)), before.get(key, MISSING), after.get(key, MISSING)) for key in keys]
            pending += reversed(below)
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            pending += reversed(
                [((*steps, str(place)), *pair) for place, pair in enumerate(zip(before, after, strict=True))]
            )
        elif steps == ("annotations",) and (before is MISSING or before is None) and isinstance(after, Mapping):
            pending.append((steps, {}, after))
        elif before is not after and (type(before) is not type(after) or before != after):
            yield steps, before, after


def _kind(steps: tuple[str, ...], before: object) -> EditKind:
    if steps == ("description",):
        return EditKind.DESCRIPTION
    if steps in (("title",), ("annotations", "title")):
        return EditKind.TITLE
    if len(steps) == 2 and steps[0] == "annotations" and steps[1] in HINTS:
        return EditKind.HINT
    if len(steps) > 2 and steps[0] == "inputSchema" and _is_keyword(steps[1:]):
        if steps[-1] == "description":
            return EditKind.EXPLANATION
        if steps[-1] == "enum" and before is MISSING:
            return EditKind.ENUM
    return EditKind.OTHER


def _is_keyword(steps: tuple[str, ...]) -> bool:
    """The last step is a keyword of a schema, not the name of a property that is called like one."""
    place = 0
    while place < len(steps) - 1:
        if steps[place] in NAMED_SCHEMAS or (steps[place] in SCHEMA_LISTS and steps[place + 1].isdecimal()):
            place += 2
        elif steps[place] in SINGLE_SCHEMAS:
            place += 1 + steps[place + 1].isdecimal()
        else:
            return False
    return place == len(steps) - 1
