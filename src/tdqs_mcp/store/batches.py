"""Batches that a vendor has under way, with the captures whose open questions they hold."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, insert, select

from tdqs_mcp.model import Catalog
from tdqs_mcp.store.captures import read_catalog
from tdqs_mcp.store.database import read, transact
from tdqs_mcp.store.scored_captures import Method
from tdqs_mcp.store.tables import BATCHES


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingBatch:
    """A batch that has not been collected."""

    number: int
    note: str
    """What `collect_batch` needs."""

    captures: tuple[str, ...]


def add_batch(engine: Engine, method: Method, note: str, captures: Sequence[str]) -> None:
    """Keeps what is needed to collect a batch. Raises InputError."""
    row = {"method": method.id, "note": note, "captures": json.dumps(captures)}
    transact(engine, lambda connection: connection.execute(insert(BATCHES), row))


def pending_batches(engine: Engine, method: Method) -> list[PendingBatch]:
    """The batches under way, the oldest first. Raises InputError."""
    query = select(BATCHES).where(BATCHES.c.method == method.id).order_by(BATCHES.c.number)
    rows = read(engine, lambda connection: connection.execute(query).mappings().all())
    return [
        PendingBatch(number=row["number"], note=row["note"], captures=tuple(json.loads(row["captures"])))
        for row in rows
    ]


def read_catalogs(engine: Engine, captures: Sequence[str]) -> list[Catalog]:
    """The catalogs of the captures. Raises KeyError for one that is not stored."""

    def load(connection: Connection) -> list[Catalog]:
        return [read_catalog(connection, capture) for capture in captures]

    return read(engine, load)


def remove_batch(engine: Engine, batch: PendingBatch) -> None:
    """Forgets a batch that is collected. Raises InputError."""
    statement = delete(BATCHES).where(BATCHES.c.number == batch.number)
    transact(engine, lambda connection: connection.execute(statement))
