"""The command line: arguments in, output and exit code out."""

import ast
import gc
import io
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from tdqs_mcp.errors import InputError, TdqsError, nearest

WIDTH = 110
"""Columns of help and of output that does not go to a terminal."""

INTERRUPTED = 130
"""Exit code of a program that SIGINT has ended, in shells; other signals that ask it to end are taken for it."""

UNKNOWN = 2
"""The exit code of what cannot run at all."""

_SECTIONS = {
    "Check": {
        "score": "cli.score_commands",
        "lint": "cli.lint_command",
        "compare": "cli.rewrite_commands",
        "lock": "cli.gate_commands",
        "gate": "cli.gate_commands",
    },
    "Improve": {"rewrite": "cli.rewrite_commands", "code": "cli.lint_command", "select": "cli.rewrite_commands"},
    "Know": {
        "rules": "cli.lint_command",
        "portability": "cli.lint_command",
        "capture": "cli.score_commands",
        "servers": "cli.agent_commands",
    },
    "Agents": {
        "serve": "server.serve",
        "install": "cli.agent_commands",
        "uninstall": "cli.agent_commands",
        "route": "cli.agent_commands",
        "lsp": "cli.agent_commands",
    },
    "Registry": dict.fromkeys(("sweep", "stats", "dashboard"), "cli.registry_commands"),
    "Research": {"study": "cli.registry_commands", "calibrate": "cli.score_commands"},
}
"""The sections of the help: each command with its module, which is not imported before the command is called."""

Callback = Callable[..., Any]

_GROUPS = "__tdqs_option_groups__"
"""Where a callback keeps the groups of its options until its command is made."""

_TYPED = "tdqs_mcp.typed"
"""Where a command keeps its words as they were typed, without those after `--`."""

_NO_CHOICE = re.compile(r"'(.*?)' is not one of", re.DOTALL)
"""How click begins its message about a value that is none of an option's."""

_MODULES = {name: f"tdqs_mcp.{module}" for section in _SECTIONS.values() for name, module in section.items()}


def fail(error: TdqsError, hint: str | None = None) -> None:
    """An error in one line on standard error, and in a second what was probably meant."""
    from tdqs_mcp.report.escape import printable  # noqa: PLC0415  # help and --version go without

    click.echo(f"error: {printable(str(error))}", err=True)
    if hint:
        click.echo(f"hint: {printable(hint)}", err=True)


class ListedCommand(click.Command):
    """Stands for a command in the group's help; its first line is read from the source, which imports nothing."""

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002  # a line is never cut
        """Return the first line of the command's docstring."""
        name = self.name or ""
        text = next(ast.get_docstring(node) for node in _functions(_MODULES[name]) if node.name == name)
        return (text or "").partition("\n")[0]


@cache
def _functions(module: str) -> "list[ast.FunctionDef]":
    """Return the functions that a module defines, as syntax."""
    # "tdqs_mcp.server.serve" is server/serve.py beside this package
    _, *names = module.split(".")  # finding the module by its spec would import `tdqs_mcp.server`
    source = Path(__file__).parents[1].joinpath(*names).with_suffix(".py").read_text("utf-8")
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


