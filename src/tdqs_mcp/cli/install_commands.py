"""`servers`, `install` and `uninstall`: the configuration of MCP clients, and our entry in it."""

import shlex

import click

from tdqs_mcp.app.installing import Installation, client_names, plan_install, plan_uninstall
from tdqs_mcp.cli import command
from tdqs_mcp.cli.runner import Page, page_options, views
from tdqs_mcp.report.escape import visible
from tdqs_mcp.report.installed_report import list_blocks

_client_argument = click.argument("client", type=click.Choice(client_names(), case_sensitive=False), metavar="CLIENT")
_dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@command()
@_client_argument
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- SERVE-OPTION...]")
@_dry_run_option
def install(client: str, *, arguments: tuple[str, ...], dry_run: bool) -> None:
    """Add this MCP server to a client's configuration.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex or gemini-cli. The file of the user is
    changed, not the project's: only our entry in it, and the file as it was is kept beside it. What follows -- are
    options of serve, such as --root /home/you/servers. Restart the client where it says so.
    """
    from tdqs_mcp.server.serve import serve  # noqa: PLC0415  # its options, and no server

    # What serve refuses would keep the client from starting it.
    with serve.make_context("tdqs-mcp serve", list(arguments)) as context:
        if any(context.params[name] for name in ("address", "token_file", "allowed_hosts", "allowed_origins")):
            raise click.UsageError("clients start the server over stdio: leave --http and its options out")
    change = plan_install(client, arguments)
    _make(change, is_dry_run=dry_run, then=f". Next, in {change.client.title}: {change.client.then}")


@command()
@_client_argument
@_dry_run_option
def uninstall(client: str, *, dry_run: bool) -> None:
    """Remove this MCP server from a client's configuration.

    CLIENT is one of those of install. Only our entry goes, and the file as it was is kept beside it.
    """
    _make(plan_uninstall(client), is_dry_run=dry_run)


@command()
@page_options()
def servers(*, page: Page) -> None:
    """List the servers of all installed clients, without what they are started with.

    Reads the files of the user and of this folder, and starts nothing. Values of variables, headers, arguments and URLs
    are never shown. tdqs-mcp score --installed scores the servers.
    """
    from tdqs_mcp.app import installed_servers  # noqa: PLC0415  # installing goes without judges

    page.show([installed_servers.servers()], views(list_blocks))


def _make(change: Installation, *, is_dry_run: bool, then: str = "") -> None:
    """Shows the difference, and writes it; `then` is said last."""
    file = shlex.quote(str(change.client.file))
    if not change.difference:
        click.echo(f"{file}: nothing to change")
        return
    click.echo("\n".join([file, *(f"  {visible(line)}" for line in change.difference)]))
    if is_dry_run:
        click.echo("nothing was written (--dry-run)")
        return
    backup = change.write()
    kept = f"; as it was: {shlex.quote(str(backup))}" if backup else ""
    click.echo(f"written{kept}{then}")
