"""What every test may use: the shared data, the program under test, and a CI that skips nothing."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from browser import Visit
from click.testing import CliRunner
from loopback import Chat
from measurement import least_work
from postgres import PROGRAMS, Postgres

from tdqs_mcp.cli import cli
from tdqs_mcp.model import Catalog
from tdqs_mcp.sources.files import read_catalog

ROOT = Path(__file__).parents[1]

hypothesis.settings.register_profile("tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("tests")

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it in its workers; what is no terminal has the width of the program

for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:  # a shell's job in the background; what tests start inherits it
        signal.signal(_number, signal.SIG_DFL)

FIXTURE_MARKERS = {
    "tdqs_mcp": "process",
    "postgres": "process",
    "shared": "corpus",
    "catalog_files": "corpus",
    "whole_corpus": "corpus",
    "check_ratio": "bench",
    "compare_work": "bench",
}
"""What a fixture needs, its tests need: they get its marker."""

CI_CANNOT_RUN = "TDQS_SHARED is unset"
"""How a test begins its reason to skip if it needs data that cannot be captured from packages."""

gc.set_threshold(20_000, 20, 50)  # with the default of 700 objects, a quarter of the tests' time goes to the collector

_running: list[pytest.Item] = []


def pytest_collection_finish():
    """Leaves what the test modules have imported out of all later collections of garbage."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks tests by their fixtures, before -m selects."""
    for item in items:
        for fixture in FIXTURE_MARKERS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(FIXTURE_MARKERS[fixture])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """Remembers the running test for the audit hook."""
    _running.append(item)
    try:
        return (yield)
    finally:
        _running.remove(item)


def _refuse_processes(event, args):
    if event == "subprocess.Popen" and _running:
        item = _running[-1]
        if not any(item.get_closest_marker(name) for name in ("process", "bench", "llm_local")):
            pytest.fail(f"the test starts {args[0]!r}: mark it with pytest.mark.process")


sys.addaudithook(_refuse_processes)


def pytest_terminal_summary(terminalreporter):
    """Prints the measured ratios. With TDQS_NO_SKIPS, a skip that CI could have avoided is a failure."""
    passed, failed = (terminalreporter.stats.get(outcome, []) for outcome in ("passed", "failed"))
    ratios = [(report.nodeid, value) for report in [*passed, *failed] for key, value in report.user_properties]
    if ratios:
        terminalreporter.section("ratios")
    for test, value in ratios:
        terminalreporter.write_line(f"{value} {test}")
    skipped = [
        report for report in terminalreporter.stats.get("skipped", []) if CI_CANNOT_RUN not in str(report.longrepr)
    ]
    if skipped and os.environ.get("TDQS_NO_SKIPS"):
        terminalreporter.write_line(f"{len(skipped)} skipped tests count as failures here", red=True)
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def _cache_folders(tmp_path_factory):
    """Names of folders, a new one for each test; few tests make theirs, and making all of them takes seconds."""
    return map(str, map((tmp_path_factory.getbasetemp() / "caches").joinpath, map(str, count())))


@pytest.fixture(autouse=True)
def _own_cache(_cache_folders, monkeypatch):
    """No test finds what another one, or the machine's user, has had judged."""
    folder = next(_cache_folders)
    monkeypatch.setenv("TDQS_CACHE", f"{folder}/cache")
    monkeypatch.setenv("XDG_CACHE_HOME", f"{folder}/home")


@pytest.fixture(scope="session")
def shared():
    """The folder of labels and other people's data, which no package carries."""
    folder = os.environ.get("TDQS_SHARED")
    if not folder:
        pytest.skip(f"{CI_CANNOT_RUN}: it names the folder of labels, which cannot be captured from packages")
    if not (Path(folder) / "data" / "catalogs").is_dir():
        pytest.fail(f"TDQS_SHARED: no data/catalogs in {folder}")
    return Path(folder)


@pytest.fixture(scope="session")
def catalog_files():
    """The captured catalogs of the first round of real servers: TDQS_SHARED's, or a corpus folder's."""
    expected = _expected_catalogs()
    found = [file for file in expected if file.exists()]
    if not found:
        pytest.skip(f"no captured definitions in {expected[0].parent}: run calibration/capture_corpus.py")
    return found


