"""Sweeps: what is read, skipped, carried forward, shared out and stored."""

import gc
import gzip
import json
import pickle
import re
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time, sleep
from types import SimpleNamespace

import anyio
import pyarrow as pa
import pytest
import registry
from definitions import tool
from loopback import USUAL, rubric_of, tool_name
from pyarrow import parquet
from scored import stored_scores
from sqlalchemy import select
from starlette.responses import Response
from test_anthropic_judge import KEY, Fake

from tdqs_mcp.app import sweeping
from tdqs_mcp.app.judging import score_offline
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.cli import registry_commands
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Budget
from tdqs_mcp.judges.prompted import WAITING
from tdqs_mcp.sources.files import read_catalog
from tdqs_mcp.store.database import open_store, read
from tdqs_mcp.store.score_queries import methods
from tdqs_mcp.store.tables import RUNS
from tdqs_mcp.sweep import records, scoring
from tdqs_mcp.sweep.records import SHARD_TOOLS, Record, SweepTally, plan_shards, read_entry, read_records
from tdqs_mcp.sweep.run import FEW, is_local, run_on_dask

LOANS = {
    "id": "org/loans",
    "server": "loans",
    "official": True,
    "tools": [
        tool("list_loans", "Lists the loans of a member, the newest first. Use get_loan for one of them."),
        tool("get_loan", "Returns one loan by its number."),
        tool("delete_loan", "Deletes a loan for good; it cannot be undone."),
    ],
}
CARDS = {"id": "org/cards", "server": "cards", "tools": [tool("list_cards", "Lists all cards.")]}


def lines(*given):
    return b"".join(json.dumps(each).encode() + b"\n" for each in given)


def keys(path):
    return [(read_entry(each).server, read_entry(each).is_official) for each in read_records(path)]


@pytest.fixture
def sweep(store_url, write):
    """Sweeps records; gives back the report and what the store has."""

    def run(content, *, is_batch=False, environ=None, **named):
        settings, path = read_settings(environ or {}, **named), write("swept.jsonl", content)
        request = sweeping.SweepRequest(inputs=(str(path),), store=store_url, settings=settings, is_batch=is_batch)
        report, engine = sweeping.sweep_registry(request, warn=pytest.fail), open_store(store_url)
        try:
            return report, stored_scores(engine, find_method_of(engine, report.judge))
        finally:
            engine.dispose()

    return run


def find_method_of(engine, judge):
    return next(method for method in read(engine, methods) if method.judge == judge)


def has_nothing_to_do(report):
    return (report.scored, report.judged, report.requests, report.problems) == (0, 0, 0, ())


def test_a_registry_is_the_same_in_every_format(write, tmp_path):
    content = lines(LOANS, CARDS)
    table = pa.table(
        {
            "id": ["org/loans", "org/cards"],
            "official": [True, None],
            "catalog": [json.dumps({"tools": each["tools"]}) for each in (LOANS, CARDS)],
        }
    )
    parquet.write_table(table, tmp_path / "registry.parquet")
    expected = [("org/loans", True), ("org/cards", None)]
    assert keys(write("registry.jsonl", content)) == expected
    assert keys(write("registry.jsonl.gz", gzip.compress(content))) == expected
    assert keys(tmp_path / "registry.parquet") == expected
    folder = tmp_path / "captures"
    folder.mkdir()
    for name, each in (("b", {"tools": CARDS["tools"]}), ("a", LOANS)):
        (folder / f"{name}.json").write_text(json.dumps(each))
    assert keys(folder) == [("org/loans", True), ("b", None)], "a capture without a name has its file's"


