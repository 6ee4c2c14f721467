"""Counts, hash and costs of a definition: TDQS context signals, invocation cost, estimated tokens, parameters."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from typing import Any, NamedTuple
from urllib.parse import unquote

from tdqs_mcp.canonical import MAX_NESTING, canonical_json, canonical_members, short_hash, trim, utf16_length
from tdqs_mcp.errors import UnmeasurableError
from tdqs_mcp.facts.lexicon import lazy_pattern
from tdqs_mcp.facts.schema.walk import Shape, keyword_members, required_names, schema_of
from tdqs_mcp.model import SENT_FIELDS, TOOL_FIELDS, Tool

MAX_OBJECT_DEPTH = 10
"""Object levels that the required subtree is followed down (TDQS 1.1, invocation cost)."""

MAX_VISITS = 20_000
"""Schemas visited for one invocation cost; real ones need fewer than 500, references can be made to need 10^13."""

HINTS = {
    "readOnlyHint": (False, False),
    "destructiveHint": (True, True),
    "idempotentHint": (False, False),
    "openWorldHint": (True, True),
}
"""Each hint's default and the value that warns (MCP, ToolAnnotations)."""

_LOCAL_REFERENCE = lazy_pattern(r"#/(\$defs|definitions)/([^/]+)")


class Parameter(NamedTuple):
    """A top-level property of the input schema."""

    name: str
    description: str
    """Empty when there is none."""

    is_required: bool


class RequiredSubtree(NamedTuple):
    """Size of a minimally valid call: all that required properties lead to."""

    field_count: int = 0
    depth: int = 0
    union_choice_count: int = 0

    @property
    def invocation_cost(self) -> int:
        """1 for each field, 2 for each level below the first, 2 for each union choice (TDQS 1.1)."""
        return self.field_count + 2 * max(0, self.depth - 1) + 2 * self.union_choice_count


class Signals(NamedTuple):
    """Stage 1 of TDQS, counted as the registry counts, and two hard gates."""

    param_count: int
    required_param_count: int
    params_with_descriptions: int
    params_with_enums: int
    coverage: int
    """Percent of the top-level parameters with a non-empty description, half up; 100 without parameters."""

    has_nested_objects: bool
    has_output_schema: bool
    has_annotations: bool
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    title_is_meaningful: bool
    input_hash: str
    definition_bytes: int
    sent_json: str
    """Canonical JSON of the fields that a client sends to a model."""

    subtree: RequiredSubtree
    is_missing_description: bool
    """Hard gate 1: null or nothing but white space."""

    restates_name: bool
    """Hard gate 2: trimmed and lower-cased, the description equals the name or the title."""

    parameters: tuple[Parameter, ...]

    @property
    def hint_count(self) -> int:
        """How many of the four hints are declared as booleans, 0-4."""
        return sum(hint is not None for hint in (self.read_only, self.destructive, self.idempotent, self.open_world))

    @property
    def has_hints(self) -> bool:
        """At least one of the four hints is declared as a boolean."""
        return self.hint_count > 0


def measure_signals(tool: Tool) -> Signals:
    """The structural facts of a tool. Raises UnmeasurableError where its JSON exceeds a measuring limit."""
    members = canonical_members({key: tool.raw.get(key) for key in TOOL_FIELDS})
    canonical = f"{{{','.join(members.values())}}}"
    schema: Mapping[str, Any] = tool.input_schema or {}
    properties = keyword_members(schema)
    names = frozenset(required_names(schema))
    schemas = [child for child in properties.values() if isinstance(child, dict)]
    texts = {name: child.get("description") if isinstance(child, dict) else None for name, child in properties.items()}
    parameters = tuple(
        Parameter(name=name, description=text if isinstance(text, str) else "", is_required=name in names)
        for name, text in texts.items()
    )
    title, text = tool.title, trim(tool.description or "").lower()
    described = sum(bool(parameter.description) for parameter in parameters)
    annotations = tool.annotations or {}
    hints = [value if isinstance(value := annotations.get(hint), bool) else None for hint in HINTS]
    return Signals(
        param_count=len(properties),
        required_param_count=len(_list(schema.get("required"))),
        params_with_descriptions=described,
        params_with_enums=sum(isinstance(child.get("enum"), list) for child in schemas),
        coverage=(200 * described + len(properties)) // (2 * len(properties)) if properties else 100,
        has_nested_objects=any(child.get("type") == "object" for child in schemas),
        has_output_schema=bool(tool.output_schema),
        has_annotations=bool(annotations),
        read_only=hints[0],
        destructive=hints[1],
        idempotent=hints[2],
        open_world=hints[3],
        title_is_meaningful=title is not None and title != tool.name and utf16_length(title) > utf16_length(tool.name),
        input_hash=short_hash(canonical),
        definition_bytes=len(canonical.encode("utf-8")),
        sent_json=f"{{{','.join([members[key] for key in SENT_FIELDS if key in tool.raw])}}}",
        subtree=required_subtree(tool.input_schema),
        is_missing_description=not text,
        restates_name=bool(text) and text in {trim(label.lower()) for label in (tool.name, title) if label is not None},
        parameters=parameters,
    )


