"""`lint`, and `portability`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from tdqs_mcp.app import linting
from tdqs_mcp.app.linting import FAIL_ON, Choice, Policy
from tdqs_mcp.cli import command
from tdqs_mcp.cli.runner import (
    TARGET,
    Page,
    View,
    end,
    for_each,
    live_options,
    page_options,
    policy_of,
    read_json,
    reporter,
    views,
    warn,
    write,
)
from tdqs_mcp.errors import InputError
from tdqs_mcp.gate.known_findings import baseline_document, compare_to_baseline, is_clean, read_baseline, renew, settle
from tdqs_mcp.gate.policy import is_portable
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.report.lint_report import LocatedReport, unused_line
from tdqs_mcp.results.findings import KnownFinding, LintReport
from tdqs_mcp.rules.clients import CLIENTS
from tdqs_mcp.rules.rule_profiles import DEFAULT as DEFAULT_PROFILE
from tdqs_mcp.rules.rule_profiles import PROFILES
from tdqs_mcp.sources.locator import LiveOptions

_VIEWS = views("lint_report:lint_blocks")
_PORTABILITY = views("portability_report:portability_blocks")
_DOCUMENTS = ("markdown", "sarif", "junit", "github")
"""Formats that hold several servers in one document."""


def _split(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
    """The words of an option that is given again or with commas; None if it is not given."""
    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    return words or None


_client_option = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="NAME",
    callback=_split,
    help=f"Only the limits of these clients and model APIs: {', '.join(CLIENTS)}.",
)


@command()
@click.argument("locators", nargs=-1, required=True, metavar="LOCATOR...")
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    callback=_split,
    help="Only these rules: ids, names, aliases or lanes, such as TDQ104, missing-usage, DESC-003, TDQ5 or DESC.",
)
@click.option("--ignore", multiple=True, metavar="RULE", callback=_split, help="Not these; spelled as for --select.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help=f"Instead of {DEFAULT_PROFILE.summary}: "
    f"{'; '.join(f'{name}: {profile.summary}' for name, profile in PROFILES.items())}.",
)
@_client_option
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="Exit 1 on a finding this bad.  [default: error]")
@click.option("--baseline", type=TARGET, help="Report only findings that are not in this file.")
@click.option("--write-baseline", "renews", is_flag=True, help="Write the findings of this run to the --baseline file.")
@live_options
@page_options(
    *_DOCUMENTS[1:],
    help="What to print: sarif for code scanning, junit for test reports, github for annotations of a workflow, "
    "markdown for a pull request.",
)
def lint(
    locators: tuple[str, ...],
    *,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    profile: str | None,
    clients: tuple[str, ...] | None,
    fail_on: str | None,
    baseline: Path | None,
    renews: bool,
    live: LiveOptions,
    page: Page,
) -> None:
    """Report what the rules find.

    What flags leave open is read from TDQS_SELECT, TDQS_IGNORE, TDQS_PROFILE, TDQS_CLIENT and TDQS_FAIL_ON, then from
    the nearest tdqs.toml or [tool.tdqs] of pyproject.toml, which also sets severities and suppresses findings.
    """
    if renews and baseline is None:
        raise click.UsageError("--write-baseline needs --baseline FILE, the file to write")
    policy = policy_of(Choice(select=select, ignore=ignore, profile=profile, clients=clients, fail_on=fail_on))
    known = _known_findings(baseline, is_new=renews)
    found = for_each(locators, live, partial(linting.lint, policy=policy))
    reports = settle([report for report in found if report is not None])
    if baseline is not None and renews:
        known = _renew(baseline, known, reports, policy)
    if baseline is not None:
        reports = compare_to_baseline(reports, known, rules=policy.selection.rules)
    results = [*reports, *(None for report in found if report is None)]
    if page.form in _DOCUMENTS and reports:
        places = [locator for locator, report in zip(locators, found, strict=True) if report is not None]
        located = [linting.locate_report(report, place) for report, place in zip(reports, places, strict=True)]
        page.show([located], _documents(policy))
    elif reports:
        page.show(results, _VIEWS)
    if page.form != "text":
        for unused in dict.fromkeys(each for report in reports for each in report.unused_suppressions):
            warn(unused_line(unused))
    limit = policy.fail_on
    end(results, None if limit is None else lambda report: is_clean(report.findings, limit))


@command()
@click.argument("locator", metavar="LOCATOR")
@_client_option
@live_options
@page_options()
def portability(locator: str, *, clients: tuple[str, ...] | None, live: LiveOptions, page: Page) -> None:
    """Show what each client and model API would take of the tools: kept, renamed, cut or refused."""
    reports = for_each((locator,), live, partial(linting.portability, clients=clients or ()))
    page.show(reports, _PORTABILITY)
    end(reports, is_portable)


def _documents(policy: Policy) -> dict[str, View]:
    def comment(reports: Sequence[LocatedReport]) -> str:
        blocks = reporter("lint_report:comment_blocks")([located.report for located in reports])
        return str(reporter("blocks:as_markdown")(blocks))

    return {
        "markdown": comment,
        "sarif": lambda reports: json_text(reporter("lint_formats:sarif_document")(reports)),
        "junit": partial(reporter("lint_formats:junit_text"), fail_on=policy.fail_on),
        "github": "lint_formats:github_text",
    }


def _known_findings(baseline: Path | None, *, is_new: bool) -> tuple[KnownFinding, ...]:
    """The findings in the baseline file; a missing file counts as empty only if it is about to be written."""
    if baseline is None or (is_new and not baseline.exists()):
        return ()
    if not baseline.exists():
        raise InputError(f"there is no baseline {str(baseline)!r}; add --write-baseline to write it")
    return read_baseline(read_json(baseline), origin=repr(str(baseline)))


def _renew(
    baseline: Path, known: Sequence[KnownFinding], reports: Sequence[LintReport], policy: Policy
) -> tuple[KnownFinding, ...]:
    """Write the findings of this run as the new baseline."""
    renewed = renew(known, reports, rules=policy.selection.rules)
    write(json_text(baseline_document(renewed)), baseline)
    click.echo(f"{len(renewed)} findings in {baseline}; with --baseline, only others are reported.", err=True)
    return renewed
