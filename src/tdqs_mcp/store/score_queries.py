"""The statistics of a store for one method: grouped counts by the database, then exact integers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from fractions import Fraction
from importlib.util import find_spec
from itertools import groupby
from statistics import median
from typing import Any

from sqlalchemy import Connection, FromClause, Select, Table, and_, case, collate, exists, func, select

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.errors import InputError, UnknownIdError
from tdqs_mcp.results.scores import Percentiles, Rollup
from tdqs_mcp.results.statistics import (
    DimensionStatistics,
    Distribution,
    HeldScore,
    LabelStatistics,
    MaintainerTest,
    MethodStamp,
    ServerStatistics,
    Share,
    SmellFree,
    Statistics,
    ToolStatistics,
    UngradedReason,
    UngradedStatistics,
)
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import SMELL_BELOW
from tdqs_mcp.scoring.score import percentiles
from tdqs_mcp.store.tables import (
    CAPTURED_TOOLS,
    CAPTURES,
    DIMENSIONS,
    FLAGS,
    METHODS,
    PARTS,
    ROLLUP,
    RUNS,
    SERVER_SCORES,
    SERVERS,
    TOOL_SCORES,
    UNGRADED,
)

MAX_LISTED = 20
"""Reasons, and held scores, that are listed."""

FAR_BELOW = 10
"""Tenths below the mean of its server at which a tool counts (TDQS, "TDQS in practice": a full point or more)."""

_COUNTS = (
    select(func.count(), func.coalesce(func.sum(CAPTURES.c.tool_count), 0))
    .select_from(SERVERS.join(CAPTURES, CAPTURES.c.capture == SERVERS.c.capture))
    .where(SERVERS.c.left_at.is_(None))
)
"""Listed servers and their tools."""

_SCORES = [TOOL_SCORES.c[name] for name in ("tdqs", "flags", "points")]


def methods(connection: Connection) -> list[MethodStamp]:
    """The methods of the store, that of the newest finished run first; those of runs under way come last."""
    finished = func.max(case((RUNS.c.finished_at.is_not(None), RUNS.c.run), else_=0)).label("finished")
    newest = select(RUNS.c.method, finished, func.max(RUNS.c.run).label("run")).group_by(RUNS.c.method).subquery()
    query = (
        select(METHODS)
        .outerjoin(newest, newest.c.method == METHODS.c.method)
        .order_by(func.coalesce(newest.c.finished, 0).desc(), func.coalesce(newest.c.run, 0).desc(), METHODS.c.method)
    )
    return [_method(row) for row in connection.execute(query)]


def find_method(connection: Connection, name: str | None, *, with_labels: bool = False) -> MethodStamp:
    """The newest run's method, or the one whose key or judge is wanted: by TDQS before other rubrics.

    Those that end in labels count `with_labels` alone. Raises InputError and UnknownIdError.
    """
    usable = [method for method in methods(connection) if with_labels or method.is_tdqs]
    stored_methods = sorted(usable, key=lambda method: not method.is_tdqs)
    if not stored_methods:
        raise InputError("the store has no scores: fill it with tdqs-mcp sweep")
    if name is None:
        return stored_methods[0]
    matches = [method for method in stored_methods if name in (method.key, method.judge.id, method.judge.label)]
    matches = [method for method in matches if method.is_tdqs] or matches
    if len(matches) == 1:
        return matches[0]
    listed = "; ".join(
        f"{method.key} is {method.judge.label}, {method.standard}" for method in matches or stored_methods
    )
    if matches:
        raise InputError(f"{name!r} means several methods, give one's key: {listed}")
    raise UnknownIdError(f"there is no method {name!r} in the store; it has {listed}")


def method_statistics(connection: Connection, method: MethodStamp) -> Statistics | LabelStatistics:
    """All numbers of a method, as its rubric has them."""
    return statistics(connection, method.key) if method.is_tdqs else label_statistics(connection, method)


def statistics(connection: Connection, key: str) -> Statistics:
    """All numbers of the method with this key. A few queries over indexes; memory does not grow with the store."""
    methods_by_key = {method.key: method for method in methods(connection)}
    current = connection.execute(_scores(key)).all()
    earlier = connection.execute(_earlier(key)).all()
    standings = connection.execute(_server_scores(key)).all()
    overall = _histogram((row.overall, row.servers) for row in standings)
    servers, tools = connection.execute(_COUNTS).one()
    tools_by_tdqs = _histogram((row.tdqs, row.tools) for row in current)
    return Statistics(
        method=methods_by_key[key],
        other_methods=tuple(method for method in methods_by_key.values() if method.key != key),
        servers=servers,
        scored_servers=share_of(overall.total(), servers),
        tools=tools,
        scored_tools=share_of(tools_by_tdqs.total(), tools),
        current=_tool_statistics(current),
        versions=_tool_statistics([*current, *earlier]),
        server_scores=_server_statistics(standings, overall, connection.execute(_gaps(key)).all()),
        ungraded=_ungraded(connection, key),
    )


def label_statistics(connection: Connection, method: MethodStamp) -> LabelStatistics:
    """All numbers of a method whose rubric ends in labels, server by server."""
    keys, by_points = load(method.rubric).keys, Counter[str]()
    columns = (SERVERS.c.server, SERVERS.c.is_official, TOOL_SCORES.c.points)
    query = select(*columns, func.count().label("tools")).select_from(newest(TOOL_SCORES, method.key))
    rows = connection.execute(query.group_by(*columns).order_by(SERVERS.c.server))
    medians: dict[bool | None, list[tuple[float, ...]]] = {True: [], False: [], None: []}
    for (_, is_official), group in groupby(rows, key=lambda row: (row.server, row.is_official)):
        points = Counter({row.points: row.tools for row in group})
        by_points += points
        medians[is_official].append(tuple(median(map(int, column)) for column in zip(*points.elements(), strict=True)))
    total, (servers, tools) = by_points.total(), connection.execute(_COUNTS).one()
    return LabelStatistics(
        method=method,
        servers=servers,
        tools=tools,
        scored_tools=share_of(total, tools),
        dimensions=_dimension_statistics(by_points, keys),
        smell_free=tuple(
            SmellFree(dimensions=keys[:end], tools=share_of(_smell_free(by_points, end), total))
            for end in range(1, len(keys) + 1)
        ),
        official_servers=len(medians[True]),
        community_servers=len(medians[False]),
        maintainers=dict(zip(keys, _compare_maintainers(medians[True], medians[False]), strict=False)),
        ungraded=_ungraded(connection, method.key),
    )


def _compare_maintainers(
    official: Sequence[tuple[float, ...]], community: Sequence[tuple[float, ...]]
) -> Iterator[MaintainerTest]:
    """A test for each dimension of the servers' medians; nothing unless there are servers of both."""
    has_scipy = find_spec("scipy") is not None  # the extra `study`
    for first, second in zip(zip(*official, strict=True), zip(*community, strict=True), strict=False):
        statistic = p_value = None
        if has_scipy:
            from scipy.stats import mannwhitneyu  # noqa: PLC0415

            statistic, p_value = map(float, mannwhitneyu(first, second))
        yield MaintainerTest(
            official=round(10 * median(first)),
            community=round(10 * median(second)),
            statistic=statistic,
            p_value=p_value,
            adjusted=None if p_value is None else min(1.0, p_value * len(official[0])),
        )