class LazyGroup(click.Group):
    """Imports a command when it is called, and ends in one line where it cannot run or somebody interrupts it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's own
        """Return the commands in the order of the help."""
        return list(_MODULES)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of their sections."""
        for title, names in _SECTIONS.items():
            entries = ((name, self.get_command(ctx, name)) for name in names)
            with formatter.section(title):
                formatter.write_dl([(name, entry.get_short_help_str()) for name, entry in entries if entry])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, in place of its entry in the help."""
        try:
            name, entry, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            if not (Path(args[0]).exists() or ":" in args[0]):
                raise
            meant = f"{error.message} Did you mean: {ctx.command_path} score {shlex.join(args)}"
            raise click.UsageError(meant, ctx) from error
        return name, entry and getattr(import_module(_MODULES[entry.name or ""]), entry.name or ""), rest

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # click's own
        """Return what the command returns, as click has it."""
        try:
            return super().invoke(ctx)
        except click.MissingParameter:
            raise
        except click.BadParameter as error:
            choices = map(str, getattr(error.param and error.param.type, "choices", ()))
            match = _NO_CHOICE.match(error.message)
            meant = nearest(match[1], choices).replace("; did", " Did") if match else ""
            raise click.BadParameter(error.message + meant, error.ctx, error.param, error.param_hint) from error
        except KeyboardInterrupt:
            notes = ctx.obj.interrupt_notes() if ctx.obj else []  # `serve` keeps no notes
            click.echo("; ".join(["interrupted", *notes]), err=True)
            sys.exit(INTERRUPTED)
        except TdqsError as error:
            fail(error)
            sys.exit(UNKNOWN)


class _LocatorType(click.ParamType[str]):
    name = "locator"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return files, or the servers of installed clients after `config:`."""
        if not incomplete.startswith("config:"):
            return click.Path().shell_complete(ctx, param, incomplete)
        from tdqs_mcp.app.installed_clients import servers  # noqa: PLC0415  # only completion asks for all

        names = (server.locator_name for server in servers().servers)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


LOCATOR = _LocatorType()
"""The type of an argument that says what to score; a command with such an argument takes `-- COMMAND ARG...` too."""


def is_command(word: str) -> bool:
    """Return whether a word starts the command of a server: a program, or neither a file nor another locator."""
    is_other = word == "-" or Path(word).exists() or ":" in word
    return which(word) is not None or not is_other


def as_command(words: Sequence[str]) -> str:
    """How the running command is told to start a server."""
    return f"{click.get_current_context().command_path} -- {shlex.join(words)}"


class GroupedCommand(click.Command):
    """Hands each group of its options to the callback as one value, and takes a server's command after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click has it, with the words after `--` as one locator where they are the command of a server."""
        if not any(param.type is LOCATOR for param in self.params):
            return super().parse_args(ctx, args)
        place = args.index("--") if "--" in args else len(args)
        options, has_separator, words = args[:place], place < len(args), args[place + 1 :]
        ctx.meta[_TYPED] = options
        if words and is_command(words[0]):
            args = [*options, "--", f"stdio:{shlex.join(words)}"]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            places = [place for place, word in enumerate(options) if which(word)]
            places += [0] if options[0][:1] != "-" and is_command(options[0]) else []
            if has_separator or not places:
                raise
            meant = shlex.join([*options[: places[0]], "--", *options[places[0] :]])
            raise click.UsageError(
                f"{error.message} To start a server, put its command last, after --: {ctx.command_path} {meant}", ctx
            ) from error

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # what the callback returns
        """Return what the callback returns, once nothing that it reads would be written over."""
        _refuse_overwriting(ctx)
        _read_form(ctx)
        for name, build, fields in getattr(self.callback, _GROUPS, ()):
            ctx.params[name] = build(**{field: ctx.params.pop(field) for field in fields})
        return super().invoke(ctx)


_NEVER_REPEATED = (
    *("output", "form", "listing", "destination", "fixes", "renews", "is_watching", "is_interview"),
    *("headers", "env", "consent"),
)
"""Options that a next command does without: what it shows, writes and asks; secrets, and consent."""


def given_options() -> list[str]:
    """Return the options of the running command as they were typed, for a next command on the same server."""
    ctx = click.get_current_context()
    values, _, order = ctx.command.make_parser(ctx).parse_args(list(ctx.meta.get(_TYPED, ())))
    words: list[str] = []
    for option in dict.fromkeys(param for param in order if isinstance(param, click.Option)):
        if option.name in _NEVER_REPEATED:
            continue
        value, name = values[option.name or ""], max(option.opts, key=len)
        for text in value if isinstance(value, list) else [value]:
            words += [name] if option.is_flag else [name, shlex.quote(str(text))]
    return words


_OUTPUTS = ("output", "destination", "log", "log_calls")
"""Parameters that name a file to write."""

_IN_PLACE = (("destination", "locator"),)
"""`rewrite FILE --write FILE` is meant to change its input."""


