"""What a parameter without a description means, as its name, its format, its partner or other tools prove."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, NamedTuple

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.text.parameter_mentions import list_entries
from tdqs_mcp.facts.text.vocabulary import MAX_TEXT, read_table, words_from
from tdqs_mcp.facts.text.words import is_plain, name_parts
from tdqs_mcp.model import Tool

_words = partial(words_from, "names")


def _table(key: str) -> Mapping[str, str]:
    table: Mapping[str, str] = read_table("names")[key]
    return table


MIN_WITNESSES = 2
"""Siblings that must describe a parameter identically before the description is reused."""

MIN_WITNESSES_OF_A_WORD = 3
"""The same for a name of a single word: `name` and `path` differ from tool to tool."""

MAX_BORROWED = 160
"""Characters of a description that may be reused."""

_PAGING = ("Entries to skip;", "Most entries in one answer;", "Where the next page begins,")
"""How descriptions of paging parameters begin; they are proven by a pair, never reused."""


class Meaning(NamedTuple):
    """A description for one parameter."""

    parameter: str
    text: str
    sources: tuple[str, ...]


Agreed = Mapping[tuple[str, str], tuple[str, Sequence[str]]]
"""By name and type of a parameter: the description that all tools agree on, and these tools."""


def agreed_descriptions(tools: Iterable[Tool]) -> Agreed:
    """The descriptions on which enough tools agree and none differs."""
    said: dict[tuple[str, str], dict[str, list[str]]] = {}
    for tool in tools:
        for name, schema in arguments.properties(tool).items():
            said_text = schema.get("description") if isinstance(schema, dict) else None
            text = trim(said_text) if isinstance(said_text, str) else ""
            if text and is_plain(name) and not text.startswith(_PAGING) and text not in _table("formats").values():
                said.setdefault((name, _type(schema)), {}).setdefault(text, []).append(tool.name)
    found = {key: next(iter(texts.items())) for key, texts in said.items() if len(texts) == 1}
    return {
        (name, kind): (text, tools)
        for (name, kind), (text, tools) in found.items()
        if len(tools) >= (MIN_WITNESSES if len(name_parts(name)) > 1 else MIN_WITNESSES_OF_A_WORD)
        and len(text) <= MAX_BORROWED
        and text.isascii()
        and text.isprintable()
    }


def infer_meanings(tool: Tool, known: Agreed) -> tuple[Meaning, ...]:
    """A meaning for each parameter that is described neither in the schema nor in the tool's description."""
    properties = arguments.properties(tool)
    text = tool.description or ""
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
    if isinstance(schema_format, str) and schema_format in _table("formats"):
        return Meaning(parameter=name, text=_table("formats")[schema_format], sources=(f"{path}/format",))
    words = name_parts(name)
    if kind in ("integer", "number") and len(words) > 1 and words[-1] in _table("units"):
        thing = " ".join(words[:-1]).capitalize()
        return Meaning(parameter=name, text=f"{thing} in {_table('units')[words[-1]]}.", sources=(path,))
    return _page(name, kind, names)


def _page(name: str, kind: str, names: AbstractSet[str]) -> Meaning | None:
    """The meaning of a pair of paging parameters; a single one proves nothing."""
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


def _type(schema: object) -> str:
    """The type of a parameter, without null."""
    if not isinstance(schema, dict):
        return ""
    branches = schema.get("anyOf") if isinstance(schema.get("anyOf"), list) else [schema]
    kinds = [each.get("type") for each in branches or () if isinstance(each, dict) and each.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else ""
