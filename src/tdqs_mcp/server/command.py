"""The words of `tdqs-mcp serve`."""

import os
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.app.judge_factory import open_cache
from tdqs_mcp.app.settings import CHOICES, read_settings
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.judges.budget import Budget, read_dollars
from tdqs_mcp.server.permissions import Permissions, UrlPattern, read_pattern
from tdqs_mcp.server.serve import Http, read_address
from tdqs_mcp.server.serve import serve as run


def _patterns(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[UrlPattern, ...]:
    try:
        return tuple(map(read_pattern, values))
    except InputError as error:
        raise click.BadParameter(str(error)) from error


def _nanodollars(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    try:
        return None if text is None else read_dollars(text)
    except InputError as error:
        raise click.BadParameter(str(error)) from error


@click.command()
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp instead of stdio.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Bearer token that HTTP clients must send; or set TDQS_SERVE_TOKEN.",
)
@click.option("--allowed-host", "allowed_hosts", multiple=True, metavar="HOST", help="Host name that HTTP answers to.")
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder whose files may be read.",
)
@click.option("--allow-config", "configs", multiple=True, metavar="NAME", help="config:NAME may be started or opened.")
@click.option("--allow-url", "urls", multiple=True, metavar="PATTERN", callback=_patterns, help="URLs may be opened.")
@click.option("--allow-stdio", "may_start", is_flag=True, help="Any stdio: command may be started.")
@click.option("--allow-py", "may_import", is_flag=True, help="Any py: module may be imported.")
@click.option("--judge", help=f"The configured judge: {CHOICES}; jury:NAME,host has a seat for the caller.")
@click.option("--base-url", help="Where the judging model answers.")
@click.option("--model", help="The model that judges.")
@click.option("--max-calls", type=click.IntRange(min=0), help="At most this many requests to models, for all callers.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="At most this many tokens, for all callers.")
@click.option("--max-cost", metavar="DOLLARS", callback=_nanodollars, help="At most this much money, for all callers.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds for a live server."
)
def serve(
    *,
    address: str | None,
    token_file: Path | None,
    allowed_hosts: tuple[str, ...],
    judge: str | None,
    base_url: str | None,
    model: str | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_cost: int | None,
    timeout: float,
    **allowed: Any,  # noqa: ANN401  # the fields of Permissions
) -> None:
    """Run the MCP server, on stdio unless --http is given.

    Definitions that come with a call are always scored. What else a caller may have read, started or opened is what the
    options allow. What the configured judge may take, it may take once, until the server ends.
    """
    try:
        http = _http(address, token_file, allowed_hosts)
        settings = read_settings(
            os.environ,
            judge=judge,
            base_url=base_url,
            model=model,
            budget=Budget(calls=max_calls, tokens=max_tokens, cost=max_cost),
            in_server=True,
        )
        run(
            permissions=Permissions(**allowed),
            settings=settings,
            http=http,
            timeout=timeout,
            open_cache=lambda: open_cache(os.environ),
        )
    except TdqsError as error:
        raise click.UsageError(str(error)) from error


def _http(address: str | None, token_file: Path | None, allowed_hosts: tuple[str, ...]) -> Http | None:
    if address is None:
        if token_file or allowed_hosts:
            raise InputError("--token-file and --allowed-host belong to --http HOST:PORT")
        return None
    host, port = read_address(address)
    return Http(host=host, port=port, token=_token(token_file), allowed_hosts=allowed_hosts)


def _token(file: Path | None) -> str | None:
    """The token that was meant; an empty one is refused, because somebody wanted protection."""
    if file is None and "TDQS_SERVE_TOKEN" not in os.environ:
        return None
    source = "TDQS_SERVE_TOKEN" if file is None else f"the token file {str(file)!r}"
    try:
        token = (os.environ["TDQS_SERVE_TOKEN"] if file is None else file.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeError) as error:
        raise InputError(f"{source} cannot be read as text; make one with: openssl rand -hex 32") from error
    if not token:
        raise InputError(f"{source} is empty; put a token there or take the option away")
    return token
