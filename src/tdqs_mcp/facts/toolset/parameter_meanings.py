"""What a parameter without a description means, as its name, its format, its partner or other tools prove."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.lexicon import MAX_TEXT, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.spelling import is_plain, name_parts, words_of
from tdqs_mcp.facts.text.parameter_mentions import list_entries
from tdqs_mcp.facts.text.vocabulary import LEMMAS
from tdqs_mcp.facts.text.words import PREPOSITIONS, identifiers_of, parts_of, stem
from tdqs_mcp.model import Tool

_words = partial(words_from, "names")


def _table(key: str) -> Mapping[str, str]:
    table: Mapping[str, str] = read_table("names")[key]
    return table


MAX_BORROWED = 160
"""Characters of a description that may be reused."""

MAX_SHOWN = 2
"""Siblings that a meaning names as its sources."""

_PAGING = ("Number of entries to skip;", "Maximum number of entries to return;", "Position of the next page,")
"""How descriptions of paging parameters begin; they are proven by a pair, never reused."""


_PURPOSE = lazy_pattern(r"\b(?:to|for) (?:be )?(\w+)")
_MIXED_CASE = lazy_pattern(r"\b[a-z]+[A-Z]\w*")
_IS_BOUND = lazy_pattern(
    r"\d|\b(?:default|optional|required|omit|leave|empty|if|when|unless|only|must|support|valid|allowed)", re.IGNORECASE
)
"""What depends on the tool: bounds, defaults, conditions."""


class Meaning(NamedTuple):
    """A description for one parameter."""

    parameter: str
    text: str
    sources: tuple[str, ...]
    is_borrowed: bool = False
    """A sibling says so of its parameter of this name."""

    is_told: bool = False
    """The parameter has this very description already."""


class Namesake(NamedTuple):
    """A documented parameter."""

    tool: str
    text: str
    schema: Mapping[str, Any]
    """Without its texts."""

    is_required: bool

    def is_like(self, schema: Mapping[str, Any], *, is_required: bool) -> bool:
        """Whether another parameter accepts the same values and may be left out as well."""
        return (self.schema, self.is_required) == (_bare(schema), is_required)


Namesakes = Mapping[tuple[str, str], Sequence[Namesake]]
"""By name and type of a parameter: where it is documented."""


def documented_parameters(tools: Iterable[Tool]) -> Namesakes:
    """The parameters whose descriptions may be reused elsewhere."""
    found: dict[tuple[str, str], list[Namesake]] = {}
    for tool in tools:
        required = arguments.required(tool)
        for name, schema in arguments.properties(tool).items():
            said = schema.get("description") if isinstance(schema, dict) else None
            text = trim(said) if isinstance(said, str) else ""
            if text and is_plain(name) and not text.startswith(_PAGING) and text not in _table("formats").values():
                known = Namesake(tool=tool.name, text=text, schema=_bare(schema), is_required=name in required)
                found.setdefault((name, _type(schema)), []).append(known)
    return found


def infer_meanings(tool: Tool, known: Namesakes) -> tuple[Meaning, ...]:
    """A meaning for each parameter that is described neither in the schema nor in the tool's description.

    Also for one that has just this description: a second look finds what the first one found.
    """
    properties = arguments.properties(tool)
    text = tool.description or ""
    told = {each.name for each in list_entries(text)} if len(text) <= MAX_TEXT else properties.keys()
    open_ones = {name: schema for name, schema in properties.items() if isinstance(schema, dict) and name not in told}
    pages = _Pages.of(properties)
    found = (
        (schema.get("description"), _namesake(tool, name, schema, known) or _meaning(name, schema, pages))
        for name, schema in open_ones.items()
        if is_plain(name)
    )
    return tuple(
        meaning._replace(is_told=bool(said)) for said, meaning in found if meaning and said in (None, "", meaning.text)
    )


def _namesake(tool: Tool, name: str, schema: Mapping[str, Any], known: Namesakes) -> Meaning | None:
    """What siblings say of the parameter, where nothing in it is about them alone: the most frequent text."""
    namesakes = [each for each in known.get((name, _type(schema)), ()) if each.tool != tool.name]
    by_text: dict[str, list[Namesake]] = {}
    for each in namesakes:
        by_text.setdefault(each.text, []).append(each)
    is_word = len(name_parts(name)) == 1  # `name` and `path` differ from tool to tool
    if is_word and (len(by_text) > 1 or not all(text.isascii() or len(each) > 1 for text, each in by_text.items())):
        return None
    is_required = name in arguments.required(tool)
    fit = [
        (-len(each), len(text), text)
        for text, each in by_text.items()
        if _is_borrowable(text, tool)
        and not _is_about_others(text, each, tool, name)
        and (
            not _IS_BOUND.search(text)
            or (len(by_text) == 1 < len(each) and all(one.is_like(schema, is_required=is_required) for one in each))
        )
    ]
    if not fit:
        return None
    text = min(fit)[2]
    sources = tuple(f"tool {each.tool}: its parameter {name}" for each in by_text[text][:MAX_SHOWN])
    return Meaning(parameter=name, text=text, sources=sources, is_borrowed=True)


def _is_borrowable(text: str, tool: Tool) -> bool:
    is_same_script = text.isascii() >= (tool.description or "").isascii()
    return len(text) <= MAX_BORROWED and text.isprintable() and is_same_script


def _is_about_others(text: str, namesakes: Sequence[Namesake], tool: Tool, name: str) -> bool:
    """It has a word of their names that this tool's name has not, tells what they do, or names what this one lacks."""
    own = {stem(part) for part in (*name_parts(tool.name), *name_parts(name))}
    said = {stem(part) for word in words_of(text) for part in parts_of(word)}
    theirs = [{stem(part) for part in name_parts(each.tool)} for each in namesakes]
    done = {stem(word) for word in (*words_of(text)[:1], *_PURPOSE.findall(text.lower())) if word in LEMMAS}
    names = {each.lower() for each in (*arguments.properties(tool), tool.name)}
    named = identifiers_of(text) | {word.lower() for word in _MIXED_CASE.findall(text)}
    is_phrase = words_of(text)[:1] and words_of(text)[0] not in PREPOSITIONS
    return bool((set.intersection(*theirs) & said | done) - own) or not (named <= names and is_phrase)


