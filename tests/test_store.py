"""What a store keeps, in SQLite and in PostgreSQL: whole servers, exact catalogs, and nothing secret."""

import json
import random
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from definitions import tool
from scored import METHOD, scored_capture, stored_scores
from sqlalchemy import event, func, inspect, select, text
from sqlalchemy.exc import OperationalError

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import CacheKey
from tdqs_mcp.results.verdicts import EstimateCheck, Judgement, Ungraded, Verdict
from tdqs_mcp.store import database
from tdqs_mcp.store.captures import (
    KnownVerdicts,
    complete_captures,
    finish_run,
    known_verdicts,
    read_capture,
    start_run,
    write,
)
from tdqs_mcp.store.database import default_url, explained, open_store, read_url, transact
from tdqs_mcp.store.judgements import Judgements
from tdqs_mcp.store.tables import DEFINITIONS, FLAGS, METADATA, RUNS, SERVERS, VERSIONS

TOOLS = [
    tool(f"list_{word}", f"Lists the {word} of an account, the newest first.") for word in ("loans", "cards", "fees")
]


def exported(engine):
    return [json.dumps(line) for line in stored_scores(engine)]


def counts(engine):
    tables = [each for each in METADATA.sorted_tables if each is not RUNS]
    with engine.connect() as connection:
        return {each.name: connection.scalar(select(func.count()).select_from(each)) for each in tables}


def catalog_of(engine, each):
    with engine.connect() as connection:
        return read_capture(connection, each.capture)


ODD_TOOLS = {
    "as MCP has it": TOOLS,
    "more fields": [tool("a") | {"_meta": {"x": [1]}}, {"icons": [], **tool("b"), "execution": None}],
    "keys in another order": [dict(reversed(tool("a", "Lists.").items()))],
    "numbers": [tool("a", inputSchema={"type": "object", "default": [1, 1.0, -0.0, 10**30]})],
    "texts that no database holds": [tool("a\0b", "lone \ud800 and NUL \0"), tool("ä\U0001f600", "語")],
    "no tools at all": [3, "x", None, {}, {"name": 5}, tool("a")],
    "one name": [tool("a", "Lists."), tool("a", "Lists."), tool("a", "Gets.")],
    "OpenAI's format": [{"type": "function", "function": {"name": "a", "description": "Lists.", "parameters": {}}}],
    "a deep one": [tool("a"), json.loads('{"name": "b", "inputSchema": ' + '{"x":' * 900 + "1" + "}" * 901)],
}


@pytest.mark.parametrize("tools", ODD_TOOLS.values(), ids=ODD_TOOLS)
def test_a_catalog_comes_back_as_it_was(store, tools):
    content = {"tools": tools, "serverInfo": {"name": "n", "version": "1"}, "instructions": "Do."}
    each = scored_capture("s", content)
    write(store, METHOD, [each])
    back, given = catalog_of(store, each), each.measured.catalog
    assert back == given
    assert repr([entry.raw for entry in back.tools]) == repr([entry.raw for entry in given.tools])


def test_resources_prompts_and_problems_come_back_too(store):
    whole = {
        "tools": TOOLS,
        "resources": [{"uri": "a:b", "name": "r", "size": 3}, 7],
        "resourceTemplates": [{"uriTemplate": "a:{b}"}],
        "prompts": [],
        "problems": ["The server is slow."],
        "incomplete": "A page is missing.",
        "caching": {"tools/list": {"ttlMs": 5}},
        "capabilities": {"tools": {}},
    }
    each = scored_capture("s", whole)
    write(store, METHOD, [each])
    assert catalog_of(store, each) == each.measured.catalog
    assert each.measured.catalog.resources[2].is_template


