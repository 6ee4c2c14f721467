"""The router: the same frames as without it, other descriptions, and an end whatever happens to the server."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from statistics import median

import pytest
from mcp import Client, StdioServerParameters
from processes import SERVERS, needs_servers, wait_until
from scored import METHOD, scored_capture

from tdqs_mcp.errors import InputError
from tdqs_mcp.router.connection_log import ConnectionLog
from tdqs_mcp.router.variants import ORIGINAL, read_components, read_variants, reword
from tdqs_mcp.sources.input_files import read_material
from tdqs_mcp.store.captures import write as write_captures
from tdqs_mcp.store.database import open_store

EVERYTHING = ("node", f"{SERVERS}/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio")
NEWER = (sys.executable, str(Path(__file__).parent / "routed_server.py"))

process = pytest.mark.process

ANSWERS = {
    "roots/list": {"roots": [{"uri": "file:///tmp/x", "name": "x"}]},
    "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "So."}, "model": "m"},
    "elicitation/create": {"action": "decline"},
}
"""What the client answers to a server."""

CAPABILITIES = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}


class Wire:
    """A client that keeps every line as it came."""

    def __init__(self, command, env, cwd=None):
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | env,
            cwd=cwd,
        )
        self.lines, self.errors = [], []
        self.arrived = Queue()
        self.last = 0
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self.threads:
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            frame = json.loads(line)
            if "method" in frame and "id" in frame:
                self.send({"jsonrpc": "2.0", "id": frame["id"], "result": ANSWERS.get(frame["method"], {})})
            self.arrived.put(frame)
        self.arrived.put(None)

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode())

    def send(self, frame):
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start(self, method, **params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def until(self, is_it, seconds=60):
        deadline = time.monotonic() + seconds
        while (frame := self.arrived.get(timeout=deadline - time.monotonic())) is not None:
            if is_it(frame):
                return frame
        return None

    def ask(self, method, **params):
        key = self.start(method, **params)
        return self.until(lambda frame: frame.get("id") == key and "method" not in frame)

    def call(self, name, meta=None, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments, **({"_meta": meta} if meta else {}))

    def shake_hands(self, name="wire"):
        info = {"name": name, "version": "1"}
        answer = self.ask("initialize", protocolVersion="2025-11-25", capabilities=CAPABILITIES, clientInfo=info)
        with contextlib.suppress(BrokenPipeError):  # a router without a server has ended
            self.notify("notifications/initialized")
        return answer

    def close(self):
        self.process.stdin.close()
        return self.process.wait(15)


@contextmanager
def wire(*command, cwd=None, **env):
    found = Wire(command, env, cwd=cwd)
    try:
        yield found
    finally:
        with suppress(OSError):
            found.process.stdin.close()
        try:
            found.process.wait(10)
        finally:
            found.process.kill()
        for thread in found.threads:
            thread.join(10)
        found.process.stdout.close()
        found.process.stderr.close()


@pytest.fixture
def variants(tmp_path):
    """A file of variants that may be written again."""
    return VariantsFile(tmp_path / "variants.json")


class VariantsFile:
    def __init__(self, path):
        self.path = path

    def write(self, given, **more):
        self.path.write_text(json.dumps({"variants": given, **more}))
        return self.path


def routed(file, *server, options=()):
    return (sys.executable, "-m", "tdqs_mcp", "route", "--variants", str(file), *map(str, options), "--", *server)


def talk_to_everything(client):
    """A walk through what the protocol had before 2026-07-28."""
    client.shake_hands()
    client.until(lambda frame: frame.get("method") == "roots/list", seconds=5)
    client.ask("tools/list", vendor={"x": 1.0})
    client.call("echo", message="é \ud83d\ude00 \u2028")
    client.call("get-sum", a=1.0, b=1e3)
    client.call("get-sum", a="x")
    client.call("nothing-of-this-name")
    client.call("get-structured-content", location="Chicago")
    client.call("get-tiny-image")
    client.call("get-annotated-message", messageType="error", includeImage=True)
    client.call("trigger-long-running-operation", meta={"progressToken": "t"}, duration=0.2, steps=4)
    client.call("trigger-sampling-request", prompt="Say so.", maxTokens=5)
    client.call("trigger-elicitation-request")
    client.call("get-roots-list")
    for method in ("resources/list", "resources/templates/list", "prompts/list", "ping", "no/such", "tools/list"):
        client.ask(method)
    client.ask("resources/read", uri="demo://resource/static/document/none")
    client.ask("logging/setLevel", level="error")
    client.ask("prompts/get", name="args-prompt", arguments={"city": "Rome"})
    client.send([{"jsonrpc": "2.0", "id": 99, "method": "ping"}])
    return client.ask("ping")


def described(lines, *, by):
    """The frames with the descriptions that a variant changes as the variant has them."""
    frames = []
    for line in lines:
        frame = json.loads(line)
        result = frame.get("result") or {}
        if isinstance(result, dict) and "tools" in result:
            result["tools"] = [{**each, **by.get(each["name"], {})} for each in result["tools"]]
            frames.append(frame)
        else:
            frames.append(line)
    return frames


@process
@needs_servers
def test_a_client_gets_the_same_frames_as_without_the_router_but_for_the_descriptions(variants):
    file = variants.write({"a": {"echo": "Echo.", "get-sum": "Sum."}})
    with wire(*EVERYTHING) as direct, wire(*routed(file, *EVERYTHING)) as through:
        assert talk_to_everything(direct)
        assert talk_to_everything(through)
        by = {"echo": {"description": "Echo."}, "get-sum": {"description": "Sum."}}
        assert len(direct.lines) > 25
        assert described(through.lines, by={}) == described(direct.lines, by=by)
        methods = {json.loads(line).get("method") for line in through.lines}
        assert methods >= {"roots/list", "sampling/createMessage", "elicitation/create", "notifications/progress"}


ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


def talk_in_newer_era(client):
    """A walk through 2026-07-28."""
    client.ask("server/discover", _meta=ENVELOPE)
    client.ask("tools/list", _meta=ENVELOPE)
    client.call("count", meta={**ENVELOPE, "progressToken": 7}, steps=3)
    client.call("count", meta=ENVELOPE, steps="many")
    client.call("fail", meta=ENVELOPE, text="why")
    asked = client.call("wipe", meta=ENVELOPE)["result"]
    (key,) = asked["inputRequests"]
    answer = {key: {"action": "accept", "content": {"sure": True}}}
    done = client.ask(
        "tools/call",
        name="wipe",
        arguments={},
        inputResponses=answer,
        requestState=asked["requestState"],
        _meta=ENVELOPE,
    )
    assert done["result"]["content"][0]["text"] == "sure: True"
    client.ask("resources/read", uri="routed://note", _meta=ENVELOPE)
    client.ask("no/such", _meta=ENVELOPE)
    client.ask("tools/list")
    listening = client.start("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=ENVELOPE)
    client.until(lambda frame: frame.get("method") == "notifications/subscriptions/acknowledged")
    client.notify("notifications/cancelled", requestId=listening, _meta=ENVELOPE)
    return client.ask("tools/list", _meta=ENVELOPE)


def without_state(line):
    """A frame without what the server seals with a key of its own."""
    frame = json.loads(line)
    frame.get("result", {}).pop("requestState", None)
    return frame


@process
def test_the_newer_era_passes_as_well(variants):
    file = variants.write({"a": {"count": {"description": "Counts.", "parameters": {"steps": "How far."}}}})
    with wire(*NEWER) as direct, wire(*routed(file, *NEWER)) as through:
        assert talk_in_newer_era(direct)
        assert talk_in_newer_era(through)
        expected = list(map(without_state, direct.lines))
        for frame in expected:
            for tool in frame.get("result", {}).get("tools", ()):
                if tool["name"] == "count":
                    tool["description"] = "Counts."
                    tool["inputSchema"]["properties"]["steps"]["description"] = "How far."
        assert list(map(without_state, through.lines)) == expected
        assert through.close() == 0


def listed(client, **meta):
    answer = client.ask("tools/list", **({"_meta": meta} if meta else {}))
    return {tool["name"]: tool["description"] for tool in answer["result"]["tools"]}


@process
@pytest.mark.parametrize("era", ["older", "newer"])
def test_variants_are_switched_while_clients_are_connected(variants, era):
    given = {"a": {"count": "A."}, "b": {"count": "B."}}
    meta = ENVELOPE if era == "newer" else {}
    with wire(*routed(variants.write(given), *NEWER)) as client:
        if era == "newer":
            key = client.start("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=ENVELOPE)
            client.until(lambda frame: frame.get("method") == "notifications/subscriptions/acknowledged")
        else:
            client.shake_hands()
        assert listed(client, **meta)["count"] == "A."
        variants.write(given, serve="b")
        told = client.until(lambda frame: frame.get("method") == "notifications/tools/list_changed")
        if era == "newer":
            assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": key}
        assert listed(client, **meta)["count"] == "B."
        variants.path.write_text("{")
        wait_until(lambda: any("stay as they were" in line for line in client.errors))
        assert listed(client, **meta)["count"] == "B."
        variants.write(given, serve=ORIGINAL)
        client.until(lambda frame: frame.get("method") == "notifications/tools/list_changed")
        assert listed(client, **meta)["count"] == "Count."


def keep(engine, server, text):
    """Stores a capture of the tool `count`; gives the name of its variant."""
    schema = {"type": "object", "properties": {"steps": {"type": "integer", "description": f"Steps: {text}"}}}
    tools = [{"name": "count", "description": text, "inputSchema": schema}]
    capture = scored_capture(server, {"tools": tools})
    write_captures(engine, METHOD, [capture])
    return f"{datetime.now(UTC):%Y-%m-%d}-{capture.capture[:8]}"


@process
def test_the_captures_in_a_store_are_variants_of_which_the_newest_is_served(store_url, store):
    keep(store, "routed", "Old.")
    with wire(*routed(store_url, *NEWER)) as client:
        client.shake_hands()
        assert listed(client)["count"] == "Old."
        name = keep(store, "routed", "New.")
        client.until(lambda frame: frame.get("method") == "notifications/tools/list_changed")
        (tool, *_) = client.ask("tools/list")["result"]["tools"]
        assert tool["description"] == "New."
        assert tool["inputSchema"]["properties"]["steps"]["description"] == "Steps: New."
        keep(store, "routed", "Old.")  # the server has gone back
        client.until(lambda frame: frame.get("method") == "notifications/tools/list_changed")
        assert listed(client)["count"] == "Old."
        assert any(f'"served": {{"{name}": ["count"]' in line for line in client.errors)


@process
def test_a_file_says_which_captures_of_a_store_are_served(tmp_path, variants):
    store = open_store(str(tmp_path / "store.sqlite"))
    old, _ = keep(store, "registry/id", "Old."), keep(store, "registry/id", "New.")
    given = {"store": str(tmp_path / "store.sqlite"), "server": "registry/id", "serve": "latest"}
    file = variants.write({"mine": {"count": "Mine."}}, **given, clients={"wire": old, "third": "mine"})
    store.dispose()
    with wire(*routed(file, *NEWER)) as client:
        for name, expected in (("wire", "Old."), ("other", "New."), ("third", "Mine.")):
            info = {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}
            assert listed(client, **(ENVELOPE | info))["count"] == expected


@process
def test_a_server_that_a_store_does_not_have_keeps_its_descriptions(store_url, store):
    keep(store, "registry/id", "Old.")
    with wire(*routed(store_url, *NEWER)) as client:
        assert listed(client, **ENVELOPE)["count"] == "Count."
        wait_until(lambda: any("no captures of 'routed'" in line for line in client.errors))


@process
@pytest.mark.parametrize(("name", "expected"), [("first", "B."), ("second", "Count."), ("third", "A.")])
def test_a_client_gets_the_variant_that_is_chosen_for_its_name(variants, name, expected):
    clients = {"first": "b", "second": {"count": "original"}}
    file = variants.write({"a": {"count": "A.", "gone": "Was."}, "b": {"count": "B."}}, serve="a", clients=clients)
    with wire(*routed(file, *NEWER)) as client:
        client.shake_hands(name)
        assert listed(client)["count"] == expected
        wait_until(lambda: any(line.startswith("{") for line in client.errors))
        assert "server does not list: gone" in "".join(client.errors)
        served = next(json.loads(line) for line in client.errors if line.startswith("{"))
        assert (served["event"], served["client"]) == ("tools/list", name)
        assert "count" in served["served"][{"B.": "b", "A.": "a"}.get(expected, ORIGINAL)]


@process
def test_a_cancelled_call_ends_in_the_server(variants, tmp_path):
    told = tmp_path / "told"
    with wire(*routed(variants.write({"a": {"wait": "W."}}), *NEWER)) as client:
        client.shake_hands()
        key = client.start("tools/call", name="wait", arguments={"told": str(told)})
        wait_until(lambda: told.exists() and told.read_text() == "waiting")
        client.notify("notifications/cancelled", requestId=key, reason="enough")
        wait_until(lambda: told.read_text() == "cancelled")
        assert client.close() == 0


SCRIPT = """
import json, os, signal, sys, time
def say(frame): print(json.dumps(frame), flush=True)
mode = sys.argv[1]
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)
print(child, os.getpid(), file=sys.stderr, flush=True)
for line in sys.stdin:
    frame = json.loads(line)
    if mode == "silent": time.sleep(600)
    if frame.get("method") == "initialize":
        info = {"name": "script", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        say({"jsonrpc": "2.0", "id": frame["id"], "result": result})
    if frame.get("method") == "tools/list": say({"jsonrpc": "2.0", "id": frame["id"], "result": {"tools": []}})
    if frame.get("method") != "tools/call": continue
    if mode == "dies": os._exit(3)
    if mode == "long": print("x" * (65 * 2**20), flush=True)
    if mode == "deaf": signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)
    if mode == "noise":
        for _ in range(200_000): print("no frame", flush=False)
        say({"jsonrpc": "2.0", "id": frame["id"], "result": {"content": []}})
    if mode == "strays":
        print(json.dumps({"level": "info"}), flush=True)
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}})
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [], "progress": 1}})
        say({"jsonrpc": "2.0", "id": [], "result": {}})
        say({"jsonrpc": "2.0", "id": frame["id"], "result": {"content": []}})
    while mode == "floods":
        say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
