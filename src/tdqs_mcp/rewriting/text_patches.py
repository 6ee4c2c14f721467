"""Edits of a text and the unified diff that makes them; the edits that rewrite a JSON file of definitions."""

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from operator import attrgetter

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.results.improvements import Change, Rewrite
from tdqs_mcp.sources.files import SourceFile
from tdqs_mcp.sources.positions import Node, Positions, locate

CONTEXT = 3
"""Lines around a change, as `diff -u` and git show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """New text for a range of the old one, in characters; an insertion if the range is empty."""

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
    files: tuple[SourceFile, ...] = ()
    """The Python files with the changes made."""

    problems: tuple[str, ...] = ()
    """Files that could not be searched, one sentence each."""


def patch_json(content: bytes, rewrites: Sequence[Rewrite], *, name: str) -> Patch:
    """The patch of a file that holds the definitions; every byte that no change names stays, order and layout too."""
    encoding = json.detect_encoding(content)
    positions = locate(content) if encoding in ("utf-8", "utf-8-sig") else None
    if positions is None:
        problem = f"{name!r} is not a UTF-8 file of definitions, so it cannot be patched"
        return Patch(diff=b"", made=0, problems=(problem,))
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
    lines = _lines(text)
    starts = [0, *accumulate(map(len, lines))]
    hunks: list[str] = []
    grown = 0
    for first, last, touched in _touched(starts, edits):
        start, end = max(0, first - CONTEXT), min(len(lines), last + 1 + CONTEXT)
        begin = starts[start]
        local = [Edit(start=each.start - begin, end=each.end - begin, text=each.text) for each in touched]
        old, new = lines[start:end], _lines(edited(text[begin : starts[end]], local))
        groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)
        hunks += [_hunk(group, old, new, at=start, grown=grown) for group in groups]
        grown += len(new) - len(old)
    return "".join([f"--- {_spelled(f'a/{name}')}\n+++ {_spelled(f'b/{name}')}\n", *hunks]) if hunks else ""


def _lines(text: str) -> list[str]:
    """The lines, each with the line feed that ends it."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _touched(starts: Sequence[int], edits: Sequence[Edit]) -> list[tuple[int, int, list[Edit]]]:
    """First and last line that edits touch, with the edits; those whose contexts meet are taken together."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(edits, key=attrgetter("start", "end")):
        first, last = bisect_right(starts, edit.start) - 1, bisect_right(starts, edit.end) - 1
        if groups and first - groups[-1][1] <= 2 * CONTEXT + 1:
            start, end, known = groups.pop()
            groups.append((start, max(end, last), [*known, edit]))
        else:
            groups.append((first, last, [edit]))
    return groups


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str], *, at: int, grown: int
) -> str:
    """One hunk; `at` is the line before its lines, `grown` what earlier ones have added."""
    (_, start, _, new_start, _), (_, _, end, _, new_end) = group[0], group[-1]
    body = [f"@@ -{_range(at + start, end - start)} +{_range(at + grown + new_start, new_end - new_start)} @@\n"]
    for tag, one, other, new_one, new_other in group:
        if tag == "equal":
            body += [f" {line}" for line in old[one:other]]
        else:
            body += [f"-{line}" for line in old[one:other]] + [f"+{line}" for line in new[new_one:new_other]]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body)


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
        way.append(positions.node(child[1]) if child else None)
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
            lead = _space_at(text, node.start + 1)
            behind_key = positions.end(node.start + 1 + len(lead))
            colon = text[behind_key : min(start for start, _ in node.children.values())]
        has_lines = "\n" in lead
        root = _space_at(text, len(_space_at(text, 0)) + 1) if has_lines else ""
        return cls(
            lead=lead if has_lines else " " * colon.endswith(" "),
            colon=colon,
            step=root.rpartition("\n")[2] or None,
            is_ascii=text.isascii() and "\\u" in text,
        )

    def value(self, value: object) -> str:
        """A JSON value in which nothing is invisible, its lines as deep as the object's."""
        step = self.step if isinstance(value, dict) else None
        space = " " * self.colon.endswith(" ")
        separators = (",", ": ") if step else (f",{space}", f":{space}")
        text = json.dumps(value, indent=step, separators=separators, ensure_ascii=self.is_ascii)
        shown = "".join(each if each.isprintable() or each in "\n\t" else json.dumps(each)[1:-1] for each in text)
        return shown.replace("\n", self.lead) if step else shown


def _space_at(text: str, at: int) -> str:
    found = re.compile(r"[ \t\r\n]*").match(text, at)
    return found[0] if found else ""
