"""Findings of a model that has read the code of tools; never among those that rules prove."""

from dataclasses import dataclass

from tdqs_mcp.results.contract import Inline, Internal, Name
from tdqs_mcp.results.findings import OfServer
from tdqs_mcp.results.scores import UngradedTool
from tdqs_mcp.results.tool_code import CodeRemark, RemarkKind
from tdqs_mcp.results.verdicts import JudgeStamp


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinding:
    """A statement of a model about a tool's definition and code. Its quotations are checked, the statement is not."""

    index: Internal[int]
    tool: Name
    remark: Inline[CodeRemark]
    read_by: str
    """Model that has read the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReview(OfServer):
    """Definitions held against their code by a model."""

    judge: JudgeStamp
    tool_count: int
    reviewed_tool_count: int
    """Tools with an answer that could be used."""

    findings: tuple[ModelFinding, ...]
    ungraded: tuple[UngradedTool, ...]
    """Tools without one."""

    problems: tuple[str, ...] = ()

    def count(self, kind: RemarkKind) -> int:
        """Return the number of findings of a kind."""
        return sum(finding.remark.kind is kind for finding in self.findings)
