"""Statements that a definition may newly make: one for each route from evidence, and what the whole catalog says."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.schema import arguments, signals
from tdqs_mcp.facts.spelling import joined, name_parts
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.statements import closed_value_lists
from tdqs_mcp.facts.text.words import Cue, Effect, plurals_in
from tdqs_mcp.facts.toolset import names
from tdqs_mcp.facts.toolset.names import NameNeighbors, NameWords
from tdqs_mcp.json_text import TextEdit
from tdqs_mcp.results.improvements import Mode, Route
from tdqs_mcp.rewriting.original_text import (
    MAX_ALTERNATIVES,
    MAX_RIVALS,
    can_continue_in_english,
    copied_spans,
    find_alternatives,
    repeated_spans,
    says_read_only,
)
from tdqs_mcp.rewriting.proposed_statements import Statement, add_sentence, set_value
from tdqs_mcp.rewriting.value_sources import Namesakes, ValueSource, ValueSources, documented_parameters, infer_meanings

MAX_LOOKUPS = 3
"""Parameters of which one description says where their values come from."""

MAX_TAKERS = 2
"""Tools that one description names as the use of its answer; more names would make a search find it for theirs."""

MAX_FIELDS = 6
"""Fields of an answer that one sentence names; the others are counted."""

MAX_ALIKE = 2
"""Tools that may return the same fields for a sentence to name these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogContext:
    """Facts that the statements about one tool need to know about the others."""

    subjects: Mapping[str, Subject]
    """By name, without those that others must not point to: a name that two tools carry points nowhere, and a
    definition that tries to steer its reader gets no readers from here."""

    labels: Mapping[str, NameWords]
    neighbours: NameNeighbors
    origins: Mapping[str, Sequence[ValueSource]]
    """By tool: which siblings give the values of its parameters."""

    takers: Mapping[str, Sequence[tuple[str, str]]]
    """By tool: the parameters whose values it gives, each with the tool that takes it."""

    answers: Mapping[tuple[str, tuple[str, ...]], int]
    """How many tools return these fields: what many return tells of none what comes back."""

    namesakes: Namesakes
    plurals: frozenset[str]
    """Nouns of which the catalog's texts have the plural."""

    @classmethod
    def of(cls, measured: Measured) -> "CatalogContext":
        """The context of a catalog, read once for all its tools."""
        openings = {
            subject.tool.name: subject.prose.verb for subject in measured.subjects if subject.prose.opens_with_verb
        }
        labels = names.read_names((subject.tool.name for subject in measured.subjects), openings)
        usable = (subject for subject in measured.subjects if subject.is_quotable and not _is_retired(subject))
        unique = {subject.tool.name: subject for subject in usable}
        sources = ValueSources(unique.values(), labels)
        origins = {name: sources.of(subject) for name, subject in unique.items()}
        takers: dict[str, list[tuple[str, str]]] = {}
        for name, tool_origins in origins.items():
            for origin in tool_origins:
                for tool in () if origin.is_made else origin.tools:
                    takers.setdefault(tool, []).append((origin.parameter, name))
        words = (
            word for subject in measured.subjects for word in (*name_parts(subject.tool.name), *subject.prose.words)
        )
        return cls(
            subjects=unique,
            labels=labels,
            neighbours=NameNeighbors({name: labels[name] for name in unique}),
            origins=origins,
            takers=takers,
            answers=Counter(arguments.result_fields(subject.tool) for subject in measured.subjects),
            namesakes=documented_parameters(subject.tool for subject in unique.values()),
            plurals=plurals_in(words),
        )

    def knows(self, subject: Subject) -> bool:
        """Return whether other definitions may point to this tool, and it to others."""
        return self.subjects.get(subject.tool.name) is subject

    def near(self, subject: Subject, count: int) -> tuple[str, ...]:
        """The siblings of similar names, the nearest first."""
        return self.neighbours.nearest(subject.tool.name, count) if self.knows(subject) else ()


def _is_retired(subject: Subject) -> bool:
    """Its first sentence says that it is not to be used any more."""
    first = subject.prose.spoken[0] if subject.prose.spoken else ()
    return not words_from("rewriting", "retired").isdisjoint(first)


