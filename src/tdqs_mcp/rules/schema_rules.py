"""Lane 2: definitions that MCP or JSON Schema does not allow, or that their own text contradicts."""

from collections.abc import Callable, Iterator
from itertools import islice, pairwise

from tdqs_mcp.facts.schema import conformance
from tdqs_mcp.facts.schema.conformance import Breach, find_flaw
from tdqs_mcp.facts.schema.walk import Shape, split_pointer
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.claims import Topic
from tdqs_mcp.facts.text.parameter_mentions import Clash
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule


@rule("TDQ201", severity=Severity.ERROR, source="MCP specification, Tool", entails=("TDQ211", "TDQ212"))
def malformed_definition(measured: Measured) -> Iterator[Hit]:
    """A part of the definition has a type that MCP does not allow; clients drop the tool or the whole list."""
    for tool in measured.catalog.tools:
        for defect in tool.defects:
            yield Hit(defect.path, defect.message, defect.advice, part=tool)
    for unmeasured in measured.unmeasured:
        if not unmeasured.tool.defects:
            yield Hit(
                "",
                f"the definition cannot be measured: {unmeasured.reason}",
                "simplify the schema",
                part=unmeasured.tool,
            )


@rule("TDQ220", severity=Severity.ERROR, source="MCP specification, JSON Schema usage")
def invalid_schema(measured: Measured) -> Iterator[Hit]:
    """An input or output schema is not valid JSON Schema of the draft that it declares."""
    for subject in measured.subjects:
        for key, shape in (("inputSchema", subject.input_shape), ("outputSchema", subject.output_shape)):
            flaw = find_flaw(shape)
            if flaw:
                yield Hit(
                    f"/{key}{flaw[0]}",
                    _about(f"/{key}{flaw[0]}", f"{key} is not valid JSON Schema: {flaw[1]}"),
                    "correct it; clients refuse the tool or ignore the schema",
                    part=subject.tool,
                )


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
    entails=("TDQ215",),
)
def unknown_required(subject: Subject) -> Iterator[Hit]:
    """`required` names a property that the schema does not have; a warning below the top level."""
    for shape in (subject.input_shape, subject.output_shape):
        for breach in conformance.unknown_required(shape):
            yield Hit(
                breach.path,
                _about(breach.path, f"required names {breach.what!r}, which is not a property"),
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
                _about(breach.path, f"the default {breach.what}"),
                "leave the default out, or allow null" if is_null else "correct the default or the schema",
                Severity.INFO if is_null else None,
            )


@rule("TDQ224", severity=Severity.WARNING, dimension="parameter_semantics", source="JSON Schema 2020-12, examples")
def unfit_value(subject: Subject) -> Iterator[Hit]:
    """An example, an enum member or a constant violates its own schema."""
    yield from _breaches(subject, conformance.unfit_values, "the value {}", "correct the value or the schema")


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


@rule("TDQ229", severity=Severity.ERROR, source="JSON Schema 2020-12, $ref")
def unresolvable_reference(subject: Subject) -> Iterator[Hit]:
    """A `$ref` leads nowhere or back to itself, so neither client nor agent knows what is meant."""
    yield from _breaches(
        subject, conformance.dangling_references, "$ref {}", "define the target or write the schema out"
    )


@rule("TDQ230", severity=Severity.ERROR, source="MCP specification, JSON Schema usage")
def remote_reference(subject: Subject) -> Iterator[Hit]:
    """A `$ref` leads out of the definition; clients do not fetch it, and an agent never sees the target."""
    yield from _breaches(
        subject,
        conformance.remote_references,
        "{} lies outside the definition and is not fetched",
        "copy the target into $defs",
    )


@rule("TDQ231", severity=Severity.ERROR, dimension="parameter_semantics", source="JSON Schema 2020-12, validation")
def impossible_bounds(subject: Subject) -> Iterator[Hit]:
    """No value can meet the limits of a schema."""
    yield from _breaches(subject, conformance.impossible_bounds, "no value fits {}", "correct the limits")