def test_a_registry_that_holds_no_captures_is_refused(write, tmp_path):
    """A folder without JSON, and Parquet that is none, is empty or lacks the column; one bad row disturbs no other."""
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="no JSON file in the folder"):
        read_records(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_records(write("broken.parquet", b"PAR1"))
    path = tmp_path / "registry.parquet"
    for column, values, said in (("id", ["a"], "has no column `catalog`"), ("catalog", [], "is empty")):
        parquet.write_table(pa.table({column: pa.array(values, pa.string())}), path)
        with pytest.raises(InputError, match=said):
            list(read_records(path))
    parquet.write_table(pa.table({"id": [1, 2], "catalog": [None, json.dumps({"tools": CARDS["tools"]})]}), path)
    problem, record = read_records(path)
    assert problem == f"row 1 of {str(path)!r} has no JSON text in the column `catalog`"
    assert record.name == "2"


def test_a_record_that_cannot_be_read_is_a_problem_with_its_line_and_disturbs_no_other(write, sweep, monkeypatch):
    monkeypatch.setattr(records, "MAX_BYTES", 5_000)
    content = b"\n".join([b"{broken", lines(LOANS).strip(), b"[]", b'"' + b"x" * 12_000 + b'"', lines(CARDS).strip()])
    path = write("registry.jsonl", content)
    (shard,) = plan_shards(read_records(path), {})
    assert [entry.server for entry in shard.entries] == ["org/loans", "org/cards"]
    assert [problem.partition(repr(str(path)))[0] for problem in shard.problems] == [
        "line 1 of ",
        "line 3 of ",
        "line 4 of ",
    ]
    assert "column 2" in shard.problems[0]
    assert "line 1, column" not in shard.problems[0], "there is no second line number"
    (shard,) = plan_shards(read_records(write("no.jsonl", lines({"id": "none"}, {"id": "empty", "tools": []}))), {})
    assert [entry.server for entry in shard.entries] == ["empty"]
    assert shard.problems[0].startswith(f"line 1 of {str(path.with_name('no.jsonl'))!r} holds no tool definitions")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cut.jsonl.gz", gzip.compress(lines(CARDS, LOANS), mtime=0)[:-12], "cannot be read after line"),
        ("plain.jsonl.gz", lines(CARDS), "cannot be read after line 0: Not a gzipped file"),
        ("empty.jsonl", b"", "is empty"),
    ],
)
def test_an_input_that_cannot_be_read_to_its_end_is_an_error_after_the_others_are_stored(
    command, write, tmp_path, name, content, says
):
    good, store = write("good.jsonl", lines(LOANS)), tmp_path / "store.sqlite"
    done = command("sweep", write(name, content), good, "--store", store)
    assert (done.returncode, done.stderr) == (2, b"error: 1 input could not be read to the end\n")
    assert says in " ".join(done.stdout.decode().split())
    assert "Next: tdqs-mcp stats" in done.stdout.decode()
    done = command("sweep", good, "--store", store, "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["unchanged"], json.loads(done.stdout)["unread"]) == (0, 1, 0)


def test_a_sweep_that_reads_no_server_is_an_error_and_says_nothing_of_statistics(command, write, tmp_path):
    csv = b"name,tools\nloans,3\n"
    for unusable in (write("registry.jsonl", csv), write("empty.jsonl", b"\n"), "http://127.0.0.1:9/mcp"):
        done = command("sweep", unusable, "--store", tmp_path / "store.sqlite")
        assert (done.returncode, done.stderr) == (2, b"error: no server could be read\n")
        assert "0 servers" in done.stdout.decode()
        assert "Next" not in done.stdout.decode()
    done = command("sweep", write("registry.csv", csv), "--store", tmp_path / "store.sqlite")
    assert (done.returncode, b"registry.csv' is not valid JSON" in done.stderr) == (2, True)


def test_changed_servers_are_listed_by_how_much_their_scores_changed_and_new_ones_counted(command, write, tmp_path):
    def swept(*records, form="json"):
        done = command(
            "sweep", write("registry.jsonl", lines(*records)), "--store", tmp_path / "store.sqlite", "--format", form
        )
        return json.loads(done.stdout) if form == "json" else done.stdout.decode()

    first = swept(LOANS, CARDS)
    assert (first["new"], first["changed"]) == (2, [])
    worse = {**LOANS, "tools": [tool(each["name"], "x") for each in LOANS["tools"]]}
    same_score = {**CARDS, "version": "2"}
    second = swept(worse, same_score, {**CARDS, "id": "org/more"})
    assert second["new"] == 1
    assert [each["server"] for each in second["changed"]] == ["org/loans", "org/cards"]
    loans, cards = second["changed"]
    assert loans["overallBefore"] > loans["overallAfter"]
    assert cards["overallBefore"] == cards["overallAfter"]
    text = swept(LOANS, same_score, form="text")
    assert f"{loans['overallAfter']} " in text
    assert "org/loans" in text
    assert "1 unchanged · 1 scored with 3 tools (3 judged now) · 0 new, 1 changed" in text
    assert swept(LOANS, same_score)["changed"] == []


def test_a_watched_sweep_says_when_it_begins_and_goes_on_after_a_failure_until_it_is_interrupted(
    command, write, tmp_path, monkeypatch
):
    path, waits = write("registry.jsonl", lines(LOANS)), []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 1:
            path.unlink()
        elif len(waits) == 2:
            write(path.name, lines(LOANS, CARDS))
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr(registry_commands, "time", SimpleNamespace(monotonic=monotonic, sleep=wait))
    done = command("sweep", path, "--store", tmp_path / "store.sqlite", "--watch", 1)
    assert done.returncode == 130
    assert all(each <= 60 for each in waits)
    turn = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d sweep\n"
    assert re.fullmatch(f"{turn}{turn}error: .* cannot be read.*\n{turn}interrupted\n", done.stderr.decode())
    assert [line for line in done.stdout.decode().splitlines() if "scored with" in line] == [
        "0 unchanged · 1 scored with 3 tools (3 judged now) · 1 new, 0 changed",
        "1 unchanged · 1 scored with 1 tool (1 judged now) · 1 new, 0 changed",
    ]
    assert command("sweep", path, "--watch", 0).returncode == 2
    assert "Missing argument 'INPUT...'" in command("sweep").stderr.decode()


def test_one_shard_is_scored_without_other_processes(command, write, tmp_path, monkeypatch):
    for name in ("Client", "LocalCluster"):
        monkeypatch.setattr(f"distributed.{name}", pytest.fail)
    done = command("sweep", write("registry.jsonl", lines(LOANS)), "--store", tmp_path / "store.sqlite")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "1 server\n" in done.stdout.decode()


def test_garbage_is_collected_rarely_while_a_shard_is_scored_and_as_before_afterwards(sweep):
    before, seen = gc.get_threshold(), set()
    rarer = (10**6, *before[1:])

    def note(*_):
        seen.add(gc.get_threshold())

    gc.set_threshold(*rarer)
    gc.callbacks.append(note)
    try:
        sweep(lines({"id": "s", "tools": [tool(f"tool_{place}", "Lists loans.") for place in range(200)]}))
        assert seen >= {sweeping.GC_THRESHOLDS}
        assert gc.get_threshold() == rarer
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*before)


