"""The language server, asked by a client library over standard input and output as an editor does."""

import asyncio
import json
import os
import shutil
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from conftest import CI_CANNOT_RUN
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from tdqs_mcp.errors import InputError

pytestmark = pytest.mark.process

EXAMPLES = Path(__file__).parents[1] / "examples" / "careless"


class Editor(LanguageClient):
    """Keeps what the server shows."""

    def __init__(self):
        super().__init__("editor", "1")
        self.shown, self.messages, self.news = {}, [], asyncio.Event()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params):
            self.shown[params.uri] = params.diagnostics
            self.news.set()

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)
        def _(params):
            self.messages.append(params.message)

        @self.feature(lsp.WINDOW_LOG_MESSAGE)
        def _(params):
            self.news.set()

    async def settle(self, path):
        """Wait for what the server shows next, and for all that it shows with it, which goes before an answer."""
        async with asyncio.timeout(120):
            await self.news.wait()
        document = lsp.TextDocumentIdentifier(path.as_uri())
        await self.text_document_hover_async(lsp.HoverParams(document, lsp.Position(0, 0)))

    async def open(self, path):
        """Open a document and wait for what is found."""
        self.news.clear()
        document = lsp.TextDocumentItem(path.as_uri(), "python", 1, path.read_text("utf-8"))
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        await self.settle(path)

    async def type(self, path, text, version=2):
        """Replace a document's text, without saving it."""
        self.news.clear()
        document = lsp.VersionedTextDocumentIdentifier(version, path.as_uri())
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        await self.settle(path)


@asynccontextmanager
async def editor(folder):
    client = Editor()
    await client.start_io(sys.executable, "-m", "tdqs_mcp", "lsp")
    folders = [lsp.WorkspaceFolder(folder.as_uri(), folder.name)]
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), workspace_folders=folders))
    client.initialized(lsp.InitializedParams())
    try:
        yield client
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()


def shown(client, folder):
    def spot(uri, place):
        return Path(uri.removeprefix(f"{folder.as_uri()}/")).as_posix(), place.start.line + 1

    def proof(item):
        return [spot(each.location.uri, each.location.range) for each in item.related_information or ()]

    return sorted(
        (*spot(uri, item.range), item.code, item.message, proof(item))
        for uri, items in client.shown.items()
        for item in items
    )


def listed(command, folder, locator=".", *options):
    """The findings at their definitions, with the lines of code that prove them, which code scanning names first."""

    def spot(location):
        place = location["physicalLocation"]
        return place["artifactLocation"]["uri"], place["region"]["startLine"]

    run = json.loads(command("lint", locator, *options, "--format", "code-scanning", cwd=folder).stdout)["runs"][0]
    places = [[spot(one) for one in (*each["locations"], *each.get("relatedLocations", ()))] for each in run["results"]]
    return sorted(
        (*spots[-1], each["ruleId"], each["message"]["text"], spots[:-1])
        for spots, each in zip(places, run["results"], strict=True)
    )


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "careless")
    return tmp_path / "careless"


def test_an_editor_shows_what_the_command_line_finds(folder, command):
    async def ask():
        async with editor(folder) as client:
            await client.open(folder / "server.py")
            return shown(client, folder)

    found = asyncio.run(ask())
    assert {name for name, *_ in found} == {"server.py", "server.ts"}
    rules = {rule for _, _, rule, *_ in found}
    assert found == listed(command, folder, ".", "--select", ",".join(rules)), (
        "named rules keep a finding for each tool"
    )
    assert {rule for _, _, rule, *_ in listed(command, folder)} == rules


def test_findings_of_real_trees_are_those_of_the_command_line(command):
    shared = os.environ.get("TDQS_PACKAGES")
    if not shared:
        pytest.skip(f"{CI_CANNOT_RUN}: TDQS_PACKAGES names a folder of unpacked packages, which are other people's")

    async def ask(folder):
        async with editor(folder) as client:
            await client.open(next(path for path in folder.rglob("*") if path.suffix in (".py", ".ts", ".js")))
            return shown(client, folder)

    for folder in sorted(Path(shared).iterdir()):
        assert asyncio.run(ask(folder)) == listed(command, folder), folder.name


def test_findings_follow_what_is_typed_and_the_file_on_the_disk_does_not_count(folder):
    path = folder / "server.ts"

    async def ask():
        async with editor(folder) as client:
            await client.open(path)
            before = shown(client, folder)
            await client.type(path, "// a new line\n" + path.read_text("utf-8"))
            moved = shown(client, folder)
            await client.type(path, "export {};\n", version=3)
            return before, moved, shown(client, folder)

    before, moved, gone = asyncio.run(ask())
    definitions = [finding for finding in before if finding[0] == "server.ts" and finding[2][:4] == "TDQ1"]
    assert definitions
    assert all((name, line + 1, *rest) in moved for name, line, *rest in definitions)
    assert {name for name, *_ in gone} == {"server.py"}


