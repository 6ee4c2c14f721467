"""Edits of a text and the unified diff that makes them; the edits that rewrite a JSON file of definitions."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from operator import attrgetter

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.results.rewrites import Change, Rewrite
from tdqs_mcp.sources.positions import Node, Positions, locate

CONTEXT = 3
"""Lines around a change, as `diff -u` and git show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """New text for a stretch of the old one, in characters; an insertion where both ends are one."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A change that the author has to make."""

    tool: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A unified diff for `patch -p1` and `git apply`, and what is not in it."""

    diff: bytes
    """In each file's own encoding; empty where nothing changes."""

    made: int
    """Changes of definitions in the diff."""

    left_out: tuple[LeftOut, ...] = ()
    problems: tuple[str, ...] = ()
    """Files that could not be searched, one sentence each."""


def patch_json(content: bytes, rewrites: Sequence[Rewrite], *, name: str) -> Patch:
    """The patch of a file that holds the definitions; every byte that no change names stays, order and layout too."""
    encoding = json.detect_encoding(content)
    positions = locate(content) if encoding in ("utf-8", "utf-8-sig") else None
    if positions is None:
        return Patch(diff=b"", made=0, problems=(f"{name!r} is no UTF-8 file of definitions that can be patched",))
    edits, left_out = _json_edits(positions, rewrites)
    mark = "\ufeff" * (encoding == "utf-8-sig")
    shifted = [Edit(start=len(mark) + each.start, end=len(mark) + each.end, text=each.text) for each in edits]
    diff = unified(mark + positions.text, _together(shifted), name=name).encode("utf-8", "surrogatepass")
    return Patch(diff=diff, made=len(edits), left_out=left_out)


def write_json(content: bytes, rewrites: Sequence[Rewrite]) -> tuple[bytes, tuple[LeftOut, ...]]:
    """The same file with the rewrites made in it, and what could not be; every byte that no change names stays.

    Raises InputError for a file that nests too deep to be scanned.
    """
    positions = locate(content)
    if positions is None:
        raise InputError("the file nests too deep to be written back; nothing was written")
    edits, left_out = _json_edits(positions, rewrites)
    text = edited(positions.text, _together(edits))
    return text.encode(json.detect_encoding(content), "surrogatepass"), left_out


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made, which must not overlap."""
    parts, at = [], 0
    for edit in sorted(edits, key=attrgetter("start", "end")):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def unified(text: str, edits: Sequence[Edit], *, name: str) -> str:
    """The diff that makes the edits, below `a/` and `b/`; lines end at line feeds alone, as they do for `patch`.

    Only lines that an edit touches are compared, so a large file costs no more than its edits.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    hunks = list(_hunks(lines, [each for block in _blocks(text, edits, starts) for each in _shrunk(lines, block)]))
    if not hunks:
        return ""
    return "".join([f"--- {_spelled(f'a/{name}')}\n+++ {_spelled(f'b/{name}')}\n", *hunks])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Lines `start` to before `end` of the old text and what replaces them."""

    start: int
    end: int
    lines: tuple[str, ...]


def _blocks(text: str, edits: Sequence[Edit], starts: Sequence[int]) -> Iterator[_Block]:
    """The whole lines that edits touch, edits of one line together."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(edits, key=attrgetter("start", "end")):
        first, last = bisect_right(starts, edit.start) - 1, bisect_right(starts, edit.end) - 1
        if groups and first <= groups[-1][1]:
            group = groups.pop()
            groups.append((group[0], max(group[1], last), [*group[2], edit]))
        else:
            groups.append((first, last, [edit]))
    for first, last, touched in groups:
        begin, end = starts[first], starts[last + 1] - 1
        local = [Edit(start=each.start - begin, end=each.end - begin, text=each.text) for each in touched]
        yield _Block(start=first, end=last + 1, lines=tuple(edited(text[begin:end], local).split("\n")))


def _shrunk(lines: Sequence[str], block: _Block) -> Iterator[_Block]:
    """The block without the lines that stay as they are."""
    old = lines[block.start : block.end]
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, block.lines, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _Block(start=block.start + start, end=block.start + end, lines=block.lines[new_start:new_end])


def _hunks(lines: Sequence[str], blocks: Sequence[_Block]) -> Iterator[str]:
    """Blocks with their context, those that share some in one hunk; the empty line after the last feed is none."""
    count = len(lines) - (not lines[-1])
    grown, position = 0, 0
    while position < len(blocks):
        group = [blocks[position]]
        while position + len(group) < len(blocks) and (
            blocks[position + len(group)].start - group[-1].end <= 2 * CONTEXT
        ):
            group.append(blocks[position + len(group)])
        position += len(group)
        start, end = max(0, group[0].start - CONTEXT), min(count, group[-1].end + CONTEXT)
        body, at, added = [], start, 0
        for block in group:
            body += [_line(" ", lines, each) for each in range(at, block.start)]
            body += [_line("-", lines, each) for each in range(block.start, block.end)]
            is_last = block.end == len(lines)
            new = [f"+{line}\n" for line in block.lines]
            body += [*new, _NO_FEED * (is_last and bool(new))]
            added += len(new) - (block.end - block.start)
            at = block.end
        body += [_line(" ", lines, each) for each in range(at, end)]
        size = end - start
        yield f"@@ -{_range(start, size)} +{_range(start + grown, size + added)} @@\n{''.join(body)}"
        grown += added