def test_a_server_is_planned_once_and_nothing_of_an_unchanged_record_is_parsed():
    broken = Record(content=b"not JSON", origin="line 1", progress=0.5)
    again = Record(content=lines(LOANS), origin="line 2", progress=0.7)
    other = Record(content=lines({**CARDS, "id": "org/loans"}), origin="line 3", progress=0.9)
    (shard,) = plan_shards([broken, broken, again, again, other], {broken.digest: "a server"})
    assert shard.unchanged == 1
    assert [entry.record.origin for entry in shard.entries] == ["line 2"]
    assert shard.problems == (
        "line 1 is left out: another record is about 'a server' too",
        "line 2 is left out: another record is about 'org/loans' too",
        "line 3 is left out: another record is about 'org/loans' too",
    )


def test_shards_hold_whole_servers_of_a_bounded_number_of_tools():
    def record(number):
        tools = [tool(f"tool_{place}") for place in range(number % 90)]
        return Record(content=lines({"id": str(number), "tools": tools}), origin="", progress=number / 200)

    shards = list(plan_shards(map(record, range(1, 201)), {}))
    sizes = [sum(entry.tools for entry in shard.entries) for shard in shards]
    assert [entry.server for shard in shards for entry in shard.entries] == [str(number) for number in range(1, 201)]
    assert all(SHARD_TOOLS <= size < SHARD_TOOLS + 90 for size in sizes[:-1])
    earlier = {str(number): str(number) for number in range(1, 201)}
    changed = [sum(entry.tools for entry in each.entries) for each in plan_shards(map(record, range(1, 201)), earlier)]
    assert all(size >= 3 * SHARD_TOOLS for size in changed[:-1])


