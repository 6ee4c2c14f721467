"""Queries of servers and tools: the leaderboard, a server with its captures, stored verdicts, search, all tools."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnClause,
    ColumnElement,
    Connection,
    Double,
    Engine,
    FromClause,
    Select,
    and_,
    case,
    cast,
    collate,
    column,
    func,
    literal,
    literal_column,
    or_,
    select,
    table,
)
from sqlalchemy.exc import DBAPIError

from tdqs_mcp.errors import UnknownIdError
from tdqs_mcp.facts.toolset.search import rarity, search_terms
from tdqs_mcp.results.labels import Label
from tdqs_mcp.results.statistics import (
    Leaderboard,
    Match,
    MethodStamp,
    ServerLabels,
    ServerStanding,
    ServerVersion,
    StoredTool,
    ToolStanding,
    ToolVersion,
)
from tdqs_mcp.results.verdicts import Tier, Verdict, tier_of
from tdqs_mcp.scoring.rollup import SMELL_BELOW
from tdqs_mcp.store import tables
from tdqs_mcp.store.captures import select_captures
from tdqs_mcp.store.database import explained, rows_among, snapshot
from tdqs_mcp.store.score_queries import iso_utc, methods, newest, read_rollup
from tdqs_mcp.store.tables import (
    CAPTURED_TOOLS,
    CAPTURES,
    DEFINITIONS,
    FLAGS,
    OVERALL_RANK,
    PARTS,
    ROLLUP,
    SERVER_SCORES,
    SERVERS,
    TOOL_SCORES,
    UNGRADED,
    VERDICTS,
)

PAGE = 50
"""Servers that are listed at once."""

MAX_CAPTURES = 20
"""Captures of one server that are listed."""

NO_TIER = "none"
"""Asks for servers without an overall score."""

COHERENCE = -1
"""Stands for the position of the tool set."""

_NUMBER = re.compile(r"-?\d{1,8}", re.ASCII)

_MISSING = -1
"""Stands for a missing score."""

_ORDERS: Mapping[str, tuple[ColumnElement[Any] | None, bool]] = {
    "score": (OVERALL_RANK, True),
    "lowest": (OVERALL_RANK, False),
    "tools": (CAPTURES.c.tool_count, True),
    "name": (None, False),
}
"""What servers are ordered by before their names, and whether the highest comes first."""

ORDERS = tuple(_ORDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFilter:
    """Which servers, and in which order."""

    text: str = ""
    """Part of the name, whatever its case."""

    tier: str = ""
    is_official: bool | None = None
    order: str = ORDERS[0]
    after: str = ""
    """What `Leaderboard.next` was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVerdicts:
    """The verdicts on one capture, and why the rest has none."""

    verdicts: Mapping[int, Verdict]
    """By the tool's position, without those that the first hard gate decided; COHERENCE is the tool set's."""

    shadowing: Verdict | None
    ungraded: Mapping[int, str]
    """Reasons by the same."""


def leaderboard(connection: Connection, method: MethodStamp, server_filter: ServerFilter) -> Leaderboard:
    """The servers that have scores by the method, a page of them."""
    key, is_descending = _ORDERS[server_filter.order]
    by = [] if key is None else [key.desc() if is_descending else key]
    query = _standings(method.key).add_columns((literal("") if key is None else key).label("key"))
    ordered = query.where(*_conditions(server_filter)).order_by(*by, SERVERS.c.server).limit(PAGE + 1)
    rows = connection.execute(ordered).all()
    page = rows[:PAGE]
    return Leaderboard(
        method=method,
        servers=tuple(map(_standing, page)),
        next=f"{page[-1].key}:{page[-1].server}" if len(rows) > PAGE else None,
    )


class StandingServer(NamedTuple):
    """A server with scores."""

    capture: str
    """The key of its newest capture."""

    standing: ServerStanding
    parts: dict[str, int | None]
    """The scores of its tool set."""

    left_at: str | None
    listing: Mapping[str, str] | None
    source: str | None
    """The locator where it was captured, without credentials."""


def _shown_listing(written: Mapping[str, object]) -> dict[str, str]:
    """The texts that a record has of its server, without links that are no pages, such as `javascript:…`."""
    texts = {name: text for name, text in written.items() if isinstance(text, str)}
    return {
        name: text
        for name, text in texts.items()
        if name not in ("website", "repository") or text.startswith(("https://", "http://"))
    }


