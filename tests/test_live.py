"""Capturing running servers: misbehaving ones, real ones, and our own, over every transport."""

import contextlib
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import uuid

import anyio
import misbehaving_server
import pytest
from test_left_running import processes_with
from test_live_http import SECRET, check_odd_json, failure, options

from tdqs_mcp.app import judging
from tdqs_mcp.errors import CaptureError
from tdqs_mcp.report.documents import capture_document
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.sources.connection import capture
from tdqs_mcp.sources.files import read_file
from tdqs_mcp.sources.locator import LiveOptions, Stdio, Url

pytestmark = [pytest.mark.anyio, pytest.mark.process]

SERVERS = os.environ.get("TDQS_TEST_SERVERS")
needs_servers = pytest.mark.skipif(
    not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR"
)


def misbehaving(mode, marker=""):
    return Stdio(command=sys.executable, args=(misbehaving_server.__file__, mode, marker))


# What arrives


async def test_every_tool_arrives_as_it_was_on_the_wire():
    catalog = await capture(misbehaving("malformed"), options())
    assert [tool.raw for tool in catalog.tools] == [misbehaving_server.GOOD, *misbehaving_server.MALFORMED]
    assert catalog.problems == ()


async def test_fields_and_hints_that_the_protocol_does_not_know_survive():
    catalog = await capture(misbehaving("plain"), options())
    assert catalog.tools[1].raw == misbehaving_server.ODD


async def test_the_initialize_answer_is_kept_in_its_own_words():
    catalog = await capture(misbehaving("plain"), options())
    assert catalog.server == "misbehaving"
    assert catalog.version == "1"
    assert catalog.instructions == "Be careful."
    assert catalog.server_info == {"name": "misbehaving", "version": "1", "extra": 1}
    assert catalog.capabilities == {"tools": {}}
    assert catalog.protocol_version == "2025-11-25"


async def test_resources_templates_and_prompts_are_captured_when_they_are_declared():
    catalog = await capture(misbehaving("everything"), options())
    listed = misbehaving_server.OTHERS
    assert [resource.raw for resource in catalog.resources] == [
        *listed["resources/list"]["resources"],
        *listed["resources/templates/list"]["resourceTemplates"],
    ]
    assert [resource.is_template for resource in catalog.resources] == [False, False, True]
    assert [prompt.raw for prompt in catalog.prompts] == listed["prompts/list"]["prompts"]


async def test_what_is_not_declared_is_not_asked_for_and_stays_unknown():
    catalog = await capture(misbehaving("plain"), options())
    assert catalog.resources is None
    assert catalog.prompts is None


async def test_the_source_is_the_locator_without_credentials():
    locator = Stdio(command=sys.executable, args=(misbehaving_server.__file__, "plain", f"--token={SECRET}"))
    catalog = await capture(locator, options())
    assert catalog.source == f"stdio:{sys.executable} {misbehaving_server.__file__} plain --token=***"


async def test_a_server_that_does_not_name_itself_is_called_after_its_command():
    catalog = await capture(misbehaving("no-server-info"), options())
    assert catalog.server == "misbehaving_server"
    assert catalog.server_info is None


async def test_a_command_starts_in_the_directory_that_is_given(tmp_path):
    shutil.copy(misbehaving_server.__file__, tmp_path / "server.py")
    catalog = await capture(Stdio(command=sys.executable, args=("server.py", "plain")), options(cwd=str(tmp_path)))
    assert len(catalog.tools) == 2


# What went wrong, but not fatally


