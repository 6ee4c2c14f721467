"""Tasks that make an agent call each tool, written by a model, to record traces with (the paper, section 4.4.2)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from tdqs_mcp.canonical import pretty_json
from tdqs_mcp.errors import ContractError
from tdqs_mcp.facts.schema.conformance import find_fault
from tdqs_mcp.judges.asking import ask
from tdqs_mcp.judges.judge import Failure, Model, Request
from tdqs_mcp.model import Tool
from tdqs_mcp.results.studies import TaskKind, ToolTask
from tdqs_mcp.rewriting.model_writer import read_stage, render_stage
from tdqs_mcp.rubrics.answer import object_schema

STAGE = "tasks"
"""The folder of the prompts."""

MAX_EDGES = 3
MAX_SIBLINGS = 200
"""Names of other tools in a prompt."""

_TEXT = {"type": "string"}
_KINDS = {"type": "string", "enum": [str(kind) for kind in TaskKind]}
_SCHEMA = object_schema(
    {
        "tasks": {
            "type": "array",
            "items": object_schema({"kind": _KINDS, "task": _TEXT, "arguments": _TEXT, "expects": _TEXT}),
        }
    }
)

_Words = Annotated[str, Field(pattern=r"\S")]


def _parse_object(value: object) -> object:
    """The arguments, which a model writes as a text: its schema can leave no object open."""
    try:
        data = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ValueError("must be the text of a JSON object")  # noqa: TRY004  # pydantic's way to refuse
    return data


class _Task(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    kind: Literal["works", "fails", "edge"]
    task: _Words
    arguments: Annotated[dict[str, Any], BeforeValidator(_parse_object)]
    expects: _Words


class _Tasks(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    tasks: list[_Task]


async def write_tasks(tools: Sequence[Tool], *, model: Model) -> list[list[ToolTask] | Failure]:
    """The tasks for each tool, in order; a Failure where the model's answers cannot be used.

    An answer that breaks the format, has too few tasks of a kind, or a working call that the input schema refuses goes
    back to the model with the reason.
    """
    names = [tool.name for tool in tools]
    return await ask(model, [(_request(tool, names), partial(_read_tasks, tool=tool)) for tool in tools])


def _request(tool: Tool, siblings: Sequence[str]) -> Request:
    sibling_names = [name for name in siblings if name != tool.name][:MAX_SIBLINGS]
    prompt = render_stage(
        STAGE, foreign={"tool": pretty_json(tool.raw), "siblings": "\n".join(sibling_names)}, settings={}
    )
    return Request(prompt=prompt, name=STAGE, schema=_SCHEMA, check=partial(read_stage, _Tasks))


def _read_tasks(answer: str, *, tool: Tool) -> list[ToolTask]:
    """The tasks in an answer. Raises ContractError, fit to be sent back."""
    tasks = read_stage(_Tasks, answer).tasks
    counts = Counter(TaskKind(task.kind) for task in tasks)
    if not (counts[TaskKind.WORKS] and counts[TaskKind.FAILS] and 1 <= counts[TaskKind.EDGE] <= MAX_EDGES):
        raise ContractError(
            f"tasks must hold at least one that works, at least one that fails and 1 to {MAX_EDGES} edge cases; it has "
            + ", ".join(f"{counts[kind]} {kind}" for kind in TaskKind)
        )
    if len({" ".join(task.task.split()).lower() for task in tasks}) < len(tasks):
        raise ContractError("tasks: two of them are the same request")
    return [_check_task(task, tool, f"tasks.{place}.arguments") for place, task in enumerate(tasks)]


def read_task(row: Mapping[str, Any], tools: Mapping[str, Tool]) -> ToolTask:
    """A task that was written earlier, for one of these tools. Raises ContractError."""
    name = row.get("tool")
    if not isinstance(name, str) or name not in tools:
        raise ContractError(f"the server has no tool {name!r}")
    return _check_task(read_stage(_Task, json.dumps(row)), tools[name], "arguments")


def _check_task(task: _Task, tool: Tool, place: str) -> ToolTask:
    """The task. Raises ContractError for arguments that cannot work."""
    kind = TaskKind(task.kind)
    if kind is TaskKind.WORKS and tool.input_schema:
        fault = None
        with suppress(ValueError):  # a schema that is broken, or lies elsewhere, refuses nothing
            fault = find_fault(tool.input_schema, task.arguments)
        if fault:
            raise ContractError(f"{place} of a task that works break the input schema: {fault.message}")
    return ToolTask(tool=tool.name, kind=kind, task=task.task, arguments=task.arguments, expects=task.expects)