def read_rollup(row: Any) -> Rollup:  # noqa: ANN401  # a row with the columns of ROLLUP
    """Return the server's arithmetic in a row."""
    return Rollup(**{name: getattr(row, name) for name in ROLLUP})


def score_counts(connection: Connection, key: str) -> Counter[tuple[int, int]]:
    """Servers by overall score and description quality; those without an overall score are not counted."""
    scores = (SERVER_SCORES.c.overall, SERVER_SCORES.c.description_quality)
    rows = connection.execute(
        select(*scores, func.count())
        .select_from(newest(SERVER_SCORES, key))
        .where(scores[0].is_not(None))
        .group_by(*scores)
    )
    return Counter({(overall, quality): count for overall, quality, count in rows})


def percentiles_among(counts: Mapping[tuple[int, int], int], rollup: Rollup) -> Percentiles | None:
    """Percentiles among the other servers of a store; None without an overall score or another server."""
    overalls, qualities = Counter[int](), Counter[int]()
    for (overall, quality), count in counts.items():
        overalls[overall] += count
        qualities[quality] += count
    return percentiles(rollup.overall, rollup.description_quality, overalls=overalls, qualities=qualities)


def _method(row: Any) -> MethodStamp:  # noqa: ANN401  # a row of METHODS
    stamp = JudgeStamp(
        id=row.judge,
        version=row.version,
        model=row.model or None,
        calibration=row.calibration or None,
        prompt=row.prompt or None,
    )
    return MethodStamp(rubric=row.rubric, spec_version=row.spec, judge=stamp, parameters=row.parameters)


