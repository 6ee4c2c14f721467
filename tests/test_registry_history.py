"""A store over time: trend, changes, servers that leave, two methods, export, pruning, metrics and the webhook."""

import csv
import hmac
import io
import json
from dataclasses import replace
from datetime import datetime
from functools import partial
from statistics import median
from xml.etree import ElementTree as ET

import pytest
from definitions import tool
from loopback import Loopback
from pyarrow import parquet
from schemas import VALIDATORS
from scipy.stats import mannwhitneyu
from scored import METHOD, scored_capture, stored_scores
from starlette.responses import Response
from starlette.routing import Route
from test_dashboard import Browser

from tdqs_mcp.app import sweeping
from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.app.judging import score_labels
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.app.stored_scores import open_scores, prune_store, store_statistics
from tdqs_mcp.errors import InputError
from tdqs_mcp.report.registry_reports import statistics_blocks
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.sources.files import read_catalog
from tdqs_mcp.store import run_queries, score_queries
from tdqs_mcp.store.captures import finish_run, read_capture, start_run
from tdqs_mcp.store.captures import write as store_captures
from tdqs_mcp.store.database import open_store, read
from tdqs_mcp.store.judgements import add_batch, pending_batches, remove_batch
from tdqs_mcp.store.score_queries import methods

GOOD = "Lists the loans of one account, newest first, at most 100. Use get_loan for one loan; it never changes data."
LOANS = {"id": "loans", "tools": [tool("list_loans", GOOD), tool("get_loan", "Returns one loan.")]}
CARDS = {"id": "cards", "tools": [tool("list_cards", "Lists all cards.")]}
FEES = {"id": "fees", "tools": [tool("list_fees", "Fees.")]}


@pytest.fixture
def sweep(store_url, write):
    """Sweeps these records as one registry."""

    def run(*records, name="registry.jsonl", **options):
        path = write(name, "".join(json.dumps(record) + "\n" for record in records))
        options = {"settings": read_settings({}), **options}
        request = sweeping.SweepRequest(inputs=(str(path),), store=store_url, **options)
        return sweeping.sweep_registry(request, warn=pytest.fail)

    return run