def _bare(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("description", "title", "examples")}


class _Pages(NamedTuple):
    """The names of a tool's paging parameters."""

    size: str | None
    skip: str | None
    cursor: str | None

    @classmethod
    def of(cls, names: Iterable[str]) -> "_Pages":
        folded = {each.lower(): each for each in names if is_plain(each)}
        lists = ("page_sizes", "page_offsets", "page_cursors")
        return cls(*(next((folded[each] for each in folded if each in _words(known)), None) for known in lists))


def _meaning(name: str, schema: Mapping[str, Any], pages: _Pages) -> Meaning | None:
    path, kind = arguments.property_pointer(name), _type(schema)
    schema_format = schema.get("format")
    if isinstance(schema_format, str) and schema_format in _table("formats"):
        return Meaning(parameter=name, text=_table("formats")[schema_format], sources=(f"{path}/format",))
    words = name_parts(name)
    if kind in ("integer", "number") and len(words) > 1 and words[-1] in _table("units"):
        thing = " ".join(words[:-1]).capitalize()
        return Meaning(parameter=name, text=f"{thing} in {_table('units')[words[-1]]}.", sources=(path,))
    return _page(name, kind, pages)


def _page(name: str, kind: str, pages: _Pages) -> Meaning | None:
    """The meaning of a pair of paging parameters; a single one proves nothing."""
    size, skip, cursor = pages
    if name == skip and size and kind == "integer":
        text, other = f"{_PAGING[0]} raise it by `{size}` for the next page.", size
    elif name == size and skip and kind == "integer":
        text, other = f"{_PAGING[1]} use `{skip}` for the next page.", skip
    elif name == size and cursor and kind == "integer":
        text, other = f"{_PAGING[1]} use `{cursor}` for the next page.", cursor
    elif name == cursor and size and kind == "string":
        text, other = f"{_PAGING[2]} as the previous answer gives it; omit it for the first page.", size
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