_Candidates = Iterator[tuple[Statement, bool]]
"""Statements that hold, each with whether the definition makes it already."""


def tokens_added(subject: Subject, definition: Mapping[str, Any]) -> int:
    """Tokens that a definition has more than the tool's own."""
    return signals.definition_tokens(definition) - signals.definition_tokens(subject.tool.raw)


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Backticked names: "`a`, `b` and `c`"."""
    return joined([f"`{name}`" for name in names], joint)


def find_statements(subject: Subject, context: CatalogContext, mode: Mode, *, growth: int) -> tuple[Statement, ...]:
    """Return what the evidence gives and the definition does not say, the most useful first, within a token budget.

    What it says already takes its part of the budget, so a second run finds no more than the first.
    """
    statements: list[Statement] = []
    for statement, is_told in _candidates(subject, context, mode):
        weight = (
            0 if statement.splices else signals.estimate_tokens(canonical_json(statement.sentence or statement.value))
        )
        if weight <= growth:
            growth -= weight
            statements += [] if is_told else [statement]
    return tuple(statements)


def _candidates(subject: Subject, context: CatalogContext, mode: Mode) -> _Candidates:
    """Sentences are English, so a definition in another language gets none."""
    is_silent = subject.signals.is_missing_description
    is_fit = can_continue_in_english(subject) and not is_silent
    if is_fit:
        yield from _guidance(subject, context)
    if says_read_only(subject):
        yield from _read_only(subject)
    meanings = infer_meanings(subject.tool, context.namesakes)
    for meaning in (
        meanings if mode is Mode.FULL and is_fit else (candidate for candidate in meanings if candidate.is_borrowed)
    ):
        path = f"{arguments.property_pointer(meaning.parameter)}/description"
        route = Route.NAMESAKE if meaning.is_borrowed else Route.UNIT
        yield set_value(path, meaning.text, route, meaning.sources), meaning.is_told
    if mode is Mode.FULL and is_fit:
        yield from _returned(subject, context)
    for name, values, source in closed_value_lists(subject.tool) if mode is Mode.FULL else ():
        yield set_value(f"{arguments.property_pointer(name)}/enum", list(values), Route.VALUES, [source]), False
    if less := _cut(subject):
        yield less, False


def _guidance(subject: Subject, context: CatalogContext) -> _Candidates:
    """Yield what comes first, what it is for, and what else to use."""
    origins = context.origins.get(subject.tool.name, ())[:MAX_LOOKUPS]
    named = {tool for origin in origins for tool in origin.tools}
    if origins:
        yield _lookup(origins, _known_by(subject, origins, context)), _is_named(subject, named)
    takers = context.takers.get(subject.tool.name, ())
    rivals = [context.subjects[name] for name in context.near(subject, MAX_RIVALS) if name not in named]
    parameters = {name: parameter for parameter, name in takers if not parameter.endswith("s")}
    alternatives = dict(
        islice(find_alternatives(subject, rivals, context.labels, context.plurals, parameters), MAX_ALTERNATIVES)
    )
    if takers and alternatives.keys().isdisjoint(parameters):
        use = _use(takers)
        yield use, _is_named(subject, {name for _, name in takers} | {use.sentence})
    for name, statement in alternatives.items():
        yield statement, _is_named(subject, {name})


def _is_named(subject: Subject, tools: set[str]) -> bool:
    """Return whether the tool's texts name one of these tools."""
    texts = [subject.tool.description or "", *(parameter.description for parameter in subject.signals.parameters)]
    own = " ".join(texts)
    return any(tool in subject.mentions or (not tool.isalpha() and tool in own) for tool in tools)


def _known_by(subject: Subject, origins: Sequence[ValueSource], context: CatalogContext) -> ValueSource | None:
    """Return what tells which thing a reading tool reads, where a sibling lists just these things."""
    own = context.labels[subject.tool.name]
    required = {parameter.name for parameter in subject.signals.parameters if parameter.is_required}
    things = {origin.parameter: context.labels[origin.tools[0]].thing for origin in origins}
    if own.effect is not Effect.READ or own.verb in ("list", "search"):
        return None
    return next(
        (
            origin
            for origin in origins
            if origin.parameter in required and own.thing in plurals_in([things[origin.parameter]])
        ),
        None,
    )


