"""Options that several commands share; a group of options reaches its command as one value."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.cli.output import Page
from tdqs_mcp.rubrics.rubric import TOOL_RUBRICS
from tdqs_mcp.scoring.rollup import SPECS
from tdqs_mcp.sources.live import LiveOptions

Command = Callable[..., Any]


def _pairs(_: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    separator = ":" if option.name == "headers" else "="
    pairs = {}
    for value in values:
        name, found, rest = value.partition(separator)
        if not found or not name.strip():
            raise click.BadParameter(f"give NAME{separator}VALUE")
        pairs[name.strip()] = rest.strip() if separator == ":" else rest
    return pairs


def combine(command: Command, *options: Callable[[Command], Command]) -> Command:
    """The options in the order of the help."""
    for option in reversed(options):
        command = option(command)
    return command


def live_options(command: Command) -> Command:
    """The options of live locators, as `live: LiveOptions`."""

    @wraps(command)
    def run(
        *args: Any,  # noqa: ANN401  # what click hands on
        headers: Mapping[str, str],
        env: Mapping[str, str],
        cwd: str | None,
        timeout: float,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        return command(*args, live=LiveOptions(headers=headers, env=env, cwd=cwd, timeout=timeout), **options)

    return combine(
        run,
        click.option(
            "--header", "headers", multiple=True, metavar="NAME:VALUE", callback=_pairs, help="Sent to a URL."
        ),
        click.option(
            "--env", multiple=True, metavar="NAME=VALUE", callback=_pairs, help="Set for a stdio: or py: server."
        ),
        click.option(
            "--cwd", type=click.Path(exists=True, file_okay=False), help="Where a stdio: or py: server starts."
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0.1),
            default=60.0,
            show_default=True,
            help="Seconds for a live server.",
        ),
    )


def page_options(*more: str, help: str = "What to print.") -> Callable[[Command], Command]:  # noqa: A002  # click's word
    """`--format` (text, json, markdown and what a command has more) and `--output`, as `page: Page`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*args: Any, form: str, output: Path | None, **options: Any) -> Any:  # noqa: ANN401
            return command(*args, page=Page(form=form, file=output), **options)

        forms = click.Choice(["text", "json", "markdown", *more])
        form_option = click.option("--format", "form", type=forms, default="text", show_default=True, help=help)
        return combine(run, form_option, output_option)

    return decorate


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
TARGET = click.Path(dir_okay=False, path_type=Path)

output_option = click.option("--output", "-o", type=TARGET, help="Write to a file.")
rubric_option = click.option(
    "--rubric", type=click.Choice(TOOL_RUBRICS), default=TOOL_RUBRICS[0], show_default=True, help="What is scored."
)
bad_option = click.option("--fail-on-bad", is_flag=True, help="Exit 1 when anything is labelled Bad.")
spec_option = click.option(
    "--spec", type=click.Choice(SPECS), default=SPECS[0], show_default=True, help="TDQS version."
)