def test_equal_definitions_are_stored_once_and_each_server_keeps_its_own_key_order(store):
    one = tool("a", "Lists.", inputSchema={"type": "object", "properties": {"x": {"type": "string"}, "y": {}}})
    other = one | {"inputSchema": {"properties": {"y": {}, "x": {"type": "string"}}, "type": "object"}}
    servers = [scored_capture("one", [one]), scored_capture("other", [other, one])]
    for each in servers:
        write(store, METHOD, [each])
    assert counts(store)["definitions"] == 1
    for each in servers:
        assert repr(catalog_of(store, each).tools) == repr(each.measured.catalog.tools)


def test_writing_again_changes_nothing(store):
    servers = [scored_capture(f"s{number}", TOOLS[number:]) for number in range(3)]
    write(store, METHOD, servers)
    before = exported(store), counts(store)
    write(store, METHOD, [*reversed(servers), servers[0]])
    assert (exported(store), counts(store)) == before
    assert complete_captures(store, METHOD) == {each.capture: each.server for each in servers}


def test_what_was_judged_is_known_by_its_hash(store):
    each = scored_capture("s", TOOLS)
    write(store, METHOD, [each])
    known = known_verdicts(store, METHOD, ["s", "unknown"])
    assert known["unknown"] == KnownVerdicts()
    hashes = {score.index: score.input_hash for score in each.score.tools}
    assert known["s"].tools == {hashes[index]: verdict for index, verdict in each.verdicts.items()}
    assert (known["s"].coherence, known["s"].shadowing) == (each.coherence, None)


def test_a_server_that_goes_back_points_to_its_earlier_capture(store):
    first, second = scored_capture("s", TOOLS), scored_capture("s", TOOLS[:1])
    for each in (first, second, first):
        write(store, METHOD, [each])
    assert complete_captures(store, METHOD) == {first.capture: "s"}
    assert len(known_verdicts(store, METHOD, ["s"])["s"].tools) == 3
    assert [len(json.loads(line)["tools"]) for line in exported(store)] == [3]
    assert counts(store)["captures"] == 2


def test_verdicts_on_an_earlier_capture_are_known_where_the_newest_has_none_by_this_method(store):
    earlier, other = scored_capture("s", TOOLS), type(METHOD)(judge=METHOD.judge, spec_version="1.0")
    write(store, METHOD, [earlier])
    write(store, other, [scored_capture("s", TOOLS[:1])])
    assert len(known_verdicts(store, METHOD, ["s"])["s"].tools) == 3
    assert complete_captures(store, METHOD) == {}


def test_what_is_scored_anew_replaces_what_was_there(store):
    held = EstimateCheck(score=45, estimate=20, bound=10)
    failed = {0: Ungraded(judge="m", reason="no\0 answer"), 1: Ungraded(judge="m", reason="held", held=held)}
    write(store, METHOD, [scored_capture("s", TOOLS, outcomes=failed, is_complete=False)])
    assert complete_captures(store, METHOD) == {}
    (line,) = stored_scores(store)
    assert [each["position"] for each in line["tools"]] == [2]
    assert [(each["name"], each["reason"], each["held_score"], each["held_estimate"]) for each in line["ungraded"]] == [
        ("list_loans", "no\ufffd answer", None, None),
        ("list_cards", "held", 45, 20),
    ]
    better = Verdict(judgements={key: Judgement(score=5, justification="\ud800") for key in METHODS_KEYS}, summary="")
    again = scored_capture("s", TOOLS, outcomes={0: better})
    write(store, METHOD, [again])
    (line,) = stored_scores(store)
    assert (line["tools"][0]["position"], line["tools"][0]["tdqs"]) == (0, 50)
    assert (len(line["tools"]), line["ungraded"]) == (3, [])
    assert known_verdicts(store, METHOD, ["s"])["s"].tools[line["tools"][0]["input_hash"]].verdict == better


METHODS_KEYS = list(scored_capture("s", TOOLS).score.tools[0].scores)


