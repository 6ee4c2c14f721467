"""What every test may use: the shared data, the program under test, and a CI that skips nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from loopback import Chat

from tdqs_mcp.cli import cli
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.sources.files import read_catalog


def pytest_terminal_summary(terminalreporter):
    """With TDQS_NO_SKIPS, a skipped test is a failure: CI has everything that a test could miss."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and os.environ.get("TDQS_NO_SKIPS"):
        terminalreporter.write_line(f"{len(skipped)} skipped tests count as failures here", red=True)
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """No test finds what another one, or the machine's user, has had judged."""
    monkeypatch.setenv("TDQS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="session")
def shared():
    """The folder of real catalogs and labels, outside the repository."""
    folder = Path(os.environ.get("TDQS_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "data" / "catalogs").is_dir():
        pytest.skip(f"TDQS_SHARED: no data in {folder}")
    return folder


@pytest.fixture(scope="session")
def catalog_files(shared):
    """The captured catalogs of real servers."""
    return sorted((shared / "data" / "catalogs").glob("*.json"))


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
            done = CliRunner().invoke(cli, [*map(str, args)], input=stdin, env=env, catch_exceptions=False)
        return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout_bytes, stderr=done.stderr_bytes)

    return run


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


@pytest.fixture
def anyio_backend():
    return "asyncio"