def required_subtree(schema: Mapping[str, Any] | None) -> RequiredSubtree:
    """Return what a minimal call must construct; zero if the root has no properties (TDQS 1.1).

    Raises UnmeasurableError beyond MAX_VISITS.
    """
    if not schema or not keyword_members(schema):
        return RequiredSubtree()
    names, below = _required_properties(schema) or ([], [])
    # most parameters are plain values, which lead to no other schema
    inner = (part for part in below if isinstance(part, dict))
    is_flat = all("properties" not in part and _COMPOSING.isdisjoint(part) for part in inner)
    if _COMPOSING.isdisjoint(schema) and len(below) < MAX_VISITS and is_flat:
        return RequiredSubtree(field_count=len(names), depth=1)
    return _Walk(schema).visit(schema, 0, frozenset())


_COMPOSING = frozenset(("$ref", "items", "allOf", "anyOf", "oneOf", "not"))


class _Walk:
    """Measures one root schema and remembers subschemas: a shared reference costs once, not 2^n."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[tuple[int, int, frozenset[str]], RequiredSubtree] = {}
        self._level = 0

    def visit(self, schema: object, depth: int, path: frozenset[str]) -> RequiredSubtree:
        """The subtree of a schema at an object depth; `path` holds the references that led to it."""
        if not isinstance(schema, dict):
            return RequiredSubtree(depth=depth)
        key = (id(schema), depth, path)
        if key not in self._known:
            if len(self._known) >= MAX_VISITS:
                raise UnmeasurableError(f"its required parameters lead to more than {MAX_VISITS:,} schemas")
            if self._level >= MAX_NESTING:
                raise UnmeasurableError(f"its required parameters nest deeper than {MAX_NESTING} schemas")
            self._level += 1
            target, beyond = self._resolve(schema, path)
            measured = RequiredSubtree(depth=depth) if target is None else self._combine(target, depth, beyond)
            self._known[key] = measured
            self._level -= 1
        return self._known[key]

    def _resolve(
        self, schema: Mapping[str, Any], path: frozenset[str]
    ) -> tuple[Mapping[str, Any] | None, frozenset[str]]:
        """The schema that `$ref` names, or itself without one, and the references so far; None if circular."""
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema, path
        return None if reference in path else self._target(reference), path | {reference}

    def _target(self, reference: str) -> Mapping[str, Any] | None:
        match = _LOCAL_REFERENCE.fullmatch(reference)
        if match is None:
            return None
        target = keyword_members(self._root, match[1]).get(unquote(match[2]))
        return target if isinstance(target, dict) else None

    def _combine(self, schema: Mapping[str, Any], depth: int, path: frozenset[str]) -> RequiredSubtree:
        required = _required_properties(schema) if depth < MAX_OBJECT_DEPTH else None
        beside = [schema["items"]] if isinstance(schema.get("items"), dict) else []
        added = list(map(self.visit, [*beside, *_list(schema.get("allOf"))], repeat(depth), repeat(path)))
        if required is not None:
            names, below = required
            added.append(RequiredSubtree(field_count=len(names), depth=depth + 1))
            added += map(self.visit, below, repeat(depth + 1), repeat(path))
        fields = sum(part.field_count for part in added)
        unions = sum(part.union_choice_count for part in added)
        deepest = max([depth, *(part.depth for part in added), self.visit(schema.get("not"), depth, path).depth])
        for keyword in ("oneOf", "anyOf"):
            # `anyOf: [string, null]` is one choice
            choices = [branch for branch in _list(schema.get(keyword)) if schema_of(branch).get("type") not in _NULLS]
            branches = list(map(self.visit, choices, repeat(depth), repeat(path)))
            if branches:
                widest = max(branches, key=lambda branch: branch.field_count)
                fields += widest.field_count
                unions += widest.union_choice_count + len(branches) - 1
                deepest = max(deepest, *(branch.depth for branch in branches))
        return RequiredSubtree(field_count=fields, depth=deepest, union_choice_count=unions)


def _required_properties(schema: Mapping[str, Any]) -> tuple[list[str], list[object]] | None:
    """The names that an object requires, and the schemas of those that it describes; None for no object."""
    properties = keyword_members(schema)
    if not properties:
        return None
    names = [name for name in _list(schema.get("required")) if isinstance(name, str)]
    return names, [properties[name] for name in names if name in properties]


_NULLS = ("null", ["null"])


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


LETTERS = 11
"""A word costs one more token for this many letters. Fitted with SIGNS on 1,649 real definitions against o200k_base and
cl100k_base."""

FOREIGN_LETTERS = 3
"""Non-ASCII letters in one token."""

DIGITS = 4
"""A number costs one more token for this many digits (o200k_base splits numbers into threes)."""

SIGNS = 5
"""This many punctuation characters in a row cost one more token; JSON's `":{"` is one."""

