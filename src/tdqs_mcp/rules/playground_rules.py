"""MCP Playground's lint under its own ids, each rule exactly as its methodology and its linter define it."""

from collections.abc import Iterator
from functools import partial

from tdqs_mcp.facts.lexicon import lazy_pattern
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.wording import count_code_units, is_spelled_name
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.facts.toolset.relations import duplicate_names
from tdqs_mcp.results.findings import Persona, Severity
from tdqs_mcp.rules.rule import Hit, foreign_rule
from tdqs_mcp.rules.rule_profiles import PLAYGROUND

SHORTEST = 10
"""UTF-16 code units of a trimmed description (tool-short-description)."""

LONGEST = 500
"""The same (tool-long-description)."""

_USUAL_NAME = lazy_pattern(r"[A-Za-z][A-Za-z0-9_-]*")


_playground = partial(foreign_rule, "MCP Playground", PLAYGROUND)
"""A rule that MCP Playground has under a name."""


@_playground("TDQ127", "tool-short-description", persona=Persona.AUDITOR, dimension="purpose_clarity")
def terse_description(subject: Subject, *, limit: int = SHORTEST) -> Iterator[Hit]:
    """There is a description, and it has fewer than 10 characters."""
    length = count_code_units(subject.tool)
    if 0 < length < limit:
        yield Hit(
            "/description",
            f"the description has {length} characters, fewer than {limit}",
            "say when and why to use the tool",
        )


@_playground("TDQ128", "tool-long-description", persona=Persona.AUDITOR, dimension="conciseness_structure")
def wordy_description(subject: Subject, *, limit: int = LONGEST) -> Iterator[Hit]:
    """The description has more than 500 UTF-16 code units."""
    length = count_code_units(subject.tool)
    if length > limit:
        yield Hit(
            "/description",
            f"the description has {length} UTF-16 code units, more than {limit}",
            "cut what the schema says already; MCP Playground aims for 300",
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


@_playground(
    "TDQ130", "prop-no-description", persona=Persona.AUDITOR, dimension="parameter_semantics", entails=("TDQ118",)
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
        told = repr(name) if isinstance(name, str) else "something that is not a name"
        yield Hit(
            "/inputSchema/required",
            f"{told} is required but not among the properties",
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
