"""Valid answers of models, kept in SQLite: what was judged once is never paid for again."""

from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar
from weakref import finalize

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateTable

from tdqs_mcp.judges.judge import CacheKey

Result = TypeVar("Result")

FILE = "judgements.sqlite"

PATIENCE = 5.0
"""Seconds to wait for another process that writes; one answer is written in a fraction of a millisecond."""

MAX_ANSWERS = 500_000
"""Answers that are kept, the newest: about 1 GB, twice the 200,000 tools of a registry."""

_ANSWERS = Table(
    "answers_1",  # a change of columns is a new table, so that versions of this program can share a file
    MetaData(),
    *(Column(each.name, Integer if each.type is int else String, primary_key=True) for each in fields(CacheKey)),
    Column("answer", Text, nullable=False),
)

_GET = select(_ANSWERS.c.answer).where(*(column == bindparam(column.name) for column in _ANSWERS.primary_key))
_INSERT = insert(_ANSWERS)
_PUT = _INSERT.on_conflict_do_update(
    index_elements=_ANSWERS.primary_key.columns, set_={"answer": _INSERT.excluded.answer}
)


class Judgements:
    """A cache of answers in a folder; on the first failure it says so once and is off from then on.

    Several processes may share the folder. Nothing is opened before the first look-up.
    """

    def __init__(self, folder: Path, *, warn: Callable[[str], None]) -> None:
        self._path = folder / FILE
        self._warn = warn
        self._engine: Engine | None = None
        self._is_off = False

    def __repr__(self) -> str:
        return f"Judgements({str(self._path)!r})"

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""

        def read(engine: Engine) -> str | None:
            with engine.connect() as connection:
                answer: str | None = connection.scalar(_GET, asdict(key))
            return answer

        return self._try(read)

    def put(self, key: CacheKey, answer: str) -> None:
        """Keep an answer; the system has it before this returns, so a killed run goes on where it was."""

        def write(engine: Engine) -> None:
            with engine.begin() as connection:
                connection.execute(_PUT, {**asdict(key), "answer": answer})

        self._try(write)

    def _try(self, use: Callable[[Engine], Result]) -> Result | None:
        """What `use` gives; None where the file cannot be used, which must not cost anybody a judgement."""
        if self._is_off:
            return None
        try:
            return use(self._opened())
        except UnicodeEncodeError:
            return None  # a lone surrogate; this one answer is not kept
        except (SQLAlchemyError, OSError) as error:
            self._is_off = True
            self._warn(
                f"judgements are not kept: {str(self._path)!r} cannot be used ({_reason(error)}); "
                "delete it, or set TDQS_CACHE to another folder or to off"
            )
            return None

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = _open(self._path)
            finalize(self, self._engine.dispose)
        return self._engine


def _open(path: Path) -> Engine:
    """The database with its table, made where it is not there. Raises SQLAlchemyError and OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": PATIENCE})
    event.listen(engine, "connect", _write_ahead)
    with engine.begin() as connection:
        connection.execute(CreateTable(_ANSWERS, if_not_exists=True))
        _prune(connection)
    return engine


def _prune(connection: Connection) -> None:
    """Leaves the newest answers: SQLite numbers rows as they come, and their room is used again."""
    number = literal_column("rowid", Integer)
    newest = connection.scalar(select(func.max(number)).select_from(_ANSWERS)) or 0
    oldest = connection.scalar(select(func.min(number)).select_from(_ANSWERS)) or 0
    if newest - oldest >= MAX_ANSWERS:  # a file that is small enough is not locked
        connection.execute(delete(_ANSWERS).where(number <= newest - MAX_ANSWERS))


def _write_ahead(connection: Any, _: object) -> None:  # noqa: ANN401  # sqlite3's, behind SQLAlchemy's own type
    """A log that nobody waits for: only a loss of power may cost the last answers, never the file."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split()) or type(cause).__name__
