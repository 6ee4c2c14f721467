"""The router over HTTP, on either side: the same answers in both eras, who may connect, and what is left."""

import json
import sys
from contextlib import contextmanager

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CreateMessageResult, ElicitResult, TextContent
from processes import free_port, listening, needs_servers, until
from test_route import ENVELOPE, EVERYTHING, NEWER, SCRIPT, is_gone, routed, wire
from test_server_http import TOKEN, connect

pytestmark = [pytest.mark.anyio, pytest.mark.process]

VARIANTS = {"variants": {"a": {"count": {"description": "Counts.", "parameters": {"steps": "How far."}}, "x": "X."}}}


@contextmanager
def routing(folder, *server, options=(), **env):
    """A router over HTTP; gives its URL and what it has written when it has ended."""
    file, port = folder / "variants.json", free_port()
    file.write_text(json.dumps(VARIANTS))
    with listening(routed(file, *server, options=("--http", port, *options)), port, **env) as found:
        yield found


@pytest.fixture(scope="module")
def direct():
    """A server over HTTP without a router."""
    port = free_port()
    with listening([*NEWER, str(port)], port) as (url, _):
        yield url


@pytest.fixture(scope="module", params=["process", "http"])
def url(request, tmp_path_factory, direct):
    """Routers over HTTP to a server behind pipes, and to one behind HTTP."""
    server = NEWER if request.param == "process" else ()
    locator = () if server else (direct,)
    with routing(tmp_path_factory.mktemp("route"), *server, options=locator) as (url, _):
        yield url


async def walk(client):
    """What a client sees of the server, its tools in an order of its own."""
    told = []

    async def note(*progress):
        told.append(progress)

    tools = (await client.list_tools()).tools
    results = [
        await client.call_tool("count", {"steps": 3}, progress_callback=note),
        await client.call_tool("count", {"steps": "many"}),
        await client.call_tool("fail", {"text": "why"}),
        await client.read_resource("routed://note"),
    ]
    seen = [each.model_dump() for each in (*tools, *results)]
    return client.protocol_version, client.server_info, client.instructions, told, seen


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_over_http_sees_the_same_as_without_the_router(url, direct, mode):
    async with connect(direct, mode) as plain, connect(url, mode) as through:
        expected = await walk(plain)
        assert expected[3] == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]
        count = next(each for each in expected[4] if each.get("name") == "count")
        count["description"] = "Counts."
        count["input_schema"]["properties"]["steps"]["description"] = "How far."
        assert await walk(through) == expected


async def test_clients_of_the_newer_era_get_their_own_progress(url):
    async with connect(url) as one, connect(url) as other, anyio.create_task_group() as tasks:
        told = {2: [], 3: []}

        async def call(client, steps):
            async def note(progress, *_):
                told[steps].append(progress)

            answer = await client.call_tool("count", {"steps": steps}, progress_callback=note)
            assert answer.content[0].text == f"{steps} steps"

        for _ in range(5):
            tasks.start_soon(call, one, 2)
            tasks.start_soon(call, other, 3)
    assert sorted(told[2]) == [1.0] * 5 + [2.0] * 5
    assert sorted(told[3]) == [1.0] * 5 + [2.0] * 5 + [3.0] * 5


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_that_is_cancelled_over_http_ends_in_the_server(url, mode, tmp_path):
    told = tmp_path / "told"
    async with connect(url, mode) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "wait", {"told": str(told)})
        await until(lambda: told.exists() and told.read_text() == "waiting")
        tasks.cancel_scope.cancel()
    await until(lambda: told.read_text() == "cancelled")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_over_stdio_sees_the_same_of_a_server_over_http(direct, tmp_path, mode):
    file = tmp_path / "variants.json"
    file.write_text(json.dumps({"variants": {"a": {"x": "X."}}}))
    words = ["-m", "tdqs_mcp", "route", "--variants", str(file), direct]
    through = StdioServerParameters(command=sys.executable, args=words)
    async with connect(direct, mode) as plain, Client(through, mode=mode) as client:
        assert await walk(client) == await walk(plain)


async def accept(*_):
    return ElicitResult(action="accept", content={"sure": True})


async def sample(*_):
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Sampled."), model="m")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_asks_its_client_over_http(url, mode):
    async with Client(streamable_http_client(url), mode=mode, elicitation_callback=accept) as client:
        assert (await client.call_tool("wipe", {})).content[0].text == "sure: True"


