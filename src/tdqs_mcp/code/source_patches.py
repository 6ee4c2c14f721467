"""The changes of a server's rewrites as edits of its source, Python, JavaScript and TypeScript, which is never run."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from tdqs_mcp.code.constants import MISSING, Expression, origin_at, origins_of
from tdqs_mcp.code.definitions import DOCSTRING, DefinitionReader, StaticDefinition, camel
from tdqs_mcp.code.literals import OPENING, Style, has_comment, is_python_text, style_of
from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    CallSite,
    Class,
    Collection,
    FormalParameter,
    Function,
    Import,
    Literal,
    Name,
    ObjectLiteral,
    Other,
    Subscript,
    SyntaxNode,
    Template,
)
from tdqs_mcp.code.project import ProjectModule, last_name
from tdqs_mcp.code.python_nodes import python_encoding
from tdqs_mcp.code.registrations import Registration
from tdqs_mcp.code.tool_search import NO_OVERLAY, find_tools, folder_of
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.json_text import TextEdit, edited
from tdqs_mcp.results.improvements import Change, LeftOut, Patch, Rewrite, unified

HOMES = {
    "Annotated": ("typing", "typing_extensions"),
    "Field": ("pydantic",),
    "ToolAnnotations": ("mcp.types", "mcp_types"),
}
"""Where the names come from that a patch may need; the first is imported where none is."""

_DESCRIBED = ("Annotated", "Field")

_GAP = re.compile(rb"(?:\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_BROKEN = "the patched file would not parse"
_SHARED = "its words serve several tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEdit:
    """New code for a range of a file, in bytes; different codes for one slot of one range exclude each other."""

    module: ProjectModule
    start: int
    end: int
    code: str
    slot: str = ""
    """The member that is added to the object in the range, or the import that is added there."""

    after: tuple[int, int] | None = None
    """Range of the member behind which the new one stands; zeros in an object without members."""


Outcome = list[SourceEdit] | str
"""The edits that make a change, or why there are none."""

_Entry = tuple[str, Change, list[SourceEdit]]


def patch_source(
    source: Path, rewrites: Sequence[Rewrite], *, prefix: str = "", overlay: Mapping[str, bytes] = NO_OVERLAY
) -> Patch:
    """Return the patch of a server's source, with `prefix` before the names of its files.

    Whatever is not certain to be a definition's only source is left out, and so is a change that the patched source,
    read again, would not show. Raises InputError as `read_code`.
    """
    tools = _SourceTools(source, overlay)
    left_out: list[LeftOut] = []
    entries: list[_Entry] = []
    for tool, change in ((rewrite.name, change) for rewrite in rewrites for change in rewrite.changes):
        outcome = tools.place(tool, change)
        if isinstance(outcome, str):
            left_out.append(LeftOut(tool=tool, path=change.path, reason=outcome))
        else:
            entries.append((tool, change, outcome))
    while True:
        agreed, disputed = _agreed(entries)
        left_out += disputed
        contents = {module: tools.edit(module, edits) for module, edits in _by_module(agreed).items()}
        refused = list(tools.refuse(agreed, contents)) if contents else []
        left_out += [LeftOut(tool=tool, path=change.path, reason=reason) for tool, change, reason in refused]
        if not refused:
            break
        lost = {(tool, change.path) for tool, change, _ in refused}
        entries = [entry for entry in agreed if (entry[0], entry[1].path) not in lost]
    files = {f"{prefix}{module.path}": tools.file(module).encoded(text) for module, text in contents.items()}
    diffs = [tools.file(module).diff(f"{prefix}{module.path}", text) for module, text in contents.items()]
    return Patch(
        diff=b"".join(diffs), count=len(agreed), left_out=tuple(left_out), files=files, problems=tuple(tools.problems)
    )


def _agreed(entries: Sequence[_Entry]) -> tuple[list[_Entry], list[LeftOut]]:
    """Return what can be done together, and the changes that want different words in one place."""
    codes: dict[tuple[str, int, int, str], set[str]] = {}
    for edit in (edit for _, _, edits in entries for edit in edits):
        codes.setdefault((edit.module.path, edit.start, edit.end, edit.slot), set()).add(edit.code)
    agreed, disputed = [], []
    ranges: dict[ProjectModule, set[tuple[int, int]]] = {}
    for tool, change, edits in entries:
        own = [edit for edit in edits if edit.after is None]
        if any(len(codes[edit.module.path, edit.start, edit.end, edit.slot]) > 1 for edit in edits):
            reason = "another tool shares this text and needs other words"
            disputed.append(LeftOut(tool=tool, path=change.path, reason=reason))
        elif any(_overlaps(edit, ranges.get(edit.module, ())) for edit in own):
            reason = "it stands in a text that another change replaces as a whole"
            disputed.append(LeftOut(tool=tool, path=change.path, reason=reason))
        else:
            for edit in own:
                ranges.setdefault(edit.module, set()).add((edit.start, edit.end))
            agreed.append((tool, change, edits))
    return agreed, disputed


def _overlaps(edit: SourceEdit, ranges: Iterable[tuple[int, int]]) -> bool:
    """Return whether a range shares a part with others; twice the same one is one edit."""
    return any(
        start < edit.end and edit.start < end and (start, end) != (edit.start, edit.end) for start, end in ranges
    )


def _by_module(entries: Iterable[_Entry]) -> dict[ProjectModule, list[SourceEdit]]:
    edits: dict[ProjectModule, list[SourceEdit]] = {}
    for edit in dict.fromkeys(edit for _, _, edits in entries for edit in edits):
        edits.setdefault(edit.module, []).append(edit)
    return dict(sorted(edits.items(), key=lambda item: item[0].path))


class _Code(str):
    """Code that is written as it is."""

    __slots__ = ()


class _SourceText:
    """A file as it is on the disk."""

    def __init__(self, path: Path, module: ProjectModule, content: bytes | None) -> None:
        self.text = module.tree.text.decode("utf-8", "surrogateescape")
        self.encoding = python_encoding(content or path.read_bytes()) if module.is_python else "utf-8"
        self.style: Style = style_of(path, self.text, self.encoding)

    def encoded(self, text: str) -> bytes:
        """Return a text in the file's encoding."""
        return text.encode(self.encoding, "surrogateescape")

    def diff(self, name: str, text: str) -> bytes:
        """Return the file's part of the patch."""
        encoding = self.encoding.removesuffix("-sig")
        mark = "\ufeff" if encoding != self.encoding else ""  # a byte order mark is a character of the text
        return unified(mark + self.text, mark + text, name=name).encode(encoding, "surrogateescape")