"""


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except OSError:
        return True


def pids(client):
    wait_until(lambda: any(line[0].isdigit() for line in client.errors))
    return [int(each) for each in next(line for line in client.errors if line[0].isdigit()).split()]


@process
@pytest.mark.parametrize(
    ("mode", "options", "said"),
    [
        ("dies", (), "exited with code 3 before it answered 'tools/call'"),
        ("long", (), "sent a line of more than 67108864 bytes"),
        ("silent", ("--timeout", 1), "did not answer 'initialize' within 1 s"),
    ],
)
def test_a_server_that_fails_ends_with_an_error_for_its_client_and_leaves_no_process(variants, mode, options, said):
    command = routed(variants.write({"a": {"x": "X."}}), sys.executable, "-c", SCRIPT, mode, options=options)
    with wire(*command) as client:
        answer = client.shake_hands()
        started = pids(client)
        answer = answer if mode == "silent" else client.call("x")
        assert f"{mode} {said}" in answer["error"]["message"]
        assert answer["error"]["code"] == -32603
        assert client.process.wait(15) == 2
        assert said in "".join(client.errors)
        wait_until(lambda: all(map(is_gone, started)))


@process
def test_messages_do_not_show_what_a_configured_server_is_started_with(variants, tmp_path):
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    entry = {"command": sys.executable, "args": ["-c", SCRIPT, "dies", "--", "hunter two"], "env": {"A": "${env:LOST}"}}
    file.write_text(json.dumps({"mcpServers": {"named": entry}}))
    given = variants.write({"a": {"x": "X."}})
    command = (sys.executable, "-m", "tdqs_mcp", "route", "--variants", str(given), "config:named")
    with wire(*command, HOME=str(tmp_path)) as client:
        client.shake_hands()
        told = client.call("x")["error"]["message"]
        assert told.startswith("config:named exited with code 3")
        assert client.process.wait(15) == 2
        assert "hunter" not in "".join([told, *client.errors])
        assert any("LOST" in line for line in client.errors)


@process
@pytest.mark.parametrize("mode", ["deaf", "floods"])
def test_a_client_can_leave_a_server_that_hangs_or_floods(variants, mode):
    with wire(*routed(variants.write({"a": {"x": "X."}}), sys.executable, "-c", SCRIPT, mode)) as client:
        client.shake_hands()
        started = pids(client)
        client.start("tools/call", name="x", arguments={})
        if mode == "floods":
            wait_until(lambda: len(client.lines) > 2_000)
        assert client.close() == 0
        wait_until(lambda: all(map(is_gone, started)))


@process
def test_a_client_that_reads_nothing_can_leave_a_server_that_floods(variants):
    command = routed(variants.write({"a": {"x": "X."}}), sys.executable, "-c", SCRIPT, "floods")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
        for number, method in enumerate(("initialize", "tools/call")):
            frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"text": "x" * 50_000}}
            client.stdin.write(json.dumps(frame).encode() + b"\n")
        client.stdin.flush()
        started = [int(each) for each in client.stderr.readline().split()]
        time.sleep(1)
        client.stdin.close()
        assert client.wait(15) == 0
        wait_until(lambda: all(map(is_gone, started)))


@process
def test_a_server_that_takes_no_messages_is_given_up(variants):
    command = routed(variants.write({"a": {"x": "X."}}), sys.executable, "-c", SCRIPT, "deaf", options=("--timeout", 2))
    with wire(*command) as client:
        client.shake_hands()
        started = pids(client)
        client.start("tools/call", name="x", arguments={"text": "x" * 2**20})
        client.start("tools/call", name="x", arguments={"text": "x" * 2**20})
        assert "took no message for 2 s" in client.until(lambda frame: "error" in frame)["error"]["message"]
        assert client.process.wait(15) == 2
        wait_until(lambda: all(map(is_gone, started)))


@process
def test_lines_that_are_no_frames_get_no_further(variants):
    with wire(*routed(variants.write({"a": {"x": "X."}}), sys.executable, "-c", SCRIPT, "noise")) as client:
        client.shake_hands()
        assert client.call("x")["result"] == {"content": []}
        assert len(client.lines) == 2


@process
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_router_and_its_server(variants, number):
    with wire(*routed(variants.write({"a": {"x": "X."}}), sys.executable, "-c", SCRIPT, "deaf")) as client:
        client.shake_hands()
        started = pids(client)
        client.process.send_signal(number)
        assert client.process.wait(15) == 128 + number
        wait_until(lambda: all(map(is_gone, started)))


@process
def test_a_line_of_the_client_that_is_too_long_is_refused(variants):
    with wire(*routed(variants.write({"a": {"count": "A."}}), *NEWER)) as client:
        client.shake_hands()
        client.process.stdin.write(b"x" * (64 * 2**20 + 1) + b"\n")
        client.process.stdin.flush()
        assert "longer than 67108864 bytes" in client.until(lambda frame: "error" in frame)["error"]["message"]
        assert listed(client)["count"] == "A."


@process
def test_the_outcome_of_calls_is_logged_without_their_values(variants, tmp_path):
    log = tmp_path / "calls.jsonl"
    file = variants.write({"a": {"count": "A."}})
    with wire(*routed(file, *NEWER, options=("--log-calls", log, "--log", tmp_path / "served.jsonl"))) as client:
        client.shake_hands("caller")
        listed(client)
        client.call("count", steps=4711)
        client.call("fail", text="hunter2")
        client.call("fail", text="swordfish")
        assert client.close() == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert "4711" not in log.read_text()
    assert "hunter2" not in log.read_text()
    assert [(line["tool"], line["variant"], line["outcome"], line["success"]) for line in lines] == [
        ("count", "a", "success", True),
        ("fail", "original", "error", False),
        ("fail", "original", "error", False),
    ]
    assert lines[0]["arguments"] == {"steps": "<number>"}
    assert lines[0]["result"] == ["<text of 10>", "<object of 1>"]
    assert lines[1]["error"] == f"<text of {len('Error executing tool fail')}>"
    assert lines[2]["error"] == "Error executing tool fail"
    assert {line["client"] for line in lines} == {"caller"}


def test_the_log_of_calls_is_material_that_shows_no_value(command, write):
    lines = []
    log = ConnectionLog(lambda _: None, lines.append)
    schema = {"properties": {"id": {"type": "integer"}, "mode": {"enum": ["fast", "full"]}}}
    empty, refused = {"content": []}, {"content": [{"type": "text", "text": "Quota reached"}], "isError": True}
    ended = [(7, "fast", {"content": [{"type": "text", "text": "Ann"}]}), (8, "fast", empty), (9, "full", refused)]
    for number, mode, result in [*ended, (10, "full", refused)]:
        given = {"tool": "get_user", "client": None, "variant": "a", "schema": schema, "seconds": 0.1, "outcome": None}
        log.note_call(arguments={"id": number, "mode": mode, "note": "hunter2"}, answer={"result": result}, **given)
    log.note_call(arguments={}, answer={}, **given | {"outcome": "cancelled"})
    file = write("calls.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    material = read_material(file)
    assert [trace.outcome for trace in material.traces] == ["success", "empty", "error", "error"]
    assert material.traces[0].arguments == {"id": "<number>", "mode": "fast"}
    assert [trace.answer for trace in material.traces][2:] == ["<text of 13>", "Quota reached"]
    tool = {"name": "get_user", "description": "Get one user by id.", "inputSchema": {"type": "object", **schema}}
    done = command("rewrite", write("tools.json", [tool]), "--material", file, "--format", "json")
    said = json.loads(done.stdout)["rewrites"][0]["definition"]["description"]
    assert "Can fail with `Quota reached`." in said
    assert "<" not in said


@process
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{", "correct it"),
        ({"tools": []}, "holds no variants"),
        ([{"rewrites": []}, {"rewrites": []}], "holds the rewrites of 2 servers; give those of one"),
        ({"variants": {"original": {"x": "X."}}}, "names a variant 'original', which the server has"),
        ({"store": None}, "names no variant"),
        ({"rewrites": [5]}, "rewrites.0: must be an object (keys with values); its format is"),
        ({"variants": {"a": {"x": 5}}}, "variants.a.x.description: must be text"),
        ({"variants": {"a": {"x": "X."}}, "serves": "a"}, "serves: is no key that is read here"),
        ({"variants": {"a": {"x": {"purposes": "X."}}}}, "'purposes' is no component; did you mean purpose"),
        ({"variants": {"a": {"x": "X."}}, "serve": "b"}, "serve names 'b'; the variants are a, original"),
    ],
)
def test_a_bad_file_of_variants_is_refused_in_one_line(command, write, given, said):
    file = write("variants.json", given)
    result = command("route", "--variants", file, "--", sys.executable)
    assert result.returncode == 2
    assert said in result.stderr.decode()
    assert len(result.stderr.splitlines()) == 1


def test_a_file_is_no_server(command, write):
    result = command("route", write("tools.json", []), "--variants", write("v.json", {"variants": {"a": {"x": "X."}}}))
    assert result.returncode == 2
    assert "needs a server that runs" in result.stderr.decode()


PARTS = {"purpose": "P.", "limitations": "L.", "examples": "E."}


@pytest.mark.parametrize(
    ("components", "expected"),
    [(None, "P.\nL.\nE."), ("examples,purpose", "E.\nP."), ("purpose, Parameter-Explanation", "P.")],
)
def test_descriptions_are_put_together_from_components_in_the_order_that_is_given(components, expected):
    wanted = read_components(components) if components else ()
    found = read_variants({"variants": {"a": {"x": PARTS}}}, origin="it", components=wanted)
    assert found.choose("x", None) == ("a", {"/description": expected})


def test_a_connection_gets_one_variant_at_random_on_request():
    document = {"variants": {"a": {"x": "A.", "y": "A."}, "b": {"x": "B.", "y": "B."}}, "serve": "random"}
    variants = read_variants(document, origin="it")
    drawn = [[variants.choose(tool, None, chance=chance)[0] for tool in "xy"] for chance in (0, 0.34, 0.67, 0.999)]
    assert drawn == [["original"] * 2, ["a"] * 2, ["b"] * 2, ["b"] * 2]
    with pytest.raises(InputError, match="names a variant 'random'"):
        read_variants({"variants": {"random": {"x": "A."}}}, origin="it")


def test_a_tool_without_the_components_keeps_its_own_description():
    given = {"variants": {"a": {"x": PARTS, "y": "Why.", "z": {"guidelines": "G."}}}}
    found = read_variants(given, origin="it", components=read_components("purpose"))
    assert found.without_components == {"y", "z"}
    assert found.choose("y", None) == (ORIGINAL, {})


def test_of_the_captures_in_a_store_only_those_that_are_served_are_read(catalog):
    def fail():
        raise AssertionError

    one = catalog({"name": "x", "description": "Old."})
    captures = {"newest": fail, "old": lambda: one, "oldest": fail}
    found = read_variants({"store": "s", "serve": "old", "clients": {"c": "original"}}, origin="it", captures=captures)
    assert found.choose("x", None) == ("old", {"/description": "Old."})


@process
def test_a_command_that_cannot_be_started_is_said_to_the_client(variants):
    with wire(*routed(variants.write({"a": {"x": "X."}}), "no-such-command-here")) as client:
        assert "was not found" in client.shake_hands()["error"]["message"]
        assert client.process.wait(15) == 2


def test_a_component_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="'purposes' is no component; did you mean purpose"):
        read_components("guidelines,purposes")


def test_the_json_of_rewrite_is_a_variant(command, write):
    tool = {"name": "get_user", "description": "Gets.", "inputSchema": {"type": "object", "properties": {"id": {}}}}
    material = {"facts": [{"tool": "get_user", "fact": "Returns one user by the numeric id."}]}
    options = ("--material", write("material.json", material), "--format", "json")
    other = {"name": "echo", "description": "Return the text.", "inputSchema": {"type": "object", "properties": {}}}
    printed = json.loads(command("rewrite", write("tools.json", [tool, other]), *options).stdout)
    assert not printed["rewrites"][1]["changes"]
    found = read_variants(printed, origin="it")
    assert found.choose("echo", None) == (ORIGINAL, {})
    whole = read_variants(printed, origin="it", components=read_components("purpose"))
    assert whole.choose("echo", None) == ("rewrite", {"/description": "Return the text."})
    name, wording = found.choose("get_user", None)
    assert (name, reword(tool, wording)) == ("rewrite", printed["rewrites"][0]["definition"])
    assert reword(tool, wording) != tool


@process
@needs_servers
@pytest.mark.bench
@pytest.mark.anyio
async def test_a_call_takes_at_most_twice_as_long_through_the_router(variants, check_ratio):
    command = routed(variants.write({"a": {"echo": "Echo."}}), *EVERYTHING)
    direct, through = (StdioServerParameters(command=words[0], args=[*words[1:]]) for words in (EVERYTHING, command))
    async with Client(direct) as plain, Client(through) as other:
        seconds = {"plain": [], "other": []}
        for _ in range(1_000):
            for client, taken in zip((plain, other), seconds.values(), strict=True):
                start = time.perf_counter()
                await client.call_tool("echo", {"message": "x"})
                taken.append(time.perf_counter() - start)
        check_ratio(median(seconds["other"]) / median(seconds["plain"]), at_most=2)
