"""`tdqs-mcp route`: its options, and how the router begins and ends."""

import gc
import json
import logging
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from tdqs_mcp.cli import command
from tdqs_mcp.cli.runner import TARGET, live_options, locator_argument, warn
from tdqs_mcp.server.http_transport import http_options, read_http, run_http, tell_url
from tdqs_mcp.sources.locator import LiveOptions


@command()
@locator_argument
@click.option(
    "--variants",
    metavar="FILE|URL",
    required=True,
    help="The descriptions: {variants: {NAME: {TOOL: text}}}, what rewrite --format json prints, or the store of a "
    "sweep with the captures of the server.",
)
@click.option(
    "--components",
    metavar="NAME,...",
    help="Of what components descriptions consist, and in which order: purpose, guidelines, limitations, parameter "
    "explanation, examples.",
)
@click.option("--log", type=TARGET, help="Append a line of JSON for each list of tools: which variants it had.")
@click.option("--log-calls", type=TARGET, help="Append a line of JSON for each call: its outcome, values left out.")
@http_options
@live_options
def route(
    *,
    locator: str,
    variants: str,
    components: str | None,
    log: Path | None,
    log_calls: Path | None,
    live: LiveOptions,
    address: str | None,
    token_file: Path | None,
    allowed_hosts: tuple[str, ...],
    allowed_origins: tuple[str, ...],
) -> None:
    """Serve the tools of another server with other descriptions.

    Everything else passes as it is: calls, progress, errors, what the server asks its client. The variants are read
    again when they change, and clients are told that the tools have changed.
    """
    import anyio  # noqa: PLC0415  # the help goes without

    from tdqs_mcp.app.routing import line_writer, make_router  # noqa: PLC0415  # the SDK
    from tdqs_mcp.server.stdio_transport import run_stdio  # noqa: PLC0415

    http = read_http(address, token_file=token_file, allowed_hosts=allowed_hosts, allowed_origins=allowed_origins)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what it would log goes to the client, or ends the router
    router = make_router(
        locator,
        live,
        variants=variants,
        components=components,
        log=line_writer(log, tell=warn) if log else _tell_line,
        log_call=line_writer(log_calls, tell=warn) if log_calls else None,
        tell=warn,
    )
    if http is not None:
        from tdqs_mcp.server.routed_http import router_app  # noqa: PLC0415

        tell = partial(tell_url, has_token=http.token is not None, name="routed")
        run_http(router_app(router, http, tell=warn), http, log_level="warning", tell=tell)
        return
    gc.freeze()
    sys.exit(anyio.run(partial(run_stdio, router.serve, live.max_bytes)))


def _tell_line(line: Mapping[str, Any]) -> None:
    click.echo(json.dumps(line), err=True)
