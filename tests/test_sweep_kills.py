"""Sweeps as processes: live servers, a jury, --watch; kills, a lost scheduler, a database that restarts, Ctrl-C.

TDQS_KILLS says how many sweeps are killed at other moments beside the two: none unless it is set.
"""

import gzip
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from time import monotonic, sleep

import psutil
import pytest
import registry
from definitions import tool
from distributed import Client
from loopback import USUAL, rubric_of
from processes import SERVERS, wait_until
from scored import stored_scores

from tdqs_mcp.app import sweeping
from tdqs_mcp.store.database import open_store

pytestmark = pytest.mark.process

TOOLS = 800

PATIENCE = 100
KILLS = int(os.environ.get("TDQS_KILLS", "0"))
WORDS = "loan card fee account branch member statement transfer limit holder region rate report".split()


def exported(url):
    engine = open_store(str(url))
    try:
        return [json.dumps(line) for line in stored_scores(engine)]
    finally:
        engine.dispose()


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """A registry of 800 tools in ten shards: fewer than nine start no workers. Notes that nobody scores fill the shards."""
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
    servers = ({**server, "notes": "x" * 28_000 * len(server["tools"])} for server in registry.servers(bases, TOOLS))
    registry.write(path, servers)
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
    """The processes that score; one that ends meanwhile does not."""
    children = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                children.append(child)
    return children


def finish(process, *, code=0):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, err.decode()
    return out.decode(), err.decode()


MOMENTS = [
    (0, "sqlite"),
    (1, "postgresql"),
    *((seed, ("postgresql", "sqlite")[seed // 2 % 2]) for seed in range(2, 2 + KILLS)),
]
"""Seeds of random moments, and where the store is."""


@pytest.mark.parametrize(("seed", "store_url"), MOMENTS, indirect=["store_url"])
def test_after_a_kill_the_next_sweep_makes_the_store_what_it_would_have_been(seed, start, undisturbed, store_url):
    """A worker is killed at even seeds, the whole sweep at odd ones."""
    (lines, seconds), chance = undisturbed, random.Random(seed)
    process = start(store_url)
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
    finish(start(store_url))
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


def test_two_sweeps_at_once_pay_a_model_once(start, loopback, write, store_url, monkeypatch):
    loopback.answer = lambda body: sleep(0.02) or USUAL[rubric_of(body)]
    monkeypatch.setenv("TDQS_CONCURRENCY", "4")
    tools = [tool(f"list_{number}", "Lists.") for number in range(12)]
    path = write("many.jsonl", json.dumps({"server": "many", "tools": tools}))
    options = ("--judge", "openai:m", "--base-url", loopback.base_url)
    for process in [start(store_url, *options, source=path) for _ in range(2)]:
        finish(process)
    assert len(loopback.bodies) == 13


@pytest.mark.parametrize("is_small", [False, True])
def test_killed_sweeps_leave_no_files_behind_the_next_one(start, tmp_path, monkeypatch, write, is_small):
    """A small one starts no processes itself."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    process = start(tmp_path / "store.sqlite")
    wait_until(lambda: workers(process), "it has workers", PATIENCE)
    left = workers(process)
    process.kill()
    psutil.wait_procs(left, timeout=PATIENCE)
    few = write("few.jsonl", json.dumps({"server": "loans", "tools": [tool("list_loans", "Lists loans.")]}))
    _, errors = finish(start(tmp_path / "store.sqlite", **({"source": few} if is_small else {})))
    assert "distributed" not in errors
    assert not [path for path in folder.rglob("*") if path.suffix != ".lock" and path != folder / "dask-scratch-space"]


def test_a_restart_of_the_database_costs_nothing(start, undisturbed, postgres):
    store = postgres.create_schema()
    process = start(store)
    wait_until(lambda: exported(store), "something is stored", PATIENCE)
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
    wait_until(lambda: store.exists() and exported(store), "something is stored", PATIENCE)
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
def dask():
    """Starts a program of Dask's, as on another machine."""
    running = []

    def start(name, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options, "--no-dashboard"]
        environ = {**os.environ, "PYTHONWARNINGS": "ignore"}
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ))
        return running[-1]

    yield start
    for process in reversed(running):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(dask):
    """The address of a scheduler without workers, and its process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    return f"tcp://127.0.0.1:{port}", dask("scheduler", "--host", "127.0.0.1", "--port", port)


def test_a_cluster_without_workers_is_told_of(start, scheduler, tmp_path):
    address, _ = scheduler
    process = start(tmp_path / "store.sqlite", "--cluster", address)
    said = process.stderr.readline().decode()
    assert said == f"warning: no worker yet, waiting; start one: dask worker {address}\n"


def test_a_cluster_that_runs_already_is_used_and_its_loss_is_an_error_that_the_next_sweep_heals(
    start, undisturbed, scheduler, dask, tmp_path
):
    address, process_of_scheduler = scheduler
    dask("worker", address, "--nthreads", "1")
    store = tmp_path / "store.sqlite"
    process = start(store, "--cluster", address)
    wait_until(
        lambda: process.poll() is not None or (store.exists() and exported(store)), "something is stored", PATIENCE
    )
    process_of_scheduler.kill()
    _, said = finish(process, code=2)
    assert said.endswith(
        f"error: the scheduler {address} was lost; what is scored is stored, and the next sweep does the rest\n"
    )
    _, said = finish(start(store, "--cluster", address), code=2)
    assert said == f"error: there is no Dask scheduler at {address!r}: start dask scheduler there\n"
    finish(start(store))
    assert exported(store) == undisturbed[0]


def test_a_scheduler_file_and_a_client_name_the_cluster_too(
    start, undisturbed, scheduler, dask, records, postgres, tmp_path
):
    address, _ = scheduler
    dask("worker", address, "--nthreads", "1")
    file, stores = tmp_path / "scheduler.json", [postgres.create_schema() for _ in range(2)]
    file.write_text(json.dumps({"type": "Scheduler", "address": address}))
    finish(start(stores[0], "--cluster", str(file)))
    with Client(address, timeout=PATIENCE) as client:
        sweeping.sweep_registry(sweeping.SweepRequest(inputs=(str(records),), store=stores[1], cluster=client))
        assert client.status == "running", "it is the caller's"
    assert [exported(store) for store in stores] == [undisturbed[0]] * 2
    file.write_text("{}")
    _, said = finish(start(stores[0], "--cluster", str(file)), code=2)
    assert "is no scheduler file" in said


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


def test_a_jury_judges_a_registry_once(tdqs_mcp, loopback, write, tmp_path, configure):
    loopback.answer = lambda body: USUAL[rubric_of(body)]
    configure('[judges.mini]\nmodel = "a"\n[judges.qwen]\nmodel = "b"\n')
    write("registry.jsonl", json.dumps({"id": "one", "tools": [tool("get_loan", "Returns one loan by its number.")]}))
    options = {"cwd": tmp_path, "env": {**os.environ, "TDQS_BASE_URL": loopback.base_url, "TDQS_CACHE": "off"}}
    arguments = ("registry.jsonl", "--store", "store.sqlite", "--judge", "jury:mini,qwen")
    found = swept(tdqs_mcp, *arguments, **options)
    assert (found["judge"]["id"], found["judge"]["model"]) == ("jury", "a, b")
    assert (found["scored"], found["ungraded"], found["requests"]) == (1, 0, 4), "a tool and a tool set, by two jurors"
    again = swept(tdqs_mcp, *arguments, **options)
    assert (again["unchanged"], again["requests"]) == (1, 0)
