"""The official registry as input: a server of ours that speaks its API, remotes that are captured, packages that are not."""

import json
import shlex
import sys
from contextlib import ExitStack

import pytest
from loopback import Loopback
from starlette.responses import JSONResponse
from starlette.routing import Route
from test_dashboard import Browser
from test_live_http import own_server, serving

from tdqs_mcp.app import sweeping
from tdqs_mcp.app.settings import read_settings

OFFICIAL = "io.modelcontextprotocol.registry/official"


def entry(name, version="1.0.0", *, status="active", latest=True, **server):
    meta = {OFFICIAL: {"status": status, "isLatest": latest, "updatedAt": f"2026-10-0{version[0]}T00:00:00Z"}}
    return {"server": {"name": name, "description": "Does it.", "version": version, **server}, "_meta": meta}


class Registry(Loopback):
    """Speaks the registry's API, two servers a page."""

    def __init__(self):
        self.entries, self.asked, self.cursor = [], [], None
        super().__init__([Route("/v0/servers", self._list)])

    async def _list(self, request):
        self.asked.append(dict(request.query_params))
        start = int(request.query_params.get("cursor", "0").removeprefix("c"))
        page = self.entries[start : start + 2]
        more = {"nextCursor": self.cursor or f"c{start + 2}"} if start + 2 < len(self.entries) else {}
        return JSONResponse({"servers": page, "metadata": {"count": len(page), **more}})


@pytest.fixture
def registry():
    server = Registry()
    yield server
    server.close()


@pytest.fixture
def remote():
    """The URL of an MCP server with one tool."""
    with ExitStack() as stack:
        yield f"{stack.enter_context(serving(own_server().streamable_http_app()))}/mcp"


def remotes(url):
    return {"remotes": [{"type": "streamable-http", "url": url}]}


def admit_all(_):
    async def addresses():
        return ["127.0.0.1"]

    return addresses()


@pytest.fixture
def sweep(store_url):
    def run(place, warn=pytest.fail, **changes):
        named = {
            "inputs": (f"registry+{place}",),
            "store": store_url,
            "settings": read_settings({}),
            "admit": admit_all,
        }
        return sweeping.sweep_registry(sweeping.SweepRequest(**named | changes), warn=warn)

    return run


def test_remotes_are_captured_and_shown_with_version_and_links(registry, remote, sweep, store_url):
    links = {"websiteUrl": "https://adds.example", "repository": {"url": "javascript:alert(1)", "source": "github"}}
    registry.entries = [
        entry("io.example/adds", "1.0.0", latest=False, **remotes("http://127.0.0.1:9/old")),
        entry("io.example/adds", "2.0.0", title="Adds numbers", **links, **remotes(remote)),
        entry("io.example/gone", status="deleted", **remotes(remote)),
        entry("io.example/silent", **remotes("http://127.0.0.1:9/mcp")),
        entry("io.example/packed", packages=[{"registryType": "npm", "identifier": "@x/y", "version": "1.0.0"}]),
    ]
    report = sweep(registry.address)
    assert (report.servers, report.tools, report.gone) == (1, 1, 0)
    assert [params.get("cursor") for params in registry.asked] == [None, "c2", "c4"]
    assert len(report.problems) == 2
    assert "1 of 3 servers have no remote" in report.problems[0]
    assert report.problems[1].startswith("io.example/silent: ")
    assert sweep(registry.address).unchanged == 1
    browser = Browser(store_url)
    page = browser.page("/server?name=io.example/adds")
    for words in ("Adds numbers", "2.0.0", 'href="https://adds.example"'):
        assert words in page
    assert "javascript" not in page
    browser.scores.close()


def test_a_server_that_leaves_the_registry_is_marked_and_one_that_does_not_answer_is_not(registry, remote, sweep):
    registry.entries = [entry("a", **remotes(remote)), entry("b", **remotes(remote)), entry("c", **remotes(remote))]
    assert sweep(registry.address).servers == 3
    registry.entries = [entry("a", **remotes(remote)), entry("b", **remotes("http://127.0.0.1:9/mcp"))]
    notes = []
    partial = sweep(f"{registry.address}?updated_since=2026-10-01T00:00:00Z", notes.append)
    assert "is a part of its registry's list: no server counts as gone" in notes[0]
    assert registry.asked[-1]["updated_since"] == "2026-10-01T00:00:00Z"
    assert (partial.gone, sweep(registry.address).gone) == (0, 1)


