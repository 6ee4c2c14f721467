"""Sweeps as processes: live servers, a jury, --watch; kills, a lost scheduler, a database that restarts, Ctrl-C. TDQS_KILLS says how many kills."""

import gzip
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from time import monotonic, sleep

import psutil
import pytest
import registry
from definitions import tool
from loopback import USUAL, rubric_of
from scored import stored_scores

from tdqs_mcp.store.database import open_store

pytestmark = pytest.mark.process

SERVERS = os.environ.get("TDQS_TEST_SERVERS", "")
TOOLS = 4_000
PATIENCE = 100
KILLS = int(os.environ.get("TDQS_KILLS", "9"))
WORDS = "loan card fee account branch member statement transfer limit holder region rate report".split()


def exported(url):
    engine = open_store(str(url))
    try:
        return [json.dumps(line) for line in stored_scores(engine)]
    finally:
        engine.dispose()


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """A registry of 4,000 tools."""
    bases = [
        {
            "server": f"{first}-server",
            "tools": [
                tool(
                    f"{verb}_{second}", f"{verb.capitalize()}s each {second} of one {first}, the newest {number} first."
                )
                for number, second in enumerate(WORDS)
                for verb in ("list", "delete", "update")
            ],
        }
        for first in WORDS
    ]
    path = tmp_path_factory.mktemp("registry") / "registry.jsonl.gz"
    registry.write(path, registry.servers(bases, TOOLS))
    return path


@pytest.fixture
def start(records):
    """Starts a sweep; whatever is left of it in the end is killed."""
    running = []

    def start(store, *options, source=records):
        command = [sys.executable, "-m", "tdqs_mcp", "sweep", str(source), "--store", str(store), *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def undisturbed(records, tmp_path_factory):
    """What a sweep that nobody disturbs stores, and the seconds that it takes."""
    store, started = tmp_path_factory.mktemp("undisturbed") / "store.sqlite", monotonic()
    command = [sys.executable, "-m", "tdqs_mcp", "sweep", str(records), "--store", str(store)]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    assert done.stderr == b""
    lines = exported(store)
    assert sum(len(json.loads(line)["tools"]) for line in lines) == TOOLS
    return lines, monotonic() - started


def workers(process):
    """The processes that score."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [each for each in children if "spawn_main" in " ".join(each.cmdline())]


def wait_until(is_true, what):
    end = monotonic() + PATIENCE
    while not is_true():
        assert monotonic() < end, what
        sleep(0.02)


def finish(process, *, code=0):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, err.decode()
    return out.decode(), err.decode()


def disturb(seed, start, store, seconds):
    """Kills a worker (even seeds) or the whole sweep at a random moment, and sweeps once more."""
    chance = random.Random(seed)
    process = start(store)
    sleep(chance.uniform(0.2, 1) * seconds)
    if process.poll() is None:
        left = workers(process)
        if seed % 2:
            process.kill()
        elif left:
            chance.choice(left).kill()
            finish(process)
        process.wait(PATIENCE)
        psutil.wait_procs(left, timeout=PATIENCE)
        assert not [each for each in left if each.is_running()], "no process is left behind"
    finish(start(store))


@pytest.mark.parametrize("seed", range(2))
def test_after_a_kill_the_next_sweep_makes_the_store_what_it_would_have_been(seed, start, undisturbed, store_url):
    lines, seconds = undisturbed
    disturb(seed, start, store_url, seconds)
    assert exported(store_url) == lines


@pytest.mark.bench
@pytest.mark.parametrize(
    ("seed", "store_url"),
    [(seed, ("sqlite", "postgresql")[seed // 2 % 2]) for seed in range(2, 2 + KILLS)],
    indirect=["store_url"],
)
def test_so_it_is_at_more_random_moments(seed, start, undisturbed, store_url):
    lines, seconds = undisturbed
    disturb(seed, start, store_url, seconds)
    assert exported(store_url) == lines


def test_a_script_needs_no_guard_for_the_processes_that_it_starts(records, tmp_path):
    script, store, some = (tmp_path / name for name in ("script.py", "store.sqlite", "some.jsonl"))
    servers = gzip.decompress(records.read_bytes()).splitlines(keepends=True)[:30]
    some.write_bytes(b"".join(servers))
    request = f"tdqs_mcp.SweepRequest(inputs=({str(some)!r},), store={str(store)!r})"
    script.write_text(f"import tdqs_mcp\ntdqs_mcp.sweep_registry({request})\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(exported(store)) == len(servers)


def test_two_sweeps_of_one_store_lose_and_double_nothing(start, undisturbed, store_url):
    for process in [start(store_url), start(store_url)]:
        finish(process)
    assert exported(store_url) == undisturbed[0]


def test_a_restart_of_the_database_costs_nothing(start, undisturbed, postgres):
    store = postgres.create_schema()
    process = start(store)
    wait_until(lambda: exported(store), "something is stored")
    assert process.poll() is None
    postgres.restart()
    finish(process)
    assert exported(store) == undisturbed[0]


@pytest.mark.parametrize(
    "end",
    [
        lambda process: os.killpg(process.pid, signal.SIGINT),  # as a terminal does
        lambda process: process.terminate(),
    ],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_sweep_that_is_to_end_says_what_is_done_and_leaves_no_process(start, undisturbed, tmp_path, end):
    store = tmp_path / "store.sqlite"
    process = start(store)
    wait_until(lambda: store.exists() and exported(store), "something is stored")
    left = workers(process)
    end(process)
    _, said = finish(process, code=130)
    assert re.fullmatch(
        "interrupted; (at least .* tools of .* servers|nothing) scored and stored; the next sweep does the rest\n", said
    )
    psutil.wait_procs(left, timeout=PATIENCE)
    assert not [each for each in left if each.is_running()]
    finish(start(store))
    assert exported(store) == undisturbed[0]


@pytest.fixture
def cluster():
    """A scheduler and a worker of it, as on other machines."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    port = address.partition(":")[2]
    scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    worker = ["dask_worker", f"tcp://{address}", "--nthreads", "1", "--no-dashboard"]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        for name, *options in (scheduler, worker)
    ]
    yield f"tcp://{address}", running[0]
    for process in reversed(running):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait()


