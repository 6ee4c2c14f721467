"""Reading a project: its files, its tools, and what the code of each does. Nothing is run or imported."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tdqs_mcp.code.definitions import DefinitionReader
from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.hint_verdicts import is_change, judge
from tdqs_mcp.code.knowledge import ADDS, DESTROYS
from tdqs_mcp.code.nodes import (
    Block,
    CallSite,
    Collection,
    Function,
    Literal,
    Name,
    Return,
    Subscript,
    SyntaxNode,
    walk,
)
from tdqs_mcp.code.operations import Operation, makes_tools_of_operations, read_operations
from tdqs_mcp.code.project import Project, dotted_name
from tdqs_mcp.code.registrations import Registration, is_context
from tdqs_mcp.code.result_forms import ResultReader
from tdqs_mcp.code.tool_search import MAX_FILE_BYTES, NO_OVERLAY, find_tools, folder_of, list_files
from tdqs_mcp.code.trace import ALL, FORM, Arm, CallFrame, CallTrace, Sighting
from tdqs_mcp.code.values import Closure, Constant, Dictionary, External, Listing, Value, alternatives, text_of
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.results.tool_code import (
    CodeEffect,
    CodeError,
    CodeLimit,
    CodePlace,
    CodeReport,
    CodeSpan,
    CodeText,
    DeadValue,
    EffectKind,
    Handler,
    ToolCode,
    Unresolved,
)

MAX_NAMED = 3
"""Packages that a sentence names."""

MIN_SHARED = 4
"""Tools that reach an effect before it may be the server's own housekeeping."""

_SHARED_CHANGES = frozenset(
    "process state-in-memory file-write file-delete sql-write http-write sends-data-out".split()
)
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def read_code(folder: str | Path, overlay: Mapping[str, bytes] = NO_OVERLAY) -> CodeReport:
    """Return what the code of each tool of a folder does, Python, JavaScript and TypeScript, as far as it is certain.

    A single file is read alone; `overlay` has contents by path in place of those on the disk. Raises InputError for
    what is not there, and for a folder without source files.
    """
    root = Path(folder)
    interpreter, registrations, problems = find_tools(root, overlay)
    computed = [registration for registration in registrations if registration.is_computed]
    problems += [f"{part.module.path}:{part.line}: the name of a tool is computed" for part in computed]
    registrations = [registration for registration in registrations if not registration.is_computed]
    traces = [_follow(interpreter, registration) for registration in registrations]
    _mark_unanswered(list(zip(registrations, traces, strict=True)))
    _mark_creating([trace for trace in traces if trace])
    _part_housekeeping([(tool, trace) for tool, trace in zip(registrations, traces, strict=True) if trace])
    results = ResultReader(interpreter)
    reader = DefinitionReader(interpreter, registrations)
    tools = [
        replace(_tool(registration, trace, results), places=reader.places(registration, reader.read(registration)))
        for registration, trace in zip(registrations, traces, strict=True)
    ]
    shared = {handler for handler, count in Counter(tool.handler for tool in tools).items() if count > 1}
    tools = [
        replace(tool, handler=_handler(registration, trace, is_worker=False))
        if trace and tool.handler in shared  # what several tools hand on to is a helper of theirs
        else tool
        for tool, registration, trace in zip(tools, registrations, traces, strict=True)
    ]
    names = {tool.name for tool in tools}
    if makes_tools_of_operations(interpreter.project):
        operations = read_operations(root, list_files(root, (".json",)), MAX_FILE_BYTES)
        tools += [_generated(operation) for operation in operations if operation.name not in names]
    lost = [
        f"{registration.name}: no handler was found ({registration.problem})"
        for registration in registrations
        if registration.handler is None
    ]
    if not tools and not computed:
        problems.append(_no_tools(interpreter.project))
    return CodeReport(folder=folder_of(root).as_posix(), tools=tuple(tools), problems=(*problems, *lost))


def _follow(interpreter: Interpreter, registration: Registration) -> CallTrace | None:
    if registration.handler is None:
        return None
    return interpreter.follow(registration.name, registration.handler, registration.arguments, registration.keywords)


