"""Processes that tests start: published servers, what listens on loopback, which run, and waiting for what they do."""

import os
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import anyio
import pytest

SERVERS = os.environ.get("TDQS_TEST_SERVERS", "")
needs_servers = pytest.mark.skipif(
    not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR"
)


def processes(marker):
    """The processes with the marker among their arguments, but our own program."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes() if folder.name.isdecimal() else b""
        except OSError:
            continue
        if marker.encode() in words and b"tdqs_mcp" not in words.split(b"\0"):
            found.append(int(folder.name))
    return found


def wait_until(holds, what="what is waited for", seconds=60):
    """The system takes a moment to end what was killed, too."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


async def until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:  # noqa: ASYNC110  # /proc tells nobody
        await anyio.sleep(0.05)
    assert holds()


def free_port():
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def listening(command, port, path="/mcp", **env):
    """A program that listens on the port; gives a URL on the loopback and what it has written when it has ended."""
    written = []
    with TemporaryFile() as file:
        process = subprocess.Popen([*map(str, command)], stdout=file, stderr=file, env=os.environ | env)
        try:
            wait_until(lambda: is_open(port) or process.poll() is not None)
            assert process.poll() is None, os.pread(file.fileno(), 9_999, 0).decode()
            yield f"http://127.0.0.1:{port}{path}", written
        finally:
            process.terminate()
            process.wait(20)
            file.seek(0)
            written.append(file.read().decode())
