"""What a sentence can rest on: every statement of a definition, its siblings and its author, with where it stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tdqs_mcp.facts import bounds, denials, hostile, samples
from tdqs_mcp.facts.bounds import Bound
from tdqs_mcp.facts.catalog import parameter_meanings
from tdqs_mcp.facts.catalog.parameter_meanings import Agreed
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.walk import Node, split_pointer
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import Cue
from tdqs_mcp.facts.text.prose import MAX_EXPLANATION, cues_of, sentences_of
from tdqs_mcp.facts.text.words import identifiers_of, name_parts, numbers_of, parts_of, stem, words_of
from tdqs_mcp.model.material import NOTHING, Material, Outcome

MAX_DOCS = 2_000
"""Sentences of documentation that are read."""

MAX_VALUES = 200
"""Allowed values, or sentences of an answer, that are read."""

ROUTING = frozenset({"look", "lookup", "find", "later", "take", "obtain", "undo"})
"""Words that say how an agent gets from one tool to another; in a sentence that names a sibling they claim no more."""

_HINTS: Mapping[tuple[str, bool], tuple[str, ...]] = {
    ("readOnlyHint", True): (
        "read-only, reads only, safe",
        "does not modify, change, write, create or delete anything; changes nothing; no side effects",
    ),
    ("readOnlyHint", False): ("modifies, changes and writes data",),
    ("destructiveHint", True): (
        "destructive: may delete, remove, overwrite, replace or destroy existing data, overwritten, lost",
    ),
    ("destructiveHint", False): (
        "non-destructive: only adds",
        "does not delete, remove or overwrite anything existing; nothing that is there is overwritten or lost",
    ),
    ("idempotentHint", True): (
        "idempotent: safe to repeat",
        "repeating, calling again with the same arguments has no additional further effect, changes nothing more",
    ),
    ("idempotentHint", False): (
        "not idempotent",
        "repeating, each repeated call again has a further additional effect",
    ),
    ("openWorldHint", True): ("reaches, contacts external outside services, systems, network, internet, open world",),
    ("openWorldHint", False): (
        "closed world, local only",
        "reaches, contacts no external outside service, system, network",
    ),
}
"""What each hint says in words (MCP schema, ToolAnnotations)."""

_BOUNDS: Mapping[str, str] = {
    "minimum": "minimum at least from between lowest",
    "exclusiveMinimum": "minimum above more than over positive",
    "maximum": "maximum at most up to between highest limit",
    "exclusiveMaximum": "maximum below less than under",
    "minLength": "minimum at least characters long length not empty non-empty",
    "maxLength": "maximum at most up to characters long length limit",
    "minItems": "minimum at least items entries not empty non-empty",
    "maxItems": "maximum at most up to items entries limit",
    "multipleOf": "multiple of steps",
    "pattern": "pattern regular expression match form",
    "default": "default defaults to if when omitted optional without",
    "enum": "one of allowed values either or",
    "const": "always exactly value",
    "format": "format",
}
_FORMATS: Mapping[str, str] = {
    "date-time": "iso 8601 rfc 3339 date and time timestamp",
    "date": "iso 8601 date yyyy-mm-dd",
    "time": "iso 8601 time",
    "duration": "iso 8601 duration",
    "uri": "url uri link address absolute scheme",
    "email": "e-mail email address",
    "uuid": "uuid",
    "byte": "base64",
    "binary": "binary",
}
_TYPES: Mapping[str, str] = {
    "string": "string text",
    "integer": "integer whole number",
    "number": "number numeric",
    "boolean": "boolean true false flag whether",
    "array": "array list of items entries several multiple",
    "object": "object json",
}
_PAGING = frozenset("cursor page offset limit next token max count skip size".split())
_PAGES = "page begins starts omit first next entries most skip"
"""Names of parameters that page through a result, and what such a name says."""


_ENDINGS: Mapping[Outcome, str] = {
    Outcome.ERROR: "fails error rejected invalid",
    Outcome.EMPTY: "returns an empty result; nothing no result none",
    Outcome.SUCCESS: "returns",
}
"""What the ending of a call says of it."""


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
class Commons:
    """What the tools of a catalog hold in common, read once for all of them."""

    lent: Mapping[str, tuple[Statement, ...]]
    """What each tool may lend to another's text, by its lower-case name."""

    agreed: Agreed
    """What they say of parameters with one voice."""

    docs: tuple[Statement, ...]
    """Each sentence of the documentation."""


@dataclass(frozen=True, kw_only=True)
class Ground:
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


