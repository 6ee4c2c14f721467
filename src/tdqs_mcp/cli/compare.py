"""`compare`."""

from functools import partial
from pathlib import Path

import click

from tdqs_mcp import sync
from tdqs_mcp.cli.options import Asked, form_option, judge_options, live_options, output_option, spec_option
from tdqs_mcp.cli.page import reporter, show
from tdqs_mcp.cli.progress import waiting
from tdqs_mcp.cli.work import end, for_each, judge_of, tell_usage
from tdqs_mcp.gate import Outcome, answered
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.results.comparison import Comparison
from tdqs_mcp.sources.live import LiveOptions

_VIEWS = {
    "text": reporter("compare:compare_view"),
    "json": reporter("contract.improve:compare_document"),
    "markdown": reporter("compare:compare_markdown"),
}


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--fail-on-regression", is_flag=True, help="Exit 1 when NEW is worse, as said above.")
@judge_options
@spec_option
@live_options
@form_option(help="What to print: markdown for a pull request.")
@output_option
def compare(
    old: str,
    new: str,
    *,
    fail_on_regression: bool,
    asked: Asked,
    spec: str,
    live: LiveOptions,
    form: str,
    output: Path | None,
) -> None:
    """Hold two versions of a catalog, or two definitions of one tool, against each other.

    OLD and NEW are locators. A regression is: a lower overall tier; a changed tool with a lower TDQS; a change that
    breaks callers (a tool or parameter removed or renamed, a type, value or range narrowed, a new required
    parameter, a combination such as not or oneOf that is not known to take all that it took, a result that loses a
    field); an annotation that no longer rules something out; a new finding that is an error or a warning, unless a
    worse one of the same tool is gone. Wording, tools that are added with all that is found in them, and what was
    there before are none. Exit code 2 where there is none in what was judged, and the judge failed on something.
    """
    chosen = judge_of(asked)
    catalogs: list[Catalog | None] = for_each((old, new), live, lambda catalog: catalog)
    before, after = catalogs
    results: list[Comparison | None] = [None]
    if before is not None and after is not None:
        with waiting().on(f"judging {after.server}"):
            results = [sync.compare(before, after, judge=chosen, spec=spec)]
    tell_usage(chosen)
    show(results, _VIEWS, form, output)
    end(results, partial(_outcome, fails=fail_on_regression))


def _outcome(comparison: Comparison, *, fails: bool) -> Outcome:
    if fails and comparison.regressions:
        return Outcome.FAILED
    return max(answered(comparison.old), answered(comparison.new))
