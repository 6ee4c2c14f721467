"""Long calls block nobody, end when they are cancelled, and what stdio cannot parse is answered."""

import json
import subprocess
import threading
import time
from collections import defaultdict
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from cachetools import LRUCache
from definitions import flat, tool
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference
from own_server import SERVE, caller, environment, in_process, refusal, serving

from tdqs_mcp.errors import InputError
from tdqs_mcp.server import worker
from tdqs_mcp.server.context import ServerContext
from tdqs_mcp.server.permissions import Permissions

COUNT = 401
CANCEL_SECONDS = 0.5
LONG = ("score_server", "suggest_rewrite")


def many(count=COUNT):
    """Made-up tools with several parameters, few of them described."""
    verbs, nouns = ("get", "list", "update", "delete", "search"), ("order", "invoice", "customer", "parcel", "refund")
    names = [f"{verb}_{noun}_{number}" for number in range(count) for verb in verbs for noun in nouns][:count]
    return [
        tool(name, f"{name.replace('_', ' ')}. Returns what is there, at most {number} entries.", flat(number % 7))
        for number, name in enumerate(names)
    ]


class Wire:
    """Our server over stdio, message by message."""

    def __init__(self, *options, stderr=subprocess.PIPE):
        self.process = subprocess.Popen(
            [*SERVE, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment()
        )
        self.answers, self.notes = {}, []
        self.arrived = defaultdict(threading.Event)
        self.count = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        client = {"name": "test", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.note("notifications/initialized")
        self.ask("tools/list")

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                self.notes.append((time.monotonic(), message))
            else:
                self.answers[message["id"]] = message
                self.arrived[message["id"]].set()

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method, **params):
        self.count += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}).encode())
        return self.count

    def note(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method, **params):
        number = self.send(method, **params)
        assert self.arrived[number].wait(60)
        return self.answers[number]

    def worked(self):
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        return self.process.stderr.read().decode()


@pytest.fixture
def wire():
    made = Wire()
    with made.process:  # closes the pipes and waits
        yield made
        made.process.kill()
        made.reader.join()


@pytest.mark.process
@pytest.mark.parametrize("name", LONG)
def test_a_ping_is_answered_at_once_during_a_long_call(wire, name):
    wire.ask("ping")
    call = wire.send("tools/call", name=name, arguments={"catalog": many()})
    waited, began = [], time.monotonic()
    while not wire.arrived[call].is_set():
        start = time.monotonic()
        wire.ask("ping")
        waited.append(time.monotonic() - start)
        wire.arrived[call].wait(0.05)
    took = time.monotonic() - began
    print(f"{name}: {len(waited)} pings, the slowest {1000 * max(waited):.0f} ms")  # noqa: T201  # for who runs with -rP
    assert not wire.answers[call]["result"].get("isError")
    assert len(waited) > 3, "the call was long"
    assert max(waited) < took / 3, "no ping waits for the call"


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time is looked up in /proc")
@pytest.mark.parametrize("name", LONG)
def test_a_cancelled_call_sends_nothing_and_ends_its_work(wire, name):
    before = wire.worked()
    call = wire.send("tools/call", name=name, arguments={"catalog": many()}, _meta={"progressToken": "p"})
    deadline = time.monotonic() + 20
    while wire.worked() - before < 0.2 and time.monotonic() < deadline:  # under way, wherever it is
        time.sleep(0.01)
    wire.note("notifications/cancelled", requestId=call)
    wire.ask("ping")
    cancelled = time.monotonic()
    time.sleep(CANCEL_SECONDS)
    rested = wire.worked()
    time.sleep(CANCEL_SECONDS)
    assert wire.worked() - rested < 0.1, "nothing is computed any more"
    assert call not in wire.answers
    assert [note for at, note in wire.notes if at > cancelled] == []


@pytest.mark.process
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_one_client_over_http_does_not_wait_for_another(mode):
    with serving() as (url, _):
        async with Client(url, mode=mode) as busy, Client(url, mode=mode) as other, anyio.create_task_group() as tasks:
            await caller(other)("score_tool_definition", definition=tool())
            done = anyio.Event()

            async def plan():
                await caller(busy)("suggest_rewrite", catalog=many(), target="A")
                done.set()

            tasks.start_soon(plan)
            await anyio.sleep(0.3)
            await caller(other)("score_tool_definition", definition=tool())
            assert not done.is_set()
            await done.wait()