def test_a_server_that_cannot_be_scored_is_a_problem_and_the_others_of_its_shard_are_scored():
    def work(shard):
        if any(entry.server == "org/loans" for entry in shard.entries):
            raise ValueError("odd")
        return SweepTally(servers=len(shard.entries))

    found = []
    shards = plan_shards([Record(content=lines(each), origin="", progress=1) for each in (LOANS, CARDS)], {})
    run_on_dask(shards, work, cluster=None, report=lambda _, tally: found.append(tally), warn=pytest.fail)
    assert found == [SweepTally(servers=1, problems=("'org/loans' could not be scored: ValueError: odd",))]


@pytest.mark.parametrize("calls", [0, 3, 7])
def test_the_budget_of_a_model_holds_over_all_shards(sweep, loopback, monkeypatch, calls):
    monkeypatch.setattr(records, "SHARD_TOOLS", 1)
    servers = [{"id": f"s{number}", "tools": [tool(f"list_{number}"), tool(f"get_{number}")]} for number in range(4)]
    named = {"judge": "openai:m", "base_url": loopback.base_url, "environ": {"TDQS_CACHE": "off"}}
    report, stored = sweep(lines(*servers), budget=Budget(calls=calls), **named)
    assert (report.scored, report.requests, len(stored)) == (4, calls, 4)
    assert report.ungraded == 4 * (2 + 1) - calls, "two tools and a tool set of each server"


def test_scores_in_the_store_are_those_of_score(sweep):
    tally, stored = sweep(lines(LOANS, CARDS))
    assert (tally.scored, tally.tools, tally.judged, tally.problems) == (2, 4, 4, ())
    for record in (LOANS, CARDS):
        score = score_offline(read_catalog(record, name=""))
        (line,) = [line for line in stored if line["server"] == record["id"]]
        assert [each["tdqs"] for each in line["tools"]] == [each.tdqs for each in score.tools]
        assert line["overall"] == score.rollup.overall


def test_an_unchanged_definition_keeps_its_verdict_and_the_server_is_computed_anew(sweep):
    sweep(lines(LOANS, CARDS))
    assert has_nothing_to_do(sweep(lines(LOANS, CARDS))[0])
    renamed = [*LOANS["tools"][:2], tool("remove_loan", "Removes a loan.")]
    tally, stored = sweep(lines({**LOANS, "tools": renamed}, CARDS))
    assert (tally.scored, tally.tools, tally.judged) == (1, 3, 1), "siblings of a renamed tool keep their scores"
    assert [each["name"] for line in stored for each in line["tools"]] == [
        "list_cards",
        "list_loans",
        "get_loan",
        "remove_loan",
    ]
    tally, back = sweep(lines(LOANS, CARDS))
    assert tally.judged == 1
    assert [each["name"] for each in back[1]["tools"]] == ["list_loans", "get_loan", "delete_loan"]


