"""Steps around every use case: read input, show progress, write output, set the exit code."""

import io
import os
import shlex
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from tdqs_mcp.app import catalogs
from tdqs_mcp.app.configuration import Configuration, read_configuration, read_configuration_file
from tdqs_mcp.app.linting import Policy, read_own_code, read_policy, read_source
from tdqs_mcp.cli import LOCATOR, WIDTH, Callback, fail, group_options
from tdqs_mcp.cli.started_servers import MAX_FILES, hint_for, load_target, split_words
from tdqs_mcp.errors import CaptureError, InputError, TdqsError
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.blocks import Block, as_markdown, as_text
from tdqs_mcp.report.escape import printable, well_formed
from tdqs_mcp.report.json_values import document, json_line, json_text
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.rules.registry import RULES
from tdqs_mcp.rules.rule import AnyRule
from tdqs_mcp.sources import files
from tdqs_mcp.sources.locator import HIDDEN, LiveOptions, parse_locator, public

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from tdqs_mcp.results.improvements import LeftOut

MAX_WHOLE = 3
"""Servers with a report each before their ranking; of more there is the ranking alone."""

View = Callable[[Any], Any]
"""Shows a result."""


def views(blocks: Callable[[Any], list[Block]]) -> dict[str, View]:
    """Return the views of a result as text, Markdown and HTML, by the function that gives its blocks."""

    def as_page(result: Any) -> str:  # noqa: ANN401  # whatever the function takes
        from tdqs_mcp.report.html_pages import as_html  # noqa: PLC0415  # the other forms need no templates

        return as_html(blocks(result))

    return {
        "text": lambda result: as_text(blocks(result)),
        "markdown": lambda result: as_markdown(blocks(result)),
        "html": as_page,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where results go, and in which format."""

    form: str
    output: Path | None = None
    """None for standard output."""

    def show(self, results: Sequence[Any], views: Mapping[str, View], *, ending: View | None = None) -> None:
        """Print the results that are not None, JSON in the shape of their contract unless there is a view for it.

        JSON is one object for one locator and a list for several. `ending` shows several results together, at the end
        of a text.
        """
        view = views.get(self.form, document)
        finished = [result for result in results if result is not None]
        texts = list(map(view, finished))
        if not texts:
            return
        if ending and self.form == "text" and len(finished) > 1:
            texts = [*(texts if len(finished) <= MAX_WHOLE else []), ending(finished)]
        if self.form == "json":
            write(json_text(texts[0] if len(results) == 1 else texts), self.output)
        elif self.form == "markdown" or isinstance(texts[0], str):
            write("\n".join(texts), self.output)
        else:
            _write_rich(texts, self.output)

    def stream(self, results: Iterable[Any]) -> None:
        """Write each result on a line of JSON, as it comes. Raises InputError for a file that cannot be written."""
        try:
            with click.open_file(self.output or "-", "w", encoding="utf-8", atomic=self.output is not None) as file:
                file.writelines(f"{json_line(result)}\n" for result in results)
        except BrokenPipeError:
            raise  # the reader has seen enough; click ends quietly
        except OSError as error:
            raise InputError(
                f"{str(self.output or 'standard output')!r} cannot be written: {error.strerror}"
            ) from error


Option: TypeAlias = Callable[[Callback], Callback]
"""Decorator of a command's function."""

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
TARGET = click.Path(dir_okay=False, path_type=Path)

output_option = click.option(
    "--output",
    "-o",
    type=TARGET,
    callback=lambda _, __, path: None if path == Path("-") else path,
    help="Write to a file; - is standard output.",
)


def page_options(*more: str, help: str = "What to print.") -> Callable[[Callback], Callback]:  # noqa: A002  # click's word
    """`--format` (text, json, markdown and what a command has more) and `--output`, as `page: Page`."""
    forms = click.Choice(["text", "json", "markdown", *more])
    form = click.option("--format", "form", type=forms, default="text", show_default=True, help=help)
    return group_options("page", Page, form, output_option)


def write(text: str, output: Path | None) -> None:
    """Text to a file, or to standard output. Raises InputError for a file that cannot be written."""
    if output is not None:
        files.write_bytes(output, f"{well_formed(text).rstrip()}\n".encode())
        return
    try:
        click.echo(well_formed(text))
    except BrokenPipeError:
        raise  # the reader has seen enough; click ends quietly
    except OSError as error:
        fail(InputError(f"'standard output' cannot be written: {error.strerror}"))
        os._exit(Outcome.UNKNOWN)  # a full standard output would fail again, and louder, while the interpreter ends


def warn(message: str) -> None:
    """A warning, which changes no exit code."""
    click.echo(f"warning: {printable(message)}", err=True)


def refuse(is_refused: object, reason: str) -> None:
    """Raises UsageError for options that mean nothing together."""
    if is_refused:
        raise click.UsageError(reason)


def agrees(question: str, *, has_agreed: bool = False) -> bool:
    """Ask on a terminal, unless `--yes` has agreed before; nobody agrees elsewhere."""
    if has_agreed or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return has_agreed
    return click.confirm(printable(question), err=True)


def _write_rich(renderables: Sequence[Any], output: Path | None) -> None:
    from rich.console import Console  # noqa: PLC0415  # JSON and Markdown go without

    is_terminal = output is None and sys.stdout.isatty()
    page = io.StringIO()
    width = None if is_terminal else int(columns) if (columns := os.environ.get("COLUMNS", "")).isdecimal() else WIDTH
    console = Console(file=page, force_terminal=is_terminal, width=width, highlight=False, emoji=False, markup=False)
    for position, renderable in enumerate(renderables):
        console.print(*([""] if position else []), renderable, sep="\n", crop=False)
    write("\n".join(line.rstrip() for line in page.getvalue().rstrip("\n").split("\n")), output)


Result = TypeVar("Result")

OPEN = "what is ungraded leaves the verdict open"

SPEED_PERIOD = 600.0
"""Seconds that the time left is estimated from: a small machine takes minutes for a handful of answers."""


def _pairs(_: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    separator = ":" if option.name == "headers" else "="
    pairs = {}
    for value in values:
        name, marker, rest = value.partition(separator)
        if not marker or not name.strip():
            raise click.BadParameter(f"give NAME{separator}VALUE")
        pairs[name.strip()] = rest.strip() if separator == ":" else rest
    return pairs


def split_names(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
    """The words of an option that is given again or with commas; None if it is not given."""
    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    return words or None


def _complete_tools(_: click.Context, __: click.Parameter, word: str) -> list[str]:
    """Return the tools of the files on the command line; completion starts no server."""
    files = [part for part in split_words(os.environ.get("COMP_WORDS", "")) if Path(part).is_file()]
    names: list[str] = []
    for file in files:
        with suppress(TdqsError):
            names += [tool.name for tool in catalogs.load_blocking(file).tools]
    return [name for name in names if name.startswith(word)]


def tools_option(help: str) -> Option:  # noqa: A002
    """`--tool`: some tools of the server, as `tools`."""
    help = f"{help[:-1]}: NAME,NAME; * and ? are wildcards."  # noqa: A001
    return click.option(
        "--tool",
        "tools",
        multiple=True,
        metavar="NAME",
        callback=split_names,
        help=help,
        shell_complete=_complete_tools,
    )


def attest_option(more: str = "") -> Option:
    """`--attest`: the file of an attestation."""
    help = f"Write an in-toto statement of the score there{more}."  # noqa: A001
    return click.option("--attest", "attestation", type=TARGET, metavar="FILE", help=help)


def key_option(purpose: str) -> Option:
    """`--key`: a PEM file."""
    return click.option("--key", type=FILE, help=f"With an attestation: {purpose}.")


def source_option(purpose: str) -> Option:
    """`--source`: the code that declares the tools."""
    help = f"The Python file or folder that declares the tools, for {purpose}; it is not run."  # noqa: A001
    return click.option("--source", type=click.Path(exists=True, path_type=Path), help=help)


def fail_under_option(bar: click.ParamType[Any], help: str, *, metavar: str | None = None) -> Option:  # noqa: A002
    """`--fail-under`: the bar below which the exit code is 1."""
    return click.option("--fail-under", type=bar, help=help, metavar=metavar)


def dry_run_option(help: str) -> Option:  # noqa: A002
    """`--dry-run`: show what the command would do."""
    return click.option("--dry-run", "is_dry_run", is_flag=True, help=help)


config_option = click.option(
    "--config", type=FILE, help="A tdqs.toml in place of the nearest one, from the file's folder upward."
)

_LIVE_OPTIONS = (
    click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", callback=_pairs, help="Sent to a URL."),
    click.option("--env", multiple=True, metavar="NAME=VALUE", callback=_pairs, help="Set for a stdio: or py: server."),
    click.option(
        "--yes",
        "consent",
        is_flag=True,
        callback=lambda _, __, has_agreed: partial(agrees, has_agreed=has_agreed),
        help="Agree in advance: start what files of this folder name, make calls that may act.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=60.0,
        show_default=True,
        help="Seconds for a live server.",
    ),
)

live_options = group_options("live", LiveOptions, *_LIVE_OPTIONS)
"""The options of live locators, as `live: LiveOptions`."""

placed_options = group_options(
    "live",
    LiveOptions,
    *_LIVE_OPTIONS,
    click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="Where a stdio: or py: server starts."),
)
"""Options of live locators for commands that also name the files of a server."""


def _expand(_: click.Context, __: click.Parameter, locators: Sequence[str]) -> tuple[str, ...]:
    """The locators with the JSON files of a folder without code in its place; a line says what a folder stood for."""
    expanded: list[str] = []
    for locator in locators:
        is_folder = bool(locator) and Path(locator).is_dir()
        targets, passed_over = catalogs.resolve_folder(locator) if is_folder else ([locator], [])
        if not targets:
            raise click.BadParameter(f"there is neither code nor a JSON file in the folder {locator!r}")
        if passed_over or targets != [locator]:
            names = first_of(passed_over or targets, MAX_FILES)
            words = f"reading the code in {locator!r}, not {names}" if passed_over else f"reading {names}"
            click.echo(printable(words), err=True)
        expanded += targets
    return tuple(expanded)


def read_code_of(locators: Sequence[str], source: Path | None, cwd: str | None = None) -> CodeReport | None:
    """The code that --source names, or that the only locator is or runs in this process."""
    refuse(source and len(locators) > 1, "--source is the code of one server; give one locator")
    if source is not None:
        code = read_source(source)
        refuse(
            not code.tools,
            f"no tool is registered in {str(source)!r}, as far as its code tells; name what declares them",
        )
        return code
    return read_own_code(locators[0], cwd) if len(locators) == 1 and locators[0] else None


def locators_argument(*, required: bool = True) -> Callable[[Callback], Callback]:
    """Any number of locators, a folder without code standing for its JSON files, as `locators`."""
    metavar = "LOCATOR..." if required else "[LOCATOR]..."
    return click.argument("locators", nargs=-1, required=required, metavar=metavar, type=LOCATOR, callback=_expand)


locator_argument = click.argument("locator", metavar="LOCATOR", type=LOCATOR)
"""A single locator, as `locator`."""


def for_each(
    locators: Sequence[str],
    live: LiveOptions,
    use: Callable[[Catalog], Result],
    *,
    doing: str = "judging",
    undiscovered: Callable[[str, CaptureError], Result] | None = None,
) -> list[Result | None]:
    """The use case's result for each locator; None if it could not run, with the reason on standard error.

    `undiscovered` makes the result of a server whose tools could not be had; the command fails all the same.
    """
    results: list[Result | None] = []
    for number, locator in enumerate(locators, start=1):
        place = f" (server {number} of {len(locators)})" if len(locators) > 1 else ""
        try:
            # Files take no time worth a line.
            with waiting().on(f"capturing {shown_locator(locator)}{place}", at_once=":" in locator):
                catalog = load_target(locator, live)
            if catalog.incomplete:
                command_run().incomplete.append(f"{catalog.server!r}: {catalog.incomplete}")
            if not catalog.tools:
                command_run().without_tools.append(catalog.server)
            with waiting().on(f"{doing} {catalog.server}{place}"):
                results.append(use(catalog))
        except TdqsError as error:
            fail(error, None if None in results else hint_for(locators[number - 1 :]))
            if undiscovered and isinstance(error, CaptureError):
                results.append(undiscovered(shown_locator(locator), error))
            else:
                results.append(None)
            command_run().has_failed = True
    return results


def copyable_locator(locator: str) -> str:
    """Return a locator for commands to be copied, or a placeholder for standard input or a secret."""
    text = shown_locator(locator)
    return "LOCATOR" if text == "-" or HIDDEN in text else shlex.quote(text)


def shown_locator(locator: str) -> str:
    """A locator without secrets."""
    try:
        return public(parse_locator(locator))
    except InputError:
        return "nothing"


def configured_locators(locators: tuple[str, ...], live: LiveOptions, config: Path | None) -> tuple[str, ...]:
    """The locators that are given, else those of the configuration. Raises UsageError for neither.

    What a project's file names is started after consent, as a server of its clients' files is.
    """
    if locators:
        return locators
    configuration = _configuration((), config)
    entries = configuration.locators
    if not entries:
        raise click.UsageError("Missing argument 'LOCATOR...'; or name it in tdqs.toml: locator = \"tools.json\"")
    named = [locator for locator in entries if ":" in locator]
    if named and not live.consent(f"{configuration.path} names {', '.join(named)}. Start or open that?"):
        raise InputError(f"{configuration.path} names {', '.join(named)}; read that file, then give --yes")
    return tuple(entries)


def _configuration(locators: Sequence[str], config: Path | None) -> Configuration:
    """The configuration that is named, else the nearest one of what is read, else that of this folder."""
    if config is not None:
        return read_configuration_file(config)
    paths = [Path(locator).resolve() for locator in locators if ":" not in locator and Path(locator).exists()]
    folders = [path if path.is_dir() else path.parent for path in paths]
    nearest_file = read_configuration(Path(os.path.commonpath(folders))) if folders else Configuration()
    return nearest_file if nearest_file.path else read_configuration(Path.cwd())


def policy_of(
    flags: Mapping[str, Any] = MappingProxyType({}),
    table: Sequence[AnyRule] = RULES,
    *,
    locators: Sequence[str] = (),
    config: Path | None = None,
) -> Policy:
    """The policy from flags, the environment and the configuration of what is read; a line says which file that is."""
    configuration = _configuration(locators, config)
    page = click.get_current_context().params.get("page")
    if configuration.path is not None and isinstance(page, Page) and page.form == "text":
        click.echo(f"settings: {printable(str(configuration.path))}", err=True)
    return read_policy(flags, environ=os.environ, configuration=configuration, table=table)


def tell_left(left_out: "Iterable[LeftOut]") -> None:
    """A line for each tool on standard error: which changes were not made, and why."""
    by_tool: dict[str, list[str]] = {}
    for change in left_out:
        by_tool.setdefault(change.tool, []).append(f"{change.path} ({change.reason})")
    for tool, parts in by_tool.items():
        click.echo(f"left to the author: {printable(tool)}: {printable('; '.join(parts))}", err=True)


def read_json(path: Path) -> object:
    """The parsed JSON of a file. Raises InputError."""
    return parse_json(files.read_bytes(path), origin=repr(str(path)))


def end(
    results: Sequence[Result | None],
    gate: Callable[[Result], Outcome] | None = None,
    *,
    missed: Callable[[Result], str] | None = None,
    left_open: str = OPEN,
    needs_tools: bool = False,
    may_be_partial: bool = False,
) -> None:
    """Ends with 0 for done, 1 if the gate was not met, 2 if something could not run or the verdict is open.

    The verdict is open as well for a server whose tools were not all listed: the others could change it. `missed` says
    how a result failed, `left_open` why there is no verdict; `needs_tools` that a server without tools has none,
    `may_be_partial` that nobody asked for a verdict.
    """
    run = command_run()
    if None in results or run.has_failed:
        sys.exit(Outcome.UNKNOWN)
    if run.incomplete and not may_be_partial:
        raise InputError(f"the list of tools is incomplete, so there is no verdict on {'; '.join(run.incomplete)}")
    if needs_tools and run.without_tools:
        names = ", ".join(map(repr, run.without_tools))
        raise InputError(f"no tools: {names} lists none, so there is nothing to look at")
    finished = [result for result in results if result is not None]
    outcomes = [gate(result) for result in finished] if gate else []
    for result, outcome in zip(finished, outcomes, strict=False):
        if missed and outcome is Outcome.FAILED:
            click.echo(f"FAIL: {printable(missed(result))}", err=True)
    if Outcome.FAILED in outcomes:
        sys.exit(Outcome.FAILED)
    if Outcome.UNKNOWN in outcomes:
        click.echo(f"error: {left_open}", err=True)
        sys.exit(Outcome.UNKNOWN)


class Waiting:
    """A line on a terminal's standard error that disappears at the end; nothing if standard error is redirected."""

    def __init__(self) -> None:
        """Nothing is shown before the first wait."""
        self._doing: str | None = None
        self._shown: Progress | None = None
        self._asked = self._answered = 0

    @contextmanager
    def on(self, doing: str, *, at_once: bool = False) -> Generator[None]:
        """Show what the program is doing, at once or as soon as a model is asked."""
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

    def count(self, requests: int, answered: int) -> None:
        """Add requests to a model and answers from it."""
        self._asked += requests
        self._answered += answered
        if self._doing is None or not sys.stderr.isatty():
            return
        progress = self._shown or self._show(is_counted=True)
        progress.update(progress.task_ids[0], total=self._asked, completed=self._answered)

    def _show(self, *, is_counted: bool) -> "Progress":
        from rich import progress as rich  # noqa: PLC0415  # only a person who waits needs it

        answers = (rich.MofNCompleteColumn(), rich.TextColumn("answers,"))
        self._shown = progress_line(*(until_end(*answers) if is_counted else (rich.TimeElapsedColumn(),)))
        self._shown.add_task(self._doing or "", total=None)
        self._shown.start()
        return self._shown


def progress_line(*columns: "ProgressColumn") -> "Progress":
    """A line that disappears at the end, on a terminal only: what the program is doing, and the columns."""
    from rich import progress as rich  # noqa: PLC0415  # only a person who waits needs it
    from rich.console import Console  # noqa: PLC0415

    return rich.Progress(
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}", markup=False),
        *columns,
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
        speed_estimate_period=SPEED_PERIOD,
        redirect_stdout=False,
        disable=not sys.stderr.isatty(),
    )


def until_end(*columns: "ProgressColumn") -> "tuple[ProgressColumn, ...]":
    """A bar, the columns, and the time left."""
    from rich import progress as rich  # noqa: PLC0415

    return (rich.BarColumn(bar_width=20), *columns, rich.TimeRemainingColumn(), rich.TextColumn("left"))


def waiting() -> Waiting:
    """The progress line of the running command."""
    return command_run().waiting


@dataclass(slots=True, kw_only=True)
class CommandRun:
    """Notes of a running command, which decide how it ends."""

    waiting: Waiting = field(default_factory=Waiting)
    has_failed: bool = False
    """An error has been printed already."""

    incomplete: list[str] = field(default_factory=list)
    """Servers whose tools were not all listed, each with the reason: a gate's verdict is open."""

    without_tools: list[str] = field(default_factory=list)
    """Servers that list no tool."""

    meters: list[tuple[object, str, bool]] = field(default_factory=list)
    """Models with their work and whether their answers are cached."""

    interrupt_notes: Callable[[], list[str]] = list
    """Returns the notes to print if the command is interrupted."""


def command_run() -> CommandRun:
    """Return the notes of the running command, which the group reads when it is interrupted."""
    return click.get_current_context().find_root().ensure_object(CommandRun)
