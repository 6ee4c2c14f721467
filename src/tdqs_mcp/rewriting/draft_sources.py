"""What a draft's words can rest on: every statement of a tool's definition and of the author's material."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from tdqs_mcp.facts.schema.walk import Node, accepted_values, split_pointer
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import cues_of, sentences_of
from tdqs_mcp.facts.text.statements import Bound, bound_keywords, find_bounds
from tdqs_mcp.facts.text.support import redact
from tdqs_mcp.facts.text.vocabulary import MAX_EXPLANATION, Cue, lazy_pattern
from tdqs_mcp.facts.text.words import content_stems, identifiers_of, name_parts, numbers_of, stem, words_of
from tdqs_mcp.model import Material

MAX_DOCS = 2_000
"""Sentences of documentation that are read."""

MAX_VALUES = 200
"""Values of one schema that are read."""

_NEGATIVE = lazy_pattern(r"(?<![\w.)\]-])-\d+(?:\.\d+)?")
_JOINED = lazy_pattern(r"\w+[_-]\w+|[a-z]+[A-Z]\w*")
_TOKEN = lazy_pattern(r"[\w$]+(?:[.\-/][\w$]+)*")
_CAMEL = lazy_pattern(r"\b[a-z]+[a-z0-9]*[A-Z]\w*\b|\b[DMYHhms]{2,4}(?:[-/.:][DMYHhms]{2,4})+\b")


def plain_numbers(text: str) -> frozenset[str]:
    """The numbers of a text without marks between thousands."""
    plain = (number.replace(",", "").rstrip(".:") for number in numbers_of(text))
    return frozenset((*plain, *_NEGATIVE.findall(text)))


def parts_in(text: str) -> list[str]:
    """The lower-case words of a text and the words inside its names."""
    inside = (part for name in _JOINED.findall(text) for part in name_parts(name))
    return [*words_of(text), *inside]


def word_forms(text: str) -> set[str]:
    """The words of a text as names have them: stems, and words without a plural's end."""
    return {form for word in words_of(text) for form in (stem(word), word.removesuffix("s"))}


def names_in(text: str) -> frozenset[str]:
    """What is written as a name, in lower case: in backticks, with an underscore, or in camel case."""
    return identifiers_of(text) | {name.lower() for name in _CAMEL.findall(text)}


@dataclass(frozen=True, kw_only=True)
class Source:
    """One statement, and where it stands."""

    name: str
    """As claims name it: description, a schema path, an annotation, tool NAME, fact N, trace N, docs."""

    text: str
    parameter: str = ""
    """The parameter that it is about, in lower case."""

    bounds: frozenset[tuple[Bound, str]] = frozenset()
    is_schema: bool = False
    """A structured field, not a text."""

    is_given: bool = False
    """The author answers for it."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """What it says, with the words inside names."""
        return content_stems(parts_in(self.text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers."""
        return plain_numbers(self.text)

    @cached_property
    def cues(self) -> frozenset[Cue]:
        """What it tells an agent."""
        return cues_of(words_of(self.text))

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Its words and names as they stand, in lower case."""
        return frozenset(token.lower() for token in _TOKEN.findall(self.text)) | frozenset(words_of(self.text))


@dataclass(frozen=True, kw_only=True)
class ToolSources:
    """All that is said of one tool."""

    subject: Subject
    own: tuple[Source, ...]

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Every word and name."""
        return frozenset[str]().union(*(each.tokens for each in self.own))

    @cached_property
    def parameters(self) -> Mapping[str, Node]:
        """The parameters by their lower-case names; a top-level one hides a nested one of the same name."""
        nodes = sorted(self.subject.input_shape.nodes, key=lambda node: node.is_top)
        return {node.name.lower(): node for node in nodes if node.name}

    @cached_property
    def choices(self) -> Mapping[str, tuple[str, ...]]:
        """The allowed values of the parameters that have a closed list, as a text spells them."""
        root = self.subject.input_shape.root
        takes = {name: accepted_values(node.schema, root) for name, node in self.parameters.items()}
        listed = {name: each.values or each.item_values or () for name, each in takes.items()}
        return {name: tuple(str(value).lower() for value in values) for name, values in listed.items() if values}

    @cached_property
    def texts(self) -> list[Source]:
        """What somebody has written: descriptions, facts, calls, documentation."""
        return [each for each in self.own if not each.is_schema]

    def about(self, parameter: str) -> list[Source]:
        """What is said of a parameter."""
        return [each for each in self.own if each.parameter == parameter or parameter in each.tokens]

    def defaults(self, parameter: str) -> frozenset[str]:
        """The values that the schema or a text gives as its default, in lower case."""
        about = [each for each in self.about(parameter) if "default" in each.text.lower() or each.is_schema]
        held = {value for each in about for bound, value in each.bounds if bound is Bound.DEFAULT and each.is_schema}
        return frozenset(held) or frozenset(
            value for each in about if not each.is_schema for value in self._told_defaults(each, parameter)
        )

    def _told_defaults(self, source: Source, parameter: str) -> Iterator[str]:
        """The allowed value nearest to the word "default", or the words behind it."""
        text = source.text.lower()
        choices = "|".join(map(re.escape, self.choices.get(parameter, ())))
        behind = re.search(rf"default(?:s to| is| to|:)?\s*[`'\"]?({choices})\b", text) if choices else None
        before = re.findall(rf"\b({choices})\b", text.partition("default")[0]) if choices else []
        if behind or before:
            yield behind[1] if behind else before[-1]
        else:
            yield from (value for bound, value in source.bounds if bound is Bound.DEFAULT)

    def spoken_of(self, text: str) -> list[str]:
        """The parameters that a text names, or, where it names none, those whose last words it has."""
        named = [name for name in self.parameters if name in names_in(text)]
        if named:
            return named
        said = word_forms(text)
        return [name for name, node in self.parameters.items() if _tail(node.name or "") <= said]


