"""Findings, scores and fixes in an editor: a server of the Language Server Protocol over standard input and output."""

import asyncio
import io
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from tdqs_mcp.app.configuration import read_configuration
from tdqs_mcp.app.improving import rewrite
from tdqs_mcp.app.judging import score_offline
from tdqs_mcp.app.linting import Policy, find, read_policy, report_findings
from tdqs_mcp.code.definitions import read_tools
from tdqs_mcp.code.nodes import Module
from tdqs_mcp.code.reading import read_code
from tdqs_mcp.code.source_patches import patch_source
from tdqs_mcp.code.tool_search import folder_of
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.facts.schema.signals import definition_tokens
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.lint_report import LocatedReport, sentence
from tdqs_mcp.results.contract import Absent
from tdqs_mcp.results.findings import Finding, Location
from tdqs_mcp.results.scores import ToolScore
from tdqs_mcp.results.tool_code import CodeReport, SourcePlace
from tdqs_mcp.rewriting.rewrite_review import review
from tdqs_mcp.rewriting.text_patches import find_fixes, write_json
from tdqs_mcp.sources.files import locate, read_content
from tdqs_mcp.sources.locator import CODE_SUFFIXES

DELAY = 0.05
"""Seconds without a keystroke before a tree is read again."""

FIXED = frozenset(("TDQ137", "TDQ160", "TDQ236", "TDQ721"))
"""Rules whose findings a fix without new words may remove."""

_PROJECT_FILES = ("pyproject.toml", "package.json", "setup.py")


@dataclass(slots=True, kw_only=True)
class Tree:
    """A folder of source, or a JSON file of definitions, as it was read last."""

    root: Path
    parsed: dict[str, Module] = field(default_factory=dict)
    code: CodeReport | None = None
    policy: Policy = field(default_factory=Policy)
    measured: Measured | None = None
    """Facts of the tools, which are kept where a tool is unchanged."""

    located: LocatedReport | None = None
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    turn: int = 0
    """Number of requests to read it; the last one counts."""

    is_stale: bool = True
    """A file was opened or saved since `code` was read."""

    files: frozenset[Path] = frozenset()
    """Files whose diagnostics the editor shows."""

    def read(self) -> None:
        """Read definitions, findings and their places anew. Raises InputError."""
        policy = read_policy({}, environ=os.environ, configuration=read_configuration(folder_of(self.root)))
        if self.root.suffix == ".json":
            content = self.overlay.get(self.root.name) or self.root.read_bytes()
            catalog = read_content(content, origin=repr(self.root.name), name=self.root.stem, source=self.root.name)
            text = locate(content)
            options: dict[str, Any] = {"file": self.root.name, "positions": lambda: text}
        else:
            catalog, places = read_tools(self.root, self.overlay, self.parsed)
            if not catalog.tools:
                raise InputError(f"no tool is registered in {self.root.name}, as far as its code tells")
            if self.is_stale:
                self.code = replace(read_code(self.root, self.overlay), folder=".")
                self.is_stale = False
            policy = replace(policy, code=self.code)
            start = next((parts[""].file for parts in places.values()), self.root.name)
            options = {"places": places, "named_file": start}
        self.measured = measured = _measure_again(catalog, self.measured)
        report = report_findings(measured, policy)
        self.located = LocatedReport(report=report, catalog=measured.catalog, **options)
        self.policy = policy

    def tools(self, path: Path) -> list[tuple[int, int, int]]:
        """Return first line, last line and index of each tool whose definition stands in a file, by first line."""
        spans: list[tuple[int, int, int]] = []
        if (located := self.located) is None:
            return spans
        for tool in located.catalog.tools:
            place = located.find(Location(kind="tool", name=tool.name, index=tool.index, path=""))
            if place is None or folder_of(self.root) / place.file != path:
                continue
            parts = located.places.get(tool.name, {}).values()
            lines = [part.line for part in parts if part.file == place.file and part.line >= place.line]
            spans.append((place.line, max(lines, default=place.line), tool.index))
        return sorted(spans)

    def propose(self, kind: str, name: str) -> tuple[dict[Path, bytes], list[str]]:
        """Return the files with a tool's fixes or its better definition, and what is left to the author, with why."""
        assert self.located is not None  # noqa: S101
        catalog = self.located.catalog
        if kind == "fix":
            fixes = find_fixes(measure(catalog), lambda measured: find(measured, self.policy).findings)
            rewrites = [review(fix) for fix in fixes if fix.subject.tool.name == name]
        else:
            rewrites = asyncio.run(rewrite(catalog, tools=[name], code=self.code))
        if self.root.suffix == ".json":
            content, left = write_json(self.overlay.get(self.root.name) or self.root.read_bytes(), rewrites)
            files = {self.root: content}
        else:
            patch = patch_source(self.root, rewrites, overlay=self.overlay)
            files, left = {folder_of(self.root) / path: text for path, text in patch.files.items()}, patch.left_out
        return files, [f"{item.path} ({item.reason})" for item in left]


