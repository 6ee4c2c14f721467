"""Which texts speak of which parameter, and their faults: placeholders, restated names, units."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import (
    MAX_EXPLANATION,
    MAX_TEXT,
    PatternTable,
    cached_by_text,
    lazy_pattern,
    read_table,
    words_from,
)
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.walk import (
    MAX_BRANCHES,
    MAX_HOPS,
    Node,
    Shape,
    alternatives,
    escape_step,
    keyword_members,
    required_names,
    unused_definitions,
)
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import STOPWORDS, stem
from tdqs_mcp.model import Tool

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
    words: frozenset[str]
    """The text's words, lower-case."""

    kind: MentionKind

    @property
    def path(self) -> str:
        """JSON pointer of the text inside the definition."""
        return f"{self.node.path}/description" if self.kind is MentionKind.OWN else "/description"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A statement that the schema contradicts."""

    mention: ParameterMention
    claim: str
    """Statement of the text, in few words."""

    constraint: str
    """Contradicting part of the schema, in words."""

    is_plain: bool
    """The text states it outright; else it is only what its words amount to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterExplanation:
    """A line of a description that explains one name: `name (string): …`, with the lines that continue it."""

    name: str
    text: str
    """Text behind the name, its type in parentheses included."""

    indent: int
    start: int
    """Number of its first line, from 0."""

    end: int
    """Number of the line after its last."""

    has_separator: bool


_SIGNED = lazy_pattern(r"[:=(\[<–—→]|[ \t]-")  # noqa: RUF001
_LABEL = lazy_pattern(r"\n[ \t]*[`*]{0,2}\w{1,60}[`*]{0,2}[ \t]?(?:\([^()\n]{0,100}\))?:")


def read_remarks(shape: Shape) -> tuple[ParameterMention, ...]:
    """The own description of every property that has one, cut at MAX_EXPLANATION characters."""
    described = shape.by_keyword.get("description", ())
    texts = ((node, node.schema["description"]) for node in described if node.name is not None)
    return tuple(
        ParameterMention(node, text[:MAX_EXPLANATION], words_in(text[:MAX_EXPLANATION]), MentionKind.OWN)
        for node, text in texts
        if isinstance(text, str) and text.strip()
    )


def read_mentions(description: str | None, shape: Shape) -> Iterator[ParameterMention]:
    """Yield what the tool's description says of its parameters."""
    text = (description or "")[:MAX_TEXT]
    tops = {node.name: node for node in shape.tops if node.name and node.name in text}
    for node, part, kind in _description_mentions(text, tops) if tops else ():
        yield ParameterMention(node, part, words_in(part), kind)


def read_entries(description: str | None, shape: Shape) -> Iterator[ParameterMention]:
    """Yield the entries of a description about parameters that have no description of their own."""
    silent = {node.name: node for node in shape.tops if not _has_text(node.schema)}
    for entry in list_entries((description or "")[:MAX_TEXT]) if silent else ():
        if entry.has_separator and entry.name in silent:
            text = entry.text[:MAX_EXPLANATION]
            yield ParameterMention(silent[entry.name], text, words_in(text), MentionKind.ENTRY)


@cached_by_text(1024)
def words_in(text: str) -> frozenset[str]:
    """The words of a text, lower-case and in letters only, and all DIGITS where there is one."""
    words = text.translate(_LETTERS).split() if text.isascii() else _WORDS.findall(text.lower())
    return DIGITS.union(words) if _DIGIT.search(text) else frozenset(words)


DIGITS = frozenset("0123456789")
_LETTERS = "".join(char.lower() if char.isalpha() else " " for char in map(chr, range(128)))
_WORDS = lazy_pattern(r"[a-z]+")
_DIGIT = lazy_pattern(r"\d")