@rule("TDQ232", severity=Severity.ERROR, source="RFC 8259, section 8.2, Unicode characters")
def lone_surrogate(measured: Measured) -> Iterator[Hit]:
    """A string or a key contains half of a UTF-16 pair, which UTF-8 cannot carry; clients refuse or garble the tool."""
    for tool in measured.catalog.tools:
        for breach in islice(conformance.lone_surrogates(tool.raw), 1):
            yield Hit(breach.path, breach.what, "remove it, or write the whole character", part=tool)


@rule(
    "TDQ233",
    severity=Severity.WARNING,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12 validation, pattern",
)
def invalid_pattern(subject: Subject) -> Iterator[Hit]:
    """A `pattern` is not a regular expression of JSON Schema; clients that compile it refuse the tool."""
    yield from _breaches(subject, conformance.invalid_patterns, "the pattern {}", "write it in ECMA-262's syntax")


@rule(
    "TDQ234", severity=Severity.WARNING, dimension="parameter_semantics", source="JSON Schema 2020-12 validation, enum"
)
def repeated_choice(subject: Subject) -> Iterator[Hit]:
    """An enum lists a value twice."""
    yield from _breaches(subject, conformance.repeated_members, "the enum lists {} twice", "list it once")


@rule(
    "TDQ235",
    aliases=("type-enum-contradiction",),
    severity=Severity.WARNING,
    dimension="parameter_semantics",
    source="AgentGauge, measured effect on success: -13 to -29 points",
)
def contradicted_type(subject: Subject) -> Iterator[Hit]:
    """The text gives a parameter a different type than the schema."""
    for clash in subject.clashes.get(Topic.TYPE, ()):
        said = f"the text says {clash.said}" if clash.is_plain else f"the text describes {clash.said}"
        yield _clash(clash, f"{said}, the schema says {clash.held}", "make text and schema name the same type")


@rule(
    "TDQ236",
    severity=Severity.WARNING,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="AgentGauge, measured effect on success: -13 to -29 points",
)
def contradicted_choices(subject: Subject) -> Iterator[Hit]:
    """The text lists values that the schema does not allow."""
    for clash in subject.clashes.get(Topic.CHOICES, ()):
        yield _clash(
            clash, f"the text lists {clash.said}, but the schema allows {clash.held}", "list the values of the enum"
        )


@rule(
    "TDQ237",
    severity=Severity.WARNING,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, default",
)
def contradicted_default(subject: Subject) -> Iterator[Hit]:
    """The text names a different default than the schema."""
    for clash in subject.clashes.get(Topic.DEFAULT, ()):
        yield _clash(
            clash,
            f"the text says that the default is {clash.said}, the schema says {clash.held}",
            "correct whichever is wrong",
        )


@rule(
    "TDQ238",
    severity=Severity.WARNING,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, validation",
)
def contradicted_range(subject: Subject) -> Iterator[Hit]:
    """The text names a different limit than the schema."""
    for clash in subject.clashes.get(Topic.RANGE, ()):
        yield _clash(clash, f"the text says {clash.said!r}, the schema says {clash.held}", "correct whichever is wrong")


@rule(
    "TDQ239",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="JSON Schema 2020-12, required",
)
def contradicted_requirement(subject: Subject) -> Iterator[Hit]:
    """The text calls a parameter optional that the schema requires, or the reverse."""
    for clash in subject.clashes.get(Topic.REQUIREMENT, ()):
        yield _clash(clash, f"the text says {clash.said}, the schema says {clash.held}", "correct whichever is wrong")


def _breaches(
    subject: Subject, find: Callable[[Shape], Iterator[Breach]], message: str, suggestion: str
) -> Iterator[Hit]:
    for shape in (subject.input_shape, subject.output_shape):
        for breach in find(shape):
            yield Hit(breach.path, _about(breach.path, message.format(breach.what)), suggestion)


def _clash(clash: Clash, message: str, suggestion: str) -> Hit:
    return Hit(clash.mention.path, f"{clash.mention.node.name!r}: {message}", suggestion)


def _about(path: str, message: str) -> str:
    """The message with the name of the innermost property that the place is in."""
    steps = split_pointer(path)
    names = [name for key, name in pairwise(steps) if key == "properties"]
    return f"{names[-1]!r}: {message}" if names else message
