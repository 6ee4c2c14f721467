"""Lane 5, what a definition tries to do to its reader; apart from quality, for a hostile one may be well written."""

from collections.abc import Iterator

from tdqs_mcp.facts.hostile import Threat
from tdqs_mcp.facts.ploys import Ploy
from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.rules.rule import Hit, rule

POISONING = "OWASP MCP Top 10, tool poisoning"


@rule(
    "TDQ501",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    source="TDQS, scored by a model that reads the definition",
)
def addressed_judge(measured: Measured) -> Iterator[Hit]:
    """A text speaks to whoever grades the definition: it asks for a score, claims one or answers for the judge."""
    yield from _hits(measured, Ploy.JUDGE, "speaks to the judge", "say what the tool does; a score follows from that")


@rule("TDQ502", severity=Severity.ERROR, confidence=Confidence.HIGH, source=POISONING)
def overridden_instructions(measured: Measured) -> Iterator[Hit]:
    """A text tells the agent to set aside the instructions that it has."""
    yield from _hits(measured, Ploy.OVERRIDE, "overrides the agent's instructions", "remove it")


@rule("TDQ503", severity=Severity.ERROR, confidence=Confidence.HIGH, source=POISONING)
def concealed_action(measured: Measured) -> Iterator[Hit]:
    """A text wants something kept from the user."""
    yield from _hits(measured, Ploy.CONCEAL, "keeps something from the user", "remove it: the user may know everything")


@rule("TDQ504", severity=Severity.ERROR, confidence=Confidence.MEDIUM, source=POISONING)
def leaked_context(measured: Measured) -> Iterator[Hit]:
    """A text asks for secrets, private files, the system prompt or the whole conversation."""
    yield from _hits(
        measured, Ploy.LEAK, "asks for what the tool must not have", "ask for the one value that the tool needs"
    )


@rule("TDQ505", severity=Severity.ERROR, confidence=Confidence.HIGH, source="CWE-798, hard-coded credentials")
def embedded_secret(measured: Measured) -> Iterator[Hit]:
    """A string holds something in the format of a key, token or private key."""
    yield from _hits(measured, Ploy.SECRET, "looks like a secret", "revoke it, and show a placeholder such as sk-...")


@rule("TDQ506", severity=Severity.ERROR, confidence=Confidence.HIGH, source="Unicode TR36, security considerations")
def unseen_characters(measured: Measured) -> Iterator[Hit]:
    """A string holds characters that a reader cannot see and a model reads."""
    yield from _hits(measured, Ploy.UNSEEN, "holds characters that nobody sees", "remove them")


@rule("TDQ507", severity=Severity.WARNING, confidence=Confidence.HIGH, source="Unicode TR39, mixed-script detection")
def lookalike_letters(measured: Measured) -> Iterator[Hit]:
    """A word mixes letters of two scripts that look alike."""
    yield from _hits(measured, Ploy.LOOKALIKE, "mixes scripts inside a word", "write it in one script")


@rule("TDQ508", severity=Severity.ERROR, confidence=Confidence.HIGH, source="CWE-150, terminal escape sequences")
def terminal_controls(measured: Measured) -> Iterator[Hit]:
    """A string holds control characters, which a terminal obeys instead of showing them."""
    yield from _hits(measured, Ploy.TERMINAL, "controls the terminal", "remove them")


@rule("TDQ509", severity=Severity.ERROR, confidence=Confidence.MEDIUM, source=POISONING)
def redirected_tools(measured: Measured) -> Iterator[Hit]:
    """A text changes how other tools are used: what they send, to whom, or whether they are called at all."""
    yield from _hits(measured, Ploy.REDIRECT, "changes what other tools do", "speak of this tool only")


@rule("TDQ510", severity=Severity.ERROR, confidence=Confidence.MEDIUM, source=POISONING)
def forged_turn(measured: Measured) -> Iterator[Hit]:
    """A text pretends that the definition has ended, or that the system, the assistant or a judge speaks."""
    yield from _hits(
        measured, Ploy.TURN, "forges a turn of the conversation", "remove the marker or describe it in words"
    )


@rule("TDQ511", severity=Severity.ERROR, confidence=Confidence.HIGH, source=POISONING)
def encoded_instruction(measured: Measured) -> Iterator[Hit]:
    """An instruction stands there in an encoding, a cipher, or in letters that only look like its own."""
    yield from _hits(measured, Ploy.ENCODED, "hides an instruction", "remove it")


@rule("TDQ512", severity=Severity.ERROR, confidence=Confidence.HIGH, source=POISONING)
def commented_instruction(measured: Measured) -> Iterator[Hit]:
    """A comment, which a rendered page does not show, tells the agent what to do."""
    yield from _hits(measured, Ploy.COMMENT, "hides an instruction in a comment", "remove it, or say it in the open")


def _hits(measured: Measured, ploy: Ploy, what: str, suggestion: str) -> Iterator[Hit]:
    for part, threat in measured.threats:
        if threat.ploy is ploy:
            severity = Severity.WARNING if threat.is_mild else None
            yield Hit(threat.path, f"the text {what}{_quoted(threat)}", suggestion, severity, part)


def _quoted(threat: Threat) -> str:
    """The words as a literal, everything unprintable escaped, and how they were hidden."""
    hidden = f" ({threat.disguise})" if threat.disguise else ""
    return f"{hidden}: {ascii(threat.quote) if threat.ploy in _ESCAPED else repr(threat.quote)}"


_ESCAPED = frozenset({Ploy.UNSEEN, Ploy.LOOKALIKE, Ploy.TERMINAL})
"""Where the characters are the point, and letters that look alike would say nothing."""

TOOL_RULES = ()
SERVER_RULES = (
    addressed_judge,
    overridden_instructions,
    concealed_action,
    leaked_context,
    embedded_secret,
    unseen_characters,
    lookalike_letters,
    terminal_controls,
    redirected_tools,
    forged_turn,
    encoded_instruction,
    commented_instruction,
)
