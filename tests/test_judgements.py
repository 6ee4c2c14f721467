"""Judgements that were paid for once are never asked for again, whatever happens in between."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint
from definitions import tool
from loopback import KEY, USUAL, rubric_of, tool_name

from tdqs_mcp.app import judging
from tdqs_mcp.app.judge_factory import make_judge
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.judges.asking import complete_all
from tdqs_mcp.judges.judge import AnswerCache, CacheKey, Request
from tdqs_mcp.rubrics.prompt import Prompt
from tdqs_mcp.store import database, judgements
from tdqs_mcp.store.judgements import FILE, MAX_CLAIMS, Judgements

TOOLS = [tool(f"t{number:02}") for number in range(12)]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TDQS_CACHE", str(tmp_path / "judged ?%41#"))
    return tmp_path / "judged ?%41#"


@pytest.fixture
def run(command, loopback, write):
    file = write("c.json", TOOLS)

    def score(*options, model="m"):
        return command(
            "score", file, "--judge", f"openai:{model}", "--base-url", loopback.base_url, "--format", "json", *options
        )

    return score


@pytest.fixture
def judge_again(loopback, cache, catalog):
    """A whole judgement in this process; gives back the names that the endpoint was asked about, the set's last."""

    def judge(tools=TOOLS, *, rubric="tdqs", environ=None, **options):
        loopback.bodies.clear()
        settings = {"TDQS_CACHE": str(cache)} | (environ or {})
        made = make_judge(read_settings(settings, base_url=loopback.base_url, **{"judge": "openai:m"} | options))
        use = judging.score if rubric == "tdqs" else partial(judging.score_labels, rubric=rubric)
        result = anyio.run(lambda: use(catalog(*tools), judge=made))
        return len(result.tools), sorted(loopback.asked(), key=lambda name: (name == "", name))

    return judge


ALL = [*(f"t{number:02}" for number in range(12)), ""]


def scores(done):
    return [(each["name"], each["tdqs"]) for each in json.loads(done.stdout)["tools"]]


def test_a_second_run_asks_for_nothing_and_says_the_same(run, loopback, cache):
    first = run()
    assert len(loopback.bodies) == 13
    again = run()
    assert len(loopback.bodies) == 13
    assert first.stdout == again.stdout
    assert (cache / FILE).is_file()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_killed_run_goes_on_where_it_was(tdqs_mcp, loopback, cache, write, monkeypatch, kind):
    """Sixteen are under way; that the answers of the first four are kept is sure once four more were asked for."""
    monkeypatch.setenv("TDQS_API_KEY", KEY)
    loopback.answer = lambda body: USUAL["tdqs" if tool_name(body) else "coherence"]
    loopback.hang_on = lambda body: tool_name(body) not in ("t00", "t01", "t02", "t03")
    program = [
        sys.executable,
        "-m",
        "tdqs_mcp",
        *("score", str(write("c.json", [tool(f"t{number:02}") for number in range(24)])), "--format", "json"),
        *("--judge", f"{kind}:m", "--base-url", loopback.base_url),
    ]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    loopback.wait_for(20)
    process.send_signal(signal.SIGKILL)
    process.wait()
    loopback.hang_on = lambda body: False
    loopback.bodies.clear()
    assert len(scores(tdqs_mcp(*program[3:]))) == 24
    assert loopback.asked() == ["", *(f"t{number:02}" for number in range(4, 24))]


