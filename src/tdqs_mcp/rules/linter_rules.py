"""The rules of mcptest and MCP Playground and Glama's comparison of names, exactly as their authors compute them."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, MAX_TEXT, lazy_pattern, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.schema.walk import required_names
from tdqs_mcp.facts.spelling import first_of, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.examples import assigned_values, closed_list, shown_choices
from tdqs_mcp.facts.text.prose import Prose, count_code_units, is_latin
from tdqs_mcp.facts.text.words import LEMMAS
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.facts.toolset.relations import duplicate_names
from tdqs_mcp.model import Catalog, ListedPrompt, Resource, Tool
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import MAX_NAMED, MCPTEST, PLAYGROUND, Hit, foreign_rule, rule

MCPTEST_SHORTEST = 20
"""Characters of a description (DESC-001)."""

MCPTEST_LONGEST = 500
"""Characters of a description (DESC-002)."""

MAX_VALUE = 40
"""Characters of a value that a message spells out."""

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
    if (length := count_code_units(subject.tool)) > 0:
        yield from _length_hits(length, "characters", SHORTEST, is_most=False, fix="say when and why to use the tool")


@_mcptest("TDQ113", "DESC-001", dimension="purpose_clarity", entails=("TDQ141",), variants=(terse_description,))
def brief_description(subject: Subject, *, limit: int = MCPTEST_SHORTEST) -> Iterator[Hit]:
    """The description is empty or has fewer than 20 characters."""
    length, fix = len(trim(subject.tool.description or "")), "say verb, resource and scope in one sentence"
    yield from _length_hits(length, "characters", limit, is_most=False, fix=fix)


def _length_hits(length: int, unit: str, limit: int, *, is_most: bool, fix: str) -> Iterator[Hit]:
    if length > limit if is_most else length < limit:
        than = "more than" if is_most else "fewer than"
        yield Hit("/description", f"the description has {length} {unit}, {than} {limit}", fix)


@_playground("TDQ128", "tool-long-description", persona=Persona.AUDITOR, dimension="conciseness_structure")
def wordy_description(subject: Subject) -> Iterator[Hit]:
    """The description has more than 500 UTF-16 code units."""
    length, fix = count_code_units(subject.tool), "cut what the schema says already; MCP Playground aims for 300"
    yield from _length_hits(length, "UTF-16 code units", LONGEST, is_most=True, fix=fix)


@_mcptest("TDQ114", "DESC-002", dimension="conciseness_structure", variants=(wordy_description,))
def long_description(subject: Subject, *, limit: int = MCPTEST_LONGEST) -> Iterator[Hit]:
    """The description has more than 500 characters."""
    fix = "move what belongs to one parameter, and what a schema can enforce, into inputSchema"
    yield from _length_hits(len(trim(subject.tool.description or "")), "characters", limit, is_most=True, fix=fix)


@_mcptest("TDQ115", "DESC-003", dimension="purpose_clarity")
def verbatim_name(subject: Subject) -> Iterator[Hit]:
    """The description equals the tool's name."""
    if subject.tool.description is not None and trim(subject.tool.description) == subject.tool.name:
        yield Hit(
            "/description",
            f"the description is the name {subject.tool.name!r}",
            "say verb, resource and scope in one sentence, and how the tool differs from its siblings",
        )


@_mcptest("TDQ116", "DESC-004", confidence=Confidence.LOW, dimension="purpose_clarity")
def absent_verb(subject: Subject) -> Iterator[Hit]:
    """The description has no common verb, so an agent cannot tell what kind of tool it is."""
    text, words = subject.tool.description or "", subject.prose.words
    # plain ASCII, or Latin with a word of English grammar; other languages have verbs of their own
    is_english = text.isascii() or (is_latin(subject.tool) and not _words("grammar").isdisjoint(words))
    parts = _LETTERS.findall(text[:MAX_TEXT].lower())  # of joined words too
    has_verb = any(word in LEMMAS for word in (*words, *parts)) or not _more_verb_forms().isdisjoint(parts)
    if not subject.signals.is_missing_description and is_english and not has_verb:
        yield Hit("/description", "the description has no common verb", "open with the verb for what the tool does")


