"""`score --installed`: whether it may start what a project's files name, the report, and its exit code."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.cli import fail
from tdqs_mcp.cli.judge_options import tell_usage
from tdqs_mcp.cli.runner import Page, end, note_incomplete, views, waiting
from tdqs_mcp.errors import InputError
from tdqs_mcp.gate.policy import answered, reaches
from tdqs_mcp.report.registry_reports import installed_blocks
from tdqs_mcp.report.score_report import missed_words
from tdqs_mcp.results.clients import InstalledOutcome, InstalledReport
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.sources.locator import LiveOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What the command line says of installed servers."""

    is_asked: bool
    task: str | None

    def check(self, locators: Sequence[str]) -> None:
        """Refuses locators beside --installed, and its options without it."""
        if self.is_asked and locators:
            raise click.UsageError("--installed scores all servers; leave the locators out")
        if not self.is_asked and self.task is not None:
            raise click.UsageError("--task belongs to --installed")
        if not self.is_asked and not locators:
            raise click.UsageError("Missing argument 'LOCATOR...', or --installed.")

    def score(
        self,
        live: LiveOptions,
        page: Page,
        fail_under: str | None,
        **options: Any,  # noqa: ANN401  # score_installed's
    ) -> None:
        """Prints the report, and ends with 2 if a server failed, or was not looked at and could change the verdict."""
        from tdqs_mcp.app import installed_servers  # noqa: PLC0415  # scoring files goes without

        if live.headers or live.env or live.cwd:
            raise click.UsageError(
                "--header, --env and --cwd belong to one server; its client's configuration has its own"
            )
        agreed = {each.id for each in installed_servers.servers().servers if each.is_project and not each.is_disabled}
        question = f"Files of this folder, not yours, name these servers: {', '.join(sorted(agreed))}. Start them?"
        may_start = bool(agreed) and live.consent(question)
        with waiting().on("capturing and scoring the servers of all clients", at_once=True):
            report = blocking(installed_servers.score_installed)(
                consent=lambda foreign: may_start and {each.id for each in foreign} <= agreed,
                options=live,
                task=self.task,
                **options,
            )
        tell_usage(options["judge"])
        page.show([report], views(installed_blocks))
        _end(report, fail_under)


def _end(report: InstalledReport, fail_under: str | None) -> None:
    failed = [each.server.id for each in report.servers if each.standing is InstalledOutcome.FAILED]
    if failed:
        fail(InputError(f"without a score: {', '.join(failed)}"))
    for each in report.servers:
        if each.standing is InstalledOutcome.NOT_STARTED or each.incomplete:
            note_incomplete(f"{each.server.id!r}: {each.reason or each.incomplete}")
    for problem in report.problems:
        note_incomplete(problem)
    scores = [each.score for each in report.servers if each.score]
    if not scores:
        note_incomplete("any server: none was scored")
    results = [*scores, *([None] if failed else [])]
    if fail_under is None:
        end(results, answered, may_be_partial=True)
    else:
        tier = Tier(fail_under)
        end(results, partial(reaches, tier=tier), missed=lambda score: missed_words(score, tier))
