"""The paper's smells that no other rule covers."""

from collections.abc import Iterator

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.vocabulary import Cue
from tdqs_mcp.facts.text.wording import is_latin
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule

MIN_SENTENCES = 3
""""At least three to four sentences" (Hasan et al., arXiv 2602.14878, section 4.1.3, Length and Completeness)."""

_LIMITATIONS = (Cue.LIMIT, Cue.ERROR, Cue.WHEN_NOT, Cue.PREREQUISITE, Cue.PERMISSION, Cue.TIMING, Cue.DESTRUCTION)


@rule(
    "TDQ140",
    aliases=("smell:unstated-limitation",),
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="Hasan et al., arXiv 2602.14878, Limitations",
)
def unstated_limitation(subject: Subject) -> Iterator[Hit]:
    """The description names no limit, failure, prerequisite or caveat."""
    if _is_read(subject) and not any(cue in subject.prose.cues for cue in _LIMITATIONS):
        yield Hit(
            "/description",
            "the description names no limitation",
            "say what the tool does not return, at which size it stops, and when it fails",
        )


@rule(
    "TDQ141",
    aliases=("smell:underspecified-or-incomplete",),
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    persona=Persona.AUDITOR,
    dimension="contextual_completeness",
    source="Hasan et al., arXiv 2602.14878, Length and Completeness",
)
def underspecified_description(subject: Subject) -> Iterator[Hit]:
    """The description has fewer than three sentences."""
    count = len(subject.prose.sentences)
    if 0 < count < MIN_SENTENCES:
        yield Hit(
            "/description",
            f"the description has {count} of at least {MIN_SENTENCES} sentences",
            "add when to use the tool, its limits, and what comes back",
        )


@rule(
    "TDQ142",
    aliases=("smell:exemplar-issues",),
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="Hasan et al., arXiv 2602.14878, Examples",
)
def absent_example(subject: Subject) -> Iterator[Hit]:
    """The description shows no example."""
    if _is_read(subject) and Cue.EXAMPLE not in subject.prose.cues:
        yield Hit(
            "/description", "the description gives no example", "show one call, or a value of the hardest argument"
        )


def _is_read(subject: Subject) -> bool:
    """There is a description in Latin letters, in which English cues can be found."""
    return not subject.signals.is_missing_description and is_latin(subject.tool)
