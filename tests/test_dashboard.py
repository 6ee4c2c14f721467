"""The dashboard: what everybody sees of a store, what maintainers see besides, and how it does in a real Chromium."""

import json
import re
import subprocess
import sys
import threading
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from html import unescape
from time import perf_counter, sleep
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

import anyio
import httpx2
import pytest
from browser import DESKTOP, PHONE
from definitions import EVIL, FINE, flat, tool
from loopback import Loopback
from schemas import VALIDATORS
from scored import METHOD, scored_capture
from starlette.routing import Mount

from tdqs_mcp.app import stored_scores
from tdqs_mcp.app.judging import score_offline
from tdqs_mcp.app.stored_scores import StoredScores
from tdqs_mcp.dashboard import make_site
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.report.json_values import document, read_document
from tdqs_mcp.results.statistics import Statistics
from tdqs_mcp.results.verdicts import EstimateCheck, Ungraded
from tdqs_mcp.rules.registry import RULES
from tdqs_mcp.server.http_transport import Http
from tdqs_mcp.server.permissions import read_pattern
from tdqs_mcp.sources.files import read_content
from tdqs_mcp.store import server_queries
from tdqs_mcp.store.captures import finish_run, start_run
from tdqs_mcp.store.captures import write as store_captures
from tdqs_mcp.store.database import open_store, read
from tdqs_mcp.store.score_queries import statistics

WORD = "a-long-token-of-the-tests"
ZEBRAS = "Lists the zebras of one keeper, newest first, at most 50. Use it when the keeper is known."
ODD_NAMES = ("a/b c", "a?name=b&c#d", "100%25", "..", 'it\'s "quoted"', "two\nlines", "<b>bold</b>", "語")


def many(count):
    kinds = [FINE, tool("list_zebras", ZEBRAS, flat(2)), tool("process", "Process", flat(6)), EVIL]
    return [{**kinds[place % 4], "name": f"{kinds[place % 4]['name']}_{place}"} for place in range(count)]


def fill(url, *sweeps, method=METHOD):
    """A store in which each list of captures is a sweep."""
    engine = open_store(url)
    for captures in sweeps:
        run = start_run(engine, method)
        store_captures(engine, method, captures)
        found = read(engine, partial(statistics, key=method.key))
        counts = {"servers": len(captures), "changed": 0, "tools": 0, "problems": "[]"}
        finish_run(engine, run, statistics=json.dumps(document(found)), **counts)
    engine.dispose()


def zoo(*tools, **changes):
    return scored_capture("zoo", {"tools": list(tools) or [tool("list_zebras", ZEBRAS), FINE]}, **changes)


class Browser:
    """Asks a dashboard in this process."""

    def __init__(self, url, host="127.0.0.1", token=None, **http):
        self.scores = StoredScores(url)
        self.app = make_site(self.scores, Http(host=host, token=token, **http))

    def ask(self, path, *, method="GET", content=None, base="http://127.0.0.1:8000", **headers):
        async def send():
            transport = httpx2.ASGITransport(app=self.app)
            async with httpx2.AsyncClient(transport=transport, base_url=base) as client:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return await client.request(method, path, headers=named, content=content)

        return anyio.run(send)

    def page(self, path, **headers):
        answer = self.ask(path, **headers)
        assert answer.status_code == 200, answer.text
        return answer.text


@pytest.fixture
def dashboard(store_url):
    made = []

    def make(*sweeps, **http):
        fill(store_url, *(sweeps or ([zoo()],)))
        made.append(Browser(store_url, **http))
        return made[-1]

    yield make
    for each in made:
        each.scores.close()


def query(path, **params):
    return f"{path}?{urlencode(params)}"


ZOO = (
    "/",
    "/server?name=zoo",
    "/tools",
    "/tools?text=zebras",
    "/check",
    "/tool?server=zoo&name=list_zebras",
    "/statistics",
    "/rules",
    "/rules/TDQ101",
)
PRIVATE = ("/report?name=zoo",)
API = (
    "/api/servers",
    "/api/tools?text=zebras",
    "/api/server?name=zoo",
    "/api/tool?server=zoo&name=list_zebras",
    "/api/statistics",
)
BADGES = ("/badge/zoo.svg",)


# Methods


def test_a_sweep_by_another_method_changes_nothing_before_its_end(dashboard, store_url):
    browser = dashboard([zoo()])
    other = replace(METHOD, parameters="other")
    before = [browser.page(path) for path in ZOO]
    engine = open_store(store_url)
    run = start_run(engine, other)
    assert [browser.page(path) for path in ZOO] == before
    store_captures(engine, other, [scored_capture("apiary", {"tools": [FINE]})])
    assert "zoo" in browser.page("/")
    assert "apiary" not in browser.page("/")
    finish_run(engine, run, statistics="{}", servers=1, changed=1, tools=1, problems="[]")
    engine.dispose()
    assert "apiary" in browser.page("/")
    pinned = StoredScores(store_url, method=METHOD.key)
    assert [entry.server for entry in pinned.list_servers(server_queries.ServerFilter()).servers] == ["zoo"]
    pinned.close()


