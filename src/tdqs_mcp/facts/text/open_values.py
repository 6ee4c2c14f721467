"""Gaps that schemas and texts leave: ranges, units and forms of values; fields, order and limits of results."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.schema.walk import Node, Shape, keyword_members
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.claims import StatedLimit, find_limits, spell, stated_default
from tdqs_mcp.facts.text.parameter_texts import (
    FORMING,
    ParameterMention,
    is_count,
    is_date,
    known_units,
    tells_result,
    type_beside_null,
    words_in,
)
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import Cue, Effect, is_plural, stem

_PATTERNS = PatternTable("parameters")
_words = partial(words_from, "parameters")
_CLAIMS = PatternTable("claims")
_claim_words = partial(words_from, "claims")


class Opening(StrEnum):
    """Part of a value that the schema leaves open; `rules/data/open_values.toml` has words for each."""

    RANGE = "range"
    AMOUNT = "amount"
    CHARACTERS = "characters"
    COUNT = "count"
    LIMIT = "limit"
    UNIT = "unit"
    DATE = "date"
    PACKED = "packed"


class OpenValue(NamedTuple):
    """A parameter whose schema leaves something open."""

    node: Node
    path: str
    """JSON pointer of the text."""

    kind: Opening
    words: str = ""
    """Those of the text that fill the gap."""


def find_open_values(mentions: Iterable[ParameterMention], description: str) -> Iterator[OpenValue]:
    """Yield what the schemas of these parameters leave open; `description` is the tool's."""
    for mention in mentions:
        kind, schema = type_beside_null(mention.node.schema)
        find = _FINDERS.get(kind or "")
        for opening, words in find(mention, schema, description) if find else ():
            yield OpenValue(mention.node, mention.path, opening, words)


def _open_number(
    mention: ParameterMention, schema: Mapping[str, Any], description: str
) -> Iterator[tuple[Opening, str]]:
    node, text = mention.node, mention.text
    limits = find_limits(text) if any(map(str.isdigit, text)) else ()
    phrase = next((limit.text for limit in limits if not limit.unit), None)
    if phrase and _BOUNDS.isdisjoint(schema):
        yield Opening.RANGE, phrase
    counts = is_count(node, text)
    if counts and schema["type"] == "number" and "multipleOf" not in schema:
        yield Opening.COUNT, ""
    is_bound = "maximum" in schema or "exclusiveMaximum" in schema or "enum" in schema
    parts = name_parts(node.name or "")
    is_limit = node.is_top and (parts[-1:] == ("limit",) or (counts and not _words("sizes").isdisjoint(parts)))
    if is_limit and not (is_bound or any(limit.is_upper for limit in limits)):
        yield Opening.LIMIT, ""
    if node.is_top and _lacks_unit(mention, description):
        yield Opening.UNIT, ""


def _lacks_unit(mention: ParameterMention, description: str) -> bool:
    parts, words = name_parts(mention.node.name or ""), mention.words
    if any(character.isalpha() and not character.isascii() for character in mention.text):
        return False  # another language may well have a unit
    is_stamp = not _words("stamps").isdisjoint((*words, *parts[-1:]))
    if not is_stamp and _words("times").isdisjoint(parts[-1:]):
        return False
    units = [known_units().get(word, ("", "")) for word in (*parts, *words, *words_in(description))]
    # "First day, as a timestamp" has no day for its unit
    return not any(unit in ("s", "ms") if is_stamp else kind == "time" for kind, unit in units)


def _open_string(
    mention: ParameterMention, schema: Mapping[str, Any], description: str
) -> Iterator[tuple[Opening, str]]:
    node, text = mention.node, mention.text
    if _lacks_date_form(node, schema, text, description):
        yield Opening.DATE, ""
    elif form := _packed_form(node, text):
        yield Opening.PACKED, form
    elif "pattern" not in schema and "enum" not in schema and "format" not in schema:
        may_match = not mention.words.isdisjoint(_words("kinds_of_character"))
        if match := _PATTERNS.characters.search(text) if may_match else None:
            yield Opening.CHARACTERS, " ".join(match[0].split())
        elif "maxLength" not in schema and (limit := _highest(text, words_from("claims", "length_units"))):
            yield Opening.AMOUNT, limit.text


def _open_list(
    mention: ParameterMention, schema: Mapping[str, Any], _description: str
) -> Iterator[tuple[Opening, str]]:
    things = frozenset(map(stem, name_parts(mention.node.name or ""))) | _words("counts")
    if "maxItems" not in schema and (limit := _highest(mention.text, things)):
        yield Opening.AMOUNT, limit.text


def _highest(text: str, units: frozenset[str]) -> StatedLimit | None:
    """Return the upper limit that a text gives in one of these units."""
    limits = find_limits(text) if any(map(str.isdigit, text)) else ()
    return next((limit for limit in limits if limit.is_upper and {limit.unit, stem(limit.unit)} & units), None)