@cache
def _more_verb_forms() -> frozenset[str]:
    """The inflections of verbs whose effect is not known."""
    return frozenset(
        form
        for verb in _words("verbs")
        for base in (verb, verb.removesuffix("e"), verb.removesuffix("y") + "i", verb + verb[-1])
        for form in (verb, f"{verb}s", f"{base}es", f"{base}ed", f"{base}ing")
    )


@_mcptest("TDQ117", "DESC-005", confidence=Confidence.LOW, dimension="usage_guidelines")
def positional_phrase(subject: Subject) -> Iterator[Hit]:
    """The description points to a place in a list of tools that no agent sees in that order."""
    if phrase := next(_positions(subject.prose), None):
        problem = f"{phrase!r} points to a position, but tools have no fixed order"
        yield Hit("/description", problem, "name the tool or the parameter that is meant")


def _positions(prose: Prose) -> Iterator[str]:
    """Yield the phrases that point to another place; a long text may point to a place of its own."""
    words = [word for word in prose.words if word != "the"]
    is_short = len(prose.sentences) <= MAX_PLACES
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        # "the first tool", "the tool above", "as described before"
        if word in _words("ordinals") and after in _words("tool_nouns"):
            yield f"{word} {after}"
        is_side = word in _words("sides") and (
            before in _words("tool_nouns") or (is_short and before in _words("seeing"))
        )
        if is_side or (is_short and word in _words("times") and before in _words("telling")):
            yield f"{before} {word}"


@_mcptest("TDQ119", "DESC-007", confidence=Confidence.MEDIUM, dimension="parameter_semantics")
def unmentioned_choices(subject: Subject) -> Iterator[Hit]:
    """An argument has an enum and a description that mentions none of its values."""
    for name, schema in _described(subject.tool):
        enum = schema.get("enum")
        members = enum if isinstance(enum, list) else []
        words = [member for member in members if isinstance(member, str | int | float) and not isinstance(member, bool)]
        values = [str(word) for word in words if word != ""]
        if not values or _mentions(schema["description"][:MAX_EXPLANATION], values):
            continue
        yield Hit(
            arguments.property_pointer(name),
            f"the description of {name!r} mentions none of its values: {_listed(values)}",
            "say what each value does",
        )


