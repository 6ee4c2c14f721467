"""The command line: arguments in, output and exit code out."""

import io
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Any

import click
from click.core import ParameterSource

from tdqs_mcp.errors import InputError, TdqsError, nearest

WIDTH = 110
"""Columns of help and of output that does not go to a terminal."""

INTERRUPTED = 130
"""What a shell makes of a program that SIGINT has ended; other signals that ask it to end are taken for that one."""

UNKNOWN = 2
"""The exit code of what cannot run at all."""

ON_INTERRUPT = "tdqs_mcp.cli.on_interrupt"
"""Where a command's context keeps a function that returns what is to be said when it is interrupted."""

_COMMANDS = {
    "tdqs_mcp.cli.score_commands": {
        "score": "Score every tool and the server by TDQS, or by another rubric.",
        "skill": "Score the skill text of a server beside its tools, by MCPBundles' rubric.",
        "calibrate": "Show how wrong a judge is: against the published examples and the labeled tools.",
        "capture": "Save the raw catalog of a server, for later.",
        "explain": "Explain a rule, a lane of rules, a rubric, a dimension, a flag or a tier.",
        "gate": "Check servers against the tool_quality entries of a suite, one row each.",
        "grade": "Grade a server as MCP Playground does: a score of 100 and a letter.",
        "prompts": "Print the exact prompts that a judge would get, as published and hardened.",
    },
    "tdqs_mcp.cli.lint_command": {
        "lint": "Report what the rules find.",
        "rules": "List the rules, or those that ids, names, aliases and lanes mean.",
        "portability": "Show what each client and model API would take of the tools: kept, renamed, cut or refused.",
    },
    "tdqs_mcp.cli.lock_commands": {
        "lock": "Pin what agents see of a server: tools, instructions, prompts, resources, icons and _meta.",
        "verify": "Say what has changed since a server was locked: breaking, dangerous, compatible, or wording.",
    },
    "tdqs_mcp.cli.rewrite_commands": {
        "rewrite": "Propose better definitions from what is known, each with its source, checked, and ask "
        "for the rest.",
        "compare": "Compare two versions of a catalog, or two definitions of one tool.",
        "plan": "Find the cheapest rewrites that bring a server to a tier.",
        "select": "Test whether the right tool is found for a query, before and after a change.",
    },
    "tdqs_mcp.cli.agent_commands": {
        "install": "Add this MCP server to a client's configuration.",
        "uninstall": "Remove this MCP server from a client's configuration.",
        "servers": "List the servers of all installed clients, without what they are started with.",
        "route": "Serve the tools of another server with other descriptions.",
    },
    "tdqs_mcp.cli.registry_commands": {
        "sweep": "Score a registry's servers into a store: only what is new or has changed since the last sweep.",
        "stats": "Show what a store knows: scores, smells and weakest dimensions, a server's place, tools by query.",
        "study": "Compare variants of descriptions over the outcomes of tasks, by the tests of the paper.",
        "dashboard": "Show a store's scores in a browser: servers, tools, their history, statistics, rules and badges.",
    },
    "tdqs_mcp.server.serve": {"serve": "Run the MCP server, on stdio unless --http is given."},
}
"""Module and first sentence of each command, so that the group's help imports none of them."""

Callback = Callable[..., Any]

_GROUPS = "__tdqs_option_groups__"
"""Where a callback keeps the groups of its options until its command is made."""

_NO_CHOICE = re.compile(r"'(.*?)' is not one of", re.DOTALL)
"""How click begins its message about a value that is none of an option's."""

_MODULES = {name: module for module, commands in _COMMANDS.items() for name in commands}


def fail(error: TdqsError, hint: str | None = None) -> None:
    """An error in one line on standard error, and in a second what was probably meant."""
    from tdqs_mcp.report.escape import printable  # noqa: PLC0415  # help and --version go without

    click.echo(f"error: {printable(str(error))}", err=True)
    if hint:
        click.echo(f"hint: {printable(hint)}", err=True)


