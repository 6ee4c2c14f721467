"""What `stats` says of a store, in SQLite and in PostgreSQL: held to plain Python, and to hostile names and queries."""

import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from definitions import tool
from schemas import VALIDATORS
from scored import METHOD, scored_capture
from sqlalchemy import event

from tdqs_mcp.judges.offline import versions
from tdqs_mcp.report.json_values import document
from tdqs_mcp.results.verdicts import EstimateCheck, JudgeStamp, Ungraded
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import captured_percentiles
from tdqs_mcp.store.captures import finish_run, start_run
from tdqs_mcp.store.captures import write as store_captures
from tdqs_mcp.store.database import open_store, public_url
from tdqs_mcp.store.score_queries import statistics
from tdqs_mcp.store.server_queries import search_tools
from tdqs_mcp.store.tables import METADATA
from tdqs_mcp.sync import score

KEYS = load("tdqs").keys
GOOD = "Lists the loans of one account, newest first, at most 100. Use get_loan for one loan; it never changes data."
HOSTILE = "<script>alert(1)</script>\x1b[31m|`x`\u202e"


@pytest.fixture
def stats(store_url, command):
    """`stats` on a store with these captures; several lists are several sweeps."""

    def run(*args, swept=(), ending=0):
        engine = open_store(store_url)
        for captures in swept:
            start_run(engine, METHOD)
            store_captures(engine, METHOD, captures)
        engine.dispose()
        done = command("stats", "--store", store_url, *args)
        assert done.returncode == ending, done.stderr
        return (done.stderr if ending else done.stdout).decode()

    return run


def servers(*names, description=GOOD):
    return [scored_capture(name, {"tools": [tool("list_loans", description), tool("get_loan")]}) for name in names]


def rounded(value, digits=2):
    """Half up, as the specification rounds."""
    return int(value * 10**digits + Fraction(1, 2)) / 10**digits


def mean(values):
    return rounded(Fraction(sum(values), len(values)))


def share(count, total):
    return {"count": count, "share": rounded(Fraction(100 * count, total))}