def _no_tools(project: Project) -> str:
    """Return the sentence about a project without tools, with the packages that may have them."""
    origins = {
        source
        for module in project.modules
        for source, _ in module.origins
        if not source.startswith((".", "mcp.", "fastmcp", "@modelcontextprotocol/"))
        and "mcp" in source.lower().removeprefix("mcp")
        and project.find(module, source) is None
    }
    elsewhere = f"; it imports {first_of(sorted(origins), MAX_NAMED)}, which may have them" if origins else ""
    return f"no tool was found in the code{elsewhere}"


def _mark_unanswered(tools: Sequence[tuple[Registration, CallTrace | None]]) -> None:
    """Leave open what is done for a name that has no branch in a function that has branches for others' names."""
    dispatched = [(tool, trace) for tool, trace in tools if tool.dispatched and trace is not None]
    branching = {tool.handler for tool, trace in dispatched if trace.arms}
    for tool, trace in dispatched:
        if tool.handler in branching and not trace.arms and tool.handler is not None:
            place = (tool.handler.module.path, tool.handler.function.line)
            text = f"no branch for {tool.name}"
            trace.unresolved.append(Sighting(kind="handler", path=place[0], line=place[1], depth=0, text=text))


def _mark_creating(traces: Sequence[CallTrace]) -> None:
    """Take a POST to an address that the same code reads by GET for the creation of something there.

    `POST /projects/{}/branches` makes a branch where `GET /projects/{}/branches` lists them.
    """
    read = {sighting.address for trace in traces for sighting in trace.effects if sighting.text == "GET"} - {""}
    for trace in traces:
        trace.effects = [
            replace(sighting, kind="http-write")
            if sighting.kind == "sends-data-out" and sighting.address in read
            else sighting
            for sighting in trace.effects
        ]


