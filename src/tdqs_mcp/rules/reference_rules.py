"""Lane 3, what texts refer to: missing tools and parameters, one-sided boundaries, tools that rank themselves."""

from collections.abc import Iterator

from tdqs_mcp.facts.catalog import orders
from tdqs_mcp.facts.catalog.unknown_parameters import unknown_parameters
from tdqs_mcp.facts.catalog.unknown_tools import unknown_tools
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.rules.rule import Hit, rule


@rule(
    "TDQ320",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    dimension="usage_guidelines",
    source="TDQS, usage guidelines",
)
def unknown_tool(measured: Measured) -> Iterator[Hit]:
    """A text sends the agent to a tool that the server does not have."""
    if len(measured.catalog.tools) < 2:
        return  # a single definition says nothing about the rest of its catalog
    words = measured.vocabulary
    for subject in measured.subjects:
        for mention in unknown_tools(subject.strangers, subject.texts, subject.part_names, words):
            yield Hit(
                mention.path,
                f"there is no tool {mention.name!r}: {mention.words!r}",
                "name a tool that exists, or say what to do without it",
                part=subject.tool,
            )


@rule(
    "TDQ321",
    aliases=("described-not-in-schema",),
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    dimension="parameter_semantics",
    source="TDQS, parameter semantics",
)
def unknown_parameter(measured: Measured) -> Iterator[Hit]:
    """A text explains or asks for a parameter that the schema does not have."""
    words = measured.vocabulary
    for subject in measured.subjects:
        for mention in unknown_parameters(subject.strangers, subject.texts, subject.part_names, words):
            yield Hit(
                mention.path,
                f"there is no parameter {mention.name!r}: {mention.words!r}",
                "name a parameter of the schema, or add this one",
                part=subject.tool,
            )


@rule(
    "TDQ322",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    dimension="usage_guidelines",
    source="TDQS, coherence: disambiguation",
)
def one_sided_boundary(measured: Measured) -> Iterator[Hit]:
    """A tool sends the agent to a sibling, and the sibling does not name it in return."""
    named = {subject.tool.name: frozenset(subject.mentions) for subject in measured.subjects}
    for subject in measured.subjects:
        for other in orders.one_sided(subject.tool.name, subject.mentions, subject.redirect, named):
            yield Hit(
                "/description",
                f"it sends the agent to {other!r}, which does not name {subject.tool.name!r}",
                f"say in {other!r} when {subject.tool.name!r} is the better choice",
                part=subject.tool,
            )


@rule(
    "TDQ323",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    dimension="usage_guidelines",
    source="TDQS, shadowing",
)
def ranking_order(subject: Subject) -> Iterator[Hit]:
    """The description ranks its tool above all others instead of saying what it is for."""
    for words in orders.orders(subject.prose.sentences, subject.prose.words):
        yield Hit(
            "/description",
            f"{words!r} ranks the tool above all others",
            "say which task it fits and which sibling fits the others",
        )


TOOL_RULES = (ranking_order,)
SERVER_RULES = (unknown_tool, unknown_parameter, one_sided_boundary)