def commons(subjects: Sequence[Subject], docs: str = "") -> Commons:
    """Name, parameters and a harmless first sentence of every tool; a name that two tools carry lends nothing."""
    return Commons(
        lent={subject.tool.name.lower(): tuple(_lent(subject)) for subject in subjects if not subject.is_duplicate},
        agreed=parameter_meanings.agreed_descriptions(subject for subject in subjects if subject.is_quotable),
        docs=tuple(statement("docs", sentence, is_general=True) for sentence in sentences_of(docs)[:MAX_DOCS]),
    )


def ground(subject: Subject, commons: Commons, material: Material = NOTHING) -> Ground:
    """The statements behind one tool, in the order in which a claim names them."""
    name = subject.tool.name
    docs = (replace(each, is_general=not _names(each, name)) for each in commons.docs)
    own = (*_own(subject), *_given(material.of(name), subject), *docs)
    meant = {
        f"{arguments.property_pointer(each.parameter)}/description": tuple(
            statement(source, each.text) for source in each.sources
        )
        for each in parameter_meanings.infer_meanings(subject, commons.agreed)
    }
    fields = tuple(map(str.lower, arguments.result_fields(subject.tool)[1]))
    return Ground(tool=subject.tool.name, own=own, meant=meant, lent=commons.lent, fields=fields)


def statement(
    source: str, text: str, *, more: str = "", is_contract: bool = False, is_general: bool = False
) -> Statement:
    """A text as a statement; `more` holds words that it implies."""
    words = words_of(f"{text} {more}")
    stems = frozenset(stem(each) for word in words for each in (word, *parts_of(word), *name_parts(word)))
    is_turned = any(map(denials.is_negation, words))
    said = denials.read(f"{text}; {more}") if is_turned else denials.NOTHING
    return Statement(
        source=source,
        words=stems,
        numbers=numbers_of(text),
        cues=cues_of(words),
        text=" ".join(text.lower().split()),
        denied=said.denied,
        affirmed=stems - (said.denied - said.affirmed),
        bounds=frozenset((each.bound, each.value) for each in bounds.read(text)),
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
        for said in _HINTS.get((name, value), ()) if isinstance(value, bool) else ():
            yield statement(f"/annotations/{name}", said)


def _schema(node: Node) -> Iterator[Statement]:
    """The property itself, each of its constraints, and its description."""
    schema, name = node.schema, node.name or ""
    words = " ".join([name, *name_parts(name)])
    if name:
        need = "required must" if node.is_required else "optional"
        yield statement(node.path, words, more=f"{need} {_implied(node)}", is_contract=True)
        if not _PAGING.isdisjoint(name_parts(name)):
            yield statement(node.path, "", more=f"{words} {_PAGES}")
    for keyword in _BOUNDS:
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
    more = f"{words} {_BOUNDS[keyword]} {_FORMATS.get(told, '') if keyword == 'format' else ''}"
    is_described = bool(_text(node.schema.get("description")).strip())
    said = statement(f"{node.path}/{keyword}", told, more=more, is_contract=is_described)
    values = (told.lower(), *words_of(told)) if keyword in bounds.KEYWORDS else ()
    return replace(said, bounds=frozenset((bounds.KEYWORDS[keyword], each) for each in values))


def _implied(node: Node) -> str:
    kind = node.schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return " ".join(_TYPES.get(str(each), "") for each in kinds)


def _leaves(value: object, *, limit: int = MAX_VALUES) -> list[str]:
    """The texts and numbers inside a JSON value, breadth first."""
    level: list[object] = [value]
    found: list[str] = []
    while level and len(found) < limit:
        below: list[object] = []
        for each in level:
            if isinstance(each, Mapping):
                below += [child for pair in each.items() for child in pair]
            elif isinstance(each, list):
                below += each
            elif each is not None:
                found.append(str(each).lower() if isinstance(each, bool) else str(each))
        level = below
    return found[:limit]


def _given(material: Material, subject: Subject) -> Iterator[Statement]:
    """The facts, and what of the calls may be shown."""
    for fact in material.facts:
        yield statement(f"fact {fact.number}", fact.text)
    for trace in material.traces:
        is_showable = samples.is_showable(trace.arguments, subject)
        called = " ".join(_leaves(dict(trace.arguments))) if is_showable else ""
        told = " ".join(samples.redacted(trace.answer).split()[:MAX_VALUES])
        ending = _ENDINGS[trace.outcome]
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
    if first and not hostile.threats({"description": first[0]}):
        yield statement(source, first[0])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
