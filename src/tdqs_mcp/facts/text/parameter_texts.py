"""Faults of texts about single parameters: placeholders, restated names, units, limits without a schema."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import (
    MAX_EXPLANATION,
    MAX_TEXT,
    PatternTable,
    cached_by_text,
    read_table,
    words_from,
)
from tdqs_mcp.facts.schema.walk import MAX_BRANCHES, MAX_HOPS, Node, Shape, alternatives
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.claims import stated_default, stated_limits
from tdqs_mcp.facts.text.parameter_mentions import words_in
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import STOPWORDS, stem

_PATTERNS = PatternTable("parameters")
_words = partial(words_from, "parameters")

MAX_PLACEHOLDER = 80
"""Characters of a text that is nothing but a placeholder."""


class Remark(NamedTuple):
    """A parameter and what its text says."""

    node: Node
    text: str


def is_placeholder(text: str, name: str) -> bool:
    """The text, of what has the name, only says that somebody still has to write it."""
    if len(text) > MAX_PLACEHOLDER:
        return False
    plain = text.strip()
    if words_in(plain).isdisjoint(_words("unwritten")):
        return _PATTERNS.blank.fullmatch(plain.lower()) is not None
    words = set(words_of(plain.replace(name, "") if name else plain))
    return _is_unwritten(plain) or (not words.isdisjoint(_words("unwritten")) and words <= _about_texts())


@cache
def _about_texts() -> frozenset[str]:
    return STOPWORDS | _words("unwritten") | _words("about_text")


def find_unwritten(prose: Prose) -> str | None:
    """The first sentence of a description that still has to be written."""
    sentences = () if _words("unwritten").isdisjoint(prose.words) else prose.sentences
    return next(filter(_is_unwritten, sentences), None)


def _is_unwritten(text: str) -> bool:
    return _PATTERNS.unwritten.fullmatch(text) is not None


def read_remarks(shape: Shape) -> tuple[Remark, ...]:
    """Every property that has a description, with its text, cut at MAX_EXPLANATION characters."""
    return tuple(
        Remark(node, text[:MAX_EXPLANATION])
        for node in shape.by_keyword.get("description", ())
        if node.name is not None and isinstance(text := node.schema["description"], str) and text.strip()
    )


def placeholders(remarks: Sequence[Remark]) -> Iterator[Remark]:
    """Those whose description is a placeholder."""
    yield from (remark for remark in remarks if is_placeholder(remark.text, remark.node.name or ""))


def restated(remarks: Sequence[Remark]) -> Iterator[Remark]:
    """Those whose description has no word that their name does not have."""
    for remark in remarks:
        name, text = remark.node.name or "", remark.text
        if len(text) <= MAX_PLACEHOLDER and _restates(text, name):
            yield remark


_SAID = frozenset("'\"`0123456789")
"""A value is more than a name."""


@cached_by_text(1024)
def _restates(text: str, name: str) -> bool:
    parts = name_parts(name)
    text = text.replace(f"`{name}`", name).replace(name, " ".join(parts))
    if not _SAID.isdisjoint(text):
        return False
    own = {stem(part) for part in parts}
    stems = {stem(part) for word in words_of(text) for part in name_parts(word)}
    return bool(stems) and bool(own) and stems - own <= _fillers()


@cache
def _fillers() -> frozenset[str]:
    return frozenset(map(stem, STOPWORDS | _words("fillers")))


def undescribed(shape: Shape, *, is_nested: bool) -> Iterator[Node]:
    """Properties without a description, neither their own nor that of what they refer to; constants need none."""
    for node in shape.nodes:
        if node.name is None or (is_nested and node.is_top) or "const" in node.schema:
            continue
        if not _has_text(node.schema) and not any(map(_has_text, _meant(node.schema, shape.root))):
            yield node


def _meant(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what a schema refers to, itself or by its branches, and the same of its items."""
    for branch in alternatives(schema, root):
        yield branch
        items = branch.get("items")
        if isinstance(items, dict):
            yield from alternatives(items, root)


