"""What one version of a definition takes and promises and the next does not: schemas, parameters and hints."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts import shape
from tdqs_mcp.facts.phrases import first_of
from tdqs_mcp.facts.shape import TYPES, escape

MAX_PAIRS = 20_000
"""Pairs of alternatives that are compared of one definition; real ones have fewer than 1,000."""

MAX_BREAKS = 100
"""Differences that are told of one schema: through references, two may be reached on a million paths."""

MAX_DEPTH = 40
"""Levels that are followed; a schema below them is taken for unchanged."""

_TEXTS = frozenset("title description examples $comment default deprecated".split())
"""Keywords that take no value away, and so tell no schemas apart."""

_UPPER = frozenset("maximum exclusiveMaximum maxLength maxItems maxProperties".split())
_LOWER = frozenset("minimum exclusiveMinimum minLength minItems minProperties".split())
_COUNTS = frozenset("minLength minItems minProperties".split())
_STRICT = ("pattern", "format", "multipleOf")
"""Keywords whose other value may refuse what the old one took: which patterns contain which cannot be told."""


class Break(NamedTuple):
    """What is no longer taken, or no longer promised."""

    change: str
    path: str
    """JSON pointer, relative to the schemas that were compared."""

    message: str


def breaks(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Break, ...]:
    """What arguments of the old input schema the new one refuses, as far as its keywords say."""
    pair = _Pair(old, new)
    found = pair.narrowed(old, new, 0)
    return found if pair.is_whole else (*found, Break("unreadable", "", "too intricate to be compared to the end"))


def losses(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Break, ...]:
    """What results by the old output schema had and results by the new one may lack."""
    return tuple(islice(_Losses(old, new).of(old, new, "", 0), MAX_BREAKS))


def signature(schema: Mapping[str, Any]) -> str:
    """What tells an input schema from others, whatever its texts say; empty for one without parameters.

    Raises UnmeasurableError for a schema that is nested too deeply.
    """
    return canonical_json(_bare(schema)) if _properties(schema) else ""


class _Pair:
    """Two root schemas and what is known of the pairs inside them, so that references cannot lead in circles."""

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self._roots = (old, new)
        self._known: dict[tuple[int, int], tuple[Break, ...]] = {}
        self._left = MAX_PAIRS

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return self._left >= 0

    def narrowed(self, old: object, new: object, depth: int) -> tuple[Break, ...]:
        """What the old schema takes and the new one refuses."""
        before, after = _schema(old), _schema(new)
        key = (id(before), id(after))
        if depth > MAX_DEPTH or self._left < 0:
            return ()
        if key not in self._known:
            self._known[key] = ()
            self._known[key] = tuple(islice(self._alternatives(before, after, depth), MAX_BREAKS))
        return self._known[key]

    def _alternatives(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Break]:
        """Every alternative of the old schema needs one of the new schema that takes all of it."""
        candidates = _alternatives(new, self._roots[1])
        for before in _alternatives(old, self._roots[0]):
            self._left -= len(candidates)
            found = [tuple(islice(self._branch(before, after, depth), MAX_BREAKS)) for after in candidates]
            if all(found):
                near = [each for each in found if each[0].path or each[0].change != "narrowed-type"]
                yield from min(near or found[:1], key=len) if near or len(found) == 1 else [_gone(before, candidates)]

    def _branch(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Break]:
        """The same for schemas without alternatives; a type that is refused comes first and alone."""
        types, taken = _types(old), _types(new)
        if not all(_takes(taken, kind) for kind in types):
            yield Break("narrowed-type", "", f"took {_said(types)}, now takes {_said(taken)}")
            return
        yield from _values(old, new)
        yield from _limits(old, new)
        if "object" in types:
            yield from self._properties(old, new, depth)
        if "array" in types:
            yield from _below("/items", self.narrowed(old.get("items"), new.get("items"), depth + 1))

    def _properties(self, old: Mapping[str, Any], new: Mapping[str, Any], depth: int) -> Iterator[Break]:
        before, after = _properties(old), _properties(new)
        renamed = _renamed(before, after)
        for name, schema in before.items():
            path = f"/properties/{escape(name)}"
            if name in after:
                yield from _below(path, self.narrowed(schema, after[name], depth + 1))
            elif name in renamed:
                said = f"removed {name!r}, added {renamed[name]!r} with the same schema: renamed?"
                yield Break("renamed-parameter", path, said)
            else:
                yield Break("removed-parameter", path, f"{name!r} is gone")
        for name in [name for name in _required(new) if name not in _required(old)]:
            if name not in renamed.values():
                what = "is now required" if name in before else "is new and required"
                yield Break("new-required", f"/properties/{escape(name)}", f"{name!r} {what}")
        was, now = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if now is False and was is not False:
            yield Break("narrowed-type", "/additionalProperties", "unknown names are now refused")
        elif now is not False and was is not False:
            yield from _below("/additionalProperties", self.narrowed(was, now, depth + 1))
        for name in after.keys() - before.keys() if isinstance(was, Mapping) else ():
            yield from _below(f"/properties/{escape(name)}", self.narrowed(was, after[name], depth + 1))


class _Losses:
    """The results that two output schemas promise."""

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self._roots = (old, new)
        self._left = MAX_PAIRS

    def of(self, old: object, new: object, path: str, depth: int) -> Iterator[Break]:
        """What the new schema promises less; schemas with several alternatives are compared by their types alone."""
        self._left -= 1
        if old == new and self._roots[0] == self._roots[1]:
            return
        if depth > MAX_DEPTH or self._left < 0:
            return
        before, after = _alternatives(_schema(old), self._roots[0]), _alternatives(_schema(new), self._roots[1])
        types, given = _union(before), _union(after)
        if not all(_takes(types, kind) for kind in given):
            yield Break("output-type", path, f"was {_said(types)}, may now be {_said(given)}")
        if len(before) == len(after) == 1:
            yield from self._fields(before[0], after[0], path, depth)

    def _fields(self, old: Mapping[str, Any], new: Mapping[str, Any], path: str, depth: int) -> Iterator[Break]:
        after = _properties(new)
        for name, schema in _properties(old).items():
            place = f"{path}/properties/{escape(name)}"
            if name not in after:
                yield Break("lost-output", place, f"results no longer have {name!r}")
                continue
            if name in _required(old) and name not in _required(new):
                yield Break("lost-output", place, f"results need no longer have {name!r}")
            yield from self.of(schema, after[name], place, depth + 1)
        if "items" in old:
            yield from self.of(old["items"], new.get("items"), f"{path}/items", depth + 1)


HINTS = {
    "readOnlyHint": (False, False),
    "destructiveHint": (True, True),
    "idempotentHint": (False, False),
    "openWorldHint": (True, True),
}
"""Each hint's default and the value that warns (MCP, ToolAnnotations)."""


