"""Lanes 2, 3 and 6, what the parts are and how they stand to each other: malformed, duplicate, shadowed."""

from collections.abc import Iterator

from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.rules.rule import Hit, rule


@rule(
    "TDQ201",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    source="MCP specification, Tool",
    entails=("TDQ211", "TDQ212"),
)
def malformed_definition(measured: Measured) -> Iterator[Hit]:
    """A part of the definition has a type that MCP does not allow; clients drop the tool or the whole list."""
    for tool in measured.catalog.tools:
        for defect in tool.defects:
            yield Hit(defect.path, defect.message, "give it the type that the MCP specification asks for", part=tool)
    for unmeasured in measured.unmeasured:
        if not unmeasured.tool.defects:
            yield Hit(
                "",
                f"the definition cannot be measured: {unmeasured.reason}",
                "simplify the schema",
                part=unmeasured.tool,
            )


@rule(
    "TDQ202",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    source="MCP specification, Tool names",
)
def duplicate_name(subject: Subject) -> Iterator[Hit]:
    """Another tool of the server has the same name; only one of them can be called."""
    if subject.is_duplicate:
        yield Hit("/name", f"more than one tool is called {subject.tool.name!r}", "rename or remove all but one")


@rule(
    "TDQ301",
    aliases=("shadow-candidate",),
    severity=Severity.WARNING,
    confidence=Confidence.LOW,
    source="TDQS 1.1, shadow prefilter",
)
def shadow_candidate(subject: Subject) -> Iterator[Hit]:
    """A sibling is much cheaper to call and may quietly take this tool's place."""
    shadow = subject.shadow
    if shadow and shadow.cheaper_sibling not in subject.mentions:
        yield Hit(
            "/inputSchema",
            f"a call costs {shadow.invocation_cost}, one of {shadow.cheaper_sibling!r} costs "
            f"{shadow.cheaper_sibling_invocation_cost}: an agent may prefer the cheaper one",
            f"say when {shadow.cheaper_sibling!r} is not enough, or make fewer parameters required",
        )


@rule(
    "TDQ601",
    severity=Severity.WARNING,
    confidence=Confidence.HIGH,
    source="MCP specification, transports and pagination",
)
def faulty_listing(measured: Measured) -> Iterator[Hit]:
    """Something went wrong while the server listed what it offers."""
    for problem in measured.catalog.problems:
        yield Hit("", problem, "clients may see less than you meant to offer")


TOOL_RULES = (duplicate_name, shadow_candidate)
SERVER_RULES = (malformed_definition, faulty_listing)
