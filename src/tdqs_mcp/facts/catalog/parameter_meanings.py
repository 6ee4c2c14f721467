"""What a parameter without a description means, where its format, its unit, its partner or its siblings prove it."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Any

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.parameter_mentions import list_entries
from tdqs_mcp.facts.text.patterns import words_from
from tdqs_mcp.facts.text.words import MAX_TEXT, is_plain, name_parts

_words = partial(words_from, "names")

MIN_WITNESSES = 2
"""Siblings that describe a parameter in one and the same way before another may say so too."""

MIN_WITNESSES_OF_A_WORD = 3
"""... where its name is a single word: `name` and `path` mean one thing here and another there."""

MAX_BORROWED = 160
"""Characters of a parameter's description that another parameter may carry."""

FORMATS: Mapping[str, str] = {
    "date": "Date as YYYY-MM-DD.",
    "date-time": "Date and time with offset as in RFC 3339: YYYY-MM-DDThh:mm:ssZ.",
    "time": "Time with offset as in RFC 3339: hh:mm:ssZ.",
    "duration": "ISO 8601 duration such as PT30M.",
}
"""What formats ask for that their names do not tell, as JSON Schema defines them (2020-12, validation, 7.3)."""

_UNITS: Mapping[str, str] = {
    "ms": "milliseconds",
    "millis": "milliseconds",
    "msec": "milliseconds",
    "sec": "seconds",
    "secs": "seconds",
    "mins": "minutes",
    "hrs": "hours",
    "px": "pixels",
    "pct": "percent",
}
"""Units that names cut short; `size_bytes` needs no explanation."""

_PAGING = ("Entries to skip;", "Most entries in one answer;", "Where the next page begins,")
"""How the descriptions open that a pair proves: no siblings' voice where there is no pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A description for one parameter."""

    parameter: str
    text: str
    sources: tuple[str, ...]


Agreed = Mapping[tuple[str, str], tuple[str, Sequence[str]]]
"""By name and type of a parameter: the description that all who describe it give, and who they are."""


def agreed_descriptions(subjects: Iterable[Subject]) -> Agreed:
    """The descriptions on which enough tools agree and none differs."""
    said: dict[tuple[str, str], dict[str, list[str]]] = {}
    for subject in subjects:
        for name, schema in arguments.properties(subject.tool).items():
            text = _description(schema)
            if text and is_plain(name) and not text.startswith(_PAGING) and text not in FORMATS.values():
                said.setdefault((name, _type(schema)), {}).setdefault(text, []).append(subject.tool.name)
    found = {key: next(iter(texts.items())) for key, texts in said.items() if len(texts) == 1}
    return {
        (name, kind): (text, tools)
        for (name, kind), (text, tools) in found.items()
        if len(tools) >= (MIN_WITNESSES if len(name_parts(name)) > 1 else MIN_WITNESSES_OF_A_WORD)
        and len(text) <= MAX_BORROWED
        and text.isascii()
        and text.isprintable()
    }


def infer_meanings(subject: Subject, known: Agreed) -> tuple[Meaning, ...]:
    """A meaning for each parameter that neither has a description nor an entry in the tool's."""
    properties = arguments.properties(subject.tool)
    text = subject.tool.description or ""
    told = {each.name for each in list_entries(text)} if len(text) <= MAX_TEXT else properties.keys()
    silent = {
        name: schema
        for name, schema in properties.items()
        if isinstance(schema, dict) and not schema.get("description") and name not in told and is_plain(name)
    }
    found = (_meaning(name, schema, properties.keys(), known) for name, schema in silent.items())
    return tuple(meaning for meaning in found if meaning)


def _meaning(name: str, schema: Mapping[str, Any], names: AbstractSet[str], known: Agreed) -> Meaning | None:
    path, kind = arguments.property_pointer(name), _type(schema)
    if (name, kind) in known:
        text, tools = known[name, kind]
        sources = tuple(f"tool {tool}: its parameter {name}" for tool in tools[:MIN_WITNESSES])
        return Meaning(parameter=name, text=text, sources=sources)
    schema_format = schema.get("format")
    if isinstance(schema_format, str) and schema_format in FORMATS:
        return Meaning(parameter=name, text=FORMATS[schema_format], sources=(f"{path}/format",))
    words = name_parts(name)
    if kind in ("integer", "number") and len(words) > 1 and words[-1] in _UNITS:
        thing = " ".join(words[:-1]).capitalize()
        return Meaning(parameter=name, text=f"{thing} in {_UNITS[words[-1]]}.", sources=(path,))
    return _page(name, kind, names)


def _page(name: str, kind: str, names: AbstractSet[str]) -> Meaning | None:
    """How a pair of parameters pages through a result; one of them alone may mean anything."""
    folded = {each.lower(): each for each in names if is_plain(each)}
    size = next((folded[each] for each in folded if each in _words("page_sizes")), None)
    skip = next((folded[each] for each in folded if each in _words("page_offsets")), None)
    cursor = next((folded[each] for each in folded if each in _words("page_cursors")), None)
    if name == skip and size and kind == "integer":
        text, other = f"{_PAGING[0]} raise it by `{size}` for the next page.", size
    elif name == size and skip and kind == "integer":
        text, other = f"{_PAGING[1]} page on with `{skip}`.", skip
    elif name == size and cursor and kind == "integer":
        text, other = f"{_PAGING[1]} page on with `{cursor}`.", cursor
    elif name == cursor and size and kind == "string":
        text, other = f"{_PAGING[2]} from the answer before; omit it for the first page.", size
    else:
        return None
    return Meaning(
        parameter=name, text=text, sources=(arguments.property_pointer(name), arguments.property_pointer(other))
    )


def _description(schema: object) -> str:
    text = schema.get("description") if isinstance(schema, dict) else None
    return trim(text) if isinstance(text, str) else ""


def _type(schema: object) -> str:
    """The type of a parameter, that of an optional one without its null."""
    if not isinstance(schema, dict):
        return ""
    branches = schema.get("anyOf") if isinstance(schema.get("anyOf"), list) else [schema]
    kinds = [each.get("type") for each in branches or () if isinstance(each, dict) and each.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else ""
