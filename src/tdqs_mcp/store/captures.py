"""Writes scored captures to a store, and reads what a sweep, a report or another machine needs of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from typing import Any, TypeAlias

from sqlalchemy import (
    Connection,
    Delete,
    Engine,
    RowMapping,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.toolset.search import search_terms
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.labels import LabeledTool, LabelScore
from tdqs_mcp.results.scores import ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.results.verdicts import Verdict
from tdqs_mcp.store import tables
from tdqs_mcp.store.database import add_rows, analyze, put_rows, read, rows_among, transact
from tdqs_mcp.store.tables import (
    CAPTURED_TOOLS,
    CAPTURES,
    DEFINITIONS,
    FLAGS,
    METHODS,
    PARTS,
    ROLLUP,
    RUNS,
    SERVER_SCORES,
    SERVERS,
    TOOL_SCORES,
    UNGRADED,
    VERDICTS,
)

Row: TypeAlias = dict[str, Any]

MAX_WORDS = 20_000
"""Characters of a definition that are searched; PostgreSQL's index takes a megabyte, and no agent reads more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVerdict:
    """A verdict and what it was given on, besides the definition."""

    verdict: Verdict
    sibling_digest: str
    """16 hex digits: of the siblings; of a tool set, everything that its verdict depends on."""

    is_new: bool = field(default=True, compare=False)
    """It is not in the store yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCapture:
    """A server as it was captured and scored."""

    server: str
    """Its key in the registry."""

    capture: str
    """The `capture_digest` of its record."""

    measured: Measured
    score: ServerScore | LabelScore
    verdicts: Mapping[int, StoredVerdict]
    """By the tool's index; without those that the first hard gate decided."""

    coherence: StoredVerdict | None = None
    """Of the tool set; under a rubric that ends in labels, of the skill."""

    shadowing: StoredVerdict | None = None
    is_official: bool | None = None
    listing: Mapping[str, str] | None = None
    """Title, version and links as its registry has them."""

    is_complete: bool = True
    """Nothing is left that the judge can be asked again about."""


def capture_digest(server: str, record: bytes) -> str:
    """The key of a capture: 32 hex digits over the server's key and its record's bytes."""
    return _digest(b"\0".join((server.encode("utf-8", "surrogatepass"), record)))


Rows: TypeAlias = Mapping[Table, list[Row]]
"""Rows that a write adds to each table, in the order of the keys: no two writers wait for each other in a circle."""


def make_rows(method: MethodStamp, captures: Sequence[ScoredCapture], *, now: datetime) -> Rows:
    """The rows of some captures; of equal ones, the last counts."""
    by_key = {capture.capture: capture for capture in captures}
    ordered = [by_key[capture] for capture in sorted(by_key)]
    key = method.key
    definitions = {row["input_hash"]: row for capture in ordered for row in _definitions(capture)}
    verdicts = {row["verdict"]: row for capture in ordered for row in _verdicts(capture, key)}
    return {
        METHODS: [method_row(method)],
        CAPTURES: [_capture(capture, now) for capture in ordered],
        DEFINITIONS: [definitions[input_hash] for input_hash in sorted(definitions)],
        CAPTURED_TOOLS: [row for capture in ordered for row in _tools(capture)],
        VERDICTS: [verdicts[verdict] for verdict in sorted(verdicts)],
        SERVER_SCORES: [_server_score(capture, key) for capture in ordered],
        TOOL_SCORES: [_tool_score(capture, tool, key) for capture in ordered for tool in capture.score.tools],
        UNGRADED: [_ungraded(capture, tool, key) for capture in ordered for tool in _unscored(capture.score)],
        SERVERS: sorted((_server(capture) for capture in ordered), key=lambda row: row["server"]),
    }


def method_row(method: MethodStamp) -> Row:
    """The row of a method."""
    return {"method": method.key, **method.columns}