def test_a_file_of_definitions_is_linted_while_it_is_typed(tmp_path, command):
    path = tmp_path / "tools.json"
    path.write_text('[\n {"name": "run", "description": "Run.", "inputSchema": {"type": "object"}}\n]')

    async def ask():
        async with editor(tmp_path) as client:
            await client.open(path)
            whole = shown(client, tmp_path)
            await client.type(path, '[{"name": ')
            return whole, shown(client, tmp_path), client.messages

    whole, broken, messages = asyncio.run(ask())
    assert whole == listed(command, tmp_path, "tools.json")
    assert (broken, messages) == ([], [])


def test_hover_has_the_score_with_reasons_and_the_hint_the_tokens(folder):
    path = folder / "server.py"
    line = next(number for number, text in enumerate(path.read_text().splitlines()) if "def close_note" in text)

    async def ask():
        async with editor(folder) as client:
            await client.open(path)
            document = lsp.TextDocumentIdentifier(path.as_uri())
            hover = await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(line, 6)))
            nothing = await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(0, 0)))
            whole = lsp.Range(lsp.Position(0, 0), lsp.Position(line + 9, 0))
            return hover, nothing, await client.text_document_inlay_hint_async(lsp.InlayHintParams(document, whole))

    hover, nothing, hints = asyncio.run(ask())
    assert hover.contents.value.startswith("**close_note**: ")
    assert "- purpose clarity " in hover.contents.value
    assert "TDQ802" in hover.contents.value
    assert nothing is None
    assert [hint.position.line for hint in hints][-1] == line
    assert all(hint.label.endswith(" tokens") for hint in hints)


def test_a_quick_fix_edits_the_tool_alone(tmp_path):
    path = tmp_path / "server.py"
    path.write_text(
        "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('boats')\n\n\n"
        "@server.tool()\ndef list_boats(pier: str) -> str:\n    '''This tool lists the boats at a pier. Lists the boats at a pier.'''\n"
        "    raise ValueError('no such pier')\n\n\n"
        "@server.tool()\ndef find_piers(city: str) -> str:\n    '''Finds the piers of a city.'''\n    raise ValueError('no such city')\n"
    )

    async def ask(kind):
        async with editor(tmp_path) as client:
            await client.open(path)
            document = lsp.TextDocumentIdentifier(path.as_uri())
            items = client.shown[path.as_uri()]
            at = lsp.Range(lsp.Position(5, 0), lsp.Position(5, 0))
            context = lsp.CodeActionContext(items)
            actions = await client.text_document_code_action_async(lsp.CodeActionParams(document, at, context))
            [action] = [action for action in actions if action.title == f"tdqs-mcp: {kind} list_boats"]
            return (await client.code_action_resolve_async(action)).edit, client.messages

    edit, messages = asyncio.run(ask("rewrite"))
    [(uri, changes)] = edit.changes.items() if edit.changes else [(path.as_uri(), [])]
    assert uri == path.as_uri()
    assert changes or messages
    assert all(
        change.range.end.line < path.read_text().splitlines().index("def find_piers(city: str) -> str:")
        for change in changes
    )


@pytest.mark.process
def test_edits_count_lines_as_the_protocol_does_and_keep_what_was_just_typed(tmp_path):
    path = tmp_path / "tools.json"
    other = '{"name": "sell_boat", "description": "Sells a boat.\u2028To list boats, use `list_boats`."}'
    empty = '{"name": "list_boats", "description": "This tool allows you to list the boats at a pier."}'
    path.write_text(f"[\n{other},\n{empty}\n]\n", "utf-8")
    typed = f'[\n{other},\n{{"name": "typed"}},\n{empty}\n]\n'

    async def ask():
        async with editor(tmp_path) as client:
            await client.open(path)
            document = lsp.VersionedTextDocumentIdentifier(2, path.as_uri())
            change = lsp.TextDocumentContentChangeWholeDocument(typed)
            client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
            data = {"kind": "fix", "tool": "list_boats", "uri": path.as_uri()}
            action = lsp.CodeAction(title="fix", kind=lsp.CodeActionKind.QuickFix, data=data)
            return (await client.code_action_resolve_async(action)).edit, client.messages

    edit, messages = asyncio.run(ask())
    lines = [(each.range.start.line, each.range.end.line) for each in edit.changes.get(path.as_uri(), [])]
    assert lines == [(3, 4)] or messages, "the line after the one just typed, or nothing and a word why"


def test_a_failure_of_a_request_is_shown_in_the_editor(folder):
    path = folder / "server.py"

    async def ask():
        async with editor(folder) as client:
            await client.open(path)
            data = {"kind": "rewrite", "tool": "absent", "uri": path.as_uri()}
            with pytest.raises(JsonRpcException):
                await client.code_action_resolve_async(lsp.CodeAction(title="rewrite", data=data))
            document = lsp.TextDocumentIdentifier(path.as_uri())
            await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(0, 0)))
            return client.messages

    [message] = asyncio.run(ask())
    assert message.startswith("tdqs-mcp could not do that (there is no tool 'absent'")
    assert message.endswith("; the log of the language server has the lines")


def test_without_pygls_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.delitem(sys.modules, "tdqs_mcp.language_server", raising=False)
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    from tdqs_mcp.cli.agent_commands import lsp as command  # noqa: PLC0415

    with pytest.raises(InputError, match=r"'\.\[lsp\]'"):
        command.callback()
