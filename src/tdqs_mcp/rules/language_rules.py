"""Lane 1, what cannot be judged: descriptions in languages whose cues are not known."""

from collections.abc import Iterator

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.language_detection import LANGUAGE_NAMES
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.rules import quality_rules
from tdqs_mcp.rules.rule import Hit, rule

_SILENT = ", ".join(each.id for each in quality_rules.TOOL_RULES if each.needs_language)


@rule(
    "TDQ150",
    severity=Severity.INFO,
    confidence=Confidence.HIGH,
    source="tdqs-mcp, languages",
)
def unread_language(subject: Subject) -> Iterator[Hit]:
    """The description is in a language whose cues are not known, so some rules were not applied."""
    prose = subject.prose
    if not prose.is_readable:
        name = LANGUAGE_NAMES.get(prose.language or "")
        what = f"the description is in {name}" if name else "the language of the description cannot be told"
        yield Hit("/description", f"{what}; not applied: {_SILENT}", "let a model judge it: name one with --judge")


TOOL_RULES = (unread_language,)