def _description_mentions(text: str, tops: Mapping[str, Node]) -> Iterator[tuple[Node, str, MentionKind]]:
    for entry in list_entries(text):
        # an entry without a colon: "limit (integer) how many"
        if entry.name in tops and (entry.has_separator or entry.text[:1] in "([<"):
            yield tops[entry.name], entry.text, MentionKind.ENTRY
    for sentence in _sentences(text):
        named = [name for name in tops if name in sentence]
        if named and not words_in(sentence).isdisjoint(_words("claiming")):
            for name, part in _parts_by_name(sentence, named):
                yield tops[name], part, MentionKind.SENTENCE


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
    # an entry such as "- limit (integer): how many"
    match = _PATTERNS.entry.fullmatch(stripped) if is_candidate else None
    return match if match is not None and (match["separator"] or match["kind"]) else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parts_by_name(sentence: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The sentence for the only parameter that it names; for several, each one's words up to the next."""
    places = sorted(place for place in _mentions(sentence, names) if not _is_in_other_entry(sentence, place[0], names))
    if len({name for _, _, name in places}) < 2:
        yield from ((name, sentence[: _next_label(sentence, stop)]) for _, stop, name in places[:1])
        return
    before = 0
    for (start, stop, name), (end, _, _) in pairwise([*places, (len(sentence), 0, "")]):
        opening = max(sentence.rfind(mark, before, start) + 1 for mark in ",;:\n")
        yield name, sentence[max(before, opening) : min(end, _next_label(sentence, stop))]
        before = stop


def _is_in_other_entry(sentence: str, place: int, names: Sequence[str]) -> bool:
    """Return whether a name stands in another one's entry: "size: how many if verbose=True (default: 10)"."""
    start = sentence.rfind("\n", 0, place) + 1
    entry = _entry(sentence[start:].partition("\n")[0])
    return entry is not None and entry["name"] in names and start + entry.end("name") < place


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
    # `order_id` does not name the parameter id, nor does "user.name" name name
    if last.isalnum() or last in _GLUED or following.isalnum() or following in ("_", "/"):
        return False
    if last in _QUOTES:
        return following == last
    # `max_results` and `maxResults` are no plain words
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
_TEXT_PATTERNS = PatternTable("parameters")
_text_words = partial(words_from, "parameters")

MAX_PLACEHOLDER = 80
"""Characters of a text that is nothing but a placeholder."""


MAX_BLANK = 24
"""Characters of a text that is no word at all, unless it is Lorem ipsum."""


def is_placeholder(text: str, name: str) -> bool:
    """The text, of what has the name, only says that somebody still has to write it."""
    plain = text.strip()
    if len(text) > MAX_PLACEHOLDER:
        return False
    if name and plain.lower() in (f"{name.lower()} parameter", f"the {name.lower()} parameter"):  # a generator's
        return True
    if words_in(text).isdisjoint(_text_words("unwritten")):
        may_be_blank = len(plain) <= MAX_BLANK or "orem" in plain
        return may_be_blank and _TEXT_PATTERNS.blank.fullmatch(plain.lower()) is not None
    words = set(words_of(plain.replace(name, "") if name else plain))
    # "New description" is what `new_description` takes, "No description" is none
    is_bare = name.lower() not in plain.lower() and words <= _text_words("unwritten") | _ARTICLES
    is_told = is_bare or not words.isdisjoint(_text_words("absence"))
    return _is_unwritten(plain) or (
        not words.isdisjoint(_text_words("unwritten"))
        and is_told
        and words <= STOPWORDS | _text_words("unwritten") | _text_words("about_text")
    )


_ARTICLES = frozenset(("a", "an", "the", "this", "of", "parameter", "param", "argument", "tool"))


def find_unwritten(prose: Prose) -> str | None:
    """The first sentence of a description that still has to be written."""
    sentences = () if _text_words("unwritten").isdisjoint(prose.vocabulary) else prose.sentences
    return next(filter(_is_unwritten, sentences), None)


def _is_unwritten(text: str) -> bool:
    return _TEXT_PATTERNS.unwritten.fullmatch(text) is not None


def placeholders(remarks: Sequence[ParameterMention]) -> Iterator[ParameterMention]:
    """Those whose description is a placeholder."""
    yield from (remark for remark in remarks if is_placeholder(remark.text, remark.node.name or ""))


def restated(remarks: Sequence[ParameterMention]) -> Iterator[ParameterMention]:
    """Those whose description has no word that their name does not have, and whose schema tells only the type."""
    for remark in remarks:
        name, text = remark.node.name or "", remark.text
        if len(text) <= MAX_PLACEHOLDER and FORMING.isdisjoint(remark.node.schema) and _restates(text, name):
            yield remark


_VALUE_SIGNS = frozenset("'\"`0123456789")
"""A value is more than a name."""


@cached_by_text(1024)
def _restates(text: str, name: str) -> bool:
    parts = name_parts(name)
    # "The userId" for the parameter userId: its words are user and id
    text = text.replace(f"`{name}`", name).replace(name, " ".join(parts))
    if not _VALUE_SIGNS.isdisjoint(text):
        return False
    own = {stem(part) for part in parts}
    stems = {stem(part) for word in words_of(text) for part in name_parts(word)}
    return bool(stems) and bool(own) and stems - own <= _fillers()


@cache
def _fillers() -> frozenset[str]:
    return frozenset(map(stem, STOPWORDS | _text_words("fillers")))


def undescribed(shape: Shape, *, is_nested: bool) -> Iterator[Node]:
    """Properties without a description, neither their own nor that of what they refer to; constants need none."""
    unused = tuple(f"{shape.nodes[0].path}/$defs/{escape_step(name)}/" for name in unused_definitions(shape))
    for node in shape.nodes:
        if node.name is None or (is_nested and node.is_top) or "const" in node.schema:
            continue
        if unused and node.path.startswith(unused):
            continue  # no value of it is ever sent
        if not _has_text(node.schema) and not any(map(_has_text, _referred_schemas(node.schema, shape.root))):
            yield node


def unknown_members(shape: Shape, remarks: Sequence[ParameterMention], description: str) -> Iterator[Node]:
    """Yield objects, or lists of them, that take some members, of which neither schema nor text names one.

    Of one without a description, also an object of texts or numbers: its keys are as unknown.
    """
    texts = {remark.node.path: remark.text for remark in remarks}
    explained = {entry.name for entry in list_entries(description)}
    for node in shape.tops:
        own = type_beside_null(node.schema)[1]
        items = own.get("items")
        schema = items if isinstance(items, dict) else own
        beside_null = set() if own is node.schema else {"anyOf"}
        if schema.get("type") != "object" or not _MEMBER_KEYWORDS.isdisjoint(
            {*schema, *own, *node.schema} - beside_null
        ):
            continue
        text, values = texts.get(node.path), schema.get("additionalProperties", True)
        near_texts = (description if text is None else text, str(schema.get("description", "")))
        is_free = values in (True, {}) or (text is None and isinstance(values, dict) and "type" in values)
        is_shown = any(map(_TEXT_PATTERNS.members.search, near_texts)) or f"`{node.name}`" in description
        if is_free and not is_shown and node.name not in explained:
            yield node


_MEMBER_KEYWORDS = frozenset("properties patternProperties propertyNames examples anyOf oneOf allOf".split())
"""Keywords by which a schema says something of an object's members; a true `additionalProperties` is no such word."""


def explained_names(shape: Shape, description: str) -> frozenset[str]:
    """Return the parameters that refer to a described schema, or whose own properties are all described.

    So are dates if the description shows how to write one, "ISO dates (YYYY-MM-DD)", and the only required parameter if
    a heading is about that: "Supported ID formats:" for `chem_id`.
    """
    needed = [node.name for node in shape.tops if node.name and node.is_required]
    heads = [words_in(line.rpartition(":")[0]) for line in description[:MAX_TEXT].split("\n") if ":" in line]
    words = {stem(word) for head in heads if not head.isdisjoint(_text_words("form_headings")) for word in head}
    headed = [name for name in needed if len(needed) == 1 and stem((name_parts(name) or (name,))[-1].lower()) in words]
    silent = (node for node in shape.tops if node.name and not _has_text(node.schema))
    return frozenset(headed).union(
        node.name or ""
        for node in silent
        if (is_date(node.name or "") and _TEXT_PATTERNS.date_form.search(description))
        or any(map(_is_explained, _referred_schemas(node.schema, shape.root)))
    )


def _is_explained(schema: Mapping[str, Any]) -> bool:
    members = keyword_members(schema).values()
    # an object without members takes nothing that a text could explain
    is_empty = schema.get("type") == "object" and schema.get("properties") == {}
    return (
        is_empty
        or _has_text(schema)
        or (bool(members) and all(isinstance(part, dict) and _has_text(part) for part in members))
    )


def _referred_schemas(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
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


def tells_result(shape: Shape) -> bool:
    """Return whether an output schema names a field, describes the result, or limits it to more than a type.

    The `result` in which FastMCP wraps whatever a function returns is no field.
    """
    is_wrapped = keyword_members(shape.root).keys() == {"result"}
    nodes = shape.nodes[1:] if is_wrapped else shape.nodes
    return bool(shape.names - {"result" if is_wrapped else ""}) or any(map(_tells, nodes))


def is_any_object(shape: Shape) -> bool:
    """Return whether a schema takes any object or a list of any, in FastMCP's wrapper or without, and tells no more."""
    schema = keyword_members(shape.root).get("result", shape.root)
    while isinstance(schema, dict) and schema.get("type") == "array":
        schema = schema.get("items")
    return not tells_result(shape) and isinstance(schema, dict) and schema.get("type") == "object"


def _tells(node: Node) -> bool:
    is_limited = not _TELLING_KEYWORDS.isdisjoint(node.schema) or node.schema.get("type") in _TELLING_TYPES
    return is_limited or _has_text(node.schema)


_TELLING_KEYWORDS = frozenset("enum const format pattern examples".split())
_TELLING_TYPES = ("integer", "number", "boolean")


def _explained(schema: Mapping[str, Any]) -> frozenset[str]:
    """The names that a description explains."""
    text = schema.get("description")
    pairs = _TEXT_PATTERNS.explained.findall(text[:MAX_TEXT]) if isinstance(text, str) else ()
    return frozenset(name for pair in pairs for name in pair if name)


def _has_text(schema: Mapping[str, object]) -> bool:
    text = schema.get("description")
    return isinstance(text, str) and bool(text.strip())


def is_count(node: Node, text: str) -> bool:
    """Return whether a parameter counts things, by its text and its name: "Maximum number of results", `limit`."""
    parts = name_parts(node.name or "")
    return bool(parts) and parts[-1] in _text_words("counts") and _TEXT_PATTERNS.counted.search(text) is not None


def evident_names(tool: Tool, words: Iterable[str], siblings: AbstractSet[str]) -> frozenset[str]:
    """Return the parameters whose schema or name shows what to send, whether or not a text describes them.

    `{"enum": ["asc", "desc"]}`, `{"default": 20}`, `branch_name` of `get_branch`, and an object whose required members
    do; `data` and `opts` do not. `words` are those of the description, `siblings` those of the names of the server's
    tools, singular: a server with `list_courses` has courses, which a `course_id` identifies.
    """
    root = tool.input_schema or {}
    own = {word.removesuffix("s") for word in (*name_parts(tool.name), *words)} | _text_words("identifying")

    def is_known(name: str) -> bool:
        parts = (part.removesuffix("s") for part in name_parts(name))
        return all(part in own or part in siblings for part in parts)

    return frozenset(
        name for name, schema in arguments.properties(tool).items() if _is_evident(name, schema, root, is_known)
    )


def _is_evident(
    name: str, schema: object, root: Mapping[str, Any], is_known: Callable[[str], bool], *, is_member: bool = False
) -> bool:
    if not isinstance(schema, dict):
        return False
    is_shaped = schema.get("type") == "boolean" or not FORMING.isdisjoint(schema.keys() - {"default"})
    if is_shaped or schema.get("default") not in (None, "", [], {}):
        return bool(schema.get("type") != "object")
    for branch in _referred_schemas(schema, root):  # a list is as evident as its items
        if branch.get("type") == "object":
            members, needed = keyword_members(branch), required_names(branch)
            # an object within an object needs a word, and may be a member of itself
            if needed and not is_member:
                return all(
                    _is_evident(member, members.get(member), root, is_known, is_member=True) for member in needed
                )
            if schema.get("type") != "array":
                return False
    return is_known(name)


def type_beside_null(schema: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
    """Return the only type that a schema takes beside null, and the schema that has it: `int | None` is an integer."""
    variants, kind = schema.get("anyOf"), schema.get("type")
    if variants is None and isinstance(kind, str):
        return kind, schema
    members = [
        member
        for member in (variants if isinstance(variants, list) else ())
        if isinstance(member, dict) and member.get("type") != "null"
    ]
    schema = members[0] if len(members) == 1 else schema
    kinds = schema.get("type")
    kinds = [kind for kind in kinds if kind != "null"] if isinstance(kinds, list) else [kinds]
    return (kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else None), schema


def is_date(name: str) -> bool:
    """Return whether the name is that of a date: `dueDate`, `since`."""
    parts = name_parts(name)
    return bool(parts) and (parts[-1] in _text_words("dates") or parts[0] in _text_words("date_ends"))


FORMING = frozenset("format pattern examples enum const default".split())
"""Keywords that show how to write a value."""


@cache
def known_units() -> Mapping[str, tuple[str, str]]:
    """Kind and unit by the words that stand for it."""
    table = read_table("parameters")["units"]
    return {
        word: (kind, words.split()[0]) for kind, lines in table.items() for words in lines for word in words.split()
    }
