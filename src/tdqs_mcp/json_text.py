"""JSON texts: values of text that not every reader takes, places of their parts, edits that leave every other byte."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.model import MAX_DEPTH, DuplicateKeys

_STRING = r'"(?:\\.|[^"\\])*"'
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}]|-?\d[\d.eE+-]*", re.DOTALL)
"""The strings, brackets and numbers of a JSON text."""

_COMMENT = re.compile(rf"{_STRING}|//[^\n\r]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


_FENCE = "```"

MAX_DIGITS = 400
"""Digits of an integer; a double has at most 309."""


def parse_json(content: bytes, *, origin: str) -> object:
    """The JSON value of some bytes. Raises InputError that names the origin, the line and the column."""
    try:
        return read_json(content)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in error.doc else ""
        empty = "" if content.strip() else ", as it is empty: save the JSON there first"
        raise InputError(f"{origin} is not valid JSON: {error.msg} at {line}column {error.colno}{empty}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{origin} is not UTF-8 text: byte {error.start} cannot be decoded; save it as UTF-8"
        ) from error
    except RecursionError as error:
        raise InputError(f"{origin} nests too deep to be read as JSON") from error


def read_json(content: bytes | str) -> object:
    """The JSON value, also of text that not every reader takes: for what is odd in it there is `sanitize`.

    Nesting beyond what this interpreter can read is cut. Raises ValueError, and RecursionError where that has no end.
    """
    read = partial(json.loads, object_pairs_hook=_object)
    try:
        return read(content)
    except RecursionError:
        text = content if isinstance(content, str) else content.decode(json.detect_encoding(content))
        return read(_shallow(text))
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            raise
        return read(content, parse_int=_integer)


def _integer(digits: str) -> float:
    """An integer of more digits than Python reads is beyond every double too."""
    return int(digits) if len(digits) < MAX_DIGITS else float(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    repeated = DuplicateKeys(members)
    counts = Counter(key for key, _ in pairs)
    repeated.repeated = tuple(key for key, count in counts.items() if count > 1)
    return repeated


def _shallow(text: str) -> str:
    """The text with null in place of what nests deeper than MAX_DEPTH. Raises RecursionError where that never ends."""
    parts, depth, end = [], 0, 0
    for match in _TOKEN.finditer(text):
        if match[0] in ("[", "{"):
            depth += 1
            if depth == MAX_DEPTH + 2:
                parts.append(text[end : match.start()])
        elif match[0] in ("]", "}"):
            depth -= 1
            if depth == MAX_DEPTH + 1:
                parts.append("null")
                end = match.end()
    if depth > MAX_DEPTH + 1:
        raise RecursionError
    return "".join([*parts, text[end:]])


def read_only_object(text: str) -> object:
    """The JSON value of a text that may have a code fence or prose around it, as the answer of a model.

    Prose around it is allowed if there is one object only; of two objects, nobody can say which is the answer. Raises
    ValueError, and RecursionError for what nests too deep.
    """
    text = text.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text.strip("`").removeprefix("json").removeprefix("JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        start = text.find("{")
        try:
            value, end = _DECODER.raw_decode(text, start) if start > -1 else (None, 0)
        except (ValueError, RecursionError):
            value, end = None, 0
        if value is None or "{" in text[end:] or "}" in text[end:]:
            raise
        return value


def read_with_comments(text: str) -> Any:  # noqa: ANN401  # foreign JSON
    """The value of a text with comments and trailing commas, as editors keep their settings. Raises ValueError."""
    try:
        return json.loads(text or "{}")
    except json.JSONDecodeError:
        return JsonText(text, has_comments=True).value


def hide(result: Mapping[str, Any], hidden: Sequence[str], mark: str) -> Mapping[str, Any]:
    """An answer with a mark in place of everything that is to be hidden, in names and in values."""
    written = [json.dumps(secret)[1:-1] for secret in hidden]
    text = json.dumps(result)
    if not any(spelling in text for spelling in written):
        return result
    either = re.compile("|".join(map(re.escape, written)))

    def cover(match: re.Match[str]) -> str:
        if match[0][0] == '"':
            return either.sub(mark, match[0])
        return f'"{mark}"' if match[0] in written else match[0]  # a number: "4711" may be a password

    covered: Mapping[str, Any] = json.loads(_TOKEN.sub(cover, text))
    return covered


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """New text for a range of the old one, in characters; an insertion if the range is empty."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """Return the text with all edits made, which must not overlap."""
    parts, at = [], 0
    for edit in sorted(edits, key=attrgetter("start", "end")):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a text, both counted from 1; columns are characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonMember:
    """A value of an object or an array."""

    key: int
    """Offset of its key; of the value in an array."""

    start: int
    end: int
    """Offsets of the value and behind it."""

    value: Any


@dataclass(slots=True, kw_only=True)
class JsonNode:
    """An object or an array of the text."""

    start: int
    parent: "JsonNode | None"
    end: int = 0
    """Offset of the closing bracket."""

    members: dict[str, JsonMember] = field(default_factory=dict)
    """By key, or by index in decimal."""

    is_repeated: bool = False
    """A key occurs in it more than once: readers take the last, and people the one that they see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How the members of an object are written."""

    lead: str
    """White space between a comma and the next key."""

    colon: str
    unit: str | None
    """What one level is indented by; None where values stand on one line."""

    is_ascii: bool
    """Other characters are escaped."""

    def value(self, value: object) -> str:
        """Return a JSON value in which nothing is invisible, its lines as deep as the object's members."""
        unit = self.unit if isinstance(value, dict) else None
        space = " " * self.colon.endswith(" ")
        separators = (",", ": ") if unit else (f",{space}", f":{space}")
        text = json.dumps(value, indent=unit, separators=separators, ensure_ascii=self.is_ascii)
        printable = "".join(
            character if character.isprintable() or character in "\n\t" else json.dumps(character)[1:-1]
            for character in text
        )
        return printable.replace("\n", self.lead) if unit else printable


