"""Statements that a definition may newly make, and proposals: a tool with the statements that make it better."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tdqs_mcp.facts.schema.walk import put_at
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.toolset import search
from tdqs_mcp.json_text import TextEdit
from tdqs_mcp.model import Catalog, Tool, read_tool
from tdqs_mcp.results.improvements import Claim, Component, Route

CJK = "\u2e80"
"""The first of the characters whose sentences end in a full stop of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An improvement, made or left out as a whole.

    It is built only where its evidence is there, so nobody checks its words again.
    """

    path: str
    """JSON pointer inside the definition."""

    component: Component
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
        return Claim(path=self.path, text=text, sources=self.sources, component=self.component, route=self.route)


def add_sentence(text: str, route: Route, sources: Sequence[str], *, component: Component | None = None) -> Statement:
    """A sentence for the description's end."""
    return Statement(
        path="/description",
        component=component or COMPONENTS[route],
        route=route,
        sources=tuple(dict.fromkeys(sources)),
        sentence=text,
    )


def set_value(
    path: str, value: object, route: Route, sources: Sequence[str], *, component: Component | None = None
) -> Statement:
    """A new value for what stands at any path but the description's."""
    about, named_sources = component or COMPONENTS[route], tuple(dict.fromkeys(sources))
    return Statement(path=path, component=about, route=route, sources=named_sources, value=value)


COMPONENTS = {
    Route.ALTERNATIVE: Component.GUIDELINES,
    Route.LOOKUP: Component.GUIDELINES,
    Route.FAILURE: Component.LIMITATIONS,
    Route.NAMESAKE: Component.PARAMETERS,
    Route.EXAMPLE: Component.EXAMPLES,
    Route.CUT: Component.LENGTH,
    Route.FIX: Component.PURPOSE,
}
"""What a statement of each route is about; a fact or an answer of the author may be about anything."""


SHOWN = (1, 5)
"""Tools that a search shows: the best one, or a handful to choose from."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tool with the parts that would make its definition better, the least certain last."""

    subject: Subject
    parts: tuple[Statement, ...]
    next: tuple[tuple[Statement, ...], ...] = ()
    """What to try if these parts are not accepted: any one left out, the least certain first; then ever fewer."""

    @property
    def index(self) -> int:
        """The tool's position in its catalog."""
        return self.subject.tool.index

    @cached_property
    def definition(self) -> Mapping[str, Any]:
        """The raw definition with the parts applied."""
        return apply_parts(self.subject.tool, self.parts)

    def reduced(self, accepted: "Proposal") -> "Proposal":
        """The next fewer statements: any one left out, the last first, then ever fewer; all that are kept stay.

        One that fails takes no other with it, so a second run finds nothing that this one has missed.
        """
        own = self.parts
        places = [place for place in range(len(own) - 1, -1, -1) if own[place] not in accepted.parts]
        left = self.next or (
            *(own[:place] + own[place + 1 :] for place in places),
            *(
                tuple(part for at, part in enumerate(own) if at < place or part in accepted.parts)
                for place in places[1:]
            ),
        )
        return self.only(left[0] if left else accepted.parts, left[1:])

    def without(self, name: str, *, accepted: "Proposal") -> "Proposal":
        """Without the last statement that names a tool, or else without the last one; but for those that are kept."""
        own = [
            place for place, part in enumerate(self.parts) if part not in accepted.parts and part.route is not Route.CUT
        ]
        naming = [place for place in own if f"`{name}`" in self.parts[place].sentence]
        last = (naming or own)[-1:]
        return self.only(tuple(part for place, part in enumerate(self.parts) if place not in last))

    def only(self, parts: tuple[Statement, ...], left: tuple[tuple[Statement, ...], ...] = ()) -> "Proposal":
        """Other statements, and what to try after them."""
        return replace(self, parts=parts, next=left)


def keep_found(
    measured: Measured, proposals: Sequence[Proposal], accepted_before: Sequence[Proposal]
) -> list[Proposal]:
    """The proposals without the statements by which a search would no longer show the tool that a request means.

    What goes is tried once more beside what stays, until nothing comes back: a second run finds nothing either. What
    is kept already stays.
    """
    accepted = [*accepted_before]
    while (more := _trimmed(measured, accepted, proposals)) != accepted:
        accepted = more
    return accepted


def _trimmed(measured: Measured, basis: Sequence[Proposal], proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return one round, in which what is kept already stays.

    Where a rewritten sibling overtakes a tool, the sibling loses what it says of that tool, or else its last statement;
    where none does, the tool loses its own last one. What nobody in particular is to blame for is left as it is.
    """
    accepted = {draft.index: draft for draft in basis}
    by_index = {proposal.index: proposal for proposal in proposals}
    tools = [subject.tool for subject in measured.subjects]
    before = _Shown(_rewritten(measured, accepted))
    while overtaken := before.overtaken(_rewritten(measured, by_index)):
        fewer: dict[int, Proposal] = {}
        for place, rivals in overtaken.items():
            changed = [
                tools[rival].index
                for rival in rivals
                if by_index.get(tools[rival].index) != accepted.get(tools[rival].index)
            ]
            for index in changed or [tools[place].index]:
                if index in by_index and index not in fewer:
                    fewer[index] = by_index[index].without(tools[place].name, accepted=accepted[index])
        if all(draft == by_index[index] for index, draft in fewer.items()):
            break
        by_index |= fewer
    return list(by_index.values())


class _Shown:
    """Which tools a search shows: by BM25, among all tools of the server.

    The requests are each tool's own first sentence, so a definition that quotes a sibling may take a request from it,
    and none is won.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._requests = [_request(tool) for tool in tools]
        self._terms: dict[str, list[str]] = {}

    def overtaken(self, after: Sequence[Tool]) -> dict[int, set[int]]:
        """By position of a tool that a search no longer shows, the positions of those that have come before it."""
        if all(old is new for old, new in zip(self._tools, after, strict=True)):
            return {}
        pairs = zip(self._ahead, self._find_ahead(after), strict=True)
        return {
            place: now - before
            for place, (before, now) in enumerate(pairs)
            if any(len(before) < size <= len(now) for size in SHOWN)
        }

    @cached_property
    def _ahead(self) -> list[set[int]]:
        return self._find_ahead(self._tools)

    def _find_ahead(self, tools: Sequence[Tool]) -> list[set[int]]:
        """For each request, the tools that score at least as high as the one that is meant."""
        texts = [search.indexed_text(tool) for tool in tools]
        for text in texts:
            if text not in self._terms:
                self._terms[text] = search.search_terms(text)
        weights = search.bm25_weights([self._terms[text] for text in texts])
        peaks = {term: max(places.values()) for term, places in weights.items()}
        return [search.documents_ahead(weights, peaks, terms, place) for place, terms in enumerate(self._requests)]


def _request(tool: Tool) -> list[str]:
    """The terms of the first sentence, else of the name."""
    first = (tool.description or "").strip().split("\n", 1)[0].split(". ", 1)[0]
    return search.search_terms(first or tool.name)


def _rewritten(measured: Measured, proposals: Mapping[int, Proposal]) -> list[Tool]:
    tools = apply(measured.catalog, {index: proposal.definition for index, proposal in proposals.items()}).tools
    return [tools[subject.tool.index] for subject in measured.subjects]


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
    text = _joined(text, old[position:]).strip()
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
