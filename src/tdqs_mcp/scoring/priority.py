"""What to fix first: the lowest tools, each with the finding that costs it most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.results.findings import Finding, Severity
from tdqs_mcp.results.scores import ServerScore, ToolScore
from tdqs_mcp.rubrics.rubric import load


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A tool and the finding to begin with."""

    tool: ToolScore
    finding: Finding


def first_fixes(score: ServerScore, limit: int) -> tuple[Fix, ...]:
    """At most `limit` fixes, the lowest TDQS first: the minimum alone is 40% of a server's description quality."""
    judged = {tool.index: tool for tool in score.tools}
    by_tool: dict[int, list[Finding]] = {}
    for finding in score.findings:
        if finding.tool_index is not None and not _is_settled(finding, judged):
            by_tool.setdefault(finding.tool_index, []).append(finding)
    lowest = sorted((tool for tool in score.tools if tool.index in by_tool), key=lambda tool: (tool.tdqs, tool.index))
    return tuple(Fix(tool=tool, finding=_costliest(tool, by_tool[tool.index])) for tool in lowest[:limit])


def _is_settled(finding: Finding, judged: Mapping[int, ToolScore]) -> bool:
    """The judge gave full marks in the finding's dimension, so there is nothing to win."""
    tool = judged.get(finding.tool_index) if finding.tool_index is not None else None
    judgement = tool.judgements.get(finding.dimension) if tool and finding.dimension else None
    return judgement is not None and judgement.score == 5 and finding.severity is not Severity.ERROR


def _costliest(tool: ToolScore, findings: Sequence[Finding]) -> Finding:
    """The worst severity; among equals the dimension with the most weighted points to win."""
    weights = {dimension.key: dimension.weight for dimension in load("tdqs").dimensions}

    def cost(finding: Finding) -> tuple[int, int]:
        dimension = finding.dimension
        points = weights[dimension] * (5 - tool.judgements[dimension].score) if dimension in weights else 0
        return finding.severity.rank, points

    return max(findings, key=cost)
