"""The scores of a store for a long-running process: numbers for everybody, reasons and findings for maintainers."""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from glob import escape
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache
from sqlalchemy import Connection, Engine

from tdqs_mcp.app.judging import findings_of_score
from tdqs_mcp.app.linting import DEFAULT_POLICY
from tdqs_mcp.errors import UnknownIdError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.report.json_values import read_document
from tdqs_mcp.results.scores import Percentiles, ServerScore
from tdqs_mcp.results.statistics import (
    LabelStatistics,
    Leaderboard,
    MethodComparison,
    MethodStamp,
    RunSummary,
    ServerStanding,
    Share,
    Statistics,
    StoreChanges,
    StoredServer,
    StoredTool,
    StoredToolHistory,
    ToolSearch,
    Trend,
)
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ToolCase
from tdqs_mcp.scoring.score import finish_cases, judge_cases
from tdqs_mcp.store import run_queries, server_queries
from tdqs_mcp.store.captures import read_capture
from tdqs_mcp.store.database import open_filled_store, read, revision
from tdqs_mcp.store.score_queries import (
    find_method,
    iso_utc,
    method_statistics,
    methods,
    percentiles_among,
    score_counts,
)
from tdqs_mcp.store.server_queries import COHERENCE, ServerFilter, StoredVerdicts

Result = TypeVar("Result")


def store_statistics(store: str, *, method: str | None = None) -> Statistics | LabelStatistics:
    """The numbers of the newest run's method, or of the one whose key or judge is given. Raises InputError."""
    with _opened(store) as engine:
        return read(
            engine, lambda connection: method_statistics(connection, find_method(connection, method, with_labels=True))
        )


def server_standing(store: str, server: str, *, method: str | None = None) -> StoredServer:
    """A server among the others of the store, with its tools. Raises InputError and UnknownIdError."""
    with open_scores(store, method=method) as scores:
        return scores.find_server(server)


def search_tools(store: str, query: str, *, method: str | None = None, limit: int = 10) -> ToolSearch:
    """The tools of the store that a query finds."""
    with open_scores(store, method=method) as scores:
        return scores.search_tools(query, limit=limit)


def stored_tools(store: str, *, method: str | None = None) -> Iterator[StoredTool]:
    """Every tool of the store with its score, as of one moment. Raises InputError."""
    return _stored(store, method, server_queries.export_tools)


def stored_servers(store: str, *, method: str | None = None) -> Iterator[ServerStanding]:
    """Every listed server of the store with its scores, as of one moment. Raises InputError."""
    return _stored(store, method, server_queries.export_servers)


def _stored(
    store: str, method: str | None, export: Callable[[Engine, MethodStamp], Iterator[Result]]
) -> Iterator[Result]:
    with _opened(store) as engine:
        yield from export(engine, read(engine, lambda connection: find_method(connection, method)))


def prune_store(store: str, before: datetime) -> int:
    """Delete captures before a moment that no server has any longer; return how many went. Raises InputError."""
    with _opened(store) as engine:
        return run_queries.prune(engine, before)


def _summary(row: Any) -> RunSummary | None:  # noqa: ANN401  # a row of RUNS
    """A run with the few numbers of its statistics that a trend shows; None for those of another version.

    To read the whole of them takes 4 ms a run.
    """
    numbers = json.loads(row.statistics)
    try:
        tdqs, overall = numbers["current"]["tdqs"]["mean"], numbers["serverScores"]["overallScore"]["mean"]
        return RunSummary(
            finished_at=iso_utc(row.finished_at),
            servers=numbers["servers"],
            tools=numbers["scoredTools"]["count"],
            tdqs=None if tdqs is None else round(100 * tdqs),
            overall=None if overall is None else round(100 * overall),
            passing=read_document(Share, numbers["current"]["passing"]),
            changed=row.changed,
            requests=row.requests,
            cost=row.cost,
        )
    except (KeyError, TypeError, ValueError):
        return None


@contextmanager
def _opened(store: str) -> "Generator[Engine]":
    engine = open_filled_store(store)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def open_scores(store: str, *, method: str | None = None) -> "Generator[StoredScores]":
    """The scores of a store, closed at the end. Raises InputError and UnknownIdError."""
    with closing(StoredScores(store, method=method)) as scores:
        yield scores


