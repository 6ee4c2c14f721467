"""Lane 1, parameters and results: placeholders, restated names, what only the text limits or nothing explains."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tdqs_mcp.facts.schema.walk import Node, Shape, keyword_members, split_pointer
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text import parameter_texts
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule

MAX_QUOTE = 80
"""Characters of a sentence that a message quotes."""

MAX_NAMED = 5
"""Parameters that one message names."""


@rule("TDQ131", severity=Severity.WARNING, dimension="purpose_clarity", source="TDQS, hard gates")
def placeholder_text(subject: Subject) -> Iterator[Hit]:
    """A description only says that somebody still has to write it."""
    text = subject.tool.description or ""
    if parameter_texts.is_placeholder(text, subject.tool.name) and text.strip():
        yield Hit("/description", f"the description is a placeholder: {text.strip()!r}", "write the description")
    elif unwritten := parameter_texts.find_unwritten(subject.prose):
        yield Hit(
            "/description", f"a sentence is a placeholder: {unwritten[:MAX_QUOTE]!r}", "write it, or leave it out"
        )
    for remarks in (subject.remarks, parameter_texts.read_remarks(subject.output_shape)):
        for node, said in parameter_texts.placeholders(remarks):
            yield Hit(
                f"{node.path}/description",
                f"{node.name!r}: the description is a placeholder: {said.strip()!r}",
                "say what the value means, or leave the description out",
            )


@rule("TDQ132", severity=Severity.INFO, dimension="parameter_semantics", source="TDQS, checklist 4")
def restated_parameter(subject: Subject) -> Iterator[Hit]:
    """A parameter's description has no word that its name does not have."""
    for node, said in parameter_texts.restated(subject.remarks):
        yield Hit(
            f"{node.path}/description",
            f"{node.name!r}: the description {said.strip()!r} only restates the name",
            "say meaning, format and an example, or where the value comes from",
        )


@rule("TDQ133", severity=Severity.INFO, dimension="parameter_semantics", source="TDQS, checklist 4")
def undescribed_nested_property(subject: Subject) -> Iterator[Hit]:
    """Properties inside a parameter have no description."""
    silent = list(parameter_texts.undescribed(subject.input_shape, is_nested=True))
    if silent:
        yield _silent(silent, ("nested property", "nested properties"), "describe each; the agent has to fill it in")


@rule("TDQ134", severity=Severity.INFO, dimension="contextual_completeness", source="TDQS, checklist 5")
def undescribed_result_field(subject: Subject) -> Iterator[Hit]:
    """Fields of the output schema have no description, and no text around them explains them."""
    shape, text = subject.output_shape, subject.tool.description or ""
    fields = parameter_texts.undescribed_fields(shape, text)
    silent = [each for each in fields if not (each.is_top and _is_wrapped(shape))]
    if silent:
        yield _silent(silent, ("result field", "result fields"), "say what each contains, with its unit or format")


def _is_wrapped(shape: Shape) -> bool:
    """The object that a framework puts around a result."""
    return keyword_members(shape.root).keys() == {"result"}


def _silent(nodes: Sequence[Node], what: tuple[str, str], suggestion: str) -> Hit:
    names = first_of([_dotted(node.path) for node in nodes], MAX_NAMED)
    one, several = what
    count = f"1 {one} has" if len(nodes) == 1 else f"{len(nodes)} {several} have"
    return Hit(nodes[0].path, f"{count} no description: {names}", suggestion)


def _dotted(path: str) -> str:
    """A property as people write it: `order.items.price`."""
    steps = split_pointer(path)
    return ".".join(name for key, name in pairwise(steps) if key in ("properties", "$defs"))


@rule("TDQ135", severity=Severity.INFO, dimension="parameter_semantics", source="JSON Schema 2020-12, validation")
def unenforced_range(subject: Subject) -> Iterator[Hit]:
    """The range of a number is only in its description, where no client can check it."""
    for node, said in parameter_texts.unenforced_limits(subject.remarks):
        yield Hit(
            f"{node.path}/description",
            f"{node.name!r}: the range {said!r} is only in the text",
            "add minimum and maximum to the schema",
        )


@rule(
    "TDQ136",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, default",
)
def unenforced_default(subject: Subject) -> Iterator[Hit]:
    """The default of an optional number or boolean is only in its description."""
    for node, said in parameter_texts.unenforced_defaults(subject.remarks):
        yield Hit(
            f"{node.path}/description", f"{node.name!r}: the default {said} is only in the text", "add it to the schema"
        )


@rule("TDQ137", severity=Severity.INFO, persona=Persona.AUDITOR, source="MCP specification, Tool, title")
def untitled_tools(measured: Measured) -> Iterator[Hit]:
    """A tool has no title, so clients show people its name; one finding if no tool of the server has a title."""
    tools = [tool for tool in measured.catalog.tools if tool.name]
    silent = [tool for tool in tools if relations.display_name(tool) is None]
    suggestion = "add a title in a few plain words"
    if len(silent) == len(tools) > 1:
        yield Hit("", f"none of the {len(tools)} tools has a title", suggestion)
    else:
        for tool in silent:
            yield Hit("/title", "the tool has no title", suggestion, part=tool)


@rule(
    "TDQ243",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    dimension="parameter_semantics",
    source="TDQS, parameter semantics",
)
def contradicted_unit(subject: Subject) -> Iterator[Hit]:
    """A parameter's description has one unit; its name, its title or another text about it has another."""
    for clash in parameter_texts.find_unit_clashes(subject.remarks, subject.prose.sentences):
        yield Hit(
            f"{clash.node.path}/description",
            f"{clash.node.name!r}: the text says {clash.said}, {clash.place} says {clash.other}",
            "use the unit that the server expects in both",
        )
