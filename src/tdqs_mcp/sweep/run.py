"""Does the shards of a sweep: in this process, on processes of this machine, or on a Dask cluster."""

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from concurrent import futures
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from ipaddress import ip_address
from itertools import chain
from logging import CRITICAL, getLogger
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.sources.files import read_bytes
from tdqs_mcp.sweep.records import Shard, SweepTally

Work: TypeAlias = Callable[[Shard], SweepTally]
"""Scores the servers of a shard and stores them; it may run twice for one shard, at the same time too."""

Report: TypeAlias = Callable[[Shard, SweepTally], None]
"""Called with each shard that is done."""

AHEAD = 3
"""Shards that are under way for each worker: enough to keep it busy, few enough to keep memory flat."""

FEW = 8
"""Shards that this process does by itself: on two processors, others that must be started first end no sooner."""

CONNECT_TIMEOUT = 10
"""Seconds in which a scheduler answers, or comes back."""

WORKER_TIMEOUT = 5
"""Seconds after which a missing worker is told of."""

_SETTINGS = {
    "distributed.comm.timeouts.connect": CONNECT_TIMEOUT,
    # A worker that is killed again and again comes back each time; by default it is given up while it starts.
    "distributed.deploy.lost-worker-timeout": "1 day",
    # Nobody looks at the profile of the workers, which stops them a hundred times a second.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "1s",
    # The scheduler's log of messages would keep the records of a thousand shards for each worker.
    "distributed.admin.low-level-log-length": 0,
}


Cluster: TypeAlias = Any
"""A scheduler's address or file, a client of Dask's, or None: a process for each processor of this machine."""


def read_address(cluster: Cluster) -> Cluster:
    """The address that a scheduler file has; anything else as it is. Raises InputError."""
    if not (isinstance(cluster, str) and cluster.endswith(".json")):
        return cluster
    document = parse_json(read_bytes(Path(cluster)), origin=repr(cluster))
    if isinstance(document, dict) and isinstance(document.get("address"), str):
        return document["address"]
    raise InputError(f"{cluster!r} is no scheduler file: dask scheduler --scheduler-file writes one, with an address")


def is_local(cluster: Cluster) -> bool:
    """Return whether all workers see this machine's files, by the address. Raises InputError for no address."""
    if cluster is None or not isinstance(cluster, str):
        return cluster is None
    try:
        parts = urlsplit(cluster if "://" in cluster else f"//{cluster}")
        host = parts.hostname if parts.port else None
    except ValueError:
        host = None
    if not host:
        raise InputError(f"{cluster!r} is no address of a Dask scheduler: give tcp://HOST:8786")
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check_packages(cluster: Cluster) -> None:
    """Raises InputError that names what to install for a cluster."""
    if cluster is not None and not find_spec("distributed"):
        raise InputError("a cluster needs more packages: pip install '.[sweep]' in a checkout of tdqs-mcp")


def run_at_once(
    shards: Iterator[Shard], work: Callable[[Shard], Awaitable[SweepTally]], *, at_once: int, report: Report
) -> None:
    """Does the work of so many shards at once in one event loop: while some wait for a model, others are read.

    Raises the work's TdqsErrors. A shard whose work fails is done again server by server, so that one server's failure
    is its own problem.
    """
    from anyio.from_thread import start_blocking_portal  # noqa: PLC0415

    with start_blocking_portal() as portal:
        submit = partial(portal.start_task_soon, work)
        _Runner(submit=submit, wait=futures.wait, count=lambda: at_once, cluster=None, report=report).run(shards)


