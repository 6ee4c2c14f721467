"""MCP Playground's lint under its own ids, each rule exactly as its methodology and its linter define it."""

import re
from collections.abc import Iterator

from tdqs_mcp.facts import wording
from tdqs_mcp.facts.catalog import metadata
from tdqs_mcp.facts.catalog.relations import duplicate_names
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.foreign_rules import PLAYGROUND
from tdqs_mcp.rules.rule import Hit, rule

SHORTEST = 10
"""UTF-16 code units of a trimmed description (tool-short-description)."""

LONGEST = 500
"""The same (tool-long-description)."""

_USUAL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@rule(
    "TDQ127",
    aliases=("tool-short-description",),
    severity=PLAYGROUND["tool-short-description"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="purpose_clarity",
    source="MCP Playground, tool-short-description",
)
def terse_description(subject: Subject) -> Iterator[Hit]:
    """There is a description, and it has fewer than 10 characters."""
    length = wording.code_units(subject.tool)
    if 0 < length < SHORTEST:
        yield Hit(
            "/description",
            f"the description has {length} characters, fewer than {SHORTEST}",
            "say when and why to use the tool",
        )


@rule(
    "TDQ128",
    aliases=("tool-long-description",),
    severity=PLAYGROUND["tool-long-description"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="conciseness_structure",
    source="MCP Playground, tool-long-description",
)
def wordy_description(subject: Subject) -> Iterator[Hit]:
    """The description has more than 500 UTF-16 code units."""
    length = wording.code_units(subject.tool)
    if length > LONGEST:
        yield Hit(
            "/description",
            f"the description has {length} UTF-16 code units, more than {LONGEST}",
            "cut what the schema says already; MCP Playground aims for 300",
        )


@rule(
    "TDQ129",
    aliases=("tool-description-is-name",),
    severity=PLAYGROUND["tool-description-is-name"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="purpose_clarity",
    source="MCP Playground, tool-description-is-name",
)
def spelled_name(subject: Subject) -> Iterator[Hit]:
    """The description is the name in lower case with spaces for underscores and hyphens."""
    if wording.is_spelled_name(subject.tool):
        yield Hit(
            "/description",
            f"the description only spells the name {subject.tool.name!r}",
            "say what the tool does that its name does not say",
        )


@rule(
    "TDQ130",
    aliases=("prop-no-description",),
    severity=PLAYGROUND["prop-no-description"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="MCP Playground, prop-no-description",
    entails=("TDQ118",),
)
def undescribed_property(subject: Subject) -> Iterator[Hit]:
    """A property has no description in the schema."""
    for name in arguments.undescribed(subject.tool):
        yield Hit(
            arguments.property_pointer(name), f"the property {name!r} has no description", "describe it in the schema"
        )


@rule(
    "TDQ211",
    aliases=("tool-no-schema",),
    severity=PLAYGROUND["tool-no-schema"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    source="MCP Playground, tool-no-schema",
)
def missing_schema(subject: Subject) -> Iterator[Hit]:
    """There is no inputSchema, so no client knows what to send."""
    if subject.tool.input_schema is None:
        yield Hit("/inputSchema", "there is no inputSchema object", 'add {"type": "object", "properties": {}}')


@rule(
    "TDQ212",
    aliases=("tool-schema-not-object",),
    severity=PLAYGROUND["tool-schema-not-object"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    source="MCP Playground, tool-schema-not-object",
)
def schema_of_another_type(subject: Subject) -> Iterator[Hit]:
    """The type of inputSchema is not object."""
    schema = subject.tool.input_schema
    if schema is not None and schema.get("type") != "object":
        yield Hit("/inputSchema/type", 'the type of inputSchema is not "object"', 'declare "type": "object"')


@rule(
    "TDQ213",
    aliases=("prop-no-type",),
    severity=PLAYGROUND["prop-no-type"],
    confidence=Confidence.HIGH,
    dimension="parameter_semantics",
    source="MCP Playground, prop-no-type",
)
def untyped_property(subject: Subject) -> Iterator[Hit]:
    """A property has neither a type nor an enum, a union or a reference."""
    for name in arguments.untyped(subject.tool):
        yield Hit(arguments.property_pointer(name), f"the property {name!r} has no type", "declare its type")


@rule(
    "TDQ214",
    aliases=("tool-no-required",),
    severity=PLAYGROUND["tool-no-required"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="MCP Playground, tool-no-required",
)
def nothing_required(subject: Subject) -> Iterator[Hit]:
    """There are properties, and none is required."""
    if arguments.properties(subject.tool) and not arguments.required(subject.tool):
        yield Hit("/inputSchema", "no property is required", "list those without which a call makes no sense")


@rule(
    "TDQ215",
    aliases=("required-not-in-properties",),
    severity=PLAYGROUND["required-not-in-properties"],
    confidence=Confidence.HIGH,
    dimension="parameter_semantics",
    source="MCP Playground, required-not-in-properties",
)
def unknown_requirement(subject: Subject) -> Iterator[Hit]:
    """A required argument is not among the properties, so an agent has to send what nobody describes."""
    for name in arguments.unknown_required(subject.tool):
        told = repr(name) if isinstance(name, str) else "something that is no name"
        yield Hit(
            "/inputSchema/required",
            f"{told} is required and not among the properties",
            "correct the name, or add the property",
        )


@rule(
    "TDQ216",
    aliases=("tool-empty-schema",),
    severity=PLAYGROUND["tool-empty-schema"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="MCP Playground, tool-empty-schema",
)
def undeclared_properties(subject: Subject) -> Iterator[Hit]:
    """The schema is an object without properties: it leaves open whether the tool takes arguments."""
    if arguments.has_no_properties(subject.tool):
        yield Hit(
            "/inputSchema", "the schema declares no properties", "add the arguments or an empty properties object"
        )


@rule(
    "TDQ217",
    aliases=("tool-name-convention",),
    severity=PLAYGROUND["tool-name-convention"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    source="MCP Playground, tool-name-convention",
)
def unusual_name(subject: Subject) -> Iterator[Hit]:
    """The name has characters besides ASCII letters, digits, underscore and hyphen, or does not begin with a letter."""
    if not _USUAL_NAME.fullmatch(subject.tool.name):
        yield Hit("/name", f"the name {subject.tool.name!r} is unusual", "prefer snake_case or kebab-case")


@rule(
    "TDQ602",
    aliases=("resource-no-name",),
    severity=PLAYGROUND["resource-no-name"],
    confidence=Confidence.HIGH,
    source="MCP Playground, resource-no-name",
)
def unnamed_resource(measured: Measured) -> Iterator[Hit]:
    """A resource has no name, which MCP requires."""
    for resource in metadata.listed_resources(measured.catalog):
        if not resource.name:
            yield Hit("/name", "the resource has no name", "name it after what it holds", part=resource)


@rule(
    "TDQ603",
    aliases=("resource-no-description",),
    severity=PLAYGROUND["resource-no-description"],
    confidence=Confidence.HIGH,
    source="MCP Playground, resource-no-description",
)
def undescribed_resource(measured: Measured) -> Iterator[Hit]:
    """A resource has no description, so neither user nor agent knows what reading it brings."""
    for resource in metadata.listed_resources(measured.catalog):
        if metadata.is_blank(resource.description):
            yield Hit(
                "/description",
                "the resource has no description",
                "say what it holds and when to read",
                part=resource,
            )


@rule(
    "TDQ604",
    aliases=("resource-no-mimetype",),
    severity=PLAYGROUND["resource-no-mimetype"],
    confidence=Confidence.HIGH,
    source="MCP Playground, resource-no-mimetype",
)
def untyped_resource(measured: Measured) -> Iterator[Hit]:
    """A resource has no MIME type, so a client has to guess how to show it."""
    for resource in metadata.listed_resources(measured.catalog):
        if not resource.mime_type:
            yield Hit("/mimeType", "the resource has no MIME type", "add one, such as text/plain", part=resource)


@rule(
    "TDQ605",
    aliases=("prompt-no-description",),
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    source="MCP Playground, prompt-no-description",
)
def undescribed_prompt(measured: Measured) -> Iterator[Hit]:
    """A prompt has no description, so a user cannot know what running it does."""
    for prompt in measured.catalog.prompts or ():
        if metadata.is_blank(prompt.description):
            yield Hit("/description", "the prompt has no description", "say what running it does", part=prompt)


@rule(
    "TDQ606",
    aliases=("prompt-arg-no-description",),
    severity=PLAYGROUND["prompt-arg-no-description"],
    confidence=Confidence.HIGH,
    source="MCP Playground, prompt-arg-no-description",
)
def undescribed_prompt_argument(measured: Measured) -> Iterator[Hit]:
    """An argument of a prompt has no description, so a user cannot know what to fill in."""
    for prompt in measured.catalog.prompts or ():
        for place, name in metadata.undescribed_arguments(prompt):
            yield Hit(
                f"/arguments/{place}",
                f"the argument {name!r} has no description" if name else "an argument has no description",
                "say what to fill in",
                part=prompt,
            )


@rule(
    "TDQ607",
    aliases=("server-empty",),
    severity=PLAYGROUND["server-empty"],
    confidence=Confidence.HIGH,
    source="MCP Playground, server-empty",
)
def empty_server(measured: Measured) -> Iterator[Hit]:
    """The server offers no tool, no resource and no prompt."""
    if metadata.is_empty(measured.catalog):
        yield Hit("", "there are no tools, resources or prompts", "see whether the server needs settings to offer any")


@rule(
    "TDQ608",
    aliases=("server-no-name",),
    severity=PLAYGROUND["server-no-name"],
    confidence=Confidence.HIGH,
    source="MCP Playground, server-no-name",
)
def unnamed_server(measured: Measured) -> Iterator[Hit]:
    """The initialize answer has no server name, which MCP requires."""
    if metadata.lacks_name(measured.catalog):
        yield Hit("/serverInfo/name", "the initialize answer names no server", "set serverInfo.name")


@rule(
    "TDQ609",
    aliases=("server-no-version",),
    severity=PLAYGROUND["server-no-version"],
    confidence=Confidence.HIGH,
    source="MCP Playground, server-no-version",
)
def unversioned_server(measured: Measured) -> Iterator[Hit]:
    """The initialize answer has no version, which MCP requires."""
    if metadata.lacks_version(measured.catalog):
        yield Hit("/serverInfo/version", "the initialize answer gives no version", "set serverInfo.version")


@rule(
    "TDQ610",
    aliases=("server-duplicate-tools",),
    severity=PLAYGROUND["server-duplicate-tools"],
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    source="MCP Playground, server-duplicate-tools",
)
def duplicate_tools(measured: Measured) -> Iterator[Hit]:
    """Tools share a name; said once of the server, however many do."""
    names = sorted(duplicate_names(measured.catalog.tools))
    if names:
        more = f", and {len(names) - 1} more names are repeated" if len(names) > 1 else ""
        yield Hit("", f"more than one tool is called {names[0]!r}{more}", "give each tool its own name")


TOOL_RULES = (
    terse_description,
    wordy_description,
    spelled_name,
    undescribed_property,
    missing_schema,
    schema_of_another_type,
    untyped_property,
    nothing_required,
    unknown_requirement,
    undeclared_properties,
    unusual_name,
)

SERVER_RULES = (
    unnamed_resource,
    undescribed_resource,
    untyped_resource,
    undescribed_prompt,
    undescribed_prompt_argument,
    empty_server,
    unnamed_server,
    unversioned_server,
    duplicate_tools,
)