REFERENCE = 9
"""Tokens of `{"$ref":"#/$defs/Name"}`, and of the name under which `$defs` keeps what it refers to."""

_BEYOND_ASCII = lazy_pattern(r"[^\x00-\x7f]+")
_FOREIGN = lazy_pattern(r"[^\W\d_\x00-\x7f]+")
_CJK = lazy_pattern(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LETTER, _DIGIT, _SIGN, _UNDERSCORE, _BREAK, _SPACE = 1, 2, 4, 8, 16, 0
"""One bit for each class: a run begins where a byte has a bit that the previous byte lacks."""

_COMPOSITE = frozenset(("properties", "items", "anyOf", "oneOf", "allOf", "enum", "additionalProperties"))
"""A subschema with one of these keywords is long enough to move into `$defs`."""


class Cost(NamedTuple):
    """Cost of each part of a definition; a field that is absent or null costs nothing."""

    tokens: Mapping[str, int]
    """The estimate by field, in the order of TOOL_FIELDS."""

    size: Mapping[str, int]
    """UTF-8 bytes of the canonical JSON by field."""


class Repeat(NamedTuple):
    """A subschema that a definition spells out more than once."""

    path: str
    """JSON pointer of the first place."""

    places: int
    tokens: int
    """Of one copy."""

    @property
    def saved(self) -> int:
        """Tokens that one definition in `$defs` and a reference at every place would save; negative for small ones."""
        return (self.places - 1) * self.tokens - (self.places + 1) * REFERENCE


def estimate_tokens(text: str) -> int:
    """The estimated tokens of a text: runs of letters, digits, signs and line breaks; the space before them is free.

    An estimate because the vocabularies of most models are not published and none is shipped here. Measured on 1,649
    real tools against o200k_base: a definition is 3.5% off on average (9 in 10 within 8%), a description 5% (13%);
    against cl100k_base 5% each (10%, 14%).
    """
    if text.isascii() or not any(map(str.isalpha, set("".join(_BEYOND_ASCII.findall(text))))):
        return _runs(text)
    return _runs(_FOREIGN.sub(" ", text)) + sum(map(_foreign, _FOREIGN.findall(text)))


def definition_tokens(raw: Any) -> int:  # noqa: ANN401  # foreign JSON, any shape
    """The estimate for what a client sends a model of one definition, as canonical JSON.

    Raises UnmeasurableError for JSON that is nested too deeply.
    """
    return estimate_tokens(canonical_json({key: raw[key] for key in SENT_FIELDS if key in raw}))


def field_shares(tool: Tool, total: int) -> dict[str, int]:
    """The tokens of each field that is sent; braces and keys count as part of the schema."""
    name, description = estimate_tokens(tool.name), estimate_tokens(tool.description or "")
    return {"name": name, "description": description, "inputSchema": total - name - description}


def output_schema_tokens(tool: Tool) -> int:
    """The estimate for the output schema, which some clients hand on to the model."""
    return estimate_tokens(canonical_json(tool.output_schema)) if tool.output_schema else 0


def field_costs(tool: Tool) -> Cost:
    """Tokens and bytes by field. Raises UnmeasurableError for JSON that is nested too deeply."""
    raw = tool.raw if isinstance(tool.raw, Mapping) else {}
    texts = {key: canonical_json(raw[key]) if raw.get(key) is not None else "" for key in TOOL_FIELDS}
    return Cost(
        tokens={key: estimate_tokens(text) for key, text in texts.items()},
        size={key: len(text.encode("utf-8", "surrogatepass")) for key, text in texts.items()},
    )


def repeated_subschemas(shape: Shape) -> list[Repeat]:
    """Composite subschemas that occur more than once, word for word; their own parts are not reported again."""
    nodes = [node for node in shape.nodes[1:] if not _COMPOSITE.isdisjoint(node.schema)]
    outlines = Counter(_outline(node.schema) for node in nodes)
    alike = [node for node in nodes if outlines[_outline(node.schema)] > 1]
    if not alike:
        return []
    places = _reading_places(shape)
    texts = {node.path: _compact(node.schema) for node in sorted(alike, key=lambda node: places[node.path])}
    counts = Counter(texts.values())
    paths_by_text: dict[str, list[str]] = {}
    covered = ""
    for path, text in texts.items():
        if counts[text] > 1 and not (covered and path.startswith(f"{covered}/")):
            covered = path
            paths_by_text.setdefault(text, []).append(path)
    return [
        Repeat(path=paths[0], places=len(paths), tokens=estimate_tokens(text))
        for text, paths in paths_by_text.items()
        if paths[1:]
    ]


def spelled_titles(shape: Shape) -> int:
    """Return the characters of JSON in titles that only spell their property's name: `"title": "Max Results"`."""
    named = [(node.name, node.schema["title"]) for node in shape.by_keyword.get("title", ()) if node.name]
    titles = [title for name, title in named if isinstance(title, str) and _squash(title) == _squash(name)]
    return sum(len('"title":"",') + len(title) for title in titles)


def _squash(label: str) -> str:
    return label.lower().replace("_", "").replace("-", "").replace(" ", "")


def _reading_places(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Sort keys for depth-first order, by path; a walked schema has its subschemas level by level."""
    places: dict[str, tuple[int, ...]] = {}
    for place, node in enumerate(shape.nodes):
        parent = node.path.rpartition("/")[0]
        while parent and parent not in places:
            parent = parent.rpartition("/")[0]
        places[node.path] = (*places.get(parent, ()), place)
    return places


def _outline(schema: Mapping[str, Any]) -> tuple[object, ...]:
    """A cheap key: equal subschemas share it, and most different ones do not."""
    properties = schema.get("properties")
    return (*schema, *(properties if isinstance(properties, Mapping) else ()))


_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def _kind(code: int) -> int:
    char = chr(code)
    if char in "_\n":
        return _UNDERSCORE if char == "_" else _BREAK
    if char.isspace():
        return _SPACE
    return _LETTER if char.isalpha() else _DIGIT if char.isdigit() else _SIGN


_KINDS = bytes(map(_kind, range(128))) + bytes([_SIGN]) * 128
_LONG = (bytes([_LETTER]) * LETTERS, bytes([_DIGIT]) * DIGITS, bytes([_SIGN]) * SIGNS)


def _runs(text: str) -> int:
    """Runs of one class of characters, long ones counted again.

    All at once on one large integer: a regular expression takes four times as long, and every definition is counted.
    """
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    bits = int.from_bytes(kinds, "big")
    starts = bits ^ (bits & (bits >> 8))
    return starts.bit_count() + sum(map(kinds.count, _LONG))


def _foreign(run: str) -> int:
    ideographs = len(_CJK.findall(run))
    return -(-2 * ideographs // 3) + -(-(len(run) - ideographs) // FOREIGN_LETTERS)
