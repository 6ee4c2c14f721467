"""New sentences that stand in several tools with only the nouns swapped: they are worth something once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.walk import put_at, value_at
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.prose import plain_text, sentences_of
from tdqs_mcp.facts.text.words import content_stems, identifiers_of, stem
from tdqs_mcp.facts.toolset.names import fold
from tdqs_mcp.model import Catalog, Tool, read_tool

DESCRIPTION = "/description"

MAX_SAME = 1
"""Tools, or parameters of different names, that may get one sentence before it counts as said once for all."""


_Shape = tuple[str, ...]
"""The words of a sentence without those that only name the tool or the parameter."""


def credited(old: Catalog, new: Catalog) -> Catalog:
    """Return the new catalog as it is scored: of a repeated new sentence, only its first tool has it.

    A sentence that names another tool of the catalog is about that one, and stays; so do words for parameters of one
    name, and the sentence that opens a description: `Gets one card of a board by its id` beside `Gets one frame of a
    board by its id` says what each tool is for. Where nothing repeats, the catalog comes back as it is.
    """
    before = {tool.name: tool for tool in old.tools}
    names = {fold(tool.name) for tool in new.tools}
    added = [list(_added(before[tool.name], tool, names)) if tool.name in before else [] for tool in new.tools]
    subjects: dict[_Shape, dict[str, None]] = {}
    for tool, sentences in zip(new.tools, added, strict=True):
        for path, shape, _ in sentences:
            subjects.setdefault(shape, {})[tool.name if path == DESCRIPTION else path] = None
    first = {shape: next(iter(about)) for shape, about in subjects.items() if len(about) > MAX_SAME}
    if not first:
        return new
    tools = []
    for tool, sentences in zip(new.tools, added, strict=True):
        repeated = [
            (path, text)
            for path, shape, text in sentences
            if first.get(shape) not in (None, tool.name if path == DESCRIPTION else path)
        ]
        tools.append(_without(tool, repeated) if repeated else tool)
    return replace(new, tools=tuple(tools))


def _added(before: Tool, tool: Tool, names: set[str]) -> Iterator[tuple[str, _Shape, str]]:
    """Yield the path and the shape of each new sentence, with the sentence."""
    opening = [word for text in sentences_of(before.description or "")[:1] for word in words_of(text)]
    spoken = [tool.name, *arguments.properties(tool), *opening]
    own = {stem(part.lower()) for name in spoken for part in name_parts(name)} | content_stems(spoken)
    for path in (
        DESCRIPTION,
        *(f"{arguments.property_pointer(name)}/description" for name in arguments.properties(tool)),
    ):
        old, new = (value_at(version.raw, path) for version in (before, tool))
        if not isinstance(new, str) or new == old:
            continue
        present = set(map(plain_text, sentences_of(old))) if isinstance(old, str) else set()
        for sentence in sentences_of(new)[path == DESCRIPTION :]:
            siblings = names & set(map(fold, identifiers_of(sentence))) - {fold(tool.name)}
            parts = (stem(part.lower()) for word in words_of(sentence) for part in name_parts(word))
            shape = tuple(part for part in parts if part not in own)
            if shape and plain_text(sentence) not in present and not siblings:
                yield path, shape, sentence


def _without(tool: Tool, sentences: Sequence[tuple[str, str]]) -> Tool:
    raw = tool.raw
    for path, sentence in sentences:
        raw = put_at(raw, path, " ".join(str(value_at(raw, path)).replace(sentence, "", 1).split(" ")).strip())
    return read_tool(raw, tool.index, is_mcp=tool.is_mcp)
