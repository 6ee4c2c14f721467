"""What is remembered, bounded: the entries used last, and the answers of callers, which may outlive the server."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Generic, TypeVar

from tdqs_mcp.judges.judge import Cache, CacheKey

MAX_ANSWERS = 10_000
"""Answers in memory: five of the largest catalogs that a call may bring."""

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class Latest(Generic[Key, Kept]):
    """The entries used last, by key."""

    def __init__(self, limit: int) -> None:
        """Room for `limit` entries."""
        self._limit = limit
        self._entries: OrderedDict[Key, Kept] = OrderedDict()

    def put(self, key: Key, entry: Kept) -> None:
        """Keeps an entry; the one that was not used for longest goes."""
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def get(self, key: Key) -> Kept | None:
        """The entry, which is now the one used last."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def keys(self) -> list[Key]:
        """All keys, the one used last first."""
        return list(reversed(self._entries))


class Answers:
    """A cache of answers that is always there: in memory, and behind it on the disk, where the operator keeps any."""

    def __init__(self, open_cache: Callable[[], Cache | None]) -> None:
        """Opens the disk's when the first answer is looked up."""
        self._open = open_cache
        self._latest: Latest[CacheKey, str] = Latest(MAX_ANSWERS)

    def get(self, key: CacheKey) -> str | None:
        """The answer kept under the key."""
        known = self._latest.get(key)
        return self._disk.get(key) if known is None and self._disk else known

    def put(self, key: CacheKey, answer: str) -> None:
        """Keep an answer in place of an earlier one."""
        self._latest.put(key, answer)
        if self._disk:
            self._disk.put(key, answer)

    @cached_property
    def _disk(self) -> Cache | None:
        return self._open()
