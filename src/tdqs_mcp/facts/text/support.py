"""What a sentence can rest on: every statement of a definition, its siblings and its author, with where it stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.walk import Node, split_pointer
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import cues_of, sentences_of
from tdqs_mcp.facts.text.statements import NO_POLARITY, Bound, bound_keywords, find_bounds, is_negation, read_polarity
from tdqs_mcp.facts.text.vocabulary import MAX_EXPLANATION, Cue, PatternTable, read_table, words_from
from tdqs_mcp.facts.text.words import identifiers_of, name_parts, numbers_of, parts_of, stem, words_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.facts.toolset.parameter_meanings import Namesakes, documented_parameters, infer_meanings
from tdqs_mcp.model import NOTHING, Material

_PATTERNS = PatternTable("support")
_table = partial(read_table, "support")

MAX_DOCS = 2_000
"""Sentences of documentation that are read."""

MAX_VALUES = 200
"""Allowed values, or sentences of an answer, that are read."""

MAX_WORDS = 6
"""Words of a text that is shown."""

MAX_DIGITS = 9
"""Digits of a value: a card, an account and most telephones have more."""

MAX_NESTING = 8
"""Levels of a value that are looked into; a deeper one is not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that somebody has said, and where."""

    source: str
    words: frozenset[str]
    """Stems."""

    numbers: frozenset[str]
    cues: frozenset[Cue]
    text: str
    """In lower case with single spaces."""

    denied: frozenset[str]
    """Stems under a negation."""

    affirmed: frozenset[str]
    """All other stems, and those that stand under a negation and without one."""

    bounds: frozenset[tuple[Bound, str]] = frozenset()
    """The values that it calls a bound or a default."""

    is_contract: bool = False
    """A structured field of the input schema that a client shows anyway: saying it again says nothing."""

    is_general: bool = False
    """Said of nothing by name: it may lend words, and tells no effect, limit or negation of a tool."""

    @property
    def is_schema(self) -> bool:
        """It stands in the input schema."""
        return self.source.startswith("/inputSchema/")

    def is_of(self, parameter: str) -> bool:
        """It speaks of a parameter, given in lower case: at its place in the schema, or by its name."""
        if self.is_schema:
            return parameter in map(str.lower, split_pointer(self.source))
        return stem(parameter) in self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogStatements:
    """What the tools of a catalog hold in common, read once for all of them."""

    lent: Mapping[str, tuple[Statement, ...]]
    """What each tool may lend to another's text, by its lower-case name."""

    agreed: Namesakes
    """What they say of parameters with one voice."""

    docs: tuple[Statement, ...]
    """Each sentence of the documentation."""