@pytest.mark.anyio
async def test_what_calls_share_is_changed_by_the_event_loop_alone(monkeypatch):
    """The caches are not made for threads, and work in a thread may end at any instruction."""
    writers = set()

    class Watched(LRUCache):
        def __setitem__(self, *entry):
            writers.add(threading.get_ident())
            super().__setitem__(*entry)

    monkeypatch.setattr("tdqs_mcp.server.context.LRUCache", Watched)
    context = ServerContext(permissions=Permissions(), answers={})
    call = SimpleNamespace(request_context=SimpleNamespace(request=None))
    catalog, key = await context.read_catalog(call, [tool()])
    assert await context.read_catalog(call, key) == (catalog, key)
    assert writers == {threading.get_ident()}


@pytest.mark.anyio
async def test_a_computation_in_which_the_stop_is_lost_is_stopped_again(monkeypatch):
    monkeypatch.setattr(worker, "MAX_SECONDS", 0.05)

    async def compute():
        for losing in (suppress(BaseException), nullcontext()):  # first as in a finalizer
            with losing:
                deadline = time.thread_time() + 5
                while time.thread_time() < deadline:
                    pass

    with pytest.raises(InputError, match=r"has computed for 0\.05 s, which is the limit"):
        await worker.compute(compute)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a stop in a callback is lost, and told
@pytest.mark.anyio
async def test_a_call_that_computes_for_too_long_ends_and_names_the_limit(monkeypatch):
    async with in_process() as client:
        monkeypatch.setattr(worker, "MAX_SECONDS", 0.05)
        assert "has computed for 0.05 s, which is the limit" in await refusal(client, "score_server", catalog=many())
        monkeypatch.undo()
        assert not (await client.call_tool("score_server", {"catalog": [tool()]})).is_error


@pytest.mark.process
def test_what_stdio_cannot_parse_is_answered_and_said(wire):
    wire.write(b"no json")
    assert wire.arrived[None].wait(10)
    assert wire.answers[None]["error"]["code"] == -32700
    wire.write(b'{"jsonrpc": "2.0", "id": "mine", "method": 5}')
    assert wire.arrived["mine"].wait(10)
    assert wire.answers["mine"]["error"]["code"] == -32600
    wire.write(b'{"jsonrpc": "2.0", "id": "deep", "method": "ping", "params": ' + b'{"a":' * 250 + b"1" + b"}" * 251)
    assert wire.arrived["deep"].wait(10)
    assert "give definitions as JSON text" in wire.answers["deep"]["error"]["message"]
    wire.arrived[None].clear()
    wire.write(b"\n" + b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 9_000_000 + b'"}')
    assert wire.arrived[None].wait(10)
    assert "longer than 8388608 bytes" in wire.answers[None]["error"]["message"]
    assert wire.ask("ping")["result"] == {}
    said = wire.end()
    assert said.count("-32700") == 2
    assert said.count("-32600") == 2


@asynccontextmanager
async def refused(code):
    with pytest.raises(MCPError) as raised:
        yield
    assert raised.value.error.code == code


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_what_is_not_there_is_refused_with_the_code_of_the_specification(mode):
    async with in_process(mode=mode) as client:
        async with refused(-32602):
            await client.call_tool("nope", {})
        async with refused(-32602):
            await client.get_prompt("nope", {})
        async with refused(-32602):
            await client.get_prompt("review_my_server", {})
        for listing in (client.list_tools, client.list_prompts, client.list_resources, client.list_resource_templates):
            async with refused(-32602):
                await listing(cursor="2")
        async with refused(-32602):
            await client.read_resource("tdqs://rules/TDQ999")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_server_says_who_it_is_and_only_what_it_serves(mode):
    async with in_process(mode=mode) as client:
        info, capabilities = client.server_info, client.server_capabilities
    assert info.title
    assert info.website_url.startswith("https://")
    assert info.icons[0].src.startswith("data:image/svg+xml,")
    assert not capabilities.tools.list_changed
    assert not capabilities.resources.subscribe
    assert not capabilities.prompts.list_changed
    assert capabilities.logging is None
    assert capabilities.completions is not None


@pytest.mark.anyio
async def test_rules_and_reports_are_completed():
    async def completed(uri, name, value):
        reference = ResourceTemplateReference(type="ref/resource", uri=uri)
        return (await client.complete(reference, {"name": name, "value": value})).completion.values

    async with in_process() as client:
        call = caller(client)
        report = (await call("score_server", catalog=[tool()]))["report"]
        assert await completed("tdqs://rules/{rule_id}", "rule_id", "missing-us") == ["missing-usage"]
        assert [
            f"tdqs://reports/{each}" for each in await completed("tdqs://reports/{report_id}", "report_id", "")
        ] == [report]
        prompt = PromptReference(type="ref/prompt", name="fix_this_tool")
        assert (await client.complete(prompt, {"name": "tool", "value": ""})).completion.values == []