def run_on_dask(
    shards: Iterable[Shard], work: Work, *, cluster: Cluster, report: Report, warn: Callable[[str], None]
) -> None:
    """Does the work of every shard as `run_at_once`, but on many processors; workers that die are replaced.

    A FEW shards are done in this process, unless a cluster is there; all of them where Dask is not installed. Raises
    the work's TdqsErrors, and InputError for a scheduler that cannot be reached or is lost.
    """
    rest, most = iter(shards), FEW + 1 if cluster is None else 1
    planned: list[Shard] = []

    def report_ahead(shard: Shard, tally: SweepTally) -> None:
        report(replace(shard, progress=0) if planned else shard, tally)  # the first one is not done yet

    while len(planned) < most and (shard := _next_with_servers(rest, report_ahead)):
        planned.append(shard)
    is_alone = cluster is None and not find_spec("distributed")
    if is_alone and len(planned) == most:
        warn("one process does this sweep; for all processors: pip install '.[sweep]' in a checkout of tdqs-mcp")
    if not planned or is_alone or (cluster is None and len(planned) < most):
        _remove_leftovers()
        for shard in chain(planned, iter(partial(_next_with_servers, rest, report), None)):
            report(shard, _tally(shard, partial(work, shard), work, None))
        return
    with _connected(cluster, warn) as client:
        from distributed import wait  # noqa: PLC0415

        submit, count = partial(client.submit, work, pure=False), partial(_count_places, client, cluster)
        shards = (shard.for_others(is_local=is_local(cluster)) for shard in chain(planned, rest))
        _Runner(submit=submit, wait=wait, count=count, cluster=cluster, report=report).run(shards)


def _count_places(client: Any, cluster: Cluster) -> int:  # noqa: ANN401
    """The shards that are under way on all workers. Raises InputError where the scheduler is lost."""
    try:
        threads: dict[str, int] = client.nthreads()
    except OSError as error:
        raise _lost(cluster) from error
    return AHEAD * max(1, sum(threads.values()))


def _next_with_servers(shards: Iterator[Shard], report: Report) -> Shard | None:
    """The next shard with servers; those without are reported."""
    for shard in shards:
        if shard.entries:
            return shard
        report(shard, SweepTally())
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runner:
    submit: Callable[[Shard], Any]
    """Begins the work of a shard, and returns its future."""

    wait: Callable[..., Any]
    """Of the futures' library."""

    count: Callable[[], int]
    """Return how many shards may be under way."""

    cluster: Cluster
    report: Report
    under_way: dict[Any, tuple[Shard, float]] = field(default_factory=dict)
    """Shards by future, each with the share of the input that is read up to its begin."""

    def run(self, shards: Iterator[Shard]) -> None:
        """Keeps a bounded number of shards under way until there are no more."""
        begin = 0.0
        while shard := _next_with_servers(shards, self._report):
            while len(self.under_way) >= self.count():
                self._finish_some()
            self.under_way[self.submit(shard)] = shard, begin
            begin = shard.progress
        while self.under_way:
            self._finish_some()

    def _report(self, shard: Shard, tally: SweepTally) -> None:
        """Report a shard with the share of the input before which everything is done."""
        begins = (begin for _, begin in self.under_way.values())
        self.report(replace(shard, progress=min(begins, default=shard.progress)), tally)

    def _finish_some(self) -> None:
        """Waits until shards are done, and reports them."""
        try:
            ended = self.wait(list(self.under_way), return_when="FIRST_COMPLETED").done
        except CancelledError as error:
            raise _lost(self.cluster) from error
        for future in ended:
            shard, _ = self.under_way[future]
            tally = _tally(shard, future.result, lambda alone: self.submit(alone).result(), self.cluster)
            del self.under_way[future]
            self._report(shard, tally)


def _tally(
    shard: Shard, get: Callable[[], SweepTally], do: Callable[[Shard], SweepTally], cluster: Cluster
) -> SweepTally:
    """Return what `get` gives of a shard; where it fails, `do` runs for each server; a second failure is a problem.

    Raises TdqsErrors.
    """
    tally = _attempt(get, cluster)
    if not isinstance(tally, str):
        return tally
    total = SweepTally()
    for entry in shard.entries:
        alone = _attempt(partial(do, Shard(entries=(entry,))), cluster)
        problem = f"{entry.server!r} could not be scored: {alone}"
        total += alone if isinstance(alone, SweepTally) else SweepTally(problems=(problem,))
    return total


