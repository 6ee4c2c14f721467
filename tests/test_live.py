"""Capturing running servers: misbehaving ones, real ones, and our own, over every transport."""

import contextlib
import logging
import shutil
import subprocess
import sys
import uuid

import anyio
import misbehaving_server
import pytest
from processes import SERVERS, free_port, listening, needs_servers, processes, until
from test_live_http import SECRET, check_odd_json, failure, options

from tdqs_mcp.errors import CaptureError
from tdqs_mcp.sources import transports
from tdqs_mcp.sources.connection import capture
from tdqs_mcp.sources.locator import LiveOptions, Stdio, Url
from tdqs_mcp.sources.transports import start_process

pytestmark = [pytest.mark.anyio, pytest.mark.process]


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
    assert catalog.source == f"stdio:{sys.executable} {misbehaving_server.__file__} *** --token=***"


async def test_a_server_that_does_not_name_itself_is_called_after_its_command():
    catalog = await capture(misbehaving("no-server-info"), options())
    assert catalog.server == "misbehaving_server"
    assert catalog.server_info is None


async def test_a_command_starts_in_the_directory_that_is_given(tmp_path):
    shutil.copy(misbehaving_server.__file__, tmp_path / "server.py")
    catalog = await capture(Stdio(command=sys.executable, args=("server.py", "plain")), options(cwd=str(tmp_path)))
    assert len(catalog.tools) == 2


# How long it takes, and what is fatal


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


async def test_a_server_that_exits_and_leaves_a_child_with_its_output_fails_at_once():
    script = "import os, time; os.fork() and os._exit(3); time.sleep(60)"
    line = await failure(Stdio(command=sys.executable, args=("-c", script)), options(timeout=30.0))
    assert "exited with code 3 before it answered" in line


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
    assert processes(marker) == []


async def test_no_process_outlives_a_capture_that_its_caller_gives_up():
    marker = f"tdqs-{uuid.uuid4()}"
    with anyio.move_on_after(0.5) as patience:
        await capture(misbehaving("hangs-at-start", marker), options())
    assert patience.cancelled_caught
    assert processes(marker) == []


async def test_no_process_outlives_a_start_that_is_given_up(monkeypatch):
    marker, start = f"tdqs-{uuid.uuid4()}", anyio.open_process

    async def start_slowly(*args, **kwargs):
        process = await start(*args, **kwargs)
        await anyio.sleep(1)  # as on a busy machine; the server has started a child meanwhile
        return process

    monkeypatch.setattr(anyio, "open_process", start_slowly)
    with anyio.move_on_after(0.5):
        await capture(misbehaving("stubborn", marker), options())
    assert processes(marker) == []


async def test_a_start_that_a_signal_breaks_off_leaves_its_process_to_our_own_end(monkeypatch):
    marker, start = f"tdqs-{uuid.uuid4()}", anyio.open_process

    async def start_and_break_off(*args, **kwargs):
        await start(*args, **kwargs)
        await anyio.sleep(0.3)
        raise RuntimeError("as KeyboardInterrupt, which would end the tests")

    monkeypatch.setattr(anyio, "open_process", start_and_break_off)
    with anyio.move_on_after(0.1):
        await start_process(misbehaving("stubborn", marker), options())
    assert processes(marker)
    transports.kill_started()
    await until(lambda: not processes(marker))


async def test_a_start_that_is_given_up_and_then_fails_is_given_up(monkeypatch):
    async def fail_late(*_, **__):
        await anyio.sleep(0.5)
        raise FileNotFoundError("no-such-server")

    monkeypatch.setattr(anyio, "open_process", fail_late)
    with anyio.move_on_after(0.1) as patience:
        await start_process(misbehaving("plain"), options())
    assert patience.cancelled_caught


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
    with caplog.at_level(logging.DEBUG, "mcp"):  # which commands that ran in this process may have silenced
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
@pytest.mark.parametrize(("mode", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
async def test_a_published_server_is_captured_over_http(mode, path):
    port = free_port()
    everything = [f"{SERVERS}/node_modules/.bin/mcp-server-everything", mode]
    with listening(everything, port, path, PORT=str(port)) as (url, _):
        catalog = await capture(Url(url=url), options())
    assert catalog.server == "mcp-servers/everything"
    assert len(catalog.tools) == 13
    assert catalog.resources
    assert catalog.prompts
    assert catalog.problems == ()
