"""`code`: what the code of each tool does."""

from functools import partial
from pathlib import Path

import click

from tdqs_mcp.app.catalogs import match_tools
from tdqs_mcp.app.linting import read_source
from tdqs_mcp.cli import command
from tdqs_mcp.cli.runner import FOLDER, Page, page_options, tools_option, views
from tdqs_mcp.report.code_report import code_blocks, openai_hints
from tdqs_mcp.report.json_values import json_text


@command()
@click.argument("folder", type=FOLDER)
@tools_option("Only these tools: their effects, limits, errors and what could not be followed, line by line.")
@page_options("openai-hints", help="What to print; openai-hints: each hint with file and line as its reason.")
def code(folder: Path, *, tools: tuple[str, ...] | None, page: Page) -> None:
    """Read the code of a server's tools: what each does, with file and line.

    FOLDER is a source tree or an unpacked package in Python, JavaScript or TypeScript. Nothing is run or imported. What
    the code does not prove is "unknown".
    """
    report = read_source(folder)
    names = match_tools([entry.name for entry in report.tools], tools or ())
    document = {"openai-hints": lambda result: json_text(openai_hints(result))}
    page.show([report], views(partial(code_blocks, tools=names)) | document)
