"""Opens a store in SQLite or PostgreSQL with the tables of this version, and runs whole transactions in it."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Insert,
    RowMapping,
    Select,
    Table,
    create_engine,
    event,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from tenacity import retry, retry_if_exception, stop_after_delay, wait_random_exponential

from tdqs_mcp.errors import InputError
from tdqs_mcp.store.tables import METADATA, VERSIONS

Result = TypeVar("Result")

VERSION = "0001"
"""Of the tables. No store of a release exists, so nothing is migrated yet: a change after a release raises it."""

PATIENCE = 30.0
"""Seconds to wait for another process that writes to the same SQLite file."""

RECOVERY = 120.0
"""Seconds in which a database that went away may come back: more than a restart of PostgreSQL takes."""

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}

_LOCK = 8_317_204
"""The advisory lock under which PostgreSQL's tables are made."""


def default_url(environ: Mapping[str, str]) -> str:
    """Return what TDQS_STORE names, else the SQLite file below the platform's data folder."""
    if named := environ.get("TDQS_STORE", "").strip():
        return named
    from platformdirs import user_data_path  # noqa: PLC0415

    return str(user_data_path("tdqs-mcp", appauthor=False) / "store.sqlite")


def read_url(named: str) -> URL:
    """The URL of a store; a name without a scheme is a SQLite file. Raises InputError."""
    if "://" not in named:
        return URL.create("sqlite", database=str(Path(named).expanduser()))
    try:
        url = make_url(named)
    except (ArgumentError, ValueError) as error:
        raise InputError("the store's URL cannot be read: give postgresql://USER@HOST/DATABASE or a file") from error
    backend = url.get_backend_name()
    if backend not in _DRIVERS:
        raise InputError(f"a store cannot be in {backend!r}: give postgresql://USER@HOST/DATABASE or a SQLite file")
    if backend == "sqlite" and url.database in (None, "", ":memory:"):
        raise InputError("the store needs a file: give sqlite:///FILE, or the file alone")
    return url.set(drivername=_DRIVERS[backend])


def file_of(url: URL) -> tuple[int, int] | None:
    """Return device and number of a SQLite file; None for a server, and for a file that is not there."""
    path = Path(str(url.database))
    if url.get_backend_name() != "sqlite" or not path.exists():
        return None
    stats = path.stat()
    return stats.st_dev, stats.st_ino


def public_url(named: str | URL) -> str:
    """The store's file, or its URL without driver and password. Raises InputError."""
    url = read_url(named) if isinstance(named, str) else named
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    parts = (url.username, None, url.host, url.port, url.database, url.query)
    public = URL.create(url.get_backend_name(), *parts)
    return public.difference_update_query(["password", "sslpassword"]).render_as_string()


def open_store(named: str | URL, *, recovery: float = 0) -> Engine:
    """The store with its tables, which are made where they are missing.

    A server that does not answer may come up within `recovery` seconds. Several processes may open one store at once.
    The caller disposes of the engine. Raises InputError where it cannot be used, or was written by a newer version.
    """
    engine = _engine(read_url(named) if isinstance(named, str) else named)
    try:
        if _repeat(snapshot(engine), _version, recovery=recovery) != VERSION:
            transact(engine, _create)
    except BaseException:
        engine.dispose()
        raise
    return engine


def open_filled_store(named: str) -> Engine:
    """The store as `open_store` gives it; a SQLite file that is missing is not made. Raises InputError."""
    url = read_url(named)
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise InputError(
            f"there is no store {str(url.database)!r}: fill one with tdqs-mcp sweep, or name it by --store"
        )
    return open_store(url)


def read(engine: Engine, use: Callable[[Connection], Result], *, recovery: float = RECOVERY) -> Result:
    """Return what `use` reads at a moment from a server that may be away for `recovery` seconds. Raises InputError."""
    return _repeat(snapshot(engine), use, recovery=recovery)


def revision(connection: Connection) -> str:
    """A value that changes with every write to the store; it has no other meaning."""
    if connection.dialect.name == "postgresql":
        return str(connection.scalar(text("SELECT pg_current_snapshot()::text")))
    file = Path(str(connection.engine.url.database))
    stats = [path.stat() for path in (file, file.with_name(f"{file.name}-wal")) if path.exists()]
    return " ".join(f"{stat.st_mtime_ns}.{stat.st_size}" for stat in stats)


def snapshot(engine: Engine) -> Engine:
    """The engine for transactions whose statements all see the store as of one moment; in SQLite all do."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def analyze(engine: Engine) -> None:
    """Count what SQLite's indexes hold, without which its planner takes a wrong one; PostgreSQL does so by itself."""
    if engine.dialect.name == "sqlite":
        transact(engine, lambda connection: connection.execute(text("ANALYZE")))


def transact(engine: Engine, write: Callable[[Connection], Result]) -> Result:
    """Return what `write` gives, in one transaction that others see wholly or not at all. Raises InputError.

    Lock conflicts and a database that goes away repeat the whole of it, so it must not depend on what it did before.
    """
    return _repeat(engine.execution_options(is_writing=True), write)


