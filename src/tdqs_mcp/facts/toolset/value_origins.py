"""Parameters for one of the server's things of which no text says where its id or name comes from."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import lazy_pattern, words_from
from tdqs_mcp.facts.schema.walk import Shape
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.parameter_texts import FORMING, ParameterMention, type_beside_null, words_in
from tdqs_mcp.facts.text.words import is_plural
from tdqs_mcp.model import Tool

_words = partial(words_from, "names")
_QUOTES = frozenset("`\"'")
_THING = lazy_pattern(r"(?i)(?<=\bid of )(?:\w+ ){0,2}\w+")


class OpenOrigin(NamedTuple):
    """A parameter of which no text says where its value comes from."""

    path: str
    name: str
    lister: str | None
    """The tool that lists such things; None where no tool of the server is about them."""

    may_be_id: bool
    """Nor does a text say whether it takes names or ids."""


def find_open_origins(
    tool: Tool,
    shape: Shape,
    mentions: Iterable[ParameterMention],
    siblings: Mapping[str, str],
    sibling_words: AbstractSet[str],
) -> Iterator[OpenOrigin]:
    """Yield names that an agent may guess, "The collection to search" beside `list_collections`; and foreign ids.

    An id that a sibling lists is no guess: its name leads there. `siblings` are by lower-cased name, `sibling_words`
    the singular words of their names.
    """
    texts = {mention.node.path: mention.text for mention in mentions}
    description = (tool.description or "").lower()
    for node in shape.tops:
        parts, text = name_parts(node.name or ""), texts.get(node.path, "")
        kind, schema = type_beside_null(node.schema)
        items = schema.get("items") if kind == "array" else schema
        if not parts or not isinstance(items, dict) or not FORMING.isdisjoint((*items, *schema)):
            continue
        words = words_in(text)
        thing = parts[-2] if parts[1:] and parts[-1] in _words("weak_identifiers") else parts[-1]
        is_name = items.get("type") == "string" and (not parts[1:] or thing != parts[-1])
        lister = _find_lister(thing, siblings) if is_name else None
        if lister and lister != tool.name and thing not in _made_by(tool):
            is_told = not _words("origins").isdisjoint(words) or lister.lower() in description + text.lower()
            may_be_id = not parts[1:] and _words("name_or_id").isdisjoint(words) and _QUOTES.isdisjoint(text)
            if not is_told and (may_be_id or (node.is_required and kind == "string")):
                yield OpenOrigin(node.path, node.name or "", lister, may_be_id)
        elif node.is_required and parts[1:] and parts[-1] in _ids() and not _ids().isdisjoint(words):
            nouns = (parts[-2], *(word for match in _THING.finditer(text) for word in words_in(match[0])))
            is_known = any(word.removesuffix("s") in sibling_words for word in nouns)
            is_told = not _words("origins").isdisjoint(words) or any(map(str.isdigit, text))
            if not (is_known or is_told or any(parts[-2] in name for name in siblings)):
                yield OpenOrigin(node.path, node.name or "", None, may_be_id=False)


def _ids() -> frozenset[str]:
    return _words("opaque_identifiers")


def _find_lister(thing: str, siblings: Mapping[str, str]) -> str | None:
    """Return the tool whose name lists things of a kind and says no more: `list_collections`."""
    many = thing if is_plural(thing) else f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    spellings = (f"list{joint}{many}" for joint in ("_", "-", ""))
    return next((siblings[name] for name in spellings if name in siblings), None)


def _made_by(tool: Tool) -> AbstractSet[str]:
    """Return the words of the thing that a tool makes: the name of a new collection is the caller's own."""
    verb, *thing = name_parts(tool.name) or ("",)
    return frozenset(thing) if verb in _words("making_verbs") else frozenset()