def test_pages_say_of_when_the_scores_are_and_travel_compressed(dashboard):
    answer = dashboard([zoo()]).ask("/", accept_encoding="gzip")
    assert answer.headers["content-encoding"] == "gzip"
    assert re.search(r"Scores as of 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", answer.text)


def test_a_page_is_compressed_once_for_all_visitors(dashboard, monkeypatch):
    browser = dashboard([zoo()])
    first = browser.ask("/", accept_encoding="gzip")
    monkeypatch.setattr("starlette.middleware.gzip.GZipResponder.apply_compression", None)
    monkeypatch.setattr("gzip.compress", None)
    second = browser.ask("/", accept_encoding="gzip")
    assert second.headers["content-encoding"] == "gzip"
    assert second.text == first.text
    assert second.headers["vary"] == "Authorization, Accept-Encoding"


# The leaderboard


def listed(browser, **params):
    """All servers, page by page."""
    names, after = [], ""
    while after is not None:
        found = json.loads(browser.page(query("/api/servers", **params, after=after)))
        assert len(found["servers"]) <= server_queries.PAGE
        names += found["servers"]
        after = found["next"]
    return names


@pytest.fixture
def board(dashboard, monkeypatch):
    """Servers of every kind, of which a page shows three."""
    monkeypatch.setattr(server_queries, "PAGE", 3)
    kinds = [many(1), [FINE], [FINE, tool("process", "Process", flat(3))], [tool("process", "P")], many(8), []]
    captures = [
        scored_capture(
            f"{'org' if place % 2 else 'Lone'}/{place:02}", {"tools": tools}, is_official=(True, False, None)[place % 3]
        )
        for place, tools in enumerate(kinds * 3)
    ]
    return dashboard(captures)


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("score", lambda each: (-(each["overallScore"] or 0), each["server"])),
        ("tools", lambda each: (-each["toolCount"], each["server"])),
        ("name", lambda each: each["server"]),
    ],
)
def test_pages_of_the_leaderboard_hold_every_server_once_and_in_order(board, order, key):
    found = listed(board, order=order)
    assert len(found) == 18
    by_bytes = sorted(found, key=key)
    assert [each["server"] for each in found] == [each["server"] for each in by_bytes]


def test_the_lowest_score_comes_first_on_request(board):
    found = [each["overallScore"] for each in listed(board, order="lowest")]
    assert found == sorted(found)
    assert len(found) == 15  # a server without tools has no score


def test_servers_are_filtered_by_text_tier_and_maintainer(board):
    everything = listed(board)
    for tier in ("A", "B", "C", "D", "none"):
        wanted = [each["server"] for each in everything if (each["overallTier"] or "none") == tier]
        assert [each["server"] for each in listed(board, tier=tier)] == wanted
    assert {each["server"][:3] for each in listed(board, text="ORG")} == {"org"}
    assert listed(board, text="%") == []
    assert {each["official"] for each in listed(board, maintainer="official")} == {True}
    assert {each["official"] for each in listed(board, maintainer="community")} == {False}


@pytest.mark.parametrize(
    "params", [{"order": "x"}, {"tier": "Z"}, {"after": "x"}, {"after": "9" * 99 + ":a"}, {"text": "\0"}]
)
def test_what_the_form_does_not_offer_is_no_error(board, params):
    assert board.ask(query("/", **params)).status_code == 200


def test_the_page_leads_to_the_next_servers_with_the_same_filters(board):
    text = board.page("/?text=org&order=name")
    following = unescape(re.search(r'href="([^"]+)" rel="next"', text)[1])
    assert "text=org" in following
    names = re.findall(r'href="/server\?name=([^"]+)"', board.page(following))
    assert names == ["org/07", "org/09", "org/11"]
    assert 'value="org"' in board.page(following)


def test_of_visitors_at_once_the_first_renders_a_page_for_all(dashboard, monkeypatch):
    browser, rendered = dashboard(), []
    statistics_of = StoredScores.statistics

    def slow(scores):
        rendered.append(scores)
        sleep(0.2)
        return statistics_of(scores)

    monkeypatch.setattr(StoredScores, "statistics", slow)
    with ThreadPoolExecutor(8) as pool:
        pages = set(pool.map(browser.page, ["/statistics"] * 8))
    assert (len(pages), len(rendered)) == (1, 1)


# Search and checks


