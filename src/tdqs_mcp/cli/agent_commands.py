"""`servers`, `install` and `uninstall`: the configuration of MCP clients, and our entry in it."""

import gc
import json
import logging
import shlex
import sys
from functools import partial
from pathlib import Path

import click

from tdqs_mcp.app import installed_clients
from tdqs_mcp.app.installed_clients import Installation, client_names, is_project, plan_install, plan_uninstall
from tdqs_mcp.cli import command, runner
from tdqs_mcp.errors import InputError
from tdqs_mcp.report.escape import visible
from tdqs_mcp.report.registry_reports import list_blocks
from tdqs_mcp.server.http_transport import Http, http_options, run_http, tell_url
from tdqs_mcp.sources.locator import LiveOptions


@command()
@runner.locator_argument
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
@click.option("--log", type=runner.TARGET, help="Append a line of JSON for each list of tools: which variants it had.")
@click.option(
    "--log-calls", type=runner.TARGET, help="Append a line of JSON for each call: its outcome, values left out."
)
@http_options
@runner.live_options
def route(
    *,
    locator: str,
    variants: str,
    components: str | None,
    log: Path | None,
    log_calls: Path | None,
    live: LiveOptions,
    http: Http | None,
) -> None:
    """Serve the tools of another server with other descriptions.

    Everything else passes as it is: calls, progress, errors, what the server asks its client. The variants are read
    again when they change, and clients are told that the tools have changed.
    """
    import anyio  # noqa: PLC0415  # the help goes without

    from tdqs_mcp.app.routing import line_writer, make_router  # noqa: PLC0415  # the SDK
    from tdqs_mcp.server.stdio_transport import StandardStreams, run_until_signal  # noqa: PLC0415

    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what it would log goes to the client, or ends the router
    router = make_router(
        locator,
        live,
        variants=variants,
        components=components,
        log=line_writer(log, tell=runner.warn) if log else lambda line: click.echo(json.dumps(line), err=True),
        log_call=line_writer(log_calls, tell=runner.warn) if log_calls else None,
        tell=runner.warn,
    )
    if http is not None:
        from tdqs_mcp.server.routed_http import router_app  # noqa: PLC0415

        tell = partial(tell_url, has_token=http.token is not None, name="routed")
        run_http(router_app(router, http, tell=runner.warn), http, log_level="warning", tell=tell)
        return
    gc.freeze()

    async def serve_client() -> None:
        await router.serve(StandardStreams(live.max_bytes))

    sys.exit(anyio.run(partial(run_until_signal, serve_client, seconds=SIGNAL_SECONDS)))


SIGNAL_SECONDS = 10.0
"""How long a router that a signal ends may wait for its server to end."""


_client_argument = click.argument("client", type=click.Choice(client_names(), case_sensitive=False), metavar="CLIENT")
_dry_run_option = runner.dry_run_option("Show what would change, and change nothing.")


@command()
@_client_argument
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- SERVE-OPTION...]")
@_dry_run_option
@click.option("--yes", "has_agreed", is_flag=True, help="Take what is proposed, and write it without asking.")
def install(client: str, *, arguments: tuple[str, ...], is_dry_run: bool, has_agreed: bool) -> None:
    """Add this MCP server to a client's configuration.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex or gemini-cli. The file of the user is
    changed, not the project's: only our entry in it, and the file as it was is kept beside it. Proposed are the options
    that are there, the project's folder if you are in one, and the client's own servers of yours, so that an agent can
    name them; a terminal asks once. What follows -- are options of serve instead, such as --root /home/you/servers.
    """
    from tdqs_mcp.server.serve import serve  # noqa: PLC0415  # its options, and no server

    # What serve refuses would keep the client from starting it.
    with serve.make_context("tdqs-mcp serve", list(arguments)) as context:
        names = ("address", "token_file", "allowed_hosts", "allowed_origins")
        is_http = any(context.params[name] for name in names)
        runner.refuse(is_http, "clients start the server over stdio: leave --http and its options out")
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    proposal = plan_install(client, arguments, project=Path.cwd())
    change = proposal if has_agreed or is_terminal or is_dry_run else plan_install(client, arguments)
    if change is proposal and change.difference and not arguments:
        here = shlex.quote(str(Path.cwd()))
        click.echo(
            f"proposed: an agent may read files in {here}, where you are; another folder: -- --root FOLDER"
            if is_project(Path.cwd())
            else f"no folder is proposed, as {here} holds neither code nor definitions: an agent can name no file"
        )
    then = f". Next, in {change.client.title}: {change.client.then}"
    _apply_change(change, is_dry_run=is_dry_run, has_agreed=has_agreed or not is_terminal, then=then)
    if change.after != proposal.after:
        click.echo("with --yes, an agent could also name this project's folder and your servers in this client")


@command()
@_client_argument
@_dry_run_option
def uninstall(client: str, *, is_dry_run: bool) -> None:
    """Remove this MCP server from a client's configuration.

    CLIENT is one of those of install. Only our entry goes, and the file as it was is kept beside it.
    """
    _apply_change(plan_uninstall(client), is_dry_run=is_dry_run)


@command()
@runner.page_options()
def servers(*, page: runner.Page) -> None:
    """List the servers of all installed clients, without what they are started with.

    Reads the files of the user and of this folder, and starts nothing. Values of variables, headers, arguments and URLs
    are never shown. tdqs-mcp score --installed scores the servers.
    """
    page.show([installed_clients.servers()], runner.views(list_blocks))


def _apply_change(change: Installation, *, is_dry_run: bool, has_agreed: bool = True, then: str = "") -> None:
    """Show the difference, and write it, on a terminal if the user agrees; `then` is said last."""
    file = shlex.quote(str(change.client.file))
    if not change.difference:
        click.echo(f"{file}: nothing to change")
        return
    click.echo("\n".join([file, *(f"  {visible(line)}" for line in change.difference)]))
    if is_dry_run:
        click.echo("nothing was written (--dry-run)")
        return
    if not runner.agrees("Write this?", has_agreed=has_agreed):
        click.echo("nothing was written")
        return
    backup = change.write()
    backup_note = f"; as it was: {shlex.quote(str(backup))}" if backup else ""
    click.echo(f"written{backup_note}{then}")


@command()
def lsp() -> None:
    """Show findings in an editor while you type (Language Server Protocol over standard input and output).

    It reads what the editor has open: Python, JavaScript and TypeScript that registers tools, and JSON files of
    definitions. docs/editor.md has the settings of VS Code, Neovim, Zed and Helix.
    """
    try:
        from tdqs_mcp.language_server import serve  # noqa: PLC0415
    except ImportError as error:
        raise InputError("the language server needs pygls: pip install '.[lsp]' in a checkout of tdqs-mcp") from error
    serve()
