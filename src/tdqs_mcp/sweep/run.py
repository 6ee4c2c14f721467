"""Doing the shards of a sweep on Dask: on processes of this machine, or on a cluster that is there already."""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from logging import CRITICAL, getLogger
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.sweep.plan import Shard, Tally
from tdqs_mcp.sweep.shares import Share, Shares

Work: TypeAlias = Callable[[Shard, Share], Tally]
"""Scores the servers of a shard and stores them; it may run twice for one shard, at the same time too."""

AHEAD = 3
"""Shards that are under way for each worker: enough to keep it busy, few enough to keep memory flat."""

CONNECT_TIMEOUT = 10
"""Seconds in which a scheduler answers, or comes back."""


START_TIMEOUT = 60
"""Seconds in which the first worker is there."""

_SETTINGS = {
    "distributed.comm.timeouts.connect": CONNECT_TIMEOUT,
    # A worker that is killed again and again comes back each time; by default it is given up while it starts.
    "distributed.deploy.lost-worker-timeout": "1 day",
    # Nobody looks at the profile of the workers, which stops them a hundred times a second.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Who does the work."""

    address: str | None = None
    """Of a scheduler that runs already; None for a process for each processor of this machine."""

    @property
    def is_local(self) -> bool:
        """Whether all workers see this machine's files."""
        if self.address is None:
            return True
        host = urlsplit(self.address if "://" in self.address else f"//{self.address}").hostname or ""
        try:
            return host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False


def check_extra() -> None:
    """Raises InputError that names what to install."""
    if not (find_spec("distributed") and find_spec("pyarrow")):
        raise InputError("a sweep needs packages more: pip install 'tdqs-mcp[sweep]'")


def run_shards(
    shards: Iterable[Shard], work: Work, *, cluster: Cluster, shares: Shares, report: Callable[[Shard, Tally], None]
) -> None:
    """Does the work of every shard and reports each as it is done; workers that die are replaced.

    A shard whose work fails is done again server by server, so that one server's failure is its own problem. No process
    is started where nothing has changed. Raises the work's TdqsErrors, and InputError for a scheduler that cannot be
    reached or is lost.
    """
    rest = iter(shards)
    first = _next_with_servers(rest, report)
    if first is not None:
        with _connected(cluster) as client:
            _Runner(client=client, work=work, cluster=cluster, shares=shares, report=report).run(first, rest)


def _next_with_servers(shards: Iterator[Shard], report: Callable[[Shard, Tally], None]) -> Shard | None:
    """The next shard with servers; those without are reported."""
    for shard in shards:
        if shard.entries:
            return shard
        report(shard, Tally())
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runner:
    client: Any
    work: Work
    cluster: Cluster
    shares: Shares
    report: Callable[[Shard, Tally], None]
    under_way: dict[Any, tuple[Shard, Share]] = field(default_factory=dict)

    def run(self, first: Shard, rest: Iterator[Shard]) -> None:
        """Keeps a bounded number of shards under way until there are no more."""
        shard: Shard | None = first
        while shard or self.under_way:
            slots = max(1, sum(self.client.nthreads().values()))
            has_room = shard is not None and len(self.under_way) < AHEAD * slots
            share = self.shares.take(slots) if has_room else None
            if shard is None or share is None:
                self._finish_some()
            else:
                self.under_way[self._submit(shard, share)] = shard, share
                shard = _next_with_servers(rest, self.report)

    def _submit(self, shard: Shard, share: Share) -> Any:  # noqa: ANN401  # distributed has no types
        return self.client.submit(self.work, shard, share, pure=False)

    def _finish_some(self) -> None:
        """Waits until shards are done, and reports them."""
        from distributed import wait  # noqa: PLC0415

        try:
            done = wait(list(self.under_way), return_when="FIRST_COMPLETED").done
        except CancelledError as error:
            raise _lost(self.cluster) from error
        for future in done:
            shard, share = self.under_way.pop(future)
            tally = self._result(future)
            if isinstance(tally, str):
                parts = [self._done_alone(part, share) for part in shard.split()]
                tally = sum(parts, Tally())
            self.shares.give_back(share, tally.usage)
            self.report(shard, tally)

    def _done_alone(self, shard: Shard, share: Share) -> Tally:
        """What came of one server of a shard that failed: a server that fails again is a problem."""
        tally = self._result(self._submit(shard, share))
        server = shard.entries[0].server
        return Tally(problems=(f"{server!r} could not be scored: {tally}",)) if isinstance(tally, str) else tally

    def _result(self, future: Any) -> Tally | str:  # noqa: ANN401
        """What came of a shard, or why nothing did. Raises TdqsErrors."""
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        try:
            tally: Tally = future.result()
        except TdqsError:
            raise
        except CancelledError as error:
            raise _lost(self.cluster) from error
        except KilledWorker:
            return "each process that tried it died"
        except Exception as error:  # noqa: BLE001  # whatever a hostile definition brings out in any library
            return f"{type(error).__name__}: {error}"
        return tally


def _lost(cluster: Cluster) -> InputError:
    where = cluster.address or "of this machine"
    return InputError(f"the scheduler {where} was lost; what is scored is stored, and the next sweep does the rest")


@contextmanager
def _connected(cluster: Cluster) -> Generator[Any]:
    """A client of the cluster. Raises InputError."""
    from dask import config  # noqa: PLC0415
    from distributed import Client  # noqa: PLC0415

    for name in ("distributed", "distributed.client"):  # importing it has set both
        getLogger(name).setLevel(CRITICAL)
    with ExitStack() as stack:
        stack.enter_context(config.set(_SETTINGS))
        target = cluster.address
        if target is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="tdqs-sweep-", ignore_cleanup_errors=True))
            target = stack.enter_context(_start_processes(folder))
        try:
            client = stack.enter_context(Client(target, timeout=CONNECT_TIMEOUT))
        except (OSError, ValueError) as error:
            raise InputError(
                f"there is no Dask scheduler at {cluster.address!r}: start dask scheduler there"
            ) from error
        yield client


def _start_processes(folder: str) -> Any:  # noqa: ANN401
    """A cluster of processes of this machine, which may be killed while they start. Raises InputError."""
    from distributed import LocalCluster  # noqa: PLC0415

    retrying = Retrying(retry=retry_if_exception_type(RuntimeError), stop=stop_after_attempt(3), reraise=True)
    try:
        return retrying(
            LocalCluster,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # without one, the scheduler's HTTP server takes port 8787
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
            silence_logs=CRITICAL,
        )
    except (OSError, RuntimeError) as error:
        raise InputError(f"the processes of the sweep could not be started: {error}") from error
