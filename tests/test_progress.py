"""What a person at a terminal sees of long work, and that nobody else sees it."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import threading

import anyio
import pytest
from definitions import tool
from loopback import USUAL, Loopback, rubric_of, says
from starlette.routing import Route

pytestmark = pytest.mark.process

TOOLS = [tool(f"get_order_{number}", f"Gets order {number}.") for number in range(5)]
"""Five tools: their answers and that about coherence make six."""

ANSWERS = USUAL | {
    "select": '{"tools": [1]}',
    "augment": '{"description": "Gets it."}',
    "consolidate": '{"purpose": ""}',
}

ASKED = [{"query": f"order number {number}", "tool": f"get_order_{number}"} for number in range(5)]


class Held(Loopback):
    """Answers all requests but the last at once, and that one when it is let go."""

    def __init__(self, count):
        self.let_go = threading.Event()
        self.count = count
        self._seen = 0
        super().__init__([Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request):
        body = json.loads(await request.body())
        self._seen += 1
        if self._seen == self.count:
            await anyio.to_thread.run_sync(self.let_go.wait)
        return says(ANSWERS[rubric_of(body)])


@pytest.fixture
def held():
    server = Held(6)
    yield server
    server.let_go.set()
    server.close()


def started(*args, address, stderr):
    env = os.environ | {"TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1", "TDQS_BASE_URL": f"{address}/v1"}
    command = [sys.executable, "-m", "tdqs_mcp", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, env=env)


def read_until(terminal, pattern, seen=b""):
    """What the terminal shows up to a pattern, or to its end."""
    while not re.search(pattern, seen):
        assert select.select([terminal], [], [], 60)[0], seen
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # Linux: the other side is closed
            break
    return seen


@pytest.mark.parametrize(
    ("args", "count", "doing"),
    [
        (["score", "other.json", "shop.json", "--judge"], 6, b"judging shop (server 2 of 2)"),
        (["rewrite", "shop.json", "--judge"], 5, b"judging shop "),
        (["rewrite", "shop.json", "--writer"], 5, b"rewriting shop "),
        (["rewrite", "shop.json", "--target", "B", "--judge"], 6, b"judging shop "),
        (["compare", "shop.json", "other.json", "--judge"], 6, b"judging other "),
        (["select", "shop.json", "--queries", "asked.json", "--judge"], 5, b"selecting "),
    ],
)
def test_a_terminal_shows_how_much_is_judged_what_is_waited_for_and_the_time_left(held, write, args, count, doing):
    held.count = count
    files = {
        "shop.json": write("shop.json", TOOLS),
        "other.json": write("other.json", []),
        "asked.json": write("asked.json", ASKED),
    }
    args = [files.get(part, part) for part in args]
    ours, theirs = pty.openpty()
    with started(*args, "openai:m", "--format", "json", address=held.address, stderr=theirs) as process:
        os.close(theirs)
        try:
            shown = read_until(ours, rb"%d/%d answers, .*left" % (count - 1, count))
        finally:
            held.let_go.set()
        stdout = process.stdout.read()
        rest = read_until(ours, rb"(?!)")
    os.close(ours)
    assert process.returncode == (2 if args[0] == "score" else 0)  # other.json has no tools
    assert doing in shown
    assert re.search(rb"answers,[^\r\n]*[-\d:]+[^\r\n]* left", shown)
    json.loads(stdout)
    last = rest.rpartition(b"\x1b[2K")[2]  # the line is gone
    assert b"answers," not in last
    assert re.search(rb"(judge|writer|selector): ", last)


def test_nothing_is_shown_where_standard_error_is_no_terminal(held, write):
    held.let_go.set()
    args = ["score", write("shop.json", TOOLS), "--judge", "openai:m"]
    with started(*args, address=held.address, stderr=subprocess.PIPE) as process:
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0
    assert stderr.decode().splitlines() == [stderr.decode().rstrip("\n")]
    assert stderr.startswith(b"judge: 6 requests")
    assert b"\x1b" not in stdout + stderr


def test_a_capture_shows_where_it_waits_and_no_secret(tmp_path):
    script = tmp_path / "silent.py"
    script.write_text("import sys\nsys.stdin.read()\n")
    ours, theirs = pty.openpty()
    locator = f"stdio:{sys.executable} {script} --token=hunter2"
    command = [sys.executable, "-m", "tdqs_mcp", "lint", locator, "--timeout", "3"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "300"}
    ) as process:
        os.close(theirs)
        shown = read_until(ours, rb"(?!)")
    os.close(ours)
    assert process.returncode == 2
    assert b"capturing stdio:" in shown
    assert b"hunter2" not in shown
