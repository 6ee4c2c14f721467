"""What a sentence can rest on: every statement of a definition, its siblings and its author, with where it stands."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.facts import arguments, hostile, meanings
from tdqs_mcp.facts.lexicon import STOPWORDS, Cue
from tdqs_mcp.facts.meanings import Agreed
from tdqs_mcp.facts.prose import MAX_EXPLANATION, cues_of, name_parts, sentences_of, stem
from tdqs_mcp.facts.shape import Node
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.words import words_of
from tdqs_mcp.model.material import NOTHING, Material

MAX_DOCS = 2_000
"""Sentences of documentation that are read."""

MAX_VALUES = 200
"""Allowed values, or sentences of an answer, that are read."""

SILENT = frozenset(
    stem(word)
    for word in STOPWORDS
    | frozenset(
        "use want need when where whether if then than instead otherwise rather first before after so but not no also "
        "both either each every other another same one most more least exactly accept take give return get pass set "
        "provide supply specify name identify describe mean say know known unknown result value field parameter "
        "argument input output response answer call tool definition do does has have had e.g eg i.e example such like "
        "per about between within only while because therefore who what how there here some none nothing them they "
        "their whose whom unlike prefer see must should may might cannot can't don't doesn't come came".split()
    )
)
"""Words that claim nothing of their own; what limits (only, must, not) is weighed apart."""

ROUTING = frozenset({"look", "lookup", "find", "later", "take", "obtain", "undo"})
"""Words that say how an agent gets from one tool to another; in a sentence that names a sibling they claim no more."""

SAME = tuple(
    frozenset(group.split())
    for group in (
        "get fetch retrieve read return show view look lookup access obtain load",
        "find search query look lookup",
        "list enumerate",
        "delete remove",
        "create add new make",
        "update edit modify change",
        "run execute",
        "compute calculate",
        "generate produce",
        "id identifier",
        "folder directory",
        "text string",
        "number integer count",
        "overwrite replace",
    )
)
"""Words that may stand for each other."""

_INSTEAD = {word: frozenset().union(*(group for group in SAME if word in group)) for group in SAME for word in group}

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

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = re.compile(r"`([\w.\-/]{1,128})`")
_PART = re.compile(r"[-/'’.]")


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

    is_contract: bool = False
    """A structured field of the input schema that a client shows anyway: saying it again says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commons:
    """What the tools of a catalog hold in common, read once for all of them."""

    lent: Mapping[str, tuple[Statement, ...]]
    """What each tool may lend to another's text, by its lower-case name."""

    agreed: Agreed
    """What they say of parameters with one voice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """All statements that may speak of one tool; its siblings' count in sentences that name them."""

    tool: str
    own: tuple[Statement, ...]
    meant: Mapping[str, tuple[Statement, ...]]
    """What a format, a unit, a partner or siblings prove that a parameter means, by the pointer of its description."""

    lent: Mapping[str, tuple[Statement, ...]]

    def named(self, sentence: str) -> tuple[Statement, ...]:
        """What the siblings that a sentence names have lent; a plain word names one only in backticks."""
        marked = identifiers_of(sentence)
        names = dict.fromkeys([*words_of(sentence), *sorted(marked)])
        known = [name for name in names if name in self.lent and name != self.tool.lower()]
        return tuple(each for name in known if name in marked or not name.isalpha() for each in self.lent[name])


def commons(subjects: Sequence[Subject]) -> Commons:
    """Name, parameters and a harmless first sentence of every tool; a name that two tools carry lends nothing."""
    return Commons(
        lent={subject.tool.name.lower(): tuple(_lent(subject)) for subject in subjects if not subject.is_duplicate},
        agreed=meanings.agreed(subject for subject in subjects if subject.is_quotable),
    )


def ground(subject: Subject, commons: Commons, material: Material = NOTHING) -> Ground:
    """The statements behind one tool, in the order in which a claim names them."""
    own = (*_own(subject), *_given(material.of(subject.tool.name)))
    meant = {
        f"{arguments.pointer(each.parameter)}/description": tuple(
            statement(source, each.text) for source in each.sources
        )
        for each in meanings.of(subject, commons.agreed)
    }
    return Ground(tool=subject.tool.name, own=own, meant=meant, lent=commons.lent)


def content(words: Iterable[str]) -> frozenset[str]:
    """The stems of the words that claim something."""
    stems = {stem(part) for word in words for part in _parts(word)}
    return frozenset(each for each in stems if each and each not in SILENT)


def numbers_of(text: str) -> frozenset[str]:
    """Every number as it is written."""
    return frozenset(_NUMBER.findall(text))


def identifiers_of(text: str) -> frozenset[str]:
    """What is written as a name: one word in backticks, or with an underscore inside; in lower case."""
    quoted = {found.lower() for found in _IDENTIFIER.findall(text)}
    return frozenset(quoted | {word for word in words_of(text) if "_" in word.strip("_")})


def statement(source: str, text: str, *, more: str = "", is_contract: bool = False) -> Statement:
    """A text as a statement; `more` holds words that it implies."""
    words = words_of(f"{text} {more}")
    return Statement(
        source=source,
        words=frozenset(stem(each) for word in words for each in (word, *_parts(word), *name_parts(word))),
        numbers=numbers_of(text),
        cues=cues_of(words),
        text=" ".join(text.lower().split()),
        is_contract=is_contract,
    )


def supports(words: frozenset[str], word: str) -> bool:
    """A statement with these stems has the word, or one that may stand for it."""
    return word in words or (word in _INSTEAD and not _INSTEAD[word].isdisjoint(words))


def _parts(word: str) -> Sequence[str]:
    return [part for part in _PART.split(word) if part] if _PART.search(word) else (word,)


def _own(subject: Subject) -> Iterator[Statement]:
    tool = subject.tool
    yield statement("name", " ".join([tool.name, *name_parts(tool.name), tool.title or ""]))
    for sentence in subject.prose.sentences:
        yield statement("description", sentence)
    for node in subject.shape.nodes:
        yield from _schema(node)
    for node in subject.result_shape.nodes:
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
    return statement(f"{node.path}/{keyword}", told, more=more, is_contract=is_described)


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


def _given(material: Material) -> Iterator[Statement]:
    for fact in material.facts:
        yield statement(f"fact {fact.number}", fact.text)
    for trace in material.traces:
        arguments = " ".join(_leaves(dict(trace.arguments)))
        ending = {
            "error": "fails error rejected invalid",
            "empty": "empty nothing no result none",
            "success": "returns",
        }
        told = " ".join(trace.answer.split()[:MAX_VALUES])
        yield statement(f"trace {trace.number}", f"{arguments} {told}", more=ending[trace.outcome])
    for sentence in sentences_of(material.docs)[:MAX_DOCS]:
        yield statement("docs", sentence)


def _lent(subject: Subject) -> Iterator[Statement]:
    tool, source = subject.tool, f"tool {subject.tool.name}"
    parameters = " ".join(each.name for each in subject.signals.parameters)
    results = " ".join(sorted(subject.result_shape.names))
    yield statement(source, " ".join([tool.name, *name_parts(tool.name)]), more=f"{parameters} {results}")
    first = subject.prose.sentences[:1]
    if first and not hostile.threats({"description": first[0]}):
        yield statement(source, first[0])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