def test_tools_are_found_by_what_they_do(dashboard):
    failed = {0: Ungraded(judge="x", reason="A secret reason.")}
    silent = scored_capture("mute", {"tools": [tool("list_zebras", "Zebras.")]}, outcomes=failed)
    browser = dashboard([zoo(), silent], token=WORD)
    text = browser.page("/tools?text=list+the+zebras")
    links = {unescape(link) for link in re.findall(r'class="name" href="([^"]+)"', text)}
    assert {"/tool?server=zoo&name=list_zebras", "/tool?server=mute&name=list_zebras"} <= links
    assert "No tool has one of these words" in browser.page("/tools?text=xylophone")
    assert browser.ask("/tools?text=%3F%3F").status_code == 404
    public = json.loads(browser.page("/api/tools?text=zebras"))["matches"]
    assert {match["server"] for match in public} == {"zoo", "mute"}
    assert {match["ungraded"] for match in public} == {None}
    full = json.loads(browser.page("/api/tools?text=zebras", authorization=f"Bearer {WORD}"))["matches"]
    assert "A secret reason." in {match["ungraded"] for match in full}


def form_of(**members):
    """A form with files as a browser sends it."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"{"; filename=f.json" if name == "file" else ""}\r\n\r\n{value}\r\n'
        for name, value in members.items()
    ]
    return {
        "method": "POST",
        "content": "".join([*parts, "--x--\r\n"]).encode(),
        "content_type": "multipart/form-data; boundary=x",
    }


PASTED = json.dumps({"tools": [tool("list_zebras", ZEBRAS), tool("process", "Process", flat(6))]})


@pytest.mark.parametrize("name", ["definitions", "file"])
def test_pasted_definitions_are_scored_and_nothing_is_stored(dashboard, name, store_url):
    browser = dashboard([zoo()], token=WORD)
    before = browser.scores.revision()
    answer = browser.ask("/check", **form_of(**{name: PASTED}))
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    score = score_offline(read_content(PASTED.encode(), origin="", name="your server"))
    for words in ("list_zebras", str(score.rollup.overall / 10), "/rules/TDQ", "Playground"):
        assert words in answer.text
    assert browser.scores.revision() == before
    assert "process" not in browser.page("/")


def test_the_lowest_tools_of_a_check_get_better_words(dashboard, monkeypatch):
    twice = tool(
        "list_zebras", f"{ZEBRAS} It reads the register of the zoo. It reads the register of the zoo.", flat(0)
    )
    poor = tool("process", "It reads the register of the zoo. It reads the register of the zoo.", flat(6))
    browser, pages = dashboard(), []
    for most in (20, 1, 0):
        monkeypatch.setattr("tdqs_mcp.dashboard.MAX_REWRITTEN", most)
        pages.append(browser.ask("/check", **form_of(definitions=json.dumps([twice, poor]))).text)
    assert [page.count("In better words") for page in pages] == [2, 1, 0]
    before, _, _ = pages[1].partition("In better words")
    assert before.rfind("process") > before.rfind("list_zebras"), "the words are of the lower tool"


@pytest.mark.parametrize(
    ("form", "status", "words"),
    [
        (form_of(definitions="{broken"), 422, "what you sent is not valid JSON"),
        (form_of(definitions="<script>alert(1)</script>"), 422, "what you sent is not valid JSON"),
        (form_of(definitions=" "), 422, "there is nothing to check"),
        (form_of(definitions=json.dumps([tool(f"t{place}") for place in range(201)])), 422, "200 tools at most"),
        (form_of(definitions="x" * (2**20 + 2**14)), 413, "too large"),
        (form_of(url="http://127.0.0.1:9/mcp"), 422, "there is nothing to check"),
        ({**form_of(definitions=PASTED), "sec_fetch_site": "cross-site"}, 403, "Another site"),
        ({**form_of(definitions=PASTED), "origin": "https://evil.example"}, 403, "Another site"),
    ],
)
def test_what_cannot_be_checked_is_told(dashboard, form, status, words):
    answer = dashboard().ask("/check", **form)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("url", ["https://[::1", "https://example.org:99999/", "https:///mcp", "ftp://example.org/"])
def test_a_malformed_url_is_told(dashboard, url):
    browser = dashboard()
    browser.app = make_site(browser.scores, Http(host="127.0.0.1"), [read_pattern("https://*")])
    answer = browser.ask("/check", **form_of(url=url))
    assert (answer.status_code, "https://host/path" in answer.text) == (422, True), answer.text


def test_an_address_puts_no_words_into_the_site_s_mouth(dashboard):
    assert "Call 555" not in dashboard().page(query("/check", problem="Call 555"))


def test_one_address_checks_only_so_often_and_others_are_not_disturbed(dashboard, monkeypatch):
    monkeypatch.setattr("tdqs_mcp.dashboard.CHECKS_PER_MINUTE", 3)
    monkeypatch.setattr("tdqs_mcp.dashboard.time.monotonic", lambda: 600.0)
    browser, empty = dashboard(), form_of(definitions=" ")
    assert [browser.ask("/check", **empty).status_code for _ in range(5)] == [422, 422, 422, 429, 429]
    assert browser.ask("/check", **empty, x_forwarded_for="203.0.113.9").status_code == 422
    monkeypatch.setattr("tdqs_mcp.dashboard.time.monotonic", lambda: 661.0)
    assert browser.ask("/check", **empty).status_code == 422


def test_a_full_queue_is_told(dashboard, monkeypatch):
    monkeypatch.setattr("tdqs_mcp.dashboard.CHECKS_WAITING", 0)
    assert dashboard().ask("/check", **form_of(definitions=PASTED)).status_code == 503


# Servers and tools


def test_the_score_is_made_again_of_what_the_store_keeps(dashboard):
    capture = zoo(*many(8))
    browser = dashboard([capture])
    found, _ = browser.scores.score_in_full("zoo")
    direct = score_offline(capture.measured.catalog)
    assert replace(found, percentiles=None) == replace(direct, percentiles=None)


def test_a_tool_has_the_findings_of_the_report_and_its_page_reads_no_other_tool(dashboard, monkeypatch):
    capture = zoo(*many(8))
    browser = dashboard([capture])
    report, _ = browser.scores.score_in_full("zoo")
    read = []
    clashes = Subject.clashes.func
    monkeypatch.setattr(Subject.clashes, "func", lambda subject: read.append(subject.tool.index) or clashes(subject))
    for index, listed in enumerate(capture.measured.catalog.tools):
        read.clear()
        tool, _, _ = browser.scores.explain_tool("zoo", listed.name, index)
        assert tool.findings == tuple(finding for finding in report.findings if finding.tool_index == index)
        assert set(read) <= {index}


def test_a_server_shows_its_arithmetic_and_its_place(dashboard):
    browser = dashboard([zoo(), scored_capture("poor", {"tools": [tool("process", "Process", flat(3))]})])
    found = json.loads(browser.page("/api/server?name=zoo"))
    plain = re.sub(r"<[^>]+>", "", browser.page("/server?name=zoo"))
    assert f"{found['overallScore']}{found['overallTier']}" in plain
    assert f"70% × {found['descriptionQualityScore']} descriptions + 30% × {found['coherenceScore']} coherence" in plain
    assert f"60% × {found['meanTdqs']} mean + 40% × {found['minTdqs']} lowest tool" in plain
    assert "Better than 100% of 1 other servers" in plain


def test_captures_are_listed_with_what_changed(dashboard):
    new = zoo(tool("list_zebras", "Zebras."), tool("feed_zebra", "Feeds one."))
    browser = dashboard([zoo()], [new])
    captures = json.loads(browser.page("/api/server?name=zoo"))["captures"]
    assert [(each["added"], each["removed"], each["changed"]) for each in captures] == [(1, 1, 1), (0, 0, 0)]
    assert captures[0]["capture"] == new.capture
    history = json.loads(browser.page("/api/tool?server=zoo&name=list_zebras"))["history"]
    assert [each["capture"] for each in history] == [each["capture"] for each in captures]
    assert history[0]["tdqs"] < history[1]["tdqs"]


def test_a_tool_that_stayed_has_one_version(dashboard):
    old, new = zoo(), zoo(tool("list_zebras", ZEBRAS), FINE, tool("more", "More."))
    browser = dashboard([old], [new])
    history = json.loads(browser.page("/api/tool?server=zoo&name=list_zebras"))["history"]
    assert [each["capture"] for each in history] == [old.capture]


def test_tools_of_one_name_have_pages_of_their_own(dashboard):
    browser = dashboard([zoo(tool("twice", ZEBRAS), tool("twice", "Twice."))])
    links = [unescape(each) for each in re.findall(r'href="(/tool\?[^"]+)"', browser.page("/server?name=zoo"))]
    assert len(links) == 2
    assert sorted("Twice." in browser.page(link) for link in links) == [False, True]


def test_every_name_leads_to_its_page(dashboard):
    captures = [scored_capture(name, {"tools": [tool(name, ZEBRAS)]}) for name in ODD_NAMES]
    browser = dashboard(captures)
    links = [unescape(each) for each in re.findall(r'href="(/server[^"]+)"', browser.page("/?order=name"))]
    assert len(links) == len(ODD_NAMES)
    for link in links:
        (to_tool,) = {unescape(each) for each in re.findall(r'href="(/tool\?[^"]+)"', browser.page(link))}
        assert "zebras" in browser.page(to_tool)


def test_what_is_no_definition_has_pages_too(dashboard):
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    tools = b'{"name": "deep", "description": "Does it.", "inputSchema": %b}, {"name": "", "description": 5}, 7' % deep
    browser = dashboard([scored_capture("odd", b'{"tools": [%b]}' % tools), scored_capture("empty", {"tools": []})])
    for name in ("odd", "empty"):
        for path in ("/server", "/report", "/api/server"):
            assert browser.page(query(path, name=name))
        assert ">no score</text>" in browser.page(f"/badge/{name}.svg")
    shown = [browser.page(query("/tool", server="odd", name="", index=index)) for index in (1, 2)]
    assert ["No score" in text for text in shown] == [True, True]
    assert "deep" in browser.page("/tool?server=odd&name=deep")


def test_unknown_things_are_not_found(dashboard):
    browser = dashboard()
    paths = (
        "/server",
        "/server?name=x",
        "/tool?server=zoo&name=x",
        "/rules/x",
        "/nowhere",
        "/badge/x.svg",
    )
    assert {browser.ask(path).status_code for path in (*paths, "/api/server?name=x", "/static/x")} == {404}
    assert (
        json.loads(browser.ask("/api/server?name=x").text)["error"]
        == "there is no server 'x' with scores by this method"
    )


def test_every_rule_has_a_page(dashboard):
    browser = dashboard()
    linked = re.findall(r'href="(/rules/[^"]+)"', browser.page("/rules"))
    assert [link.rpartition("/")[2] for link in linked] == [rule.id for rule in RULES]
    for link in linked:
        assert "<h2>Good</h2>" in browser.page(link)


def test_statistics_are_those_of_the_newest_sweep(dashboard, store_url):
    browser = dashboard([zoo(), scored_capture("poor", {"tools": many(6)})])
    engine = open_store(store_url)
    now = read(engine, partial(statistics, key=METHOD.key))
    engine.dispose()
    assert browser.scores.statistics() == now
    assert json.loads(browser.page("/api/statistics")) == document(now)
    assert read_document(Statistics, document(now)) == now
    assert "tools (100.00%)" in browser.page("/statistics")


def test_a_store_without_a_finished_sweep_says_so(store_url):
    open_store(store_url).dispose()
    browser = Browser(store_url)
    assert [browser.ask(path).status_code for path in ("/", "/statistics")] == [404, 404]
    assert "no scores yet" in browser.ask("/").text
    browser.scores.close()


def test_numbers_of_a_store_whose_first_sweep_has_not_ended_are_not_there(store_url):
    engine = open_store(store_url)
    run = start_run(engine, METHOD)
    store_captures(engine, METHOD, [zoo()])
    browser = Browser(store_url)
    paths = ("/statistics", "/api/statistics", "/metrics")
    assert [browser.ask(path).status_code for path in paths] == [404, 404, 404]
    assert [browser.ask(path).status_code for path in ("/", "/trend", "/api/trend")] == [200, 200, 200]
    finish_run(engine, run, statistics='{"servers": 1}', servers=1, changed=1, tools=2, problems="[]")
    assert [browser.ask(path).status_code for path in paths] == [404, 404, 404], "of another version"
    assert json.loads(browser.page("/api/trend"))["runs"] == []
    browser.scores.close()
    engine.dispose()


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/api/servers", "dashboard-servers"),
        ("/api/server?name=zoo", "dashboard-server"),
        ("/api/tool?server=zoo&name=list_zebras", "dashboard-tool"),
        ("/api/statistics", "stats"),
    ],
)
@pytest.mark.parametrize("token", [None, WORD])
def test_json_has_the_published_shape(dashboard, path, schema, token):
    VALIDATORS[schema].validate(
        json.loads(dashboard([zoo(*many(8), tool("list_zebras", ZEBRAS))], token=token).page(path))
    )


def test_badges_show_the_overall_score(dashboard):
    browser = dashboard()
    found = json.loads(browser.page("/api/server?name=zoo"))
    words = f"{found['overallScore']} {found['overallTier']} estimate"
    drawn = ET.fromstring(browser.page("/badge/zoo.svg"))  # noqa: S314  # ours
    assert [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")] == ["tool definitions", words]


# Who sees what


def held(case):
    check = EstimateCheck(score=48, estimate=20, bound=10)
    return Ungraded(judge="offline", reason="held: why it is suspicious", held=check)


def every_text(browser, **headers):
    """All that the dashboard answers about the zoo, by path."""
    return {path: browser.ask(path, **headers).text for path in (*ZOO, *API, *BADGES, *PRIVATE)}


def test_scores_by_a_calibration_that_this_version_no_longer_has_are_shown(store_url):
    fill(store_url, [zoo()], method=replace(METHOD, judge=replace(METHOD.judge, calibration="1")))
    browser = Browser(store_url)
    for path in (*ZOO, "/report?name=zoo", "/api/server?name=zoo"):
        browser.page(path)
    browser.scores.close()


def test_metrics_leave_out_what_is_not_known(dashboard):
    """Neither the price of the sweep's answers nor the mean of no scores is 0."""
    ungraded = Ungraded(judge="offline", reason="no answer")
    page = dashboard([zoo(outcomes=dict.fromkeys(range(3), ungraded))]).page("/metrics")
    assert "tdqs_sweep_cost_dollars 0" not in page
    assert "tdqs_tdqs_mean 0" not in page
    assert "tdqs_tools 2" in page


