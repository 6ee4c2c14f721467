"""What every command does around its use case: read definitions and files, set the exit code."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from tdqs_mcp import sync
from tdqs_mcp.app.configuration import read_configuration
from tdqs_mcp.app.linting import Choice, Policy, read_policy
from tdqs_mcp.cli.output import fail, leave
from tdqs_mcp.cli.progress_bar import waiting
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.results.checks import Outcome
from tdqs_mcp.sources.files import parse_json, read_bytes
from tdqs_mcp.sources.locator import LiveOptions, parse_locator, public

Result = TypeVar("Result")

_INCOMPLETE = "tdqs_mcp.cli.incomplete"
"""Where the click context keeps the servers whose tools were not all listed."""


def for_each(
    locators: Sequence[str], live: LiveOptions, use: Callable[[Catalog], Result], *, doing: str = "judging"
) -> list[Result | None]:
    """The use case's result for each locator; None, with the reason on standard error, where it could not run."""
    results: list[Result | None] = []
    for number, locator in enumerate(locators, start=1):
        place = f" (server {number} of {len(locators)})" if len(locators) > 1 else ""
        try:
            # Files take no time worth a line.
            with waiting().on(f"capturing {_shown(locator)}{place}", at_once=":" in locator):
                catalog = sync.load(locator, live)
            if catalog.incomplete:
                _incomplete().append(f"{catalog.server!r}: {catalog.incomplete}")
            with waiting().on(f"{doing} {catalog.server}{place}"):
                results.append(use(catalog))
        except TdqsError as error:
            fail(error)
            results.append(None)
    return results


def _shown(locator: str) -> str:
    """A locator without its secrets."""
    try:
        return public(parse_locator(locator))
    except InputError:
        return "nothing"


def policy_of(flags: Choice) -> Policy:
    """What flags, the environment and the nearest configuration say about findings."""
    try:
        return read_policy(flags, environ=os.environ, configuration=read_configuration(Path.cwd()))
    except TdqsError as error:
        leave(error)


def read_json(path: Path) -> object:
    """The parsed JSON of a file."""
    try:
        return parse_json(read_bytes(path), origin=repr(str(path)))
    except InputError as error:
        leave(error)


def read_text(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        leave(InputError(f"{str(path)!r} cannot be read: {error.strerror}"))
    except UnicodeDecodeError:
        leave(InputError(f"{str(path)!r} is no UTF-8 text"))


def end(
    results: Sequence[Result | None], gate: Callable[[Result], Outcome] | None = None, *, asked: bool = True
) -> None:
    """Ends with 0 for done, 1 if the gate was not met, 2 if something could not run or the verdict is open.

    `asked` says whether somebody asked for the gate's verdict. Then it is open as well for a server whose tools were
    not all listed: the others could change it.
    """
    if any(result is None for result in results):
        sys.exit(Outcome.UNKNOWN)
    if gate and asked and _incomplete():
        leave(InputError(f"the list of tools is incomplete, so there is no verdict on {'; '.join(_incomplete())}"))
    outcomes = [gate(result) for result in results if result is not None] if gate else []
    if Outcome.FAILED in outcomes:
        sys.exit(Outcome.FAILED)
    if Outcome.UNKNOWN in outcomes:
        click.echo("error: what is ungraded leaves the verdict open", err=True)
        sys.exit(Outcome.UNKNOWN)


def _incomplete() -> list[str]:
    found: list[str] = click.get_current_context().meta.setdefault(_INCOMPLETE, [])
    return found
