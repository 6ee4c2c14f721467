"""The code of tools for people, and the hints with their reasons for a review."""

from collections.abc import Iterator, Sequence
from typing import Any

from tdqs_mcp.report.blocks import (
    Block,
    Heading,
    Items,
    Line,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    next_lines,
    problem_items,
    ungraded_items,
)
from tdqs_mcp.results.labels import CodeReview, ModelFinding
from tdqs_mcp.results.tool_code import CodeEffect, CodeReport, EffectKind, Proof, RemarkKind, ToolCode

MAX_UNRESOLVED = 5
"""Calls that were not followed, of a tool in a terminal."""

_READS = frozenset({EffectKind.LOCAL_READ, EffectKind.DB_READ, EffectKind.HTTP_READ})
_HINTS = ("readOnlyHint", "destructiveHint", "openWorldHint")


def code_blocks(report: CodeReport, tools: Sequence[str] = ()) -> list[Block]:
    """A line for each tool with what its code proves; of chosen tools everything, line by line."""
    if tools:
        chosen = [entry for entry in report.tools if entry.name in tools]
        return [
            block
            for entry in chosen
            for block in (Title(f"{entry.name} · {entry.handler or entry.registration}"), *_tool(entry))
        ]
    handler_count = sum(entry.handler is not None for entry in report.tools)
    head = f"{report.folder} · {count_words(len(report.tools), 'tool')}, {handler_count} with their code"
    rows: list[tuple[Words, ...]] = [
        (
            entry.name,
            str(entry.handler or "not found"),
            *(_verdict(entry.verdicts[hint]) for hint in _HINTS),
            _kinds(entry),
        )
        for entry in report.tools
    ]
    table = Table(columns("tool", "handler", "read-only", "destructive", "open world", "effects", left=6), rows)
    worst = next((entry for entry in report.tools if entry.read_only is False), None)
    example = worst or next(iter(report.tools), None)
    then: list[Block] = [Line("No tool was found.")]
    if example:
        then = next_lines(f"tdqs-mcp code {report.folder} --tool {example.name}")
    return [Title(head), table, problem_items(report.problems), *then]


def _kinds(tool: ToolCode) -> str:
    return ", ".join(dict.fromkeys(effect.kind.value for effect in tool.effects if effect.kind not in _READS))


def _verdict(proof: Proof) -> Span:
    words = {True: "yes", False: "no"}.get(proof, "unknown") if isinstance(proof, bool) else "unknown"
    return Span(words, "dim" if words == "unknown" else "")


def _tool(tool: ToolCode) -> Iterator[Block]:
    for hint in _HINTS:
        lines = tool.evidence.get(hint.removesuffix("Hint"), ())
        yield Line(f"{hint} {_verdict(tool.verdicts[hint]).text}{': ' if lines else ''}{'; '.join(lines)}")
    yield Heading("Effects")
    worst = sorted(
        tool.effects, key=lambda effect: (not effect.is_destroying, not effect.is_change, effect.kind in _READS)
    )
    yield Items(list(map(effect_words, worst)), indent=2)
    parts = [Span(f"{name}: nothing depends on it", "yellow") for name in tool.unused_parameters]
    for dead in tool.dead_enum_values:
        words = "the code refuses" if dead.is_refused else "nothing is done for"
        parts.append(Span(f"{dead.parameter}: {words} {dead.value!r}", "yellow"))
    parts += [Span(f"{limit.parameter}: {limit.text} at {limit.file}:{limit.line}") for limit in tool.limits]
    if parts:
        yield Heading("Parameters")
        yield Items(parts, indent=2)
    if tool.errors:
        yield Heading("Errors")
        yield Items([f"{error.text!r} at {error.file}:{error.line}" for error in tool.errors], indent=2)
    facts = [f"returns {tool.returns}"] if tool.returns else []
    facts += [f"reads {', '.join(tool.credentials)} from the environment"] if tool.credentials else []
    yield Items(facts)
    if tool.unresolved:
        yield Heading("Not followed")
        lost = [f"{call.text} at {call.file}:{call.line}" for call in tool.unresolved]
        yield Items(lost, "dim", indent=2, limit=MAX_UNRESOLVED)


def effect_words(effect: CodeEffect) -> str:
    """Return an effect in one line: kind, detail, host, place and condition."""
    detail = f" ({effect.text})" if effect.text else ""
    host = f" to {effect.host}" if effect.host else ""
    when = f" if {effect.condition}" if effect.condition else ""
    beside = ", the server's housekeeping" if effect.is_housekeeping else ""
    return f"{effect.kind}{detail}{host} at {effect.file}:{effect.line}{when}{beside}"