def test_without_the_token_nobody_sees_more_than_scores(dashboard):
    capture = zoo(tool("list_zebras", ZEBRAS), FINE, tool("process", "Process", flat(3)), outcomes={1: held(1)})
    browser = dashboard([zoo(FINE)], [capture], token=WORD)
    secrets = ("zebras of one keeper", "suspicious", "TDQ104", "none of the four hints", "4.8")
    for path, text in every_text(browser).items():
        assert not [secret for secret in secrets if secret in text and not path.startswith("/rules")], path
    whole = "".join(every_text(browser, authorization=f"Bearer {WORD}").values())
    assert [secret for secret in secrets if secret not in whole] == []
    assert [browser.ask(path).status_code for path in PRIVATE] == [401]
    assert browser.ask("/api/server?name=zoo", authorization="Bearer another").status_code == 200
    assert json.loads(browser.ask("/api/server?name=zoo", authorization="Bearer another").text)["score"] is None


@pytest.mark.parametrize(
    ("http", "sees_all"),
    [
        ({}, True),
        ({"host": "localhost"}, True),
        ({"token": WORD}, False),
        ({"host": "0.0.0.0"}, False),  # noqa: S104
        ({"allowed_hosts": ("scores.example.org",)}, False),
    ],
)
def test_only_this_machine_sees_everything_without_a_token(dashboard, http, sees_all):
    found = json.loads(dashboard(**http).page("/api/server?name=zoo"))
    assert (found["score"] is not None) is sees_all


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded"])
def test_who_comes_through_a_proxy_on_this_machine_is_not_this_machine(dashboard, header):
    browser = dashboard()
    assert json.loads(browser.ask("/api/server?name=zoo").text)["score"] is not None
    assert json.loads(browser.ask("/api/server?name=zoo", **{header: "for=203.0.113.7"}).text)["score"] is None