def find_server(connection: Connection, method: MethodStamp, server: str) -> StandingServer:
    """A server by its key, also one that has left its registry. Raises UnknownIdError."""
    columns = (SERVERS.c.capture, SERVERS.c.left_at, SERVERS.c.listing, SERVERS.c.source)
    query = _standings(method.key, with_left=True).add_columns(*columns, *(SERVER_SCORES.c[part] for part in PARTS))
    name = tables.clean_text(server)
    row = connection.execute(query.where(SERVERS.c.server == name)).first()
    if row is None:
        alike = query.where(SERVERS.c.server.icontains(name, autoescape=True)).order_by(SERVERS.c.server).limit(3)
        similar = ", ".join(row.server for row in connection.execute(alike))
        hint = f"; did you mean {similar}?" if similar else ""
        raise UnknownIdError(f"there is no server {server!r} with scores by this method{hint}")
    parts = {part: getattr(row, part) for part in PARTS}
    listing = _shown_listing(json.loads(row.listing)) if row.listing else None
    return StandingServer(row.capture, _standing(row), parts, row.left_at and iso_utc(row.left_at), listing, row.source)


def server_labels(connection: Connection, capture: str) -> list[ServerLabels]:
    """The labels of a capture, a rubric each, by the newest method that has scored it."""
    labels: dict[str, ServerLabels] = {}
    of_capture = select(SERVER_SCORES.c.method, SERVER_SCORES.c.document).where(SERVER_SCORES.c.capture == capture)
    documents = {row.method: row.document for row in connection.execute(of_capture)}
    points = select(TOOL_SCORES.c.points).where(TOOL_SCORES.c.capture == capture)
    for method in methods(connection) if len(documents) > 1 else ():
        if method.is_tdqs or method.key not in documents or method.rubric in labels:
            continue
        tools = connection.scalars(points.where(TOOL_SCORES.c.method == method.key)).all()
        bad = sum(int(min(tool)) < SMELL_BELOW for tool in tools)
        label = tables.unpack(documents[method.key]).get("label")
        labels[method.rubric] = ServerLabels(
            method=method, good=len(tools) - bad, bad=bad, label=label and Label(label)
        )
    return list(labels.values())


def list_tools(
    connection: Connection, method: MethodStamp, captures: Sequence[str], *, name: str | None = None
) -> dict[str, list[ToolStanding]]:
    """The tools of these captures with their scores, in the order of each catalog; only those of a name if given."""
    scored = and_(
        TOOL_SCORES.c.capture == CAPTURED_TOOLS.c.capture,
        TOOL_SCORES.c.position == CAPTURED_TOOLS.c.position,
        TOOL_SCORES.c.method == method.key,
    )
    query = (
        select(CAPTURED_TOOLS, TOOL_SCORES.c.tdqs, TOOL_SCORES.c.points)
        .outerjoin(TOOL_SCORES, scored)
        .where(CAPTURED_TOOLS.c.capture.in_(captures))
        .order_by(CAPTURED_TOOLS.c.position)
    )
    if name is not None:
        query = query.where(CAPTURED_TOOLS.c.name == tables.clean_text(name))
    standings: dict[str, list[ToolStanding]] = {capture: [] for capture in captures}
    for row in connection.execute(query):
        standings[row.capture].append(_tool(row))
    return standings


def server_versions(connection: Connection, method: MethodStamp, server: str) -> list[ServerVersion]:
    """The server's captures, the newest first, each beside the one before."""
    of_method = and_(SERVER_SCORES.c.capture == CAPTURES.c.capture, SERVER_SCORES.c.method == method.key)
    query = (
        select_captures(server, limit=MAX_CAPTURES + 1)
        .outerjoin(SERVER_SCORES, of_method)
        .add_columns(SERVER_SCORES.c.overall)
    )
    rows = connection.execute(query).all()
    hashes: dict[str, dict[str, list[str | None]]] = {row.capture: {} for row in rows}
    columns = (CAPTURED_TOOLS.c.capture, CAPTURED_TOOLS.c.name, CAPTURED_TOOLS.c.input_hash)
    tools = select(*columns).where(CAPTURED_TOOLS.c.capture.in_(list(hashes))).order_by(CAPTURED_TOOLS.c.position)
    for row in connection.execute(tools):
        hashes[row.capture].setdefault(row.name, []).append(row.input_hash)
    versions = []
    for place, row in enumerate(rows[:MAX_CAPTURES]):
        new = hashes[row.capture]
        old = hashes[rows[place + 1].capture] if place + 1 < len(rows) else new
        versions.append(
            ServerVersion(
                capture=row.capture,
                captured_at=iso_utc(row.captured_at),
                tool_count=row.tool_count,
                overall=row.overall,
                added=sum(max(0, len(new[name]) - len(old.get(name, ()))) for name in new),
                removed=sum(max(0, len(old[name]) - len(new.get(name, ()))) for name in old),
                changed=sum(
                    before != after for name in new for before, after in zip(old.get(name, ()), new[name], strict=False)
                ),
            )
        )
    return versions


