"""The documentation holds: its commands run and print what it shows, its figures are ours, its site has no broken link."""

import asyncio
import gzip
import json
import os
import re
import shlex
import shutil
import sys
import threading
import tomllib
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit

import agent_session
import click
import documentation
import pytest
import yaml
from documentation import ROOT
from lsprotocol import types as lsp
from own_server import in_process
from test_language_server import editor

import tdqs_mcp
from tdqs_mcp.cli import cli
from tdqs_mcp.results.verdicts import tier_of
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.input_files import parse_material

PAGES = ("README.md", *(f"docs/{file.name}" for file in sorted((ROOT / "docs").glob("*.md"))))
BLOCK = re.compile(r"^```(?P<language>\w*)(?: title=\"(?P<file>.+)\")?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^(?:\.venv/bin/)?tdqs-mcp (?P<words>.+)$", re.MULTILINE)
STAND_INS = {"LOCATOR": "tools.json", "node dist/server.js": "python server.py", "/home/you/servers": "examples"}
ENDLESS = ("serve", "route")
NEEDS_MORE = re.compile(r"npx |\.internal")
"""A block that needs the network or another machine."""
PAIR = [agent_session.BAD, agent_session.SIBLING]
FILES = ("tools.json", "old.json", "base.json", "new.json", "head.json", "better.json")
SCRIPT = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (.+) \|$", re.MULTILINE)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def project(write, tmp_path, monkeypatch):
    """A folder with the files that the documentation names, and the home of somebody with one client."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "server.py", tmp_path)
    shutil.copytree(ROOT / "examples" / "careless", tmp_path / "src")
    for name in FILES:
        write(name, {"tools": PAIR})
    for name in "abcde":
        write(f"{name}.json", {"tools": [each | {"name": f"{each['name']}_{name}"} for each in PAIR]})
    write("queries.json", {"queries": [{"query": "cancel an order", "tool": "cancel_order_a"}]})
    requests = [
        {"query": query, "calls": [{"tool": agent_session.BAD["name"]}]} for query in ("cancel it", "stop my order")
    ]
    write("requests.jsonl", "\n".join(map(json.dumps, requests)))
    write("registry.jsonl.gz", gzip.compress(json.dumps({"server": "shop", "tools": PAIR}).encode()))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("TDQS_STORE", str(tmp_path / "store.sqlite"))
    return tmp_path


def runnable(text):
    """The commands of a block, as words; none where the block needs more than this machine."""
    if NEEDS_MORE.search(text):
        return []
    for placeholder, word in STAND_INS.items():
        text = text.replace(placeholder, word)
    commands = [shlex.split(found["words"], comments=True) for found in PROGRAM.finditer(text)]
    return [words for words in commands if words[0] not in ENDLESS]


@pytest.mark.process
@pytest.mark.parametrize("page", [page for page in PAGES if any(map(runnable, SCRIPT.findall(read(page))))])
def test_the_commands_of_a_page_run_and_print_what_it_shows(page, command, project, write, monkeypatch):
    """With the packages that somebody has who read as far: the default installation, and the extras that were named."""
    printed = None
    for block in BLOCK.finditer(read(page)):
        for module in modules_of_extras(besides=EXTRA.findall(read(page)[: block.end()])):
            monkeypatch.setitem(sys.modules, module, None)
        if block["file"]:
            write(block["file"], block["text"])
        elif block["language"] == "sh":
            runs = [command(*words, cwd=project) for words in runnable(block["text"])]
            assert [run.stderr for run in runs if run.returncode not in (0, 1)] == []
            printed = (b"".join(run.stdout for run in runs).decode(), block.end()) if runs else None
        elif printed and not read(page)[printed[1] : block.start()].strip():
            assert re.search(pattern_of(block["text"]), printed[0], re.DOTALL), printed[0]


EXTRA = re.compile(r"'\.\[(\w+)\]'")


def modules_of_extras(besides):
    """The packages that only extras bring which users install, but for some of these extras."""
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    needed = {extra: {re.match(r"[\w-]+", line)[0] for line in lines} for extra, lines in extras.items()}
    hidden = set().union(*(needed[extra] for extra in ("attest", "postgres", "sweep", "lsp", "study")))
    hidden -= set().union(*(needed[extra] for extra in besides))
    return [module for module, names in installed_modules().items() if hidden & set(names)]


@cache
def installed_modules():
    """Distributions by module; to read the metadata of all of them takes half a second."""
    return packages_distributions()


def test_every_command_that_a_page_names_in_code_exists():
    files = [*PAGES, "CONTRIBUTING.md", "action.yml", ".pre-commit-hooks.yaml", "plugin/README.md"]
    files += [file.relative_to(ROOT).as_posix() for file in (ROOT / "plugin" / "skills").rglob("*.md")]
    named = {word for file in files for word in re.findall(r"[`/ ]tdqs-mcp ([a-z]+)(?= --|`)", read(file))}
    assert len(named) > 10
    assert named <= set(cli.list_commands(None))


def pattern_of(shown):
    """A pattern of a shown text, in which a line with … stands for any text."""
    return ".*".join(map(re.escape, re.split(r"^…\n", shown, flags=re.MULTILINE)))


def test_the_documentations_python_and_settings_work(command, project, monkeypatch, capsys, write):
    monkeypatch.chdir(project)
    exec(first_block("docs/command-line.md", "python"), {})  # noqa: S102  # our own example
    assert capsys.readouterr().out.split()[0] == "25"
    write("tdqs-shared.toml", "")
    write("tdqs.toml", first_block("docs/linting.md", "toml").replace("../", "", 1))
    assert command("lint", "tools.json", cwd=project).returncode < 2


def first_block(page, language):
    return next(block["text"] for block in BLOCK.finditer(read(page)) if block["language"] == language)


def test_an_agent_gets_the_answer_that_the_readme_shows():
    call, answer = [block["text"] for block in BLOCK.finditer(read("README.md")) if block["language"] == "json"]
    request = json.loads(call)

    async def ask():
        async with in_process() as client:
            return await client.call_tool(request["name"], request["arguments"])

    printed = json.dumps(json.loads(asyncio.run(ask()).content[0].text), indent=2, ensure_ascii=False)
    assert re.search(pattern_of(answer), f"{printed}\n", re.DOTALL), printed


@pytest.mark.process
def test_an_editor_shows_what_the_readme_shows(tmp_path):
    shutil.copytree(ROOT / "examples" / "careless", tmp_path / "careless")
    place = re.search(r"Hovering over line (\d+) of\s+`examples/(\S+)`", read("README.md"))
    path, line = tmp_path / place[2], int(place[1])

    async def ask():
        async with editor(path.parent) as client:
            await client.open(path)
            document = lsp.TextDocumentIdentifier(path.as_uri())
            return await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(line - 1, 0)))

    printed = asyncio.run(ask()).contents.value
    assert re.search(pattern_of(first_block("README.md", "markdown")), f"{printed}\n", re.DOTALL), printed


def test_the_readme_has_at_most_150_lines_and_a_command_that_sets_up_and_tests():
    text = read("README.md")
    assert len(text.splitlines()) <= 150
    [line] = re.findall(r"^.*pytest$", text, re.MULTILINE)  # .ci/run runs the line that it finds so
    assert line == "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest"


def rows(page, heading):
    """The rows of the first table below a heading, as lists of cells."""
    table = read(page).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [row.split(" | ") for row in ROW.findall(table) if not row.startswith(("---", "package"))]


def tenths(score):
    return f"{score / 10:.1f}"


# Figures


def test_the_versions_of_the_example_have_the_scores_of_the_gallery():
    material = BLOCK.search(read("docs/reach-a.md"), read("docs/reach-a.md").index('title="answers.yml"') - 8)["text"]
    defective, repaired = (tdqs_mcp.load(str(ROOT / "examples" / f"{name}.json")) for name in ("defective", "repaired"))
    catalogs = [
        defective,
        rewritten(defective),
        rewritten(defective, material=parse_material(yaml.safe_load(material))),
        repaired,
    ]
    shown = [row[1:] for row in rows("docs/gallery.md", "One catalog")[1:]]
    assert shown == [figures(each) for each in catalogs]


def rewritten(catalog, **options):
    return rewritten_by(catalog, tdqs_mcp.rewrite(catalog, **options))


def rewritten_by(catalog, rewrites):
    return apply(catalog, {each.index: each.definition for each in rewrites})


def figures(catalog):
    rollup = tdqs_mcp.score(catalog).rollup
    overall = f"{tenths(rollup.overall)} {tier_of(rollup.overall)}"
    tokens = tdqs_mcp.compare(catalog, catalog).tokens_after
    return [overall, tenths(rollup.mean_tdqs), tenths(rollup.min_tdqs), str(tokens)]


def test_the_real_servers_have_the_scores_of_the_gallery(whole_corpus):
    ledger = tomllib.loads(read("calibration/corpus.toml"))["servers"]
    files = {each["package"]: file for each in ledger for file in whole_corpus if each["name"] == file.stem}
    versions = {each["package"]: each["version"] for each in ledger if each["round"] == 1}
    shown = rows("docs/gallery.md", "Real servers")
    tools = {row[0]: row[1:] for row in shown if len(row) == 6}
    for package, version, *numbers in (row for row in shown if len(row) == 7):
        catalog = tdqs_mcp.load(str(files[package]))
        rewrites = tdqs_mcp.rewrite(catalog)
        assert (versions[package], numbers) == (version, server_row(catalog, rewrites))
        if package in tools:
            assert tools.pop(package) in [tool_row(each) for each in rewrites if each.changes]
    assert not tools


def server_row(catalog, rewrites):
    old, new = (tdqs_mcp.score(each).rollup for each in (catalog, rewritten_by(catalog, rewrites)))
    changed = sum(bool(each.changes) for each in rewrites)
    scores = [f"{tenths(getattr(old, name))} → {tenths(getattr(new, name))}" for name in ("mean_tdqs", "overall")]
    return [str(len(catalog.tools)), str(changed), *scores, f"{sum(each.tokens_added for each in rewrites):+}"]


def tool_row(rewrite):
    old, new = rewrite.before, rewrite.after
    added = " ".join(claim.text for claim in rewrite.claims)
    return [f"`{rewrite.name}`", old.input_hash, new.input_hash, f"{tenths(old.tdqs)} → {tenths(new.tdqs)}", added]


# The site


class Html(HTMLParser):
    """What a page can be linked by, links to, and loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given.get("id"), given.get("name")}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        else:
            self.loaded += [given[name] for name in ("src", "href") if given.get(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    pytest.importorskip("zensical", reason="install the extra docs")
    folder = tmp_path_factory.mktemp("documentation")
    done = documentation.build(folder)
    assert done.returncode == 0, done.stdout
    assert "No issues found" in done.stdout
    return folder / "site"


@pytest.mark.process
def test_the_site_has_no_broken_link_and_loads_nothing_from_elsewhere(site):
    pages = {file: Html(file.read_text(encoding="utf-8")) for file in site.rglob("*.html") if file.name != "404.html"}
    assert len(pages) > len(registry.RULES)
    for file, page in pages.items():
        assert [each for each in page.loaded if urlsplit(each).netloc] == []
        for link in map(urlsplit, page.links):
            target = (file.parent / unquote(link.path)).resolve() if link.path else file
            target = target / "index.html" if target == site else target
            if not (link.scheme or link.netloc):
                assert target.is_file(), (file.name, link)
                assert not link.fragment or unquote(link.fragment) in pages[target].anchors, (file.name, link)


@pytest.mark.process
def test_every_page_is_in_the_navigation_or_a_rule(site):
    named = set(re.findall(r'= "(\S+)\.md"', read("docs/zensical.toml")))
    assert {file.stem for file in site.glob("*.html")} == named | {"404"}
    assert {file.stem for file in (site / "rules").iterdir()} == {rule.id for rule in registry.RULES}


@pytest.mark.process
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_finds_a_rule_and_asks_nobody_else(site, visit, scheme):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        own = f"http://127.0.0.1:{server.server_port}/"
        seen = visit(own, color_scheme=scheme)
        seen.page.locator(".md-search__button").click()
        seen.page.get_by_role("dialog").locator("input").first.fill("missing usage")
        seen.page.locator("a[href$='TDQ104.html']").click()
        seen.page.get_by_role("heading", name="TDQ104 missing-usage").wait_for()
        violations = seen.serious()
        server.shutdown()
    assert [url for url in seen.asked if not url.startswith(own)] == []
    assert seen.logged == []
    assert violations == []


def test_every_command_of_the_compose_file_can_be_started():
    text = (ROOT / "docs" / "registry.md").read_text(encoding="utf-8")
    (block,) = [match["text"] for match in BLOCK.finditer(text) if match["language"] == "yaml"]
    compose = yaml.safe_load(block)
    images = {name: service["image"] for name, service in compose["services"].items()}
    ours = [name for name, image in images.items() if image == images["scheduler"]]
    assert ours == ["scheduler", "worker", "sweep", "dashboard"]
    for name in ours:
        service = compose["services"][name]
        assert {*service.get("secrets", ())} <= compose["secrets"].keys()
        program, *words = service.get("entrypoint") or ["tdqs-mcp", *service["command"]]
        if program.endswith("/dask"):
            module = import_module(f"distributed.cli.dask_{words[0]}")
            module.main.make_context(words[0], words[1:])
        else:
            _, command, options = cli.resolve_command(click.Context(cli), words)
            command.make_context(words[0], options)
