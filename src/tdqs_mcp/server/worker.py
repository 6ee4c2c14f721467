"""Runs what a call computes in a thread: the event loop stays responsive, and cancellation ends the computation.

A thread, not a process that is killed. Measured with 401 tools on two cores: the first call in a process takes 1.3 s
instead of 0.4, every process 66 to 93 MB, and the answer is unpickled on the loop (0.06 s), without progress before.
Work that asks a model or the client needs the loop in any case. In a thread, with Python's own
switch interval and garbage collection, the slowest of 137 pings took 0.05 s; 0.3 s is the bar.

The thread is stopped by an exception, because it cannot look at its cancellation: between two gradings, a plan of 401
tools computes 0.7 s, a linter of 2,000 tools 1.1 s.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, from_thread, to_thread
from anyio.lowlevel import RunVar

from tdqs_mcp.errors import InputError

MAX_WORKERS = 16
"""Calls that compute at the same time; each gets its share of one core, so more of them would only all be late."""

MAX_SECONDS = 60.0
"""Seconds that one call may compute; a score of 2,000 tools takes a tenth of it."""

STOP_SECONDS = 0.2
"""How long work that was told to stop may go on until it is told again."""

Result = TypeVar("Result")


class _Stopped(BaseException):
    """Raised inside the work of a call that was cancelled; no handler of errors takes it."""


class _Worker:
    """A coroutine that computes in a thread and waits for nothing there."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._began = 0.0
        self._timer = asyncio.get_running_loop().call_later(MAX_SECONDS, self._check_time)

    def run(self) -> Any:  # noqa: ANN401  # the work's own result
        """The result of the work. What it has to wait for goes through `on_loop`."""
        with self._lock:
            self._thread = threading.get_ident()
            self._began = _used_by(self._thread)
        try:
            self._work().send(None)
        except StopIteration as done:
            return done.value
        finally:
            with self._lock:
                self._thread = None
        raise RuntimeError("work in a thread cannot wait")

    def stop(self) -> None:
        """Ends the work at its next instruction, because it never checks for cancellation itself.

        Again and again: in a finalizer or a callback of the garbage collector, the exception is lost.
        """
        import ctypes  # noqa: PLC0415  # only a cancelled call needs it

        with self._lock:
            if self._thread is not None:
                thread = ctypes.c_ulong(self._thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_Stopped))
                asyncio.get_running_loop().call_later(STOP_SECONDS, self.stop)

    def end_limit(self) -> None:
        """Ends the check of the time that it takes."""
        self._timer.cancel()

    def _check_time(self) -> None:
        """Stops work that has computed for too long; time in which it waited for others or for a model is free."""
        with self._lock:
            used = 0.0 if self._thread is None else _used_by(self._thread) - self._began
        if used >= MAX_SECONDS:
            self.stop()
        else:
            self._timer = asyncio.get_running_loop().call_later(max(0.1, MAX_SECONDS - used), self._check_time)


def _used_by(thread: int) -> float:
    """Seconds of a processor that a thread has had; that this process has had where only Linux tells threads apart."""
    if sys.platform != "linux":
        return time.process_time()
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


_workers: RunVar[CapacityLimiter] = RunVar("workers")


def _limiter() -> CapacityLimiter:
    """The limit of this event loop."""
    limiter = _workers.get(None)
    if limiter is None:
        limiter = CapacityLimiter(MAX_WORKERS)
        _workers.set(limiter)
    return limiter


async def compute(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of a coroutine that only computes, from another thread. Cancelled, it ends there and sends nothing.

    Raises InputError where it computes for too long.
    """
    worker = _Worker(work)
    try:
        result: Result = await to_thread.run_sync(worker.run, abandon_on_cancel=True, limiter=_limiter())
    except anyio.get_cancelled_exc_class():
        worker.stop()
        raise
    except _Stopped:
        raise InputError(
            f"the call has computed for {MAX_SECONDS:g} s, which is the limit: send fewer or smaller definitions"
        ) from None
    finally:
        worker.end_limit()
    return result


def on_loop(function: Callable[..., Any], *args: object) -> Any:  # noqa: ANN401  # what the function gives
    """The result of a coroutine function, awaited on the event loop; for work in a thread."""
    return from_thread.run(function, *args)
