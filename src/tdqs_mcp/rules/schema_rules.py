"""Rules about schemas and about what is said of parameters."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from tdqs_mcp.canonical import is_well_formed
from tdqs_mcp.facts.schema import conformance
from tdqs_mcp.facts.schema.conformance import find_flaw
from tdqs_mcp.facts.schema.walk import Deviation, Node, Shape, keyword_members, split_pointer
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text import parameter_texts
from tdqs_mcp.facts.text.claims import (
    Topic,
    conditional_needs,
    open_alternatives,
    open_choices,
    open_identifiers,
    open_switches,
)
from tdqs_mcp.facts.text.effects import MAX_QUOTE
from tdqs_mcp.facts.text.examples import called_names, find_unfit_calls, find_unfit_examples, misspelled_formats
from tdqs_mcp.facts.text.open_values import find_open_values, is_null_open, unordered_list
from tdqs_mcp.facts.threats import list_strings
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.model import Tool
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.linter_rules import missing_schema, schema_of_another_type, unknown_requirement
from tdqs_mcp.rules.rule import MAX_NAMED, Hit, read_family, read_table, rule


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
        for remark in parameter_texts.placeholders(remarks):
            yield Hit(
                remark.path,
                f"{remark.node.name!r}: the description is a placeholder: {remark.text.strip()!r}",
                "say what the value means, or leave the description out",
            )


@rule(
    "TDQ132",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="TDQS, checklist 4",
)
def restated_parameter(subject: Subject) -> Iterator[Hit]:
    """A parameter's description has no word that its name does not have."""
    for remark in parameter_texts.restated(subject.remarks):
        yield Hit(
            remark.path,
            f"{remark.node.name!r}: the description {remark.text.strip()!r} only restates the name",
            "say meaning, format and an example, or where the value comes from",
            shared="have parameters whose description only restates the name",
        )


@rule(
    "TDQ133",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="TDQS, checklist 4",
)
def undescribed_nested_property(subject: Subject) -> Iterator[Hit]:
    """Properties inside a parameter have no description."""
    silent = list(parameter_texts.undescribed(subject.input_shape, is_nested=True))
    if silent:
        hit = _silent(silent, ("nested property", "nested properties"), "describe each; the agent has to fill it in")
        yield hit._replace(shared="have nested properties without a description")


@rule(
    "TDQ134",
    severity=Severity.INFO,
    dimension="contextual_completeness",
    source="TDQS, checklist 5",
    weighs=("/description",),
)
def undescribed_result_field(subject: Subject) -> Iterator[Hit]:
    """Fields of the output schema have no description, and no text explains them, or when the whole result is null."""
    shape, text = subject.output_shape, subject.tool.description or ""
    fields = parameter_texts.undescribed_fields(shape, text)
    is_wrapped = keyword_members(shape.root).keys() == {"result"}  # the object that a framework puts around a result
    silent = [field for field in fields if not (field.is_top and is_wrapped)]
    if silent:
        hit = _silent(silent, ("result field", "result fields"), "say what each contains, with its unit or format")
        yield hit._replace(shared="have result fields without a description")
    if is_null_open(subject.prose, shape):
        problem, shared = "the result may be null, and nothing says when", "may return null, and say nowhere when"
        yield Hit("/outputSchema", problem, "say what null means: nothing found, or a failure", shared=shared)


def _silent(nodes: Sequence[Node], nouns: tuple[str, str], suggestion: str) -> Hit:
    paths = (pairwise(split_pointer(node.path)) for node in nodes)
    dotted = [".".join(name for key, name in steps if key in ("properties", "$defs")) for steps in paths]
    names = first_of(dotted, MAX_NAMED)  # as people write it: `order.items.price`
    singular, several = nouns
    count = f"1 {singular} has" if len(nodes) == 1 else f"{len(nodes)} {several} have"
    return Hit(nodes[0].path, f"{count} no description: {names}", suggestion)


@rule(
    "TDQ135",
    severity=Severity.INFO,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, validation",
    weighs=("/description",),
)
def unenforced_range(subject: Subject) -> Iterator[Hit]:
    """A range, a count, JSON or a list is only in a parameter's text; or a unit, form, limit or order is nowhere."""
    for value in find_open_values(subject.explanations, subject.tool.description or ""):
        problem, suggestion, shared = read_table("open_values.toml")[value.kind]
        message = f"{value.node.name!r}: {problem.format(value.words)}"
        yield Hit(value.path, message, suggestion, shared=shared)
    if node := unordered_list(subject.tool.name, subject.prose, subject.input_shape, subject.remarks):
        problem, suggestion, shared = read_table("open_values.toml")["order"]
        yield Hit(node.path, f"{node.name!r}: {problem}", suggestion, shared=shared)


