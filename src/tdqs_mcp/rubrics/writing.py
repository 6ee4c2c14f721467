"""The three stages of a writer (augment, read traces, consolidate): prompts in our words, answers read or refused."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tdqs_mcp.errors import ContractError
from tdqs_mcp.rubrics.answer import object_schema, parse_json
from tdqs_mcp.rubrics.prompt import Prompt, cleaned, delimiter, fenced
from tdqs_mcp.rubrics.rubric import system_prompt, user_template

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_TEXT = {"type": "string"}


class Stage(StrEnum):
    """The stages, in order; the folders of their prompts."""

    AUGMENT = "augment"
    TRACES = "traces"
    CONSOLIDATE = "consolidate"


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Explained(_Answer):
    """A parameter's new description."""

    name: str
    description: str


class Augmented(_Answer):
    """What the first stage gives."""

    description: str
    parameters: list[Explained] = []


class Notes(_Answer):
    """What recorded calls prove."""

    examples: list[str] = []
    limitations: list[str] = []


class Consolidated(_Answer):
    """The five fields (the paper, "Final consolidation of all components")."""

    purpose: str
    guidelines: str = ""
    limitations: str = ""
    parameters: list[Explained] = []
    examples: str = ""


Answer = TypeVar("Answer", bound=_Answer)


def render_stage(stage: Stage, *, theirs: Mapping[str, str], ours: Mapping[str, str]) -> Prompt:
    """A stage's prompt: `theirs` stand in a fence, without what nobody sees; `ours` go into the system message."""
    texts = {name: cleaned(text) for name, text in theirs.items()}
    mark = delimiter("\n".join(texts.values()))
    shown = {name: fenced(text, mark=mark) if text else "none" for name, text in texts.items()}
    user = _PLACEHOLDER.sub(lambda found: shown[found[1]], user_template(stage))
    system = system_prompt(stage)
    for name, value in ours.items():
        system = system.replace(f"{{{name}}}", value)
    return Prompt(system=system, user=f"MARK: {mark}\n\n{user}")


def answer_schema(stage: Stage) -> dict[str, Any]:
    """JSON Schema of a stage's answer; no optional field, as strict modes demand."""
    explained = {"type": "array", "items": object_schema({"name": _TEXT, "description": _TEXT})}
    texts = {"type": "array", "items": _TEXT}
    if stage is Stage.AUGMENT:
        return object_schema({"description": _TEXT, "parameters": explained})
    if stage is Stage.TRACES:
        return object_schema({"examples": texts, "limitations": texts})
    return object_schema(
        {"purpose": _TEXT, "guidelines": _TEXT, "limitations": _TEXT, "parameters": explained, "examples": _TEXT}
    )


def read_stage(kind: type[Answer], answer: str) -> Answer:
    """The answer of a stage. Raises ContractError, fit to be sent back."""
    try:
        return kind.model_validate(parse_json(answer))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(map(str, wrong["loc"])) or "the answer"
        raise ContractError(f"{where}: {wrong['msg']}") from error