@pytest.mark.parametrize(
    ("mode", "tools", "problems"),
    [
        ("pages", 3, []),
        ("empty-cursor", 1, []),
        ("id-as-text", 2, []),
        ("error-without-id", 2, []),
        ("dies-of-discover", 2, []),
        ("chatty-on-stderr", 2, []),
        ("empty-handed", 0, []),
        ("no-server-info", 2, ["has no serverInfo"]),
        ("no-capabilities", 2, ["does not declare the tools capability"]),
        ("capabilities-are-list", 2, ["has no capabilities object"]),
        ("odd-capabilities", 2, ["resources/list failed", "prompts/list failed"]),
        ("resources-refused", 2, ["resources/list failed with error -32601", "prompts/list failed with error -32601"]),
        ("no-tools-array", 0, ["has no array 'tools'"]),
        ("cursor-loop", 2, ["gives the cursor '7' again"]),
        ("endless-pages", 200, ["has more than 200 pages"]),
        ("odd-cursor", 1, ["nextCursor that is not a string"]),
        ("fails-on-page-2", 2, ["tools/list failed after 2 pages with error -32603: page lost"]),
        ("garbage", 2, ["5 lines that are not protocol messages to its output; the first is 'Starting server on"]),
        ("not-utf-8", 2, ["1 line that is not a protocol message"]),
    ],
)
async def test_a_server_with_a_bad_habit_is_still_captured_and_the_habit_is_a_problem(mode, tools, problems):
    catalog = await capture(misbehaving(mode), options())
    assert len(catalog.tools) == tools
    assert len(catalog.problems) == len(problems)
    for problem, expected in zip(catalog.problems, problems, strict=True):
        assert expected in problem


@pytest.mark.parametrize(
    ("mode", "tools", "given", "reason"),
    [
        ("no-tools-array", 0, {}, "has no array 'tools'"),
        ("page-2-without-array", 1, {}, "has no array 'tools'"),
        ("cursor-loop", 2, {}, "gives the cursor '7' again"),
        ("endless-pages", 200, {}, "has more than 200 pages"),
        ("odd-cursor", 1, {}, "nextCursor that is not a string"),
        ("fails-on-page-2", 2, {}, "failed after 2 pages with error -32603"),
        ("exits-on-page-2", 1, {}, "failed after 1 page with error"),
        ("hangs-on-page-2", 1, {"timeout": 2.0}, "was not answered within 2 s"),
        ("many-tools", 10, {"max_tools": 10}, "the first 10 were kept"),
        ("bulky", 2, {"max_bytes": 100_000}, "was cut short"),
    ],
)
async def test_a_list_that_was_not_read_to_its_end_marks_the_catalog_and_its_file(mode, tools, given, reason, tmp_path):
    catalog = await capture(misbehaving(mode), options(**given))
    assert len(catalog.tools) == tools
    assert reason in catalog.incomplete
    assert catalog.incomplete in catalog.problems
    file = tmp_path / "captured.json"
    file.write_text(json_text(capture_document(catalog)), encoding="utf-8")
    assert read_file(file).incomplete == catalog.incomplete
    assert read_file(file).problems == catalog.problems
    score = await judging.score(read_file(file))
    assert score.rollup.overall is None


@pytest.mark.parametrize("mode", ["pages", "empty-cursor", "empty-handed", "malformed", "resources-refused", "garbage"])
async def test_other_bad_habits_leave_the_list_of_tools_complete(mode):
    assert (await capture(misbehaving(mode), options())).incomplete is None


async def test_more_tools_than_the_limit_are_left_out_and_said_so():
    catalog = await capture(misbehaving("many-tools"), options(max_tools=10))
    assert len(catalog.tools) == 10
    assert catalog.problems == ("The server lists more than 10 tools; the first 10 were kept.",)


async def test_definitions_beyond_the_byte_limit_are_left_out_and_said_so():
    catalog = await capture(misbehaving("bulky"), options(max_bytes=100_000))
    assert len(catalog.tools) == 2
    assert catalog.problems == ("tools/list was cut short: the definitions are larger than the limit.",)


async def test_tools_survive_when_the_next_list_hangs():
    catalog = await capture(misbehaving("resources-hang"), options(timeout=1.0))
    assert len(catalog.tools) == 2
    assert catalog.problems == ("resources/list was not answered within 1 s.",)


async def test_a_server_that_ignores_the_newer_eras_question_is_captured_within_a_short_limit():
    catalog = await capture(misbehaving("ignores-discover"), options(timeout=4.0))
    assert len(catalog.tools) == 2


@pytest.mark.parametrize("mode", ["plain", "ignores-discover"])
async def test_the_default_limit_leaves_time_for_the_sdks_own_patience(mode):
    catalog = await capture(misbehaving(mode), LiveOptions())
    assert len(catalog.tools) == 2


