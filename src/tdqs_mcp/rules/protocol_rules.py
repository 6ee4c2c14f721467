"""Rules about the protocol's form and about hidden, forged or hostile text."""

from collections.abc import Iterator

from tdqs_mcp.facts.schema import protocol
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.model import ListedPrompt, Resource, Tool
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.linter_rules import undeclared_properties
from tdqs_mcp.rules.rule import Hit, rule


@rule("TDQ260", severity=Severity.ERROR, source="MCP 2026-07-28, Tools, x-mcp-header")
def unfit_header(subject: Subject) -> Iterator[Hit]:
    """A parameter cannot be mirrored into an HTTP header as its `x-mcp-header` asks, so clients leave the tool out."""
    for breach in protocol.unfit_headers(subject.input_shape):
        yield Hit(
            breach.path,
            f"x-mcp-header {breach.message}; clients over HTTP leave the tool out",
            "use a unique header name, on a string, integer or boolean outside arrays",
        )


@rule(
    "TDQ261",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    source="MCP 2026-07-28, Tools, x-mcp-header",
)
def mirrored_secret(subject: Subject) -> Iterator[Hit]:
    """A password, key or token is mirrored into an HTTP header, which proxies on the way can read and log."""
    for breach in protocol.mirrored_secrets(subject.input_shape):
        yield Hit(
            breach.path,
            f"{breach.message!r} is sensitive, and every proxy can read it in the header",
            "remove x-mcp-header; let proxies route by a value that is not secret",
        )


@rule("TDQ262", severity=Severity.ERROR, source="MCP 2026-07-28, Overview, icons")
def refused_icon(measured: Measured) -> Iterator[Hit]:
    """An icon has no address, or one that clients refuse; for an icon of the wrong type they refuse the whole list."""
    for breach, is_mild in protocol.refused_icons(measured.catalog.server_info):
        yield _icon(f"/serverInfo{breach.path}", breach.message, None, is_mild=is_mild)
    for part in _parts(measured):
        for breach, is_mild in protocol.refused_icons(part.raw):
            yield _icon(breach.path, breach.message, part, is_mild=is_mild)


def _icon(path: str, owner: str, part: Tool | Resource | ListedPrompt | None, *, is_mild: bool) -> Hit:
    fix = 'give each icon a src with https: or data:, such as {"src": "https://…/icon.png", "sizes": ["48x48"]}'
    return Hit(path, owner, fix, Severity.WARNING if is_mild else None, part)


@rule("TDQ263", severity=Severity.ERROR, source="MCP 2026-07-28, Overview, _meta")
def malformed_meta(measured: Measured) -> Iterator[Hit]:
    """`_meta` is not an object, or has a key that is not in the form that MCP asks for."""
    for part in _parts(measured):
        for breach, is_mild in protocol.malformed_meta(part.raw):
            yield Hit(
                breach.path,
                breach.message,
                "begin and end the name with a letter or digit, after a prefix of your own, such as com.example/name",
                Severity.WARNING if is_mild else None,
                part,
            )


@rule("TDQ264", severity=Severity.ERROR, source="MCP Apps 2026-01-26, Resource Discovery")
def broken_app_link(measured: Measured) -> Iterator[Hit]:
    """The tool's entry for MCP Apps leads to nothing that a host can show, or hides the tool."""
    for tool in measured.catalog.tools:
        for breach, is_mild in protocol.broken_app_links(tool, measured.catalog):
            yield Hit(
                breach.path,
                breach.message,
                f"link a ui:// resource of type {protocol.APP_TYPE} in _meta.ui.resourceUri",
                Severity.WARNING if is_mild else None,
                tool,
            )


@rule("TDQ265", severity=Severity.ERROR, source="MCP 2025-11-25, Tasks, Tool-Level Negotiation")
def unusable_task_support(measured: Measured) -> Iterator[Hit]:
    """`execution.taskSupport` has a value that clients refuse, or requires tasks of a server that has none."""
    for tool in measured.catalog.tools:
        for breach in protocol.unusable_task_support(tool, measured.catalog):
            yield Hit(
                breach.path,
                breach.message,
                "write forbidden, optional or required, and declare tasks.requests.tools.call for the last two",
                part=tool,
            )


@rule("TDQ266", severity=Severity.ERROR, source="MCP 2026-07-28, Caching")
def unfit_caching(measured: Measured) -> Iterator[Hit]:
    """An answer of revision 2026-07-28 lacks `ttlMs` or `cacheScope`, or has a value that clients refuse."""
    for breach in protocol.unfit_caching(measured.catalog):
        yield Hit(
            breach.path,
            breach.message,
            "send both with each list, such as ttlMs 300000, and cacheScope public if everybody gets the same list",
        )


@rule("TDQ267", severity=Severity.WARNING, source="JSON Schema 2020-12, section 8.1.1, $schema")
def nested_dialect(subject: Subject) -> Iterator[Hit]:
    """A subschema has a `$schema` of its own, which JSON Schema allows at the root only."""
    for shape in (subject.input_shape, subject.output_shape):
        for breach in protocol.nested_dialects(shape):
            yield Hit(breach.path, f"$schema {breach.message} is below the root", "keep $schema at the root only")


@rule(
    "TDQ268",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="MCP 2026-07-28, Tools, Tool",
    variants=(undeclared_properties,),
)
def open_parameters(subject: Subject) -> Iterator[Hit]:
    """The tool has no parameters, but its schema accepts any, so an agent that invents one gets no error."""
    if subject.tool.is_mcp and protocol.takes_anything(subject.tool):
        yield Hit(
            "/inputSchema",
            "the tool has no parameters, but its schema accepts any",
            'add "additionalProperties": false, the form that MCP recommends',
        )


def _parts(measured: Measured) -> Iterator[Tool | Resource | ListedPrompt]:
    catalog = measured.catalog
    yield from catalog.tools
    yield from catalog.resources or ()
    yield from catalog.prompts or ()