def newest(scores: Table, method: str, *, with_left: bool = False) -> FromClause:
    """Every listed server with the scores of its newest capture, as one of the tables with scores has them."""
    is_scored = and_(scores.c.capture == SERVERS.c.capture, scores.c.method == method)
    return SERVERS.join(scores, is_scored if with_left else and_(is_scored, SERVERS.c.left_at.is_(None)))


def iso_utc(moment: Any) -> str:  # noqa: ANN401  # SQLite's have no zone
    """Return a stored moment as JSON has it."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f"{aware.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _scores(method: str) -> Select[Any]:
    """The tools that have the same scores and flags, counted."""
    return select(*_SCORES, func.count().label("tools")).select_from(newest(TOOL_SCORES, method)).group_by(*_SCORES)


def _earlier(method: str) -> Select[Any]:
    """The scores of definitions that a server has no longer, each once a server."""
    versions = (
        select(SERVERS.c.capture, TOOL_SCORES.c.input_hash, *_SCORES)
        .select_from(SERVERS)
        .join(CAPTURES, and_(CAPTURES.c.server == SERVERS.c.server, CAPTURES.c.capture != SERVERS.c.capture))
        .join(TOOL_SCORES, and_(TOOL_SCORES.c.capture == CAPTURES.c.capture, TOOL_SCORES.c.method == method))
        .where(SERVERS.c.left_at.is_(None))
        .distinct()
        .subquery()
    )
    is_current = exists().where(
        CAPTURED_TOOLS.c.capture == versions.c.capture, CAPTURED_TOOLS.c.input_hash == versions.c.input_hash
    )
    grouped = [versions.c[column.name] for column in _SCORES]
    return select(*grouped, func.count().label("tools")).where(~is_current).group_by(*grouped)


def _server_scores(method: str) -> Select[Any]:
    """The newest scores of servers, grouped."""
    grouped = [SERVER_SCORES.c[name] for name in ("overall", "description_quality", "coherence", *PARTS)]
    table = newest(SERVER_SCORES, method)
    return select(*grouped, func.count().label("servers")).select_from(table).group_by(*grouped)


def _gaps(method: str) -> Select[Any]:
    """By number of tools: servers, those far below, and the sum of (sum - number * minimum), in tenths."""
    score = TOOL_SCORES.c.tdqs
    count = func.count()
    gap = func.sum(score) - count * func.min(score)
    described = and_(
        SERVER_SCORES.c.capture == SERVERS.c.capture,
        SERVER_SCORES.c.method == method,
        SERVER_SCORES.c.description_quality.is_not(None),
    )
    by_server = (
        select(count.label("tools"), gap.label("gap"))
        .select_from(newest(TOOL_SCORES, method).join(SERVER_SCORES, described))
        .group_by(SERVERS.c.server)
        .subquery()
    )
    is_far = by_server.c.gap >= FAR_BELOW * by_server.c.tools
    return select(
        by_server.c.tools,
        func.count().label("servers"),
        func.sum(case((is_far, 1), else_=0)).label("far"),
        func.sum(by_server.c.gap).label("gap"),
    ).group_by(by_server.c.tools)


def _tool_statistics(scores: Sequence[Any]) -> ToolStatistics:
    by_tdqs = _histogram((row.tdqs, row.tools) for row in scores)
    by_points: Counter[str] = Counter()
    for row in scores:
        by_points[row.points] += row.tools
    total = by_tdqs.total()
    tiers = _tiers(by_tdqs)
    return ToolStatistics(
        tdqs=_distribution(by_tdqs),
        tiers=tiers,
        passing=share_of(tiers[Tier.A].count + tiers[Tier.B].count, total),
        dimensions=_dimension_statistics(by_points, DIMENSIONS),
        any_smell=share_of(total - _smell_free(by_points, len(DIMENSIONS)), total),
        flags={
            flag: share_of(sum(row.tools for row in scores if row.flags & bit), total) for flag, bit in FLAGS.items()
        },
    )


def _server_statistics(standings: Sequence[Any], overall: Counter[int], gaps: Sequence[Any]) -> ServerStatistics:
    described = sum(row.servers for row in gaps)
    gap = sum((Fraction(int(row.gap), row.tools) for row in gaps), Fraction(0))
    return ServerStatistics(
        overall=_distribution(overall),
        tiers=_tiers(overall),
        description_quality=_distribution(_histogram((row.description_quality, row.servers) for row in standings)),
        coherence=_distribution(_histogram((row.coherence, row.servers) for row in standings)),
        coherence_dimensions={
            key: _mean(_histogram((getattr(row, key), row.servers) for row in standings), unit=1) for key in PARTS
        },
        worst_tool_gap=round_half_up(gap.numerator, gap.denominator * described) if described else None,
        with_worst_tool=share_of(sum(int(row.far) for row in gaps), described),
    )


def _ungraded(connection: Connection, method: str) -> UngradedStatistics:
    table, held_score = newest(UNGRADED, method), UNGRADED.c.held_score
    tools, coherence, holds = connection.execute(
        select(
            func.count().filter(UNGRADED.c.position >= 0),
            func.count().filter(UNGRADED.c.position < 0),
            func.count(held_score),
        ).select_from(table)
    ).one()
    by_bytes = "C" if connection.dialect.name == "postgresql" else "BINARY"
    in_order = (collate(SERVERS.c.server, by_bytes), UNGRADED.c.position)
    ranked_reasons = (
        select(
            UNGRADED.c.reason,
            func.count().over(partition_by=UNGRADED.c.reason).label("number"),
            SERVERS.c.server,
            UNGRADED.c.name,
            func.row_number().over(partition_by=UNGRADED.c.reason, order_by=in_order).label("place"),
        )
        .select_from(table)
        .where(held_score.is_(None))
        .subquery()
    )
    first = select(ranked_reasons).where(ranked_reasons.c.place == 1)
    reasons = connection.execute(
        first.order_by(ranked_reasons.c.number.desc(), collate(ranked_reasons.c.reason, by_bytes)).limit(MAX_LISTED)
    )
    scores = connection.execute(
        select(SERVERS.c.server, UNGRADED.c.name, held_score, UNGRADED.c.held_estimate)
        .select_from(table)
        .where(held_score.is_not(None))
        .order_by((held_score - UNGRADED.c.held_estimate).desc(), *in_order)
        .limit(MAX_LISTED)
    )
    return UngradedStatistics(
        tools=tools,
        coherence=coherence,
        held=holds,
        reasons=tuple(UngradedReason(reason=row[0], count=row[1], server=row[2], name=row[3]) for row in reasons),
        held_scores=tuple(HeldScore(server=row[0], name=row[1], score=row[2], estimate=row[3]) for row in scores),
    )


def _histogram(counts: Iterable[tuple[int | None, int]]) -> Counter[int]:
    """How many by score, without those that have none."""
    histogram: Counter[int] = Counter()
    for score, count in counts:
        if score is not None:
            histogram[score] += count
    return histogram


def _distribution(scores: Counter[int]) -> Distribution:
    return Distribution(
        count=scores.total(),
        mean=_mean(scores),
        p25=_quantile(scores, 25),
        median=_quantile(scores, 50),
        p75=_quantile(scores, 75),
    )


def _quantile(scores: Counter[int], percent: int) -> int | None:
    """The lowest score that so many percent of all do not exceed (PostgreSQL's percentile_disc)."""
    needed, before = percent * scores.total(), 0
    for score in sorted(scores):
        before += scores[score]
        if 100 * before >= needed:
            return score
    return None


def _mean(scores: Mapping[int, int], *, unit: int = 10) -> int | None:
    """The mean in hundredths of scores in tenths, or in points where the unit is 1."""
    count = sum(scores.values())
    total = sum(score * number for score, number in scores.items())
    return round_half_up(10 * total, unit * count) if count else None


def _dimension_statistics(by_points: Counter[str], keys: Sequence[str]) -> dict[str, DimensionStatistics]:
    """Each dimension over all tools, which are counted by their points."""
    statistics = {}
    for place, key in enumerate(keys):
        column = _histogram((int(points[place]), count) for points, count in by_points.items())
        smells = share_of(sum(column[point] for point in range(1, SMELL_BELOW)), by_points.total())
        statistics[key] = DimensionStatistics(mean=_mean(column, unit=1), smells=smells)
    return statistics


def _smell_free(by_points: Counter[str], end: int) -> int:
    """How many tools have no smell in so many dimensions, from the first."""
    return sum(count for points, count in by_points.items() if int(min(points[:end])) >= SMELL_BELOW)


def _tiers(scores: Counter[int]) -> dict[Tier, Share]:
    by_tier: Counter[Tier] = Counter()
    for score, count in scores.items():
        by_tier[tier_of(score)] += count
    return {tier: share_of(by_tier[tier], scores.total()) for tier in Tier}


def share_of(count: int, total: int) -> Share:
    """Return a count and what it is of all."""
    return Share(count=count, share=round_half_up(1000 * count, total) if total else None)
