"""A judge's answer in the published output format, read to a verdict or refused with the reason."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tdqs_mcp.canonical import visible
from tdqs_mcp.errors import ContractError, fault_message
from tdqs_mcp.facts.text.words import find_quotation, is_verbatim, quotations_in
from tdqs_mcp.json_text import read_only_object
from tdqs_mcp.results.labels import Label
from tdqs_mcp.results.tool_code import CodeRemark, CodeSlice, RemarkKind
from tdqs_mcp.results.verdicts import Judgement, ShadowCandidate, ShadowingRisk, Verdict
from tdqs_mcp.rubrics.prompt import Case, ShadowCase, ToolCase, definition_texts, texts
from tdqs_mcp.rubrics.rubric import AnswerForm, Rubric, load

Model = TypeVar("Model", bound=BaseModel)
CONTRADICTION = "annotation_contradiction"
CREDENTIALS = "asks_for_credentials"
"""The questions that a rubric may ask beside its scores."""


def _whole(value: object) -> object:
    """4.0 is 4, as it is for a JavaScript reader: JSON has no integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


MAX_TEXT = 4_000
"""Characters of one reason; two or three sentences are asked for."""

MAX_QUOTES = 50
"""Quotations that are offered for one dimension."""

MAX_PROBLEMS = 3
"""Problems of an answer that are sent back to its judge and reported."""

MAX_EXCERPT = 100
"""Characters of an answer that one problem quotes."""

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Score = Annotated[int, Field(strict=True, ge=1, le=5), BeforeValidator(_whole)]


class _Dimension(BaseModel):
    model_config = ConfigDict(strict=True)
    score: Score
    justification: Text
    evidence: Annotated[list[Text], Field(max_length=MAX_QUOTES)] = []
    """Not part of the published format; checked where it is given."""


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    scores: dict[str, _Dimension]
    summary: Text


class _PlainAnswer(BaseModel):
    model_config = ConfigDict(strict=True)
    scores: dict[str, Score]
    label: str
    reason: Text
    improvement_needed: list[str] | str
    """The released answers have both forms."""


class ShadowingAnswer(BaseModel):
    """A confirmed pair."""

    model_config = ConfigDict(strict=True, populate_by_name=True)
    tool: str
    cheaper_sibling: str = Field(alias="cheaperSibling")
    justification: Text = ""


def read_answer(rubric: Rubric, answer: object, *, sources: Sequence[str] = ()) -> Verdict:
    """The verdict in an answer. Raises ContractError: integers 1-5, every field there (TDQS, "Output format").

    `seen` are the texts that were judged. An answer that stands in one of them is refused: it is the definition's own.
    """
    verdict = _read_plain(rubric, answer) if rubric.answer is AnswerForm.PLAIN else _read_justified(rubric, answer)
    refuse_copied(answer, sources)
    return verdict


def refuse_copied(answer: object, sources: Sequence[str]) -> None:
    """Raises ContractError for an answer whose JSON stands in a text that was judged, however spaced or escaped."""
    texts = [_bare(text) for text in sources if "{" in text]
    parsed = parse_json(answer) if texts else None
    forms = [json.dumps(parsed), json.dumps(parsed, ensure_ascii=False)]
    if isinstance(answer, str):
        forms.append(answer[answer.find("{") : answer.rfind("}") + 1])
    if any(form in text for form in map(_bare, forms) for text in texts):
        raise ContractError("it stands word for word in the text under review, which is data, so it is not yours")


def excerpt(text: str) -> str:
    """An answer's own words, as far as a message repeats them."""
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}…"


def read_shadowing_answer(entry: object) -> ShadowingAnswer:
    """Return one confirmed pair. Raises ContractError."""
    return _validated(ShadowingAnswer, entry)


def answer_schema(rubric: Rubric) -> dict[str, Any]:
    """JSON Schema of what `read_answer` reads; enums and no optional field, as strict modes demand."""
    text = {"type": "string"}
    score: dict[str, Any] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    rest: dict[str, Any]
    if rubric.answer is AnswerForm.PLAIN:
        label = {"type": "string", "enum": list(Label)}
        rest = {"label": label, "reason": text, "improvement_needed": {"type": "array", "items": text}}
    else:
        score = object_schema({"score": score, "justification": text})
        rest = ({rubric.question: {"type": "boolean"}} if rubric.question else {}) | {"summary": text}
    scores = object_schema({dimension.asked_as: score for dimension in rubric.dimensions})
    return object_schema({"scores": scores, **rest})


def parse_json(answer: object) -> object:
    """The JSON value of an answer that may be text, in a code fence or with prose around it. Raises ContractError."""
    try:
        return read_only_object(answer) if isinstance(answer, str) else answer
    except (ValueError, RecursionError) as error:
        raise ContractError(f"the answer is not JSON: {error}") from error


