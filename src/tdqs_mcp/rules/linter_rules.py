"""The rules of mcptest and MCP Playground and Glama's comparison of names, exactly as their authors compute them."""

from collections.abc import Iterator
from functools import partial

from tdqs_mcp.facts.lexicon import lazy_pattern
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.prose import (
    count_characters,
    count_code_units,
    find_position,
    has_verb,
    is_english,
    is_latin,
    is_name,
    is_spelled_name,
    mentions_result,
)
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.facts.toolset.relations import duplicate_names
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, foreign_rule, rule
from tdqs_mcp.rules.rule_profiles import MCPTEST, PLAYGROUND

MCPTEST_SHORTEST = 20
"""Characters of a description (DESC-001)."""

MCPTEST_LONGEST = 500
"""Characters of a description (DESC-002)."""

MAX_LISTED = 5
"""Values that a message spells out."""

MAX_VALUE = 40
"""Characters of each."""


_mcptest = partial(foreign_rule, "mcptest", MCPTEST, persona=Persona.AUDITOR)
"""A rule that mcptest has under a code."""


SHORTEST = 10
"""UTF-16 code units of a trimmed description (tool-short-description)."""

LONGEST = 500
"""UTF-16 code units of a trimmed description (tool-long-description)."""


_playground = partial(foreign_rule, "MCP Playground", PLAYGROUND)
"""A rule that MCP Playground has under a name."""


@_playground("TDQ127", "tool-short-description", persona=Persona.AUDITOR, dimension="purpose_clarity")
def terse_description(subject: Subject) -> Iterator[Hit]:
    """There is a description, and it has fewer than 10 characters."""
    length = count_code_units(subject.tool)
    if 0 < length < SHORTEST:
        yield Hit(
            "/description",
            f"the description has {length} characters, fewer than {SHORTEST}",
            "say when and why to use the tool",
        )


@_mcptest("TDQ113", "DESC-001", dimension="purpose_clarity", entails=("TDQ141",), variants=(terse_description,))
def brief_description(subject: Subject, *, limit: int = MCPTEST_SHORTEST) -> Iterator[Hit]:
    """The description is empty or has fewer than 20 characters."""
    length = count_characters(subject.tool)
    if length < limit:
        yield Hit(
            "/description",
            f"the description has {length} characters, fewer than {limit}",
            "say verb, resource and scope in one sentence",
        )


@_playground("TDQ128", "tool-long-description", persona=Persona.AUDITOR, dimension="conciseness_structure")
def wordy_description(subject: Subject) -> Iterator[Hit]:
    """The description has more than 500 UTF-16 code units."""
    length = count_code_units(subject.tool)
    if length > LONGEST:
        yield Hit(
            "/description",
            f"the description has {length} UTF-16 code units, more than {LONGEST}",
            "cut what the schema says already; MCP Playground aims for 300",
        )


@_mcptest("TDQ114", "DESC-002", dimension="conciseness_structure", variants=(wordy_description,))
def long_description(subject: Subject, *, limit: int = MCPTEST_LONGEST) -> Iterator[Hit]:
    """The description has more than 500 characters."""
    length = count_characters(subject.tool)
    if length > limit:
        yield Hit(
            "/description",
            f"the description has {length} characters, more than {limit}",
            "move what belongs to one parameter, and what a schema can enforce, into inputSchema",
        )


@_mcptest("TDQ115", "DESC-003", dimension="purpose_clarity")
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


_USUAL_NAME = lazy_pattern(r"[A-Za-z][A-Za-z0-9_-]*")


@rule(
    "TDQ143",
    aliases=("tautological-description",),
    severity=Severity.WARNING,
    persona=Persona.AUDITOR,
    dimension="purpose_clarity",
    source="TDQS, hard gates",
)
def restated_label(subject: Subject) -> Iterator[Hit]:
    """The description equals the tool's name or title except for case and surrounding white space."""
    if subject.signals.restates_name:
        yield Hit(
            "/description",
            "the description equals the name or the title, so TDQS caps purpose clarity at 2",
            "say in the description what the title leaves out, or shorten the title",
        )