@rule(
    "TDQ144",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="parameter_semantics",
    source="TDQS, checklist 4",
    weighs=("/description",),
    needs_language=True,
)
def unstated_default(subject: Subject) -> Iterator[Hit]:
    """Neither schema nor text says which of its values an optional parameter has if it is left out."""
    names = [*open_choices(subject.prose, subject.input_shape), *open_switches(subject.remarks)]
    if names:
        problem = f"nothing says which value holds if it is left out: {first_of(names, MAX_NAMED)}"
        shared = "do not say which value holds if a parameter is left out"
        yield Hit("/inputSchema/properties", problem, "add the default to the schema or the text", shared=shared)


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
    "TDQ201",
    severity=Severity.ERROR,
    source="MCP specification, Tool",
    variants=(missing_schema, schema_of_another_type),
)
def malformed_definition(measured: Measured) -> Iterator[Hit]:
    """A part of the definition has a type that MCP does not allow; clients drop the tool or the whole list."""
    for tool in measured.catalog.tools:
        for defect in tool.defects:
            yield Hit(defect.path, defect.message, defect.advice, part=tool)
    for unmeasured in measured.unmeasured:
        if not unmeasured.tool.defects:
            problem = f"the definition cannot be measured: {unmeasured.reason}"
            yield Hit("", problem, "simplify the schema", part=unmeasured.tool)


@rule("TDQ220", aliases=("nested-dialect",), severity=Severity.ERROR, source="MCP specification, JSON Schema usage")
def invalid_schema(subject: Subject) -> Iterator[Hit]:
    """An input or output schema is not valid JSON Schema of its draft; a warning if a subschema names another draft."""
    for key, shape in (("inputSchema", subject.input_shape), ("outputSchema", subject.output_shape)):
        flaw = find_flaw(shape)
        if flaw:
            yield Hit(
                f"/{key}{flaw[0]}",
                _about(f"/{key}{flaw[0]}", f"{key} is not valid JSON Schema: {flaw[1]}"),
                "correct it; clients refuse the tool or ignore the schema",
            )
        for node in shape.by_keyword.get("$schema", ()):
            # a subschema with an `$id` is a resource of its own, which may declare its dialect
            if node is not shape.nodes[0] and "$id" not in node.schema:
                path, draft = f"{node.path}/$schema", node.schema["$schema"]
                problem = _about(path, f"$schema {str(draft)[:MAX_QUOTE]!r} is below the root")
                yield Hit(path, problem, "keep $schema at the root only", Severity.WARNING)


@rule("TDQ221", severity=Severity.WARNING, source="MCP 2025-11-25, Tool")
def unwrapped_result(subject: Subject) -> Iterator[Hit]:
    """The root of the output schema is not an object; clients of the handshake era refuse the whole tool list."""
    schema = subject.tool.output_schema
    if schema and schema.get("type") != "object":
        yield Hit(
            "/outputSchema/type",
            'the type of outputSchema is not "object", which MCP requires before 2026-07-28',
            "wrap the result in an object with one property",
        )


@rule(
    "TDQ222",
    aliases=("required-references-missing-property",),
    severity=Severity.ERROR,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, required",
    variants=(unknown_requirement,),
)
def unknown_required(subject: Subject) -> Iterator[Hit]:
    """`required` names a property that the schema does not have; a warning below the top level."""
    for shape in (subject.input_shape, subject.output_shape):
        for breach in conformance.unknown_required(shape):
            yield Hit(
                breach.path,
                _about(breach.path, f"required names {breach.message!r}, which is not a property"),
                "define the property, or remove it from required",
                None if breach.path == "/inputSchema/required" else Severity.WARNING,
            )


@rule("TDQ223", severity=Severity.WARNING, dimension="parameter_semantics", source="JSON Schema 2020-12, default")
def unfit_default(subject: Subject) -> Iterator[Hit]:
    """A default violates its own schema; an agent that copies it makes an invalid call."""
    for shape in (subject.input_shape, subject.output_shape):
        for breach, is_null in conformance.unfit_defaults(shape):
            yield Hit(
                breach.path,
                _about(breach.path, f"the default {breach.message}"),
                NULL_FIX if is_null else "correct the default or the schema",
                Severity.INFO if is_null else None,
                shared="have a default null that its type does not allow" if is_null else None,
            )


_REQUIREMENT = {
    "topic": Topic.REQUIREMENT,
    "message": "the text says {claim}, the schema says {constraint}",
    "fix": "correct whichever is wrong",
}
NEED_FIX = "say in the tool's description what each kind of call needs, and what a call without it gets"
ALTERNATIVES_FIX = "say in the text what a call with none or with both gets"
NULL_FIX = "leave the default out, or allow null, as with `str | None = None`"


@rule(
    "TDQ224",
    aliases=("repeated-choice",),
    severity=Severity.WARNING,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, examples and enum",
)
def unfit_value(measured: Measured) -> Iterator[Hit]:
    """An example in the schema or in a text, an enum member or a constant violates the schema."""
    read = [subject for subject in measured.subjects if not subject.tool.is_open("/inputSchema")]
    shapes = {subject.tool.name: subject.input_shape for subject in read}
    places: list[tuple[str, str, Tool | None]] = [("/instructions", measured.catalog.instructions or "", None)]
    for subject in measured.subjects:
        yield from (hit._replace(part=subject.tool) for hit in _unfit_values(subject))
        places += [(path, text, subject.tool) for path, text in subject.texts if "(" in text]
    for path, text, tool in places:
        for name in sorted(called_names(text).intersection(shapes) - {tool.name if tool else ""}):
            for example in find_unfit_calls(name, text, shapes[name].root, path):
                problem = f"the call {example.quote} {example.reason}"
                yield Hit(path, problem, "correct the call; agents copy examples", part=tool)


