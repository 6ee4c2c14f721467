"""Lane 5: what a definition may do to its reader, by the marks in its text and never by its phrases."""

from collections.abc import Iterator

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.threats import Threat, ThreatKind
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.rules.rule import Hit, rule

POISONING = "OWASP MCP Top 10, tool poisoning"


@rule("TDQ504", severity=Severity.INFO, confidence=Confidence.LOW, source=POISONING)
def leaked_context(measured: Measured) -> Iterator[Hit]:
    """A link has a place for the conversation, a secret or whatever the agent fills it with, and carries it away."""
    yield from _hits(measured, ThreatKind.LINK, "link to a fixed address, and let the tool ask for the value it needs")


@rule("TDQ505", severity=Severity.WARNING, source="CWE-798, hard-coded credentials")
def embedded_secret(measured: Measured) -> Iterator[Hit]:
    """A string contains something in the format of a key, token or private key."""
    yield from _hits(measured, ThreatKind.SECRET, "revoke it, and show a placeholder such as sk-...")


@rule("TDQ506", severity=Severity.ERROR, source="Unicode TR36, security considerations")
def unseen_characters(measured: Measured) -> Iterator[Hit]:
    """A string contains characters that people cannot see but a model reads."""
    yield from _hits(measured, ThreatKind.UNSEEN, "remove them")


@rule("TDQ507", severity=Severity.WARNING, source="Unicode TR39, mixed-script detection")
def lookalike_letters(measured: Measured) -> Iterator[Hit]:
    """A word mixes letters of two scripts that look alike."""
    yield from _hits(measured, ThreatKind.LOOKALIKE, "write it in one script")


@rule("TDQ508", severity=Severity.ERROR, source="CWE-150, terminal escape sequences")
def terminal_controls(measured: Measured) -> Iterator[Hit]:
    """A string contains control characters, which a terminal executes instead of showing them."""
    yield from _hits(measured, ThreatKind.TERMINAL, "remove them")


@rule("TDQ510", severity=Severity.WARNING, confidence=Confidence.MEDIUM, source=POISONING)
def forged_turn(measured: Measured) -> Iterator[Hit]:
    """A text imitates the end of the definition, a message of the system or the assistant, or a judge's answer."""
    yield from _hits(measured, ThreatKind.TURN, "remove the marker, or describe it in words")


@rule("TDQ511", severity=Severity.WARNING, confidence=Confidence.MEDIUM, source=POISONING)
def encoded_instruction(measured: Measured) -> Iterator[Hit]:
    """A text in Base64 or another encoding decodes to prose."""
    yield from _hits(measured, ThreatKind.ENCODED, "write it as plain text, or remove it", mild=Severity.INFO)


@rule("TDQ512", severity=Severity.WARNING, confidence=Confidence.MEDIUM, source=POISONING)
def commented_instruction(measured: Measured) -> Iterator[Hit]:
    """A text contains a comment, a script, HTML or an image link, which a rendered page hides, runs or fetches."""
    yield from _hits(measured, ThreatKind.MARKUP, "remove it, or write it as plain text", mild=Severity.INFO)


def _hits(measured: Measured, kind: ThreatKind, suggestion: str, *, mild: Severity = Severity.WARNING) -> Iterator[Hit]:
    for part, threat in measured.threats:
        if threat.kind is kind:
            yield Hit(
                threat.path, f"the text {kind}{_quoted(threat)}", suggestion, mild if threat.is_mild else None, part
            )


def _quoted(threat: Threat) -> str:
    """The words as a literal, everything unprintable escaped, and how they were encoded."""
    encoding = f" ({threat.encoding})" if threat.encoding else ""
    return f"{encoding}: {ascii(threat.quote) if threat.kind in _ESCAPED else repr(threat.quote)}"


_ESCAPED = frozenset({ThreatKind.UNSEEN, ThreatKind.LOOKALIKE, ThreatKind.TERMINAL})
"""Where the characters are the point, and letters that look alike would say nothing."""