def _server(capture: ScoredCapture) -> Row:
    source = tables.public_source(capture.measured.catalog.source)
    return {
        "server": tables.clean_text(capture.server),
        "capture": capture.capture,
        "is_official": capture.is_official,
        "source": source and tables.clean_text(source),
        "listing": json.dumps(capture.listing) if capture.listing else None,
    }


def _capture(capture: ScoredCapture, now: datetime) -> Row:
    catalog = capture.measured.catalog
    return {
        "capture": capture.capture,
        "server": tables.clean_text(capture.server),
        "captured_at": now,
        "tool_count": len(catalog.tools),
        "document": tables.pack_catalog(catalog),
    }


def _tools(capture: ScoredCapture) -> Iterator[Row]:
    hashes = {subject.tool.index: subject.signals.input_hash for subject in capture.measured.subjects}
    for tool in capture.measured.catalog.tools:
        yield {
            "capture": capture.capture,
            "position": tool.index,
            "name": tables.clean_text(tool.name),
            "input_hash": hashes.get(tool.index),
            "document": tables.pack(tool.raw),
        }


def _definitions(capture: ScoredCapture) -> Iterator[Row]:
    """The rows of definitions that may be new: one whose verdict is carried forward has been stored with it."""
    stored = {index for index, verdict in capture.verdicts.items() if not verdict.is_new}
    for subject in capture.measured.subjects:
        tool = subject.tool
        if tool.index in stored:
            continue
        names = search_terms(tool.name[:MAX_WORDS])
        terms = search_terms("\n".join(filter(None, (tool.title, tool.description)))[:MAX_WORDS])
        yield {
            "input_hash": subject.signals.input_hash,
            "name": tables.clean_text(tool.name),
            "name_words": " ".join(names),
            "words": " ".join(terms),
            "term_count": len(names) + len(terms),
            "definition_bytes": subject.signals.definition_bytes,
        }


def _verdicts(capture: ScoredCapture, method: str) -> Iterator[Row]:
    hashes = {subject.tool.index: subject.signals.input_hash for subject in capture.measured.subjects}
    verdicts = [(hashes[index], verdict) for index, verdict in capture.verdicts.items()]
    verdicts += [("", verdict) for verdict in (capture.coherence, capture.shadowing) if verdict]
    for input_hash, stored in verdicts:
        if not stored.is_new:
            continue
        yield {
            "verdict": _verdict_key(method, input_hash, stored),
            "method": method,
            "input_hash": input_hash,
            "sibling_digest": stored.sibling_digest,
            "document": tables.pack_verdict(stored.verdict),
        }


def _verdict_key(method: str, input_hash: str, stored: StoredVerdict | None) -> str | None:
    if stored is None:
        return None
    return _digest(f"{method}\0{input_hash}\0{stored.sibling_digest}".encode())


def _unscored(score: ServerScore | LabelScore) -> tuple[UngradedTool, ...]:
    return score.unscored if isinstance(score, ServerScore) else score.ungraded


def _tool_score(capture: ScoredCapture, tool: ToolScore | LabeledTool, method: str) -> Row:
    flags = sum(FLAGS[flag] for flag in {*tool.flags, *tool.server_flags})
    return {
        "capture": capture.capture,
        "method": method,
        "position": tool.index,
        "input_hash": tool.input_hash,
        "verdict": _verdict_key(method, tool.input_hash, capture.verdicts.get(tool.index)),
        "tdqs": tool.tdqs if isinstance(tool, ToolScore) else None,
        "flags": flags,
        "points": "".join(map(str, tool.scores.values())),
    }


def _server_score(capture: ScoredCapture, method: str) -> Row:
    score, coherence = capture.score, {}
    document: Row = {"problems": score.problems}
    if isinstance(score, ServerScore):
        document["shadow_candidates"] = [asdict(pair) for pair in score.shadow_candidates]
        document["shadowing_risks"] = [asdict(risk) for risk in score.shadowing_risks]
        coherence = score.coherence.scores if isinstance(score.coherence, Verdict) else {}
    elif score.skill:
        document["label"] = score.skill.label
    rollup = score.rollup if isinstance(score, ServerScore) else None
    return {
        "capture": capture.capture,
        "method": method,
        "scored_tool_count": len(score.tools),
        **{name: rollup and getattr(rollup, name) for name in ROLLUP},
        **{part: coherence.get(part) for part in PARTS},
        "verdict": _verdict_key(method, "", capture.coherence),
        "shadow_verdict": _verdict_key(method, "", capture.shadowing),
        "is_complete": capture.is_complete,
        "document": tables.pack({name: value for name, value in document.items() if value}),
    }