async def test_deep_nesting_is_kept_as_it_came():
    catalog = await capture(misbehaving("nested"), options())
    assert catalog.tools[0].raw["inputSchema"] == misbehaving_server.nested(300)


async def test_json_that_not_everybody_reads_is_a_defect_of_its_tool_alone():
    check_odd_json(await capture(misbehaving("odd-json"), options()))


# What is fatal


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("exits-at-once", r"exited with code 3 before it answered 'initialize'.*--env NAME=VALUE.*API_KEY is missing"),
        ("dies-of-signal", r"died of signal 9"),
        ("exits-on-list", r"exited with code 0 before it answered 'tools/list'.*ends: out of memory"),
        ("list-is-refused", r"answers 'tools/list' with error -32603: the database is down"),
        ("no-tools-method", r"answers 'tools/list' with error -32601"),
        ("list-is-array", r"answers 'tools/list' with error -32600: the answer is not a JSON-RPC response"),
        ("initialize-is-refused", r"answers 'initialize' with error -32603: no licence found"),
        ("initialize-is-list", r"answers 'initialize' with error -32600: the answer is not a JSON-RPC response"),
        ("bad-initialize", r"answers 'initialize' without a protocolVersion"),
        ("unknown-version", r"protocol version '1999-01-01'"),
    ],
)
async def test_a_server_that_gives_no_tools_fails_with_the_reason(mode, words):
    line = await failure(misbehaving(mode), options())
    assert re.search(words, line)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("hangs-at-start", r"did not answer 'initialize' within 1 s; raise --timeout.*waiting for the database"),
        ("list-hangs", r"did not answer 'tools/list' within 1 s; raise --timeout"),
        ("wrong-id", r"did not answer 'tools/list' within 1 s"),
        ("garbage-for-ever", r"did not answer .* within 1 s.*lines that are not protocol messages"),
    ],
)
async def test_a_server_that_hangs_fails_when_the_limit_is_over(mode, words):
    line = await failure(misbehaving(mode), options(timeout=1.0))
    assert re.search(words, line)


async def test_a_server_that_exits_and_leaves_a_child_with_its_output_fails_at_once():
    script = "import os, time; os.fork() and os._exit(3); time.sleep(60)"
    line = await failure(Stdio(command=sys.executable, args=("-c", script)), options(timeout=30.0))
    assert "exited with code 3 before it answered" in line


async def test_nesting_beyond_what_can_be_read_is_refused_without_a_traceback():
    line = await failure(misbehaving("never-closed"), options(timeout=1.0))
    assert "wrote 1 line that is not a protocol message" in line


async def test_a_line_that_never_ends_is_not_collected_for_ever():
    line = await failure(misbehaving("never-a-newline"), options(max_bytes=1_000_000))
    assert "a line of more than 1000000 bytes" in line


async def test_an_unknown_command_is_named():
    line = await failure(Stdio(command="no-such-command-here"), options())
    assert "the command 'no-such-command-here' was not found; install it or give its full path" in line


async def test_a_file_that_may_not_be_executed_is_named(tmp_path):
    (tmp_path / "server").write_text("#!/bin/sh\n")
    line = await failure(Stdio(command=str(tmp_path / "server")), options())
    assert "may not be executed" in line


async def test_a_directory_that_does_not_exist_is_named():
    line = await failure(misbehaving("plain"), options(cwd="/no/such/directory"))
    assert "the directory '/no/such/directory' does not exist; change --cwd" in line


async def test_neither_given_values_nor_control_codes_reach_the_message():
    line = await failure(misbehaving("exits-at-once"), options())
    assert SECRET not in line
    assert "given: ***" in line
    assert line.isprintable()


async def test_last_words_are_short(tmp_path):
    (tmp_path / "server.py").write_text("import sys; sys.exit('y' * 5000 + 'END')")
    line = await failure(Stdio(command=sys.executable, args=(str(tmp_path / "server.py"),)), options())
    assert line.endswith("END")
    assert line.count("y") < 320


def test_given_values_are_not_in_the_repr_of_the_options():
    assert SECRET not in repr(options(headers={"Authorization": SECRET}))


# Processes and side effects


