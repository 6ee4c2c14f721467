"""A tool's 0..1 score after mcptest's `tool_quality` block: the mean of six heuristics, exact.

mcptest names the six and says that they are averaged; its formulas and weights are not published. Those here are ours:
equal weights, and the bounds of its own rules where it has stated any. Numbers near a threshold may differ from its.
"""

from dataclasses import dataclass, fields
from fractions import Fraction

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import Cue

SHORTEST = 20
"""Characters below which a description says nothing (DESC-001)."""

AMPLE = 100
"""Characters from which a description is long enough: one full sentence."""

LONGEST = 500
"""Characters above which a description is too long (DESC-002)."""

FULL = 1000
"""Each heuristic gives thousandths, 0-1000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heuristics:
    """What each of the six gives one tool, in thousandths."""

    presence: int
    """Full where there is a description."""

    length: int
    """Nothing below 20 characters, then in proportion, full from 100."""

    parameters: int
    """The share of the top-level parameters whose schema has a description; full without parameters."""

    conciseness: int
    """Full up to 500 characters, then 500 to the length; nothing without a description."""

    return_format: int
    """Full where an output schema or the description says what comes back."""

    annotations: int
    """Full where at least one of the four hints is declared as a boolean."""

    @property
    def score(self) -> Fraction:
        """The mean of the six, 0-1."""
        values = [getattr(self, field.name) for field in fields(self)]
        return Fraction(sum(values), FULL * len(values))


def assess(subject: Subject) -> Heuristics:
    """The six heuristics of a tool."""
    signals, length = subject.signals, len(trim(subject.tool.description or ""))
    described, count = signals.params_with_descriptions, signals.param_count
    says_result = signals.has_output_schema or Cue.RETURN in subject.prose.cues
    return Heuristics(
        presence=FULL if length else 0,
        length=0 if length < SHORTEST else FULL * min(length, AMPLE) // AMPLE,
        parameters=FULL * described // count if count else FULL,
        conciseness=FULL * LONGEST // max(length, LONGEST) if length else 0,
        return_format=FULL if says_result else 0,
        annotations=FULL if signals.has_hints else 0,
    )
