"""The tools of a store line by line: those that a query finds, the best first, or all of them for a registry."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import (
    ColumnClause,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Select,
    and_,
    case,
    collate,
    column,
    func,
    literal_column,
    or_,
    select,
    table,
)
from sqlalchemy.exc import DBAPIError

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.toolset.search import bm25_scores, rarity, search_terms, weigh_terms
from tdqs_mcp.results.statistics import Match, MethodStamp, StoredTool
from tdqs_mcp.results.verdicts import tier_of
from tdqs_mcp.scoring.rollup import SMELL_BELOW
from tdqs_mcp.store.database import explained, snapshot
from tdqs_mcp.store.tables import (
    CAPTURED_TOOLS,
    DEFINITIONS,
    DIMENSIONS,
    FLAGS,
    SERVER_SCORES,
    SERVERS,
    TOOL_SCORES,
    UNGRADED,
)

COMPARABLE = 95
"""Percent of the more relevant match's relevance from which matches are comparable: the better definition goes first.

Among 1,649 tools, relevance has the right tool of a request before a wrong one in 55% of 1,477 pairs that are as near,
and in 60% of those at 90 to 94 percent. The limit was chosen on these pairs.
"""

MAX_TERMS = 40
"""Terms of a query that are searched."""

CANDIDATES = 900
"""Definitions that are ranked: more than are shown, because some are of earlier captures. SQLite may take 999 only."""

AVERAGE_TERMS = 48
"""Terms of a definition on average, of 1,649 tools of 63 servers, on which search was measured too.

The candidates' own average depends on the query.
"""

_SAME_DEFINITION = DEFINITIONS.c.input_hash == CAPTURED_TOOLS.c.input_hash
_SQLITE_INDEX = table("definition_words", column("rowid"), column("words"), column("rank"))
_POSTGRESQL_INDEX: ColumnClause[str] = column("search")


def search(connection: Connection, method: MethodStamp, query: str, *, limit: int) -> tuple[Match, ...]:
    """The best matches in the newest captures by BM25, as `select` ranks tools. Raises InputError.

    Any of the query's terms may match. Nothing in it is syntax.
    """
    terms = list(dict.fromkeys(search_terms(query)))[:MAX_TERMS]
    if not terms:
        raise InputError("the query has no words to search for: say what the tool should do")
    relevance = _relevance(connection, terms)
    # A second query, because PostgreSQL expects a wrong number of rows from a join with the first.
    joined = DEFINITIONS.join(CAPTURED_TOOLS, _SAME_DEFINITION)
    chosen = _tools(method.key, joined).add_columns(DEFINITIONS.c.number).where(DEFINITIONS.c.number.in_(relevance))
    rows = sorted(connection.execute(chosen), key=lambda row: (-relevance[row.number], row.server, row.position))
    best = relevance[rows[0].number] if rows else 1
    matches = [
        Match(relevance=int(100 * relevance[row.number] / best), tool=_tool(row, method)) for row in rows[:CANDIDATES]
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


def _relevance(connection: Connection, terms: Sequence[str]) -> dict[int, float]:
    """By their numbers, the scores of the definitions that the database chooses as candidates."""
    is_postgresql = connection.dialect.name == "postgresql"
    index, match = (DEFINITIONS, _match_in_postgresql) if is_postgresql else (_SQLITE_INDEX, _match_in_sqlite)
    counts = [select(func.count()).select_from(DEFINITIONS)]
    counts += [select(func.count()).select_from(index).where(match(term)) for term in terms]
    total, *term_counts = connection.execute(select(*(count.scalar_subquery() for count in counts))).one()
    rarities = {term: rarity(number, total) for term, number in zip(terms, term_counts, strict=True)}
    candidates = _postgresql_candidates(rarities) if is_postgresql else _sqlite_candidates(terms)
    rows = connection.execute(candidates.limit(CANDIDATES)).all()
    documents = [row.words.split() for row in rows]
    scores = bm25_scores(weigh_terms(documents, rarities, average=AVERAGE_TERMS), terms)
    return {rows[place].number: score for place, score in scores.items()}


def _sqlite_candidates(terms: Sequence[str]) -> Select[Any]:
    """The first by SQLite's own BM25."""
    columns = _SQLITE_INDEX.c
    number = columns.rowid.label("number")
    return select(number, columns.words).where(_match_in_sqlite(*terms)).order_by(columns.rank)


def _postgresql_candidates(rarities: Mapping[str, float]) -> Select[Any]:
    """The first by the rarities of the terms that a definition has, over its length's logarithm."""
    weights = [case((_match_in_postgresql(term), weight), else_=0.0) for term, weight in rarities.items()]
    relevance = reduce(add, weights) / (1 + func.ln(1 + func.length(_POSTGRESQL_INDEX)))
    return (
        select(DEFINITIONS.c.number, DEFINITIONS.c.words)
        .where(_match_in_postgresql(*rarities))
        .order_by(relevance.desc(), DEFINITIONS.c.number)
    )


def _match_in_sqlite(*terms: str) -> ColumnElement[bool]:
    return literal_column(_SQLITE_INDEX.name).op("MATCH")(" OR ".join(f'"{term}"' for term in terms))


def _match_in_postgresql(*terms: str) -> ColumnElement[bool]:
    return or_(*(_POSTGRESQL_INDEX.op("@@")(func.plainto_tsquery("simple", term)) for term in terms))


def _ranked(matches: Sequence[Match]) -> Iterator[Match]:
    """The matches in groups that are comparably relevant; in each the highest TDQS first, what has none last."""
    rest = list(matches)
    while rest:
        least = COMPARABLE * rest[0].relevance
        group = [match for match in rest if 100 * match.relevance >= least]
        yield from sorted(group, key=lambda match: (-(match.tool.tdqs or 0), -match.relevance))
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
            SERVERS.c.is_official,
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
        is_official=row.is_official,
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
