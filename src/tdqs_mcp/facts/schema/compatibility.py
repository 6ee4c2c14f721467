"""Two versions of a definition: every difference, and what breaks callers: refused arguments, lost results."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.schema import walk
from tdqs_mcp.facts.schema.normal_form import NormalForm, bare, types_of, values_of
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.schema.walk import (
    NAMED_SCHEMAS,
    SCHEMA_LISTS,
    SINGLE_SCHEMAS,
    TYPES,
    Deviation,
    escape_step,
    keyword_members,
    number_of,
    required_names,
    schema_of,
    takes_type,
)
from tdqs_mcp.facts.spelling import first_of

MAX_PAIRS = 20_000
"""Pairs of alternatives that are compared of one definition; real ones have fewer than 1,000."""

MAX_BREAKS = 100
"""Differences reported for one schema: references can lead to the same one on a million paths."""

MAX_DEPTH = 40
"""Levels that are compared; a difference below them counts as a possible break."""

_UPPER = frozenset("maximum exclusiveMaximum maxLength maxItems maxProperties".split())
_LOWER = frozenset("minimum exclusiveMinimum minLength minItems minProperties".split())
_COUNTS = frozenset("minLength minItems minProperties".split())
_STRICT = ("pattern", "format", "multipleOf")
"""Any change of these keywords may refuse old values: one cannot compute whether one pattern contains another."""


def breaking_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Deviation, ...]:
    """Return what the old input schema accepts and the new one may refuse."""
    pair = _Pair(old, new)
    breaks = pair.narrowed(old, new, 0)
    return (
        breaks if pair.is_whole else (*breaks, Deviation("", "too intricate to be compared to the end", "unreadable"))
    )


def lost_outputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Deviation, ...]:
    """Return what results had under the old output schema and may lack under the new one."""
    return tuple(islice(_Losses(old, new).of(old, new, "", 0), MAX_BREAKS))


def schema_signature(schema: Mapping[str, Any]) -> str:
    """An input schema without its texts, as canonical JSON, to find renamed tools; empty for one without parameters.

    Raises UnmeasurableError for a schema that is nested too deeply.
    """
    return canonical_json(bare(schema)) if keyword_members(schema) else ""


class _Pair:
    """Compares two input schemas; remembers pairs of subschemas, so that circular references end."""

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self._old, self._new = NormalForm(old), NormalForm(new)
        self._known: dict[tuple[int, int], tuple[Deviation, ...]] = {}
        self._left = MAX_PAIRS

    @property
    def is_whole(self) -> bool:
        """Return whether the limit of pairs was not reached."""
        return self._left >= 0

    def narrowed(self, old: object, new: object, depth: int) -> tuple[Deviation, ...]:
        """Return what the old schema accepts and the new one refuses."""
        before, after = schema_of(old), schema_of(new)
        key = (id(before), id(after))
        if self._left < 0:
            return ()
        if depth > MAX_DEPTH:
            self._left = self._left if self._are_same(before, after) else -1
            return ()
        if key not in self._known:
            self._known[key] = ()
            self._known[key] = tuple(islice(self._alternatives(before, after, depth), MAX_BREAKS))
        return self._known[key]

    def _are_same(self, old: object, new: object, keyword: str = "") -> bool:
        return self._old.meaning(old, keyword) == self._new.meaning(new, keyword)

    def _alternatives(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Deviation]:
        """Each alternative of the old schema needs an alternative of the new one that accepts all of it."""
        candidates = self._new.of(new)
        for before in self._old.of(old):
            self._left -= len(candidates)
            refusals = [tuple(islice(self._branch(before, after, depth), MAX_BREAKS)) for after in candidates]
            if all(refusals):
                # of `anyOf: [string, integer]`, the alternative of the same type explains what is refused
                near = [breaks for breaks in refusals if breaks[0].path or breaks[0].change != "narrowed-type"]
                if near or len(refusals) == 1:
                    yield from min(near or refusals, key=len)
                else:
                    message = f"took {_type_names(types_of(before))} too, now takes {_type_names(_union(candidates))}"
                    yield Deviation("", message, "narrowed-type")

    def _branch(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Deviation]:
        """Compares two alternatives; if a type is refused, that is the only finding."""
        types, accepted = types_of(old), types_of(new)
        if not types:
            return
        if not all(takes_type(accepted, kind) for kind in types):
            yield Deviation("", f"took {_type_names(types)}, now takes {_type_names(accepted)}", "narrowed-type")
            return
        yield from _values(old, new)
        yield from _limits(old, new)
        yield from self._demands(old, new, depth)
        if "object" in types:
            yield from self._properties(old, new, depth)
        if "array" in types:
            yield from self._items(old, new, depth)

    def _demands(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Deviation]:
        """Keywords whose values are not compared: if the new schema has one, the old one must have the same."""
        listed = {*new} if _UNEVALUATED.isdisjoint(new) else {*old, *new}
        for keyword, parts in _WHOLE.items():
            if keyword in listed and not all(self._are_same(old.get(part), new.get(part), part) for part in parts):
                yield _unproven(f"/{keyword}", keyword, is_new=keyword not in old)
        for keyword in _BY_NAME:
            before = keyword_members(old, keyword)
            for name, demand in keyword_members(new, keyword).items():
                if name not in before or not self._are_same(before[name], demand):
                    yield _unproven(f"/{keyword}/{escape_step(name)}", keyword, is_new=name not in before)
        if "propertyNames" in new:
            was = old.get("propertyNames", _ANY_NAME)
            yield from _below("/propertyNames", self.narrowed(was, new["propertyNames"], depth + 1))

    def _properties(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Deviation]:
        before, after = keyword_members(old), keyword_members(new)
        # Renamed, where exactly one removed and one added property have the same schema.
        gone, added = _by_schema(before, without=after), _by_schema(after, without=before)
        pairs = ((names, added.get(text, ())) for text, names in gone.items())
        renamed = {names[0]: replacements[0] for names, replacements in pairs if len(names) == len(replacements) == 1}
        for name, schema in before.items():
            path = f"/properties/{escape_step(name)}"
            if name in after:
                yield from _below(path, self.narrowed(schema, after[name], depth + 1))
            elif name in renamed:
                message = f"removed {name!r}, added {renamed[name]!r} with the same schema: renamed?"
                yield Deviation(path, message, "renamed-parameter")
            else:
                yield Deviation(path, f"{name!r} is gone", "removed-parameter")
        for name in [name for name in required_names(new) if name not in required_names(old)]:
            if name not in renamed.values():
                state = "is now required" if name in before else "is new and required"
                yield Deviation(f"/properties/{escape_step(name)}", f"{name!r} {state}", "new-required")
        yield from self._other_names(old, new, depth)

    def _other_names(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Deviation]:
        """Properties that the old schema accepts without listing them: by pattern, or any name."""
        was, now = old.get("additionalProperties", True), new.get("additionalProperties", True)
        patterns = keyword_members(old, "patternProperties")
        if now is False and was is not False:
            yield Deviation("/additionalProperties", "unknown names are now refused", "narrowed-type")
        elif now is not False and was is not False:
            yield from _below("/additionalProperties", self.narrowed(was, now, depth + 1))
        is_open = not schema_of(now) and _UNEVALUATED.isdisjoint(new)
        for pattern in () if is_open else patterns.keys() - keyword_members(new, "patternProperties").keys():
            yield Deviation("/patternProperties", f"names like {pattern!r} were taken", "narrowed")
        open_schemas = [*patterns.values(), *([was] if isinstance(was, Mapping) else [])]
        for name in keyword_members(new).keys() - keyword_members(old).keys():
            for schema in open_schemas:
                yield from _below(
                    f"/properties/{escape_step(name)}", self.narrowed(schema, keyword_members(new)[name], depth + 1)
                )

    def _items(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Deviation]:
        """Items. Schemas by position must stay the same, or each old one must fit the new schema for all items."""
        if "prefixItems" in new or isinstance(new.get("items"), list):
            if not all(self._are_same(old.get(keyword), new.get(keyword)) for keyword in _PLACED):
                yield _unproven("/items", "what stands at which place", is_new=False)
            return
        places = old.get("prefixItems", old.get("items"))
        placed = places if isinstance(places, list) else []
        rest = old.get("additionalItems") if placed is old.get("items") else old.get("items")
        for schema in (*placed, rest):
            yield from _below("/items", self.narrowed(schema, new.get("items"), depth + 1))


_WHOLE = {
    **{keyword: (keyword,) for keyword in "$ref $dynamicRef $recursiveRef allOf anyOf oneOf not".split()},
    **{keyword: (keyword,) for keyword in "unevaluatedProperties unevaluatedItems".split()},
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
}
"""Keywords that are safe only if unchanged, each with the keywords that it is read with."""

_BY_NAME = ("dependentRequired", "dependentSchemas", "dependencies", "patternProperties")
_ANY_NAME: Mapping[str, Any] = {"type": "string"}
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_PLACED = ("prefixItems", "items", "additionalItems")


class _Losses:
    """Compares two output schemas."""

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self._old, self._new = NormalForm(old), NormalForm(new)
        self._left = MAX_PAIRS

    def of(self, old: object, new: object, path: str, depth: int) -> Iterator[Deviation]:
        """Yield what the new schema no longer promises: each of its alternatives must keep one of the old schema."""
        self._left -= 1
        if self._old.meaning(old) == self._new.meaning(new):
            return
        if depth > MAX_DEPTH or self._left < 0:
            yield Deviation(path, "too intricate to be compared to the end", "unreadable")
            return
        before, after = self._old.of(schema_of(old)), self._new.of(schema_of(new))
        types, promised = _union(before), _union(after)
        if not all(takes_type(types, kind) for kind in promised):
            yield Deviation(path, f"was {_type_names(types)}, may now be {_type_names(promised)}", "output-type")
        for form in after:
            kinds = types_of(form)
            candidates = [branch for branch in before if all(takes_type(types_of(branch), kind) for kind in kinds)]
            losses = [tuple(islice(self._fields(branch, form, path, depth), MAX_BREAKS)) for branch in candidates]
            yield from min(losses, key=len, default=())

    def _fields(self, old: Mapping[str, Any], new: Mapping[str, Any], path: str, depth: int) -> Iterator[Deviation]:
        after = keyword_members(new)
        for name, schema in keyword_members(old).items():
            place = f"{path}/properties/{escape_step(name)}"
            if name not in after:
                yield Deviation(place, f"results no longer have {name!r}", "lost-output")
                continue
            if name in required_names(old) and name not in required_names(new):
                yield Deviation(place, f"results need no longer have {name!r}", "lost-output")
            yield from self.of(schema, after[name], place, depth + 1)
        if "items" in old:
            yield from self.of(old["items"], new.get("items"), f"{path}/items", depth + 1)


def dangerous_hints(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[Deviation, ...]:
    """Hints that ruled out a risk and no longer do."""
    breaks = []
    for hint, (default, warning) in HINTS.items():
        was, now = ((hints or {}).get(hint) for hints in (old, new))
        before, after = (default if not isinstance(value, bool) else value for value in (was, now))
        if before is not warning and after is warning:
            state = "no longer said" if not isinstance(now, bool) else str(now).lower()
            breaks.append(
                Deviation(f"/annotations/{hint}", f"{hint} was {str(was).lower()}, is {state}", "dangerous-hint")
            )
    return tuple(breaks)


def safer_hints(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[Deviation, ...]:
    """Hints that now rule out a risk, so that a client may stop asking the user.

    Of a tool that stays read-only, the hints about changes mean nothing (MCP, ToolAnnotations).
    """
    before, after = ((hints or {}) for hints in (old, new))
    is_read_only = before.get("readOnlyHint") is True is after.get("readOnlyHint")
    breaks = []
    for hint, (_, warning) in HINTS.items():
        is_moot = is_read_only and hint in ("destructiveHint", "idempotentHint")
        if after.get(hint) is (not warning) is not before.get(hint) and not is_moot:
            was = str(before[hint]).lower() if isinstance(before.get(hint), bool) else "not said"
            outcome = "repeat calls by themselves" if hint == "idempotentHint" else "stop asking the user"
            message = f"{hint} was {was}, is {str(not warning).lower()}: clients may {outcome}"
            breaks.append(Deviation(f"/annotations/{hint}", message, "safer-hint"))
    return tuple(breaks)


def _union(schemas: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset().union(*map(types_of, schemas))


def _unproven(path: str, subject: str, *, is_new: bool) -> Deviation:
    return Deviation(
        path, f"{subject} {'is new' if is_new else 'has changed'}: it may refuse what was taken", "narrowed"
    )


def _type_names(types: frozenset[str]) -> str:
    return "any type" if types == TYPES else ", ".join(sorted(types)) or "nothing"


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Deviation]:
    before, after, kinds = values_of(old), values_of(new), types_of(old)
    if after is None:
        return
    if before is None:
        if kinds != {"null"}:
            yield Deviation("/enum", f"took any value, now one of {_first_values(after)}", "narrowed-values")
        return
    accepted = {canonical_json(value) for value in after}
    lost = [
        value for value in before if canonical_json(value) not in accepted and takes_type(kinds, walk.type_of(value))
    ]
    if lost:
        yield Deviation("/enum", f"no longer takes {_first_values(lost)}", "narrowed-values")


def _limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Deviation]:
    for keyword in sorted((_UPPER | _LOWER) & new.keys()):
        was, now = number_of(old.get(keyword)), number_of(new[keyword])
        if now is None or (was is None and keyword in _COUNTS and now <= 0):
            continue
        if was is None or (now < was if keyword in _UPPER else now > was):
            change = "is new" if was is None else f"was {was}"
            yield Deviation(f"/{keyword}", f"{keyword} {change}: {now}", "narrowed-range")
    for keyword in _STRICT:
        if keyword in new and new[keyword] != old.get(keyword):
            change = "is new" if keyword not in old else f"was {old[keyword]!r}"
            yield Deviation(f"/{keyword}", f"{keyword} {change}: {new[keyword]!r}", "narrowed-range")
    if new.get("uniqueItems") is True and old.get("uniqueItems") is not True:
        yield Deviation("/uniqueItems", "items must now differ", "narrowed-range")


def _by_schema(schemas: Mapping[str, Any], *, without: Mapping[str, Any]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, schema in schemas.items():
        if name not in without:
            names.setdefault(canonical_json(bare(schema)), []).append(name)
    return names


def _below(step: str, breaks: Sequence[Deviation]) -> Iterator[Deviation]:
    return (change._replace(path=f"{step}{change.path}") for change in breaks)


def _first_values(values: Sequence[Any]) -> str:
    return first_of([canonical_json(value) for value in values], 5)


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
