"""Thousands of choices through an endpoint on this machine, 16 at once: what is asked, how often, and how long it takes.

TDQS_CHOICES says how many, 2,000 unless it is set.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from time import perf_counter

import pytest
from definitions import tool
from loopback import Chat

COUNT = int(os.environ.get("TDQS_CHOICES", "2000"))
AT_ONCE = 16
SHOP = [tool(f"get_{name}", f"Gets a {name} by its number.") for name in ("order", "bill", "cart", "parcel", "refund")]


@pytest.fixture
def chat():
    """Answers every request with the first tool."""
    chat = Chat()
    chat.answer = lambda body: json.dumps({"calls": [{"tool": "get_order", "arguments": "{}"}]})
    yield chat
    chat.close()


def selecting(chat, write, tmp_path, count, cache):
    """The command for so many requests, and its environment."""
    rows = "\n".join(json.dumps({"query": f"my order number {number}", "tool": "get_order"}) for number in range(count))
    command = [sys.executable, "-m", "tdqs_mcp", "select", str(write("shop.json", SHOP))]
    command += ["--queries", str(write(f"{count}.jsonl", rows)), "--judge", "openai", "--format", "json"]
    env = {"TDQS_BASE_URL": chat.base_url, "TDQS_MODEL": "m", "TDQS_API_KEY": "k", "TDQS_CACHE": str(tmp_path / cache)}
    return {"args": command, "env": {**os.environ, **env}, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def figures(run):
    assert run.returncode == 0, run.stderr.decode()[-500:]
    return json.loads(run.stdout)["figures"]


def questions(chat):
    return Counter(body["messages"][1]["content"] for body in chat.bodies)


@pytest.mark.process
def test_an_interrupted_run_goes_on_and_nothing_answered_is_asked_again(chat, write, tmp_path):
    words = selecting(chat, write, tmp_path, COUNT, "cache")
    with subprocess.Popen(**words) as process:
        chat.wait_for(COUNT // 4)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    early = len(chat.bodies)
    assert COUNT // 4 <= early < COUNT
    assert figures(subprocess.run(**words, check=False)) == {
        "queries": COUNT,
        "top1": 100.0,
        "recall": 100.0,
        "mrr": 1.0,
    }
    counts = questions(chat)
    # Those that were on their way when the run ended have no answer yet.
    assert len(counts) == COUNT
    assert max(counts.values()) <= 2
    assert len(chat.bodies) - COUNT <= AT_ONCE
    before = len(chat.bodies)
    figures(subprocess.run(**words, check=False))
    assert len(chat.bodies) == before


@pytest.mark.bench
def test_choices_take_no_more_than_four_times_as_long_as_a_quarter(chat, write, tmp_path, check_ratio):
    def seconds(count, cache):
        begun = perf_counter()
        figures(subprocess.run(**selecting(chat, write, tmp_path, count, cache), check=False))
        return perf_counter() - begun

    part, whole = (seconds(count, f"{count}") for count in (COUNT // 4, COUNT))
    check_ratio(whole / part, at_most=4)
