"""Schemas as alternatives without texts, so that those that mean the same compare equal."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

from tdqs_mcp.canonical import MAX_NESTING, canonical_json
from tdqs_mcp.errors import UnmeasurableError
from tdqs_mcp.facts.schema import walk
from tdqs_mcp.facts.schema.walk import (
    MAX_BRANCHES,
    MAX_HOPS,
    NO_VALUE,
    TYPES,
    keyword_members,
    required_names,
    schema_of,
)

_TEXTS = frozenset("title description examples $comment default deprecated".split())
"""Keywords that do not restrict values."""

_SILENT = _TEXTS | frozenset("$defs definitions $schema $id $anchor readOnly writeOnly discriminator".split())
"""Keywords that do not restrict values beside a reference or a union."""

_NAMED = frozenset("properties patternProperties $defs definitions dependentSchemas dependentRequired".split())
_LITERAL = frozenset("enum const".split())
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_TOGETHER = (
    frozenset("properties patternProperties additionalProperties unevaluatedProperties".split()),
    frozenset("prefixItems items additionalItems unevaluatedItems".split()),
    frozenset("if then else".split()),
    frozenset("contains minContains maxContains".split()),
)
"""Groups of keywords whose meaning depends on each other (JSON Schema 2020-12, core, 10.2.2 and 10.3)."""


class NormalForm:
    """The alternatives of a root schema's subschemas, each computed once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[int, tuple[Mapping[str, Any], ...]] = {}
        self._meant: dict[tuple[str, int], str] = {}

    def of(self, schema: Mapping[str, Any], hops: int = 0) -> tuple[Mapping[str, Any], ...]:
        """Schemas that together accept exactly what this one does; a keyword that cannot be resolved stays.

        The branches of a `oneOf` that may overlap keep it: they take its values and more.
        """
        if id(schema) not in self._known:
            self._known[id(schema)] = (schema,)  # what leads back to itself stays closed
            self._known[id(schema)] = tuple(self._opened(schema, hops))
        return self._known[id(schema)]

    def meaning(self, value: object, keyword: str = "") -> str:
        """A part of the root as canonical JSON without texts, with everything that its references lead to.

        A reference's own value is given with its keyword. Raises UnmeasurableError for what is nested too deeply.
        """
        key = (keyword, id(value))
        if key not in self._meant:
            part = {keyword: value} if keyword in _REFERENCES else value
            self._meant[key] = canonical_json([bare(part), self._targets(part)])
        return self._meant[key]

    def _targets(self, part: object) -> dict[str, Any]:
        targets: dict[str, Any] = {}
        waiting = [part]
        while waiting:
            value = waiting.pop()
            waiting += value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
            for reference in (value.get(key) for key in _REFERENCES) if isinstance(value, Mapping) else ():
                if isinstance(reference, str) and reference not in targets:
                    target = self._target(reference)
                    targets[reference] = bare(target)
                    waiting.append(target)
        return targets

    def _target(self, reference: str) -> Any:  # noqa: ANN401  # any JSON value
        try:
            return walk.resolve_reference(self._root, reference)
        except LookupError:
            return None

    def _opened(self, schema: Mapping[str, Any], hops: int) -> list[Mapping[str, Any]]:
        keyword = next((candidate for candidate in ("$ref", "allOf", "anyOf", "oneOf") if candidate in schema), None)
        if keyword is not None:
            return self._joined(schema, keyword, hops) or [schema]
        kinds = schema.get("type")
        return [{**schema, "type": kind} for kind in kinds] if isinstance(kinds, list) and kinds else [schema]

    def _joined(self, schema: Mapping[str, Any], keyword: str, hops: int) -> list[Mapping[str, Any]] | None:
        """Each branch of a keyword merged with its sibling keywords; None if they cannot be merged."""
        choices = self._choices(keyword, schema[keyword]) if hops < MAX_HOPS else None
        if choices is None:
            return None
        forms = self._opened({key: value for key, value in schema.items() if key not in {keyword, *_SILENT}}, hops)
        for choice in choices:
            branches = [self.of(schema_of(option), hops + 1) for option in choice]
            merged = [_merged(base, other) for base in forms for branch in branches for other in branch]
            forms = [result for result in merged if result is not None and result.get("type") != []]
            if None in merged or len(forms) > MAX_BRANCHES:
                return None
            pairs = (pair for two in combinations(branches, 2) for pair in product(*two))
            if keyword == "oneOf" and not all(_are_apart(*pair) for pair in pairs):
                forms = [{**form, keyword: schema[keyword]} for form in forms]
        return forms or [NO_VALUE]

    def _choices(self, keyword: str, value: object) -> list[list[Any]] | None:
        """Lists of branches; a value must match one branch of each list."""
        if keyword == "$ref":
            target = self._target(value) if isinstance(value, str) else None
            return [[target]] if isinstance(target, Mapping) else None
        if not isinstance(value, list) or not 0 < len(value) <= MAX_BRANCHES:
            return None
        return [[branch] for branch in value] if keyword == "allOf" else [value]


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The accepted types: all of them if neither a type nor values are given."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return frozenset({kind}) if kind in TYPES else TYPES
    if isinstance(kind, list):
        return frozenset(name for name in kind if isinstance(name, str))
    values = values_of(schema)
    return TYPES if values is None else frozenset(map(walk.type_of, values))