def dangers(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> tuple[Break, ...]:
    """Hints that ruled something out and do so no longer."""
    found = []
    for hint, (default, warning) in HINTS.items():
        was, now = ((each or {}).get(hint) for each in (old, new))
        before, after = (default if not isinstance(each, bool) else each for each in (was, now))
        if before is not warning and after is warning:
            said = "no longer said" if not isinstance(now, bool) else str(now).lower()
            found.append(Break("dangerous-hint", f"/annotations/{hint}", f"{hint} was {str(was).lower()}, is {said}"))
    return tuple(found)


def _schema(value: object) -> Mapping[str, Any]:
    """A schema; true, absent and what is none take anything, false takes nothing."""
    if isinstance(value, Mapping):
        return value
    return _NOTHING if value is False else _ANYTHING


_ANYTHING: Mapping[str, Any] = {}
_NOTHING: Mapping[str, Any] = {"type": []}


def _alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One for each type, so that a list of types and a union of them are the same."""
    return [
        {**each, "type": kind} if isinstance(each.get("type"), list) and len(each["type"]) > 1 else each
        for each in shape.alternatives(schema, root)
        for kind in (each["type"] if isinstance(each.get("type"), list) and len(each["type"]) > 1 else (None,))
    ]


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that are taken: all of them where none is named and no value tells."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return frozenset({kind}) if kind in TYPES else TYPES
    if isinstance(kind, list):
        return frozenset(each for each in kind if isinstance(each, str))
    values = _allowed(schema)
    return TYPES if values is None else frozenset(map(shape.type_of, values))


def _union(schemas: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset().union(*map(_types, schemas))


def _gone(old: Mapping[str, Any], new: Sequence[Mapping[str, Any]]) -> Break:
    """An alternative that nothing of the new schema takes."""
    return Break("narrowed-type", "", f"took {_said(_types(old))} too, now takes {_said(_union(new))}")


def _takes(types: frozenset[str], kind: str) -> bool:
    return kind in types or (kind == "integer" and "number" in types)


def _said(types: frozenset[str]) -> str:
    return "any type" if types == TYPES else ", ".join(sorted(types)) or "nothing"


def _allowed(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    """All values that are taken; None where that is open."""
    if "const" in schema:
        return (schema["const"],)
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Break]:
    before, after = _allowed(old), _allowed(new)
    if after is None:
        return
    if before is None:
        if _types(old) != {"null"}:
            yield Break("narrowed-values", "/enum", f"took any value, now one of {_shown(after)}")
        return
    kept = {canonical_json(value) for value in after}
    kinds = _types(old)
    lost = [value for value in before if canonical_json(value) not in kept and _takes(kinds, shape.type_of(value))]
    if lost:
        yield Break("narrowed-values", "/enum", f"no longer takes {_shown(lost)}")


def _limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Break]:
    for keyword in sorted((_UPPER | _LOWER) & new.keys()):
        was, now = _number(old.get(keyword)), _number(new[keyword])
        if now is None or (was is None and keyword in _COUNTS and now <= 0):
            continue
        if was is None or (now < was if keyword in _UPPER else now > was):
            said = "is new" if was is None else f"was {was}"
            yield Break("narrowed-range", f"/{keyword}", f"{keyword} {said}: {now}")
    for keyword in _STRICT:
        if keyword in new and new[keyword] != old.get(keyword):
            said = "is new" if keyword not in old else f"was {old[keyword]!r}"
            yield Break("narrowed-range", f"/{keyword}", f"{keyword} {said}: {new[keyword]!r}")
    if new.get("uniqueItems") is True and old.get("uniqueItems") is not True:
        yield Break("narrowed-range", "/uniqueItems", "items must now differ")


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    names = schema.get("required")
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str))) if isinstance(names, list) else ()


def _renamed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Old names and new ones, where just one that is gone and one that is new have the same schema."""
    gone, added = _by_schema(old, without=new), _by_schema(new, without=old)
    return {
        names[0]: added[text][0] for text, names in gone.items() if len(names) == 1 and len(added.get(text, ())) == 1
    }


def _by_schema(schemas: Mapping[str, Any], *, without: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, schema in schemas.items():
        if name not in without:
            found.setdefault(canonical_json(_bare(schema)), []).append(name)
    return found


def _bare(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """A schema without its texts; a property may be called `title`, a keyword `title` is a text."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: {name: _bare(each) for name, each in child.items()}
        if key == "properties" and isinstance(child, Mapping)
        else _bare(child)
        for key, child in value.items()
        if key not in _TEXTS
    }


def _below(step: str, found: Sequence[Break]) -> Iterator[Break]:
    return (each._replace(path=f"{step}{each.path}") for each in found)


def _shown(values: Sequence[Any]) -> str:
    return first_of([canonical_json(value) for value in values], 5)