class LazyGroup(click.Group):
    """Imports a command when it is called, and ends in one line where it cannot run or somebody interrupts it."""

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
        """What the command returns, as click has it."""
        try:
            return super().invoke(ctx)
        except click.MissingParameter:
            raise
        except click.BadParameter as error:
            choices = map(str, getattr(error.param and error.param.type, "choices", ()))
            found = _NO_CHOICE.match(error.message)
            meant = nearest(found[1], choices).replace("; did", " Did") if found else ""
            raise click.BadParameter(error.message + meant, error.ctx, error.param, error.param_hint) from error
        except KeyboardInterrupt:
            click.echo("; ".join(["interrupted", *ctx.meta.get(ON_INTERRUPT, list)()]), err=True)
            sys.exit(INTERRUPTED)
        except TdqsError as error:
            fail(error)
            sys.exit(UNKNOWN)


class _LocatorType(click.ParamType[str]):
    name = "locator"


LOCATOR = _LocatorType()
"""The type of an argument that says what to score; a command with such an argument takes `-- COMMAND ARG...` too."""


def is_command(word: str) -> bool:
    """Whether a word starts the command of a server: a program, or what is neither a file nor another locator."""
    is_other = word == "-" or Path(word).exists() or ":" in word
    return which(word) is not None or not is_other


def as_command(words: Sequence[str]) -> str:
    """How the running command is told to start a server."""
    return f"{click.get_current_context().command_path} -- {shlex.join(words)}"


class GroupedCommand(click.Command):
    """Hands each group of its options to the callback as one value, and takes a server's command after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click has it, with the words after `--` as one locator where they are the command of a server."""
        if not any(each.type is LOCATOR for each in self.params):
            return super().parse_args(ctx, args)
        options, found, words = _divided(args)
        if words and is_command(words[0]):
            args = [*options, "--", f"stdio:{shlex.join(words)}"]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            places = [place for place, word in enumerate(options) if which(word)]
            places += [0] if options[0][:1] != "-" and is_command(options[0]) else []
            if found or not places:
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


_OUTPUTS = ("output", "target", "log", "log_calls")
"""Parameters that name a file to write."""

_IN_PLACE = (("target", "locator"),)
"""`rewrite FILE --write FILE` is meant to change its input."""


def _refuse_overwriting(ctx: click.Context) -> None:
    """Raise UsageError for a file that is named to be written and to be read, by whatever path or link."""
    for name in _OUTPUTS:
        path = ctx.params.get(name)
        if not isinstance(path, Path) or not path.is_file():
            continue
        for other, value in ctx.params.items():
            values = value if isinstance(value, tuple) else (value,)
            inputs = [each for each in values if isinstance(each, str | Path)] if other not in _OUTPUTS else []
            if (name, other) not in _IN_PLACE and any(Path(each).exists() and path.samefile(each) for each in inputs):
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
    path, form = ctx.params.get("output"), next((each for each in ctx.command.params if each.name == "form"), None)
    forms = _FORMS.get(path.suffix.lower(), ()) if isinstance(path, Path) else ()
    if form is None or not forms or not isinstance(form.type, click.Choice):
        return
    possible = [each for each in forms if each in form.type.choices]
    if ctx.get_parameter_source("form") is ParameterSource.DEFAULT and possible:
        ctx.params["form"] = possible[0]
    elif ctx.params["form"] not in possible:
        known = ", ".join(form.type.choices)
        raise click.UsageError(
            f"{str(path)!r} is no name for --format {ctx.params['form']}; rename it, or choose one of {known}"
        )


def _divided(args: Sequence[str]) -> tuple[Sequence[str], bool, Sequence[str]]:
    """The words before the first `--`, whether there is one, and the words after it."""
    place = args.index("--") if "--" in args else len(args)
    return args[:place], place < len(args), args[place + 1 :]


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
        vars(callback).setdefault(_GROUPS, []).append((name, build, [each.name for each in parameters]))
        return callback

    return decorate


@click.group(
    cls=LazyGroup,
    commands=[click.Command(name, help=text) for commands in _COMMANDS.values() for name, text in commands.items()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)
@click.version_option(None, "-V", "--version", package_name="tdqs-mcp")
def cli() -> None:
    """Score, lint, explain and rewrite the tool definitions of MCP servers.

    A LOCATOR is a JSON file or a folder of them, - for standard input, an http(s) URL, "stdio:COMMAND ARGS" or last
    -- COMMAND ARGS, config:NAME for a server of an installed client, or py:MODULE:OBJECT.
    """


def main() -> None:
    """The console script; what is redirected is UTF-8 on every platform."""
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