@pytest.mark.parametrize(
    "mode", ["plain", "stubborn", "abandons-child", "leaves-daemon", "hangs-at-start", "garbage-for-ever"]
)
async def test_no_process_of_the_group_outlives_the_capture(mode):
    marker = f"tdqs-{uuid.uuid4()}"
    with contextlib.suppress(CaptureError):
        await capture(misbehaving(mode, marker), options(timeout=2.0))
    assert processes_with(marker) == []


async def test_no_process_outlives_a_capture_that_its_caller_gives_up():
    marker = f"tdqs-{uuid.uuid4()}"
    with anyio.move_on_after(0.5) as patience:
        await capture(misbehaving("hangs-at-start", marker), options())
    assert patience.cancelled_caught
    assert processes_with(marker) == []


async def test_captures_at_the_same_time_do_not_disturb_each_other():
    found = {}

    async def one(mode):
        found[mode] = await capture(misbehaving(mode), options())

    async with anyio.create_task_group() as tasks:
        for mode in ("plain", "pages", "garbage", "everything"):
            tasks.start_soon(one, mode)
    assert {mode: len(catalog.tools) for mode, catalog in found.items()} == {
        "plain": 2,
        "pages": 3,
        "garbage": 2,
        "everything": 2,
    }
    assert found["plain"].problems == ()
    assert logging.getLogger("mcp.client.stdio").filters == []


async def test_the_sdk_is_silent_during_a_capture_and_speaks_again_after_it(caplog):
    logger = logging.getLogger("mcp.client.stdio")
    with caplog.at_level(logging.DEBUG):
        await capture(misbehaving("garbage"), options())
        assert [record.name for record in caplog.records if record.name.startswith("mcp")] == []
        logger.warning("heard")
    assert caplog.messages[-1] == "heard"
    assert logger.filters == []


def test_importing_the_door_loads_neither_the_sdk_nor_an_http_client():
    code = (
        "import sys, tdqs_mcp; before = set(sys.modules);"
        "import tdqs_mcp.sources.files, tdqs_mcp.sources.clients, tdqs_mcp.sources.locator;"
        "print(sorted({'mcp', 'httpx2', 'anyio', 'pydantic'} & (set(sys.modules) - before)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


# Published servers


@needs_servers
@pytest.mark.parametrize(
    ("program", "args", "server", "tool"),
    [
        ("node_modules/.bin/mcp-server-filesystem", ("/usr",), "secure-filesystem-server", "read_text_file"),
        ("node_modules/.bin/mcp-server-everything", ("stdio",), "mcp-servers/everything", "echo"),
        ("node_modules/.bin/mcp-server-memory", (), "memory-server", "create_entities"),
        ("node_modules/.bin/playwright-mcp", (), "Playwright", "browser_navigate"),
        ("mcp-server-git/bin/mcp-server-git", (), "mcp-git", "git_status"),
        ("mcp-server-time/bin/mcp-server-time", ("--local-timezone", "UTC"), "mcp-time", "convert_time"),
        ("mcp-server-fetch/bin/mcp-server-fetch", (), "mcp-fetch", "fetch"),
    ],
)
async def test_a_published_server_is_captured_over_stdio(program, args, server, tool):
    catalog = await capture(Stdio(command=f"{SERVERS}/{program}", args=args), options(timeout=60.0))
    assert catalog.server == server
    assert tool in [entry.name for entry in catalog.tools]
    assert all(not entry.defects for entry in catalog.tools)
    assert catalog.problems == ()


@needs_servers
@pytest.mark.parametrize(("mode", "path"), [("streamableHttp", "mcp"), ("sse", "sse")])
async def test_a_published_server_is_captured_over_http(mode, path):
    with everything_over_http(mode) as address:
        catalog = await capture(Url(url=f"{address}/{path}"), options())
    assert catalog.server == "mcp-servers/everything"
    assert len(catalog.tools) == 13
    assert catalog.resources
    assert catalog.prompts
    assert catalog.problems == ()


@contextlib.contextmanager
def everything_over_http(mode):
    """The address of server-everything, once it says that it listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [f"{SERVERS}/node_modules/.bin/mcp-server-everything", mode]
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            for line in process.stderr:
                if str(port).encode() in line:
                    break
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