def _lookup(origins: Sequence[ValueSource], lookup_source: ValueSource | None) -> Statement:
    """Where the values of identifying parameters come from: "Find `board_id` with `list_boards`."."""
    names_by_tools: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for origin in origins:
        if origin is not lookup_source:
            names_by_tools.setdefault((origin.is_made, origin.tools), []).append(origin.parameter)
    lookups = [
        f"{listed(names)} with {listed(tools, 'or')}"
        for (is_made, tools), names in names_by_tools.items()
        if not is_made
    ]
    results = [
        f"{listed(names)} from {listed(tools, 'or')}" for (is_made, tools), names in names_by_tools.items() if is_made
    ]
    sentences = [f"{verb} {joined(phrases)}." for verb, phrases in (("Find", lookups), ("Get", results)) if phrases]
    if lookup_source:
        way = listed(lookup_source.tools, "or")
        sentences = [f"Use it when the `{lookup_source.parameter}` is known; otherwise find it with {way}.", *sentences]
    return add_sentence(" ".join(sentences), Route.LOOKUP, [source for origin in origins for source in origin.sources])


def _use(takers: Sequence[tuple[str, str]]) -> Statement:
    """Say what a listing's answer is for: the parameter that most siblings take from it; a few of them by name."""
    by_parameter: dict[str, list[str]] = {}
    for parameter, name in takers:
        by_parameter.setdefault(parameter, []).append(name)
    parameter, tools = max(by_parameter.items(), key=lambda use: len(use[1]))
    is_few = len(tools) <= MAX_TAKERS
    verb = "takes" if len(tools) == 1 else "take"
    subject_words = f"{listed(tools)} {verb}" if is_few else "other tools take"
    sources = ["name", *(f"tool {name}: its parameter {parameter}" for name in tools[:MAX_TAKERS])]
    return add_sentence(f"Use it to find the `{parameter}` that {subject_words}.", Route.LOOKUP, sources)


def _read_only(subject: Subject) -> _Candidates:
    """The only hint that text supports: the author's own plain statement, where there is no hint."""
    annotations = subject.tool.raw.get("annotations")
    if subject.signals.has_hints or not (annotations is None or isinstance(annotations, Mapping)):
        return
    value = {**(annotations or {}), "readOnlyHint": True}
    source = "description: it says that the tool is read-only"
    yield set_value("/annotations", value, Route.HINT, [source]), False


def _returned(subject: Subject, context: CatalogContext) -> _Candidates:
    """The fields of the result, if the text does not mention them; clients do not show output schemas to the model."""
    name, fields = arguments.result_fields(subject.tool)
    if not fields or context.answers[name, fields] > MAX_ALIKE:
        return
    first_fields = fields[:MAX_FIELDS] if len(fields) > MAX_FIELDS + 1 else fields
    more = len(fields) - len(first_fields)
    listing = f"{', '.join(f'`{field}`' for field in first_fields)} and {more} more fields" if more else listed(fields)
    sentence = f"Returns {name} with {listing}." if name else f"Returns {listing}."
    yield add_sentence(sentence, Route.RETURNS, ["/outputSchema/properties"]), Cue.RETURN in subject.prose.cues


def _cut(subject: Subject) -> Statement | None:
    """Cuts what is said twice, or word for word in the schema."""
    spans = [(*span, "description: said twice") for span in repeated_spans(subject)]
    spans += [(*span, "/inputSchema/properties: said there") for span in copied_spans(subject)]
    if not spans:
        return None
    text, splices = subject.tool.description or "", []
    for start, end, _ in sorted(spans):
        before = text[:start].rstrip(" \t")
        is_line = before.endswith("\n") and text[end : end + 1] in ("", "\n")  # a whole line goes with its line break
        splices.append(TextEdit(start=len(before) - is_line, end=end, text=""))
    return replace(add_sentence("", Route.CUT, [source for _, _, source in spans]), splices=tuple(splices))
