"""Sweeps of a registry: records or live servers into a store, by the judge that the settings name."""

import gc
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import httpx2
from sqlalchemy import URL, Engine

from tdqs_mcp.app.catalogs import blocking, capture_document, load, load_all
from tdqs_mcp.app.judge_factory import make_judge, warn_caller
from tdqs_mcp.app.judging import batch_judge, collect_batch
from tdqs_mcp.app.settings import JudgeKind, Settings
from tdqs_mcp.canonical import short_hash
from tdqs_mcp.errors import EndpointError, InputError, TdqsError
from tdqs_mcp.judges.budget import Ledger
from tdqs_mcp.judges.judge import Judge, Usage, used
from tdqs_mcp.judges.jury import Jury
from tdqs_mcp.judges.verdict_guard import VerdictGuard, unwrap_guard
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.json_values import document
from tdqs_mcp.results.contract import generated_by
from tdqs_mcp.results.statistics import MAX_PROBLEMS, MethodStamp, ServerChange, SweepReport
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC
from tdqs_mcp.sources.locator import File, InProcess, LiveOptions, parse_locator, public
from tdqs_mcp.sources.registry_feed import PREFIX, FeedServer, read_feed
from tdqs_mcp.store.captures import complete_captures, finish_run, read_capture, start_run
from tdqs_mcp.store.database import RECOVERY, file_of, open_store, public_url, read, read_url
from tdqs_mcp.store.judgements import Judgements, add_batch, pending_batches, remove_batch
from tdqs_mcp.store.run_queries import mark_listed
from tdqs_mcp.store.score_queries import method_statistics
from tdqs_mcp.sweep.records import LISTING, Record, Shard, SweepTally, is_registry, plan_shards, read_records
from tdqs_mcp.sweep.run import Cluster, check_packages, is_local, read_address, run_at_once, run_on_dask
from tdqs_mcp.sweep.scoring import OneByOne, score_shard

FEED_BATCH, MAX_FEED_BYTES = 64, 8 * 2**20
"""Servers of a registry whose captures are in memory at once, and bytes of one."""

REQUESTS_AT_ONCE, SERVERS_AT_ONCE = 40, 24
"""Requests to a model that are under way at once, unless the judge has a limit of its own, and servers they are of.

A server has two questions at least.
"""

WEBHOOK_SECONDS = 10
"""Seconds for a webhook to answer."""

GC_THRESHOLDS = (5_000, 10, 100)
"""Python's own collect garbage for 10% of a first sweep's time, and 19% where 1% of the tools changed.

These make it 4% and 8%.
"""