INTERRUPTIBLE = """
import signal, tdqs_mcp.cli
signal.signal(signal.SIGINT, signal.default_int_handler)
tdqs_mcp.cli.main()
"""
"""The command as a terminal starts it; a script in the background would have it ignore SIGINT."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("args", "by", "kept", "rest", "least"),
    [
        (["score", "c.json", "--judge"], "judge", "", "a rerun asks only for the rest", 12),
        (["rewrite", "c.json", "--writer"], "writer", "off", "no answer is kept (TDQS_CACHE=off)", 5),
    ],
)
@pytest.mark.process
def test_who_stops_a_run_is_told_what_it_took_and_what_a_rerun_asks_for(
    loopback, cache, write, number, args, by, kept, rest, least
):
    write("c.json", TOOLS)
    loopback.hang_on = lambda body: len(loopback.bodies) > 4
    program = [sys.executable, "-c", INTERRUPTIBLE, *args, "openai:m", "--base-url", loopback.base_url]
    process = subprocess.Popen(
        program,
        cwd=cache.parent,
        env=os.environ | ({"TDQS_CACHE": kept} if kept else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    loopback.wait_for(least)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, b"")
    (line,) = stderr.decode().splitlines()
    assert re.fullmatch(rf"interrupted; {by}: (?:[4-9]|1\d|20) requests, 0 input tokens, .*; {re.escape(rest)}", line)


def test_an_empty_answer_is_an_answer(tmp_path):
    class Mute:
        name = "m"
        asked = 0

        async def complete(self, request):
            self.asked += 1
            return ""

    model, request = Mute(), Request(prompt=Prompt(system="", user="Say nothing."), name="n", schema={})
    remembered = AnswerCache(model=model, cache=Judgements(tmp_path, warn=pytest.fail), parameters="")
    answers = [anyio.run(complete_all, remembered, [request, request]) for _ in range(2)]
    assert (answers, model.asked) == ([["", ""]] * 2, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"exact_prompt": True},
        {"judge": "openai:other"},
        {"environ": {"TDQS_REQUEST_OVERRIDES": '{"temperature": 1}'}},
    ],
)
def test_another_prompt_model_or_parameter_is_another_judgement(judge_again, change):
    assert judge_again() == (12, ALL)
    assert judge_again(**change) == (12, ALL)
    assert judge_again() == judge_again(**change) == (12, [])


@pytest.mark.parametrize(
    ("judge", "same", "other"),
    [
        ("openai:m", '{"temperature": 0}', ['{"temperature": null}', '{"response_format": {"type": "text"}}']),
        (
            "anthropic:m",
            '{"max_tokens": 8000, "output_config": {"effort": "low"}}',
            ['{"max_tokens": 9000}', '{"output_config": {"effort": "high"}}', '{"output_config": {"format": null}}'],
        ),
    ],
)
def test_what_we_send_along_is_part_of_the_judgement_whoever_said_so(judge, same, other):
    def parameters(overrides):
        keys = {"TDQS_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
        environ = {"TDQS_REQUEST_OVERRIDES": overrides, "TDQS_BASE_URL": "http://127.0.0.1/v1", **keys}
        return make_judge(read_settings(environ, judge=judge)).judge.parameters

    assert parameters("{}") == parameters(same)
    assert len({parameters(each) for each in ("{}", *other)}) == 1 + len(other)


def test_another_rubric_is_another_judgement(judge_again):
    judge_again()
    assert judge_again(rubric="bundles") == (12, ALL[:-1])
    assert judge_again(rubric="bundles") == (12, [])


def test_only_what_changed_is_asked_for(judge_again):
    judge_again()
    assert judge_again([*TOOLS[:11], tool("t11", "Does something else.")]) == (12, ["t11", ""])


def test_a_new_sibling_changes_every_case(judge_again):
    judge_again()
    assert judge_again([*TOOLS, tool("new")]) == (13, ["new", *ALL])


def test_an_answer_out_of_form_is_not_kept(judge_again, loopback):
    loopback.answer = lambda body: "no" if tool_name(body) == "t05" else USUAL[rubric_of(body)]
    assert judge_again()[0] == 11
    loopback.answer = lambda body: USUAL[rubric_of(body)]
    assert judge_again() == (12, ["t05"])


@pytest.mark.parametrize("word", ["off", "OFF", " Off "])
def test_off_keeps_nothing(run, loopback, monkeypatch, tmp_path, word):
    monkeypatch.setenv("TDQS_CACHE", word)
    run()
    run()
    assert len(loopback.bodies) == 26
    assert not list(tmp_path.rglob(FILE))
    assert not Path(word).exists()


def test_by_default_judgements_lie_in_the_platform_s_cache(run, loopback, monkeypatch, tmp_path):
    monkeypatch.delenv("TDQS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "platform"))
    run()
    assert [path.parent.name for path in (tmp_path / "platform").rglob(FILE)] == ["tdqs-mcp"]


def test_the_offline_judge_keeps_nothing(command, write, cache):
    command("score", write("c.json", TOOLS))
    assert not cache.exists()


def corrupt(folder):
    folder.mkdir()
    (folder / FILE).write_bytes(b"no database at all" * 100)


def make_a_file_of(folder):
    folder.write_text("a file where a folder should be")


def other_columns(folder):
    folder.mkdir()
    with sqlite3.connect(folder / FILE) as connection:
        connection.execute("CREATE TABLE answers (other TEXT)")
    connection.close()


@pytest.mark.parametrize("spoil", [corrupt, make_a_file_of, other_columns])
def test_a_cache_that_cannot_be_used_costs_a_warning_and_no_judgement(run, loopback, cache, spoil):
    spoil(cache)
    done = run()
    assert done.returncode == 0
    assert len(scores(done)) == 12
    assert done.stderr.count(b"warning: judgements are not kept") == 1
    assert b"set TDQS_CACHE to another folder or to off" in done.stderr


def test_a_cache_that_stays_locked_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    said = []
    kept = Judgements(tmp_path, warn=said.append)
    kept.put(KEY_OF_ONE, "first")
    holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    kept.put(KEY_OF_ONE, "second")
    kept.put(KEY_OF_ONE, "third")
    holder.execute("ROLLBACK")
    holder.close()
    assert [("is locked" in each) for each in said] == [True]
    assert Judgements(tmp_path, warn=said.append).get(KEY_OF_ONE) == "first"


KEY_OF_ONE = CacheKey(
    input_hash="a",
    sibling_digest="b",
    prompt_hash="c",
    rubric="tdqs",
    judge="openai",
    model="m",
    parameters="",
    sample=1,
)


def test_an_answer_that_no_database_can_hold_stops_nothing(tmp_path):
    said = []
    kept = Judgements(tmp_path, warn=said.append)
    kept.put(KEY_OF_ONE, "odd \ud800")
    assert kept.get(KEY_OF_ONE) is None
    kept.put(KEY_OF_ONE, "fine")
    assert (kept.get(KEY_OF_ONE), said) == ("fine", [])


def test_the_oldest_answers_go_when_there_are_too_many(judge_again, monkeypatch):
    monkeypatch.setattr(judgements, "MAX_ANSWERS", 20)
    judge_again()
    newer = [tool(f"n{number:02}") for number in range(12)]
    judge_again(newer)
    assert judge_again(newer) == (12, [])
    count, asked = judge_again()
    assert (count, 0 < len(asked) < 13) == (12, True)


@pytest.mark.process
def test_runs_at_once_ask_for_everything_once_and_a_later_one_for_nothing(tdqs_mcp, loopback, cache, write):
    def answer(body):
        time.sleep(0.3)
        return USUAL[rubric_of(body)]

    loopback.answer = answer
    args = ("score", write("c.json", TOOLS), "--judge", "openai:m", "--base-url", loopback.base_url, "--format", "json")
    done = []
    threads = [threading.Thread(target=lambda: done.append(tdqs_mcp(*args))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(each.returncode, each.stderr.count(b"warning")) for each in done] == [(0, 0)] * 3
    assert {len(scores(each)) for each in done} == {12}
    assert len(loopback.bodies) == 13
    tdqs_mcp(*args)
    assert len(loopback.bodies) == 13


def test_a_run_locks_no_more_keys_at_once_however_many_it_asks_for(tmp_path):
    """Locks of one file take quadratic time: the system looks through all that are held."""

    class Slow:
        name, waiting, most = "m", 0, 0

        async def complete(self, request):
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            await checkpoint()
            self.waiting -= 1
            return request.prompt.user

    model = Slow()
    prompts = [Prompt(system="", user=f"Say {number}.") for number in range(MAX_CLAIMS + 100)]
    requests = [Request(prompt=prompt, name="n", schema={}) for prompt in prompts]
    cached = AnswerCache(model=model, cache=Judgements(tmp_path, warn=pytest.fail), parameters="")
    assert anyio.run(complete_all, cached, requests) == [prompt.user for prompt in prompts]
    assert 1 < model.most <= MAX_CLAIMS


def test_a_key_is_claimed_by_one_until_it_is_answered_or_given_up(tmp_path):
    cache = Judgements(tmp_path, warn=pytest.fail)

    async def claim(key, seconds=0.1):
        with anyio.move_on_after(seconds):
            async with cache.claim(key):
                return "claimed"
        return "waits"

    async def run():
        async with cache.claim(KEY_OF_ONE):
            during = await claim(KEY_OF_ONE), await claim(replace(KEY_OF_ONE, prompt_hash="d"))
        with pytest.raises(ValueError, match="lost"):
            async with cache.claim(KEY_OF_ONE):
                raise ValueError("lost")
        return (*during, await claim(KEY_OF_ONE))

    assert anyio.run(run) == ("waits", "claimed", "claimed")


def test_no_key_reaches_the_cache(run, loopback, cache, monkeypatch):
    monkeypatch.setenv("TDQS_API_KEY", KEY)
    run()
    assert {headers["authorization"] for headers in loopback.headers} == {f"Bearer {KEY}"}
    assert KEY.encode() not in b"".join(path.read_bytes() for path in cache.iterdir())