@_playground("TDQ129", "tool-description-is-name", persona=Persona.AUDITOR, dimension="purpose_clarity")
def spelled_name(subject: Subject) -> Iterator[Hit]:
    """The description is the name in lower case with spaces for underscores and hyphens."""
    if is_spelled_name(subject.tool):
        yield Hit(
            "/description",
            f"the description only spells the name {subject.tool.name!r}",
            "say what the tool does that its name does not say",
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


@_playground(
    "TDQ130",
    "prop-no-description",
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    variants=(undescribed_requirement,),
)
def undescribed_property(subject: Subject) -> Iterator[Hit]:
    """A property has no description in the schema."""
    for name in arguments.undescribed(subject.tool):
        yield Hit(
            arguments.property_pointer(name), f"the property {name!r} has no description", "describe it in the schema"
        )


@_playground("TDQ211", "tool-no-schema", persona=Persona.AUDITOR)
def missing_schema(subject: Subject) -> Iterator[Hit]:
    """There is no inputSchema, so no client knows what to send."""
    if subject.tool.input_schema is None:
        yield Hit("/inputSchema", "there is no inputSchema object", 'add {"type": "object", "properties": {}}')


@_playground("TDQ212", "tool-schema-not-object", persona=Persona.AUDITOR)
def schema_of_another_type(subject: Subject) -> Iterator[Hit]:
    """The type of inputSchema is not object."""
    schema = subject.tool.input_schema
    if schema is not None and schema.get("type") != "object":
        yield Hit("/inputSchema/type", 'the type of inputSchema is not "object"', 'declare "type": "object"')


@_playground("TDQ213", "prop-no-type", dimension="parameter_semantics")
def untyped_property(subject: Subject) -> Iterator[Hit]:
    """A property has neither a type nor an enum, a union or a reference."""
    for name in arguments.untyped(subject.tool):
        yield Hit(arguments.property_pointer(name), f"the property {name!r} has no type", "declare its type")


@_playground("TDQ214", "tool-no-required", persona=Persona.AUDITOR, dimension="parameter_semantics")
def nothing_required(subject: Subject) -> Iterator[Hit]:
    """There are properties, and none is required."""
    if arguments.properties(subject.tool) and not arguments.required(subject.tool):
        yield Hit("/inputSchema", "no property is required", "list the parameters that every call needs")


@_playground("TDQ215", "required-not-in-properties", dimension="parameter_semantics")
def unknown_requirement(subject: Subject) -> Iterator[Hit]:
    """A required argument is not among the properties, so an agent has to send an undescribed value."""
    for name in arguments.unknown_required(subject.tool):
        label = repr(name) if isinstance(name, str) else "something that is not a name"
        yield Hit(
            "/inputSchema/required",
            f"{label} is required but not among the properties",
            "correct the name, or add the property",
        )


@_playground("TDQ216", "tool-empty-schema", persona=Persona.AUDITOR, dimension="parameter_semantics")
def undeclared_properties(subject: Subject) -> Iterator[Hit]:
    """The schema is an object without properties: it leaves open whether the tool takes arguments."""
    if arguments.has_no_properties(subject.tool):
        yield Hit(
            "/inputSchema", "the schema declares no properties", "add the arguments or an empty properties object"
        )


@_playground("TDQ217", "tool-name-convention", persona=Persona.AUDITOR)
def unusual_name(subject: Subject) -> Iterator[Hit]:
    """The name has characters besides ASCII letters, digits, underscore and hyphen, or does not begin with a letter."""
    if not _USUAL_NAME.fullmatch(subject.tool.name):
        yield Hit("/name", f"the name {subject.tool.name!r} is unusual", "prefer snake_case or kebab-case")


@_playground("TDQ602", "resource-no-name")
def unnamed_resource(measured: Measured) -> Iterator[Hit]:
    """A resource has no name, which MCP requires."""
    for resource in relations.listed_resources(measured.catalog):
        if not resource.name:
            yield Hit("/name", "the resource has no name", "name it after what it contains", part=resource)


@_playground("TDQ603", "resource-no-description")
def undescribed_resource(measured: Measured) -> Iterator[Hit]:
    """A resource has no description, so neither user nor agent knows what it contains."""
    for resource in relations.listed_resources(measured.catalog):
        if relations.is_blank(resource.description):
            yield Hit(
                "/description",
                "the resource has no description",
                "say what it contains",
                part=resource,
            )


@_playground("TDQ604", "resource-no-mimetype")
def untyped_resource(measured: Measured) -> Iterator[Hit]:
    """A resource has no MIME type, so a client has to guess how to show it."""
    for resource in relations.listed_resources(measured.catalog):
        if not resource.mime_type:
            yield Hit("/mimeType", "the resource has no MIME type", "add one, such as text/plain", part=resource)


@_playground("TDQ605", "prompt-no-description", severity=Severity.WARNING)
def undescribed_prompt(measured: Measured) -> Iterator[Hit]:
    """A prompt has no description, so a user cannot know what running it does."""
    for prompt in measured.catalog.prompts or ():
        if relations.is_blank(prompt.description):
            yield Hit("/description", "the prompt has no description", "say what running it does", part=prompt)


@_playground("TDQ606", "prompt-arg-no-description")
def undescribed_prompt_argument(measured: Measured) -> Iterator[Hit]:
    """An argument of a prompt has no description, so a user cannot know what to fill in."""
    for prompt in measured.catalog.prompts or ():
        for place, name in relations.undescribed_arguments(prompt):
            yield Hit(
                f"/arguments/{place}",
                f"the argument {name!r} has no description" if name else "an argument has no description",
                "say what to fill in",
                part=prompt,
            )


@_playground("TDQ607", "server-empty")
def empty_server(measured: Measured) -> Iterator[Hit]:
    """The server offers no tool, no resource and no prompt."""
    if relations.is_empty(measured.catalog):
        yield Hit("", "there are no tools, resources or prompts", "see whether the server needs settings to offer any")


@_playground("TDQ608", "server-no-name")
def unnamed_server(measured: Measured) -> Iterator[Hit]:
    """The initialize answer has no server name, which MCP requires."""
    if relations.lacks_name(measured.catalog):
        yield Hit("/serverInfo/name", "the initialize answer names no server", "set serverInfo.name")


@_playground("TDQ609", "server-no-version")
def unversioned_server(measured: Measured) -> Iterator[Hit]:
    """The initialize answer has no version, which MCP requires."""
    if relations.lacks_version(measured.catalog):
        yield Hit("/serverInfo/version", "the initialize answer gives no version", "set serverInfo.version")


@_playground("TDQ610", "server-duplicate-tools", persona=Persona.AUDITOR)
def duplicate_tools(measured: Measured) -> Iterator[Hit]:
    """Tools share a name; one finding for the server, however many do."""
    names = sorted(duplicate_names(measured.catalog.tools))
    if names:
        more = f", and {len(names) - 1} more names are repeated" if len(names) > 1 else ""
        yield Hit("", f"more than one tool is called {names[0]!r}{more}", "give each tool its own name")