def test_what_is_stored_is_what_was_scored(store):
    names = ["b", "B", "a-b", "ab", "ä", "Z", "\U0001f600", "\uffee"]
    servers = {name: scored_capture(name, TOOLS, is_official=name == "b") for name in names}
    write(store, METHOD, list(servers.values()))
    lines = stored_scores(store)
    assert [line["server"] for line in lines] == sorted(names, key=str.encode)
    for line in lines:
        score = servers[line["server"]].score
        assert line["overall"] == score.rollup.overall
        assert (line["completeness"], line["scored_tool_count"]) == (score.completeness, 3)
        assert line["is_official"] is (line["server"] == "b")
        for found, made in zip(line["tools"], score.tools, strict=True):
            assert found["tdqs"] == made.tdqs
            assert list(map(int, found["points"])) == list(made.scores.values())
            assert [flag for flag, bit in FLAGS.items() if found["flags"] & bit] == list(made.flags)


@pytest.mark.parametrize(
    "source",
    [
        "https://user:hunter2@host.example/mcp?token=hunter2#hunter2",
        " https://host.example/mcp?key=hunter2",
        "stdio:npx server --api-key hunter2",
        "npx server --token=hunter2",
        "wss://user:hunter2@host.example",
    ],
)
def test_no_credential_of_a_source_is_stored(store, store_url, source):
    each = scored_capture("s", {"tools": TOOLS, "source": source})
    write(store, METHOD, [each])
    stored = catalog_of(store, each).source
    with store.connect() as connection:
        assert connection.scalar(select(SERVERS.c.source)) == stored
    assert "hunter2" not in str(stored)
    assert "hunter2" not in "".join(exported(store))
    if store.dialect.name == "sqlite":
        folder = Path(store_url).parent
        assert b"hunter2" not in b"".join(file.read_bytes() for file in folder.glob("store.sqlite*"))


def test_definitions_are_found_by_their_words(store):
    write(store, METHOD, [scored_capture("s", TOOLS)])
    query = {
        "sqlite": "SELECT d.name FROM definition_words JOIN definitions d ON d.number = definition_words.rowid "
        "WHERE definition_words MATCH 'loan'",
        "postgresql": "SELECT name FROM definitions WHERE search @@ plainto_tsquery('simple', 'loan')",
    }
    with store.connect() as connection:
        assert connection.scalars(text(query[store.dialect.name])).all() == ["list_loans"]


def test_a_text_that_is_too_long_for_the_index_is_cut_there_alone(store):
    long = scored_capture("s", [tool("a", " ".join(f"word{number}" for number in range(200_000)))])
    write(store, METHOD, [long])
    assert catalog_of(store, long) == long.measured.catalog
    with store.connect() as connection:
        assert 20_000 <= len(connection.scalar(select(DEFINITIONS.c.words))) < 30_000  # word1 is two terms


def test_a_run_has_a_number_and_an_end(store):
    run = start_run(store, METHOD)
    finish_run(store, run, servers=2, changed=1, tools=9, problems="[]")
    with store.connect() as connection:
        row = connection.execute(select(RUNS).where(RUNS.c.run == run)).one()
    assert (row.servers, row.changed, row.tools, row.problems) == (2, 1, 9, "[]")
    assert row.started_at <= row.finished_at


def test_a_store_of_a_newer_version_is_refused(store, store_url):
    with store.begin() as connection:
        connection.execute(VERSIONS.update().values(version_num="9999"))
    with pytest.raises(InputError, match=r"the store has version 9999, but this tdqs-mcp knows .*: upgrade it"):
        open_store(store_url)


def at_once(number, use):
    errors = []

    def run(place):
        try:
            use(place)
        except Exception as error:  # noqa: BLE001  # shown by the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_several_may_open_a_new_store_at_once(store_url):
    at_once(6, lambda _: open_store(store_url).dispose())
    engine = open_store(store_url)
    assert {*inspect(engine).get_table_names()} >= {*METADATA.tables}
    engine.dispose()


