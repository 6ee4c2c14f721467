"""Where in a JSON file a value stands: line and column of what a JSON pointer names."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.results.findings import Location
from tdqs_mcp.sources.files import read_catalog

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_SPELLINGS = {"inputSchema": ("parameters", "input_schema"), "outputSchema": ("output_schema",)}
"""What OpenAI's and Anthropic's formats call a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a text, both counted from 1; columns are characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """A file's text, scanned once."""

    catalog: Catalog
    """The parts as this scan has read them, so that their values are known by identity."""

    text: str
    nodes: "Mapping[int, Node]"
    newlines: Sequence[int]

    def find(self, place: Location) -> Position | None:
        """Where the value stands, or the nearest one around it where it is missing; None for the server's own."""
        parts = {"tool": self.catalog.tools, "resource": self.catalog.resources, "prompt": self.catalog.prompts}
        listed: Sequence[Any] = parts.get(place.kind) or ()
        if place.index is None or place.index >= len(listed):
            return None
        offset = self._offset(listed[place.index].raw, place.path)
        return None if offset is None else self._position(offset)

    def node(self, raw: Any) -> "Node | None":  # noqa: ANN401  # any JSON value
        """Where an object or an array of the catalog stands, a tool in another format under MCP's keys."""
        return self.nodes.get(id(raw)) or self._renamed(raw)

    def end(self, start: int) -> int:
        """The offset behind the value that begins at an offset."""
        return _DECODER.raw_decode(self.text, start)[1]

    def _offset(self, raw: Any, pointer: str) -> int | None:  # noqa: ANN401
        node = self.node(raw)
        if node is None:
            return None
        offset, value = node.start, raw
        for key in split_pointer(pointer):
            child = node.children.get(key) if node else None
            if node is None or child is None:
                break
            offset, value = child
            node = self.nodes.get(id(value))
        return offset

    def _renamed(self, raw: Any) -> "Node | None":  # noqa: ANN401
        """The node of a definition in another format, found by one of its values, under MCP's keys."""
        values = raw.values() if isinstance(raw, Mapping) else ()
        parents = [self.nodes[id(value)].parent for value in values if id(value) in self.nodes]
        if not parents or parents[0] is None:
            return None
        node = parents[0]
        spelled = {
            ours: node.children[theirs]
            for ours, others in _SPELLINGS.items()
            for theirs in others
            if theirs in node.children
        }
        children = {**spelled, **node.children}
        return Node(start=node.start, parent=None, children=children, is_repeated=node.is_repeated)

    def _position(self, offset: int) -> Position:
        line = bisect_right(self.newlines, offset - 1)
        return Position(line=line + 1, column=offset - (self.newlines[line - 1] if line else -1))


@dataclass(slots=True, kw_only=True)
class Node:
    """An object or an array of the text, and where its entries stand."""

    start: int
    parent: "Node | None"
    children: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """Start and value by key, or by index in decimal."""

    is_repeated: bool = False
    """A key stands in it more than once: readers take the last, and people the one that they see."""


def locate(content: bytes) -> Positions | None:
    """The positions in a JSON file that holds definitions; None for one that is nested too deep to be scanned."""
    text = content.decode(json.detect_encoding(content), "surrogatepass")
    scan = _Scan(text)
    try:
        data, _ = scan.value(_skip(text, 0), None)
        catalog = read_catalog(data, name="")
    except (RecursionError, InputError, ValueError, IndexError):
        return None
    newlines = [found.start() for found in re.finditer("\n", text)]
    return Positions(catalog=catalog, text=text, nodes=scan.nodes, newlines=newlines)


class _Scan:
    """Reads JSON that `json` has accepted, and remembers where each object and array stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.nodes: dict[int, Node] = {}
        self._kept: list[Any] = []

    def value(self, start: int, parent: Node | None) -> tuple[Any, int]:
        """The value at an offset and the offset behind it."""
        match self._text[start]:
            case "{":
                return self._object(Node(start=start, parent=parent))
            case "[":
                return self._array(Node(start=start, parent=parent))
            case _:
                return _DECODER.raw_decode(self._text, start)

    def _object(self, node: Node) -> tuple[dict[str, Any], int]:
        value: dict[str, Any] = {}
        self._keep(value, node)
        at = _skip(self._text, node.start + 1)
        while self._text[at] != "}":
            key, at = _DECODER.raw_decode(self._text, at)
            start = _skip(self._text, _skip(self._text, at) + 1)
            node.is_repeated |= key in value
            value[key], at = self.value(start, node)
            node.children[key] = (start, value[key])
            at = self._next(at)
        return value, at + 1

    def _array(self, node: Node) -> tuple[list[Any], int]:
        value: list[Any] = []
        self._keep(value, node)
        at = _skip(self._text, node.start + 1)
        while self._text[at] != "]":
            entry, end = self.value(at, node)
            node.children[str(len(value))] = (at, entry)
            value.append(entry)
            at = self._next(end)
        return value, at + 1

    def _keep(self, value: Any, node: Node) -> None:  # noqa: ANN401
        """Remember a container; one that a repeated key replaces stays alive, so that no other takes its identity."""
        self.nodes[id(value)] = node
        self._kept.append(value)

    def _next(self, at: int) -> int:
        """Where the next entry, or the end, begins."""
        at = _skip(self._text, at)
        return _skip(self._text, at + 1) if self._text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