def basic(password, name="anybody"):
    return "Basic " + b64encode(f"{name}:{password}".encode()).decode()


def test_a_browser_asks_for_the_token_and_leads_back_to_the_page(dashboard):
    browser = dashboard(token=WORD)
    (link,) = re.findall('href="([^"]*sign-in=1)"', browser.page("/tool?server=zoo&name=list_zebras"))
    path = unescape(link)
    assert path == "/tool?server=zoo&name=list_zebras&sign-in=1"
    refused = browser.ask(path)
    assert (refused.status_code, refused.headers["www-authenticate"].split()[0]) == (401, "Basic")
    page = browser.page(path, authorization=basic(WORD))
    assert "zebras of one keeper" in page
    assert "Sign in" not in page
    assert "zebras of one keeper" in browser.page("/report?name=zoo", authorization=basic(WORD, name=""))


@pytest.mark.parametrize(
    "sent", [basic(""), basic("wrong"), basic("é" * 20), basic(WORD + "x"), "Basic é", "Basic x", WORD]
)
def test_another_token_signs_nobody_in(dashboard, sent):
    answer = dashboard(token=WORD).ask("/report?name=zoo", authorization=sent.encode())
    assert answer.status_code == 401
    assert "zebras" not in answer.text


def test_nobody_is_asked_for_a_token_that_is_not_there(dashboard):
    browser = dashboard(host="0.0.0.0")  # noqa: S104
    assert "sign-in=1" not in browser.page("/?sign-in=1")
    assert "www-authenticate" not in browser.ask("/report?name=zoo").headers