def test_only_what_a_model_did_not_grade_is_asked_again(sweep, loopback):
    named = {"judge": "openai:m", "base_url": loopback.base_url, "environ": {"TDQS_CACHE": "off"}}
    tally, stored = sweep(lines(LOANS), budget=Budget(calls=2), **named)
    assert (tally.judged, tally.ungraded, tally.requests) == (2, 2, 2), "a tool and the tool set are left"
    assert "the budget of 2 calls is used up" in str(stored[0]["ungraded"])
    assert stored[0]["overall"] is None, "below 80 % of the tools"
    tally, stored = sweep(lines(LOANS), **named)
    assert (tally.judged, tally.ungraded, tally.requests) == (1, 0, 2), "the third tool and the tool set"
    assert stored[0]["overall"] is not None
    assert has_nothing_to_do(sweep(lines(LOANS), **named)[0])


def test_questions_about_several_servers_are_under_way_at_once(sweep, loopback, monkeypatch):
    """A shard waits for no other: the first answer comes only when a second server has been asked about."""
    monkeypatch.setattr(records, "SHARD_TOOLS", 1)

    class Patient(Response):
        async def __call__(self, *channel):
            await anyio.to_thread.run_sync(loopback.wait_for, 3)
            await super().__call__(*channel)

    def answer(body):
        content = {"choices": [{"message": {"content": USUAL[rubric_of(body)]}, "finish_reason": "stop"}]}
        return Patient(json.dumps(content), media_type="application/json")

    loopback.answer = answer
    servers = [{"id": f"s{number}", "tools": [tool(f"list_{number}")]} for number in range(2)]
    named = {"judge": "openai:m", "base_url": loopback.base_url, "environ": {"TDQS_CACHE": "off"}}
    assert sweep(lines(*servers), **named)[0].judged == 2, "a server has two questions, and the third is another's"


@pytest.fixture
def vendor():
    api = Fake()
    yield api
    api.close()


def test_a_sweep_submits_a_batch_and_the_first_one_after_its_end_collects_it(sweep, vendor, monkeypatch):
    environ = {"TDQS_CACHE": "off", "ANTHROPIC_API_KEY": KEY}
    monkeypatch.setattr("os.environ", environ)
    named = {"judge": "anthropic", "base_url": vendor.address, "environ": environ, "is_batch": True}
    loans = {**LOANS, "tools": [tool("good"), tool("expired")]}
    tally, stored = sweep(lines(loans), **named)
    assert (tally.ungraded, len(stored[0]["tools"]), tally.requests) == (3, 0, 3)
    assert {each["reason"] for each in stored[0]["ungraded"]} == {WAITING}
    assert sweep(lines(loans), **named)[0].ungraded == 3, "it is under way"
    assert len(vendor.bodies("(batch)")) == 1, "what waits is not submitted again"
    tally, stored = sweep(lines(loans), **named)
    assert [each["name"] for each in stored[0]["tools"]] == ["good"]
    assert (tally.judged, tally.ungraded, tally.problems) == (1, 1, ())
    (again,) = vendor.bodies("(batch)")[1]["requests"]
    assert "expired" in again["params"]["messages"][0]["content"]
    vendor.is_repaired = True
    named["is_batch"] = False
    tally, stored = sweep(lines(loans), **named)
    assert (tally.judged, tally.ungraded, len(stored[0]["tools"])) == (1, 0, 2), "without batches it asks at once"
    assert has_nothing_to_do(sweep(lines(loans), **named)[0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.jsonl"], "'missing.jsonl' cannot be read: No such file or directory"),
        (["{}", "--cluster", "tcp://10.0.0.1:8786"], "other machines cannot write to a SQLite file"),
        (["{}", "--cluster", "foo"], "'foo' is no address of a Dask scheduler: give tcp://HOST:8786"),
        (["{}", "py:package.module:server"], "capture py:package.module:server first, and give that file"),
        (
            ["{}", "--judge", "openai:m", "--cluster", "tcp://127.0.0.1:8786"],
            "leave --cluster out, a model answers here",
        ),
        (["{}", "--batch"], "a batch is one model's: give the anthropic judge"),
    ],
)
def test_a_sweep_that_cannot_run_says_why(command, write, tmp_path, arguments, words):
    path = write("registry.jsonl", lines(CARDS))
    done = command(
        "sweep", *(str(path) if each == "{}" else each for each in arguments), "--store", tmp_path / "s.sqlite"
    )
    assert (done.returncode, words in done.stderr.decode()) == (2, True), done.stderr


