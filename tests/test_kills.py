"""Kills at random moments: no result is lost, and nothing is left running. TDQS_KILLS says how many, at least one for each; 100 take some minutes."""

import json
import random
import signal
import subprocess
import sys
import uuid
from threading import Event
from time import monotonic, sleep

import misbehaving_server
import pytest
from agent_session import tool_answer
from definitions import flat, tool
from loopback import KEY
from processes import processes, wait_until
from sqlalchemy import create_engine, func, select
from test_responsiveness import Wire
from test_sweep_kills import KILLS, PATIENCE

from tdqs_mcp.store.judgements import FILE
from tdqs_mcp.store.tables import ANSWERS

pytestmark = pytest.mark.process

NOUNS = "loan card fee copy title member branch fine shelf author order visit event room poster grant".split()
TOOLS = [tool(f"get_{noun}", f"Gets a {noun}.", flat(2)) for noun in NOUNS]


def start(*arguments):
    command = [sys.executable, "-m", "tdqs_mcp", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def finish(process):
    with process:
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return out


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """How many answers the judgements of this test hold."""
    monkeypatch.setenv("TDQS_CACHE", str(tmp_path / "kept"))

    def number():
        if not (tmp_path / "kept" / FILE).exists():
            return 0
        with create_engine(f"sqlite:///{tmp_path / 'kept' / FILE}").connect() as connection:
            is_there = connection.dialect.has_table(connection, ANSWERS.name)
            return connection.scalar(select(func.count()).select_from(ANSWERS)) if is_there else 0

    return number


@pytest.mark.parametrize("seed", range(0, max(KILLS, 3), 3))
def test_a_run_with_a_judge_goes_on_with_every_answer_that_it_kept(
    seed, answers, loopback, write, monkeypatch, tmp_path
):
    usual, begun, chance = loopback.answer, Event(), random.Random(seed)

    def slowly(body):
        begun.set()
        sleep(0.02)
        return usual(body)

    loopback.answer = slowly
    judge = ("--judge", "openai:m", "--base-url", loopback.base_url, "--accept", "*")
    run = ("score", write("c.json", TOOLS), "--format", "json", *judge)
    process = start(*run)
    assert begun.wait(PATIENCE)
    sleep(chance.uniform(0, 0.5))
    process.kill()
    process.communicate()
    kept = answers()
    monkeypatch.setenv("TDQS_API_KEY", KEY)  # tells its requests from those that the first run had under way
    again = finish(start(*run))
    asked = [each for each in loopback.headers if each.get("authorization") == f"Bearer {KEY}"]
    assert kept + len(asked) == len(TOOLS) + 1
    monkeypatch.setenv("TDQS_CACHE", str(tmp_path / "other"))
    assert finish(start(*run)) == again


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """A catalog before and after a rewrite in its place, and the seconds that this takes."""
    file, began = tmp_path_factory.mktemp("rewritten") / "c.json", monotonic()
    file.write_text(json.dumps(TOOLS))
    before = file.read_bytes()
    finish(start("rewrite", file, "--write", file))
    return before, file.read_bytes(), monotonic() - began


@pytest.mark.parametrize("seed", range(1, max(KILLS, 3), 3))
def test_a_file_that_is_rewritten_is_whole_whenever_the_program_dies(seed, rewritten, tmp_path):
    before, after, seconds = rewritten
    file = tmp_path / "c.json"
    file.write_bytes(before)
    process = start("rewrite", file, "--write", file)
    sleep(random.Random(seed).uniform(0.3, 1.1) * seconds)
    process.kill()
    process.communicate()
    assert file.read_bytes() in (before, after)
    finish(start("rewrite", file, "--write", file))
    assert file.read_bytes() == after


@pytest.mark.parametrize("seed", range(2, max(KILLS, 3), 3))
def test_a_server_that_dies_keeps_what_it_has_taken_and_leaves_no_server_behind(seed, answers, tmp_path):
    chance, marker = random.Random(seed), f"marker-{uuid.uuid4().hex}"
    locator = f"stdio:{sys.executable} {misbehaving_server.__file__} resources-hang {marker}"
    wire = Wire("--allow-stdio")
    given = {"catalog": TOOLS, "model": "m"}
    page = wire.ask("tools/call", name="judge_definitions", arguments={**given, "limit": 50})["result"][
        "structuredContent"
    ]
    filled = {each["name"]: {**each, "answer": tool_answer(page["answerSchema"])} for each in page["prompts"]}
    hashes = {name: {key: each[key] for key in ("name", "inputHash", "answer")} for name, each in filled.items()}
    with wire.process:
        wire.send("tools/call", name="score_server", arguments={"catalog": locator})
        calls = {
            wire.send("tools/call", name="judge_definitions", arguments={**given, "answers": [each]}): name
            for name, each in hashes.items()
        }
        sleep(chance.uniform(0, 1.0))
        wire.process.send_signal(chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)))
        wire.process.wait(PATIENCE)
        wire.reader.join()
    taken = {calls[number] for number, answer in wire.answers.items() if number in calls and "result" in answer}
    wait_until(lambda: not processes(marker), "the server that was started has ended", PATIENCE)
    again = Wire()
    with again.process:
        left = again.ask("tools/call", name="judge_definitions", arguments={**given, "limit": 50})["result"]
        again.process.stdin.close()
        again.reader.join()
    names = {each["name"] for each in left["structuredContent"]["prompts"]}
    assert not names & taken
    assert len(names) + answers() == len(TOOLS)
