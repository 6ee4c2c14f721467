"""What directories of servers ask of every tool; only for somebody who means to be listed."""

from collections.abc import Iterator, Mapping

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.results.findings import Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule

_MEANINGS = {
    "readOnlyHint": "true if the tool changes nothing, else false",
    "destructiveHint": "true if a call can delete, overwrite or send what cannot be taken back, else false",
    "idempotentHint": "true if the same call again changes nothing more, else false",
    "openWorldHint": "true if the tool reaches systems outside the server's own, else false",
}


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
