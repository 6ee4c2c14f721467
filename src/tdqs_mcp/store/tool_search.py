"""The tools of a store line by line: those that a query finds, the best first, or all of them for a registry."""

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from math import log
from operator import add
from typing import Any

from sqlalchemy import (
    ColumnClause,
    Connection,
    Engine,
    Float,
    FromClause,
    Integer,
    Select,
    and_,
    case,
    collate,
    column,
    func,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.exc import DBAPIError

from tdqs_mcp.errors import InputError
from tdqs_mcp.results.statistics import Match, MethodStamp, StoredTool
from tdqs_mcp.results.verdicts import tier_of
from tdqs_mcp.scoring.rollup import SMELL_BELOW
from tdqs_mcp.store.database import explained, snapshot
from tdqs_mcp.store.scored_captures import DIMENSIONS, FLAGS
from tdqs_mcp.store.tables import (
    CAPTURED_TOOLS,
    DEFINITIONS,
    SERVER_SCORES,
    SERVERS,
    TOOL_SCORES,
    UNGRADED,
)

COMPARABLE = 95
"""Percent of the more relevant match's relevance from which matches are comparable: the better definition goes first.

Among 5,180 tools, SQLite puts the right tool of a request before a wrong one in 52% of 2,275 pairs that are as near, a
coin toss, and in 59% of those at 90 to 94 percent; PostgreSQL in 51% and 54%.
"""

MAX_WORDS = 40
"""Words of a query that are searched."""

MIN_CANDIDATES, MAX_CANDIDATES = 200, 900
"""Definitions that are ranked: more than are shown, because some are of earlier captures. SQLite may take 999 only."""

_WORD = re.compile(r"\w+")
_SAME_DEFINITION = DEFINITIONS.c.input_hash == CAPTURED_TOOLS.c.input_hash


def search(connection: Connection, method: MethodStamp, query: str, *, limit: int) -> tuple[Match, ...]:
    """The best matches in the newest captures, by the database's full-text search. Raises InputError.

    Any of the query's words may match. Nothing in it is syntax.
    """
    words = list(dict.fromkeys(_WORD.findall(query.lower())))[:MAX_WORDS]
    if not words:
        raise InputError("the query has no words: say what the tool should do")
    count = min(max(MIN_CANDIDATES, 5 * limit), MAX_CANDIDATES)
    is_postgresql = connection.dialect.name == "postgresql"
    found = _postgresql(connection, words, count) if is_postgresql else _sqlite(words, count)
    relevance = {row.number: row.relevance for row in connection.execute(found)}
    # A second query, because PostgreSQL expects a wrong number of rows from a join with the first.
    table = DEFINITIONS.join(CAPTURED_TOOLS, _SAME_DEFINITION)
    chosen = _tools(method.key, table).add_columns(DEFINITIONS.c.number).where(DEFINITIONS.c.number.in_(relevance))
    rows = sorted(connection.execute(chosen), key=lambda row: (-relevance[row.number], row.server, row.position))
    best = relevance[rows[0].number] if rows else 1
    matches = [
        Match(relevance=int(100 * relevance[row.number] / best), tool=_tool(row, method)) for row in rows[:count]
    ]
    return tuple(_ranked(matches))[:limit]


def export_tools(engine: Engine, method: MethodStamp) -> Iterator[StoredTool]:
    """Every tool of the newest captures that have scores, server by server in the order of the keys' bytes.

    Raises InputError where the database fails.
    """
    order = "C" if engine.dialect.name == "postgresql" else "BINARY"
    table = CAPTURED_TOOLS.outerjoin(DEFINITIONS, _SAME_DEFINITION)
    query = _tools(method.key, table).order_by(collate(SERVERS.c.server, order), CAPTURED_TOOLS.c.position)
    try:
        with snapshot(engine).begin() as connection:
            for row in connection.execute(query, execution_options={"yield_per": 1000}):
                yield _tool(row, method)
    except DBAPIError as error:
        raise explained(engine.url, error) from error


def _sqlite(words: Sequence[str], count: int) -> Any:  # noqa: ANN401  # SQLAlchemy's
    """Numbers of definitions by BM25, which FTS5 gives as a negative number."""
    statement = text(
        "SELECT rowid AS number, -bm25(definition_words) AS relevance FROM definition_words "
        "WHERE definition_words MATCH :query ORDER BY rank LIMIT :count"
    ).bindparams(query=" OR ".join(f'"{word}"' for word in words), count=count)
    return statement.columns(column("number", Integer), column("relevance", Float))


def _postgresql(connection: Connection, words: Sequence[str], count: int) -> Any:  # noqa: ANN401
    """The same by the inverse document frequencies of the words that a definition has, over its length's logarithm.

    Of 180 requests it has the right tool among the first ten in 60, as BM25 has; ts_rank_cd, which knows no
    frequencies, in 20.
    """
    index: ColumnClause[str] = column("search")
    matches = [index.op("@@")(func.plainto_tsquery("english", word)) for word in words]
    counts = [select(func.count()).select_from(DEFINITIONS).where(each) for each in (true(), *matches)]
    total, *known = connection.execute(select(*(each.scalar_subquery() for each in counts))).one()
    weights = [log(1 + (total - number + 0.5) / (number + 0.5)) for number in known]
    found = [case((each, weight), else_=0.0) for each, weight in zip(matches, weights, strict=True)]
    relevance = (reduce(add, found) / (1 + func.ln(1 + func.length(index)))).label("relevance")
    return (
        select(DEFINITIONS.c.number, relevance)
        .where(or_(*matches))
        .order_by(relevance.desc(), DEFINITIONS.c.number)
        .limit(count)
    )


def _ranked(matches: Sequence[Match]) -> Iterator[Match]:
    """The matches in groups that are comparably relevant; in each the highest TDQS first, what has none last."""
    rest = list(matches)
    while rest:
        least = COMPARABLE * rest[0].relevance
        group = [each for each in rest if 100 * each.relevance >= least]
        yield from sorted(group, key=lambda each: (-(each.tool.tdqs or 0), -each.relevance))
        rest = rest[len(group) :]


def _tools(method: str, table: FromClause) -> Select[Any]:
    """The tools of the newest captures that the method has scored."""
    place = (CAPTURED_TOOLS.c.capture, CAPTURED_TOOLS.c.position)
    scored, ungraded = (
        and_(table.c.capture == place[0], table.c.position == place[1], table.c.method == method)
        for table in (TOOL_SCORES, UNGRADED)
    )
    return (
        select(
            SERVERS.c.server,
            CAPTURED_TOOLS.c.position,
            CAPTURED_TOOLS.c.name,
            CAPTURED_TOOLS.c.input_hash,
            TOOL_SCORES.c.tdqs,
            TOOL_SCORES.c.flags,
            *(TOOL_SCORES.c[key] for key in DIMENSIONS),
            UNGRADED.c.reason,
            SERVER_SCORES.c.overall,
            DEFINITIONS.c.definition_bytes,
        )
        .select_from(table)
        .join(SERVERS, SERVERS.c.capture == CAPTURED_TOOLS.c.capture)
        .join(SERVER_SCORES, and_(SERVER_SCORES.c.capture == place[0], SERVER_SCORES.c.method == method))
        .outerjoin(TOOL_SCORES, scored)
        .outerjoin(UNGRADED, ungraded)
    )


def _tool(row: Any, method: MethodStamp) -> StoredTool:  # noqa: ANN401  # a row of _tools
    scores = None if row.tdqs is None else {key: getattr(row, key) for key in DIMENSIONS}
    return StoredTool(
        server=row.server,
        tool=row.name,
        input_hash=row.input_hash,
        scores=scores,
        tdqs=row.tdqs,
        tier=None if row.tdqs is None else tier_of(row.tdqs),
        smells=tuple(key for key, score in (scores or {}).items() if score < SMELL_BELOW),
        flags=tuple(flag for flag, bit in FLAGS.items() if (row.flags or 0) & bit),
        ungraded=None if row.tdqs is not None else row.reason,
        overall=row.overall,
        judge=method.judge,
        spec_version=method.spec_version,
        definition_bytes=row.definition_bytes,
    )
