"""What can be said of a catalog without a judge's score: token costs, a grade, prompts, a suite's checks."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tdqs_mcp.app.catalogs import load
from tdqs_mcp.app.judging import DEFAULT_SPEC, score_measured
from tdqs_mcp.errors import TdqsError, UnknownIdError
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.schema.tokens import Cost
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.gate import suite
from tdqs_mcp.gate.targets import Evidence
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.documents import dimension_page, prompts_document, rule_page, term_page
from tdqs_mcp.results.checks import GateRow
from tdqs_mcp.results.labels import ServerGrade
from tdqs_mcp.rubrics.rubric import RUBRICS
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry
from tdqs_mcp.scoring import foreign_scores as grading
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.locator import LiveOptions


def costs(catalog: Catalog) -> list[tuple[str, Cost]]:
    """Each tool's name with its tokens and bytes by field; tools nested too deeply to be measured are left out."""
    return [(subject.tool.name, tokens.field_costs(subject.tool)) for subject in measure(catalog).subjects]


def grade(catalog: Catalog) -> ServerGrade:
    """A catalog's score of 100 and letter by MCP Playground's methodology."""
    return grading.grade(measure(catalog))


def explain(name: str) -> str:
    """The Markdown page of a rule, a dimension, a flag or a tier. Raises UnknownIdError, which lists what there is."""
    wanted = name.strip().lower().replace("-", " ").replace("_", " ")
    for key in RUBRICS:
        rubric = load_rubric(key)
        for dimension in rubric.dimensions:
            if wanted in (dimension.key.replace("_", " "), dimension.title.lower()):
                return dimension_page(
                    rubric, dimension, [rule for rule in registry.RULES if rule.dimension == dimension.key]
                )
        for term in rubric.flags + rubric.tiers:
            if name.strip().lower() == term.title.lower():
                return term_page(term)
    try:
        return rule_page(registry.find(name.strip()))
    except UnknownIdError as error:
        dimensions = dict.fromkeys(key for each in RUBRICS for key in load_rubric(each).keys)
        known = [*(rule.id for rule in registry.RULES), *dimensions]
        raise UnknownIdError(
            f"there is nothing to explain under {name!r}; try one of {', '.join(known)}, a flag or a tier"
        ) from error


def prompts(
    catalog: Catalog,
    *,
    tool: str | None = None,
    spec: str = DEFAULT_SPEC,
    rubric: str = "tdqs",
    skill: str | None = None,
) -> dict[str, Any]:
    """The exact prompts that a judge would get, in the shape of `prompts --format json`. Raises UnknownIdError."""
    if tool is not None and tool not in {each.name for each in catalog.tools}:
        raise UnknownIdError(
            f"there is no tool {tool!r}; the catalog has {some_names(each.name for each in catalog.tools)}"
        )
    return prompts_document(measure(catalog), tool=tool, spec=spec, rubric=rubric, skill=skill)


def some_names(names: Iterable[str]) -> str:
    """The first names of a catalog, for a message about one that it does not have."""
    return first_of([repr(name) for name in names if name], 8) or "no named tool"


async def run_suite(path: Path, options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite in a YAML file.

    Every server is captured once; if that fails, its rows say why and the others are checked all the same. Raises
    InputError, which says line and key, for a file that is not a suite.
    """
    read = suite.parse(read_text(path), origin=repr(str(path)))
    servers = read.used_servers.items()
    found = {name: await _evidence(name, server, options or LiveOptions()) for name, server in servers}
    return [suite.check(entry, found[entry.server]) for entry in read.tool_quality]


async def _evidence(name: str, server: suite.Server, options: LiveOptions) -> Evidence | str:
    """The facts and score of a suite's server, or why it could not be captured."""
    try:
        locator, headers, env = server.locate(name, os.environ)
        chosen = replace(
            options, headers=headers, env=env, cwd=server.cwd or options.cwd, timeout=server.timeout or options.timeout
        )
        catalog = await load(locator, chosen)
    except TdqsError as error:
        return str(error)
    if catalog.incomplete:
        return f"the list of tools is incomplete: {catalog.incomplete}"
    measured = measure(catalog)
    return Evidence(measured=measured, score=await score_measured(measured, judge=Offline()))