@pytest.mark.parametrize("url", ["https:///mcp", "https://example.com:99999/mcp", "https://[bad/mcp"])
def test_a_malformed_remote_among_good_ones_is_a_problem_of_its_server_alone(registry, remote, sweep, url):
    registry.entries = [entry("a", **remotes(remote)), entry("bad", **remotes(url)), entry("c", **remotes(remote))]
    report = sweep(registry.address)
    assert report.servers == 2
    (problem,) = report.problems
    assert problem.startswith("bad: the URL has no")
    assert "give it as https://host/path" in problem


def test_a_saved_feed_is_read_as_pages_or_lines(registry, remote, sweep, write, tmp_path):
    pages = [{"servers": [entry(name, **remotes(remote))]} for name in ("a", "b")]
    forms = {"one.json": pages[0], "pages.json": pages}
    for name, content in forms.items():
        assert sweep(write(name, json.dumps(content))).servers == len(content) if name != "one.json" else 1
    assert sweep(write("lines.jsonl", "\n".join(map(json.dumps, pages)))).servers == 2


def test_a_saved_feed_is_one_by_whatever_path_and_marks_nobody_where_pages_are_missing(
    remote, sweep, tmp_path, monkeypatch
):
    def save(folder, *names, **metadata):
        (tmp_path / folder).mkdir(exist_ok=True)
        page = {"servers": [entry(name, **remotes(remote)) for name in names], "metadata": metadata}
        (tmp_path / folder / "feed.json").write_text(json.dumps(page))
        monkeypatch.chdir(tmp_path / folder)

    save("one", "a", "b", "c")
    sweep("feed.json")
    save("two", "d")
    assert sweep("feed.json").gone == 0, "of another folder"
    save("one", "a", "b", nextCursor="c2")
    notes = []
    assert sweep("./feed.json", notes.append).gone == 0, "not whole"
    assert notes == ["'./feed.json' is a part of its registry's list: no server counts as gone"]
    save("one", "a", "b")
    assert sweep("./feed.json").gone == 1


@pytest.mark.process
def test_packages_are_started_only_by_the_operator_s_command(registry, sweep):
    package = {"registryType": "pypi", "identifier": "adds", "version": "1.0"}
    bad = {"registryType": "pypi", "identifier": "adds; touch /tmp/x", "version": "1.0"}
    registry.entries = [entry("packed", packages=[package]), entry("bad", packages=[bad])]
    assert sweep(registry.address).servers == 0
    server = "from test_live_http import own_server; own_server().run('stdio')"
    code = f"import sys; assert sys.argv[1:] == ['adds==1.0']; sys.path[:0] = {sys.path!r}; {server}"
    started = sweep(registry.address, starters={"pypi": f"{sys.executable} -c {shlex.quote(code)} {{package}}"})
    assert (started.servers, started.tools) == (1, 1), started.problems


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_what_is_no_registry_is_told(registry, command, write, store_url):
    for content in ("{}", '{"tools": []}', "nothing"):
        done = command("sweep", f"registry+{write('feed.json', content)}", "--store", store_url)
        assert done.returncode == 2
    registry.entries, registry.cursor = [entry(str(place)) for place in range(9)], "c2"
    done = command("sweep", f"registry+{registry.address}", "--store", store_url)
    assert b"gives the cursor 'c2' twice" in done.stdout + done.stderr
    done = command("sweep", "registry+http://127.0.0.1:9", "--store", store_url)
    assert (done.returncode, b"cannot be read" in done.stdout + done.stderr) == (2, True)


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_private_addresses_of_a_registry_are_not_opened_unless_they_are_named(registry, remote, command, store_url):
    registry.entries = [entry("inside", **remotes(remote)), entry("port", **remotes("https://127.0.0.1:8443/mcp"))]
    options = ("sweep", f"registry+{registry.address}", "--store", store_url, "--format", "json")
    done = command(*options)
    assert done.returncode == 2
    assert done.stdout.decode().count("is not at a public address") == 2
    done = command(*options, "--allow-url", "http://127.0.0.1:*")
    assert (done.returncode, json.loads(done.stdout)["servers"]) == (0, 1)