@pytest.fixture
def idle():
    """A scheduler without workers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port]
    environ = {**os.environ, "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [*command, "--no-dashboard"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ
    )
    yield f"tcp://127.0.0.1:{port}"
    process.kill()
    process.wait()


def test_a_cluster_without_workers_is_told_of(start, idle, tmp_path):
    process = start(tmp_path / "store.sqlite", "--cluster", idle)
    said = process.stderr.readline().decode()
    assert said == f"warning: no worker yet, waiting; start one: dask worker {idle}\n"


def test_a_cluster_that_runs_already_is_used_and_its_loss_is_an_error_that_the_next_sweep_heals(
    start, undisturbed, cluster, tmp_path
):
    address, scheduler = cluster
    store = tmp_path / "store.sqlite"
    process = start(store, "--cluster", address)
    wait_until(lambda: process.poll() is not None or (store.exists() and exported(store)), "something is stored")
    scheduler.kill()
    _, said = finish(process, code=2)
    assert said.endswith(
        f"error: the scheduler {address} was lost; what is scored is stored, and the next sweep does the rest\n"
    )
    _, said = finish(start(store, "--cluster", address), code=2)
    assert said == f"error: there is no Dask scheduler at {address!r}: start dask scheduler there\n"
    finish(start(store))
    assert exported(store) == undisturbed[0]


def swept(tdqs_mcp, *arguments, **options):
    done = tdqs_mcp("sweep", *arguments, "--format", "json", **options)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.skipif(not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR")
def test_live_servers_are_captured_and_one_that_cannot_be_is_a_problem(tdqs_mcp, tmp_path):
    live, store = f"stdio:{SERVERS}/mcp-server-time/bin/mcp-server-time", tmp_path / "store.sqlite"
    found = swept(tdqs_mcp, live, "stdio:false", "--store", store)
    assert (found["scored"], found["tools"], found["problemCount"]) == (1, 2, 1)
    assert found["problems"][0].startswith("'stdio:false': ")
    again = swept(tdqs_mcp, live, "--store", store)
    assert (again["unchanged"], again["scored"]) == (1, 0), "what a server says twice is the same record"


def test_a_jury_judges_a_registry_once(tdqs_mcp, loopback, write, tmp_path):
    loopback.answer = lambda body: USUAL[rubric_of(body)]
    write("tdqs.toml", '[judges.mini]\nmodel = "a"\n[judges.qwen]\nmodel = "b"\n')
    write("registry.jsonl", json.dumps({"id": "one", "tools": [tool("get_loan", "Returns one loan by its number.")]}))
    options = {"cwd": tmp_path, "env": {**os.environ, "TDQS_BASE_URL": loopback.base_url, "TDQS_CACHE": "off"}}
    arguments = ("registry.jsonl", "--store", "store.sqlite", "--judge", "jury:mini,qwen")
    found = swept(tdqs_mcp, *arguments, **options)
    assert (found["judge"]["id"], found["judge"]["model"]) == ("jury", "a, b")
    assert (found["scored"], found["ungraded"], found["requests"]) == (1, 0, 4), "a tool and a tool set, by two jurors"
    again = swept(tdqs_mcp, *arguments, **options)
    assert (again["unchanged"], again["requests"]) == (1, 0)
