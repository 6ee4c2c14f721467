"""What can be said of a catalog without a judge's score: token costs, a grade, prompts, a suite's checks."""

from typing import Any

from tdqs_mcp.errors import UnknownIdError
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.schema.tokens import Cost
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.text.words import some_names
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.documents import dimension_page, prompts_document, rule_page, term_page
from tdqs_mcp.results.labels import ServerGrade
from tdqs_mcp.rubrics.rubric import RUBRICS
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry
from tdqs_mcp.scoring import label_rubrics as grading
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC


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