def test_a_huge_form_is_refused(dashboard):
    answer = dashboard().ask("/check", method="POST", content="definitions=" + "x" * 1_100_000)
    assert answer.status_code == 413


def test_another_host_name_is_refused(dashboard):
    browser = dashboard(allowed_hosts=("scores.example.org",))
    bases = ("http://evil.example", "http://127.0.0.1.evil.example", "http://scores.example.org")
    assert [browser.ask("/", base=base).status_code for base in bases] == [421, 421, 200]
    assert browser.ask("/", base="http://[::1]:9").status_code == 200


def test_every_answer_has_a_strict_policy(dashboard):
    browser = dashboard()
    for path in (*ZOO, *API, *BADGES, "/nowhere", "/health"):
        headers = browser.ask(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none';"), path
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_what_has_not_changed_is_not_sent_again(dashboard, store_url):
    browser = dashboard()
    for path in (*ZOO, *API, *BADGES, *PRIVATE):
        etag = browser.ask(path).headers["etag"]
        again = browser.ask(path, if_none_match=etag)
        assert (again.status_code, again.text, again.headers["etag"]) == (304, "", etag)
    first = browser.ask("/")
    fill(store_url, [scored_capture("another", {"tools": [FINE]})])
    second = browser.ask("/", if_none_match=first.headers["etag"])
    assert second.status_code == 200
    assert "another" in second.text


def test_what_a_sweep_stores_during_a_visit_counts_at_the_next(dashboard, store_url, monkeypatch):
    browser = dashboard([zoo(), scored_capture("other", {"tools": [FINE]})])
    methods = stored_scores.methods

    def read_before_a_sweep(connection):
        found = methods(connection)
        monkeypatch.setattr(stored_scores, "methods", methods)
        fill(store_url, [scored_capture("another", {"tools": [FINE]})])
        return found

    monkeypatch.setattr(stored_scores, "methods", read_before_a_sweep)
    assert [browser.scores.find_server("zoo").percentiles.servers for _ in range(2)] == [1, 2]


def test_the_public_never_gets_what_a_maintainer_has_had_rendered(dashboard):
    browser = dashboard(token=WORD)
    path = "/tool?server=zoo&name=list_zebras"
    full = browser.ask(path, authorization=f"Bearer {WORD}")
    public = browser.ask(path, if_none_match=full.headers["etag"])
    assert public.status_code == 200
    assert "zebras of one keeper" in full.text
    assert "zebras of one keeper" not in public.text
    assert public.headers["vary"] == "Authorization, Accept-Encoding"
    assert full.headers["cache-control"] == "private, no-cache"


def test_a_failure_of_the_database_is_not_shown(dashboard, monkeypatch, store_url):
    browser = dashboard()

    def fail(*_, **__):
        from tdqs_mcp.errors import InputError  # noqa: PLC0415

        raise InputError(f"the store {store_url!r} cannot be used")

    monkeypatch.setattr(stored_scores, "read", fail)
    answer = browser.ask("/")
    assert answer.status_code == 503
    assert store_url not in answer.text


def test_no_text_of_a_definition_becomes_markup(dashboard):
    browser = dashboard([zoo(EVIL, FINE)], [scored_capture("<img src=x>", {"tools": [EVIL]}), zoo(EVIL)])
    texts = every_text(browser)
    texts["tool"] = browser.page(query("/tool", server="zoo", name=EVIL["name"]))
    for path, text in texts.items():
        if path.startswith(("/api", "/badge")):
            assert "\x1b" not in text
            continue
        assert re.findall(r"<script[^>]*>", text) == re.findall(
            r'<script defer src="/static/[^"]+" integrity="[^"]+">', text
        )
        assert "<img src=x" not in text
        assert "<b>evil" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "\\x1b[31mred" in texts["tool"]
    assert "{{ 7 * 7 }}" in texts["tool"]


# The command


@pytest.mark.process
def test_the_command_serves_until_it_is_ended(tmp_path):
    store = str(tmp_path / "store.sqlite")
    fill(store, [zoo()])
    words = ("dashboard", "--store", store, "--http", "127.0.0.1:0")
    with subprocess.Popen([sys.executable, "-m", "tdqs_mcp", *words], stderr=subprocess.PIPE) as process:
        url = re.search(rb"serving (http://\S+)", process.stderr.readline())[1].decode()
        assert "zoo" in httpx2.get(url).text
        process.terminate()
        assert process.wait(timeout=30) == 130


@pytest.mark.parametrize(
    ("words", "environ", "told"),
    [
        (("--http", "x"), {}, b"'x' is not an address"),
        (("--store", "nowhere.sqlite"), {}, b"there is no store"),
        ((), {"TDQS_DASHBOARD_TOKEN": "short"}, b"fewer than 16 characters"),
        ((), {"TDQS_DASHBOARD_TOKEN": ""}, b"TDQS_DASHBOARD_TOKEN is empty"),
        (("--allowed-host", "https://x"), {}, b"is not a host"),
    ],
)
def test_what_cannot_be_served_is_said(command, monkeypatch, words, environ, told):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    done = command("dashboard", *words)
    assert done.returncode == 2
    assert told in done.stderr


# In a browser

WAYS = [
    (20, "light", DESKTOP),
    (1, "light", PHONE),
    (60, "dark", PHONE),
]


@pytest.fixture
def served(tmp_path):
    """The address of a dashboard over these sweeps."""
    made = []

    def serve(*sweeps, **http):
        store = str(tmp_path / "store.sqlite")
        fill(store, *sweeps)
        scores = StoredScores(store)
        made.append((Loopback([Mount("/", app=make_site(scores, Http(**http)))]), scores))
        return made[-1][0].address

    yield serve
    for server, scores in made:
        server.close()
        scores.close()


@pytest.mark.process
@pytest.mark.parametrize(("count", "scheme", "size"), WAYS)
def test_every_page_is_quiet_and_accessible(served, visit, count, scheme, size):
    changed = [
        {**each, "description": "Now another text."} if place == 0 else each for place, each in enumerate(many(count))
    ]
    now = zoo(*changed)
    address = served([zoo(*many(count))], [now, scored_capture("other", {"tools": [FINE]}, is_official=True)])
    seen = visit(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    of_tool = query("/tool", server="zoo", name=many(4)[min(count, 4) - 1]["name"])
    paths = (
        "/",
        "/server?name=zoo",
        of_tool,
        "/report?name=zoo",
        "/statistics",
        "/rules",
        "/rules/TDQ101",
        "/tools?text=zebras",
        "/check",
        "/trend",
        query("/compare", method=METHOD.key),
    )
    for path in paths:
        seen.page.goto(address + path)
        assert seen.logged == [], path
        assert seen.page.title() != "taken"
        assert not seen.is_wider_than_the_screen, path
        assert seen.serious() == [], path
    hosts = {url.split("/", 3)[2] for url in seen.asked if not url.startswith("data:")}
    assert hosts == {address.removeprefix("http://")}


@pytest.mark.process
@pytest.mark.parametrize("is_scripted", [True, False])
def test_a_visitor_finds_a_tool_and_signs_in(served, visit, is_scripted):
    address = served([zoo(*many(20)), scored_capture("other", {"tools": [FINE]})], token=WORD)
    # What somebody types when the browser asks: Chromium sends nothing before that.
    typed = {"username": "maintainer", "password": WORD}
    seen = visit(address, java_script_enabled=is_scripted, http_credentials=typed)
    page = seen.page
    page.fill("[name=text]", "ZO")
    page.click("text=Show")
    assert page.locator("tbody tr").count() == 1
    page.click("text=zoo")
    page.locator("#narrow").wait_for(state="visible" if is_scripted else "hidden")
    page.click("text=list_zebras_1")
    assert page.locator("text=zebras of one keeper").count() == 0
    page.click("text=Sign in")
    assert page.locator("p.definition").inner_text().startswith("Lists the zebras of one keeper")
    assert page.locator("mark").count() > 0
    assert seen.logged == []
    page.goto(f"{address}/report?name=zoo")
    assert page.locator("text=zebras of one keeper").count() > 0


@pytest.mark.process
@pytest.mark.parametrize("is_scripted", [True, False])
def test_definitions_are_pasted_and_checked(served, visit, is_scripted, tmp_path):
    seen = visit(served([zoo()]) + "/check", java_script_enabled=is_scripted)
    page = seen.page
    page.fill("[name=definitions]", "{broken")
    page.click("main button")
    assert "not valid JSON" in page.locator("[role=alert]").inner_text()
    (tmp_path / "tools.json").write_text(PASTED)
    page.set_input_files("[name=file]", tmp_path / "tools.json")
    page.click("main button")
    assert page.locator("text=Playground").count() == 1
    assert page.locator(".overall .big").inner_text()[0].isdigit()
    assert not is_scripted or seen.serious() == []
    assert [line for line in seen.logged if "422" not in line] == []


@pytest.mark.process
def test_scripts_make_it_faster(served, visit):
    address = served([zoo(*many(20)), scored_capture("other", {"tools": [FINE]})])
    page = visit(address).page
    page.select_option("[name=order]", "name")
    page.wait_for_url("**order=name**")
    page.goto(f"{address}/server?name=zoo")
    page.fill("#narrow input", "ZEBRAS_1")
    assert page.locator("#tools tbody tr:visible").count() == 3
    assert page.locator("#narrow [role=status]").inner_text() == "3 of 20 tools"


@pytest.mark.bench
def test_200_clients_at_once_get_an_answer(served, record_property):
    captures = [scored_capture(f"server/{place}", {"tools": many(4)}) for place in range(60)]
    address = served(captures)
    paths = ["/", "/statistics", "/api/servers", "/rules/TDQ101"]
    paths += [query(page, name=each.server) for page in ("/server", "/api/server") for each in captures]
    paths += [f"/badge/{quote(each.server)}.svg" for each in captures]
    gate = threading.Barrier(200)

    def visit(client):
        gate.wait(timeout=60)
        taken = []
        with httpx2.Client(base_url=address, timeout=60) as session:
            for turn in range(2):
                started = perf_counter()
                answer = session.get(paths[(7 * client + 211 * turn) % len(paths)])
                taken.append((perf_counter() - started, answer.status_code))
        return taken

    with ThreadPoolExecutor(200) as pool:
        taken = sorted(each for visits in pool.map(visit, range(200)) for each in visits)
    assert {status for _, status in taken} == {200}
    p50, p95 = (taken[len(taken) * percent // 100][0] for percent in (50, 95))
    record_property("ratio", f"p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms of {len(taken)} answers to 200 clients")
