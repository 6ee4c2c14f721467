"""Where in a JSON file a value stands: line and column of what a JSON pointer names."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
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


@dataclass(slots=True, kw_only=True)
class Node:
    """An object or an array of the text, and where its entries stand."""

    start: int
    parent: "Node | None"
    children: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """Start and value by key, or by index in decimal."""

    is_repeated: bool = False
    """A key occurs in it more than once: readers take the last, and people the one that they see."""


def locate(content: bytes) -> "Positions | None":
    """The positions in a JSON file that holds definitions; None for one that is nested too deep to be scanned."""
    try:
        return Positions(content.decode(json.detect_encoding(content), "surrogatepass"))
    except (RecursionError, InputError, ValueError, IndexError):
        return None


class Positions:
    """A file's text, which `json` has accepted, scanned once: where each of its objects and arrays stands."""

    def __init__(self, text: str) -> None:
        """Raises what reading a text that is no catalog leads to."""
        self.text = text
        self._nodes: dict[int, Node] = {}
        self._kept: list[Any] = []
        data, _ = self._scan(_skip_space(text, 0), None)
        self.catalog = read_catalog(data, name="")
        """The parts as this scan has read them, so that their values are known by identity."""

        self._newlines = [found.start() for found in re.finditer("\n", text)]

    def find(self, place: Location) -> Position | None:
        """Where the value stands, or the nearest one around it where it is missing; None for the server's own."""
        parts = {"tool": self.catalog.tools, "resource": self.catalog.resources, "prompt": self.catalog.prompts}
        listed: Sequence[Any] = parts.get(place.kind) or ()
        if place.index is None or place.index >= len(listed):
            return None
        value = listed[place.index].raw
        node = self.node(value)
        if node is None:
            return None
        offset = node.start
        for key in split_pointer(place.path):
            if node is None or key not in node.children:
                break
            offset, value = node.children[key]
            node = self._nodes.get(id(value))
        line = bisect_right(self._newlines, offset - 1)
        return Position(line=line + 1, column=offset - (self._newlines[line - 1] if line else -1))

    def node(self, raw: Any) -> Node | None:  # noqa: ANN401  # any JSON value
        """Where an object or an array of the catalog stands, a tool in another format under MCP's keys."""
        if id(raw) in self._nodes:
            return self._nodes[id(raw)]
        values = raw.values() if isinstance(raw, Mapping) else ()
        parents = [self._nodes[id(value)].parent for value in values if id(value) in self._nodes]
        if not parents or parents[0] is None:
            return None
        node = parents[0]
        spelled = {
            ours: node.children[theirs]
            for ours, others in _SPELLINGS.items()
            for theirs in others
            if theirs in node.children
        }
        return replace(node, parent=None, children={**spelled, **node.children})

    def end(self, start: int) -> int:
        """The offset behind the value that begins at an offset."""
        return _DECODER.raw_decode(self.text, start)[1]

    def _scan(self, start: int, parent: Node | None) -> tuple[Any, int]:
        """The value at an offset and the offset behind it."""
        if self.text[start] not in "{[":
            return _DECODER.raw_decode(self.text, start)
        node = Node(start=start, parent=parent)
        value: Any = {} if self.text[start] == "{" else []
        self._nodes[id(value)] = node
        # A value that a repeated key replaces stays alive, so that no other takes its identity.
        self._kept.append(value)
        at = _skip_space(self.text, start + 1)
        while self.text[at] not in "}]":
            at = self._scan_entry(at, value, node)
        return value, at + 1

    def _scan_entry(self, at: int, value: Any, node: Node) -> int:  # noqa: ANN401  # an object or an array
        """Reads one entry into the value; returns where the next one, or the end, begins."""
        if isinstance(value, dict):
            key, at = _DECODER.raw_decode(self.text, at)
            at = _skip_space(self.text, _skip_space(self.text, at) + 1)
            node.is_repeated |= key in value
            value[key], end = self._scan(at, node)
            node.children[key] = (at, value[key])
        else:
            entry, end = self._scan(at, node)
            node.children[str(len(value))] = (at, entry)
            value.append(entry)
        end = _skip_space(self.text, end)
        return _skip_space(self.text, end + 1) if self.text[end] == "," else end


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
