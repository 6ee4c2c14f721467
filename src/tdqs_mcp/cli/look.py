"""`explain`, `prompts` and `capture`."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp import app
from tdqs_mcp.cli.options import FILE, form_option, live_options, output_option, rubric_option, spec_option
from tdqs_mcp.cli.page import View, leave, reporter, show, warn, write
from tdqs_mcp.cli.work import end, for_each, read_text
from tdqs_mcp.errors import TdqsError
from tdqs_mcp.report.documents import capture_document, json_text
from tdqs_mcp.sources.live import LiveOptions

_TEXT = reporter("documents:prompts_text")
_PROMPTS: Mapping[str, View] = {"text": _TEXT, "json": dict, "markdown": _TEXT}


@click.command()
@click.argument("name", metavar="ID")
@form_option()
@output_option
def explain(name: str, *, form: str, output: Path | None) -> None:
    """Explain a rule, a dimension, a flag or a tier."""
    try:
        page = app.explain(name)
    except TdqsError as error:
        leave(error)
    views: dict[str, View] = {"text": _markdown_view, "json": lambda text: {"id": name, "page": text}, "markdown": str}
    show([page], views, form, output)


@click.command()
@click.argument("locator", metavar="LOCATOR")
@click.option("--tool", metavar="NAME", help="Only this tool's prompt.")
@rubric_option
@click.option("--skill", type=FILE, help="A skill text of the server, whose prompt is wanted too.")
@spec_option
@live_options
@form_option()
@output_option
def prompts(
    locator: str,
    *,
    tool: str | None,
    rubric: str,
    skill: Path | None,
    spec: str,
    live: LiveOptions,
    form: str,
    output: Path | None,
) -> None:
    """Print the exact prompts that a judge would get, as published and hardened."""
    text = read_text(skill) if skill else None
    documents = for_each((locator,), live, partial(app.prompts, tool=tool, spec=spec, rubric=rubric, skill=text))
    show(documents, _PROMPTS, form, output)
    end(documents)


@click.command()
@click.argument("locator", metavar="LOCATOR")
@live_options
@output_option
def capture(locator: str, *, live: LiveOptions, output: Path | None) -> None:
    """Save the raw catalog of a server, for later."""
    catalogs = for_each((locator,), live, lambda catalog: catalog)
    for catalog in catalogs:
        if catalog is not None:
            write(json_text(capture_document(catalog)), output)
            if catalog.incomplete:
                warn(f"the list of tools is incomplete, and the file says so: {catalog.incomplete}")
            if output:
                click.echo(f"{len(catalog.tools)} tools in {output}. Next: tdqs-mcp score {output}")
    end(catalogs)


def _markdown_view(page: str) -> Any:  # noqa: ANN401  # rich is imported where it is used
    from rich.markdown import Markdown  # noqa: PLC0415

    return Markdown(page) if sys.stdout.isatty() else page
