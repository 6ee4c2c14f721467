"""What can be said of a catalog without a judge."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tdqs_mcp.app.configuration import Policy
from tdqs_mcp.app.scoring import DEFAULT_SPEC, Score
from tdqs_mcp.errors import UnknownIdError
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.schema.tokens import Cost
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.gate import suppress
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.documents import prompts_document
from tdqs_mcp.report.explanation import dimension_page, rule_page, term_page
from tdqs_mcp.results.findings import LintReport
from tdqs_mcp.results.grades import ServerGrade
from tdqs_mcp.rubrics.rubric import RUBRICS
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry

DEFAULT_POLICY = Policy()


def lint(catalog: Catalog, policy: Policy = DEFAULT_POLICY) -> LintReport:
    """The findings about a catalog that a policy asks for, and how many it hides and suppresses."""
    measured, selection = measure(catalog), policy.selection
    findings = tuple(registry.check(measured, selection))
    report = LintReport(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        tools=tuple(tool.name for tool in catalog.tools),
        findings=findings,
        problems=catalog.problems,
        hidden=registry.count_hidden(measured, selection, findings),
    )
    return suppress(report, policy.suppressions, rules=selection.rules)


def under(policy: Policy, score: Score, catalog: Catalog) -> Score:
    """A catalog's score with the findings that a policy asks for; no number depends on them."""
    return score if policy == DEFAULT_POLICY else replace(score, findings=lint(catalog, policy).findings)


def costs(catalog: Catalog) -> list[tuple[str, Cost]]:
    """Each tool's name with its tokens and bytes by field; tools nested too deeply to be measured are left out."""
    return [(subject.tool.name, tokens.field_costs(subject.tool)) for subject in measure(catalog).subjects]


def grade(catalog: Catalog) -> ServerGrade:
    """A catalog's score of 100 and letter by MCP Playground's methodology."""
    from tdqs_mcp.scoring import foreign_scores as grading  # noqa: PLC0415  # nothing but this needs it

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
