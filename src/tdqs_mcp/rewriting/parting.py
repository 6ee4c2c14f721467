"""Differences of two confused tools: a sentence of the right one, its schema and hints, what its code does."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.schema.arguments import properties
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.toolset import search
from tdqs_mcp.model import Tool
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.results.tool_code import CodeEffect, EffectKind, ToolCode
from tdqs_mcp.rewriting.proposals import Statement, add_sentence

MAX_NAMED = 8
"""Names in one message."""

_UNCERTAIN = frozenset(kind for kind in EffectKind if kind.endswith("-unknown"))

Codes = Mapping[str, ToolCode]
"""The code of tools by their names."""


def parting_sentence(right: Tool, rival: AbstractSet[str], picked: str) -> str | None:
    """Return the sentence of a description that names the other tool, else the one with most words that it lacks."""
    sentences = sentences_of(right.description or "")
    merits = [(picked in sentence, len(set(search.strange_words(sentence, rival)))) for sentence in sentences]
    best = max(merits, default=(False, 0))
    return sentences[merits.index(best)] if best[1] else None


def differences(right: Tool, picked: Tool) -> Iterator[str]:
    """Yield what the schemas and hints of two tools show that sets them apart."""
    for tool, other in ((right, picked), (picked, right)):
        if own := [repr(name) for name in properties(tool) if name not in properties(other)]:
            yield f"only {tool.name!r} takes {first_of(own, MAX_NAMED)}"
    for hint in HINTS:
        values = [(tool.annotations or {}).get(hint) for tool in (right, picked)]
        if values[0] is not values[1] and all(isinstance(value, bool | None) for value in values):
            yield f"{hint} is {' and '.join('not given' if value is None else str(value).lower() for value in values)}"


def code_differences(right: Tool, picked: Tool, codes: Codes) -> Iterator[str]:
    """Yield what the code of only one of two tools does, with its line."""
    for tool, other in ((right, picked), (picked, right)):
        for effect in _own_effects(tool, other, codes):
            yield f"only {tool.name!r} {effect.words} ({effect})"


def parting_statements(tool: Tool, other: Tool, codes: Codes) -> list[Statement]:
    """Return sentences for a tool that say what its code does and the other one's does not."""
    return [
        add_sentence(f"Unlike `{other.name}`, it {effect.words}.", Route.ALTERNATIVE, [f"code {effect}"])
        for effect in _own_effects(tool, other, codes)
    ]


def _own_effects(tool: Tool, other: Tool, codes: Codes) -> list[CodeEffect]:
    """Return an effect of each kind and host that the tool's code has and the other's, which was read whole, lacks."""
    code, rival = codes.get(tool.name), codes.get(other.name)
    if code is None or rival is None or rival.handler is None or rival.unresolved:
        return []
    rival_words = {effect.words for effect in rival.own_effects}
    certain = (effect for effect in code.own_effects if not effect.condition and effect.kind not in _UNCERTAIN)
    return list({effect.words: effect for effect in certain if effect.words not in rival_words}.values())
