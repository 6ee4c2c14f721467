"""The document of a grade."""

from typing import Any, Literal

from pydantic import Field

from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.contract.parts import Server, Subject, generated_by, server_of, text_of
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import grades
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.results.grades import Letter, ServerGrade


class Deduction(Document):
    """One violation of MCP Playground's rules and what it costs."""

    rule: str = Field(description="Our rule's id")
    alias: str = Field(description="MCP Playground's id")
    severity: Severity = Field(description="MCP Playground's")
    points: int = Field(ge=1)
    subject: Subject
    path: str
    message: str
    suggestion: str | None


class Judged(Document):
    """What was listed; null is what was never asked for, and is not judged."""

    tools: int
    resources: int | None
    prompts: int | None


class UnreadTool(Document):
    """A tool that could not be read; the score lacks whatever it costs."""

    name: str
    reason: str


class GradeDocument(Document):
    """A server's grade by MCP Playground's methodology: 100 less all points, plus the bonus, kept within 0-100."""

    server: Server
    methodology: Literal["mcp-playground"]
    score: int | None = Field(ge=0, le=100, description="Null where nothing that could be judged is known")
    letter: Letter | None
    bonus: int
    deductions: list[Deduction]
    judged: Judged
    unread: list[UnreadTool]
    problems: list[str]
    generated_by: str


def grade_document(grade: ServerGrade) -> dict[str, Any]:
    """A server's grade as JSON values, checked against the published schema."""
    document = GradeDocument(
        server=server_of(grade),
        methodology="mcp-playground",
        score=grade.score,
        letter=grade.letter,
        bonus=grade.bonus,
        deductions=[_deduction(deduction) for deduction in grade.deductions],
        judged=Judged(tools=grade.tool_count, resources=grade.resource_count, prompts=grade.prompt_count),
        unread=[
            UnreadTool(name=well_formed(tool.name), reason=well_formed(tool.ungraded.reason))
            for tool in grade.unmeasured
        ],
        problems=[well_formed(problem) for problem in grade.problems],
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)


def _deduction(deduction: grades.Deduction) -> Deduction:
    return Deduction(
        rule=deduction.rule,
        alias=deduction.alias,
        severity=deduction.severity,
        points=deduction.points,
        subject=Subject(kind=deduction.subject.kind, name=well_formed(deduction.subject.name)),
        path=well_formed(deduction.subject.path),
        message=well_formed(deduction.message),
        suggestion=text_of(deduction.suggestion),
    )