def _ungraded(capture: ScoredCapture, tool: UngradedTool, method: str) -> Row:
    held_tdqs = None if tool.ungraded.held is ABSENT else tool.ungraded.held
    return {
        "capture": capture.capture,
        "method": method,
        "position": tool.index,
        "name": tables.clean_text(tool.name),
        "reason": tables.clean_text(tool.ungraded.reason),
        "held_score": held_tdqs and held_tdqs.score,
        "held_estimate": held_tdqs and held_tdqs.estimate,
    }


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVerdicts:
    """The verdicts on a server's latest capture that has scores."""

    tools: Mapping[str, StoredVerdict] = field(default_factory=dict)
    """By inputHash."""

    coherence: StoredVerdict | None = None
    shadowing: StoredVerdict | None = None
    capture: str | None = None
    overall: int | None = None
    """The server's score in tenths."""


def complete_captures(engine: Engine, method: MethodStamp) -> dict[str, str]:
    """The newest captures that are completely judged, each with its server: their records need no work."""
    query = (
        select(SERVERS.c.capture, SERVERS.c.server)
        .join(SERVER_SCORES, SERVER_SCORES.c.capture == SERVERS.c.capture)
        .where(SERVER_SCORES.c.method == method.key, SERVER_SCORES.c.is_complete)
    )
    return read(engine, lambda connection: {row.capture: row.server for row in connection.execute(query)})


def known_verdicts(engine: Engine, method: MethodStamp, servers: Sequence[str]) -> dict[str, KnownVerdicts]:
    """By server, the verdicts on its newest capture that has scores by the method."""
    keys = {tables.clean_text(server): server for server in servers}
    stored = read(engine, partial(_read_known, method=method.key, servers=sorted(keys)))
    return dict.fromkeys(servers, KnownVerdicts()) | {keys[server]: verdicts for server, verdicts in stored.items()}


def write(engine: Engine, method: MethodStamp, captures: Sequence[ScoredCapture]) -> None:
    """Stores the captures with all their scores, in one transaction: readers never see half a server.

    Writing again changes nothing; what was scored anew replaces what was there. Raises InputError.
    """
    if captures:
        transact(engine, partial(_write, rows=make_rows(method, captures, now=datetime.now(UTC))))


def read_capture(connection: Connection, capture: str) -> Catalog:
    """The catalog of a capture as it was read, but for credentials in its source. Raises KeyError."""
    document = connection.scalar(select(CAPTURES.c.document).where(CAPTURES.c.capture == capture))
    if document is None:
        raise KeyError(capture)
    query = select(CAPTURED_TOOLS.c.document).where(CAPTURED_TOOLS.c.capture == capture)
    tools = connection.scalars(query.order_by(CAPTURED_TOOLS.c.position))
    return tables.unpack_catalog(document, list(map(tables.unpack, tools)))


def select_captures(server: str, *, limit: int) -> Select[Any]:
    """Captures of a server, each with when it was first read: the newest, which a server may come back to, first."""
    return (
        select(CAPTURES.c.capture, CAPTURES.c.captured_at, CAPTURES.c.tool_count)
        .select_from(CAPTURES)
        .outerjoin(SERVERS, SERVERS.c.capture == CAPTURES.c.capture)
        .where(CAPTURES.c.server == tables.clean_text(server))
        .order_by(SERVERS.c.server.is_(None), CAPTURES.c.captured_at.desc(), CAPTURES.c.capture)
        .limit(limit)
    )