def _lacks_date_form(node: Node, schema: Mapping[str, Any], text: str, description: str) -> bool:
    """Return whether a string is a date by its name, `dueDate`, and neither schema nor text shows how to write it."""
    if not (node.is_top and is_date(node.name or "")):
        return False
    is_set = schema.get("default", node.schema.get("default")) is not None
    is_open = not is_set and FORMING.isdisjoint(schema.keys() - {"default"})
    return is_open and not any(map(_PATTERNS.date_form.search, (text, description)))


def _packed_form(node: Node, text: str) -> str | None:
    """Return the words by which a text asks for several values or an object in one string.

    `output_format`, "JSON string or CSV", is about the result.
    """
    lowered = text.lower()
    match = _PATTERNS.packed.search(text) if "json" in lowered or "comma" in lowered else None
    is_about_form = (name_parts(node.name or "") or ("",))[-1] in ("format", "type", "mode")
    return match[0] if match and not is_about_form else None


_BOUNDS = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum enum const".split())
_FINDERS = {"integer": _open_number, "number": _open_number, "string": _open_string, "array": _open_list}


def cut_results(prose: Prose, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield the parameters that limit a list which the description calls whole, with the number of one call.

    "Get a list of all users in the workspace", `limit`, "Maximum number of users (default 100)".
    """
    opening = prose.sentences[0] if prose.sentences else ""
    is_every = "every" in prose.vocabulary  # "Raw evidence: every hostname in the window"
    is_whole = is_every or ("all" in prose.vocabulary and prose.verb in _claim_words("listing_verbs"))
    if (
        not is_whole
        or prose.effect not in (Effect.READ, None)
        or Cue.LIMIT in prose.cues
        or not _claim_words("paging").isdisjoint(prose.vocabulary)
    ):
        return
    for node in shape.tops if _CLAIMS.whole_list.search(opening) else ():
        schema, parts = node.schema, name_parts(node.name or "")
        text = schema["description"] if isinstance(schema.get("description"), str) else ""
        is_limit = is_count(node, text) or (not text and parts[-1:] and parts[-1] in _claim_words("limiting"))
        number = next((schema[key] for key in ("default", "maximum") if type(schema.get(key)) is int), None)
        amount = stated_default(text) if number is None else spell(number)
        if amount and amount.isdigit() and amount != "0" and is_limit:
            yield node.name or "", amount


def vague_result(prose: Prose, places: Iterable[int], output: Shape) -> str | None:
    """Return what comes back from a reading tool, where sentences at `places` and output schema have no more than that.

    "Get details of a specific event" has details.
    """
    is_reading = prose.effect is prose.name_effect is Effect.READ and prose.language == "en"
    if not is_reading or Cue.RETURN in prose.cues or tells_result(output):
        return None
    text = " ".join(prose.sentences[place] for place in places)
    if _CLAIMS.told_result.search(text):
        return None
    match = _CLAIMS.vague_thing.match(text)
    return match["thing"] if match else None


def unordered_list(name: str, prose: Prose, shape: Shape, remarks: Iterable[ParameterMention]) -> Node | None:
    """Return the parameter `limit` of a list of which no text and no other parameter tells the order.

    What such a call returns may be the oldest as well as the newest; a search has the best first.
    """
    parts = name_parts(name)
    is_list = "list" in parts or any(map(is_plural, parts))
    is_reading = Effect.READ in (prose.effect, prose.name_effect) or (
        prose.effect is None and not prose.opens_with_verb
    )
    is_ranked = prose.verb in _claim_words("ranking_verbs") or not _claim_words("ranking_verbs").isdisjoint(parts)
    if not (is_list and is_reading) or is_ranked or prose.language not in ("en", None) or not prose.words:
        return None
    parameter_words = {word for parameter in shape.names for word in name_parts(parameter)}
    texts = (prose.vocabulary, parameter_words, *(remark.words for remark in remarks))
    limits = (node for node in shape.tops if name_parts(node.name or "")[-1:] == ("limit",))
    limit = next((node for node in limits if type_beside_null(node.schema)[0] in ("integer", "number")), None)
    return limit if all(map(_claim_words("ordered").isdisjoint, texts)) else None


def is_null_open(prose: Prose, output: Shape) -> bool:
    """Return whether a result may be null, and no text says when."""
    result = keyword_members(output.root).get("result", output.root)
    kinds = result.get("anyOf", [result]) if isinstance(result, dict) else []
    kinds = [kind for kind in kinds if isinstance(kind, dict)] if isinstance(kinds, list) else []
    takes_null = any(kind.get("type") in ("null", ["object", "null"]) for kind in kinds)
    return takes_null and prose.language == "en" and _claim_words("missing").isdisjoint(prose.vocabulary)
