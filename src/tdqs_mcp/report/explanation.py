"""A rule, a dimension, a flag or a tier as one Markdown page."""

from collections.abc import Sequence

from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Persona
from tdqs_mcp.rubrics.rubric import Dimension, Rubric, Term
from tdqs_mcp.rules.rule import Rule


def rule_page(rule: Rule[Subject] | Rule[Measured]) -> str:
    """The rule's page below its metadata, which stands in the code alone."""
    title, _, body = rule.page.partition("\n")
    facts = [
        f"severity {rule.severity}",
        f"confidence {rule.confidence}",
        *(["for auditors"] if rule.persona is Persona.AUDITOR else []),
        *([f"dimension {rule.dimension}"] if rule.dimension else []),
        f"source {rule.source}",
        *([f"also known as {', '.join(rule.aliases)}"] if rule.aliases else []),
    ]
    return f"{title}\n\n{rule.summary}\n\n{'; '.join(facts)}\n{body}"


def dimension_page(rubric: Rubric, dimension: Dimension, rules: Sequence[Rule[Subject] | Rule[Measured]]) -> str:
    """What a dimension asks, what its scores mean, and the rules that speak of it."""
    anchors = "\n".join(f"{score}. {anchor}" for score, anchor in enumerate(dimension.anchors, start=1))
    related = f"\nRules: {', '.join(f'{rule.id} {rule.name}' for rule in rules)}\n" if rules else ""
    share = f"{dimension.weight}%" if dimension.weight else f"One of {len(rubric.dimensions)} equal parts"
    return (
        f"# {dimension.key}: {dimension.title}\n\n{dimension.question} {share} of {rubric.title}.\n\n"
        f"## Scores\n\n{anchors}\n\n## Bad\n\n> {dimension.bad}\n\n## Good\n\n> {dimension.good}\n{related}"
    )


def term_page(term: Term) -> str:
    """What a flag or a tier means."""
    return f"# {term.title}\n\n{term.meaning}\n\n## Bad\n\n> {term.bad or '(nothing)'}\n\n## Good\n\n> {term.good}\n"