@pytest.fixture
def stats(command, store_url):
    def run(*options, form="json"):
        done = command("stats", "--store", store_url, "--format", form, *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if form == "json" else done.stdout.decode()

    return run


def test_a_server_that_leaves_is_marked_and_counts_no_more_until_it_is_back(sweep, stats, store_url):
    assert sweep(LOANS, CARDS).gone == 0
    assert sweep(LOANS).gone == 1
    assert stats()["servers"] == 1
    assert [json.loads(line)["server"] for line in stats(form="jsonl").splitlines()] == ["loans", "loans"]
    assert [match["server"] for match in stats("--query", "list all cards")["matches"]] == ["loans"]
    browser = Browser(store_url)
    assert "cards" not in browser.page("/")
    assert "its registry has not listed it since" in browser.page("/server?name=cards")
    assert json.loads(browser.page("/api/server?name=cards"))["leftAt"]
    browser.scores.close()
    assert sweep(LOANS, CARDS).gone == 0
    assert stats()["servers"] == 2


def test_another_input_or_one_that_cannot_be_read_marks_nobody(sweep, stats):
    sweep(LOANS, CARDS)
    assert sweep(FEES, name="other.jsonl").gone == 0
    assert sweep(LOANS, {"id": "broken"}).gone == 0
    assert stats()["servers"] == 3


def test_changes_since_a_moment_are_json_and_a_feed(sweep, stats, store_url, monkeypatch):
    sweep(LOANS, CARDS)
    sweep({**LOANS, "tools": [tool("list_loans", "Loans.")]}, FEES)
    changes = stats("--since", "2020-01-01")
    assert not list(VALIDATORS["stats-since"].iter_errors(changes))
    kinds = {change["server"]: change["kind"] for change in changes["changes"]}
    assert kinds == {"loans": "changed", "cards": "gone", "fees": "new"}
    (loans,) = [change for change in changes["changes"] if change["server"] == "loans"]
    assert loans["overallBefore"] > loans["overallAfter"]
    assert stats("--since", "2999-01-01")["changes"] == []
    feed = ET.fromstring(stats("--since", "2020-01-01", form="atom"))  # noqa: S314  # ours
    titles = {entry.findtext("{*}title") for entry in feed.findall("{*}entry")}
    assert titles == {"loans has changed", "cards is gone", "fees is new"}
    browser = Browser(store_url)
    answer = browser.ask("/changes.atom?since=2020-01-01")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert "http://127.0.0.1:8000/server?name=loans" in answer.text
    assert json.loads(browser.page("/api/changes"))["changes"] == changes["changes"]
    assert changes["changeCount"] == 3
    monkeypatch.setattr(run_queries, "MAX_EVENTS", 2)
    fewer = json.loads(browser.page("/api/changes?since=2019-01-01"))
    assert (fewer["changeCount"], fewer["changes"]) == (3, changes["changes"][:2])
    assert "3 changes since 2019-01-01T00:00:00Z, the last 2 listed" in browser.page("/trend?since=2019-01-01")
    browser.scores.close()


def test_the_trend_has_a_point_for_each_sweep(sweep, stats, store_url):
    sweep(LOANS)
    sweep(LOANS, FEES)
    trend = stats("--trend")
    assert not list(VALIDATORS["stats-trend"].iter_errors(trend))
    first, last = trend["runs"]
    assert (first["servers"], last["servers"], last["changed"]) == (1, 2, 1)
    assert first["tdqs"] > last["tdqs"]
    svg = ET.fromstring(stats("--trend", form="svg"))  # noqa: S314
    assert len(svg.findall(".//{*}circle")) == 4
    key = [(each.get("stroke"), each.get("stroke-dasharray")) for each in svg.findall(".//{*}path[@stroke-dasharray]")]
    assert len(set(key)) == 2
    assert key == [(each.get("stroke"), each.get("stroke-dasharray")) for each in svg.findall(".//{*}polyline")]
    browser = Browser(store_url)
    page = browser.page("/trend")
    assert "polyline" in page
    assert "></th>" not in page  # a screen reader says what each column holds
    assert json.loads(browser.page("/api/trend")) == trend
    metrics = dict(line.rsplit(" ", 1) for line in browser.page("/metrics").splitlines() if line[0] != "#")
    assert (metrics["tdqs_servers"], metrics["tdqs_tools"]) == ("2", "3")
    assert float(metrics["tdqs_tdqs_mean"]) == last["tdqs"]
    assert sum(int(value) for name, value in metrics.items() if name.startswith("tdqs_tools_by_tier")) == 3
    finished = datetime.fromisoformat(last["finishedAt"])
    assert float(metrics["tdqs_sweep_finished_seconds"]) == finished.timestamp()
    browser.scores.close()


def test_two_methods_are_compared_on_the_same_tools(stats, store_url):
    engine = open_store(store_url)
    other = replace(METHOD, parameters="other")
    tools = [tool("list_loans", GOOD), tool("get_loan", "Returns one loan."), tool("process", "Process")]
    first = scored_capture("s", {"tools": tools})
    scores = first.score.tools
    poor = {key: replace(judgement, score=1) for key, judgement in scores[0].judgements.items()}
    changed = replace(scores[0], judgements=poor, tdqs=10)
    second = replace(first, score=replace(first.score, tools=(changed, *scores[1:])))
    for method, capture in ((METHOD, first), (other, second)):
        run = start_run(engine, method)
        store_captures(engine, method, [capture, scored_capture(f"only/{method.key}", {"tools": [tool("x")]})])
        finish_run(engine, run, statistics="{}")
    engine.dispose()
    found = stats("--compare", METHOD.key, other.key)
    assert not list(VALIDATORS["stats-compare"].iter_errors(found))
    assert (found["tools"], found["sameScore"]["count"], found["sameTier"]["count"]) == (3, 2, 2)
    gap = scores[0].tdqs / 10 - 1
    assert found["biggest"] == [{"server": "s", "tool": "list_loans", "before": scores[0].tdqs / 10, "after": 1.0}]
    assert found["difference"] == pytest.approx(-gap / 3, abs=0.01)
    assert found["distance"] == pytest.approx(gap / 3, abs=0.01)
    assert {share["count"] for share in found["dimensions"].values()} == {2}
    assert [change["after"] for change in found["tierChanges"]] == ["D"]
    assert "Biggest differences" in stats("--compare", METHOD.key, other.key, form="text")


@pytest.mark.parametrize("options", [[], ["--servers"]])
def test_tables_hold_what_the_lines_hold(sweep, stats, command, store_url, tmp_path, options):
    sweep(LOANS, CARDS, {"id": "none", "tools": []})
    lines = [json.loads(line) for line in stats(*options, form="jsonl").splitlines()]
    rows = list(csv.DictReader(io.StringIO(stats(*options, form="csv"))))
    path = tmp_path / "tools.parquet"
    done = command("stats", "--store", store_url, "--format", "parquet", *options, "--output", str(path))
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(path).to_pylist()
    key = "overallScore" if options else "tdqs"
    assert len(lines) == len(rows) == len(table) == 3
    for line, row, entry in zip(lines, rows, table, strict=True):
        assert line["server"] == row["server"] == entry["server"]
        assert line[key] == entry[key] == (float(row[key]) if row[key] else None)
        if not options:
            assert line["scores"]["purpose_clarity"] == entry["scores.purpose_clarity"]
    done = command("stats", "--store", store_url, "--format", "parquet")
    assert (done.returncode, b"name a file with --output" in done.stderr) == (2, True)


def test_pruning_deletes_what_no_server_has_any_longer(sweep, store_url, command, write):
    sweep(LOANS, CARDS)
    sweep({**LOANS, "tools": [tool("list_loans", "Loans.")]}, CARDS)
    engine = open_store(store_url)
    before = stored_scores(engine)
    path = write("registry.jsonl", json.dumps(CARDS))
    for moment, count in (("2020-01-01", 0), ("2999-01-01", 1), ("2999-01-01", 0)):
        done = command("sweep", path, "--store", store_url, "--prune", moment)
        assert (done.returncode, f"{count} earlier capture".encode() in done.stderr) == (0, True), done.stderr
    assert [line["tools"] for line in stored_scores(engine)] == [line["tools"] for line in before]
    engine.dispose()
    browser = Browser(store_url)
    assert len(json.loads(browser.page("/api/server?name=loans"))["captures"]) == 1
    browser.scores.close()


def test_pruning_leaves_what_a_batch_waits_for(sweep, store_url):
    sweep(LOANS, CARDS)
    sweep({**LOANS, "tools": [tool("list_loans", "Loans.")]}, CARDS)
    engine, later = open_store(store_url), datetime.fromisoformat("2999-01-01T00:00:00Z")
    (method,) = read(engine, methods)
    with open_scores(store_url) as scores:
        earlier = scores.find_server("loans").captures[-1].capture
    add_batch(engine, method, "{}", [earlier])
    assert prune_store(store_url, later) == 0
    assert read(engine, partial(read_capture, capture=earlier)).tools
    remove_batch(engine, *pending_batches(engine, method))
    assert prune_store(store_url, later) == 1
    engine.dispose()


def test_links_of_a_record_lead_to_pages_alone(sweep, store_url):
    listing = {"title": "Loans", "website": "javascript:alert(1)", "repository": "https://loans.example", "version": 2}
    sweep({**LOANS, "registryListing": listing}, CARDS)
    browser = Browser(store_url)
    assert "javascript:" not in browser.page("/server?name=loans")
    shown = json.loads(browser.page("/api/server?name=loans"))["listing"]
    assert shown == {"title": "Loans", "repository": "https://loans.example"}
    browser.scores.close()


def test_a_webhook_gets_the_signed_report(command, write, store_url, monkeypatch):
    posts = []

    async def take(request):
        posts.append((await request.body(), request.headers["x-tdqs-signature"]))
        return Response(status_code=204 if len(posts) == 1 else 500)

    hook = Loopback([Route("/hook", take, methods=["POST"])])
    path, secret = write("registry.jsonl", json.dumps(CARDS)), "a-secret-of-the-tests"
    options = ("sweep", path, "--store", store_url, "--webhook", f"{hook.address}/hook")
    refused = command(*options)
    assert (refused.returncode, b"--webhook needs TDQS_WEBHOOK_SECRET" in refused.stderr) == (2, True)
    monkeypatch.setenv("TDQS_WEBHOOK_SECRET", secret)
    assert command(*options).returncode == 0
    ((body, signature),) = posts
    assert signature == "sha256=" + hmac.new(secret.encode(), body, "sha256").hexdigest()
    assert not list(VALIDATORS["sweep"].iter_errors(json.loads(body)))
    failed = command(*options)
    assert (failed.returncode, b"the webhook did not take the report" in failed.stderr) == (2, True)
    hook.close()


# Other rubrics


def test_smells_are_counted_beside_tdqs_and_change_nothing_of_it(sweep, stats, store_url):
    sweep(LOANS, CARDS, FEES)
    before, browser = stats(), Browser(store_url)
    page = browser.page("/")
    report = sweep(LOANS, CARDS, FEES, rubric="smells")
    assert (report.scored, report.judged, report.rubric) == (3, 4, "smells")
    assert browser.page("/") == page
    browser.scores.close()
    after = stats()
    assert [method["rubric"] for method in after.pop("otherMethods")] == ["smells"]
    assert after == {name: value for name, value in before.items() if name != "otherMethods"}
    assert (sweep(LOANS, CARDS, FEES, rubric="smells").unchanged, sweep(LOANS, CARDS, FEES).unchanged) == (3, 3)
    assert stats("--method", "offline")["method"]["rubric"] == "tdqs"
    changed = {**LOANS, "tools": [*LOANS["tools"][:1], tool("get_loan", "Returns one loan by its number.")]}
    assert sweep(changed, CARDS, FEES, rubric="smells").judged == 1


def test_smells_of_a_registry_equal_an_independent_calculation(sweep, stats):
    words = ["Lists loans.", GOOD, None, "Returns one loan by its id, at most 50 at once.", "Fees", f"{GOOD} {GOOD}"]
    records = [
        {
            "id": f"s{number}",
            "official": number % 3 == 0,
            "tools": [tool(f"t{n}", words[(number * n) % 6]) for n in range(3)],
        }
        for number in range(1, 19)
    ]
    report = sweep(*records, {"id": "unsaid", "tools": [tool("lone", GOOD)]}, rubric="smells")
    numbers = stats("--method", report.method)
    assert not list(VALIDATORS["stats-labels"].iter_errors(numbers))
    keys = load("smells").keys
    labeled = {
        record["id"]: (
            record.get("official"),
            [t.scores for t in blocking(score_labels)(read_catalog(record, name="x"), rubric="smells").tools],
        )
        for record in [*records, {"id": "unsaid", "tools": [tool("lone", GOOD)]}]
    }
    tools = [scores for _, server in labeled.values() for scores in server]
    assert numbers["scoredTools"]["count"] == len(tools) == 55
    for place, key in enumerate(keys):
        assert numbers["dimensions"][key]["smells"]["count"] == sum(scores[key] < 3 for scores in tools)
        free = sum(min(scores[name] for name in keys[: place + 1]) >= 3 for scores in tools)
        assert numbers["smellFree"][place] == {
            "dimensions": list(keys[: place + 1]),
            "tools": {"count": free, "share": pytest.approx(100 * free / 55, abs=0.005)},
        }
        sides = [
            [median(scores[key] for scores in server) for official, server in labeled.values() if official is side]
            for side in (True, False)
        ]
        expected = mannwhitneyu(*sides)
        assert numbers["maintainers"][key] == {
            "official": median(sides[0]),
            "community": median(sides[1]),
            "statistic": expected.statistic,
            "pValue": pytest.approx(expected.pvalue),
            "bonferroni": pytest.approx(min(1, 6 * expected.pvalue)),
        }
    assert (numbers["officialServers"], numbers["communityServers"]) == (6, 12)
    text = stats("--method", report.method, form="text")
    assert "Mann-Whitney" in text
    assert "purpose, guidelines, limitations" in text


def test_without_scipy_smells_are_counted_and_the_test_names_the_extra(sweep, stats, store_url, monkeypatch):
    report = sweep({**LOANS, "official": True}, {**CARDS, "official": False}, rubric="smells")
    monkeypatch.setattr(score_queries, "find_spec", lambda _: None)
    numbers = store_statistics(store_url, method=report.method)
    assert {(test.statistic, test.p_value, test.adjusted) for test in numbers.maintainers.values()} == {(None,) * 3}
    assert ".[study]" in str(statistics_blocks(numbers, command="stats"))


@pytest.mark.parametrize("options", [{"rubric": "bundles"}, {"rubric": "smells", "is_batch": True}])
def test_a_rubric_that_cannot_be_swept_says_why(sweep, options):
    with pytest.raises(InputError, match=r"--judge|--batch"):
        sweep(LOANS, **options)


def test_labels_stand_on_the_page_of_a_server_where_they_were_computed(sweep, store_url):
    sweep(LOANS, CARDS)
    browser = Browser(store_url)
    assert "Other rubrics" not in browser.page("/server?name=loans")
    report = sweep(LOANS, rubric="smells", name="loans.jsonl")
    (labels,) = json.loads(browser.page("/api/server?name=loans"))["labels"]
    assert (labels["method"]["key"], labels["good"] + labels["bad"], labels["label"]) == (report.method, 2, None)
    assert "Other rubrics" in browser.page("/server?name=loans")
    assert "Other rubrics" not in browser.page("/server?name=cards")
    browser.scores.close()


def test_mcpbundles_rubric_asks_about_tools_and_skill_and_only_what_changed_again(sweep, store_url, loopback):
    settings = read_settings({"TDQS_CACHE": "off"}, judge="openai:m", base_url=loopback.base_url)
    bundles = partial(sweep, settings=settings, rubric="bundles")
    server = {**LOANS, "instructions": "Call list_loans before get_loan."}
    sweep(server)
    report = bundles(server)
    assert (report.judged, report.requests, report.ungraded) == (2, 3, 0), "two tools and the skill"
    browser = Browser(store_url)
    (labels,) = json.loads(browser.page("/api/server?name=loans"))["labels"]
    assert labels["label"] in ("Good", "Acceptable", "Bad")
    assert f"skill {labels['label']}" in browser.page("/server?name=loans")
    browser.scores.close()
    assert (bundles(server).requests, bundles({**server, "instructions": "Call get_loan."}).requests) == (0, 1)
