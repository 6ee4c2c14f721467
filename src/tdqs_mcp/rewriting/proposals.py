"""What could make a definition better: parts that facts and the author's material support, and questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.wording import can_continue_in_english, is_in_other_language
from tdqs_mcp.facts.toolset.names import Label
from tdqs_mcp.model import Catalog, Tool, read_tool
from tdqs_mcp.results.improvements import Claim, Mode
from tdqs_mcp.rewriting import definition_parts
from tdqs_mcp.rewriting.definition_parts import CatalogContext, cut, first_sentence, read_only, title
from tdqs_mcp.rewriting.statements import Statement


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tool with the parts that would make its definition better, the least certain last."""

    subject: Subject
    parts: tuple[Statement, ...]
    next: tuple[tuple[Statement, ...], ...] = ()
    """What to try if these parts are not accepted: any one left out, the least certain first; then ever fewer."""

    claims: tuple[Claim, ...] | None = None
    """Where these very parts were checked already: their statements."""

    @property
    def index(self) -> int:
        """The tool's position in its catalog."""
        return self.subject.tool.index

    @cached_property
    def definition(self) -> Mapping[str, Any]:
        """The raw definition with the parts applied."""
        return apply_parts(self.subject.tool, self.parts)

    def reduced(self) -> "Proposal":
        """The next fewer parts, without a title that would be left alone; none at last.

        A part that fails takes no other with it, so a second run finds nothing that this one has missed.
        """
        own, places = self.parts, range(len(self.parts) - 1, -1, -1)
        without_one = [own[:place] + own[place + 1 :] for place in places]
        left = self.next or (*without_one, *(own[:place] for place in places[1:]))
        parts = left[0] if left else ()
        return self.only(() if all(part.path == "/title" for part in parts) else parts, left[1:])

    def only(self, parts: tuple[Statement, ...], left: tuple[tuple[Statement, ...], ...] = ()) -> "Proposal":
        """Other parts, not yet checked, and what to try after them."""
        return replace(self, parts=parts, next=left, claims=None)


def propose(measured: Measured, *, mode: Mode = Mode.COMPACT) -> list[Proposal]:
    """A proposal for every measured tool, in catalog order; pure, and linear in the size of the catalog."""
    context = CatalogContext.of(measured)
    return [_proposal(subject, context, mode) for subject in measured.subjects]


def apply(catalog: Catalog, definitions: Mapping[int, Mapping[str, Any]]) -> Catalog:
    """The catalog with other definitions at some indices; a tool with its own definition stays the same object."""
    tools = list(catalog.tools)
    for index, definition in definitions.items():
        if definition is not tools[index].raw:
            tools[index] = read_tool(definition, index, is_mcp=tools[index].is_mcp)
    return replace(catalog, tools=tuple(tools))


def _proposal(subject: Subject, context: CatalogContext, mode: Mode) -> Proposal:
    label, near = context.labels[subject.tool.name], context.near(subject)
    guidance = definition_parts.guidance_parts(subject, label, near, context)
    found = _compose(subject, label, context, guidance=guidance, mode=mode)
    return Proposal(subject=subject, parts=found)


def apply_parts(tool: Tool, parts: Sequence[Statement]) -> Mapping[str, Any]:
    """A tool's raw definition with parts applied; what no part names is what it was."""
    raw: Mapping[str, Any] = tool.raw
    for part in parts:
        if part.path != "/description":
            raw = put(raw, split_pointer(part.path), part.value)
    spoken = [part for part in parts if part.path == "/description"]
    return put(raw, ["description"], _description(tool.description or "", spoken)) if spoken else raw


def put(value: Mapping[str, Any], steps: Sequence[str], new: object) -> Mapping[str, Any]:
    """A copy with something else at one place; all else is what it was, in its order."""
    first, *rest = steps
    return {**value, first: put(value[first], rest, new) if rest else new}


def _description(old: str, parts: Sequence[Statement]) -> str:
    splices = sorted((splice for part in parts for splice in part.splices), key=lambda splice: splice.start)
    text, position = "", 0
    for splice in splices:
        if splice.start >= position:
            text = _joined(text, old[position : splice.start]) + splice.text
            position = splice.end
    text = _joined(text, old[position:]).strip()
    said = " ".join(part.sentence for part in parts if part.sentence)
    return _with(text, said) if said else text


def _joined(text: str, rest: str) -> str:
    """What stood before a cut and what stood behind it, with one empty line where there were two."""
    return text + (rest[1:] if text.endswith("\n") and rest.startswith("\n\n") else rest)


def _with(text: str, said: str) -> str:
    """The text and more sentences: in line with running text, below anything that has lines."""
    if not text:
        return said
    if "\n" in text:
        return f"{text}\n\n{said}"
    return f"{text}{'' if text[-1] in '.!?…:;' else '.'} {said}"


def _compose(
    subject: Subject, label: Label, context: CatalogContext, *, guidance: Sequence[Statement], mode: Mode
) -> tuple[Statement, ...]:
    """Every part that facts support, the least certain last: cuts take words away that a judge may have liked.

    Parts with words of their own are English, so a definition in another language gets none of them.
    """
    is_foreign = is_in_other_language(subject) or (subject.signals.is_missing_description and context.is_foreign)
    first = None if is_foreign else first_sentence(subject, label, is_third_person=context.is_third_person)
    has_text = first is not None or not subject.signals.is_missing_description
    is_fit = has_text and can_continue_in_english(subject)
    found = [first, *(guidance if is_fit else ()), read_only(subject), *definition_parts.enumerated(subject)]
    if mode is Mode.FULL and is_fit:
        found += [definition_parts.hinted(subject), definition_parts.returned(subject)]
        found += definition_parts.explained(subject, context)
    less = cut(subject)
    named = title(subject, label) if (any(found) or less) and not is_foreign else None
    return tuple(part for part in (*found, named, less) if part)
