"""Scores by the formulas of other tools, exact: MCP Playground's grade and mcptest's tool score."""

from fractions import Fraction

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.vocabulary import Cue
from tdqs_mcp.facts.text.wording import count_code_units
from tdqs_mcp.facts.toolset import metadata
from tdqs_mcp.results.findings import Finding, Severity
from tdqs_mcp.results.labels import Deduction, ServerGrade, letter_of
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule_profiles import PLAYGROUND
from tdqs_mcp.scoring.score import unmeasured_tools

START = 100
PRICES = {Severity.ERROR: 15, Severity.WARNING: 5, Severity.INFO: 1}
"""Points that one violation costs (scoring formula)."""

BONUS = 5
DESCRIBED = 20
"""UTF-16 code units of a trimmed description from which a tool counts for the bonus (scoring formula)."""


def grade(measured: Measured) -> ServerGrade:
    """A server's score, letter, and every point that it lost; what was never listed is not judged."""
    catalog = measured.catalog
    deductions = tuple(_deductions(measured))
    bonus = BONUS if _is_well_described(measured) else 0
    score = _score(measured, lost=sum(deduction.points for deduction in deductions), bonus=bonus)
    return ServerGrade(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        score=score,
        letter=None if score is None else letter_of(score),
        bonus=bonus,
        deductions=deductions,
        tool_count=len(catalog.tools),
        resource_count=None if catalog.resources is None else len(metadata.listed_resources(catalog)),
        prompt_count=None if catalog.prompts is None else len(catalog.prompts),
        unmeasured=tuple(unmeasured_tools(measured)),
        problems=catalog.problems,
    )


def _score(measured: Measured, *, lost: int, bonus: int) -> int | None:
    """0 for a server that offers nothing; None where nothing is known that could be graded."""
    catalog = measured.catalog
    if metadata.is_empty(catalog):
        return 0
    if not (measured.subjects or metadata.listed_resources(catalog) or catalog.prompts):
        return None
    return max(0, min(START, START - lost + bonus))


def _is_well_described(measured: Measured) -> bool:
    """Every tool that could be read has a description of the wanted length, and there is one."""
    lengths = [count_code_units(subject.tool) for subject in measured.subjects]
    return bool(lengths) and min(lengths) >= DESCRIBED


def _deductions(measured: Measured) -> list[Deduction]:
    """Every violation, in the order of the source's rules, then of the catalog."""
    found = [_deduction(finding) for finding in registry.check(measured, registry.select(profile="playground"))]
    return sorted(found, key=lambda deduction: _ORDER[deduction.alias])


_ORDER = {alias: place for place, alias in enumerate(PLAYGROUND)}


def _deduction(finding: Finding) -> Deduction:
    alias = next(alias for alias in finding.aliases if alias in PLAYGROUND)
    return Deduction(
        rule=finding.rule,
        alias=alias,
        severity=PLAYGROUND[alias],
        points=PRICES[PLAYGROUND[alias]],
        subject=finding.subject,
        message=finding.message,
        suggestion=finding.suggestion,
    )


SHORTEST = 20
"""Characters below which a description says nothing (DESC-001)."""

AMPLE = 100
"""Characters from which a description is long enough: one full sentence."""

LONGEST = 500
"""Characters above which a description is too long (DESC-002)."""

FULL = 1000
"""Each heuristic gives thousandths, 0-1000."""


def mcptest_score(subject: Subject) -> Fraction:
    """A tool's score after mcptest's `tool_quality` block, 0-1: the mean of six heuristics.

    mcptest names the six (presence, length, parameters, conciseness, return format, annotations) and says that they are
    averaged; its formulas and weights are not published. Those here are ours: equal weights, and the bounds of its own
    rules where it has stated any. Numbers near a threshold may differ from its.
    """
    signals, length = subject.signals, len(trim(subject.tool.description or ""))
    described, count = signals.params_with_descriptions, signals.param_count
    says_result = signals.has_output_schema or Cue.RETURN in subject.prose.cues
    thousandths = (
        FULL if length else 0,
        0 if length < SHORTEST else FULL * min(length, AMPLE) // AMPLE,
        FULL * described // count if count else FULL,
        FULL * LONGEST // max(length, LONGEST) if length else 0,
        FULL if says_result else 0,
        FULL if signals.has_hints else 0,
    )
    return Fraction(sum(thousandths), FULL * len(thousandths))
