"""What ends us ends what we have started: servers that ignore the end of their input, and what they start."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid

import misbehaving_server
import pytest
from own_server import HELLO
from processes import processes, wait_until

pytestmark = pytest.mark.process


@pytest.fixture
def started():
    """Starts our command with a server that hangs, and gives both back once the server runs."""
    running = []

    def start(*args, mode="stubborn-and-hanging", ask=None):
        marker = f"tdqs-{uuid.uuid4()}"
        locator = f"stdio:{sys.executable} {misbehaving_server.__file__} {mode} {marker}"
        process = subprocess.Popen(
            [sys.executable, "-m", "tdqs_mcp", *(locator if arg == "LOCATOR" else arg for arg in args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        running.append((process, marker))
        for message in ask(locator) if ask else ():
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
        wait_until(lambda: processes(marker))
        return process, lambda: processes(marker)

    yield start
    for process, marker in running:
        process.kill()
        process.communicate()
        for left in processes(marker):
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)


def call(locator):
    yield HELLO
    yield {"method": "notifications/initialized"}
    yield {"id": 2, "method": "tools/call", "params": {"name": "score_server", "arguments": {"catalog": locator}}}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize("args", [("capture", "LOCATOR", "-o", "/dev/null"), ("serve", "--allow-stdio")])
def test_what_asks_us_to_end_ends_the_servers_that_we_have_started(started, args, number):
    process, left = started(*args, ask=call if args[0] == "serve" else None)
    process.send_signal(number)
    assert process.wait(timeout=15) == 130
    wait_until(lambda: not left())
    assert b"Traceback" not in process.stderr.read()


def test_a_second_signal_does_not_leave_the_server_behind(started):
    process, left = started("capture", "LOCATOR", "-o", "/dev/null")
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=15)
    wait_until(lambda: not left())


def test_a_client_that_leaves_during_a_capture_leaves_no_server_behind(started):
    process, left = started("serve", "--allow-stdio", ask=call)
    process.stdin.close()
    process.stdin = None
    process.wait(timeout=15)
    wait_until(lambda: not left())
