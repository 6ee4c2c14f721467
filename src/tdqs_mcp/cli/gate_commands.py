"""`gate` and `lock`: hold servers in CI to a suite, and to what agents saw of them when they were locked."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from tdqs_mcp.app import gating
from tdqs_mcp.app.catalogs import blocking, list_again
from tdqs_mcp.app.judging import score_blocking
from tdqs_mcp.app.settings import ALL_PARTS
from tdqs_mcp.cli import command, runner
from tdqs_mcp.cli.judge_options import accept_option
from tdqs_mcp.gate.policy import decide, is_locked
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.improvement_reports import lock_blocks
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.lint_formats import gate_blocks, gate_junit
from tdqs_mcp.results.checks import GateReport
from tdqs_mcp.results.comparisons import Impact, LockReport
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.sources.locator import LiveOptions


def _report_changes(
    locators: tuple[str, ...], live: LiveOptions, use: Callable[[Catalog, Catalog | None], LockReport]
) -> list[LockReport | None]:
    """The report on each locator, with a second listing of a live server."""

    def listed(catalog: Catalog, locator: str) -> LockReport:
        return use(catalog, blocking(list_again)(locator, live))

    return [
        report
        for locator in locators
        for report in runner.for_each((locator,), live, partial(listed, locator=locator), doing="locking")
    ]


@command()
@runner.locators_argument()
@click.option(
    "--lock",
    "path",
    type=runner.TARGET,
    default="tdqs.lock",
    show_default=True,
    help="The lock; it may hold several servers.",
)
@click.option(
    "--check", "is_check", is_flag=True, help="Write nothing: say what has changed since the server was locked."
)
@accept_option("Lock the changes of this part, such as tool:NAME; *: all changes, and renew the scores.")
@click.option(
    "--allow",
    multiple=True,
    type=click.Choice([*map(str, Impact), "nothing"]),
    help="Keep in the lock that --check lets changes of this impact pass.",
)
@runner.source_option("pinning what it does, or comparing that with the lock")
@runner.attest_option("; with --check, first check the signed one there")
@runner.key_option("the private key that signs it, or with --check the public one")
@runner.live_options
@runner.page_options()
def lock(
    locators: tuple[str, ...],
    *,
    path: Path,
    is_check: bool,
    source: Path | None,
    attestation: Path | None,
    key: Path | None,
    accept: tuple[str, ...],
    allow: tuple[str, ...],
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Pin what agents see of a server, and say with --check what has changed since.

    Pinned are tools, instructions, prompts, resources, icons and _meta. A server that is in the lock already stays as
    it was, but for what --accept takes; exit code 1 if other changes are left. Scores of the offline judge, with
    specification and calibration, are in the lock for information.

    --check tells breaking, dangerous and compatible changes from new wording; exit code 1 if anything changed that the
    lock does not allow. Dangerous are new orders to the agent, new hosts, hidden characters and text, hints that now
    rule out a risk or no longer do (unless the code proves them), new tools, changed instructions, icons and _meta.
    The order of keys, of listings and of required is no change; neither is a new calibration, nor a new version of the
    server. A live server is started and listed twice.
    """
    runner.refuse(is_check and attestation and not key, "--check --attest needs --key, the public key")
    runner.refuse(attestation and not is_check and len(locators) != 1, "--attest writes about one server; give one")
    runner.refuse(key and not attestation, "--key belongs to --attest")
    if is_check:
        runner.refuse(accept or allow, "--check changes nothing; leave --accept and --allow out")
        if attestation and key:
            _check_proof(locators, live, attestation, key)
        _check(locators, live, path, source, page)
        return
    code = runner.read_code_of(locators, source)
    renewed = [gating.read_lock(path) if path.exists() else gating.EMPTY_LOCK]

    def pin(catalog: Catalog, again: Catalog | None) -> LockReport:
        lock, report = blocking(gating.lock)(
            catalog,
            renewed[-1],
            again=again,
            accept=None if ALL_PARTS in accept else accept,
            allow=[Impact(impact) for impact in allow if impact != "nothing"] if allow else None,
            code=code,
        )
        if attestation:
            score = score_blocking(catalog)
            gating.write_attestation(attestation, catalog, score, key=key, code=code)
        renewed.append(lock)
        return report

    reports = _report_changes(locators, live, pin)
    if renewed[-1] != renewed[0]:
        runner.write(json_text(document(renewed[-1])), path)
        is_left = any(report and report.has_open_changes for report in reports)
        rest = "--accept the changes that are left, or take them back" if is_left else "commit it; --check it in CI"
        click.echo(f"{path} is written. Next: {rest}.", err=True)
    page.show(reports, runner.views(partial(lock_blocks, is_lock=True)))
    runner.end(reports, lambda report: Outcome.FAILED if report.has_open_changes else Outcome.PASSED)


def _check_proof(locators: tuple[str, ...], live: LiveOptions, proof: Path, key: Path) -> None:
    """Say who attested which score. Raises InputError for an attestation that is not of these catalogs by this key."""

    def check(catalog: Catalog) -> str:
        predicate = gating.check_attestation(proof, catalog, key=key)
        score, tier = (predicate.get(name) for name in ("overallScore", "overallTier"))
        return f"{catalog.server}: {score} {tier} by {predicate.get('generatedBy')}, signed with the key of {key}"

    proofs = runner.for_each(locators, live, check, doing="checking the attestation of")
    if None in proofs:
        runner.end(proofs)  # with 2: the reasons are printed
    for words in proofs:
        click.echo(printable(str(words)), err=True)


def _check(locators: tuple[str, ...], live: LiveOptions, path: Path, source: Path | None, page: runner.Page) -> None:
    """Compare servers with the lock; 1 if anything changed that it does not allow."""
    locked, code = gating.read_lock(path), runner.read_code_of(locators, source)
    reports = _report_changes(
        locators, live, lambda catalog, again: gating.verify(catalog, locked, again=again, code=code)
    )
    page.show(reports, runner.views(lock_blocks))
    runner.end(reports, is_locked)


@command()
@click.argument("suite", type=runner.TARGET, metavar="SUITE.yml")
@runner.page_options("junit")
def gate(suite: Path, *, page: runner.Page) -> None:
    """Check servers against the tool_quality entries of a suite, one row each."""
    rows = blocking(gating.run_suite)(suite, LiveOptions())
    page.show([GateReport(suite=str(suite), rows=tuple(rows))], runner.views(gate_blocks) | {"junit": gate_junit})
    sys.exit(decide(rows))
