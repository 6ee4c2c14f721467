"""Gaps in what a text tells of a result: its fields, its order, what cuts it, and when there is none."""

from collections.abc import Iterable, Iterator
from functools import partial

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.schema.walk import Node, Shape, keyword_members
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.claims import spell, stated_default
from tdqs_mcp.facts.text.parameter_texts import ParameterMention, is_count, tells_result, type_beside_null
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import Cue, Effect, is_plural

_PATTERNS = PatternTable("claims")
_words = partial(words_from, "claims")


def cut_results(prose: Prose, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield the parameters that limit a list which the description calls whole, with the number of one call.

    "Get a list of all users in the workspace", `limit`, "Maximum number of users (default 100)".
    """
    opening = prose.sentences[0] if prose.sentences else ""
    is_every = "every" in prose.vocabulary  # "Raw evidence: every hostname in the window"
    is_whole = is_every or ("all" in prose.vocabulary and prose.verb in _words("listing_verbs"))
    if (
        not is_whole
        or prose.effect not in (Effect.READ, None)
        or Cue.LIMIT in prose.cues
        or not _words("paging").isdisjoint(prose.vocabulary)
    ):
        return
    for node in shape.tops if _PATTERNS.whole_list.search(opening) else ():
        schema, parts = node.schema, name_parts(node.name or "")
        text = schema["description"] if isinstance(schema.get("description"), str) else ""
        is_limit = is_count(node, text) or (not text and parts[-1:] and parts[-1] in _words("limiting"))
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
    if _PATTERNS.told_result.search(text):
        return None
    match = _PATTERNS.vague_thing.match(text)
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
    is_ranked = prose.verb in _words("ranking_verbs") or not _words("ranking_verbs").isdisjoint(parts)
    if not (is_list and is_reading) or is_ranked or prose.language not in ("en", None) or not prose.words:
        return None
    parameter_words = {word for parameter in shape.names for word in name_parts(parameter)}
    texts = (prose.vocabulary, parameter_words, *(remark.words for remark in remarks))
    limits = (node for node in shape.tops if name_parts(node.name or "")[-1:] == ("limit",))
    limit = next((node for node in limits if type_beside_null(node.schema)[0] in ("integer", "number")), None)
    return limit if all(map(_words("ordered").isdisjoint, texts)) else None


def is_null_open(prose: Prose, output: Shape) -> bool:
    """Return whether a result may be null, and no text says when."""
    result = keyword_members(output.root).get("result", output.root)
    kinds = result.get("anyOf", (result,)) if isinstance(result, dict) else ()
    takes_null = any(isinstance(kind, dict) and kind.get("type") in ("null", ["object", "null"]) for kind in kinds)
    return takes_null and prose.language == "en" and _words("missing").isdisjoint(prose.vocabulary)