Progress: TypeAlias = Callable[[SweepTally, float], None]
"""Called with what has been done so far, and the share of the input that has been read, 0-1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRequest:
    """Input of a sweep, and how it is scored."""

    inputs: tuple[str, ...]
    """Files with many records, folders of captures, captures, and locators of live servers."""

    store: str = field(repr=False)
    """A URL or a SQLite file."""

    settings: Settings = field(default_factory=Settings)
    spec: str = DEFAULT_SPEC
    rubric: str = "tdqs"
    """One of `rubrics.rubric.TOOL_RUBRICS`."""

    cluster: Cluster = None
    """The address of a Dask scheduler, its scheduler file or a client; None for own processes on all processors."""

    is_batch: bool = False
    live: LiveOptions = field(default_factory=LiveOptions)
    admit: Callable[[str], Awaitable[list[str]]] | None = field(default=None, repr=False)
    """Checks the URL of every remote that a registry names, and gives its addresses: they are foreign."""

    starters: Mapping[str, str] = field(default_factory=dict)
    """Commands that start a registry's packages, by type, with `{package}` in them; no others are started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Settings of the work besides its shard. The offline judge's travel to other machines: no key is in them."""

    store: URL
    settings: Settings
    method: MethodStamp
    release: str = field(default_factory=generated_by)
    """The program that shares the work out."""

    file: tuple[int, int] | None = None
    """Device and number of a SQLite file, which another may have replaced since."""


def sweep_registry(
    request: SweepRequest,
    *,
    on_progress: Progress = lambda _, __: None,
    warn: Callable[[str], None] = warn_caller,
) -> SweepReport:
    """Scores what the store does not have yet, and stores it; an interrupted sweep leaves the rest to the next one.

    A model is asked by this process alone, where its limits hold; the offline judge works on all processors. Raises
    InputError where nothing can be read, or the store or the cluster cannot be used.
    """
    check_packages(request.cluster)
    request = replace(request, cluster=read_address(request.cluster))
    started, url, is_offline = time.monotonic(), _absolute(read_url(request.store)), _is_offline(request.settings)
    settings = replace(request.settings, api_key=None) if is_offline else _with_request_limit(request.settings)
    if not is_local(request.cluster) and url.get_backend_name() == "sqlite":
        raise InputError("other machines cannot write to a SQLite file: give --store postgresql://USER@HOST/DATABASE")
    if request.is_batch and request.rubric != "tdqs":
        raise InputError("batches ask about TDQS alone: leave --batch or --rubric out")
    if request.rubric == "bundles" and is_offline:
        raise InputError("the offline judge knows no bundles rubric: name a model with --judge")
    if request.cluster and not is_offline:
        raise InputError("a cluster divides the work of the offline judge: leave --cluster out, a model answers here")
    ledger = Ledger(settings.budget, settings.price, may_resume=False)
    cache = None if is_offline else Judgements(url.render_as_string(hide_password=False), warn=warn)
    judge = make_judge(settings, warn=warn, cache=cache, ledger=ledger)
    if request.is_batch:
        batch_judge(judge)
    method = MethodStamp(
        rubric=request.rubric, judge=judge.stamp, spec_version=request.spec, parameters=_parameters(judge)
    )
    unread: list[str] = []
    feed_servers: dict[str, str] = {}
    records = _read_inputs(request, unread, feed_servers, warn=warn)
    progress, store = _Counts(on_progress, judge), open_store(url)
    job = Job(store=url, settings=settings, method=method, file=file_of(url))
    try:
        run, complete = start_run(store, method), complete_captures(store, method)
        progress.add(Shard(problems=tuple(_collect(store, method, judge, complete))), SweepTally())
        listed: dict[str, str] = {}
        if is_offline:
            shards, work = plan_shards(records, complete, listed), partial(score_entries, job)
            run_on_dask(shards, work, cluster=request.cluster, report=progress.add, warn=warn)
        else:
            # a batch for as many servers as a shard has, live questions server by server
            ask, many, most = (_submit_batch, 1, None) if request.is_batch else (_ask_model, SERVERS_AT_ONCE, 1)
            shards = plan_shards(records, complete, listed, most=most)
            port = judge if request.is_batch else OneByOne(judge=judge)
            ask = partial(ask, method=method, store=store, judge=port, ledger=ledger)
            run_at_once(shards, ask, at_once=many, report=progress.add)
            _check_answers(ledger)
        progress.add(Shard(problems=tuple(unread), progress=1), SweepTally())
        listed = {} if unread or progress.has_unreadable else listed
        gone = _mark_listed(store, {**listed, **feed_servers})
        numbers = read(store, partial(method_statistics, method=method))
        finish_run(store, run, statistics=json.dumps(document(numbers)), **progress.columns)
        if _worker_store.cache_info().currsize:  # this process has scored
            _worker_store(url, job.file).dispose()
    finally:
        store.dispose()
    seconds = round(1000 * (time.monotonic() - started))
    return progress.report(request, method, unread=len(unread), gone=gone, milliseconds=seconds)


def send_report(report: SweepReport, url: str, secret: str) -> None:
    """Post a report as JSON, signed in `X-TDQS-Signature: sha256=HMAC` over the body. Raises InputError."""
    body = json.dumps(document(report)).encode()
    signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
    headers = {"content-type": "application/json", "x-tdqs-signature": f"sha256={signature}"}
    try:
        httpx2.post(url, content=body, headers=headers, timeout=WEBHOOK_SECONDS).raise_for_status()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise InputError(f"the webhook did not take the report: {type(error).__name__}; the sweep is stored") from error


async def _ask_model(shard: Shard, *, method: MethodStamp, store: Engine, judge: Judge, ledger: Ledger) -> SweepTally:
    """The work of a shard by a model. Raises InputError where the model is asked no more."""
    _check_answers(ledger)
    return await score_shard(shard.entries, store=store, method=method, judge=judge)


async def _submit_batch(
    shard: Shard, *, method: MethodStamp, store: Engine, judge: Judge, ledger: Ledger
) -> SweepTally:
    """Submits what is open of the servers that wait for no batch yet; the others are scored by what has come.

    Raises InputError where the model is asked no more.
    """
    _check_answers(ledger)
    captures = {capture for batch in pending_batches(store, method) for capture in batch.captures}
    waiting = [entry for entry in shard.entries if entry.capture in captures]
    rest = [entry for entry in shard.entries if entry.capture not in captures]
    keep = partial(add_batch, store, method, captures=[entry.capture for entry in rest])
    score = partial(score_shard, store=store, method=method)
    return await score(waiting, judge=_batch_guarded(judge, None)) + await score(
        rest, judge=_batch_guarded(judge, keep)
    )


def _check_answers(ledger: Ledger) -> None:
    if ledger.stopped:
        reasons = "; ".join(ledger.stopped.values())
        raise InputError(f"the sweep stopped: {reasons}; what is scored is stored, and the next sweep does the rest")


def score_entries(job: Job, shard: Shard) -> SweepTally:
    """The work of a shard by the offline judge. Raises InputError where the store cannot be used."""
    store, judge = _worker_store(job.store, job.file), make_judge(job.settings)
    if (generated_by(), judge.stamp) != (job.release, job.method.judge):
        raise InputError(
            f"a worker has {generated_by()} with {judge.stamp.label}, and this sweep {job.release} with "
            f"{job.method.judge.label}: install the same version on all machines"
        )
    thresholds = gc.get_threshold()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        return blocking(score_shard)(shard.entries, store=store, method=job.method, judge=judge)
    finally:
        gc.set_threshold(*thresholds)


def _batch_guarded(judge: Judge, keep: Callable[[str], None] | None) -> Judge:
    """The judge, asking by batches behind the same guard."""
    from tdqs_mcp.judges.prompted import Batched  # noqa: PLC0415  # validation, which the offline judge goes without

    batched = Batched(judge=batch_judge(judge), keep=keep)
    return replace(judge, judge=batched) if isinstance(judge, VerdictGuard) else batched


def _collect(store: Engine, method: MethodStamp, judge: Judge, complete: Mapping[str, str]) -> list[str]:
    """Caches the answers of the batches that have ended; gives back why one cannot be collected."""
    problems = []
    for batch in pending_batches(store, method):
        waiting = [capture for capture in batch.captures if capture not in complete]
        try:
            catalogs = [read(store, partial(read_capture, capture=capture)) for capture in waiting]
            is_done = blocking(collect_batch)(batch.note, catalogs, judge=judge) is not None
        except (InputError, EndpointError) as error:
            problems.append(str(error))
        except KeyError:
            # A sweep was killed between submitting the batch and storing the servers that wait for it: `read_capture`
            # does not find them. This sweep stores them, and the next one collects.
            continue
        else:
            if is_done:
                remove_batch(store, batch)
    return problems


class _Counts:
    """Progress of a sweep."""

    def __init__(self, on_progress: Progress, judge: Judge) -> None:
        self._on_progress, self._judge = on_progress, judge
        self._tally = SweepTally()
        self._unchanged = self._problem_count = 0
        self._problems: list[str] = []
        self._changed: list[ServerChange] = []

    def add(self, shard: Shard, tally: SweepTally) -> None:
        """Counts a shard that is done."""
        problems = shard.problems + tally.problems
        self._problem_count += len(problems)
        self._problems += problems[: MAX_PROBLEMS - len(self._problems)]
        self._unchanged += shard.unchanged
        self._changed += tally.changed
        self._tally += replace(tally, problems=(), changed=())
        self._tally = replace(self._tally, usage=used(self._judge) or Usage())
        self._on_progress(self._tally, shard.progress)

    @property
    def has_unreadable(self) -> bool:
        """Return whether a record could not be read: which server it is of is not known, so none counts as gone."""
        return self._problem_count > 0

    @property
    def columns(self) -> dict[str, object]:
        """Return what the store keeps of the run."""
        read_count, tally = self._tally.servers + self._unchanged, self._tally
        counts: dict[str, object] = {"servers": read_count, "changed": tally.servers, "tools": tally.questions}
        counts |= {"requests": tally.usage.requests, "cost": tally.usage.cost}
        return {**counts, "problems": json.dumps(self._problems)}

    def report(
        self, request: SweepRequest, method: MethodStamp, *, unread: int, gone: int, milliseconds: int
    ) -> SweepReport:
        """The finished sweep."""
        tally = self._tally
        return SweepReport(
            store=public_url(request.store),
            rubric=method.rubric,
            method=method.key,
            judge=method.judge,
            spec_version=method.spec_version,
            servers=tally.servers + self._unchanged,
            unchanged=self._unchanged,
            scored=tally.servers,
            new=tally.new,
            gone=gone,
            changed=tuple(sorted(self._changed, key=lambda shard_tally: (-shard_tally.size, shard_tally.server))),
            tools=tally.tools,
            judged=tally.questions,
            ungraded=tally.ungraded,
            held=tally.withheld,
            problem_count=self._problem_count,
            problems=tuple(self._problems),
            unread=unread,
            requests=tally.usage.requests,
            cost=tally.usage.cost,
            seconds=milliseconds,
        )


def _read_inputs(
    request: SweepRequest, unread: list[str], listed: dict[str, str], *, warn: Callable[[str], None]
) -> Iterator[Record | str]:
    """The records of all inputs, live servers last; `unread` gets why the rest of one cannot be read.

    Raises InputError for a file that cannot be opened and for an object in this process.
    """
    feeds = [name.removeprefix(PREFIX) for name in request.inputs if name.startswith(PREFIX)]
    inputs = [name for name in request.inputs if not name.startswith(PREFIX)]
    locators = {name: parse_locator(name) for name in inputs}
    live = [name for name, locator in locators.items() if not isinstance(locator, File)]
    if objects := [name for name in live if isinstance(locators[name], InProcess)]:
        raise InputError(f"a sweep reads files and live servers: capture {objects[0]} first, and give that file")
    files = [_listed_by(name, read_records(Path(name))) for name in inputs if name not in live]
    captured = blocking(_capture_all)(live, request.live) if live else []
    parts: list[Iterator[Record | str]] = [*files, *([iter(captured)] if captured else [])]
    parts += [_capture_feed(feed, request, listed, warn=warn) for feed in feeds]
    if live and all(isinstance(name, str) for name in captured):
        unread.append("no live server could be captured")
    return _chain(parts, unread)


def _listed_by(name: str, records: Iterator[Record | str]) -> Iterator[Record | str]:
    """The records with the file or folder of many that lists them."""
    registry = str(Path(name).absolute()) if is_registry(Path(name)) else ""
    return (record if isinstance(record, str) else replace(record, registry=registry) for record in records)


def _mark_listed(store: Engine, listed: Mapping[str, str]) -> int:
    """Mark the servers that their registries list no longer; return how many."""
    by_registry: dict[str, set[str]] = {}
    for server, registry in listed.items():
        by_registry.setdefault(registry, set()).add(server)
    by_registry.pop("", None)
    return sum(mark_listed(store, registry, frozenset(servers)) for registry, servers in sorted(by_registry.items()))


def _chain(parts: Sequence[Iterator[Record | str]], unread: list[str]) -> Iterator[Record | str]:
    for place, part in enumerate(parts):
        try:
            for record in part:
                yield (
                    record
                    if isinstance(record, str)
                    else replace(record, progress=(place + record.progress) / len(parts))
                )
        except InputError as error:
            unread.append(str(error))


def _capture_feed(
    feed: str, request: SweepRequest, listed: dict[str, str], *, warn: Callable[[str], None]
) -> Iterator[Record | str]:
    """The servers of a registry, captured; `listed` gets them all, so that one that does not answer is not gone.

    A foreign server gets none of the caller's headers and variables. Raises InputError.
    """
    if request.admit is None:
        raise InputError("a registry names foreign URLs: give `admit`, which checks them")
    read = blocking(read_feed)(feed)
    servers, registry = read.servers, ""
    if read.is_whole:
        registry = feed if "://" in feed else str(Path(feed).absolute())
        listed.update(dict.fromkeys((server.name for server in servers), registry))
    else:
        warn(f"{feed!r} is a part of its registry's list: no server counts as gone")
    options = LiveOptions(timeout=request.live.timeout, max_bytes=MAX_FEED_BYTES, admit=request.admit)
    located = [(server, locator) for server in servers if (locator := _locator(server, request.starters))]
    if len(located) < len(servers):
        rest = f"{len(servers) - len(located)} of {len(servers)} servers have no remote that can be reached as it is"
        yield f"{feed!r}: {rest}, and no package that --start allows to start"
    for start in range(0, len(located), FEED_BATCH):
        batch = located[start : start + FEED_BATCH]
        records = blocking(_capture_all)([locator for _, locator in batch], options)
        for (server, _), record in zip(batch, records, strict=True):
            if isinstance(record, str):
                yield f"{server.name}: {record}"
                continue
            document = {**json.loads(record.content), "id": server.name, LISTING: server.listing}
            content = json.dumps(document).encode()
            yield replace(record, content=content, registry=registry, progress=(start + 1) / len(located))


def _locator(server: FeedServer, starters: Mapping[str, str]) -> str | None:
    """Where a server is captured: its first remote, else a package that may be started; None for neither."""
    if server.remotes:
        return server.remotes[0]
    for kind, identifier, version in server.packages:
        if kind in starters:
            separator = "==" if kind == "pypi" else ":" if kind == "oci" else "@"
            package = f"{identifier}{separator}{version}" if version else identifier
            return f"stdio:{starters[kind].replace('{package}', package)}"
    return None


async def _capture_all(locators: Sequence[str], options: LiveOptions) -> list[Record | str]:
    """A record of every live server, or why it cannot be captured."""
    outcomes = await load_all([partial(load, locator, options) for locator in locators])
    return [_captured_record(*pair) for pair in zip(locators, outcomes, strict=True)]


def _captured_record(locator: str, outcome: Catalog | TdqsError) -> Record | str:
    try:
        origin = repr(public(parse_locator(locator)))
    except InputError as error:
        return str(error)  # of a malformed one, as in "https:///mcp", nothing is repeated
    if isinstance(outcome, TdqsError):
        return f"{origin}: {outcome}"
    return Record(content=json.dumps(capture_document(outcome)).encode(), origin=origin, progress=1)


def _absolute(url: URL) -> URL:
    """The URL for processes that may have another working directory."""
    return url.set(database=str(Path(str(url.database)).absolute())) if url.get_backend_name() == "sqlite" else url


@cache
def _worker_store(url: URL, file: tuple[int, int] | None) -> Engine:  # noqa: ARG001  # a part of the key
    """Return one engine for each process and file, whose connections serve all its shards."""
    return open_store(url, recovery=RECOVERY)


def _parameters(judge: Judge) -> str:
    """A digest of what a model's verdicts depend on besides its stamp; empty for the offline judge."""
    inner = unwrap_guard(judge)
    members = inner.members if isinstance(inner, Jury) else (inner,)
    own = [_parameters(member) if isinstance(member, Jury) else getattr(member, "parameters", "") for member in members]
    return short_hash(json.dumps(own)) if any(own) else ""


def _with_request_limit(settings: Settings) -> Settings:
    """The settings of a judge, and of each member of a jury, with a limit of requests at once."""
    members = tuple(map(_with_request_limit, settings.members))
    return replace(settings, concurrency=settings.concurrency or REQUESTS_AT_ONCE, members=members)


def _is_offline(settings: Settings) -> bool:
    return settings.judge is JudgeKind.OFFLINE