def _unfit_values(subject: Subject) -> Iterator[Hit]:
    yield from _breaches(subject, conformance.unfit_values, "the value {}", "correct the value or the schema")
    yield from _breaches(subject, conformance.repeated_members, "the enum lists {} twice", "list it once")
    for example in find_unfit_examples(subject.tool, subject.input_shape):
        subject_words = f"{example.parameter!r}: the example" if example.parameter else "the example"
        message = f"{subject_words} {example.quote} {example.reason}"
        yield Hit(example.path, message, "correct the example or the schema; agents copy examples")
    for path, template in misspelled_formats(subject.texts):
        yield Hit(path, f"the format {template} has a letter too many or too few", "write it as YYYY-MM-DD")


@rule("TDQ225", severity=Severity.ERROR, source="MCP 2025-11-25, Tool names", entails=("TDQ217", "TDQ703"))
def unfit_name(subject: Subject) -> Iterator[Hit]:
    """The tool's name is longer than MCP allows, or has a character that it forbids."""
    flaw = conformance.unfit_name(subject.tool.name)
    if flaw:
        yield Hit(
            "/name",
            f"the name {subject.tool.name[:80]!r} {flaw}",
            "use up to 64 letters, digits, underscores and hyphens",
        )


@rule("TDQ232", severity=Severity.ERROR, source="RFC 8259, section 8.2, Unicode characters")
def lone_surrogate(measured: Measured) -> Iterator[Hit]:
    """A string or a key contains half of a UTF-16 pair, which UTF-8 cannot carry; clients refuse or garble the tool."""
    for tool in measured.catalog.tools if not all(map(is_well_formed, measured.strings)) else ():
        broken = ((path, text) for path, text in list_strings(tool.raw) if not is_well_formed(text))
        for path, text in islice(broken, 1):
            problem = f"half of a UTF-16 pair is in {text[:MAX_QUOTE]!a}"
            yield Hit(path, problem, "remove it, or write the whole character", part=tool)


@rule(
    "TDQ239",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, required",
)
def contradicted_requirement(subject: Subject) -> Iterator[Hit]:
    """The text calls a parameter optional that the schema requires, or the reverse; or only the text requires it."""
    yield from _clashes(subject, words=_REQUIREMENT)
    shared = "have parameters that are required for some calls, which no schema says"
    for mention, words in conditional_needs(subject.explanations, subject.input_shape):
        problem = f"{mention.node.name!r}: only the text says that it is {words[:MAX_QUOTE]!r}"
        yield Hit(mention.path, problem, NEED_FIX, Severity.INFO, shared=shared)
    for path, names, words in open_alternatives(subject.texts, subject.input_shape):
        problem = f"{' and '.join(map(repr, names))}: only the text says {words[:MAX_QUOTE]!r}"
        yield Hit(path, problem, ALTERNATIVES_FIX, Severity.INFO, shared=shared)
    if names := open_identifiers(subject.prose, subject.input_shape, subject.explanations):
        problem = f"nothing says which of {' and '.join(map(repr, names))} a call needs"
        yield Hit("/inputSchema/properties", problem, ALTERNATIVES_FIX, Severity.INFO, shared=shared)


def _breaches(
    subject: Subject, find: Callable[[Shape], Iterator[Deviation]], message: str, suggestion: str
) -> Iterator[Hit]:
    for shape in (subject.input_shape, subject.output_shape):
        for breach in find(shape):
            yield Hit(breach.path, _about(breach.path, message.format(breach.message)), suggestion)


def _schema_breaches(subject: Subject, *, words: Mapping[str, str]) -> Iterator[Hit]:
    return _breaches(subject, getattr(conformance, words["find"]), words["message"], words["fix"])


BREACHES = read_family("breaches", _schema_breaches)


def _clashes(subject: Subject, *, words: Mapping[str, str]) -> Iterator[Hit]:
    for clash in subject.clashes.get(Topic(words["topic"]), ()):
        verb = "says" if clash.is_plain else "describes"
        problem = words["message"].format(verb=verb, claim=clash.claim, constraint=clash.constraint)
        yield Hit(clash.mention.path, f"{clash.mention.node.name!r}: {problem}", words["fix"])


CLASHES = read_family("clashes", _clashes)


def _about(path: str, message: str) -> str:
    """The message with the name of the innermost property that the place is in."""
    steps = split_pointer(path)
    names = [name for key, name in pairwise(steps) if key == "properties"]
    return f"{names[-1]!r}: {message}" if names else message
