"""Reads the arguments of an input schema, as mcptest and MCP Playground define their rules, and of recorded calls."""

from collections.abc import Iterator, Mapping
from typing import Any

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.schema.walk import escape_step, keyword_members, required_names, schema_of
from tdqs_mcp.facts.spelling import is_plain, name_parts
from tdqs_mcp.model import Tool

TYPING = ("type", "enum", "oneOf", "anyOf", "allOf", "$ref")
"""Any of these tells a client what to send (MCP Playground, prop-no-type); `const` is not among them."""

_PATTERNS = PatternTable("references")
_WORD = lazy_pattern(r"[^\W_]+")
_NAME = lazy_pattern(r"[\w-]+")


def property_pointer(name: str) -> str:
    """The JSON pointer of an argument inside its tool."""
    return f"/inputSchema/properties/{escape_step(name)}"


def properties(tool: Tool) -> Mapping[str, Any]:
    """The top-level properties of the input schema; empty where there are none."""
    return keyword_members(tool.input_schema or {})


def required(tool: Tool) -> list[Any]:
    """Return what the input schema lists as required, whatever its type."""
    names = tool.input_schema.get("required") if tool.input_schema else None
    return names if isinstance(names, list) else []


def has_no_properties(tool: Tool) -> bool:
    """The schema is an object's and says nothing of properties; an empty `properties` does."""
    schema = tool.input_schema
    return schema is not None and schema.get("type") == "object" and not isinstance(schema.get("properties"), dict)


def undescribed(tool: Tool) -> list[str]:
    """Arguments without a description; a property that is null or false stands for none and is left out."""
    return [name for name, schema in properties(tool).items() if _is_set(schema) and not _is_described(schema)]


def undescribed_required(tool: Tool) -> list[str]:
    """Required arguments that have a schema and no description."""
    schemas = properties(tool)
    return [
        name for name in required_names(tool.input_schema or {}) if name in schemas and not _is_described(schemas[name])
    ]


def untyped(tool: Tool) -> list[str]:
    """Arguments whose schema has none of TYPING."""
    schemas = {name: schema for name, schema in properties(tool).items() if _is_set(schema)}
    typing = {name: schema.get for name, schema in schemas.items() if isinstance(schema, dict)}
    return [name for name in schemas if name not in typing or not any(_is_set(typing[name](key)) for key in TYPING)]


def unknown_required(tool: Tool) -> list[Any]:
    """Entries of `required` that no property carries, in order; none where the schema has no properties at all."""
    declared = (tool.input_schema or {}).get("properties")
    if not isinstance(declared, dict):
        return []
    return [name for name in required(tool) if not isinstance(name, str) or name not in declared]


def unmentioned_choices(tool: Tool) -> Iterator[tuple[str, list[str]]]:
    """Described arguments with an enum of which the description mentions no value, and the values as text."""
    for name, schema in _described(tool):
        enum = schema.get("enum")
        values = enum if isinstance(enum, list) else []
        words = [value for value in values if isinstance(value, str | int | float) and not isinstance(value, bool)]
        spelled = [str(word) for word in words if word != ""]
        if spelled and not _mentions(schema["description"][:MAX_EXPLANATION], spelled):
            yield name, spelled


def lengths(tool: Tool) -> Iterator[tuple[str, int]]:
    """Characters of each argument's description, trimmed."""
    for name, schema in _described(tool):
        yield name, len(trim(schema["description"]))


def is_trivial(tool: Tool) -> bool:
    """At most one argument, and that one optional and of type string (mcptest, DESC-009)."""
    declared = properties(tool)
    if len(declared) != 1:
        return not declared
    ((name, schema),) = declared.items()
    return name not in required(tool) and isinstance(schema, dict) and schema.get("type") == "string"


def has_example(tool: Tool) -> bool:
    """The tool carries an `examples` array, or an argument one, an `example` or a `default` (mcptest, DESC-009)."""
    if isinstance(tool.raw.get("examples"), list):
        return True
    return any(
        "default" in schema or "example" in schema or isinstance(schema.get("examples"), list)
        for schema in properties(tool).values()
        if isinstance(schema, dict)
    )


def choices_in_prose(tool: Tool) -> Iterator[tuple[str, str]]:
    """String arguments without an enum whose description lists the allowed values, and the words that say so.

    A list of argument names does not count, nor does a string that holds several values.
    """
    for name, schema in _described(tool):
        text = schema["description"][:MAX_EXPLANATION]
        lowered = text.lower()
        may_list = any(word in lowered for word in _CHOICE_WORDS) and _is_free_text(schema)
        match = _PATTERNS.choice.search(text) if may_list else None
        names_arguments = match and not properties(tool).keys().isdisjoint(_NAME.findall(match[0]))
        if match and not names_arguments and not _PATTERNS.structured.search(text):
            yield name, " ".join(match[0].split())