_NO_FEED = "\\ No newline at end of file\n"


def _line(sign: str, lines: Sequence[str], index: int) -> str:
    return f"{sign}{lines[index]}\n{_NO_FEED * (index == len(lines) - 1)}"


def _range(start: int, size: int) -> str:
    """A range as unified diffs write it: counted from 1, an empty one by the line before it."""
    return f"{start + (size > 0)}" if size == 1 else f"{start + (size > 0)},{size}"


def _spelled(name: str) -> str:
    """A file's name in a header: quoted as in C where it holds what would end it, and ended by a tab after a space."""
    if any(not character.isprintable() or character in '"\\' for character in name):
        return json.dumps(name, ensure_ascii=False)
    return f"{name}\t" if " " in name else name


def _json_edits(positions: Positions, rewrites: Sequence[Rewrite]) -> tuple[list[Edit], tuple[LeftOut, ...]]:
    """The edits that make the changes, and the changes for which there is none."""
    edits: list[Edit] = []
    left_out: list[LeftOut] = []
    for rewrite in rewrites:
        for change in rewrite.changes:
            edit = _json_edit(positions, rewrite, change)
            if isinstance(edit, str):
                left_out.append(LeftOut(tool=rewrite.name, path=change.path, reason=edit))
            else:
                edits.append(edit)
    return edits, tuple(left_out)


def _json_edit(positions: Positions, rewrite: Rewrite, change: Change) -> Edit | str:
    """The change in the file, another value or a member behind the last one; or why there is none."""
    tools = positions.catalog.tools
    if rewrite.index >= len(tools) or tools[rewrite.index].name != rewrite.name:
        return "the file has no place for it"
    *parents, key = split_pointer(change.path)
    way = [positions.node(tools[rewrite.index].raw)]
    for parent in parents:
        child = way[-1].children.get(parent) if way[-1] else None
        way.append(positions.nodes.get(id(child[1])) if child else None)
    if any(each.is_repeated for each in way if each):
        return "a key stands twice in its definition, and readers differ in which of them they take"
    node = way[-1]
    if node is None or positions.text[node.start] != "{":
        return "the file has no place for it"
    layout = _Layout.of(positions, node)
    if key in node.children:
        start = node.children[key][0]
        return Edit(start=start, end=positions.end(start), text=layout.value(change.after))
    member = f"{layout.value(key)}{layout.colon}{layout.value(change.after)}"
    if not node.children:
        return Edit(start=node.start + 1, end=node.start + 1, text=member)
    end = max(positions.end(start) for start, _ in node.children.values())
    return Edit(start=end, end=end, text=f",{layout.lead}{member}")


def _together(edits: Sequence[Edit]) -> list[Edit]:
    """Members that go behind the same one as one edit, in the order of the changes."""
    merged: dict[tuple[int, int], str] = {}
    for edit in edits:
        known = merged.get((edit.start, edit.end))
        comma = ", " if known and not edit.text.startswith(",") else ""  # members of an object that was empty
        merged[edit.start, edit.end] = f"{known or ''}{comma}{edit.text}"
    return [Edit(start=start, end=end, text=text) for (start, end), text in merged.items()]


_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How the members of an object are written."""

    lead: str
    """Between a comma and the next key."""

    colon: str
    step: str | None
    """What one level of the file is indented by; None where values stand on one line."""

    is_ascii: bool
    """Other characters are escaped."""

    @classmethod
    def of(cls, positions: Positions, node: Node) -> "_Layout":
        """The layout of an object with members, or the usual one."""
        text, lead, colon = positions.text, "", ": "
        if node.children:
            lead = _space(text, node.start + 1)
            behind_key = positions.end(node.start + 1 + len(lead))
            colon = text[behind_key : min(start for start, _ in node.children.values())]
        has_lines = "\n" in lead
        root = _space(text, _SPACE.match(text).end() + 1) if has_lines else ""  # type: ignore[union-attr]  # it matches
        return cls(
            lead=lead if has_lines else " " * colon.endswith(" "),
            colon=colon,
            step=root.rpartition("\n")[2] or None,
            is_ascii=text.isascii() and "\\u" in text,
        )

    def value(self, value: object) -> str:
        """A JSON value in which nothing is invisible, its lines as deep as the object's."""
        is_wide = self.colon.endswith(" ")
        separators = (", " if is_wide else ",", ": " if is_wide else ":")
        step = self.step if isinstance(value, dict) else None
        if step:
            separators = (",", ": ")
        text = json.dumps(value, indent=step, separators=separators, ensure_ascii=self.is_ascii)
        shown = "".join(each if each.isprintable() or each in "\n\t" else json.dumps(each)[1:-1] for each in text)
        return shown.replace("\n", self.lead) if step else shown


def _space(text: str, at: int) -> str:
    found = _SPACE.match(text, at)
    return found[0] if found else ""