def _described(tool: Tool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, schema in arguments.properties(tool).items():
        text = schema.get("description") if isinstance(schema, dict) else None
        if isinstance(text, str) and trim(text):
            yield name, schema


def _mentions(text: str, values: list[str]) -> bool:
    folded = _folded(text)
    return any(spelled in folded if (spelled := _folded(value)).strip() else value in text for value in values)


def _folded(text: str) -> str:
    """The words of a text in lower case between single spaces, so that `in_stock` and "In stock" are one."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


@_mcptest("TDQ120", "DESC-008", dimension="conciseness_structure")
def inverted_density(subject: Subject) -> Iterator[Hit]:
    """An argument's description is longer than the tool's."""
    limit = len(trim(subject.tool.description or ""))
    for name, schema in _described(subject.tool):
        length = len(trim(schema["description"]))
        if length > limit:
            yield Hit(
                arguments.property_pointer(name),
                f"the description of {name!r} has {length} characters, the tool's has {limit}",
                "say in the tool's description what the tool is for, and in the argument's only what it means",
            )


@_mcptest("TDQ121", "DESC-009", dimension="parameter_semantics", entails=("TDQ142",))
def missing_examples(subject: Subject) -> Iterator[Hit]:
    """The arguments are not trivial, and nothing shows a value that an agent could copy."""
    if not _is_trivial(subject.tool) and not _has_example(subject.tool):
        yield Hit(
            "/inputSchema",
            "neither the tool nor an argument gives an example or a default",
            "add an examples array or a default to the arguments that are hardest to guess",
        )


def _is_trivial(tool: Tool) -> bool:
    """At most one argument, and that one optional and of type string."""
    declared = arguments.properties(tool)
    if len(declared) != 1:
        return not declared
    ((name, schema),) = declared.items()
    return name not in arguments.required(tool) and isinstance(schema, dict) and schema.get("type") == "string"


def _has_example(tool: Tool) -> bool:
    """The tool carries an `examples` array, or an argument one, an `example` or a `default`."""
    if isinstance(tool.raw.get("examples"), list):
        return True
    return any(
        "default" in schema or "example" in schema or isinstance(schema.get("examples"), list)
        for schema in arguments.properties(tool).values()
        if isinstance(schema, dict)
    )


@_mcptest("TDQ122", "DESC-010", confidence=Confidence.MEDIUM, dimension="contextual_completeness")
def unmentioned_result(subject: Subject) -> Iterator[Hit]:
    """The description has no word for a result, and there is no output schema."""
    tool = subject.tool
    if subject.signals.is_missing_description or tool.output_schema is not None or not is_latin(tool):
        return
    text = (tool.description or "")[:MAX_TEXT].lower()
    if not any(word in text for word in ("give back", "gives back", *_words("results"))):
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


@rule(
    "TDQ146",
    aliases=("smell:missing-usage-guidelines",),
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    dimension="usage_guidelines",
    source="Hasan et al., arXiv 2602.14878, Usage Guidelines",
)
def unstated_usage(subject: Subject) -> Iterator[Hit]:
    """The description says neither when to use the tool nor when not to, whatever other tools there are."""
    if (
        subject.prose.is_readable
        and not subject.signals.is_missing_description
        and not subject.tells_usage(subject.alternatives)
    ):
        yield Hit(
            "/description",
            "the description does not say when to use the tool",
            "add when to use it, when not to, and which tool to use instead",
        )


@_mcptest("TDQ124", "DESC-013", confidence=Confidence.MEDIUM, persona=Persona.AUTHOR, dimension="parameter_semantics")
def choices_in_prose(subject: Subject) -> Iterator[Hit]:
    """A text argument lists its allowed values in prose, where no client can enforce them."""
    declared = arguments.properties(subject.tool)
    assigned = assigned_values((subject.tool.description or "")[:MAX_TEXT], declared)
    texts = {mention.node.name: mention.text for mention in subject.explanations if mention.node.is_top}
    for name in (name for name in declared if name in assigned or name in texts):
        text = texts.get(name, "")
        if not _is_free_text(declared[name]):
            continue
        values = closed_list(text, name)
        # names of a large catalog are gathered only where there is a list
        if values and not (names := {*declared, *subject.siblings.values()}).isdisjoint(values):
            values = closed_list(text, name, names)
        values = values or assigned.get(name, ())
        examples = () if values else shown_choices(text, name)
        default = (isinstance(declared[name], dict) and declared[name].get("default")) or (values or ("",))[0]
        # a list without the default is of something else; another tool that the text names has more values
        is_whole = examples or (values and default in values)
        if is_whole and not relations.mentioned_siblings(subject.tool, words_of(text), subject.siblings):
            listed = _listed(list(values or examples))
            problem = "has only examples of its values" if examples else "lists its values"
            yield Hit(
                arguments.property_pointer(name),
                f"the text about {name!r} {problem} ({listed}), and the schema has no enum",
                "add all values as an enum" if examples else "add the values as an enum",
                Severity.INFO if examples else None,
            )


def _is_free_text(schema: Any) -> bool:  # noqa: ANN401  # any JSON value
    """A string or untyped, alone or beside null, and neither it nor one of its branches has a closed list."""
    if not isinstance(schema, dict) or "pattern" in schema:
        return False
    branches = [branch for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list) for branch in schema[key]]
    if any("enum" in part or "const" in part for part in (schema, *branches) if isinstance(part, dict)):
        return False
    types = schema.get("type", [part.get("type") for part in branches if isinstance(part, dict)] or "string")
    kinds = types if isinstance(types, list) else [types]
    return "string" in kinds and all(kind in ("string", "null") for kind in kinds) and "$ref" not in schema


def _listed(values: list[str]) -> str:
    return first_of([value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}…" for value in values], MAX_NAMED)


_USUAL_NAME = lazy_pattern(r"[A-Za-z][A-Za-z0-9_-]*")
_LETTERS = lazy_pattern(r"[a-z]+")
_WORD = lazy_pattern(r"[^\W_]+")
_words = partial(words_from, "wording")

MAX_PLACES = 6
"""Sentences of a description up to which `above` and `below` cannot mean a part of itself."""


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


@rule(
    "TDQ145",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="contextual_completeness",
    source="Glama's tdqs, no-output-schema",
)
def absent_output_schema(subject: Subject) -> Iterator[Hit]:
    """There is no output schema, whatever the description says."""
    if not subject.signals.has_output_schema:
        yield Hit("/outputSchema", "there is no output schema", "declare the shape of the result")


@_playground("TDQ129", "tool-description-is-name", persona=Persona.AUDITOR, dimension="purpose_clarity")
def spelled_name(subject: Subject) -> Iterator[Hit]:
    """The description is the name in lower case with spaces for underscores and hyphens."""
    text, name = trim(subject.tool.description or ""), subject.tool.name
    spaced, spaced_name = (label.lower().replace("_", " ").replace("-", " ") for label in (text, name))
    if text and len(text) == len(name) and spaced == spaced_name:
        yield Hit(
            "/description",
            f"the description only spells the name {subject.tool.name!r}",
            "say what the tool does that its name does not say",
        )


@_mcptest("TDQ118", "DESC-006", dimension="parameter_semantics")
def undescribed_requirement(subject: Subject) -> Iterator[Hit]:
    """A required argument has no description in the schema."""
    schemas = arguments.properties(subject.tool)
    for name in required_names(subject.tool.input_schema or {}):
        if name in schemas and not _is_described(schemas[name]):
            yield Hit(
                arguments.property_pointer(name),
                f"the required argument {name!r} has no description",
                "describe its meaning and format in the schema",
            )


def _is_described(schema: object) -> bool:
    text = schema.get("description") if isinstance(schema, dict) else None
    return bool(trim(text)) if isinstance(text, str) else _is_set(text)


def _is_set(value: object) -> bool:
    """Not what a JavaScript condition takes for nothing: null, false, 0 and the empty string; `[]` and `{}` are set."""
    return value not in (None, False, 0, "")


def _declared(tool: Tool) -> dict[str, Any]:
    """The properties; one that is null or false stands for none."""
    return {name: schema for name, schema in arguments.properties(tool).items() if _is_set(schema)}


@_playground(
    "TDQ130",
    "prop-no-description",
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    variants=(undescribed_requirement,),
)
def undescribed_property(subject: Subject) -> Iterator[Hit]:
    """A property has no description in the schema."""
    for name, schema in _declared(subject.tool).items():
        if not _is_described(schema):
            problem = f"the property {name!r} has no description"
            yield Hit(arguments.property_pointer(name), problem, "describe it in the schema")


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
    for name, schema in _declared(subject.tool).items():
        if not isinstance(schema, dict) or not any(_is_set(schema.get(key)) for key in TYPING):
            yield Hit(arguments.property_pointer(name), f"the property {name!r} has no type", "declare its type")


TYPING = ("type", "enum", "oneOf", "anyOf", "allOf", "$ref")
"""Any of these tells a client what to send (MCP Playground, prop-no-type); `const` is not among them."""


@_playground("TDQ214", "tool-no-required", persona=Persona.AUDITOR, dimension="parameter_semantics")
def nothing_required(subject: Subject) -> Iterator[Hit]:
    """There are properties, and none is required."""
    if arguments.properties(subject.tool) and not arguments.required(subject.tool):
        yield Hit("/inputSchema", "no property is required", "list the parameters that every call needs")


@_playground("TDQ215", "required-not-in-properties", dimension="parameter_semantics")
def unknown_requirement(subject: Subject) -> Iterator[Hit]:
    """A required argument is not among the properties, so an agent has to send an undescribed value."""
    declared = (subject.tool.input_schema or {}).get("properties")
    if not isinstance(declared, dict):
        return
    for name in arguments.required(subject.tool):
        if isinstance(name, str) and name in declared:
            continue
        label = repr(name) if isinstance(name, str) else "something that is not a name"
        yield Hit(
            "/inputSchema/required",
            f"{label} is required but not among the properties",
            "correct the name, or add the property",
        )


@_playground("TDQ216", "tool-empty-schema", persona=Persona.AUDITOR, dimension="parameter_semantics")
def undeclared_properties(subject: Subject) -> Iterator[Hit]:
    """The schema is an object without properties: it leaves open whether the tool takes arguments."""
    schema = subject.tool.input_schema or {}
    if schema.get("type") == "object" and not isinstance(schema.get("properties"), dict):
        yield Hit(
            "/inputSchema", "the schema declares no properties", "add the arguments or an empty properties object"
        )


@_playground("TDQ217", "tool-name-convention", persona=Persona.AUDITOR)
def unusual_name(subject: Subject) -> Iterator[Hit]:
    """The name has characters besides ASCII letters, digits, underscore and hyphen, or does not begin with a letter."""
    if not _USUAL_NAME.fullmatch(subject.tool.name):
        yield Hit("/name", f"the name {subject.tool.name!r} is unusual", "prefer snake_case or kebab-case")


@_playground("TDQ602", "resource-no-name")
def unnamed_resource(resource: Resource) -> Iterator[Hit]:
    """A resource has no name, which MCP requires."""
    if not resource.name:
        yield Hit("/name", "the resource has no name", "name it after what it contains")


@_playground("TDQ603", "resource-no-description", persona=Persona.AUDITOR)
def undescribed_resource(resource: Resource) -> Iterator[Hit]:
    """A resource has no description, so neither user nor agent knows what it contains."""
    if not trim(resource.description or ""):
        yield Hit("/description", "the resource has no description", "say what it contains")


@_playground("TDQ604", "resource-no-mimetype", persona=Persona.AUDITOR)
def untyped_resource(resource: Resource) -> Iterator[Hit]:
    """A resource has no MIME type, so a client has to guess how to show it."""
    if not resource.mime_type:
        yield Hit("/mimeType", "the resource has no MIME type", "add one, such as text/plain")


@_playground("TDQ605", "prompt-no-description", severity=Severity.WARNING, persona=Persona.AUDITOR)
def undescribed_prompt(prompt: ListedPrompt) -> Iterator[Hit]:
    """A prompt has no description, so a user cannot know what running it does."""
    if not trim(prompt.description or ""):
        yield Hit("/description", "the prompt has no description", "say what running it does")


@_playground("TDQ606", "prompt-arg-no-description", persona=Persona.AUDITOR)
def undescribed_prompt_argument(prompt: ListedPrompt) -> Iterator[Hit]:
    """An argument of a prompt has no description, so a user cannot know what to fill in."""
    listed = prompt.raw.get("arguments") if isinstance(prompt.raw, dict) else None
    for place, argument in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(argument, dict) or _is_described(argument):
            continue
        name = argument["name"] if isinstance(argument.get("name"), str) else ""
        yield Hit(
            f"/arguments/{place}",
            f"the argument {name!r} has no description" if name else "an argument has no description",
            "say what to fill in",
        )


@_playground("TDQ607", "server-empty")
def empty_server(measured: Measured) -> Iterator[Hit]:
    """The server offers no tool, no resource and no prompt."""
    if relations.is_empty(measured.catalog):
        yield Hit("", "there are no tools, resources or prompts", "see whether the server needs settings to offer any")


@_playground("TDQ608", "server-no-name")
def unnamed_server(measured: Measured) -> Iterator[Hit]:
    """The initialize answer has no server name, which MCP requires."""
    if _lacks(measured.catalog, "name", ("", "Unknown Server")):
        yield Hit("/serverInfo/name", "the initialize answer names no server", "set serverInfo.name")


@_playground("TDQ609", "server-no-version", persona=Persona.AUDITOR)
def unversioned_server(measured: Measured) -> Iterator[Hit]:
    """The initialize answer has no version, which MCP requires."""
    if _lacks(measured.catalog, "version", ("", "unknown")):
        yield Hit("/serverInfo/version", "the initialize answer gives no version", "set serverInfo.version")


def _lacks(catalog: Catalog, key: str, placeholders: tuple[str, ...]) -> bool:
    """The initialize answer was seen, which a bare file lacks, and its `serverInfo` has none or a placeholder."""
    greeting = (catalog.server_info, catalog.capabilities, catalog.protocol_version)
    is_greeted = any(part is not None for part in greeting)
    return is_greeted and ((catalog.server_info or {}).get(key) or "") in placeholders


@_playground("TDQ610", "server-duplicate-tools", persona=Persona.AUDITOR)
def duplicate_tools(measured: Measured) -> Iterator[Hit]:
    """Tools share a name; one finding for the server, however many do."""
    names = sorted(duplicate_names(measured.catalog.tools))
    if names:
        more = f", and {len(names) - 1} more names are repeated" if len(names) > 1 else ""
        yield Hit("", f"more than one tool is called {names[0]!r}{more}", "give each tool its own name")