@pytest.fixture(scope="session")
def whole_corpus(catalog_files):
    """The same, for tests that count: none of the catalogs is missing."""
    missing = [file.stem for file in _expected_catalogs() if file not in catalog_files]
    if missing:
        pytest.skip(f"{CI_CANNOT_RUN}, and the corpus lacks {', '.join(missing)}")
    return catalog_files


def _expected_catalogs():
    shared = os.environ.get("TDQS_SHARED")
    corpus = os.environ.get("TDQS_CORPUS", ROOT / ".ci" / "cache" / "corpus")
    folder = (Path(shared) / "data" if shared else Path(corpus)) / "catalogs"
    ledger = tomllib.loads((ROOT / "calibration" / "corpus.toml").read_text(encoding="utf-8"))
    return [folder / f"{server['name']}.json" for server in ledger["servers"] if server["round"] == 1]


@pytest.fixture
def check_ratio(record_property):
    """Reports a ratio beside what it should be; fails beyond twice that, which a busy machine does not explain."""

    def check(figure, *, at_most):
        record_property("ratio", f"{figure:6.2f} of at most {at_most:<5g}")
        assert figure <= 2 * at_most

    return check


@pytest.fixture
def compare_work(check_ratio):
    """Checks how much more processor time one function takes than another."""

    def compare(ours, peer, *, at_most, rounds=3, measure=least_work):
        check_ratio(measure(ours, rounds) / measure(peer, rounds), at_most=at_most)

    return compare


@pytest.fixture
def tdqs_mcp():
    """The installed command, run as a user runs it; gives back the finished process."""

    def run(*args, stdin=b"", **options):
        command = [sys.executable, "-m", "tdqs_mcp", *map(str, args)]
        return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False, **options)

    return run


@pytest.fixture
def command(monkeypatch):
    """The command in this process, for what does not depend on a process of its own; answers as `tdqs_mcp` does."""

    def run(*args, stdin=b"", cwd=None, env=None):
        with monkeypatch.context() as patch:
            patch.chdir(cwd or Path.cwd())
            done = CliRunner().invoke(
                cli, [*map(str, args)], input=stdin, env=env, catch_exceptions=False, prog_name="tdqs-mcp"
            )
        return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout_bytes, stderr=done.stderr_bytes)

    return run


@pytest.fixture
def configure(tmp_path, monkeypatch):
    """Writes the user's own configuration, and gives back its folder."""

    def write(text):
        file = tmp_path / "config.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv("TDQS_CONFIG", str(file))
        return file

    return write


@pytest.fixture
def write(tmp_path):
    """Write a JSON value, or text or bytes as they are, to a file below the test's folder."""

    def write(name, content):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def catalog():
    """A catalog of inline definitions."""

    def read(*tools, name="inline") -> Catalog:
        return read_catalog({"tools": list(tools)}, name=name)

    return read


@pytest.fixture
def loopback():
    """An OpenAI-compatible endpoint that gives every dimension a 4, unless its `answer` is set."""
    endpoint = Chat()
    yield endpoint
    endpoint.close()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this session's own."""
    if not PROGRAMS:
        pytest.skip("no initdb on PATH or below /usr/lib/postgresql: install PostgreSQL")
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def store_url(request, tmp_path):
    """A new store, in each of the two databases."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return request.getfixturevalue("postgres").create_schema()


@pytest.fixture
def store(store_url):
    """The same, opened."""
    from tdqs_mcp.store.database import open_store  # noqa: PLC0415

    engine = open_store(store_url)
    yield engine
    engine.dispose()


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def chromium():
    """Debian's chromium; none is downloaded."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # slow to import: every worker and the controller read this file

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens a page, of a class of visits, until the test ends."""
    visits = []

    def go(*words, kind=Visit, **options):
        visits.append(kind(chromium, *words, **options))
        return visits[-1]

    yield go
    for each in visits:
        each.context.close()
