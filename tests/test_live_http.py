"""Capturing servers over HTTP, and server objects of this process: no process is started."""

import contextlib
import json
import logging
import os
import socket
import sys
import threading
import uuid

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from misbehaving_server import ODD_JSON

from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.sources.connection import capture
from tdqs_mcp.sources.locator import InProcess, LiveOptions, Url

pytestmark = pytest.mark.anyio

SECRET = "hunter2-hunter2"  # noqa: S105  # given to servers to see that no message repeats it


def options(**given):
    return LiveOptions(**{"timeout": 20.0, "env": {"TDQS_SECRET": SECRET}} | given)


async def failure(locator, given):
    with pytest.raises(CaptureError) as caught:
        await capture(locator, given)
    line = str(caught.value)
    assert "\n" not in line
    assert "Traceback (most" not in line
    return line


def check_odd_json(catalog):
    """The catalog of ODD_JSON: every tool is there, with what is odd in it."""
    assert [tool.name for tool in catalog.tools] == ["good", "twice", "number", "deep", "half \ud800"]
    odd = {tool.name: [each.message for each in tool.defects if each.path != "/inputSchema"] for tool in catalog.tools}
    assert odd["good"] == odd["half \ud800"] == []
    assert "more than once" in odd["twice"][0]
    assert "NaN" in odd["number"][0]
    assert "nests deeper" in odd["deep"][0]
    assert "'nextCursor' is given more than once" in catalog.problems[0]


# HTTP


@contextlib.contextmanager
def serving(app):
    """The address of an ASGI app on loopback. Its socket listens before the server runs, so nobody has to wait."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def own_server():
    server = MCPServer("own", version="3", instructions="hello", log_level="CRITICAL")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    return server


def answering(status, headers=(), body=b""):
    """An ASGI app with one answer for everything."""

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await drain(receive)
            raw = [(key.encode(), value.encode()) for key, value in headers]
            await send({"type": "http.response.start", "status": status, "headers": raw})
            await send({"type": "http.response.body", "body": body})
        else:
            await lifespan(receive, send)

    return app


async def drain(receive):
    while (await receive()).get("more_body"):
        pass


async def lifespan(receive, send):
    for phase in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{phase}.complete"})


@pytest.mark.parametrize("stateless", [True, False])
async def test_our_own_server_is_captured_over_streamable_http_in_the_newest_era(stateless):
    with serving(own_server().streamable_http_app(stateless_http=stateless)) as address:
        catalog = await capture(Url(url=f"{address}/mcp?key={SECRET}"), options())
    assert (catalog.server, catalog.version, catalog.instructions) == ("own", "3", "hello")
    assert [tool.name for tool in catalog.tools] == ["add"]
    assert catalog.protocol_version == "2026-07-28"
    assert catalog.source == f"{address}/mcp"
    assert catalog.problems == ()


async def test_our_own_server_is_captured_over_the_older_sse_transport():
    with serving(own_server().sse_app()) as address:
        catalog = await capture(Url(url=f"{address}/sse"), options())
    assert [tool.name for tool in catalog.tools] == ["add"]
    assert catalog.protocol_version == "2025-11-25"
    assert catalog.problems == ()


async def test_headers_are_sent_and_a_server_that_wants_them_is_captured():
    inner = own_server().streamable_http_app()

    async def app(scope, receive, send):
        allowed = scope["type"] != "http" or (b"authorization", f"Bearer {SECRET}".encode()) in scope["headers"]
        await (inner if allowed else answering(401))(scope, receive, send)

    with serving(app) as address:
        given = options(headers={"Authorization": f"Bearer {SECRET}"})
        catalog = await capture(Url(url=f"{address}/mcp"), given)
        line = await failure(Url(url=f"{address}/mcp"), options())
    assert [tool.name for tool in catalog.tools] == ["add"]
    assert "answers 401: give credentials with --header 'Authorization: Bearer …'" in line


async def test_an_error_that_json_rpc_puts_into_an_http_refusal_is_repeated():
    inner = own_server().streamable_http_app()
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": f"no seat for {SECRET}"}}

    async def app(scope, receive, send):
        listing = scope["type"] == "http" and (b"mcp-method", b"tools/list") in scope["headers"]
        refusing = answering(500, [("content-type", "application/json")], json.dumps(refusal).encode())
        await (refusing if listing else inner)(scope, receive, send)

    with serving(app) as address:
        line = await failure(Url(url=f"{address}/mcp"), options())
    assert "answers 500 (answers 'tools/list' with error -32001: no seat for ***" in line


async def test_a_refusal_that_the_sse_transport_only_logs_is_still_explained():
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
        elif scope["method"] == "GET":
            start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
            await send(start)
            event = b"event: endpoint\ndata: /messages\n\n"
            await send({"type": "http.response.body", "body": event, "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
        else:
            await answering(405 if scope["path"] == "/sse" else 401)(scope, receive, send)

    with serving(app) as address:
        line = await failure(Url(url=f"{address}/sse"), options(timeout=1.0))
    assert "answers 401: give credentials" in line


async def test_a_connection_that_breaks_after_the_tools_keeps_them_and_says_what_is_missing():
    inner = own_server().streamable_http_app()
    endless = answering(200, [("content-type", "application/json")], b" " * 200_000)

    async def app(scope, receive, send):
        listing = scope["type"] == "http" and (b"mcp-method", b"resources/list") in scope["headers"]
        await (endless if listing else inner)(scope, receive, send)

    with serving(app) as address:
        catalog = await capture(Url(url=f"{address}/mcp"), options(max_bytes=100_000))
    assert [tool.name for tool in catalog.tools] == ["add"]
    assert catalog.resources is None
    assert catalog.problems == ("resources/list was not answered before the connection broke.",)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_json_that_the_sdk_refuses_reaches_the_catalog_over_http(kind):
    tools = [
        {"name": "a-\ud83d", "description": "half \udc00, whole 😀, literal \\\\ud83d \\ufdd0abcd"},
        {"name": "b"},
    ]
    with serving(listing(json.dumps({"tools": tools}), kind)) as address:
        catalog = await capture(Url(url=f"{address}/mcp"), options())
    assert [tool.raw for tool in catalog.tools] == tools
    assert (catalog.problems, catalog.incomplete) == ((), None)
    with serving(listing(ODD_JSON, kind)) as address:
        check_odd_json(await capture(Url(url=f"{address}/mcp"), options()))


def listing(result, kind):
    """A server of the older era whose answer to tools/list is this text."""
    opening = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    }
    answers = {"initialize": json.dumps(opening), "tools/list": result}

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        question = json.loads((await receive())["body"] or "{}") if scope["method"] == "POST" else {}
        found = answers.get(question.get("method"))
        member = f'"result": {found}' if found else '"error": {"code": -32601, "message": "Method not found"}'
        text = f'{{"jsonrpc": "2.0", "id": {json.dumps(question.get("id"))}, {member}}}'
        body = f"event: message\ndata: {text}\n\n" if kind == "text/event-stream" else text
        is_request = "id" in question
        status = 200 if is_request else 202 if scope["method"] == "POST" else 405
        headers = [(b"content-type", kind.encode())] if is_request else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode() if is_request else b""})

    return app


# In process

MODULE = """
import os
from mcp.server.mcpserver import MCPServer