class EditorServer(LanguageServer):
    """Keeps the trees that an editor has open, one for each project."""

    def __init__(self) -> None:
        super().__init__("tdqs-mcp", version("tdqs-mcp"))
        self.trees: dict[Path, Tree] = {}
        self.lock = asyncio.Lock()

    def tree(self, uri: str) -> Tree | None:
        """Return the tree of a document; None for what holds no definitions."""
        path = _path(uri)
        if path.suffix not in CODE_SUFFIXES | {".json"}:
            return None
        root = path if path.suffix == ".json" else self._root(path)
        return self.trees.setdefault(root, Tree(root=root))

    def _root(self, path: Path) -> Path:
        """Return the folder of the project that a file is part of: below an open folder, the nearest that says so."""
        folders = [_path(folder.uri) for folder in self.workspace.folders.values()]
        outer = [folder for folder in folders if path.is_relative_to(folder)]
        if not outer:
            return path
        parents = [parent for parent in path.parents if parent.is_relative_to(outer[0])]
        named = [parent for parent in parents if any((parent / name).exists() for name in _PROJECT_FILES)]
        return [*named, outer[0]][0]

    async def refresh(self, uri: str, *, is_saved: bool) -> None:
        """Read a document's tree and show what is found, unless another keystroke comes first."""
        tree = self.tree(uri)
        if tree is None:
            return
        tree.turn += 1
        tree.is_stale |= is_saved
        turn = tree.turn
        await asyncio.sleep(0 if is_saved else DELAY)
        async with self.lock:
            if turn != tree.turn:
                return
            tree.overlay = self.overlay(tree)
            try:
                await asyncio.to_thread(tree.read)
            except InputError as error:  # no definitions, or a file that does not parse while it is typed
                self.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Info, message=f"tdqs-mcp: {error}"))
                tree.located = None if tree.root.suffix == ".json" else tree.located
            except Exception as error:  # noqa: BLE001  # whatever it is, the author is told
                self.tell(error)
            self.publish(tree)

    def overlay(self, tree: Tree) -> dict[str, bytes]:
        """Return the texts of a tree that the editor has open, by their paths in it."""
        return {
            path.relative_to(folder_of(tree.root)).as_posix(): document.source.encode("utf-8", "surrogatepass")
            for document in self.workspace.text_documents.values()
            if (path := Path(document.path)).is_relative_to(folder_of(tree.root))
        }

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401, ARG002  # pygls' own
        """Show what fails in any request, which editors only log; pygls wraps it."""
        origin = sys.exception()
        self.tell(origin if isinstance(origin, Exception) else error)

    def tell(self, error: Exception) -> None:
        """Show an error in the editor; its log has the lines."""
        trace = "".join(traceback.format_exception(error))
        self.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Error, message=trace))
        reason = str(error) if isinstance(error, TdqsError) else f"{type(error).__name__}: {error}"
        text = f"tdqs-mcp could not do that ({reason}); the log of the language server has the lines"
        self.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Error, message=text))

    def publish(self, tree: Tree) -> None:
        """Show the findings of a tree, and take back those of files that have none any more."""
        by_file: dict[Path, list[lsp.Diagnostic]] = {}
        if located := tree.located:
            for finding in located.report.findings:
                place = located.name(finding.subject)
                path = folder_of(tree.root) / place.file
                by_file.setdefault(path, []).append(self.diagnostic(tree, finding, place))
        for path in tree.files | by_file.keys():
            diagnostics = lsp.PublishDiagnosticsParams(uri=_uri(path), diagnostics=by_file.get(path, []))
            self.text_document_publish_diagnostics(diagnostics)
        tree.files = frozenset(by_file)

    def diagnostic(self, tree: Tree, finding: Finding, place: SourcePlace) -> lsp.Diagnostic:
        """Return a finding as the protocol has it, at its definition, with the line of code that proves it."""
        related = None
        if not isinstance(finding.code, Absent):
            line = SourcePlace(file=finding.code.file, line=finding.code.line, column=1)
            where = lsp.Location(uri=_uri(folder_of(tree.root) / line.file), range=self.range(tree, line))
            related = [lsp.DiagnosticRelatedInformation(location=where, message="the code that proves it")]
        return lsp.Diagnostic(
            range=self.range(tree, place),
            message=sentence(finding),
            severity=lsp.DiagnosticSeverity(3 - finding.severity.rank),
            code=finding.rule,
            source="tdqs-mcp",
            related_information=related,
            data={"tool": finding.subject.name if finding.subject.kind == "tool" else ""},
        )

    def range(self, tree: Tree, place: SourcePlace) -> lsp.Range:
        """Return a place up to the end of its line, in UTF-16 as the protocol counts."""
        document = self.workspace.get_text_document(_uri(folder_of(tree.root) / place.file))
        lines = _lines(document.source)
        line = lines[place.line - 1].rstrip("\r\n") if place.line <= len(lines) else ""
        start, end = (len(text.encode("utf-16-le")) // 2 for text in (line[: place.column - 1], line))
        return lsp.Range(lsp.Position(place.line - 1, start), lsp.Position(place.line - 1, max(start, end)))

    def tool_at(self, uri: str, line: int) -> tuple[Tree, int] | None:
        """Return the tool whose definition stands around a line, from 1."""
        tree, path = self.tree(uri), _path(uri)
        before = [span for span in tree.tools(path) if span[0] <= line] if tree else []
        return (tree, before[-1][2]) if tree and before and line <= before[-1][1] else None


def _measure_again(catalog: Catalog, earlier: Measured | None) -> Measured:
    """Return the facts of a catalog; those of tools that are what they were are kept."""
    if earlier is None or len(earlier.catalog.tools) != len(catalog.tools):
        return measure(catalog)
    pairs = zip(earlier.catalog.tools, catalog.tools, strict=True)
    # `==` takes 1 for true and for 1.0
    tools = tuple(old if old == new and repr(old.raw) == repr(new.raw) else new for old, new in pairs)
    return measure(replace(catalog, tools=tools), earlier=earlier)


def _path(uri: str) -> Path:
    return Path(to_fs_path(uri) or "")


def _uri(path: Path) -> str:
    return from_fs_path(str(path)) or ""


@lru_cache(maxsize=8)  # a file has many findings, each with a line
def _lines(text: str) -> list[str]:
    """Return lines as the protocol counts them: a form feed or U+2028 ends none."""
    return list(io.StringIO(text, newline=""))


def _hover(catalog: Catalog, score: ToolScore | None, index: int, findings: Sequence[Finding]) -> Iterator[str]:
    tool = catalog.tools[index]
    tokens = definition_tokens(tool.raw)
    if score is None:
        yield f"**{tool.name}**: no score, as a part of it could not be read; about {tokens} tokens"
    else:
        yield f"**{tool.name}**: {score.tier}, {score.tdqs / 10:.1f} of 5 (offline estimate); about {tokens} tokens"
        for name, judgement in score.judgements.items():
            yield f"- {name.replace('_', ' ')} {judgement.score}: {judgement.justification}"
    yield from (f"- {finding.severity} {finding.rule}: {sentence(finding)}" for finding in findings)


def _changes(server: EditorServer, files: Mapping[Path, bytes]) -> dict[str, list[lsp.TextEdit]]:
    """Return the lines that differ from what the editor has open."""
    changes: dict[str, list[lsp.TextEdit]] = {}
    for path, content in files.items():
        uri = _uri(path)
        old = _lines(server.workspace.get_text_document(uri).source)
        new = _lines(content.decode("utf-8", "surrogatepass"))
        changes[uri] = [
            lsp.TextEdit(lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0)), "".join(new[start:end]))
            for step, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            if step != "equal"
        ]
    return changes