def _attempt(get: Callable[[], SweepTally], cluster: Cluster) -> SweepTally | str:
    """Return what came of some work, or why nothing did. Raises TdqsErrors."""
    try:
        return get()
    except TdqsError:
        raise
    except CancelledError as error:
        raise _lost(cluster) from error
    except Exception as error:  # noqa: BLE001  # whatever a hostile definition brings out in any library
        is_killed = type(error).__name__ == "KilledWorker"  # distributed's, which work in this process goes without
        return "each process that tried it died" if is_killed else f"{type(error).__name__}: {error}"


def _lost(cluster: Cluster) -> InputError:
    where = cluster or "of this machine"
    return InputError(f"the scheduler {where} was lost; what is scored is stored, and the next sweep does the rest")


@contextmanager
def _connected(cluster: Cluster, warn: Callable[[str], None]) -> Generator[Any]:
    """A client of the cluster. Raises InputError."""
    from dask import config  # noqa: PLC0415
    from distributed import Client  # noqa: PLC0415

    _silence()
    if cluster is not None and not isinstance(cluster, str):
        yield cluster  # the caller's own, which the caller closes
        return
    with ExitStack() as stack:
        stack.enter_context(config.set(_SETTINGS))
        target = cluster
        if target is None:
            stack.enter_context(_without_main())
            with _without_sigint():
                target = stack.enter_context(_start_processes())
        try:
            client = stack.enter_context(Client(target, timeout=CONNECT_TIMEOUT))
        except TypeError as error:  # distributed's for TLS without certificates
            hint = "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, and CLIENT__CERT and CLIENT__KEY below the same"
            raise InputError(f"the scheduler {cluster!r} needs certificates: {hint}") from error
        except (OSError, ValueError) as error:
            raise InputError(f"there is no Dask scheduler at {cluster!r}: start dask scheduler there") from error
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
        if not client.nthreads():
            warn(f"no worker yet, waiting; start one: dask worker {cluster}")
        yield client


def _silence() -> None:
    """Keep Dask's log off the terminal: importing it has set both loggers."""
    for name in ("distributed", "distributed.client"):
        getLogger(name).setLevel(CRITICAL)


def _remove_leftovers() -> None:
    """Remove the temporary folders of killed workers, as Dask does when it starts some; a living one locks its own."""
    folder = Path(gettempdir()) / "dask-scratch-space"
    if find_spec("distributed") and any(folder.glob("*.dirlock")):
        from distributed.diskutils import WorkSpace  # noqa: PLC0415  # loaded only after a kill

        _silence()
        WorkSpace(str(folder)).new_work_dir(prefix="sweep-").release()


@contextmanager
def _without_main() -> Generator[None]:
    """Processes that start meanwhile do not import the program's own script, which may sweep without being guarded."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _without_sigint() -> Generator[None]:
    """Threads that start meanwhile never get SIGINT, and nor do processes that they start.

    A terminal sends Ctrl-C to all processes, but only this one tells of it and ends the others; it gets it at the end.
    Python's tracker of semaphores starts before: starting it unblocks SIGINT, and it would warn of a killed sweep.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    warnings = os.environ.get("PYTHONWARNINGS", "")
    os.environ["PYTHONWARNINGS"] = f"{warnings},ignore::UserWarning:multiprocessing.resource_tracker".lstrip(",")
    try:
        resource_tracker.ensure_running()
    finally:
        os.environ["PYTHONWARNINGS"] = warnings
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_processes() -> Any:  # noqa: ANN401
    """A cluster of processes of this machine, which may be killed while they start. Raises InputError.

    Dask's own folder for temporary files loses those of a killed sweep as soon as the next one starts.
    """
    from distributed import LocalCluster  # noqa: PLC0415

    retrying = Retrying(retry=retry_if_exception_type(RuntimeError), stop=stop_after_attempt(3), reraise=True)
    try:
        return retrying(
            LocalCluster,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # without one, the scheduler's HTTP server takes port 8787
            scheduler_kwargs={"dashboard": False},
            silence_logs=CRITICAL,
        )
    except (OSError, RuntimeError) as error:
        raise InputError(f"the processes of the sweep could not be started: {error}") from error
