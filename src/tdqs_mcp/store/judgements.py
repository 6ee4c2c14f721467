"""Valid answers of models, which are never paid for again, and batches that are under way."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from weakref import finalize

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
)
from sqlalchemy.exc import DBAPIError

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import CacheKey
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.store.database import open_store, put_rows, read, read_url, rows_among, transact
from tdqs_mcp.store.tables import ANSWERS, BATCHES, RETRIES, clean_text

if TYPE_CHECKING:
    from anyio import Semaphore

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

MAX_CLAIMS = 1_000
"""Keys that a run locks at once: the system goes through all of a file for each, 2.5 s for 10,000, 0.01 s for 1,000."""

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
        self._places: Semaphore | None = None
        self._locks: BinaryIO | None = None
        self._session: Connection | None = None

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

        A key is a byte of a file that is locked, in PostgreSQL an advisory lock: those of a killed run are released.
        """
        import anyio  # noqa: PLC0415  # the offline judge goes without

        self._places = self._places or anyio.Semaphore(MAX_CLAIMS)
        async with self._places:
            while not self._lock(key):  # noqa: ASYNC110  # other processes tell nobody
                await anyio.sleep(POLL_SECONDS)
            try:
                yield
            finally:
                self._claimed.remove(key)
                if self._session is not None:
                    self._in_session(func.pg_advisory_unlock(_byte_of(key)))
                elif self._locks is not None:
                    fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, _byte_of(key))

    def _lock(self, key: CacheKey) -> bool:
        """Return whether nobody else has the key; where that cannot be known, nobody has."""
        if key in self._claimed:
            return False
        if self._is_off:
            pass
        elif isinstance(self._place, str) and self._place.startswith("postgres"):
            if self._in_session(func.pg_try_advisory_lock(_byte_of(key))) is False:
                return False
        elif fcntl is not None:
            try:
                if self._locks is None:
                    place = self._place
                    path = place / LOCKS if isinstance(place, Path) else Path(f"{read_url(place).database}.lock")
                    self._locks = path.open("ab")
                    finalize(self, self._locks.close)
                fcntl.lockf(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte_of(key))
            except BlockingIOError:
                return False
            except OSError:  # a file system without locks
                self._locks = None
        self._claimed.add(key)
        return True

    def _in_session(self, call: ColumnElement[bool]) -> bool | None:
        """Return what the call gives in the session that holds the locks; None where the database has ended it."""
        try:
            if self._session is None:
                session = self._opened().connect().execution_options(isolation_level="AUTOCOMMIT")
                self._session = session
                finalize(self, session.close)
            return self._session.scalar(select(call))
        except (DBAPIError, InputError):
            self._session = None
            return None

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
class Retry:
    """A question whose answers cannot be used."""

    attempts: int
    ask_after: int
    """Seconds since 1970."""

    reason: str


def read_retries(engine: Engine, method: MethodStamp, questions: Sequence[str]) -> dict[str, Retry]:
    """Return those of the questions that have had such answers. Raises InputError."""
    query = select(RETRIES).where(RETRIES.c.method == method.key)

    def rows(connection: Connection) -> dict[str, Retry]:
        return {
            row["question"]: Retry(attempts=row["attempts"], ask_after=row["ask_after"], reason=row["reason"])
            for row in rows_among(connection, query, RETRIES.c.question, questions)
        }

    return read(engine, rows)


def put_retries(engine: Engine, method: MethodStamp, retries: Mapping[str, Retry]) -> None:
    """Keeps when questions may be asked again. Raises InputError."""
    rows = [
        {"method": method.key, "question": question, **asdict(retry), "reason": clean_text(retry.reason)}
        for question, retry in sorted(retries.items())
    ]
    transact(engine, lambda connection: put_rows(connection, RETRIES, rows))


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
