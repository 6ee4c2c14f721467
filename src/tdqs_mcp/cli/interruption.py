"""What an interrupted command says last: what its models took, and what a rerun asks for."""

import signal
import sys
from typing import Any

import click

from tdqs_mcp.judges.judge import used
from tdqs_mcp.report.usage import usage_line

INTERRUPTED = 130
"""What a shell makes of a program that SIGINT has ended; one that SIGTERM ends early ends like it."""

_KEY = "tdqs_mcp.cli.interruption"


class Interruptible(click.Group):
    """Commands that end in one line and an exit code of their own when somebody stops them."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # click's own
        """What the command gives back, as click has it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("; ".join(["interrupted", *_spent(ctx)]), err=True)
            sys.exit(INTERRUPTED)


def spends(meter: object, *, by: str, is_kept: bool) -> None:
    """Makes the command that runs tell what this model took when it is interrupted, be it by SIGTERM.

    Where SIGINT is not heard, as in the background of a script, SIGTERM ends the process as ever.
    """
    context = click.get_current_context()
    context.meta.setdefault(_KEY, []).append((meter, by, is_kept))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        context.call_on_close(lambda: signal.signal(signal.SIGTERM, before))


def _spent(context: click.Context) -> list[str]:
    """A part for each model that was asked, and what became of the answers; nothing where none was asked."""
    meters = [(used(meter), by, is_kept) for meter, by, is_kept in context.meta.get(_KEY, ())]
    asked = [(usage, by, is_kept) for usage, by, is_kept in meters if usage and usage.requests]
    if not asked:
        return []
    is_kept = all(is_kept for *_, is_kept in asked)
    rest = "a rerun asks only for the rest" if is_kept else "no answer is kept (TDQS_CACHE=off)"
    return [*(usage_line(usage, by=by) for usage, by, _ in asked), rest]
