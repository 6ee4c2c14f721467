"""Options that several commands share; a group of options reaches its command as one value."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.cli.output import Page
from tdqs_mcp.sources.locator import LiveOptions

Callback = Callable[..., Any]

_GROUPS = "__tdqs_option_groups__"


def _pairs(_: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    separator = ":" if option.name == "headers" else "="
    pairs = {}
    for value in values:
        name, found, rest = value.partition(separator)
        if not found or not name.strip():
            raise click.BadParameter(f"give NAME{separator}VALUE")
        pairs[name.strip()] = rest.strip() if separator == ":" else rest
    return pairs


class GroupedCommand(click.Command):
    """Hands each group of its options to the callback as one value."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # what the callback returns
        """What the callback returns, as click has it."""
        for name, build, fields in getattr(self.callback, _GROUPS, ()):
            ctx.params[name] = build(**{field: ctx.params.pop(field) for field in fields})
        return super().invoke(ctx)


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


live_options = group_options(
    "live",
    LiveOptions,
    click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", callback=_pairs, help="Sent to a URL."),
    click.option("--env", multiple=True, metavar="NAME=VALUE", callback=_pairs, help="Set for a stdio: or py: server."),
    click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="Where a stdio: or py: server starts."),
    click.option(
        "--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds for a live server."
    ),
)
"""The options of live locators, as `live: LiveOptions`."""


def page_options(*more: str, help: str = "What to print.") -> Callable[[Callback], Callback]:  # noqa: A002  # click's word
    """`--format` (text, json, markdown and what a command has more) and `--output`, as `page: Page`."""
    forms = click.Choice(["text", "json", "markdown", *more])
    form = click.option("--format", "form", type=forms, default="text", show_default=True, help=help)
    return group_options("page", Page, form, output_option)


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
TARGET = click.Path(dir_okay=False, path_type=Path)

output_option = click.option("--output", "-o", type=TARGET, help="Write to a file.")
