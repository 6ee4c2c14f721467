"""`plan`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp import sync
from tdqs_mcp.cli.options import Asked, form_option, judge_options, live_options, output_option
from tdqs_mcp.cli.page import reporter, show
from tdqs_mcp.cli.work import end, for_each, judge_of, tell_usage
from tdqs_mcp.gate import arrives
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.sources.live import LiveOptions

_PLAN = {
    "text": reporter("plan:plan_view"),
    "json": reporter("contract.improve:plan_document"),
    "markdown": reporter("plan:plan_markdown"),
}
_WHAT_IF = {
    "text": reporter("plan:what_if_view"),
    "json": reporter("contract.improve:what_if_document"),
    "markdown": reporter("plan:what_if_markdown"),
}


@click.command()
@click.argument("locator", metavar="LOCATOR")
@click.option(
    "--target",
    default="A",
    show_default=True,
    metavar="TIER|SCORE",
    help="A tier A-D, or an overall score such as 3.5.",
)
@click.option("--tool", metavar="NAME", help="Instead: what the overall becomes when this tool gets better.")
@judge_options
@live_options
@form_option()
@output_option
def plan(
    locator: str,
    *,
    target: str,
    tool: str | None,
    asked: Asked,
    live: LiveOptions,
    form: str,
    output: Path | None,
) -> None:
    """Find the cheapest rewrites that bring a server to a tier.

    The cost is the tokens that they add, then their number. What they achieve is proven by judging the server with
    them; where that is not enough, exit code 1, with what only the author can write.
    """
    chosen = judge_of(asked)
    use: Callable[[Catalog], Any] = partial(sync.plan, target=target, judge=chosen)
    if tool is not None:
        use = partial(sync.what_if, tool=tool, judge=chosen)
    results = for_each((locator,), live, use)
    tell_usage(chosen)
    show(results, _PLAN if tool is None else _WHAT_IF, form, output)
    end(results, arrives if tool is None else None)