_CHOICE_WORDS = ("|", "one of", "either", "values", "options", "choices")
"""No text without one of them can have choice language."""


def _described(tool: Tool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, schema in properties(tool).items():
        text = schema.get("description") if isinstance(schema, dict) else None
        if isinstance(text, str) and trim(text):
            yield name, schema


def _is_described(schema: object) -> bool:
    text = schema.get("description") if isinstance(schema, dict) else None
    return bool(trim(text)) if isinstance(text, str) else _is_set(text)


def _is_set(value: object) -> bool:
    """Not what a JavaScript condition takes for nothing: null, false, 0 and the empty string; `[]` and `{}` are set."""
    return value not in (None, False, 0, "")


def _mentions(text: str, values: list[str]) -> bool:
    folded = _folded(text)
    return any(spelled in folded if (spelled := _folded(value)).strip() else value in text for value in values)


def _folded(text: str) -> str:
    """The words of a text in lower case between single spaces, so that `in_stock` and "In stock" are one."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    """A string or untyped, alone or beside null, and neither it nor one of its branches has a closed list."""
    branches = [branch for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list) for branch in schema[key]]
    if any("enum" in part or "const" in part for part in (schema, *branches) if isinstance(part, dict)):
        return False
    types = schema.get("type", [part.get("type") for part in branches if isinstance(part, dict)] or "string")
    kinds = types if isinstance(types, list) else [types]
    return "string" in kinds and all(kind in ("string", "null") for kind in kinds) and "$ref" not in schema


def result_fields(tool: Tool) -> tuple[str, tuple[str, ...]]:
    """The fields of a result; for a list "entries" and the fields of its entries, else "" and the fields.

    A single field that wraps an object or a list, such as the `result` of FastMCP, is not what comes back.
    """
    schema: Mapping[str, Any] = tool.output_schema or {}
    names = _plain_names(schema)
    if len(names) != 1:
        return "", names
    inner = schema_of(schema["properties"][names[0]])
    if inner.get("type") == "array":
        return "entries", _plain_names(schema_of(inner.get("items")))
    return "", _plain_names(inner)


def _plain_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(filter(is_plain, keyword_members(schema)))


_SUPPORT_PATTERNS = PatternTable("support")

MAX_WORDS = 6
"""Words of a text that is shown."""

MAX_DIGITS = 9
"""Digits of a value: a card, an account and most telephones have more."""

MAX_NESTING = 8
"""Levels of a value that are looked into; a deeper one is not shown."""


def is_showable(call: Mapping[str, Any], tool: Tool) -> bool:
    """Return whether a call's arguments may stand in a definition as an example: known to the schema, or plain."""
    schemas = properties(tool)
    return all(
        words_from("support", "private").isdisjoint(name_parts(name))
        and (is_known(value, schemas.get(name)) or is_plain_value(value))
        for name, value in call.items()
    )


def redact(text: str) -> str:
    """A text without addresses, long codes and what stands beside a word for a secret."""
    return _SUPPORT_PATTERNS.secret.sub(" ", text)


def is_known(value: object, schema: object) -> bool:
    """The schema itself names the value."""
    if not isinstance(schema, Mapping):
        return False
    single = (schema[keyword] for keyword in ("const", "default") if keyword in schema)
    several = (schema[keyword] for keyword in ("enum", "examples") if isinstance(schema.get(keyword), list))
    return value in [*single, *(item for values in several for item in values)]


def is_plain_value(value: object, nesting: int = 0) -> bool:
    """A value of few and plain words and numbers, at any depth, that stands beside no word for a secret."""
    if isinstance(value, Mapping):
        pairs = value.items()
        return nesting < MAX_NESTING and all(
            words_from("support", "private").isdisjoint(name_parts(str(name))) and is_plain_value(item, nesting + 1)
            for name, item in pairs
        )
    if isinstance(value, list):
        return nesting < MAX_NESTING and all(is_plain_value(item, nesting + 1) for item in value)
    text = "" if value is None else str(value)
    words = text.split()
    is_short = len(words) <= MAX_WORDS and sum(map(str.isdecimal, text)) <= MAX_DIGITS
    return _SUPPORT_PATTERNS.date.fullmatch(text) is not None or (
        is_short and all(_SUPPORT_PATTERNS.plain_value.fullmatch(word.rstrip(",.!?")) for word in words)
    )