def _refuse_overwriting(ctx: click.Context) -> None:
    """Raise UsageError for a file that is named to be written and to be read, by whatever path or link."""
    for name in _OUTPUTS:
        path = ctx.params.get(name)
        if not isinstance(path, Path) or not path.is_file():
            continue
        for other, value in ctx.params.items():
            values = value if isinstance(value, tuple) else (value,)
            inputs = [source for source in values if isinstance(source, str | Path)] if other not in _OUTPUTS else []
            if (name, other) not in _IN_PLACE and any(
                Path(source).exists() and path.samefile(source) for source in inputs
            ):
                raise click.UsageError(
                    f"{str(path)!r} is read by this command, so it is not written; name another file"
                )


_FORMS = {
    ".json": ("json", "sarif", "code-scanning"),
    ".md": ("markdown",),
    ".html": ("html",),
    ".svg": ("svg", "badge"),
    ".jsonl": ("jsonl",),
    ".xml": ("junit",),
}
"""The formats that a file of this name may have, the first one unless `--format` names another."""


def _read_form(ctx: click.Context) -> None:
    """Take the format from the name of the file. Raise UsageError where `--format` says another."""
    path, form = ctx.params.get("output"), next((param for param in ctx.command.params if param.name == "form"), None)
    forms = _FORMS.get(path.suffix.lower(), ()) if isinstance(path, Path) else ()
    if form is None or not forms or not isinstance(form.type, click.Choice):
        return
    possible = [option for option in forms if option in form.type.choices]
    if ctx.get_parameter_source("form") is ParameterSource.DEFAULT and possible:
        ctx.params["form"] = possible[0]
    elif ctx.params["form"] not in possible:
        choices = ", ".join(form.type.choices)
        raise click.UsageError(
            f"{str(path)!r} is no name for --format {ctx.params['form']}; rename it, or choose one of {choices}"
        )


def command() -> Callable[[Callback], GroupedCommand]:
    """A command whose options may come in groups."""
    return click.command(cls=GroupedCommand)


def group_options(
    name: str, build: Callable[..., object], *options: Callable[[Callback], Callback]
) -> Callable[[Callback], Callback]:
    """Options, in the order of the help, that reach the callback as `name`, which `build` makes of their values."""

    def decorate(callback: Callback) -> Callback:
        for option in reversed(options):
            callback = option(callback)
        parameters: list[click.Parameter] = vars(callback)["__click_params__"][-len(options) :]
        vars(callback).setdefault(_GROUPS, []).append((name, build, [parameter.name for parameter in parameters]))
        return callback

    return decorate


@click.group(
    cls=LazyGroup,
    commands=[ListedCommand(name) for name in _MODULES],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)
@click.version_option(None, "-V", "--version", package_name="tdqs-mcp")
def cli() -> None:
    """Score, lint and rewrite the tool definitions of MCP servers.

    A LOCATOR is a folder or file of code (Python, JavaScript, TypeScript), read and never run; a JSON file or a folder
    of them; - for standard input; an http(s) URL; "stdio:COMMAND ARGS" or last -- COMMAND ARGS; config:NAME for a
    server of an installed client; or py:MODULE:OBJECT.
    """


def main() -> None:
    """The console script; what is redirected is UTF-8 on every platform."""
    # imports make many objects and hardly any garbage: 5% less work for a short command
    gc.set_threshold(200_000, 30, 30)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):  # Windows has only the first
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _interrupt)
    try:
        cli()
    except OSError as error:  # of click's own output, such as help
        fail(InputError(f"'standard output' cannot be written: {error.strerror}"))
        os._exit(UNKNOWN)


def _open_closed_streams() -> None:
    """Puts something in the place of closed standard streams: the next file opened would be taken for them.

    What is written to a closed standard output fails, as elsewhere.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            file = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if file != number:
                os.dup2(file, number)
                os.close(file)
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115


def _interrupt(*_: object) -> None:
    """Ends the program as SIGINT does: what it has started ends with it, what it has found out is kept."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