def undescribed_fields(shape: Shape, text: str) -> Iterator[Node]:
    """Undescribed properties of a result that no text explains: the tool's, or one of an object around them."""
    silent = list(undescribed(shape, is_nested=False))
    if not silent:
        return
    root = shape.nodes[0].path
    described = shape.by_keyword.get("description", ())
    texts: dict[str, list[AbstractSet[str]]] = {node.path: [_explained(node.schema)] for node in described}
    for node in shape.by_keyword.get("$ref", ()):
        target = texts.setdefault(f"{root}{str(node.schema['$ref']).removeprefix('#')}", [])
        if len(target) < MAX_BRANCHES:
            target += islice(_around(node.path, texts), 1)
    explained = _explained({"description": text})
    yield from (
        node
        for node in silent
        if node.name not in explained and not any(node.name in names for names in _around(node.path, texts))
    )


def _around(path: str, texts: Mapping[str, Sequence[AbstractSet[str]]]) -> Iterator[AbstractSet[str]]:
    """The names explained at a place and at those around it, the nearest first."""
    for _ in range(2 * MAX_HOPS):
        yield from texts.get(path, ())
        path = path.rpartition("/")[0]


def _explained(schema: Mapping[str, Any]) -> frozenset[str]:
    """The names that a description explains."""
    text = schema.get("description")
    pairs = _PATTERNS.explained.findall(text[:MAX_TEXT]) if isinstance(text, str) else ()
    return frozenset(name for pair in pairs for name in pair if name)


def _has_text(schema: Mapping[str, object]) -> bool:
    text = schema.get("description")
    return isinstance(text, str) and bool(text.strip())


class UnitClash(NamedTuple):
    """Two units of one parameter that cannot both be meant."""

    node: Node
    unit: str
    """What its description says."""

    place: str
    """Where the other stands."""

    other: str


def find_unit_clashes(remarks: Sequence[Remark], sentences: Sequence[str]) -> Iterator[UnitClash]:
    """Parameters whose text gives another unit than their name, their title, a sentence about the tool or itself."""
    names = {remark.node.name for remark in remarks}
    for node, text in remarks:
        stated = _units_in(text)
        if not stated:
            continue
        other_places = [
            ("the name", (name_parts(node.name or "") or ("",))[-1:]),
            ("the title", _units_in(str(node.schema.get("title", ""))) or _last_word(node.schema.get("title"))),
            *(
                ("the tool's description", _units_in(sentence))
                for sentence in sentences
                if _is_about(sentence, node.name, names)
            ),
            ("another part of it", () if " or " in text else stated[1:]),
        ]
        for place, units in other_places:
            recognized = [word for word in units if word in known_units()]
            if recognized and all(
                _is_other(known_units()[own], known_units()[two]) for own in stated[:1] for two in recognized
            ):
                yield UnitClash(node, stated[0], place, recognized[0])
                break


def _units_in(text: str) -> list[str]:
    """The units in which a text gives a value: "in seconds", "(ms)", "number of days"."""
    if words_in(text).isdisjoint(_unit_words()):
        return []
    return [word for word in _PATTERNS.unit.findall(text.lower()) if word in _unit_words()]


@cache
def _unit_words() -> frozenset[str]:
    return frozenset(known_units()) - _words("calendar")


def _last_word(title: object) -> list[str]:
    return words_of(title)[-1:] if isinstance(title, str) else []


def _is_about(sentence: str, name: str | None, names: AbstractSet[str | None]) -> bool:
    """A sentence has the name of this parameter, and of no other."""
    if not name or name not in sentence:
        return False
    return names & set(_PATTERNS.name.findall(sentence)) == {name}


def _is_other(first: tuple[str, str], two: tuple[str, str]) -> bool:
    """Units of one kind that are not the same."""
    return first[0] == two[0] and first[1] != two[1]


@cache
def known_units() -> Mapping[str, tuple[str, str]]:
    """Kind and unit by the words that stand for it."""
    table = read_table("parameters")["units"]
    return {
        word: (kind, words.split()[0]) for kind, lines in table.items() for words in lines for word in words.split()
    }


def unenforced_limits(remarks: Sequence[Remark]) -> Iterator[Remark]:
    """Numbers whose range only the text gives: no client can check it."""
    for node, text in remarks:
        kind = node.schema.get("type")
        if kind in ("integer", "number") and not _BOUNDS & node.schema.keys() and (phrase := stated_limits(text)):
            yield Remark(node, phrase)


_BOUNDS = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum enum const".split())


def unenforced_defaults(remarks: Sequence[Remark]) -> Iterator[Remark]:
    """Parameters whose default only the text gives."""
    for node, text in remarks:
        is_plain = node.schema.get("type") in ("integer", "number", "boolean")
        if is_plain and "default" not in node.schema and not node.is_required and (literal := stated_default(text)):
            yield Remark(node, literal)