def review_blocks(review: CodeReview) -> list[Block]:
    """A model's findings by tool, contradictions first; each with both quotations."""
    counts = [
        count_words(review.count(kind), noun)
        for kind, noun in ((RemarkKind.CONTRADICTION, "contradiction"), (RemarkKind.MISSING_FACT, "missing fact"))
    ]
    read = f"{review.reviewed_tool_count} of {count_words(review.tool_count, 'tool')}"
    blocks: list[Block] = [
        Title(f"{review.server} · {', '.join(counts)} · {read} read by {review.judge.model or review.judge.id}"),
    ]
    if review.findings:
        words = "The quotations of each stand where they should. What the model makes of them is not proven."
        blocks.append(Line(words, "dim"))
    by_tool: dict[str, list[ModelFinding]] = {}
    for finding in sorted(review.findings, key=lambda finding: (finding.index, finding.remark.kind)):
        by_tool.setdefault(finding.tool, []).append(finding)
    for tool, findings in by_tool.items():
        blocks += [Heading(tool), Items(list(map(_remark_words, findings)), indent=2)]
    return [*blocks, ungraded_items(review.ungraded), problem_items(review.problems)]


def _remark_words(finding: ModelFinding) -> str:
    """Return a finding in one line: kind, place, statement and both quotations."""
    remark = finding.remark
    against = f", against {' '.join(remark.definition.split())!r}" if remark.definition else ""
    kind = remark.kind.value.replace("-", " ")
    place = f"{remark.file}:{remark.line}"
    return (
        f"{kind}, read by {finding.read_by}: {remark.statement} ({' '.join(remark.code.split())!r} at {place}{against})"
    )


def openai_hints(report: CodeReport) -> dict[str, Any]:
    """Return each tool's hints with file and line as reasons, in the meanings of the ChatGPT app review.

    There, openWorld means that public or third-party state is changed, and what only logs or queues is no read. A hint
    that the code does not prove is null, with what is missing.
    """
    return {"tools": [{"name": tool.name, **dict(_justified(tool))} for tool in report.tools]}


def _justified(tool: ToolCode) -> Iterator[tuple[str, dict[str, Any]]]:
    changes = [effect for effect in tool.effects if effect.kind not in _READS]
    reaching = [effect for effect in changes if effect.kind in _REACHING]
    appended = [effect for effect in changes if effect.is_housekeeping and effect.kind is EffectKind.FILE_WRITE]
    logs = [*tool.logs, *map(effect_words, appended)]
    lost = [f"not followed: {call.text} at {call}" for call in tool.unresolved[:MAX_UNRESOLVED]]
    reads = "; ".join(effect_words(effect) for effect in tool.effects if effect.kind is EffectKind.HTTP_READ)
    nothing = "no call of the handler changes anything"
    public = f"{nothing} public or of third parties{'; it only reads there: ' if reads else ''}{reads}"
    for hint, proof, effects, clean in (
        ("readOnlyHint", False if logs else tool.read_only, changes, nothing),
        ("destructiveHint", tool.destructive, changes, nothing),
        ("openWorldHint", _changes_others(tool, reaching), reaching, public),
    ):
        words = list(map(effect_words, effects))
        if not isinstance(proof, bool):
            open_lines = words if effects is reaching else tool.evidence.get(hint.removesuffix("Hint"), ())
            reason = "; ".join(["this may change something or not", *(lost or open_lines)])
        elif proof is not (hint == "readOnlyHint"):
            reason = "; ".join(dict.fromkeys([*(logs if hint == "readOnlyHint" else ()), *words]))
        else:
            reason = f"{_HARMLESS[hint]}: {'; '.join(words)}" if words and hint in _HARMLESS else clean
        yield hint, {"value": proof if isinstance(proof, bool) else None, "justification": reason}


_HARMLESS = {
    "readOnlyHint": "what it reaches beside reads changes nothing",
    "destructiveHint": "what it changes takes and overwrites nothing",
}


_REACHING = frozenset({EffectKind.HTTP_WRITE, EffectKind.SENDS_DATA_OUT, EffectKind.RUNS_CODE, EffectKind.PROCESS})
"""Effects by which a tool may change what is not its own."""


def _changes_others(tool: ToolCode, reaching: list[CodeEffect]) -> Proof:
    """Return whether the tool changes state of others: an HTTP write and code of the agent's do, a POST may.

    A program does if it changes something and the tool reaches others by nothing else.
    """
    kinds = {effect.kind for effect in reaching if effect.is_given or effect.kind is not EffectKind.RUNS_CODE}
    if not kinds.isdisjoint((EffectKind.HTTP_WRITE, EffectKind.RUNS_CODE)):
        return True
    is_open = bool(tool.unresolved) or any(effect.kind is EffectKind.HTTP_UNKNOWN for effect in tool.effects)
    if not reaching:
        return "unknown" if is_open else False
    if any(effect.kind is not EffectKind.PROCESS for effect in reaching):
        return "unknown"
    if (tool.open_world is False or tool.read_only is True) and not is_open:
        return False
    requests = any(effect.kind is EffectKind.HTTP_READ for effect in tool.effects)
    is_remote = tool.open_world is True and not requests
    return True if is_remote and any(effect.is_change for effect in reaching) else "unknown"
