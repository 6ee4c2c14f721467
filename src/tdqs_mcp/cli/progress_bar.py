"""What a person at a terminal sees while something takes long: how much is done, what it waits for, the time left."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from tdqs_mcp.report.escape import printable

if TYPE_CHECKING:
    from rich.progress import Progress

_KEY = "tdqs_mcp.cli.progress_bar"

SPEED_PERIOD = 600.0
"""Seconds that the time left is estimated from: a small machine takes minutes for a handful of answers."""


class Waiting:
    """A line on a terminal's standard error that goes when the wait is over; nothing where that is redirected."""

    def __init__(self) -> None:
        """Nothing is shown before something is waited for."""
        self._doing: str | None = None
        self._shown: Progress | None = None
        self._asked = self._answered = 0

    @contextmanager
    def on(self, doing: str, *, at_once: bool = False) -> Generator[None]:
        """Show what is done, at once or as soon as a model is asked."""
        self._doing, self._asked, self._answered = printable(doing), 0, 0
        try:
            if at_once and sys.stderr.isatty():
                self._show(is_counted=False)
            yield
        finally:
            self._doing = None
            if self._shown is not None:
                self._shown.stop()
                self._shown = None

    def count(self, asked: int, answered: int) -> None:
        """So many requests more to a model, so many answers more from it."""
        self._asked += asked
        self._answered += answered
        if self._doing is None or not sys.stderr.isatty():
            return
        shown = self._shown or self._show(is_counted=True)
        shown.update(shown.task_ids[0], total=self._asked, completed=self._answered)

    def _show(self, *, is_counted: bool) -> "Progress":
        from rich.console import Console  # noqa: PLC0415  # only a person who waits needs it
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        counted = (BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("answers,"), TimeRemainingColumn())
        self._shown = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *((*counted, TextColumn("left")) if is_counted else (TimeElapsedColumn(),)),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=4,
            speed_estimate_period=SPEED_PERIOD,
            redirect_stdout=False,
        )
        self._shown.add_task(self._doing or "", total=None)
        self._shown.start()
        return self._shown


def waiting() -> Waiting:
    """The one line of the command that runs."""
    found: Waiting = click.get_current_context().meta.setdefault(_KEY, Waiting())
    return found
