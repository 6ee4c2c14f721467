"""The parts of a better definition, and what those of one tool need to know of all the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.facts import statements
from tdqs_mcp.facts.catalog import names, parameter_meanings
from tdqs_mcp.facts.catalog.names import Label, NameNeighbors
from tdqs_mcp.facts.catalog.parameter_meanings import Agreed
from tdqs_mcp.facts.catalog.value_sources import ValueSource, ValueSources, unstated_sources
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.languages import LEMMAS

MAX_SIBLINGS = 2
"""Siblings that one description points to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """New words for a stretch of the old description."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One improvement that stands or falls as a whole."""

    path: str
    sources: tuple[str, ...]
    splices: tuple[Splice, ...] = ()
    sentence: str = ""
    """Goes to the description's end."""

    value: object = None
    """The whole new value of what stands at any other path."""

    is_pointer: bool = False
    """It names siblings: beside one of these, no later run adds another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the parts of one tool need to know of all the others."""

    subjects: Mapping[str, Subject]
    """By name, without those that others must not point to: a name that two tools carry points nowhere, and a
    definition that tries to steer its reader gets no readers from here."""

    labels: Mapping[str, Label]
    neighbours: NameNeighbors
    origins: Mapping[str, Sequence[ValueSource]]
    """By tool: which siblings give the values of its parameters, but for what its own texts say."""

    takers: Mapping[str, Sequence[tuple[str, str]]]
    """By tool: the parameters whose values it gives, each with the tool that takes it."""

    agreed: Agreed
    """What the siblings say of parameters with one voice."""

    is_third_person: bool
    """Most first sentences say "Lists", not "List"."""

    is_foreign: bool
    """Most descriptions are in another language than English."""

    @classmethod
    def of(cls, measured: Measured) -> "Scene":
        """The scene of a catalog, read once for all its tools."""
        openings = {each.tool.name: each.prose.verb for each in measured.subjects if each.prose.opens_with_verb}
        labels = names.read_names((subject.tool.name for subject in measured.subjects), openings)
        unique = {subject.tool.name: subject for subject in measured.subjects if subject.is_quotable}
        foreign = sum(map(statements.is_foreign, measured.subjects))
        described = sum(not subject.signals.is_missing_description for subject in measured.subjects)
        plain = [subject for subject in measured.subjects if not statements.is_foreign(subject)]
        proses = [subject.prose for subject in plain if subject.prose.opens_with_verb]
        leads = [next(word for word in prose.words if LEMMAS.get(word) == prose.verb) for prose in proses]
        known = ValueSources(unique.values(), labels)
        origins = {name: known.of(subject) for name, subject in unique.items()}
        takers: dict[str, list[tuple[str, str]]] = {}
        for name, found in origins.items():
            for origin in found:
                for tool in origin.tools:
                    takers.setdefault(tool, []).append((origin.parameter, name))
        return cls(
            subjects=unique,
            labels=labels,
            neighbours=NameNeighbors({name: labels[name] for name in unique}),
            origins={name: unstated_sources(unique[name], found) for name, found in origins.items()},
            takers=takers,
            agreed=parameter_meanings.agreed_descriptions(unique.values()),
            is_third_person=2 * sum(word.endswith("s") and LEMMAS.get(word) != word for word in leads) > len(leads),
            is_foreign=2 * foreign > described,
        )

    def knows(self, subject: Subject) -> bool:
        """The tool may be pointed to, and so may point."""
        return self.subjects.get(subject.tool.name) is subject

    def near(self, subject: Subject) -> tuple[str, ...]:
        """The siblings that an agent could take for this tool."""
        return self.neighbours.nearest(subject.tool.name, MAX_SIBLINGS) if self.knows(subject) else ()

    def twins(self, subject: Subject) -> tuple[str, ...]:
        """The siblings that do something else with just the same resource."""
        return self.neighbours.twins(subject.tool.name) if self.knows(subject) else ()


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Backticked names: "`a`, `b` and `c`"."""
    marked = [f"`{name}`" for name in names]
    return f" {joint} ".join(part for part in (", ".join(marked[:-1]), marked[-1]) if part)