def test_two_sweeps_at_once_lose_and_double_nothing(store_url, tmp_path):
    servers = [scored_capture(f"s{number:02}", [*TOOLS, tool(f"t{number}")]) for number in range(40)]

    def sweep(place):
        engine = open_store(store_url)
        order = random.Random(place)
        for _ in range(4):
            some = order.sample(servers, 40)
            for start in range(0, 40, 10):
                write(engine, METHOD, some[start : start + 10])
        engine.dispose()

    at_once(3, sweep)
    alone, shared = open_store(str(tmp_path / "alone.sqlite")), open_store(store_url)
    write(alone, METHOD, servers)
    assert (exported(shared), counts(shared)) == (exported(alone), counts(alone))
    for engine in (alone, shared):
        engine.dispose()


WRITER = """
import sys
from itertools import count
from definitions import tool
from scored import METHOD, scored_capture, stored_scores
from tdqs_mcp.store.captures import write
from tdqs_mcp.store.database import open_store

engine = open_store(sys.argv[1])
for version in count(int(sys.argv[2]) * 1000):
    tools = [tool(f"t{number}", f"Lists things of version {version}.") for number in range(version % 4 + 1, 6)]
    write(engine, METHOD, [scored_capture(f"s{number}", tools) for number in range(12)])
    print(version, flush=True)
"""


@pytest.mark.process
def test_a_writer_killed_at_any_moment_leaves_whole_servers(store, store_url):
    seed = random.Random(17)
    for attempt in range(4):
        arguments = [sys.executable, "-c", WRITER, store_url, str(attempt)]
        with subprocess.Popen(arguments, cwd=Path(__file__).parent, stdout=subprocess.PIPE) as process:
            for _ in range(seed.randrange(1, 6)):
                said = process.stdout.readline()
            threading.Event().wait(seed.random() / 10)
            process.kill()
        lines = stored_scores(store)
        assert len(lines) == 12
        tools = [[each["input_hash"] for each in line["tools"]] for line in lines]
        assert all(each == tools[0] for each in tools), "all servers are of one version"
        assert all(line["scored_tool_count"] == len(tools[0]) for line in lines)
        with store.connect() as connection:
            captures = connection.scalars(select(SERVERS.c.capture)).all()
            catalogs = [read_capture(connection, capture) for capture in captures]
        written = {int(each.description.rpartition(" ")[2][:-1]) for catalog in catalogs for each in catalog.tools}
        assert len(written) == 1
        assert min(written) >= int(said)


def test_a_postgresql_that_restarts_costs_time_alone(postgres):
    engine = open_store(postgres.create_schema())
    servers = [scored_capture(f"s{number:02}", [*TOOLS, tool(f"t{number}")]) for number in range(30)]
    write(engine, METHOD, servers)
    before, begun = exported(engine), threading.Event()

    def sweep(_):
        for round_number in range(16):
            write(engine, METHOD, servers)
            if round_number == 2:
                begun.set()
        assert len(known_verdicts(engine, METHOD, ["s01"])["s01"].tools) == 4

    thread = threading.Thread(target=at_once, args=(1, sweep))
    thread.start()
    assert begun.wait(60)
    for _ in range(2):
        postgres.restart()
    thread.join()
    assert exported(engine) == before
    engine.dispose()


def small_disk(connection, _):
    connection.execute("PRAGMA max_page_count=60")


def read_only(connection, _):
    connection.execute("PRAGMA query_only=1")


