"""What earlier calls left in memory, bounded: catalogs for paging, received answers, reports to read."""

import hashlib
from collections import OrderedDict
from typing import Generic, TypeVar

from tdqs_mcp.errors import InputError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.results import ServerScore
from tdqs_mcp.reporters.documents import capture_document, json_text
from tdqs_mcp.server.judgement import Received

MAX_CATALOGS = 16
MAX_REPORTS = 16

Kept = TypeVar("Kept")


class Latest(Generic[Kept]):
    """The entries used last, by key."""

    def __init__(self, limit: int) -> None:
        """Room for `limit` entries."""
        self._limit = limit
        self._entries: OrderedDict[str, Kept] = OrderedDict()

    def put(self, key: str, entry: Kept) -> None:
        """Keeps an entry; the one that was not used for longest goes."""
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def get(self, key: str) -> Kept | None:
        """The entry, which is now the one used last."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def keys(self) -> list[str]:
        """All keys, the one used last first."""
        return list(reversed(self._entries))


class Shelf:
    """One server's memory. Whoever may call the server shares it."""

    def __init__(self) -> None:
        """Empty."""
        self.catalogs: Latest[Catalog] = Latest(MAX_CATALOGS)
        self.received: Latest[Received] = Latest(MAX_CATALOGS)
        self.reports: Latest[ServerScore] = Latest(MAX_REPORTS)

    def keep(self, catalog: Catalog) -> str:
        """The catalog's id, which is the same for the same definitions. Raises InputError."""
        try:
            text = json_text(capture_document(catalog))
        except RecursionError as error:
            raise InputError("the definitions nest too deep to be read; simplify the schema") from error
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.catalogs.put(key, catalog)
        return key

    def find(self, key: str) -> Catalog:
        """An earlier catalog. Raises InputError when it is not known any more."""
        found = self.catalogs.get(key)
        if found is None:
            raise InputError(
                f"there is no catalog {key!r} here (any more); send 'tools' or 'locator' again, and all answers of a "
                "judgement in pieces"
            )
        return found