class JsonText:
    """A JSON text, scanned once."""

    def __init__(self, text: str, *, has_comments: bool = False) -> None:
        """Reads what `json` accepts; with `has_comments` also comments, trailing commas and an empty text.

        Raises ValueError for anything else.
        """
        self.text = text if text.strip() or not has_comments else "{}\n"
        self._commas = _COMMENT.sub(_blank, self.text) if has_comments else self.text
        """The text without comments, of the same length."""

        self._plain = _LAST_COMMA.sub(_blank, self._commas) if has_comments else self.text
        if has_comments:
            json.loads(self._plain)  # raises what the scan would not notice
        self._nodes: dict[int, JsonNode] = {}
        self._values: list[Any] = []
        self.value, _ = self._scan(self._skip(0), None)

    def node(self, value: Any) -> JsonNode | None:  # noqa: ANN401  # any JSON value
        """Return where an object or an array of `value` stands, known by its identity."""
        return self._nodes.get(id(value))

    def position(self, offset: int) -> Position:
        """Return line and column of an offset."""
        line = bisect_right(self._newlines, offset - 1)
        return Position(line=line + 1, column=offset - (self._newlines[line - 1] if line else -1))

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    # Editing

    def replace(self, node: JsonNode, key: str, value: object) -> TextEdit:
        """Return the edit that gives a member another value."""
        member = node.members[key]
        return TextEdit(start=member.start, end=member.end, text=self._layout(node).value(value))

    def insert(self, node: JsonNode, members: Mapping[str, object]) -> list[TextEdit]:
        """Return the edits that add members behind the last one of an object."""
        layout = self._layout(node)
        texts = [f"{layout.value(key)}{layout.colon}{layout.value(value)}" for key, value in members.items()]
        added = f",{layout.lead}".join(texts)
        if not node.members:
            inside = self.text[node.start + 1 : node.end]
            is_inline = "\n" not in layout.lead
            last = "" if is_inline or "\n" in inside else self._newline + self._indent(node.start)
            lead = "" if is_inline else layout.lead
            end = node.end if last and not inside.strip() else node.start + 1
            return [TextEdit(start=node.start + 1, end=end, text=f"{lead}{added}{last}")]
        end = max(member.end for member in node.members.values())
        comma = self._commas.find(",", end, node.end)
        at = end if comma < 0 else comma + 1
        if "\n" in layout.lead:  # {"a": 1 // one\n}: what goes on in the same line goes before its comment
            at = self._line_end(at, node.end)
        if comma >= 0:  # a trailing comma, which stays the style of the object
            return [TextEdit(start=at, end=at, text=f"{layout.lead}{added},")]
        if at == end:
            return [TextEdit(start=end, end=end, text=f",{layout.lead}{added}")]
        return [TextEdit(start=end, end=end, text=","), TextEdit(start=at, end=at, text=f"{layout.lead}{added}")]

    def with_entry(self, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
        """Return the text with an object under some keys; what else an object there has stays. Raises ValueError."""
        node = self._object(self.value)
        for place, key in enumerate(keys):
            if key not in node.members:
                value: Any = entry
                for outer in reversed(keys[place + 1 :]):
                    value = {outer: value}
                return edited(self.text, self.insert(node, {key: value}))
            node = self._object(node.members[key].value)
        members = node.members
        edits = [
            self.replace(node, key, part)
            for key, part in entry.items()
            if key in members and members[key].value != part
        ]
        if missing := {key: part for key, part in entry.items() if key not in members}:
            edits += self.insert(node, missing)
        return edited(self.text, edits)

    def without_entry(self, keys: Sequence[str]) -> str:
        """Return the text without the member that the keys lead to. Raises ValueError where there is none."""
        node, member = self._object(self.value), None
        for key in keys:
            node = node if member is None else self._object(member.value)
            member = node.members.get(key)
            if member is None:
                raise ValueError(f"there is no {key!r}")
        if member is None:
            raise ValueError("there is no key to remove")
        start, end = member.key, member.end
        follows = self._skip(end, self._commas)
        if self._commas[follows] == ",":
            if not self.text[end:follows].strip():
                return _cut(self.text, start, follows + 1)
            return _cut(self.text[:follows] + self.text[follows + 1 :], start, end)
        if before := [sibling.end for sibling in node.members.values() if sibling.end < start]:
            comma = self._commas.index(",", max(before))
            rest = _cut(self.text, start, end)
            return rest[:comma] + rest[comma + 1 :]
        if not self.text[node.start + 1 : start].strip() and not self.text[end : node.end].strip():
            return self.text[: node.start + 1] + self.text[node.end :]
        return _cut(self.text, start, end)

    def _object(self, value: object) -> JsonNode:
        node = self.node(value) if isinstance(value, dict) else None
        if node is None:
            raise ValueError("a list or a value stands where an object belongs")
        if node.is_repeated:
            raise ValueError("a key stands twice in one object")
        return node

    def _layout(self, node: JsonNode) -> _Layout:
        is_ascii = self.text.isascii() and "\\u" in self.text
        members = list(node.members.values())
        colon = ": "
        if members:
            key_end = _DECODER.raw_decode(self._plain, members[0].key)[1]
            spelled = self._plain[key_end : members[0].start]
            colon = spelled if spelled.strip() == ":" and len(spelled) <= len(" : ") else colon
            if "\n" in self.text[node.start : members[-1].key]:
                lead = self._newline + self._indent(members[-1].key)
                return _Layout(lead=lead, colon=colon, unit=self._unit, is_ascii=is_ascii)
        elif self._has_lines:
            lead = self._newline + self._indent(node.start) + self._unit
            return _Layout(lead=lead, colon=colon, unit=self._unit, is_ascii=is_ascii)
        return _Layout(lead=" " * colon.endswith(" "), colon=colon, unit=None, is_ascii=is_ascii)

    @cached_property
    def _has_lines(self) -> bool:
        """The text is laid out in lines, or is an empty object that may begin to be."""
        body = self._plain.strip()
        return "\n" in body or not body[1:-1].strip()

    @cached_property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @cached_property
    def _unit(self) -> str:
        """Return one level of indentation."""
        lines = [line for line in self._plain.splitlines() if line.strip()]
        steps = (
            deep[: len(deep) - len(deep.lstrip())]
            for flat, deep in pairwise(lines)
            if not flat[:1].isspace() and deep[:1].isspace()
        )
        return next(steps, "  ")

    def _indent(self, at: int) -> str:
        """The white space that the line of an offset begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    def _line_end(self, at: int, limit: int) -> int:
        """The end of the line, behind the comments on it; the offset itself where something else follows."""
        match = re.compile(r"[ \t]*(?=\r?\n)").match(self._commas, at, limit)
        if match is None or self._commas is self.text:
            return at
        spans = (comment.span() for comment in _COMMENT.finditer(self.text) if comment[0][0] == "/")
        return next((end for start, end in spans if start < match.end() < end), match.end())

    # Scanning

    def _scan(self, start: int, parent: JsonNode | None) -> tuple[Any, int]:
        """The value at an offset and the offset behind it."""
        if self._plain[start] not in "{[":
            return _DECODER.raw_decode(self._plain, start)
        node = JsonNode(start=start, parent=parent)
        value: Any = {} if self._plain[start] == "{" else []
        self._nodes[id(value)] = node
        # A value that a repeated key replaces stays alive, so that no other takes its identity.
        self._values.append(value)
        at = self._skip(start + 1)
        while self._plain[at] not in "}]":
            at = self._scan_entry(at, value, node)
        node.end = at
        return value, at + 1

    def _scan_entry(self, at: int, value: Any, node: JsonNode) -> int:  # noqa: ANN401  # an object or an array
        """Reads one entry into the value; returns where the next one, or the end, begins."""
        key, start = str(len(value)), at
        if isinstance(value, dict):
            key, start = _DECODER.raw_decode(self._plain, at)
            start = self._skip(self._skip(start) + 1)
        entry, end = self._scan(start, node)
        node.is_repeated |= key in node.members
        node.members[key] = JsonMember(key=at, start=start, end=end, value=entry)
        if isinstance(value, dict):
            value[key] = entry
        else:
            value.append(entry)
        end = self._skip(end)
        return self._skip(end + 1) if self._plain[end] == "," else end

    def _skip(self, at: int, text: str | None = None) -> int:
        match = _SPACE.match(self._plain if text is None else text, at)
        return match.end() if match else at


def _cut(text: str, start: int, end: int) -> str:
    """The text without a range, and without its lines where nothing else is on them."""
    lead = len(text[:start].rstrip(" \t"))
    is_first = text[:lead].endswith("\n")  # the bracket around it always comes before
    if is_first and re.compile(r"[ \t]*(\r?\n|\Z)").match(text, end):
        return text[:lead].removesuffix("\n").removesuffix("\r") + text[end:]
    return text[: start if is_first else lead] + text[end:]


def _blank(match: re.Match[str]) -> str:
    """A string as it is, anything else as white space of its length."""
    return match[0] if match[0][0] == '"' else re.sub(r"[^\r\n]", " ", match[0])
