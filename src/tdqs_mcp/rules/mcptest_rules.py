"""mcptest's description lint, DESC-001 to DESC-013, each exactly as its page defines it."""

from collections.abc import Iterator
from functools import partial

from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.wording import (
    count_characters,
    find_position,
    has_verb,
    is_english,
    is_latin,
    is_name,
    mentions_result,
)
from tdqs_mcp.results.findings import Confidence, Persona
from tdqs_mcp.rules.rule import Hit, foreign_rule, rule
from tdqs_mcp.rules.rule_profiles import MCPTEST

SHORTEST = 20
"""Characters of a description (DESC-001)."""

LONGEST = 500
"""Characters of a description (DESC-002)."""

MAX_LISTED = 5
"""Values that a message spells out."""

MAX_VALUE = 40
"""Characters of each."""


_mcptest = partial(foreign_rule, "mcptest", MCPTEST, persona=Persona.AUDITOR)
"""A rule that mcptest has under a code."""


@_mcptest("TDQ113", "DESC-001", dimension="purpose_clarity", entails=("TDQ127", "TDQ141"))
def brief_description(subject: Subject, *, limit: int = SHORTEST) -> Iterator[Hit]:
    """The description is empty or has fewer than 20 characters."""
    length = count_characters(subject.tool)
    if length < limit:
        yield Hit(
            "/description",
            f"the description has {length} characters, fewer than {limit}",
            "say verb, resource and scope in one sentence",
        )


@_mcptest("TDQ114", "DESC-002", dimension="conciseness_structure", entails=("TDQ128",))
def long_description(subject: Subject, *, limit: int = LONGEST) -> Iterator[Hit]:
    """The description has more than 500 characters."""
    length = count_characters(subject.tool)
    if length > limit:
        yield Hit(
            "/description",
            f"the description has {length} characters, more than {limit}",
            "move what belongs to one parameter, and what a schema can enforce, into inputSchema",
        )


@_mcptest("TDQ115", "DESC-003", dimension="purpose_clarity", entails=("TDQ129",))
def verbatim_name(subject: Subject) -> Iterator[Hit]:
    """The description equals the tool's name."""
    if is_name(subject.tool):
        yield Hit(
            "/description",
            f"the description is the name {subject.tool.name!r}",
            "say verb, resource and scope in one sentence, and how the tool differs from its siblings",
        )


@_mcptest("TDQ116", "DESC-004", confidence=Confidence.LOW, dimension="purpose_clarity")
def absent_verb(subject: Subject) -> Iterator[Hit]:
    """The description has no common verb, so an agent cannot tell what kind of tool it is."""
    if (
        not _is_silent(subject)
        and is_english(subject.tool, subject.prose)
        and not has_verb(subject.tool, subject.prose)
    ):
        yield Hit("/description", "the description has no common verb", "open with the verb for what the tool does")


@_mcptest("TDQ117", "DESC-005", confidence=Confidence.LOW, dimension="usage_guidelines")
def positional_phrase(subject: Subject) -> Iterator[Hit]:
    """The description points to a place in a list of tools that no agent sees in that order."""
    phrase = find_position(subject.prose)
    if phrase:
        yield Hit(
            "/description",
            f"{phrase!r} points to a position, but tools have no fixed order",
            "name the tool or the parameter that is meant",
        )


@_mcptest("TDQ118", "DESC-006", dimension="parameter_semantics")
def undescribed_requirement(subject: Subject) -> Iterator[Hit]:
    """A required argument has no description in the schema."""
    for name in arguments.undescribed_required(subject.tool):
        yield Hit(
            arguments.property_pointer(name),
            f"the required argument {name!r} has no description",
            "describe its meaning and format in the schema",
        )


@_mcptest("TDQ119", "DESC-007", confidence=Confidence.MEDIUM, dimension="parameter_semantics")
def unmentioned_choices(subject: Subject) -> Iterator[Hit]:
    """An argument has an enum and a description that mentions none of its values."""
    for name, values in arguments.unmentioned_choices(subject.tool):
        yield Hit(
            arguments.property_pointer(name),
            f"the description of {name!r} mentions none of its values: {_listed(values)}",
            "say what each value does",
        )


@_mcptest("TDQ120", "DESC-008", dimension="conciseness_structure")
def inverted_density(subject: Subject) -> Iterator[Hit]:
    """An argument's description is longer than the tool's."""
    limit = count_characters(subject.tool)
    for name, length in arguments.lengths(subject.tool):
        if length > limit:
            yield Hit(
                arguments.property_pointer(name),
                f"the description of {name!r} has {length} characters, the tool's has {limit}",
                "say in the tool's description what the tool is for, and in the argument's only what it means",
            )


@_mcptest("TDQ121", "DESC-009", dimension="parameter_semantics")
def missing_examples(subject: Subject) -> Iterator[Hit]:
    """The arguments are not trivial, and nothing shows a value that an agent could copy."""
    if not arguments.is_trivial(subject.tool) and not arguments.has_example(subject.tool):
        yield Hit(
            "/inputSchema",
            "neither the tool nor an argument gives an example or a default",
            "add an examples array or a default to the arguments that are hardest to guess",
        )


@_mcptest("TDQ122", "DESC-010", confidence=Confidence.MEDIUM, dimension="contextual_completeness")
def unmentioned_result(subject: Subject) -> Iterator[Hit]:
    """The description has no word for a result, and there is no output schema."""
    tool = subject.tool
    if _is_silent(subject) or tool.output_schema is not None or not is_latin(tool):
        return
    if not mentions_result(tool):
        yield Hit(
            "/description",
            "the description has no word such as returns, output or result, and there is no output schema",
            "add one sentence that starts with Returns, or an output schema",
        )


@rule(
    "TDQ210",
    aliases=("DESC-011",),
    severity=MCPTEST["DESC-011"],
    dimension="behavioral_transparency",
    source="MCP specification, ToolAnnotations; mcptest, DESC-011",
    entails=("TDQ106",),
)
def non_boolean_hint(subject: Subject) -> Iterator[Hit]:
    """A hint is declared with a value that is not a boolean, so clients drop it."""
    declared = subject.tool.annotations or {}
    for hint in HINTS:
        if hint in declared and not isinstance(declared[hint], bool):
            yield Hit(f"/annotations/{hint}", f"{hint} is not a boolean", "write true or false, or leave the hint out")


@_mcptest("TDQ123", "DESC-012", dimension="behavioral_transparency")
def absent_annotations(subject: Subject) -> Iterator[Hit]:
    """The tool has no annotations object, not even an empty one."""
    if subject.tool.annotations is None:
        yield Hit(
            "/annotations",
            "there is no annotations object",
            "declare readOnlyHint, destructiveHint, idempotentHint and openWorldHint as booleans",
        )


@_mcptest("TDQ124", "DESC-013", confidence=Confidence.MEDIUM, persona=Persona.AUTHOR, dimension="parameter_semantics")
def choices_in_prose(subject: Subject) -> Iterator[Hit]:
    """A text argument lists its allowed values in prose, where no client can enforce them."""
    for name, words in arguments.choices_in_prose(subject.tool):
        yield Hit(
            arguments.property_pointer(name),
            f"the description of {name!r} announces a closed list ({words!r}), and the schema has no enum",
            "add the values as an enum",
        )


def _is_silent(subject: Subject) -> bool:
    return subject.signals.is_missing_description


def _listed(values: list[str]) -> str:
    return first_of([value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}…" for value in values], MAX_LISTED)