@pytest.mark.parametrize(
    ("spoil", "advice"),
    [(small_disk, "make room on its disk"), (read_only, "make the folder and the file writable")],
)
def test_a_store_that_cannot_be_written_says_what_to_change_and_keeps_what_it_has(tmp_path, spoil, advice):
    engine = open_store(str(tmp_path / "store.sqlite"))
    write(engine, METHOD, [scored_capture("s", TOOLS)])
    before = exported(engine)
    engine.dispose()
    event.listen(engine, "connect", spoil)
    many = [scored_capture(f"s{number}", [tool(f"t{number}", "Lists. " * 500)]) for number in range(20)]
    with pytest.raises(InputError, match=rf"the store '.*store.sqlite' cannot be used \(.*\); {advice}"):
        write(engine, METHOD, many)
    assert exported(engine) == before
    engine.dispose()


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("mysql://u:hunter2@h/d", "a store cannot be in 'mysql'"),
        ("postgresql://u:hunter2@h:port/d", "the store's URL cannot be read"),
        ("sqlite://", "the store needs a file"),
        ("postgresql://u:hunter2@127.0.0.1:1/d", r"cannot be used .*; start the database, or correct the URL"),
        ("{folder}/file/store.sqlite", "the store's folder .* cannot be made"),
        ("{folder}/file", "the file is no SQLite database: name another"),
    ],
)
def test_a_store_that_cannot_be_opened_says_why_without_its_password(tmp_path, named, says):
    (tmp_path / "file").write_text("no database at all" * 100, encoding="utf-8")
    with pytest.raises(InputError, match=says) as raised:
        open_store(named.replace("{folder}", str(tmp_path)))
    assert "hunter2" not in str(raised.value)


def test_a_wrong_password_is_no_server_that_may_come_up():
    failed = psycopg.OperationalError('connection failed: FATAL:  password authentication failed for user "u"')
    url = read_url("postgresql://u:hunter2@h/d?sslmode=require&password=hunter2")
    said = str(explained(url, OperationalError(None, None, failed)))
    assert said.startswith("the store 'postgresql://u@h/d?sslmode=require' cannot be used (")
    assert said.endswith("; correct user and password, which PGPASSWORD or ~/.pgpass gives")


def test_the_file_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "browser.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE servers (name TEXT)")
    with pytest.raises(InputError, match=r"browser\.sqlite' is the file of another program: name another"):
        open_store(str(path))
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("servers",)]


def test_a_missing_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"pip install '\.\[postgres\]'"):
        open_store("postgresql://h/d")


def test_what_no_repetition_heals_is_not_repeated(store):
    asked = []

    def ask(connection):
        asked.append(connection)
        connection.execute(text("SELECT :value"), {"value": object()})

    with pytest.raises(InputError, match="cannot be used"):
        transact(store, ask)
    assert len(asked) == 1


def test_tables_that_cannot_all_be_made_leave_nothing(store_url):
    before = open_store(store_url)
    with before.begin() as connection:
        METADATA.drop_all(connection, [each for each in METADATA.sorted_tables if each.name != "answers"])
    names = inspect(before).get_table_names()
    with pytest.raises(InputError, match=r"already exists|file of another program"):
        open_store(store_url)
    assert inspect(before).get_table_names() == names
    before.dispose()


def test_a_store_that_stays_locked_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    engine = open_store(str(tmp_path / "store.sqlite"))
    with engine.connect() as holder:
        holder.exec_driver_sql("ROLLBACK")
        holder.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="another process holds it"):
            transact(engine, lambda connection: None)
        holder.exec_driver_sql("ROLLBACK")
        holder.exec_driver_sql("BEGIN")
    engine.dispose()


def test_by_default_the_store_lies_in_the_platforms_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_url({}) == str(tmp_path / "tdqs-mcp" / "store.sqlite")
    assert default_url({"TDQS_STORE": "postgresql://h/d"}) == "postgresql://h/d"


def test_answers_of_models_are_kept_in_the_store_of_a_sweep(store_url):
    said = []
    texts = ("a", "b", "c", "tdqs", "openai", "m", "")
    key = CacheKey(**dict(zip(CacheKey.__slots__, (*texts, 1), strict=True)))
    for answer in ("first", "second", "NUL \0", "odd \ud800"):
        Judgements(store_url, warn=said.append).put(key, answer)
    kept = Judgements(store_url, warn=said.append)
    assert (kept.get(key), said) == ("second", [])