def make_server() -> EditorServer:  # noqa: C901  # one function for each request of the protocol
    """Return a server that answers an editor."""
    server = EditorServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri, is_saved=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri, is_saved=False)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri, is_saved=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri, is_saved=True)  # what was not saved is gone

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        tree, index = server.tool_at(params.text_document.uri, params.position.line + 1) or (None, 0)
        if tree is None or (located := tree.located) is None:
            return None
        scores = {item.index: item for item in score_offline(located.catalog, policy=tree.policy).tools}
        findings = [finding for finding in located.report.findings if finding.tool_index == index]
        text = "\n".join(_hover(located.catalog, scores.get(index), index, findings))
        return lsp.Hover(contents=lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=text))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        tree, path = server.tree(params.text_document.uri), _path(params.text_document.uri)
        lines = _lines(server.workspace.get_text_document(params.text_document.uri).source)
        answers: list[lsp.InlayHint] = []
        if tree is None or (located := tree.located) is None:
            return answers
        for line, _, index in tree.tools(path):
            text = lines[line - 1].rstrip("\r\n") if line <= len(lines) else ""
            position = lsp.Position(line - 1, len(text.encode("utf-16-le")) // 2)
            label = f"{definition_tokens(located.catalog.tools[index].raw)} tokens"
            answers.append(lsp.InlayHint(position=position, label=label, padding_left=True))
        return answers

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(resolve_provider=True))
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        spot = server.tool_at(params.text_document.uri, params.range.start.line + 1)
        names = [str(item.data["tool"]) for item in params.context.diagnostics if isinstance(item.data, dict)]
        if spot and spot[0].located:
            names.append(spot[0].located.catalog.tools[spot[1]].name)
        rules = {str(item.code) for item in params.context.diagnostics}
        kinds = [*(["fix"] if rules & FIXED else []), "rewrite"]
        return [
            lsp.CodeAction(
                title=f"tdqs-mcp: {kind} {name}",
                kind=lsp.CodeActionKind.QuickFix,
                data={"kind": kind, "tool": name, "uri": params.text_document.uri},
            )
            for name in dict.fromkeys(filter(None, names))
            for kind in kinds
        ]

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        data: Any = action.data
        tree = server.tree(data["uri"])
        if tree is None or tree.located is None:
            return action
        async with server.lock:
            tree.overlay = server.overlay(tree)
            files, left = await asyncio.to_thread(tree.propose, data["kind"], data["tool"])
            is_current = tree.overlay == server.overlay(tree)
        changes = _changes(server, files) if is_current else {}
        if not is_current:
            text = "a file has changed meanwhile: ask again"
            server.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Info, message=f"tdqs-mcp: {text}"))
        elif left or not any(changes.values()):
            text = f"left to you: {'; '.join(left)}" if left else f"nothing is known that would improve {data['tool']}"
            server.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Info, message=f"tdqs-mcp: {text}"))
        action.edit = lsp.WorkspaceEdit(changes=changes)
        return action

    return server


def serve() -> None:
    """Answer an editor over standard input and output until it ends the session."""
    make_server().start_io()
