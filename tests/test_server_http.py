"""Our MCP server over streamable HTTP: the same walk, who may connect, and what is left when somebody goes."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import agent_session
import anyio
import httpx2
import misbehaving_server
import pytest
import uvicorn
from loopback import USUAL
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from own_server import HELLO, SERVE, caller, refusal, serving
from processes import SERVERS, needs_servers, processes, until
from test_live_http import serving as serving_app

from tdqs_mcp.app.settings import Settings
from tdqs_mcp.errors import InputError
from tdqs_mcp.server import context, http_transport
from tdqs_mcp.server.permissions import Permissions
from tdqs_mcp.server.serve import make_server
from tdqs_mcp.sources.files import read_catalog

pytestmark = [pytest.mark.anyio, pytest.mark.process]

TOKEN = "correct-horse-battery-staple"  # noqa: S105  # given to servers to see that nothing repeats it


@asynccontextmanager
async def connect(url, mode="auto", token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving("--allow-stdio", TDQS_CACHE=str(tmp_path_factory.mktemp("cache"))) as (url, _):
        yield url


def post(url, **headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    return httpx2.post(url, json=body, headers={"accept": "application/json, text/event-stream", **headers})


def test_the_body_of_an_answer_does_not_wait_until_the_client_acknowledges_the_headers(monkeypatch):
    found = []

    def serve(_, sockets):
        with socket.create_connection(sockets[0].getsockname()), sockets[0].accept()[0] as accepted, sockets[0]:
            found.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(uvicorn.Server, "run", serve)
    http_transport.run_http(None, http_transport.Http(port=0), log_level="warning", tell=lambda _: None)
    assert found == [1]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_walk_is_the_same_over_http_in_both_eras(url, mode):
    async with connect(url, mode) as client:

        async def list_tools():
            return [each.name for each in (await client.list_tools()).tools]

        await agent_session.improve(list_tools, caller(client))


@needs_servers
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_calling_agent_finishes_a_judgement_over_http(url, mode):
    async with connect(url, mode) as client:
        locator = f"stdio:{SERVERS}/node_modules/.bin/mcp-server-everything stdio"
        result = await agent_session.judge(caller(client), model=mode, catalog=locator)
    assert (result["judge"]["id"], result["overallTier"]) == ("host", "B")


@needs_servers
def test_a_client_of_the_first_sdk_walks_the_same_way_over_http(url):
    python = Path(SERVERS, "mcp-1-client", "bin", "python")
    script = Path(__file__).with_name("mcp1_client.py")
    run = subprocess.run([python, script, url], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_progress_arrives_over_http(url, mode):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total))

    async with connect(url, mode) as client:
        tools = [agent_session.BAD, agent_session.SIBLING | {"name": f"find_in_{mode}"}]
        await client.call_tool("score_server", {"catalog": tools}, progress_callback=hear)
        await until(lambda: heard)
    assert heard == [(3, 3)]


# Who may connect


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
    ],
)
def test_on_the_loopback_foreign_hosts_and_origins_are_turned_away(url, headers, status):
    assert post(url, **headers).status_code == status


@pytest.mark.parametrize(
    ("options", "env", "advice"),
    [
        (("--http", "127.0.0.1:0"), {"TDQS_SERVE_TOKEN": " "}, "TDQS_SERVE_TOKEN is empty"),
        (("--http", "0.0.0.0:0"), {}, "set TDQS_SERVE_TOKEN or --token-file, or listen on 127.0.0.1"),
        (("--http", "[::]:0", "--allowed-host", "x.example"), {}, "set TDQS_SERVE_TOKEN"),
        (("--http", "0.0.0.0:0"), {"TDQS_SERVE_TOKEN": TOKEN}, "--allowed-host mcp.example.org"),
        (("--http", "127.0.0.1:0"), {"TDQS_SERVE_TOKEN": "short"}, "fewer than 16 characters"),
        (("--http", "somewhere"), {}, "give HOST:PORT"),
        (("--allowed-host", "x.example"), {}, "belong to --http"),
        (("--allow-url", "ftp://x"), {}, "is not a URL pattern"),
        (("--judge", "nobody"), {}, "there is no judge"),
    ],
)
def test_what_is_not_safe_does_not_start_and_says_why(options, env, advice):
    run = subprocess.run(
        [*SERVE, *options], capture_output=True, text=True, timeout=30, check=False, env=os.environ | env
    )
    assert run.returncode == 2
    assert advice in " ".join(run.stderr.replace("│", " ").split())
    assert "Traceback" not in run.stderr
    assert TOKEN not in run.stderr


async def test_off_the_loopback_only_the_token_opens_and_nothing_repeats_it(write):
    options = ("--allowed-host", "127.0.0.1", "--token-file", write("token", f"{TOKEN}\n"))
    with serving(*options, host="0.0.0.0") as (url, written):  # noqa: S104  # that is the point
        for authorization in (
            {},
            {"authorization": f"Bearer {TOKEN}x"},
            {"authorization": TOKEN},
            {"authorization": b"Bearer \xe9"},
        ):
            answer = post(url, **authorization)
            assert (answer.status_code, answer.headers["www-authenticate"].split()[0]) == (401, "Bearer")
            assert TOKEN not in answer.text
        right = {"authorization": f"Bearer {TOKEN}"}
        assert post(url, **right, host="evil.example").status_code == 421
        assert post(url, **right, origin="http://evil.example").status_code == 403
        async with connect(url, token=TOKEN) as client:
            assert (await client.call_tool("score_tool_definition", {"definition": {"name": "a"}})).is_error is False
    assert TOKEN not in written[0]


async def test_a_token_from_the_environment_is_asked_for_on_the_loopback_too():
    with serving(TDQS_SERVE_TOKEN=TOKEN) as (url, _):
        assert post(url).status_code == 401
        async with connect(url, token=TOKEN) as client:
            assert len((await client.list_tools()).tools) == len(agent_session.TOOLS)


# Nothing is left behind


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("how", ["cancels", "leaves"])
async def test_a_client_that_cancels_or_leaves_ends_the_server_that_was_started_for_it(url, mode, how):
    marker = f"marker-{uuid.uuid4().hex}"
    locator = f"stdio:{sys.executable} {misbehaving_server.__file__} hangs-at-start {marker}"
    async with anyio.create_task_group() as tasks, connect(url, mode) as client:
        async with anyio.create_task_group() as calls:
            (calls if how == "cancels" else tasks).start_soon(client.call_tool, "score_server", {"catalog": locator})
            await until(lambda: processes(marker))
            calls.cancel_scope.cancel()
        if how == "cancels":
            await until(lambda: not processes(marker))
        tasks.cancel_scope.cancel()
    await until(lambda: not processes(marker))


# Callers apart


def orders(number=0):
    return [{"name": f"get_order_{number}", "description": "Gets one order.", "inputSchema": {"type": "object"}}]


async def test_no_session_sees_what_another_one_has_or_pushes_it_out(url):
    async with connect(url, "legacy") as one, connect(url, "legacy") as other:
        mine = await caller(one)("score_server", catalog=orders())
        assert mine["catalog"] in await refusal(other, "score_server", catalog=mine["catalog"])
        with pytest.raises(MCPError, match="there is no report"):
            await other.read_resource(mine["report"])
        for number in range(1, 40):
            await caller(other)("score_server", catalog=orders(number))
        assert mine["report"] not in (await other.read_resource("tdqs://reports")).contents[0].text
        assert (await one.read_resource("tdqs://reports")).contents[0].text == json.dumps([mine["report"]])
        assert (await caller(one)("score_server", catalog=mine["catalog"]))["toolCount"] == 1


async def test_without_sessions_reports_are_read_by_who_knows_them_and_listed_for_nobody(url):
    async with connect(url) as client:
        mine = await caller(client)("score_server", catalog=orders())
        assert (await client.read_resource("tdqs://reports")).contents[0].text == "[]"
        assert json.loads((await client.read_resource(mine["report"])).contents[0].text)["toolCount"] == 1


async def test_all_callers_together_have_a_limit_and_who_has_most_gives_way(monkeypatch):
    monkeypatch.setattr(context, "MAX_KEPT", 2_000)
    shared = context.ServerContext(permissions=Permissions(), answers={})
    http_transport.CALLER.set("light")
    light = shared.keep_catalog(read_catalog(orders(), name="x"))
    http_transport.CALLER.set("heavy")
    keys = [shared.keep_catalog(read_catalog(orders(number), name="x")) for number in range(1, 12)]
    call = SimpleNamespace(request_context=SimpleNamespace(request=None))
    assert (await shared.read_catalog(call, keys[-1]))[1] == keys[-1]
    with pytest.raises(InputError, match="there is no catalog"):
        await shared.read_catalog(call, keys[0])
    http_transport.CALLER.set("light")
    assert (await shared.read_catalog(call, light))[1] == light


@pytest.mark.parametrize("limit", ["MAX_SESSIONS", "MAX_OF_PEER"])
def test_a_new_session_ends_the_one_that_has_been_idle_for_longest(monkeypatch, limit):
    monkeypatch.setattr(http_transport, limit, 3)
    server = make_server(permissions=Permissions(), settings=Settings())
    with serving_app(http_transport.http_app(server, http_transport.Http())) as address:
        headers = {"accept": "application/json, text/event-stream"}

        def opened():
            answer = httpx2.post(f"{address}/mcp", json=HELLO, headers=headers)
            assert answer.status_code == 200
            return answer.headers["mcp-session-id"]

        def status(session):
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            return httpx2.post(f"{address}/mcp", json=body, headers={**headers, "mcp-session-id": session}).status_code

        first, second, third = opened(), opened(), opened()
        assert status(first) == 200
        fourth = opened()
        assert {each: status(each) for each in (first, second, third, fourth)} == {
            first: 200,
            second: 404,
            third: 200,
            fourth: 200,
        }


def test_nobody_is_turned_away_by_a_thousand_sessions_of_one_address():
    sessions = http_transport._Sessions(None)
    ended = []

    async def end(name, scope):
        ended.append(sessions._open.pop(name).peer)

    async def open_session(scope, receive, send):
        start = {"type": "http.response.start", "status": 200, "headers": [(b"mcp-session-id", b"%d" % len(made))]}
        made.append(scope["client"])
        await send(start)

    async def send(_):
        pass

    made = []
    sessions._app, sessions._end = open_session, end
    for peer in ["10.0.0.1"] * 5 + ["10.0.0.2"] * 2_000:
        anyio.run(sessions, {"type": "http", "method": "POST", "headers": [], "client": (peer, 1)}, None, send)
    assert set(ended) == {"10.0.0.2"}
    assert sum(each.peer == "10.0.0.1" for each in sessions._open.values()) == 5
    assert len(sessions._open) == http_transport.MAX_OF_PEER + 5


async def test_no_caller_judges_for_another(url):
    """What one session has judged, another one with the same model's name is asked about itself."""
    async with connect(url, "legacy") as one, connect(url, "legacy") as other:
        page = await caller(one)("judge_definitions", catalog=orders(), model="m")
        entries = [
            {"name": each["name"], "inputHash": each["inputHash"], "answer": USUAL["tdqs"]} for each in page["prompts"]
        ]
        await caller(one)("judge_definitions", catalog=orders(), answers=entries, model="m")
        again = await caller(one)("judge_definitions", catalog=orders(), model="m")
        theirs = await caller(other)("judge_definitions", catalog=orders(), model="m")
    assert len(theirs["prompts"]) == len(page["prompts"])
    assert len(again["prompts"]) < len(page["prompts"])


