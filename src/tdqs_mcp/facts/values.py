"""The closed list of values that a text states of a parameter and the schema does not have."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.text.parameter_mentions import list_entries
from tdqs_mcp.facts.text.prose import MAX_EXPLANATION, MAX_TEXT
from tdqs_mcp.facts.text.words import words_of
from tdqs_mcp.model.catalog import Tool

MAX_VALUES = 40
"""Values of one list; more are a table, not a choice."""

FREE = frozenset(("type", "title", "description", "default"))
"""All that a schema may have that says nothing of its values beside their type."""

_ITEM = r"(?:`[\w.+-]{1,40}`|'[\w.+-]{1,40}'|\"[\w.+-]{1,40}\"|\w[\w.+-]{0,39}(?<![.-]))"
_GLOSS = r"(?:\s\([^()]{1,200}\))?"
_LIST = rf"{_ITEM}{_GLOSS}(?:(?:,\s(?:or\s|and\s)?|\s(?:or|and)\s|\s?\|\s?){_ITEM}{_GLOSS}){{1,{MAX_VALUES - 1}}}"
_CLOSED = re.compile(
    r"\b(?:(?P<values>(?:allowed|valid|accepted|permitted|supported|possible)\s(?:values|options)(?:\sare|:)\s)"
    rf"|one\sof:?\s(?:the\sfollowing(?:\svalues)?:\s)?|must\sbe\seither\s)(?P<list>{_LIST})(?=[.;)]|\sDefaults?\b|$)",
    re.IGNORECASE,
)
_ITEMS = re.compile(rf"({_ITEM}){_GLOSS}(?:,\s(?:or\s|and\s)?|\s(?:or|and)\s|\s?\|\s?|$)")
_OPEN = re.compile(
    r"\be\.?g\b|\bsuch as\b|\bexamples?\b|\blike\b|\betc\b|\bfor instance\b|\binclud|\bcustom\b|\bany other\b"
    r"|\bor any\b|\bothers?\b|\bmore\b|\.\.\.|…|\bcommon|\busual|\bcase.insensitive|\bcomma|\blists? of\b|\bmultiple\b"
    r"|\bappend|\bprefix|\bcombin|\bdepend|\bjson\b|\barray\b|\bseparated\b|\bempty\b|\bnull\b|\bleave\b",
    re.IGNORECASE,
)
NONE: Mapping[str, str] = {}
_QUOTED = re.compile(r"[`'\"]([\w.+-]{1,40})[`'\"]")


def closed(tool: Tool, facts: Mapping[str, str] = NONE) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """The parameters of type string whose own text lists their values beyond doubt, the values, and where it stands.

    That text is the parameter's description, its entry in the tool's, or a fact, given by its source, that names the
    parameter. An open list, an example, a value that the list lacks, or a schema that says anything of its values
    itself leaves the parameter alone.
    """
    for name, schema in arguments.properties(tool).items():
        if isinstance(schema, dict) and schema.get("type") == "string" and schema.keys() <= FREE:
            for source, said in _said(tool, name, schema, facts):
                values = _values(" ".join(said[:MAX_EXPLANATION].split()), schema)
                if values:
                    yield name, values, source


def _said(tool: Tool, name: str, schema: Mapping[str, Any], facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    text = schema.get("description")
    if isinstance(text, str) and trim(text):
        yield f"{arguments.property_pointer(name)}/description", text
    else:
        yield f"description: its entry {name}", _entries(tool).get(name, "")
    for source, fact in facts.items():
        if f"`{name}`" in fact or (not name.isalpha() and name.lower() in words_of(fact)):
            yield source, fact.replace(f"`{name}`", name)


def _entries(tool: Tool) -> Mapping[str, str]:
    text = tool.description or ""
    return {each.name: each.text for each in list_entries(text)} if len(text) <= MAX_TEXT else {}


def _values(text: str, schema: Mapping[str, Any]) -> tuple[str, ...]:
    found = list(_CLOSED.finditer(text))
    if len(found) != 1 or _OPEN.search(text):
        return ()
    items = _ITEMS.findall(found[0]["list"])
    quoted = [item[0] in "`'\"" for item in items]
    values = tuple(item.strip("`'\"") for item in items)
    is_plain = all(quoted) or (not any(quoted) and (found[0]["values"] is not None or len(values) > 2))
    is_whole = set(_QUOTED.findall(text)) <= {*values} and len(set(values)) == len(values)
    default = schema.get("default")
    return values if is_plain and is_whole and (default is None or default in values) else ()
