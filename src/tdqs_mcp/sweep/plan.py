"""The part of a registry that has to be scored: the servers whose record the store does not know, in shards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Budget
from tdqs_mcp.judges.judge import Usage
from tdqs_mcp.results.stored_servers import ServerChange
from tdqs_mcp.sweep.records import Entry, Record, read_entry

TOOLS_AT_ONCE = 40
"""Tools that one judge is asked about at once, by all workers together, unless it has a limit of its own."""

SERVERS_AT_ONCE = 30
"""Tool sets, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardShare:
    """Budget of a shard; None where nothing bounds it."""

    tools: int | None = None
    """Requests about tools at once."""

    servers: int | None = None
    """Requests about tool sets at once."""

    budget: Budget = field(default_factory=Budget)


class Shares:
    """Divides the limits of a run among shards; what a shard did not use comes back."""

    def __init__(self, *, budget: Budget, concurrency: int | None = None, is_model: bool) -> None:
        """The offline judge (not `is_model`) has no limits. `concurrency` is the judge's own."""
        self._is_model = is_model
        self._budget = budget
        self._tools = concurrency or TOOLS_AT_ONCE
        self._servers = min(SERVERS_AT_ONCE, self._tools)
        self._out: list[ShardShare] = []

    def take(self, slots: int) -> ShardShare | None:
        """An equal part of what is left, for one of so many shards at once; None while there is none."""
        if not self._is_model:
            return ShardShare()
        free = min(slots, self._servers) - len(self._out)
        if free < 1:
            return None
        share = ShardShare(
            tools=(self._tools - sum(taken_share.tools or 0 for taken_share in self._out)) // free,
            servers=(self._servers - sum(taken_share.servers or 0 for taken_share in self._out)) // free,
            budget=Budget(
                calls=self._part("calls", free), tokens=self._part("tokens", free), cost=self._part("cost", free)
            ),
        )
        is_empty = 0 in (share.tools, share.servers, share.budget.calls, share.budget.tokens, share.budget.cost)
        if is_empty and self._out:
            return None
        self._out.append(share)
        return share

    def give_back(self, share: ShardShare, used: Usage) -> None:
        """Settles what a shard has used of its share."""
        if not self._is_model:
            return
        self._out.remove(share)
        left = self._budget
        self._budget = Budget(
            calls=_less(left.calls, used.requests),
            tokens=_less(left.tokens, used.input_tokens + used.output_tokens),
            cost=_less(left.cost, used.cost or 0),
        )

    def _part(self, name: str, free: int) -> int | None:
        left: int | None = getattr(self._budget, name)
        if left is None:
            return None
        left -= sum(getattr(taken_share.budget, name) for taken_share in self._out)
        return min(max(0, left), max(1, left // free))


def _less(left: int | None, used: int) -> int | None:
    return None if left is None else max(0, left - used)


SHARD_TOOLS = 400
"""Tools of a shard: half a second of the offline judge, and what a killed worker does twice."""

SHARD_BYTES = 2 * 2**20
"""Bytes of its records; a server that has more is a shard of its own."""

SHARD_RECORDS = 2_000
"""Records after which what was found unchanged is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Servers to be scored together, and what was found out about others on the way."""

    entries: tuple[Entry, ...] = ()
    unchanged: int = 0
    """Servers whose record the store has under this method, completely judged."""

    problems: tuple[str, ...] = ()
    """Records that cannot be scored, one sentence each."""

    done: float = 0
    """The share of the input that has been read up to its end, 0-1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTally:
    """Progress in numbers; those of parts add up."""

    servers: int = 0
    tools: int = 0
    asked: int = 0
    """Tools that the judge was asked about."""

    ungraded: int = 0
    """Tools, tool sets and questions about shadow candidates that are left for the next sweep."""

    held: int = 0
    """Of the ungraded, those whose score the guard holds as suspicious."""

    new: int = 0
    """Servers without scores by this method before."""

    changed: tuple[ServerChange, ...] = ()

    problems: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def __add__(self, other: "SweepTally") -> "SweepTally":
        return SweepTally(
            **{
                tally_field.name: getattr(self, tally_field.name) + getattr(other, tally_field.name)
                for tally_field in fields(self)
            }
        )


def plan_shards(records: Iterable[Record | str], complete: Mapping[str, str]) -> Iterator[Shard]:
    """Shards with every server whose record is not among the complete captures, which are given with their servers.

    The last one may be empty. Nothing of an unchanged record is parsed.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    unchanged = tools = size = 0
    progress = 0.0
    for record in _select(records, complete):
        if isinstance(record, str):
            problems.append(record)
        elif isinstance(record, Entry):
            entries.append(record)
            tools, size = tools + record.tools, size + len(record.record.content)
        else:
            unchanged, progress = unchanged + 1, record.done
        if tools >= SHARD_TOOLS or size >= SHARD_BYTES or len(problems) + unchanged >= SHARD_RECORDS:
            progress = entries[-1].record.done if entries else progress
            yield Shard(entries=tuple(entries), unchanged=unchanged, problems=tuple(problems), done=progress)
            entries, problems, unchanged, tools, size = [], [], 0, 0, 0
    yield Shard(entries=tuple(entries), unchanged=unchanged, problems=tuple(problems), done=1)


def _select(records: Iterable[Record | str], complete: Mapping[str, str]) -> Iterator[Entry | Record | str]:
    """Yield what to score, unchanged records, and problems; the second record of a server is one."""
    servers: set[str] = set()
    for record in records:
        if isinstance(record, str):
            yield record
            continue
        try:
            entry = None if record.digest in complete else read_entry(record)
        except InputError as error:
            yield str(error)
            continue
        server = entry.server if entry else complete[record.digest]
        if server in servers:
            yield f"{record.origin} is left out: another record is about {server!r} too"
        else:
            servers.add(server)
            yield entry or record
