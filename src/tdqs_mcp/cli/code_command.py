"""`code`: what the code of each tool does."""

from functools import partial

from tdqs_mcp.app.catalogs import match_tools
from tdqs_mcp.app.linting import read_source, source_of
from tdqs_mcp.cli import command
from tdqs_mcp.cli.runner import Page, locator_argument, page_options, tools_option, views
from tdqs_mcp.errors import InputError
from tdqs_mcp.report.code_report import code_blocks, openai_hints
from tdqs_mcp.report.json_values import json_text


@command()
@locator_argument
@tools_option("Only these tools: their effects, limits, errors and what could not be followed, line by line.")
@page_options("openai-hints", help="What to print; openai-hints: each hint with file and line as its reason.")
def code(locator: str, *, tools: tuple[str, ...] | None, page: Page) -> None:
    """Read the code of a server's tools: what each does, with file and line.

    LOCATOR is a file, a source tree or an unpacked package in Python, JavaScript or TypeScript, or py:MODULE:OBJECT.
    Nothing is run or imported. What the code does not prove is "unknown".
    """
    source = source_of(locator, None)
    if source is None:
        raise InputError(f"{locator!r} is no code: give a folder, a file of Python, JavaScript or TypeScript, or py:")
    report = read_source(source)
    names = match_tools([entry.name for entry in report.tools], tools or ())
    document = {"openai-hints": lambda result: json_text(openai_hints(result))}
    page.show([report], views(partial(code_blocks, tools=names)) | document)