@dataclass(frozen=True, kw_only=True)
class ToolStatements:
    """All statements that may speak of one tool; its siblings' count in sentences that name them."""

    tool: str
    own: tuple[Statement, ...]
    meant: Mapping[str, tuple[Statement, ...]]
    """What a format, a unit, a partner or siblings prove that a parameter means, by the pointer of its description."""

    lent: Mapping[str, tuple[Statement, ...]]
    fields: tuple[str, ...]
    """The fields of the answer, in lower case."""

    @cached_property
    def plain(self) -> tuple[Statement, ...]:
        """Those that are about this very tool: they alone tell an effect, a limit or a negation."""
        return tuple(each for each in self.own if not each.is_general)

    @cached_property
    def words(self) -> frozenset[str]:
        """All stems that somebody has said of the tool."""
        return frozenset().union(*(each.words for each in self.own))

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """The stems that somebody has said without denying them."""
        return frozenset().union(*(each.affirmed for each in self.own))

    @cached_property
    def denied(self) -> frozenset[str]:
        """The stems that somebody has denied of the tool."""
        return frozenset().union(*(each.denied for each in self.plain))

    @cached_property
    def values(self) -> frozenset[str]:
        """The words that the schema gives as values."""
        keywords = tuple(f"/{keyword}" for keyword in ("enum", "const", "default"))
        told = (each.text for each in self.own if each.is_schema and each.source.endswith(keywords))
        return frozenset(word for text in told for word in words_of(text))

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters, at any depth, in lower case."""
        steps = (split_pointer(each.source)[-2:] for each in self.own if each.is_schema)
        return frozenset(name.lower() for above, name in steps if above == "properties")

    @cached_property
    def bounded(self) -> frozenset[str]:
        """Those of which the schema gives a bound or a default."""
        steps = (split_pointer(each.source)[-3:] for each in self.own if each.is_schema and each.bounds)
        return frozenset(name.lower() for above, name, _ in steps if above == "properties")

    def named(self, sentence: str) -> dict[str, tuple[Statement, ...]]:
        """What the siblings that a sentence names have lent; a plain word names one only in backticks."""
        marked = identifiers_of(sentence)
        names = dict.fromkeys([*words_of(sentence), *sorted(marked)])
        known = [name for name in names if name in self.lent and name != self.tool.lower()]
        return {name: self.lent[name] for name in known if name in marked or not name.isalpha()}


def read_catalog_statements(subjects: Sequence[Subject], docs: str = "") -> CatalogStatements:
    """Name, parameters and a harmless first sentence of every tool; a name that two tools carry lends nothing."""
    return CatalogStatements(
        lent={subject.tool.name.lower(): tuple(_lent(subject)) for subject in subjects if not subject.is_duplicate},
        agreed=documented_parameters(each.tool for each in subjects if each.is_quotable),
        docs=tuple(statement("docs", sentence, is_general=True) for sentence in sentences_of(docs)[:MAX_DOCS]),
    )


def read_tool_statements(subject: Subject, shared: CatalogStatements, material: Material = NOTHING) -> ToolStatements:
    """The statements behind one tool, in the order in which a claim names them."""
    name = subject.tool.name
    docs = (replace(each, is_general=not _names(each, name)) for each in shared.docs)
    own = (*_own(subject), *_given(material.of(name), subject), *docs)
    meant = {
        f"{arguments.property_pointer(each.parameter)}/description": tuple(
            statement(source, each.text) for source in each.sources
        )
        for each in infer_meanings(subject.tool, shared.agreed)
    }
    fields = tuple(map(str.lower, arguments.result_fields(subject.tool)[1]))
    return ToolStatements(tool=subject.tool.name, own=own, meant=meant, lent=shared.lent, fields=fields)


def statement(
    source: str, text: str, *, more: str = "", is_contract: bool = False, is_general: bool = False
) -> Statement:
    """A text as a statement; `more` holds words that it implies."""
    words = words_of(f"{text} {more}")
    stems = frozenset(stem(each) for word in words for each in (word, *parts_of(word), *name_parts(word)))
    is_turned = any(map(is_negation, words))
    said = read_polarity(f"{text}; {more}") if is_turned else NO_POLARITY
    return Statement(
        source=source,
        words=stems,
        numbers=numbers_of(text),
        cues=cues_of(words),
        text=" ".join(text.lower().split()),
        denied=said.denied,
        affirmed=stems - (said.denied - said.affirmed),
        bounds=frozenset((each.bound, each.value) for each in find_bounds(text)),
        is_contract=is_contract,
        is_general=is_general,
    )


def _own(subject: Subject) -> Iterator[Statement]:
    tool = subject.tool
    yield statement("name", " ".join([tool.name, *name_parts(tool.name), tool.title or ""]))
    for sentence in subject.prose.sentences:
        yield statement("description", sentence)
    for node in subject.input_shape.nodes:
        yield from _schema(node)
    for node in subject.output_shape.nodes:
        if node.name is not None or node.schema.get("description"):
            yield statement(
                node.path, f"{node.name or ''} {_text(node.schema.get('description'))}", more=_implied(node)
            )
    annotations = tool.annotations or {}
    for name, value in annotations.items():
        for hint, state, said in _table()["hints"]:
            if hint == name and state is value:
                yield statement(f"/annotations/{name}", said)


def _schema(node: Node) -> Iterator[Statement]:
    """The property itself, each of its constraints, and its description."""
    schema, name = node.schema, node.name or ""
    words = " ".join([name, *name_parts(name)])
    if name:
        need = "required must" if node.is_required else "optional"
        yield statement(node.path, words, more=f"{need} {_implied(node)}", is_contract=True)
        if not words_from("support", "paging").isdisjoint(name_parts(name)):
            yield statement(node.path, "", more=f"{words} {_table()['words']['pages']}")
    for keyword in _table()["keywords"]:
        if keyword in schema:
            yield _bound(node, keyword, words)
    for keyword in ("oneOf", "anyOf", "dependentRequired"):
        if keyword in schema and not name:
            listed = " ".join(_leaves(schema[keyword]))
            yield statement(f"{node.path}/{keyword}", listed, more="exactly one at least of or also with together must")
    for sentence in sentences_of(_text(schema.get("description"))[:MAX_EXPLANATION]):
        yield statement(f"{node.path}/description", sentence, more=words, is_contract=True)


def _bound(node: Node, keyword: str, words: str) -> Statement:
    value = node.schema[keyword]
    told = " ".join(_leaves(value))
    more = f"{words} {_table()['keywords'][keyword]} {_table()['formats'].get(told, '') if keyword == 'format' else ''}"
    is_described = bool(_text(node.schema.get("description")).strip())
    said = statement(f"{node.path}/{keyword}", told, more=more, is_contract=is_described)
    values = (told.lower(), *words_of(told)) if keyword in bound_keywords() else ()
    return replace(said, bounds=frozenset((bound_keywords()[keyword], each) for each in values))


def _implied(node: Node) -> str:
    kind = node.schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return " ".join(_table()["types"].get(str(each), "") for each in kinds)


def _leaves(value: object) -> list[str]:
    """The texts and numbers inside a JSON value, breadth first."""
    level: list[object] = [value]
    found: list[str] = []
    while level and len(found) < MAX_VALUES:
        below: list[object] = []
        for each in level:
            if isinstance(each, Mapping):
                below += [child for pair in each.items() for child in pair]
            elif isinstance(each, list):
                below += each
            elif each is not None:
                found.append(str(each).lower() if isinstance(each, bool) else str(each))
        level = below
    return found[:MAX_VALUES]


def _given(material: Material, subject: Subject) -> Iterator[Statement]:
    """The facts, and what of the calls may be shown."""
    for fact in material.facts:
        yield statement(fact.source, fact.text, more=fact.place)
    for trace in material.traces:
        may_show = is_showable(trace.arguments, subject)
        called = " ".join(_leaves(dict(trace.arguments))) if may_show else ""
        told = " ".join(redact(trace.answer).split()[:MAX_VALUES])
        ending = _table()["endings"][trace.outcome]
        more = ending.replace("result", "list", 1) if trace.answer.strip() == "[]" else ending
        yield statement(f"trace {trace.number}", f"{called} {told}", more=more)


def _names(sentence: Statement, tool: str) -> bool:
    """The sentence has the tool's name as a word."""
    name = tool.lower()
    is_likely = stem(name) in sentence.words
    return is_likely and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sentence.text) is not None


