"""mcptest's description lint, DESC-001 to DESC-013, each exactly as its page defines it."""

from collections.abc import Iterator

from tdqs_mcp.facts import wording
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.results.findings import Confidence, Persona
from tdqs_mcp.rules.foreign_rules import MCPTEST
from tdqs_mcp.rules.rule import Hit, rule

SHORTEST = 20
"""Characters of a description (DESC-001)."""

LONGEST = 500
"""Characters of a description (DESC-002)."""

MAX_LISTED = 5
"""Values that a message spells out."""

MAX_VALUE = 40
"""Characters of each."""


@rule(
    "TDQ113",
    aliases=("DESC-001",),
    severity=MCPTEST["DESC-001"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="purpose_clarity",
    source="mcptest, DESC-001",
    entails=("TDQ127", "TDQ141"),
)
def brief_description(subject: Subject) -> Iterator[Hit]:
    """The description is empty or has fewer than 20 characters."""
    length = wording.characters(subject.tool)
    if length < SHORTEST:
        yield Hit(
            "/description",
            f"the description has {length} characters, fewer than {SHORTEST}",
            "say verb, resource and scope in one sentence",
        )


@rule(
    "TDQ114",
    aliases=("DESC-002",),
    severity=MCPTEST["DESC-002"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="conciseness_structure",
    source="mcptest, DESC-002",
    entails=("TDQ128",),
)
def long_description(subject: Subject) -> Iterator[Hit]:
    """The description has more than 500 characters."""
    length = wording.characters(subject.tool)
    if length > LONGEST:
        yield Hit(
            "/description",
            f"the description has {length} characters, more than {LONGEST}",
            "move what belongs to one parameter, and what a schema can enforce, into inputSchema",
        )


@rule(
    "TDQ115",
    aliases=("DESC-003",),
    severity=MCPTEST["DESC-003"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="purpose_clarity",
    source="mcptest, DESC-003",
    entails=("TDQ129",),
)
def verbatim_name(subject: Subject) -> Iterator[Hit]:
    """The description equals the tool's name."""
    if wording.is_name(subject.tool):
        yield Hit(
            "/description",
            f"the description is the name {subject.tool.name!r}",
            "say verb, resource and scope in one sentence, and how the tool differs from its siblings",
        )


@rule(
    "TDQ116",
    aliases=("DESC-004",),
    severity=MCPTEST["DESC-004"],
    confidence=Confidence.LOW,
    persona=Persona.AUDITOR,
    dimension="purpose_clarity",
    source="mcptest, DESC-004",
)
def absent_verb(subject: Subject) -> Iterator[Hit]:
    """The description has no common verb, so an agent cannot tell what kind of tool it is."""
    if not _is_silent(subject) and wording.is_english(subject) and not wording.has_verb(subject):
        yield Hit("/description", "the description has no common verb", "open with the verb for what the tool does")


@rule(
    "TDQ117",
    aliases=("DESC-005",),
    severity=MCPTEST["DESC-005"],
    confidence=Confidence.LOW,
    persona=Persona.AUDITOR,
    dimension="usage_guidelines",
    source="mcptest, DESC-005",
)
def positional_phrase(subject: Subject) -> Iterator[Hit]:
    """The description points to a place in a list of tools that no agent sees in that order."""
    phrase = wording.position(subject)
    if phrase:
        yield Hit(
            "/description",
            f"{phrase!r} points to a place, and a catalog is flat",
            "name the tool or the parameter that is meant",
        )


@rule(
    "TDQ118",
    aliases=("DESC-006",),
    severity=MCPTEST["DESC-006"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="mcptest, DESC-006",
)
def undescribed_requirement(subject: Subject) -> Iterator[Hit]:
    """A required argument has no description in the schema."""
    for name in arguments.undescribed_required(subject.tool):
        yield Hit(
            arguments.property_pointer(name),
            f"the required argument {name!r} has no description",
            "describe its meaning and format in the schema",
        )


@rule(
    "TDQ119",
    aliases=("DESC-007",),
    severity=MCPTEST["DESC-007"],
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="mcptest, DESC-007",
)
def unmentioned_choices(subject: Subject) -> Iterator[Hit]:
    """An argument has an enum and a description that mentions none of its values."""
    for name, values in arguments.unmentioned_choices(subject.tool):
        yield Hit(
            arguments.property_pointer(name),
            f"the description of {name!r} mentions none of its values: {_listed(values)}",
            "say what each value does",
        )


@rule(
    "TDQ120",
    aliases=("DESC-008",),
    severity=MCPTEST["DESC-008"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="conciseness_structure",
    source="mcptest, DESC-008",
)
def inverted_density(subject: Subject) -> Iterator[Hit]:
    """An argument's description is longer than the tool's."""
    limit = wording.characters(subject.tool)
    for name, length in arguments.lengths(subject.tool):
        if length > limit:
            yield Hit(
                arguments.property_pointer(name),
                f"the description of {name!r} has {length} characters, the tool's has {limit}",
                "say in the tool's description what the tool is for, and in the argument's only what it means",
            )


@rule(
    "TDQ121",
    aliases=("DESC-009",),
    severity=MCPTEST["DESC-009"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="mcptest, DESC-009",
)
def missing_examples(subject: Subject) -> Iterator[Hit]:
    """The arguments are not trivial, and nothing shows a value that an agent could copy."""
    if not arguments.is_trivial(subject.tool) and not arguments.has_example(subject.tool):
        yield Hit(
            "/inputSchema",
            "neither the tool nor an argument gives an example or a default",
            "add an examples array or a default to the arguments that are hardest to guess",
        )


@rule(
    "TDQ122",
    aliases=("DESC-010",),
    severity=MCPTEST["DESC-010"],
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="contextual_completeness",
    source="mcptest, DESC-010",
)
def unmentioned_result(subject: Subject) -> Iterator[Hit]:
    """The description has no word for a result, and there is no output schema."""
    tool = subject.tool
    if _is_silent(subject) or tool.output_schema is not None or not wording.is_latin(tool):
        return
    if not wording.mentions_result(tool):
        yield Hit(
            "/description",
            "the description has no word such as returns, output or result, and there is no output schema",
            "add one sentence that starts with Returns, or an output schema",
        )


@rule(
    "TDQ210",
    aliases=("DESC-011",),
    severity=MCPTEST["DESC-011"],
    confidence=Confidence.HIGH,
    dimension="behavioral_transparency",
    source="MCP specification, ToolAnnotations; mcptest, DESC-011",
    entails=("TDQ106",),
)
def non_boolean_hint(subject: Subject) -> Iterator[Hit]:
    """A hint is declared with a value that is no boolean, so clients drop it."""
    declared = subject.tool.annotations or {}
    for hint in HINTS:
        if hint in declared and not isinstance(declared[hint], bool):
            yield Hit(f"/annotations/{hint}", f"{hint} is no boolean", "write true or false, or leave the hint out")


@rule(
    "TDQ123",
    aliases=("DESC-012",),
    severity=MCPTEST["DESC-012"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="mcptest, DESC-012",
)
def absent_annotations(subject: Subject) -> Iterator[Hit]:
    """The tool has no annotations object, not even an empty one."""
    if subject.tool.annotations is None:
        yield Hit(
            "/annotations",
            "there is no annotations object",
            "declare readOnlyHint, destructiveHint, idempotentHint and openWorldHint as booleans",
        )


@rule(
    "TDQ124",
    aliases=("DESC-013",),
    severity=MCPTEST["DESC-013"],
    confidence=Confidence.MEDIUM,
    dimension="parameter_semantics",
    source="mcptest, DESC-013",
)
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


TOOL_RULES = (
    brief_description,
    long_description,
    verbatim_name,
    absent_verb,
    positional_phrase,
    undescribed_requirement,
    unmentioned_choices,
    inverted_density,
    missing_examples,
    unmentioned_result,
    non_boolean_hint,
    absent_annotations,
    choices_in_prose,
)
