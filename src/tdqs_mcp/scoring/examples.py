"""The four calibration examples of the published prompt, and how near a judge has to come to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.model.catalog import Catalog, read_tools
from tdqs_mcp.results.calibration import Section
from tdqs_mcp.results.verdicts import Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import ToolCase
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.judge_error import Comparison

NEAR = 2
"""Score points that a dimension may lie off; two LLM judges on the same tools never differed by more than one."""


_SHORT = ("purpose", "usage", "behaviour", "params", "concise", "complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A definition with the scores that the published prompt gives it; None where it gives none."""

    definition: dict[str, Any]
    scores: tuple[int | None, ...]
    contradiction: bool = False


def _schema(described: int, bare: int, names: Sequence[str]) -> dict[str, Any]:
    """A schema of so many parameters as the example states; the published text shows none."""
    properties = {
        name: {"type": "string"} | ({"description": f"The {name}"} if position < described else {})
        for position, name in enumerate(names[: described + bare])
    }
    return {"type": "object", "properties": properties}


EXAMPLES = (
    Example(
        definition={
            "name": "get_calls",
            "description": "List ALL calls in date range – no user/workspace filtering. "  # noqa: RUF001  # as published
            "To filter by user/workspace, use search_calls_extensive instead.",
            "inputSchema": _schema(2, 0, ("from", "to")),
            "annotations": {"readOnlyHint": True, "destructiveHint": False},
        },
        scores=(5, 5, 3, 3, 5, 5),
    ),
    Example(
        definition={
            "name": "update_drive",
            "description": "Update shared drive settings including name, color, and restrictions.",
            "inputSchema": _schema(2, 2, ("drive", "name", "color", "restrictions")),
        },
        scores=(4, 2, 2, 3, 4, 2),
    ),
    Example(
        definition={"name": "process", "description": "Process", "inputSchema": _schema(0, 3, ("a", "b", "c"))},
        scores=(1, 1, 1, 1, 2, 1),
    ),
    Example(
        definition={
            "name": "create_record",
            "description": "Creates a new record in the database",
            "inputSchema": _schema(1, 0, ("fields",)),
            "annotations": {"readOnlyHint": True},
        },
        scores=(None, None, 1, None, None, None),
        contradiction=True,
    ),
)
"""TDQS, tool-scoring prompt, "Calibration Examples"; parameters and their coverage as stated there."""


def cases() -> list[ToolCase]:
    """A case for each example; the sibling that the first one names is there."""
    found = []
    for example in EXAMPLES:
        siblings = [{"name": "search_calls_extensive", "inputSchema": {"type": "object"}}]
        measured = measure(Catalog(server="examples", tools=read_tools([example.definition, *siblings])))
        found.append(ToolCase(subject=measured.subjects[0], names=measured.names))
    return found


def compare(verdicts: Sequence[Verdict | Ungraded]) -> Comparison:
    """The judge's scores beside the published ones, where it is out of tolerance, and where it has failed."""
    keys = load("tdqs").keys
    rows: list[tuple[str | int | float | None, ...]] = []
    faults, failed = [], []
    for example, verdict in zip(EXAMPLES, verdicts, strict=True):
        name = str(example.definition["name"])
        rows.append((name, "published", *example.scores))
        if isinstance(verdict, Ungraded):
            rows.append((name, "judged", *[None] * len(keys)))
            failed.append((name, verdict.reason))
            continue
        scores = tuple(verdict.judgements[key].score for key in keys)
        rows.append((name, "judged", *scores))
        faults += [
            f"{name}: {key} is {score}, published {wanted}"
            for key, wanted, score in zip(keys, example.scores, scores, strict=True)
            if wanted is not None and abs(score - wanted) > NEAR
        ]
        if example.contradiction and not verdict.contradiction:
            faults.append(f"{name}: the contradiction with readOnlyHint was not seen")
    remark = f"definitions of the published prompt; every dimension may lie {NEAR} off"
    table = Section(title="Calibration examples", remark=remark, columns=("tool", "scores", *_SHORT), rows=tuple(rows))
    return Comparison(sections=(table,), faults=tuple(faults), unjudged=tuple(failed))