class _SourceTools:
    """The tools of a source with what stands where."""

    def __init__(self, source: Path, overlay: Mapping[str, bytes]) -> None:
        self._source, self._overlay = source, overlay
        self._interpreter, registrations, unread = find_tools(source, overlay)
        self.problems = [sentence for sentence, _ in unread]
        self._reader = DefinitionReader(self._interpreter, registrations)
        named = {registration.name: registration for registration in registrations if not registration.is_computed}
        self._tools = {name: (entry, self._reader.read(entry)) for name, entry in named.items()}
        self._files: dict[str, _SourceText] = {}

    def file(self, module: ProjectModule) -> _SourceText:
        """Return the file of a module."""
        if module.path not in self._files:
            path = folder_of(self._source) / module.path
            self._files[module.path] = _SourceText(path, module, self._overlay.get(module.path))
        return self._files[module.path]

    def place(self, tool: str, change: Change) -> Outcome:
        """Return the edits that make a change of a tool's definition, or why there are none."""
        try:
            json.dumps(change.after, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return "it holds half a character (a lone surrogate), which no text can hold"
        if tool not in self._tools:
            return "no function and no Tool(…) declares it where the source was searched"
        registration, definition = self._tools[tool]
        places = dict.fromkeys(f"{rival.module.path}:{rival.line}" for rival in registration.rivals)
        if len(places) > 1:
            return f"it is declared more than once: {', '.join(list(places)[:3])}"
        placement = _Placement(
            tools=self, registration=registration, definition=definition, change=change, reader=self._reader
        )
        outcome = placement.edits()
        if isinstance(outcome, str):
            return outcome
        shared = {name for edit in outcome if edit.slot not in HOMES for name in self._users(edit)} - {tool}
        return _SHARED if shared else outcome

    def _users(self, edit: SourceEdit) -> set[str]:
        """Return the tools whose definitions are read from the place of an edit."""
        return {
            tool
            for tool, spans in self._spans.items()
            if any(
                path == edit.module.path and (start, end) != (0, 0) and start <= edit.start and edit.end <= end
                for path, start, end in spans
            )
        }

    @cached_property
    def _spans(self) -> Mapping[str, set[tuple[str, int, int]]]:
        """Ranges that the parts of each tool's definition are read from."""
        spans: dict[str, set[tuple[str, int, int]]] = {}
        for tool, (registration, definition) in self._tools.items():
            origins = [origin for _, origin in origins_of(definition.raw)]
            if registration.function is not None and isinstance(registration.function.node, Function):
                origins.append(registration.function)
            spans[tool] = {(origin.scope.module.path, *origin.node.span) for origin in origins}
        return spans

    def is_used_elsewhere(self, module: ProjectModule, node: SyntaxNode, own: SyntaxNode, *, is_member: bool) -> bool:
        """Return whether a text has a name at the top of its file, alone or as a member, that others read too.

        `is_member` says that the tool reads it as a member: `TEXTS.find`, not `registerTool(name, CONFIG, run)`.
        """
        for name, values in module.bindings.items():
            for value in values:
                if value is node:
                    return self._count(module, name) > 1
                members = value.items if isinstance(value, ObjectLiteral) else ()
                members = tuple(value.fields.items()) if isinstance(value, Class) else members
                key = next((key for key, item in members if item is node), None)
                if key is not None and value is not own:
                    return self._count(module, name) > 1 and self._members[key] > is_member
        return False

    def _count(self, module: ProjectModule, name: str) -> int:
        """Return how often a name of a module is read, there and where it is imported."""
        readers = [(module, name)]
        for other in self._interpreter.project.modules:
            for local, values in other.bindings.items():
                if other is not module and any(isinstance(value, tuple) and value[1] == name for value in values):
                    readers.append((other, local))
        return sum(self._names[reader][local] for reader, local in readers) + self._members[name]

    @cached_property
    def _names(self) -> Mapping[ProjectModule, Counter[str]]:
        """How often each name is read in each module."""
        counts: dict[ProjectModule, Counter[str]] = {}
        for module in self._interpreter.project.modules:
            count = Counter(node.id for node in module.tree.nodes if isinstance(node, Name))
            targets = [node.target for node in module.tree.nodes if isinstance(node, Assign)]
            count.subtract(target.id for target in targets if isinstance(target, Name))
            counts[module] = count
        return counts

    @cached_property
    def _members(self) -> Counter[str]:
        modules = self._interpreter.project.modules
        return Counter(node.key for module in modules for node in module.tree.nodes if isinstance(node, Attribute))

    def edit(self, module: ProjectModule, edits: Sequence[SourceEdit]) -> str:
        """Return the text of a file with edits made."""
        source = module.tree.text
        members: dict[tuple[int, int], list[SourceEdit]] = {}
        changes: list[TextEdit] = []
        for edit in edits:
            if edit.after is None:
                changes.append(TextEdit(start=edit.start, end=edit.end, text=edit.code))
            else:
                members.setdefault((edit.start, edit.end), []).append(edit)
        style = self.file(module).style
        for (start, end), added in members.items():
            changes += _insert(module, start, end, added, style=style)
        text = source.decode("latin-1")  # offsets are bytes
        coded = [replace(change, text=change.text.encode("utf-8").decode("latin-1")) for change in changes]
        return edited(text, coded).encode("latin-1").decode("utf-8", "surrogateescape")

    def refuse(
        self, entries: Sequence[_Entry], contents: Mapping[ProjectModule, str]
    ) -> Iterator[tuple[str, Change, str]]:
        """Yield the changes that the patched source would not show, each with the reason."""
        overlay = {
            **self._overlay,
            **{module.path: self.file(module).encoded(text) for module, text in contents.items()},
        }
        broken = {module for module in contents if not _parses(module, overlay[module.path])}
        try:
            interpreter, registrations, _ = find_tools(self._source, overlay=overlay)
        except InputError:  # no file is left that can be read
            yield from ((tool, change, _BROKEN) for tool, change, _ in entries)
            return
        reader = DefinitionReader(interpreter, registrations)
        after = {registration.name: reader.read(registration).raw for registration in registrations}
        changed: dict[str, set[tuple[str, ...]]] = {}
        for tool, change, _ in entries:
            changed.setdefault(tool, set()).add(tuple(split_pointer(change.path)))
        spoilt = {
            tool
            for tool, paths in changed.items()
            if _others(self._tools[tool][1].raw, paths) != _others(after.get(tool, {}), paths)
        }
        for tool, change, edits in entries:
            value, _origin = origin_at(after.get(tool, {}), split_pointer(change.path))
            if any(edit.module in broken for edit in edits):
                yield tool, change, _BROKEN
            elif not _shows(value, change.after):
                yield tool, change, "the patched source, read again, would say something else"
            elif tool in spoilt:
                yield tool, change, "the patched source, read again, would lose or change other words"


def _parses(module: ProjectModule, content: bytes) -> bool:
    if not module.is_python:
        from tdqs_mcp.code.script_nodes import has_script_error  # noqa: PLC0415  # tree-sitter: for JavaScript alone

        return has_script_error(module.path, module.tree.text) or not has_script_error(module.path, content)
    try:
        ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _shows(value: object, after: object) -> bool:
    """Return whether a definition says what it should, up to white space; hints may have come to others."""
    if isinstance(after, dict) and isinstance(value, dict):
        return all(key in value and _shows(value[key], item) for key, item in after.items())
    if isinstance(after, str) and isinstance(value, str):
        return value.split() == after.split()
    return value == after


def _others(value: object, changed: AbstractSet[tuple[str, ...]], keys: tuple[str, ...] = ()) -> dict[object, object]:
    """Return the values of a definition by their keys but for changed ones, texts up to white space."""
    if keys in changed:
        return {}
    if isinstance(value, dict):
        inner = [_others(item, changed, (*keys, key)) for key, item in value.items()]
        return {place: leaf for leaves in inner for place, leaf in leaves.items()}
    return {keys: " ".join(value.split()) if isinstance(value, str) else value}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placement:
    """A change of a tool that is declared in one place."""

    tools: _SourceTools
    registration: Registration
    definition: StaticDefinition
    change: Change
    reader: DefinitionReader

    def edits(self) -> Outcome:
        """Return the edits that make the change, or why there are none."""
        keys = split_pointer(self.change.path)
        if keys == ["annotations"] and isinstance(self.change.after, dict):
            return self._hints(self.change.after)
        value, origin = origin_at(self.definition.raw, keys)
        if value is not MISSING and value is not None and not (self._is_note(origin) and self.change.before is None):
            return self.other_value(value, origin)
        gaps = self.definition.gaps.items()
        lost = next((reason for path, reason in gaps if self.change.path.startswith(path)), None)
        if lost and keys[0] in ("description", "title"):
            return lost
        match keys:
            case ["description"]:
                return self._description()
            case ["title"]:
                return self.new_member(("title",), "its declaration has no title=")
            case ["annotations", key]:
                return self._hints({key: self.change.after})
            case ["inputSchema", *inner]:
                return self._schema(inner, lost)
        return "no keyword of a declaration says this"

    # Values that are there

    def other_value(self, value: object, origin: Expression | None) -> Outcome:
        """Return the edit that puts another value in the place where the first one stands."""
        before = self.change.before
        if origin is None or isinstance(origin.node, FormalParameter):
            return "only the type of its parameter can say this"
        node, module = self.reader.locate(origin).node, self.reader.locate(origin).scope.module
        if not isinstance(value, str):
            if value != before:
                return _OTHER_VERSION
            if not isinstance(node, Literal) or not node.span[1]:
                return "its value is computed"
            return self._replaced(module, node, self._style(module).value(self.change.after))
        if not (isinstance(before, str) and value.split() == before.split()):
            return _OTHER_VERSION
        return self._text(node, module, value)

    def _text(self, node: SyntaxNode, module: ProjectModule, value: str) -> Outcome:
        """Return the edit that puts another text in the place of a literal."""
        after = str(self.change.after)
        if isinstance(node, Other) and node.operator == DOCSTRING:
            return self._entry(module, node)
        code = _code_at(module, node.span)
        if module.is_python and re.match(r"[rR]?[fF][rR]?['\"]", code):
            return "its text is an f-string"
        parts = node.parts if isinstance(node, Template) else [node]
        if not all(isinstance(part, Literal) and isinstance(part.value, str) for part in parts) or not node.span[1]:
            return "its text is computed"
        function = self._function
        if function and isinstance(function.node, Function) and function.node.docstring is node:
            return self._docstring(module, node, code, value)
        if module.is_python and has_comment(code):
            return "a comment stands between its pieces"
        if not module.is_python and any(_has_comment(module, gap) for gap in _gaps(node)):
            return "a comment stands between its pieces"
        if module.is_python and not is_python_text(code) and not isinstance(node, Template):
            return "its text is computed"
        part = self.registration.parts.get(split_pointer(self.change.path)[0])
        is_member = part is None or isinstance(part.node, Attribute) or self.change.path.startswith("/inputSchema")
        if self.tools.is_used_elsewhere(module, node, self.registration.node, is_member=is_member):
            return "its text has a name that may be used elsewhere"
        style = self._style(module)
        source = module.tree.text
        line = _line_at(module, node.span[0])
        before, behind = source[: node.span[0]].rstrip(), source[node.span[1] :].lstrip()
        is_enclosed = "\n" in code or (before.endswith(b"(") and behind.startswith(b")"))
        text = style.wrapped(after, code, column=len(line), indent=_indent(line), is_enclosed=is_enclosed)
        return self._replaced(module, node, text)

    def _is_note(self, origin: Expression | None) -> bool:
        """Return whether a text stands bare in `Annotated[…]`, which only some SDKs take for a description."""
        if origin is None or not self.change.path.startswith("/inputSchema/properties/"):
            return False
        slot = self._slot(split_pointer(self.change.path)[2])
        return slot is not None and any(part is origin.node for part in _metadata(slot.annotation))

    def _docstring(self, module: ProjectModule, node: Literal, code: str, value: str) -> Outcome:
        """Return new words for the function's docstring, at its margin and between its own quotes.

        `value` is its description as the source has it, whose lines the catalog may have joined.
        """
        old, before, style = str(node.value), str(self.change.before or ""), self._style(module)
        margin = _margin(old) or self._body_indent(module)
        quote = re.match(r"\w*('''|\"\"\"|'|\")", code)
        column = len(_line_at(module, node.span[0])) + len(quote[0] if quote else "")
        outer = len(old) - len(old.lstrip())
        column = len(margin) if "\n" in old[:outer] else column
        new = style.docstring(_unindented(str(self.change.after), before), old.strip(), margin=margin, column=column)
        rest = _rest(old, value)
        head = old.strip().removesuffix(rest.strip()).rstrip().replace("\n", style.newline)
        opening = len(quote[0] if quote else "") + len(old[:outer].replace("\n", style.newline))
        if rest.strip() and code[opening:].startswith(head) and (inner := _inside(style, new, code)) is not None:
            start = node.span[0] + len(code[:opening].encode())
            return [SourceEdit(module=module, start=start, end=start + len(head.encode()), code=inner)]
        text = f"{old[:outer]}{new}{rest}"
        return self._replaced(module, node, style.text(text, code, may_grow=True))

    def _entry(self, module: ProjectModule, node: Other) -> Outcome:
        """Return new words for what a docstring says of a parameter."""
        old = _code_at(module, node.span)
        function = self._function
        docstring = function.node.docstring if function and isinstance(function.node, Function) else None
        code = _code_at(module, docstring.span) if docstring else ""
        line, style = _line_at(module, node.span[0]), self._style(module)
        margin = _indent(line) + (style.unit if line.strip() else "")
        new = style.docstring(str(self.change.after), old, margin=margin, column=len(line))
        inner = _inside(style, new, code) if "\\" not in old else None
        return "its docstring holds what a change would lose" if inner is None else self._replaced(module, node, inner)

    def _replaced(self, module: ProjectModule, node: SyntaxNode, code: str) -> Outcome:
        return [SourceEdit(module=module, start=node.span[0], end=node.span[1], code=code)]

    # Parts that are new

    def _description(self) -> Outcome:
        function = self._function
        if function is not None and isinstance(function.node, Function) and function.scope.module.is_python:
            return self._new_docstring(function.scope.module, function.node)
        call = self.registration.node
        if isinstance(call, CallSite) and last_name(call) == "tool" and len(call.arguments) > 1:  # tool("name", {…}, …)
            module, argument = self.registration.module, call.arguments[1]
            code = f"{self._style(module).text(str(self.change.after))}, "
            return [SourceEdit(module=module, start=argument.span[0], end=argument.span[0], code=code, slot="new")]
        return self.new_member(("description",), "its declaration has no description")

    def _new_docstring(self, module: ProjectModule, function: Function) -> Outcome:
        if self.change.before:
            return "its function has no docstring, so its words come from elsewhere"
        start = module.tree.text.rfind(b"\n", 0, function.body.span[0]) + 1
        indent = _line_at(module, function.body.span[0]).removesuffix("@")
        if indent.strip():
            return "its function stands on one line"
        style = self._style(module)
        text = style.docstring(str(self.change.after), "", margin=indent, column=len(indent) + 6)
        code = f"{indent}{style.text(text, chr(34) * 6)}{style.newline}"
        return [SourceEdit(module=module, start=start, end=start, code=code, slot="new")]

    def new_member(self, keys: tuple[str, ...], reason: str) -> Outcome:
        """Return the edit that adds a member to the object or call that is the definition."""
        call = self.registration.node
        if isinstance(call, CallSite) and last_name(call) in ("registerTool", "addTool"):
            arguments = [self.reader.locate(self._here(argument)) for argument in call.arguments]
            whole = [part for part in arguments if isinstance(part.node, ObjectLiteral)]
            return self._added(whole[0], {keys[0]: self.change.after}) if whole else reason
        is_open = keys[0] in ("description", "annotations")
        if is_open and isinstance(call, ObjectLiteral | CallSite):
            return self._added(self._here(call), {keys[0]: self.change.after})
        return reason

    def _hints(self, hints: Mapping[str, object]) -> Outcome:
        """Return the edits of hints in `annotations`, where that names them on the spot."""
        part = self.registration.parts.get("annotations")
        if part is None:
            return self._new_hints(hints)
        here = self.reader.locate(part)
        if not isinstance(here.node, CallSite | ObjectLiteral):
            return "its annotations= is computed"
        edits: list[SourceEdit] = []
        new: dict[str, object] = {}
        for key, value in hints.items():
            old, origin = origin_at(self.definition.raw, ["annotations", key])
            if old is MISSING:
                new[key] = value
            elif old != value:
                change = Change(path=f"/annotations/{key}", before=old, after=value, sources=())
                outcome = replace(self, change=change).other_value(old, origin)
                if isinstance(outcome, str):
                    return outcome
                edits += outcome
        outcome = self._added(here, new) if new else []
        return outcome if isinstance(outcome, str) else [*edits, *outcome]

    def _new_hints(self, hints: Mapping[str, object]) -> Outcome:
        """Return the edits of hints where a declaration has none, in the form that its SDK takes."""
        node, module = self.registration.node, self.registration.module
        style = self._style(module)
        if not module.is_python:
            if isinstance(node, CallSite) and last_name(node) == "tool" and len(node.arguments) == 4:
                start = node.arguments[-1].span[0]  # tool("name", "text", {…}, handler)
                code = f"{style.value(dict(hints))}, "
                return [SourceEdit(module=module, start=start, end=start, code=code, slot="hints")]
            placement = replace(self, change=replace(self.change, after=dict(hints)))
            return placement.new_member(("annotations",), "its declaration has no annotations")
        calls = node.decorators if isinstance(node, Function) else [node]
        call = next((part for part in calls if last_name(part) in ("tool", "add_tool", "Tool")), None)
        if call is None:
            return "its declaration has no annotations="
        stated = [part.keywords.get("annotations") for part in module.tree.nodes if isinstance(part, CallSite)]
        has_dicts = any(isinstance(part, ObjectLiteral) for part in stated)  # the form that the file's other tools have
        name = "" if has_dicts else _spelled_name(module, "ToolAnnotations")
        if name is None:
            return "ToolAnnotations cannot be imported there without a risk"
        values = ", ".join(f"{key}={style.value(value)}" for key, value in hints.items())
        code = _Code(style.value(dict(hints)) if has_dicts else f"{name}({values})")
        imports = [_import(module, name)] if name == "ToolAnnotations" and name not in module.bindings else []
        if not isinstance(call, CallSite):  # @mcp.tool
            end = call.span[1]
            edit = SourceEdit(module=module, start=end, end=end, code=f"(annotations={code})", slot="hints")
            return [edit, *imports]
        added = self._added(self._here(call), {"annotations": code})
        return added if isinstance(added, str) else [*added, *imports]

    def _schema(self, keys: Sequence[str], lost: str | None) -> Outcome:
        """Return the edit of a member of the input schema: in a literal, or a parameter's description."""
        slot = self._slot(keys[1]) if len(keys) > 2 and keys[0] == "properties" else None
        is_description = [*keys[:1], *keys[2:]] == ["properties", "description"]
        if slot is not None:
            if not is_description:
                return "only the type of its parameter can say this"
            return lost or self._described(slot)
        value, origin = origin_at(self.definition.raw, ["inputSchema", *keys[:-1]])
        if origin is None and value is not MISSING and len(keys) == 1:
            origin = self.registration.parts.get("inputSchema")
        here = self.reader.locate(origin) if origin is not None else None
        if here is not None and isinstance(here.node, ObjectLiteral):
            return self._added(here, {keys[-1]: self.change.after})
        if origin is not None and not origin.scope.module.is_python and is_description:
            style, end = self._style(origin.scope.module), origin.node.span[1]
            line = _line_at(origin.scope.module, end)
            column, after = len(line) + len(".describe()"), str(self.change.after)
            text = style.wrapped(after, "", column=column, indent=_indent(line), is_enclosed=True)
            code = f".describe({text})"
            return [SourceEdit(module=origin.scope.module, start=end, end=end, code=code, slot="describe")]
        if value is MISSING and self._function is not None and is_description and not lost:
            return "no parameter has this name"
        if self._function is not None and not lost:
            return "only the type of its parameter can say this"
        if lost or "inputSchema" not in self.registration.parts:
            return "its input schema is computed"
        return "its input schema has no place for it"

    def _slot(self, name: str) -> FormalParameter | None:
        """Return a Python parameter or a field of a model by its name in the schema."""
        origin = self._slot_origin(name)
        return origin.node if origin is not None and isinstance(origin.node, FormalParameter) else None

    def _slot_origin(self, name: str) -> Expression | None:
        properties, _ = origin_at(self.definition.raw, ["inputSchema", "properties"])
        key = next((key for key in properties if key == name), None) if isinstance(properties, dict) else None
        return getattr(key, "origin", None)

    def _described(self, slot: FormalParameter) -> Outcome:
        """Return a description beside a parameter's type: a keyword of its Field, else a Field."""
        origin = self._slot_origin(split_pointer(self.change.path)[2])
        assert origin is not None  # noqa: S101  # it has the slot
        module = origin.scope.module
        if slot.annotation is None:
            return "its parameter has no type annotation to stand beside"
        if self.change.before is not None:
            return "its words come from elsewhere"
        fields = [
            part
            for part in (*_metadata(slot.annotation), slot.default)
            if isinstance(part, CallSite) and last_name(part.function) == "Field"
        ]
        if fields:
            return self._added(origin.part(fields[0]), {"description": self.change.after})
        start, end = slot.annotation.span
        if module.tree.text[start : start + 1] in (b"'", b'"'):  # order: "Order"
            return "its type annotation is a text"
        names = {name: _spelled_name(module, name) for name in _DESCRIBED}
        for name, spelled in names.items():
            if spelled is None:
                return f"{name} cannot be imported there without a risk"
        style, after = self._style(module), str(self.change.after)
        deep = _indent(_line_at(module, start)) + style.unit
        whole = f"{names['Field']}(description={style.text(after)})"
        is_long = len(_line_at(module, start, is_whole=True)) + len(whole) + len("Annotated[, ]") > style.width
        text = style.wrapped(
            after, "", column=len(deep + whole) - len(style.text(after)), indent=deep, is_enclosed=False
        )
        field = f"{names['Field']}(description={text if is_long else style.text(after)})"
        new = style.newline
        imports = [_import(module, name) for name in _DESCRIBED if names[name] == name and name not in module.bindings]
        if _metadata(slot.annotation):
            return [SourceEdit(module=module, start=end - 1, end=end - 1, code=f", {field}", slot="field"), *imports]
        code = _code_at(module, slot.annotation.span)
        inner = (
            f"{new}{deep}{code},{new}{deep}{field},{new}{deep[: -len(style.unit)]}" if is_long else f"{code}, {field}"
        )
        return [SourceEdit(module=module, start=start, end=end, code=f"{names['Annotated']}[{inner}]"), *imports]

    def _added(self, here: Expression, members: Mapping[str, object]) -> Outcome:
        """Return the edits that add members to a call or an object, behind the last one."""
        node, module = here.node, here.scope.module
        is_object = isinstance(node, ObjectLiteral)
        if isinstance(node, CallSite) and "**" in node.keywords:
            return "its call takes keywords from elsewhere"
        start, end = node.span
        if isinstance(node, CallSite):
            start = module.tree.text.find(b"(", node.function.span[1])
            values, keys = [*node.arguments, *node.keywords.values()], list(node.keywords)
        else:
            assert isinstance(node, ObjectLiteral)  # noqa: S101
            values, keys = [value for _, value in node.items], [key for key, _ in node.items]
        if not members.keys().isdisjoint(map(camel, keys)):
            return "its value is computed"
        last = max((value.span for value in values), key=lambda span: span[1], default=(0, 0))
        if not end or any(not value.span[1] for value in values):
            return "its declaration is made elsewhere"
        code = module.tree.text[start:end]
        is_snake = isinstance(node, CallSite) and any("_" in key for key in keys)
        is_quoted = module.is_python or re.match(rb"\{\s*[\"']", code) is not None
        style = self._style(module)
        indent = _indent(_line_at(module, last[0] or start))
        edits = []
        for key, value in members.items():
            name = re.sub("(?=[A-Z])", "_", key).lower() if is_snake else key
            spelled = f"{json.dumps(name) if is_object and is_quoted else name}{': ' if is_object else '='}"
            text = value if isinstance(value, _Code) else style.value(value)
            if isinstance(value, str) and not isinstance(value, _Code):
                text = style.wrapped(value, "", column=len(indent + spelled), indent=indent, is_enclosed=False)
            text = f"{spelled}{text}"
            edits.append(SourceEdit(module=module, start=start, end=end, code=text, slot=name, after=last))
        return edits

    def _here(self, node: SyntaxNode) -> Expression:
        part = next(iter(self.registration.parts.values()), None) or self.registration.function
        scope = part.scope if part is not None else None
        if scope is None or scope.module is not self.registration.module:
            scope = self.reader.scope_of(self.registration.module)
        return Expression(node=node, scope=scope)

    @property
    def _function(self) -> Expression | None:
        return self.reader.wrapped(self.registration)

    def _body_indent(self, module: ProjectModule) -> str:
        function = self._function
        body = function.node.body if function and isinstance(function.node, Function) else None
        return _line_at(module, body.span[0] if body else 0)

    def _style(self, module: ProjectModule) -> Style:
        return self.tools.file(module).style


_OTHER_VERSION = "the source says something else than the server; is it the same version?"


def _metadata(annotation: SyntaxNode | None) -> Sequence[SyntaxNode]:
    """Return what stands behind the type in `Annotated[…]`."""
    if not isinstance(annotation, Subscript) or last_name(annotation.value) != "Annotated":
        return ()
    return annotation.key.values[1:] if isinstance(annotation.key, Collection) else ()


def _gaps(node: SyntaxNode) -> Iterator[tuple[int, int]]:
    """Yield the ranges between the pieces of a sum of texts; none of a template literal."""
    parts = node.parts if isinstance(node, Template) and len(node.parts) > 1 else ()
    for first, second in pairwise(parts):
        yield first.span[1], second.span[0]


def _has_comment(module: ProjectModule, gap: tuple[int, int]) -> bool:
    return any(mark in module.tree.text[slice(*gap)] for mark in (b"//", b"/*"))


def _spelled_name(module: ProjectModule, name: str) -> str | None:
    """Return how the file calls Annotated or Field, or would; None where it cannot be known.

    An import in a condition may not run: `if TYPE_CHECKING: from pydantic import Field`.
    """
    statements = [statement for statement in module.tree.body.statements if isinstance(statement, Import)]
    imports = {local: origin for statement in statements for local, origin in statement.names.items()}
    modules = [f"{local}.{name}" for local, (home, original) in imports.items() if f"{home}.{original}" in HOMES[name]]
    direct = [local for local, (home, original) in imports.items() if home in HOMES[name] and original == name]
    whole = [f"{local}.{name}" for local, (home, original) in imports.items() if home in HOMES[name] and not original]
    if direct or whole or modules:
        return [*direct, *whole, *modules][0]
    is_taken = name in module.bindings or any(isinstance(node, Name) and node.id == name for node in module.tree.nodes)
    return None if is_taken or _last_import(module) is None else name


def _last_import(module: ProjectModule) -> int | None:
    """Return the offset behind the last import among the statements before the first function and class."""
    end = None
    for statement in module.tree.body.statements:
        if isinstance(statement, Function | Class):
            break
        end = statement.span[1] if isinstance(statement, Import) else end
    return end


def _import(module: ProjectModule, name: str) -> SourceEdit:
    text = module.tree.text
    end = text.find(b"\n", _last_import(module) or 0)
    at = len(text) if end < 0 else end + 1
    newline = "\r\n" if text[at - 2 : at] == b"\r\n" else "\n"
    return SourceEdit(module=module, start=at, end=at, code=f"from {HOMES[name][0]} import {name}{newline}", slot=name)


def _insert(
    module: ProjectModule, start: int, end: int, added: Sequence[SourceEdit], *, style: Style
) -> list[TextEdit]:
    """Return the edits that add members to the object or call in a range."""
    source, newline = module.tree.text, style.newline
    codes = [edit.code for edit in added]
    first, last = added[0].after or (0, 0)
    close = end - 1
    if not last:
        inner = source[start + 1 : close]
        spaced = "" if style.is_python or source[start : start + 1] == b"(" else " "
        at = start + 1 if not inner.strip() else close
        return [TextEdit(start=at, end=close, text=f"{spaced}{', '.join(codes)}{spaced}")]
    at = _skip(source, last, close)
    while source[at : at + 1] == b")" and at < close:  # description=("A " "b"),
        last = at + 1
        at = _skip(source, last, close)
    comma = at if source[at : at + 1] == b"," else None
    behind = last if comma is None else comma + 1
    indent = _indent(_line_at(module, first))
    if b"\n" not in source[behind:close]:
        is_long = len(_line_at(module, first, is_whole=True)) + sum(len(code) + 2 for code in codes) > style.width
        space = f"{newline}{indent}{style.unit}" if is_long else " "
        text = f",{space}".join(codes)
        if comma is not None:
            return [TextEdit(start=behind, end=close, text=f"{space}{text}")]
        return [TextEdit(start=last, end=last, text=f",{space}{text}")]
    text = "".join(f"{newline}{indent}{code}," for code in codes)
    until = source.find(b"\n", behind, close)
    until -= source[until - 1 : until] == b"\r"
    if not re.fullmatch(rb"[ \t]*(?:(?:#|//)[^\n]*|/\*[^\n]*\*/[ \t]*)?", source[behind:until]):
        until = behind
    if comma is not None:
        return [TextEdit(start=until, end=until, text=text)]
    if until == behind:
        return [TextEdit(start=behind, end=behind, text=f",{text}")]
    return [TextEdit(start=last, end=last, text=","), TextEdit(start=until, end=until, text=text)]


def _code_at(module: ProjectModule, span: tuple[int, int]) -> str:
    return module.tree.text[slice(*span)].decode("utf-8", "replace")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _line_at(module: ProjectModule, offset: int, *, is_whole: bool = False) -> str:
    """Return the line of an offset, up to there or whole."""
    source = module.tree.text
    end = source.find(b"\n", offset) if is_whole else offset
    line = source[source.rfind(b"\n", 0, offset) + 1 : end if end >= 0 else len(source)]
    return line.decode("utf-8", "replace").rstrip("\r")


def _skip(source: bytes, at: int, limit: int) -> int:
    """Return the offset behind white space and comments."""
    match = _GAP.match(source, at, limit)
    return match.end() if match else at


def _margin(text: str) -> str:
    """Return what all lines but the first begin with, as `inspect.cleandoc` counts it."""
    later = [line for line in text.split("\n")[1:] if line.strip()]
    if not later:
        return ""
    return min(map(_indent, later), key=len)


def _unindented(text: str, before: str) -> str:
    """Return a text without the margin that the old one has in the server's answer."""
    margin = _margin(before)
    first, *later = text.strip().split("\n")
    return "\n".join([first, *(line.removeprefix(margin) for line in later)])


def _inside(style: Style, text: str, code: str) -> str | None:
    """Return a text as it stands between the quotes of a docstring; None where they would have to change."""
    opening = OPENING.match(code)
    spelled = style.text(text, code)
    is_kept = opening is not None and spelled.startswith(opening[0])
    return spelled[len(opening[0]) : -len(opening["quote"])] if opening and is_kept else None


def _rest(old: str, value: str) -> str:
    """Return what stands in a docstring behind its description: sections that become parameters' texts, or space."""
    lines = old.strip().split("\n")
    tail = old[len(old.rstrip()) :] if old.strip() else ""
    return "".join(f"\n{line}" for line in lines[len(value.strip().split("\n")) :]) + tail