def values_of(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    """All accepted values; None if they are not listed."""
    if "const" in schema:
        return (schema["const"],)
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def bare(value: Any, level: int = 0) -> Any:  # noqa: ANN401  # any JSON value
    """A schema without its texts. A property that is called `title` stays.

    Raises UnmeasurableError beyond MAX_NESTING levels.
    """
    if level > MAX_NESTING:
        raise UnmeasurableError(f"it nests deeper than {MAX_NESTING} levels")
    if isinstance(value, list):
        return [bare(item, level + 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    members = {key: child for key, child in value.items() if key not in _TEXTS}
    for key in members.keys() - _LITERAL:
        child = members[key]
        is_named = key in _NAMED and isinstance(child, Mapping)
        members[key] = (
            {name: bare(part, level + 2) for name, part in child.items()} if is_named else bare(child, level + 1)
        )
    return members


def _merged(base: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A schema that accepts what both accept; None if their keywords cannot be merged."""
    clear = {key: value for key, value in other.items() if key not in _SILENT}
    for keywords in _TOGETHER:
        own, added = ({key: schema[key] for key in keywords & schema.keys()} for schema in (base, clear))
        if own and added and not _are_same(own, added):
            return None
    whole = {**base, **clear}
    shared = base.keys() & clear.keys()
    if "required" in shared:
        whole["required"] = [*required_names(base), *required_names(clear)]
    if "type" in shared and not _are_same(base["type"], clear["type"]):
        kinds = [base["type"], clear["type"]]
        if not all(isinstance(kind, str) and kind in TYPES for kind in kinds):
            return None
        whole["type"] = "integer" if {*kinds} == {"integer", "number"} else []
    is_sum = all(_are_same(base[key], clear[key]) for key in shared - {"type", "required"})
    return whole if is_sum and not ("const" in whole and "enum" in whole) else None


def _are_same(first: object, other: object) -> bool:
    """JSON's equality, in which 1 is not true."""
    return canonical_json(first) == canonical_json(other)


def _are_apart(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether no value matches both: the types differ, or a required field has different constant values."""
    if _kinds(first).isdisjoint(_kinds(other)):
        return True
    if types_of(first) | types_of(other) == {"object"}:
        for name in set(required_names(first)).intersection(required_names(other)):
            values = [values_of(schema_of(keyword_members(schema).get(name))) for schema in (first, other)]
            spelled = [{canonical_json(value) for value in listed} for listed in values if listed is not None]
            if len(spelled) == 2 and spelled[0].isdisjoint(spelled[1]):
                return True
    return False


def _kinds(schema: Mapping[str, Any]) -> frozenset[str]:
    return frozenset("number" if kind == "integer" else kind for kind in types_of(schema))
