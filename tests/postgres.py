"""A PostgreSQL server on a Unix socket in a temporary folder."""

import os
import shutil
import signal
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from time import monotonic


def _programs():
    """The folder of initdb and pg_ctl; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    places = [Path(found).resolve()] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


PROGRAMS = _programs()

_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
_ALONE = "autovacuum=off"  # nothing but the test writes
_SETTINGS = ("-h", "", *(word for setting in (*_QUICK, _ALONE) for word in ("-c", setting)))


class Postgres:
    """Started when it is made; PostgreSQL refuses to run as root, so root gives it to another user."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tdqs-pg-"))
        self._user = None
        if os.geteuid() == 0:
            self._user = "postgres" if "postgres:" in Path("/etc/passwd").read_text(encoding="utf-8") else "nobody"
            shutil.chown(self.folder, self._user)
        self._data = ("-D", str(self.folder / "data"))
        self._options = {
            "cwd": self.folder,
            "user": self._user,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        self._names = map("store{}".format, count())
        initialize = (*("--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync"), *self._data)
        subprocess.run([PROGRAMS / "initdb", *initialize], **self._options, check=True, timeout=60)
        self._start()

    def url(self, schema="public"):
        return f"postgresql://postgres@/postgres?host={self.folder}&options=-csearch_path%3D{schema}"

    def create_schema(self):
        """The URL of a new one, which is made faster than a database."""
        import psycopg  # noqa: PLC0415  # slow to import

        name = next(self._names)
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return self.url(name)

    def restart(self):
        """Ends every connection; a transaction that is under way is rolled back."""
        self._stop(signal.SIGINT)
        self._start()

    def close(self):
        self._stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)

    def _start(self):
        self._process = subprocess.Popen(
            [PROGRAMS / "postgres", *self._data, "-k", str(self.folder), *_SETTINGS], **self._options
        )
        import psycopg  # noqa: PLC0415

        end = monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, f"PostgreSQL ended, see {self.folder}"
                assert monotonic() < end, "PostgreSQL does not answer"
            else:
                return

    def _stop(self, how):
        self._process.send_signal(how)
        self._process.wait(60)