def _lent(subject: Subject) -> Iterator[Statement]:
    """The name with the parameters, the results, a harmless first sentence."""
    tool, source = subject.tool, f"tool {subject.tool.name}"
    parameters = " ".join(each.name for each in subject.signals.parameters)
    yield statement(source, " ".join([tool.name, *name_parts(tool.name)]), more=parameters)
    if subject.output_shape.names:
        yield statement(source, "", more=" ".join(sorted(subject.output_shape.names)))
    first = subject.prose.sentences[:1]
    if first and not find_threats({"description": first[0]}):
        yield statement(source, first[0])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_showable(call: Mapping[str, Any], subject: Subject) -> bool:
    """Whether a call's arguments may stand in a definition as an example: each is known to the schema, or plain."""
    known = arguments.properties(subject.tool)
    return all(
        words_from("support", "private").isdisjoint(name_parts(name))
        and (_is_known(value, known.get(name)) or is_plain_value(value))
        for name, value in call.items()
    )


def redact(text: str) -> str:
    """A text without addresses, long codes and what stands beside a word for a secret."""
    return _PATTERNS.secret.sub(" ", text)


def _is_known(value: object, schema: object) -> bool:
    """The schema itself names the value."""
    if not isinstance(schema, Mapping):
        return False
    single = (schema[each] for each in ("const", "default") if each in schema)
    several = (schema[each] for each in ("enum", "examples") if isinstance(schema.get(each), list))
    return value in [*single, *(each for values in several for each in values)]


def is_plain_value(value: object, nesting: int = 0) -> bool:
    """A value of few and plain words and numbers, at any depth, that stands beside no word for a secret."""
    if isinstance(value, Mapping):
        pairs = value.items()
        return nesting < MAX_NESTING and all(
            words_from("support", "private").isdisjoint(name_parts(str(name))) and is_plain_value(each, nesting + 1)
            for name, each in pairs
        )
    if isinstance(value, list):
        return nesting < MAX_NESTING and all(is_plain_value(each, nesting + 1) for each in value)
    text = "" if value is None else str(value)
    words = text.split()
    is_short = len(words) <= MAX_WORDS and sum(map(str.isdecimal, text)) <= MAX_DIGITS
    return _PATTERNS.date.fullmatch(text) is not None or (
        is_short and all(_PATTERNS.plain_value.fullmatch(each.rstrip(",.!?")) for each in words)
    )