MAX_KEPT = 32
"""Scores in the cache: a maintainer goes from tool to tool of one server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """The store as of one moment."""

    connection: Connection
    method: MethodStamp
    as_of: str | None
    """When the newest sweep by the method came to its end, in UTC; None before that."""

    revision: str
    counts: Counter[tuple[int, int]]
    """All servers, as `score_counts` has them."""

    def percentiles(self, server: server_queries.StandingServer) -> Percentiles | None:
        """Percentiles of a server among the others."""
        rollup = server.standing.rollup
        own = Counter([] if server.left_at else [(rollup.overall or 0, rollup.description_quality or 0)])
        return percentiles_among(self.counts - own, rollup)


class StoredScores:
    """Read-only access to a store; every query is about one method: the newest finished run's, unless it is named.

    Every method raises InputError if the store cannot be used, and UnknownIdError for what it does not have.
    """

    def __init__(self, store: str, *, method: str | None = None) -> None:
        """Take a method's key or judge. Raises InputError and UnknownIdError."""
        self._engine = open_filled_store(store)
        self._method = method
        if method is not None:
            read(self._engine, lambda connection: find_method(connection, method))
        self._kept: LRUCache[tuple[str, ...], tuple[ServerScore, Measured]] = LRUCache(MAX_KEPT)
        self._lock = Lock()
        self._newest: _Snapshot | None = None
        """Facts that every page asks for and only a write changes."""

    def close(self) -> None:
        """Closes the connections to the store."""
        self._engine.dispose()

    def revision(self) -> str:
        """A value that changes whenever an answer may have changed."""
        return read(self._engine, revision, recovery=0)

    def list_servers(self, server_filter: ServerFilter) -> Leaderboard:
        """A page of the servers."""
        return self._query(lambda now: server_queries.leaderboard(now.connection, now.method, server_filter))

    def find_standing(self, server: str) -> tuple[ServerStanding, JudgeStamp]:
        """Return a server's scores alone, and who judged."""
        return self._query(
            lambda now: (server_queries.find_server(now.connection, now.method, server).standing, now.method.judge)
        )

    def find_server(self, server: str, *, in_full: bool = False) -> StoredServer:
        """A server with its tools and captures; with `in_full` also its score."""

        def ask(now: _Snapshot) -> StoredServer:
            match = server_queries.find_server(now.connection, now.method, server)
            capture, standing, parts, left_at, listing, source = match
            return StoredServer(
                method=now.method,
                source=source,
                standing=standing,
                coherence_scores=parts,
                percentiles=now.percentiles(match),
                tools=tuple(server_queries.list_tools(now.connection, now.method, [capture])[capture]),
                left_at=left_at,
                listing=listing,
                labels=tuple(server_queries.server_labels(now.connection, capture)),
                captures=tuple(server_queries.server_versions(now.connection, now.method, server)),
                score=self._score(now, capture)[0] if in_full else None,
            )

        return self._query(ask)

    def find_tool(self, server: str, tool: str, index: int | None) -> StoredToolHistory:
        """A server's tool of this name, at this place if several have it, as everybody may see it."""
        return self._query(lambda now: _find_tool(now, server, tool, index)[1])

    def explain_tool(
        self, server: str, tool: str, index: int | None
    ) -> tuple[StoredToolHistory, ServerScore, Measured]:
        """Return a tool with reasons and findings, and its server's score with the findings about this tool alone."""

        def ask(now: _Snapshot) -> tuple[StoredToolHistory, ServerScore, Measured]:
            capture, public = _find_tool(now, server, tool, index)
            score, measured = self._score(now, capture, only=public.standing.index)
            return _with_details(public, score, measured), score, measured

        return self._query(ask)

    def score_in_full(self, server: str) -> tuple[ServerScore, Measured]:
        """The newest score of a server, and its definitions."""

        def ask(now: _Snapshot) -> tuple[ServerScore, Measured]:
            match = server_queries.find_server(now.connection, now.method, server)
            score, measured = self._score(now, match.capture)
            return replace(score, percentiles=now.percentiles(match)), measured

        return self._query(ask)

    def search_tools(self, query: str, *, limit: int) -> ToolSearch:
        """The tools that a query finds, the most relevant first."""

        def ask(now: _Snapshot) -> ToolSearch:
            matches = server_queries.search_tools(now.connection, now.method, query, limit=limit)
            return ToolSearch(query=query, method=now.method, matches=matches)

        return self._query(ask)

    def trend(self) -> Trend:
        """The finished sweeps, the oldest first."""

        def ask(now: _Snapshot) -> Trend:
            runs = filter(None, map(_summary, run_queries.finished_runs(now.connection, now.method)))
            return Trend(method=now.method, runs=tuple(runs)[::-1])

        return self._query(ask)

    def changes_since(self, since: datetime) -> StoreChanges:
        """Servers that are new, changed or gone."""
        return self._query(lambda now: run_queries.changes_since(now.connection, now.method, since))

    def compare_methods(self, other: str) -> MethodComparison:
        """The shown method beside another one."""

        def ask(now: _Snapshot) -> MethodComparison:
            return run_queries.compare_methods(now.connection, now.method, find_method(now.connection, other))

        return self._query(ask)

    def as_of(self) -> str | None:
        """Return when the newest sweep by the method came to its end, in UTC; None before that."""
        return self._newest.as_of if self._newest else self._query(lambda now: now.as_of)

    def statistics(self) -> Statistics:
        """The statistics that the newest sweep stored at its end."""

        def ask(now: _Snapshot) -> Statistics:
            try:
                [last] = run_queries.finished_runs(now.connection, now.method, limit=1)
                return read_document(Statistics, json.loads(last.statistics))
            except (TypeError, ValueError) as error:  # none, or of another version, which has other members
                reason = "no statistics of this version are stored: every sweep that comes to its end stores them"
                raise UnknownIdError(reason) from error

        return self._query(ask)

    def _query(self, ask: Callable[[_Snapshot], Result]) -> Result:
        def about_newest(connection: Connection) -> Result:
            now, newest = revision(connection), self._newest  # SQLite sees the store as it is at the first query
            if newest is None or newest.revision != now:
                if not any(method.is_tdqs for method in methods(connection)):
                    raise UnknownIdError("the store has no scores yet")
                method = find_method(connection, self._method)
                last = run_queries.finished_runs(connection, method, limit=1)
                newest = self._newest = _Snapshot(
                    connection=connection,
                    method=method,
                    as_of=iso_utc(last[0].finished_at) if last else None,
                    revision=now,
                    counts=score_counts(connection, method.key),
                )
            return ask(replace(newest, connection=connection))

        return read(self._engine, about_newest, recovery=0)

    def _score(self, now: _Snapshot, capture: str, *, only: int | None = None) -> tuple[ServerScore, Measured]:
        """The score of a capture from its stored verdicts, with its findings, or those about `only` one tool.

        Findings take nine tenths of it. Facts that one page has read serve the next page of the same server.
        """
        key = (now.revision, now.method.key, capture)
        with self._lock:
            if key not in self._kept:
                verdicts = server_queries.stored_verdicts(now.connection, now.method, capture)
                measured = measure(read_capture(now.connection, capture))
                self._kept[key] = _recompute(measured, verdicts, now.method), measured
            score, measured = self._kept[key]
        names = () if only is None else (escape(measured.catalog.tools[only].name),)
        findings = findings_of_score(measured, replace(DEFAULT_POLICY, tools=names))
        return replace(score, findings=findings), measured


