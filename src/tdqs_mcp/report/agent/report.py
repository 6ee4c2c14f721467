"""What stands behind a score: parts of the document of `score --format json`, fenced."""

from dataclasses import replace
from typing import Any, TypeAlias

from tdqs_mcp.report.contract.labels import label_document
from tdqs_mcp.report.contract.scores import score_document
from tdqs_mcp.report.fence import NOTICE, fenced
from tdqs_mcp.results.labels import LabelledTool, LabelScore
from tdqs_mcp.results.scores import ServerScore, ToolScore

Scored: TypeAlias = ServerScore | LabelScore
GradedTool: TypeAlias = ToolScore | LabelledTool

OURS = frozenset({"flags", "serverFlags", "smells", "severity", "specVersion", "generatedBy", "aliases"})
"""Keys of a score document whose texts are our own words, not the definition's or a judge's."""


def rubric_of(score: Scored) -> str:
    """The rubric that a score is by."""
    return "tdqs" if isinstance(score, ServerScore) else score.rubric


def report_document(score: Scored) -> dict[str, Any]:
    """All of it."""
    return {"notice": NOTICE, **_fenced(_document(score))}


def tool_details(score: Scored, tool: GradedTool) -> dict[str, Any]:
    """One tool's entry, and its findings."""
    findings = tuple(finding for finding in score.findings if finding.tool_index == tool.index)
    alone: Scored = replace(score, tools=(tool,), findings=findings)  # type: ignore[arg-type]  # a tool of this score
    document = _document(alone)
    return {**_fenced(document["tools"][0]), "findings": _fenced(document["findings"])}


def set_details(score: ServerScore) -> dict[str, Any]:
    """The reasons for the tool set's scores."""
    document = score_document(replace(score, tools=(), ungraded=(), findings=()))
    keys = ("coherenceJustifications", "coherenceSummary", "shadowingRisks", "shadowCandidates")
    return {key: _fenced(document[key]) for key in keys}


def _document(score: Scored) -> dict[str, Any]:
    return score_document(score) if isinstance(score, ServerScore) else label_document(score)


def _fenced(document: Any) -> Any:  # noqa: ANN401  # any JSON value
    return fenced(document, ours=OURS)