def tool_versions(connection: Connection, method: MethodStamp, server: str, tool: ToolStanding) -> list[ToolVersion]:
    """The tool of this name in the server's captures, the newest first, without captures that changed nothing."""
    rows = connection.execute(select_captures(server, limit=MAX_CAPTURES + 1)).all()
    tools = list_tools(connection, method, [row.capture for row in rows], name=tool.tool)
    versions: list[ToolVersion] = []
    for row in rows:
        same = tools[row.capture]
        standing = next((version for version in same if version.index == tool.index), same[0] if same else None)
        if standing is None:
            continue
        if versions and _content(versions[-1].standing) == _content(standing):
            versions.pop()
        versions.append(ToolVersion(capture=row.capture, captured_at=iso_utc(row.captured_at), standing=standing))
    return versions[:MAX_CAPTURES]


def stored_verdicts(connection: Connection, method: MethodStamp, capture: str) -> StoredVerdicts:
    """All verdicts of one capture. Raises UnknownIdError where the method has not scored it."""
    sets, tools, ungraded = (
        select(*row_filter).where(table.c.capture == capture, table.c.method == method.key)
        for table, row_filter in (
            (SERVER_SCORES, (SERVER_SCORES.c.verdict, SERVER_SCORES.c.shadow_verdict)),
            (TOOL_SCORES, (TOOL_SCORES.c.verdict, TOOL_SCORES.c.position)),
            (UNGRADED, (UNGRADED.c.position, UNGRADED.c.reason)),
        )
    )
    row = connection.execute(sets).first()
    if row is None:
        raise UnknownIdError("the capture has no scores by this method")
    places = {position: verdict for verdict, position in connection.execute(tools) if verdict}
    keys = [*places.values(), *filter(None, row)]
    rows = rows_among(connection, select(VERDICTS.c.verdict, VERDICTS.c.document), VERDICTS.c.verdict, keys)
    documents = {row["verdict"]: row["document"] for row in rows}
    places |= {COHERENCE: row.verdict} if row.verdict else {}
    return StoredVerdicts(
        verdicts={place: tables.unpack_verdict(documents[verdict]) for place, verdict in places.items()},
        shadowing=tables.unpack_verdict(documents[row.shadow_verdict]) if row.shadow_verdict else None,
        ungraded={row.position: row.reason for row in connection.execute(ungraded)},
    )


def _standings(method: str, *, with_left: bool = False) -> Select[Any]:
    """The newest scores of every listed server."""
    return (
        select(
            SERVERS.c.server,
            SERVERS.c.is_official,
            CAPTURES.c.tool_count,
            SERVER_SCORES.c.scored_tool_count,
            *(SERVER_SCORES.c[name] for name in ROLLUP),
        )
        .select_from(newest(SERVER_SCORES, method, with_left=with_left))
        .join(CAPTURES, CAPTURES.c.capture == SERVERS.c.capture)
    )


