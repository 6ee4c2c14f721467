"""`lint`, `portability`, and `code`: what the code of each tool does."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import click

from tdqs_mcp.app import linting
from tdqs_mcp.app.catalogs import match_tools
from tdqs_mcp.app.configuration import read_configuration
from tdqs_mcp.app.linting import FAIL_ON, Policy
from tdqs_mcp.cli import command, given_options, group_options, runner
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.gate import known_findings
from tdqs_mcp.model import Catalog
from tdqs_mcp.report import lint_report
from tdqs_mcp.report.blocks import as_markdown, as_text, count_words
from tdqs_mcp.report.escape import printable, readable
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.results.findings import KnownFinding, LintReport, Outcome
from tdqs_mcp.rules.client_rules import CLIENTS
from tdqs_mcp.rules.registry import RULES
from tdqs_mcp.rules.rule import DEFAULT_PROFILE, MAX_NAMED, PROFILES, AnyRule
from tdqs_mcp.sources.locator import LiveOptions

if TYPE_CHECKING:
    from tdqs_mcp.app.improving import Fixed  # linting alone goes without rewriting

_DOCUMENTS = ("markdown", "sarif", "code-scanning", "junit", "github")
"""Formats that hold several servers in one document."""


_client_option = click.option(
    "--client",
    multiple=True,
    metavar="NAME",
    callback=runner.split_names,
    help=f"Only the limits of these clients and model APIs: {', '.join(CLIENTS)}.",
)


def _table(_: click.Context, __: click.Parameter, module: str | None) -> tuple[AnyRule, ...]:
    """All rules, with those of a module that is named."""
    return RULES if module is None else linting.load_rules(module)


_rules_option = click.option(
    "--rules",
    "table",
    metavar="MODULE",
    callback=_table,
    help="Also the rules of this Python module or .py file, whose code runs.",
)


def _complete_rules(_: click.Context, __: click.Parameter, word: str) -> list[str]:
    """Return ids and names of rules."""
    return [name for rule in RULES for name in (rule.id, rule.name) if name.lower().startswith(word.lower())]


def _choice_of_rules(name: str, help: str) -> runner.Option:  # noqa: A002  # click's word
    return click.option(
        name, multiple=True, metavar="RULE", callback=runner.split_names, shell_complete=_complete_rules, help=help
    )


_flags = group_options(
    "flags",
    lambda **flags: {name.replace("_", "-"): value for name, value in flags.items()},
    _choice_of_rules(
        "--select",
        "Only these rules: ids, names, aliases or lanes, such as TDQ104, missing-usage, DESC-003, TDQ5 or ALL.",
    ),
    _choice_of_rules("--ignore", "Not these; spelled as for --select."),
    click.option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        help=f"Instead of {DEFAULT_PROFILE.summary}: "
        f"{'; '.join(f'{name}: {profile.summary}' for name, profile in PROFILES.items())}.",
    ),
    _client_option,
    click.option("--fail-on", type=click.Choice(FAIL_ON), help="Exit 1 on a finding this bad.  [default: error]"),
)
"""The options that a configuration has too, as `flags` with its keys."""


@command()
@runner.locators_argument(required=False)
@_flags
@_rules_option
@runner.config_option
@runner.tools_option("Only these tools.")
@click.option(
    "--show",
    "listing",
    type=click.Choice(["all", "source", "statistics"]),
    help="Instead of what fits on a screen. all: every finding of every tool; source: the same with the part of the "
    "definition; statistics: how often each rule fires, and which tools a search by name does not find.",
)
@click.option("--fix", "fixes", is_flag=True, help="Write back fixes that need no new words, then lint the rest.")
@click.option("--diff", "is_diff", is_flag=True, help="Print what --fix would write as a diff, and write nothing.")
@runner.source_option("rules that hold definitions against their code, and for --fix")
@click.option("--watch", "is_watching", is_flag=True, help="Lint again whenever a file changes; Ctrl-C ends it.")
@click.option("--baseline", type=runner.TARGET, help="Report only findings that are not in this file.")
@click.option("--write-baseline", "renews", is_flag=True, help="Write the findings of this run to the --baseline file.")
@runner.placed_options
@runner.page_options(
    *_DOCUMENTS[1:],
    help="What to print: sarif also lists clean tools, code-scanning leaves them out, since GitHub takes them "
    "for alerts; "
    "junit for test reports, github for annotations of a workflow, markdown for a pull request.",
)
def lint(
    locators: tuple[str, ...],
    *,
    flags: dict[str, Any],
    table: tuple[AnyRule, ...],
    config: Path | None,
    tools: tuple[str, ...] | None,
    listing: str | None,
    fixes: bool,
    is_diff: bool,
    source: Path | None,
    is_watching: bool,
    baseline: Path | None,
    renews: bool,
    live: LiveOptions,
    page: runner.Page,
) -> None:
    """Report what the rules find.

    Several servers are linted as one agent sees them: what two of them share is found as well.

    What flags leave open is read from TDQS_SELECT, TDQS_IGNORE, TDQS_PROFILE, TDQS_CLIENT and TDQS_FAIL_ON, then from
    the nearest tdqs.toml or [tool.tdqs] of pyproject.toml, from the linted file's folder upward, which also sets
    severities, suppresses findings, and names the locator for a bare `tdqs-mcp lint`.
    """
    is_part = baseline is None or tools
    runner.refuse(renews and is_part, "--write-baseline needs --baseline FILE, the file to write, and all tools")
    runner.refuse(is_diff and (fixes or renews), "--diff writes nothing; leave --fix and --write-baseline out")
    locators = runner.configured_locators(locators, live, config)
    if is_watching:
        _watch([*locators, *([str(source)] if source else [])])
    policy = runner.policy_of(flags, table, locators=locators, config=config)
    code = runner.read_code_of(locators, source, live.cwd)
    policy = replace(policy, tools=tools or (), code=code)
    baseline_findings = _known_findings(baseline, is_new=renews)
    loaded = runner.for_each(locators, live, lambda catalog: catalog, doing="reading")
    catalogs = [catalog for catalog in loaded if catalog is not None]
    if catalogs:
        match_tools([tool.name for catalog in catalogs for tool in catalog.tools], policy.tools)
    places = [locator for locator, catalog in zip(locators, loaded, strict=True) if catalog is not None]
    if is_diff:
        has_changes = _print_fixes(places, catalogs, policy, source)
        sys.exit(Outcome.UNKNOWN if None in loaded else Outcome.FAILED if has_changes else Outcome.PASSED)
    if fixes:
        fixed = [_fix(place, catalog, policy, source) for place, catalog in zip(places, catalogs, strict=True)]
        catalogs = [report.catalog for report in fixed]
        listing = listing or (None if any(report.changes for report in fixed) else "summary")
    reports = known_findings.merge_unused_suppressions(linting.lint_together(catalogs, policy))
    if baseline is not None and renews:
        baseline_findings = _renew(baseline, baseline_findings, reports, policy)
    if baseline is not None:
        reports = known_findings.compare_to_baseline(reports, baseline_findings, rules=policy.selection.rules)
    reports = [linting.fold(report, policy) for report in reports]
    file = linting.named_file(read_configuration(Path.cwd()))
    located = [
        replace(
            linting.locate_report(report, catalog, place, code, file),
            arguments=" ".join([runner.copyable_locator(place), *given_options()]),
            fail_on=policy.fail_on,
            rule_count=len(policy.selection.rules),
        )
        for report, catalog, place in zip(reports, catalogs, places, strict=True)
    ]
    missing = [None for report in loaded if report is None]
    if page.form in _DOCUMENTS:
        page.show([located] if located else [], _documents(table))
    else:
        page.show([*located, *missing], _views(listing or ("all" if policy.tools else "screen")))
    if page.form != "text":
        for unused in dict.fromkeys(suppression for report in reports for suppression in report.unused_suppressions):
            runner.warn(lint_report.unused_line(unused))
    limit = policy.fail_on
    gate = None if limit is None else lambda report: known_findings.is_clean(report.findings, limit)
    runner.end([*reports, *missing], gate, may_be_partial=gate is None)


def _watch(locators: Sequence[str]) -> Never:
    """Run the command again whenever one of its files changes, until it is interrupted."""
    from watchfiles import watch  # noqa: PLC0415  # only a person who waits needs it

    paths = [locator for locator in locators if Path(locator).exists()]
    runner.refuse(not paths, "--watch needs a file or a folder to watch")
    context = click.get_current_context()
    changes = watch(*paths, rust_timeout=500, yield_on_timeout=False)
    while True:
        with suppress(SystemExit):  # a finding ends one run, not the watch
            lint.callback(**context.params | {"is_watching": False})  # type: ignore[misc]  # it has one
        click.echo("watching for changes (Ctrl-C ends it)", err=True)
        next(changes)


def _fix(locator: str, catalog: Catalog, policy: Policy, source: Path | None) -> "Fixed":
    """Fix what is certain; standard error says what was written and what is left."""
    fixed = _fixed(locator, catalog, policy, source)
    summary = f"fixed {len(fixed.changes)} in {fixed.place}: {first_of(fixed.changes, MAX_NAMED)}"
    summary = summary if fixed.changes else f"nothing to fix in {fixed.place}"
    words = [
        "tdqs-mcp rewrite",
        runner.copyable_locator(locator),
        *(["--source", shlex.quote(str(source))] if source else []),
    ]
    click.echo(printable(f"{summary}; for what needs words: {' '.join(words)}"), err=True)
    return fixed


def _fixed(locator: str, catalog: Catalog, policy: Policy, source: Path | None, *, is_written: bool = True) -> "Fixed":
    """Return the certain fixes; standard error says what is left."""
    from tdqs_mcp.app.improving import fix  # noqa: PLC0415  # linting alone goes without rewriting

    fixed = fix(catalog, locator, policy, source=source, is_written=is_written)
    for problem in fixed.patch.problems:
        runner.warn(problem)
    runner.tell_left(fixed.patch.left_out)
    return fixed


def _print_fixes(places: Sequence[str], catalogs: Sequence[Catalog], policy: Policy, source: Path | None) -> bool:
    """Print the diff of all fixes, and say on standard error what is left; return whether there is any."""
    pairs = zip(places, catalogs, strict=True)
    diffs = [_fixed(place, catalog, policy, source, is_written=False).patch.diff for place, catalog in pairs]
    if diffs and not any(diffs):
        click.echo(f"nothing to fix in {', '.join(map(runner.shown_locator, places))}", err=True)
    for diff in diffs if sys.stdout.isatty() else ():
        click.echo(readable(diff.decode(errors="replace")), nl=False)
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(b"".join(diffs))
    return any(diffs)


@command()
@click.argument("words", nargs=-1, metavar="[ID]...", shell_complete=_complete_rules)
@_rules_option
@runner.page_options()
def rules(words: tuple[str, ...], *, table: tuple[AnyRule, ...], page: runner.Page) -> None:
    """List the rules by topic, or explain a rule, a lane of rules, a rubric, a dimension, a flag or a tier."""
    if not words:
        page.show([linting.list_rules(table)], runner.views(lint_report.rules_blocks))
        return
    from tdqs_mcp.app.judging import explain  # noqa: PLC0415  # linting goes without judges

    pages = [{"id": word, "page": explain(word, table)} for word in words]
    page.show(pages, {"text": _page_text, "json": dict, "markdown": lambda entry: entry["page"]})


def _page_text(entry: Mapping[str, str]) -> Any:  # noqa: ANN401  # rich is imported where it is used
    from rich.markdown import Markdown  # noqa: PLC0415

    return Markdown(entry["page"]) if sys.stdout.isatty() else entry["page"]


def _views(listing: str) -> dict[str, runner.View]:
    blocks: dict[str, Callable[..., Any]] = {
        "all": lint_report.full_blocks,
        "source": partial(lint_report.full_blocks, has_source=True),
        "statistics": lint_report.statistics_blocks,
        "summary": lint_report.summary_blocks,
        "screen": lint_report.lint_blocks,
    }
    return {
        "text": lambda located: as_text(blocks[listing](located)),
        "json": lambda located: document(located.counted if listing == "statistics" else located.report),
    }


@command()
@runner.locator_argument
@_client_option
@runner.live_options
@runner.page_options()
def portability(locator: str, *, client: tuple[str, ...] | None, live: LiveOptions, page: runner.Page) -> None:
    """Show what each client and model API would take of the tools: kept, renamed, cut or refused.

    Strict modes of model APIs are shown only if --client names them.
    """
    reports = runner.for_each((locator,), live, partial(linting.portability, clients=client or ()))
    page.show(reports, runner.views(lint_report.portability_blocks))
    runner.end(reports, known_findings.is_portable, needs_tools=True)


@command()
@runner.locator_argument
@runner.tools_option("Only these tools: their effects, limits, errors and what could not be followed, line by line.")
@runner.page_options("openai-hints", help="What to print; openai-hints: each hint with file and line as its reason.")
def code(locator: str, *, tools: tuple[str, ...] | None, page: runner.Page) -> None:
    """Read the code of a server's tools: what each does, with file and line.

    LOCATOR is a file, a source tree or an unpacked package in Python, JavaScript or TypeScript, or py:MODULE:OBJECT.
    Nothing is run or imported. What the code does not prove is "unknown".
    """
    from tdqs_mcp.report.code_report import code_blocks, openai_hints  # noqa: PLC0415  # linting goes without

    report = linting.read_own_code(locator)
    if report is None:
        raise InputError(f"{locator!r} is no code: give a folder, a file of Python, JavaScript or TypeScript, or py:")
    names = match_tools([entry.name for entry in report.tools], tools or ())
    document = {"openai-hints": lambda result: json_text(openai_hints(result))}
    page.show([report], runner.views(partial(code_blocks, tools=names)) | document)


def _documents(table: Sequence[AnyRule]) -> dict[str, runner.View]:
    from tdqs_mcp.report.lint_formats import (  # noqa: PLC0415  # what people read goes without XML
        github_text,
        junit_text,
        sarif_document,
    )

    return {
        "markdown": lambda reports: as_markdown(lint_report.comment_blocks(reports)),
        "sarif": lambda reports: json_text(sarif_document(reports, table=table)),
        "code-scanning": lambda reports: json_text(sarif_document(reports, table=table, has_passes=False)),
        "junit": junit_text,
        "github": github_text,
    }


def _known_findings(baseline: Path | None, *, is_new: bool) -> tuple[KnownFinding, ...]:
    """The findings in the baseline file; a missing file counts as empty only if it is about to be written."""
    if baseline is None or (is_new and not baseline.exists()):
        return ()
    if not baseline.exists():
        raise InputError(f"there is no baseline {str(baseline)!r}; add --write-baseline to write it")
    return known_findings.read_baseline(runner.read_json(baseline), origin=repr(str(baseline)))


def _renew(
    baseline: Path, findings: Sequence[KnownFinding], reports: Sequence[LintReport], policy: Policy
) -> tuple[KnownFinding, ...]:
    """Write the findings of this run as the new baseline."""
    renewed = known_findings.renew(findings, reports, rules=policy.selection.rules)
    runner.write(json_text(known_findings.baseline_document(renewed)), baseline)
    click.echo(f"{count_words(len(renewed), 'finding')} in {baseline}; --baseline leaves them out.", err=True)
    return renewed
