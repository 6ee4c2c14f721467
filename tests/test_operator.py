"""What the operator of our MCP server sees: a terminal, HTTP, health, browsers, refusals, permissions."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time

import httpx2
import pytest
from own_server import HELLO, serving
from test_live_http import serving as serving_app
from test_server_http import TOKEN

from tdqs_mcp.app.settings import Settings
from tdqs_mcp.errors import InputError
from tdqs_mcp.server import http_transport
from tdqs_mcp.server.permissions import Permissions, read_command, read_pattern
from tdqs_mcp.server.serve import make_server
from tdqs_mcp.sources.locator import parse_locator

SERVE = [sys.executable, "-m", "tdqs_mcp", "serve"]
PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,mcp-session-id"}


def read_until(stream, words, *, seconds=20.0):
    """What a process writes until the words are there."""
    read, deadline = b"", time.monotonic() + seconds
    while words not in read and time.monotonic() < deadline:
        if select.select([stream], [], [], 0.1)[0]:
            read += os.read(stream, 4096)
    return read.decode().replace("\r\n", "\n")


@pytest.fixture
def on_terminal():
    """Our server started by a person: standard input is a terminal."""
    started = []

    def start(*options):
        person, terminal = pty.openpty()
        process = subprocess.Popen([*SERVE, *options], stdin=terminal, stdout=terminal, stderr=terminal)
        started.append((process, person, terminal))
        return process, person

    yield start
    for process, *ends in started:
        process.kill()
        process.wait()
        for end in ends:
            os.close(end)


@pytest.mark.process
def test_on_a_terminal_it_says_what_it_waits_for_and_prints_a_configuration(on_terminal):
    process, person = on_terminal("--root", "/tmp")  # noqa: S108  # a folder that is there
    read = read_until(person, b"serve --http")
    assert read.startswith("waiting for an MCP client on standard input (Ctrl-C ends it)")
    entry = json.loads(read[read.index("{") : read.rindex("}") + 1])["mcpServers"]["tdqs"]
    assert entry["args"][-3:] == ["serve", "--root", "/tmp"]  # noqa: S108
    assert "tdqs-mcp install CLIENT (claude-desktop, " in read
    assert process.poll() is None


@pytest.mark.process
@pytest.mark.parametrize("options", [(), ("--http", "127.0.0.1:0")])
def test_ctrl_c_ends_it_at_once(on_terminal, options):
    process, person = on_terminal(*options)
    read_until(person, b"Ctrl-C ends it")
    time.sleep(0.5)  # until it reads
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    assert "Traceback" not in read_until(person, b"Traceback", seconds=0.2)


@pytest.mark.process
def test_ctrl_c_does_not_wait_for_an_open_stream():
    process = subprocess.Popen([*SERVE, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE)
    try:
        url = read_until(process.stderr.fileno(), b"}").split()[1]
        accept = {"accept": "application/json, text/event-stream"}
        session = httpx2.post(url, json=HELLO, headers=accept).headers["mcp-session-id"]
        with httpx2.stream("GET", url, headers={**accept, "mcp-session-id": session}) as stream:
            assert stream.status_code == 200
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=10) == 130
    finally:
        process.kill()
        process.stderr.close()


@pytest.mark.process
def test_http_without_an_address_listens_on_the_default_one_or_says_that_the_port_is_busy():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = subprocess.run([*SERVE, "--http", str(port)], capture_output=True, timeout=30, check=False)
    assert run.returncode == 2
    told = run.stderr.decode()
    assert f"error: another program listens on port {port}" in told
    assert f"--http 127.0.0.1:{port + 1}" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("words", ["--transport http", "--host 0.0.0.0", "--port 8000"])
def test_options_of_other_servers_get_a_hint(command, words):
    run = command("serve", *words.split())
    assert run.returncode == 2
    assert "--http 127.0.0.1:8000" in " ".join(run.stderr.decode().split())


@pytest.mark.process
def test_health_needs_no_token_and_says_nothing_but_the_version():
    with serving(TDQS_SERVE_TOKEN=TOKEN) as (url, _):
        answer = httpx2.get(url.replace("/mcp", "/health"))
        assert answer.json().keys() == {"status", "version"}
        refused = httpx2.post(url, json={})
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "The bearer token is missing" in refused.text
        wrong = httpx2.post(url, json={}, headers={"authorization": "Bearer wrong-wrong-wrong"})
        assert wrong.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        assert "is not the one that the operator" in wrong.text


@pytest.mark.process
def test_browsers_may_read_answers_for_allowed_origins_alone():
    with serving("--allowed-origin", "https://app.example.org", TDQS_SERVE_TOKEN=TOKEN) as (url, _):

        def allowed(origin):
            return httpx2.options(url, headers={"origin": origin, **PREFLIGHT}).headers.get(
                "access-control-allow-origin"
            )

        assert allowed("https://app.example.org") == "https://app.example.org"
        assert allowed("http://localhost:6274") == "http://localhost:6274"
        assert [allowed(f"https://{host}") for host in ("evil.example", "app.example.org.evil.example")] == [None, None]
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream"}
        answers = [
            httpx2.post(url, json=body, headers={**headers, "origin": f"https://{host}"})
            for host in ("app.example.org", "evil.example")
        ]
        assert [answer.status_code == 403 for answer in answers] == [False, True]
        assert "mcp-session-id" in answers[0].headers["access-control-expose-headers"]


@pytest.mark.process
def test_a_session_that_nobody_uses_ends(monkeypatch):
    monkeypatch.setattr(http_transport, "IDLE_SECONDS", 0.2)
    server = make_server(permissions=Permissions(), settings=Settings())
    with serving_app(http_transport.http_app(server, http_transport.Http())) as address:
        headers = {"accept": "application/json, text/event-stream"}
        session = httpx2.post(f"{address}/mcp", json=HELLO, headers=headers).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            answer = httpx2.post(f"{address}/mcp", json=ping, headers={**headers, "mcp-session-id": session})
            if answer.status_code == 404:
                return
            time.sleep(0.5)
        pytest.fail(f"the session still answers {answer.status_code}")


@pytest.mark.parametrize("origin", ["app.example.org", "https://app.example.org/x", "*"])
def test_what_is_not_an_origin_is_refused(command, origin):
    run = command("serve", "--http", "--allowed-origin", origin)
    assert run.returncode == 2
    assert b"is not an origin" in run.stderr


def test_a_named_command_is_allowed_exactly_as_it_is():
    allowed = Permissions(commands=(read_command("npx -y 'server x'"),))
    assert allowed.admit(parse_locator("stdio:npx  -y  'server x'"))
    for other in ("stdio:npx -y 'server x' --more", "stdio:npx -y server x", "stdio:npx"):
        with pytest.raises(InputError, match="--allow-command"):
            allowed.admit(parse_locator(other))


def test_a_refusal_lists_what_is_allowed(tmp_path):
    allowed = Permissions(
        roots=(tmp_path,),
        configs=("github",),
        urls=(read_pattern("https://*.example.org/mcp"),),
        commands=(read_command("uvx shop --token=secret"),),
        may_import=True,
    )
    with pytest.raises(InputError) as refused:
        allowed.admit(parse_locator("stdio:rm -rf /"))
    told = str(refused.value)
    assert "started with --allow-command 'rm -rf /'" in told
    for part in (str(tmp_path), "config:github", "https://*.example.org/mcp", "stdio:uvx shop", "any py: module"):
        assert part in told
    assert "secret" not in told
    with pytest.raises(InputError, match="has not allowed config:x, only definitions in the call; send"):
        Permissions().admit(parse_locator("config:x"))


@pytest.mark.parametrize("host", ["https://mcp.example.org", "mcp.example.org/mcp", "", "::1"])
def test_what_is_not_a_host_is_refused(command, host):
    run = command("serve", "--http", "--allowed-host", host)
    assert run.returncode == 2
    assert f"error: {host!r} is not a host; give it as in".encode() in run.stderr


@pytest.mark.parametrize(
    ("http", "name"),
    [
        ({"host": "127.0.0.2"}, "127.0.0.2"),
        ({"host": "::1"}, "[::1]"),
        ({"host": "::", "allowed_hosts": ("[2001:db8::1]:8443",)}, "[2001:db8::1]"),
        ({"host": "0.0.0.0", "allowed_hosts": ("mcp.example.org:8443",)}, "mcp.example.org"),  # noqa: S104
    ],
)
def test_the_url_has_a_host_that_is_answered(http, name):
    http = http_transport.Http(**http)
    assert http.name == name
    assert any(host.startswith(name) for host in http.hosts)


@pytest.mark.process
def test_a_client_that_goes_while_it_is_answered_leaves_no_traceback():
    process = subprocess.Popen(SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    with process.stdin, process.stderr:
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


@pytest.mark.process
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_a_standard_stream_it_says_so(closed):
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", *SERVE]
    run = subprocess.run(words, capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
    assert run.returncode == 2
    assert run.stderr.startswith(b"error: standard input or output is closed")


@pytest.mark.process
def test_requests_are_logged_to_standard_error_alone():
    words = [*SERVE, "--http", "127.0.0.1:0", "--log-level", "info"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        url = read_until(process.stderr.fileno(), b"complete.").split()[1]
        httpx2.get(url.replace("/mcp", "/health"))
        assert "GET /health" in read_until(process.stderr.fileno(), b"/health")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10)[0] == b""
    finally:
        process.kill()


@pytest.mark.process
def test_the_log_level_shows_requests_on_standard_error():
    with serving("--log-level", "info") as (url, written):
        httpx2.get(url.replace("/mcp", "/health"))
    assert "GET /health" in written[0]
    with serving() as (url, written):
        httpx2.get(url.replace("/mcp", "/health"))
    assert "GET /health" not in written[0]
