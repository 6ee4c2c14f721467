"""Runs and methods beside each other: changes since a moment, two methods on the same tools, who has left, pruning."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, and_, case, delete, func, or_, select, update

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.results.statistics import (
    MethodComparison,
    MethodStamp,
    ScoreDifference,
    ServerEvent,
    StoreChanges,
    TierChange,
)
from tdqs_mcp.results.verdicts import Tier, tier_of
from tdqs_mcp.store.database import BATCH, transact
from tdqs_mcp.store.score_queries import iso_utc, newest, share_of
from tdqs_mcp.store.tables import (
    BATCHES,
    CAPTURED_TOOLS,
    CAPTURES,
    DEFINITIONS,
    DIMENSIONS,
    RUNS,
    SERVER_SCORES,
    SERVERS,
    TOOL_SCORES,
    UNGRADED,
    VERDICTS,
    clean_text,
)

MAX_RUNS, MAX_EVENTS, MAX_DIFFERENCES = 200, 1_000, 20
"""Runs of a trend, changes that are listed, and tools with the biggest differences."""


def finished_runs(connection: Connection, method: MethodStamp, *, limit: int = MAX_RUNS) -> Sequence[Any]:
    """The finished runs of a method with the JSON of their statistics, the newest first."""
    query = select(RUNS).where(RUNS.c.method == method.key, RUNS.c.statistics.is_not(None))
    return connection.execute(query.order_by(RUNS.c.run.desc()).limit(limit)).all()


def changes_since(connection: Connection, method: MethodStamp, since: datetime) -> StoreChanges:
    """Servers that are new, changed or gone since a moment, the latest first, with their overall scores."""
    old_score, old = SERVER_SCORES.alias(), CAPTURES.alias()
    earlier = (
        select(old.c.capture)
        .join(old_score, and_(old_score.c.capture == old.c.capture, old_score.c.method == method.key))
        .where(old.c.server == SERVERS.c.server, old.c.captured_at < CAPTURES.c.captured_at)
        .order_by(old.c.captured_at.desc())
        .limit(1)
        .correlate(SERVERS, CAPTURES)
        .scalar_subquery()
    )
    before = SERVER_SCORES.alias()
    columns = (SERVERS.c.server, SERVERS.c.left_at, CAPTURES.c.captured_at, SERVER_SCORES.c.overall)
    query = (
        select(
            *columns,
            before.c.capture.label("earlier"),
            before.c.overall.label("before"),
            func.count().over().label("change_count"),
        )
        .select_from(newest(SERVER_SCORES, method.key, with_left=True))
        .join(CAPTURES, CAPTURES.c.capture == SERVERS.c.capture)
        .outerjoin(before, and_(before.c.capture == earlier, before.c.method == method.key))
        .where(or_(CAPTURES.c.captured_at >= since, SERVERS.c.left_at >= since))
        .order_by(func.coalesce(SERVERS.c.left_at, CAPTURES.c.captured_at).desc(), SERVERS.c.server)
        .limit(MAX_EVENTS)
    )
    rows = connection.execute(query).all()
    events = (
        ServerEvent(
            server=row.server,
            kind="gone" if row.left_at else "changed" if row.earlier else "new",
            at=iso_utc(row.left_at or row.captured_at),
            before=row.overall if row.left_at else row.before,
            after=None if row.left_at else row.overall,
        )
        for row in rows
    )
    return StoreChanges(
        method=method, since=iso_utc(since), change_count=rows[0].change_count if rows else 0, changes=tuple(events)
    )


def compare_methods(connection: Connection, first: MethodStamp, second: MethodStamp) -> MethodComparison:
    """How far two methods agree on the tools that both have scored."""
    old, new = TOOL_SCORES.alias(), TOOL_SCORES.alias()
    is_same = and_(new.c.capture == old.c.capture, new.c.position == old.c.position, new.c.method == second.key)
    table = (
        SERVERS.join(
            old, and_(old.c.capture == SERVERS.c.capture, old.c.method == first.key, SERVERS.c.left_at.is_(None))
        )
    ).join(new, is_same)
    counted = select(old.c.tdqs, new.c.tdqs, func.count()).select_from(table).group_by(old.c.tdqs, new.c.tdqs)
    pairs = [(before, after, count) for before, after, count in connection.execute(counted)]
    tools = sum(count for _, _, count in pairs)
    equal = [
        func.sum(case((func.substr(old.c.points, place, 1) == func.substr(new.c.points, place, 1), 1), else_=0))
        for place in range(1, len(DIMENSIONS) + 1)
    ]
    by_dimension = connection.execute(select(*equal).select_from(table)).one()
    tiers: dict[tuple[Tier, Tier], int] = {}
    for before, after, count in pairs:
        change = (tier_of(before), tier_of(after))
        tiers[change] = tiers.get(change, 0) + count
    place = and_(CAPTURED_TOOLS.c.capture == old.c.capture, CAPTURED_TOOLS.c.position == old.c.position)
    biggest = (
        select(SERVERS.c.server, CAPTURED_TOOLS.c.name, old.c.tdqs, new.c.tdqs)
        .select_from(table.join(CAPTURED_TOOLS, place))
        .where(old.c.tdqs != new.c.tdqs)
        .order_by(func.abs(new.c.tdqs - old.c.tdqs).desc(), SERVERS.c.server, old.c.position)
        .limit(MAX_DIFFERENCES)
    )

    def mean(differences: Iterable[int]) -> int | None:
        return round_half_up(sum(differences), tools) if tools else None

    return MethodComparison(
        first=first,
        second=second,
        tools=tools,
        same_score=share_of(sum(count for before, after, count in pairs if before == after), tools),
        same_tier=share_of(sum(count for (before, after), count in tiers.items() if before == after), tools),
        difference=mean((after - before) * count for before, after, count in pairs),
        distance=mean(abs(after - before) * count for before, after, count in pairs),
        dimensions={key: share_of(count or 0, tools) for key, count in zip(DIMENSIONS, by_dimension, strict=True)},
        tier_changes=tuple(
            TierChange(before=before, after=after, count=count)
            for (before, after), count in sorted(tiers.items(), key=lambda change: (-change[1], change[0]))
            if before != after
        ),
        biggest=tuple(
            ScoreDifference(server=server, tool=tool, before=before, after=after)
            for server, tool, before, after in connection.execute(biggest)
        ),
    )


def mark_listed(engine: Engine, registry: str, servers: frozenset[str]) -> int:
    """Mark the servers that a registry has listed before and lists no longer; return how many. Raises InputError."""
    now, listed = datetime.now(UTC), frozenset(map(clean_text, servers))

    def mark(connection: Connection) -> int:
        rows = connection.execute(select(SERVERS.c.server, SERVERS.c.registry, SERVERS.c.left_at)).all()
        here = [row.server for row in rows if row.server in listed and (row.registry, row.left_at) != (registry, None)]
        gone = [row.server for row in rows if row.registry == registry and not row.left_at and row.server not in listed]
        for names, values in ((here, {"registry": registry, "left_at": None}), (gone, {"left_at": now})):
            for start in range(0, len(names), BATCH):
                chosen = SERVERS.c.server.in_(names[start : start + BATCH])
                connection.execute(update(SERVERS).where(chosen).values(values))
        return len(gone)

    return transact(engine, mark)


def prune(engine: Engine, before: datetime) -> int:
    """Delete captures first read before a moment that no server or pending batch points to, with what only they need.

    Definitions and verdicts that another capture has are kept. Return how many captures went. Raises InputError.
    """

    def remove(connection: Connection) -> int:
        newest_captures = select(SERVERS.c.capture).where(SERVERS.c.capture.is_not(None))
        old: ColumnElement[bool] = and_(CAPTURES.c.captured_at < before, CAPTURES.c.capture.not_in(newest_captures))
        waiting = {capture for text in connection.scalars(select(BATCHES.c.captures)) for capture in json.loads(text)}
        captures = connection.scalars(select(CAPTURES.c.capture).where(old))
        chosen = [capture for capture in captures if capture not in waiting]
        for start in range(0, len(chosen), BATCH):
            for table in (TOOL_SCORES, UNGRADED, SERVER_SCORES, CAPTURED_TOOLS, CAPTURES):
                connection.execute(delete(table).where(table.c.capture.in_(chosen[start : start + BATCH])))
        listed = select(CAPTURED_TOOLS.c.input_hash).where(CAPTURED_TOOLS.c.input_hash.is_not(None))
        connection.execute(delete(DEFINITIONS).where(DEFINITIONS.c.input_hash.not_in(listed)))
        users = (TOOL_SCORES.c.verdict, SERVER_SCORES.c.verdict, SERVER_SCORES.c.shadow_verdict)
        unused = [VERDICTS.c.verdict.not_in(select(column).where(column.is_not(None))) for column in users]
        connection.execute(delete(VERDICTS).where(*unused))
        return len(chosen)

    return transact(engine, remove)
