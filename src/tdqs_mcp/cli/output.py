"""Results to standard output or a file, warnings and errors to standard error."""

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn

import click

from tdqs_mcp.cli import WIDTH, Callback, group_options
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.report.escape import printable, well_formed
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.sources.files import write_bytes

View = Callable[[Any], Any] | str
"""What shows a result: a function, or `module:function` of the reports, imported when it is needed: most runs need one.
"""


def views(blocks: str, **options: Any) -> dict[str, View]:  # noqa: ANN401  # the function's own
    """Text and Markdown of a result, by the function of the reports that gives its blocks."""

    def written(form: str) -> View:
        return lambda result: reporter(f"blocks:{form}")(reporter(blocks)(result, **options))

    return {"text": written("as_text"), "markdown": written("as_markdown")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where results go, and in which format."""

    form: str
    output: Path | None = None
    """None for standard output."""

    def show(self, results: Sequence[Any], views: Mapping[str, View]) -> None:
        """Print the results that are not None, JSON in the shape of their contract unless there is a view for it.

        JSON is one object for one locator and a list for several.
        """
        view = reporter(views.get(self.form, "json_values:document"))
        shown = list(map(view, (result for result in results if result is not None)))
        if not shown:
            return
        if self.form == "json":
            write(json_text(shown[0] if len(results) == 1 else shown), self.output)
        elif self.form == "markdown" or isinstance(shown[0], str):
            write("\n".join(shown), self.output)
        else:
            _write_rich(shown, self.output)


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
TARGET = click.Path(dir_okay=False, path_type=Path)

output_option = click.option("--output", "-o", type=TARGET, help="Write to a file.")


def page_options(*more: str, help: str = "What to print.") -> Callable[[Callback], Callback]:  # noqa: A002  # click's word
    """`--format` (text, json, markdown and what a command has more) and `--output`, as `page: Page`."""
    forms = click.Choice(["text", "json", "markdown", *more])
    form = click.option("--format", "form", type=forms, default="text", show_default=True, help=help)
    return group_options("page", Page, form, output_option)


def reporter(view: View) -> Callable[..., Any]:
    """The function that a view names."""
    return resolve_name(f"tdqs_mcp.report.{view}") if isinstance(view, str) else view


def write(text: str, output: Path | None) -> None:
    """Text to a file, or to standard output; if it cannot be written, the program ends."""
    if output is not None:
        save(f"{well_formed(text).rstrip()}\n".encode(), output)
        return
    try:
        click.echo(well_formed(text))
    except BrokenPipeError:
        raise  # the reader has seen enough; click ends quietly
    except OSError as error:
        fail(InputError(f"'standard output' cannot be written: {error.strerror}"))
        os._exit(Outcome.UNKNOWN)  # a full standard output would fail again, and louder, while the interpreter ends


def save(content: bytes, output: Path) -> None:
    """Bytes to a file; if it cannot be written, it stays as it was and the program ends."""
    try:
        write_bytes(output, content)
    except InputError as error:
        leave(error)


def warn(message: str) -> None:
    """A warning, which changes no exit code."""
    click.echo(f"warning: {printable(message)}", err=True)


def fail(error: TdqsError) -> None:
    """An error in one line."""
    click.echo(f"error: {printable(str(error))}", err=True)


def leave(error: TdqsError) -> NoReturn:
    """End for what cannot run at all."""
    fail(error)
    sys.exit(Outcome.UNKNOWN)


def _write_rich(renderables: Sequence[Any], output: Path | None) -> None:
    from rich.console import Console  # noqa: PLC0415  # JSON and Markdown go without

    is_terminal = output is None and sys.stdout.isatty()
    page = io.StringIO()
    width = None if is_terminal else WIDTH
    console = Console(file=page, force_terminal=is_terminal, width=width, highlight=False, emoji=False, markup=False)
    for position, renderable in enumerate(renderables):
        console.print(*([""] if position else []), renderable, sep="\n")
    write("\n".join(line.rstrip() for line in page.getvalue().rstrip("\n").split("\n")), output)
