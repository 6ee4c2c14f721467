"""A tool with all its facts, and a catalog of them: what rules, judges and the pipeline read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tdqs_mcp.errors import UnmeasurableError
from tdqs_mcp.facts import hostile, prose, references, relations, sayings, shape, signals
from tdqs_mcp.facts.hostile import Part, Threat
from tdqs_mcp.facts.prose import Prose
from tdqs_mcp.facts.references import Stranger, Vocabulary
from tdqs_mcp.facts.relations import ToolSet
from tdqs_mcp.facts.sayings import Saying
from tdqs_mcp.facts.shape import Shape
from tdqs_mcp.facts.signals import Signals
from tdqs_mcp.model.catalog import Catalog, Tool
from tdqs_mcp.model.results import ShadowCandidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One tool and everything measured of it."""

    tool: Tool
    signals: Signals
    prose: Prose
    shape: Shape
    """The input schema, walked."""

    result_shape: Shape
    """The output schema, walked; an empty one where there is none."""

    sayings: tuple[Saying, ...]
    """What the texts say of each parameter."""

    texts: tuple[tuple[str, str], ...]
    """Every text about input, with its JSON pointer."""

    strangers: tuple[Stranger, ...]
    """Words of the texts that look like names and name no part of the tool."""

    sibling_count: int
    mentions: tuple[str, ...]
    """Siblings that the description names."""

    redirect: str | None
    """The first sentence that sends the agent to a sibling instead."""

    shadow: ShadowCandidate | None
    """The cheaper sibling that may shadow this tool."""

    is_duplicate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmeasured:
    """A tool whose facts cannot be had: it gets findings, never a score."""

    tool: Tool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A catalog with the facts of its tools; without slots, to keep the facts that only some ask for once they did."""

    catalog: Catalog
    subjects: tuple[Subject, ...]
    unmeasured: tuple[Unmeasured, ...]
    shadow_candidates: tuple[ShadowCandidate, ...]
    vocabulary: Vocabulary
    """What a word in a text may stand for."""

    @cached_property
    def threats(self) -> tuple[tuple[Part, Threat], ...]:
        """What the strings of every part try to do to their reader, also of tools that cannot be measured."""
        return hostile.located(self.catalog)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools that have one, in catalog order."""
        return tuple(tool.name for tool in self.catalog.tools if tool.name)

    def tool_set(self) -> ToolSet:
        """The facts between the tools, measured when somebody asks for coherence."""
        return relations.read_set([(subject.tool, subject.prose) for subject in self.subjects])


def measure(catalog: Catalog) -> Measured:
    """All facts of a catalog, in linear time; a tool that cannot be measured stays apart and disturbs no other."""
    measured: list[tuple[Tool, Signals]] = []
    unmeasured = []
    for tool in catalog.tools:
        try:
            measured.append((_callable(tool), signals.measure(tool)))
        except UnmeasurableError as error:
            unmeasured.append(Unmeasured(tool=tool, reason=str(error)))
    shadows = relations.shadow_candidates(measured)
    context = _Context(
        names={tool.name.lower(): tool.name for tool in catalog.tools if tool.name},
        duplicates=relations.duplicate_names(catalog.tools),
        shadows={candidate.index: candidate for candidate in shadows},
        sibling_count=len(catalog.tools) - 1,
    )
    subjects = tuple(_subject(tool, facts, context) for tool, facts in measured)
    shapes = [each for subject in subjects for each in (subject.shape, subject.result_shape)]
    return Measured(
        catalog=catalog,
        subjects=subjects,
        unmeasured=tuple(unmeasured),
        shadow_candidates=shadows,
        vocabulary=references.vocabulary([tool.name for tool in catalog.tools if tool.name], shapes, catalog.server),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    names: Mapping[str, str]
    duplicates: frozenset[str]
    shadows: Mapping[int, ShadowCandidate]
    sibling_count: int


def _callable(tool: Tool) -> Tool:
    if not tool.name:
        raise UnmeasurableError(next(defect.message for defect in tool.defects))
    return tool


def _subject(tool: Tool, facts: Signals, context: _Context) -> Subject:
    text = prose.read(tool, facts)
    mentions = relations.mentioned_siblings(tool, text, context.names)
    walked = shape.read(tool.input_schema, "/inputSchema")
    returned = shape.read(tool.output_schema, "/outputSchema")
    texts = references.texts_of(tool.description, walked)
    return Subject(
        tool=tool,
        signals=facts,
        prose=text,
        shape=walked,
        result_shape=returned,
        sayings=sayings.read(tool.description, walked),
        texts=texts,
        strangers=references.strangers(texts, walked.names | returned.names),
        sibling_count=context.sibling_count,
        mentions=mentions,
        redirect=relations.redirect(text, mentions),
        shadow=context.shadows.get(tool.index),
        is_duplicate=tool.name in context.duplicates,
    )
