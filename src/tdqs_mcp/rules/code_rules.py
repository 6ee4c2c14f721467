"""Lane 8: a definition held against the code of its tool; each message quotes both, with file and line."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.results.tool_code import CodeEffect, CodePlace, EffectKind, ToolCode, names_host
from tdqs_mcp.rules.rule import Hit, rule

MAX_SHOWN = 2
"""Lines of code in a message."""

HINTS_SOURCE = "MCP specification, ToolAnnotations"
CODE_SOURCE = "the tool's code"

_CERTAIN = frozenset({EffectKind.FILE_WRITE, EffectKind.FILE_DELETE, EffectKind.SQL_WRITE})
"""Changes that are no reads under any reading; an HTTP request may be one."""

_CHANGES = _CERTAIN | {EffectKind.HTTP_WRITE, EffectKind.RUNS_CODE, EffectKind.PROCESS, EffectKind.STATE_IN_MEMORY}
_NETWORK = frozenset({EffectKind.HTTP_READ, EffectKind.HTTP_WRITE, EffectKind.SENDS_DATA_OUT, EffectKind.HTTP_UNKNOWN})
_SENDING = frozenset({EffectKind.HTTP_WRITE, EffectKind.SENDS_DATA_OUT})


@rule("TDQ801", severity=Severity.ERROR, source=HINTS_SOURCE)
def read_only_changes(measured: Measured) -> Iterator[Hit]:
    """The definition says that the tool only reads, and its code changes something.

    An error where the agent's own words go into a file or a database; a warning for other changes.
    """
    for subject, code in _coded(measured):
        if _hint(subject, "readOnlyHint") is True and code.read_only is False:
            effects = [effect for effect in code.effects if effect.kind in _CHANGES]
            is_certain = any(effect.kind in _CERTAIN and effect.is_given and not effect.condition for effect in effects)
            yield Hit(
                "/annotations/readOnlyHint",
                f"readOnlyHint is true, but the code changes something: {_lines(effects)}",
                "set readOnlyHint to false",
                None if is_certain else Severity.WARNING,
                subject.tool,
                code=_place(measured, _ordered(effects)[0]),
            )


@rule("TDQ802", severity=Severity.WARNING, source=HINTS_SOURCE)
def destroying_harmless_tool(measured: Measured) -> Iterator[Hit]:
    """The definition says that the tool destroys nothing, and its code deletes or overwrites something."""
    for subject, code in _coded(measured):
        if _hint(subject, "destructiveHint") is False and code.destructive is True:
            effects = [effect for effect in code.effects if effect.is_destroying]
            yield Hit(
                "/annotations/destructiveHint",
                f"destructiveHint is false, but the code deletes, overwrites or runs code: {_lines(effects)}",
                "set destructiveHint to true",
                part=subject.tool,
                code=_place(measured, *_ordered(effects)[:1]),
            )


@rule("TDQ803", severity=Severity.WARNING, source=HINTS_SOURCE)
def networked_closed_tool(measured: Measured) -> Iterator[Hit]:
    """The definition says that the tool's world is closed, and its code sends requests to other machines."""
    for subject, code in _coded(measured):
        if _hint(subject, "openWorldHint") is False and code.open_world is True:
            effects = [effect for effect in code.effects if effect.kind in _NETWORK]
            yield Hit(
                "/annotations/openWorldHint",
                f"openWorldHint is false, but the code reaches the network: {_lines(effects)}",
                "set openWorldHint to true, unless the host is part of the server",
                part=subject.tool,
                code=_place(measured, *_ordered(effects)[:1]),
            )


@rule("TDQ804", severity=Severity.INFO, source=HINTS_SOURCE)
def destructive_reader(measured: Measured) -> Iterator[Hit]:
    """The definition says that the tool may destroy something, and all of its code only reads."""
    for subject, code in _coded(measured):
        if _hint(subject, "destructiveHint") is True and code.read_only is True:
            yield Hit(
                "/annotations/destructiveHint",
                f"destructiveHint is true, but nothing that {code.handler} calls changes anything",
                "set readOnlyHint to true and leave destructiveHint out",
                part=subject.tool,
                code=_place(measured, code.handler),
            )


@rule("TDQ805", severity=Severity.WARNING, source=CODE_SOURCE)
def ignored_parameter(measured: Measured) -> Iterator[Hit]:
    """The tool has a parameter on which nothing in its code depends."""
    for subject, code in _coded(measured):
        declared = {parameter.name for parameter in subject.signals.parameters}
        for name in (name for name in code.unused_parameters if name in declared):
            yield Hit(
                f"/inputSchema/properties/{name}",
                f"{name} changes nothing: the code that starts at {code.handler} never uses it",
                "use it, or take it out of the schema",
                part=subject.tool,
                code=_place(measured, code.handler),
            )


@rule("TDQ806", severity=Severity.WARNING, source=CODE_SOURCE)
def refused_value(measured: Measured) -> Iterator[Hit]:
    """The schema allows a value for which the code has no branch but an error."""
    for subject, code in _coded(measured):
        for dead in code.dead_enum_values:
            yield Hit(
                f"/inputSchema/properties/{dead.parameter}",
                f"the schema allows {dead.value!r}, which the code that starts at {code.handler} refuses",
                "add the branch, or take the value out of the schema",
                part=subject.tool,
                code=_place(measured, code.handler),
            )


@rule("TDQ807", severity=Severity.INFO, confidence=Confidence.MEDIUM, source=CODE_SOURCE)
def unnamed_host(measured: Measured) -> Iterator[Hit]:
    """The code sends what it is given to a host that neither the definition nor the server's instructions name."""
    about = f"{measured.catalog.server} {measured.catalog.instructions or ''}".lower()
    for subject, code in _coded(measured):
        text = f"{about} {subject.tool.name} {subject.tool.description or ''}".lower()
        for effect in code.effects:
            if effect.kind in _SENDING and effect.host and effect.is_given and not names_host(text, effect.host):
                yield Hit(
                    "/description",
                    f"the code sends data to {effect.host}, which no text names: {effect.file}:{effect.line}",
                    f"say that it sends the data to {effect.host}",
                    part=subject.tool,
                    code=_place(measured, effect),
                )
                break


def _coded(measured: Measured) -> Iterator[tuple[Subject, ToolCode]]:
    for subject in measured.subjects:
        code = measured.code.find(subject.tool.name) if measured.code else None
        if code is not None and code.handler is not None:
            yield subject, code


def _hint(subject: Subject, name: str) -> object:
    annotations = subject.tool.raw.get("annotations")
    return annotations.get(name) if isinstance(annotations, dict) else None


def _place(measured: Measured, *places: CodePlace | None) -> CodePlace | None:
    """Return the first place with its path from where the folder was named, for programs that open the file."""
    place = next(iter(places), None)
    if place is None or measured.code is None:
        return None
    return CodePlace(file=(PurePosixPath(measured.code.folder) / place.file).as_posix(), line=place.line)


def _ordered(effects: list[CodeEffect]) -> list[CodeEffect]:
    """Return effects with the agent's own words before the others, then certain ones, then near ones."""
    return sorted(effects, key=lambda effect: (not effect.is_given, bool(effect.condition), effect.depth))


def _lines(effects: list[CodeEffect]) -> str:
    """Return the first effects with their places."""
    ordered = _ordered(effects)
    return "; ".join(
        f"{effect.kind}{f' ({effect.text})' if effect.text else ''} at {effect.file}:{effect.line}"
        f"{f' if {effect.condition}' if effect.condition else ''}"
        for effect in ordered[:MAX_SHOWN]
    )
