"""What a case's answer must look like, and what it means."""

from collections.abc import Mapping, Sequence
from typing import Any

from tdqs_mcp.errors import ContractError
from tdqs_mcp.results.verdicts import ShadowCandidate, ShadowingRisk, Verdict
from tdqs_mcp.rubrics.answer import (
    answer_schema,
    excerpt,
    parse_json,
    read_answer,
    read_shadowing_answer,
    refuse_copied,
)
from tdqs_mcp.rubrics.evidence import verify
from tdqs_mcp.rubrics.prompt import Case, ShadowCase, texts
from tdqs_mcp.rubrics.rubric import load

_PAIR = ("tool", "cheaperSibling", "justification")
SHADOWING: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "shadowing": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {key: {"type": "string"} for key in _PAIR},
                "required": list(_PAIR),
                "additionalProperties": False,
            },
        }
    },
    "required": ["shadowing"],
    "additionalProperties": False,
}
"""JSON Schema of the answer about shadow candidates."""


def schema(case: Case) -> Mapping[str, Any]:
    """JSON Schema of what `read` reads."""
    return SHADOWING if isinstance(case, ShadowCase) else answer_schema(load(case.rubric))


def read(case: Case, answer: object) -> Verdict:
    """The verdict in an answer, its quotations looked up in the definition. Raises ContractError."""
    if isinstance(case, ShadowCase):
        return _read_pairs(case, answer)
    return verify(case, read_answer(load(case.rubric), answer, seen=texts(case)))


def confirmed(candidates: Sequence[ShadowCandidate], entries: object) -> tuple[list[ShadowingRisk], list[str]]:
    """Confirmed pairs that were really asked about, each once, and why others are none (TDQS 1.1)."""
    asked: dict[tuple[str, str], list[ShadowCandidate]] = {}
    for candidate in candidates:
        asked.setdefault((candidate.tool, candidate.cheaper_sibling), []).append(candidate)
    risks, refused = [], []
    for entry in entries if isinstance(entries, list) else [entries]:
        try:
            answer = read_shadowing_answer(entry)
        except ContractError as error:
            refused.append(str(error))
            continue
        open_pairs = asked.get((answer.tool, answer.cheaper_sibling))
        if open_pairs:
            risks.append(ShadowingRisk(candidate=open_pairs.pop(0), justification=answer.justification))
        else:
            refused.append(f"{excerpt(answer.tool)!r} and {excerpt(answer.cheaper_sibling)!r} are no open pair")
    return risks, refused


def _read_pairs(case: ShadowCase, answer: object) -> Verdict:
    parsed = parse_json(answer)
    entries = parsed.get("shadowing") if isinstance(parsed, Mapping) else None
    if not isinstance(entries, list):
        raise ContractError('it is no object like {"shadowing": […]}')
    risks, refused = confirmed(case.measured.shadow_candidates, entries)
    if refused:
        raise ContractError(refused[0])
    if risks:  # of "no pair" there is one wording, whoever says so
        refuse_copied(answer, texts(case))
    return Verdict(judgements={}, summary="", risks=tuple(risks))