def _conditions(server_filter: ServerFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    rank = OVERALL_RANK
    if server_filter.text:
        conditions.append(SERVERS.c.server.icontains(tables.clean_text(server_filter.text), autoescape=True))
    if server_filter.tier == NO_TIER:
        conditions.append(rank == _MISSING)
    elif server_filter.tier:
        tier = Tier(server_filter.tier)
        above = min((higher_tier.floor for higher_tier in Tier if higher_tier.floor > tier.floor), default=None)
        conditions += [rank >= tier.floor, *([] if above is None else [rank < above])]
    elif server_filter.order == "lowest":
        conditions.append(rank > _MISSING)
    if server_filter.is_official is not None:
        conditions.append(SERVERS.c.is_official.is_(server_filter.is_official))
    return conditions + _following(server_filter)


def _following(server_filter: ServerFilter) -> list[ColumnElement[bool]]:
    """The conditions for servers after the last one of the page before; none if `after` cannot be read."""
    value, is_given, server = tables.clean_text(server_filter.after).partition(":")
    key, is_descending = _ORDERS[server_filter.order]
    later = SERVERS.c.server > server
    if not is_given or not _NUMBER.fullmatch(value if key is not None else "0"):
        return []
    if key is None:
        return [later]
    number = int(value)
    # The first condition follows from the second: it lets the database begin at the place in its index.
    return [
        key <= number if is_descending else key >= number,
        or_(key < number if is_descending else key > number, later),
    ]


def _standing(row: Any) -> ServerStanding:  # noqa: ANN401  # a row of _standings
    return ServerStanding(
        server=row.server,
        is_official=row.is_official,
        tool_count=row.tool_count,
        scored_tool_count=row.scored_tool_count,
        rollup=read_rollup(row),
    )


def _tool(row: Any) -> ToolStanding:  # noqa: ANN401  # a row of list_tools
    return ToolStanding(
        tool=row.name,
        index=row.position,
        input_hash=row.input_hash,
        scores=None if row.tdqs is None else tables.unpack_points(row.points),
        tdqs=row.tdqs,
    )


def _content(tool: ToolStanding) -> tuple[object, ...]:
    return tool.input_hash, tool.tdqs, tool.scores


NAME_WEIGHT = 2
"""How often a term of a name counts."""

MAX_TERMS = 40
"""Terms of a query that are searched."""

CANDIDATES, FEW_CANDIDATES = 900, 120
"""Definitions that are ranked: more than are shown, because some are of earlier captures. SQLite tries FEW first."""

AVERAGE_TERMS = 48
"""Terms of a definition on average, of 1,649 tools of 63 servers, on which search was measured too."""

K1, B = 1.2, 0.75
"""How soon a repeated term counts no more, and how much a long definition pays for its length: those of SQLite."""

_SAME_DEFINITION = DEFINITIONS.c.input_hash == CAPTURED_TOOLS.c.input_hash
_SQLITE_INDEX = table("definition_words", column("rowid"))
_POSTGRESQL_INDEX: ColumnClause[str] = column("search")


def search_tools(connection: Connection, method: MethodStamp, query: str, *, limit: int) -> tuple[Match, ...]:
    """The best matches in the newest captures by BM25. Raises UnknownIdError.

    Any of the query's terms may match. Nothing in it is syntax.
    """
    terms = list(dict.fromkeys(search_terms(query)))[:MAX_TERMS]
    if not terms:
        raise UnknownIdError("the query has no words to search for: say what the tool should do")
    if connection.dialect.name == "postgresql":
        return _best_matches(connection, method, _rank_in_postgresql(connection, terms), limit)
    matches = _best_matches(connection, method, _rank_in_sqlite(terms).limit(FEW_CANDIDATES), limit)
    if len(matches) == limit:
        return matches
    return _best_matches(connection, method, _rank_in_sqlite(terms).limit(CANDIDATES), limit)


def _best_matches(connection: Connection, method: MethodStamp, ranked: Select[Any], limit: int) -> tuple[Match, ...]:
    candidates = ranked.subquery()
    relevance = candidates.c.relevance
    joined = DEFINITIONS.join(CAPTURED_TOOLS, _SAME_DEFINITION).join(
        candidates, candidates.c.number == DEFINITIONS.c.number
    )
    # An expression has no index, so no planner begins at the servers: 22 s for 100,000 tools in SQLite, and not 0.4 s.
    capture = CAPTURED_TOOLS.c.capture.concat("")
    query_of_tools = _select_tools(method.key, joined, capture=capture).add_columns(relevance.label("relevance"))
    ordered = query_of_tools.order_by(relevance.desc(), SERVERS.c.server, CAPTURED_TOOLS.c.position)
    rows = connection.execute(ordered.limit(limit)).all()
    percents = (int(100 * row.relevance / rows[0].relevance) for row in rows)  # a window over all would read them all
    return tuple(
        Match(relevance=percent, tool=_stored_tool(row, method)) for row, percent in zip(rows, percents, strict=True)
    )


def _rank_in_sqlite(terms: Sequence[str]) -> Select[Any]:
    """Definitions by SQLite's own BM25, whose lowest number is the best."""
    rank = func.bm25(literal_column(_SQLITE_INDEX.name), NAME_WEIGHT, 1)
    any_term = " OR ".join(f'"{term}"' for term in terms)
    matches = literal_column(_SQLITE_INDEX.name).op("MATCH")(any_term)
    ranked = select(_SQLITE_INDEX.c.rowid.label("number"), (-rank).label("relevance")).where(matches)
    return ranked.order_by(rank)


def _rank_in_postgresql(connection: Connection, terms: Sequence[str]) -> Select[Any]:
    """Definitions by BM25, which PostgreSQL does not have: its own ranks know no rare terms."""
    matches = {term: _POSTGRESQL_INDEX.op("@@")(func.plainto_tsquery("simple", term)) for term in terms}
    counts = [select(func.count()).select_from(DEFINITIONS)]
    counts += [select(func.count()).select_from(DEFINITIONS).where(match) for match in matches.values()]
    total, *term_counts = connection.execute(select(*(count.scalar_subquery() for count in counts))).one()
    rarities = {term: rarity(count, total) for term, count in zip(terms, term_counts, strict=True)}
    # BM25 for each of 183,000 definitions takes 6 s: those with the rarest terms in the shortest text are enough.
    weights = [case((match, rarities[term]), else_=0.0) for term, match in matches.items()]
    # Double: numbers whose type SQLAlchemy does not know are divided as NUMERIC, which is far slower.
    density = reduce(add, weights) / (1 + func.ln(1 + DEFINITIONS.c.term_count, type_=Double))
    chosen = (
        select(DEFINITIONS.c.number, DEFINITIONS.c.term_count, _POSTGRESQL_INDEX)
        .where(or_(*matches.values()))
        .order_by(density.desc(), DEFINITIONS.c.number)
        .limit(CANDIDATES)
        .subquery()
    )
    lexemes = func.unnest(chosen.c.search).table_valued("lexeme", "positions", "weights", name="term").render_derived()
    in_name = func.coalesce(func.cardinality(func.array_positions(lexemes.c.weights, "A")), 0)
    count = func.cardinality(lexemes.c.positions) + (NAME_WEIGHT - 1) * in_name
    length = K1 * (1 - B) + cast(K1 * B / AVERAGE_TERMS, Double) * chosen.c.term_count
    weight = case(*((lexemes.c.lexeme == term, value) for term, value in rarities.items()), else_=0.0)
    relevance = select(func.sum(weight * count / (count + length))).select_from(lexemes).correlate(chosen)
    return select(chosen.c.number, relevance.scalar_subquery().label("relevance"))


def export_tools(engine: Engine, method: MethodStamp) -> Iterator[StoredTool]:
    """Every tool of the newest captures that have scores, server by server in the order of the keys' bytes.

    Raises InputError where the database fails.
    """
    order = "C" if engine.dialect.name == "postgresql" else "BINARY"
    table = CAPTURED_TOOLS.outerjoin(DEFINITIONS, _SAME_DEFINITION)
    query = _select_tools(method.key, table).order_by(collate(SERVERS.c.server, order), CAPTURED_TOOLS.c.position)
    return (_stored_tool(row, method) for row in _stream(engine, query))


def export_servers(engine: Engine, method: MethodStamp) -> Iterator[ServerStanding]:
    """Every listed server with scores, by name. Raises InputError where the database fails."""
    order = "C" if engine.dialect.name == "postgresql" else "BINARY"
    query = _standings(method.key).order_by(collate(SERVERS.c.server, order))
    return map(_standing, _stream(engine, query))


def _stream(engine: Engine, query: Select[Any]) -> Iterator[Any]:
    """The rows of a query as of one moment, a thousand at a time. Raises InputError where the database fails."""
    try:
        options = {"yield_per": 1000}
        with snapshot(engine).begin() as connection, connection.execute(query, execution_options=options) as rows:
            yield from rows
    except DBAPIError as error:
        raise explained(engine.url, error) from error


def _select_tools(
    method: str, table: FromClause, capture: ColumnElement[str] = CAPTURED_TOOLS.c.capture
) -> Select[Any]:
    """The tools of the newest captures that the method has scored."""
    place = (capture, CAPTURED_TOOLS.c.position)
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
            TOOL_SCORES.c.points,
            UNGRADED.c.reason,
            SERVER_SCORES.c.overall,
            DEFINITIONS.c.definition_bytes,
        )
        .select_from(table)
        .join(SERVERS, and_(SERVERS.c.capture == capture, SERVERS.c.left_at.is_(None)))
        .join(SERVER_SCORES, and_(SERVER_SCORES.c.capture == place[0], SERVER_SCORES.c.method == method))
        .outerjoin(TOOL_SCORES, scored)
        .outerjoin(UNGRADED, ungraded)
    )


def _stored_tool(row: Any, method: MethodStamp) -> StoredTool:  # noqa: ANN401  # a row of _select_tools
    scores = None if row.tdqs is None else tables.unpack_points(row.points)
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
