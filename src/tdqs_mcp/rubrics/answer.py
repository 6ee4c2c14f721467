"""A judge's answer in the published output format, read to a verdict or refused with the reason."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tdqs_mcp.errors import ContractError
from tdqs_mcp.model.results import Judgement, Verdict
from tdqs_mcp.rubrics.rubric import Rubric

Model = TypeVar("Model", bound=BaseModel)
_FENCE = "```"


def _whole(value: object) -> object:
    """JSON knows no integers: 4.0 is 4, as it is for a JavaScript reader."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Score = Annotated[int, Field(strict=True, ge=1, le=5), BeforeValidator(_whole)]


class _Dimension(BaseModel):
    model_config = ConfigDict(strict=True)
    score: Score
    justification: str


class _SetAnswer(BaseModel):
    model_config = ConfigDict(strict=True)
    scores: dict[str, _Dimension]
    summary: str


class _ToolAnswer(_SetAnswer):
    annotation_contradiction: bool


class ShadowingAnswer(BaseModel):
    """One confirmed pair."""

    model_config = ConfigDict(strict=True, populate_by_name=True)
    tool: str
    cheaper_sibling: str = Field(alias="cheaperSibling")
    justification: str = ""


def read_tool_answer(rubric: Rubric, answer: object) -> Verdict:
    """The verdict on one tool. Raises ContractError: integers 1-5, every field there (TDQS, "Output format")."""
    read = _validated(_ToolAnswer, answer)
    return _verdict(rubric, read, contradiction=read.annotation_contradiction)


def read_set_answer(rubric: Rubric, answer: object) -> Verdict:
    """The verdict on a tool set. Raises ContractError."""
    return _verdict(rubric, _validated(_SetAnswer, answer), contradiction=False)


def read_shadowing_answer(entry: object) -> ShadowingAnswer:
    """One confirmed pair. Raises ContractError."""
    return _validated(ShadowingAnswer, entry)


def tool_answer_schema(rubric: Rubric) -> dict[str, Any]:
    """JSON Schema of what `read_tool_answer` reads; enums and no optional field, as strict modes demand."""
    return _object(
        {
            "scores": _scores_schema(rubric),
            "annotation_contradiction": {"type": "boolean"},
            "summary": {"type": "string"},
        }
    )


def set_answer_schema(rubric: Rubric) -> dict[str, Any]:
    """JSON Schema of what `read_set_answer` reads."""
    return _object({"scores": _scores_schema(rubric), "summary": {"type": "string"}})


def parse_json(answer: object) -> object:
    """The JSON value of an answer that may be text, in a code fence or with prose around it. Raises ContractError.

    Prose is overlooked where one object is all that stands in braces: of two, nobody can say which is the answer.
    """
    if not isinstance(answer, str):
        return answer
    text = answer.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE):
        text = text.strip("`").removeprefix("json").removeprefix("JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        found = _only_object(text)
        if found is None:
            raise ContractError(f"the answer is not JSON: {error}") from error
        return found


def _only_object(text: str) -> object:
    """The object that begins at the first brace, if no brace stands behind its end."""
    start = text.find("{")
    try:
        found, end = json.JSONDecoder().raw_decode(text, start) if start > -1 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return None if "{" in text[end:] or "}" in text[end:] else found


def _scores_schema(rubric: Rubric) -> dict[str, Any]:
    dimension = _object(
        {"score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}, "justification": {"type": "string"}},
    )
    return _object(dict.fromkeys(rubric.keys, dimension))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _validated(model: type[Model], answer: object) -> Model:
    try:
        return model.model_validate(parse_json(answer))
    except ValidationError as error:
        raise ContractError("; ".join(_problem(dict(entry)) for entry in error.errors()[:3])) from error


def _problem(entry: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in entry["loc"]) or "the answer"
    return f"{where}: {entry['msg'][:1].lower()}{entry['msg'][1:]}"


def _verdict(rubric: Rubric, read: _SetAnswer, *, contradiction: bool) -> Verdict:
    missing = [key for key in rubric.keys if key not in read.scores]
    if missing:
        raise ContractError(f"scores lacks {', '.join(missing)}")
    judgements = {
        key: Judgement(score=read.scores[key].score, justification=read.scores[key].justification)
        for key in rubric.keys
    }
    return Verdict(judgements=judgements, summary=read.summary, contradiction=contradiction)
