"""Which words of a definition speak of which parameter: its own description, list entries, sentences that name it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import (
    MAX_EXPLANATION,
    MAX_TEXT,
    PatternTable,
    cached_by_text,
    lazy_pattern,
    words_from,
)
from tdqs_mcp.facts.schema.walk import Node, Shape

_PATTERNS = PatternTable("claims")


_words = partial(words_from, "claims")


MAX_LINE = 2_000
"""Characters of a line that are read as a list entry."""


class MentionKind(StrEnum):
    """Where something is said of a parameter; the nearer, the more a bare phrase means."""

    OWN = "own"
    """Its own description."""

    ENTRY = "entry"
    """An entry of a list in the tool's description: `limit (integer): …`."""

    SENTENCE = "sentence"
    """A sentence of the tool's description that names it."""


class ParameterMention(NamedTuple):
    """A text about one parameter; a named tuple, because a dataclass would slow down what is made so often."""

    node: Node
    text: str
    kind: MentionKind

    @property
    def path(self) -> str:
        """JSON pointer of the text inside the definition."""
        return f"{self.node.path}/description" if self.kind is MentionKind.OWN else "/description"

    @property
    def words(self) -> frozenset[str]:
        """The text's words, lower-case."""
        return words_in(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A statement that the schema contradicts."""

    mention: ParameterMention
    claim: str
    """What the text says, in few words."""

    constraint: str
    """What the schema says."""

    is_plain: bool
    """The text states it outright; else it is only what its words amount to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterExplanation:
    """A line of a description that explains one name: `name (string): …`, with the lines that continue it."""

    name: str
    text: str
    """What follows the name, its type in parentheses included."""

    indent: int
    start: int
    """Number of its first line, from 0."""

    end: int
    """Number of the line after its last."""

    has_separator: bool


_SIGNED = lazy_pattern(r"[:=(\[<–—→]|[ \t]-")  # noqa: RUF001


_LABEL = lazy_pattern(r"\n[ \t]*[`*]{0,2}\w{1,60}[`*]{0,2}[ \t]?(?:\([^()\n]{0,100}\))?:")


def read_mentions(description: str | None, shape: Shape) -> tuple[ParameterMention, ...]:
    """Everything that the texts of a definition say of its parameters, own descriptions first."""
    own = [
        ParameterMention(node, text[:MAX_EXPLANATION], MentionKind.OWN)
        for node in shape.by_keyword.get("description", ())
        if node.name is not None and (text := node.schema["description"]) and isinstance(text, str)
    ]
    text = (description or "")[:MAX_TEXT]
    tops = {node.name: node for node in shape.nodes if node.is_top and node.name and node.name in text}
    return (*own, *_told(text, tops)) if tops else tuple(own)


@cached_by_text(1024)
def words_in(text: str) -> frozenset[str]:
    """The words of a text, lower-case and in letters only, and all DIGITS where there is one."""
    lowered = text.lower()
    words = lowered.translate(_LETTERS).split() if lowered.isascii() else _WORDS.findall(lowered)
    return DIGITS.union(words) if _DIGIT.search(text) else frozenset(words)


DIGITS = frozenset("0123456789")


_LETTERS = "".join(char if char.islower() else " " for char in map(chr, range(128)))


_WORDS = lazy_pattern(r"[a-z]+")


_DIGIT = lazy_pattern(r"\d")


def _told(text: str, tops: Mapping[str, Node]) -> Iterator[ParameterMention]:
    for entry in list_entries(text):
        if entry.name in tops and (entry.has_separator or entry.text[:1] in "([<"):
            yield ParameterMention(tops[entry.name], entry.text, MentionKind.ENTRY)
    for sentence in _sentences(text):
        named = [name for name in tops if name in sentence]
        if named and not words_in(sentence).isdisjoint(_words("claiming")):
            for name, part in _spoken(sentence, named):
                yield ParameterMention(tops[name], part, MentionKind.SENTENCE)


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _PATTERNS.sentence_end.finditer(text):
        yield text[start : match.start() + (text[match.start()] != "\n")]
        start = match.end()
    yield text[start:]


@cached_by_text(1024)
def list_entries(text: str) -> tuple[ParameterExplanation, ...]:
    """The lines that explain a name, each with the deeper indented lines below it."""
    lines = text.split("\n")
    heads = [(number, match) for number, line in enumerate(lines) if (match := _entry(line)) is not None]
    entries = []
    for (number, match), (following, _) in pairwise([*heads, (len(lines), None)]):
        if match is None:
            continue
        indent, end = _indent(lines[number]), number + 1
        while end < following and lines[end].strip() and _indent(lines[end]) > indent:
            end += 1
        first = f"{(match['kind'] or '').strip()} {match['rest'] or ''}".strip()
        entries.append(
            ParameterExplanation(
                name=match["name"],
                text="\n".join((first, *map(str.strip, lines[number + 1 : end]))),
                indent=indent,
                start=number,
                end=end,
                has_separator=bool(match["separator"]),
            )
        )
    return tuple(entries)


def _entry(line: str) -> re.Match[str] | None:
    stripped = line.strip()
    is_candidate = 0 < len(stripped) <= MAX_LINE and _SIGNED.search(stripped) is not None
    match = _PATTERNS.entry.fullmatch(stripped) if is_candidate else None
    return match if match is not None and (match["separator"] or match["kind"]) else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _spoken(sentence: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The sentence for the only parameter that it names; for several, each one's words up to the next."""
    places = sorted(_mentions(sentence, names))
    if len({name for _, _, name in places}) < 2:
        yield from ((name, sentence[: _next_label(sentence, stop)]) for _, stop, name in places[:1])
        return
    before = 0
    for (start, stop, name), (end, _, _) in pairwise([*places, (len(sentence), 0, "")]):
        opening = max(sentence.rfind(mark, before, start) + 1 for mark in ",;:\n")
        yield name, sentence[max(before, opening) : min(end, _next_label(sentence, stop))]
        before = stop


def _next_label(sentence: str, start: int) -> int:
    """Where the next line begins that is about something else: `limit: …`, `Returns: …`."""
    label = _LABEL.search(sentence, start) if "\n" in sentence else None
    return label.start() if label else len(sentence)


def _mentions(sentence: str, names: Sequence[str]) -> set[tuple[int, int, str]]:
    """Where a sentence names a parameter as one: marked, spelled as no plain word is, or beside what only they have."""
    places = set()
    for name in names:
        start = sentence.find(name)
        for _ in range(MAX_MENTIONS):
            if start < 0:
                break
            end = start + len(name)
            if _is_mention(name, sentence[max(0, start - 40) : start], sentence[end : end + 24]):
                places.add((start, end, name))
            start = sentence.find(name, end)
    return places


MAX_MENTIONS = 20
"""Places of one name in one sentence that are looked at."""


def _is_mention(name: str, before: str, after: str) -> bool:
    last, following = before[-1:], after[:1]
    if last.isalnum() or last in _GLUED or following.isalnum() or following in ("_", "/"):
        return False
    if last in _QUOTES:
        return following == last
    is_compound = "_" in name or (name[:1].islower() and not name.islower())
    return (
        is_compound
        or _PATTERNS.after_name.match(after) is not None
        or (before.rstrip().lower().endswith(_ENDS) and _PATTERNS.before_name.search(before) is not None)
        or (after.startswith((" to ", " as ")) and _PATTERNS.sets.search(before) is not None)
    )


_ENDS = ("parameter", "param", "argument", "arg", "for", "of", "the")


_GLUED = frozenset("_.-$@/")


_QUOTES = frozenset("`'\"")
