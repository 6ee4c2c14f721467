"""Reads variants from a file or a store, and again whenever the file or the store changes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from tdqs_mcp.errors import InputError
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.improvements import Component
from tdqs_mcp.router.variants import Variants, read_variants
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.input_files import parse_text

if TYPE_CHECKING:
    from sqlalchemy import Engine

FRESH_SECONDS = 0.5
"""Seconds in which the variants are not read again."""

MAX_CAPTURES = 1_000
"""Captures of one server that can be named, the newest."""


class VariantSource:
    """Where the variants come from, and what all clients of a router get at the moment."""

    def __init__(self, named: str | None, components: Sequence[Component], *, tell: Callable[[str], None]) -> None:
        """`named` is a file or a store, which a file may also name; None changes nothing. `tell` gets warnings.

        Raises InputError.
        """
        is_store = named is None or "://" in named or _is_sqlite(Path(named))
        self._path = None if is_store else Path(named or "")
        self._origin = "the store" if is_store else repr(named)
        self._given: object = {"store": named} if named else {}
        self._components, self._tell = components, tell
        self._state: object = ()  # of the file when it was last parsed
        self._seen: object = None  # the same, and what the store had of the server; None before the first reading
        self._reading = anyio.Lock()
        self._missing: frozenset[str] = frozenset()
        self._problem = ""
        self._fresh_until = 0.0
        self.current = Variants(named={}, serve={})
        self.server: str | None = None
        """What the server calls itself, once it has said so."""

        if named:
            self._take(self._read())

    async def refresh(self, server: str | None = None) -> None:
        """Reads what has changed, in a thread, because a database may be slow.

        If it has become unreadable, the variants stay as they were. Many connections ask; one reads for all.
        """
        async with self._reading:
            if self._seen is None or (server is None and anyio.current_time() < self._fresh_until):
                return
            self._fresh_until = anyio.current_time() + FRESH_SECONDS
            self.server = self.server or server
            try:
                self._take(await anyio.to_thread.run_sync(self._read, abandon_on_cancel=True))
            except InputError as error:
                if str(error) != self._problem:
                    self._tell(f"the variants stay as they were: {error}")
                self._problem = str(error)

    def note_tools(self, names: frozenset[str]) -> None:
        """Warns once of variants for tools that the server does not list."""
        missing = self.current.tools - names - self._missing
        if missing:
            self._missing |= missing
            self._tell(f"there are variants for tools that the server does not list: {', '.join(sorted(missing))}")

    def _take(self, found: Variants | None) -> None:
        if found is None:
            return
        self.current = found
        self._missing, self._problem = frozenset(), ""
        if lost := sorted(found.without_components):
            self._tell(f"these tools have none of the components and keep their descriptions: {', '.join(lost)}")

    def _read(self) -> Variants | None:
        """The variants; None where nothing has changed. Raises InputError."""
        if self._path and (state := _file_state(self._path)) != self._state:
            self._state = state
            self._given = parse_text(read_text(self._path), origin=self._origin)
        given = self._given if isinstance(self._given, Mapping) else {}
        store = str(given["store"]) if given.get("store") else None
        key = (given.get("server") or self.server) if store else None
        captures = _list_captures(store, str(key)) if store and key else {}
        seen, self._seen = self._seen, (self._state, key, list(captures))
        if self._seen == seen:
            return None
        if store and not key:  # the server says it in its first answer
            return Variants(named={}, serve={})
        if store and not captures:
            raise InputError(f"the store has no captures of {key!r}; a file of variants names another key as `server`")
        return read_variants(self._given, origin=self._origin, components=self._components, captures=captures)


def _list_captures(store: str, server: str) -> dict[str, Callable[[], Catalog]]:
    """What reads each capture of a server, by date and digest, the newest first. Raises InputError."""
    from tdqs_mcp.store.captures import read_capture, select_captures  # noqa: PLC0415  # SQLAlchemy takes half a second
    from tdqs_mcp.store.database import read  # noqa: PLC0415

    engine = _opened(store)
    query = select_captures(server, limit=MAX_CAPTURES)
    listed = read(engine, lambda connection: connection.execute(query).all(), recovery=0)
    return {
        f"{row.captured_at:%Y-%m-%d}-{row.capture[:8]}": partial(
            read, engine, partial(read_capture, capture=row.capture), recovery=0
        )
        for row in listed
    }


@cache
def _opened(store: str) -> "Engine":
    from tdqs_mcp.store.database import open_filled_store  # noqa: PLC0415

    return open_filled_store(store)


def _is_sqlite(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(16) == b"SQLite format 3\0"
    return False


def _file_state(path: Path) -> object:
    with suppress(OSError):
        state = path.stat()
        return (state.st_mtime_ns, state.st_size, state.st_ino)
    return None