def test_a_session_that_ends_while_a_notification_is_passed_on_is_no_error(caplog):
    app = http_transport.http_app(make_server(permissions=Permissions(), settings=Settings()), http_transport.Http())
    errors = []

    async def leave_early(scope, receive, send):
        async def nothing(*_):
            return {"type": "http.request"}

        async def send_and_leave(message):
            await send(message)
            if message.get("status") == 202:
                await app({**scope, "method": "DELETE"}, nothing, nothing)

        try:
            await app(scope, receive, send_and_leave)
        except RuntimeError as error:
            errors.append(error)

    with serving_app(leave_early) as address:
        headers = {"accept": "application/json, text/event-stream"}
        opened = httpx2.post(f"{address}/mcp", json=HELLO, headers=headers)
        headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        answers = [
            httpx2.post(
                f"{address}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers
            )
            for _ in range(2)
        ]
    assert [each.status_code for each in answers] == [202, 404]
    assert (errors, caplog.records) == ([], [])


def test_a_slow_but_steady_body_is_read():
    """It takes longer than half a request may, and arrives faster than the least rate."""
    pieces, pause = 2 * int(http_transport.HALF_OPEN_SECONDS) + 6, 0.5
    body = json.dumps({**HELLO, "padding": "x" * 1_200 * pieces}).encode()

    def slowly():
        for start in range(0, len(body), 1_200):
            yield body[start : start + 1_200]
            time.sleep(pause)

    with serving() as (url, _):
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        assert httpx2.post(url, content=slowly(), headers=headers, timeout=60).status_code == 200


def test_host_names_are_compared_without_case(url):
    assert post(url, host="LOCALHOST:1").status_code != 421
    http = http_transport.read_http(
        "127.0.0.1:0", token_file=None, allowed_hosts=("MCP.Example.org",), allowed_origins=()
    )
    app = http_transport.http_app(make_server(permissions=Permissions(), settings=Settings()), http)
    with serving_app(app) as address:
        foreign, ours = (post(f"{address}/mcp", host=host).status_code for host in ("Example.org", "mcp.EXAMPLE.org"))
        assert foreign == 421 != ours


def test_connections_that_send_half_a_request_are_closed():
    with serving() as (url, _), contextlib.ExitStack() as stack:
        host, port = url.split("/")[2].split(":")
        head = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        halves = [b"", head[:20], head, head + b"content-length: 100\r\n\r\n{"]
        halves.append(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n" + head[:30])
        opened = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in halves]
        for each, half in zip(opened, halves, strict=True):
            each.sendall(half)
            each.settimeout(http_transport.HALF_OPEN_SECONDS + 5)
        for each in opened:
            with contextlib.suppress(ConnectionResetError):
                while each.recv(4096):
                    pass
        assert httpx2.get(url.replace("/mcp", "/health")).status_code == 200