def _part_housekeeping(tools: Sequence[tuple[Registration, CallTrace]]) -> None:
    """Part the server's own housekeeping from the effects of its tools.

    That is what many tools do whatever they are asked, such as caches of tokens, and what every tool does beside its
    work, even with its arguments, such as logs; and lines that four tools, or all of fewer, append to a file that
    none of them names, or that hold nothing of what the agent says. Lines that nearly all tools append are a log,
    which is no change.
    """
    traces = [trace for _, trace in tools]
    plain = Counter(
        place
        for trace in traces
        for place in {_place(sighting) for sighting in trace.effects if not sighting.parameters}
    )
    reached = Counter(place for trace in traces for place in {_place(sighting) for sighting in trace.effects})
    most = max(MIN_SHARED, len(traces) * 9 // 10)
    several = min(MIN_SHARED, max(2, len(traces)))

    def is_appended(sighting: Sighting) -> bool:
        return sighting.kind == "file-write" and sighting.harm == ADDS and sighting.depth > 0

    def is_log(sighting: Sighting) -> bool:
        return is_appended(sighting) and reached[_place(sighting)] >= most

    def is_housekeeping(sighting: Sighting, nearest: int) -> bool:
        is_common = reached[_place(sighting)] >= several or (sighting.depth > 1 and not sighting.parameters)
        if is_appended(sighting) and is_common:
            return True
        if sighting.kind not in _SHARED_CHANGES or sighting.depth < nearest:
            return False
        if sighting.kind in ("file-write", "file-delete", "state-in-memory") and reached[_place(sighting)] >= most:
            return True
        is_fixed = sighting.kind != "process" or "{}" not in sighting.text
        return is_fixed and not sighting.parameters and plain[_place(sighting)] >= most

    for tool, trace in tools:
        nearest = 1 if tool.dispatched else 2  # what stands in the dispatcher itself is done for all of them
        parted = [(sighting, is_housekeeping(sighting, nearest)) for sighting in trace.effects]
        common = [sighting for sighting, is_common in parted if is_common]
        # A pool that the first call opens, a counter of calls: in memory, and nothing of what the agent says.
        trace.housekeeping += [
            replace(sighting, is_housekeeping=True)
            for sighting in common
            if not is_log(sighting) and (sighting.parameters or sighting.kind != "state-in-memory")
        ]
        trace.logs += [replace(sighting, is_housekeeping=True) for sighting in common if is_log(sighting)]
        trace.effects = [
            replace(sighting, is_alone=len(traces) >= MIN_SHARED and reached[_place(sighting)] == 1)
            for sighting, is_common in parted
            if not is_common
        ]


def _place(sighting: Sighting) -> tuple[str, str, int]:
    return sighting.kind, sighting.path, sighting.line


def _generated(operation: Operation) -> ToolCode:
    """Return a tool that is made from an operation: its method is all that is known."""
    file, line = operation.file, operation.line
    return ToolCode(
        name=operation.name,
        handler=Handler(file=file, line=line, end=line),
        registration=CodePlace(file=file, line=line),
        effects=tuple(_effects([operation.effect])),
        **judge([operation.effect], ()),
    )


def _tool(registration: Registration, trace: CallTrace | None, reader: ResultReader) -> ToolCode:
    results, is_whole = reader.read(registration, trace) if trace else ((), False)
    trace = trace or CallTrace()
    place = CodePlace(file=registration.module.path, line=registration.line)
    lost = (*trace.unresolved, *trace.housekeeping) if registration.handler else (_NOWHERE,)
    parameters = _parameters(registration)
    description = registration.definition.get("description")
    return ToolCode(
        name=registration.name,
        handler=_handler(registration, trace),
        registration=place,
        effects=tuple(_effects((*trace.effects, *trace.housekeeping, *trace.logs))),
        **judge(trace.effects, lost),
        unused_parameters=tuple(_unused(registration, trace, parameters)),
        dead_enum_values=tuple(_dead(trace, parameters)),
        limits=tuple(_limits(trace, registration)),
        errors=tuple(_errors(trace.errors)),
        returns=(", or ".join(dict.fromkeys(map(str, results))) or None) if is_whole else None,
        results=results,
        is_result_whole=is_whole,
        credentials=tuple(sorted(name for name in trace.environment if name.isupper())),
        unresolved=tuple(_unresolved(trace.unresolved)),
        description=text_of(description) if description is not None else None,
        hints=tuple(_hints(registration.definition.get("annotations"))),
        texts=tuple(_texts(trace.texts)),
        functions=tuple(
            CodeSpan(file=file, line=line, end=end, depth=depth) for (file, line, end), depth in trace.functions.items()
        ),
    )


_NOWHERE = Sighting(kind="handler", path="", line=0, depth=0)


def _handler(registration: Registration, trace: CallTrace, *, is_worker: bool = True) -> Handler | None:
    closure = registration.handler
    if closure is None:
        return None
    if registration.is_shared:  # for (const tool of tools) register(tool.name, async (args) => wrap(tool.run(args)))
        whole = {part.closure for part in trace.handed if part.is_whole and part.depth == 0}
        closure = whole.pop() if len(whole) == 1 else closure
    if registration.dispatched and trace.arms:
        arm = trace.arms[0]
        inner = _answering(arm, trace)
        if inner is None:
            return Handler(file=arm.path, line=arm.node.line, end=arm.node.line)
        closure = inner
    followed = [closure]
    while isinstance(closure.scope, CallFrame):  # guarded(async (args) => …): the function that the wrapper is given
        around = closure.scope.names.values()
        near = [
            part
            for part in trace.handed
            if (part.is_whole or part.is_empty) and part.closure is not closure and part.closure in around
        ]
        # withNotice(handler, notice): the one that gets the arguments
        inside = {part.closure for part in near if part.is_whole} or {part.closure for part in near}
        if len(inside) != 1 or not inside.isdisjoint(followed):  # functions of one scope that call each other
            break
        closure = inside.pop()
        followed.append(closure)
    while is_worker and (worker := _worker(closure, registration, trace)) is not None and worker not in followed:
        closure = worker
        followed.append(closure)
    return Handler(file=closure.module.path, line=closure.function.line, end=closure.function.end)


def _answering(arm: Arm, trace: CallTrace) -> Closure | None:
    """Return the one function that a dispatch's arm hands the arguments to, above all the one whose answer it returns.

    `case "find": return this.find(args)`; None where the arm does the work itself.
    """
    handed = [part for part in trace.handed[arm.before :] if part.depth == arm.depth]
    call = _returned_call(arm.node)
    returned = {part.closure for part in handed if call is not None and part.line == call.line and not part.is_empty}
    whole = {part.closure for part in handed if part.is_whole or (part.is_empty and trace.used <= {ALL})}
    return next((closures.pop() for closures in (whole, returned) if len(closures) == 1), None)


def _worker(closure: Closure, registration: Registration, trace: CallTrace) -> Closure | None:
    """Return the function of the project that a function only hands its parameters on to; None for all others.

    `return find_boats(harbour=harbour)`; in a table of a dispatch also `find: (client, args) => find(client, args)`.
    One that adds something, as a connection or the context, does a part of the work.
    """
    body = [part for part in closure.function.body.statements if not isinstance(part, Literal)]
    call = _returned_call(closure.function.body) if len(body) == 1 else None
    parts = (*call.arguments, *call.keywords.values()) if call is not None else ()
    if any(isinstance(node, CallSite) for part in parts for node in walk(part)):
        return None
    is_entry = registration.dispatched and closure.function.name in ("", registration.name)
    inside = {
        part.closure
        for part in trace.handed
        if call is not None
        and part.line == call.line
        and part.closure is not closure
        and ((part.names and part.names >= registration.keywords.keys()) or (is_entry and part.is_whole))
    }
    return inside.pop() if len(inside) == 1 else None


def _returned_call(body: SyntaxNode) -> CallSite | None:
    """Return the call whose result the last statement gives back."""
    last = body.statements[-1:] if isinstance(body, Block) else ()
    value = last[0].value if last and isinstance(last[0], Return) else None
    return value if isinstance(value, CallSite) else None


def _effects(effects: Iterable[Sighting]) -> Iterator[CodeEffect]:
    """Yield the effects once each: of several ways to a line the one with the fewest conditions, then the shortest."""
    best: dict[tuple[str, str, int], Sighting] = {}
    for sighting in effects:
        present = best.get(_place(sighting))
        if present is None or (len(sighting.conditions), sighting.depth) < (len(present.conditions), present.depth):
            best[_place(sighting)] = sighting
    for sighting in sorted(best.values(), key=lambda sighting: (sighting.depth, sighting.path, sighting.line)):
        yield CodeEffect(
            file=sighting.path,
            line=sighting.line,
            kind=EffectKind(sighting.kind),
            depth=sighting.depth,
            text=sighting.text,
            host=sighting.host,
            condition=" and ".join(sighting.conditions),
            is_given=bool(sighting.parameters),
            is_change=is_change(sighting),
            is_destroying=sighting.harm == DESTROYS,
            is_housekeeping=sighting.is_housekeeping,
            sparse=tuple(sorted(sighting.sparse)),
        )


def _parameters(registration: Registration) -> Mapping[str, tuple[str, ...]]:
    """Return the tool's parameters with the values that each allows; no values where any is allowed."""
    closure = registration.handler
    if closure is not None and closure.module.is_python and not registration.dispatched:
        return {
            parameter.name: _literals(parameter.annotation)
            for parameter in closure.function.parameters
            if parameter.name in registration.keywords and not parameter.star and not is_context(parameter)
        }
    return dict(_schema_parameters(registration.definition))


def _literals(annotation: object) -> tuple[str, ...]:
    if isinstance(annotation, Subscript) and dotted_name(annotation.value).rpartition(".")[2] == "Literal":
        nodes = annotation.key.values if isinstance(annotation.key, Collection) else [annotation.key]
        values = [node.value for node in nodes if isinstance(node, Literal)]
        return tuple(value for value in values if isinstance(value, str)) if len(values) == len(nodes) else ()
    return ()


def _schema_parameters(definition: Mapping[str, Value]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the properties of an input schema, JSON Schema or zod."""
    schema = next(
        (definition[key] for key in ("inputSchema", "input_schema", "parameters", "schema") if key in definition), None
    )
    for value in alternatives(schema) if schema is not None else ():
        inner: Value | None = value
        while isinstance(inner, External):  # z.object({…}), zodToJsonSchema(z.object({…}), {target: …})
            inner = next((part for part in inner.arguments if isinstance(part, Dictionary | External)), None)
        if isinstance(inner, Dictionary):
            is_shape = inner.get("properties") is None and inner.get("type") is None
            properties = inner if is_shape else inner.get("properties")
            for name, child in properties.items if isinstance(properties, Dictionary) else ():
                if name not in ("", "...") and not _is_acknowledgement(child):
                    yield name, _allowed(child)


def _is_acknowledgement(schema: Value) -> bool:
    """Return whether a parameter has one value, which a call must name: `confirm: z.literal(true)`."""
    if isinstance(schema, Dictionary):
        return schema.get("const") is not None
    return isinstance(schema, External) and ".literal()" in schema.name


def _allowed(schema: Value) -> tuple[str, ...]:
    listing = schema.get("enum") if isinstance(schema, Dictionary) else None
    if isinstance(schema, External) and ".enum()" in schema.name and schema.arguments:
        listing = schema.arguments[0]
    values = [text_of(value) for value in listing.values] if isinstance(listing, Listing) else []
    return tuple(value for value in values if value is not None)


def _unused(registration: Registration, trace: CallTrace, parameters: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield parameters on which nothing depends; none where a part of the code was not followed."""
    is_whole = (registration.handler is not None and not registration.is_overheard) and not any(
        sighting.kind in ("depth", "nesting") for sighting in trace.unresolved
    )
    if is_whole and ALL not in trace.used and trace.used | {sighting.kind for sighting in trace.effects}:
        handed = [part.closure for part in trace.handed if part.is_whole or part.is_empty]
        closures = [registration.handler, *handed]
        # A function that waits in a table uses what it names, though it was not followed.
        spoken = {
            part.id
            for closure in closures
            if closure is not None
            for inner in walk(closure.function.body)
            if isinstance(inner, Function)
            for part in walk(inner.body)
            if isinstance(part, Name)
        }
        yield from (name for name in parameters if name not in trace.used | spoken)


def _dead(trace: CallTrace, parameters: Mapping[str, tuple[str, ...]]) -> Iterator[DeadValue]:
    for name, compared in trace.exhausted.items():
        if name not in trace.passed and compared:
            for value in parameters.get(name, ()):
                if value not in compared:
                    yield DeadValue(parameter=name, value=value)


def _limits(trace: CallTrace, registration: Registration) -> Iterator[CodeLimit]:
    limits: dict[tuple[str, str], CodeLimit] = {}
    for sighting in sorted(trace.limits, key=lambda sighting: -len(sighting.conditions)):
        for parameter in filter(None, sighting.parameters):
            own = (parameter, f"not {parameter}", f"{parameter} != None", f"{parameter} == None")
            limits[parameter, sighting.text] = CodeLimit(
                parameter=parameter,
                text=sighting.text,
                file=sighting.path,
                line=sighting.line,
                depth=sighting.depth,
                condition=" and ".join(part for part in sighting.conditions if part not in own),
                is_form=sighting.kind == FORM,
            )
    yield from limits.values()
    closure = registration.handler
    for parameter, values in trace.exhausted.items():
        if closure is not None and len(values) > 1:
            text = f"one of {', '.join(sorted(map(str, values)))}"
            yield CodeLimit(parameter=parameter, text=text, file=closure.module.path, line=closure.function.line)


def _errors(errors: Sequence[Sighting]) -> Iterator[CodeError]:
    """Yield the errors, each text once: where it needs the fewest conditions."""
    order = sorted(errors, key=lambda error: (-len(error.conditions), -error.depth))
    nearest = {error.text: error for error in order}
    for text in dict.fromkeys(error.text for error in errors):
        error = nearest[text]
        yield CodeError(
            text=text,
            file=error.path,
            line=error.line,
            is_result=error.kind == "result",
            depth=error.depth,
            condition=" and ".join(error.conditions),
            parameter=next(iter(error.parameters), "") if len(error.parameters) == 1 else "",
        )


def _texts(texts: Iterable[Sighting]) -> Iterator[CodeText]:
    """Yield what functions document that a parameter is handed to, the nearest first."""
    for sighting in sorted(texts, key=lambda sighting: sighting.depth):
        (parameter,) = sighting.parameters
        yield CodeText(parameter=parameter, text=sighting.text, file=sighting.path, line=sighting.line)


def _unresolved(unresolved: Iterable[Sighting]) -> Iterator[Unresolved]:
    for text, file, line in dict.fromkeys((sighting.text, sighting.path, sighting.line) for sighting in unresolved):
        yield Unresolved(text=text, file=file, line=line)


def _hints(annotations: Value | None) -> Iterator[tuple[str, bool]]:
    """Yield the hints at a registration: `{readOnlyHint: true}`, `ToolAnnotations(readOnlyHint=True)`."""
    if isinstance(annotations, Dictionary):
        for hint in _HINTS:
            value = annotations.get(hint)
            if isinstance(value, Constant) and isinstance(value.value, bool):
                yield hint, value.value
