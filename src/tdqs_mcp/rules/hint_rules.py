"""Hints: annotations that name or text contradict, that a reading tool leaves out, or that a directory asks for."""

from collections.abc import Iterator, Mapping

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text import statements
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule

_SOURCE = "MCP specification, ToolAnnotations"

_MEANINGS = {
    "readOnlyHint": "true if the tool changes nothing, else false",
    "destructiveHint": "true if a call can delete, overwrite or send what cannot be taken back, else false",
    "idempotentHint": "true if the same call again changes nothing more, else false",
    "openWorldHint": "true if the tool reaches systems outside the server's own, else false",
}


@rule("TDQ227", severity=Severity.WARNING, dimension="behavioral_transparency", source=_SOURCE)
def contradictory_hints(subject: Subject) -> Iterator[Hit]:
    """Two hints cannot both be true: a tool that only reads destroys nothing."""
    if subject.signals.read_only and subject.signals.destructive:
        yield Hit(
            "/annotations/destructiveHint",
            "readOnlyHint and destructiveHint are both true",
            "set destructiveHint to false, or readOnlyHint if the tool writes",
        )


@rule("TDQ228", severity=Severity.WARNING, dimension="behavioral_transparency", source=_SOURCE)
def writing_read_only_tool(subject: Subject) -> Iterator[Hit]:
    """The name or a later sentence says that the tool writes, but the annotations say that it only reads."""
    if not subject.signals.read_only:
        return
    if claim := statements.said_writing(subject.tool, subject.prose, subject.mentions):
        yield Hit("/annotations/readOnlyHint", f"readOnlyHint is true, but {claim}", "correct whichever is wrong")


@rule(
    "TDQ240",
    severity=Severity.WARNING,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def harmless_deletion(subject: Subject) -> Iterator[Hit]:
    """The tool deletes, but destructiveHint says that it only adds."""
    is_denied = subject.signals.destructive is False and not subject.signals.read_only
    word = statements.said_deleting(subject.tool, subject.prose) if is_denied else None
    if word:
        yield Hit(
            "/annotations/destructiveHint",
            f"destructiveHint is false, but {subject.tool.name!r} says {word!r}",
            "set it to true, so that clients ask before the call",
        )


@rule(
    "TDQ241",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def idempotent_addition(subject: Subject) -> Iterator[Hit]:
    """Each call adds or sends one more, but idempotentHint says that a second call changes nothing."""
    is_claimed = (subject.tool.annotations or {}).get("idempotentHint") is True and not subject.signals.read_only
    word = statements.said_adding(subject.tool, subject.prose) if is_claimed else None
    if word:
        yield Hit(
            "/annotations/idempotentHint",
            f"idempotentHint is true, but {subject.tool.name!r} says {word!r}",
            "set it to false, or say in the description why a second call changes nothing",
        )


@rule(
    "TDQ242",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def unhinted_reading(subject: Subject) -> Iterator[Hit]:
    """The tool only reads, but does not declare readOnlyHint, so clients treat it as one that writes."""
    if "readOnlyHint" not in (subject.tool.annotations or {}) and statements.is_reading(subject.prose):
        yield Hit(
            "/annotations",
            "the tool only reads, but does not declare readOnlyHint, which defaults to false",
            "set readOnlyHint to true",
        )


@rule(
    "TDQ720",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="OpenAI, Apps SDK, app submission guidelines",
)
def undeclared_app_hint(subject: Subject) -> Iterator[Hit]:
    """A read-only, destructive or open-world hint is not declared; an error with `--profile openai-apps`."""
    signals = subject.signals
    hints = {
        "readOnlyHint": signals.read_only,
        "destructiveHint": signals.destructive,
        "openWorldHint": signals.open_world,
    }
    yield from _undeclared(hints)


@rule(
    "TDQ721",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="Anthropic, Connectors Directory: support article 12922490 and its submission checklist",
)
def undeclared_connector_annotation(subject: Subject) -> Iterator[Hit]:
    """A title or hint is not declared; an error with `--profile anthropic-directory`."""
    signals = subject.signals
    annotations = subject.tool.annotations
    title = subject.tool.title or (annotations.get("title") if isinstance(annotations, Mapping) else None)
    if not title:
        yield Hit("/annotations/title", "the tool has no title", "add a title in words for people")
    writes = {} if signals.read_only else {"destructiveHint": signals.destructive, "idempotentHint": signals.idempotent}
    yield from _undeclared({"readOnlyHint": signals.read_only, **writes, "openWorldHint": signals.open_world})


def _undeclared(hints: Mapping[str, bool | None]) -> Iterator[Hit]:
    for name, value in hints.items():
        if value is None:
            yield Hit(f"/annotations/{name}", f"{name} is not declared", f"declare {name}: {_MEANINGS[name]}")
