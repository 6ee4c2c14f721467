"""Why a test about tool quality fails: the number, the lowest tools, and what to do about them."""

from collections.abc import Sequence

from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.words import score_words
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.scores import ServerScore, ToolScore

MAX_TOOLS = 5
"""Tools in a message; the lowest scores come first."""

MAX_FINDINGS = 3
"""Findings of each, the worst first."""


def assertion_text(score: ServerScore, missed: Sequence[str]) -> str:
    """A few lines for a test report: what was missed, then the lowest tools with their worst findings."""
    overall = "no overall score" if score.rollup.overall is None else f"overall {score_words(score.rollup.overall)}"
    calibration = f", calibration {score.judge.calibration}" if score.judge.calibration else ""
    lines = [
        f"{printable(score.server)}: {'; '.join(map(printable, missed))}",
        f"{overall}; TDQS {score.spec_version} by {score.judge.id}{calibration}",
    ]
    lines += [line for tool in _worst(score) for line in _tool(tool, score.findings)]
    lines += [f"  {printable(each.name)}: {printable(each.ungraded.reason)}" for each in score.ungraded[:MAX_TOOLS]]
    return "\n".join(lines)


def _worst(score: ServerScore) -> list[ToolScore]:
    charged = {finding.tool_index for finding in score.findings}
    return sorted((tool for tool in score.tools if tool.index in charged), key=lambda tool: tool.tdqs)[:MAX_TOOLS]


def _tool(tool: ToolScore, findings: Sequence[Finding]) -> list[str]:
    own = [finding for finding in findings if finding.tool_index == tool.index]
    lines = [f"  {printable(tool.name)} {score_words(tool.tdqs)}"]
    for finding in own[:MAX_FINDINGS]:
        lines.append(f"    {finding.severity} {finding.rule} {printable(finding.message)}")
        if finding.suggestion:
            lines.append(f"      -> {printable(finding.suggestion)}")
    hidden = len(own) - MAX_FINDINGS
    return [*lines, f"    and {hidden} more"] if hidden > 0 else lines
