"""Scores the servers of one shard: what the store knows is carried forward, the rest is judged, all of it is stored."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import anyio
from sqlalchemy import Engine

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.judges.judge import Judge, JudgeWrapper
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.statistics import MethodStamp, ServerChange
from tdqs_mcp.results.verdicts import Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ShadowCase, SkillCase, ToolCase
from tdqs_mcp.scoring import label_rubrics
from tdqs_mcp.scoring.score import finish_cases, judge_cases, skill_cases, tool_cases
from tdqs_mcp.sources.files import read_catalog
from tdqs_mcp.store.captures import KnownVerdicts, ScoredCapture, StoredVerdict, known_verdicts, write
from tdqs_mcp.store.judgements import Retry, put_retries, read_retries
from tdqs_mcp.sweep.records import Entry, SweepTally

Outcome: TypeAlias = StoredVerdict | Ungraded

RETRY_SECONDS, MAX_RETRY_SECONDS = 3_600, 30 * 86_400
"""The time before a question is asked again whose answer could not be used, which doubles with each answer."""


QUESTIONS_AT_ONCE = 64
"""Questions that are being put, under way or being read: as many as a model may have requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneByOne(JudgeWrapper):
    """Asks about each case by itself: its answer is read and checked while others are under way, and not at the end."""

    _places: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(QUESTIONS_AT_ONCE))

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The judge's verdicts, in order."""
        verdicts: dict[int, Verdict | Ungraded] = {}

        async def ask(place: int, case: Case) -> None:
            async with self._places:
                (verdicts[place],) = await self.judge.grade([case])

        async with anyio.create_task_group() as tasks:
            for place, case in enumerate(cases):
                tasks.start_soon(ask, place, case)
        return [verdicts[place] for place in range(len(cases))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """A server to be scored."""

    entry: Entry
    measured: Measured
    cases: Sequence[Case]
    stored: Sequence[StoredVerdict | None]
    """The verdict that the store has of each case."""

    siblings: str
    """A digest of the tools' names, on which a verdict on one of them depends too."""

    @property
    def open_cases(self) -> list[Case]:
        """Return what the judge has to be asked about."""
        return [case for case, verdict in zip(self.cases, self.stored, strict=True) if verdict is None]


async def score_shard(entries: Sequence[Entry], *, store: Engine, method: MethodStamp, judge: Judge) -> SweepTally:
    """Scores and stores all servers that can be read, each whole; asks only for verdicts that the store does not have.

    Raises InputError where the store cannot be used.
    """
    stored_verdicts = known_verdicts(store, method, [entry.server for entry in entries])
    servers: list[_Server] = []
    problems: list[str] = []
    for entry in entries:
        try:
            servers.append(_read(entry, stored_verdicts[entry.server], method))
        except InputError as error:
            problems.append(str(error))
    outcomes = await _judge(servers, judge, method, store)
    captures = [
        _finish(server, server_outcomes, method) for server, server_outcomes in zip(servers, outcomes, strict=True)
    ]
    write(store, method, captures)
    open_ones = [
        outcome
        for server_outcomes in outcomes
        for outcome in server_outcomes
        if isinstance(outcome, Ungraded) and outcome.was_asked
    ]
    return SweepTally(
        servers=len(servers),
        tools=sum(len(server.measured.catalog.tools) for server in servers),
        questions=sum(
            isinstance(case, ToolCase) and verdict is None and isinstance(outcome, StoredVerdict)
            for server, answers in zip(servers, outcomes, strict=True)
            for case, verdict, outcome in zip(server.cases, server.stored, answers, strict=True)
        ),
        ungraded=len(open_ones),
        withheld=sum(outcome.held is not ABSENT for outcome in open_ones),
        new=sum(stored_verdicts[capture.server].capture is None for capture in captures),
        changed=tuple(change for capture in captures if (change := _change(stored_verdicts[capture.server], capture))),
        problems=tuple(problems),
    )


def _change(previous: KnownVerdicts, now: ScoredCapture) -> ServerChange | None:
    """Return the change of a server that was scored before; None for a new one, or if record and score are equal."""
    after = now.score.rollup.overall if isinstance(now.score, ServerScore) else None
    if previous.capture is None or (previous.capture, previous.overall) == (now.capture, after):
        return None
    return ServerChange(server=now.server, before=previous.overall, after=after)


def _read(entry: Entry, stored: KnownVerdicts, method: MethodStamp) -> _Server:
    """The server with its cases. Raises InputError."""
    record = entry.record.read_again(entry.capture)
    catalog = read_catalog(record.document, name=entry.server)
    measured = measure(catalog)
    cases: Sequence[Case] = judge_cases(measured, judge=method.judge, spec=method.spec_version)
    if not method.is_tdqs:
        cases = [*tool_cases(measured, rubric=method.rubric), *skill_cases(measured, rubric=method.rubric)]
    sets = {"coherence": stored.coherence, "skill": stored.coherence, "shadowing": stored.shadowing}

    def find(case: Case) -> StoredVerdict | None:
        if isinstance(case, ToolCase):
            return stored.tools.get(case.subject.signals.input_hash)
        verdict = sets[case.rubric]
        return verdict if verdict and verdict.sibling_digest == _context(case) else None

    siblings = short_hash("\0".join(measured.names))
    stored_ones = [find(case) for case in cases]
    return _Server(entry=entry, measured=measured, cases=cases, stored=stored_ones, siblings=siblings)


def _context(case: SetCase | SkillCase | ShadowCase) -> str:
    """Return what a verdict on a tool set depends on: names, descriptions, shadow candidates, and the skill's text."""
    measured = case.measured
    tools = [(tool.name, tool.description) for tool in measured.catalog.tools]
    candidates = [asdict(candidate) for candidate in measured.shadow_candidates]
    skill = [case.text] if isinstance(case, SkillCase) else []
    return short_hash(json.dumps([measured.catalog.server, tools, candidates, *skill]))


async def _judge(servers: Sequence[_Server], judge: Judge, method: MethodStamp, store: Engine) -> list[list[Outcome]]:
    """For each server, one outcome for each of its cases; the judge is asked about all servers at once."""
    open_cases = [(server, case) for server in servers for case in server.open_cases]
    now, is_offline = int(time.time()), method.judge.is_offline
    questions = ["" if is_offline else _question(case) for _, case in open_cases]  # the offline judge always answers
    retries = {} if is_offline or not questions else read_retries(store, method, questions)
    waiting = {question: retry for question, retry in retries.items() if retry.ask_after > now}
    cases = [case for (_, case), question in zip(open_cases, questions, strict=True) if question not in waiting]
    answers = iter(await judge.grade(cases) if cases else [])
    verdicts: list[Verdict | Ungraded] = []
    failed: dict[str, Retry] = {}
    for question in questions:
        if retry := waiting.get(question):
            verdicts.append(Ungraded(judge=method.judge.id, reason=retry.reason))
            continue
        verdicts.append(answer := next(answers))
        if isinstance(answer, Ungraded) and answer.fault:
            attempts = retries[question].attempts + 1 if question in retries else 1
            pause = min(RETRY_SECONDS * 2 ** (attempts - 1), MAX_RETRY_SECONDS)
            failed[question] = Retry(attempts=attempts, ask_after=now + pause, reason=answer.reason)
    if failed:
        put_retries(store, method, failed)
    fresh = iter(
        verdict if isinstance(verdict, Ungraded) else _stored(server, case, verdict)
        for (server, case), verdict in zip(open_cases, verdicts, strict=True)
    )
    return [[verdict or next(fresh) for verdict in server.stored] for server in servers]


def _question(case: Case) -> str:
    return case.subject.signals.input_hash if isinstance(case, ToolCase) else f"{case.rubric} {_context(case)}"


def _stored(server: _Server, case: Case, verdict: Verdict) -> StoredVerdict:
    digest = server.siblings if isinstance(case, ToolCase) else _context(case)
    return StoredVerdict(verdict=verdict, sibling_digest=digest)


def _finish(server: _Server, outcomes: Sequence[Outcome], method: MethodStamp) -> ScoredCapture:
    verdicts = [outcome.verdict if isinstance(outcome, StoredVerdict) else outcome for outcome in outcomes]
    stamp: dict[str, Any] = {"judge": method.judge, "spec": method.spec_version}
    score: ServerScore | LabelScore
    if method.is_tdqs:
        score = finish_cases(server.measured, server.cases, verdicts, findings=(), **stamp)
    else:
        score = label_rubrics.finish_cases(server.measured, server.cases, verdicts, rubric=method.rubric, **stamp)
    stored = [
        (case, outcome)
        for case, outcome in zip(server.cases, outcomes, strict=True)
        if isinstance(outcome, StoredVerdict)
    ]
    sets = {case.rubric: verdict for case, verdict in stored if not isinstance(case, ToolCase)}
    return ScoredCapture(
        server=server.entry.server,
        capture=server.entry.capture,
        measured=server.measured,
        score=score,
        verdicts={case.subject.tool.index: verdict for case, verdict in stored if isinstance(case, ToolCase)},
        coherence=sets.get("coherence") or sets.get("skill"),
        shadowing=sets.get("shadowing"),
        is_official=server.entry.is_official,
        listing=server.entry.listing,
        is_complete=not any(isinstance(outcome, Ungraded) and outcome.was_asked for outcome in outcomes),
    )