def test_without_the_extra_one_process_sweeps_everything_and_a_cluster_names_what_to_install(
    monkeypatch, write, tmp_path, command
):
    """Five shards, each of a server so large that it fills one: others would start processes for them."""
    for name in ("distributed", "dask", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    many = [
        {"server": f"s{server}", "tools": [tool(f"list_{number}", "Lists.") for number in range(SHARD_TOOLS)]}
        for server in range(FEW + 2)
    ]
    store = tmp_path / "s.sqlite"
    done = command("sweep", write("swept.jsonl", lines(*many)), "--store", store, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scored"] == FEW + 2
    assert b"one process does this sweep; for all processors: pip install '.[sweep]'" in done.stderr
    assert command("sweep", tmp_path / "swept.jsonl", "--store", store).stderr == b""
    for words in (["x.parquet"], ["swept.jsonl", "--cluster", "tcp://127.0.0.1:8786"]):
        write("x.parquet", b"PAR1")
        refused = command("sweep", *words, "--store", store, cwd=tmp_path)
        assert (refused.returncode, b"pip install '.[sweep]'" in refused.stderr) == (2, True), refused.stderr


def test_a_wrong_key_is_asked_a_few_times_and_ends_the_sweep(sweep, vendor):
    many = {"server": "many", "tools": [tool(f"unauthorized__{number}", "Lists.") for number in range(50)]}
    environ = {"ANTHROPIC_API_KEY": KEY}
    with pytest.raises(InputError, match=r"the sweep stopped: .* HTTP 401 .*; what is scored is stored"):
        sweep(lines(many), environ=environ, judge="anthropic", base_url=vendor.address)
    assert len(vendor.requests) <= 5


@pytest.mark.parametrize("answered", [0, 30])
def test_an_endpoint_that_only_fails_is_asked_a_few_questions_and_ends_the_sweep(
    sweep, loopback, monkeypatch, answered
):
    """Each question takes nine tries, three for each form of answer: they were 792 for 57 tools."""
    monkeypatch.setattr("tdqs_mcp.judges.endpoint.MAX_BACKOFF", 0.05)
    answer = loopback.answer
    loopback.answer = lambda body: answer(body) if len(loopback.bodies) <= answered else Response(status_code=500)
    servers = [{"server": f"s{n}", "tools": [tool(f"list_{n}_{m}", "Lists.") for m in range(8)]} for n in range(20)]
    with pytest.raises(InputError, match=r"the sweep stopped: .* HTTP 500"):
        sweep(lines(*servers), judge="openai:m", base_url=loopback.base_url)
    assert len(loopback.bodies) - answered <= 9 * (40 if answered else 2 * 4)


@pytest.mark.parametrize("is_folder", [False, True])
def test_workers_of_this_machine_read_records_where_they_lie(write, tmp_path, is_folder):
    padded = b"  " + lines(LOANS).strip() + b"\r\n\n" + lines(CARDS)
    path = tmp_path if is_folder else write("swept.jsonl", padded)
    if is_folder:
        for record in (LOANS, CARDS):
            write(f"{record['server']}.json", json.dumps(record))
    (shard,) = plan_shards(read_records(path), {})
    sent = pickle.loads(pickle.dumps(shard.for_others(is_local=True)))  # noqa: S301  # ours
    assert not any(entry.record.content for entry in sent.entries)
    assert [entry.record.read_again(entry.capture) for entry in sent.entries] == [
        entry.record for entry in shard.entries
    ]
    Path(sent.entries[0].record.place[0]).write_bytes(padded.replace(b"the newest", b"the eldest"))
    with pytest.raises(InputError, match="has changed while it was swept"):
        sent.entries[0].record.read_again(sent.entries[0].capture)


def test_a_compressed_record_travels_with_its_content(write):
    (shard,) = plan_shards(read_records(write("swept.jsonl.gz", gzip.compress(lines(LOANS)))), {})
    assert "document" in vars(shard.entries[0].record)
    sent = pickle.loads(pickle.dumps(shard))  # noqa: S301  # ours
    assert sent == shard == shard.for_others(is_local=True)
    assert "document" not in vars(sent.entries[0].record)


def test_a_worker_of_another_version_scores_nothing(store_url, write, monkeypatch):
    settings, path = read_settings({}), write("swept.jsonl", lines(CARDS))
    request = sweeping.SweepRequest(inputs=(str(path),), store=store_url, settings=settings)
    jobs = []
    monkeypatch.setattr(sweeping, "run_on_dask", lambda shards, work, **_: jobs.append((work, list(shards))))
    sweeping.sweep_registry(request)
    ((work, shards),) = jobs
    assert work(shards[0]).servers == 1
    monkeypatch.setattr(sweeping, "generated_by", lambda: "tdqs-mcp 0.0.9")
    with pytest.raises(InputError, match=r"a worker has tdqs-mcp 0\.0\.9 .*: install the same version"):
        work(shards[0])


def test_a_replaced_sqlite_file_is_another_store(tmp_path, write):
    store, path = tmp_path / "store.sqlite", write("swept.jsonl", lines(LOANS))
    request = sweeping.SweepRequest(inputs=(str(path),), store=str(store), settings=read_settings({}))
    for _ in range(2):
        assert sweeping.sweep_registry(request).scored == 1
        engine = open_store(str(store))
        assert len(stored_scores(engine)) == 1
        engine.dispose()
        for file in tmp_path.glob("store.sqlite*"):
            file.unlink()


MANY = {"server": "many", "tools": [tool(f"list_{number}", "Lists.") for number in range(12)]}


def test_an_answer_that_cannot_be_used_is_paid_again_only_after_a_while(sweep, loopback, monkeypatch):
    loopback.answer = lambda body: "no JSON" if tool_name(body) == "list_3" else USUAL[rubric_of(body)]
    named = {"judge": "openai:m", "base_url": loopback.base_url}
    now = scoring.time.time()
    asked = []
    for hours in (0, 0.5, 1.5, 2, 4, 4.5):
        loopback.bodies.clear()
        monkeypatch.setattr(scoring.time, "time", lambda hours=hours: now + 3600 * hours)
        report, _ = sweep(lines(MANY), **named)
        assert report.ungraded == 1
        asked.append(len(loopback.bodies))
    assert asked == [15, 0, 3, 0, 3, 0], "after one hour, then after two; each time with two corrections"


def test_a_limit_of_requests_stops_no_sweep(sweep, loopback, monkeypatch):
    monkeypatch.setattr("tdqs_mcp.judges.endpoint.MAX_BACKOFF", 0.01)
    answer = loopback.answer
    loopback.answer = lambda body: Response(status_code=429) if len(loopback.bodies) > 3 else answer(body)
    named = {"judge": "openai:m", "base_url": loopback.base_url}
    report, _ = sweep(lines(MANY), **named)
    assert report.ungraded == 13 - 3
    loopback.answer = answer
    assert sweep(lines(MANY), **named)[0].ungraded == 0


def test_the_store_keeps_what_a_sweep_cost(sweep, loopback, store_url):
    loopback.usage = {"prompt_tokens": 10, "completion_tokens": 10, "cost": 0.25}
    sweep(lines(MANY), judge="openai:m", base_url=loopback.base_url, budget=Budget(cost=10**10))
    engine = open_store(store_url)
    with engine.connect() as connection:
        assert connection.execute(select(RUNS.c.requests, RUNS.c.cost)).one() == (13, 13 * 250_000_000)
    engine.dispose()


def test_a_scheduler_with_tls_and_no_certificates_is_a_sentence(command, write, tmp_path):
    path = write("registry.jsonl", lines(CARDS))
    done = command("sweep", path, "--store", tmp_path / "s.sqlite", "--cluster", "tls://127.0.0.1:8786")
    said = "error: the scheduler 'tls://127.0.0.1:8786' needs certificates: set DASK_DISTRIBUTED__COMM__TLS__CA_FILE"
    assert (done.returncode, done.stderr.decode().startswith(said)) == (2, True), done.stderr


def test_a_server_json_is_no_tool():
    record = Record(
        content=b'{"name": "io.example/boats", "description": "Boats.", "packages": []}', origin="line 1", progress=1
    )
    with pytest.raises(InputError, match=r"line 1 is a server\.json"):
        read_entry(record)


@pytest.mark.process
def test_the_share_of_a_sweep_counts_what_is_done_and_not_what_is_read(write):
    shards = plan_shards(
        [
            Record(content=json.dumps({**LOANS, "id": str(n)}).encode() * 1, origin="", progress=n / 4)
            for n in range(1, 5)
        ],
        {},
    )
    shares = []
    many = [replace(shard, progress=place / 10) for place, shard in enumerate([*shards] * 9, start=1)]
    run_on_dask(
        many, first_one_waits, cluster=None, report=lambda shard, _: shares.append(shard.progress), warn=pytest.fail
    )
    assert shares == sorted(shares)
    assert shares[0] < 0.9


def first_one_waits(shard):
    if shard.progress == 0.1:
        sleep(1)
    return SweepTally(servers=1)


def test_which_schedulers_are_on_this_machine():
    local = [None, "tcp://127.0.0.1:8786", "tcp://localhost:1", "127.0.0.1:8786"]
    assert [is_local(each) for each in local] == [True] * 4
    assert not any(is_local(each) for each in ("tcp://10.0.0.1:1", "tls://cluster:8786", "cluster:8786"))
    for each in ("foo", "tcp://foo", "tcp://foo:x"):
        with pytest.raises(InputError, match="is no address"):
            is_local(each)


@pytest.mark.bench
def test_an_unchanged_registry_costs_a_twentieth_of_the_first_sweep(sweep, tmp_path, check_ratio, monkeypatch):
    monkeypatch.setattr(records, "SHARD_TOOLS", 10_000)  # a single shard, so in this process
    monkeypatch.setattr(records, "SHARD_BYTES", 2**30)
    bases = [
        {"server": word, "tools": [tool(f"{word}_{n}", f"Lists {n} {word}s. " * 5) for n in range(20)]}
        for word in ("fee", "loan")
    ]
    registry.write(tmp_path / "r.gz", registry.servers(bases, 3_000))
    content, spent = gzip.decompress((tmp_path / "r.gz").read_bytes()), []
    for _ in range(2):
        started = process_time()
        sweep(content)
        spent.append(process_time() - started)
    check_ratio(spent[1] / spent[0], at_most=0.05)


def test_the_generator_of_registries_makes_the_same_bytes(tmp_path, catalog_files):
    catalogs = registry.read_catalogs(Path(catalog_files[0]).parent)
    made = [tmp_path / name for name in ("a.gz", "b.gz")]
    for path in made:
        registry.write(path, registry.servers(catalogs, 2_500))
    assert made[0].read_bytes() == made[1].read_bytes()
    assert sum(len(json.loads(line)["tools"]) for line in gzip.decompress(made[0].read_bytes()).splitlines()) == 2_500
