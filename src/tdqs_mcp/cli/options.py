"""Options that several commands share; a group of them reaches its command as one value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app.settings import CHOICES
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.budget import Budget, read_dollars
from tdqs_mcp.results.rewrites import OFFLINE
from tdqs_mcp.rubrics.rubric import TOOL_RUBRICS
from tdqs_mcp.scoring.rollup import SPECS
from tdqs_mcp.sources.live import LiveOptions

Command = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The judge that the command line names, and what it may take."""

    judge: str | None
    base_url: str | None
    model: str | None
    exact_prompt: bool
    budget: Budget

    @property
    def beside_writer(self) -> "Asked":
        """The judge of what a model writes: without a judge that is a model too, address and model are the writer's.

        What both may take, their common ledger counts.
        """
        is_model = self.judge is not None and self.judge.partition(":")[0] != OFFLINE
        own = self if is_model else replace(self, base_url=None, model=None)
        return replace(own, budget=Budget())

    @property
    def is_named(self) -> bool:
        """Whether anything says which judge, as opposed to how much of it."""
        return bool(self.judge or self.base_url or self.model or self.exact_prompt)

    def options(self) -> Mapping[str, Any]:
        """As `read_settings` takes them."""
        return {name: getattr(self, name) for name in self.__slots__}


def listed(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
    """Options given again or with commas; None where there is none, which leaves the choice to lower levels."""
    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    return words or None


def _pairs(_: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    separator = ":" if option.name == "headers" else "="
    pairs = {}
    for value in values:
        name, found, rest = value.partition(separator)
        if not found or not name.strip():
            raise click.BadParameter(f"give NAME{separator}VALUE")
        pairs[name.strip()] = rest.strip() if separator == ":" else rest
    return pairs


def _nanodollars(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    try:
        return None if text is None else read_dollars(text)
    except InputError as error:
        raise click.BadParameter(str(error)) from error


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
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

    return _with(
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


def judge_options(command: Command) -> Command:
    """The options that name a judge, without which the TDQS_ variables do, and what it may take, as `asked: Asked`."""

    @wraps(command)
    def run(
        *args: Any,  # noqa: ANN401
        judge: str | None,
        base_url: str | None,
        model: str | None,
        exact_prompt: bool,
        max_calls: int | None,
        max_tokens: int | None,
        max_cost: int | None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        budget = Budget(calls=max_calls, tokens=max_tokens, cost=max_cost)
        asked = Asked(judge=judge, base_url=base_url, model=model, exact_prompt=exact_prompt, budget=budget)
        return command(*args, asked=asked, **options)

    return _with(
        run,
        click.option(
            "--judge",
            metavar="JUDGE",
            help=f"{CHOICES}; the key is TDQS_API_KEY, or ANTHROPIC_API_KEY.  [default: offline]",
        ),
        click.option("--base-url", metavar="URL", help="Where the model answers, such as http://127.0.0.1:11434/v1."),
        click.option("--model", help="The model's name at its vendor."),
        click.option(
            "--exact-prompt",
            is_flag=True,
            help="Send a judge the published bytes, without the fence that keeps a definition from speaking to it.",
        ),
        click.option(
            "--max-calls", type=click.IntRange(min=0), help="At most this many requests to models, tries included."
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=1),
            help="At most this many tokens, estimated until an answer reports them.",
        ),
        click.option(
            "--max-cost",
            metavar="DOLLARS",
            callback=_nanodollars,
            help="At most this much money, likewise; for known prices.",
        ),
    )


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
TARGET = click.Path(dir_okay=False, path_type=Path)

output_option = click.option("--output", "-o", type=TARGET, help="Write to a file.")


def form_option(*more: str, help: str = "What to print.") -> Callable[[Command], Command]:  # noqa: A002  # click's word
    """`--format`: text, json, markdown and what a command has more, as `form: str`."""
    forms = click.Choice(["text", "json", "markdown", *more])
    return click.option("--format", "form", type=forms, default="text", show_default=True, help=help)


rubric_option = click.option(
    "--rubric", type=click.Choice(TOOL_RUBRICS), default=TOOL_RUBRICS[0], show_default=True, help="What is scored."
)
bad_option = click.option("--fail-on-bad", is_flag=True, help="Exit 1 when anything is labelled Bad.")
spec_option = click.option(
    "--spec", type=click.Choice(SPECS), default=SPECS[0], show_default=True, help="TDQS version."
)