def _bare(text: str) -> str:
    """Return what is left without white space, escapes and what a reader cannot see."""
    return "".join(visible(text).replace("\\", "").split())


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that has all of these and nothing else, as strict modes demand."""
    required = list(properties)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def form_schema(form: object) -> dict[str, Any]:
    """The schema of what pydantic reads to a type; no optional field and no open object, which is asked for as text."""
    if isinstance(form, type) and issubclass(form, BaseModel):
        fields = form.model_fields.items()
        return object_schema({field.alias or name: form_schema(field.annotation) for name, field in fields})
    if get_origin(form) is list:
        return {"type": "array", "items": form_schema(*get_args(form))}
    choices = {"enum": list(get_args(form))} if get_origin(form) is Literal else {}
    return {"type": "integer" if form is int else "string", **choices}


def _validated(model: type[Model], answer: object) -> Model:
    try:
        return model.model_validate(parse_json(answer))
    except ValidationError as error:
        raise ContractError("; ".join(_problem(dict(entry)) for entry in error.errors()[:MAX_PROBLEMS])) from error


def _problem(entry: Mapping[str, Any]) -> str:
    where = excerpt(".".join(str(part) for part in entry["loc"])) or "the answer"
    message = fault_message(entry)
    return f"{where}: {message[:1].lower()}{message[1:]}"


def _read_justified(rubric: Rubric, answer: object) -> Verdict:
    read = _validated(_Answer, answer)
    _refuse_missing(rubric, read.scores)
    judgements = {
        dimension.key: Judgement(
            score=read.scores[dimension.asked_as].score,
            justification=read.scores[dimension.asked_as].justification,
            evidence=tuple(read.scores[dimension.asked_as].evidence),
        )
        for dimension in rubric.dimensions
    }
    is_so = _answered(rubric.question, read.model_extra or {}) if rubric.question else False
    return Verdict(
        judgements=judgements,
        summary=read.summary,
        contradiction=is_so and rubric.question == CONTRADICTION,
        asks_for_credentials=is_so and rubric.question == CREDENTIALS,
    )


def _read_plain(rubric: Rubric, answer: object) -> Verdict:
    """Label and weak areas are computed from the scores; the judge's own label is kept, to be held against them."""
    read = _validated(_PlainAnswer, answer)
    _refuse_missing(rubric, read.scores)
    judgements = {
        dimension.key: Judgement(score=read.scores[dimension.asked_as], justification=read.reason)
        for dimension in rubric.dimensions
    }
    return Verdict(judgements=judgements, summary=read.reason, label=read.label)


def _refuse_missing(rubric: Rubric, scores: Mapping[str, object]) -> None:
    missing = [dimension.asked_as for dimension in rubric.dimensions if dimension.asked_as not in scores]
    if missing:
        raise ContractError(f"scores lacks {', '.join(missing)}")


def _answered(question: str, members: Mapping[str, Any]) -> bool:
    if question not in members:
        raise ContractError(f"{question}: is missing: add it")
    if not isinstance(members[question], bool):
        raise ContractError(f"{question}: must be true or false")
    return bool(members[question])


def _verified(judgement: Judgement, sources: Sequence[str]) -> Judgement:
    """The judgement with its quotations sorted: those that the definition holds, and those that it does not.

    Offered evidence always counts as a quotation; words in a reason only where they cannot be anything else.
    """
    offered = dict.fromkeys((*judgement.evidence, *quotations_in(judgement.justification)))
    verbatim = {quotation: find_quotation(quotation, sources) for quotation in offered}
    missing = [
        quotation
        for quotation, place in verbatim.items()
        if place is None and (quotation in judgement.evidence or is_verbatim(quotation))
    ]
    places = dict.fromkeys(place for place in verbatim.values() if place)
    return replace(judgement, evidence=tuple(places), unverified=tuple(missing))


SHADOWING = object_schema({"shadowing": form_schema(list[ShadowingAnswer])})
"""JSON Schema of the answer about shadow candidates."""


def schema_of(case: Case) -> Mapping[str, Any]:
    """JSON Schema of what `read_verdict` reads."""
    if isinstance(case, ToolCase) and case.code is not None:
        return CODE_FINDINGS
    return SHADOWING if isinstance(case, ShadowCase) else answer_schema(load(case.rubric))


def read_verdict(case: Case, answer: object) -> Verdict:
    """The verdict in an answer, its quotations looked up in the definition. Raises ContractError."""
    if isinstance(case, ShadowCase):
        return _read_pairs(case, answer)
    if isinstance(case, ToolCase) and case.code is not None:
        return _read_remarks(case, case.code, answer)
    sources = texts(case)
    verdict = read_answer(load(case.rubric), answer, sources=sources)
    judgements = {key: _verified(judgement, sources) for key, judgement in verdict.judgements.items()}
    return replace(verdict, judgements=judgements)


def confirmed(candidates: Sequence[ShadowCandidate], entries: object) -> tuple[list[ShadowingRisk], list[str]]:
    """Confirmed pairs that were really asked about, each once, and why others are none (TDQS 1.1)."""
    candidates_by_pair: dict[tuple[str, str], list[ShadowCandidate]] = {}
    for candidate in candidates:
        candidates_by_pair.setdefault((candidate.tool, candidate.cheaper_sibling), []).append(candidate)
    risks, refused = [], []
    for entry in entries if isinstance(entries, list) else [entries]:
        try:
            answer = read_shadowing_answer(entry)
        except ContractError as error:
            refused.append(str(error))
            continue
        open_pairs = candidates_by_pair.get((answer.tool, answer.cheaper_sibling))
        if open_pairs:
            risks.append(ShadowingRisk(candidate=open_pairs.pop(0), justification=answer.justification))
        else:
            refused.append(f"{excerpt(answer.tool)!r} and {excerpt(answer.cheaper_sibling)!r} are not an open pair")
    return risks, refused


