"""Definitions held against their code by a model: its cases, and the review from its answers."""

from collections.abc import Sequence

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.verdict_guard import unwrap_guard
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.labels import CodeReview, ModelFinding
from tdqs_mcp.results.scores import UngradedTool
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import ToolCase
from tdqs_mcp.rubrics.rubric import CODE

MAX_NAMED = 5
"""Tools without code that a report names."""

UNNAMED = "a model that is not named"


def code_cases(measured: Measured, code: CodeReport, *, tool: str | None = None) -> list[ToolCase]:
    """Each tool whose handler was found, with the slice of its code; only one of them, if it is named."""
    from tdqs_mcp.code.slices import slice_code  # noqa: PLC0415  # most runs read no code

    subjects = [subject for subject in measured.subjects if tool in (None, subject.tool.name)]
    slices = slice_code(code, [subject.tool.name for subject in subjects])
    return [
        ToolCase(
            subject=subject,
            names=measured.names,
            rubric=CODE,
            measured=measured,
            code=slices[subject.tool.name],
        )
        for subject in subjects
        if subject.tool.name in slices
    ]


async def review_code(
    catalog: Catalog, code: CodeReport, *, judge: Judge | None, tool: str | None = None
) -> CodeReview:
    """A model's findings about definitions and their code. Raises InputError without a model, and for a jury."""
    from tdqs_mcp.judges.jury import Jury  # noqa: PLC0415

    model = None if judge is None else unwrap_guard(judge)  # there is no score to hold
    if model is None or model.stamp.is_offline or isinstance(model, Jury):
        raise InputError(
            "the code rubric needs one model: name it with --judge, or answer what tdqs-mcp score LOCATOR "
            "--prompts --rubric code --source FOLDER prints and give --answers"
        )
    from tdqs_mcp.judges.external_answers import ExternalAnswers  # noqa: PLC0415

    measured = measure(catalog)
    cases = code_cases(measured, code, tool=tool)
    problems = model.problems(cases, ()) if isinstance(model, ExternalAnswers) else ()
    return _finish(measured, cases, await model.grade(cases), judge=model.stamp, tool=tool, problems=problems)


def _finish(
    measured: Measured,
    cases: Sequence[ToolCase],
    verdicts: Sequence[Verdict | Ungraded],
    *,
    judge: JudgeStamp,
    tool: str | None,
    problems: Sequence[str],
) -> CodeReview:
    graded = [(case.subject, verdict) for case, verdict in zip(cases, verdicts, strict=True)]
    coded = {case.subject.tool.index for case in cases}
    names = [subject.tool.name for subject in measured.subjects if subject.tool.index not in coded]
    lost = [name for name in names if tool in (None, name)]
    unread = f"no code was found, so nothing was read, of {first_of([repr(name) for name in lost], MAX_NAMED)}"
    return CodeReview(
        **measured.catalog.origin,
        judge=judge,
        tool_count=len(measured.catalog.tools),
        reviewed_tool_count=sum(isinstance(verdict, Verdict) for _, verdict in graded),
        findings=tuple(
            ModelFinding(
                index=subject.tool.index, tool=subject.tool.name, remark=remark, read_by=judge.model or UNNAMED
            )
            for subject, verdict in graded
            if isinstance(verdict, Verdict)
            for remark in verdict.remarks
        ),
        ungraded=tuple(
            UngradedTool(
                index=subject.tool.index,
                name=subject.tool.name,
                input_hash=subject.signals.input_hash,
                ungraded=verdict,
            )
            for subject, verdict in graded
            if isinstance(verdict, Ungraded)
        ),
        problems=(*measured.catalog.remarks, *([unread] if lost else []), *problems),
    )
