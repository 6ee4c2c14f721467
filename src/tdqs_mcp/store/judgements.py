"""Valid answers of models, which are never paid for again, and batches that are under way."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar
from weakref import finalize

from sqlalchemy import Connection, Engine, Integer, bindparam, delete, func, insert, literal_column, select

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import CacheKey
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.store.database import open_store, put_rows, read, transact
from tdqs_mcp.store.tables import ANSWERS, BATCHES, clean_text

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Result = TypeVar("Result")

FILE = "judgements.sqlite"

LOCKS = "judgements.lock"

POLL_SECONDS = 0.2
"""How often a run looks whether another one has the answer that it waits for."""

MAX_ANSWERS = 500_000
"""Answers that a cache folder keeps, the newest: about 1 GB, twice the 200,000 tools of a registry."""

_GET = select(ANSWERS.c.answer).where(*(column == bindparam(column.name) for column in ANSWERS.primary_key))


class Judgements:
    """A cache of answers; on the first failure it says so once and is off from then on.

    A folder has a store of its own, which keeps the newest answers; the store of a sweep, given by its URL, keeps all.
    Several processes may share either. Nothing is opened before the first look-up.
    """

    def __init__(self, place: Path | str, *, warn: Callable[[str], None]) -> None:
        self._place = place
        self._warn = warn
        self._engine: Engine | None = None
        self._is_off = False
        self._claimed: set[CacheKey] = set()
        self._locks: BinaryIO | None = None

    def __repr__(self) -> str:
        return f"Judgements({str(self._place)!r})" if isinstance(self._place, Path) else "Judgements(a store)"

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""

        def find(connection: Connection) -> str | None:
            answer: str | None = connection.scalar(_GET, asdict(key))
            return answer

        return self._try(lambda engine: read(engine, find))

    def put(self, key: CacheKey, answer: str) -> None:
        """Keep an answer; the system has it before this returns, so a killed run goes on where it was."""
        if clean_text(answer) != answer:
            return  # no database holds it; this one answer is not kept
        row = {**asdict(key), "answer": answer}
        self._try(lambda engine: transact(engine, lambda connection: put_rows(connection, ANSWERS, [row])))

    @asynccontextmanager
    async def claim(self, key: CacheKey) -> AsyncGenerator[None]:
        """A context in which no other run of this folder asks for the answer.

        A key is a byte of a file that is locked, so that the system releases those of a killed run. In the store of a
        sweep everybody asks for everything: sweeps at once are rare, and each of them has a plan of its own.
        """
        import anyio  # noqa: PLC0415  # the offline judge goes without

        while not self._lock(key):  # noqa: ASYNC110  # other processes tell nobody
            await anyio.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            self._claimed.remove(key)
            if self._locks is not None:
                fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, _byte_of(key))

    def _lock(self, key: CacheKey) -> bool:
        """Return whether nobody else has the key; where that cannot be known, nobody has."""
        if key in self._claimed:
            return False
        if isinstance(self._place, Path) and fcntl is not None and not self._is_off:
            try:
                if self._locks is None:
                    self._locks = (self._place / LOCKS).open("ab")
                    finalize(self, self._locks.close)
                fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_of(key))
            except BlockingIOError:
                return False
            except OSError:  # a file system without locks
                self._locks = None
        self._claimed.add(key)
        return True

    def _try(self, use: Callable[[Engine], Result]) -> Result | None:
        """Return what `use` gives; None where the store cannot be used, which must not cost anybody a judgement."""
        if self._is_off:
            return None
        try:
            return use(self._opened())
        except InputError as error:
            self._is_off = True
            advice = "; delete it, or set TDQS_CACHE to another folder or to off"
            self._warn(f"judgements are not kept: {error}{advice if isinstance(self._place, Path) else ''}")
            return None

    def _opened(self) -> Engine:
        if self._engine is None:
            place = self._place
            engine = open_store(str(place / FILE) if isinstance(place, Path) else place)
            finalize(self, engine.dispose)
            if isinstance(place, Path):
                _prune(engine)
            self._engine = engine
        return self._engine


def _byte_of(key: CacheKey) -> int:
    """The place of a key in the file of locks, which stays empty."""
    return int(short_hash(repr(key))[:15], 16)


def _prune(engine: Engine) -> None:
    """Leaves the newest answers: SQLite numbers rows as they come, and their room is used again."""
    number = literal_column("rowid", Integer)
    ends = select(func.min(number), func.max(number)).select_from(ANSWERS)
    oldest, newest = read(engine, lambda connection: connection.execute(ends).one())
    if newest is not None and newest - oldest >= MAX_ANSWERS:  # a file that is small enough is not locked
        older = delete(ANSWERS).where(number <= newest - MAX_ANSWERS)
        transact(engine, lambda connection: connection.execute(older))


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingBatch:
    """A batch that has not been collected."""

    number: int
    note: str
    """What `collect_batch` needs."""

    captures: tuple[str, ...]


def add_batch(engine: Engine, method: MethodStamp, note: str, captures: Sequence[str]) -> None:
    """Keeps what is needed to collect a batch. Raises InputError."""
    row = {"method": method.key, "note": note, "captures": json.dumps(captures)}
    transact(engine, lambda connection: connection.execute(insert(BATCHES), row))


def pending_batches(engine: Engine, method: MethodStamp) -> list[PendingBatch]:
    """The batches under way, the oldest first. Raises InputError."""
    query = select(BATCHES).where(BATCHES.c.method == method.key).order_by(BATCHES.c.number)
    rows = read(engine, lambda connection: connection.execute(query).mappings().all())
    return [
        PendingBatch(number=row["number"], note=row["note"], captures=tuple(json.loads(row["captures"])))
        for row in rows
    ]


def remove_batch(engine: Engine, batch: PendingBatch) -> None:
    """Forgets a batch that is collected. Raises InputError."""
    statement = delete(BATCHES).where(BATCHES.c.number == batch.number)
    transact(engine, lambda connection: connection.execute(statement))
