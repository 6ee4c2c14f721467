"""The command line on live servers: published ones are scored, misbehaving ones answered in one line or with findings."""

import json
import os
import sys
from pathlib import Path

import misbehaving_server
import pytest
from processes import SERVERS, needs_servers

pytestmark = pytest.mark.process

MODULES = f"node {SERVERS}/node_modules"
PUBLISHED = {
    f"{MODULES}/@modelcontextprotocol/server-filesystem/dist/index.js .": 14,
    f"{MODULES}/@modelcontextprotocol/server-everything/dist/index.js": 13,
    f"{MODULES}/@modelcontextprotocol/server-memory/dist/index.js": 9,
    f"{MODULES}/@playwright/mcp/cli.js": 25,
    f"{SERVERS}/mcp-server-git/bin/mcp-server-git": 12,
    f"{SERVERS}/mcp-server-time/bin/mcp-server-time": 2,
    f"{SERVERS}/mcp-server-fetch/bin/mcp-server-fetch": 1,
}


@needs_servers
@pytest.mark.parametrize(("program", "count"), PUBLISHED.items(), ids=lambda value: str(value).rsplit("/", 1)[-1])
def test_a_published_server_is_captured_and_scored_from_the_command_line(command, tmp_path, program, count):
    run = command("score", f"stdio:{program}", "--format", "json")
    assert run.returncode == 0, run.stderr.decode()
    live = json.loads(run.stdout)
    assert live["toolCount"] == live["scoredToolCount"] == count
    assert live["overallTier"] in "ABC"
    assert (live["problems"], [each for each in live["findings"] if each["rule"] == "TDQ201"]) == ([], [])
    command("capture", f"stdio:{program}", "-o", tmp_path / "captured.json")
    later = json.loads(command("score", tmp_path / "captured.json", "--format", "json").stdout)
    assert later["tools"] == live["tools"]
    assert later["server"] == live["server"]


def misbehaving(mode):
    return f"stdio:{sys.executable} {misbehaving_server.__file__} {mode}"


@pytest.mark.parametrize(
    "mode", ["exits-at-once", "dies-of-signal", "hangs-at-start", "garbage-for-ever", "never-a-newline"]
)
def test_a_server_that_lists_nothing_is_one_line_and_exit_2(command, mode):
    run = command("lint", misbehaving(mode), "--timeout", "3")
    assert (run.returncode, run.stdout) == (2, b"")
    assert run.stderr.startswith(b"error: ")
    assert run.stderr.count(b"\n") == 1


@pytest.mark.parametrize("mode", ["garbage", "cursor-loop", "resources-refused"])
def test_a_bad_habit_is_a_finding_about_the_server_and_the_tools_are_scored(command, mode):
    found = json.loads(command("lint", misbehaving(mode), "--format", "json", "--timeout", "20").stdout)
    habit = [finding for finding in found["findings"] if finding["rule"] == "TDQ601"]
    assert [(finding["subject"], finding["message"]) for finding in habit] == [
        ({"kind": "server", "name": ""}, problem) for problem in found["problems"]
    ]
    assert habit
    assert json.loads(command("score", misbehaving(mode), "--format", "json").stdout)["scoredToolCount"] >= 1


def test_capture_warns_of_an_incomplete_list_and_marks_the_file(command, tmp_path):
    run = command("capture", misbehaving("fails-on-page-2"), "-o", tmp_path / "part.json")
    assert run.returncode == 0
    assert run.stderr.startswith(b"warning: the list of tools is incomplete, and the file says so: tools/list failed")
    assert "failed after 2 pages" in json.loads((tmp_path / "part.json").read_text(encoding="utf-8"))["incomplete"]


def test_malformed_tools_are_findings_and_the_others_are_scored(command):
    run = command("score", misbehaving("malformed"), "--format", "json")
    score = json.loads(run.stdout)
    assert run.returncode == 0
    assert score["scoredToolCount"] + len(score["ungraded"]) == score["toolCount"]
    assert sum(finding["rule"] == "TDQ201" for finding in score["findings"]) == 10


def test_credentials_of_the_command_line_are_in_no_output(command):
    run = command(
        "score", misbehaving("exits-at-once"), "--env", "API_KEY=hunter2hunter2", "--header", "X-Key: swordfish99"
    )
    assert b"hunter2" not in run.stdout + run.stderr
    assert b"swordfish" not in run.stdout + run.stderr


def test_a_server_of_a_client_s_configuration_is_scored_by_name(command, tmp_path):
    entry = {"command": sys.executable, "args": [misbehaving_server.__file__, "plain"]}
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"mine": entry}}), encoding="utf-8")
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    run = command("score", "config:mine", "--format", "json", cwd=tmp_path, env=environment)
    assert json.loads(run.stdout)["server"]["source"] == "config:mine"
    run = command("score", "config:other", cwd=tmp_path, env=environment)
    assert run.returncode == 2
    assert b"mine" in run.stderr