def distribution(tenths):
    ordered = sorted(tenths)
    quartiles = [ordered[-(-percent * len(ordered) // 100) - 1] / 10 for percent in (25, 50, 75)]
    return {"count": len(ordered), "mean": mean([Fraction(each, 10) for each in ordered])} | dict(
        zip(("p25", "median", "p75"), quartiles, strict=True)
    )


def tiers(tenths):
    found = Counter("A" if each >= 35 else "B" if each >= 30 else "C" if each >= 20 else "D" for each in tenths)
    return {tier: share(found[tier], len(tenths)) for tier in "ABCDF"}


def calculated(scores):
    """The published document's main parts, tool by tool."""
    tools = [each for one in scores for each in one.tools]
    tdqs = [each.tdqs for each in tools]
    gaps = [Fraction(sum(t.tdqs for t in one.tools), len(one.tools)) - one.rollup.min_tdqs for one in scores]
    return {
        "tdqs": distribution(tdqs),
        "tiers": tiers(tdqs),
        "passing": share(sum(each >= 30 for each in tdqs), len(tdqs)),
        "dimensions": {
            key: {
                "mean": mean([each.scores[key] for each in tools]),
                "smells": share(sum(each.scores[key] < 3 for each in tools), len(tools)),
            }
            for key in KEYS
        },
        "anySmell": share(sum(bool(each.smells) for each in tools), len(tools)),
    }, {
        "overallScore": distribution([one.rollup.overall for one in scores]),
        "tiers": tiers([one.rollup.overall for one in scores]),
        "descriptionQualityScore": distribution([one.rollup.description_quality for one in scores]),
        "coherenceScore": distribution([one.rollup.coherence for one in scores]),
        "coherenceDimensions": {key: mean([getattr(one, key) for one in scores]) for key in load("coherence").keys},
        "worstToolGap": mean([gap / 10 for gap in gaps]),
        "withWorstTool": share(sum(gap >= 10 for gap in gaps), len(gaps)),
    }


def test_stats_on_the_shared_catalogs_equal_an_independent_calculation(store, shared):
    paths = sorted((shared / "data" / "catalogs").glob("*.json"))
    found = [scored_capture(path.stem, path.read_bytes()) for path in paths]
    store_captures(store, METHOD, found)
    with store.connect() as connection:
        given = document(statistics(connection, METHOD.key))
    scores = [each.score for each in found]
    tools, whole = calculated(scores)
    flags = given["current"].pop("flags")
    assert given["current"] == tools
    assert given["serverScores"] == whole
    graded = [each for one in scores for each in one.tools]
    assert {flag: each["count"] for flag, each in flags.items() if each["count"]} == Counter(
        flag.value for each in graded for flag in each.flags
    )


def test_the_documents_keep_to_their_schemas(stats):
    swept = [servers("a", "b")]
    for name, args in {"stats": [], "stats-server": ["--server", "a"], "stats-query": ["--query", "loans"]}.items():
        VALIDATORS[name].validate(json.loads(stats("--format", "json", *args, swept=swept)))
    lines = stats("--format", "jsonl").splitlines()
    for line in lines:
        VALIDATORS["stats-line"].validate(json.loads(line))
    assert [(json.loads(line)["server"], json.loads(line)["tool"]) for line in lines] == [
        (server, name) for server in "ab" for name in ("list_loans", "get_loan")
    ]


def test_superseded_versions_count_once_beside_the_current_tools(stats):
    (first,), (second,) = servers("a"), servers("a", description="Loans.")
    given = json.loads(stats("--format", "json", swept=[[first], [second], [first], [second]]))
    assert given["current"]["tdqs"]["count"] == 2
    assert given["versions"]["tdqs"]["count"] == 3
    assert "with superseded versions, 3 definitions" in stats()


def test_a_store_without_scores_says_what_fills_it(stats, command, tmp_path):
    assert "tdqs-mcp sweep" in stats(ending=2)
    nowhere = tmp_path / "none.sqlite"
    assert command("stats", "--store", str(nowhere)).returncode == 2
    assert not nowhere.exists()


def test_what_has_no_score_is_listed_and_never_counted(stats):
    check = EstimateCheck(score=45, estimate=20, bound=8)
    broken = Ungraded(judge="x", reason="The model timed out.")
    held = Ungraded(judge="x", reason="Held: 4.5 is far above 2.0.", held=check)
    content = {"tools": [tool("a"), tool("b")]}
    swept = [[scored_capture("s", content, outcomes={0: broken, 1: held, 2: broken})]]
    given = json.loads(stats("--format", "json", swept=swept))
    assert given["current"]["tdqs"] == {"count": 0, "mean": None, "p25": None, "median": None, "p75": None}
    assert given["scoredTools"] == {"count": 0, "share": 0}
    assert given["ungraded"] == {
        "tools": 2,
        "coherence": 1,
        "held": 1,
        "reasons": [{"reason": "The model timed out.", "count": 2, "server": "s", "name": ""}],
        "heldScores": [{"server": "s", "name": "b", "score": 4.5, "estimate": 2.0}],
    }
    text = stats()
    assert "held: b of s, 4.5 A, estimate 2.0 C" in text
    assert "mean" not in text
    lines = [json.loads(line) for line in stats("--format", "jsonl").splitlines()]
    assert [(line["tdqs"], line["scores"], line["ungraded"]) for line in lines] == [
        (None, None, broken.reason),
        (None, None, held.reason),
    ]
    assert [line["overallScore"] for line in lines] == [None, None]


@pytest.mark.parametrize("form", ["text", "markdown", "json", "jsonl"])
def test_no_name_reaches_a_terminal_or_a_page_as_more_than_text(stats, form):
    failed = Ungraded(judge="x", reason=HOSTILE)
    swept = [[scored_capture(HOSTILE, {"tools": [tool(HOSTILE, "Lists loans."), tool("b")]}, outcomes={1: failed})]]
    shown = stats("--format", form, swept=swept)
    found = stats("--format", form, "--query", "loans")
    for text in (shown, found):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert form != "markdown" or "<script>" not in text


@pytest.mark.parametrize(
    "query",
    ['"', 'loans"', "loans OR", "NEAR(loans, 2)", "loans*", "^loans", "words:loans", "-loans", "(loans", "loans & !",
     "loans <-> x", "'; DROP TABLE servers; --", "lo\0ans", "\ud800 loans", "loans " * 500],
)  # fmt: skip
def test_nothing_in_a_query_is_syntax(stats, query):
    has_words = any(char.isalnum() for char in query)
    shown = stats("--query", query, swept=[servers("a")], ending=0 if has_words else 2)
    assert "loans" not in query or "list_loans" in shown
    assert has_words or "no words" in shown


def test_names_count_more_than_descriptions_and_scores_count_nothing(stats):
    deletes = tool("delete_chart", f"Deletes a chart that was created before. {GOOD}", title="Delete a chart")
    tools = [deletes, tool("create_chart", "Makes one."), tool("send_mail", "Sends mail, and creates the mail first.")]
    swept = [[scored_capture("a", {"tools": tools}), *servers("c")]]
    found = json.loads(stats("--format", "json", "--query", "create a chart", swept=swept))["matches"]
    assert [each["tool"] for each in found] == ["create_chart", "delete_chart", "send_mail"]
    assert found[0]["tdqs"] < found[1]["tdqs"]


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_sqlite_begins_a_search_at_its_matches(store_url):
    """After a sweep of a few servers its planner would begin at the servers, which takes 22 s when there are many."""
    engine, plans = open_store(store_url), []
    run = start_run(engine, METHOD)
    store_captures(engine, METHOD, [capture for number in range(60) for capture in servers(f"s{number}")])
    finish_run(engine, run)
    with engine.connect() as connection:

        def explain(_, cursor, statement, parameters, *__):
            if "MATCH" in statement:
                plans.append([row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)])

        event.listen(engine, "before_cursor_execute", explain)
        search_tools(connection, METHOD, "newest loans of an account", limit=5)
    engine.dispose()
    (plan,) = plans
    steps = [re.sub(" .*", "", step.removeprefix("SCAN ").removeprefix("SEARCH ")) for step in plan]
    order = [step for step in steps if step in METADATA.tables]
    assert order[:2] == ["definitions", "captured_tools"], plan


def test_a_table_of_matches_shows_no_relative_number_and_reasons_only_where_there_are_some(stats):
    assert stats("--query", "loans", swept=[servers("a")]).splitlines()[1].split() == ["tool", "server", "TDQS"]
    failed = {0: Ungraded(judge="x", reason="The model timed out.")}
    swept = [[scored_capture("b", {"tools": [tool("list_loans", GOOD)]}, outcomes=failed)]]
    assert "The model timed out." in stats("--query", "loans", swept=swept)


def test_the_best_known_tools_are_among_the_first_five_in_both_databases(stats, shared):
    paths = sorted((shared / "data" / "catalogs").glob("*.json"))
    stats(swept=[[scored_capture(path.stem, path.read_bytes()) for path in paths]])
    for query, expected in {
        "send email": {"send_email", "send-mail"},
        "create issue": {"create_issue"},
        "weather forecast": {"get_forecast", "get_current_conditions"},
    }.items():
        found = json.loads(stats("--format", "json", "--query", query))["matches"]
        assert expected <= {each["tool"] for each in found[:5]}


def test_a_line_says_whether_the_server_is_official(stats):
    (official,), (silent,) = servers("a"), servers("b")
    lines = map(
        json.loads, stats("--format", "jsonl", swept=[[replace(official, is_official=True), silent]]).splitlines()
    )
    assert [each["official"] for each in lines] == [True, True, None, None]


def test_a_server_is_compared_with_the_others_of_its_store(stats):
    swept = [[*servers("poor-1", "poor-2", description="Loans."), *servers("good")]]
    given = json.loads(stats("--format", "json", "--server", "good", swept=swept))
    assert given["percentiles"] == {"servers": 2, "overallScore": 100, "descriptionQualityScore": 100}
    assert "better than 0% of 2 other servers" in stats("--server", "poor-1")
    assert "did you mean poor-1, poor-2?" in stats("--server", "POOR", ending=2)
    assert "there is no server" in stats("--server", "\udcff", ending=2)  # a byte that is not UTF-8


@pytest.mark.parametrize("source", [None, "stdio:npx -y loans --root '/my files'"])
def test_what_to_do_next_can_be_copied(stats, store_url, source):
    swept = [[scored_capture("my server", {"tools": [tool("list_loans", GOOD)], "source": source})]]
    again = f"tdqs-mcp stats --store {shlex.quote(public_url(store_url))}"
    assert f"{again} --format jsonl" in unwrapped(stats(swept=swept))
    assert f"{again} --server 'my server'" in unwrapped(stats("--query", "loans"))
    wanted = again if source is None else "tdqs-mcp score 'stdio:npx -y loans"
    assert f"Next: {wanted}" in unwrapped(stats("--server", "my server"))


def unwrapped(text):
    return " ".join(text.split())


def test_the_newest_sweep_s_method_is_shown_unless_another_is_named(stats, store_url):
    older = replace(METHOD, judge=JudgeStamp(id="openai", version="1", model="m"), parameters="x")
    engine = open_store(store_url)
    start_run(engine, older)
    store_captures(engine, older, servers("a"))
    engine.dispose()
    assert "by offline" in stats(swept=[servers("b")])
    for named in ("openai", "openai:m", older.key):
        assert json.loads(stats("--format", "json", "--method", named))["method"]["key"] == older.key
    assert older.key in stats("--method", "other", ending=2)


def test_a_score_says_how_many_captured_servers_score_lower_by_the_same_calibration(catalog):
    found = score(catalog(tool("list_loans", GOOD)))
    assert found.judge.calibration == versions()[0]
    assert found.percentiles == captured_percentiles(found.rollup, judge=found.judge, spec="1.2")
    assert found.percentiles.servers >= 60
    others = (replace(found.judge, calibration="0"), replace(found.judge, id="openai"))
    assert [captured_percentiles(found.rollup, judge=each, spec="1.2") for each in others] == [None, None]
    assert captured_percentiles(found.rollup, judge=found.judge, spec="1.0") is None
    assert captured_percentiles(replace(found.rollup, overall=None), judge=found.judge, spec="1.2") is None
