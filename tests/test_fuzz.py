"""Whatever JSON a server lists or a client sends, it is read and answered, or refused with a sentence.

TDQS_FUZZ_SECONDS is the processor time for each of seven targets, 3 unless it is set: 600 makes it a good hour.
TDQS_FUZZ_SEED chooses other mutants.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import fuzzing
import pytest
from any_json import ANYTHING, TOOLS
from definitions import tool
from hypothesis import given, settings
from hypothesis import strategies as st

from tdqs_mcp import sync
from tdqs_mcp.app import catalogs, judging
from tdqs_mcp.app.catalogs import capture_document
from tdqs_mcp.errors import InputError

SECONDS = os.environ.get("TDQS_FUZZ_SECONDS", "3")
SEED = os.environ.get("TDQS_FUZZ_SEED", "0")


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Every line of every command."""
    lines = [line for each in fuzzing.LINES.values() for line in each]
    return fuzzing.Commands(lines, tmp_path_factory.mktemp("fuzz"), fuzzing.Mutator(fuzzing.examples()))


@settings(max_examples=150)
@given(st.lists(TOOLS, max_size=4), st.data())
def test_any_list_of_tools_is_kept_scored_and_shown(commands, tools, data):
    raw = json.dumps({"tools": tools}).encode()
    fuzzing.attempt(commands, raw, data.draw(st.sampled_from(commands.lines)))
    with suppress(InputError):
        catalog = catalogs.read({"tools": tools}, server="any")
        score = sync.score(catalog)
        assert len(score.tools) + len(score.ungraded) == len(tools)
        assert json.loads(json.dumps(capture_document(catalog)["tools"])) == json.loads(json.dumps(tools))


@settings(max_examples=200)
@given(ANYTHING)
def test_any_json_is_a_catalog_or_an_input_error(value):
    with suppress(InputError):
        assert judging.score_blocking(catalogs.read(value), judge=judging.answers_judge(value)).tool_count >= 0


KEPT = sorted(fuzzing.CORPUS.glob("*.json"))


@pytest.mark.parametrize("file", [each for each in KEPT if "message" not in each.name], ids=lambda file: file.stem)
def test_what_broke_a_command_once_breaks_none_any_more(commands, file):
    for line in commands.lines:
        fuzzing.attempt(commands, file.read_bytes(), line)


def test_a_tool_of_thousands_of_parameters_costs_as_little_as_its_size_allows(commands):
    """Each parameter was compared with all others."""
    parameters = {f"p{number}": {"type": "integer"} for number in range(6_000)}
    raw = json.dumps({"tools": [tool("get_order", schema={"type": "object", "properties": parameters})]}).encode()
    fuzzing.attempt(commands, raw, "rewrite FILE --format json")


def test_a_large_file_that_is_not_json_is_refused_at_once(commands):
    """It was read once more, as the configuration of a client with comments."""
    fuzzing.attempt(commands, b"[" + b'"loan", ' * 100_000, "score FILE --format badge")


@pytest.mark.process
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_what_broke_the_server_once_breaks_it_no_more(transport, tmp_path):
    with fuzzing.opened(transport, tmp_path) as server:
        for file in KEPT:
            if "message" in file.name:
                fuzzing.attempt(server, file.read_bytes().rstrip(), "")


@pytest.mark.bench
@pytest.mark.parametrize("name", fuzzing.TARGETS)
def test_mutants_break_nothing_and_cost_little(name, tmp_path):
    with fuzzing.opened(name, tmp_path) as target:
        found = fuzzing.fuzz(target, seconds=float(SECONDS), seed=SEED, kept=tmp_path)
    megabytes = [each // 2**20 for each in found.memory]
    print(f"{found.inputs} inputs, slowest {found.slowest:.2f} s, memory {megabytes} MB")  # noqa: T201  # for who runs with -rP
    assert not found.faults, "\n\n".join(found.faults.values())
    if float(SECONDS) >= 60:  # before that, caches are still filling
        assert found.memory[-1] <= fuzzing.MAX_GROWTH * found.memory[1] + fuzzing.SLACK, megabytes


@pytest.mark.process
def test_mutants_that_reach_new_code_break_nothing(tmp_path):
    """Several targets from one process: to instrument the code takes three times as long as a target."""
    pytest.importorskip("atheris", reason="atheris is not installed: it has wheels for CPython on Linux alone")
    script = Path(__file__).with_name("fuzz_coverage.py")
    limits = [f"-max_total_time={SECONDS}", "-timeout=60", f"-artifact_prefix={tmp_path}/"]
    names = (
        [*fuzzing.LINES] if float(SECONDS) >= 60 else ["load", "rewrite"]
    )  # the benchmark fuzzes all without coverage
    run = subprocess.run(
        [sys.executable, script, ",".join(names), *limits], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert run.stderr.count("DONE ") >= len(names), run.stderr[-3000:]
