"""Statements that a definition may newly make, and proposals: a tool with the statements that make it better."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tdqs_mcp.facts.schema.walk import put_at
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.json_text import TextEdit
from tdqs_mcp.model import Catalog, Tool, read_tool
from tdqs_mcp.results.improvements import Claim, Route

CJK = "\u2e80"
"""The first of the characters whose sentences end in a full stop of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An improvement, made or left out as a whole.

    It is built only where its evidence is there, so nobody checks its words again.
    """

    path: str
    """JSON pointer inside the definition."""

    route: Route
    sources: tuple[str, ...]
    splices: tuple[TextEdit, ...] = ()
    """What changes in the old description."""

    sentence: str = ""
    """Goes to the description's end."""

    value: object = None
    """The whole new value of what stands at any other path."""

    @property
    def has_words(self) -> bool:
        """It makes the definition longer for its reader."""
        return bool(self.sentence) or isinstance(self.value, str)

    def claim(self) -> Claim:
        """The statement as it is reported."""
        spliced = " ".join(splice.text.strip() for splice in self.splices) or self.route
        text = self.sentence or (spliced if self.splices else str(self.value))
        return Claim(path=self.path, text=text, sources=self.sources, route=self.route)


def add_sentence(text: str, route: Route, sources: Sequence[str]) -> Statement:
    """A sentence for the description's end."""
    return Statement(path="/description", route=route, sources=tuple(dict.fromkeys(sources)), sentence=text)


def set_value(path: str, value: object, route: Route, sources: Sequence[str]) -> Statement:
    """A new value for what stands at any path but the description's."""
    return Statement(path=path, route=route, sources=tuple(dict.fromkeys(sources)), value=value)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tool with the parts that would make its definition better, the least certain last."""

    subject: Subject
    parts: tuple[Statement, ...]

    @property
    def index(self) -> int:
        """The tool's position in its catalog."""
        return self.subject.tool.index

    @cached_property
    def definition(self) -> Mapping[str, Any]:
        """The raw definition with the parts applied."""
        return apply_parts(self.subject.tool, self.parts)

    def only(self, parts: tuple[Statement, ...]) -> "Proposal":
        """Return the proposal with other statements."""
        return replace(self, parts=parts)


def apply(catalog: Catalog, definitions: Mapping[int, Mapping[str, Any]]) -> Catalog:
    """Return the catalog with other definitions at some indices; a tool with its own definition stays the same object.

    What could not be read of a tool's code stays unread, so that no rule takes it for missing.
    """
    tools = list(catalog.tools)
    for index, definition in definitions.items():
        if definition is not tools[index].raw:
            tool = read_tool(definition, index, is_mcp=tools[index].is_mcp)
            tools[index] = replace(tool, unread=tools[index].unread)
    return replace(catalog, tools=tuple(tools))


def apply_parts(tool: Tool, parts: Sequence[Statement]) -> Mapping[str, Any]:
    """A tool's raw definition with parts applied; what no part names is what it was."""
    raw: Mapping[str, Any] = tool.raw
    for part in parts:
        if part.path != "/description":
            raw = put_at(raw, part.path, part.value)
    spoken = [part for part in parts if part.path == "/description"]
    return put_at(raw, "/description", _description(tool.description or "", spoken)) if spoken else raw


def _description(old: str, parts: Sequence[Statement]) -> str:
    splices = sorted((splice for part in parts for splice in part.splices), key=lambda splice: splice.start)
    text, position = "", 0
    for splice in splices:
        if splice.start >= position:
            text = _joined(text, old[position : splice.start]) + splice.text
            position = splice.end
    text = _joined(text, old[position:])
    if any(part.route is not Route.FIX for part in parts):  # a fix changes its own words alone
        text = text.strip()
    sentence = " ".join(part.sentence for part in parts if part.sentence)
    return _with(text, sentence) if sentence else text


def _joined(text: str, rest: str) -> str:
    """Return what stood before a cut and what stood behind it, with one empty line where there were two."""
    return text + (rest[1:] if text.endswith("\n") and rest.startswith("\n\n") else rest)


def _with(text: str, sentence: str) -> str:
    """The text and more sentences: in line with running text, before sections and code, else below the last line."""
    if not text:
        return sentence
    if section := _SECTION.search(text):
        return (
            f"{text[: section.start()].rstrip()}\n\n{section['margin']}{sentence}\n\n{text[section.start('margin') :]}"
        )
    if "\n" in text:
        return f"{text}\n\n{sentence}"
    stop = "" if text[-1] in ".!?…:;。！？" else "。" if text[-1] >= CJK else "."  # full width
    return f"{text}{stop} {sentence}"


_SECTION = re.compile(r"\n(?P<margin>[ \t]*)(?:#{1,6} |```|(?:[\w*`-]+ ){0,3}[\w*`-]+:[*`]*[ \t]*\n)")
"""The first line of a section behind the first line: a heading such as `Args:`, or code."""