def _read_pairs(case: ShadowCase, answer: object) -> Verdict:
    parsed = parse_json(answer)
    entries = parsed.get("shadowing") if isinstance(parsed, Mapping) else None
    if not isinstance(entries, list):
        raise ContractError('it is not an object like {"shadowing": […]}')
    risks, refused = confirmed(case.measured.shadow_candidates, entries)
    if refused:
        raise ContractError(refused[0])
    if risks:  # of "no pair" there is one wording, whoever says so
        refuse_copied(answer, texts(case))
    return Verdict(judgements={}, summary="", risks=tuple(risks))


MIN_QUOTED = 4
"""Characters of a quotation of code without its spaces: a bracket stands anywhere."""

MAX_LINES = 30
"""Lines of code that one quotation may run over."""


class _RemarkAnswer(BaseModel):
    model_config = ConfigDict(strict=True)
    kind: Literal["contradiction", "missing-fact"]
    statement: Annotated[Text, Field(pattern=r"\S")]
    definition: Text = ""
    file: Text
    code: Text
    line: Annotated[int, Field(strict=True), BeforeValidator(_whole)]


CODE_FINDINGS = object_schema({"findings": form_schema(list[_RemarkAnswer])})
"""JSON Schema of the answer under the code rubric."""


def check_remarks(case: ToolCase, code: CodeSlice, answer: object) -> tuple[list[CodeRemark], list[str]]:
    """Return the findings whose quotations stand where they say, and why others are refused. Raises ContractError."""
    parsed = parse_json(answer)
    entries = parsed.get("findings") if isinstance(parsed, Mapping) else None
    if not isinstance(entries, list):
        raise ContractError('it is not an object like {"findings": […]}')
    remarks, refused = dict[CodeRemark, None](), []
    for number, entry in enumerate(entries, start=1):
        try:
            remarks[_remark(case, code, entry)] = None
        except ContractError as error:
            refused.append(f"finding {number}: {error}")
    if remarks:  # of "no finding" there is one wording, whoever says so
        refuse_copied(answer, texts(case))
    return list(remarks), refused


def _read_remarks(case: ToolCase, code: CodeSlice, answer: object) -> Verdict:
    remarks, refused = check_remarks(case, code, answer)
    if refused:
        raise ContractError("; ".join(refused[:MAX_PROBLEMS]))
    return Verdict(judgements={}, summary="", remarks=tuple(remarks))


def _remark(case: ToolCase, code: CodeSlice, entry: object) -> CodeRemark:
    """A finding. Raises ContractError where a quotation does not stand where it should."""
    read = _validated(_RemarkAnswer, entry)
    fault = _misquotation(code, read.file, read.line, read.code)
    if fault:
        raise ContractError(fault)
    definition, kind = definition_texts(case), RemarkKind(read.kind)
    quotation = None
    if kind is RemarkKind.CONTRADICTION:
        quotation = find_quotation(read.definition, definition) if read.definition.strip() else None
        if quotation is None:
            raise ContractError(
                f"definition: {excerpt(read.definition)!r} does not stand in the definition; copy its words"
            )
    elif find_quotation(read.statement, definition):
        raise ContractError("statement: the definition says this already, word for word")
    return CodeRemark(
        kind=kind,
        statement=read.statement.strip(),
        file=read.file,
        line=read.line,
        code=read.code,
        definition=quotation,
    )


def _misquotation(code: CodeSlice, file: str, line: int, quotation: str) -> str | None:
    """Return why a quotation of code is refused; None where it stands at that line."""
    lines = code.lines.get(file)
    words = " ".join(quotation.split())
    if lines is None:
        return f"file: {excerpt(file)!r} is not among the files here: {', '.join(code.lines)}"
    if line not in lines:
        return f"line: {line} of {file} is not shown"
    if len(words.replace(" ", "")) < MIN_QUOTED:
        return f"code: {excerpt(quotation)!r} is too short to prove anything; quote the statement"
    if _stands_at(lines, line, words):
        return None
    places = [str(number) for number in lines if _stands_at(lines, number, words)]
    other = f"it stands at line {' and '.join(places[:3])}" if places else "nor does it stand at another line shown"
    return f"code: {excerpt(quotation)!r} does not stand at {file}:{line}; {other}"


def _stands_at(lines: Mapping[int, str], line: int, words: str) -> bool:
    """Return whether words begin in a line; they may go on in the lines after it, however they are spaced."""
    first = " ".join(lines[line].split())
    following = [" ".join(lines[number].split()) for number in range(line + 1, line + MAX_LINES) if number in lines]
    begin = " ".join([first, *filter(None, following)]).find(words)
    return 0 <= begin < len(first)