print("imported")
server = MCPServer(os.environ.get("TDQS_SERVER_NAME", "unnamed"), version="1", log_level="DEBUG")
low_level = server._lowlevel_server
number = 5


class Box:
    inner = server


@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    return a + b


def make():
    return server


def broken():
    raise RuntimeError("no\\ndatabase")
"""


@pytest.fixture
def module(tmp_path):
    """The name of a fresh module in `tmp_path` that holds a server in several ways."""
    name = f"served_{uuid.uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize("attribute", ["server", "low_level", "make", "Box.inner"])
async def test_a_server_object_is_captured_in_process(module, attribute, tmp_path, capsys):
    given = options(cwd=str(tmp_path), env={"TDQS_SERVER_NAME": "named"})
    before = (list(sys.path), dict(os.environ), list(logging.getLogger().handlers))
    catalog = await capture(InProcess(module=module, attribute=attribute), given)
    assert (catalog.server, [tool.name for tool in catalog.tools]) == ("named", ["add"])
    assert catalog.source == f"py:{module}:{attribute}"
    assert capsys.readouterr().out == ""
    assert (list(sys.path), dict(os.environ), list(logging.getLogger().handlers)) == before


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("missing", "has no attribute 'missing'; it has 'server', 'low_level'"),
        ("number", "is 'int'; name an MCPServer"),
        ("broken", r"failed \(RuntimeError: no database\); it must work without arguments"),
    ],
)
async def test_an_attribute_that_is_no_server_is_refused(module, attribute, words, tmp_path):
    with pytest.raises(InputError, match=words):
        await capture(InProcess(module=module, attribute=attribute), options(cwd=str(tmp_path)))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_module_here", "No module named 'no_such_module_here'"),
        ("import sys; sys.exit(2)", "SystemExit: 2"),
        (f"raise ValueError('{SECRET}')", r"ValueError: \*\*\*"),
    ],
)
async def test_a_module_that_cannot_be_imported_is_refused(code, words, tmp_path):
    name = f"broken_{uuid.uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(code)
    with pytest.raises(InputError, match=words):
        await capture(InProcess(module=name, attribute="server"), options(cwd=str(tmp_path)))


async def test_a_fastmcp_object_is_captured_in_process(tmp_path):
    pytest.importorskip("fastmcp", reason="fastmcp is not installed")
    name = f"fast_{uuid.uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(
        "from fastmcp import FastMCP\nserver = FastMCP('fast', version='2')\n"
        "@server.tool\ndef hello(name: str) -> str:\n    'Greets.'\n    return name\n"
    )
    catalog = await capture(InProcess(module=name, attribute="server"), options(cwd=str(tmp_path)))
    assert (catalog.server, catalog.version) == ("fast", "2")
    assert [tool.name for tool in catalog.tools] == ["hello"]
