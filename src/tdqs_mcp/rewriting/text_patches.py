"""Unified diffs, and the edits that rewrite a JSON file of definitions."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.results.improvements import Change, Rewrite
from tdqs_mcp.sources.files import SourceFile
from tdqs_mcp.sources.json_text import DefinitionText, Edit, Node, edited, locate


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
    """Return the patch of a file of definitions; every byte that no change names stays, order and layout too."""
    encoding = json.detect_encoding(content)
    file = locate(content) if encoding in ("utf-8", "utf-8-sig") else None
    if file is None:
        problem = f"{name!r} is not a UTF-8 file of definitions, so it cannot be patched"
        return Patch(diff=b"", made=0, problems=(problem,))
    edits, made, left_out = _json_edits(file, rewrites)
    mark = "\ufeff" * (encoding == "utf-8-sig")
    diff = unified(mark + file.text, mark + edited(file.text, edits), name=name).encode("utf-8", "surrogatepass")
    return Patch(diff=diff, made=made, left_out=left_out)


def write_json(content: bytes, rewrites: Sequence[Rewrite]) -> tuple[bytes, tuple[LeftOut, ...]]:
    """Return the same file with the rewrites made in it, and what could not be; every byte that no change names stays.

    Raises InputError for a file that nests too deep to be scanned.
    """
    file = locate(content)
    if file is None:
        raise InputError("the file nests too deep to be written back; nothing was written")
    edits, _, left_out = _json_edits(file, rewrites)
    return edited(file.text, edits).encode(json.detect_encoding(content), "surrogatepass"), left_out


def unified(old: str, new: str, *, name: str) -> str:
    """Return the diff of two texts, below `a/` and `b/`; lines end at line feeds alone, as they do for `patch`."""
    lines = unified_diff(_lines(old), _lines(new), _spelled(f"a/{name}"), _spelled(f"b/{name}"))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """The lines, each with the line feed that ends it."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _spelled(name: str) -> str:
    """A file's name in a header: quoted as in C where it holds what would end it, and ended by a tab after a space."""
    if any(not character.isprintable() or character in '"\\' for character in name):
        return json.dumps(name, ensure_ascii=False)
    return f"{name}\t" if " " in name else name


def _json_edits(file: DefinitionText, rewrites: Sequence[Rewrite]) -> tuple[list[Edit], int, tuple[LeftOut, ...]]:
    """The edits that make the changes, how many changes they make, and the changes for which there is none."""
    edits: list[Edit] = []
    added: dict[int, tuple[Node, dict[str, object]]] = {}  # members that go into the same object are one edit
    left_out: list[LeftOut] = []
    changes = [(rewrite, change) for rewrite in rewrites for change in rewrite.changes]
    for rewrite, change in changes:
        node = _parent(file, rewrite, change)
        key = split_pointer(change.path)[-1]
        if isinstance(node, str):
            left_out.append(LeftOut(tool=rewrite.name, path=change.path, reason=node))
        elif key in node.members:
            edits.append(file.replace(node, key, change.after))
        else:
            added.setdefault(node.start, (node, {}))[1][key] = change.after
    edits += [edit for node, members in added.values() for edit in file.insert(node, members)]
    return edits, len(changes) - len(left_out), tuple(left_out)


def _parent(file: DefinitionText, rewrite: Rewrite, change: Change) -> Node | str:
    """The object in the file that holds what changes, or why nothing can be changed there."""
    tools = file.catalog.tools
    if rewrite.index >= len(tools) or tools[rewrite.index].name != rewrite.name:
        return "the file has no place for it"
    nodes = [file.node(tools[rewrite.index].raw)]
    for key in split_pointer(change.path)[:-1]:
        member = nodes[-1].members.get(key) if nodes[-1] else None
        nodes.append(file.node(member.value) if member else None)
    if any(node.is_repeated for node in nodes if node):
        return "a key stands twice in its definition, and readers differ in which of them they take"
    node = nodes[-1]
    return "the file has no place for it" if node is None or file.text[node.start] != "{" else node