def _tail(name: str) -> set[str]:
    return {stem(part) for part in name_parts(name)[-2:]} or {name}


def read_sources(subject: Subject, material: Material) -> ToolSources:
    """Everything that the definition and the author say of a tool."""
    return ToolSources(subject=subject, own=(*_definition(subject), *_given(material)))


def _definition(subject: Subject) -> Iterator[Source]:
    tool = subject.tool
    yield Source(name="name", text=f"{tool.name} {tool.title or ''}", is_schema=True)
    for sentence in subject.prose.sentences:
        yield _text("description", sentence)
    for node in subject.input_shape.nodes:
        yield from _node(node)
    for node in subject.output_shape.nodes:
        if node.name or node.schema.get("description"):
            yield Source(name=node.path, text=f"{node.name or ''} {node.schema.get('description') or ''}")
    for hint, value in (tool.annotations or {}).items():
        yield Source(name=f"/annotations/{hint}", text=f"{hint} {str(value).lower()}", is_schema=True)


def _node(node: Node) -> Iterator[Source]:
    """A property with its values and bounds, and each sentence of its description."""
    name, schema = _owner(node), node.schema
    bounds = frozenset(
        (bound, leaf.lower()) for key, bound in bound_keywords().items() for leaf in _leaves(schema.get(key))
    )
    values = " ".join(leaf for key, value in schema.items() if key in _VALUED for leaf in _leaves(value))
    if name or values:
        yield Source(name=node.path, text=f"{node.name or ''} {values}", parameter=name, bounds=bounds, is_schema=True)
    described = schema.get("description")
    for sentence in sentences_of(described[:MAX_EXPLANATION]) if isinstance(described, str) else ():
        yield _text(f"{node.path}/description", sentence, parameter=name)


def _owner(node: Node) -> str:
    """The nearest property that a schema belongs to, in lower case."""
    steps = split_pointer(node.path)
    owners = [name for above, name in pairwise(steps) if above == "properties"]
    return owners[-1].lower() if owners else ""


_VALUED = frozenset(
    "type enum const default examples example format pattern minimum maximum exclusiveMinimum exclusiveMaximum "
    "minLength maxLength minItems maxItems multipleOf".split()
)


def _text(name: str, sentence: str, *, parameter: str = "") -> Source:
    bounds = frozenset((each.bound, each.value.replace(",", "")) for each in find_bounds(sentence))
    return Source(name=name, text=sentence, parameter=parameter, bounds=bounds)


def _given(material: Material) -> Iterator[Source]:
    """The facts, what of the calls may be shown, and the documentation."""
    for fact in material.facts:
        said = f"{fact.hint} {fact.text}" if fact.hint else fact.text
        yield replace(_text(fact.source, said, parameter=(fact.parameter or "").lower()), is_given=True)
    for trace in material.traces:
        yield Source(name=f"trace {trace.number}", text=redact(f"{' '.join(_leaves(trace.arguments))} {trace.answer}"))
    for sentence in sentences_of(material.docs)[:MAX_DOCS]:
        yield _text("docs", sentence)


def _leaves(value: object) -> list[str]:
    """The texts and numbers inside a JSON value, breadth first."""
    level: list[object] = [value]
    found: list[str] = []
    while level and len(found) < MAX_VALUES:
        below: list[object] = []
        for each in level:
            if isinstance(each, Mapping):
                below += [child for pair in each.items() for child in pair]
            elif isinstance(each, list | tuple):
                below += each
            elif each is not None:
                found.append(str(each).lower() if isinstance(each, bool) else str(each))
        level = below
    return found[:MAX_VALUES]