BATCH = 500
"""Values that one query compares: below the 999 parameters that old builds of SQLite take."""


def rows_among(
    connection: Connection, query: Select[Any], column: ColumnElement[str], values: Sequence[str]
) -> Iterator[RowMapping]:
    """The rows of the query whose column has one of the values, of which there may be any number."""
    for start in range(0, len(values), BATCH):
        yield from connection.execute(query.where(column.in_(values[start : start + BATCH]))).mappings()


def add_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts the rows whose keys are not there yet."""
    if rows:
        connection.execute(_insert(table, connection.dialect.name).on_conflict_do_nothing(), rows)


def put_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts rows, or replaces what stands under their keys."""
    if rows:
        connection.execute(_upsert(table, connection.dialect.name), rows)


@cache
def _upsert(table: Table, dialect: str) -> Insert:
    statement = _insert(table, dialect)
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key},
    )


def _insert(table: Table, dialect: str) -> sqlite.Insert | postgresql.Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def _repeat(engine: Engine, use: Callable[[Connection], Result], *, recovery: float = RECOVERY) -> Result:
    @retry(
        retry=retry_if_exception(_is_transient),
        wait=wait_random_exponential(multiplier=0.05, max=5),
        stop=stop_after_delay(PATIENCE if engine.dialect.name == "sqlite" else recovery),
        reraise=True,
    )
    def once() -> Result:
        with engine.begin() as connection:
            return use(connection)

    try:
        return once()
    except DBAPIError as error:
        raise explained(engine.url, error) from error


def _is_transient(error: BaseException) -> bool:
    """Return whether the error is transient: the same transaction may succeed a little later."""
    if not isinstance(error, DBAPIError):
        return False
    return error.connection_invalidated or _code(error).startswith(tuple(_errors()["transient"]))


def _code(error: DBAPIError) -> str:
    """SQLite's name of the error or PostgreSQL's SQLSTATE.

    A failed connection has none: it is 28 where a password is missing or wrong, else 08.
    """
    if error.orig is None or hasattr(error.orig, "sqlite_errorname"):
        return str(getattr(error.orig, "sqlite_errorname", ""))
    is_unreached = isinstance(error, OperationalError) and hasattr(error.orig, "sqlstate")
    unreached = "28" if "password" in str(error.orig) else "08"
    return str(getattr(error.orig, "sqlstate", None) or (unreached if is_unreached else ""))


@cache
def _errors() -> Mapping[str, Any]:
    """Which errors are transient, and what to do about others, by the start of a code."""
    return tomllib.loads(files("tdqs_mcp.store").joinpath("database_errors.toml").read_text(encoding="utf-8"))


def explained(url: URL, error: DBAPIError) -> InputError:
    """Return what a person can do about a failure of the database; the URL is named without its password."""
    code, reason = _code(error), " ".join(str(error.orig).split())
    advice = next((advice for start, advice in _errors()["advice"].items() if code.startswith(start)), "")
    return InputError(f"the store {public_url(url)!r} cannot be used ({reason})" + (f"; {advice}" if advice else ""))


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        path = Path(str(url.database))
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = f"the store's folder {str(path.parent)!r} cannot be made: {error.strerror}"
            raise InputError(f"{reason}; set TDQS_STORE to another file") from error
        # The driver begins nothing by itself, so that tables are made inside a transaction too.
        engine = create_engine(url, connect_args={"timeout": PATIENCE, "isolation_level": None})
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
        return engine
    try:
        return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise InputError(
            "a store in PostgreSQL needs psycopg: pip install '.[postgres]' in a checkout of tdqs-mcp"
        ) from error


def _set_up(connection: Any, _: object) -> None:  # noqa: ANN401  # sqlite3's, behind SQLAlchemy's own type
    """A log that nobody waits for: only a loss of power may cost the last transactions, never the file."""
    for setting in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "cache_size=-32768"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: Connection) -> None:
    """A writer takes SQLite's lock at once: a reader that turns into a writer cannot wait for it."""
    is_writing = connection.get_execution_options().get("is_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSIONS.name):
        return None
    version: str | None = connection.scalar(select(VERSIONS.c.version_num))
    if version is not None and version > VERSION:
        raise InputError(
            f"the store has version {version}, but this tdqs-mcp knows {VERSION}: upgrade it, or name another store"
        )
    return version


def _create(connection: Connection) -> None:
    """Makes every table. Without `checkfirst`, a table of another program is an error."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if _version(connection) == VERSION:
        return  # another process was first
    if connection.dialect.name == "sqlite" and inspect(connection).get_table_names():
        path = connection.engine.url.database
        raise InputError(f"{path!r} is the file of another program: name another for the store")
    METADATA.create_all(connection, checkfirst=False)
    connection.execute(VERSIONS.insert().values(version_num=VERSION))
