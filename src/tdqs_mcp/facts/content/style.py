"""How a description is put, whatever it tells: what is generic, repeated, shouted, generated or foreign in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tdqs_mcp.facts.content.generic import FUNCTION_WORDS, GENERIC
from tdqs_mcp.facts.content.sentences import Text
from tdqs_mcp.facts.subject import Subject

_IDENTIFIER = re.compile(
    r"`([A-Za-z_]\w{1,60})`|\b([a-z]{1,30}_\w{1,30}|[a-z]{1,30}[A-Z]\w{1,30})\b|\b(\w{2,40}) parameter\b"
)
_NO_IDENTIFIERS = frozenset("the this each every optional required which input single".split())
_SHOUT = re.compile(r"\b(?:MUST|ALWAYS|NEVER|IMPORTANT|CRITICAL|REQUIRED|MANDATORY|WARNING|STOP|ONLY)\b")
_GENERATED = re.compile(r"^(?:GET|POST|PUT|DELETE|PATCH) ?/|/api/|\boperations?\.?$|\bAPI tool\b|\bcommand\.?$")
_AS_TOOL = re.compile(r"\W{0,8}(?:(?:a|an|the|this)\s+)?(?:[^\W_]{1,30}\s+){0,3}tool\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """Counts of words and marks in all sentences, and how the first begins that tells something."""

    lines: int
    name_told: int
    """Percent of the name's words that stand in the text; where few do, it may be about something else."""

    generic: int
    """Different words that fit any tool."""

    repeated: int
    """Words that the text has said before."""

    addressed: int
    """Second persons: you, your."""

    shouted: int
    """Orders in capitals."""

    unknown: int
    """Identifiers in the text that are neither a property nor a tool of the server."""

    is_generated: bool
    """It opens like an interface, not a sentence: an HTTP path, "the X operation", "API tool for"."""

    opens_with_tool: bool
    """It opens with what every definition is: "This tool …", "A tool that …"."""


def style(text: Text, subject: Subject) -> Style:
    """How it is put."""
    every = [word for each in text.everything for word in each.words]
    first = text.telling[0].text if text.telling else ""
    return Style(
        lines=(subject.tool.description or "").strip().count("\n"),
        name_told=100 * len(text.own & text.told) // max(1, len(text.own)),
        generic=len((text.said - FUNCTION_WORDS) & GENERIC),
        repeated=len(every) - len(set(every)),
        addressed=sum(word in ("you", "your") for word in every),
        shouted=len(_SHOUT.findall(" ".join(subject.prose.sentences))),
        unknown=len(_identifiers(subject.prose.sentences) - text.properties - subject.names),
        is_generated=_GENERATED.search(first) is not None,
        opens_with_tool=_AS_TOOL.match(first) is not None,
    )


def _identifiers(sentences: Sequence[str]) -> set[str]:
    found = {
        word.lower() for sentence in sentences for groups in _IDENTIFIER.findall(sentence) for word in groups if word
    }
    return found - _NO_IDENTIFIERS