def start_run(engine: Engine, method: MethodStamp) -> int:
    """The number of a run that begins now."""

    def begin(connection: Connection) -> int:
        add_rows(connection, METHODS, [method_row(method)])
        row = {"method": method.key, "started_at": datetime.now(UTC)}
        return int(connection.execute(insert(RUNS), row).inserted_primary_key[0])  # type: ignore[index]  # one row

    return transact(engine, begin)


def finish_run(engine: Engine, run: int, **columns: object) -> None:
    """Ends a run with `servers`, `changed`, `tools`, and as JSON `problems` and `statistics`."""
    values = {"finished_at": datetime.now(UTC), **columns}
    transact(engine, lambda connection: connection.execute(update(RUNS).where(RUNS.c.run == run).values(values)))
    analyze(engine)


def _write(connection: Connection, rows: Rows) -> None:
    """Locks come in one order: tables as here, rows by key. A server's scores wait for its row in server_scores."""
    keys = [{"old_capture": row["capture"], "old_method": row["method"]} for row in rows[SERVER_SCORES]]
    for table, entries in rows.items():
        if table in (TOOL_SCORES, UNGRADED):
            connection.execute(_removal(table), keys)
        (add_rows if table in _LASTING else put_rows)(connection, table, entries)


_LASTING = frozenset({METHODS, CAPTURES, DEFINITIONS, CAPTURED_TOOLS})
"""Tables whose rows never change."""


@cache
def _removal(table: Table) -> Delete:
    return delete(table).where(
        and_(table.c.capture == bindparam("old_capture"), table.c.method == bindparam("old_method"))
    )


def _read_known(connection: Connection, *, method: str, servers: Sequence[str]) -> dict[str, KnownVerdicts]:
    latest = _latest_scored(connection, method, servers)
    keys = [row[name] for row in latest.values() for name in ("verdict", "shadow_verdict") if row[name]]
    stored = rows_among(connection, select(VERDICTS), VERDICTS.c.verdict, keys)
    of_sets = {row["verdict"]: _stored(row) for row in stored}
    query = (
        select(TOOL_SCORES.c.capture, VERDICTS)
        .join(VERDICTS, VERDICTS.c.verdict == TOOL_SCORES.c.verdict)
        .where(TOOL_SCORES.c.method == method)
    )
    tools: dict[str, dict[str, StoredVerdict]] = {}
    for row in rows_among(connection, query, TOOL_SCORES.c.capture, [row["capture"] for row in latest.values()]):
        tools.setdefault(row["capture"], {})[row["input_hash"]] = _stored(row)
    return {
        server: KnownVerdicts(
            tools=tools.get(row["capture"], {}),
            coherence=of_sets.get(row["verdict"]),
            shadowing=of_sets.get(row["shadow_verdict"]),
            capture=row["capture"],
            overall=row["overall"],
        )
        for server, row in latest.items()
    }


def _latest_scored(connection: Connection, method: str, servers: Sequence[str]) -> dict[str, RowMapping]:
    """By server, the scores of the capture that it points to, else of the last that has scores."""
    is_newest = SERVERS.c.capture == CAPTURES.c.capture
    columns = [SERVER_SCORES.c[name] for name in ("capture", "verdict", "shadow_verdict", "overall")]
    query = (
        select(CAPTURES.c.server, *columns)
        .join(SERVER_SCORES, SERVER_SCORES.c.capture == CAPTURES.c.capture)
        .join(SERVERS, SERVERS.c.server == CAPTURES.c.server)
        .where(SERVER_SCORES.c.method == method)
        .order_by(is_newest, CAPTURES.c.captured_at, CAPTURES.c.capture)
    )
    return {row["server"]: row for row in rows_among(connection, query, CAPTURES.c.server, servers)}


def _stored(row: RowMapping) -> StoredVerdict:
    verdict = tables.unpack_verdict(row["document"])
    return StoredVerdict(verdict=verdict, sibling_digest=row["sibling_digest"], is_new=False)
