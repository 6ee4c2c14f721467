"""New sentences that stand in several tools with only the nouns swapped: they are worth something once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.walk import put_at, value_at
from tdqs_mcp.facts.spelling import first_of, name_parts, words_of
from tdqs_mcp.facts.subject import fewest_sharing
from tdqs_mcp.facts.text.prose import plain_text, sentences_of
from tdqs_mcp.facts.text.words import content_stems, identifiers_of, stem
from tdqs_mcp.facts.toolset.names import fold
from tdqs_mcp.model import Catalog, Tool, read_tool

DESCRIPTION = "/description"

MAX_NAMED = 5
"""Tools that one sentence names."""

_Shape = tuple[str, ...]
"""The words of a sentence without those that only name the tool or the parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A new sentence that says of one more tool, or parameter, what it says of another."""

    index: int
    """Of its tool."""

    tool: str
    path: str
    sentence: str
    first: str
    """The tool that has it first."""


def find_repetitions(old: Catalog, new: Catalog) -> list[Repetition]:
    """Return the sentences that a new version of a catalog has again; they count for their first tool alone.

    A sentence that names another tool of the catalog is about that one, and stays; so do words for parameters of one
    name, and the sentence that opens a description: `Gets one card of a board by its id` beside `Gets one frame of a
    board by its id` says what each tool is for. What half of the tools say the judge itself counts nowhere.
    """
    most = fewest_sharing(len(new.tools)) - 1
    groups = [group for group in _repeated(old, new) if 1 + len(group) <= most]
    return sorted(chain.from_iterable(groups), key=lambda repetition: repetition.index)


def describe_common(old: Catalog, new: Catalog) -> str:
    """Return a sentence on new words that so many tools share that they count nowhere; empty where there are none."""
    groups = [group for group in _repeated(old, new) if 1 + len(group) >= fewest_sharing(len(new.tools))]
    if not groups:
        return ""
    count, example = 1 + max(map(len, groups)), groups[0][0]
    words = f"{count} tools say the same with other nouns, which counts for none of them"
    return f"{words}: {example.sentence!r} of `{example.tool}`"


def _repeated(old: Catalog, new: Catalog) -> list[list[Repetition]]:
    """Return the new sentences that stand in several tools, those of one shape together, without the first of them."""
    if old is new:
        return []
    before = {tool.name: tool for tool in old.tools}
    names = {fold(tool.name) for tool in new.tools}
    first: dict[_Shape, tuple[str, str]] = {}
    repetitions: dict[_Shape, list[Repetition]] = {}
    for tool in new.tools:
        for path, shape, sentence in _added(before[tool.name], tool, names) if tool.name in before else ():
            subject = tool.name if path == DESCRIPTION else path
            earlier, name = first.setdefault(shape, (subject, tool.name))
            if earlier != subject:
                repetition = Repetition(index=tool.index, tool=tool.name, path=path, sentence=sentence, first=name)
                repetitions.setdefault(shape, []).append(repetition)
    return list(repetitions.values())


def credited(catalog: Catalog, repetitions: Sequence[Repetition]) -> Catalog:
    """Return the catalog as it is scored: of a repeated new sentence, only its first tool has it."""
    by_tool: dict[int, list[tuple[str, str]]] = {}
    for repetition in repetitions:
        by_tool.setdefault(repetition.index, []).append((repetition.path, repetition.sentence))
    tools = (_without(tool, by_tool[tool.index]) if tool.index in by_tool else tool for tool in catalog.tools)
    return replace(catalog, tools=tuple(tools))


def describe(repetitions: Sequence[Repetition], falls: Mapping[str, int]) -> str:
    """Return a sentence on what counts once, with an example and by how many tenths which tools score lower."""
    example, more = repetitions[0], len(repetitions) - 1
    lower = first_of([f"`{tool}` by {fall / 10}" for tool, fall in falls.items()], MAX_NAMED)
    rest = f", and {more} more like it" if more else ""
    return (
        f"what several tools say counts once, which lowers {lower}: {example.sentence!r} of `{example.tool}` says what "
        f"`{example.first}` says{rest}"
    )


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