@needs_servers
async def test_an_older_server_answers_newer_clients_over_http_and_asks_them(tmp_path):
    with routing(tmp_path, *EVERYTHING) as (url, _):
        async with Client(streamable_http_client(url), sampling_callback=sample) as client:
            assert client.protocol_version == "2025-11-25"
            assert (await client.call_tool("echo", {"message": "\U0001f600"})).content[0].text == "Echo: \U0001f600"
            asked = await client.call_tool("trigger-sampling-request", {"prompt": "Say.", "maxTokens": 5})
            assert "Sampled." in asked.content[0].text


def post(url, **headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    return httpx2.post(url, json=body, headers={"accept": "application/json, text/event-stream", **headers})


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_pages_and_names_of_others_are_refused(url, version):
    named = {"mcp-protocol-version": version}
    assert post(url, host="evil.example", **named).status_code == 421
    assert post(url, origin="https://evil.example", **named).status_code == 403
    assert post(url, **named).status_code == 400
    assert httpx2.get(url.replace("/mcp", "/health")).json()["status"] == "ok"


def test_another_address_needs_a_token_and_a_client_the_token(tmp_path):
    with routing(tmp_path, *NEWER, TDQS_SERVE_TOKEN=TOKEN) as (url, said):
        assert post(url).status_code == 401
        assert post(url, authorization=f"Bearer {TOKEN}").status_code == 400
    assert TOKEN not in said[0]


async def test_a_server_that_dies_ends_its_session_and_not_the_router(tmp_path):
    with routing(tmp_path, sys.executable, "-c", SCRIPT, "dies") as (url, said):
        async with connect(url, "legacy") as client:
            with pytest.raises(Exception, match="exited with code 3"):
                await client.call_tool("x", {})
        async with connect(url, "legacy"):
            pass
    assert "exited with code 3" in said[0]
    assert "Traceback" not in said[0]
    started = [int(each) for line in said[0].splitlines() if line[0].isdigit() for each in line.split()]
    assert len(started) >= 4
    assert all(map(is_gone, started))


async def test_what_a_server_prints_beside_the_protocol_ends_no_session(tmp_path):
    with routing(tmp_path, sys.executable, "-c", SCRIPT, "strays") as (url, _):
        async with connect(url, "legacy") as client:
            assert (await client.call_tool("x", {})).content == []


def test_progress_that_belongs_to_no_call_reaches_no_client_of_the_newer_era(tmp_path):
    params = {"name": "x", "arguments": {}, "_meta": ENVELOPE}
    body = {"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": params}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "x"}
    headers["accept"] = "application/json, text/event-stream"
    with routing(tmp_path, sys.executable, "-c", SCRIPT, "strays") as (url, _):
        for _ in range(2):
            answer = httpx2.post(url, json=body, headers=headers)
            assert answer.json() == {"jsonrpc": "2.0", "id": "mine", "result": {"content": []}}


def test_only_the_message_that_opens_a_session_starts_a_server(tmp_path):
    with routing(tmp_path, sys.executable, "-c", SCRIPT, "deaf") as (url, said):
        assert httpx2.get(url, headers={"accept": "text/event-stream"}).status_code == 400
        assert post(url).status_code == 400
        assert post(url, accept="text/html").status_code == 406
    assert not any(line[0].isdigit() for line in said[0].splitlines())


async def test_a_signal_ends_the_servers_of_all_sessions(tmp_path):
    with routing(tmp_path, sys.executable, "-c", SCRIPT, "deaf") as (url, said):
        for number in range(2):
            info = {"name": "x", "version": "1"}
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
            body = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}
            answer = httpx2.post(url, json=body, headers={"accept": "application/json, text/event-stream"}, timeout=20)
            assert answer.headers["mcp-session-id"]
    started = [int(each) for line in said[0].splitlines() if line[0].isdigit() for each in line.split()]
    assert len(started) == 4
    assert all(map(is_gone, started))


def test_a_server_that_cannot_be_reached_is_said_to_the_client(tmp_path):
    file = tmp_path / "variants.json"
    file.write_text(json.dumps(VARIANTS))
    command = (sys.executable, "-m", "tdqs_mcp", "route", "--variants", str(file))
    with wire(*command, f"http://127.0.0.1:{free_port()}/mcp") as client:
        assert "cannot be reached" in client.shake_hands()["error"]["message"]
        assert client.process.wait(10) == 2
