"""The command line: words in, exit code out."""

import io
import sys

import click

from tdqs_mcp.cli.check import calibrate, gate, grade
from tdqs_mcp.cli.compare import compare
from tdqs_mcp.cli.interruption import Interruptible
from tdqs_mcp.cli.lint import lint
from tdqs_mcp.cli.look import capture, explain, prompts
from tdqs_mcp.cli.page import WIDTH
from tdqs_mcp.cli.plan import plan
from tdqs_mcp.cli.rewrite import rewrite
from tdqs_mcp.cli.score import score, skill
from tdqs_mcp.cli.select import select
from tdqs_mcp.server.serve import serve


@click.group(cls=Interruptible, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH})
@click.version_option(package_name="tdqs-mcp")
def cli() -> None:
    """Score, lint, explain and rewrite the tool definitions of MCP servers.

    A LOCATOR is a JSON file, - for standard input, an http(s) URL, "stdio:COMMAND ARGS", config:NAME for a server of an
    installed client, or py:MODULE:OBJECT.
    """


for _command in (
    score,
    lint,
    grade,
    gate,
    rewrite,
    plan,
    compare,
    select,
    skill,
    calibrate,
    explain,
    prompts,
    capture,
    serve,
):
    cli.add_command(_command)


def main() -> None:
    """The console script; what is redirected is UTF-8 on every platform."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    cli()