def _find_tool(now: _Snapshot, server: str, tool: str, index: int | None) -> tuple[str, StoredToolHistory]:
    capture, standing, *_ = server_queries.find_server(now.connection, now.method, server)
    named = server_queries.list_tools(now.connection, now.method, [capture], name=tool)[capture]
    if not named:
        raise UnknownIdError(f"the server {server!r} has no tool {tool!r}")
    match = next((candidate for candidate in named if candidate.index == index), named[0])
    versions = tuple(server_queries.tool_versions(now.connection, now.method, server, match))
    return capture, StoredToolHistory(method=now.method, server=standing.server, standing=match, history=versions)


def _with_details(public: StoredToolHistory, score: ServerScore, measured: Measured) -> StoredToolHistory:
    index = public.standing.index
    return replace(
        public,
        score=next((tool for tool in score.tools if tool.index == index), None),
        ungraded=next((tool.ungraded.reason for tool in score.ungraded if tool.index == index), None),
        findings=tuple(finding for finding in score.findings if finding.tool_index == index),
        definition=measured.catalog.tools[index].raw,
    )


def _recompute(measured: Measured, stored: StoredVerdicts, method: MethodStamp) -> ServerScore:
    cases = judge_cases(measured, judge=method.judge, spec=method.spec_version)

    def verdict(case: Case) -> Verdict | Ungraded:
        answer, reason = stored.shadowing, ""
        if isinstance(case, ToolCase | SetCase):
            place = case.subject.tool.index if isinstance(case, ToolCase) else COHERENCE
            answer, reason = stored.verdicts.get(place), stored.ungraded.get(place, "")
        return answer or Ungraded(judge=method.judge.id, reason=reason, was_asked=bool(reason))

    verdicts = [verdict(case) for case in cases]
    return finish_cases(measured, cases, verdicts, judge=method.judge, spec=method.spec_version, findings=())
